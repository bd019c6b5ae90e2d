//! Gmail's labels: finding them by name, creating, renaming and deleting them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::FolderId;
use daysheet_core::provider::mail::{FolderKind, FolderRef, LabelLook};
use daysheet_core::query;
use daysheet_core::text::brief;
use hyper::Method;
use serde_json::{Map, Value, json};

use super::mailbox::{GmailMailbox, ME, call};
use super::requests::check;
use crate::google::client;
use crate::json::text;
use crate::labels::{is_category, same_label};
use crate::similar;
use crate::written::has_values;

/// The time for which label names are cached.
const NAMES_LAST: Duration = Duration::from_mins(1);
/// The maximum length of a label name, in characters.
const MAX_LEN: usize = 225;
/// Gmail's system labels with the words for them.
const SYSTEM: &[(&str, &str)] = &[
    ("inbox", "INBOX"),
    ("spam", "SPAM"),
    ("trash", "TRASH"),
    ("sent", "SENT"),
    ("drafts", "DRAFT"),
    ("starred", "STARRED"),
    ("important", "IMPORTANT"),
    ("unread", "UNREAD"),
];
/// Further names that Gmail reserves.
const RESERVED: &[&str] = &[
    "archive", "anywhere", "chat", "chats", "all mail", "scheduled", "snoozed", "muted", "outbox",
];

/// The places that may show a label, in our words and in Gmail's.
const IN_LIST: &[(&str, &str)] =
    &[("show", "labelShow"), ("unread", "labelShowIfUnread"), ("hide", "labelHide")];
const IN_MESSAGES: &[(&str, &str)] = &[("show", "show"), ("hide", "hide")];

/// Returns the word for a label that is a folder, such as `inbox`.
pub(super) fn place_of(label: &Value) -> Option<&'static str> {
    let known = SYSTEM.iter().find(|(_, id)| *id == text(label, "id"));
    known.map(|(word, _)| *word).filter(|word| query::PLACES.contains(word))
}

impl GmailMailbox {
    /// Returns the account's labels as Gmail lists them, cached for [`NAMES_LAST`].
    pub(super) async fn labels(&self) -> Result<Vec<Value>> {
        let mut known = self.labels.lock().await;
        if let Some((when, labels)) = known.as_ref()
            && when.elapsed() < NAMES_LAST
        {
            return Ok(labels.clone());
        }
        let answer = call!(self, "labels(id,name,type)", |users| users.labels_list(ME))?;
        let labels = client::items_of(answer, "labels")?;
        *known = Some((Instant::now(), labels.clone()));
        Ok(labels)
    }

    /// Returns the names of labels in rows, by id.
    pub(super) async fn label_names(&self) -> Result<HashMap<String, String>> {
        let labels = self.labels().await?;
        Ok(labels.iter().filter_map(name_in_rows).collect())
    }

    pub(super) async fn find_label(
        &self,
        name: &str,
        kind: FolderKind,
        create: bool,
    ) -> Result<FolderRef> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Error::argument("no label is named").next("give a label's name"));
        }
        let labels = self.labels().await?;
        if let Some(found) = resolve_label(&labels, name) {
            return Ok(found);
        }
        if !create {
            return Err(unknown(&labels, name, kind));
        }
        // Another program may have created the label since the list was cached.
        let labels = self.labels_anew().await?;
        if let Some(found) = resolve_label(&labels, name) {
            return Ok(found);
        }
        let made = self.make_label(name, &LabelLook::default()).await?;
        Ok(FolderRef {
            id: text(&made, "id").into(),
            name: text(&made, "name").to_owned(),
            made: true,
        })
    }

    async fn labels_anew(&self) -> Result<Vec<Value>> {
        self.forget_labels().await;
        self.labels().await
    }

    pub(super) async fn forget_labels(&self) {
        *self.labels.lock().await = None;
    }

    /// Creates a label and missing labels above it; returns Gmail's object.
    pub(super) async fn make_label(&self, name: &str, look: &LabelLook) -> Result<Value> {
        // Checked before any label is created.
        let look = look_of(look)?;
        let levels = levels(name)?;
        let mut made = Value::Null;
        let mut path = String::new();
        for (at, level) in levels.iter().enumerate() {
            if at > 0 {
                path.push('/');
            }
            path.push_str(level);
            let last = at + 1 == levels.len();
            let labels = self.labels().await?;
            let there = labels.iter().find(|label| same_name(text(label, "name"), &path));
            if let Some(there) = there
                && !last
            {
                // Gmail compares names without regard to case; the existing spelling is kept.
                path = text(there, "name").to_owned();
                continue;
            }
            let mut body = json!({
                "name": path,
                "labelListVisibility": "labelShow",
                "messageListVisibility": "show",
            });
            if let (true, Some(body)) = (last, body.as_object_mut()) {
                body.extend(look.clone());
            }
            made = self.add_label(&path, &body).await?;
        }
        Ok(made)
    }

    async fn add_label(&self, name: &str, body: &Value) -> Result<Value> {
        let made = async || {
            let labels = self.labels_anew().await?;
            let is_it = |label: &Value| same_name(text(label, "name"), name);
            Ok(labels.into_iter().find(is_it))
        };
        let done = self.change_for_sure(Method::POST, &["labels"], Some(body), made);
        let done = done.await;
        self.forget_labels().await;
        done.map_err(|error| match error.kind() {
            ErrorKind::Provider(409) => {
                Error::argument(format!("Gmail already has a label like `{}`", brief(name)))
                    .next("lookup kind=labels lists them")
            }
            ErrorKind::Provider(400) => error.next("choose another name"),
            _ => error,
        })
    }

    /// Changes the name or look of a label, and the names of the labels below it; returns Gmail's
    /// object.
    pub(super) async fn change_label(
        &self,
        id: &FolderId,
        name: Option<&str>,
        look: &LabelLook,
    ) -> Result<Value> {
        let old = self.own_label(id, "changed").await?;
        let mut fields = look_of(look)?;
        if let Some(name) = name {
            let levels = levels(name)?;
            if let Some((_, above @ [_, ..])) = levels.split_last() {
                let above = above.join("/");
                self.find_label(&above, FolderKind::Label, true).await?;
            }
            fields.insert("name".to_owned(), levels.join("/").into());
        }
        if fields.is_empty() {
            return Err(
                Error::argument("there is nothing to change").next("give a name or a colour")
            );
        }
        let body = Value::Object(fields);
        self.forget_labels().await;
        self.write_label(id, &body).await.map_err(|error| match error.kind() {
            ErrorKind::Provider(409) => Error::argument("Gmail already has a label of this name")
                .next("choose another name"),
            _ => error,
        })?;
        if let Some(name) = name {
            self.rename_below(text(&old, "name"), name).await?;
        }
        self.label(id).await
    }

    async fn write_label(&self, id: &FolderId, body: &Value) -> Result<Value> {
        let written = async || {
            let found = self.label(id).await?;
            Ok(Some(found).filter(|found| has_values(Some(found), body)))
        };
        self.change_for_sure(Method::PATCH, &["labels", id.as_str()], Some(body), written).await
    }

    /// Renames the labels below a label. Gmail does not nest labels: each name is a full path.
    async fn rename_below(&self, old: &str, new: &str) -> Result<()> {
        let labels = self.labels_anew().await?;
        for label in labels {
            let Some(rest) =
                text(&label, "name").strip_prefix(old).filter(|rest| rest.starts_with('/'))
            else {
                continue;
            };
            let body = json!({ "name": format!("{new}{rest}") });
            self.write_label(&text(&label, "id").into(), &body).await.map_err(|error| {
                error.context("the label was renamed, but not all labels below it")
            })?;
        }
        self.forget_labels().await;
        Ok(())
    }

    /// Deletes a label. Its messages stay.
    pub(super) async fn delete_label(&self, id: &FolderId) -> Result<()> {
        self.own_label(id, "deleted").await?;
        let path = ["labels", id.as_str()];
        let was_deleted = || self.confirm_absent(&path);
        let done = self.change_for_sure(Method::DELETE, &path, None, was_deleted);
        let done = done.await;
        self.forget_labels().await;
        done.map(drop)
    }

    /// Returns a label with its counts.
    pub(super) async fn label(&self, id: &FolderId) -> Result<Value> {
        check(id.as_str())?;
        self.get(&["labels", id.as_str()], &[]).await
    }

    /// Returns a label if it is the user's.
    async fn own_label(&self, id: &FolderId, done: &str) -> Result<Value> {
        let label = self.label(id).await?;
        if text(&label, "type") == "user" {
            return Ok(label);
        }
        Err(Error::argument(format!("Gmail's own labels cannot be {done}"))
            .next("name a user label; lookup kind=labels lists them"))
    }
}

/// Returns the id of a label and its name in rows; `None` for labels that are states.
pub(super) fn name_in_rows(label: &Value) -> Option<(String, String)> {
    let id = text(label, "id");
    let name = if text(label, "type") == "user" {
        text(label, "name").to_owned()
    } else {
        match id.strip_prefix("CATEGORY_")? {
            // Gmail's search and its user interface use this name.
            "PERSONAL" => "primary".to_owned(),
            category => category.to_lowercase(),
        }
    };
    Some((id.to_owned(), name))
}

/// Finds a label by id, well-known word or name.
pub(super) fn resolve_label(labels: &[Value], name: &str) -> Option<FolderRef> {
    let place =
        |id: &str, name: &str| FolderRef { id: id.into(), name: name.to_owned(), made: false };
    let of = |label: &Value| place(text(label, "id"), text(label, "name"));
    if let Some(label) = labels.iter().find(|label| text(label, "id") == name) {
        return Some(of(label));
    }
    let word = query::place(name).to_lowercase();
    if word == "archive" {
        // At Gmail a message is archived if it has no folder label.
        return Some(place("", "archive"));
    }
    if let Some((word, id)) = SYSTEM.iter().find(|(known, _)| *known == word) {
        return Some(place(id, word));
    }
    let exactly = |label: &&Value| text(label, "name") == name;
    let any_case = |label: &&Value| same_name(text(label, "name"), name);
    let searched = |label: &&Value| same_label(text(label, "name"), name);
    let own = || labels.iter().filter(|label| text(label, "type") != "system");
    let found =
        // An exact name takes precedence over names that differ in case or in search spelling.
        own().find(exactly).or_else(|| own().find(any_case)).or_else(|| own().find(searched));
    match found {
        Some(label) => Some(of(label)),
        None if is_category(name) => {
            let id = match word.as_str() {
                "primary" => "CATEGORY_PERSONAL".to_owned(),
                word => format!("CATEGORY_{}", word.to_uppercase()),
            };
            let known = labels.iter().any(|label| text(label, "id") == id);
            known.then(|| place(&id, &word))
        }
        None => None,
    }
}

fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Splits the name of a new label into levels.
fn levels(name: &str) -> Result<Vec<String>> {
    let name = name.trim().trim_matches('/');
    let levels: Vec<_> = name.split('/').map(|level| level.trim().to_owned()).collect();
    let refuse = |what: String| {
        Err(Error::argument(what).next("choose another name, with / between its levels"))
    };
    if levels.iter().any(String::is_empty) {
        return refuse("a label's name has an empty level".to_owned());
    }
    if name.chars().any(char::is_control) {
        return refuse("a label's name has control characters".to_owned());
    }
    if name.chars().count() > MAX_LEN {
        return refuse(format!("a label's name has at most {MAX_LEN} characters"));
    }
    let first = levels.first().map(|level| level.to_lowercase());
    let is_reserved = |word: &str| {
        SYSTEM.iter().any(|(known, _)| *known == query::place(word))
            || RESERVED.contains(&word)
            || word.starts_with("category_")
    };
    match first {
        Some(first) if is_reserved(&first) => {
            refuse(format!("Gmail reserves the name `{}`", brief(&first)))
        }
        _ => Ok(levels),
    }
}

/// Returns the look of a label as Gmail's fields.
fn look_of(look: &LabelLook) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    if let Some(colour) = &look.colour {
        fields.insert("color".to_owned(), paint(colour)?);
    }
    for (name, word, key, known) in [
        ("in_list", &look.in_list, "labelListVisibility", IN_LIST),
        ("in_messages", &look.in_messages, "messageListVisibility", IN_MESSAGES),
    ] {
        let Some(word) = word else {
            continue;
        };
        let found = known.iter().find(|(known, _)| word.trim().eq_ignore_ascii_case(known));
        let (_, value) = found.ok_or_else(|| {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            Error::argument(format!("`{name}` is `{}`", brief(word)))
                .next(format!("use one of: {}", words.join(", ")))
        })?;
        fields.insert(key.to_owned(), (*value).into());
    }
    Ok(fields)
}

/// Returns the colour of a label for Gmail: a background of its palette, and a readable text
/// colour.
fn paint(colour: &str) -> Result<Value> {
    let hex = colour.trim().to_ascii_lowercase();
    let parts: Vec<u32> = hex
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.bytes().all(|c| c.is_ascii_hexdigit()))
        .map(|digits| {
            let part = |at: usize| u32::from_str_radix(digits.get(at..at + 2)?, 16).ok();
            [0, 2, 4].into_iter().filter_map(part).collect()
        })
        .unwrap_or_default();
    let [red, green, blue] = parts.as_slice() else {
        return Err(Error::argument(format!("Gmail has no colour `{}`", brief(colour)))
            .next("give one of Gmail's palette, such as #16a766, #4a86e8 or #fb4c2f"));
    };
    // Brightness by the weights of ITU-R BT.601.
    let light = red * 299 + green * 587 + blue * 114 > 150_000;
    Ok(json!({
        "backgroundColor": hex,
        "textColor": if light { "#000000" } else { "#ffffff" },
    }))
}

/// Returns the error for an unknown name, with similar names.
fn unknown(labels: &[Value], name: &str, kind: FolderKind) -> Error {
    let (what, lookup) = match kind {
        FolderKind::Folder => ("folder or label", "folders"),
        FolderKind::Label => ("label", "labels"),
    };
    let error = Error::new(ErrorKind::NotFound, format!("there is no {what} `{}`", brief(name)));
    error.next(instead(labels, name, lookup))
}

/// Returns the next step after an unknown name: a similar name, or the lookup that lists the names.
pub(super) fn instead(labels: &[Value], name: &str, lookup: &str) -> String {
    let own = labels.iter().filter(|label| text(label, "type") == "user");
    similar::instead(name, own.map(|label| text(label, "name")), lookup)
}
