//! The tests that make one declaration per column enough.
//!
//! The fixtures are objects as the providers send them, `tests/fixtures/*.json`.

use std::collections::HashMap;

use daysheet::flatten::{Context, Report, Room, flatten};
use daysheet::project::{Projection, project};
use daysheet::row::{Cell, RowTable};
use daysheet::schemas::{Api, Field, Kind, Level, MESSAGE, Source, TABLES, Table};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

const APIS: &[(Api, &str)] = &[
    (Api::Gmail, include_str!("../fixtures/gmail.json")),
    (Api::Outlook, include_str!("../fixtures/outlook.json")),
    (Api::Local, include_str!("../fixtures/local.json")),
];

/// Every table that an API has objects for, with them.
fn fixtures() -> Vec<(Api, &'static Table, Vec<Value>)> {
    let mut found = Vec::new();
    for (api, text) in APIS {
        let objects: Map<String, Value> = serde_json::from_str(text).unwrap();
        for (name, list) in objects {
            let table = TABLES.iter().find(|table| table.name == name).unwrap();
            found.push((*api, *table, list.as_array().unwrap().clone()));
        }
    }
    found
}

fn names() -> HashMap<String, String> {
    [
        ("Label_7", "Clients/Nordlicht"),
        ("CATEGORY_UPDATES", "Print"),
        ("AAMkAGVmMDEzMTM4LTZmYWUtY2FsZW5kYXI=", "Mira"),
        ("mira@example.com", "Mira"),
        ("AQMkAGVmMDEzMTM4", "Clients/Nordlicht"),
        (
            "AQMkAGVmMDEzMTM4AC4AAAMiQ8W967B7TKBjgx9rVEURAQAiIsqMbYjsT5e-T7KzowPTAAACAQwAAAA=",
            "inbox",
        ),
    ]
    .into_iter()
    .map(|(id, name)| (id.to_owned(), name.to_owned()))
    .collect()
}

fn rows(
    api: Api,
    table: &'static Table,
    columns: &[&'static Field],
    objects: &[Value],
) -> (RowTable, Report) {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let context = Context {
        api,
        zone: &zone,
        account: "mira@example.com",
        address: "mira@example.com",
        names: &names(),
        room: Room::List,
    };
    flatten(table, columns, objects, &context)
}

/// What is left of an object when only the projection is asked for.
fn prune(object: &Value, projection: &Projection) -> Value {
    fn copy(from: &Value, path: &[&str], headers: &[&str], into: &mut Value) {
        let [key, rest @ ..] = path else {
            *into = from.clone();
            return;
        };
        if let Value::Array(items) = from {
            if !into.is_array() {
                *into = Value::Array(vec![Value::Null; items.len()]);
            }
            for (item, into) in items.iter().zip(into.as_array_mut().unwrap()) {
                copy(item, path, headers, into);
            }
            return;
        }
        let Some(next) = from.get(*key) else { return };
        if !into.is_object() {
            *into = Value::Object(Map::new());
        }
        let slot = into
            .as_object_mut()
            .unwrap()
            .entry((*key).to_owned())
            .or_insert(Value::Null);
        copy(next, rest, headers, slot);
        if *key == "headers" {
            slot.as_array_mut().unwrap().retain(|header| {
                let name = header["name"].as_str().unwrap();
                headers
                    .iter()
                    .any(|wanted| wanted.eq_ignore_ascii_case(name))
            });
        }
    }
    let mut pruned = Value::Object(Map::new());
    for path in &projection.paths {
        let keys: Vec<_> = path.split('/').collect();
        copy(object, &keys, &projection.headers, &mut pruned);
    }
    pruned
}

#[test]
fn what_is_asked_for_is_enough() {
    for (api, table, objects) in fixtures() {
        for level in [Level::Key, Level::Core, Level::More] {
            let columns = table.up_to(level);
            let projection = project(api, &columns);
            let pruned: Vec<_> = objects
                .iter()
                .map(|object| prune(object, &projection))
                .collect();
            let (full, report) = rows(api, table, &columns, &objects);
            assert_eq!(report, Report::default(), "{api:?} {}", table.name);
            assert_eq!(
                full,
                rows(api, table, &columns, &pruned).0,
                "{api:?} {} {level:?}",
                table.name
            );
        }
    }
}

#[test]
fn each_column_alone_is_asked_for_enough() {
    for (api, table, objects) in fixtures() {
        for field in table.fields {
            let projection = project(api, &[field]);
            let pruned: Vec<_> = objects
                .iter()
                .map(|object| prune(object, &projection))
                .collect();
            let full: Vec<_> = rows(api, table, &[field], &objects)
                .0
                .rows()
                .map(<[Cell]>::to_vec)
                .collect();
            let less: Vec<_> = rows(api, table, &[field], &pruned)
                .0
                .rows()
                .map(<[Cell]>::to_vec)
                .collect();
            assert_eq!(full, less, "{api:?} {}.{}", table.name, field.name);
        }
    }
}

#[test]
fn every_source_has_a_witness() {
    for (api, table, objects) in fixtures() {
        for field in table.fields {
            if matches!(field.source(api), Source::Absent) {
                continue;
            }
            let (found, _) = rows(api, table, &[field], &objects);
            let witnessed = found.rows().any(|row| match (&row[0], field.kind) {
                (Cell::Null, _) => false,
                // A word that never applies would hide a misspelt condition.
                (Cell::Text(words), Kind::Words) => !words.is_empty(),
                (Cell::Flag(flag), _) => *flag,
                _ => true,
            });
            assert!(
                witnessed,
                "{api:?} {}.{} is null in every fixture",
                table.name, field.name
            );
        }
    }
    // And no table is without objects at every API that has sources for it.
    for table in TABLES {
        for (api, _) in APIS {
            let declared = table
                .fields
                .iter()
                .any(|field| !matches!(field.source(*api), Source::Absent | Source::Account));
            let there = fixtures()
                .iter()
                .any(|(found, known, _)| found == api && known.name == table.name);
            assert_eq!(declared, there, "{api:?} {}", table.name);
        }
    }
}

/// Every flag word is true in some fixture and false in another.
#[test]
fn every_flag_word_has_a_witness() {
    for (api, table, objects) in fixtures() {
        for field in table.fields {
            let Source::Flags(words) = field.source(api) else {
                continue;
            };
            let (found, _) = rows(api, table, &[field], &objects);
            let seen: Vec<_> = found
                .rows()
                .filter_map(|row| match &row[0] {
                    Cell::Text(text) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Vec<_>>()
                .join(" ")
                .split(' ')
                .map(str::to_owned)
                .collect();
            for (word, _) in words {
                assert!(
                    seen.iter().any(|one| one == word),
                    "{api:?} {}: {word}",
                    table.name
                );
            }
        }
    }
}

/// The same letter from both providers gives the same row, ids apart.
#[test]
fn both_providers_give_the_same_row() {
    let all = fixtures();
    let of = |api: Api, table: &Table| {
        let (_, _, objects) = all
            .iter()
            .find(|(a, t, _)| *a == api && t.name == table.name)
            .unwrap();
        objects[0].clone()
    };
    for table in TABLES {
        let both: Vec<&'static Field> = table
            .fields
            .iter()
            .filter(|field| {
                !matches!(field.kind, Kind::Handle(_))
                    && !matches!(field.gmail, Source::Absent | Source::Account)
                    && !matches!(field.outlook, Source::Absent)
            })
            .collect();
        if both.is_empty() {
            continue;
        }
        let (gmail, _) = rows(Api::Gmail, table, &both, &[of(Api::Gmail, table)]);
        let (outlook, _) = rows(Api::Outlook, table, &both, &[of(Api::Outlook, table)]);
        for ((field, one), other) in both
            .iter()
            .zip(gmail.rows().next().unwrap())
            .zip(outlook.rows().next().unwrap())
        {
            assert_eq!(one, other, "{}.{}", table.name, field.name);
        }
    }
}

#[test]
fn a_message_reads_like_this() {
    let all = fixtures();
    let (_, _, objects) = all
        .iter()
        .find(|(api, table, _)| *api == Api::Gmail && **table == MESSAGE)
        .unwrap();
    let (rows, _) = rows(Api::Gmail, &MESSAGE, &MESSAGE.up_to(Level::More), objects);
    let text = |text: &str| Cell::Text(text.to_owned());
    assert_eq!(
        rows.rows().next().unwrap(),
        &[
            Cell::Id("18c2f0a1b2c3d4e5".to_owned()),
            text("2026-02-03 18h05"),
            text("Okafor, Lena <lena@studio.example>"),
            text("Proof for the autumn catalogue"),
            text("The printer's proof is here &…"),
            text("unread starred attachment important"),
            text("Mira Lindqvist <mira@example.com>, team@studio.example"),
            text("Print shop <proofs@print.example>"),
            Cell::Id("18c2f0a1b2c3d4e0".to_owned()),
            text("inbox"),
            text("Clients/Nordlicht, Print"),
            Cell::Count(48211),
            Cell::Flag(true),
            text("<proof-1@studio.example>"),
            text("aside"),
            Cell::Null,
            text(""),
            text("mira@example.com"),
        ]
    );
}

#[test]
fn odd_values_are_null_and_told() {
    let objects = [serde_json::json!({
        "id": 7.5, "internalDate": "soon", "labelIds": "INBOX", "snippet": ["x"],
        "sizeEstimate": -0.5, "payload": {"headers": {"From": "x"}},
    })];
    let (rows, report) = rows(Api::Gmail, &MESSAGE, &MESSAGE.up_to(Level::More), &objects);
    let odd: Vec<_> = report.odd.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        odd,
        ["id", "date", "snippet", "flags", "folder", "size", "bulk"]
    );
    assert!(
        rows.rows()
            .next()
            .unwrap()
            .iter()
            .take(5)
            .all(|cell| *cell == Cell::Null)
    );
}

#[cfg(feature = "google")]
#[test]
fn the_sdk_keeps_what_the_registry_reads() {
    let all = fixtures();
    let (_, _, objects) = all
        .iter()
        .find(|(api, table, _)| *api == Api::Gmail && **table == MESSAGE)
        .unwrap();
    let through: Vec<Value> = objects
        .iter()
        .map(|object| {
            let typed: google_gmail1::api::Message =
                serde_json::from_value(object.clone()).unwrap();
            serde_json::to_value(typed).unwrap()
        })
        .collect();
    let columns = MESSAGE.up_to(Level::More);
    assert_eq!(
        rows(Api::Gmail, &MESSAGE, &columns, objects).0,
        rows(Api::Gmail, &MESSAGE, &columns, &through).0
    );
}
