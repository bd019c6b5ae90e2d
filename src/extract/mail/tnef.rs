//! Outlook's `winmail.dat` (TNEF, MS-OXTNEF): a message as a list of attributes.
//!
//! Attributes of before MAPI come first, properties of MAPI in one attribute after them, and
//! then the files, each begun by an attribute of its own. What is damaged ends the list.

use super::mapi::{DATA, Props};
use crate::{Failure, File, Out, Stop};

const SIGNATURE: &[u8] = b"\x78\x9f\x3e\x22";
/// Attributes, and the tags of the properties that some of them are.
const SUBJECT: (u32, u32) = (0x0001_8004, 0x0037_001e);
const BODY: (u32, u32) = (0x0002_800c, 0x1000_001e);
const CODE_PAGE: (u32, u32) = (0x0006_9007, 0x3ffd_0003);
const TITLE: (u32, u32) = (0x0001_8010, 0x3704_001e);
const PROPERTIES: u32 = 0x0006_9003;
const FILE: u32 = 0x0006_9002;
const FILE_DATA: u32 = 0x0006_800f;
const FILE_PROPERTIES: u32 = 0x0006_9005;
/// Files, and properties of one list, beyond these are not read.
const MOST: usize = 1_000;

/// Returns true for bytes that begin like such a file.
pub fn is_tnef(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Reads such a file.
pub fn read(bytes: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    let (own, files) = parse(bytes);
    let mut message = own.message(&[], &out.request.zone);
    let size = |data: &[u8]| u64::try_from(data.len()).unwrap_or(u64::MAX);
    message.files = files.iter().map(|(file, data)| (name(file, &own), size(data))).collect();
    message.give(out)
}

/// Returns the file number `part` within it, from 1.
pub fn inside(bytes: &[u8], part: u32) -> Result<File, Failure> {
    let (own, files) = parse(bytes);
    let at = usize::try_from(part).unwrap_or(usize::MAX).checked_sub(1);
    let many = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let (file, data) = at.and_then(|at| files.get(at)).ok_or(Failure::NoSuchPart(many))?;
    Ok(File { name: name(file, &own), bytes: data.to_vec() })
}

fn name(file: &Props, own: &Props) -> String {
    file.file_name(own.page()).unwrap_or_else(|| "unnamed".to_owned())
}

/// Returns the properties of the message, and of each of its files, with its bytes.
fn parse(bytes: &[u8]) -> (Props, Vec<(Props, &[u8])>) {
    // After the signature comes a key that links messages.
    let mut input = Input(bytes.get(6..).unwrap_or_default());
    let (mut own, mut files) = (Props::default(), Vec::<(Props, &[u8])>::new());
    while let Some((id, data)) = input.attribute() {
        for (attribute, tag) in [SUBJECT, BODY, CODE_PAGE] {
            if id == attribute {
                own.add(tag, data.to_vec());
            }
        }
        if id == FILE {
            if files.len() == MOST {
                break;
            }
            files.push((Props::default(), &[]));
        }
        match (id, files.last_mut()) {
            (PROPERTIES, _) => {
                for (tag, value) in properties(data).filter(|(tag, _)| Props::wants(*tag)) {
                    own.add(tag, value.to_vec());
                }
            }
            (FILE_DATA, Some((_, bytes))) => *bytes = data,
            (FILE_PROPERTIES, Some((file, bytes))) => {
                for (tag, value) in properties(data) {
                    match tag >> 16 {
                        // An object's class stands before it.
                        id if id == u32::from(DATA) && tag & 0xffff == 0x0d => {
                            *bytes = value.get(16..).unwrap_or_default();
                        }
                        id if id == u32::from(DATA) => *bytes = value,
                        _ if Props::wants(tag) => file.add(tag, value.to_vec()),
                        _ => {}
                    }
                }
            }
            (id, Some((file, _))) if id == TITLE.0 => file.add(TITLE.1, data.to_vec()),
            _ => {}
        }
    }
    (own, files)
}

/// Returns the properties of a list by their tags; of several values, the first.
fn properties(data: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut input = Input(data);
    let count = input.length().unwrap_or(0);
    (0..count.min(MOST)).map_while(move |_| input.property())
}

/// The bytes that are left.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn length(&mut self) -> Option<usize> {
        self.number()?.try_into().ok()
    }

    /// Level, id, length, data, checksum.
    fn attribute(&mut self) -> Option<(u32, &'a [u8])> {
        self.take(1)?;
        let id = self.number()?;
        let length = self.length()?;
        let data = self.take(length)?;
        // The last checksum may be cut off.
        let _ = self.take(2);
        Some((id, data))
    }

    /// Tag, name of a named one, values. All lengths are filled up to four bytes.
    fn property(&mut self) -> Option<(u32, &'a [u8])> {
        let tag = self.number()?;
        if tag >= 0x8000_0000 {
            self.take(16)?;
            match self.number()? {
                0 => self.take(4)?,
                _ => self.padded()?,
            };
        }
        let size = match tag & 0x0fff {
            0x02 | 0x03 | 0x04 | 0x0a | 0x0b => Some(4),
            0x05 | 0x06 | 0x07 | 0x14 | 0x40 => Some(8),
            0x48 => Some(16),
            0x0d | 0x1e | 0x1f | 0x102 => None,
            _ => return None,
        };
        let several = tag & 0x1000 > 0 || size.is_none();
        let mut first = None;
        for _ in 0..if several { self.length()? } else { 1 } {
            let bytes = match size {
                Some(size) => self.take(size)?,
                None => self.padded()?,
            };
            first.get_or_insert(bytes);
        }
        Some((tag, first.unwrap_or_default()))
    }

    /// A length and as many bytes.
    fn padded(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        self.take(length.next_multiple_of(4) - length)?;
        Some(bytes)
    }
}
