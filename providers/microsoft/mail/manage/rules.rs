//! Converts Outlook's inbox rules to rules of ours and back.
//!
//! A rule applies if every condition holds for one of its values, and no exception does. Only
//! conjunctions of such conditions, some of them negated, can be written as rules; other queries
//! are refused with a list of the possible conditions. Other parts of existing rules are described
//! in words, and such rules are never written.

use daysheet_core::error::{Error, Result};
use daysheet_core::provider::mail::{MailPerson, MailRule, RuleStep};
use daysheet_core::query::{MessagePart, MessageState, Query, QueryTerm, one_or};
use daysheet_core::text::{brief, cell};
use serde_json::{Map, Value, json};

use crate::json::{is, nested, text};
use crate::microsoft::mail::drafts;
use crate::microsoft::mail::folders::FolderTree;

/// The size that Exchange treats as unlimited, in kilobytes.
const NO_LIMIT: u64 = 2_147_483_647;
/// The conditions that a rule may have, for errors.
const SAYABLE: &str = "use from:, to:, subject:, body:, plain words, category:, is:important, \
                       has:attachment, larger: and smaller:, each once, with OR between values of \
                       one, and - before exceptions";

/// Converts Graph's rule to one of ours.
pub fn rule(rule: &Value, tree: &FolderTree) -> MailRule {
    let mut other = Vec::new();
    let mut parts = conditions(nested(rule, "conditions"), "if", &mut other);
    for excepted in conditions(nested(rule, "exceptions"), "except if", &mut other) {
        parts.push(Query::Not(Box::new(excepted)));
    }
    let actions = nested(rule, "actions");
    let then = steps(actions, tree, &mut other);
    if is(rule, "isReadOnly") {
        other.push("it can be changed only in Outlook".to_owned());
    }
    if is(rule, "hasError") {
        other.push("Outlook reports an error in it".to_owned());
    }
    MailRule {
        id: text(rule, "id").to_owned(),
        name: Some(cell(text(rule, "displayName"))).filter(|name| !name.is_empty()),
        enabled: rule.get("isEnabled") != Some(&Value::Bool(false)),
        when: (!parts.is_empty()).then(|| one_or(parts, Query::All)),
        then,
        stop: is(actions, "stopProcessingRules"),
        other,
    }
}

/// Returns the conditions or exceptions of a rule. Descriptions of those that no query can express
/// are added to `other`, after `word`.
fn conditions(predicates: &Value, word: &str, other: &mut Vec<String>) -> Vec<Query> {
    let mut parts = Vec::new();
    for (key, value) in predicates.as_object().into_iter().flatten() {
        if is_unset(value) {
            continue;
        }
        let any = |term: fn(String) -> QueryTerm| {
            let terms = values(value).into_iter().map(term).map(Query::Term);
            let terms: Vec<Query> = terms.collect();
            (!terms.is_empty()).then(|| one_or(terms, Query::Any))
        };
        let part = match key.as_str() {
            "fromAddresses" | "senderContains" => {
                any(|text| QueryTerm::In(MessagePart::From, text))
            }
            "sentToAddresses" | "recipientContains" => {
                any(|text| QueryTerm::In(MessagePart::To, text))
            }
            "subjectContains" => any(|text| QueryTerm::In(MessagePart::Subject, text)),
            "bodyContains" => any(|text| QueryTerm::In(MessagePart::Body, text)),
            "bodyOrSubjectContains" => any(QueryTerm::Text),
            "categories" => any(QueryTerm::Category),
            "hasAttachments" => Some(Query::Term(QueryTerm::Attachment)),
            "importance" if same(value, "high") => {
                Some(Query::Term(QueryTerm::Is(MessageState::Important)))
            }
            "withinSizeRange" => size_range(value),
            _ => None,
        };
        match part {
            Some(part) => parts.push(part),
            None => other.push(match value {
                Value::String(value) => format!("{word} {} is {value}", spaced(key)),
                Value::Array(_) => {
                    let values: Vec<String> = values(value).iter().map(|one| brief(one)).collect();
                    format!("{word} {}: {}", spaced(key), values.join(", "))
                }
                _ => format!("{word} {}", spaced(key)),
            }),
        }
    }
    parts
}

/// Returns true for null, false and empty lists: Outlook writes these for conditions
/// that a rule does not have.
fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Object(members) => members.values().all(Value::is_null),
        _ => false,
    }
}

fn same(value: &Value, word: &str) -> bool {
    value.as_str().is_some_and(|text| text.eq_ignore_ascii_case(word))
}

/// Returns the texts of a list, or the addresses of its people.
fn values(value: &Value) -> Vec<String> {
    let one = |item: &Value| match item {
        Value::String(text) => Some(cell(text)),
        person => Some(cell(text(nested(person, "emailAddress"), "address"))),
    };
    let list = value.as_array();
    list.into_iter().flatten().filter_map(one).filter(|text| !text.is_empty()).collect()
}

fn size_range(value: &Value) -> Option<Query> {
    let kilobytes = |key| value.get(key).and_then(Value::as_u64);
    let least = kilobytes("minimumSize").filter(|size| *size > 0);
    let most = kilobytes("maximumSize").filter(|size| *size < NO_LIMIT);
    let mut parts = Vec::new();
    parts.extend(least.map(|size| Query::Term(QueryTerm::Larger(size * 1024))));
    parts.extend(most.map(|size| Query::Term(QueryTerm::Smaller(size * 1024))));
    (!parts.is_empty()).then(|| one_or(parts, Query::All))
}

/// Splits a name such as `sentOnlyToMe` into words.
fn spaced(key: &str) -> String {
    let mut words = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

fn steps(actions: &Value, tree: &FolderTree, other: &mut Vec<String>) -> Vec<RuleStep> {
    let mut steps = Vec::new();
    let name = |id: &Value| {
        let id = id.as_str().unwrap_or_default();
        let name = tree.names().get(id).map(String::as_str);
        name.unwrap_or("a deleted folder").to_owned()
    };
    for (key, value) in actions.as_object().into_iter().flatten() {
        if is_unset(value) {
            continue;
        }
        match key.as_str() {
            "stopProcessingRules" => {}
            "markAsRead" => steps.push(RuleStep::Read),
            "markImportance" if same(value, "high") => steps.push(RuleStep::Important),
            "assignCategories" => steps.extend(values(value).into_iter().map(RuleStep::Label)),
            "delete" => steps.push(RuleStep::Trash),
            "moveToFolder" => steps.push(match name(value).as_str() {
                "archive" => RuleStep::Archive,
                "trash" => RuleStep::Trash,
                name => RuleStep::Move(name.to_owned()),
            }),
            "forwardTo" | "redirectTo" | "forwardAsAttachmentTo" => {
                steps.extend(values(value).into_iter().map(RuleStep::Forward));
            }
            "copyToFolder" => other.push(format!("puts a copy into {}", brief(&name(value)))),
            "permanentDelete" => other.push("deletes permanently".to_owned()),
            "markImportance" => {
                let importance = brief(value.as_str().unwrap_or_default());
                other.push(format!("sets importance {importance}"));
            }
            key => other.push(spaced(key)),
        }
    }
    steps
}

/// Converts a rule of ours to Graph's form, without its position.
///
/// # Errors
/// [`daysheet_core::error::ErrorKind::Argument`] for parts that Outlook's rules cannot express,
/// [`daysheet_core::error::ErrorKind::NotFound`] for unknown folders.
pub fn body(rule: &MailRule, tree: &FolderTree) -> Result<Map<String, Value>> {
    if let Some(other) = rule.other.first() {
        return Err(Error::argument(format!(
            "the rule has parts not supported here: {}",
            brief(other)
        ))
        .next("change it in Outlook"));
    }
    let mut collected = RuleConditions::default();
    if let Some(when) = &rule.when {
        collected.all(when)?;
    }
    let mut body = Map::new();
    if let Some(name) = &rule.name {
        body.insert("displayName".to_owned(), name.as_str().into());
    }
    body.insert("isEnabled".to_owned(), rule.enabled.into());
    body.insert("conditions".to_owned(), predicates_json(collected.conditions));
    body.insert("exceptions".to_owned(), predicates_json(collected.exceptions));
    body.insert("actions".to_owned(), actions(rule, tree)?);
    Ok(body)
}

/// Returns predicates in Graph's form; null if empty.
fn predicates_json(predicates: Map<String, Value>) -> Value {
    if predicates.is_empty() { Value::Null } else { predicates.into() }
}

/// The conditions and exceptions of a query.
#[derive(Default)]
struct RuleConditions {
    conditions: Map<String, Value>,
    exceptions: Map<String, Value>,
}

impl RuleConditions {
    /// Adds conditions that all have to hold.
    fn all(&mut self, query: &Query) -> Result<()> {
        match query {
            Query::All(parts) => parts.iter().try_for_each(|part| self.all(part)),
            Query::Not(inner) => self.none(inner),
            // Rules apply only to mail that arrives in the inbox.
            Query::Term(QueryTerm::Folder(place)) if place == "inbox" => Ok(()),
            Query::Term(term) => self.condition(&[term]),
            Query::Any(parts) => self.condition(&plain(parts)?),
            Query::Raw(_) => Err(unsayable("`raw:`")),
        }
    }

    /// Adds exceptions.
    fn none(&mut self, query: &Query) -> Result<()> {
        match query {
            // One exception suffices, as one part of an OR does.
            Query::Any(parts) => parts.iter().try_for_each(|part| self.none(part)),
            Query::Not(inner) => self.all(inner),
            Query::Term(term) => {
                let (key, value) = predicate(&[term])?;
                match (self.exceptions.get_mut(key), value) {
                    (None, value) => {
                        self.exceptions.insert(key.to_owned(), value);
                    }
                    (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
                    (Some(known), value) if *known == value => {}
                    // Outlook would combine two limits into one range in which both have to hold.
                    _ => return Err(unsayable("two exceptions by size")),
                }
                Ok(())
            }
            Query::All(_) => Err(unsayable("an exception of several parts")),
            Query::Raw(_) => Err(unsayable("`raw:`")),
        }
    }

    fn condition(&mut self, terms: &[&QueryTerm]) -> Result<()> {
        let (key, value) = predicate(terms)?;
        match (self.conditions.get_mut(key), value) {
            (None, value) => {
                self.conditions.insert(key.to_owned(), value);
                Ok(())
            }
            (Some(Value::Object(range)), Value::Object(more)) => {
                // A minimum and a maximum size can be combined.
                for (limit, value) in more {
                    let value = match (range.get(&limit).and_then(Value::as_u64), value.as_u64()) {
                        (Some(one), Some(two)) if limit == "minimumSize" => one.max(two),
                        (Some(one), Some(two)) => one.min(two),
                        (_, two) => two.unwrap_or_default(),
                    };
                    range.insert(limit, value.into());
                }
                Ok(())
            }
            (Some(known), value) if *known == value => Ok(()),
            _ => Err(unsayable("two conditions on the same part of a message")),
        }
    }
}

/// Returns the conditions of an OR, including nested ones.
fn plain(parts: &[Query]) -> Result<Vec<&QueryTerm>> {
    let mut terms = Vec::new();
    for part in parts {
        match part {
            Query::Term(term) => terms.push(term),
            Query::Any(inner) => terms.extend(plain(inner)?),
            _ => return Err(unsayable("OR between groups")),
        }
    }
    Ok(terms)
}

/// Returns the predicate that holds if one of the terms does.
fn predicate(terms: &[&QueryTerm]) -> Result<(&'static str, Value)> {
    let [first, rest @ ..] = terms else {
        return Err(unsayable("an empty group"));
    };
    let text_of = |term: &QueryTerm| match term {
        QueryTerm::In(MessagePart::Bcc | MessagePart::Cc | MessagePart::Filename, _) => None,
        QueryTerm::Text(text)
        | QueryTerm::In(_, text)
        | QueryTerm::Category(text)
        | QueryTerm::Label(text) => Some(text.clone()),
        _ => None,
    };
    let alike = |one: &QueryTerm, other: &QueryTerm| match (one, other) {
        (QueryTerm::In(part, _), QueryTerm::In(another, _)) => part == another,
        (
            QueryTerm::Category(_) | QueryTerm::Label(_),
            QueryTerm::Category(_) | QueryTerm::Label(_),
        ) => true,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    };
    if let Some(odd) = rest.iter().find(|term| !alike(first, term)) {
        return Err(unsayable(&format!(
            "OR between {} and {}",
            condition_name(first),
            condition_name(odd)
        )));
    }
    let texts: Option<Vec<String>> = terms.iter().map(|term| text_of(term)).collect();
    if let Some(texts) = texts {
        let addresses = texts.iter().all(|text| is_address(text));
        let people = |key| {
            let person = |address: &String| {
                drafts::recipient(&MailPerson { name: None, address: address.clone().into() })
            };
            (key, texts.iter().map(person).collect::<Value>())
        };
        return Ok(match first {
            QueryTerm::In(MessagePart::From, _) if addresses => people("fromAddresses"),
            QueryTerm::In(MessagePart::From, _) => ("senderContains", json!(texts)),
            QueryTerm::In(MessagePart::To, _) if addresses => people("sentToAddresses"),
            // This includes Cc recipients at Outlook.
            QueryTerm::In(MessagePart::To, _) => ("recipientContains", json!(texts)),
            QueryTerm::In(MessagePart::Subject, _) => ("subjectContains", json!(texts)),
            QueryTerm::In(MessagePart::Body, _) => ("bodyContains", json!(texts)),
            QueryTerm::Text(_) => ("bodyOrSubjectContains", json!(texts)),
            _ => ("categories", json!(texts)),
        });
    }
    if !rest.is_empty() {
        return Err(unsayable(&format!("OR with {}", condition_name(first))));
    }
    Ok(match first {
        QueryTerm::Attachment => ("hasAttachments", true.into()),
        QueryTerm::Is(MessageState::Important) => ("importance", "high".into()),
        // In kilobytes; Graph requires both limits.
        QueryTerm::Larger(bytes) => (
            "withinSizeRange",
            json!({"minimumSize": bytes.div_ceil(1024), "maximumSize": NO_LIMIT}),
        ),
        QueryTerm::Smaller(bytes) => {
            ("withinSizeRange", json!({"minimumSize": 0, "maximumSize": bytes / 1024}))
        }
        term => return Err(unsayable(&condition_name(term))),
    })
}

fn is_address(text: &str) -> bool {
    let parts = text.split_once('@');
    let whole = parts.is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'));
    whole && !text.chars().any(char::is_whitespace)
}

/// Returns the name of a condition, for errors.
fn condition_name(term: &QueryTerm) -> String {
    match term {
        QueryTerm::Text(_) => "plain words".to_owned(),
        QueryTerm::In(part, _) => format!("`{}:`", part.operator()),
        QueryTerm::Folder(_) => "`in:`".to_owned(),
        QueryTerm::Label(_) | QueryTerm::Category(_) => "`category:`".to_owned(),
        QueryTerm::Is(MessageState::Unread) => "`is:unread`".to_owned(),
        QueryTerm::Is(MessageState::Read) => "`is:read`".to_owned(),
        QueryTerm::Is(MessageState::Starred) => "`is:flagged`".to_owned(),
        QueryTerm::Is(MessageState::Important) => "`is:important`".to_owned(),
        QueryTerm::Attachment => "`has:attachment`".to_owned(),
        QueryTerm::Larger(_) => "`larger:`".to_owned(),
        QueryTerm::Smaller(_) => "`smaller:`".to_owned(),
        QueryTerm::Before(_) => "`before:`".to_owned(),
        QueryTerm::After(_) => "`after:`".to_owned(),
    }
}

fn unsayable(what: &str) -> Error {
    Error::argument(format!("an Outlook rule cannot have {what}")).next(SAYABLE)
}

fn actions(rule: &MailRule, tree: &FolderTree) -> Result<Value> {
    let mut actions = Map::new();
    let mut categories: Vec<&str> = Vec::new();
    let refused = |what: &str, next: &str| Err(Error::argument(what.to_owned()).next(next));
    for step in &rule.then {
        let folder = match step {
            RuleStep::Read => {
                actions.insert("markAsRead".to_owned(), true.into());
                continue;
            }
            RuleStep::Important => {
                actions.insert("markImportance".to_owned(), "high".into());
                continue;
            }
            RuleStep::Trash => {
                actions.insert("delete".to_owned(), true.into());
                continue;
            }
            RuleStep::Label(name) => {
                categories.push(name);
                continue;
            }
            RuleStep::Archive => "archive",
            RuleStep::Move(name) => name,
            RuleStep::Star => {
                return refused(
                    "an Outlook rule cannot flag messages",
                    "mark them important, or use a category",
                );
            }
            RuleStep::NeverSpam => {
                return refused(
                    "an Outlook rule cannot keep mail out of spam",
                    "add the sender to the safe senders in Outlook",
                );
            }
            RuleStep::Forward(_) => {
                return refused("forwarding rules are not created here", "create it in Outlook");
            }
        };
        let id = tree.resolve(folder)?;
        let known = actions.insert("moveToFolder".to_owned(), id.into());
        if known.is_some_and(|known| known != id) {
            return refused(
                "an Outlook rule moves to one folder",
                "name one folder, and use categories for the rest",
            );
        }
    }
    if !categories.is_empty() {
        actions.insert("assignCategories".to_owned(), json!(categories));
    }
    if actions.contains_key("delete") && actions.contains_key("moveToFolder") {
        return refused("a rule cannot both delete and move a message", "use one");
    }
    if actions.is_empty() {
        return refused(
            "the rule has no action",
            "give one: read, archive, trash, important, a category or a folder",
        );
    }
    actions.insert("stopProcessingRules".to_owned(), rule.stop.into());
    Ok(actions.into())
}
