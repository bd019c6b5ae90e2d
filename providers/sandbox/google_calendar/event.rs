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

use crate::json::{merge, present};
use crate::store::calendars::{CalendarAccess, SandboxCalendars, StoredCalendar, StoredEvent};

/// The key of the properties that only Google's half stores for an event.
pub(super) const OWN: &str = "google";

/// The key in these that is true if the organizer is also a guest and has not answered.
pub(super) const ORGANIZER_ASKED: &str = "organizerAsked";

/// The key of the reminders as sent.
pub(super) const REMINDERS: &str = "reminders";

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
        // A calendar shared as free/busy only shows when it is busy.
        if self.calendar.access == CalendarAccess::Busy {
            let (start, end) = (self.time(&event.start), self.time(&event.end));
            let more = json!({ "start": start, "end": end, "visibility": "private" });
            return object(event, more);
        }
        let sent = |key: &str| own(event)?.get(key);
        let kind = TYPES.iter().find(|(show, ..)| *show == event.show);
        let (_, name, properties) = kind.unwrap_or(&(ShowAs::Busy, "default", ""));
        let usual = |_| sent(properties).cloned().unwrap_or_else(|| usual(event));
        // Google has only opaque and transparent; the other states are event types.
        let free = matches!(event.show, ShowAs::Free | ShowAs::Elsewhere);
        let (link, conference) = conference(event);
        let more = json!({
            "htmlLink": self.html_link(event),
            "created": stamp(event.created),
            "updated": stamp(event.updated),
            "summary": text(&event.title),
            "description": text(&event.notes),
            "location": text(&event.place),
            "colorId": event.colour.map(|number| number.to_string()),
            "creator": self.person(&event.organizer, false),
            "organizer": self.person(&event.organizer, true),
            "start": self.time(&event.start),
            "end": self.time(&event.end),
            "recurrence": event.repeat.as_ref().map(|repeat| repeat.lines(&event.start)),
            "recurringEventId": event.instead_of.as_ref().map(|(series, _)| series),
            "originalStartTime": self.original(event),
            "transparency": free.then_some("transparent"),
            "visibility": visibility(event.visibility),
            "iCalUID": event.uid,
            "sequence": event.sequence,
            "attendees": self.attendees(event),
            "hangoutLink": link,
            "conferenceData": conference,
            "guestsCanInviteOthers": sent("guestsCanInviteOthers"),
            "guestsCanModify": sent("guestsCanModify"),
            "source": sent("source"),
            "attachments": sent("attachments"),
            "reminders": reminders(event),
            (*properties): kind.map(usual),
            "eventType": name,
        });
        object(event, more)
    }

    /// Returns a deleted event as in lists, with no more than its identity.
    pub fn tombstone(&self, event: &StoredEvent) -> Value {
        let series = event.instead_of.as_ref().map(|(series, _)| series);
        let more = json!({
            "status": "cancelled",
            "recurringEventId": series,
            "originalStartTime": self.original(event),
        });
        object(event, more)
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
        let (email, name) = if own && organizer && !calendar.main {
            (calendar.id.as_str(), Some(&calendar.name))
        } else {
            let email = if own { calendar.owner.as_str() } else { person.address.as_str() };
            (email, person.name.as_ref())
        };
        // `self` marks the calendar's owner, not the account.
        let me = (own && (organizer || calendar.main)).then_some(true);
        present(json!({ "email": email, "displayName": name, "self": me }))
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

    /// Returns the original start of an exception, in the zone of its series.
    fn original(&self, event: &StoredEvent) -> Option<Value> {
        let (series, original) = event.instead_of.as_ref()?;
        Some(match original {
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
                json!({ "dateTime": date_time(*at, &self.zone), "timeZone": zone })
            }
        })
    }

    /// Returns the guests, if there are any.
    fn attendees(&self, event: &StoredEvent) -> Option<Vec<Value>> {
        // The organizer is a guest only if they were invited as well.
        let by_organizer = own(event).is_some_and(|own| own.contains_key(ORGANIZER_ASKED));
        let organizer = &event.organizer;
        let organizer = (organizer.answer.is_some() || by_organizer).then_some((organizer, true));
        let all = organizer.into_iter().chain(event.guests.iter().map(|guest| (guest, false)));
        let yes = |is: bool| is.then_some(true);
        let shown = |(guest, organizer): (&EventGuest, bool)| {
            let reply = event.replies.iter().find(|it| guest.address.is(&it.address));
            present(json!({
                "email": guest.address.as_str(),
                "displayName": guest.name,
                "organizer": yes(organizer),
                "self": yes(guest.address.is(&self.calendar.owner)),
                "resource": yes(guest.room),
                "optional": yes(guest.optional),
                "responseStatus": answer(guest.answer),
                "comment": reply.and_then(|reply| reply.comment.as_deref()),
            }))
        };
        let shown: Vec<Value> = all.map(shown).collect();
        (!shown.is_empty()).then_some(shown)
    }
}

/// Returns the properties that every event has, and more. Null ones are left out.
fn object(event: &StoredEvent, more: Value) -> Value {
    let status = match (event.deleted, event.show) {
        (true, _) => "cancelled",
        (false, ShowAs::Tentative) => "tentative",
        (false, _) => "confirmed",
    };
    let mut out = json!({
        "kind": "calendar#event",
        "etag": etag(event.mark),
        "id": event.id,
        "status": status,
    });
    merge(&mut out, more);
    present(out)
}

/// Returns a text unless it is empty.
pub(super) fn text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
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

fn visibility(visibility: EventVisibility) -> Option<&'static str> {
    match visibility {
        EventVisibility::Default => None,
        EventVisibility::Public => Some("public"),
        EventVisibility::Private => Some("private"),
        EventVisibility::Confidential => Some("confidential"),
    }
}

/// Returns the reminders as sent, unless the other half has changed them.
fn reminders(event: &StoredEvent) -> Value {
    let Some(minutes) = event.reminder else {
        return json!({ "useDefault": true });
    };
    // Outlook has one reminder per event; if it still agrees, the further ones still apply.
    let sent = private(event, REMINDERS).filter(|sent| first_reminder(sent) == minutes).cloned();
    let one = minutes.map(|minutes| json!([{ "method": "popup", "minutes": minutes }]));
    present(json!({ "useDefault": false, "overrides": sent.or(one) }))
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
