//! Contents of S/MIME signatures: CMS in all its forms, and invalid documents.

use daysheet_core::body::signed::{content, unpack};
use daysheet_core::provider::{MessageContent, PlainText, TextObstacle, TextPart};
use proptest::prelude::*;

const SIGNED: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
const ENVELOPED: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03";
const DATA: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
const ENTITY: &[u8] = b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nHello\r\n--x\r\n\
    Content-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n1\r\n--x--\r\n";

/// Returns an element with a definite or, if `open`, an indefinite length.
fn element(tag: u8, body: &[u8], open: bool) -> Vec<u8> {
    if open {
        return [&[tag, 0x80], body, &[0, 0]].concat();
    }
    let length = u16::try_from(body.len()).unwrap().to_be_bytes();
    match body.len() {
        short @ ..0x80 => [&[tag, short as u8], body].concat(),
        _ => [&[tag, 0x82], &length[..], body].concat(),
    }
}

/// Returns a CMS document around packed content, which has its own tag.
fn document(kind: &[u8], packed: &[u8], open: bool) -> Vec<u8> {
    let packed = [DATA, &element(0xa0, packed, open)].concat();
    let start: &[u8] = b"\x02\x01\x01\x31\x00";
    let certificates = element(0xa0, b"\x30\x00", open);
    let signed = [start, &element(0x30, &packed, open), &certificates, b"\x31\x00"].concat();
    let signed = element(0xa0, &element(0x30, &signed, open), open);
    element(0x30, &[kind, &signed].concat(), open)
}

#[test]
fn signed_text_is_unpacked_with_the_names_of_its_files() {
    let mut message = MessageContent {
        obstacle: Some(TextObstacle::SmimePacked { signed: true }),
        ..MessageContent::default()
    };
    unpack(&document(SIGNED, &element(4, ENTITY, false), false), &mut message);
    let text = PlainText { text: "Hello".to_owned(), flowed: None };
    assert_eq!(message.parts, [[[TextPart::Plain(text)]]]);
    assert_eq!(message.obstacle, None);
    let notes: Vec<String> = message.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "its text is packed in its S/MIME signature, which is not checked",
            "the signature packs 1 attachment, which mail_attachment as=text reads: `a.csv`",
        ]
    );
}

#[test]
fn documents_without_a_signed_content_have_none() {
    let whole = document(SIGNED, &element(4, ENTITY, false), false);
    assert_eq!(content(&whole).as_deref(), Some(ENTITY));
    let detached = element(0x30, DATA, false);
    let detached = [b"\x02\x01\x01\x31\x00", &detached[..], b"\x31\x00"].concat();
    let detached = element(0xa0, &element(0x30, &detached, false), false);
    let cases = [
        document(ENVELOPED, &element(4, ENTITY, false), false),
        element(0x30, &[SIGNED, &detached].concat(), false),
        document(SIGNED, b"\x02\x01\x01", false),
        b"\x30\x84\xff\xff\xff\xff".to_vec(),
        b"\x30\x80".repeat(100_000),
        b"\x24\x80".repeat(100_000),
        Vec::new(),
    ];
    for case in cases {
        assert_eq!(content(&case), None, "{:?}", &case[..case.len().min(40)]);
    }
}

proptest! {
    #[test]
    fn content_is_found_however_it_is_written(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..6),
        open in any::<bool>(),
        end in any::<prop::sample::Index>(),
        flip in any::<u8>(),
    ) {
        let octets: Vec<u8> = parts.iter().flat_map(|part| element(4, part, false)).collect();
        let mut whole = document(SIGNED, &element(0x24, &octets, open), open);
        prop_assert_eq!(content(&whole), Some(parts.concat()));
        // Truncated or damaged documents are rejected without a panic.
        let end = end.index(whole.len());
        prop_assert_eq!(content(&whole[..end]), None);
        whole[end] ^= flip;
        let mut message = MessageContent::default();
        unpack(&whole, &mut message);
    }
}
