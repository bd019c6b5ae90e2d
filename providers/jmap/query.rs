//! The search language as a JMAP filter (RFC 8621, 4.4.1), and the folders it names.

use std::collections::HashMap;

use daysheet_core::error::{Error, Kind, Result};
use daysheet_core::query::{MessagePart, NOTHING, PLACES, Query, State, Term};
use daysheet_core::text::{Note, brief, note, ours};
use serde_json::{Value, json};

use crate::json::text;
use crate::similar;

/// What only those find who name it.
const HIDDEN: &[&str] = &["trash", "spam", "anywhere"];
/// The most levels of folders that are followed.
const LEVELS: usize = 10;

/// What JMAP calls mailboxes: their names by id, levels between slashes.
pub struct Folders(pub HashMap<String, String>);

impl Folders {
    /// Those of the objects that `Mailbox/get` answers.
    pub fn of(mailboxes: &[Value]) -> Self {
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

/// The filter for what is asked, and what of it is not asked, in words. What is in
/// trash and spam is found only where these are named.
///
/// # Errors
/// [`Kind::Argument`] for what no filter says, [`Kind::NotFound`] for a folder that is
/// not there.
pub fn filter(
    query: Option<&Query>,
    folder: Option<&str>,
    folders: &Folders,
) -> Result<(Value, Vec<Note>)> {
    let everything = Query::All(Vec::new());
    let query = query.unwrap_or(&everything);
    let mut notes = Vec::new();
    let unknown = |term: &Term| named(term).is_some_and(|name| folders.find(name).is_none());
    for (term, other) in query.alternatives() {
        let Some(name) = named(term).filter(|_| unknown(term)) else {
            continue;
        };
        let text = format!("there is no folder `{}`", brief(name));
        if !other {
            let names = folders.0.values().map(String::as_str);
            let next = similar::instead(name, names, "folders");
            return Err(Error::new(Kind::NotFound, text).next(next));
        }
        notes.push(note!("{}: {}", ours(text), NOTHING));
    }
    let hidden =
        |term: &&Term| matches!(term, Term::Folder(name) if HIDDEN.contains(&name.as_str()));
    let mut parts = vec![written(&query.without(&unknown), folders)?];
    if let Some(folder) = folder {
        parts.push(json!({"inMailbox": folder}));
    } else if !query.terms().iter().any(hidden) {
        let hidden = [folders.find("trash"), folders.find("spam")];
        parts.push(json!({"inMailboxOtherThan": hidden.iter().flatten().collect::<Vec<_>>()}));
    }
    Ok((operator("AND", parts), notes))
}

/// The folder a condition names.
fn named(term: &Term) -> Option<&str> {
    match term {
        Term::Folder(name) | Term::Label(name) if name != "anywhere" => Some(name),
        _ => None,
    }
}

fn operator(operator: &str, conditions: Vec<Value>) -> Value {
    json!({"operator": operator, "conditions": conditions})
}

fn written(query: &Query, folders: &Folders) -> Result<Value> {
    let each = |parts: &[Query]| -> Result<Vec<Value>> {
        parts.iter().map(|part| written(part, folders)).collect()
    };
    match query {
        // A condition without a property is always met.
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

fn condition(term: &Term, folders: &Folders) -> Result<Value> {
    let cannot = |what: &str| {
        Err(Error::argument(format!("JMAP cannot search by {what}"))
            .next("leave it out, or search another account"))
    };
    Ok(match term {
        Term::Text(text) => json!({"text": phrase(text)}),
        Term::In(MessagePart::Filename, _) => return cannot("the names of files"),
        Term::In(part, text) => json!({part.operator(): phrase(text)}),
        Term::Folder(name) if name == "anywhere" => json!({}),
        Term::Folder(name) | Term::Label(name) => json!({"inMailbox": folders.find(name)}),
        Term::Category(_) => return cannot("category"),
        Term::Is(State::Unread) => json!({"notKeyword": "$seen"}),
        Term::Is(State::Read) => json!({"hasKeyword": "$seen"}),
        Term::Is(State::Starred) => json!({"hasKeyword": "$flagged"}),
        // RFC 8457.
        Term::Is(State::Important) => json!({"hasKeyword": "$important"}),
        Term::Attachment => json!({"hasAttachment": true}),
        // At least so many bytes, and fewer than so many.
        Term::Larger(bytes) => json!({"minSize": bytes.saturating_add(1)}),
        Term::Smaller(bytes) => json!({"maxSize": bytes}),
        Term::Before(instant) => json!({"before": instant.to_string()}),
        Term::After(instant) => json!({"after": instant.to_string()}),
    })
}

/// Several words are looked for as they follow one another when they are quoted.
fn phrase(text: &str) -> String {
    let text = text.replace('"', " ");
    if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text }
}
