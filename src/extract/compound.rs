//! OLE compound files (MS-CFB), the container of Outlook messages and older Office files.

use std::borrow::Cow;
use std::io::{Cursor, Result};

/// An open compound file.
pub type CompoundFile<'a> = cfb::CompoundFile<Cursor<Cow<'a, [u8]>>>;

/// Opens a compound file. Some programs, such as SheetJS, declare more sectors than the file has,
/// to fill the last sector of the FAT; the missing ones are appended as zeros.
pub fn open(bytes: &[u8]) -> Result<CompoundFile<'_>> {
    let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let sector = if number(30).is_some_and(|shifts| shifts & 0xffff == 12) { 4096 } else { 512 };
    // Each FAT sector covers as many sectors as it has 4-byte entries; the header precedes them.
    let table = sector * sector / 4;
    let tables = number(44).and_then(|tables| usize::try_from(tables).ok()).unwrap_or_default();
    let stated = tables.saturating_mul(table).saturating_add(sector);
    // More than one FAT sector's worth is a cut-off file, which the library has to reject.
    let filled = match stated.checked_sub(bytes.len()) {
        Some(missing @ 1..) if missing <= table => Cow::Owned([bytes, &vec![0; missing]].concat()),
        _ => Cow::Borrowed(bytes),
    };
    cfb::CompoundFile::open(Cursor::new(filled))
}
