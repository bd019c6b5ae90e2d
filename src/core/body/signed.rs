//! S/MIME messages that are signed but not encrypted, whose text is inside the signature.
//!
//! A reader of CMS (RFC 5652) for the signed content alone; signatures and certificates are not
//! checked. Programs write CMS in BER, with split strings and indefinite lengths, while the
//! libraries for CMS read only DER.

use mail_parser::{MessageParser, MessagePart};

use super::entity::{self, PartTree};
use crate::provider::MessageContent;
use crate::text::{note, quoted_list};

/// The media types of `smime.p7m`, which may also be encrypted (RFC 8551, 3.5).
pub const TYPES: &[&str] = &["application/pkcs7-mime", "application/x-pkcs7-mime"];
/// `signedData`, 1.2.840.113549.1.7.2 (RFC 5652, 5.1).
const SIGNED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
const SEQUENCE: u8 = 0x30;
/// The tags of an octet string, and of one in parts.
const OCTETS: u8 = 0x04;
const OCTETS_IN_PARTS: u8 = 0x24;
/// The tag `[0]` of an element that wraps another one.
const EXPLICIT: u8 = 0xa0;
/// The maximum nesting of elements. Signed content needs ten levels.
const MAX_DEPTH: usize = 20;

/// Adds the text of `smime.p7m` to its message, if it is signed and not encrypted.
pub fn unpack(p7m: &[u8], message: &mut MessageContent) {
    let Some(content) = content(p7m) else { return };
    let Some(parsed) = MessageParser::default().parse(&content) else { return };
    let tree = PartTree::new(&parsed);
    if !tree.texts.is_empty() {
        message
            .notes
            .push("its text is packed in its S/MIME signature, which is not checked".into());
        message.obstacle = None;
    }
    if !tree.files.is_empty() {
        let name = |part: &&MessagePart<'_>| entity::name(&parsed, part);
        let names: Vec<_> = tree.files.iter().map(name).collect();
        message.notes.push(note!(
            "the signature packs {} {}, which mail_attachment as=text reads: {}",
            names.len(),
            if names.len() == 1 { "attachment" } else { "attachments" },
            quoted_list(&names)
        ));
    }
    message.notes.extend(tree.odd.iter().filter_map(|subtype| entity::unknown(subtype)));
    message.parts.extend(tree.texts);
}

/// Returns the signed content of a CMS document, a MIME entity. `None` if the document is
/// encrypted, is a detached signature, or is damaged.
pub fn content(bytes: &[u8]) -> Option<Vec<u8>> {
    let whole = BerElement::first(bytes, MAX_DEPTH)?.if_tagged(SEQUENCE)?;
    let [kind, signed, ..] = whole.children()?[..] else { return None };
    // Encrypted content has another type, `envelopedData`.
    let [signed, ..] =
        signed.if_tagged(EXPLICIT).filter(|_| kind.body == SIGNED_DATA)?.children()?[..]
    else {
        return None;
    };
    // The version, the digest algorithms, and the signed content.
    let [_, _, packed, ..] = signed.if_tagged(SEQUENCE)?.children()?[..] else { return None };
    let [_, content, ..] = packed.if_tagged(SEQUENCE)?.children()?[..] else { return None };
    let [content, ..] = content.if_tagged(EXPLICIT)?.children()?[..] else { return None };
    let mut found = Vec::new();
    content.octets(&mut found)?;
    Some(found)
}

/// An element of BER (X.690, 8.1).
#[derive(Clone, Copy)]
struct BerElement<'a> {
    tag: u8,
    body: &'a [u8],
    /// The size of the whole element in bytes.
    size: usize,
    /// The number of further levels that may be read.
    levels: usize,
}

impl<'a> BerElement<'a> {
    /// Reads the element at the beginning of `bytes`.
    fn first(bytes: &'a [u8], levels: usize) -> Option<Self> {
        // Elements of indefinite length are read by recursion, which a document could nest
        // without end.
        let levels = levels.checked_sub(1)?;
        let (tag, length, after) = match bytes {
            // Tags of several bytes do not occur in CMS.
            [tag, ..] if tag & 0x1f == 0x1f => return None,
            [tag, length, after @ ..] => (*tag, *length, after),
            _ => return None,
        };
        // An indefinite length (X.690, 8.1.3.6): the element ends at two zero bytes.
        if length == 0x80 {
            let mut end = 0;
            loop {
                let rest = after.get(end..)?;
                if rest.starts_with(&[0, 0]) {
                    break;
                }
                end += Self::first(rest, levels)?.size;
            }
            return Some(Self { tag, body: after.get(..end)?, size: 2 + end + 2, levels });
        }
        let digits = usize::from(length & 0x7f);
        let (length, head) = if length < 0x80 {
            (digits, 0)
        } else {
            let digits = after.get(..digits).filter(|digits| digits.len() <= 4)?;
            (digits.iter().fold(0, |all, digit| all << 8 | usize::from(*digit)), digits.len())
        };
        let end = head.checked_add(length)?;
        Some(Self { tag, body: after.get(head..end)?, size: 2 + end, levels })
    }

    /// Returns the element if it has this tag.
    fn if_tagged(self, tag: u8) -> Option<Self> {
        (self.tag == tag).then_some(self)
    }

    /// Returns the elements inside it.
    fn children(&self) -> Option<Vec<Self>> {
        let mut rest = self.body;
        let mut found = Vec::new();
        while !rest.is_empty() {
            let child = Self::first(rest, self.levels)?;
            rest = rest.get(child.size..)?;
            found.push(child);
        }
        Some(found)
    }

    /// Appends an octet string, which may be split into parts.
    fn octets(&self, out: &mut Vec<u8>) -> Option<()> {
        match self.tag {
            OCTETS => out.extend_from_slice(self.body),
            OCTETS_IN_PARTS => self.children()?.iter().try_for_each(|part| part.octets(out))?,
            _ => return None,
        }
        Some(())
    }
}
