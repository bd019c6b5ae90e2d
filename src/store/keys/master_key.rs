//! Master keys, with their names and their settings.
//!
//! `own.rs` stores the ones that Daysheet keeps itself, and `master.rs` combines all sources.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use super::super::cipher::CipherKey;
use crate::config::{GivenKeys, KeyStore};

/// The settings of master keys, and the keys themselves once they have been read.
pub(in crate::store) struct MasterKeys {
    pub(super) store: KeyStore,
    pub(super) given: Option<GivenKeys>,
    pub(super) read: Mutex<Option<Arc<[MasterKey]>>>,
}

impl MasterKeys {
    pub(in crate::store) fn new(store: KeyStore, given: Option<GivenKeys>) -> Self {
        Self { store, given, read: Mutex::default() }
    }
}

/// The source of a master key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MasterKeySource {
    File,
    Keychain,
    Given,
}

impl MasterKeySource {
    /// Returns the first character of the names of its keys, and of the marks of texts that such a
    /// key sealed directly, before data keys existed.
    pub(super) const fn initial(self) -> char {
        match self {
            Self::File => 'f',
            Self::Keychain => 'k',
            Self::Given => 'g',
        }
    }
}

/// A master key.
#[derive(Clone)]
pub(super) struct MasterKey {
    pub(super) place: MasterKeySource,
    pub(super) key: CipherKey,
}

impl MasterKey {
    /// Returns its name: the place, and the first bytes of its digest.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.place.initial(), key_id(&self.key))
    }

    /// Returns true if `name` is this key's, at any place.
    pub(super) fn is(&self, name: &str) -> bool {
        name.split_once('-').is_some_and(|(_, id)| id == key_id(&self.key))
    }
}

/// Returns a short name of a key that does not reveal it.
pub(super) fn key_id(key: &CipherKey) -> String {
    let digest = Sha256::new().chain_update(b"daysheet key").chain_update(key).finalize();
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}
