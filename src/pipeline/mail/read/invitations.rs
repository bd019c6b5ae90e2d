//! Invitations in messages: their subjects, the matching events in the calendar, and other events
//! at that time.
//!
//! A calendar that cannot be read costs a note, never the message.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Result;
use daysheet_core::event_time::{self, EventTime};
use daysheet_core::flatten::RowContext;
use daysheet_core::ical::{self, IcalEvent, rows};
use daysheet_core::provider::calendar::{EventData, EventGuest};
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ColumnLevel, INVITATION};
use daysheet_core::text::{Note, note, ours, quoted};
use jiff::tz::TimeZone;
use serde_json::Value;

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
            let message = &one.target.id;
            read_invitation(ctx, message, text, &owner, &mut objects, &mut response.notes).await?;
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

/// Reads the calendar part of one message.
async fn read_invitation(
    ctx: &Context,
    message: &str,
    text: &str,
    owner: &CalendarOwner,
    objects: &mut Vec<Value>,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let document = match ical::read(text, &ctx.config.zone) {
        Ok(document) => document,
        Err(error) => {
            notes.push(note!("an invitation could not be read: {}", error));
            return Ok(());
        }
    };
    notes.extend(document.notes.iter().map(|note| note.under("invitation")));
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
    for (entry, timed) in entries.into_iter().take(MAX_EVENTS) {
        let there = match entry.uid.as_str() {
            // Without a UID, it cannot be found in a calendar.
            "" => Ok(Vec::new()),
            uid => owner.port.by_uid(uid).await,
        };
        let there = match there {
            Ok(found) => found,
            Err(error) => {
                notes.push(note!(
                    "{}: the calendar was not checked: {}",
                    ours(&owner.label),
                    error
                ));
                Vec::new()
            }
        };
        let facts: Vec<_> = there
            .iter()
            .filter_map(|event| owner.port.event_data(event))
            .filter(|facts| !facts.cancelled)
            .collect();
        let zones = [&ctx.config.zone, &TimeZone::UTC];
        let stands_for = |facts: &&EventData| match (facts.original, entry.recurrence_id) {
            (Some(original), Some(at)) => event_time::same_start(original, at, &zones),
            (original, at) => original == at,
        };
        let same = facts
            .iter()
            .find(stands_for)
            // The series represents those of its occurrences that are unchanged.
            .or_else(|| facts.iter().find(|facts| facts.series.is_none()));
        let mut clashes = Vec::new();
        // Cancellations and replies claim no time.
        if matches!(kind.as_str(), "request" | "publish" | "add" | "counter") && !entry.cancelled {
            let now = ctx.now();
            let candidate = ClashCandidate {
                title: entry.title.clone(),
                // The event's own entry is not a duplicate of it.
                uid: None,
                // An invitation claims its time even if it is long, or not yet accepted.
                claim: TimeClaim { show: entry.show, uncertain: false, personal: true },
                times: clash::times(&entry.start, &entry.end, entry.repeat.as_ref(), now),
                itself: facts
                    .iter()
                    .flat_map(|facts| [Some(facts.id.clone()), facts.series.clone()])
                    .flatten()
                    .collect(),
            };
            let (met, more) = find_clashes(ctx, &[candidate], false).await?;
            notes.extend(more);
            clashes =
                met.into_iter().flat_map(|met| met.lines).map(|line| line.to_string()).collect();
        }
        if let Some(at) = entry.recurrence_id.filter(|at| timed && *at != entry.start.when()) {
            notes.push(note!(
                "{}: the occurrence of {} is moved to {}",
                quoted(&entry.title),
                ours(event_time::start(at, &ctx.config.zone)),
                ours(event_time::start(entry.start.when(), &ctx.config.zone))
            ));
        }
        // One of the two is older: a later invitation may have moved the event.
        let here = |time: EventTime| time.instant(&ctx.config.zone);
        let moved = same.filter(|facts| {
            let is_whole = timed && kind == "request" && entry.repeat.is_none();
            is_whole && here(facts.start) != here(entry.start.when())
        });
        if let Some(facts) = moved {
            notes.push(note!(
                "{}: this is the invitation's time; in the calendar it is {}",
                quoted(&entry.title),
                ours(event_time::start(facts.start, &ctx.config.zone))
            ));
        }
        // An entry without a time takes the time in the calendar.
        let known = same.map(|facts| (facts.start, facts.end));
        let times = if timed { Some((entry.start.when(), entry.end.when())) } else { known };
        // Answers to another time do not apply to this one.
        let answered = same.filter(|_| moved.is_none());
        let guests = guests(entry, &kind, answered, &owner.account.email);
        let mut object = rows::object(&kind, entry, &guests, times);
        object.extend([
            ("message".to_owned(), message.into()),
            ("event".to_owned(), same.map(|event| event.id.as_str()).into()),
            ("clashes".to_owned(), clashes.into()),
        ]);
        objects.push(Value::Object(object));
    }
    Ok(())
}

/// Returns the guests of an entry, with the answers of the calendar's `event`, if there is one: the
/// answers in the message date from when it was sent.
fn guests(entry: &IcalEvent, kind: &str, event: Option<&EventData>, own: &str) -> Vec<EventGuest> {
    // A reply states its sender's own answer.
    let current = event.filter(|_| !matches!(kind, "reply" | "counter"));
    let guests = entry.guests.iter().map(|guest| {
        let is = |address: &str| address.eq_ignore_ascii_case(&guest.address);
        let is_me = is(own);
        let there = current.and_then(|event| {
            let mut guests = event.guests.iter();
            guests.find(|one| is(&one.address)).map(|one| one.answer)
        });
        let answer = match event {
            Some(event) if is_me => event.answer,
            _ => there.unwrap_or(guest.answer),
        };
        EventGuest { answer, me: is_me, ..guest.clone() }
    });
    guests.collect()
}
