//! Outlook's `winmail.dat` (TNEF, MS-OXTNEF): a message as a list of attributes.
//!
//! Legacy attributes come first, then MAPI properties in a single attribute, then the files, each
//! introduced by an attribute. Damage ends the list.

use daysheet_core::body::tnef::{
    BODY, CODE_PAGE, FILE, FILE_PROPERTIES, FILE_TITLE, MAX_FILES, PROPERTIES, attributes,
    properties,
};

use super::mapi::{DATA, MapiProperties};
use crate::{EmbeddedFile, OutputSink, ReadFailure, StopReason};

/// Attributes that are properties of the message, and their tags.
const OWN: [(u32, u32); 3] =
    [(0x0001_8004, 0x0037_001e), (BODY, 0x1000_001e), (CODE_PAGE, 0x3ffd_0003)];
const TITLE: u32 = 0x3704_001e;
const FILE_DATA: u32 = 0x0006_800f;

/// Reads a `winmail.dat`.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let (own, files) = parse(bytes);
    let mut message = own.message(&[], &out.request.zone);
    let size = |data: &[u8]| u64::try_from(data.len()).unwrap_or(u64::MAX);
    message.files = files.iter().map(|(file, data)| (name(file, &own), size(data))).collect();
    message.give(out)
}

/// Returns the attached file with the number `part`, from 1.
pub fn inside(bytes: &[u8], part: u32) -> Result<EmbeddedFile, ReadFailure> {
    let (own, files) = parse(bytes);
    let at = usize::try_from(part).unwrap_or(usize::MAX).checked_sub(1);
    let many = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let (file, data) = at.and_then(|at| files.get(at)).ok_or(ReadFailure::NoSuchPart(many))?;
    Ok(EmbeddedFile { name: name(file, &own), bytes: data.to_vec() })
}

fn name(file: &MapiProperties, own: &MapiProperties) -> String {
    file.file_name(own.page()).unwrap_or_else(|| "unnamed".to_owned())
}

/// Returns the properties of the message, and the properties and bytes of each file.
fn parse(bytes: &[u8]) -> (MapiProperties, Vec<(MapiProperties, &[u8])>) {
    let (mut own, mut files) = (MapiProperties::default(), Vec::<(MapiProperties, &[u8])>::new());
    for (id, data) in attributes(bytes) {
        for (attribute, tag) in OWN {
            if id == attribute {
                own.add(tag, data.to_vec());
            }
        }
        if id == FILE {
            if files.len() == MAX_FILES {
                break;
            }
            files.push((MapiProperties::default(), &[]));
        }
        match (id, files.last_mut()) {
            (PROPERTIES, _) => {
                for (tag, value) in properties(data).filter(|(tag, _)| MapiProperties::wants(*tag))
                {
                    own.add(tag, value.to_vec());
                }
            }
            (FILE_DATA, Some((_, bytes))) => *bytes = data,
            (FILE_PROPERTIES, Some((file, bytes))) => {
                for (tag, value) in properties(data) {
                    match tag >> 16 {
                        // The class id of an embedded object (16 bytes) precedes its data.
                        id if id == u32::from(DATA) && tag & 0xffff == 0x0d => {
                            *bytes = value.get(16..).unwrap_or_default();
                        }
                        id if id == u32::from(DATA) => *bytes = value,
                        _ if MapiProperties::wants(tag) => file.add(tag, value.to_vec()),
                        _ => {}
                    }
                }
            }
            (FILE_TITLE, Some((file, _))) => file.add(TITLE, data.to_vec()),
            _ => {}
        }
    }
    (own, files)
}
