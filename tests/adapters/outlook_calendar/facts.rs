//! The facts of an event.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, ShowAs};

use super::*;

const ID: &str = "AAMkAGVmMDEzMTM4LTZmYWUt";

fn at(text: &str) -> EventTime {
    EventTime::At(text.parse().unwrap())
}

fn day(text: &str) -> EventTime {
    EventTime::Day(text.parse().unwrap())
}

fn plain() -> Event {
    Event::new(ID.into(), at("2026-02-03T17:05:00Z"), at("2026-02-03T17:50:00Z"))
}

/// Returns an event with these properties in addition to its id and times.
fn event(more: Value) -> Value {
    let mut event = json!({
        "id": ID, "start": {"dateTime": "2026-02-03T17:05:00.0000000", "timeZone": "UTC"},
        "end": {"dateTime": "2026-02-03T17:50:00.0000000", "timeZone": "UTC"},
    });
    let all = event.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    event
}

#[tokio::test]
async fn full_event_yields_all_facts() {
    let outlook = Outlook::scripted(|_| None).await;
    let calendars = outlook.calendars().await;
    let fixtures: Value =
        serde_json::from_str(include_str!("../../fixtures/outlook.json")).unwrap();
    let person = |address: &str, name: Option<&str>, answer: Option<InvitationAnswer>| EventGuest {
        name: name.map(str::to_owned),
        answer,
        ..guest(address)
    };
    let whole = Event {
        id: "AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1hMDZiLTU1OGY5OTZhYmY4OAFRAAgI3mLPwbxAAEYAAAAA=".into(),
        calendar: Some("AAMkAGVmMDEzMTM4LTZmYWUtY2FsZW5kYXI=".into()),
        series: Some(
            "AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1hMDZiLTU1OGY5OTZhYmY4OABGAAAAAAAbvZDAAA=".into(),
        ),
        original: Some(at("2026-02-03T16:00:00Z")),
        zone: Some("Europe/Berlin".to_owned()),
        uid: Some("proofs-1@studio.example".to_owned()),
        sequence: None,
        title: "Proofs of the autumn catalogue".to_owned(),
        place: "Studio Okafor, room 2".to_owned(),
        own: false,
        organizer: Some(person("lena@studio.example", Some("Lena Okafor"), None)),
        visibility: EventVisibility::Private,
        reminder: Some(15),
        categories: vec!["tomato".to_owned()],
        online: true,
        page: Some(
            "https://outlook.office365.com/owa/?itemid=AAMkAGVm&exvsurl=1&path=/calendar/item"
                .to_owned(),
        ),
        updated: Some("2026-02-02T08:45:00.7654321Z".parse().unwrap()),
        guests: vec![
            EventGuest {
                me: true,
                ..person(
                    "mira@example.com",
                    Some("Mira Lindqvist"),
                    Some(InvitationAnswer::Accepted),
                )
            },
            person("proofs@print.example", Some("Print shop"), Some(InvitationAnswer::Tentative)),
            EventGuest { optional: true, ..person("bo@example.com", None, None) },
            EventGuest {
                room: true,
                ..person("room2@studio.example", Some("Room 2"), Some(InvitationAnswer::Accepted))
            },
        ],
        answer: Some(InvitationAnswer::Accepted),
        version: Some("W/\"ZlnW4RIAV06KYYwlrfNZvQAALfZeRQ==\"".to_owned()),
        link: Some("https://meet.example/abc-defg-hij".to_owned()),
        notes: Some(
            "<html><body><p>Please bring the <b>proofs</b> &amp; the paper.</p></body></html>"
                .to_owned(),
        ),
        ..plain()
    };
    let wire = fixtures["event"][0].clone();
    assert_eq!(calendars.read_event(wire.clone()), Some(Event { wire, ..whole }));

    let proposed =
        ("2026-03-05T19:00:00Z".parse().unwrap(), "2026-03-05T20:30:00Z".parse().unwrap());
    let series = Event {
        id: "AAMkAGVmMDEzMTM4LTZmYWUtNDdkNC1hMDZiLWNob2ly".into(),
        calendar: Some("AAMkAGVmMDEzMTM4LTZmYWUtY2hvaXI=".into()),
        zone: Some("tzone://Microsoft/Custom".to_owned()),
        start: day("2026-03-05"),
        end: day("2026-03-06"),
        repeat: Some(EventRecurrence {
            rule: "FREQ=WEEKLY;BYDAY=TH".to_owned(),
            except: vec![day("2026-04-02")],
            extra: Vec::new(),
        }),
        uid: Some("040000008200E00074C5B7101A82E00800000000CB7A".to_owned()),
        sequence: None,
        title: "Choir".to_owned(),
        organizer: Some(EventGuest {
            me: true,
            ..person("mira@example.com", Some("Mira Lindqvist"), None)
        }),
        organizer_listed: true,
        visibility: EventVisibility::Confidential,
        updated: Some("2026-01-02T10:00:00Z".parse().unwrap()),
        guests: vec![EventGuest {
            proposal: Some(proposed),
            ..person("ana@example.com", Some("Ana"), Some(InvitationAnswer::Declined))
        }],
        show: ShowAs::Tentative,
        version: Some("W/\"ZlnW4RIAV06KYYwlrfNZvQAALfZeSA==\"".to_owned()),
        link: Some("https://meet.example/choir".to_owned()),
        ..plain()
    };
    let wire = fixtures["event"][1].clone();
    assert_eq!(calendars.read_event(wire.clone()), Some(Event { wire, ..series }));
}

#[tokio::test]
async fn partial_event_yields_partial_facts() {
    let outlook = Outlook::scripted(|_| None).await;
    let calendars = outlook.calendars().await;
    let attendees = json!([{"emailAddress": {"address": "MIRA@example.com"}}]);
    let lena = json!([{"emailAddress": {"address": "lena@studio.example"}}]);
    for (more, expected) in cases! {
        json!({}), plain();
        // In another zone than requested, and a name of Windows'.
        json!({
            "start": {"dateTime": "2026-03-29T03:00:00", "timeZone": "W. Europe Standard Time"},
            "end": {"dateTime": "2026-03-29T03:30:00", "timeZone": "Europe/Berlin"},
        }), Event { start: at("2026-03-29T01:00:00Z"), end: at("2026-03-29T01:30:00Z"), ..plain() };
        json!({"showAs": "free"}), Event { busy: false, show: ShowAs::Free, ..plain() };
        json!({"showAs": "oof"}), Event { show: ShowAs::Oof, ..plain() };
        json!({"isCancelled": true, "showAs": "busy"}),
            Event { busy: false, cancelled: true, ..plain() };
        // An invitation, not answered, then declined.
        json!({"isOrganizer": false, "attendees": attendees, "responseStatus": {"response": "notResponded"}}),
            Event {
                own: false,
                unanswered: true,
                guests: vec![EventGuest { me: true, ..guest("MIRA@example.com") }],
                ..plain()
            };
        // One that came to an alias, or to a group.
        json!({"isOrganizer": false, "attendees": lena, "responseStatus": {"response": "notResponded"}}),
            Event {
                own: false,
                unanswered: true,
                guests: vec![guest("lena@studio.example")],
                ..plain()
            };
        json!({"isOrganizer": false, "attendees": lena, "responseStatus": {"response": "declined"}}),
            Event {
                own: false,
                busy: false,
                answer: Some(InvitationAnswer::Declined),
                guests: vec![guest("lena@studio.example")],
                ..plain()
            };
        // One's own, whatever else is said.
        json!({"isOrganizer": true, "attendees": lena, "responseStatus": {"response": "accepted"}}),
            Event {
                organizer: Some(EventGuest { me: true, ..EventGuest::default() }),
                guests: vec![guest("lena@studio.example")],
                ..plain()
            };
        // An occurrence as it is by the rule, and one whose day has moved.
        json!({"type": "occurrence", "seriesMasterId": "AAMkAGVmSERIES"}),
            Event {
                series: Some("AAMkAGVmSERIES".into()),
                original: Some(at("2026-02-03T17:05:00Z")),
                ..plain()
            };
        json!({"type": "exception", "seriesMasterId": "AAMkAGVmSERIES"}),
            Event { series: Some("AAMkAGVmSERIES".into()), ..plain() };
        json!({
            "type": "exception", "seriesMasterId": "AAMkAGVmSERIES", "isAllDay": true,
            "originalStart": "2026-02-09T23:00:00Z", "originalStartTimeZone": "Europe/Berlin",
            "start": {"dateTime": "2026-02-12T00:00:00.0000000", "timeZone": "UTC"},
            "end": {"dateTime": "2026-02-13T00:00:00.0000000", "timeZone": "UTC"},
        }),
            Event {
                series: Some("AAMkAGVmSERIES".into()),
                original: Some(day("2026-02-10")),
                start: day("2026-02-12"),
                end: day("2026-02-13"),
                zone: Some("Europe/Berlin".to_owned()),
                ..plain()
            };
        // What was taken out of a series is told by its date, at the local time.
        json!({
            "recurrenceRule": "FREQ=DAILY", "originalStartTimeZone": "Europe/Berlin",
            "cancelledOccurrences": ["OID.AAMk.2026-02-04", "OID.AAMk.2026-04-01", "odd", 7],
        }),
            Event {
                zone: Some("Europe/Berlin".to_owned()),
                repeat: Some(EventRecurrence {
                    rule: "FREQ=DAILY".to_owned(),
                    except: vec![at("2026-02-04T17:05:00Z"), at("2026-04-01T16:05:00Z")],
                    extra: Vec::new(),
                }),
                ..plain()
            };
        // A series whose pattern is unknown.
        json!({"type": "seriesMaster", "recurrence": null}),
            Event { repeat: Some(EventRecurrence::default()), ..plain() };
        json!({"originalStartTimeZone": "tzone://Microsoft/Custom", "bodyPreview": "Ink",
            "location": "x", "attendees": {}, "organizer": 7, "subject": null}),
            Event {
                zone: Some("tzone://Microsoft/Custom".to_owned()),
                notes: Some("Ink".to_owned()),
                ..plain()
            };
        // Somebody without an address is shown, and does not make it a meeting.
        json!({"attendees": [{"emailAddress": {"name": "Bo"}}, {"emailAddress": {}}, {}]}),
            Event {
                guests: vec![EventGuest { name: Some("Bo".to_owned()), ..guest("") }],
                ..plain()
            };
    } {
        let wire = event(more.clone());
        let expected = Event { wire: wire.clone(), ..expected };
        assert_eq!(calendars.read_event(wire), Some(expected), "{more}");
    }
    for odd in [
        json!(null),
        json!([]),
        json!({"id": 7}),
        json!({"id": ID}),
        event(json!({"id": ""})),
        event(json!({"end": null})),
        event(json!({"start": {"dateTime": "soon", "timeZone": "UTC"}})),
        event(json!({"start": {"dateTime": "2026-02-03T17:05:00", "timeZone": "Nowhere"}})),
    ] {
        assert_eq!(calendars.read_event(odd.clone()), None, "{odd}");
    }
}
