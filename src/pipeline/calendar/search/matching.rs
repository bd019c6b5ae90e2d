//! Search for words in events.
//!
//! Each service searches in its own way, so the search is done here: the same query finds the same
//! events in every calendar. A word matches the beginning of a word, regardless of case; a phrase
//! matches neighbouring words.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::project::{Projection, project};
use daysheet_core::query::{self, DateContext, MessagePart, Query, QueryTerm};
use daysheet_core::schemas::{EVENT, Service, TableColumn};
use daysheet_core::text::search_text::words;

/// Operators of a search for events.
const OPERATORS: &str = "from: (organizer) to: (guests) subject: (title) body: (description) \
                         category: is:unanswered (invitations) OR -not ( ), or is:clash alone";

/// The columns that are searched, in addition to the facts.
const COLUMNS: &[&str] =
    &["title", "where", "organizer", "organizer_address", "attendees", "category", "notes"];

/// The conditions of a search for events.
pub(super) struct EventQuery {
    words: Query,
    /// True for invitations that the user has answered, false for those without an answer.
    answered: Option<bool>,
}

impl EventQuery {
    /// Returns true if the query has words, and not only conditions on answers.
    pub(super) fn has_words(&self) -> bool {
        !self.words.terms().is_empty()
    }

    /// Returns true if only invitations without an answer match.
    pub(super) fn is_unanswered(&self) -> bool {
        self.answered == Some(false)
    }
}

/// Reads a query for events.
pub(super) fn read_query(text: &str, clock: &DateContext) -> Result<EventQuery> {
    let refused = |what: &str, next: &str| {
        Err(Error::argument(format!("`{what}` is for mail, not events")).next(next))
    };
    let use_others = format!("use words, \"phrases\", {OPERATORS}");
    if query::is_raw(text) {
        return refused("raw:", &use_others);
    }
    let is_clash = |word: &str| word.trim_matches(['(', ')', '-']).eq_ignore_ascii_case(QUERY);
    if text.split_whitespace().any(is_clash) {
        return Err(Error::argument(format!("`{QUERY}` stands alone"))
            .next(format!("give q={QUERY}, or the other words without it")));
    }
    let parsed = query::parse_search(text, clock);
    let (query, listed) = parsed.map_err(|error| match error.next_step() {
        // The parser's hint lists the operators for mail, most of which do not apply to events.
        Some(next) if next.contains(query::OPERATORS) => {
            Error::argument(error.message()).next(&use_others)
        }
        _ => error,
    })?;
    if listed.bulk.is_some() || listed.direct {
        return refused("is:", &use_others);
    }
    for term in query.terms() {
        match term {
            QueryTerm::Text(_) | QueryTerm::Label(_) | QueryTerm::Category(_) => {}
            QueryTerm::In(
                MessagePart::From | MessagePart::To | MessagePart::Subject | MessagePart::Body,
                _,
            ) => {}
            QueryTerm::In(part, _) => {
                return refused(&format!("{}:", part.operator()), &use_others);
            }
            QueryTerm::Before(_) | QueryTerm::After(_) => {
                return Err(Error::argument("`before:` and `after:` are for mail")
                    .next("give `from` and `to` besides `q`"));
            }
            QueryTerm::Folder(_) => {
                return refused("in:", "name `calendars`, or use words alone");
            }
            QueryTerm::Is(_) => return refused("is:", &use_others),
            QueryTerm::Attachment => return refused("has:attachment", &use_others),
            QueryTerm::Larger(_) => return refused("larger:", &use_others),
            QueryTerm::Smaller(_) => return refused("smaller:", &use_others),
        }
    }
    Ok(EventQuery { words: query, answered: listed.answered })
}

/// Returns the columns that must be fetched to search for words.
pub(super) fn columns() -> Vec<&'static TableColumn> {
    COLUMNS.iter().filter_map(|name| EVENT.field(name)).collect()
}

/// Returns the projection to request.
pub(super) fn projection(api: Service, shown: &[&'static TableColumn]) -> Projection {
    let mut all = shown.to_vec();
    for field in columns() {
        if !all.contains(&field) {
            all.push(field);
        }
    }
    project(api, &all)
}

/// The words of one event.
struct EventText {
    title: Vec<Vec<String>>,
    notes: Vec<Vec<String>>,
    organizer: Vec<Vec<String>>,
    guests: Vec<Vec<String>>,
    category: Vec<Vec<String>>,
    place: Vec<Vec<String>>,
}

/// Returns true if the query matches an event.
pub(super) fn matches_event(query: &EventQuery, event: &Event, context: &RowContext) -> bool {
    let fits = match query.answered {
        None => true,
        Some(true) => !event.own && event.answer.is_some(),
        Some(false) => event.unanswered && !event.cancelled,
    };
    if !fits {
        return false;
    }
    let column = |name: &str| -> Vec<Vec<String>> {
        let texts = EVENT.field(name).map(|field| flatten::texts(field, event, context));
        texts.unwrap_or_default().iter().map(|text| words(text)).collect()
    };
    // As answers name the organizer: the user is `me`.
    let mut organizer = column("organizer");
    organizer.extend(event.organizer.as_ref().map(|one| words(one.address.as_str())));
    let mut guests = Vec::new();
    for guest in &event.guests {
        guests.push(words(guest.address.as_str()));
        guests.extend(guest.name.as_deref().map(words));
        // Answers call the user `me`, so that word is found, too.
        if guest.me {
            guests.push(vec!["me".to_owned()]);
        }
    }
    // In HTML, addresses of links are found, too.
    let mut notes = column("notes");
    notes.extend(event.notes.as_deref().map(words));
    let spoken = EventText {
        title: vec![words(&event.title)],
        notes,
        organizer,
        guests,
        category: event.categories.iter().map(|name| words(name)).collect(),
        place: vec![words(&event.place)],
    };
    spoken.matches(&query.words)
}

impl EventText {
    /// Returns true if the event's texts match the query.
    fn matches(&self, query: &Query) -> bool {
        match query {
            Query::All(parts) => parts.iter().all(|part| self.matches(part)),
            Query::Any(parts) => parts.iter().any(|part| self.matches(part)),
            Query::Not(part) => !self.matches(part),
            Query::Term(term) => self.has(term),
            // Refused when the query was read.
            Query::Raw(_) => false,
        }
    }

    fn has(&self, term: &QueryTerm) -> bool {
        let any = |fields: &[&Vec<Vec<String>>], text: &str| {
            let phrase = words(text);
            fields.iter().flat_map(|texts| texts.iter()).any(|text| begins(text, &phrase))
        };
        match term {
            QueryTerm::Text(text) => {
                any(&[&self.title, &self.place, &self.notes, &self.organizer, &self.guests], text)
            }
            QueryTerm::In(MessagePart::From, text) => any(&[&self.organizer], text),
            QueryTerm::In(MessagePart::To, text) => any(&[&self.guests], text),
            QueryTerm::In(MessagePart::Subject, text) => any(&[&self.title], text),
            QueryTerm::In(MessagePart::Body, text) => any(&[&self.notes], text),
            QueryTerm::Label(text) | QueryTerm::Category(text) => any(&[&self.category], text),
            _ => false,
        }
    }
}

/// Returns true if `phrase` occurs in `text`; its last word may be a prefix.
fn begins(text: &[String], phrase: &[String]) -> bool {
    let Some((last, before)) = phrase.split_last() else {
        // A term of punctuation alone excludes no event.
        return true;
    };
    text.windows(phrase.len()).any(|words| match words.split_last() {
        Some((end, start)) => start == before && end.starts_with(last.as_str()),
        None => false,
    })
}

/// The query.
pub(super) const QUERY: &str = "is:clash";
