//! A mailbox owner's settings other than labels: signatures, automatic replies, filters, and
//! contacts edited by hand.
//!
//! Settings are provider-neutral where the providers agree. Settings that only one provider has are
//! kept as sent, under a name of that provider.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The settings of one mailbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredSettings {
    /// Signatures in HTML, by sending address in lower case.
    pub signatures: BTreeMap<String, String>,
    /// Display names, by sending address in lower case.
    pub names: BTreeMap<String, String>,
    /// Settings kept as JSON, by names such as `gmail vacation`.
    pub values: BTreeMap<String, Value>,
    /// Gmail's filters by id, in the order of their creation.
    pub filters: Vec<(String, Value)>,
    /// Contacts by id: created by hand, or changed from what the mail yields. `None` if deleted.
    pub contacts: BTreeMap<u64, Option<SavedContact>>,
    /// The number of objects created, from which ids are counted.
    made: u64,
}

impl StoredSettings {
    /// Returns a number that no earlier object has.
    pub fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }
}

/// A contact that was created or changed by hand. Missing texts are empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct SavedContact {
    /// The number of changes, which is part of the contact's etag.
    pub version: u64,
    /// The given name.
    pub given: String,
    /// The family name.
    pub family: String,
    /// The addresses, the primary one first.
    pub emails: Vec<String>,
    /// Further properties, as a provider's client sent them and under that provider's names.
    pub rest: Map<String, Value>,
}

impl SavedContact {
    /// Returns the full name.
    pub fn name(&self) -> String {
        let both = format!("{} {}", self.given, self.family);
        both.trim().to_owned()
    }
}
