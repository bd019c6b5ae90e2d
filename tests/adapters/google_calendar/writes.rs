//! Writes, against scripted responses.

use daysheet_core::error::Error;
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{EventGuest, EventPatch, InvitationAnswer};
use daysheet_core::provider::calendar::{CalendarOp, GuestNotice, InvitationReply};
use serde_json::{Value, json};

use daysheet_providers::google::calendar::facts as read;

use super::google::{GROUP, event, fetched, fetched_with, scripted, sent, titled, turns};
use super::{ME, at, guest};
use crate::tap::{broken, empty, refused_by_google as refused, respond};

fn words<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[tokio::test]
async fn new_event_is_sent_once_with_our_id() {
    let google = scripted(|seen| {
        let made = event(seen.body["id"].as_str()?, "1");
        Some(respond(200, &made))
    })
    .await;
    let change = EventPatch {
        time: Some((at("2026-02-03T18:05:00"), at("2026-02-03T18:50:00"))),
        ..titled("Proofs")
    };
    let made = google.calendars().await.create(None, &change, GuestNotice::All).await.unwrap();
    let sent = sent(&google);
    let id = sent[0].2["id"].as_str().unwrap().to_owned();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert_eq!(made, fetched(&id, "1"));
    assert_eq!(
        sent,
        [(
            "POST calendars/mira%40example.com/events?conferenceDataVersion=1&sendUpdates=all"
                .to_owned(),
            String::new(),
            json!({
                "id": id, "summary": "Proofs",
                "start": {"dateTime": "2026-02-03T18:05:00+01:00", "timeZone": "Europe/Berlin"},
                "end": {"dateTime": "2026-02-03T18:50:00+01:00", "timeZone": "Europe/Berlin"},
            })
        )]
    );
}

/// Cases: the responses to a create and to the lookup of its id, and the outcome.
#[tokio::test]
async fn interrupted_writes_are_looked_up_and_never_repeated() {
    let limited = || refused(429, "rateLimitExceeded", "Slow down").header("retry-after", "0");
    for (posts, gets, expected, request) in cases! {
        vec![broken()], Some(respond(200, &event("x", "1"))), Ok("x"), 1;
        vec![broken()], Some(refused(404, "notFound", "Not Found")),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            ), 1;
        vec![broken()], Some(refused(403, "forbidden", "Forbidden")),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            ), 1;
        vec![refused(503, "backendError", "Backend Error")], Some(respond(200, &event("x", "1"))),
            Ok("x"), 1;
        // What was refused was not done, and may be sent again.
        vec![limited(), limited(), respond(200, &event("x", "1"))], None, Ok("x"), 3;
        vec![refused(403, "requiredAccessLevel", "You need to have writer access")], None,
            Err("this account may not do this in that calendar: lookup kind=calendars shows its \
                 access"), 1;
        vec![refused(400, "invalid", "Invalid start time.")], None,
            Err("Google answered with status 400: `Invalid start time`"), 1;
    } {
        let post = turns("POST ", posts);
        let google = scripted(move |seen| {
            post(seen).or_else(|| gets.clone().filter(|_| seen.raw.contains("/events/")))
        })
        .await;
        let made = google
            .calendars()
            .await
            .create(Some(&GROUP.into()), &titled("Proofs"), GuestNotice::Nobody)
            .await;
        let made = made.map(|event| event.wire["id"].as_str().unwrap().to_owned());
        assert_eq!(
            made.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
        let sent = sent(&google);
        let posts: Vec<_> = sent.iter().filter(|(raw, ..)| raw.starts_with("POST ")).collect();
        assert_eq!(posts.len(), request, "{sent:?}");
        assert!(posts.iter().all(|post| post == &posts[0]));
    }
}

#[tokio::test]
async fn imported_event_keeps_its_uid() {
    let google = scripted(|seen| {
        Some(respond(200, &event("x", "1"))).filter(|_| seen.raw.contains("/import"))
    })
    .await;
    let lena =
        || EventGuest { name: Some("Lena Okafor".to_owned()), ..guest("lena@studio.example") };
    let change = EventPatch {
        uid: Some("p@studio.example".to_owned()),
        organizer: Some(lena()),
        ..titled("Proofs")
    };
    let made = google.calendars().await.create(None, &change, GuestNotice::All).await.unwrap();
    assert_eq!(made, fetched("x", "1"));
    // Whose calendar it is, is among those who are asked: Google insists.
    assert_eq!(
        sent(&google),
        [(
            "POST calendars/mira%40example.com/events/import?conferenceDataVersion=1".to_owned(),
            String::new(),
            json!({
                "iCalUID": "p@studio.example", "summary": "Proofs",
                "organizer": {"email": "lena@studio.example", "displayName": "Lena Okafor"},
                "attendees": [{"email": ME}],
            })
        )]
    );

    // An occurrence of its series names its start by the rule.
    let original = Some(EventTime::At("2026-02-03T17:05:00Z".parse().unwrap()));
    let occurrence = EventPatch { original, ..change.clone() };
    let google = scripted(|seen| {
        Some(respond(200, &event("x", "1"))).filter(|_| seen.raw.contains("/import"))
    })
    .await;
    google.calendars().await.create(None, &occurrence, GuestNotice::All).await.unwrap();
    assert_eq!(
        sent(&google)[0].2["originalStartTime"],
        json!({"dateTime": "2026-02-03T17:05:00Z", "timeZone": "UTC"})
    );

    let google = scripted(|seen| {
        let answer = if seen.raw.contains("/import") {
            refused(409, "duplicate", "The requested identifier already exists.")
        } else {
            return None;
        };
        Some(answer)
    })
    .await;
    assert_eq!(
        words(google.calendars().await.create(None, &change, GuestNotice::All).await),
        "an event with this UID already exists: search for it, and change it with calendar_save"
    );
}

#[tokio::test]
async fn change_names_the_version_it_was_made_for() {
    let open = "the connection to Google broke; whether it was done is unknown: check before \
                retrying";
    let mut renamed = event("a", "\"2\"");
    renamed["summary"] = "Final proofs".into();
    let now = fetched("a_20260203T170500Z", "\"1\"");
    for (answer, look, expected) in cases! {
        respond(200, &event("a", "\"2\"")), None, Ok("\"2\"");
        refused(412, "conditionNotMet", "Precondition Failed"), None,
            Err("it was changed meanwhile: read it again, and repeat the change if it still fits");
        refused(403, "forbiddenForNonOrganizer", "Shared properties can only be changed"), None,
            Err("only the organizer may change this of the meeting: ask the organizer, or create \
                 an event of your own");
        refused(410, "deleted", "Resource has been deleted"), None,
            Err("Google Calendar has no such item: it may have been deleted; search again for \
                 its handle");
        broken(), Some(event("a", "\"1\"")),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            );
        broken(), Some(renamed.clone()), Ok("\"2\"");
        // Another version, and not ours.
        broken(), Some(event("a", "\"2\"")), Err(open);
    } {
        let patch = turns("PATCH ", vec![answer]);
        let google = scripted(move |seen| {
            let look = look.as_ref().map(|event| respond(200, event));
            patch(seen).or(look)
        })
        .await;
        let changed = google
            .calendars()
            .await
            .update(&now, &titled("Final proofs"), GuestNotice::External)
            .await;
        let version = changed.map(|event| event.version.unwrap());
        assert_eq!(
            version.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
        assert_eq!(
            sent(&google)[0],
            (
                "PATCH calendars/mira%40example.com/events/a_20260203T170500Z?\
                 conferenceDataVersion=1&sendUpdates=externalOnly&supportsAttachments=true"
                    .to_owned(),
                "\"1\"".to_owned(),
                json!({"summary": "Final proofs"})
            )
        );
    }
    // Nothing differs: nothing is sent.
    let google = scripted(|_| None).await;
    let same = google.calendars().await.update(&now, &titled("Proofs"), GuestNotice::All).await;
    assert_eq!(same.unwrap(), now);
    assert_eq!(google.tap.lines().len(), 0);
}

/// Google's published contract has no null, so an event that loses a member is sent whole.
#[tokio::test]
async fn clearing_a_field_sends_the_whole_event() {
    let in_room = |event: &mut Value| event["location"] = "Room 3".into();
    let now = fetched_with("a_20260203T170500Z", "\"1\"", in_room);
    let google = scripted(turns("PUT ", vec![respond(200, &event("a", "\"2\""))])).await;
    let change = EventPatch { place: Some(String::new()), ..EventPatch::default() };
    google.calendars().await.update(&now, &change, GuestNotice::Nobody).await.unwrap();
    let (request, version, body) = sent(&google).remove(0);
    assert!(request.starts_with("PUT calendars/mira%40example.com/events/a_"), "{request}");
    assert_eq!(version, "\"1\"");
    assert_eq!((body.get("location"), &body["summary"]), (None, &now.wire["summary"]));
}

#[tokio::test]
async fn restored_event_gets_back_what_differs() {
    let before = fetched("a", "\"1\"");
    let with = |more: Value| {
        let extend = |event: &mut Value| {
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        };
        fetched_with("a", "\"2\"", extend)
    };
    // What was not there is taken out of the whole event; a deleted one is confirmed again.
    for (now, method, expected) in cases! {
        with(json!({"summary": "Other"})), "PATCH", json!({"summary": before.wire["summary"]});
        with(json!({"status": "cancelled"})), "PATCH", json!({"status": before.wire["status"]});
        with(json!({"location": "Room 3", "status": "cancelled"})), "PUT", {
            let mut whole = event("a", "\"2\"");
            whole["organizer"] = before.wire["organizer"].clone();
            whole
        };
    } {
        let google = scripted(turns(method, vec![respond(200, &event("a", "\"3\""))])).await;
        google.calendars().await.restore(&before, Some(&now)).await.unwrap();
        let (request, version, body) = sent(&google).remove(0);
        assert!(request.contains("sendUpdates=none"), "{request}");
        assert_eq!((version.as_str(), body), ("\"2\"", expected));
    }
    let google = scripted(|_| None).await;
    assert_eq!(
        words(google.calendars().await.restore(&before, None).await),
        "Google no longer has the deleted event: create it again"
    );
}

#[tokio::test]
async fn deletion_names_the_version_it_was_made_for() {
    let now = fetched("a", "\"1\"");
    let empty = || empty(204);
    let mut cancelled = event("a", "\"2\"");
    cancelled["status"] = "cancelled".into();
    for (answer, look, expected) in cases! {
        empty(), None, Ok(());
        broken(), Some(respond(200, &cancelled)), Ok(());
        broken(), Some(refused(404, "notFound", "Not Found")), Ok(());
        broken(), Some(respond(200, &event("a", "\"1\""))),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            );
        broken(), Some(respond(200, &event("a", "\"2\""))),
            Err(
                "the connection to Google broke; whether it was done is unknown: check before \
                 retrying",
            );
        refused(412, "conditionNotMet", "Precondition Failed"), None,
            Err("it was changed meanwhile: read it again, and repeat the change if it still fits");
        refused(410, "deleted", "Resource has been deleted"), None,
            Err("Google Calendar has no such item: it may have been deleted; search again for \
                 its handle");
    } {
        let delete = turns("DELETE ", vec![answer]);
        let google = scripted(move |seen| delete(seen).or_else(|| look.clone())).await;
        let done = google
            .calendars()
            .await
            .delete(&now, Some("The press is broken."), GuestNotice::All)
            .await;
        assert_eq!(done.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        assert_eq!(
            sent(&google)[0],
            (
                "DELETE calendars/mira%40example.com/events/a?sendUpdates=all".to_owned(),
                "\"1\"".to_owned(),
                Value::Null
            )
        );
    }
}

#[tokio::test]
async fn invitations_are_answered_and_forwarded() {
    let now = fetched_with("a", "\"1\"", |event| {
        event["organizer"] = json!({"email": "lena@studio.example"});
        event["attendees"] = json!([{"email": ME, "self": true, "responseStatus": "needsAction"},
                                    {"email": "bo@example.com", "responseStatus": "accepted"}]);
    });
    let google = scripted(|seen| {
        Some(respond(200, &event("a", "\"2\""))).filter(|_| seen.raw.starts_with("PATCH "))
    })
    .await;
    let response = InvitationReply {
        answer: InvitationAnswer::Accepted,
        comment: None,
        propose: None,
        notify: true,
    };
    let reported = google.calendars().await.respond(&now, &response).await.unwrap();
    assert_eq!(reported, Some(fetched("a", "\"2\"")));
    let to = ["ana@example.com".to_owned()];
    google.calendars().await.forward(&now, &to, None).await.unwrap();
    let path = "PATCH calendars/mira%40example.com/events/a?conferenceDataVersion=1&sendUpdates=all&supportsAttachments=true";
    let bo = json!({"email": "bo@example.com", "responseStatus": "accepted"});
    assert_eq!(
        sent(&google),
        cases! {
            path.to_owned(), "\"1\"".to_owned(),
                json!({"attendees": [
                    {"email": ME, "self": true, "responseStatus": "accepted"}, bo]});
            path.to_owned(), "\"1\"".to_owned(),
                json!({"attendees": [
                    {"email": ME, "self": true, "responseStatus": "needsAction"}, bo,
                    {"email": "ana@example.com"}]});
        }
    );
    let mut closed = now.wire;
    closed["guestsCanInviteOthers"] = false.into();
    let closed = read::event(closed, ME).unwrap();
    assert_eq!(
        google.calendars().await.forward(&closed, &to, None).await.unwrap_err().to_string(),
        "only the organizer may invite more people to this meeting: ask the organizer to invite them"
    );
}

#[tokio::test]
async fn calendars_are_created_renamed_and_deleted() {
    let google = scripted(|seen| {
        let raw = seen.raw.as_str();
        let answer = match raw {
            _ if raw.starts_with("POST ") => json!({"id": "c_new@group.calendar.google.com"}),
            _ if raw.starts_with("PATCH ") => json!({"id": ME}),
            _ if raw.starts_with("GET /calendar/v3/users/me/calendarList/") => {
                json!({"id": "as listed", "accessRole": "owner"})
            }
            _ => return None,
        };
        Some(respond(200, &answer))
    })
    .await;
    let name = || "Spring".to_owned();
    for (op, expected) in cases! {
        CalendarOp::Create { name: name(), zone: Some("Europe/Lisbon".to_owned()) },
            Ok("as listed");
        CalendarOp::Rename { id: ME.into(), name: name() }, Ok("as listed");
        CalendarOp::Rename { id: GROUP.into(), name: name() },
            Err("somebody else's calendar cannot be renamed: ask its owner");
        CalendarOp::Delete { id: ME.into() },
            Err("the main calendar cannot be deleted: delete its events, or name another calendar");
        CalendarOp::Delete { id: "primary".into() },
            Err("the main calendar cannot be deleted: delete its events, or name another calendar");
        CalendarOp::Delete { id: "nobody@example.com".into() },
            Err("the account has no such calendar: see lookup kind=calendars");
    } {
        let done = google.calendars().await.manage(&op).await;
        let id = done.map(|calendar| calendar.unwrap()["id"].as_str().unwrap().to_owned());
        assert_eq!(
            id.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
    }
    let sent = sent(&google);
    let sent: Vec<_> = sent.iter().map(|(raw, _, body)| (raw.as_str(), body)).collect();
    assert_eq!(
        sent,
        cases! {
            "POST calendars", &json!({"summary": "Spring", "timeZone": "Europe/Lisbon"});
            "GET users/me/calendarList/c_new%40group.calendar.google.com?fields=*&alt=json",
                &Value::Null;
            // It has a name for oneself, which is what one sees.
            "PATCH users/me/calendarList/mira%40example.com", &json!({"summaryOverride": "Spring"});
            "GET users/me/calendarList/mira%40example.com?fields=*&alt=json", &Value::Null;
        }
    );
}
