//! Token cost of a table of events, over the sample calendars of both providers.

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::budget::count::tokens;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{Session, column};

/// The columns that are shown by default.
const COLUMNS: [&str; 8] = ["id", "start", "end", "title", "where", "organizer", "people", "flags"];

/// Eleven events of busy weeks, including attendees, take at most 540 tokens, and at most 60 % of
/// compact JSON of the same columns with the provider's ids.
#[tokio::test]
async fn eleven_events_cost_few_tokens() {
    let sign_ins: [&'static [(&str, &str)]; 2] =
        [&[("google", "mira@example.com")], &[("microsoft", "mira@example.com")]];
    for who in sign_ins {
        let home = TempDir::new().unwrap();
        let mut session = Session::signed_in(home, None, SandboxUser::These(who)).await;
        let arguments = json!({"from": "2026-11-16", "to": "2026-12-31", "limit": 11,
                           "fields": COLUMNS});
        let table = session.ok("calendar_search", arguments.clone()).await;
        let document = session.json("calendar_search", arguments).await;
        let mut rows = document["events"].clone();
        for row in rows.as_array_mut().unwrap() {
            row["id"] = row["provider_id"].take();
            row.as_object_mut().unwrap().remove("provider_id");
        }
        let people = column(&document, "events", "people");
        assert_eq!(people.len(), 11);
        assert!(people.iter().any(|people| people.contains("yusuf+ runa?")));
        let ours = tokens(&table[0]);
        let theirs = json!({"zone": document["zone"], "next": document["next"], "events": rows});
        let theirs = tokens(&theirs.to_string());
        let share = ours * 100 / theirs;
        assert!(ours <= 540, "{who:?}: {ours} tokens\n{}", table[0]);
        assert!(share <= 60, "{who:?}: {ours} of {theirs} tokens");
    }
}
