//! Google's People API, as far as lookups need it: search and list of contacts and other contacts.
//! Writing is in `write.rs`, a person's JSON in `person.rs`.
//!
//! The people come from the mail (`store/mailbox/contacts.rs`): saved ones are contacts, the rest
//! other contacts. Sync tokens and sources other than contacts are not supported.

mod person;
mod write;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use person::{PERSON, PeopleSource, SERVICE, mask, resource};
use serde_json::{Map, Value, json};

use super::auth::google::bearer;
use super::google::error;
use super::google::fields::{FieldShape, shape};
use super::google::params::RequestParameters;
use super::http::{HttpRequest, HttpResponse};
use super::json::{listed, merge, present};
use super::routes::routes;
use super::state::RequestState;
use super::store::mailbox::person::MailboxPerson;
use super::store::settings::SavedContact;

/// The default and maximum number of results of a search.
const SEARCH_ROWS: (usize, usize) = (10, 30);

/// The default and maximum number of rows of a list page.
const LIST_ROWS: (usize, usize) = (100, 1_000);

/// The type of a search's answer.
static SEARCH: FieldShape = shape! { "results": &shape! { "person": &PERSON } };

/// The type of a list's answer.
static LIST: FieldShape = shape! {
    "connections": &PERSON, "otherContacts": &PERSON, "nextPageToken", "nextSyncToken",
    "totalPeople", "totalItems", "totalSize",
};

/// A call that a route leads to.
enum PeopleCall<'a> {
    /// A search in a source.
    Search(PeopleSource),
    /// The list of a source.
    List(PeopleSource),
    /// A call for a single contact.
    One(write::ContactCall<'a>),
}

routes! { PeopleCall below "/v1" {
    "GET" ["people:searchContacts"] => PeopleCall::Search(PeopleSource::Contacts),
    "GET" ["otherContacts:search"] => PeopleCall::Search(PeopleSource::Others),
    "GET" ["people", "me", "connections"] => PeopleCall::List(PeopleSource::Contacts),
    "GET" ["otherContacts"] => PeopleCall::List(PeopleSource::Others),
    "GET" ["people", id] => PeopleCall::One(write::ContactCall::Get(id)),
    "POST" ["people:createContact"] => PeopleCall::One(write::ContactCall::Create),
    "PATCH" ["people", id, "updateContact"] => PeopleCall::One(write::ContactCall::Update(id)),
    "DELETE" ["people", id, "deleteContact"] => PeopleCall::One(write::ContactCall::Delete(id)),
}}

/// Answers requests below `/v1`.
pub(super) fn answer(state: &RequestState, request: &HttpRequest, path: &[&str]) -> HttpResponse {
    // Custom methods follow a colon, as in `people/c1:deleteContact`.
    let path: Vec<&str> = match path {
        ["people", one] => ["people"].into_iter().chain(one.split(':')).collect(),
        path => path.to_vec(),
    };
    let Some((name, call)) = route(request.method.as_str(), &path) else {
        return error::no_method();
    };
    match handle(state, request, call) {
        Ok(answer) => {
            state.hit(name);
            answer
        }
        Err(refused) => refused,
    }
}

fn handle(
    state: &RequestState,
    request: &HttpRequest,
    call: PeopleCall<'_>,
) -> Result<HttpResponse, HttpResponse> {
    let (mailbox, access) = bearer(state, request)?;
    let (kind, list) = match call {
        PeopleCall::Search(kind) => (kind, false),
        PeopleCall::List(kind) => (kind, true),
        PeopleCall::One(call) => return write::handle(state, request, mailbox, &access, &call),
    };
    if !kind.open_to(|scope| access.has(scope)) {
        return Err(error::insufficient_scopes(SERVICE));
    }
    let people: Vec<(MailboxPerson, Option<SavedContact>)> = match kind {
        PeopleSource::Contacts => write::all(state, mailbox),
        PeopleSource::Others => {
            let others = mailbox.people().others.iter();
            let others = others.filter(|person| !person.saved);
            others.map(|person| (person.clone(), None)).collect()
        }
    };
    if list {
        // The API's name for the same mask differs from method to method.
        let (asked, known): (_, &[&str]) = match kind {
            PeopleSource::Contacts => {
                ("personFields", &["personFields", "pageSize", "pageToken", "sortOrder"])
            }
            PeopleSource::Others => ("readMask", &["readMask", "pageSize", "pageToken"]),
        };
        let params = RequestParameters::check(&request.query, known, &LIST)?;
        let fields = mask(&params, asked, kind)?;
        return Ok(params.answer(page(&params, &people, kind, &fields)?));
    }
    let known = &["query", "readMask", "pageSize"];
    let params = RequestParameters::check(&request.query, known, &SEARCH)?;
    let fields = mask(&params, "readMask", kind)?;
    let rows = rows(&params, SEARCH_ROWS)?;
    let question = params.value("query").unwrap_or_default();
    let found: Vec<Value> = people
        .iter()
        .filter(|(person, _)| person.matches(question))
        .take(rows)
        .map(|(person, contact)| {
            json!({ "person": resource(person, contact.as_ref(), kind, &fields) })
        })
        .collect();
    Ok(params.answer(present(json!({ "results": listed(&found) }))))
}

/// Returns one page of a list.
fn page(
    params: &RequestParameters<'_>,
    people: &[(MailboxPerson, Option<SavedContact>)],
    kind: PeopleSource,
    fields: &[&str],
) -> Result<Value, HttpResponse> {
    let (key, totals): (_, &[&str]) = match kind {
        PeopleSource::Contacts => ("connections", &["totalPeople", "totalItems"]),
        PeopleSource::Others => ("otherContacts", &["totalSize"]),
    };
    let rows = rows(params, LIST_ROWS)?;
    let start = match params.value("pageToken") {
        None => 0,
        Some(token) => place(token).ok_or_else(|| error::invalid("Invalid page token."))?,
    };
    let page = people.iter().skip(start).take(rows);
    let page: Vec<Value> =
        page.map(|(person, contact)| resource(person, contact.as_ref(), kind, fields)).collect();
    let next = start.saturating_add(page.len());
    let next = (next < people.len()).then(|| token(next));
    // Totals of zero are omitted as well.
    let total = (!people.is_empty()).then_some(people.len());
    let mut answer = json!({ key: listed(&page), "nextPageToken": next });
    let totals = totals.iter().map(|name| ((*name).to_owned(), total.into()));
    merge(&mut answer, totals.collect::<Map<_, _>>().into());
    Ok(present(answer))
}

/// Returns the requested number of rows.
fn rows(
    params: &RequestParameters<'_>,
    (usual, most): (usize, usize),
) -> Result<usize, HttpResponse> {
    let rows = params.number("pageSize", "page_size")?;
    Ok(rows.unwrap_or(usual).min(most))
}

/// Returns the token of the page that starts at a position.
fn token(place: usize) -> String {
    URL_SAFE_NO_PAD.encode(format!("connections {place}"))
}

/// Returns the position in a page token.
fn place(token: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    text.strip_prefix("connections ")?.parse().ok()
}
