//! Gmail's settings, as far as they are read: the addresses one may send as,
//! the vacation responder, the language.
//!
//! They belong to the mailbox as the sandbox imagines it: an address with an
//! alias, nobody on vacation, English.

use serde_json::{Value, json};

use super::fields::Shape;
use super::mailbox::Mailbox;

/// The type of an address one may send as.
static SEND_AS: Shape = Shape(&[
    ("sendAsEmail", None),
    ("displayName", None),
    ("replyToAddress", None),
    ("signature", None),
    ("isPrimary", None),
    ("isDefault", None),
    ("treatAsAlias", None),
    (
        "smtpMsa",
        Some(&Shape(&[
            ("host", None),
            ("port", None),
            ("username", None),
            ("password", None),
            ("securityMode", None),
        ])),
    ),
    ("verificationStatus", None),
]);

/// The type of `settings.sendAs.list`.
pub(super) static SEND_AS_LIST: Shape = Shape(&[("sendAs", Some(&SEND_AS))]);

/// The type of `settings.getVacation`.
pub(super) static VACATION: Shape = Shape(&[
    ("enableAutoReply", None),
    ("responseSubject", None),
    ("responseBodyPlainText", None),
    ("responseBodyHtml", None),
    ("restrictToContacts", None),
    ("restrictToDomain", None),
    ("startTime", None),
    ("endTime", None),
]);

/// The type of `settings.getLanguage`.
pub(super) static LANGUAGE: Shape = Shape(&[("displayLanguage", None)]);

/// The mailbox's own address, and an alias of it: `NAME+news@DOMAIN`.
pub(super) fn send_as(mailbox: &Mailbox) -> Value {
    let address = &mailbox.address;
    let name = mailbox.people().owner.as_deref().unwrap_or_default();
    let alias = match address.rsplit_once('@') {
        Some((local, domain)) => format!("{local}+news@{domain}"),
        None => format!("{address}+news"),
    };
    json!({ "sendAs": [
        {
            "sendAsEmail": address,
            "displayName": name,
            "replyToAddress": "",
            "signature": "",
            "isPrimary": true,
            "isDefault": true,
        },
        {
            "sendAsEmail": alias,
            "displayName": name,
            "replyToAddress": "",
            "signature": "",
            "treatAsAlias": true,
            "verificationStatus": "accepted",
        },
    ]})
}

/// The vacation responder, which is off.
pub(super) fn vacation() -> Value {
    json!({
        "enableAutoReply": false,
        "responseSubject": "",
        "restrictToContacts": false,
        "restrictToDomain": false,
    })
}

/// The language of Gmail's pages.
pub(super) fn language() -> Value {
    json!({ "displayLanguage": "en" })
}
