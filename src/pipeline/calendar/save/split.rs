//! Writes the change of an occurrence and all later ones: the series is split.
//!
//! The new series is created before the old one is cut, so a failure in between leaves too many
//! events and never too few; the extra ones are removed again.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::text::{Note, note, ours};

use super::follow::{SplitSeries, copied, shorten_series};
use super::ready::ReadyChange;
use crate::pipeline::calendar::guests::{notified, others};
use crate::pipeline::calendar::occurrences;
use crate::pipeline::calendar::target::{EventTarget, fetch_event, write_error};
use crate::pipeline::calendar::write::{
    LoggedCreation, LoggedWrite, create_event, keep_created, write_event,
};
use crate::pipeline::context::Context;
use crate::pipeline::write::interrupted::{begin_writing, may_leave};
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::report::{ItemOutcome, WriteReport};

/// A split while it is written.
struct SplitWrite<'a> {
    /// The change of the later part.
    ready: &'a ReadyChange,
    /// The series to shorten.
    master: &'a EventTarget,
    /// The new series.
    whole: EventPatch,
}

/// Writes the change of an occurrence and all later ones. Returns false, with an outcome in the
/// report, if only a part was written, or possibly was.
pub(super) async fn split_series(
    ctx: &Context,
    ready: &ReadyChange,
    cut: &SplitSeries,
    report: &mut WriteReport,
) -> Result<bool> {
    let master = &ready.target;
    // A process killed between the two writes leaves both series.
    may_leave(&format!(
        "the new series may exist beside {}: if so, delete one of them",
        master.handle
    ));
    begin_writing(ctx).await?;
    let split = SplitWrite { ready, master, whole: copied(master, ready.change.clone()) };
    let from = cut.base.start.when().instant(&ctx.config.zone);
    // Before the writes, because the later occurrences then belong to the new series.
    let known = occurrences::known_before(ctx, &master.owner, &master.event, Some(from)).await;
    let new = match split.create_series(ctx, &mut report.notes).await {
        Ok(new) => new,
        Err(error) if error.is_open() => {
            let detail = format!(
                "{}: the new series may still be created, and {} is unchanged; search before \
                 retrying, and delete the new one if it exists",
                error.message(),
                master.handle
            );
            report
                .outcomes
                .push(ItemOutcome::new(&ready.names.outcome, "change", "unknown", detail));
            return Ok(false);
        }
        Err(error) => return Err(error.context("the new series was not created")),
    };
    // The old series is cut only when the new one exists, so that no event is lost.
    match split.cut_series(ctx, cut, report).await {
        Ok(old) => {
            // Undoing only the creation would lose events, so it can be undone only with the cut.
            if !report.undo.events.is_empty() {
                keep_created(ctx, &master.owner, &new, false, report).await;
            }
            let own = &master.owner.account.email;
            report.notified.add(&[], !others(&new.guests, own).is_empty());
            report.series.knew_of(known, Some(new.id.clone()));
            split.report_parts(new, old, report);
            Ok(true)
        }
        Err(error) => {
            let (result, detail) = split.failed_cut(ctx, &new, error, &mut report.notes).await?;
            report.events.push((master.owner.clone(), new));
            report.outcomes.push(ItemOutcome::new(&ready.names.outcome, "change", result, detail));
            Ok(false)
        }
    }
}

impl SplitWrite<'_> {
    /// Returns the audit log's entry of one of its writes.
    fn audit_entry(&self, op: &'static str, ids: Vec<String>) -> AuditEntry<'_> {
        let own = &self.master.owner.account.email;
        let guests = &self.master.event.guests;
        let recipients = notified(guests, self.whole.guests.as_ref(), own, self.ready.notify);
        AuditEntry { ids, ..AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, op) }
            .with_recipients(recipients)
    }

    /// Creates the new series, with the later part.
    async fn create_series(&self, ctx: &Context, notes: &mut Vec<Note>) -> Result<Event> {
        let creation = LoggedCreation {
            owner: &self.master.owner,
            calendar: self.master.event.calendar.as_ref(),
            change: &self.whole,
            notify: self.ready.notify,
            entry: self.audit_entry("create", Vec::new()),
        };
        create_event(ctx, creation, notes).await
    }

    /// Ends the old series before the new one. Returns the old series.
    async fn cut_series(
        &self,
        ctx: &Context,
        cut: &SplitSeries,
        report: &mut WriteReport,
    ) -> Result<Option<Event>> {
        let shorter =
            EventPatch { repeat: Some(Some(cut.before.clone())), ..EventPatch::default() };
        let write = shorten_series(ctx, self.master, &shorter, self.ready.notify);
        let write = async { write.await.map(Some) };
        let entry = self.audit_entry("update", vec![self.master.handle.clone()]);
        let logged =
            LoggedWrite { target: self.master, change: Some(&shorter), entry, can_undo: true };
        write_event(ctx, logged, report, write).await
    }

    /// Reports both series after both writes.
    fn report_parts(&self, new: Event, old: Option<Event>, report: &mut WriteReport) {
        let owner = &self.master.owner;
        report.series.wrote(owner, &new);
        report.events.push((owner.clone(), new));
        report.remainders += usize::from(old.is_some());
        report.events.extend(old.map(|old| (owner.clone(), old)));
        report.notes.push(note!(
            "the series was split: {} has the earlier part, the first row the later",
            ours(&self.master.handle)
        ));
        if self.whole.online == Some(true) {
            report.notes.push("the new series has its own online meeting".into());
        }
    }

    /// Deletes the new series again if the old one could certainly not be cut. Returns the outcome
    /// if the new series stays.
    ///
    /// # Errors
    /// The error of the cut, if the new series was deleted and the calendar is unchanged.
    async fn failed_cut(
        &self,
        ctx: &Context,
        new: &Event,
        error: Error,
        notes: &mut Vec<Note>,
    ) -> Result<(&'static str, String)> {
        let handle = &self.master.handle;
        if error.is_open() {
            let detail = format!(
                "{}: the new series exists, but {handle} may not end before it; check, and \
                 shorten or delete one of them",
                error.message()
            );
            return Ok(("unknown", detail));
        }
        // A refused write may have been carried out in part. It is safe to go back
        // only if the series is unchanged.
        if !is_untouched(ctx, self.master).await {
            let detail = format!(
                "{}: the new series exists, and {handle} was changed; check, and shorten or \
                 delete one of them",
                error.message()
            );
            return Ok(("unknown", detail));
        }
        let entry = self.audit_entry("delete", vec![new.id.clone().into()]);
        let write = self.master.owner.port.delete(new, None, self.ready.notify);
        match run_logged(ctx, entry, notes, write, |()| None).await {
            Ok(()) => {
                let error = write_error(ctx, self.master, error).await;
                Err(error.context(
                    "nothing was changed: the old series could not be shortened, and the new one \
                     was deleted",
                ))
            }
            Err(second) => {
                let detail = format!(
                    "{handle} was not shortened ({}), and the new series could not be deleted \
                     ({}): delete one of them",
                    error.message(),
                    second.message()
                );
                Ok(("failed", detail))
            }
        }
    }
}

/// Returns true if an event is still the version that was fetched.
async fn is_untouched(ctx: &Context, target: &EventTarget) -> bool {
    let version = &target.event.version;
    let now = fetch_event(ctx, target.owner.clone(), &target.event.id).await;
    // Without versions, a partial change would go unnoticed.
    version.is_some() && now.is_ok_and(|now| now.event.version == *version)
}
