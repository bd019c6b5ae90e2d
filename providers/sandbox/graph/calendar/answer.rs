//! Answers with events: single ones, lists, and calendar views.

use daysheet_core::event::time::{EventTime, ZonedTime};
use hyper::StatusCode;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::context::{CalendarContext, CalendarRef};
use super::event::called_off;
use super::filter::{self, instant};
use super::shown::{EventKind, ShownEvent};
use crate::graph::error::{
    GraphError, invalid_parameter, invalid_request, malformed_id, not_found,
};
use crate::graph::mail::read::list::DEFAULT_TOP;
use crate::graph::response::GraphResponse;
use crate::graph::types::EVENT;
use crate::store::calendars::expand::EventOccurrence;
use crate::store::calendars::{SandboxCalendars, StoredEvent, same};

/// The longest time range, in days, as at Exchange.
const MAX_DAYS: i64 = 1_825;

/// The event that an id refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventRef {
    /// The place of the event or the series.
    pub place: usize,
    /// The occurrence of the series.
    pub original: Option<EventTime>,
}

impl EventRef {
    /// Returns the place of its calendar.
    pub fn calendar(&self, agenda: &SandboxCalendars) -> Result<usize, GraphError> {
        let event = agenda.event(self.place).ok_or_else(not_found)?;
        Ok(event.calendar)
    }

    /// Returns the event as its calendar shows it.
    pub fn look_up<'a>(
        &self,
        context: &'a CalendarContext<'_>,
    ) -> Result<ShownEvent<'a>, GraphError> {
        let it = match self.original {
            Some(original) => context.agenda.occurrence(self.place, original),
            None => as_is(context.agenda, self.place),
        };
        // A cancelled occurrence is no longer one of the series, but its exception may still be
        // shown.
        let it = it.or_else(|| {
            let event = context.agenda.event(self.place)?;
            let original = self.original?;
            let place = context.agenda.override_of(event.calendar, &event.id, original);
            as_is(context.agenda, place?).filter(|_| !event.deleted)
        });
        let it = it.filter(|it| is_there(&it.event)).ok_or_else(not_found)?;
        Ok(ShownEvent::new(context, it))
    }
}

/// Returns true for an event that a calendar shows.
fn is_there(event: &StoredEvent) -> bool {
    !event.deleted || called_off(event)
}

/// Returns the cancelled events among some that overlap a time range.
fn remains<'a>(
    context: &'a CalendarContext<'_>,
    events: impl Iterator<Item = (usize, &'a StoredEvent)>,
    from: Timestamp,
    to: Timestamp,
) -> Vec<EventOccurrence<'a>> {
    // If the series is deleted, its cancelled occurrences go with it.
    let mine = |event: &StoredEvent| match &event.instead_of {
        None => true,
        Some((series, _)) => context
            .agenda
            .find(event.calendar, series)
            .and_then(|place| context.agenda.event(place))
            .is_none_or(|series| !series.deleted),
    };
    events
        .filter(|(_, event)| called_off(event) && mine(event))
        .filter_map(|(place, _)| as_is(context.agenda, place))
        .filter(|it| touches(it, from, to))
        .collect()
}

/// Returns true if an event overlaps the time from `from` up to `to`.
pub(crate) fn touches(it: &EventOccurrence<'_>, from: Timestamp, to: Timestamp) -> bool {
    // An event without length counts if it is at the beginning of the range.
    it.from < to && (it.to > from || it.from >= from)
}

/// Returns the event at a place, without expanding a series.
pub(crate) fn as_is(agenda: &SandboxCalendars, place: usize) -> Option<EventOccurrence<'_>> {
    let event = agenda.event(place)?;
    let zone = agenda.zone_of(event);
    Some(EventOccurrence {
        place,
        from: event.start.when().instant(&zone),
        to: event.end.when().instant(&zone),
        event: std::borrow::Cow::Borrowed(event),
    })
}

/// Returns the event that an id refers to.
pub(super) fn find(context: &CalendarContext<'_>, id: &str) -> Result<EventRef, GraphError> {
    let found = context.ids().event_of(id).map_err(|()| malformed_id())?;
    let (place, second, _) = found.ok_or_else(not_found)?;
    let event = context.agenda.event(place).ok_or_else(not_found)?;
    let calendar = context.agenda.calendar(event.calendar).ok_or_else(not_found)?;
    let mine = same(&calendar.owner, context.owner()) && !calendar.deleted;
    if !mine {
        return Err(not_found());
    }
    let original = match (second, &event.repeat) {
        (None, _) => None,
        (Some(_), None) => return Err(not_found()),
        (Some(second), Some(_)) => {
            let start = Timestamp::from_second(second).map_err(|_| not_found())?;
            Some(match event.start {
                // An id contains a second; for whole days it is midnight UTC.
                ZonedTime::Day(_) => EventTime::Day(TimeZone::UTC.to_datetime(start).date()),
                ZonedTime::At(..) => EventTime::At(start),
            })
        }
    };
    let found = EventRef { place, original };
    // An exception is found only by its occurrence's id.
    let shown = found.look_up(context)?;
    if original.is_none() && shown.series.is_some() { Err(not_found()) } else { Ok(found) }
}

/// Answers with one event.
pub(crate) fn event(context: &CalendarContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    context.base.options.check_type(&EVENT)?;
    reply(context, find(context, id)?, StatusCode::OK)
}

/// Returns the response with an event.
pub(super) fn reply(
    context: &CalendarContext<'_>,
    found: EventRef,
    status: StatusCode,
) -> Result<GraphResponse, GraphError> {
    let shown = found.look_up(context)?;
    let mut members = shown.json(context);
    if let Some(link) = context.calendar_link(shown.it.event.calendar) {
        let association = format!("{link}/$ref");
        members.insert("calendar@odata.associationLink".into(), association.into());
        members.insert("calendar@odata.navigationLink".into(), link.into());
    }
    Ok(context.base.entity(members, "events", status))
}

/// Answers with the single events and series of a calendar, newest first.
pub(crate) fn list(
    context: &CalendarContext<'_>,
    at: CalendarRef<'_>,
) -> Result<GraphResponse, GraphError> {
    let calendar = context.calendar_at(at)?;
    let places = context.agenda.events_of(calendar);
    let events = places
        .filter(|(_, event)| is_there(event))
        .filter_map(|(place, _)| as_is(context.agenda, place))
        .map(|it| ShownEvent::new(context, it))
        // Graph lists exceptions only as instances of their series.
        .filter(|shown| shown.kind != EventKind::Exception);
    let mut events: Vec<ShownEvent<'_>> = events.collect();
    events.reverse();
    page(context, events, &collection_path(at, "events"))
}

/// Answers with the events of a time range.
pub(crate) fn view(
    context: &CalendarContext<'_>,
    at: CalendarRef<'_>,
) -> Result<GraphResponse, GraphError> {
    let calendar = context.calendar_at(at)?;
    let (from, to) = window(context)?;
    let mut found = context.agenda.occurrences(calendar, from, to);
    found.extend(remains(context, context.agenda.events_of(calendar), from, to));
    found.sort_by_key(|it| it.from);
    let shown = found.into_iter().map(|it| ShownEvent::new(context, it)).collect();
    page(context, shown, &collection_path(at, "calendarView"))
}

/// Answers with the occurrences of a series in a time range. A single event has none.
pub(crate) fn instances(
    context: &CalendarContext<'_>,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    let (from, to) = window(context)?;
    let found = find(context, id)?;
    let mut all = Vec::new();
    if let (None, Some(event)) = (found.original, context.agenda.event(found.place)) {
        all = context.agenda.instances(found.place, from, to);
        let overrides = context.agenda.overrides(event.calendar, &event.id);
        all.extend(remains(context, overrides, from, to));
        all.sort_by_key(|it| it.from);
    }
    let shown = all.into_iter().map(|it| ShownEvent::new(context, it)).collect();
    page(context, shown, &format!("events('{id}')/instances"))
}

/// Returns a page of events.
fn page(
    context: &CalendarContext<'_>,
    events: Vec<ShownEvent<'_>>,
    of: &str,
) -> Result<GraphResponse, GraphError> {
    context.base.options.check_type(&EVENT)?;
    let events = filter::apply_filter(context, events)?;
    let list = context.base.list(&events, DEFAULT_TOP, of, |_, shown| shown.json(context).into());
    list.map(GraphResponse::new)
}

/// Returns the path to a calendar's collection, for the context URL.
fn collection_path(at: CalendarRef<'_>, what: &str) -> String {
    match at {
        CalendarRef::Any => what.to_owned(),
        CalendarRef::Id(id) => format!("calendars('{id}')/{what}"),
    }
}

/// Returns the time range of a request.
pub(crate) fn window(context: &CalendarContext<'_>) -> Result<(Timestamp, Timestamp), GraphError> {
    let query = &context.base.request.query;
    let text = |name: &str| {
        let mut pairs = query.iter();
        // Graph's own error message writes them `StartDateTime`, its documentation `startDateTime`.
        let found = pairs.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    };
    let (Some(from), Some(to)) = (text("startDateTime"), text("endDateTime")) else {
        return Err(invalid_parameter(
            "This request requires a time window specified by the query string parameters \
             StartDateTime and EndDateTime.",
        ));
    };
    let read = |name: &str, value: &str| {
        instant(value).ok_or_else(|| {
            invalid_parameter(format!("The value '{value}' of parameter '{name}' is invalid."))
        })
    };
    let (from, to) = (read("startDateTime", from)?, read("endDateTime", to)?);
    if to < from {
        return Err(invalid_request("The specified end date cannot occur before the start date."));
    }
    if from.duration_until(to) > SignedDuration::from_hours(24 * MAX_DAYS) {
        return Err(invalid_parameter(format!("The time window is longer than {MAX_DAYS} days.")));
    }
    Ok((from, to))
}
