//! Busy times of people and rooms at Outlook.
//!
//! `getSchedule` takes 20 addresses and two months at most, and includes working hours. It is
//! unavailable for personal accounts, for which only the owner's times are known, from the calendar
//! itself.

use std::str::FromStr;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::time;
use daysheet_core::provider::calendar::{BusySchedule, WorkingHours};
use daysheet_core::text::{brief, cell, clip};
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde_json::{Value, json};

use super::events::facts;
use crate::json::{nested, text};
use crate::microsoft::client::GraphAccount;
use crate::microsoft::response::page;

/// The maximum number of addresses per call.
const PEOPLE: usize = 20;
/// The maximum range of one call, in days.
const DAYS: i64 = 60;
/// The maximum number of calls for one range; together about two years.
const RANGES: usize = 12;
/// The properties requested of the owner's events, and the maximum number of pages.
const OWN: &str = "id,start,end,isAllDay,showAs,isCancelled,isOrganizer,attendees,responseStatus";
const OWN_PAGES: usize = 20;
/// The shortest interval of the availability view, in minutes.
///
/// Source: <https://learn.microsoft.com/en-us/graph/api/calendar-getschedule>
const MIN_INTERVAL: i64 = 5;
/// The longest interval.
const MAX_INTERVAL: i64 = 1_440;
const WEEK: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns busy times: one result for each person, in the order of `who`. `me` is the mailbox's
/// address.
pub async fn busy(
    graph: &GraphAccount,
    me: &str,
    who: &[String],
    from: Timestamp,
    to: Timestamp,
) -> Vec<Result<BusySchedule>> {
    let mut answers = Vec::with_capacity(who.len());
    for some in who.chunks(PEOPLE) {
        let mut schedules: Vec<Result<BusySchedule>> = some
            .iter()
            .map(|who| Ok(BusySchedule { who: who.clone(), busy: Vec::new(), hours: None }))
            .collect();
        let ranges = match ranges(from, to) {
            Ok(ranges) => ranges,
            Err(error) => {
                answers.extend(some.iter().map(|_| Err(error.clone())));
                continue;
            }
        };
        for (from, to) in ranges {
            let found = ask(graph, some, from, to).await;
            let is_me = |who: &String| who.trim().eq_ignore_ascii_case(me);
            let mut own = None;
            // Personal accounts refuse the query, and have only their own calendar.
            if found.as_ref().is_err_and(is_refused) && some.iter().any(is_me) {
                own = self::own(graph, from, to).await.ok();
            }
            for (who, schedule) in some.iter().zip(&mut schedules) {
                let Ok(known) = schedule else { continue };
                let more = match (&found, own.as_ref().filter(|_| is_me(who))) {
                    (_, Some(own)) => Ok(read_schedule(own, who)),
                    (Ok(found), _) => find_schedule(found, who),
                    (Err(error), _) => Err(error.clone()),
                };
                match more {
                    Ok(more) => add(known, more),
                    Err(error) => *schedule = Err(error),
                }
            }
        }
        answers.extend(schedules);
    }
    answers
}

/// Splits a range into parts for one call each.
fn ranges(from: Timestamp, to: Timestamp) -> Result<Vec<(Timestamp, Timestamp)>> {
    let mut found = Vec::new();
    let mut start = from;
    while start < to {
        if found.len() == RANGES {
            return Err(
                Error::argument("the range is too long for Outlook").next("give at most two years")
            );
        }
        let end = start.checked_add(Span::new().hours(DAYS * 24)).map_or(to, |end| end.min(to));
        found.push((start, end));
        start = end;
    }
    Ok(found)
}

async fn ask(
    graph: &GraphAccount,
    who: &[String],
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<Value>> {
    // The view is not read, so it has as few intervals as possible. An interval must not be longer
    // than the range.
    let minutes = to.duration_since(from).as_mins();
    let question = json!({
        "schedules": who,
        "startTime": utc(from),
        "endTime": utc(to),
        "availabilityViewInterval": (minutes / 2).clamp(MIN_INTERVAL, MAX_INTERVAL),
    });
    let request = graph.mailbox_url("calendar/getSchedule", &[]);
    Ok(page(graph.post_query(&request, &question).await?)?.0)
}

/// Returns one person's schedule from the response.
fn find_schedule(found: &[Value], who: &str) -> Result<BusySchedule> {
    let schedule = found
        .iter()
        .find(|schedule| text(schedule, "scheduleId").eq_ignore_ascii_case(who.trim()))
        .ok_or_else(|| unknown(who, ""))?;
    let error = nested(schedule, "error");
    if error.is_object() {
        return Err(unknown(who, text(error, "message")));
    }
    Ok(read_schedule(schedule, who))
}

/// Converts Graph's schedule to ours.
fn read_schedule(schedule: &Value, who: &str) -> BusySchedule {
    let items = nested(schedule, "scheduleItems").as_array();
    let busy = items
        .into_iter()
        .flatten()
        .filter(|item| !text(item, "status").eq_ignore_ascii_case("free"))
        .map(|item| {
            let mut item = item.clone();
            if let Some(item) = item.as_object_mut() {
                item.insert("who".to_owned(), who.into());
            }
            item
        })
        .collect();
    BusySchedule { who: who.to_owned(), busy, hours: hours(nested(schedule, "workingHours")) }
}

/// Returns a time in UTC in Graph's form.
fn utc(at: Timestamp) -> Value {
    json!({"dateTime": at.strftime("%Y-%m-%dT%H:%M:%S").to_string(), "timeZone": "UTC"})
}

/// Returns true if the account does not have this feature.
fn is_refused(error: &Error) -> bool {
    let kind = error.kind();
    matches!(kind, ErrorKind::Provider(400..=499) | ErrorKind::NotFound | ErrorKind::Auth)
}

/// Returns the owner's times from the main calendar, in the form of a schedule.
async fn own(graph: &GraphAccount, from: Timestamp, to: Timestamp) -> Result<Value> {
    let (first, last) = (from.to_string(), to.to_string());
    let query = [
        ("startDateTime", first.as_str()),
        ("endDateTime", &last),
        ("$select", OWN),
        ("$top", "500"),
    ];
    let requests =
        [graph.mailbox_url("calendarView", &query), graph.mailbox_url("mailboxSettings", &[])];
    let mut answers = graph.batch(&requests).await.into_iter();
    let lost = || Err(Error::new(ErrorKind::Internal, "the account's own events were left out"));
    let view = answers.next().unwrap_or_else(lost)?;
    let settings = answers.next().and_then(Result::ok).unwrap_or_default();
    let (events, _) = graph.all(view, usize::MAX, OWN_PAGES).await?;
    let zone = time::find_zone(text(&settings, "timeZone")).unwrap_or(TimeZone::UTC);
    let items: Vec<Value> = events
        .iter()
        .filter_map(|event| {
            let facts = facts::read(event, "")?;
            facts.busy.then(|| {
                json!({
                    "status": text(event, "showAs"),
                    "start": utc(facts.start.instant(&zone)),
                    "end": utc(facts.end.instant(&zone)),
                })
            })
        })
        .collect();
    Ok(json!({
        "scheduleItems": items,
        "workingHours": nested(&settings, "workingHours"),
    }))
}

fn unknown(who: &str, reason: &str) -> Error {
    let (reason, _) = clip(cell(reason.lines().next().unwrap_or_default()), 160);
    let what = format!("Outlook does not say when {} is busy", brief(who));
    Error::new(
        ErrorKind::NotFound,
        match reason.trim().trim_end_matches('.') {
            "" => what,
            reason => format!("{what}: {reason}"),
        },
    )
    .next("check the address; people in other organisations may not share their times")
}

/// Adds a later part of the range. Both parts list events across the border.
fn add(known: &mut BusySchedule, more: BusySchedule) {
    for item in more.busy {
        if !known.busy.contains(&item) {
            known.busy.push(item);
        }
    }
    known.hours = known.hours.take().or(more.hours);
}

/// Returns a person's working hours, or `None` if their zone is unknown.
fn hours(working: &Value) -> Option<WorkingHours> {
    let minute = |key: &str| {
        let time = Time::from_str(text(working, key)).ok()?;
        u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).ok()
    };
    let days: Vec<i8> = nested(working, "daysOfWeek")
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .filter_map(|day| {
            let at = WEEK.iter().position(|known| day.eq_ignore_ascii_case(known))?;
            i8::try_from(at).ok()
        })
        .collect();
    let from = minute("startTime")?;
    let to = match minute("endTime")? {
        // An end at 0:00 means midnight at the end of the day.
        0 => 24 * 60,
        to => to,
    };
    let zone = time::zone_name(text(nested(working, "timeZone"), "name"))?;
    (!days.is_empty() && from < to).then_some(WorkingHours { zone, days, from, to })
}
