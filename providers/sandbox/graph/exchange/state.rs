//! What belongs to a mailbox that only Exchange has: its folders, rules,
//! settings, categories and contacts, and what is noted of its messages.
//!
//! It stands beside the mailbox, whose states are never altered, and is changed
//! where it stands.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::folders::{self, MailFolder};

/// What is kept of a mailbox.
#[derive(Debug)]
pub(crate) struct ExchangeState {
    /// All folders.
    pub folders: Arc<Vec<MailFolder>>,
    /// What is noted of messages, by their ids.
    pub notes: HashMap<u64, MessageNotes>,
    /// The rules, in their order.
    pub rules: Vec<Map<String, Value>>,
    /// The settings that somebody has changed.
    pub settings: Map<String, Value>,
    /// The colours that somebody has chosen, by the category's name.
    pub colours: HashMap<String, String>,
    /// Categories that are not in the list, though messages have them: names.
    pub unlisted: HashSet<String>,
    /// Contacts that were made or changed, by their ids; nothing for those that
    /// were deleted.
    pub contacts: BTreeMap<String, Option<Map<String, Value>>>,
    /// Counts what is made.
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
    /// A number that was not given before.
    pub fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Notes something of a message, which is another version then.
    pub fn note(&mut self, message: u64, change: impl FnOnce(&mut MessageNotes)) {
        let notes = self.notes.entry(message).or_default();
        change(notes);
        notes.changes += 1;
    }
}

/// What is noted of a message: what neither its bytes nor its labels say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MessageNotes {
    /// How often it was changed.
    pub changes: u64,
    /// When it was changed last, in milliseconds since 1970.
    pub changed: Option<i64>,
    /// True for one of little importance.
    pub low: bool,
    /// What follows up: the members of a flag beyond its state.
    pub flag: Map<String, Value>,
    /// True for what was flagged and is done.
    pub complete: bool,
    /// Extended properties: id and value.
    pub properties: Vec<(String, String)>,
    /// When it is to be sent, in milliseconds since 1970, once somebody has
    /// said that it is.
    pub due: Option<i64>,
}
