//! Writes of events in Outlook's calendars.
//!
//! Every write is sent once, and looked up if its response is lost. The exception is the creation
//! of an event: it carries an id of ours, by which Graph recognizes a repetition, so it is sent
//! once more after a lost response. `body.rs` builds the bodies.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{Event, EventPatch, InvitationAnswer};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::provider::calendar::{GuestNotice, InvitationReply};
use graph_rs_sdk::http::Method;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::body::{self, check_notice, properties};
use super::events::facts::{CALENDAR, attendees, times, zone};
use super::events::{self, at, check, check_calendar, completed_event, whole};
use crate::json::{is, nested, text};
use crate::microsoft::client::GraphAccount;
use crate::microsoft::response::DENIED;
use crate::net;
use crate::written::has_values;

/// The page size, and the maximum number of pages, for lists of occurrences.
const TOP: &str = "500";
const PAGES: usize = 20;
/// The properties that identify an occurrence.
const OCCURRENCE: &str =
    "id,type,seriesMasterId,start,end,isAllDay,originalStart,originalStartTimeZone";
/// The version of an event.
const VERSION: &str = "@odata.etag";

/// Creates an event and returns it.
pub async fn create(
    graph: &GraphAccount,
    calendar: Option<&CalendarId>,
    change: &EventPatch,
    notify: GuestNotice,
) -> Result<Value> {
    body::check(change, None, notify)?;
    let Some((start, end)) = &change.time else {
        return Err(Error::argument("an event needs a time").next("give its start and end"));
    };
    let span = (start.when(), end.when());
    let path = path_of(calendar)?;
    let except = change
        .repeat
        .iter()
        .flatten()
        .flat_map(|repeat| repeat.except.iter().copied())
        .collect::<Vec<_>>();
    let guests = change.guests.as_ref().filter(|guests| !guests.is_empty());
    // Guests are added to a series with gaps after the gaps; they would be notified of each gap.
    let later = guests.filter(|_| !except.is_empty());
    let first =
        EventPatch { guests: change.guests.clone().filter(|_| later.is_none()), ..change.clone() };
    let zone = day_zone(graph, change, None).await;
    let mut body = properties(&first, None, &zone)?;
    let id = transaction()?;
    if let Some(body) = body.as_object_mut() {
        // Graph creates no second event with the same id, so a lost creation may be repeated.
        body.insert("transactionId".to_owned(), id.clone().into());
    }
    let mut event = post_event(graph, &path, &body, &id, span).await?;
    if !except.is_empty() {
        let series = EventId::from(text(&event, "id"));
        leave_out(graph, &event, &except)
            .await
            .map_err(|error| half("the series was created", error))?;
        if let Some(guests) = later {
            let invitation = EventPatch { guests: Some(guests.clone()), ..EventPatch::default() };
            event = patch(graph, &series, None, &properties(&invitation, None, &zone)?).await.map_err(
                |error| {
                    Error::new(
                        ErrorKind::Network,
                        format!(
                            "the series was created, but whether anybody was invited is unknown ({})",
                            error.message()
                        ),
                    )
                    .next("look at it with calendar_search, and add the people there")
                },
            )?;
        } else {
            event = again(graph, event).await;
        }
    }
    keep_calendar(&mut event, calendar);
    Ok(event)
}

/// Returns the path of a calendar's events; without `calendar`, of the main one.
fn path_of(calendar: Option<&CalendarId>) -> Result<String> {
    let Some(calendar) = calendar else {
        return Ok("events".to_owned());
    };
    check_calendar(calendar.as_str())?;
    Ok(format!("calendars/{}/events", net::path_segment(calendar.as_str())))
}

/// Sends a new event, at most twice.
async fn post_event(
    graph: &GraphAccount,
    path: &str,
    body: &Value,
    id: &str,
    span: (EventTime, EventTime),
) -> Result<Value> {
    let request = graph.mailbox_url(path, &[]);
    let send = || graph.write(&Method::POST, &request, None, Some(body));
    let answer = match send().await {
        // This is the only write that is repeated: the transaction id makes it safe.
        Err(error) if is_open(&error) => match send().await {
            // The first attempt had succeeded.
            Err(error) if error.kind() == ErrorKind::Provider(409) => {
                return find(graph, path, id, span).await?.ok_or_else(unreadable_event);
            }
            Err(error) => {
                let made = || find(graph, path, id, span);
                return graph.settle(error, made).await.map_err(calendar_error);
            }
            other => other,
        },
        other => other,
    };
    let answer = answer.map_err(calendar_error)?;
    completed_event(answer.unwrap_or_default())
}

/// Returns true if it is unknown whether a write was carried out.
fn is_open(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Network | ErrorKind::Timeout | ErrorKind::Provider(500..=599))
}

/// Returns the error for an event that Outlook has created but not returned.
fn unreadable_event() -> Error {
    Error::new(ErrorKind::Network, "the event was created, but Outlook gave no id")
        .next("find it with calendar_search")
}

/// Looks up the event that was created with our id.
async fn find(
    graph: &GraphAccount,
    path: &str,
    id: &str,
    (start, end): (EventTime, EventTime),
) -> Result<Option<Value>> {
    // Whole days begin at different instants in different zones.
    let day = jiff::Span::new().hours(36);
    let instant = |when: EventTime| when.instant(&TimeZone::UTC);
    let from = instant(start).checked_sub(day).unwrap_or(Timestamp::MIN);
    let to = instant(end).checked_add(day).unwrap_or(Timestamp::MAX);
    let view = format!("{}calendarView", path.strip_suffix("events").unwrap_or(path));
    let query = [
        ("startDateTime", from.to_string()),
        ("endDateTime", to.to_string()),
        ("$select", "id,seriesMasterId,transactionId".to_owned()),
        ("$top", TOP.to_owned()),
    ];
    let query: Vec<(&str, &str)> =
        query.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let answer = graph.get(&graph.mailbox_url(&view, &query)).await?;
    let (events, _) = graph.all(answer, usize::MAX, PAGES).await?;
    let is_ours = |event: &&Value| text(event, "transactionId") == id;
    let Some(event) = events.iter().find(is_ours) else {
        return Ok(None);
    };
    // The view lists occurrences, even of a new series.
    let id = match text(event, "seriesMasterId") {
        "" => text(event, "id"),
        series => series,
    };
    completed_event(graph.get(&whole(graph, id)).await?).map(Some)
}

/// Changes an event and returns it.
pub async fn update(
    graph: &GraphAccount,
    current: &Value,
    change: &EventPatch,
    notify: GuestNotice,
) -> Result<Value> {
    let id = text(current, "id");
    check(id)?;
    body::check(change, Some(current), notify)?;
    let zone = day_zone(graph, change, Some(current)).await;
    let body = properties(change, Some(current), &zone)?;
    let unchanged = body.as_object().is_some_and(serde_json::Map::is_empty);
    let mut event = if unchanged {
        completed_event(graph.get(&whole(graph, id)).await?)?
    } else {
        patch(graph, &id.into(), version(current), &body).await?
    };
    let except = change.repeat.iter().flatten();
    let except: Vec<EventTime> = except.flat_map(|repeat| repeat.except.clone()).collect();
    if !except.is_empty() {
        leave_out(graph, &event, &except)
            .await
            .map_err(|error| half("the series was changed", error))?;
        event = again(graph, event).await;
    }
    keep_calendar(&mut event, calendar_of(current).as_ref());
    Ok(event)
}

/// Restores an event, or creates it again: Graph cannot restore a deleted event.
pub async fn restore(graph: &GraphAccount, before: &Event, now: Option<&Value>) -> Result<Value> {
    let mut body = body::restored(&before.wire, now);
    let calendar = before.calendar.clone();
    let mut event = match now {
        Some(now) if body.as_object().is_some_and(serde_json::Map::is_empty) => {
            return Ok(now.clone());
        }
        Some(now) => patch(graph, &text(now, "id").into(), version(now), &body).await?,
        None => {
            let id = transaction()?;
            if let Some(body) = body.as_object_mut() {
                body.insert("transactionId".to_owned(), id.clone().into());
            }
            let path = path_of(calendar.as_ref())?;
            post_event(graph, &path, &body, &id, (before.start, before.end)).await?
        }
    };
    let except = before.repeat.as_ref().map(|repeat| repeat.except.clone()).unwrap_or_default();
    // A rule that is written again generates all its occurrences.
    if body.get("recurrence").is_some() && !except.is_empty() {
        leave_out(graph, &event, &except)
            .await
            .map_err(|error| half("the series was restored", error))?;
        event = again(graph, event).await;
    }
    keep_calendar(&mut event, calendar.as_ref());
    Ok(event)
}

/// Reads an event again after a change. Returns the given event if that fails, because the change
/// has been made.
async fn again(graph: &GraphAccount, event: Value) -> Value {
    let read = graph.get(&whole(graph, text(&event, "id"))).await;
    read.and_then(completed_event).unwrap_or(event)
}

/// Returns the error for a write of several steps that was interrupted between them.
fn half(done: &str, error: Error) -> Error {
    Error::new(
        ErrorKind::Network,
        format!("{done}, but not all excluded occurrences were deleted ({})", error.message()),
    )
    .next("look at it with calendar_search, and delete the rest")
}

async fn patch(
    graph: &GraphAccount,
    id: &EventId,
    version: Option<&str>,
    body: &Value,
) -> Result<Value> {
    let request = graph.mailbox_url(&at(id.as_str()), &[]);
    // Someone else may have changed it: the new version is ours if it has our content.
    let written = async || {
        let found = graph.there(&whole(graph, id.as_str())).await?;
        let is_ours = |found: &Value| {
            let another = version.is_none() || self::version(found) != version;
            another && has_values(Some(found), body)
        };
        Ok(found.filter(is_ours))
    };
    let answer = graph
        .write_for_sure(&Method::PATCH, &request, version, Some(body), written)
        .await
        .map_err(calendar_error)?;
    // The response may be empty, for example after an interrupted write.
    match answer.filter(|event| !text(event, "id").is_empty()) {
        Some(event) => completed_event(event),
        None => completed_event(graph.get(&whole(graph, id.as_str())).await?),
    }
}

/// Deletes occurrences from a series.
async fn leave_out(graph: &GraphAccount, series: &Value, except: &[EventTime]) -> Result<()> {
    let Some((first, last)) = body::span(except) else {
        return Ok(());
    };
    let untouched = |error: Error| {
        error
            .context("the series was written, but its excluded occurrences were not deleted")
            .next("look at the series, and delete them")
    };
    let path = format!("{}/instances", at(text(series, "id")));
    let (from, to) = (format!("{first}T00:00:00Z"), format!("{last}T00:00:00Z"));
    let query = [
        ("startDateTime", from.as_str()),
        ("endDateTime", &to),
        ("$select", OCCURRENCE),
        ("$top", TOP),
    ];
    let answer = graph.get(&graph.mailbox_url(&path, &query)).await.map_err(untouched)?;
    let found = graph.all(answer, usize::MAX, PAGES).await;
    let (occurrences, _) = found.map_err(untouched)?;
    let zone = zone(series);
    for occurrence in
        occurrences.iter().filter(|occurrence| body::is_out(occurrence, except, &zone))
    {
        let request = graph.mailbox_url(&at(text(occurrence, "id")), &[]);
        match graph.delete(&request, None).await {
            Ok(()) => {}
            // It was deleted before.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(untouched(calendar_error(error))),
        }
    }
    Ok(())
}

/// Deletes an event, or cancels it if it is a meeting that the account organizes.
pub async fn delete(
    graph: &GraphAccount,
    current: &Value,
    message: Option<&str>,
    notify: GuestNotice,
) -> Result<()> {
    let id = text(current, "id");
    check(id)?;
    let cancels = cancels(current);
    check_notice(notify, cancels)?;
    if !cancels {
        if attendees(current).next().is_some() && message.is_some() {
            return Err(Error::argument("only the organizer can cancel a meeting with a message")
                .next("decline it with calendar_respond and a comment, or leave out the message"));
        }
        let request = graph.mailbox_url(&at(id), &[]);
        let deleted = graph.delete(&request, version(current));
        return deleted.await.map_err(calendar_error);
    }
    // `cancel` takes no version, so the version is compared immediately before.
    check_unchanged(graph, current).await?;
    let request = graph.mailbox_url(&format!("{}/cancel", at(id)), &[]);
    let body = match message {
        Some(message) => json!({"comment": message}),
        None => json!({}),
    };
    // A cancelled meeting disappears from its organizer's calendar.
    let was_deleted = async || {
        let found = graph.there(&whole(graph, id)).await?;
        let stays = found.is_some_and(|found| !is(&found, "isCancelled"));
        Ok((!stays).then_some(Value::Null))
    };
    let cancelled = graph.write_for_sure(&Method::POST, &request, None, Some(&body), was_deleted);
    cancelled.await.map(drop).map_err(calendar_error)
}

/// Returns true if deleting an event cancels it for its guests.
pub fn cancels(current: &Value) -> bool {
    is(current, "isOrganizer") && attendees(current).next().is_some()
}

/// Checks that an event still has the version that was read, for calls without a version.
async fn check_unchanged(graph: &GraphAccount, current: &Value) -> Result<()> {
    let Some(version) = version(current) else {
        return Ok(());
    };
    let request = graph.mailbox_url(&at(text(current, "id")), &[("$select", "id")]);
    let now = graph.get(&request).await?;
    match self::version(&now) {
        Some(now) if now != version => {
            Err(Error::new(ErrorKind::Conflict, "it was changed meanwhile")
                .next("read it again, and repeat the change if it still fits"))
        }
        _ => Ok(()),
    }
}

/// Answers an invitation. Returns the event if it is still in the calendar.
pub async fn respond(
    graph: &GraphAccount,
    current: &Value,
    response: &InvitationReply,
) -> Result<Option<Value>> {
    let id = text(current, "id");
    check(id)?;
    if is(current, "isOrganizer") {
        return Err(Error::argument("it is your own event: there is nobody to answer")
            .next("change it with calendar_save, or cancel it with calendar_delete"));
    }
    if response.propose.is_some() {
        can_propose(current, response)?;
    }
    let response_requested = current.get("responseRequested") != Some(&Value::Bool(false));
    if !response_requested && response.comment.is_some() {
        return Err(Error::argument("the organizer requests no answers")
            .next("answer without a comment, and write to the organizer"));
    }
    let (action, state) = match response.answer {
        InvitationAnswer::Accepted => ("accept", "accepted"),
        InvitationAnswer::Declined => ("decline", "declined"),
        InvitationAnswer::Tentative => ("tentativelyAccept", "tentativelyAccepted"),
    };
    let mut body = json!({"sendResponse": response.notify && response_requested});
    if let Some(body) = body.as_object_mut() {
        if let Some(comment) = &response.comment {
            body.insert("comment".to_owned(), comment.as_str().into());
        }
        if let Some((from, to)) = response.propose {
            let slot = json!({"start": utc(from), "end": utc(to)});
            body.insert("proposedNewTime".to_owned(), slot);
        }
    }
    let request = graph.mailbox_url(&format!("{}/{action}", at(id)), &[]);
    let before = version(current);
    let answered = async || {
        let Some(found) = graph.there(&whole(graph, id)).await? else {
            // Outlook removes declined events from the calendar.
            let declined = response.answer == InvitationAnswer::Declined;
            return Ok(declined.then_some(Value::Null));
        };
        let now = text(nested(&found, "responseStatus"), "response");
        let another = before.is_none() || version(&found) != before;
        Ok((another && now.eq_ignore_ascii_case(state)).then_some(Value::Null))
    };
    let answered = graph.write_for_sure(&Method::POST, &request, None, Some(&body), answered);
    answered.await.map_err(calendar_error)?;
    if response.answer == InvitationAnswer::Declined {
        // Outlook removes declined events from the calendar.
        return Ok(None);
    }
    let mut event = again(graph, current.clone()).await;
    keep_calendar(&mut event, calendar_of(current).as_ref());
    Ok(Some(event))
}

fn can_propose(current: &Value, response: &InvitationReply) -> Result<()> {
    if response.answer == InvitationAnswer::Accepted {
        return Err(Error::argument("Outlook cannot propose another time when accepting")
            .next("use tentative or decline"));
    }
    if !response.notify {
        return Err(Error::argument("a proposal must notify the organizer").next("give notify=all"));
    }
    let takes = ["allowNewTimeProposals", "responseRequested"];
    if takes.iter().any(|key| current.get(*key) == Some(&Value::Bool(false))) {
        return Err(Error::argument("the organizer accepts no proposals")
            .next("answer without one, and write to the organizer"));
    }
    Ok(())
}

/// Forwards an invitation.
pub async fn forward(
    graph: &GraphAccount,
    current: &Value,
    to: &[String],
    comment: Option<&str>,
) -> Result<()> {
    let id = text(current, "id");
    check(id)?;
    let to: Vec<Value> =
        to.iter().map(|address| json!({"emailAddress": {"address": address.trim()}})).collect();
    let mut body = json!({"toRecipients": to});
    if let (Some(body), Some(comment)) = (body.as_object_mut(), comment) {
        body.insert("comment".to_owned(), comment.into());
    }
    let request = graph.mailbox_url(&format!("{}/forward", at(id)), &[]);
    // A lost forward cannot be looked up: it leaves no trace in the event.
    let forwarded = graph.write(&Method::POST, &request, None, Some(&body));
    forwarded.await.map(drop).map_err(calendar_error)
}

fn utc(at: Timestamp) -> Value {
    json!({"dateTime": at.strftime("%Y-%m-%dT%H:%M:%S").to_string(), "timeZone": "UTC"})
}

/// Returns Graph's name of the zone for whole days: the event's, or the mailbox's, because Outlook
/// shows a day of another zone as parts of two days. Requested only for whole days.
async fn day_zone(graph: &GraphAccount, change: &EventPatch, current: Option<&Value>) -> String {
    let days = matches!(change.time, Some((ZonedTime::Day(_), _)));
    let none = || "UTC".to_owned();
    if !days {
        return none();
    }
    let was_day = current.filter(|current| matches!(times(current).0, Some(EventTime::Day(_))));
    let own = was_day.map_or("", |current| text(current, "originalStartTimeZone"));
    if daysheet_core::event::time::find_zone(own).is_some() {
        return own.to_owned();
    }
    let settings = graph.get(&graph.mailbox_url("mailboxSettings", &[])).await;
    let settings = settings.unwrap_or_default();
    let zone = nested(&settings, "timeZone").as_str();
    let zone = zone.filter(|zone| daysheet_core::event::time::find_zone(zone).is_some());
    zone.map_or_else(none, str::to_owned)
}

fn version(event: &Value) -> Option<&str> {
    Some(text(event, VERSION)).filter(|version| !version.is_empty())
}

/// Returns the calendar that was added to an event.
fn calendar_of(event: &Value) -> Option<CalendarId> {
    event.get(CALENDAR).and_then(Value::as_str).map(CalendarId::from)
}

/// Adds the calendar to an event; Graph does not report it.
fn keep_calendar(event: &mut Value, calendar: Option<&CalendarId>) {
    events::put_in(event, calendar);
}

/// Returns a version 4 UUID.
fn transaction() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|_opaque| Error::new(ErrorKind::Internal, "the system random generator failed"))?;
    // The bits of version and variant (RFC 9562, 5.4).
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(text)
}

/// Explains a refused write: access may be missing to the calendar rather than to the account.
pub fn calendar_error(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Auth if error.message() == DENIED => Error::new(
            ErrorKind::Provider(403),
            "Outlook does not let you change this: the calendar may be read-only, or the sign-in \
             may lack calendar permissions",
        )
        .next(format!(
            "choose a calendar with access owner or writer, or {}",
            error.next_step().unwrap_or("sign in again")
        )),
        ErrorKind::Network | ErrorKind::Timeout => {
            Error::new(error.kind(), error.message()).next("check before retrying")
        }
        _ => error,
    }
}
