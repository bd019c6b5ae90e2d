//! Gmail's drafts, and sending: turning the messages of requests into messages of the mailbox.
//!
//! As in Gmail, updating a draft replaces its message and keeps the draft's id, and sending removes
//! the draft and creates a message with an id of its own. Delivery itself is in `delivery.rs`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::context::{GmailContext, number};
use super::resources;
use super::settings;
use crate::delivery::{self, SendOptions, UnsentReason};
use crate::google::body::{bytes, inner, text};
use crate::google::error;
use crate::http::HttpResponse;
use crate::store::mailbox::Mailbox;
use crate::store::mailbox::change::{MailboxChange, MailboxEntry};
use crate::store::message::{self, Message};
use crate::store::threads;

/// The parameters of the list.
pub(super) const LIST: &[&str] = &["q", "maxResults", "pageToken", "includeSpamTrash"];

/// The message in a request: its bytes, and the requested thread.
struct RequestedMessage {
    raw: Vec<u8>,
    thread: Option<u64>,
}

impl GmailContext<'_> {
    /// Returns a draft with its message.
    pub fn draft(&self, id: &str) -> Result<Value, HttpResponse> {
        let message = message_of(self.mailbox, id)?;
        let message = self.message_json(message, self.format(true)?);
        Ok(json!({ "id": id, "message": message }))
    }

    /// Creates a draft.
    pub fn make_draft(&self) -> Result<Value, HttpResponse> {
        let requested = self.requested_message(inner(&self.body, "message")?)?;
        let entry = Box::new(self.entry(requested, vec!["DRAFT".to_owned()])?);
        self.change_draft(MailboxChange::Enters(entry))
    }

    /// Replaces a draft's message.
    pub fn update_draft(&self, id: &str) -> Result<Value, HttpResponse> {
        let old = message_of(self.mailbox, id)?;
        let requested = self.requested_message(inner(&self.body, "message")?)?;
        let entry = Box::new(self.entry(requested, vec!["DRAFT".to_owned()])?);
        self.change_draft(MailboxChange::Replaces(old.id, entry))
    }

    /// Sends a draft.
    pub fn send_draft(&self) -> Result<Value, HttpResponse> {
        let id = text(&self.body, "id")?.ok_or_else(|| error::invalid("Invalid draft"))?;
        let draft = message_of(self.mailbox, id)?.id;
        let sender = &self.mailbox.address;
        let id =
            delivery::deliver(self.state, sender, draft, SendOptions::GMAIL).map_err(refusal)?;
        self.brief(id)
    }

    /// Carries out a change and returns the id of the changed message.
    fn change(&self, change: MailboxChange) -> Result<u64, HttpResponse> {
        let about = self.state.change(&self.mailbox.address, |_| Some(change));
        about.ok_or_else(error::not_found)
    }

    /// Carries out a change and returns the resulting draft.
    fn change_draft(&self, change: MailboxChange) -> Result<Value, HttpResponse> {
        let id = self.change(change)?;
        let draft = self.now()?.draft_id(id);
        let draft = draft.ok_or_else(error::not_found)?;
        Ok(json!({ "id": resources::draft_id(draft), "message": self.brief(id)? }))
    }

    /// Returns a message as the writing methods do.
    fn brief(&self, id: u64) -> Result<Value, HttpResponse> {
        let message = self.now()?.message(id);
        message.map(resources::brief).ok_or_else(error::not_found)
    }

    /// Returns the message in a request, from its JSON or its upload.
    fn requested_message(
        &self,
        message: Option<&Map<String, Value>>,
    ) -> Result<RequestedMessage, HttpResponse> {
        let empty = Map::new();
        let message = message.unwrap_or(&empty);
        // An upload takes precedence: its JSON has only the metadata.
        let raw = match &self.upload {
            Some(upload) => Some(upload.clone()),
            None => bytes(message, "raw")?,
        };
        let thread = text(message, "threadId")?.filter(|id| !id.is_empty());
        let raw = raw.filter(|raw| !raw.is_empty()).ok_or_else(|| {
            error::invalid(
                "'raw' RFC822 payload message string or uploading message via /upload/* URL \
                 required",
            )
        })?;
        Ok(RequestedMessage {
            raw: message::wire_form(&raw),
            thread: thread.map(number).transpose()?,
        })
    }

    /// Returns a request's message as one that arrives in the mailbox now.
    fn entry(
        &self,
        requested: RequestedMessage,
        labels: Vec<String>,
    ) -> Result<MailboxEntry, HttpResponse> {
        let date = self.state.tick();
        let thread = self.requested_thread(&requested)?;
        // Gmail adds missing `Date`, `From` and `Message-ID` fields when it stores a draft.
        let raw = if labels.iter().any(|label| label == "DRAFT") {
            delivery::complete(self.of_owner(requested.raw), &self.mailbox.address, date)
        } else {
            requested.raw
        };
        let raw: Arc<[u8]> = raw.into();
        let facts = delivery::facts_at(&raw, date).map_err(refusal)?;
        Ok(MailboxEntry { raw, facts, labels, thread })
    }

    /// Returns the requested thread if the message belongs to it: the message must refer to one of
    /// its messages and have the same subject.
    fn requested_thread(&self, requested: &RequestedMessage) -> Result<Option<u64>, HttpResponse> {
        let Some(thread) = requested.thread else {
            return Ok(None);
        };
        let messages = self.mailbox.thread(thread);
        let messages = messages.ok_or_else(error::not_found)?;
        // A draft may lack all header fields, and refers to no message.
        let Ok(facts) = message::facts(&requested.raw, None) else {
            return Ok(None);
        };
        let subject = threads::subject(&facts.subject);
        let belongs = |message: &&Message| {
            facts.references.contains(&message.facts.message_id)
                && threads::subject(&message.facts.subject) == subject
        };
        // Gmail ignores an unsuitable `threadId` rather than refusing the draft.
        Ok(messages.iter().any(belongs).then_some(thread))
    }

    /// Returns a draft with a sender that the owner may use: a foreign `From` is removed.
    fn of_owner(&self, raw: Vec<u8>) -> Vec<u8> {
        let own = settings::addresses(self.mailbox);
        let from = delivery::addresses(&raw, "From");
        let is_own = |address: &String| own.iter().any(|own| own.eq_ignore_ascii_case(address));
        if from.iter().all(is_own) {
            raw
        } else {
            // The missing field is added later, with the owner's address.
            delivery::without(&raw, &["From"])
        }
    }
}

/// Returns the message of a draft, by the draft's id.
fn message_of<'a>(mailbox: &'a Mailbox, id: &str) -> Result<&'a Message, HttpResponse> {
    let number = id.strip_prefix('r').and_then(|id| id.parse().ok());
    let message = number.and_then(|number| mailbox.draft(number));
    message.ok_or_else(error::not_found)
}

/// Returns Gmail's error for a message that was not sent.
fn refusal(unsent: UnsentReason) -> HttpResponse {
    match unsent {
        UnsentReason::NotThere => error::not_found(),
        UnsentReason::NoMessage(_) => error::invalid("Invalid draft"),
        UnsentReason::NoRecipient => error::invalid("Recipient address required"),
        UnsentReason::NoAddress => error::invalid("Invalid To header"),
    }
}
