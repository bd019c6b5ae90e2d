//! The sandbox's calendars, loaded: the samples, and folders of `.ics` files.
//!
//! The loaded calendars are read through Google's API.

use std::fs;
use std::path::{Path, PathBuf};

use daysheet_sandbox::{Sandbox, SandboxOptions};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::client::{ME, User, encoded};
use crate::common::clock;

const SCOPE: &str = "https://www.googleapis.com/auth/calendar";

/// Every occurrence of the sample calendars in the last quarter of 2026, as computed by a
/// third-party library (`tests/interop/sample_agenda.py`).
const AGENDA: &str = include_str!("../fixtures/sample-agenda.tsv");

// The client's side -------------------------------------------------------

async fn signed_in(sandbox: &Sandbox, address: &str) -> User {
    User::at_calendar(sandbox.base(), address, SCOPE).await
}

impl User {
    /// Returns the calendars.
    async fn calendars(&self) -> Vec<Value> {
        let list = self.json("users/me/calendarList").await;
        list["items"].as_array().unwrap().clone()
    }

    /// Returns the events of a calendar.
    async fn events(&self, calendar: &str, query: &str) -> Vec<Value> {
        let calendar = encoded(calendar);
        let path = format!("calendars/{calendar}/events?maxResults=2500{query}");
        let list = self.json(&path).await;
        assert_eq!(list["nextPageToken"], Value::Null);
        list["items"].as_array().unwrap().clone()
    }

    /// Returns the name, role, time zone and event titles of each calendar.
    async fn reported(&self) -> Vec<String> {
        let mut reported = Vec::new();
        for calendar in self.calendars().await {
            let mut titles = Vec::new();
            for event in self.events(calendar["id"].as_str().unwrap(), "").await {
                titles.push(event["summary"].as_str().unwrap_or_default().to_owned());
            }
            titles.sort_unstable();
            let main = match calendar["primary"].as_bool() {
                Some(true) => "main ",
                _ => "",
            };
            reported.push(format!(
                "{main}{} ({}, {}): {}",
                calendar["summary"].as_str().unwrap(),
                calendar["accessRole"].as_str().unwrap(),
                calendar["timeZone"].as_str().unwrap(),
                titles.join(", ")
            ));
        }
        reported
    }
}

async fn sandbox(mail: Option<&Path>, calendar: Option<&Path>) -> Sandbox {
    let options = SandboxOptions {
        mail: mail.map(Path::to_owned),
        calendar: calendar.map(Path::to_owned),
        ..SandboxOptions::new(clock::clock())
    };
    Sandbox::start(options).await.unwrap()
}

/// Returns a folder with one message for each address.
fn mail(addresses: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for address in addresses {
        let own = folder.path().join(address);
        fs::create_dir(&own).unwrap();
        let message = "From: a@example.com\r\nSubject: hello\r\n\r\nhello\r\n";
        fs::write(own.join("1.eml"), message).unwrap();
    }
    folder
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

// The samples -------------------------------------------------------------

#[tokio::test]
async fn sample_events_match_an_independent_list() {
    let owners: Vec<&str> = {
        let mut owners: Vec<&str> =
            AGENDA.lines().map(|line| line.split_once('/').unwrap().0).collect();
        owners.dedup();
        owners
    };
    assert_eq!(owners.len(), 5);
    let mail = mail(&owners);
    let sandbox = sandbox(Some(mail.path()), Some(&samples())).await;
    assert_eq!(sandbox.report().skipped, []);
    let mut found = Vec::new();
    for owner in owners {
        let user = signed_in(&sandbox, owner).await;
        for calendar in user.calendars().await {
            let name = match (calendar["primary"].as_bool(), calendar["summary"].as_str()) {
                (Some(true), _) => "calendar",
                (_, Some("Holidays in Berlin")) => "Holidays.readonly",
                (_, Some(name)) => name,
                _ => panic!("{calendar}"),
            };
            // All-day events of the first day begin in Berlin, two hours earlier.
            let query = "&singleEvents=true&timeMin=2026-10-01T00:00:00Z\
                         &timeMax=2026-12-31T23:00:00Z";
            for event in user.events(calendar["id"].as_str().unwrap(), query).await {
                let when = |at: &Value| match at["dateTime"].as_str() {
                    Some(time) => time.parse::<Timestamp>().unwrap().to_string(),
                    None => at["date"].as_str().unwrap().to_owned(),
                };
                found.push(format!(
                    "{owner}/{name}.ics\t{}\t{}\t{}",
                    when(&event["start"]),
                    when(&event["end"]),
                    event["summary"].as_str().unwrap()
                ));
            }
        }
    }
    found.sort_unstable();
    let mut expected: Vec<&str> = AGENDA.lines().collect();
    expected.sort_unstable();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

#[tokio::test]
async fn sample_events_come_with_the_sample_mail() {
    let embedded = sandbox(None, None).await;
    assert_eq!(embedded.report().skipped, []);
    assert_eq!(embedded.report().events, 105);
    let folder = sandbox(None, Some(&samples())).await;
    assert_eq!(folder.report().events, 105);
    for address in [ME, "mira@lindqvist-lamps.example"] {
        let (one, two) = (signed_in(&embedded, address).await, signed_in(&folder, address).await);
        let calendars = one.calendars().await;
        assert_eq!(calendars, two.calendars().await);
        // The same data on every run, change marks and all.
        for calendar in calendars {
            let id = calendar["id"].as_str().unwrap();
            assert_eq!(one.events(id, "").await, two.events(id, "").await);
        }
    }
    // Whoever brings other mail has calendars of their own, empty ones.
    let mail = mail(&[ME]);
    let other = sandbox(Some(mail.path()), None).await;
    assert_eq!(
        signed_in(&other, ME).await.reported().await,
        ["main mira@example.com (owner, Europe/Berlin): "]
    );
    assert_eq!(other.report().events, 0);
}

#[tokio::test]
async fn samples_have_every_kind_of_event() {
    let sandbox = sandbox(None, None).await;
    let home = signed_in(&sandbox, ME).await;
    let work = signed_in(&sandbox, "mira@lindqvist-lamps.example").await;
    let names = |reported: Vec<String>| -> Vec<String> {
        let before = |line: &String| line.split_once(':').unwrap().0.to_owned();
        reported.iter().map(before).collect()
    };
    assert_eq!(
        names(home.reported().await),
        [
            "main mira@example.com (owner, Europe/Berlin)",
            "Family (owner, Europe/Berlin)",
            "Holidays in Berlin (reader, Europe/Berlin)",
        ]
    );
    assert_eq!(
        names(work.reported().await),
        ["main Calendar (owner, Europe/Berlin)", "Kiln (owner, Europe/Berlin)",]
    );
    let at = async |user: &User, uid: &str| {
        let query = format!("&showDeleted=true&iCalUID={}", encoded(uid));
        user.events("primary", &query).await
    };
    // One meeting in both calendars, called at work.
    let uid = "shade-count-2026@lindqvist-lamps.example";
    let (here, there) = (at(&home, uid).await, at(&work, uid).await);
    assert_eq!((here.len(), there.len()), (1, 1));
    assert_eq!(here[0]["organizer"]["self"], Value::Null);
    assert_eq!(there[0]["organizer"]["self"], true);
    assert_eq!(here[0]["iCalUID"], there[0]["iCalUID"]);
    // A series that differs once, called in New York.
    let uid = "brennan-weekly-2026@brennanlights.example";
    let series = at(&home, uid).await;
    assert_eq!(series.len(), 2);
    let master = series.iter().find(|it| it["recurrence"].is_array()).unwrap();
    let other = series.iter().find(|it| it["recurringEventId"].is_string()).unwrap();
    assert_eq!(master["start"]["timeZone"], "America/New_York");
    assert_eq!(other["recurringEventId"], master["id"]);
    // What the school has cancelled is cancelled.
    let uid = "ptt-3b-1184-20261112@termine.lindenhof.example";
    assert_eq!(at(&home, uid).await[0]["status"], "cancelled");
    // Windows' name of a zone is IANA's here.
    let uid = "standup-mwf@lindqvist-lamps.example";
    let standup = at(&work, uid).await;
    assert!(standup.iter().all(|it| it["start"]["timeZone"] == "Europe/Berlin"), "{standup:?}");
}

// Folders -----------------------------------------------------------------

/// Returns a calendar with one event per title, on successive days.
fn calendar(name: Option<&str>, titles: &[&str]) -> String {
    let mut text = String::from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n");
    if let Some(name) = name {
        text.push_str(&format!("X-WR-CALNAME:{name}\r\n"));
    }
    for (at, title) in (1..).zip(titles) {
        text.push_str(&format!(
            "BEGIN:VEVENT\r\nUID:{title}@x.example\r\nDTSTAMP:20260101T000000Z\r\n\
             DTSTART:202602{at:02}T090000Z\r\nDTEND:202602{at:02}T100000Z\r\n\
             SUMMARY:{title}\r\nEND:VEVENT\r\n"
        ));
    }
    text + "END:VCALENDAR\r\n"
}

/// Loads files for two mailboxes. Returns the calendars of each, and the skipped files with the
/// reason.
async fn load(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>, Vec<(String, String)>) {
    let mail = mail(&["ana@example.com", "bo@example.com"]);
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let sandbox = sandbox(Some(mail.path()), Some(folder.path())).await;
    assert_eq!(
        sandbox.addresses(),
        ["ana@example.com", "bo@example.com"],
        "calendars make no mailboxes"
    );
    (
        signed_in(&sandbox, "ana@example.com").await.reported().await,
        signed_in(&sandbox, "bo@example.com").await.reported().await,
        sandbox.report().skipped.clone(),
    )
}

const EMPTY: &str = "main bo@example.com (owner, Europe/Berlin): ";

#[tokio::test]
async fn ics_file_becomes_a_calendar() {
    // The only file is the main calendar of the first mailbox.
    let one = calendar(Some("Ana at home"), &["one", "two"]);
    let (ana, bo, skipped) = load(&[("whatever.ics", &one)]).await;
    assert_eq!(ana, ["main Ana at home (owner, Europe/Berlin): one, two"]);
    assert_eq!(bo, [EMPTY]);
    assert_eq!(skipped, []);

    // Folders say whose it is; names say which calendar.
    let (ana, bo, skipped) = load(&[
        ("Ana@Example.com/Calendar.ICS", &calendar(None, &["a"])),
        ("Ana@Example.com/Choir.ics", &calendar(None, &["b"])),
        ("Ana@Example.com/deep/er.ics", &calendar(Some("Choir"), &["c"])),
        ("Ana@Example.com/Feasts.readonly.ics", &calendar(None, &["d"])),
        ("bo@example.com/x.ics", &calendar(Some("bo@example.com"), &["e"])),
        ("bo@example.com/y.ics", &calendar(Some("Rowing, early"), &["f"])),
        ("cy@example.com/y.ics", &calendar(None, &["g"])),
        ("notes.txt", "not a calendar at all"),
    ])
    .await;
    assert_eq!(
        ana,
        [
            "main Calendar (owner, Europe/Berlin): a",
            "Choir (owner, Europe/Berlin): b, c",
            "Feasts (reader, Europe/Berlin): d",
        ]
    );
    assert_eq!(
        bo,
        [
            "main bo@example.com (owner, Europe/Berlin): e",
            "Rowing, early (owner, Europe/Berlin): f",
        ]
    );
    assert_eq!(skipped, []);

    // Of several files none of which is the main calendar, none becomes it; and
    // an export is its owner's, wherever it lies.
    let (ana, bo, _) = load(&[
        ("Choir.ics", &calendar(None, &["a"])),
        ("Work.ics", &calendar(None, &["b"])),
        ("export.ics", &calendar(Some("bo@example.com"), &["c"])),
    ])
    .await;
    assert_eq!(
        ana,
        [
            "main ana@example.com (owner, Europe/Berlin): ",
            "Choir (owner, Europe/Berlin): a",
            "Work (owner, Europe/Berlin): b",
        ]
    );
    assert_eq!(bo, ["main bo@example.com (owner, Europe/Berlin): c"]);
}

#[tokio::test]
async fn unusable_files_are_reported() {
    let twice = calendar(None, &["a", "a"]);
    let broken = calendar(None, &["b", "c"]).replace("DTSTART:20260202T", "DTSTART:2026-02-31 T");
    let orphan = "BEGIN:VCALENDAR\nX-WR-TIMEZONE:America/New_York\nBEGIN:VEVENT\n\
                  UID:series@x.example\nRECURRENCE-ID:20260203T090000Z\n\
                  DTSTART:20260203T100000Z\nDTEND:20260203T110000Z\nSUMMARY:moved\nEND:VEVENT\n\
                  BEGIN:VEVENT\nDTSTART:20260204T100000\nSUMMARY:no uid\nEND:VEVENT\n\
                  BEGIN:VEVENT\nDTSTART:20260205T100000\nSUMMARY:nor this\nEND:VEVENT\n\
                  END:VCALENDAR\n";
    let (ana, _, skipped) = load(&[
        ("1.ics", ""),
        ("2.ics", "BEGIN:VCARD\r\nEND:VCARD\r\n"),
        ("3.ics", "\u{0}\u{1}\u{fffd}"),
        ("calendar.ics", &twice),
        ("broken.ics", &broken),
        ("orphan.ics", orphan),
    ])
    .await;
    assert_eq!(
        ana,
        [
            "main calendar (owner, Europe/Berlin): a",
            "broken (owner, Europe/Berlin): b",
            "orphan (owner, America/New_York): moved, no uid, nor this",
        ]
    );
    let reported: Vec<String> =
        skipped.iter().map(|(file, why)| format!("{file}: {why}")).collect();
    assert_eq!(
        reported,
        [
            "1.ics: this is not a calendar: it has no BEGIN:VCALENDAR",
            "2.ics: this is not a calendar: it has no BEGIN:VCALENDAR",
            "3.ics: this is not a calendar: it has no BEGIN:VCALENDAR",
            "broken.ics: line 14: cannot be read: `DTSTART:2026-02-31 T090000Z`",
            "broken.ics: line 11: the event has no start and was skipped",
            "calendar.ics: line 11: left out: the event on line 4 has the same UID and is as new",
        ]
    );
}

/// People invited to one occurrence get it without its series.
#[tokio::test]
async fn occurrence_without_its_series_keeps_its_original_start() {
    let folder = TempDir::new().unwrap();
    let text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:s@x.example\n\
                RECURRENCE-ID:20260203T090000Z\nDTSTART:20260203T100000Z\nEND:VEVENT\n\
                END:VCALENDAR\n";
    fs::write(folder.path().join("calendar.ics"), text).unwrap();
    let mail = mail(&["ana@example.com"]);
    let sandbox = sandbox(Some(mail.path()), Some(folder.path())).await;
    let events = signed_in(&sandbox, "ana@example.com").await.events("primary", "").await;
    let original = &events[0]["originalStartTime"]["dateTime"];
    let original: Timestamp = original.as_str().unwrap().parse().unwrap();
    assert_eq!(original, "2026-02-03T09:00:00Z".parse().unwrap());
    assert!(events[0]["recurringEventId"].is_string(), "{}", events[0]);
}

#[tokio::test]
async fn one_calendar_file_loads_and_missing_folder_fails() {
    let file = samples().join("mira@example.com/Family.ics");
    let one = sandbox(None, Some(&file)).await;
    assert_eq!(one.report().events, 11);
    let reported = signed_in(&one, ME).await.reported().await;
    assert_eq!(reported.len(), 1);
    assert!(
        reported[0].starts_with("main Family (owner, Europe/Berlin): 3b: planetarium, "),
        "{reported:?}"
    );
    let options = SandboxOptions {
        calendar: Some("/no/such/folder".into()),
        ..SandboxOptions::new(clock::clock())
    };
    assert_eq!(
        Sandbox::start(options).await.unwrap_err().to_string(),
        "cannot read calendars from /no/such/folder: No such file or directory (os error 2): name \
         a folder of .ics files, or one such file"
    );
}
