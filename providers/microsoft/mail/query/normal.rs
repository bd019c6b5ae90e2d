//! Normalizes a query for both of Graph's languages and for our own check.
//!
//! In the normal form negation applies only to single conditions, groups of the same kind are not
//! nested, and there are no empty conditions. Conditions that Outlook does not support in any
//! language are dropped with notes.

use daysheet_core::error::{Error, Result};
use daysheet_core::query::{MessagePart, MessageState, PLACES, Query, QueryTerm, one_or};
use daysheet_core::text::brief;
use daysheet_core::text::search_text::{is_punctuation, words};
use daysheet_core::text::{Note, note, quoted};

use crate::labels::is_category;

/// A query in its normal form.
pub(super) struct NormalQuery {
    /// The conjuncts. A query that matches no message is a single empty [`Query::Any`].
    pub all: Vec<Query>,
    /// The words of [`PLACES`] that the query contains.
    pub places: Vec<String>,
    /// Notes on conditions that were changed or dropped.
    pub notes: Vec<Note>,
}

/// Brings a query into normal form.
pub(super) fn read(query: &Query) -> Result<NormalQuery> {
    let mut reader = QueryReader::default();
    let all = match reader.normalize(query, false, true)? {
        Query::All(parts) => parts,
        one => vec![one],
    };
    Ok(NormalQuery { all, places: reader.places, notes: reader.notes })
}

#[derive(Default)]
struct QueryReader {
    places: Vec<String>,
    notes: Vec<Note>,
}

impl QueryReader {
    /// Normalizes a part, pushing the negation before it inwards. `top` is true outside of any OR
    /// or negation.
    fn normalize(&mut self, query: &Query, negated: bool, top: bool) -> Result<Query> {
        Ok(match (query, negated) {
            (Query::All(parts), false) => all(self.group(parts, negated, top)?),
            (Query::Any(parts), true) => all(self.group(parts, negated, false)?),
            (Query::Any(parts), false) | (Query::All(parts), true) => {
                any(self.group(parts, negated, false)?)
            }
            (Query::Not(part), _) => self.normalize(part, !negated, false)?,
            (Query::Term(term), _) => self.term(term, negated)?,
            (Query::Raw(_), _) => {
                return Err(Error::argument("the query has `raw:` next to other terms")
                    .next("write the whole query after `raw:`"));
            }
        })
    }

    /// Normalizes the parts of a group. A dash between words is dropped, as in Gmail; dropping it
    /// in other positions would widen the search.
    fn group(&mut self, parts: &[Query], negated: bool, top: bool) -> Result<Vec<Query>> {
        let has_word = |part: &Query| match part {
            Query::Term(QueryTerm::Text(text)) => !words(text).is_empty(),
            _ => false,
        };
        let beside_words = top && parts.iter().any(has_word);
        let mut saying = Vec::new();
        for part in parts {
            match part {
                Query::Term(QueryTerm::Text(text)) if beside_words && is_punctuation(text) => {
                    self.note(note!(
                        "{} has no letter or digit and was left out of the search",
                        quoted(text)
                    ));
                }
                part => saying.push(self.normalize(part, negated, top)?),
            }
        }
        Ok(saying)
    }

    fn term(&mut self, term: &QueryTerm, negated: bool) -> Result<Query> {
        if let QueryTerm::Text(text) | QueryTerm::In(_, text) = term {
            let mute = words(text).is_empty();
            // Subjects are checked here, character by character.
            let in_subject = matches!(term, QueryTerm::In(MessagePart::Subject, _));
            if mute && !in_subject {
                return Err(Error::argument(format!(
                    "`{}` has no letter or digit, so Outlook cannot search it",
                    brief(text)
                ))
                .next("leave it out, or give words"));
            }
            if text.contains('*') && !mute {
                self.note("`*` is not a wildcard: whole words were searched".into());
            }
        }
        if let QueryTerm::Category(name) = term
            && is_category(name)
        {
            self.note(note!(
                "Outlook has no tabs: {} searched for a category of that name",
                quoted(&format!("category:{name}"))
            ));
        }
        if let QueryTerm::Folder(name) = term
            && PLACES.contains(&name.as_str())
        {
            if !negated {
                self.places.push(name.clone());
            }
            if name == "anywhere" {
                return Ok(if negated { any(vec![]) } else { all(vec![]) });
            }
        }
        let opposite = match term {
            QueryTerm::Is(MessageState::Unread) => Some(QueryTerm::Is(MessageState::Read)),
            QueryTerm::Is(MessageState::Read) => Some(QueryTerm::Is(MessageState::Unread)),
            QueryTerm::Before(instant) => Some(QueryTerm::After(*instant)),
            QueryTerm::After(instant) => Some(QueryTerm::Before(*instant)),
            _ => None,
        };
        Ok(match (negated, opposite) {
            (false, _) => Query::Term(term.clone()),
            (true, Some(opposite)) => Query::Term(opposite),
            (true, None) => Query::Not(Box::new(Query::Term(term.clone()))),
        })
    }

    /// Adds a note once.
    fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Joins parts by AND. The result matches nothing if one part matches nothing.
fn all(parts: Vec<Query>) -> Query {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Query::Any(none) if none.is_empty() => return Query::Any(none),
            Query::All(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    one_or(flat, Query::All)
}

/// Joins parts by OR. The result matches everything if one part matches everything.
fn any(parts: Vec<Query>) -> Query {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Query::All(none) if none.is_empty() => return Query::All(none),
            Query::Any(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    one_or(flat, Query::Any)
}
