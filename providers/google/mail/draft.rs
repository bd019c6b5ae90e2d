//! Drafts and sending at Gmail.
//!
//! Every write is sent once. An interrupted one is looked up before it is reported: by the
//! Message-ID, which is ours, or by the id of the draft's message, which changes with the draft.

mod drafts;
mod upload;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::compose::ids::{ends, within};
use daysheet_core::compose::mime;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AttachmentId, DraftId, MessageId, ThreadId};
use daysheet_core::provider::mail::{
    AttachmentContent, DraftOrigin, Drafts, MailPerson, OutgoingMessage, SendAlias, SendLookup,
    SendStatus, SentMessage, SourceMessage, StoredDraft,
};
use daysheet_core::text::cell;
use drafts::draft_conflict;
use hyper::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use upload::MAX_MESSAGE;

use super::fetch::list;
use super::mailbox::GmailMailbox;
use super::messages::{
    ascii, existing_files, field, fields, is_under, message_id, people, sent_at, subject,
};
use super::requests::check;
use crate::google::client;
use crate::json::text;

/// The field with the original Message-ID, if Gmail has replaced it.
const REPLACED: &str = "X-Google-Original-Message-ID";
/// The time for which the addresses to send from are cached.
const SENDERS_LAST: Duration = Duration::from_mins(10);
/// Header fields that are passed on unchanged.
const HANDED_ON: &[&str] = &["List-Unsubscribe", "List-Unsubscribe-Post", "Authentication-Results"];

#[async_trait]
impl Drafts for GmailMailbox {
    async fn senders(&self) -> Result<Vec<SendAlias>> {
        let mut known = self.senders.lock().await;
        if let Some((when, senders)) = known.as_ref()
            && when.elapsed() < SENDERS_LAST
        {
            return Ok(senders.clone());
        }
        let fields = "sendAs(sendAsEmail,displayName,replyToAddress,signature,isPrimary,\
                      isDefault,verificationStatus)";
        let answer = self.get(&["settings", "sendAs"], &[("fields", fields)]).await?;
        let senders = usable(&client::items_of(answer, "sendAs")?);
        *known = Some((Instant::now(), senders.clone()));
        Ok(senders)
    }

    async fn source_message(&self, id: &MessageId) -> Result<SourceMessage> {
        let item = self.whole(id).await?;
        let from = people(&item, "From");
        let own = is_under(&item, "SENT") || self.is_own(&from).await?;
        let texts = self.texts(&item).await?;
        // RFC 5322, 3.6.4: without References, the parent's In-Reply-To is used.
        let before = match ends(within(&field(&item, "References"))) {
            none if none.is_empty() => ends(within(&field(&item, "In-Reply-To"))),
            some => some,
        };
        Ok(SourceMessage {
            id: text(&item, "id").into(),
            thread: text(&item, "threadId").into(),
            message_id: message_id(&field(&item, "Message-ID")).unwrap_or_default(),
            references: before,
            subject: subject(&item),
            from,
            reply_to: people(&item, "Reply-To"),
            to: people(&item, "To"),
            cc: people(&item, "Cc"),
            sent: sent_at(&item),
            text: texts.plain,
            html: texts.html,
            files: existing_files(&item),
            own,
            draft: is_under(&item, "DRAFT"),
            headers: fields(&item, HANDED_ON),
        })
    }

    async fn file(&self, message: &MessageId, file: &AttachmentId, most: u64) -> Result<Vec<u8>> {
        self.bytes(message, file, most).await
    }

    async fn draft(&self, id: &str) -> Result<StoredDraft> {
        match self.draft_of(&id.into()).await {
            // The id may be that of the draft's message, which is what lists show.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let draft = self.draft_with(&id.into()).await?;
                self.draft_of(&draft).await
            }
            draft => draft,
        }
    }

    async fn draft_message(&self, id: &DraftId) -> Result<MessageId> {
        self.version(id).await
    }

    async fn draft_ids(&self, messages: &[MessageId]) -> Result<HashMap<MessageId, DraftId>> {
        self.drafts_with(messages).await
    }

    async fn create(
        &self,
        origin: &DraftOrigin,
        outgoing: &OutgoingMessage,
        caller: &dyn ClientPrompts,
    ) -> Result<StoredDraft> {
        // A forwarded message begins a thread of its own.
        let thread = match origin {
            DraftOrigin::Reply { thread, .. } => Some(thread),
            DraftOrigin::New | DraftOrigin::Forward { .. } => None,
        };
        let bytes = written(outgoing.clone(), self.google.now()).await?;
        let id = match self.put_draft(None, thread, &bytes, caller).await {
            Ok(made) => match just_made(&made, outgoing) {
                Some(draft) => return Ok(draft),
                None => text(&made, "id").into(),
            },
            Err(error) => {
                let made = || self.made_as(&outgoing.message_id);
                self.google.settle(error, made).await?
            }
        };
        self.draft_of(&id).await.map_err(|error| made_all_the_same(error, &id))
    }

    async fn update(
        &self,
        current: &StoredDraft,
        outgoing: &OutgoingMessage,
        caller: &dyn ClientPrompts,
    ) -> Result<StoredDraft> {
        self.check_unchanged(current).await?;
        // Gmail replaces the whole message, so existing attachments are uploaded again.
        let whole = self.with_bytes(current, outgoing).await?;
        let bytes = written(whole, self.google.now()).await?;
        // Uploading may have taken time. Gmail has no version condition for the change itself.
        if !current.content.files.is_empty() {
            self.check_unchanged(current).await?;
        }
        let thread = Some(&current.thread).filter(|thread| !thread.is_empty());
        let put = self.put_draft(Some(&current.id), thread, &bytes, caller).await;
        if let Err(error) = put {
            // Someone else may have changed it: the new version is ours if it has our content.
            let changed_draft = async || {
                let found = self.draft_of(&current.id).await?;
                let another = found.version != current.version;
                Ok((another && says(&found.content, outgoing)).then_some(found))
            };
            return self.google.settle(error, changed_draft).await;
        }
        self.draft_of(&current.id).await.map_err(|error| made_all_the_same(error, &current.id))
    }

    /// Moves a draft's message to the trash, because Gmail deletes drafts permanently. It remains a
    /// draft there, and can be restored for 30 days.
    async fn discard(&self, current: &StoredDraft) -> Result<()> {
        check(current.message.as_str())?;
        let path = ["messages", current.message.as_str(), "trash"];
        let Err(error) = self.change(Method::POST, &path, None).await else {
            return Ok(());
        };
        match error.kind() {
            // The message was replaced by a new version, or the draft was deleted.
            ErrorKind::NotFound => match self.version(&current.id).await {
                Ok(_) => Err(draft_conflict()),
                Err(_) => Err(error),
            },
            _ => {
                let params = [("format", "minimal"), ("fields", "id,labelIds")];
                let trashed = async || {
                    let item = self.get(&["messages", current.message.as_str()], &params).await?;
                    Ok(is_under(&item, "TRASH").then_some(()))
                };
                self.google.settle(error, trashed).await
            }
        }
    }

    /// Sends a draft, unless it has changed since it was fetched.
    async fn send(&self, current: &StoredDraft, at: Option<Timestamp>) -> Result<SentMessage> {
        if at.is_some() {
            return Err(Error::argument("Gmail's API cannot schedule mail")
                .next("send it now, or schedule the draft in Gmail"));
        }
        self.check_unchanged(current).await.map_err(|error| {
            if error.is_open() {
                // Reading failed, so nothing was sent.
                Error::new(ErrorKind::Provider(503), error.message()).next("try again")
            } else {
                error
            }
        })?;
        let body = json!({ "id": current.id });
        let url = self.at(&["drafts", "send"], &[])?;
        // Not repeated even after a 429: a message must not be sent twice.
        let sent = self.google.send_once(&url, &body).await?;
        Ok(sent_message(&sent))
    }

    /// Looks up a message. Gmail's search finds it only some seconds after it was sent: soon after
    /// an attempt, [`SendStatus::Nowhere`] means to look again, not that nothing was sent.
    async fn send_status(&self, lookup: &SendLookup) -> Result<SendStatus> {
        let query = format!("rfc822msgid:{}", lookup.message_id);
        let params = [
            ("q", query.as_str()),
            ("includeSpamTrash", "true"),
            ("maxResults", "10"),
            ("fields", "messages(id,threadId)"),
        ];
        let found = list(&self.get(&["messages"], &params).await?, "messages");
        for one in &found {
            let id = text(one, "id");
            check(id)?;
            let params = [
                ("format", "metadata"),
                ("metadataHeaders", "Message-ID"),
                ("metadataHeaders", REPLACED),
                ("fields", "id,threadId,labelIds,payload/headers"),
            ];
            match self.get(&["messages", id], &params).await {
                Ok(item) if is_under(&item, "SENT") && is_it(&item, &lookup.message_id) => {
                    return Ok(SendStatus::Sent(sent_message(&item)));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        match self.version(&lookup.draft).await {
            // Sending would have removed the draft.
            Ok(_) => return Ok(SendStatus::Draft),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let sent = self.sent_in_thread(lookup).await?;
        Ok(sent.map_or(SendStatus::Nowhere, SendStatus::Sent))
    }
}

impl GmailMailbox {
    /// Returns the sent message of a thread whose draft has disappeared, which the search may not
    /// have indexed yet. It is recognized by its Message-ID, which Gmail keeps in another field if
    /// it assigns its own.
    async fn sent_in_thread(&self, lookup: &SendLookup) -> Result<Option<SentMessage>> {
        check(lookup.thread.as_str())?;
        let params = [
            ("format", "metadata"),
            ("metadataHeaders", "Message-ID"),
            ("metadataHeaders", REPLACED),
            ("fields", "messages(id,threadId,labelIds,internalDate,payload/headers)"),
        ];
        let thread = match self.get(&["threads", lookup.thread.as_str()], &params).await {
            Ok(thread) => thread,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let messages = list(&thread, "messages");
        let sent = || messages.iter().filter(|item| is_under(item, "SENT"));
        let found = sent().find(|item| is_it(item, &lookup.message_id));
        Ok(found.map(sent_message))
    }

    /// Returns true if the account can send from one of these addresses.
    async fn is_own(&self, from: &[MailPerson]) -> Result<bool> {
        if from.is_empty() {
            return Ok(false);
        }
        let aliases = self.senders().await?;
        let same = |one: &MailPerson, other: &MailPerson| one.address.is(&other.address);
        Ok(from.iter().any(|one| aliases.iter().any(|alias| same(one, &alias.person))))
    }

    /// Returns the message with the bytes of the draft's existing attachments filled in.
    async fn with_bytes(
        &self,
        current: &StoredDraft,
        outgoing: &OutgoingMessage,
    ) -> Result<OutgoingMessage> {
        let mut outgoing = outgoing.clone();
        let is_existing =
            |content: &AttachmentContent| matches!(content, AttachmentContent::Existing { .. });
        if !outgoing.files.iter().any(|file| is_existing(&file.content)) {
            return Ok(outgoing);
        }
        let item = self.whole(&current.message).await.map_err(|error| match error.kind() {
            ErrorKind::NotFound => draft_conflict(),
            _ => error,
        })?;
        let most = u64::try_from(MAX_MESSAGE).unwrap_or(u64::MAX);
        for file in &mut outgoing.files {
            if let AttachmentContent::Existing { id, .. } = &file.content {
                let part = id.as_str().rsplit('/').next().unwrap_or_default();
                let bytes = self.bytes_of(&item, part, most).await?;
                file.content = AttachmentContent::Bytes(Arc::from(bytes));
            }
        }
        Ok(outgoing)
    }
}

/// Writes a message as MIME on a blocking thread: files may have many megabytes.
async fn written(outgoing: OutgoingMessage, date: Timestamp) -> Result<Vec<u8>> {
    let work = move || mime(&outgoing, date);
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::new(ErrorKind::Internal, "the message could not be written"))?
}

/// Returns the draft that was just created, or `None` if Gmail's response lacks an id. It need not
/// be read back, because Gmail stores messages unchanged.
fn just_made(made: &Value, outgoing: &OutgoingMessage) -> Option<StoredDraft> {
    let message = made.get("message")?;
    let [id, version, thread] =
        [(made, "id"), (message, "id"), (message, "threadId")].map(|(of, key)| text(of, key));
    let whole = ![id, version, thread].contains(&"");
    whole.then(|| StoredDraft {
        id: id.into(),
        message: version.into(),
        thread: thread.into(),
        version: version.to_owned(),
        content: outgoing.clone(),
    })
}

/// Returns the usable addresses, the default one first.
fn usable(aliases: &[Value]) -> Vec<SendAlias> {
    let is = |alias: &Value, key: &str| alias.get(key) == Some(&Value::Bool(true));
    let name =
        |alias: &Value| Some(cell(text(alias, "displayName"))).filter(|name| !name.is_empty());
    // Addresses without a name are used with the main address's name.
    let usual = aliases.iter().find(|alias| is(alias, "isPrimary")).and_then(name);
    let person =
        |address: &str, name: Option<String>| MailPerson { name, address: ascii(address).into() };
    let mut found: Vec<_> = aliases
        .iter()
        // Only custom aliases are verified; the main address always works.
        .filter(|alias| is(alias, "isPrimary") || text(alias, "verificationStatus") == "accepted")
        .filter(|alias| text(alias, "sendAsEmail").contains('@'))
        .map(|alias| SendAlias {
            person: person(text(alias, "sendAsEmail"), name(alias).or(usual.clone())),
            signature: Some(text(alias, "signature").to_owned())
                .filter(|html| !html.trim().is_empty()),
            reply_to: Some(text(alias, "replyToAddress"))
                .filter(|address| address.contains('@'))
                .map(|address| person(address, None)),
            default: is(alias, "isDefault"),
        })
        .collect();
    found.sort_by_key(|alias| !alias.default);
    if let Some(first) = found.first_mut() {
        first.default = true;
    }
    found
}

/// Returns true if a draft has the content of a message, as far as Gmail stores it unchanged.
fn says(stored: &OutgoingMessage, outgoing: &OutgoingMessage) -> bool {
    let people = |list: &[MailPerson]| -> Vec<String> {
        list.iter().map(|one| one.address.lower()).collect()
    };
    let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let names = |outgoing: &OutgoingMessage| -> Vec<String> {
        outgoing.files.iter().map(|file| file.name.clone()).collect()
    };
    people(&stored.to) == people(&outgoing.to)
        && people(&stored.cc) == people(&outgoing.cc)
        && people(&stored.bcc) == people(&outgoing.bcc)
        && bare(&stored.subject) == bare(&outgoing.subject)
        && bare(&stored.text) == bare(&outgoing.text)
        && bare(&stored.html) == bare(&outgoing.html)
        && stored.importance == outgoing.importance
        && names(stored) == names(outgoing)
}

/// Returns true if a message has this Message-ID, or had it before Gmail replaced it.
fn is_it(item: &Value, expected: &str) -> bool {
    ["Message-ID", REPLACED]
        .iter()
        .any(|name| message_id(&field(item, name)).as_deref() == Some(expected))
}

fn sent_message(item: &Value) -> SentMessage {
    let some = |key| Some(text(item, key)).filter(|id| !id.is_empty());
    SentMessage {
        id: some("id").map(MessageId::from),
        thread: some("threadId").map(ThreadId::from),
    }
}

/// Adds to an error that the draft was saved and only could not be read back.
fn made_all_the_same(error: Error, id: &DraftId) -> Error {
    let kind = match error.kind() {
        // Not a write in doubt: the draft is saved, and only reading it failed.
        ErrorKind::Network | ErrorKind::Timeout => ErrorKind::Provider(502),
        kind => kind,
    };
    Error::new(
        kind,
        format!("the draft was saved, but could not be read back: {}", error.message()),
    )
    .next(format!("do not create it again; its id is {id}"))
}
