//! Events, contacts and archives, with the complete output of each.

use std::io::{Cursor, Write};

use daysheet_extract::{ExtractRequest, kind_of};

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
            concat!(
                "ics\nInvitation kind=\"request\" event.start.At=\"2026-02-03T17:05:00Z\" ",
                "event.end.At=\"2026-02-03T18:00:00Z\" event.title=\"Call\" event.place=\"Room 1\" ",
                "event.own=true event.organizer.address=\"a@a.example\" event.organizer.name=\"Anna\" ",
                "event.busy=true event.show=\"Busy\" event.visibility=\"Default\"\n",
                "(more: 0)\nCall\nBring it\n",
            ),
        ),
        ("b.ics", b"BEGIN:VCALENDAR\nEND:VCALENDAR\n", "ics\nfailed: Empty\n"),
        (
            "a.vcf",
            CARDS,
            concat!(
                "vcf\nContact name=\"Anna A\" emails.0=\"a@a.example\" emails.1=\"b@a.example\" ",
                "company=\"Firm, Unit\" role=\"Chief\" phone=\"+49 1\"\nContact name=\"Ben Müller\"\n",
                "(more: 0)\nAnna A\nPhone: +49 2\nAddress: Road 1, Town, 12345, DE\nNote: met, once\n",
            ),
        ),
    ]);
}

#[test]
fn dates_of_series_and_tasks_are_below_the_events() {
    let event = |lines: &str| format!("BEGIN:VEVENT\n{lines}\nEND:VEVENT\n");
    let series = event(
        "UID:1\nDTSTART;TZID=Europe/Berlin:20261201T090000\nDURATION:PT45M\nRRULE:FREQ=WEEKLY;UNTIL=20270101T000000Z\n\
         EXDATE;TZID=Europe/Berlin:20261222T090000\nRDATE;TZID=Europe/Berlin:20261224T090000\nSUMMARY:Weekly",
    );
    let moved = event(
        "UID:1\nRECURRENCE-ID;TZID=Europe/Berlin:20261208T090000\nDTSTART;TZID=Europe/Berlin:20261209T110000\n\
         SUMMARY:Weekly moved\nDESCRIPTION:Later",
    );
    let task = "BEGIN:VTODO\nUID:4\nDUE;TZID=Europe/Berlin:20261205T120000\nSUMMARY:Count\\, then \n order\n\
        DESCRIPTION:All\\nlamps\nBEGIN:VALARM\nDESCRIPTION:Ring\nEND:VALARM\nSTATUS:NEEDS-ACTION\nEND:VTODO\n";
    let file = |inner: &str| format!("BEGIN:VCALENDAR\n{inner}END:VCALENDAR\n");
    let below = |inner: &str| {
        let got = shown(&request("a.ics"), file(inner).as_bytes());
        let rows = got.lines().filter(|line| line.starts_with("Invitation")).count();
        let text = got.split_once("(more: 0)\n").map(|(_, text)| text.to_owned());
        (rows, text.unwrap_or(got))
    };
    let todo = "VTODO: Count, then order\nDUE: 20261205T120000 Europe/Berlin\nSTATUS: NEEDS-ACTION\n\
        DESCRIPTION: All\nlamps\n";
    let dates = "Weekly\nEXDATE: 2026-12-22 09:00\nRDATE: 2026-12-24 09:00\nWeekly moved\n\
        RECURRENCE-ID: 2026-12-08 09:00\nLater\n";
    assert_eq!(below(&(series + &moved + task)), (2, format!("{dates}{todo}")));
    assert_eq!(below(task), (0, format!("ics\n{todo}")));
    let alone = event("UID:2\nDTSTART:20261201T090000\nSUMMARY:Once");
    assert_eq!(below(&alone), (1, String::new()));
    let many = file(&task.repeat(201));
    assert!(shown(&request("a.ics"), many.as_bytes()).ends_with("\nFull\n"));
}

/// Returns an archive of files with these names and contents.
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
    let asked = |parts: &[u32]| {
        shown(&ExtractRequest { inside: parts.to_vec(), ..request("a.zip") }, &inner)
    };
    let list = asked(&[]);
    assert!(list.starts_with("zip\n/1 b.csv 8\n/2 c.zip "), "{list}");
    assert_eq!(asked(&[2, 1]), "csv\nn|m\n2: #1|#2\n(Row 1-1 of 1, next None)\n");
    assert_eq!(asked(&[2, 2, 2, 2]), "zip\n/1 a.txt 4\n(more: 0)\n");
    assert_eq!(asked(&[2, 2, 2, 2, 1]), "zip\nfailed: Depth\n");
    assert_eq!(asked(&[7]), "zip\nfailed: NoSuchPart(2)\n");
    assert_eq!(shown(&request("a.zip"), &inner[..40]), "zip\nfailed: Broken\n");
    assert!(kind_of(&inner, "a.docx", "").name() == "zip");
}
