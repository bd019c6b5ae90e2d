//! Gmail's filters, read as rules, and conditions of rules written as filters. No I/O.
//!
//! Parts of a filter that our query language or actions cannot express are described in words, so
//! that a rule is never changed after being read in part.

use std::collections::HashMap;

use daysheet_core::error::{Error, Result};
use daysheet_core::provider::mail::{MailRule, RuleStep};
use daysheet_core::query::{DateContext, MessagePart, Query, QueryTerm, one_or, parse};
use daysheet_core::text::brief;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use crate::google::mail::fetch::list;
use crate::google::mail::query::compile;
use crate::json::text;
use crate::labels::is_category;

/// Fields of a filter that contain words to search for.
const WORDS: [&str; 3] = ["from", "to", "subject"];
/// Operators whose meaning depends on the current day or on Gmail's time zone.
const DATED: [&str; 4] = ["before:", "after:", "older", "newer"];

/// Converts a filter to a rule; `names` has label names by id.
pub(super) fn rule(filter: &Value, names: &HashMap<String, String>) -> MailRule {
    let mut other = Vec::new();
    let when = condition(filter.get("criteria").unwrap_or(&Value::Null), &mut other);
    let then = steps(filter.get("action").unwrap_or(&Value::Null), names, &mut other);
    MailRule {
        id: text(filter, "id").to_owned(),
        name: None,
        enabled: true,
        when,
        then,
        stop: false,
        other,
    }
}

fn condition(criteria: &Value, other: &mut Vec<String>) -> Option<Query> {
    let mut parts = Vec::new();
    for (key, value) in criteria.as_object().into_iter().flatten() {
        let words = value.as_str().unwrap_or_default().trim();
        let read = match (key.as_str(), value) {
            (_, Value::Null | Value::Bool(false)) => continue,
            // Chats are not mail, so excluding them changes nothing.
            ("excludeChats", _) => continue,
            ("query", _) if words.is_empty() => continue,
            ("negatedQuery", _) if words.is_empty() => continue,
            (key, _) if WORDS.contains(&key) && words.is_empty() => continue,
            ("hasAttachment", _) => Some(Query::Term(QueryTerm::Attachment)),
            ("size", value) => match (value.as_u64(), text(criteria, "sizeComparison")) {
                (Some(0), _) => continue,
                (Some(size), "larger") => Some(Query::Term(QueryTerm::Larger(size))),
                (Some(size), "smaller") => Some(Query::Term(QueryTerm::Smaller(size))),
                _ => None,
            },
            ("sizeComparison", _) => continue,
            ("query", _) => parse_gmail(words),
            ("negatedQuery", _) => parse_gmail(words).map(|query| Query::Not(Box::new(query))),
            (key, _) if WORDS.contains(&key) => within(key, words),
            _ => None,
        };
        match read {
            Some(query) => parts.push(query),
            None => other.push(format!("the condition {key}: {}", value_text(value))),
        }
    }
    if parts.is_empty() { None } else { Some(one_or(parts, Query::All)) }
}

/// Returns the words of a field as a query with its operator, or `None` if their brackets are
/// unbalanced and could close the operator's.
fn within(key: &str, words: &str) -> Option<Query> {
    let mut depth = 0_usize;
    for c in words.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    match depth {
        0 => parse_gmail(&format!("{key}:({words})")),
        _ => None,
    }
}

/// Returns a Gmail query as one of ours, if it has the same meaning in both.
fn parse_gmail(words: &str) -> Option<Query> {
    let lower = words.to_lowercase();
    if DATED.iter().any(|word| lower.contains(word)) || daysheet_core::query::is_raw(words) {
        return None;
    }
    // Dates were excluded above, so the time is never used.
    let clock = DateContext { now: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC };
    parse(words, &clock).ok()
}

fn value_text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => brief(text),
        None => brief(&value.to_string()),
    }
}

fn steps(
    action: &Value,
    names: &HashMap<String, String>,
    other: &mut Vec<String>,
) -> Vec<RuleStep> {
    let mut steps = Vec::new();
    for label in list(action, "addLabelIds") {
        match (label.as_str().unwrap_or_default(), names) {
            ("STARRED", _) => steps.push(RuleStep::Star),
            ("IMPORTANT", _) => steps.push(RuleStep::Important),
            ("TRASH", _) => steps.push(RuleStep::Trash),
            (id, names) => match names.get(id) {
                Some(name) => steps.push(RuleStep::Label(name.clone())),
                None => other.push(format!("gives the label {}", brief(id))),
            },
        }
    }
    for label in list(action, "removeLabelIds") {
        match label.as_str().unwrap_or_default() {
            "UNREAD" => steps.push(RuleStep::Read),
            "INBOX" => steps.push(RuleStep::Archive),
            "SPAM" => steps.push(RuleStep::NeverSpam),
            "IMPORTANT" => other.push("never marks as important".to_owned()),
            id => other.push(format!("takes away the label {}", brief(id))),
        }
    }
    let known = ["addLabelIds", "removeLabelIds", "forward"];
    for (key, value) in action.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(to) if key == "forward" => steps.push(RuleStep::Forward(to.to_owned())),
            _ if known.contains(&key.as_str()) => {}
            _ => other.push(format!("does {}: {}", brief(key), value_text(value))),
        }
    }
    steps
}

/// Converts a condition to the criteria of a Gmail filter.
///
/// # Errors
/// [`daysheet_core::error::ErrorKind::Argument`] for conditions that a filter cannot apply to incoming
/// mail.
pub(super) fn criteria(query: &Query) -> Result<Value> {
    for term in query.terms() {
        let what = match term {
            QueryTerm::Folder(_) => "which folder mail is in",
            QueryTerm::Label(_) => "which labels mail has",
            QueryTerm::Category(name) if !is_category(name) => "which labels mail has",
            QueryTerm::Is(_) => "whether mail is read, starred or important",
            QueryTerm::Before(_) | QueryTerm::After(_) => "the date",
            QueryTerm::In(MessagePart::Body, _) => "only the body",
            _ => continue,
        };
        return Err(Error::argument(format!(
            "a Gmail rule checks incoming mail, and cannot test {what}"
        ))
        .next("use words, from:, to:, subject:, has:attachment, filename:, larger: or smaller:"));
    }
    if let Some(fields) = fields(query) {
        return Ok(Value::Object(fields));
    }
    let compiled = compile(query);
    if let Some(lost) = compiled.notes.first() {
        return Err(Error::argument(lost.to_string()).next("leave it out of the condition"));
    }
    if compiled.q.trim().is_empty() {
        return Err(Error::argument("the rule has no condition")
            .next("give one, such as from:news@example.com"));
    }
    Ok(json!({ "query": compiled.q }))
}

/// Returns the fields of a filter for a plain AND of conditions, each on a field of its own. Only
/// single words are put into fields, because several words have no uniform meaning there.
fn fields(query: &Query) -> Option<Map<String, Value>> {
    let parts = match query {
        Query::All(parts) if !parts.is_empty() => parts.as_slice(),
        Query::Term(_) => std::slice::from_ref(query),
        _ => return None,
    };
    let mut fields = Map::new();
    for part in parts {
        let Query::Term(term) = part else { return None };
        let (key, value) = match term {
            QueryTerm::In(
                part @ (MessagePart::From | MessagePart::To | MessagePart::Subject),
                words,
            ) if is_word(words) => (part.operator(), Value::from(words.as_str())),
            QueryTerm::Attachment => ("hasAttachment", true.into()),
            QueryTerm::Larger(size) | QueryTerm::Smaller(size) => {
                let size = i32::try_from(*size).ok()?;
                let how = match term {
                    QueryTerm::Larger(_) => "larger",
                    _ => "smaller",
                };
                fields.insert("sizeComparison".to_owned(), how.into());
                ("size", size.into())
            }
            _ => return None,
        };
        if fields.insert(key.to_owned(), value).is_some() {
            return None;
        }
    }
    Some(fields)
}

fn is_word(words: &str) -> bool {
    words.chars().all(|c| c.is_alphanumeric() || matches!(c, '@' | '.' | '_' | '+'))
        && !matches!(words, "OR" | "AND" | "AROUND")
}
