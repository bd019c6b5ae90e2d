//! Times as people write them: `tomorrow 9am`, `next tue 14:00`, `+7d`, `2026-02-03 18h05`, RFC
//! 3339.
//!
//! A time is a date and a time of day, each in one of the usual forms, optionally with an offset
//! or a zone. This module combines these parts: a local time that daylight saving skips is
//! refused, of a repeated one the first is used, and an offset that contradicts the zone is
//! refused. Dates in words are in [`dates`], times of day and durations in [`clock`], dates
//! within other people's texts in [`mentioned`]. No clock is read: the current time is an
//! argument.

pub mod clock;
pub mod dates;
mod mention;
mod parsed;

use clock::ClockTime;
pub use clock::minutes;
use dates::DateWords;
use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::{Pieces, TimeZoneAnnotationKind};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Timestamp, ToSpan};
pub use mention::mentioned;
pub use parsed::{ParsedTime, TimeContext};

use crate::error::{Error, Result};
use crate::event::time;
use crate::text;

/// Forms of a time, suggested if one is not understood.
const FORMS: &str = "write it as `2026-02-03 18h05`, `2026-02-03`, `tomorrow 9am`, \
                     `next tue 14:00`, `+7d`, `+3h` or in RFC 3339";

/// The maximum length of a time in bytes.
const MAX_LEN: usize = 100;

/// Parses a time. A week, a month or a year means its first day.
///
/// A time of day without a date is today's, even if it has passed. A distance in hours or minutes
/// yields an instant, one in days yields a day.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if it is not understood or does not
/// exist.
pub fn read(text: &str, context: &TimeContext) -> Result<ParsedTime> {
    Ok(understand(text, context, None)?.0)
}

/// Parses the end of a range, like [`read`] except that a week, a month or a year means its last
/// day.
///
/// # Errors
/// As [`read`].
pub fn last(text: &str, context: &TimeContext) -> Result<ParsedTime> {
    Ok(match understand(text, context, None)? {
        (_, Some(last)) => ParsedTime::Day(last),
        (parsed, None) => parsed,
    })
}

/// Parses the end of an event that starts at `start`, like [`read`] except that a time of day
/// without a date is on the day of the start, and `+1h` or `+2d` count from the start.
///
/// # Errors
/// As [`read`].
pub fn end(text: &str, start: ParsedTime, context: &TimeContext) -> Result<ParsedTime> {
    Ok(understand(text, context, Some(start))?.0)
}

/// Returns a zone by its IANA name, in any case, or its Windows name.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) for an unknown name, with a similar
/// one if there is any.
pub fn zone(name: &str) -> Result<TimeZone> {
    // A fixed offset has no name under which an event could be written.
    if let Some(zone) = time::find_zone(name)
        && zone.iana_name().is_some()
    {
        return Ok(zone);
    }
    let error = Error::argument(format!("there is no time zone `{}`", text::brief(name)));
    Err(match near(name) {
        Some(near) => error.next(format!("did you mean `{near}`?")),
        None => error.next("use an IANA name: `Europe/Berlin`, `America/New_York`, `UTC`"),
    })
}

/// Returns the zone with the most similar name, if any is similar enough.
fn near(name: &str) -> Option<String> {
    let name: String = name.trim().chars().take(MAX_LEN).collect();
    let name = name.to_ascii_lowercase().replace(' ', "_");
    let city = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let needle = city(&name);
    jiff::tz::db()
        .available()
        .filter_map(|known| {
            let known = known.as_str().to_owned();
            let lower = known.to_ascii_lowercase();
            let other = city(&lower);
            let edits = strsim::osa_distance(&needle, &other);
            // Fewer than a third of the letters may differ; of three letters, none.
            let enough = edits * 3 < needle.len().max(other.len());
            // Among equals, the more similar region and the shorter name win.
            let order = (edits, strsim::osa_distance(&name, &lower), known.len());
            enough.then_some((order, known))
        })
        .min()
        .map(|(_, known)| known)
}

/// Returns the parsed time, and its last day if it covers several.
fn understand(
    text: &str,
    context: &TimeContext,
    start: Option<ParsedTime>,
) -> Result<(ParsedTime, Option<Date>)> {
    let line = text::cell(text);
    // A time may be copied from a row, which can have another zone's time after it.
    let line = line.split(time::BESIDE).next().unwrap_or_default().to_owned();
    if line.is_empty() {
        return Err(Error::argument("a time is empty").next(FORMS));
    }
    if line.len() > MAX_LEN {
        return Err(unclear(&line));
    }
    if let Some(parsed) = standard(&line, context)? {
        return Ok((parsed, None));
    }
    let spaced = match line.split_at_checked(10) {
        // The error should name the date if the date itself is wrong.
        Some((date, rest)) if rest.starts_with(['T', 't']) && dates::is_date(date) => {
            dates::numbers(date)
                .map_err(|error| error.context(format!("`{}`", text::brief(&line))))?;
            format!("{date} {}", rest.get(1..).unwrap_or_default())
        }
        _ => line.clone(),
    };
    let parts = TimeParts::parse(&spaced)?;
    let days = match DateWords::read(&parts.date, parts.clock, context, start) {
        Ok(Some(days)) => days,
        Ok(None) => return Err(unclear(&line)),
        Err(error) => return Err(error.context(format!("`{}`", text::brief(&line)))),
    };
    let (first, last) = match (days, parts.clock) {
        (DateWords::Days(first, last), _) => (first, last),
        (DateWords::At(at), None) if parts.offset.is_none() && parts.zone.is_none() => {
            return Ok((ParsedTime::At(context.zone.to_datetime(at), at), None));
        }
        (DateWords::At(_), _) => {
            return Err(Error::argument(format!("`{}` gives the time twice", text::brief(&line)))
                .next("count days, as in `+2d 14:00`, or leave out the time of day"));
        }
    };
    let Some(clock) = parts.clock else {
        return if parts.offset.is_some() || parts.zone.is_some() {
            Err(unclear(&line))
        } else {
            Ok((ParsedTime::Day(first), (last != first).then_some(last)))
        };
    };
    if last != first {
        return Err(Error::argument(format!(
            "`{}` gives one time for several days",
            text::brief(&line)
        ))
        .next("name the day, as in `next tue 14:00`"));
    }
    let day =
        if clock.over { first.checked_add(1.day()).map_err(|_| unclear(&line))? } else { first };
    let local = day.to_datetime(clock.time);
    Ok((exact(local, parts.offset, parts.zone, context)?, None))
}

fn unclear(text: &str) -> Error {
    Error::argument(format!("`{}` is not a time", text::brief(text))).next(FORMS)
}

/// Parses RFC 3339, RFC 9557 and ISO 8601, with or without an offset and a zone.
fn standard(line: &str, context: &TimeContext) -> Result<Option<ParsedTime>> {
    let Ok(pieces) = Pieces::parse(line) else {
        return Ok(None);
    };
    let (mut offset, mut zone) = (pieces.to_numeric_offset(), None);
    if let Some(annotation) = pieces.time_zone_annotation() {
        match annotation.kind() {
            TimeZoneAnnotationKind::Named(name) => zone = Some(self::zone(name.as_str())?),
            TimeZoneAnnotationKind::Offset(fixed) => offset = offset.or(Some(*fixed)),
            _ => return Ok(None),
        }
    }
    match pieces.time() {
        Some(time) => exact(pieces.date().to_datetime(time), offset, zone, context).map(Some),
        None if offset.is_none() => Ok(Some(ParsedTime::Day(pieces.date()))),
        None => Ok(None),
    }
}

/// The words of a time, sorted by kind.
struct TimeParts {
    date: Vec<String>,
    clock: Option<ClockTime>,
    offset: Option<Offset>,
    zone: Option<TimeZone>,
}

impl TimeParts {
    fn parse(line: &str) -> Result<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let mut parts = Self { date: Vec::new(), clock: None, offset: None, zone: None };
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            if let Some((clock, used)) = ClockTime::read(word, words.get(at + 1).copied())? {
                if parts.clock.is_some() {
                    return Err(Error::argument(format!(
                        "`{}` has two times of day",
                        text::brief(line)
                    ))
                    .next("give one time, and the end separately"));
                }
                parts.clock = Some(clock);
                at += used;
                continue;
            }
            at += 1;
            // An offset or a zone follows the time of day: before it, `+2` would be a
            // distance.
            if parts.clock.is_some() && parts.offset.is_none() && parts.zone.is_none() {
                if let Some(offset) = offset(word) {
                    parts.offset = Some(offset);
                    continue;
                }
                if word.contains('/') && word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    parts.zone = Some(zone(word)?);
                    continue;
                }
            }
            let word = word.trim_end_matches(',').to_lowercase();
            // These words carry no meaning here.
            if !matches!(word.as_str(), "" | "on" | "at" | "the" | "of") {
                parts.date.push(word);
            }
        }
        Ok(parts)
    }
}

/// Parses `+01:00`, `-0330`, `Z` or `UTC`.
fn offset(word: &str) -> Option<Offset> {
    if word.eq_ignore_ascii_case("z") || word.eq_ignore_ascii_case("utc") {
        return Some(Offset::UTC);
    }
    if word.starts_with(['+', '-']) {
        Pieces::parse(&format!("2000-01-01T00:00{word}")).ok()?.to_numeric_offset()
    } else {
        None
    }
}

/// Resolves a local time by its offset, or in the zone given with it, or in the context's zone.
fn exact(
    local: DateTime,
    offset: Option<Offset>,
    zone: Option<TimeZone>,
    context: &TimeContext,
) -> Result<ParsedTime> {
    let beyond = || Error::argument(format!("the year {} is out of range", local.year()));
    let at = match (offset, &zone) {
        (Some(offset), _) => offset.to_timestamp(local).map_err(|_| beyond())?,
        (None, Some(zone)) => resolve(local, zone)?,
        (None, None) => resolve(local, &context.zone)?,
    };
    if let (Some(offset), Some(zone)) = (offset, &zone) {
        agree(offset, &tell_offset(offset), zone, at)?;
    }
    if context.named {
        match (offset, &zone) {
            (_, Some(zone)) => agree(zone.to_offset(at), name(zone), &context.zone, at)?,
            (Some(offset), None) => agree(offset, &tell_offset(offset), &context.zone, at)?,
            (None, None) => {}
        }
    }
    Ok(ParsedTime::At(context.zone.to_datetime(at), at))
}

/// Refuses an offset, called `what`, that `zone` does not have at that instant.
fn agree(offset: Offset, what: &str, zone: &TimeZone, at: Timestamp) -> Result<()> {
    let has = zone.to_offset(at);
    if has == offset {
        return Ok(());
    }
    Err(Error::argument(format!(
        "{what} contradicts {}, which is at {} then",
        name(zone),
        tell_offset(has)
    ))
    .next("leave one out"))
}

fn name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("the zone")
}

/// Formats `+01:00`, with the seconds of historical offsets if there are any.
fn tell_offset(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let text = format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    match seconds % 60 {
        0 => text,
        rest => format!("{text}:{rest:02}"),
    }
}

/// Resolves a local time to the first of two instants. A time in a gap is an error.
fn resolve(local: DateTime, zone: &TimeZone) -> Result<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    if let AmbiguousOffset::Gap { before, after } = ambiguous.offset() {
        // By the offset after the gap, the local time is an instant before the gap.
        let change = after
            .to_timestamp(local)
            .ok()
            .and_then(|at| zone.following(at).next().map(|next| next.timestamp()));
        let (from, to) = match change {
            Some(change) => (before.to_datetime(change), after.to_datetime(change)),
            None => (local, local),
        };
        let until = if from.date() == to.date() { time::clock(to) } else { stamp(to) };
        return Err(Error::argument(format!(
            "{} does not exist in {}: clocks go from {} to {until} then",
            stamp(local),
            name(zone),
            stamp(from)
        ))
        .next(format!("give a time before {}, or {until} or later", time::clock(from))));
    }
    ambiguous
        .compatible()
        .map_err(|_| Error::argument(format!("the year {} is out of range", local.year())))
}

fn stamp(local: DateTime) -> String {
    format!("{} {}", local.date(), time::clock(local))
}
