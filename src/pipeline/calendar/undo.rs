//! Undoes writes to events, by handles such as `u3`.
//!
//! An event that `write.rs` kept is restored only if it has not changed since.

mod plan;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::Result;
use daysheet_core::event::Event;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{note, ours};
use jiff::tz::TimeZone;

use self::plan::{PlannedUndo, UndoPlan, UndoStep, undo_step};
use super::guests::others;
use super::occurrences;
use super::save::destination::may_write;
use super::target::event_line;
use super::write::{LoggedWrite, keep_created, write_event};
use crate::pipeline::calendar::audience::{EventWrite, event_call, find_audience};
use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::plan::{PlannedWrite, WriteCall, carry_out};
use crate::pipeline::write::report::{ItemOutcome, WriteReport};
use crate::pipeline::write::undo_state::EventUndo;
use crate::store::HandleKind;

/// The word for an undo in outcomes.
const UNDO: &str = "undo";

/// Undoes writes to events. The undo can be undone, too.
pub(crate) async fn undo_events(
    ctx: &Context,
    events: Vec<EventUndo>,
    dry_run: bool,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let mut items = Vec::new();
    for one in &events {
        let plan = undo_step(ctx, one).await.unwrap_or_else(|error| {
            let ItemOutcome { result, detail, .. } = ItemOutcome::failed(&one.event, UNDO, &error);
            UndoPlan::Nothing(result, detail)
        });
        if let UndoPlan::Step(step) = &plan {
            may_write(ctx, &step.target).await?;
        }
        items.push(PlannedUndo { event: one.event.clone(), plan, follows: false });
    }
    // The occurrences of a deleted series may go back to one that is restored.
    let restores = items.iter().any(|item| item.step().is_some_and(|step| step.before.is_some()));
    items.iter_mut().for_each(|item| item.follows = restores);
    let call = WriteCall {
        reports_failures: true,
        ..event_call((UNDO, "Undo writes to"), caller, dry_run)
    };
    carry_out(ctx, &call, items, WriteReport::default()).await
}

impl PlannedWrite for PlannedUndo {
    fn names(&self) -> ItemNames {
        let unknown = || ItemNames { outcome: self.event.clone(), note: self.event.clone() };
        self.step().map_or_else(unknown, |step| step.target.names())
    }

    fn description(&self, zone: &TimeZone) -> (String, String) {
        self.step().map_or_else(Default::default, |step| {
            (event_line(&step.target.event, zone), step.effect(zone))
        })
    }

    fn settled(&self) -> Option<(&'static str, String)> {
        match &self.plan {
            UndoPlan::Step(_) => None,
            UndoPlan::Nothing(result, why) => Some((*result, why.clone())),
        }
    }

    async fn audience(&self, ctx: &Context) -> Result<Option<WriteAudience>> {
        let Some(step) = self.step() else {
            return Ok(None);
        };
        let change = step.change();
        let write = change.as_ref().map_or(EventWrite::Delete(false), EventWrite::Change);
        find_audience(ctx, &step.target, &write).await
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let Some(step) = self.step() else {
            return Ok(());
        };
        let owner = &step.target.owner;
        let known = if self.follows && step.deleted.is_none() {
            occurrences::known_before(ctx, owner, &step.target.event, None).await
        } else {
            Vec::new()
        };
        let restored = take_back(ctx, step, report).await?;
        match step.before {
            Some(_) => report.series.knew(known),
            None => report.series.knew_of(known, None),
        }
        match restored {
            Some(event) => report.add_event(owner, &event),
            None => report.outcomes.push(ItemOutcome::new(
                self.names().outcome,
                UNDO,
                "done",
                "deleted",
            )),
        }
        Ok(())
    }
}

/// Carries out one step of an undo; returns the restored event.
async fn take_back(
    ctx: &Context,
    step: &UndoStep,
    report: &mut WriteReport,
) -> Result<Option<Event>> {
    let (target, port) = (&step.target, &step.target.owner.port);
    let account = &target.owner.account;
    let entry =
        AuditEntry::new(&account.email, LoggedTool::CALENDAR_SAVE, "undo").with_id(&target.handle);
    let change = step.change();
    let (Some(before), Some(left)) = (&step.before, &step.deleted) else {
        let write = async {
            let Some(before) = &step.before else {
                // Where guests are always notified, a room counts as one.
                let notify = if others(&target.event.guests, &account.email).is_empty() {
                    GuestNotice::All
                } else {
                    GuestNotice::Nobody
                };
                return port.delete(&target.event, None, notify).await.map(|()| None);
            };
            port.restore(before, Some(&target.event)).await.map(Some)
        };
        let logged = LoggedWrite { target, change: change.as_ref(), entry, can_undo: true };
        return write_event(ctx, logged, report, write).await;
    };
    let write = port.restore(before, left.as_ref());
    let restored = run_logged(ctx, entry, &mut report.notes, write, |_| None).await?;
    // Some services cannot restore a deleted event, and create a new one.
    if restored.id != target.event.id {
        let (kind, old, new) = (HandleKind::Event, target.event.id.as_str(), restored.id.as_str());
        if let Err(error) = ctx.store.move_handle(&account.id, kind, old, new).await {
            tracing::warn!(%error, "the handle of a restored event is lost");
        }
        let what = match target.event.repeat {
            Some(_) => "links to it, and ids of its occurrences,",
            None => "links to it",
        };
        report.notes.push(note!("it was created again: {} are new", ours(what)));
    }
    keep_created(ctx, &target.owner, &restored, false, report).await;
    Ok(Some(restored))
}
