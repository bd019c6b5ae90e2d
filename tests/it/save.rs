//! `calendar_save`: new events and changes, over calendars in memory.

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event_time::EventTime;
use daysheet_core::provider::calendar::EventData;
use daysheet_core::schemas::Service;
use serde_json::{Value, json};

use crate::common::clock;
use crate::common::fake_calendars::{CalendarHarness, FakeCalendars, guest, repeat};
use crate::reach::{change, with};

/// Returns a call with one new event and further arguments.
fn event(event: Value, more: Value) -> Value {
    with(json!({"events": [event]}), more)
}

/// Returns the writes of creating a plain event with these members.
async fn created(members: Value, more: Value) -> Vec<String> {
    let harness = CalendarHarness::one().await;
    harness.ok("calendar_save", event(with(json!({"title": "T"}), members), more)).await;
    harness.written()
}

#[tokio::test]
async fn answer_shows_the_event_the_service_stored() {
    let harness = CalendarHarness::one().await;
    let answer = harness
        .ok(
            "calendar_save",
            event(
                json!({"title": "Review", "start": "2036-02-05 09h00", "duration": "45m",
                       "where": "Room 3", "people": ["Bo Berg <bo@example.com>", "cy@example.com*"]}),
                json!({"notify": "all"}),
            ),
        )
        .await;
    assert_eq!(
        answer,
        "zone: Europe/Berlin\n\
         events[1|]{id|start|end|title|where|organizer|people|flags}:\n  \
         e1|Tue 2036-02-05 09h00|09h45|Review|Room 3|me|bo? cy?*|\"\"\n--\n\
         notified, so no undo: bo@example.com, cy@example.com"
    );
    assert_eq!(
        harness.written(),
        ["create main All: 2036-02-05T09:00:00[Europe/Berlin]/2036-02-05T09:45:00[Europe/Berlin] \
          title=Review place=Room 3 guests=[Bo Berg bo@example.com cy@example.com?]"]
    );
}

/// The address is invited nevertheless, because it may be right.
#[tokio::test]
async fn similar_addresses_of_known_people_are_suggested() {
    let harness = CalendarHarness::one().await;
    let mailbox = &harness.fakes[0].mailbox;
    *mailbox.people.lock().unwrap() = vec![json!({
        "names": [{"displayName": "Runa Holm"}],
        "emailAddresses": [{"value": "runa@lamps.example"}, {"value": "rune@lamps.example"}],
    })];
    // The second candidate has been written to.
    mailbox.known.lock().unwrap().push("runo@lamps.example".to_owned());
    let doubt = "ruana@lamps.example was never written to: did you mean `runa@lamps.example`?";
    let guests = json!(["Runa <runa@lamps.example>", "bo@example.com", "runo@lamps.example"]);
    let notify = || json!({"notify": "none"});
    let new = json!({"title": "T", "start": "2036-02-05 09h00", "people": guests});
    let answer = harness.ok("calendar_save", event(new, notify())).await;
    assert!(!answer.contains("did you mean"), "{answer}");
    let more = change("e1", json!({"add": ["ruana@lamps.example"]}), notify());
    let answer = harness.ok("calendar_save", more).await;
    assert!(answer.contains(doubt), "{answer}");
    let new = json!({"title": "T", "start": "2036-02-06 09h00", "people": ["ruana@lamps.example"]});
    let answer = harness.ok("calendar_save", event(new, notify())).await;
    assert!(answer.contains(doubt), "{answer}");
    assert!(harness.written().pop().unwrap().contains("guests=[ruana@lamps.example]"));
}

#[tokio::test]
async fn arguments_are_written_as_given() {
    let berlin = |from: &str, to: &str| {
        format!("create main Nobody: {from}[Europe/Berlin]/{to}[Europe/Berlin] title=T")
    };
    let cases = cases! {
        // An event lasts an hour by default.
        json!({"start": "2036-02-05 09h00"}), berlin("2036-02-05T09:00:00", "2036-02-05T10:00:00");
        // A bare end time is on the day of the start.
        json!({"start": "2036-02-05 09h00", "end": "11:30"}),
            berlin("2036-02-05T09:00:00", "2036-02-05T11:30:00");
        json!({"start": "2036-02-05 22h00", "end": "2036-02-06 02h00"}),
            berlin("2036-02-05T22:00:00", "2036-02-06T02:00:00");
        // The end of whole days is the last day.
        json!({"start": "2036-02-05"}),
            "create main Nobody: 2036-02-05/2036-02-06 title=T".to_owned();
        json!({"start": "2036-02-05", "end": "2036-02-07"}),
            "create main Nobody: 2036-02-05/2036-02-08 title=T".to_owned();
        json!({"start": "2036-02-28", "duration": "2 days"}),
            "create main Nobody: 2036-02-28/2036-03-01 title=T".to_owned();
        // Another zone, by its IANA or Windows name.
        json!({"start": "2036-02-05 09h00", "tz": "America/New_York"}),
            "create main Nobody: 2036-02-05T09:00:00[America/New_York]/\
             2036-02-05T10:00:00[America/New_York] title=T"
                .to_owned();
        json!({"start": "2036-02-05 09h00", "tz": "Tokyo Standard Time"}),
            "create main Nobody: 2036-02-05T09:00:00[Asia/Tokyo]/\
             2036-02-05T10:00:00[Asia/Tokyo] title=T"
                .to_owned();
        // An offset that differs from the zone's is converted.
        json!({"start": "2036-02-05T09:00:00-05:00"}),
            berlin("2036-02-05T15:00:00", "2036-02-05T16:00:00");
        // Durations are exact across the end of summer time.
        json!({"start": "2036-10-26 01h45", "duration": "2h"}),
            berlin("2036-10-26T01:45:00", "2036-10-26T02:45:00")
                .replace("2036-10-26T02:45:00[Europe/Berlin]", "2036-10-26T01:45:00[UTC]");
        json!({"start": "2036-02-05 09h00", "repeats": "rrule:interval=1;freq=weekly;byday=tu",
               "online": true, "show": "tentative", "visibility": "private",
               "reminder": "1h", "category": "tomato", "notes": "Bring it.", "where": ""}),
            format!(
                "{} notes=Bring it. category=tomato repeat=FREQ=WEEKLY;BYDAY=TU online=true \
                 show=Tentative visibility=Private reminder=Some(60)",
                berlin("2036-02-05T09:00:00", "2036-02-05T10:00:00")
            );
        json!({"start": "2036-02-05 09h00", "reminder": "none", "repeats": "none",
               "online": false}),
            format!("{} reminder=None", berlin("2036-02-05T09:00:00", "2036-02-05T10:00:00"));
        // The organizer is not invited to their own meeting.
        json!({"start": "2036-02-05 09h00", "people": ["ana@example.com"]}),
            berlin("2036-02-05T09:00:00", "2036-02-05T10:00:00");
    };
    for (members, expected) in cases {
        assert_eq!(
            created(members.clone(), json!({"notify": "none"})).await,
            [expected],
            "{members}"
        );
    }
}

#[tokio::test]
async fn invalid_events_are_refused_before_any_write() {
    let many: Vec<String> = (0..201).map(|at| format!("a{at}@example.com")).collect();
    let start = "2036-02-05 09h00";
    let cases = cases! {
        json!({"start": start}), "an event needs `title`: give its title";
        json!({"title": "T"}),
            "an event needs `start`: give it, such as 2026-02-03 18h05 or tomorrow 9am";
        json!({"title": "T", "start": start, "end": "2036-02-05 08h00"}),
            "the event would end before it starts: Tue 2036-02-05 09h00 to 08h00: give an `end` \
             with its date after `start`, or a `duration`";
        json!({"title": "T", "start": "2036-02-05", "end": "2036-02-04"}),
            "the event would end before it starts: Tue 2036-02-05: give an `end` with its date \
             after `start`, or a `duration`";
        json!({"title": "T", "start": start, "end": start}),
            "the event would end before it starts: Tue 2036-02-05 09h00: give an `end` with its \
             date after `start`, or a `duration`";
        json!({"title": "T", "start": start, "end": "10:00", "duration": "1h"}),
            "`end` and `duration` are both given: leave one out";
        json!({"title": "T", "start": start, "duration": "0"}),
            "`duration` is zero: give at least a minute, such as 30m";
        json!({"title": "T", "start": "2036-02-05", "duration": "90m"}),
            "`start` is a day, but `duration` is not whole days: add the time to `start`, such as \
             2026-02-03 18h05";
        json!({"title": "T", "start": start, "end": "2036-02-06"}),
            "`start` is a time but `end` a day: give both as times, or both as days";
        json!({"title": "T", "start": start, "tz": "Europe/Berlim"}),
            "there is no time zone `Europe/Berlim`: did you mean `Europe/Berlin`?";
        json!({"title": "T", "start": "2036-03-30 02h30"}),
            "`start`: 2036-03-30 02h30 does not exist in Europe/Berlin: clocks go from 2036-03-30 \
             02h00 to 03h00 then: give a time before 02h00, or 03h00 or later";
        json!({"title": "T", "start": "2036-02-05T09:00:00-05:00", "tz": "Europe/Berlin"}),
            "`start`: -05:00 contradicts Europe/Berlin, which is at +01:00 then: leave one out";
        json!({"title": "T", "start": start, "people": ["bo at example.com"]}),
            "`people` `bo at example.com`: `bo at example.com` is not an address: give an address, \
             and quote a name with a comma: \"Lindqvist, Mira\" <mira@example.com>";
        json!({"title": "T", "start": start, "people": ["bo@example.com; cy@example.com"]}),
            "`people` bo@example.com; cy@example.com has 2 addresses: give name@example.com or \
             Name <name@example.com>, one per item";
        json!({"title": "T", "start": start, "people": ["bo@"]}),
            "`people` `bo@`: `bo@` has no domain such as example.com: correct the part after the @";
        json!({"title": "T", "start": start, "people": ["bo@\u{440}\u{430}ypal.example"]}),
            "`people` `bo@\u{440}\u{430}ypal.example`: the domain of \
             `bo@\u{440}\u{430}ypal.example` mixes look-alike scripts (xn--ypal-43d9g.example): \
             check the domain letter by letter and retype it";
        json!({"title": "T", "start": start, "people": ["bo@example.com <eve@example.org>*"]}),
            "`people` `bo@example.com <eve@example.org>`: the name says `bo@example.com` but the \
             address is eve@example.org: leave out the name, or the address in it";
        json!({"title": "T", "start": start, "people": many}),
            "201 people are too many for one event: Google takes at most 200: invite a group's \
             address instead";
        json!({"title": "T", "start": start, "remove": ["bo@example.com"]}),
            "`remove` names bo@example.com, but a new event has no guests yet: leave it out";
        json!({"title": "T", "start": start, "repeats": "FREQ=HOURLY"}),
            "`repeats`: the rule repeats more often than daily (FREQ=HOURLY), which calendars do \
             not support: use FREQ=DAILY with BYHOUR, or single events";
        json!({"title": "T", "start": start, "repeats": "FREQ=WEEKLY;BYDAY=MO"}),
            "the rule FREQ=WEEKLY;BYDAY=MO has no occurrence at the start: start with its first, \
             Mon 2036-02-11 09h00";
        json!({"title": "T", "start": start, "repeats": "FREQ=DAILY;UNTIL=20360101"}),
            "the rule FREQ=DAILY;UNTIL=20360101 never occurs from the start on: correct the \
             rule, or the start";
        json!({"title": "T", "start": "2036-02-12 09h00",
               "repeats": "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2"}),
            "this service has no words for the rule";
    };
    let harness = CalendarHarness::one().await;
    let cases = cases.map(|(one, expected)| (event(one, json!({"notify": "none"})), expected));
    harness.refuses("calendar_save", cases).await;
    let cases = cases! {
        event(json!({"title": "T", "start": start, "people": ["bo@example.com"]}), json!({})),
            "an event with guests needs `notify`: give notify=all, external or none";
        event(json!({"title": "T", "start": start}), json!({"calendar": "Team"})),
            "the calendar Team is read-only: use one of: main (c1), Work (c2)";
        event(json!({"title": "T", "start": start}), json!({"calendar": "Garden"})),
            "there is no calendar `Garden`: use one of: main (c1), Work (c2)";
        event(json!({"title": "T", "start": start}), json!({"calendar": "eve@example.org"})),
            "there is no calendar `eve@example.org`: invite others as `people`; or use one of: \
             main (c1), Work (c2)";
        event(json!({"title": "T", "start": start}), json!({"calendar": "c99"})),
            "there is no `c99`: use an id from lookup kind=calendars";
        event(json!({"title": "T", "start": start}), json!({"scope": "this"})),
            "`scope` is for an existing event: leave it out, or give `id`";
        json!({"id": "e1", "calendar": "Work", "events": [{"title": "T"}]}),
            "`calendar` cannot be combined with an id: leave it out: the event stays where it is; \
             to copy it, call calendar_search ids=ID as=ics, then calendar_save with its text as \
             `ics`";
        event(json!({"title": "T", "start": start}), json!({"account": "zoe@example.com"})),
            "no such account is signed in: name one of: ana@example.com; accounts op=add adds another";
        json!({"events": vec![json!({"title": "T", "start": start}); 51]}),
            "51 events are more than 50: write them in several calls";
        // An error in one event refuses all.
        json!({"events": [{"title": "A", "start": start}, {"title": "B"}]}),
            "nothing was written: item 2 B: an event needs `start`: give it, such as 2026-02-03 18h05 or tomorrow 9am";
    };
    harness.refuses("calendar_save", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());

    let harness = CalendarHarness::outlook().await;
    let call = event(json!({"title": "T", "start": start, "show": "focus"}), json!({}));
    assert_eq!(
        harness.error("calendar_save", call).await,
        "Outlook has no focus time: use show=busy, with a category if you like"
    );
    let many: Vec<String> = (0..251).map(|at| format!("a{at}@example.com")).collect();
    let call =
        event(json!({"title": "T", "start": start, "people": many}), json!({"notify": "all"}));
    assert_eq!(
        harness.error("calendar_save", call).await,
        "251 people are too many for one event: one call adds at most 250, Outlook takes 500 in \
         all: invite a group's address instead"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
}

#[tokio::test]
async fn calendar_decides_the_account() {
    let harness = CalendarHarness::two().await;
    let one = json!({"title": "T", "start": "2036-02-05"});
    let call = |more| event(one.clone(), more);
    let cases = cases! {
        call(json!({})),
            "several accounts are signed in: name one as `account`: ana@example.com, bo@example.com";
        call(json!({"calendar": "work"})),
            "2 calendars are called `work`: use one of: Work (c1, ana@example.com), Work (c2, \
             bo@example.com)";
    };
    harness.refuses("calendar_save", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    for (more, expected) in [
        (json!({"calendar": "c2"}), (1, "create work")),
        (json!({"calendar": "BO"}), (1, "create main")),
        (json!({"calendar": "work", "account": "ana@example.com"}), (0, "create work")),
        (json!({"account": "bo"}), (1, "create main")),
    ] {
        harness.ok("calendar_save", call(more.clone())).await;
        let (at, start) = expected;
        let written = harness.fakes[at].written();
        assert!(written[0].starts_with(start), "{more}: {written:?}");
        assert_eq!(harness.written(), Vec::<String>::new(), "{more}");
    }
    assert_eq!(
        harness.error("calendar_save", call(json!({"calendar": "c2", "account": "ana"}))).await,
        "it belongs to bo@example.com, not to that account: leave out `account`: the handle \
         implies it"
    );
}

#[tokio::test]
async fn times_are_echoed_as_understood() {
    let fakes = vec![FakeCalendars::new("ana", Service::Google)];
    let harness = CalendarHarness::at(fakes, &[], clock::written()).await;
    let blocks = harness
        .call(
            "calendar_save",
            event(
                json!({"title": "T", "start": "2036-02-05 09h00", "tz": "Asia/Tokyo"}),
                json!({"if_conflict": "ignore"}),
            ),
        )
        .await
        .unwrap();
    assert_eq!(blocks[1], "start: 2036-02-05 09h00 = Tue 2036-02-05 09h00 Asia/Tokyo");
    let call = event(
        json!({"title": "T", "start": "tomorrow 9am", "end": "10am"}),
        json!({"dry_run": true}),
    );
    let blocks = harness.call("calendar_save", call).await.unwrap();
    assert_eq!(
        blocks[1],
        "start: tomorrow 9am = Tue 2026-11-17 09h00 Europe/Berlin\ndry run: nothing was written"
    );
    // An event in the past is noted.
    let call = event(json!({"title": "T", "start": "2001-02-05 09h00"}), json!({}));
    let blocks = harness.call("calendar_save", call).await.unwrap();
    assert_eq!(blocks[1], "it is already over: Mon 2001-02-05 09h00 to 10h00");
}

/// Returns four events; the outcomes of two of them matter.
fn four() -> Value {
    let one = |title: &str, start: &str| json!({"title": title, "start": start});
    json!([
        one("A", "2036-02-05 09h00"),
        one("B", "2036-02-05 11h00"),
        one("C", "2036-02-05 13h00"),
        one("D", "2036-02-05 15h00")
    ])
}

#[tokio::test]
async fn failed_batch_says_what_was_written() {
    let rejected = Error::new(ErrorKind::Provider(400), "the service says no");
    let busy =
        Error::new(ErrorKind::RateLimited(None), "too many requests").next("try again later");
    let broken = Error::new(ErrorKind::Network, "the connection broke");
    // One event is refused; the others are still written.
    let harness = CalendarHarness::one().await;
    harness.ana().fail([None, Some((rejected.clone(), false))]);
    assert_eq!(
        harness.ok("calendar_save", json!({"events": four()})).await,
        "zone: Europe/Berlin\n\
         events[3|]{id|start|end|title|where|organizer|people|flags}:\n  \
         e1|Tue 2036-02-05 09h00|10h00|A|\"\"|me|null|\"\"\n  \
         e2|Tue 2036-02-05 13h00|14h00|C|\"\"|me|null|\"\"\n  \
         e3|Tue 2036-02-05 15h00|16h00|D|\"\"|me|null|\"\"\n\
         outcomes[1|]{item|op|result|detail}:\n  \
         2 B|create|failed|the service says no"
    );
    // A failure that would affect all events stops the call; a possible write is reported.
    for (failure, result) in cases! {
        busy, "failed|\"too many requests: try again later\"";
        broken.clone(),
            "unknown|\"the connection broke: it may have been done anyway, so search before \
             retrying\"";
    } {
        let harness = CalendarHarness::one().await;
        harness.ana().fail([None, Some((failure, true))]);
        assert_eq!(
            harness.ok("calendar_save", json!({"events": four()})).await,
            format!(
                "zone: Europe/Berlin\n\
                 events[1|]{{id|start|end|title|where|organizer|people|flags}}:\n  \
                 e1|Tue 2036-02-05 09h00|10h00|A|\"\"|me|null|\"\"\n\
                 outcomes[3|]{{item|op|result|detail}}:\n  \
                 2 B|create|{result}\n  \
                 3 C|create|skipped|not written, because an earlier one failed\n  \
                 4 D|create|skipped|not written, because an earlier one failed"
            )
        );
        assert_eq!(harness.written().len(), 2);
    }
    // For a single event, a write that failed is an error; one that may have happened is not.
    let harness = CalendarHarness::one().await;
    let single = || event(json!({"title": "A", "start": "2036-02-05 09h00"}), json!({}));
    harness.ana().fail([Some((rejected, false))]);
    assert_eq!(harness.error("calendar_save", single()).await, "the service says no");
    harness.ana().fail([Some((broken, true))]);
    assert_eq!(
        harness.ok("calendar_save", single()).await,
        "outcomes[1|]{item|op|result|detail}:\n  A|create|unknown|\"the connection broke: it may \
         have been done anyway, so search before retrying\""
    );
    assert_eq!(harness.written().len(), 2);
}

/// Returns two accounts with events on Tuesday.
async fn booked() -> CalendarHarness {
    let harness = CalendarHarness::two().await;
    let ana = harness.ana();
    ana.put("main/d", "Dentist", "2036-02-05T09:30[Europe/Berlin]", 60);
    let mut standup = ana.put("work/s", "Team standup", "2036-01-01T09:00[Europe/Berlin]", 15);
    standup.repeat = Some(repeat("FREQ=DAILY"));
    ana.set(standup.clone());
    let mut free = ana.put("main/f", "Lunch", "2036-02-05T09:00[Europe/Berlin]", 300);
    free.busy = false;
    ana.set(free);
    // Read-only calendars do not count.
    ana.put("team/t", "Team event", "2036-02-05T09:00[Europe/Berlin]", 60);
    let bo = &harness.fakes[1];
    bo.put("main/x", "Planning", "2036-02-05T09:00[Europe/Berlin]", 60);
    // The same meeting in both accounts.
    let copy = EventData {
        id: "main/copy".into(),
        calendar: Some("main".into()),
        uid: ana.get("main/d").unwrap().uid,
        ..ana.get("main/d").unwrap()
    };
    bo.set(copy);
    harness
}

const CLASHES: [&str; 3] = [
    "clashes with e1 `Team standup` Tue 2036-02-05 09h00 to 09h15 in `Work`, ana@example.com",
    "clashes with e2 `Planning` Tue 2036-02-05 09h00 to 10h00, bo@example.com",
    "clashes with e3 `Dentist` Tue 2036-02-05 09h30 to 10h30, ana@example.com",
];

#[tokio::test]
async fn clashes_are_reported_before_any_write() {
    let call = |more: Value| {
        let mut more = more;
        more["account"] = "ana@example.com".into();
        event(json!({"title": "Offsite", "start": "2036-02-05 09h00"}), more)
    };
    // The event is written and the clash reported.
    let harness = booked().await;
    let blocks = harness.call("calendar_save", call(json!({}))).await.unwrap();
    assert_eq!(
        blocks[1],
        format!(
            "written all the same: if_conflict=refuse would not write it\n{}",
            CLASHES.join("\n")
        )
    );
    assert_eq!(harness.written().len(), 1);
    // Calendars and events of each account are requested once.
    for fake in &harness.fakes {
        assert_eq!(
            fake.read(),
            ["calendars", "events main,work 2036-02-05T08:00:00Z 2036-02-05T09:00:01Z"]
        );
    }
    // The event is refused.
    let harness = booked().await;
    assert_eq!(
        harness.ok("calendar_save", call(json!({"if_conflict": "refuse"}))).await,
        format!(
            "outcomes[1|]{{item|op|result|detail}}:\n  Offsite|create|refused|{}",
            CLASHES.join("; ")
        )
    );
    assert_eq!(harness.written(), Vec::<String>::new());
    // Clashes are not looked for.
    let blocks =
        harness.call("calendar_save", call(json!({"if_conflict": "ignore"}))).await.unwrap();
    assert_eq!(blocks.len(), 1);
    assert_eq!(harness.written().len(), 1);
    // The clash is only reported.
    let harness = booked().await;
    assert_eq!(
        harness.ok("calendar_save", call(json!({"dry_run": true}))).await,
        format!(
            "outcomes[1|]{{item|op|result|detail}}:\n  Offsite|create|planned|Tue 2036-02-05 \
             09h00 to 10h00; in the main calendar, ana@example.com; {}\n--\n\
             dry run: nothing was written",
            CLASHES.join("; ")
        )
    );
    assert_eq!(harness.written(), Vec::<String>::new());
}

#[tokio::test]
async fn only_overlapping_busy_events_clash() {
    let harness = booked().await;
    let call = |one: Value| event(one, json!({"account": "ana", "if_conflict": "refuse"}));
    for one in [
        // Back-to-back and free events do not clash.
        json!({"title": "Early", "start": "2036-02-05 08h00"}),
        json!({"title": "Late", "start": "2036-02-05 10h30"}),
        json!({"title": "Away", "start": "2036-02-05 09h00", "show": "free"}),
        json!({"title": "Elsewhere", "start": "2036-02-05 09h00", "show": "elsewhere"}),
        // Frames for other events, long and tentative or whole days, do not clash.
        json!({"title": "Fair", "start": "2036-03-04"}),
        json!({"title": "Perhaps", "start": "2036-02-05 06h00", "end": "2036-02-05 12h00",
               "show": "tentative"}),
    ] {
        harness.ok("calendar_save", call(one.clone())).await;
        assert_eq!(harness.written().len(), 1, "{one}");
    }
    for (one, expected) in cases! {
        // Similar titles at the same time.
        json!({"title": "Standup", "start": "2036-02-06 09h00", "show": "free"}),
            "likely a duplicate of e7 `Team standup` Wed 2036-02-06 09h00 to 09h15 in `Work`, \
             ana@example.com";
        // Occurrences of one series share a line.
        json!({"title": "Course", "start": "2036-03-04 09h00", "repeats": "FREQ=DAILY;COUNT=3"}),
            "clashes with e8 `Team standup` Tue 2036-03-04 09h00 to 09h15 in `Work`, \
             ana@example.com and 2 more of it";
    } {
        let answer = harness.ok("calendar_save", call(one.clone())).await;
        assert!(answer.ends_with(&format!("|refused|{expected}")), "{one}: {answer}");
        assert_eq!(harness.written(), Vec::<String>::new(), "{one}");
    }
    // Events of one call are checked against each other.
    let answer = harness
        .ok(
            "calendar_save",
            json!({"account": "ana", "if_conflict": "refuse", "events": [
                {"title": "One", "start": "2036-02-07 14h00"},
                {"title": "Two", "start": "2036-02-07 14h30"},
                {"title": "one!", "start": "2036-02-07 14h00"}]}),
        )
        .await;
    assert!(
        answer.contains(
            "outcomes[2|]{item|op|result|detail}:\n  \
             2 Two|create|refused|clashes with item 1 `One`\n  \
             3 one!|create|refused|likely a duplicate of item 1"
        ),
        "{answer}"
    );
    assert_eq!(harness.written().len(), 1);
    // An unreadable account causes a note, or a refusal if `if_conflict` requires the check.
    *harness.fakes[1].blind.lock().unwrap() =
        Some(Error::new(ErrorKind::Provider(500), "it broke"));
    let one = json!({"title": "Walk", "start": "2036-02-08 09h15"});
    assert_eq!(
        harness.error("calendar_save", call(one.clone())).await,
        "clashes could not be checked: bo@example.com: Work: it broke"
    );
    let blocks =
        harness.call("calendar_save", event(one, json!({"account": "ana"}))).await.unwrap();
    assert_eq!(blocks[1], "clashes were not checked in bo@example.com: Work: it broke");
}

/// Returns a series whose occurrences are known by handle.
async fn series(rule: &str) -> CalendarHarness {
    let harness = CalendarHarness::one().await;
    let ana = harness.ana();
    let mut facts = ana.put("main/w", "Weekly", "2036-02-05T09:00[Europe/Berlin]", 60);
    facts.repeat = Some(repeat(rule));
    ana.set(facts);
    harness
}

#[tokio::test]
async fn only_given_arguments_change_an_event() {
    let put = |harness: &CalendarHarness| {
        let mut facts =
            harness.ana().put("main/m", "Review", "2036-02-05T09:00[Europe/Berlin]", 45);
        facts.guests = vec![
            guest("bo@example.com", '+'),
            guest("cy@example.com", '-'),
            guest("di@example.com", '?'),
        ];
        facts.guests[2].room = true;
        facts.place = "Room 3".to_owned();
        harness.ana().set(facts);
    };
    let berlin = |from: &str, to: &str| {
        format!("update main/m All: {from}[Europe/Berlin]/{to}[Europe/Berlin]")
    };
    let cases = cases! {
        json!({"title": "Retro"}), "update main/m All: title=Retro".to_owned();
        // The length stays, and so does the day if only a time is given.
        json!({"start": "2036-02-06 14h00"}), berlin("2036-02-06T14:00:00", "2036-02-06T14:45:00");
        json!({"start": "14:00"}), berlin("2036-02-05T14:00:00", "2036-02-05T14:45:00");
        json!({"end": "10:00"}), berlin("2036-02-05T09:00:00", "2036-02-05T10:00:00");
        json!({"duration": "2h"}), berlin("2036-02-05T09:00:00", "2036-02-05T11:00:00");
        json!({"start": "2036-02-05", "end": "2036-02-05"}),
            "update main/m All: 2036-02-05/2036-02-06".to_owned();
        json!({"start": "2036-02-05 09h00", "tz": "America/New_York"}),
            "update main/m All: 2036-02-05T09:00:00[America/New_York]/\
             2036-02-05T09:45:00[America/New_York]"
                .to_owned();
        // Answers are kept; a room is not a person.
        json!({"add": ["Ed Engel <ed@example.com>"]}),
            "update main/m All: guests=[bo@example.com+ cy@example.com- di@example.com# \
             Ed Engel ed@example.com]"
                .to_owned();
        json!({"remove": ["cy"], "add": ["bo@example.com*"]}),
            "update main/m All: guests=[bo@example.com+? di@example.com#]".to_owned();
        json!({"people": ["BO@example.com", "ed@example.com"]}),
            "update main/m All: guests=[bo@example.com+ ed@example.com di@example.com#]".to_owned();
        json!({"where": "", "notes": "New.", "reminder": "none", "show": "free"}),
            "update main/m All: place= notes=New. show=Free reminder=None".to_owned();
        json!({"repeats": "FREQ=WEEKLY;COUNT=3"}),
            "update main/m All: repeat=FREQ=WEEKLY;COUNT=3".to_owned();
    };
    for (members, expected) in cases {
        let harness = CalendarHarness::one().await;
        put(&harness);
        let call = change("main/m", members.clone(), json!({"notify": "all", "scope": "this"}));
        harness.ok("calendar_save", call).await;
        assert_eq!(harness.written(), [expected], "{members}");
    }
    let harness = CalendarHarness::one().await;
    put(&harness);
    // Unchanged values are not written.
    let call =
        change("main/m", json!({"title": "Review", "start": "9am", "show": "busy"}), json!({}));
    assert_eq!(
        harness.ok("calendar_save", call).await,
        "outcomes[1|]{item|op|result|detail}:\n  e1 Review|change|unchanged|already as requested"
    );
    let cases = cases! {
        json!({"title": ""}), "`title` is empty: give its title";
        json!({"tz": "Asia/Tokyo"}),
            "`tz` needs a time: give `start`, and `end` or `duration`, in that zone";
        json!({"start": "2036-02-06"}),
            "the event has a time, but `start` is only a day: add the time, or give `end` as a day \
             to make it all-day";
        json!({"end": "08:00"}),
            "the event would end before it starts: Tue 2036-02-05 09h00 to 08h00: give an `end` \
             with its date after `start`, or a `duration`";
        json!({"remove": ["zoe@example.com"]}),
            "`zoe@example.com` is not a guest, or several are called so: name one of: \
             bo@example.com, cy@example.com, di@example.com";
        json!({"title": "Retro"}),
            "an event with guests needs `notify`: give notify=all, external or none";
    };
    let cases = cases.map(|(members, expected)| (change("e1", members, json!({})), expected));
    harness.refuses("calendar_save", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    // A dry run reports the changes.
    let call = change(
        "e1",
        json!({"title": "Retro", "start": "14:00", "remove": ["bo"], "repeats": "FREQ=DAILY"}),
        json!({"notify": "all", "dry_run": true}),
    );
    assert_eq!(
        harness.ok("calendar_save", call).await,
        "outcomes[1|]{item|op|result|detail}:\n  e1 Review|change|planned|\"time Tue 2036-02-05 \
         09h00 to 09h45 → Tue 2036-02-05 14h00 to 14h45; title \\\"Review\\\" → \\\"Retro\\\"; \
         people - bo@example.com; repeats none → FREQ=DAILY\"\n--\n\
         start: 14:00 = Tue 2036-02-05 14h00 Europe/Berlin\ndry run: nothing was written"
    );
    assert_eq!(harness.written(), Vec::<String>::new());
}

/// Returns three events of a morning, and a series.
async fn morning() -> CalendarHarness {
    let harness = series("FREQ=WEEKLY").await;
    let ana = harness.ana();
    for (id, title, hour) in [("main/a", "A", 11), ("main/b", "B", 12), ("work/c", "C", 13)] {
        ana.put(id, title, &format!("2036-02-05T{hour}:00[Europe/Berlin]"), 60);
    }
    ana.put("team/t", "Team", "2036-02-05T09:00[Europe/Berlin]", 60);
    harness
}

#[tokio::test]
async fn several_events_change_in_one_call() {
    let cases = cases! {
        // One change for all events.
        json!({"ids": ["main/a", "work/c"], "events": [{"where": "Room 3"}]}),
            "", "", vec!["update main/a Nobody: place=Room 3", "update work/c Nobody: place=Room 3"];
        // A change for each event. Two events that swap times do not clash; unchanged events are
        // skipped.
        json!({"events": [{"id": "main/a", "start": "12:00"}, {"id": "main/b", "start": "11:00"},
                          {"id": "work/c", "title": "C"}]}),
            "e3 C|change|unchanged|already as requested",
            "`e1 A`: start: 12:00 = Tue 2036-02-05 12h00 Europe/Berlin\n`e2 B`: start: 11:00 = Tue 2036-02-05 11h00 Europe/Berlin",
            vec!["update main/a Nobody: 2036-02-05T12:00:00[Europe/Berlin]/2036-02-05T13:00:00[Europe/Berlin]",
                 "update main/b Nobody: 2036-02-05T11:00:00[Europe/Berlin]/2036-02-05T12:00:00[Europe/Berlin]"];
        // The events clash with each other at their new times.
        json!({"ids": ["main/a", "main/b"], "events": [{"start": "15:00"}], "if_conflict": "refuse"}),
            "e2 B|change|refused|clashes with item 1 `A`",
            "`e1 A`: start: 15:00 = Tue 2036-02-05 15h00 Europe/Berlin\n`e2 B`: start: 15:00 = Tue 2036-02-05 15h00 Europe/Berlin",
            vec!["update main/a Nobody: 2036-02-05T15:00:00[Europe/Berlin]/2036-02-05T16:00:00[Europe/Berlin]"];
        // A time copied from a row is read without the local time elsewhere.
        json!({"ids": "main/a", "events": [{"start": "Tue 2036-02-05 18h00 = 17h00 Lisbon"}]}),
            "", "start: Tue 2036-02-05 18h00 = Tue 2036-02-05 18h00 Europe/Berlin", vec!["update main/a Nobody: 2036-02-05T18:00:00[Europe/Berlin]/2036-02-05T19:00:00[Europe/Berlin]"];
        // The scope applies only to recurring events.
        json!({"ids": ["main/a", "main/w@20360212T0800Z"], "scope": "this",
               "events": [{"title": "New"}], "dry_run": true}),
            "e1 A|change|planned|\"title \\\"A\\\" → \\\"New\\\"\"\n  \
             e2 Weekly|change|planned|\"title \\\"Weekly\\\" → \\\"New\\\"\"",
            "dry run: nothing was written", vec![];
    };
    for (call, outcomes, note, written) in cases {
        let harness = morning().await;
        let blocks = harness.call("calendar_save", call.clone()).await.unwrap();
        let found = blocks[0].split_once("{item|op|result|detail}:\n  ").map_or("", |(_, one)| one);
        assert_eq!(found, outcomes, "{call}");
        assert!(blocks.iter().skip(1).all(|notes| notes == note), "{call}: {blocks:?}");
        assert_eq!(harness.written(), written, "{call}");
    }
    // All checks precede the first write.
    let harness = morning().await;
    let both = |id: &str| json!({"ids": ["main/a", id], "events": [{"title": "New"}]});
    let cases = cases! {
        both("main/gone"), "main/gone: e2 was deleted: search again";
        both("team/t"),
            "team/t: e3 is in the read-only calendar Team: ask its owner for the change, or create \
             your own event";
        both("main/w"), "main/w: e4 is a series: give scope=this, following or series";
        json!({"ids": "main/a", "events": [{"start": "18h00 = 17h00 Lisbon", "tz": "Europe/Lisbon"}]}),
            "`start` has two times, and `tz` is given: give the time in that zone alone";
        both("e1"), "two of the ids mean e1: give one of them, or scope=this for single occurrences";
        json!({"ids": ["main/w@20360212T0800Z", "main/w@20360219T0800Z"], "scope": "series",
               "events": [{"title": "New"}]}),
            "two of the ids mean e4: give one of them, or scope=this for single occurrences";
        json!({"events": [{"id": "main/a", "title": "B"}, {"title": "New", "start": "2036-02-05"}]}),
            "some of `events` have an `id`, and some have none: change events and create new ones \
             in separate calls";
        json!({"ids": "main/a,main/b", "events": [{"title": "B"}, {"title": "A"}]}),
            "`ids` takes one change for all, and `events` has several: give each event its own \
             `id`, without `ids`";
        json!({"id": "main/a", "ids": "main/b", "events": [{"title": "B"}]}),
            "`ids` is given twice: give it once, with all values";
    };
    harness.refuses("calendar_save", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    // A failed event does not stop the others, unless its cause affects all.
    let rejected = Error::new(ErrorKind::Provider(400), "the service says no");
    let busy =
        Error::new(ErrorKind::RateLimited(None), "too many requests").next("try again later");
    for (failure, outcomes, count) in cases! {
        rejected, "  e2 B|change|failed|\"e2: the service says no\"", 3;
        busy,
            "  e2 B|change|failed|\"e2: too many requests: try again later\"\n  \
             e3 C|change|skipped|not written, because an earlier one failed", 2;
    } {
        let harness = morning().await;
        harness.ana().fail([None, Some((failure, false))]);
        let call = json!({"ids": ["main/a", "main/b", "work/c"], "events": [{"where": "R"}]});
        let answer = harness.ok("calendar_save", call).await;
        let found = answer.split_once("{item|op|result|detail}:\n").unwrap().1;
        assert_eq!(found, outcomes);
        assert_eq!(harness.written().len(), count);
    }
}

#[tokio::test]
async fn event_changed_meanwhile_is_not_overwritten() {
    let harness = CalendarHarness::one().await;
    let ana = harness.ana();
    ana.put("main/m", "Review", "2036-02-05T09:00[Europe/Berlin]", 45);
    let call = || change("main/m", json!({"where": "Room 4"}), json!({}));
    harness.ok("calendar_save", call()).await;
    // Other guests' answers do not conflict with a change; a new place does.
    ana.touch("main/m", |facts| {
        facts.guests = vec![guest("bo@example.com", '+')];
    });
    ana.touch("main/m", |facts| facts.place = "Room 5".to_owned());
    let mut reported = call();
    reported["notify"] = "none".into();
    let expected = "e1 was changed since it was shown: it is now Tue 2036-02-05 09h00 to 09h45 \
                  Review: nothing was written; call again if it is still right";
    assert_eq!(harness.error("calendar_save", reported.clone()).await, expected);
    assert_eq!(harness.written().len(), 1);
    harness.ok("calendar_save", reported.clone()).await;
    assert_eq!(harness.written().len(), 1);
    // A change between the check and the write is detected by the service.
    ana.fail([Some((Error::new(ErrorKind::Conflict, "the etag differs"), false))]);
    ana.touch("main/m", |facts| facts.place = "Room 4".to_owned());
    let again = change("e1", json!({"title": "Retro"}), json!({"notify": "none"}));
    assert_eq!(harness.error("calendar_save", again.clone()).await, expected);
    harness.ok("calendar_save", again).await;
    // The event was cancelled or deleted.
    ana.touch("main/m", |facts| facts.cancelled = true);
    let again = change("e1", json!({"title": "Walk"}), json!({"notify": "none"}));
    assert_eq!(
        harness.error("calendar_save", again).await,
        "e1 was cancelled: search again, or create a new event"
    );
    let again = change("main/never", json!({"title": "Walk"}), json!({}));
    assert_eq!(harness.error("calendar_save", again).await, "e2 was deleted: search again");
    for (id, expected) in cases! {
        "m1", "`m1` is a handle of kind message: give event ids, such as e7, from calendar_search";
        "e77", "there is no `e77`: use an id from a search or lookup";
        "what", "`what` is not an id: give one such as e7 from calendar_search";
    } {
        let call = change(id, json!({"title": "Walk"}), json!({}));
        assert_eq!(harness.error("calendar_save", call).await, expected);
    }
    // The outcome is unknown.
    let harness = CalendarHarness::one().await;
    harness.ana().put("main/m", "Review", "2036-02-05T09:00[Europe/Berlin]", 45);
    harness
        .ana()
        .fail([Some((Error::new(ErrorKind::Timeout, "no answer within 30 seconds"), true))]);
    assert_eq!(
        harness.ok("calendar_save", call()).await,
        "outcomes[1|]{item|op|result|detail}:\n  e1 Review|change|unknown|\"no answer within 30 \
         seconds: it may have been done anyway, so search before retrying\""
    );
}

#[tokio::test]
async fn events_of_other_organizers_are_not_changed() {
    let harness = CalendarHarness::one().await;
    let ana = harness.ana();
    let mut facts = ana.put("main/i", "Invited", "2036-02-05T09:00[Europe/Berlin]", 45);
    facts.own = false;
    facts.guests = vec![guest("bo@example.com", '+')];
    ana.set(facts);
    ana.put("team/t", "Team", "2036-02-05T09:00[Europe/Berlin]", 45);
    let cases = cases! {
        change("main/i", json!({"start": "10:00"}), json!({})),
            "only the organizer of e1 can change its time: use calendar_respond, with `propose` \
             for another time";
        change("main/i", json!({"add": ["cy@example.com"]}), json!({})),
            "only the organizer of e1 can change its people: use calendar_respond, with `propose` \
             for another time";
        change("team/t", json!({"title": "Ours"}), json!({})),
            "e2 is in the read-only calendar Team: ask its owner for the change, or create your \
             own event";
    };
    harness.refuses("calendar_save", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    let call = change("e1", json!({"reminder": "10", "title": "With Bo"}), json!({}));
    let blocks = harness.call("calendar_save", call).await.unwrap();
    assert_eq!(blocks[1], "e1 has another organizer: only your copy was changed");
    assert_eq!(harness.written(), ["update main/i Nobody: title=With Bo reminder=Some(10)"]);
}

#[tokio::test]
async fn changing_a_recurring_event_needs_a_scope() {
    let harness = series("FREQ=WEEKLY").await;
    let one = "main/w@20360212T0800Z";
    let cases = cases! {
        change(one, json!({"title": "T"}), json!({})),
            "e1 is an occurrence of a series: give scope=this, following or series";
        change("main/w", json!({"title": "T"}), json!({"scope": "this"})),
            "e2 is the whole series, not an occurrence: give the id of an occurrence from \
             calendar_search, or scope=series";
        change("main/w", json!({"title": "T"}), json!({"scope": "following"})),
            "e2 is the whole series, not an occurrence: give the id of an occurrence from \
             calendar_search, or scope=series";
        change(one, json!({"repeats": "FREQ=DAILY"}), json!({"scope": "this"})),
            "one occurrence has no rule of its own: give scope=series or scope=following, or leave \
             out `repeats`";
    };
    harness.refuses("calendar_save", cases).await;
    assert_eq!(harness.written(), Vec::<String>::new());
    let answer = harness
        .ok("calendar_save", change(one, json!({"start": "10:00"}), json!({"scope": "this"})))
        .await;
    assert_eq!(
        answer,
        "zone: Europe/Berlin\n\
         events[1|]{id|start|end|title|where|organizer|people|flags}:\n  \
         e1|Tue 2036-02-12 10h00|11h00|Weekly|\"\"|me|null|recurring\n--\n\
         start: 10:00 = Tue 2036-02-12 10h00 Europe/Berlin"
    );
    assert_eq!(
        harness.written(),
        ["update main/w@20360212T0800Z Nobody: \
          2036-02-12T10:00:00[Europe/Berlin]/2036-02-12T11:00:00[Europe/Berlin]"]
    );
}

#[tokio::test]
async fn series_moves_as_a_whole() {
    let berlin = |from: &str, to: &str, rest: &str| {
        format!("update main/w Nobody: {from}[Europe/Berlin]/{to}[Europe/Berlin]{rest}")
    };
    // The occurrence is in summer: nine o'clock there is nine o'clock in winter.
    let summer = "main/w@20360603T0700Z";
    let winter = "main/w@20360212T0800Z";
    let cases = cases! {
        // A new time of day leaves the rule as it is.
        "FREQ=WEEKLY;BYDAY=TU", summer, json!({"start": "10:30"}),
            berlin("2036-02-05T10:30:00", "2036-02-05T11:30:00", "");
        "FREQ=WEEKLY;BYDAY=MO,TU", winter, json!({"start": "2036-02-12 10h30", "duration": "30m"}),
            berlin("2036-02-05T10:30:00", "2036-02-05T11:00:00", "");
        "FREQ=WEEKLY", winter, json!({"end": "11:00", "title": "Long"}),
            berlin("2036-02-05T09:00:00", "2036-02-05T11:00:00", " title=Long");
        // A new day moves the rule's only day with it.
        "FREQ=WEEKLY;BYDAY=TU;UNTIL=20360603T070000Z", winter, json!({"start": "2036-02-13 10h00"}),
            berlin(
                "2036-02-06T10:00:00",
                "2036-02-06T11:00:00",
                " repeat=FREQ=WEEKLY;UNTIL=20360604T080000Z;BYDAY=WE",
            );
        "FREQ=WEEKLY;BYDAY=MO,TU", winter, json!({"start": "2036-02-19 09h00"}),
            berlin("2036-02-12T09:00:00", "2036-02-12T10:00:00", "");
        "FREQ=MONTHLY;BYDAY=1TU", "main/w@20360304T0800Z", json!({"start": "2036-03-05 09h00"}),
            berlin("2036-02-06T09:00:00", "2036-02-06T10:00:00", " repeat=FREQ=MONTHLY;BYDAY=1WE");
        "FREQ=MONTHLY;BYMONTHDAY=5", "main/w@20360305T0800Z", json!({"start": "2036-03-07 09h00"}),
            berlin(
                "2036-02-07T09:00:00",
                "2036-02-07T10:00:00",
                " repeat=FREQ=MONTHLY;BYMONTHDAY=7",
            );
        // To another week of the month, counted from its beginning or its end.
        "FREQ=MONTHLY;BYDAY=1TU", "main/w@20360304T0800Z", json!({"start": "2036-03-12 09h00"}),
            berlin("2036-02-13T09:00:00", "2036-02-13T10:00:00", " repeat=FREQ=MONTHLY;BYDAY=2WE");
        "FREQ=MONTHLY;BYDAY=-4TU", "main/w@20360304T0800Z", json!({"start": "2036-03-12 09h00"}),
            berlin("2036-02-13T09:00:00", "2036-02-13T10:00:00", " repeat=FREQ=MONTHLY;BYDAY=-3WE");
        // A given rule replaces the old one.
        "FREQ=WEEKLY;BYDAY=MO,TU", winter,
            json!({"start": "2036-02-13 09h00", "repeats": "FREQ=WEEKLY;BYDAY=WE,FR"}),
            berlin("2036-02-06T09:00:00", "2036-02-06T10:00:00", " repeat=FREQ=WEEKLY;BYDAY=WE,FR");
        "FREQ=WEEKLY", winter, json!({"repeats": "FREQ=WEEKLY;COUNT=5"}),
            "update main/w Nobody: repeat=FREQ=WEEKLY;COUNT=5".to_owned();
        "FREQ=WEEKLY", winter, json!({"repeats": "none"}),
            "update main/w Nobody: repeat=none".to_owned();
        // Change to whole days.
        "FREQ=WEEKLY;UNTIL=20360603T070000Z", winter,
            json!({"start": "2036-02-12", "end": "2036-02-13"}),
            "update main/w Nobody: 2036-02-05/2036-02-07 repeat=FREQ=WEEKLY;UNTIL=20360603"
                .to_owned();
        // Change to another zone.
        "FREQ=WEEKLY;BYDAY=TU", summer,
            json!({"start": "2036-06-03 09h00", "tz": "America/New_York"}),
            "update main/w Nobody: 2036-02-05T09:00:00[America/New_York]/\
             2036-02-05T10:00:00[America/New_York]"
                .to_owned();
        // An ambiguous rule is accepted if no day changes.
        "FREQ=WEEKLY;BYDAY=MO", "main/w@20360211T0800Z", json!({"duration": "2h"}),
            berlin("2036-02-05T09:00:00", "2036-02-05T11:00:00", "");
        // By the id of the series itself.
        "FREQ=WEEKLY;BYDAY=TU", "main/w", json!({"start": "08:00"}),
            berlin("2036-02-05T08:00:00", "2036-02-05T09:00:00", "");
    };
    for (rule, id, members, expected) in cases {
        let harness = series(rule).await;
        let call = change(id, members.clone(), json!({"scope": "series"}));
        harness.ok("calendar_save", call).await;
        assert_eq!(harness.written(), [expected], "{rule} {members}");
    }
    // The intended days are ambiguous.
    let twelfth = "main/w@20360212T0800Z";
    for (rule, id, start) in [
        ("FREQ=WEEKLY;BYDAY=MO,TU", twelfth, "2036-02-13 09h00"),
        ("FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2", twelfth, "2036-02-13 09h00"),
        ("FREQ=MONTHLY;BYMONTHDAY=5,12", twelfth, "2036-02-13 09h00"),
        ("FREQ=WEEKLY;BYHOUR=9", twelfth, "2036-02-12 10h00"),
        // Into the next month.
        ("FREQ=MONTHLY;BYMONTHDAY=5", "main/w@20360305T0800Z", "2036-04-01 09h00"),
    ] {
        let harness = series(rule).await;
        let call = change(id, json!({"start": start}), json!({"scope": "series"}));
        assert_eq!(
            harness.error("calendar_save", call).await,
            format!(
                "it is unclear which days the rule {rule} means after the move: give the new rule \
                 as `repeats`"
            )
        );
        assert_eq!(harness.written(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn exceptions_move_with_the_series() {
    let harness = series("FREQ=WEEKLY;BYDAY=TU").await;
    let ana = harness.ana();
    ana.touch("main/w", |facts| {
        let repeat = facts.repeat.as_mut().unwrap();
        repeat.except = vec![
            EventTime::At("2036-02-19T08:00:00Z".parse().unwrap()),
            EventTime::At("2036-06-10T07:00:00Z".parse().unwrap()),
        ];
        repeat.extra = vec![EventTime::At("2036-02-21T08:00:00Z".parse().unwrap())];
    });
    // One occurrence was moved by hand; the series moves according to its rule.
    let call = change("main/w@20360212T0800Z", json!({"start": "11:00"}), json!({"scope": "this"}));
    harness.ok("calendar_save", call).await;
    let call = change("e1", json!({"start": "12:00"}), json!({"scope": "series"}));
    let blocks = harness.call("calendar_save", call).await.unwrap();
    assert_eq!(
        blocks[1],
        "start: 12:00 = Tue 2036-02-12 12h00 Europe/Berlin\n\
         an occurrence changed individually follows the rule again: Tue 2036-02-12 09h00 (moved to \
         11h00)\n\
         cancelled stays cancelled: Tue 2036-02-19 09h00, Tue 2036-06-10 09h00\n\
         only the first 10 occurrences are listed"
    );
    assert_eq!(
        harness.written()[1..],
        ["update main/w Nobody: \
          2036-02-05T12:00:00[Europe/Berlin]/2036-02-05T13:00:00[Europe/Berlin] \
          repeat=FREQ=WEEKLY;BYDAY=TU -20360219T1100Z -20360610T1000Z +20360221T1100Z"]
    );
}

#[tokio::test]
async fn following_occurrences_become_a_new_series() {
    let harness = series("FREQ=WEEKLY;BYDAY=TU;COUNT=10").await;
    let ana = harness.ana();
    ana.touch("main/w", |facts| {
        facts.guests = vec![guest("bo@example.com", '+')];
        facts.place = "Room 3".to_owned();
        facts.notes = Some("Agenda".to_owned());
        facts.link = Some("https://meet.example/old".to_owned());
    });
    ana.extra(
        "main/w",
        json!({"visibility": "private", "transparency": "transparent", "colorId": "11",
               "reminders": {"overrides": [{"method": "popup", "minutes": 30}]}}),
    );
    let call = change(
        "main/w@20360226T0800Z",
        json!({"start": "2036-02-27 10h00", "title": "Weekly, new"}),
        json!({"scope": "following", "notify": "external"}),
    );
    let mut planned = call.clone();
    planned["dry_run"] = true.into();
    assert_eq!(
        harness.ok("calendar_save", planned).await,
        "outcomes[1|]{item|op|result|detail}:\n  e1 Weekly|change|planned|\"a new series from Tue \
         2036-02-26 09h00 on: time Tue 2036-02-26 09h00 to 10h00 → Wed 2036-02-27 10h00 to 11h00; \
         title \\\"Weekly\\\" → \\\"Weekly, new\\\"; repeats FREQ=WEEKLY;BYDAY=TU;COUNT=10 → \
         FREQ=WEEKLY;COUNT=7;BYDAY=WE\"\n--\ndry run: nothing was written"
    );
    assert_eq!(
        harness.ok("calendar_save", call).await,
        "zone: Europe/Berlin\n\
         events[2|]{id|start|end|title|where|organizer|people|flags}:\n  \
         e9|Wed 2036-02-27 10h00|11h00|Weekly, new|Room 3|me|bo+|recurring online\n  \
         e2|Tue 2036-02-05 09h00|10h00|Weekly|Room 3|me|bo+|recurring online free private\n\
         occurrences[7|]{id|start|end}:\n  \
         e1|Wed 2036-02-27 10h00|11h00\n  \
         e3|Wed 2036-03-05 10h00|11h00\n  \
         e4|Wed 2036-03-12 10h00|11h00\n  \
         e5|Wed 2036-03-19 10h00|11h00\n  \
         e6|Wed 2036-03-26 10h00|11h00\n  \
         e7|Wed 2036-04-02 10h00|11h00\n  \
         e8|Wed 2036-04-09 10h00|11h00\n--\n\
         the series was split: e2 has the earlier part, the first row the later\n\
         the new series has its own online meeting\n\
         notified, if elsewhere, so no undo: bo@example.com"
    );
    assert_eq!(
        harness.written(),
        [
            "create main External: \
          2036-02-27T10:00:00[Europe/Berlin]/2036-02-27T11:00:00[Europe/Berlin] \
          title=Weekly, new place=Room 3 notes=Agenda category=tomato guests=[bo@example.com+] \
          repeat=FREQ=WEEKLY;COUNT=7;BYDAY=WE online=true show=Free visibility=Private \
          reminder=Some(30)",
            "update main/w External: repeat=FREQ=WEEKLY;UNTIL=20360226T075959Z;BYDAY=TU"
        ]
    );
    assert_eq!(
        harness.audited_in_full(),
        [
            "ana@example.com calendar_save create [] [example.com] 1 begun",
            "ana@example.com calendar_save create [main/new4] [example.com] 1 done",
            "ana@example.com calendar_save update [e2] [example.com] 1 begun",
            "ana@example.com calendar_save update [e2] [example.com] 1 done",
        ]
    );
}

#[tokio::test]
async fn split_copies_what_the_event_shows_at_outlook() {
    let harness = CalendarHarness::outlook().await;
    let ana = harness.ana();
    let mut facts = ana.put("main/w", "Weekly", "2036-02-05T09:00[Europe/Berlin]", 60);
    facts.repeat = Some(repeat("FREQ=WEEKLY"));
    facts.link = Some("https://meet.example/old".to_owned());
    facts.notes = Some("Agenda & more".to_owned());
    ana.set(facts);
    ana.extra("main/w", json!({"categories": ["a", "b", "c", "d", "e", "f"], "showAs": "oof"}));
    let call =
        change("main/w@20360226T0800Z", json!({"title": "New"}), json!({"scope": "following"}));
    harness.ok("calendar_save", call).await;
    assert_eq!(
        harness.written()[0],
        "create main Nobody: \
         2036-02-26T09:00:00[Europe/Berlin]/2036-02-26T10:00:00[Europe/Berlin] \
         title=New notes=Agenda & more category=a, b, c, d, e, f repeat=FREQ=WEEKLY online=true \
         show=Oof"
    );
}

#[tokio::test]
async fn one_unsupported_item_refuses_the_whole_call() {
    let harness = CalendarHarness::outlook().await;
    let call = json!({"notify": "external", "events": [
        {"title": "A", "start": "2036-02-05 09h00"},
        {"title": "B", "start": "2036-02-05 11h00", "people": ["bo@example.com"]}]});
    assert_eq!(
        harness.error("calendar_save", call).await,
        "nothing was written: item 2 B: this service tells everybody"
    );
    harness.ana().put("main/m", "Review", "2036-02-05T09:00[Europe/Berlin]", 45);
    let call = change("main/m", json!({"add": ["bo@example.com"]}), json!({"notify": "external"}));
    assert_eq!(harness.error("calendar_save", call).await, "this service tells everybody");
    assert_eq!(harness.written(), Vec::<String>::new());
}

#[tokio::test]
async fn failed_split_leaves_nothing_half_done() {
    let one = "main/w@20360226T0800Z";
    let call = || change(one, json!({"title": "New"}), json!({"scope": "following"}));
    let refused = Some((Error::new(ErrorKind::Provider(403), "the service says no"), false));
    let broken = |done: bool| Some((Error::new(ErrorKind::Network, "the connection broke"), done));
    let create = "create main Nobody: \
                  2036-02-26T09:00:00[Europe/Berlin]/2036-02-26T10:00:00[Europe/Berlin] \
                  title=New repeat=FREQ=WEEKLY";
    let cut = "update main/w Nobody: repeat=FREQ=WEEKLY;UNTIL=20360226T075959Z";
    let back = "delete main/new3 Nobody";
    // The failures of the writes, the answer, and the writes.
    for (failures, expected, written) in cases! {
        // The new series is not created, so the old one stays as it was.
        vec![refused.clone()], Err("the new series was not created: the service says no"),
            vec![create];
        // The old series is not cut, so the new one is removed.
        vec![None, refused.clone()],
            Err(
                "nothing was changed: the old series could not be shortened, and the new one was \
                 deleted: e2: the service says no",
            ), vec![create, cut, back];
        // Removing it fails, too: both series exist, and the answer says so.
        vec![None, refused.clone(), refused.clone()],
            Ok(
                "e1 Weekly|change|failed|\"e2 was not shortened (the service says no), and the new \
                 series could not be deleted (the service says no): delete one of them\"",
            ), vec![create, cut, back];
        // The connection breaks during the cut, and a lookup finds that it was made.
        vec![None, broken(true)], Ok("the series was split"), vec![create, cut];
        // A cut that is not visible yet may still follow.
        vec![None, broken(false)],
            Ok(
                "e1 Weekly|change|unknown|\"the connection broke: the new series exists, but e2 \
                 may not end before it; check, and shorten or delete one of them\"",
            ), vec![create, cut];
        // The connection breaks while the new series is created: no further write follows.
        vec![broken(true)], Ok("e1 Weekly|change|unknown|"), vec![create];
    } {
        let harness = series("FREQ=WEEKLY").await;
        harness.ana().fail(failures);
        match expected {
            Ok(text) => {
                let answer = harness.ok("calendar_save", call()).await;
                assert!(answer.contains(text), "{answer}");
            }
            Err(text) => assert_eq!(harness.error("calendar_save", call()).await, text),
        }
        assert_eq!(harness.written(), written);
    }
}

#[tokio::test]
async fn following_from_first_occurrence_changes_whole_series() {
    let harness = series("FREQ=WEEKLY").await;
    let call =
        change("main/w@20360205T0800Z", json!({"title": "New"}), json!({"scope": "following"}));
    harness.ok("calendar_save", call).await;
    assert_eq!(harness.written(), ["update main/w Nobody: title=New"]);
    // Exceptions after the split are reported; deleted occurrences stay deleted.
    let harness = series("FREQ=WEEKLY").await;
    let ana = harness.ana();
    for (day, cancelled) in [("0212", false), ("0304", false), ("0311", true)] {
        let at = format!("2036-{}-{}T08:00:00Z", &day[..2], &day[2..]);
        let at = EventTime::At(at.parse().unwrap());
        let one = EventData {
            id: format!("main/w@2036{day}T0800Z").into(),
            series: Some("main/w".into()),
            original: Some(at),
            repeat: None,
            cancelled,
            ..ana.get("main/w").unwrap()
        };
        ana.set(one);
    }
    let call =
        change("main/w@20360226T0800Z", json!({"title": "New"}), json!({"scope": "following"}));
    let blocks = harness.call("calendar_save", call).await.unwrap();
    assert_eq!(
        blocks[1],
        "an occurrence changed individually follows the rule again: Tue 2036-03-04 09h00 (moved \
         to Tue 2036-02-05 09h00)\n\
         cancelled stays cancelled: Tue 2036-03-11 09h00\n\
         the series was split: e2 has the earlier part, the first row the later\n\
         only the first 10 occurrences are listed"
    );
    assert_eq!(
        harness.written()[0],
        "create main Nobody: \
         2036-02-26T09:00:00[Europe/Berlin]/2036-02-26T10:00:00[Europe/Berlin] \
         title=New repeat=FREQ=WEEKLY -20360311T0800Z"
    );
}
