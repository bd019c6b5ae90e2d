//! Google Calendar: the facts of its events, writes to it, and the requests sent.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{
    Event, EventGuest, EventPatch, EventVisibility, InvitationAnswer, ShowAs,
};
use daysheet_core::provider::calendar::InvitationReply;
use daysheet_providers::google::calendar::body;
use daysheet_providers::google::calendar::facts as read;
use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};

mod changes;
mod google;
mod reads;
mod sandboxed;
mod writes;

const ME: &str = "mira@example.com";

fn fixtures(table: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../fixtures/gmail.json")).unwrap();
    all[table].as_array().unwrap().clone()
}

fn guest(address: &str) -> EventGuest {
    EventGuest { address: address.into(), ..EventGuest::default() }
}

fn at(text: &str) -> ZonedTime {
    ZonedTime::At(text.parse().unwrap(), "Europe/Berlin".to_owned())
}

fn when(text: &str) -> EventTime {
    EventTime::At(text.parse().unwrap())
}

fn weekly() -> EventRecurrence {
    EventRecurrence {
        rule: "FREQ=WEEKLY;BYDAY=TU".to_owned(),
        except: vec![when("2026-02-10T17:05:00Z")],
        extra: vec![EventTime::Day(date(2026, 2, 12))],
    }
}

#[test]
fn event_json_yields_these_facts() {
    let events = fixtures("event");
    assert_eq!(
        read::event(events[0].clone(), ME),
        Some(Event {
            id: "mira@example.com/6tm3c1p9k8o34d1h60s38d9m_20260203T170500Z".into(),
            calendar: Some(ME.into()),
            series: Some("mira@example.com/6tm3c1p9k8o34d1h60s38d9m".into()),
            original: Some(when("2026-02-03T17:05:00Z")),
            start: when("2026-02-03T17:05:00Z"),
            end: when("2026-02-03T17:50:00Z"),
            zone: Some("Europe/Berlin".to_owned()),
            end_zone: None,
            repeat: None,
            uid: Some("proofs-1@studio.example".to_owned()),
            sequence: Some(1),
            title: "Proofs of the autumn catalogue".to_owned(),
            place: "Studio Okafor, room 2".to_owned(),
            own: false,
            organizer: Some(EventGuest {
                name: Some("Lena Okafor".to_owned()),
                ..guest("lena@studio.example")
            }),
            organizer_listed: false,
            omitted: false,
            joint: false,
            guests: vec![
                EventGuest {
                    name: Some("Mira Lindqvist".to_owned()),
                    answer: Some(InvitationAnswer::Accepted),
                    me: true,
                    ..guest(ME)
                },
                EventGuest {
                    name: Some("Print shop".to_owned()),
                    answer: Some(InvitationAnswer::Tentative),
                    ..guest("proofs@print.example")
                },
                EventGuest { optional: true, ..guest("bo@example.com") },
                EventGuest {
                    name: Some("Room 2".to_owned()),
                    answer: Some(InvitationAnswer::Accepted),
                    room: true,
                    ..guest("room2@resource.calendar.google.com")
                },
            ],
            answer: Some(InvitationAnswer::Accepted),
            unanswered: false,
            busy: true,
            show: ShowAs::Busy,
            cancelled: false,
            version: Some("\"3540276600000000\"".to_owned()),
            visibility: EventVisibility::Private,
            reminder: Some(15),
            categories: vec!["tomato".to_owned()],
            online: true,
            link: Some("https://meet.example/abc-defg-hij".to_owned()),
            notes: Some("<p>Please bring the <b>proofs</b> &amp; the paper.</p>".to_owned()),
            page: Some("https://www.google.com/calendar/event?eid=NnRt".to_owned()),
            updated: Some("2026-02-02T08:45:00Z".parse().unwrap()),
            wire: events[0].clone(),
        })
    );
    let mut large = events[0].clone();
    large["attendeesOmitted"] = true.into();
    large["guestsCanModify"] = true.into();
    large["organizer"]["self"] = true.into();
    let large = read::event(large, ME).unwrap();
    let other = large.other_organizer();
    assert_eq!((large.omitted, large.joint, large.own, other), (true, true, true, None));
    let series = read::event(events[1].clone(), ME).unwrap();
    assert_eq!(
        (series.start, series.end, series.busy, series.own),
        (EventTime::Day(date(2026, 3, 5)), EventTime::Day(date(2026, 3, 6)), false, true)
    );
    assert_eq!(
        series.repeat,
        Some(EventRecurrence {
            rule: "FREQ=WEEKLY;BYDAY=TH".to_owned(),
            except: vec![EventTime::Day(date(2026, 4, 2))],
            extra: Vec::new(),
        })
    );
    let reported: Vec<_> = events
        .iter()
        .map(|event| {
            let facts = read::event(event.clone(), ME).unwrap();
            (facts.busy, facts.cancelled, facts.own)
        })
        .collect();
    assert_eq!(
        reported,
        [
            (true, false, false),
            (false, false, true),
            (false, true, true),
            (true, false, true),
            (false, false, true),
        ]
    );
}

#[test]
fn malformed_event_fields_read_as_absent() {
    for (event, title) in cases! {
        json!(null), None;
        json!([]), None;
        json!({"id": "a"}), None;
        json!({"id": "", "start": {"date": "2026-02-03"}}), None;
        json!({"id": "a", "start": {"date": "soon"}}), None;
        json!({"id": "a", "start": {"dateTime": "2026-02-03T18:05:00"}}), None;
        json!({"id": "a", "summary": 7, "attendees": [null, {"email": 1}], "recurrence": [1],
               "start": {"date": "2026-02-03"}, "end": "x"}), Some("");
        // An occurrence that was deleted.
        json!({"id": "a_1", "status": "cancelled", "recurringEventId": "a",
               "originalStartTime": {"dateTime": "2026-02-03T18:05:00",
                                     "timeZone": "W. Europe Standard Time"}}), Some("");
    } {
        let facts = read::event(event.clone(), ME);
        assert_eq!(facts.map(|facts| facts.title).as_deref(), title, "{event}");
    }
}

/// Google marks whom the calendar belongs to; here the account is given.
#[test]
fn own_guest_is_marked_in_shared_calendars() {
    let event = |calendar: &str, creator: &str, organizer: &str| {
        let mut event = json!({
            "creator": {"email": creator},
            "organizer": {"email": organizer, "self": organizer == calendar},
            "attendees": [{"email": "bo@example.com", "self": calendar == "bo@example.com"},
                          {"email": "Mira@example.com", "self": calendar == ME}],
        });
        read::place(&mut event, &calendar.into(), ME);
        let own = |person: &Value| person.get("self") == Some(&Value::Bool(true));
        let people = event["attendees"].as_array().unwrap();
        assert_eq!(event["calendarId"], calendar);
        (own(&event["organizer"]), own(&people[0]), own(&people[1]))
    };
    let group = "c_1881@group.calendar.google.com";
    let holidays = "en.german#holiday@group.v.calendar.google.com";
    for (calendar, creator, organizer, expected) in [
        (ME, ME, ME, (true, false, true)),
        (ME, "bo@example.com", "bo@example.com", (false, false, true)),
        ("bo@example.com", "bo@example.com", "bo@example.com", (false, false, true)),
        ("bo@example.com", ME, ME, (true, false, true)),
        (group, ME, group, (true, false, true)),
        (group, "bo@example.com", group, (false, false, true)),
        (holidays, holidays, holidays, (false, false, true)),
    ] {
        assert_eq!(event(calendar, creator, organizer), expected, "{calendar} {creator}");
    }
    let mut nothing = json!("nothing");
    read::place(&mut nothing, &ME.into(), ME);
    assert_eq!(nothing, "nothing");
}

#[test]
fn field_mask_covers_facts_and_shown_columns() {
    let paths =
        |paths: &[&str]| -> Vec<String> { paths.iter().map(|path| (*path).to_owned()).collect() };
    let facts = "id,etag,status,start,end,originalStartTime,recurringEventId,recurrence,iCalUID,\
                 summary,location,transparency,eventType,hangoutLink,organizer/email,\
                 organizer/displayName,organizer/self,creator/email,attendees/email,\
                 attendees/displayName,attendees/self,attendees/organizer,attendees/resource,\
                 attendees/optional,attendees/responseStatus";
    assert_eq!(read::mask(&[]), facts);
    assert_eq!(
        read::mask(&paths(&["calendarId", "id", "description", "conferenceData/entryPoints/uri"])),
        facts.replacen("id,", "id,description,conferenceData/entryPoints/uri,", 1)
    );
    // A parent field is requested alone.
    assert_eq!(
        read::mask(&paths(&["start/timeZone", "attendees"])),
        "attendees,id,etag,status,start,end,originalStartTime,recurringEventId,recurrence,\
         iCalUID,summary,location,transparency,eventType,hangoutLink,organizer/email,\
         organizer/displayName,organizer/self,creator/email"
    );
}

#[test]
fn new_event_is_written_with_all_its_fields() {
    let time = Some((at("2026-02-03T18:05:00"), at("2026-02-03T18:50:00")));
    let days = Some((ZonedTime::Day(date(2026, 2, 9)), ZonedTime::Day(date(2026, 2, 11))));
    let start = json!({"dateTime": "2026-02-03T18:05:00+01:00", "timeZone": "Europe/Berlin"});
    let end = json!({"dateTime": "2026-02-03T18:50:00+01:00", "timeZone": "Europe/Berlin"});
    let first = json!({"dateTime": "2026-02-09T00:00:00Z", "timeZone": "Europe/Lisbon"});
    let last = json!({"dateTime": "2026-02-11T00:00:00Z", "timeZone": "Europe/Lisbon"});
    let text = |text: &str| Some(text.to_owned());
    for (change, expected) in cases! {
        EventPatch::default(), json!({});
        EventPatch {
            title: text("Proofs"),
            time: time.clone(),
            place: text("Studio"),
            notes: text("Bring paper.\nAnd ink."),
            guests: Some(vec![
                guest("lena@studio.example"),
                EventGuest { name: text("Bo"), optional: true, ..guest("bo@example.com") },
                EventGuest { room: true, ..guest("room2@resource.calendar.google.com") },
            ]),
            repeat: Some(Some(weekly())),
            online: Some(true),
            show: Some(ShowAs::Free),
            visibility: Some(EventVisibility::Private),
            reminder: Some(Some(15)),
            category: text("Tomato"),
            uid: None,
            original: None,
            organizer: None,
        },
            json!({
                "summary": "Proofs", "start": start, "end": end, "location": "Studio",
                "description": "Bring paper.\nAnd ink.",
                "attendees": [
                    {"email": "lena@studio.example"},
                    {"email": "bo@example.com", "displayName": "Bo", "optional": true},
                    {"email": "room2@resource.calendar.google.com", "resource": true},
                ],
                "recurrence": [
                    "RRULE:FREQ=WEEKLY;BYDAY=TU", "RDATE;VALUE=DATE:20260212",
                    "EXDATE;TZID=Europe/Berlin:20260210T180500",
                ],
                "conferenceData": {"createRequest": {
                    "requestId": "r1",
                    "conferenceSolutionKey": {"type": "hangoutsMeet"},
                }},
                "transparency": "transparent", "visibility": "private",
                "reminders": {
                    "useDefault": false, "overrides": [{"method": "popup", "minutes": 15}],
                },
                "colorId": "11",
            });
        EventPatch {
            title: text(""),
            time: days.clone(),
            show: Some(ShowAs::Tentative),
            reminder: Some(None),
            guests: Some(Vec::new()),
            online: Some(false),
            repeat: Some(None),
            category: text(""),
            ..EventPatch::default()
        },
            json!({
                "start": {"date": "2026-02-09"}, "end": {"date": "2026-02-11"},
                "status": "tentative", "reminders": {"useDefault": false, "overrides": []},
            });
        EventPatch { time: days.clone(), show: Some(ShowAs::Oof), ..EventPatch::default() },
            json!({
                "start": first, "end": last, "eventType": "outOfOffice",
                "outOfOfficeProperties": {"autoDeclineMode": "declineNone"},
            });
        EventPatch { time: time.clone(), show: Some(ShowAs::Focus), ..EventPatch::default() },
            json!({
                "start": start, "end": end, "eventType": "focusTime",
                "focusTimeProperties": {
                    "autoDeclineMode": "declineNone", "chatStatus": "doNotDisturb",
                },
            });
        EventPatch { time: days.clone(), show: Some(ShowAs::Elsewhere), ..EventPatch::default() },
            json!({
                "start": {"date": "2026-02-09"}, "end": {"date": "2026-02-11"},
                "eventType": "workingLocation",
                "workingLocationProperties": {"type": "homeOffice", "homeOffice": {}},
                "transparency": "transparent", "visibility": "public",
            });
        EventPatch { place: text("Library"), show: Some(ShowAs::Elsewhere), ..EventPatch::default() },
            json!({
                "location": "Library", "eventType": "workingLocation",
                "workingLocationProperties": {
                    "type": "customLocation", "customLocation": {"label": "Library"},
                },
                "transparency": "transparent", "visibility": "public",
            });
        EventPatch {
            uid: text("proofs-1@studio.example"),
            organizer: Some(EventGuest {
                name: text("Lena Okafor"),
                ..guest("lena@studio.example")
            }),
            guests: Some(vec![EventGuest { answer: Some(InvitationAnswer::Declined), ..guest(ME) }]),
            ..EventPatch::default()
        },
            json!({
                "iCalUID": "proofs-1@studio.example",
                "organizer": {"email": "lena@studio.example", "displayName": "Lena Okafor"},
                "attendees": [{"email": ME, "responseStatus": "declined"}],
            });
    } {
        assert_eq!(body::new(&change, "r1", "Europe/Lisbon"), Ok(expected), "{change:?}");
    }
}

#[test]
fn change_writes_only_the_fields_that_differ() {
    let current = &fixtures("event")[0];
    let people = current["attendees"].as_array().unwrap();
    let facts = read::event(current.clone(), ME).unwrap();
    let text = |text: &str| Some(text.to_owned());
    let mut fewer = facts.guests.clone();
    fewer.remove(1);
    fewer.push(guest("lena@print.example"));
    for (change, expected) in cases! {
        EventPatch::default(), json!({});
        // What is so already is not written.
        EventPatch {
            title: text("Proofs of the autumn catalogue"),
            place: text("Studio Okafor, room 2"),
            time: Some((at("2026-02-03T18:05:00"), at("2026-02-03T18:50:00"))),
            guests: Some(facts.guests.clone()),
            online: Some(true),
            show: Some(ShowAs::Busy),
            visibility: Some(EventVisibility::Private),
            reminder: Some(Some(15)),
            category: text("tomato"),
            ..EventPatch::default()
        }, json!({});
        EventPatch {
            title: text("Proofs"),
            place: text(""),
            notes: text(""),
            category: text(""),
            online: Some(false),
            visibility: Some(EventVisibility::Default),
            reminder: Some(None),
            ..EventPatch::default()
        },
            json!({
                "summary": "Proofs", "location": null, "description": null, "colorId": null,
                "conferenceData": null, "visibility": "default",
                "reminders": {"useDefault": false, "overrides": []},
            });
        EventPatch {
            time: Some((at("2026-02-03T19:05:00"), at("2026-02-03T19:50:00"))),
            repeat: Some(None),
            ..EventPatch::default()
        },
            json!({
                "start": {"dateTime": "2026-02-03T19:05:00+01:00", "timeZone": "Europe/Berlin"},
                "end": {"dateTime": "2026-02-03T19:50:00+01:00", "timeZone": "Europe/Berlin"},
            });
        EventPatch {
            time: Some((ZonedTime::Day(date(2026, 2, 3)), ZonedTime::Day(date(2026, 2, 4)))),
            show: Some(ShowAs::Free),
            ..EventPatch::default()
        },
            json!({
                "start": {"date": "2026-02-03", "dateTime": null, "timeZone": null},
                "end": {"date": "2026-02-04", "dateTime": null, "timeZone": null},
                "transparency": "transparent",
            });
        EventPatch {
            repeat: Some(Some(weekly())),
            show: Some(ShowAs::Tentative),
            ..EventPatch::default()
        },
            json!({
                "recurrence": [
                    "RRULE:FREQ=WEEKLY;BYDAY=TU", "RDATE;VALUE=DATE:20260212",
                    "EXDATE;TZID=Europe/Berlin:20260210T180500",
                ],
                "status": "tentative",
            });
        // Answers, comments and rooms stay; who is new comes last.
        EventPatch { guests: Some(fewer), ..EventPatch::default() },
            json!({"attendees": [people[0], people[2], people[3], {"email": "lena@print.example"}]});
        // By address alone, they are known all the same.
        EventPatch {
            guests: Some(vec![guest("PROOFS@print.example"), guest(ME)]),
            ..EventPatch::default()
        }, json!({"attendees": [people[0], people[1]]});
        EventPatch { guests: Some(Vec::new()), ..EventPatch::default() }, json!({"attendees": []});
    } {
        assert_eq!(body::patch_body(current, &change, "r1"), Ok(expected), "{change:?}");
    }

    // The organizer stays in the list, and a series that has none gets its days.
    let series = &fixtures("event")[1];
    let change = EventPatch {
        guests: Some(vec![guest("bo@example.com")]),
        online: Some(true),
        repeat: Some(None),
        show: Some(ShowAs::Busy),
        ..EventPatch::default()
    };
    assert_eq!(
        body::patch_body(series, &change, "r1"),
        Ok(json!({
            "attendees": [series["attendees"][0], {"email": "bo@example.com"}], "recurrence": null,
            "conferenceData": {"createRequest": {
                "requestId": "r1",
                "conferenceSolutionKey": {"type": "hangoutsMeet"},
            }},
            "transparency": "opaque", "status": "confirmed",
        }))
    );
}

#[test]
fn unsupported_changes_are_refused_before_any_request() {
    let events = fixtures("event");
    let mut long = events[0].clone();
    long["attendeesOmitted"] = true.into();
    let show = |show| EventPatch { show: Some(show), ..EventPatch::default() };
    let kinds = "Google cannot change the kind of an existing event (oof, focus, elsewhere): \
                 create a new event and delete this one";
    for (error, expected) in cases! {
        body::new(&EventPatch { reminder: Some(Some(50_000)), ..EventPatch::default() }, "r", "UTC"),
            "Google reminds at most 40320 minutes (four weeks) before: give a shorter reminder";
        body::new(
            &EventPatch { category: Some("red".to_owned()), ..EventPatch::default() },
            "r",
            "UTC",
        ),
            "Google has no colour `red`: use one of: lavender, sage, grape, flamingo, banana, \
             tangerine, peacock, graphite, blueberry, basil, tomato";
        body::new(
            &EventPatch { guests: Some(vec![guest("bo@example.com")]), ..show(ShowAs::Focus) },
            "r",
            "UTC",
        ),
            "at Google, focus time has no guests and no online meeting: leave out people and \
             online, or use show=busy";
        body::patch_body(&events[0], &show(ShowAs::Oof), "r"), kinds;
        body::patch_body(&events[4], &show(ShowAs::Busy), "r"), kinds;
        body::patch_body(&long, &EventPatch { guests: Some(Vec::new()), ..EventPatch::default() }, "r"),
            "Google does not list all guests of this event: change its people in Google Calendar";
        body::invited(&long, &["bo@example.com".to_owned()]),
            "Google does not list all guests of this event: change its people in Google Calendar";
        body::response_body(
            &events[3],
            &InvitationReply { answer: InvitationAnswer::Accepted, comment: None, propose: None, notify: true },
            ME,
            &TimeZone::UTC,
        ),
            "the account is not a guest of this event: answer the copy in your own calendar, or \
             change it with calendar_save";
    } {
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
    for same in [(2, ShowAs::Oof), (3, ShowAs::Focus), (4, ShowAs::Elsewhere)] {
        assert_eq!(body::patch_body(&events[same.0], &show(same.1), "r"), Ok(json!({})));
    }
}

#[test]
fn answering_changes_only_the_own_guest_entry() {
    let mut event = fixtures("event")[0].clone();
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let people = event["attendees"].as_array().unwrap().clone();
    let mut me = people[0].clone();
    let response = InvitationReply {
        answer: InvitationAnswer::Declined,
        comment: Some("The train is late.".to_owned()),
        propose: Some((
            "2026-02-04T09:00:00Z".parse().unwrap(),
            "2026-02-04T09:45:00Z".parse().unwrap(),
        )),
        notify: true,
    };
    me["responseStatus"] = "declined".into();
    me["comment"] =
        "The train is late.\nproposed: Wed 2026-02-04 10h00 to 10h45 (Europe/Berlin)".into();
    assert_eq!(
        body::response_body(&event, &response, ME, &zone),
        Ok(json!({"attendees": [me, people[1], people[2], people[3]]}))
    );
    // Of a list that is not whole, nobody else is named.
    event["attendeesOmitted"] = true.into();
    assert_eq!(
        body::response_body(&event, &response, ME, &zone),
        Ok(json!({"attendeesOmitted": true, "attendees": [me]}))
    );
    let quiet = InvitationReply {
        answer: InvitationAnswer::Tentative,
        comment: None,
        propose: None,
        notify: false,
    };
    let mut me = people[0].clone();
    me["responseStatus"] = "tentative".into();
    assert_eq!(
        body::response_body(&event, &quiet, ME, &zone),
        Ok(json!({"attendeesOmitted": true, "attendees": [me]}))
    );
}

#[test]
fn inviting_more_guests_adds_no_duplicates() {
    let event = &fixtures("event")[1];
    let to = ["ana@example.com", "bo@example.com", "BO@example.com"].map(str::to_owned);
    assert_eq!(
        body::invited(event, &to),
        Ok(json!({"attendees": [event["attendees"][0], event["attendees"][1],
                                {"email": "bo@example.com"}]}))
    );
}

/// JSON of any form under the keys that are read.
fn odd() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "2026-0[1-9]-[0-3][0-9](T[0-2][0-9]:00:00Z?)?".prop_map(Value::from),
        "(RRULE|EXDATE|RDATE)(;TZID=[A-Za-z/]{0,8})?:[0-9TZ,;=A-Z]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 40, 6, |inner| {
        let key = prop::sample::select(vec![
            "id", "start", "end", "date", "dateTime", "timeZone", "attendees", "email", "self",
            "organizer", "recurrence", "originalStartTime", "conferenceData", "entryPoints", "uri",
            "responseStatus", "creator", "eventType", "status", "calendarId",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..8)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_event_json_never_panics(mut event in odd(), calendar in "\\PC{0,12}") {
        read::place(&mut event, &calendar.into(), ME);
        let facts = read::event(event.clone(), ME);
        let change = EventPatch {
            title: Some("x".to_owned()),
            guests: facts.map(|facts| facts.guests),
            repeat: Some(Some(weekly())),
            ..EventPatch::default()
        };
        let changed = body::patch_body(&event, &change, "r").unwrap();
        prop_assert!(changed.is_object());
    }
}
