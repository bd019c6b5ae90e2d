//! iCalendar documents: what is read of them, odd ones too. What is written
//! stands in `ical/written.rs`.

use daysheet::ical::{self, Document};
use daysheet::provider::calendar::{Answer, Guest, Show, Visibility};
use daysheet::when::Moment;
use jiff::tz::TimeZone;

mod written;

fn read(text: &str) -> Document {
    ical::read(text, &TimeZone::get("Europe/Berlin").unwrap()).unwrap()
}

fn moment(at: &Moment) -> String {
    match at {
        Moment::Day(day) => day.to_string(),
        Moment::At(local, zone) => format!("{local} {zone}"),
    }
}

fn person(guest: &Guest) -> String {
    let mut text = guest.address.clone();
    for (on, word) in [
        (guest.optional, " optional"),
        (guest.room, " room"),
        (guest.answer == Some(Answer::Accepted), " yes"),
        (guest.answer == Some(Answer::Declined), " no"),
        (guest.answer == Some(Answer::Tentative), " perhaps"),
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

/// Everything a document says, a line each; what says nothing is left out.
fn told(document: &Document) -> Vec<String> {
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
        let times = format!("{} to {}", moment(&entry.start), moment(&entry.end));
        add(
            "event",
            format!("{} #{} {times}", entry.uid, entry.sequence),
        );
        add(
            "at",
            entry
                .recurrence_id
                .map(|at| format!("{at:?}"))
                .unwrap_or_default(),
        );
        let lines = entry
            .repeat
            .as_ref()
            .map(|repeat| repeat.lines(&entry.start));
        add("repeat", lines.unwrap_or_default().join(" "));
        add("title", entry.title.clone());
        add("place", entry.place.clone());
        add("notes", entry.notes.clone());
        add(
            "organizer",
            entry.organizer.as_ref().map(person).unwrap_or_default(),
        );
        add(
            "guests",
            entry
                .guests
                .iter()
                .map(person)
                .collect::<Vec<_>>()
                .join(", "),
        );
        if (entry.show, entry.visibility) != (Show::Busy, Visibility::Default) {
            add("shown", format!("{:?} {:?}", entry.show, entry.visibility));
        }
        add(
            "reminder",
            entry.reminder.map(|n| n.to_string()).unwrap_or_default(),
        );
        add("categories", entry.categories.join(" + "));
        add("link", entry.link.clone().unwrap_or_default());
        add(
            "cancelled",
            if entry.cancelled {
                "yes".to_owned()
            } else {
                String::new()
            },
        );
    }
    for note in &document.notes {
        add("note", note.clone());
    }
    all
}

/// An event around some lines, from line 4 on.
fn around(lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a@example.com\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n"
    )
}

#[test]
fn an_invitation_as_gmail_sends_it() {
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
        told(&document),
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
fn an_invitation_as_outlook_sends_it() {
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
        told(&document),
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
fn times_are_read_in_the_zones_they_name() {
    let zones = "BEGIN:VTIMEZONE\nTZID:Custom\nBEGIN:DAYLIGHT\nTZOFFSETTO:+0200\nEND:DAYLIGHT\n\
        BEGIN:STANDARD\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Half\nBEGIN:STANDARD\nTZOFFSETTO:-0330\nEND:STANDARD\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Placed\nX-LIC-LOCATION:Asia/Tokyo\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Numbered\nX-MICROSOFT-CDO-TZID:10\nEND:VTIMEZONE\n\
        BEGIN:VTIMEZONE\nTZID:Empty\nEND:VTIMEZONE\n";
    for (start, expected, note) in [
        (
            ":20260703T180000",
            "2026-07-03T18:00:00 Europe/Berlin",
            None,
        ),
        (":20260703T180000Z", "2026-07-03T18:00:00 UTC", None),
        (":20260703T180000+0530", "2026-07-03T12:30:00 UTC", None),
        (";VALUE=DATE:20260703", "2026-07-03", None),
        (":20260703", "2026-07-03", None),
        (
            ";TZID=asia/tokyo:20260703T180000",
            "2026-07-03T18:00:00 Asia/Tokyo",
            None,
        ),
        (
            ";TZID=Tokyo Standard Time:20260703T180000",
            "2026-07-03T18:00:00 Asia/Tokyo",
            None,
        ),
        (
            ";TZID=\"(UTC+09:00) Osaka, Sapporo, Tokyo\":20260703T180000",
            "2026-07-03T18:00:00 Asia/Tokyo",
            None,
        ),
        (
            ";TZID=/example.org/2025/Asia/Tokyo:20260703T180000",
            "2026-07-03T18:00:00 Asia/Tokyo",
            None,
        ),
        (
            ";TZID=/a.example/x/America/Indiana/Knox:20260703T180000",
            "2026-07-03T18:00:00 America/Indiana/Knox",
            None,
        ),
        (
            ";TZID=Placed:20260703T180000",
            "2026-07-03T18:00:00 Asia/Tokyo",
            None,
        ),
        (
            ";TZID=Numbered:20260703T180000",
            "2026-07-03T18:00:00 America/New_York",
            Some("line 21: the zone `Numbered` is taken for America/New_York"),
        ),
        (
            ";TZID=Custom:20260703T180000",
            "2026-07-03T18:00:00 Etc/GMT-1",
            Some("line 2: the zone `Custom` is taken for Etc/GMT-1"),
        ),
        (
            ";TZID=Half:20260703T180000",
            "2026-07-03T21:30:00 UTC",
            Some("line 11: the zone `Half` is taken for UTC-03:30"),
        ),
        (
            ";TZID=Empty:20260703T180000",
            "2026-07-03T18:00:00 Europe/Berlin",
            Some("line 30: the zone `Empty` is not known: taken for Europe/Berlin"),
        ),
        (
            ";TZID=Narnia:20260703T180000",
            "2026-07-03T18:00:00 Europe/Berlin",
            Some("line 30: the zone `Narnia` is not known: taken for Europe/Berlin"),
        ),
    ] {
        let document = read(&format!(
            "BEGIN:VCALENDAR\n{zones}BEGIN:VEVENT\nUID:a\nDTSTART{start}\nEND:VEVENT\nEND:VCALENDAR"
        ));
        assert_eq!(moment(&document.entries[0].start), expected, "{start}");
        if let Some(note) = note {
            assert!(
                document.notes.contains(&note.to_owned()),
                "{:?}",
                document.notes
            );
        }
    }
    let own = read(
        "BEGIN:VCALENDAR\nX-WR-TIMEZONE:Asia/Tokyo\nBEGIN:VEVENT\nDTSTART:20260703T180000\nEND:VEVENT\nEND:VCALENDAR",
    );
    assert_eq!(
        moment(&own.entries[0].start),
        "2026-07-03T18:00:00 Asia/Tokyo"
    );
}

#[test]
fn an_end_that_is_not_said_is_found() {
    for (lines, expected, note) in [
        ("DTSTART;VALUE=DATE:20260703", "2026-07-04", None),
        (
            "DTSTART;VALUE=DATE:20260703\nDTEND;VALUE=DATE:20260706",
            "2026-07-06",
            None,
        ),
        (
            "DTSTART;VALUE=DATE:20260703\nDTEND;VALUE=DATE:20260703",
            "2026-07-04",
            None,
        ),
        (
            "DTSTART;VALUE=DATE:20260703\nDURATION:P2D",
            "2026-07-05",
            None,
        ),
        ("DTSTART:20260703T180000Z", "2026-07-03T18:00:00 UTC", None),
        (
            "DTSTART:20260703T180000Z\nDURATION:PT1H30M",
            "2026-07-03T19:30:00 UTC",
            None,
        ),
        // Days are those of the calendar, hours are exact.
        (
            "DTSTART:20260328T120000\nDURATION:P1D",
            "2026-03-29T12:00:00 Europe/Berlin",
            None,
        ),
        (
            "DTSTART:20260328T120000\nDURATION:PT24H",
            "2026-03-29T13:00:00 Europe/Berlin",
            None,
        ),
        (
            "DTSTART:20261025T013000\nDURATION:PT2H",
            "2026-10-25T01:30:00 UTC",
            None,
        ),
        (
            "DTSTART:20260703T180000Z\nDTEND:20260703T170000Z",
            "2026-07-03T18:00:00 UTC",
            Some("line 2: the event does not end after its start"),
        ),
        (
            "DTSTART:20260703T180000Z\nDTEND;VALUE=DATE:20260704",
            "2026-07-03T18:00:00 UTC",
            Some("line 2: the event does not end after its start"),
        ),
    ] {
        let document = read(&around(lines));
        assert_eq!(moment(&document.entries[0].end), expected, "{lines}");
        let notes: Vec<&str> = document.notes.iter().map(String::as_str).collect();
        assert_eq!(notes, Vec::from_iter(note), "{lines}");
    }
}

#[test]
fn what_is_broken_is_passed_over_with_its_line() {
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
        told(&document),
        [
            "event: 1 #0 2026-02-03T18:00:00 UTC to 2026-02-03T18:00:00 UTC",
            "repeat: RRULE:FREQ=HOURLY",
            "title: One",
            "event: 3 #0 2026-02-04T18:00:00 UTC to 2026-02-04T18:00:00 UTC",
            "at: At(2026-02-04T18:00:00Z)",
            "repeat: RRULE:FREQ=DAILY",
            "note: line 2: no property: `nonsense`",
            "note: line 10: no property: `this line \"was\" never folded: really`",
            "note: line 20: END:VJOURNAL without its BEGIN",
            "note: line 32: VALARM has no END",
            "note: line 25: VEVENT has no END",
            "note: line 35: outside of the calendar",
            "note: line 3: VTODO is passed over",
            "note: line 9: cannot be read: `DTEND:tomorrow`",
            "note: line 12: cannot be read: `SEQUENCE:many`",
            "note: line 13: the rule cannot be carried out: `FREQ=HOURLY`",
            "note: line 14: cannot be read: `EXDATE:20260203T180000Z,soon`",
            "note: line 17: the event has no start and is passed over",
            "note: line 23: cannot be read: `DTSTART:20260230T180000Z`",
            "note: line 21: the event has no start and is passed over",
            "note: line 29: only the first rule is read",
            "note: line 30: rules of exceptions are not read",
            "note: line 31: stands for one occurrence, not for those after it",
            "note: line 36: VEVENT outside of a calendar",
        ]
    );
}

#[test]
fn what_is_no_calendar_or_too_large_is_refused() {
    let utc = TimeZone::UTC;
    for text in [
        "",
        "Dear Mira,\nsee you",
        "BEGIN:VCARD\nEND:VCARD",
        "\0\u{1}:",
        "BEGIN:VEVENT\nEND:VEVENT",
    ] {
        let error = ical::read(text, &utc).unwrap_err();
        assert_eq!(
            error.message(),
            "this is no calendar: it has no BEGIN:VCALENDAR"
        );
        assert_eq!(
            error.next_step(),
            Some("give an iCalendar document (RFC 5545)")
        );
    }
    let large = format!("BEGIN:VCALENDAR\n{}", "X-A:1\n".repeat(400_000));
    let error = ical::read(&large, &utc).unwrap_err();
    assert_eq!(error.message(), "the calendar is larger than 2 MiB");
    assert_eq!(error.next_step(), Some("split it into several documents"));

    let many = "BEGIN:VEVENT\nDTSTART:20260203\nEND:VEVENT\n".repeat(10_500);
    let document = read(&format!("BEGIN:VCALENDAR\n{many}END:VCALENDAR"));
    assert_eq!(document.entries.len(), 9_999);
    assert_eq!(
        document.notes,
        [
            "line 29999: what follows 10000 components is not read",
            "line 1: VCALENDAR has no END"
        ]
    );

    let deep = format!(
        "BEGIN:VCALENDAR\n{}",
        "BEGIN:VEVENT\nDTSTART:20260203\n".repeat(5_000)
    );
    let document = read(&deep);
    assert_eq!(document.entries.len(), 1);
    assert_eq!(
        document.notes[0],
        "line 32: too many components in each other"
    );
    assert!(document.notes.len() < 20);

    let odd = "nonsense\n".repeat(5_000);
    let document = read(&format!("BEGIN:VCALENDAR\n{odd}END:VCALENDAR"));
    assert_eq!(document.notes.len(), 101);
    assert_eq!(document.notes[100], "there is more to note");
}
