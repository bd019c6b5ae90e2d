//! Imports events from iCalendar documents into a calendar.
//!
//! An existing event, found by its UID or by time and title, is updated or left unchanged, and
//! never duplicated. No one is notified, because the guests of an imported event already know of
//! it.

use std::collections::BTreeSet;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::call::progress;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event_time;
use daysheet_core::ical::{CalendarDocument, IcalEvent};
use daysheet_core::provider::calendar::{EventChange, GuestNotice};
use daysheet_core::row::RowCell;
use daysheet_core::text::{Note, note, ours, quoted};
use futures_util::future::join_all;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::clash::{self, ClashCandidate, ItemClashes, find_clashes};
use super::destination::{CalendarDestination, find_destination};
use super::exceptions::finish_import;
use super::import_item::{ImportItem, ImportOutcome, differing};
use super::make;
use super::source::{self, ImportRest, KIND, import_rest, read_document};
use crate::pipeline::access::audit::AuditEntry as Line;
use crate::pipeline::access::audit::CALENDAR_SAVE;
use crate::pipeline::access::audit::run_logged;
use crate::pipeline::access::guard::{WriteAudience, confirm, is_watchful};
use crate::pipeline::answer::cursor::{SeenIds, save_cursor};
use crate::pipeline::answer::outcome::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::calendar::audience::{EventWrite, act, find_audience};
use crate::pipeline::calendar::target::{
    as_target, as_target_after, fetch_event, listed, master_of,
};
use crate::pipeline::calendar::undo::{keep_created, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::tools::calendar_save::{CalendarSave, IfConflict};

/// The most events of one call.
const MAX_EVENTS: usize = 200;
/// The number of events looked up concurrently.
const AT_ONCE: usize = 8;

pub(super) async fn import_events(
    ctx: &Context,
    input: &str,
    request: &CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if request.scope.is_some() {
        return Err(Error::argument("`scope` is for an existing event").next("leave it out"));
    }
    let rest = if source::is_cursor(input) { Some(import_rest(ctx, input).await?) } else { None };
    let request = &rest.as_ref().map_or(Ok(request.clone()), |rest| rest.of(request))?;
    // A continued import may be a dry run, too.
    let caller = &MaybeDryRun { caller, dry_run: request.dry_run };
    let done = rest.as_ref().map_or(0, |rest| rest.done);
    let document = read_document(ctx, input).await?;
    let digest = SeenIds::digest(&format!("{:?}", document.entries));
    // A cursor only counts the imported events, so it is valid for the same document alone.
    if rest.as_ref().is_some_and(|rest| rest.document != digest) {
        return Err(Error::new(ErrorKind::Conflict, "the document changed since its import began")
            .next("import it from the start: existing events are not duplicated"));
    }
    let mut report = WriteReport::default();
    report.notes.extend(document.notes.iter().cloned());
    match document.method.as_deref() {
        Some(method @ ("CANCEL" | "REPLY" | "COUNTER" | "REFRESH" | "DECLINECOUNTER")) => {
            return Err(Error::argument(format!(
                "the document has no event to import: its METHOD is {method}"
            ))
            .next("read the message, and change the event itself"));
        }
        Some("REQUEST") => report.notes.extend(invitation_note(ctx, &document).await?),
        _ => {}
    }
    let destination =
        find_destination(ctx, request.account.as_deref(), request.calendar.as_deref()).await?;
    let mut items = import_items(document, &destination, &mut report);
    let all = items.len();
    if done > 0 {
        // The first call reported these notes.
        report = WriteReport::default();
    }
    items = items.into_iter().skip(done).take(MAX_EVENTS).collect();
    if items.is_empty() && report.outcomes.is_empty() {
        let notes = report.notes.join("; ");
        return Err(Error::argument(if notes.is_empty() {
            "it has no event".to_owned()
        } else {
            format!("it has no readable event: {notes}")
        })
        .next("check the text; an event is a VEVENT with a DTSTART"));
    }
    look_up(ctx, &mut items, done, all, &destination, &mut report).await?;
    compare_import(ctx, &mut items, request, &destination, &mut report).await?;
    agreed_for_import(ctx, &items, request, &destination, caller, &mut report.notes).await?;
    if request.dry_run {
        report.notes.push("dry run: nothing was written".into());
    }
    let mut stopped = false;
    let last = done + items.len();
    for item in progress::each("events", items) {
        import_item(ctx, item, request, &destination, &mut stopped, &mut report).await?;
    }
    let can = destination.owner.port.capabilities();
    if !can.sets_uid && !report.events.is_empty() {
        report.notes.push(note!(
            "{} assigns its own UIDs: events are recognized by time and title",
            ours(can.name)
        ));
    }
    let mut next = None;
    match (stopped, last < all) {
        // The same call continues the import, because existing events are not written again.
        (true, _) if done > 0 || last < all => report.notes.push(note!(
            "events {} to {} of {}: give ics={} again to continue",
            ours(done + 1),
            ours(last),
            ours(all),
            ours(rest.map_or("the same", |_| input))
        )),
        (false, true) => {
            let rest = ImportRest {
                ics: rest.map_or_else(|| input.to_owned(), |rest| rest.ics),
                document: digest,
                done: last,
                account: request.account.clone(),
                calendar: request.calendar.clone(),
                if_conflict: request.if_conflict,
                dry_run: request.dry_run,
            };
            let cursor = save_cursor(ctx, KIND, &rest).await?;
            report.notes.push(note!(
                "events {} to {} of {}: calendar_save ics=p{} continues",
                ours(done + 1),
                ours(last),
                ours(all),
                ours(cursor)
            ));
            next = Some(RowCell::Handle('p', cursor));
        }
        _ => {}
    }
    let mut response = write_report(ctx, report).await?;
    let next = next.map(|next| ("next", next));
    response.document.scalars.extend(next);
    Ok(response)
}

/// Returns a note on an invitation, which should be answered instead of imported.
async fn invitation_note(ctx: &Context, document: &CalendarDocument) -> Result<Option<Note>> {
    let accounts = ctx.accounts.list().await?;
    let mut guests = document.entries.iter().flat_map(|entry| &entry.guests);
    let request = guests.find_map(|guest| {
        let is_me = |email: &String| email.eq_ignore_ascii_case(&guest.address);
        accounts.iter().map(|one| &one.email).find(|email| is_me(email))
    });
    Ok(request.map(|email| {
        note!(
            "this invites {}: calendar_respond answers it and notifies the organizer",
            ours(email)
        )
    }))
}

/// Returns the events of a document, each with its exceptions.
fn import_items(
    document: CalendarDocument,
    to: &CalendarDestination,
    report: &mut WriteReport,
) -> Vec<ImportItem> {
    let (exceptions, masters): (Vec<IcalEvent>, Vec<IcalEvent>) =
        document.entries.into_iter().partition(|entry| entry.recurrence_id.is_some());
    let mut exceptions = exceptions;
    let mut items: Vec<ImportItem> = Vec::new();
    let mut left_out = BTreeSet::new();
    let can = to.owner.port.capabilities();
    let mut add = |mut entry: IcalEvent, mut mine: Vec<IcalEvent>, report: &mut WriteReport| {
        let name = short(&entry.title);
        if entry.cancelled {
            report.outcomes.push(ItemOutcome::new(
                name,
                "import",
                "skipped",
                "cancelled in the document",
            ));
            return;
        }
        let own = &to.owner.account.email;
        let (mut change, without) = source::change(&entry, can, own, &mut report.notes);
        if change.organizer.is_some() {
            // Only the organizer may cancel an occurrence once the series is there.
            mine = entry.exclude_cancelled(mine);
            change.repeat = entry.repeat.clone().map(Some);
        }
        // Without a value, the calendar would add its default reminder.
        change.reminder.get_or_insert(None);
        left_out.extend(without);
        items.push(ImportItem {
            name,
            entry,
            exceptions: mine,
            change,
            there: None,
            twin: false,
            met: ItemClashes::default(),
        });
    };
    for master in masters {
        let uid = master.uid.clone();
        let (mine, others) =
            exceptions.into_iter().partition(|one| one.uid == uid && !uid.is_empty());
        exceptions = others;
        add(master, mine, report);
    }
    // Exceptions whose series is not in the document are events of their own,
    // unless the series is in the calendar.
    for one in exceptions {
        add(one, Vec::new(), report);
    }
    for what in left_out {
        let why = match what {
            "people" => format!("{} would invite them to a meeting of yours", can.name),
            "categories" => format!("{} has colours instead", can.name),
            _ => format!("{} does not support reminders that early", can.name),
        };
        report.notes.push(note!("{} left out: {}", ours(&what), ours(&why)));
    }
    items
}

/// Finds the events that already exist, by their UIDs.
async fn look_up(
    ctx: &Context,
    items: &mut [ImportItem],
    done: usize,
    all: usize,
    to: &CalendarDestination,
    report: &mut WriteReport,
) -> Result<()> {
    for (item, number) in items.iter_mut().zip(done + 1..) {
        if all > 1 {
            item.name = format!("{number} {}", item.name);
        }
    }
    for some in items.chunks_mut(AT_ONCE) {
        let port = &to.owner.port;
        let found = join_all(some.iter().map(|item| async {
            match item.entry.uid.as_str() {
                "" => Ok(Vec::new()),
                uid => port.by_uid(uid).await,
            }
        }))
        .await;
        for (item, found) in some.iter_mut().zip(found) {
            let at = item.entry.recurrence_id;
            for value in found? {
                let Some(facts) = port.event_data(&value) else {
                    continue;
                };
                // A series matches a series, an exception an exception.
                let zones = [&ctx.config.zone, &TimeZone::UTC];
                let same = match (facts.original, at) {
                    (Some(original), Some(at)) => event_time::same_start(original, at, &zones),
                    (original, at) => original == at,
                };
                if same && !facts.cancelled {
                    item.there = Some(as_target(ctx, &to.owner, value, facts).await?);
                    break;
                }
            }
        }
    }
    report.notes.extend(
        items
            .iter()
            .filter(|item| item.entry.uid.is_empty())
            .map(|item| note!("{} has no UID", quoted(&item.name))),
    );
    Ok(())
}

/// Finds the conflicts of new events, and existing events with another UID.
async fn compare_import(
    ctx: &Context,
    items: &mut [ImportItem],
    request: &CalendarSave,
    to: &CalendarDestination,
    report: &mut WriteReport,
) -> Result<()> {
    let now = ctx.now();
    let candidates: Vec<ClashCandidate> = items
        .iter()
        .map(|item| {
            let repeat = item.entry.repeat.as_ref();
            let there = item.there.as_ref().map(|there| there.facts.id.clone());
            ClashCandidate {
                title: item.entry.title.clone(),
                uid: item.change.uid.clone(),
                claim: clash::claim(&item.change, None, to.is_main()),
                times: clash::times(&item.entry.start, &item.entry.end, repeat, now),
                itself: there.into_iter().collect(),
            }
        })
        .collect();
    let strict = request.if_conflict == IfConflict::Refuse;
    let (met, notes) = find_clashes(ctx, &candidates, strict).await?;
    report.notes.extend(notes);
    for (item, met) in items.iter_mut().zip(met) {
        let twin = met.twins.iter().find(|(owner, _)| *owner == to.owner.account.id);
        if let (None, Some((_, id))) = (&item.there, twin) {
            let there = fetch_event(ctx, to.owner.clone(), id).await?;
            let there = match there.facts.series {
                Some(_) => master_of(ctx, &there).await?,
                None => there,
            };
            // A single event is not the series that begins with it.
            if item.entry.repeat.is_none() || there.facts.repeat.is_some() {
                item.twin = true;
                item.there = Some(there);
                continue;
            }
        }
        if item.there.is_none() && request.if_conflict != IfConflict::Ignore {
            item.met = met;
        }
    }
    Ok(())
}

/// Refuses a document that must not reach the people on its events, or on the
/// events that it changes.
async fn agreed_for_import(
    ctx: &Context,
    items: &[ImportItem],
    request: &CalendarSave,
    to: &CalendarDestination,
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<()> {
    if !is_watchful(ctx).await? {
        return Ok(());
    }
    let own = &to.owner.account.email;
    let mut audience = WriteAudience::default();
    let mut lines = Vec::new();
    for item in items {
        let refused = request.if_conflict == IfConflict::Refuse && !item.met.lines.is_empty();
        let reached = match &item.there {
            None if refused => continue,
            None => {
                let mut new = WriteAudience::default();
                new.add_guests(item.change.guests.as_deref().unwrap_or_default(), own);
                let organizer = item.change.organizer.as_ref();
                new.add(organizer.map(|one| one.address.as_str()));
                if let Some(place) = &to.calendar {
                    new.calendar(place, own);
                }
                (new != WriteAudience::default()).then_some(new)
            }
            Some(there) if there.facts.own && !item.twin => {
                let change = differing(&item.change, &there.facts);
                if change == EventChange::default() && item.exceptions.is_empty() {
                    None
                } else {
                    // Its occurrences may be deleted, too.
                    find_audience(ctx, there, &EventWrite::Delete(false)).await?
                }
            }
            // Events of other organizers, and events found only by time and title, are not changed.
            Some(_) => None,
        };
        if let Some(reached) = reached {
            audience.join(&reached);
            lines.push(item.name.clone());
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    let question = format!("Import events with other people?\n{}", listed(lines));
    confirm(ctx, &act(question), &audience, caller, notes).await.map(drop)
}

async fn import_item(
    ctx: &Context,
    item: ImportItem,
    request: &CalendarSave,
    to: &CalendarDestination,
    stopped: &mut bool,
    report: &mut WriteReport,
) -> Result<()> {
    let lines = item.met.lines.join("; ");
    let mut outcome = |result, detail: String| {
        report.outcomes.push(ItemOutcome::new(&item.name, "import", result, detail));
    };
    if request.if_conflict == IfConflict::Refuse && !lines.is_empty() {
        outcome("refused", lines);
        return Ok(());
    }
    if *stopped {
        let detail = "not written, because an earlier one failed";
        outcome("skipped", detail.to_owned());
        return Ok(());
    }
    let difference = match &item.there {
        Some(there) if there.facts.own && !item.twin => differing(&item.change, &there.facts),
        _ => EventChange::default(),
    };
    if request.dry_run {
        let port = &to.owner.port;
        let calendar = to.calendar.as_ref().map(|place| place.id.as_str());
        let current = item.there.as_ref().map(|there| &there.value);
        let refused = match &item.there {
            Some(_) if difference == EventChange::default() => Ok(()),
            Some(_) => {
                let notify = GuestNotice::Nobody;
                port.rehearse(calendar, current, &difference, notify).await
            }
            None => match make::fits(&item.change, port.capabilities()) {
                Ok(()) => {
                    let notify = GuestNotice::Nobody;
                    port.rehearse(calendar, None, &item.change, notify).await
                }
                Err(error) => Err(error),
            },
        };
        if let Err(error) = refused {
            let failed = ItemOutcome::failed(&item.name, "import", &error);
            report.outcomes.push(failed);
            return Ok(());
        }
        let zone = &ctx.config.zone;
        let (result, detail) = match &item.there {
            None => {
                let mut detail = make::description(&item.change, zone);
                if !lines.is_empty() {
                    detail = format!("{detail}; {lines}");
                }
                ("planned", detail)
            }
            Some(there) if difference == EventChange::default() => {
                ("unchanged", format!("it is already {}", there.handle))
            }
            Some(there) => {
                let what = make::difference(&difference, &there.facts, zone);
                ("planned", format!("{}: {what}", there.handle))
            }
        };
        outcome(result, detail);
        return Ok(());
    }
    let port = &to.owner.port;
    let calendar = to.calendar.as_ref().map(|place| place.id.as_str());
    let line = |op: &'static str, id: Option<&String>| Line {
        account: &to.owner.account.email,
        tool: CALENDAR_SAVE,
        op,
        ids: id.into_iter().cloned().collect(),
        ..Line::default()
    };
    let written = match &item.there {
        None => {
            // Checked for each item alone, so that a refused event does not stop the others.
            let fits = make::fits(&item.change, port.capabilities())
                .and_then(|()| port.check(None, &item.change, GuestNotice::Nobody));
            let write = port.create(calendar, &item.change, GuestNotice::Nobody);
            let id = |value: &Value| port.event_data(value).map(|facts| facts.id);
            match fits {
                Ok(()) => run_logged(ctx, line("create", None), &mut report.notes, write, id).await,
                Err(error) => Err(error),
            }
        }
        Some(there) if difference == EventChange::default() => Ok(there.value.clone()),
        Some(there) => {
            let write = port.update(&there.value, &difference, GuestNotice::Nobody);
            let line = line("update", Some(&there.handle));
            // Exceptions that follow would not be undone.
            if item.exceptions.is_empty() {
                let write = async { write.await.map(Some) };
                let written = write_event(ctx, there, Some(&difference), line, report, write);
                written.await.map(Option::unwrap_or_default)
            } else {
                run_logged(ctx, line, &mut report.notes, write, |_| None).await
            }
        }
    };
    let value = match written {
        Ok(value) => value,
        Err(error) => {
            *stopped = error.ends_batch();
            report.outcomes.push(ItemOutcome::failed(&item.name, "import", &error));
            return Ok(());
        }
    };
    report.clashing += usize::from(!item.met.lines.is_empty());
    report.notes.extend(item.met.lines.iter().map(|line| line.under(quoted(&item.name))));
    let Some(facts) = port.event_data(&value) else {
        report.events.push((to.owner.clone(), value));
        return Ok(());
    };
    let target = as_target_after(ctx, &to.owner, value, facts, &mut report.notes).await;
    if item.there.is_none() {
        keep_created(ctx, &to.owner, &target.value, false, report).await;
    }
    let put = match (&item.there, difference == EventChange::default()) {
        (None, _) => ImportOutcome::Created(target),
        (Some(_), true) => ImportOutcome::Same(target),
        (Some(_), false) => ImportOutcome::Changed(target),
    };
    finish_import(ctx, &item, put, report).await
}
