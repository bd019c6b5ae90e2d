//! Documents that programs write against RFC 5545, read as their authors mean them.

use daysheet_core::event;
use daysheet_core::ical;
use jiff::Timestamp;

use super::{moment, observance, read, reported};

/// Returns a document of these components.
fn calendar(parts: &str) -> String {
    format!("BEGIN:VCALENDAR\n{parts}END:VCALENDAR\n")
}

/// Returns a document of events with one UID, each written as its lines.
fn series(events: &[&str]) -> String {
    let event = |lines: &&str| format!("BEGIN:VEVENT\nUID:a\n{lines}\nEND:VEVENT\n");
    calendar(&events.iter().map(event).collect::<String>())
}

/// Returns the starts of the first event, timed ones in UTC.
fn starts(text: &str) -> String {
    let document = read(text);
    let entry = &document.entries[0];
    let repeat = entry.repeat.clone().unwrap_or_default();
    let all = repeat.occurrences(&entry.zoned_times().0, Timestamp::MIN, Timestamp::MAX, 20);
    let all: Vec<_> = all.iter().map(|at| format!("{at:?}")).collect();
    all.join(" ").replace("Day(2026-", "").replace("At(2026-", "").replace(')', "")
}

/// Exceptions written as times, in a series of whole days.
#[test]
fn excluded_times_mean_days_of_the_series_or_nothing() {
    let all = "03-03 03-05 03-10 03-12";
    for (except, expected) in [
        // The series has no occurrence on Wednesdays, whatever the exception's time and zone.
        ("EXDATE:20260304T093000", all),
        ("EXDATE:20260304T233000", all),
        ("EXDATE:20260304T093000Z", all),
        ("EXDATE;TZID=Europe/Berlin:20260304T180000", all),
        ("EXDATE;TZID=Asia/Tokyo:20260304T180000", all),
        ("EXDATE;VALUE=DATE:20260304", all),
        // Thursday is a day of the series at any time.
        ("EXDATE:20260305T093000", "03-03 03-10 03-12"),
        ("EXDATE;TZID=Europe/Berlin:20260305T000000", "03-03 03-10 03-12"),
        ("EXDATE;VALUE=DATE:20260305T000000", "03-03 03-10 03-12"),
        // This instant is midnight of the day in Berlin, Tokyo or New York.
        ("EXDATE:20260304T230000Z", "03-03 03-10 03-12"),
        ("EXDATE:20260304T150000Z", "03-03 03-10 03-12"),
        ("EXDATE:20260305T050000Z", "03-03 03-10 03-12"),
    ] {
        let text = series(&[&format!(
            "DTSTART;VALUE=DATE:20260303\nRRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4\n{except}"
        )]);
        assert_eq!(starts(&text), expected, "{except}");
    }
}

/// Exchange writes the end of a series of whole days as midnight of its zone, in UTC.
#[test]
fn last_day_of_a_rule_begins_in_a_zone_of_the_document() {
    let eastern = super::changing(
        "Eastern Standard Time", "-0500", "-0400", "BYMONTH=3;BYDAY=2SU", "BYMONTH=11;BYDAY=1SU",
    );
    let tokyo = format!(
        "BEGIN:VTIMEZONE\nTZID:Tokyo Standard Time\n{}END:VTIMEZONE\n",
        observance("STANDARD", "+0900", "+0900", "16010101T000000", "")
    );
    for (zones, until, expected) in [
        ("", "20260222T230000Z", "02-21 02-22 02-23"),
        ("", "20260223T000000Z", "02-21 02-22 02-23"),
        ("", "20260223", "02-21 02-22 02-23"),
        ("", "20260222T235959Z", "02-21 02-22"),
        (&tokyo, "20260222T150000Z", "02-21 02-22 02-23"),
        (&eastern, "20260223T050000Z", "02-21 02-22 02-23"),
        // The instant is midnight in no zone of the document.
        ("", "20260222T150000Z", "02-21 02-22"),
    ] {
        let text = calendar(&format!(
            "{zones}BEGIN:VEVENT\nUID:a\nRRULE:FREQ=DAILY;UNTIL={until}\n\
             DTSTART;VALUE=DATE:20260221\nEND:VEVENT\n"
        ));
        assert_eq!(starts(&text), expected, "{until}");
    }
}

/// Calendars that Exchange publishes name an occurrence by midnight of its day.
#[test]
fn midnight_stands_for_the_occurrence_of_its_day() {
    let berlin = "DTSTART;TZID=Europe/Berlin:20261001T113000\nRRULE:FREQ=WEEKLY;COUNT=4";
    let moved = "DTSTART;TZID=Europe/Berlin:20261008T103000";
    for (master, at, expected) in [
        (berlin, ";TZID=Europe/Berlin:20261008T000000", "At(2026-10-08T09:30:00Z)"),
        (berlin, ":20261008T000000", "At(2026-10-08T09:30:00Z)"),
        (berlin, ";TZID=Europe/Berlin:20261029T000000", "At(2026-10-28T23:00:00Z)"),
        (berlin, ";TZID=Europe/Berlin:20261008T113000", "At(2026-10-08T09:30:00Z)"),
        // The series has an occurrence at midnight, or none on that day.
        (
            "DTSTART;TZID=Europe/Berlin:20261001T000000\nRRULE:FREQ=DAILY;COUNT=9;BYHOUR=0,9",
            ";TZID=Europe/Berlin:20261003T000000",
            "At(2026-10-02T22:00:00Z)",
        ),
        (berlin, ";TZID=Europe/Berlin:20261009T000000", "At(2026-10-08T22:00:00Z)"),
    ] {
        let document = read(&series(&[master, &format!("RECURRENCE-ID{at}\n{moved}")]));
        let found = document.entries[1].original.map(|at| format!("{at:?}"));
        assert_eq!(found.as_deref(), Some(expected), "{at}");
    }
}

/// A zone with a known name is that zone even if its rules in the document are cut, one-sided or
/// outdated.
#[test]
fn known_name_outweighs_an_incomplete_vtimezone() {
    let zone =
        |id: &str, parts: &str| format!("BEGIN:VTIMEZONE\nTZID:{id}\n{parts}END:VTIMEZONE\n");
    let yearly = "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU";
    let former = super::changing(
        "Eastern Standard Time", "-0500", "-0400", "BYMONTH=4;BYDAY=1SU", "BYMONTH=10;BYDAY=-1SU",
    );
    for (zone, start, expected) in [
        (
            zone(
                "Europe/Berlin",
                &observance("STANDARD", "+005328", "+0100", "18930401T000000", ""),
            ),
            "Europe/Berlin:20260917T100000",
            "2026-09-17T10:00:00 Europe/Berlin",
        ),
        (
            zone("Europe/Berlin", &observance("STANDARD", "+0200", "+0100", "19701025T030000", "")),
            "Europe/Berlin:20260917T100000",
            "2026-09-17T10:00:00 Europe/Berlin",
        ),
        (
            zone(
                "Europe/Berlin",
                &observance("STANDARD", "+0200", "+0100", "19701025T030000", yearly),
            ),
            "Europe/Berlin:20260917T100000",
            "2026-09-17T10:00:00 Europe/Berlin",
        ),
        (
            zone(
                "W. Europe Standard Time",
                &observance("DAYLIGHT", "+0100", "+0200", "20200329T020000", ""),
            ),
            "W. Europe Standard Time:20260203T100000",
            "2026-02-03T10:00:00 Europe/Berlin",
        ),
        (
            zone("Asia/Almaty", &observance("STANDARD", "+0600", "+0600", "20100101T000000", "")),
            "Asia/Almaty:20260203T100000",
            "2026-02-03T10:00:00 Asia/Almaty",
        ),
        (former, "Eastern Standard Time:20260320T100000", "2026-03-20T10:00:00 America/New_York"),
        // If the zone never had the offset, the document's own definition applies.
        (
            zone("Europe/Berlin", &observance("STANDARD", "-0300", "-0300", "19700101T000000", "")),
            "Europe/Berlin:20260917T100000",
            "2026-09-17T10:00:00 Etc/GMT+3",
        ),
    ] {
        let text =
            calendar(&format!("{zone}BEGIN:VEVENT\nUID:a\nDTSTART;TZID={start}\nEND:VEVENT\n"));
        let document = read(&text);
        assert_eq!(moment(&document.entries[0].zoned_times().0), expected, "{:?}", document.notes);
    }
}

#[test]
fn malformed_lines_are_read_as_they_are_meant() {
    for (lines, expected) in [
        (
            "DTSTART;TZID=GMT+05:30:20260702T090000",
            "2026-07-02T03:30:00 UTC to 2026-07-02T03:30:00 UTC",
        ),
        (
            "DTSTART;TZID=(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna:20260702T090000\n\
             DTEND;TZID=(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna;X-A=b:20260702T100000",
            "2026-07-02T09:00:00 Europe/Berlin to 2026-07-02T10:00:00 Europe/Berlin",
        ),
        (
            "DTSTART;TZID=\"UTC+03:00\":20260702T090000",
            "2026-07-02T09:00:00 Etc/GMT-3 to 2026-07-02T09:00:00 Etc/GMT-3",
        ),
        // A `DATE` value with a time counts as a time, unless that time is midnight.
        (
            "DTSTART;VALUE=DATE:20260804T180000\nDTEND;VALUE=DATE:20260804T194500",
            "2026-08-04T18:00:00 Europe/Berlin to 2026-08-04T19:45:00 Europe/Berlin",
        ),
        (
            "DTSTART;TZID=Asia/Tokyo;VALUE=DATE:20260804T180000",
            "2026-08-04T18:00:00 Asia/Tokyo to 2026-08-04T18:00:00 Asia/Tokyo",
        ),
        (
            "DTSTART;VALUE=DATE:20260804T180000Z",
            "2026-08-04T18:00:00 UTC to 2026-08-04T18:00:00 UTC",
        ),
        ("DTSTART;VALUE=DATE:20260804T000000", "2026-08-04 to 2026-08-05"),
        // An end without a zone uses that of the start, even a zone defined only in the document.
        (
            "DTSTART;TZID=Own:20260302T090000\nDTEND:20260302T100000",
            "2026-03-02T13:15:00 UTC to 2026-03-02T14:15:00 UTC",
        ),
    ] {
        let zone = |id: &str, offset: &str| {
            format!(
                "BEGIN:VTIMEZONE\nTZID:{id}\n{}END:VTIMEZONE\n",
                observance("STANDARD", offset, offset, "19700101T000000", "")
            )
        };
        let zones =
            zone("GMT+05:30", "+0530") + &zone("UTC+03:00", "+0300") + &zone("Own", "-0415");
        let document =
            read(&calendar(&format!("{zones}BEGIN:VEVENT\nUID:a\n{lines}\nEND:VEVENT\n")));
        let entry = &document.entries[0];
        assert_eq!(
            format!("{} to {}", moment(&entry.zoned_times().0), moment(&entry.zoned_times().1)),
            expected,
            "{lines}"
        );
        assert_eq!(document.notes, [""; 0], "{lines}");
    }
}

/// Each case is a document and its complete reading.
#[test]
fn contradictory_documents_are_read_with_notes() {
    let cases: [(&str, String, &[&str]); 5] = [
        (
            "an occurrence that a later version of its series excludes",
            series(&[
                "DTSTART;VALUE=DATE:20260202\nRRULE:FREQ=WEEKLY;COUNT=3\nSEQUENCE:1",
                "DTSTART;VALUE=DATE:20260210\nRECURRENCE-ID;VALUE=DATE:20260209\nSEQUENCE:1",
                "DTSTART;VALUE=DATE:20260202\nRRULE:FREQ=WEEKLY;COUNT=3\n\
                 EXDATE;VALUE=DATE:20260209\nSEQUENCE:2",
            ]),
            &[
                "event: a #2 2026-02-02 to 2026-02-03",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=3 EXDATE;VALUE=DATE:20260209",
                "note: line 2: left out: the event on line 14 has the same UID and is as new",
                "note: line 8: left out: a later version of its series excludes this occurrence",
            ],
        ),
        (
            "an occurrence of the same version, whose series has moved it away",
            series(&[
                "DTSTART;VALUE=DATE:20260202\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;VALUE=DATE:20260209",
                "DTSTART;VALUE=DATE:20260210\nRECURRENCE-ID;VALUE=DATE:20260209",
            ]),
            &[
                "event: a #0 2026-02-02 to 2026-02-03",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=3 EXDATE;VALUE=DATE:20260209",
                "event: a #0 2026-02-10 to 2026-02-11",
                "at: Day(2026-02-09)",
            ],
        ),
        (
            "exceptions to no rule",
            series(&["DTSTART:20260101T100000Z\nEXDATE:20260105T100000Z"]),
            &["event: a #0 2026-01-01T10:00:00 UTC to 2026-01-01T10:00:00 UTC"],
        ),
        (
            "parts of a rule that no standard has",
            series(&[
                "DTSTART:20260101T100000Z\nRRULE:FREQ=WEEKLY;UNTL=20260120;X-A=1;SKIP=OMIT;BYDAY=TH",
            ]),
            &[
                "event: a #0 2026-01-01T10:00:00 UTC to 2026-01-01T10:00:00 UTC",
                "repeat: RRULE:FREQ=WEEKLY;BYDAY=TH",
                "note: line 5: part `UNTL` of the rule was ignored",
            ],
        ),
        (
            "components that have lost their end",
            calendar(
                "BEGIN:VTODO\nSUMMARY:Task\nEND:VTOOD\n\
                 BEGIN:VEVENT\nUID:1\nDTSTART:20260102\nBEGIN:VALARM\nTRIGGER:-PT5M\n\
                 BEGIN:VEVENT\nUID:2\nDTSTART:20260103\nEND:VEVENT\n",
            ),
            &[
                "event: 1 #0 2026-01-02 to 2026-01-03",
                "reminder: 5",
                "event: 2 #0 2026-01-03 to 2026-01-04",
                "note: line 4: END without BEGIN: `VTOOD`",
                "note: line 2: `VTODO` has no END",
                "note: line 8: `VALARM` has no END",
                "note: line 5: `VEVENT` has no END",
                "note: line 2: `VTODO` was skipped",
            ],
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(reported(&read(&text)), expected, "{name}");
    }
}

/// RFC 6868 encodes characters that a parameter cannot hold.
#[test]
fn encoded_characters_of_names_are_decoded() {
    for (written, expected) in [
        ("Bob ^'Roof^' Oak", "Bob \"Roof\" Oak"),
        ("Ann^nBirch", "Ann Birch"),
        ("A^^nB", "A^nB"),
        ("A^^^'B", "A^\"B"),
        ("A^B^", "A^B^"),
    ] {
        let text =
            series(&[&format!("DTSTART:20260302\nORGANIZER;CN={written}:mailto:b@example.org")]);
        let organizer = read(&text).entries[0].organizer.clone();
        assert_eq!(organizer.and_then(|one| one.name).as_deref(), Some(expected), "{written}");
    }
}

/// Other charsets, and lines folded within a character.
#[test]
fn bytes_of_a_document_are_decoded() {
    let text = "BEGIN:VCALENDAR\r\nSUMMARY:Gr\u{fc}\u{df}e \u{2615}\r\n";
    let folded = |at: usize| {
        let (head, tail) = text.as_bytes().split_at(at);
        [head, b"\r\n ", tail].concat()
    };
    let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(order).collect()
    };
    let u_umlaut = text.find('\u{fc}').unwrap();
    let cup = text.find('\u{2615}').unwrap();
    let cases = [
        ("UTF-8", text.as_bytes().to_vec()),
        ("folded within a letter", folded(u_umlaut + 1)),
        ("folded within a symbol", folded(cup + 2)),
        ("UTF-16LE", utf16(u16::to_le_bytes)),
        ("UTF-16BE", utf16(u16::to_be_bytes)),
    ];
    for (name, bytes) in cases {
        assert_eq!(ical::decode(&bytes, None).0.trim_start_matches('\u{feff}'), text, "{name}");
    }
    let (text, note) = ical::decode(b"SUMMARY:Gr\xfc\xdfe aus K\xf6ln", None);
    assert_eq!(text, "SUMMARY:Gr\u{fc}\u{df}e aus K\u{f6}ln");
    assert!(note.is_some());
    // Lines folded between characters are left to the reader, which joins and counts them.
    let (text, _) = ical::decode(b"A:\xc3\xbc\r\n \xc3\xbc", None);
    assert_eq!(text, "A:\u{fc}\r\n \u{fc}");
}

/// GlobalObjectIds of Exchange (MS-OXOCAL, 2.2.1.27).
#[test]
fn uids_of_one_series_are_equal() {
    let global = |date: &str, data: &str| {
        let (prefix, created) = ("040000008200E00074C5B7101A82E008", "10A1B7F2C3D4DA01");
        format!("{prefix}{date}{created}{}{:08X}{data}", "0".repeat(16), data.len() / 2)
    };
    let series = global("00000000", "0F1E2D3C");
    let foreign = "7643616C2D556964010000007B4131407840676F6F676C652E636F6D7D00";
    for (uid, expected) in [
        (series.clone(), &*series),
        (global("07EA0B18", "0F1E2D3C"), &series),
        (global("07EA0B19", "0F1E2D3C").to_lowercase(), &series),
        (format!(" {series} "), &series),
        // A GlobalObjectId that contains another program's UID, with or without an occurrence's
        // date.
        (global("00000000", foreign), "{A1@x@google.com}"),
        (global("07EA0B18", foreign), "{A1@x@google.com}"),
        // Not GlobalObjectIds: too short, of another kind, not hexadecimal.
        (
            "040000008200E00074C5B7101A82E00807EA0B18".to_owned(),
            "040000008200E00074C5B7101A82E00807EA0B18",
        ),
        (format!("05{}", &series[2..]), &format!("05{}", &series[2..])),
        (format!("{}@x", global("07EA0B18", "")), &format!("{}@x", global("07EA0B18", ""))),
        ("a@example.com".to_owned(), "a@example.com"),
        (String::new(), ""),
    ] {
        assert_eq!(event::series_uid(&uid), expected, "{uid}");
    }
    let (one, other) = (global("00000000", "0F1E2D3C"), global("00000000", "0F1E2D3D"));
    assert_ne!(event::series_uid(&one), event::series_uid(&other));
    // Exceptions with dated UIDs belong to their series.
    let weekly = format!("UID:{series}\nDTSTART:20261124T090000Z\nRRULE:FREQ=WEEKLY;COUNT=3");
    let moved = format!(
        "UID:{}\nRECURRENCE-ID:20261201T090000Z\nDTSTART:20261202T090000Z",
        global("07EA0C01", "0F1E2D3C")
    );
    let document = read(&calendar(&format!(
        "BEGIN:VEVENT\n{weekly}\nEND:VEVENT\nBEGIN:VEVENT\n{moved}\nEND:VEVENT\n"
    )));
    assert_eq!(document.entries[0].uid, document.entries[1].uid);
}
