//! Creating, changing and deleting contacts of the People API.
//!
//! Changes of a contact that comes from the mail are stored with the mailbox's settings and
//! override what the mail yields.

use serde_json::{Map, Value, json};

use super::person::{PERSON, PeopleSource, SERVICE, etag, mask, resource};
use crate::auth::tokens::TokenAccess;
use crate::google::body::{inner, object, text};
use crate::google::error;
use crate::google::params::RequestParameters;
use crate::http::{HttpRequest, HttpResponse};
use crate::state::RequestState;
use crate::store::mailbox::Mailbox;
use crate::store::mailbox::person::MailboxPerson;
use crate::store::settings::SavedContact;

/// The writable fields, as far as the sandbox keeps them.
const WRITTEN: [&str; 5] =
    ["names", "emailAddresses", "phoneNumbers", "organizations", "biographies"];

/// Fields that are kept as sent.
const KEPT: [&str; 3] = ["phoneNumbers", "organizations", "biographies"];

/// A method, with the id of a contact.
pub(super) enum ContactCall<'a> {
    Get(&'a str),
    Create,
    Update(&'a str),
    Delete(&'a str),
}

/// Answers one of these methods, or refuses it.
pub(super) fn handle(
    state: &RequestState,
    request: &HttpRequest,
    mailbox: &Mailbox,
    access: &TokenAccess,
    call: &ContactCall<'_>,
) -> Result<HttpResponse, HttpResponse> {
    let reads = matches!(call, ContactCall::Get(_)) && access.has("contacts.readonly");
    if !reads && !access.has("contacts") {
        return Err(error::insufficient_scopes(SERVICE));
    }
    let known: &[&str] = match call {
        ContactCall::Get(_) | ContactCall::Create => &["personFields", "sources"],
        ContactCall::Update(_) => &["personFields", "updatePersonFields", "sources"],
        ContactCall::Delete(_) => &[],
    };
    let params = RequestParameters::check(&request.query, known, &PERSON)?;
    let body = object(&request.body, &PERSON)?;
    let id = match call {
        ContactCall::Get(id) => number(id)?,
        ContactCall::Create => create(state, mailbox, &body)?,
        ContactCall::Update(id) => {
            let id = number(id)?;
            update(state, mailbox, id, &params, &body)?;
            id
        }
        ContactCall::Delete(id) => {
            let id = number(id)?;
            find(state, mailbox, id)?;
            state.settings(&mailbox.address, |settings| {
                // Contacts are derived from the mail, so a deletion has to be remembered.
                settings.contacts.insert(id, None);
            });
            return Ok(params.answer(json!({})));
        }
    };
    let fields = match (call, params.value("personFields")) {
        // `personFields` is optional for writes, and means all fields if it is missing.
        (ContactCall::Create | ContactCall::Update(_), None) => {
            let mut fields = WRITTEN.to_vec();
            fields.push("metadata");
            fields
        }
        _ => mask(&params, "personFields", PeopleSource::Contacts)?,
    };
    let (person, contact) = find(state, mailbox, id)?;
    let entry = resource(&person, contact.as_ref(), PeopleSource::Contacts, &fields);
    Ok(params.answer(entry))
}

/// Returns the number in a contact's id.
fn number(id: &str) -> Result<u64, HttpResponse> {
    let number = id.strip_prefix('c').and_then(|number| number.parse().ok());
    number.ok_or_else(error::not_found)
}

/// Returns the contacts of a mailbox: first the ones from its mail, with changes by hand, and after
/// them the ones created by hand, in the order of creation.
pub(super) fn all(
    state: &RequestState,
    mailbox: &Mailbox,
) -> Vec<(MailboxPerson, Option<SavedContact>)> {
    let written = state.settings(&mailbox.address, |settings| settings.contacts.clone());
    let mail = mailbox.people().others.iter();
    let mail: Vec<&MailboxPerson> = mail.filter(|person| person.saved).collect();
    let mut all = Vec::new();
    for person in &mail {
        match written.get(&person.id) {
            None => all.push(((*person).clone(), None)),
            Some(None) => {}
            Some(Some(contact)) => all.push(as_person(person.id, contact)),
        }
    }
    for (id, contact) in written {
        if let (Some(contact), false) = (contact, mail.iter().any(|person| person.id == id)) {
            all.push(as_person(id, &contact));
        }
    }
    all
}

/// Returns a contact edited by hand as a person.
fn as_person(id: u64, contact: &SavedContact) -> (MailboxPerson, Option<SavedContact>) {
    let person = MailboxPerson {
        name: contact.name(),
        email: contact.emails.first().cloned().unwrap_or_default(),
        count: 0,
        saved: true,
        id,
    };
    (person, Some(contact.clone()))
}

/// Returns the contact with a number.
fn find(
    state: &RequestState,
    mailbox: &Mailbox,
    id: u64,
) -> Result<(MailboxPerson, Option<SavedContact>), HttpResponse> {
    let mut all = all(state, mailbox).into_iter();
    let found = all.find(|(person, _)| person.id == id);
    found.ok_or_else(error::not_found)
}

/// Creates a contact and returns its number.
fn create(
    state: &RequestState,
    mailbox: &Mailbox,
    body: &Map<String, Value>,
) -> Result<u64, HttpResponse> {
    let mut contact = SavedContact::default();
    for field in WRITTEN {
        write(&mut contact, field, body)?;
    }
    Ok(state.settings(&mailbox.address, |settings| {
        // Google's numbers are large; these also increase in the order of creation.
        let id = (1 << 62) + settings.number();
        settings.contacts.insert(id, Some(contact));
        id
    }))
}

/// Changes the named fields of a contact.
fn update(
    state: &RequestState,
    mailbox: &Mailbox,
    id: u64,
    params: &RequestParameters<'_>,
    body: &Map<String, Value>,
) -> Result<(), HttpResponse> {
    let named = params.value("updatePersonFields").unwrap_or_default();
    let named: Vec<&str> = named.split(',').filter(|name| !name.is_empty()).collect();
    if named.is_empty() {
        return Err(error::invalid(
            "updatePersonFields mask is required. Please specify one or more valid paths.",
        ));
    }
    if let Some(wrong) = named.iter().find(|name| !WRITTEN.contains(name)) {
        return Err(error::invalid(&format!("Invalid updatePersonFields mask path: \"{wrong}\".")));
    }
    let (person, contact) = find(state, mailbox, id)?;
    // Google requires the etag for updates, so that no change is overwritten unseen.
    let tag = text(body, "etag")?.filter(|tag| !tag.is_empty());
    let tag = tag.ok_or_else(|| {
        error::failed_precondition(
            "Request must set person.etag or person.metadata.sources.etag for the source that is \
             being updated.",
        )
    })?;
    if tag != etag(id, contact.as_ref()) {
        return Err(error::failed_precondition(
            "Request person.etag is different than the current person.etag. Clear local cache and \
             get the latest person.",
        ));
    }
    let mut contact = contact.unwrap_or_else(|| of_mail(&person));
    for field in named {
        write(&mut contact, field, body)?;
    }
    contact.version += 1;
    state.settings(&mailbox.address, |settings| {
        settings.contacts.insert(id, Some(contact));
    });
    Ok(())
}

/// Returns a person from the mail as a contact.
fn of_mail(person: &MailboxPerson) -> SavedContact {
    let (given, family) = match person.name.rsplit_once(' ') {
        Some((given, family)) => (given, family),
        None => (person.name.as_str(), ""),
    };
    SavedContact {
        given: given.to_owned(),
        family: family.to_owned(),
        emails: vec![person.email.clone()],
        ..SavedContact::default()
    }
}

/// Writes one field of a body into a contact. A field that the body lacks is cleared.
fn write(
    contact: &mut SavedContact,
    field: &str,
    body: &Map<String, Value>,
) -> Result<(), HttpResponse> {
    let entries = match body.get(field) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(entries)) => entries.iter().filter_map(Value::as_object).collect(),
        Some(_) => return Err(error::invalid_value(field, "TYPE_MESSAGE", "")),
    };
    match field {
        "names" => {
            if entries.len() > 1 {
                return Err(error::invalid(
                    "Only one value is allowed for this field: person.names",
                ));
            }
            let name = entries.first();
            let one = |key: &str| match name {
                Some(name) => Ok(text(name, key)?.unwrap_or_default().to_owned()),
                None => Ok(String::new()),
            };
            contact.given = one("givenName")?;
            contact.family = one("familyName")?;
            let whole = one("unstructuredName")?;
            // A free-form name without parts is kept whole.
            if contact.given.is_empty() && contact.family.is_empty() {
                contact.given = whole;
            }
        }
        "emailAddresses" => {
            let emails: Result<Vec<_>, HttpResponse> = entries
                .into_iter()
                .map(|entry| Ok(text(entry, "value")?.unwrap_or_default().to_owned()))
                .collect();
            contact.emails = emails?;
            contact.emails.retain(|email| !email.is_empty());
        }
        _ if KEPT.contains(&field) => {
            for entry in &entries {
                inner(entry, "metadata")?;
            }
            match body.get(field).filter(|_| !entries.is_empty()) {
                Some(value) => contact.rest.insert(field.to_owned(), value.clone()),
                None => contact.rest.remove(field),
            };
        }
        _ => {}
    }
    Ok(())
}
