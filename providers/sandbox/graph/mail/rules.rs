//! The rules of the inbox. They are stored as sent, but not applied to messages.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use crate::graph::error::{GraphError, invalid_request, not_found, rule_refused};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::request::RequestContext;
use crate::graph::response::{GraphBody, GraphResponse, no_content};
use crate::graph::types::mail::RULE;
use crate::graph::types::read::read;
use crate::json::object;

/// The number of the inbox, the only folder with rules.
const INBOX: u16 = 12;

/// The path of the rules.
const OF: &str = "mailFolders('inbox')/messageRules";

/// Answers with the rules in order.
pub(crate) fn list(context: &RequestContext<'_>, folder: &str) -> Result<GraphBody, GraphError> {
    inbox(context.store, folder)?;
    context.options.check_type(&RULE)?;
    let rules = context.store.with(|exchange| exchange.rules.clone());
    context.list(&rules, rules.len().max(1), OF, |_, rule| context.options.cut(rule.clone()).into())
}

/// Answers with one rule.
pub(crate) fn read_rule(
    context: &RequestContext<'_>,
    folder: &str,
    id: &str,
) -> Result<GraphBody, GraphError> {
    inbox(context.store, folder)?;
    context.options.check_type(&RULE)?;
    let rule = context.store.with(|exchange| {
        let found = exchange.rules.iter().find(|rule| is(rule, id));
        found.cloned()
    });
    let rule = context.options.cut(rule.ok_or_else(not_found)?);
    Ok(context.single(rule, OF))
}

/// Creates a rule.
pub(crate) fn create(
    context: &RequestContext<'_>,
    folder: &str,
) -> Result<GraphResponse, GraphError> {
    inbox(context.present()?, folder)?;
    let members = read(context.request, &RULE, true)?;
    for needed in ["displayName", "actions"] {
        if members.get(needed).is_none_or(Value::is_null) {
            return Err(invalid_request(format!("The {needed} of a rule is required.")));
        }
    }
    let (number, next) = context.with(|exchange| {
        let last = exchange.rules.iter().map(sequence).max().unwrap_or(0);
        (exchange.number(), last + 1)
    });
    let rule = object(json!({
        "id": format!("AQAA{number:08X}="),
        "sequence": next,
        "isEnabled": true,
        "hasError": false,
        "isReadOnly": false,
    }));
    let rule = merge_rule(context, rule, members)?;
    keep(context, rule.clone());
    Ok(context.entity(rule, OF, StatusCode::CREATED))
}

/// Changes a rule. Conditions, actions and exceptions are replaced as a whole.
pub(crate) fn change(
    context: &RequestContext<'_>,
    folder: &str,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    inbox(context.present()?, folder)?;
    let members = read(context.request, &RULE, true)?;
    let rule = context.with(|exchange| exchange.rules.iter().find(|rule| is(rule, id)).cloned());
    let rule = merge_rule(context, rule.ok_or_else(not_found)?, members)?;
    keep(context, rule.clone());
    Ok(context.entity(rule, OF, StatusCode::OK))
}

/// Deletes a rule.
pub(crate) fn delete(
    context: &RequestContext<'_>,
    folder: &str,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    inbox(context.present()?, folder)?;
    let found = context.with(|exchange| {
        let before = exchange.rules.len();
        exchange.rules.retain(|rule| !is(rule, id));
        exchange.rules.len() < before
    });
    if found { Ok(no_content()) } else { Err(not_found()) }
}

/// Refuses every folder but the inbox.
fn inbox(store: ExchangeMailbox<'_>, folder: &str) -> Result<(), GraphError> {
    if store.folder(folder)?.number == INBOX {
        Ok(())
    } else {
        Err(invalid_request("Only the inbox has message rules."))
    }
}

fn is(rule: &Map<String, Value>, id: &str) -> bool {
    rule.get("id").and_then(Value::as_str) == Some(id)
}

fn sequence(rule: &Map<String, Value>) -> i64 {
    rule.get("sequence").and_then(Value::as_i64).unwrap_or(1)
}

/// Applies a body to a rule. The members are put into the order in which Graph returns them.
fn merge_rule(
    context: &RequestContext<'_>,
    mut rule: Map<String, Value>,
    members: Map<String, Value>,
) -> Result<Map<String, Value>, GraphError> {
    const OURS: [&str; 3] = ["id", "hasError", "isReadOnly"];
    for (name, value) in members {
        if !OURS.contains(&name.as_str()) {
            rule.insert(name, value);
        }
    }
    if sequence(&rule) < 1 {
        return Err(rule_refused("The sequence of a rule begins with 1."));
    }
    let action = |name: &str| rule.get("actions")?.get(name);
    // Checked when a rule is saved, because rules are never applied here.
    for name in ["moveToFolder", "copyToFolder"] {
        if let Some(folder) = action(name).and_then(Value::as_str) {
            let found = context.store.folder(folder);
            found.map_err(|_| rule_refused("The folder of a rule's action is not there."))?;
        }
    }
    let mut ordered = Map::new();
    for name in RULE.names() {
        if let Some(value) = rule.shift_remove(name) {
            ordered.insert(name.to_owned(), value);
        }
    }
    Ok(ordered)
}

/// Stores a rule in its place.
fn keep(context: &RequestContext<'_>, rule: Map<String, Value>) {
    context.with(|exchange| {
        let id = rule.get("id").and_then(Value::as_str).map(str::to_owned);
        exchange.rules.retain(|known| !is(known, id.as_deref().unwrap_or_default()));
        exchange.rules.push(rule);
        exchange.rules.sort_by_key(sequence);
    });
}
