//! Documents as STC, written straight from rows; and STC itself, for any JSON
//! value: `docs/stc.md` has the grammar.
//!
//! [`encode`] has the same keys, columns and values in the same order as
//! `format: json`, with `provider_id` and `text` where a row has them. Where
//! all rows have the same of them the table is columnar; otherwise its rows
//! are objects in a list. STC is written when it is asked for, and read by
//! `daysheet check --stc` alone.

pub mod parse;
pub mod scan;
pub mod value;
pub mod write;

use std::fmt::Write;

use super::Document;
use crate::row::{Cell, Extra, RowTable};
use write::{ROW, header, key, text};

/// The document as one line of STC.
pub fn encode(document: &Document) -> String {
    let mut out = String::new();
    let mut comma = "";
    for (name, value) in &document.scalars {
        out.push_str(std::mem::replace(&mut comma, ", "));
        member(&mut out, name, value);
    }
    for rows in &document.tables {
        out.push_str(std::mem::replace(&mut comma, ", "));
        table(&mut out, rows);
    }
    if out.is_empty() {
        out.push_str("{}");
    }
    out
}

/// What stands around the rows of a table, and each of its rows with what
/// stands between them.
pub(super) fn pieces(table: &RowTable) -> (String, Vec<String>) {
    let rows: Vec<_> = table.rows().zip(table.extras()).collect();
    let uniform = is_uniform(&rows);
    let mut heading = String::from(", ");
    head(&mut heading, table, &rows, uniform);
    let rows = rows.into_iter().map(|(cells, extra)| {
        let mut out = String::from(if uniform { ROW } else { ", " });
        row(&mut out, table, cells, extra, uniform);
        out
    });
    (heading, rows.collect())
}

fn table(out: &mut String, table: &RowTable) {
    let rows: Vec<_> = table.rows().zip(table.extras()).collect();
    let uniform = is_uniform(&rows);
    head(out, table, &rows, uniform);
    let mut before = if uniform { " " } else { "" };
    let empty = rows.is_empty();
    for (cells, extra) in rows {
        out.push_str(std::mem::replace(
            &mut before,
            if uniform { ROW } else { ", " },
        ));
        row(out, table, cells, extra, uniform);
    }
    if !uniform && !empty {
        out.push(']');
    }
}

/// True when all rows have the same besides their cells.
fn is_uniform(rows: &[(&[Cell], &Extra)]) -> bool {
    let shape = |extra: &Extra| (extra.provider_id.is_some(), extra.text.is_some());
    let mut shapes = rows.iter().map(|(_, extra)| shape(extra));
    let first = shapes.next();
    shapes.all(|other| Some(other) == first)
}

/// The table's name, and what comes before its first row.
fn head(out: &mut String, table: &RowTable, rows: &[(&[Cell], &Extra)], uniform: bool) {
    key(out, &table.name());
    let columns = table.columns().iter().map(|field| field.name);
    match rows.first() {
        None => out.push_str("[0]:"),
        Some((_, first)) if uniform => header(
            out,
            rows.len(),
            columns.chain(extras(first).map(|(name, _)| name)),
        ),
        Some(_) => out.push_str(": ["),
    }
}

/// One row: its values, or an object where rows differ in what they have.
fn row(out: &mut String, table: &RowTable, cells: &[Cell], extra: &Extra, uniform: bool) {
    let mut comma = "";
    if uniform {
        for value in cells {
            out.push_str(std::mem::replace(&mut comma, ","));
            cell(out, value);
        }
        for (_, value) in extras(extra) {
            out.push_str(std::mem::replace(&mut comma, ","));
            text(out, value);
        }
        return;
    }
    out.push('{');
    for (field, value) in table.columns().iter().zip(cells) {
        out.push_str(std::mem::replace(&mut comma, ", "));
        member(out, field.name, value);
    }
    for (name, value) in extras(extra) {
        out.push_str(std::mem::replace(&mut comma, ", "));
        key(out, name);
        out.push_str(": ");
        text(out, value);
    }
    out.push('}');
}

/// What a row has besides its cells, by name.
fn extras(extra: &Extra) -> impl Iterator<Item = (&'static str, &str)> {
    let id = extra.provider_id.as_deref().map(|id| ("provider_id", id));
    let text = extra.text.as_deref().map(|text| ("text", text));
    id.into_iter().chain(text)
}

fn member(out: &mut String, name: &str, value: &Cell) {
    key(out, name);
    out.push_str(": ");
    cell(out, value);
}

fn cell(out: &mut String, value: &Cell) {
    match value {
        Cell::Null => out.push_str("null"),
        Cell::Flag(true) => out.push_str("true"),
        Cell::Flag(false) => out.push_str("false"),
        Cell::Count(count) => {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "{count}");
        }
        Cell::Text(string) | Cell::Id(string) => text(out, string),
        // Letter and digits mostly, but a cell can be made with any character.
        Cell::Handle(kind, number) => text(out, &format!("{kind}{number}")),
    }
}
