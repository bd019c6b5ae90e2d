//! Zip archives, as a paged list of their files, and unpacking of a requested file.

use crate::package::OpenPackage;
use crate::{ContentBlock, EmbeddedFile, InnerFile, OutputSink, ReadFailure, StopReason};

/// Files listed on a page.
const FILES: usize = 500;

/// Reads a zip file.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let files = OpenPackage::open(bytes)?.files();
    if files.is_empty() {
        return Err(ReadFailure::Empty.into());
    }
    let (files, more, next) = out.page(files, FILES)?;
    out.block(ContentBlock::Files { files, more, next })
}

/// Returns the file with the number `part`, from 1.
pub fn inside(bytes: &[u8], part: u32) -> Result<EmbeddedFile, ReadFailure> {
    let mut package = OpenPackage::open(bytes)?;
    let bytes = package.unpack(part)?;
    let name = package.files().into_iter().find(|file| file.part == part).map(|file| file.name);
    Ok(EmbeddedFile { name: name.unwrap_or_default(), bytes })
}

/// Returns the block that lists the first 500 files, with the number of the others.
pub fn listed(mut files: Vec<InnerFile>) -> ContentBlock {
    let more = u64::try_from(files.len().saturating_sub(FILES)).unwrap_or(u64::MAX);
    files.truncate(FILES);
    ContentBlock::Files { files, more, next: None }
}
