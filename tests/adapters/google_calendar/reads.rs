//! Reads, against scripted responses.

use daysheet_core::ids::EventId;
use daysheet_core::project::Projection;
use daysheet_core::provider::calendar::EventListRequest;
use serde_json::json;

use super::ME;
use super::google::{GROUP, HOLIDAYS, event, fetched, request_lines, scripted};
use crate::tap::{refused_by_google as refused, respond};

fn ask(calendars: &[(&str, Option<&str>)], series: bool) -> EventListRequest {
    EventListRequest {
        calendars: calendars
            .iter()
            .map(|(id, next)| ((*id).into(), next.map(str::to_owned)))
            .collect(),
        from: "2026-02-01T00:00:00Z".parse().unwrap(),
        to: "2026-03-01T00:00:00Z".parse().unwrap(),
        series,
        projection: Projection {
            paths: vec!["calendarId".to_owned(), "id".to_owned()],
            ..Projection::default()
        },
        limit: 50,
    }
}

#[tokio::test]
async fn events_are_requested_calendar_by_calendar() {
    let google = scripted(|seen| {
        let answer = match seen.raw.split('?').next()? {
            raw if raw.contains("holiday") => {
                return Some(refused(404, "notFound", "Not Found"));
            }
            raw if raw.contains("c_1881") => {
                let (mut series, once) = (event("a", "1"), event("b", "1"));
                series["recurrence"] = json!(["RRULE:FREQ=DAILY"]);
                json!({"items": [
                series, once,
                {"id": "a_1", "status": "cancelled", "recurringEventId": "a"}]})
            }
            _ => json!({"items": [event("a", "1")], "nextPageToken": "t2"}),
        };
        Some(respond(200, &answer))
    })
    .await;
    let pages =
        google.calendars().await.events(&ask(&[(ME, Some("t1")), (HOLIDAYS, None)], false)).await;
    assert_eq!(pages.len(), 2);
    let page = pages[0].as_ref().unwrap();
    assert_eq!(page.events, [fetched("a", "1")]);
    assert_eq!(page.next.as_deref(), Some("t2"));
    assert_eq!(
        pages[1].as_ref().unwrap_err().to_string(),
        "Google Calendar has no such item: it may have been deleted; search again for its handle"
    );
    let rest = "orderBy=startTime maxResults=50 fields=nextPageToken,items(FACTS)";
    let range = "timeMin=2026-02-01T00:00:00.000Z timeMax=2026-03-01T00:00:00.000Z";
    assert_eq!(
        request_lines(&google),
        [
            format!(
                "GET calendars/en.german%23holiday%40group.v.calendar.google.com/events {range} \
                 singleEvents=true showDeleted=false {rest}"
            ),
            format!(
                "GET calendars/mira%40example.com/events {range} singleEvents=true \
                 showDeleted=false pageToken=t1 {rest}"
            ),
        ]
    );

    let pages = google.calendars().await.events(&ask(&[(GROUP, None)], true)).await;
    let page = pages[0].as_ref().unwrap();
    let found: Vec<_> = page.events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(found, [format!("{GROUP}/a"), format!("{GROUP}/b")]);
    assert_eq!(
        request_lines(&google),
        [format!(
            "GET calendars/c_1881%40group.calendar.google.com/events {range} singleEvents=false \
             showDeleted=false maxResults=50 fields=nextPageToken,items(FACTS)"
        )]
    );
}

#[tokio::test]
async fn events_are_fetched_whole_by_id_and_uid() {
    let google = scripted(|seen| {
        let raw = seen.raw.as_str();
        let answer = match raw {
            _ if raw.contains("iCalUID") && raw.contains("c_1881") => json!({"items": []}),
            _ if raw.contains("iCalUID") && raw.contains("pageToken") => {
                json!({"items": [event("a_1", "2")]})
            }
            _ if raw.contains("iCalUID") => {
                json!({"items": [event("a", "1")], "nextPageToken": "t2"})
            }
            _ if raw.contains("gone") => return Some(refused(410, "deleted", "Gone")),
            _ => event("a", "1"),
        };
        Some(respond(200, &answer)).filter(|_| raw.contains("/events"))
    })
    .await;
    let ids = [
        "a",
        "mira@example.com/a",
        "en.german#holiday@group.v.calendar.google.com/a_2",
        "gone",
        "a/../b",
        "..",
        "a?b",
    ];
    let answers = google.calendars().await.event(&ids.map(EventId::from)).await;
    let reported: Vec<String> = answers
        .into_iter()
        .map(|answer| {
            answer
                .map_or_else(|error| error.to_string(), |event| event.calendar.unwrap().to_string())
        })
        .collect();
    let invalid = "the id is not Google Calendar's (calendar/event): use a handle such as e12 from \
                   a search";
    let missing = "Google Calendar has no such item: it may have been deleted; search again for \
                   its handle";
    assert_eq!(
        reported,
        [
            "mira@example.com",
            "mira@example.com",
            "en.german#holiday@group.v.calendar.google.com",
            missing,
            invalid,
            invalid,
            invalid,
        ]
    );
    assert_eq!(
        request_lines(&google),
        [
            "GET calendars/en.german%23holiday%40group.v.calendar.google.com/events/a_2 fields=*",
            "GET calendars/mira%40example.com/events/a fields=*",
            "GET calendars/mira%40example.com/events/a fields=*",
            "GET calendars/mira%40example.com/events/gone fields=*",
        ]
    );

    let found = google.calendars().await.by_uid("p+1@studio.example").await.unwrap();
    assert_eq!(found, [fetched("a", "1"), fetched("a_1", "2")]);
    let rest = "iCalUID=p+1@studio.example fields=*";
    let own = "GET calendars/mira%40example.com/events showDeleted=false";
    assert_eq!(
        request_lines(&google),
        [
            format!(
                "GET calendars/c_1881%40group.calendar.google.com/events showDeleted=false {rest}"
            ),
            format!("{own} {rest}"),
            format!("{own} pageToken=t2 {rest}"),
        ]
    );
}

#[tokio::test]
async fn calendars_and_rooms_are_listed_once() {
    let google = scripted(|_| None).await;
    let ids: Vec<_> = google.calendars().await.calendars().await.unwrap();
    let ids: Vec<_> = ids.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [ME, GROUP, HOLIDAYS, "bo@example.com", "r2@resource.calendar.google.com"]);
    let rooms = google.calendars().await.rooms().await.unwrap();
    let rooms: Vec<_> = rooms.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(rooms, ["r2@resource.calendar.google.com"]);
    assert_eq!(google.tap.lines().len(), 1);
}

#[tokio::test]
async fn busy_times_are_requested_for_fifty_at_once() {
    let google = scripted(|seen| {
        assert!(seen.raw.starts_with("POST /calendar/v3/freeBusy?"));
        let mut calendars = json!({});
        for item in seen.body["items"].as_array().unwrap() {
            let id = item["id"].as_str().unwrap();
            calendars[id] = match id {
                "p3@example.com" => json!({"busy": [
                    {"start": "2026-02-03T17:05:00Z", "end": "2026-02-03T17:50:00Z"}]}),
                "p4@example.com" => json!({"errors": [{"reason": "notFound"}]}),
                "p5@example.com" => json!({"errors": [{"reason": "internalError"}]}),
                _ => json!({"busy": []}),
            };
        }
        let mut answer = json!({"calendars": calendars});
        if let Some(calendars) = answer["calendars"].as_object_mut() {
            calendars.remove("p6@example.com");
            if calendars.remove("p7@example.com").is_some() {
                calendars.insert(
                    "ana@example.com".to_owned(),
                    json!({"busy": [
                    {"start": "2026-02-04T08:00:00Z", "end": "2026-02-04T09:00:00Z"}]}),
                );
                answer["groups"] = json!({"p7@example.com": {"calendars": ["ana@example.com"]}});
            }
        }
        Some(respond(200, &answer))
    })
    .await;
    let who: Vec<String> = (0..60).map(|at| format!("p{at}@example.com")).collect();
    let reported = google
        .calendars()
        .await
        .busy(
            &who,
            "2026-02-01T00:00:00Z".parse().unwrap(),
            "2026-03-01T00:00:00Z".parse().unwrap(),
        )
        .await;
    assert_eq!(reported.len(), 60);
    let mut seen = google.tap.requests();
    seen.sort_by_key(|seen| std::cmp::Reverse(seen.body["items"].as_array().unwrap().len()));
    assert_eq!(seen.len(), 2);
    let items = seen[0].body["items"].as_array().unwrap();
    assert_eq!((items.len(), seen[1].body["items"].as_array().unwrap().len()), (50, 10));
    let mut body = seen[0].body.clone();
    body["items"] = json!([items[0]]);
    assert_eq!(
        body,
        json!({
            "timeMin": "2026-02-01T00:00:00Z", "timeMax": "2026-03-01T00:00:00Z",
            "calendarExpansionMax": 50, "items": [{"id": "p0@example.com"}],
        })
    );
    let none = "ask them to share their calendar, or leave them out";
    for (at, expected) in cases! {
        0, Ok(vec![]);
        3, Ok(vec![("p3@example.com", "2026-02-03T17:05:00Z", "2026-02-03T17:50:00Z")]);
        4, Err(format!("Google does not show when p4@example.com is busy: {none}"));
        5,
            Err("Google does not say when p5@example.com is busy (`internalError`): try again in a \
                 minute"
                .to_owned());
        6, Err(format!("Google does not show when p6@example.com is busy: {none}"));
        7, Ok(vec![("ana@example.com", "2026-02-04T08:00:00Z", "2026-02-04T09:00:00Z")]);
        59, Ok(vec![]);
    } {
        let reported = match &reported[at] {
            Ok(schedule) => {
                assert_eq!(schedule.who, who[at]);
                assert_eq!(schedule.hours, None);
                Ok(schedule.busy.clone())
            }
            Err(error) => Err(error.to_string()),
        };
        let expected = expected.map(|list| {
            list.into_iter()
                .map(|(who, start, end)| {
                    json!({"who": who, "start": {"dateTime": start}, "end": {"dateTime": end}})
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(reported, expected);
    }
}
