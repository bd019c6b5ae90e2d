//! Busy times and common slots over several accounts, each of which knows some people.

use std::collections::HashSet;
use std::time::Duration;

use daysheet::cli::sandboxed::SandboxUser;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::event_time::{self, EventTime};
use daysheet_core::provider::calendar::WorkingHours;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::calendar_search::{calendars, over};
use crate::common::fake_calendars::{CalendarHarness, Entry, FakeCalendars, Known};
use crate::support::{ME, Session, column};

fn hours(zone: &str, days: &[i8], from: u16, to: u16) -> Option<WorkingHours> {
    Some(WorkingHours { zone: zone.to_owned(), days: days.to_vec(), from, to })
}

fn known(busy: &[(&str, &str, &str)], hours: Option<WorkingHours>) -> Known {
    let owned = |(from, to, show): &(&str, &str, &str)| {
        ((*from).to_owned(), (*to).to_owned(), (*show).to_owned())
    };
    Known { busy: busy.iter().map(owned).collect(), hours }
}

impl FakeCalendars {
    fn knows(self, address: &str, known: Known) -> Self {
        let mut people = self.people.lock().unwrap();
        people.push((address.to_owned(), Ok(known)));
        drop(people);
        self
    }
}

/// Returns two accounts. 31 March 2031 is a Monday, two hours ahead of UTC.
async fn office() -> CalendarHarness {
    let ana = calendars("ana")
        .knows(
            "ana@example.com",
            known(
                &[
                    ("2031-03-31T07:00:00", "2031-03-31T08:00:00", "busy"),
                    ("2031-03-31T07:30:00", "2031-03-31T09:00:00", "busy"),
                    ("2031-03-31T08:30:00", "2031-03-31T10:00:00", "tentative"),
                    ("2031-03-31T12:00:00", "2031-03-31T13:00:00", "free?"),
                ],
                None,
            ),
        )
        .knows("cy@partner.example", known(&[], None));
    let bo = calendars("bo")
        .knows(
            "bo@example.com",
            known(&[("2031-03-31T10:00:00", "2031-04-01T10:00:00", "oof")], None),
        )
        .knows(
            "di@partner.example",
            known(
                &[("2031-03-31T13:00:00", "2031-03-31T14:00:00", "workingElsewhere")],
                hours("America/New_York", &[0, 1, 2, 3, 4], 8 * 60, 16 * 60),
            ),
        );
    over(vec![ana, bo]).await
}

#[tokio::test]
async fn busy_times_are_reported_by_person() {
    let harness = office().await;
    let arguments = json!({"from": "2031-03-31", "to": "2031-04-01",
                       "who": ["Me", "CY@partner.example", "ana@example.com", "di@partner.example",
                               "who@knows.example"]});
    assert_eq!(
        harness.call("calendar_free", arguments).await.unwrap(),
        [
            "zone: Europe/Berlin\n\
             missing: \"free/busy of who@knows.example: nobody has that address\"\n\
             busy[5\t]{who\tstart\tend\tshow}:\n  \
             ana@example.com\tMon 2031-03-31 09h00\t11h00\tbusy\n  \
             ana@example.com\tMon 2031-03-31 11h00\t12h00\ttentative\n  \
             ana@example.com\tMon 2031-03-31 14h00\t15h00\tbusy\n  \
             bo@example.com\tMon 2031-03-31 12h00\tTue 2031-04-01 12h00\toof\n  \
             di@partner.example\tMon 2031-03-31 15h00\t16h00\telsewhere",
            "busy: 5, by person, Mon 2031-03-31 to Tue 2031-04-01\n\
             free throughout: CY@partner.example",
        ]
    );
    // Without `who`, the caller is meant.
    let arguments = json!({"from": "2031-03-31 14h30", "to": "2031-03-31 18h00"});
    let found = harness.json("calendar_free", arguments.clone()).await;
    assert_eq!(column(&found, "busy", "who"), ["ana@example.com", "bo@example.com"]);
    let mut one = arguments;
    one["account"] = "bo".into();
    let found = harness.json("calendar_free", one).await;
    assert_eq!(column(&found, "busy", "who"), ["bo@example.com"]);
}

#[tokio::test]
async fn slots_are_listed_best_first() {
    let harness = office().await;
    let arguments = |more: Value| {
        let call = json!({"from": "2031-03-31", "to": "2031-03-31", "duration": "1h",
                          "sort": "best", "who": ["ana@example.com", "bo@example.com"]});
        crate::reach::with(call, more)
    };
    assert_eq!(
        harness.call("calendar_free", arguments(json!({}))).await.unwrap(),
        [
            "zone: Europe/Berlin\n\
             slots[1\t]{start\tend\tfree\tmissing}:\n  \
             Mon 2031-03-31 11h00\t12h00\t0\tme perhaps",
            "slots: 1, best first, within 09h00-17h00 of working days, Mon 2031-03-31",
        ]
    );
    // Both accounts belong to one person, who counts once in a meeting with others.
    assert_eq!(
        harness
            .call("calendar_free", arguments(json!({"who": "cy@partner.example"})))
            .await
            .unwrap(),
        [
            "zone: Europe/Berlin\n\
             slots[5\t]{start\tend\tfree\tmissing}:\n  \
             Mon 2031-03-31 11h00\t12h00\t1\tme perhaps\n  \
             Mon 2031-03-31 09h00\t10h00\t1\tme busy\n  \
             Mon 2031-03-31 10h00\t11h00\t1\tme busy\n  \
             Mon 2031-03-31 13h00\t14h00\t1\tme oof\n  \
             Mon 2031-03-31 16h00\t17h00\t1\tme oof",
            "slots: 5, best first, within 09h00-17h00 of working days, Mon 2031-03-31\n\
             also counted: ana@example.com, bo@example.com\n\
             slots are a choice spread over the range, without overlaps, on quarter hours: \
             `limit` shows more, `hours` without `duration` all free time",
        ]
    );
    // A person with long working hours who is always free.
    let days = [0, 1, 2, 3, 4];
    let di = known(&[], hours("America/New_York", &days, 8 * 60, 16 * 60));
    let fay = known(&[], hours("Europe/Berlin", &days, 8 * 60, 22 * 60));
    let fay = calendars("fay")
        .knows("fay@example.com", fay)
        .knows("cy@partner.example", known(&[], None))
        .knows("di@partner.example", di);
    let harness = over(vec![fay]).await;
    for (more, slots, reported) in cases! {
        // A person without free/busy data is noted, by a distinguishable name.
        json!({"who": ["cy@partner.example", "cy@knows.example"], "limit": 1}),
            json!([["09h00", 2, "cy@knows.example unknown"]]),
            "slots: 1, best first, within known working hours (08h00-22h00), else 09h00-17h00 of \
             working days, Mon 2031-03-31\n\
             slots are a choice spread over the range, without overlaps, on quarter hours: \
             `limit` shows more, `hours` without `duration` all free time\n\
             missing: free/busy of cy@knows.example: nobody has that address";
        // The other person's hours in New York are 14h00 to 22h00 in Berlin.
        json!({"who": "cy@partner.example, di@partner.example", "duration": "90m"}),
            json!([["14h00", 3, null], ["15h30", 3, null]]),
            "slots: 2, best first, within known working hours (08h00-16h00 America/New_York; \
             08h00-22h00), else 09h00-17h00 of working days, Mon 2031-03-31";
        json!({"who": "di@partner.example", "duration": "3h"}),
            json!([["14h00", 2, null], ["19h00", 2, null]]),
            "slots: 2, best first, within everybody's working hours (08h00-16h00 America/New_York; \
             08h00-22h00), Mon 2031-03-31";
        json!({"who": "di@partner.example", "duration": "3h", "hours": "13:30-18h15"}),
            json!([["14h00", 2, null]]),
            "slots: 1, best first, within 13h30-18h15 and known working hours (08h00-16h00 \
             America/New_York; 08h00-22h00), Mon 2031-03-31";
        json!({"who": "cy@partner.example", "duration": "2 hours", "hours": "4pm - 8:15pm"}),
            json!([["16h00", 2, null], ["18h00", 2, null]]),
            "slots: 2, best first, within 16h00-20h15 and known working hours (08h00-22h00), \
             Mon 2031-03-31";
        // A Saturday, and the Sunday after it, which lacks an hour.
        json!({"who": "cy@partner.example", "from": "2031-03-29", "to": "2031-03-29"}), json!([]),
            "slots: 0, best first, within known working hours (08h00-22h00), else 09h00-17h00 of \
             working days, Sat 2031-03-29\n\
             no common free time: try a longer range, a shorter duration, or hours=0-24 for any \
             time, weekends too";
        json!({"who": "cy@partner.example", "from": "2031-03-29 23h50",
               "to": "2031-03-30 05h00", "hours": "0-24"}),
            json!([["00h00", 2, null], ["01h00", 2, null], ["03h00", 2, null], ["04h00", 2, null]]),
            "slots: 4, best first, at any time, Sat 2031-03-29 23h50 to Sun 2031-03-30 05h00";
        json!({"who": "cy@partner.example", "duration": "3 days", "hours": "0-24"}), json!([]),
            "slots: 0, best first, at any time, Mon 2031-03-31\n\
             no common free time: try a longer range or a shorter duration";
    } {
        let notes = harness.notes("calendar_free", arguments(more.clone())).await;
        let besides = "also counted: fay@example.com";
        let reported = match reported.split_once('\n') {
            None => format!("{reported}\n{besides}"),
            Some((first, rest)) => format!("{first}\n{besides}\n{rest}"),
        };
        assert_eq!(notes, reported, "{more}");
        let found = harness.json("calendar_free", arguments(more.clone())).await;
        let shown: Vec<Value> = found["slots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|slot| {
                let start = slot["start"].as_str().unwrap();
                json!([start[start.len() - 5..], slot["free"], slot["missing"]])
            })
            .collect();
        assert_eq!(Value::from(shown), slots, "{more}");
    }
}

#[tokio::test]
async fn busy_times_come_from_whichever_account_knows() {
    let harness = office().await.impatient();
    let arguments = json!({"from": "2031-03-31", "to": "2031-03-31",
                       "who": ["bo@example.com", "cy@partner.example"]});
    // The person's own account does not answer in time, but a colleague's knows some of it.
    harness.fakes[1].trouble.lock().unwrap().delay = Duration::from_mins(1);
    assert_eq!(
        harness.notes("calendar_free", arguments.clone()).await,
        "busy: 0, by person, Mon 2031-03-31\n\
         free throughout: cy@partner.example\n\
         your events in ana@example.com are not counted: who=me without `account` counts all\n\
         missing: free/busy of bo@example.com: bo@example.com: no answer within 0 seconds"
    );
    let other = known(&[("2031-03-31T10:00:00", "2031-03-31T11:00:00", "busy")], None);
    {
        let mut people = harness.fakes[0].people.lock().unwrap();
        people.push(("bo@example.com".to_owned(), Ok(other)));
    }
    let found = harness.json("calendar_free", arguments.clone()).await;
    assert_eq!(column(&found, "busy", "show"), ["busy"]);
    // The person's own account takes precedence over others.
    harness.fakes[1].trouble.lock().unwrap().delay = Duration::ZERO;
    let found = harness.json("calendar_free", arguments.clone()).await;
    assert_eq!(column(&found, "busy", "show"), ["oof"]);
    // No account can be reached.
    for fake in &harness.fakes {
        let error = Error::new(ErrorKind::Network, "no route");
        fake.trouble.lock().unwrap().failure = Some(error);
    }
    assert_eq!(
        harness.error("calendar_free", arguments).await,
        "no free/busy times are known: no route"
    );
}

#[tokio::test]
async fn impossible_arguments_are_refused() {
    let harness = office().await;
    for (arguments, says) in cases! {
        json!({"who": ["Ana"]}), "`Ana` is not an address: give whole addresses, or `me`";
        json!({"who": ["a@b c"]}), "`a@b c` is not an address";
        json!({"who": ["@b"]}), "`@b` is not an address";
        json!({"sort": "title"}), "`sort` cannot be `title`: use one of: time, best";
        json!({"duration": "1h", "hours": "17-9"}),
            "`hours` is `17-9`, not hours of a day: write them as 9-17";
        json!({"duration": "1h", "hours": "9"}), "`hours` is `9`";
        json!({"duration": "1h", "hours": "9-25"}), "`hours` is `9-25`";
        json!({"duration": "0"}), "`duration` is zero";
        json!({"duration": "soon"}), "`duration`: `soon`";
        json!({"tz": "Nowhere"}), "`tz`: there is no time zone `Nowhere`";
        json!({"from": "2031-03-31", "to": "2031-03-30"}),
            "`to` (Mon 2031-03-31 00h00) is not after `from` (Mon 2031-03-31 00h00)";
        json!({"from": "2031-01-01", "to": "2031-12-31"}),
            "the range is longer than 62 days: split it";
        json!({"from": "2020-01-01", "to": "2020-01-02", "duration": "1h"}),
            "the range is in the past: give a future `to`";
    } {
        let text = harness.error("calendar_free", arguments.clone()).await;
        assert!(text.contains(says), "{arguments}: {text}");
    }
    let many: Vec<String> = (0..51).map(|at| format!("p{at}@example.com")).collect();
    assert_eq!(
        harness.error("calendar_free", json!({"who": many})).await,
        "51 people are more than 50: ask about fewer"
    );
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

const ZONES: [&str; 2] = ["Europe/Berlin", "America/New_York"];
const SHOWS: [&str; 4] = ["busy", "tentative", "oof", "workingElsewhere"];

fn someone() -> impl Strategy<Value = (bool, Vec<Busy>, Option<Work>)> {
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
    people: &[(bool, Vec<Busy>, Option<Work>)],
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
    let works = |tick: i64| {
        let (_, minute) = local(tick, zone);
        let in_hours = daily.is_none_or(|(from, to)| (from * 30..to * 30).contains(&minute));
        let all = people.iter().all(|(known, _, work)| {
            if let Some((days, from, to, other)) = work.as_ref().filter(|_| *known) {
                let zone = TimeZone::get(ZONES[usize::from(*other)]).unwrap();
                let (day, minute) = local(tick, &zone);
                days.contains(&day) && (from * 30..to * 30).contains(&minute)
            } else {
                let (day, minute) = local(tick, zone);
                let (from, to) = daily.unwrap_or((18, 34));
                day < 5 && (from * 30..to * 30).contains(&minute)
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
        .map(|(_, _, start, missing)| (event_time::start(EventTime::At(at(start)), zone), missing))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every slot is within everyone's hours and lists the missing people correctly, and no better
    /// slot is left out, across a change of the clocks and in two zones.
    #[test]
    fn no_better_slot_is_left_out(
        people in prop::collection::vec(someone(), 1..4),
        zone in 0_usize..2,
        daily in prop::option::of((0_u16..20, 4_u16..28)),
        any in prop::bool::weighted(0.1),
        length in 1_i64..30,
        limit in 1_usize..8,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let utc = |tick: i64| TimeZone::UTC.to_datetime(at(tick)).to_string();
            // The caller is always free and has ordinary working hours.
            let mut fake = calendars("ana").knows("ana@example.com", known(&[], None));
            let mut who = Vec::new();
            for (place, (is_known, busy, work)) in people.iter().enumerate() {
                let address = format!("p{place}@example.com");
                who.push(address.clone());
                if !is_known {
                    continue;
                }
                let busy = busy.iter().map(|(from, long, show)| {
                    (utc(*from), utc(from + long), SHOWS[*show].to_owned())
                });
                let work = work.as_ref().and_then(|(days, from, to, other)| {
                    hours(ZONES[usize::from(*other)], days, from * 30, to * 30)
                });
                fake = fake.knows(&address, Known { busy: busy.collect(), hours: work });
            }
            let harness = over(vec![fake]).await;
            let zone = ZONES[zone];
            let daily = if any {
                Some((0, 48))
            } else {
                daily.map(|(from, long)| (from, from + long))
            };
            let mut arguments = json!({
                "who": who, "from": at(0).to_string(), "to": at(DAYS * 288).to_string(),
                "duration": length * TICK, "limit": limit, "tz": zone, "sort": "best",
            });
            if let Some((from, to)) = daily {
                let clock = |half: u16| format!("{}:{:02}", half / 2, half % 2 * 30);
                arguments["hours"] = format!("{}-{}", clock(from), clock(to)).into();
            }
            if people.iter().all(|(known, ..)| !known) {
                let text = harness.error("calendar_free", arguments).await;
                assert!(text.starts_with("no free/busy times are known"), "{text}");
                return;
            }
            let found = harness.json("calendar_free", arguments).await;
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
        });
    }
}

#[test]
fn slot_numbers_denote_these_times() {
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let change = at(2 * 288 + 12).checked_add(SignedDuration::from_secs(1));
    assert_eq!(at(0).to_string(), "2031-03-28T00:00:00Z");
    assert_eq!(event_time::start(EventTime::At(change.unwrap()), &berlin), "Sun 2031-03-30 03h00");
}

/// Returns an account whose owner has several calendars and knows another person. A slot must be
/// free in all calendars of the owner, too.
async fn several() -> CalendarHarness {
    let mut ana = calendars("ana")
        .calendar("Ana", "owner")
        .calendar("Family", "owner")
        .calendar("Team", "writer")
        .knows("ana@example.com", known(&[], None))
        .knows("cy@partner.example", known(&[], None));
    ana.add("Ana", Entry::at("2031-03-31T07:00", 60, "Told by the service"));
    ana.add("Family", Entry::at("2031-03-31T08:00", 120, "Dentist"));
    ana.add("Family", Entry::day("2031-04-02", 1, "Trip"));
    ana.add("Team", Entry::at("2031-03-31T12:00", 60, "Of others"));
    *ana.page.get_mut().unwrap() = 1;
    over(vec![ana]).await
}

#[tokio::test]
async fn all_own_calendars_count_as_busy() {
    let harness = several().await;
    let arguments = json!({"from": "2031-03-31", "to": "2031-04-02", "limit": 1});
    assert_eq!(
        harness.call("calendar_free", arguments).await.unwrap(),
        [
            "zone: Europe/Berlin\n\
             busy[2\t]{who\tstart\tend\tshow}:\n  \
             ana@example.com\tMon 2031-03-31 10h00\t12h00\tbusy\n  \
             ana@example.com\tWed 2031-04-02 00h00\tThu 2031-04-03 00h00\ttentative",
            "busy: 2, by person, Mon 2031-03-31 to Wed 2031-04-02\n\
             tentative in `Family`: events of 3 hours or more without people, and unanswered \
             invitations of 6 hours or more\n\
             all busy times are shown: `limit` is for slots",
        ]
    );
    // A query for another person reports only that person; a slot also considers the caller's own
    // time.
    let other = json!({"from": "2031-03-31", "to": "2031-04-02", "who": "cy@partner.example"});
    assert_eq!(
        harness.notes("calendar_free", other.clone()).await,
        "busy: 0, by person, Mon 2031-03-31 to Wed 2031-04-02\nfree throughout: cy@partner.example"
    );
    let mut slots = other;
    slots["duration"] = "2h".into();
    slots["limit"] = 50.into();
    let found = harness.json("calendar_free", slots.clone()).await;
    let free = |free: i64| -> Vec<String> {
        let all = found["slots"].as_array().unwrap().iter();
        let all = all.filter(|slot| slot["free"] == free);
        all.map(|slot| slot["start"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        free(2),
        [
            "Mon 2031-03-31 12h00", "Mon 2031-03-31 15h00", "Tue 2031-04-01 09h00",
            "Tue 2031-04-01 12h00", "Tue 2031-04-01 15h00"
        ]
    );
    assert!(
        free(1).iter().all(|start| start.starts_with("Mon 2031-03-31") || start.starts_with("Wed")),
        "{found}"
    );
    let notes = harness.notes("calendar_free", slots).await;
    let notes: Vec<&str> = notes.lines().skip(2).collect();
    assert_eq!(
        notes,
        [
            "also counted: ana@example.com",
            "perhaps: `Trip` in `Family` Wed 2031-04-02 00h00 to Thu 2031-04-03 00h00"
        ]
    );
    // An unreadable calendar is reported.
    harness.fakes[0].trouble.lock().unwrap().calendars = vec![(
        "ana-Family".to_owned(),
        Error::new(ErrorKind::Provider(403), "the service says no"),
    )];
    let arguments = json!({"from": "2031-03-31", "to": "2031-04-02"});
    assert_eq!(
        harness.notes("calendar_free", arguments).await,
        "busy: 0, by person, Mon 2031-03-31 to Wed 2031-04-02\n\
         free throughout: ana@example.com\n\
         only the main calendar counts: ana@example.com: Family: the service \
         says no"
    );
}

#[tokio::test]
async fn slots_and_free_time_are_listed_by_time() {
    let harness = office().await;
    let range = json!({"from": "2031-03-31", "to": "2031-04-01", "limit": 3});
    let answer = async |more: Value| {
        let blocks = harness.call("calendar_free", crate::reach::with(range.clone(), more)).await;
        blocks.unwrap().join("\n").replace('\t', "|")
    };
    let cy = "cy@partner.example";
    assert_eq!(
        answer(json!({"duration": "1h", "who": [cy], "hours": "9-13"})).await,
        "zone: Europe/Berlin\n\
         slots[3|]{start|end|free|missing}:\n  \
         Mon 2031-03-31 11h00|12h00|1|me perhaps\n  \
         Tue 2031-04-01 09h00|10h00|1|me oof\n  \
         Tue 2031-04-01 12h00|13h00|2|null\n\
         slots: 3, by time, within 09h00-13h00 of working days, Mon 2031-03-31 to Tue 2031-04-01\n\
         also counted: ana@example.com, bo@example.com\n\
         slots are a choice spread over the range, without overlaps, on quarter hours: \
         `limit` shows more, `hours` without `duration` all free time"
    );
    // Without a duration, the answer is the free time within the hours.
    assert_eq!(
        answer(json!({"hours": "9-17"})).await,
        "zone: Europe/Berlin\n\
         slots[2|]{start|end|free|missing}:\n  \
         Mon 2031-03-31 11h00|12h00|0|me perhaps\n  \
         Tue 2031-04-01 12h00|17h00|1|null\n\
         free: 2, by time, within 09h00-17h00 of working days, Mon 2031-03-31 to Tue 2031-04-01"
    );
    let all = json!({"hours": "10-18", "who": [cy, "di@partner.example"], "limit": 1,
                     "sort": "best"});
    assert_eq!(
        answer(all).await,
        "zone: Europe/Berlin\n\
         slots[1|]{start|end|free|missing}:\n  \
         Tue 2031-04-01 14h00|18h00|3|null\n\
         free: 1, by time, within 10h00-18h00 and known working hours (08h00-16h00 America/New_York), Mon 2031-03-31 to Tue 2031-04-01\n\
         also counted: ana@example.com, bo@example.com\n\
         sort=best is for slots: give `duration`"
    );
}

#[tokio::test]
async fn tentative_events_of_the_main_calendar_are_named() {
    let who = SandboxUser::These(&[("microsoft", ME)]);
    let mut session = Session::signed_in(TempDir::new().unwrap(), None, who).await;
    let event = json!({"title": "Fitting", "start": "2036-02-05 10h00", "show": "tentative"});
    session.ok("calendar_save", json!({"events": [event]})).await;
    let slots = json!({"from": "2036-02-05", "to": "2036-02-05", "duration": "8h"});
    assert_eq!(
        session.ok("calendar_free", slots).await.remove(1).lines().last(),
        Some("perhaps: `Fitting` Tue 2036-02-05 10h00 to 11h00")
    );
}

#[tokio::test]
async fn slots_are_spread_over_the_range() {
    let harness = over(vec![calendars("ana").knows("ana@example.com", known(&[], None))]).await;
    for (from, to, limit, expected) in cases! {
        "2031-03-31", "2031-04-04", 5,
            vec![
                "Mon 2031-03-31 09h00",
                "Tue 2031-04-01 10h00",
                "Wed 2031-04-02 12h00",
                "Thu 2031-04-03 14h00",
                "Fri 2031-04-04 16h00",
            ];
        "2031-03-31", "2031-04-30", 3,
            vec!["Mon 2031-03-31 09h00", "Tue 2031-04-15 12h00", "Wed 2031-04-30 16h00"];
        "2031-03-31", "2031-03-31", 3,
            vec!["Mon 2031-03-31 09h00", "Mon 2031-03-31 12h00", "Mon 2031-03-31 16h00"];
        "2031-03-31", "2031-03-31", 1, vec!["Mon 2031-03-31 09h00"];
    } {
        let arguments = json!({"from": from, "to": to, "limit": limit, "duration": "1h"});
        let found = harness.json("calendar_free", arguments).await;
        assert_eq!(column(&found, "slots", "start"), expected, "{from} to {to}");
    }
}

/// All busy times are reported, however many; the rest is in the output.
#[tokio::test]
async fn every_busy_time_is_reported() {
    let utc = |tick: i64| TimeZone::UTC.to_datetime(at(tick)).to_string();
    let busy = (0..1_100).map(|number| (utc(12 * number), utc(12 * number + 6), "busy".to_owned()));
    let known = Known { busy: busy.collect(), hours: None };
    let harness = over(vec![calendars("ana").knows("ana@example.com", known)]).await;
    let arguments = json!({"from": "2031-03-28T00:00Z", "to": "2031-05-20T00:00Z", "tz": "UTC"});
    let notes = harness.notes("calendar_free", arguments).await;
    let (_, output) = notes.split_once("output_read id=").unwrap();
    let output = output.split_whitespace().next().unwrap();
    let mut found = HashSet::new();
    for part in 0..4 {
        let part = json!({"id": output, "offset": 1 + part * 300, "limit": 300, "budget": 20_000});
        for block in harness.call("output_read", part).await.unwrap() {
            let reported = block.lines().filter(|line| line.ends_with("\tbusy"));
            found.extend(reported.map(|line| line.trim().to_owned()));
        }
    }
    assert_eq!(found.len(), 1_100, "{notes}");
}
