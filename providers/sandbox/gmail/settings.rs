//! Gmail's settings: sending addresses with their signatures, the vacation responder, and the
//! language.
//!
//! The initial settings are an address with an alias, no automatic reply, and English.

use serde_json::{Map, Value, json};

use super::context::GmailContext;
use crate::google::body::{flag, text};
use crate::google::error;
use crate::google::fields::{FieldShape, shape};
use crate::http::HttpResponse;
use crate::json::present;
use crate::state::RequestState;
use crate::store::mailbox::Mailbox;

/// The type of a sending address.
pub(super) static SEND_AS: FieldShape = shape! {
    "sendAsEmail", "displayName", "replyToAddress", "signature", "isPrimary", "isDefault",
    "treatAsAlias", "smtpMsa": &shape! { "host", "port", "username", "password", "securityMode" },
    "verificationStatus",
};

/// The type of `settings.sendAs.list`.
pub(super) static SEND_AS_LIST: FieldShape = shape! { "sendAs": &SEND_AS };

/// The type of `settings.getVacation`.
pub(super) static VACATION: FieldShape = shape! {
    "enableAutoReply", "responseSubject", "responseBodyPlainText", "responseBodyHtml",
    "restrictToContacts", "restrictToDomain", "startTime", "endTime",
};

/// The type of `settings.getLanguage`.
pub(super) static LANGUAGE: FieldShape = shape! { "displayLanguage" };

/// The key of a stored vacation responder.
const STORED_VACATION: &str = "gmail vacation";

/// The key of a stored language.
const STORED_LANGUAGE: &str = "gmail language";

/// Returns the mailbox's own address and an alias of it, `NAME+news@DOMAIN`.
pub(super) fn addresses(mailbox: &Mailbox) -> [String; 2] {
    let address = &mailbox.address;
    let alias = match address.rsplit_once('@') {
        Some((local, domain)) => format!("{local}+news@{domain}"),
        None => format!("{address}+news"),
    };
    [address.clone(), alias]
}

/// Returns the addresses that the owner may send from.
pub(super) fn send_as(state: &RequestState, mailbox: &Mailbox) -> Value {
    let entries = addresses(mailbox);
    let [own, alias] = entries.map(|address| entry(state, mailbox, &address));
    json!({ "sendAs": [own, alias] })
}

/// Returns one sending address, or refuses an unknown one.
pub(super) fn one_send_as(
    context: &GmailContext<'_>,
    address: &str,
) -> Result<Value, HttpResponse> {
    let known = own_address(context, address)?;
    Ok(entry(context.state, context.mailbox, &known))
}

/// Changes the name and signature of a sending address.
pub(super) fn change_send_as(
    context: &GmailContext<'_>,
    address: &str,
) -> Result<Value, HttpResponse> {
    let known = own_address(context, address)?;
    let name = text(&context.body, "displayName")?;
    let signature = text(&context.body, "signature")?;
    context.state.settings(&context.mailbox.address, |settings| {
        let key = known.to_lowercase();
        for (map, value) in [(&mut settings.names, name), (&mut settings.signatures, signature)] {
            if let Some(value) = value {
                map.insert(key.clone(), value.to_owned());
            }
        }
    });
    Ok(entry(context.state, context.mailbox, &known))
}

/// Returns an address as spelt in the settings.
fn own_address(context: &GmailContext<'_>, address: &str) -> Result<String, HttpResponse> {
    let mut addresses = addresses(context.mailbox).into_iter();
    let known = addresses.find(|known| known.eq_ignore_ascii_case(address));
    known.ok_or_else(error::not_found)
}

/// Returns one sending address.
fn entry(state: &RequestState, mailbox: &Mailbox, address: &str) -> Value {
    let (name, signature) = state.settings(&mailbox.address, |settings| {
        let key = address.to_lowercase();
        let signature = settings.signatures.get(&key).cloned();
        (settings.names.get(&key).cloned(), signature)
    });
    let owner = || mailbox.people().owner.clone().unwrap_or_default();
    let name = name.unwrap_or_else(owner);
    let signature = signature.unwrap_or_default();
    // Only aliases have a verification status, and only the main address is primary and default.
    let main = (address == mailbox.address).then_some(true);
    let alias = (address != mailbox.address).then_some(true);
    present(json!({
        "sendAsEmail": address,
        "displayName": name,
        "replyToAddress": "",
        "signature": signature,
        "isPrimary": main,
        "isDefault": main,
        "treatAsAlias": alias,
        "verificationStatus": alias.map(|_| "accepted"),
    }))
}

/// Returns the vacation responder, which is initially off.
pub(super) fn vacation(state: &RequestState, mailbox: &Mailbox) -> Value {
    stored_value(state, mailbox, STORED_VACATION).unwrap_or_else(|| {
        json!({
            "enableAutoReply": false,
            "responseSubject": "",
            "restrictToContacts": false,
            "restrictToDomain": false,
        })
    })
}

/// Sets the vacation responder. Missing properties are cleared.
pub(super) fn set_vacation(context: &GmailContext<'_>) -> Result<Value, HttpResponse> {
    let body = &context.body;
    let on = flag(body, "enableAutoReply")?.unwrap_or(false);
    let mut set = Map::new();
    for name in ["enableAutoReply", "restrictToContacts", "restrictToDomain"] {
        set.insert(name.to_owned(), flag(body, name)?.unwrap_or(false).into());
    }
    let subject = text(body, "responseSubject")?.unwrap_or_default();
    set.insert("responseSubject".to_owned(), subject.into());
    for name in ["responseBodyPlainText", "responseBodyHtml"] {
        if let Some(text) = text(body, name)? {
            set.insert(name.to_owned(), text.into());
        }
    }
    let mut times = Vec::new();
    for name in ["startTime", "endTime"] {
        // Protobuf's JSON has 64-bit numbers as strings, and accepts numbers as well.
        let time = match body.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.parse::<i64>().ok(),
            Some(other) => other.as_i64(),
        };
        let time = time.ok_or_else(|| error::invalid_value(name, "TYPE_INT64", ""))?;
        times.push(time);
        set.insert(name.to_owned(), time.to_string().into());
    }
    if matches!(times.as_slice(), [start, end] if start >= end) {
        return Err(error::invalid("Invalid vacation time range"));
    }
    let says = |name: &str| set.get(name).and_then(Value::as_str).is_some_and(|it| !it.is_empty());
    if on && !(says("responseSubject") || says("responseBodyPlainText") || says("responseBodyHtml"))
    {
        return Err(error::invalid("Missing vacation response"));
    }
    keep(context, STORED_VACATION, &set.into())
}

/// Returns the display language of Gmail.
pub(super) fn language(state: &RequestState, mailbox: &Mailbox) -> Value {
    let stored = stored_value(state, mailbox, STORED_LANGUAGE);
    stored.unwrap_or_else(|| json!({ "displayLanguage": "en" }))
}

/// Sets the language.
pub(super) fn set_language(context: &GmailContext<'_>) -> Result<Value, HttpResponse> {
    let language = text(&context.body, "displayLanguage")?.unwrap_or_default();
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if language.len() < 2 || !language.bytes().all(good) {
        return Err(error::invalid("Invalid language"));
    }
    keep(context, STORED_LANGUAGE, &json!({ "displayLanguage": language }))
}

fn stored_value(state: &RequestState, mailbox: &Mailbox, name: &str) -> Option<Value> {
    state.settings(&mailbox.address, |settings| settings.values.get(name).cloned())
}

fn keep(context: &GmailContext<'_>, name: &str, value: &Value) -> Result<Value, HttpResponse> {
    context.state.settings(&context.mailbox.address, |settings| {
        settings.values.insert(name.to_owned(), value.clone());
    });
    Ok(value.clone())
}
