//! Google's People API, as far as looking people up needs it: the search in
//! contacts and other contacts, and the list of contacts; what writes is in
//! `write.rs`.
//!
//! The people are those of the mail (`store/mailbox/contacts.rs`): saved ones are contacts,
//! the rest other contacts. Sync tokens and the sources beyond contacts are not
//! here.

mod write;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hyper::Method;
use serde_json::{Map, Value, json};

use super::auth::google::bearer;
use super::google::error;
use super::google::fields::Shape;
use super::google::params::Params;
use super::http::{Answer, Request};
use super::state::State;
use super::store::mailbox::contacts::Person;
use super::store::settings::Contact;
use write::Call;

/// The API's own name, in its errors.
const SERVICE: &str = "people.googleapis.com";

/// Rows of a search unless said otherwise, and at most.
const SEARCH_ROWS: (usize, usize) = (10, 30);

/// Rows of the list unless said otherwise, and at most.
const LIST_ROWS: (usize, usize) = (100, 1_000);

/// The fields of a person that may be asked for.
const PERSON_FIELDS: [&str; 28] = [
    "addresses",
    "ageRanges",
    "biographies",
    "birthdays",
    "calendarUrls",
    "clientData",
    "coverPhotos",
    "emailAddresses",
    "events",
    "externalIds",
    "genders",
    "imClients",
    "interests",
    "locales",
    "locations",
    "memberships",
    "metadata",
    "miscKeywords",
    "names",
    "nicknames",
    "occupations",
    "organizations",
    "phoneNumbers",
    "photos",
    "relations",
    "sipAddresses",
    "skills",
    "urls",
];

/// The fields of another contact that may be asked for.
const OTHER_FIELDS: [&str; 4] = ["emailAddresses", "metadata", "names", "phoneNumbers"];

static SOURCE: Shape = Shape(&[("type", None), ("id", None), ("etag", None), ("updateTime", None)]);

static FIELD_METADATA: Shape = Shape(&[
    ("primary", None),
    ("sourcePrimary", None),
    ("verified", None),
    ("source", Some(&SOURCE)),
]);

static NAME: Shape = Shape(&[
    ("metadata", Some(&FIELD_METADATA)),
    ("displayName", None),
    ("displayNameLastFirst", None),
    ("unstructuredName", None),
    ("familyName", None),
    ("givenName", None),
    ("middleName", None),
]);

static EMAIL: Shape = Shape(&[
    ("metadata", Some(&FIELD_METADATA)),
    ("value", None),
    ("type", None),
    ("formattedType", None),
    ("displayName", None),
]);

/// The type of a person. What the sandbox never has is masked, not described.
pub(super) static PERSON: Shape = Shape(&[
    ("resourceName", None),
    ("etag", None),
    ("metadata", Some(&Shape(&[("sources", Some(&SOURCE)), ("objectType", None)]))),
    ("names", Some(&NAME)),
    ("emailAddresses", Some(&EMAIL)),
    ("phoneNumbers", None),
    ("organizations", None),
    ("biographies", None),
]);

/// The type of a search's answer.
static SEARCH: Shape = Shape(&[("results", Some(&Shape(&[("person", Some(&PERSON))])))]);

/// The type of the list's answer.
static CONNECTIONS: Shape = Shape(&[
    ("connections", Some(&PERSON)),
    ("nextPageToken", None),
    ("nextSyncToken", None),
    ("totalPeople", None),
    ("totalItems", None),
]);

/// Whom a method is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Those in the address book.
    Contacts,
    /// Those known from mail.
    Others,
}

impl Kind {
    /// Whether a token's scopes open this.
    fn open_to(self, has: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Contacts => has("contacts.readonly") || has("contacts"),
            Self::Others => has("contacts.other.readonly"),
        }
    }

    /// The fields that may be asked for.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Contacts => &PERSON_FIELDS,
            Self::Others => &OTHER_FIELDS,
        }
    }

    /// Where the documentation lists them.
    fn page(self, list: bool) -> &'static str {
        match (self, list) {
            (Self::Contacts, true) => "people.connections/list",
            (Self::Contacts, false) => "people/searchContacts",
            (Self::Others, _) => "otherContacts/search",
        }
    }
}

/// Answers what comes below `/v1`.
pub(super) fn answer(state: &State, request: &Request, path: &[&str]) -> Answer {
    carry_out(state, request, path).unwrap_or_else(|refused| refused)
}

fn carry_out(state: &State, request: &Request, path: &[&str]) -> Result<Answer, Answer> {
    if let Some(call) = Call::of(&request.method, path) {
        return write::carry_out(state, request, &call);
    }
    let (kind, list) = match path {
        ["people:searchContacts"] => (Kind::Contacts, false),
        ["otherContacts:search"] => (Kind::Others, false),
        ["people", "me", "connections"] => (Kind::Contacts, true),
        _ => return Err(error::no_method()),
    };
    if request.method != Method::GET {
        return Err(error::no_method());
    }
    let (mailbox, access) = bearer(state, request)?;
    if !kind.open_to(|scope| access.has(scope)) {
        return Err(error::insufficient_scopes(SERVICE));
    }
    let people: Vec<(Person, Option<Contact>)> = match kind {
        Kind::Contacts => write::all(state, mailbox),
        Kind::Others => {
            let others = mailbox.people().others.iter();
            let others = others.filter(|person| !person.saved);
            others.map(|person| (person.clone(), None)).collect()
        }
    };
    if list {
        let known = &["personFields", "pageSize", "pageToken", "sortOrder"];
        let params = Params::check(&request.query, known, &CONNECTIONS)?;
        let fields = mask(&params, "personFields", "person_fields", kind, list)?;
        return Ok(params.answer(connections(&params, &people, &fields)?));
    }
    let known = &["query", "readMask", "pageSize"];
    let params = Params::check(&request.query, known, &SEARCH)?;
    let fields = mask(&params, "readMask", "read_mask", kind, list)?;
    let rows = rows(&params, SEARCH_ROWS)?;
    let question = params.one("query").unwrap_or_default();
    let found: Vec<Value> = people
        .iter()
        .filter(|(person, _)| person.matches(question))
        .take(rows)
        .map(|(person, contact)| {
            json!({ "person": resource(person, contact.as_ref(), kind, &fields) })
        })
        .collect();
    Ok(params.answer(match found.is_empty() {
        true => json!({}),
        false => json!({ "results": found }),
    }))
}

/// One page of the contacts.
fn connections(
    params: &Params<'_>,
    people: &[(Person, Option<Contact>)],
    fields: &[&str],
) -> Result<Value, Answer> {
    let rows = rows(params, LIST_ROWS)?;
    let start = match params.one("pageToken") {
        None => 0,
        Some(token) => place(token).ok_or_else(|| error::invalid("Invalid page token."))?,
    };
    let page = people.iter().skip(start).take(rows);
    let page: Vec<Value> = page
        .map(|(person, contact)| resource(person, contact.as_ref(), Kind::Contacts, fields))
        .collect();
    let mut answer = Map::new();
    let next = start.saturating_add(page.len());
    if !page.is_empty() {
        answer.insert("connections".to_owned(), page.into());
    }
    if next < people.len() {
        answer.insert("nextPageToken".to_owned(), token(next).into());
    }
    if !people.is_empty() {
        answer.insert("totalPeople".to_owned(), people.len().into());
        answer.insert("totalItems".to_owned(), people.len().into());
    }
    Ok(Value::Object(answer))
}

/// The rows wanted.
fn rows(params: &Params<'_>, (usual, most): (usize, usize)) -> Result<usize, Answer> {
    let rows = params.number("pageSize", "page_size")?;
    Ok(rows.unwrap_or(usual).min(most))
}

/// The fields of a person that were asked for: the API gives none unasked.
pub(super) fn mask<'a>(
    params: &Params<'a>,
    name: &str,
    field: &str,
    kind: Kind,
    list: bool,
) -> Result<Vec<&'a str>, Answer> {
    let where_ = format!(
        "Valid paths are documented at https://developers.google.com/people/api/rest/v1/{}.",
        kind.page(list)
    );
    let text = params.all(name).find(|text| !text.is_empty()).ok_or_else(|| {
        error::invalid(&match list {
            true => {
                format!("{name} mask is required. Please specify one or more valid paths. {where_}")
            }
            false => {
                format!("{field} is required. Please specify one or more valid paths. {where_}")
            }
        })
    })?;
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let wrong = fields.iter().find(|path| {
        // A path may reach further down; its first step decides here.
        let first = path.split_once('.').map_or(**path, |(first, _)| first);
        !kind.fields().contains(&first)
    });
    match wrong {
        Some(path) => {
            Err(error::invalid(&format!("Invalid {name} mask path: \"{path}\". {where_}")))
        }
        None => Ok(fields),
    }
}

/// The tag of a contact: another one after every change.
pub(super) fn etag(id: u64, contact: Option<&Contact>) -> String {
    let version = contact.map_or(0, |contact| contact.version);
    let number = id.wrapping_add(version);
    format!("%{}", STANDARD.encode(number.to_be_bytes()))
}

/// A person with the fields asked for; `contact` is what was written by hand.
pub(super) fn resource(
    person: &Person,
    contact: Option<&Contact>,
    kind: Kind,
    fields: &[&str],
) -> Value {
    let (collection, source) = match kind {
        Kind::Contacts => ("people", "CONTACT"),
        Kind::Others => ("otherContacts", "OTHER_CONTACT"),
    };
    let has = |name: &str| {
        let mut fields = fields.iter();
        fields.any(|path| path.split('.').next() == Some(name))
    };
    let source = json!({ "type": source, "id": format!("{:x}", person.id) });
    let metadata = json!({ "primary": true, "source": source });
    let mut resource = json!({
        "resourceName": format!("{collection}/c{}", person.id),
        "etag": etag(person.id, contact),
    });
    if let Value::Object(resource) = &mut resource {
        if has("metadata") {
            let metadata = json!({ "sources": [source], "objectType": "PERSON" });
            resource.insert("metadata".to_owned(), metadata);
        }
        if has("names") && !person.name.is_empty() {
            let mut name = name(&person.name, &metadata);
            if let (Value::Object(name), Some(contact)) = (&mut name, contact) {
                let parts = [("givenName", &contact.given), ("familyName", &contact.family)];
                for (key, part) in parts {
                    match part.is_empty() {
                        true => name.remove(key),
                        false => name.insert(key.to_owned(), part.clone().into()),
                    };
                }
            }
            resource.insert("names".to_owned(), json!([name]));
        }
        let emails = match contact {
            Some(contact) => contact.emails.iter().collect(),
            None => vec![&person.email],
        };
        if has("emailAddresses") && !emails.is_empty() {
            let email = |email| json!({ "metadata": metadata, "value": email });
            let emails: Vec<Value> = emails.into_iter().map(email).collect();
            resource.insert("emailAddresses".to_owned(), emails.into());
        }
        let rest = contact.into_iter().flat_map(|contact| &contact.rest);
        for (field, value) in rest.filter(|(field, _)| has(field)) {
            resource.insert(field.clone(), value.clone());
        }
    }
    resource
}

/// A name, cut before its last word into given and family name.
fn name(name: &str, metadata: &Value) -> Value {
    match name.rsplit_once(' ') {
        Some((given, family)) => json!({
            "metadata": metadata,
            "displayName": name,
            "familyName": family,
            "givenName": given,
            "displayNameLastFirst": format!("{family}, {given}"),
            "unstructuredName": name,
        }),
        None => json!({
            "metadata": metadata,
            "displayName": name,
            "givenName": name,
            "displayNameLastFirst": name,
            "unstructuredName": name,
        }),
    }
}

/// The token of the page that starts at a place.
fn token(place: usize) -> String {
    URL_SAFE_NO_PAD.encode(format!("connections {place}"))
}

/// The place a token stands for.
fn place(token: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    text.strip_prefix("connections ")?.parse().ok()
}
