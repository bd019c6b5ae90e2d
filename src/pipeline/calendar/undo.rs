//! Undoes writes to events, by handles such as `u3`.
//!
//! Before a change or a deletion, the event is sealed and stored. It is restored only if the write
//! notified no one, and if the event has not changed since.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::calendar::{EventChange, GuestNotice};
use daysheet_core::text::{Note, note, ours};
use serde_json::Value;

use super::guests::others;
use super::occurrences;
use super::save::destination::may_write;
use super::search::by_id::event_target;
use super::target::{
    CalendarOwner, EventTarget, as_target, calendar_owner, event_line, fetch_event, listed, title,
};
use crate::outputs::hash;
use crate::pipeline::calendar::audience::{EventWrite, agreed_for};
use crate::pipeline::context::Context;
use crate::pipeline::handles::number_after;
use crate::pipeline::write::log::CALENDAR_SAVE;
use crate::pipeline::write::log::{AuditEntry, run_logged};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::write::undo_state::{EventUndo, save_undo};
use crate::store::HandleKind;

/// The longest event that is kept, in bytes.
const MAX_LEN: usize = 1 << 20;

/// An event that an undo deletes or restores.
struct UndoStep {
    /// The current event; if it was deleted, the event before its deletion.
    target: EventTarget,
    /// The event to restore; `None` to delete it.
    before: Option<Value>,
    /// The remains of a deleted event, if the service has any; `None` if the event still exists.
    deleted: Option<Option<Value>>,
}

/// The action of an undo on an event.
enum UndoPlan {
    Step(Box<UndoStep>),
    /// No action: the result, and the reason.
    Nothing(&'static str, &'static str),
}

/// A write to an event that can be undone.
pub(super) struct LoggedWrite<'a> {
    /// The event before the write.
    pub(super) target: &'a EventTarget,
    /// The change; `None` for a deletion.
    pub(super) change: Option<&'a EventChange>,
    /// The write in the audit log.
    pub(super) entry: AuditEntry<'a>,
}

/// Changes an event, or deletes it, between two lines of the log. If the write notifies no one, the
/// event before it is kept for an undo.
///
/// # Errors
/// The errors of the log and of the write.
pub(super) async fn write_event(
    ctx: &Context,
    logged: LoggedWrite<'_>,
    report: &mut WriteReport,
    write: impl Future<Output = Result<Option<Value>>>,
) -> Result<Option<Value>> {
    let LoggedWrite { target, change, entry } = logged;
    let recipients = entry.recipients.clone();
    let kept = recipients.is_empty() && keep_event(ctx, target, change, report).await;
    let written = run_logged(ctx, entry, &mut report.notes, write, |_| None).await;
    if written.is_ok() {
        let has_guests = !others(&target.facts.guests, &target.owner.account.email).is_empty();
        report.notified.add(&recipients, has_guests && target.facts.own);
    }
    let log = &mut report.undo;
    log.writes += usize::from(written.is_ok());
    if kept && written.is_err() {
        log.events.pop();
        if let Err(error) = save_undo(ctx, log).await {
            tracing::warn!(%error, "what was kept of a failed write stays");
        }
    } else if let (true, Ok(Some(value)), Some(last)) = (kept, &written, log.events.last_mut()) {
        let facts = target.owner.port.event_data(value);
        // An empty version is an unknown one; `None` would mark the event as deleted.
        last.version = facts.and_then(|facts| facts.version).or(Some(String::new()));
        last.content = content(&target.owner, value);
    }
    written
}

/// Keeps an event that is about to be changed or deleted; returns false if that write cannot be
/// undone. A note gives the reason if it is the provider's.
async fn keep_event(
    ctx: &Context,
    target: &EventTarget,
    change: Option<&EventChange>,
    report: &mut WriteReport,
) -> bool {
    if let Some(note) = no_undo(target, change).await {
        report.notes.push(note);
        return false;
    }
    if !can_be_kept(target) {
        return false;
    }
    let json = target.value.to_string();
    let kept = async {
        if json.len() > MAX_LEN {
            return Err(Error::argument(format!("the event exceeds {MAX_LEN} bytes")));
        }
        let sealed = ctx.store.seal(&identity(&target.handle), json.as_bytes()).await?;
        // The version and the content are filled in after the write.
        let version = change.map(|_| String::new());
        let event = target.handle.clone();
        let content = String::new();
        report.undo.accounts.insert(target.owner.account.id.clone());
        report.undo.events.push(EventUndo { event, sealed: Some(sealed), version, content });
        let saved = save_undo(ctx, &mut report.undo).await;
        // An event that could not be stored is not offered for an undo.
        saved.inspect_err(|_| drop(report.undo.events.pop()))
    };
    match kept.await {
        Ok(()) => true,
        Err(error) => {
            report.notes.push(note!("no undo: {}", error));
            false
        }
    }
}

/// Returns a note on the reason why a write cannot be undone, if the event or its provider is that
/// reason.
pub(crate) async fn no_undo(target: &EventTarget, change: Option<&EventChange>) -> Option<Note> {
    if change.is_none() && is_shared(target) {
        return Some("no undo: other people take part in it".into());
    }
    if !can_be_kept(target) {
        return None;
    }
    let mut reason = target.owner.port.irreversible(&target.value, change);
    if reason.is_none() && has_exceptions(target, change).await {
        reason = Some("occurrences that differ from their series cannot be restored");
    }
    Some(note!("no undo: {}", ours(reason?)))
}

/// Keeps the version of an event that was created, unless someone was notified.
pub(crate) async fn keep_created(
    ctx: &Context,
    owner: &CalendarOwner,
    value: &Value,
    notified: bool,
    report: &mut WriteReport,
) {
    // Counted even if it cannot be undone, so that the answer shows an incomplete undo.
    report.undo.writes += 1;
    let content = content(owner, value);
    let facts = owner.port.event_data(value).filter(|_| !notified && !content.is_empty());
    let Some(facts) = facts else {
        return;
    };
    let kind = HandleKind::Event;
    let notes = &mut report.notes;
    if let Some(number) = number_after(ctx, &owner.account, kind, facts.id.as_str(), notes).await {
        let version = Some(facts.version.unwrap_or_default());
        let event = kind.handle(number);
        report.undo.accounts.insert(owner.account.id.clone());
        report.undo.events.push(EventUndo { event, sealed: None, version, content });
    }
}

/// Returns true if a write to a series would lose occurrences that differ from it, or
/// if that cannot be found out.
async fn has_exceptions(series: &EventTarget, change: Option<&EventChange>) -> bool {
    // Other changes of a series do not affect its exceptions.
    let stays = change.is_some_and(|one| one.time.is_none() && one.repeat.is_none());
    let (false, Some(_), Some(uid)) = (stays, &series.facts.repeat, &series.facts.uid) else {
        return false;
    };
    let port = &series.owner.port;
    let differs = |one: &Value| {
        let facts = port.event_data(one);
        facts.is_some_and(|one| one.series.as_ref() == Some(&series.facts.id) && !one.cancelled)
    };
    !port.by_uid(uid).await.is_ok_and(|found| !found.iter().any(differs))
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
        lines.push(event_line(&step.target.facts, zone));
    }
    let writes = steps.iter().zip(&changes).map(|(step, change)| {
        let change = change.as_ref().map(EventWrite::Change);
        (&step.target, change.unwrap_or(EventWrite::Delete(false)))
    });
    let writes: Vec<_> = writes.collect();
    let question = format!("Undo writes to events with other people?\n{}", listed(lines));
    agreed_for(ctx, &writes, question, caller, &mut report.notes).await?;
    if dry_run {
        report.notes.push("dry run: nothing was written".into());
    }
    // The occurrences of a series that is deleted may go back to one that is restored.
    let restores = !dry_run && steps.iter().any(|step| step.before.is_some());
    for step in steps {
        let name = format!("{} {}", step.target.handle, title(&step.target.facts));
        if dry_run {
            let before = step.before.as_ref();
            let before = before.and_then(|one| step.target.owner.port.event_data(one));
            let detail = before.map_or_else(
                || "delete it".to_owned(),
                |facts| format!("back to {}", event_line(&facts, &ctx.config.zone)),
            );
            report.outcomes.push(ItemOutcome::new(name, "undo", "planned", detail));
            continue;
        }
        let known = if restores && step.deleted.is_none() {
            let owner = &step.target.owner;
            occurrences::known_before(ctx, owner, &step.target.facts, None).await
        } else {
            Vec::new()
        };
        let taken_back = take_back(ctx, &step, &mut report).await;
        if taken_back.is_ok() {
            report.series.knew(known);
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
        Some(now) if now.facts.cancelled => (None, Some(now.value)),
        now => (now, None),
    };
    let before = match &undo.sealed {
        Some(sealed) => {
            let kept = ctx.store.unseal(&identity(&undo.event), sealed).await?;
            let kept: Value = serde_json::from_slice(&kept)
                .map_err(|_| Error::new(ErrorKind::Store, "the kept event cannot be read"))?;
            Some(kept)
        }
        None => None,
    };
    let step = |target, deleted| UndoStep { target, before: before.clone(), deleted };
    let same = |now: &EventTarget| {
        // A restored event has a new version with the same content.
        now.facts.version == undo.version || content(&now.owner, &now.value) == undo.content
    };
    let was = before.as_ref().map(|before| content(&owner, before));
    // A rule or time that is written again takes changed occurrences back to the rule.
    if let (Some(now), Some(before)) = (&now, &before)
        && let Some(before) = owner.port.event_data(before)
        && (now.facts.start, now.facts.end, &now.facts.repeat)
            != (before.start, before.end, &before.repeat)
        && has_exceptions(now, Some(&EventChange { repeat: Some(None), ..EventChange::default() }))
            .await
    {
        return Ok(UndoPlan::Nothing("skipped", "occurrences were changed since: left as it is"));
    }
    Ok(match (now, &before, &undo.version) {
        (Some(_), Some(_), None) => UndoPlan::Nothing("unchanged", "it is there"),
        (Some(now), ..) if same(&now) => UndoPlan::Step(Box::new(step(now, None))),
        (Some(now), ..) if was == Some(content(&now.owner, &now.value)) => {
            UndoPlan::Nothing("unchanged", "already as it was")
        }
        (Some(_), ..) => UndoPlan::Nothing("skipped", "changed since: left as it is"),
        (None, None, _) => UndoPlan::Nothing("unchanged", "already deleted"),
        (None, Some(_), Some(_)) => UndoPlan::Nothing("skipped", "deleted since: undo that first"),
        (None, Some(before), None) => match owner.port.event_data(before) {
            Some(facts) => {
                let target = as_target(ctx, &owner, before.clone(), facts).await?;
                UndoPlan::Step(Box::new(step(target, Some(left))))
            }
            None => UndoPlan::Nothing("failed", "the kept event cannot be read"),
        },
    })
}

/// Carries out one step of an undo; returns the restored event.
async fn take_back(
    ctx: &Context,
    step: &UndoStep,
    report: &mut WriteReport,
) -> Result<Option<Value>> {
    let (target, port) = (&step.target, &step.target.owner.port);
    let account = &target.owner.account;
    let entry = AuditEntry {
        account: account.email.as_str(),
        tool: CALENDAR_SAVE,
        op: "undo",
        ids: vec![target.handle.clone()],
        ..AuditEntry::default()
    };
    let change = step.change();
    let (Some(before), Some(left)) = (&step.before, &step.deleted) else {
        let write = async {
            let Some(before) = &step.before else {
                // Where guests are always notified, a room counts as one.
                let notify = if others(&target.facts.guests, &account.email).is_empty() {
                    GuestNotice::All
                } else {
                    GuestNotice::Nobody
                };
                return port.delete(&target.value, None, notify).await.map(|()| None);
            };
            port.restore(before, Some(&target.value)).await.map(Some)
        };
        let logged = LoggedWrite { target, change: change.as_ref(), entry };
        return write_event(ctx, logged, report, write).await;
    };
    let write = port.restore(before, left.as_ref());
    let restored = run_logged(ctx, entry, &mut report.notes, write, |_| None).await?;
    // Some services cannot restore a deleted event, and create a new one.
    if let Some(facts) = port.event_data(&restored)
        && facts.id != target.facts.id
    {
        let (kind, old, new) = (HandleKind::Event, target.facts.id.as_str(), facts.id.as_str());
        if let Err(error) = ctx.store.move_handle(&account.id, kind, old, new).await {
            tracing::warn!(%error, "the handle of a restored event is lost");
        }
        let what = match target.facts.repeat {
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

/// Returns true for an event that can be restored completely.
fn can_be_kept(target: &EventTarget) -> bool {
    let is_named = matches!(HandleKind::parse(&target.handle), Some((HandleKind::Event, _)));
    target.owner.port.content(&target.value).is_some() && is_named
}

/// Returns true for an event in which others take part. They may see its deletion, so no undo is
/// offered for that.
fn is_shared(target: &EventTarget) -> bool {
    let facts = &target.facts;
    !facts.own || facts.guests.iter().any(|guest| !guest.me)
}

impl UndoStep {
    /// Returns a change that concerns as many people as restoring the event does; `None` if the
    /// event is deleted.
    fn change(&self) -> Option<EventChange> {
        let before = self.target.owner.port.event_data(self.before.as_ref()?)?;
        Some(EventChange {
            title: Some(before.title),
            guests: Some(before.guests),
            repeat: Some(before.repeat),
            ..EventChange::default()
        })
    }
}

/// Returns the hash of the parts of an event that an undo restores; empty if the provider restores
/// none.
fn content(owner: &CalendarOwner, event: &Value) -> String {
    owner.port.content(event).map_or_else(String::new, |text| hash(&text))
}

/// Returns the identity that a sealed event is bound to.
fn identity(handle: &str) -> String {
    format!("undo of {handle}")
}
