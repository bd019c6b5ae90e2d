//! Calls that mean another call: of another tool, or with arguments in another place.
//!
//! They are accepted where they can mean only one thing, before their arguments are read. Guessed
//! names and words are in `synonyms.rs`.

use serde_json::{Map, Value, json};

use super::args::snake_case;
use super::calendar_save::{CalendarSave, EventWords};
use super::declaration::Tool;
use super::kinds::DeclaredArguments;
use super::lookup::LookupRequest;
use super::manage::ManageRequest;
use super::synonyms;

/// Returns the tool and arguments that a call means.
///
/// A call of `manage` with an `op` that only reads becomes a list of that kind. In `calendar_save`,
/// the fields of a single event next to `events` are moved into it.
pub(super) fn call(
    tool: &'static Tool,
    arguments: Map<String, Value>,
) -> (&'static Tool, Map<String, Value>) {
    if tool.name == ManageRequest::TOOL.name {
        match listed(&arguments) {
            Some(lookup) => (&LookupRequest::TOOL, lookup),
            None => (tool, arguments),
        }
    } else if tool.name == CalendarSave::TOOL.name {
        (tool, with_event(arguments))
    } else {
        (tool, arguments)
    }
}

/// Returns the arguments of `lookup` for a call of `manage` that requests a list.
fn listed(arguments: &Map<String, Value>) -> Option<Map<String, Value>> {
    let op = arguments.get("op")?.as_str()?.trim();
    if !["list", "get", "show", "read"].iter().any(|reads| op.eq_ignore_ascii_case(reads)) {
        return None;
    }
    let kind = arguments.get("kind")?.as_str()?.trim().to_lowercase();
    let kind = if kind == "category" {
        "categories".to_owned()
    } else if kind == "auto_reply" || kind.ends_with('s') {
        kind
    } else {
        format!("{kind}s")
    };
    let mut lookup = arguments.clone();
    for of_writing in ["op", "set", "dry_run"] {
        lookup.remove(of_writing);
    }
    lookup.insert("kind".to_owned(), json!(kind));
    // `lookup` calls a name `q`; it then checks all other arguments.
    for name in ["name", "id"] {
        if let Some(name) = lookup.remove(name).filter(|name| !name.is_null()) {
            lookup.entry("q").or_insert(name);
        }
    }
    Some(lookup)
}

/// Returns the arguments of `calendar_save`, with event fields outside of `events` moved into an
/// event. If `events` is given, they could belong to any of them: the call is left unchanged, and
/// refused.
fn with_event(mut arguments: Map<String, Value>) -> Map<String, Value> {
    if arguments.contains_key("events") {
        return arguments;
    }
    let of_event = |name: &str| EventWords::ARGS.iter().any(|arg| arg.name == name);
    let of_save = |name: &str| CalendarSave::ARGS.iter().any(|arg| arg.name == name);
    let mut event = Map::new();
    arguments.retain(|name, value| {
        let name = snake_case(name);
        let named = synonyms::meant_argument("events", &name, of_event).unwrap_or(&name);
        // `id` names the event to change, which is also what `ids` does.
        if of_save(named) || named == "id" || !of_event(named) {
            return true;
        }
        // Two guesses for one field, such as `start_date` and `start_time`, are kept, and refused
        // later.
        let twice = event.contains_key(named);
        if !value.is_null() {
            event.insert(if twice { name.clone() } else { named.to_owned() }, value.take());
        }
        false
    });
    if !event.is_empty() {
        arguments.insert("events".to_owned(), json!([event]));
    }
    arguments
}
