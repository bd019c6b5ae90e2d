//! What Gmail's filters make of a message that is delivered.

use serde_json::{Map, Value};

use super::query;
use super::query::matching::Matcher;
use crate::google::body::texts;
use crate::store::mailbox::Mailbox;
use crate::store::message::Message;

/// The labels that a message has once the filters of a mailbox have seen it.
pub(crate) fn apply_filters(
    mailbox: &Mailbox,
    filters: &[(String, Value)],
    message: Message,
) -> Vec<String> {
    let matcher = Matcher { mailbox };
    let mut labels = message.labels.clone();
    for (_, filter) in filters {
        let part = |name: &str| filter.get(name).and_then(Value::as_object);
        let (Some(criteria), Some(action)) = (part("criteria"), part("action")) else {
            continue;
        };
        let query = query::parse(&search(criteria), &mailbox.address);
        if !matcher.matches(&query, &message) {
            continue;
        }
        let named = |name: &str| texts(action, name).unwrap_or_default();
        let less = named("removeLabelIds");
        labels.retain(|label| !less.contains(&label.as_str()));
        for more in named("addLabelIds") {
            if more == "TRASH" || more == "SPAM" {
                labels.retain(|label| label != "INBOX");
            }
            if !labels.iter().any(|label| label == more) {
                labels.push(more.to_owned());
            }
        }
    }
    labels
}

/// The search that finds what a filter is for.
fn search(criteria: &Map<String, Value>) -> String {
    let mut terms = Vec::new();
    for (name, before) in [
        ("from", "from:"),
        ("to", "to:"),
        ("subject", "subject:"),
        ("query", ""),
        ("negatedQuery", "-"),
    ] {
        let text = criteria.get(name).and_then(Value::as_str);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            terms.push(format!("{before}({text})"));
        }
    }
    if criteria.get("hasAttachment").and_then(Value::as_bool) == Some(true) {
        terms.push("has:attachment".to_owned());
    }
    let comparison = criteria.get("sizeComparison").and_then(Value::as_str);
    if let (Some(size), Some(comparison)) = (criteria.get("size"), comparison) {
        terms.push(format!("{comparison}:{size}"));
    }
    terms.join(" ")
}
