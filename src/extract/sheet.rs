//! Workbooks: xlsx, xls and xlsb.

use crate::{Failure, Kind, Out, Stop};

/// Reads such a file.
pub fn read(kind: Kind, _bytes: &[u8], _out: &mut Out<'_>) -> Result<(), Stop> {
    Err(Failure::NotRead(kind).into())
}
