//! Import of iCalendar documents, and answers to invitations in messages, over calendars in memory.

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event_time::EventTime;
use serde_json::json;

use crate::common::fake_calendars::{CalendarHarness, guest, repeat};

/// Returns a document of these lines.
fn document(lines: &[&str]) -> String {
    let mut text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n".to_owned();
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("END:VCALENDAR\r\n");
    text
}

const TALK: &[&str] = &[
    "BEGIN:VEVENT",
    "UID:talk@elsewhere.example",
    "DTSTART;TZID=Europe/Berlin:20360205T140000",
    "DTEND;TZID=Europe/Berlin:20360205T150000",
    "SUMMARY:Talk",
    "LOCATION:Hall",
    "DESCRIPTION:Bring a pen.",
    "CATEGORIES:Work",
    "END:VEVENT",
];

/// A dry run refuses everything that the service would refuse.
#[tokio::test]
async fn dry_run_refuses_what_the_service_refuses() {
    let odd = [
        "BEGIN:VEVENT",
        "UID:odd@elsewhere.example",
        "DTSTART;TZID=Europe/Berlin:20360205T140000",
        "DURATION:PT1H",
        "RRULE:FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2",
        "SUMMARY:Odd",
        "END:VEVENT",
    ];
    let harness = CalendarHarness::one().await;
    for dry_run in [true, false] {
        let text = document(&[&odd, TALK].concat());
        let reported = harness.ok("calendar_save", json!({"ics": text, "dry_run": dry_run})).await;
        assert!(
            reported.contains("Odd|import|failed|this service has no words for the rule"),
            "{reported}"
        );
        assert!(reported.contains("Talk"), "{reported}");
        assert_eq!(harness.written().len(), usize::from(!dry_run), "{reported}");
    }
}

const COURSE: &[&str] = &[
    "BEGIN:VEVENT",
    "UID:course@elsewhere.example",
    "DTSTART;TZID=Europe/Berlin:20360206T100000",
    "DTEND;TZID=Europe/Berlin:20360206T110000",
    "RRULE:FREQ=WEEKLY;COUNT=4",
    "EXDATE;TZID=Europe/Berlin:20360227T100000",
    "SUMMARY:Course",
    "END:VEVENT",
    "BEGIN:VEVENT",
    "UID:course@elsewhere.example",
    "RECURRENCE-ID;TZID=Europe/Berlin:20360213T100000",
    "DTSTART;TZID=Europe/Berlin:20360213T160000",
    "DTEND;TZID=Europe/Berlin:20360213T170000",
    "SUMMARY:Course\\, later",
    "END:VEVENT",
    "BEGIN:VEVENT",
    "UID:course@elsewhere.example",
    "RECURRENCE-ID;TZID=Europe/Berlin:20360220T100000",
    "DTSTART;TZID=Europe/Berlin:20360220T100000",
    "STATUS:CANCELLED",
    "END:VEVENT",
];

const INVITATION: &[&str] = &[
    "METHOD:REQUEST",
    "BEGIN:VEVENT",
    "UID:plan@elsewhere.example",
    "DTSTART:20360205T130000Z",
    "DTEND:20360205T133000Z",
    "SUMMARY:Planning",
    "ORGANIZER;CN=Bo Berg:mailto:bo@elsewhere.example",
    "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:ana@example.com",
    "ATTENDEE;PARTSTAT=ACCEPTED:mailto:cy@elsewhere.example",
    "END:VEVENT",
];

#[tokio::test]
async fn document_is_imported_only_once() {
    let harness = CalendarHarness::one().await;
    let text = document(&[TALK, COURSE].concat());
    let call = |more: &str| json!({"ics": text, "dry_run": more == "dry"});
    assert_eq!(
        harness.ok("calendar_save", call("dry")).await,
        "outcomes[2|]{item|op|result|detail}:\n  \
         1 Talk|import|planned|Tue 2036-02-05 14h00 to 15h00; at Hall\n  \
         2 Course|import|planned|Wed 2036-02-06 10h00 to 11h00; repeats FREQ=WEEKLY;COUNT=4\n--\n\
         categories left out: Google has colours instead\ndry run: nothing was written"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    assert_eq!(
        harness.ok("calendar_save", call("")).await,
        "zone: Europe/Berlin\n\
         events[2|]{id|start|end|title|where|organizer|people|flags}:\n  \
         e1|Tue 2036-02-05 14h00|15h00|Talk|Hall|me|null|\"\"\n  \
         e2|Wed 2036-02-06 10h00|11h00|Course|\"\"|me|null|recurring\n--\n\
         categories left out: Google has colours instead"
    );
    assert_eq!(
        harness.written(),
        [
            "create main Nobody: \
             2036-02-05T14:00:00[Europe/Berlin]/2036-02-05T15:00:00[Europe/Berlin] title=Talk \
             place=Hall notes=Bring a pen. uid=talk@elsewhere.example reminder=None",
            "create main Nobody: \
             2036-02-06T10:00:00[Europe/Berlin]/2036-02-06T11:00:00[Europe/Berlin] title=Course \
             uid=course@elsewhere.example repeat=FREQ=WEEKLY;COUNT=4 -20360227T0900Z reminder=None",
            "update main/new2@20360213T0900Z Nobody: \
             2036-02-13T16:00:00[Europe/Berlin]/2036-02-13T17:00:00[Europe/Berlin] \
             title=Course, later",
            "delete main/new2@20360220T0900Z Nobody",
        ]
    );
    assert_eq!(
        harness.audited_in_full(),
        [
            "ana@example.com calendar_save create [] [] 0 begun",
            "ana@example.com calendar_save create [main/new1] [] 0 done",
            "ana@example.com calendar_save create [] [] 0 begun",
            "ana@example.com calendar_save create [main/new2] [] 0 done",
            "ana@example.com calendar_save update [e2] [] 0 begun",
            "ana@example.com calendar_save update [e2] [] 0 done",
            "ana@example.com calendar_save delete [e2] [] 0 begun",
            "ana@example.com calendar_save delete [e2] [] 0 done",
        ]
    );
    // A repeated import makes no change.
    assert_eq!(
        harness.ok("calendar_save", call("")).await,
        "outcomes[2|]{item|op|result|detail}:\n  \
         1 Talk|import|unchanged|it is already e1\n  \
         2 Course|import|unchanged|it is already e2\n--\n\
         categories left out: Google has colours instead"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    // Changes in a newer document are written.
    let newer = document(TALK).replace("T150000", "T153000").replace("Hall", "Yard");
    let answer = harness.ok("calendar_save", json!({"ics": newer})).await;
    assert!(answer.contains("e1|Tue 2036-02-05 14h00|15h30|Talk|Yard|me|null|\"\""), "{answer}");
    assert_eq!(
        harness.written(),
        ["update main/new1 Nobody: \
          2036-02-05T14:00:00[Europe/Berlin]/2036-02-05T15:30:00[Europe/Berlin] place=Yard"]
    );
}

#[tokio::test]
async fn event_existing_under_another_uid_is_not_duplicated() {
    let harness = CalendarHarness::outlook().await;
    let ana = harness.ana();
    ana.put("main/t", "Talk", "2036-02-05T14:00[Europe/Berlin]", 60);
    assert_eq!(
        harness.ok("calendar_save", json!({"ics": document(TALK)})).await,
        "outcomes[1|]{item|op|result|detail}:\n  Talk|import|unchanged|it is already e1"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    // A single event is not matched to the series that begins with it.
    let weekly = [&TALK[..8], &["RRULE:FREQ=WEEKLY;COUNT=3", TALK[8]]].concat();
    let planned = json!({"ics": document(&weekly), "dry_run": true});
    let planned = harness.ok("calendar_save", planned).await;
    assert!(planned.contains("Talk|import|planned|"), "{planned}");
    // Outlook would invite the guests in the user's own name.
    let text = document(&INVITATION[1..]);
    let answer = harness.call("calendar_save", json!({"ics": text})).await.unwrap();
    assert_eq!(
        answer[1],
        "written all the same: if_conflict=refuse would not write it\n\
         people left out: Outlook would invite them to a meeting of yours\n\
         `Planning`: clashes with e1 `Talk` Tue 2036-02-05 14h00 to 15h00\n\
         Outlook assigns its own UIDs: events are recognized by time and title"
    );
    assert_eq!(
        harness.written(),
        ["create main Nobody: 2036-02-05T13:00:00[UTC]/2036-02-05T13:30:00[UTC] title=Planning \
          uid=plan@elsewhere.example reminder=None"]
    );
}

#[tokio::test]
async fn clashes_and_failures_of_an_import_are_reported() {
    let harness = CalendarHarness::one().await;
    let ana = harness.ana();
    ana.put("main/d", "Dentist", "2036-02-05T14:30[Europe/Berlin]", 60);
    let call = |more: &str| json!({"ics": document(TALK), "if_conflict": more});
    let answer = harness.ok("calendar_save", call("refuse")).await;
    assert!(
        answer.contains(
            "Talk|import|refused|clashes with e1 `Dentist` Tue 2036-02-05 14h30 to 15h30"
        ),
        "{answer}"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    // One event among several fails.
    let text = document(&[TALK, COURSE].concat());
    ana.fail([Some((Error::new(ErrorKind::Provider(400), "the service says no"), false))]);
    let answer = harness.ok("calendar_save", json!({"ics": text, "if_conflict": "ignore"})).await;
    assert!(
        answer.contains(
            "outcomes[1|]{item|op|result|detail}:\n  1 Talk|import|failed|the service says no"
        ),
        "{answer}"
    );
    assert_eq!(harness.written().len(), 4);
    // An answer suits an invitation better than an import.
    let text = document(INVITATION);
    let blocks = harness.call("calendar_save", json!({"ics": text})).await.unwrap();
    assert_eq!(
        blocks[1],
        "this invites ana@example.com: calendar_respond answers it and notifies the organizer"
    );
}

#[tokio::test]
async fn non_icalendar_input_is_refused() {
    let harness = CalendarHarness::one().await;
    let folder = harness.home.path().join("files");
    std::fs::create_dir(&folder).unwrap();
    let large = folder.join("large.ics");
    std::fs::write(&large, vec![b' '; 1024 * 1024 + 1]).unwrap();
    let inside = folder.join("folder.ics");
    std::fs::create_dir(&inside).unwrap();
    let good = folder.join("talk.ICS");
    std::fs::write(&good, document(TALK)).unwrap();
    let brief = |path: &std::path::Path| daysheet_core::text::brief(path.to_str().unwrap());
    let cases = cases! {
        "hello".to_owned(),
            "`ics` is `hello`, not iCalendar text: give text beginning with BEGIN:VCALENDAR, the \
             path of an .ics file, or the id of a message with an invitation, such as m12"
                .to_owned();
        large.to_str().unwrap().to_owned(),
            format!(
                "{} is larger than 1 MiB: split it, or give the events directly",
                brief(&large)
            );
        inside.to_str().unwrap().to_owned(),
            format!("{} is not a file: give the path of a file", brief(&inside));
        document(&[]),
            "it has no event: check the text; an event is a VEVENT with a DTSTART"
                .to_owned();
        document(&[
            "METHOD:CANCEL",
            "BEGIN:VEVENT",
            "UID:x",
            "DTSTART:20360205T130000Z",
            "END:VEVENT",
        ]),
            "the document has no event to import: its METHOD is CANCEL: read the message, and \
             change the event itself"
                .to_owned();
    };
    let cases = cases.map(|(ics, text)| (json!({"ics": ics}), text));
    harness.refuses("calendar_save", cases).await;
    let missing = folder.join("none.ics");
    let error = harness.error("calendar_save", json!({"ics": missing.to_str().unwrap()})).await;
    assert!(error.contains("does not exist"), "{error}");
    // A path outside the allowed folders does not reveal whether the file exists, even through a
    // link.
    let outside = harness.home.path().join("talk.ics");
    std::fs::write(&outside, document(TALK)).unwrap();
    let mut elsewhere = vec![outside.clone(), harness.home.path().join("none.ics")];
    #[cfg(unix)]
    for (name, target) in [("there.ics", &outside), ("gone.ics", &elsewhere[1].clone())] {
        std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
        elsewhere.push(folder.join(name));
    }
    for path in elsewhere {
        let error = harness.error("calendar_save", json!({"ics": path.to_str().unwrap()})).await;
        let expected = format!("{} is outside the allowed folders: use", brief(&path));
        assert!(error.starts_with(&expected), "{error}");
    }
    assert_eq!(harness.written(), Vec::<String>::new());
    // A file, and a file with an error, which is reported with its line number.
    harness.ok("calendar_save", json!({"ics": good.to_str().unwrap()})).await;
    assert_eq!(harness.written().len(), 1);
    let broken =
        document(&[TALK, &["BEGIN:VEVENT", "UID:y", "DTSTART:whenever", "END:VEVENT"]].concat())
            .replace("talk@", "other@")
            .replace("T14", "T16")
            .replace("T15", "T17");
    let blocks = harness.call("calendar_save", json!({"ics": broken})).await.unwrap();
    assert_eq!(
        blocks[1],
        "line 15: cannot be read: `DTSTART:whenever`\n\
         line 13: the event has no start and was skipped\n\
         categories left out: Google has colours instead"
    );
    assert_eq!(harness.written().len(), 1);
}

/// Returns a harness with a message `m1` that contains this invitation.
async fn with_invitation(harness: CalendarHarness, invitation: &str) -> CalendarHarness {
    let ana = harness.ana();
    {
        let mut invitations = ana.mailbox.invitations.lock().unwrap();
        invitations.insert("letter1".to_owned(), invitation.to_owned());
    }
    harness.ok("mail_search", json!({})).await;
    harness
}

/// Adds the event of the invitation to the calendar.
fn planned(harness: &CalendarHarness) {
    let ana = harness.ana();
    let mut facts = ana.put("main/p", "Planning", "2036-02-05T14:00[Europe/Berlin]", 30);
    facts.uid = Some("plan@elsewhere.example".to_owned());
    facts.own = false;
    facts.guests = vec![guest("ana@example.com", '?')];
    facts.guests[0].me = true;
    ana.set(facts);
}

#[tokio::test]
async fn invitation_message_is_answered_for_its_event() {
    let harness = with_invitation(CalendarHarness::one().await, &document(INVITATION)).await;
    planned(&harness);
    let call = || json!({"id": "m1", "response": "accept", "comment": "Gladly"});
    let answer = harness.ok("calendar_respond", call()).await;
    assert!(
        answer.contains("e1|Tue 2036-02-05 14h00|14h30|Planning|\"\"|ana@example.com|me+|\"\""),
        "{answer}"
    );
    assert_eq!(harness.written(), ["respond main/p Accepted \"Gladly\""]);
    // The message shows the answer, too.
    let read = harness.json("mail_read", json!({"ids": ["m1"]})).await;
    assert_eq!(read["invitations"][0]["people"], "me+ cy+");
    // The event was moved after the message was written.
    harness.ana().touch("main/p", |facts| {
        facts.start = EventTime::At("2036-02-05T15:00:00Z".parse().unwrap());
        facts.end = EventTime::At("2036-02-05T15:30:00Z".parse().unwrap());
    });
    assert_eq!(
        harness.error("calendar_respond", call()).await,
        "the meeting changed since m1: it is now Tue 2036-02-05 16h00 to 16h30 Planning: answer e1 \
         if it is still right"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    // Conversely, the calendar has an older version than the message.
    harness.ana().touch("main/p", |facts| facts.sequence = Some(0));
    let newer = document(INVITATION).replace("UID:", "SEQUENCE:1\r\nUID:");
    let harness = with_invitation(harness, &newer).await;
    let blocks = harness.call("calendar_respond", call()).await.unwrap();
    assert_eq!(
        blocks[1],
        "m1 is newer than the calendar: it moves the meeting to Tue 2036-02-05 14h00, where the \
         calendar has it once the service has read the message\n\
         the organizer was sent the answer and the comment; to change it, answer again"
    );
    assert_eq!(harness.written(), ["respond main/p Accepted \"Gladly\""]);
}

#[tokio::test]
async fn message_about_one_occurrence_answers_that_one() {
    let text =
        document(INVITATION).replace("UID:plan", "RECURRENCE-ID:20360205T130000Z\r\nUID:plan");
    let harness = with_invitation(CalendarHarness::one().await, &text).await;
    let ana = harness.ana();
    let mut facts = ana.put("main/p", "Planning", "2036-01-29T14:00[Europe/Berlin]", 30);
    facts.uid = Some("plan@elsewhere.example".to_owned());
    facts.own = false;
    facts.repeat = Some(repeat("FREQ=WEEKLY"));
    ana.set(facts);
    let call = json!({"id": "m1", "response": "decline"});
    harness.ok("calendar_respond", call).await;
    assert_eq!(harness.written(), ["respond main/p@20360205T1300Z Declined"]);
}

#[tokio::test]
async fn event_missing_from_the_calendar_is_added() {
    let harness = with_invitation(CalendarHarness::one().await, &document(INVITATION)).await;
    let call = |response: &str| json!({"id": "m1", "response": response});
    let blocks = harness.call("calendar_respond", call("tentative")).await.unwrap();
    assert_eq!(
        blocks[1],
        "the meeting was not in the calendar and was added\n\
         the organizer was sent the answer; to change it, answer again"
    );
    assert_eq!(
        harness.written(),
        [
            "create main Nobody: 2036-02-05T13:00:00[UTC]/2036-02-05T13:30:00[UTC] \
             title=Planning uid=plan@elsewhere.example guests=[ana@example.com! \
             cy@elsewhere.example+] organizer=bo@elsewhere.example",
            "respond main/new1 Tentative",
        ]
    );
    // Notifying the organizer failed.
    let harness = with_invitation(CalendarHarness::one().await, &document(INVITATION)).await;
    let no = Error::new(ErrorKind::Provider(403), "the service says no");
    harness.ana().fail([None, Some((no, false))]);
    let blocks = harness.call("calendar_respond", call("accept")).await.unwrap();
    assert_eq!(
        blocks[1],
        "the meeting was not in the calendar and was added\n\
         the organizer was not notified (the service says no): write to bo@elsewhere.example"
    );
    // At Outlook the event becomes the user's own, without other guests.
    let harness = with_invitation(CalendarHarness::outlook().await, &document(INVITATION)).await;
    let blocks = harness.call("calendar_respond", call("accept")).await.unwrap();
    assert_eq!(
        blocks[1],
        "the meeting was not in the calendar and was added\n\
         the organizer was not notified (it is your own event here): write to \
         bo@elsewhere.example"
    );
    assert_eq!(
        harness.written(),
        ["create main Nobody: 2036-02-05T13:00:00[UTC]/2036-02-05T13:30:00[UTC] title=Planning \
          uid=plan@elsewhere.example"]
    );
    let harness = with_invitation(CalendarHarness::outlook().await, &document(INVITATION)).await;
    assert_eq!(
        harness.error("calendar_respond", call("decline")).await,
        "the meeting is not in the calendar: there is nothing to decline: write to \
         bo@elsewhere.example instead"
    );
    assert_eq!(
        harness
            .error(
                "calendar_respond",
                json!({"id": "m1", "response": "forward", "to": ["cy@example.com"]})
            )
            .await,
        "m1 is about a meeting not in the calendar: forward the message itself"
    );
    for (text, expected) in cases! {
        String::new(),
            "m1 has no invitation: read it with mail_read, and create the event with calendar_save";
        document(INVITATION).replace("METHOD:REQUEST", "METHOD:CANCEL"),
            "m1 cancels a meeting: there is nothing to answer: delete the event with \
             calendar_delete, if it still exists";
        document(INVITATION).replace("METHOD:REQUEST", "METHOD:REPLY"),
            "m1 is an answer, not an invitation: look at the event with calendar_search";
        document(&["METHOD:REQUEST"]), "the invitation in m1 has no event: read it with mail_read";
    } {
        let harness = with_invitation(CalendarHarness::one().await, &text).await;
        assert_eq!(harness.error("calendar_respond", call("accept")).await, expected);
        assert_eq!(harness.written(), Vec::<String>::new());
    }
    // A message can be imported, too.
    let harness = with_invitation(CalendarHarness::one().await, &document(TALK)).await;
    harness.ok("calendar_save", json!({"ics": "m1"})).await;
    assert_eq!(harness.written().len(), 1);
    assert!(harness.ana().get("main/new1").is_some());
}

/// Parts that a service does not support are left out with a note, and the rest is written.
#[tokio::test]
async fn unsupported_fields_are_left_out_with_a_note() {
    let odd = document(&[
        "BEGIN:VEVENT",
        "UID:odd@elsewhere.example",
        "DTSTART:20360205T130000Z",
        "DTEND:20360205T133000Z",
        "SUMMARY:Odd",
        "ORGANIZER;CN=Bo:invalid:nomail",
        "ATTENDEE;CN=Cy:mailto:cy@elsewhere.example",
        "ATTENDEE;CN=The whole team:urn:uuid:7f3c",
        "ATTENDEE:mailto:nobody",
        "BEGIN:VALARM",
        "TRIGGER:-P40D",
        "END:VALARM",
        "END:VEVENT",
    ]);
    let harness = CalendarHarness::one().await;
    let blocks = harness.call("calendar_save", json!({"ics": odd})).await.unwrap();
    assert_eq!(
        blocks[1],
        "left out, not an address: `urn:uuid:7f3c`\n\
         left out, not an address: `nobody`\n\
         left out, not an address: `invalid:nomail`\n\
         a reminder of over four weeks left out: Google does not support reminders that early"
    );
    assert_eq!(
        harness.written(),
        ["create main Nobody: 2036-02-05T13:00:00[UTC]/2036-02-05T13:30:00[UTC] title=Odd \
             uid=odd@elsewhere.example guests=[Cy cy@elsewhere.example] reminder=Some(40320)"]
    );
}

/// If a document has two versions of an event, the newer one is imported, with a note.
#[tokio::test]
async fn newest_version_of_an_event_is_imported() {
    let older = |text: &str| text.replace("Hall", "Old hall");
    let newer = ["SEQUENCE:1"];
    let text = document(&[&TALK[..TALK.len() - 1], &newer, &TALK[TALK.len() - 1..]].concat());
    let both = text.replace(
        "END:VCALENDAR",
        &older(&document(TALK))
            .split_once("BEGIN:VEVENT")
            .map(|(_, event)| format!("BEGIN:VEVENT{event}"))
            .unwrap(),
    );
    let harness = CalendarHarness::one().await;
    let answer = harness.call("calendar_save", json!({"ics": both})).await.unwrap();
    assert!(
        answer[1]
            .starts_with("line 14: left out: the event on line 4 has the same UID and is as new\n"),
        "{answer:?}"
    );
    let written = harness.written();
    assert_eq!(written.len(), 1);
    assert!(written[0].contains(" place=Hall "), "{written:?}");
}

/// A document with more events than one call imports is refused before the first write.
#[tokio::test]
async fn document_with_too_many_events_is_refused() {
    let event = |at: u32| {
        format!(
            "BEGIN:VEVENT\r\nUID:{at}@elsewhere.example\r\n\
             DTSTART:2036{:02}{:02}T090000Z\r\nSUMMARY:Part {at}\r\nEND:VEVENT",
            1 + at / 28,
            1 + at % 28
        )
    };
    let events: Vec<String> = (0..201).map(event).collect();
    let lines: Vec<&str> = events.iter().map(String::as_str).collect();
    let harness = CalendarHarness::one().await;
    let call = |lines: &[&str]| json!({"ics": document(lines), "if_conflict": "ignore"});
    assert_eq!(
        harness.error("calendar_save", call(&lines)).await,
        "the document has 201 events, more than 200: split it, and import each part in a call of its \
         own"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    harness.ok("calendar_save", call(&lines[1..])).await;
    assert_eq!(harness.written().len(), 200);
}

/// A cancellation may lack the meeting's time: it still has a row, with the times in the calendar.
#[tokio::test]
async fn cancellation_without_times_is_shown() {
    let cancelled = document(&[
        "METHOD:CANCEL",
        "BEGIN:VEVENT",
        "UID:plan@elsewhere.example",
        "SUMMARY:Planning",
        "STATUS:CANCELLED",
        "ORGANIZER;CN=Bo Berg:mailto:bo@elsewhere.example",
        "END:VEVENT",
    ]);
    let harness = with_invitation(CalendarHarness::one().await, &cancelled).await;
    let read = || json!({"ids": ["m1"]});
    let unknown = harness.ok("mail_read", read()).await;
    assert!(unknown.contains("|cancel|null|null|Planning|"), "{unknown}");
    planned(&harness);
    let known = harness.ok("mail_read", read()).await;
    assert!(known.contains("|cancel|Tue 2036-02-05 14h00|14h30|Planning|"), "{known}");
}

/// A message about one day of a whole-day series finds that day, even if it states the day as a
/// time.
#[tokio::test]
async fn whole_day_occurrence_is_found_by_a_time() {
    let text = document(INVITATION)
        .replace("UID:plan", "RECURRENCE-ID;TZID=Europe/Berlin:20360205T000000\r\nUID:plan")
        .replace("DTSTART:20360205T130000Z", "DTSTART;VALUE=DATE:20360205")
        .replace("DTEND:20360205T133000Z", "DTEND;VALUE=DATE:20360206");
    let harness = with_invitation(CalendarHarness::one().await, &text).await;
    let ana = harness.ana();
    let mut facts = ana.put("main/p", "Planning", "2036-01-29T00:00[Europe/Berlin]", 30);
    facts.uid = Some("plan@elsewhere.example".to_owned());
    facts.own = false;
    facts.start = EventTime::Day("2036-01-29".parse().unwrap());
    facts.end = EventTime::Day("2036-01-30".parse().unwrap());
    facts.repeat = Some(repeat("FREQ=WEEKLY"));
    ana.set(facts);
    let call = json!({"id": "m1", "response": "decline"});
    harness.ok("calendar_respond", call).await;
    assert_eq!(harness.written(), ["respond main/p@2036-02-05 Declined"]);
}
