//! Drafts and sending at Outlook.
//!
//! Exchange creates replies and forwards from the original message, which preserves the thread and
//! its header fields; their content is then replaced by ours. Sending is never repeated: if the
//! response is lost, the message is looked up by its Message-ID, in `find.rs`. The conversion of
//! messages is in `mail/drafts.rs`, their attachments are in `files.rs`.
//!
//! A scheduled message stays in the drafts folder until it is sent, and Graph does not report that
//! it is scheduled.

mod files;
pub(super) mod find;
mod upload;

use async_trait::async_trait;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AttachmentId, DraftId, MessageId, ThreadId};
use daysheet_core::provider::mail::{
    AttachmentContent, DraftOrigin, Drafts, MailPerson, OutgoingMessage, SendAlias, SendLookup,
    SendStatus, SentMessage, SourceMessage, StoredDraft, not_a_draft,
};
use daysheet_core::text::{brief, cell};
use files::sizes;
use graph_rs_sdk::http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use upload::files;
use upload::{MAX_FILES, PAGES};

use super::drafts::{
    DRAFT, FILES, ORIGINAL, bracketed, differences, original, properties, recipient, stored_draft,
};
use super::mailbox::{OutlookMailbox, addresses, message_path};
use crate::json::{is, text};
use crate::microsoft::ids::check_as;
use crate::microsoft::response::{not_ours, too_long};
use crate::net;
use crate::written::has_values;

/// The maximum overhead that Exchange counts for an attachment, in bytes.
const BESIDE: u64 = 64 << 10;
/// The property that schedules a message (`PidTagDeferredSendTime`).
const DEFERRED: &str = "SystemTime 0x3FEF";
/// A send time in the past, which causes no delay.
const PAST: &str = "2000-01-01T00:00:00Z";

#[async_trait]
impl Drafts for OutlookMailbox {
    async fn senders(&self) -> Result<Vec<SendAlias>> {
        let alias = |name: Option<String>, address: String, default| SendAlias {
            person: MailPerson { name, address: address.into() },
            signature: None,
            reply_to: None,
            default,
        };
        if self.graph().is_shared() {
            // Only the address of a shared mailbox is known, and it sends as itself.
            return Ok(vec![alias(None, self.address().to_owned(), true)]);
        }
        let senders = self.senders.get_or_try_init(async || {
            let select = [("$select", "displayName,mail,userPrincipalName,proxyAddresses")];
            let user = self.graph().get(&self.graph().user_url(&select)).await?;
            let name = Some(cell(text(&user, "displayName"))).filter(|name| !name.is_empty());
            let addresses = addresses(&user).into_iter().enumerate();
            Ok::<_, Error>(
                addresses.map(|(at, (address, _))| alias(name.clone(), address, at == 0)).collect(),
            )
        });
        senders.await.cloned()
    }

    async fn source_message(&self, id: &MessageId) -> Result<SourceMessage> {
        let (message, files) = self.with_files(id, ORIGINAL).await?;
        Ok(original(&message, &files, self.address()))
    }

    async fn file(&self, message: &MessageId, file: &AttachmentId, most: u64) -> Result<Vec<u8>> {
        // The id is `MESSAGE:ATTACHMENT` as in the table, or the attachment's alone.
        let whole = file.as_str();
        let (message, file) = whole.split_once(':').unwrap_or((message.as_str(), whole));
        check_id(message)?;
        check_as(file, "a3 from mail_read")?;
        let path = format!("{}/{}", files(message), net::path_segment(file));
        let about = self.graph().mailbox_url(&path, &[("$select", "id,name,size")]);
        let about = self.graph().get(&about).await?;
        let size = about.get("size").and_then(Value::as_u64).unwrap_or(0);
        let large = || {
            Error::argument(format!(
                "`{}` is larger than {most} bytes",
                brief(text(&about, "name"))
            ))
            .next("open it in Outlook")
        };
        // Exchange's size includes its overhead, so only sizes far beyond the limit are refused
        // here; the bytes are counted below.
        if size > most.saturating_add(BESIDE) {
            return Err(large());
        }
        if text(&about, "@odata.type").ends_with("referenceAttachment") {
            return Err(Error::argument(format!(
                "`{}` is a link to a file stored elsewhere",
                brief(text(&about, "name"))
            ))
            .next("open the link in the message"));
        }
        let cap = usize::try_from(most).unwrap_or(usize::MAX);
        let request = self.graph().mailbox_url(&format!("{path}/$value"), &[]);
        let bytes = self.graph().bytes(&request, cap).await;
        bytes.map_err(|error| if too_long(&error) { large() } else { error })
    }

    async fn draft(&self, id: &str) -> Result<StoredDraft> {
        let (message, files) = self.with_files(&id.into(), DRAFT).await?;
        if !is(&message, "isDraft") {
            return Err(not_a_draft());
        }
        let folder = text(&message, "parentFolderId");
        if !folder.is_empty()
            && self.tree().await?.names().get(folder).map(String::as_str) == Some("trash")
        {
            return Err(Error::new(ErrorKind::NotFound, "the draft is in Deleted Items")
                .next("take it out with mail_modify do=restore"));
        }
        Ok(stored_draft(&message, &files, self.address()))
    }

    async fn create(
        &self,
        origin: &DraftOrigin,
        outgoing: &OutgoingMessage,
        caller: &dyn ClientPrompts,
    ) -> Result<StoredDraft> {
        sizes(outgoing)?;
        let mut body = properties(outgoing);
        let id = bracketed(&outgoing.message_id);
        // The Message-ID is ours, so that a message in doubt can be found by it.
        body.insert("internetMessageId".to_owned(), id.into());
        // Exchange checks an explicit sender against the right to send as them, so the user's own
        // address is omitted.
        let own = outgoing.from.address.is(self.address());
        if !own || self.graph().is_shared() {
            body.insert("from".to_owned(), recipient(&outgoing.from));
        }
        let body = Value::Object(body);
        let (made, has_copies) = match origin {
            DraftOrigin::New => (self.post_draft(&body, outgoing).await?, false),
            DraftOrigin::Reply { id, all, has_files, .. } => {
                let action = if *all { "createReplyAll" } else { "createReply" };
                (self.draft_reply(id, action, &body, outgoing).await?, *has_files)
            }
            DraftOrigin::Forward { id } => {
                (self.draft_reply(id, "createForward", &body, outgoing).await?, true)
            }
        };
        if !has_copies && outgoing.files.is_empty() && is_whole(&made) {
            return Ok(stored_draft(&made, &[], self.address()));
        }
        let draft = DraftId::from(text(&made, "id"));
        if has_copies {
            let forwards = matches!(origin, DraftOrigin::Forward { .. });
            self.drop_copies(&draft, outgoing, forwards).await?;
        }
        self.put_files(&draft, &outgoing.files, caller).await?;
        self.draft(draft.as_str())
            .await
            .map_err(|error| error.context("the draft was created, but could not be read back"))
    }

    async fn update(
        &self,
        current: &StoredDraft,
        outgoing: &OutgoingMessage,
        caller: &dyn ClientPrompts,
    ) -> Result<StoredDraft> {
        check_id(current.id.as_str())?;
        sizes(outgoing)?;
        let path = message_path(current.id.as_str());
        let body = differences(&current.content, outgoing);
        if body.is_empty() {
            // Changes of files do not change the version, so it is compared here.
            let now = self.graph().mailbox_url(&path, &[("$select", "id,changeKey,isDraft")]);
            let now = self.graph().get(&now).await?;
            if !is(&now, "isDraft") || stored_draft(&now, &[], "").version != current.version {
                return Err(Error::new(ErrorKind::Conflict, "the draft was changed meanwhile")
                    .next("read it again, and repeat the change if it still fits"));
            }
        } else {
            let request = self.graph().mailbox_url(&path, &[]);
            let version = Some(current.version.as_str()).filter(|version| !version.is_empty());
            let body = Value::Object(body);
            let written = async || {
                let select = [("$select", DRAFT)];
                let found = self.graph().there(&self.graph().mailbox_url(&path, &select)).await?;
                let is_ours = |found: &Value| {
                    let now = stored_draft(found, &[], "").version;
                    now != current.version && has_values(Some(found), &body)
                };
                Ok(found.filter(is_ours))
            };
            self.graph()
                .write_for_sure(&Method::PATCH, &request, version, Some(&body), written)
                .await?;
        }
        let stays = |id: &AttachmentId| {
            outgoing.files.iter().any(|file| match &file.content {
                AttachmentContent::Existing { id: existing, .. } => existing == id,
                AttachmentContent::Bytes(_) => false,
            })
        };
        for file in current.content.files.iter().rev() {
            if let AttachmentContent::Existing { id, .. } = &file.content
                && !stays(id)
            {
                self.drop_file(&current.id, id).await.map_err(|error| {
                    error.context(format!(
                        "the draft was changed, but still has `{}`",
                        brief(&file.name)
                    ))
                })?;
            }
        }
        self.put_files(&current.id, &outgoing.files, caller).await?;
        self.draft(current.id.as_str())
            .await
            .map_err(|error| error.context("the draft was changed, but could not be read back"))
    }

    async fn discard(&self, current: &StoredDraft) -> Result<()> {
        check_id(current.id.as_str())?;
        // This deletion moves the message to Deleted Items.
        let request = self.graph().mailbox_url(&message_path(current.id.as_str()), &[]);
        let was_deleted = async || match self.draft(current.id.as_str()).await {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(Value::Null)),
            found => found.map(|_| None),
        };
        self.graph()
            .write_for_sure(&Method::DELETE, &request, None, None, was_deleted)
            .await
            .map(drop)
    }

    async fn send(&self, current: &StoredDraft, when: Option<Timestamp>) -> Result<SentMessage> {
        check_id(current.id.as_str())?;
        let path = message_path(current.id.as_str());
        if let Some(when) = when {
            let value = when.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            // `send` takes no time. Exchange holds back messages with this property.
            let later = json!({
                "singleValueExtendedProperties": [{"id": DEFERRED, "value": value}],
            });
            let request = self.graph().mailbox_url(&path, &[]);
            let version = Some(current.version.as_str()).filter(|version| !version.is_empty());
            let set = async || {
                let select = [("$select", "id,changeKey,isDraft")];
                let now = self.graph().get(&self.graph().mailbox_url(&path, &select)).await?;
                let another = stored_draft(&now, &[], "").version != current.version;
                Ok(another.then_some(now))
            };
            self.graph()
                .write_for_sure(&Method::PATCH, &request, version, Some(&later), set)
                .await
                .map_err(not_sent)?;
        }
        let request = self.graph().mailbox_url(&format!("{path}/send"), &[]);
        // Not repeated even after a 429: a message must not be sent twice.
        let sent = self.graph().post_once(&request).await;
        if let (Some(_), Err(error)) = (when, &sent)
            && !error.is_open()
        {
            // The send was refused, and a later one must not wait for this time. A past time has no
            // effect.
            let now = json!({
                "singleValueExtendedProperties": [{"id": DEFERRED, "value": PAST}],
            });
            let request = self.graph().mailbox_url(&path, &[]);
            self.graph()
                .write(&Method::PATCH, &request, None, Some(&now))
                .await
                .map_err(|again| not_sent(again).context("the draft still waits for its time"))?;
        }
        sent?;
        // Immutable ids do not change when a message moves to Sent Items.
        Ok(SentMessage {
            id: Some(current.message.clone()),
            thread: Some(current.thread.clone()).filter(|thread| !thread.is_empty()),
        })
    }

    async fn send_status(&self, lookup: &SendLookup) -> Result<SendStatus> {
        check_id(lookup.draft.as_str())?;
        let select = [("$select", "id,conversationId,isDraft,parentFolderId")];
        let requests = [
            self.graph().mailbox_url(&message_path(lookup.draft.as_str()), &select),
            self.graph().mailbox_url("mailFolders/outbox", &[("$select", "id")]),
        ];
        let mut answers = self.graph().batch(&requests).await.into_iter();
        let message = answers.next().unwrap_or_else(|| Err(not_ours("message")));
        let outbox = answers.next().unwrap_or_else(|| Err(not_ours("folder")));
        match message {
            Ok(message) => {
                // A message being sent is a draft in the outbox.
                let leaves = outbox.is_ok_and(|outbox| {
                    let outbox = text(&outbox, "id");
                    !outbox.is_empty() && text(&message, "parentFolderId") == outbox
                });
                if is(&message, "isDraft") && !leaves {
                    return Ok(SendStatus::Draft);
                }
                return Ok(SendStatus::Sent(sent_of(&message)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // The received copy of a message to oneself has the same Message-ID, so Sent Items come
        // first.
        for place in ["mailFolders/sentitems/messages", "messages"] {
            let found = self.by_message_id(place, &lookup.message_id).await?;
            // The received copy of a message to oneself is not a draft either.
            if let Some(message) = found.iter().find(|message| !is(message, "isDraft")) {
                return Ok(SendStatus::Sent(sent_of(message)));
            }
            if !found.is_empty() {
                return Ok(SendStatus::Draft);
            }
        }
        Ok(SendStatus::Nowhere)
    }
}

impl OutlookMailbox {
    /// Returns a message with its attachments.
    async fn with_files(&self, id: &MessageId, select: &str) -> Result<(Value, Vec<Value>)> {
        check_id(id.as_str())?;
        let requests = [
            self.graph().mailbox_url(&message_path(id.as_str()), &[("$select", select)]),
            self.graph().mailbox_url(&files(id.as_str()), &[("$select", FILES)]),
        ];
        let mut answers = self.graph().batch(&requests).await.into_iter();
        let message = answers.next().unwrap_or_else(|| Err(not_ours("message")))?;
        if text(&message, "id").is_empty() {
            return Err(not_ours("message"));
        }
        let list = answers.next().unwrap_or_else(|| Err(not_ours("list")))?;
        let (files, whole) = self.graph().all(list, MAX_FILES, PAGES).await?;
        if !whole {
            return Err(Error::argument(format!(
                "the message has more than {MAX_FILES} attachments"
            ))
            .next("open it in Outlook"));
        }
        Ok((message, files))
    }

    /// Creates a new draft; returns Graph's response, which has at least an id.
    async fn post_draft(&self, body: &Value, outgoing: &OutgoingMessage) -> Result<Value> {
        let request = self.graph().mailbox_url("messages", &[]);
        let made = self.graph().write(&Method::POST, &request, None, Some(body));
        match made.await {
            Ok(made) => created(made),
            Err(error) => {
                let made = || self.made_as(outgoing);
                self.graph().settle(error, made).await.map_err(maybe_made)
            }
        }
    }

    /// Lets Exchange create a draft from a message, and replaces its content by ours. Returns
    /// Graph's response, which has at least an id.
    async fn draft_reply(
        &self,
        message: &MessageId,
        action: &str,
        body: &Value,
        outgoing: &OutgoingMessage,
    ) -> Result<Value> {
        check_id(message.as_str())?;
        // After a lost response, the draft may not have our Message-ID yet; it is then found by
        // thread and time.
        let since = self.graph().now();
        let request =
            self.graph().mailbox_url(&format!("{}/{action}", message_path(message.as_str())), &[]);
        let make = async |content: Value| {
            self.graph().write(&Method::POST, &request, None, Some(&content)).await
        };
        let made = match make(json!({ "message": body })).await {
            // A 400 means that nothing was created; Exchange may refuse the message but accept an
            // empty body.
            Err(error) if error.kind() == ErrorKind::Provider(400) => make(json!({})).await,
            made => made,
        };
        let made = match made {
            Ok(made) => created(made)?,
            Err(error) => {
                let made = async || match self.made_as(outgoing).await? {
                    None => self.made_since(message, since).await,
                    found => Ok(found),
                };
                self.graph().settle(error, made).await.map_err(maybe_made)?
            }
        };
        // Properties that Exchange did not take over are written again.
        if has_values(Some(&made), body) {
            return Ok(made);
        }
        let draft = text(&made, "id").to_owned();
        let request = self.graph().mailbox_url(&message_path(&draft), &[]);
        let write = || self.graph().write(&Method::PATCH, &request, None, Some(body));
        let written = match write().await {
            // Writing the same properties again is harmless.
            Err(error) if error.is_open() => write().await,
            other => other,
        };
        let written = match written {
            Err(error) => {
                let filled = async || {
                    let select = [("$select", DRAFT)];
                    let found = self.graph().mailbox_url(&message_path(&draft), &select);
                    let found = self.graph().there(&found).await?;
                    Ok(found.filter(|found| has_values(Some(found), body)))
                };
                self.graph().settle(error, filled).await.map(Some)
            }
            done => done,
        };
        let error = match written {
            Ok(now) => return Ok(now.filter(is_whole).unwrap_or(made)),
            Err(error) => error,
        };
        // A draft without its text is of no use.
        let why = error.message();
        Err(match self.graph().delete(&request, None).await {
            Ok(()) => Error::new(
                ErrorKind::Provider(503),
                format!("the draft's text could not be written, and it was deleted ({why})"),
            )
            .next("try again in a minute"),
            Err(_) => {
                error.context("an empty draft was created, but its text could not be written")
            }
        })
    }
}

fn check_id(id: &str) -> Result<()> {
    check_as(id, "m12 from a search, or d5 from mail_draft")
}

/// Returns a created message after checking that it has an id.
fn created(made: Option<Value>) -> Result<Value> {
    made.filter(|made| !text(made, "id").is_empty()).ok_or_else(|| not_ours("message"))
}

/// Returns true if a response has all properties of a message except its attachments.
fn is_whole(message: &Value) -> bool {
    let has = |key: &str| message.get(key).is_some();
    ["id", "conversationId", "body", "toRecipients", "isDraft"].into_iter().all(has)
}

fn sent_of(message: &Value) -> SentMessage {
    let some = |key| Some(text(message, key)).filter(|id| !id.is_empty());
    SentMessage {
        id: some("id").map(MessageId::from),
        thread: some("conversationId").map(ThreadId::from),
    }
}

/// Returns the error for a draft that may have been created, but was not found.
fn maybe_made(error: Error) -> Error {
    if !error.is_open() {
        return error;
    }
    Error::new(
        error.kind(),
        format!("Outlook did not answer, and no new draft was found ({})", error.message()),
    )
    .next("check with mail_search in:drafts before retrying")
}

/// Converts an error before sending, after which nothing can be in doubt.
fn not_sent(error: Error) -> Error {
    if !error.is_open() {
        return error;
    }
    Error::new(
        ErrorKind::Provider(503),
        format!("the send time could not be set, and nothing was sent ({})", error.message()),
    )
    .next("try again in a minute")
}
