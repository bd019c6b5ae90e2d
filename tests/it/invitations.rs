//! Invitations in messages, read and answered at both providers.

use daysheet::cli::sandboxed::SandboxUser;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{ME, Session, column};

const WORK: &str = "mira@lindqvist-lamps.example";
const ACCOUNTS: [&str; 2] = ["google:mira@example.com", "microsoft:mira@lindqvist-lamps.example"];
/// Returns the accounts that show a calendar with this method; Outlook hides one without a method.
fn accounts(method: &str) -> &'static [&'static str] {
    if method.is_empty() { &ACCOUNTS[..1] } else { &ACCOUNTS }
}

const BOTH: SandboxUser = SandboxUser::These(&[("google", ME), ("microsoft", WORK)]);

/// Returns an event that Bob organizes, with further lines.
fn event(uid: &str, start: &str, end: &str, more: &str) -> String {
    format!(
        "BEGIN:VEVENT\nUID:{uid}@studio.example\nDTSTART;TZID=Europe/Berlin:{start}\n\
         DTEND;TZID=Europe/Berlin:{end}\nORGANIZER:mailto:bob@studio.example\n\
         ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:{ME}\n\
         ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:{WORK}\n{more}\nEND:VEVENT\n"
    )
}

/// Returns a message whose second part is a calendar, with these header fields.
fn message(fields: &str, method: &str, events: &str) -> String {
    format!(
        "From: Bob <bob@studio.example>\nTo: {ME}\nSubject: Roof\nMessage-ID: <1@studio.example>\n\
         Date: Mon, 2 Mar 2026 10:00:00 +0100\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=cut\n\n\
         --cut\nContent-Type: text/plain\n\nsee\n--cut\n{fields}\n\n\
         BEGIN:VCALENDAR\n{method}{events}END:VCALENDAR\n--cut--\n"
    )
}

const PART: &str = "Content-Type: text/calendar; charset=utf-8";
const REQUEST: &str = "METHOD:REQUEST\n";

async fn session(message: &str) -> Session {
    let folder = TempDir::new().unwrap();
    for owner in [ME, WORK] {
        std::fs::create_dir(folder.path().join(owner)).unwrap();
        let file = folder.path().join(owner).join("1.eml");
        std::fs::write(file, message.replace('\n', "\r\n")).unwrap();
    }
    Session::signed_in(TempDir::new().unwrap(), Some(folder.path()), BOTH).await
}

/// Returns the id of the message in an account.
async fn invited(session: &mut Session, account: &str) -> String {
    let found = session.json("mail_search", json!({"account": account})).await;
    column(&found, "messages", "id").remove(0)
}

/// Returns the starts of an account's events in December 2036.
async fn starts(session: &mut Session, account: &str) -> Vec<String> {
    let call = json!({"account": account, "from": "2036-12-01", "to": "2036-12-31"});
    column(&session.json("calendar_search", call).await, "events", "start")
}

#[tokio::test]
async fn calendar_parts_are_found_by_type_or_name() {
    let roof = event("roof", "20361210T100000", "20361210T110000", "SUMMARY:Roof");
    let file = "Content-Type: application/octet-stream; name=\"invite.ics\"\n\
                Content-Disposition: attachment; filename=\"invite.ics\"";
    let in_type = "Content-Type: text/calendar; charset=utf-8; method=\"REQUEST\"";
    for (fields, method, kind) in [
        (PART, REQUEST, "request"),
        (in_type, "", "request"),
        (in_type, "METHOD:PUBLISH\n", "publish"),
        (PART, "", "publish"),
        (file, REQUEST, "request"),
        ("Content-Type: application/ics; name=\"a.ics\"", REQUEST, "request"),
    ] {
        let mut session = session(&message(fields, method, &roof)).await;
        for account in accounts(method) {
            let id = invited(&mut session, account).await;
            let read = session.json("mail_read", json!({"ids": [id]})).await;
            let row = &read["invitations"][0];
            assert_eq!(
                (row["kind"].as_str(), row["start"].as_str(), row["title"].as_str()),
                (Some(kind), Some("Wed 2036-12-10 10h00"), Some("Roof")),
                "{account}: {fields}"
            );
        }
    }
}

#[tokio::test]
async fn series_with_a_moved_occurrence_is_added_as_it_is() {
    let weekly = event(
        "roof",
        "20361210T100000",
        "20361210T110000",
        "SUMMARY:Roof\nRRULE:FREQ=WEEKLY;COUNT=4\nEXDATE;TZID=Europe/Berlin:20361224T100000",
    );
    let at = |day: u8| format!("SUMMARY:Roof\nRECURRENCE-ID;TZID=Europe/Berlin:203612{day}T100000");
    let moved = event("roof", "20361217T120000", "20361217T130000", &at(17));
    let cancelled = at(31) + "\nSTATUS:CANCELLED";
    let cancelled = event("roof", "20361231T100000", "20361231T110000", &cancelled);
    let mut session = session(&message(PART, REQUEST, &(moved + &weekly + &cancelled))).await;
    for account in ACCOUNTS {
        let id = invited(&mut session, account).await;
        let read = session.ok("mail_read", json!({"ids": [id]})).await.join("\n");
        let expected = "`Roof`: the occurrence of Wed 2036-12-17 10h00 is moved to \
                        Wed 2036-12-17 12h00";
        assert!(read.contains(expected), "{read}");
        let answer = json!({"id": id, "response": "accept"});
        let answer = session.ok("calendar_respond", answer).await.join("\n");
        assert!(answer.contains("occurrences that differ from its series: 1"), "{answer}");
        assert_eq!(
            starts(&mut session, account).await,
            ["Wed 2036-12-10 10h00", "Wed 2036-12-17 12h00"],
            "{account}"
        );
    }
}

/// Another user's series exists at both of the sandbox's providers.
#[tokio::test]
async fn moved_occurrence_of_another_persons_series_is_imported() {
    let weekly = "SUMMARY:Roof\nRRULE:FREQ=WEEKLY;COUNT=3";
    let weekly = event("roof", "20361210T100000", "20361210T110000", weekly);
    let at = "SUMMARY:Roof\nRECURRENCE-ID:20361217T090000Z";
    let moved = event("roof", "20361218T150000", "20361218T160000", at);
    let text = format!("BEGIN:VCALENDAR\n{weekly}{moved}END:VCALENDAR\n");
    let mut session = session(&message(PART, REQUEST, "")).await;
    for account in ACCOUNTS {
        let import = json!({"account": account, "ics": text, "if_conflict": "ignore"});
        let answer = session.ok("calendar_save", import).await.join("\n");
        assert!(!answer.contains("failed"), "{answer}");
        assert_eq!(
            starts(&mut session, account).await,
            ["Wed 2036-12-10 10h00", "Thu 2036-12-18 15h00", "Wed 2036-12-24 10h00"],
            "{account}"
        );
    }
}

#[tokio::test]
async fn published_events_are_added_and_answered_to_nobody() {
    let flights = event("out", "20361210T100000", "20361210T110000", "SUMMARY:Flight out")
        + &event("back", "20361214T100000", "20361214T110000", "SUMMARY:Flight back");
    for method in ["METHOD:PUBLISH\n", ""] {
        let mut session = session(&message(PART, method, &flights)).await;
        for account in accounts(method) {
            let id = invited(&mut session, account).await;
            let decline = json!({"id": id, "response": "decline"});
            assert_eq!(
                session.error("calendar_respond", decline).await,
                format!(
                    "{id} publishes events and asks for no answer: add them with calendar_save \
                     ics={id}, or do nothing"
                )
            );
            let accept = json!({"id": id, "response": "accept", "notify": "all"});
            let answer = session.ok("calendar_respond", accept).await.join("\n");
            let expected = "its organizer asked for no answer: nobody was notified";
            assert!(answer.contains(expected), "{answer}");
            assert!(!answer.contains("was sent"), "{answer}");
            let expected = ["Wed 2036-12-10 10h00", "Sun 2036-12-14 10h00"];
            assert_eq!(starts(&mut session, account).await, expected, "{account}");
        }
    }
}

#[tokio::test]
async fn other_events_of_an_invitation_are_named() {
    let two = event("out", "20361210T100000", "20361210T110000", "SUMMARY:Roof")
        + &event("back", "20361214T100000", "20361214T110000", "SUMMARY:Cellar");
    let mut session = session(&message(PART, REQUEST, &two)).await;
    let id = invited(&mut session, ACCOUNTS[0]).await;
    let answer = session.ok("calendar_respond", json!({"id": id, "response": "accept"})).await;
    let expected = format!("{id} also has `Cellar`: calendar_save ics={id} adds all");
    assert!(answer.join("\n").contains(&expected), "{answer:?}");
    assert_eq!(starts(&mut session, ACCOUNTS[0]).await, ["Wed 2036-12-10 10h00"]);
}

/// Exchange gives each occurrence its own UID; at Google all occurrences share one.
#[tokio::test]
async fn series_in_both_calendars_is_one() {
    let mut session = Session::written(BOTH).await;
    let event = json!({"title": "Glaze tests", "start": "2036-12-10 10h00", "duration": "1h",
        "repeats": "FREQ=WEEKLY;COUNT=3", "people": [ME]});
    let create = json!({"account": WORK, "events": [event], "notify": "all"});
    session.ok("calendar_save", create).await;
    let range = json!({"from": "2036-12-01", "to": "2036-12-31", "q": "glaze"});
    let found = session.json("calendar_search", range).await;
    let starts = |found: &serde_json::Value| column(found, "events", "start");
    let weekly = ["Wed 2036-12-10 10h00", "Wed 2036-12-17 10h00", "Wed 2036-12-24 10h00"];
    assert_eq!(starts(&found), weekly);
    let clashes = json!({"from": "2036-12-01", "to": "2036-12-31", "q": "is:clash"});
    let clashes = session.ok("calendar_search", clashes).await.join("\n");
    assert!(!clashes.contains("Glaze"), "{clashes}");
    // An export with a moved occurrence is one series again after the import.
    let at_work = json!({"from": "2036-12-17", "to": "2036-12-17", "account": WORK, "q": "glaze"});
    let second = column(&session.json("calendar_search", at_work).await, "events", "id").remove(0);
    let moved = json!({"id": second, "scope": "this", "notify": "all",
        "events": [{"start": "2036-12-18 15h00"}]});
    session.ok("calendar_save", moved).await;
    let export = json!({"from": "2036-12-01", "to": "2036-12-31", "account": WORK,
        "series": true, "as": "ics", "q": "glaze"});
    let blocks = session.ok("calendar_search", export).await;
    let text = blocks.join("\n");
    let uids: std::collections::BTreeSet<_> =
        text.lines().filter(|line| line.starts_with("UID:")).collect();
    assert_eq!(uids.len(), 1, "{text}");
    assert!(!text.contains("without the rule"), "{text}");
    let (from, to) = (text.find("BEGIN:VCALENDAR").unwrap(), text.rfind("END:VCALENDAR").unwrap());
    let ics = format!("{}END:VCALENDAR\r\n", &text[from..to]);
    // Its own UID or title would match the existing series.
    let ics = ics.replace(uids.first().unwrap(), "UID:copy@studio.example");
    let ics = ics.replace("Glaze tests", "Copied");
    let family = json!({"account": "google", "calendar": "Family", "ics": ics,
        "if_conflict": "ignore"});
    session.ok("calendar_save", family).await;
    let family =
        json!({"from": "2036-12-01", "to": "2036-12-31", "calendars": ["Family"], "q": "copied"});
    let found = session.json("calendar_search", family).await;
    let expected = ["Wed 2036-12-10 10h00", "Thu 2036-12-18 15h00", "Wed 2036-12-24 10h00"];
    assert_eq!(starts(&found), expected);
}

/// Of two invitations to one event, the earlier one states an outdated time.
#[tokio::test]
async fn invitation_to_an_event_that_was_moved_says_so() {
    let mut session = Session::written(SandboxUser::Usual).await;
    let query =
        json!({"account": ME, "q": "subject:rehearsal from:henrike.olbrich@nordlicht.example"});
    let found = session.json("mail_search", query).await;
    let ids = column(&found, "messages", "id");
    assert_eq!(ids.len(), 2);
    // If the times agree, the people's answers come from the calendar, otherwise from the message.
    let read = session.json("mail_read", json!({"ids": ids})).await;
    assert_eq!(
        column(&read, "invitations", "people"),
        ["me+ tomasz? anselm.voss+ ebba.thorne~*", "me? tomasz? anselm.voss+ ebba.thorne?*"]
    );
    let notes = session.ok("mail_read", json!({"ids": ids})).await.pop().unwrap();
    let moved: Vec<_> =
        notes.lines().filter(|line| line.contains("in the calendar it is")).collect();
    assert_eq!(
        moved,
        ["`Vesper: rehearsal in the showroom`: this is the invitation's time; in the calendar it \
             is Mon 2026-11-23 10h00"]
    );
}
