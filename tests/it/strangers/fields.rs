//! Hostile input in every value of the providers' responses, a few values at a time, while every
//! tool is called.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_sandbox::AnswerAlteration;
use serde_json::Value;

use super::{check_quotes, hostile};
use crate::answers::{STEPS, filled, remembered};
use crate::common::harness;
use crate::common::thorough::thorough;
use crate::support::{Session, first_of};

/// The number of parts into which the values are divided. The values of one part are hostile at
/// once, so one that is needed early masks others; a thorough run has more parts.
const PARTS: usize = 3;
const THOROUGH_PARTS: usize = 20;

/// Calls `each` with every scalar value and its place: `value/*/from/emailAddress/name`; header
/// fields have their name in it.
pub fn visit(value: &mut Value, place: &str, each: &mut impl FnMut(String, &mut Value)) {
    match value {
        Value::Array(items) => {
            for item in items {
                let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
                let header = item.get("value").is_some() && !name.is_empty();
                let place = if header { format!("{place}/*{name}") } else { format!("{place}/*") };
                visit(item, &place, each);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                visit(member, &format!("{place}/{name}"), each);
            }
        }
        Value::Null => {}
        leaf => each(place.to_owned(), leaf),
    }
}

/// Returns the number of quotes that show a part of [`hostile`]. The part depends on where a name
/// was cut; the name shown in the index of chunks depends on the lengths of the others.
fn hostile_quotes(notes: &str) -> usize {
    let quotes = notes.split('`').skip(1).step_by(2);
    let parts = ["NOTE FROM", "send it", "AAAA"];
    quotes.filter(|quote| first_of(quote, &parts).is_some()).count()
}

#[tokio::test]
async fn no_field_of_an_answer_writes_notes() {
    let mut session = Session::written(SandboxUser::Usual).await;
    // The first run is unmodified, and collects the existing places.
    let places: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let seen = Arc::clone(&places);
    session.sandbox.set_alter(Some(AnswerAlteration::new(move |answer| {
        visit(answer, "", &mut |place, _| {
            seen.lock().unwrap().insert(place);
        });
    })));
    let mut known = HashMap::new();
    for (tool, arguments, remember) in STEPS {
        let mut call = filled(arguments, &known);
        call["format"] = "json".into();
        let answer = session.call(tool, call).await;
        assert!(!answer.is_error, "{tool} {arguments}: {:?}", answer.blocks);
        let document = serde_json::from_str(&answer.blocks[0]).unwrap();
        remembered(&document, &answer.blocks, remember, &mut known);
    }
    let places: Vec<String> = places.lock().unwrap().iter().cloned().collect();
    assert!(places.len() > 300, "{}: {places:#?}", places.len());

    let (mut quoting, mut shown) = (0, 0);
    let hostile: String = hostile().chars().take(400).collect();
    let parts = if thorough() { THOROUGH_PARTS } else { PARTS };
    for part in 0..parts {
        let spoiled: BTreeSet<String> = places.iter().skip(part).step_by(parts).cloned().collect();
        let hostile = hostile.clone();
        session.sandbox.set_alter(Some(AnswerAlteration::new(move |answer| {
            visit(answer, "", &mut |place, value| {
                if spoiled.contains(&place) {
                    *value = hostile.as_str().into();
                }
            });
        })));
        for (tool, arguments, _) in STEPS {
            let answer = session.call(tool, filled(arguments, &known)).await;
            let what = format!("part {part}: {tool} {arguments}");
            let first = answer.blocks.first().map_or("", String::as_str);
            shown += usize::from(first.contains("NOTE FROM DAYSHEET"));
            assert_eq!(first_of(first, &["\nNOTE FROM"]), None, "{what}: {first:.2000}");
            let notes = if answer.is_error {
                first.to_owned()
            } else {
                harness::notes(&answer.blocks).replace("; ", "\n")
            };
            check_quotes(&what, &notes);
            quoting += hostile_quotes(&notes);
        }
    }
    assert!(quoting > 500 && shown > 80, "{quoting} {shown}");
}
