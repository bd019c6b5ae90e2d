//! iCalendar documents that are written and read back.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{Event, EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use daysheet_core::ical::{self, CalendarDocument};
use daysheet_core::ids::EventId;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::read;

fn now() -> Timestamp {
    "2026-02-03T17:00:00Z".parse().unwrap()
}

fn mira() -> EventGuest {
    EventGuest {
        address: "mira@example.com".into(),
        name: Some("Mira Lindqvist".to_owned()),
        ..EventGuest::default()
    }
}

/// An event with only a UID and times, as read from a document.
fn entry(uid: &str, start: &ZonedTime, end: &ZonedTime) -> Event {
    let mut event = Event::new(EventId::default(), start.when(), end.when());
    event.set_times(start, end);
    Event { uid: Some(uid.to_owned()), sequence: Some(0), ..event }
}

fn local(text: &str, zone: &str) -> ZonedTime {
    ZonedTime::At(text.parse().unwrap(), zone.to_owned())
}

#[test]
fn events_are_written_as_this_document() {
    let mut entry = entry(
        "1@example.com",
        &local("2026-02-03T18:00", "Europe/Berlin"),
        &local("2026-02-03T19:00", "Europe/Berlin"),
    );
    entry.sequence = Some(2);
    entry.title = "Ferry timetable; winter".to_owned();
    entry.place = "Atrium, second floor".to_owned();
    entry.notes = Some("First\nsecond \\ third".to_owned());
    entry.organizer = Some(mira());
    entry.guests = vec![EventGuest {
        address: "teo@example.com".into(),
        name: Some("Castellanos, \"Teo\"".to_owned()),
        answer: Some(InvitationAnswer::Declined),
        optional: true,
        ..EventGuest::default()
    }];
    entry.repeat = Some(EventRecurrence {
        rule: "FREQ=WEEKLY;COUNT=3".to_owned(),
        except: vec![EventTime::At("2026-02-10T17:00:00Z".parse().unwrap())],
        extra: vec![EventTime::Day("2026-02-11".parse().unwrap())],
    });
    entry.reminder = Some(15);
    entry.categories = vec!["Quay".to_owned(), "Green, light".to_owned()];
    entry.show = ShowAs::Focus;
    entry.visibility = EventVisibility::Confidential;
    entry.link = Some("https://meet.example.com/abc".to_owned());
    let mut day = self::entry(
        "2@example.com",
        &ZonedTime::Day("2026-02-03".parse().unwrap()),
        &ZonedTime::Day("2026-02-05".parse().unwrap()),
    );
    day.original = Some(EventTime::Day("2026-02-02".parse().unwrap()));
    day.cancelled = true;
    let document = CalendarDocument {
        method: Some("REQUEST".to_owned()),
        name: Some("Harbour".to_owned()),
        zone: Some("Europe/Berlin".to_owned()),
        entries: vec![entry, day],
        notes: vec!["line 1: not written".into()],
        ..CalendarDocument::default()
    };
    let written = ical::write(&document, now());
    let (head, rest) = written.split_once("BEGIN:VTIMEZONE\r\n").unwrap();
    let (zone, rest) = rest.split_once("END:VTIMEZONE\r\n").unwrap();
    assert!(zone.starts_with("TZID:Europe/Berlin\r\n"), "{zone}");
    assert!(zone.contains("BEGIN:STANDARD\r\n"), "{zone}");
    let lines: Vec<&str> = head.lines().chain(rest.lines()).collect();
    assert_eq!(
        lines,
        [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//Daysheet//Daysheet//EN",
            "METHOD:REQUEST",
            "X-WR-CALNAME:Harbour",
            "X-WR-TIMEZONE:Europe/Berlin",
            "BEGIN:VEVENT",
            "UID:1@example.com",
            "DTSTAMP:20260203T170000Z",
            "DTSTART;TZID=Europe/Berlin:20260203T180000",
            "DTEND;TZID=Europe/Berlin:20260203T190000",
            "SEQUENCE:2",
            "RRULE:FREQ=WEEKLY;COUNT=3",
            "RDATE;VALUE=DATE:20260211",
            "EXDATE;TZID=Europe/Berlin:20260210T180000",
            "SUMMARY:Ferry timetable\\; winter",
            "LOCATION:Atrium\\, second floor",
            "DESCRIPTION:First\\nsecond \\\\ third",
            "ORGANIZER;CN=\"Mira Lindqvist\":mailto:mira@example.com",
            "ATTENDEE;CN=\"Castellanos, 'Teo'\";ROLE=OPT-PARTICIPANT;PARTSTAT=DECLINED:mai",
            " lto:teo@example.com",
            "STATUS:CONFIRMED",
            "TRANSP:OPAQUE",
            "X-MICROSOFT-CDO-BUSYSTATUS:BUSY",
            "X-DAYSHEET-SHOW:FOCUS",
            "CLASS:CONFIDENTIAL",
            "CATEGORIES:Quay,Green\\, light",
            "CONFERENCE;VALUE=URI:https://meet.example.com/abc",
            "BEGIN:VALARM",
            "ACTION:DISPLAY",
            "DESCRIPTION:Ferry timetable\\; winter",
            "TRIGGER:-PT15M",
            "END:VALARM",
            "END:VEVENT",
            "BEGIN:VEVENT",
            "UID:2@example.com",
            "DTSTAMP:20260203T170000Z",
            "DTSTART;VALUE=DATE:20260203",
            "DTEND;VALUE=DATE:20260205",
            "RECURRENCE-ID;VALUE=DATE:20260202",
            "STATUS:CANCELLED",
            "TRANSP:OPAQUE",
            "X-MICROSOFT-CDO-BUSYSTATUS:BUSY",
            "END:VEVENT",
            "END:VCALENDAR",
        ]
    );
}

#[test]
fn every_named_zone_has_its_vtimezone() {
    let zones = ["America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Europe/Berlin"];
    let entries = zones.map(|zone| {
        let (from, to) = (local("2026-06-03T18:00", zone), local("2026-06-03T19:00", zone));
        let daily = EventRecurrence { rule: "FREQ=DAILY".to_owned(), ..EventRecurrence::default() };
        Event { repeat: Some(daily), ..entry(zone, &from, &to) }
    });
    let document = CalendarDocument { entries: entries.to_vec(), ..CalendarDocument::default() };
    let written = ical::write(&document, now());
    for zone in zones {
        assert_eq!(written.matches(&format!("\r\nTZID:{zone}\r\n")).count(), 1, "{zone}");
    }
    assert_eq!(written.matches("BEGIN:VTIMEZONE").count(), zones.len());
    assert_eq!(read(&written), document);
}

#[test]
fn no_text_escapes_its_property() {
    let evil = "x\r\nEND:VEVENT\nBEGIN:VEVENT\rATTENDEE:mailto:eve@example.com\u{2028}URL:a\u{85}\u{b}\u{0}\";:,\\n";
    let (from, to) = (local("2026-02-03T18:00", "UTC"), local("2026-02-03T19:00", "UTC"));
    let mut entry = entry(evil, &from, &to);
    for text in [&mut entry.title, &mut entry.place, entry.notes.get_or_insert_default()] {
        evil.clone_into(text);
    }
    let guest = EventGuest { address: evil.into(), name: Some(evil.to_owned()), ..mira() };
    entry.organizer = Some(guest.clone());
    entry.guests = vec![guest];
    entry.categories = vec![evil.to_owned()];
    entry.link = Some(evil.to_owned());
    entry.reminder = Some(1);
    entry.repeat = Some(EventRecurrence { rule: evil.to_owned(), ..EventRecurrence::default() });
    let document = CalendarDocument {
        method: Some(evil.to_owned()),
        name: Some(evil.to_owned()),
        zone: Some(evil.to_owned()),
        entries: vec![entry],
        ..CalendarDocument::default()
    };
    let written = ical::write(&document, now());
    let names: Vec<&str> = written
        .split("\r\n")
        .filter(|line| !line.starts_with(' ') && !line.is_empty())
        .map(|line| &line[..line.find([';', ':']).unwrap()])
        .collect();
    assert_eq!(
        names,
        [
            "BEGIN",
            "VERSION",
            "PRODID",
            "METHOD",
            "X-WR-CALNAME",
            "X-WR-TIMEZONE",
            "BEGIN",
            "UID",
            "DTSTAMP",
            "DTSTART",
            "DTEND",
            "RRULE",
            "SUMMARY",
            "LOCATION",
            "DESCRIPTION",
            "ORGANIZER",
            "ATTENDEE",
            "STATUS",
            "TRANSP",
            "X-MICROSOFT-CDO-BUSYSTATUS",
            "CATEGORIES",
            "CONFERENCE",
            "BEGIN",
            "ACTION",
            "DESCRIPTION",
            "TRIGGER",
            "END",
            "END",
            "END",
        ]
    );
    let bare = written.replace("\r\n", "");
    assert!(!bare.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')));
    for line in written.split("\r\n") {
        assert!(line.len() <= 75, "{line}");
    }
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ -~\u{e4}\u{20ac}\u{1f600}\n\t]{0,90}",
        "[\\\\;,:\"n\n ]{0,20}",
        "(BEGIN:VEVENT|END:VEVENT|\n|;|:|a){0,8}",
    ]
}

fn names() -> impl Strategy<Value = String> {
    // Characters that a cell keeps unchanged.
    "[a-zA-Z,;:=\u{e4}'\\\\]{1,12}( [a-z,;]{1,30})?"
}

fn moments() -> impl Strategy<Value = (ZonedTime, ZonedTime)> {
    let zones = prop::sample::select(vec![
        "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
        "Etc/GMT-1",
    ]);
    let day = (1..=28_i8, 1..=12_i8, 1990..2090_i16)
        .prop_map(|(day, month, year)| Date::new(year, month, day).unwrap());
    (day, 0..86_400_i64, 0..10_000_i64, zones, any::<bool>()).prop_map(
        |(day, second, length, zone, whole)| {
            let start: DateTime = day.at(0, 0, 0, 0) + jiff::SignedDuration::from_secs(second);
            let end = start + jiff::SignedDuration::from_mins(length + 120);
            if whole {
                (ZonedTime::Day(day), ZonedTime::Day(end.date().tomorrow().unwrap()))
            } else {
                (ZonedTime::At(start, zone.to_owned()), ZonedTime::At(end, zone.to_owned()))
            }
        },
    )
}

fn answers() -> impl Strategy<Value = Option<InvitationAnswer>> {
    prop::sample::select(vec![
        None,
        Some(InvitationAnswer::Accepted),
        Some(InvitationAnswer::Declined),
        Some(InvitationAnswer::Tentative),
    ])
}

prop_compose! {
    fn guests()(
        address in "[a-z.+']{1,12}@[a-z]{1,9}[.]example",
        name in prop::option::of(names()),
        answer in answers(),
        optional in any::<bool>(),
        room in any::<bool>(),
    ) -> EventGuest {
        EventGuest { address: address.into(), name, answer, optional, room, ..EventGuest::default() }
    }
}

prop_compose! {
    fn repeats()(
        rule in prop::sample::select(vec![
            "", "FREQ=DAILY", "FREQ=WEEKLY;COUNT=9;INTERVAL=2;BYDAY=MO,WE;WKST=SU",
            "FREQ=MONTHLY;UNTIL=20300101T120000Z;BYDAY=-1FR", "FREQ=YEARLY;UNTIL=20300101;BYMONTH=2",
            "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", "FREQ=HOURLY;INTERVAL=6",
        ]),
        dates in prop::collection::vec((0..4_000_000_000_i64, any::<bool>()), 0..3),
    ) -> Option<EventRecurrence> {
        let dates: Vec<EventTime> = dates.into_iter().map(|(second, day)| {
            let at = Timestamp::from_second(second).unwrap();
            if day {
                EventTime::Day(TimeZone::UTC.to_datetime(at).date())
            } else {
                EventTime::At(at)
            }
        }).collect();
        let repeat = EventRecurrence { rule: rule.to_owned(), except: dates.clone(), extra: dates };
        Some(repeat).filter(|repeat| *repeat != EventRecurrence::default())
    }
}

prop_compose! {
    fn entries()(
        uid in "[a-zA-Z0-9@.-]{1,40}",
        sequence in 0..9_u32,
        (start, end) in moments(),
        mut repeat in repeats(),
        (title, place, notes) in (texts(), texts(), texts()),
        organizer in prop::option::of(guests()),
        guests in prop::collection::vec(guests(), 0..4),
        show in prop::sample::select(vec![
            ShowAs::Busy, ShowAs::Free, ShowAs::Tentative, ShowAs::Oof, ShowAs::Focus, ShowAs::Elsewhere,
        ]),
        visibility in prop::sample::select(vec![
            EventVisibility::Default, EventVisibility::Public, EventVisibility::Private, EventVisibility::Confidential,
        ]),
        reminder in prop::option::of(0..100_000_u32),
        categories in prop::collection::vec(names(), 0..3),
        link in prop::option::of("https://[a-z]{1,9}[.]example/[a-zA-Z0-9?=&%,;+-]{0,90}"),
        cancelled in any::<bool>(),
    ) -> Event {
        // Dates are written before times, and UTC times last. With one item per list, the order
        // cannot change.
        if let Some(repeat) = &mut repeat {
            for list in [&mut repeat.except, &mut repeat.extra] {
                list.truncate(1);
            }
            // In a whole-day series, exceptions and additions are days, too.
            if matches!(start, ZonedTime::Day(_)) {
                for when in repeat.except.iter_mut().chain(&mut repeat.extra) {
                    if let EventTime::At(at) = when {
                        *when = EventTime::Day(TimeZone::UTC.to_datetime(*at).date());
                    }
                }
            }
            // The form of `UNTIL` must match the start.
            repeat.rule = repeat.fit(&start);
        }
        let organizer = organizer.map(|guest| EventGuest { optional: false, room: false, ..guest });
        let guests: Vec<EventGuest> = guests
            .into_iter()
            .filter(|guest| organizer.as_ref().is_none_or(|organizer| organizer.address != guest.address))
            .collect();
        Event {
            sequence: Some(sequence), repeat, title, place, organizer, guests, show, visibility,
            reminder, categories, cancelled,
            notes: Some(notes).filter(|notes| !notes.is_empty()),
            busy: show != ShowAs::Free && !cancelled,
            online: link.is_some(),
            link,
            ..entry(&uid, &start, &end)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn written_documents_read_back_unchanged(
        mut entries in prop::collection::vec(entries(), 0..4),
        method in prop::option::of(prop::sample::select(vec!["REQUEST", "REPLY", "X-OWN"])),
        name in prop::option::of(names()),
    ) {
        // Two entries with one UID would be versions of a single event.
        for (entry, number) in entries.iter_mut().zip(0..) {
            entry.uid = entry.uid.take().map(|uid| format!("{number}{uid}"));
        }
        let document = CalendarDocument {
            method: method.map(str::to_owned),
            name,
            entries,
            ..CalendarDocument::default()
        };
        let written = ical::write(&document, now());
        let mut again = read(&written);
        // Rules that cannot be expanded add a note.
        again.notes.retain(|note| !note.contains("FREQ=HOURLY"));
        prop_assert_eq!(again, document, "{}", written);
    }

    #[test]
    fn no_document_makes_reading_panic(
        lines in prop::collection::vec(
            prop_oneof![
                "(BEGIN|END):(VEVENT|VALARM|VTIMEZONE|STANDARD|VCALENDAR|[A-Z]{0,4})",
                "(UID|DTSTART|DTEND|DURATION|RRULE|EXDATE|RDATE|RECURRENCE-ID|TRIGGER|TZID|TZOFFSETTO|TZOFFSETFROM|ATTENDEE|CATEGORIES|SEQUENCE|X-LIC-LOCATION)(;(TZID|VALUE|CN|ENCODING)=[A-Za-z\"-]{0,12}){0,2}:[-+0-9PTZWDHMS,/=;a-zA-Z]{0,24}",
                "[ -~]{0,30}",
                ".{0,20}",
                " .{0,20}",
            ],
            0..30,
        ),
    ) {
        let text = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{}\r\n", lines.join("\r\n"));
        let document = read(&text);
        // Every document that was read can be written and read again.
        let written = ical::write(&document, now());
        let again = read(&written);
        prop_assert_eq!(again.entries.len(), document.entries.len(), "{}", written);
    }
}
