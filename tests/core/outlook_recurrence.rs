//! Conversion of recurrence rules to Graph's patterns and back.
//!
//! `outlook_recurrence/same.rs` checks that both have the same occurrences.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::recurrence::graph::{pattern, rule};
use daysheet_core::event::time::ZonedTime;
use serde_json::json;

mod same;

fn repeat(rule: &str) -> EventRecurrence {
    EventRecurrence { rule: EventRecurrence::rule(rule).unwrap(), ..EventRecurrence::default() }
}

fn local(text: &str) -> ZonedTime {
    ZonedTime::At(text.parse().unwrap(), "Europe/Berlin".to_owned())
}

fn day(text: &str) -> ZonedTime {
    ZonedTime::Day(text.parse().unwrap())
}

#[test]
fn rules_and_graph_patterns_convert_both_ways() {
    let monday = "2026-02-02T18:00";
    // The rule, its start, the pattern, and the pattern's rule.
    for (text, start, expected, back) in cases! {
        "FREQ=DAILY", monday, json!({"type": "daily", "interval": 1}), "FREQ=DAILY";
        "FREQ=DAILY;INTERVAL=3", monday, json!({"type": "daily", "interval": 3}),
            "FREQ=DAILY;INTERVAL=3";
        "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", monday,
            json!({
                "type": "weekly", "interval": 1, "firstDayOfWeek": "monday",
                "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"],
            }), "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR";
        "FREQ=WEEKLY", monday,
            json!({"type": "weekly", "interval": 1, "daysOfWeek": ["monday"], "firstDayOfWeek": "monday"}),
            "FREQ=WEEKLY;BYDAY=MO";
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU", monday,
            json!({"type": "weekly", "interval": 2, "daysOfWeek": ["monday", "sunday"], "firstDayOfWeek": "sunday"}),
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU";
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=-1", monday,
            json!({"type": "weekly", "interval": 1, "daysOfWeek": ["monday"], "firstDayOfWeek": "monday"}),
            "FREQ=WEEKLY;BYDAY=MO";
        "FREQ=MONTHLY;BYDAY=MO", monday,
            json!({"type": "weekly", "interval": 1, "daysOfWeek": ["monday"], "firstDayOfWeek": "monday"}),
            "FREQ=WEEKLY;BYDAY=MO";
        "FREQ=YEARLY;BYDAY=MO,TU", monday,
            json!({"type": "weekly", "interval": 1, "daysOfWeek": ["monday", "tuesday"], "firstDayOfWeek": "monday"}),
            "FREQ=WEEKLY;BYDAY=MO,TU";
        "FREQ=MONTHLY", monday, json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 2}),
            "FREQ=MONTHLY;BYMONTHDAY=2";
        "FREQ=DAILY;BYMONTHDAY=2", monday,
            json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 2}),
            "FREQ=MONTHLY;BYMONTHDAY=2";
        "FREQ=MONTHLY;BYMONTHDAY=-1", "2026-02-28T18:00",
            json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 31}),
            "FREQ=MONTHLY;BYMONTHDAY=-1";
        "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "2026-02-28T18:00",
            json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 30}),
            "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1";
        // These months all have 31 days.
        "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31", "2026-01-31T18:00",
            json!({"type": "absoluteMonthly", "interval": 12, "dayOfMonth": 31}),
            "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=-1";
        "FREQ=MONTHLY;BYDAY=2TU;COUNT=5", "2026-02-10T18:00",
            json!({"type": "relativeMonthly", "interval": 1, "daysOfWeek": ["tuesday"], "index": "second"}),
            "FREQ=MONTHLY;COUNT=5;BYDAY=2TU";
        "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2", "2026-02-10T18:00",
            json!({"type": "relativeMonthly", "interval": 1, "daysOfWeek": ["tuesday"], "index": "second"}),
            "FREQ=MONTHLY;BYDAY=2TU";
        "FREQ=MONTHLY;BYDAY=TU;BYMONTHDAY=8,9,10,11,12,13,14", "2026-02-10T18:00",
            json!({"type": "relativeMonthly", "interval": 1, "daysOfWeek": ["tuesday"], "index": "second"}),
            "FREQ=MONTHLY;BYDAY=2TU";
        "FREQ=MONTHLY;BYDAY=-1FR", "2026-02-27T18:00",
            json!({"type": "relativeMonthly", "interval": 1, "daysOfWeek": ["friday"], "index": "last"}),
            "FREQ=MONTHLY;BYDAY=-1FR";
        "FREQ=MONTHLY;INTERVAL=3;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-02-27T18:00",
            json!({
                "type": "relativeMonthly", "interval": 3, "index": "last",
                "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"],
            }), "FREQ=MONTHLY;INTERVAL=3;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1";
        "FREQ=YEARLY", monday,
            json!({"type": "absoluteYearly", "interval": 1, "month": 2, "dayOfMonth": 2}),
            "FREQ=YEARLY;BYMONTHDAY=2;BYMONTH=2";
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=2", monday,
            json!({"type": "absoluteYearly", "interval": 1, "month": 2, "dayOfMonth": 2}),
            "FREQ=YEARLY;BYMONTHDAY=2;BYMONTH=2";
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", "2026-02-28T18:00",
            json!({"type": "absoluteYearly", "interval": 1, "month": 2, "dayOfMonth": 29}),
            "FREQ=YEARLY;BYMONTHDAY=-1;BYMONTH=2";
        // Outside February the end of a month is always the same day.
        "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=-2", "2026-03-30T18:00",
            json!({"type": "absoluteYearly", "interval": 1, "month": 3, "dayOfMonth": 30}),
            "FREQ=YEARLY;BYMONTHDAY=30;BYMONTH=3";
        "FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYDAY=1MO", monday,
            json!({"type": "relativeYearly", "interval": 2, "month": 2, "daysOfWeek": ["monday"], "index": "first"}),
            "FREQ=YEARLY;INTERVAL=2;BYDAY=1MO;BYMONTH=2";
        "FREQ=YEARLY;BYMONTH=2;BYDAY=SA,SU;BYSETPOS=-1", "2026-02-28T18:00",
            json!({"type": "relativeYearly", "interval": 1, "month": 2, "daysOfWeek": ["saturday", "sunday"], "index": "last"}),
            "FREQ=YEARLY;BYDAY=SA,SU;BYMONTH=2;BYSETPOS=-1";
        "FREQ=YEARLY;BYMONTH=2,5,8,11;BYMONTHDAY=2", monday,
            json!({"type": "absoluteMonthly", "interval": 3, "dayOfMonth": 2}),
            "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=2";
        "FREQ=YEARLY;BYMONTHDAY=2", monday,
            json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 2}),
            "FREQ=MONTHLY;BYMONTHDAY=2";
        "FREQ=WEEKLY;BYDAY=MO;BYHOUR=18;BYMINUTE=0;BYSECOND=0", monday,
            json!({"type": "weekly", "interval": 1, "daysOfWeek": ["monday"], "firstDayOfWeek": "monday"}),
            "FREQ=WEEKLY;BYDAY=MO";
    } {
        let start = local(start);
        let found = pattern(&repeat(text), &start, "Europe/Berlin").unwrap();
        assert_eq!(found["pattern"], expected, "{text}");
        assert_eq!(rule(&found).as_deref(), Some(back), "{text}");
    }
}

#[test]
fn recurrence_ranges_convert_both_ways() {
    let timed = local("2026-02-02T18:00");
    let whole = day("2026-02-02");
    for (start, text, expected, back) in cases! {
        &timed, "FREQ=DAILY", json!({"type": "noEnd"}), "FREQ=DAILY";
        &timed, "FREQ=DAILY;COUNT=7", json!({"type": "numbered", "numberOfOccurrences": 7}),
            "FREQ=DAILY;COUNT=7";
        &timed, "FREQ=DAILY;UNTIL=20260209", json!({"type": "endDate", "endDate": "2026-02-09"}),
            "FREQ=DAILY;UNTIL=20260209";
        // `UNTIL` at the last occurrence, and a second before it.
        &timed, "FREQ=DAILY;UNTIL=20260209T170000Z",
            json!({"type": "endDate", "endDate": "2026-02-09"}), "FREQ=DAILY;UNTIL=20260209";
        &timed, "FREQ=DAILY;UNTIL=20260209T165959Z",
            json!({"type": "endDate", "endDate": "2026-02-08"}), "FREQ=DAILY;UNTIL=20260208";
        &timed, "FREQ=DAILY;UNTIL=20260209T180000",
            json!({"type": "endDate", "endDate": "2026-02-09"}), "FREQ=DAILY;UNTIL=20260209";
        &timed, "FREQ=DAILY;UNTIL=20260209T175959",
            json!({"type": "endDate", "endDate": "2026-02-08"}), "FREQ=DAILY;UNTIL=20260208";
        &whole, "FREQ=DAILY;UNTIL=20260209", json!({"type": "endDate", "endDate": "2026-02-09"}),
            "FREQ=DAILY;UNTIL=20260209";
        &whole, "FREQ=DAILY;UNTIL=20260209T000000Z",
            json!({"type": "endDate", "endDate": "2026-02-09"}), "FREQ=DAILY;UNTIL=20260209";
    } {
        let found = pattern(&repeat(text), start, "Romance Standard Time").unwrap();
        let mut range = expected;
        range["startDate"] = "2026-02-02".into();
        range["recurrenceTimeZone"] = "Romance Standard Time".into();
        assert_eq!(found["range"], range, "{text}");
        assert_eq!(rule(&found).as_deref(), Some(back), "{text}");
    }
}

#[test]
fn rules_graph_lacks_are_refused_with_reason() {
    let monday = "2026-02-02T18:00";
    for (text, start, reason, next) in cases! {
        "FREQ=MONTHLY;BYMONTHDAY=31", "2026-01-31T18:00",
            "moves a day missing from a month to its last day, while the rule skips that month",
            "use BYMONTHDAY=-1 for the last day, or a day up to 28";
        "FREQ=MONTHLY", "2026-01-29T18:00",
            "moves a day missing from a month to its last day, while the rule skips that month",
            "use BYMONTHDAY=-1 for the last day, or a day up to 28";
        "FREQ=YEARLY", "2024-02-29T18:00",
            "moves a day missing from a month to its last day, while the rule skips that month",
            "use BYMONTHDAY=-1 for the last day, or a day up to 28";
        "FREQ=MONTHLY;BYMONTHDAY=-2", "2026-02-27T18:00",
            "can count the days of a month only from its start, except for the last",
            "use BYMONTHDAY=-1, or BYDAY=-1FR for the last Friday";
        "FREQ=MONTHLY;BYMONTHDAY=2,16", monday, "cannot repeat on several days of a month",
            "create a series for each day";
        "FREQ=MONTHLY;BYDAY=1MO,3MO", monday, "cannot repeat on several days of a month",
            "create a series for each day";
        "FREQ=MONTHLY;INTERVAL=2;BYDAY=MO", monday, "cannot repeat on several days of a month",
            "create a series for each day";
        "FREQ=MONTHLY;BYDAY=5MO", "2026-03-30T18:00",
            "can use only the first to fourth or last weekday of a month",
            "use BYDAY with 1 to 4 or -1";
        "FREQ=MONTHLY;BYDAY=-2MO", "2026-02-16T18:00",
            "can use only the first to fourth or last weekday of a month",
            "use BYDAY with 1 to 4 or -1";
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2026-02-13T18:00",
            "cannot combine a day of the month with a weekday",
            "leave out BYDAY or BYMONTHDAY";
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "2026-02-26T18:00",
            "can choose only the first to fourth or last of some weekdays",
            "use BYSETPOS with 1 to 4 or -1, and BYDAY";
        "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1,-1", monday,
            "cannot repeat on several days of a month", "create a series for each day";
        "FREQ=MONTHLY;BYMONTH=2,3;BYMONTHDAY=2", monday,
            "can repeat only in one month of the year, or in equally spaced months",
            "create a series for each month";
        "FREQ=YEARLY;BYMONTH=2,3;BYMONTHDAY=2", monday,
            "can repeat only in one month of the year, or in equally spaced months",
            "create a series for each month";
        "FREQ=YEARLY;INTERVAL=2;BYMONTH=2,8;BYMONTHDAY=2", monday,
            "can repeat only in one month of the year, or in equally spaced months",
            "create a series for each month";
        "FREQ=YEARLY;BYMONTH=2,8;BYDAY=MO;BYSETPOS=1", monday,
            "cannot choose among the days of a year (BYSETPOS)", "add BYMONTH with one month";
        "FREQ=YEARLY;BYDAY=5MO", monday, "cannot count weekdays through a year",
            "add BYMONTH, or use FREQ=MONTHLY";
        "FREQ=YEARLY;BYYEARDAY=33", monday, "cannot count the days of a year (BYYEARDAY)",
            "use BYMONTH with BYMONTHDAY";
        "FREQ=YEARLY;BYWEEKNO=6;BYDAY=MO", monday, "cannot count the weeks of a year (BYWEEKNO)",
            "use BYMONTH with BYMONTHDAY or BYDAY";
        "FREQ=WEEKLY;BYMONTH=2", monday,
            "cannot repeat in the weeks of some months (BYMONTH)",
            "end the series with UNTIL and create one for each period";
        "FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1", monday,
            "cannot choose among the days of a week (BYSETPOS)", "name the days with BYDAY";
        "FREQ=DAILY;INTERVAL=2;BYDAY=MO", monday, "with FREQ=DAILY cannot have conditions",
            "use FREQ=WEEKLY or FREQ=MONTHLY with BYDAY";
        "FREQ=DAILY;BYMONTH=2", monday, "with FREQ=DAILY cannot have conditions",
            "use FREQ=WEEKLY or FREQ=MONTHLY with BYDAY";
        "FREQ=DAILY;BYHOUR=9,18", monday, "has one time of day, that of its start",
            "leave out BYHOUR, BYMINUTE and BYSECOND, and create an event for each time";
        "FREQ=WEEKLY;BYDAY=TU", monday, "must start on a day of its rule", "start it on 2026-02-03";
        "FREQ=MONTHLY;BYMONTHDAY=1;UNTIL=20260210", monday, "must start on a day of its rule",
            "change the start or the rule";
        "FREQ=DAILY;UNTIL=20260201", monday, "must end after it starts", "set UNTIL after the start";
        "FREQ=DAILY;COUNT=1000", monday, "has at most 999 occurrences",
            "use UNTIL, or a series without an end";
    } {
        let error = pattern(&repeat(text), &local(start), "UTC").unwrap_err();
        assert_eq!(
            error.message(),
            format!("Outlook cannot repeat an event like this: a series {reason}"),
            "{text}"
        );
        assert_eq!(error.next_step(), Some(next), "{text}");
    }
    let start = local(monday);
    let both = EventRecurrence {
        rule: "FREQ=DAILY;COUNT=3;UNTIL=20270101".to_owned(),
        ..EventRecurrence::default()
    };
    let error = pattern(&both, &start, "UTC").unwrap_err();
    assert_eq!(error.next_step(), Some("keep COUNT or UNTIL"));
    let extra = EventRecurrence { extra: vec![start.when()], ..repeat("FREQ=DAILY") };
    let error = pattern(&extra, &start, "UTC").unwrap_err();
    assert_eq!(error.next_step(), Some("create separate events for these dates"));
    // Excluded dates are deleted from the created series, so the pattern ignores them.
    let except = EventRecurrence { except: vec![start.when()], ..repeat("FREQ=DAILY") };
    assert_eq!(pattern(&except, &start, "UTC"), pattern(&repeat("FREQ=DAILY"), &start, "UTC"));
    let odd = EventRecurrence { rule: "FREQ=HOURLY".to_owned(), ..EventRecurrence::default() };
    assert_eq!(
        pattern(&odd, &start, "UTC").unwrap_err().message(),
        "the rule repeats more often than daily (FREQ=HOURLY), which calendars do not support"
    );
}

/// Graph's own patterns, which no rule converts to.
#[test]
fn patterns_we_never_write_are_read() {
    for (found, expected) in cases! {
        json!({"type": "daily"}), Some("FREQ=DAILY");
        json!({"type": "DAILY", "interval": 0}), Some("FREQ=DAILY");
        json!({"type": "weekly", "interval": 2, "daysOfWeek": ["Tuesday", "monday"]}),
            Some("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU;WKST=SU");
        json!({"type": "weekly", "interval": 2, "daysOfWeek": ["tuesday"], "firstDayOfWeek": "sunday"}),
            Some("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU");
        json!({"type": "weekly", "interval": 1, "daysOfWeek": ["monday", "tuesday"], "firstDayOfWeek": "saturday"}),
            Some("FREQ=WEEKLY;BYDAY=MO,TU");
        json!({"type": "weekly", "interval": 1, "daysOfWeek": []}), None;
        json!({"type": "weekly", "interval": 1, "daysOfWeek": ["Frunday"]}), None;
        json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 29}),
            Some("FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1");
        json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 0}), None;
        json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 32}), None;
        json!({"type": "absoluteMonthly", "interval": 1, "dayOfMonth": -1}), None;
        json!({"type": "absoluteYearly", "interval": 1, "month": 4, "dayOfMonth": 31}),
            Some("FREQ=YEARLY;BYMONTHDAY=30;BYMONTH=4");
        json!({"type": "absoluteYearly", "interval": 1, "month": 13, "dayOfMonth": 1}), None;
        json!({"type": "relativeMonthly", "interval": 1, "daysOfWeek": ["monday"]}),
            Some("FREQ=MONTHLY;BYDAY=1MO");
        json!({"type": "relativeMonthly", "interval": 1, "daysOfWeek": ["monday"], "index": "fifth"}),
            None;
        json!({"type": "lunar", "interval": 1}), None;
        json!(null), None;
    } {
        let recurrence =
            json!({"pattern": found, "range": {"type": "noEnd", "startDate": "2026-02-02"}});
        assert_eq!(rule(&recurrence).as_deref(), expected, "{found}");
    }
    for (range, expected) in cases! {
        json!({"type": "endDate", "endDate": "2026-02-30"}), None;
        json!({"type": "numbered", "numberOfOccurrences": 0}), None;
        json!({"type": "numbered"}), None;
        json!({"type": "noEnd", "endDate": "0001-01-01", "numberOfOccurrences": 0}),
            Some("FREQ=DAILY");
        json!({}), Some("FREQ=DAILY");
    } {
        let recurrence = json!({"pattern": {"type": "daily", "interval": 1}, "range": range});
        assert_eq!(rule(&recurrence).as_deref(), expected, "{range}");
    }
    assert_eq!(rule(&json!(null)), None);
}
