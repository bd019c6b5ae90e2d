//! Gmail's drafts, and sending: how the letters of requests become letters of
//! the mailbox.
//!
//! A draft that is updated has another message under the same draft id, as at
//! Gmail; sending takes the draft away and gives a message with an id of its
//! own. Delivery itself is in `delivery.rs`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::context::{Context, Rights, format, number};
use super::resources;
use super::settings;
use crate::delivery::{self, Manner, Sent, Unsent};
use crate::google::body::{bytes, inner, text, texts};
use crate::google::error;
use crate::http::Answer;
use crate::store::letter::{self, Letter};
use crate::store::mailbox::Mailbox;
use crate::store::mailbox::change::{Change, Entry};
use crate::store::threads;

/// Parameters of the list.
pub(super) const LIST: &[&str] = &["q", "maxResults", "pageToken", "includeSpamTrash"];

/// A message of a request: its bytes, and the conversation it asks for.
struct Wanted {
    raw: Vec<u8>,
    thread: Option<u64>,
}

impl Context<'_> {
    /// One draft with its message.
    pub fn draft(&self, id: &str) -> Result<Value, Answer> {
        let letter = letter_of(self.mailbox, id)?;
        let format = format(self.params, &Rights::all(), true)?;
        let ids = &self.state.attachment_ids;
        let message = resources::message(letter, format, &[], ids);
        Ok(json!({ "id": id, "message": message }))
    }

    /// Makes a draft.
    pub fn make_draft(&self) -> Result<Value, Answer> {
        let wanted = self.message(inner(&self.body, "message")?)?;
        let entry = Box::new(self.entry(wanted, vec!["DRAFT".to_owned()])?);
        self.put(Change::Enters(entry))
    }

    /// Gives a draft another message.
    pub fn update_draft(&self, id: &str) -> Result<Value, Answer> {
        let old = letter_of(self.mailbox, id)?;
        let wanted = self.message(inner(&self.body, "message")?)?;
        let entry = Box::new(self.entry(wanted, vec!["DRAFT".to_owned()])?);
        self.put(Change::Replaces(old.id, entry))
    }

    /// Deletes a draft for good.
    pub fn delete_draft(&self, id: &str) -> Result<(), Answer> {
        let letter = letter_of(self.mailbox, id)?.id;
        self.state
            .change(&self.mailbox.address, |_| Some(Change::Goes(vec![letter])))
            .map(|_| ())
            .ok_or_else(error::not_found)
    }

    /// Sends a draft, with another message where one is given, or a message
    /// that never was a draft.
    pub fn send_draft(&self) -> Result<Value, Answer> {
        let id = text(&self.body, "id")?.filter(|id| !id.is_empty());
        let message = inner(&self.body, "message")?;
        let given = message.is_some_and(|message| message.contains_key("raw"));
        if id.is_none() && !given && self.upload.is_none() {
            return Err(error::invalid("Invalid draft"));
        }
        let Some(id) = id else {
            return self.sent(self.message(message)?);
        };
        let mut letter = letter_of(self.mailbox, id)?.id;
        if given || self.upload.is_some() {
            let wanted = self.message(message)?;
            delivery::recipients(&wanted.raw).map_err(refusal)?;
            let entry = Box::new(self.entry(wanted, vec!["DRAFT".to_owned()])?);
            letter = self.change(Change::Replaces(letter, entry))?;
        }
        self.deliver(Sent::Draft(letter))
    }

    /// Sends a message.
    pub fn send(&self) -> Result<Value, Answer> {
        self.sent(self.message(Some(&self.body))?)
    }

    /// Puts a message into the mailbox, as if it had come.
    pub fn insert(&self) -> Result<Value, Answer> {
        let wanted = self.message(Some(&self.body))?;
        let labels = texts(&self.body, "labelIds")?;
        if let Some(unknown) = labels.iter().find(|id| !self.mailbox.labels.has(id)) {
            return Err(error::invalid(&format!("Invalid label: {unknown}")));
        }
        let labels = labels.into_iter().map(str::to_owned).collect();
        let by_header = match self.params.one("internalDateSource") {
            None | Some("receivedTime") => false,
            Some("dateHeader") => true,
            Some(other) => {
                let kind = "type.googleapis.com/caribou.api.proto.InternalDateSource";
                return Err(error::invalid_value("internal_date_source", kind, other));
            }
        };
        let mut entry = self.entry(wanted, labels)?;
        if by_header {
            entry.facts.date = letter::facts(&entry.raw, None).map_or(0, |facts| facts.date);
        }
        let id = self.change(Change::Enters(Box::new(entry)))?;
        self.brief(id)
    }

    fn sent(&self, wanted: Wanted) -> Result<Value, Answer> {
        let thread = self.joined(&wanted)?;
        self.deliver(Sent::Bytes(self.of_owner(wanted.raw), thread))
    }

    fn deliver(&self, sent: Sent) -> Result<Value, Answer> {
        let sender = &self.mailbox.address;
        let id = delivery::deliver(self.state, sender, sent, Manner::GMAIL).map_err(refusal)?;
        self.brief(id)
    }

    /// Makes a change and gives the id of the letter it is about.
    fn change(&self, change: Change) -> Result<u64, Answer> {
        let about = self.state.change(&self.mailbox.address, |_| Some(change));
        about.ok_or_else(error::not_found)
    }

    /// Makes a change and gives the draft it made.
    fn put(&self, change: Change) -> Result<Value, Answer> {
        let id = self.change(change)?;
        let draft = self.now()?.draft_id(id);
        let draft = draft.ok_or_else(error::not_found)?;
        Ok(json!({ "id": resources::draft_id(draft), "message": self.brief(id)? }))
    }

    /// A letter as the methods that write give it.
    fn brief(&self, id: u64) -> Result<Value, Answer> {
        let letter = self.now()?.letter(id);
        letter.map(resources::brief).ok_or_else(error::not_found)
    }

    /// The message that a request brings, in its JSON or uploaded.
    fn message(&self, message: Option<&Map<String, Value>>) -> Result<Wanted, Answer> {
        let empty = Map::new();
        let message = message.unwrap_or(&empty);
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
        Ok(Wanted { raw: letter::wire_form(&raw), thread: thread.map(number).transpose()? })
    }

    /// A message as a letter of the mailbox that comes now.
    fn entry(&self, wanted: Wanted, labels: Vec<String>) -> Result<Entry, Answer> {
        let date = self.state.tick();
        let thread = self.joined(&wanted)?;
        let raw = match labels.iter().any(|label| label == "DRAFT") {
            true => delivery::completed(self.of_owner(wanted.raw), &self.mailbox.address, date),
            false => wanted.raw,
        };
        let raw: Arc<[u8]> = raw.into();
        let facts = delivery::facts_at(&raw, date).map_err(refusal)?;
        Ok(Entry { raw, facts, labels, thread })
    }

    /// The conversation that a message asks for, if it belongs there: it has to
    /// refer to one of its letters, under the same subject.
    fn joined(&self, wanted: &Wanted) -> Result<Option<u64>, Answer> {
        let Some(thread) = wanted.thread else {
            return Ok(None);
        };
        let letters = self.mailbox.thread(thread);
        let letters = letters.ok_or_else(error::not_found)?;
        let Ok(facts) = letter::facts(&wanted.raw, None) else {
            return Ok(None);
        };
        let subject = threads::subject(&facts.subject);
        let belongs = |letter: &&Letter| {
            facts.references.contains(&letter.facts.message_id)
                && threads::subject(&letter.facts.subject) == subject
        };
        Ok(letters.iter().any(belongs).then_some(thread))
    }

    /// A letter from the owner: under an address that is none of theirs, nobody
    /// is written to.
    fn of_owner(&self, raw: Vec<u8>) -> Vec<u8> {
        let own = settings::addresses(self.mailbox);
        let from = delivery::addresses(&raw, "From");
        let is_own = |address: &String| own.iter().any(|own| own.eq_ignore_ascii_case(address));
        match from.iter().all(is_own) {
            true => raw,
            // The missing field is added with the owner's address.
            false => delivery::without(&raw, &["From"]),
        }
    }
}

/// The letter of a draft's id.
fn letter_of<'a>(mailbox: &'a Mailbox, id: &str) -> Result<&'a Letter, Answer> {
    let number = id.strip_prefix('r').and_then(|id| id.parse().ok());
    let letter = number.and_then(|number| mailbox.draft(number));
    letter.ok_or_else(error::not_found)
}

/// Why nothing was sent, as Gmail says it.
fn refusal(unsent: Unsent) -> Answer {
    match unsent {
        Unsent::NotThere => error::not_found(),
        Unsent::NoLetter(_) => error::invalid("Invalid draft"),
        Unsent::NoRecipient => error::invalid("Recipient address required"),
        Unsent::NoAddress => error::invalid("Invalid To header"),
    }
}
