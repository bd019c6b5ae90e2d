//! The requested columns.

use daysheet_core::error::{Error, Result};
use daysheet_core::schemas::{ColumnLevel, MESSAGE, SENDER, THREAD, Table, TableColumn};
use daysheet_core::text::brief;
use daysheet_core::words;

words! {
    /// How much of each row is shown.
    pub enum RowDetail {
        /// The level that is taken when none is given.
        Auto = "auto",
        /// Enough to recognise it.
        Minimal = "minimal",
        /// What is there by default.
        Standard = "standard",
        /// All.
        Full = "full",
    }
}

/// The columns to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnChoice {
    /// All columns up to this level.
    Level(ColumnLevel),
    /// The columns with these names, and the key.
    Named(Vec<String>),
}

impl ColumnChoice {
    /// Returns the columns that `fields`, or else `detail`, requests, if any.
    pub(super) fn from_arguments(
        fields: Option<&Vec<String>>,
        detail: Option<RowDetail>,
    ) -> Option<Self> {
        match (fields, detail) {
            (Some(names), _) => Some(Self::Named(names.clone())),
            (None, None | Some(RowDetail::Auto)) => None,
            (None, Some(RowDetail::Minimal)) => Some(Self::Level(ColumnLevel::Key)),
            (None, Some(RowDetail::Standard)) => Some(Self::Level(ColumnLevel::Core)),
            (None, Some(RowDetail::Full)) => Some(Self::Level(ColumnLevel::More)),
        }
    }

    /// Returns the requested columns of `table`, in the order of the table.
    pub fn columns_of(&self, table: &'static Table) -> Result<Vec<&'static TableColumn>> {
        let names = match self {
            Self::Level(level) => return Ok(table.up_to(*level)),
            Self::Named(names) => names,
        };
        let bad: Vec<&String> =
            names.iter().filter(|name| column_named(table, name).is_none()).collect();
        if !bad.is_empty() {
            return Err(unknown(table, &bad));
        }
        let named: Vec<&TableColumn> =
            names.iter().filter_map(|name| column_named(table, name)).collect();
        // The first column is the key: without it, later calls could not name the row.
        Ok(table
            .fields
            .iter()
            .enumerate()
            .filter(|(at, field)| *at == 0 || named.contains(field))
            .map(|(_, field)| field)
            .collect())
    }
}

/// The tables of mail lists, each with its word for `by`.
const BY: [(&str, Table); 3] = [("message", MESSAGE), ("thread", THREAD), ("sender", SENDER)];

/// Returns the column with this name, or with its singular or plural, as `email` for `emails`.
fn column_named(table: &Table, name: &str) -> Option<&'static TableColumn> {
    let one = || table.field(name.strip_suffix('s')?);
    table.field(name).or_else(|| table.field(&format!("{name}s"))).or_else(one)
}

/// Returns the error for names without a column, which lists the columns of the table.
fn unknown(table: &Table, bad: &[&String]) -> Error {
    let by = BY.iter().find(|(_, rows)| rows == table);
    let has_all = |rows: &Table| bad.iter().all(|name| column_named(rows, name).is_some());
    // The column may exist in rows of another kind, which `by` selects.
    let elsewhere = BY.iter().filter(|(_, rows)| by.is_some() && has_all(rows));
    let elsewhere: Vec<String> = elsewhere.map(|(word, _)| format!("by={word}")).collect();
    let known: Vec<_> = table.fields.iter().map(|field| field.name).collect();
    let shown: Vec<String> = bad.iter().map(|name| format!("`{}`", brief(name))).collect();
    let what = match by {
        Some((word, _)) => format!("by={word}"),
        None => format!("the table of {}", table.plural),
    };
    let instead = match elsewhere.as_slice() {
        [] => String::new(),
        _ => format!(", which {} has", elsewhere.join(" or ")),
    };
    Error::argument(format!("{what} has no column {}{instead}", shown.join(", ")))
        .next(format!("use some of: {}", known.join(", ")))
}
