//! Checks before a write of an event that no transcript shows. The others are in
//! `tests/transcripts/checks.txt`.

use std::sync::atomic::{AtomicU64, Ordering};

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_sandbox::{AnswerAlteration, FaultRates};
use serde_json::{Value, json};

use crate::support::{ME, Session};

/// Returns a session at Google that counts the requests that change something.
async fn counting() -> Session {
    let session = Session::written(SandboxUser::These(&[("google", ME)])).await;
    session.sandbox.set_faults(FaultRates { writes: true, ..FaultRates::default() });
    session
}

#[tokio::test]
async fn import_for_more_people_than_the_service_allows_is_refused() {
    let mut session = counting().await;
    let people: String =
        (0..201).map(|number| format!("ATTENDEE:mailto:p{number}@example.org\r\n")).collect();
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:n@elsewhere.example\r\n\
         DTSTART:20360206T080000Z\r\nDTEND:20360206T090000Z\r\nSUMMARY:Launch\r\n{people}\
         END:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    assert_eq!(
        session.ok("calendar_save", json!({"ics": text})).await,
        [
            "outcomes[1\t]{item\top\tresult\tdetail}:\n  Launch\timport\tfailed\t\"201 people are too many \
          for one event: Google takes at most 200: invite a group's address instead\""
        ]
    );
    assert_eq!(session.sandbox.writes(), 0);
}

/// Another program changes a series while it is split, so that its end is refused.
#[tokio::test]
async fn split_is_not_reverted_if_its_series_was_changed_meanwhile() {
    let mut session = counting().await;
    let weekly = json!({"events": [{
        "title": "Weekly", "start": "2036-02-05 10h00", "repeats": "FREQ=WEEKLY;COUNT=4",
    }]});
    session.ok("calendar_save", weekly).await;
    let before = session.sandbox.writes();
    // Each answer with the series has another version of it.
    let number = AtomicU64::new(0);
    session.sandbox.set_alter(Some(AnswerAlteration::new(move |answer: &mut Value| {
        if answer["recurrence"].is_array() {
            answer["etag"] = format!("\"{}\"", number.fetch_add(1, Ordering::Relaxed)).into();
        }
    })));
    // The series is e1, and its occurrences are e2 to e5.
    let split = json!({"id": "e3", "scope": "following", "events": [{"title": "B"}]});
    let answer = session.json("calendar_save", split).await;
    assert_eq!(
        answer["outcomes"],
        json!([{
            "item": "e3 Weekly", "op": "change", "result": "unknown",
            "detail": "it was changed meanwhile: the new series exists, and e1 was changed; check, \
                       and shorten or delete one of them",
        }])
    );
    // The new series was created, the end of the old one was refused, and nothing was deleted.
    assert_eq!(session.sandbox.writes() - before, 2);
}
