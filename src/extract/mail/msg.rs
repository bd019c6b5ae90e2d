//! Messages as saved by Outlook (MS-OXMSG), and `winmail.dat`.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use daysheet_core::body::tnef::is_tnef;

use super::mapi::{DATA, MapiProperties};
use super::tnef;
use crate::compound::{self, CompoundFile};
use crate::{EmbeddedFile, FileKind, OutputSink, ReadFailure, StopReason, UNPACKED};

/// Maximum entries of a folder that are read.
const ENTRIES: usize = 5_000;
/// The stream with the properties that have no stream of their own.
const FIXED: &str = "__properties_version1.0";
/// The prefix of streams that hold one property each.
const STREAM: &str = "__substg1.0_";
const RECIPIENT: &str = "__recip_version1.0_#";
const ATTACHMENT: &str = "__attach_version1.0_#";

/// Reads a message of Outlook.
pub fn read(kind: FileKind, bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    if kind == FileKind::Tnef {
        return tnef::read(bytes, out);
    }
    let mut file = open(bytes)?;
    let own = props(&mut file, Path::new("/"));
    let mut recipients = Vec::new();
    for at in folders(&file, RECIPIENT) {
        recipients.push(props(&mut file, &at));
    }
    let mut message = own.message(&recipients, &out.request.zone);
    for at in folders(&file, ATTACHMENT) {
        let data = stream(DATA, 0x0102);
        let size = file.entry(at.join(data)).map_or(0, |entry| entry.len());
        let name = name(&props(&mut file, &at), &own, is_folder(&file, &at));
        message.files.push((name, size));
    }
    message.give(out)
}

/// Returns the attached file with the number `part`, from 1.
pub fn inside(bytes: &[u8], part: u32) -> Result<EmbeddedFile, ReadFailure> {
    // A file within a message has no kind yet, only bytes.
    if is_tnef(bytes) {
        return tnef::inside(bytes, part);
    }
    let mut file = open(bytes)?;
    let all = folders(&file, ATTACHMENT);
    let index = usize::try_from(part).unwrap_or(usize::MAX).checked_sub(1);
    let many = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let at = index.and_then(|index| all.get(index)).ok_or(ReadFailure::NoSuchPart(many))?;
    let own = props(&mut file, Path::new("/"));
    let folder = is_folder(&file, at);
    let name = name(&props(&mut file, at), &own, folder);
    let bytes = if folder {
        rebuilt(&mut file, &at.join(stream(DATA, 0x000d)))
    } else {
        contents(&mut file, &at.join(stream(DATA, 0x0102)))
    };
    Ok(EmbeddedFile { name, bytes: bytes.ok_or(ReadFailure::Broken)? })
}

fn open(bytes: &[u8]) -> Result<CompoundFile<'_>, ReadFailure> {
    compound::open(bytes).map_err(|_| ReadFailure::Broken)
}

/// Returns the name of a property's stream.
fn stream(id: u16, kind: u16) -> String {
    format!("{STREAM}{id:04X}{kind:04X}")
}

/// Returns the top-level folders with this prefix, sorted.
fn folders(file: &CompoundFile<'_>, name: &str) -> Vec<PathBuf> {
    let all = file.read_root_storage().take(ENTRIES);
    let all = all.filter(|entry| entry.is_storage() && entry.name().starts_with(name));
    let mut all: Vec<_> = all.map(|entry| entry.path().to_owned()).collect();
    all.sort();
    all
}

/// Returns true if the attachment is a message or another Outlook object.
fn is_folder(file: &CompoundFile<'_>, at: &Path) -> bool {
    file.is_storage(at.join(stream(DATA, 0x000d)))
}

fn contents(file: &mut CompoundFile<'_>, at: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.open_stream(at).ok()?.take(UNPACKED).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the properties of a folder: those with a stream of their own, and those in the common
/// stream.
fn props(file: &mut CompoundFile<'_>, at: &Path) -> MapiProperties {
    let mut props = MapiProperties::default();
    let fixed = contents(file, &at.join(FIXED)).unwrap_or_default();
    // A header of 8, 24 or 32 bytes precedes entries of 16 bytes. The rest of a longer header reads
    // as entries with the id 0, which is not wanted.
    let header = if fixed.len() % 16 == 8 { 8 } else { 0 };
    for entry in fixed.get(header..).unwrap_or_default().as_chunks::<16>().0 {
        let [a, b, c, d, _, _, _, _, value @ ..] = entry;
        let tag = u32::from_le_bytes([*a, *b, *c, *d]);
        if MapiProperties::wants(tag) {
            props.add(tag, value.to_vec());
        }
    }
    let Ok(entries) = file.read_storage(at) else { return props };
    let named = entries.take(ENTRIES).filter_map(|entry| {
        let tag = entry.name().strip_prefix(STREAM)?;
        let tag = u32::from_str_radix(tag, 16).ok().filter(|tag| MapiProperties::wants(*tag))?;
        Some((tag, entry.path().to_owned()))
    });
    for (tag, at) in named.collect::<Vec<_>>() {
        if let Some(bytes) = contents(file, &at) {
            props.add(tag, bytes);
        }
    }
    props
}

/// Returns the name of an attachment. Messages get the extension `.msg`.
fn name(file: &MapiProperties, own: &MapiProperties, folder: bool) -> String {
    let name = file.file_name(own.page()).unwrap_or_else(|| "unnamed".to_owned());
    if folder && !name.to_ascii_lowercase().ends_with(".msg") {
        format!("{name}.msg")
    } else {
        name
    }
}

/// Returns a folder as a compound file of its own.
fn rebuilt(file: &mut CompoundFile<'_>, from: &Path) -> Option<Vec<u8>> {
    let entries = file.walk_storage(from).ok()?.skip(1).take(ENTRIES);
    let entries: Vec<_> =
        entries.map(|entry| (entry.path().to_owned(), entry.is_storage())).collect();
    let mut copy = cfb::CompoundFile::create(Cursor::new(Vec::new())).ok()?;
    for (at, folder) in entries {
        let to = Path::new("/").join(at.strip_prefix(from).ok()?);
        if folder {
            copy.create_storage(to).ok()?;
        } else {
            let bytes = contents(file, &at)?;
            copy.create_stream(to).ok()?.write_all(&bytes).ok()?;
        }
    }
    copy.flush().ok()?;
    Some(copy.into_inner().into_inner())
}
