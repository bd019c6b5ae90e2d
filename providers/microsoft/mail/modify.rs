//! Changes of the state of Outlook's messages.
//!
//! Twenty messages are changed per batch, and each part is sent once. The response confirms a part
//! or contains the new state; otherwise the message is read again. Changes without effect are not
//! sent. `folders_write.rs` resolves folders and categories.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::time;
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::provider::mail::{
    FolderKind, FolderRef, MailState, MessageAction, MessageActions, MessageFlag,
};
use graph_rs_sdk::http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::mailbox::{OutlookMailbox, message_path};
use super::{folders, folders_write};
use crate::json::{is, nested, text};
use crate::microsoft::batch::BatchChange;
use crate::microsoft::ids::check_mail_id;
use crate::microsoft::response::not_ours;

/// The properties of a message's state.
const STATE: &str = "id,isRead,isDraft,flag,parentFolderId,categories";

#[async_trait]
impl MessageActions for OutlookMailbox {
    async fn states(&self, ids: &[MessageId]) -> Vec<Result<MailState>> {
        let checked: Vec<Result<()>> = ids.iter().map(|id| check_mail_id(id.as_str())).collect();
        let requests: Vec<String> = ids
            .iter()
            .zip(&checked)
            .filter(|(_, checked)| checked.is_ok())
            .map(|(id, _)| {
                self.graph().mailbox_url(&message_path(id.as_str()), &[("$select", STATE)])
            })
            .collect();
        let mut answers = self.graph().batch_bare(&requests).await.into_iter();
        checked
            .into_iter()
            .map(|checked| {
                checked?;
                let answer = answers.next().unwrap_or_else(|| Err(not_ours("message")))?;
                state(&answer).ok_or_else(|| not_ours("message"))
            })
            .collect()
    }

    async fn apply(
        &self,
        messages: &[MailState],
        step: &MessageAction,
    ) -> Vec<Result<Option<MailState>>> {
        let patch = |message: &MailState, body: Value| Some(patch_request(self, message, body));
        match step {
            MessageAction::Read(read) => {
                let body = json!({ "isRead": read });
                self.run(messages, |message| patch(message, body.clone())).await
            }
            MessageAction::Flag(flag) => {
                let body = json!({ "flag": flag_of(flag, self.graph().now()) });
                self.run(messages, |message| patch(message, body.clone())).await
            }
            MessageAction::Label { add, remove } => {
                self.run(messages, |message| {
                    // A change of categories replaces the whole list.
                    let mut labels = message.labels.clone();
                    labels.retain(|label| !remove.contains(label));
                    labels.extend(add.iter().cloned());
                    (labels != message.labels)
                        .then(|| patch_request(self, message, json!({ "categories": labels })))
                })
                .await
            }
            MessageAction::Archive => self.file_in("archive", messages).await,
            MessageAction::Trash => self.file_in("trash", messages).await,
            MessageAction::Spam => self.file_in("spam", messages).await,
            MessageAction::Untrash => {
                let (drafts, others): (Vec<_>, Vec<_>) =
                    messages.iter().cloned().partition(|message| message.draft);
                let mut drafts = self.file_in("drafts", &drafts).await.into_iter();
                let mut others = self.file_in("inbox", &others).await.into_iter();
                let moved = messages
                    .iter()
                    .map(|message| if message.draft { drafts.next() } else { others.next() });
                moved.map(|one| one.unwrap_or_else(|| Err(not_ours("message")))).collect()
            }
            MessageAction::Move(folder) => self.move_to(folder, messages).await,
            MessageAction::Copy(folder) => {
                let copies = self.send_all(messages, |message| {
                    Some(self.action(message, "copy", Some(json!({ "destinationId": folder }))))
                });
                // The response has the copy; the message itself is unchanged.
                let copies = copies.await.into_iter().zip(messages);
                copies.map(|(copied, message)| copied.map(|_| Some(message.clone()))).collect()
            }
            MessageAction::Delete => {
                let deletions = self.send_all(messages, |message| {
                    Some(self.action(message, "permanentDelete", None))
                });
                let deletions = deletions.await.into_iter();
                deletions.map(|deleted| deleted.map(|_| None)).collect()
            }
            MessageAction::RestoreState(states) => self.put_back(messages, states).await,
        }
    }

    async fn find_folder(&self, name: &str, kind: FolderKind, create: bool) -> Result<FolderRef> {
        match kind {
            FolderKind::Folder => folders_write::folder(self, name, create).await,
            FolderKind::Label => folders_write::category(self, name, create).await,
        }
    }
}

impl OutlookMailbox {
    /// Moves messages into a well-known folder.
    async fn file_in(&self, place: &str, messages: &[MailState]) -> Vec<Result<Option<MailState>>> {
        if messages.is_empty() {
            return Vec::new();
        }
        let known = folders::well_known_id(place).unwrap_or(place);
        let path = format!("mailFolders/{known}");
        let folder = self.graph().mailbox_url(&path, &[("$select", "id")]);
        // Exchange refuses to move a message to its present folder, so the folder's id has to be
        // known.
        match self.graph().get(&folder).await {
            Ok(folder) => self.move_to(&text(&folder, "id").into(), messages).await,
            Err(error) => {
                let error = match error.kind() {
                    ErrorKind::NotFound => Error::new(
                        ErrorKind::NotFound,
                        format!("this mailbox has no folder for {place}"),
                    )
                    .next("move the messages into a folder by its name"),
                    _ => error,
                };
                messages.iter().map(|_| Err(error.clone())).collect()
            }
        }
    }

    async fn move_to(
        &self,
        folder: &FolderId,
        messages: &[MailState],
    ) -> Vec<Result<Option<MailState>>> {
        self.run(messages, |message| {
            let body = json!({ "destinationId": folder });
            (message.folder != *folder).then(|| self.action(message, "move", Some(body)))
        })
        .await
    }

    /// Returns the request for a named action on a message.
    fn action(&self, message: &MailState, action: &str, body: Option<Value>) -> BatchChange {
        // Actions without a body, such as deletions, return no message to select from.
        let answer = [("$select", "id,parentFolderId")];
        let answer = if body.is_some() { &answer[..] } else { &[] };
        BatchChange {
            method: Method::POST,
            request: self
                .graph()
                .mailbox_url(&format!("{}/{action}", message_path(message.id.as_str())), answer),
            body,
            minimal: false,
        }
    }

    /// Sends the requests of the messages that have one; returns Graph's responses.
    async fn send_all(
        &self,
        messages: &[MailState],
        part: impl Fn(&MailState) -> Option<BatchChange>,
    ) -> Vec<Result<Option<Value>>> {
        let planned: Vec<Result<Option<BatchChange>>> = messages
            .iter()
            .map(|message| check_mail_id(message.id.as_str()).map(|()| part(message)))
            .collect();
        let parts: Vec<BatchChange> =
            planned.iter().filter_map(|part| part.clone().ok().flatten()).collect();
        let mut answers = self.graph().change_all(&parts).await.into_iter();
        planned
            .into_iter()
            .map(|part| match part? {
                Some(_) => answers.next().unwrap_or_else(|| Err(not_ours("message"))),
                None => Ok(None),
            })
            .collect()
    }

    /// Sends the requests of the messages that have one; returns the state of each message
    /// afterwards.
    async fn run(
        &self,
        messages: &[MailState],
        part: impl Fn(&MailState) -> Option<BatchChange>,
    ) -> Vec<Result<Option<MailState>>> {
        let parts: Vec<Option<BatchChange>> = messages.iter().map(&part).collect();
        let answers = self.send_all(messages, &part).await;
        // Messages that were changed, but whose state was not returned.
        let mut unknown = Vec::new();
        let mut after: Vec<Result<Option<MailState>>> = Vec::new();
        for ((answer, message), part) in answers.into_iter().zip(messages).zip(parts) {
            after.push(match (answer, part) {
                (Err(error), _) => Err(error),
                (Ok(_), None) => Ok(Some(message.clone())),
                (Ok(response), Some(part)) => {
                    // An empty response confirms the requested properties.
                    let confirmed = part.body.filter(|_| part.minimal && response.is_none());
                    let now = response.or(confirmed).and_then(|now| changed(message, &now));
                    if now.is_none() {
                        unknown.push((after.len(), message.id.clone()));
                    }
                    Ok(now)
                }
            });
        }
        let ids: Vec<MessageId> = unknown.iter().map(|(_, id)| id.clone()).collect();
        for ((place, _), read) in unknown.into_iter().zip(self.states(&ids).await) {
            if let Some(one) = after.get_mut(place) {
                *one = match read {
                    Ok(state) => Ok(Some(state)),
                    // The change was confirmed, although it cannot be read back.
                    Err(error) => Err(Error::new(
                        ErrorKind::Network,
                        format!(
                            "done, but the message could not be read back: {}",
                            error.message()
                        ),
                    )),
                };
            }
        }
        after
    }

    /// Restores earlier states. Moves come last, because messages are addressed by their folder.
    async fn put_back(
        &self,
        messages: &[MailState],
        states: &[MailState],
    ) -> Vec<Result<Option<MailState>>> {
        let planned: HashMap<&MessageId, &MailState> =
            states.iter().map(|state| (&state.id, state)).collect();
        let planned = |message: &MailState| planned.get(&message.id).copied();
        let now = self.graph().now();
        let start = messages.iter().map(|one| Ok(Some(one.clone()))).collect();
        // Exchange keeps a due date until the flag is removed, so it is removed first.
        let unflagged = self.stage(start, |message| {
            let overdue = matches!(message.flag, MessageFlag::Set { due: Some(_) })
                && planned(message)?.flag == MessageFlag::Set { due: None };
            let body = json!({ "flag": flag_of(&MessageFlag::None, now) });
            overdue.then(|| patch_request(self, message, body))
        });
        let changed = self.stage(unflagged.await, |message| {
            let planned = planned(message)?;
            let mut body = serde_json::Map::new();
            if planned.unread != message.unread {
                body.insert("isRead".to_owned(), (!planned.unread).into());
            }
            if planned.flag != message.flag {
                body.insert("flag".to_owned(), flag_of(&planned.flag, now));
            }
            if planned.labels != message.labels {
                body.insert("categories".to_owned(), json!(planned.labels));
            }
            (!body.is_empty()).then(|| patch_request(self, message, body.into()))
        });
        let changed = changed.await;
        let touched: Vec<bool> = changed
            .iter()
            .zip(messages)
            .map(|(now, before)| !matches!(now, Ok(Some(now)) if now == before))
            .collect();
        let moved = self.stage(changed, |message| {
            let folder = &planned(message)?.folder;
            let body = json!({ "destinationId": folder });
            let moves = !folder.is_empty() && *folder != message.folder;
            moves.then(|| self.action(message, "move", Some(body)))
        });
        // Before its move failed, a message may have been changed in other ways.
        let moved = moved.await.into_iter().zip(touched);
        moved
            .map(|(one, touched)| match one {
                Err(error) if touched => Err(Error::new(
                    ErrorKind::Network,
                    format!("it was partly restored: {}", error.message()),
                )),
                one => one,
            })
            .collect()
    }

    /// Calls [`OutlookMailbox::run`] for the messages without an error so far.
    async fn stage(
        &self,
        mut messages: Vec<Result<Option<MailState>>>,
        part: impl Fn(&MailState) -> Option<BatchChange>,
    ) -> Vec<Result<Option<MailState>>> {
        let (places, here): (Vec<usize>, Vec<MailState>) = messages
            .iter()
            .enumerate()
            .filter_map(|(place, one)| Some((place, one.as_ref().ok()?.clone()?)))
            .unzip();
        let done = self.run(&here, part).await;
        for (place, done) in places.into_iter().zip(done) {
            if let Some(one) = messages.get_mut(place) {
                *one = done;
            }
        }
        messages
    }
}

fn patch_request(outlook: &OutlookMailbox, message: &MailState, body: Value) -> BatchChange {
    // Some services return the message despite `return=minimal`; they return only these properties.
    let mut select = vec!["id"];
    select.extend(body.as_object().into_iter().flat_map(|body| body.keys().map(String::as_str)));
    let answer = [("$select", &*select.join(","))];
    BatchChange {
        method: Method::PATCH,
        request: outlook.graph().mailbox_url(&message_path(message.id.as_str()), &answer),
        body: Some(body),
        minimal: true,
    }
}

/// Converts a flag to Graph's form. A due date requires a start date.
fn flag_of(flag: &MessageFlag, now: Timestamp) -> Value {
    let utc = |at: Timestamp| {
        let local = at.strftime("%Y-%m-%dT%H:%M:%S").to_string();
        json!({"dateTime": local, "timeZone": "UTC"})
    };
    match flag {
        MessageFlag::None => json!({"flagStatus": "notFlagged"}),
        MessageFlag::Done => json!({"flagStatus": "complete"}),
        MessageFlag::Set { due: None } => json!({"flagStatus": "flagged"}),
        MessageFlag::Set { due: Some(due) } => json!({
            "flagStatus": "flagged",
            "startDateTime": utc(now.min(*due)),
            "dueDateTime": utc(*due),
        }),
    }
}

/// Returns the state of a message if the response is complete.
fn state(message: &Value) -> Option<MailState> {
    let nothing = MailState {
        id: MessageId::default(),
        unread: false,
        flag: MessageFlag::None,
        folder: FolderId::default(),
        labels: BTreeSet::new(),
        draft: is(message, "isDraft"),
    };
    message.get("isRead")?;
    changed(&nothing, message).filter(|state| !state.id.is_empty() && !state.folder.is_empty())
}

/// Returns the state of a message updated by a response, or `None` if the response contains no
/// state.
fn changed(before: &MailState, message: &Value) -> Option<MailState> {
    let some = |key| Some(text(message, key).to_owned()).filter(|text| !text.is_empty());
    let (read, flag) = (message.get("isRead").and_then(Value::as_bool), message.get("flag"));
    let labels = message.get("categories").and_then(Value::as_array);
    let folder = some("parentFolderId");
    if read.is_none() && flag.is_none() && labels.is_none() && folder.is_none() {
        return None;
    }
    Some(MailState {
        id: some("id").map_or_else(|| before.id.clone(), MessageId::from),
        unread: read.map_or(before.unread, |read| !read),
        flag: flag.map_or_else(|| before.flag.clone(), flag_in),
        folder: folder.map_or_else(|| before.folder.clone(), FolderId::from),
        labels: match labels {
            Some(labels) => labels.iter().filter_map(Value::as_str).map(FolderId::from).collect(),
            None => before.labels.clone(),
        },
        draft: before.draft,
    })
}

/// Converts Graph's flag.
fn flag_in(flag: &Value) -> MessageFlag {
    match text(flag, "flagStatus").to_ascii_lowercase().as_str() {
        "flagged" => MessageFlag::Set { due: due(flag) },
        "complete" => MessageFlag::Done,
        _ => MessageFlag::None,
    }
}

fn due(flag: &Value) -> Option<Timestamp> {
    let due = nested(flag, "dueDateTime");
    let zone = match text(due, "timeZone") {
        "" => "UTC",
        zone => zone,
    };
    time::local(text(due, "dateTime"), zone)
}
