//! Google's People API, as far as lookups need it: search and list of contacts and other contacts.
//! Writing is in `write.rs`, a person's JSON in `person.rs`.
//!
//! The people come from the mail (`store/mailbox/contacts.rs`): saved ones are contacts, the rest
//! other contacts. Sync tokens and sources other than contacts are not supported.

mod context;
mod person;
mod write;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use context::PeopleContext;
use person::PeopleSource::{self, Contacts, Others};
use person::{PERSON, SERVICE, mask, resource};
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

/// The parameters of a search.
const SEARCH_PARAMS: &[&str] = &["query", "readMask", "pageSize"];

/// The parameters of reading and creating a contact.
const GET: &[&str] = &["personFields", "sources"];

// One of the listed scopes is required. Other contacts have a scope of their own; full access to
// contacts does not include them.
const READ: &[&str] = &["contacts.readonly", "contacts"];
const READ_OTHERS: &[&str] = &["contacts.other.readonly"];
const WRITE: &[&str] = &["contacts"];

/// A call that a route leads to.
struct PeopleCall<'a> {
    /// The scopes, one of which is required.
    scopes: &'static [&'static str],
    /// The parameters.
    params: &'static [&'static str],
    /// The type of the answer.
    answer: &'static FieldShape,
    /// The implementation.
    handle: PeopleHandler<'a>,
}

type PeopleHandler<'a> = Box<dyn Fn(&PeopleContext<'_>) -> Result<Value, HttpResponse> + 'a>;

fn call<'a>(
    scopes: &'static [&'static str],
    params: &'static [&'static str],
    answer: &'static FieldShape,
    handle: impl Fn(&PeopleContext<'_>) -> Result<Value, HttpResponse> + 'a,
) -> PeopleCall<'a> {
    PeopleCall { scopes, params, answer, handle: Box::new(handle) }
}

routes! { PeopleCall below "/v1" {
    "GET" ["people:searchContacts"] => call(READ, SEARCH_PARAMS, &SEARCH, |it| it.search(Contacts)),
    "GET" ["otherContacts:search"] => {
        call(READ_OTHERS, SEARCH_PARAMS, &SEARCH, |it| it.search(Others))
    },
    // The API's name for the same mask differs from method to method.
    "GET" ["people", "me", "connections"] => {
        const PARAMS: &[&str] = &["personFields", "pageSize", "pageToken", "sortOrder"];
        call(READ, PARAMS, &LIST, |it| it.list(Contacts, "personFields"))
    },
    "GET" ["otherContacts"] => {
        const PARAMS: &[&str] = &["readMask", "pageSize", "pageToken"];
        call(READ_OTHERS, PARAMS, &LIST, |it| it.list(Others, "readMask"))
    },
    "GET" ["people", id] => call(READ, GET, &PERSON, move |it| it.get(id)),
    "POST" ["people:createContact"] => call(WRITE, GET, &PERSON, |it| it.create()),
    "PATCH" ["people", id, "updateContact"] => {
        const PARAMS: &[&str] = &["personFields", "updatePersonFields", "sources"];
        call(WRITE, PARAMS, &PERSON, move |it| it.update(id))
    },
    "DELETE" ["people", id, "deleteContact"] => {
        call(WRITE, &[], &PERSON, move |it| it.delete(id))
    },
}}

/// Answers requests below `/v1`.
pub(super) fn answer(state: &RequestState, request: &HttpRequest, path: &[&str]) -> HttpResponse {
    // Custom methods follow a colon, as in `people/c1:deleteContact`.
    let path: Vec<&str> = match path {
        ["people", one] => ["people"].into_iter().chain(one.split(':')).collect(),
        path => path.to_vec(),
    };
    let answered = match route(request.method.as_str(), &path) {
        Some((name, call)) => handle(state, request, &call).inspect(|_| state.hit(name)),
        None => Err(error::no_method()),
    };
    answered.unwrap_or_else(|refused| refused)
}

fn handle(
    state: &RequestState,
    request: &HttpRequest,
    call: &PeopleCall<'_>,
) -> Result<HttpResponse, HttpResponse> {
    let (mailbox, access) = bearer(state, request)?;
    if !call.scopes.iter().any(|name| access.has(name)) {
        return Err(error::insufficient_scopes(SERVICE));
    }
    let params = &RequestParameters::check(&request.query, call.params, call.answer)?;
    let value = (call.handle)(&PeopleContext { state, request, mailbox, params })?;
    Ok(params.answer(value))
}

impl PeopleContext<'_> {
    /// Returns the people of a source, with the properties edited by hand.
    fn people(&self, source: PeopleSource) -> Vec<(MailboxPerson, Option<SavedContact>)> {
        match source {
            Contacts => self.contacts(),
            Others => {
                let others = self.mailbox.people().others.iter();
                others.filter(|it| !it.saved).map(|person| (person.clone(), None)).collect()
            }
        }
    }

    /// Searches a source.
    fn search(&self, source: PeopleSource) -> Result<Value, HttpResponse> {
        let fields = mask(self.params, "readMask", source)?;
        let rows = rows(self.params, SEARCH_ROWS)?;
        let question = self.params.value("query").unwrap_or_default();
        let people = self.people(source).into_iter();
        let found = people.filter(|(person, _)| person.matches(question)).take(rows);
        let found = found.map(|(person, contact)| {
            json!({ "person": resource(&person, contact.as_ref(), source, &fields) })
        });
        Ok(present(json!({ "results": listed(&found.collect::<Vec<_>>()) })))
    }

    /// Lists a source. `name` is the parameter with the requested fields.
    fn list(&self, source: PeopleSource, name: &str) -> Result<Value, HttpResponse> {
        let fields = mask(self.params, name, source)?;
        let (key, totals): (_, &[&str]) = match source {
            Contacts => ("connections", &["totalPeople", "totalItems"]),
            Others => ("otherContacts", &["totalSize"]),
        };
        let rows = rows(self.params, LIST_ROWS)?;
        let start = match self.params.value("pageToken") {
            None => 0,
            Some(token) => place(token).ok_or_else(|| error::invalid("Invalid page token."))?,
        };
        let people = self.people(source);
        let page = people.iter().skip(start).take(rows);
        let page =
            page.map(|(person, contact)| resource(person, contact.as_ref(), source, &fields));
        let page: Vec<Value> = page.collect();
        let next = start.saturating_add(page.len());
        let next = (next < people.len()).then(|| token(next));
        // Totals of zero are omitted as well.
        let total = (!people.is_empty()).then_some(people.len());
        let mut answer = json!({ key: listed(&page), "nextPageToken": next });
        let totals = totals.iter().map(|name| ((*name).to_owned(), total.into()));
        merge(&mut answer, totals.collect::<Map<_, _>>().into());
        Ok(present(answer))
    }
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
