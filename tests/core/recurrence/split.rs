//! Splitting of series: each half, and that both together are the whole.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{EventTime, ZonedTime};
use jiff::Timestamp;
use jiff::civil::Date;
use proptest::prelude::*;

use super::{cases, instant, moment, zone};

#[test]
fn series_is_split_at_an_occurrence() {
    let utc = |text: &str| EventTime::At(instant(text));
    for (start, zone_name, lines, at, expected) in cases! {
        "20260203T180000", "Europe/Berlin",
            vec!["RRULE:FREQ=WEEKLY;COUNT=5", "EXDATE:20260210T170000Z,20260224T170000Z"],
            utc("20260217T170000Z"),
            Some((
                vec![
                    "RRULE:FREQ=WEEKLY;UNTIL=20260217T165959Z",
                    "EXDATE;TZID=Europe/Berlin:20260210T180000",
                ],
                vec!["RRULE:FREQ=WEEKLY;COUNT=3", "EXDATE;TZID=Europe/Berlin:20260224T180000"],
            ));
        "20260203T180000", "Europe/Berlin",
            vec!["RRULE:FREQ=DAILY;UNTIL=20260210", "RDATE:20260205T120000Z,20260301T120000Z"],
            utc("20260206T170000Z"),
            Some((
                vec![
                    "RRULE:FREQ=DAILY;UNTIL=20260206T165959Z",
                    "RDATE;TZID=Europe/Berlin:20260205T130000",
                ],
                vec![
                    "RRULE:FREQ=DAILY;UNTIL=20260210T225959Z",
                    "RDATE;TZID=Europe/Berlin:20260301T130000",
                ],
            ));
        "20260203", "-", vec!["RRULE:FREQ=DAILY"], EventTime::Day("2026-02-06".parse().unwrap()),
            Some((vec!["RRULE:FREQ=DAILY;UNTIL=20260205"], vec!["RRULE:FREQ=DAILY"]));
        // The split is at the first occurrence, so the first half would be empty.
        "20260203", "-", vec!["RRULE:FREQ=DAILY"], EventTime::Day("2026-02-03".parse().unwrap()), None;
        "20260203", "-", vec!["RRULE:FREQ=DAILY", "EXDATE;VALUE=DATE:20260203"],
            EventTime::Day("2026-02-04".parse().unwrap()), None;
    } {
        let start = moment(start, zone_name);
        let repeat = EventRecurrence::from_lines(&lines, &zone(&start));
        let halves = repeat.split(&start, at).unwrap();
        let halves = halves.map(|(before, after)| (before.lines(&start), after.lines(&start)));
        let expected = expected.map(|(before, after)| {
            let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
            (owned(before), owned(after))
        });
        assert_eq!(halves, expected, "{lines:?}");
    }
}

#[test]
fn split_between_occurrences_is_refused() {
    let start = moment("20260203T180000", "Europe/Berlin");
    for (lines, at, message) in cases! {
        vec!["RRULE:FREQ=DAILY"], "20260206T180000Z", "the rule has no occurrence at this time";
        vec!["RRULE:FREQ=WEEKLY", "RDATE:20260206T170000Z"], "20260206T170000Z",
            "the rule has no occurrence at this time";
        vec!["RDATE:20260206T170000Z"], "20260206T170000Z",
            "the event's rule cannot be split";
        vec!["RRULE:FREQ=HOURLY"], "20260203T170000Z", "the event's rule cannot be split";
    } {
        let repeat = EventRecurrence::from_lines(&lines, &zone(&start));
        let error = repeat.split(&start, EventTime::At(instant(at))).unwrap_err();
        assert_eq!(error.message(), message);
        assert!(error.next_step().is_some());
    }
}

/// Both halves together have the occurrences of the whole, for every case and a split at each of
/// its occurrences.
#[test]
fn split_halves_have_all_occurrences() {
    let mut splits = 0;
    for case in cases() {
        let repeat = EventRecurrence::from_lines(&case.lines, &zone(&case.start));
        splits += halves_make_the_whole(&repeat, &case.start, case.title);
    }
    assert!(splits > 500, "{splits} splits");
}

fn halves_make_the_whole(repeat: &EventRecurrence, start: &ZonedTime, title: &str) -> usize {
    let end = Timestamp::from_second(4_000_000_000).unwrap();
    let all = repeat.occurrences(start, Timestamp::MIN, end, 60);
    let mut splits = 0;
    for at in all.iter().take(15) {
        let Ok(Some((before, after))) = repeat.split(start, *at) else {
            continue;
        };
        let next = repeat.nominal(start, *at).unwrap();
        let mut both = before.occurrences(start, Timestamp::MIN, end, 60);
        both.extend(after.occurrences(&next, Timestamp::MIN, end, 60));
        both.truncate(60);
        assert_eq!(both, all, "{title} split at {at:?}: {before:?} {after:?}");
        splits += 1;
    }
    splits
}

prop_compose! {
    /// A rule of a common kind, with its bounds.
    fn rules()(
        freq in prop::sample::select(vec!["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
        interval in 1..5,
        by in prop::sample::select(vec![
            "", ";BYDAY=MO,TH", ";BYMONTH=3,10", ";BYDAY=SU;BYMONTH=3,10", ";BYHOUR=2,14",
            ";BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        ]),
        wkst in prop::sample::select(vec!["", ";WKST=SU", ";WKST=TH"]),
        end in prop::sample::select(vec!["", ";COUNT=7", ";UNTIL=20270101T000000Z", ";UNTIL=20260601"]),
    ) -> String {
        format!("FREQ={freq};INTERVAL={interval}{by}{wkst}{end}")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn halves_of_any_rule_have_all_occurrences(
        rule in rules(),
        day in 0..400_i64,
        hour in 0..24_i8,
        zone in prop::sample::select(vec!["Europe/Berlin", "America/New_York", "-", "UTC"]),
        except in prop::collection::vec(0..200_i64, 0..3),
    ) {
        let first = Date::constant(2025, 6, 1).checked_add(jiff::Span::new().days(day)).unwrap();
        let start = match zone {
            "-" => ZonedTime::Day(first),
            zone => ZonedTime::At(first.at(hour, 30, 0, 0), zone.to_owned()),
        };
        let except = except
            .into_iter()
            .map(|days| EventTime::Day(first.checked_add(jiff::Span::new().days(days)).unwrap()))
            .collect();
        let repeat = EventRecurrence { rule: EventRecurrence::rule(&rule).unwrap(), except, extra: Vec::new() };
        halves_make_the_whole(&repeat, &start, &rule);
    }
}
