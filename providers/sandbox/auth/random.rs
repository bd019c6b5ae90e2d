//! Random bytes, and random words for codes and tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::error::{Error, ErrorKind, Result};

/// Returns a prefix followed by this many random bytes in base64url.
pub(crate) fn random(prefix: &str, bytes: usize) -> Result<String> {
    let mut buffer = vec![0; bytes];
    fill(&mut buffer)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(buffer)))
}

/// Fills a buffer with random bytes.
pub(super) fn fill(buffer: &mut [u8]) -> Result<()> {
    getrandom::fill(buffer).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the system gives no random numbers: {error}"))
    })
}
