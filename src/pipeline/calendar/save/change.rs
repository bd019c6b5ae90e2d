//! Changes existing events: single events, occurrences, or series.
//!
//! Only the given fields change, and only if the event is still as it was shown. All
//! events of a call are checked before the first is written.

use jiff::tz::TimeZone;

use super::clash::{self, ClashCandidate, find_clashes};
use super::create::unsaid;
use super::destination::account_calendars;
use super::follow::{
    self, Exceptions, SplitSeries, find_exceptions, ready_following, split_series,
};
use super::make::{self, PlannedChange};
use super::series::{self, Base};
use super::span::{self, Before, EventSpan, moment};
use crate::budget::Response;
use crate::client::ClientPrompts;
use crate::course;
use crate::error::{Error, Kind, Result};
use crate::event_time::EventTime;
use crate::pipeline::access::audit::{CALENDAR_SAVE, Entry};
use crate::pipeline::answer::outcome::{Outcome, WriteReport, write_report};
use crate::pipeline::calendar::audience::{EventWrite, agreed_for};
use crate::pipeline::calendar::guests::{doubtful_guests, notified, others};
use crate::pipeline::calendar::occurrences;
use crate::pipeline::calendar::target::{
    EventTarget, about, as_shown, changed_meanwhile, each_once, event_line, fetch_event, listed,
    master_of, named_events, title,
};
use crate::pipeline::calendar::undo::{no_undo, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::times::time_context;
use crate::provider::calendar::{Change, EventData, Notify};
use crate::recurrence::Repeat;
use crate::text::brief;
use crate::text::{Note, note, ours, quoted};
use crate::tools::save::{EventWords, IfConflict, Save, Scope};

/// A change that passed the checks, and the event it is of.
pub(super) struct ReadyChange {
    /// The event that is written: of a series that is split, the series.
    pub(super) target: EventTarget,
    pub(super) change: Change,
    /// The resulting rule, for the conflict check.
    pub(super) repeat: Option<Repeat>,
    pub(super) notify: Notify,
    /// The event in the answer.
    pub(super) name: String,
    /// The event in a question.
    pub(super) line: String,
    /// Notes on how the arguments were understood.
    pub(super) notes: Vec<Note>,
    /// Where the series splits, for a change of an occurrence and all later ones.
    pub(super) cut: Option<SplitSeries>,
}

impl ReadyChange {
    fn is_empty(&self) -> bool {
        self.change == Change::default()
    }

    /// Describes the change to the user.
    fn difference(&self, zone: &TimeZone) -> String {
        match &self.cut {
            Some(cut) => cut.difference(&self.target.facts, &self.change, zone),
            None => make::difference(&self.change, &self.target.facts, zone),
        }
    }
}

pub(super) async fn change_events(
    ctx: &Context,
    request: &Save,
    caller: &dyn ClientPrompts,
) -> Result<Response> {
    let (names, words): (Vec<&str>, Vec<&EventWords>) = request.changes().into_iter().unzip();
    let several = names.len() > 1;
    let mut items = Vec::new();
    let targets = named_events(ctx, &names).await?;
    for (at, (target, words)) in targets.into_iter().zip(words).enumerate() {
        let ready = ready_change(ctx, target, words, request).await;
        items.push(ready.map_err(|error| about(&names, at, error))?);
    }
    each_once(items.iter().map(|item| &item.target))?;
    for item in &mut items {
        let (account, guests) = (&item.target.owner.account, item.change.guests.as_ref());
        let before = &item.target.facts.guests;
        item.notes.extend(doubtful_guests(ctx, account, before, guests).await);
    }

    let mut report = WriteReport::notifying(request.notify);
    let under = |item: &ReadyChange, note: &Note| match several {
        true => note.under(quoted(&item.name)),
        false => note.clone(),
    };
    for item in &items {
        report.notes.extend(item.notes.iter().map(|note| under(item, note)));
    }
    let met = met_by_changes(ctx, &items, request, &mut report).await?;
    let strict = request.if_conflict == IfConflict::Refuse;
    let mut planned = Vec::new();
    for (item, met) in items.into_iter().zip(met) {
        let (result, detail) = match (item.is_empty(), strict && !met.is_empty()) {
            (true, _) => ("unchanged", "already as requested".to_owned()),
            (false, true) => ("refused", met.join("; ")),
            (false, false) => {
                planned.push((item, met));
                continue;
            }
        };
        report.outcomes.push(Outcome::new(item.name, "change", result, detail));
    }
    if planned.is_empty() {
        return write_report(ctx, report).await;
    }
    agreed_for_changes(ctx, &planned, caller, &mut report.notes).await?;
    if request.dry_run {
        rehearse_changes(ctx, planned, &mut report).await?;
        return write_report(ctx, report).await;
    }
    let mut stopped = false;
    for (item, met) in course::each("events", planned) {
        if stopped {
            report.outcomes.push(Outcome::skipped(item.name, "change"));
            continue;
        }
        report.notes.extend(met.iter().map(|note| under(&item, note)));
        if !item.target.facts.own {
            let note = note!(
                "{} has another organizer: only your copy was changed",
                ours(&item.target.handle)
            );
            report.notes.push(note);
        }
        match write_change(ctx, &item, &mut report).await {
            Ok(()) => report.clashing += usize::from(!met.is_empty()),
            Err(error) if !several && !error.is_open() => return Err(error),
            Err(error) => {
                stopped = error.ends_batch();
                report.outcomes.push(Outcome::failed(item.name, "change", &error));
            }
        }
    }
    write_report(ctx, report).await
}

/// Checks one change.
async fn ready_change(
    ctx: &Context,
    target: EventTarget,
    words: &EventWords,
    request: &Save,
) -> Result<ReadyChange> {
    target.not_cancelled()?;
    as_shown(ctx, &target).await?;
    let scope = target.scope(request.scope, "this, following or series")?;
    match scope {
        None | Some(Scope::This) => ready_one(ctx, target, words, request).await,
        Some(Scope::Series) => ready_series(ctx, target, words, request).await,
        Some(Scope::Following) => ready_following(ctx, target, words, request).await,
    }
}

/// Checks the change of a single event, or of one occurrence of a series.
async fn ready_one(
    ctx: &Context,
    target: EventTarget,
    words: &EventWords,
    request: &Save,
) -> Result<ReadyChange> {
    let facts = &target.facts;
    let zone = target.zone(&ctx.config.zone);
    let mut made = make::changed(words, &time_context(ctx), facts, &zone)?;
    match make::repeats(words.repeats.as_deref())? {
        Some(_) if facts.series.is_some() => {
            return Err(Error::argument("one occurrence has no rule of its own")
                .next("give scope=series or scope=following, or leave out `repeats`"));
        }
        Some(Some(rule)) => {
            let repeat = Repeat { rule, ..Repeat::default() };
            let span = made.span.clone().unwrap_or(EventSpan {
                start: facts.start,
                end: facts.end,
                zone,
                echo: Vec::new(),
            });
            make::begins(&repeat, &span)?;
            made.change.repeat = Some(Some(repeat));
        }
        // It does not recur.
        Some(None) | None => {}
    }
    let repeat = made.change.repeat.clone().flatten();
    let ready = check_change(ctx, target, made.change, repeat, request).await?;
    Ok(ReadyChange { notes: made.notes, ..ready })
}

/// Checks the change of all occurrences of a series.
pub(super) async fn ready_series(
    ctx: &Context,
    target: EventTarget,
    words: &EventWords,
    request: &Save,
) -> Result<ReadyChange> {
    let seen = reference(&target.facts);
    let master = match target.facts.series {
        None => target,
        Some(_) => {
            let master = master_of(ctx, &target).await?;
            master.not_cancelled()?;
            as_shown(ctx, &master).await?;
            master
        }
    };
    let (mut base, PlannedChange { mut change, mut notes, .. }, to) =
        separate_time(ctx, &master, seen, words)?;
    let chosen = make::repeats(words.repeats.as_deref())?;
    let exceptions = match chosen.is_some() || to.is_some() {
        true => find_exceptions(ctx, &master, None).await,
        false => Exceptions::default(),
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
    if change.time.is_some() || change.repeat.is_some() {
        notes.extend(exceptions.notes(&ctx.config.zone, ctx.now()));
    }
    let ready = check_change(ctx, master, change, repeat, request).await?;
    Ok(ReadyChange { notes, ..ready })
}

/// Separates the time from the other changes of a series: it is given relative to
/// the occurrence at `seen`.
pub(super) fn separate_time(
    ctx: &Context,
    master: &EventTarget,
    seen: (EventTime, EventTime),
    words: &EventWords,
) -> Result<(Base, PlannedChange, Option<EventSpan>)> {
    let facts = &master.facts;
    let zone = master.zone(&ctx.config.zone);
    let Some(repeat) = facts.repeat.clone() else {
        return Err(Error::argument(format!("the rule of {} cannot be read", master.handle))
            .next("change single occurrences with scope=this"));
    };
    let before = Before { start: seen.0, end: seen.1, zone: zone.clone() };
    let to = span::read(words, &time_context(ctx), Some(&before))?
        .filter(|to| (to.start, to.end) != seen || words.tz.is_some());
    let timeless = EventWords { start: None, end: None, duration: None, tz: None, ..words.clone() };
    let mut made = make::changed(&timeless, &time_context(ctx), facts, &zone)?;
    if let Some(to) = &to {
        made.notes.extend(to.echo.iter().cloned());
    }
    let base =
        Base { start: moment(facts.start, &zone), end: moment(facts.end, &zone), repeat, zone };
    Ok((base, made, to))
}

/// Checks a change against the organizer, the calendar, and the guests to notify.
pub(super) async fn check_change(
    ctx: &Context,
    target: EventTarget,
    change: Change,
    repeat: Option<Repeat>,
    request: &Save,
) -> Result<ReadyChange> {
    may_write(ctx, &target).await?;
    check_permitted(&target, &change)?;
    make::fits(&change, target.owner.port.capabilities())?;
    let own = &target.owner.account.email;
    let list = change.guests.as_ref().unwrap_or(&target.facts.guests);
    // Removed guests are notified as well.
    let asks = !others(list, own).is_empty() || !others(&target.facts.guests, own).is_empty();
    let notify = match (asks && target.facts.own, request.notify) {
        (true, None) if change != Change::default() => return Err(unsaid()),
        (_, chosen) => chosen.unwrap_or(Notify::Nobody),
    };
    let port = &target.owner.port;
    port.check(Some(&target.value), &change, notify)?;
    Ok(ReadyChange {
        name: format!("{} {}", target.handle, title(&target.facts)),
        line: event_line(&target.facts, &ctx.config.zone),
        target,
        change,
        repeat,
        notify,
        notes: Vec::new(),
        cut: None,
    })
}

/// Refuses events of calendars that can only be read.
pub(in crate::pipeline) async fn may_write(ctx: &Context, target: &EventTarget) -> Result<()> {
    let Some(calendar) = &target.facts.calendar else {
        return Ok(());
    };
    let places = account_calendars(ctx, &target.owner, false).await?;
    match places.iter().find(|place| place.id == *calendar) {
        Some(place) if !place.is_writable() => Err(Error::argument(format!(
            "{} is in the read-only calendar {}",
            target.handle,
            brief(&place.name)
        ))
        .next("ask its owner for the change, or create your own event")),
        _ => Ok(()),
    }
}

/// Refuses changes that must not reach their audience.
async fn agreed_for_changes(
    ctx: &Context,
    planned: &[(ReadyChange, Vec<Note>)],
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let zone = &ctx.config.zone;
    let question = match planned {
        [(one, _)] => {
            format!("Change an event with other people?\n{}\n{}", one.line, one.difference(zone))
        }
        all => {
            let line = |(one, _): &(ReadyChange, Vec<Note>)| {
                format!("{}: {}", one.line, one.difference(zone))
            };
            let lines = listed(all.iter().map(line).collect());
            format!("Change {} events, some with other people?\n{lines}", all.len())
        }
    };
    let writes = planned.iter().map(|(one, _)| (&one.target, EventWrite::Change(&one.change)));
    let writes: Vec<_> = writes.collect();
    agreed_for(ctx, &writes, question, caller, notes).await
}

/// Reports what would be written.
async fn rehearse_changes(
    ctx: &Context,
    planned: Vec<(ReadyChange, Vec<Note>)>,
    report: &mut WriteReport,
) -> Result<()> {
    for (item, met) in planned {
        let ReadyChange { target, change, notify, cut, .. } = &item;
        let port = &target.owner.port;
        let rehearsed = match cut {
            Some(_) => {
                let whole = follow::copied(target, change.clone());
                port.rehearse(target.facts.calendar.as_deref(), None, &whole, *notify).await
            }
            None => port.rehearse(None, Some(&target.value), change, *notify).await,
        };
        rehearsed.map_err(|error| error.context(&target.handle))?;
        report.notes.extend(no_undo(target, Some(change)).await);
        if !target.facts.own {
            report.notes.push(note!(
                "{} has another organizer: only your copy would be changed, if the service \
                 allows that",
                ours(&target.handle)
            ));
        }
        let mut detail = vec![item.difference(&ctx.config.zone)];
        detail.extend(met.iter().map(ToString::to_string));
        report.outcomes.push(Outcome::new(item.name, "change", "planned", detail.join("; ")));
    }
    report.notes.push("dry run: nothing was written".into());
    Ok(())
}

/// Writes one change.
async fn write_change(ctx: &Context, item: &ReadyChange, report: &mut WriteReport) -> Result<()> {
    let ReadyChange { target, change, notify, .. } = item;
    if let Some(cut) = &item.cut {
        return split_series(ctx, item, cut, report).await;
    }
    let own = &target.owner.account.email;
    let entry = Entry {
        account: own,
        tool: CALENDAR_SAVE,
        op: "update",
        ids: vec![target.handle.clone()],
        recipients: notified(&target.facts.guests, change.guests.as_ref(), own, *notify),
        ..Entry::default()
    };
    let is_visible = occurrences::is_visible(change);
    let known = if is_visible {
        occurrences::known_before(ctx, &target.owner, &target.facts, None).await
    } else {
        Vec::new()
    };
    let write = target.owner.port.update(&target.value, change, *notify);
    let write = async { write.await.map(Some) };
    match write_event(ctx, target, Some(change), entry, report, write).await {
        Ok(Some(value)) => {
            if is_visible {
                report.series.knew(known);
                report.series.wrote(&target.owner, &value);
            }
            report.events.push((target.owner.clone(), value));
        }
        Ok(None) => {}
        Err(error) if error.is_open() => return Err(error),
        Err(error) => return Err(passed_over(ctx, target, error).await),
    }
    Ok(())
}

/// Returns the conflicts of each change that moves its event.
async fn met_by_changes(
    ctx: &Context,
    items: &[ReadyChange],
    request: &Save,
    report: &mut WriteReport,
) -> Result<Vec<Vec<Note>>> {
    let moves = |change: &Change| change.time.is_some() || change.repeat.is_some();
    let any = items.iter().any(|item| moves(&item.change));
    if request.if_conflict == IfConflict::Ignore || !any {
        return Ok(vec![Vec::new(); items.len()]);
    }
    let mut candidates = Vec::new();
    for ReadyChange { target, change, repeat, .. } in items {
        let facts = &target.facts;
        let zone = target.zone(&ctx.config.zone);
        let places = account_calendars(ctx, &target.owner, false).await.unwrap_or_default();
        let calendar = facts.calendar.as_ref();
        let main = !places.iter().any(|place| !place.main && Some(&place.id) == calendar);
        let (start, end) = change
            .time
            .clone()
            .unwrap_or_else(|| (moment(facts.start, &zone), moment(facts.end, &zone)));
        candidates.push(ClashCandidate {
            title: change.title.clone().unwrap_or_else(|| facts.title.clone()),
            uid: facts.uid.clone(),
            claim: clash::claim(change, Some(facts), main),
            times: match moves(change) {
                true => clash::times(&start, &end, repeat.as_ref(), ctx.now()),
                false => Vec::new(),
            },
            itself: std::iter::once(facts.id.clone()).chain(facts.series.clone()).collect(),
        });
    }
    let strict = request.if_conflict == IfConflict::Refuse;
    let (met, notes) = find_clashes(ctx, &candidates, strict).await?;
    report.notes.extend(notes);
    Ok(met.into_iter().map(|met| met.lines).collect())
}

/// Describes a failed write; for a conflict, reports the event as it is now.
pub(in crate::pipeline) async fn passed_over(
    ctx: &Context,
    target: &EventTarget,
    error: Error,
) -> Error {
    if error.kind() != Kind::Conflict {
        return error.context(&target.handle);
    }
    let now = fetch_event(ctx, target.owner.clone(), &target.facts.id).await;
    match now {
        Ok(now) => changed_meanwhile(ctx, &now).await,
        Err(error) => error,
    }
}

/// Returns the time by which the reader knows an event: the one of the rule, for a
/// moved occurrence.
pub(in crate::pipeline) fn reference(facts: &EventData) -> (EventTime, EventTime) {
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
fn still(seen: (EventTime, EventTime), base: &Base) -> EventSpan {
    EventSpan { start: seen.0, end: seen.1, zone: base.zone.clone(), echo: Vec::new() }
}

/// Refuses changes that only the organizer of a meeting can make.
fn check_permitted(target: &EventTarget, change: &Change) -> Result<()> {
    let theirs = [
        ("time", change.time.is_some()),
        ("people", change.guests.is_some()),
        ("rule", change.repeat.is_some()),
        ("online meeting", change.online.is_some()),
    ];
    match theirs.iter().find(|(_, changes)| *changes) {
        Some((what, _)) if !target.facts.own => Err(Error::argument(format!(
            "only the organizer of {} can change its {what}",
            target.handle
        ))
        .next("use calendar_respond, with `propose` for another time")),
        _ => Ok(()),
    }
}
