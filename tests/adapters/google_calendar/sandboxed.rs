//! The calendars over the sandbox: written, read back, answered, followed.

use daysheet_core::error::Kind;
use daysheet_core::event_time::{EventTime, ZonedTime};
use daysheet_core::project::{Projection, project};
use daysheet_core::provider::calendar::{
    Answer, CalendarOp, Calendars, Change, EventData, EventListRequest, InvitationReply, Notify,
    Show, Visibility,
};
use daysheet_core::recurrence::Repeat;
use daysheet_core::schemas::{Api, Level, MESSAGE};
use jiff::civil::date;
use serde_json::{Value, json};

use super::google::sandboxed;
use super::{ME, at, guest, when};

const WORK: &str = "mira@lindqvist-lamps.example";

fn titled(title: &str, start: &str, end: &str) -> Change {
    Change { title: Some(title.to_owned()), time: Some((at(start), at(end))), ..Change::default() }
}

/// Titles and starts of a range, in order.
async fn between(
    calendars: &dyn Calendars,
    calendar: &str,
    from: &str,
    to: &str,
    series: bool,
) -> Vec<(String, EventTime)> {
    let ask = EventListRequest {
        calendars: vec![(calendar.to_owned(), None)],
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        series,
        projection: Projection::default(),
        limit: 50,
    };
    let page = calendars.events(&ask).await.remove(0).unwrap();
    page.items
        .iter()
        .map(|item| {
            let facts = calendars.event_data(item).unwrap();
            (facts.title, facts.start)
        })
        .collect()
}

async fn read(calendars: &dyn Calendars, id: &str) -> Value {
    calendars.event(&[id.to_owned()]).await.remove(0).unwrap()
}

#[tokio::test]
async fn meeting_is_created_answered_changed_and_cancelled() {
    let google = sandboxed().await;
    let (mine, work) = (google.calendars().await, google.calendars_of(WORK).await);
    let change = Change {
        place: Some("Studio".to_owned()),
        notes: Some("Bring paper.".to_owned()),
        guests: Some(vec![guest(WORK), guest("lena@studio.example")]),
        online: Some(true),
        visibility: Some(Visibility::Private),
        reminder: Some(Some(15)),
        category: Some("tomato".to_owned()),
        ..titled("Proofs", "2026-02-03T18:05:00", "2026-02-03T18:50:00")
    };
    let made = mine.create(None, &change, Notify::All).await.unwrap();
    assert_eq!((&made["colorId"], &made["visibility"]), (&json!("11"), &json!("private")));
    assert_eq!(made["reminders"]["overrides"][0]["minutes"], 15);
    let facts = mine.event_data(&made).unwrap();
    assert_eq!(
        facts,
        EventData {
            id: facts.id.clone(),
            calendar: Some(ME.to_owned()),
            series: None,
            original: None,
            start: when("2026-02-03T17:05:00Z"),
            end: when("2026-02-03T17:50:00Z"),
            zone: Some("Europe/Berlin".to_owned()),
            repeat: None,
            uid: facts.uid.clone(),
            title: "Proofs".to_owned(),
            place: "Studio".to_owned(),
            own: true,
            organizer: None,
            omitted: false,
            joint: false,
            guests: vec![guest(WORK), guest("lena@studio.example")],
            answer: None,
            busy: true,
            cancelled: false,
            version: facts.version.clone(),
            link: facts.link.clone(),
            notes: Some("Bring paper.".to_owned()),
        }
    );
    assert!(facts.link.as_deref().unwrap().starts_with("https://meet.google.com/"));

    // Who was asked finds it, and answers.
    let theirs = work.by_uid(facts.uid.as_deref().unwrap()).await.unwrap();
    let response = InvitationReply {
        answer: Answer::Tentative,
        comment: Some("If the train runs.".to_owned()),
        propose: None,
        notify: true,
    };
    let answered = work.respond(&theirs[0], &response).await.unwrap().unwrap();
    let reported = work.event_data(&answered).unwrap();
    assert_eq!(
        (reported.own, reported.answer, reported.busy),
        (false, Some(Answer::Tentative), true)
    );

    // The answer stays when something else changes, and nothing else does.
    let stale = made;
    let now = read(&*mine, &facts.id).await;
    assert_eq!(now["attendees"][0]["comment"], "If the train runs.");
    let title = |title: &str| Change { title: Some(title.to_owned()), ..Change::default() };
    let renamed = mine.update(&now, &title("Final proofs"), Notify::All).await.unwrap();
    let mut expected = now.clone();
    for key in ["summary", "etag", "updated"] {
        assert_ne!(expected[key], renamed[key], "{key}");
        expected[key] = renamed[key].clone();
    }
    assert_eq!(renamed, expected);
    let late = mine.update(&stale, &title("Proofs?"), Notify::All).await;
    assert_eq!(late.unwrap_err().kind(), Kind::Conflict);

    // Its parts go as they came.
    let less = Change {
        place: Some(String::new()),
        notes: Some(String::new()),
        online: Some(false),
        category: Some(String::new()),
        reminder: Some(None),
        show: Some(Show::Free),
        time: Some((ZonedTime::Day(date(2026, 2, 3)), ZonedTime::Day(date(2026, 2, 5)))),
        ..Change::default()
    };
    let less = mine.update(&renamed, &less, Notify::Nobody).await.unwrap();
    for key in ["location", "description", "conferenceData", "hangoutLink", "colorId"] {
        assert_eq!(less.get(key), None, "{key}");
    }
    assert_eq!(
        (&less["start"], &less["end"], &less["transparency"]),
        (&json!({"date": "2026-02-03"}), &json!({"date": "2026-02-05"}), &json!("transparent"))
    );
    let again = Change {
        time: Some((at("2026-02-04T09:00:00"), at("2026-02-04T10:00:00"))),
        ..Change::default()
    };
    let again = mine.update(&less, &again, Notify::Nobody).await.unwrap();
    assert_eq!(
        again["start"],
        json!({"dateTime": "2026-02-04T09:00:00+01:00", "timeZone": "Europe/Berlin"})
    );

    // Who is asked may ask others, but not change what it is about.
    let copy = read(&*work, &reported.id).await;
    work.forward(&copy, &["bo@example.com".to_owned()], None).await.unwrap();
    let now = read(&*mine, &facts.id).await;
    let people: Vec<_> = mine.event_data(&now).unwrap().guests;
    let people: Vec<_> = people.iter().map(|guest| guest.address.as_str()).collect();
    assert_eq!(people, [WORK, "lena@studio.example", "bo@example.com"]);
    let copy = read(&*work, &reported.id).await;
    assert_eq!(
        work.update(&copy, &title("Mine"), Notify::All).await.unwrap_err().to_string(),
        "only the organizer may change this of the meeting: ask the organizer, or answer with \
         calendar_respond"
    );

    mine.delete(&now, Some("The press is broken."), Notify::All).await.unwrap();
    let gone = work.event(&[reported.id]).await.remove(0).unwrap();
    assert!(work.event_data(&gone).unwrap().cancelled);
    assert_eq!(mine.delete(&now, None, Notify::All).await.unwrap_err().kind(), Kind::Conflict);
    let now = read(&*mine, &facts.id).await;
    assert_eq!(
        mine.delete(&now, None, Notify::All).await.unwrap_err().to_string(),
        "Google Calendar has no such item: it may have been deleted; search again for its handle"
    );
}

#[tokio::test]
async fn series_keeps_its_local_time_and_exceptions() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    let change = Change {
        repeat: Some(Some(Repeat {
            rule: "FREQ=WEEKLY;COUNT=5;BYDAY=TU".to_owned(),
            except: vec![when("2026-03-24T08:00:00Z")],
            extra: Vec::new(),
        })),
        ..titled("Choir", "2026-03-17T09:00:00", "2026-03-17T10:00:00")
    };
    let series = mine.create(None, &change, Notify::Nobody).await.unwrap();
    let facts = mine.event_data(&series).unwrap();
    assert_eq!(Some(facts.repeat), change.repeat);
    // What does not recur is told beside what does.
    let once = titled("Once", "2026-05-17T09:00:00", "2026-05-17T10:00:00");
    mine.create(None, &once, Notify::Nobody).await.unwrap();
    assert_eq!(
        between(&*mine, ME, "2026-04-10T00:00:00Z", "2026-06-01T00:00:00Z", true).await,
        [
            ("Choir".to_owned(), when("2026-03-17T08:00:00Z")),
            ("Once".to_owned(), when("2026-05-17T07:00:00Z"))
        ]
    );
    let (from, to) = ("2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z");
    let all = |titles: [&str; 4]| -> Vec<(String, EventTime)> {
        let starts = [
            "2026-03-17T08:00:00Z", "2026-03-31T07:00:00Z", "2026-04-07T07:00:00Z",
            "2026-04-14T07:00:00Z",
        ];
        let titles = titles.iter().zip(starts);
        titles.map(|(title, start)| ((*title).to_owned(), when(start))).collect()
    };
    assert_eq!(between(&*mine, ME, from, to, false).await, all(["Choir"; 4]));
    assert_eq!(
        between(&*mine, ME, from, to, true).await,
        [("Choir".to_owned(), when("2026-03-17T08:00:00Z"))]
    );

    // One of them is changed, one is deleted.
    let one = format!("{}_20260407T070000Z", facts.id);
    let other = format!("{}_20260414T070000Z", facts.id);
    let occurrence = read(&*mine, &one).await;
    let reported = mine.event_data(&occurrence).unwrap();
    assert_eq!(reported.series.as_deref(), Some(facts.id.as_str()));
    assert_eq!(reported.original, Some(when("2026-04-07T07:00:00Z")));
    let rehearsal = Change { title: Some("Rehearsal".to_owned()), ..Change::default() };
    mine.update(&occurrence, &rehearsal, Notify::Nobody).await.unwrap();
    let occurrence = read(&*mine, &other).await;
    mine.delete(&occurrence, None, Notify::Nobody).await.unwrap();
    let mut expected = all(["Choir", "Choir", "Rehearsal", ""]);
    expected.pop();
    assert_eq!(between(&*mine, ME, from, to, false).await, expected);
    let of_uid = mine.by_uid(facts.uid.as_deref().unwrap()).await.unwrap();
    let mut titles: Vec<_> = of_uid
        .iter()
        .map(|event| (event["summary"].as_str(), event["status"].as_str().unwrap()))
        .collect();
    titles.sort();
    // What is cancelled has no more than its time.
    assert_eq!(
        titles,
        [(None, "cancelled"), (Some("Choir"), "confirmed"), (Some("Rehearsal"), "confirmed"),]
    );

    // It ends earlier, and then does not recur.
    let series = read(&*mine, &facts.id).await;
    let shorter = Change {
        repeat: Some(Some(Repeat {
            rule: "FREQ=WEEKLY;COUNT=3;BYDAY=TU".to_owned(),
            ..Repeat::default()
        })),
        ..Change::default()
    };
    let series = mine.update(&series, &shorter, Notify::Nobody).await.unwrap();
    let starts = between(&*mine, ME, from, to, false).await;
    assert_eq!(starts.len(), 3, "{starts:?}");
    let once = Change { repeat: Some(None), ..Change::default() };
    let once = mine.update(&series, &once, Notify::Nobody).await.unwrap();
    assert_eq!(mine.event_data(&once).unwrap().repeat, None);
    assert_eq!(between(&*mine, ME, from, to, false).await.len(), 1);
}

#[tokio::test]
async fn all_kinds_of_event_time_round_trip() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    let days = Some((ZonedTime::Day(date(2026, 2, 9)), ZonedTime::Day(date(2026, 2, 11))));
    let whole = (EventTime::Day(date(2026, 2, 9)), EventTime::Day(date(2026, 2, 11)));
    for (show, expected, kind, busy) in cases! {
        Show::Busy, whole, "default", true;
        Show::Free, whole, "default", false;
        Show::Tentative, whole, "default", true;
        // Google has no whole days of these two.
        Show::Oof, (when("2026-02-08T23:00:00Z"), when("2026-02-10T23:00:00Z")), "outOfOffice",
            true;
        Show::Focus, (when("2026-02-08T23:00:00Z"), when("2026-02-10T23:00:00Z")), "focusTime",
            true;
    } {
        let change = Change {
            title: Some("Away".to_owned()),
            time: days.clone(),
            show: Some(show),
            ..Change::default()
        };
        let made = mine.create(None, &change, Notify::Nobody).await.unwrap();
        let facts = mine.event_data(&made).unwrap();
        assert_eq!((facts.start, facts.end), expected, "{show:?}");
        assert_eq!((&made["eventType"], facts.busy), (&json!(kind), busy), "{show:?}");
        mine.delete(&made, None, Notify::Nobody).await.unwrap();
    }
    let place = Change {
        place: Some("Library".to_owned()),
        time: Some((ZonedTime::Day(date(2026, 2, 9)), ZonedTime::Day(date(2026, 2, 10)))),
        show: Some(Show::Elsewhere),
        ..Change::default()
    };
    let made = mine.create(None, &place, Notify::Nobody).await.unwrap();
    assert_eq!(made["workingLocationProperties"]["customLocation"]["label"], "Library");
    assert!(!mine.event_data(&made).unwrap().busy);
}

#[tokio::test]
async fn events_belong_to_their_own_calendar() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    let spring = CalendarOp::Create {
        name: "Spring fair".to_owned(),
        zone: Some("Europe/Lisbon".to_owned()),
    };
    let before = mine.calendars().await.unwrap();
    mine.rehearse_op(&spring).await.unwrap();
    assert_eq!(mine.calendars().await.unwrap(), before);
    let spring = mine.manage(&spring).await.unwrap().unwrap();
    let id = spring["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (&spring["summary"], &spring["accessRole"], &spring["timeZone"]),
        (&json!("Spring fair"), &json!("owner"), &json!("Europe/Lisbon"))
    );
    let rename = CalendarOp::Rename { id: id.clone(), name: "Autumn fair".to_owned() };
    mine.manage(&rename).await.unwrap();
    let listed = mine.calendars().await.unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["primary"]), (&json!(ME), &json!(true)));
    assert!(listed.iter().any(|one| one["summary"] == "Autumn fair"));

    let away = Change {
        uid: Some("fair-1@fair.example".to_owned()),
        organizer: Some(guest("ana@fair.example")),
        guests: Some(vec![guest("bo@example.com")]),
        ..titled("Fair", "2026-02-03T18:05:00", "2026-02-03T18:50:00")
    };
    // Tried out, it is nowhere: one of it is found below.
    let tried = mine.rehearse(Some(&id), None, &away, Notify::All).await;
    assert_eq!(tried, Ok(()));
    let made = mine.create(Some(&id), &away, Notify::All).await.unwrap();
    let facts = mine.event_data(&made).unwrap();
    assert_eq!((facts.calendar, facts.own), (Some(id.clone()), false));
    let found = mine.by_uid("fair-1@fair.example").await.unwrap();
    assert_eq!(found.len(), 1);

    let delete = CalendarOp::Delete { id: id.clone() };
    assert_eq!(mine.manage(&delete).await.unwrap(), None);
    let gone = mine.event(&[facts.id]).await.remove(0);
    assert_eq!(gone.unwrap_err().kind(), Kind::NotFound);
    let main = CalendarOp::Delete { id: ME.to_owned() };
    assert_eq!(
        mine.manage(&main).await.unwrap_err().message(),
        "the main calendar cannot be deleted"
    );
}

#[tokio::test]
async fn busy_times_match_the_events() {
    let google = sandboxed().await;
    let (mine, work) = (google.calendars().await, google.calendars_of(WORK).await);
    let own = titled("Proofs", "2026-02-03T18:05:00", "2026-02-03T18:50:00");
    mine.create(None, &own, Notify::Nobody).await.unwrap();
    let theirs = titled("Lamps", "2026-02-03T09:00:00", "2026-02-03T09:30:00");
    work.create(None, &theirs, Notify::Nobody).await.unwrap();
    let who = [ME, WORK, "nobody@nowhere.example"].map(str::to_owned);
    let reported = mine
        .busy(
            &who,
            "2026-02-03T00:00:00Z".parse().unwrap(),
            "2026-02-04T00:00:00Z".parse().unwrap(),
        )
        .await;
    let reported: Vec<_> = reported
        .into_iter()
        .map(|one| one.map(|one| one.busy).map_err(|error| error.kind()))
        .collect();
    let busy = |who: &str, start: &str, end: &str| {
        vec![json!({"who": who, "start": {"dateTime": start}, "end": {"dateTime": end}})]
    };
    assert_eq!(
        reported,
        [
            Ok(busy(ME, "2026-02-03T17:05:00Z", "2026-02-03T17:50:00Z")),
            Ok(busy(WORK, "2026-02-03T08:00:00Z", "2026-02-03T08:30:00Z")),
            Err(Kind::NotFound),
        ]
    );
}

#[tokio::test]
async fn each_change_is_reported_exactly_once() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    let nothing = Projection::default();
    let old = titled("Old", "2026-11-03T18:05:00", "2026-11-03T18:50:00");
    let old = mine.create(None, &old, Notify::Nobody).await.unwrap();
    let gone = titled("Gone", "2026-11-04T18:05:00", "2026-11-04T18:50:00");
    let gone = mine.create(None, &gone, Notify::Nobody).await.unwrap();
    let cursor = mine.changes(None, &nothing).await.unwrap().cursor;
    let quiet = mine.changes(Some(&cursor), &nothing).await.unwrap();
    assert!(quiet.new.is_empty() && quiet.changed.is_empty() && quiet.gone.is_empty());

    let new = Change {
        repeat: Some(Some(Repeat { rule: "FREQ=DAILY;COUNT=40".to_owned(), ..Repeat::default() })),
        ..titled("New", "2026-11-05T18:05:00", "2026-11-05T18:50:00")
    };
    mine.create(None, &new, Notify::Nobody).await.unwrap();
    let other = Change { title: Some("Older".to_owned()), ..Change::default() };
    mine.update(&old, &other, Notify::Nobody).await.unwrap();
    mine.delete(&gone, None, Notify::Nobody).await.unwrap();
    let reported = mine.changes(Some(&quiet.cursor), &nothing).await.unwrap();
    let titles = |list: &[Value]| -> Vec<String> {
        let titles = list.iter().map(|item| mine.event_data(item).unwrap().title);
        titles.collect()
    };
    assert_eq!(titles(&reported.new), ["New"]);
    assert_eq!(titles(&reported.changed), ["Older"]);
    assert_eq!(reported.gone, [mine.event_data(&gone).unwrap().id]);
    assert_eq!((reported.more, reported.started_over), (false, false));
    let quiet = mine.changes(Some(&reported.cursor), &nothing).await.unwrap();
    assert!(quiet.new.is_empty() && quiet.changed.is_empty() && quiet.gone.is_empty());

    google.sandbox.as_ref().unwrap().expire_sync_tokens();
    let over = mine.changes(Some(&quiet.cursor), &nothing).await.unwrap();
    assert!(over.started_over && over.new.is_empty());
    let quiet = mine.changes(Some(&over.cursor), &nothing).await.unwrap();
    assert!(!quiet.started_over);
}

#[tokio::test]
async fn new_changed_and_deleted_mail_is_reported() {
    let google = sandboxed().await;
    let (mail, sandbox) = (google.mailbox().await, google.sandbox.as_ref().unwrap());
    let projection = project(Api::Gmail, &MESSAGE.up_to(Level::Core));
    let cursor = mail.changes(None, &projection).await.unwrap().cursor;
    let quiet = mail.changes(Some(&cursor), &projection).await.unwrap();
    assert!(quiet.new.is_empty() && quiet.changed.is_empty() && quiet.gone.is_empty());
    let message = |id: &str| {
        format!(
            "Message-ID: <{id}@studio.example>\r\nFrom: lena@studio.example\r\nTo: {ME}\r\n\
             Subject: {id}\r\nDate: Tue, 03 Feb 2026 18:05:00 +0100\r\n\r\nHello.\r\n"
        )
    };
    for id in ["one", "two"] {
        assert!(sandbox.deliver(ME, message(id).as_bytes()).unwrap());
    }
    let first = mail.changes(Some(&quiet.cursor), &projection).await.unwrap();
    let subjects = |list: &[Value]| -> Vec<String> {
        let headers = list.iter().map(|item| {
            let headers = item["payload"]["headers"].as_array().unwrap();
            headers.iter().find(|header| header["name"] == "Subject").unwrap()
        });
        headers.map(|header| header["value"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(subjects(&first.new), ["one", "two"]);
    assert!(sandbox.relabel(ME, "one@studio.example", &["INBOX", "STARRED"]));
    assert!(sandbox.discard(ME, "two@studio.example"));
    let then = mail.changes(Some(&first.cursor), &projection).await.unwrap();
    assert_eq!(subjects(&then.changed), ["one"]);
    assert_eq!(then.gone, [first.new[1]["id"].as_str().unwrap()]);
    assert!(then.new.is_empty());
    // All of it at once: what came and went meanwhile was never there.
    let all = mail.changes(Some(&cursor), &projection).await.unwrap();
    assert_eq!((subjects(&all.new), all.gone.len()), (vec!["one".to_owned()], 0));
    sandbox.expire_sync_tokens();
    let over = mail.changes(Some(&cursor), &projection).await.unwrap();
    assert!(over.started_over);
}

/// A token that has run out is renewed, and the write is made once.
#[tokio::test]
async fn expired_token_does_not_repeat_a_write() {
    let google = sandboxed().await;
    let mine = google.calendars().await;
    mine.calendars().await.unwrap();
    google.sandbox.as_ref().unwrap().expire_access_tokens();
    google.tap.requests();
    let proofs = titled("Proofs", "2026-02-03T18:05:00", "2026-02-03T18:50:00");
    mine.create(None, &proofs, Notify::Nobody).await.unwrap();
    let posts = google.tap.requests();
    assert_eq!(posts.len(), 2);
    assert_ne!(posts[0].header("authorization"), posts[1].header("authorization"));
    assert_eq!(posts[0].body, posts[1].body);
    let (from, to) = ("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z");
    assert_eq!(between(&*mine, ME, from, to, false).await.len(), 1);
}
