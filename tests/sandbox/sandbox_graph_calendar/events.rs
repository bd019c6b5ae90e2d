//! Complete events, and the time zones in which they are returned.

use serde_json::{Value, json};

use super::{ANA, SCOPES, at, hour, made, mira, refused, view, with};
use crate::common::client::{ME, User, encoded};
use crate::graph_client::text;

/// Every property of an event is returned as it was written.
#[tokio::test]
async fn event_has_all_its_properties() {
    let (_dir, sandbox, user) = mira().await;
    let body = json!({
        "subject": "Plan",
        "body": { "contentType": "text", "content": "Bring <figures>\nand cake" },
        "start": { "dateTime": "2026-02-03T18:05:00", "timeZone": "Europe/Berlin" },
        "end": { "dateTime": "2026-02-03T18:50:00.0000000", "timeZone": "W. Europe Standard Time" },
        "location": { "displayName": "Attic" },
        "attendees": [
            { "emailAddress": { "address": ANA }, "type": "Required" },
            { "emailAddress": { "address": "room-fjord@example.com", "name": "Fjord" },
              "type": "resource" },
            { "emailAddress": { "address": "cy@far.example" }, "type": "optional" },
        ],
        "showAs": "oof", "sensitivity": "private", "importance": "high", "categories": ["Work"],
        "isReminderOn": true, "reminderMinutesBeforeStart": 30, "isOnlineMeeting": true,
        "onlineMeetingProvider": "teamsForBusiness", "allowNewTimeProposals": false,
        "transactionId": "once",
    });
    let reply = user
        .write(
            "POST",
            "me/events",
            &[("prefer", "outlook.timezone=\"Pacific Standard Time\"")],
            &body,
        )
        .await;
    assert_eq!(reply.status, 201);
    assert_eq!(reply.header("preference-applied"), "outlook.timezone=\"Pacific Standard Time\"");
    let mut event = reply.json();
    let id = text(&event["id"]).to_owned();
    assert_eq!(id.len(), 152);
    assert!(reply.header("location").ends_with(&format!("/events('{id}')")));
    let key = text(&event["changeKey"]).to_owned();
    assert_eq!(event["@odata.etag"], format!("W/\"{key}\""));
    assert_eq!(event["createdDateTime"], event["lastModifiedDateTime"]);
    let uid = text(&event["iCalUId"]).to_owned();
    assert!(uid.starts_with("040000008200E00074C5B7101A82E00800000000"));
    let link = text(&event["onlineMeeting"]["joinUrl"]).to_owned();
    assert!(link.starts_with("https://teams.microsoft.com/l/meetup-join/"));
    let web = text(&event["webLink"]).to_owned();
    assert!(web.contains(&encoded(&id)) && web.starts_with("https://outlook.office365.com/owa/"));
    let context = text(&event["@odata.context"]).to_owned();
    assert!(context.ends_with("/v1.0/$metadata#users('mira%40example.com')/events/$entity"));
    for name in [
        "@odata.context",
        "@odata.etag",
        "id",
        "createdDateTime",
        "lastModifiedDateTime",
        "changeKey",
        "iCalUId",
        "onlineMeeting",
        "webLink",
        "calendar@odata.associationLink",
        "calendar@odata.navigationLink",
    ] {
        assert!(event.as_object_mut().unwrap().remove(name).is_some(), "{name}");
    }
    let none = json!({ "response": "none", "time": "0001-01-01T00:00:00Z" });
    assert_eq!(
        event,
        json!({
            "categories": ["Work"], "transactionId": "once",
            "originalStartTimeZone": "W. Europe Standard Time",
            "originalEndTimeZone": "W. Europe Standard Time", "reminderMinutesBeforeStart": 30,
            "isReminderOn": true, "hasAttachments": false, "subject": "Plan",
            "bodyPreview": "Bring <figures>\r\nand cake\r\nJoin the meeting now",
            "importance": "high", "sensitivity": "private", "isAllDay": false,
            "isCancelled": false, "isOrganizer": true, "responseRequested": true,
            "seriesMasterId": null, "showAs": "oof", "type": "singleInstance",
            "onlineMeetingUrl": null, "isOnlineMeeting": true,
            "onlineMeetingProvider": "teamsForBusiness",
            "allowNewTimeProposals": false, "isDraft": false,
            "responseStatus": { "response": "organizer", "time": "0001-01-01T00:00:00Z" },
            "body": {
                "contentType": "html",
                "content": format!(
                    "<html><head></head><body>Bring &lt;figures&gt;<br>and cake\
                     <div class=\"teams-meeting\"><a href=\"{link}\">Join the meeting now</a></div>\
                     </body></html>"
                ),
            },
            "start": {
                "dateTime": "2026-02-03T09:05:00.0000000", "timeZone": "Pacific Standard Time",
            },
            "end": {
                "dateTime": "2026-02-03T09:50:00.0000000", "timeZone": "Pacific Standard Time",
            },
            "location": { "displayName": "Attic" }, "recurrence": null,
            "attendees": [
                {
                    "type": "required", "status": none,
                    "emailAddress": { "name": ANA, "address": ANA },
                },
                {
                    "type": "resource", "status": none,
                    "emailAddress": { "name": "Fjord", "address": "room-fjord@example.com" },
                },
                {
                    "type": "optional", "status": none,
                    "emailAddress": { "name": "cy@far.example", "address": "cy@far.example" },
                },
            ],
            "organizer": { "emailAddress": { "name": "Mira Lindqvist", "address": ME } },
        })
    );

    // The same request again makes nothing new.
    let again = user.write("POST", "me/events", &[], &body).await;
    assert_eq!((again.status, again.json()["id"].as_str()), (201, Some(id.as_str())));
    assert_eq!(view(&user).await.len(), 1);

    // By its other id, and in what is chosen of it.
    let path = format!("me/events/{}?%24select=subject,start", encoded(&id));
    let short = user.prefer(&path, "IdType=\"ImmutableId\"").await.json();
    let immutable = text(&short["id"]).to_owned();
    assert_eq!(immutable.len(), 68);
    let short =
        user.json(&format!("me/events/{}?%24select=subject,start", encoded(&immutable))).await;
    assert_eq!(
        short["start"],
        json!({ "dateTime": "2026-02-03T17:05:00.0000000", "timeZone": "UTC" })
    );
    assert_eq!(short.get("end"), None);

    // Ana has a copy with an id of its own; what is the organizer's alone is not
    // in it.
    let ana = User::at_graph(sandbox.base(), ANA, SCOPES).await;
    let theirs = view(&ana).await;
    assert_eq!(theirs.len(), 1);
    let copy = &theirs[0];
    assert_ne!(copy["id"], id);
    for (name, value) in [
        ("iCalUId", json!(uid)),
        ("transactionId", Value::Null),
        ("isOrganizer", json!(false)),
        ("responseStatus", json!({ "response": "notResponded", "time": "0001-01-01T00:00:00Z" })),
        ("organizer", json!({ "emailAddress": { "name": "Mira Lindqvist", "address": ME } })),
        ("reminderMinutesBeforeStart", json!(15)),
        ("categories", json!([])),
    ] {
        assert_eq!(copy[name], value, "{name}");
    }
    let foreign = user.get(&at(copy)).await;
    assert_eq!(refused(&foreign), (404, "ErrorItemNotFound".to_owned()));
}

/// Times are returned in the preferred zone, given by its IANA or Windows name.
#[tokio::test]
async fn times_come_in_the_preferred_zone() {
    let (_dir, _sandbox, user) = mira().await;
    let timed = made(&user, "me/events", hour("Timed", 3, 18)).await;
    let whole = json!({
        "subject": "Whole", "isAllDay": true,
        "start": { "dateTime": "2026-03-29T00:00:00", "timeZone": "Europe/Berlin" },
        "end": { "dateTime": "2026-03-31T00:00:00", "timeZone": "Europe/Berlin" },
    });
    let whole = made(&user, "me/events", whole).await;
    for (zone, start) in [
        ("", "2026-02-03T17:00:00.0000000"),
        ("UTC", "2026-02-03T17:00:00.0000000"),
        ("Europe/Berlin", "2026-02-03T18:00:00.0000000"),
        ("W. Europe Standard Time", "2026-02-03T18:00:00.0000000"),
        ("India Standard Time", "2026-02-03T22:30:00.0000000"),
        ("Asia/Kathmandu", "2026-02-03T22:45:00.0000000"),
        ("America/St_Johns", "2026-02-03T13:30:00.0000000"),
        ("Pacific/Kiritimati", "2026-02-04T07:00:00.0000000"),
    ] {
        let prefer = match zone {
            "" => String::new(),
            zone => format!("outlook.timezone=\"{zone}\""),
        };
        let name = if zone.is_empty() { "UTC" } else { zone };
        let event = user.prefer(&at(&timed), &prefer).await.json();
        assert_eq!(event["start"], json!({ "dateTime": start, "timeZone": name }), "{zone}");
        // A day is a day wherever one is.
        let event = user.prefer(&at(&whole), &prefer).await.json();
        assert_eq!(
            (&event["start"], &event["end"], &event["isAllDay"]),
            (
                &json!({ "dateTime": "2026-03-29T00:00:00.0000000", "timeZone": name }),
                &json!({ "dateTime": "2026-03-31T00:00:00.0000000", "timeZone": name }),
                &json!(true),
            ),
            "{zone}"
        );
    }
    for zone in ["Mars/Phobos", "Greenwich Mean Time", "+02:00", "Europe"] {
        let prefer = format!("outlook.timezone=\"{zone}\"");
        for path in ["me/calendars".to_owned(), "me/events".to_owned(), at(&timed)] {
            let reply = user.prefer(&path, &prefer).await;
            assert_eq!(refused(&reply), (400, "TimeZoneNotSupportedException".to_owned()));
        }
    }

    // What zone an event was made in is told in Windows' names.
    for (zone, expected) in [
        ("Europe/Berlin", "W. Europe Standard Time"),
        ("Europe/Vienna", "W. Europe Standard Time"),
        ("America/New_York", "Eastern Standard Time"),
        ("Asia/Kolkata", "India Standard Time"),
        ("UTC", "UTC"),
        ("Antarctica/Troll", "Antarctica/Troll"),
    ] {
        let body = json!({
            "start": { "dateTime": "2026-04-01T10:00:00", "timeZone": zone },
            "end": { "dateTime": "2026-04-01T11:00:00", "timeZone": "UTC" },
        });
        let body = match zone {
            // An hour that is over before it begins, elsewhere.
            "America/New_York" => with(
                body,
                json!({ "end": { "dateTime": "2026-04-01T15:00:00Z", "timeZone": "UTC" } }),
            ),
            _ => body,
        };
        let event = made(&user, "me/events", body).await;
        assert_eq!(event["originalStartTimeZone"], expected, "{zone}");
        assert_eq!(event["originalEndTimeZone"], "UTC", "{zone}");
    }

    // The mailbox's own.
    let settings = user.json("me/mailboxSettings").await;
    assert_eq!(settings["timeZone"], "W. Europe Standard Time");
    assert_eq!(settings["workingHours"]["startTime"], "08:00:00.0000000");
}
