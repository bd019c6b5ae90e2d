//! Reading of events in Outlook's calendars.
//!
//! A range is one `calendarView` per calendar, which expands recurring events; 20 calendars cost
//! one round trip. Requests name only what the projection and [`facts`] read. Graph's events do not
//! name their calendar, and its rules are not RRULEs: both are added here under the keys
//! [`CALENDAR`] and [`RULE`].

pub mod facts;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::recurrence::{EventRecurrence, graph};
use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::project::Projection;
use daysheet_core::provider::calendar::EventListRequest;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use self::facts::{CALENDAR, RULE, is_master};
use crate::json::text;
use crate::microsoft::client::GraphAccount;
use crate::microsoft::ids::check_as;
use crate::microsoft::response::{not_ours, page};
use crate::net;

/// The maximum page size of events at Graph.
const MAX_PAGE: usize = 1_000;
/// The maximum range of one request at Graph.
const MAX_RANGE: SignedDuration = SignedDuration::from_hours(1_825 * 24);
/// The maximum number of occurrences of a series that are read at once.
const INSTANCES: usize = 250;
/// The maximum number of events with one UID that are read: copies in several calendars.
const COPIES: usize = 50;
/// The time ahead in which exceptions of a series are searched, and the maximum number of pages.
const EXCEPTIONS: SignedDuration = SignedDuration::from_hours(2 * 366 * 24);
const EXCEPTION_PAGES: usize = 10;

/// The properties requested for every event of a list.
const ALWAYS: &[&str] = &[
    "id", "type", "seriesMasterId", "subject", "start", "end", "isAllDay", "originalStart",
    "originalStartTimeZone", "location", "attendees", "isOrganizer", "responseStatus", "showAs",
    "isCancelled", "iCalUId",
];

/// All properties that are read of a single event. They have to be named, because Graph returns the
/// deleted occurrences of a series only on request.
const WHOLE: &[&str] = &[
    "id",
    "type",
    "seriesMasterId",
    "subject",
    "body",
    "bodyPreview",
    "start",
    "end",
    "isAllDay",
    "originalStart",
    "originalStartTimeZone",
    "originalEndTimeZone",
    "location",
    "attendees",
    "organizer",
    "isOrganizer",
    "responseStatus",
    "responseRequested",
    "allowNewTimeProposals",
    "showAs",
    "sensitivity",
    "isCancelled",
    "isOnlineMeeting",
    "onlineMeeting",
    "onlineMeetingProvider",
    "onlineMeetingUrl",
    "isReminderOn",
    "reminderMinutesBeforeStart",
    "categories",
    "recurrence",
    "cancelledOccurrences",
    "iCalUId",
    "transactionId",
    "changeKey",
    "createdDateTime",
    "lastModifiedDateTime",
    "hasAttachments",
    "webLink",
];

/// Checks that `id` may be an event's id.
pub fn check(id: &str) -> Result<()> {
    check_as(id, "e7 from calendar_search")
}

/// Checks that `id` may be a calendar's id.
pub fn check_calendar(id: &str) -> Result<()> {
    check_as(id, "c1 from lookup kind=calendars")
}

/// Returns the path of an event.
pub fn at(id: &str) -> String {
    format!("events/{}", net::path_segment(id))
}

/// Returns the request for an event with all properties.
pub fn whole(graph: &GraphAccount, id: &str) -> String {
    graph.mailbox_url(&at(id), &[("$select", &WHOLE.join(","))])
}

/// Returns the properties to select: the projection's under Graph's names, `more`, and [`ALWAYS`].
pub fn select(projection: &Projection, more: &[&str]) -> String {
    let roots = projection.roots();
    // Descriptions may be long; lists show only their beginning.
    let roots =
        roots.into_iter().filter(|root| *root != CALENDAR && *root != "body").map(
            |root| match root {
                RULE => "recurrence",
                other => other,
            },
        );
    let mut properties: Vec<&str> = Vec::new();
    for property in ALWAYS.iter().chain(more).copied().chain(roots) {
        if !properties.contains(&property) {
            properties.push(property);
        }
    }
    properties.join(",")
}

/// Adds the calendar and the rule, which Graph's events lack.
pub fn put_in(event: &mut Value, calendar: Option<&CalendarId>) {
    let rule =
        event.get("recurrence").filter(|recurrence| recurrence.is_object()).and_then(graph::rule);
    let calendar = calendar.cloned().or_else(|| linked_calendar(event));
    let Some(event) = event.as_object_mut() else {
        return;
    };
    if let Some(calendar) = calendar {
        event.insert(CALENDAR.to_owned(), String::from(calendar).into());
    }
    if let Some(rule) = rule {
        event.insert(RULE.to_owned(), rule.into());
    }
}

/// Returns the id of the calendar in an event's link; only events read singly have the link.
fn linked_calendar(event: &Value) -> Option<CalendarId> {
    let link = text(event, "calendar@odata.navigationLink");
    let (_, id) = link.rsplit_once("/calendars('")?;
    let id = id.strip_suffix("')")?;
    let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?;
    check_calendar(&id).is_ok().then(|| id.into_owned().into())
}

/// Graph's objects of a page, and the position at which the next one starts.
type WirePage = (Vec<Value>, Option<String>);

/// Returns the events of a range: one page per calendar.
pub async fn events(graph: &GraphAccount, ask: &EventListRequest) -> Vec<Result<WirePage>> {
    let mut requests = Vec::new();
    let mut answers: Vec<Option<Error>> = Vec::new();
    for (calendar, cursor) in &ask.calendars {
        match RangePage::new(ask, cursor.as_deref()).request(graph, ask, calendar) {
            Ok(request) => {
                requests.push(request);
                answers.push(None);
            }
            Err(error) => answers.push(Some(error)),
        }
    }
    let mut fetched = graph.batch(&requests).await.into_iter();
    let mut pages = Vec::new();
    for ((calendar, cursor), refused) in ask.calendars.iter().zip(answers) {
        pages.push(match refused {
            Some(error) => Err(error),
            None => fetched
                .next()
                .unwrap_or_else(|| Err(Error::new(ErrorKind::Internal, "a calendar was left out")))
                .map_err(|error| explain(error, cursor.is_some()))
                .and_then(|answer| {
                    RangePage::new(ask, cursor.as_deref()).read(graph, ask, calendar, answer)
                }),
        });
    }
    pages
}

/// A part of a range within Graph's limit, and a page of it.
///
/// Its cursor consists of the second at which it begins and the page's link.
struct RangePage<'a> {
    from: Timestamp,
    to: Timestamp,
    link: Option<&'a str>,
}

impl<'a> RangePage<'a> {
    fn new(ask: &EventListRequest, cursor: Option<&'a str>) -> Self {
        let (from, link) = match cursor {
            Some(cursor) => match cursor.split_once(' ') {
                Some((from, link)) => (from, Some(link)),
                None => (cursor, None),
            },
            None => ("", None),
        };
        let from = from.parse().ok();
        let from = from.and_then(|from| Timestamp::from_second(from).ok());
        let from = from.map_or(ask.from, |from| from.max(ask.from));
        let to = from.checked_add(MAX_RANGE).unwrap_or(ask.to).min(ask.to);
        // Lists of series have no range in their request, and are not split.
        let to = if ask.series { ask.to } else { to };
        Self { from, to, link }
    }

    /// Returns the cursor of the next page, or of the next part.
    fn next(&self, ask: &EventListRequest, link: Option<String>) -> Option<String> {
        match link {
            Some(link) => Some(format!("{} {link}", self.from.as_second())),
            None => (self.to < ask.to).then(|| self.to.as_second().to_string()),
        }
    }

    /// Returns true if an earlier part has returned the event.
    fn is_known(&self, ask: &EventListRequest, item: &Value) -> bool {
        let starts = facts::times(item).0;
        self.from > ask.from
            && starts.is_some_and(|starts| starts.instant(&TimeZone::UTC) < self.from)
    }
}

impl RangePage<'_> {
    /// Returns the request for a page of a calendar.
    fn request(
        &self,
        graph: &GraphAccount,
        ask: &EventListRequest,
        calendar: &CalendarId,
    ) -> Result<String> {
        if let Some(link) = self.link {
            return Ok(link.to_owned());
        }
        check_calendar(calendar.as_str())?;
        let calendar = net::path_segment(calendar.as_str());
        let order = ("$orderby", "start/dateTime");
        if ask.series {
            let select = select(&ask.projection, &["recurrence"]);
            // Most events may be outside the range, which is checked here, so pages are as long as
            // possible.
            let top = MAX_PAGE.to_string();
            let query = [order, ("$top", &top), ("$select", &select)];
            return Ok(graph.mailbox_url(&format!("calendars/{calendar}/events"), &query));
        }
        let (from, to) = (self.from.to_string(), self.to.to_string());
        let top = ask.limit.clamp(1, MAX_PAGE).to_string();
        let select = select(&ask.projection, &[]);
        let query = [
            ("startDateTime", from.as_str()),
            ("endDateTime", to.as_str()),
            order,
            ("$top", &top),
            ("$select", &select),
        ];
        Ok(graph.mailbox_url(&format!("calendars/{calendar}/calendarView"), &query))
    }

    fn read(
        &self,
        graph: &GraphAccount,
        ask: &EventListRequest,
        calendar: &CalendarId,
        answer: Value,
    ) -> Result<WirePage> {
        let (mut items, link) = page(answer)?;
        items.retain(|item| {
            !text(item, "id").is_empty()
                && match (ask.series, is_master(item)) {
                    (true, true) => true,
                    (true, false) => touches(item, ask.from, ask.to),
                    _ => touches(item, self.from, self.to) && !self.is_known(ask, item),
                }
        });
        for item in &mut items {
            put_in(item, Some(calendar));
        }
        if ask.series {
            items.retain(|item| !is_master(item) || runs(item, ask.from, ask.to));
        }
        let next = link.map(|link| graph.resolve_next_link(&link)).transpose()?;
        Ok((items, self.next(ask, next)))
    }
}

/// Returns true if an event is in the range. For whole days Graph decides, because it knows their
/// zone.
fn touches(event: &Value, from: Timestamp, to: Timestamp) -> bool {
    let (start, end) = facts::times(event);
    match (start, end) {
        (Some(EventTime::At(start)), Some(EventTime::At(end))) => {
            (end > from || start >= from) && start < to
        }
        _ => true,
    }
}

/// Returns true if a series has an occurrence in the range, by its rule.
fn runs(master: &Value, from: Timestamp, to: Timestamp) -> bool {
    let (Some(start), Some(end)) = facts::times(master) else {
        return true;
    };
    let rule = text(master, RULE).to_owned();
    if rule.is_empty() {
        return true;
    }
    let zone = facts::zone(master);
    let lasts = end.instant(&zone).duration_since(start.instant(&zone));
    // A whole day has no zone, so it may begin up to a day earlier or later.
    let (first, wider) = match start {
        EventTime::Day(day) => (ZonedTime::Day(day), SignedDuration::from_hours(24)),
        EventTime::At(at) => {
            let name = zone.iana_name().unwrap_or("UTC").to_owned();
            (ZonedTime::At(zone.to_datetime(at), name), SignedDuration::ZERO)
        }
    };
    let earlier = from.checked_sub(lasts.saturating_add(wider)).unwrap_or(from);
    let later = to.checked_add(wider).unwrap_or(to);
    let repeat = EventRecurrence { rule, ..EventRecurrence::default() };
    let found = repeat.occurrences(&first, earlier, later, 2);
    found.iter().any(|when| match when {
        EventTime::Day(_) => true,
        EventTime::At(at) => *at >= from || *at > earlier,
    })
}

/// Returns events by id, with all properties.
pub async fn by_id(graph: &GraphAccount, ids: &[EventId]) -> Vec<Result<Value>> {
    let checked: Vec<Result<()>> = ids.iter().map(|id| check(id.as_str())).collect();
    let requests: Vec<String> = ids
        .iter()
        .zip(&checked)
        .filter(|(_, checked)| checked.is_ok())
        .map(|(id, _)| whole(graph, id.as_str()))
        .collect();
    let mut fetched = graph.batch(&requests).await.into_iter();
    checked
        .into_iter()
        .map(|checked| {
            checked?;
            let lost = || Err(Error::new(ErrorKind::Internal, "an event was left out"));
            completed_event(fetched.next().unwrap_or_else(lost)?)
        })
        .collect()
}

/// Checks and completes an event of a response.
pub fn completed_event(mut event: Value) -> Result<Value> {
    if text(&event, "id").is_empty() {
        return Err(not_ours("event"));
    }
    put_in(&mut event, None);
    Ok(event)
}

/// Returns the events with an iCalendar UID, including exceptions of a series.
pub async fn by_uid(graph: &GraphAccount, uid: &str) -> Result<Vec<Value>> {
    let filter = format!("iCalUId eq '{}'", uid.replace('\'', "''"));
    let query = [("$filter", filter.as_str()), ("$select", "id")];
    let answer = graph.get(&graph.mailbox_url("events", &query)).await?;
    let (found, _) = graph.all(answer, COPIES, 1).await?;
    let ids: Vec<EventId> = found
        .iter()
        .map(|event| EventId::from(text(event, "id")))
        .filter(|id| !id.is_empty())
        .collect();
    let mut events: Vec<Value> = by_id(graph, &ids).await.into_iter().collect::<Result<_>>()?;
    let mut differ = Vec::new();
    for event in &events {
        differ.extend(exceptions(graph, event).await?);
    }
    let differ = by_id(graph, &differ).await.into_iter();
    events.extend(differ.collect::<Result<Vec<_>>>()?);
    Ok(events)
}

/// Returns the first page of the occurrences of a series in a range.
pub async fn instances(
    graph: &GraphAccount,
    series: &EventId,
    from: Timestamp,
    to: Timestamp,
    projection: &Projection,
) -> Result<Vec<Value>> {
    check(series.as_str())?;
    let (from, to, top) = (from.to_string(), to.to_string(), INSTANCES.to_string());
    let select = select(projection, &[]);
    let query = [
        ("startDateTime", from.as_str()),
        ("endDateTime", &to),
        ("$orderby", "start/dateTime"),
        ("$select", &select),
        ("$top", &top),
    ];
    let path = format!("{}/instances", at(series.as_str()));
    let (mut items, _) = page(graph.get(&graph.mailbox_url(&path, &query)).await?)?;
    for item in &mut items {
        put_in(item, None);
    }
    Ok(items)
}

/// Returns the ids of the exceptions of a series. Graph can only list all occurrences of a range,
/// so they are searched from the first occurrence on.
async fn exceptions(graph: &GraphAccount, master: &Value) -> Result<Vec<EventId>> {
    let (Some(start), _) = facts::times(master) else {
        return Ok(Vec::new());
    };
    if !is_master(master) {
        return Ok(Vec::new());
    }
    let day = SignedDuration::from_hours(24);
    let from = start.instant(&TimeZone::UTC);
    let from = from.checked_sub(day).unwrap_or(from);
    let now = graph.now().max(from);
    let to = now.checked_add(EXCEPTIONS).unwrap_or(now);
    let (from, to, top) = (from.to_string(), to.to_string(), MAX_PAGE.to_string());
    let query = [
        ("startDateTime", from.as_str()),
        ("endDateTime", &to),
        ("$select", "id,type"),
        ("$top", &top),
    ];
    let path = format!("{}/instances", at(text(master, "id")));
    let answer = graph.get(&graph.mailbox_url(&path, &query)).await?;
    let (all, _) = graph.all(answer, usize::MAX, EXCEPTION_PAGES).await?;
    Ok(all
        .iter()
        .filter(|event| text(event, "type").eq_ignore_ascii_case("exception"))
        .map(|event| text(event, "id").into())
        .collect())
}

/// Explains an error of a list.
fn explain(error: Error, later: bool) -> Error {
    match error.kind() {
        // Graph's page links expire.
        ErrorKind::Provider(400 | 410) if later => {
            Error::argument("Outlook's page cursor expired").next("search again without cursor")
        }
        ErrorKind::NotFound => Error::new(ErrorKind::NotFound, "Outlook has no such calendar")
            .next("lookup kind=calendars lists them"),
        _ => error,
    }
}
