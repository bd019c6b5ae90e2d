//! Documents as STC, and STC for any JSON value; the grammar is in `docs/reference/stc.md`.
//!
//! [`encode`] writes the same keys, columns and values in the same order as `format: json`, with
//! the `provider_id` and `text` of rows. STC is written on request, and read only by
//! `daysheet check` and `daysheet convert`.

pub mod parse;
pub mod scan;
pub mod value;
pub mod write;

use value::JsonValue;
pub use write::StcVersion;
use write::{ROW, StcStyle, columns, heading, row, spell, write};

use super::document::Document;
use crate::row::{RowCell, RowExtra, RowTable};

/// The version that answers are in.
pub const VERSION: u32 = 1;

/// Returns the document as one line of STC.
pub fn encode(document: &Document) -> String {
    let scalars = document.scalars.iter();
    let scalars = scalars.map(|(name, cell)| ((*name).to_owned(), primitive(cell)));
    let tables = document.tables.iter();
    let tables = tables.map(|table| (table.name().into_owned(), JsonValue::List(objects(table))));
    write(&JsonValue::Object(scalars.chain(tables).collect()), StcVersion::One)
}

/// Returns the text around the rows of a table, and its rows with their delimiters.
pub(super) fn pieces(table: &RowTable) -> (String, Vec<String>) {
    let name = table.name();
    let rows = objects(table);
    if let Some(columns) = columns(&rows) {
        let heading = format!(", {name}{}", heading(rows.len(), columns));
        let rows = rows.iter().map(|cells| {
            let mut out = ROW.to_owned();
            row(&mut out, cells, StcStyle::One);
            out
        });
        (heading, rows.collect())
    } else {
        let rows = rows.iter().map(|row| format!(", {}", spell(row, StcStyle::One)));
        (format!(", {name}: []"), rows.collect())
    }
}

/// Returns the rows of a table as objects.
fn objects(table: &RowTable) -> Vec<JsonValue> {
    let object = |(cells, extra): (&[RowCell], &RowExtra)| {
        let columns = table.columns().iter().map(|field| field.name.to_owned());
        let mut members: Vec<_> = columns.zip(cells.iter().map(primitive)).collect();
        for (name, value) in [("provider_id", &extra.provider_id), ("text", &extra.text)] {
            members.extend(value.clone().map(|text| (name.to_owned(), JsonValue::Text(text))));
        }
        JsonValue::Object(members)
    };
    table.rows().zip(table.extras()).map(object).collect()
}

fn primitive(cell: &RowCell) -> JsonValue {
    match cell {
        RowCell::Null => JsonValue::Null,
        RowCell::Flag(flag) => JsonValue::Bool(*flag),
        RowCell::Count(count) => JsonValue::Number(count.to_string()),
        RowCell::Text(text) | RowCell::Id(text) => JsonValue::Text(text.clone()),
        RowCell::Handle(kind, number) => JsonValue::Text(format!("{kind}{number}")),
    }
}
