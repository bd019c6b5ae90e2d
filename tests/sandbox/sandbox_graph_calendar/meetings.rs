//! Meetings of several people: answers, forwarding, cancelling, schedules.

use serde_json::{Value, json};

use super::{ANA, BEN, SCOPES, at, clear, hour, made, mira, people, refused, view, with};
use crate::common::client::{ME, Reply, User};
use crate::graph_client::{column, text};

#[tokio::test]
async fn answers_reach_the_organizer() {
    let (_dir, sandbox, user) = mira().await;
    let ana = User::at_graph(sandbox.base(), ANA, SCOPES).await;
    let status = async |path: &str| {
        let event = user.json(path).await;
        let guest = event["attendees"][0].clone();
        (text(&guest["status"]["response"]).to_owned(), guest["proposedNewTime"].clone())
    };
    let slot = json!({
        "start": { "dateTime": "2026-02-04T10:00:00", "timeZone": "Europe/Berlin" },
        "end": { "dateTime": "2026-02-04T11:00:00", "timeZone": "Europe/Berlin" },
    });
    for (action, body, organizer, own) in cases! {
        "accept", json!({}), "accepted", Some(("accepted", "busy"));
        "accept", json!({ "Comment": "Gladly", "SendResponse": true }), "accepted",
            Some(("accepted", "busy"));
        "accept", json!({ "sendResponse": false }), "none", Some(("accepted", "busy"));
        "tentativelyAccept", json!({ "comment": "" }), "tentativelyAccepted",
            Some(("tentativelyAccepted", "tentative"));
        "decline", json!({ "comment": "Away" }), "declined", None;
        "decline", json!({ "sendResponse": false }), "none", None;
    } {
        let event = made(
            &user,
            "me/events",
            with(hour("Talk", 3, 9), json!({ "attendees": people(&[ANA]) })),
        )
        .await;
        let copy = view(&ana).await.pop().unwrap();
        assert_eq!(
            (&copy["showAs"], &copy["responseStatus"]["response"]),
            (&json!("tentative"), &json!("notResponded"))
        );
        let path = at(&copy);
        let reply = ana.write("POST", &format!("{path}/{action}"), &[], &body).await;
        assert_eq!((reply.status, reply.text().as_str()), (202, ""), "{action} {body}");
        assert_eq!(status(&at(&event)).await.0, organizer, "{action} {body}");
        match own {
            Some((response, show)) => {
                let copy = ana.json(&path).await;
                assert_eq!(
                    (&copy["responseStatus"]["response"], &copy["showAs"]),
                    (&json!(response), &json!(show))
                );
            }
            None => {
                assert_eq!(refused(&ana.get(&path).await), (404, "ErrorItemNotFound".to_owned()));
            }
        }
        let reply = user.write("DELETE", &at(&event), &[], &Value::Null).await;
        assert_eq!(reply.status, 204);
        clear(&ana).await;
    }

    // Another time is proposed.
    let open = with(hour("Open", 3, 9), json!({ "attendees": people(&[ANA]) }));
    let event = made(&user, "me/events", open.clone()).await;
    let path = at(&view(&ana).await[0]);
    let propose = json!({ "proposedNewTime": slot });
    let bad = |reply: Reply| refused(&reply).1;
    let silent = with(propose.clone(), json!({ "sendResponse": false }));
    let reply = ana.write("POST", &format!("{path}/tentativelyAccept"), &[], &silent).await;
    assert_eq!(bad(reply), "ErrorInvalidRequest");
    let reply = ana.write("POST", &format!("{path}/accept"), &[], &propose).await;
    assert_eq!(bad(reply), "RequestBodyRead");
    let reply = ana.write("POST", &format!("{path}/tentativelyAccept"), &[], &propose).await;
    assert_eq!(reply.status, 202);
    assert_eq!(
        status(&at(&event)).await,
        (
            "tentativelyAccepted".to_owned(),
            json!({
                "start": { "dateTime": "2026-02-04T09:00:00.0000000", "timeZone": "UTC" },
                "end": { "dateTime": "2026-02-04T10:00:00.0000000", "timeZone": "UTC" },
            })
        )
    );
    user.write("DELETE", &at(&event), &[], &Value::Null).await;
    clear(&ana).await;

    for (more, body, message) in cases! {
        json!({ "allowNewTimeProposals": false }), propose.clone(),
            "Your request can't be completed. A new time can't be proposed for this meeting.";
        json!({ "responseRequested": false }), json!({}),
            "Your request can't be completed. The meeting organizer hasn't requested a response.";
    } {
        let event = made(&user, "me/events", with(open.clone(), more)).await;
        let path = at(&view(&ana).await[0]);
        let reply = ana.write("POST", &format!("{path}/decline"), &[], &body).await;
        let (status, code, detail) = reply.refusal();
        assert_eq!((status, code.as_str(), detail.as_str()), (400, "ErrorInvalidRequest", message));
        user.write("DELETE", &at(&event), &[], &Value::Null).await;
        clear(&ana).await;
    }

    // Who calls it does not answer, who is asked does not call it off.
    let event = made(&user, "me/events", open).await;
    let reply = user.write("POST", &format!("{}/accept", at(&event)), &[], &json!({})).await;
    assert_eq!(
        reply.refusal().2,
        "Your request can't be completed. You can't respond to this meeting because you're the \
         meeting organizer."
    );
    let path = at(&view(&ana).await[0]);
    let reply = ana.write("POST", &format!("{path}/cancel"), &[], &json!({})).await;
    assert_eq!(
        reply.refusal().2,
        "Your request can't be completed. You need to be an organizer to cancel a meeting."
    );

    // Forwarding asks others.
    let ben = User::at_graph(sandbox.base(), BEN, SCOPES).await;
    let to = |address: &str| json!({ "toRecipients": [{ "emailAddress": { "address": address } }], "comment": "Come" });
    for bad in [json!({}), json!({ "toRecipients": [] }), to("nobody")] {
        let reply = ana.write("POST", &format!("{path}/forward"), &[], &bad).await;
        let code = refused(&reply).1;
        assert_eq!(code, "ErrorInvalidRecipients", "{bad}");
    }
    let reply = ana.write("POST", &format!("{path}/forward"), &[], &to(BEN)).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
    assert_eq!(view(&ben).await[0]["subject"], "Open");
    assert_eq!(user.json(&at(&event)).await["attendees"].as_array().unwrap().len(), 2);

    // Calling it off takes it from the organizer and tells the rest.
    let reply = user
        .write("POST", &format!("{}/cancel", at(&event)), &[], &json!({ "Comment": "Ill" }))
        .await;
    assert_eq!(reply.status, 202);
    assert_eq!(user.get(&at(&event)).await.status, 404);
    for guest in [&ana, &ben] {
        let left = view(guest).await.pop().unwrap();
        assert_eq!(
            (&left["subject"], &left["isCancelled"]),
            (&json!("Canceled: Open"), &json!(true))
        );
        let list = guest.json("me/events").await;
        assert_eq!(column(&list, "subject"), ["Canceled: Open"]);
    }
    // Answering what is no more takes it out.
    let path = format!("{}/decline", at(&view(&ana).await[0]));
    assert_eq!(ana.write("POST", &path, &[], &json!({})).await.status, 202);
    assert_eq!(view(&ana).await, Vec::<Value>::new());
}

#[tokio::test]
async fn schedules_show_busy_times_of_everybody() {
    let (_dir, sandbox, user) = mira().await;
    let ana = User::at_graph(sandbox.base(), ANA, SCOPES).await;
    for (body, show) in [
        (hour("Busy", 3, 9), "busy"),
        (hour("Away", 3, 11), "oof"),
        (hour("Perhaps", 3, 12), "tentative"),
        (hour("Elsewhere", 3, 13), "workingElsewhere"),
        (hour("Free", 3, 14), "free"),
    ] {
        made(
            &ana,
            "me/events",
            with(body, json!({ "showAs": show, "location": { "displayName": "Attic" } })),
        )
        .await;
    }
    let secret = with(hour("Secret", 3, 9), json!({ "sensitivity": "private" }));
    made(&user, "me/events", secret).await;
    let time = |hour: u8| json!({ "dateTime": format!("2026-02-03T{hour:02}:00:00"), "timeZone": "Europe/Berlin" });
    let ask = json!({
        "schedules": [ANA, ME, "room-attic@example.com", "nobody@far.example"],
        "startTime": time(8), "endTime": time(16), "availabilityViewInterval": 60,
    });
    let reply = user
        .write(
            "POST",
            "me/calendar/getSchedule",
            &[("prefer", "outlook.timezone=\"Europe/Berlin\"")],
            &ask,
        )
        .await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let answer = reply.json();
    let at = |hour: u8| json!({ "dateTime": format!("2026-02-03T{hour:02}:00:00.0000000"), "timeZone": "Europe/Berlin" });
    let item = |status: &str, from: u8| json!({ "status": status, "start": at(from), "end": at(from + 1) });
    let hours = |zone: &str| {
        json!({
            "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"],
            "startTime": "08:00:00.0000000", "endTime": "17:00:00.0000000",
            "timeZone": { "name": zone },
        })
    };
    let context = text(&answer["@odata.context"]);
    assert!(context.ends_with("$metadata#Collection(microsoft.graph.scheduleInformation)"));
    assert_eq!(
        answer["value"],
        json!([
            {
                "scheduleId": ANA, "availabilityView": "02031000",
                "scheduleItems": [
                    item("busy", 9), item("oof", 11), item("tentative", 12),
                    item("workingElsewhere", 13), item("free", 14),
                ],
                "workingHours": hours("W. Europe Standard Time"),
            },
            {
                "scheduleId": ME, "availabilityView": "02000000",
                "scheduleItems": [with(item("busy", 9), json!({
                    "isPrivate": true, "subject": "Secret", "location": "",
                }))],
                "workingHours": hours("W. Europe Standard Time"),
            },
            {
                "scheduleId": "room-attic@example.com", "availabilityView": "00000000",
                "scheduleItems": [], "workingHours": hours("UTC"),
            },
            {
                "scheduleId": "nobody@far.example",
                "error": {
                    "message": "Unable to resolve e-mail address nobody@far.example to an Active \
                                Directory object.",
                    "responseCode": "5009",
                },
            },
        ])
    );
    for (more, code) in cases! {
        json!({ "schedules": [] }), "ErrorInvalidParameter";
        json!({ "schedules": vec![ANA; 21] }), "ErrorInvalidParameter";
        json!({ "schedules": ANA }), "RequestBodyRead";
        json!({ "availabilityViewInterval": 4 }), "ErrorInvalidParameter";
        json!({ "availabilityViewInterval": "sixty" }), "RequestBodyRead";
        json!({ "startTime": time(16) }), "ErrorPropertyValidationFailure";
        json!({ "startTime": { "dateTime": "2025-01-01T00:00:00", "timeZone": "UTC" } }),
            "ErrorInvalidParameter";
        json!({ "startTime": { "dateTime": "2026-02-03T00:00:00", "timeZone": "X" } }),
            "TimeZoneNotSupportedException";
        json!({ "endTime": null }), "ErrorInvalidParameter";
        json!({ "who": "me" }), "RequestBodyRead";
    } {
        let reply = user
            .write("POST", "me/calendar/getSchedule", &[], &with(ask.clone(), more.clone()))
            .await;
        assert_eq!(refused(&reply), (400, code.to_owned()), "{more}");
    }
}
