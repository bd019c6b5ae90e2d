//! What the owner of a mailbox has set, beyond messages and labels: signatures,
//! the answer while away, filters, contacts made by hand.
//!
//! It is provider-neutral as far as the providers agree; what only one of them
//! has is kept as it was sent, under a name of that provider's.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The settings of one mailbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredSettings {
    /// Signatures in HTML, by the address one sends as, in lower case.
    pub signatures: BTreeMap<String, String>,
    /// Names one sends under, by the same.
    pub names: BTreeMap<String, String>,
    /// What was set as JSON, by names such as `gmail vacation`.
    pub values: BTreeMap<String, Value>,
    /// Gmail's filters by their ids, in the order they were made.
    pub filters: Vec<(String, Value)>,
    /// Contacts by their ids: made by hand, changed from what the mail says, or
    /// deleted, which is `None`.
    pub contacts: BTreeMap<u64, Option<SavedContact>>,
    /// How many things have been made; ids are counted from it.
    made: u64,
}

impl StoredSettings {
    /// A number that no thing made before has.
    pub fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }
}

/// A contact that was made or changed by hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct SavedContact {
    /// How often it was changed; it is in the contact's tag.
    pub version: u64,
    /// The given name; empty where there is none. So are all texts here.
    pub given: String,
    /// The family name.
    pub family: String,
    /// The addresses, the first one first.
    pub emails: Vec<String>,
    /// What else a provider was sent, as it was sent, by the provider's names.
    pub rest: Map<String, Value>,
}

impl SavedContact {
    /// The whole name.
    pub fn name(&self) -> String {
        let both = format!("{} {}", self.given, self.family);
        both.trim().to_owned()
    }
}
