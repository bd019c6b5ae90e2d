//! `calendar_delete`, `calendar_respond` and `manage`, over calendars in memory.

use daysheet_core::call::client::Confirmation;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event_time::EventTime;
use daysheet_core::provider::calendar::EventGuest;
use daysheet_core::schemas::Service;
use serde_json::{Value, json};

use crate::common::fake_calendars::{CalendarHarness, guest, repeat};
use crate::common::harness::FakeUser;

const ONE: &str = "main/w@20360212T0800Z";

/// Returns a harness with a meeting, an invitation, a series, and another organizer's series.
async fn harness() -> CalendarHarness {
    with(CalendarHarness::one().await)
}

fn with(harness: CalendarHarness) -> CalendarHarness {
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
    moved.series = Some("main/w".to_owned());
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

#[tokio::test]
async fn invitation_is_answered() {
    let row = |answer: &str| {
        format!(
            "zone: Europe/Berlin\n\
             events[1|]{{id|start|end|title|where|organizer|people|flags}}:\n  \
             e1|Tue 2036-02-05 10h00|11h00|Invited|\"\"|ana@example.com|me{answer} bo+|\"\""
        )
    };
    let noted = |answer: &str, note: &str| format!("{}\n--\n{note}", row(answer));
    let sent = "the organizer was sent the answer; to change it, answer again";
    let cases = cases! {
        json!({"id": "main/i", "response": "accept"}), noted("+", sent), "respond main/i Accepted";
        json!({"id": "main/i", "response": "decline", "comment": "Away"}),
            noted("-", &sent.replace("answer;", "answer and the comment;")),
            "respond main/i Declined \"Away\"";
        json!({"id": "main/i", "response": "tentative", "notify": "none"}),
            noted("~", "the organizer was not notified"),
            "respond main/i Tentative quietly";
        json!({"id": "main/i", "response": "tentative", "propose": "2036-02-06 10h00"}),
            noted("~", &format!("proposed: Wed 2036-02-06 10h00 to 11h00\n{sent}")),
            "respond main/i Tentative 2036-02-06T09:00:00Z/2036-02-06T10:00:00Z";
        json!({"id": "main/i", "response": "decline", "propose": "14:00 / 14:30"}),
            noted("-", &format!("proposed: Tue 2036-02-05 14h00 to 14h30\n{sent}")),
            "respond main/i Declined 2036-02-05T13:00:00Z/2036-02-05T13:30:00Z";
        json!({"id": "main/i", "response": "forward", "to": ["Cy <cy@example.com>", "di@example.com"],
               "comment": "For you"}),
            "outcomes[1|]{item|op|result|detail}:\n  \
             e1 Invited|forward|done|to cy@example.com, di@example.com"
                .to_owned(), "forward main/i cy@example.com,di@example.com \"For you\"";
    };
    for (call, answer, written) in cases {
        let harness = harness().await;
        assert_eq!(harness.ok("calendar_respond", call.clone()).await, answer, "{call}");
        assert_eq!(harness.written(), [written], "{call}");
        if call.as_object().unwrap().len() == 2 {
            assert_eq!(
                harness.ok("calendar_respond", call).await,
                "outcomes[1|]{item|op|result|detail}:\n  e1 Invited|accept|unchanged|\"already as \
                 requested: give a comment to notify the organizer\""
            );
            assert_eq!(harness.written(), Vec::<String>::new());
        }
    }
    // A recurring invitation, in part or as a whole.
    for (id, scope, written) in [
        ("main/y@20360212T1000Z", json!("this"), "respond main/y@20360212T1000Z Accepted"),
        ("main/y@20360212T1000Z", json!("series"), "respond main/y Accepted"),
        ("main/y", Value::Null, "respond main/y Accepted"),
    ] {
        let harness = harness().await;
        let call = json!({"id": id, "response": "accept", "scope": scope});
        harness.ok("calendar_respond", call).await;
        assert_eq!(harness.written(), [written]);
    }
    // Outlook removes a declined event from the calendar.
    let at_outlook = with(CalendarHarness::outlook().await);
    let call = json!({"id": "main/i", "response": "decline"});
    assert_eq!(
        at_outlook.ok("calendar_respond", call).await,
        "outcomes[1|]{item|op|result|detail}:\n  e1 Invited|decline|done|it is no longer in \
         the calendar, and only a new invitation brings it back\n--\n\
         the organizer was sent the answer"
    );
}

#[tokio::test]
async fn events_without_invitation_cannot_be_answered() {
    let harness = harness().await;
    let cases = cases! {
        json!({"id": "main/m", "response": "accept"}),
            "e1 is your own event: there is nobody to answer: change it with calendar_save, or \
             cancel it with calendar_delete";
        json!({"id": "main/y@20360212T1000Z", "response": "accept"}),
            "e2 is an occurrence of a series: give scope=this or series";
        json!({"id": "main/y", "response": "accept", "scope": "this"}),
            "e3 is the whole series, not an occurrence: give the id of an occurrence, or \
             scope=series";
        json!({"id": "main/i", "response": "accept", "propose": "2036-02-06 10h00"}),
            "`propose` asks for another time, but accept agrees to this one: use \
             response=tentative or decline";
        json!({"id": "main/i", "response": "tentative", "propose": "2036-02-06"}),
            "`propose`: the event has a time, but `start` is only a day: write start/end with \
             times, such as 2026-02-03 18h05/19h05";
        json!({"id": "main/i", "response": "tentative", "propose": "2036-02-06 10h00/2036-02-06 09h00"}),
            "`propose`: the event would end before it starts: Wed 2036-02-06 10h00 to 09h00: write \
             start/end with times, such as 2026-02-03 18h05/19h05";
        json!({"id": "main/i", "response": "tentative", "propose": "2020-02-06 10h00"}),
            "`propose` is in the past: give a future time";
        json!({"id": "main/i", "response": "tentative", "comment": "Hm", "notify": "none"}),
            "a comment or proposal reaches nobody with notify=none: leave out `notify`: an answer \
             reaches only the organizer";
        json!({"id": "main/i", "response": "forward", "to": ["cy"]}),
            "`to` `cy`: `cy` is not an address: give an address, and quote a name with a comma: \
             \"Lindqvist, Mira\" <mira@example.com>";
        json!({"id": "main/i", "response": "forward"}),
            "forwarding needs `to`: give addresses in `to`";
        json!({"id": "main/i", "response": "accept", "to": ["cy@example.com"]}),
            "`to` is for response=forward: leave it out: the organizer gets the answer";
    };
    harness.refuses("calendar_respond", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    let broken = Error::new(ErrorKind::Timeout, "no answer");
    harness.ana().fail([Some((broken, true))]);
    let call = json!({"id": "e4", "response": "accept"});
    assert_eq!(
        harness.ok("calendar_respond", call).await,
        "outcomes[1|]{item|op|result|detail}:\n  e4 Invited|accept|unknown|\"no answer: it may \
         have been done anyway, so search before retrying\""
    );
}

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
