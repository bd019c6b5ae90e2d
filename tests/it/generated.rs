//! Comparison of generated files with the code. A stale file is rewritten, and the test fails.

use std::fs;
use std::path::{Path, PathBuf};

use daysheet::{server, tools};
use daysheet_core::describe;
use daysheet_core::event::time;
use daysheet_core::schemas::{self, TABLES};
use serde_json::Value;

pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Rewrites a stale file and returns a message about it.
pub fn stale(name: &str, expected: impl AsRef<str>) -> Option<String> {
    let (file, expected) = (path(name), expected.as_ref());
    if fs::read_to_string(&file).ok().as_deref() == Some(expected) {
        return None;
    }
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, expected).unwrap();
    Some(format!("{name} was stale and has been rewritten: look at the change and commit it"))
}

/// Returns the changes that would break readers of the committed schema under the same version.
fn incompatible(old: &Value, new: &Value) -> Vec<String> {
    if old["version"] != new["version"] {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (name, property) in old["properties"].as_object().unwrap() {
        match new["properties"].get(name) {
            None => problems.push(format!("{}.{name} is gone", old["title"])),
            Some(now) if now["type"] != property["type"] => {
                problems.push(format!("{}.{name} has another type", old["title"]));
            }
            Some(_) => {}
        }
    }
    problems
}

#[test]
fn schemas_are_current_and_compatible() {
    let mut problems = Vec::new();
    for table in TABLES {
        let name = format!("schemas/json/{}.schema.json", table.name);
        let schema = describe::json_schema(table);
        if let Ok(old) = fs::read_to_string(path(&name)) {
            let broken = incompatible(&serde_json::from_str(&old).unwrap(), &schema);
            assert!(
                broken.is_empty(),
                "{broken:?}: raise the version of the table, or keep the column"
            );
        }
        problems.extend(stale(&name, format!("{schema:#}\n")));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn removed_column_is_noticed() {
    let old = describe::json_schema(&daysheet_core::schemas::MESSAGE);
    let mut new = old.clone();
    new["properties"].as_object_mut().unwrap().remove("subject");
    new["properties"]["size"]["type"] = "string".into();
    assert_eq!(
        incompatible(&old, &new),
        ["\"message\".subject is gone", "\"message\".size has another type"]
    );
    new["version"] = 2.into();
    assert!(incompatible(&old, &new).is_empty());
}

#[test]
fn pages_are_current() {
    let problems: Vec<_> = [
        stale("docs/reference/tables.md", describe::tables_page()),
        stale("docs/reference/tools.md", tools::page()),
        stale("tests/fixtures/tools_list.json", tool_list()),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Returns the result of `tools/list`, so that changes to it show up in review.
fn tool_list() -> String {
    format!("{:#}\n", serde_json::to_value(server::list()).unwrap())
}

#[test]
fn tool_list_costs_few_tokens() {
    let list = serde_json::json!({"tools": server::list()}).to_string();
    let tokens = daysheet_core::budget::count::tokens(&list);
    assert!(tokens <= 3_520, "tools/list is {tokens} tokens");
}

/// Rows in the repeated hour of a clock change are valid under their schema.
#[test]
fn offsets_match_the_schema() {
    let schema = describe::json_schema(&schemas::EVENT);
    let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
    let at = |text: &str| time::EventTime::At(text.parse().unwrap());
    let (from, to) = (at("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z"));
    let cells = [
        ("start", time::start(from, &zone), "Sun 2026-10-25 02h30 +0200"),
        ("end", time::end(from, to, &zone), "02h30 +0100"),
    ];
    for (column, cell, expected) in cells {
        let pattern = schema["properties"][column]["pattern"].as_str().unwrap();
        assert_eq!(cell, expected);
        assert!(regex::Regex::new(pattern).unwrap().is_match(&cell), "{pattern}: {cell}");
    }
}
