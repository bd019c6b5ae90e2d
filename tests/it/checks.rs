//! Checks before a write of an event, each with a call that no other check refuses, so that
//! removing a check from the pipeline breaks a case.

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event_time::EventTime;
use daysheet_core::provider::calendar::EventGuest;
use daysheet_core::schemas::Service;
use serde_json::{Value, json};

use crate::common::fake_calendars::{CalendarHarness, FakeCalendars, guest, repeat};
use crate::reach::{change, create, document, with};

const SECOND: &str = "main/w@20360212T0900Z";
const THIRD: &str = "main/w@20360219T0900Z";

/// Adds a private event, two events that clash with its changes, an invitation, and a series whose
/// third occurrence was changed.
fn fill(harness: &CalendarHarness) {
    let ana = harness.ana();
    ana.put("main/p", "Private", "2036-02-05T09:00[Europe/Berlin]", 60);
    ana.put("main/x", "Lunch", "2036-02-05T14:00[Europe/Berlin]", 60);
    ana.put("main/y", "Lunch", "2036-02-12T14:00[Europe/Berlin]", 60);
    let mut theirs = ana.put("main/i", "Invited", "2036-02-06T09:00[Europe/Berlin]", 60);
    theirs.own = false;
    theirs.guests = vec![EventGuest { me: true, ..guest("ana@example.com", '?') }];
    ana.set(theirs);
    ana.put("main/w", "Weekly", "2036-02-05T10:00[Europe/Berlin]", 60);
    ana.touch("main/w", |facts| facts.repeat = Some(repeat("FREQ=WEEKLY")));
    let mut third = ana.put(THIRD, "Weekly", "2036-02-19T10:00[Europe/Berlin]", 60);
    third.series = Some("main/w".into());
    third.original = Some(EventTime::At("2036-02-19T09:00:00Z".parse().unwrap()));
    third.uid = Some("main-w@test.example".to_owned());
    ana.set(third);
}

fn nothing(_: &FakeCalendars) {}

/// Cancels the series but not its changed occurrence, as a calendar with incomplete news of it
/// would.
fn called_off(ana: &FakeCalendars) {
    ana.touch("main/w", |facts| facts.cancelled = true);
}

fn invitation_called_off(ana: &FakeCalendars) {
    ana.touch("main/i", |facts| facts.cancelled = true);
}

fn two_bos(ana: &FakeCalendars) {
    ana.touch("main/p", |facts| {
        facts.guests = vec![guest("bo@example.com", '+'), guest("bo@example.org", '+')];
    });
}

fn renamed(ana: &FakeCalendars) {
    for id in ["main/w", "main/i"] {
        ana.touch(id, |facts| facts.title = "Renamed".to_owned());
    }
}

/// An action between showing the events and the call, the tool, its arguments, and the answer.
type Refused = (fn(&FakeCalendars), &'static str, Value, &'static str);

/// Returns calls that must not write.
fn refused() -> [Refused; 18] {
    let save = "calendar_save";
    let reminder = || json!({"reminder": "5"});
    let scope = |scope: &str| json!({"scope": scope});
    let respond = |more: Value| with(json!({"id": "main/i", "response": "accept"}), more);
    let delete = |id: &str| json!({"id": id, "scope": "series"});
    let since = "was changed since it was shown";
    cases! {
        nothing, save, change("main/p", json!({"repeats": "FREQ=WEEKLY;BYDAY=FR"}), json!({})),
            "has no occurrence at the start";
        nothing, save,
            change("main/p", json!({"start": "14:00"}), json!({"if_conflict": "refuse"})),
            "|change|refused|";
        nothing, save, change(
            SECOND,
            json!({"start": "14:00"}),
            json!({"scope": "following", "if_conflict": "refuse"}),
        ), "|change|refused|";
        nothing, save, change(SECOND, json!({"title": "Weekly"}), scope("following")),
            "|change|unchanged|already as requested";
        two_bos, save, change("main/p", json!({"remove": ["bo"]}), json!({"notify": "none"})),
            "`bo` is not a guest, or several are called so";
        renamed, save, change(SECOND, reminder(), scope("series")), since;
        renamed, save, change(SECOND, reminder(), scope("following")), since;
        renamed, "calendar_delete", delete(SECOND), since;
        renamed, "calendar_respond", respond(json!({})), since;
        called_off, save, change(THIRD, reminder(), scope("series")), "was cancelled";
        called_off, "calendar_delete", delete(THIRD), "was cancelled";
        called_off, "calendar_delete", delete("main/w"), "was cancelled";
        invitation_called_off, "calendar_respond", respond(json!({})), "was cancelled";
        nothing, "calendar_respond",
            json!({"id": "main/p", "response": "forward", "to": ["bo@example.com"], "propose": "14:00"}),
            "`propose` cannot be forwarded";
        nothing, save, json!({"ics": document("n@x.example", ""), "scope": "series"}),
            "`scope` is for an existing event";
        nothing, save, json!({"ics": document("n@x.example", "STATUS:CANCELLED\r\n")}),
            "|import|skipped|cancelled in the document";
        // Only the organizer can change it.
        nothing, save, json!({"ics": document("main-i@test.example", "")}), "|import|unchanged|";
        nothing, save, json!({"ics": document(
            "n@x.example",
            "RRULE:FREQ=MONTHLY;BYDAY=MO,WE;BYSETPOS=2\r\n",
        )}), "this service has no words for the rule";
    }
}

#[tokio::test]
async fn refused_checks_prevent_every_write() {
    for (meanwhile, tool, call, expected) in refused() {
        let harness = CalendarHarness::one().await;
        fill(&harness);
        let ids = json!({"ids": ["main/p", "main/w", "main/i"]});
        harness.ok("calendar_search", ids).await;
        meanwhile(harness.ana());
        let answer = match harness.call(tool, call.clone()).await {
            Ok(blocks) => blocks.join("\n"),
            Err(error) => error.to_string(),
        };
        assert!(answer.contains(expected), "{tool} {call}: {answer}");
        assert_eq!(harness.written(), Vec::<String>::new(), "{tool} {call}");
    }
    let harness = CalendarHarness::with(Service::Microsoft, &[]).await;
    fill(&harness);
    let call = change("main/p", json!({"show": "focus"}), json!({}));
    assert_eq!(
        harness.error("calendar_save", call).await,
        "Outlook has no focus time: use show=busy, with a category if you like"
    );
    // An import with more people than the service allows is refused, too.
    let harness = CalendarHarness::one().await;
    let people: String =
        (0..201).map(|n| format!("ATTENDEE:mailto:p{n}@example.org\r\n")).collect();
    let call = json!({"ics": document("n@x.example", &people)});
    let answer = harness.ok("calendar_save", call).await;
    assert!(answer.contains("201 people are too many"), "{answer}");
    assert_eq!(harness.written(), Vec::<String>::new());
}

#[tokio::test]
async fn calls_write_exactly_what_was_asked() {
    let at = "2036-02-06T09:00:00[Europe/Berlin]/2036-02-06T10:00:00[Europe/Berlin]";
    let cases = cases! {
        // Without guests, no one is notified.
        "calendar_save", create(json!({}), json!({"notify": "all"})),
            vec![format!("create main Nobody: {at} title=T")];
        "calendar_respond",
            json!({"id": "main/p", "response": "forward",
                   "to": ["bo@example.com", "Bo@example.com", "bo@example.com"]}),
            vec!["forward main/p bo@example.com".to_owned()];
    };
    for (tool, call, written) in cases {
        let harness = CalendarHarness::one().await;
        fill(&harness);
        harness.ok(tool, call.clone()).await;
        assert_eq!(harness.written(), written, "{tool} {call}");
    }
    // An occurrence's change updates the occurrence, never the series.
    let harness = CalendarHarness::one().await;
    fill(&harness);
    let one = document("main-w@test.example", "RECURRENCE-ID:20360219T090000Z\r\n");
    harness.ok("calendar_save", json!({"ics": one})).await;
    let written = harness.written();
    assert_eq!(written.len(), 1, "{written:?}");
    assert!(written[0].starts_with(&format!("update {THIRD} Nobody:")), "{written:?}");
    // A cancelled event is created again instead of updated.
    let harness = CalendarHarness::one().await;
    fill(&harness);
    harness.ana().touch("main/p", |facts| facts.cancelled = true);
    let call = json!({"ics": document("main-p@test.example", "")});
    harness.ok("calendar_save", call).await;
    let written = harness.written();
    assert!(written[0].starts_with("create main Nobody:"), "{written:?}");
    // The same time and title in another account is a different event.
    let harness = CalendarHarness::two().await;
    let bo = &harness.fakes[1];
    bo.put("main/t", "SECRET", "2036-02-06T09:00[Europe/Berlin]", 60);
    let call = json!({"ics": document("n@x.example", ""), "account": "ana@example.com"});
    harness.ok("calendar_save", call).await;
    assert_eq!(harness.ana().written().len(), 1);
    assert_eq!(bo.written().len(), 0);
    // A cancelled event does not clash, and neither does the event itself, here or copied to
    // another calendar.
    let harness = CalendarHarness::one().await;
    fill(&harness);
    let ana = harness.ana();
    ana.touch("main/x", |facts| facts.cancelled = true);
    let mut copy = ana.put("work/p", "Copy", "2036-02-05T14:00[Europe/Berlin]", 60);
    copy.uid = Some("main-p@test.example".to_owned());
    ana.set(copy);
    for start in ["14:00", "14:30"] {
        let call = change("main/p", json!({"start": start}), json!({}));
        let answer = harness.ok("calendar_save", call).await;
        assert!(!answer.contains("clashes"), "{answer}");
    }
    // A call that is refused asks no question.
    let harness =
        CalendarHarness::with(Service::Google, &[("DAYSHEET_NEW_RECIPIENTS", "confirm")]).await;
    fill(&harness);
    let range = json!({"from": "2036-02-05", "to": "2036-02-07"});
    harness.ok("calendar_search", range).await;
    let call = json!({"notify": "none", "if_conflict": "refuse", "events": [
        {"title": "In the way", "start": "2036-02-05 14h00", "people": ["eve@example.org"]},
        {"title": "Free", "start": "2036-02-05 16h00"},
    ]});
    let answer = harness.ok("calendar_save", call).await;
    assert!(answer.contains("|create|refused|"), "{answer}");
    assert_eq!(harness.written().len(), 1);
}

#[tokio::test]
async fn failed_write_stops_the_following_ones() {
    let refused = || Error::new(ErrorKind::Provider(400), "it does not want to");
    let broken = || Error::new(ErrorKind::Network, "the connection broke");
    // After a failed event, the second one is not attempted.
    let harness = CalendarHarness::one().await;
    harness.ana().fail([Some((broken(), false))]);
    let two = document("a@x.example", "").replace(
        "END:VCALENDAR\r\n",
        document("b@x.example", "").split_once("//EN\r\n").unwrap().1,
    );
    let answer = harness.ok("calendar_save", json!({"ics": two})).await;
    assert!(answer.contains("|import|unknown|"), "{answer}");
    assert!(answer.contains("|import|skipped|not written"), "{answer}");
    assert_eq!(harness.written().len(), 1);
    // The same holds for two occurrences.
    let harness = CalendarHarness::one().await;
    harness.ana().fail([None, Some((broken(), false))]);
    let series = document("s@x.example", "RRULE:FREQ=WEEKLY;COUNT=4\r\n");
    let mut text = series.replace("END:VCALENDAR\r\n", "");
    for day in ["13", "20"] {
        let one = document("s@x.example", &format!("RECURRENCE-ID:203602{day}T080000Z\r\n"))
            .replace("SECRET", "Later");
        text.push_str(
            one.split_once("//EN\r\n").unwrap().1.strip_suffix("END:VCALENDAR\r\n").unwrap(),
        );
    }
    text.push_str("END:VCALENDAR\r\n");
    harness.ok("calendar_save", json!({"ics": text})).await;
    let written = harness.written();
    assert_eq!(written.len(), 2, "{written:?}");
    // Only the organizer can change occurrences of a series.
    let harness = CalendarHarness::one().await;
    let ana = harness.ana();
    ana.put("main/s", "SECRET", "2036-02-06T09:00[Europe/Berlin]", 60);
    ana.touch("main/s", |facts| {
        facts.repeat = Some(repeat("FREQ=WEEKLY;COUNT=4"));
        facts.uid = Some("s@x.example".to_owned());
        facts.own = false;
        facts.guests = vec![guest("bo@example.com", '+')];
    });
    harness.ok("calendar_save", json!({"ics": text})).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    // A split whose last step was refused is not reverted.
    let harness = CalendarHarness::one().await;
    fill(&harness);
    harness.ana().fail([None, Some((refused(), true))]);
    let call = change(SECOND, json!({"title": "B"}), json!({"scope": "following"}));
    let answer = harness.ok("calendar_save", call).await;
    assert!(answer.contains("was changed; check, and shorten"), "{answer}");
    let written = harness.written();
    assert_eq!(written.len(), 2, "{written:?}");
    // A series with the same UID in another calendar is a different series.
    let harness = CalendarHarness::one().await;
    fill(&harness);
    let ana = harness.ana();
    let mut copy = ana.get(THIRD).unwrap();
    copy.id = "work/w@20360304T0900Z".into();
    copy.series = Some("work/w".into());
    copy.original = Some(EventTime::At("2036-03-04T09:00:00Z".parse().unwrap()));
    ana.set(copy);
    let call = change("main/w", json!({"start": "11:00"}), json!({"scope": "series"}));
    let answer = harness.ok("calendar_save", call).await;
    assert!(
        answer.contains("an occurrence changed individually follows the rule again"),
        "{answer}"
    );
}

#[tokio::test]
async fn message_without_invitation_cannot_be_answered() {
    for (method, expected) in [
        ("CANCEL", "cancels a meeting"),
        ("REPLY", "is an answer"),
        ("COUNTER", "proposes another time"),
        ("REQUEST", "was cancelled"),
    ] {
        let harness = CalendarHarness::one().await;
        fill(&harness);
        invitation_called_off(harness.ana());
        let text = document("main-i@test.example", "")
            .replace("VERSION", &format!("METHOD:{method}\r\nVERSION"));
        let invitations = &harness.ana().mailbox.invitations;
        invitations.lock().unwrap().insert("l".to_owned(), text);
        harness.ok("mail_search", json!({})).await;
        let call = json!({"id": "m1", "response": "accept"});
        let error = harness.error("calendar_respond", call).await;
        assert!(error.contains(expected), "{error}");
        assert_eq!(harness.written(), Vec::<String>::new());
    }
}
