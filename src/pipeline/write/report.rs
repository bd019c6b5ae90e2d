//! The report of a call that writes: the outcome of each item, the events as their
//! services have them, and the notes.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{ColumnLevel, OUTCOME};
use daysheet_core::text::{Note, note, ours};
use serde_json::{Value, json};

use crate::pipeline::calendar::guests::NotifiedGuests;
use crate::pipeline::calendar::occurrences::{self, SeriesLog};
use crate::pipeline::calendar::target::{CalendarOwner, written_rows};
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::pipeline::write::undo_state::{UndoLog, save_undo};
use crate::store::HandleKind;

/// The note on a dry run.
pub(crate) const DRY_RUN: &str = "dry run: nothing was written";

/// The outcome of one item of a call that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemOutcome {
    pub(crate) item: String,
    pub(crate) op: &'static str,
    pub(crate) result: &'static str,
    pub(crate) detail: String,
}

impl ItemOutcome {
    pub(crate) fn new(
        item: impl Into<String>,
        op: &'static str,
        result: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self { item: item.into(), op, result, detail: detail.into() }
    }

    /// Returns the outcome of an item that a failure before it left unwritten.
    pub(crate) fn skipped(item: impl Into<String>, op: &'static str) -> Self {
        Self::new(item, op, "skipped", "not tried, because an earlier one was not completed")
    }

    /// Returns the outcome of a failed write: `unknown` if the connection broke,
    /// because the write may have taken effect.
    pub(crate) fn failed(item: impl Into<String>, op: &'static str, error: &Error) -> Self {
        if error.is_open() {
            Self::new(
                item,
                op,
                "unknown",
                format!(
                    "{}: it may have been done anyway, so search before retrying",
                    error.message()
                ),
            )
        } else {
            Self::new(item, op, "failed", error.to_string())
        }
    }
}

/// The parts of the answer of a call that writes.
#[derive(Default)]
pub(crate) struct WriteReport {
    pub(crate) events: Vec<(CalendarOwner, Event)>,
    pub(crate) outcomes: Vec<ItemOutcome>,
    pub(crate) notes: Vec<Note>,
    /// True for a dry run.
    pub(crate) is_rehearsal: bool,
    /// The number of events that are only the earlier part of a series that was split.
    pub(crate) remainders: usize,
    /// The number of events that were written although they have conflicts.
    pub(crate) clashing: usize,
    /// The series that were written, and their occurrences.
    pub(crate) series: SeriesLog,
    /// The guests notified of the writes to events.
    pub(crate) notified: NotifiedGuests,
    /// The writes to events that can be undone.
    pub(crate) undo: UndoLog,
    /// True if a note names the undo call, which belongs to another tool.
    pub(crate) names_undo: bool,
}

impl WriteReport {
    /// Returns the report of a call that notifies guests as `notify` says.
    pub(crate) fn notifying(notify: Option<GuestNotice>) -> Self {
        Self { notified: NotifiedGuests::new(notify), ..Self::default() }
    }

    /// Adds an event that was written, as its service has it.
    pub(crate) fn add_event(&mut self, owner: &CalendarOwner, event: &Event) {
        self.series.wrote(owner, event);
        self.events.push((owner.clone(), event.clone()));
    }
}

/// Builds the response of a call that writes.
pub(crate) async fn write_report(ctx: &Context, report: WriteReport) -> Result<WholeAnswer> {
    let mut response = WholeAnswer::default();
    // Before any row gets a handle: known handles move to the new occurrences first.
    let occurrences = occurrences::follow(ctx, report.series, &mut response.notes).await;
    written_rows(ctx, &report.events, &mut response.document, &mut response.notes).await;
    response.document.tables.extend(occurrences);
    let mut undo = report.undo;
    match save_undo(ctx, &mut undo).await {
        Ok(()) => {
            if let Some(number) = undo.number {
                let kind = HandleKind::Undo;
                response.document.scalars.push(("undo", RowCell::Handle(kind.prefix(), number)));
                let undo_id = kind.handle(number);
                // Writes whose earlier state could not be kept are missing from the undo.
                if undo.events.len() < undo.writes {
                    let events: Vec<&str> = undo.events.iter().map(|one| &*one.event).collect();
                    response.notes.push(note!(
                        "calendar_save undo={} undoes only {}",
                        ours(undo_id),
                        ours(events.join(" "))
                    ));
                } else if report.names_undo {
                    response.notes.push(note!("calendar_save undo={} undoes it", ours(undo_id)));
                }
            }
        }
        // The writes are done: if the store fails, only the undo is lost.
        Err(error) => response.notes.push(note!("no undo: {}", error)),
    }
    let rows = outcome_rows(ctx, &report.outcomes);
    if !rows.is_empty() {
        response.document.tables.push(rows);
    }
    let mut notes = report.notes;
    if report.clashing > 0 && !report.events.is_empty() {
        // Other tools add events, too, and do not have the argument.
        let summary = match report.events.len().saturating_sub(report.remainders) {
            1 => "written all the same: calendar_save if_conflict=refuse would not write it".into(),
            _ => note!(
                "written; with clashes: {}; calendar_save if_conflict=refuse would leave those out",
                report.clashing
            ),
        };
        notes.insert(0, summary);
    }
    if report.is_rehearsal {
        notes.push(DRY_RUN.into());
    }
    notes.extend(report.notified.note());
    notes.append(&mut response.notes);
    response.notes = notes;
    Ok(response)
}

pub(crate) fn outcome_rows(ctx: &Context, outcomes: &[ItemOutcome]) -> RowTable {
    let objects: Vec<Value> = outcomes
        .iter()
        .map(|one| {
            let detail = (!one.detail.is_empty()).then_some(one.detail.as_str());
            json!({"item": one.item, "op": one.op, "result": one.result, "detail": detail})
        })
        .collect();
    let columns = OUTCOME.up_to(ColumnLevel::Core);
    rows_of(&ctx.local(), &OUTCOME, &columns, &objects, &mut Vec::new())
}
