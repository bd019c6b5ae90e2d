//! Pages of an agenda of any size, with changes between them.

use daysheet_core::error::{Error, ErrorKind};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{calendars, over};
use crate::common::fake_calendars::{CalendarHarness, Entry};

/// An event: its hour in the range, its length in hours (0 for a whole day), its calendar, and
/// whether it is a meeting that other accounts have, too.
type Made = (u8, u8, u8, bool);

fn made() -> impl Strategy<Value = Made> {
    // A small range of hours makes many events begin and end together.
    (0_u8..96, 0_u8..4, 0_u8..3, prop::bool::weighted(0.2))
}

fn entry(made: Made, title: &str) -> Entry {
    let (hour, lasts, _, shared) = made;
    let (day, hour) = (2 + hour / 24, hour % 24);
    let entry = match lasts {
        0 => Entry::day(&format!("2026-02-{day:02}"), 1 + i64::from(hour % 2), title),
        // Some last for days and begin before the range.
        3 => Entry::at(&format!("2026-02-{day:02}T{hour:02}:00"), 60 * 40, title),
        hours => Entry::at(&format!("2026-02-{day:02}T{hour:02}:00"), 60 * i64::from(hours), title),
    };
    if shared { entry.uid(title) } else { entry }
}

/// Returns true if the event takes place on the 3rd or 4th, in Berlin.
fn in_range((hour, lasts, _, _): Made) -> bool {
    let hour = i32::from(hour);
    // Hours in UTC since the 2nd; Berlin's day begins an hour earlier.
    let (start, end) = match lasts {
        0 => (hour / 24 * 24 - 1, (hour / 24 + 1 + hour % 24 % 2) * 24 - 1),
        3 => (hour, hour + 40),
        lasts => (hour, hour + i32::from(lasts)),
    };
    start < 71 && end > 23
}

const CALENDARS: [&str; 3] = ["one", "two", "three"];

impl CalendarHarness {
    /// Reads every page, and runs `between` after each.
    async fn walk(&self, mut arguments: Value, mut between: impl FnMut(usize)) -> Vec<Value> {
        arguments["fields"] = json!(["start", "title"]);
        let mut rows: Vec<Value> = Vec::new();
        for number in 0.. {
            assert!(number < 500, "the pages do not end");
            let page = match self.call("calendar_search", arguments.clone()).await {
                // All remaining calendars failed: the same page is requested again.
                Err(error) if error.is_passing() => None,
                Err(error) => panic!("{arguments}: {error}"),
                Ok(_) => {
                    arguments["format"] = "json".into();
                    Some(self.json("calendar_search", arguments.clone()).await)
                }
            };
            if let Some(page) = page {
                rows.extend(page["events"].as_array().unwrap().clone());
                let Some(next) = page["next"].as_str() else {
                    break;
                };
                arguments = json!({"cursor": next});
            }
            between(number);
        }
        rows
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any number of simultaneous events, in services of any zone, read in pages of any size while
    /// other events arrive: each event that existed all along is shown exactly once, and all are in
    /// order.
    #[test]
    fn no_event_is_lost_or_repeated_between_pages(
        fakes in prop::collection::vec((prop::collection::vec(made(), 0..30), 1_usize..12, 0_usize..3), 1..4),
        limit in 1_usize..12,
        arrivals in prop::collection::vec((0_usize..4, made()), 0..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut there: Vec<String> = Vec::new();
            let mut number = 0;
            let mut every = Vec::new();
            for ((events, page, zone), name) in fakes.iter().zip(["ana", "bo", "cy"]) {
                let mut fake = calendars(name);
                for calendar in CALENDARS {
                    fake = fake.calendar(calendar, "owner");
                }
                *fake.page.lock().unwrap() = *page;
                let zones = ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin"];
                *fake.zone.lock().unwrap() = TimeZone::get(zones[*zone]).unwrap();
                for made in events {
                    // A shared meeting has the same name in every account.
                    let (hour, lasts, calendar, shared) = *made;
                    let title = if shared {
                        format!("shared {hour} {lasts}")
                    } else {
                        number += 1;
                        format!("{name} {number}")
                    };
                    fake.add(CALENDARS[usize::from(calendar)], entry(*made, &title));
                    if in_range(*made) && !there.contains(&title) {
                        there.push(title);
                    }
                }
                every.push(fake);
            }
            let harness = over(every).await;
            // The expected events come from a single page of the whole range.
            let arguments = json!({"from": "2026-02-03", "to": "2026-02-04"});
            let mut whole = arguments.clone();
            whole["limit"] = 500.into();
            let expected = titles(&harness.walk(whole, |_| ()).await);
            let mut sorted = expected.clone();
            sorted.sort();
            there.sort();
            assert_eq!(sorted, there);
            let mut arguments = arguments;
            arguments["limit"] = limit.into();
            let mut arrivals = arrivals.iter().enumerate();
            let rows = harness
                .walk(arguments, |number| {
                    for (at, (fake, made)) in arrivals.by_ref().take(2) {
                        let fake = &harness.fakes[fake % harness.fakes.len()];
                        let title = format!("new {at} {number}");
                        fake.add(CALENDARS[usize::from(made.2)], entry(*made, &title));
                    }
                })
                .await;
            let shown = titles(&rows);
            let mut once = shown.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), shown.len(), "doubled: {shown:?}");
            let old: Vec<String> = shown.into_iter().filter(|one| !one.starts_with("new")).collect();
            assert_eq!(old, expected);
        });
    }

    /// Accounts and calendars fail at times: their events follow later, and no event is shown
    /// twice.
    #[test]
    fn events_of_failing_calendars_come_later(
        fakes in prop::collection::vec(prop::collection::vec(made(), 0..20), 2..4),
        limit in 1_usize..8,
        failing in prop::collection::vec((0_usize..3, prop::option::of(0_usize..3)), 1..10),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut every = Vec::new();
            for (events, name) in fakes.iter().zip(["ana", "bo", "cy"]) {
                let mut fake = calendars(name);
                for calendar in CALENDARS {
                    fake = fake.calendar(calendar, "owner");
                }
                for (at, made) in events.iter().enumerate() {
                    let (hour, lasts, calendar, shared) = *made;
                    let title = if shared {
                        format!("shared {hour} {lasts}")
                    } else {
                        format!("{name} {at}")
                    };
                    fake.add(CALENDARS[usize::from(calendar)], entry(*made, &title));
                }
                every.push(fake);
            }
            let harness = over(every).await;
            let arguments = json!({"from": "2026-02-03", "to": "2026-02-04"});
            let mut whole = arguments.clone();
            whole["limit"] = 500.into();
            let mut expected = titles(&harness.walk(whole, |_| ()).await);
            let mut arguments = arguments;
            arguments["limit"] = limit.into();
            let mut failing = failing.into_iter();
            let trouble = |next: Option<(usize, Option<usize>)>| {
                for fake in &harness.fakes {
                    *fake.trouble.lock().unwrap() = Default::default();
                }
                let Some((at, calendar)) = next else { return };
                let fake = &harness.fakes[at % harness.fakes.len()];
                let error = Error::new(ErrorKind::Provider(503), "it is busy");
                let mut trouble = fake.trouble.lock().unwrap();
                match calendar {
                    None => trouble.failure = Some(error),
                    Some(one) => {
                        trouble.calendars = vec![(format!("{}-{}", fake.name, CALENDARS[one]), error)];
                    }
                }
            };
            trouble(failing.next());
            let mut shown = titles(&harness.walk(arguments, |_| trouble(failing.next())).await);
            shown.sort();
            expected.sort();
            assert_eq!(shown, expected);
        });
    }
}

fn titles(rows: &[Value]) -> Vec<String> {
    let titles = rows.iter().map(|row| row["title"].as_str().unwrap().to_owned());
    titles.collect()
}
