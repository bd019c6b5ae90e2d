//! Gmail's filters: kept as they were made, and applied to what is delivered,
//! but for forwarding.

use hyper::StatusCode;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::query;
use super::query::matching::Matcher;
use super::write::Desk;
use crate::providers::sandbox::google::body::{inner, text, texts};
use crate::providers::sandbox::google::error;
use crate::providers::sandbox::google::fields::Shape;
use crate::providers::sandbox::http::Answer;
use crate::providers::sandbox::store::letter::Letter;
use crate::providers::sandbox::store::mailbox::Mailbox;

/// The type of a filter.
pub(super) static FILTER: Shape = Shape(&[
    ("id", None),
    (
        "criteria",
        Some(&Shape(&[
            ("from", None),
            ("to", None),
            ("subject", None),
            ("query", None),
            ("negatedQuery", None),
            ("hasAttachment", None),
            ("excludeChats", None),
            ("size", None),
            ("sizeComparison", None),
        ])),
    ),
    ("action", Some(&Shape(&[("addLabelIds", None), ("removeLabelIds", None), ("forward", None)]))),
]);

/// The type of `settings.filters.list`.
pub(super) static FILTERS: Shape = Shape(&[("filter", Some(&FILTER))]);

/// All filters.
pub(super) fn list(desk: &Desk<'_>) -> Value {
    let filters = all(desk);
    match filters.is_empty() {
        true => json!({}),
        false => json!({ "filter": filters.into_iter().map(|(_, it)| it).collect::<Vec<_>>() }),
    }
}

/// One filter.
pub(super) fn get(desk: &Desk<'_>, id: &str) -> Result<Value, Answer> {
    let found = all(desk).into_iter().find(|(known, _)| known == id);
    found.map(|(_, filter)| filter).ok_or_else(error::not_found)
}

/// Makes a filter.
pub(super) fn make(desk: &Desk<'_>) -> Result<Value, Answer> {
    let criteria = inner(&desk.body, "criteria")?.filter(|it| !it.is_empty());
    let criteria = criteria.ok_or_else(|| error::invalid("Missing filter criteria"))?;
    let action = inner(&desk.body, "action")?.filter(|it| !it.is_empty());
    let action = action.ok_or_else(|| error::invalid("Missing filter action"))?;
    for name in ["from", "to", "subject", "query", "negatedQuery"] {
        text(criteria, name)?;
    }
    for name in ["addLabelIds", "removeLabelIds"] {
        for label in texts(action, name)? {
            if !desk.mailbox.labels.has(label) {
                return Err(error::invalid(&format!("Invalid label: {label}")));
            }
        }
    }
    if text(action, "forward")?.is_some() {
        // No address has been verified for it.
        return Err(error::failed_precondition("Unrecognized forwarding address"));
    }
    let address = &desk.mailbox.address;
    desk.state.settings(address, |settings| {
        let twin = |filter: &Value| {
            filter.get("criteria").and_then(Value::as_object) == Some(criteria)
                && filter.get("action").and_then(Value::as_object) == Some(action)
        };
        if settings.filters.iter().any(|(_, filter)| twin(filter)) {
            return Err(error::error(
                StatusCode::BAD_REQUEST,
                "FAILED_PRECONDITION",
                "failedPrecondition",
                "Filter already exists",
            ));
        }
        let id = format!("ANe1Bmj{:09x}", settings.number());
        let filter = json!({ "id": id, "criteria": criteria, "action": action });
        settings.filters.push((id, filter.clone()));
        Ok(filter)
    })
}

/// Deletes a filter.
pub(super) fn delete(desk: &Desk<'_>, id: &str) -> Result<(), Answer> {
    let gone = desk.state.settings(&desk.mailbox.address, |settings| {
        let before = settings.filters.len();
        settings.filters.retain(|(known, _)| known != id);
        settings.filters.len() < before
    });
    match gone {
        true => Ok(()),
        false => Err(error::not_found()),
    }
}

fn all(desk: &Desk<'_>) -> Vec<(String, Value)> {
    let address = &desk.mailbox.address;
    desk.state.settings(address, |settings| settings.filters.clone())
}

/// The labels that a letter has once the filters of a mailbox have seen it.
pub(crate) fn applied(
    mailbox: &Mailbox,
    filters: &[(String, Value)],
    letter: Letter,
) -> Vec<String> {
    let matcher = Matcher { mailbox };
    let mut labels = letter.labels.clone();
    for (_, filter) in filters {
        let part = |name: &str| filter.get(name).and_then(Value::as_object);
        let (Some(criteria), Some(action)) = (part("criteria"), part("action")) else {
            continue;
        };
        let query = query::parse(&search(criteria), &mailbox.address, Timestamp::now());
        if !matcher.matches(&query, &letter) {
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
