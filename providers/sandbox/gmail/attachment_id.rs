//! Gmail's attachment ids: long, opaque, and different each time.
//!
//! A real attachment id is valid for a while and never returned twice, so a client must not use it
//! as a key. These ids contain the message and the part in masked form, so each can be resolved
//! without a table.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The prefix of real ids.
const PREFIX: &str = "ANGjdJ";

/// The number of masked bytes: id, part, checksum, and padding to the length of real ids.
const LENGTH: usize = 232;

/// Creates and resolves attachment ids.
#[derive(Debug, Default)]
pub(crate) struct AttachmentIds {
    next: AtomicU64,
}

impl AttachmentIds {
    /// Returns a new id for a message's part, counted in reading order.
    pub fn make(&self, message: u64, part: u32) -> String {
        let nonce = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut plain = Vec::with_capacity(LENGTH);
        plain.extend_from_slice(&message.to_be_bytes());
        plain.extend_from_slice(&part.to_be_bytes());
        plain.extend_from_slice(&check(&plain));
        plain.resize(LENGTH, 0);
        let mut bytes = nonce.to_vec();
        bytes.extend(disguise(&nonce, &plain));
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns the message and part that an id was created for.
    pub fn open(&self, id: &str) -> Option<(u64, u32)> {
        let bytes = URL_SAFE_NO_PAD.decode(id.strip_prefix(PREFIX)?).ok()?;
        let (nonce, hidden) = bytes.split_first_chunk::<8>()?;
        if hidden.len() != LENGTH {
            return None;
        }
        let plain = disguise(nonce, hidden);
        let (named, rest) = plain.split_first_chunk::<12>()?;
        let (message, part) = named.split_first_chunk::<8>()?;
        if !rest.starts_with(&check(named)) {
            return None;
        }
        Some((u64::from_be_bytes(*message), u32::from_be_bytes(part.try_into().ok()?)))
    }
}

/// Returns four bytes that distinguish issued ids from invented ones.
fn check(bytes: &[u8]) -> [u8; 4] {
    let digest = Sha256::digest(bytes);
    digest.first_chunk().copied().unwrap_or_default()
}

/// Masks or unmasks bytes.
fn disguise(nonce: &[u8; 8], bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    // A digest has 32 bytes; the index yields a different mask for each chunk.
    for (index, chunk) in (0u8..).zip(bytes.chunks(32)) {
        let mask = Sha256::new().chain_update(nonce).chain_update([index]).finalize();
        out.extend(chunk.iter().zip(mask.iter()).map(|(byte, mask)| byte ^ mask));
    }
    out
}
