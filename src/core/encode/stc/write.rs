//! Writing of values as STC, and the rules for unquoted texts and keys that the parser shares.
//!
//! Writing never fails: no value is too deep. Each value has exactly one text per version.

use super::scan::looks_like_number;
use super::value::{JsonValue, quote};

/// The separator of a table's rows.
pub(super) const ROW: &str = " / ";

/// The versions of STC. Both have the same content and are read alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StcVersion {
    /// With braces around the root object, and all text in quotes.
    One,
    /// Without these braces, and with quotes only where needed.
    Two,
}

/// Returns the value as one line of STC.
pub fn write(value: &JsonValue, version: StcVersion) -> String {
    match (version, value) {
        (StcVersion::Two, JsonValue::Object(members)) if !members.is_empty() => {
            spell(value, StcStyle::Two)
        }
        // The beginning of a text determines its version, so other values are the same in
        // both.
        _ => spell(value, StcStyle::One),
    }
}

impl JsonValue {
    /// Returns the value as JSON without blanks and unnecessary escapes.
    pub fn to_json(&self) -> String {
        spell(self, StcStyle::Json)
    }
}

/// The notations of values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StcStyle {
    /// JSON without blanks and unnecessary escapes.
    Json,
    One,
    /// Version 2: the root object has no braces.
    Two,
}

/// Returns the value as one line.
pub(super) fn spell(value: &JsonValue, style: StcStyle) -> String {
    let mut out = String::new();
    // The open values with their closing brackets, and true after their first part. A stack
    // instead of recursion, so that no depth is too large.
    let mut open: Vec<(RowParts<'_>, &str, bool)> = Vec::new();
    match value {
        JsonValue::Object(members) if style == StcStyle::Two => {
            open.push((RowParts::Members(members.iter()), "", false));
        }
        other => write_part(&mut out, &mut open, other, false, style),
    }
    while let Some((parts, close, after)) = open.last_mut() {
        let after = std::mem::replace(after, true);
        let next = match parts {
            RowParts::Items(items) => items.next().map(|value| (None, value)),
            RowParts::Members(members) => members.next().map(|(key, value)| (Some(key), value)),
        };
        let Some((name, value)) = next else {
            out.push_str(close);
            open.pop();
            continue;
        };
        if after {
            out.push_str(if style == StcStyle::Json { "," } else { ", " });
        }
        if let Some(name) = name {
            key(&mut out, name, style);
        }
        write_part(&mut out, &mut open, value, name.is_some(), style);
    }
    out
}

/// The remaining parts of an open list or object.
enum RowParts<'a> {
    Items(std::slice::Iter<'a, JsonValue>),
    Members(std::slice::Iter<'a, (String, JsonValue)>),
}

/// Writes a value, or the beginning of a list or object. After a key, counted lists and tables
/// follow directly, and all other values after a colon.
fn write_part<'a>(
    out: &mut String,
    open: &mut Vec<(RowParts<'a>, &'static str, bool)>,
    value: &'a JsonValue,
    keyed: bool,
    style: StcStyle,
) {
    if let JsonValue::List(items) = value
        && style != StcStyle::Json
    {
        if let Some(columns) = columns(items) {
            out.push_str(&heading(items.len(), columns));
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ROW });
                row(out, item, style);
            }
            return;
        }
        if is_homogeneous(items) {
            let (before, after) =
                if keyed { (format!("[{}]: ", items.len()), "") } else { ("[".to_owned(), "]") };
            out.push_str(&before);
            cells(out, items.iter(), style);
            out.push_str(after);
            return;
        }
    }
    if keyed {
        out.push_str(if style == StcStyle::Json { ":" } else { ": " });
    }
    match value {
        JsonValue::List(items) => {
            out.push('[');
            open.push((RowParts::Items(items.iter()), "]", false));
        }
        JsonValue::Object(members) => {
            out.push('{');
            open.push((RowParts::Members(members.iter()), "}", false));
        }
        other => primitive(out, other, style),
    }
}

/// Returns the beginning of a table: `[n]{a,b}: `.
pub(super) fn heading(rows: usize, columns: &[(String, JsonValue)]) -> String {
    let mut out = format!("[{rows}]{{");
    for (at, (name, _)) in columns.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        key(&mut out, name, StcStyle::One);
    }
    out.push_str("}: ");
    out
}

/// Writes the cells of a row.
pub(super) fn row(out: &mut String, row: &JsonValue, style: StcStyle) {
    if let JsonValue::Object(members) = row {
        cells(out, members.iter().map(|(_, cell)| cell), style);
    }
}

fn cells<'a>(out: &mut String, cells: impl Iterator<Item = &'a JsonValue>, style: StcStyle) {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            out.push(',');
        }
        primitive(out, cell, style);
    }
}

/// Returns true for a list of only strings, only numbers, or only truth values.
fn is_homogeneous(items: &[JsonValue]) -> bool {
    let all = |is_kind: fn(&JsonValue) -> bool| items.iter().all(is_kind);
    !items.is_empty()
        && (all(|item| matches!(item, JsonValue::Text(_)))
            || all(|item| matches!(item, JsonValue::Number(_)))
            || all(|item| matches!(item, JsonValue::Bool(_))))
}

/// Returns the members of the first row, if there are at least two rows and all are flat objects
/// with the same keys in the same order.
pub(super) fn columns(rows: &[JsonValue]) -> Option<&[(String, JsonValue)]> {
    let [JsonValue::Object(first), _, ..] = rows else {
        return None;
    };
    let fits = |row: &JsonValue| match row {
        JsonValue::Object(members) => {
            members.len() == first.len()
                && members
                    .iter()
                    .zip(first)
                    .all(|((one, value), (other, _))| one == other && value.is_primitive())
        }
        _ => false,
    };
    (!first.is_empty() && rows.iter().all(fits)).then_some(first)
}

fn primitive(out: &mut String, value: &JsonValue, style: StcStyle) {
    match value {
        JsonValue::Text(string) if style == StcStyle::Two && is_plain(string) => {
            out.push_str(string);
        }
        JsonValue::Text(string) => text(out, string, style),
        other => out.push_str(other.lexeme()),
    }
}

/// Writes a key: plain if it is an identifier, else in quotes. JSON's keys are always in quotes.
fn key(out: &mut String, name: &str, style: StcStyle) {
    match style {
        StcStyle::One | StcStyle::Two if identifier(name) == name.len() && !name.is_empty() => {
            out.push_str(name);
        }
        _ => text(out, name, style),
    }
}

/// Writes a text in quotes.
fn text(out: &mut String, text: &str, style: StcStyle) {
    quote(out, text, |char| style != StcStyle::Json && breaks(char));
}

/// Returns the length in bytes of the identifier at the beginning.
pub(super) fn identifier(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first().is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// Returns true if the text is read as itself without quotes.
pub(super) fn is_plain(text: &str) -> bool {
    let edge = |char: char| char.is_whitespace() || char == '\u{feff}';
    !text.is_empty()
        && !text.contains(ends_plain)
        && !text.starts_with(edge)
        && !text.ends_with(edge)
        && !matches!(text, "null" | "true" | "false")
        && !looks_like_number(text)
}

/// Returns true for a character that cannot be in unquoted text.
pub(super) fn ends_plain(char: char) -> bool {
    matches!(char, ',' | '/' | ':' | '[' | ']' | '{' | '}' | '"' | '\\') || breaks(char)
}

/// Returns true for a character that some reader treats as a line end or cannot show.
fn breaks(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}
