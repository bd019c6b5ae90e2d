//! Events, contacts and archives, each with all that it gives.

use std::io::{Cursor, Write};

use daysheet_extract::{Request, kind_of};

use crate::request;
use crate::texts::{all_give, shown};

/// A document with an event.
pub const EVENTS: &[u8] = b"BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1\nDTSTART:20260203T180500\nDTEND:20260203T190000\nSUMMARY:Call\nLOCATION:Room 1\nORGANIZER;CN=Anna:mailto:a@a.example\nDESCRIPTION:Bring it\nEND:VEVENT\nEND:VCALENDAR\n";

/// Two contacts, in two versions of the format.
pub const CARDS: &[u8] = b"BEGIN:VCARD\nVERSION:3.0\nFN:Anna A\nEMAIL:a@a.example\nEMAIL:b@a.example\nTEL:+49 1\nTEL:+49 2\nORG:Firm;Unit\nTITLE:Chief\nADR:;;Road 1;Town;;12345;DE\nNOTE:met\\, once\nEND:VCARD\nBEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Ben\nEND:VCARD\n";

#[test]
fn events_and_contacts_come_as_rows() {
    all_give(&[
        (
            "a.ics",
            EVENTS,
            "ics\nInvitation {\"kind\":\"request\",\"start\":{\"dateTime\":\"2026-02-03T17:05:00Z\"},\"end\":{\"dateTime\":\"2026-02-03T18:00:00Z\"},\"title\":\"Call\",\"where\":\"Room 1\",\"organizer\":{\"emailAddress\":{\"name\":\"Anna\",\"address\":\"a@a.example\"}},\"people\":[],\"repeats\":null}\n(more: 0)\nCall\nBring it\n",
        ),
        ("b.ics", b"BEGIN:VCALENDAR\nEND:VCALENDAR\n", "ics\nfailed: Empty\n"),
        (
            "a.vcf",
            CARDS,
            "vcf\nContact {\"name\":\"Anna A\",\"emails\":[\"a@a.example\",\"b@a.example\"],\"company\":\"Firm, Unit\",\"role\":\"Chief\",\"phone\":\"+49 1\"}\nContact {\"name\":\"Ben Müller\",\"emails\":[],\"company\":null,\"role\":null,\"phone\":null}\n(more: 0)\nAnna A\nPhone: +49 2\nAddress: Road 1, Town, 12345, DE\nNote: met, once\n",
        ),
    ]);
}

/// Writes an archive of files with these names and contents.
pub fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn archives_come_as_lists_and_files_within_by_their_numbers() {
    let mut inner = zipped(&[("a.txt", b"deep")]);
    for _ in 0..4 {
        inner = zipped(&[("b.csv", b"n,m\n1,2\n"), ("c.zip", &inner)]);
    }
    let asked =
        |parts: &[u32]| shown(&Request { inside: parts.to_vec(), ..request("a.zip") }, &inner);
    let list = asked(&[]);
    assert!(list.starts_with("zip\n/1 b.csv 8\n/2 c.zip "), "{list}");
    assert_eq!(asked(&[2, 1]), "csv\nn|m\n2: #1|#2\n(Row 1-1 of 1, next None)\n");
    assert_eq!(asked(&[2, 2, 2, 2]), "zip\n/1 a.txt 4\n(more: 0)\n");
    assert_eq!(asked(&[2, 2, 2, 2, 1]), "zip\nfailed: Depth\n");
    assert_eq!(asked(&[7]), "zip\nfailed: NoSuchPart(2)\n");
    assert_eq!(shown(&request("a.zip"), &inner[..40]), "zip\nfailed: Broken\n");
    assert!(kind_of(&inner, "a.docx", "").name() == "zip");
}
