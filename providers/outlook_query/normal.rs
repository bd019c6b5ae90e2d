//! A query in the form that both of Graph's languages and our own check take.
//!
//! Every minus stands at a condition, groups of a kind are not nested, and what
//! says nothing is gone. Here too is what a query loses on the way to Outlook
//! whatever language it ends in, with the notes that say so.

use crate::error::{Error, Result};
use crate::providers::gmail_query::is_category;
use crate::query::{PLACES, Query, State, Term, one_or};
use crate::text::brief;
use crate::text::words::words;

/// A query in its normal form.
pub(super) struct Normal {
    /// The conjuncts. An empty [`Query::Any`] is never met, and then alone.
    pub all: Vec<Query>,
    /// The words of [`PLACES`] that the query asks for, in any part of it.
    pub places: Vec<String>,
    /// What was lost.
    pub notes: Vec<String>,
}

/// Brings a query into its normal form.
pub(super) fn read(query: &Query) -> Result<Normal> {
    let mut reader = Reader::default();
    let all = match reader.part(query, false)? {
        Some(Query::All(parts)) => parts,
        Some(one) => vec![one],
        None => {
            return Err(
                Error::argument("the query has no letter or digit to look for")
                    .next("write the words to look for, or an operator"),
            );
        }
    };
    Ok(Normal {
        all,
        places: reader.places,
        notes: reader.notes,
    })
}

#[derive(Default)]
struct Reader {
    places: Vec<String>,
    notes: Vec<String>,
}

impl Reader {
    /// A part with the minus before it pushed inwards; `None` if nothing of it
    /// says anything.
    fn part(&mut self, query: &Query, negated: bool) -> Result<Option<Query>> {
        Ok(match (query, negated) {
            (Query::All(parts), false) | (Query::Any(parts), true) => {
                self.group(parts, negated)?.map(all)
            }
            (Query::Any(parts), false) | (Query::All(parts), true) => {
                self.group(parts, negated)?.map(any)
            }
            (Query::Not(part), _) => self.part(part, !negated)?,
            (Query::Term(term), _) => self.term(term, negated),
            (Query::Raw(_), _) => {
                return Err(Error::argument("the query has `raw:` next to other terms")
                    .next("write the whole query behind `raw:`"));
            }
        })
    }

    /// The parts that say something; `None` if there were some and none does.
    fn group(&mut self, parts: &[Query], negated: bool) -> Result<Option<Vec<Query>>> {
        let mut saying = Vec::new();
        for part in parts {
            saying.extend(self.part(part, negated)?);
        }
        let mute = saying.is_empty() && !parts.is_empty();
        Ok((!mute).then_some(saying))
    }

    fn term(&mut self, term: &Term, negated: bool) -> Option<Query> {
        if let Term::Text(text) | Term::In(_, text) = term {
            if words(text).is_empty() {
                self.note(format!(
                    "`{}` has no letter or digit and was left out of the search",
                    brief(text)
                ));
                return None;
            }
            if text.contains('*') {
                self.note(
                    "`*` does not stand for other letters: whole words were searched for"
                        .to_owned(),
                );
            }
        }
        if let Term::Category(name) = term
            && is_category(name)
        {
            self.note(format!(
                "Outlook has no tabs: `category:{name}` searched for a category of that name"
            ));
        }
        if let Term::Folder(name) = term
            && PLACES.contains(&name.as_str())
        {
            if !negated {
                self.places.push(name.clone());
            }
            if name == "anywhere" {
                return Some(if negated { any(vec![]) } else { all(vec![]) });
            }
        }
        let opposite = match term {
            Term::Is(State::Unread) => Some(Term::Is(State::Read)),
            Term::Is(State::Read) => Some(Term::Is(State::Unread)),
            Term::Before(instant) => Some(Term::After(*instant)),
            Term::After(instant) => Some(Term::Before(*instant)),
            _ => None,
        };
        Some(match (negated, opposite) {
            (false, _) => Query::Term(term.clone()),
            (true, Some(opposite)) => Query::Term(opposite),
            (true, None) => Query::Not(Box::new(Query::Term(term.clone()))),
        })
    }

    /// Notes something once.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// All of the parts: never met if one of them is not.
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

/// Any of the parts: always met if one of them is.
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
