//! Pages of an agenda of any size, with changes between them.

use std::path::Path;

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_sandbox::FaultRates;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::clock::clock;
use crate::support::{Session, config, mailboxes};

/// An event: its hour in the range, its length in hours (0 for a whole day), its calendar, and
/// whether it is a meeting that other accounts have, too.
type Made = (u8, u8, u8, bool);

/// The accounts, all at Google.
const ACCOUNTS: [(&str, &str); 3] =
    [("google", "ana@example.com"), ("google", "bo@example.com"), ("google", "cy@example.com")];
/// The calendars of each account. They are shared with it, so their ids are their names.
const CALENDARS: [&str; 3] = ["one", "two", "three"];
/// The zones in which the whole days of an account begin.
const ZONES: [&str; 3] = ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin"];

fn made() -> impl Strategy<Value = Made> {
    // A small range of hours makes many events begin and end together.
    (0_u8..96, 0_u8..4, 0_u8..3, prop::bool::weighted(0.2))
}

/// Returns the start and end of an event in hours since the 2nd, in UTC; Berlin's day begins an hour
/// earlier.
fn hours((hour, lasts, ..): Made) -> (i32, i32) {
    let hour = i32::from(hour);
    match lasts {
        0 => (hour / 24 * 24 - 1, (hour / 24 + 1 + hour % 24 % 2) * 24 - 1),
        // Some last for days and begin before the range.
        3 => (hour, hour + 40),
        lasts => (hour, hour + i32::from(lasts)),
    }
}

/// Returns true if the event takes place on the 3rd or 4th, in Berlin.
fn in_range(made: Made) -> bool {
    let (start, end) = hours(made);
    start < 71 && end > 23
}

/// Returns the event as a part of a calendar file.
fn entry(made: Made, title: &str, uid: &str) -> String {
    let (hour, lasts, ..) = made;
    let day = 2 + hour / 24;
    let (start, end) = hours(made);
    let times = match lasts {
        0 => format!("DTSTART;VALUE=DATE:202602{day:02}\r\nDURATION:P{}D", (end - start) / 24),
        _ => format!("DTSTART:202602{day:02}T{:02}0000Z\r\nDURATION:PT{}H", hour % 24, end - start),
    };
    format!("BEGIN:VEVENT\r\nUID:{uid}\r\nSUMMARY:{title}\r\n{times}\r\nEND:VEVENT\r\n")
}

/// Returns the arguments that create the event.
fn creation(made: Made, title: &str, owner: &str) -> Value {
    let (hour, lasts, calendar, _) = made;
    let calendar = format!("{}-{owner}", CALENDARS[usize::from(calendar)]);
    let day = 2 + hour / 24;
    let (start, end) = hours(made);
    let event = match lasts {
        0 => json!({"title": title, "start": format!("2026-02-{day:02}"),
                    "duration": format!("{} days", (end - start) / 24)}),
        _ => json!({"title": title, "start": format!("2026-02-{day:02}T{:02}:00Z", hour % 24),
                    "duration": format!("{}h", end - start)}),
    };
    json!({"events": [event], "account": owner, "if_conflict": "ignore", "calendar": calendar})
}

/// Writes the calendars of an account; returns the title of each event.
fn write_calendars(folder: &Path, owner: &str, zone: &str, events: &[Made]) -> Vec<String> {
    std::fs::create_dir(folder).unwrap();
    let mut titles = Vec::new();
    let mut texts = CALENDARS.map(|_| String::new());
    for (at, made) in events.iter().enumerate() {
        let (hour, lasts, calendar, shared) = *made;
        // A shared meeting has the same name and UID in every account.
        let (title, uid) = if shared {
            (format!("shared {hour} {lasts}"), format!("{hour}-{lasts}@example.com"))
        } else {
            (format!("{owner} {at}"), format!("{at}-{owner}"))
        };
        texts[usize::from(calendar)] += &entry(*made, &title, &uid);
        titles.push(title);
    }
    for (calendar, text) in CALENDARS.into_iter().zip(texts) {
        let text = format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-TIMEZONE:{zone}\r\n{text}END:VCALENDAR\r\n"
        );
        std::fs::write(folder.join(format!("{calendar}-{owner}.shared.ics")), text).unwrap();
    }
    titles
}

/// Starts a session over accounts with these events, whose whole days begin in these zones. Returns
/// the titles of the events in the range, too, each once.
async fn session(accounts: &[(Vec<Made>, usize)]) -> (Session, Vec<String>) {
    let calendars = TempDir::new().unwrap();
    let mut there = Vec::new();
    let who = &ACCOUNTS[..accounts.len()];
    for ((events, zone), (_, owner)) in accounts.iter().zip(who) {
        let titles = write_calendars(&calendars.path().join(owner), owner, ZONES[*zone], events);
        let in_range = titles.into_iter().zip(events).filter(|(_, made)| in_range(**made));
        there.extend(in_range.map(|(title, _)| title));
    }
    there.sort();
    there.dedup();
    let owners: Vec<&str> = who.iter().map(|(_, owner)| *owner).collect();
    let mail = mailboxes(&owners);
    let home = TempDir::new().unwrap();
    let settings = config(home.path(), &[]);
    let folders = [Some(mail.path()), Some(calendars.path())];
    let user = SandboxUser::These(who);
    (Session::start_with(settings, home, folders, FaultRates::default(), user).await, there)
}

/// Reads every page, and runs `between` after each. Returns the titles.
async fn walk(
    session: &mut Session,
    limit: usize,
    mut between: impl AsyncFnMut(&mut Session, usize),
) -> Vec<String> {
    let mut arguments = json!({"from": "2026-02-03", "to": "2026-02-04", "limit": limit,
                               "fields": ["start", "title"], "format": "json"});
    let mut titles: Vec<String> = Vec::new();
    for number in 0.. {
        assert!(number < 500, "the pages do not end");
        let answer = session.call("calendar_search", arguments.clone()).await;
        // If all remaining calendars failed, the same page is requested again.
        if !answer.is_error {
            let page: Value = serde_json::from_str(&answer.blocks[0]).unwrap();
            let rows = page["events"].as_array().unwrap();
            titles.extend(rows.iter().map(|row| row["title"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else {
                break;
            };
            arguments = json!({"cursor": next, "format": "json"});
        }
        between(session, number).await;
    }
    titles
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any number of simultaneous events, in calendars of any zone and pages of any size, while
    /// other events arrive: each event that existed all along is shown exactly once, and all are in
    /// order.
    #[test]
    fn no_event_is_lost_or_repeated_between_pages(
        accounts in prop::collection::vec((prop::collection::vec(made(), 0..30), 0_usize..3), 1..4),
        page in 1_usize..12,
        limit in 1_usize..12,
        arrivals in prop::collection::vec((0_usize..3, made()), 0..8),
    ) {
        run(async {
            let (mut session, there) = session(&accounts).await;
            session.sandbox.limit_pages(page);
            // The expected events come from a single page of the whole range.
            let expected = walk(&mut session, 500, async |_, _| ()).await;
            let mut sorted = expected.clone();
            sorted.sort();
            assert_eq!(sorted, there);
            // Another program adds events.
            let who = &ACCOUNTS[..accounts.len()];
            let mut other = session.elsewhere(who, clock()).await;
            let mut arrivals = arrivals.iter().enumerate();
            let shown = walk(&mut session, limit, async |_, number| {
                for (at, (account, made)) in arrivals.by_ref().take(2) {
                    let (_, owner) = who[account % who.len()];
                    let call = creation(*made, &format!("new {at} {number}"), owner);
                    let answer = other.client.call("calendar_save", call).await.unwrap();
                    assert!(!answer.is_error, "{answer:?}");
                }
            })
            .await;
            let mut once = shown.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), shown.len(), "doubled: {shown:?}");
            let old: Vec<String> = shown.into_iter().filter(|one| !one.starts_with("new")).collect();
            assert_eq!(old, expected);
        });
    }

    /// Calendars, or all accounts, fail at times: their events follow later, and no event is shown
    /// twice.
    #[test]
    fn events_of_failing_calendars_come_later(
        accounts in prop::collection::vec((prop::collection::vec(made(), 0..20), Just(2)), 2..4),
        limit in 1_usize..8,
        failing in prop::collection::vec(prop::option::of((0_usize..3, 0_usize..3)), 1..10),
    ) {
        run(async {
            let (mut session, expected) = session(&accounts).await;
            let mut failing = failing.into_iter();
            let mut next = || match failing.next() {
                None => FaultRates::default(),
                Some(None) => "503=1".parse().unwrap(),
                Some(Some((account, calendar))) => {
                    let (_, owner) = ACCOUNTS[account % accounts.len()];
                    let id = format!("{}-{owner}", CALENDARS[calendar]).replace('@', "%40");
                    format!("503=1,only={id}/events").parse().unwrap()
                }
            };
            session.sandbox.set_faults(next());
            let mut shown = walk(&mut session, limit, async |session, _| {
                session.sandbox.set_faults(next());
            })
            .await;
            shown.sort();
            assert_eq!(shown, expected);
        });
    }
}
