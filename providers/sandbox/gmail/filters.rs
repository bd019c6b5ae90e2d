//! Gmail's filters, stored as they were created. They are not applied to mail.

use serde_json::{Value, json};

use super::context::GmailContext;
use crate::google::body::{inner, text, texts};
use crate::google::error;
use crate::google::fields::{FieldShape, shape};
use crate::http::HttpResponse;
use crate::json::{listed, present};

/// The type of a filter.
pub(super) static FILTER: FieldShape = shape! {
    "id",
    "criteria": &shape! {
        "from", "to", "subject", "query", "negatedQuery", "hasAttachment", "excludeChats", "size",
        "sizeComparison",
    },
    "action": &shape! { "addLabelIds", "removeLabelIds", "forward" },
};

/// The type of `settings.filters.list`.
pub(super) static FILTERS: FieldShape = shape! { "filter": &FILTER };

/// Returns all filters.
pub(super) fn list(context: &GmailContext<'_>) -> Value {
    let filters: Vec<Value> = all(context).into_iter().map(|(_, filter)| filter).collect();
    present(json!({ "filter": listed(&filters) }))
}

/// Returns one filter.
pub(super) fn get(context: &GmailContext<'_>, id: &str) -> Result<Value, HttpResponse> {
    let found = all(context).into_iter().find(|(known, _)| known == id);
    found.map(|(_, filter)| filter).ok_or_else(error::not_found)
}

/// Creates a filter.
pub(super) fn make(context: &GmailContext<'_>) -> Result<Value, HttpResponse> {
    let criteria = inner(&context.body, "criteria")?.filter(|it| !it.is_empty());
    let criteria = criteria.ok_or_else(|| error::invalid("Missing filter criteria"))?;
    let action = inner(&context.body, "action")?.filter(|it| !it.is_empty());
    let action = action.ok_or_else(|| error::invalid("Missing filter action"))?;
    for name in ["from", "to", "subject", "query", "negatedQuery"] {
        text(criteria, name)?;
    }
    for name in ["addLabelIds", "removeLabelIds"] {
        for label in texts(action, name)? {
            if !context.mailbox.labels.has(label) {
                return Err(error::invalid(&format!("Invalid label: {label}")));
            }
        }
    }
    if text(action, "forward")?.is_some() {
        // Gmail forwards only to verified addresses, and the sandbox has none.
        return Err(error::failed_precondition("Unrecognized forwarding address"));
    }
    let address = &context.mailbox.address;
    context.state.settings(address, |settings| {
        let twin = |filter: &Value| {
            filter.get("criteria").and_then(Value::as_object) == Some(criteria)
                && filter.get("action").and_then(Value::as_object) == Some(action)
        };
        // Gmail refuses exact duplicates.
        if settings.filters.iter().any(|(_, filter)| twin(filter)) {
            return Err(error::failed_precondition("Filter already exists"));
        }
        let id = format!("ANe1Bmj{:09x}", settings.number());
        let filter = json!({ "id": id, "criteria": criteria, "action": action });
        settings.filters.push((id, filter.clone()));
        Ok(filter)
    })
}

/// Deletes a filter.
pub(super) fn delete(context: &GmailContext<'_>, id: &str) -> Result<Value, HttpResponse> {
    let deleted = context.state.settings(&context.mailbox.address, |settings| {
        let before = settings.filters.len();
        settings.filters.retain(|(known, _)| known != id);
        settings.filters.len() < before
    });
    if deleted { Ok(Value::Null) } else { Err(error::not_found()) }
}

fn all(context: &GmailContext<'_>) -> Vec<(String, Value)> {
    let address = &context.mailbox.address;
    context.state.settings(address, |settings| settings.filters.clone())
}
