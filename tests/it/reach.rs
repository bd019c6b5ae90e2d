//! The audience of a write: the people on its target as well as those that the call names. The
//! calls are in `tests/transcripts/reach.txt`; here are responses that the sandbox does not produce,
//! many people, and changes while the user is asked.

use std::sync::Arc;

use daysheet::cli::client::{ConfirmFn, InProcessClient};
use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::call::client::Confirmation;
use daysheet_sandbox::{AnswerAlteration, FaultRates};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use crate::common::clock::clock;
use crate::support::{ME, Session, add_members, config};

const GOOGLE: SandboxUser = SandboxUser::These(&[("google", ME)]);
const MICROSOFT: SandboxUser = SandboxUser::These(&[("microsoft", ME)]);

/// The user's own events `e1`, `e2` and `e4` to `e6`, and `e3` by Jonas. Eve is a guest of `e1`,
/// `e3` and `e6`, Jonas of all the others. The user has written to Jonas.
const EVENTS: &str = "BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:meeting@example.com
SUMMARY:Meeting
DTSTART:20360205T080000Z
DTEND:20360205T090000Z
ATTENDEE:mailto:jonas@example.com
ATTENDEE:mailto:eve@example.org
END:VEVENT
BEGIN:VEVENT
UID:party@example.com
SUMMARY:Party
DTSTART:20360205T090000Z
DTEND:20360205T100000Z
ATTENDEE:mailto:jonas@example.com
END:VEVENT
BEGIN:VEVENT
UID:kickoff@example.com
SUMMARY:Kickoff
DTSTART:20360205T100000Z
DTEND:20360205T110000Z
ORGANIZER:mailto:jonas@example.com
ATTENDEE:mailto:mira@example.com
ATTENDEE:mailto:eve@example.org
END:VEVENT
BEGIN:VEVENT
UID:weekly@example.com
SUMMARY:Weekly
DTSTART:20360205T150000Z
DTEND:20360205T160000Z
RRULE:FREQ=WEEKLY
ATTENDEE:mailto:jonas@example.com
END:VEVENT
BEGIN:VEVENT
UID:weekly@example.com
RECURRENCE-ID:20360219T150000Z
SUMMARY:Weekly
DTSTART:20360219T150000Z
DTEND:20360219T160000Z
ATTENDEE:mailto:jonas@example.com
ATTENDEE:mailto:eve@example.org
END:VEVENT
END:VCALENDAR
";

/// A calendar without events.
const EMPTY: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n";

fn event(members: Value) -> Value {
    let mut event = json!({"title": "T", "start": "2036-02-06 09h00"});
    let all = event.as_object_mut().unwrap();
    all.extend(members.as_object().unwrap().clone());
    event
}

pub fn create(members: Value, more: Value) -> Value {
    with(json!({"events": [event(members)]}), more)
}

pub fn change(id: &str, members: Value, more: Value) -> Value {
    with(json!({"id": id, "events": [members]}), more)
}

pub fn with(mut call: Value, more: Value) -> Value {
    let all = call.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    call
}

pub fn document(uid: &str, lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\n\
         DTSTART:20360206T080000Z\r\nDTEND:20360206T090000Z\r\nSUMMARY:SECRET\r\n{lines}\
         END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

/// The time of all events.
fn range() -> Value {
    json!({"from": "2036-02-05", "to": "2036-02-20", "calendars": ["main", "Work"]})
}

/// Starts a session over [`EVENTS`], an empty calendar `Work`, and one that Boss shares.
async fn started(who: SandboxUser, setting: (&str, &str)) -> Session {
    let calendars = TempDir::new().unwrap();
    let folder = calendars.path().join(ME);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("calendar.ics"), EVENTS.replace('\n', "\r\n")).unwrap();
    std::fs::write(folder.join("Work.ics"), EMPTY).unwrap();
    std::fs::write(folder.join("boss@example.org.shared.ics"), document("board@example.com", ""))
        .unwrap();
    let home = TempDir::new().unwrap();
    let config = config(home.path(), &[setting]);
    let folders = [None, Some(calendars.path())];
    Session::start_with(config, home, folders, FaultRates::default(), who).await
}

/// Starts a session and shows the events. Objects of the services' answers with this title or name
/// have further members.
async fn shown(
    who: SandboxUser,
    setting: (&str, &str),
    more: Option<(&'static str, Value)>,
) -> Session {
    let mut session = started(who, setting).await;
    let alteration = more
        .map(|(name, members)| AnswerAlteration::new(move |it| add_members(it, name, &members)));
    session.sandbox.set_alter(alteration);
    session.ok("calendar_search", range()).await;
    session
}

/// Checks that no event was changed.
async fn check_unchanged(session: &mut Session) {
    let found = session.ok("calendar_search", range()).await;
    let titles = ["Meeting", "Party", "Kickoff", "Weekly", "Weekly", "Weekly"];
    let rows: Vec<&str> = found[0].lines().filter(|line| line.starts_with("  e")).collect();
    assert_eq!(rows.len(), titles.len(), "{found:?}");
    for (row, title) in rows.into_iter().zip(titles) {
        assert!(row.contains(title), "{row}");
    }
}

#[tokio::test]
async fn people_whom_only_the_service_knows_are_reached() {
    let omitted = || Some(("Party", json!({"attendeesOmitted": true})));
    let joint = || Some(("Kickoff", json!({"guestsCanModify": true})));
    // Outlook names the owner of a calendar.
    let owner = json!({"canShare": false, "owner": {"address": "work@example.org"}});
    let party = || change("e2", json!({"title": "SECRET"}), json!({"notify": "all"}));
    let kickoff = change("e3", json!({"title": "SECRET"}), json!({"notify": "none"}));
    let list = ("DAYSHEET_RECIPIENTS", "jonas@example.com");
    let confirm = ("DAYSHEET_NEW_RECIPIENTS", "confirm");
    let below = |level| ("DAYSHEET_ACCESS", level);
    let needs_send = "writing an event with other people needs access `send`, but";
    for (who, setting, more, call, expected) in cases! {
        GOOGLE, list, omitted(), party(),
            "not an allowed recipient: people the service does not name:";
        GOOGLE, list, joint(), kickoff, "not an allowed recipient: eve@example.org:";
        MICROSOFT, list, Some(("Work", owner)), create(json!({}), json!({"calendar": "Work"})),
            "not an allowed recipient: work@example.org:";
        // They count as new, too.
        GOOGLE, confirm, omitted(), party(),
            "it reaches people never written to (people the service does not name),";
        GOOGLE, below("organize"), omitted(), party(), needs_send;
        GOOGLE, below("draft"), omitted(), party(), needs_send;
    } {
        let mut session = shown(who, setting, more).await;
        let error = session.error("calendar_save", call).await;
        assert!(error.starts_with(expected), "{error}");
        check_unchanged(&mut session).await;
    }
    let mut session = shown(GOOGLE, below("send"), omitted()).await;
    let written = session.ok("calendar_save", party()).await;
    assert!(written[0].contains("SECRET"), "{written:?}");
}

/// Without an entry in the list, a calendar is named by its address.
#[tokio::test]
async fn changes_in_unlisted_calendars_reach_their_owners() {
    let mut session = started(GOOGLE, ("DAYSHEET_RECIPIENTS", "bo@example.com")).await;
    session.sandbox.set_alter(Some(AnswerAlteration::new(|answer| {
        if let Some(items) = answer.get_mut("items").and_then(Value::as_array_mut) {
            items.retain(|item| item["id"] != "boss@example.org");
        }
    })));
    let id = "boss@example.org/9ad1kgribaef9o1s0i93itchof";
    let call = change(id, json!({"title": "Renamed"}), json!({}));
    let error = session.error("calendar_save", call).await;
    assert!(error.starts_with("not an allowed recipient: boss@example.org:"), "{error}");
}

/// A question cannot show them all.
#[tokio::test]
async fn more_than_two_hundred_new_people_are_refused() {
    let many = |c: char| {
        let people: Vec<String> = (0..150).map(|n| format!("{c}{n}@example.org")).collect();
        event(json!({"people": people}))
    };
    let call = json!({"events": [many('a'), many('b')], "notify": "none", "if_conflict": "ignore"});
    let mut session = shown(GOOGLE, ("DAYSHEET_NEW_RECIPIENTS", "confirm"), None).await;
    assert_eq!(
        session.error("calendar_save", call).await,
        "more than 200 people were never written to: write to fewer people"
    );
    let day = json!({"from": "2036-02-06", "to": "2036-02-06", "calendars": ["main"]});
    let found = session.ok("calendar_search", day).await;
    assert!(found[0].contains("events: []"), "{found:?}");
}

#[tokio::test]
async fn only_what_was_confirmed_is_written() {
    let secret = || json!({"title": "SECRET"});
    let mallory = |id: &str, more: Value| change(id, json!({"add": ["mallory@example.org"]}), more);
    let on_meeting = || mallory("e1", json!({"notify": "none"}));
    let on_weekly = || mallory("e6", json!({"notify": "none", "scope": "this"}));
    let changed = "was changed since it was shown";
    let others = "are not those the user was asked about";
    for (tool, call, meanwhile, expected) in cases! {
        "calendar_save", change("e1", secret(), json!({"notify": "all"})), on_meeting(), changed;
        "calendar_delete", json!({"id": "e1", "notify": "all"}), on_meeting(), changed;
        "calendar_save", change("e4", secret(), json!({"notify": "all", "scope": "series"})),
            on_weekly(), others;
        "calendar_delete", json!({"id": "e4", "notify": "all", "scope": "series"}), on_weekly(),
            others;
    } {
        let mut session = shown(GOOGLE, ("DAYSHEET_NEW_RECIPIENTS", "confirm"), None).await;
        // Another installation, which changes the event while the user is asked.
        let mut other = session.elsewhere(&[("google", ME)], clock()).await;
        other.client.call("calendar_search", range()).await.unwrap();
        let (handle, other) = (Handle::current(), Mutex::new(other));
        let ask: ConfirmFn = Arc::new(move |_| {
            let change =
                async { other.lock().await.client.call("calendar_save", meanwhile.clone()).await };
            let answer = handle.block_on(change).unwrap();
            assert!(!answer.is_error, "{answer:?}");
            Confirmation::Yes
        });
        session.client = InProcessClient::with(session.app.server(), Some(ask)).await.unwrap();
        let error = session.error(tool, call).await;
        assert!(error.contains(expected), "{error}");
        check_unchanged(&mut session).await;
    }
}
