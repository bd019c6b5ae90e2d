//! A mailbox as Exchange would hold it: every message in one folder, labels as
//! categories, ids for all.
//!
//! The messages are the mailbox's own; what is read from them once is in
//! `index.rs`, and what only Exchange has in `state.rs`.

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
use crate::state::RequestState;
use crate::store::head;
use crate::store::mailbox::Mailbox;
use crate::store::mailbox::contacts::MailboxPeople;
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
    /// The mailbox of an address.
    pub fn of(state: &'a RequestState, address: &str) -> Option<Self> {
        let (mailbox, index) = state.indexed(address)?;
        Some(Self { mailbox, index, graph: &state.graph })
    }

    /// Its ids.
    pub fn ids(&self) -> &'a MailboxIds {
        &self.index.ids
    }

    /// The messages of a folder, or all, newest first.
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

    /// How many messages of a folder there are, and how many of them unread.
    pub fn counts(&self, folder: &MailFolder) -> (usize, usize) {
        let messages = self.index.folders.get(&folder.number);
        let unread = self.index.unread.get(&folder.number);
        (messages.map_or(0, Vec::len), unread.copied().unwrap_or(0))
    }

    /// The id of a message.
    pub fn message_id(&self, message: &Message, immutable: bool) -> String {
        let folder = folders::number_of(message);
        self.ids().message_id(message.id, folder, immutable)
    }

    /// The message of an id of either form.
    pub fn message(&self, id: &str) -> Result<&'a Message, GraphError> {
        let (number, immutable) = self.ids().message_of(id).ok_or_else(malformed_id)?;
        let message = self.mailbox.message(number).ok_or_else(not_found)?;
        if self.message_id(message, immutable) == id { Ok(message) } else { Err(not_found()) }
    }

    /// The folder of an id or of a well-known name.
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

    /// All folders.
    pub fn folders(&self) -> Arc<Vec<MailFolder>> {
        self.with(|exchange| Arc::clone(&exchange.folders))
    }

    /// What is known of a message beyond its bytes and labels.
    pub fn notes(&self, message: &Message) -> MessageNotes {
        self.with(|exchange| exchange.notes.get(&message.id).cloned()).unwrap_or_default()
    }

    /// Reads or changes what this half keeps of the mailbox.
    pub fn with<T>(&self, then: impl FnOnce(&mut ExchangeState) -> T) -> T {
        self.graph.exchange(&self.mailbox.address, then)
    }

    /// The version of a message: another after every change of it.
    pub fn change_key(&self, message: &Message) -> String {
        let changes = self.notes(message).changes;
        let version = message.id ^ message.history.rotate_left(40) ^ changes.rotate_left(20);
        self.ids().change_key(version)
    }

    /// The categories of a message, in the order of its labels.
    pub fn categories(&self, message: &Message) -> Vec<&'a str> {
        let names = message.labels.iter();
        names.filter_map(|id| self.index.categories.get(id)).map(String::as_str).collect()
    }

    /// From of a message.
    pub fn from(&self, message: &Message) -> Option<&'a EmailAddress> {
        self.people_of(message)?.first()?.as_ref()
    }

    /// Sender of a message; who wrote it, where nobody else sent it.
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

    /// A folder with all its properties.
    pub fn folder_json(&self, folder: &MailFolder) -> Map<String, Value> {
        let (total, unread) = self.counts(folder);
        let value = json!({
            "id": self.ids().folder(folder.number),
            "displayName": &*folder.name,
            "parentFolderId": self.ids().folder(folder.parent),
            "childFolderCount": folders::children(&self.folders(), Some(folder), false).len(),
            "unreadItemCount": unread,
            "totalItemCount": total,
            "isHidden": folder.hidden,
        });
        match value {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    /// The owner, and everybody they write with.
    pub fn people(&self) -> &'a MailboxPeople {
        self.mailbox.people()
    }
}
