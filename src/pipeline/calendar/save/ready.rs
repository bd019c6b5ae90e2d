//! The changes of a call, checked and compared with other events. `change.rs` writes them.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::Note;
use jiff::tz::TimeZone;

use super::clash::{self, ClashCandidate, find_clashes};
use super::destination::{account_calendars, may_write};
use super::follow::{SeriesExceptions, SplitSeries, cut, find_exceptions};
use super::make::PlannedChange;
use super::series::SeriesBase;
use super::span::{EventSpan, PreviousTime};
use crate::pipeline::calendar::guests::{notify_missing, others};
use crate::pipeline::calendar::save::{make, series, span};
use crate::pipeline::calendar::target::{
    EventTarget, as_shown, event_line, master_of, whole_series,
};
use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::report::WriteReport;
use crate::tools::calendar_save::{CalendarSave, EventWords, IfConflict, SeriesScope};

/// A change that passed the checks, and the event it is of.
pub(super) struct ReadyChange {
    /// The event to write; for a split, the series.
    pub(super) target: EventTarget,
    pub(super) change: EventPatch,
    /// The resulting rule, for the conflict check.
    pub(super) repeat: Option<EventRecurrence>,
    pub(super) notify: GuestNotice,
    /// The names of the event that the call is about.
    pub(super) names: ItemNames,
    /// The event in a question.
    pub(super) line: String,
    /// Notes on how the arguments were understood.
    pub(super) notes: Vec<Note>,
    /// Notes on the exceptions of the series, which are true once the change is written.
    pub(super) exception_notes: Vec<Note>,
    /// The parts of the series, for a change of an occurrence and all later ones.
    pub(super) cut: Option<SplitSeries>,
    /// Its conflicts, a line each.
    pub(super) met: Vec<Note>,
    /// True if it is not written with conflicts.
    pub(super) is_strict: bool,
}

impl ReadyChange {
    /// Describes the change to the user.
    pub(super) fn difference(&self, zone: &TimeZone) -> String {
        match &self.cut {
            Some(cut) => cut.difference(&self.target.event, &self.change, zone),
            None => make::difference(&self.change, &self.target.event, zone),
        }
    }
}

/// Checks one change.
pub(super) async fn ready_change(
    ctx: &Context,
    target: EventTarget,
    words: &EventWords,
    request: &CalendarSave,
) -> Result<ReadyChange> {
    target.not_cancelled()?;
    as_shown(ctx, &target).await?;
    let scope = target.scope(request.scope, "this, following or series")?;
    match scope {
        None | Some(SeriesScope::This) => ready_one(ctx, target, words, request).await,
        Some(SeriesScope::Series) => ready_series(ctx, target, words, request).await,
        Some(SeriesScope::Following) => ready_following(ctx, target, words, request).await,
    }
}

/// Checks the change of a single event, or of one occurrence of a series.
async fn ready_one(
    ctx: &Context,
    target: EventTarget,
    words: &EventWords,
    request: &CalendarSave,
) -> Result<ReadyChange> {
    let facts = &target.event;
    let zone = target.zone(&ctx.config.zone);
    let mut made = make::changed(words, &ctx.time_context(), facts, &zone)?;
    match make::repeats(words.repeats.as_deref())? {
        Some(_) if facts.series.is_some() => {
            return Err(Error::argument("one occurrence has no rule of its own")
                .next("give scope=series or scope=following, or leave out `repeats`"));
        }
        Some(Some(rule)) => {
            let repeat = EventRecurrence { rule, ..EventRecurrence::default() };
            let span = made.span.clone().unwrap_or(EventSpan {
                start: facts.start,
                end: facts.end,
                zone,
                echo: Vec::new(),
            });
            make::begins(&repeat, &span)?;
            made.change.repeat = Some(Some(repeat));
        }
        // `none` is already true of an event that does not recur.
        Some(None) | None => {}
    }
    let repeat = made.change.repeat.clone().flatten();
    let ready = check_change(ctx, target, made.change, repeat, request).await?;
    Ok(ReadyChange { notes: made.notes, ..ready })
}

/// Checks the change of all occurrences of a series.
async fn ready_series(
    ctx: &Context,
    target: EventTarget,
    words: &EventWords,
    request: &CalendarSave,
) -> Result<ReadyChange> {
    let seen = reference(&target.event);
    let master = whole_series(ctx, target).await?;
    let (mut base, PlannedChange { mut change, notes, .. }, to) =
        separate_time(ctx, &master, seen, words)?;
    let chosen = make::repeats(words.repeats.as_deref())?;
    let exceptions = if chosen.is_some() || to.is_some() {
        find_exceptions(ctx, &master, None).await
    } else {
        SeriesExceptions::default()
    };
    exceptions.leave_out(&mut base.repeat, &base.zone);
    let mut repeat = Some(base.repeat.clone());
    match (&chosen, &to) {
        (Some(None), _) => {
            repeat = None;
            change.repeat = Some(None);
            if let Some(to) = &to {
                change.time = Some(to.moments());
            }
        }
        (rule, to) => {
            let rule = rule.as_ref().and_then(Option::as_deref);
            let stays = to.clone().unwrap_or_else(|| still(seen, &base));
            if rule.is_some() || to.is_some() {
                let keep = words.end.is_none() && words.duration.is_none();
                // Between a whole day and a time of day, no length can be kept.
                let keep = keep && stays.start.is_day() == seen.0.is_day();
                let moved = series::moved(&base, seen.0, &stays, keep, rule)?;
                if (&moved.start, &moved.end) != (&base.start, &base.end) {
                    change.time = Some((moved.start, moved.end));
                }
                if moved.repeat != base.repeat {
                    change.repeat = Some(Some(moved.repeat.clone()));
                }
                repeat = Some(moved.repeat);
            }
        }
    }
    let exception_notes = if change.time.is_some() || change.repeat.is_some() {
        let starts_move = change.repeat.is_some()
            || change.time.as_ref().is_some_and(|(start, _)| *start != base.start);
        exceptions.notes(&ctx.config.zone, ctx.now(), starts_move)
    } else {
        Vec::new()
    };
    let ready = check_change(ctx, master, change, repeat, request).await?;
    Ok(ReadyChange { notes, exception_notes, ..ready })
}

/// Separates the time from the other changes of a series: it is given relative to
/// the occurrence at `seen`.
fn separate_time(
    ctx: &Context,
    master: &EventTarget,
    seen: (EventTime, EventTime),
    words: &EventWords,
) -> Result<(SeriesBase, PlannedChange, Option<EventSpan>)> {
    let facts = &master.event;
    let zone = master.zone(&ctx.config.zone);
    let Some(repeat) = facts.repeat.clone() else {
        return Err(Error::argument(format!("the rule of {} cannot be read", master.handle))
            .next("change single occurrences with scope=this"));
    };
    let before = PreviousTime { start: seen.0, end: seen.1, zone: zone.clone() };
    let to = span::read_span(words, &ctx.time_context(), Some(&before))?
        .filter(|to| (to.start, to.end) != seen || words.tz.is_some());
    let timeless = EventWords { start: None, end: None, duration: None, tz: None, ..words.clone() };
    let mut made = make::changed(&timeless, &ctx.time_context(), facts, &zone)?;
    if let Some(to) = &to {
        made.notes.extend(to.echo.iter().cloned());
    }
    let base =
        SeriesBase { start: facts.start.zoned(&zone), end: facts.end.zoned(&zone), repeat, zone };
    Ok((base, made, to))
}

/// Checks a change against the organizer, the calendar, and the guests to notify.
async fn check_change(
    ctx: &Context,
    target: EventTarget,
    change: EventPatch,
    repeat: Option<EventRecurrence>,
    request: &CalendarSave,
) -> Result<ReadyChange> {
    may_write(ctx, &target).await?;
    check_permitted(&target, &change)?;
    make::fits(&change, target.owner.port.capabilities())?;
    let own = &target.owner.account.email;
    let list = change.guests.as_ref().unwrap_or(&target.event.guests);
    // Removed guests are notified as well.
    let asks = !others(list, own).is_empty()
        || !others(&target.event.guests, own).is_empty()
        || target.event.omitted;
    let notify = match (asks && target.event.own, request.notify) {
        (true, None) if change != EventPatch::default() => return Err(notify_missing()),
        (_, chosen) => chosen.unwrap_or(GuestNotice::Nobody),
    };
    let port = &target.owner.port;
    port.check(Some(&target.event), &change, notify)?;
    Ok(ReadyChange {
        names: target.names(),
        line: event_line(&target.event, &ctx.config.zone),
        target,
        change,
        repeat,
        notify,
        notes: Vec::new(),
        exception_notes: Vec::new(),
        cut: None,
        met: Vec::new(),
        is_strict: request.if_conflict == IfConflict::Refuse,
    })
}

/// Returns the time by which the reader knows an event: the one of the rule, for a
/// moved occurrence.
pub(crate) fn reference(facts: &Event) -> (EventTime, EventTime) {
    let Some(original) = facts.original.filter(|_| facts.series.is_some()) else {
        return (facts.start, facts.end);
    };
    let end = match (facts.start, facts.end, original) {
        (EventTime::At(from), EventTime::At(to), EventTime::At(at)) => {
            at.checked_add(to.duration_since(from)).ok().map(EventTime::At)
        }
        (EventTime::Day(from), EventTime::Day(to), EventTime::Day(day)) => {
            day.checked_add(to - from).ok().map(EventTime::Day)
        }
        // An occurrence that has become all-day, or the other way round.
        _ => None,
    };
    match end {
        Some(end) => (original, end),
        None => (facts.start, facts.end),
    }
}

/// Returns the span of an event that is not moved.
fn still(seen: (EventTime, EventTime), base: &SeriesBase) -> EventSpan {
    EventSpan { start: seen.0, end: seen.1, zone: base.zone.clone(), echo: Vec::new() }
}

/// Refuses changes that only the organizer of a meeting can make.
fn check_permitted(target: &EventTarget, change: &EventPatch) -> Result<()> {
    let theirs = [
        ("time", change.time.is_some()),
        ("people", change.guests.is_some()),
        ("rule", change.repeat.is_some()),
        ("online meeting", change.online.is_some()),
    ];
    match theirs.iter().find(|(_, changes)| *changes) {
        Some((what, _)) if !target.event.own => Err(Error::argument(format!(
            "only the organizer of {} can change its {what}",
            target.handle
        ))
        .next("use calendar_respond, with `propose` for another time")),
        _ => Ok(()),
    }
}

/// Checks the change of an occurrence and all later ones.
async fn ready_following(
    ctx: &Context,
    target: EventTarget,
    words: &EventWords,
    request: &CalendarSave,
) -> Result<ReadyChange> {
    let seen = reference(&target.event);
    let master = master_of(ctx, &target).await?;
    as_shown(ctx, &master).await?;
    let Some(mut cut) = cut(&master, seen.0, &ctx.config.zone)? else {
        // It is the first occurrence, so the change applies to the whole series.
        return ready_series(ctx, target, words, request).await;
    };
    // The later part would be a new series, with the listed guests alone.
    if master.event.omitted {
        let handle = &master.handle;
        return Err(Error::argument(format!(
            "the service does not list all guests of {handle}, so a new series would lose the others"
        ))
        .next("change single occurrences with scope=this, or all with scope=series"));
    }
    let (_, made, to) = separate_time(ctx, &master, seen, words)?;
    let exceptions = find_exceptions(ctx, &master, Some(seen.0)).await;
    exceptions.leave_out(&mut cut.base.repeat, &cut.base.zone);
    // The later part is a new series, which has no exceptions.
    let exception_notes = exceptions.notes(&ctx.config.zone, ctx.now(), true);

    let repeats = make::repeats(words.repeats.as_deref())?;
    let stays = to.clone().unwrap_or_else(|| still(seen, &cut.base));
    let keep = words.end.is_none() && words.duration.is_none();
    let keep = keep && stays.start.is_day() == seen.0.is_day();
    let rule = repeats.as_ref().and_then(Option::as_deref);
    let (time, repeat) = match (&repeats, &to) {
        (Some(None), _) => (stays.moments(), None),
        (None, None) => {
            let base = cut.base.clone();
            ((base.start, base.end), Some(base.repeat))
        }
        _ => {
            let moved = series::moved(&cut.base, seen.0, &stays, keep, rule)?;
            ((moved.start, moved.end), Some(moved.repeat))
        }
    };
    // Without a change, the series is not split.
    if made.change == EventPatch::default() && to.is_none() && repeats.is_none() {
        return check_change(ctx, target, EventPatch::default(), None, request).await;
    }
    let names = target.names();
    let line = event_line(&target.event, &ctx.config.zone);
    // The change, for the checks and for a dry run.
    let change =
        EventPatch { time: Some(time.clone()), repeat: Some(repeat.clone()), ..made.change };
    let ready = check_change(ctx, master, change, repeat, request).await?;
    Ok(ReadyChange { names, line, notes: made.notes, exception_notes, cut: Some(cut), ..ready })
}

/// Finds the conflicts of the changes that move their events.
pub(super) async fn find_conflicts(
    ctx: &Context,
    items: &mut [ReadyChange],
    request: &CalendarSave,
    report: &mut WriteReport,
) -> Result<()> {
    let moves = |change: &EventPatch| change.time.is_some() || change.repeat.is_some();
    let any = items.iter().any(|item| moves(&item.change));
    if request.if_conflict == IfConflict::Ignore || !any {
        return Ok(());
    }
    let mut candidates = Vec::new();
    for ReadyChange { target, change, repeat, .. } in &*items {
        let facts = &target.event;
        let zone = target.zone(&ctx.config.zone);
        let places = account_calendars(ctx, &target.owner, false).await.unwrap_or_default();
        let calendar = facts.calendar.as_ref();
        // If the calendars are unknown, the event counts as one of the main calendar.
        let main = !places.iter().any(|place| !place.main && Some(&place.id) == calendar);
        let (start, end) = change
            .time
            .clone()
            .unwrap_or_else(|| (facts.start.zoned(&zone), facts.end.zoned(&zone)));
        candidates.push(ClashCandidate {
            title: change.title.clone().unwrap_or_else(|| facts.title.clone()),
            uid: facts.uid.clone(),
            claim: clash::claim(change, Some(facts), main),
            times: if moves(change) {
                clash::times(&start, &end, repeat.as_ref(), ctx.now())
            } else {
                Vec::new()
            },
            itself: std::iter::once(facts.id.clone()).chain(facts.series.clone()).collect(),
        });
    }
    let strict = request.if_conflict == IfConflict::Refuse;
    let (met, notes) = find_clashes(ctx, &candidates, strict).await?;
    report.notes.extend(notes);
    items.iter_mut().zip(met).for_each(|(item, met)| item.met = met.lines);
    Ok(())
}
