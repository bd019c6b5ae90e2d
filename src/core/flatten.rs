//! Conversion of JSON objects to rows, by columns.
//!
//! The only reader of [`ValueSource`]. Rows of events are made of [`Event`](crate::event::Event)
//! (`event.rs`), all others of JSON. It never fails: a missing value is null; one of the wrong
//! type is null and counted in the [`FlattenReport`]. Untrusted text is cleaned and cut here,
//! according to its column, so that no caller can forget it. No I/O, no clock.

mod cells;
mod context;
mod event;
mod flags;
mod forms;
mod headers;
mod ids;
mod labels;
mod member;
mod object;
mod people;
mod read;
mod reader;
mod room;
mod sender_checks;
mod senders;
mod times;

use jiff::Timestamp;

use self::cells::finish;
pub use self::context::RowContext;
pub use self::forms::plain;
use self::member::ListMember;
pub use self::object::RowObject;
use self::reader::{ReadValue, RowReader};
pub use self::room::RowRoom;
pub use self::sender_checks::{INJECTION, NEW_ACCOUNT, ORDERS, PAYMENT};
pub use self::senders::{needs_folder, sender, warnings};
pub use self::times::minute;
use crate::row::{CutCell, RowCell, RowExtra, RowTable};
use crate::schemas::{CellKind, ColumnReader, Service, Table, TableColumn, ValueSource};
use crate::text::Note;
use crate::text::invisible::InvisibleUse;
use crate::text::orders::{self, gives_orders};

/// Values that could not be shown exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlattenReport {
    /// The columns with values of an unexpected type, and the number of these values.
    pub odd: Vec<(&'static str, usize)>,
}

impl FlattenReport {
    /// Counts a value of an unexpected type.
    fn count(&mut self, name: &'static str) {
        match self.odd.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.odd.push((name, 1)),
        }
    }
}

/// Converts each object to a row.
pub fn flatten<'a, O>(
    table: &'static Table,
    columns: &[&'static TableColumn],
    objects: &'a [O],
    context: &RowContext,
) -> (RowTable, FlattenReport)
where
    RowObject<'a>: From<&'a O>,
{
    let mut rows = RowTable::new(table, columns.to_vec());
    let mut report = FlattenReport::default();
    for object in objects.iter().map(RowObject::from) {
        let mut cells = Vec::with_capacity(columns.len());
        let mut extra =
            RowExtra { provider_id: key(table, object, context), ..RowExtra::default() };
        for field in columns {
            let column = read_cell(field, object, context);
            // A value of the wrong type is null and counted, never an error.
            if column.odd {
                report.count(field.name);
            }
            // A beginning is always cut, so this needs no note. The text that it is from has
            // notes of its own when it is read.
            if !field.beginning {
                let remarks = remarks(field, &column);
                extra.remarks.extend(remarks.into_iter().map(|note| (field.name, note)));
                extra.cuts.extend(column.cut);
            }
            cells.push(column.cell);
        }
        rows.push(cells, extra);
    }
    (rows, report)
}

/// A cell of a row, with the remarkable facts about its value.
struct ReadCell {
    /// The cell as shown.
    cell: RowCell,
    /// The complete value, if the cell does not show it in full.
    cut: Option<CutCell>,
    /// The uses of invisible characters in the value.
    unseen: InvisibleUse,
    /// True if a value of the wrong type was read.
    odd: bool,
}

/// Reads a column from an object, and cleans and cuts it.
fn read_cell(field: &TableColumn, object: RowObject, context: &RowContext) -> ReadCell {
    let source = field.source(context.api);
    let mut reader = RowReader::new(context);
    let value = object.read(&mut reader, field);
    let finished = finish(field, value, context);
    let odd = reader.odd || finished.is_none();
    let (mut cell, cut) = finished.unwrap_or((RowCell::Null, None));
    // Services omit empty values, so a missing text is empty rather than unknown. In our own
    // objects a missing value is unknown.
    if odd && cell == RowCell::Text(String::new()) {
        cell = RowCell::Null;
    } else if !odd
        && cell == RowCell::Null
        && context.api != Service::Local
        && is_empty_if_missing(field, source)
    {
        cell = RowCell::Text(String::new());
    }
    ReadCell { cell, cut, unseen: InvisibleUse { padding: 0, ..reader.unseen }, odd }
}

/// Returns true if a missing source value means an empty text. Values that we look up or name may
/// merely be unknown.
fn is_empty_if_missing(field: &TableColumn, source: ValueSource) -> bool {
    let unknown = matches!(
        source,
        ValueSource::Absent
            | ValueSource::Added(_)
            | ValueSource::Names(_)
            | ValueSource::Column(ColumnReader::Auth(_))
            // Their reader decides itself.
            | ValueSource::Event(_)
    );
    field.kind == CellKind::Text && !unknown
}

/// Returns the remarks on an untrusted text: its invisible characters, and orders to an assistant.
fn remarks(field: &TableColumn, column: &ReadCell) -> Vec<Note> {
    if field.untrusted.is_none() {
        return Vec::new();
    }
    let mut notes = column.unseen.notes();
    if matches!(&column.cell, RowCell::Text(text) if gives_orders(text)) {
        notes.push(orders::SHOWN.into());
    }
    notes
}

/// Returns the provider's id of a row's object, if its table has ids.
pub fn key<'a>(
    table: &Table,
    object: impl Into<RowObject<'a>>,
    context: &RowContext,
) -> Option<String> {
    let key = table.fields.first()?;
    match (key.kind, read_column(key, object.into(), context)) {
        (CellKind::Handle(_), ReadValue::Text(id)) => Some(id),
        _ => None,
    }
}

/// Returns the instant that a time column reads from an object, for sorting.
pub fn instant<'a>(
    field: &TableColumn,
    object: impl Into<RowObject<'a>>,
    context: &RowContext,
) -> Option<Timestamp> {
    match read_column(field, object.into(), context) {
        ReadValue::Time(time) => Some(time),
        ReadValue::When(when) | ReadValue::Beside(when, _) | ReadValue::Until(_, when) => {
            Some(when.instant(context.zone))
        }
        _ => None,
    }
}

/// Returns the texts that a column reads from an object, complete and uncleaned. For searching
/// only, never for showing.
pub fn texts<'a>(
    field: &TableColumn,
    object: impl Into<RowObject<'a>>,
    context: &RowContext,
) -> Vec<String> {
    match read_column(field, object.into(), context) {
        ReadValue::Text(text) => vec![text],
        ReadValue::List(list) => list.iter().map(ListMember::whole).collect(),
        ReadValue::Words(words) => words.into_iter().map(str::to_owned).collect(),
        ReadValue::Count(count) => vec![count.to_string()],
        _ => Vec::new(),
    }
}

/// Reads a column from an object, without a record of values of the wrong type.
fn read_column(field: &TableColumn, object: RowObject, context: &RowContext) -> ReadValue {
    object.read(&mut RowReader::new(context), field)
}
