//! Checks conditions on returned messages that Graph did not evaluate.
//!
//! Conditions have the meaning of Gmail's: whole words, ignoring case; an address is a phrase of
//! its words. Checks never fail: a message without a property does not meet the condition. Words of
//! the body, attachment names and sizes are not properties of a message; `compile` leaves no such
//! conditions.

use std::collections::HashMap;

use daysheet_core::query::{MessagePart, MessageState, PLACES, Query, QueryTerm};
use daysheet_core::text::search_text::{has_phrase, words};
use jiff::Timestamp;
use serde_json::Value;

use crate::labels::same_label;

/// The names of a mailbox's folders.
#[derive(Debug, Clone, Copy)]
pub struct FolderNames<'a> {
    /// Folder id → `inbox`, `sent`, `drafts`, `trash`, `spam` or `archive`, or the path of another
    /// folder: `Clients/Nordlicht`.
    pub names: &'a HashMap<String, String>,
}

/// Returns the Graph properties that [`matches()`] reads, for `$select`.
pub fn reads(rest: &Query) -> Vec<&'static str> {
    let mut properties = Vec::new();
    for term in rest.terms() {
        for property in properties_of(term) {
            if !properties.contains(property) {
                properties.push(*property);
            }
        }
    }
    properties
}

fn properties_of(term: &QueryTerm) -> &'static [&'static str] {
    match term {
        QueryTerm::In(MessagePart::From, _) => &["from"],
        QueryTerm::In(MessagePart::To, _) => &["toRecipients", "ccRecipients", "bccRecipients"],
        QueryTerm::In(MessagePart::Cc, _) => &["ccRecipients"],
        QueryTerm::In(MessagePart::Bcc, _) => &["bccRecipients"],
        QueryTerm::In(MessagePart::Subject, _) => &["subject"],
        QueryTerm::Folder(_) => &["parentFolderId"],
        QueryTerm::Label(_) | QueryTerm::Category(_) => &["categories"],
        QueryTerm::Is(MessageState::Unread | MessageState::Read) => &["isRead"],
        QueryTerm::Is(MessageState::Starred) => &["flag"],
        QueryTerm::Is(MessageState::Important) => &["importance"],
        QueryTerm::Attachment => &["hasAttachments"],
        QueryTerm::Before(_) | QueryTerm::After(_) => &["receivedDateTime"],
        QueryTerm::Text(_)
        | QueryTerm::In(MessagePart::Body | MessagePart::Filename, _)
        | QueryTerm::Larger(_)
        | QueryTerm::Smaller(_) => &[],
    }
}

/// Returns true if a message's properties suffice to decide a query.
pub(super) fn can(query: &Query) -> bool {
    let mut terms = query.terms().into_iter();
    terms.all(|term| !properties_of(term).is_empty())
}

/// Returns true if a Graph message meets the rest of a query.
pub fn matches(rest: &Query, message: &Value, places: &FolderNames) -> bool {
    match rest {
        Query::All(parts) => parts.iter().all(|part| matches(part, message, places)),
        Query::Any(parts) => parts.iter().any(|part| matches(part, message, places)),
        Query::Not(part) => !matches(part, message, places),
        Query::Term(term) => meets(term, message, places),
        Query::Raw(_) => false,
    }
}

fn meets(term: &QueryTerm, message: &Value, places: &FolderNames) -> bool {
    let text = |property: &str| message.get(property).and_then(Value::as_str);
    let is =
        |property: &str, value: bool| message.get(property).and_then(Value::as_bool) == Some(value);
    let received = || text("receivedDateTime").and_then(|at| at.parse::<Timestamp>().ok());
    match term {
        QueryTerm::In(MessagePart::Subject, expected) => {
            let phrase = words(expected);
            text("subject").is_some_and(|subject| {
                if phrase.is_empty() {
                    // Symbols and emoji are no words, so they are compared as text.
                    subject.contains(expected.trim())
                } else {
                    says(subject, &phrase)
                }
            })
        }
        QueryTerm::In(_, expected) => {
            let expected = words(expected);
            properties_of(term)
                .iter()
                .any(|property| people(message.get(*property)).any(|who| is_called(who, &expected)))
        }
        QueryTerm::Folder(name) => is_in(name, text("parentFolderId"), places),
        QueryTerm::Label(name) | QueryTerm::Category(name) => {
            message.get("categories").and_then(Value::as_array).is_some_and(|given| {
                let mut given = given.iter().filter_map(Value::as_str);
                given.any(|category| same_label(category, name))
            })
        }
        QueryTerm::Is(MessageState::Unread) => is("isRead", false),
        QueryTerm::Is(MessageState::Read) => is("isRead", true),
        // Graph writes enumerations in varying case.
        QueryTerm::Is(MessageState::Starred) => message
            .pointer("/flag/flagStatus")
            .and_then(Value::as_str)
            .is_some_and(|status| status.eq_ignore_ascii_case("flagged")),
        QueryTerm::Is(MessageState::Important) => {
            text("importance").is_some_and(|level| level.eq_ignore_ascii_case("high"))
        }
        QueryTerm::Attachment => is("hasAttachments", true),
        QueryTerm::Before(instant) => received().is_some_and(|at| at < *instant),
        QueryTerm::After(instant) => received().is_some_and(|at| at >= *instant),
        QueryTerm::Text(_) | QueryTerm::Larger(_) | QueryTerm::Smaller(_) => false,
    }
}

fn says(text: &str, phrase: &[String]) -> bool {
    has_phrase(&words(text), phrase)
}

/// Returns the recipients in a property that has one recipient or a list.
fn people(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let (one, many) = match value {
        Some(Value::Array(many)) => (None, many.as_slice()),
        one => (one, [].as_slice()),
    };
    one.into_iter().chain(many)
}

/// Returns true if the name or the address contains the phrase, which cannot extend from one into
/// the other.
fn is_called(who: &Value, phrase: &[String]) -> bool {
    ["/emailAddress/name", "/emailAddress/address"]
        .into_iter()
        .filter_map(|pointer| who.pointer(pointer)?.as_str())
        .any(|text| says(text, phrase))
}

/// Returns true if `name` names the folder: by a well-known word, its id, its path or its last
/// name.
fn is_in(name: &str, folder: Option<&str>, places: &FolderNames) -> bool {
    if name == "anywhere" {
        return true;
    }
    let Some(id) = folder else {
        return false;
    };
    let Some(path) = places.names.get(id) else {
        return id == name;
    };
    // A user may have a folder named `Sent`, so well-known words have to match exactly.
    if PLACES.contains(&name) || PLACES.contains(&path.as_str()) {
        return path == name || id == name;
    }
    let own = path.rsplit('/').next().unwrap_or(path);
    id == name || same_label(path, name) || same_label(own, name)
}
