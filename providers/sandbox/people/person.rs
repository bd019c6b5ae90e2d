//! A person of the People API: the available fields, the requested fields, and the JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::google::error;
use crate::google::fields::{FieldShape, shape};
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::json::{listed, merge, present};
use crate::store::mailbox::person::MailboxPerson;
use crate::store::settings::SavedContact;

/// The API's own name in its errors.
pub(super) const SERVICE: &str = "people.googleapis.com";

/// The fields that can be requested for a contact, as far as they are used here.
const PERSON_FIELDS: [&str; 7] = [
    "biographies", "emailAddresses", "memberships", "metadata", "names", "organizations",
    "phoneNumbers",
];

/// The fields that can be requested for an other contact.
const OTHER_FIELDS: [&str; 4] = ["emailAddresses", "metadata", "names", "phoneNumbers"];

static SOURCE: FieldShape = shape! { "type", "id", "etag", "updateTime" };

static FIELD_METADATA: FieldShape =
    shape! { "primary", "sourcePrimary", "verified", "source": &SOURCE };

static NAME: FieldShape = shape! {
    "metadata": &FIELD_METADATA, "displayName", "displayNameLastFirst", "unstructuredName",
    "familyName", "givenName", "middleName",
};

static EMAIL: FieldShape = shape! {
    "metadata": &FIELD_METADATA, "value", "type", "formattedType", "displayName",
};

/// The type of a person. Phone numbers, organizations and biographies are kept as sent, and
/// declared without inner fields.
pub(super) static PERSON: FieldShape = shape! {
    "resourceName", "etag", "metadata": &shape! { "sources": &SOURCE, "objectType" },
    "names": &NAME, "emailAddresses": &EMAIL, "phoneNumbers", "organizations", "biographies",
};

/// The source that a method reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeopleSource {
    /// People in the address book.
    Contacts,
    /// People known only from mail.
    Others,
}

impl PeopleSource {
    /// Returns the fields that can be requested.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Contacts => &PERSON_FIELDS,
            Self::Others => &OTHER_FIELDS,
        }
    }
}

/// Returns the requested fields of a person. The API returns no others.
pub(super) fn mask<'a>(
    params: &RequestParameters<'a>,
    name: &str,
    kind: PeopleSource,
) -> Result<Vec<&'a str>, HttpResponse> {
    let text = params.all(name).find(|text| !text.is_empty());
    // The mask is required, unlike the `fields` mask of all Google APIs.
    let text = text.ok_or_else(|| error::invalid(&format!("{name} mask is required.")))?;
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let wrong = fields.iter().find(|path| {
        // A path may have further steps; only the first is checked.
        let first = path.split_once('.').map_or(**path, |(first, _)| first);
        !kind.fields().contains(&first)
    });
    match wrong {
        Some(path) => Err(error::invalid(&format!("Invalid {name} mask path: \"{path}\"."))),
        None => Ok(fields),
    }
}

/// Returns the etag of a contact, which differs after every change.
pub(super) fn etag(id: u64, contact: Option<&SavedContact>) -> String {
    let version = contact.map_or(0, |contact| contact.version);
    let number = id.wrapping_add(version);
    format!("%{}", STANDARD.encode(number.to_be_bytes()))
}

/// Returns a person with the requested fields. `contact` has the properties edited by hand.
pub(super) fn resource(
    person: &MailboxPerson,
    contact: Option<&SavedContact>,
    kind: PeopleSource,
    fields: &[&str],
) -> Value {
    let (collection, source) = match kind {
        PeopleSource::Contacts => ("people", "CONTACT"),
        PeopleSource::Others => ("otherContacts", "OTHER_CONTACT"),
    };
    let has = |name: &str| {
        let mut fields = fields.iter();
        fields.any(|path| path.split('.').next() == Some(name))
    };
    let source = json!({ "type": source, "id": format!("{:x}", person.id) });
    let metadata = json!({ "primary": true, "source": source });
    let emails = match contact {
        Some(contact) => contact.emails.as_slice(),
        None => std::slice::from_ref(&person.email),
    };
    let email = |email| json!({ "metadata": metadata, "value": email });
    let emails: Vec<Value> = emails.iter().filter(|_| has("emailAddresses")).map(email).collect();
    let named = has("names") && !person.name.is_empty();
    let mut resource = json!({
        "resourceName": format!("{collection}/c{}", person.id),
        "etag": etag(person.id, contact),
        "metadata": has("metadata")
            .then(|| json!({ "sources": [source], "objectType": "PERSON" })),
        "names": named.then(|| [name(&person.name, contact, &metadata)]),
        "emailAddresses": listed(&emails),
    });
    let rest = contact.into_iter().flat_map(|contact| contact.rest.clone());
    merge(&mut resource, rest.filter(|(field, _)| has(field)).collect::<Map<_, _>>().into());
    present(resource)
}

/// Returns a name, split at its last space into given and family name, unless a contact has these.
fn name(name: &str, contact: Option<&SavedContact>, metadata: &Value) -> Value {
    let split = name.rsplit_once(' ');
    let (given, family) = match contact {
        Some(contact) => (contact.given.as_str(), contact.family.as_str()),
        None => split.unwrap_or((name, "")),
    };
    let last_first = split.map(|(given, family)| format!("{family}, {given}"));
    present(json!({
        "metadata": metadata,
        "displayName": name,
        "familyName": (!family.is_empty()).then_some(family),
        "givenName": (!given.is_empty()).then_some(given),
        "displayNameLastFirst": last_first.as_deref().unwrap_or(name),
        "unstructuredName": name,
    }))
}
