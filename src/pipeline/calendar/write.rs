//! Writes to events: each between two lines of the audit log, and with the event before it kept for
//! an undo. `undo.rs` takes such writes back.
//!
//! Before a change or a deletion, the event is sealed and stored, unless the write notifies someone.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::ids::CalendarId;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{Note, note, ours};

use super::guests::others;
use super::target::{CalendarOwner, EventTarget};
use crate::outputs::hash;
use crate::pipeline::context::Context;
use crate::pipeline::handles::number_after;
use crate::pipeline::write::log::{AuditEntry, run_logged};
use crate::pipeline::write::report::WriteReport;
use crate::pipeline::write::undo_state::{EventUndo, save_undo};
use crate::store::HandleKind;

/// The longest event that is kept, in bytes.
const MAX_LEN: usize = 1 << 20;

/// The creation of an event.
pub(super) struct LoggedCreation<'a> {
    pub(crate) owner: &'a CalendarOwner,
    /// The calendar; `None` for the main one.
    pub(crate) calendar: Option<&'a CalendarId>,
    /// The fields of the event.
    pub(crate) change: &'a EventPatch,
    pub(crate) notify: GuestNotice,
    /// The write in the audit log.
    pub(crate) entry: AuditEntry<'a>,
}

/// Creates an event between two lines of the log, the second of which has its id.
///
/// # Errors
/// The errors of the log and of the write.
pub(super) async fn create_event(
    ctx: &Context,
    creation: LoggedCreation<'_>,
    notes: &mut Vec<Note>,
) -> Result<Event> {
    let LoggedCreation { owner, calendar, change, notify, entry } = creation;
    let write = owner.port.create(calendar, change, notify);
    run_logged(ctx, entry, notes, write, |made| Some(made.id.clone().into())).await
}

/// A write to an event that can be undone.
pub(super) struct LoggedWrite<'a> {
    /// The event before the write.
    pub(super) target: &'a EventTarget,
    /// The change; `None` for a deletion.
    pub(super) change: Option<&'a EventPatch>,
    /// The write in the audit log.
    pub(super) entry: AuditEntry<'a>,
    /// False if other writes follow that an undo would not take back.
    pub(super) can_undo: bool,
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
    write: impl Future<Output = Result<Option<Event>>>,
) -> Result<Option<Event>> {
    let LoggedWrite { target, change, entry, can_undo } = logged;
    let recipients = entry.recipients.clone();
    let is_quiet = recipients.is_empty() && !report.notified.reaches_unnamed(&target.event);
    let kept = can_undo && is_quiet && keep_event(ctx, target, change, report).await;
    let written = run_logged(ctx, entry, &mut report.notes, write, |_| None).await;
    if written.is_ok() {
        let own = &target.owner.account.email;
        let added = change.and_then(|change| change.guests.as_deref()).unwrap_or_default();
        let has_guests =
            [&target.event.guests[..], added].iter().any(|guests| !others(guests, own).is_empty());
        report.notified.add(&recipients, has_guests && target.event.own);
        report.notified.add_unnamed(&target.event);
    }
    let log = &mut report.undo;
    log.writes += usize::from(written.is_ok());
    if kept && written.is_err() {
        log.events.pop();
        if let Err(error) = save_undo(ctx, log).await {
            tracing::warn!(%error, "what was kept of a failed write stays");
        }
    } else if let (true, Ok(Some(event)), Some(last)) = (kept, &written, log.events.last_mut()) {
        // An empty version is an unknown one; `None` would mark the event as deleted.
        last.version = Some(event.version.clone().unwrap_or_default());
        last.content = content(&target.owner, event);
    }
    written
}

/// Keeps an event that is about to be changed or deleted; returns false if that write cannot be
/// undone. A note gives the reason if it is the provider's.
async fn keep_event(
    ctx: &Context,
    target: &EventTarget,
    change: Option<&EventPatch>,
    report: &mut WriteReport,
) -> bool {
    if let Some(note) = no_undo(target, change).await {
        report.notes.push(note);
        return false;
    }
    if !can_be_kept(target) {
        return false;
    }
    let json = target.event.wire.to_string();
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
pub(crate) async fn no_undo(target: &EventTarget, change: Option<&EventPatch>) -> Option<Note> {
    if change.is_none() && is_shared(target) {
        let is_only_room =
            target.event.own && target.event.guests.iter().all(|one| one.me || one.room);
        return Some(if is_only_room {
            "no undo: a room is booked for it".into()
        } else {
            "no undo: other people take part in it".into()
        });
    }
    if !can_be_kept(target) {
        return None;
    }
    let mut reason = target.owner.port.irreversible(&target.event, change);
    if reason.is_none() && has_exceptions(target, change).await {
        reason = Some("occurrences that differ from their series cannot be restored");
    }
    Some(note!("no undo: {}", ours(reason?)))
}

/// Keeps the version of an event that was created, unless someone was notified.
pub(super) async fn keep_created(
    ctx: &Context,
    owner: &CalendarOwner,
    event: &Event,
    notified: bool,
    report: &mut WriteReport,
) {
    // Counted even if it cannot be undone, so that the answer shows an incomplete undo.
    report.undo.writes += 1;
    let content = content(owner, event);
    if notified || content.is_empty() {
        return;
    }
    let kind = HandleKind::Event;
    let notes = &mut report.notes;
    if let Some(number) = number_after(ctx, &owner.account, kind, event.id.as_str(), notes).await {
        let version = Some(event.version.clone().unwrap_or_default());
        let event = kind.handle(number);
        report.undo.accounts.insert(owner.account.id.clone());
        report.undo.events.push(EventUndo { event, sealed: None, version, content });
    }
}

/// Returns true if a write to a series would lose occurrences that differ from it, or
/// if that cannot be found out.
pub(super) async fn has_exceptions(series: &EventTarget, change: Option<&EventPatch>) -> bool {
    // Other changes of a series do not affect its exceptions.
    let stays = change.is_some_and(|one| one.time.is_none() && one.repeat.is_none());
    let (false, Some(_), Some(uid)) = (stays, &series.event.repeat, &series.event.uid) else {
        return false;
    };
    let differs = |one: &Event| one.series.as_ref() == Some(&series.event.id) && !one.cancelled;
    !series.owner.port.by_uid(uid).await.is_ok_and(|found| !found.iter().any(differs))
}

/// Returns true for an event that can be restored completely.
fn can_be_kept(target: &EventTarget) -> bool {
    let is_named = matches!(HandleKind::parse(&target.handle), Some((HandleKind::Event, _)));
    target.owner.port.content(&target.event).is_some() && is_named
}

/// Returns true for an event in which others take part. They may see its deletion, so no undo is
/// offered for that.
fn is_shared(target: &EventTarget) -> bool {
    let facts = &target.event;
    !facts.own || facts.guests.iter().any(|guest| !guest.me)
}

/// Returns the hash of the parts of an event that an undo restores; empty if the provider restores
/// none.
pub(super) fn content(owner: &CalendarOwner, event: &Event) -> String {
    owner.port.content(event).map_or_else(String::new, |text| hash(&text))
}

/// Returns the identity that a sealed event is bound to.
pub(super) fn identity(handle: &str) -> String {
    format!("undo of {handle}")
}
