//! Rows of a provider's objects, and the notes on missing ones.

use daysheet_core::encode::Document;
use daysheet_core::error::Error;
use daysheet_core::event::time::zone_label;
use daysheet_core::flatten::{self, FlattenReport, RowContext, RowObject};
use daysheet_core::provider::FailedItem;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{self, ColumnLevel, Service, Table, TableColumn};
use daysheet_core::text::{Note, NoteKey, note, ours, quoted};
use serde_json::Value;

use super::answer::recorded::record;
use crate::store::HandleKind;

/// Returns a function that prefixes a note with the label of its account, if there are
/// several.
pub(super) fn name_account(several: bool, label: &str) -> impl Fn(Note) -> Note {
    move |note| if several { note.under(ours(label)) } else { note }
}

/// Flattens `objects` to rows; adds notes on values that could not be shown exactly.
pub(super) fn rows_of<'a, O>(
    context: &RowContext<'_>,
    table: &'static Table,
    columns: &[&'static TableColumn],
    objects: &'a [O],
    notes: &mut Vec<Note>,
) -> RowTable
where
    RowObject<'a>: From<&'a O>,
{
    let (mut rows, report) = flatten::flatten(table, columns, objects, context);
    let json = objects.iter().filter_map(|object| RowObject::from(object).json());
    rows.made_from(json.clone().map(json_bytes).sum());
    // Only the providers' objects are compared with the answer.
    if context.api != Service::Local {
        record(json);
    }
    notes.extend(report_lines(&report));
    rows
}

/// Returns the size of an object as compact JSON, in bytes, without writing it.
fn json_bytes(object: &Value) -> usize {
    struct RowCount(usize);
    impl std::io::Write for RowCount {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = RowCount(0);
    // Values always serialise, and counting cannot fail.
    let _ = serde_json::to_writer(&mut count, object);
    count.0
}

/// Adds the scalar that names the zone of the times, if the document has times.
pub(super) fn zone_line(document: &mut Document, zone: &jiff::tz::TimeZone) {
    let timed = document.tables.iter().any(|rows| {
        !rows.is_empty()
            && rows.columns().iter().any(|field| {
                matches!(field.kind, schemas::CellKind::Time | schemas::CellKind::Start)
            })
    });
    if timed {
        document.scalars.insert(0, ("zone", RowCell::Text(zone_label(zone))));
    }
}

fn report_lines(report: &FlattenReport) -> Vec<Note> {
    let line = |(name, count): &(&'static str, usize)| {
        note!(
            "{} is null in {}: the provider's value had an unexpected type",
            ours(name),
            ours(count)
        )
    };
    report.odd.iter().map(line).collect()
}

/// The reason why an account is missing from an answer, and the position at which it continues.
pub(super) type MissingAccount<P> = (Error, Option<P>);

/// Returns the note about a missing account.
pub(super) fn missing_line<P>((error, again): MissingAccount<P>) -> Note {
    let line = match again {
        Some(_) => note!("{} (retried with the next page)", error),
        None => Note::from(&error),
    };
    line.with_key(NoteKey::Missing)
}

/// Returns a note about the `failed` items among the rows, by their handles.
pub(super) fn failed_note(rows: &RowTable, failed: &[FailedItem]) -> Option<Note> {
    let named: Vec<_> = failed
        .iter()
        .filter_map(|one| {
            let row = rows
                .rows()
                .zip(rows.extras())
                .find(|(_, extra)| extra.provider_id.as_ref() == Some(&one.id));
            let name = match row? {
                ([RowCell::Handle(kind, number), ..], _) => format!("{kind}{number}"),
                _ => one.id.clone(),
            };
            Some((name, one.error.clone()))
        })
        .collect();
    failed_line(&named)
}

/// Returns one line about items that could not be fetched, by the ids the reader knows.
pub(super) fn failed_line(failed: &[(String, Error)]) -> Option<Note> {
    let (_, first) = failed.first()?;
    // Handles are ours; other ids are a provider's.
    let named = |id: &str| match HandleKind::parse(id) {
        Some(_) => id.to_owned(),
        None => quoted(id).to_string(),
    };
    let ids: Vec<_> = failed.iter().map(|(id, _)| named(id)).collect();
    let line = note!("{} could not be fetched ({}): {}", failed.len(), ours(ids.join(", ")), first);
    Some(line.with_key(NoteKey::Missing))
}

/// Returns the columns of `table` up to `level`; the account is included only if there
/// are several.
pub(super) fn columns_of(
    table: &'static Table,
    level: ColumnLevel,
    several: bool,
) -> Vec<&'static TableColumn> {
    table
        .fields
        .iter()
        .filter(|field| {
            if field.is_account() {
                several || field.level == ColumnLevel::Key
            } else {
                field.is_at(level)
            }
        })
        .collect()
}
