//! The query language, written as Gmail's `q`.
//!
//! Pure text work. What Gmail cannot express exactly is written as nearly as possible, and a note
//! says what was lost. Gmail's syntax: <https://support.google.com/mail/answer/7190>.

use daysheet_core::query::{MessagePart, PLACES, Query, State, Term};
use daysheet_core::text::words::is_punctuation;
use daysheet_core::text::{Note, note, ours, quoted};

use crate::labels::{is_category, label};

/// A query in Gmail's language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GmailQuery {
    /// The value of the parameter `q`.
    pub q: String,
    /// Notes on what was lost.
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

/// Returns the label of a condition; Gmail would silently treat an unknown one as empty.
pub fn label_of(term: &Term) -> Option<&str> {
    match term {
        Term::Label(name) => Some(name),
        Term::Folder(name) if !PLACES.contains(&name.as_str()) => Some(name),
        Term::Category(name) if !is_category(name) => Some(name),
        _ => None,
    }
}

/// Replaces the labels of a query by the names that `rename` returns; Gmail's search
/// does not know ids.
pub fn rename(query: &Query, rename: &impl Fn(&str) -> Option<String>) -> Query {
    let other = |name: &String| rename(name).unwrap_or_else(|| name.clone());
    query.map(&|term| match term {
        Term::Label(name) => Term::Label(other(name)),
        Term::Folder(name) => Term::Folder(other(name)),
        Term::Category(name) => Term::Category(other(name)),
        term => term.clone(),
    })
}

/// Writes a query. `negated` pushes a NOT down to the terms, where Gmail reliably supports it.
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

fn write_term(term: &Term, notes: &mut Vec<Note>) -> String {
    if let Term::In(part, text) = term
        && is_punctuation(text)
    {
        notes.push(note!(
            "Gmail does not search signs: {} restricts nothing",
            ours(format!("{}:{}", part.operator(), quoted(text)))
        ));
    }
    match term {
        Term::Text(text) => quote(text),
        Term::In(MessagePart::Body, text) => {
            notes.push(
                "Gmail cannot search only the body: `body:` searched the whole message".into(),
            );
            quote(text)
        }
        Term::In(part, text) => format!("{}:{}", part.operator(), quote(text)),
        Term::Folder(name) if PLACES.contains(&name.as_str()) => format!("in:{name}"),
        Term::Folder(name) | Term::Label(name) => format!("label:{}", label(name)),
        Term::Category(name) if is_category(name) => format!("category:{}", name.to_lowercase()),
        Term::Category(name) => format!("label:{}", label(name)),
        Term::Is(State::Unread) => "is:unread".to_owned(),
        Term::Is(State::Read) => "is:read".to_owned(),
        Term::Is(State::Starred) => "is:starred".to_owned(),
        Term::Is(State::Important) => "is:important".to_owned(),
        Term::Attachment => "has:attachment".to_owned(),
        Term::Larger(bytes) => format!("larger:{bytes}"),
        Term::Smaller(bytes) => format!("smaller:{bytes}"),
        // Seconds since 1970, because Gmail reads a plain date in Pacific time.
        Term::Before(instant) => format!("before:{}", instant.as_second()),
        Term::After(instant) => format!("after:{}", instant.as_second()),
    }
}

/// Quotes a text that Gmail could take for syntax.
fn quote(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '@' | '.' | '_'))
        && !matches!(text, "OR" | "AND" | "AROUND");
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', " ")) }
}
