//! The event that a change, a deletion or an answer refers to: found, fetched completely, and
//! compared with the state last shown.

use std::slice;
use std::sync::Arc;

use daysheet_core::encode::Document;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::Event;
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::ids::EventId;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ColumnLevel, EVENT};
use daysheet_core::text::{self, Note};
use jiff::tz::TimeZone;

use super::search::by_id::event_target;
use super::search::seen::{remember_events, substance};
use crate::pipeline::access::accounts::{account_labels, several_accounts};
use crate::pipeline::context::Context;
use crate::pipeline::handles::{hand_out_after, number_after};
use crate::pipeline::rows::{columns_of, rows_of, zone_line};
use crate::pipeline::titles::{ItemNames, short};
use crate::store::HandleKind;
use crate::tools::calendar_save::SeriesScope;

/// One account's calendars, and its label in answers.
#[derive(Clone)]
pub(crate) struct CalendarOwner {
    pub(crate) account: Account,
    pub(crate) label: String,
    pub(crate) port: Arc<dyn Calendars>,
}

/// An event that a call is about.
pub(crate) struct EventTarget {
    pub(crate) owner: CalendarOwner,
    /// The handle by which the reader knows it.
    pub(crate) handle: String,
    number: Option<u64>,
    /// The event, complete.
    pub(crate) event: Event,
}

impl EventTarget {
    /// Returns true for a recurring event, or one of its occurrences.
    pub(super) fn recurs(&self) -> bool {
        self.event.series.is_some() || self.event.repeat.is_some()
    }

    /// Returns true for the same event of the same account.
    fn is_same(&self, other: &Self) -> bool {
        self.owner.account.id == other.owner.account.id && self.event.id == other.event.id
    }

    /// Returns its names in the answer of a call that writes it.
    pub(super) fn names(&self) -> ItemNames {
        let outcome = format!("{} {}", self.handle, title(&self.event));
        ItemNames { outcome, note: self.handle.clone() }
    }

    /// Returns the zone of its times; `zone` if that is not reported.
    pub(crate) fn zone(&self, zone: &TimeZone) -> TimeZone {
        let own = self.event.zone.as_deref().and_then(time::find_zone);
        own.unwrap_or_else(|| zone.clone())
    }

    /// Refuses a cancelled event.
    pub(super) fn not_cancelled(&self) -> Result<()> {
        if self.event.cancelled {
            Err(Error::new(ErrorKind::NotFound, format!("{} was cancelled", self.handle))
                .next("search again"))
        } else {
            Ok(())
        }
    }

    /// Returns the scope of a call that refers to it; `None` if it does not recur.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it recurs and no scope was given, or one that does not fit the id.
    pub(crate) fn scope(
        &self,
        scope: Option<SeriesScope>,
        choices: &str,
    ) -> Result<Option<SeriesScope>> {
        if !self.recurs() {
            return Ok(None);
        }
        let handle = &self.handle;
        match (scope, &self.event.series) {
            (None, series) => {
                let what = if series.is_some() { "an occurrence of a series" } else { "a series" };
                Err(Error::argument(format!("{handle} is {what}"))
                    .next(format!("give scope={choices}")))
            }
            (Some(SeriesScope::This | SeriesScope::Following), None) => {
                Err(Error::argument(format!("{handle} is the whole series, not an occurrence"))
                    .next("give the id of an occurrence from calendar_search, or scope=series"))
            }
            (scope, _) => Ok(scope),
        }
    }
}

/// Prefixes an error with the name of its event, if there are several and the error names no event.
pub(super) fn about(names: &[&str], at: usize, error: Error) -> Error {
    match names.get(at) {
        Some(name) if names.len() > 1 && !error.message().contains(name) => {
            error.context(text::brief(name))
        }
        _ => error,
    }
}

/// Refuses several writes of one event: the second would not be of the version it was made for.
pub(super) fn each_once<'t>(targets: impl Iterator<Item = &'t EventTarget>) -> Result<()> {
    let targets: Vec<&EventTarget> = targets.collect();
    for (at, one) in targets.iter().enumerate() {
        if targets.iter().take(at).any(|other| one.is_same(other)) {
            return Err(Error::argument(format!("two of the ids mean {}", one.handle))
                .next("give one of them, or scope=this for single occurrences"));
        }
    }
    Ok(())
}

/// Formats an event on one line: its time and its title.
pub(super) fn event_line(facts: &Event, zone: &TimeZone) -> String {
    format!("{} {}", span(facts.start, facts.end, zone), title(facts))
}

/// Returns the title of an event, clean and short.
pub(crate) fn title(facts: &Event) -> String {
    short(&facts.title)
}

/// Formats `Tue 2026-02-03 09h00 to 10h00`; `Tue 2026-02-03` for one whole day.
pub(crate) fn span(from: EventTime, to: EventTime, zone: &TimeZone) -> String {
    let start = time::start(from, zone);
    let end = time::end(from, to, zone);
    if start.ends_with(&end) { start } else { format!("{start} to {end}") }
}

/// Returns the calendars of an account.
pub(crate) async fn calendar_owner(ctx: &Context, account: Account) -> Result<CalendarOwner> {
    let label = account_labels(ctx).await?.label_of(&account.id);
    Ok(CalendarOwner { label, port: ctx.connect.calendars(&account)?, account })
}

/// Fetches the event that `name` names, in its current state.
pub(super) async fn named_event(ctx: &Context, name: &str) -> Result<EventTarget> {
    let (account, id) = event_target(ctx, name, None).await?;
    fetch_event(ctx, calendar_owner(ctx, account).await?, &id).await
}

/// Fetches the event with the service's own id.
pub(super) async fn fetch_event(
    ctx: &Context,
    owner: CalendarOwner,
    id: &EventId,
) -> Result<EventTarget> {
    let answer = owner.port.event(slice::from_ref(id)).await.into_iter().next();
    read_event(ctx, owner, id, answer).await
}

/// Fetches the events with these names, in their current state and in that order. An error names
/// its event.
pub(super) async fn named_events(ctx: &Context, names: &[&str]) -> Result<Vec<EventTarget>> {
    // One request per account instead of one per event.
    let mut groups: Vec<(Account, Vec<(usize, EventId)>)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let target = event_target(ctx, name, None).await;
        let (account, id) = target.map_err(|error| about(names, at, error))?;
        match groups.iter_mut().find(|(known, _)| known.id == account.id) {
            Some((_, group)) => group.push((at, id)),
            None => groups.push((account, vec![(at, id)])),
        }
    }
    let mut found = Vec::new();
    for (account, group) in groups {
        let owner = calendar_owner(ctx, account).await?;
        let ids: Vec<EventId> = group.iter().map(|(_, id)| id.clone()).collect();
        let mut answers = owner.port.event(&ids).await.into_iter();
        for (at, id) in group {
            let target = read_event(ctx, owner.clone(), &id, answers.next()).await;
            let target = target.map_err(|error| about(names, at, error))?;
            found.push((at, target));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, target)| target).collect())
}

/// Returns the event of a service's answer.
async fn read_event(
    ctx: &Context,
    owner: CalendarOwner,
    id: &EventId,
    answer: Option<Result<Event>>,
) -> Result<EventTarget> {
    let (handle, number) = event_handle(ctx, &owner, id).await?;
    let event = answer
        .unwrap_or_else(|| {
            Err(Error::new(ErrorKind::NotFound, "the provider returned nothing for it"))
        })
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::new(ErrorKind::NotFound, format!("{handle} was deleted"))
                .next("search again"),
            _ => error.context(&handle),
        })?;
    Ok(EventTarget { owner, handle, number, event })
}

/// Returns the target for a complete event that was fetched already.
pub(super) async fn as_target(
    ctx: &Context,
    owner: &CalendarOwner,
    event: Event,
) -> Result<EventTarget> {
    let (handle, number) = event_handle(ctx, owner, &event.id).await?;
    Ok(EventTarget { owner: owner.clone(), handle, number, event })
}

/// Does the same as [`as_target`] for an event that was just written.
pub(super) async fn as_target_after(
    ctx: &Context,
    owner: &CalendarOwner,
    event: Event,
    notes: &mut Vec<Note>,
) -> EventTarget {
    let kind = HandleKind::Event;
    let number = number_after(ctx, &owner.account, kind, event.id.as_str(), notes).await;
    let handle = number.map_or_else(|| event.id.to_string(), |one| kind.handle(one));
    EventTarget { owner: owner.clone(), handle, number, event }
}

/// Returns the series of an occurrence; a series itself.
pub(super) async fn master_of(ctx: &Context, target: &EventTarget) -> Result<EventTarget> {
    let id = target.event.series.as_ref().unwrap_or(&target.event.id);
    fetch_event(ctx, target.owner.clone(), id).await
}

/// Returns the series of an occurrence, if the series is unchanged since it was shown. An event
/// that is not an occurrence is returned itself.
pub(super) async fn whole_series(ctx: &Context, target: EventTarget) -> Result<EventTarget> {
    if target.event.series.is_none() {
        return Ok(target);
    }
    let master = master_of(ctx, &target).await?;
    master.not_cancelled()?;
    as_shown(ctx, &master).await?;
    Ok(master)
}

/// Refuses an event that has changed since it was last shown. Its present state
/// counts as shown from then on.
pub(super) async fn as_shown(ctx: &Context, target: &EventTarget) -> Result<()> {
    // An event without a handle was never shown.
    let Some(number) = target.number else {
        return Ok(());
    };
    let now = substance(&target.event);
    let shown = ctx.store.seen_event(number).await?;
    // An event that was never shown has no state to compare with.
    if shown.is_none_or(|shown| shown == now) {
        return Ok(());
    }
    Err(changed_meanwhile(ctx, target).await)
}

/// Returns the error about an event that has changed since it was shown, with its
/// present state.
pub(super) async fn changed_meanwhile(ctx: &Context, now: &EventTarget) -> Error {
    if let Some(number) = now.number {
        // From now on the present state counts as shown, so that the next call is not refused.
        let shown = [(number, substance(&now.event))];
        if let Err(error) = ctx.store.remember_events(&shown).await {
            return error;
        }
    }
    Error::new(
        ErrorKind::Conflict,
        format!(
            "{} was changed since it was shown: it is now {}",
            now.handle,
            event_line(&now.event, &ctx.config.zone)
        ),
    )
    .next("nothing was written; call again if it is still right")
}

/// Returns the handle of an event, with its number; a new one is assigned if necessary.
async fn event_handle(
    ctx: &Context,
    owner: &CalendarOwner,
    id: &EventId,
) -> Result<(String, Option<u64>)> {
    let kind = HandleKind::Event;
    let numbers = ctx.store.handles(&owner.account.id, kind, &[id.as_str()]).await?;
    Ok(match numbers.first() {
        Some(number) => (kind.handle(*number), Some(*number)),
        None => (id.to_string(), None),
    })
}

/// Handles of events of one account.
pub(super) async fn event_handles(
    ctx: &Context,
    account: &Account,
    ids: &[&EventId],
) -> Result<Vec<String>> {
    let kind = HandleKind::Event;
    let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
    let numbers = ctx.store.handles(&account.id, kind, &ids).await?;
    Ok(numbers.into_iter().map(|one| kind.handle(one)).collect())
}

/// Returns rows of events that were written, as their services have them, in order; from then
/// on they count as shown. A completed write is reported, even if none of this can be stored.
pub(crate) async fn written_rows(
    ctx: &Context,
    events: &[(CalendarOwner, Event)],
    document: &mut Document,
    notes: &mut Vec<Note>,
) {
    if events.is_empty() {
        return;
    }
    let several = several_accounts(ctx).await;
    let columns = columns_of(&EVENT, ColumnLevel::Core, several);
    let mut rows = RowTable::new(&EVENT, columns.clone());
    let mut more = Vec::new();
    // Only neighbours of one account are flattened together, so that the rows stay in order.
    for run in events.chunk_by(|one, other| one.0.account.id == other.0.account.id) {
        let Some((owner, _)) = run.first() else {
            continue;
        };
        let context = ctx.context_for(owner.port.api(), &owner.label, &owner.account);
        let events: Vec<&Event> = run.iter().map(|(_, event)| event).collect();
        let mut some = rows_of(&context, &EVENT, &columns, &events, &mut more);
        hand_out_after(ctx, &mut some, &owner.account, &mut more).await;
        if let Err(error) = remember_events(ctx, &some, events).await {
            // The only effect is that the next change asks to look again.
            tracing::warn!(%error, "what was written does not count as shown");
        }
        rows.append(some);
    }
    more.dedup();
    notes.append(&mut more);
    document.tables.push(rows);
    zone_line(document, &ctx.config.zone);
}

/// Describes a failed write; for a conflict, with the current state of the event. The error of a
/// write with an unknown outcome is returned unchanged.
pub(crate) async fn write_error(ctx: &Context, target: &EventTarget, error: Error) -> Error {
    if error.is_open() {
        return error;
    }
    if error.kind() != ErrorKind::Conflict {
        return error.context(&target.handle);
    }
    let now = fetch_event(ctx, target.owner.clone(), &target.event.id).await;
    match now {
        Ok(now) => changed_meanwhile(ctx, &now).await,
        Err(error) => error,
    }
}
