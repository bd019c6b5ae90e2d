//! The properties of Outlook messages (MS-OXPROPS), independent of their storage.

use std::collections::HashMap;

use daysheet_core::event::time::find_zone;
use daysheet_core::provider::{MessageContent, PlainText, TextPart};
use daysheet_core::text::charset;
use encoding_rs::{Encoding, UTF_16LE, WINDOWS_1252};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{StoredMessage, pages, rtf};
use crate::{FileKind, ReadFailure};

const CLASS: u16 = 0x001a;
const SUBJECT: u16 = 0x0037;
const SENT: u16 = 0x0039;
const AUTHOR: [u16; 3] = [0x0042, 0x5d02, 0x0065];
const START: u16 = 0x0060;
const END: u16 = 0x0061;
const SENDER: [u16; 3] = [0x0c1a, 0x5d01, 0x0c1f];
const ROLE: u16 = 0x0c15;
const CC: u16 = 0x0e03;
const TO: u16 = 0x0e04;
const DELIVERED: u16 = 0x0e06;
const TEXT: u16 = 0x1000;
const RICH: u16 = 0x1009;
const HTML: u16 = 0x1013;
const PERSON: [u16; 3] = [0x3001, 0x39fe, 0x3003];
/// The content of an attachment: a stream or a storage.
pub const DATA: u16 = 0x3701;
const NAMES: [u16; 3] = [0x3707, 0x3704, 0x3001];
/// Code pages of the HTML and of other texts.
const PAGE_HTML: u16 = 0x3fde;
const PAGE: u16 = 0x3ffd;
/// Types of values.
const STRING8: u16 = 0x001e;
const STRING: u16 = 0x001f;
/// The properties that are read; all others are skipped.
const READ: &[u16] = &[
    CLASS, SUBJECT, SENT, 0x0042, 0x5d02, 0x0065, START, END, 0x0c1a, 0x5d01, 0x0c1f, ROLE, CC, TO,
    DELIVERED, TEXT, RICH, HTML, 0x3001, 0x39fe, 0x3003, 0x3707, 0x3704, PAGE_HTML, PAGE,
];
/// The maximum size of rich text, in bytes.
const MAX_LEN: usize = 16 << 20;

/// The properties of a message, recipient or attachment: type and bytes of each.
#[derive(Debug, Default)]
pub struct MapiProperties(HashMap<u16, (u16, Vec<u8>)>);

impl MapiProperties {
    /// Returns true if the property with this tag is read.
    pub fn wants(tag: u32) -> bool {
        READ.contains(&halves(tag).0)
    }

    /// Stores a property under its tag.
    pub fn add(&mut self, tag: u32, bytes: Vec<u8>) {
        let (id, kind) = halves(tag);
        self.0.insert(id, (kind, bytes));
    }

    fn bytes(&self, id: u16) -> Option<&[u8]> {
        self.0.get(&id).map(|(_, bytes)| bytes.as_slice())
    }

    fn number(&self, id: u16) -> Option<u32> {
        self.bytes(id)?.first_chunk().copied().map(u32::from_le_bytes)
    }

    /// Returns a time, stored as units of 100 nanoseconds since 1601.
    fn time(&self, id: u16) -> Option<Timestamp> {
        let ticks = u64::from_le_bytes(*self.bytes(id)?.first_chunk()?);
        let seconds = i64::try_from(ticks / 10_000_000).ok()? - 11_644_473_600;
        Timestamp::from_second(seconds).ok().filter(|_| ticks > 0)
    }

    fn text(&self, id: u16, page: &'static Encoding) -> Option<String> {
        let (kind, bytes) = self.0.get(&id)?;
        let encoding = match *kind {
            STRING => UTF_16LE,
            STRING8 => page,
            _ => return None,
        };
        let text = encoding.decode_without_bom_handling(bytes).0;
        let text = text.trim_end_matches('\0');
        Some(text.to_owned()).filter(|text| !text.trim().is_empty())
    }

    /// Returns the name and address of a person, given the ids of name, SMTP address and any
    /// address.
    fn person(&self, [name, smtp, any]: [u16; 3], page: &'static Encoding) -> Option<String> {
        let name = self.text(name, page);
        // Addresses of Exchange are paths (`/o=…/cn=…`) that mean nothing outside of it.
        let address = self.text(smtp, page).or_else(|| self.text(any, page));
        match (name, address.filter(|address| address.contains('@'))) {
            (Some(name), Some(address)) if name != address => Some(format!("{name} <{address}>")),
            (name, address) => address.or(name),
        }
    }

    /// Returns the file name of an attachment.
    pub fn file_name(&self, page: &'static Encoding) -> Option<String> {
        NAMES.into_iter().find_map(|id| self.text(id, page))
    }

    /// Returns the encoding of texts with single-byte characters.
    pub fn page(&self) -> &'static Encoding {
        self.number(PAGE).or(self.number(PAGE_HTML)).map_or(WINDOWS_1252, pages::code_page)
    }

    /// Builds a message from its properties and the properties of its recipients.
    pub fn message(&self, recipients: &[Self], zone: &str) -> StoredMessage {
        let page = self.page();
        let zone = find_zone(zone).unwrap_or(TimeZone::UTC);
        let time = |id: u16| {
            let at = self.time(id)?.to_zoned(zone.clone());
            Some(at.strftime("%a, %-d %b %Y %H:%M %z").to_string())
        };
        let all = |role: u32, shown: u16| {
            let them = recipients.iter().filter(|one| one.number(ROLE) == Some(role));
            let them: Vec<_> = them.filter_map(|one| one.person(PERSON, page)).collect();
            // `PidTagDisplayTo` has only names, so it is used only if no recipients are stored.
            if them.is_empty() { self.text(shown, page) } else { Some(them.join(", ")) }
        };
        let (author, sender) = (self.person(AUTHOR, page), self.person(SENDER, page));
        let head = [
            ("From", author.or_else(|| sender.clone())),
            ("To", all(1, TO)),
            ("Cc", all(2, CC)),
            ("Date", time(SENT).or_else(|| time(DELIVERED))),
            ("Start", time(START)),
            ("End", time(END)),
            ("Subject", self.text(SUBJECT, page)),
        ];
        let head = head.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let class = self.text(CLASS, page).unwrap_or_default().to_ascii_uppercase();
        let failure = match () {
            // The class names end alike, so the more specific one is tested first.
            () if class.ends_with("SMIME.MULTIPARTSIGNED") => {
                Some(ReadFailure::NotRead(FileKind::Smime))
            }
            () if class.ends_with(".SMIME") => Some(ReadFailure::Encrypted),
            () => None,
        };
        let parts = vec![self.forms(page)];
        let content = MessageContent { parts, ..MessageContent::default() };
        StoredMessage { head, content, files: Vec::new(), failure }
    }

    /// Returns the alternative forms of the text, plainest first.
    fn forms(&self, page: &'static Encoding) -> Vec<Vec<TextPart>> {
        let plain = |text: String| vec![TextPart::Plain(PlainText { text, flowed: None })];
        let rich =
            self.bytes(RICH).and_then(unpacked).and_then(|rich| rtf::parse(&rich, true).ok());
        // Outlook may store HTML inside RTF; it then replaces a missing HTML body, not the plain
        // text.
        let (rich, rich_html) = match rich {
            Some(rich) if rich.html => (None, Some(rich.text)),
            Some(rich) => (Some(rich.text), None),
            None => (None, None),
        };
        let html = self.text(HTML, page).or_else(|| {
            let own = self.number(PAGE_HTML).map_or(page, pages::code_page);
            Some(charset::decode(self.bytes(HTML)?, Some(own.name())).0)
        });
        let text = self.text(TEXT, page).or(rich).map(plain);
        let html = html.or(rich_html).map(|html| vec![TextPart::Html(html)]);
        text.into_iter().chain(html).collect()
    }
}

/// Returns the id and the type in a tag.
fn halves(tag: u32) -> (u16, u16) {
    let [low, high, id_low, id_high] = tag.to_le_bytes();
    (u16::from_le_bytes([id_low, id_high]), u16::from_le_bytes([low, high]))
}

/// Decompresses rich text (MS-OXRTFCP).
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let size = |at: usize| {
        let bytes = packed.get(at..)?.first_chunk().copied();
        bytes.map(u32::from_le_bytes).and_then(|size| usize::try_from(size).ok())
    };
    // The library trusts the header: it allocates the stated size and slices by it.
    let (whole, plain) = (size(4)?, packed.get(8..12)? == b"MELA");
    if whole > MAX_LEN || packed.len() < 16 || plain && packed.len() - 16 < whole {
        return None;
    }
    let text = compressed_rtf::decompress_rtf(packed).ok()?;
    // The library returns each byte as the character with its number.
    Some(text.chars().filter_map(|c| u8::try_from(c).ok()).collect())
}
