//! Translation of queries into filters of JMAP (RFC 8621, 4.4.1).

use std::collections::HashMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::FolderId;
use daysheet_core::query::{MessagePart, MessageState, NOTHING, PLACES, Query, QueryTerm};
use daysheet_core::text::{Note, brief, note, ours};
use serde_json::{Value, json};

use super::objects::text;

/// Folder words that include spam or trash in a search.
const HIDDEN: &[&str] = &["trash", "spam", "anywhere"];
/// The maximum number of folder levels that are followed.
const LEVELS: usize = 10;

/// Mailbox names by id, as paths with slashes. JMAP calls folders mailboxes.
pub struct FolderNames(pub HashMap<String, String>);

impl FolderNames {
    /// Reads the mailboxes of a `Mailbox/get` response.
    pub fn new(mailboxes: &[Value]) -> Self {
        let by_id: HashMap<&str, &Value> =
            mailboxes.iter().map(|one| (text(one, "id"), one)).collect();
        let name = |mailbox: &Value| {
            match text(mailbox, "role") {
                "junk" => return "spam".to_owned(),
                role if PLACES.contains(&role) => return role.to_owned(),
                _ => {}
            }
            let mut path = vec![text(mailbox, "name")];
            let mut above = by_id.get(text(mailbox, "parentId"));
            // The limit also ends a circle of parents.
            while let Some(mailbox) = above.filter(|_| path.len() < LEVELS) {
                path.push(text(mailbox, "name"));
                above = by_id.get(text(mailbox, "parentId"));
            }
            path.reverse();
            path.join("/")
        };
        Self(mailboxes.iter().map(|one| (text(one, "id").to_owned(), name(one))).collect())
    }

    /// Returns the id of a folder by its name or id.
    fn find(&self, name: &str) -> Option<&str> {
        let named = self.0.iter().find(|(_, known)| known.to_lowercase() == name.to_lowercase());
        let named = named.or_else(|| self.0.get_key_value(name));
        named.map(|(id, _)| id.as_str())
    }
}

/// Returns the filter for a query, and notes on unknown folders in an OR. Spam and trash are
/// excluded unless the query names them.
///
/// # Errors
/// [`ErrorKind::Argument`] for conditions that a filter cannot express, [`ErrorKind::NotFound`] for unknown
/// folders.
pub fn filter(
    query: Option<&Query>,
    folder: Option<&FolderId>,
    folders: &FolderNames,
) -> Result<(Value, Vec<Note>)> {
    let everything = Query::All(Vec::new());
    let query = query.unwrap_or(&everything);
    let mut notes = Vec::new();
    let unknown =
        |term: &QueryTerm| folder_in(term).is_some_and(|name| folders.find(name).is_none());
    for (term, other) in query.alternatives() {
        let Some(name) = folder_in(term).filter(|_| unknown(term)) else {
            continue;
        };
        let text = format!("there is no folder `{}`", brief(name));
        if !other {
            return Err(Error::new(ErrorKind::NotFound, text).next("name one of the folders"));
        }
        notes.push(note!("{}: {}", ours(text), NOTHING));
    }
    let hidden = |term: &&QueryTerm| matches!(term, QueryTerm::Folder(name) if HIDDEN.contains(&name.as_str()));
    let mut parts = vec![written(&query.without(&unknown), folders)?];
    if let Some(folder) = folder {
        parts.push(json!({"inMailbox": folder}));
    } else if !query.terms().iter().any(hidden) {
        let hidden = [folders.find("trash"), folders.find("spam")];
        parts.push(json!({"inMailboxOtherThan": hidden.iter().flatten().collect::<Vec<_>>()}));
    }
    Ok((operator("AND", parts), notes))
}

/// Returns the folder in a condition.
fn folder_in(term: &QueryTerm) -> Option<&str> {
    match term {
        QueryTerm::Folder(name) | QueryTerm::Label(name) if name != "anywhere" => Some(name),
        _ => None,
    }
}

fn operator(operator: &str, conditions: Vec<Value>) -> Value {
    json!({"operator": operator, "conditions": conditions})
}

fn written(query: &Query, folders: &FolderNames) -> Result<Value> {
    let each = |parts: &[Query]| -> Result<Vec<Value>> {
        parts.iter().map(|part| written(part, folders)).collect()
    };
    match query {
        // An empty condition always matches.
        Query::All(parts) if parts.is_empty() => Ok(json!({})),
        Query::Any(parts) if parts.is_empty() => Ok(operator("NOT", vec![json!({})])),
        Query::All(parts) => Ok(operator("AND", each(parts)?)),
        Query::Any(parts) => Ok(operator("OR", each(parts)?)),
        Query::Not(part) => Ok(operator("NOT", vec![written(part, folders)?])),
        Query::Term(term) => condition(term, folders),
        Query::Raw(raw) => match serde_json::from_str(raw) {
            Ok(filter @ Value::Object(_)) => Ok(filter),
            _ => Err(Error::argument("the query behind `raw:` is not a JMAP filter")
                .next("write it as a JSON object (RFC 8621, 4.4.1)")),
        },
    }
}

fn condition(term: &QueryTerm, folders: &FolderNames) -> Result<Value> {
    let cannot = |what: &str| {
        Err(Error::argument(format!("JMAP cannot search by {what}"))
            .next("leave it out, or search another account"))
    };
    Ok(match term {
        QueryTerm::Text(text) => json!({"text": phrase(text)}),
        QueryTerm::In(MessagePart::Filename, _) => return cannot("the names of files"),
        QueryTerm::In(part, text) => json!({part.operator(): phrase(text)}),
        QueryTerm::Folder(name) if name == "anywhere" => json!({}),
        QueryTerm::Folder(name) | QueryTerm::Label(name) => {
            json!({"inMailbox": folders.find(name)})
        }
        QueryTerm::Category(_) => return cannot("category"),
        QueryTerm::Is(MessageState::Unread) => json!({"notKeyword": "$seen"}),
        QueryTerm::Is(MessageState::Read) => json!({"hasKeyword": "$seen"}),
        QueryTerm::Is(MessageState::Starred) => json!({"hasKeyword": "$flagged"}),
        // The keyword is defined by RFC 8457.
        QueryTerm::Is(MessageState::Important) => json!({"hasKeyword": "$important"}),
        QueryTerm::Attachment => json!({"hasAttachment": true}),
        // `minSize` is inclusive, `maxSize` exclusive.
        QueryTerm::Larger(bytes) => json!({"minSize": bytes.saturating_add(1)}),
        QueryTerm::Smaller(bytes) => json!({"maxSize": bytes}),
        QueryTerm::Before(instant) => json!({"before": instant.to_string()}),
        QueryTerm::After(instant) => json!({"after": instant.to_string()}),
    })
}

/// Quotes several words, which JMAP then searches as a phrase.
fn phrase(text: &str) -> String {
    let text = text.replace('"', " ");
    if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text }
}
