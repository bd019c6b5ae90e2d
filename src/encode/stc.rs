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

fn table(out: &mut String, table: &RowTable) {
    key(out, table.table().plural);
    let rows: Vec<_> = table.rows().zip(table.extras()).collect();
    let shape = |extra: &Extra| (extra.provider_id.is_some(), extra.text.is_some());
    let Some((_, first)) = rows.first() else {
        out.push_str("[0]:");
        return;
    };
    let columns = table.columns().iter().map(|field| field.name);
    let uniform = rows.iter().all(|(_, extra)| shape(extra) == shape(first));
    if uniform {
        header(
            out,
            rows.len(),
            columns.chain(extras(first).map(|(name, _)| name)),
        );
        let mut before = " ";
        for (cells, extra) in rows {
            out.push_str(std::mem::replace(&mut before, ROW));
            let mut comma = "";
            for value in cells {
                out.push_str(std::mem::replace(&mut comma, ","));
                cell(out, value);
            }
            for (_, value) in extras(extra) {
                out.push_str(std::mem::replace(&mut comma, ","));
                text(out, value);
            }
        }
        return;
    }
    out.push_str(": [");
    let mut before = "{";
    for (cells, extra) in rows {
        out.push_str(std::mem::replace(&mut before, ", {"));
        let mut comma = "";
        for (name, value) in columns.clone().zip(cells) {
            out.push_str(std::mem::replace(&mut comma, ", "));
            member(out, name, value);
        }
        for (name, value) in extras(extra) {
            out.push_str(std::mem::replace(&mut comma, ", "));
            key(out, name);
            out.push_str(": ");
            text(out, value);
        }
        out.push('}');
    }
    out.push(']');
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
