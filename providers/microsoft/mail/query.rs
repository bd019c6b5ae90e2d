//! The query language, translated for Microsoft Graph. No I/O.
//!
//! Graph has two languages and accepts one at a time: `$filter` (OData) has states, times and whole
//! addresses, and is exact; `$search` (KQL) has words. A query is normalized (`normal.rs`), and
//! each conjunct is written in the chosen language if that can express it (`write.rs`), or checked
//! on every returned message (`check.rs`). The results are therefore those of Gmail; conditions
//! that neither side can decide are refused. `$search`:
//! <https://learn.microsoft.com/graph/search-query-parameter>.

mod check;
mod normal;
mod write;

pub use check::{FolderNames, matches, reads};
use daysheet_core::error::{Error, Result};
use daysheet_core::query::{ME, MessagePart, PLACES, Query, QueryTerm};
use daysheet_core::text::Note;

/// The folders to search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SearchScope {
    /// Every folder except Deleted Items and Junk Email: the default without a folder.
    #[default]
    Mail,
    /// Every folder.
    Anywhere,
    /// One folder: a word of [`PLACES`], or a folder's name or id.
    Folder(String),
}

/// A query in Graph's languages. Without filter, search and rest, it matches every message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphQuery {
    /// The folders to search.
    pub scope: SearchScope,
    /// The complete `$filter`, in the order that `$orderby=receivedDateTime desc` requires. Never
    /// present together with `search`.
    pub filter: Option<String>,
    /// The KQL of `$search`, ready for double quotes.
    pub search: Option<String>,
    /// The conditions left to check on each message, with [`matches()`].
    pub rest: Option<Query>,
    /// Notes on conditions that lost meaning, or cost additional requests.
    pub notes: Vec<Note>,
}

/// Translates `query` to Graph's languages; no query matches every message.
///
/// # Errors
/// [`daysheet_core::error::ErrorKind::Argument`] for conditions that neither Graph nor a message's
/// properties can decide.
pub fn compile(query: Option<&Query>) -> Result<GraphQuery> {
    let normal = match query {
        None => return Ok(GraphQuery::default()),
        Some(Query::Raw(raw)) => return passed_on(raw),
        Some(query) => normal::read(query)?,
    };
    let mut compiled = GraphQuery { notes: normal.notes, ..GraphQuery::default() };
    let mut rest = Vec::new();
    let parts = place(normal.all, &normal.places, &mut compiled.scope, &mut rest);

    let searches = parts.iter().any(wants_search);
    let say = if searches { write::kql } else { write::odata };
    let mut clauses = Vec::new();
    for part in parts {
        if let Some(text) = say(&part) {
            clauses.push(text);
        } else if check::can(&part) {
            // Days narrow the search; the exact time is checked here.
            if searches {
                clauses.extend(write::kql_days(&part));
            }
            rest.push(part);
        } else {
            return Err(mixed(&part));
        }
    }
    if searches {
        compiled.search = Some(write::search(clauses));
    } else {
        compiled.filter = write::filter(clauses);
    }
    compiled.rest = match rest.len() {
        0 | 1 => rest.pop(),
        _ => Some(Query::All(rest)),
    };
    if compiled.rest.is_some()
        && compiled.filter.is_none()
        && compiled.search.is_none()
        && !matches!(compiled.scope, SearchScope::Folder(_))
    {
        compiled.notes.push(
            "Outlook cannot filter this search: messages are read and checked one by one; narrow \
             it by a date, a folder or a word"
                .into(),
        );
    }
    Ok(compiled)
}

/// Returns true for a conjunct that needs KQL, which then applies to the whole query.
///
/// A mere exclusion that can be checked here does not need it: it narrows nothing, and a search
/// ends after 1,000 results where a filter continues.
fn wants_search(part: &Query) -> bool {
    let leaves_out = matches!(part, Query::Not(_)) && check::can(part);
    write::odata(part).is_none() && write::kql(part).is_some() && !leaves_out
}

/// Returns the folders in a query other than [`PLACES`], each once. They have to be resolved,
/// because Graph returns an error or nothing for unknown folders.
pub fn folders(query: &Query) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for term in query.terms() {
        if let QueryTerm::Folder(name) = term
            && !PLACES.contains(&name.as_str())
            && !found.contains(name)
        {
            found.push(name.clone());
        }
    }
    found
}

/// Replaces `me` in a query by the account's address, because Graph does not know `from:me`.
pub fn resolve_me(query: &Query, address: &str) -> Query {
    query.map(&|term| match term {
        QueryTerm::In(
            part @ (MessagePart::From | MessagePart::To | MessagePart::Cc | MessagePart::Bcc),
            who,
        ) if who.eq_ignore_ascii_case(ME) => QueryTerm::In(*part, address.to_owned()),
        term => term.clone(),
    })
}

/// Determines the scope, and returns the conjuncts that it does not already meet.
///
/// `named` has the words of [`PLACES`] that the query contains.
fn place(
    parts: Vec<Query>,
    named: &[String],
    scope: &mut SearchScope,
    rest: &mut Vec<Query>,
) -> Vec<Query> {
    let first = parts.iter().find_map(|part| match part {
        Query::Term(QueryTerm::Folder(name)) => Some(name.clone()),
        _ => None,
    });
    let names = |place: &str| named.iter().any(|name| name == place);
    *scope = match first {
        Some(name) => SearchScope::Folder(name),
        None if names("anywhere") || names("spam") || names("trash") => SearchScope::Anywhere,
        None => SearchScope::Mail,
    };
    // As in Gmail, `in:spam OR x` searches the spam folder but not the trash.
    if *scope == SearchScope::Anywhere && !names("anywhere") {
        for hidden in ["spam", "trash"] {
            if !names(hidden) {
                let hidden = Query::Term(QueryTerm::Folder(hidden.to_owned()));
                rest.push(Query::Not(Box::new(hidden)));
            }
        }
    }
    parts.into_iter().filter(|part| !settled(part, scope)).collect()
}

/// Returns true if the scope already meets a condition on the folder.
fn settled(part: &Query, scope: &SearchScope) -> bool {
    match (part, scope) {
        (Query::Term(QueryTerm::Folder(name)), SearchScope::Folder(scope)) => name == scope,
        (Query::Not(part), _) => match (&**part, scope) {
            (Query::Term(QueryTerm::Folder(name)), SearchScope::Mail) => {
                matches!(name.as_str(), "spam" | "trash")
            }
            (Query::Term(QueryTerm::Folder(name)), SearchScope::Folder(scope)) => {
                let place = |name: &String| PLACES.contains(&name.as_str());
                name != scope && place(name) && place(scope)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Reads a query in Graph's own syntax: `$filter=…`, `$search=…`, or KQL.
fn passed_on(raw: &str) -> Result<GraphQuery> {
    let (filter, search) = match raw.strip_prefix('$').map(|raw| raw.split_once('=')) {
        None => (None, Some(raw)),
        Some(Some(("filter", filter))) => (Some(filter.trim()), None),
        Some(Some(("search", search))) => (None, Some(search.trim())),
        Some(_) => {
            return Err(Error::argument(
                "the raw query begins with `$` but is not $filter or $search",
            )
            .next("write raw:$filter=…, raw:$search=… or raw: and KQL"));
        }
    };
    if filter.or(search) == Some("") {
        return Err(
            Error::argument("the raw query has nothing after the `=`").next("add the expression")
        );
    }
    Ok(GraphQuery {
        filter: filter.map(write::raw_filter),
        search: search.map(write::raw_kql),
        ..GraphQuery::default()
    })
}

/// Returns the error for a conjunct that needs both Graph's index and our checks.
fn mixed(part: &Query) -> Error {
    let first = |unable: &dyn Fn(&Query) -> bool| {
        let mut terms = part.terms().into_iter();
        terms.find(|term| unable(&Query::Term((*term).clone()))).map_or_else(String::new, operator)
    };
    Error::argument(format!(
        "Outlook cannot search {} and {} joined by OR, or in one group after a minus",
        first(&|term| !check::can(term)),
        first(&|term| write::kql(term).is_none()),
    ))
    .next("search for each separately")
}

/// Returns the operator of a condition, for errors.
fn operator(term: &QueryTerm) -> String {
    let fixed = match term {
        QueryTerm::Text(_) => "words",
        QueryTerm::In(part, _) => return format!("{}:", part.operator()),
        QueryTerm::Folder(_) => "in:",
        QueryTerm::Label(_) => "label:",
        QueryTerm::Category(_) => "category:",
        QueryTerm::Is(_) => "is:",
        QueryTerm::Attachment => "has:attachment",
        QueryTerm::Larger(_) => "larger:",
        QueryTerm::Smaller(_) => "smaller:",
        // A negated date is written as its opposite, so the operator is unknown.
        QueryTerm::Before(_) | QueryTerm::After(_) => "a date",
    };
    fixed.to_owned()
}
