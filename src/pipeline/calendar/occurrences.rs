//! The occurrences of a series around a write of ours: their handles, and their rows.
//!
//! A service gives occurrences new ids when the time or the rule of their series changes, or
//! when the series is split. The handles that the reader has are moved to the new ids, and the
//! new state counts as shown. Which events a write is about is decided elsewhere.

use std::collections::BTreeMap;

use daysheet_core::error::Result;
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::ids::{AccountId, EventId};
use daysheet_core::project::project;
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{EVENT, TableColumn};
use daysheet_core::text::{Note, note, ours};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::search::seen::{remember_events, substance};
use super::target::CalendarOwner;
use crate::pipeline::context::Context;
use crate::pipeline::handles::hand_out_after;
use crate::pipeline::rows::rows_of;
use crate::store::HandleKind;

/// The range around now in which handles follow their occurrences.
const BEHIND: SignedDuration = SignedDuration::from_hours(60 * 24);
const AHEAD: SignedDuration = SignedDuration::from_hours(400 * 24);
/// The maximum distance between an occurrence and the one that takes over its handle: half a week,
/// so that a weekly occurrence is not taken for its neighbour.
const NEAR: SignedDuration = SignedDuration::from_hours(84);
/// The number of occurrences that an answer lists.
const LISTED: usize = 10;

/// An occurrence that the reader has a handle of.
pub(crate) struct KnownOccurrence {
    account: AccountId,
    /// The series that it belongs to after the writes; `None` for any series that was written.
    series: Option<EventId>,
    number: u64,
    id: EventId,
    /// The start according to the rule.
    at: Timestamp,
}

/// A series that was written, for the rows of its occurrences.
struct WrittenSeries {
    owner: CalendarOwner,
    event: Event,
}

/// The occurrences that a report is about: those known before its writes, and the series
/// that were written.
#[derive(Default)]
pub(crate) struct SeriesLog {
    known: Vec<KnownOccurrence>,
    written: Vec<WrittenSeries>,
}

impl SeriesLog {
    /// Adds the occurrences known before a write, once it is done.
    pub(super) fn knew(&mut self, known: Vec<KnownOccurrence>) {
        self.known.extend(known);
    }

    /// Adds the occurrences known before a write that made them belong to another series, or to an
    /// unknown one.
    pub(super) fn knew_of(&mut self, known: Vec<KnownOccurrence>, series: Option<EventId>) {
        let moved = known.into_iter().map(|one| KnownOccurrence { series: series.clone(), ..one });
        self.known.extend(moved);
    }

    /// Adds an event that was written, if it recurs.
    pub(crate) fn wrote(&mut self, owner: &CalendarOwner, event: &Event) {
        if event.repeat.is_some() {
            self.written.push(WrittenSeries { owner: owner.clone(), event: event.clone() });
        }
    }
}

/// Returns true for a change after which the occurrences of a series differ from those shown.
pub(super) fn is_visible(change: &EventPatch) -> bool {
    change.time.is_some()
        || change.repeat.is_some()
        || change.title.is_some()
        || change.place.is_some()
}

/// Returns the occurrences of a series that the reader has handles of, from an instant on if one is
/// given. Called before the series is written. A failure costs only these handles, which may be
/// invalid after the write.
pub(super) async fn known_before(
    ctx: &Context,
    owner: &CalendarOwner,
    series: &Event,
    from: Option<Timestamp>,
) -> Vec<KnownOccurrence> {
    if series.repeat.is_none() {
        return Vec::new();
    }
    let mut known = known_occurrences(ctx, owner, series).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "handles of occurrences cannot follow their series");
        Vec::new()
    });
    known.retain(|one| from.is_none_or(|from| one.at >= from));
    known
}

async fn known_occurrences(
    ctx: &Context,
    owner: &CalendarOwner,
    series: &Event,
) -> Result<Vec<KnownOccurrence>> {
    let account = &owner.account.id;
    let found = occurrences(ctx, owner, series).await?;
    let ids: Vec<&str> = found.iter().map(|one| one.id.as_str()).collect();
    let numbers = ctx.store.known_handles(account, HandleKind::Event, &ids).await?;
    let zone = &ctx.config.zone;
    let known = found.iter().filter_map(|one| {
        Some(KnownOccurrence {
            account: account.clone(),
            series: Some(series.id.clone()),
            number: *numbers.get(one.id.as_str())?,
            id: one.id.clone(),
            at: by_rule(one, zone),
        })
    });
    Ok(known.collect())
}

/// Moves the known handles to the occurrences of the series that were written, and returns rows of
/// the first occurrences; `None` without a series. Failures become notes, because the writes
/// themselves are done.
pub(crate) async fn follow(
    ctx: &Context,
    log: SeriesLog,
    notes: &mut Vec<Note>,
) -> Option<RowTable> {
    let SeriesLog { mut known, written } = log;
    let columns = columns(written.len() > 1);
    let mut rows = RowTable::new(&EVENT, columns).section("occurrences");
    for WrittenSeries { owner, event } in &written {
        let (mut of_series, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut known).into_iter().partition(|one| {
                // A handle belongs to an account, and cannot move to an occurrence of another.
                one.account == owner.account.id
                    && one.series.as_ref().is_none_or(|series| *series == event.id)
            });
        known = others;
        let found = match occurrences(ctx, owner, event).await {
            Ok(found) => found,
            Err(error) => {
                // The handles of this series may still be valid, so they are not reported as lost.
                notes.push(note!("occurrences were not listed: {}", error));
                continue;
            }
        };
        if let Err(error) = move_handles(ctx, owner, &found, &mut of_series).await {
            notes.push(note!("ids of occurrences may have changed: {}", error));
        }
        known.append(&mut of_series);
        list(ctx, owner, found, &mut rows, notes).await;
    }
    let lost: Vec<String> = known.iter().map(|one| HandleKind::Event.handle(one.number)).collect();
    if !lost.is_empty() {
        notes.push(note!("no longer occurrences of the series: {}", ours(lost.join(" "))));
    }
    (!rows.is_empty()).then_some(rows)
}

/// Moves the handles of `known` to the matching occurrences of `found`, and removes them from the
/// list.
async fn move_handles(
    ctx: &Context,
    owner: &CalendarOwner,
    found: &[Event],
    known: &mut Vec<KnownOccurrence>,
) -> Result<()> {
    let account = &owner.account.id;
    let zone = &ctx.config.zone;
    let mut free: BTreeMap<&str, (Timestamp, &Event)> =
        found.iter().map(|one| (one.id.as_str(), (by_rule(one, zone), one))).collect();
    let mut shown = Vec::new();
    // First those that kept their ids, then those at the same time, then the nearest: an occurrence
    // that was not moved is never taken for a neighbour that was.
    let (kept, moved): (Vec<_>, Vec<_>) =
        std::mem::take(known).into_iter().partition(|one| free.contains_key(one.id.as_str()));
    for one in kept {
        if let Some((_, facts)) = free.remove(one.id.as_str()) {
            shown.push((one.number, substance(facts)));
        }
    }
    let mut rest = moved;
    for most in [SignedDuration::ZERO, NEAR] {
        for one in std::mem::take(&mut rest) {
            let away = |at: &Timestamp| at.duration_since(one.at).abs();
            let nearest = free.values().copied().min_by_key(|(at, _)| away(at));
            let Some((_, facts)) = nearest.filter(|(at, _)| away(at) <= most) else {
                rest.push(one);
                continue;
            };
            free.remove(facts.id.as_str());
            let kind = HandleKind::Event;
            ctx.store.move_handle(account, kind, one.id.as_str(), facts.id.as_str()).await?;
            shown.push((one.number, substance(facts)));
        }
    }
    known.extend(rest);
    ctx.store.remember_events(&shown).await
}

/// Adds rows of the first occurrences that are not over, or of the first ones if all are.
async fn list(
    ctx: &Context,
    owner: &CalendarOwner,
    mut found: Vec<Event>,
    rows: &mut RowTable,
    notes: &mut Vec<Note>,
) {
    let (now, zone) = (ctx.now(), &ctx.config.zone);
    let past = found.iter().take_while(|one| one.end.instant(zone) <= now).count();
    if past < found.len() {
        found.drain(..past);
    }
    let is_cut = found.len() > LISTED;
    found.truncate(LISTED);
    let context = ctx.context_for(owner.port.api(), &owner.label, &owner.account);
    let mut some = rows_of(&context, &EVENT, rows.columns(), &found, notes);
    hand_out_after(ctx, &mut some, &owner.account, notes).await;
    if let Err(error) = remember_events(ctx, &some, &found).await {
        tracing::warn!(%error, "the occurrences do not count as shown");
    }
    rows.append(some);
    let more = note!("only the first {} occurrences are listed", LISTED);
    if is_cut && !notes.contains(&more) {
        notes.push(more);
    }
}

/// Returns the occurrences of a series around now, or from its start on if that is later.
async fn occurrences(ctx: &Context, owner: &CalendarOwner, series: &Event) -> Result<Vec<Event>> {
    let (now, start) = (ctx.now(), series.start.instant(&ctx.config.zone));
    let from = now.max(start).checked_sub(BEHIND).unwrap_or(now);
    let to = now.max(start).checked_add(AHEAD).unwrap_or(now);
    let projection = project(owner.port.api(), &columns(true));
    let mut found = owner.port.instances(&series.id, from, to, &projection).await?;
    found.retain(|one| !one.cancelled);
    Ok(found)
}

/// Returns the start of an occurrence according to the rule of its series.
fn by_rule(facts: &Event, zone: &TimeZone) -> Timestamp {
    facts.original.unwrap_or(facts.start).instant(zone)
}

/// Returns the columns of a row; of several series, each row has its title.
fn columns(several: bool) -> Vec<&'static TableColumn> {
    let title = several.then_some("title");
    ["id", "start", "end"].into_iter().chain(title).filter_map(|name| EVENT.field(name)).collect()
}
