//! People: who stands in a header, and whom the owner writes with.
//!
//! Addresses are read from the header as it was sent, encoded words and all,
//! so that a comma inside a name stays inside it.

use std::collections::HashMap;

use mail_parser::parsers::MessageStream;
use mail_parser::{Addr, Address, HeaderValue};
use serde_json::{Map, Value, json};

use super::graph_ids::Ids;
use super::head::{self, Field};
use super::mailbox::Mailbox;
use super::mime;

/// More people than any honest header names; the rest is not looked at.
const MAX_PEOPLE: usize = 500;

/// Somebody in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Person {
    /// The name; the address, where there is none.
    pub name: String,
    /// The address.
    pub address: String,
}

impl Person {
    /// As a recipient.
    pub fn json(&self) -> Value {
        json!({ "emailAddress": { "name": self.name, "address": self.address } })
    }
}

/// The people of a header field, in their order; those of groups like others.
pub(super) fn persons(fields: &[Field<'_>], name: &str) -> Vec<Person> {
    let Some(field) = head::find(fields, name) else {
        return Vec::new();
    };
    // The reader wants the line end that the unfolding took away.
    let line = format!("{}\n", field.unfolded());
    let parsed = MessageStream::new(line.as_bytes()).parse_address();
    let HeaderValue::Address(address) = parsed else {
        return Vec::new();
    };
    let found: Vec<Addr<'_>> = match address {
        Address::List(list) => list,
        Address::Group(groups) => {
            let groups = groups.into_iter();
            groups.flat_map(|group| group.addresses).collect()
        }
    };
    found.iter().take(MAX_PEOPLE).filter_map(person).collect()
}

/// Somebody with an address, or at least a name.
fn person(found: &Addr<'_>) -> Option<Person> {
    let text = |text: Option<&str>| text.unwrap_or_default().trim().to_owned();
    let address = text(found.address.as_deref());
    let name = text(found.name.as_deref());
    let name = match name.is_empty() {
        true => address.clone(),
        false => name,
    };
    (!name.is_empty()).then_some(Person { name, address })
}

/// Somebody the owner writes with.
#[derive(Debug)]
pub(super) struct Known {
    /// Who it is, by the name used last.
    pub person: Person,
    /// In how many letters.
    pub letters: usize,
    /// True when the owner wrote to them: such people become contacts.
    pub written_to: bool,
}

/// Everybody in a mailbox but its owner, those of most letters first.
pub(super) fn known(mailbox: &Mailbox) -> Vec<Known> {
    let mut found: HashMap<String, Known> = HashMap::new();
    for letter in &mailbox.letters {
        if letter.has("SPAM") || letter.has("TRASH") {
            continue;
        }
        let fields = head::fields(mime::header_section(&letter.raw));
        let sent = letter.has("SENT");
        for name in ["From", "To", "Cc", "Bcc"] {
            for person in persons(&fields, name) {
                let key = person.address.to_lowercase();
                if !key.contains('@') || mailbox.address.eq_ignore_ascii_case(&key) {
                    continue;
                }
                let entry = found.entry(key).or_insert_with(|| Known {
                    person: person.clone(),
                    letters: 0,
                    written_to: false,
                });
                entry.letters += 1;
                entry.written_to |= sent && name != "From";
                if entry.person.name == entry.person.address {
                    entry.person.name = person.name;
                }
            }
        }
    }
    let mut known: Vec<Known> = found.into_values().collect();
    known.sort_by(|one, other| {
        let order = other.letters.cmp(&one.letters);
        order.then_with(|| one.person.address.cmp(&other.person.address))
    });
    known
}

/// A name's first word, and the rest, where it is a name.
fn names(person: &Person) -> (Value, Value) {
    match person.name.rsplit_once(' ') {
        Some((given, surname)) => (given.into(), surname.into()),
        None => (Value::Null, Value::Null),
    }
}

/// The properties of a contact.
pub(super) const CONTACT: [&str; 13] = [
    "id",
    "createdDateTime",
    "lastModifiedDateTime",
    "changeKey",
    "categories",
    "parentFolderId",
    "displayName",
    "givenName",
    "surname",
    "emailAddresses",
    "companyName",
    "jobTitle",
    "businessPhones",
];

/// Somebody as a contact.
pub(super) fn contact(ids: &Ids, known: &Known) -> Map<String, Value> {
    let person = &known.person;
    let (given, surname) = names(person);
    object(json!({
        "id": ids.other("contact", &person.address),
        "createdDateTime": "2024-01-01T00:00:00Z",
        "lastModifiedDateTime": "2024-01-01T00:00:00Z",
        "changeKey": ids.change_key(0),
        "categories": [],
        "parentFolderId": ids.other("folder", "contacts"),
        "displayName": person.name,
        "givenName": given,
        "surname": surname,
        "emailAddresses": [{ "name": person.name, "address": person.address }],
        "companyName": null,
        "jobTitle": null,
        "businessPhones": [],
    }))
}

/// The properties of a person.
pub(super) const PERSON: [&str; 7] = [
    "id",
    "displayName",
    "givenName",
    "surname",
    "scoredEmailAddresses",
    "userPrincipalName",
    "personType",
];

/// Somebody as one of the people around the owner.
pub(super) fn relevant(known: &Known, place: usize) -> Map<String, Value> {
    let person = &known.person;
    let (given, surname) = names(person);
    object(json!({
        "id": super::graph_ids::named_guid(&person.address.to_lowercase()),
        "displayName": person.name,
        "givenName": given,
        "surname": surname,
        "scoredEmailAddresses": [{
            "address": person.address,
            "relevanceScore": 100usize.saturating_sub(place).max(1),
            "selectionLikelihood": "notSpecified",
        }],
        "userPrincipalName": person.address,
        "personType": { "class": "Person", "subclass": "PersonalContact" },
    }))
}

/// True when every word of a search begins a word of the name or the address.
pub(super) fn answers(known: &Known, wanted: &[String]) -> bool {
    let text = format!("{} {}", known.person.name, known.person.address);
    let words = super::words::words(&text);
    wanted
        .iter()
        .all(|wanted| words.iter().any(|word| word.starts_with(wanted)))
}

/// The members of an object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
