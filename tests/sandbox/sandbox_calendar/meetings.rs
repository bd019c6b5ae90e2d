//! Meetings of two people of the sandbox: invitations, answers, changes.

use super::*;

/// Returns Zoe's copy of an event, or `None` if it is missing or cancelled.
async fn copy(zoe: &User, id: &str) -> Option<Value> {
    let (status, event) = zoe.call("GET", &format!("{EVENTS}/{id}"), Value::Null).await;
    (status == 200 && event["status"] != "cancelled").then_some(event)
}

fn invitation(id: &str) -> Value {
    with(
        meeting("Plan", "2026-02-03T09:00:00", "2026-02-03T10:00:00"),
        json!({
            "id": id, "colorId": "4", "reminders": { "useDefault": false },
            "attendees": [{ "email": ZOE, "displayName": "Zoe" }, { "email": "out@example.org" }],
        }),
    )
}

#[tokio::test]
async fn answer_reaches_the_organizers_copy() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let zoe = signed_in(&sandbox, ZOE).await;
    // Who is not told does not know.
    mira.post(&format!("{EVENTS}?sendUpdates=none"), invitation("quiet")).await;
    assert_eq!(copy(&zoe, "quiet").await, None);
    mira.post(&format!("{EVENTS}?sendUpdates=all"), invitation("plan1")).await;
    let got = copy(&zoe, "plan1").await.unwrap();
    assert_eq!(
        steady(got),
        json!({
            "kind": "calendar#event", "etag": "E", "id": "plan1", "status": "confirmed",
            "htmlLink": "plan1 zoe@example.com", "created": "T", "updated": "T", "summary": "Plan",
            "creator": { "email": MIRA }, "organizer": { "email": MIRA },
            "start": { "dateTime": "2026-02-03T09:00:00+01:00", "timeZone": "Europe/Berlin" },
            "end": { "dateTime": "2026-02-03T10:00:00+01:00", "timeZone": "Europe/Berlin" },
            "iCalUID": "plan1@google.com", "sequence": 0,
            "attendees": [
                { "email": ZOE, "displayName": "Zoe", "self": true,
                  "responseStatus": "needsAction" },
                { "email": "out@example.org", "responseStatus": "needsAction" },
            ],
            "reminders": { "useDefault": true }, "eventType": "default",
        })
    );

    // The answer and a word go back; the answer of others is not hers to give.
    let event = format!("{EVENTS}/plan1");
    let answer = json!({ "attendees": [
        { "email": ZOE, "responseStatus": "tentative", "comment": "if the train comes" },
        { "email": "out@example.org", "responseStatus": "accepted" },
    ] });
    let answered = zoe.patch(&event, answer).await;
    let expected = json!([
        { "email": ZOE, "displayName": "Zoe", "self": true, "responseStatus": "tentative",
          "comment": "if the train comes" },
        { "email": "out@example.org", "responseStatus": "needsAction" },
    ]);
    assert_eq!(answered["attendees"], expected);
    let at_home = mira.json(&event).await;
    assert_eq!(at_home["attendees"][0]["responseStatus"], "tentative");
    assert_eq!(at_home["attendees"][0]["comment"], "if the train comes");
    assert_eq!(at_home["attendees"][0]["self"], Value::Null);
    assert_eq!(at_home["attendees"][1]["responseStatus"], "needsAction");
    // Only her own entry, the rest left out.
    let alone = json!({
        "attendeesOmitted": true, "attendees": [{ "email": ZOE, "responseStatus": "accepted" }],
    });
    zoe.patch(&event, alone).await;
    let at_home = mira.json(&event).await;
    assert_eq!(at_home["attendees"][0]["responseStatus"], "accepted");
    assert_eq!(at_home["attendees"].as_array().unwrap().len(), 2);

    // What all share is the organizer's; the rest is everybody's own.
    for change in [
        json!({ "summary": "Mine" }),
        json!({ "location": "Mine" }),
        json!({ "start": { "dateTime": "2026-02-03T08:00:00+01:00" } }),
        json!({ "recurrence": ["RRULE:FREQ=DAILY"] }),
    ] {
        let refused = zoe.refused("PATCH", &event, change).await;
        let message = "Shared properties can only be changed by the organizer of the event.";
        let expected = (403, "forbiddenForNonOrganizer".to_owned(), message.to_owned());
        assert_eq!(refused, expected);
    }
    let own = json!({ "colorId": "9", "reminders": {
        "useDefault": false, "overrides": [{ "method": "popup", "minutes": 30 }] } });
    let hers = zoe.patch(&event, own).await;
    assert_eq!(mira.json(&event).await["colorId"], "4");

    // A new time follows, whoever is told; what is her own stays.
    let later = json!({
        "start": { "dateTime": "2026-02-03T11:00:00+01:00" },
        "end": { "dateTime": "2026-02-03T12:00:00+01:00" },
    });
    mira.patch(&event, later).await;
    let follows = copy(&zoe, "plan1").await.unwrap();
    assert_eq!(follows["start"]["dateTime"], "2026-02-03T11:00:00+01:00");
    assert_eq!(follows["sequence"], 1);
    assert_eq!(
        (&follows["colorId"], &follows["reminders"]),
        (&hers["colorId"], &hers["reminders"])
    );
    assert_eq!(follows["attendees"][0]["responseStatus"], "accepted");

    // She asks somebody along.
    let more = json!({ "attendees": [
        { "email": ZOE, "responseStatus": "accepted" },
        { "email": "friend@example.org" },
    ] });
    zoe.patch(&format!("{event}?sendUpdates=all"), more).await;
    let invitation = mira.json(&event).await;
    assert_eq!(
        each(invitation["attendees"].as_array().unwrap(), "/email"),
        [ZOE, "out@example.org", "friend@example.org"]
    );

    // Not asked any more, and asked again.
    mira.patch(&event, json!({ "attendees": [{ "email": "out@example.org" }] })).await;
    assert_eq!(copy(&zoe, "plan1").await, None);
    let again = json!({ "attendees": [{ "email": ZOE }] });
    mira.patch(&format!("{event}?sendUpdates=all"), again).await;
    let again = copy(&zoe, "plan1").await.unwrap();
    assert_eq!(again["attendees"][0]["responseStatus"], "needsAction");

    // She deletes it, which declines; it does not come back by a new title.
    zoe.delete(&event).await;
    assert_eq!(mira.json(&event).await["attendees"][0]["responseStatus"], "declined");
    mira.patch(&format!("{event}?sendUpdates=all"), json!({ "summary": "Plan B" })).await;
    assert_eq!(copy(&zoe, "plan1").await, None);
}

#[tokio::test]
async fn single_occurrences_are_answered_and_changed() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let zoe = signed_in(&sandbox, ZOE).await;
    let series = with(invitation("circle"), json!({ "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=4"] }));
    mira.post(EVENTS, series).await;
    // The second occurrence differs before anybody is told of the series.
    let second = format!("{EVENTS}/circle_20260210T080000Z");
    mira.patch(&second, json!({ "summary": "Plan, with cake" })).await;
    let weekly = format!("{EVENTS}/circle");
    mira.patch(&format!("{weekly}?sendUpdates=all"), json!({ "location": "Loft" })).await;
    let titles = |all: &[Value]| each(all, "/summary").join(", ");
    assert_eq!(titles(&zoe.year(2026).await), "Plan, Plan, with cake, Plan, Plan");

    // Yes to all, no to the third.
    let say = |answer: &str| json!({ "attendees": [{ "email": ZOE, "responseStatus": answer }] });
    zoe.patch(&weekly, say("accepted")).await;
    zoe.patch(&format!("{EVENTS}/circle_20260217T080000Z"), say("declined")).await;
    for user in [&mira, &zoe] {
        assert_eq!(
            each(&user.year(2026).await, "/attendees/0/responseStatus"),
            ["accepted", "accepted", "declined", "accepted"]
        );
    }
    // The organizer cancels one, and moves one.
    mira.delete(&format!("{EVENTS}/circle_20260203T080000Z?sendUpdates=all")).await;
    let moved = json!({
        "start": { "dateTime": "2026-02-25T09:00:00+01:00" },
        "end": { "dateTime": "2026-02-25T10:00:00+01:00" },
    });
    mira.patch(&format!("{EVENTS}/circle_20260224T080000Z"), moved).await;
    for user in [&mira, &zoe] {
        assert_eq!(
            each(&user.year(2026).await, "/start/dateTime"),
            ["2026-02-10T09:00:00+01:00", "2026-02-17T09:00:00+01:00", "2026-02-25T09:00:00+01:00"]
        );
    }
    // Of one occurrence she is not asked any more; and of another meeting she
    // is asked for one occurrence only.
    let without = json!({ "attendees": [{ "email": "out@example.org" }] });
    mira.patch(&format!("{EVENTS}/circle_20260217T080000Z"), without).await;
    assert_eq!(
        each(&zoe.year(2026).await, "/id"),
        ["circle_20260210T080000Z", "circle_20260224T080000Z",]
    );
    let own = with(
        meeting("Own", "2026-06-01T09:00:00", "2026-06-01T10:00:00"),
        json!({ "id": "solo0", "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"] }),
    );
    mira.post(EVENTS, own).await;
    let guest = json!({ "attendees": [{ "email": ZOE }] });
    mira.patch(&format!("{EVENTS}/solo0_20260602T070000Z?sendUpdates=all"), guest.clone()).await;
    let hers = zoe.year(2026).await;
    assert_eq!(each(&hers, "/id")[2..], ["solo0_20260602T070000Z"]);
    assert_eq!(hers[2]["recurringEventId"], "solo0");
    let yes = json!({ "attendees": [{ "email": ZOE, "responseStatus": "accepted" }] });
    zoe.patch(&format!("{EVENTS}/solo0_20260602T070000Z"), yes).await;
    let at_home = mira.json(&format!("{EVENTS}/solo0_20260602T070000Z")).await;
    assert_eq!(at_home["attendees"][0]["responseStatus"], "accepted");
    // A change of the series does not take it away; to be asked to the series
    // does not ask to occurrences that differ and do not ask.
    mira.patch(&format!("{EVENTS}/solo0"), json!({ "location": "Loft" })).await;
    assert_eq!(each(&zoe.year(2026).await, "/id").len(), 3);
    let third = format!("{EVENTS}/solo0_20260603T070000Z");
    mira.patch(&third, json!({ "summary": "Alone" })).await;
    mira.patch(&format!("{EVENTS}/solo0?sendUpdates=all"), guest).await;
    assert_eq!(
        each(&zoe.year(2026).await, "/id")[2..],
        ["solo0_20260601T070000Z", "solo0_20260602T070000Z"]
    );
    mira.patch(&format!("{EVENTS}/solo0"), json!({ "attendees": [] })).await;
    assert_eq!(each(&zoe.year(2026).await, "/id")[2..], ["solo0_20260602T070000Z"]);
    let first = mira.json(&format!("{EVENTS}/solo0_20260601T070000Z")).await;
    assert_eq!(first["attendees"], Value::Null);
}

#[tokio::test]
async fn busy_times_cover_all_visible_calendars() {
    let sandbox = sandbox().await;
    let mira = signed_in(&sandbox, MIRA).await;
    let zoe = signed_in(&sandbox, ZOE).await;
    let other = mira.post("calendars", json!({ "summary": "Kiln" })).await;
    let kiln = other["id"].as_str().unwrap();
    let at = |start: &str, end: &str| {
        let day = |time: &str| format!("2026-02-03T{time}:00");
        meeting("x", &day(start), &day(end))
    };
    for body in [
        at("09:00", "10:00"),
        at("09:30", "11:00"),
        at("11:00", "11:30"),
        with(at("14:00", "15:00"), json!({ "transparency": "transparent" })),
        with(at("16:00", "17:00"), json!({ "status": "tentative" })),
        with(at("07:00", "08:30"), json!({ "recurrence": ["RRULE:FREQ=DAILY;COUNT=2"] })),
    ] {
        mira.post(EVENTS, body).await;
    }
    mira.post(
        &format!("calendars/{kiln}/events"),
        json!({ "start": { "date": "2026-02-04" }, "end": { "date": "2026-02-05" } }),
    )
    .await;
    // What Zoe has declined does not keep her busy.
    for (id, answer) in [("asked", "needsAction"), ("gone0", "declined")] {
        let body = with(invitation(id), json!({ "attendees": [{ "email": ZOE }] }));
        mira.post(&format!("{EVENTS}?sendUpdates=all"), body).await;
        let say = json!({ "attendees": [{ "email": ZOE, "responseStatus": answer }] });
        zoe.patch(&format!("{EVENTS}/{id}"), say).await;
        let later = |time: &str| json!({ "dateTime": format!("2026-02-03T{time}:00+01:00") });
        let (start, end) = if id == "asked" { ("18:00", "19:00") } else { ("20:00", "21:00") };
        let moved = json!({ "start": later(start), "end": later(end) });
        mira.patch(&format!("{EVENTS}/{id}"), moved).await;
    }
    let ask = json!({
        "timeMin": "2026-02-03T07:30:00+01:00", "timeMax": "2026-02-04T12:00:00+01:00",
        "timeZone": "Europe/Berlin",
        "items": [{ "id": "primary" }, { "id": kiln }, { "id": ZOE }, { "id": "no@example.org" }],
    });
    let answer = mira.post("freeBusy", ask).await;
    let slot = |day: &str, from: &str, to: &str| {
        json!({
            "start": format!("2026-02-{day}T{from}:00+01:00"),
            "end": format!("2026-02-{day}T{to}:00+01:00"),
        })
    };
    assert_eq!(
        answer,
        json!({
            "kind": "calendar#freeBusy", "timeMin": "2026-02-03T06:30:00.000Z",
            "timeMax": "2026-02-04T11:00:00.000Z",
            "calendars": {
                "primary": {
                    "busy": [
                        slot("03", "07:30", "08:30"), slot("03", "09:00", "11:30"),
                        slot("03", "16:00", "17:00"), slot("03", "18:00", "19:00"),
                        slot("03", "20:00", "21:00"), slot("04", "07:00", "08:30"),
                    ],
                },
                (kiln): { "busy": [slot("04", "00:00", "12:00")] },
                (ZOE): { "busy": [slot("03", "18:00", "19:00")] },
                "no@example.org": {
                    "errors": [{ "domain": "global", "reason": "notFound" }], "busy": [],
                },
            },
        })
    );
    // Zoe does not know of Mira's other calendar.
    let ask = json!({
        "timeMin": "2026-02-04T00:00:00Z", "timeMax": "2026-02-04T01:00:00Z",
        "items": [{ "id": kiln }, { "id": ZOE }], "calendarExpansionMax": 1,
    });
    let answer = zoe.post("freeBusy", ask).await;
    assert_eq!(answer["calendars"][kiln]["errors"][0]["reason"], "notFound");
    assert_eq!(answer["calendars"][ZOE]["errors"][0]["reason"], "tooManyCalendarsRequested");
}
