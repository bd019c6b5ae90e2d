//! Calendars: written, read back, answered, followed.

use std::slice;
use std::time::Duration;

use daysheet_core::clock::ManualClock;
use daysheet_core::error::ErrorKind;
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, EventPatch, EventVisibility, InvitationAnswer, ShowAs};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::project::project;
use daysheet_core::provider::calendar::{
    CalendarOp, Calendars, ChangeFeed, EventListRequest, GuestNotice, InvitationReply,
};
use daysheet_core::schemas::{ColumnLevel, EVENT};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde_json::json;

use super::{OTHER, both, both_at};
use crate::common::client::ME;
use crate::common::clock;
use crate::outlook_calendar::{berlin, guest, hour};

fn when(text: &str) -> EventTime {
    EventTime::At(text.parse().unwrap())
}

fn titled(title: &str) -> EventPatch {
    EventPatch { title: Some(title.to_owned()), ..EventPatch::default() }
}

fn repeat(rule: &str, except: &[&str]) -> Option<Option<EventRecurrence>> {
    let except = except.iter().map(|text| when(text)).collect();
    Some(Some(EventRecurrence { rule: rule.to_owned(), except, extra: Vec::new() }))
}

/// The id of the main calendar.
async fn main(calendars: &dyn Calendars) -> CalendarId {
    calendars.calendars().await.unwrap()[0]["id"].as_str().unwrap().into()
}

async fn read(calendars: &dyn Calendars, id: &EventId) -> Event {
    calendars.event(slice::from_ref(id)).await.remove(0).unwrap()
}

/// Returns the events of the main calendar in a range.
async fn between(calendars: &dyn Calendars, from: &str, to: &str, series: bool) -> Vec<Event> {
    let ask = EventListRequest {
        calendars: vec![(main(calendars).await, None)],
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        series,
        projection: project(calendars.api(), &EVENT.up_to(ColumnLevel::Core)),
        limit: 50,
    };
    let page = calendars.events(&ask).await.remove(0).unwrap();
    page.events
}

fn titles_and_starts(events: Vec<Event>) -> Vec<(String, EventTime)> {
    events.into_iter().map(|event| (event.title, event.start)).collect()
}

#[tokio::test]
async fn meeting_is_created_answered_changed_and_cancelled() {
    let time = ManualClock::at(clock::now());
    for service in both_at(time.clock()).await {
        let google = service.is_google();
        let (mine, theirs) = (service.calendars().await, service.calendars_of(OTHER).await);
        let calendar = main(&*mine).await;
        let meeting = EventPatch {
            place: Some("Studio".to_owned()),
            notes: Some("Bring ink".to_owned()),
            guests: Some(vec![guest(OTHER), guest("lena@studio.example")]),
            online: Some(true),
            visibility: Some(EventVisibility::Private),
            reminder: Some(Some(15)),
            category: Some(if google { "tomato" } else { "Print" }.to_owned()),
            ..hour("Proofs", "2031-02-03T18:05:00")
        };
        let made = mine.create(Some(&calendar), &meeting, GuestNotice::All).await.unwrap();
        let stored = |event: &Event| {
            let event = &event.wire;
            if google {
                let reminder = &event["reminders"]["overrides"][0]["minutes"];
                json!([event["colorId"], event["visibility"], reminder])
            } else {
                let reminder = &event["reminderMinutesBeforeStart"];
                json!([event["categories"][0], event["sensitivity"], reminder])
            }
        };
        let expected = json!([if google { "11" } else { "Print" }, "private", 15]);
        assert_eq!(stored(&made), expected);
        let facts = made.clone();
        assert_eq!(
            facts,
            Event {
                calendar: Some(calendar.clone()),
                series: None,
                original: None,
                start: when("2031-02-03T17:05:00Z"),
                end: when("2031-02-03T18:05:00Z"),
                zone: Some("Europe/Berlin".to_owned()),
                repeat: None,
                title: "Proofs".to_owned(),
                place: "Studio".to_owned(),
                own: true,
                omitted: false,
                joint: false,
                guests: vec![guest(OTHER), guest("lena@studio.example")],
                answer: None,
                unanswered: false,
                busy: true,
                show: ShowAs::Busy,
                cancelled: false,
                visibility: EventVisibility::Private,
                reminder: Some(15),
                categories: vec![if google { "tomato" } else { "Print" }.to_owned()],
                online: true,
                ..facts.clone()
            }
        );
        assert_eq!(facts.other_organizer(), None);
        assert!(facts.link.as_ref().unwrap().starts_with("https://"), "{facts:?}");
        assert!(facts.notes.as_ref().unwrap().contains("Bring ink"), "{facts:?}");
        // The object that is fetched has more members.
        let again = read(&*mine, &facts.id).await;
        assert_eq!(Event { wire: facts.wire.clone(), ..again }, facts);
        let uid = facts.uid.as_deref().unwrap();
        assert_eq!(mine.by_uid(uid).await.unwrap().len(), 1);

        // Who was asked finds it, and answers.
        let invitation = theirs.by_uid(uid).await.unwrap().remove(0);
        let invited = invitation.clone();
        assert_eq!((invited.own, invited.answer, invited.guests[0].me), (false, None, true));
        let reply = InvitationReply {
            answer: InvitationAnswer::Tentative,
            comment: Some("If the train runs.".to_owned()),
            propose: None,
            notify: true,
        };
        let answered = theirs.respond(&invitation, &reply).await.unwrap().unwrap();
        assert_eq!(
            (answered.own, answered.answer, answered.busy),
            (false, Some(InvitationAnswer::Tentative), true)
        );
        let now = read(&*mine, &facts.id).await;
        let current = now.clone();
        assert_eq!(current.guests[0].answer, Some(InvitationAnswer::Tentative));
        if google {
            assert_eq!(now.guests[0].comment.as_deref(), Some("If the train runs."));
        }

        // What was read before the answer is an older version, and is not changed.
        let stale = mine.update(&made, &titled("Proofs?"), GuestNotice::All).await;
        assert_eq!(stale.unwrap_err().kind(), ErrorKind::Conflict);
        let stale = mine.delete(&made, None, GuestNotice::All).await;
        assert_eq!(stale.unwrap_err().kind(), ErrorKind::Conflict);

        // A change leaves what it does not name: the answer, the link, the rest.
        time.advance(Duration::from_secs(1));
        let renamed = mine.update(&now, &titled("Final proofs"), GuestNotice::All).await.unwrap();
        let after = renamed.clone();
        assert_ne!(after.version, current.version);
        let version = after.version.clone();
        let (updated, wire) = (after.updated, after.wire.clone());
        let title = "Final proofs".to_owned();
        assert_eq!(after, Event { title, version, updated, wire, ..current });
        if google {
            let mut expected = now.wire.clone();
            for key in ["summary", "etag", "updated"] {
                assert_ne!(expected[key], renamed.wire[key], "{key}");
                expected[key] = renamed.wire[key].clone();
            }
            assert_eq!(renamed.wire, expected);
        }
        let change = EventPatch {
            notes: Some("Bring paper".to_owned()),
            guests: Some(vec![guest(OTHER), guest("ana@example.com")]),
            time: Some((berlin("2031-02-04T09:00:00"), berlin("2031-02-04T10:00:00"))),
            ..EventPatch::default()
        };
        let changed = mine.update(&renamed, &change, GuestNotice::All).await.unwrap();
        assert_eq!(stored(&changed), expected);
        let now = changed.clone();
        assert_eq!((now.link, now.calendar), (facts.link, facts.calendar));
        let notes = now.notes.unwrap();
        assert!(notes.contains("Bring paper") && !notes.contains("ink"), "{notes}");
        let people: Vec<&str> = now.guests.iter().map(|guest| guest.address.as_str()).collect();
        assert_eq!(people, [OTHER, "ana@example.com"]);
        let copy = theirs.by_uid(uid).await.unwrap()[0].clone();
        assert_eq!((copy.title.as_str(), copy.start), ("Final proofs", now.start));

        // Both are busy then.
        let who = [ME, OTHER, "stranger@far.example"].map(str::to_owned);
        let (from, to) = ("2031-02-03T23:00:00Z", "2031-02-04T23:00:00Z");
        let busy = mine.busy(&who, from.parse().unwrap(), to.parse().unwrap()).await;
        for (one, address) in busy.iter().zip(&who).take(2) {
            let schedule = one.as_ref().unwrap();
            assert_eq!(schedule.busy.len(), 1, "{address}");
            assert_eq!(schedule.busy[0]["who"], json!(address));
            let time = |key: &str| schedule.busy[0][key]["dateTime"].as_str().unwrap().to_owned();
            assert!(time("start").starts_with("2031-02-04T08:00:00"), "{address}");
            assert!(time("end").starts_with("2031-02-04T09:00:00"), "{address}");
            assert_eq!(schedule.hours.is_none(), google, "{address}");
        }
        assert_eq!(busy[2].as_ref().unwrap_err().kind(), ErrorKind::NotFound);

        // At Google, who is asked may ask others, but not change what it is about.
        let forwarder = if google { &theirs } else { &mine };
        let id = if google { &copy.id } else { &facts.id };
        let whole = read(&**forwarder, id).await;
        let bo = ["bo@example.com".to_owned()];
        forwarder.forward(&whole, &bo, Some("For you")).await.unwrap();
        let now = read(&*mine, &facts.id).await;
        assert_eq!(now.guests[2].address, "bo@example.com");
        if google {
            let whole = read(&*theirs, id).await;
            assert_eq!(
                theirs
                    .update(&whole, &titled("Mine"), GuestNotice::All)
                    .await
                    .unwrap_err()
                    .to_string(),
                "only the organizer may change this of the meeting: ask the organizer, or create \
                 an event of your own"
            );
        }

        mine.delete(&now, Some("The press is broken."), GuestNotice::All).await.unwrap();
        let left = theirs.by_uid(uid).await.unwrap();
        assert!(left.iter().all(|event| event.cancelled), "{left:?}");
        let week = between(&*mine, "2031-02-02T23:00:00Z", "2031-02-09T23:00:00Z", false).await;
        assert_eq!(week, []);
        let deleted = mine.event(&[facts.id]).await.remove(0);
        if google {
            let late = mine.delete(&now, None, GuestNotice::All).await;
            assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict);
            assert_eq!(
                mine.delete(&deleted.unwrap(), None, GuestNotice::All)
                    .await
                    .unwrap_err()
                    .to_string(),
                "Google Calendar has no such item: it may have been deleted; search again for its \
                 handle"
            );
        } else {
            assert_eq!(deleted.unwrap_err().kind(), ErrorKind::NotFound);
        }
    }
}

#[tokio::test]
async fn series_keeps_its_local_time_and_exceptions() {
    for service in both().await {
        let google = service.is_google();
        let (mine, theirs) = (service.calendars().await, service.calendars_of(OTHER).await);
        let weekly = "FREQ=WEEKLY;COUNT=5;BYDAY=TH";
        let choir = EventPatch {
            guests: Some(vec![guest(OTHER)]),
            repeat: repeat(weekly, &["2031-03-20T18:00:00Z"]),
            ..hour("Choir", "2031-03-13T19:00:00")
        };
        let made = mine.create(None, &choir, GuestNotice::All).await.unwrap();
        let id = made.id;
        let facts = read(&*mine, &id).await;
        assert_eq!((Some(facts.repeat), facts.guests.len()), (choir.repeat, 1));
        let (from, to) = ("2031-03-01T00:00:00Z", "2031-04-20T00:00:00Z");
        let thursdays = [
            "2031-03-13T18:00:00Z", "2031-03-27T18:00:00Z", "2031-04-03T17:00:00Z",
            "2031-04-10T17:00:00Z",
        ];
        let all = thursdays.map(|start| ("Choir".to_owned(), when(start)));
        for calendars in [&mine, &theirs] {
            assert_eq!(titles_and_starts(between(&**calendars, from, to, false).await), all);
        }
        // What does not recur is shown beside what does.
        let once = hour("Once", "2031-04-17T09:00:00");
        let once = mine.create(None, &once, GuestNotice::Nobody).await.unwrap();
        assert_eq!(
            titles_and_starts(between(&*mine, "2031-04-05T00:00:00Z", to, true).await),
            [all[0].clone(), ("Once".to_owned(), when("2031-04-17T07:00:00Z"))]
        );
        mine.delete(&once, None, GuestNotice::Nobody).await.unwrap();

        // One evening elsewhere and later; another one off.
        let two = between(&*mine, "2031-03-26T23:00:00Z", "2031-04-04T22:00:00Z", false).await;
        let one = read(&*mine, &two[0].id).await;
        let reported = one.clone();
        assert_eq!(reported.series.as_ref(), Some(&id));
        assert_eq!(reported.original, Some(when("2031-03-27T18:00:00Z")));
        let moved = EventPatch {
            place: Some("Harbour".to_owned()),
            time: Some((berlin("2031-03-27T20:00:00"), berlin("2031-03-27T21:00:00"))),
            ..titled("Rehearsal")
        };
        let moved = mine.update(&one, &moved, GuestNotice::All).await.unwrap();
        assert_eq!((moved.series, moved.original), (reported.series, reported.original));
        let other = read(&*mine, &two[1].id).await;
        mine.delete(&other, None, GuestNotice::All).await.unwrap();
        let rehearsal = ("Rehearsal".to_owned(), when("2031-03-27T19:00:00Z"));
        assert_eq!(
            titles_and_starts(between(&*mine, from, to, false).await),
            [all[0].clone(), rehearsal, all[3].clone()]
        );
        let of_uid = mine.by_uid(facts.uid.as_deref().unwrap()).await.unwrap();
        let mut of_uid: Vec<_> =
            of_uid.into_iter().map(|event| (event.title, event.place, event.cancelled)).collect();
        of_uid.sort();
        let row = |title: &str, place: &str, off| (title.to_owned(), place.to_owned(), off);
        let expected =
            [row("", "", true), row("Choir", "", false), row("Rehearsal", "Harbour", false)];
        // At Google what is cancelled has no more than its time; at Outlook it is a gap
        // of the rule.
        assert_eq!(of_uid, expected[usize::from(!google)..]);
        let series = read(&*mine, &id).await;
        if !google {
            let gaps = ["2031-03-20T18:00:00Z", "2031-04-03T17:00:00Z"];
            assert_eq!(series.repeat, repeat(weekly, &gaps).unwrap());
        }

        // It ends earlier, with another gap, and then does not recur.
        let gap = "2031-03-27T18:00:00Z";
        let cut = EventPatch {
            repeat: repeat("FREQ=WEEKLY;UNTIL=20310406T000000Z;BYDAY=TH", &[gap]),
            ..EventPatch::default()
        };
        let series = mine.update(&series, &cut, GuestNotice::All).await.unwrap();
        let rule = series.repeat.clone().unwrap();
        assert!(rule.except.contains(&when(gap)), "{rule:?}");
        let left = titles_and_starts(between(&*mine, from, to, false).await);
        assert_eq!(left[0], all[0]);
        assert!(!left.contains(&all[1]) && !left.contains(&all[3]), "{left:?}");
        let series = read(&*mine, &id).await;
        let once = EventPatch { repeat: Some(None), ..EventPatch::default() };
        let once = mine.update(&series, &once, GuestNotice::All).await.unwrap();
        assert_eq!(once.repeat, None);
        assert_eq!(titles_and_starts(between(&*mine, from, to, false).await), all[..1]);
    }
}

#[tokio::test]
async fn calendars_are_created_renamed_and_deleted() {
    for service in both().await {
        let google = service.is_google();
        let mine = service.calendars().await;
        let name = if google { "summary" } else { "name" };
        let zone = google.then(|| "Europe/Lisbon".to_owned());
        let create = CalendarOp::Create { name: "Spring fair".to_owned(), zone };
        let before = mine.calendars().await.unwrap();
        mine.rehearse_op(&create).await.unwrap();
        assert_eq!(mine.calendars().await.unwrap(), before);
        let made = mine.manage(&create).await.unwrap().unwrap();
        let zone = if google { "Europe/Lisbon" } else { "W. Europe Standard Time" };
        assert_eq!((&made[name], &made["timeZone"]), (&json!("Spring fair"), &json!(zone)));
        let id = CalendarId::from(made["id"].as_str().unwrap());
        let rename = CalendarOp::Rename { id: id.clone(), name: "Autumn fair".to_owned() };
        mine.manage(&rename).await.unwrap();
        let listed = mine.calendars().await.unwrap();
        assert!(listed.iter().any(|one| one[name] == "Autumn fair"), "{listed:?}");

        let rehearsal = hour("Rehearsal", "2031-02-03T19:00:00");
        // Tried out, it is nowhere: there is one of it below.
        mine.rehearse(Some(&id), None, &rehearsal, GuestNotice::Nobody).await.unwrap();
        mine.create(Some(&id), &rehearsal, GuestNotice::Nobody).await.unwrap();
        // Both calendars at once, each with its own.
        let main = main(&*mine).await;
        let ask = EventListRequest {
            calendars: vec![(main.clone(), None), (id.clone(), None)],
            from: "2031-02-02T23:00:00Z".parse().unwrap(),
            to: "2031-02-09T23:00:00Z".parse().unwrap(),
            series: false,
            projection: project(mine.api(), &EVENT.up_to(ColumnLevel::Core)),
            limit: 50,
        };
        service.tap.requests();
        let pages = mine.events(&ask).await;
        assert_eq!(service.tap.lines().len(), if google { 2 } else { 1 });
        let found: Vec<Vec<Event>> = pages.into_iter().map(|page| page.unwrap().events).collect();
        assert_eq!((found[0].len(), found[1].len()), (0, 1));
        assert_eq!((&*found[1][0].title, &found[1][0].calendar), ("Rehearsal", &Some(id.clone())));

        let delete = CalendarOp::Delete { id };
        assert_eq!(mine.manage(&delete).await.unwrap(), None);
        assert_eq!(mine.manage(&delete).await.unwrap_err().kind(), ErrorKind::NotFound);
        if google {
            assert_eq!(made["accessRole"], "owner");
            let delete = CalendarOp::Delete { id: main };
            assert_eq!(
                mine.manage(&delete).await.unwrap_err().message(),
                "the main calendar cannot be deleted"
            );
        }
    }
}

#[tokio::test]
async fn calendar_changes_are_reported_once() {
    for service in both().await {
        let mine = service.calendars().await;
        let columns = ["id", "title"].map(|name| EVENT.field(name).unwrap());
        let projection = project(mine.api(), &columns);
        let since = async |cursor: &str| mine.changes(Some(cursor), &projection).await.unwrap();
        let is_quiet = |changes: &ChangeFeed<Event>| {
            changes.new.is_empty() && changes.changed.is_empty() && changes.gone.is_empty()
        };
        let titles = |list: &[Event]| -> Vec<String> {
            list.iter().map(|event| event.title.clone()).collect()
        };
        let soon = |hours: i64, title: &str| {
            let start = clock::now().checked_add(SignedDuration::from_hours(hours)).unwrap();
            let start = TimeZone::UTC.to_datetime(start);
            hour(title, &start.strftime("%Y-%m-%dT%H:00:00").to_string())
        };
        let old = mine.create(None, &soon(24, "Old"), GuestNotice::Nobody).await.unwrap();
        let deleted = mine.create(None, &soon(26, "Deleted"), GuestNotice::Nobody).await.unwrap();
        let begun = mine.changes(None, &projection).await.unwrap();
        let quiet = since(&begun.cursor).await;
        assert!(is_quiet(&quiet), "{quiet:?}");

        let new = EventPatch { repeat: repeat("FREQ=DAILY;COUNT=30", &[]), ..soon(28, "New") };
        let new = mine.create(None, &new, GuestNotice::Nobody).await.unwrap();
        mine.update(&old, &titled("Older"), GuestNotice::Nobody).await.unwrap();
        mine.delete(&deleted, None, GuestNotice::Nobody).await.unwrap();
        let reported = since(&quiet.cursor).await;
        assert_eq!(titles(&reported.new), ["New"]);
        let first = &reported.new[0];
        assert_eq!((&first.id, &first.repeat), (&new.id, &new.repeat));
        assert_eq!(titles(&reported.changed), ["Older"]);
        assert_eq!(reported.gone, [deleted.id.as_str()]);
        assert_eq!(reported.names[first.calendar.as_ref().unwrap().as_str()], "main");
        assert_eq!((reported.more, reported.started_over), (false, false));
        // A series that changes is one change.
        let series = read(&*mine, &new.id).await;
        mine.update(&series, &titled("Every day"), GuestNotice::Nobody).await.unwrap();
        let reported = since(&reported.cursor).await;
        assert_eq!((reported.new.len(), reported.gone.len()), (0, 0));
        assert_eq!(titles(&reported.changed), ["Every day"]);
        let quiet = since(&reported.cursor).await;
        assert!(is_quiet(&quiet), "{quiet:?}");

        service.sandbox.as_ref().unwrap().expire_sync_tokens();
        let over = since(&quiet.cursor).await;
        assert!(over.started_over && over.new.is_empty(), "{over:?}");
        assert!(!since(&over.cursor).await.started_over);
    }
}
