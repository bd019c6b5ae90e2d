//! Writes to Google Calendar: changes as request bodies. No I/O.
//!
//! The body for a new event contains the given fields. The body for an existing event contains the
//! differences, with null for fields to clear, and keeps everything that Google has on each guest.

use std::fmt::Write as _;

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::event::{EventGuest, EventPatch, EventVisibility, InvitationAnswer, ShowAs};
use daysheet_core::provider::calendar::InvitationReply;
use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::facts::{colour_number, flag, list, read_moment, read_when};
use crate::json::text;

/// The earliest reminder that Google accepts, in minutes before an event: four weeks.
const MAX_REMINDER: u32 = 40_320;

/// Returns the body of a new event. `request` identifies the request for an online meeting; `zone`
/// is the calendar's zone.
pub fn new(change: &EventPatch, request: &str, zone: &str) -> Result<Value> {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    // Google has no whole-day events of these types: a day becomes its first instant.
    let timed = |requested: &ZonedTime| match (requested, change.show) {
        (ZonedTime::Day(day), Some(ShowAs::Oof | ShowAs::Focus)) => {
            ZonedTime::At(day.at(0, 0, 0, 0), zone.to_owned())
        }
        _ => requested.clone(),
    };
    for (key, requested) in [
        ("summary", &change.title),
        ("location", &change.place),
        ("description", &change.notes),
        ("iCalUID", &change.uid),
    ] {
        if let Some(requested) = requested.as_ref().filter(|requested| !requested.is_empty()) {
            put(key, requested.as_str().into());
        }
    }
    if let Some((start, end)) = &change.time {
        put("start", moment(&timed(start)));
        put("end", moment(&timed(end)));
    }
    if let Some(original) = change.original {
        put("originalStartTime", moment(&original.in_utc()));
    }
    if let Some(organizer) = &change.organizer {
        put("organizer", person(organizer));
    }
    if let Some(guests) = change.guests.as_ref().filter(|guests| !guests.is_empty()) {
        put("attendees", guests.iter().map(|one| attendee(one, None)).collect());
    }
    if let Some(Some(repeat)) = &change.repeat {
        let start = change.time.as_ref().map(|(start, _)| timed(start));
        put("recurrence", recurrence(repeat, start));
    }
    if change.online == Some(true) {
        put("conferenceData", meeting(request));
    }
    if let Some(visibility) = change.visibility {
        put("visibility", visible(visibility).into());
    }
    if let Some(reminder) = change.reminder {
        put("reminders", reminders(reminder)?);
    }
    if let Some(name) = change.category.as_ref().filter(|name| !name.is_empty()) {
        put("colorId", colour_number(name)?.into());
    }
    show_new(&mut body, change)?;
    Ok(Value::Object(body))
}

/// Returns the body that applies a change to an existing event; empty if nothing differs.
pub fn patch_body(current: &Value, change: &EventPatch, request: &str) -> Result<Value> {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        let now = current.get(key).unwrap_or(&Value::Null);
        // An empty body tells the caller that no request is needed.
        if *now != value {
            body.insert(key.to_owned(), value);
        }
    };
    for (key, requested) in
        [("summary", &change.title), ("location", &change.place), ("description", &change.notes)]
    {
        if let Some(requested) = requested {
            put(key, or_null(requested));
        }
    }
    if let Some((start, end)) = &change.time
        && !(same(current, "start", start) && same(current, "end", end))
    {
        // Google refuses a date for one of them and a time for the other.
        put("start", replacement(start, current.get("start")));
        put("end", replacement(end, current.get("end")));
    }
    if let Some(guests) = &change.guests {
        put("attendees", merge_guests(current, guests)?);
    }
    match &change.repeat {
        None => {}
        Some(None) => put("recurrence", Value::Null),
        Some(Some(repeat)) => {
            let start = match &change.time {
                Some((start, _)) => Some(start.clone()),
                None => current.get("start").and_then(read_moment),
            };
            put("recurrence", recurrence(repeat, start));
        }
    }
    let meets = current.get("conferenceData").is_some_and(|one| !one.is_null());
    match change.online {
        Some(true) if !meets => put("conferenceData", meeting(request)),
        Some(false) => put("conferenceData", Value::Null),
        _ => {}
    }
    if let Some(visibility) = change.visibility {
        // Google leaves the default out.
        let now = Some(text(current, "visibility")).filter(|now| !now.is_empty());
        if now.unwrap_or("default") != visible(visibility) {
            put("visibility", visible(visibility).into());
        }
    }
    if let Some(reminder) = change.reminder {
        put("reminders", reminders(reminder)?);
    }
    match change.category.as_deref() {
        None => {}
        Some("") => put("colorId", Value::Null),
        Some(name) => put("colorId", colour_number(name)?.into()),
    }
    show_changed(&mut body, current, change.show)?;
    Ok(Value::Object(body))
}

/// The members of an event that an undo restores.
const RESTORED: &[&str] = &[
    "status",
    "summary",
    "description",
    "location",
    "start",
    "end",
    "recurrence",
    "attendees",
    "transparency",
    "visibility",
    "colorId",
    "reminders",
    "conferenceData",
    "attachments",
    "source",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
    "outOfOfficeProperties",
    "focusTimeProperties",
    "workingLocationProperties",
];

/// Returns the body that restores the earlier state of an event; empty if nothing differs.
pub fn restored(before: &Value, now: &Value) -> Value {
    let mut body = Map::new();
    for key in RESTORED {
        let (was, is) = (before.get(*key), now.get(*key));
        let value = match (was, is) {
            _ if was == is => continue,
            (Some(Value::Object(was)), Some(Value::Object(is))) => {
                // A patch would keep members that are not named.
                let gone = is.keys().filter(|key| !was.contains_key(*key));
                let gone = gone.map(|key| (key.clone(), Value::Null));
                was.clone().into_iter().chain(gone).collect()
            }
            (was, _) => was.cloned().unwrap_or_default(),
        };
        body.insert((*key).to_owned(), value);
    }
    Value::Object(body)
}

/// Returns the body that answers an invitation. Times in the comment are in `zone`.
pub fn response_body(
    current: &Value,
    response: &InvitationReply,
    own: &str,
    zone: &TimeZone,
) -> Result<Value> {
    let mut people = list(current, "attendees").to_vec();
    let me = people.iter_mut().find(|one| is_own(one, own));
    let Some(me) = me.and_then(Value::as_object_mut) else {
        return Err(Error::argument("the account is not a guest of this event")
            .next("answer the copy in your own calendar, or change it with calendar_save"));
    };
    let word = match response.answer {
        InvitationAnswer::Accepted => "accepted",
        InvitationAnswer::Declined => "declined",
        InvitationAnswer::Tentative => "tentative",
    };
    me.insert("responseStatus".to_owned(), word.into());
    // Google's API cannot propose a time: it goes into the comment.
    let mut comment = response.comment.clone().unwrap_or_default();
    if let Some((from, to)) = response.propose {
        if !comment.is_empty() {
            comment.push('\n');
        }
        let (from, to) = (EventTime::At(from), EventTime::At(to));
        let _ = write!(
            comment,
            "proposed: {} to {} ({})",
            time::start(from, zone),
            time::end(from, to, zone),
            zone.iana_name().unwrap_or("UTC")
        );
    }
    if !comment.is_empty() {
        me.insert("comment".to_owned(), comment.into());
    }
    if !flag(current, "attendeesOmitted") {
        return Ok(json!({"attendees": people}));
    }
    // Google updates only the own answer if the list is declared incomplete.
    people.retain(|one| is_own(one, own));
    Ok(json!({"attendeesOmitted": true, "attendees": people}))
}

/// Returns the body that adds guests to an event.
pub fn invited(current: &Value, to: &[String]) -> Result<Value> {
    whole(current)?;
    let mut people = list(current, "attendees").to_vec();
    // A patch replaces the whole list, so the existing guests are sent, too.
    for address in to {
        let known = |one: &Value| text(one, "email").eq_ignore_ascii_case(address);
        if !people.iter().any(known) {
            people.push(json!({"email": address}));
        }
    }
    Ok(json!({"attendees": people}))
}

/// Returns the parts of a body that the stored event will show: a meeting's link is created
/// asynchronously, and a partial guest list is not stored as such.
pub fn lasting(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        members.remove("attendeesOmitted");
        if members.get("conferenceData").is_some_and(Value::is_object) {
            members.remove("conferenceData");
        }
    }
    body
}

fn is_own(person: &Value, own: &str) -> bool {
    flag(person, "self") || text(person, "email").eq_ignore_ascii_case(own)
}

fn visible(visibility: EventVisibility) -> &'static str {
    match visibility {
        EventVisibility::Default => "default",
        EventVisibility::Public => "public",
        EventVisibility::Private => "private",
        EventVisibility::Confidential => "confidential",
    }
}

fn reminders(minutes: Option<u32>) -> Result<Value> {
    match minutes {
        Some(minutes) if minutes > MAX_REMINDER => Err(Error::argument(format!(
            "Google reminds at most {MAX_REMINDER} minutes (four weeks) before"
        ))
        .next("give a shorter reminder")),
        Some(minutes) => Ok(json!({
            "useDefault": false,
            "overrides": [{"method": "popup", "minutes": minutes}],
        })),
        None => Ok(json!({"useDefault": false, "overrides": []})),
    }
}

fn meeting(request: &str) -> Value {
    json!({"createRequest": {
        "requestId": request,
        "conferenceSolutionKey": {"type": "hangoutsMeet"},
    }})
}

/// Returns a date, or a local time with its zone and its offset. The offset makes a repeated local
/// time unambiguous, and lets readers ignore the zone.
fn moment(requested: &ZonedTime) -> Value {
    match (requested, requested.when()) {
        (ZonedTime::At(local, zone), EventTime::At(at)) => {
            let known = time::find_zone(zone).unwrap_or(TimeZone::UTC);
            let offset = known.to_offset(at);
            let offset = if offset.is_zero() {
                "Z".to_owned()
            } else {
                Zoned::new(at, known).strftime("%:z").to_string()
            };
            let local = local.strftime("%Y-%m-%dT%H:%M:%S");
            json!({"dateTime": format!("{local}{offset}"), "timeZone": zone})
        }
        (ZonedTime::Day(day), _) => json!({"date": day.to_string()}),
        (_, EventTime::Day(day)) => json!({"date": day.to_string()}),
    }
}

fn recurrence(repeat: &EventRecurrence, start: Option<ZonedTime>) -> Value {
    let start = start.unwrap_or_else(|| ZonedTime::At(DateTime::default(), "UTC".to_owned()));
    repeat.lines(&start).into()
}

/// Returns [`moment`] with nulls for the other members of the present time: a patch would keep
/// those, and Google refuses a date together with a time of day.
fn replacement(requested: &ZonedTime, now: Option<&Value>) -> Value {
    let mut value = moment(requested);
    if let Some(parts) = value.as_object_mut() {
        for key in ["date", "dateTime", "timeZone"] {
            let there = now.and_then(|now| now.get(key));
            if there.is_some_and(|there| !there.is_null()) {
                parts.entry(key).or_insert(Value::Null);
            }
        }
    }
    value
}

/// Returns true if the event already has this time, in this zone.
fn same(current: &Value, key: &str, requested: &ZonedTime) -> bool {
    let Some(now) = current.get(key) else {
        return false;
    };
    let zone = match requested {
        ZonedTime::Day(_) => return read_when(now) == Some(requested.when()),
        ZonedTime::At(_, zone) => zone,
    };
    read_when(now) == Some(requested.when()) && text(now, "timeZone") == zone
}

fn person(guest: &EventGuest) -> Value {
    match &guest.name {
        Some(name) => json!({"email": guest.address, "displayName": name}),
        None => json!({"email": guest.address}),
    }
}

/// Returns a guest with everything that Google has on them.
fn attendee(guest: &EventGuest, known: Option<&Value>) -> Value {
    let mut value = known.cloned().unwrap_or_else(|| person(guest));
    let Some(object) = value.as_object_mut() else {
        return value;
    };
    // Only a new guest may be marked as a room.
    if known.is_none() && guest.room {
        object.insert("resource".to_owned(), true.into());
    }
    if guest.optional {
        object.insert("optional".to_owned(), true.into());
    } else {
        object.remove("optional");
    }
    if let (None, Some(answer)) = (known, guest.answer) {
        let word = match answer {
            InvitationAnswer::Accepted => "accepted",
            InvitationAnswer::Declined => "declined",
            InvitationAnswer::Tentative => "tentative",
        };
        object.insert("responseStatus".to_owned(), word.into());
    }
    value
}

/// Returns the guest list with the organizer, who always stays.
fn merge_guests(current: &Value, guests: &[EventGuest]) -> Result<Value> {
    whole(current)?;
    let known = list(current, "attendees");
    let mut people: Vec<Value> =
        known.iter().filter(|one| flag(one, "organizer")).cloned().collect();
    let mut new_guests: Vec<Value> = guests
        .iter()
        .map(|guest| {
            let one = known.iter().find(|one| guest.address.is(text(one, "email")));
            attendee(guest, one)
        })
        .collect();
    // Existing guests keep their positions, so that an unchanged list is not sent.
    let place = |one: &Value| {
        let address = text(one, "email");
        known
            .iter()
            .position(|known| text(known, "email").eq_ignore_ascii_case(address))
            .unwrap_or(known.len())
    };
    people.append(&mut new_guests);
    people.sort_by_key(place);
    people.dedup_by(|one, other| {
        text(one, "email").eq_ignore_ascii_case(text(other, "email"))
            && !text(one, "email").is_empty()
    });
    match (people.is_empty(), known.is_empty()) {
        // Null and an empty list would differ, and clear a list that does not exist.
        (true, true) => Ok(current.get("attendees").cloned().unwrap_or_default()),
        _ => Ok(Value::Array(people)),
    }
}

/// Refuses to change an incomplete guest list.
fn whole(current: &Value) -> Result<()> {
    if flag(current, "attendeesOmitted") {
        return Err(Error::argument("Google does not list all guests of this event")
            .next("change its people in Google Calendar"));
    }
    Ok(())
}

/// Sets the event type for `show`, with the fields that Google requires for it.
fn show_new(body: &mut Map<String, Value>, change: &EventPatch) -> Result<()> {
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    let (kind, name) = match change.show {
        None | Some(ShowAs::Busy) => return Ok(()),
        Some(ShowAs::Free) => {
            put("transparency", "transparent".into());
            return Ok(());
        }
        Some(ShowAs::Tentative) => {
            put("status", "tentative".into());
            return Ok(());
        }
        Some(ShowAs::Oof) => ("outOfOffice", "out-of-office time"),
        Some(ShowAs::Focus) => ("focusTime", "focus time"),
        Some(ShowAs::Elsewhere) => ("workingLocation", "a working location"),
    };
    let asks = change.guests.as_ref().is_some_and(|guests| !guests.is_empty());
    if asks || change.online == Some(true) {
        return Err(Error::argument(format!(
            "at Google, {name} has no guests and no online meeting"
        ))
        .next("leave out people and online, or use show=busy"));
    }
    put("eventType", kind.into());
    match kind {
        // By default Google would decline conflicting invitations.
        "outOfOffice" => {
            put("outOfOfficeProperties", json!({"autoDeclineMode": "declineNone"}));
        }
        "focusTime" => {
            put(
                "focusTimeProperties",
                json!({"autoDeclineMode": "declineNone", "chatStatus": "doNotDisturb"}),
            );
        }
        _ => {
            let place = change.place.as_deref().filter(|place| !place.is_empty());
            let properties = match place {
                Some(place) => {
                    json!({"type": "customLocation", "customLocation": {"label": place}})
                }
                None => json!({"type": "homeOffice", "homeOffice": {}}),
            };
            put("workingLocationProperties", properties);
            // Google accepts working locations only with these two values.
            put("transparency", "transparent".into());
            put("visibility", "public".into());
        }
    }
    Ok(())
}

fn show_changed(
    body: &mut Map<String, Value>,
    current: &Value,
    show: Option<ShowAs>,
) -> Result<()> {
    let Some(show) = show else {
        return Ok(());
    };
    let now = match text(current, "eventType") {
        "outOfOffice" => Some(ShowAs::Oof),
        "focusTime" => Some(ShowAs::Focus),
        "workingLocation" => Some(ShowAs::Elsewhere),
        _ => None,
    };
    if now == Some(show) {
        return Ok(());
    }
    // `eventType` is fixed at creation.
    if now.is_some() || matches!(show, ShowAs::Oof | ShowAs::Focus | ShowAs::Elsewhere) {
        return Err(Error::argument(
            "Google cannot change the kind of an existing event (oof, focus, elsewhere)",
        )
        .next("create a new event and delete this one"));
    }
    let requested_word = |key: &str, usual: &str, word: &str| {
        let now = Some(text(current, key)).filter(|now| !now.is_empty());
        (now.unwrap_or(usual) != word).then(|| Value::from(word))
    };
    let (transparency, status) = match show {
        ShowAs::Free => ("transparent", "confirmed"),
        ShowAs::Tentative => ("opaque", "tentative"),
        _ => ("opaque", "confirmed"),
    };
    if let Some(word) = requested_word("transparency", "opaque", transparency) {
        body.insert("transparency".to_owned(), word);
    }
    if let Some(word) = requested_word("status", "confirmed", status) {
        body.insert("status".to_owned(), word);
    }
    Ok(())
}

fn or_null(requested: &str) -> Value {
    match requested {
        "" => Value::Null,
        requested => requested.into(),
    }
}

/// Returns the whole event with a change applied (RFC 7396), for changes that clear a field:
/// Google's published contract has no null, so the whole event is sent without that field. `None`
/// if the change clears nothing, or the event is incomplete here.
pub fn without_nulls(current: &Value, change: &Value) -> Option<Value> {
    if !clears(change) || flag(current, "attendeesOmitted") {
        return None;
    }
    let mut whole = current.clone();
    merge(&mut whole, change);
    if let Some(keys) = whole.as_object_mut() {
        // Fields that the adapter has added, or that follow from others.
        keys.remove("calendarId");
        if !keys.contains_key("conferenceData") {
            keys.remove("hangoutLink");
        }
    }
    Some(whole)
}

fn clears(change: &Value) -> bool {
    match change {
        Value::Null => true,
        Value::Object(keys) => keys.values().any(clears),
        _ => false,
    }
}

fn merge(into: &mut Value, change: &Value) {
    let (Some(keys), Some(changes)) = (into.as_object_mut(), change.as_object()) else {
        *into = change.clone();
        return;
    };
    for (key, value) in changes {
        if value.is_null() {
            keys.remove(key);
        } else {
            merge(keys.entry(key.as_str()).or_insert_with(|| json!({})), value);
        }
    }
}
