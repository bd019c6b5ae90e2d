//! Outlook's `winmail.dat` (TNEF, MS-OXTNEF): the text of a message and the names of its files.
//!
//! Some Exchange servers pack a whole message into this file, and other mail programs show an
//! empty message. The file is a list of attributes, one of which is a list of MAPI properties
//! with up to two texts. Damage ends the list. Text that is only in RTF is not read here.

use crate::text::charset;

/// The content of a `winmail.dat`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TnefContent {
    /// The plain text.
    pub plain: Option<String>,
    /// The HTML text.
    pub html: Option<String>,
    /// True if it also has the text as RTF.
    pub rtf: bool,
    /// The names of its files.
    pub files: Vec<String>,
}

const SIGNATURE: &[u8] = b"\x78\x9f\x3e\x22";
/// The attribute with the plain text.
pub const BODY: u32 = 0x0002_800c;
/// The attribute with the code page of texts.
pub const CODE_PAGE: u32 = 0x0006_9007;
/// The attribute with the message's MAPI properties.
pub const PROPERTIES: u32 = 0x0006_9003;
/// The attribute that begins a file.
pub const FILE: u32 = 0x0006_9002;
/// The attribute with a file's short name.
pub const FILE_TITLE: u32 = 0x0001_8010;
/// The attribute with a file's MAPI properties.
pub const FILE_PROPERTIES: u32 = 0x0006_9005;
/// The MAPI properties that are read, by id.
const TEXT: u32 = 0x1000;
const RTF: u32 = 0x1009;
const HTML: u32 = 0x1013;
const HTML_CODE_PAGE: u32 = 0x3fde;
const LONG_NAME: u32 = 0x3707;
/// The maximum number of files, and of properties in one list, that are read.
pub const MAX_FILES: usize = 1_000;

/// Returns true for bytes that begin with the signature of TNEF.
pub fn is_tnef(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Returns the attributes of a `winmail.dat`, each with its id.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    // The signature is followed by a key of two bytes that links messages.
    let mut input = TnefInput(bytes.get(6..).unwrap_or_default());
    std::iter::from_fn(move || input.attribute())
}

/// Returns the MAPI properties of an attribute with their tags. A property with several values
/// has only its first.
pub fn properties(data: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut input = TnefInput(data);
    let count = input.length().unwrap_or_default();
    (0..count.min(MAX_FILES)).map_while(move |_| input.property())
}

/// Reads a `winmail.dat`. Returns `None` for any other file.
pub fn read(bytes: &[u8]) -> Option<TnefContent> {
    if !is_tnef(bytes) || bytes.len() < 6 {
        return None;
    }
    let mut found = TnefContent::default();
    // Used until the file declares its own code page.
    let mut page = 1252;
    for (id, data) in attributes(bytes) {
        match id {
            CODE_PAGE => page = TnefInput(data).u32().unwrap_or(page),
            BODY => found.plain = Some(decoded(data, page)),
            PROPERTIES => message(data, page, &mut found),
            FILE if found.files.len() < MAX_FILES => found.files.push(String::new()),
            FILE_TITLE => name(&mut found, decoded(data, page)),
            FILE_PROPERTIES => {
                for (tag, value) in properties(data) {
                    if tag >> 16 == LONG_NAME {
                        // Follows the short name in the file, and replaces it.
                        name(&mut found, text(tag, value, page));
                    }
                }
            }
            _ => {}
        }
    }
    found.files.retain(|name| !name.is_empty());
    Some(found)
}

fn name(found: &mut TnefContent, name: String) {
    if let Some(last) = found.files.last_mut() {
        *last = name;
    }
}

fn message(data: &[u8], page: u32, found: &mut TnefContent) {
    let html_page = properties(data).find(|(tag, _)| tag >> 16 == HTML_CODE_PAGE);
    let html_page = html_page.and_then(|(_, value)| TnefInput(value).u32()).unwrap_or(page);
    for (tag, value) in properties(data) {
        match tag >> 16 {
            TEXT => found.plain = Some(text(tag, value, page)),
            HTML => found.html = Some(text(tag, value, html_page)),
            RTF => found.rtf = true,
            _ => {}
        }
    }
}

fn text(tag: u32, value: &[u8], page: u32) -> String {
    match tag & 0xffff {
        // `PtypString`, which is always UTF-16 (MS-OXCDATA, 2.11.1). Other strings are in a
        // code page.
        0x1f => charset::decode(value, Some("utf-16le")).0.trim_end_matches('\0').to_owned(),
        _ => decoded(value, page),
    }
}

fn decoded(bytes: &[u8], page: u32) -> String {
    let name = match page {
        65001 => "utf-8".to_owned(),
        // US-ASCII and Latin-1 are not known by the name `cp` with a number.
        20127 | 28591 => "iso-8859-1".to_owned(),
        page => format!("cp{page}"),
    };
    charset::decode(bytes, Some(&name)).0.trim_end_matches('\0').to_owned()
}

/// The remaining input.
struct TnefInput<'a>(&'a [u8]);

impl<'a> TnefInput<'a> {
    /// Removes and returns the next bytes; `None` if there are fewer.
    fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take_bytes(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn length(&mut self) -> Option<usize> {
        self.u32()?.try_into().ok()
    }

    /// Reads an attribute: level, id, length, data, checksum.
    fn attribute(&mut self) -> Option<(u32, &'a [u8])> {
        self.take_bytes(1)?;
        let id = self.u32()?;
        let length = self.length()?;
        let data = self.take_bytes(length)?;
        // Ignored, because the checksum of the last attribute may be missing.
        let _ = self.take_bytes(2);
        Some((id, data))
    }

    /// Reads a property: tag, name if it is a named one, values. All lengths are padded to four
    /// bytes.
    fn property(&mut self) -> Option<(u32, &'a [u8])> {
        let tag = self.u32()?;
        // A named property, whose id is from 0x8000 on.
        if tag >= 0x8000_0000 {
            self.take_bytes(16)?;
            match self.u32()? {
                // The name is a number, or a string with its length.
                0 => self.take_bytes(4)?,
                _ => self.padded()?,
            };
        }
        let size = match tag & 0x0fff {
            0x02 | 0x03 | 0x04 | 0x0a | 0x0b => Some(4),
            0x05 | 0x06 | 0x07 | 0x14 | 0x40 => Some(8),
            0x48 => Some(16),
            0x0d | 0x1e | 0x1f | 0x102 => None,
            // The length of an unknown type is unknown, so the next property cannot be found.
            _ => return None,
        };
        // Values of variable length have a count even if there is only one.
        let several = tag & 0x1000 > 0 || size.is_none();
        let mut first = None;
        for _ in 0..if several { self.length()? } else { 1 } {
            let bytes = match size {
                Some(size) => self.take_bytes(size)?,
                None => self.padded()?,
            };
            first.get_or_insert(bytes);
        }
        Some((tag, first.unwrap_or_default()))
    }

    /// Reads a length and as many bytes, padded to four.
    fn padded(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        let bytes = self.take_bytes(length)?;
        self.take_bytes(length.next_multiple_of(4) - length)?;
        Some(bytes)
    }
}
