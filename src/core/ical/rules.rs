//! The rules of a `VTIMEZONE` (RFC 5545, 3.6.5), converted to a time zone.
//!
//! The onsets of its observances are expanded as local times, like the rules of events, and the
//! zone is built from them in the format of IANA's zones (RFC 9636). The choice between a zone's
//! rules and its name is in `zones.rs`.

use calcard::icalendar::{ICalendarPeriod, ICalendarValue};
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::scan::IcalComponent;
use super::values::date_time;
use crate::event::recurrence::{EventRecurrence, RecurrenceRule, RuleEnd};
use crate::event::time::{self, EventTime, ZonedTime};

/// The maximum number of onsets of one observance: all since 1601, and some more.
const ONSETS: usize = 1_000;

/// The content of a `VTIMEZONE`.
#[derive(Debug, Clone)]
pub struct ZoneRules {
    /// The zone, for resolving times.
    pub zone: TimeZone,
    /// The onset of its first observance. The offset before it is unknown.
    first: Timestamp,
    /// The onset of its last observance; `None` if one of them recurs endlessly.
    last: Option<Timestamp>,
}

impl ZoneRules {
    /// Returns true if the offset at an instant is known. If the offset changes and the changes
    /// end, the rules cover only the years of some event.
    pub fn is_known_at(&self, at: Timestamp) -> bool {
        let ended = self.last.is_some_and(|last| last < at);
        self.first <= at && (!ended || self.first == self.last.unwrap_or(self.first))
    }

    /// Returns the offset of a zone that never changes.
    pub fn fixed(&self) -> Option<Offset> {
        let mut changes = changes(&self.zone, Timestamp::MIN, Timestamp::MAX);
        let offset = self.zone.to_offset(Timestamp::UNIX_EPOCH);
        changes.next().is_none().then_some(offset)
    }
}

/// Returns the zone that the observances of a `VTIMEZONE` define, correct from the first to the
/// last of `years`. `None` if an observance is incomplete, or if there are more onsets than
/// `room`, from which each onset is deducted.
pub fn read(part: &IcalComponent, years: (i16, i16), room: &mut usize) -> Option<ZoneRules> {
    let mut changes: Vec<(i64, i32, i32)> = Vec::new();
    let (mut first, mut recurs) = (i64::MAX, false);
    let observances = part.parts.iter();
    for one in observances.filter(|one| matches!(one.name.as_str(), "STANDARD" | "DAYLIGHT")) {
        let to = offset(one, "TZOFFSETTO")?;
        let from = offset(one, "TZOFFSETFROM").unwrap_or(to);
        let at = |local| time::resolve(local, &TimeZone::UTC).as_second() - i64::from(from);
        let (start, ends, onsets) = onsets(one, from, years)?;
        first = first.min(at(start));
        recurs |= !ends;
        for local in onsets {
            *room = room.checked_sub(1)?;
            changes.push((at(local), from, to));
        }
    }
    changes.sort_unstable();
    changes.dedup_by_key(|(at, ..)| *at);
    let ((_, before, _), (last, ..)) = (changes.first()?, changes.last()?);
    let data = tzif(*before, &changes)?;
    let at = |second: i64| Timestamp::from_second(second).ok();
    // Without a name, so that the zone is not mistaken for one of IANA's.
    Some(ZoneRules {
        zone: TimeZone::tzif("", &data).ok()?,
        first: at(first).unwrap_or(Timestamp::MIN),
        last: if recurs { None } else { at(*last) },
    })
}

/// Returns true if two zones have the same offset at every instant of a range.
pub fn same(one: &TimeZone, other: &TimeZone, from: Timestamp, to: Timestamp) -> bool {
    one.to_offset(from) == other.to_offset(from)
        && changes(one, from, to).eq(changes(other, from, to))
}

/// Returns the changes of a zone's offset within a range, each with its instant.
pub fn changes(
    zone: &TimeZone,
    from: Timestamp,
    to: Timestamp,
) -> impl Iterator<Item = (Timestamp, Offset)> + '_ {
    let (mut now, mut last) = (zone.to_offset(from), from);
    zone.following(from)
        .map(|change| (change.timestamp(), change.offset()))
        // For a zone without future rules, the iterator repeats the last change endlessly.
        .take_while(move |(at, _)| std::mem::replace(&mut last, *at) < *at && *at < to)
        .filter(move |(_, offset)| std::mem::replace(&mut now, *offset) != *offset)
}

/// Returns the first local time at which an observance begins, true if its onsets end, and the
/// onsets needed for `years`. `from` is the offset before an onset.
fn onsets(
    part: &IcalComponent,
    from: i32,
    years: (i16, i16),
) -> Option<(DateTime, bool, Vec<DateTime>)> {
    let local = |until: RuleEnd| match until {
        RuleEnd::Day(day) => day.at(0, 0, 0, 0),
        RuleEnd::Local(at) | RuleEnd::Utc(at) => at,
    };
    let ICalendarValue::PartialDateTime(start) =
        part.property("DTSTART")?.values().first()?.clone()
    else {
        return None;
    };
    let start = local(date_time(&start)?.0);
    let mut rule = String::new();
    let mut ends = true;
    let mut extra = Vec::new();
    for line in &part.lines {
        match line.name.as_str() {
            "RRULE" => {
                let mut read = RecurrenceRule::foreign(line.value())?;
                let many = |count| usize::try_from(count).is_ok_and(|count| count > ONSETS);
                // Expanding only some of these onsets would end the zone's rules too early.
                if read.parts.count.is_some_and(many) {
                    return None;
                }
                // RFC 5545, 3.3.10: UNTIL is in UTC here, all other times are local.
                if let Some(RuleEnd::Utc(at)) = read.until {
                    let by = SignedDuration::from_secs(i64::from(from));
                    read.until = Some(RuleEnd::Local(at.checked_add(by).ok()?));
                }
                ends = read.until.is_some() || read.parts.count.is_some();
                rule = read.write();
            }
            "RDATE" => {
                for value in line.read()?.values() {
                    let at = match value {
                        ICalendarValue::PartialDateTime(at) => at,
                        ICalendarValue::Period(
                            ICalendarPeriod::Range { start, .. }
                            | ICalendarPeriod::Duration { start, .. },
                        ) => start,
                        _ => return None,
                    };
                    let at = time::resolve(local(date_time(at)?.0), &TimeZone::UTC);
                    extra.push(EventTime::At(at));
                }
            }
            _ => {}
        }
    }
    let repeat = EventRecurrence { rule, extra, ..EventRecurrence::default() };
    let first_of = |year: i16| {
        let day = jiff::civil::Date::new(year, 1, 1).ok()?;
        Some(EventTime::Day(day).instant(&TimeZone::UTC))
    };
    // An endless observance recurs every year, so two years before the first suffice.
    let from = if ends { Timestamp::MIN } else { first_of(years.0.saturating_sub(2))? };
    let end = first_of(years.1.saturating_add(1))?;
    let begins = ZonedTime::At(start, "UTC".to_owned());
    let found = repeat.occurrences(&begins, from, end, ONSETS);
    let utc = |when: EventTime| TimeZone::UTC.to_datetime(when.instant(&TimeZone::UTC));
    Some((start, ends, found.into_iter().map(utc).collect()))
}

/// Returns the offset of the standard time of a `VTIMEZONE` without dates.
pub fn standard(part: &IcalComponent) -> Option<Offset> {
    let standard = part.parts.iter().find(|part| part.name == "STANDARD");
    let seconds = offset(standard.or_else(|| part.parts.first())?, "TZOFFSETTO")?;
    Offset::from_seconds(seconds).ok()
}

/// Parses `+0100`, `-033000` or, from some programs, `01:00`, into seconds.
fn offset(part: &IcalComponent, name: &str) -> Option<i32> {
    let line = part.lines.iter().find(|line| line.name == name)?;
    let text: String = line.value().chars().filter(|c| !matches!(c, ':' | ' ')).collect();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    if !matches!(digits.len(), 4 | 6) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |two| two.parse::<i32>().ok());
    let seconds = part(0)? * 3_600 + part(2)? * 60 + part(4)?;
    // No zone is a day or more away from UTC.
    (seconds < 86_400).then_some(sign * seconds)
}

/// Encodes a zone's changes (seconds since 1970, and the offsets before and after) as TZif
/// version 2. The block for version 1 is empty.
fn tzif(before: i32, changes: &[(i64, i32, i32)]) -> Option<Vec<u8>> {
    let mut kinds = vec![before];
    let mut places = Vec::new();
    for (_, _, to) in changes {
        let at = if let Some(at) = kinds.iter().position(|kind| kind == to) {
            at
        } else {
            kinds.push(*to);
            kinds.len() - 1
        };
        places.push(u8::try_from(at).ok()?);
    }
    let header = |times: usize, kinds: usize| -> Option<Vec<u8>> {
        let mut bytes = b"TZif2".to_vec();
        bytes.extend([0; 15]);
        for count in [0, 0, 0, times, kinds, 1] {
            bytes.extend(u32::try_from(count).ok()?.to_be_bytes());
        }
        Some(bytes)
    };
    let kind = |seconds: i32| {
        let [a, b, c, d] = seconds.to_be_bytes();
        // No daylight saving flag, and an empty designation.
        [a, b, c, d, 0, 0]
    };
    // Readers of version 2 skip the first block, but it must have one type (RFC 9636, 3.1).
    let mut bytes = header(0, 1)?;
    bytes.extend(kind(before));
    bytes.push(0);
    bytes.extend(header(places.len(), kinds.len())?);
    bytes.extend(changes.iter().flat_map(|(at, ..)| at.to_be_bytes()));
    bytes.extend(places);
    bytes.extend(kinds.into_iter().flat_map(kind));
    bytes.extend([0, b'\n', b'\n']);
    Some(bytes)
}
