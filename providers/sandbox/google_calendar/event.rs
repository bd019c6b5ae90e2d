//! Google Calendar's JSON of an event in a calendar.
//!
//! Times have the offset of the answer's zone at that time. The zone is the calendar's, unless the
//! request names another. Properties that only Google has (`StoredEvent::more`, under [`OWN`]) were
//! checked when they were written.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use crate::store::calendars::{CalendarAccess, SandboxCalendars, StoredCalendar, StoredEvent};

/// The key of the properties that only Google's half stores for an event.
pub(super) const OWN: &str = "google";

/// The key in these that is true if the organizer is also a guest and has not answered.
pub(super) const ORGANIZER_ASKED: &str = "organizerAsked";

/// The key of the reminders as sent.
pub(super) const REMINDERS: &str = "reminders";

/// The stored properties that are returned as sent.
pub(super) const AS_SENT: [&str; 4] =
    ["guestsCanInviteOthers", "guestsCanModify", "source", "attachments"];

/// The event types with their names and the names of their properties.
pub(super) const TYPES: [(ShowAs, &str, &str); 3] = [
    (ShowAs::Oof, "outOfOffice", "outOfOfficeProperties"),
    (ShowAs::Focus, "focusTime", "focusTimeProperties"),
    (ShowAs::Elsewhere, "workingLocation", "workingLocationProperties"),
];

/// The base address of Google's meetings.
pub(super) const MEET: &str = "https://meet.google.com/";

/// The calendar and the zone in which events are shown.
pub(super) struct EventView<'a> {
    /// All calendars.
    pub agenda: &'a SandboxCalendars,
    /// The calendar.
    pub calendar: &'a StoredCalendar,
    /// The zone of the answer.
    pub zone: TimeZone,
}

/// Returns the etag of a mark, which differs after every change.
pub(super) fn etag(mark: u64) -> String {
    // A number of 16 digits, as in Google's own etags.
    format!("\"{}\"", 3_400_000_000_000_000 + mark * 2_000)
}

/// Returns an instant in the form of `created` and `updated`.
pub(super) fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Returns an instant with the offset of a zone.
pub(super) fn date_time(at: Timestamp, zone: &TimeZone) -> String {
    let zoned = at.to_zoned(zone.clone());
    // Google writes `Z` for every zone without an offset, and `+01:00` otherwise.
    if zoned.offset().is_zero() {
        zoned.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    } else {
        zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}

/// Returns the properties that Google's half stores for an event.
pub(super) fn own(event: &StoredEvent) -> Option<&Map<String, Value>> {
    event.more.get(OWN)?.as_object()
}

/// Returns a property that Google's half stores for one person's copy, such as [`REMINDERS`].
pub(super) fn private<'a>(event: &'a StoredEvent, key: &str) -> Option<&'a Value> {
    event.private.get(OWN)?.get(key)
}

/// Returns true if a calendar's owner may change an event for everyone.
pub(super) fn is_organizer(event: &StoredEvent, calendar: &StoredCalendar) -> bool {
    let organizer = &event.organizer.address;
    organizer.is_empty() || organizer.is(&calendar.owner) || organizer.is(&calendar.id)
}

impl EventView<'_> {
    /// Returns an event with all properties.
    pub fn event(&self, event: &StoredEvent) -> Value {
        let mut out = self.head(event);
        // A calendar shared as free/busy only shows when it is busy.
        if self.calendar.access == CalendarAccess::Busy {
            out.insert("start".to_owned(), self.time(&event.start));
            out.insert("end".to_owned(), self.time(&event.end));
            out.insert("visibility".to_owned(), "private".into());
            return out.into();
        }
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                out.insert(key.to_owned(), value);
            }
        };
        let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
        put("htmlLink", self.html_link(event).into());
        put("created", stamp(event.created).into());
        put("updated", stamp(event.updated).into());
        put("summary", text(&event.title));
        put("description", text(&event.notes));
        put("location", text(&event.place));
        let colour = event.colour.map(|number| number.to_string());
        put("colorId", colour.map_or(Value::Null, Value::from));
        put("creator", self.person(&event.organizer, false));
        put("organizer", self.person(&event.organizer, true));
        put("start", self.time(&event.start));
        put("end", self.time(&event.end));
        if let Some(repeat) = &event.repeat {
            put("recurrence", repeat.lines(&event.start).into());
        }
        if let Some((series, original)) = &event.instead_of {
            put("recurringEventId", series.as_str().into());
            put("originalStartTime", self.original(event, series, *original));
        }
        // Google has only opaque and transparent; the other states are event types.
        let free = matches!(event.show, ShowAs::Free | ShowAs::Elsewhere);
        put("transparency", if free { "transparent".into() } else { Value::Null });
        put("visibility", visibility(event.visibility));
        put("iCalUID", event.uid.as_str().into());
        put("sequence", event.sequence.into());
        let attendees = self.attendees(event);
        put("attendees", attendees);
        let (link, conference) = conference(event);
        put("hangoutLink", link);
        put("conferenceData", conference);
        let own = own(event);
        for key in AS_SENT {
            put(key, own.and_then(|own| own.get(key)).cloned().unwrap_or_default());
        }
        put("reminders", reminders(event));
        let kind = TYPES.iter().find(|(show, ..)| *show == event.show);
        if let Some((_, _, key)) = kind {
            put(key, own.and_then(|own| own.get(*key)).cloned().unwrap_or_else(|| usual(event)));
        }
        put("eventType", kind.map_or("default", |(_, kind, _)| kind).into());
        out.into()
    }

    /// Returns a deleted event as in lists, with no more than its identity.
    pub fn tombstone(&self, event: &StoredEvent) -> Value {
        let mut out = self.head(event);
        out.insert("status".to_owned(), "cancelled".into());
        if let Some((series, original)) = &event.instead_of {
            out.insert("recurringEventId".to_owned(), series.as_str().into());
            let original = self.original(event, series, *original);
            out.insert("originalStartTime".to_owned(), original);
        }
        out.into()
    }

    /// Returns the properties that every event has.
    fn head(&self, event: &StoredEvent) -> Map<String, Value> {
        let status = match (event.deleted, event.show) {
            (true, _) => "cancelled",
            (false, ShowAs::Tentative) => "tentative",
            (false, _) => "confirmed",
        };
        let mut out = Map::new();
        out.insert("kind".to_owned(), "calendar#event".into());
        out.insert("etag".to_owned(), etag(event.mark).into());
        out.insert("id".to_owned(), event.id.as_str().into());
        out.insert("status".to_owned(), status.into());
        out
    }

    fn html_link(&self, event: &StoredEvent) -> String {
        let eid = STANDARD_NO_PAD.encode(format!("{} {}", event.id, self.calendar.id));
        format!("https://www.google.com/calendar/event?eid={eid}")
    }

    /// Returns the organizer or creator of an event. In any calendar but the main one, the
    /// organizer is the calendar.
    fn person(&self, person: &EventGuest, organizer: bool) -> Value {
        let calendar = self.calendar;
        let own = person.address.is_empty() || person.address.is(&calendar.owner);
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
        if own && organizer && !calendar.main {
            put("email", calendar.id.as_str().into());
            put("displayName", calendar.name.as_str().into());
            put("self", true.into());
            return out.into();
        }
        let address = if own { &calendar.owner } else { person.address.as_str() };
        put("email", address.into());
        if let Some(name) = &person.name {
            put("displayName", name.as_str().into());
        }
        // `self` marks the calendar's owner, not the account.
        if own && calendar.main {
            put("self", true.into());
        }
        out.into()
    }

    /// Returns a start or end.
    fn time(&self, moment: &ZonedTime) -> Value {
        match moment {
            ZonedTime::Day(day) => json!({ "date": day.to_string() }),
            ZonedTime::At(_, zone) => {
                let at = moment.when().instant(&self.zone);
                json!({ "dateTime": date_time(at, &self.zone), "timeZone": zone })
            }
        }
    }

    /// Returns the original start, in the zone of its series.
    fn original(&self, event: &StoredEvent, series: &str, original: EventTime) -> Value {
        match original {
            EventTime::Day(day) => json!({ "date": day.to_string() }),
            EventTime::At(at) => {
                // The exception may be in another zone; the original start is in that of the
                // series.
                let place = self.agenda.find(event.calendar, series);
                let series = place.and_then(|place| self.agenda.event(place));
                let zone = match &series.unwrap_or(event).start {
                    ZonedTime::At(_, zone) => zone,
                    ZonedTime::Day(_) => &self.calendar.zone,
                };
                json!({ "dateTime": date_time(at, &self.zone), "timeZone": zone })
            }
        }
    }

    /// Returns the guests.
    fn attendees(&self, event: &StoredEvent) -> Value {
        // The organizer is a guest only if they were invited as well.
        let by_organizer = own(event).is_some_and(|own| own.contains_key(ORGANIZER_ASKED));
        let organizer = &event.organizer;
        let organizer = (organizer.answer.is_some() || by_organizer).then_some(organizer);
        let all: Vec<(&EventGuest, bool)> = organizer
            .map(|organizer| (organizer, true))
            .into_iter()
            .chain(event.guests.iter().map(|guest| (guest, false)))
            .collect();
        let me = |guest: &EventGuest| guest.address.is(&self.calendar.owner);
        let shown: Vec<Value> = all
            .into_iter()
            .map(|(guest, organizer)| {
                let mut out = Map::new();
                let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
                put("email", guest.address.as_str().into());
                if let Some(name) = &guest.name {
                    put("displayName", name.as_str().into());
                }
                for (key, is) in [
                    ("organizer", organizer),
                    ("self", me(guest)),
                    ("resource", guest.room),
                    ("optional", guest.optional),
                ] {
                    if is {
                        put(key, true.into());
                    }
                }
                put("responseStatus", answer(guest.answer).into());
                let reply = event.replies.iter().find(|it| guest.address.is(&it.address));
                if let Some(comment) = reply.and_then(|reply| reply.comment.as_deref()) {
                    put("comment", comment.into());
                }
                out.into()
            })
            .collect();
        if shown.is_empty() { Value::Null } else { shown.into() }
    }
}

/// Returns the word for an answer.
pub(super) fn answer(answer: Option<InvitationAnswer>) -> &'static str {
    match answer {
        None => "needsAction",
        Some(InvitationAnswer::Accepted) => "accepted",
        Some(InvitationAnswer::Declined) => "declined",
        Some(InvitationAnswer::Tentative) => "tentative",
    }
}

fn visibility(visibility: EventVisibility) -> Value {
    match visibility {
        EventVisibility::Default => Value::Null,
        EventVisibility::Public => "public".into(),
        EventVisibility::Private => "private".into(),
        EventVisibility::Confidential => "confidential".into(),
    }
}

/// Returns the reminders as sent, unless the other half has changed them.
fn reminders(event: &StoredEvent) -> Value {
    let Some(minutes) = event.reminder else {
        return json!({ "useDefault": true });
    };
    // Outlook has one reminder per event; if it still agrees, the further ones still apply.
    if let Some(sent) = private(event, REMINDERS)
        && first_reminder(sent) == minutes
    {
        return json!({ "useDefault": false, "overrides": sent });
    }
    match minutes {
        None => json!({ "useDefault": false }),
        Some(minutes) => json!({
            "useDefault": false,
            "overrides": [{ "method": "popup", "minutes": minutes }],
        }),
    }
}

/// Returns the minutes of the first of several reminders.
pub(super) fn first_reminder(overrides: &Value) -> Option<u32> {
    let minutes = overrides.as_array()?.first()?.get("minutes")?.as_u64()?;
    u32::try_from(minutes).ok()
}

/// Returns the link of a Meet conference, and the conference data as sent, unless the other half
/// has changed the link.
fn conference(event: &StoredEvent) -> (Value, Value) {
    let sent = own(event).and_then(|own| own.get("conferenceData"));
    let Some(link) = &event.link else {
        return (Value::Null, Value::Null);
    };
    let hangout = if link.starts_with(MEET) { link.as_str().into() } else { Value::Null };
    let joined = |data: &&Value| {
        let entries = data.get("entryPoints").and_then(Value::as_array);
        entries.is_some_and(|all| all.iter().any(|it| it["uri"] == link.as_str()))
    };
    // Conference data without the current link belong to an earlier meeting.
    if let Some(sent) = sent.filter(joined) {
        return (hangout, sent.clone());
    }
    let data = match link.strip_prefix(MEET) {
        Some(code) => meet(code),
        None => {
            let host = url::Url::parse(link).ok();
            let host = host.and_then(|url| url.host_str().map(str::to_owned));
            json!({
                "entryPoints": [{ "entryPointType": "video", "uri": link }],
                "conferenceSolution": {
                    "key": { "type": "addOn" },
                    "name": host.unwrap_or_else(|| "meeting".to_owned()),
                },
            })
        }
    };
    (hangout, data)
}

/// Returns a Meet conference with a code.
pub(super) fn meet(code: &str) -> Value {
    json!({
        "entryPoints": [{
            "entryPointType": "video",
            "uri": format!("{MEET}{code}"),
            "label": format!("meet.google.com/{code}"),
        }],
        "conferenceSolution": {
            "key": { "type": "hangoutsMeet" },
            "name": "Google Meet",
        },
        "conferenceId": code,
    })
}

/// Returns the properties of an event type that was created without any.
fn usual(event: &StoredEvent) -> Value {
    match event.show {
        ShowAs::Oof => json!({ "autoDeclineMode": "declineNone" }),
        ShowAs::Focus => json!({ "autoDeclineMode": "declineNone", "chatStatus": "available" }),
        _ => json!({ "type": "customLocation", "customLocation": { "label": event.place } }),
    }
}
