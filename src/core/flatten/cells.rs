//! Cells: values in the form in which a column shows them.
//!
//! Untrusted text is cleaned and cut here, according to its column, so that no caller can forget
//! it.

use jiff::tz::TimeZone;

use super::context::RowContext;
use super::member::sample;
use super::reader::ReadValue;
use super::room::{RowRoom, clip};
use super::times::minute;
use crate::event::time;
use crate::row::{CutCell, RowCell};
use crate::schemas::{CellKind, TableColumn};
use crate::text::deceptive;

/// Returns the cell for a value, according to the column's kind and options, and the cut cell if
/// the value is not shown in full; `None` for a value of the wrong type.
pub(super) fn finish(
    field: &TableColumn,
    value: ReadValue,
    context: &RowContext,
) -> Option<(RowCell, Option<CutCell>)> {
    match (field.kind, value) {
        (_, ReadValue::Nothing) => Some((RowCell::Null, None)),
        (CellKind::Text, value) => text_cell(field, value, context.room),
        (kind, value) => Some((exact_cell(kind, value, context.zone)?, None)),
    }
}

/// Returns the cell for a value that is never cut.
fn exact_cell(kind: CellKind, value: ReadValue, zone: &TimeZone) -> Option<RowCell> {
    Some(match (kind, value) {
        (CellKind::Handle(_), ReadValue::Text(id)) => RowCell::Id(id),
        (CellKind::Flag, ReadValue::Flag(flag)) => RowCell::Flag(flag),
        (CellKind::Count, ReadValue::Count(count)) => RowCell::Count(count),
        // Google's APIs write 64-bit numbers as text.
        (CellKind::Count, ReadValue::Text(text)) => RowCell::Count(text.parse().ok()?),
        (CellKind::Words, ReadValue::Words(words)) => RowCell::Text(words.join(" ")),
        (CellKind::Time, ReadValue::Time(time)) => RowCell::Text(minute(time, zone)),
        (CellKind::Start, ReadValue::When(start)) => RowCell::Text(time::start(start, zone)),
        (CellKind::Start, ReadValue::Beside(start, own)) => {
            RowCell::Text(time::start_beside(start, zone, &own))
        }
        (CellKind::End, ReadValue::Until(start, end)) => RowCell::Text(time::end(start, end, zone)),
        _ => return None,
    })
}

/// Returns the cell for a value of a text column.
fn text_cell(
    field: &TableColumn,
    value: ReadValue,
    room: RowRoom,
) -> Option<(RowCell, Option<CutCell>)> {
    Some(match value {
        ReadValue::Text(text) => line_cell(field, text, room),
        ReadValue::Flag(flag) => line_cell(field, flag.to_string(), room),
        ReadValue::Count(count) => line_cell(field, count.to_string(), room),
        ReadValue::List(list) => sample(field, &list, ", ", room),
        ReadValue::Marked(list) => sample(field, &list, " ", room),
        _ => return None,
    })
}

/// Returns the cell for a text: one clean line within the column's cap, if it is untrusted.
fn line_cell(field: &TableColumn, text: String, room: RowRoom) -> (RowCell, Option<CutCell>) {
    let Some(cap) = field.untrusted else {
        return (RowCell::Text(text), None);
    };
    let whole = deceptive::line(&text);
    let width = match (field.beginning, room) {
        (true, RowRoom::Beginning(width)) => usize::from(width),
        (_, room) => room.cap(cap),
    };
    let (shown, cut) = clip(whole.clone(), width);
    let cut = cut.then_some(CutCell { column: field.name, whole, members: None });
    (RowCell::Text(shown), cut)
}
