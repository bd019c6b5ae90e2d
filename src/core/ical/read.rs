//! Reading of iCalendar documents: from components to entries.

use calcard::icalendar::{ICalendarDuration, ICalendarValue};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::event::{CalendarDocument, MAX_DOCUMENT};
use super::scan::{self, ContentLine, DocumentNotes, IcalComponent, IcalProperty, clean};
use super::settle::{RawEvent, settle};
use super::times::{alike, dates, end, floating, moment, replace_with_dates, stamp, until_day};
use super::values::{self, WrittenDate, utc};
use super::zones::DocumentZones;
use crate::error::{Error, Result};
use crate::event::recurrence::{EventRecurrence, RecurrenceRule};
use crate::event::series_uid;
use crate::event::time::{self, EventTime, ZonedTime};
use crate::event::{Event, EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use crate::ids::EventId;
use crate::text;
use crate::text::{note, ours, quoted};

/// Reads a document. See [`super::read()`].
pub fn document(text: &str, floating: &TimeZone) -> Result<CalendarDocument> {
    if text.len() > MAX_DOCUMENT {
        return Err(Error::argument("the calendar is larger than 2 MiB")
            .next("split it into smaller documents"));
    }
    let mut notes = DocumentNotes::default();
    let roots = scan::components(text, &mut notes);
    let mut document = CalendarDocument::default();
    let mut found = false;
    let mut raws = Vec::new();
    for root in &roots {
        if root.name == "VCALENDAR" {
            found = true;
            raws.extend(calendar(root, floating, &mut document, &mut notes));
        } else {
            notes.line(root.number, note!("{} is outside a calendar", quoted(&root.name)));
        }
    }
    if !found {
        return Err(Error::argument("this is not a calendar: it has no BEGIN:VCALENDAR")
            .next("give an iCalendar document (RFC 5545)"));
    }
    let raws = settle(raws, floating, &mut notes).into_iter();
    let (timeless, timed): (Vec<RawEvent>, _) = raws.partition(|raw| raw.timeless);
    document.entries = timed.into_iter().map(RawEvent::into_event).collect();
    document.timeless = timeless.into_iter().map(RawEvent::into_event).collect();
    document.notes = notes.taken();
    Ok(document)
}

fn calendar(
    root: &IcalComponent,
    floating: &TimeZone,
    document: &mut CalendarDocument,
    notes: &mut DocumentNotes,
) -> Vec<RawEvent> {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let method = some(root.text("METHOD").trim().to_ascii_uppercase());
    // RFC 7986, 5.1 has NAME, but most programs write the older property.
    let name = some(root.text("X-WR-CALNAME")).or_else(|| some(root.text("NAME")));
    let zone = time::zone_name(&root.text("X-WR-TIMEZONE"));
    let own = zone.as_deref().and_then(time::find_zone);
    // A file may contain several calendars, whose first one names the document.
    document.method = document.method.take().or(method);
    document.name = document.name.take().or(name);
    document.zone = document.zone.take().or(zone);
    let zones = DocumentZones::new(root, own.unwrap_or_else(|| floating.clone()), notes);
    let method = document.method.as_deref();
    let mut raws = Vec::new();
    for part in &root.parts {
        match part.name.as_str() {
            "VEVENT" => raws.extend(entry(part, &zones, method, notes)),
            "VTIMEZONE" => {}
            other => notes.line(part.number, note!("{} was skipped", quoted(other))),
        }
    }
    raws
}

/// The properties of an event while it is read.
#[derive(Default)]
struct EventParts {
    recurs: bool,
    start: Option<ZonedTime>,
    /// The local start, if only the document defines its zone.
    clock: Option<(DateTime, TimeZone)>,
    end: Option<ZonedTime>,
    /// The local end, if it states no zone.
    end_local: Option<DateTime>,
    length: Option<ICalendarDuration>,
    repeat: EventRecurrence,
    transparent: bool,
    status: String,
    busy: String,
    own: String,
    conference: Option<String>,
    url: Option<String>,
    guests: Vec<EventGuest>,
    /// Exceptions and added dates.
    except: Vec<WrittenDate>,
    extra: Vec<WrittenDate>,
    periods: Vec<(Timestamp, Timestamp)>,
    stamps: (Option<Timestamp>, Option<Timestamp>),
    /// `RECURRENCE-ID`.
    instead_of: Option<WrittenDate>,
    following: bool,
}

fn entry(
    event: &IcalComponent,
    zones: &DocumentZones,
    method: Option<&str>,
    notes: &mut DocumentNotes,
) -> Option<RawEvent> {
    let unset = ZonedTime::Day(jiff::civil::Date::ZERO);
    let mut entry = Event::new(EventId::default(), unset.when(), unset.when());
    entry.sequence = Some(0);
    let mut parts = EventParts {
        // Known before the start is read, because the zone of a series must match for years
        // ahead.
        recurs: event.lines.iter().any(|line| line.name == "RRULE"),
        ..EventParts::default()
    };
    for line in &event.lines {
        let Some(property) = line.read() else {
            notes.line(line.number, note!("cannot be read: {}", quoted(line.as_str())));
            continue;
        };
        let read = apply_property(&mut entry, &mut parts, (line, &property), zones, notes);
        if read.is_none() {
            notes.line(line.number, note!("cannot be read: {}", quoted(line.as_str())));
        }
    }
    // A message about one occurrence may omit the start and give only the RECURRENCE-ID.
    let of_one = entry.original.map(EventTime::in_utc);
    entry.cancelled = parts.status == "CANCELLED";
    // Methods that refer to an existing event may omit its time (RFC 5546).
    let about = matches!(method, Some("CANCEL" | "REPLY" | "REFRESH" | "DECLINECOUNTER"));
    let start = parts.start.take().or(of_one);
    let timeless = start.is_none() && (about || entry.cancelled) && entry.uid.is_some();
    let Some(start) = start.or(timeless.then_some(unset)) else {
        notes.line(event.number, "the event has no start and was skipped");
        return None;
    };
    if let ZonedTime::Day(_) = start {
        until_day(&mut parts.repeat, zones);
    }
    let own = parts.clock.as_ref().map(|(_, zone)| zone);
    parts.repeat.except = alike(&parts.repeat, &parts.except, (&start, own), zones);
    parts.repeat.extra = alike(&parts.repeat, &parts.extra, (&start, own), zones);
    if entry.original.is_some() && !parts.repeat.rule.is_empty() {
        notes.line(event.number, "it is one occurrence: its recurrence rule was ignored");
    }
    // An occurrence does not recur itself; some programs repeat the rule of the series in it.
    if entry.original.is_some() {
        parts.repeat = EventRecurrence::default();
    }
    if let (Some((local, zone)), false) = (&parts.clock, parts.repeat.rule.is_empty())
        && zones.may_carry_out()
        && let Some(many) = replace_with_dates(&mut parts.repeat, *local, zone)
    {
        notes.line(
            event.number,
            note!("its time zone has no IANA name: {} dates replace its rule", ours(many)),
        );
    }
    // An end without a zone is in the zone of the start.
    if let (ZonedTime::At(_, zone), Some(local_time)) = (&start, parts.end_local) {
        parts.end = Some(match &parts.clock {
            None => ZonedTime::At(local_time, zone.clone()),
            Some((_, own)) => utc(local_time, own),
        });
    }
    let end = end(&start, parts.end.take(), parts.length.take(), event, notes);
    // Without a rule or added dates there is no series, and services refuse exceptions.
    let recurs = |repeat: &EventRecurrence| !repeat.rule.is_empty() || !repeat.extra.is_empty();
    entry.repeat = Some(parts.repeat).filter(recurs);
    entry.link = parts.conference.or(parts.url);
    entry.online = entry.link.is_some();
    entry.show = show(parts.transparent, &parts.status, &parts.busy, &parts.own);
    entry.busy = entry.show != ShowAs::Free && !entry.cancelled;
    entry.reminder = reminder(event, start.when(), end.when());
    // RFC 5546 lists the organizer among the attendees too; only its answer is kept.
    if let Some(organizer) = &mut entry.organizer {
        let same = |guest: &EventGuest| guest.address.is(&organizer.address);
        if let Some(at) = parts.guests.iter().position(same) {
            organizer.answer = parts.guests.remove(at).answer;
        }
    }
    entry.guests = parts.guests;
    Some(RawEvent {
        entry,
        start,
        end,
        number: event.number,
        stamps: parts.stamps,
        instead_of: parts.instead_of,
        following: parts.following,
        periods: parts.periods,
        timeless,
    })
}

/// Applies a property. Returns `None` if its value cannot be read.
fn apply_property(
    entry: &mut Event,
    parts: &mut EventParts,
    (line, property): (&ContentLine, &IcalProperty),
    zones: &DocumentZones,
    notes: &mut DocumentNotes,
) -> Option<()> {
    match line.name.as_str() {
        "UID" => {
            let uid = series_uid(&property.text()).into_owned();
            entry.uid = Some(uid).filter(|uid| !uid.is_empty());
        }
        "SEQUENCE" => entry.sequence = Some(line.value().trim().parse().ok()?),
        "DTSTART" => {
            let (at, own) = moment(line, property, zones, parts.recurs, notes)?;
            (parts.start, parts.clock) = (Some(at), own);
        }
        "DTEND" => {
            parts.end = Some(moment(line, property, zones, parts.recurs, notes)?.0);
            parts.end_local = floating(property);
        }
        "DURATION" => match property.values().first()? {
            ICalendarValue::Duration(length) => parts.length = Some(length.clone()),
            _ => return None,
        },
        "RECURRENCE-ID" => {
            // The library reads only THISANDFUTURE. RFC 5545 has dropped THISANDPRIOR.
            parts.following = property.param("RANGE").is_some();
            let at = dates(line, property, zones, notes)?.0.into_iter().next()?;
            (entry.original, parts.instead_of) = (Some(at.when), Some(at));
        }
        "RRULE" => {
            let rule = clean(line.value());
            let read = RecurrenceRule::foreign(&rule);
            if read.is_none() {
                notes.line(line.number, note!("unsupported recurrence rule: {}", quoted(&rule)));
            }
            for part in read.into_iter().flat_map(|read| read.unknown) {
                let part = quoted(&part);
                notes.line(line.number, note!("part {} of the rule was ignored", part));
            }
            if parts.repeat.rule.is_empty() {
                parts.repeat.rule = EventRecurrence::foreign(&rule);
            } else {
                notes.line(line.number, "only the first rule was read");
            }
        }
        "EXRULE" => notes.line(line.number, "exception rules (EXRULE) were ignored"),
        "EXDATE" => parts.except.extend(dates(line, property, zones, notes)?.0),
        "RDATE" => {
            let (dates, periods) = dates(line, property, zones, notes)?;
            parts.extra.extend(dates);
            parts.periods.extend(periods);
        }
        "DTSTAMP" => parts.stamps.0 = stamp(property),
        "LAST-MODIFIED" => parts.stamps.1 = stamp(property),
        "SUMMARY" => entry.title = property.text(),
        "LOCATION" => entry.place = property.text(),
        "DESCRIPTION" => {
            entry.notes = Some(property.text()).filter(|notes| !notes.is_empty());
        }
        "ORGANIZER" => entry.organizer = Some(guest(property)),
        "ATTENDEE" => parts.guests.push(guest(property)),
        "TRANSP" => parts.transparent = upper(property) == "TRANSPARENT",
        "STATUS" => parts.status = upper(property),
        "X-MICROSOFT-CDO-BUSYSTATUS" => parts.busy = upper(property),
        "X-DAYSHEET-SHOW" => parts.own = upper(property),
        "CLASS" => {
            entry.visibility = match upper(property).as_str() {
                "PUBLIC" => EventVisibility::Public,
                "CONFIDENTIAL" => EventVisibility::Confidential,
                // RFC 5545, 3.8.1.3: an unknown value counts as private.
                _ => EventVisibility::Private,
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
        // RFC 7986, 5.11 has CONFERENCE; Google and Teams write their own properties.
        "CONFERENCE" | "X-GOOGLE-CONFERENCE" | "X-MICROSOFT-SKYPETEAMSMEETINGURL" => {
            parts.conference.get_or_insert(property.text());
        }
        "URL" => parts.url = Some(property.text()).filter(|url| !url.is_empty()),
        _ => {}
    }
    Some(())
}

fn upper(property: &IcalProperty) -> String {
    property.text().trim().to_ascii_uppercase()
}

fn show(transparent: bool, status: &str, busy: &str, own: &str) -> ShowAs {
    // Our own property and Exchange's are more precise than TRANSP and STATUS.
    match (own, busy) {
        ("FOCUS", _) => ShowAs::Focus,
        (_, "OOF") => ShowAs::Oof,
        (_, "WORKINGELSEWHERE") => ShowAs::Elsewhere,
        (_, "TENTATIVE") => ShowAs::Tentative,
        (_, "FREE") => ShowAs::Free,
        _ if transparent => ShowAs::Free,
        (_, "") if status == "TENTATIVE" => ShowAs::Tentative,
        _ => ShowAs::Busy,
    }
}

fn guest(property: &IcalProperty) -> EventGuest {
    let value = property.text();
    let value = value.trim();
    let bare = match value.split_at_checked(7) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("mailto:") => rest,
        _ => value,
    };
    // Some programs identify a person by an id, and give the address as a parameter.
    let address = match (bare.contains('@'), property.param("EMAIL")) {
        (false, Some(address)) => address,
        _ => bare,
    };
    let is = |name: &str, value: &str| {
        let param = property.param(name);
        param.is_some_and(|param| param.eq_ignore_ascii_case(value))
    };
    let answer = match property.param("PARTSTAT") {
        Some(text) if text.eq_ignore_ascii_case("ACCEPTED") => Some(InvitationAnswer::Accepted),
        Some(text) if text.eq_ignore_ascii_case("DECLINED") => Some(InvitationAnswer::Declined),
        Some(text) if text.eq_ignore_ascii_case("TENTATIVE") => Some(InvitationAnswer::Tentative),
        _ => None,
    };
    EventGuest {
        address: text::cell(address).into(),
        name: property.param_text("CN").map(|name| text::cell(&name)).filter(|it| !it.is_empty()),
        answer,
        optional: is("ROLE", "OPT-PARTICIPANT"),
        room: is("CUTYPE", "ROOM") || is("CUTYPE", "RESOURCE"),
        ..EventGuest::default()
    }
}

/// Returns the minutes before the start of the first alarm that is not after it.
fn reminder(event: &IcalComponent, start: EventTime, end: EventTime) -> Option<u32> {
    let mut alarms = event.parts.iter().filter(|part| part.name == "VALARM");
    let start = start.instant(&TimeZone::UTC);
    alarms.find_map(|alarm| {
        let trigger = alarm.property("TRIGGER")?;
        let seconds = match trigger.values().first()? {
            ICalendarValue::Duration(length) => {
                let from = match trigger.param("RELATED") {
                    // RFC 5545, 3.8.6.3: a trigger is relative to the start by default.
                    Some(word) if word.eq_ignore_ascii_case("END") => end.instant(&TimeZone::UTC),
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
                let at = values::when(at, &TimeZone::UTC)?.instant(&TimeZone::UTC);
                start.duration_since(at).as_secs()
            }
            _ => return None,
        };
        u32::try_from(seconds.div_euclid(60)).ok().filter(|_| seconds >= 0)
    })
}
