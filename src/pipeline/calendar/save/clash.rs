//! Conflicts of an event to be written: clashes in time and likely duplicates, over the
//! calendars of all accounts.
//!
//! It only reads. Each account is queried once for all items, in a range from the first
//! to the last of their times, and for further pages of it up to a limit.

use std::collections::{HashMap, HashSet};

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{Event, EventPatch, ShowAs};
use daysheet_core::ids::{AccountId, EmailAddress, EventId};
use daysheet_core::project::project;
use daysheet_core::provider::calendar::EventListRequest;
use daysheet_core::schemas::{EVENT, TableColumn};
use daysheet_core::text::search_text::words;
use daysheet_core::text::{Note, note, ours, quoted, quoted_end};
use futures_util::future::join_all;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::destination::account_calendars;
use crate::pipeline::access::untrusted::note_untrusted_quote;
use crate::pipeline::calendar::clashes::{
    TimeClaim, absences, away, is_declined, meets_absence, overlap,
};
use crate::pipeline::calendar::guests::others;
use crate::pipeline::calendar::search::calendars::KnownCalendar;
use crate::pipeline::calendar::target::{CalendarOwner, calendar_owner, event_handles, span};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;

/// The number of days ahead for which occurrences of a series are checked.
const AHEAD: i64 = 90;
/// The maximum number of those occurrences.
const MAX_OCCURRENCES: usize = 30;
/// Events of one calendar on one page.
const PAGE: usize = 500;
/// The maximum number of pages.
const PAGES: usize = 8;
/// The number of events in absences that are reported.
const MISSED: usize = 10;
/// The number of clashes of one item that are reported singly.
const NAMED: usize = 4;

/// An event to be written, with the facts that decide on its conflicts.
#[derive(Debug, Clone)]
pub(crate) struct ClashCandidate {
    pub(crate) title: String,
    pub(crate) uid: Option<String>,
    /// The properties that decide whether it competes with others.
    pub(crate) claim: TimeClaim,
    /// Its times, one for each occurrence of a series.
    pub(crate) times: Vec<(EventTime, EventTime)>,
    /// The ids of the event that it becomes and of its series, which are no conflicts.
    pub(crate) itself: Vec<EventId>,
}

impl ClashCandidate {
    /// Records the event that was created from it, which may already be among those found. An item
    /// that was not written has no conflicts.
    pub(super) fn becomes(&mut self, made: Option<Event>) {
        match made {
            Some(made) => {
                self.uid = self.uid.take().or(made.uid);
                self.itself = std::iter::once(made.id).chain(made.series).collect();
            }
            None => (self.uid, self.times) = (None, Vec::new()),
        }
    }

    /// Returns the times at which it competes with others.
    fn competing(&self, zone: &TimeZone) -> impl Iterator<Item = (EventTime, EventTime)> {
        self.times.iter().copied().filter(|time| self.claim.competes(*time, zone))
    }
}

/// The conflicts of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ItemClashes {
    /// A line each.
    pub(crate) lines: Vec<Note>,
    /// Accounts and ids of events with just the same time and title.
    pub(super) twins: Vec<(AccountId, EventId)>,
}

/// An event that already exists.
struct ExistingEvent {
    owner: usize,
    calendar: String,
    event: Event,
}

/// The events of all accounts in a range, and notes on calendars that could not be read.
#[derive(Default)]
pub(super) struct EventsNear {
    seen: Vec<CalendarOwner>,
    there: Vec<ExistingEvent>,
    several: bool,
    notes: Vec<Note>,
}

/// The events of one account, and notes about calendars left out.
struct SeenEvents {
    owner: CalendarOwner,
    there: Vec<(String, Event)>,
    cut: bool,
    failed: Vec<Error>,
}

/// Returns the times of an event: its own, or the times of its occurrences in the next 90 days, 30
/// at most.
pub(crate) fn times(
    start: &ZonedTime,
    end: &ZonedTime,
    repeat: Option<&EventRecurrence>,
    now: Timestamp,
) -> Vec<(EventTime, EventTime)> {
    let (from, to) = (start.when(), end.when());
    let Some(repeat) = repeat else {
        return vec![(from, to)];
    };
    let first = from.instant(&TimeZone::UTC).max(now);
    // A day is added on either side, because days begin at different times in different zones.
    let until = first.checked_add((24 * (AHEAD + 1)).hours()).unwrap_or(Timestamp::MAX);
    let first = first.checked_sub(24.hours()).unwrap_or(Timestamp::MIN);
    let found = repeat.occurrences(start, first, until, MAX_OCCURRENCES);
    let again = |at: EventTime| match (from, to, at) {
        (EventTime::Day(from), EventTime::Day(to), EventTime::Day(day)) => {
            let days = i64::from((to - from).get_days()).days();
            Some((at, EventTime::Day(day.checked_add(days).ok()?)))
        }
        (EventTime::At(from), EventTime::At(to), EventTime::At(at)) => {
            let end = at.checked_add(to.duration_since(from)).ok()?;
            Some((EventTime::At(at), EventTime::At(end)))
        }
        _ => None,
    };
    found.into_iter().filter_map(again).collect()
}

/// Returns the claim of a new or changed event; `main` if it is in the main calendar.
pub(crate) fn claim(change: &EventPatch, now: Option<&Event>, main: bool) -> TimeClaim {
    let known = now.map(|facts| TimeClaim::new(facts, main));
    let guests = change.guests.iter().flatten();
    let show = change.show.or(known.map(|claim| claim.show)).unwrap_or(ShowAs::Busy);
    TimeClaim {
        show,
        uncertain: match change.show {
            Some(show) => show == ShowAs::Tentative,
            None => known.is_some_and(|claim| claim.uncertain),
        },
        personal: main
            || known.is_some_and(|claim| claim.personal)
            || guests.into_iter().any(|guest| !guest.room),
    }
}

/// Returns the conflicts of each item, and notes about calendars that could not be read.
///
/// # Errors
/// Only with `strict`, if an account could not be read.
pub(crate) async fn find_clashes(
    ctx: &Context,
    candidates: &[ClashCandidate],
    strict: bool,
) -> Result<(Vec<ItemClashes>, Vec<Note>)> {
    let near = events_near(ctx, candidates, strict).await?;
    compare_clashes(ctx, candidates, near, strict).await
}

/// Fetches the events of all accounts around the times of the items.
///
/// # Errors
/// Only with `strict`, if an account could not be read.
pub(super) async fn events_near(
    ctx: &Context,
    candidates: &[ClashCandidate],
    strict: bool,
) -> Result<EventsNear> {
    let zone = &ctx.config.zone;
    let times = || candidates.iter().flat_map(|one| &one.times);
    let from = times().map(|(from, _)| from.instant(zone)).min();
    let to = times().map(|(_, to)| to.instant(zone)).max();
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(EventsNear::default());
    };
    // Include events that start exactly at the end.
    let to = to.checked_add(1.second()).unwrap_or(to);

    let accounts = ctx.accounts.list().await?;
    let several = accounts.len() > 1;
    let mut owners = Vec::new();
    let mut notes = Vec::new();
    for account in accounts {
        let label = account.email.clone();
        match calendar_owner(ctx, account).await {
            Ok(owner) => owners.push(owner),
            Err(error) => left_out(error.context(label), strict, &mut notes)?,
        }
    }
    let request = owners.into_iter().map(|owner| async move {
        let label = owner.label.clone();
        let request = async {
            let places = account_calendars(ctx, &owner, false).await?;
            look(owner, places, from, to).await
        };
        ctx.await_account(true, request).await.map_err(|error| error.context(label))
    });
    let (mut seen, mut there) = (Vec::new(), Vec::new());
    for answer in join_all(request).await {
        match answer {
            Ok(one) => {
                if one.cut {
                    notes.push(note!(
                        "{}: only the first {} events were checked for clashes",
                        ours(&one.owner.label),
                        one.there.len()
                    ));
                }
                for error in one.failed {
                    let error = error.context(&one.owner.label);
                    left_out(error, strict, &mut notes)?;
                }
                let number = seen.len();
                there.extend(one.there.into_iter().map(|(calendar, event)| ExistingEvent {
                    owner: number,
                    calendar,
                    event,
                }));
                seen.push(one.owner);
            }
            Err(error) => left_out(error, strict, &mut notes)?,
        }
    }
    Ok(EventsNear { seen, there, several, notes })
}

/// Compares items with the events around them.
pub(super) async fn compare_clashes(
    ctx: &Context,
    candidates: &[ClashCandidate],
    near: EventsNear,
    strict: bool,
) -> Result<(Vec<ItemClashes>, Vec<Note>)> {
    let zone = &ctx.config.zone;
    let EventsNear { seen, mut there, several, mut notes } = near;
    // An event that is moved in the same call leaves its present time, unless it may
    // be refused.
    let moved = candidates.iter().filter(|one| !strict && !one.times.is_empty());
    let moved: Vec<&EventId> = moved.filter_map(|one| one.itself.first()).collect();
    there.retain(|one: &ExistingEvent| {
        let facts = &one.event;
        !moved.contains(&&facts.id)
            && !facts.series.as_ref().is_some_and(|series| moved.contains(&series))
    });
    notes.extend(absences_note(ctx, candidates, &there, &seen, several).await?);
    notes.extend(missed_events_note(ctx, candidates, &there, &seen, several).await?);
    let mut found: Vec<ItemClashes> = Vec::new();
    for (number, one) in candidates.iter().enumerate() {
        let mut lines = Vec::new();
        let groups = groups(one, &there, zone);
        let more = groups.len().saturating_sub(NAMED);
        if !groups.is_empty() {
            note_untrusted_quote(ctx);
        }
        for group in groups.iter().take(NAMED) {
            lines.push(clash_line(ctx, group, &seen, several).await?);
        }
        if more > 0 {
            lines.push(note!("and clashes with {} more", more));
        }
        let before = candidates.iter().zip(&found).take(number).enumerate();
        // An item that is refused itself causes no conflict.
        let stays = before.filter(|(_, (_, met))| !strict || met.lines.is_empty());
        lines.extend(stays.filter_map(|(at, (other, _))| among(one, at, other, zone)));
        let twins = there.iter().filter(|there| is_twin(one, &there.event));
        let twins = twins.filter_map(|there| {
            let owner = seen.get(there.owner)?;
            Some((owner.account.id.clone(), there.event.id.clone()))
        });
        found.push(ItemClashes { lines, twins: twins.collect() });
    }
    Ok((found, notes))
}

/// Returns a note on absences at the times of the items.
async fn absences_note(
    ctx: &Context,
    candidates: &[ClashCandidate],
    there: &[ExistingEvent],
    seen: &[CalendarOwner],
    several: bool,
) -> Result<Option<Note>> {
    let zone = &ctx.config.zone;
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for event in there {
        let Some(word) = away(&event.event) else { continue };
        let is_met = candidates.iter().any(|one| {
            let is_itself = one.itself.contains(&event.event.id);
            !is_itself && one.competing(zone).any(|time| meets_absence(time, &event.event, zone))
        });
        // Of copies in several calendars, one is enough.
        if is_met && known.insert(event.event.uid.as_deref().unwrap_or(event.event.id.as_str())) {
            let event = mention_event(ctx, event, seen, several).await?;
            found.push(format!("{event}: {word}"));
        }
    }
    if !found.is_empty() {
        note_untrusted_quote(ctx);
    }
    Ok(absences(found))
}

/// Returns a note on the user's own events during the absences among the items.
async fn missed_events_note(
    ctx: &Context,
    candidates: &[ClashCandidate],
    there: &[ExistingEvent],
    seen: &[CalendarOwner],
    several: bool,
) -> Result<Option<Note>> {
    let zone = &ctx.config.zone;
    let absences: Vec<_> = candidates.iter().filter(|one| one.claim.show == ShowAs::Oof).collect();
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for event in there {
        let facts = &event.event;
        let claim = TimeClaim::new(facts, event.calendar.is_empty());
        let is_met = absences.iter().any(|one| {
            let mut times = one.times.iter();
            !one.itself.contains(&facts.id) && times.any(|time| meets_absence(*time, facts, zone))
        });
        let is_own = !is_declined(facts) && claim.competes((facts.start, facts.end), zone);
        let key = (facts.uid.as_deref().unwrap_or(facts.id.as_str()), facts.start.instant(zone));
        if is_met && is_own && known.insert(key) {
            found.push(event);
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    note_untrusted_quote(ctx);
    found.sort_by_key(|event| event.event.start.instant(zone));
    let mut lines = Vec::new();
    let nobody = EmailAddress::default();
    for event in found.iter().take(MISSED) {
        let own = seen.get(event.owner).map_or(&nobody, |owner| &owner.account.email);
        let guests = others(&event.event.guests, own);
        let mut line = mention_event(ctx, event, seen, several).await?;
        if let Some(first) = guests.first() {
            line.push_str(&format!(", with {}", quoted_end(first.address.as_str())));
        }
        if guests.len() > 1 {
            line.push_str(&format!(" and {} more", guests.len() - 1));
        }
        lines.push(line);
    }
    if found.len() > MISSED {
        lines.push(format!("{} more", found.len() - MISSED));
    }
    Ok(Some(note!("during this absence you have: {}", ours(lines.join("; ")))))
}

async fn clash_line(
    ctx: &Context,
    group: &ClashGroup<'_>,
    seen: &[CalendarOwner],
    several: bool,
) -> Result<Note> {
    let what = if group.duplicate { "likely a duplicate of" } else { "clashes with" };
    let mut line = format!("{what} {}", mention_event(ctx, group.first, seen, several).await?);
    if group.count > 1 {
        line.push_str(&format!(" and {} more of it", group.count - 1));
    }
    Ok(note!("{}", ours(line)))
}

/// Names an event by its id, title and time, with its calendar unless that is the main one, and
/// with its account if there are several.
async fn mention_event(
    ctx: &Context,
    event: &ExistingEvent,
    seen: &[CalendarOwner],
    several: bool,
) -> Result<String> {
    let facts = &event.event;
    let owner = seen.get(event.owner);
    let mut name = String::new();
    if let Some(owner) = owner {
        let handles = event_handles(ctx, &owner.account, &[&facts.id]).await?;
        name = handles.into_iter().next().unwrap_or_default();
    }
    let when = span(facts.start, facts.end, &ctx.config.zone);
    let mut line = format!("{name} {} {when}", quoted(&facts.title));
    if !event.calendar.is_empty() {
        line.push_str(&format!(" in {}", quoted(&event.calendar)));
    }
    if let Some(owner) = owner.filter(|_| several) {
        line.push_str(&format!(", {}", owner.label));
    }
    Ok(line)
}

/// Reports an account that could not be read: as an error with `strict`, else as a note.
fn left_out(error: Error, strict: bool, notes: &mut Vec<Note>) -> Result<()> {
    if strict {
        return Err(error.context("clashes could not be checked"));
    }
    notes.push(note!("clashes were not checked in {}", error));
    Ok(())
}

/// Fetches the events of one account's own calendars in a range.
async fn look(
    owner: CalendarOwner,
    places: Vec<KnownCalendar>,
    from: Timestamp,
    to: Timestamp,
) -> Result<SeenEvents> {
    let columns: Vec<&TableColumn> = ["id", "start", "end", "title", "show", "uid", "people"]
        .iter()
        .filter_map(|name| EVENT.field(name))
        .collect();
    let mut names = HashMap::new();
    let mut calendars = Vec::new();
    for place in places.into_iter().filter(KnownCalendar::is_writable) {
        calendars.push((place.id.clone(), None));
        // The main calendar needs no name.
        let name = if place.main { String::new() } else { place.name };
        names.insert(place.id, name);
    }
    let mut seen = SeenEvents { there: Vec::new(), cut: false, failed: Vec::new(), owner };
    for page in 0.. {
        if calendars.is_empty() {
            break;
        }
        if page == PAGES {
            seen.cut = true;
            break;
        }
        let ask = EventListRequest {
            calendars: std::mem::take(&mut calendars),
            from,
            to,
            series: false,
            projection: project(seen.owner.port.api(), &columns),
            limit: PAGE,
        };
        let answers = seen.owner.port.events(&ask).await;
        for ((id, _), answer) in ask.calendars.into_iter().zip(answers) {
            let answer = match answer {
                Ok(answer) => answer,
                // An unreadable calendar among several must not hide the others.
                Err(error) if names.len() > 1 => {
                    let name = names.get(&id).filter(|name| !name.is_empty());
                    let name = name.map_or("the main calendar", String::as_str);
                    seen.failed.push(error.context(short(name)));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let name = names.get(&id).cloned().unwrap_or_default();
            seen.there.extend(answer.events.into_iter().map(|event| (name.clone(), event)));
            if answer.next.is_some() {
                calendars.push((id, answer.next));
            }
        }
    }
    // If none can be read, one error is enough.
    match seen.failed.pop() {
        Some(error) if seen.failed.len() + 1 == names.len() => Err(error),
        error => {
            seen.failed.extend(error);
            Ok(seen)
        }
    }
}

/// One event that an item meets, or occurrences of one.
struct ClashGroup<'t> {
    first: &'t ExistingEvent,
    duplicate: bool,
    count: usize,
}

/// Returns the conflicts of an item, duplicates first, then in order of time.
fn groups<'t>(
    candidate: &ClashCandidate,
    there: &'t [ExistingEvent],
    zone: &TimeZone,
) -> Vec<ClashGroup<'t>> {
    let mut found: Vec<(Vec<&str>, ClashGroup)> = Vec::new();
    let mut sorted: Vec<&ExistingEvent> = there.iter().collect();
    sorted.sort_by_key(|one| one.event.start.instant(zone));
    for one in sorted {
        let facts = &one.event;
        let ids = || std::iter::once(&facts.id).chain(&facts.series);
        let same_uid = candidate.uid.is_some() && candidate.uid == facts.uid;
        // Copies of a changed event in other calendars are that event, too.
        let own_copy = same_uid && !candidate.itself.is_empty();
        if facts.cancelled || own_copy || ids().any(|id| candidate.itself.contains(id)) {
            continue;
        }
        let from = facts.start.instant(zone);
        let starts = |start: &EventTime| {
            start.instant(zone) == from && start.is_day() == facts.start.is_day()
        };
        let duplicate = same_uid
            || candidate.times.iter().any(|(start, _)| starts(start))
                && alike(&candidate.title, &facts.title);
        // Only the main calendar has no name.
        let there = (facts.start, facts.end);
        let claim = TimeClaim::new(facts, one.calendar.is_empty());
        let clash = claim.competes(there, zone)
            && candidate.competing(zone).any(|mine| overlap(mine, there, zone));
        if !duplicate && !clash {
            continue;
        }
        // The occurrences of a series, and its copies in other calendars, are one conflict.
        let mut keys: Vec<&str> = vec![facts.series.as_ref().unwrap_or(&facts.id).as_str()];
        keys.extend(facts.uid.as_deref());
        match found.iter_mut().find(|(known, _)| known.iter().any(|key| keys.contains(key))) {
            Some((_, group)) => {
                // The same occurrence in another calendar counts once.
                let again = group.first.event.start == facts.start;
                group.count += usize::from(!again);
                group.duplicate |= duplicate;
            }
            None => found.push((keys, ClashGroup { first: one, duplicate, count: 1 })),
        }
    }
    let mut groups: Vec<ClashGroup> = found.into_iter().map(|(_, group)| group).collect();
    // A stable sort, so that each part stays in order of time.
    groups.sort_by_key(|group| !group.duplicate);
    groups
}

/// Returns the conflict of an item with another of the same call.
fn among(one: &ClashCandidate, at: usize, other: &ClashCandidate, zone: &TimeZone) -> Option<Note> {
    let number = at + 1;
    let starts = |start: &EventTime| other.times.iter().any(|(theirs, _)| theirs == start);
    let same = one.times.iter().any(|(start, _)| starts(start));
    // Occurrences of one series share its uid.
    let exist = !one.itself.is_empty() && !other.itself.is_empty();
    let same_uid = !exist && one.uid.is_some() && one.uid == other.uid;
    if same && alike(&one.title, &other.title) || same_uid {
        return Some(note!("likely a duplicate of item {}", number));
    }
    let mut pairs = one
        .competing(zone)
        .flat_map(|mine| other.competing(zone).map(move |theirs| (mine, theirs)));
    pairs
        .any(|(mine, theirs)| overlap(mine, theirs, zone))
        .then(|| note!("clashes with item {} {}", number, quoted(&other.title)))
}

/// Returns true for an event at the first of the times, with the same length and title.
fn is_twin(candidate: &ClashCandidate, there: &Event) -> bool {
    let first = candidate.times.first();
    let title = |text: &str| daysheet_core::text::cell(text);
    first == Some(&(there.start, there.end))
        && title(&candidate.title) == title(&there.title)
        && !there.cancelled
        && !candidate.itself.contains(&there.id)
}

/// Returns true for similar titles: all words of one are in the other, or most words in both.
fn alike(one: &str, other: &str) -> bool {
    let set = |text: &str| {
        let mut words = words(text);
        words.sort_unstable();
        words.dedup();
        words
    };
    let (one, other) = (set(one), set(other));
    let common = one.iter().filter(|word| other.contains(word)).count();
    let least = one.len().min(other.len());
    match least {
        0 => one.len() == other.len(),
        least => common == least || 5 * common >= 3 * (one.len() + other.len() - common),
    }
}
