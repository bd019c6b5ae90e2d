//! Outlook's `winmail.dat` (TNEF, MS-OXTNEF): the text of a message and the names of its files.
//!
//! Some Exchange servers pack a whole message into it, and other mail programs show nothing. It
//! is a list of attributes; one of them is a list of MAPI properties, of which two are the text.
//! What is damaged ends the list. RTF, in which the text may be instead, is not read here.

use super::charset;

/// What a `winmail.dat` holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tnef {
    /// The text, plain.
    pub plain: Option<String>,
    /// The text as HTML.
    pub html: Option<String>,
    /// True if it has the text as RTF.
    pub rtf: bool,
    /// The names of its files.
    pub files: Vec<String>,
}

const SIGNATURE: u32 = 0x223e_9f78;
/// Attributes.
const BODY: u32 = 0x0002_800c;
const CODE_PAGE: u32 = 0x0006_9007;
const PROPERTIES: u32 = 0x0006_9003;
const FILE: u32 = 0x0006_9002;
const FILE_TITLE: u32 = 0x0001_8010;
const FILE_PROPERTIES: u32 = 0x0006_9005;
/// MAPI properties.
const TEXT: u16 = 0x1000;
const RTF: u16 = 0x1009;
const HTML: u16 = 0x1013;
const HTML_CODE_PAGE: u16 = 0x3fde;
const LONG_NAME: u16 = 0x3707;
/// Files, and properties of one list, beyond these are not read.
const MOST: usize = 1_000;

/// Reads a `winmail.dat`; none if it is not one.
pub fn read(bytes: &[u8]) -> Option<Tnef> {
    let mut input = Input(bytes);
    if input.u32()? != SIGNATURE {
        return None;
    }
    input.take(2)?;
    let mut found = Tnef::default();
    let mut page = 1252;
    while let Some((id, data)) = input.attribute() {
        match id {
            CODE_PAGE => page = Input(data).u32().unwrap_or(page),
            BODY => found.plain = Some(decoded(data, page)),
            PROPERTIES => message(data, page, &mut found),
            FILE if found.files.len() < MOST => found.files.push(String::new()),
            FILE_TITLE => name(&mut found, decoded(data, page)),
            FILE_PROPERTIES => {
                for (id, value) in properties(data) {
                    if id == LONG_NAME {
                        name(&mut found, value.text(page));
                    }
                }
            }
            _ => {}
        }
    }
    found.files.retain(|name| !name.is_empty());
    Some(found)
}

fn name(found: &mut Tnef, name: String) {
    if let Some(last) = found.files.last_mut() {
        *last = name;
    }
}

fn message(data: &[u8], page: u32, found: &mut Tnef) {
    let all = properties(data);
    let html_page = all.iter().find(|(id, _)| *id == HTML_CODE_PAGE);
    let html_page = html_page.and_then(|(_, value)| Input(value.bytes).u32()).unwrap_or(page);
    for (id, value) in all {
        match id {
            TEXT => found.plain = Some(value.text(page)),
            HTML => found.html = Some(value.text(html_page)),
            RTF => found.rtf = true,
            _ => {}
        }
    }
}

/// A property's value; of several, the first.
struct Property<'a> {
    kind: u16,
    bytes: &'a [u8],
}

impl Property<'_> {
    fn text(&self, page: u32) -> String {
        match self.kind {
            0x1f => {
                let text = charset::decode(self.bytes, Some("utf-16le")).0;
                text.trim_end_matches('\0').to_owned()
            }
            _ => decoded(self.bytes, page),
        }
    }
}

fn decoded(bytes: &[u8], page: u32) -> String {
    let name = match page {
        65001 => "utf-8".to_owned(),
        20127 | 28591 => "iso-8859-1".to_owned(),
        page => format!("cp{page}"),
    };
    charset::decode(bytes, Some(&name)).0.trim_end_matches('\0').to_owned()
}

fn properties(data: &[u8]) -> Vec<(u16, Property<'_>)> {
    let mut input = Input(data);
    let count = input.u32().unwrap_or_default();
    let mut all = Vec::new();
    for _ in 0..count.min(MOST as u32) {
        let Some(property) = input.property() else { break };
        all.push(property);
    }
    all
}

/// The bytes that are left.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn length(&mut self) -> Option<usize> {
        self.u32()?.try_into().ok()
    }

    /// Level, id, length, data, checksum.
    fn attribute(&mut self) -> Option<(u32, &'a [u8])> {
        self.take(1)?;
        let id = self.u32()?;
        let length = self.length()?;
        let data = self.take(length)?;
        // The last checksum may be cut off.
        let _ = self.take(2);
        Some((id, data))
    }

    /// Kind, id, name of a named one, values. All lengths are filled up to four bytes.
    fn property(&mut self) -> Option<(u16, Property<'a>)> {
        let (kind, id) = (self.u16()?, self.u16()?);
        if id >= 0x8000 {
            self.take(16)?;
            if self.u32()? == 0 {
                self.take(4)?;
            } else {
                self.padded()?;
            }
        }
        let (several, kind) = (kind & 0x1000 != 0, kind & 0xefff);
        let fixed = match kind {
            0x02 | 0x03 | 0x04 | 0x0a | 0x0b => Some(4),
            0x05 | 0x06 | 0x07 | 0x14 | 0x40 => Some(8),
            0x48 => Some(16),
            0x0d | 0x1e | 0x1f | 0x102 => None,
            _ => return None,
        };
        let count = if several || fixed.is_none() { self.u32()? } else { 1 };
        let mut first = None;
        for _ in 0..count {
            let bytes = match fixed {
                Some(size) => self.take(size)?,
                None => self.padded()?,
            };
            first.get_or_insert(bytes);
        }
        Some((id, Property { kind, bytes: first.unwrap_or_default() }))
    }

    /// A length and as many bytes.
    fn padded(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        self.take(length.next_multiple_of(4) - length)?;
        Some(bytes)
    }
}
