//! Gmail's history: changes of a mailbox's messages since a history id.
//!
//! A page token names the last record of its page. The history id for the client's next request is
//! the mailbox's id at the time of the answer.

use serde_json::{Map, Value, json};

use super::resources;
use crate::google::error;
use crate::google::fields::{FieldShape, shape};
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::json::{listed, merge, present};
use crate::store::mailbox::Mailbox;
use crate::store::mailbox::record::{HistoryEvent, HistoryRecord};

/// The parameters of the list.
pub(super) const PARAMS: &[&str] =
    &["startHistoryId", "historyTypes", "labelId", "maxResults", "pageToken"];

/// The default and maximum number of records of a page.
const ROWS: (usize, usize) = (100, 500);

static CHANGED: FieldShape = shape! { "message": &resources::MESSAGE, "labelIds" };

/// The type of the answer.
pub(super) static HISTORY: FieldShape = shape! {
    "history": &shape! {
        "id", "messages": &resources::MESSAGE, "messagesAdded": &CHANGED,
        "messagesDeleted": &CHANGED, "labelsAdded": &CHANGED, "labelsRemoved": &CHANGED,
    },
    "nextPageToken", "historyId",
};

/// The kinds of records, by their names in the request and in the answer.
const KINDS: [(&str, &str); 4] = [
    ("messageAdded", "messagesAdded"),
    ("messageDeleted", "messagesDeleted"),
    ("labelAdded", "labelsAdded"),
    ("labelRemoved", "labelsRemoved"),
];

/// Returns one page of the history.
pub(super) fn page(
    mailbox: &Mailbox,
    params: &RequestParameters<'_>,
) -> Result<Value, HttpResponse> {
    let number = |name: &str, field: &str| match params.value(name) {
        None => Ok(None),
        Some(text) => match text.parse::<u64>() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(error::invalid_value(field, "TYPE_UINT64", text)),
        },
    };
    let start = number("startHistoryId", "start_history_id")?
        .ok_or_else(|| error::invalid("Missing required parameter: startHistoryId"))?;
    let kinds = kinds(params)?;
    let label = params.value("labelId");
    let rows = params.number("maxResults", "max_results")?;
    let rows = rows.unwrap_or(ROWS.0).min(ROWS.1);
    // Gmail answers an outdated history id with 404, and clients have to start over.
    if start < mailbox.forgotten {
        return Err(error::not_found());
    }
    let token = params.value("pageToken").map(str::parse::<u64>).transpose();
    let after = token.map_err(|_| error::invalid("Invalid pageToken"))?;
    // A token cannot lead back to records before the requested start.
    let after = after.unwrap_or(start).max(start);

    let mut found = mailbox
        .records
        .iter()
        .filter(|record| record.history > after)
        .filter(|record| label.is_none_or(|label| record.labels.iter().any(|id| id == label)))
        .filter_map(|record| Some((record.history, row(record, &kinds)?)))
        .peekable();
    let page: Vec<(u64, Value)> = found.by_ref().take(rows).collect();
    let next = match (found.peek(), page.last()) {
        (Some(_), Some((last, _))) => Some(last.to_string()),
        _ => None,
    };
    let rows: Vec<Value> = page.into_iter().map(|(_, row)| row).collect();
    Ok(present(json!({
        "history": listed(&rows),
        "nextPageToken": next,
        "historyId": mailbox.history.to_string(),
    })))
}

/// Returns the requested kinds by their names in the answer, or all if no kind is named.
fn kinds(params: &RequestParameters<'_>) -> Result<Vec<&'static str>, HttpResponse> {
    let named: Result<Vec<_>, HttpResponse> = params
        .all("historyTypes")
        .filter(|name| !name.is_empty())
        .map(|name| {
            let kind = KINDS.iter().find(|(known, _)| *known == name);
            kind.map(|(_, key)| *key).ok_or_else(|| {
                let kind = "type.googleapis.com/caribou.api.proto.ListHistoryRequest.HistoryType";
                error::invalid_value("history_types", kind, name)
            })
        })
        .collect();
    let named = named?;
    if named.is_empty() { Ok(KINDS.iter().map(|(_, key)| *key).collect()) } else { Ok(named) }
}

/// Returns a record as the API shows it, or `None` if it is of no requested kind.
fn row(record: &HistoryRecord, kinds: &[&str]) -> Option<Value> {
    let (id, thread) = (resources::id(record.message), resources::id(record.thread));
    // A deleted message has no labels any more.
    let labels = (record.what != HistoryEvent::Deleted).then_some(&record.labels);
    let message = present(json!({ "id": id, "threadId": thread, "labelIds": labels }));
    let changes = match &record.what {
        HistoryEvent::Added => vec![("messagesAdded", json!({ "message": message }))],
        HistoryEvent::Deleted => vec![("messagesDeleted", json!({ "message": message }))],
        HistoryEvent::Labels(more, less) => [("labelsAdded", more), ("labelsRemoved", less)]
            .into_iter()
            .filter(|(_, labels)| !labels.is_empty())
            .map(|(key, labels)| (key, json!({ "message": message, "labelIds": labels })))
            .collect(),
    };
    let changes = changes.into_iter().filter(|(key, _)| kinds.contains(key));
    let changes: Map<String, Value> =
        changes.map(|(key, change)| (key.to_owned(), json!([change]))).collect();
    let mut row = json!({
        "id": record.history.to_string(),
        "messages": [{ "id": id, "threadId": thread }],
    });
    (!changes.is_empty()).then(|| {
        merge(&mut row, changes.into());
        row
    })
}
