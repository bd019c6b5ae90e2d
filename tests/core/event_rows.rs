//! Rows of events and invitations: each column, made of an event.

use std::collections::HashMap;

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{
    Event, EventGuest, EventVisibility, Invitation, InvitationAnswer, ShowAs,
};
use daysheet_core::flatten::{RowContext, RowObject, RowRoom, flatten};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{EVENT, INVITATION, Service, Table, TableColumn};
use daysheet_core::text::width;
use jiff::tz::TimeZone;

fn at(text: &str) -> EventTime {
    EventTime::At(text.parse().unwrap())
}

/// An event of an hour on 3 February 2026, 20h30 in Berlin.
fn hour() -> Event {
    Event::new("e1".into(), at("2026-02-03T19:30:00Z"), at("2026-02-03T20:30:00Z"))
}

fn guest(address: &str, answer: Option<InvitationAnswer>) -> EventGuest {
    EventGuest { address: address.into(), answer, ..EventGuest::default() }
}

fn rows<'a, O>(
    room: RowRoom,
    table: &'static Table,
    columns: &[&'static TableColumn],
    objects: &'a [O],
) -> RowTable
where
    RowObject<'a>: From<&'a O>,
{
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let names = HashMap::from([("c1".to_owned(), "Choir".repeat(100))]);
    let account = "mira@example.com";
    let (api, zone, names) = (Service::Google, &zone, &names);
    let context = RowContext { api, zone, account, address: account, names, room };
    let (rows, report) = flatten(table, columns, objects, &context);
    assert_eq!(report.odd, []);
    rows
}

/// Returns the cells of one event as text.
fn cells(event: &Event, columns: &[&str]) -> Vec<String> {
    let columns: Vec<_> = columns.iter().map(|name| EVENT.field(name).unwrap()).collect();
    let rows = rows(RowRoom::List, &EVENT, &columns, std::slice::from_ref(event));
    let text = |cell: &RowCell| match cell {
        RowCell::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    rows.rows().next().unwrap().iter().map(text).collect()
}

/// Shows five people and a count of the rest, or all people on request.
#[test]
fn lists_in_cells_count_what_they_omit() {
    let with_guests = |count: usize| {
        let guest = |at| guest(&format!("p{at}@x.example"), Some(InvitationAnswer::Accepted));
        [Event { guests: (1..=count).map(guest).collect(), ..hour() }]
    };
    let columns = ["people", "attendees"].map(|name| EVENT.field(name).unwrap());
    let text = |rows: &RowTable, name: &str| match rows.cell(0, name) {
        Some(RowCell::Text(text)) => text.clone(),
        other => panic!("{other:?}"),
    };
    for (room, count, people, cut) in [
        (RowRoom::List, 5, "p1+ p2+ p3+ p4+ p5+", 0),
        (RowRoom::List, 7, "p1+ p2+ p3+ p4+ p5+ +2", 2),
        (RowRoom::One, 7, "p1+ p2+ p3+ p4+ p5+ p6+ p7+", 0),
    ] {
        let rows = rows(room, &EVENT, &columns, &with_guests(count));
        assert_eq!(text(&rows, "people"), people);
        assert_eq!(rows.cuts().count(), cut, "{room:?} {count}");
    }
    let mut rows = rows(RowRoom::List, &EVENT, &columns, &with_guests(300));
    assert_eq!(rows.cuts().count(), 2);
    rows.show_members();
    assert_eq!(rows.cuts().count(), 0);
    for (name, last) in [("people", " p300+"), ("attendees", ", p300@x.example yes")] {
        assert!(text(&rows, name).ends_with(last), "{name}");
    }
}

/// The local time elsewhere, the bare rule, and guests' comments next to their answers.
#[test]
fn event_shows_its_own_time_its_rule_and_remarks() {
    let declined = EventGuest {
        comment: Some("Away, \"Cy\" <cy@x.example>\nyes".to_owned()),
        ..guest("bo@x.example", Some(InvitationAnswer::Declined))
    };
    let proposing = EventGuest {
        optional: true,
        proposal: Some((
            "2026-02-04T09:00:00Z".parse().unwrap(),
            "2026-02-04T09:30:00Z".parse().unwrap(),
        )),
        ..guest("bo@x.example", Some(InvitationAnswer::Tentative))
    };
    for (start, zone, dates, guest, expected) in cases! {
        "2026-02-03T19:30:00Z", "Europe/Lisbon", 1, declined.clone(), [
            "Tue 2026-02-03 20h30 = 19h30 Lisbon", "FREQ=WEEKLY;BYDAY=WE +1 date",
            "bo@x.example no, \"Away, Cy cyx.example yes\"", "recurring comment",
        ];
        // The zones agree at that time, but not all year.
        "2026-02-03T19:30:00Z", "Africa/Lagos", 2, declined.clone(), [
            "Tue 2026-02-03 20h30", "FREQ=WEEKLY;BYDAY=WE +2 dates",
            "bo@x.example no, \"Away, Cy cyx.example yes\"", "recurring comment",
        ];
        "2026-02-03T23:30:00Z", "Asia/Tokyo", 0, proposing, [
            "Wed 2026-02-04 00h30 = 08h30 Tokyo", "FREQ=WEEKLY;BYDAY=WE",
            "bo@x.example perhaps, optional, proposes Wed 2026-02-04 10h00 to 10h30",
            "recurring proposal",
        ];
        "2026-02-03T19:30:00Z", "America/Argentina/Buenos_Aires", 0, declined.clone(), [
            "Tue 2026-02-03 20h30 = 16h30 Buenos Aires", "FREQ=WEEKLY;BYDAY=WE",
            "bo@x.example no, \"Away, Cy cyx.example yes\"", "recurring comment",
        ];
        "2026-02-03T19:30:00Z", "Asia/Tokyo", 0, declined, [
            "Tue 2026-02-03 20h30 = Wed 04h30 Tokyo", "FREQ=WEEKLY;BYDAY=WE",
            "bo@x.example no, \"Away, Cy cyx.example yes\"", "recurring comment",
        ];
    } {
        let event = Event {
            start: at(start),
            zone: Some(zone.to_owned()),
            repeat: Some(EventRecurrence {
                rule: "FREQ=WEEKLY;BYDAY=WE".to_owned(),
                except: vec![at("2026-04-01T07:00:00Z")],
                extra: vec![at("2026-04-02T07:00:00Z"); dates],
            }),
            guests: vec![guest],
            ..hour()
        };
        assert_eq!(cells(&event, &["start", "repeats", "attendees", "flags"]), expected);
    }
}

/// The owner comes first, the organizer is listed where the service lists them, and rooms are left
/// out.
#[test]
fn people_are_listed_in_order() {
    let event = Event {
        organizer: Some(EventGuest {
            name: Some("Lena".to_owned()),
            ..guest("lena@x.example", None)
        }),
        organizer_listed: true,
        guests: vec![
            EventGuest { optional: true, ..guest("bo@x.example", None) },
            EventGuest { room: true, ..guest("room@x.example", None) },
            EventGuest { me: true, ..guest("mira@example.com", Some(InvitationAnswer::Tentative)) },
        ],
        ..hour()
    };
    let columns = ["organizer", "organizer_address", "people", "attendees"];
    assert_eq!(
        cells(&event, &columns),
        [
            "Lena",
            "lena@x.example",
            "me~ bo?*",
            "mira@example.com perhaps, Lena <lena@x.example> organizer, \
             bo@x.example no answer, optional",
        ]
    );
    let alone = Event { guests: Vec::new(), organizer: None, organizer_listed: false, ..event };
    assert_eq!(cells(&alone, &columns), ["", "", "Null", "Null"]);
}

/// The words for unusual kinds of time and visibility.
#[test]
fn flags_say_what_is_unusual() {
    for (event, flags) in cases! {
        hour(), "";
        Event { show: ShowAs::Free, busy: false, ..hour() }, "free";
        Event { show: ShowAs::Tentative, ..hour() }, "tentative";
        Event { show: ShowAs::Elsewhere, ..hour() }, "elsewhere";
        Event { show: ShowAs::Elsewhere, busy: false, ..hour() }, "free elsewhere";
        Event { series: Some("s".into()), online: true, ..hour() }, "recurring online";
        Event { show: ShowAs::Elsewhere, busy: false, cancelled: true, ..hour() },
            "elsewhere cancelled";
        Event { visibility: EventVisibility::Confidential, cancelled: true, ..hour() },
            "private cancelled";
    } {
        assert_eq!(cells(&event, &["flags"]), [flags]);
    }
}

/// Missing texts are empty, other missing values are null.
#[test]
fn missing_text_is_empty() {
    let columns = [
        "title", "where", "organizer", "link", "page", "repeats", "category", "zone", "notes",
        "uid",
    ];
    assert_eq!(cells(&hour(), &columns), [""; 10]);
    let columns = ["calendar", "series", "people", "attendees", "reminder", "updated"];
    assert_eq!(cells(&hour(), &columns), ["Null"; 6]);
}

/// Every column of an invitation: of a meeting with a time, and of one that only identifies itself.
#[test]
fn invitations_show_the_event_and_its_place_in_the_calendar() {
    let event = Event {
        title: "Site visit".to_owned(),
        place: "Uferweg 3".to_owned(),
        zone: Some("Asia/Tokyo".to_owned()),
        organizer: Some(EventGuest {
            name: Some("Frieder Oltmann".to_owned()),
            ..guest("f.oltmann@haus-ankerlicht.example", None)
        }),
        guests: vec![guest("yusuf@lindqvist-lamps.example", Some(InvitationAnswer::Accepted))],
        repeat: Some(EventRecurrence {
            rule: "FREQ=WEEKLY;COUNT=3".to_owned(),
            ..EventRecurrence::default()
        }),
        ..hour()
    };
    let known = Invitation {
        message: "m1".into(),
        known: Some("e7".into()),
        clashes: vec!["Dentist 09h00 to 10h00".to_owned()],
        ..event.invitation("request", false)
    };
    let unknown = Event { cancelled: true, ..hour() }.invitation("request", true);
    let columns: Vec<_> = INVITATION.fields.iter().collect();
    let rows = rows(RowRoom::List, &INVITATION, &columns, &[known, unknown]);
    let shown: Vec<String> = rows
        .rows()
        .map(|row| {
            let cells = row.iter().map(|cell| match cell {
                RowCell::Text(text) | RowCell::Id(text) => format!("{text:?}"),
                other => format!("{other:?}"),
            });
            cells.collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "\"m1\" \"request\" \"Tue 2026-02-03 20h30\" \"21h30\" \"Site visit\" \"Uferweg 3\" \
             \"Frieder Oltmann <f.oltmann@haus-ankerlicht.example>\" \"yusuf+\" \"e7\" \
             \"Dentist 09h00 to 10h00\" \"FREQ=WEEKLY;COUNT=3\"",
            "\"\" \"cancel\" Null Null \"\" Null Null Null Null \"\" Null",
        ]
    );
}

/// Returns an event whose texts are all longer than their columns.
fn long() -> Event {
    let text = || "and so on and on ".repeat(100);
    let address = || format!("{}@x.example", "and-so-on-and-on-".repeat(100));
    Event {
        calendar: Some("c1".into()),
        title: text(),
        place: text(),
        organizer: Some(EventGuest { name: Some(text()), ..guest(&address(), None) }),
        guests: vec![guest(&address(), None)],
        link: Some(text()),
        page: Some(text()),
        repeat: Some(EventRecurrence { rule: text(), ..EventRecurrence::default() }),
        categories: vec![text()],
        zone: Some(text()),
        notes: Some(text()),
        uid: Some(text()),
        ..hour()
    }
}

/// Every column with a cap cuts a longer value at it, and keeps the whole one for the output.
#[test]
fn long_texts_are_cut_in_every_column() {
    let invitation = Invitation {
        message: "m1".into(),
        kind: "and so on".repeat(20),
        event: long(),
        is_timeless: false,
        known: None,
        clashes: vec!["and so on".repeat(100)],
    };
    let mut looked_at = 0;
    for (room, times) in [(RowRoom::List, 1), (RowRoom::One, 4)] {
        for field in EVENT.fields.iter().chain(INVITATION.fields) {
            let (Some(cap), false) = (field.untrusted, field.is_account()) else { continue };
            looked_at += 1;
            let rows = if field.table == EVENT.name {
                rows(room, &EVENT, &[field], &[long()])
            } else {
                rows(room, &INVITATION, &[field], std::slice::from_ref(&invitation))
            };
            let what = format!("{}.{} {room:?}", field.table, field.name);
            let Some(RowCell::Text(text)) = rows.cell(0, field.name) else { panic!("{what}") };
            assert!(width(text) <= times * usize::from(cap) + " +1000".len(), "{what}: {text}");
            let cut = rows.cuts().next().unwrap_or_else(|| panic!("{what} is not cut"));
            assert!(width(&cut.1.whole) > usize::from(cap), "{what}");
        }
    }
    assert_eq!(looked_at, 42);
}
