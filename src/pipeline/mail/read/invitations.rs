//! Invitations in messages: their subjects, the matching events in the calendar, and other events
//! at that time.
//!
//! A calendar that cannot be read costs a note, never the message.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Result;
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::event::{Event, EventGuest, Invitation};
use daysheet_core::flatten::RowContext;
use daysheet_core::ical;
use daysheet_core::ids::MessageId;
use daysheet_core::provider::Account;
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ColumnLevel, INVITATION};
use daysheet_core::text::{Note, note, ours, quoted};
use jiff::tz::TimeZone;

use super::messages::{FetchedMessage, by_account};
use crate::pipeline::calendar::clashes::TimeClaim;
use crate::pipeline::calendar::save::clash::{self, ClashCandidate, find_clashes};
use crate::pipeline::calendar::target::{CalendarOwner, calendar_owner};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::rows::rows_of;

/// The maximum number of events of one message; an attached file may hold a year.
const MAX_EVENTS: usize = 5;

/// Adds the table of invitations, if there are any.
pub(super) async fn add_invitations(
    ctx: &Context,
    fetched: &[FetchedMessage],
    zone: &TimeZone,
    response: &mut WholeAnswer,
) -> Result<()> {
    let columns = INVITATION.up_to(ColumnLevel::More);
    let mut all = RowTable::new(&INVITATION, columns.clone());
    for messages in by_account(fetched) {
        let Some(first) = messages.first() else {
            continue;
        };
        let mut objects = Vec::new();
        let account = ctx.accounts.by_id(&first.target.account).await?;
        for one in messages {
            let Some(text) = &one.message.invitation else {
                continue;
            };
            let owner = calendar_owner(ctx, account.clone()).await?;
            let found = read_invitation(ctx, text, &owner, &mut response.notes).await?;
            let message = MessageId::from(one.target.id.as_str());
            objects.extend(
                found.into_iter().map(|one| Invitation { message: message.clone(), ..one }),
            );
        }
        let context = RowContext { zone, ..ctx.local() };
        let mut rows = rows_of(&context, &INVITATION, &columns, &objects, &mut response.notes);
        assign_handles(ctx, &mut rows, &account).await?;
        all.append(rows);
    }
    if !all.is_empty() {
        response.document.tables.push(all);
    }
    Ok(())
}

/// An event of the calendar part of a message.
struct InvitedEvent<'a> {
    /// The method of the calendar part in lower case, such as `request`.
    kind: &'a str,
    /// The event itself.
    entry: &'a Event,
    /// True if the entry has a time.
    timed: bool,
    /// The calendars that it is compared with.
    owner: &'a CalendarOwner,
}

/// Reads the calendar part of one message.
async fn read_invitation(
    ctx: &Context,
    text: &str,
    owner: &CalendarOwner,
    notes: &mut Vec<Note>,
) -> Result<Vec<Invitation>> {
    let document = match ical::read(text, &ctx.config.zone) {
        Ok(document) => document,
        Err(error) => {
            notes.push(note!("an invitation could not be read: {}", error));
            return Ok(Vec::new());
        }
    };
    notes.extend(document.notes.iter().map(|note| note.under("invitation")));
    // Without a METHOD, no scheduling is intended (RFC 5545, section 3.7.2).
    let kind = document.method.as_deref().unwrap_or("publish").to_lowercase();
    let timed = document.entries.iter().map(|entry| (entry, true));
    let timeless = document.timeless.iter().map(|entry| (entry, false));
    let entries: Vec<_> = timed.chain(timeless).collect();
    if entries.len() > MAX_EVENTS {
        notes.push(note!(
            "its calendar has {} events, {} shown; calendar_save ics=ID imports all",
            entries.len(),
            MAX_EVENTS
        ));
    }
    let mut objects = Vec::new();
    for (entry, timed) in entries.into_iter().take(MAX_EVENTS) {
        let invited = InvitedEvent { kind: &kind, entry, timed, owner };
        objects.push(compared(ctx, &invited, notes).await?);
    }
    Ok(objects)
}

/// Compares an event with the calendar.
async fn compared(
    ctx: &Context,
    invited: &InvitedEvent<'_>,
    notes: &mut Vec<Note>,
) -> Result<Invitation> {
    let InvitedEvent { kind, entry, timed, owner } = *invited;
    let facts = known_events(invited, notes).await;
    let same = same_event(ctx, entry, &facts);
    let clashes = clash_lines(ctx, invited, &facts, notes).await?;
    if let Some(at) = entry.original.filter(|at| timed && *at != entry.start) {
        notes.push(note!(
            "{}: the occurrence of {} is moved to {}",
            quoted(&entry.title),
            ours(time::start(at, &ctx.config.zone)),
            ours(time::start(entry.start, &ctx.config.zone))
        ));
    }
    // One of the two is older: a later invitation may have moved the event.
    let here = |time: EventTime| time.instant(&ctx.config.zone);
    let moved = same.filter(|facts| {
        let is_whole = timed && kind == "request" && entry.repeat.is_none();
        is_whole && here(facts.start) != here(entry.start)
    });
    if let Some(facts) = moved {
        notes.push(note!(
            "{}: the invitation is for {}; in the calendar it is {}",
            quoted(&entry.title),
            ours(time::start(entry.start, &ctx.config.zone)),
            ours(time::start(facts.start, &ctx.config.zone))
        ));
    }
    // Answers to another time do not apply to this one.
    let answered = same.filter(|_| moved.is_none());
    let guests = guests(entry, kind, answered, &owner.account);
    let mut invitation = entry.clone().invitation(kind, !timed);
    // An entry without a time takes the time in the calendar.
    if let (false, Some(known)) = (timed, same) {
        invitation.is_timeless = false;
        (invitation.event.start, invitation.event.end) = (known.start, known.end);
    }
    invitation.event.guests = guests;
    Ok(Invitation { known: same.map(|event| event.id.clone()), clashes, ..invitation })
}

/// Returns the events of the calendar with the UID of an event. A calendar that cannot be read
/// costs a note.
async fn known_events(invited: &InvitedEvent<'_>, notes: &mut Vec<Note>) -> Vec<Event> {
    let port = &invited.owner.port;
    let found = match &invited.entry.uid {
        // Without a UID, it cannot be found in a calendar.
        None => Ok(Vec::new()),
        Some(uid) => port.by_uid(uid).await,
    };
    let found = found.unwrap_or_else(|error| {
        notes.push(note!(
            "{}: the calendar was not checked: {}",
            ours(&invited.owner.label),
            error
        ));
        Vec::new()
    });
    found.into_iter().filter(|event| !event.cancelled).collect()
}

/// Returns the event of the calendar that an entry is about.
fn same_event<'f>(ctx: &Context, entry: &Event, facts: &'f [Event]) -> Option<&'f Event> {
    let zones = [&ctx.config.zone, &TimeZone::UTC];
    let stands_for = |facts: &&Event| match (facts.original, entry.original) {
        (Some(original), Some(at)) => time::same_start(original, at, &zones),
        (original, at) => original == at,
    };
    facts
        .iter()
        .find(stands_for)
        // The series represents those of its occurrences that are unchanged.
        .or_else(|| facts.iter().find(|facts| facts.series.is_none()))
}

/// Returns a line for each other event at the time of an event. `facts` are the calendar's own
/// entries of the event.
async fn clash_lines(
    ctx: &Context,
    invited: &InvitedEvent<'_>,
    facts: &[Event],
    notes: &mut Vec<Note>,
) -> Result<Vec<String>> {
    let entry = invited.entry;
    // Cancellations and replies claim no time.
    if !matches!(invited.kind, "request" | "publish" | "add" | "counter") || entry.cancelled {
        return Ok(Vec::new());
    }
    let (start, end) = entry.zoned_times();
    let candidate = ClashCandidate {
        title: entry.title.clone(),
        // The event's own entry is not a duplicate of it.
        uid: None,
        // An invitation claims its time even if it is long, or not yet accepted.
        claim: TimeClaim { show: entry.show, uncertain: false, personal: true },
        times: clash::times(&start, &end, entry.repeat.as_ref(), ctx.now()),
        itself: facts
            .iter()
            .flat_map(|facts| [Some(facts.id.clone()), facts.series.clone()])
            .flatten()
            .collect(),
    };
    let (met, more) = find_clashes(ctx, &[candidate], false).await?;
    notes.extend(more);
    Ok(met.into_iter().flat_map(|met| met.lines).map(|line| line.to_string()).collect())
}

/// Returns the guests of an entry, with the answers of the calendar's `event`, if there is one: the
/// answers in the message date from when it was sent.
fn guests(entry: &Event, kind: &str, event: Option<&Event>, owner: &Account) -> Vec<EventGuest> {
    // A reply states its sender's own answer.
    let current = event.filter(|_| !matches!(kind, "reply" | "counter"));
    let guests = entry.guests.iter().map(|guest| {
        let is_me = guest.address.is(&owner.email);
        let there = current.and_then(|event| {
            let mut guests = event.guests.iter();
            guests.find(|one| guest.address.is(&one.address)).map(|one| one.answer)
        });
        let answer = match event {
            Some(event) if is_me => event.answer,
            _ => there.unwrap_or(guest.answer),
        };
        EventGuest { answer, me: is_me, ..guest.clone() }
    });
    guests.collect()
}
