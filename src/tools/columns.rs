//! The requested columns.

use crate::error::{Error, Result};
use crate::schemas::{Field, Level, Table};
use crate::text::brief;
use crate::words;

words! {
    /// How much of each row is shown.
    pub enum Detail {
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

/// Which columns to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// All up to this level.
    Level(Level),
    /// These by name, and the key.
    Named(Vec<String>),
}

impl Columns {
    /// Returns the columns that `fields` or else `detail` name, if they name any.
    pub(super) fn from_arguments(
        fields: Option<&Vec<String>>,
        detail: Option<Detail>,
    ) -> Option<Self> {
        match (fields, detail) {
            (Some(names), _) => Some(Self::Named(names.clone())),
            (None, None | Some(Detail::Auto)) => None,
            (None, Some(Detail::Minimal)) => Some(Self::Level(Level::Key)),
            (None, Some(Detail::Standard)) => Some(Self::Level(Level::Core)),
            (None, Some(Detail::Full)) => Some(Self::Level(Level::More)),
        }
    }

    /// Returns the requested columns of `table`, in the order of the table.
    pub fn of(&self, table: &'static Table) -> Result<Vec<&'static Field>> {
        let names = match self {
            Self::Level(level) => return Ok(table.up_to(*level)),
            Self::Named(names) => names,
        };
        let bad = names.iter().filter(|name| table.field(name).is_none());
        let bad: Vec<String> = bad.map(|name| format!("`{}`", brief(name))).collect();
        if !bad.is_empty() {
            let known: Vec<_> = table.fields.iter().map(|field| field.name).collect();
            return Err(Error::argument(format!(
                "the table of {} has no column {}",
                table.plural,
                bad.join(", ")
            ))
            .next(format!("use some of: {}", known.join(", "))));
        }
        Ok(table
            .fields
            .iter()
            .enumerate()
            .filter(|(at, field)| *at == 0 || names.iter().any(|name| name == field.name))
            .map(|(_, field)| field)
            .collect())
    }
}
