//! The settings row of an owner with their data keys, and the marks of the texts that they seal.
//!
//! The row has one line per key, newest first: the key's short name, the name of its master key,
//! and the sealed key. `data.rs` reads and changes the row.

use std::fmt;

use daysheet_core::error::Result;

use super::super::cipher::{BoundName, CipherKey, decrypt, encrypt};
use super::master_key::MasterKey;

/// One line of the row: a data key.
#[derive(Clone, Copy)]
pub(super) struct DataKeyLine<'a> {
    pub(super) id: &'a str,
    pub(super) master: &'a str,
    sealed: &'a str,
}

impl<'a> DataKeyLine<'a> {
    /// Reads the lines of a row.
    pub(super) fn all(row: &'a str) -> impl Iterator<Item = Self> {
        row.lines().filter_map(|line| {
            let mut words = line.split(' ');
            Some(Self { id: words.next()?, master: words.next()?, sealed: words.next()? })
        })
    }

    /// Returns true for a key that is kept only for old texts.
    pub(super) fn is_old_master(self) -> bool {
        self.id.ends_with("1:")
    }

    /// Opens the key with its master key.
    pub(super) fn open(self, owner: &str, master: &MasterKey) -> Option<CipherKey> {
        let name = DataKeyName { owner, id: self.id };
        decrypt(&master.key, &BoundName::new(name), self.sealed)?.try_into().ok()
    }
}

impl fmt::Display for DataKeyLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.id, self.master, self.sealed)
    }
}

/// The name of a data key, unique among all owners.
#[derive(Clone, Copy)]
pub(super) struct DataKeyName<'a> {
    /// The owner.
    pub(super) owner: &'a str,
    /// The short name of the key.
    pub(super) id: &'a str,
}

impl DataKeyName<'_> {
    /// Returns the line of this key, sealed with `master`.
    pub(super) fn sealed_line(self, key: &CipherKey, master: &MasterKey) -> Result<String> {
        let sealed = encrypt(&master.key, &BoundName::new(self), key)?;
        Ok(format!("{} {} {sealed}", self.id, master.name()))
    }
}

/// The name that the sealed key is bound to.
impl fmt::Display for DataKeyName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "data key {} of {}", self.id, self.owner)
    }
}

/// The prefix of texts sealed with a data key; the key's name and a colon follow.
pub(in crate::store) const MARK: &str = "d1:";
/// The marks of texts sealed directly with one of Daysheet's own keys, by place.
pub(super) const FILE_MARK: &str = "f1:";
pub(super) const KEYCHAIN_MARK: &str = "k1:";
