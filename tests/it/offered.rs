//! Limits of the access level in answers: answers mark events as movable only if the level allows
//! it, and say what the user must change before a named tool can be used.

use daysheet_core::provider::calendar::InvitationAnswer;
use daysheet_core::schemas::Service;
use serde_json::json;

use crate::common::fake_calendars::{CalendarHarness, guest};
use crate::reach::document;

const START: &str = "2036-02-05T09:00[Europe/Berlin]";

/// Creates an event organized by Bo, a meeting of Ana's with a guest, and an event without guests.
async fn with_settings(settings: &[(&str, &str)]) -> CalendarHarness {
    let harness = CalendarHarness::with(Service::Google, settings).await;
    let ana = harness.ana();
    ana.put("main/z", "Own", START, 60);
    let mut meeting = ana.put("main/b", "Meeting", START, 60);
    meeting.guests = vec![guest("bo@example.com", '+')];
    ana.set(meeting);
    let mut called = ana.put("main/c", "Call", START, 60);
    called.own = false;
    called.guests = vec![guest("bo@example.com", '+')];
    called.organizer = Some("bo@example.com".into());
    called.answer = Some(InvitationAnswer::Accepted);
    ana.set(called);
    harness
}

async fn at_level(access: &str) -> CalendarHarness {
    with_settings(&[("DAYSHEET_ACCESS", access)]).await
}

#[tokio::test]
async fn clashes_say_which_events_the_level_allows_to_move() {
    let first = "e1|Tue 2036-02-05 09h00|10h00|";
    let rows = |own: &str, meeting: &str| {
        let with = format!("e3 09h00 to 10h00 `Own` ({own}, main)");
        format!(
            "{first}Call|e2 09h00 to 10h00 `Meeting` ({meeting}, 1 guest, main), {with}|1|false|main\n  \
             e2|Tue 2036-02-05 09h00|10h00|Meeting|{with}|1|{}|main",
            meeting == "movable"
        )
    };
    let moving = "moving events";
    let note = |what: &str, needed: &str, level: &str| {
        format!(
            "{what} needs access `{needed}`, but this server has `{level}`: ask the user to start \
             it with --access {needed}"
        )
    };
    let people = "moving events with other people";
    for (level, expected, note) in cases! {
        "read", rows("not movable", "not movable"), Some(note(moving, "organize", "read"));
        "draft", rows("movable", "not movable"), Some(note(people, "send", "draft"));
        "send", rows("movable", "movable"), None;
    } {
        let harness = at_level(level).await;
        let call = json!({"q": "is:clash", "from": "2036-02-05", "to": "2036-02-05"});
        let blocks = harness.call("calendar_search", call).await.unwrap();
        let table = blocks[0].split_once("}:\n  ").unwrap().1;
        assert_eq!(table, expected, "{level}");
        let found = blocks[1].lines().find(|line| line.starts_with("moving"));
        assert_eq!(found, note.as_deref(), "{level}");
    }
}

#[tokio::test]
async fn later_events_of_a_clash_keep_guests_and_whether_they_are_movable() {
    let harness = CalendarHarness::with(Service::Google, &[("DAYSHEET_ACCESS", "send")]).await;
    let ana = harness.ana();
    ana.put("main/z", "Own", START, 60);
    for number in 0..18 {
        let title = format!("A title of more than forty columns, which are all the same {number}");
        let mut later = ana.put(&format!("main/b{number}"), &title, START, 30);
        later.guests = (0..12).map(|at| guest(&format!("g{at}@example.com"), '+')).collect();
        ana.set(later);
    }
    let call = json!({"q": "is:clash", "from": "2036-02-05", "to": "2036-02-05", "format": "json"});
    let answer = harness.json("calendar_search", call).await;
    let title = "`A title of more than forty…`";
    let later = (2..7).map(|at| format!("e{at} 09h00 to 09h30 {title} (movable, 12 guests, main)"));
    let later: Vec<_> = later.collect();
    assert_eq!(answer["clashes"][0]["with"], format!("{} +13", later.join(", ")));
}

#[tokio::test]
async fn tools_that_are_not_offered_are_named_with_what_to_change() {
    let save = json!({"id": "main/c", "notify": "none",
                      "events": [{"start": "2036-02-06 09h00"}]});
    let delete = json!({"id": "main/c", "message": "Sorry"});
    let theirs = "only the organizer of e1 can change its time: use calendar_respond, with \
                  `propose` for another time";
    let unsent = "e1 has another organizer: deleting it sends no message: use calendar_respond with \
                  response=decline and a comment";
    let respond = "; calendar_respond needs access `send`, but this server has `draft`: ask the \
                   user to start it with --access send";
    let off = "; calendar_respond is switched off here: ask the user to change --tools";
    for (settings, tool, call, expected) in cases! {
        [("DAYSHEET_ACCESS", "draft"), ("DAYSHEET_TOOLS", "")],
            "calendar_save", &save, format!("{theirs}{respond}");
        [("DAYSHEET_ACCESS", "draft"), ("DAYSHEET_TOOLS", "")],
            "calendar_delete", &delete, format!("{unsent}{respond}");
        [("DAYSHEET_ACCESS", "send"), ("DAYSHEET_TOOLS", "calendar_save")],
            "calendar_save", &save, format!("{theirs}{off}");
        [("DAYSHEET_ACCESS", "send"), ("DAYSHEET_TOOLS", "")],
            "calendar_save", &save, theirs.to_owned();
    } {
        let harness = with_settings(&settings).await;
        assert_eq!(harness.error(tool, call.clone()).await, expected, "{settings:?} {tool}");
    }
    // After a note that names a tool, a second note states the requirement.
    let harness = at_level("draft").await;
    let invitation = document("n@x.example", "ATTENDEE:mailto:ana@example.com\r\n")
        .replace("BEGIN:VEVENT", "METHOD:REQUEST\r\nBEGIN:VEVENT");
    let call = json!({"ics": invitation, "dry_run": true, "if_conflict": "ignore"});
    let blocks = harness.call("calendar_save", call).await.unwrap();
    assert_eq!(
        blocks[1],
        "this invites ana@example.com: calendar_respond answers it and notifies the organizer\n\
         dry run: nothing was written\n\
         calendar_respond needs access `send`, but this server has `draft`: ask the user to start \
         it with --access send"
    );
}
