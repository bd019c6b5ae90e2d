//! Imports of iCalendar files, and of a document with many events, over the sandbox. The other facts
//! about imports are in `tests/transcripts/import.txt`.

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::text;
use daysheet_sandbox::FaultRates;
use serde_json::json;

use crate::support::{ME, Session};

/// Returns a document of these events.
fn document(events: &[String]) -> String {
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{}END:VCALENDAR\r\n", events.concat())
}

/// Returns an event of the year 2036.
fn event(number: usize) -> String {
    let (month, day) = (1 + number / 28, 1 + number % 28);
    format!(
        "BEGIN:VEVENT\r\nUID:{number}@elsewhere.example\r\n\
         DTSTART:2036{month:02}{day:02}T090000Z\r\nSUMMARY:Part {number}\r\nEND:VEVENT\r\n"
    )
}

/// Returns a session at Google that counts the requests that change something.
async fn counting() -> Session {
    let session = Session::written(SandboxUser::These(&[("google", ME)])).await;
    session.sandbox.set_faults(FaultRates { writes: true, ..FaultRates::default() });
    session
}

#[tokio::test]
async fn file_is_imported_only_from_an_allowed_folder() {
    let mut session = counting().await;
    let home = session.home.path().to_owned();
    let folder = home.join("files");
    std::fs::create_dir_all(&folder).unwrap();
    let large = folder.join("large.ics");
    std::fs::write(&large, vec![b' '; 1024 * 1024 + 1]).unwrap();
    let inside = folder.join("folder.ics");
    std::fs::create_dir(&inside).unwrap();
    let talk = document(&[event(1)]);
    let [outside, missing] = ["talk.ics", "none.ics"].map(|name| home.join(name));
    std::fs::write(&outside, &talk).unwrap();
    let elsewhere = "is outside the allowed folders: use";
    let mut cases = vec![
        (large, "is larger than 1 MiB: split it, or give the events directly"),
        (inside, "is not a file: give the path of a file"),
        (outside.clone(), elsewhere),
        (missing.clone(), elsewhere),
    ];
    // A path outside the allowed folders does not reveal whether the file exists, even through a
    // link.
    #[cfg(unix)]
    for (name, target) in [("there.ics", &outside), ("gone.ics", &missing)] {
        std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
        cases.push((folder.join(name), elsewhere));
    }
    for (path, why) in cases {
        let path = path.to_str().unwrap();
        let error = session.error("calendar_save", json!({"ics": path})).await;
        let expected = format!("{} {why}", text::brief(path));
        assert!(error.starts_with(&expected), "{error}");
    }
    let none = folder.join("none.ics");
    let error = session.error("calendar_save", json!({"ics": none.to_str().unwrap()})).await;
    assert_eq!(
        error,
        format!("{} does not exist: correct the path", text::brief(none.to_str().unwrap()))
    );
    assert_eq!(session.sandbox.writes(), 0);
    let good = folder.join("talk.ICS");
    std::fs::write(&good, &talk).unwrap();
    session.ok("calendar_save", json!({"ics": good.to_str().unwrap()})).await;
    assert_eq!(session.sandbox.writes(), 1);
}

/// A document with more events than one call imports is refused before the first write.
#[tokio::test]
async fn document_with_too_many_events_is_refused() {
    let mut session = counting().await;
    let events: Vec<String> = (0..201).map(event).collect();
    let call = |events: &[String]| json!({"ics": document(events), "if_conflict": "ignore"});
    assert_eq!(
        session.error("calendar_save", call(&events)).await,
        "the document has 201 events, more than 200: split it, and import each part in a call of its \
         own"
    );
    assert_eq!(session.sandbox.writes(), 0);
    session.ok("calendar_save", call(&events[1..])).await;
    assert_eq!(session.sandbox.writes(), 200);
}
