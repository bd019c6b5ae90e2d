//! `manage` with kind=calendar, over calendars in memory.

use daysheet_core::call::client::Confirmation;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::schemas::Service;
use serde_json::{Value, json};

use crate::common::fake_calendars::CalendarHarness;
use crate::common::harness::FakeUser;

/// The setting that asks before every write that reaches other people also asks before permanent
/// deletion.
#[tokio::test]
async fn setting_has_deletion_of_a_calendar_approved() {
    let harness = CalendarHarness::with(Service::Google, &[("DAYSHEET_CONFIRM", "always")]).await;
    harness.ok("manage", json!({"kind": "calendar", "op": "create", "name": "Garden"})).await;
    harness.written();
    let nobody = FakeUser::says(Confirmation::Unavailable);
    for dry_run in [true, false] {
        let delete =
            json!({"kind": "calendar", "op": "delete", "id": "Garden", "dry_run": dry_run});
        let blocks = harness.call_as("manage", delete, &nobody).await.unwrap();
        let refused = "Garden|delete|refused|the settings require the user's approval, and this \
                       client cannot ask";
        assert!(blocks[0].ends_with(refused), "{}", blocks[0]);
    }
    assert_eq!(harness.written(), Vec::<String>::new());
}

#[tokio::test]
async fn calendar_is_deleted_after_the_user_confirms() {
    let expected = "Permanently delete the calendar Garden of ana@example.com with all its events? \
                    This cannot be undone.";
    for (reply, result, written) in [
        (Confirmation::Yes, "done|null", "Delete { id: \"garden\" }"),
        (Confirmation::No, "refused|the user declined", ""),
        (Confirmation::Unanswered, "refused|\"nobody confirmed: ask the user, and try again\"", ""),
        (Confirmation::Unavailable, "done|null", "Delete { id: \"garden\" }"),
    ] {
        let harness = CalendarHarness::one().await;
        let create = json!({"kind": "calendar", "op": "create", "name": "Garden"});
        harness.ok("manage", create).await;
        harness.written();
        let caller = FakeUser::says(reply);
        for dry_run in [true, false] {
            let delete =
                json!({"kind": "calendar", "op": "delete", "id": "Garden", "dry_run": dry_run});
            let blocks = harness.call_as("manage", delete, &caller).await.unwrap();
            let expected = vec![expected; usize::from(!dry_run)];
            assert_eq!(caller.questions(), expected);
            let head = "outcomes[1|]{item|op|result|detail}:\n  Garden|delete";
            let asks = match reply {
                Confirmation::Unavailable => {
                    "there is no undo, and this client cannot ask the user first"
                }
                _ => "the user will be asked first, and there is no undo",
            };
            let expected = if dry_run {
                format!(
                    "{head}|planned|\"with all its events, in ana@example.com: {asks}\"\n--\n\
                     dry run: nothing was written"
                )
            } else {
                format!("{head}|{result}")
            };
            assert_eq!(blocks.join("\n--\n"), expected);
        }
        assert_eq!(harness.written().join("\n"), written);
    }
}

#[tokio::test]
async fn calendars_are_created_renamed_and_deleted() {
    let harness = CalendarHarness::one().await;
    let call = |more: Value| crate::reach::with(json!({"kind": "calendar"}), more);
    let cases = cases! {
        json!({"op": "create", "name": "Garden", "dry_run": true}),
            "outcomes[1|]{item|op|result|detail}:\n  \
             Garden|create|planned|in ana@example.com\n--\n\
             dry run: nothing was written", None;
        json!({"op": "create", "name": "Garden"}),
            "calendars[1|]{id|name|access|main|zone}:\n  c1|Garden|owner|false|\"\"",
            Some("Create { name: \"Garden\", zone: None }");
        json!({"op": "rename", "id": "garden", "name": "Field"}),
            "calendars[1|]{id|name|access|main|zone}:\n  c1|Field|owner|false|\"\"",
            Some("Rename { id: \"garden\", name: \"Field\" }");
        json!({"op": "rename", "id": "c1", "name": "Field"}),
            "outcomes[1|]{item|op|result|detail}:\n  Field|rename|unchanged|already as requested", None;
        json!({"op": "delete", "id": "c1", "dry_run": true}),
            "outcomes[1|]{item|op|result|detail}:\n  Field|delete|planned|\"with all its events, \
             in ana@example.com: there is no undo, and this client cannot ask the user \
             first\"\n--\ndry run: nothing was written",
            None;
        json!({"op": "delete", "id": "Field"}),
            "outcomes[1|]{item|op|result|detail}:\n  Field|delete|done|null",
            Some("Delete { id: \"garden\" }");
        json!({"op": "rename", "id": "main", "name": "Diary"}),
            "calendars[1|]{id|name|access|main|zone}:\n  c2|main|owner|false|\"\"\n--\n\
             renamed to `Diary`; answers call it `main`",
            Some("Rename { id: \"main\", name: \"Diary\" }");
        json!({"op": "rename", "id": "Diary", "name": "Diary"}),
            "outcomes[1|]{item|op|result|detail}:\n  main|rename|unchanged|already as requested", None;
    };
    for (more, expected, written) in cases {
        let answer = harness.ok("manage", call(more.clone())).await;
        assert_eq!(answer, expected, "{more}");
        assert_eq!(harness.written(), written.into_iter().collect::<Vec<_>>(), "{more}");
    }
    let cases = cases! {
        json!({"op": "delete", "id": "Diary"}),
            "the main calendar cannot be deleted: delete its events, or another calendar";
        json!({"op": "delete", "id": "Work"}),
            "the calendar Work is not yours: ask its owner to delete it";
        json!({"op": "delete", "id": "Fiel"}),
            "there is no calendar `Fiel`: use one of: main (c2), Work (c3)";
        json!({"op": "delete"}),
            "`op: delete` needs `id`: give the calendar's name or id, from lookup kind=calendars";
        json!({"op": "rename", "id": "main"}), "`name` is missing: give the calendar's name";
        json!({"op": "create", "name": "work"}),
            "a calendar called work already exists: choose another name";
        json!({"op": "create", "name": "Main"}),
            "a calendar called Main already exists: choose another name";
        json!({"op": "create", "name": "New", "tz": "Xyzzy"}),
            "there is no time zone `Xyzzy`: use an IANA name: `Europe/Berlin`, `America/New_York`, \
             `UTC`";
        json!({"op": "create", "id": "c1", "name": "New"}),
            "`id` is for an existing calendar: give the new one's name as `name`";
    };
    let cases = cases.map(|(more, expected)| (call(more), expected));
    harness.refuses("manage", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    harness.ana().fail([Some((Error::new(ErrorKind::Network, "the connection broke"), false))]);
    assert_eq!(
        harness.ok("manage", call(json!({"op": "create", "name": "New"}))).await,
        "outcomes[1|]{item|op|result|detail}:\n  New|create|unknown|\"the connection broke: it may \
         have been done anyway, so search before retrying\""
    );
}
