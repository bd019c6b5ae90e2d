//! Agendas over several accounts and calendars: merged by start, without duplicates, in pages that
//! together have every event.
//!
//! The calendars are scripted to imitate an awkward service: whole days begin in a time zone of the
//! service's own, pages are short, and some calendars fail.

mod paging;
mod tokens;

use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event_time;
use daysheet_core::ical;
use daysheet_core::provider::calendar::{EventData, InvitationAnswer};
use daysheet_core::schemas::Service;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::common::clock;
use crate::common::fake_calendars::{CalendarHarness, Entry, FakeCalendars, guest, repeat};
use crate::common::harness;
use crate::support::column;

/// Returns an empty Outlook account.
pub fn calendars(name: &'static str) -> FakeCalendars {
    FakeCalendars::empty(name, Service::Microsoft)
}

/// Returns a pipeline over some accounts.
pub async fn over(fakes: Vec<FakeCalendars>) -> CalendarHarness {
    CalendarHarness::over(fakes, &[]).await.with_tabs()
}

impl CalendarHarness {
    /// Returns the notes of a search.
    pub async fn notes(&self, tool: &str, arguments: Value) -> String {
        harness::notes(&self.call(tool, arguments).await.unwrap())
    }
}

/// Returns two people's events in the first week of February.
fn week() -> (FakeCalendars, FakeCalendars) {
    let ana = FakeCalendars::empty("ana", Service::Google)
        .calendar("Ana", "owner")
        .calendar("Team", "reader")
        .calendar("Boss", "busy");
    ana.add("Ana", Entry::at("2026-02-03T08:30", 30, "Stand-up").series("s1"));
    ana.add(
        "Ana",
        Entry::at("2026-02-04T13:00", 60, "Budget review")
            .uid("budget")
            .place("Room 4")
            .ask("bo@example.com", "accepted")
            .ask("cy@example.com", "none"),
    );
    ana.add("Team", Entry::day("2026-02-04", 2, "Offsite"));
    ana.add("Boss", Entry::at("2026-02-04T09:00", 60, "Secret"));
    let bo = calendars("bo").calendar("Bo", "owner");
    bo.add(
        "Bo",
        Entry::at("2026-02-04T13:00", 60, "Budget review")
            .uid("budget")
            .called_by("ana@example.com"),
    );
    bo.add("Bo", Entry::at("2026-02-04T22:30", 120, "Train to Hamburg"));
    (ana, bo)
}

#[tokio::test]
async fn events_of_all_calendars_are_merged_without_duplicates() {
    let (ana, bo) = week();
    let harness = over(vec![ana, bo]).await;
    let arguments = json!({"from": "2026-02-03", "to": "2026-02-05"});
    assert_eq!(
        harness.call("calendar_search", arguments).await.unwrap(),
        [
            "zone: Europe/Berlin\n\
             events[4\t]{id\tstart\tend\ttitle\twhere\torganizer\tpeople\tflags\tcalendar\taccount}:\n  \
             e1\tTue 2026-02-03 09h30\t10h00\tStand-up\t\"\"\tme\tnull\trecurring\tmain\tana@example.com\n  \
             e2\tWed 2026-02-04\t2026-02-05\tOffsite\t\"\"\tme\tnull\t\"\"\tTeam\tana@example.com\n  \
             e3\tWed 2026-02-04 14h00\t15h00\tBudget review\tRoom 4\tme\tbo+ cy?\t\"\"\tmain\tana@example.com\n  \
             e4\tWed 2026-02-04 23h30\tThu 2026-02-05 01h30\tTrain to Hamburg\t\"\"\tme\tnull\t\"\"\tnull\tbo@example.com",
            "events: 4 of 4, by start, Tue 2026-02-03 to Thu 2026-02-05\n\
             1 copy of a meeting in several calendars left out",
        ]
    );
    // In another zone the same evening is another day. With a single account, its name is omitted.
    let arguments = json!({"from": "2026-02-04", "to": "2026-02-04", "account": "bo",
                       "tz": "Tokyo Standard Time", "detail": "minimal"});
    assert_eq!(
        harness.call("calendar_search", arguments).await.unwrap(),
        [
            "zone: Asia/Tokyo\n\
             events[1\t]{id\tstart\tend\ttitle\tflags}:\n  \
             e5\tWed 2026-02-04 22h00\t23h00\tBudget review\t\"\"",
            "events: 1 of 1, by start, Wed 2026-02-04",
        ]
    );
}

/// Of the copies of a meeting, the organizer's own is shown, whichever account it is in.
#[tokio::test]
async fn own_copy_of_a_meeting_is_shown() {
    for (owner, other) in [("ana", "bo"), ("bo", "ana")] {
        let organizer = format!("{owner}@example.com");
        let fake = |name: &'static str| {
            let meeting = Entry::at("2026-02-04T13:00", 60, "Budget review").uid("budget");
            let fake = calendars(name).calendar(name, "owner");
            let own = name == owner;
            fake.add(name, if own { meeting } else { meeting.called_by(&organizer) });
            fake
        };
        let harness = over(vec![fake(owner), fake(other)]).await;
        let arguments =
            json!({"from": "2026-02-04", "to": "2026-02-04", "fields": ["title", "account"]});
        let found = harness.json("calendar_search", arguments).await;
        assert_eq!(column(&found, "events", "account"), [organizer.as_str()]);
    }
}

/// The range of an agenda, by the arguments that state it.
#[tokio::test]
async fn ranges_are_echoed_as_understood() {
    let harness = over(vec![calendars("ana").calendar("Ana", "owner")]).await;
    for (from, to, reported) in cases! {
        "2026-02-03", "", "Tue 2026-02-03 to Mon 2026-02-09";
        "2026-02-03 10h12", "", "Tue 2026-02-03 10h12 to Tue 2026-02-10";
        "2026-02-03", "2026-02-03", "Tue 2026-02-03";
        "2026-02-03", "2026-02-05", "Tue 2026-02-03 to Thu 2026-02-05";
        "2026-02-03 09h00", "2026-02-03 18h00", "Tue 2026-02-03 09h00 to Tue 2026-02-03 18h00";
        // A period extends to its end, unless an end is given.
        "2026-02", "", "Sun 2026-02-01 to Sat 2026-02-28";
        "2026-02", "2026-02-03", "Sun 2026-02-01 to Tue 2026-02-03";
        // Days of 23 and 25 hours.
        "2026-03-29", "2026-03-29", "Sun 2026-03-29";
        "2026-10-25", "2026-10-25", "Sun 2026-10-25";
        "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z",
            "Sun 2026-10-25 02h30 +0200 to Sun 2026-10-25 02h30 +0100";
        "Sun 2026-10-25 02h30 +0100", "2026-10-25 03h00",
            "Sun 2026-10-25 02h30 +0100 to Sun 2026-10-25 03h00";
    } {
        let notes = harness.notes("calendar_search", json!({"from": from, "to": to})).await;
        assert_eq!(notes, format!("events: 0 of 0, by start, {reported}\nno events in that time"));
    }
    // Without arguments the range runs from now to the end of a day. Ambiguous hours have their
    // offset.
    for (now, reported) in [
        (clock::WRITTEN, "Mon 2026-11-16 11h05 to Mon 2026-11-23"),
        ("2026-10-25T02:30+02:00", "Sun 2026-10-25 02h30 +0200 to Sun 2026-11-01"),
        ("2026-10-25T02:30+01:00", "Sun 2026-10-25 02h30 +0100 to Sun 2026-11-01"),
    ] {
        let fakes = vec![calendars("ana").calendar("Ana", "owner")];
        let harness = CalendarHarness::at(fakes, &[], clock::at(now)).await;
        let notes = harness.notes("calendar_search", json!({})).await;
        assert_eq!(notes, format!("events: 0 of 0, by start, {reported}\nno events in that time"));
    }
    // Searches for words have a longer default range.
    let notes = harness.notes("calendar_search", json!({"q": "budget"})).await;
    assert!(
        notes.contains(
            "words are searched from 30 days back to 365 ahead, unless `from` and `to` are"
        ),
        "{notes}"
    );
}

#[tokio::test]
async fn impossible_arguments_are_refused() {
    let (ana, bo) = week();
    let harness = over(vec![ana, bo]).await;
    // Assigns the handle c1 to Bo's calendar.
    let bo = json!({"kind": "calendars", "account": "bo"});
    harness.call("lookup", bo).await.unwrap();
    let (from, to) = ("2026-02-03", "2026-02-05");
    for (arguments, says) in cases! {
        json!({"from": "2026-02-05", "to": "2026-02-03"}),
            "`to` (Wed 2026-02-04 00h00) is not after `from` (Thu 2026-02-05 00h00): give `from` \
             (default now) and a later `to`";
        json!({"to": "2020-01-01"}), "(default now) and a later `to`";
        json!({"from": "soon-ish"}), "`from`: ";
        json!({"from": from, "to": "whenever"}), "`to`: ";
        json!({"tz": "Mars/Olympus"}), "`tz`: there is no time zone `Mars/Olympus`";
        json!({"from": from, "to": to, "calendars": ["Teem"]}),
            "there is no calendar `Teem`: use one of: main, Team, Boss";
        // One unknown name among several is an error.
        json!({"from": from, "to": to, "calendars": ["Team", "eve@example.org"]}),
            "there is no calendar `eve@example.org`: calendar_free who=eve@example.org shows when \
             they are busy; or use one of: main, Team, Boss";
        json!({"from": from, "to": to, "calendars": ["eve@example.org"], "account": "bo"}),
            "there is no calendar `eve@example.org`: calendar_free who=eve@example.org shows when \
             they are busy; or use one of: main";
        json!({"from": from, "to": to, "calendars": ["Team", "c9"]}),
            "there is no `c9`: use an id from lookup kind=calendars";
        json!({"from": from, "to": to, "calendars": ["c1"], "account": "ana"}),
            "a requested calendar belongs to microsoft:bo@example.com, not to ana: leave out \
             `account`: the handle implies it";
        json!({"q": "is:unread"}),
            "`is:` is for mail, not events: use words, \"phrases\", from: (organizer) to: (guests) \
             subject: (title) body: (description) category: is:unanswered (invitations) OR -not \
             ( ), or is:clash alone";
        json!({"q": "is:bulk"}),
            "`is:` is for mail, not events: use words, \"phrases\", from: (organizer) to: (guests) \
             subject: (title) body: (description) category: is:unanswered (invitations) OR -not \
             ( ), or is:clash alone";
        json!({"q": "is:unanswered OR x"}), "`is:unanswered` works once, outside groups and OR";
        json!({"q": "is:clash Vesper"}),
            "`is:clash` stands alone: give q=is:clash, or the other words without it";
        json!({"sort": "title"}), "`sort` cannot be `title`: use one of: start";
        json!({"q": "is:clash", "series": true}), "`series` does not apply to q=is:clash";
        json!({"q": "in:inbox"}), "`in:` is for mail, not events";
        json!({"q": "raw:x"}), "`raw:` is for mail, not events";
        json!({"q": "a filename:b"}), "`filename:` is for mail, not events";
        json!({"q": "x OR before:7d"}), "give `from` and `to` besides `q`";
        json!({"q": "where:x"}),
            "unknown operator `where:`: use words, \"phrases\", from:";
        json!({"ids": ["e1"], "q": "x"}), "`q` cannot be combined with `ids`";
        json!({"ids": ["m1"]}), "m1: `m1` is a handle of kind message: give event ids";
        json!({"ids": ["e99"]}), "e99: there is no `e99`: use an id from a search or lookup";
        json!({"cursor": "p1", "from": from}), "`from` cannot be combined with the cursor `p1`";
        json!({"cursor": "p1"}), "there is no cursor `p1`";
        json!({"fields": ["subject"]}), "the table of events has no column `subject`";
    } {
        let text = harness.error("calendar_search", arguments.clone()).await;
        assert!(text.contains(says), "{arguments}: {text}");
    }
}

#[tokio::test]
async fn calendars_are_chosen_by_name_handle_or_id() {
    let (ana, bo) = week();
    let harness = over(vec![ana, bo]).await;
    let list = harness.json("lookup", json!({"kind": "calendars"})).await;
    assert_eq!(column(&list, "calendars", "id"), ["c1", "c2", "c3", "c4"]);
    for (calendars, account, titles) in [
        (json!([]), "", ["Stand-up", "Offsite", "Budget review", "Train to Hamburg"].as_slice()),
        (json!(["team"]), "", &["Offsite"]),
        (json!(["c2"]), "", &["Offsite"]),
        (json!(["ana-Team", "bo"]), "", &["Offsite", "Budget review", "Train to Hamburg"]),
        (json!(["c2", "Team", "c4"]), "", &["Offsite", "Budget review", "Train to Hamburg"]),
        (json!(["primary"]), "ana", &["Stand-up", "Budget review"]),
        (json!("Team"), "ana", &["Offsite"]),
        // A free/busy calendar is read only if it is named.
        (json!(["Boss"]), "", &["Secret"]),
    ] {
        let arguments = json!({"from": "2026-02-03", "to": "2026-02-05", "fields": ["title"],
                           "calendars": calendars, "account": account});
        let found = harness.json("calendar_search", arguments).await;
        assert_eq!(column(&found, "events", "title"), titles, "{calendars}");
    }
    // A calendar created within the last minute is found although the list is cached.
    harness.fakes[1].list("bo-Choir", "Choir", "owner");
    harness.fakes[1].add("Choir", Entry::at("2026-02-03T18:00", 60, "Rehearsal"));
    let arguments = json!({"from": "2026-02-03", "to": "2026-02-05", "calendars": ["choir"]});
    let found = harness.json("calendar_search", arguments).await;
    assert_eq!(column(&found, "events", "title"), ["Rehearsal"]);
}

#[tokio::test]
async fn search_words_match_the_text_of_events() {
    let fake = calendars("ana").calendar("Ana", "owner").calendar("Other", "reader");
    for (title, entry) in cases! {
        "Budget review", Entry::at("2026-02-03T08:00", 60, "Budget review").place("Room 4");
        "Übung Straße", Entry::at("2026-02-03T09:00", 60, "Übung Straße").notes("bring a towel");
        "Planning",
            Entry::at("2026-02-03T10:00", 60, "Planning")
                .called_by("bo@example.com")
                .ask("cy.long@example.com", "accepted")
                .ask("ana@example.com", "none");
        "会議室の予約", Entry::at("2026-02-03T11:00", 60, "会議室の予約").category("Red");
    } {
        let id = fake.add("Ana", entry);
        assert!(!id.is_empty(), "{title}");
    }
    // An event with the same title in another calendar is a different event.
    fake.add("Other", Entry::at("2026-02-03T12:00", 60, "Budget for two"));
    let harness = CalendarHarness::at(vec![fake], &[], clock::written()).await;
    for (q, titles) in [
        ("budget", ["Budget review", "Budget for two"].as_slice()),
        ("BUDG", &["Budget review", "Budget for two"]),
        ("udget", &[]),
        ("budget review", &["Budget review"]),
        ("review budget", &["Budget review"]),
        ("\"budget rev\"", &["Budget review"]),
        ("\"review budget\"", &[]),
        ("budget -review", &["Budget for two"]),
        ("room", &["Budget review"]),
        ("übung", &["Übung Straße"]),
        ("towel OR planning", &["Übung Straße", "Planning"]),
        ("body:towel", &["Übung Straße"]),
        ("subject:towel", &[]),
        ("from:bo@example.com", &["Planning"]),
        ("from:me (review OR two)", &["Budget review", "Budget for two"]),
        ("to:cy.long@example.com", &["Planning"]),
        ("to:cy", &["Planning"]),
        ("to:me", &["Planning"]),
        ("bo@example.com", &["Planning"]),
        ("category:red", &["会議室の予約"]),
        ("会議", &["会議室の予約"]),
        ("議会", &[]),
        ("-budget -planning -übung", &["会議室の予約"]),
        ("is:unanswered", &["Planning"]),
        ("plan is:unanswered", &["Planning"]),
        ("is:unanswered budget", &[]),
    ] {
        let arguments =
            json!({"from": "2026-02-03", "to": "2026-02-03", "q": q, "fields": ["title"]});
        let found = harness.json("calendar_search", arguments).await;
        assert_eq!(column(&found, "events", "title"), titles, "{q}");
    }
    let arguments =
        json!({"from": "2026-02-03", "to": "2026-02-03", "q": "review", "fields": ["title"]});
    assert_eq!(
        harness.notes("calendar_search", arguments).await,
        "events: 1 of 1, by start, Tue 2026-02-03; words searched in 5\n\
         only the beginning of Outlook's descriptions is searched"
    );
    // Invitations to past events need no answer, so the range begins now.
    let arguments = json!({"q": "is:unanswered", "fields": ["title"]});
    assert_eq!(
        harness.notes("calendar_search", arguments).await,
        "events: 0 of 0, by start, Mon 2026-11-16 11h05 to Tue 2027-11-16\n\
         invitations of the next 365 days, unless `from` and `to` are given\n\
         unanswered by you; `people` says who of the guests has answered\n\
         nothing matches: try a longer range"
    );
    let arguments = json!({"q": "is:answered", "fields": ["title"]});
    assert_eq!(
        harness.notes("calendar_search", arguments).await,
        "events: 0 of 0, by start, Sat 2026-10-17 to Tue 2027-11-16\n\
         invitations from 30 days back to 365 ahead, unless `from` and `to` are given\n\
         nothing matches: try a longer range"
    );
}

#[tokio::test]
async fn events_are_shown_by_their_ids() {
    let (ana, bo) = week();
    let harness = over(vec![ana, bo]).await;
    let arguments = json!({"from": "2026-02-03", "to": "2026-02-05"});
    harness.call("calendar_search", arguments).await.unwrap();
    let arguments = json!({"ids": ["e4", "e1", "e4", "bo-Bo/0000", "e77", "bo-Bo/0099"],
                       "fields": ["title", "account"]});
    assert_eq!(
        harness.call("calendar_search", arguments).await.unwrap(),
        [
            "zone: Europe/Berlin\n\
             missing: \"2 could not be fetched (e77, `bo-Bo/0099`): there is no `e77`: use an id \
             from a search or lookup\"\n\
             events[3\t]{id\ttitle\taccount}:\n  \
             e4\tTrain to Hamburg\tbo@example.com\n  \
             e1\tStand-up\tana@example.com\n  \
             e5\tBudget review\tbo@example.com",
            "events: 3",
        ]
    );
    let arguments = json!({"ids": "e1", "detail": "full", "tz": "UTC"});
    let found = harness.json("calendar_search", arguments).await;
    assert_eq!(found["events"][0]["calendar"], "main");
    assert_eq!(found["events"][0]["start"], "Tue 2026-02-03 08h30");
    assert_eq!(found["events"][0].get("account"), None);
}

/// Shows five people and a count, which is noted; all people if there are few events, in full
/// detail and as JSON. A page with the events of one account names that account.
#[tokio::test]
async fn all_guests_are_shown_in_full_detail() {
    let entry = || {
        (1..=8).fold(Entry::at("2026-02-03T10:00", 60, "Big"), |entry, number| {
            entry.ask(&format!("p{number}@example.com"), "accepted")
        })
    };
    let ana = FakeCalendars::empty("ana", Service::Google).calendar("Ana", "owner");
    let bo = calendars("bo").calendar("Bo", "owner");
    bo.add("Bo", entry());
    let few = over(vec![ana, bo]).await;
    let day = json!({"from": "2026-02-03", "to": "2026-02-03"});
    let blocks = few.call("calendar_search", day.clone()).await.unwrap();
    assert!(blocks[0].contains("\tp1+ p2+ p3+ p4+ p5+ p6+ p7+ p8+\t"), "{}", blocks[0]);
    // With more events, each row has less room.
    let ana = FakeCalendars::empty("ana", Service::Google).calendar("Ana", "owner");
    let bo = calendars("bo").calendar("Bo", "owner");
    bo.add("Bo", entry());
    for hour in 12..15 {
        bo.add("Bo", Entry::at(&format!("2026-02-03T{hour}:00"), 30, "Small"));
    }
    let harness = over(vec![ana, bo]).await;
    let blocks = harness.call("calendar_search", day.clone()).await.unwrap();
    assert!(blocks[0].contains("\tp1+ p2+ p3+ p4+ p5+ +3\t"), "{}", blocks[0]);
    assert!(blocks[0].contains("\taccount}:"), "{}", blocks[0]);
    assert!(blocks[0].ends_with("\tbo@example.com"), "{}", blocks[0]);
    let noted = "\ncut: \"cut cells: people in 1; whole: output_read id=";
    assert!(blocks[0].contains(noted), "{}", blocks[0]);
    let mut full = day.clone();
    full["detail"] = "full".into();
    let blocks = harness.call("calendar_search", full).await.unwrap();
    assert!(blocks[0].contains(" p7+ p8+\t"), "{}", blocks[0]);
    assert!(blocks[0].contains(", p8@example.com yes\t"), "{}", blocks[0]);
    assert!(!blocks[1].contains("shortened"), "{}", blocks[1]);
    let found = harness.json("calendar_search", day).await;
    let people = found["events"][0]["people"].as_str().unwrap();
    assert!(people.ends_with(" p8+"), "{people}");
}

/// The stored version of a shown event covers its title and place, but neither guests' answers nor
/// its notes.
#[tokio::test]
async fn shown_version_of_an_event_is_remembered() {
    let (ana, _) = week();
    let harness = over(vec![ana]).await;
    let arguments = json!({"from": "2026-02-04", "to": "2026-02-04", "calendars": ["Ana"]});
    assert_eq!(harness.store.seen_event(1).await.unwrap(), None);
    harness.call("calendar_search", arguments.clone()).await.unwrap();
    let first = harness.store.seen_event(1).await.unwrap();
    assert!(first.is_some());
    let id = "ana-Ana/0001";
    let mut seen = Vec::new();
    let changes: [fn(&mut EventData); 4] = [
        |event| event.guests[0].answer = Some(InvitationAnswer::Declined),
        |event| event.notes = Some("new words".to_owned()),
        |event| event.title = "Budget".to_owned(),
        |event| event.place = "Room 5".to_owned(),
    ];
    for change in changes {
        harness.fakes[0].touch(id, change);
        let by_id = json!({"ids": ["e1"]});
        harness.call("calendar_search", by_id).await.unwrap();
        seen.push(harness.store.seen_event(1).await.unwrap());
    }
    assert_eq!((seen[0], seen[1]), (first, first));
    assert_ne!(seen[2], first);
    assert_ne!(seen[3], seen[2]);
}

#[tokio::test]
async fn series_are_shown_once() {
    let fake = calendars("ana").calendar("Ana", "owner");
    fake.add("Ana", Entry::at("2025-01-06T08:00", 30, "Weekly").repeats("FREQ=WEEKLY"));
    fake.add("Ana", Entry::at("2026-02-02T08:00", 30, "Weekly").series("w"));
    fake.add("Ana", Entry::at("2026-02-03T08:00", 30, "Once"));
    fake.add("Ana", Entry::at("2026-03-03T08:00", 30, "Later"));
    let harness = over(vec![fake]).await;
    let arguments = json!({"from": "2026-02-02", "to": "2026-02-05", "series": true,
                       "fields": ["start", "title", "repeats", "flags"]});
    let found = harness.call("calendar_search", arguments).await.unwrap();
    assert_eq!(
        found[0],
        "zone: Europe/Berlin\n\
         events[3\t]{id\tstart\ttitle\tflags\trepeats}:\n  \
         e1\tMon 2025-01-06 09h00\tWeekly\trecurring\tFREQ=WEEKLY\n  \
         e2\tMon 2026-02-02 09h00\tWeekly\trecurring\t\"\"\n  \
         e3\tTue 2026-02-03 09h00\tOnce\t\"\"\t\"\""
    );
}

#[tokio::test]
async fn occurrences_show_the_rule_of_their_series() {
    let harness = CalendarHarness::one().await;
    let mut weekly = harness.ana().put("main/w", "Weekly", "2036-02-05T09:00[Europe/Berlin]", 60);
    weekly.repeat = Some(repeat("FREQ=WEEKLY;BYDAY=TU"));
    harness.ana().set(weekly);
    let rows = |rows: &str| format!("zone: Europe/Berlin\nevents[{rows}");
    let call = json!({"from": "2036-02-12", "to": "2036-02-20", "fields": ["start", "repeats"]});
    let found = harness.call("calendar_search", call).await.unwrap();
    assert_eq!(
        found[0],
        rows(
            "2|]{id|start|repeats}:\n  e1|Tue 2036-02-12 09h00|FREQ=WEEKLY;BYDAY=TU\n  \
             e2|Tue 2036-02-19 09h00|FREQ=WEEKLY;BYDAY=TU"
        )
    );
    let call = json!({"ids": ["e1"], "fields": ["start", "repeats"]});
    let found = harness.call("calendar_search", call).await.unwrap();
    assert_eq!(
        found[0],
        rows("1|]{id|start|repeats}:\n  e1|Tue 2036-02-12 09h00|FREQ=WEEKLY;BYDAY=TU")
    );
    // Ids of occurrences give their series, each once.
    let call = json!({"ids": ["e1", "e2"], "series": true, "fields": ["start", "repeats"]});
    let found = harness.call("calendar_search", call).await.unwrap();
    assert_eq!(
        found[0],
        rows("1|]{id|start|repeats}:\n  e3|Tue 2036-02-05 09h00|FREQ=WEEKLY;BYDAY=TU")
    );
}

#[tokio::test]
async fn failing_or_slow_account_is_noted_and_retried() {
    let fakes = ["ana", "bo", "cy", "di"].map(|name| {
        let fake = calendars(name).calendar(name, "owner").calendar("Team", "owner");
        fake.add(name, Entry::at("2026-02-03T08:00", 30, &format!("{name} early")));
        fake.add("Team", Entry::at("2026-02-03T09:00", 30, &format!("{name} team")));
        fake.add(name, Entry::at("2026-02-03T10:00", 30, &format!("{name} late")));
        fake
    });
    let harness = over(fakes.into()).await.impatient();
    let failing = |at: usize, error: Option<Error>| {
        harness.fakes[at].trouble.lock().unwrap().failure = error;
    };
    let team = Error::new(ErrorKind::Provider(503), "it is busy");
    let not_found = Error::new(ErrorKind::NotFound, "it is gone");
    harness.fakes[0].trouble.lock().unwrap().calendars =
        vec![("ana-Team".to_owned(), team), ("ana-ana".to_owned(), not_found)];
    harness.fakes[0].list("ana-Third", "Third", "owner");
    failing(1, Some(Error::new(ErrorKind::Auth, "the grant has ended").next("sign in again")));
    harness.fakes[2].trouble.lock().unwrap().delay = Duration::from_mins(1);
    let arguments =
        json!({"from": "2026-02-03", "to": "2026-02-03", "limit": 2, "fields": ["title"]});
    let first = harness.call("calendar_search", arguments).await.unwrap();
    assert_eq!(
        first,
        [
            "zone: Europe/Berlin\nnext: p1\n\
             missing: \"ana@example.com: main: it is gone; ana@example.com: Team: it is busy \
             (retried with the next page); bo@example.com: the grant has ended: sign in again; \
             cy@example.com: no answer within 0 seconds (retried with the next page)\"\n\
             events[2\t]{id\ttitle}:\n  e1\tdi early\n  e2\tdi team",
            "events: 2 of 3, by start, Tue 2026-02-03; cursor=p1 has more",
        ]
    );
    // The failed calendars recover, and none of their events is lost.
    harness.fakes[0].trouble.lock().unwrap().calendars.clear();
    harness.fakes[2].trouble.lock().unwrap().delay = Duration::ZERO;
    let next = json!({"cursor": "p1", "limit": 100});
    let second = harness.json("calendar_search", next).await;
    assert_eq!(
        column(&second, "events", "title"),
        ["cy early", "ana team", "cy team", "ana late", "cy late", "di late"]
    );
    // If all of them fail, it is an error.
    for at in 0..4 {
        failing(at, Some(Error::new(ErrorKind::Network, "no route")));
    }
    assert_eq!(
        harness.error("calendar_search", json!({"from": "2026-02-03"})).await,
        "all 4 accounts failed, the first: ana@example.com: no route"
    );
    assert_eq!(
        harness.error("calendar_search", json!({"from": "2026-02-03", "account": "di"})).await,
        "no route"
    );
}

/// A month of ten calendars in each of four accounts takes one list and one request per account.
#[tokio::test]
async fn a_month_of_many_calendars_costs_two_round_trips() {
    let fakes = ["ana", "bo", "cy", "di"].map(|name| {
        let mut fake = calendars(name);
        for calendar in 0..10 {
            fake = fake.calendar(&format!("{name}{calendar}"), "owner");
            for day in 1..=28 {
                let start = format!("2026-02-{day:02}T{:02}:00", 8 + calendar);
                fake.add(&format!("{name}{calendar}"), Entry::at(&start, 30, "x"));
            }
        }
        fake
    });
    let harness = over(fakes.into()).await;
    let arguments = json!({"from": "2026-02-01", "to": "2026-02-28", "limit": 500});
    let notes = harness.notes("calendar_search", arguments.clone()).await;
    assert!(notes.starts_with("events: 500 of 1120, by start, "), "{notes}");
    for fake in &harness.fakes {
        assert_eq!(fake.call_counts(), (1, 1));
    }
    // The list of calendars is cached for a minute.
    harness.call("calendar_search", arguments).await.unwrap();
    for fake in &harness.fakes {
        assert_eq!(fake.call_counts(), (1, 2));
    }
}

#[tokio::test]
async fn calendars_and_rooms_are_looked_up() {
    let (ana, bo) = week();
    let harness = over(vec![ana, bo]).await;
    assert_eq!(
        harness.call("lookup", json!({"kind": "calendars"})).await.unwrap(),
        [
            "calendars[4\t]{id\tname\taccess\tmain\tzone\taccount}:\n  \
             c1\tmain\towner\ttrue\tEurope/Berlin\tana@example.com\n  \
             c2\tTeam\treader\tfalse\tEurope/Berlin\tana@example.com\n  \
             c3\tBoss\tbusy\tfalse\tEurope/Berlin\tana@example.com\n  \
             c4\tmain\towner\ttrue\tEurope/Berlin\tbo@example.com",
            "calendars: 4 of 4\nnew events go to the `main` of their account by default",
        ]
    );
    let arguments = json!({"kind": "calendars", "q": "TEA", "limit": 1});
    assert_eq!(harness.notes("lookup", arguments).await, "calendars: 1 of 1");
    // The main calendar is also found by its own name.
    for (q, ids) in
        [("ain", ["c1", "c4"].as_slice()), ("BO", &["c3", "c4"]), ("an", &["c1"]), ("x", &[])]
    {
        let found = harness.json("lookup", json!({"kind": "calendars", "q": q})).await;
        assert_eq!(column(&found, "calendars", "id"), ids, "{q}");
        let mains = column(&found, "calendars", "name").into_iter().filter(|name| name == "main");
        assert_eq!(mains.count(), ids.iter().filter(|id| **id != "c3").count(), "{q}");
    }
    // Another calendar named `Main` keeps its name.
    harness.fakes[1].list("bo-Main", "Main", "owner");
    let found = harness.json("lookup", json!({"kind": "calendars", "account": "bo"})).await;
    assert_eq!(column(&found, "calendars", "name"), ["Bo", "Main"]);
    let arguments = json!({"kind": "rooms"});
    assert_eq!(
        harness.notes("lookup", arguments).await,
        "rooms: 0 of 0 in ana@example.com and bo@example.com\nservices list only rooms open to \
         you: name another by its address in `people` or `who`"
    );
    *harness.fakes[1].rooms.lock().unwrap() = vec![
        json!({"displayName": "Room 4", "emailAddress": "room4@example.com"}),
        json!({"displayName": "Hall", "emailAddress": "hall@example.com"}),
    ];
    let arguments = json!({"kind": "rooms", "q": "room"});
    assert_eq!(
        harness.call("lookup", arguments).await.unwrap(),
        [
            "rooms[1\t]{name\temail\tbuilding\tseats\tused\taccount}:\n  \
             Room 4\troom4@example.com\t\"\"\tnull\tnull\tbo@example.com",
            "rooms: 1 of 1",
        ]
    );
}

/// `lookup` finds people named in events as well as contacts, and rooms.
#[tokio::test]
async fn people_and_rooms_of_events_are_found() {
    let harness = CalendarHarness::one().await.with_tabs();
    let fake = &harness.fakes[0];
    let today = clock::now().to_string();
    for (id, guests) in [
        ("main/a", &["bo@example.com", "cy@example.com"][..]),
        ("main/b", &["cy@example.com", "r4@example.com"]),
    ] {
        fake.put(id, "Budget", &format!("{}[UTC]", &today[..16]), 30);
        fake.touch(id, |facts| {
            facts.guests = guests.iter().map(|address| guest(address, '+')).collect();
            facts.guests[1].room = guests[1].starts_with("r4");
        });
    }
    *fake.mailbox.people.lock().unwrap() = vec![
        json!({"names": [{"displayName": "Dee"}], "emailAddresses": [{"value": "dee@example.com"}]}),
        json!({"emailAddresses": [{"value": "eve@example.net"}], "unsaved": true}),
    ];
    let contacts = |more: Value| {
        let mut arguments = json!({"kind": "contacts"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let head = "contacts[4\t]{name\temails\tknown\tcompany}:\n  ";
    assert_eq!(
        harness.call("lookup", contacts(json!({}))).await.unwrap(),
        [
            format!(
                "{head}Dee\tdee@example.com\tsaved\t\"\"\n  \"\"\teve@example.net\tmail\t\"\"\n  \
                 cy@example.com\tcy@example.com\tevent\tnull\n  bo@example.com\tbo@example.com\tevent\tnull"
            ),
            "contacts: 4 of 4".to_owned(),
        ]
    );
    // The second page remembers the addresses of the first; a part of an address is not a match.
    let emails = ["dee@example.com", "eve@example.net", "ee@example.com"];
    let arguments = contacts(json!({"emails": emails, "limit": 1}));
    let cursor = harness.json("lookup", arguments).await["next"].clone();
    assert_eq!(
        harness.notes("lookup", contacts(json!({"cursor": cursor}))).await,
        "contacts: 1 of 2\nnobody matches ee@example.com: did you mean `dee@example.com`?"
    );
    *harness.fakes[0].mailbox.people.lock().unwrap() = Vec::new();
    let found = harness.call("lookup", contacts(json!({"q": "CY exam"}))).await.unwrap();
    assert_eq!(
        found,
        [
            "contacts[1\t]{name\temails\tknown\tcompany}:\n  cy@example.com\tcy@example.com\tevent\tnull",
            "contacts: 1 of 1",
        ]
    );
    let rooms = harness.call("lookup", json!({"kind": "rooms"})).await.unwrap();
    assert_eq!(
        rooms,
        [
            "rooms[1\t]{name\temail\tbuilding\tseats\tused}:\n  r4@example.com\tr4@example.com\tnull\tnull\t1",
            "rooms: 1 of 1",
        ]
    );
    let arguments = contacts(json!({"emails": ["cy@example.con", "nobody@shop.example"]}));
    assert_eq!(
        harness.notes("lookup", arguments).await,
        "contacts: 0 of 0\nnobody matches cy@example.con: did you mean `cy@example.com`?\n\
         nobody matches nobody@shop.example"
    );
}

/// Returns the document of a search between the fences of its block.
fn fenced(block: &str) -> &str {
    let (first, rest) = block.split_once('\n').unwrap();
    let word = first.strip_prefix("<<<ics ").unwrap();
    rest.strip_suffix(&format!("\n{word}>>>")).unwrap()
}

/// Hidden characters are removed and counted, and characters that shape their neighbours stay,
/// wherever a line is folded.
#[tokio::test]
async fn icalendar_has_no_hidden_characters() {
    let fake = calendars("ana").calendar("Ana", "owner");
    let families =
        (50..80).map(|length| format!("{}\u{1f469}\u{200d}\u{1f467} x", "x".repeat(length)));
    let families: Vec<String> = families.collect();
    for title in &families {
        fake.add("Ana", Entry::at("2026-02-03T08:00", 30, title).uid(title));
    }
    fake.add(
        "Ana",
        Entry::at("2026-02-03T13:00", 60, "Bud\u{200b}get\u{e0041}\u{9b}")
            .uid("u-1")
            .place("Room\u{3164} 4\u{fdd0}")
            .notes("a\u{202e}b\u{2028}c\u{1b}"),
    );
    let harness = over(vec![fake]).await;
    let arguments = json!({"from": "2026-02-03", "to": "2026-02-03", "as": "ics", "limit": 100});
    let blocks = harness.call("calendar_search", arguments).await.unwrap();
    let document = ical::read(fenced(&blocks[0]), &TimeZone::UTC).unwrap();
    let titles: Vec<&str> = document.entries.iter().map(|entry| &*entry.title).collect();
    let (last, others) = titles.split_last().unwrap();
    let mut others = others.to_vec();
    others.sort_by_key(|title| title.len());
    assert_eq!(others, families);
    let one = document.entries.last().unwrap();
    assert_eq!((*last, &*one.place, &*one.notes), ("Budget", "Room 4", "ab\nc"));
    assert!(blocks.last().unwrap().contains("4 invisible characters were removed"), "{blocks:?}");
}

/// The document of a search is an iCalendar document, identical for the same events; a series
/// includes its exceptions.
#[tokio::test]
async fn events_are_written_as_icalendar() {
    let fake = calendars("ana").calendar("Ana", "owner");
    fake.add(
        "Ana",
        Entry::at("2026-02-02T08:00", 30, "Weekly").uid("weekly-1").repeats("FREQ=WEEKLY"),
    );
    fake.add(
        "Ana",
        Entry::at("2026-02-09T10:00", 30, "Weekly, late")
            .uid("weekly-1")
            .series("ana-Ana/0000")
            .instead_of("2026-02-09T08:00"),
    );
    fake.add("Ana", Entry::day("2026-02-04", 2, "Offsite").uid("offsite-1"));
    fake.add(
        "Ana",
        Entry::at("2026-02-03T13:00", 60, "Budget; review")
            .uid("budget-1")
            .place("Room 4")
            .notes("First line\nBEGIN:VEVENT")
            .called_by("bo@example.com")
            .ask("cy@example.com", "accepted"),
    );
    let harness = over(vec![fake]).await;
    // Exceptions are included with their series, whatever their dates.
    let arguments = json!({"from": "2026-02-02", "to": "2026-02-10", "as": "ics", "series": true});
    let blocks = harness.call("calendar_search", arguments.clone()).await.unwrap();
    // Untrusted text is between fences, as in every long text.
    let text = fenced(&blocks[0]);
    assert!(text.starts_with("BEGIN:VCALENDAR"), "{text}");
    let document = ical::read(text, &TimeZone::UTC).unwrap();
    let entries: Vec<String> = document
        .entries
        .iter()
        .map(|entry| {
            let rule = entry.repeat.as_ref().map_or("", |repeat| &repeat.rule);
            let at = event_time::start(entry.start.when(), &TimeZone::UTC);
            let stands_for = entry.recurrence_id;
            let stands_for = stands_for.map(|when| event_time::start(when, &TimeZone::UTC));
            format!("{} {at} {rule} {}", entry.uid, stands_for.unwrap_or_default())
        })
        .collect();
    assert_eq!(
        entries,
        [
            "weekly-1 Mon 2026-02-02 08h00 FREQ=WEEKLY ",
            "weekly-1 Mon 2026-02-09 10h00  Mon 2026-02-09 08h00",
            "budget-1 Tue 2026-02-03 13h00  ",
            "offsite-1 Wed 2026-02-04  ",
        ]
    );
    let budget = &document.entries[2];
    assert_eq!(
        (budget.title.as_str(), budget.place.as_str(), budget.notes.as_str()),
        ("Budget; review", "Room 4", "First line\nBEGIN:VEVENT")
    );
    assert_eq!(budget.organizer.as_ref().unwrap().address, "bo@example.com");
    assert_eq!(budget.guests[0].address, "cy@example.com");
    assert_eq!(
        blocks[1],
        "events: 3 of 3, as iCalendar, by start, Mon 2026-02-02 to Tue 2026-02-10"
    );
    assert_eq!(harness.call("calendar_search", arguments.clone()).await.unwrap(), blocks);
    // An occurrence on its own lacks the rule of its series.
    let alone = json!({"from": "2026-02-09", "to": "2026-02-09", "as": "ics"});
    let alone = harness.call("calendar_search", alone).await.unwrap();
    let note = "occurrences are without the rule of their series: series=true adds it";
    assert!(alone[1].contains(note), "{alone:?}");
    // The document is cut like any long text, and the rest can be read.
    let mut small = arguments.clone();
    small["budget"] = 300.into();
    let cut = harness.call("calendar_search", small).await.unwrap();
    assert!(
        cut[0].starts_with("<<<ics ") && cut[0].contains(" lines left out, offset="),
        "{}",
        cut[0]
    );
    // The document has no rows, so the note follows it.
    assert!(cut[1].starts_with("cut: to fit budget=300: "), "{}", cut[1]);
    // Events by their ids, and one page at a time.
    let two = json!({"from": "2026-02-02", "to": "2026-02-05", "as": "ics", "limit": 1});
    let first = harness.call("calendar_search", two).await.unwrap();
    assert_eq!(
        first[1],
        "events: 1 of 2, as iCalendar, by start, Mon 2026-02-02 to Thu 2026-02-05; cursor=p1 has more"
    );
    assert!(first[0].contains("UID:budget-1"), "{}", first[0]);
    let next = harness.call("calendar_search", json!({"cursor": "p1"})).await.unwrap();
    assert!(next[0].contains("UID:offsite-1"), "{}", next[0]);
    let ids = json!({"ids": "ana-Ana/0002", "as": "ics"});
    let by_id = harness.call("calendar_search", ids).await.unwrap();
    assert_eq!(by_id[1], "events: 1, as iCalendar");
    assert!(by_id[0].contains("DTSTART;VALUE=DATE:20260204"), "{}", by_id[0]);
}
