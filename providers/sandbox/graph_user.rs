//! Graph's answers about a mailbox's owner: profile, settings, categories,
//! contacts, people.

use serde_json::{Map, Value, json};

use super::contacts::Person;
use super::graph_folders;
use super::graph_ids::named_guid;
use super::graph_params::Options;
use super::graph_people::{display_name, names, object};
use super::graph_store::{Store, TABS};

/// The properties of a user that can be selected.
pub(super) const USER: [&str; 15] = [
    "id",
    "businessPhones",
    "displayName",
    "givenName",
    "jobTitle",
    "mail",
    "mobilePhone",
    "officeLocation",
    "preferredLanguage",
    "surname",
    "userPrincipalName",
    "proxyAddresses",
    "otherMails",
    "accountEnabled",
    "userType",
];

/// Those that come only when they are named.
const ON_DEMAND: [&str; 4] = ["proxyAddresses", "otherMails", "accountEnabled", "userType"];

/// A mailbox's owner.
pub(super) fn user(store: Store<'_>, options: &Options<'_>) -> Map<String, Value> {
    let address = &store.mailbox.address;
    let name = name(store);
    let (given, surname) = names(name);
    let mut members = object(json!({
        "businessPhones": [],
        "displayName": name,
        "givenName": given,
        "jobTitle": null,
        "mail": address,
        "mobilePhone": null,
        "officeLocation": null,
        "preferredLanguage": null,
        "surname": surname,
        "userPrincipalName": address,
        "id": store.ids().mailbox(),
        "proxyAddresses": proxies(store),
        "otherMails": [],
        "accountEnabled": true,
        "userType": "Member",
    }));
    members.retain(|name, _| !ON_DEMAND.contains(&name.as_str()) || options.names(name));
    // Unlike a message, a user comes without an id that nobody asked for.
    members.retain(|name, _| options.wants(name));
    members
}

/// The name that the owner writes under; else the address's first half.
fn name(store: Store<'_>) -> &str {
    let address = &store.mailbox.address;
    match &store.people().owner {
        Some(name) => name,
        None => address.split('@').next().unwrap_or(address),
    }
}

/// The addresses that reach the mailbox: its own first, in capitals, then the
/// one that every tenant gives, then those that letters were delivered to.
fn proxies(store: Store<'_>) -> Vec<String> {
    let address = store.mailbox.address.as_str();
    let (local, domain) = address.split_once('@').unwrap_or((address, "example.com"));
    let tenant = domain.split('.').next().unwrap_or(domain);
    let mut proxies = vec![
        format!("SMTP:{address}"),
        format!("smtp:{local}@{tenant}.onmicrosoft.com"),
    ];
    for letter in &store.mailbox.letters {
        let delivered = letter.facts.delivered_to.trim_matches(['<', '>']);
        let proxy = format!("smtp:{}", delivered.to_lowercase());
        let known = proxies
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&proxy));
        if delivered.contains('@') && !known && proxies.len() < 10 {
            proxies.push(proxy);
        }
    }
    proxies
}

/// The settings of a mailbox whose owner is in a zone of Windows' name.
pub(super) fn settings(store: Store<'_>, zone: &str) -> Map<String, Value> {
    let archive = graph_folders::well_known("archive").map(|folder| folder.number);
    object(json!({
        "archiveFolder": archive.map(|number| store.ids().folder(number)),
        "timeZone": zone,
        "delegateMeetingMessageDeliveryOptions": "sendToDelegateOnly",
        "dateFormat": "dd.MM.yyyy",
        "timeFormat": "HH:mm",
        "userPurpose": "user",
        "automaticRepliesSetting": {
            "status": "disabled",
            "externalAudience": "all",
            "internalReplyMessage": "",
            "externalReplyMessage": "",
            "scheduledStartDateTime": {
                "dateTime": "2026-01-01T08:00:00.0000000",
                "timeZone": "UTC",
            },
            "scheduledEndDateTime": {
                "dateTime": "2026-01-02T08:00:00.0000000",
                "timeZone": "UTC",
            },
        },
        "language": { "locale": "en-GB", "displayName": "English (United Kingdom)" },
        "workingHours": {
            "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"],
            "startTime": "08:00:00.0000000",
            "endTime": "17:00:00.0000000",
            "timeZone": { "name": zone },
        },
    }))
}

/// The categories of a mailbox: Gmail's tabs, and the user's labels.
pub(super) fn categories(store: Store<'_>) -> Vec<Value> {
    let tabs = TABS.iter().map(|(_, name)| (*name).to_owned());
    let own = store.mailbox.labels.all().map(|(_, name)| name.to_owned());
    (0..25)
        .cycle()
        .zip(tabs.chain(own))
        .map(|(color, name)| {
            json!({
                "id": named_guid(&format!("{}/{name}", store.mailbox.address)),
                "displayName": name,
                "color": format!("preset{color}"),
            })
        })
        .collect()
}

/// The text of a contact's property, for a filter.
pub(super) fn contact_text(person: &Person, path: &str) -> Option<String> {
    (path == "displayName").then(|| display_name(person).to_owned())
}

/// The texts of a contact's addresses, for a filter.
pub(super) fn contact_members(person: &Person, path: &str, inside: &str) -> Option<Vec<String>> {
    match (path, inside) {
        ("emailAddresses", "address") => Some(vec![person.email.clone()]),
        ("emailAddresses", "name") => Some(vec![display_name(person).to_owned()]),
        _ => None,
    }
}
