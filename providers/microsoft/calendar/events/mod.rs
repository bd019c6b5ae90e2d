//! Events of Outlook's calendars, read.
//!
//! A range is one `calendarView` for each calendar, which expands recurring
//! events; twenty calendars cost one round trip. Only what the projection names
//! is asked for, and what [`facts`] reads. Graph's events do
//! not say which calendar they are in, and its rules are no RRULE: both are put
//! in here, under the keys [`CALENDAR`] and [`RULE`].

pub(crate) mod facts;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::json::text;
use crate::microsoft::answer::{not_ours, page};
use crate::microsoft::client::Graph;
use crate::microsoft::mail::check_as;
use crate::net;
use daysheet_core::error::{Error, Kind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::Page;
use daysheet_core::provider::calendar::AskEvents;
use daysheet_core::recurrence::{Repeat, graph};
use daysheet_core::when::{Moment, When};

/// The key of the calendar's id in events as they cross the port.
pub const CALENDAR: &str = "calendarId";
/// The key of the rule as RRULE.
pub const RULE: &str = "recurrenceRule";
/// The most events that Graph gives in a page.
const MOST: usize = 1_000;
/// The longest range that Graph looks at in one request.
const LONGEST: SignedDuration = SignedDuration::from_hours(1_825 * 24);
/// Events with one UID that are read: the copies in several calendars.
const COPIES: usize = 50;
/// How far ahead occurrences that differ from their series are looked for, and in
/// how many pages.
const EXCEPTIONS: SignedDuration = SignedDuration::from_hours(2 * 366 * 24);
const EXCEPTION_PAGES: usize = 10;

/// What is read of every event in a list, whatever is shown of it.
const ALWAYS: &[&str] = &[
    "id",
    "type",
    "seriesMasterId",
    "subject",
    "start",
    "end",
    "isAllDay",
    "originalStart",
    "originalStartTimeZone",
    "location",
    "attendees",
    "isOrganizer",
    "responseStatus",
    "showAs",
    "isCancelled",
    "iCalUId",
];

/// All that is ever read of an event. It has to be spelt out, because the
/// occurrences that were taken out of a series come only by name.
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

/// Checks that `id` could be an event's.
pub fn check(id: &str) -> Result<()> {
    check_as(id, "e7 from calendar_search")
}

/// Checks that `id` could be a calendar's.
pub fn check_calendar(id: &str) -> Result<()> {
    check_as(id, "c1 from lookup kind=calendars")
}

/// The path of an event.
pub fn at(id: &str) -> String {
    format!("events/{}", net::path_segment(id))
}

/// The request for a whole event.
pub fn whole(graph: &Graph, id: &str) -> String {
    graph.mine(&at(id), &[("$select", &WHOLE.join(","))])
}

/// The properties that a projection reads, under Graph's names, and those that
/// are always read.
pub fn select(projection: &Projection, more: &[&str]) -> String {
    let roots = projection.roots();
    // Of descriptions, which may be long, lists have the beginning.
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

/// Puts in what Graph does not say of an event itself.
pub fn put_in(event: &mut Value, calendar: Option<&str>) {
    let rule =
        event.get("recurrence").filter(|recurrence| recurrence.is_object()).and_then(graph::rule);
    let calendar = calendar.map(str::to_owned).or_else(|| linked(event));
    let Some(event) = event.as_object_mut() else {
        return;
    };
    if let Some(calendar) = calendar {
        event.insert(CALENDAR.to_owned(), calendar.into());
    }
    if let Some(rule) = rule {
        event.insert(RULE.to_owned(), rule.into());
    }
}

/// The calendar that an event links to, which single ones do.
fn linked(event: &Value) -> Option<String> {
    let link = text(event, "calendar@odata.navigationLink");
    let (_, id) = link.rsplit_once("/calendars('")?;
    let id = id.strip_suffix("')")?;
    let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?;
    check_calendar(&id).is_ok().then(|| id.into_owned())
}

/// Events of a range: of each calendar a page.
pub async fn events(graph: &Graph, ask: &AskEvents) -> Vec<Result<Page>> {
    let mut requests = Vec::new();
    let mut answers: Vec<Option<Error>> = Vec::new();
    for (calendar, cursor) in &ask.calendars {
        match Span::of(ask, cursor.as_deref()).request(graph, ask, calendar) {
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
                .unwrap_or_else(|| Err(Error::new(Kind::Internal, "a calendar was left out")))
                .map_err(|error| explain(error, cursor.is_some()))
                .and_then(|answer| {
                    Span::of(ask, cursor.as_deref()).read(graph, ask, calendar, answer)
                }),
        });
    }
    pages
}

/// A part of a range that is not longer than Graph takes, and a page of it.
///
/// As a cursor it is the second it begins at, and the link of the page.
struct Span<'a> {
    from: Timestamp,
    to: Timestamp,
    link: Option<&'a str>,
}

impl<'a> Span<'a> {
    fn of(ask: &AskEvents, cursor: Option<&'a str>) -> Self {
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
        let to = from.checked_add(LONGEST).unwrap_or(ask.to).min(ask.to);
        let to = if ask.series { ask.to } else { to };
        Self { from, to, link }
    }

    /// Where it goes on: at the next page, or with the part behind it.
    fn next(&self, ask: &AskEvents, link: Option<String>) -> Option<String> {
        match link {
            Some(link) => Some(format!("{} {link}", self.from.as_second())),
            None => (self.to < ask.to).then(|| self.to.as_second().to_string()),
        }
    }

    /// True for what an earlier part has shown.
    fn is_known(&self, ask: &AskEvents, item: &Value) -> bool {
        let starts = facts::times(item).0;
        self.from > ask.from
            && starts.is_some_and(|starts| starts.instant(&TimeZone::UTC) < self.from)
    }
}

impl Span<'_> {
    /// The request for a page of a calendar.
    fn request(&self, graph: &Graph, ask: &AskEvents, calendar: &str) -> Result<String> {
        if let Some(link) = self.link {
            return Ok(link.to_owned());
        }
        check_calendar(calendar)?;
        let calendar = net::path_segment(calendar);
        let order = ("$orderby", "start/dateTime");
        if ask.series {
            let select = select(&ask.projection, &["recurrence"]);
            // What is not in the range is sorted out here, so pages are long.
            let top = MOST.to_string();
            let query = [order, ("$top", &top), ("$select", &select)];
            return Ok(graph.mine(&format!("calendars/{calendar}/events"), &query));
        }
        let (from, to) = (self.from.to_string(), self.to.to_string());
        let top = ask.limit.clamp(1, MOST).to_string();
        let select = select(&ask.projection, &[]);
        let query = [
            ("startDateTime", from.as_str()),
            ("endDateTime", to.as_str()),
            order,
            ("$top", &top),
            ("$select", &select),
        ];
        Ok(graph.mine(&format!("calendars/{calendar}/calendarView"), &query))
    }

    fn read(&self, graph: &Graph, ask: &AskEvents, calendar: &str, answer: Value) -> Result<Page> {
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
        Ok(Page {
            items,
            next: self.next(ask, link.map(|link| graph.linked(&link)).transpose()?),
            ..Page::default()
        })
    }
}

fn is_master(event: &Value) -> bool {
    text(event, "type").eq_ignore_ascii_case("seriesMaster")
}

/// True for what is in the range. Whole days are where Graph says, because it
/// knows the zone that they are days in.
fn touches(event: &Value, from: Timestamp, to: Timestamp) -> bool {
    let (start, end) = facts::times(event);
    match (start, end) {
        (Some(When::At(start)), Some(When::At(end))) => (end > from || start >= from) && start < to,
        _ => true,
    }
}

/// True for a series that has an occurrence in the range, by its rule.
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
    // A day is one wherever one is.
    let (first, wider) = match start {
        When::Day(day) => (Moment::Day(day), SignedDuration::from_hours(24)),
        When::At(at) => {
            let name = zone.iana_name().unwrap_or("UTC").to_owned();
            (Moment::At(zone.to_datetime(at), name), SignedDuration::ZERO)
        }
    };
    let earlier = from.checked_sub(lasts.saturating_add(wider)).unwrap_or(from);
    let later = to.checked_add(wider).unwrap_or(to);
    let repeat = Repeat { rule, ..Repeat::default() };
    let found = repeat.occurrences(&first, earlier, later, 2);
    found.iter().any(|when| match when {
        When::Day(_) => true,
        When::At(at) => *at >= from || *at > earlier,
    })
}

/// Events by id, whole.
pub async fn by_id(graph: &Graph, ids: &[String]) -> Vec<Result<Value>> {
    let checked: Vec<Result<()>> = ids.iter().map(|id| check(id)).collect();
    let requests: Vec<String> = ids
        .iter()
        .zip(&checked)
        .filter(|(_, checked)| checked.is_ok())
        .map(|(id, _)| whole(graph, id))
        .collect();
    let mut fetched = graph.batch(&requests).await.into_iter();
    checked
        .into_iter()
        .map(|checked| {
            checked?;
            let lost = || Err(Error::new(Kind::Internal, "an event was left out"));
            one(fetched.next().unwrap_or_else(lost)?)
        })
        .collect()
}

/// An event that was answered, with what is put in.
pub fn one(mut event: Value) -> Result<Value> {
    if text(&event, "id").is_empty() {
        return Err(not_ours("event"));
    }
    put_in(&mut event, None);
    Ok(event)
}

/// The events with an iCalendar UID.
pub async fn by_uid(graph: &Graph, uid: &str) -> Result<Vec<Value>> {
    let filter = format!("iCalUId eq '{}'", uid.replace('\'', "''"));
    let query = [("$filter", filter.as_str()), ("$select", "id")];
    let answer = graph.get(&graph.mine("events", &query)).await?;
    let (found, _) = graph.all(answer, COPIES, 1).await?;
    let ids: Vec<String> = found
        .iter()
        .map(|event| text(event, "id").to_owned())
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

/// The ids of the occurrences that differ from their series. Graph lists all
/// occurrences of a range, so they are looked for from the first on.
async fn exceptions(graph: &Graph, master: &Value) -> Result<Vec<String>> {
    let (Some(start), _) = facts::times(master) else {
        return Ok(Vec::new());
    };
    if !is_master(master) {
        return Ok(Vec::new());
    }
    let day = SignedDuration::from_hours(24);
    let from = start.instant(&TimeZone::UTC);
    let from = from.checked_sub(day).unwrap_or(from);
    let now = Timestamp::now().max(from);
    let to = now.checked_add(EXCEPTIONS).unwrap_or(now);
    let (from, to, top) = (from.to_string(), to.to_string(), MOST.to_string());
    let query = [
        ("startDateTime", from.as_str()),
        ("endDateTime", &to),
        ("$select", "id,type"),
        ("$top", &top),
    ];
    let path = format!("{}/instances", at(text(master, "id")));
    let answer = graph.get(&graph.mine(&path, &query)).await?;
    let (all, _) = graph.all(answer, usize::MAX, EXCEPTION_PAGES).await?;
    Ok(all
        .iter()
        .filter(|event| text(event, "type").eq_ignore_ascii_case("exception"))
        .map(|event| text(event, "id").to_owned())
        .collect())
}

/// What an error of a list means.
fn explain(error: Error, later: bool) -> Error {
    match error.kind() {
        // Graph's page links age.
        Kind::Provider(400 | 410) if later => {
            Error::argument("Outlook's page cursor expired").next("search again without cursor")
        }
        Kind::NotFound => Error::new(Kind::NotFound, "Outlook has no such calendar")
            .next("lookup kind=calendars lists them"),
        _ => error,
    }
}
