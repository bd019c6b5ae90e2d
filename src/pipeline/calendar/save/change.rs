//! Changes an existing event: a single event, one occurrence, or a series.
//!
//! Only the given fields change, and only if the event is still as it was shown.

use super::TOOL;
use super::clash::{self, ClashCandidate};
use super::create::unsaid;
use super::make::{self, PlannedChange};
use super::series::{self, Base};
use super::span::{self, Before, EventSpan, moment};
use crate::client::ClientPrompts;
use crate::error::{Error, Kind, Result};
use crate::event_time::EventTime;
use crate::pipeline::access::audit::Entry;
use crate::pipeline::access::guard::events::EventWrite;
use crate::pipeline::answer::outcome::{Outcome, WriteReport};
use crate::pipeline::calendar::guests::{notified, others};
use crate::pipeline::calendar::target::{EventTarget, Owner, event_line, title};
use crate::pipeline::{Pipeline, Response};
use crate::provider::calendar::{Change, EventData, Notify};
use crate::recurrence::Repeat;
use crate::text::brief;
use crate::text::{Note, note, ours};
use crate::tools::save::{EventWords, IfConflict, Save, Scope};

/// A change that is ready, and the event it is of.
pub(super) struct ReadyChange {
    pub(super) target: EventTarget,
    pub(super) change: Change,
    /// The resulting rule, for the conflict check.
    pub(super) repeat: Option<Repeat>,
    pub(super) notify: Notify,
}

impl Pipeline {
    pub(super) async fn change_event(
        &self,
        id: &str,
        request: &Save,
        caller: Option<&dyn ClientPrompts>,
    ) -> Result<Response> {
        let Some(words) = request.events.first() else {
            return Err(Error::argument("there is nothing to change").next("give `events`"));
        };
        let target = self.named_event(id).await?;
        target.not_cancelled()?;
        self.as_shown(&target).await?;
        let scope = target.scope(request.scope, "this, following or series")?;
        match scope {
            None | Some(Scope::This) => self.change_one(target, words, request, caller).await,
            Some(Scope::Series) => self.change_series(target, words, request, caller).await,
            Some(Scope::Following) => self.change_following(target, words, request, caller).await,
        }
    }

    /// Changes a single event, or one occurrence of a series.
    async fn change_one(
        &self,
        target: EventTarget,
        words: &EventWords,
        request: &Save,
        caller: Option<&dyn ClientPrompts>,
    ) -> Result<Response> {
        let facts = &target.facts;
        let zone = target.zone(&self.config.zone);
        let mut made = make::changed(words, &self.here(), facts, &zone)?;
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
        let ready = self.ready(target, made.change, repeat, request).await?;
        self.finish_change(ready, made.notes, request, caller).await
    }

    /// Changes all occurrences of a series.
    pub(super) async fn change_series(
        &self,
        target: EventTarget,
        words: &EventWords,
        request: &Save,
        caller: Option<&dyn ClientPrompts>,
    ) -> Result<Response> {
        let seen = reference(&target.facts);
        let master = match target.facts.series {
            None => target,
            Some(_) => {
                let master = self.master_of(&target).await?;
                master.not_cancelled()?;
                self.as_shown(&master).await?;
                master
            }
        };
        let (base, PlannedChange { mut change, notes, .. }, to) =
            self.moving(&master, seen, words)?;
        let chosen = make::repeats(words.repeats.as_deref())?;
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
        let mut notes = notes;
        if change.time.is_some() || change.repeat.is_some() {
            notes.extend(self.exceptions(&master, None).await);
        }
        let ready = self.ready(master, change, repeat, request).await?;
        self.finish_change(ready, notes, request, caller).await
    }

    /// Separates the time from the other changes of a series: it is given relative to
    /// the occurrence at `seen`.
    pub(super) fn moving(
        &self,
        master: &EventTarget,
        seen: (EventTime, EventTime),
        words: &EventWords,
    ) -> Result<(Base, PlannedChange, Option<EventSpan>)> {
        let facts = &master.facts;
        let zone = master.zone(&self.config.zone);
        let Some(repeat) = facts.repeat.clone() else {
            return Err(Error::argument(format!("the rule of {} cannot be read", master.handle))
                .next("change single occurrences with scope=this"));
        };
        let before = Before { start: seen.0, end: seen.1, zone: zone.clone() };
        let to = span::read(words, &self.here(), Some(&before))?
            .filter(|to| (to.start, to.end) != seen || words.tz.is_some());
        let timeless =
            EventWords { start: None, end: None, duration: None, tz: None, ..words.clone() };
        let mut made = make::changed(&timeless, &self.here(), facts, &zone)?;
        if let Some(to) = &to {
            made.notes.extend(to.echo.iter().cloned());
        }
        let base =
            Base { start: moment(facts.start, &zone), end: moment(facts.end, &zone), repeat, zone };
        Ok((base, made, to))
    }

    /// Checks a change against the organizer, the calendar, and the guests to notify.
    pub(super) async fn ready(
        &self,
        target: EventTarget,
        change: Change,
        repeat: Option<Repeat>,
        request: &Save,
    ) -> Result<ReadyChange> {
        self.may_write(&target).await?;
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
        Ok(ReadyChange { target, change, repeat, notify })
    }

    /// Refuses events of calendars that can only be read.
    pub(in crate::pipeline) async fn may_write(&self, target: &EventTarget) -> Result<()> {
        let Some(calendar) = &target.facts.calendar else {
            return Ok(());
        };
        let places = self.places(&target.owner, false).await?;
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

    /// Checks for conflicts, then writes, or reports what would be written.
    async fn finish_change(
        &self,
        ready: ReadyChange,
        notes: Vec<Note>,
        request: &Save,
        caller: Option<&dyn ClientPrompts>,
    ) -> Result<Response> {
        let ReadyChange { target, change, repeat, notify } = ready;
        let name = format!("{} {}", target.handle, title(&target.facts));
        let mut report = WriteReport { notes, ..WriteReport::default() };
        if change == Change::default() {
            report.outcomes.push(Outcome::new(name, "change", "unchanged", "already as requested"));
            return self.write_report(report).await;
        }
        let met = self
            .met_by_change(
                &target.owner,
                &target.facts,
                &change,
                repeat.as_ref(),
                request,
                &mut report,
            )
            .await?;
        let difference = make::difference(&change, &target.facts, &self.config.zone);
        if request.if_conflict == IfConflict::Refuse && !met.is_empty() {
            report.outcomes.push(Outcome::new(name, "change", "refused", met.join("; ")));
            return self.write_report(report).await;
        }
        let zone = &self.config.zone;
        let question = format!(
            "Change an event with other people?\n{}\n{difference}",
            event_line(&target.facts, zone)
        );
        let planned = EventWrite::Change(&change);
        self.agreed_for(&target, &planned, question, caller, &mut report.notes).await?;
        if request.dry_run {
            let rehearsed = target.owner.port.rehearse(None, Some(&target.value), &change, notify);
            rehearsed.await.map_err(|error| error.context(&target.handle))?;
            let mut detail = vec![difference];
            detail.extend(met.iter().map(ToString::to_string));
            report.outcomes.push(Outcome::new(name, "change", "planned", detail.join("; ")));
            report.notes.push("dry run: nothing was written".into());
            return self.write_report(report).await;
        }
        report.clashing = usize::from(!met.is_empty());
        report.notes.extend(met);
        if !target.facts.own {
            report.notes.push(note!(
                "{} has another organizer: only your copy was changed",
                ours(&target.handle)
            ));
        }
        let own = &target.owner.account.email;
        let entry = Entry {
            account: own,
            tool: TOOL,
            op: "update",
            ids: vec![target.handle.clone()],
            recipients: notified(&target.facts.guests, change.guests.as_ref(), own, notify),
            ..Entry::default()
        };
        let write = target.owner.port.update(&target.value, &change, notify);
        match self.run_logged(entry, &mut report.notes, write, |_| None).await {
            Ok(value) => report.events.push((target.owner.clone(), value)),
            Err(error) if error.is_open() => {
                report.outcomes.push(Outcome::failed(name, "change", &error));
            }
            Err(error) => return Err(self.passed_over(&target, error).await),
        }
        self.write_report(report).await
    }

    /// Returns the conflicts of a changed event, if its time changes.
    pub(super) async fn met_by_change(
        &self,
        owner: &Owner,
        facts: &EventData,
        change: &Change,
        repeat: Option<&Repeat>,
        request: &Save,
        report: &mut WriteReport,
    ) -> Result<Vec<Note>> {
        let moves = change.time.is_some() || change.repeat.is_some();
        if request.if_conflict == IfConflict::Ignore || !moves {
            return Ok(Vec::new());
        }
        let zone = facts.zone.as_deref().and_then(crate::event_time::find_zone);
        let zone = zone.unwrap_or_else(|| self.config.zone.clone());
        let places = self.places(owner, false).await.unwrap_or_default();
        let calendar = facts.calendar.as_ref();
        let main = !places.iter().any(|place| !place.main && Some(&place.id) == calendar);
        let (start, end) = change
            .time
            .clone()
            .unwrap_or_else(|| (moment(facts.start, &zone), moment(facts.end, &zone)));
        let candidate = ClashCandidate {
            title: change.title.clone().unwrap_or_else(|| facts.title.clone()),
            uid: facts.uid.clone(),
            claim: clash::claim(change, Some(facts), main),
            times: clash::times(&start, &end, repeat, self.clock().now),
            itself: std::iter::once(facts.id.clone()).chain(facts.series.clone()).collect(),
        };
        let strict = request.if_conflict == IfConflict::Refuse;
        let (mut met, notes) = self.find_clashes(std::slice::from_ref(&candidate), strict).await?;
        report.notes.extend(notes);
        Ok(met.pop().unwrap_or_default().lines)
    }

    /// Describes a failed write; for a conflict, reports the event as it is now.
    pub(in crate::pipeline) async fn passed_over(
        &self,
        target: &EventTarget,
        error: Error,
    ) -> Error {
        if error.kind() != Kind::Conflict {
            return error.context(&target.handle);
        }
        let now = self.fetch_event(target.owner.clone(), &target.facts.id).await;
        match now {
            Ok(now) => self.changed_meanwhile(&now).await,
            Err(error) => error,
        }
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
