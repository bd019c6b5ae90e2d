//! The audience of a write: many people, and changes while the user is asked. All else is in
//! `tests/transcripts/reach.txt`.

use std::sync::Arc;

use daysheet::cli::client::{ConfirmFn, InProcessClient};
use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::call::client::Confirmation;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use crate::common::clock::clock;
use crate::support::{ME, OtherInstallation, Session};

const ACCOUNTS: &[(&str, &str)] = &[("google", ME)];

/// Calls a tool of another installation, which must succeed.
async fn elsewhere(other: &mut OtherInstallation, call: Value) {
    let answer = other.client.call("calendar_save", call).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
}

/// Returns the titles of the events on these days that the other installation has written.
async fn titles(session: &mut Session) -> Vec<String> {
    let range = json!({"from": "2036-02-05", "to": "2036-02-06", "q": "zebra",
                       "fields": ["title"]});
    session.ok("calendar_search", range).await
}

/// Starts a session that asks about new people, and another installation that has written events:
/// Eve is a guest of `e1`, and of an occurrence of the series to which `e2` belongs, which is `e5`
/// in the other installation. The user has written to Jonas.
async fn started() -> (Session, OtherInstallation) {
    let home = TempDir::new().unwrap();
    let confirm = [("DAYSHEET_NEW_RECIPIENTS", "confirm")];
    let mut session = Session::set(home, &confirm, SandboxUser::These(ACCOUNTS)).await;
    let mut other = session.elsewhere(ACCOUNTS, clock()).await;
    let events = json!([
        {"title": "Zebra day", "start": "2036-02-05 08:00", "people": ["eve@example.org"]},
        {"title": "Zebra week", "start": "2036-02-05 15:00", "repeats": "FREQ=WEEKLY;COUNT=3",
         "people": ["jonas@example.com"]},
    ]);
    elsewhere(&mut other, json!({"events": events, "notify": "none"})).await;
    elsewhere(&mut other, added("e5", "eve@example.org")).await;
    titles(&mut session).await;
    (session, other)
}

/// Returns the call that adds a guest to an event.
fn added(id: &str, guest: &str) -> Value {
    json!({"id": id, "notify": "none", "scope": "this", "events": [{"add": [guest]}]})
}

/// A question cannot show them all.
#[tokio::test]
async fn more_than_two_hundred_new_people_are_refused() {
    let many = |c: char| {
        let people: Vec<String> = (0..150).map(|n| format!("{c}{n}@example.org")).collect();
        json!({"title": "Zebra", "start": "2036-02-06 09h00", "people": people})
    };
    let call = json!({"events": [many('a'), many('b')], "notify": "none", "if_conflict": "ignore"});
    let (mut session, _) = started().await;
    let before = titles(&mut session).await;
    assert_eq!(
        session.error("calendar_save", call).await,
        "more than 200 people were never written to: write to fewer people"
    );
    assert_eq!(titles(&mut session).await, before);
}

#[tokio::test]
async fn only_what_was_confirmed_is_written() {
    let changed = "e1 was changed since it was shown: it is now Tue 2036-02-05 08h00 to 09h00 \
                   Zebra day: nothing was written; call again if it is still right";
    let others = "the people on e3 are not those the user was asked about: nothing was written; \
                  call again if it is still right";
    for (tool, call, meanwhile, expected) in cases! {
        "calendar_save", json!({"id": "e1", "notify": "all", "events": [{"title": "SECRET"}]}),
            "e1", changed;
        "calendar_delete", json!({"id": "e1", "notify": "all"}), "e1", changed;
        "calendar_save", json!({"id": "e2", "notify": "all", "scope": "series",
                                "events": [{"title": "SECRET"}]}), "e5", others;
        "calendar_delete", json!({"id": "e2", "notify": "all", "scope": "series"}), "e5", others;
    } {
        let (mut session, other) = started().await;
        let before = titles(&mut session).await;
        // The other installation changes the event while the user is asked.
        let (handle, other) = (Handle::current(), Mutex::new(other));
        let ask: ConfirmFn = Arc::new(move |_| {
            let call = added(meanwhile, "mallory@example.org");
            handle.block_on(async { elsewhere(&mut *other.lock().await, call).await });
            Confirmation::Yes
        });
        session.client = InProcessClient::with(session.app.server(), Some(ask)).await.unwrap();
        assert_eq!(session.error(tool, call).await, expected);
        assert_eq!(titles(&mut session).await, before);
    }
}
