//! The query language, written as Gmail's `q`. No I/O.
//!
//! Conditions that Gmail cannot express exactly are written as closely as possible, with a note
//! about the difference. Gmail's syntax: <https://support.google.com/mail/answer/7190>.

use daysheet_core::query::{MessagePart, MessageState, PLACES, Query, QueryTerm};
use daysheet_core::text::search_text::is_punctuation;
use daysheet_core::text::{Note, note, ours, quoted};

use crate::labels::{is_category, label};

/// A query in Gmail's language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GmailQuery {
    /// The value of the parameter `q`.
    pub q: String,
    /// Notes on conditions that could not be expressed exactly.
    pub notes: Vec<Note>,
}

/// Writes `query` in Gmail's language.
pub fn compile(query: &Query) -> GmailQuery {
    let mut compiled = GmailQuery::default();
    let mut notes = Vec::new();
    match query {
        // The outermost AND needs no parentheses.
        Query::All(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| write(part, false, &mut notes)).collect();
            compiled.q = parts.join(" ");
        }
        other => compiled.q = write(other, false, &mut notes),
    }
    notes.dedup();
    compiled.notes = notes;
    compiled
}

/// Returns the label of a condition. Labels need checking: Gmail silently finds nothing for an
/// unknown one.
pub fn label_of(term: &QueryTerm) -> Option<&str> {
    match term {
        QueryTerm::Label(name) => Some(name),
        QueryTerm::Folder(name) if !PLACES.contains(&name.as_str()) => Some(name),
        QueryTerm::Category(name) if !is_category(name) => Some(name),
        _ => None,
    }
}

/// Replaces the labels of a query by the names that `rename` returns, because Gmail's search does
/// not know ids.
pub fn rename(query: &Query, rename: &impl Fn(&str) -> Option<String>) -> Query {
    let other = |name: &String| rename(name).unwrap_or_else(|| name.clone());
    query.map(&|term| match term {
        QueryTerm::Label(name) => QueryTerm::Label(other(name)),
        QueryTerm::Folder(name) => QueryTerm::Folder(other(name)),
        QueryTerm::Category(name) => QueryTerm::Category(other(name)),
        term => term.clone(),
    })
}

/// Writes a query. `negated` pushes a NOT down to the terms, where Gmail supports it reliably.
fn write(query: &Query, negated: bool, notes: &mut Vec<Note>) -> String {
    match (query, negated) {
        (Query::All(parts), false) | (Query::Any(parts), true) => group(parts, " ", negated, notes),
        (Query::Any(parts), false) | (Query::All(parts), true) => {
            group(parts, " OR ", negated, notes)
        }
        (Query::Not(part), _) => write(part, !negated, notes),
        (Query::Raw(raw), false) => raw.clone(),
        (Query::Raw(raw), true) => format!("-({raw})"),
        (Query::Term(term), _) => {
            let text = write_term(term, notes);
            if negated { format!("-{text}") } else { text }
        }
    }
}

fn group(parts: &[Query], between: &str, negated: bool, notes: &mut Vec<Note>) -> String {
    let parts: Vec<_> = parts.iter().map(|part| write(part, negated, notes)).collect();
    format!("({})", parts.join(between))
}

fn write_term(term: &QueryTerm, notes: &mut Vec<Note>) -> String {
    if let QueryTerm::In(part, text) = term
        && is_punctuation(text)
    {
        notes.push(note!(
            "Gmail does not search signs: {} restricts nothing",
            ours(format!("{}:{}", part.operator(), quoted(text)))
        ));
    }
    match term {
        QueryTerm::Text(text) => quote(text),
        QueryTerm::In(MessagePart::Body, text) => {
            notes.push(
                "Gmail cannot search only the body: `body:` searched the whole message".into(),
            );
            quote(text)
        }
        QueryTerm::In(part, text) => format!("{}:{}", part.operator(), quote(text)),
        QueryTerm::Folder(name) if PLACES.contains(&name.as_str()) => format!("in:{name}"),
        QueryTerm::Folder(name) | QueryTerm::Label(name) => format!("label:{}", label(name)),
        QueryTerm::Category(name) if is_category(name) => {
            format!("category:{}", name.to_lowercase())
        }
        QueryTerm::Category(name) => format!("label:{}", label(name)),
        QueryTerm::Is(MessageState::Unread) => "is:unread".to_owned(),
        QueryTerm::Is(MessageState::Read) => "is:read".to_owned(),
        QueryTerm::Is(MessageState::Starred) => "is:starred".to_owned(),
        QueryTerm::Is(MessageState::Important) => "is:important".to_owned(),
        QueryTerm::Attachment => "has:attachment".to_owned(),
        QueryTerm::Larger(bytes) => format!("larger:{bytes}"),
        QueryTerm::Smaller(bytes) => format!("smaller:{bytes}"),
        // In seconds since 1970, because Gmail reads plain dates in Pacific time.
        QueryTerm::Before(instant) => format!("before:{}", instant.as_second()),
        QueryTerm::After(instant) => format!("after:{}", instant.as_second()),
    }
}

/// Quotes a text that Gmail could read as syntax.
fn quote(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '@' | '.' | '_'))
        && !matches!(text, "OR" | "AND" | "AROUND");
    // Gmail has no escape for a quotation mark within quotes.
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', " ")) }
}
