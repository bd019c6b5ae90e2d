//! The zones of an iCalendar document: what a `TZID` means.
//!
//! A name that is known says more than the rules beside it, which programs fill
//! in carelessly; only for names that say nothing the `VTIMEZONE` is asked.

use std::collections::HashMap;

use calcard::common::PartialDateTime;
use calcard::common::timezone::Tz;
use calcard::icalendar::ICalendarValue;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::scan::{Component, Notes};
use crate::recurrence::Until;
use crate::when::{self, Moment, When};

/// The zones that the times of a document can be in.
#[derive(Debug)]
pub struct Zones {
    floating: TimeZone,
    defined: HashMap<String, TimeZone>,
}

impl Zones {
    /// The zones of a calendar.
    pub fn new(calendar: &Component, floating: TimeZone, notes: &mut Notes) -> Self {
        let mut defined = HashMap::new();
        for part in calendar
            .parts
            .iter()
            .filter(|part| part.name == "VTIMEZONE")
        {
            let id = part.text("TZID");
            if by_name(&id).is_some() {
                continue;
            }
            if let Some(zone) = guessed(part) {
                let name = zone_name(&zone);
                let what = format!("the zone `{}` is taken for {name}", crate::text::cell(&id));
                // A location says it; an offset alone is a guess.
                if zone.iana_name().is_none() || part.text("X-LIC-LOCATION").is_empty() {
                    notes.line(part.number, what);
                }
                defined.insert(id, zone);
            }
        }
        Self { floating, defined }
    }

    /// The zone that a `TZID` names; a name that says nothing, or none, is the
    /// zone of times without one.
    pub fn find(&self, id: Option<&str>, number: usize, notes: &mut Notes) -> TimeZone {
        let Some(id) = id else {
            return self.floating.clone();
        };
        if let Some(zone) = by_name(id).or_else(|| self.defined.get(id).cloned()) {
            return zone;
        }
        notes.line(
            number,
            format!(
                "the zone `{}` is not known: taken for {}",
                crate::text::cell(id),
                zone_name(&self.floating)
            ),
        );
        self.floating.clone()
    }
}

fn by_name(id: &str) -> Option<TimeZone> {
    if let Some(zone) = when::find_zone(id) {
        return Some(zone);
    }
    // Some put a path in front: `/example.org/20250101/Europe/Berlin`.
    let parts: Vec<&str> = id.split('/').collect();
    let tails = [3, 2].into_iter().filter_map(|many| {
        let at = parts.len().checked_sub(many).filter(|at| *at > 0)?;
        parts.get(at..).map(|tail| tail.join("/"))
    });
    tails.into_iter().find_map(|name| when::find_zone(&name))
}

fn guessed(zone: &Component) -> Option<TimeZone> {
    let location = zone.text("X-LIC-LOCATION");
    if let Some(zone) = by_name(&location).filter(|_| !location.is_empty()) {
        return Some(zone);
    }
    if let Some(Tz::Tz(zone)) = Tz::from_ms_cdo_zone_id(zone.text("X-MICROSOFT-CDO-TZID").trim()) {
        return TimeZone::get(zone.name()).ok();
    }
    let standard = zone
        .parts
        .iter()
        .find(|part| part.name == "STANDARD")
        .or_else(|| zone.parts.first())?;
    let offset = standard.property("TZOFFSETTO")?;
    let Some(ICalendarValue::PartialDateTime(offset)) = offset.values().first() else {
        return None;
    };
    fixed(offset)
}

/// A zone of one offset, by IANA's name where there is one.
fn fixed(at: &PartialDateTime) -> Option<TimeZone> {
    let hours = i32::from(at.tz_hour?);
    let minutes = i32::from(at.tz_minute.unwrap_or_default());
    let seconds = (hours * 60 + minutes) * 60 * if at.tz_minus { -1 } else { 1 };
    if minutes == 0 && hours <= 12 {
        // The signs of these names are the other way round.
        let name = match (hours, at.tz_minus) {
            (0, _) => "UTC".to_owned(),
            (hours, true) => format!("Etc/GMT+{hours}"),
            (hours, false) => format!("Etc/GMT-{hours}"),
        };
        return TimeZone::get(&name).ok();
    }
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}

fn zone_name(zone: &TimeZone) -> String {
    match (zone.iana_name(), zone.to_fixed_offset()) {
        (Some(name), _) => name.to_owned(),
        (None, Ok(offset)) => format!("UTC{offset}"),
        (None, Err(_)) => "UTC".to_owned(),
    }
}

/// A date or a time, without what it is in.
pub fn told(at: &PartialDateTime) -> Option<(Until, Option<Offset>)> {
    let part = |part: Option<u8>| part.map(i8::try_from)?.ok();
    let day = jiff::civil::Date::new(
        i16::try_from(at.year?).ok()?,
        part(at.month)?,
        part(at.day)?,
    )
    .ok()?;
    if at.hour.is_none() {
        return Some((Until::Day(day), None));
    }
    let second = part(at.second).unwrap_or_default();
    let time = jiff::civil::Time::new(
        part(at.hour)?,
        part(at.minute)?,
        // A leap second counts as the one before.
        if second == 60 { 59 } else { second },
        0,
    )
    .ok()?;
    let local = day.to_datetime(time);
    match (at.tz_hour, at.tz_minute.unwrap_or_default()) {
        (None, _) => Some((Until::Local(local), None)),
        (Some(0), 0) => Some((Until::Utc(local), None)),
        (Some(hours), minutes) => {
            let seconds = (i32::from(hours) * 60 + i32::from(minutes)) * 60;
            let seconds = if at.tz_minus { -seconds } else { seconds };
            Some((
                Until::Local(local),
                Some(Offset::from_seconds(seconds).ok()?),
            ))
        }
    }
}

/// The same as a time to be written, a local one in `zone`.
pub fn moment(at: &PartialDateTime, zone: &TimeZone) -> Option<Moment> {
    let utc = |local: DateTime, zone: &TimeZone| {
        let at = when::resolve(local, zone);
        Moment::At(TimeZone::UTC.to_datetime(at), "UTC".to_owned())
    };
    Some(match told(at)? {
        (Until::Day(day), _) => Moment::Day(day),
        (Until::Utc(local), _) => Moment::At(local, "UTC".to_owned()),
        (Until::Local(local), Some(offset)) => utc(local, &TimeZone::fixed(offset)),
        (Until::Local(local), None) => match zone.iana_name() {
            Some(name) => Moment::At(local, name.to_owned()),
            None => utc(local, zone),
        },
    })
}

/// The same as a day or an instant.
pub fn at(at: &PartialDateTime, zone: &TimeZone) -> Option<When> {
    Some(match told(at)? {
        (Until::Day(day), _) => When::Day(day),
        (Until::Utc(local), _) => When::At(when::resolve(local, &TimeZone::UTC)),
        (Until::Local(local), Some(offset)) => {
            When::At(when::resolve(local, &TimeZone::fixed(offset)))
        }
        (Until::Local(local), None) => When::At(when::resolve(local, zone)),
    })
}
