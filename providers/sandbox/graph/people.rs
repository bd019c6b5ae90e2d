//! People in Graph's shapes: those in a message's headers, contacts, and people whom the owner
//! writes with.

use serde_json::{Map, Value, json};

use super::ids::{MailboxIds, named_guid};
use crate::json::object;
use crate::store::head::{self, HeaderField};
use crate::store::mailbox::person::MailboxPerson;

/// The maximum number of people read from a header field. Legitimate messages have fewer; the rest
/// is ignored.
const MAX_PEOPLE: usize = 500;

/// A person in a header field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmailAddress {
    /// The name, or the address if there is none.
    pub name: String,
    /// The address.
    pub address: String,
}

impl EmailAddress {
    /// Returns the person as a recipient.
    pub fn json(&self) -> Value {
        json!({ "emailAddress": { "name": self.name, "address": self.address } })
    }
}

/// Returns the people of a header field with an address or at least a name, in order.
pub(super) fn persons(fields: &[HeaderField<'_>], name: &str) -> Vec<EmailAddress> {
    let people = head::find(fields, name).map(|field| field.people()).unwrap_or_default();
    let people = people.into_iter().take(MAX_PEOPLE).map(|(name, address)| {
        let address = address.unwrap_or_default();
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| address.clone());
        EmailAddress { name, address }
    });
    people.filter(|person| !person.name.is_empty()).collect()
}

/// Returns the name of a person, or the address if there is none.
pub(super) fn display_name(person: &MailboxPerson) -> &str {
    match person.name.as_str() {
        "" => &person.email,
        name => name,
    }
}

/// Returns a person as a contact.
pub(super) fn contact(ids: &MailboxIds, person: &MailboxPerson) -> Map<String, Value> {
    let name = display_name(person);
    object(json!({
        "id": ids.other("contact", &person.email),
        "createdDateTime": "2024-01-01T00:00:00Z",
        "lastModifiedDateTime": "2024-01-01T00:00:00Z",
        "changeKey": ids.change_key(0),
        "categories": [],
        "parentFolderId": ids.other("folder", "contacts"),
        "displayName": name,
        "emailAddresses": [{ "name": name, "address": person.email }],
        "companyName": null,
        "jobTitle": null,
        "businessPhones": [],
    }))
}

/// The properties of a person.
pub(super) const PERSON: [&str; 7] = [
    "id", "displayName", "scoredEmailAddresses", "userPrincipalName", "companyName", "jobTitle",
    "phones",
];

/// Returns a person as one of those relevant to the owner, at a place in the list.
pub(super) fn relevant(person: &MailboxPerson, place: usize) -> Map<String, Value> {
    object(json!({
        "id": named_guid(&person.email),
        "displayName": display_name(person),
        "scoredEmailAddresses": [{
            "address": person.email,
            "relevanceScore": 100usize.saturating_sub(place).max(1),
        }],
        "userPrincipalName": person.email,
    }))
}
