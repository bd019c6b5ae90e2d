//! Documents as compact JSON, for programs and debugging: the same keys, columns and values in
//! the same order as TOON.
//!
//! Rows also have `provider_id`, if the object has one, and `text`, if a long text belongs to the
//! row.

use std::iter::once;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::document::Document;
use crate::row::{RowCell, RowExtra, RowTable};
use crate::schemas::TableColumn;

/// Returns the document as one line of JSON.
pub fn encode(document: &Document) -> String {
    // Strings, integers and maps with string keys always serialise.
    serde_json::to_string(document).unwrap_or_default()
}

/// Returns the parts of [`encode`]'s result, each written on demand: one per row, and the parts
/// between the tables. A large document is never in memory as text.
pub fn parts(mut document: Document) -> impl Iterator<Item = String> + Send {
    let tables = std::mem::take(&mut document.tables);
    let mut head = encode(&document);
    // Without the closing brace, which is the last part.
    head.pop();
    let mut first = document.scalars.is_empty();
    let tables = tables.into_iter().flat_map(move |table| {
        let comma = if std::mem::take(&mut first) { "" } else { "," };
        let heading = format!("{comma}\"{}\":[", table.name());
        let rows = (0..table.len()).map(move |at| {
            let comma = if at == 0 { "" } else { "," };
            format!("{comma}{}", written(&table, table.row(at)))
        });
        once(heading).chain(rows).chain(once("]".to_owned()))
    });
    once(head).chain(tables).chain(once("}".to_owned()))
}

/// Writes a row of a table.
fn written(table: &RowTable, row: Option<(&[RowCell], &RowExtra)>) -> String {
    let row = row.map(|(cells, extra)| JsonRow { columns: table.columns(), cells, extra });
    serde_json::to_string(&row).unwrap_or_default()
}

/// Returns the text around the rows of a table, and its rows with a comma each.
pub(super) fn pieces(table: &RowTable) -> (String, Vec<String>) {
    let rows = table.rows().zip(table.extras()).map(|row| written(table, Some(row)) + ",");
    (format!(",\"{}\":[]", table.name()), rows.collect())
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.scalars {
            map.serialize_entry(name, value)?;
        }
        for table in &self.tables {
            map.serialize_entry(&table.name(), &JsonRows(table))?;
        }
        map.end()
    }
}

impl Serialize for RowCell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Count(count) => serializer.serialize_i64(*count),
            Self::Text(text) | Self::Id(text) => serializer.serialize_str(text),
            Self::Handle(kind, number) => serializer.collect_str(&format_args!("{kind}{number}")),
        }
    }
}

struct JsonRows<'a>(&'a RowTable);

impl Serialize for JsonRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.rows().zip(self.0.extras()).map(|(cells, extra)| JsonRow {
            columns: self.0.columns(),
            cells,
            extra,
        }))
    }
}

struct JsonRow<'a> {
    columns: &'a [&'static TableColumn],
    cells: &'a [RowCell],
    extra: &'a RowExtra,
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, cell) in self.columns.iter().zip(self.cells) {
            map.serialize_entry(field.name, cell)?;
        }
        if let Some(id) = &self.extra.provider_id {
            map.serialize_entry("provider_id", id)?;
        }
        if let Some(text) = &self.extra.text {
            map.serialize_entry("text", text)?;
        }
        map.end()
    }
}
