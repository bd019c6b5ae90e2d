//! `calendar_respond`, over calendars in memory.

use daysheet_core::error::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::common::fake_calendars::CalendarHarness;
use crate::delete::{harness, with};

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
