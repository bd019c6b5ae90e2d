//! Conversion of a document's events to objects of the `invitation` table.

use serde_json::{Map, Value, json};

use super::event::IcalEvent;
use crate::event::time::EventTime;
use crate::event::{EventGuest, InvitationAnswer};
use crate::schemas::wire;

/// Returns an event as an object for the table's sources. `kind` is the document's method;
/// `times` is `None` for an event that only identifies itself.
pub fn object(
    kind: &str,
    entry: &IcalEvent,
    guests: &[EventGuest],
    times: Option<(EventTime, EventTime)>,
) -> Map<String, Value> {
    let organizer = entry.organizer.as_ref();
    let organizer = organizer.map(|guest| recipient(guest.name.as_deref(), guest.address.as_str()));
    let fields = [
        ("kind", json!(if entry.cancelled { "cancel" } else { kind })),
        ("start", json!(times.map(|(start, _)| time(start)))),
        ("end", json!(times.map(|(_, end)| time(end)))),
        ("title", json!(entry.title)),
        ("where", json!((!entry.place.is_empty()).then_some(&entry.place))),
        ("organizer", json!(organizer)),
        ("people", guests.iter().map(person).collect()),
        ("repeats", json!(entry.repeat.as_ref().map(|repeat| &repeat.rule))),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Returns a person in the form that the registry's sources read.
fn recipient(name: Option<&str>, email: &str) -> Value {
    let (key, (named, address)) = (wire::RECIPIENT, wire::ADDRESS);
    json!({ key: { named: name, address: email } })
}

fn person(guest: &EventGuest) -> Value {
    json!({
        "name": guest.name,
        "address": guest.address,
        "answer": guest.answer.map(|answer| match answer {
            InvitationAnswer::Accepted => "accepted",
            InvitationAnswer::Declined => "declined",
            InvitationAnswer::Tentative => "tentative",
        }),
        "me": guest.me,
        "optional": guest.optional,
        "room": guest.room,
    })
}

/// Returns a time in the form that the registry's sources read.
fn time(when: EventTime) -> Value {
    let (date, date_time, _) = wire::WHEN;
    let (key, value) = match when {
        EventTime::Day(day) => (date, day.to_string()),
        EventTime::At(at) => (date_time, at.to_string()),
    };
    Value::Object(Map::from_iter([(key.to_owned(), value.into())]))
}
