//! Changes existing events: single events, occurrences, or series.
//!
//! Only the given fields change, and only if the event is unchanged since it was shown. All events
//! of a call are checked before the first is written.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::call::progress;
use daysheet_core::error::Result;
use daysheet_core::event::EventPatch;
use daysheet_core::text::{Note, note, ours, quoted};

use super::clash::{self, ClashCandidate, find_clashes};
use super::destination::account_calendars;
use super::follow;
use super::ready::{ReadyChange, ready_change};
use super::split::split_series;
use crate::pipeline::calendar::audience::{EventWrite, agreed_for, guests_reached};
use crate::pipeline::calendar::guests::{doubtful_guests, notified};
use crate::pipeline::calendar::occurrences;
use crate::pipeline::calendar::target::{about, each_once, listed, named_events, write_error};
use crate::pipeline::calendar::write::{LoggedWrite, no_undo, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::write::sequence::WriteSequence;
use crate::tools::calendar_save::{CalendarSave, EventWords, IfConflict};

pub(super) async fn change_events(
    ctx: &Context,
    request: &CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
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
        let before = &item.target.event.guests;
        item.notes.extend(doubtful_guests(ctx, account, before, guests).await);
    }

    let mut report = WriteReport::notifying(request.notify);
    let under = |item: &ReadyChange, note: &Note| {
        if several { note.under(quoted(&item.name)) } else { note.clone() }
    };
    for item in &items {
        report.notes.extend(item.notes.iter().map(|note| under(item, note)));
    }
    let met = met_by_changes(ctx, &items, request, &mut report).await?;
    let strict = request.if_conflict == IfConflict::Refuse;
    let mut planned = Vec::new();
    for (item, met) in items.into_iter().zip(met) {
        let (result, detail) = match (item.is_empty(), strict && !met.is_empty()) {
            // A change that changes nothing cannot conflict either.
            (true, _) => ("unchanged", "already as requested".to_owned()),
            (false, true) => ("refused", met.join("; ")),
            (false, false) => {
                planned.push((item, met));
                continue;
            }
        };
        report.outcomes.push(ItemOutcome::new(item.name, "change", result, detail));
    }
    if planned.is_empty() {
        return write_report(ctx, report).await;
    }
    agreed_for_changes(ctx, &planned, caller, &mut report.notes).await?;
    if request.dry_run {
        rehearse_changes(ctx, planned, &mut report).await?;
        return write_report(ctx, report).await;
    }
    let mut writes = WriteSequence::new("change", names.len());
    for (item, met) in progress::each("events", planned) {
        if writes.skips(&item.name, &mut report) {
            continue;
        }
        report.notes.extend(met.iter().map(|note| under(&item, note)));
        if !item.target.event.own {
            let note = note!(
                "{} has another organizer: only your copy was changed",
                ours(&item.target.handle)
            );
            report.notes.push(note);
        }
        let noted = report.notes.len();
        match write_change(ctx, &item, &mut report).await {
            Ok(false) => {}
            Ok(true) => {
                report.clashing += usize::from(!met.is_empty());
                let exception_notes: Vec<Note> =
                    item.exception_notes.iter().map(|note| under(&item, note)).collect();
                report.notes.splice(noted..noted, exception_notes);
            }
            Err(error) => writes.fail(&item.name, error, &mut report)?,
        }
    }
    write_report(ctx, report).await
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

/// Rehearses the changes, and reports them as planned.
async fn rehearse_changes(
    ctx: &Context,
    planned: Vec<(ReadyChange, Vec<Note>)>,
    report: &mut WriteReport,
) -> Result<()> {
    for (item, met) in planned {
        let ReadyChange { target, change, notify, cut, .. } = &item;
        let port = &target.owner.port;
        let rehearsed = match cut {
            // A split writes the rest of the series as a new event, so the creation is rehearsed.
            Some(_) => {
                let whole = follow::copied(target, change.clone());
                port.rehearse(target.event.calendar.as_ref(), None, &whole, *notify).await
            }
            None => port.rehearse(None, Some(&target.event), change, *notify).await,
        };
        rehearsed.map_err(|error| error.context(&target.handle))?;
        report.notes.extend(item.exception_notes.iter().cloned());
        report.notes.extend(no_undo(target, Some(change)).await);
        if !target.event.own {
            report.notes.push(note!(
                "{} has another organizer: only your copy would be changed, if the service \
                 allows that",
                ours(&target.handle)
            ));
        }
        let mut detail = vec![item.difference(&ctx.config.zone)];
        detail.extend(met.iter().map(ToString::to_string));
        report.outcomes.push(ItemOutcome::new(item.name, "change", "planned", detail.join("; ")));
    }
    report.is_rehearsal = true;
    Ok(())
}

/// Writes one change. Returns false, with an outcome in the report, if only a part was written.
async fn write_change(ctx: &Context, item: &ReadyChange, report: &mut WriteReport) -> Result<bool> {
    let ReadyChange { target, change, notify, .. } = item;
    if let Some(cut) = &item.cut {
        return split_series(ctx, item, cut, report).await;
    }
    let own = &target.owner.account.email;
    let before = guests_reached(target, *notify).await;
    let recipients = notified(&before, change.guests.as_ref(), own, *notify);
    let entry = AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, "update")
        .with_id(&target.handle)
        .with_recipients(recipients);
    // Read before the write, which may give the occurrences new ids.
    let is_visible = occurrences::is_visible(change);
    let known = if is_visible {
        occurrences::known_before(ctx, &target.owner, &target.event, None).await
    } else {
        Vec::new()
    };
    let write = target.owner.port.update(&target.event, change, *notify);
    let write = async { write.await.map(Some) };
    let logged = LoggedWrite { target, change: Some(change), entry };
    match write_event(ctx, logged, report, write).await {
        Ok(Some(value)) => {
            if is_visible {
                report.series.knew(known);
                report.series.wrote(&target.owner, &value);
            }
            report.events.push((target.owner.clone(), value));
        }
        Ok(None) => {}
        Err(error) => return Err(write_error(ctx, target, error).await),
    }
    Ok(true)
}

/// Returns the conflicts of each change that moves its event.
async fn met_by_changes(
    ctx: &Context,
    items: &[ReadyChange],
    request: &CalendarSave,
    report: &mut WriteReport,
) -> Result<Vec<Vec<Note>>> {
    let moves = |change: &EventPatch| change.time.is_some() || change.repeat.is_some();
    let any = items.iter().any(|item| moves(&item.change));
    if request.if_conflict == IfConflict::Ignore || !any {
        return Ok(vec![Vec::new(); items.len()]);
    }
    let mut candidates = Vec::new();
    for ReadyChange { target, change, repeat, .. } in items {
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
    Ok(met.into_iter().map(|met| met.lines).collect())
}
