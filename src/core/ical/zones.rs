//! The time zones of an iCalendar document: the meaning of a `TZID`.
//!
//! By RFC 5545 a `TZID` means exactly what the document's `VTIMEZONE` of that name defines. A
//! `VTIMEZONE` with the current rules of the zone it is named after is read as that zone, because
//! programs project today's rules back into years that had others. If its rules differ at a time
//! used in the document, it is a zone of its own, with a note. So is one whose name is unknown.

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
use crate::event::recurrence::RuleEnd;
use crate::event::time::{self, EventTime, ZonedTime};
use crate::text::{note, ours, quoted};

/// The first and last year whose rules are compared.
const OLDEST: i16 = 2000;
const TODAY: i16 = 2025;

/// The number of years for which the rules of a recurring event's zone are expanded.
const AHEAD: i16 = 12;

/// The maximum number of onsets of all zones of a document.
const ONSETS: usize = 50_000;

/// The maximum number of rules of events that are expanded to interpret a document.
const RULES: usize = 200;

/// One zone for each set of rules in use. A zone of another name with the same rules can be
/// written under a widely known name.
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
    /// A zone with an IANA name.
    Named(TimeZone),
    /// A zone that only the document defines.
    Own(TimeZone),
}

impl IcalZone {
    /// Returns a named zone if it has an IANA name.
    fn new(zone: TimeZone) -> Self {
        if zone.iana_name().is_some() { Self::Named(zone) } else { Self::Own(zone) }
    }

    /// Returns the zone, for resolving times.
    pub fn zone(&self) -> &TimeZone {
        match self {
            Self::Named(zone) | Self::Own(zone) => zone,
        }
    }
}

/// The zones of a document's times.
#[derive(Debug)]
pub struct DocumentZones {
    floating: TimeZone,
    defined: HashMap<String, IcalZone>,
    /// The named zones with the same rules as an own one, from a year on.
    alike: RefCell<HashMap<(String, i16, bool), Option<TimeZone>>>,
    /// The number of rules of events that may still be expanded.
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
            // Of two definitions, the first is used.
            if zones.defined.contains_key(&key(&id)) {
                continue;
            }
            let mut take = |what: String| {
                notes.line(part.number, note!("time zone {} {}", quoted(&id), ours(what)));
            };
            let rules = rules::read(part, (first, last), &mut room);
            // An offset in a name is less precise than rules.
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
                        time::zone_label(&known)
                    ));
                    own_or_fixed(own)
                }
                // The zone is named by its id.
                (Some(known), _) if named.is_some() => IcalZone::new(known),
                (Some(known), _) => {
                    // A location is certain, a number is a guess and needs a note.
                    if part.text("X-LIC-LOCATION").is_empty() {
                        take(format!("is read as {}", time::zone_label(&known)));
                    }
                    IcalZone::Named(known)
                }
                (None, Some(own)) => own_or_fixed(own),
                (None, None) => {
                    let Some(fixed) = rules::standard(part).and_then(fixed) else {
                        continue;
                    };
                    take(format!("is read as {}", time::zone_label(&fixed)));
                    IcalZone::new(fixed)
                }
            };
            zones.defined.insert(key(&id), zone);
        }
        zones
    }

    /// Returns true if another rule may be expanded to interpret the document, and counts it.
    /// Each may be long.
    pub fn may_carry_out(&self) -> bool {
        let left = self.rules.get().checked_sub(1);
        self.rules.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Returns the zone of times that state none.
    pub fn floating(&self) -> &TimeZone {
        &self.floating
    }

    /// Returns all zones of the document, beginning with the one for times that state none.
    pub fn all(&self) -> impl Iterator<Item = &TimeZone> {
        std::iter::once(&self.floating).chain(self.defined.values().map(IcalZone::zone))
    }

    /// Returns the zone with this `TZID`. Without a `TZID` or for an unknown one, returns the
    /// zone of times that state none.
    pub fn find(&self, id: Option<&str>, number: usize, notes: &mut DocumentNotes) -> IcalZone {
        let floating = || IcalZone::Named(self.floating.clone());
        // A time without a zone is in the document's own zone, or in the caller's.
        let Some(id) = id else {
            return floating();
        };
        if let Some(zone) = self.defined.get(&key(id)) {
            return zone.clone();
        }
        if let Some(zone) = by_name(id) {
            return IcalZone::new(zone);
        }
        notes.line(
            number,
            note!(
                "unknown time zone {}: read as {}",
                quoted(id),
                ours(time::zone_label(&self.floating))
            ),
        );
        floating()
    }

    /// Returns a named zone with the same rules as an own one, from the year of a time on: until
    /// the end of the next year, or for a series for many years.
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
            // No more changes from here on.
            None => fixed(own.to_offset(from)).filter(|zone| zone.iana_name().is_some()),
            Some((end, _)) => {
                // A zone given by single changes instead of a rule is unknown after the last
                // one.
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

    /// Returns a time for writing, in a named zone if possible, else in UTC. `series` is true if
    /// an event that starts at this time recurs.
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

/// Returns the local times of a calendar's events by the names of their zones.
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

/// Returns the lookup key of a zone's name. Some programs quote it in one place only.
fn key(id: &str) -> String {
    let id = id.trim().trim_matches('"').replace("\\,", ",");
    id.to_lowercase()
}

fn by_name(id: &str) -> Option<TimeZone> {
    if let Some(zone) = time::find_zone(id) {
        return Some(zone);
    }
    // Some programs prepend a path: `/example.org/20250101/Europe/Berlin`.
    let parts: Vec<&str> = id.split('/').collect();
    let tails = [3, 2].into_iter().filter_map(|many| {
        let at = parts.len().checked_sub(many).filter(|at| *at > 0)?;
        parts.get(at..).map(|tail| tail.join("/"))
    });
    tails.into_iter().find_map(|name| time::find_zone(&name))
}

/// Returns the zone that a `VTIMEZONE` names in addition to its rules.
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

/// Returns true if a time means another instant by the document's rules than in the zone named,
/// and the rules differ from that zone's in every year since [`OLDEST`].
fn differ(own: &ZoneRules, named: &TimeZone, at: DateTime) -> bool {
    let first_of = |year: i16| Date::new(year, 1, 1).map(|day| EventTime::Day(day).instant(named));
    let when = time::resolve(at, &own.zone);
    if !own.is_known_at(when) || when == time::resolve(at, named) {
        return false;
    }
    let same = |year: i16| {
        let (Ok(from), Ok(to)) = (first_of(year), first_of(year + 1)) else {
            return false;
        };
        // Some programs write only one observance: the zone's offset in winter or in summer,
        // or the local mean time from before there were zones.
        let offset = own.zone.to_offset(when);
        let middle = named.to_offset(from.checked_add(4_368.hours()).unwrap_or(from));
        let one_sided = rules::changes(&own.zone, from, to).next().is_none()
            && ([named.to_offset(from), middle].contains(&offset) || offset.seconds() % 900 != 0);
        one_sided || rules::same(&own.zone, named, from, to)
    };
    // The rules may also be the zone's from when the program was written.
    !(OLDEST..=TODAY).any(same) && !same(at.year())
}

/// Returns a zone with a constant offset under the name of its offset, if it has a name; any
/// other zone unchanged.
fn own_or_fixed(own: ZoneRules) -> IcalZone {
    match own.fixed().and_then(fixed) {
        Some(fixed) if fixed.iana_name().is_some() => IcalZone::Named(fixed),
        _ => IcalZone::Own(own.zone),
    }
}

/// Returns a zone with a constant offset, under its IANA name if it has one.
fn fixed(offset: Offset) -> Option<TimeZone> {
    let seconds = offset.seconds();
    let hours = seconds.abs() / 3_600;
    if seconds % 3_600 == 0 && hours <= 12 {
        // The signs in these names are inverted (POSIX): `Etc/GMT+5` is behind UTC.
        let name = match (hours, seconds < 0) {
            (0, _) => "UTC".to_owned(),
            (hours, true) => format!("Etc/GMT+{hours}"),
            (hours, false) => format!("Etc/GMT-{hours}"),
        };
        return TimeZone::get(&name).ok();
    }
    Some(TimeZone::fixed(offset))
}
