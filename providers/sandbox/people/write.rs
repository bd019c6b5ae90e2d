//! Creating, changing and deleting contacts of the People API.
//!
//! Changes of a contact that comes from the mail are stored with the mailbox's settings and
//! override what the mail yields.

use serde_json::{Map, Value, json};

use super::context::PeopleContext;
use super::person::{PERSON, PeopleSource, etag, mask, resource};
use crate::google::body::{inner, object, text};
use crate::google::error;
use crate::http::HttpResponse;
use crate::store::mailbox::person::MailboxPerson;
use crate::store::settings::SavedContact;

/// The writable fields, as far as the sandbox keeps them.
const WRITTEN: [&str; 5] =
    ["names", "emailAddresses", "phoneNumbers", "organizations", "biographies"];

/// Fields that are kept as sent.
const KEPT: [&str; 3] = ["phoneNumbers", "organizations", "biographies"];

/// Returns the number in a contact's id.
fn number(id: &str) -> Result<u64, HttpResponse> {
    let number = id.strip_prefix('c').and_then(|number| number.parse().ok());
    number.ok_or_else(error::not_found)
}

impl PeopleContext<'_> {
    /// Returns a contact.
    pub fn get(&self, id: &str) -> Result<Value, HttpResponse> {
        let id = number(id)?;
        self.contact(id, &mask(self.params, "personFields", PeopleSource::Contacts)?)
    }

    /// Creates a contact.
    pub fn create(&self) -> Result<Value, HttpResponse> {
        let body = object(&self.request.body, &PERSON)?;
        let mut contact = SavedContact::default();
        for field in WRITTEN {
            write(&mut contact, field, &body)?;
        }
        let id = self.state.settings(&self.mailbox.address, |settings| {
            // Google's numbers are large; these also increase in the order of creation.
            let id = (1 << 62) + settings.number();
            settings.contacts.insert(id, Some(contact));
            id
        });
        self.written(id)
    }

    /// Changes the named fields of a contact.
    pub fn update(&self, id: &str) -> Result<Value, HttpResponse> {
        let body = object(&self.request.body, &PERSON)?;
        let id = number(id)?;
        let named = self.params.value("updatePersonFields").unwrap_or_default();
        let named: Vec<&str> = named.split(',').filter(|name| !name.is_empty()).collect();
        if named.is_empty() {
            return Err(error::invalid(
                "updatePersonFields mask is required. Please specify one or more valid paths.",
            ));
        }
        if let Some(wrong) = named.iter().find(|name| !WRITTEN.contains(name)) {
            let message = format!("Invalid updatePersonFields mask path: \"{wrong}\".");
            return Err(error::invalid(&message));
        }
        let (person, contact) = self.find(id)?;
        // Google requires the etag for updates, so that no change is overwritten unseen.
        let tag = text(&body, "etag")?.filter(|tag| !tag.is_empty());
        let tag = tag.ok_or_else(|| {
            error::failed_precondition(
                "Request must set person.etag or person.metadata.sources.etag for the source that \
                 is being updated.",
            )
        })?;
        if tag != etag(id, contact.as_ref()) {
            return Err(error::failed_precondition(
                "Request person.etag is different than the current person.etag. Clear local cache \
                 and get the latest person.",
            ));
        }
        let mut contact = contact.unwrap_or_else(|| of_mail(&person));
        for field in named {
            write(&mut contact, field, &body)?;
        }
        contact.version += 1;
        self.keep(id, Some(contact));
        self.written(id)
    }

    /// Deletes a contact.
    pub fn delete(&self, id: &str) -> Result<Value, HttpResponse> {
        let id = number(id)?;
        self.find(id)?;
        // Contacts are derived from the mail, so a deletion has to be remembered.
        self.keep(id, None);
        Ok(json!({}))
    }

    fn keep(&self, id: u64, contact: Option<SavedContact>) {
        self.state.settings(&self.mailbox.address, |it| it.contacts.insert(id, contact));
    }

    /// Returns a contact after a write, for which `personFields` is optional: all fields if it is
    /// missing.
    fn written(&self, id: u64) -> Result<Value, HttpResponse> {
        match self.params.value("personFields") {
            None => self.contact(id, &[WRITTEN.as_slice(), &["metadata"]].concat()),
            Some(_) => {
                self.contact(id, &mask(self.params, "personFields", PeopleSource::Contacts)?)
            }
        }
    }

    fn contact(&self, id: u64, fields: &[&str]) -> Result<Value, HttpResponse> {
        let (person, contact) = self.find(id)?;
        Ok(resource(&person, contact.as_ref(), PeopleSource::Contacts, fields))
    }

    /// Returns the contacts of a mailbox: first the ones from its mail, with changes by hand, and
    /// after them the ones created by hand, in the order of creation.
    pub fn contacts(&self) -> Vec<(MailboxPerson, Option<SavedContact>)> {
        let mut written =
            self.state.settings(&self.mailbox.address, |settings| settings.contacts.clone());
        let mail = self.mailbox.people().others.iter().filter(|person| person.saved);
        let mail = mail.filter_map(|person| match written.remove(&person.id) {
            None => Some((person.clone(), None)),
            Some(contact) => Some(as_person(person.id, &contact?)),
        });
        let mut all: Vec<_> = mail.collect();
        all.extend(written.into_iter().filter_map(|(id, it)| Some(as_person(id, &it?))));
        all
    }

    /// Returns the contact with a number.
    fn find(&self, id: u64) -> Result<(MailboxPerson, Option<SavedContact>), HttpResponse> {
        let mut all = self.contacts().into_iter();
        all.find(|(person, _)| person.id == id).ok_or_else(error::not_found)
    }
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
