//! The same against the sandbox, which keeps what it is told.

use daysheet_core::event_time::EventTime;
use daysheet_core::recurrence::Repeat;
use daysheet_core::schemas::MESSAGE;

use super::*;
use crate::common::client::ME;

/// Another mailbox of the sample.
const OTHER: &str = "mira@lindqvist-lamps.example";

/// The id of the main calendar.
async fn main(calendars: &Arc<dyn Calendars>) -> String {
    let all = calendars.calendars().await.unwrap();
    all[0]["id"].as_str().unwrap().to_owned()
}

/// The events of a week.
async fn week(calendars: &Arc<dyn Calendars>) -> Vec<Value> {
    let main = main(calendars).await;
    let ask = range(&[&main], "2031-02-02T23:00:00Z", "2031-02-09T23:00:00Z");
    calendars.events(&ask).await.remove(0).unwrap().items
}

async fn fresh(calendars: &Arc<dyn Calendars>, event: &Value) -> Value {
    let id = event["id"].as_str().unwrap().to_owned();
    calendars.event(&[id]).await.remove(0).unwrap()
}

#[tokio::test]
async fn meeting_is_created_answered_changed_and_cancelled() {
    let outlook = Outlook::without_events().await;
    let mine = outlook.calendars().await;
    let theirs = outlook.calendars_of(OTHER).await;
    let calendar = main(&mine).await;

    let meeting = Change {
        guests: Some(vec![guest(OTHER)]),
        online: Some(true),
        notes: Some("Bring\nink".to_owned()),
        reminder: Some(Some(5)),
        category: Some("Print".to_owned()),
        ..hour("Proofs", "2031-02-03T18:05:00")
    };
    let made = mine.create(Some(&calendar), &meeting, Notify::All).await.unwrap();
    assert_eq!(made["calendarId"], json!(calendar));
    let facts = mine.event_data(&made).unwrap();
    assert_eq!(
        (facts.own, facts.guests.len(), facts.zone.as_deref()),
        (true, 1, Some("Europe/Berlin"))
    );
    assert!(facts.link.is_some());
    let read = fresh(&mine, &made).await;
    assert_eq!(mine.event_data(&read), Some(facts.clone()));
    let found = mine.by_uid(facts.uid.as_ref().unwrap()).await.unwrap();
    assert_eq!(texts(&found, "id"), [facts.id.as_str()]);

    // It is an invitation at the other's, who answers it.
    let [invitation] = &week(&theirs).await[..] else {
        panic!("not one invitation");
    };
    let invited = theirs.event_data(invitation).unwrap();
    assert_eq!((invited.own, invited.answer, invited.guests[0].me), (false, None, true));
    let whole = fresh(&theirs, invitation).await;
    let yes = InvitationReply {
        answer: Answer::Accepted,
        comment: Some("Gladly".to_owned()),
        propose: None,
        notify: true,
    };
    let now = theirs.respond(&whole, &yes).await.unwrap().unwrap();
    assert_eq!(theirs.event_data(&now).unwrap().answer, Some(Answer::Accepted));
    let answered = fresh(&mine, &made).await;
    assert_eq!(mine.event_data(&answered).unwrap().guests[0].answer, Some(Answer::Accepted));

    // What was read before the answer is an older version, and is not changed.
    let rename = Change { title: Some("Proofs 2".to_owned()), ..Change::default() };
    let stale = mine.update(&made, &rename, Notify::All).await.unwrap_err();
    assert_eq!(stale.kind(), Kind::Conflict);
    let stale = mine.delete(&made, None, Notify::All).await.unwrap_err();
    assert_eq!(stale.kind(), Kind::Conflict);

    // A change keeps what it does not name: the answer, the link, the rest.
    let change = Change {
        notes: Some("Bring paper".to_owned()),
        guests: Some(vec![guest(OTHER), guest("ana@example.com")]),
        time: Some((berlin("2031-02-04T09:00:00"), berlin("2031-02-04T10:00:00"))),
        ..Change::default()
    };
    let changed = mine.update(&answered, &change, Notify::All).await.unwrap();
    let now = mine.event_data(&changed).unwrap();
    assert_eq!(now.link, facts.link);
    let notes = now.notes.unwrap();
    assert!(notes.contains("Bring paper") && !notes.contains("ink"), "{notes}");
    assert_eq!(changed["reminderMinutesBeforeStart"], 5);
    assert_eq!(changed["categories"], json!(["Print"]));
    assert_eq!(changed["calendarId"], json!(calendar));
    let people: Vec<&str> = now.guests.iter().map(|guest| guest.address.as_str()).collect();
    assert_eq!(people, [OTHER, "ana@example.com"]);
    assert_eq!(texts(&week(&theirs).await, "subject"), ["Proofs"]);

    // Both are busy then.
    let who = [ME.to_owned(), OTHER.to_owned(), "stranger@far.example".to_owned()];
    let (from, to) =
        ("2031-02-03T23:00:00Z".parse().unwrap(), "2031-02-04T23:00:00Z".parse().unwrap());
    let busy = mine.busy(&who, from, to).await;
    for (one, address) in busy.iter().zip(&who).take(2) {
        let schedule = one.as_ref().unwrap();
        assert_eq!(schedule.busy.len(), 1, "{address}");
        assert_eq!(schedule.busy[0]["who"], json!(address));
        assert_eq!(schedule.busy[0]["start"]["dateTime"], "2031-02-04T08:00:00.0000000");
        assert!(schedule.hours.is_some(), "{address}");
    }
    assert_eq!(busy[2].as_ref().unwrap_err().kind(), Kind::NotFound);

    let forwarded = fresh(&mine, &made).await;
    mine.forward(&forwarded, &["bo@example.com".to_owned()], Some("For you")).await.unwrap();
    let forwarded = fresh(&mine, &made).await;
    assert_eq!(mine.event_data(&forwarded).unwrap().guests.len(), 3);

    mine.delete(&forwarded, Some("Sorry"), Notify::All).await.unwrap();
    let gone = mine.event(&[facts.id]).await.remove(0).unwrap_err();
    assert_eq!(gone.kind(), Kind::NotFound);
    assert_eq!(week(&mine).await, Vec::<Value>::new());
    let left = week(&theirs).await;
    assert!(left.iter().all(|event| theirs.event_data(event).unwrap().cancelled), "{left:?}");
}

#[tokio::test]
async fn declining_removes_the_event() {
    let outlook = Outlook::without_events().await;
    let mine = outlook.calendars().await;
    let theirs = outlook.calendars_of(OTHER).await;
    let meeting =
        Change { guests: Some(vec![guest(OTHER)]), ..hour("Proofs", "2031-02-03T18:05:00") };
    let made = mine.create(None, &meeting, Notify::All).await.unwrap();
    let whole = fresh(&theirs, &week(&theirs).await[0]).await;
    let no = InvitationReply {
        answer: Answer::Declined,
        comment: None,
        propose: Some((
            "2031-02-05T08:00:00Z".parse().unwrap(),
            "2031-02-05T09:00:00Z".parse().unwrap(),
        )),
        notify: true,
    };
    assert_eq!(theirs.respond(&whole, &no).await.unwrap(), None);
    assert_eq!(week(&theirs).await, Vec::<Value>::new());
    let answered = mine.event_data(&fresh(&mine, &made).await).unwrap();
    assert_eq!(answered.guests[0].answer, Some(Answer::Declined));
}

/// Local times stay what they were said, on both sides of a change of the clocks.
#[tokio::test]
async fn local_times_survive_daylight_saving_changes() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    let zoned = |text: &str, zone: &str| ZonedTime::At(text.parse().unwrap(), zone.to_owned());
    for (zone, local, utc) in [
        ("Europe/Berlin", "2031-03-29T09:00:00", "2031-03-29T08:00:00Z"),
        ("Europe/Berlin", "2031-03-31T09:00:00", "2031-03-31T07:00:00Z"),
        ("Europe/Stockholm", "2031-07-01T09:00:00", "2031-07-01T07:00:00Z"),
        ("America/New_York", "2031-03-10T09:00:00", "2031-03-10T13:00:00Z"),
        ("Asia/Kolkata", "2031-03-10T09:00:00", "2031-03-10T03:30:00Z"),
        ("Australia/Lord_Howe", "2031-01-10T09:00:00", "2031-01-09T22:00:00Z"),
        ("Antarctica/Troll", "2031-07-10T09:00:00", "2031-07-10T07:00:00Z"),
    ] {
        let end = local.replace("T09", "T10");
        let change =
            Change { time: Some((zoned(local, zone), zoned(&end, zone))), ..Change::default() };
        let made = calendars.create(None, &change, Notify::Nobody).await.unwrap();
        let facts = calendars.event_data(&made).unwrap();
        assert_eq!(facts.start, EventTime::At(utc.parse().unwrap()), "{zone} {local}");
        // The zone shows what was said, whatever it is called.
        let own = daysheet_core::event_time::find_zone(facts.zone.as_ref().unwrap()).unwrap();
        let shown = own.to_datetime(utc.parse().unwrap());
        if zone != "Antarctica/Troll" {
            assert_eq!(shown, local.parse().unwrap(), "{zone}");
        }
    }
    // Days are days.
    let day = |text: &str| ZonedTime::Day(text.parse().unwrap());
    let fair = Change { time: Some((day("2031-03-29"), day("2031-04-01"))), ..Change::default() };
    let made = calendars.create(None, &fair, Notify::Nobody).await.unwrap();
    let facts = calendars.event_data(&made).unwrap();
    assert_eq!((facts.start, facts.end), (when("2031-03-29"), when("2031-04-01")));
    assert_eq!(made["originalStartTimeZone"], "W. Europe Standard Time");
}

#[tokio::test]
async fn calendars_are_created_renamed_and_deleted() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    let create = CalendarOp::Create { name: "Choir".to_owned(), zone: None };
    let before = calendars.calendars().await.unwrap();
    calendars.rehearse_op(&create).await.unwrap();
    assert_eq!(calendars.calendars().await.unwrap(), before);
    let made = calendars.manage(&create).await.unwrap().unwrap();
    assert_eq!(
        (&made["name"], &made["timeZone"]),
        (&json!("Choir"), &json!("W. Europe Standard Time"))
    );
    let id = made["id"].as_str().unwrap().to_owned();
    let rename = CalendarOp::Rename { id: id.clone(), name: "Chor".to_owned() };
    assert_eq!(calendars.manage(&rename).await.unwrap().unwrap()["name"], "Chor");
    let rehearsal = hour("Rehearsal", "2031-02-03T19:00:00");
    // Tried out, it is nowhere: there is one of it below.
    let tried = calendars.rehearse(Some(&id), None, &rehearsal, Notify::Nobody);
    tried.await.unwrap();
    calendars.create(Some(&id), &rehearsal, Notify::Nobody).await.unwrap();
    // Both calendars at once, each with its own.
    let main = main(&calendars).await;
    let ask = range(&[&main, &id], "2031-02-02T23:00:00Z", "2031-02-09T23:00:00Z");
    outlook.tap.requests();
    let pages = calendars.events(&ask).await;
    assert_eq!(outlook.tap.lines().len(), 1);
    let found: Vec<Vec<Value>> = pages.into_iter().map(|page| page.unwrap().items).collect();
    assert_eq!(found[0], Vec::<Value>::new());
    assert_eq!(
        (texts(&found[1], "subject"), texts(&found[1], "calendarId")),
        (vec!["Rehearsal"], vec![id.as_str()])
    );
    assert_eq!(calendars.manage(&CalendarOp::Delete { id: id.clone() }).await.unwrap(), None);
    let gone = calendars.manage(&CalendarOp::Delete { id }).await.unwrap_err();
    assert_eq!(gone.kind(), Kind::NotFound);
}

#[tokio::test]
async fn pages_of_events_follow_without_gaps() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    for hour_of in 8..15 {
        let change = hour(&format!("at {hour_of}"), &format!("2031-02-03T{hour_of:02}:00:00"));
        calendars.create(None, &change, Notify::Nobody).await.unwrap();
    }
    let main = main(&calendars).await;
    let mut ask = range(&[&main], "2031-02-02T23:00:00Z", "2031-02-09T23:00:00Z");
    ask.limit = 3;
    let mut found = Vec::new();
    for _ in 0..4 {
        let page = calendars.events(&ask).await.remove(0).unwrap();
        assert!(page.items.len() <= 3);
        found.extend(texts(&page.items, "subject").into_iter().map(str::to_owned));
        match page.next {
            Some(next) => ask.calendars[0].1 = Some(next),
            None => break,
        }
    }
    let expected: Vec<String> = (8..15).map(|hour| format!("at {hour}")).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn listing_rooms_requires_an_administrators_consent() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    assert_eq!(calendars.rooms().await.unwrap_err().kind(), Kind::Provider(403));
    outlook.sandbox.as_ref().unwrap().allow_rooms(true);
    let rooms = calendars.rooms().await.unwrap();
    assert_eq!(texts(&rooms, "displayName"), ["Fjord", "Attic"]);
    assert_eq!(texts(&rooms, "jobTitle"), ["room for 8", "room for 20"]);
}

#[tokio::test]
async fn calendar_changes_are_reported() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    let soon = |hours: i64, title: &str| {
        let start =
            jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_hours(hours)).unwrap();
        let start = jiff::tz::TimeZone::UTC.to_datetime(start);
        hour(title, &start.strftime("%Y-%m-%dT%H:00:00").to_string())
    };
    let kept = calendars.create(None, &soon(24, "Kept"), Notify::Nobody).await.unwrap();
    let gone = calendars.create(None, &soon(26, "Gone"), Notify::Nobody).await.unwrap();
    let all = columns(&["id", "title"]);
    let begun = calendars.changes(None, &all).await.unwrap();
    let same = calendars.changes(Some(&begun.cursor), &all).await.unwrap();
    assert_eq!((same.new.len(), same.changed.len(), same.gone.len()), (0, 0, 0));

    let new = calendars.create(None, &soon(28, "New"), Notify::Nobody).await.unwrap();
    let rename = Change { title: Some("Changed".to_owned()), ..Change::default() };
    calendars.update(&kept, &rename, Notify::Nobody).await.unwrap();
    calendars.delete(&gone, None, Notify::Nobody).await.unwrap();
    let reported = calendars.changes(Some(&same.cursor), &all).await.unwrap();
    assert_eq!(texts(&reported.new, "subject"), ["New"]);
    assert_eq!(texts(&reported.changed, "subject"), ["Changed"]);
    assert_eq!(reported.gone, [gone["id"].as_str().unwrap()]);
    assert_eq!(reported.names[reported.new[0]["calendarId"].as_str().unwrap()], "Calendar");
    assert_eq!(reported.new[0]["id"], new["id"]);
    let same = calendars.changes(Some(&reported.cursor), &all).await.unwrap();
    assert_eq!((same.new.len(), same.changed.len(), same.gone.len()), (0, 0, 0));

    outlook.sandbox.as_ref().unwrap().expire_sync_tokens();
    let over = calendars.changes(Some(&same.cursor), &all).await.unwrap();
    assert!(over.started_over);
    let same = calendars.changes(Some(&over.cursor), &all).await.unwrap();
    assert!(!same.started_over);
}

#[tokio::test]
async fn mail_changes_are_reported() {
    let outlook = Outlook::without_events().await;
    let mailbox = outlook.mailbox().await;
    let sandbox = outlook.sandbox.as_ref().unwrap();
    let deliver = |id: &str, subject: &str| {
        let message = format!(
            "From: lena@studio.example\r\nTo: {ME}\r\nMessage-ID: <{id}@x.example>\r\nSubject: {subject}\r\n\r\nInk.\r\n"
        );
        assert!(sandbox.deliver(ME, message.as_bytes()).unwrap());
    };
    deliver("old", "Old");
    deliver("lost", "Lost");
    let projection = project(Api::Outlook, &MESSAGE.up_to(Level::Core));
    let begun = mailbox.changes(None, &projection).await.unwrap();
    let same = mailbox.changes(Some(&begun.cursor), &projection).await.unwrap();
    assert_eq!((same.new.len(), same.changed.len(), same.gone.len()), (0, 0, 0));
    deliver("new", "New");
    assert!(sandbox.relabel(ME, "old@x.example", &["INBOX", "STARRED"]));
    assert!(sandbox.discard(ME, "lost@x.example"));
    let reported = mailbox.changes(Some(&same.cursor), &projection).await.unwrap();
    assert_eq!(texts(&reported.new, "subject"), ["New"]);
    assert_eq!(texts(&reported.changed, "subject"), ["Old"]);
    assert_eq!(reported.gone.len(), 1);
    let moved = reported.changed[0]["id"].as_str().unwrap().to_owned();
    // What moves between folders is not gone.
    assert!(sandbox.relabel(ME, "old@x.example", &["STARRED"]));
    let reported = mailbox.changes(Some(&reported.cursor), &projection).await.unwrap();
    assert_eq!((texts(&reported.changed, "id"), reported.gone.len()), (vec![moved.as_str()], 0));
}

fn when(text: &str) -> EventTime {
    match text.contains('T') {
        true => EventTime::At(text.parse().unwrap()),
        false => EventTime::Day(text.parse().unwrap()),
    }
}

fn repeat(rule: &str, except: &[&str]) -> Option<Option<Repeat>> {
    Some(Some(Repeat {
        rule: rule.to_owned(),
        except: except.iter().map(|text| when(text)).collect(),
        extra: Vec::new(),
    }))
}

/// The starts of what is in March 2031, with what an event is called.
async fn march(calendars: &Arc<dyn Calendars>, series: bool) -> Vec<(String, EventTime)> {
    let main = main(calendars).await;
    let mut ask = range(&[&main], "2031-02-28T23:00:00Z", "2031-04-20T22:00:00Z");
    ask.series = series;
    let page = calendars.events(&ask).await.remove(0).unwrap();
    let facts = page.items.iter().map(|item| calendars.event_data(item).unwrap());
    facts.map(|facts| (facts.title, facts.start)).collect()
}

#[tokio::test]
async fn series_keeps_its_local_time_and_deletions() {
    let outlook = Outlook::without_events().await;
    let mine = outlook.calendars().await;
    let theirs = outlook.calendars_of(OTHER).await;
    let choir = Change {
        guests: Some(vec![guest(OTHER)]),
        repeat: repeat(
            "FREQ=WEEKLY;COUNT=5;BYDAY=TH",
            &["2031-03-20T18:00:00Z", "2031-03-21T18:00:00Z"],
        ),
        ..hour("Choir", "2031-03-13T19:00:00")
    };
    outlook.tap.requests();
    let made = mine.create(None, &choir, Notify::All).await.unwrap();
    let id = made["id"].as_str().unwrap();
    // Those who are asked hear of the series when it has its gap.
    let requests = outlook.tap.lines();
    let steps: Vec<&str> = requests.iter().map(|it| it.split(['?', ' ']).next().unwrap()).collect();
    assert_eq!(steps, ["POST", "GET", "DELETE", "PATCH"], "{requests:#?}");
    assert!(requests[1].starts_with(&format!("GET /me/events/{id}/instances?startDateTime=2031-03-18T00:00:00Z&endDateTime=2031-03-23T00:00:00Z&")), "{requests:#?}");
    let thursdays = [
        "2031-03-13T18:00:00Z", "2031-03-27T18:00:00Z", "2031-04-03T17:00:00Z",
        "2031-04-10T17:00:00Z",
    ];
    let expected: Vec<(String, EventTime)> =
        thursdays.iter().map(|at| ("Choir".to_owned(), when(at))).collect();
    assert_eq!(march(&mine, false).await, expected);
    assert_eq!(march(&theirs, false).await, expected);
    assert_eq!(march(&mine, true).await, expected[..1]);

    let whole = fresh(&mine, &made).await;
    let facts = mine.event_data(&whole).unwrap();
    assert_eq!(
        facts.repeat,
        repeat("FREQ=WEEKLY;COUNT=5;BYDAY=TH", &["2031-03-20T18:00:00Z"]).unwrap()
    );
    assert_eq!(whole["recurrenceRule"], "FREQ=WEEKLY;COUNT=5;BYDAY=TH");
    assert_eq!(facts.guests.len(), 1);

    // One evening elsewhere and later; another one off.
    let main = main(&mine).await;
    let ask = range(&[&main], "2031-03-26T23:00:00Z", "2031-04-04T22:00:00Z");
    let two = mine.events(&ask).await.remove(0).unwrap().items;
    let third = fresh(&mine, &two[0]).await;
    let moved = Change {
        place: Some("Harbour".to_owned()),
        time: Some((berlin("2031-03-27T20:00:00"), berlin("2031-03-27T21:00:00"))),
        ..Change::default()
    };
    let moved = mine.update(&third, &moved, Notify::All).await.unwrap();
    let moved = mine.event_data(&moved).unwrap();
    assert_eq!(
        (moved.original, moved.start),
        (Some(when("2031-03-27T18:00:00Z")), when("2031-03-27T19:00:00Z"))
    );
    assert_eq!(moved.series.as_deref(), Some(id));
    mine.delete(&fresh(&mine, &two[1]).await, None, Notify::All).await.unwrap();
    let whole = fresh(&mine, &made).await;
    let gaps = ["2031-03-20T18:00:00Z", "2031-04-03T17:00:00Z"];
    assert_eq!(
        mine.event_data(&whole).unwrap().repeat,
        repeat("FREQ=WEEKLY;COUNT=5;BYDAY=TH", &gaps).unwrap()
    );
    let all = mine.by_uid(facts.uid.as_ref().unwrap()).await.unwrap();
    assert_eq!(texts(&all, "type"), ["seriesMaster", "exception"]);
    assert_eq!(all[1]["location"]["displayName"], "Harbour");

    // Cut short, with another gap.
    let cut = Change {
        repeat: repeat("FREQ=WEEKLY;UNTIL=20310406T000000Z;BYDAY=TH", &["2031-03-27T18:00:00Z"]),
        ..Change::default()
    };
    let now = mine.update(&whole, &cut, Notify::All).await.unwrap();
    let left: Vec<EventTime> =
        march(&mine, false).await.into_iter().map(|(_, start)| start).collect();
    let facts = mine.event_data(&now).unwrap();
    assert!(left.starts_with(&[when("2031-03-13T18:00:00Z")]), "{left:?}");
    assert!(
        !left.contains(&when("2031-03-27T18:00:00Z"))
            && !left.contains(&when("2031-04-10T17:00:00Z")),
        "{left:?}"
    );
    assert!(facts.repeat.unwrap().except.contains(&when("2031-03-27T18:00:00Z")));

    // And no series any more.
    let now = fresh(&mine, &made).await;
    let once = Change { repeat: Some(None), ..Change::default() };
    let now = mine.update(&now, &once, Notify::All).await.unwrap();
    assert_eq!(mine.event_data(&now).unwrap().repeat, None);
}

#[tokio::test]
async fn whole_day_events_recur() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    let day = |text: &str| ZonedTime::Day(text.parse().unwrap());
    let fair = Change {
        title: Some("Fair".to_owned()),
        time: Some((day("2031-03-03"), day("2031-03-04"))),
        repeat: repeat("FREQ=DAILY;UNTIL=20310412;INTERVAL=10", &["2031-03-23"]),
        ..Change::default()
    };
    let made = calendars.create(None, &fair, Notify::Nobody).await.unwrap();
    let found: Vec<EventTime> =
        march(&calendars, false).await.into_iter().map(|(_, start)| start).collect();
    let expected = ["2031-03-03", "2031-03-13", "2031-04-02", "2031-04-12"];
    assert_eq!(found, expected.map(when));
    let facts = calendars.event_data(&fresh(&calendars, &made).await).unwrap();
    assert_eq!(
        facts.repeat,
        repeat("FREQ=DAILY;UNTIL=20310412;INTERVAL=10", &["2031-03-23"]).unwrap()
    );
    // A series that is over is in no later range, and one that has not begun in
    // no earlier; what does not recur is there when it takes place.
    let once = hour("Once", "2031-03-15T09:00:00");
    calendars.create(None, &once, Notify::Nobody).await.unwrap();
    let main = main(&calendars).await;
    for (from, to, number) in [
        ("2031-01-01T00:00:00Z", "2031-02-01T00:00:00Z", 0),
        ("2031-03-14T12:00:00Z", "2031-03-31T00:00:00Z", 2),
        ("2031-05-01T00:00:00Z", "2031-06-01T00:00:00Z", 0),
    ] {
        let ask = EventListRequest { series: true, ..range(&[&main], from, to) };
        let page = calendars.events(&ask).await.remove(0).unwrap();
        assert_eq!(page.items.len(), number, "{from}");
    }
    // A series that moves takes its rule along.
    let moved = Change { time: Some((day("2031-03-05"), day("2031-03-06"))), ..Change::default() };
    let whole = fresh(&calendars, &made).await;
    let now = calendars.update(&whole, &moved, Notify::Nobody).await.unwrap();
    assert_eq!(calendars.event_data(&now).unwrap().start, when("2031-03-05"));
    assert_eq!(now["recurrence"]["range"]["startDate"], "2031-03-05");
    // A rule that Outlook does not have is refused before anything is written.
    outlook.tap.requests();
    let odd = Change {
        repeat: repeat("FREQ=MONTHLY;BYMONTHDAY=1,15", &[]),
        ..hour("Odd", "2031-03-01T09:00:00")
    };
    let refused = calendars.create(None, &odd, Notify::Nobody).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Argument);
    assert_eq!(outlook.tap.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn changed_series_is_reported_as_one_change() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    let tomorrow =
        jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_hours(24)).unwrap();
    let tomorrow = jiff::tz::TimeZone::UTC.to_datetime(tomorrow);
    let daily = Change {
        repeat: repeat("FREQ=DAILY;COUNT=30", &[]),
        ..hour("Daily", &tomorrow.strftime("%Y-%m-%dT%H:00:00").to_string())
    };
    let all = columns(&["id", "title"]);
    let begun = calendars.changes(None, &all).await.unwrap();
    let made = calendars.create(None, &daily, Notify::Nobody).await.unwrap();
    let reported = calendars.changes(Some(&begun.cursor), &all).await.unwrap();
    assert_eq!((texts(&reported.new, "subject"), reported.changed.len()), (vec!["Daily"], 0));
    assert_eq!(reported.new[0]["recurrenceRule"], "FREQ=DAILY;COUNT=30");
    let rename = Change { title: Some("Every day".to_owned()), ..Change::default() };
    calendars.update(&fresh(&calendars, &made).await, &rename, Notify::Nobody).await.unwrap();
    let reported = calendars.changes(Some(&reported.cursor), &all).await.unwrap();
    assert_eq!(
        (reported.new.len(), texts(&reported.changed, "subject"), reported.gone.len()),
        (0, vec!["Every day"], 0)
    );
}

#[tokio::test]
async fn shared_mailbox_calendars_can_be_read_and_written() {
    let mail = tempfile::TempDir::new().unwrap();
    for owner in [ME, "team@example.com"] {
        let headers =
            format!("From: x@example.com\nTo: {owner}\nSubject: x\nMessage-ID: <1@{owner}>");
        crate::common::messages::write_message(
            &mail.path().join(owner),
            "one.eml",
            &headers,
            "hello",
        );
    }
    let outlook = Outlook::over(Some(mail.path())).await;
    let team = outlook.shared_calendars("team@example.com").await;
    let made =
        team.create(None, &hour("Stand", "2031-03-03T09:00:00"), Notify::Nobody).await.unwrap();
    assert_eq!(made["organizer"]["emailAddress"]["address"], "team@example.com");
    assert_eq!(march(&team, false).await, [("Stand".to_owned(), when("2031-03-03T08:00:00Z"))]);
    let requests = outlook.tap.lines();
    assert!(
        requests
            .iter()
            .flat_map(|it| it.lines())
            .all(|line| line.contains("/users/team@example.com/") || line == "POST /$batch"),
        "{requests:#?}"
    );
}
