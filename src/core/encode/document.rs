//! Documents as the encoders receive them. The formats are in the files beside.

use crate::row::{RowCell, RowTable};

/// The content of block 1 of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Scalar lines, in order: `zone`, `next`.
    pub scalars: Vec<(&'static str, RowCell)>,
    /// Tables by their plural names, in order.
    pub tables: Vec<RowTable>,
}

impl Document {
    /// Returns the columns with cut cells, and the number of these cells.
    pub fn cuts(&self) -> Vec<(&'static str, usize)> {
        let mut cuts: Vec<(&'static str, usize)> = Vec::new();
        for (_, cut) in self.tables.iter().flat_map(RowTable::cuts) {
            match cuts.iter_mut().find(|(column, _)| *column == cut.column) {
                Some((_, count)) => *count += 1,
                None => cuts.push((cut.column, 1)),
            }
        }
        cuts
    }
}

/// The delimiter between the cells of a TOON row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delimiter {
    /// A horizontal tab, the default.
    #[default]
    Tab,
    /// A comma.
    Comma,
    /// A vertical bar.
    Pipe,
}

impl Delimiter {
    /// Returns the character itself.
    pub const fn char(self) -> char {
        match self {
            Self::Tab => '\t',
            Self::Comma => ',',
            Self::Pipe => '|',
        }
    }
}
