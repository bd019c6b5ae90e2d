//! Messages and events shown recently, by their handles: enough to describe one that
//! was deleted since.
//!
//! This is only in the process's memory, because no mail is kept on disk.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::encode::Document;
use crate::row::Cell;

/// The number of rows remembered; the latest stay.
const MOST: usize = 5_000;

/// The columns of a message, an event or a change: key, time, who, what.
const COLUMNS: [[&str; 4]; 3] = [
    ["id", "date", "from", "subject"],
    ["id", "start", "organizer", "title"],
    ["id", "when", "who", "title"],
];

/// Time, person and subject, as a row shows them.
pub(in crate::pipeline) type RowCells = [Cell; 3];

/// The rows that were shown lately.
#[derive(Default)]
pub(in crate::pipeline) struct ShownRows(Mutex<Rows>);

#[derive(Default)]
struct Rows {
    cells: HashMap<String, RowCells>,
    /// The handles, the latest last.
    order: VecDeque<String>,
}

impl ShownRows {
    /// Remembers the rows of a document.
    pub(in crate::pipeline) fn note(&self, document: &Document) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for table in &document.tables {
            let has = |names: &&[&str; 4]| {
                let mut names = names.iter();
                names.all(|name| table.columns().iter().any(|field| field.name == *name))
            };
            let Some([key, when, who, what]) = COLUMNS.iter().find(has) else {
                continue;
            };
            for row in 0..table.len() {
                let cell = |name: &str| table.cell(row, name).cloned().unwrap_or(Cell::Null);
                let id = match cell(key) {
                    Cell::Handle(kind, number) => format!("{kind}{number}"),
                    Cell::Text(id) => id,
                    _ => continue,
                };
                let cells = [cell(when), cell(who), cell(what)];
                // The row of a deleted object may be empty.
                if cells.iter().any(|cell| *cell != Cell::Null) {
                    rows.keep(id, cells);
                }
            }
        }
    }

    /// Returns the cells of a handle, if it was shown recently.
    pub(in crate::pipeline) fn find(&self, id: &str) -> Option<RowCells> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.cells.get(id).cloned()
    }

    /// Forgets all: somebody was signed out.
    pub(in crate::pipeline) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Rows::default();
    }
}

impl Rows {
    fn keep(&mut self, id: String, cells: RowCells) {
        if self.cells.insert(id.clone(), cells).is_none() {
            self.order.push_back(id);
        }
        while self.order.len() > MOST {
            if let Some(id) = self.order.pop_front() {
                self.cells.remove(&id);
            }
        }
    }
}
