//! How the content of a file is written between its fences: text with lines of ours in it, and
//! sheets as TOON tables.
//!
//! Pure. All strings are cleaned here: what a worker returns is as untrusted as the file.

use daysheet_extract::{Kind, Mark, Piece, SheetBlock, Span, TextBlock, Value};

use super::words;
use crate::encode::toon::{self, SheetCell};
use crate::text::deceptive::{self, Disarmed, inert_cell};
use crate::text::fence::{OURS, theirs};
use crate::text::{self, Note};

/// The maximum columns of a cell.
const CELL: usize = 1_000;

/// One text of a file.
#[derive(Default)]
pub(super) struct FileText {
    /// Cleaned, with lines of ours in it.
    pub(super) text: String,
    /// The name of the sheet.
    pub(super) sheet: Option<String>,
    /// The part of the file that it is.
    pub(super) range: Option<String>,
    /// The notes on it.
    pub(super) notes: Vec<Note>,
}

/// The texts of a file that has no sheets, as they are joined.
#[derive(Default)]
pub(super) struct Whole {
    text: String,
    span: Option<Span>,
}

impl Whole {
    /// Adds a page, or another part.
    pub(super) fn add(&mut self, block: TextBlock) {
        pieces(&mut self.text, block.pieces);
        if let Some(next) = block.of {
            self.span = Some(match self.span {
                Some(before) if before.unit == next.unit => Span { first: before.first, ..next },
                _ => next,
            });
        }
    }

    /// Returns all of it, if there is any, or more behind it; `id` names the file, of this kind,
    /// in a call.
    pub(super) fn text(self, id: &str, kind: Option<Kind>) -> Option<FileText> {
        let next = self.span.as_ref().and_then(|span| words::goes_on(span, id, ""));
        let mut disarmed = Disarmed::default();
        let text = guarded(&self.text, kind, &mut disarmed);
        (next.is_some() || !text.is_empty()).then(|| FileText {
            text,
            range: self.span.as_ref().and_then(words::range),
            notes: next.into_iter().chain(disarmed.note()).collect(),
            ..FileText::default()
        })
    }
}

/// Returns the text of a file with nothing in it that is fetched or misleads, as that of a message.
fn guarded(text: &str, kind: Option<Kind>, disarmed: &mut Disarmed) -> String {
    match kind {
        Some(Kind::Json | Kind::Xml) => deceptive::inert_source(text, disarmed),
        // The hosts in them are explained as in messages, which they are read like.
        Some(Kind::Html | Kind::Mail | Kind::Msg | Kind::Tnef) => deceptive::inert(text, disarmed),
        _ => deceptive::disarm(text, disarmed),
    }
}

/// Adds the pieces of a part to a text, each mark as a line of ours.
fn pieces(text: &mut String, pieces: Vec<Piece>) {
    let mut gap = "\n\n";
    for piece in pieces {
        let (line, next) = match piece {
            Piece::Text(piece) => (theirs(text::lines(&piece)), "\n"),
            Piece::Mark(mark) => {
                gap = "\n\n";
                (format!("{OURS}[{}]", words::mark(&mark)), "\n")
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

/// Returns a sheet as text: what stands above its table, the table, and comments.
pub(super) fn sheet(sheet: SheetBlock, id: &str) -> FileText {
    let (mut cut, mut disarmed) = (0, Disarmed::default());
    let hidden = sheet.hidden.then_some(Piece::Mark(Mark::HiddenSheet));
    let before = sheet.before.iter().map(|line| Piece::Text(cell(line, &mut disarmed)));
    let mut text = String::new();
    pieces(&mut text, hidden.into_iter().chain(before).collect());
    let name = cell(&sheet.name, &mut disarmed);
    let columns = sheet.columns.iter().map(|column| cell(column, &mut disarmed));
    let mut columns: Vec<String> = columns.collect();
    // Rows are counted where some are missing.
    let numbers = sheet.rows.iter().map(|(number, _)| number);
    let gaps = numbers.clone().zip(numbers.skip(1)).any(|(one, next)| *next != one + 1);
    let numbered = gaps && columns.iter().all(|column| column != "row");
    if numbered {
        columns.insert(0, "row".to_owned());
    }
    let mut row = |(number, cells): &(u32, Vec<Value>)| -> Vec<SheetCell> {
        let number = numbered.then(|| SheetCell::Number(number.to_string()));
        let cells = cells.iter().map(|value| shown(value, &mut cut, &mut disarmed));
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
    pieces(&mut after, sheet.after);
    if !after.is_empty() {
        text.push_str(if text.is_empty() { "" } else { "\n\n" });
        text.push_str(&deceptive::disarm(&after, &mut disarmed));
    }
    let mut notes: Vec<Note> = words::goes_on(&sheet.of, id, &sheet.name).into_iter().collect();
    notes.extend(words::findings(&sheet.findings, None));
    notes.extend(words::cut_cells(cut));
    notes.extend(disarmed.note());
    FileText {
        text,
        sheet: (!name.is_empty()).then_some(name),
        range: words::range(&sheet.of),
        notes,
    }
}

/// Returns one clean line without our marks.
fn cell(line: &str, disarmed: &mut Disarmed) -> String {
    inert_cell(theirs(text::cell(line)), disarmed)
}

fn shown(value: &Value, cut: &mut u64, disarmed: &mut Disarmed) -> SheetCell {
    match value {
        Value::Null => SheetCell::Null,
        Value::Flag(flag) => SheetCell::Flag(*flag),
        Value::Number(digits) => SheetCell::Number(digits.clone()),
        Value::Text(text) => {
            let (text, was_cut) = text::clip(cell(text, disarmed), CELL);
            *cut += u64::from(was_cut);
            SheetCell::Text(text)
        }
    }
}
