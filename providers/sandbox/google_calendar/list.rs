//! Lists of events: selection, order, pages, and changes since a sync token.
//!
//! With `singleEvents`, an endless series continues for two years, and a changed series is listed
//! by its occurrences since a year ago. The real service has such limits too, but does not document
//! them. Pages and tokens are in `pages.rs`.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::error::{self as refuse, bad_value};
use super::event::{EventView, etag, stamp, text};
use super::pages::{EventItem, EventPage, digest, gives_sync, page, since, sync_token};
use super::read::rfc3339;
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::json::present;
use crate::store::calendars::expand::EventOccurrence;
use crate::store::calendars::{CalendarAccess, SandboxCalendars, StoredCalendar, StoredEvent};

/// The time ahead that occurrences are listed without an end: two years.
const AHEAD: SignedDuration = SignedDuration::from_hours(2 * 366 * 24);

/// The time back that occurrences of a changed series are listed: one year.
const BACK: SignedDuration = SignedDuration::from_hours(366 * 24);

/// The request for a list.
struct EventQuery {
    /// The time of the request.
    now: Timestamp,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    single: bool,
    deleted: bool,
    by_start: bool,
}

/// Returns a list of a calendar's events.
pub(super) fn events(
    agenda: &SandboxCalendars,
    place: usize,
    calendar: &StoredCalendar,
    params: &RequestParameters<'_>,
    epoch: u64,
) -> Result<Value, HttpResponse> {
    let question = question(params, agenda.now())?;
    let mut view = view(agenda, calendar);
    if let Some(name) = params.value("timeZone") {
        view.zone = TimeZone::get(name).map_err(|_| bad_value("timeZone"))?;
    }
    let sync = params.value("syncToken");
    let since = match sync {
        None => None,
        Some(token) => Some(since(token, params, calendar, question.single, epoch)?),
    };
    let mut items = match since {
        Some(mark) => changes_since(agenda, place, mark, &question),
        None if question.single => occurrences(agenda, place, &question),
        None => masters(agenda, place, &question),
    };
    if let Some(uid) = params.value("iCalUID") {
        items.retain(|item| item.event.uid == uid);
    }
    let digest = digest(calendar, params);
    let mut page = page(items, params, &digest, agenda)?;
    // Only the last page has a sync token; the next request must not skip unread pages.
    if page.next.is_none() && (sync.is_some() || gives_sync(params)) {
        page.sync = Some(sync_token(calendar, epoch, page.mark, question.single));
    }
    Ok(answer(agenda, place, &view, page))
}

/// Returns the occurrences of one series, or an empty list for a single event.
pub(super) fn instances(
    agenda: &SandboxCalendars,
    place: usize,
    id: &str,
    params: &RequestParameters<'_>,
) -> Result<Value, HttpResponse> {
    let calendar = agenda.calendar(place).ok_or_else(refuse::not_found)?;
    let series = agenda.find(place, id).ok_or_else(refuse::not_found)?;
    let question = question(params, agenda.now())?;
    let (from, to) = question.range();
    let items = agenda.instances(series, from, to).into_iter().map(|it| EventItem {
        key: it.from.as_nanosecond(),
        event: it.event,
        deleted: false,
    });
    let page = page(items.collect(), params, &digest(calendar, params), agenda)?;
    Ok(answer(agenda, place, &view(agenda, calendar), page))
}

/// Returns the default view of a calendar's events.
pub(super) fn view<'a>(
    agenda: &'a SandboxCalendars,
    calendar: &'a StoredCalendar,
) -> EventView<'a> {
    EventView { agenda, calendar, zone: calendar.time_zone() }
}

/// Reads the parameters of every list.
fn question(params: &RequestParameters<'_>, now: Timestamp) -> Result<EventQuery, HttpResponse> {
    let time = |name: &str| match params.value(name) {
        None => Ok(None),
        Some(text) => rfc3339(text).map(Some).ok_or_else(|| refuse::bad("Bad Request")),
    };
    let (from, to) = (time("timeMin")?, time("timeMax")?);
    if from.zip(to).is_some_and(|(from, to)| to <= from) {
        return Err(refuse::empty_range());
    }
    let single = params.flag("singleEvents", "singleEvents")?;
    let by_start = match params.value("orderBy") {
        None => false,
        // Series have no one start to be sorted by, so Google sorts only expanded lists.
        Some("startTime") if single => true,
        Some("startTime") => {
            let message = "The requested ordering is not available for the particular query.";
            return Err(refuse::bad(message));
        }
        Some(_) => return Err(bad_value("orderBy")),
    };
    Ok(EventQuery {
        now,
        from,
        to,
        single,
        deleted: params.flag("showDeleted", "showDeleted")?,
        by_start,
    })
}

impl EventQuery {
    /// Returns the range, with defaults for missing ends.
    fn range(&self) -> (Timestamp, Timestamp) {
        let now = self.now;
        // A list that begins in the future also extends two years from its beginning.
        let base = self.from.map_or(now, |from| from.max(now));
        let ahead = base.checked_add(AHEAD).unwrap_or(Timestamp::MAX);
        (self.from.unwrap_or(Timestamp::MIN), self.to.unwrap_or(ahead))
    }

    /// Returns true if an event is within the range by its own times.
    fn is_in_range(&self, agenda: &SandboxCalendars, event: &StoredEvent) -> bool {
        let zone = agenda.zone_of(event);
        let (start, end) = (event.start.when().instant(&zone), event.end.when().instant(&zone));
        self.to.is_none_or(|to| start < to)
            && self.from.is_none_or(|from| end > from || start >= from)
    }

    /// Returns a deleted event as an item of the list.
    fn tombstone_item<'a>(
        &self,
        agenda: &SandboxCalendars,
        place: usize,
        event: &'a StoredEvent,
    ) -> EventItem<'a> {
        let start = || event.start.when().instant(&agenda.zone_of(event));
        let key = if self.by_start { start().as_nanosecond() } else { wide(place) };
        EventItem { key, event: Cow::Borrowed(event), deleted: true }
    }
}

/// Returns a place as a sort key.
fn wide(place: usize) -> i128 {
    i128::try_from(place).unwrap_or(i128::MAX)
}

fn key_of(it: &EventOccurrence<'_>, question: &EventQuery) -> i128 {
    if question.by_start { it.from.as_nanosecond() } else { wide(it.place) }
}

/// Returns single events and occurrences.
fn occurrences<'a>(
    agenda: &'a SandboxCalendars,
    place: usize,
    question: &EventQuery,
) -> Vec<EventItem<'a>> {
    let (from, to) = question.range();
    let mut items: Vec<EventItem<'_>> = agenda
        .occurrences(place, from, to)
        .into_iter()
        .map(|it| EventItem { key: key_of(&it, question), event: it.event, deleted: false })
        .collect();
    if question.deleted {
        let deleted = agenda.events_of(place).filter(|(_, event)| {
            event.deleted && event.repeat.is_none() && question.is_in_range(agenda, event)
        });
        items.extend(deleted.map(|(place, event)| question.tombstone_item(agenda, place, event)));
    }
    items
}

/// Returns series, single events and exceptions.
fn masters<'a>(
    agenda: &'a SandboxCalendars,
    place: usize,
    question: &EventQuery,
) -> Vec<EventItem<'a>> {
    let in_range = |place: usize, event: &StoredEvent| match &event.repeat {
        Some(_) if question.from.is_some() || question.to.is_some() => {
            let (from, _) = question.range();
            // Without an end, a series counts however far its next occurrence is.
            let to = question.to.unwrap_or(Timestamp::MAX);
            !agenda.instances(place, from, to).is_empty()
        }
        Some(_) => true,
        None => question.is_in_range(agenda, event),
    };
    let mut items = Vec::new();
    for (place, event) in agenda.events_of(place) {
        let series = event.instead_of.as_ref();
        let series = series.and_then(|(id, _)| agenda.find(event.calendar, id));
        let series = series.and_then(|place| agenda.event(place));
        // Google lists cancelled occurrences of a series even without `showDeleted`, because
        // clients expand the series themselves.
        let needed = series.is_some_and(|series| !series.deleted);
        if event.deleted {
            if (needed || question.deleted) && question.is_in_range(agenda, event) {
                items.push(question.tombstone_item(agenda, place, event));
            }
        } else if in_range(place, event) {
            items.push(EventItem { key: wide(place), event: Cow::Borrowed(event), deleted: false });
        }
    }
    items
}

/// Returns the changes since a mark.
fn changes_since<'a>(
    agenda: &'a SandboxCalendars,
    place: usize,
    mark: u64,
    question: &EventQuery,
) -> Vec<EventItem<'a>> {
    let now = question.now;
    let from = now.checked_sub(BACK).unwrap_or(Timestamp::MIN);
    let to = now.checked_add(AHEAD).unwrap_or(Timestamp::MAX);
    let mut items = Vec::new();
    for (place, event) in agenda.changed_since(place, mark) {
        let key = i128::from(event.mark);
        let series = question.single && event.repeat.is_some();
        if series {
            // Exceptions have marks of their own.
            let all = agenda.expanded(place, from, to);
            items.extend(all.into_iter().map(|it| EventItem {
                key,
                deleted: event.deleted,
                event: it.event,
            }));
        } else {
            items.push(EventItem { key, event: Cow::Borrowed(event), deleted: event.deleted });
        }
    }
    items
}

/// Returns a page as the API shows it.
fn answer(
    agenda: &SandboxCalendars,
    place: usize,
    view: &EventView<'_>,
    page: EventPage<'_>,
) -> Value {
    let calendar = view.calendar;
    let zone = view.zone.iana_name().unwrap_or(&calendar.zone);
    let events = agenda.events_of(place);
    let updated = events.map(|(_, event)| event.updated).max();
    let shown = |item: &EventItem<'_>| {
        if item.deleted { view.tombstone(&item.event) } else { view.event(&item.event) }
    };
    let items: Vec<Value> = page.items.iter().map(shown).collect();
    present(json!({
        "kind": "calendar#events",
        "etag": list_etag(agenda),
        "summary": calendar.name,
        "description": text(&calendar.notes),
        "updated": stamp(updated.unwrap_or(Timestamp::UNIX_EPOCH)),
        "timeZone": zone,
        "accessRole": role(calendar.access),
        "defaultReminders": default_reminders(calendar),
        "nextPageToken": page.next,
        "nextSyncToken": page.sync,
        "items": items,
    }))
}

/// Returns the etag of a list, which begins with `p` at Google.
pub(super) fn list_etag(agenda: &SandboxCalendars) -> String {
    etag(agenda.mark).replacen('"', "\"p", 1)
}

/// Returns the word for a person's access to a calendar.
pub(super) fn role(access: CalendarAccess) -> &'static str {
    match access {
        CalendarAccess::Owner => "owner",
        CalendarAccess::Writer => "writer",
        CalendarAccess::Reader => "reader",
        CalendarAccess::Busy => "freeBusyReader",
    }
}

/// Returns the reminders of events that use their calendar's default.
pub(super) fn default_reminders(calendar: &StoredCalendar) -> Value {
    if calendar.main { json!([{ "method": "popup", "minutes": 10 }]) } else { json!([]) }
}
