//! The time of an event to be written: the given start, end and length, combined into two
//! consistent moments.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::{BESIDE, EventTime, ZonedTime};
use daysheet_core::text::brief;
use daysheet_core::text::{Note, note, ours};
use daysheet_core::time_parse::clock::ClockTime;
use daysheet_core::time_parse::{self, ParsedTime, TimeContext};
use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::pipeline::calendar::target::span as shown;
use crate::tools::calendar_save::EventWords;

/// The length in minutes of a timed event without a given length.
const HOUR: i64 = 60;
/// Minutes of a day.
const DAY: i64 = 24 * 60;

/// The start and the end of an event, and the zone in which they are written.
#[derive(Debug, Clone)]
pub(crate) struct EventSpan {
    pub(crate) start: EventTime,
    pub(crate) end: EventTime,
    pub(crate) zone: TimeZone,
    /// Notes on how relative or unusual words were understood.
    pub(crate) echo: Vec<Note>,
}

/// The current time of the event, for the parts that are not given.
#[derive(Debug, Clone)]
pub(crate) struct PreviousTime {
    pub(crate) start: EventTime,
    pub(crate) end: EventTime,
    pub(crate) zone: TimeZone,
}

impl EventSpan {
    /// Returns both ends in their written form.
    pub(super) fn moments(&self) -> (ZonedTime, ZonedTime) {
        (self.start.zoned(&self.zone), self.end.zoned(&self.zone))
    }
}

/// Returns the local time of a moment; a day begins at midnight.
pub(crate) fn civil(moment: &ZonedTime) -> DateTime {
    match moment {
        ZonedTime::Day(day) => day.at(0, 0, 0, 0),
        ZonedTime::At(local, _) => *local,
    }
}

/// Reads the time of an event; `None` if an existing event gets no new one.
pub(crate) fn read_span(
    words: &EventWords,
    here: &TimeContext,
    before: Option<&PreviousTime>,
) -> Result<Option<EventSpan>> {
    let own = words.tz.as_deref().map(time_parse::zone).transpose()?;
    let quiet = words.start.is_none() && words.end.is_none() && words.duration.is_none();
    match (quiet, before, &own) {
        (true, Some(_), None) => return Ok(None),
        (true, Some(_), Some(_)) => {
            return Err(Error::argument("`tz` needs a time")
                .next("give `start`, and `end` or `duration`, in that zone"));
        }
        _ => {}
    }
    if words.end.is_some() && words.duration.is_some() {
        return Err(Error::argument("`end` and `duration` are both given").next("leave one out"));
    }
    let mut reader = SpanReader {
        words,
        foreign: own.as_ref().is_some_and(|own| own.iana_name() != here.zone.iana_name()),
        here: TimeContext {
            now: here.now,
            zone: own.clone().unwrap_or_else(|| here.zone.clone()),
            named: own.is_some(),
        },
        before,
        echo: Vec::new(),
    };
    let (start, end) = (SpanEnd::Start.given(words)?, SpanEnd::End.given(words)?);
    let start = reader.read_start(start)?;
    let end = reader.read_end(end, start)?;
    // A moved event keeps its own zone.
    let zone = match (own, before) {
        (Some(own), _) => own,
        (None, Some(before)) => before.zone.clone(),
        (None, None) => reader.here.zone.clone(),
    };
    // Only a given end can be before the start. An existing event may have no length.
    if words.end.is_some() {
        check_order(start, end, &reader.here.zone)?;
    }
    Ok(Some(EventSpan { start, end, zone, echo: reader.echo }))
}

/// An end of an event, as an argument.
#[derive(Clone, Copy)]
enum SpanEnd {
    Start,
    End,
}

impl SpanEnd {
    /// Returns the name of the argument.
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }

    /// Returns the time as given, without the local time that rows show beside it.
    ///
    /// # Errors
    /// If `tz` is given as well, because it is unclear which of the two times is in that zone.
    fn given(self, words: &EventWords) -> Result<Option<&str>> {
        let text = match self {
            Self::Start => words.start.as_deref(),
            Self::End => words.end.as_deref(),
        };
        match text.and_then(|text| text.split_once(BESIDE)) {
            None => Ok(text),
            Some(_) if words.tz.is_some() => {
                Err(Error::argument(format!("`{}` has two times, and `tz` is given", self.name()))
                    .next("give the time in that zone alone"))
            }
            Some((time, _)) => Ok(Some(time.trim())),
        }
    }
}

/// The arguments about the time of an event, while they are read.
struct SpanReader<'a> {
    /// The arguments of the call.
    words: &'a EventWords,
    /// The context of the given times, in their zone.
    here: TimeContext,
    /// True if that zone is not the user's.
    foreign: bool,
    /// The current time of an existing event; `None` for a new one.
    before: Option<&'a PreviousTime>,
    /// Notes on how the texts were understood.
    echo: Vec<Note>,
}

impl SpanReader<'_> {
    /// Reads the start; without a text, an existing event keeps its start.
    fn read_start(&mut self, text: Option<&str>) -> Result<EventTime> {
        let Some(text) = text else {
            return self.before.map(|before| before.start).ok_or_else(|| {
                Error::argument("an event needs `start`")
                    .next("give it, such as 2026-02-03 18h05 or tomorrow 9am")
            });
        };
        let parsed = match self.before.filter(|_| is_clock(text)) {
            // A time of day alone refers to the day of the event.
            Some(before) => time_parse::end(text, as_parsed(before.start, &self.here), &self.here),
            None => time_parse::read(text, &self.here),
        }
        .map_err(|error| error.context("`start`"))?;
        let start = parsed.when();
        if let (EventTime::Day(_), Some(EventTime::At(_))) =
            (start, self.before.map(|before| before.start))
            && self.words.end.is_none()
            && self.words.duration.is_none()
        {
            return Err(Error::argument("the event has a time, but `start` is only a day")
                .next("add the time, or give `end` as a day to make it all-day"));
        }
        self.add_echo(SpanEnd::Start, text, parsed);
        Ok(start)
    }

    /// Reads the end, or computes it from the given or the earlier length.
    fn read_end(&mut self, text: Option<&str>, start: EventTime) -> Result<EventTime> {
        if let Some(text) = text {
            let (end, parsed) = end_of(text, start, &self.here)?;
            // A time of day or a length needs no explanation next to the start.
            if !is_clock(text) && !text.trim_start().starts_with('+') {
                self.add_echo(SpanEnd::End, text, parsed);
            }
            return Ok(end);
        }
        if let Some(text) = &self.words.duration {
            return after(start, i64::from(minutes(text)?));
        }
        // Between a whole day and a time, the old length has no meaning.
        match self.before.filter(|before| before.start.is_day() == start.is_day()) {
            Some(before) => end_after(before, start),
            None if start.is_day() => after(start, DAY),
            None => after(start, HOUR),
        }
    }

    /// Adds a note on how a text was understood, if it is not explicit.
    fn add_echo(&mut self, end: SpanEnd, text: &str, parsed: ParsedTime) {
        let absolute = text.trim().starts_with(|first: char| first.is_ascii_digit())
            && text.trim().get(..4).is_some_and(|year| year.parse::<u16>().is_ok());
        // The note on the start names a foreign zone for both ends.
        let foreign = self.foreign && matches!(end, SpanEnd::Start);
        if absolute && !foreign {
            return;
        }
        let (name, zone) = (end.name(), &self.here.zone);
        let when = parsed.formatted(zone);
        self.echo.push(match (parsed, zone.iana_name()) {
            (ParsedTime::At(..), Some(zone)) => {
                note!("{}: {} = {} {}", ours(name), ours(brief(text)), ours(when), ours(zone))
            }
            _ => note!("{}: {} = {}", ours(name), ours(brief(text)), ours(when)),
        });
    }
}

/// Reads `duration`, in minutes.
fn minutes(text: &str) -> Result<u32> {
    let minutes = time_parse::minutes(text).map_err(|error| error.context("`duration`"))?;
    match minutes {
        0 => Err(Error::argument("`duration` is zero").next("give at least a minute, such as 30m")),
        minutes => Ok(minutes),
    }
}

/// Returns an existing time as if it had been given.
fn as_parsed(when: EventTime, here: &TimeContext) -> ParsedTime {
    match when {
        EventTime::Day(day) => ParsedTime::Day(day),
        EventTime::At(at) => ParsedTime::At(here.zone.to_datetime(at), at),
    }
}

/// Reads the given end, which is the last day for whole days.
fn end_of(text: &str, start: EventTime, here: &TimeContext) -> Result<(EventTime, ParsedTime)> {
    let parsed = time_parse::end(text, as_parsed(start, here), here)
        .map_err(|error| error.context("`end`"))?;
    let end = match (start, parsed) {
        // Ends are exclusive.
        (EventTime::Day(_), ParsedTime::Day(last)) => EventTime::Day(next_day(last)?),
        (EventTime::At(_), ParsedTime::At(_, at)) => EventTime::At(at),
        (EventTime::Day(_), ParsedTime::At(..)) => {
            return Err(Error::argument("`start` is a day but `end` a time")
                .next("give both as days, or both as times"));
        }
        (EventTime::At(_), ParsedTime::Day(_)) => {
            return Err(Error::argument("`start` is a time but `end` a day")
                .next("give both as times, or both as days"));
        }
    };
    Ok((end, parsed))
}

/// Returns true for only a time of day: `10h30`, `10:30`, `10 am`.
fn is_clock(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(first) = words.first() else {
        return false;
    };
    match ClockTime::read(first, words.get(1).copied()) {
        Ok(Some((_, used))) => used == words.len(),
        _ => false,
    }
}

/// Returns the time this many minutes after the start; for whole days, this many days.
fn after(start: EventTime, minutes: i64) -> Result<EventTime> {
    let too_late =
        || Error::argument("the event would end out of range").next("give an earlier time");
    match start {
        EventTime::At(at) => {
            at.checked_add(minutes.minutes()).map(EventTime::At).map_err(|_| too_late())
        }
        EventTime::Day(day) if minutes % DAY == 0 => {
            day.checked_add((minutes / DAY).days()).map(EventTime::Day).map_err(|_| too_late())
        }
        EventTime::Day(_) => {
            Err(Error::argument("`start` is a day, but `duration` is not whole days")
                .next("add the time to `start`, such as 2026-02-03 18h05"))
        }
    }
}

/// Returns the end that keeps the length.
fn end_after(before: &PreviousTime, start: EventTime) -> Result<EventTime> {
    let minutes = match (before.start, before.end) {
        (EventTime::Day(from), EventTime::Day(to)) => {
            i64::from((to - from).get_days()).max(1) * DAY
        }
        (from, to) => {
            let (from, to) = (from.instant(&before.zone), to.instant(&before.zone));
            (to.as_second() - from.as_second()).max(0) / 60
        }
    };
    after(start, minutes)
}

fn check_order(start: EventTime, end: EventTime, zone: &TimeZone) -> Result<()> {
    let backwards = match (start, end) {
        (EventTime::Day(start), EventTime::Day(end)) => end <= start,
        (start, end) => end.instant(zone) <= start.instant(zone),
    };
    if backwards {
        Err(Error::argument(format!(
            "the event would end before it starts: {}",
            shown(start, end, zone)
        ))
        .next("give an `end` with its date after `start`, or a `duration`"))
    } else {
        Ok(())
    }
}

fn next_day(day: Date) -> Result<Date> {
    day.checked_add(1.day())
        .map_err(|_| Error::argument("that day is out of range").next("give an earlier one"))
}
