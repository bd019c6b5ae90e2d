//! Drafts at Gmail: finding them, reading them, and looking them up if a response was lost.
//!
//! A draft keeps its id, but every change gives its message a new one. The message's id is
//! therefore the version of a draft.

use std::collections::HashMap;
use std::slice;

use daysheet_core::compose::ids::{ends, within};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{DraftId, EmailAddress, MessageId};
use daysheet_core::provider::mail::{
    AttachmentContent, MailPerson, OutgoingAttachment, OutgoingMessage, StoredDraft, not_a_draft,
};
use daysheet_core::text::html::{TextStyle, html};
use serde_json::Value;

use crate::google::mail::fetch::list;
use crate::google::mail::mailbox::{GmailMailbox, ME, call};
use crate::google::mail::messages::{
    as_html, existing_files, field, fields, importance, is_under, message_id, people, subject,
};
use crate::google::mail::requests::check;
use crate::json::text;

/// The number of drafts per page, and the maximum number of pages searched for one draft.
const AT_ONCE: &str = "500";
const PAGES: usize = 20;
/// The number of newest drafts among which a draft is looked for that may have been created.
const NEWEST: &str = "10";

impl GmailMailbox {
    /// Returns a draft by its own id, with all parts.
    pub(super) async fn draft_of(&self, id: &DraftId) -> Result<StoredDraft> {
        check(id.as_str())?;
        let in_path = id.as_str();
        let draft =
            call!(self, "id,message", |users| users.drafts_get(ME, in_path).format("full"))?;
        let message = draft.get("message").unwrap_or(&Value::Null);
        // A discarded draft still exists, but Gmail sends nothing from the trash.
        if is_under(message, "TRASH") {
            return Err(Error::new(ErrorKind::NotFound, "the draft is in the trash")
                .next("take it out with mail_modify do=restore"));
        }
        self.read_draft(&draft).await
    }

    /// Returns the id of a draft's present message.
    pub(super) async fn version(&self, draft: &DraftId) -> Result<MessageId> {
        check(draft.as_str())?;
        let params = [("format", "minimal"), ("fields", "id,message/id")];
        let found = self.get(&["drafts", draft.as_str()], &params).await?;
        let message = found.get("message").unwrap_or(&Value::Null);
        Ok(text(message, "id").into())
    }

    /// Refuses a draft that has changed since it was fetched.
    pub(super) async fn check_unchanged(&self, current: &StoredDraft) -> Result<()> {
        match self.version(&current.id).await? {
            version if version == current.version.as_str() => Ok(()),
            _ => Err(draft_conflict()),
        }
    }

    /// Returns the id of the draft that has this message.
    pub(super) async fn draft_with(&self, message: &MessageId) -> Result<DraftId> {
        check(message.as_str())?;
        let params = [
            ("format", "metadata"),
            ("metadataHeaders", "Message-ID"),
            ("fields", "id,labelIds,payload/headers"),
        ];
        let item = self.get(&["messages", message.as_str()], &params).await?;
        if !is_under(&item, "DRAFT") {
            return Err(not_a_draft());
        }
        let is = |draft: &Value| {
            draft.pointer("/message/id").and_then(Value::as_str) == Some(message.as_str())
        };
        // One request, instead of a list of up to 10,000 drafts.
        if let Some(id) = searchable(&field(&item, "Message-ID"))
            && let Some(found) = self.drafts_found(&id).await?.iter().find(|one| is(one))
        {
            return Ok(text(found, "id").into());
        }
        // The search index lags behind; the list is always current.
        let found = self.drafts_with(slice::from_ref(message)).await?.remove(message);
        found.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, "Gmail does not say which draft this message is")
                .next("search in:drafts again")
        })
    }

    /// Returns the ids of drafts by the ids of their messages. They are found in the list of all
    /// drafts, because a message does not name its draft.
    pub(super) async fn drafts_with(
        &self,
        messages: &[MessageId],
    ) -> Result<HashMap<MessageId, DraftId>> {
        let mut found = HashMap::new();
        let mut token = String::new();
        for _ in 0..PAGES {
            let mut params = vec![
                ("maxResults", AT_ONCE),
                ("includeSpamTrash", "true"),
                ("fields", "drafts(id,message/id),nextPageToken"),
            ];
            if !token.is_empty() {
                params.push(("pageToken", &token));
            }
            let page = self.get(&["drafts"], &params).await?;
            for draft in list(&page, "drafts") {
                let message = draft.pointer("/message/id").and_then(Value::as_str);
                if let Some(message) = messages.iter().find(|id| Some(id.as_str()) == message) {
                    found.insert(message.clone(), text(&draft, "id").into());
                }
            }
            token = text(&page, "nextPageToken").to_owned();
            if token.is_empty() || found.len() == messages.len() {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the drafts that Gmail's search finds for a Message-ID.
    async fn drafts_found(&self, message_id: &str) -> Result<Vec<Value>> {
        let query = format!("rfc822msgid:{message_id}");
        let params = [("q", query.as_str()), ("fields", "drafts(id,message/id)")];
        Ok(list(&self.get(&["drafts"], &params).await?, "drafts"))
    }

    /// Returns the id of the draft with a Message-ID of ours, if it exists. Because the search
    /// index lags behind, the newest drafts are checked, too.
    pub(super) async fn made_as(&self, expected: &str) -> Result<Option<DraftId>> {
        let newest = [("maxResults", NEWEST), ("fields", "drafts(id,message/id)")];
        let mut known = self.drafts_found(expected).await?;
        known.extend(list(&self.get(&["drafts"], &newest).await?, "drafts"));
        for draft in known {
            let message = draft.get("message").unwrap_or(&Value::Null);
            let params = [
                ("format", "metadata"),
                ("metadataHeaders", "Message-ID"),
                ("fields", "id,payload/headers"),
            ];
            // A draft that was changed or deleted meanwhile is no match.
            let path = ["messages", text(message, "id")];
            let is_it =
                |item: Value| message_id(&field(&item, "Message-ID")).as_deref() == Some(expected);
            if self.there(&path, &params).await?.is_some_and(is_it) {
                return Ok(Some(text(&draft, "id").into()));
            }
        }
        Ok(None)
    }

    /// Converts one of Gmail's drafts.
    async fn read_draft(&self, draft: &Value) -> Result<StoredDraft> {
        let item = draft.get("message").unwrap_or(&Value::Null);
        let message = text(item, "id").to_owned();
        let texts = self.texts(item).await?;
        let shown = texts.html.clone().unwrap_or_default();
        let files = existing_files(item).into_iter().map(|file| OutgoingAttachment {
            name: file.name,
            media: file.media,
            // Gmail gives every attachment a Content-ID, even if the HTML does not refer to it.
            cid: file.cid.filter(|cid| shown.contains(&format!("cid:{cid}"))),
            content: AttachmentContent::Existing { id: file.id, size: file.size },
        });
        let files = files.collect();
        // A draft with one form gets the other, so that both have the same text.
        let (plain, html) = match (texts.plain, texts.html) {
            (Some(plain), Some(html)) => (plain, html),
            (Some(plain), None) => (plain.clone(), as_html(&plain)),
            (None, Some(rich)) => (html(&rich, TextStyle::Text, false).text, rich),
            (None, None) => (String::new(), String::new()),
        };
        let nobody = MailPerson { name: None, address: EmailAddress::default() };
        Ok(StoredDraft {
            id: text(draft, "id").into(),
            thread: text(item, "threadId").into(),
            version: message.clone(),
            message: message.into(),
            content: OutgoingMessage {
                message_id: message_id(&field(item, "Message-ID")).unwrap_or_default(),
                from: people(item, "From").into_iter().next().unwrap_or(nobody),
                to: people(item, "To"),
                cc: people(item, "Cc"),
                bcc: people(item, "Bcc"),
                reply_to: people(item, "Reply-To"),
                subject: subject(item),
                text: plain,
                html,
                importance: importance(item),
                in_reply_to: within(&field(item, "In-Reply-To")).next().and_then(message_id),
                references: ends(
                    fields(item, &["References"]).iter().flat_map(|(_, value)| within(value)),
                ),
                files,
            },
        })
    }
}

/// Returns the error for a draft that has changed since it was fetched.
pub(super) fn draft_conflict() -> Error {
    Error::new(ErrorKind::Conflict, "the draft was changed meanwhile")
        .next("read it again, and repeat the change if it still fits")
}

/// Returns a Message-ID as a search term, if it is safe.
fn searchable(value: &str) -> Option<String> {
    message_id(value)
        .filter(|id| id.bytes().all(|byte| !matches!(byte, b'"' | b'(' | b')' | b'{' | b'}')))
}
