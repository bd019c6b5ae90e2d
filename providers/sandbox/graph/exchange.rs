//! A mailbox as Exchange has it: every message in one folder, labels as categories, ids for
//! everything.
//!
//! The messages are those of the shared store. Data derived from them is in `index.rs`, data that
//! only Exchange has in `state.rs`.

pub(super) mod folders;
pub(crate) mod index;
pub(super) mod state;

use std::sync::Arc;

use folders::MailFolder;
use index::MailboxIndex;
use serde_json::{Map, Value, json};
use state::{ExchangeState, MessageNotes};

use super::error::{GraphError, folder_not_found, malformed_id, not_found};
use super::ids::MailboxIds;
use super::people::{self, EmailAddress};
use super::state::GraphState;
use crate::json::object;
use crate::state::RequestState;
use crate::store::head;
use crate::store::mailbox::Mailbox;
use crate::store::mailbox::person::MailboxPeople;
use crate::store::message::Message;
use crate::store::mime;

/// A mailbox with its index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExchangeMailbox<'a> {
    /// The mailbox.
    pub mailbox: &'a Mailbox,
    index: &'a MailboxIndex,
    graph: &'a GraphState,
}

impl<'a> ExchangeMailbox<'a> {
    /// Returns the mailbox of an address.
    pub fn find(state: &'a RequestState, address: &str) -> Option<Self> {
        let (mailbox, index) = state.indexed(address)?;
        Some(Self { mailbox, index, graph: &state.graph })
    }

    /// Returns the mailbox's ids.
    pub fn ids(&self) -> &'a MailboxIds {
        &self.index.ids
    }

    /// Returns the messages of a folder, or all, newest first.
    pub fn messages(&self, folder: Option<&MailFolder>) -> Vec<&'a Message> {
        let Some(folder) = folder else {
            return self.mailbox.messages.iter().map(AsRef::as_ref).collect();
        };
        let places = self.index.folders.get(&folder.number);
        places
            .into_iter()
            .flatten()
            .filter_map(|place| self.mailbox.messages.get(*place))
            .map(AsRef::as_ref)
            .collect()
    }

    /// Returns the number of messages in a folder, and of unread ones.
    pub fn counts(&self, folder: &MailFolder) -> (usize, usize) {
        let messages = self.index.folders.get(&folder.number);
        let unread = self.index.unread.get(&folder.number);
        (messages.map_or(0, Vec::len), unread.copied().unwrap_or(0))
    }

    /// Returns the id of a message.
    pub fn message_id(&self, message: &Message, immutable: bool) -> String {
        let folder = folders::number_of(message);
        self.ids().message_id(message.id, folder, immutable)
    }

    /// Returns the message with a common or immutable id.
    pub fn message(&self, id: &str) -> Result<&'a Message, GraphError> {
        let (number, immutable) = self.ids().message_of(id).ok_or_else(malformed_id)?;
        let message = self.mailbox.message(number).ok_or_else(not_found)?;
        // A common id names the folder, so it ends when the message moves, as at Exchange.
        if self.message_id(message, immutable) == id { Ok(message) } else { Err(not_found()) }
    }

    /// Returns the folder with an id or well-known name.
    pub fn folder(&self, id: &str) -> Result<MailFolder, GraphError> {
        if let Some(folder) = folders::well_known(id) {
            return Ok(folder.clone());
        }
        if !MailboxIds::is_folder(id) {
            return Err(malformed_id());
        }
        let folders = self.folders();
        let mut folders = folders.iter();
        folders
            .find(|folder| self.ids().folder(folder.number) == id)
            .cloned()
            .ok_or_else(folder_not_found)
    }

    /// Returns all folders.
    pub fn folders(&self) -> Arc<Vec<MailFolder>> {
        self.with(|exchange| Arc::clone(&exchange.folders))
    }

    /// Returns a message's data beyond its bytes and labels.
    pub fn notes(&self, message: &Message) -> MessageNotes {
        self.with(|exchange| exchange.notes.get(&message.id).cloned()).unwrap_or_default()
    }

    /// Reads or changes the data that only this half keeps. `then` must not call this again,
    /// because the lock is held.
    pub fn with<T>(&self, then: impl FnOnce(&mut ExchangeState) -> T) -> T {
        self.graph.exchange(&self.mailbox.address, then)
    }

    /// Returns the version of a message, which differs after every change.
    pub fn change_key(&self, message: &Message) -> String {
        let changes = self.notes(message).changes;
        // Changes are counted in two places, the shared history and this half's notes; the
        // rotations keep equal counts from cancelling each other.
        let version = message.id ^ message.history.rotate_left(40) ^ changes.rotate_left(20);
        self.ids().change_key(version)
    }

    /// Returns the categories of a message, in the order of its labels.
    pub fn categories(&self, message: &Message) -> Vec<&'a str> {
        let names = message.labels.iter();
        names.filter_map(|id| self.index.categories.get(id)).map(String::as_str).collect()
    }

    /// Returns the first person in a message's From.
    pub fn from(&self, message: &Message) -> Option<&'a EmailAddress> {
        self.people_of(message)?.first()?.as_ref()
    }

    /// Returns the person in a message's Sender, or else in From.
    pub fn sender(&self, message: &Message) -> Option<&'a EmailAddress> {
        let [from, sender] = self.people_of(message)?;
        sender.as_ref().or(from.as_ref())
    }

    fn people_of(&self, message: &Message) -> Option<&'a [Option<EmailAddress>; 2]> {
        let place = *self.index.places.get(&message.id)?;
        let senders = self.index.senders.get(place)?;
        Some(senders.get_or_init(|| {
            let fields = head::fields(mime::header_section(&message.raw), &message.raw);
            ["From", "Sender"].map(|name| people::persons(&fields, name).into_iter().next())
        }))
    }

    /// Returns a folder with all its properties.
    pub fn folder_json(&self, folder: &MailFolder) -> Map<String, Value> {
        let (total, unread) = self.counts(folder);
        object(json!({
            "id": self.ids().folder(folder.number),
            "displayName": &*folder.name,
            "parentFolderId": self.ids().folder(folder.parent),
            "childFolderCount": folders::children(&self.folders(), Some(folder), false).len(),
            "unreadItemCount": unread,
            "totalItemCount": total,
            "isHidden": folder.hidden,
        }))
    }

    /// Returns the owner, and everyone they write with.
    pub fn people(&self) -> &'a MailboxPeople {
        self.mailbox.people()
    }
}
