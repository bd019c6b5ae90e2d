//! Google Calendar's JSON: an event as the API shows it in a calendar.
//!
//! Times are written with the offset that the zone of the answer has then: the
//! calendar's, unless the request names another. What only Google knows of an
//! event (`StoredEvent::more`, under [`OWN`]) was checked when it came in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet_core::event_time::{EventTime, ZonedTime};
use daysheet_core::provider::calendar::{EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use crate::store::calendars::{
    CalendarAccess, SandboxCalendars, StoredCalendar, StoredEvent, same,
};

/// Where Google's half keeps what only it knows of an event.
pub(super) const OWN: &str = "google";

/// Of that: true when the organizer is asked, too, and has not answered.
pub(super) const ORGANIZER_ASKED: &str = "organizerAsked";

/// The reminders as they were sent.
pub(super) const REMINDERS: &str = "reminders";

/// Of what is kept: what is shown as it was sent.
pub(super) const AS_SENT: [&str; 4] =
    ["guestsCanInviteOthers", "guestsCanModify", "source", "attachments"];

/// The properties of an event type, and the type.
pub(super) const TYPES: [(ShowAs, &str, &str); 3] = [
    (ShowAs::Oof, "outOfOffice", "outOfOfficeProperties"),
    (ShowAs::Focus, "focusTime", "focusTimeProperties"),
    (ShowAs::Elsewhere, "workingLocation", "workingLocationProperties"),
];

/// Where Google's meetings are joined.
pub(super) const MEET: &str = "https://meet.google.com/";

/// Through which calendar, in which zone, events are shown.
pub(super) struct EventView<'a> {
    /// All calendars.
    pub agenda: &'a SandboxCalendars,
    /// The calendar.
    pub calendar: &'a StoredCalendar,
    /// The zone of the answer.
    pub zone: TimeZone,
}

/// What changes with every change.
pub(super) fn etag(mark: u64) -> String {
    format!("\"{}\"", 3_400_000_000_000_000 + mark * 2_000)
}

/// An instant as `created` and `updated` have it.
pub(super) fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// An instant with the offset of a zone.
pub(super) fn date_time(at: Timestamp, zone: &TimeZone) -> String {
    let zoned = at.to_zoned(zone.clone());
    if zoned.offset().is_zero() {
        zoned.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    } else {
        zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}

/// What Google's half keeps of an event.
pub(super) fn own(event: &StoredEvent) -> Option<&Map<String, Value>> {
    event.more.get(OWN)?.as_object()
}

/// What Google's half keeps of one person's copy of it: [`REMINDERS`].
pub(super) fn private<'a>(event: &'a StoredEvent, key: &str) -> Option<&'a Value> {
    event.private.get(OWN)?.get(key)
}

/// True when a calendar's owner may change an event for all.
pub(super) fn is_organizer(event: &StoredEvent, calendar: &StoredCalendar) -> bool {
    let organizer = &event.organizer.address;
    organizer.is_empty() || same(organizer, &calendar.owner) || same(organizer, &calendar.id)
}

impl EventView<'_> {
    /// An event, whole.
    pub fn event(&self, event: &StoredEvent) -> Value {
        let mut out = self.head(event);
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

    /// An event that is gone, as lists tell it: no more than which one it was.
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

    /// What every event has.
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

    /// The organizer, or who made the event. In a calendar that is not the main
    /// one, the organizer is the calendar.
    fn person(&self, person: &EventGuest, organizer: bool) -> Value {
        let calendar = self.calendar;
        let own = person.address.is_empty() || same(&person.address, &calendar.owner);
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
        if own && organizer && !calendar.main {
            put("email", calendar.id.as_str().into());
            put("displayName", calendar.name.as_str().into());
            put("self", true.into());
            return out.into();
        }
        let address = if own { &calendar.owner } else { &person.address };
        put("email", address.as_str().into());
        if let Some(name) = &person.name {
            put("displayName", name.as_str().into());
        }
        // Whose calendar this is, not whose account.
        if own && calendar.main {
            put("self", true.into());
        }
        out.into()
    }

    /// A start or an end.
    fn time(&self, moment: &ZonedTime) -> Value {
        match moment {
            ZonedTime::Day(day) => json!({ "date": day.to_string() }),
            ZonedTime::At(_, zone) => {
                let at = moment.when().instant(&self.zone);
                json!({ "dateTime": date_time(at, &self.zone), "timeZone": zone })
            }
        }
    }

    /// The start by the rule, in the zone of the series.
    fn original(&self, event: &StoredEvent, series: &str, original: EventTime) -> Value {
        match original {
            EventTime::Day(day) => json!({ "date": day.to_string() }),
            EventTime::At(at) => {
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

    /// Who is asked.
    fn attendees(&self, event: &StoredEvent) -> Value {
        let by_organizer = own(event).is_some_and(|own| own.contains_key(ORGANIZER_ASKED));
        let organizer = &event.organizer;
        let organizer = (organizer.answer.is_some() || by_organizer).then_some(organizer);
        let all: Vec<(&EventGuest, bool)> = organizer
            .map(|organizer| (organizer, true))
            .into_iter()
            .chain(event.guests.iter().map(|guest| (guest, false)))
            .collect();
        let me = |guest: &EventGuest| same(&guest.address, &self.calendar.owner);
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
                let reply = event.replies.iter().find(|it| same(&it.address, &guest.address));
                if let Some(comment) = reply.and_then(|reply| reply.comment.as_deref()) {
                    put("comment", comment.into());
                }
                out.into()
            })
            .collect();
        if shown.is_empty() { Value::Null } else { shown.into() }
    }
}

/// The word for an answer.
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

/// The reminders as they were sent, unless the other half has changed them.
fn reminders(event: &StoredEvent) -> Value {
    let Some(minutes) = event.reminder else {
        return json!({ "useDefault": true });
    };
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

/// The minutes of the first of several reminders.
pub(super) fn first_reminder(overrides: &Value) -> Option<u32> {
    let minutes = overrides.as_array()?.first()?.get("minutes")?.as_u64()?;
    u32::try_from(minutes).ok()
}

/// The link of a Meet conference, and the conference's data as they were sent,
/// unless the other half has changed the link.
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

/// A Meet conference of a code.
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

/// The properties of an event type that was created without any.
fn usual(event: &StoredEvent) -> Value {
    match event.show {
        ShowAs::Oof => json!({ "autoDeclineMode": "declineNone" }),
        ShowAs::Focus => json!({ "autoDeclineMode": "declineNone", "chatStatus": "available" }),
        _ => json!({ "type": "customLocation", "customLocation": { "label": event.place } }),
    }
}
