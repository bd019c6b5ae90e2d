//! Saved contacts in Google's People API: creating, changing and deleting.

use std::collections::HashSet;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::mail::ContactCard;
use hyper::Method;
use serde_json::{Map, Value, json};
use url::Url;

use crate::google::mail::fetch::list;
use crate::google::mail::mailbox::GmailMailbox;
use crate::json::text;
use crate::written::has_values;

/// The fields of a contact that are requested.
const FIELDS: &str = "names,emailAddresses,organizations,phoneNumbers";
/// [`FIELDS`] and the field that a change has to send back.
const FIELDS_TO_CHANGE: &str = "names,emailAddresses,organizations,phoneNumbers,metadata";

impl GmailMailbox {
    pub(super) async fn new_contact(&self, card: &ContactCard) -> Result<Value> {
        let body = Value::Object(changes(&Value::Null, card));
        if body.as_object().is_none_or(Map::is_empty) {
            return Err(nothing());
        }
        // A contact gets no id of ours: a lost creation is recognized by being new, so the newest
        // contacts are read before.
        let before = self.newest_contacts().await;
        let url = self.contact_at("v1/people:createContact", &[("personFields", FIELDS)])?;
        let sent = self.google.send(Method::POST, &url, None, Some(&body));
        let error = match sent.await {
            Ok(made) => return Ok(made),
            Err(error) => error,
        };
        let Ok(before) = before else {
            return Err(error);
        };
        let made = async || {
            let name = |one: &Value| text(one, "resourceName").to_owned();
            let known: HashSet<String> = before.iter().map(name).collect();
            let now = self.newest_contacts().await?;
            let is_ours = |one: &Value| !known.contains(&name(one)) && is_so(one, &body);
            Ok(now.into_iter().find(is_ours))
        };
        self.google.settle(error, made).await
    }

    /// Returns up to one page of contacts, the last changed first.
    async fn newest_contacts(&self) -> Result<Vec<Value>> {
        let newest = [
            ("personFields", FIELDS),
            ("pageSize", "1000"),
            ("sortOrder", "LAST_MODIFIED_DESCENDING"),
        ];
        let url = self.contact_at("v1/people/me/connections", &newest)?;
        Ok(list(&self.google.get(&url).await?, "connections"))
    }

    pub(super) async fn change_contact(&self, id: &str, card: &ContactCard) -> Result<Value> {
        let id = contact_id(id)?;
        let now = self.contact(id).await?;
        let mut body = changes(&now, card);
        if body.is_empty() {
            return Err(nothing());
        }
        let expected = Value::Object(body.clone());
        let changed: Vec<_> = body.keys().cloned().collect();
        // Google requires the version of the contact's sources with every change.
        for key in ["resourceName", "etag", "metadata"] {
            if let Some(value) = now.get(key) {
                body.insert(key.to_owned(), value.clone());
            }
        }
        let url = self.contact_at(
            &format!("v1/{id}:updateContact"),
            &[("updatePersonFields", &changed.join(",")), ("personFields", FIELDS)],
        )?;
        let sent = self.google.send(Method::PATCH, &url, None, Some(&Value::Object(body))).await;
        let error = match sent {
            Ok(changed) => return Ok(changed),
            Err(error) => error,
        };
        let version = |one: &Value| text(one, "etag").to_owned();
        if error.kind() == ErrorKind::Provider(400) {
            // Google's error does not say whether the version was the reason.
            return Err(match self.contact(id).await {
                Ok(found) if version(&found) != version(&now) => {
                    Error::new(ErrorKind::Conflict, "the contact was changed meanwhile")
                        .next("look it up again, and repeat the change if it still fits")
                }
                _ => error,
            });
        }
        let written = async || {
            let found = self.contact(id).await?;
            let is_ours = version(&found) != version(&now) && is_so(&found, &expected);
            Ok(Some(found).filter(|_| is_ours))
        };
        self.google.settle(error, written).await
    }

    pub(super) async fn delete_contact(&self, id: &str) -> Result<()> {
        let id = contact_id(id)?;
        let url = self.contact_at(&format!("v1/{id}:deleteContact"), &[])?;
        match self.google.send(Method::DELETE, &url, None, None).await {
            Ok(_) => Ok(()),
            Err(error) => {
                let was_deleted = async || match self.contact(id).await {
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(())),
                    found => found.map(|_| None),
                };
                self.google.settle(error, was_deleted).await
            }
        }
    }

    async fn contact(&self, id: &str) -> Result<Value> {
        let fields = [("personFields", FIELDS_TO_CHANGE)];
        let url = self.contact_at(&format!("v1/{id}"), &fields)?;
        self.google.get(&url).await
    }

    fn contact_at(&self, path: &str, params: &[(&str, &str)]) -> Result<Url> {
        let mut url = self.people.join(path).map_err(|_opaque| {
            Error::new(ErrorKind::Internal, "the People API's URL does not parse")
        })?;
        if !params.is_empty() {
            url.query_pairs_mut().extend_pairs(params);
        }
        Ok(url)
    }
}

fn nothing() -> Error {
    Error::argument("the contact has no content").next("give a name, addresses or phones")
}

/// Returns the id of a saved contact if it is safe in a path.
fn contact_id(id: &str) -> Result<&str> {
    if id.starts_with("otherContacts/") {
        return Err(Error::argument("this person is not a saved contact, only known from mail")
            .next("save them as a new contact"));
    }
    let fits = id.strip_prefix("people/").is_some_and(|rest| {
        (1..=128).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    });
    if fits {
        Ok(id)
    } else {
        Err(Error::argument("the id is not a Google contact's")
            .next("look the contact up, and use its provider_id, such as people/c123"))
    }
}

/// Returns the fields of a contact that change. Each is complete, because Google replaces whole
/// fields; other properties of their entries, such as `work`, stay.
fn changes(now: &Value, card: &ContactCard) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some(name) = &card.name {
        body.insert("names".to_owned(), json!([{ "unstructuredName": name }]));
    }
    for (key, values) in [("emailAddresses", &card.emails), ("phoneNumbers", &card.phones)] {
        if let Some(values) = values {
            let known = own(now, key);
            let entries = values.iter().map(|value| {
                let same = |one: &&Value| text(one, "value").eq_ignore_ascii_case(value);
                let existing = known.iter().find(same).cloned();
                existing.unwrap_or_else(|| json!({ "value": value }))
            });
            body.insert(key.to_owned(), entries.collect());
        }
    }
    if card.company.is_some() || card.title.is_some() {
        let mut all = own(now, "organizations");
        let mut first = if all.is_empty() { Value::Null } else { all.remove(0) };
        let mut merged = first.as_object_mut().cloned().unwrap_or_default();
        for (key, value) in [("name", &card.company), ("title", &card.title)] {
            if let Some(value) = value {
                merged.insert(key.to_owned(), value.as_str().into());
            }
        }
        all.insert(0, Value::Object(merged));
        body.insert("organizations".to_owned(), Value::Array(all));
    }
    body
}

/// Returns true if a contact has the written content among its own entries.
fn is_so(found: &Value, written: &Value) -> bool {
    let written = written.as_object().into_iter().flatten();
    written.into_iter().all(|(key, value)| has_values(Some(&own(found, key).into()), value))
}

/// Returns the entries of the contact itself. Entries of the person's own profile are read-only.
fn own(now: &Value, key: &str) -> Vec<Value> {
    let is_own = |entry: &Value| {
        let source = entry.pointer("/metadata/source/type");
        source.is_none_or(|source| source == "CONTACT")
    };
    let mut entries = list(now, key);
    entries.retain(is_own);
    entries
}
