//! Creation, changes and deletion of events. Graph always notifies the other people of a meeting;
//! this cannot be turned off.

use daysheet_core::event::EventGuest;
use daysheet_core::event::time::ZonedTime;
use hyper::StatusCode;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::Value;

use super::answer::{self, EventRef};
use super::context::{CalendarContext, CalendarRef};
use super::draft::EventDraft;
use super::event::{called_off, is_organizer};
use crate::graph::error::{GraphError, conflict, crossing, denied, invalid_property, not_found};
use crate::graph::response::GraphResponse;
use crate::graph::types::EVENT;
use crate::graph::types::read::read;
use crate::store::calendars::share::CALLED_OFF;
use crate::store::calendars::{CalendarAccess, StoredEvent, event_id};

/// The time around an occurrence in which its neighbours are looked for: more than a year, for
/// yearly series.
const NEIGHBOURS: SignedDuration = SignedDuration::from_hours(24 * 400);

/// Creates an event.
pub(crate) fn create(
    context: &mut CalendarContext<'_>,
    at: CalendarRef<'_>,
) -> Result<GraphResponse, GraphError> {
    let place = context.calendar_at(at)?;
    writable(context, place)?;
    let members = read(context.base.request, &EVENT, true)?;
    let (start, end) = (members.get("start"), members.get("end"));
    let is_given = |it: Option<&Value>| it.is_some_and(Value::is_object);
    if is_given(start) != is_given(end) {
        return Err(invalid_property());
    }
    let draft = EventDraft::new(members);
    // A client repeats a creation under the same `transactionId` if the response was lost.
    if let Some(place) = draft.transaction().and_then(|id| made_by(context, id)) {
        return created_response(context, place);
    }
    let owner = context.owner().to_owned();
    let zone = context.agenda.calendar(place).map(|it| it.zone.clone());
    let zone = zone.unwrap_or_else(|| "UTC".to_owned());
    let uid = global_id(&owner, context.agenda.mark);
    let now = context.agenda.now();
    let (start, end) = soon(now);
    let mut event = StoredEvent::new(place, &event_id(&uid), &uid, (start, end), now);
    event.organizer = organizer(context);
    draft.apply(&mut event, &zone, &owner)?;
    if let Some(id) = draft.transaction() {
        event.more.insert("transactionId".to_owned(), id.into());
    }
    let place = context.agenda.insert(event, true);
    created_response(context, place)
}

/// Returns the mailbox's owner as an organizer.
fn organizer(context: &CalendarContext<'_>) -> EventGuest {
    EventGuest {
        name: Some(context.name_of(context.owner())),
        address: context.owner().into(),
        me: true,
        ..EventGuest::default()
    }
}

/// Returns the response with a created event.
fn created_response(
    context: &CalendarContext<'_>,
    place: usize,
) -> Result<GraphResponse, GraphError> {
    answer::reply(context, EventRef { place, original: None }, StatusCode::CREATED)
}

/// Changes an event.
pub(crate) fn update(
    context: &mut CalendarContext<'_>,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    let members = read(context.base.request, &EVENT, true)?;
    let found = open(context, id)?;
    let shown = found.look_up(context)?;
    let before = shown.it.event.clone().into_owned();
    let calendar = context.agenda.calendar(before.calendar).ok_or_else(not_found)?;
    let (zone, owner) = (calendar.zone.clone(), calendar.owner.clone());
    let mut after = before.clone();
    EventDraft::new(members).apply(&mut after, &zone, &owner)?;
    // Only a moved occurrence can collide with its neighbours.
    if found.original.is_some() && (after.start != before.start || after.end != before.end) {
        keep_apart(context, found, &after)?;
    }
    if after != before {
        // Only now, because it turns a regular occurrence into an exception: a change without
        // effect must not.
        let place = own_place(context, found)?;
        if after.organizer.address.is_empty() {
            after.organizer = organizer(context);
        }
        context.agenda.change(place, true, |event| {
            *event = StoredEvent {
                // A new exception has these of its own; those in `after` are its series'.
                id: event.id.clone(),
                created: event.created,
                updated: event.updated,
                mark: event.mark,
                sequence: event.sequence,
                ..after
            };
        });
    }
    answer::reply(context, found, StatusCode::OK)
}

/// Deletes an event. The guests of the owner's own meeting are notified.
pub(crate) fn delete(
    context: &mut CalendarContext<'_>,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    let found = open(context, id)?;
    remove(context, found)?;
    Ok(GraphResponse::empty(StatusCode::NO_CONTENT))
}

/// Removes an event from its calendar.
pub(super) fn remove(context: &mut CalendarContext<'_>, found: EventRef) -> Result<(), GraphError> {
    let shown = found.look_up(context)?;
    // The organizer has cancelled it already, so there is no one to notify.
    if called_off(&shown.it.event) {
        let place = shown.it.place;
        context.agenda.alter(place, |event| {
            event.more.remove(CALLED_OFF);
        });
        return Ok(());
    }
    let own = {
        let event = context.agenda.event(found.place).ok_or_else(not_found)?;
        is_organizer(event, context.owner())
    };
    match found.original {
        Some(original) => {
            context.agenda.remove_occurrence(found.place, original, own);
        }
        None => context.agenda.remove(found.place, own),
    }
    Ok(())
}

/// Returns the event to write.
///
/// # Errors
///
/// 403 if the calendar is read-only, 412 if the event changed since the version in `If-Match`.
pub(super) fn open(context: &CalendarContext<'_>, id: &str) -> Result<EventRef, GraphError> {
    let found = answer::find(context, id)?;
    writable(context, found.calendar(context.agenda)?)?;
    let if_match = context.base.request.header("if-match").map(str::trim);
    if let Some(if_match) = if_match.filter(|if_match| *if_match != "*") {
        let shown = found.look_up(context)?;
        let key = shown.change_key(context);
        // Clients send the etag or the `changeKey`.
        if if_match != shown.etag(context) && if_match.trim_matches('"') != key {
            return Err(conflict());
        }
    }
    Ok(found)
}

/// Returns the place of an event. A regular occurrence becomes an exception, with a place of its
/// own.
pub(super) fn own_place(
    context: &mut CalendarContext<'_>,
    found: EventRef,
) -> Result<usize, GraphError> {
    match found.original {
        None => Ok(found.place),
        // A cancelled occurrence is an exception already, and `exception` refuses cancelled ones.
        Some(_) if called_off(&found.look_up(context)?.it.event) => {
            Ok(found.look_up(context)?.it.place)
        }
        Some(original) => {
            let place = context.agenda.exception(found.place, original);
            place.ok_or_else(not_found)
        }
    }
}

/// Refuses writes to a read-only calendar.
pub(super) fn writable(context: &CalendarContext<'_>, place: usize) -> Result<(), GraphError> {
    let calendar = context.agenda.calendar(place).ok_or_else(not_found)?;
    match calendar.access {
        CalendarAccess::Owner | CalendarAccess::Writer => Ok(()),
        CalendarAccess::Reader | CalendarAccess::Busy => Err(denied()),
    }
}

/// Returns the event that was created under a transaction's id.
fn made_by(context: &CalendarContext<'_>, id: &str) -> Option<usize> {
    let mine = context.agenda.calendars_of(context.owner());
    let mut events = mine.flat_map(|(place, _)| context.agenda.events_of(place));
    let found = events.find(|(_, event)| {
        let known = event.more.get("transactionId").and_then(Value::as_str);
        let organizer = event.organizer.address.is(context.owner());
        !event.deleted && organizer && known == Some(id)
    });
    found.map(|(place, _)| place)
}

/// Refuses to move an occurrence to or past the day of a neighbour, as Exchange does.
fn keep_apart(
    context: &CalendarContext<'_>,
    found: EventRef,
    after: &StoredEvent,
) -> Result<(), GraphError> {
    let Some(original) = found.original else {
        return Ok(());
    };
    let zone = match &after.start {
        ZonedTime::At(_, name) => crate::graph::zones::RequestedZone::from_name(name)?.zone,
        ZonedTime::Day(_) => context.agenda.zone_of(after),
    };
    let at = original.instant(&zone);
    let from = at.checked_sub(NEIGHBOURS).unwrap_or(Timestamp::MIN);
    let to = at.checked_add(NEIGHBOURS).unwrap_or(Timestamp::MAX);
    let around = context.agenda.instances(found.place, from, to);
    let day = |at: Timestamp| zone.to_datetime(at).date();
    let originals = around.iter().filter_map(|it| Some((it.event.original()?, it.from)));
    let (mut before, mut later) = (None, None);
    for (other, starts) in originals {
        match other.instant(&zone).cmp(&at) {
            std::cmp::Ordering::Less => before = before.max(Some(day(starts))),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => {
                let starts = day(starts);
                later = Some(later.map_or(starts, |known: jiff::civil::Date| known.min(starts)));
            }
        }
    }
    let new = day(after.start.when().instant(&zone));
    if before.is_some_and(|day| new <= day) || later.is_some_and(|day| new >= day) {
        Err(crossing())
    } else {
        Ok(())
    }
}

/// Returns the half hour after `now`, the default time of an event.
fn soon(now: Timestamp) -> (ZonedTime, ZonedTime) {
    let now = TimeZone::UTC.to_datetime(now);
    let minute = if now.minute() < 30 { 30 } else { 60 };
    let hour = now.date().at(now.hour(), 0, 0, 0);
    let start = hour.saturating_add(minute.minutes());
    let end = start.saturating_add(30.minutes());
    let utc = || "UTC".to_owned();
    (ZonedTime::At(start, utc()), ZonedTime::At(end, utc()))
}

/// Returns a UID in Exchange's format, a GlobalObjectId.
fn global_id(owner: &str, mark: u64) -> String {
    let unique = crate::graph::ids::named_guid(&format!("event {owner} {mark}"));
    let unique = unique.replace('-', "").to_ascii_uppercase();
    format!("040000008200E00074C5B7101A82E00800000000{mark:016X}000000000000000010000000{unique}")
}
