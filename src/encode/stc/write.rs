//! Values as STC, and what the parser has to agree on with it: when a text
//! stands without quotes, and what a key looks like.
//!
//! Writing is total: no value is too deep, and there is one text per value.

use std::fmt::Write;

use super::scan::looks_like_number;
use super::value::{Json, quote};

/// What stands between the rows of a table.
pub(super) const ROW: &str = " / ";

/// The value as one line of STC.
pub fn write(value: &Json) -> String {
    let mut out = String::new();
    // What is open, with what closes it, and whether a part came before.
    let mut open: Vec<(Parts<'_>, &str, bool)> = Vec::new();
    match value {
        // The object at the root has no braces, unless it is empty.
        Json::Object(members) if !members.is_empty() => {
            open.push((Parts::Members(members.iter()), "", false));
        }
        other => part(&mut out, &mut open, other, false),
    }
    while let Some((parts, close, after)) = open.last_mut() {
        let after = std::mem::replace(after, true);
        let next = match parts {
            Parts::Items(items) => items.next().map(|value| (None, value)),
            Parts::Members(members) => members.next().map(|(key, value)| (Some(key), value)),
        };
        let Some((name, value)) = next else {
            out.push_str(close);
            open.pop();
            continue;
        };
        if after {
            out.push_str(", ");
        }
        if let Some(name) = name {
            key(&mut out, name);
        }
        part(&mut out, &mut open, value, name.is_some());
    }
    out
}

/// What is left of an open list or object.
enum Parts<'a> {
    Items(std::slice::Iter<'a, Json>),
    Members(std::slice::Iter<'a, (String, Json)>),
}

/// A value, or its beginning if it holds others. Behind a key, counted lists
/// and tables follow at once, and everything else after a colon.
fn part<'a>(
    out: &mut String,
    open: &mut Vec<(Parts<'a>, &'static str, bool)>,
    value: &'a Json,
    keyed: bool,
) {
    if let Json::List(items) = value {
        if items.iter().all(Json::is_primitive) {
            return list(out, items);
        }
        if let Some(columns) = columns(items) {
            return table(out, columns, items);
        }
    }
    if keyed {
        out.push_str(": ");
    }
    match value {
        Json::List(items) => {
            out.push('[');
            open.push((Parts::Items(items.iter()), "]", false));
        }
        Json::Object(members) => {
            out.push('{');
            open.push((Parts::Members(members.iter()), "}", false));
        }
        other => primitive(out, other),
    }
}

fn list(out: &mut String, items: &[Json]) {
    count(out, items.len());
    out.push(':');
    for (at, item) in items.iter().enumerate() {
        out.push(if at == 0 { ' ' } else { ',' });
        primitive(out, item);
    }
}

fn table(out: &mut String, columns: &[(String, Json)], rows: &[Json]) {
    header(
        out,
        rows.len(),
        columns.iter().map(|(name, _)| name.as_str()),
    );
    for (at, row) in rows.iter().enumerate() {
        out.push_str(if at == 0 { " " } else { ROW });
        let Json::Object(members) = row else { continue };
        for (at, (_, cell)) in members.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            primitive(out, cell);
        }
    }
}

/// The members of the first row, if the rows are flat objects with the same
/// keys in the same order.
fn columns(rows: &[Json]) -> Option<&[(String, Json)]> {
    let Some(Json::Object(first)) = rows.first() else {
        return None;
    };
    let fits = |row: &Json| match row {
        Json::Object(members) => {
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

fn primitive(out: &mut String, value: &Json) {
    match value {
        Json::Text(string) => text(out, string),
        other => out.push_str(other.word()),
    }
}

/// `[n]{a,b}:`, the beginning of a table with at least one row.
pub(super) fn header<'a>(out: &mut String, rows: usize, columns: impl Iterator<Item = &'a str>) {
    count(out, rows);
    out.push('{');
    for (at, name) in columns.enumerate() {
        if at > 0 {
            out.push(',');
        }
        key(out, name);
    }
    out.push_str("}:");
}

fn count(out: &mut String, count: usize) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "[{count}]");
}

/// A key: plain if it is an identifier, otherwise in quotes.
pub(super) fn key(out: &mut String, name: &str) {
    if identifier(name) == name.len() && !name.is_empty() {
        out.push_str(name);
    } else {
        quote(out, name, breaks);
    }
}

/// A text: plain if it reads back as itself, otherwise in quotes.
pub(super) fn text(out: &mut String, string: &str) {
    if is_plain(string) {
        out.push_str(string);
    } else {
        quote(out, string, breaks);
    }
}

/// How many bytes at the beginning are an identifier.
pub(super) fn identifier(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first().is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count()
}

/// True when the text is read as itself without quotes.
pub(super) fn is_plain(text: &str) -> bool {
    let edge = |char: char| char.is_whitespace() || char == '\u{feff}';
    !text.is_empty()
        && !text.contains(ends_plain)
        && !text.starts_with(edge)
        && !text.ends_with(edge)
        && !matches!(text, "null" | "true" | "false")
        && !looks_like_number(text)
}

/// True for a character that cannot stand in text without quotes.
pub(super) fn ends_plain(char: char) -> bool {
    matches!(char, ',' | '/' | ':' | '[' | ']' | '{' | '}' | '"' | '\\') || breaks(char)
}

/// True for what some reader takes for the end of a line, or cannot show.
fn breaks(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}
