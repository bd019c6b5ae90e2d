//! Writes, and changes that are refused before sending.

use super::*;
use daysheet_core::ids::CalendarId;
use daysheet_providers::microsoft::calendar::events::facts;

const ID: &str = "AAMkAGVmMDEzMTM4LTZmYWUt";
const CALENDAR: &str = "AAMkAGVmMDEzMTM4LTY2hvaXI=";

/// Returns an event of an hour, as Graph has it.
fn stored(title: &str) -> Value {
    json!({
        "id": ID, "subject": title,
        "start": {"dateTime": "2026-02-03T17:05:00.0000000", "timeZone": "UTC"},
        "end": {"dateTime": "2026-02-03T18:05:00.0000000", "timeZone": "UTC"},
    })
}

/// Returns the event that the account reads from an object.
fn read(wire: Value) -> Event {
    facts::event(wire, "mira@example.com").unwrap()
}

/// Returns the same as [`stored`], from a calendar.
fn read_in(title: &str, calendar: &str) -> Event {
    let mut event = stored(title);
    event["calendarId"] = json!(calendar);
    read(event)
}

/// Starts a service that accepts every write.
async fn taker() -> Outlook {
    Outlook::scripted(|seen| {
        let (method, path) = seen.line.split_once(' ').unwrap();
        Some(match (method, path) {
            ("GET", "/me/mailboxSettings") => {
                respond(200, &json!({"timeZone": "Tokyo Standard Time"}))
            }
            ("GET", _) => respond(200, &stored("as it then is")),
            ("POST", path) if path.ends_with("/events") => respond(201, &stored("as it then is")),
            _ => empty(202),
        })
    })
    .await
}

/// The one write that was seen, with its body.
fn write(outlook: &Outlook) -> (String, Value) {
    let seen = outlook.tap.requests();
    let mut writes = seen.into_iter().filter(|seen| !seen.line.starts_with("GET"));
    let seen = writes.next().expect("nothing was written");
    assert!(writes.next().is_none(), "more than one write");
    assert_eq!(seen.header("prefer"), PREFER);
    (seen.line, seen.body)
}

fn full() -> EventPatch {
    EventPatch {
        place: Some("Studio Okafor".to_owned()),
        notes: Some("Bring ink & paper".to_owned()),
        guests: Some(vec![
            guest(" lena@studio.example "),
            EventGuest { name: Some("Bo".to_owned()), optional: true, ..guest("bo@example.com") },
            EventGuest { room: true, ..guest("room2@studio.example") },
        ]),
        online: Some(true),
        show: Some(ShowAs::Elsewhere),
        visibility: Some(EventVisibility::Private),
        reminder: Some(Some(10)),
        category: Some("Print, Clients".to_owned()),
        uid: Some("from-elsewhere".to_owned()),
        organizer: Some(guest("lena@studio.example")),
        ..hour("Proofs", "2026-02-03T18:05:00")
    }
}

#[tokio::test]
async fn new_event_is_written_with_all_its_fields() {
    let outlook = taker().await;
    let calendars = outlook.calendars().await;
    let time = |start: &str, end: &str, zone: &str| {
        (json!({"dateTime": start, "timeZone": zone}), json!({"dateTime": end, "timeZone": zone}))
    };
    let whole = {
        let (start, end) =
            time("2026-02-03T18:05:00", "2026-02-03T19:05:00", "W. Europe Standard Time");
        json!({
            "subject": "Proofs", "isAllDay": false, "start": start, "end": end,
            "location": {"displayName": "Studio Okafor"},
            "body": {"contentType": "text", "content": "Bring ink & paper"},
            "attendees": [
                {"emailAddress": {"address": "lena@studio.example"}, "type": "required"},
                {"emailAddress": {"address": "bo@example.com", "name": "Bo"}, "type": "optional"},
                {"emailAddress": {"address": "room2@studio.example"}, "type": "resource"},
            ],
            "isOnlineMeeting": true, "onlineMeetingProvider": "teamsForBusiness",
            "showAs": "workingElsewhere", "sensitivity": "private", "isReminderOn": true,
            "reminderMinutesBeforeStart": 10, "categories": ["Print", "Clients"],
        })
    };
    let days = {
        let (start, end) =
            time("2026-02-03T00:00:00", "2026-02-05T00:00:00", "Tokyo Standard Time");
        json!({
            "subject": "Fair", "isAllDay": true, "start": start, "end": end,
            "isReminderOn": false, "showAs": "oof", "sensitivity": "normal",
        })
    };
    // No zone of Windows' is like this one.
    let troll = {
        let (start, end) = time("2026-02-03T18:05:00", "2026-02-03T19:05:00", "UTC");
        json!({"isAllDay": false, "start": start, "end": end})
    };
    let day = |text: &str| ZonedTime::Day(text.parse().unwrap());
    let south = |text: &str| ZonedTime::At(text.parse().unwrap(), "Antarctica/Troll".to_owned());
    for (calendar, change, path, expected) in cases! {
        None, full(), "POST /me/events", whole;
        Some(CALENDAR),
            EventPatch {
                title: Some("Fair".to_owned()),
                time: Some((day("2026-02-03"), day("2026-02-05"))),
                reminder: Some(None),
                show: Some(ShowAs::Oof),
                visibility: Some(EventVisibility::Public),
                ..EventPatch::default()
            }, "POST /me/calendars/AAMkAGVmMDEzMTM4LTY2hvaXI=/events", days;
        None,
            EventPatch {
                time: Some((south("2026-02-03T18:05:00"), south("2026-02-03T19:05:00"))),
                ..EventPatch::default()
            }, "POST /me/events", troll;
    } {
        let calendar = calendar.map(CalendarId::from);
        let made = calendars.create(calendar.as_ref(), &change, GuestNotice::All).await.unwrap();
        assert_eq!((made.title.as_str(), made.calendar), ("as it then is", calendar));
        let (request, mut body) = write(&outlook);
        assert_eq!(request, path);
        let id = body.as_object_mut().unwrap().remove("transactionId").unwrap();
        let id = id.as_str().unwrap().to_owned();
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!((parts, &id[14..15]), (vec![8, 4, 4, 4, 12], "4"));
        assert_eq!(body, expected);
    }
}

/// A meeting organized by the user, fetched whole.
fn meeting() -> Value {
    json!({
        "@odata.etag": "W/\"1\"",
        "id": ID,
        "calendarId": CALENDAR,
        "subject": "Proofs",
        "isAllDay": false,
        "isOrganizer": true,
        "isOnlineMeeting": true,
        "onlineMeeting": {"joinUrl": "https://teams.example/l/meetup-join/1"},
        "originalStartTimeZone": "W. Europe Standard Time",
        "start": {"dateTime": "2026-02-03T17:05:00.0000000", "timeZone": "UTC"},
        "end": {"dateTime": "2026-02-03T18:05:00.0000000", "timeZone": "UTC"},
        "organizer": {"emailAddress": {"name": "Mira", "address": "mira@example.com"}},
        "attendees": [
            {"type": "required", "status": {"response": "accepted", "time": "2026-01-06T07:00:00Z"},
             "emailAddress": {"name": "Lena Okafor", "address": "lena@studio.example"}},
            {"type": "optional", "status": {"response": "none"},
             "emailAddress": {"name": "Bo", "address": "bo@example.com"}},
        ],
        "body": {"contentType": "html", "content":
            "<html><body>Old<div><span>______________________</span></div><div>Join</div></body></html>"},
    })
}

/// Returns the same meeting, called by another person.
fn invitation() -> Value {
    let mut event = meeting();
    event["isOrganizer"] = json!(false);
    event["isOnlineMeeting"] = json!(false);
    event["onlineMeeting"] = Value::Null;
    event
}

#[tokio::test]
async fn only_changed_fields_are_sent() {
    let outlook = taker().await;
    let calendars = outlook.calendars().await;
    let tokyo = |text: &str| ZonedTime::At(text.parse().unwrap(), "Asia/Tokyo".to_owned());
    for (change, expected) in cases! {
        EventPatch { title: Some("Proofs 2".to_owned()), ..EventPatch::default() },
            json!({"subject": "Proofs 2"});
        EventPatch {
            time: Some((tokyo("2026-02-04T09:00:00"), tokyo("2026-02-04T10:00:00"))),
            ..EventPatch::default()
        },
            json!({
                "isAllDay": false,
                "start": {"dateTime": "2026-02-04T09:00:00", "timeZone": "Tokyo Standard Time"},
                "end": {"dateTime": "2026-02-04T10:00:00", "timeZone": "Tokyo Standard Time"},
            });
        // Who was asked before is sent as known, with the answer.
        EventPatch {
            guests: Some(vec![
                guest("LENA@studio.example"),
                guest("bo@example.com"),
                guest("ana@example.com"),
            ]),
            ..EventPatch::default()
        },
            json!({"attendees": [
                {"type": "required", "status": {"response": "accepted", "time": "2026-01-06T07:00:00Z"},
                 "emailAddress": {"name": "Lena Okafor", "address": "lena@studio.example"}},
                {"type": "required", "status": {"response": "none"},
                 "emailAddress": {"name": "Bo", "address": "bo@example.com"}},
                {"type": "required", "emailAddress": {"address": "ana@example.com"}},
            ]});
        EventPatch { notes: Some("New < old".to_owned()), ..EventPatch::default() },
            json!({"body": {"contentType": "html", "content":
                "<html><body>New &lt; old<br><div><span>______________________</span></div><div>Join</div></body></html>"}});
        EventPatch {
            online: Some(true),
            category: Some(String::new()),
            place: Some(String::new()),
            ..EventPatch::default()
        }, json!({"categories": [], "location": {"displayName": ""}});
        EventPatch { repeat: Some(None), ..EventPatch::default() }, json!({"recurrence": null});
    } {
        let now = calendars.update(&read(meeting()), &change, GuestNotice::All).await.unwrap();
        assert_eq!(now, read_in("as it then is", CALENDAR));
        let seen = outlook.tap.requests();
        assert_eq!(seen[0].line, format!("PATCH /me/events/{ID}"));
        assert_eq!(seen[0].header("if-match"), "W/\"1\"");
        assert_eq!(seen[0].body, expected);
        assert_eq!(seen.len(), 2, "the event as it then is");
    }
    // Nothing to change is nothing to write.
    let now = calendars.update(&read(meeting()), &EventPatch::default(), GuestNotice::Nobody).await;
    assert_eq!(now.unwrap().title, "as it then is");
    let requests = outlook.tap.lines();
    assert!(
        requests.len() == 1 && requests[0].starts_with(&format!("GET /me/events/{ID}?$select=id,")),
        "{requests:?}"
    );
    // What only the owner sees tells nobody.
    let seen_by_none = EventPatch {
        category: Some("Print".to_owned()),
        reminder: Some(None),
        ..EventPatch::default()
    };
    calendars.update(&read(meeting()), &seen_by_none, GuestNotice::Nobody).await.unwrap();
    let own_copy = EventPatch { title: Some("Mine".to_owned()), ..EventPatch::default() };
    calendars.update(&read(invitation()), &own_copy, GuestNotice::Nobody).await.unwrap();
}

#[tokio::test]
async fn restored_event_gets_back_what_differs() {
    let outlook = taker().await;
    let calendars = outlook.calendars().await;
    let days = json!({"isAllDay": true, "isOnlineMeeting": false, "attendees": [],
        "start": {"dateTime": "2026-02-03T00:00:00.0000000", "timeZone": "UTC"},
        "end": {"dateTime": "2026-02-05T00:00:00.0000000", "timeZone": "UTC"}});
    let with = |more: Value| {
        let mut event = meeting();
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let weekly = json!({"recurrence": {
        "pattern": {"type": "weekly", "interval": 1, "daysOfWeek": ["tuesday"]},
        "range": {"type": "noEnd", "startDate": "2026-02-03", "endDate": "0001-01-01"}}});
    let zone = meeting()["originalStartTimeZone"].as_str().unwrap().to_owned();
    let local = |time: &str| json!({"dateTime": time, "timeZone": zone});
    for (before, now, expected) in cases! {
        meeting(), with(json!({"subject": "Other", "showAs": "free", "hasAttachments": true})),
            json!({"subject": "Proofs"});
        with(days.clone()), with(weekly.clone()),
            json!({"isAllDay": true, "start": local("2026-02-03T00:00:00"),
                   "end": local("2026-02-05T00:00:00"), "recurrence": null});
        with(weekly.clone()), with(days),
            json!({"isAllDay": false, "start": local("2026-02-03T18:05:00"),
                   "end": local("2026-02-03T19:05:00"), "recurrence": {
                "pattern": {"type": "weekly", "interval": 1, "daysOfWeek": ["tuesday"]},
                "range": {"type": "noEnd", "startDate": "2026-02-03"}}});
    } {
        calendars.restore(&read(before), Some(&read(now))).await.unwrap();
        let seen = outlook.tap.requests();
        assert_eq!(seen[0].line, format!("PATCH /me/events/{ID}"));
        assert_eq!((seen[0].header("if-match"), &seen[0].body), ("W/\"1\"", &expected));
    }
    calendars.restore(&read(meeting()), None).await.unwrap();
    let (line, body) = write(&outlook);
    assert_eq!(line, format!("POST /me/calendars/{CALENDAR}/events"));
    assert!(body["transactionId"].is_string() && body["attendees"].is_null(), "{body}");
    for (event, change, reason) in cases! {
        with(json!({"seriesMasterId": "x"})), None,
            Some("Outlook cannot restore a deleted occurrence");
        meeting(), None, Some("Outlook would give the event another online meeting");
        with(json!({"isOnlineMeeting": false, "hasAttachments": true})), None,
            Some("the attachments cannot be restored");
        with(json!({"isOnlineMeeting": false})), None, None;
        with(json!({"isOnlineMeeting": false})),
            Some(EventPatch { online: Some(true), ..EventPatch::default() }),
            Some("Outlook cannot remove an online meeting");
    } {
        assert_eq!(calendars.irreversible(&read(event), change.as_ref()), reason);
    }
}

#[tokio::test]
async fn unsupported_changes_are_refused_before_any_write() {
    let outlook = taker().await;
    let calendars = outlook.calendars().await;
    let always = "Outlook always notifies all guests: give notify=all; it cannot be done silently";
    for (new, notify, expected) in cases! {
        EventPatch { show: Some(ShowAs::Focus), ..hour("x", "2026-02-03T09:00:00") }, GuestNotice::All,
            "Outlook's calendars have no focus time: use show=busy, or a Google calendar";
        full(), GuestNotice::Nobody, always;
        full(), GuestNotice::External, always;
        EventPatch::default(), GuestNotice::All, "an event needs a time: give its start and end";
        EventPatch {
            repeat: Some(Some(daysheet_core::event::recurrence::EventRecurrence {
                rule: "FREQ=DAILY".to_owned(),
                except: Vec::new(),
                extra: vec![daysheet_core::event::time::EventTime::Day("2026-02-03".parse().unwrap())],
            })),
            ..hour("x", "2026-02-03T09:00:00")
        }, GuestNotice::All,
            "Outlook cannot repeat an event like this: a series cannot have dates besides its rule \
             (RDATE): create separate events for these dates";
    } {
        assert_eq!(error_text(calendars.create(None, &new, notify).await), expected);
    }
    let mut unknown = meeting();
    unknown["body"]["content"] = json!("<p>https://teams.example/l/meetup-join/1</p>");
    for (current, change, notify, expected) in cases! {
        meeting(), EventPatch { title: Some("x".to_owned()), ..EventPatch::default() }, GuestNotice::Nobody,
            always;
        invitation(), EventPatch { show: Some(ShowAs::Focus), ..EventPatch::default() }, GuestNotice::All,
            "Outlook's calendars have no focus time: use show=busy, or a Google calendar";
        meeting(), EventPatch { online: Some(false), ..EventPatch::default() }, GuestNotice::All,
            "Outlook cannot remove an event's online meeting: delete the event, and create it \
             again without one";
        unknown, EventPatch { notes: Some("x".to_owned()), ..EventPatch::default() }, GuestNotice::All,
            "changing the description would lose how to join the online meeting: leave out \
             `notes`, or change the description in Outlook";
        {
            let mut event = stored("x");
            event["id"] = json!("e7");
            event
        }, EventPatch::default(), GuestNotice::All,
            "the id is not Outlook's: use a handle such as e7 from calendar_search";
    } {
        assert_eq!(error_text(calendars.update(&read(current), &change, notify).await), expected);
    }
    assert_eq!(
        error_text(calendars.delete(&read(meeting()), None, GuestNotice::Nobody).await),
        always
    );
    assert_eq!(
        error_text(calendars.delete(&read(invitation()), Some("Sorry"), GuestNotice::All).await),
        "only the organizer can cancel a meeting with a message: decline it with calendar_respond \
         and a comment, or leave out the message"
    );
    let zoned = CalendarOp::Create { name: "x".to_owned(), zone: Some("Asia/Tokyo".to_owned()) };
    let mailbox = "Outlook's calendars have the mailbox's time zone: leave out the zone";
    assert_eq!(error_text(calendars.manage(&zoned).await), mailbox);
    assert_eq!(error_text(calendars.rehearse_op(&zoned).await), mailbox);
    let answer = InvitationReply {
        answer: InvitationAnswer::Accepted,
        comment: None,
        propose: Some((
            "2026-02-04T09:00:00Z".parse().unwrap(),
            "2026-02-04T10:00:00Z".parse().unwrap(),
        )),
        notify: true,
    };
    let with = |key: &str, value: Value| {
        let mut event = invitation();
        event[key] = value;
        event
    };
    for (current, response, expected) in cases! {
        meeting(), answer.clone(),
            "it is your own event: there is nobody to answer: change it with calendar_save, or \
             cancel it with calendar_delete";
        invitation(), answer.clone(),
            "Outlook cannot propose another time when accepting: use tentative or decline";
        invitation(), InvitationReply { answer: InvitationAnswer::Declined, notify: false, ..answer.clone() },
            "a proposal must notify the organizer: give notify=all";
        with("allowNewTimeProposals", json!(false)),
            InvitationReply { answer: InvitationAnswer::Tentative, ..answer.clone() },
            "the organizer accepts no proposals: answer without one, and write to the organizer";
        with("responseRequested", json!(false)),
            InvitationReply { comment: Some("Gladly".to_owned()), propose: None, ..answer.clone() },
            "the organizer requests no answers: answer without a comment, and write to the organizer";
    } {
        assert_eq!(error_text(calendars.respond(&read(current), &response).await), expected);
    }
    assert_eq!(outlook.tap.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn answers_deletions_and_forwards_are_never_repeated() {
    let outlook = taker().await;
    let calendars = outlook.calendars().await;
    let slot = ("2026-02-04T09:00:00Z".parse().unwrap(), "2026-02-04T10:00:00Z".parse().unwrap());
    let response = InvitationReply {
        answer: InvitationAnswer::Accepted,
        comment: None,
        propose: None,
        notify: true,
    };
    let proposed = json!({
        "start": {"dateTime": "2026-02-04T09:00:00", "timeZone": "UTC"},
        "end": {"dateTime": "2026-02-04T10:00:00", "timeZone": "UTC"},
    });
    for (response, path, body, stays) in cases! {
        response.clone(), "accept", json!({"sendResponse": true}), true;
        InvitationReply {
            answer: InvitationAnswer::Tentative,
            comment: Some("Perhaps later?".to_owned()),
            propose: Some(slot),
            notify: true,
        }, "tentativelyAccept",
            json!({"sendResponse": true, "comment": "Perhaps later?", "proposedNewTime": proposed}),
            true;
        InvitationReply { answer: InvitationAnswer::Declined, notify: false, ..response }, "decline",
            json!({"sendResponse": false}), false;
    } {
        let now = calendars.respond(&read(invitation()), &response).await.unwrap();
        assert_eq!(now, stays.then(|| read_in("as it then is", CALENDAR)));
        let (request, sent) = write(&outlook);
        assert_eq!(request, format!("POST /me/events/{ID}/{path}"));
        assert_eq!(sent, body);
    }

    let to = ["ana@example.com".to_owned()];
    calendars.forward(&read(meeting()), &to, Some("For you")).await.unwrap();
    let expected = json!({
        "toRecipients": [{"emailAddress": {"address": "ana@example.com"}}], "comment": "For you",
    });
    assert_eq!(write(&outlook), (format!("POST /me/events/{ID}/forward"), expected));

    for (message, body) in [(Some("Sorry"), json!({"comment": "Sorry"})), (None, json!({}))] {
        calendars.delete(&read(meeting()), message, GuestNotice::All).await.unwrap();
        assert_eq!(write(&outlook), (format!("POST /me/events/{ID}/cancel"), body));
    }
    let mut alone = meeting();
    alone["attendees"] = json!([]);
    for event in [alone, invitation()] {
        calendars.delete(&read(event), None, GuestNotice::Nobody).await.unwrap();
        let seen = outlook.tap.requests();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].line, format!("DELETE /me/events/{ID}"));
        assert_eq!((seen[0].header("if-match"), &seen[0].body), ("W/\"1\"", &Value::Null));
    }
}

/// Cases: a failing response to a write, the number of attempts, and the error.
#[tokio::test]
async fn write_is_retried_only_when_nothing_was_done() {
    let error = |code: &str, message: &str| json!({"error": {"code": code, "message": message}});
    let title = EventPatch { title: Some("x".to_owned()), ..EventPatch::default() };
    for (first, attempts, kind, expected) in cases! {
        respond(429, &error("TooManyRequests", "Slow.")).header("retry-after", "0"), 2, None, "";
        respond(503, &error("ServiceUnavailable", "Slow.")).header("retry-after", "0"), 2, None, "";
        respond(412, &error("ErrorIrresolvableConflict", "The change key differs.")), 1,
            Some(ErrorKind::Conflict),
            "it was changed meanwhile: read it again, and repeat the change if it still fits";
        respond(403, &error("ErrorAccessDenied", "Access is denied.")), 1,
            Some(ErrorKind::Provider(403)),
            "Outlook does not let you change this: the calendar may be read-only, or the sign-in \
             may lack calendar permissions: choose a calendar with access owner or writer, or run \
             `daysheet account add microsoft` and allow all permissions";
        respond(500, &error("InternalServerError", "Oops.")), 1, Some(ErrorKind::Network),
            "Outlook answered with status 500: `Oops`; whether it was done is unknown: check \
             before retrying";
        respond(200, &json!({"id": ID})).cut(), 1, Some(ErrorKind::Network),
            "Outlook's response broke off: check before retrying";
    } {
        let reported = Arc::new(std::sync::Mutex::new(Some(first)));
        let outlook = Outlook::scripted(move |seen| {
            let first = reported.lock().unwrap().take();
            let event = |title: &str| respond(200, &stored(title));
            Some(if seen.line.starts_with("PATCH") {
                first.unwrap_or_else(|| event("x"))
            } else {
                event("as it was")
            })
        })
        .await;
        let done =
            outlook.calendars().await.update(&read(invitation()), &title, GuestNotice::All).await;
        assert_eq!(done.as_ref().err().map(daysheet_core::error::Error::kind), kind, "{done:?}");
        if kind.is_some() {
            assert_eq!(error_text(done), expected);
        }
        let requests = outlook.tap.lines();
        let sent = requests.iter().filter(|it| it.starts_with("PATCH"));
        assert_eq!(sent.count(), attempts, "{expected}");
    }
}

/// A create carries an id chosen by us, and is sent once more if its response is lost.
#[tokio::test]
async fn creation_without_answer_is_sent_once_more() {
    let change = hour("Proofs", "2026-02-03T18:05:00");
    // The answers to the attempts, and what comes of them.
    for (statuses, posts, expected) in [
        (vec![0, 201], 2, Ok("made")),
        (vec![502, 201], 2, Ok("made")),
        (vec![0, 0], 2, Ok("found")),
        (vec![0, 409], 2, Ok("found")),
        (vec![409], 1, Err(ErrorKind::Provider(409))),
        (vec![400], 1, Err(ErrorKind::Provider(400))),
    ] {
        let left = Arc::new(std::sync::Mutex::new(statuses.clone()));
        let id = Arc::new(std::sync::Mutex::new(String::new()));
        let outlook = Outlook::scripted(move |seen| {
            let mut id = id.lock().unwrap();
            if seen.line.starts_with("POST") {
                let sent = seen.body["transactionId"].as_str().unwrap();
                assert!(id.is_empty() || *id == sent, "another id");
                *id = sent.to_owned();
                let made = stored("made");
                return Some(match left.lock().unwrap().remove(0) {
                    0 => respond(201, &json!({"id": ID})).cut(),
                    201 => respond(201, &made),
                    status => respond(status, &json!({"error": {"message": "Used."}})),
                });
            }
            let view = "GET /me/calendarView?startDateTime=2026-02-02T05:05:00Z&endDateTime=2026-02-05T06:05:00Z&$select=id,seriesMasterId,transactionId&$top=500";
            if seen.line == view {
                return Some(respond(200, &json!({"value": [
                    {"id": "AAMkOther", "transactionId": null},
                    {"id": ID, "transactionId": *id},
                ]})));
            }
            assert!(seen.line.starts_with(&format!("GET /me/events/{ID}?")), "{}", seen.line);
            Some(respond(200, &stored("found")))
        })
        .await;
        let made = outlook.calendars().await.create(None, &change, GuestNotice::All).await;
        let title = made.as_ref().map(|event| event.title.as_str());
        assert_eq!(title.map_err(daysheet_core::error::Error::kind), expected, "{statuses:?}");
        let requests = outlook.tap.lines();
        let sent = requests.iter().filter(|it| it.starts_with("POST"));
        assert_eq!(sent.count(), posts, "{statuses:?}");
    }
}

#[tokio::test]
async fn event_changed_meanwhile_is_not_cancelled() {
    let outlook = Outlook::scripted(|seen| {
        assert_eq!(seen.line, format!("GET /me/events/{ID}?$select=id"));
        Some(respond(200, &json!({"id": ID, "@odata.etag": "W/\"2\""})))
    })
    .await;
    let calendars = outlook.calendars().await;
    let refused = calendars.delete(&read(meeting()), None, GuestNotice::All).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
}
