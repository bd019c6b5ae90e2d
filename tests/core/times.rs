//! Times as people write them, and their meaning.

use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::time_parse::{self, ParsedTime, TimeContext};
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::prelude::*;

/// Wednesday, 2026-02-04, 10:07:23 in Berlin.
const WEDNESDAY: &str = "2026-02-04T09:07:23Z";

fn here(now: &str, zone: &str) -> TimeContext {
    TimeContext { now: now.parse().unwrap(), zone: TimeZone::get(zone).unwrap(), named: false }
}

/// Returns the reading of a time with its instant, or the whole error.
fn reported(parsed: daysheet_core::error::Result<ParsedTime>, here: &TimeContext) -> String {
    match parsed {
        Ok(parsed @ ParsedTime::Day(_)) => parsed.formatted(&here.zone),
        Ok(parsed @ ParsedTime::At(_, at)) => format!("{} = {at}", parsed.formatted(&here.zone)),
        Err(error) => error.to_string(),
    }
}

/// Reads every text of a table and compares the results.
fn check(here: &TimeContext, cases: &[(&str, &str)]) {
    let found: Vec<(&str, String)> = cases
        .iter()
        .map(|(text, _)| (*text, reported(time_parse::read(text, here), here)))
        .collect();
    let expected: Vec<(&str, String)> =
        cases.iter().map(|(text, expected)| (*text, (*expected).to_owned())).collect();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn words_for_days_are_read() {
    check(
        &here(WEDNESDAY, "Europe/Berlin"),
        &[
            ("today", "Wed 2026-02-04"),
            ("tomorrow", "Thu 2026-02-05"),
            ("Yesterday", "Tue 2026-02-03"),
            ("the day after tomorrow", "Fri 2026-02-06"),
            ("day before yesterday", "Mon 2026-02-02"),
            ("now", "Wed 2026-02-04 10h07 = 2026-02-04T09:07:00Z"),
            ("tomorrow 9am", "Thu 2026-02-05 09h00 = 2026-02-05T08:00:00Z"),
            ("9am tomorrow", "Thu 2026-02-05 09h00 = 2026-02-05T08:00:00Z"),
            (" Tomorrow at 9:30", "Thu 2026-02-05 09h30 = 2026-02-05T08:30:00Z"),
            ("tomorrow, 18h05", "Thu 2026-02-05 18h05 = 2026-02-05T17:05:00Z"),
            ("tomorrow noon", "Thu 2026-02-05 12h00 = 2026-02-05T11:00:00Z"),
            ("tomorrow 9:30 +05:30", "Thu 2026-02-05 05h00 = 2026-02-05T04:00:00Z"),
            ("tomorrow 9am America/New_York", "Thu 2026-02-05 15h00 = 2026-02-05T14:00:00Z"),
            // A bare time of day is today's, even if it has passed.
            ("9am", "Wed 2026-02-04 09h00 = 2026-02-04T08:00:00Z"),
            ("6 pm", "Wed 2026-02-04 18h00 = 2026-02-04T17:00:00Z"),
            ("6.30PM", "Wed 2026-02-04 18h30 = 2026-02-04T17:30:00Z"),
            ("12am", "Wed 2026-02-04 00h00 = 2026-02-03T23:00:00Z"),
            ("12pm", "Wed 2026-02-04 12h00 = 2026-02-04T11:00:00Z"),
            ("24:00", "Thu 2026-02-05 00h00 = 2026-02-04T23:00:00Z"),
            ("18:05:30", "Wed 2026-02-04 18h05 = 2026-02-04T17:05:30Z"),
            // A bare weekday is the next one; today counts until its time has passed.
            ("friday", "Fri 2026-02-06"),
            ("on Fri at 14:00", "Fri 2026-02-06 14h00 = 2026-02-06T13:00:00Z"),
            ("tues", "Tue 2026-02-10"),
            ("wed", "Wed 2026-02-04"),
            ("wed 11am", "Wed 2026-02-04 11h00 = 2026-02-04T10:00:00Z"),
            ("wed 9am", "Wed 2026-02-11 09h00 = 2026-02-11T08:00:00Z"),
            ("this friday", "Fri 2026-02-06"),
            // "next" means next week, which starts on Monday.
            ("next tue 14:00", "Tue 2026-02-10 14h00 = 2026-02-10T13:00:00Z"),
            ("next friday", "Fri 2026-02-13"),
            ("next wed", "Wed 2026-02-11"),
            ("next sunday", "Sun 2026-02-15"),
            ("last tue", "Tue 2026-02-03"),
            ("last wed", "Wed 2026-01-28"),
            ("last friday", "Fri 2026-01-30"),
            ("next week", "Mon 2026-02-09"),
            ("this week", "Mon 2026-02-02"),
            ("last month", "Thu 2026-01-01"),
            ("next year", "Fri 2027-01-01"),
            // Without a year, the nearest date is meant.
            ("5 june", "Fri 2026-06-05"),
            ("June 5th", "Fri 2026-06-05"),
            ("the 5th of june", "Fri 2026-06-05"),
            ("1 dec", "Mon 2025-12-01"),
            ("next 1 dec", "Tue 2026-12-01"),
            ("last 5 june", "Thu 2025-06-05"),
            ("march", "Sun 2026-03-01"),
            ("Fri, 5 june", "Fri 2026-06-05"),
            ("june 5, 2027 at 14:00", "Sat 2027-06-05 14h00 = 2027-06-05T12:00:00Z"),
            ("Saturday, June 5, 2027", "Sat 2027-06-05"),
            ("29 feb 2028", "Tue 2028-02-29"),
            ("march 2027", "Mon 2027-03-01"),
        ],
    );
}

#[test]
fn relative_times_are_read() {
    check(
        &here(WEDNESDAY, "Europe/Berlin"),
        &[
            ("+7d", "Wed 2026-02-11"),
            ("7d", "Wed 2026-02-11"),
            ("in 3 days", "Sat 2026-02-07"),
            ("3 days ago", "Sun 2026-02-01"),
            ("-2w", "Wed 2026-01-21"),
            ("in a week", "Wed 2026-02-11"),
            ("+1mo", "Wed 2026-03-04"),
            ("in 2 months", "Sat 2026-04-04"),
            ("+1y", "Thu 2027-02-04"),
            ("+2d 14:00", "Fri 2026-02-06 14h00 = 2026-02-06T13:00:00Z"),
            ("in 2 days at 9am", "Fri 2026-02-06 09h00 = 2026-02-06T08:00:00Z"),
            ("+3h", "Wed 2026-02-04 13h07 = 2026-02-04T12:07:00Z"),
            ("in an hour", "Wed 2026-02-04 11h07 = 2026-02-04T10:07:00Z"),
            ("in 90 minutes", "Wed 2026-02-04 11h37 = 2026-02-04T10:37:00Z"),
            ("+1h30m", "Wed 2026-02-04 11h37 = 2026-02-04T10:37:00Z"),
            ("3 hours ago", "Wed 2026-02-04 07h07 = 2026-02-04T06:07:00Z"),
            ("-45m", "Wed 2026-02-04 09h22 = 2026-02-04T08:22:00Z"),
            ("+1d 2h", "Thu 2026-02-05 12h07 = 2026-02-05T11:07:00Z"),
        ],
    );
    // Short months end earlier; leap days exist only in leap years.
    check(
        &here("2028-01-31T12:00:00Z", "UTC"),
        &[
            ("+1mo", "Tue 2028-02-29"),
            ("+1y", "Wed 2029-01-31"),
            ("29 feb", "Tue 2028-02-29"),
            ("2028-02-29", "Tue 2028-02-29"),
            ("in 29 days", "Tue 2028-02-29"),
        ],
    );
}

#[test]
fn written_dates_and_times_are_read() {
    check(
        &here(WEDNESDAY, "Europe/Berlin"),
        &cases! {
            "2026-02-03 18h05", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "Tue 2026-02-03 18h05", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "tuesday, 2026-02-03 18:05", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-02-03", "Tue 2026-02-03";
            "Tue 2026-02-03", "Tue 2026-02-03";
            "2026-02-03T18:05", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-02-03T18:05:00", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-02-03 18:05", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-02-03 6:05pm", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-2-3 9:05", "Tue 2026-02-03 09h05 = 2026-02-03T08:05:00Z";
            "2026-02-03 24:00", "Wed 2026-02-04 00h00 = 2026-02-03T23:00:00Z";
            "20260203T180500Z", "Tue 2026-02-03 19h05 = 2026-02-03T18:05:00Z";
            "2026-02-03T18:05:00Z", "Tue 2026-02-03 19h05 = 2026-02-03T18:05:00Z";
            "2026-02-03 18h05 Z", "Tue 2026-02-03 19h05 = 2026-02-03T18:05:00Z";
            "2026-02-03T18:05:00+05:30", "Tue 2026-02-03 13h35 = 2026-02-03T12:35:00Z";
            "2026-02-03 18:05 +0530", "Tue 2026-02-03 13h35 = 2026-02-03T12:35:00Z";
            "2026-02-03T18:05:00.5Z", "Tue 2026-02-03 19h05 = 2026-02-03T18:05:00.5Z";
            "2026-02-03T18:05[America/New_York]", "Wed 2026-02-04 00h05 = 2026-02-03T23:05:00Z";
            "2026-02-03T18:05-05:00[america/new_york]",
                "Wed 2026-02-04 00h05 = 2026-02-03T23:05:00Z";
            "2026-02-03 18h05 America/New_York", "Wed 2026-02-04 00h05 = 2026-02-03T23:05:00Z";
            "2026-02-03T18h05", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-03", "Sun 2026-03-01";
            "2026", "Thu 2026-01-01";
        },
    );
}

#[test]
fn skipped_and_repeated_times_follow_rfc_5545() {
    check(
        &here(WEDNESDAY, "Europe/Berlin"),
        &cases! {
            "2026-03-29 01h59", "Sun 2026-03-29 01h59 = 2026-03-29T00:59:00Z";
            "2026-03-29 02h00",
                "2026-03-29 02h00 does not exist in Europe/Berlin: clocks go from 2026-03-29 02h00 \
                 to 03h00 then: give a time before 02h00, or 03h00 or later";
            "2026-03-29T02:30:00",
                "2026-03-29 02h30 does not exist in Europe/Berlin: clocks go from 2026-03-29 02h00 \
                 to 03h00 then: give a time before 02h00, or 03h00 or later";
            "2026-03-29 03h00", "Sun 2026-03-29 03h00 = 2026-03-29T01:00:00Z";
            // An ambiguous time is the first of the two, unless the offset says which.
            "2026-10-25 02h30", "Sun 2026-10-25 02h30 +0200 = 2026-10-25T00:30:00Z";
            "2026-10-25T02:30+02:00", "Sun 2026-10-25 02h30 +0200 = 2026-10-25T00:30:00Z";
            "2026-10-25T02:30+01:00", "Sun 2026-10-25 02h30 +0100 = 2026-10-25T01:30:00Z";
            "2026-10-25T02:30+01:00[Europe/Berlin]", "Sun 2026-10-25 02h30 +0100 = 2026-10-25T01:30:00Z";
            "2026-10-25 02h30 +0100", "Sun 2026-10-25 02h30 +0100 = 2026-10-25T01:30:00Z";
            "2026-03-08 02h30 America/New_York",
                "2026-03-08 02h30 does not exist in America/New_York: clocks go from 2026-03-08 \
                 02h00 to 03h00 then: give a time before 02h00, or 03h00 or later";
        },
    );
    check(
        &here(WEDNESDAY, "America/New_York"),
        &[("2026-11-01 01h30", "Sun 2026-11-01 01h30 -0400 = 2026-11-01T05:30:00Z")],
    );
    // The southern hemisphere changes in the opposite direction.
    check(
        &here(WEDNESDAY, "Australia/Sydney"),
        &cases! {
            "2026-10-04 02h30",
                "2026-10-04 02h30 does not exist in Australia/Sydney: clocks go from 2026-10-04 \
                 02h00 to 03h00 then: give a time before 02h00, or 03h00 or later";
            "2026-04-05 02h30", "Sun 2026-04-05 02h30 +1100 = 2026-04-04T15:30:00Z";
            "2026-04-05T02:30+10:00", "Sun 2026-04-05 02h30 +1000 = 2026-04-04T16:30:00Z";
        },
    );
    check(
        &here(WEDNESDAY, "Australia/Lord_Howe"),
        &[(
            "2026-10-04 02h15",
            "2026-10-04 02h15 does not exist in Australia/Lord_Howe: clocks go from 2026-10-04 \
             02h00 to 02h30 then: give a time before 02h00, or 02h30 or later",
        )],
    );
    // Zones that skip midnight, or a whole day.
    check(
        &here(WEDNESDAY, "America/Sao_Paulo"),
        &cases! {
            "2018-11-04", "Sun 2018-11-04";
            "2018-11-04 0:00",
                "2018-11-04 00h00 does not exist in America/Sao_Paulo: clocks go from 2018-11-04 \
                 00h00 to 01h00 then: give a time before 00h00, or 01h00 or later";
        },
    );
    check(
        &here(WEDNESDAY, "Pacific/Apia"),
        &[(
            "2011-12-30 10:00",
            "2011-12-30 10h00 does not exist in Pacific/Apia: clocks go from 2011-12-30 00h00 to \
             2011-12-31 00h00 then: give a time before 00h00, or 2011-12-31 00h00 or later",
        )],
    );
    // Hours are exact, days keep the time of day. It is 01h30 on the day of the change.
    check(
        &here("2026-03-29T00:30:00Z", "Europe/Berlin"),
        &cases! {
            "+3h", "Sun 2026-03-29 05h30 = 2026-03-29T03:30:00Z";
            "in 45 minutes", "Sun 2026-03-29 03h15 = 2026-03-29T01:15:00Z";
            "-24h", "Sat 2026-03-28 01h30 = 2026-03-28T00:30:00Z";
            "+1d", "Mon 2026-03-30";
            "2:30",
                "2026-03-29 02h30 does not exist in Europe/Berlin: clocks go from 2026-03-29 02h00 \
                 to 03h00 then: give a time before 02h00, or 03h00 or later";
        },
    );
    // "Today" depends on the zone: in Auckland it is already Thursday, in Honolulu still Tuesday.
    check(
        &here("2026-02-04T11:30:00Z", "Pacific/Auckland"),
        &[("today", "Thu 2026-02-05"), ("9am", "Thu 2026-02-05 09h00 = 2026-02-04T20:00:00Z")],
    );
    check(
        &here("2026-02-04T09:30:00Z", "Pacific/Honolulu"),
        &[
            ("today", "Tue 2026-02-03"),
            ("next tue", "Tue 2026-02-10"),
            ("tomorrow 23:30", "Wed 2026-02-04 23h30 = 2026-02-05T09:30:00Z"),
        ],
    );
}

const FORMS: &str = "write it as `2026-02-03 18h05`, `2026-02-03`, `tomorrow 9am`, `next tue \
                     14:00`, `+7d`, `+3h` or in RFC 3339";

#[test]
fn unclear_times_are_refused() {
    let here = here(WEDNESDAY, "Europe/Berlin");
    for text in [
        "morgen",
        "tomorrow morning",
        "tomorrow 9am bananas",
        "friday monday",
        "sunburn",
        "2026-02-03 x",
        "2026-02-03T18:05 Europe/Berlin or so",
        "at 9",
        "1770138300",
        "2026-02-03-04",
        "3 mickeys",
        "--3d",
        "+-3d",
        "in",
        "next",
        "🙂",
        "2026-02-03+01:00",
        "next day",
        "week",
    ] {
        assert_eq!(
            reported(time_parse::read(text, &here), &here),
            format!("`{text}` is not a time: {FORMS}"),
        );
    }
    check(
        &here,
        &cases! {
            "Mon 2026-02-03 18h05",
                "`Mon 2026-02-03 18h05`: that day is Tue 2026-02-03: correct the weekday or the \
                 date";
            "monday, 5 june",
                "`monday, 5 june`: that day is Fri 2026-06-05: correct the weekday or the date";
            "2026-02-30", "`2026-02-30`: there is no day 2026-02-30: that month ends on 2026-02-28";
            "2026-02-29T10:00",
                "`2026-02-29T10:00`: there is no day 2026-02-29: that month ends on 2026-02-28";
            "2026-13-01 9am",
                "`2026-13-01 9am`: there is no day 2026-13-01: give an existing day, such as \
                 `2026-02-28`";
            "31 june",
                "`31 june`: there is no day 31 june: give an existing day, such as `2026-02-28`";
            "03/04/2026",
                "`03/04/2026`: such dates mean different days in different countries: write the \
                 date as `2026-04-03`";
            "tomorrow 25:00", "`25:00` is not a time of day: write it as `18h05`, `18:05` or \
                               `6:05pm`";
            "13 pm", "`13 pm` is not a time of day: write it as `18h05`, `18:05` or `6:05pm`";
            "tomorrow midnight",
                "`midnight` could be either end of the day: write `00:00` for its start, or `24:00`";
            "9am to 10am",
                "`9am to 10am` has two times of day: give one time, and the end separately";
            "18h",
                "`18h`: that could be a time of day or a duration: write `+18h`, or the minutes as \
                 in `18h00`";
            "+3h 14:00",
                "`+3h 14:00` gives the time twice: count days, as in `+2d 14:00`, or leave out the \
                 time of day";
            "next week 9am",
                "`next week 9am` gives one time for several days: name the day, as in `next tue \
                 14:00`";
            "2026-02-03T18:05[Europe/Berln]",
                "there is no time zone `Europe/Berln`: did you mean `Europe/Berlin`?";
            "2026-02-03T18:05+02:00[Europe/Berlin]",
                "+02:00 contradicts Europe/Berlin, which is at +01:00 then: leave one out";
            "+9999y", "`+9999y`: that is out of range";
        },
    );
    assert_eq!(
        reported(time_parse::read(" \u{200b} ", &here), &here),
        format!("a time is empty: {FORMS}")
    );
}

#[test]
fn offset_that_contradicts_its_zone_is_refused() {
    let here = TimeContext { named: true, ..here(WEDNESDAY, "Europe/Berlin") };
    check(
        &here,
        &cases! {
            "2026-02-03T18:05", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-02-03T18:05+01:00", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-07-03T18:05+02:00", "Fri 2026-07-03 18h05 = 2026-07-03T16:05:00Z";
            "2026-02-03T18:05+02:00",
                "+02:00 contradicts Europe/Berlin, which is at +01:00 then: leave one out";
            "2026-02-03T18:05Z",
                "+00:00 contradicts Europe/Berlin, which is at +01:00 then: leave one out";
            // A time in a gap with the offset before it.
            "2026-03-29T02:30+01:00",
                "+01:00 contradicts Europe/Berlin, which is at +02:00 then: leave one out";
            "2026-10-25T02:30+02:00", "Sun 2026-10-25 02h30 +0200 = 2026-10-25T00:30:00Z";
            "2026-10-25T02:30+01:00", "Sun 2026-10-25 02h30 +0100 = 2026-10-25T01:30:00Z";
            // Another zone with the same time.
            "2026-02-03T18:05[Europe/Paris]", "Tue 2026-02-03 18h05 = 2026-02-03T17:05:00Z";
            "2026-02-03T18:05[America/New_York]",
                "America/New_York contradicts Europe/Berlin, which is at +01:00 then: leave one out";
        },
    );
}

#[test]
fn range_ends_include_the_whole_period() {
    let here = here(WEDNESDAY, "Europe/Berlin");
    for (text, expected) in [
        ("next week", "Sun 2026-02-15"),
        ("this month", "Sat 2026-02-28"),
        ("last year", "Wed 2025-12-31"),
        ("march", "Tue 2026-03-31"),
        ("2028-02", "Tue 2028-02-29"),
        ("2026", "Thu 2026-12-31"),
        ("friday", "Fri 2026-02-06"),
        ("fri 14:00", "Fri 2026-02-06 14h00 = 2026-02-06T13:00:00Z"),
    ] {
        assert_eq!(reported(time_parse::last(text, &here), &here), expected, "{text}");
    }
    // A day is whole; it has 23 hours when the clocks go forward.
    let day = ParsedTime::Day(date(2026, 3, 29));
    assert_eq!(day.first(&here.zone).to_string(), "2026-03-28T23:00:00Z");
    assert_eq!(day.over(&here.zone).to_string(), "2026-03-29T22:00:00Z");
}

#[test]
fn event_ends_are_read_from_the_start() {
    let here = here(WEDNESDAY, "Europe/Berlin");
    let start = time_parse::read("fri 14:00", &here).unwrap();
    for (text, expected) in [
        ("18h50", "Fri 2026-02-06 18h50 = 2026-02-06T17:50:00Z"),
        ("3pm", "Fri 2026-02-06 15h00 = 2026-02-06T14:00:00Z"),
        ("24:00", "Sat 2026-02-07 00h00 = 2026-02-06T23:00:00Z"),
        ("+1h", "Fri 2026-02-06 15h00 = 2026-02-06T14:00:00Z"),
        ("+90m", "Fri 2026-02-06 15h30 = 2026-02-06T14:30:00Z"),
        ("+1d 15:00", "Sat 2026-02-07 15h00 = 2026-02-07T14:00:00Z"),
        ("tomorrow 15:00", "Thu 2026-02-05 15h00 = 2026-02-05T14:00:00Z"),
        ("2026-02-08", "Sun 2026-02-08"),
    ] {
        assert_eq!(reported(time_parse::end(text, start, &here), &here), expected, "{text}");
    }
}

#[test]
fn times_read_become_days_and_moments() {
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let here = here(WEDNESDAY, "europe/berlin");
    let moment = |text: &str| time_parse::read(text, &here).unwrap().when().zoned(&berlin);
    assert_eq!(moment("2026-02-03"), ZonedTime::Day(date(2026, 2, 3)));
    let at = |date: jiff::civil::Date, hour, minute, zone: &str| {
        ZonedTime::At(date.at(hour, minute, 0, 0), zone.to_owned())
    };
    assert_eq!(moment("2026-02-03 18h05"), at(date(2026, 2, 3), 18, 5, "Europe/Berlin"));
    // The second 02h30 can only be written in UTC.
    assert_eq!(moment("2026-10-25T02:30+02:00"), at(date(2026, 10, 25), 2, 30, "Europe/Berlin"));
    let second = moment("2026-10-25T02:30+01:00");
    assert_eq!(second, at(date(2026, 10, 25), 1, 30, "UTC"));
    assert_eq!(second.when(), EventTime::At("2026-10-25T01:30:00Z".parse().unwrap()));
}

#[test]
fn durations_are_read_in_minutes() {
    for (text, expected) in [
        ("30m", Ok(30)),
        ("90", Ok(90)),
        ("0", Ok(0)),
        ("1h30m", Ok(90)),
        ("1h 30m", Ok(90)),
        ("1h30", Ok(90)),
        ("1:30", Ok(90)),
        ("1.5h", Ok(90)),
        ("1 hour 30 minutes", Ok(90)),
        ("1 hour and 30 minutes", Ok(90)),
        ("an hour", Ok(60)),
        ("45 min", Ok(45)),
        ("2 hrs", Ok(120)),
        ("2 days", Ok(2880)),
        ("1w", Ok(10080)),
        ("PT1H30M", Ok(90)),
        ("P1D", Ok(1440)),
        ("120s", Ok(2)),
        ("8784h", Ok(527_040)),
        ("", Err("not a duration")),
        ("soon", Err("not a duration")),
        ("1:75", Err("not a duration")),
        ("2 months", Err("not a duration")),
        ("30m later", Err("not a duration")),
        ("-30m", Err("negative")),
        ("367d", Err("longer than a year")),
        ("99999999999999999999999", Err("longer than a year")),
        ("90s", Err("not a whole number of minutes")),
    ] {
        let found = time_parse::minutes(text).map_err(|error| error.to_string());
        let expected = expected.map_err(|why: &str| {
            format!("`{text}` is {why}: write it as `30m`, `1h30m`, `2 days`, or in minutes")
        });
        assert_eq!(found, expected, "{text}");
    }
}

/// At the ends of the supported range, words are read or refused without a panic.
#[test]
fn times_at_the_calendars_limits_are_handled() {
    for now in [Timestamp::MIN, Timestamp::MAX] {
        for zone in ZONES {
            let here = TimeContext { now, ..here(WEDNESDAY, zone) };
            for text in [
                "today", "tomorrow", "yesterday", "now", "friday", "next mon", "last sun",
                "next week", "last week", "next month", "last year", "next year", "5 june",
                "29 feb", "+1d", "-1d", "+3h", "-3h", "24:00", "9am", "fri 9am",
                "day after tomorrow", "9999-12-31", "9999-12-31 24:00", "9999-12-31T23:59:59Z",
                "0000-01-01", "-009999-01-01T00:00Z", "december", "+9999y", "-9999y",
            ] {
                if let Ok(parsed) = time_parse::read(text, &here) {
                    let _ = (parsed.formatted(&here.zone), parsed.when().zoned(&here.zone));
                    let _ = (parsed.first(&here.zone), parsed.over(&here.zone));
                }
                let _ = time_parse::last(text, &here);
            }
        }
    }
    let here = TimeContext { now: Timestamp::MAX, ..here(WEDNESDAY, "UTC") };
    assert_eq!(reported(time_parse::read("+2d", &here), &here), "`+2d`: that is out of range");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text, at any time, is read or refused without a panic.
    #[test]
    fn no_time_text_makes_reading_panic(
        text in hostile(),
        second in Timestamp::MIN.as_second()..=Timestamp::MAX.as_second(),
        zone in proptest::sample::select(ZONES),
        named in any::<bool>(),
    ) {
        let here = TimeContext {
            now: Timestamp::from_second(second).unwrap(),
            zone: TimeZone::get(zone).unwrap(),
            named,
        };
        if let Ok(parsed) = time_parse::read(&text, &here) {
            let _ = (parsed.formatted(&here.zone), parsed.when().zoned(&here.zone));
            let _ = (parsed.first(&here.zone), parsed.over(&here.zone));
            let _ = time_parse::end(&text, parsed, &here);
        }
        let _ = time_parse::last(&text, &here);
        let _ = time_parse::minutes(&text);
        let _ = time_parse::zone(&text);
    }

    /// Written times read back unchanged.
    #[test]
    fn written_times_read_back_unchanged(
        // From 1970 to about 2099: years that calendars use.
        minute in 0_i64..68_000_000,
        now in 0_i64..4_000_000_000,
        zone in proptest::sample::select(ZONES),
    ) {
        let at = Timestamp::from_second(minute * 60).unwrap();
        let here = TimeContext {
            now: Timestamp::from_second(now).unwrap(),
            zone: TimeZone::get(zone).unwrap(),
            named: true,
        };
        let local = here.zone.to_datetime(at);
        // Old offsets have seconds, which are not shown.
        prop_assume!(local.second() == 0);
        let reported = time::start(EventTime::At(at), &here.zone);
        let parsed = time_parse::read(&reported, &here).unwrap();
        // A time in a repeated hour is written with its offset.
        prop_assert_eq!(parsed, ParsedTime::At(local, at));
        prop_assert_eq!(parsed.formatted(&here.zone), reported);
        // The local time elsewhere may follow it.
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        let beside = time::start_beside(EventTime::At(at), &here.zone, &tokyo);
        prop_assert_eq!(time_parse::read(&beside, &here), Ok(parsed));
        let day = time::start(EventTime::Day(local.date()), &here.zone);
        prop_assert_eq!(time_parse::read(&day, &here), Ok(ParsedTime::Day(local.date())));
        // With its offset, the text names the exact instant.
        let exact = local.to_string() + &here.zone.to_offset(at).to_string();
        prop_assert_eq!(time_parse::read(&exact, &here), Ok(ParsedTime::At(local, at)), "{}", exact);
    }
}

const ZONES: &[&str] = &[
    "UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/Sao_Paulo",
    "America/St_Johns", "Asia/Kolkata", "Asia/Kathmandu", "Africa/Casablanca",
    "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham",
];

/// Pieces of times in any combination, and arbitrary characters.
fn hostile() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "next", "last", "this", "tue", "friday", "today", "tomorrow", "now", "in", "ago", "+", "-",
        "7", "d", "3h", "9999", "2026-02-03", "T", "18h05", "18:05", ":", "Z", "+01:00", "-23:59",
        "[Europe/Berlin]", "9am", "pm", "feb", "29", "5th", "week", "month", "year", "noon",
        "24:00", "99999999999", "P1Y", "PT", ".", "/", "a", "and", "-009999-01-01", "9999-12-31",
        "Europe/Berlin", "\u{202e}", "é", "1e9",
    ];
    let pieces = proptest::collection::vec(proptest::sample::select(PIECES), 0..6);
    let joined = (pieces, proptest::sample::select(&["", " "][..]))
        .prop_map(|(pieces, between)| pieces.join(between));
    prop_oneof![3 => joined, 1 => any::<String>(), 1 => "[0-9a-z:+ -]{0,24}"]
}

/// Days named in mail that was written on Wednesday, 2026-11-18.
#[test]
fn days_named_in_texts_are_found() {
    let written = date(2026, 11, 18);
    let none: &[&str] = &[];
    for (text, expected) in [
        ("Contract until 2026-11-20: please sign", &["2026-11-20"][..]),
        ("Frist 20.11.", &["2026-11-20"]),
        ("am 20.11.2026.", &["2026-11-20"]),
        ("Due 20 November", &["2026-11-20"]),
        ("Due Nov 20th, 2026, at 18:05", &["2026-11-20"]),
        ("bis zum 20. November", &["2026-11-20"]),
        ("avant le 20 novembre", &["2026-11-20"]),
        ("el 20 de noviembre de 2026", &["2026-11-20"]),
        ("entro il 20 novembre", &["2026-11-20"]),
        ("1er décembre", &["2026-12-01"]),
        ("5 January", &["2027-01-05"]),
        ("2026-11-20T10:00 or 11/25/2026", &["2026-11-20", "2026-11-25"]),
        ("Lunch tomorrow?", &["2026-11-19"]),
        ("Bis morgen!", &["2026-11-19"]),
        ("Réponse demain", &["2026-11-19"]),
        ("hasta mañana", &["2026-11-19"]),
        ("entro domani", &["2026-11-19"]),
        ("aujourd\u{2019}hui", &["2026-11-18"]),
        ("by Friday, please", &["2026-11-20"]),
        ("Freitag", &["2026-11-20"]),
        ("vendredi", &["2026-11-20"]),
        ("next Friday", &["2026-11-27"]),
        // A weekday with its date is one day.
        ("Friday, 27 November", &["2026-11-27"]),
        // None of these texts names a day.
        ("Guten Morgen", none),
        ("esta mañana", none),
        ("last Friday; vendredi dernier", none),
        ("3/4/2026 means two days", none),
        ("version 2.11, 10.0.0.1, 1.2.3-4, 31 February, and 20 May-flowers", none),
        ("We may meet 20 people in March", none),
        ("20:11 2026 99.99. 2026-13-45 --- ... // 1/2", none),
    ] {
        let found: Vec<String> =
            time_parse::mentioned(text, written).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{text}");
    }
}

proptest! {
    #[test]
    fn looking_for_days_in_any_text_never_panics(text in "(\\PC|[0-9./T -]|mai|friday|next ){0,60}") {
        time_parse::mentioned(&text, date(9999, 12, 30));
        time_parse::mentioned(&text, date(-9999, 1, 1));
    }
}
