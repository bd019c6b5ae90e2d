//! Messages and events shown recently, by handle, to describe those deleted since.
//!
//! They are only in the process's memory, because no mail is kept on disk.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use daysheet_core::encode::Document;
use daysheet_core::row::RowCell;

/// The maximum number of rows; the oldest are dropped.
const MAX_ROWS: usize = 5_000;

/// The columns of a message, an event or a change: key, time, who, what.
const COLUMNS: [[&str; 4]; 3] = [
    ["id", "date", "from", "subject"],
    ["id", "start", "organizer", "title"],
    ["id", "when", "who", "title"],
];

/// The time, person and subject that a row showed.
#[derive(Clone)]
pub(crate) struct ShownRow {
    pub(crate) cells: [RowCell; 3],
    /// The zone of its time, as the document named it.
    pub(crate) zone: Option<String>,
}

/// The rows that were shown lately.
#[derive(Default)]
pub(crate) struct ShownRows(Mutex<RememberedRows>);

#[derive(Default)]
struct RememberedRows {
    cells: HashMap<String, ShownRow>,
    /// The handles, the latest last.
    order: VecDeque<String>,
}

impl ShownRows {
    /// Remembers the rows of a document.
    pub(crate) fn note(&self, document: &Document) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let zone = document.scalars.iter().find_map(|(name, cell)| match (*name, cell) {
            ("zone", RowCell::Text(zone)) => Some(zone.clone()),
            _ => None,
        });
        for table in &document.tables {
            let has = |names: &&[&str; 4]| {
                let mut names = names.iter();
                names.all(|name| table.columns().iter().any(|field| field.name == *name))
            };
            let Some([key, when, who, what]) = COLUMNS.iter().find(has) else {
                continue;
            };
            for row in 0..table.len() {
                let cell = |name: &str| table.cell(row, name).cloned().unwrap_or(RowCell::Null);
                let id = match cell(key) {
                    RowCell::Handle(kind, number) => format!("{kind}{number}"),
                    RowCell::Text(id) => id,
                    _ => continue,
                };
                let cells = [cell(when), cell(who), cell(what)];
                // The row of a deleted object may be empty.
                if cells.iter().any(|cell| *cell != RowCell::Null) {
                    rows.keep(id, ShownRow { cells, zone: zone.clone() });
                }
            }
        }
    }

    /// Returns the row of a handle, if it was shown recently.
    pub(crate) fn find(&self, id: &str) -> Option<ShownRow> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.cells.get(id).cloned()
    }

    /// Removes all rows, because an account was signed out.
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = RememberedRows::default();
    }
}

impl RememberedRows {
    fn keep(&mut self, id: String, row: ShownRow) {
        // A row that is shown again keeps its place in the order.
        if self.cells.insert(id.clone(), row).is_none() {
            self.order.push_back(id);
        }
        while self.order.len() > MAX_ROWS {
            if let Some(id) = self.order.pop_front() {
                self.cells.remove(&id);
            }
        }
    }
}
