//! Rich text.

use crate::{Failure, Kind, Out, Stop};

/// Reads such a file.
pub fn read(_bytes: &[u8], _out: &mut Out<'_>) -> Result<(), Stop> {
    Err(Failure::NotRead(Kind::Rtf).into())
}
