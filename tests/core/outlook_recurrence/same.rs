//! Occurrences of a pattern and of its rule, which must be the same.
//!
//! A pattern's occurrences come from an independent implementation of Microsoft's definitions in
//! this file: it walks from day to day and tests each day against the pattern.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::recurrence::graph::{pattern, rule};
use daysheet_core::event::time::{EventTime, ZonedTime};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::Value;

use super::repeat;

const NAMES: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Returns the first days of a pattern by Microsoft's definition.
fn days(recurrence: &Value, most: usize) -> Vec<Date> {
    let pattern = &recurrence["pattern"];
    let range = &recurrence["range"];
    let start: Date = range["startDate"].as_str().unwrap().parse().unwrap();
    let (most, last) = match range["type"].as_str().unwrap() {
        "noEnd" => (most, Date::MAX),
        "endDate" => (most, range["endDate"].as_str().unwrap().parse().unwrap()),
        "numbered" => {
            let number = range["numberOfOccurrences"].as_u64().unwrap();
            (most.min(usize::try_from(number).unwrap()), Date::MAX)
        }
        other => panic!("{other}"),
    };
    let mut found = Vec::new();
    let mut day = start;
    // Every rule in this file has at least a hundred occurrences in 600 years.
    for _ in 0..220_000 {
        if day > last || found.len() == most {
            break;
        }
        if falls_on(pattern, start, day) {
            found.push(day);
        }
        day = day.tomorrow().unwrap();
    }
    found
}

fn sunday_based(day: Date) -> usize {
    usize::try_from(day.weekday().to_sunday_zero_offset()).unwrap()
}

fn falls_on(pattern: &Value, start: Date, day: Date) -> bool {
    let interval = pattern["interval"].as_i64().unwrap();
    let days_between = |from: Date, to: Date| i64::from(from.until(to).unwrap().get_days());
    let months = i64::from(day.year() - start.year()) * 12 + i64::from(day.month() - start.month());
    let years = i64::from(day.year() - start.year());
    let in_month = || i64::from(day.month()) == pattern["month"].as_i64().unwrap();
    match pattern["type"].as_str().unwrap() {
        "daily" => days_between(start, day) % interval == 0,
        "weekly" => {
            let first = NAMES.iter().position(|name| pattern["firstDayOfWeek"] == *name).unwrap();
            let week = |day: Date| {
                let back = (sunday_based(day) + 7 - first) % 7;
                day.checked_sub(jiff::Span::new().days(i64::try_from(back).unwrap())).unwrap()
            };
            let weeks = days_between(week(start), week(day)) / 7;
            weeks % interval == 0 && named(pattern, day)
        }
        "absoluteMonthly" => months % interval == 0 && is_day(pattern, day),
        "relativeMonthly" => months % interval == 0 && is_nth(pattern, day),
        "absoluteYearly" => years % interval == 0 && in_month() && is_day(pattern, day),
        "relativeYearly" => years % interval == 0 && in_month() && is_nth(pattern, day),
        other => panic!("{other}"),
    }
}

fn named(pattern: &Value, day: Date) -> bool {
    let list = pattern["daysOfWeek"].as_array().unwrap();
    list.iter().any(|name| name == NAMES[sunday_based(day)])
}

/// Returns true if the day is the pattern's day of the month, or the last day of a shorter month.
fn is_day(pattern: &Value, day: Date) -> bool {
    let day_of_month = pattern["dayOfMonth"].as_i64().unwrap();
    i64::from(day.day()) == day_of_month.min(i64::from(day.days_in_month()))
}

/// Returns true if the day is the first, second, … of the month's days with one of the pattern's
/// names.
fn is_nth(pattern: &Value, day: Date) -> bool {
    let month = day.first_of_month();
    let all =
        month.series(jiff::Span::new().days(1)).take(usize::try_from(day.days_in_month()).unwrap());
    let allowed: Vec<Date> = all.filter(|day| named(pattern, *day)).collect();
    let instance = match pattern["index"].as_str().unwrap() {
        "first" => allowed.first(),
        "second" => allowed.get(1),
        "third" => allowed.get(2),
        "fourth" => allowed.get(3),
        "last" => allowed.last(),
        other => panic!("{other}"),
    };
    instance == Some(&day)
}

/// Returns the local days of a series.
fn by_rule(repeat: &EventRecurrence, start: &ZonedTime, most: usize) -> Vec<Date> {
    let found = repeat.occurrences(start, Timestamp::MIN, Timestamp::MAX, most);
    let zone = match start {
        ZonedTime::Day(_) => TimeZone::UTC,
        ZonedTime::At(_, zone) => TimeZone::get(zone).unwrap(),
    };
    let day = |when: EventTime| match when {
        EventTime::Day(day) => day,
        EventTime::At(at) => zone.to_datetime(at).date(),
    };
    found.into_iter().map(day).collect()
}

fn weekdays() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(vec!["MO", "TU", "WE", "TH", "FR", "SA", "SU"], 1..=7)
}

fn index() -> impl Strategy<Value = i32> {
    prop::sample::select(vec![1, 2, 3, 4, -1])
}

/// Rules that Graph can express, in all their forms.
fn expressible() -> impl Strategy<Value = String> {
    let many = 1..7_u8;
    let index_of = |(days, index): (Vec<&str>, i32)| match days.as_slice() {
        [one] => format!("BYDAY={index}{one}"),
        several => format!("BYDAY={};BYSETPOS={index}", several.join(",")),
    };
    let month_day = prop_oneof![
        (1..=28_i8).prop_map(|day| format!("BYMONTHDAY={day}")),
        Just("BYMONTHDAY=-1".to_owned()),
        Just("BYMONTHDAY=28,29;BYSETPOS=-1".to_owned()),
        Just("BYMONTHDAY=28,29,30;BYSETPOS=-1".to_owned()),
        (weekdays(), index()).prop_map(index_of),
        (0..4_i8, prop::sample::select(vec!["MO", "SU"])).prop_map(|(week, day)| {
            let days: Vec<String> = (1..=7).map(|one| (week * 7 + one).to_string()).collect();
            format!("BYDAY={day};BYMONTHDAY={}", days.join(","))
        }),
    ];
    let month_day = month_day.boxed();
    let months = prop::sample::select(vec![
        "BYMONTH=2", "BYMONTH=3", "BYMONTH=11", "BYMONTH=1,7", "BYMONTH=3,6,9,12",
        "BYMONTH=2,4,6,8,10,12",
    ]);
    prop_oneof![
        many.clone().prop_map(|many| format!("FREQ=DAILY;INTERVAL={many}")),
        weekdays().prop_map(|days| format!("FREQ=DAILY;BYDAY={}", days.join(","))),
        (many.clone(), weekdays(), prop::sample::select(vec!["MO", "SU", "WE"])).prop_map(
            |(many, days, first)| {
                format!("FREQ=WEEKLY;INTERVAL={many};BYDAY={};WKST={first}", days.join(","))
            }
        ),
        (many.clone(), month_day.clone())
            .prop_map(|(many, day)| format!("FREQ=MONTHLY;INTERVAL={many};{day}")),
        (months.clone(), month_day.clone())
            .prop_map(|(months, day)| format!("FREQ=MONTHLY;{months};{day}")),
        (many, prop::sample::select(vec![2, 3, 6, 11]), month_day).prop_map(
            |(many, month, day)| { format!("FREQ=YEARLY;INTERVAL={many};BYMONTH={month};{day}") }
        ),
        (months, 1..=28_i8)
            .prop_map(|(months, day)| format!("FREQ=YEARLY;{months};BYMONTHDAY={day}")),
    ]
}

/// Rules of all kinds, most of which Graph cannot express.
fn any_rule() -> impl Strategy<Value = String> {
    (
        prop::sample::select(vec!["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
        1..4_u8,
        prop::sample::select(vec![
            "", ";BYDAY=MO", ";BYDAY=TU,TH", ";BYDAY=1MO", ";BYDAY=-1FR,1FR", ";BYDAY=5SU",
            ";BYDAY=MO,TU,WE,TH,FR",
        ]),
        prop::sample::select(vec![
            "",
            "",
            ";BYMONTHDAY=31",
            ";BYMONTHDAY=-1",
            ";BYMONTHDAY=-3",
            ";BYMONTHDAY=1,2,3,4,5,6,7",
            ";BYMONTHDAY=30",
            ";BYMONTHDAY=29",
        ]),
        prop::sample::select(vec![
            "",
            "",
            ";BYMONTH=2",
            ";BYMONTH=1,7",
            ";BYMONTH=4,5",
            ";BYMONTH=1,3,5,7,8,10,12",
        ]),
        prop::sample::select(vec!["", "", "", ";BYSETPOS=1", ";BYSETPOS=-1", ";BYSETPOS=2,3"]),
    )
        .prop_map(|(freq, many, day, month_day, month, at)| {
            format!("FREQ={freq};INTERVAL={many}{day}{month_day}{month}{at}")
        })
        .prop_filter("not a rule", |text| EventRecurrence::rule(text).is_ok())
}

fn ends() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", ";COUNT=9", ";UNTIL=20270301", ";UNTIL=20270301T070000Z"])
}

/// Returns an occurrence of the rule as its start: the second one from a day on, because the first
/// is that day itself.
fn start_of(rule: &str, from: i64, hour: Option<i8>) -> Option<ZonedTime> {
    let from = Date::constant(2025, 1, 1).checked_add(jiff::Span::new().days(from)).unwrap();
    let any = ZonedTime::Day(from);
    let found = repeat(rule).occurrences(&any, Timestamp::MIN, Timestamp::MAX, 2);
    let EventTime::Day(day) = *found.get(1)? else {
        return None;
    };
    Some(match hour {
        None => ZonedTime::Day(day),
        Some(hour) => ZonedTime::At(
            DateTime::from_parts(day, jiff::civil::Time::constant(hour, 30, 0, 0)),
            "Europe/Berlin".to_owned(),
        ),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn converted_pattern_has_the_rules_occurrences(
        rule_text in expressible(),
        end in ends(),
        from in 0..800_i64,
        hour in prop::option::of(prop::sample::select(vec![0, 8, 23])),
    ) {
        let Some(start) = start_of(&rule_text, from, hour) else {
            return Err(TestCaseError::fail(format!("{rule_text} has no start")));
        };
        let parsed_rule = repeat(&format!("{rule_text}{end}"));
        let expected = by_rule(&parsed_rule, &start, 100);
        if expected.is_empty() {
            // The rule ends before it starts.
            prop_assert!(pattern(&parsed_rule, &start, "UTC").is_err());
            return Ok(());
        }
        let found = pattern(&parsed_rule, &start, "Europe/Berlin");
        let found = found.map_err(|error| TestCaseError::fail(format!("{rule_text}: {error}")))?;
        prop_assert_eq!(days(&found, 100), expected.clone(), "{} {}", rule_text, found);

        // The way back gives the same occurrences, and from there on the same pattern.
        let again = repeat(&rule(&found).unwrap());
        prop_assert_eq!(by_rule(&again, &start, 100), expected, "{} {}", rule_text, again.rule);
        let second = pattern(&again, &start, "Europe/Berlin").unwrap();
        let third = repeat(&rule(&second).unwrap());
        prop_assert_eq!(third, again);
        let mut same = found;
        if let Some(first) = same.pointer_mut("/pattern/firstDayOfWeek") {
            // The first day of the week is kept only if it affects the occurrences.
            *first = second["pattern"]["firstDayOfWeek"].clone();
        }
        prop_assert_eq!(second, same);
    }

    /// Every converted rule has the right occurrences; all others are refused.
    #[test]
    fn no_rule_is_converted_wrongly(rule_text in any_rule(), from in 0..800_i64) {
        let Some(start) = start_of(&rule_text, from, None) else {
            return Ok(());
        };
        let parsed_rule = repeat(&rule_text);
        match pattern(&parsed_rule, &start, "UTC") {
            Ok(found) => {
                prop_assert_eq!(days(&found, 60), by_rule(&parsed_rule, &start, 60), "{} {}", rule_text, found);
            }
            Err(error) => prop_assert!(error.next_step().is_some(), "{}", error),
        }
    }
}
