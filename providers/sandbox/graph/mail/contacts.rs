//! Contacts: those derived from the mail, and those that were created here.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use crate::graph::error::{GraphError, invalid_property, not_found};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::people;
use crate::graph::request::RequestContext;
use crate::graph::response::{GraphResponse, no_content};
use crate::graph::types::mail::CONTACT;
use crate::graph::types::read::read;
use crate::graph::zones::time;
use crate::json::object;

/// The maximum number of addresses of a contact, as in Outlook.
const MAX_ADDRESSES: usize = 3;

/// Read-only properties.
const READ_ONLY: [&str; 5] =
    ["id", "createdDateTime", "lastModifiedDateTime", "changeKey", "parentFolderId"];

/// Returns all contacts.
pub(crate) fn all(store: ExchangeMailbox<'_>) -> Vec<Map<String, Value>> {
    let people = store.people().others.iter();
    let known =
        people.filter(|person| person.saved).map(|person| people::contact(store.ids(), person));
    let mut own = store.with(|exchange| exchange.contacts.clone());
    let mut contacts: Vec<Map<String, Value>> = known
        // A derived contact is never changed itself: its new version or its deletion is stored
        // under its id.
        .filter_map(|contact| match own.remove(&id_of(&contact)) {
            Some(other) => other,
            None => Some(contact),
        })
        .collect();
    contacts.extend(own.into_values().flatten());
    contacts
}

/// Returns the contact with an id.
pub(crate) fn read_contact(
    store: ExchangeMailbox<'_>,
    id: &str,
) -> Result<Map<String, Value>, GraphError> {
    let mut contacts = all(store).into_iter();
    contacts.find(|contact| id_of(contact) == id).ok_or_else(not_found)
}

fn id_of(contact: &Map<String, Value>) -> String {
    let id = contact.get("id").and_then(Value::as_str);
    id.unwrap_or_default().to_owned()
}

/// Creates a contact.
pub(crate) fn create(context: &RequestContext<'_>) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &CONTACT, true)?;
    let store = context.present()?;
    let number = context.with(super::super::exchange::state::ExchangeState::number);
    let id = store.ids().other("contact made", &number.to_string());
    let contact = object(json!({
        "id": id,
        "createdDateTime": time(context.now()),
        "lastModifiedDateTime": null,
        "changeKey": null,
        "categories": [],
        "parentFolderId": store.ids().other("folder", "contacts"),
        "displayName": null,
        "emailAddresses": [],
        "companyName": null,
        "jobTitle": null,
        "businessPhones": [],
        "mobilePhone": null,
    }));
    let contact = merge_contact(context, contact, members)?;
    Ok(context.entity(contact, "contacts", StatusCode::CREATED))
}

/// Changes a contact.
pub(crate) fn change(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &CONTACT, true)?;
    let contact = read_contact(context.present()?, id)?;
    let contact = merge_contact(context, contact, members)?;
    Ok(context.entity(contact, "contacts", StatusCode::OK))
}

/// Deletes a contact.
pub(crate) fn delete(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    read_contact(context.present()?, id)?;
    context.with(|exchange| exchange.contacts.insert(id.to_owned(), None));
    Ok(no_content())
}

/// Applies a body to a contact and stores it.
fn merge_contact(
    context: &RequestContext<'_>,
    mut contact: Map<String, Value>,
    members: Map<String, Value>,
) -> Result<Map<String, Value>, GraphError> {
    for (name, mut value) in members {
        // Clients may send back a contact as they read it.
        if READ_ONLY.contains(&name.as_str()) {
            continue;
        }
        if name == "emailAddresses" {
            let addresses = value.as_array_mut().ok_or_else(invalid_property)?;
            if addresses.len() > MAX_ADDRESSES {
                return Err(invalid_property());
            }
            for address in addresses {
                let text = address.get("address").and_then(Value::as_str);
                let text = text.unwrap_or_default().to_owned();
                let name = address.get("name").is_some_and(Value::is_string);
                // An address without a name is returned with itself as its name.
                if let Some(address) = address.as_object_mut().filter(|_| !name) {
                    address.insert("name".to_owned(), text.into());
                }
            }
        }
        contact.insert(name, value);
    }
    let number = context.with(super::super::exchange::state::ExchangeState::number);
    let key = context.present()?.ids().version(number);
    let time = time(context.now());
    contact.insert("lastModifiedDateTime".to_owned(), time.into());
    contact.insert("changeKey".to_owned(), key.into());
    context.with(|exchange| exchange.contacts.insert(id_of(&contact), Some(contact.clone())));
    Ok(contact)
}
