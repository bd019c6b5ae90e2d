//! Changing the labels of messages one by one or in batches, trashing a message, and deleting
//! messages permanently.

use serde_json::Value;

use super::context::{GmailContext, number};
use super::resources;
use crate::google::body::texts;
use crate::google::error;
use crate::http::HttpResponse;
use crate::store::mailbox::change::MailboxChange;
use crate::store::message::Message;

/// The maximum number of messages in one request.
const MAX_MESSAGES: usize = 1_000;

/// Labels that only Gmail itself sets.
const FIXED: [&str; 3] = ["SENT", "DRAFT", "CHAT"];

impl GmailContext<'_> {
    /// Changes the labels of many messages. Unknown ids are skipped.
    pub fn batch_modify(&self) -> Result<Value, HttpResponse> {
        self.modify_all(&self.ids()?)?;
        Ok(Value::Null)
    }

    /// Changes the labels of one message.
    pub fn modify(&self, id: &str) -> Result<Value, HttpResponse> {
        let id = number(id)?;
        self.mailbox.message(id).ok_or_else(error::not_found)?;
        self.modify_all(&[id])?;
        self.now()?.message(id).map(resources::brief).ok_or_else(error::not_found)
    }

    /// Adds and removes the labels that the body names.
    fn modify_all(&self, ids: &[u64]) -> Result<(), HttpResponse> {
        let add = texts(&self.body, "addLabelIds")?;
        let remove = texts(&self.body, "removeLabelIds")?;
        if add.is_empty() && remove.is_empty() {
            return Err(error::invalid("No label add or removes specified"));
        }
        let unusable = |id: &&&str| FIXED.contains(id) || !self.mailbox.labels.has(id);
        if let Some(label) = add.iter().chain(&remove).find(unusable) {
            return Err(error::invalid(&format!("Invalid label: {label}")));
        }
        if add.iter().any(|label| remove.contains(label)) {
            return Err(error::invalid("Cannot both add and remove the same label"));
        }
        self.relabel(ids, &add, &remove);
        Ok(())
    }

    /// Moves a message to the trash.
    pub fn trash(&self, id: &str) -> Result<Value, HttpResponse> {
        let id = number(id)?;
        self.mailbox.message(id).ok_or_else(error::not_found)?;
        self.relabel(&[id], &["TRASH"], &[]);
        self.now()?.message(id).map(resources::brief).ok_or_else(error::not_found)
    }

    /// Adds labels to messages and removes others.
    fn relabel(&self, ids: &[u64], add: &[&str], remove: &[&str]) {
        self.state.change(&self.mailbox.address, |mailbox| {
            // Gmail skips ids that do not exist, and confirms the batch as a whole.
            let there = ids.iter().filter_map(|id| mailbox.message(*id));
            let new = there.map(|message| (message.id, labels(message, add, remove)));
            Some(MailboxChange::Relabels(new.collect()))
        });
    }

    /// Deletes many messages permanently. Unknown ids are skipped.
    pub fn batch_delete(&self) -> Result<Value, HttpResponse> {
        let ids = self.ids()?;
        self.state.change(&self.mailbox.address, |_| Some(MailboxChange::Goes(ids)));
        Ok(Value::Null)
    }

    /// Returns the ids in the body.
    fn ids(&self) -> Result<Vec<u64>, HttpResponse> {
        let ids = texts(&self.body, "ids")?;
        if ids.is_empty() {
            return Err(error::invalid("No message ids specified"));
        }
        if ids.len() > MAX_MESSAGES {
            return Err(error::invalid("Too many message ids specified"));
        }
        ids.into_iter().map(number).collect()
    }
}

/// Returns the labels of a message after a change.
fn labels(message: &Message, add: &[&str], remove: &[&str]) -> Vec<String> {
    let stays = |label: &&String| !remove.contains(&label.as_str());
    let mut labels: Vec<String> = message.labels.iter().filter(stays).cloned().collect();
    for add in add {
        // Trash and spam are locations, and a message has only one location.
        match *add {
            "TRASH" => labels.retain(|label| label != "INBOX" && label != "SPAM"),
            "SPAM" => labels.retain(|label| label != "INBOX" && label != "TRASH"),
            _ => {}
        }
        if !labels.iter().any(|label| label == add) {
            labels.push((*add).to_owned());
        }
    }
    labels
}
