//! Random bytes, and keys made from them.
//!
//! `keys.rs` stores keys, `secrets.rs` seals with them.

use daysheet_core::error::{Error, ErrorKind, Result};

/// A key of XChaCha20-Poly1305.
pub(super) type CipherKey = [u8; KEY_BYTES];
/// Its length in bytes.
pub(super) const KEY_BYTES: usize = 32;

/// Returns random bytes from the operating system.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the system random generator failed ({error})"))
    })?;
    Ok(bytes)
}
