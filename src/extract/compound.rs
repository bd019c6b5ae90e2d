//! Compound files of OLE (MS-CFB), in which Outlook and older Office programs write.

use std::borrow::Cow;
use std::io::{Cursor, Result};

/// A compound file that is read.
pub type CompoundFile<'a> = cfb::CompoundFile<Cursor<Cow<'a, [u8]>>>;

/// Opens such a file. Some programs state more sectors than the file has, such as those of SheetJS
/// for the rest of the table of sectors: what is missing of them is filled up.
pub fn open(bytes: &[u8]) -> Result<CompoundFile<'_>> {
    let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let sector = if number(30).is_some_and(|shifts| shifts & 0xffff == 12) { 4096 } else { 512 };
    // Each sector of the table states as many others as it has numbers; the header is one before.
    let table = sector * sector / 4;
    let tables = number(44).and_then(|tables| usize::try_from(tables).ok()).unwrap_or_default();
    let stated = tables.saturating_mul(table).saturating_add(sector);
    let filled = match stated.checked_sub(bytes.len()) {
        Some(missing @ 1..) if missing <= table => Cow::Owned([bytes, &vec![0; missing]].concat()),
        _ => Cow::Borrowed(bytes),
    };
    cfb::CompoundFile::open(Cursor::new(filled))
}
