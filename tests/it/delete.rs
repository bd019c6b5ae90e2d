//! `calendar_delete`, over calendars in memory.

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event_time::EventTime;
use daysheet_core::provider::calendar::EventGuest;
use serde_json::json;

use crate::common::fake_calendars::{CalendarHarness, guest, repeat};

const ONE: &str = "main/w@20360212T0800Z";

/// Returns a harness with a meeting, an invitation, a series, and another organizer's series.
pub async fn harness() -> CalendarHarness {
    with(CalendarHarness::one().await)
}

/// Adds the events of [`harness`].
pub fn with(harness: CalendarHarness) -> CalendarHarness {
    let ana = harness.ana();
    ana.put("main/p", "Private", "2036-02-05T08:00[Europe/Berlin]", 30);
    let mut meeting = ana.put("main/m", "Meeting", "2036-02-05T09:00[Europe/Berlin]", 60);
    meeting.guests = vec![guest("bo@example.com", '+')];
    ana.set(meeting);
    let me = EventGuest { me: true, ..guest("ana@example.com", '?') };
    let mut invited = ana.put("main/i", "Invited", "2036-02-05T10:00[Europe/Berlin]", 60);
    invited.own = false;
    invited.guests = vec![me.clone(), guest("bo@example.com", '+')];
    ana.set(invited);
    let mut series = ana.put("main/w", "Weekly", "2036-02-05T09:00[Europe/Berlin]", 60);
    series.repeat = Some(repeat("FREQ=WEEKLY"));
    ana.set(series);
    let mut theirs = ana.put("main/y", "Theirs", "2036-02-05T11:00[Europe/Berlin]", 60);
    theirs.own = false;
    theirs.guests = vec![me];
    theirs.repeat = Some(repeat("FREQ=WEEKLY"));
    ana.set(theirs);
    ana.put("team/t", "Team", "2036-02-05T09:00[Europe/Berlin]", 60);
    harness
}

#[tokio::test]
async fn deleted_events_are_reported() {
    let cases = cases! {
        json!({"id": "main/p"}), "e1 Private|delete|done|Tue 2036-02-05 08h00 to 08h30",
            "delete main/p Nobody";
        json!({"id": "main/m", "notify": "external"}),
            "e1 Meeting|delete|done|Tue 2036-02-05 09h00 to 10h00\n--\n\
             notified of the cancellation, if elsewhere, so no undo: bo@example.com",
            "delete main/m External";
        json!({"id": "main/m", "notify": "none"}),
            "e1 Meeting|delete|done|Tue 2036-02-05 09h00 to 10h00\n--\n\
             no undo: other people take part in it\nguests were not notified",
            "delete main/m Nobody";
        json!({"id": ONE, "scope": "this"}),
            "e1 Weekly|delete|done|the occurrence Tue 2036-02-12 09h00 to 10h00",
            "delete main/w@20360212T0800Z Nobody";
        json!({"id": ONE, "scope": "following"}),
            "e2 Weekly|delete|done|from Tue 2036-02-12 09h00 on",
            "update main/w Nobody: repeat=FREQ=WEEKLY;UNTIL=20360212T075959Z";
        // "Following" from the first occurrence on is the whole series.
        json!({"id": "main/w@20360205T0800Z", "scope": "following"}),
            "e2 Weekly|delete|done|the whole series", "delete main/w Nobody";
        json!({"id": ONE, "scope": "series"}), "e2 Weekly|delete|done|the whole series",
            "delete main/w Nobody";
        json!({"id": "main/w", "scope": "series"}), "e1 Weekly|delete|done|the whole series",
            "delete main/w Nobody";
    };
    for (call, outcome, written) in cases {
        let harness = harness().await;
        assert_eq!(
            harness.ok("calendar_delete", call.clone()).await,
            format!("outcomes[1|]{{item|op|result|detail}}:\n  {outcome}"),
            "{call}"
        );
        assert_eq!(harness.written(), [written], "{call}");
    }
    // The message is sent if the service supports one.
    let call = || json!({"id": "main/m", "notify": "all", "message": "Sorry"});
    let at_google = harness().await;
    let refused = at_google.call("calendar_delete", call()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Google sends no message with a deletion: leave out `message`, and write to the \
         guests with mail_draft"
    );
    assert_eq!(at_google.written(), [""; 0]);
    let at_outlook = with(CalendarHarness::outlook().await);
    let blocks = at_outlook.call("calendar_delete", call()).await.unwrap();
    assert_eq!(blocks[1], "notified of the cancellation, so no undo: bo@example.com");
    assert_eq!(at_outlook.written(), ["delete main/m All \"Sorry\""]);
    // Deleting another organizer's event removes only the user's copy, whatever `notify` says.
    let cases = cases! {
        harness().await, "only your copy is deleted, which its organizer sees as declined";
        with(CalendarHarness::outlook().await),
            "only your copy is deleted, and nobody is notified; calendar_respond response=decline, \
             not a deletion, notifies the organizer";
    };
    for (harness, expected) in cases {
        for dry_run in [true, false] {
            let call = json!({"id": "main/i", "notify": "all", "dry_run": dry_run});
            let blocks = harness.call("calendar_delete", call).await.unwrap();
            let dry = if dry_run { "\ndry run: nothing was deleted" } else { "" };
            let expected = format!("no undo: other people take part in it\n{expected}{dry}");
            assert_eq!(blocks[1], expected);
        }
    }
}

/// A dry run names the people to be notified; a note about some of several events names those
/// events.
#[tokio::test]
async fn dry_run_of_a_deletion_names_the_notified() {
    let (would, dry) = ("would be notified of the cancellation", "dry run: nothing was deleted");
    let no_undo = "no undo: other people take part in it";
    let cases = cases! {
        json!({"ids": ["main/m"], "notify": "all"}),
            format!("{dry}\n{would}, so no undo: bo@example.com");
        json!({"ids": ["main/m"], "notify": "external"}),
            format!("{dry}\n{would}, if elsewhere, so no undo: bo@example.com");
        json!({"ids": ["main/m"], "notify": "none"}),
            format!("{no_undo}\n{dry}\nguests would not be notified");
        json!({"ids": ["main/p"]}), dry.to_owned();
        json!({"ids": ["main/p", "main/m", "main/i"], "notify": "all"}),
            format!(
                "e3: {no_undo}\ne3: only your copy is deleted, which its organizer sees as \
                 declined\n{dry}\n{would}, so no undo: bo@example.com"
            );
        json!({"ids": ["main/p", "main/m", "main/i"], "notify": "none"}),
            format!(
                "e1, e3: {no_undo}\ne3: only your copy is deleted, which its organizer sees as \
                 declined\n{dry}\nguests would not be notified"
            );
    };
    let harness = harness().await;
    for (mut call, expected) in cases {
        call["dry_run"] = true.into();
        let blocks = harness.call("calendar_delete", call.clone()).await.unwrap();
        assert_eq!(blocks[1], expected, "{call}");
    }
    assert_eq!(harness.written(), Vec::<String>::new());
    let outlook = with(CalendarHarness::outlook().await);
    let refused = cases! {
        json!({"id": "main/m", "notify": "none", "dry_run": true}), "this service tells everybody";
        json!({"ids": ["main/p", "main/m"], "notify": "none"}),
            "main/m: this service tells everybody";
    };
    outlook.refuses("calendar_delete", refused).await;
    assert_eq!(outlook.written(), Vec::<String>::new());
    // The call itself returns the same notes after the write.
    let call = json!({"ids": ["main/p", "main/m", "main/i"], "notify": "none"});
    let blocks = harness.call("calendar_delete", call).await.unwrap();
    assert_eq!(
        blocks[1],
        format!(
            "e1, e3: {no_undo}\ne3: only your copy is deleted, which its organizer sees as \
             declined\nguests were not notified"
        )
    );
}

#[tokio::test]
async fn several_events_are_deleted_in_one_call() {
    let several = || json!({"ids": ["main/p", "main/m", ONE], "scope": "this", "notify": "all"});
    let dry_run = json!({"ids": [ONE], "scope": "following", "dry_run": true});
    let twice = json!({"ids": [ONE, "main/w"], "scope": "series"});
    // Events with guests carry the message.
    let mut call = several();
    call["message"] = "Sorry".into();
    let outlook = with(CalendarHarness::outlook().await);
    let rows = "outcomes[3|]{item|op|result|detail}:\n  \
                e1 Private|delete|done|Tue 2036-02-05 08h00 to 08h30\n  \
                e2 Meeting|delete|done|Tue 2036-02-05 09h00 to 10h00\n  \
                e3 Weekly|delete|done|the occurrence Tue 2036-02-12 09h00 to 10h00\n--\n\
                notified of the cancellation, so no undo: bo@example.com";
    assert_eq!(outlook.ok("calendar_delete", call).await, rows);
    assert_eq!(
        outlook.written(),
        ["delete main/p All", "delete main/m All \"Sorry\"", "delete main/w@20360212T0800Z All"]
    );
    // All checks precede the first deletion; a dry run names the exceptions that would be lost.
    let harness = harness().await;
    let ana = harness.ana();
    let mut moved =
        ana.put("main/w@20360219T0800Z", "Weekly", "2036-02-20T09:00[Europe/Berlin]", 60);
    moved.series = Some("main/w".into());
    moved.uid = ana.get("main/w").unwrap().uid;
    moved.original = Some(EventTime::At("2036-02-19T08:00:00Z".parse().unwrap()));
    ana.set(moved);
    assert_eq!(
        harness.ok("calendar_delete", dry_run).await,
        "outcomes[1|]{item|op|result|detail}:\n  \
         e2 Weekly|delete|planned|\"from Tue 2036-02-12 09h00 on, with an occurrence changed \
         individually: Tue 2036-02-19 09h00 (moved to Wed 2036-02-20 09h00)\"\n--\n\
         dry run: nothing was deleted"
    );
    let cases = cases! {
        twice, "two of the ids mean e2: give one of them, or scope=this for single occurrences";
        json!({"ids": ["main/p", "main/gone"]}), "main/gone: e4 was deleted: search again";
        json!({"ids": ["main/p", "main/i"], "message": "Sorry"}),
            "e5 has another organizer: deleting it sends no message: use calendar_respond with \
             response=decline and a comment";
        json!({"ids": []}), "`ids` is missing";
    };
    harness.refuses("calendar_delete", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    // After an unknown outcome the remaining events are left alone.
    ana.fail([None, Some((Error::new(ErrorKind::Network, "the connection broke"), true))]);
    assert_eq!(
        harness.ok("calendar_delete", several()).await,
        "outcomes[3|]{item|op|result|detail}:\n  \
         e3 Private|delete|done|Tue 2036-02-05 08h00 to 08h30\n  \
         e6 Meeting|delete|unknown|\"the connection broke: it may have been done anyway, so search \
         before retrying\"\n  \
         e1 Weekly|delete|skipped|not written, because an earlier one failed"
    );
}

#[tokio::test]
async fn message_to_no_guests_is_noted() {
    for (dry_run, result, notes) in
        [(true, "planned", "\ndry run: nothing was deleted"), (false, "done", "")]
    {
        let harness = harness().await;
        let call = json!({"id": "main/p", "message": "Sorry", "dry_run": dry_run});
        assert_eq!(
            harness.ok("calendar_delete", call).await,
            format!(
                "outcomes[1|]{{item|op|result|detail}}:\n  e1 Private|delete|{result}|Tue \
                 2036-02-05 08h00 to 08h30\n--\nno guests, so nobody gets `message`{notes}"
            )
        );
    }
}

#[tokio::test]
async fn ambiguous_deletions_are_refused() {
    let harness = harness().await;
    let cases = cases! {
        json!({"id": ONE}),
            "e1 is an occurrence of a series: give scope=this, following or series";
        json!({"id": "main/w", "scope": "this"}),
            "e2 is the whole series, not an occurrence: give the id of an occurrence from \
             calendar_search, or scope=series";
        json!({"id": "main/m"}),
            "an event with guests needs `notify`: give notify=all, external or none";
        json!({"id": "main/m", "notify": "none", "message": "Sorry"}),
            "`message` needs notify=all: give notify=all, or leave out `message`";
        json!({"id": "main/i", "message": "Sorry"}),
            "e4 has another organizer: deleting it sends no message: use calendar_respond with \
             response=decline and a comment";
        json!({"id": "team/t"}),
            "e5 is in the read-only calendar Team: ask its owner for the change, or create your \
             own event";
        json!({"id": "main/gone"}), "e6 was deleted: search again";
    };
    harness.refuses("calendar_delete", cases).await;
    // The event has changed since it was shown.
    let ana = harness.ana();
    let call = json!({"id": "main/p", "events": [{"title": "Secret"}]});
    harness.ok("calendar_save", call).await;
    harness.written();
    ana.touch("main/p", |facts| facts.title = "Public".to_owned());
    assert_eq!(
        harness.error("calendar_delete", json!({"id": "e7"})).await,
        "e7 was changed since it was shown: it is now Tue 2036-02-05 08h00 to 08h30 Public: \
         nothing was written; call again if it is still right"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    // The outcome is unknown.
    ana.fail([Some((Error::new(ErrorKind::Network, "the connection broke"), true))]);
    assert_eq!(
        harness.ok("calendar_delete", json!({"id": "e7"})).await,
        "outcomes[1|]{item|op|result|detail}:\n  e7 Public|delete|unknown|\"the connection broke: \
         it may have been done anyway, so search before retrying\""
    );
    assert_eq!(harness.written(), ["delete main/p Nobody"]);
}
