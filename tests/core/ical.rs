//! Reading of iCalendar documents. Documents that deviate from RFC 5545, as real programs write
//! them, are in `ical/odd.rs`; writing is in `ical/written.rs`.

use daysheet_core::event::time::ZonedTime;
use daysheet_core::event::{EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use daysheet_core::ical::{self, CalendarDocument};
use jiff::tz::TimeZone;

mod odd;
mod written;

fn read(text: &str) -> CalendarDocument {
    ical::read(text, &TimeZone::get("Europe/Berlin").unwrap()).unwrap()
}

fn moment(at: &ZonedTime) -> String {
    match at {
        ZonedTime::Day(day) => day.to_string(),
        ZonedTime::At(local, zone) => format!("{local} {zone}"),
    }
}

fn person(guest: &EventGuest) -> String {
    let mut text = guest.address.to_string();
    for (on, word) in [
        (guest.optional, " optional"),
        (guest.room, " room"),
        (guest.answer == Some(InvitationAnswer::Accepted), " yes"),
        (guest.answer == Some(InvitationAnswer::Declined), " no"),
        (guest.answer == Some(InvitationAnswer::Tentative), " perhaps"),
    ] {
        if on {
            text.push_str(word);
        }
    }
    match &guest.name {
        Some(name) => format!("{name} <{text}>"),
        None => format!("<{text}>"),
    }
}

/// Returns the content of a document, one line per value, without empty values.
fn reported(document: &CalendarDocument) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            all.push(format!("{name}: {value}"));
        }
    };
    add("method", document.method.clone().unwrap_or_default());
    add("name", document.name.clone().unwrap_or_default());
    add("zone", document.zone.clone().unwrap_or_default());
    for entry in &document.entries {
        let (start, end) = entry.zoned_times();
        let times = format!("{} to {}", moment(&start), moment(&end));
        let uid = entry.uid.as_deref().unwrap_or_default();
        add("event", format!("{uid} #{} {times}", entry.sequence.unwrap_or_default()));
        add("at", entry.original.map(|at| format!("{at:?}")).unwrap_or_default());
        let lines = entry.repeat.as_ref().map(|repeat| repeat.lines(&start));
        add("repeat", lines.unwrap_or_default().join(" "));
        add("title", entry.title.clone());
        add("place", entry.place.clone());
        add("notes", entry.notes.clone().unwrap_or_default());
        add("organizer", entry.organizer.as_ref().map(person).unwrap_or_default());
        add("guests", entry.guests.iter().map(person).collect::<Vec<_>>().join(", "));
        if (entry.show, entry.visibility) != (ShowAs::Busy, EventVisibility::Default) {
            add("shown", format!("{:?} {:?}", entry.show, entry.visibility));
        }
        add("reminder", entry.reminder.map(|n| n.to_string()).unwrap_or_default());
        add("categories", entry.categories.join(" + "));
        add("link", entry.link.clone().unwrap_or_default());
        add("cancelled", if entry.cancelled { "yes".to_owned() } else { String::new() });
    }
    for entry in &document.timeless {
        add(
            "without a time",
            format!("{} {}", entry.uid.as_deref().unwrap_or_default(), entry.title),
        );
    }
    for note in &document.notes {
        add("note", note.to_string());
    }
    all
}

/// Returns a document of one event with these lines, which begin at line 4.
fn around(lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a@example.com\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n"
    )
}

#[test]
fn gmail_invitation_is_read() {
    let document = read(
        "BEGIN:VCALENDAR\r\n\
         PRODID:-//Google Inc//Google Calendar 70.9054//EN\r\n\
         VERSION:2.0\r\n\
         CALSCALE:GREGORIAN\r\n\
         METHOD:REQUEST\r\n\
         BEGIN:VTIMEZONE\r\n\
         TZID:Europe/Berlin\r\n\
         X-LIC-LOCATION:Europe/Berlin\r\n\
         BEGIN:DAYLIGHT\r\n\
         TZOFFSETFROM:+0100\r\n\
         TZOFFSETTO:+0200\r\n\
         TZNAME:GMT+2\r\n\
         DTSTART:19700329T020000\r\n\
         RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\n\
         END:DAYLIGHT\r\n\
         BEGIN:STANDARD\r\n\
         TZOFFSETFROM:+0200\r\n\
         TZOFFSETTO:+0100\r\n\
         TZNAME:GMT+1\r\n\
         DTSTART:19701025T030000\r\n\
         RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\n\
         END:STANDARD\r\n\
         END:VTIMEZONE\r\n\
         BEGIN:VEVENT\r\n\
         DTSTART;TZID=Europe/Berlin:20260203T180000\r\n\
         DTEND;TZID=Europe/Berlin:20260203T190000\r\n\
         RRULE:FREQ=WEEKLY;WKST=SU;COUNT=5;BYDAY=TU\r\n\
         EXDATE;TZID=Europe/Berlin:20260210T180000\r\n\
         DTSTAMP:20260201T101500Z\r\n\
         ORGANIZER;CN=Mira Lindqvist:mailto:mira@example.com\r\n\
         UID:7kukuqrfedlm2f9t0vr@google.com\r\n\
         ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=TRUE\r\n \
         ;CN=Mira Lindqvist;X-NUM-GUESTS=0:mailto:mira@example.com\r\n\
         ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=OPT-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=\r\n \
         TRUE;CN=\"Castellanos, Teo\";X-NUM-GUESTS=0:MAILTO:teo@example.com\r\n\
         ATTENDEE;CUTYPE=RESOURCE;PARTSTAT=TENTATIVE;CN=Atrium:mailto:atrium@example.com\r\n\
         X-GOOGLE-CONFERENCE:https://meet.example.com/abc-defg-hij\r\n\
         CREATED:20260130T080000Z\r\n\
         DESCRIPTION:First line\\nsecond\\, with a comma\\; and a very long rest that \r\n \
         is folded\r\n\
         LAST-MODIFIED:20260201T101500Z\r\n\
         LOCATION:Atrium\\, second floor\r\n\
         SEQUENCE:2\r\n\
         STATUS:CONFIRMED\r\n\
         SUMMARY:Ferry timetable\r\n\
         TRANSP:OPAQUE\r\n\
         BEGIN:VALARM\r\n\
         ACTION:DISPLAY\r\n\
         DESCRIPTION:This is an event reminder\r\n\
         TRIGGER:-P0DT0H10M0S\r\n\
         END:VALARM\r\n\
         END:VEVENT\r\n\
         END:VCALENDAR\r\n",
    );
    assert_eq!(
        reported(&document),
        [
            "method: REQUEST",
            "event: 7kukuqrfedlm2f9t0vr@google.com #2 2026-02-03T18:00:00 Europe/Berlin to 2026-02-03T19:00:00 Europe/Berlin",
            "repeat: RRULE:FREQ=WEEKLY;COUNT=5;BYDAY=TU;WKST=SU EXDATE;TZID=Europe/Berlin:20260210T180000",
            "title: Ferry timetable",
            "place: Atrium, second floor",
            "notes: First line\nsecond, with a comma; and a very long rest that is folded",
            "organizer: Mira Lindqvist <mira@example.com yes>",
            "guests: Castellanos, Teo <teo@example.com optional>, Atrium <atrium@example.com room perhaps>",
            "reminder: 10",
            "link: https://meet.example.com/abc-defg-hij",
        ]
    );
}

#[test]
fn outlook_invitation_is_read() {
    let document = read(
        "BEGIN:VCALENDAR\n\
         METHOD:CANCEL\n\
         X-WR-CALNAME:Harbour, north\n\
         BEGIN:VTIMEZONE\n\
         TZID:Pacific Standard Time\n\
         BEGIN:STANDARD\n\
         DTSTART:16010101T020000\n\
         TZOFFSETFROM:-0700\n\
         TZOFFSETTO:-0800\n\
         END:STANDARD\n\
         END:VTIMEZONE\n\
         BEGIN:VEVENT\n\
         UID:040000008200E00074C5B7101A82E008\n\
         RECURRENCE-ID;TZID=Pacific Standard Time:20260203T090000\n\
         DTSTART;TZID=Pacific Standard Time:20260203T100000\n\
         DTEND;TZID=\"Pacific Standard Time\":20260203T113000\n\
         SUMMARY;LANGUAGE=en-GB:Berth plan\n\
         CLASS:PRIVATE\n\
         STATUS:CANCELLED\n\
         TRANSP:OPAQUE\n\
         CATEGORIES:Quay,Green category\n\
         X-MICROSOFT-CDO-BUSYSTATUS:OOF\n\
         X-MICROSOFT-SKYPETEAMSMEETINGURL:https://teams.example.com/l/1?a=b%2cc\n\
         URL:https://example.com/plan\n\
         X-ALT-DESC;FMTTYPE=text/html:<p>not read</p>\n\
         ORGANIZER;CN=Mira Lindqvist:invalid:nomail\n\
         ATTENDEE;EMAIL=teo@example.com:urn:uuid:1\n\
         BEGIN:VALARM\n\
         TRIGGER;RELATED=END:-PT2H\n\
         END:VALARM\n\
         END:VEVENT\n\
         END:VCALENDAR",
    );
    assert_eq!(
        reported(&document),
        [
            "method: CANCEL",
            "name: Harbour, north",
            "event: 040000008200E00074C5B7101A82E008 #0 2026-02-03T10:00:00 America/Los_Angeles to 2026-02-03T11:30:00 America/Los_Angeles",
            "at: At(2026-02-03T17:00:00Z)",
            "title: Berth plan",
            "organizer: Mira Lindqvist <invalid:nomail>",
            "guests: <teo@example.com>",
            "shown: Oof Private",
            "reminder: 30",
            "categories: Quay + Green category",
            "link: https://teams.example.com/l/1?a=b%2cc",
            "cancelled: yes",
        ]
    );
}

#[test]
fn times_are_read_in_their_named_zones() {
    let zones = "BEGIN:VTIMEZONE\nTZID:Custom\nBEGIN:DAYLIGHT\nTZOFFSETTO:+0200\nEND:DAYLIGHT\n\
        BEGIN:STANDARD\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Half\nBEGIN:STANDARD\nTZOFFSETTO:-0330\nEND:STANDARD\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Placed\nX-LIC-LOCATION:Asia/Tokyo\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Numbered\nX-MICROSOFT-CDO-TZID:10\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Empty\nEND:VTIMEZONE\n";
    for (start, expected, note) in cases! {
        ":20260703T180000", "2026-07-03T18:00:00 Europe/Berlin", None;
        ":20260703T180000Z", "2026-07-03T18:00:00 UTC", None;
        ":20260703T180000+0530", "2026-07-03T12:30:00 UTC", None;
        ";VALUE=DATE:20260703", "2026-07-03", None;
        ":20260703", "2026-07-03", None;
        ";TZID=asia/tokyo:20260703T180000", "2026-07-03T18:00:00 Asia/Tokyo", None;
        ";TZID=Tokyo Standard Time:20260703T180000", "2026-07-03T18:00:00 Asia/Tokyo", None;
        ";TZID=\"(UTC+09:00) Osaka, Sapporo, Tokyo\":20260703T180000",
            "2026-07-03T18:00:00 Asia/Tokyo", None;
        ";TZID=/example.org/2025/Asia/Tokyo:20260703T180000", "2026-07-03T18:00:00 Asia/Tokyo",
            None;
        ";TZID=/a.example/x/America/Indiana/Knox:20260703T180000",
            "2026-07-03T18:00:00 America/Indiana/Knox", None;
        ";TZID=Placed:20260703T180000", "2026-07-03T18:00:00 Asia/Tokyo", None;
        ";TZID=Numbered:20260703T180000", "2026-07-03T18:00:00 America/New_York",
            Some("line 21: time zone `Numbered` is read as America/New_York");
        ";TZID=Custom:20260703T180000", "2026-07-03T18:00:00 Etc/GMT-1",
            Some("line 2: time zone `Custom` is read as Etc/GMT-1");
        ";TZID=Half:20260703T180000", "2026-07-03T21:30:00 UTC",
            Some("line 11: time zone `Half` is read as UTC-03:30");
        ";TZID=Empty:20260703T180000", "2026-07-03T18:00:00 Europe/Berlin",
            Some("line 30: unknown time zone `Empty`: read as Europe/Berlin");
        ";TZID=Narnia:20260703T180000", "2026-07-03T18:00:00 Europe/Berlin",
            Some("line 30: unknown time zone `Narnia`: read as Europe/Berlin");
    } {
        let document = read(&format!(
            "BEGIN:VCALENDAR\n{zones}BEGIN:VEVENT\nUID:a\nDTSTART{start}\nEND:VEVENT\nEND:VCALENDAR"
        ));
        assert_eq!(moment(&document.entries[0].zoned_times().0), expected, "{start}");
        if let Some(note) = note {
            assert!(document.notes.contains(&note.into()), "{:?}", document.notes);
        }
    }
    let own = read(
        "BEGIN:VCALENDAR\nX-WR-TIMEZONE:Asia/Tokyo\nBEGIN:VEVENT\nDTSTART:20260703T180000\nEND:VEVENT\nEND:VCALENDAR",
    );
    assert_eq!(moment(&own.entries[0].zoned_times().0), "2026-07-03T18:00:00 Asia/Tokyo");
}

/// Returns one observance of a `VTIMEZONE`.
fn observance(kind: &str, from: &str, to: &str, start: &str, more: &str) -> String {
    let more = match more {
        "" => String::new(),
        more => format!("{more}\n"),
    };
    format!(
        "BEGIN:{kind}\nDTSTART:{start}\nTZOFFSETFROM:{from}\nTZOFFSETTO:{to}\n{more}END:{kind}\n"
    )
}

/// Returns a `VTIMEZONE` with daylight saving from one Sunday to another.
fn changing(id: &str, standard: &str, daylight: &str, spring: &str, autumn: &str) -> String {
    let rule = |rule: &str| format!("RRULE:FREQ=YEARLY;{rule}");
    // West of Greenwich clocks are set back at two o'clock.
    let back = if daylight.starts_with('-') { "16010101T020000" } else { "16010101T030000" };
    format!(
        "BEGIN:VTIMEZONE\nTZID:{id}\n{}{}END:VTIMEZONE\n",
        observance("STANDARD", daylight, standard, back, &rule(autumn)),
        observance("DAYLIGHT", standard, daylight, "16010101T020000", &rule(spring)),
    )
}

/// A `TZID` has the meaning of its `VTIMEZONE`, in summer and in winter. If a known zone has the
/// same rules, it is used by its name.
#[test]
fn zone_rules_come_from_its_vtimezone() {
    let europe = ("BYMONTH=3;BYDAY=-1SU", "BYMONTH=10;BYDAY=-1SU");
    let america = ("BYMONTH=3;BYDAY=2SU", "BYMONTH=11;BYDAY=1SU");
    let zones = [
        changing("Customized Time Zone", "+0100", "+0200", europe.0, europe.1),
        changing("tzone://Microsoft/Custom", "-0500", "-0400", america.0, america.1),
        // No real zone has these rules: from the first Monday of May to the first of August.
        changing("ZE1", "+0123", "+0223", "BYMONTH=5;BYDAY=1MO", "BYMONTH=8;BYDAY=1MO"),
        changing("South\\, far", "-0330", "-0230", "BYMONTH=9;BYDAY=1SU", "BYMONTH=4;BYDAY=1SU"),
        // Known names with other rules.
        changing("America/New_York", "+0900", "+1000", europe.0, europe.1),
        changing("W. Europe Standard Time", "+0100", "+0200", europe.0, europe.1),
        // Today's rules backdated to 1601, as Exchange writes them.
        changing("Eastern Standard Time", "-0500", "-0400", america.0, america.1),
        // The name contains only an offset.
        changing("(UTC+01:00) Somewhere", "+0100", "+0200", europe.0, europe.1),
        // Single transitions instead of rules, and rules of former years.
        format!(
            "BEGIN:VTIMEZONE\nTZID:Listed\n{}{}END:VTIMEZONE\n",
            observance("DAYLIGHT", "+0100", "+0200", "20260329T020000", "RDATE:20270328T020000"),
            observance("STANDARD", "+0200", "+0100", "20261025T030000", "RDATE:20271031T030000"),
        ),
        format!(
            "BEGIN:VTIMEZONE\nTZID:Former\n{}{}{}END:VTIMEZONE\n",
            observance(
                "DAYLIGHT",
                "-0500",
                "-0400",
                "19870405T020000",
                "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z"
            ),
            observance(
                "STANDARD",
                "-0400",
                "-0500",
                "19671029T020000",
                "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z"
            ),
            observance("STANDARD", "-0500", "-0600", "20100101T000000", ""),
        ),
        // Definitions cut to the years around an event, to standard time, and to the local mean
        // time before zones existed.
        format!(
            "BEGIN:VTIMEZONE\nTZID:America/Chicago\n{}{}END:VTIMEZONE\n",
            observance("STANDARD", "-0500", "-0600", "20261101T020000", ""),
            observance("DAYLIGHT", "-0600", "-0500", "20270314T020000", ""),
        ),
        format!(
            "BEGIN:VTIMEZONE\nTZID:America/Denver\n{}END:VTIMEZONE\n",
            observance("STANDARD", "-0700", "-0700", "19700101T000000", ""),
        ),
        format!(
            "BEGIN:VTIMEZONE\nTZID:Europe/Moscow\n{}END:VTIMEZONE\n",
            observance("STANDARD", "+023017", "+023017", "20010101T000000", ""),
        ),
        format!(
            "BEGIN:VTIMEZONE\nTZID:Asia/Tokyo\n{}END:VTIMEZONE\n",
            observance("STANDARD", "-0700", "-0700", "19700101T000000", ""),
        ),
    ]
    .concat();
    for (start, expected, note) in cases! {
        "\"Customized Time Zone\":20260703T180000", "2026-07-03T18:00:00 Europe/Berlin", None;
        "Customized Time Zone:20260203T180000", "2026-02-03T18:00:00 Europe/Berlin", None;
        "\"tzone://Microsoft/Custom\":20260703T180000", "2026-07-03T18:00:00 America/New_York",
            None;
        "ZE1:20260601T120000", "2026-06-01T09:37:00 UTC", None;
        "ZE1:20261001T120000", "2026-10-01T10:37:00 UTC", None;
        // A skipped time uses the offset before the gap; an ambiguous time is the first of the two.
        "ZE1:20260504T023000", "2026-05-04T01:07:00 UTC", None;
        "ZE1:20260803T023000", "2026-08-03T00:07:00 UTC", None;
        "\"South, far\":20260101T120000", "2026-01-01T14:30:00 UTC", None;
        "America/New_York:20260703T180000", "2026-07-03T08:00:00 UTC",
            Some("different rules here than America/New_York");
        "W. Europe Standard Time:20260703T180000", "2026-07-03T18:00:00 Europe/Berlin", None;
        // The zone database had standard time on that day in 2005, unlike the document's rules.
        "Eastern Standard Time:20050320T120000", "2005-03-20T12:00:00 America/New_York", None;
        "\"(UTC+01:00) Somewhere\":20260703T180000", "2026-07-03T18:00:00 Europe/Berlin", None;
        "America/Chicago:20260203T180000", "2026-02-03T18:00:00 America/Chicago", None;
        "America/Chicago:20290203T180000", "2029-02-03T18:00:00 America/Chicago", None;
        "America/Denver:20260703T180000", "2026-07-03T18:00:00 America/Denver", None;
        "Europe/Moscow:20180420T120000", "2018-04-20T12:00:00 Europe/Moscow", None;
        "Asia/Tokyo:20260703T180000", "2026-07-03T18:00:00 Etc/GMT+7",
            Some("different rules here than Asia/Tokyo");
        "Listed:20260703T180000", "2026-07-03T18:00:00 Europe/Berlin", None;
        "Listed:20270203T180000", "2027-02-03T18:00:00 Europe/Berlin", None;
        "Former:20050703T180000", "2005-07-03T18:00:00 America/New_York", None;
        "Former:20260703T180000", "2026-07-03T18:00:00 Etc/GMT+6", None;
    } {
        let document = read(&format!(
            "BEGIN:VCALENDAR\n{zones}BEGIN:VEVENT\nUID:a\nDTSTART;TZID={start}\nEND:VEVENT\nEND:VCALENDAR"
        ));
        let found = document.entries.first().map(|entry| moment(&entry.zoned_times().0));
        assert_eq!(found.as_deref(), Some(expected), "{start}: {:?}", document.notes);
        let text = document.notes.join("\n");
        match note {
            Some(note) => assert!(text.contains(note), "{start}: {text}"),
            None => assert_eq!(text, "", "{start}"),
        }
    }
    // A series keeps its local time across transitions, in a zone whose dates match no known zone.
    let series = |id: &str, more: &str| {
        read(&format!(
            "BEGIN:VCALENDAR\n{zones}BEGIN:VEVENT\nUID:a\nDTSTART;TZID={id}:20260420T233000\n\
             DTEND;TZID={id}:20260421T003000\nRRULE:FREQ=WEEKLY;BYDAY=MO;{more}\n\
             EXDATE;TZID={id}:20260427T233000\nEND:VEVENT\nEND:VCALENDAR"
        ))
    };
    let starts = |document: &CalendarDocument| -> Vec<String> {
        let entry = &document.entries[0];
        let repeat = entry.repeat.as_ref().unwrap();
        let all = repeat.occurrences(
            &entry.zoned_times().0,
            jiff::Timestamp::MIN,
            jiff::Timestamp::MAX,
            9,
        );
        all.iter().map(|at| format!("{at:?}")).collect()
    };
    let own = series("ZE1", "UNTIL=20260511T220700Z");
    assert_eq!(
        starts(&own),
        ["At(2026-04-20T22:07:00Z)", "At(2026-05-04T21:07:00Z)", "At(2026-05-11T21:07:00Z)"]
    );
    let [note] = own.notes.as_slice() else {
        panic!("{:?}", own.notes);
    };
    assert!(note.ends_with("its time zone has no IANA name: 4 dates replace its rule"), "{note}");
    let europe = series("Customized Time Zone", "COUNT=3");
    assert_eq!(europe.entries[0].repeat.as_ref().unwrap().rule, "FREQ=WEEKLY;COUNT=3;BYDAY=MO");
    assert_eq!(moment(&europe.entries[0].zoned_times().0), "2026-04-20T23:30:00 Europe/Berlin");
    assert!(europe.notes.is_empty(), "{:?}", europe.notes);
}

#[test]
fn missing_end_is_derived() {
    for (lines, expected, note) in cases! {
        "DTSTART;VALUE=DATE:20260703", "2026-07-04", None;
        "DTSTART;VALUE=DATE:20260703\nDTEND;VALUE=DATE:20260706", "2026-07-06", None;
        "DTSTART;VALUE=DATE:20260703\nDTEND;VALUE=DATE:20260703", "2026-07-04", None;
        "DTSTART;VALUE=DATE:20260703\nDURATION:P2D", "2026-07-05", None;
        "DTSTART:20260703T180000Z", "2026-07-03T18:00:00 UTC", None;
        "DTSTART:20260703T180000Z\nDURATION:PT1H30M", "2026-07-03T19:30:00 UTC", None;
        // Durations in days are nominal, durations in hours exact (RFC 5545, 3.3.6).
        "DTSTART:20260328T120000\nDURATION:P1D", "2026-03-29T12:00:00 Europe/Berlin", None;
        "DTSTART:20260328T120000\nDURATION:PT24H", "2026-03-29T13:00:00 Europe/Berlin", None;
        "DTSTART:20261025T013000\nDURATION:PT2H", "2026-10-25T01:30:00 UTC", None;
        "DTSTART:20260703T180000Z\nDTEND:20260703T170000Z", "2026-07-03T18:00:00 UTC",
            Some("line 2: the event does not end after its start");
        "DTSTART:20260703T180000Z\nDTEND;VALUE=DATE:20260704", "2026-07-04T00:00:00 UTC",
            Some("line 2: the end has no time: read as the start of that day");
    } {
        let document = read(&around(lines));
        assert_eq!(moment(&document.entries[0].zoned_times().1), expected, "{lines}");
        let notes: Vec<&str> = document.notes.iter().map(|note| &**note).collect();
        assert_eq!(notes, Vec::from_iter(note), "{lines}");
    }
}

/// Related events. Each case is a document of events, written as their lines, and its complete
/// reading.
#[test]
fn events_of_one_uid_are_read_together() {
    let days = "DTSTART;VALUE=DATE:20260704\nRRULE:FREQ=WEEKLY;COUNT=4";
    let timed =
        "DTSTART;TZID=Europe/Berlin:20260706T090000\nDTEND;TZID=Europe/Berlin:20260706T100000";
    let weekly = format!("{timed}\nRRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=5\nSUMMARY:Weekly");
    let cases: [(&str, Vec<String>, &[&str]); 18] = cases! {
        "times that name no zone beside one that does",
            vec![
                "DTSTART;TZID=America/New_York:20260706T090000\nDTEND:20260706T100000\n\
                 RRULE:FREQ=WEEKLY;COUNT=4\nEXDATE:20260713T090000"
                    .to_owned(),
                "RECURRENCE-ID:20260720T090000\nDTSTART:20260720T150000Z".to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 America/New_York to 2026-07-06T10:00:00 America/New_York",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=4 EXDATE;TZID=America/New_York:20260713T090000",
                "event: a #0 2026-07-20T15:00:00 UTC to 2026-07-20T15:00:00 UTC",
                "at: At(2026-07-20T13:00:00Z)",
            ];
        "a time that stands for a day of a series of whole days",
            vec![
                days.to_owned(),
                "RECURRENCE-ID;TZID=America/New_York:20260711T000000\nDTSTART;VALUE=DATE:20260712"
                    .to_owned(),
            ],
            &[
                "event: a #0 2026-07-04 to 2026-07-05",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=4",
                "event: a #0 2026-07-12 to 2026-07-13",
                "at: Day(2026-07-11)",
            ];
        "the same as an instant, and a day that no day of the series begins with",
            vec![
                format!(
                    "{days}\nEXDATE:20260717T220000Z\nEXDATE;TZID=Europe/Berlin:20260725T000000"
                ),
                "RECURRENCE-ID:20260710T220000Z\nDTSTART;VALUE=DATE:20260712".to_owned(),
                "RECURRENCE-ID:20260703T150000Z\nSTATUS:CANCELLED".to_owned(),
            ],
            &[
                "event: a #0 2026-07-04 to 2026-07-05",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=4 EXDATE;VALUE=DATE:20260718,20260725",
                "event: a #0 2026-07-12 to 2026-07-13",
                "at: Day(2026-07-11)",
                "event: a #0 2026-07-03T15:00:00 UTC to 2026-07-03T15:00:00 UTC",
                "at: Day(2026-07-04)",
                "cancelled: yes",
            ];
        "a day that stands for a time",
            vec![
                weekly.clone(),
                "RECURRENCE-ID;VALUE=DATE:20260713\nDTSTART:20260713T120000Z".to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=5;BYDAY=MO",
                "title: Weekly",
                "event: a #0 2026-07-13T12:00:00 UTC to 2026-07-13T12:00:00 UTC",
                "at: At(2026-07-13T07:00:00Z)",
            ];
        "a rule of an occurrence",
            vec![format!("{weekly}\nRDATE:20260709T070000Z\nRECURRENCE-ID:20260706T070000Z")],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "at: At(2026-07-06T07:00:00Z)",
                "title: Weekly",
                "note: line 2: it is one occurrence: its recurrence rule was ignored",
            ];
        "versions, by their number",
            vec![
                "DTSTART:20260706T070000Z\nSEQUENCE:2\nSUMMARY:New".to_owned(),
                "DTSTART:20260707T070000Z\nSEQUENCE:1\nDTSTAMP:20260701T000000Z\nSUMMARY:Old"
                    .to_owned(),
            ],
            &[
                "event: a #2 2026-07-06T07:00:00 UTC to 2026-07-06T07:00:00 UTC",
                "title: New",
                "note: line 8: left out: the event on line 2 has the same UID and is as new",
            ];
        "versions, by when they were written",
            vec![
                "DTSTART:20260706T070000Z\nDTSTAMP:20260701T000000Z\nSUMMARY:Old".to_owned(),
                "DTSTART:20260707T070000Z\nDTSTAMP:20260702T000000Z\nSUMMARY:New".to_owned(),
            ],
            &[
                "event: a #0 2026-07-07T07:00:00 UTC to 2026-07-07T07:00:00 UTC",
                "title: New",
                "note: line 2: left out: the event on line 8 has the same UID and is as new",
            ];
        "versions of an occurrence, by when they were changed",
            vec![
                weekly.clone(),
                "RECURRENCE-ID:20260713T070000Z\nSUMMARY:New\nLAST-MODIFIED:20260702T000000Z"
                    .to_owned(),
                "RECURRENCE-ID;VALUE=DATE:20260713\nSUMMARY:Old\nLAST-MODIFIED:20260701T000000Z"
                    .to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=5;BYDAY=MO",
                "title: Weekly",
                "event: a #0 2026-07-13T07:00:00 UTC to 2026-07-13T07:00:00 UTC",
                "at: At(2026-07-13T07:00:00Z)",
                "title: New",
                "note: line 15: left out: the event on line 9 has the same UID and is as new",
            ];
        "dates that end otherwise",
            vec![
                format!(
                    "{timed}\nSUMMARY:Dates\nRDATE;VALUE=PERIOD:20260708T070000Z/20260708T100000Z,\
                     20260709T070000Z/PT1H,20260710T070000Z/PT30M\nRDATE:20260711T070000Z"
                ),
                "RECURRENCE-ID:20260710T070000Z\nDTSTART:20260710T080000Z".to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "repeat: RDATE;TZID=Europe/Berlin:20260708T090000,20260709T090000,20260710T090000,20260711T090000",
                "title: Dates",
                "event: a #0 2026-07-08T09:00:00 Europe/Berlin to 2026-07-08T12:00:00 Europe/Berlin",
                "at: At(2026-07-08T07:00:00Z)",
                "title: Dates",
                "event: a #0 2026-07-10T08:00:00 UTC to 2026-07-10T08:00:00 UTC",
                "at: At(2026-07-10T07:00:00Z)",
            ];
        "a start without a time and an end with one",
            vec!["DTSTART;VALUE=DATE:20260703\nDTEND;TZID=Asia/Tokyo:20260705T010000".to_owned()],
            &[
                "event: a #0 2026-07-03 to 2026-07-06",
                "note: line 2: the end has a time but the start has none: read as whole days",
            ];
        "the same with an end at midnight",
            vec!["DTSTART;VALUE=DATE:20260703\nDTEND:20260705T000000".to_owned()],
            &[
                "event: a #0 2026-07-03 to 2026-07-05",
                "note: line 2: the end has a time but the start has none: read as whole days",
            ];
        "an end without a time",
            vec!["DTSTART:20260703T100000\nDTEND;VALUE=DATE:20260705".to_owned()],
            &[
                "event: a #0 2026-07-03T10:00:00 Europe/Berlin to 2026-07-05T00:00:00 Europe/Berlin",
                "note: line 2: the end has no time: read as the start of that day",
            ];
        "an occurrence and all later ones, at another time of day",
            vec![
                format!("{weekly}\nEXDATE:20260727T070000Z"),
                "RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260720T090000\n\
                 DTSTART;TZID=Europe/Berlin:20260720T103000\nDURATION:PT2H\nSUMMARY:Later"
                    .to_owned(),
                "RECURRENCE-ID:20260803T070000Z\nDTSTART:20260804T070000Z\nSUMMARY:Last".to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;UNTIL=20260720T065959Z;BYDAY=MO",
                "title: Weekly",
                "event: a_R20260720T070000 #0 2026-07-20T10:30:00 Europe/Berlin to 2026-07-20T12:30:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO EXDATE;TZID=Europe/Berlin:20260727T103000",
                "title: Later",
                "event: a_R20260720T070000 #0 2026-08-04T07:00:00 UTC to 2026-08-04T07:00:00 UTC",
                "at: At(2026-08-03T08:30:00Z)",
                "title: Last",
                "note: line 10: it and all later occurrences form a separate series",
            ];
        "the same on another day",
            vec![
                weekly.clone(),
                "RECURRENCE-ID;RANGE=thisandfuture:20260720T070000Z\n\
                 DTSTART;TZID=Europe/Berlin:20260721T090000"
                    .to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;UNTIL=20260720T065959Z;BYDAY=MO",
                "title: Weekly",
                "event: a_R20260720T070000 #0 2026-07-21T09:00:00 Europe/Berlin to 2026-07-21T09:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=3",
                "note: line 9: it and all later occurrences form a separate series",
            ];
        "all of them from an occurrence on cancelled",
            vec![
                weekly.clone(),
                "RECURRENCE-ID;RANGE=THISANDFUTURE:20260720T070000Z\nSTATUS:CANCELLED".to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;UNTIL=20260720T065959Z;BYDAY=MO",
                "title: Weekly",
                "event: a_R20260720T070000 #0 2026-07-20T09:00:00 Europe/Berlin to 2026-07-20T09:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO",
                "cancelled: yes",
                "note: line 9: it and all later occurrences form a separate series",
            ];
        "days that do not follow from the rule",
            vec![
                format!("{timed}\nRRULE:FREQ=WEEKLY;BYDAY=MO,TH"),
                "RECURRENCE-ID;RANGE=THISANDFUTURE:20260720T070000Z\n\
                 DTSTART;TZID=Europe/Berlin:20260721T090000"
                    .to_owned(),
            ],
            &[
                "event: a #0 2026-07-06T09:00:00 Europe/Berlin to 2026-07-06T10:00:00 Europe/Berlin",
                "repeat: RRULE:FREQ=WEEKLY;BYDAY=MO,TH",
                "event: a #0 2026-07-21T09:00:00 Europe/Berlin to 2026-07-21T09:00:00 Europe/Berlin",
                "at: At(2026-07-20T07:00:00Z)",
                "note: line 8: replaces one occurrence, not the later ones",
            ];
        "no series in the document",
            vec!["RECURRENCE-ID;RANGE=THISANDFUTURE:20260720T070000Z\nSUMMARY:Alone".to_owned()],
            &[
                "event: a #0 2026-07-20T07:00:00 UTC to 2026-07-20T07:00:00 UTC",
                "at: At(2026-07-20T07:00:00Z)",
                "title: Alone",
                "note: line 2: replaces one occurrence, not the later ones",
            ];
        "a cancellation that does not say when", vec!["SUMMARY:Gone\nSTATUS:CANCELLED".to_owned()],
            &["without a time: a Gone"];
    };
    for (name, events, expected) in cases {
        let events: Vec<String> = events
            .iter()
            .map(|lines| format!("BEGIN:VEVENT\nUID:a\n{lines}\nEND:VEVENT\n"))
            .collect();
        let text = format!("BEGIN:VCALENDAR\n{}END:VCALENDAR\n", events.concat());
        assert_eq!(reported(&read(&text)), expected, "{name}");
    }
}

#[test]
fn broken_parts_are_skipped_with_their_line() {
    let document = read(
        "\u{feff}BEGIN:VCALENDAR\r\n\
         nonsense\r\n\
         BEGIN:VTODO\r\n\
         SUMMARY:Not an event\r\n\
         END:VTODO\r\n\
         BEGIN:VEVENT\r\n\
         UID:1\r\n\
         DTSTART:20260203T180000Z\r\n\
         DTEND:tomorrow\r\n\
         this line \"was\" never folded: really\r\n\
         SUMMARY:One\r\n\
         SEQUENCE:many\r\n\
         RRULE:FREQ=HOURLY\r\n\
         EXDATE:20260203T180000Z,soon\r\n\
         \r\n\
         END:VEVENT\r\n\
         BEGIN:VEVENT\r\n\
         SUMMARY:No start\r\n\
         END:VEVENT\r\n\
         END:VJOURNAL\r\n\
         BEGIN:VEVENT\r\n\
         UID:2\r\n\
         DTSTART:20260230T180000Z\r\n\
         END:VEVENT\r\n\
         BEGIN:VEVENT\r\n\
         UID:3\r\n\
         DTSTART:20260204T180000Z\r\n\
         RRULE:FREQ=DAILY\r\n\
         RRULE:FREQ=WEEKLY\r\n\
         EXRULE:FREQ=MONTHLY\r\n\
         RECURRENCE-ID;RANGE=THISANDFUTURE:20260204T180000Z\r\n\
         BEGIN:VALARM\r\n\
         TRIGGER:PT5M\r\n\
         END:VCALENDAR\r\n\
         SUMMARY:After the end\r\n\
         BEGIN:VEVENT\r\n\
         END:VEVENT\r\n",
    );
    assert_eq!(
        reported(&document),
        [
            "event: 1 #0 2026-02-03T18:00:00 UTC to 2026-02-03T18:00:00 UTC",
            "repeat: RRULE:FREQ=HOURLY",
            "title: One",
            "event: 3 #0 2026-02-04T18:00:00 UTC to 2026-02-04T18:00:00 UTC",
            "at: At(2026-02-04T18:00:00Z)",
            "note: line 2: not a property: `nonsense`",
            "note: line 10: not a property: `this line \"was\" never folded: really`",
            "note: line 20: END without BEGIN: `VJOURNAL`",
            "note: line 32: `VALARM` has no END",
            "note: line 25: `VEVENT` has no END",
            "note: line 35: outside the calendar",
            "note: line 3: `VTODO` was skipped",
            "note: line 9: cannot be read: `DTEND:tomorrow`",
            "note: line 12: cannot be read: `SEQUENCE:many`",
            "note: line 13: unsupported recurrence rule: `FREQ=HOURLY`",
            "note: line 14: cannot be read: `EXDATE:20260203T180000Z,soon`",
            "note: line 17: the event has no start and was skipped",
            "note: line 23: cannot be read: `DTSTART:20260230T180000Z`",
            "note: line 21: the event has no start and was skipped",
            "note: line 29: only the first rule was read",
            "note: line 30: exception rules (EXRULE) were ignored",
            "note: line 25: it is one occurrence: its recurrence rule was ignored",
            "note: line 36: `VEVENT` is outside a calendar",
            "note: line 25: replaces one occurrence, not the later ones",
        ]
    );
}

#[test]
fn non_calendars_and_oversized_documents_are_refused() {
    let utc = TimeZone::UTC;
    for text in [
        "",
        "Dear Mira,\nsee you",
        "BEGIN:VCARD\nEND:VCARD",
        "\0\u{1}:",
        "BEGIN:VEVENT\nEND:VEVENT",
    ] {
        let error = ical::read(text, &utc).unwrap_err();
        assert_eq!(error.message(), "this is not a calendar: it has no BEGIN:VCALENDAR");
        assert_eq!(error.next_step(), Some("give an iCalendar document (RFC 5545)"));
    }
    let large = format!("BEGIN:VCALENDAR\n{}", "X-A:1\n".repeat(400_000));
    let error = ical::read(&large, &utc).unwrap_err();
    assert_eq!(error.message(), "the calendar is larger than 2 MiB");
    assert_eq!(error.next_step(), Some("split it into smaller documents"));

    let many = "BEGIN:VEVENT\nDTSTART:20260203\nEND:VEVENT\n".repeat(10_500);
    let document = read(&format!("BEGIN:VCALENDAR\n{many}END:VCALENDAR"));
    assert_eq!(document.entries.len(), 9_999);
    assert_eq!(
        document.notes,
        ["line 29999: only the first 10000 components were read", "line 1: `VCALENDAR` has no END"]
    );

    let deep = "BEGIN:X-DEEP\n".repeat(5_000);
    let document =
        read(&format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260203\n{deep}END:VCALENDAR"));
    assert_eq!(document.entries.len(), 1);
    assert_eq!(document.notes[0], "line 18: components are nested too deeply");
    assert!(document.notes.len() < 20);

    let odd = "nonsense\n".repeat(5_000);
    let document = read(&format!("BEGIN:VCALENDAR\n{odd}END:VCALENDAR"));
    assert_eq!(
        document.notes,
        [
            "line 2: not a property: `nonsense`",
            "line 3: not a property: `nonsense`",
            "line 4: not a property: `nonsense`",
            "line 5: not a property: `nonsense`",
            "line 6: not a property: `nonsense` (and 4995 more like this)",
        ]
    );
}
