//! The columns of events at both services: their requests and their cells.

use std::collections::HashMap;

use daysheet_core::event::Event;
use daysheet_core::flatten::{RowContext, flatten};
use daysheet_core::project::{Projection, project};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{CellKind, EVENT, Service, TableColumn};
use daysheet_providers::{google, microsoft};
use serde_json::{Map, Value};

const ME: &str = "mira@example.com";

/// A service, its objects, and the events that its adapter makes of them.
struct ServiceEvents {
    api: Service,
    wires: Vec<Value>,
}

impl ServiceEvents {
    fn read(&self, wire: Value) -> Event {
        let event = match self.api {
            Service::Google => google::calendar::facts::event(wire, ME),
            _ => microsoft::calendar::events::facts::event(wire, ME),
        };
        event.unwrap()
    }

    /// Returns the paths that a list requests.
    fn requested(&self, projection: &Projection) -> Vec<String> {
        let paths = match self.api {
            Service::Google => google::calendar::facts::mask(&projection.paths),
            _ => microsoft::calendar::events::select(projection, &[]),
        };
        let mut all: Vec<String> = paths.split(',').map(str::to_owned).collect();
        // The adapters add the calendar, and a rule if Graph returns a recurrence.
        all.push("calendarId".to_owned());
        if all.iter().any(|path| path == "recurrence") {
            all.push("recurrenceRule".to_owned());
        }
        all
    }
}

fn both() -> [ServiceEvents; 2] {
    [
        (Service::Google, include_str!("../fixtures/gmail.json")),
        (Service::Microsoft, include_str!("../fixtures/outlook.json")),
    ]
    .map(|(api, text)| {
        let all: Value = serde_json::from_str(text).unwrap();
        ServiceEvents { api, wires: all["event"].as_array().unwrap().clone() }
    })
}

fn rows(api: Service, columns: &[&'static TableColumn], events: &[Event]) -> RowTable {
    let names: HashMap<String, String> = [ME, "AAMkAGVmMDEzMTM4LTZmYWUtY2FsZW5kYXI="]
        .into_iter()
        .map(|id| (id.to_owned(), "Mira".to_owned()))
        .collect();
    let context = RowContext { account: ME, address: ME, names: &names, ..RowContext::bare(api) };
    flatten(&EVENT, columns, events, &context).0
}

/// Returns the parts of an object at some paths.
fn pruned(object: &Value, paths: &[Vec<&str>]) -> Value {
    if paths.iter().any(Vec::is_empty) {
        return object.clone();
    }
    match object {
        Value::Array(items) => items.iter().map(|item| pruned(item, paths)).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter_map(|(key, value)| {
                let below: Vec<Vec<&str>> = paths
                    .iter()
                    .filter_map(|path| path.split_first().filter(|(first, _)| *first == key))
                    .map(|(_, rest)| rest.to_vec())
                    .collect();
                (!below.is_empty()).then(|| (key.clone(), pruned(value, &below)))
            });
            Value::Object(kept.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[test]
fn each_event_column_requests_what_it_shows() {
    for service in both() {
        let whole: Vec<Event> =
            service.wires.iter().map(|wire| service.read(wire.clone())).collect();
        for field in EVENT.fields {
            // Lists have only the beginning of a description at Outlook.
            if field.name == "notes" && service.api == Service::Microsoft {
                continue;
            }
            let requested = service.requested(&project(service.api, &[field]));
            let paths: Vec<Vec<&str>> =
                requested.iter().map(|path| path.split('/').collect()).collect();
            let less = service.wires.iter().map(|wire| service.read(pruned(wire, &paths)));
            let less: Vec<Event> = less.collect();
            let cells = |events: &[Event]| -> Vec<RowCell> {
                let rows = rows(service.api, &[field], events);
                rows.rows().map(|row| row[0].clone()).collect()
            };
            assert_eq!(cells(&less), cells(&whole), "{:?} {}", service.api, field.name);
        }
    }
}

#[test]
fn every_event_column_has_a_witness() {
    for service in both() {
        let events: Vec<Event> =
            service.wires.iter().map(|wire| service.read(wire.clone())).collect();
        for field in EVENT.fields {
            let rows = rows(service.api, &[field], &events);
            let is_filled = |row: &[RowCell]| match &row[0] {
                RowCell::Null => false,
                RowCell::Text(text) => !text.is_empty(),
                _ => true,
            };
            assert!(rows.rows().any(is_filled), "{:?} {}", service.api, field.name);
        }
        let flags = rows(service.api, &[EVENT.field("flags").unwrap()], &events);
        let seen: Vec<String> = flags.rows().map(|row| format!("{:?}", row[0])).collect();
        let seen = seen.join(" ");
        let own = match service.api {
            Service::Google => ["focus", "comment"],
            _ => ["tentative", "proposal"],
        };
        let both = ["recurring", "online", "free", "oof", "elsewhere", "private", "cancelled"];
        for word in both.into_iter().chain(own) {
            assert!(seen.contains(word), "{:?} {word}: {seen}", service.api);
        }
    }
}

/// The same meeting gives the same row except for ids and pages.
#[test]
fn both_services_give_the_same_event_row() {
    let columns: Vec<_> = EVENT
        .fields
        .iter()
        .filter(|field| !matches!(field.kind, CellKind::Handle(_)) && !field.on_request)
        .collect();
    let [google, outlook] =
        both().map(|one| rows(one.api, &columns, &[one.read(one.wires[0].clone())]));
    for (at, field) in columns.iter().enumerate() {
        let cell = |rows: &RowTable| rows.rows().next().unwrap()[at].clone();
        assert_eq!(cell(&google), cell(&outlook), "{}", field.name);
    }
}
