//! Random bytes, keys made from them, the cipher, and its results.
//!
//! The files in `keys/` store keys, and `secrets.rs` seals an owner's secrets with them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use daysheet_core::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// A key of XChaCha20-Poly1305.
pub(super) type CipherKey = [u8; KEY_BYTES];
/// Its length in bytes.
pub(super) const KEY_BYTES: usize = 32;

/// The length of XChaCha20's nonce, in bytes; long enough to be chosen at random.
const NONCE_BYTES: usize = 24;

/// Returns random bytes from the operating system.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the system random generator failed ({error})"))
    })?;
    Ok(bytes)
}

/// A name that a sealed text is bound to: it cannot be opened under another one.
pub(super) struct BoundName(String);

impl BoundName {
    /// Returns this name.
    pub(super) fn new(name: impl fmt::Display) -> Self {
        Self(name.to_string())
    }
}

/// A secret as `Store::seal` returns it, with the mark of its key. It may be kept anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealedText(String);

impl SealedText {
    /// Takes a text that was stored as a sealed one. No `From`, so that no other text becomes one
    /// unseen.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns it as text, for a column or a cookie.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Encrypts with XChaCha20-Poly1305 under a random nonce, bound to a name.
pub(super) fn encrypt(key: &CipherKey, bound: &BoundName, secret: &[u8]) -> Result<String> {
    let nonce: [u8; NONCE_BYTES] = random()?;
    let cipher = XChaCha20Poly1305::new(&(*key).into())
        .encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: bound.0.as_bytes() })
        .map_err(|_opaque| Error::new(ErrorKind::Internal, "a secret could not be sealed"))?;
    let mut bytes = nonce.to_vec();
    bytes.extend(cipher);
    Ok(STANDARD.encode(bytes))
}

/// Decrypts a result of [`encrypt`] for the same name. Returns `None` under any other key.
pub(super) fn decrypt(key: &CipherKey, bound: &BoundName, sealed: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(sealed).ok()?;
    let (nonce, cipher) = bytes.split_first_chunk::<NONCE_BYTES>()?;
    XChaCha20Poly1305::new(&(*key).into())
        .decrypt(&XNonce::from(*nonce), Payload { msg: cipher, aad: bound.0.as_bytes() })
        .ok()
}
