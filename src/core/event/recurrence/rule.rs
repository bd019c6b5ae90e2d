//! The value of `RRULE` (RFC 5545, 3.3.10): parsing, checking, writing.
//!
//! Parsing is our own because the library truncates large numbers and skips unknown parts. The
//! parsed parts are of the library's type, so that it can expand them.

use std::fmt::Write as _;

use calcard::icalendar::{
    ICalendarDay, ICalendarFrequency, ICalendarMonth, ICalendarRecurrenceRule, ICalendarWeekday,
};
use jiff::civil::{Date, DateTime, Time};

use crate::error::{Error, Result};

/// The days of the week as written in rules, Monday first.
pub const DAYS: [(&str, ICalendarWeekday); 7] = [
    ("MO", ICalendarWeekday::Monday),
    ("TU", ICalendarWeekday::Tuesday),
    ("WE", ICalendarWeekday::Wednesday),
    ("TH", ICalendarWeekday::Thursday),
    ("FR", ICalendarWeekday::Friday),
    ("SA", ICalendarWeekday::Saturday),
    ("SU", ICalendarWeekday::Sunday),
];

/// Frequencies that no calendar supports.
const TOO_OFTEN: [&str; 3] = ["HOURLY", "MINUTELY", "SECONDLY"];

/// Refuses a rule with a frequency that no calendar supports. A rule from an outside source may have
/// other faults, which are left to the service.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument).
pub fn check_frequency(rule: &str) -> Result<()> {
    let frequency = rule.split(';').find_map(|part| part.strip_prefix("FREQ="));
    match frequency.filter(|frequency| TOO_OFTEN.contains(frequency)) {
        Some(frequency) => Err(too_often(frequency)),
        None => Ok(()),
    }
}

fn too_often(frequency: &str) -> Error {
    Error::argument(format!(
        "the rule repeats more often than daily (FREQ={frequency}), which calendars do not support"
    ))
    .next("use FREQ=DAILY with BYHOUR, or single events")
}

/// The maximum length of a rule in bytes.
const MAX_RULE: usize = 2_000;

/// The maximum number of times of day in a rule, enough for every quarter of an hour.
const TIMES: usize = 96;

/// The end of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleEnd {
    /// The end of this day.
    Day(Date),
    /// This local time.
    Local(DateTime),
    /// This time in UTC.
    Utc(DateTime),
}

/// A parsed rule. `until` is separate from the library's parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecurrenceRule {
    /// All parts except `UNTIL`.
    pub parts: ICalendarRecurrenceRule,
    /// `UNTIL`.
    pub until: Option<RuleEnd>,
    /// The names of non-standard parts; always empty for a rule parsed strictly.
    pub unknown: Vec<String>,
}

impl RecurrenceRule {
    /// Parses a rule. A prefix `RRULE:` is removed.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) for a rule that RFC 5545 does not
    /// allow, or that repeats within a day by its frequency.
    pub fn read(text: &str) -> Result<Self> {
        Self::parse(text, true)
    }

    /// Parses a rule from an outside source: unknown parts are recorded and skipped, and `COUNT`
    /// together with `UNTIL` is allowed.
    pub fn foreign(text: &str) -> Option<Self> {
        Self::parse(text, false).ok()
    }

    fn parse(text: &str, strict: bool) -> Result<Self> {
        if text.len() > MAX_RULE {
            return Err(wrong("is too long"));
        }
        let text = text.trim().to_ascii_uppercase();
        let text = text.strip_prefix("RRULE:").unwrap_or(&text);
        let parts = ICalendarRecurrenceRule::default();
        let mut rule = Self { parts, until: None, unknown: Vec::new() };
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(wrong(format!("has a part without `=`: `{}`", excerpt(part))));
            };
            let (name, value) = (name.trim(), value.trim());
            // RFC 5545, 3.3.10: each part may be given only once.
            if seen.contains(&name) {
                return Err(wrong(format!("has {} twice", excerpt(name))));
            }
            seen.push(name);
            rule.set_part(name, value, strict)?;
        }
        if !seen.contains(&"FREQ") {
            return Err(wrong("has no FREQ"));
        }
        rule.tidy();
        rule.check(strict)?;
        Ok(rule)
    }

    /// Sets a part of the rule, such as `FREQ`.
    fn set_part(&mut self, name: &str, value: &str, strict: bool) -> Result<()> {
        let parts = &mut self.parts;
        match name {
            "FREQ" => {
                parts.freq = match value {
                    "YEARLY" => ICalendarFrequency::Yearly,
                    "MONTHLY" => ICalendarFrequency::Monthly,
                    "WEEKLY" => ICalendarFrequency::Weekly,
                    "DAILY" => ICalendarFrequency::Daily,
                    _ if TOO_OFTEN.contains(&value) => return Err(too_often(value)),
                    _ => return Err(odd(name, value)),
                }
            }
            "UNTIL" => self.until = Some(until(value).ok_or_else(|| odd(name, value))?),
            "COUNT" => parts.count = Some(number(name, value, 1, 1_000_000)?),
            "INTERVAL" => parts.interval = Some(number(name, value, 1, 10_000)?),
            "BYSECOND" => parts.bysecond = numbers(name, value, 0, 59, true)?,
            "BYMINUTE" => parts.byminute = numbers(name, value, 0, 59, true)?,
            "BYHOUR" => parts.byhour = numbers(name, value, 0, 23, true)?,
            "BYMONTHDAY" => parts.bymonthday = numbers(name, value, -31, 31, false)?,
            "BYYEARDAY" => parts.byyearday = numbers(name, value, -366, 366, false)?,
            "BYWEEKNO" => parts.byweekno = numbers(name, value, -53, 53, false)?,
            "BYSETPOS" => parts.bysetpos = numbers(name, value, -366, 366, false)?,
            "BYMONTH" => {
                let months: Vec<u8> = numbers(name, value, 1, 12, false)?;
                parts.bymonth =
                    months.into_iter().map(|month| ICalendarMonth::new(month, false)).collect();
            }
            "BYDAY" => {
                parts.byday = value
                    .split(',')
                    .map(|one| day(one.trim()).ok_or_else(|| odd(name, one)))
                    .collect::<Result<_>>()?;
            }
            "WKST" => {
                let found = DAYS.iter().find(|(short, _)| *short == value);
                parts.wkst = Some(found.ok_or_else(|| odd(name, value))?.1);
            }
            _ if strict => {
                return Err(wrong(format!("has an unknown part: `{}`", excerpt(name))));
            }
            // RFC 7529: the months and days of other calendars would be misread.
            "RSCALE" if value != "GREGORIAN" => return Err(odd(name, value)),
            "RSCALE" | "SKIP" => {}
            _ if name.starts_with("X-") => {}
            _ => self.unknown.push(excerpt(name)),
        }
        Ok(())
    }

    /// Refuses combinations that RFC 5545 does not allow.
    fn check(&self, strict: bool) -> Result<()> {
        use ICalendarFrequency::{Daily, Monthly, Weekly, Yearly};
        let parts = &self.parts;
        if strict && parts.count.is_some() && self.until.is_some() {
            return Err(wrong("has both COUNT and UNTIL").next("keep one"));
        }
        if !parts.bymonthday.is_empty() && parts.freq == Weekly {
            return Err(wrong("has BYMONTHDAY with FREQ=WEEKLY").next("use FREQ=MONTHLY"));
        }
        if !parts.byyearday.is_empty() && parts.freq != Yearly {
            return Err(wrong("has BYYEARDAY without FREQ=YEARLY"));
        }
        if !parts.byweekno.is_empty() && parts.freq != Yearly {
            return Err(wrong("has BYWEEKNO without FREQ=YEARLY"));
        }
        // RFC 5545, 3.3.10: days of the week are numbered only within a month or a year, and
        // not together with BYWEEKNO.
        let nth = parts.byday.iter().filter_map(|day| day.ordwk);
        for nth in nth {
            let most = match parts.freq {
                Weekly | Daily => 0,
                Monthly => 5,
                _ if !parts.byweekno.is_empty() => 0,
                _ if !parts.bymonth.is_empty() => 5,
                _ => 53,
            };
            if nth.abs() > most {
                return Err(wrong(format!(
                    "has BYDAY with the number {nth}, which conflicts with its other parts"
                )));
            }
        }
        if self.times() > TIMES {
            return Err(wrong(format!("has more than {TIMES} times a day")));
        }
        let by_something = !(parts.bysecond.is_empty()
            && parts.byminute.is_empty()
            && parts.byhour.is_empty()
            && parts.byday.is_empty()
            && parts.bymonthday.is_empty()
            && parts.byyearday.is_empty()
            && parts.byweekno.is_empty()
            && parts.bymonth.is_empty());
        // RFC 5545, 3.3.10: BYSETPOS selects from the set that the other parts define.
        if !parts.bysetpos.is_empty() && !by_something {
            return Err(wrong("has BYSETPOS without another BY part").next("add BYDAY"));
        }
        Ok(())
    }

    /// Normalizes the rule, so that equal rules have equal texts.
    fn tidy(&mut self) {
        let parts = &mut self.parts;
        // INTERVAL=1 and WKST=MO are the defaults.
        parts.interval = parts.interval.filter(|interval| *interval > 1);
        parts.wkst = parts.wkst.filter(|day| *day != ICalendarWeekday::Monday);
        parts.byday.sort_by_key(|day| (place(day.weekday), day.ordwk));
        parts.byday.dedup();
        for list in [&mut parts.bysecond, &mut parts.byminute, &mut parts.byhour] {
            list.sort_unstable();
            list.dedup();
        }
        for list in [&mut parts.bymonthday, &mut parts.byweekno] {
            list.sort_unstable();
            list.dedup();
        }
        parts.byyearday.sort_unstable();
        parts.byyearday.dedup();
        parts.bysetpos.sort_unstable();
        parts.bysetpos.dedup();
        parts.bymonth.sort_unstable();
        parts.bymonth.dedup();
    }

    /// Returns the text of the rule, `FREQ` first.
    pub fn write(&self) -> String {
        let parts = &self.parts;
        let mut text = format!("FREQ={}", frequency(parts.freq));
        let mut add = |name: &str, value: String| {
            if !value.is_empty() {
                let _ = write!(text, ";{name}={value}");
            }
        };
        add("UNTIL", self.until.map(RuleEnd::write).unwrap_or_default());
        add("COUNT", opt(parts.count));
        add("INTERVAL", opt(parts.interval));
        add("BYSECOND", list(&parts.bysecond));
        add("BYMINUTE", list(&parts.byminute));
        add("BYHOUR", list(&parts.byhour));
        let days = parts.byday.iter().map(|day| {
            let nth = day.ordwk.map(|nth| nth.to_string()).unwrap_or_default();
            format!("{nth}{}", short(day.weekday))
        });
        add("BYDAY", days.collect::<Vec<_>>().join(","));
        add("BYMONTHDAY", list(&parts.bymonthday));
        add("BYYEARDAY", list(&parts.byyearday));
        add("BYWEEKNO", list(&parts.byweekno));
        let months: Vec<u8> = parts.bymonth.iter().map(ICalendarMonth::month).collect();
        add("BYMONTH", list(&months));
        add("BYSETPOS", list(&parts.bysetpos));
        add("WKST", parts.wkst.map(short).unwrap_or_default().to_owned());
        text
    }

    /// Returns the number of times of day in the rule.
    pub fn times(&self) -> usize {
        let parts = &self.parts;
        let lists = [&parts.byhour, &parts.byminute, &parts.bysecond];
        lists.iter().map(|list| list.len().max(1)).product()
    }

    /// Returns the rule with the parts that are implied by its start made explicit.
    #[must_use]
    pub fn explicit(mut self, start: DateTime) -> Self {
        let parts = &mut self.parts;
        let times = [
            (&mut parts.byhour, start.hour()),
            (&mut parts.byminute, start.minute()),
            (&mut parts.bysecond, start.second()),
        ];
        for (list, value) in times {
            // RFC 5545, 3.3.10: a part that is missing is taken from DTSTART.
            if list.is_empty() {
                list.extend(u8::try_from(value));
            }
        }
        let by_day = !(parts.byweekno.is_empty()
            && parts.byyearday.is_empty()
            && parts.bymonthday.is_empty()
            && parts.byday.is_empty());
        if by_day {
            return self;
        }
        match parts.freq {
            ICalendarFrequency::Yearly => {
                if parts.bymonth.is_empty() {
                    let month = u8::try_from(start.month()).unwrap_or(1);
                    parts.bymonth = vec![ICalendarMonth::new(month, false)];
                }
                parts.bymonthday = vec![start.day()];
            }
            ICalendarFrequency::Monthly => parts.bymonthday = vec![start.day()],
            ICalendarFrequency::Weekly => {
                let at = usize::try_from(start.date().weekday().to_monday_zero_offset())
                    .unwrap_or_default();
                parts.byday = DAYS
                    .get(at)
                    .map(|(_, weekday)| ICalendarDay { ordwk: None, weekday: *weekday })
                    .into_iter()
                    .collect();
            }
            _ => {}
        }
        self
    }

    /// Returns `INTERVAL`, or its default.
    pub fn interval(&self) -> i64 {
        i64::from(self.parts.interval.unwrap_or(1))
    }
}

impl RuleEnd {
    /// Returns the value as written in `UNTIL`.
    pub fn write(self) -> String {
        match self {
            Self::Day(day) => compact_day(day),
            Self::Local(at) => compact(at),
            Self::Utc(at) => format!("{}Z", compact(at)),
        }
    }
}

/// Formats `20260203`.
pub fn compact_day(day: Date) -> String {
    format!("{:04}{:02}{:02}", day.year(), day.month(), day.day())
}

/// Formats `20260203T180500`.
pub fn compact(at: DateTime) -> String {
    format!("{}T{:02}{:02}{:02}", compact_day(at.date()), at.hour(), at.minute(), at.second())
}

/// Parses a `DATE` or `DATE-TIME`. Dashes, colons and blanks are ignored.
pub fn until(text: &str) -> Option<RuleEnd> {
    let text: String = text.chars().filter(|c| !matches!(c, '-' | ':' | ' ')).collect();
    let (text, utc) = match text.strip_suffix(['Z', 'z']) {
        Some(rest) => (rest, true),
        None => (text.as_str(), false),
    };
    let (day, time) = match text.split_once(['T', 't']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let day = digits(day, 8).and_then(|n| {
        Date::new(
            i16::try_from(n / 10_000).ok()?,
            i8::try_from(n / 100 % 100).ok()?,
            i8::try_from(n % 100).ok()?,
        )
        .ok()
    })?;
    let Some(time) = time else {
        return Some(RuleEnd::Day(day));
    };
    let time = match time.len() {
        // Some programs omit the seconds.
        4 => digits(time, 4)? * 100,
        _ => digits(time, 6)?,
    };
    // A leap second counts as the second before.
    let second = i8::try_from(time % 100).ok()?;
    let time = Time::new(
        i8::try_from(time / 10_000).ok()?,
        i8::try_from(time / 100 % 100).ok()?,
        if second == 60 { 59 } else { second },
        0,
    )
    .ok()?;
    let at = day.to_datetime(time);
    Some(if utc { RuleEnd::Utc(at) } else { RuleEnd::Local(at) })
}

fn digits(text: &str, many: usize) -> Option<u32> {
    let right = text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit());
    right.then(|| text.parse().ok()).flatten()
}

fn number<T: TryFrom<i64>>(name: &str, value: &str, least: i64, most: i64) -> Result<T> {
    let number: i64 = match value.strip_prefix('+').unwrap_or(value).parse() {
        Ok(number) => number,
        Err(_) => return Err(odd(name, value)),
    };
    let number = (least..=most).contains(&number).then_some(number);
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| odd(name, value).next(format!("use {least} to {most}")))
}

fn numbers<T>(name: &str, value: &str, least: i64, most: i64, zero: bool) -> Result<Vec<T>>
where
    T: TryFrom<i64> + PartialEq + Default,
{
    let mut list = Vec::new();
    for one in value.split(',') {
        let one: T = number(name, one.trim(), least, most)?;
        if !zero && one == T::default() {
            return Err(odd(name, value));
        }
        list.push(one);
    }
    Ok(list)
}

fn day(text: &str) -> Option<ICalendarDay> {
    let at = text.len().checked_sub(2)?;
    let (nth, name) = (text.get(..at)?, text.get(at..)?);
    let weekday = DAYS.iter().find(|(short, _)| *short == name)?.1;
    let ordwk = match nth {
        "" => None,
        nth => Some(nth.parse().ok().filter(|n: &i16| *n != 0)?),
    };
    Some(ICalendarDay { ordwk, weekday })
}

/// Returns the position of a day in the week; Monday is 0.
pub fn place(day: ICalendarWeekday) -> usize {
    DAYS.iter().position(|(_, one)| *one == day).unwrap_or_default()
}

fn short(day: ICalendarWeekday) -> &'static str {
    DAYS.iter().find(|(_, one)| *one == day).map_or("MO", |(short, _)| short)
}

fn frequency(freq: ICalendarFrequency) -> &'static str {
    match freq {
        ICalendarFrequency::Yearly => "YEARLY",
        ICalendarFrequency::Monthly => "MONTHLY",
        ICalendarFrequency::Weekly => "WEEKLY",
        ICalendarFrequency::Daily => "DAILY",
        ICalendarFrequency::Hourly => "HOURLY",
        ICalendarFrequency::Minutely => "MINUTELY",
        ICalendarFrequency::Secondly => "SECONDLY",
    }
}

fn opt<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn list<T: ToString>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    values.join(",")
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::argument(format!("the rule {what}"))
        .next("write it like `FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10` (RFC 5545)")
}

fn odd(name: &str, value: &str) -> Error {
    wrong(format!("has {name} with `{}`", excerpt(value)))
}

/// Shortens part of a rule for an error.
fn excerpt(text: &str) -> String {
    crate::text::cell(text).chars().take(40).collect()
}
