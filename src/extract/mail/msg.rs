//! Messages of Outlook, and winmail.dat.

use crate::{Failure, File, Kind, Out, Stop};

/// Reads such a file.
pub fn read(kind: Kind, _bytes: &[u8], _out: &mut Out<'_>) -> Result<(), Stop> {
    Err(Failure::NotRead(kind).into())
}

/// Returns the file number `part` within it, from 1.
pub fn inside(_bytes: &[u8], _part: u32) -> Result<File, Failure> {
    Err(Failure::NoSuchPart(0))
}
