//! How the content of a file is written between its fences: text with lines of ours in it, and
//! sheets as TOON tables.
//!
//! Pure. All strings are cleaned here: what a worker returns is as untrusted as the file.

use daysheet_extract::{Mark, Piece, SheetBlock, Span, TextBlock, Value};

use super::words;
use crate::encode::toon::{self, SheetCell};
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

    /// Returns all of it, if there is any, or more behind it; `id` names the file in a call.
    pub(super) fn text(self, id: &str) -> Option<FileText> {
        let next = self.span.as_ref().and_then(|span| words::goes_on(span, id, ""));
        (next.is_some() || !self.text.is_empty()).then(|| FileText {
            text: self.text,
            range: self.span.as_ref().and_then(words::range),
            notes: next.into_iter().collect(),
            ..FileText::default()
        })
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
    let mut text = String::new();
    let hidden = sheet.hidden.then_some(Piece::Mark(Mark::HiddenSheet));
    let before = sheet.before.iter().map(|line| Piece::Text(cell(line)));
    pieces(&mut text, hidden.into_iter().chain(before).collect());
    let mut cut = 0;
    let name = cell(&sheet.name);
    let mut columns: Vec<String> = sheet.columns.iter().map(|column| cell(column)).collect();
    // Rows are counted where some are missing.
    let numbers = sheet.rows.iter().map(|(number, _)| number);
    let gaps = numbers.clone().zip(numbers.skip(1)).any(|(one, next)| *next != one + 1);
    let numbered = gaps && columns.iter().all(|column| column != "row");
    if numbered {
        columns.insert(0, "row".to_owned());
    }
    let mut row = |(number, cells): &(u32, Vec<Value>)| -> Vec<SheetCell> {
        let number = numbered.then(|| SheetCell::Number(number.to_string()));
        number.into_iter().chain(cells.iter().map(|value| shown(value, &mut cut))).collect()
    };
    let rows: Vec<Vec<SheetCell>> = sheet.rows.iter().map(&mut row).collect();
    if !columns.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        let called = if name.is_empty() { "rows" } else { &name };
        text.push_str(&toon::sheet(called, &columns, &rows));
    }
    pieces(&mut text, sheet.after);
    let mut notes: Vec<Note> = words::goes_on(&sheet.of, id, &sheet.name).into_iter().collect();
    notes.extend(words::findings(&sheet.findings, None));
    notes.extend(words::cut_cells(cut));
    FileText {
        text,
        sheet: (!name.is_empty()).then_some(name),
        range: words::range(&sheet.of),
        notes,
    }
}

/// Returns one clean line without our marks.
fn cell(line: &str) -> String {
    theirs(text::cell(line))
}

fn shown(value: &Value, cut: &mut u64) -> SheetCell {
    match value {
        Value::Null => SheetCell::Null,
        Value::Flag(flag) => SheetCell::Flag(*flag),
        Value::Number(digits) => SheetCell::Number(digits.clone()),
        Value::Text(text) => {
            let (text, was_cut) = text::clip(cell(text), CELL);
            *cut += u64::from(was_cut);
            SheetCell::Text(text)
        }
    }
}
