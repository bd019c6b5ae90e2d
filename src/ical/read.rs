//! iCalendar documents, read.

use calcard::icalendar::{ICalendarDuration, ICalendarPeriod, ICalendarValue};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span};

use super::scan::{self, Component, Line, Notes, Property, clean};
use super::zones::{self, Zones};
use super::{Document, Entry, LONGEST};
use crate::error::{Error, Result};
use crate::provider::calendar::{Answer, Guest, Show, Visibility};
use crate::recurrence::{Repeat, Rule};
use crate::text;
use crate::when::{self, Moment, When};

/// Reads a document.
pub fn document(text: &str, floating: &TimeZone) -> Result<Document> {
    if text.len() > LONGEST {
        return Err(Error::argument("the calendar is larger than 2 MiB")
            .next("split it into several documents"));
    }
    let mut notes = Notes::default();
    let roots = scan::components(text, &mut notes);
    let mut document = Document::default();
    let mut found = false;
    for root in &roots {
        if root.name == "VCALENDAR" {
            found = true;
            calendar(root, floating, &mut document, &mut notes);
        } else {
            let name = text::cell(&root.name);
            notes.line(root.number, format!("{name} outside of a calendar"));
        }
    }
    if !found {
        return Err(
            Error::argument("this is no calendar: it has no BEGIN:VCALENDAR")
                .next("give an iCalendar document (RFC 5545)"),
        );
    }
    document.notes = notes.taken();
    Ok(document)
}

fn calendar(root: &Component, floating: &TimeZone, document: &mut Document, notes: &mut Notes) {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let method = some(root.text("METHOD").trim().to_ascii_uppercase());
    let name = some(root.text("X-WR-CALNAME")).or_else(|| some(root.text("NAME")));
    let zone = when::zone_name(&root.text("X-WR-TIMEZONE"));
    let own = zone.as_deref().and_then(when::find_zone);
    document.method = document.method.take().or(method);
    document.name = document.name.take().or(name);
    document.zone = document.zone.take().or(zone);
    let zones = Zones::new(root, own.unwrap_or_else(|| floating.clone()), notes);
    for part in &root.parts {
        match part.name.as_str() {
            "VEVENT" => document.entries.extend(entry(part, &zones, notes)),
            "VTIMEZONE" => {}
            other => notes.line(part.number, format!("{} is passed over", text::cell(other))),
        }
    }
}

/// What an event is put together from.
#[derive(Default)]
struct Parts {
    start: Option<Moment>,
    end: Option<Moment>,
    length: Option<ICalendarDuration>,
    repeat: Repeat,
    transparent: bool,
    status: String,
    busy: String,
    own: String,
    conference: Option<String>,
    url: Option<String>,
    guests: Vec<Guest>,
}

fn entry(event: &Component, zones: &Zones, notes: &mut Notes) -> Option<Entry> {
    let mut entry = Entry::new(
        String::new(),
        Moment::Day(jiff::civil::Date::ZERO),
        Moment::Day(jiff::civil::Date::ZERO),
    );
    let mut parts = Parts::default();
    for line in &event.lines {
        let Some(property) = line.read() else {
            notes.line(line.number, format!("cannot be read: `{}`", line.shown()));
            continue;
        };
        let read = take(&mut entry, &mut parts, line, &property, zones, notes);
        if read.is_none() {
            notes.line(line.number, format!("cannot be read: `{}`", line.shown()));
        }
    }
    // A message about one occurrence may leave its own start out.
    let of_one = entry.recurrence_id.map(|at| match at {
        When::Day(day) => Moment::Day(day),
        When::At(at) => Moment::At(TimeZone::UTC.to_datetime(at), "UTC".to_owned()),
    });
    let Some(start) = parts.start.take().or(of_one) else {
        notes.line(event.number, "the event has no start and is passed over");
        return None;
    };
    entry.end = end(&start, parts.end.take(), parts.length.take(), event, notes);
    entry.start = start;
    entry.repeat = Some(parts.repeat).filter(|repeat| *repeat != Repeat::default());
    entry.link = parts.conference.or(parts.url);
    entry.cancelled = parts.status == "CANCELLED";
    entry.show = show(parts.transparent, &parts.status, &parts.busy, &parts.own);
    entry.reminder = reminder(event, &entry);
    if let Some(organizer) = &mut entry.organizer {
        let same = |guest: &Guest| guest.address.eq_ignore_ascii_case(&organizer.address);
        if let Some(at) = parts.guests.iter().position(same) {
            organizer.answer = parts.guests.remove(at).answer;
        }
    }
    entry.guests = parts.guests;
    Some(entry)
}

/// Takes what a property says; `None` if its value cannot be read.
fn take(
    entry: &mut Entry,
    parts: &mut Parts,
    line: &Line,
    property: &Property,
    zones: &Zones,
    notes: &mut Notes,
) -> Option<()> {
    match line.name.as_str() {
        "UID" => entry.uid = property.text(),
        "SEQUENCE" => entry.sequence = line.value().trim().parse().ok()?,
        "DTSTART" => parts.start = Some(moment(line, property, zones, notes)?),
        "DTEND" => parts.end = Some(moment(line, property, zones, notes)?),
        "DURATION" => match property.values().first()? {
            ICalendarValue::Duration(length) => parts.length = Some(length.clone()),
            _ => return None,
        },
        "RECURRENCE-ID" => {
            if property.param("RANGE").is_some() {
                notes.line(
                    line.number,
                    "stands for one occurrence, not for those after it",
                );
            }
            entry.recurrence_id = dates(line, property, zones, notes)?.into_iter().next();
        }
        "RRULE" => {
            let rule = clean(line.value());
            if Rule::foreign(&rule).is_none() {
                let rule = text::cell(&rule);
                notes.line(
                    line.number,
                    format!("the rule cannot be carried out: `{rule}`"),
                );
            }
            if parts.repeat.rule.is_empty() {
                parts.repeat.rule = Repeat::foreign(&rule);
            } else {
                notes.line(line.number, "only the first rule is read");
            }
        }
        "EXRULE" => notes.line(line.number, "rules of exceptions are not read"),
        "EXDATE" => parts
            .repeat
            .except
            .extend(dates(line, property, zones, notes)?),
        "RDATE" => parts
            .repeat
            .extra
            .extend(dates(line, property, zones, notes)?),
        "SUMMARY" => entry.title = property.text(),
        "LOCATION" => entry.place = property.text(),
        "DESCRIPTION" => entry.notes = property.text(),
        "ORGANIZER" => entry.organizer = Some(guest(property)),
        "ATTENDEE" => parts.guests.push(guest(property)),
        "TRANSP" => parts.transparent = upper(property) == "TRANSPARENT",
        "STATUS" => parts.status = upper(property),
        "X-MICROSOFT-CDO-BUSYSTATUS" => parts.busy = upper(property),
        "X-DAYSHEET-SHOW" => parts.own = upper(property),
        "CLASS" => {
            entry.visibility = match upper(property).as_str() {
                "PUBLIC" => Visibility::Public,
                "CONFIDENTIAL" => Visibility::Confidential,
                // RFC 5545: what is not known counts as private.
                _ => Visibility::Private,
            }
        }
        "CATEGORIES" => entry.categories.extend(
            property
                .values()
                .iter()
                .filter_map(ICalendarValue::as_text)
                .map(|text| clean(text).trim().to_owned())
                .filter(|text| !text.is_empty()),
        ),
        "CONFERENCE" | "X-GOOGLE-CONFERENCE" | "X-MICROSOFT-SKYPETEAMSMEETINGURL" => {
            parts.conference.get_or_insert(property.text());
        }
        "URL" => parts.url = Some(property.text()).filter(|url| !url.is_empty()),
        _ => {}
    }
    Some(())
}

fn upper(property: &Property) -> String {
    property.text().trim().to_ascii_uppercase()
}

fn moment(line: &Line, property: &Property, zones: &Zones, notes: &mut Notes) -> Option<Moment> {
    let Some(ICalendarValue::PartialDateTime(at)) = property.values().first() else {
        return None;
    };
    let zone = zones.find(property.param("TZID"), line.number, notes);
    zones::moment(at, &zone)
}

fn dates(line: &Line, property: &Property, zones: &Zones, notes: &mut Notes) -> Option<Vec<When>> {
    let zone = zones.find(property.param("TZID"), line.number, notes);
    let mut dates = Vec::new();
    for value in property.values() {
        let at = match value {
            ICalendarValue::PartialDateTime(at) => at,
            // Of a period only when it starts.
            ICalendarValue::Period(
                ICalendarPeriod::Range { start, .. } | ICalendarPeriod::Duration { start, .. },
            ) => start,
            ICalendarValue::Text(text) if text.trim().is_empty() => continue,
            _ => return None,
        };
        dates.push(zones::at(at, &zone)?);
    }
    Some(dates)
}

/// The end: `DTEND`, or the start and `DURATION`, or what RFC 5545 says of
/// neither.
fn end(
    start: &Moment,
    end: Option<Moment>,
    length: Option<ICalendarDuration>,
    event: &Component,
    notes: &mut Notes,
) -> Moment {
    let least = match start {
        Moment::Day(day) => Moment::Day(day.tomorrow().unwrap_or(*day)),
        at @ Moment::At(..) => at.clone(),
    };
    let end = match (start, end, length) {
        (_, Some(end), _) => end,
        (start, None, Some(length)) => after(start, &length).unwrap_or(least.clone()),
        (_, None, None) => return least,
    };
    let right = match (start, &end) {
        (Moment::Day(start), Moment::Day(end)) => {
            // Some write the last day instead of the one after it.
            if start == end {
                return least;
            }
            start < end
        }
        (Moment::At(..), Moment::At(..)) => {
            let (from, to) = (start.when(), end.when());
            from.instant(&TimeZone::UTC) <= to.instant(&TimeZone::UTC)
        }
        _ => false,
    };
    if !right {
        notes.line(event.number, "the event does not end after its start");
        return least;
    }
    end
}

/// Weeks and days of a `DURATION` are those of the calendar, the rest is exact
/// (RFC 5545, 3.3.6).
fn after(start: &Moment, length: &ICalendarDuration) -> Option<Moment> {
    if length.neg {
        return None;
    }
    let days = i64::from(length.weeks) * 7 + i64::from(length.days);
    let days = Span::new().try_days(days).ok()?;
    let seconds =
        (i64::from(length.hours) * 60 + i64::from(length.minutes)) * 60 + i64::from(length.seconds);
    Some(match start {
        Moment::Day(day) => {
            let whole = seconds.div_euclid(24 * 60 * 60);
            let end = day.checked_add(days).ok()?;
            Moment::Day(end.checked_add(Span::new().try_days(whole).ok()?).ok()?)
        }
        Moment::At(local, name) => {
            let zone = when::find_zone(name)?;
            let end: DateTime = local.checked_add(days).ok()?;
            if seconds == 0 {
                return Some(Moment::At(end, name.clone()));
            }
            let end = when::resolve(end, &zone)
                .checked_add(SignedDuration::from_secs(seconds))
                .ok()?;
            let local = zone.to_datetime(end);
            match when::resolve(local, &zone) == end {
                true => Moment::At(local, name.clone()),
                // The second of two times that come twice.
                false => Moment::At(TimeZone::UTC.to_datetime(end), "UTC".to_owned()),
            }
        }
    })
}

fn show(transparent: bool, status: &str, busy: &str, own: &str) -> Show {
    match (own, busy) {
        ("FOCUS", _) => Show::Focus,
        (_, "OOF") => Show::Oof,
        (_, "WORKINGELSEWHERE") => Show::Elsewhere,
        (_, "TENTATIVE") => Show::Tentative,
        (_, "FREE") => Show::Free,
        _ if transparent => Show::Free,
        (_, "") if status == "TENTATIVE" => Show::Tentative,
        _ => Show::Busy,
    }
}

fn guest(property: &Property) -> Guest {
    let value = property.text();
    let value = value.trim();
    let bare = match value.split_at_checked(7) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("mailto:") => rest,
        _ => value,
    };
    // Some name a person by an id and give the address beside it.
    let address = match (bare.contains('@'), property.param("EMAIL")) {
        (false, Some(address)) => address,
        _ => bare,
    };
    let is = |name: &str, value: &str| {
        let param = property.param(name);
        param.is_some_and(|param| param.eq_ignore_ascii_case(value))
    };
    let answer = match property.param("PARTSTAT") {
        Some(text) if text.eq_ignore_ascii_case("ACCEPTED") => Some(Answer::Accepted),
        Some(text) if text.eq_ignore_ascii_case("DECLINED") => Some(Answer::Declined),
        Some(text) if text.eq_ignore_ascii_case("TENTATIVE") => Some(Answer::Tentative),
        _ => None,
    };
    Guest {
        address: text::cell(address),
        name: property
            .param("CN")
            .map(text::cell)
            .filter(|name| !name.is_empty()),
        answer,
        optional: is("ROLE", "OPT-PARTICIPANT"),
        room: is("CUTYPE", "ROOM") || is("CUTYPE", "RESOURCE"),
        me: false,
    }
}

/// Minutes before the start, of the first alarm that is not after it.
fn reminder(event: &Component, entry: &Entry) -> Option<u32> {
    let alarms = event.parts.iter().filter(|part| part.name == "VALARM");
    let start = entry.start.when().instant(&TimeZone::UTC);
    alarms
        .filter_map(|alarm| {
            let trigger = alarm.property("TRIGGER")?;
            let seconds = match trigger.values().first()? {
                ICalendarValue::Duration(length) => {
                    let from = match trigger.param("RELATED") {
                        Some(end) if end.eq_ignore_ascii_case("END") => {
                            entry.end.when().instant(&TimeZone::UTC)
                        }
                        _ => start,
                    };
                    let days = i64::from(length.weeks) * 7 + i64::from(length.days);
                    let hours = days * 24 + i64::from(length.hours);
                    let seconds =
                        (hours * 60 + i64::from(length.minutes)) * 60 + i64::from(length.seconds);
                    let seconds = if length.neg { -seconds } else { seconds };
                    let at = from.checked_add(SignedDuration::from_secs(seconds)).ok()?;
                    start.duration_since(at).as_secs()
                }
                ICalendarValue::PartialDateTime(at) => {
                    let at = zones::at(at, &TimeZone::UTC)?.instant(&TimeZone::UTC);
                    start.duration_since(at).as_secs()
                }
                _ => return None,
            };
            u32::try_from(seconds.div_euclid(60))
                .ok()
                .filter(|_| seconds >= 0)
        })
        .next()
}
