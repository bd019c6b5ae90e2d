//! Outlook's own features over the sandbox, which stores writes.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::EventTime;

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
async fn week(calendars: &Arc<dyn Calendars>) -> Vec<Event> {
    let main = main(calendars).await;
    let ask = range(&[&main], "2031-02-02T23:00:00Z", "2031-02-09T23:00:00Z");
    calendars.events(&ask).await.remove(0).unwrap().events
}

async fn fresh(calendars: &Arc<dyn Calendars>, event: &Event) -> Event {
    calendars.event(std::slice::from_ref(&event.id)).await.remove(0).unwrap()
}

#[tokio::test]
async fn declining_removes_the_event() {
    let outlook = Outlook::without_events().await;
    let mine = outlook.calendars().await;
    let theirs = outlook.calendars_of(OTHER).await;
    let meeting =
        EventPatch { guests: Some(vec![guest(OTHER)]), ..hour("Proofs", "2031-02-03T18:05:00") };
    let made = mine.create(None, &meeting, GuestNotice::All).await.unwrap();
    let whole = fresh(&theirs, &week(&theirs).await[0]).await;
    let no = InvitationReply {
        answer: InvitationAnswer::Declined,
        comment: None,
        propose: Some((
            "2031-02-05T08:00:00Z".parse().unwrap(),
            "2031-02-05T09:00:00Z".parse().unwrap(),
        )),
        notify: true,
    };
    assert_eq!(theirs.respond(&whole, &no).await.unwrap(), None);
    assert_eq!(week(&theirs).await, Vec::<Event>::new());
    let answered = fresh(&mine, &made).await;
    assert_eq!(answered.guests[0].answer, Some(InvitationAnswer::Declined));
}

/// Local times are preserved on both sides of a clock change.
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
        let change = EventPatch {
            time: Some((zoned(local, zone), zoned(&end, zone))),
            ..EventPatch::default()
        };
        let made = calendars.create(None, &change, GuestNotice::Nobody).await.unwrap();
        assert_eq!(made.start, EventTime::At(utc.parse().unwrap()), "{zone} {local}");
        // The zone shows what was said, whatever it is called.
        let own = daysheet_core::event::time::find_zone(made.zone.as_ref().unwrap()).unwrap();
        let shown = own.to_datetime(utc.parse().unwrap());
        if zone != "Antarctica/Troll" {
            assert_eq!(shown, local.parse().unwrap(), "{zone}");
        }
    }
    // Days are days.
    let day = |text: &str| ZonedTime::Day(text.parse().unwrap());
    let fair =
        EventPatch { time: Some((day("2031-03-29"), day("2031-04-01"))), ..EventPatch::default() };
    let made = calendars.create(None, &fair, GuestNotice::Nobody).await.unwrap();
    assert_eq!((made.start, made.end), (when("2031-03-29"), when("2031-04-01")));
    assert_eq!(made.wire["originalStartTimeZone"], "W. Europe Standard Time");
}

#[tokio::test]
async fn listing_rooms_requires_an_administrators_consent() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    assert_eq!(calendars.rooms().await.unwrap_err().kind(), ErrorKind::Provider(403));
    outlook.sandbox.as_ref().unwrap().allow_rooms(true);
    let rooms = calendars.rooms().await.unwrap();
    assert_eq!(texts(&rooms, "displayName"), ["Fjord", "Attic"]);
    assert_eq!(rooms[1]["capacity"], 20);
}

fn when(text: &str) -> EventTime {
    if text.contains('T') {
        EventTime::At(text.parse().unwrap())
    } else {
        EventTime::Day(text.parse().unwrap())
    }
}

fn repeat(rule: &str, except: &[&str]) -> Option<Option<EventRecurrence>> {
    Some(Some(EventRecurrence {
        rule: rule.to_owned(),
        except: except.iter().map(|text| when(text)).collect(),
        extra: Vec::new(),
    }))
}

/// Returns the titles and starts of the events in March 2031.
async fn march(calendars: &Arc<dyn Calendars>, series: bool) -> Vec<(String, EventTime)> {
    let main = main(calendars).await;
    let mut ask = range(&[&main], "2031-02-28T23:00:00Z", "2031-04-20T22:00:00Z");
    ask.series = series;
    let page = calendars.events(&ask).await.remove(0).unwrap();
    page.events.into_iter().map(|event| (event.title, event.start)).collect()
}

/// Guests are added after the gaps, so they are invited to a series that already has them.
/// Exception dates without an occurrence are ignored.
#[tokio::test]
async fn series_is_announced_with_its_gaps() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    let weekly = "FREQ=WEEKLY;COUNT=5;BYDAY=TH";
    let choir = EventPatch {
        guests: Some(vec![guest(OTHER)]),
        repeat: repeat(weekly, &["2031-03-20T18:00:00Z", "2031-03-21T18:00:00Z"]),
        ..hour("Choir", "2031-03-13T19:00:00")
    };
    outlook.tap.requests();
    let made = calendars.create(None, &choir, GuestNotice::All).await.unwrap();
    let id = &made.id;
    let requests = outlook.tap.lines();
    let steps: Vec<&str> = requests.iter().map(|it| it.split(['?', ' ']).next().unwrap()).collect();
    assert_eq!(steps, ["POST", "GET", "DELETE", "PATCH"], "{requests:#?}");
    assert!(requests[1].starts_with(&format!("GET /me/events/{id}/instances?startDateTime=2031-03-18T00:00:00Z&endDateTime=2031-03-23T00:00:00Z&")), "{requests:#?}");
    let whole = fresh(&calendars, &made).await;
    assert_eq!(whole.repeat, repeat(weekly, &["2031-03-20T18:00:00Z"]).unwrap());
    assert_eq!(whole.wire["recurrenceRule"], weekly);
}

#[tokio::test]
async fn whole_day_events_recur() {
    let outlook = Outlook::without_events().await;
    let calendars = outlook.calendars().await;
    let day = |text: &str| ZonedTime::Day(text.parse().unwrap());
    let fair = EventPatch {
        title: Some("Fair".to_owned()),
        time: Some((day("2031-03-03"), day("2031-03-04"))),
        repeat: repeat("FREQ=DAILY;UNTIL=20310412;INTERVAL=10", &["2031-03-23"]),
        ..EventPatch::default()
    };
    let made = calendars.create(None, &fair, GuestNotice::Nobody).await.unwrap();
    let found: Vec<EventTime> =
        march(&calendars, false).await.into_iter().map(|(_, start)| start).collect();
    let expected = ["2031-03-03", "2031-03-13", "2031-04-02", "2031-04-12"];
    assert_eq!(found, expected.map(when));
    assert_eq!(
        fresh(&calendars, &made).await.repeat,
        repeat("FREQ=DAILY;UNTIL=20310412;INTERVAL=10", &["2031-03-23"]).unwrap()
    );
    // A series that is over is in no later range, and one that has not begun in
    // no earlier; what does not recur is there when it takes place.
    let once = hour("Once", "2031-03-15T09:00:00");
    calendars.create(None, &once, GuestNotice::Nobody).await.unwrap();
    let main = main(&calendars).await;
    for (from, to, number) in [
        ("2031-01-01T00:00:00Z", "2031-02-01T00:00:00Z", 0),
        ("2031-03-14T12:00:00Z", "2031-03-31T00:00:00Z", 2),
        ("2031-05-01T00:00:00Z", "2031-06-01T00:00:00Z", 0),
    ] {
        let ask = EventListRequest { series: true, ..range(&[&main], from, to) };
        let page = calendars.events(&ask).await.remove(0).unwrap();
        assert_eq!(page.events.len(), number, "{from}");
    }
    // A series that moves takes its rule along.
    let moved =
        EventPatch { time: Some((day("2031-03-05"), day("2031-03-06"))), ..EventPatch::default() };
    let whole = fresh(&calendars, &made).await;
    let now = calendars.update(&whole, &moved, GuestNotice::Nobody).await.unwrap();
    assert_eq!(now.start, when("2031-03-05"));
    assert_eq!(now.wire["recurrence"]["range"]["startDate"], "2031-03-05");
    // A rule that Outlook does not have is refused before anything is written.
    outlook.tap.requests();
    let odd = EventPatch {
        repeat: repeat("FREQ=MONTHLY;BYMONTHDAY=1,15", &[]),
        ..hour("Odd", "2031-03-01T09:00:00")
    };
    let refused = calendars.create(None, &odd, GuestNotice::Nobody).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Argument);
    assert_eq!(outlook.tap.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn shared_mailbox_calendars_can_be_read_and_written() {
    let mail = crate::common::messages::mailboxes(&[ME, "team@example.com"]);
    let outlook = Outlook::over(Some(mail.path())).await;
    let team = outlook.shared_calendars("team@example.com").await;
    let made = team
        .create(None, &hour("Stand", "2031-03-03T09:00:00"), GuestNotice::Nobody)
        .await
        .unwrap();
    assert_eq!(made.wire["organizer"]["emailAddress"]["address"], "team@example.com");
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
