//! `calendar_delete`, `calendar_respond` and `manage`: writes that reach other people,
//! or delete something.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::call::progress;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::time;
use daysheet_core::event::{EventGuest, EventPatch};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{Note, note, ours};

use super::guests::{notified, notify_missing, others};
use super::save::destination::may_write;
use super::save::follow::cut;
use super::save::follow::{find_exceptions, shorten_series};
use super::save::ready::reference;
use super::target::{
    EventTarget, about, as_shown, each_once, event_line, listed, master_of, named_events, span,
    title, write_error,
};
use super::write::{LoggedWrite, no_undo, write_event};
use crate::pipeline::calendar::audience::{EventWrite, agreed_for, guests_reached, line};
use crate::pipeline::context::Context;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::write::sequence::WriteSequence;
use crate::store::HandleKind;
use crate::tools::calendar_delete::CalendarDelete;
use crate::tools::calendar_save::SeriesScope;

/// The object of a deletion.
enum DeletionTarget {
    /// An event, an occurrence, or a series as a whole.
    Whole,
    /// The part of a series from an occurrence on.
    Rest(Box<EventPatch>),
}

impl DeletionTarget {
    /// Returns the change that it consists of, if it leaves a part.
    fn change(&self) -> Option<&EventPatch> {
        match self {
            Self::Whole => None,
            Self::Rest(change) => Some(change),
        }
    }
}

/// A deletion that passed the checks.
struct PlannedDeletion {
    /// The id as given.
    id: String,
    target: EventTarget,
    deletion: DeletionTarget,
    /// The deleted events, in words.
    what: String,
    notify: GuestNotice,
    /// True if guests can be notified.
    asks: bool,
    /// The guests that it concerns.
    guests: Vec<EventGuest>,
}

impl PlannedDeletion {
    /// Returns the name of the event in outcomes.
    fn name(&self) -> String {
        format!("{} {}", self.target.handle, title(&self.target.event))
    }

    /// Returns the addresses of the notified people.
    fn recipients(&self) -> Vec<&str> {
        let guests: &[EventGuest] = if self.asks { &self.guests } else { &[] };
        notified(guests, None, &self.target.owner.account.email, self.notify)
    }

    /// Returns a note on the notification of a deletion of another organizer's event.
    fn declined(&self) -> Option<Note> {
        let facts = &self.target.event;
        if facts.own {
            return None;
        }
        Some(if !facts.guests.iter().any(|guest| guest.me) {
            "only your copy is deleted, and nobody is notified".into()
        } else if self.target.owner.port.capabilities().public_answers {
            "only your copy is deleted, which its organizer sees as declined".into()
        } else {
            "only your copy is deleted, and nobody is notified; calendar_respond \
             response=decline, not a deletion, notifies the organizer"
                .into()
        })
    }

    /// Returns true if the provider sends guests a message with this deletion.
    fn carries_message(&self) -> bool {
        let can = self.target.owner.port.capabilities();
        can.cancel_message && matches!(self.deletion, DeletionTarget::Whole)
    }
}

/// Deletes events. All deletions are checked before the first is written.
pub(crate) async fn calendar_delete(
    ctx: &Context,
    request: CalendarDelete,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    // A dry run is refused as the real call would be, and asks no question.
    let caller = &MaybeDryRun { caller, dry_run: request.dry_run };
    let items = plan_deletions(ctx, &request).await?;
    let unsent = request.message.is_some() && !items.iter().any(|item| item.asks);
    check_message(&request, &items)?;
    let mut report = WriteReport::notifying(request.notify);
    report.notified = report.notified.of_deletion(request.dry_run);
    if unsent {
        report.notes.push("no guests, so nobody gets `message`".into());
    }
    agreed_for_deletions(ctx, &items, &request, caller, &mut report.notes).await?;
    if request.dry_run {
        rehearse_deletions(items, &mut report).await;
        return write_report(ctx, report).await;
    }
    write_deletions(ctx, &items, request.message.as_deref(), &mut report).await?;
    // Offered only if it covers every deletion of the call.
    if let Some(undo) = report.undo.number
        && report.undo.events.len() == report.undo.writes
    {
        let undo = HandleKind::Undo.handle(undo);
        report.notes.push(note!("calendar_save undo={} undoes it", ours(undo)));
    }
    write_report(ctx, report).await
}

/// Checks all deletions of a call.
async fn plan_deletions(ctx: &Context, request: &CalendarDelete) -> Result<Vec<PlannedDeletion>> {
    let names: Vec<&str> = request.ids.iter().map(String::as_str).collect();
    let mut items = Vec::new();
    let targets = named_events(ctx, &names).await?;
    for (at, (target, id)) in targets.into_iter().zip(&request.ids).enumerate() {
        let planned = plan_deletion(ctx, id, target, request).await;
        items.push(planned.map_err(|error| about(&names, at, error))?);
    }
    each_once(items.iter().map(|item| &item.target))?;
    Ok(items)
}

/// Refuses a message that no deletion, or not each one with guests, can send.
fn check_message(request: &CalendarDelete, items: &[PlannedDeletion]) -> Result<()> {
    if request.message.is_none() {
        return Ok(());
    }
    let unsent = !items.iter().any(|item| item.asks);
    if let (true, Some(item)) = (unsent, items.iter().find(|item| !item.target.event.own)) {
        return Err(of_others(&item.target));
    }
    match items.iter().find(|item| item.asks && !item.carries_message()) {
        Some(item) => Err(uncarried(item)),
        None => Ok(()),
    }
}

/// Reports the deletions as planned.
async fn rehearse_deletions(items: Vec<PlannedDeletion>, report: &mut WriteReport) {
    let mut remarks = Vec::new();
    for item in items {
        let mut notes = Vec::new();
        let recipients = item.recipients();
        if recipients.is_empty() && !report.notified.reaches_unnamed(&item.target.event) {
            notes.extend(no_undo(&item.target, item.deletion.change()).await);
        }
        report.notified.add(&recipients, item.asks);
        report.notified.add_unnamed(&item.target.event);
        notes.extend(item.declined());
        remarks.push((item.target.handle.clone(), notes));
        report.outcomes.push(ItemOutcome::new(item.name(), "delete", "planned", item.what));
    }
    report.notes.extend(grouped_by_note(remarks));
    report.is_rehearsal = true;
}

/// Carries out the deletions one by one, until a failure ends the call.
async fn write_deletions(
    ctx: &Context,
    items: &[PlannedDeletion],
    message: Option<&str>,
    report: &mut WriteReport,
) -> Result<()> {
    let mut remarks = Vec::new();
    let mut writes = WriteSequence::new("delete", items.len());
    for item in progress::each("events", items) {
        let name = item.name();
        if writes.skips(&name, report) {
            continue;
        }
        // The notes on this event are collected separately, and grouped by event below.
        let before = std::mem::take(&mut report.notes);
        let written = write_deletion(ctx, item, message, report).await;
        let own = std::mem::replace(&mut report.notes, before);
        remarks.push((item.target.handle.clone(), own));
        match written {
            Ok(()) => {
                report.outcomes.push(ItemOutcome::new(name, "delete", "done", item.what.clone()));
            }
            Err(error) => writes.fail(&name, error, report)?,
        }
    }
    report.notes.extend(grouped_by_note(remarks));
    Ok(())
}

/// Checks one deletion.
async fn plan_deletion(
    ctx: &Context,
    id: &str,
    target: EventTarget,
    request: &CalendarDelete,
) -> Result<PlannedDeletion> {
    target.not_cancelled()?;
    as_shown(ctx, &target).await?;
    let scope = target.scope(request.scope, "this, following or series")?;
    let zone = &ctx.config.zone;
    let when = span(target.event.start, target.event.end, zone);
    let seen = reference(&target.event);
    let (target, deletion, what) = match scope {
        None => (target, DeletionTarget::Whole, when),
        Some(SeriesScope::This) => {
            (target, DeletionTarget::Whole, format!("the occurrence {when}"))
        }
        Some(scope) => {
            let master = whole_series(ctx, target).await?;
            let rest = match scope {
                // From the first occurrence on, `cut` returns `None`: that is the whole series.
                SeriesScope::Following => cut(&master, seen.0, zone)?,
                _ => None,
            };
            match rest {
                None => (master, DeletionTarget::Whole, "the whole series".to_owned()),
                Some(rest) => {
                    let change =
                        EventPatch { repeat: Some(Some(rest.before)), ..EventPatch::default() };
                    let from = time::start(seen.0, zone);
                    let what = format!("from {from} on");
                    (master, DeletionTarget::Rest(Box::new(change)), what)
                }
            }
        }
    };
    let what = match (request.dry_run, &deletion, scope) {
        (true, DeletionTarget::Whole, Some(SeriesScope::Series | SeriesScope::Following)) => {
            what + &find_exceptions(ctx, &target, None).await.deleted(zone)
        }
        (true, DeletionTarget::Rest(_), _) => {
            what + &find_exceptions(ctx, &target, Some(seen.0)).await.deleted(zone)
        }
        _ => what,
    };
    may_write(ctx, &target).await?;
    // Guests are notified only of the organizer's deletion.
    let asks = asks(&target) && target.event.own;
    let notify = match (asks, request.notify, &request.message) {
        (true, None, _) => return Err(notify_missing()),
        (true, Some(GuestNotice::Nobody), Some(_)) => {
            return Err(Error::argument("`message` needs notify=all")
                .next("give notify=all, or leave out `message`"));
        }
        (_, notify, _) => notify.unwrap_or(GuestNotice::Nobody),
    };
    let port = &target.owner.port;
    match deletion.change() {
        None => port.check_deletion(&target.event, notify)?,
        Some(change) => port.check(Some(&target.event), change, notify)?,
    }
    let guests = match deletion {
        DeletionTarget::Whole => guests_reached(&target, notify).await,
        DeletionTarget::Rest(_) => target.event.guests.clone(),
    };
    Ok(PlannedDeletion { id: id.to_owned(), target, deletion, what, notify, asks, guests })
}

/// Refuses deletions that must not reach their audience.
async fn agreed_for_deletions(
    ctx: &Context,
    items: &[PlannedDeletion],
    request: &CalendarDelete,
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let zone = &ctx.config.zone;
    let message = line("Message", request.message.as_deref());
    let question = match items {
        [one] => format!(
            "Delete an event with other people?\n{}\n{}{message}",
            event_line(&one.target.event, zone),
            one.what
        ),
        all => {
            let lines = all.iter().map(|one| match one.deletion {
                DeletionTarget::Whole if one.target.event.repeat.is_none() => {
                    event_line(&one.target.event, zone)
                }
                _ => format!("{}: {}", title(&one.target.event), one.what),
            });
            let lines = listed(lines.collect());
            format!("Delete {} events, some with other people?\n{lines}{message}", all.len())
        }
    };
    let write = |one: &PlannedDeletion| EventWrite::Delete(one.notify != GuestNotice::Nobody);
    let writes: Vec<_> = items.iter().map(|one| (&one.target, write(one))).collect();
    agreed_for(ctx, &writes, question, caller, notes).await
}

/// Carries out one deletion.
async fn write_deletion(
    ctx: &Context,
    item: &PlannedDeletion,
    message: Option<&str>,
    report: &mut WriteReport,
) -> Result<()> {
    let PlannedDeletion { target, deletion, notify, .. } = item;
    let message = message.filter(|_| item.asks);
    let port = &target.owner.port;
    let own = &target.owner.account.email;
    let entry = AuditEntry::new(own, LoggedTool::CALENDAR_DELETE, "delete")
        .with_id(&item.id)
        .with_recipients(item.recipients());
    let write = async {
        match deletion {
            DeletionTarget::Whole => {
                port.delete(&target.event, message, *notify).await.map(|()| None)
            }
            DeletionTarget::Rest(change) => {
                shorten_series(ctx, target, change, *notify).await.map(Some)
            }
        }
    };
    let logged = LoggedWrite { target, change: deletion.change(), entry };
    match write_event(ctx, logged, report, write).await {
        Ok(_) => {}
        Err(error) => return Err(write_error(ctx, target, error).await),
    }
    report.notes.extend(item.declined());
    Ok(())
}

/// Returns the series of an occurrence, if the series is unchanged since it was shown. An event
/// that is not an occurrence is returned itself.
pub(super) async fn whole_series(ctx: &Context, target: EventTarget) -> Result<EventTarget> {
    if target.event.series.is_none() {
        return Ok(target);
    }
    let master = master_of(ctx, &target).await?;
    master.not_cancelled()?;
    as_shown(ctx, &master).await?;
    Ok(master)
}

/// Returns the notes on the events of a call, each once: `e1, e3: no undo: …` if there are
/// several.
fn grouped_by_note(remarks: Vec<(String, Vec<Note>)>) -> Vec<Note> {
    let several = remarks.len() > 1;
    let mut found: Vec<(Note, Vec<String>)> = Vec::new();
    for (handle, notes) in remarks {
        for note in notes {
            match found.iter_mut().find(|(known, _)| *known == note) {
                Some((_, handles)) => handles.push(handle.clone()),
                None => found.push((note, vec![handle.clone()])),
            }
        }
    }
    let under = |(note, handles): (Note, Vec<String>)| {
        if several { note.under(ours(handles.join(", "))) } else { note }
    };
    found.into_iter().map(under).collect()
}

/// Returns true if an event has guests other than the account's owner.
fn asks(target: &EventTarget) -> bool {
    target.event.omitted || !others(&target.event.guests, &target.owner.account.email).is_empty()
}

/// Returns the error that the provider sends no message with a deletion.
fn uncarried(item: &PlannedDeletion) -> Error {
    let provider = item.target.owner.port.capabilities().name;
    let what = match item.deletion {
        DeletionTarget::Whole => "a deletion",
        DeletionTarget::Rest(_) => "the deletion of later occurrences",
    };
    Error::argument(format!("{provider} sends no message with {what}"))
        .next("leave out `message`, and write to the guests with mail_draft")
}

/// Returns the error that the deletion of another organizer's event sends no message.
fn of_others(target: &EventTarget) -> Error {
    Error::argument(format!(
        "{} has another organizer: deleting it sends no message",
        target.handle
    ))
    .next("use calendar_respond with response=decline and a comment")
}
