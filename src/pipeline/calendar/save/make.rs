//! Builds a change from the arguments about an event.
//!
//! No service is called here: everything that can be refused without one is refused
//! here, before anything is written.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::{EventRecurrence, check_frequency};
use daysheet_core::event::time;
use daysheet_core::event::{Event, EventGuest, EventPatch, ShowAs};
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::text::brief;
use daysheet_core::text::{Note, note, ours};
use daysheet_core::time_parse::TimeContext;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::span::{self, EventSpan, PreviousTime};
use crate::pipeline::calendar::guests;
use crate::pipeline::calendar::target::span as shown;
use crate::tools::calendar_save::EventWords;

/// A change, and how its times were understood.
#[derive(Debug, Clone, Default)]
pub(super) struct PlannedChange {
    pub(super) change: EventPatch,
    pub(super) span: Option<EventSpan>,
    /// Notes on how arguments were understood.
    pub(super) notes: Vec<Note>,
}

/// Reads the argument about recurrence.
pub(crate) fn repeats(input: Option<&str>) -> Result<Option<Option<String>>> {
    match input.map(str::trim) {
        None => Ok(None),
        Some(none) if none.eq_ignore_ascii_case("none") => Ok(Some(None)),
        Some(text) => {
            let rule = EventRecurrence::rule(text).map_err(|error| error.context("`repeats`"))?;
            Ok(Some(Some(rule)))
        }
    }
}

/// Builds a new event.
pub(crate) fn new(words: &EventWords, here: &TimeContext) -> Result<PlannedChange> {
    let title = words.title.clone().unwrap_or_default();
    if title.is_empty() {
        return Err(Error::argument("an event needs `title`").next("give its title"));
    }
    let Some(span) = span::read_span(words, here, None)? else {
        return Err(Error::argument("an event needs `start`")
            .next("give it, such as 2026-02-03 18h05 or tomorrow 9am"));
    };
    let mut notes = Vec::new();
    let guests = guests::guests_of(words, &mut notes)?;
    let rule = repeats(words.repeats.as_deref())?.flatten();
    let repeat = rule.map(|rule| EventRecurrence { rule, ..EventRecurrence::default() });
    let (start, end) = span.moments();
    if let Some(repeat) = &repeat {
        begins(repeat, &span)?;
    }
    notes.extend(span.echo.iter().cloned());
    notes.extend(past(&span, here.now, &here.zone, repeat.as_ref()));
    Ok(PlannedChange {
        change: EventPatch {
            title: Some(title),
            time: Some((start, end)),
            place: words.place.clone().filter(|place| !place.is_empty()),
            notes: words.notes.clone().filter(|notes| !notes.is_empty()),
            guests: (!guests.is_empty()).then_some(guests),
            repeat: repeat.map(Some),
            online: words.online.filter(|online| *online),
            show: words.show,
            visibility: words.visibility,
            reminder: words.reminder,
            category: words.category.clone().filter(|name| !name.is_empty()),
            uid: None,
            original: None,
            organizer: None,
        },
        span: Some(span),
        notes,
    })
}

/// Refuses a rule that does not include the start, because services disagree about such an event.
pub(crate) fn begins(repeat: &EventRecurrence, span: &EventSpan) -> Result<()> {
    let (start, _) = span.moments();
    match repeat.first(&start) {
        Some(first) if first == start => Ok(()),
        Some(first) => Err(Error::argument(format!(
            "the rule {} has no occurrence at the start",
            brief(&repeat.rule)
        ))
        .next(format!("start with its first, {}", time::start(first.when(), &span.zone)))),
        None => Err(Error::argument(format!(
            "the rule {} never occurs from the start on",
            brief(&repeat.rule)
        ))
        .next("correct the rule, or the start")),
    }
}

/// Returns a note on an event that is already over.
pub(crate) fn past(
    span: &EventSpan,
    now: Timestamp,
    zone: &TimeZone,
    repeat: Option<&EventRecurrence>,
) -> Option<Note> {
    // A series that began in the past may still have occurrences.
    (repeat.is_none() && span.end.instant(zone) < now)
        .then(|| note!("it is already over: {}", ours(shown(span.start, span.end, zone))))
}

/// Builds the change of an existing event: only the given fields, and of those only the
/// ones that differ. The caller handles the time and the rule of a series.
pub(crate) fn changed(
    words: &EventWords,
    here: &TimeContext,
    now: &Event,
    zone: &TimeZone,
) -> Result<PlannedChange> {
    if words.title.as_deref() == Some("") {
        return Err(Error::argument("`title` is empty").next("give its title"));
    }
    let before = PreviousTime { start: now.start, end: now.end, zone: zone.clone() };
    let span = span::read_span(words, here, Some(&before))?;
    let moves = span
        .as_ref()
        // The same instant in another zone is a change, too.
        .filter(|span| (span.start, span.end) != (now.start, now.end) || words.tz.is_some());
    let fresh = |value: &Option<String>, now: &str| value.clone().filter(|value| value != now);
    let mut notes = Vec::new();
    if let Some(span) = moves {
        notes.extend(span.echo.iter().cloned());
        notes.extend(past(span, here.now, &here.zone, now.repeat.as_ref()));
    }
    Ok(PlannedChange {
        change: EventPatch {
            title: fresh(&words.title, &now.title),
            time: moves.map(EventSpan::moments),
            place: fresh(&words.place, &now.place),
            notes: fresh(&words.notes, now.notes.as_deref().unwrap_or_default()),
            guests: guests::changed(words, now, &mut notes)?,
            repeat: None,
            online: words.online.filter(|online| *online != now.link.is_some()),
            show: words.show.filter(|show| *show != now.show),
            visibility: words.visibility,
            reminder: words.reminder,
            category: words.category.clone(),
            uid: None,
            original: None,
            organizer: None,
        },
        span: moves.cloned(),
        notes,
    })
}

/// Refuses a change that the service does not support.
pub(crate) fn fits(change: &EventPatch, can: &CalendarCapabilities) -> Result<()> {
    if let Some(guests) = &change.guests {
        guests::not_too_many(guests, can)?;
    }
    if change.show == Some(ShowAs::Focus) && !can.event_kinds {
        return Err(Error::argument(format!("{} has no focus time", can.name))
            .next("use show=busy, with a category if you like"));
    }
    // The rule of an imported event is not checked when it is read.
    match &change.repeat {
        Some(Some(repeat)) => check_frequency(&repeat.rule),
        _ => Ok(()),
    }
}

/// Describes a change to the user: `start Tue … → Wed …; title "A" → "B"`.
pub(crate) fn difference(change: &EventPatch, now: &Event, zone: &TimeZone) -> String {
    let mut parts = Vec::new();
    if let Some((start, end)) = &change.time {
        let (from, to) = (start.when(), end.when());
        parts.push(format!("time {} → {}", shown(now.start, now.end, zone), shown(from, to, zone)));
    }
    let texts = [
        ("title", &change.title, now.title.as_str()),
        ("where", &change.place, now.place.as_str()),
    ];
    for (name, to, from) in texts {
        if let Some(to) = to {
            parts.push(format!("{name} {} → {}", quoted(from), quoted(to)));
        }
    }
    if change.notes.is_some() {
        parts.push("notes".to_owned());
    }
    if let Some(list) = &change.guests {
        let (added, removed) = (missing(list, &now.guests), missing(&now.guests, list));
        let mut people = Vec::new();
        if !added.is_empty() {
            people.push(format!("+ {}", guests::guest_line(&added)));
        }
        if !removed.is_empty() {
            people.push(format!("- {}", guests::guest_line(&removed)));
        }
        // Only marks of optional attendance differ.
        if people.is_empty() {
            parts.push("people optional or not".to_owned());
        } else {
            parts.push(format!("people {}", people.join(" ")));
        }
    }
    if let Some(repeat) = &change.repeat {
        let rule = |repeat: Option<&EventRecurrence>| {
            let rule = repeat.map(|repeat| repeat.rule.clone());
            rule.unwrap_or_else(|| "none".to_owned())
        };
        let (from, to) = (rule(now.repeat.as_ref()), rule(repeat.as_ref()));
        match from == to {
            // Dates left out move along with the series.
            true if change.time.is_some() => {}
            true => parts.push("dates left out".to_owned()),
            false => parts.push(format!("repeats {from} → {to}")),
        }
    }
    let others = [
        ("online", change.online.is_some()),
        ("show", change.show.is_some()),
        ("visibility", change.visibility.is_some()),
        ("reminder", change.reminder.is_some()),
        ("category", change.category.is_some()),
    ];
    let named = others.iter().filter(|(_, value)| *value);
    parts.extend(named.map(|(name, _)| (*name).to_owned()));
    parts.join("; ")
}

/// Returns the guests of `one` who are not among `other`.
fn missing(one: &[EventGuest], other: &[EventGuest]) -> Vec<EventGuest> {
    let same = |guest: &&EventGuest| {
        let mut others = other.iter();
        !others.any(|known| known.address.is(&guest.address))
    };
    one.iter().filter(same).cloned().collect()
}

fn quoted(text: &str) -> String {
    if text.is_empty() { "none".to_owned() } else { format!("\"{}\"", brief(text)) }
}

/// Describes a new event to the user.
pub(crate) fn description(change: &EventPatch, zone: &TimeZone) -> String {
    let mut parts = Vec::new();
    if let Some((start, end)) = &change.time {
        parts.push(shown(start.when(), end.when(), zone));
    }
    if let Some(place) = &change.place {
        parts.push(format!("at {}", brief(place)));
    }
    if let Some(list) = &change.guests {
        parts.push(format!("with {}", guests::guest_line(list)));
    }
    if let Some(Some(repeat)) = &change.repeat {
        parts.push(format!("repeats {}", repeat.rule));
    }
    if change.online == Some(true) {
        parts.push("online".to_owned());
    }
    parts.join("; ")
}
