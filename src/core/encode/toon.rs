//! Documents as TOON (spec 4.x), written directly from rows.
//!
//! Only the parts that documents need: scalars at the root, and tables of scalars in tabular
//! form. Text is quoted only where the specification requires it, because other quotes are
//! non-conforming. Decoding is not implemented: `daysheet check` uses the `toon-format` crate.

use std::fmt::Write;

use super::digits::{digits, ends, sign};
use super::document::{Delimiter, Document};
use crate::row::{RowCell, RowTable};

/// The estimated size of a row in bytes, for a buffer that rarely has to grow.
const ROW_BYTES: usize = 160;

/// Returns the document as TOON, without a newline at the end.
pub fn encode(document: &Document, delimiter: Delimiter) -> String {
    let rows: usize = document.tables.iter().map(RowTable::len).sum();
    let mut out = String::with_capacity(256 + rows * ROW_BYTES);
    let mut first = true;
    let mut line = |out: &mut String| {
        if !std::mem::take(&mut first) {
            out.push('\n');
        }
    };
    for (name, value) in &document.scalars {
        line(&mut out);
        out.push_str(name);
        out.push_str(": ");
        cell(&mut out, value, delimiter);
    }
    for rows in &document.tables {
        line(&mut out);
        table(&mut out, rows, delimiter);
    }
    out
}

/// Returns the heading of a table, and its rows with a line break each.
pub(super) fn pieces(rows: &RowTable, delimiter: Delimiter) -> (String, Vec<String>) {
    let mut heading = String::new();
    head(&mut heading, rows, delimiter);
    let rows = rows.rows().map(|cells| {
        let mut out = String::new();
        row(&mut out, cells, delimiter);
        out
    });
    (heading, rows.collect())
}

fn table(out: &mut String, rows: &RowTable, delimiter: Delimiter) {
    head(out, rows, delimiter);
    for cells in rows.rows() {
        row(out, cells, delimiter);
    }
}

fn head(out: &mut String, rows: &RowTable, delimiter: Delimiter) {
    out.push_str(&rows.name());
    // The spec writes an empty array without columns.
    if rows.is_empty() {
        out.push_str(": []");
        return;
    }
    out.push('[');
    number(out, rows.len());
    if delimiter != Delimiter::Comma {
        out.push(delimiter.char());
    }
    out.push_str("]{");
    for (at, field) in rows.columns().iter().enumerate() {
        if at > 0 {
            out.push(delimiter.char());
        }
        out.push_str(field.name);
    }
    out.push_str("}:");
}

fn row(out: &mut String, cells: &[RowCell], delimiter: Delimiter) {
    out.push_str("\n  ");
    for (at, value) in cells.iter().enumerate() {
        if at > 0 {
            out.push(delimiter.char());
        }
        cell(out, value, delimiter);
    }
}

fn cell(out: &mut String, value: &RowCell, delimiter: Delimiter) {
    match value {
        RowCell::Null => out.push_str("null"),
        RowCell::Flag(true) => out.push_str("true"),
        RowCell::Flag(false) => out.push_str("false"),
        RowCell::Count(count) => number(out, count),
        RowCell::Text(string) | RowCell::Id(string) => text(out, string, delimiter),
        RowCell::Handle(kind, count) => {
            out.push(*kind);
            number(out, count);
        }
    }
}

/// Writes digits without an allocation.
fn number(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{value}");
}

/// Writes a string, quoted if the specification requires it.
fn text(out: &mut String, string: &str, delimiter: Delimiter) {
    if needs_quotes(string, delimiter) { quoted(out, string) } else { out.push_str(string) }
}

fn quoted(out: &mut String, string: &str) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in string.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(string.get(plain..at).unwrap_or_default());
        plain = at + 1;
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(string.get(plain..).unwrap_or_default());
    out.push('"');
}

/// Returns true if the string would not be read as itself without quotes.
fn needs_quotes(string: &str, delimiter: Delimiter) -> bool {
    let bytes = string.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return true;
    };
    if matches!(first, b' ' | b'-' | b'#') || *last == b' ' {
        return true;
    }
    let delimiter = delimiter as u8 as usize;
    let special = bytes.iter().any(|byte| {
        SPECIAL.get(usize::from(*byte)).is_some_and(|for_whom| for_whom >> delimiter & 1 == 1)
    });
    special || matches!(string, "true" | "false" | "null") || is_numeric(bytes)
}

/// For each byte, one bit per delimiter in the order of [`Delimiter`]: set if a string with this
/// byte must be quoted.
const SPECIAL: [u8; 256] = special();

const fn special() -> [u8; 256] {
    const ALL: u8 = 0b111;
    let mut table = [0; 256];
    let mut at = 0;
    while let Some((head, _)) = table.split_at_mut_checked(at + 1) {
        if let [.., entry] = head {
            *entry = match at as u8 {
                0..=0x1f | b':' | b'"' | b'\\' | b'[' | b']' | b'{' | b'}' => ALL,
                b',' => 0b010,
                b'|' => 0b100,
                _ => 0,
            };
        }
        at += 1;
    }
    table
}

/// Returns true for `^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$`, ignoring case, which a reader would parse
/// as a number.
fn is_numeric(bytes: &[u8]) -> bool {
    let Some(bytes) = digits(sign(bytes)) else {
        return false;
    };
    let bytes = match bytes {
        [b'.', rest @ ..] => match digits(rest) {
            Some(rest) => rest,
            None => return false,
        },
        _ => bytes,
    };
    ends(bytes)
}

/// A cell of a table from an outside source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SheetCell {
    /// An empty cell.
    Null,
    /// A truth value.
    Flag(bool),
    /// A number in JSON's notation; any other content is written as text.
    Number(String),
    /// Text.
    Text(String),
}

/// Writes a table from an outside source. Its name and headings are quoted where keys require it,
/// and each row has as many cells as there are headings.
pub fn sheet(name: &str, columns: &[String], rows: &[Vec<SheetCell>]) -> String {
    let delimiter = Delimiter::Tab;
    let mut out = String::with_capacity(rows.len() * ROW_BYTES);
    key(&mut out, name);
    if rows.is_empty() {
        out.push_str(": []");
        return out;
    }
    out.push('[');
    number(&mut out, rows.len());
    out.push(delimiter.char());
    out.push_str("]{");
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push(delimiter.char());
        }
        key(&mut out, column);
    }
    out.push_str("}:");
    for cells in rows {
        out.push_str("\n  ");
        for at in 0..columns.len() {
            if at > 0 {
                out.push(delimiter.char());
            }
            match cells.get(at) {
                None | Some(SheetCell::Null) => out.push_str("null"),
                Some(SheetCell::Flag(flag)) => number(&mut out, flag),
                // A file decides about these digits, so they are checked before being written
                // unquoted.
                Some(SheetCell::Number(digits)) if is_json_number(digits) => out.push_str(digits),
                Some(SheetCell::Number(string) | SheetCell::Text(string)) => {
                    text(&mut out, string, delimiter);
                }
            }
        }
    }
    out
}

/// Writes a key, in quotes unless it is an identifier.
fn key(out: &mut String, key: &str) {
    let first = key.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if first && key.bytes().all(plain) { out.push_str(key) } else { quoted(out, key) }
}

fn is_json_number(digits: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(digits).is_ok()
}
