//! Series, their occurrences, and exceptions.

use serde_json::{Value, json};

use super::changes::round;
use super::{ANA, SCOPES, at, made, mira, people, refused, with};
use crate::common::client::{User, form};
use crate::graph_client::{column, text};

/// Returns a series that begins on Monday, 2 March 2026, in Berlin.
fn series(pattern: Value, range: Value) -> Value {
    let range = with(json!({ "startDate": "2026-03-02" }), range);
    json!({
        "subject": "Sync",
        "start": { "dateTime": "2026-03-02T09:00:00", "timeZone": "Europe/Berlin" },
        "end": { "dateTime": "2026-03-02T09:30:00", "timeZone": "Europe/Berlin" },
        "recurrence": { "pattern": pattern, "range": range },
    })
}

fn weekly() -> Value {
    series(
        json!({ "type": "weekly", "interval": 1, "daysOfWeek": ["monday", "Thursday"], "firstDayOfWeek": "monday" }),
        json!({ "type": "numbered", "numberOfOccurrences": 10 }),
    )
}

/// Returns the starts of a list of events.
fn starts(events: &[Value]) -> Vec<&str> {
    events.iter().map(|it| &text(&it["start"]["dateTime"])[..16]).collect()
}

/// Returns the calendar view of March and April 2026, in Berlin time.
async fn spring(user: &User) -> Vec<Value> {
    let path = "me/calendarView?startDateTime=2026-03-01T00:00:00Z\
                &endDateTime=2026-05-01T00:00:00Z&%24top=100";
    let reply = user.prefer(path, "outlook.timezone=\"Europe/Berlin\"").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["value"].as_array().unwrap().clone()
}

#[tokio::test]
async fn series_expand_with_their_exceptions() {
    let (_dir, sandbox, user) = mira().await;
    let ana = User::at_graph(sandbox.base(), ANA, SCOPES).await;
    let master =
        made(&user, "me/events", with(weekly(), json!({ "attendees": people(&[ANA]) }))).await;
    let id = text(&master["id"]).to_owned();
    assert_eq!(
        (&master["type"], &master["seriesMasterId"]),
        (&json!("seriesMaster"), &Value::Null)
    );
    assert_eq!(
        master["recurrence"],
        json!({
            "pattern": {
                "type": "weekly", "interval": 1, "month": 0, "dayOfMonth": 0,
                "daysOfWeek": ["monday", "thursday"], "firstDayOfWeek": "monday", "index": "first",
            },
            "range": {
                "type": "numbered", "startDate": "2026-03-02", "endDate": "0001-01-01",
                "recurrenceTimeZone": "W. Europe Standard Time", "numberOfOccurrences": 10,
            },
        })
    );
    // Nine o'clock on both sides of the clocks' change.
    let shown = spring(&user).await;
    assert_eq!(
        starts(&shown),
        [
            "2026-03-02T09:00", "2026-03-05T09:00", "2026-03-09T09:00", "2026-03-12T09:00",
            "2026-03-16T09:00", "2026-03-19T09:00", "2026-03-23T09:00", "2026-03-26T09:00",
            "2026-03-30T09:00", "2026-04-02T09:00",
        ]
    );
    let third = &shown[2];
    assert_eq!((&third["type"], &third["seriesMasterId"]), (&json!("occurrence"), &json!(id)));
    assert_eq!(third["originalStart"], "2026-03-09T08:00:00Z");
    assert_eq!(third["recurrence"], Value::Null);
    let uids: std::collections::BTreeSet<&str> =
        shown.iter().map(|it| text(&it["iCalUId"])).collect();
    assert_eq!(uids.len(), 10);
    assert!(text(&third["iCalUId"]).starts_with("040000008200E00074C5B7101A82E00807EA0309"));
    let uid = form([("$filter", format!("iCalUId eq '{}'", text(&master["iCalUId"])).as_str())]);
    assert_eq!(column(&user.json(&format!("me/events?{uid}")).await, "type"), ["seriesMaster"]);

    // An occurrence by its id, in both forms.
    let one = user.prefer(&at(third), "outlook.timezone=\"Europe/Berlin\"").await.json();
    assert_eq!(one["start"], third["start"]);
    assert_eq!(text(&third["id"]).len(), 168);
    let immutable = user.prefer(&at(third), "IdType=\"ImmutableId\"").await.json();
    assert_eq!(user.json(&at(&immutable)).await["originalStart"], "2026-03-09T08:00:00Z");
    let range = "startDateTime=2026-03-08&endDateTime=2026-03-14";
    let list = user.json(&format!("{}/instances?{range}", at(&master))).await;
    assert_eq!(list["value"].as_array().unwrap().len(), 2);
    assert_eq!(list["value"][0]["id"], third["id"]);
    let list = user.json(&format!("{}/instances?{range}", at(third))).await;
    assert_eq!(list["value"], json!([]));
    assert_eq!(
        refused(&user.get(&format!("{}/instances", at(&master))).await).1,
        "ErrorInvalidParameter"
    );

    // The links of changes: the series whole, its occurrences with their times.
    let delta = "me/calendarView/delta?startDateTime=2026-03-01&endDateTime=2026-03-10";
    let (entries, link) = round(&user, delta, 3).await;
    let kinds: Vec<&str> = entries.iter().map(|it| text(&it["type"])).collect();
    assert_eq!(kinds, ["seriesMaster", "occurrence", "occurrence", "occurrence"]);
    assert_eq!(
        entries[3],
        json!({
            "@odata.type": "#microsoft.graph.event", "@odata.etag": third["@odata.etag"],
            "seriesMasterId": id, "type": "occurrence", "id": third["id"],
            "start": { "dateTime": "2026-03-09T08:00:00.0000000", "timeZone": "UTC" },
            "end": { "dateTime": "2026-03-09T08:30:00.0000000", "timeZone": "UTC" },
        })
    );

    // One that differs keeps its id; one that is deleted is gone.
    let late = json!({
        "subject": "Late",
        "start": { "dateTime": "2026-03-10T11:00:00", "timeZone": "Europe/Berlin" },
        "end": { "dateTime": "2026-03-10T11:30:00", "timeZone": "Europe/Berlin" },
    });
    let changed = user.write("PATCH", &at(third), &[], &late).await.json();
    assert_eq!((&changed["id"], &changed["type"]), (&third["id"], &json!("exception")));
    assert_eq!(changed["originalStart"], "2026-03-09T08:00:00Z");
    let reply = user.write("DELETE", &at(&shown[1]), &[], &Value::Null).await;
    assert_eq!(reply.status, 204);
    let now = spring(&user).await;
    assert_eq!(starts(&now)[..3], ["2026-03-02T09:00", "2026-03-10T11:00", "2026-03-12T09:00"]);
    assert_eq!(
        column(&json!({ "value": now }), "type")[..3],
        ["occurrence", "exception", "occurrence"]
    );
    assert_eq!(now.len(), 9);
    // Ana's is cancelled, and then out.
    let theirs = spring(&ana).await;
    assert_eq!((theirs.len(), &theirs[1]["isCancelled"]), (10, &json!(true)));
    assert_eq!(theirs[1]["type"], "exception");
    assert_eq!(ana.json(&at(&theirs[1])).await["subject"], "Canceled: Sync");
    let reply = ana.write("DELETE", &at(&theirs[1]), &[], &Value::Null).await;
    assert_eq!(reply.status, 204);
    assert_eq!(starts(&spring(&ana).await), starts(&now));
    assert_eq!(refused(&user.get(&at(&shown[1])).await), (404, "ErrorItemNotFound".to_owned()));
    let whole = user.json(&format!("{}?%24select=cancelledOccurrences", at(&master))).await;
    assert_eq!(whole["cancelledOccurrences"], json!([format!("OID.{id}.2026-03-05")]));
    let (entries, _) = round(&user, &link, 10).await;
    assert_eq!(
        (&entries[0]["@removed"], &entries[0]["id"]),
        (&json!({ "reason": "deleted" }), &third["id"])
    );
    assert_eq!(
        (&entries[1]["@removed"], &entries[1]["id"]),
        (&json!({ "reason": "deleted" }), &shown[1]["id"])
    );

    // An occurrence stays between its neighbours' days.
    for day in ["2026-03-12", "2026-03-02", "2026-02-20", "2026-04-20"] {
        let crossing = json!({
            "start": { "dateTime": format!("{day}T20:00:00"), "timeZone": "Europe/Berlin" },
            "end": { "dateTime": format!("{day}T21:00:00"), "timeZone": "Europe/Berlin" },
        });
        let reply = user.write("PATCH", &at(third), &[], &crossing).await;
        assert_eq!(refused(&reply), (400, "ErrorOccurrenceCrossingBoundary".to_owned()), "{day}");
    }
    let reply = user
        .write("PATCH", &at(third), &[], &json!({ "recurrence": weekly()["recurrence"] }))
        .await;
    assert_eq!(refused(&reply), (400, "ErrorPropertyValidationFailure".to_owned()));

    // One is answered, the others are not.
    let theirs = spring(&ana).await;
    let path = at(&theirs[4]);
    assert_eq!(ana.write("POST", &format!("{path}/decline"), &[], &json!({})).await.status, 202);
    assert_eq!(spring(&ana).await.len(), 8);
    let answers: Vec<Value> = spring(&user)
        .await
        .iter()
        .map(|it| it["attendees"][0]["status"]["response"].clone())
        .collect();
    let declined = answers.iter().filter(|it| **it == "declined").count();
    assert_eq!((declined, &answers[4]), (1, &json!("declined")));

    // The end comes earlier; what differs stays, what is after it goes.
    let until = with(
        weekly()["recurrence"].clone(),
        json!({
            "range": { "type": "endDate", "startDate": "2026-03-02", "endDate": "2026-03-19" },
        }),
    );
    let changed = user.write("PATCH", &at(&master), &[], &json!({ "recurrence": until })).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert_eq!(
        starts(&spring(&user).await),
        [
            "2026-03-02T09:00", "2026-03-10T11:00", "2026-03-12T09:00", "2026-03-16T09:00",
            "2026-03-19T09:00"
        ]
    );
    // Another day of a series is one of another rule.
    let moved = json!({
        "start": { "dateTime": "2026-03-03T09:00:00", "timeZone": "Europe/Berlin" },
        "end": { "dateTime": "2026-03-03T09:30:00", "timeZone": "Europe/Berlin" },
    });
    let reply = user.write("PATCH", &at(&master), &[], &moved).await;
    assert_eq!(refused(&reply), (400, "ErrorPropertyValidationFailure".to_owned()));
    let once = user.write("PATCH", &at(&master), &[], &json!({ "recurrence": null })).await.json();
    assert_eq!((&once["type"], &once["recurrence"]), (&json!("singleInstance"), &Value::Null));
    assert_eq!(spring(&user).await.len(), 1);
}

/// Recurrences that Graph accepts, with the days of their first occurrences.
#[tokio::test]
async fn recurrences_are_accepted_and_normalised() {
    let (_dir, _sandbox, user) = mira().await;
    let no_end = json!({ "type": "noEnd" });
    for (pattern, range, expected) in cases! {
        json!({ "type": "daily", "interval": 3 }), &no_end, ["03-02", "03-05", "03-08"];
        json!({ "type": "weekly", "interval": 2, "daysOfWeek": ["wednesday"], "firstDayOfWeek": "sunday" }),
            &no_end, ["03-04", "03-18", "04-01"];
        json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 15 }), &no_end,
            ["03-15", "04-15", "05-15"];
        json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["friday"], "index": "last" }),
            &no_end, ["03-27", "04-24", "05-29"];
        json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["thursday"] }), &no_end,
            ["03-05", "04-02", "05-07"];
        json!({ "type": "daily", "interval": 1 }),
            &json!({ "type": "numbered", "numberOfOccurrences": 3 }), ["03-02", "03-03", "03-04"];
        json!({ "type": "daily", "interval": 1 }),
            &json!({ "type": "endDate", "endDate": "2026-03-04" }), ["03-02", "03-03", "03-04"];
    } {
        let event = made(&user, "me/events", series(pattern.clone(), range.clone())).await;
        let path = format!(
            "{}/instances?startDateTime=2026-03-01&endDateTime=2026-06-01&%24top=3",
            at(&event)
        );
        let list = user.json(&path).await;
        let days: Vec<&str> = list["value"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &text(&it["start"]["dateTime"])[5..10])
            .collect();
        assert_eq!(days, expected, "{pattern}");
        user.write("DELETE", &at(&event), &[], &Value::Null).await;
    }
    let daily = json!({ "type": "daily", "interval": 1 });
    for (pattern, range) in cases! {
        json!({ "interval": 1 }), no_end.clone();
        json!({ "type": "daily" }), no_end.clone();
        json!({ "type": "daily", "interval": 0 }), no_end.clone();
        json!({ "type": "weekly", "interval": 1 }), no_end.clone();
        json!({ "type": "weekly", "interval": 1, "daysOfWeek": [] }), no_end.clone();
        json!({ "type": "absoluteMonthly", "interval": 1 }), no_end.clone();
        json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 32 }), no_end.clone();
        json!({ "type": "relativeMonthly", "interval": 1 }), no_end.clone();
        json!({ "type": "absoluteYearly", "interval": 1, "dayOfMonth": 3 }), no_end.clone();
        json!({ "type": "absoluteYearly", "interval": 1, "dayOfMonth": 30, "month": 2 }),
            no_end.clone();
        json!({ "type": "relativeYearly", "interval": 1, "daysOfWeek": ["monday"], "month": 13 }),
            no_end.clone();
        daily.clone(), json!({});
        daily.clone(), json!({ "type": "noEnd", "startDate": "2026-03-01" });
        daily.clone(), json!({ "type": "noEnd", "startDate": null });
        daily.clone(), json!({ "type": "endDate" });
        daily.clone(), json!({ "type": "endDate", "endDate": "2026-03-01" });
        daily.clone(), json!({ "type": "numbered" });
        daily.clone(), json!({ "type": "numbered", "numberOfOccurrences": 0 });
    } {
        let body = series(pattern, range);
        let reply = user.write("POST", "me/events", &[], &body).await;
        assert_eq!(
            refused(&reply),
            (400, "ErrorPropertyValidationFailure".to_owned()),
            "{}",
            body["recurrence"]
        );
    }
    let zoned = series(daily, json!({ "type": "noEnd", "recurrenceTimeZone": "Nowhere" }));
    let reply = user.write("POST", "me/events", &[], &zoned).await;
    assert_eq!(refused(&reply).1, "TimeZoneNotSupportedException");
    assert_eq!(spring(&user).await, Vec::<Value>::new());
}
