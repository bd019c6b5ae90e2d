//! Files of all kinds with some of their bytes changed: reading always ends, with its last line
//! and within the limits. `fuzz/` looks further.

use daysheet_extract::{AnswerLine, ContentBlock, ExtractRequest, TEXT, TextPiece};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::messages::{MAIL, msg, winmail};
use crate::rows::{CARDS, EVENTS, zipped};
use crate::{lines, request};

/// The number of changed files to try.
const CASES: u32 = 2_000;

/// A change to some bytes of a file.
#[derive(Debug, Clone)]
enum Change {
    Set(u8),
    Cut(usize),
    Double(usize),
    Insert(&'static [u8]),
}

/// Bytes with a meaning in one of the formats.
const MEANT: &[&[u8]] = &[
    b"{", b"}", b"\\", b"\\'", b"\\bin99999999 ", b"\\u-1?", b"\\htmltag ", b"\"", b",", b"\r\n",
    b"\r\n\r\n", b"--x", b"BEGIN:", b"END:", b";", b"=\r\n", b"\0\0\0\0", b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f", b"<p>", b"<!--", b"\xed\xa0\x80", b"PK\x01\x02", b"PK\x05\x06",
];

fn change() -> impl Strategy<Value = (u16, Change)> {
    let change = prop_oneof![
        4 => any::<u8>().prop_map(Change::Set),
        2 => (1..200_usize).prop_map(Change::Cut),
        1 => (1..200_usize).prop_map(Change::Double),
        3 => proptest::sample::select(MEANT).prop_map(Change::Insert),
    ];
    (any::<u16>(), change)
}

fn changed(seed: &[u8], changes: &[(u16, Change)]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for (at, change) in changes {
        let at = bytes.len() * usize::from(*at) / 65_536;
        let end = |count: &usize| (at + count).min(bytes.len());
        match change {
            Change::Set(byte) => bytes.iter_mut().skip(at).take(1).for_each(|one| *one = *byte),
            Change::Cut(count) => drop(bytes.drain(at..end(count))),
            Change::Double(count) => {
                let part = bytes[at..end(count)].to_vec();
                bytes.splice(at..at, part);
            }
            Change::Insert(part) => drop(bytes.splice(at..at, part.iter().copied())),
        }
    }
    bytes
}

#[test]
fn files_with_any_bytes_changed_are_read_to_an_end() {
    let rich = b"{\\rtf1\\ansi\\ansicpg932{\\fonttbl{\\f0\\fcharset128 M;}}{\\colortbl;\\red255\\green255\
        \\blue255;}\\f0\\'93\\'fa a{\\v b}{\\cf1 c}{\\field{\\*\\fldinst HYPERLINK \"https://a.example\"}\
        {\\fldrslt d}}{\\*\\annotation e}\\u252?\\trowd\\cell\\row{\\pict 00}}";
    let html =
        b"{\\rtf1\\fromhtml1{\\*\\htmltag64 <p>}\\htmlrtf {\\b \\htmlrtf0 Hi\\htmlrtf }\\htmlrtf0}";
    let mail = MAIL.as_bytes();
    let zip = zipped(&[("a.csv", b"a,b\n1,2\n"), ("b.eml", mail), ("c.rtf", rich)]);
    let seeds: Vec<(&str, Vec<u8>)> = vec![
        ("a.rtf", rich.to_vec()),
        ("b.rtf", html.to_vec()),
        ("a.eml", mail.to_vec()),
        ("a.msg", msg(true)),
        ("winmail.dat", winmail()),
        ("a.ics", EVENTS.to_vec()),
        ("a.vcf", CARDS.to_vec()),
        ("a.csv", b"sep=;\na;b\n\"1\";\"2\"\"\n\"\n".to_vec()),
        (
            "a.html",
            b"<meta charset=koi8-r><style>p{color:white}</style><p>a<table><tr><td>b".to_vec(),
        ),
        ("a.xml", b"<?xml version='1.0' encoding='utf-16'?><a/>".to_vec()),
        ("a.zip", zip),
    ];
    let changes = proptest::collection::vec(change(), 1..6);
    let inside = proptest::collection::vec(1..4_u32, 0..3);
    let strategy = (proptest::sample::select(seeds), changes, inside, 1..3_u32);
    let mut runner =
        TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    runner
        .run(&strategy, |((name, seed), changes, inside, page)| {
            let request = ExtractRequest { inside, page, ..request(name) };
            let found = lines(&request, &changed(&seed, &changes));
            prop_assert!(matches!(found.first(), Some(AnswerLine::Kind(_))));
            prop_assert!(matches!(found.last(), Some(AnswerLine::End(_))));
            let text = found.iter().map(|line| match line {
                AnswerLine::Block(ContentBlock::Text(text)) => text.pieces.iter().map(size).sum(),
                _ => 0,
            });
            prop_assert!(text.sum::<usize>() <= TEXT);
            Ok(())
        })
        .unwrap();
}

fn size(piece: &TextPiece) -> usize {
    match piece {
        TextPiece::Text(text) => text.len(),
        TextPiece::Mark(_) => 0,
    }
}
