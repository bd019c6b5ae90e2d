//! Lookups of drafts and sent messages at Outlook, by Message-ID, thread or time.

use daysheet_core::error::Result;
use daysheet_core::ids::{MessageId, ThreadId};
use daysheet_core::provider::mail::OutgoingMessage;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::upload::{MAX_FILES, PAGES};
use crate::json::text;
use crate::microsoft::mail::drafts::bracketed;
use crate::microsoft::mail::mailbox::{OutlookMailbox, message_path};

/// The property with the creation time of a draft.
pub(in crate::microsoft::mail) const MADE: &str = "createdDateTime";
/// The maximum lag of the service's clock behind ours when a draft is looked up.
const BEHIND: SignedDuration = SignedDuration::from_secs(2);

impl OutlookMailbox {
    /// Returns the draft with the Message-ID of `outgoing`, if it exists.
    pub(super) async fn made_as(&self, outgoing: &OutgoingMessage) -> Result<Option<Value>> {
        let place = "mailFolders/drafts/messages";
        let mut found = self.by_message_id(place, &outgoing.message_id).await?.into_iter();
        Ok(found.next())
    }

    /// Returns the draft of the message's thread that was just created, if there is exactly one.
    pub(super) async fn made_since(
        &self,
        message: &MessageId,
        since: Timestamp,
    ) -> Result<Option<Value>> {
        let request = self
            .graph()
            .mailbox_url(&message_path(message.as_str()), &[("$select", "id,conversationId")]);
        let message = self.graph().get(&request).await?;
        let drafts = self.drafts_of(&text(&message, "conversationId").into()).await?;
        let new: Vec<&Value> = drafts
            .iter()
            .filter(|draft| {
                let made = text(draft, MADE).parse::<Timestamp>();
                made.is_ok_and(|made| made + BEHIND >= since)
            })
            .collect();
        Ok(match new.as_slice() {
            [one] => Some((*one).clone()),
            _ => None,
        })
    }

    /// Returns the ids and creation times of the drafts in a thread, unsorted.
    pub(in crate::microsoft::mail) async fn drafts_of(
        &self,
        thread: &ThreadId,
    ) -> Result<Vec<Value>> {
        let filter = format!("conversationId eq '{}'", thread.as_str().replace('\'', "''"));
        let select = format!("id,{MADE}");
        let query = [("$filter", filter.as_str()), ("$select", &select), ("$top", "100")];
        let request = self.graph().mailbox_url("mailFolders/drafts/messages", &query);
        let answer = self.graph().get(&request).await?;
        Ok(self.graph().all(answer, MAX_FILES, PAGES).await?.0)
    }

    /// Returns the messages of a list that have this Message-ID.
    pub(super) async fn by_message_id(&self, list: &str, message_id: &str) -> Result<Vec<Value>> {
        let quoted = bracketed(message_id).replace('\'', "''");
        let filter = format!("internetMessageId eq '{quoted}'");
        let query =
            [("$filter", filter.as_str()), ("$select", "id,conversationId,isDraft,parentFolderId")];
        let answer = self.graph().get(&self.graph().mailbox_url(list, &query)).await?;
        Ok(self.graph().all(answer, MAX_FILES, PAGES).await?.0)
    }
}
