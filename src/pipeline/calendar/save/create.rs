//! New events: checked, compared with existing ones, written one by one.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::call::progress;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{Note, note, quoted};
use futures_util::future::join;

use super::clash::{self, ClashCandidate, ItemClashes, compare_clashes, events_near, find_clashes};
use super::destination::{CalendarDestination, SaveCall, find_destination};
use super::make::{self, PlannedChange};
use crate::pipeline::calendar::audience::act;
use crate::pipeline::calendar::guests::{doubtful_guests, notified, notify_missing, others};
use crate::pipeline::calendar::target::listed;
use crate::pipeline::calendar::write::{LoggedCreation, create_event, keep_created};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::{WriteAudience, confirm};
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::write::sequence::WriteSequence;
use crate::tools::calendar_save::{CalendarSave, IfConflict};

/// A new event, and its name in the answer.
struct NewEvent {
    name: String,
    made: PlannedChange,
    met: ItemClashes,
}

/// An event that was written, as the service has it, and the guests who were notified.
struct MadeEvent {
    event: Event,
    notified: Vec<String>,
}

/// Creates the events of a call. All of them are checked before the first is written.
pub(super) async fn create_events(
    ctx: &Context,
    request: &CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if request.scope.is_some() {
        return Err(
            Error::argument("`scope` is for an existing event").next("leave it out, or give `id`")
        );
    }
    let mut items = new_events(ctx, request)?;
    let destination =
        find_destination(ctx, request.account.as_deref(), request.calendar.as_deref()).await?;
    let call = SaveCall { request, to: &destination };
    check_events(call, &mut items)?;
    for item in &mut items {
        let (account, guests) = (&destination.owner.account, item.made.change.guests.as_ref());
        item.made.notes.extend(doubtful_guests(ctx, account, &[], guests).await);
    }
    let candidates = clash_candidates(ctx, &items, &destination);
    let mut report = WriteReport::notifying(request.notify);
    // Where conflicts are only reported, they are looked for while the events are written.
    let at_once = request.if_conflict == IfConflict::Warn && !request.dry_run;
    if !at_once && request.if_conflict != IfConflict::Ignore {
        let strict = request.if_conflict == IfConflict::Refuse;
        let found = find_clashes(ctx, &candidates, strict).await?;
        meet(&mut items, found, &mut report.notes);
    }
    let mut agreed = Vec::new();
    agreed_for_new(ctx, call, &items, caller, &mut agreed).await?;
    if at_once {
        let found = write_while_looking(ctx, call, (&mut items, candidates), &mut report).await?;
        // Notes on conflicts and items come before the notes on the writes.
        let written = std::mem::replace(&mut report.notes, found);
        report.notes.extend(notes_on(&items, true));
        report.notes.append(&mut agreed);
        report.notes.extend(written);
        return write_report(ctx, report).await;
    }
    // A refused or planned event is reported with its outcome.
    report.notes.extend(notes_on(&items, false));
    report.notes.append(&mut agreed);
    if request.dry_run {
        rehearse_events(call, &items).await?;
        plan_events(ctx, call, &items, &mut report);
    } else {
        let made = write_events(ctx, call, &items, &mut report).await?;
        keep_made(ctx, made, &destination, &mut report).await;
    }
    write_report(ctx, report).await
}

/// Reads the new events of a call.
fn new_events(ctx: &Context, request: &CalendarSave) -> Result<Vec<NewEvent>> {
    let several = request.events.len() > 1;
    let here = ctx.time_context();
    let mut items = Vec::new();
    for (words, number) in request.events.iter().zip(1..) {
        let title = short(words.title.as_deref().unwrap_or_default());
        let name = if several { format!("{number} {title}") } else { title };
        let made = make::new(words, &here).map_err(|error| in_context(several, &name, error))?;
        let met = ItemClashes::default();
        items.push(NewEvent { name, made, met });
    }
    if request.notify.is_none() && items.iter().any(|item| item.made.change.guests.is_some()) {
        return Err(notify_missing());
    }
    Ok(items)
}

/// Refuses events that their service does not accept, and removes the organizer from their guests.
fn check_events(call: SaveCall<'_>, items: &mut [NewEvent]) -> Result<()> {
    let several = items.len() > 1;
    let (port, own) = (&call.to.owner.port, &call.to.owner.account.email);
    for item in items {
        let change = &mut item.made.change;
        // The organizer does not invite themselves.
        if let Some(guests) = &mut change.guests {
            guests.retain(|one| !one.address.is(own));
        }
        change.guests = change.guests.take().filter(|list| !list.is_empty());
        make::fits(change, port.capabilities())
            .and_then(|()| port.check(None, change, notify_for(change, own, call.request)))
            .map_err(|error| in_context(several, &item.name, error))?;
    }
    Ok(())
}

/// Writes the events, and looks for their conflicts meanwhile. Returns notes on the search for
/// conflicts.
async fn write_while_looking(
    ctx: &Context,
    call: SaveCall<'_>,
    (items, mut candidates): (&mut [NewEvent], Vec<ClashCandidate>),
    report: &mut WriteReport,
) -> Result<Vec<Note>> {
    // Boxed, because a thread's stack is small.
    let near = Box::pin(events_near(ctx, &candidates, false));
    let write = Box::pin(write_events(ctx, call, items, report));
    let (near, made) = join(near, write).await;
    let made = made?;
    for (candidate, made) in candidates.iter_mut().zip(&made) {
        candidate.becomes(made.as_ref().map(|one| one.event.clone()));
    }
    // The events are written, so a failure here is only a note.
    let found = match near {
        Ok(near) => compare_clashes(ctx, &candidates, near, false).await,
        Err(error) => Err(error),
    };
    let found = found
        .unwrap_or_else(|error| (Vec::new(), vec![note!("clashes were not checked: {}", error)]));
    let mut notes = Vec::new();
    meet(items, found, &mut notes);
    report.clashing = clashing(items, &made);
    keep_made(ctx, made, call.to, report).await;
    Ok(notes)
}

/// Returns the items as candidates for clashes.
fn clash_candidates(
    ctx: &Context,
    items: &[NewEvent],
    to: &CalendarDestination,
) -> Vec<ClashCandidate> {
    let now = ctx.now();
    let main = to.is_main();
    items
        .iter()
        .map(|item| {
            let change = &item.made.change;
            let repeat = change.repeat.as_ref().and_then(Option::as_ref);
            ClashCandidate {
                title: change.title.clone().unwrap_or_default(),
                uid: change.uid.clone(),
                claim: clash::claim(change, None, main),
                times: change
                    .time
                    .as_ref()
                    .map_or_else(Vec::new, |(start, end)| clash::times(start, end, repeat, now)),
                itself: Vec::new(),
            }
        })
        .collect()
}

/// Refuses new events that must not reach their guests, or the owner of the calendar.
async fn agreed_for_new(
    ctx: &Context,
    call: SaveCall<'_>,
    items: &[NewEvent],
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let own = &call.to.owner.account.email;
    let mut audience = WriteAudience::default();
    let mut lines = Vec::new();
    // A refused event reaches no one.
    for item in items.iter().filter(|item| !call.refuses(&item.met.lines)) {
        let change = &item.made.change;
        audience.guests(change.guests.as_deref().unwrap_or_default(), own);
        lines.push(format!("{}; {}", item.name, make::description(change, &ctx.config.zone)));
    }
    if let Some(place) = &call.to.calendar {
        audience.calendar(place, own);
    }
    if lines.is_empty() || audience == WriteAudience::default() {
        return Ok(());
    }
    let question = format!("Create events with other people?\n{}", listed(lines));
    confirm(ctx, &act(question), &audience, caller, notes).await.map(drop)
}

/// Rehearses the creation of the events. The first refusal ends the call.
async fn rehearse_events(call: SaveCall<'_>, items: &[NewEvent]) -> Result<()> {
    let (port, own) = (&call.to.owner.port, &call.to.owner.account.email);
    for item in items {
        let change = &item.made.change;
        let notify = notify_for(change, own, call.request);
        let rehearsed = port.rehearse(call.calendar_id(), None, change, notify).await;
        rehearsed.map_err(|error| in_context(items.len() > 1, &item.name, error))?;
    }
    Ok(())
}

/// Reports the events as planned, or as refused because of their conflicts.
fn plan_events(ctx: &Context, call: SaveCall<'_>, items: &[NewEvent], report: &mut WriteReport) {
    let owner = &call.to.owner;
    let place = match &call.to.calendar {
        Some(place) => format!("in {}, {}", short(&place.name), owner.label),
        None => format!("in the main calendar, {}", owner.label),
    };
    for item in items {
        let mut detail = vec![make::description(&item.made.change, &ctx.config.zone)];
        detail.push(place.clone());
        detail.extend(item.met.lines.iter().map(ToString::to_string));
        let result = if call.refuses(&item.met.lines) { "refused" } else { "planned" };
        let detail = detail.join("; ");
        report.outcomes.push(ItemOutcome::new(&item.name, "create", result, detail));
    }
    report.is_rehearsal = true;
}

/// Adds the events that were written to the report.
async fn keep_made(
    ctx: &Context,
    made: Vec<Option<MadeEvent>>,
    to: &CalendarDestination,
    report: &mut WriteReport,
) {
    let own = &to.owner.account.email;
    for MadeEvent { event, notified } in made.into_iter().flatten() {
        let recipients: Vec<&str> = notified.iter().map(String::as_str).collect();
        let has_guests = !others(&event.guests, own).is_empty();
        report.notified.add(&recipients, has_guests);
        keep_created(ctx, &to.owner, &event, !notified.is_empty(), report).await;
        report.series.wrote(&to.owner, &event);
        report.events.push((to.owner.clone(), event));
    }
}

/// Writes the events one by one; returns each that was written.
async fn write_events(
    ctx: &Context,
    call: SaveCall<'_>,
    items: &[NewEvent],
    report: &mut WriteReport,
) -> Result<Vec<Option<MadeEvent>>> {
    let own = &call.to.owner.account.email;
    let mut writes = WriteSequence::new("create", items.len());
    let mut made: Vec<Option<MadeEvent>> = items.iter().map(|_| None).collect();
    for (item, made) in progress::each("events", items.iter().zip(&mut made)) {
        let change = &item.made.change;
        if call.refuses(&item.met.lines) {
            let detail = item.met.lines.join("; ");
            report.outcomes.push(ItemOutcome::new(&item.name, "create", "refused", detail));
            continue;
        }
        if writes.skips(&item.name, report) {
            continue;
        }
        let notify = notify_for(change, own, call.request);
        let recipients = notified(&[], change.guests.as_ref(), own, notify);
        let notified = recipients.iter().map(|one| (*one).to_owned()).collect();
        let creation = LoggedCreation {
            owner: &call.to.owner,
            calendar: call.calendar_id(),
            change,
            notify,
            entry: AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, "create")
                .with_recipients(recipients),
        };
        match create_event(ctx, creation, &mut report.notes).await {
            Ok(event) => *made = Some(MadeEvent { event, notified }),
            Err(error) => writes.fail(&item.name, error, report)?,
        }
    }
    Ok(made)
}

/// Adds the conflicts that were found to their items.
fn meet(items: &mut [NewEvent], found: (Vec<ItemClashes>, Vec<Note>), notes: &mut Vec<Note>) {
    for (item, met) in items.iter_mut().zip(found.0) {
        item.met = met;
    }
    notes.extend(found.1);
}

/// Returns the notes on each item, with its conflicts if it was written in spite of them.
fn notes_on(items: &[NewEvent], conflicts: bool) -> Vec<Note> {
    let lines = items.iter().flat_map(|item| {
        let met = item.met.lines.iter().filter(move |_| conflicts);
        item.made.notes.iter().chain(met).map(move |line| (item, line))
    });
    lines
        .map(|(item, line)| match items.len() {
            1 => line.clone(),
            _ => line.under(quoted(&item.name)),
        })
        .collect()
}

/// Returns the number of events that were written although they have conflicts.
fn clashing(items: &[NewEvent], made: &[Option<MadeEvent>]) -> usize {
    let written = items.iter().zip(made).filter(|(_, made)| made.is_some());
    written.filter(|(item, _)| !item.met.lines.is_empty()).count()
}

/// Returns the notification that a new event needs: [`GuestNotice::Nobody`] if it has no guests.
fn notify_for(change: &EventPatch, own: &EmailAddress, request: &CalendarSave) -> GuestNotice {
    let guests = change.guests.as_deref().unwrap_or_default();
    match (others(guests, own).is_empty(), request.notify) {
        (false, Some(notify)) => notify,
        _ => GuestNotice::Nobody,
    }
}

/// Prefixes an error with the name of its item, if there are several: none of them is written.
fn in_context(several: bool, name: &str, error: Error) -> Error {
    if several { error.context(format!("nothing was written: item {name}")) } else { error }
}
