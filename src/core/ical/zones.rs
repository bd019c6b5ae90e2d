//! The zones of an iCalendar document: what a `TZID` means.
//!
//! By RFC 5545 a `TZID` is what the `VTIMEZONE` of that name in the document
//! defines, and nothing else. A `VTIMEZONE` that is right for the zone of that
//! name today is that zone: programs project today's rules back into years that
//! had others. One that is not, and differs at a time that the document tells,
//! is a zone of its own, with a note; and so are those whose names say nothing.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};

use calcard::common::PartialDateTime;
use calcard::common::timezone::Tz;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan};

use super::rules::{self, ZoneRules};
use super::scan::{DocumentNotes, IcalComponent};
use super::values::{date_time, utc};
use crate::event_time::{self, EventTime, ZonedTime};
use crate::recurrence::RuleEnd;
use crate::text::{note, ours, quoted};

/// The years by whose rules zones are compared.
const OLDEST: i16 = 2000;
const TODAY: i16 = 2025;

/// Years for which the rules of a recurring event's zone are worked out.
const AHEAD: i16 = 12;

/// Onsets of all zones of a document that are worked out.
const ONSETS: usize = 50_000;

/// Rules of events that are carried out to understand what they say.
const RULES: usize = 200;

/// Zones that stand for the rules that are in use, so that a zone of other name
/// and the same rules can be sent under a name others know.
const COMMON: [&str; 30] = [
    "Europe/Berlin", "Europe/London", "Europe/Athens", "America/New_York", "America/Chicago",
    "America/Denver", "America/Los_Angeles", "America/Anchorage", "America/Adak",
    "America/Halifax", "America/St_Johns", "America/Havana", "America/Miquelon", "America/Nuuk",
    "America/Scoresbysund", "America/Santiago", "Pacific/Easter", "Atlantic/Azores",
    "Europe/Chisinau", "Africa/Cairo", "Africa/Casablanca", "Asia/Jerusalem", "Asia/Beirut",
    "Australia/Sydney", "Australia/Adelaide", "Australia/Lord_Howe", "Pacific/Auckland",
    "Pacific/Chatham", "Pacific/Norfolk", "Antarctica/Troll",
];

/// The zone of a time.
#[derive(Debug, Clone)]
pub enum IcalZone {
    /// A zone that others know by its name.
    Named(TimeZone),
    /// One that only the document has.
    Own(TimeZone),
}

impl IcalZone {
    /// Returns a zone as one of others if it has a name.
    fn of(zone: TimeZone) -> Self {
        if zone.iana_name().is_some() { Self::Named(zone) } else { Self::Own(zone) }
    }

    /// Returns the zone, to resolve times in.
    pub fn zone(&self) -> &TimeZone {
        match self {
            Self::Named(zone) | Self::Own(zone) => zone,
        }
    }
}

/// The zones that the times of a document can be in.
#[derive(Debug)]
pub struct DocumentZones {
    floating: TimeZone,
    defined: HashMap<String, IcalZone>,
    /// The names of zones with the same rules as an own one, from a year on.
    alike: RefCell<HashMap<(String, i16, bool), Option<TimeZone>>>,
    /// How many rules of events may still be carried out.
    rules: Cell<usize>,
}

impl DocumentZones {
    /// Reads the zones of a calendar.
    pub fn new(calendar: &IcalComponent, floating: TimeZone, notes: &mut DocumentNotes) -> Self {
        let mut zones = Self {
            floating,
            defined: HashMap::new(),
            alike: RefCell::default(),
            rules: Cell::new(RULES),
        };
        let parts = || calendar.parts.iter().filter(|one| one.name == "VTIMEZONE");
        if parts().next().is_none() {
            return zones;
        }
        let used = used(calendar);
        let years = || used.values().flatten().map(|at| at.year());
        let first = years().min().unwrap_or(OLDEST).clamp(1_600, OLDEST);
        let last = years().max().unwrap_or(TODAY).clamp(TODAY, 9_000) + AHEAD;
        let mut room = ONSETS;
        for part in parts() {
            let id = part.text("TZID");
            if zones.defined.contains_key(&key(&id)) {
                continue;
            }
            let mut take = |what: String| {
                notes.line(part.number, note!("time zone {} {}", quoted(&id), ours(what)));
            };
            let rules = rules::read(part, (first, last), &mut room);
            // An offset in a name says less than rules.
            let is_offset = |zone: &TimeZone| {
                let name = zone.iana_name().unwrap_or("Etc/");
                name.starts_with("Etc/") && !id.trim().eq_ignore_ascii_case(name)
            };
            let says = |zone: &TimeZone| rules.is_none() || !is_offset(zone);
            let named = by_name(&id).filter(says);
            let known = named.clone().or_else(|| zone_of(part));
            let times = used.get(&key(&id)).map(BTreeSet::iter);
            let mut times = times.into_iter().flatten();
            let zone = match (known, rules) {
                (Some(known), Some(own)) if times.any(|at| differ(&own, &known, *at)) => {
                    take(format!(
                        "has different rules here than {}: these are used (RFC 5545)",
                        event_time::zone_label(&known)
                    ));
                    own_or_fixed(own)
                }
                // The name alone says it.
                (Some(known), _) if named.is_some() => IcalZone::of(known),
                (Some(known), _) => {
                    // A location says it; a number is a guess.
                    if part.text("X-LIC-LOCATION").is_empty() {
                        take(format!("is read as {}", event_time::zone_label(&known)));
                    }
                    IcalZone::Named(known)
                }
                (None, Some(own)) => own_or_fixed(own),
                (None, None) => {
                    let Some(fixed) = rules::standard(part).and_then(fixed) else {
                        continue;
                    };
                    take(format!("is read as {}", event_time::zone_label(&fixed)));
                    IcalZone::of(fixed)
                }
            };
            zones.defined.insert(key(&id), zone);
        }
        zones
    }

    /// Returns true as long as rules may be expanded to interpret a document: each may be long.
    pub fn may_carry_out(&self) -> bool {
        let left = self.rules.get().checked_sub(1);
        self.rules.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Returns the zone of times without one.
    pub fn floating(&self) -> &TimeZone {
        &self.floating
    }

    /// Returns the zones of the document, first that of times without one.
    pub fn all(&self) -> impl Iterator<Item = &TimeZone> {
        std::iter::once(&self.floating).chain(self.defined.values().map(IcalZone::zone))
    }

    /// Returns the zone that a `TZID` names; for an unknown name, or none, the zone of
    /// times without one.
    pub fn find(&self, id: Option<&str>, number: usize, notes: &mut DocumentNotes) -> IcalZone {
        let floating = || IcalZone::Named(self.floating.clone());
        let Some(id) = id else {
            return floating();
        };
        if let Some(zone) = self.defined.get(&key(id)) {
            return zone.clone();
        }
        if let Some(zone) = by_name(id) {
            return IcalZone::of(zone);
        }
        notes.line(
            number,
            note!(
                "unknown time zone {}: read as {}",
                quoted(id),
                ours(event_time::zone_label(&self.floating))
            ),
        );
        floating()
    }

    /// Returns a zone with a name that has the same rules as an own one, from the year
    /// of a time on: through the next one, or for a series through many.
    fn zone_by_name(
        &self,
        id: &str,
        own: &TimeZone,
        at: DateTime,
        series: bool,
    ) -> Option<TimeZone> {
        let year = at.year();
        let place = (key(id), year, series);
        if let Some(known) = self.alike.borrow().get(&place) {
            return known.clone();
        }
        let ends = |year: i16| Date::new(year, 1, 1).map(|day| EventTime::Day(day).instant(own));
        let last = year.saturating_add(if series { AHEAD - 1 } else { 2 });
        let (Ok(from), Ok(mut to)) = (ends(year), ends(last)) else {
            return None;
        };
        let found = match rules::changes(own, from, Timestamp::MAX).last() {
            // It has ceased to change.
            None => fixed(own.to_offset(from)).filter(|zone| zone.iana_name().is_some()),
            Some((end, _)) => {
                // Where single changes are written down instead of a rule,
                // nothing is known after the last.
                to = to.min(end.checked_add(1.second()).unwrap_or(end));
                let common = COMMON.iter().filter_map(|name| TimeZone::get(name).ok());
                let mut all = std::iter::once(self.floating.clone()).chain(common);
                let named = |zone: &TimeZone| zone.iana_name().is_some();
                all.find(|zone| named(zone) && rules::same(own, zone, from, to))
            }
        };
        self.alike.borrow_mut().insert(place, found.clone());
        found
    }

    /// Returns a time for writing: in a zone that others know, else in UTC. `series` if
    /// an event that starts then recurs.
    pub fn moment(
        &self,
        at: &PartialDateTime,
        id: Option<&str>,
        zone: &IcalZone,
        series: bool,
    ) -> Option<ZonedTime> {
        let (until, offset) = date_time(at)?;
        let local = match (until, offset) {
            (RuleEnd::Day(day), _) => return Some(ZonedTime::Day(day)),
            (RuleEnd::Utc(local), _) => return Some(ZonedTime::At(local, "UTC".to_owned())),
            (RuleEnd::Local(local), Some(offset)) => {
                return Some(utc(local, &TimeZone::fixed(offset)));
            }
            (RuleEnd::Local(local), None) => local,
        };
        let named = match zone {
            IcalZone::Named(zone) => Some(zone.clone()),
            IcalZone::Own(own) => self.zone_by_name(id.unwrap_or_default(), own, local, series),
        };
        let name = named.as_ref().and_then(TimeZone::iana_name);
        Some(match name {
            Some(name) => ZonedTime::At(local, name.to_owned()),
            None => utc(local, zone.zone()),
        })
    }
}

/// Returns the local times of a calendar's events, by the names of their zones.
fn used(calendar: &IcalComponent) -> HashMap<String, BTreeSet<DateTime>> {
    const TIMES: [&str; 5] = ["DTSTART", "DTEND", "RECURRENCE-ID", "EXDATE", "RDATE"];
    let mut used: HashMap<String, BTreeSet<DateTime>> = HashMap::new();
    let events = calendar.parts.iter().filter(|one| one.name == "VEVENT");
    let lines = events.flat_map(|event| &event.lines);
    for line in lines.filter(|line| TIMES.contains(&line.name.as_str())) {
        let Some(property) = line.read() else {
            continue;
        };
        let Some(id) = property.param("TZID") else {
            continue;
        };
        let times = used.entry(key(id)).or_default();
        for value in property.values() {
            if let calcard::icalendar::ICalendarValue::PartialDateTime(at) = value
                && let Some((RuleEnd::Local(at), None)) = date_time(at)
            {
                times.insert(at);
            }
        }
    }
    used
}

/// Returns the lookup key of a name: programs quote it in one place and not in another.
fn key(id: &str) -> String {
    let id = id.trim().trim_matches('"').replace("\\,", ",");
    id.to_lowercase()
}

fn by_name(id: &str) -> Option<TimeZone> {
    if let Some(zone) = event_time::find_zone(id) {
        return Some(zone);
    }
    // Some put a path in front: `/example.org/20250101/Europe/Berlin`.
    let parts: Vec<&str> = id.split('/').collect();
    let tails = [3, 2].into_iter().filter_map(|many| {
        let at = parts.len().checked_sub(many).filter(|at| *at > 0)?;
        parts.get(at..).map(|tail| tail.join("/"))
    });
    tails.into_iter().find_map(|name| event_time::find_zone(&name))
}

/// Returns the zone that a `VTIMEZONE` names beside its rules.
fn zone_of(zone: &IcalComponent) -> Option<TimeZone> {
    let location = zone.text("X-LIC-LOCATION");
    if let Some(zone) = by_name(&location).filter(|_| !location.is_empty()) {
        return Some(zone);
    }
    match Tz::from_ms_cdo_zone_id(zone.text("X-MICROSOFT-CDO-TZID").trim()) {
        Some(Tz::Tz(zone)) => TimeZone::get(zone.name()).ok(),
        _ => None,
    }
}

/// Returns true if a time means another instant by the rules of the document than in
/// the zone they are called after, and they are not that zone's rules of any year since
/// [`OLDEST`].
fn differ(own: &ZoneRules, named: &TimeZone, at: DateTime) -> bool {
    let first_of = |year: i16| Date::new(year, 1, 1).map(|day| EventTime::Day(day).instant(named));
    let when = event_time::resolve(at, &own.zone);
    if !own.tells(when) || when == event_time::resolve(at, named) {
        return false;
    }
    let same = |year: i16| {
        let (Ok(from), Ok(to)) = (first_of(year), first_of(year + 1)) else {
            return false;
        };
        // Some write down one observance: the offset that the zone has in winter or in
        // summer, or that clocks showed before there were zones.
        let offset = own.zone.to_offset(when);
        let middle = named.to_offset(from.checked_add(4_368.hours()).unwrap_or(from));
        let one_sided = rules::changes(&own.zone, from, to).next().is_none()
            && ([named.to_offset(from), middle].contains(&offset) || offset.seconds() % 900 != 0);
        one_sided || rules::same(&own.zone, named, from, to)
    };
    // Or rules that were the zone's when their program was made.
    !(OLDEST..=TODAY).any(same) && !same(at.year())
}

/// A zone whose offset never changes, by the name of its offset where it has
/// one; any other as it is.
fn own_or_fixed(own: ZoneRules) -> IcalZone {
    match own.fixed().and_then(fixed) {
        Some(fixed) if fixed.iana_name().is_some() => IcalZone::Named(fixed),
        _ => IcalZone::Own(own.zone),
    }
}

/// Returns a zone of one offset, by IANA's name where there is one.
fn fixed(offset: Offset) -> Option<TimeZone> {
    let seconds = offset.seconds();
    let hours = seconds.abs() / 3_600;
    if seconds % 3_600 == 0 && hours <= 12 {
        // The signs of these names are the other way round.
        let name = match (hours, seconds < 0) {
            (0, _) => "UTC".to_owned(),
            (hours, true) => format!("Etc/GMT+{hours}"),
            (hours, false) => format!("Etc/GMT-{hours}"),
        };
        return TimeZone::get(&name).ok();
    }
    Some(TimeZone::fixed(offset))
}
