//! Free and busy times of people whose schedules the service's answers are given here, and accounts
//! that do not answer in time. All else is in `tests/transcripts/free.txt`.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::call::client::NonInteractive;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::event::time::{self, EventTime};
use daysheet_sandbox::{AnswerAlteration, Sandbox};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::harness;
use crate::support::{ME, Session, impatient, slow_down};

const WORK: &str = "mira@lindqvist-lamps.example";

/// Returns a session over an account at Microsoft.
async fn session() -> Session {
    let who = SandboxUser::These(&[("microsoft", ME)]);
    Session::signed_in(TempDir::new().unwrap(), None, who).await
}

/// Replaces the schedules of people, by their addresses, in the answers of Microsoft.
fn set_schedules(sandbox: &Sandbox, schedules: HashMap<String, Value>) {
    sandbox.set_alter(Some(AnswerAlteration::new(move |answer| {
        let rows = answer.get_mut("value").and_then(Value::as_array_mut);
        for row in rows.into_iter().flatten() {
            let who = row["scheduleId"].as_str().unwrap_or_default();
            if let Some(schedule) = schedules.get(who) {
                *row = schedule.clone();
            }
        }
    })));
}

/// Returns a person's schedule as Graph writes it.
fn schedule(who: &str, busy: &[Busy], work: Option<&Work>) -> Value {
    let utc = |tick: i64| {
        let time = TimeZone::UTC.to_datetime(at(tick)).to_string();
        json!({"dateTime": time, "timeZone": "UTC"})
    };
    let items = busy.iter().map(|(from, long, show)| {
        json!({"status": SHOWS[*show], "start": utc(*from), "end": utc(from + long)})
    });
    let hours = work.map(|(days, from, to, other)| {
        let days = days.iter().map(|day| WEEK[usize::try_from(*day).unwrap()]);
        let clock = |half: u16| format!("{:02}:{:02}:00.0000000", half / 2, half % 2 * 30);
        json!({"daysOfWeek": days.collect::<Vec<_>>(), "startTime": clock(*from),
               "endTime": clock(*to), "timeZone": {"name": ZONES[usize::from(*other)]}})
    });
    json!({"scheduleId": who, "scheduleItems": items.collect::<Vec<_>>(), "workingHours": hours})
}

/// Minutes per tick.
const TICK: i64 = 5;
/// Friday, 28 March 2031, 0h00 UTC; clocks change on the 30th.
const FIRST: i64 = 1_932_422_400;
const DAYS: i64 = 4;

/// A busy time: first tick, number of ticks, and how it is shown.
type Busy = (i64, i64, usize);
/// Working hours: days, from and to in half hours, in one of two zones.
type Work = (Vec<i8>, u16, u16, bool);

/// A person: whether they are known, their busy times and their working hours.
type Someone = (bool, Vec<Busy>, Option<Work>);

const ZONES: [&str; 2] = ["Europe/Berlin", "America/New_York"];
const WEEK: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const SHOWS: [&str; 4] = ["busy", "tentative", "oof", "workingElsewhere"];

fn someone() -> impl Strategy<Value = Someone> {
    let busy = (0..DAYS * 288, 1_i64..60, 0_usize..4);
    let days = prop::sample::subsequence(vec![0_i8, 1, 2, 3, 4, 5, 6], 3..7);
    let work = (days, 0_u16..30, 8_u16..18, any::<bool>());
    let work = work.prop_map(|(days, from, long, zone)| (days, from, from + long, zone));
    (prop::bool::weighted(0.9), prop::collection::vec(busy, 0..14), prop::option::of(work))
}

fn at(tick: i64) -> Timestamp {
    Timestamp::from_second(FIRST + tick * TICK * 60).unwrap()
}

/// Returns the expected slots, found tick by tick.
fn expected(
    people: &[Someone],
    people_count: usize,
    zone: &TimeZone,
    daily: Option<(u16, u16)>,
    length: i64,
    limit: usize,
) -> Vec<(String, Vec<String>)> {
    let any = daily == Some((0, 48));
    let local = |tick: i64, zone: &TimeZone| {
        let local = zone.to_datetime(at(tick));
        let half_hours =
            u16::try_from(local.hour()).unwrap() * 60 + u16::try_from(local.minute()).unwrap();
        (local.weekday().to_monday_zero_offset(), half_hours)
    };
    let within = |from: u16, to: u16, minute: u16| (from * 30..to * 30).contains(&minute);
    let works = |tick: i64| {
        let (_, minute) = local(tick, zone);
        let in_hours = daily.is_none_or(|(from, to)| within(from, to, minute));
        let all = people.iter().all(|(known, _, work)| {
            if let Some((days, from, to, other)) = work.as_ref().filter(|_| *known) {
                let zone = TimeZone::get(ZONES[usize::from(*other)]).unwrap();
                let (day, minute) = local(tick, &zone);
                days.contains(&day) && within(*from, *to, minute)
            } else {
                let (day, minute) = local(tick, zone);
                let (from, to) = daily.unwrap_or((18, 34));
                day < 5 && within(from, to, minute)
            }
        });
        any || in_hours && all
    };
    let open: Vec<bool> = (0..DAYS * 288).map(works).collect();
    let mut found = Vec::new();
    for start in (0..=(DAYS * 288 - length)).step_by(3) {
        if !(start..start + length).all(|tick| open[usize::try_from(tick).unwrap()]) {
            continue;
        }
        let mut missing = Vec::new();
        for (place, (known, busy, _)) in people.iter().enumerate() {
            let has = |show: usize| {
                // If two busy times overlap, the weightier one counts.
                (start..start + length).any(|tick| {
                    let mut all: Vec<usize> = busy
                        .iter()
                        .filter(|(from, long, _)| (*from..from + long).contains(&tick))
                        .map(|(.., show)| *show)
                        .collect();
                    all.sort_by_key(|show| [0, 2, 1, 3][*show]);
                    all.first() == Some(&show)
                })
            };
            let why = match (known, has(0), has(2), has(1)) {
                (false, ..) => "unknown",
                (_, true, ..) => "busy",
                (_, _, true, _) => "oof",
                (.., true) => "perhaps",
                _ => continue,
            };
            missing.push(format!("p{place} {why}"));
        }
        let count = |words: &[&str]| {
            let mut all = missing.iter();
            all.by_ref().filter(|one| words.iter().any(|word| one.ends_with(word))).count()
        };
        if count(&["busy", "oof", "unknown"]) < people_count {
            found.push((count(&["busy", "oof"]), count(&["perhaps"]), start, missing));
        }
    }
    let mut best: Vec<(usize, usize, i64, Vec<String>)> = Vec::new();
    while best.len() < limit {
        let free = found.iter().filter(|(_, _, start, _)| {
            let apart = |other: &i64| (other - start).abs() >= length;
            best.iter().all(|(_, _, other, _)| apart(other))
        });
        let next = free.min_by_key(|(busy, perhaps, start, _)| {
            let hours = best.iter().map(|(_, _, other, _)| (other - start).abs() / 12);
            let minute = zone.to_datetime(at(*start)).minute();
            let odd = match minute {
                0 => 0,
                30 => 1,
                _ => 2,
            };
            (*busy, *perhaps, -hours.min().unwrap_or(0), odd, *start)
        });
        match next {
            Some(next) => best.push(next.clone()),
            None => break,
        }
    }
    best.sort();
    // The earliest of the best slots is always included, in place of the first with a rounder
    // start.
    if let (Some(first), Some(earliest)) = (best.first_mut(), found.iter().min()) {
        *first = earliest.clone();
    }
    best.into_iter()
        .map(|(_, _, start, missing)| (time::start(EventTime::At(at(start)), zone), missing))
        .collect()
}

/// A search for slots with other people.
#[derive(Debug, Clone)]
struct SlotSearch {
    people: Vec<Someone>,
    /// The zone of the search, of [`ZONES`].
    zone: usize,
    /// The first of the hours of a day and their length, in half hours.
    daily: Option<(u16, u16)>,
    /// True if any time is acceptable.
    any: bool,
    /// The length of a slot in ticks.
    length: i64,
    limit: usize,
}

impl SlotSearch {
    fn strategy() -> impl Strategy<Value = Self> {
        let people = prop::collection::vec(someone(), 1..4);
        let daily = prop::option::of((0_u16..20, 4_u16..28));
        (people, 0_usize..2, daily, prop::bool::weighted(0.1), 1_i64..30, 1_usize..8).prop_map(
            |(people, zone, daily, any, length, limit)| Self {
                people,
                zone,
                daily,
                any,
                length,
                limit,
            },
        )
    }

    /// Compares the slots of an answer with the expected ones.
    async fn check(self, session: &mut Session) {
        let Self { people, zone, daily, any, length, limit } = self;
        // The caller is always free and has ordinary working hours.
        let mut schedules = HashMap::from([(ME.to_owned(), schedule(ME, &[], None))]);
        let mut who = Vec::new();
        for (place, (is_known, busy, work)) in people.iter().enumerate() {
            let address = format!("p{place}@example.com");
            if *is_known {
                let schedule = schedule(&address, busy, work.as_ref());
                schedules.insert(address.clone(), schedule);
            }
            who.push(address);
        }
        set_schedules(&session.sandbox, schedules);
        let zone = ZONES[zone];
        let daily = if any { Some((0, 48)) } else { daily.map(|(from, long)| (from, from + long)) };
        let mut arguments = json!({
            "who": who, "from": at(0).to_string(), "to": at(DAYS * 288).to_string(),
            "duration": length * TICK, "limit": limit, "tz": zone, "sort": "best",
        });
        if let Some((from, to)) = daily {
            let clock = |half: u16| format!("{}:{:02}", half / 2, half % 2 * 30);
            arguments["hours"] = format!("{}-{}", clock(from), clock(to)).into();
        }
        if people.iter().all(|(known, ..)| !known) {
            let text = session.error("calendar_free", arguments).await;
            assert!(text.starts_with("no free/busy times are known"), "{text}");
            return;
        }
        let found = session.json("calendar_free", arguments).await;
        let shown: Vec<(String, Vec<String>)> = found["slots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|slot| {
                let missing = slot["missing"].as_str().unwrap_or_default();
                let missing = missing.split(", ").filter(|one| !one.is_empty());
                let start = slot["start"].as_str().unwrap().to_owned();
                (start, missing.map(str::to_owned).collect())
            })
            .collect();
        let zone = TimeZone::get(zone).unwrap();
        let people_count = people.len();
        let people = [people, vec![(true, Vec::new(), None)]].concat();
        assert_eq!(shown, expected(&people, people_count, &zone, daily, length, limit));
        for slot in found["slots"].as_array().unwrap() {
            let missing = slot["missing"].as_str().map_or(0, |all| all.split(", ").count());
            assert_eq!(slot["free"], people.len() - missing);
        }
    }
}

/// Every slot is within everyone's hours and lists the missing people correctly, and no better slot
/// is left out, across a change of the clocks and in two zones.
#[test]
fn no_better_slot_is_left_out() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // The session also ends within the runtime.
    let _within = runtime.enter();
    let session = RefCell::new(runtime.block_on(session()));
    let mut runner =
        TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let checked = runner.run(&SlotSearch::strategy(), |search| {
        runtime.block_on(search.check(&mut session.borrow_mut()));
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn slot_numbers_denote_these_times() {
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let change = at(2 * 288 + 12).checked_add(SignedDuration::from_secs(1));
    assert_eq!(at(0).to_string(), "2031-03-28T00:00:00Z");
    assert_eq!(time::start(EventTime::At(change.unwrap()), &berlin), "Sun 2031-03-30 03h00");
}

/// The person's own account does not answer in time, and the other does not know them.
#[tokio::test]
async fn slow_account_is_named_for_its_owner() {
    let who = SandboxUser::These(&[("microsoft", ME), ("google", WORK)]);
    let session = Session::signed_in(TempDir::new().unwrap(), None, who).await;
    let nobody = schedule("nobody@example.com", &[], None);
    set_schedules(&session.sandbox, HashMap::from([(WORK.to_owned(), nobody)]));
    slow_down(&session.sandbox, "/freeBusy");
    let arguments =
        json!({"from": "2031-04-01", "to": "2031-04-01", "who": [WORK, "priya@example.com"]});
    let format = Format::Toon(Delimiter::Tab);
    let pipeline = impatient(&session);
    let blocks = harness::call(&pipeline, "calendar_free", arguments, format, &NonInteractive);
    assert_eq!(
        harness::notes(&blocks.await.unwrap()),
        "busy: 0, by person, Tue 2031-04-01\n\
         free throughout: priya@example.com\n\
         your events in mira@example.com are not counted: who=me without `account` counts all\n\
         missing: free/busy of mira@lindqvist-lamps.example: mira@lindqvist-lamps.example: no \
         answer within 0 seconds"
    );
}

/// All busy times are reported, however many; the rest is in the output.
#[tokio::test]
async fn every_busy_time_is_reported() {
    let mut session = session().await;
    let busy: Vec<Busy> = (0..1_100).map(|number| (12 * number, 6, 0)).collect();
    let schedules = HashMap::from([(ME.to_owned(), schedule(ME, &busy, None))]);
    set_schedules(&session.sandbox, schedules);
    let arguments = json!({"from": "2031-03-28T00:00Z", "to": "2031-05-20T00:00Z", "tz": "UTC"});
    let answer = session.ok("calendar_free", arguments).await.join("\n");
    let (_, output) = answer.split_once("output_read id=").unwrap();
    let output = output.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
    let mut found = HashSet::new();
    for part in 0..4 {
        let part = json!({"id": output, "offset": 1 + part * 300, "limit": 300, "budget": 20_000});
        for block in session.ok("output_read", part).await {
            let reported = block.lines().filter(|line| line.ends_with("\tbusy"));
            found.extend(reported.map(|line| line.trim().to_owned()));
        }
    }
    assert_eq!(found.len(), 1_100, "{answer}");
}
