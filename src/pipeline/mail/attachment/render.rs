//! The content of a file between its fences: text with lines of ours, and sheets as TOON tables.
//!
//! Pure. All strings are cleaned here, because a worker's output is as untrusted as the file.

use daysheet_core::encode::toon::{self, SheetCell};
use daysheet_core::text::deceptive::{self, DisarmedText, inert_cell};
use daysheet_core::text::fence::{OURS, theirs};
use daysheet_core::text::invisible::{self, InvisibleUse};
use daysheet_core::text::orders::{self, gives_orders};
use daysheet_core::text::{self, Note};
use daysheet_extract::{
    BlockSpan, CellValue, FileKind, PieceMark, SheetBlock, TextBlock, TextPiece,
};

use super::findings;

/// The maximum columns of a cell.
const CELL: usize = 1_000;

/// One text of a file.
#[derive(Default)]
pub(super) struct FileText {
    /// The cleaned text, with lines of ours.
    pub(super) text: String,
    /// The name of the sheet.
    pub(super) sheet: Option<String>,
    /// The part of the file that it is.
    pub(super) range: Option<String>,
    /// The notes on it.
    pub(super) notes: Vec<Note>,
}

/// The parts that were removed from a text, or written out.
#[derive(Default)]
struct RemovedText {
    disarmed: DisarmedText,
    unseen: InvisibleUse,
}

impl RemovedText {
    /// Returns the notes on it, and on the `text` that is left.
    fn notes(self, text: &str) -> Vec<Note> {
        let mut notes: Vec<Note> = self.disarmed.note().into_iter().collect();
        notes.extend(InvisibleUse { padding: 0, ..self.unseen }.notes());
        if gives_orders(text) {
            notes.push(orders::SHOWN.into());
        }
        notes
    }
}

/// The texts of a file that has no sheets, as they are joined.
#[derive(Default)]
pub(super) struct WholeText {
    text: String,
    removed: RemovedText,
    span: Option<BlockSpan>,
}

impl WholeText {
    /// Adds a page, or another part.
    pub(super) fn add(&mut self, block: TextBlock) {
        pieces(&mut self.text, block.pieces, &mut self.removed.unseen);
        if let Some(next) = block.of {
            self.span = Some(match self.span {
                Some(before) if before.unit == next.unit => {
                    BlockSpan { first: before.first, ..next }
                }
                _ => next,
            });
        }
    }

    /// Returns the whole text, if there is any or more follows; `id` names the file, of this kind,
    /// in a call.
    pub(super) fn text(mut self, id: &str, kind: Option<FileKind>) -> Option<FileText> {
        let next = self.span.as_ref().and_then(|span| findings::goes_on(span, id, ""));
        let text = guarded(&self.text, kind, &mut self.removed.disarmed);
        let notes = next.iter().cloned().chain(self.removed.notes(&text)).collect();
        (next.is_some() || !text.is_empty()).then(|| FileText {
            text,
            range: self.span.as_ref().and_then(findings::range),
            notes,
            ..FileText::default()
        })
    }
}

/// Returns the text of a file without parts that are fetched or mislead, as in a message.
fn guarded(text: &str, kind: Option<FileKind>, disarmed: &mut DisarmedText) -> String {
    match kind {
        Some(FileKind::Json | FileKind::Xml) => deceptive::inert_source(text, disarmed),
        // The hosts in them are explained as in messages, which they are read like.
        Some(FileKind::Html | FileKind::Mail | FileKind::Msg | FileKind::Tnef) => {
            deceptive::inert(text, disarmed)
        }
        _ => deceptive::disarm(text, disarmed),
    }
}

/// Adds the pieces of a part to a text, each mark as a line of ours.
fn pieces(text: &mut String, pieces: Vec<TextPiece>, unseen: &mut InvisibleUse) {
    let mut gap = "\n\n";
    for piece in pieces {
        let (line, next) = match piece {
            TextPiece::Text(piece) => {
                invisible::scan(&piece, unseen);
                (theirs(text::lines(&piece)), "\n")
            }
            TextPiece::Mark(mark) => {
                gap = "\n\n";
                (format!("{OURS}[{}]", findings::mark(&mark)), "\n")
            }
        };
        if line.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push_str(gap);
        }
        text.push_str(&line);
        gap = next;
    }
}

/// Returns a sheet as text: the lines above its table, the table, and comments.
pub(super) fn sheet(sheet: SheetBlock, id: &str) -> FileText {
    let (mut cut, mut removed) = (0, RemovedText::default());
    let hidden = sheet.hidden.then_some(TextPiece::Mark(PieceMark::HiddenSheet));
    let before = sheet.before.iter().map(|line| TextPiece::Text(cell(line, &mut removed)));
    let mut text = String::new();
    let before = hidden.into_iter().chain(before).collect();
    pieces(&mut text, before, &mut InvisibleUse::default());
    let name = cell(&sheet.name, &mut removed);
    let columns = sheet.columns.iter().map(|column| cell(column, &mut removed));
    let mut columns: Vec<String> = columns.collect();
    // Rows are numbered if some of them are missing.
    let numbers = sheet.rows.iter().map(|(number, _)| number);
    let gaps = numbers.clone().zip(numbers.skip(1)).any(|(one, next)| *next != one + 1);
    let numbered = gaps && columns.iter().all(|column| column != "row");
    if numbered {
        columns.insert(0, "row".to_owned());
    }
    let mut row = |(number, cells): &(u32, Vec<CellValue>)| -> Vec<SheetCell> {
        let number = numbered.then(|| SheetCell::Number(number.to_string()));
        let cells = cells.iter().map(|value| shown(value, &mut cut, &mut removed));
        number.into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<SheetCell>> = sheet.rows.iter().map(&mut row).collect();
    if !columns.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        let called = if name.is_empty() { "rows" } else { &name };
        text.push_str(&toon::sheet(called, &columns, &rows));
    }
    let mut after = String::new();
    pieces(&mut after, sheet.after, &mut removed.unseen);
    if !after.is_empty() {
        text.push_str(if text.is_empty() { "" } else { "\n\n" });
        text.push_str(&deceptive::disarm(&after, &mut removed.disarmed));
    }
    let mut notes: Vec<Note> = findings::goes_on(&sheet.of, id, &sheet.name).into_iter().collect();
    notes.extend(findings::findings(&sheet.findings, None));
    notes.extend(findings::cut_cells(cut));
    notes.extend(removed.notes(&text));
    FileText {
        text,
        sheet: (!name.is_empty()).then_some(name),
        range: findings::range(&sheet.of),
        notes,
    }
}

/// Returns one clean line without our marks.
fn cell(line: &str, removed: &mut RemovedText) -> String {
    invisible::scan(line, &mut removed.unseen);
    inert_cell(theirs(text::cell(line)), &mut removed.disarmed)
}

fn shown(value: &CellValue, cut: &mut u64, removed: &mut RemovedText) -> SheetCell {
    match value {
        CellValue::Null => SheetCell::Null,
        CellValue::Flag(flag) => SheetCell::Flag(*flag),
        CellValue::Number(digits) => SheetCell::Number(digits.clone()),
        CellValue::Text(text) => {
            let (text, was_cut) = text::clip(cell(text, removed), CELL);
            *cut += u64::from(was_cut);
            SheetCell::Text(text)
        }
    }
}
