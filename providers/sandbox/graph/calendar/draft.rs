//! Changes of an event that a request body describes.

use daysheet_core::event::time::ZonedTime;
use daysheet_core::event::{EventGuest, EventVisibility, ShowAs};
use jiff::civil::DateTime;
use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value};

use super::body::{TEAMS, is_html, without_blob};
use super::recurrence;
use crate::graph::error::{GraphError, invalid_property, invalid_recipients, unknown_zone};
use crate::graph::ids::named_guid;
use crate::graph::zones::{RequestedZone, iana_name};
use crate::store::calendars::{StoredEvent, same};

/// The maximum number of people in a meeting, as at Exchange.
const MAX_PEOPLE: usize = 500;

/// Properties that are only stored and returned.
const KEPT: [&str; 3] = ["importance", "allowNewTimeProposals", "responseRequested"];

/// A local time with the IANA name of its zone.
type LocalTime = (DateTime, String);

/// The body of an event.
pub(super) struct EventDraft {
    members: Map<String, Value>,
}

impl EventDraft {
    /// Wraps a body that was checked against the type of events.
    pub fn new(members: Map<String, Value>) -> Self {
        Self { members }
    }

    /// Returns the id that prevents a repeated request from creating another event.
    pub fn transaction(&self) -> Option<&str> {
        self.text("transactionId")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Value::as_str)
    }

    fn truth(&self, name: &str) -> Option<bool> {
        self.members.get(name).and_then(Value::as_bool)
    }

    /// Applies the body to an event. `zone` is the calendar's zone, in which its days begin;
    /// `owner` is the calendar's owner.
    pub fn apply(
        &self,
        event: &mut StoredEvent,
        zone: &str,
        owner: &str,
    ) -> Result<(), GraphError> {
        // Times come first: a recurrence is checked against the start.
        self.times(event, zone)?;
        self.recurrence(event, zone)?;
        if let Some(title) = self.members.get("subject") {
            event.title = title.as_str().unwrap_or_default().to_owned();
        }
        self.place(event);
        self.guests(event, owner)?;
        if let Some(show) = self.text("showAs") {
            event.show = match show {
                "free" => ShowAs::Free,
                "tentative" => ShowAs::Tentative,
                "oof" => ShowAs::Oof,
                "workingElsewhere" => ShowAs::Elsewhere,
                _ => ShowAs::Busy,
            };
        }
        if let Some(sensitivity) = self.text("sensitivity") {
            event.visibility = match sensitivity {
                "private" => EventVisibility::Private,
                "confidential" => EventVisibility::Confidential,
                _ => EventVisibility::Default,
            };
            let member = ("sensitivity".to_owned(), sensitivity.into());
            event.more.extend([member]);
        }
        self.reminder(event)?;
        if let Some(categories) = self.members.get("categories").and_then(Value::as_array) {
            let names = categories.iter().filter_map(Value::as_str);
            event.categories = names.map(str::to_owned).collect();
        }
        for name in KEPT {
            if let Some(value) = self.members.get(name).filter(|value| !value.is_null()) {
                event.more.insert(name.to_owned(), value.clone());
            }
        }
        self.body(event);
        // An online meeting cannot be turned off by this property: it ends when the Teams part is
        // removed from the body.
        if self.truth("isOnlineMeeting") == Some(true) && event.link.is_none() {
            event.link = Some(teams_link(&event.uid));
        }
        Ok(())
    }

    /// Returns the start or end, if the body has it.
    fn time(&self, name: &str) -> Result<Option<LocalTime>, GraphError> {
        let Some(time) = self.members.get(name).filter(|time| time.is_object()) else {
            return Ok(None);
        };
        parse_time(time).map(Some)
    }

    fn times(&self, event: &mut StoredEvent, zone: &str) -> Result<(), GraphError> {
        let was_whole = matches!(event.start, ZonedTime::Day(_));
        let whole = self.truth("isAllDay").unwrap_or(was_whole);
        let (start, end) = (self.time("start")?, self.time("end")?);
        if start.is_none() && end.is_none() && whole == was_whole {
            return Ok(());
        }
        // One of the two may be missing, and `isAllDay` may be changed alone.
        let (start, start_zone) = start.unwrap_or_else(|| local(&event.start, zone));
        let (end, end_zone) = end.unwrap_or_else(|| local(&event.end, zone));
        let (first, last) = if whole {
            let midnight = |time: DateTime| time.time() == jiff::civil::Time::midnight();
            // Exchange refuses whole days that do not begin and end at midnight in one zone.
            if !midnight(start) || !midnight(end) || start_zone != end_zone || end <= start {
                return Err(invalid_property());
            }
            (ZonedTime::Day(start.date()), ZonedTime::Day(end.date()))
        } else {
            (ZonedTime::At(start, start_zone), ZonedTime::At(end, end_zone))
        };
        let at = |moment: &ZonedTime| moment.when().instant(&jiff::tz::TimeZone::UTC);
        if at(&last) < at(&first) {
            return Err(invalid_property());
        }
        // A series stays on the days of its rule, unless the body has a rule as well.
        let day = |moment: &ZonedTime| local(moment, zone).0.date();
        let moved = day(&first) != day(&event.start);
        let ruled = self.members.contains_key("recurrence");
        if event.repeat.is_some() && moved && !ruled {
            return Err(invalid_property());
        }
        if first != event.start
            && let Some(repeat) = &mut event.repeat
        {
            // The deleted occurrences were at times at which the series no longer happens.
            repeat.except.clear();
        }
        (event.start, event.end) = (first, last);
        Ok(())
    }

    fn recurrence(&self, event: &mut StoredEvent, zone: &str) -> Result<(), GraphError> {
        let recurrence = match self.members.get("recurrence") {
            None => return Ok(()),
            // Null ends the series and keeps its first occurrence as a single event.
            Some(Value::Null) => {
                event.repeat = None;
                return Ok(());
            }
            Some(recurrence) => recurrence,
        };
        // An exception cannot become a series.
        if event.instead_of.is_some() {
            return Err(invalid_property());
        }
        let start = local(&event.start, zone).0.date();
        let (mut repeat, first) = recurrence::read(recurrence, start)?;
        // If only the end of the rule changes, deleted occurrences stay deleted.
        if let Some(before) = &event.repeat
            && endless(&before.rule) == endless(&repeat.rule)
        {
            repeat.except.clone_from(&before.except);
        }
        // If the pattern does not allow the start, the event moves to the first day that it allows.
        let later = start.duration_until(first);
        event.start = shift(&event.start, later);
        event.end = shift(&event.end, later);
        event.repeat = Some(repeat);
        Ok(())
    }

    fn place(&self, event: &mut StoredEvent) {
        if let Some(place) = self.members.get("location") {
            let name = place.get("displayName").and_then(Value::as_str);
            event.place = name.unwrap_or_default().to_owned();
        }
    }

    fn guests(&self, event: &mut StoredEvent, owner: &str) -> Result<(), GraphError> {
        let Some(attendees) = self.members.get("attendees").and_then(Value::as_array) else {
            return Ok(());
        };
        if attendees.len() > MAX_PEOPLE {
            return Err(invalid_property());
        }
        let mut guests: Vec<EventGuest> = Vec::new();
        for attendee in attendees {
            let kind = attendee.get("type").and_then(Value::as_str);
            let (name, address) = person(attendee)?;
            let known = guests.iter().any(|guest| guest.address.is(&address));
            // Exchange does not list the organizer among the attendees.
            if known || event.organizer.address.is(&address) {
                continue;
            }
            guests.push(EventGuest {
                // Answers come from the guests alone; those in a body are ignored.
                answer: event.guest(&address).and_then(|guest| guest.answer),
                me: same(&address, owner),
                name,
                address: address.into(),
                optional: kind == Some("optional"),
                room: kind == Some("resource"),
                ..EventGuest::default()
            });
        }
        event.guests = guests;
        Ok(())
    }

    fn reminder(&self, event: &mut StoredEvent) -> Result<(), GraphError> {
        let minutes = self.members.get("reminderMinutesBeforeStart");
        let minutes = minutes.and_then(Value::as_i64);
        let minutes = match minutes.map(u32::try_from) {
            Some(Err(_)) => return Err(invalid_property()),
            Some(Ok(minutes)) => Some(minutes),
            None => None,
        };
        match (self.truth("isReminderOn"), minutes) {
            (Some(false), _) => event.reminder = Some(None),
            // Minutes alone do not turn on a reminder that is off.
            (on, Some(minutes)) if on == Some(true) || event.reminder != Some(None) => {
                event.reminder = Some(Some(minutes));
            }
            (Some(true), None) if event.reminder == Some(None) => event.reminder = None,
            _ => {}
        }
        Ok(())
    }

    fn body(&self, event: &mut StoredEvent) {
        let Some(body) = self.members.get("body") else {
            return;
        };
        let content = body.get("content").and_then(Value::as_str);
        let html = body.get("contentType").and_then(Value::as_str) == Some("html");
        let content = content.unwrap_or_default();
        // The details for joining are added when the event is read, so they are not stored.
        let (notes, joinable) = if html {
            without_blob(content)
        } else {
            (content.to_owned(), content.contains(TEAMS))
        };
        event.notes = if html || !is_html(&notes) {
            notes
        } else {
            html_escape::encode_text(&notes).replace('\n', "<br>")
        };
        let teams = event.link.as_deref().is_some_and(|link| link.starts_with(TEAMS));
        // As at Exchange, a new description without the joining details removes the online meeting.
        if teams && !joinable {
            event.link = None;
        }
    }
}

/// Parses a time with its zone, UTC if there is none.
pub(crate) fn parse_time(time: &Value) -> Result<LocalTime, GraphError> {
    let text = time.get("dateTime").and_then(Value::as_str);
    let text = text.ok_or_else(invalid_property)?;
    let name = time.get("timeZone").and_then(Value::as_str);
    let name = name.filter(|name| !name.is_empty()).unwrap_or("UTC");
    let zone = RequestedZone::from_name(name)?;
    let iana = iana_name(name).ok_or_else(|| unknown_zone(name))?;
    // The offset in a time determines the instant; the zone only says where it is shown.
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok((zone.zone.to_datetime(at), iana));
    }
    let local: DateTime = text.parse().map_err(|_| invalid_property())?;
    Ok((local, iana))
}

/// Returns the name and address of a recipient.
pub(crate) fn person(recipient: &Value) -> Result<(Option<String>, String), GraphError> {
    let text = |name: &str| {
        let pointer = format!("/emailAddress/{name}");
        let text = recipient.pointer(&pointer).and_then(Value::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    let address = text("address").ok_or_else(invalid_recipients)?;
    let good = address
        .split_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && host.contains('.') && !host.contains('@'));
    if good && !address.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
        Ok((text("name").map(str::to_owned), address.to_owned()))
    } else {
        Err(invalid_recipients())
    }
}

/// Returns a time as a local one. Days begin in `zone`.
fn local(moment: &ZonedTime, zone: &str) -> LocalTime {
    match moment {
        ZonedTime::Day(day) => (day.at(0, 0, 0, 0), zone.to_owned()),
        ZonedTime::At(local, zone) => (*local, zone.clone()),
    }
}

/// Returns the same local time on a later day.
fn shift(moment: &ZonedTime, later: jiff::SignedDuration) -> ZonedTime {
    let days = later.as_hours() / 24;
    match moment {
        ZonedTime::Day(day) => ZonedTime::Day(day.saturating_add(days.days())),
        ZonedTime::At(local, zone) => {
            ZonedTime::At(local.saturating_add(days.days()), zone.clone())
        }
    }
}

/// Returns the parts of a rule other than its end.
fn endless(rule: &str) -> Vec<&str> {
    let parts = rule.split(';');
    let mut parts: Vec<&str> =
        parts.filter(|part| !part.starts_with("UNTIL=") && !part.starts_with("COUNT=")).collect();
    // The parts of a rule may come in any order (RFC 5545, 3.3.10).
    parts.sort_unstable();
    parts
}

/// Returns the address of the Teams meeting for a UID.
fn teams_link(uid: &str) -> String {
    let meeting = named_guid(&format!("meeting {uid}"));
    format!("{TEAMS}19%3ameeting_{meeting}%40thread.v2/0?context=%7b%7d")
}
