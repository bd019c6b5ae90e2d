//! Invitations in messages: the event in the calendar that they are about, or one
//! created from them.

use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event_time;
use daysheet_core::ical::IcalEvent;
use daysheet_core::provider::calendar::{EventChange, EventGuest, GuestNotice, InvitationAnswer};
use daysheet_core::text::{Note, brief, note, ours, quoted_list};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::answers::{TOOL, add_answered, confirmed, proposed_time, response, word};
use crate::pipeline::access::audit::AuditEntry as Line;
use crate::pipeline::access::audit::run_logged;
use crate::pipeline::access::guard::{WriteAudience, confirm};
use crate::pipeline::answer::outcome::{ItemOutcome, WriteReport};
use crate::pipeline::calendar::audience::act;
use crate::pipeline::calendar::save::exceptions::{find_occurrence, put_exceptions};
use crate::pipeline::calendar::save::source::change as change_of;
use crate::pipeline::calendar::save::source::invitation_document;
use crate::pipeline::calendar::save::span::PreviousTime;
use crate::pipeline::calendar::target::{
    CalendarOwner, EventTarget, as_target, as_target_after, calendar_owner, event_line, span,
};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::tools::calendar_respond::CalendarRespond;

/// The result for a message with an invitation.
pub(super) enum InvitedEvent {
    /// The event it is about.
    There(Box<EventTarget>),
    /// The outcome for an event that was not in the calendar.
    Report(Box<WriteReport>),
    /// The message has events and asks for no answer (RFC 5546, 3.2.1).
    Published,
}

/// Finds the event that a message invites to. An event that is not in the calendar is added with
/// the answer.
pub(super) async fn find_or_add(
    ctx: &Context,
    request: &CalendarRespond,
    account: &str,
    id: &str,
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<InvitedEvent> {
    let account = ctx.accounts.by_id(account).await?;
    let handle = &request.id;
    let document = invitation_document(ctx, &account, id, handle).await?;
    let refused =
        |what: &str, next: &str| Err(Error::argument(format!("{handle} {what}")).next(next));
    match document.method.as_deref() {
        Some("CANCEL") => {
            return refused(
                "cancels a meeting: there is nothing to answer",
                "delete the event with calendar_delete, if it still exists",
            );
        }
        Some("REPLY") => {
            return refused(
                "is an answer, not an invitation",
                "look at the event with calendar_search",
            );
        }
        Some("COUNTER") => {
            return refused(
                "proposes another time for a meeting of yours",
                "change the event with calendar_save, or write to them",
            );
        }
        // Its organizer expects no answer (RFC 5546, 3.2.1).
        Some("PUBLISH") => return Ok(InvitedEvent::Published),
        _ => {}
    }
    let Some((entry, occurrences, others)) = main_event(document.entries) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("the invitation in {handle} has no event"),
        )
        .next("read it with mail_read"));
    };
    if !others.is_empty() {
        let titles = quoted_list(others.iter().map(|one| &one.title));
        notes.push(note!(
            "{} also has {}: calendar_save ics={} adds all",
            ours(handle),
            titles,
            ours(handle)
        ));
    }
    let owner = calendar_owner(ctx, account).await?;
    if let Some(target) = find_meeting(ctx, &owner, &entry).await? {
        target.not_cancelled()?;
        let now = &target.facts;
        let moved = now.start != entry.start.when();
        let line = event_line(now, &ctx.config.zone);
        // A higher SEQUENCE marks the newer version (RFC 5545, 3.8.7.4).
        if moved && now.sequence.is_some_and(|sequence| sequence < entry.sequence) {
            let start = event_time::start(entry.start.when(), &ctx.config.zone);
            notes.push(note!(
                "{} is newer than the calendar: it moves the meeting to {}, where the calendar \
                 has it once the service has read the message",
                ours(handle),
                ours(start)
            ));
        } else if moved {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("the meeting changed since {handle}: it is now {line}"),
            )
            .next(format!("answer {} if it is still right", target.handle)));
        }
        return Ok(InvitedEvent::There(Box::new(target)));
    }
    match request.response.answer() {
        None => refused("is about a meeting not in the calendar", "forward the message itself"),
        Some(_) if document.method.is_none() => Ok(InvitedEvent::Published),
        Some(answer) => take_in(ctx, owner, entry, occurrences, answer, request, caller).await,
    }
}

/// Finds the event of an invitation in the calendars of its account.
async fn find_meeting(
    ctx: &Context,
    owner: &CalendarOwner,
    entry: &IcalEvent,
) -> Result<Option<EventTarget>> {
    if entry.uid.is_empty() {
        return Ok(None);
    }
    let found = owner.port.by_uid(&entry.uid).await?;
    let mut series = None;
    for value in found {
        let Some(facts) = owner.port.event_data(&value) else {
            continue;
        };
        let original = facts.original;
        let target = as_target(ctx, owner, value, facts).await?;
        let same = match (original, entry.recurrence_id) {
            (Some(original), Some(at)) => {
                event_time::same_start(original, at, &[&ctx.config.zone, &TimeZone::UTC])
            }
            (original, at) => original == at,
        };
        if same {
            return Ok(Some(target));
        }
        if original.is_none() {
            series = Some(target);
        }
    }
    let (Some(series), Some(at)) = (series, entry.recurrence_id) else {
        return Ok(None);
    };
    match find_occurrence(ctx, &series, at).await? {
        Some((value, facts)) => Ok(Some(as_target(ctx, owner, value, facts).await?)),
        None => Ok(None),
    }
}

/// Adds an invitation to the calendar, and answers it if possible.
async fn take_in(
    ctx: &Context,
    owner: CalendarOwner,
    mut entry: IcalEvent,
    occurrences: Vec<IcalEvent>,
    answer: InvitationAnswer,
    request: &CalendarRespond,
    caller: &dyn ClientPrompts,
) -> Result<InvitedEvent> {
    let organizer = entry.organizer.as_ref().map(|one| brief(&one.address));
    let write = match &organizer {
        Some(organizer) => format!("write to {organizer}"),
        None => "write to its sender".to_owned(),
    };
    let before = PreviousTime {
        start: entry.start.when(),
        end: entry.end.when(),
        zone: match &entry.start {
            event_time::ZonedTime::At(_, zone) => event_time::find_zone(zone),
            event_time::ZonedTime::Day(_) => None,
        }
        .unwrap_or_else(|| ctx.config.zone.clone()),
    };
    let (propose, mut notes) = proposed_time(ctx, &before, answer, request)?;
    let can = owner.port.capabilities();
    if !can.foreign_meetings && answer == InvitationAnswer::Declined {
        return Err(Error::new(
            ErrorKind::NotFound,
            "the meeting is not in the calendar: there is nothing to decline",
        )
        .next(format!("{write} instead")));
    }
    let own = owner.account.email.clone();
    // Only the organizer may cancel an occurrence of the finished series, so the rule excludes the
    // cancelled ones from the start.
    let occurrences = entry.exclude_cancelled(occurrences);
    let entry = &entry;
    let (mut change, _) = change_of(entry, can, &own, &mut notes);
    if let Some(guests) = &mut change.guests {
        let me = |guest: &&mut EventGuest| guest.address.eq_ignore_ascii_case(&own);
        if let Some(me) = guests.iter_mut().find(me) {
            me.me = true;
            me.answer = None;
        }
    }
    let mut report = WriteReport { notes, ..WriteReport::default() };
    let name = short(&entry.title);
    let audience = taken_in(&change, request, &own);
    let when = span(entry.start.when(), entry.end.when(), &ctx.config.zone);
    let act = act(confirmed(&format!("{when} {name}"), answer, request));
    confirm(ctx, &act, &audience, caller, &mut report.notes).await?;
    let line = Line {
        account: &own,
        tool: TOOL,
        op: "create",
        ids: vec![request.id.clone()],
        ..Line::default()
    };
    // The organizer invites the guests; this copy notifies no one.
    let creating = owner.port.create(None, &change, GuestNotice::Nobody);
    let id = |value: &Value| owner.port.event_data(value).map(|facts| facts.id);
    let created = run_logged(ctx, line.clone(), &mut report.notes, creating, id).await;
    let value = match created {
        Ok(value) => value,
        Err(error) if error.is_open() => {
            report.outcomes.push(ItemOutcome::failed(name, word(answer), &error));
            return Ok(InvitedEvent::Report(Box::new(report)));
        }
        Err(error) => {
            return Err(error.context("the meeting could not be added to the calendar"));
        }
    };
    report.notes.push("the meeting was not in the calendar and was added".into());
    let facts = owner.port.event_data(&value);
    let invites = facts.as_ref().is_some_and(|facts| !facts.own);
    if let (Some(facts), false) = (facts, occurrences.is_empty()) {
        let series = value.clone();
        let series = as_target_after(ctx, &owner, series, facts, &mut report.notes).await;
        let many = put_exceptions(ctx, &name, &series, &occurrences, &mut report).await;
        report.notes.push(note!("occurrences that differ from its series: {}", many));
    }
    let response = response(answer, propose, request);
    let line = Line {
        op: "answer",
        recipients: if request.notifies() {
            entry.organizer.iter().map(|one| &*one.address).collect()
        } else {
            Vec::new()
        },
        ..line
    };
    // Some services make the user the organizer of the event, who cannot answer it.
    let answered = if invites {
        let answering = owner.port.respond(&value, &response);
        run_logged(ctx, line, &mut report.notes, answering, |_| None).await
    } else {
        Err(Error::argument("it is your own event here"))
    };
    match answered {
        Ok(found) => add_answered(&mut report, request, answer, name, found, &owner),
        Err(error) if error.is_open() => {
            report.outcomes.push(ItemOutcome::failed(name, word(answer), &error));
            report.events.push((owner, value));
        }
        // The event has been added, so this failure is only a note.
        Err(error) => {
            report.notes.push(note!(
                "the organizer was not notified ({}): {}",
                ours(error.message()),
                ours(&write)
            ));
            report.events.push((owner, value));
        }
    }
    Ok(InvitedEvent::Report(Box::new(report)))
}

/// Returns the event that a message is about, its occurrences that differ, and other events.
/// An event is about its series if that is in the message.
fn main_event(mut entries: Vec<IcalEvent>) -> Option<(IcalEvent, Vec<IcalEvent>, Vec<IcalEvent>)> {
    let series = entries.iter().position(|one| one.recurrence_id.is_none());
    let at = series.unwrap_or_default();
    let main = (at < entries.len()).then(|| entries.remove(at))?;
    let (occurrences, others) =
        entries.into_iter().partition(|one| one.uid == main.uid && series.is_some());
    Some((main, occurrences, others))
}

/// Returns the audience of an event that is created from an invitation and answered: its organizer.
/// All guests belong to it without an organizer, because the copy is then the user's own, or if the
/// answer has a comment or a proposed time.
fn taken_in(change: &EventChange, request: &CalendarRespond, own: &str) -> WriteAudience {
    let mut audience = WriteAudience::default();
    let organizer = change.organizer.as_ref();
    audience.add(organizer.map(|one| one.address.as_str()));
    let words = request.comment.is_some() || request.propose.is_some();
    if organizer.is_none() || words {
        audience.add_guests(change.guests.as_deref().unwrap_or_default(), own);
    }
    audience
}
