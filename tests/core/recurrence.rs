//! Recurrence: the occurrences of rules in every zone; the writing and splitting of rules.
//!
//! The lists in `recurrence/cases.txt` have independent sources: rules from Python's `dateutil`
//! (without a zone), zones from its `zoneinfo`, and bounds from the text of RFC 5545. Most rules
//! are the examples of its 3.8.5.3.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{EventTime, ZonedTime};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use proptest::prelude::*;

mod split;

/// The length at which lists are cut.
const MAX_SHOWN: usize = 12;

fn moment(text: &str, zone: &str) -> ZonedTime {
    match zone {
        "-" => ZonedTime::Day(Date::strptime("%Y%m%d", text).unwrap()),
        zone => ZonedTime::At(DateTime::strptime("%Y%m%dT%H%M%S", text).unwrap(), zone.to_owned()),
    }
}

fn instant(text: &str) -> Timestamp {
    let local = DateTime::strptime("%Y%m%dT%H%M%SZ", text).unwrap();
    local.to_zoned(TimeZone::UTC).unwrap().timestamp()
}

fn text(when: &EventTime) -> String {
    match when {
        EventTime::Day(day) => day.to_string(),
        EventTime::At(at) => at.to_string().replace(":00Z", "Z"),
    }
}

fn zone(start: &ZonedTime) -> TimeZone {
    match start {
        ZonedTime::Day(_) => TimeZone::UTC,
        ZonedTime::At(_, zone) => TimeZone::get(zone).unwrap(),
    }
}

struct Case<'a> {
    title: &'a str,
    start: ZonedTime,
    from: Timestamp,
    to: Timestamp,
    lines: Vec<&'a str>,
    expected: Vec<String>,
}

fn cases() -> Vec<Case<'static>> {
    let blocks = include_str!("recurrence/cases.txt").split("\n\n");
    let cases = blocks.map(|block| {
        let mut lines = block.lines();
        let title = lines.next().unwrap();
        let head: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let (expected, lines): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| line.starts_with('>'));
        Case {
            title,
            start: moment(head[0], head[1]),
            from: head.get(2).map_or(Timestamp::MIN, |at| instant(at)),
            to: head.get(3).map_or(Timestamp::MAX, |at| instant(at)),
            lines,
            expected: expected
                .iter()
                .flat_map(|line| line[1..].split_whitespace())
                .map(str::to_owned)
                .collect(),
        }
    });
    cases.collect()
}

#[test]
fn rules_give_the_same_times_as_python() {
    let cases = cases();
    assert!(cases.len() >= 80, "{} cases", cases.len());
    for case in cases {
        let repeat = EventRecurrence::from_lines(&case.lines, &zone(&case.start));
        let found = repeat.occurrences(&case.start, case.from, case.to, MAX_SHOWN);
        let found: Vec<String> = found.iter().map(text).collect();
        assert_eq!(found, case.expected, "{} {:?}", case.title, case.lines);
    }
}

/// A search from a later start finds the rest of the same list.
#[test]
fn window_of_occurrences_is_part_of_all() {
    for case in cases() {
        let repeat = EventRecurrence::from_lines(&case.lines, &zone(&case.start));
        let all = repeat.occurrences(&case.start, Timestamp::MIN, Timestamp::MAX, 40);
        for from in 0..all.len().saturating_sub(3) {
            let at = |n: usize| all[n].instant(&TimeZone::UTC);
            let part = repeat.occurrences(&case.start, at(from), at(from + 3), 100);
            assert_eq!(part, all[from..from + 3], "{}", case.title);
        }
    }
}

#[test]
fn recurrence_lines_are_read_and_written() {
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let timed = moment("20260203T180000", "Europe/Berlin");
    for (start, read, written) in cases! {
        &timed,
            vec![
                "RRULE:freq=weekly;interval=1;byday=we,mo;wkst=MO",
                "EXDATE;TZID=Europe/Berlin:20260209T180000,20260211T180000",
                "RDATE:20260301T120000Z",
                "EXDATE;VALUE=DATE:20260216",
                "exdate;tzid=\"W. Europe Standard Time\";X-ODD=1:20260218T180000",
                "RDATE;VALUE=PERIOD:20260401T100000Z/PT1H",
                "EXRULE:FREQ=DAILY",
                "odd",
                "EXDATE:",
            ],
            vec![
                "RRULE:FREQ=WEEKLY;BYDAY=MO,WE",
                "RDATE;TZID=Europe/Berlin:20260301T130000,20260401T120000",
                "EXDATE;VALUE=DATE:20260216",
                "EXDATE;TZID=Europe/Berlin:20260209T180000,20260211T180000,20260218T180000",
            ];
        // A quoted parameter value may contain a colon.
        &timed, vec!["EXDATE;TZID=\"(UTC+09:00) Osaka, Sapporo, Tokyo\":20260204T020000"],
            vec!["EXDATE;TZID=Europe/Berlin:20260203T180000"];
        // The second of two ambiguous times can only be written in UTC.
        &timed, vec!["RDATE:20261025T003000Z,20261025T013000Z"],
            vec!["RDATE;TZID=Europe/Berlin:20261025T023000", "RDATE:20261025T013000Z"];
        &moment("20260203T180000", "UTC"), vec!["RRULE:FREQ=DAILY", "EXDATE:20260204T180000Z"],
            vec!["RRULE:FREQ=DAILY", "EXDATE:20260204T180000Z"];
        &moment("20260203", "-"),
            vec!["RRULE:FREQ=DAILY;UNTIL=2026-02-10", "EXDATE;VALUE=DATE:20260204"],
            vec!["RRULE:FREQ=DAILY;UNTIL=20260210", "EXDATE;VALUE=DATE:20260204"];
        // The form of `UNTIL` follows that of the start.
        &timed, vec!["RRULE:FREQ=DAILY;UNTIL=20260331"],
            vec!["RRULE:FREQ=DAILY;UNTIL=20260331T215959Z"];
        &timed, vec!["RRULE:FREQ=DAILY;UNTIL=20260331T120000"],
            vec!["RRULE:FREQ=DAILY;UNTIL=20260331T100000Z"];
        &moment("20260203", "-"), vec!["RRULE:FREQ=DAILY;UNTIL=20260331T215959Z"],
            vec!["RRULE:FREQ=DAILY;UNTIL=20260331"];
        // An unreadable rule is kept, but cannot become a second line.
        &timed, vec!["RRULE:FREQ=HOURLY\r\nX:1", "RRULE:FREQ=DAILY"], vec!["RRULE:FREQ=HOURLYX:1"];
    } {
        let repeat = EventRecurrence::from_lines(&read, &berlin);
        assert_eq!(repeat.lines(start), written);
        assert_eq!(EventRecurrence::from_lines(&written, &berlin).lines(start), written);
    }
}

#[test]
fn equal_rules_are_written_the_same_way() {
    for (text, expected) in cases! {
        "FREQ=DAILY", "FREQ=DAILY";
        "RRULE:FREQ=DAILY;INTERVAL=1", "FREQ=DAILY";
        " rrule:interval=2; freq=weekly ;", "FREQ=WEEKLY;INTERVAL=2";
        "BYDAY=FR,MO,FR;FREQ=WEEKLY;WKST=SU;COUNT=07", "FREQ=WEEKLY;COUNT=7;BYDAY=MO,FR;WKST=SU";
        "FREQ=MONTHLY;BYDAY=+2TU,-1FR", "FREQ=MONTHLY;BYDAY=2TU,-1FR";
        "FREQ=YEARLY;BYMONTH=7,3,3;BYMONTHDAY=31,-1", "FREQ=YEARLY;BYMONTHDAY=-1,31;BYMONTH=3,7";
        "FREQ=DAILY;UNTIL=2026-02-03T18:00:00Z", "FREQ=DAILY;UNTIL=20260203T180000Z";
        "FREQ=DAILY;UNTIL=20260203T1800", "FREQ=DAILY;UNTIL=20260203T180000";
        "FREQ=DAILY;UNTIL=2026-02-03", "FREQ=DAILY;UNTIL=20260203";
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1";
        "FREQ=YEARLY;BYSECOND=5;BYMINUTE=4;BYHOUR=3;BYYEARDAY=-2;BYWEEKNO=1;BYSETPOS=1",
            "FREQ=YEARLY;BYSECOND=5;BYMINUTE=4;BYHOUR=3;BYYEARDAY=-2;BYWEEKNO=1;BYSETPOS=1";
    } {
        assert_eq!(EventRecurrence::rule(text).unwrap(), expected, "{text}");
        assert_eq!(EventRecurrence::rule(expected).unwrap(), expected);
    }
}

#[test]
fn invalid_rule_is_refused_with_the_reason() {
    let like = "write it like `FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10` (RFC 5545)";
    for (text, message, next) in cases! {
        "", "the rule has no FREQ", like;
        "every Tuesday", "the rule has a part without `=`: `EVERY TUESDAY`", like;
        "BYDAY=MO", "the rule has no FREQ", like;
        "FREQ=FORTNIGHTLY", "the rule has FREQ with `FORTNIGHTLY`", like;
        "FREQ=HOURLY",
            "the rule repeats more often than daily (FREQ=HOURLY), which calendars do not support",
            "use FREQ=DAILY with BYHOUR, or single events";
        "FREQ=SECONDLY",
            "the rule repeats more often than daily (FREQ=SECONDLY), which calendars do not support",
            "use FREQ=DAILY with BYHOUR, or single events";
        "FREQ=DAILY;FREQ=DAILY", "the rule has FREQ twice", like;
        "FREQ=DAILY;COUNT=0", "the rule has COUNT with `0`", "use 1 to 1000000";
        "FREQ=DAILY;COUNT=-5", "the rule has COUNT with `-5`", "use 1 to 1000000";
        "FREQ=DAILY;COUNT=5;UNTIL=20260203", "the rule has both COUNT and UNTIL",
            "keep one";
        "FREQ=DAILY;INTERVAL=65537", "the rule has INTERVAL with `65537`", "use 1 to 10000";
        "FREQ=DAILY;UNTIL=20260230", "the rule has UNTIL with `20260230`", like;
        "FREQ=DAILY;UNTIL=tomorrow", "the rule has UNTIL with `TOMORROW`", like;
        "FREQ=WEEKLY;BYDAY=TUE", "the rule has BYDAY with `TUE`", like;
        "FREQ=MONTHLY;BYDAY=0MO", "the rule has BYDAY with `0MO`", like;
        "FREQ=WEEKLY;BYDAY=1MO",
            "the rule has BYDAY with the number 1, which conflicts with its other parts", like;
        "FREQ=MONTHLY;BYDAY=6MO",
            "the rule has BYDAY with the number 6, which conflicts with its other parts", like;
        "FREQ=MONTHLY;BYMONTHDAY=32", "the rule has BYMONTHDAY with `32`", "use -31 to 31";
        "FREQ=MONTHLY;BYMONTHDAY=0", "the rule has BYMONTHDAY with `0`", like;
        "FREQ=WEEKLY;BYMONTHDAY=3", "the rule has BYMONTHDAY with FREQ=WEEKLY", "use FREQ=MONTHLY";
        "FREQ=MONTHLY;BYYEARDAY=3", "the rule has BYYEARDAY without FREQ=YEARLY", like;
        "FREQ=MONTHLY;BYWEEKNO=3", "the rule has BYWEEKNO without FREQ=YEARLY", like;
        "FREQ=MONTHLY;BYSETPOS=1", "the rule has BYSETPOS without another BY part", "add BYDAY";
        "FREQ=DAILY;BYEASTER=1", "the rule has an unknown part: `BYEASTER`", like;
        "FREQ=DAILY;X=\u{7}\n\u{202e}", "the rule has an unknown part: `X`", like;
        "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9;BYMINUTE=0,5,10,15,20,25,30,35,40,45",
            "the rule has more than 96 times a day", like;
    } {
        let error = EventRecurrence::rule(text).unwrap_err();
        assert_eq!((error.message(), error.next_step()), (message, Some(next)), "{text}");
    }
    assert_eq!(
        EventRecurrence::rule(&"FREQ=DAILY;".repeat(1_000)).unwrap_err().message(),
        "the rule is too long"
    );
}

#[test]
fn series_ends_with_its_last_occurrence() {
    for (start, zone_name, lines, expected) in cases! {
        "20260203T180000", "Europe/Berlin", vec!["RRULE:FREQ=DAILY"], None;
        "20260203T180000", "Europe/Berlin", vec!["RRULE:FREQ=DAILY;COUNT=3"],
            Some("20260205T170000Z");
        "20260203T180000", "Europe/Berlin",
            vec!["RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260205T170000Z"], Some("20260204T170000Z");
        "20260203T180000", "Europe/Berlin",
            vec!["RRULE:FREQ=DAILY;COUNT=3", "RDATE:20270205T170000Z"], Some("20270205T170000Z");
        "20000203T180000", "Europe/Berlin", vec!["RRULE:FREQ=DAILY;UNTIL=40001231T235959Z"],
            Some("40001231T170000Z");
        "20000203T180000", "UTC", vec!["RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;UNTIL=20260101"],
            Some("20240229T180000Z");
        "20260203", "-", vec!["RRULE:FREQ=WEEKLY;UNTIL=20260301"], Some("20260224T000000Z");
        "20260203", "-", vec!["RRULE:FREQ=WEEKLY;UNTIL=20260101"], None;
    } {
        let start = moment(start, zone_name);
        let repeat = EventRecurrence::from_lines(&lines, &zone(&start));
        assert_eq!(repeat.ends(&start), expected.map(instant), "{lines:?}");
    }
}

/// No rule takes long, whether it has no occurrences or very many.
#[test]
fn hostile_rules_finish_quickly() {
    let start = moment("20150105T090000", "Europe/Berlin");
    let hours: Vec<String> = (0..24).map(|hour: i32| hour.to_string()).collect();
    let full = format!(
        "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={};BYMINUTE=0,15,30,45",
        hours.join(",")
    );
    for (rule, expected) in [
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", 0),
        ("FREQ=YEARLY;BYMONTH=1;BYYEARDAY=200", 0),
        ("FREQ=DAILY;BYHOUR=9;BYSETPOS=2", 0),
        ("FREQ=MONTHLY;BYMONTHDAY=1;BYSETPOS=5", 0),
        ("FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29", 0),
        ("FREQ=DAILY;BYDAY=TU;INTERVAL=7", 0),
        ("FREQ=YEARLY;INTERVAL=10000", 0),
        ("FREQ=DAILY;COUNT=1000000", 31),
        (full.as_str(), 2_976),
    ] {
        let repeat = EventRecurrence::from_lines(&[format!("RRULE:{rule}")], &TimeZone::UTC);
        let from = instant("20260101T000000Z");
        let to = instant("20260201T000000Z");
        let began = std::time::Instant::now();
        let found = repeat.occurrences(&start, from, to, usize::MAX);
        assert_eq!(found.len(), expected, "{rule}");
        // Far above the usual duration, also on a busy machine.
        assert!(began.elapsed().as_secs() < 20, "{rule}: {:?}", began.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn no_recurrence_text_makes_reading_panic(
        rule in "(RRULE:)?(FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY|HOURLY))?(;(UNTIL|COUNT|INTERVAL|BYDAY|BYMONTHDAY|BYYEARDAY|BYWEEKNO|BYMONTH|BYSETPOS|BYHOUR|WKST)=[-+0-9A-Z,:]{0,9}){0,4}|.{0,40}",
        dates in ".{0,40}|[0-9TZ,/-]{0,60}",
        year in -9999..=9999_i16,
        day in any::<bool>(),
    ) {
        if let Ok(canonical) = EventRecurrence::rule(&rule) {
            prop_assert_eq!(EventRecurrence::rule(&canonical), Ok(canonical.clone()));
        }
        let date = Date::new(year, 12, 31).unwrap();
        let start = if day {
            ZonedTime::Day(date)
        } else {
            ZonedTime::At(date.at(23, 59, 59, 999_999_999), "Asia/Tokyo".to_owned())
        };
        let lines = [format!("RRULE:{rule}"), format!("EXDATE:{dates}"), format!("RDATE;TZID={dates}")];
        let repeat = EventRecurrence::from_lines(&lines, &TimeZone::UTC);
        let found = repeat.occurrences(&start, Timestamp::MIN, Timestamp::MAX, 5);
        prop_assert!(found.len() <= 5);
        for at in &found {
            let _ = repeat.split(&start, *at);
            let _ = repeat.nominal(&start, *at);
        }
        for line in repeat.lines(&start) {
            prop_assert!(!line.contains(['\r', '\n']), "{:?}", line);
        }
        let _ = repeat.ends(&start);
    }
}
