//! Agendas over several accounts and calendars: merged by start, without duplicates, in pages that
//! together have every event. Most of it is in `tests/transcripts/calendar_search.txt`; here is what
//! depends on slow or failing accounts, on the number of requests, or on settings of the service.

mod paging;
mod tokens;

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::call::client::NonInteractive;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_sandbox::FaultRates;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::harness::call;
use crate::support::{Session, column, config, impatient, mailboxes, slow_down};

#[tokio::test]
async fn slow_account_is_noted_and_read_with_the_next_page() {
    let (home, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let owners = ["bo@example.com", "cy@example.com"];
    for owner in owners {
        let event = |hour: &str| {
            format!(
                "BEGIN:VEVENT\r\nUID:{hour}@{owner}\r\nSUMMARY:{owner} {hour}\r\n\
                 DTSTART:20260203T{hour}0000\r\nDURATION:PT30M\r\nEND:VEVENT\r\n"
            )
        };
        let (early, late) = (event("08"), event("10"));
        let text = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{early}{late}END:VCALENDAR\r\n");
        std::fs::create_dir(files.path().join(owner)).unwrap();
        std::fs::write(files.path().join(owner).join("calendar.ics"), text).unwrap();
    }
    let mail = mailboxes(&owners);
    let who = SandboxUser::These(&[("google", "bo@example.com"), ("google", "cy@example.com")]);
    let (settings, folders) = (config(home.path(), &[]), [Some(mail.path()), Some(files.path())]);
    let session = Session::start_with(settings, home, folders, FaultRates::default(), who).await;
    slow_down(&session.sandbox, "bo%40example.com");
    let pipeline = impatient(&session);
    let search = async |arguments: Value| {
        let format = Format::Toon(Delimiter::Tab);
        call(&pipeline, "calendar_search", arguments, format, &NonInteractive).await.unwrap()
    };
    let day = json!({"from": "2026-02-03", "to": "2026-02-03", "limit": 1, "fields": ["title"]});
    assert_eq!(
        search(day).await,
        [
            "zone: Europe/Berlin\nnext: p1\n\
             missing: \"bo@example.com: no answer within 0 seconds (retried with the next page)\"\n\
             events[1\t]{id\ttitle}:\n  e1\tcy@example.com 08",
            "events: 1 of 2, by start, Tue 2026-02-03; cursor=p1 has more",
        ]
    );
    // The account recovers, and none of its events is lost.
    session.sandbox.set_observer(None);
    let second = search(json!({"cursor": "p1", "limit": 100})).await;
    let titles: Vec<&str> =
        second[0].lines().filter_map(|line| line.strip_prefix("  e")?.get(2..)).collect();
    assert_eq!(titles, ["bo@example.com 08", "bo@example.com 10", "cy@example.com 10"]);
}

/// A month of many calendars in each of four accounts takes one list and one request per account.
#[tokio::test]
async fn a_month_of_many_calendars_costs_two_round_trips() {
    let owners = ["ana@example.com", "bo@example.com", "cy@example.com", "di@example.com"];
    let (home, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mail = mailboxes(&owners);
    for owner in owners {
        let folder = files.path().join(owner);
        std::fs::create_dir(&folder).unwrap();
        for calendar in 0..10 {
            let mut text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n".to_owned();
            for day in 1..=28 {
                text += &format!(
                    "BEGIN:VEVENT\r\nUID:{calendar}-{day}@{owner}\r\nSUMMARY:x\r\n\
                     DTSTART:202602{day:02}T{:02}0000\r\nDURATION:PT30M\r\nEND:VEVENT\r\n",
                    8 + calendar
                );
            }
            text += "END:VCALENDAR\r\n";
            std::fs::write(folder.join(format!("{calendar}.ics")), text).unwrap();
        }
    }
    let who = SandboxUser::These(&[
        ("microsoft", "ana@example.com"),
        ("microsoft", "bo@example.com"),
        ("microsoft", "cy@example.com"),
        ("microsoft", "di@example.com"),
    ]);
    let settings = config(home.path(), &[]);
    let folders = [Some(mail.path()), Some(files.path())];
    let mut session =
        Session::start_with(settings, home, folders, FaultRates::default(), who).await;
    // The list of calendars is cached for a minute.
    for requests in [8, 4] {
        let before = session.sandbox.requests();
        let arguments = json!({"from": "2026-02-01", "to": "2026-02-28", "limit": 500,
                               "fields": ["title"], "budget": 100_000});
        let blocks = session.ok("calendar_search", arguments).await;
        assert!(blocks[1].starts_with("events: 500 of 1120, by start, "), "{}", blocks[1]);
        assert_eq!(session.sandbox.requests() - before, requests);
    }
}

#[tokio::test]
async fn rooms_are_looked_up() {
    let home = TempDir::new().unwrap();
    let mut session = Session::signed_in(home, None, SandboxUser::Usual).await;
    session.sandbox.allow_rooms(true);
    let found = session.json("lookup", json!({"kind": "rooms", "q": "fjord"})).await;
    for (name, value) in [
        ("name", "Fjord"),
        ("email", "room-fjord@example.com"),
        ("building", "Harbour"),
        ("seats", "8"),
        ("used", "null"),
        ("account", "mira@lindqvist-lamps.example"),
    ] {
        assert_eq!(column(&found, "rooms", name), [value], "{name}");
    }
}
