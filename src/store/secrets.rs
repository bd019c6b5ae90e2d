//! Secrets at rest, sealed so that a copy of the database does not reveal them.
//!
//! [`Store::seal`] encrypts with XChaCha20-Poly1305 under a random nonce and binds the result to
//! its owner and row, so that one account's tokens cannot be moved to another's row. A sealed text
//! names its key (`d1:` and the name of one of the owner's data keys; in older databases `f1:` for
//! the key file, `k1:` for the keychain): if keys are replaced, older sealed texts can still be
//! opened.
//!
//! This file also has the fence secret, which is not an account's. It generates words that a sender
//! cannot guess and must not need the keychain, so it is in the database in the clear.
//!
//! The files in `keys/` provide the keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::cipher::{BoundName, KEY_BYTES, SealedText, decrypt, encrypt, random};
use super::database::Store;
use super::keys::data_key::MARK;
use super::settings::SettingName;

impl Store {
    /// Encrypts `secret` for the row named `identity`.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the key is unavailable, with the reason and the next step.
    pub async fn seal(&self, identity: &str, secret: &[u8]) -> Result<SealedText> {
        let (id, key) = self.sealing_key().await?;
        let sealed = encrypt(&key, &self.bound_name(identity), secret)?;
        Ok(SealedText::stored(format!("{MARK}{id}:{sealed}")))
    }

    /// Decrypts a text that [`Store::seal`] returned for the same `identity`.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the key is unavailable, or did not seal this text. The sealed text is
    /// never deleted because of this: the key may be restored.
    pub async fn unseal(&self, identity: &str, sealed: &SealedText) -> Result<Vec<u8>> {
        let (keys, text) = self.opening_keys(sealed).await?;
        let bound = self.bound_name(identity);
        // A mark of a location stands for several keys while that location's key is being replaced.
        let opened = keys.iter().find_map(|key| decrypt(key, &bound, text));
        opened.ok_or_else(|| wrong_key(identity))
    }

    /// Derives 32 bytes that are the same for the same `purpose` for the lifetime of the database,
    /// differ between purposes, and cannot be guessed. Never uses the keychain.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn derive(&self, purpose: &str) -> Result<[u8; 32]> {
        let root = match self.setting(SettingName::DeriveRoot).await? {
            Some(root) => root,
            None => {
                self.decide(SettingName::DeriveRoot, &STANDARD.encode(random::<KEY_BYTES>()?))
                    .await?
            }
        };
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(root.as_bytes())
            .map_err(|_never| Error::new(ErrorKind::Internal, "HMAC took no key"))?;
        mac.update(purpose.as_bytes());
        Ok(mac.finalize().into_bytes().into())
    }

    /// Returns the secret that generates the words which fence untrusted text.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn fence_secret(&self) -> Result<[u8; 32]> {
        self.derive("fence").await
    }

    /// Returns the name that the owner's text with this identity is bound to.
    fn bound_name(&self, identity: &str) -> BoundName {
        BoundName::new(format_args!("{}/{identity}", self.owner()))
    }
}

fn wrong_key(identity: &str) -> Error {
    Error::new(
        ErrorKind::Store,
        format!("the secrets of {identity} cannot be decrypted with the current key"),
    )
    .next("restore the old key, or sign in again with `daysheet account add`")
}

/// Returns a new master key in the form in which the settings list keys.
///
/// # Errors
/// [`ErrorKind::Internal`].
pub fn new_key() -> Result<String> {
    Ok(STANDARD.encode(random::<KEY_BYTES>()?))
}

/// Returns the name that the sealed tokens of the account with this id are bound to.
pub fn account_identity(id: &AccountId) -> String {
    format!("account {id}")
}
