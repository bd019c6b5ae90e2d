//! The rules of an inbox: kept as they were sent, and carried out on what comes
//! in, as far as they are simple.
//!
//! A request finds what has come since the last one and lets the rules look at
//! it, before it sees the mailbox itself.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::context::MailContext;
use super::flag;
use super::read::message::Importance;
use crate::graph::error::{GraphError, invalid_request, not_found, rule_refused};
use crate::graph::exchange::Store;
use crate::graph::exchange::folders;
use crate::graph::request::RequestContext;
use crate::graph::response::{Body, GraphResponse, no_content};
use crate::graph::types::mail::RULE;
use crate::graph::types::read::read;
use crate::state::State;
use crate::store::mailbox::change::{Change, HistoryEvent};
use crate::store::message::Message;

/// The properties of a rule, in the order of the wire.
pub(super) const PROPERTIES: [&str; 9] = [
    "id", "displayName", "sequence", "isEnabled", "hasError", "isReadOnly", "conditions",
    "actions", "exceptions",
];

/// The number of the folder that has rules.
const INBOX: u16 = 12;

/// The rules, in their order.
pub(crate) fn list(context: &RequestContext<'_>, folder: &str) -> Result<Body, GraphError> {
    inbox(context.store, folder)?;
    context.options.check_select(&PROPERTIES, "messageRule")?;
    let rules = context.store.with(|exchange| exchange.rules.clone());
    let of = "mailFolders('inbox')/messageRules";
    context.list(&rules, rules.len().max(1), of, |_, rule| context.options.cut(rule.clone()).into())
}

/// One rule.
pub(crate) fn one(
    context: &RequestContext<'_>,
    folder: &str,
    id: &str,
) -> Result<Body, GraphError> {
    inbox(context.store, folder)?;
    context.options.check_select(&PROPERTIES, "messageRule")?;
    let rule = context.store.with(|exchange| {
        let found = exchange.rules.iter().find(|rule| is(rule, id));
        found.cloned()
    });
    let rule = context.options.cut(rule.ok_or_else(not_found)?);
    Ok(context.single(rule, "mailFolders('inbox')/messageRules"))
}

/// Makes a rule.
pub(super) fn create(context: &MailContext<'_>, folder: &str) -> Result<GraphResponse, GraphError> {
    inbox(context.store()?, folder)?;
    let members = read(context.request, &RULE, true)?;
    for needed in ["displayName", "actions"] {
        if members.get(needed).is_none_or(Value::is_null) {
            return Err(invalid_request(&format!("The {needed} of a rule is required.")));
        }
    }
    let mailbox = context.store()?.mailbox;
    let (number, next) = context.with(|exchange| {
        let last = exchange.rules.iter().map(sequence).max().unwrap_or(0);
        if exchange.rules.is_empty() {
            // What has come so far came without rules.
            exchange.ruled = mailbox.history;
        }
        (exchange.number(), last + 1)
    });
    let mut rule = Map::new();
    rule.insert("id".to_owned(), format!("AQAA{number:08X}=").into());
    rule.insert("sequence".to_owned(), next.into());
    rule.insert("isEnabled".to_owned(), true.into());
    rule.insert("hasError".to_owned(), false.into());
    rule.insert("isReadOnly".to_owned(), false.into());
    let rule = merge_rule(context, rule, members)?;
    keep(context, rule.clone());
    reply(context, rule, StatusCode::CREATED)
}

/// Changes a rule; conditions, actions and exceptions are replaced whole.
pub(super) fn change(
    context: &MailContext<'_>,
    folder: &str,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    inbox(context.store()?, folder)?;
    let members = read(context.request, &RULE, true)?;
    let rule = context.with(|exchange| exchange.rules.iter().find(|rule| is(rule, id)).cloned());
    let rule = merge_rule(context, rule.ok_or_else(not_found)?, members)?;
    keep(context, rule.clone());
    reply(context, rule, StatusCode::OK)
}

/// Deletes a rule.
pub(super) fn delete(
    context: &MailContext<'_>,
    folder: &str,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    inbox(context.store()?, folder)?;
    let gone = context.with(|exchange| {
        let before = exchange.rules.len();
        exchange.rules.retain(|rule| !is(rule, id));
        exchange.rules.len() < before
    });
    match gone {
        true => Ok(no_content()),
        false => Err(not_found()),
    }
}

/// Only the inbox has rules.
fn inbox(store: Store<'_>, folder: &str) -> Result<(), GraphError> {
    match store.folder(folder)?.number == INBOX {
        true => Ok(()),
        false => Err(invalid_request("Only the inbox has message rules.")),
    }
}

fn is(rule: &Map<String, Value>, id: &str) -> bool {
    rule.get("id").and_then(Value::as_str) == Some(id)
}

fn sequence(rule: &Map<String, Value>) -> i64 {
    rule.get("sequence").and_then(Value::as_i64).unwrap_or(1)
}

/// A rule with what a body says, in the order of the wire.
fn merge_rule(
    context: &MailContext<'_>,
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
    for name in ["moveToFolder", "copyToFolder"] {
        if let Some(folder) = action(name).and_then(Value::as_str) {
            context
                .store()?
                .folder(folder)
                .map_err(|_| rule_refused("The folder of a rule's action is not there."))?;
        }
    }
    let mut ordered = Map::new();
    for name in PROPERTIES {
        if let Some(value) = rule.shift_remove(name) {
            ordered.insert(name.to_owned(), value);
        }
    }
    Ok(ordered)
}

/// Puts a rule into its place.
fn keep(context: &MailContext<'_>, rule: Map<String, Value>) {
    context.with(|exchange| {
        let id = rule.get("id").and_then(Value::as_str).map(str::to_owned);
        exchange.rules.retain(|known| !is(known, id.as_deref().unwrap_or_default()));
        exchange.rules.push(rule);
        exchange.rules.sort_by_key(sequence);
    });
}

fn reply(
    context: &MailContext<'_>,
    rule: Map<String, Value>,
    status: StatusCode,
) -> Result<GraphResponse, GraphError> {
    let id = rule.get("id").and_then(Value::as_str).unwrap_or_default();
    let path = format!("mailFolders('inbox')/messageRules('{id}')");
    context.entity(rule, "mailFolders('inbox')/messageRules", &path, status)
}

/// Lets the rules look at what has come into an inbox.
pub(crate) fn catch_up(state: &State, address: &str) {
    let (rules, since) =
        state.graph.exchange(address, |exchange| (exchange.rules.clone(), exchange.ruled));
    let enabled = |rule: &Map<String, Value>| rule.get("isEnabled") == Some(&Value::Bool(true));
    let Some(store) = Store::of(state, address).filter(|_| !rules.is_empty()) else {
        return;
    };
    let mailbox = store.mailbox;
    let came = mailbox.records.iter().rev();
    let came: Vec<u64> = came
        .take_while(|record| record.history > since)
        .filter(|record| record.what == HistoryEvent::Added)
        .map(|record| record.message)
        .collect();
    for message in came.into_iter().rev().filter_map(|id| mailbox.message(id)) {
        if !message.has("INBOX") || message.has("SENT") || message.has("DRAFT") {
            continue;
        }
        let mut labels = message.labels.clone();
        for rule in rules.iter().filter(|rule| enabled(rule)) {
            let part = |name: &str| rule.get(name).and_then(Value::as_object);
            let met = part("conditions").is_none_or(|it| all_met(it, message));
            let excepted = part("exceptions").is_some_and(|it| any_met(it, message));
            if !met || excepted {
                continue;
            }
            let actions = part("actions").cloned().unwrap_or_default();
            labels = carried_out(state, store, labels, &actions);
            if actions.get("stopProcessingRules") == Some(&Value::Bool(true)) {
                break;
            }
        }
        let gone = labels.iter().any(|label| label == GONE);
        let change = match gone {
            true => Change::Goes(vec![message.id]),
            false => Change::Labels(message.id, labels),
        };
        state.change(address, |_| Some(change));
    }
    // What the rules have done is nothing that came.
    let now = state.mailbox(address).map_or(since, |it| it.history);
    state.graph.exchange(address, |exchange| exchange.ruled = now);
}

/// What a message is marked with that a rule deletes for good.
const GONE: &str = " gone";

/// The labels of a message after a rule's actions.
fn carried_out(
    state: &State,
    store: Store<'_>,
    mut labels: Vec<String>,
    actions: &Map<String, Value>,
) -> Vec<String> {
    let truth = |name: &str| actions.get(name) == Some(&json!(true));
    if truth("markAsRead") {
        labels.retain(|label| label != "UNREAD");
    }
    if let Some(word) = actions.get("markImportance").and_then(Value::as_str) {
        labels.retain(|label| label != "IMPORTANT");
        if word == "high" {
            labels.push("IMPORTANT".to_owned());
        }
    }
    let names = actions.get("assignCategories").and_then(Value::as_array);
    for name in names.into_iter().flatten().filter_map(Value::as_str) {
        let id = flag::category(state, &store.mailbox.address, name);
        labels.extend(id.filter(|id| !labels.contains(id)));
    }
    let folder = actions.get("moveToFolder").and_then(Value::as_str);
    if let Some(Ok(folder)) = folder.map(|id| store.folder(id)) {
        labels = folders::labels_in(&labels, folder.number);
    }
    if truth("delete") {
        labels = folders::labels_in(&labels, folders::DELETED);
    }
    if truth("permanentDelete") {
        labels.push(GONE.to_owned());
    }
    labels
}

/// True when a message meets all conditions; one that is not known is not met.
fn all_met(conditions: &Map<String, Value>, message: &Message) -> bool {
    let mut conditions = non_empty(conditions);
    conditions.all(|(name, value)| meets(name, value, message))
}

/// True when a message meets any of some exceptions.
fn any_met(exceptions: &Map<String, Value>, message: &Message) -> bool {
    non_empty(exceptions).any(|(name, value)| meets(name, value, message))
}

/// Those that say something.
fn non_empty(all: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let is_set =
        |value: &Value| !value.is_null() && value.as_array().is_none_or(|it| !it.is_empty());
    let all = all.iter().map(|(name, value)| (name.as_str(), value));
    all.filter(move |(_, value)| is_set(value))
}

/// True when a message meets one condition.
fn meets(name: &str, condition: &Value, message: &Message) -> bool {
    let facts = &message.facts;
    let contains = |field_text: &str| {
        let field_text = field_text.to_lowercase();
        let condition = condition.as_array().into_iter().flatten();
        let mut condition = condition.filter_map(Value::as_str);
        condition.any(|text| field_text.contains(&text.to_lowercase()))
    };
    let addresses = |field_text: &str| {
        let field_text = field_text.to_lowercase();
        let condition = condition.as_array().into_iter().flatten();
        let mut condition =
            condition.filter_map(|it| it.pointer("/emailAddress/address")?.as_str());
        condition.any(|address| field_text.contains(&address.to_lowercase()))
    };
    let body = || {
        let (plain, html) = message.shown_texts();
        [plain, html].concat().join("\n")
    };
    match name {
        "senderContains" => contains(&facts.from),
        "subjectContains" => contains(&facts.subject),
        "bodyContains" => contains(&body()),
        "bodyOrSubjectContains" => contains(&facts.subject) || contains(&body()),
        "recipientContains" => contains(&facts.to) || contains(&facts.cc),
        "fromAddresses" => addresses(&facts.from),
        "sentToAddresses" => addresses(&facts.to) || addresses(&facts.cc),
        "hasAttachments" => condition.as_bool() == Some(!message.filenames().is_empty()),
        "importance" => condition.as_str() == Some(Importance::of(message).name()),
        _ => false,
    }
}
