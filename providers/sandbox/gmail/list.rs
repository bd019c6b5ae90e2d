//! Gmail's lists of messages, threads and drafts, and their pages.
//!
//! A page token names the last row of its page and the query it belongs to. Pages divide a list
//! exactly even if messages arrive meanwhile, and a token is refused for any other query.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::query::matching::{self, MessageMatcher};
use super::query::{self, GmailQuery};
use super::resources;
use crate::google::error;
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::json::{listed, present};
use crate::store::mailbox::Mailbox;
use crate::store::message::Message;

/// The default number of rows of a page.
const DEFAULT_ROWS: usize = 100;

/// The maximum number of rows of a page. Larger requests get this many.
const MAX_ROWS: usize = 500;

/// The resource that a list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListSubject {
    /// Single messages.
    Messages,
    /// Threads.
    Threads,
    /// Drafts, each with its message.
    Drafts,
}

/// A row's sort key: the time, then the id, both descending.
type RowKey = (i64, u64);

/// Returns one page of a list.
pub(super) fn page(
    mailbox: &Mailbox,
    what: ListSubject,
    params: &RequestParameters<'_>,
) -> Result<Value, HttpResponse> {
    let rows = params.number("maxResults", "max_results")?;
    let rows = rows.unwrap_or(DEFAULT_ROWS).min(MAX_ROWS);
    let spam_trash = params.flag("includeSpamTrash", "include_spam_trash")?;
    let labels: Vec<&str> = params.all("labelIds").filter(|id| !id.is_empty()).collect();
    // An unknown id in `labelIds` is an error, unlike an unknown label in `q`.
    if let Some(label) = labels.iter().find(|id| !mailbox.labels.has(id)) {
        return Err(error::invalid(&format!("Invalid label: {label}")));
    }
    let q = params.value("q").unwrap_or_default();
    let question = question(mailbox, what, q, &labels, spam_trash);
    let after = params
        .value("pageToken")
        .map(|token| place(token, &question).ok_or_else(|| error::invalid("Invalid pageToken")))
        .transpose()?;

    let query = query::parse(q, &mailbox.address);
    let mut found = matching_messages(mailbox, &query, &labels, spam_trash);
    if what == ListSubject::Drafts {
        found.retain(|message| mailbox.draft_id(message.id).is_some());
    }
    let places: Vec<(RowKey, &Message)> = match what {
        ListSubject::Messages | ListSubject::Drafts => {
            found.into_iter().map(|message| ((message.facts.date, message.id), message)).collect()
        }
        ListSubject::Threads => conversations(mailbox, found),
    };
    let total = places.len();
    let mut left =
        places.into_iter().filter(|(place, _)| after.is_none_or(|after| *place < after)).peekable();
    let page: Vec<(RowKey, &Message)> = left.by_ref().take(rows).collect();
    let next = match (left.peek(), page.last()) {
        (Some(_), Some((last, _))) => Some(token(&question, *last)),
        _ => None,
    };
    let rows: Vec<Value> =
        page.into_iter().map(|(_, message)| row(mailbox, what, message)).collect();

    let name = match what {
        ListSubject::Messages => "messages",
        ListSubject::Threads => "threads",
        ListSubject::Drafts => "drafts",
    };
    Ok(present(json!({
        name: listed(&rows),
        "nextPageToken": next,
        "resultSizeEstimate": estimate(total),
    })))
}

/// Returns the messages that match a query, newest first.
fn matching_messages<'a>(
    mailbox: &'a Mailbox,
    query: &GmailQuery,
    labels: &[&str],
    spam_trash: bool,
) -> Vec<&'a Message> {
    // Gmail leaves spam and trash out unless the request names them.
    let named = matching::places_named(query);
    let hidden = |label: &str| !spam_trash && !labels.contains(&label) && !named.contains(&label);
    let (no_spam, no_trash) = (hidden("SPAM"), hidden("TRASH"));
    let matcher = MessageMatcher { mailbox };
    mailbox
        .messages
        .iter()
        .map(AsRef::as_ref)
        .filter(|message| !(no_spam && message.has("SPAM") || no_trash && message.has("TRASH")))
        .filter(|message| labels.iter().all(|label| message.has(label)))
        .filter(|message| matcher.matches(query, message))
        .collect()
}

/// Returns the threads of some messages, sorted by the newest message of each.
fn conversations<'a>(mailbox: &'a Mailbox, found: Vec<&'a Message>) -> Vec<(RowKey, &'a Message)> {
    let mut seen = HashSet::new();
    let mut threads: Vec<(RowKey, &Message)> = found
        .into_iter()
        .filter(|message| seen.insert(message.thread))
        .map(|message| {
            // A thread is listed at its newest message, even if an older one matches.
            let newest =
                mailbox.thread(message.thread).and_then(|messages| messages.last().copied());
            let date = newest.unwrap_or(message).facts.date;
            ((date, message.thread), message)
        })
        .collect();
    threads.sort_by(|(one, _), (other, _)| other.cmp(one));
    threads
}

/// Returns one row of a list.
fn row(mailbox: &Mailbox, what: ListSubject, message: &Message) -> Value {
    match what {
        ListSubject::Messages => json!({
            "id": resources::id(message.id),
            "threadId": resources::id(message.thread),
        }),
        ListSubject::Drafts => json!({
            "id": resources::draft_id(mailbox.draft_id(message.id).unwrap_or_default()),
            "message": row(mailbox, ListSubject::Messages, message),
        }),
        ListSubject::Threads => {
            let messages = mailbox.thread(message.thread).unwrap_or_default();
            resources::listed_thread(message.thread, &messages)
        }
    }
}

/// Returns Gmail's estimate: exact for few results, rounded for many.
fn estimate(total: usize) -> usize {
    let mut unit = 1;
    while total / unit >= 100 {
        unit *= 10;
    }
    total / unit * unit
}

/// Returns a digest of the query that a page token must belong to.
fn question(
    mailbox: &Mailbox,
    what: ListSubject,
    q: &str,
    labels: &[&str],
    spam_trash: bool,
) -> [u8; 8] {
    let text = format!("{}\n{what:?}\n{q}\n{labels:?}\n{spam_trash}", mailbox.address);
    let digest = Sha256::digest(text);
    digest.first_chunk().copied().unwrap_or_default()
}

/// Returns the token of the page after a row.
fn token(question: &[u8; 8], (date, id): RowKey) -> String {
    let bytes = [*question, date.to_be_bytes(), id.to_be_bytes()].concat();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the row in a page token if the token belongs to the query.
fn place(token: &str, question: &[u8; 8]) -> Option<RowKey> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let rest = bytes.strip_prefix(question)?;
    let (date, id) = rest.split_first_chunk::<8>()?;
    Some((i64::from_be_bytes(*date), u64::from_be_bytes(id.try_into().ok()?)))
}
