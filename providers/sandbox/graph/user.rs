//! Graph's answers about a mailbox's owner: profile and settings, and the comparison of contacts in
//! a filter.

use serde_json::{Map, Value, json};

use super::error::GraphError;
use super::exchange::ExchangeMailbox;
use super::request::RequestContext;
use super::response::{GraphBody, with_context};
use super::zones::windows_name;
use crate::json::object;
use crate::state::RequestState;

/// The properties of a user that can be selected.
const USER: [&str; 5] = ["id", "displayName", "mail", "userPrincipalName", "proxyAddresses"];

/// Answers with the mailbox's owner.
pub(super) fn user(context: &RequestContext<'_>) -> Result<GraphBody, GraphError> {
    let (store, options) = (context.store, context.options);
    options.check_select(&USER, "user")?;
    let address = &store.mailbox.address;
    let mut members = object(json!({
        "displayName": name(store),
        "mail": address,
        "userPrincipalName": address,
        "id": store.ids().mailbox(),
        "proxyAddresses": proxies(store),
    }));
    // Unlike a message, a user has no id unless it is selected. `proxyAddresses` is returned only
    // by name, and `*` does not include it.
    members.retain(|name, _| match name.as_str() {
        "proxyAddresses" => options.names(name),
        name => options.wants(name),
    });
    let url = format!("{}/v1.0/$metadata#users/$entity", context.request.base());
    Ok(with_context(url, members))
}

/// Returns the name that the owner writes under, or else the local part of the address.
pub(super) fn name(store: ExchangeMailbox<'_>) -> &str {
    let address = &store.mailbox.address;
    match &store.people().owner {
        Some(name) => name,
        None => address.split('@').next().unwrap_or(address),
    }
}

/// Returns the addresses that reach the mailbox: the primary one with `SMTP:` in capitals, the
/// tenant's default one, and those that messages were delivered to.
fn proxies(store: ExchangeMailbox<'_>) -> Vec<String> {
    let address = store.mailbox.address.as_str();
    let (local, domain) = address.split_once('@').unwrap_or((address, "example.com"));
    let tenant = domain.split('.').next().unwrap_or(domain);
    let mut proxies =
        vec![format!("SMTP:{address}"), format!("smtp:{local}@{tenant}.onmicrosoft.com")];
    for message in &store.mailbox.messages {
        let delivered = message.facts.delivered_to.trim_matches(['<', '>']);
        let proxy = format!("smtp:{}", delivered.to_lowercase());
        let known = proxies.iter().any(|known| known.eq_ignore_ascii_case(&proxy));
        // Ten at most: a mailbox of mixed messages may name any number of addresses in
        // `Delivered-To`.
        if delivered.contains('@') && !known && proxies.len() < 10 {
            proxies.push(proxy);
        }
    }
    proxies
}

/// Returns the settings of a mailbox in the zone with this Windows name.
pub(super) fn settings(store: ExchangeMailbox<'_>, zone: &str) -> Map<String, Value> {
    let mut settings = object(json!({
        "timeZone": zone,
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
        "workingHours": working_hours(zone),
    }));
    // Settings that were written replace the defaults above.
    store.with(|exchange| settings.extend(exchange.settings.clone()));
    settings
}

/// Returns everyone's working hours, in the zone with this Windows name.
pub(super) fn working_hours(zone: &str) -> Value {
    json!({
        "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"],
        "startTime": "08:00:00.0000000",
        "endTime": "17:00:00.0000000",
        "timeZone": { "name": zone },
    })
}

/// Returns true if a contact has an address. Case is ignored.
pub(super) fn has_address(contact: &Map<String, Value>, expected: &str) -> bool {
    let all = contact.get("emailAddresses").and_then(Value::as_array);
    let mut all = all.into_iter().flatten().filter_map(|it| it.get("address")?.as_str());
    all.any(|address| address.to_lowercase() == expected.to_lowercase())
}

/// Returns the addresses that the owner can send from.
pub(super) fn addresses(store: ExchangeMailbox<'_>) -> Vec<String> {
    let proxies = proxies(store).into_iter();
    proxies.filter_map(|proxy| Some(proxy.split_once(':')?.1.to_owned())).collect()
}

/// Returns the Windows name of the owner's zone: the one in the settings, or else the main
/// calendar's.
pub(super) fn mailbox_zone(state: &RequestState, store: ExchangeMailbox<'_>) -> String {
    let chosen = store.with(|exchange| {
        let zone = exchange.settings.get("timeZone").and_then(Value::as_str);
        zone.map(str::to_owned)
    });
    if let Some(zone) = chosen {
        return zone;
    }
    let agenda = state.agenda();
    let main = agenda.main_of(&store.mailbox.address);
    let zone = main.and_then(|place| agenda.calendar(place));
    windows_name(zone.map_or("UTC", |calendar| &calendar.zone)).to_owned()
}
