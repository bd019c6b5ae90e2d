//! The settings of a mailbox: automatic replies, time zone, language, working hours.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use crate::graph::calendar::draft::parse_time;
use crate::graph::error::{GraphError, invalid_property};
use crate::graph::request::RequestContext;
use crate::graph::response::GraphResponse;
use crate::graph::types::mail::SETTINGS;
use crate::graph::types::read::read;
use crate::graph::user;
use crate::graph::zones::RequestedZone;

/// Read-only properties.
const READ_ONLY: [&str; 2] = ["archiveFolder", "userPurpose"];

/// The properties with the times of automatic replies.
const TIMES: [&str; 2] = ["scheduledStartDateTime", "scheduledEndDateTime"];

/// Changes the settings in a body.
pub(crate) fn change(context: &RequestContext<'_>) -> Result<GraphResponse, GraphError> {
    let mut members = read(context.request, &SETTINGS, true)?;
    members.retain(|name, value| !READ_ONLY.contains(&name.as_str()) && !value.is_null());
    let store = context.present()?;
    let zone = user::mailbox_zone(context.state, store);
    let before = user::settings(store, &zone);
    if let Some(zone) = members.get("timeZone").and_then(Value::as_str) {
        RequestedZone::from_name(zone)?;
    }
    if let Some(zone) =
        members.get("workingHours").and_then(|hours| hours.pointer("/timeZone/name")?.as_str())
    {
        RequestedZone::from_name(zone)?;
    }
    if let Some(replies) = members.get_mut("automaticRepliesSetting").and_then(Value::as_object_mut)
    {
        scheduled(replies, before.get("automaticRepliesSetting"))?;
    }
    if let Some(language) = members.get_mut("language").and_then(Value::as_object_mut) {
        let locale = language.get("locale").and_then(Value::as_str);
        let good = |locale: &&str| {
            let mut parts = locale.split('-');
            let messages = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
            parts.next().is_some_and(|tongue| (2..=3).contains(&tongue.len()) && messages(tongue))
                && parts.all(|part| (2..=8).contains(&part.len()) && messages(part))
        };
        let locale = locale.filter(good).ok_or_else(invalid_property)?.to_owned();
        // Exchange sets the language's name itself. The sandbox has no list of names.
        language.insert("displayName".to_owned(), locale.into());
    }
    context.with(|exchange| {
        for (name, value) in members {
            // Members that the body does not name keep their values, within each setting too.
            let stored = exchange.settings.get(&name).or_else(|| before.get(&name));
            let merged = match (stored, value) {
                (Some(Value::Object(stored)), Value::Object(new)) => {
                    let mut merged = stored.clone();
                    merged.extend(new.into_iter().filter(|(_, value)| !value.is_null()));
                    merged.into()
                }
                (_, value) => value,
            };
            exchange.settings.insert(name, merged);
        }
    });
    let zone = user::mailbox_zone(context.state, store);
    let settings = user::settings(store, &zone);
    Ok(context.entity(settings, "mailboxSettings", StatusCode::OK))
}

/// Checks the times of automatic replies and puts them into Exchange's format.
fn scheduled(replies: &mut Map<String, Value>, before: Option<&Value>) -> Result<(), GraphError> {
    for name in TIMES {
        let Some(time) = replies.get(name).filter(|time| time.is_object()) else {
            continue;
        };
        let (local, _) = parse_time(time)?;
        let zone = time.get("timeZone").and_then(Value::as_str);
        let zone = zone.filter(|zone| !zone.is_empty()).unwrap_or("UTC");
        let text = local.strftime("%Y-%m-%dT%H:%M:%S.0000000").to_string();
        let time = json!({ "dateTime": text, "timeZone": zone });
        replies.insert(name.to_owned(), time);
    }
    // The times may have been set by an earlier request.
    if replies.get("status").and_then(Value::as_str) == Some("scheduled") {
        let of = |name: &str| {
            let stored = || before.and_then(|before| before.get(name));
            let time = replies.get(name).or_else(stored);
            let (local, zone) = parse_time(time?).ok()?;
            local.in_tz(&zone).ok().map(|at| at.timestamp())
        };
        let [from, to] = TIMES.map(of);
        if from.is_none() || from >= to {
            return Err(invalid_property());
        }
    }
    Ok(())
}
