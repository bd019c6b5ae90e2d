//! `calendar_save`: calls with more guests or events than are written at once. All other calls are in
//! `tests/transcripts/save.txt`.

use daysheet::cli::sandboxed::SandboxUser;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ME, Session};

/// Returns a call that creates an event with so many guests.
fn with_guests(count: usize) -> Value {
    let people: Vec<String> = (0..count).map(|at| format!("a{at}@example.com")).collect();
    json!({"events": [{"title": "T", "start": "2036-02-05 09h00", "people": people}],
           "notify": "all"})
}

#[tokio::test]
async fn too_many_guests_or_events_are_refused() {
    let mut session = Session::sample().await;
    // Writes are counted from here on.
    session.sandbox.set_faults("writes=1".parse().unwrap());
    assert_eq!(
        session.error("calendar_save", with_guests(201)).await,
        "201 people are too many for one event: Google takes at most 200: invite a group's \
         address instead"
    );
    let events = vec![json!({"title": "T", "start": "2036-02-05 09h00"}); 51];
    assert_eq!(
        session.error("calendar_save", json!({"events": events})).await,
        "51 events are more than 50: write them in several calls"
    );
    assert_eq!(session.sandbox.writes(), 0);

    let who = SandboxUser::These(&[("microsoft", ME)]);
    let mut session = Session::set(TempDir::new().unwrap(), &[], who).await;
    session.sandbox.set_faults("writes=1".parse().unwrap());
    assert_eq!(
        session.error("calendar_save", with_guests(251)).await,
        "251 people are too many for one event: one call adds at most 250, Outlook takes 500 in \
         all: invite a group's address instead"
    );
    assert_eq!(session.sandbox.writes(), 0);
}
