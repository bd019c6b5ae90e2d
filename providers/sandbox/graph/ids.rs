//! Ids in Exchange's format: long, different only near their end, and in base64 with the characters
//! of URLs, except for the padding.
//!
//! An id contains the scrambled number of the message, folder or part, so it is the same on every
//! run, and needs no table to be resolved. It is checked by building it again: an id that comes out
//! differently is not of this mailbox.
//!
//! A message's common id contains its folder, so it changes when the message moves. The immutable
//! id does not. Folders have only one id.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::store::message::Message;

/// The first bytes of every folder's and item's id.
const ITEM: [u8; 4] = [0x00, 0x03, 0x24, 0x00];

/// The first bytes of every conversation's id.
const CONVERSATION: [u8; 4] = [0x00, 0x04, 0x24, 0x00];

/// The first bytes of every immutable id.
const IMMUTABLE: [u8; 27] = [
    0x00, 0x09, 0x00, 0x2e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1d, 0x84, 0x03, 0x11, 0xaa, 0x66, 0x11,
    0xcd, 0x9b, 0xc8, 0x00, 0xaa, 0x00, 0x2f, 0xc4, 0x5a, 0x0d, 0x00,
];

/// The bytes between a message's id and the attachment's part.
const PART: [u8; 5] = [0x01, 0x12, 0x00, 0x10, 0x00];

/// The bytes before the start of an occurrence in its id.
const OCCURRENCE: [u8; 4] = [0x01, 0x51, 0x00, 0x08];

/// Returns the position of [`OCCURRENCE`] in common or immutable ids.
fn occurrence_at(immutable: bool) -> usize {
    if immutable { IMMUTABLE.len() } else { 40 }
}

/// The seconds from the year 1, from which Exchange counts, to 1970.
const YEAR_ONE: i64 = 62_135_596_800;

/// The number of the calendar folder, which contains the events.
const CALENDAR: u16 = 0x0d;

/// The length of a message's id in bytes, common and immutable.
const MESSAGE_LENGTHS: [usize; 2] = [113, 51];

/// The position of the message's number in its id, common and immutable.
const MESSAGE_AT: [usize; 2] = [89, 27];

/// The position of the thread's number in a conversation's id.
const THREAD_AT: usize = 43;

/// Encodes an id: base64 with `-` for `/` and `_` for `+`, the reverse of RFC 4648, section 5.
/// Versions (`changeKey`) use the standard characters.
fn text(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes).replace('/', "-").replace('+', "_")
}

/// Decodes an id.
fn bytes(id: &str) -> Option<Vec<u8>> {
    STANDARD.decode(id.replace('-', "/").replace('_', "+")).ok()
}

/// The ids of one mailbox.
#[derive(Debug)]
pub(crate) struct MailboxIds {
    /// The mailbox's UUID.
    guid: String,
    /// Further UUIDs that all ids of the mailbox contain.
    store: [u8; 16],
    root: [u8; 16],
}

impl MailboxIds {
    /// Returns the ids of an address's mailbox.
    pub fn new(address: &str) -> Self {
        let address = address.to_lowercase();
        Self {
            guid: guid(&digest(&[b"mailbox", address.as_bytes()])),
            store: digest(&[b"store", address.as_bytes()]),
            root: digest(&[b"root", address.as_bytes()]),
        }
    }

    /// Returns the mailbox's UUID, which is also its owner's id.
    pub fn mailbox(&self) -> &str {
        &self.guid
    }

    /// Returns a folder's id: 120 characters.
    pub fn folder(&self, number: u16) -> String {
        let [high, low] = number.to_be_bytes();
        let mut bytes = self.entry(&ITEM, [0x00, 0x2e]);
        bytes.extend_from_slice(&[0x01, 0x00]);
        bytes.extend_from_slice(&self.store);
        bytes.extend_from_slice(&[0, 0, 0, 0, 1, low, high, 0]);
        text(bytes)
    }

    /// Returns a message's id: 152 characters, or 68 if immutable.
    pub fn message_id(&self, message: u64, folder: u16, immutable: bool) -> String {
        text(self.message_bytes(message, folder, immutable))
    }

    fn message_bytes(&self, message: u64, folder: u16, immutable: bool) -> Vec<u8> {
        let mut bytes = if immutable {
            IMMUTABLE.to_vec()
        } else {
            let mut bytes = self.entry(&ITEM, [0x00, 0x46]);
            bytes.extend_from_slice(&[0x07, 0x00]);
            bytes.extend_from_slice(&self.store);
            let [high, low] = folder.to_be_bytes();
            bytes.extend_from_slice(&[0, 0, 0, 0, 1, low, high, 0]);
            bytes
        };
        let check = digest(&[b"message", &message.to_be_bytes(), &self.store]);
        bytes.extend_from_slice(&self.scramble(message));
        bytes.extend_from_slice(check.get(..8).unwrap_or_default());
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(check.get(8..12).unwrap_or_default());
        bytes.extend_from_slice(&[0, 0]);
        bytes
    }

    /// Returns the number in a message's id, and whether the id is immutable. Only the form is
    /// checked: callers build the id again to see that it is right.
    pub fn message_of(&self, id: &str) -> Option<(u64, bool)> {
        let bytes = bytes(id)?;
        self.message_in(&bytes)
    }

    fn message_in(&self, bytes: &[u8]) -> Option<(u64, bool)> {
        let immutable = bytes.starts_with(&IMMUTABLE);
        if !immutable && !bytes.starts_with(&ITEM) {
            return None;
        }
        let [common_length, immutable_length] = MESSAGE_LENGTHS;
        let [common_at, immutable_at] = MESSAGE_AT;
        let (length, at) =
            if immutable { (immutable_length, immutable_at) } else { (common_length, common_at) };
        // An exact length, because ids of attachments begin with the id of their message.
        let hidden = bytes.get(at..).filter(|_| bytes.len() == length)?;
        Some((self.unscramble(hidden)?, immutable))
    }

    /// Returns the id of an event, or of the occurrence that starts at a second since 1970.
    pub fn event(&self, place: usize, occurrence: Option<i64>, immutable: bool) -> String {
        let number = u64::try_from(place).unwrap_or(u64::MAX);
        let mut bytes = self.message_bytes(number, CALENDAR, immutable);
        if let Some(second) = occurrence {
            let at = occurrence_at(immutable);
            // Exchange counts in ticks of 100 nanoseconds, ten million per second.
            let stamp = second.wrapping_add(YEAR_ONE).wrapping_mul(10_000_000);
            let stamp = [OCCURRENCE.as_slice(), &stamp.to_be_bytes()].concat();
            bytes.splice(at..at, stamp);
        }
        text(bytes)
    }

    /// Reads the arguments of [`MailboxIds::event`] from an id. `None` if the id is not of this mailbox.
    ///
    /// # Errors
    ///
    /// If the id is malformed.
    pub fn event_of(&self, id: &str) -> Result<Option<(usize, Option<i64>, bool)>, ()> {
        let mut bytes = bytes(id).ok_or(())?;
        let immutable = bytes.starts_with(&IMMUTABLE);
        let at = occurrence_at(immutable);
        // The bytes of an id without an occurrence could be those of [`OCCURRENCE`] by chance, so
        // its length decides.
        let plain = MESSAGE_LENGTHS.contains(&bytes.len());
        let stamp = bytes
            .get(at..)
            .filter(|_| !plain)
            .and_then(|rest| rest.strip_prefix(&OCCURRENCE))
            .and_then(|rest| rest.first_chunk().copied());
        let occurrence = stamp.map(|stamp| {
            bytes.drain(at..at + OCCURRENCE.len() + 8);
            i64::from_be_bytes(stamp).div_euclid(10_000_000) - YEAR_ONE
        });
        let (number, immutable) = self.message_in(&bytes).ok_or(())?;
        let found = usize::try_from(number).ok();
        let found = found.map(|place| (place, occurrence, immutable));
        Ok(found.filter(|(place, occurrence, immutable)| {
            self.event(*place, *occurrence, *immutable) == id
        }))
    }

    /// Returns a calendar's id: 120 characters.
    pub fn calendar(&self, name: &str) -> String {
        self.other("calendar", name)
    }

    /// Returns the version of an item that changes with a mark.
    pub fn version(&self, mark: u64) -> String {
        // The top bit keeps these apart from the versions of messages.
        self.change_key(mark ^ (1 << 63))
    }

    /// Returns the id of a message's part, counted in reading order.
    pub fn attachment(&self, message: &Message, folder: u16, part: u32, immutable: bool) -> String {
        let mut bytes = self.message_bytes(message.id, folder, immutable);
        let check = digest(&[b"part", &message.id.to_be_bytes(), &part.to_be_bytes()]);
        bytes.extend_from_slice(&PART);
        bytes.extend_from_slice(&check);
        text(bytes)
    }

    /// Returns true if an id has the form of an attachment's.
    pub fn is_attachment(id: &str) -> bool {
        let Some(bytes) = bytes(id) else {
            return false;
        };
        MESSAGE_LENGTHS.iter().any(|length| {
            bytes.len() == length + PART.len() + 16
                && bytes.get(*length..).is_some_and(|rest| rest.starts_with(&PART))
        })
    }

    /// Returns true if an id has the form of a folder's.
    pub fn is_folder(id: &str) -> bool {
        bytes(id).is_some_and(|bytes| bytes.len() == 89 && bytes.starts_with(&ITEM))
    }

    /// Returns a conversation's id: 80 characters.
    pub fn conversation(&self, thread: u64) -> String {
        let mut bytes = CONVERSATION.to_vec();
        bytes.extend_from_slice(self.guid.as_bytes());
        bytes.extend_from_slice(&[0x00, 0x10, 0x00]);
        bytes.extend_from_slice(&self.scramble(thread));
        let check = digest(&[b"thread", &thread.to_be_bytes(), &self.store]);
        bytes.extend_from_slice(check.get(..8).unwrap_or_default());
        text(bytes)
    }

    /// Returns the thread of a conversation's id. `None` if the id is of another mailbox.
    ///
    /// # Errors
    ///
    /// If the id is malformed.
    pub fn thread(&self, id: &str) -> Result<Option<u64>, ()> {
        let bytes = bytes(id).ok_or(())?;
        if bytes.len() != THREAD_AT + 16 || !bytes.starts_with(&CONVERSATION) {
            return Err(());
        }
        let thread = bytes.get(THREAD_AT..).and_then(|hidden| self.unscramble(hidden));
        Ok(thread.filter(|thread| self.conversation(*thread) == id))
    }

    /// Returns the version (`changeKey`) for a number.
    pub fn change_key(&self, message: u64) -> String {
        let mut bytes = vec![0x09, 0, 0, 0, 0x16, 0, 0, 0];
        bytes.extend_from_slice(&self.store);
        bytes.extend_from_slice(&[0, 0]);
        let check = digest(&[b"version", &message.to_be_bytes()]);
        bytes.extend_from_slice(check.get(..4).unwrap_or_default());
        STANDARD.encode(bytes)
    }

    /// Returns the id of any other entity, derived from its name: 120 characters.
    pub fn other(&self, kind: &str, name: &str) -> String {
        let mut bytes = self.entry(&ITEM, [0x00, 0x46]);
        bytes.extend(digest(&[kind.as_bytes(), name.as_bytes(), &self.root]));
        bytes.extend_from_slice(&[0; 10]);
        text(bytes)
    }

    /// Returns the first bytes of the ids of folders and items.
    fn entry(&self, start: &[u8; 4], kind: [u8; 2]) -> Vec<u8> {
        let mut bytes = start.to_vec();
        bytes.extend_from_slice(self.guid.as_bytes());
        bytes.extend_from_slice(&kind);
        bytes.extend_from_slice(&[0; 5]);
        bytes.extend_from_slice(&self.root);
        bytes
    }

    /// Scrambles a number.
    fn scramble(&self, number: u64) -> [u8; 8] {
        (number ^ self.mask()).wrapping_mul(FACTOR).to_be_bytes()
    }

    /// Restores a scrambled number.
    fn unscramble(&self, hidden: &[u8]) -> Option<u64> {
        let number = u64::from_be_bytes(*hidden.first_chunk()?);
        Some(number.wrapping_mul(INVERSE) ^ self.mask())
    }

    fn mask(&self) -> u64 {
        let first = self.store.first_chunk().copied().unwrap_or_default();
        u64::from_be_bytes(first)
    }
}

/// An odd number and its inverse modulo 2^64. Multiplying by the first spreads a number over all
/// bits, multiplying by the second restores it.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = 0xf1de_83e1_9937_733d;

/// Returns the first 16 bytes of a hash of all parts.
fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
        // A separator, so that `ab`, `c` and `a`, `bc` differ.
        hash.update([0]);
    }
    hash.finalize().first_chunk().copied().unwrap_or_default()
}

/// Formats 16 bytes as a UUID of version 4.
pub(super) fn guid(bytes: &[u8; 16]) -> String {
    let number = u128::from_be_bytes(*bytes);
    let number = number & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{number:032x}");
    let mut out = String::with_capacity(36);
    for (place, char) in hex.chars().enumerate() {
        if [8, 12, 16, 20].contains(&place) {
            out.push('-');
        }
        out.push(char);
    }
    out
}

/// Returns the UUID of a name.
pub(super) fn named_guid(name: &str) -> String {
    guid(&digest(&[b"name", name.as_bytes()]))
}
