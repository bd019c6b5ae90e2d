//! The data of a mailbox that only Exchange has: folders, rules, settings, categories, contacts,
//! and notes about messages.
//!
//! It is kept apart from the mailbox, whose states are immutable, and is changed in place.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::folders::{self, MailFolder};

/// The data of one mailbox.
#[derive(Debug)]
pub(crate) struct ExchangeState {
    /// All folders.
    pub folders: Arc<Vec<MailFolder>>,
    /// The notes about messages, by message number.
    pub notes: HashMap<u64, MessageNotes>,
    /// The rules in order.
    pub rules: Vec<Map<String, Value>>,
    /// The settings that were changed.
    pub settings: Map<String, Value>,
    /// The colours that were chosen, by the category's name in lower case.
    pub colours: HashMap<String, String>,
    /// The categories that messages have, but the list does not: names in lower case.
    pub unlisted: HashSet<String>,
    /// The contacts that were created or changed, by id; `None` if deleted.
    pub contacts: BTreeMap<String, Option<Map<String, Value>>>,
    /// The number of entities created.
    made: u64,
}

impl Default for ExchangeState {
    fn default() -> Self {
        Self {
            folders: Arc::new(folders::first()),
            notes: HashMap::new(),
            rules: Vec::new(),
            settings: Map::new(),
            colours: HashMap::new(),
            unlisted: HashSet::new(),
            contacts: BTreeMap::new(),
            made: 0,
        }
    }
}

impl ExchangeState {
    /// Returns a new number.
    pub fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Changes the notes about a message, which gives it a new version.
    pub fn note(&mut self, message: u64, change: impl FnOnce(&mut MessageNotes)) {
        let notes = self.notes.entry(message).or_default();
        change(notes);
        notes.changes += 1;
    }
}

/// The data about a message that neither its bytes nor its labels have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MessageNotes {
    /// The number of changes.
    pub changes: u64,
    /// The time of the last change, in milliseconds since 1970.
    pub changed: Option<i64>,
    /// True for low importance.
    pub low: bool,
    /// The members of a flag other than its state.
    pub flag: Map<String, Value>,
    /// True if the flag is marked as complete.
    pub complete: bool,
    /// Extended properties as id and value.
    pub properties: Vec<(String, String)>,
    /// The time to send it, in milliseconds since 1970, once `send` was called.
    pub due: Option<i64>,
}
