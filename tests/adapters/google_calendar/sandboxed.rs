//! Google's own calendar features, over the sandbox.

use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{EventPatch, ShowAs};
use daysheet_core::project::Projection;
use daysheet_core::provider::calendar::{EventListRequest, GuestNotice};
use jiff::civil::date;
use serde_json::json;

use super::google::sandboxed;
use super::{ME, at, guest, when};

fn titled(title: &str, start: &str, end: &str) -> EventPatch {
    EventPatch {
        title: Some(title.to_owned()),
        time: Some((at(start), at(end))),
        ..EventPatch::default()
    }
}

#[tokio::test]
async fn parts_of_an_event_are_taken_away() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    let change = EventPatch {
        place: Some("Studio".to_owned()),
        notes: Some("Bring paper.".to_owned()),
        online: Some(true),
        reminder: Some(Some(15)),
        category: Some("tomato".to_owned()),
        ..titled("Proofs", "2026-02-03T18:05:00", "2026-02-03T18:50:00")
    };
    let made = mine.create(None, &change, GuestNotice::Nobody).await.unwrap();
    let less = EventPatch {
        place: Some(String::new()),
        notes: Some(String::new()),
        online: Some(false),
        category: Some(String::new()),
        reminder: Some(None),
        show: Some(ShowAs::Free),
        time: Some((ZonedTime::Day(date(2026, 2, 3)), ZonedTime::Day(date(2026, 2, 5)))),
        ..EventPatch::default()
    };
    let less = mine.update(&made, &less, GuestNotice::Nobody).await.unwrap();
    for key in ["location", "description", "conferenceData", "hangoutLink", "colorId"] {
        assert_eq!(less.wire.get(key), None, "{key}");
    }
    assert_eq!(
        (&less.wire["start"], &less.wire["end"], &less.wire["transparency"]),
        (&json!({"date": "2026-02-03"}), &json!({"date": "2026-02-05"}), &json!("transparent"))
    );
    let again = EventPatch {
        time: Some((at("2026-02-04T09:00:00"), at("2026-02-04T10:00:00"))),
        ..EventPatch::default()
    };
    let again = mine.update(&less, &again, GuestNotice::Nobody).await.unwrap();
    assert_eq!(
        again.wire["start"],
        json!({"dateTime": "2026-02-04T09:00:00+01:00", "timeZone": "Europe/Berlin"})
    );
}

#[tokio::test]
async fn imported_event_belongs_to_its_organizer() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    let away = EventPatch {
        uid: Some("fair-1@fair.example".to_owned()),
        organizer: Some(guest("ana@fair.example")),
        guests: Some(vec![guest("bo@example.com")]),
        ..titled("Fair", "2026-02-03T18:05:00", "2026-02-03T18:50:00")
    };
    // Tried out, it is nowhere: one of it is found below.
    assert_eq!(mine.rehearse(None, None, &away, GuestNotice::All).await, Ok(()));
    let made = mine.create(None, &away, GuestNotice::All).await.unwrap();
    assert!(!made.own);
    assert_eq!(mine.by_uid("fair-1@fair.example").await.unwrap().len(), 1);
}

#[tokio::test]
async fn all_kinds_of_event_time_round_trip() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    let days = Some((ZonedTime::Day(date(2026, 2, 9)), ZonedTime::Day(date(2026, 2, 11))));
    let whole = (EventTime::Day(date(2026, 2, 9)), EventTime::Day(date(2026, 2, 11)));
    for (show, expected, kind, busy) in cases! {
        ShowAs::Busy, whole, "default", true;
        ShowAs::Free, whole, "default", false;
        ShowAs::Tentative, whole, "default", true;
        // Google has no whole days of these two.
        ShowAs::Oof, (when("2026-02-08T23:00:00Z"), when("2026-02-10T23:00:00Z")), "outOfOffice",
            true;
        ShowAs::Focus, (when("2026-02-08T23:00:00Z"), when("2026-02-10T23:00:00Z")), "focusTime",
            true;
    } {
        let change = EventPatch {
            title: Some("Away".to_owned()),
            time: days.clone(),
            show: Some(show),
            ..EventPatch::default()
        };
        let made = mine.create(None, &change, GuestNotice::Nobody).await.unwrap();
        assert_eq!((made.start, made.end), expected, "{show:?}");
        let found = (&made.wire["eventType"], made.busy, made.show);
        assert_eq!(found, (&json!(kind), busy, show), "{show:?}");
        mine.delete(&made, None, GuestNotice::Nobody).await.unwrap();
    }
    let place = EventPatch {
        place: Some("Library".to_owned()),
        time: Some((ZonedTime::Day(date(2026, 2, 9)), ZonedTime::Day(date(2026, 2, 10)))),
        show: Some(ShowAs::Elsewhere),
        ..EventPatch::default()
    };
    let made = mine.create(None, &place, GuestNotice::Nobody).await.unwrap();
    assert_eq!(made.wire["workingLocationProperties"]["customLocation"]["label"], "Library");
    assert!(!made.busy);
}

/// An expired token is renewed, and the write is made once.
#[tokio::test]
async fn expired_token_does_not_repeat_a_write() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    mine.calendars().await.unwrap();
    google.sandbox.as_ref().unwrap().expire_access_tokens();
    google.tap.requests();
    let proofs = titled("Proofs", "2026-02-03T18:05:00", "2026-02-03T18:50:00");
    mine.create(None, &proofs, GuestNotice::Nobody).await.unwrap();
    let posts = google.tap.requests();
    assert_eq!(posts.len(), 2);
    assert_ne!(posts[0].header("authorization"), posts[1].header("authorization"));
    assert_eq!(posts[0].body, posts[1].body);
    let ask = EventListRequest {
        calendars: vec![(ME.into(), None)],
        from: "2026-02-01T00:00:00Z".parse().unwrap(),
        to: "2026-03-01T00:00:00Z".parse().unwrap(),
        series: false,
        projection: Projection::default(),
        limit: 50,
    };
    assert_eq!(mine.events(&ask).await.remove(0).unwrap().events.len(), 1);
}
