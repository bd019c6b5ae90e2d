//! Undoes writes to events, by handles such as `u3`.
//!
//! An event that `write.rs` kept is restored only if it has not changed since.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{note, ours};

use super::guests::others;
use super::occurrences;
use super::save::destination::may_write;
use super::search::by_id::event_target;
use super::target::{
    EventTarget, as_target, calendar_owner, event_line, fetch_event, listed, title,
};
use super::write::{LoggedWrite, content, has_exceptions, identity, keep_created, write_event};
use crate::pipeline::calendar::audience::{EventWrite, agreed_for};
use crate::pipeline::context::Context;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::write::undo_state::EventUndo;
use crate::store::HandleKind;

/// An event that an undo deletes or restores.
struct UndoStep {
    /// The current event; if it was deleted, the event before its deletion.
    target: EventTarget,
    /// The event to restore; `None` to delete it.
    before: Option<Event>,
    /// The remains of a deleted event, if the service has any; `None` if the event still exists.
    deleted: Option<Option<Event>>,
}

/// The action of an undo on an event.
enum UndoPlan {
    Step(Box<UndoStep>),
    /// No action: the result, and the reason.
    Nothing(&'static str, &'static str),
}

/// Undoes writes to events. The undo can be undone, too.
pub(crate) async fn undo_events(
    ctx: &Context,
    events: Vec<EventUndo>,
    dry_run: bool,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let caller = &MaybeDryRun { caller, dry_run };
    let mut report = WriteReport::default();
    let mut steps = Vec::new();
    for one in &events {
        match undo_step(ctx, one).await {
            Ok(UndoPlan::Step(step)) => steps.push(*step),
            Ok(UndoPlan::Nothing(result, why)) => {
                report.outcomes.push(ItemOutcome::new(&one.event, "undo", result, why));
            }
            Err(error) => report.outcomes.push(ItemOutcome::failed(&one.event, "undo", &error)),
        }
    }
    let zone = &ctx.config.zone;
    let (mut changes, mut lines) = (Vec::new(), Vec::new());
    for step in &steps {
        may_write(ctx, &step.target).await?;
        changes.push(step.change());
        lines.push(event_line(&step.target.event, zone));
    }
    let writes = steps.iter().zip(&changes).map(|(step, change)| {
        let change = change.as_ref().map(EventWrite::Change);
        (&step.target, change.unwrap_or(EventWrite::Delete(false)))
    });
    let writes: Vec<_> = writes.collect();
    let question = format!("Undo writes to events with other people?\n{}", listed(lines));
    agreed_for(ctx, &writes, question, caller, &mut report.notes).await?;
    report.is_rehearsal = dry_run;
    let restores = !dry_run && steps.iter().any(|step| step.before.is_some());
    for step in steps {
        let name = format!("{} {}", step.target.handle, title(&step.target.event));
        if dry_run {
            let detail = step.before.as_ref().map_or_else(
                || "delete it".to_owned(),
                |before| format!("back to {}", event_line(before, &ctx.config.zone)),
            );
            report.outcomes.push(ItemOutcome::new(name, "undo", "planned", detail));
            continue;
        }
        let known = if restores && step.deleted.is_none() {
            let owner = &step.target.owner;
            occurrences::known_before(ctx, owner, &step.target.event, None).await
        } else {
            Vec::new()
        };
        let taken_back = take_back(ctx, &step, &mut report).await;
        if taken_back.is_ok() {
            match step.before {
                Some(_) => report.series.knew(known),
                // The occurrences of a deleted series may go back to one that is restored.
                None => report.series.knew_of(known, None),
            }
        }
        match taken_back {
            Ok(Some(value)) => {
                report.series.wrote(&step.target.owner, &value);
                report.events.push((step.target.owner, value));
            }
            Ok(None) => report.outcomes.push(ItemOutcome::new(name, "undo", "done", "deleted")),
            Err(error) => report.outcomes.push(ItemOutcome::failed(name, "undo", &error)),
        }
    }
    write_report(ctx, report).await
}

/// Returns the action of an undo on an event in its current state.
async fn undo_step(ctx: &Context, undo: &EventUndo) -> Result<UndoPlan> {
    let (account, id) = event_target(ctx, &undo.event, None).await?;
    let owner = calendar_owner(ctx, account).await?;
    let now = match fetch_event(ctx, owner.clone(), &id).await {
        Ok(now) => Some(now),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (now, left) = match now {
        // Some services return a deleted event as a cancelled one.
        Some(now) if now.event.cancelled => (None, Some(now.event)),
        now => (now, None),
    };
    let before = match &undo.sealed {
        Some(sealed) => {
            let kept = ctx.store.unseal(&identity(&undo.event), sealed).await?;
            let kept = serde_json::from_slice(&kept).ok();
            let before = kept.and_then(|kept| owner.port.read_event(kept));
            let unreadable = || Error::new(ErrorKind::Store, "the kept event cannot be read");
            Some(before.ok_or_else(unreadable)?)
        }
        None => None,
    };
    let step = |target, deleted| UndoStep { target, before: before.clone(), deleted };
    let same = |now: &EventTarget| {
        // A restored event has a new version with the same content.
        now.event.version == undo.version || content(&now.owner, &now.event) == undo.content
    };
    let was = before.as_ref().map(|before| content(&owner, before));
    // A rule or time that is written again takes changed occurrences back to the rule.
    if let (Some(now), Some(before)) = (&now, &before)
        && (now.event.start, now.event.end, &now.event.repeat)
            != (before.start, before.end, &before.repeat)
        && has_exceptions(now, Some(&EventPatch { repeat: Some(None), ..EventPatch::default() }))
            .await
    {
        return Ok(UndoPlan::Nothing("skipped", "occurrences were changed since: left as it is"));
    }
    Ok(match (now, &before, &undo.version) {
        (Some(_), Some(_), None) => UndoPlan::Nothing("unchanged", "it is there"),
        (Some(now), ..) if same(&now) => UndoPlan::Step(Box::new(step(now, None))),
        (Some(now), ..) if was == Some(content(&now.owner, &now.event)) => {
            UndoPlan::Nothing("unchanged", "already as it was")
        }
        (Some(_), ..) => UndoPlan::Nothing("skipped", "changed since: left as it is"),
        (None, None, _) => UndoPlan::Nothing("unchanged", "already deleted"),
        (None, Some(_), Some(_)) => UndoPlan::Nothing("skipped", "deleted since: undo that first"),
        (None, Some(before), None) => {
            let target = as_target(ctx, &owner, before.clone()).await?;
            UndoPlan::Step(Box::new(step(target, Some(left))))
        }
    })
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
        let logged = LoggedWrite { target, change: change.as_ref(), entry };
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
        report.notes.push(note!(
            "{} was created again: {} are new",
            ours(&target.handle),
            ours(what)
        ));
    }
    keep_created(ctx, &target.owner, &restored, false, report).await;
    Ok(Some(restored))
}

impl UndoStep {
    /// Returns a change that concerns as many people as restoring the event does; `None` if the
    /// event is deleted.
    fn change(&self) -> Option<EventPatch> {
        let before = self.before.as_ref()?;
        Some(EventPatch {
            title: Some(before.title.clone()),
            guests: Some(before.guests.clone()),
            repeat: Some(before.repeat.clone()),
            ..EventPatch::default()
        })
    }
}
