//! Secrets at rest: sealed so that a copy of the database gives nothing away.
//!
//! [`Store::seal`] encrypts with XChaCha20-Poly1305 under a random nonce and
//! binds the result to the row it belongs to, so that one account's tokens
//! cannot be put into another's row. A sealed text says which key sealed it
//! (`f1:` the key file's, `k1:` the keychain's): when the place of the key
//! changes, what was sealed before can still be opened.
//!
//! Here too: the fence secret, which is no secret of an account. It makes words
//! that a sender cannot guess, must not need the keychain, and so is kept in the
//! database in the clear.
//!
//! Where keys come from is in `keys.rs`; what is sealed is up to the caller.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::keys::Place;
use super::random::{KEY_BYTES, random};
use super::{OWNER, Store};
use crate::error::{Error, Kind, Result};

/// The length of XChaCha20's nonce, in bytes; long enough to be drawn at random.
const NONCE_BYTES: usize = 24;

/// The settings row with the random value that [`Store::derive`] starts from.
const ROOT: &str = "derive_root";

impl Store {
    /// Encrypts `secret` for the row named `identity`.
    ///
    /// # Errors
    /// [`Kind::Store`] if the key cannot be had; the message says why and what
    /// to do.
    pub async fn seal(&self, identity: &str, secret: &[u8]) -> Result<String> {
        let (place, key) = self.sealing_key().await?;
        let nonce: [u8; NONCE_BYTES] = random()?;
        let bound = bound(identity);
        let cipher = XChaCha20Poly1305::new(&key.into())
            .encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: bound.as_bytes() })
            .map_err(|_opaque| Error::new(Kind::Internal, "a secret could not be sealed"))?;
        let mut bytes = nonce.to_vec();
        bytes.extend(cipher);
        Ok(format!("{}{}", place.mark(), STANDARD.encode(bytes)))
    }

    /// Decrypts what [`Store::seal`] returned for the same `identity`.
    ///
    /// # Errors
    /// [`Kind::Store`] if the key cannot be had, or is not the one it was sealed
    /// with. The sealed text is never deleted over this: the key may come back.
    pub async fn unseal(&self, identity: &str, sealed: &str) -> Result<Vec<u8>> {
        let (place, text) = Place::of(sealed).ok_or_else(|| wrong_key(identity))?;
        let key = self.opening_key(place).await?;
        let bytes = STANDARD.decode(text).map_err(|_bad| wrong_key(identity))?;
        let (nonce, cipher) =
            bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(|| wrong_key(identity))?;
        let bound = bound(identity);
        XChaCha20Poly1305::new(&key.into())
            .decrypt(&XNonce::from(*nonce), Payload { msg: cipher, aad: bound.as_bytes() })
            .map_err(|_opaque| wrong_key(identity))
    }

    /// 32 bytes that are the same for the same `purpose` for as long as the
    /// database lives, different for every purpose, and that nobody outside can
    /// guess. Never touches the keychain.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn derive(&self, purpose: &str) -> Result<[u8; 32]> {
        let root = match self.setting(ROOT).await? {
            Some(root) => root,
            None => self.decide(ROOT, &STANDARD.encode(random::<KEY_BYTES>()?)).await?,
        };
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(root.as_bytes())
            .map_err(|_never| Error::new(Kind::Internal, "HMAC took no key"))?;
        mac.update(purpose.as_bytes());
        Ok(mac.finalize().into_bytes().into())
    }

    /// What the words that fence strangers' text are made from.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn fence_secret(&self) -> Result<[u8; 32]> {
        self.derive("fence").await
    }
}

/// What a sealed text is bound to: whose it is, and which row of theirs.
fn bound(identity: &str) -> String {
    format!("{OWNER}/{identity}")
}

fn wrong_key(identity: &str) -> Error {
    Error::new(
        Kind::Store,
        format!("the secrets of {identity} cannot be decrypted with the current key"),
    )
    .next("restore the old key, or sign in again with `daysheet account add`")
}
