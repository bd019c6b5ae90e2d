//! The parts of a series that is split: the position of the cut, its exceptions, and the copy that
//! becomes the new series. The writes are in `split.rs`.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::event::{Event, EventPatch, EventVisibility, ShowAs};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{Note, note, ours};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::make;
use super::series::SeriesBase;
use super::span::civil;
use crate::pipeline::calendar::target::{EventTarget, fetch_event};
use crate::pipeline::context::Context;

/// Exceptions that are named in a note.
const NAMED: usize = 3;

/// A series, cut in two.
pub(crate) struct SplitSeries {
    /// The rule of the part that stays.
    pub(crate) before: EventRecurrence,
    /// The series that begins with the occurrence.
    pub(crate) base: SeriesBase,
}

/// The occurrences of a series that differ from its rule.
#[derive(Default)]
pub(crate) struct SeriesExceptions {
    /// Occurrences changed individually: the time according to the rule, and the current one.
    changed: Vec<(EventTime, EventTime)>,
    /// Cancelled occurrences, by their times according to the rule.
    cancelled: Vec<EventTime>,
    /// True if the service did not list them.
    is_incomplete: bool,
}

/// Returns the two parts of a series that is split at an occurrence; `None` if that is its first.
pub(crate) fn cut(
    master: &EventTarget,
    at: EventTime,
    zone: &TimeZone,
) -> Result<Option<SplitSeries>> {
    let facts = &master.event;
    let zone = master.zone(zone);
    let Some(repeat) = &facts.repeat else {
        return Err(Error::argument(format!("the rule of {} cannot be read", master.handle))
            .next("change single occurrences with scope=this"));
    };
    let start = facts.start.zoned(&zone);
    // The length on the clock, so that the end keeps its time of day across daylight saving.
    let length = civil(&facts.end.zoned(&zone)).duration_since(civil(&start));
    let Some((before, after)) = repeat.split(&start, at)? else {
        return Ok(None);
    };
    let first = repeat.nominal(&start, at).unwrap_or_else(|| at.zoned(&zone));
    let last = civil(&first)
        .checked_add(length)
        .map_err(|_| Error::argument("the event would be out of range"))?;
    let end = match &first {
        ZonedTime::Day(_) => ZonedTime::Day(last.date()),
        ZonedTime::At(_, zone) => ZonedTime::At(last, zone.clone()),
    };
    Ok(Some(SplitSeries { before, base: SeriesBase { start: first, end, repeat: after, zone } }))
}

impl SplitSeries {
    /// Describes a change of the later part to the user.
    pub(super) fn difference(&self, now: &Event, change: &EventPatch, zone: &TimeZone) -> String {
        let from =
            Event { start: self.base.start.when(), end: self.base.end.when(), ..now.clone() };
        let mut change = change.clone();
        change.time =
            change.time.filter(|(start, end)| (start.when(), end.when()) != (from.start, from.end));
        let rule =
            |repeat: &Option<EventRecurrence>| repeat.as_ref().map(|repeat| repeat.rule.clone());
        change.repeat = change.repeat.filter(|repeat| rule(repeat) != rule(&now.repeat));
        format!(
            "a new series from {} on: {}",
            time::start(from.start, zone),
            make::difference(&change, &from, zone)
        )
    }
}

/// Cuts the rule of a series. If the connection breaks, the series is read again to see whether it
/// was cut; the write is not repeated.
pub(crate) async fn shorten_series(
    ctx: &Context,
    master: &EventTarget,
    change: &EventPatch,
    notify: GuestNotice,
) -> Result<Event> {
    let port = &master.owner.port;
    let error = match port.update(&master.event, change, notify).await {
        Ok(event) => return Ok(event),
        Err(error) if error.is_open() => error,
        Err(error) => return Err(error),
    };
    let Ok(now) = fetch_event(ctx, master.owner.clone(), &master.event.id).await else {
        return Err(error);
    };
    let rule = |repeat: Option<&EventRecurrence>| repeat.map(|repeat| repeat.rule.clone());
    let new_repeat = change.repeat.as_ref().and_then(Option::as_ref);
    if rule(now.event.repeat.as_ref()) == rule(new_repeat) {
        return Ok(now.event);
    }
    // An unchanged series proves nothing: the write may still be carried out.
    Err(error)
}

/// Returns the exceptions of a series: all, or those from an occurrence on.
pub(crate) async fn find_exceptions(
    ctx: &Context,
    master: &EventTarget,
    from: Option<EventTime>,
) -> SeriesExceptions {
    let zone = master.zone(&ctx.config.zone);
    let later = |at: EventTime| from.is_none_or(|from| at.instant(&zone) >= from.instant(&zone));
    // Occurrences that the rule excludes; the service's list adds those cancelled later.
    let known = master.event.repeat.iter().flat_map(|repeat| repeat.except.iter().copied());
    let mut found = SeriesExceptions {
        cancelled: known.filter(|at| later(*at)).collect(),
        ..Default::default()
    };
    let Some(uid) = master.event.uid.as_deref() else {
        return found;
    };
    // A failed look-up does not affect the change.
    let Ok(events) = master.owner.port.by_uid(uid).await else {
        return SeriesExceptions { is_incomplete: true, ..found };
    };
    for event in events {
        let (Some(original), Some(series)) = (event.original, &event.series) else {
            continue;
        };
        if *series != master.event.id || !later(original) {
            continue;
        }
        if event.cancelled {
            found.cancel(original, &zone);
        } else {
            found.changed.push((original, event.start));
        }
    }
    found.changed.sort_by_key(|(at, _)| at.instant(&zone));
    found.cancelled.sort_by_key(|at| at.instant(&zone));
    found
}

impl SeriesExceptions {
    fn cancel(&mut self, original: EventTime, zone: &TimeZone) {
        let mut known = self.cancelled.iter();
        if !known.any(|at| time::same_start(*at, original, &[zone])) {
            self.cancelled.push(original);
        }
    }

    /// Leaves the cancelled occurrences out of a rule as well, so that a change of the rule does
    /// not bring them back.
    pub(super) fn leave_out(&self, repeat: &mut EventRecurrence, zone: &TimeZone) {
        for at in &self.cancelled {
            let mut known = repeat.except.iter();
            if !known.any(|other| time::same_start(*other, *at, &[zone])) {
                repeat.except.push(*at);
            }
        }
    }

    /// Returns notes on the exceptions when the rule or its time changes. `starts_move`
    /// is true if occurrences begin at other times.
    pub(super) fn notes(&self, zone: &TimeZone, now: Timestamp, starts_move: bool) -> Vec<Note> {
        let mut notes = Vec::new();
        if let Some((who, lines)) = self.changed_line(zone) {
            let follow = match self.changed.len() {
                // An exception belongs to the start that it replaces. While the starts stay, not
                // every service drops it.
                _ if !starts_move => "may follow",
                1 => "follows",
                _ => "follow",
            };
            notes.push(note!("{} {} the rule again: {}", ours(who), follow, ours(lines)));
        }
        // Past occurrences no longer matter.
        let coming = self.cancelled.iter().filter(|at| at.instant(zone) >= now);
        let coming: Vec<String> = coming.map(|at| time::start(*at, zone)).collect();
        if !coming.is_empty() {
            notes.push(note!("cancelled stays cancelled: {}", ours(first_of(&coming))));
        }
        if self.is_incomplete {
            notes.push(
                "exceptions of the series could not be looked up: they may follow the rule again"
                    .into(),
            );
        }
        notes
    }

    /// Describes the changed occurrences that a deletion of the series also deletes.
    pub(crate) fn deleted(&self, zone: &TimeZone) -> String {
        let line = self.changed_line(zone);
        line.map_or_else(String::new, |(who, lines)| format!(", with {who}: {lines}"))
    }

    /// Returns the number of changed occurrences, in words, with their times: according to the
    /// rule, and current.
    fn changed_line(&self, zone: &TimeZone) -> Option<(String, String)> {
        let who = match self.changed.len() {
            0 => return None,
            1 => "an occurrence changed individually".to_owned(),
            many => format!("{many} occurrences changed individually"),
        };
        let lines = self.changed.iter().map(|(original, now)| {
            let shown = time::start(*original, zone);
            if original == now {
                shown
            } else {
                format!("{shown} (moved to {})", time::end(*original, *now, zone))
            }
        });
        Some((who, first_of(&lines.collect::<Vec<_>>())))
    }
}

/// Lists the first of some times, and the number of the others.
fn first_of(times: &[String]) -> String {
    let named = times.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match times.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Returns the new series: a copy of the old one with the change.
pub(crate) fn copied(master: &EventTarget, change: EventPatch) -> EventPatch {
    let event = &master.event;
    let filled = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    EventPatch {
        title: change.title.or_else(|| Some(event.title.clone())),
        place: change.place.or_else(|| filled(&event.place)),
        // Without the joining details of the old meeting, because the copy gets a meeting of its
        // own.
        notes: change.notes.or_else(|| master.owner.port.own_notes(event)),
        guests: change
            .guests
            .or_else(|| Some(event.guests.clone()))
            .filter(|list| !list.is_empty()),
        repeat: change.repeat.filter(Option::is_some),
        online: change.online.or_else(|| event.link.is_some().then_some(true)),
        show: change.show.or(Some(event.show).filter(|show| *show != ShowAs::Busy)),
        visibility: change
            .visibility
            .or(Some(event.visibility).filter(|one| *one != EventVisibility::Default)),
        reminder: change.reminder.or_else(|| event.reminder.map(Some)),
        category: change.category.or_else(|| filled(&event.categories.join(", "))),
        ..change
    }
}
