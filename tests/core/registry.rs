//! Consistency of the column declarations with the fixtures, so that one declaration per column is
//! enough.
//!
//! The fixtures in `tests/fixtures/*.json` are objects as the providers return them. The columns of
//! events, which are not read from JSON, are in `event_rows.rs` and in the tests of the adapters.

use std::collections::HashMap;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::budget::count::Tokenizer;
use daysheet_core::budget::fit::{CEILING, FitOptions, fit};
use daysheet_core::budget::value::ValueStrategy;
use daysheet_core::encode::{Document, Format};
use daysheet_core::flatten::{FlattenReport, RowContext, RowRoom, flatten};
use daysheet_core::project::{Projection, project};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{
    CellKind, ColumnLevel, EVENT, INVITATION, MESSAGE, Service, TABLES, THREAD, Table, TableColumn,
    ValueSource,
};
use daysheet_core::text::width;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

const APIS: &[(Service, &str)] = &[
    (Service::Google, include_str!("../fixtures/gmail.json")),
    (Service::Microsoft, include_str!("../fixtures/outlook.json")),
    (Service::Local, include_str!("../fixtures/local.json")),
];

/// Returns the tables of each API that has objects for them, with the objects.
fn fixtures() -> Vec<(Service, &'static Table, Vec<Value>)> {
    let mut found = Vec::new();
    for (api, text) in APIS {
        let objects: Map<String, Value> = serde_json::from_str(text).unwrap();
        for (name, list) in objects {
            let table = TABLES.iter().find(|table| table.name == name).unwrap();
            if is_of_events(table) {
                continue;
            }
            found.push((*api, *table, list.as_array().unwrap().clone()));
        }
    }
    found
}

/// Returns true for a table whose rows are made of events instead of JSON.
fn is_of_events(table: &Table) -> bool {
    [EVENT.name, INVITATION.name].contains(&table.name)
}

fn names() -> HashMap<String, String> {
    cases! {
        "Label_7", "Clients/Nordlicht";
        "CATEGORY_UPDATES", "Print";
        "AAMkAGVmMDEzMTM4LTZmYWUtY2FsZW5kYXI=", "Mira";
        "mira@example.com", "Mira";
        "AQMkAGVmMDEzMTM4", "Clients/Nordlicht";
        "AQMkAGVmMDEzMTM4AC4AAAMiQ8W967B7TKBjgx9rVEURAQAiIsqMbYjsT5e-T7KzowPTAAACAQwAAAA=", "inbox";
    }
    .into_iter()
    .map(|(id, name)| (id.to_owned(), name.to_owned()))
    .collect()
}

fn rows(
    api: Service,
    table: &'static Table,
    columns: &[&'static TableColumn],
    objects: &[Value],
) -> (RowTable, FlattenReport) {
    in_room(RowRoom::List, &names(), api, table, columns, objects)
}

fn in_room(
    room: RowRoom,
    names: &HashMap<String, String>,
    api: Service,
    table: &'static Table,
    columns: &[&'static TableColumn],
    objects: &[Value],
) -> (RowTable, FlattenReport) {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let context = RowContext {
        api,
        zone: &zone,
        account: "mira@example.com",
        address: "mira@example.com",
        names,
        room,
    };
    flatten(table, columns, objects, &context)
}

/// Returns an object reduced to the members that a projection requests.
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
        let slot = into.as_object_mut().unwrap().entry((*key).to_owned()).or_insert(Value::Null);
        copy(next, rest, headers, slot);
        if *key == "headers" {
            slot.as_array_mut().unwrap().retain(|header| {
                let name = header["name"].as_str().unwrap();
                headers.iter().any(|header_name| header_name.eq_ignore_ascii_case(name))
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
fn projections_request_all_that_columns_read() {
    for (api, table, objects) in fixtures() {
        for level in [ColumnLevel::Key, ColumnLevel::Core, ColumnLevel::More] {
            let columns = table.up_to(level);
            let projection = project(api, &columns);
            let pruned: Vec<_> = objects.iter().map(|object| prune(object, &projection)).collect();
            let (full, report) = rows(api, table, &columns, &objects);
            assert_eq!(report, FlattenReport::default(), "{api:?} {}", table.name);
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
fn each_column_alone_requests_what_it_reads() {
    for (api, table, objects) in fixtures() {
        for field in table.fields {
            let projection = project(api, &[field]);
            let pruned: Vec<_> = objects.iter().map(|object| prune(object, &projection)).collect();
            let full: Vec<_> =
                rows(api, table, &[field], &objects).0.rows().map(<[RowCell]>::to_vec).collect();
            let less: Vec<_> =
                rows(api, table, &[field], &pruned).0.rows().map(<[RowCell]>::to_vec).collect();
            assert_eq!(full, less, "{api:?} {}.{}", table.name, field.name);
        }
    }
}

#[test]
fn every_source_has_a_witness() {
    for (api, table, objects) in fixtures() {
        for field in table.fields {
            if matches!(field.source(api), ValueSource::Absent | ValueSource::Added(_)) {
                continue;
            }
            let (found, _) = rows(api, table, &[field], &objects);
            let witnessed = found.rows().any(|row| match (&row[0], field.kind) {
                (RowCell::Null, _) => false,
                // A word that never applies would hide a misspelt condition.
                (RowCell::Text(words), CellKind::Words) => !words.is_empty(),
                (RowCell::Flag(flag), _) => *flag,
                _ => true,
            });
            assert!(witnessed, "{api:?} {}.{} is null in every fixture", table.name, field.name);
        }
    }
    // Every table has objects for each API with sources for it.
    for table in TABLES.iter().filter(|table| !is_of_events(table)) {
        for (api, _) in APIS {
            let declared = table.fields.iter().any(|field| {
                !matches!(field.source(*api), ValueSource::Absent | ValueSource::Account)
            });
            let there =
                fixtures().iter().any(|(found, known, _)| found == api && known.name == table.name);
            assert_eq!(declared, there, "{api:?} {}", table.name);
        }
    }
}

/// Makes all texts at a path longer than any column; names of header fields stay.
fn stretch(value: &mut Value, path: &[&str]) {
    match (value, path) {
        (Value::Array(items), _) => items.iter_mut().for_each(|item| stretch(item, path)),
        // The short form of a guest shows only the part before the @, so that part must be long.
        (Value::String(text), []) if text.contains('@') => {
            text.insert_str(0, &"and-so-on-and-on-".repeat(100));
        }
        (Value::String(text), []) => text.push_str(&" and so on and on".repeat(100)),
        (Value::Object(map), []) => {
            let header = map.len() == 2 && map.contains_key("value");
            for (key, value) in map {
                if !header || key == "value" {
                    stretch(value, &[]);
                }
            }
        }
        (value, [key, rest @ ..]) => {
            if let Some(inner) = value.get_mut(key) {
                stretch(inner, rest);
            }
        }
        _ => {}
    }
}

/// Returns the blocks of fitted rows, the number of cuts, and the kept output.
fn fitted(rows: RowTable) -> (Vec<String>, usize, String) {
    let response = WholeAnswer {
        document: Document { scalars: Vec::new(), tables: vec![rows] },
        ..WholeAnswer::default()
    };
    let options = FitOptions {
        format: Format::default(),
        tokenizer: Tokenizer::O200k,
        budget: 50_000,
        ceiling: CEILING,
        room: 50_000,
        stated_budget: 50_000,
        chunk: 1,
        chunks: true,
        strategy: ValueStrategy::ElementCount,
        secret: &[7; 32],
    };
    let mut kept = String::new();
    let fitted = fit(&response, &options, |whole| {
        kept = whole.text();
        "k3f9x2abcd".to_owned()
    });
    let fitted = fitted.unwrap();
    (fitted.blocks, fitted.cut, kept)
}

/// For every column with a cap, a longer value is cut at it, counted, noted by the column's name,
/// and complete in the output that the note names.
#[test]
fn cut_cells_are_counted_and_whole_in_output() {
    let mut long = names();
    for name in long.values_mut() {
        name.push_str(&" and so on and on".repeat(100));
    }
    let mut looked_at = 0;
    for (api, table, objects) in fixtures() {
        for field in table.fields {
            let source = field.source(api);
            // Words of ours are never long.
            let ours = matches!(source, ValueSource::Absent | ValueSource::First(..));
            let (Some(cap), false) = (field.untrusted, ours) else {
                continue;
            };
            let mut objects = objects.clone();
            for path in &project(api, &[field]).paths {
                let keys: Vec<&str> = path.split('/').collect();
                let ids = matches!(source, ValueSource::Names(_));
                objects.iter_mut().filter(|_| !ids).for_each(|object| stretch(object, &keys));
            }
            for (room, times) in [(RowRoom::List, 1), (RowRoom::One, 4)] {
                let what = format!("{api:?} {}.{} {room:?}", table.name, field.name);
                let (rows, _) = in_room(room, &long, api, table, &[field], &objects);
                let most = times * usize::from(cap) + " +1000".len();
                for row in rows.rows() {
                    if let RowCell::Text(text) = &row[0] {
                        assert!(width(text) <= most, "{what}: {text}");
                    }
                }
                let cuts: Vec<String> = rows.cuts().map(|(_, cut)| cut.whole.clone()).collect();
                let (blocks, cut, kept) = fitted(rows);
                assert_eq!(cut, cuts.len(), "{what}");
                if field.beginning {
                    assert!(cuts.is_empty(), "{what}");
                    continue;
                }
                assert!(!cuts.is_empty(), "{what} is not cut");
                let note = format!(
                    "cut: \"cut cells: {} in {cut}; whole: output_read id=k3f9x2abcd\"\n",
                    field.name
                );
                assert!(blocks[0].starts_with(&note), "{what}: {}", blocks[0]);
                for whole in cuts {
                    assert!(width(&whole) > usize::from(cap), "{what}");
                    assert!(kept.contains(&format!("\n{whole}\n")), "{what}: {kept}");
                }
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 100, "{looked_at}");
}

/// A person's address is kept, however long the name is.
#[test]
fn long_name_never_cuts_the_address() {
    let eve = "eve@the-address-that-must-be-seen.example";
    let long = "Your bank <service@bank.example> ".repeat(20);
    let domain = format!("{}@a.example", "x".repeat(90));
    let header = |value: &str| json!({"payload": {"headers": [{"name": "From", "value": value}]}});
    let recipient = |name: &str, address: &str| json!({"from": {"emailAddress": {"name": name, "address": address}}});
    let bank = format!("Your bank service@bank.example Your… <{eve}>");
    let cases: [(Service, Value, String, &str); 7] = cases! {
        Service::Google, header(&format!("\"{long}\" <{eve}>")), bank.clone(), "Your bank";
        Service::Microsoft, recipient(&long, eve), bank, "Your bank";
        Service::Microsoft, recipient(&"W".repeat(400), eve), format!("{}… <{eve}>", "W".repeat(35)),
            "WWW";
        // Wide characters count as two.
        Service::Microsoft, recipient(&"日".repeat(400), eve), format!("{}… <{eve}>", "日".repeat(17)), "日";
        Service::Microsoft, recipient("Eve", eve), format!("Eve <{eve}>"), "Eve";
        // The domain of an oversized address is kept.
        Service::Google, header(&domain), format!("{}…@a.example", "x".repeat(69)), "xxx";
        Service::Google, header(&format!("Eve <{domain}>")), format!("…{}@a.example>", "x".repeat(68)),
            "Eve <xxx";
    };
    let from = [MESSAGE.field("from").unwrap()];
    for (api, object, list, one) in cases {
        let shown = |room| {
            let (rows, _) =
                in_room(room, &names(), api, &MESSAGE, &from, std::slice::from_ref(&object));
            let Some(RowCell::Text(text)) = rows.cell(0, "from").cloned() else {
                panic!("{object}");
            };
            text
        };
        assert_eq!(shown(RowRoom::List), list);
        assert!(width(&list) <= 80, "{list}");
        let one_row = shown(RowRoom::One);
        assert!(one_row.starts_with(one) && width(&one_row) <= 320, "{one_row}");
        assert!(one_row.ends_with('>') || one_row.ends_with("@a.example"), "{one_row}");
    }
}

/// Each flag occurs in a fixture.
#[test]
fn every_flag_word_has_a_witness() {
    for (api, table, objects) in fixtures() {
        for field in table.fields {
            let ValueSource::Flags(words) = field.source(api) else {
                continue;
            };
            let (found, _) = rows(api, table, &[field], &objects);
            let seen: Vec<_> = found
                .rows()
                .filter_map(|row| match &row[0] {
                    RowCell::Text(text) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Vec<_>>()
                .join(" ")
                .split(' ')
                .map(str::to_owned)
                .collect();
            for (word, _) in words {
                assert!(seen.iter().any(|one| one == word), "{api:?} {}: {word}", table.name);
            }
        }
    }
}

/// The same message from both providers gives the same row except for ids.
#[test]
fn both_providers_give_the_same_row() {
    let all = fixtures();
    let of = |api: Service, table: &Table| {
        let (_, _, objects) =
            all.iter().find(|(a, t, _)| *a == api && t.name == table.name).unwrap();
        objects[0].clone()
    };
    for table in TABLES.iter().filter(|table| !is_of_events(table)) {
        let both: Vec<&'static TableColumn> = table
            .fields
            .iter()
            .filter(|field| {
                // Ids and web pages are specific to each service.
                !matches!(field.kind, CellKind::Handle(_))
                    && !field.on_request
                    && !matches!(
                        field.source(Service::Google),
                        ValueSource::Absent | ValueSource::Account
                    )
                    && !matches!(field.source(Service::Microsoft), ValueSource::Absent)
            })
            .collect();
        if both.is_empty() {
            continue;
        }
        let (gmail, _) = rows(Service::Google, table, &both, &[of(Service::Google, table)]);
        let (outlook, _) = rows(Service::Microsoft, table, &both, &[of(Service::Microsoft, table)]);
        for ((field, one), other) in
            both.iter().zip(gmail.rows().next().unwrap()).zip(outlook.rows().next().unwrap())
        {
            assert_eq!(one, other, "{}.{}", table.name, field.name);
        }
    }
}

#[test]
fn message_row_reads_like_this() {
    let all = fixtures();
    let (_, _, objects) =
        all.iter().find(|(api, table, _)| *api == Service::Google && **table == MESSAGE).unwrap();
    let (rows, _) = rows(Service::Google, &MESSAGE, &MESSAGE.up_to(ColumnLevel::More), objects);
    let text = |text: &str| RowCell::Text(text.to_owned());
    assert_eq!(
        rows.rows().next().unwrap(),
        &[
            RowCell::Id("18c2f0a1b2c3d4e5".to_owned()),
            text("2026-02-03 18h05"),
            text("Okafor, Lena <lena@studio.example>"),
            text("Proof for the autumn catalogue"),
            text("The printer's proof is here & looks good.…"),
            text("unread starred attachment important"),
            RowCell::Null,
            text("Mira Lindqvist <mira@example.com>, team@studio.example"),
            text("Print shop <proofs@print.example>"),
            text("jonas@example.com"),
            RowCell::Id("18c2f0a1b2c3d4e0".to_owned()),
            text("inbox"),
            text("Clients/Nordlicht, Print"),
            RowCell::Count(48211),
            RowCell::Flag(true),
            RowCell::Null,
            text("<proof-1@studio.example>"),
            text("aside"),
            text(""),
            text("not checked"),
            text(""),
            RowCell::Null,
            text("mira@example.com"),
        ]
    );
}

/// Gmail returns no web links, so they are built; a `+` in an address would be read as a space.
#[test]
fn links_lead_to_the_web_client() {
    let outlook = "https://outlook.office365.com/owa/?ItemID=AAMkAGV";
    let gmail = "https://mail.google.com/mail/?authuser=mira%40example.com#all/18c2f0a1b2c3d4e0";
    let end = "%3D&exvsurl=1&viewmodel=ReadMessageItem";
    for (api, table, expected) in [
        (Service::Google, &MESSAGE, gmail.to_owned()),
        (Service::Google, &THREAD, gmail.to_owned()),
        (Service::Microsoft, &MESSAGE, format!("{outlook}m{end}")),
        (Service::Microsoft, &THREAD, format!("{outlook}n{end}")),
    ] {
        let all = fixtures();
        let found = all.iter().find(|(a, t, _)| *a == api && t.name == table.name);
        let (_, _, objects) = found.unwrap();
        let (rows, _) = rows(api, table, &[table.field("link").unwrap()], &objects[..1]);
        assert_eq!(rows.rows().next().unwrap(), &[RowCell::Text(expected)], "{api:?}");
    }
}

#[test]
fn odd_values_are_null_and_reported() {
    let objects = [serde_json::json!({
        "id": 7.5, "internalDate": "soon", "labelIds": "INBOX", "snippet": ["x"],
        "sizeEstimate": -0.5, "payload": {"headers": {"From": "x"}},
    })];
    let (rows, report) =
        rows(Service::Google, &MESSAGE, &MESSAGE.up_to(ColumnLevel::More), &objects);
    let odd: Vec<_> = report.odd.iter().map(|(name, _)| *name).collect();
    assert_eq!(odd, ["id", "date", "from", "snippet", "flags", "draft", "folder", "size", "bulk"]);
    let row = rows.rows().next().unwrap();
    for name in ["id", "date", "snippet", "flags", "size", "bulk"] {
        let at = MESSAGE.fields.iter().position(|field| field.name == name).unwrap();
        assert_eq!(row[at], RowCell::Null, "{name}");
    }
}
