//! Read requests and their responses.

use super::*;

const MAIN: &str = "AAMkAGVmMDEzMTM4LTZmYWUt=";
const CHOIR: &str = "AAMkAGVmMDEzMTM4/Y2hvaXI=";
const ALWAYS: &str = "id,type,seriesMasterId,subject,start,end,isAllDay,originalStart,\
    originalStartTimeZone,location,attendees,isOrganizer,responseStatus,showAs,isCancelled,iCalUId";

/// An answer to every part of a batch, or to a request.
fn all(seen: &HttpRequest, answer: impl Fn(&str) -> Value) -> Option<HttpResponse> {
    Some(each(seen, |line| (200, answer(line))))
}

#[tokio::test]
async fn only_shown_columns_and_facts_are_requested() {
    let outlook = Outlook::scripted(|seen| all(seen, |_| json!({"value": []}))).await;
    let calendars = outlook.calendars().await;
    let ask = |names: &[&str], series: bool, limit: usize| EventListRequest {
        projection: columns(names),
        series,
        limit,
        ..range(&[MAIN], "2026-02-01T23:00:00Z", "2026-03-01T23:00:00Z")
    };
    let view = "/me/calendars/AAMkAGVmMDEzMTM4LTZmYWUt=/calendarView?\
        startDateTime=2026-02-01T23:00:00Z&endDateTime=2026-03-01T23:00:00Z&\
        $orderby=start/dateTime";
    for (ask, expected) in cases! {
        ask(&["id", "title"], false, 20), format!("GET {view}&$top=20&$select={ALWAYS}");
        ask(&["id", "calendar", "repeats", "link", "people"], false, 5_000),
            format!(
                "GET {view}&$top=1000&$select={ALWAYS},recurrence,onlineMeeting,onlineMeetingUrl"
            );
        ask(&["id", "repeats"], true, 20),
            format!(
                "GET /me/calendars/AAMkAGVmMDEzMTM4LTZmYWUt=/events?$orderby=start/dateTime&\
                 $top=1000&$select={ALWAYS},recurrence"
            );
    } {
        for page in calendars.events(&ask).await {
            page.unwrap();
        }
        let [seen] = &outlook.tap.requests()[..] else {
            panic!("not one request");
        };
        assert_eq!(seen.line, expected);
        assert_eq!(seen.header("prefer"), PREFER);
    }

    // Several calendars are one round trip; a next page is asked for as it was
    // named, and one that is no calendar of Outlook's not at all.
    let next = "1769943600 me/calendars/x/calendarView?$skip=10".to_owned();
    let mut several = range(&[MAIN, "work"], "2026-02-01T23:00:00Z", "2026-03-01T23:00:00Z");
    several.calendars.push((CHOIR.into(), Some(next)));
    let pages = calendars.events(&several).await;
    assert_eq!(pages.len(), 3);
    assert!(pages[0].is_ok() && pages[2].is_ok());
    assert_eq!(
        pages[1].as_ref().unwrap_err().to_string(),
        "the id is not Outlook's: use a handle such as c1 from lookup kind=calendars"
    );
    let requests = outlook.tap.lines();
    assert_eq!(requests.len(), 1);
    let parts: Vec<&str> = requests[0].lines().collect();
    assert_eq!(parts[0], "POST /$batch");
    assert!(parts[1].starts_with(&format!("GET {view}")), "{parts:?}");
    assert_eq!(parts[2], "GET /me/calendars/x/calendarView?$skip=10");
}

#[tokio::test]
async fn fields_missing_from_graph_are_filled_in() {
    let event = |id: &str, start: &str, end: &str| {
        json!({
            "id": id, "subject": "Proofs", "isAllDay": false,
            "start": {"dateTime": start, "timeZone": "UTC"},
            "end": {"dateTime": end, "timeZone": "UTC"},
        })
    };
    let outlook = Outlook::scripted(move |seen| {
        all(seen, |_| {
            json!({
                "value": [
                    event("AAMkEnded", "2026-02-01T10:00:00.0000000", "2026-02-01T11:00:00.0000000"),
                    event("AAMkIn", "2026-02-01T10:30:00.0000000", "2026-02-01T11:30:00.0000000"),
                    event("AAMkPoint", "2026-02-01T11:00:00.0000000", "2026-02-01T11:00:00.0000000"),
                    {"subject": "no id"},
                ],
                "@odata.nextLink": format!("https://elsewhere.example/v1.0/me/calendars/x/calendarView?$skip=2"),
            })
        })
    })
    .await;
    let calendars = outlook.calendars().await;
    let ask = range(&[CHOIR], "2026-02-01T11:00:00Z", "2026-02-02T00:00:00Z");
    let page = calendars.events(&ask).await.remove(0).unwrap();
    assert_eq!(ids(&page.events), ["AAMkIn", "AAMkPoint"]);
    assert_eq!(
        page.events.iter().map(|one| one.calendar.clone().unwrap()).collect::<Vec<_>>(),
        [CHOIR, CHOIR]
    );
    assert_eq!(page.next.as_deref(), Some("1769943600 me/calendars/x/calendarView?$skip=2"));
    let requests = outlook.tap.lines();
    assert!(
        requests[0].starts_with("GET /me/calendars/AAMkAGVmMDEzMTM4/Y2hvaXI=/calendarView?"),
        "{requests:?}"
    );
}

#[tokio::test]
async fn calendars_are_listed_with_their_time_zone() {
    for (settings, zone) in [
        (json!({"timeZone": "W. Europe Standard Time"}), json!("W. Europe Standard Time")),
        (json!({}), Value::Null),
    ] {
        let plain = settings.clone();
        let outlook = Outlook::scripted(move |seen| {
            all(seen, |part| {
                if part.contains("/calendars") {
                    json!({"value": [
                        {"id": "AAMkChoir", "name": "Choir"},
                        {"name": "no id"},
                        {"id": "AAMkMain", "name": "Calendar", "isDefaultCalendar": true},
                    ]})
                } else {
                    plain.clone()
                }
            })
        })
        .await;
        let calendars = outlook.calendars().await.calendars().await.unwrap();
        assert_eq!(texts(&calendars, "name"), ["Calendar", "Choir"]);
        assert_eq!(calendars[1].get("timeZone").cloned().unwrap_or_default(), zone);
        assert_eq!(
            outlook.tap.lines(),
            ["POST /$batch\nGET /me/calendars?$top=100&\
              $select=id,name,canEdit,canShare,isDefaultCalendar,owner\n\
              GET /me/mailboxSettings"]
        );
    }
}

#[tokio::test]
async fn rooms_with_an_address_are_listed() {
    let outlook = Outlook::scripted(|seen| {
        all(seen, |_| {
            json!({"value": [
                {"id": "1", "displayName": "Room 2", "emailAddress": "room2@studio.example",
                 "building": "Harbour", "floorLabel": "3", "capacity": 8, "phone": "+49 40 5550"},
                {"id": "2", "displayName": "Shed", "emailAddress": "shed@studio.example",
                 "building": "", "capacity": null},
                {"id": "3", "displayName": "No address"},
            ]})
        })
    })
    .await;
    let calendars = outlook.calendars().await;
    let rooms = calendars.rooms().await.unwrap();
    let names: Vec<_> = rooms.iter().map(|one| one["displayName"].as_str().unwrap()).collect();
    assert_eq!(names, ["Room 2", "Shed"]);
    assert_eq!(outlook.tap.lines(), ["GET /places/microsoft.graph.room?$top=100"]);
    outlook.tap.say(|_| {
        let error = json!({"error": {"code": "Authorization_RequestDenied", "message": "No."}});
        Some(respond(403, &error))
    });
    assert_eq!(
        error_text(calendars.rooms().await),
        "this sign-in may not list rooms: that needs the permission Place.Read.All from an \
         administrator: request it, or name the room by its address"
    );
}

#[tokio::test]
async fn busy_times_are_reported_per_person() {
    let outlook = Outlook::scripted(|seen| {
        let item = |status: &str, hour: u8| {
            json!({
                "status": status, "isPrivate": false,
                "start": {"dateTime": format!("2026-02-03T{hour:02}:00:00.0000000"), "timeZone": "UTC"},
                "end": {"dateTime": format!("2026-02-03T{:02}:00:00.0000000", hour + 1), "timeZone": "UTC"},
            })
        };
        let about = |who: &str| match who.split('@').next().unwrap() {
            "lena" => json!({
                "scheduleId": "Lena@studio.example",
                "scheduleItems": [item("busy", 9), item("free", 10), item("tentative", 11)],
                "workingHours": {
                    "daysOfWeek": ["monday", "Friday", "someday"], "startTime": "08:30:00.0000000",
                    "endTime": "17:00:00.0000000", "timeZone": {"name": "W. Europe Standard Time"},
                },
            }),
            "bo" => json!({
                "scheduleId": who,
                "scheduleItems": [],
                "workingHours": {
                    "daysOfWeek": ["monday"], "startTime": "08:30:00", "endTime": "17:00:00",
                    "timeZone": {"@odata.type": "#microsoft.graph.customTimeZone", "name": "Customized Time Zone"},
                },
            }),
            "nobody" => json!({
                "scheduleId": who,
                "error": {"message": "Unable to resolve the address.\nProxy 7.", "responseCode": "ErrorMailRecipientNotFound"},
            }),
            _ => json!({"scheduleId": "somebody else"}),
        };
        let who = seen.body["schedules"].as_array().unwrap();
        let found: Vec<Value> = who.iter().map(|who| about(who.as_str().unwrap())).collect();
        Some(respond(200, &json!({"value": found})))
    })
    .await;
    let calendars = outlook.calendars().await;
    let who: Vec<String> =
        ["lena@studio.example", "bo@example.com", "nobody@example.com", "lost@example.com"]
            .map(str::to_owned)
            .to_vec();
    let (from, to) =
        ("2026-02-03T08:00:00Z".parse().unwrap(), "2026-02-10T08:00:00Z".parse().unwrap());
    let mut found = calendars.busy(&who, from, to).await.into_iter();
    let lena = found.next().unwrap().unwrap();
    assert_eq!(texts(&lena.busy, "status"), ["busy", "tentative"]);
    assert_eq!(texts(&lena.busy, "who"), ["lena@studio.example"; 2]);
    assert_eq!(
        lena.hours,
        Some(WorkingHours {
            zone: "Europe/Berlin".to_owned(),
            days: vec![0, 4],
            from: 510,
            to: 1_020
        })
    );
    let bo = found.next().unwrap().unwrap();
    assert_eq!((bo.who.as_str(), bo.busy.len(), bo.hours), ("bo@example.com", 0, None));
    assert_eq!(
        error_text(found.next().unwrap()),
        "Outlook does not say when nobody@example.com is busy: Unable to resolve the address: \
         check the address; people in other organisations may not share their times"
    );
    assert_eq!(
        error_text(found.next().unwrap()),
        "Outlook does not say when lost@example.com is busy: check the address; people in other \
         organisations may not share their times"
    );
    let [seen] = &outlook.tap.requests()[..] else {
        panic!("not one request");
    };
    assert_eq!(seen.line, "POST /me/calendar/getSchedule");
    assert_eq!(
        seen.body,
        json!({
            "schedules": who, "startTime": {"dateTime": "2026-02-03T08:00:00", "timeZone": "UTC"},
            "endTime": {"dateTime": "2026-02-10T08:00:00", "timeZone": "UTC"},
            "availabilityViewInterval": 1440,
        })
    );

    // Twenty at a time, and two months at most.
    let many: Vec<String> = (0..45).map(|at| format!("bo@{at}.example")).collect();
    let to = "2026-06-03T08:00:00Z".parse().unwrap();
    let found = calendars.busy(&many, from, to).await;
    assert_eq!(found.len(), 45);
    for (who, found) in many.iter().zip(found) {
        assert_eq!(found.unwrap().who, *who);
    }
    let requests: Vec<(usize, String)> = outlook
        .tap
        .requests()
        .iter()
        .map(|seen| {
            let who = seen.body["schedules"].as_array().unwrap().len();
            (who, seen.body["endTime"]["dateTime"].as_str().unwrap().to_owned())
        })
        .collect();
    let (first, second) = ("2026-04-04T08:00:00", "2026-06-03T08:00:00");
    let expected = [20, 20, 5]
        .into_iter()
        .flat_map(|people| [(people, first.to_owned()), (people, second.to_owned())]);
    assert_eq!(requests, expected.collect::<Vec<_>>());
}

/// Personal accounts have no schedules, so the user's own busy times come from the calendar.
#[tokio::test]
async fn own_busy_times_come_from_the_calendar() {
    let outlook = Outlook::scripted(|seen| {
        if seen.line.contains("getSchedule") {
            let error = json!({"error": {"code": "ErrorInvalidRequest", "message": "Not here."}});
            return Some(respond(400, &error));
        }
        let time = |text: &str| json!({"dateTime": text, "timeZone": "UTC"});
        let view = json!({"value": [
            {"id": "1", "showAs": "oof", "isAllDay": true, "start": time("2026-02-04T00:00:00"), "end": time("2026-02-05T00:00:00")},
            {"id": "2", "showAs": "free", "start": time("2026-02-04T09:00:00"), "end": time("2026-02-04T10:00:00")},
            {"id": "3", "showAs": "busy", "start": time("2026-02-05T09:00:00"), "end": time("2026-02-05T10:00:00")},
            {"id": "4", "showAs": "busy", "isCancelled": true, "start": time("2026-02-05T09:00:00"), "end": time("2026-02-05T10:00:00")},
        ]});
        let settings = json!({
            "timeZone": "Tokyo Standard Time",
            "workingHours": {"daysOfWeek": ["tuesday"], "startTime": "09:00:00.0000000",
                "endTime": "17:00:00.0000000", "timeZone": {"name": "Tokyo Standard Time"}},
        });
        all(seen, |part| if part.contains("/calendarView?") {
            view.clone()
        } else {
            settings.clone()
        })
    })
    .await;
    let who = ["Mira@example.com".to_owned(), "bo@example.com".to_owned()];
    let (from, to) =
        ("2026-02-03T08:00:00Z".parse().unwrap(), "2026-02-10T08:00:00Z".parse().unwrap());
    let found = outlook.calendars().await.busy(&who, from, to).await;
    let mine = found[0].as_ref().unwrap();
    let item = |status: &str, start: &str, end: &str| {
        json!({
            "who": "Mira@example.com", "status": status,
            "start": {"dateTime": start, "timeZone": "UTC"},
            "end": {"dateTime": end, "timeZone": "UTC"},
        })
    };
    assert_eq!(
        mine.busy,
        [
            item("oof", "2026-02-03T15:00:00", "2026-02-04T15:00:00"),
            item("busy", "2026-02-05T09:00:00", "2026-02-05T10:00:00"),
        ]
    );
    let hours = WorkingHours { zone: "Asia/Tokyo".to_owned(), days: vec![1], from: 540, to: 1_020 };
    assert_eq!(mine.hours, Some(hours));
    assert_eq!(
        found[1].as_ref().unwrap_err().to_string(),
        "Outlook answered with status 400: `Not here`"
    );
}
