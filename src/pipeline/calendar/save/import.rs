//! Imports events from iCalendar documents into a calendar.
//!
//! An existing event, found by its UID or by time and title, is updated or left unchanged, and
//! never duplicated. No one is notified, because the guests of an imported event already know of
//! it.

use std::collections::BTreeSet;

use super::clash::{self, ClashCandidate, ItemClashes, find_clashes};
use super::destination::{CalendarDestination, SaveCall, find_destination};
use super::import_item::{ImportAction, ImportItem};
use super::source::{self, read_document};
use super::write_import::write_items;
use crate::pipeline::calendar::audience::{EventWrite, act, find_audience};
use crate::pipeline::calendar::target::{as_target, fetch_event, listed, master_of};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::{WriteAudience, confirm, is_watchful};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::tools::calendar_save::{CalendarSave, IfConflict};
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::event::time;
use daysheet_core::ical::CalendarDocument;
use daysheet_core::text::{Note, note, ours, quoted};
use futures_util::future::join_all;
use jiff::tz::TimeZone;

/// The most events of one call.
const MAX_EVENTS: usize = 200;
/// The number of events looked up concurrently.
const AT_ONCE: usize = 8;

/// Imports the events of the document that `input` contains or names.
pub(super) async fn import_events(
    ctx: &Context,
    input: &str,
    request: &CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if request.scope.is_some() {
        return Err(Error::argument("`scope` is for an existing event").next("leave it out"));
    }
    let document = read_document(ctx, input).await?;
    let mut report = WriteReport::default();
    report.notes.extend(document.notes.iter().cloned());
    report.notes.extend(method_note(ctx, &document).await?);
    let destination =
        find_destination(ctx, request.account.as_deref(), request.calendar.as_deref()).await?;
    let call = SaveCall { request, to: &destination };
    let mut items = import_items(document, &destination, &mut report);
    if items.len() > MAX_EVENTS {
        return Err(too_many_events(items.len()));
    }
    if items.is_empty() && report.outcomes.is_empty() {
        return Err(no_events(&report.notes));
    }
    number_names(&mut items);
    find_existing(ctx, &mut items, &destination).await?;
    report.notes.extend(notes_without_uid(&items));
    compare_import(ctx, call, &mut items, &mut report.notes).await?;
    agreed_for_import(ctx, call, &items, caller, &mut report.notes).await?;
    report.is_rehearsal = request.dry_run;
    write_items(ctx, call, items, &mut report).await?;
    report.notes.extend(assigned_uids(&destination, &report));
    write_report(ctx, report).await
}

/// Returns a note on an invitation, and refuses a document whose method leaves no event to import.
async fn method_note(ctx: &Context, document: &CalendarDocument) -> Result<Option<Note>> {
    match document.method.as_deref() {
        Some(method @ ("CANCEL" | "REPLY" | "COUNTER" | "REFRESH" | "DECLINECOUNTER")) => Err(
            Error::argument(format!("the document has no event to import: its METHOD is {method}"))
                .next("read the message, and change the event itself"),
        ),
        Some("REQUEST") => invitation_note(ctx, document).await,
        _ => Ok(None),
    }
}

/// Returns the error about a document with more events than one call imports.
fn too_many_events(count: usize) -> Error {
    Error::argument(format!("the document has {count} events, more than {MAX_EVENTS}"))
        .next("split it, and import each part in a call of its own")
}

/// Returns the error about a document without events, with the notes on its text.
fn no_events(notes: &[Note]) -> Error {
    let notes = notes.join("; ");
    Error::argument(if notes.is_empty() {
        "it has no event".to_owned()
    } else {
        format!("it has no readable event: {notes}")
    })
    .next("check the text; an event is a VEVENT with a DTSTART")
}

/// Returns a note that the service replaced the UIDs of the events that were written.
fn assigned_uids(to: &CalendarDestination, report: &WriteReport) -> Option<Note> {
    let can = to.owner.port.capabilities();
    (!can.sets_uid && !report.events.is_empty()).then(|| {
        note!("{} assigns its own UIDs: events are recognized by time and title", ours(can.name))
    })
}

/// Returns a note on an invitation, which should be answered instead of imported.
async fn invitation_note(ctx: &Context, document: &CalendarDocument) -> Result<Option<Note>> {
    let accounts = ctx.accounts.list().await?;
    let mut guests = document.entries.iter().flat_map(|entry| &entry.guests);
    let request = guests.find_map(|guest| {
        accounts.iter().map(|one| &one.email).find(|email| guest.address.is(email))
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
    let mut items: Vec<ImportItem> = Vec::new();
    let mut left_out = BTreeSet::new();
    for (entry, exceptions) in with_exceptions(document.entries) {
        if entry.cancelled {
            let (name, why) = (short(&entry.title), "cancelled in the document");
            report.outcomes.push(ItemOutcome::new(name, "import", "skipped", why));
            continue;
        }
        let (item, without) = new_item(entry, exceptions, to, &mut report.notes);
        left_out.extend(without);
        items.push(item);
    }
    let can = to.owner.port.capabilities();
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

/// Groups the entries of a document: each event, with the exceptions of its series.
fn with_exceptions(entries: Vec<Event>) -> Vec<(Event, Vec<Event>)> {
    let (mut exceptions, masters): (Vec<Event>, Vec<Event>) =
        entries.into_iter().partition(|entry| entry.original.is_some());
    let mut groups = Vec::new();
    for master in masters {
        let uid = master.uid.clone();
        let (mine, others) =
            // Entries without a UID are not related to each other.
            exceptions.into_iter().partition(|one| one.uid == uid && uid.is_some());
        exceptions = others;
        groups.push((master, mine));
    }
    // Exceptions whose series is not in the document are events of their own,
    // unless the series is in the calendar.
    groups.extend(exceptions.into_iter().map(|one| (one, Vec::new())));
    groups
}

/// Returns the item of an entry, and the names of the parts that it leaves out.
fn new_item(
    mut entry: Event,
    mut exceptions: Vec<Event>,
    to: &CalendarDestination,
    notes: &mut Vec<Note>,
) -> (ImportItem, Vec<&'static str>) {
    let (can, own) = (to.owner.port.capabilities(), &to.owner.account.email);
    let (mut change, without) = source::change(&entry, can, own, notes);
    if change.organizer.is_some() {
        // Only the organizer may cancel an occurrence once the series is there.
        exceptions = entry.exclude_cancelled(exceptions);
        change.repeat = entry.repeat.clone().map(Some);
    }
    // Without a value, the calendar would add its default reminder.
    change.reminder.get_or_insert(None);
    let item = ImportItem {
        name: short(&entry.title),
        entry,
        exceptions,
        change,
        there: None,
        twin: false,
        met: ItemClashes::default(),
    };
    (item, without)
}

/// Prefixes the names of the items with their numbers, if the document has several.
fn number_names(items: &mut [ImportItem]) {
    if items.len() > 1 {
        for (item, number) in items.iter_mut().zip(1..) {
            item.name = format!("{number} {}", item.name);
        }
    }
}

/// Finds the events that already exist, by their UIDs.
async fn find_existing(
    ctx: &Context,
    items: &mut [ImportItem],
    to: &CalendarDestination,
) -> Result<()> {
    for some in items.chunks_mut(AT_ONCE) {
        let port = &to.owner.port;
        let found = join_all(some.iter().map(|item| async {
            match &item.entry.uid {
                None => Ok(Vec::new()),
                Some(uid) => port.by_uid(uid).await,
            }
        }))
        .await;
        for (item, found) in some.iter_mut().zip(found) {
            let at = item.entry.original;
            for event in found? {
                // A series matches a series, an exception an exception.
                let zones = [&ctx.config.zone, &TimeZone::UTC];
                let same = match (event.original, at) {
                    (Some(original), Some(at)) => time::same_start(original, at, &zones),
                    (original, at) => original == at,
                };
                if same && !event.cancelled {
                    item.there = Some(as_target(ctx, &to.owner, event).await?);
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Returns notes on the items that have no UID.
fn notes_without_uid(items: &[ImportItem]) -> impl Iterator<Item = Note> {
    let without = items.iter().filter(|item| item.entry.uid.is_none());
    without.map(|item| note!("{} has no UID", quoted(&item.name)))
}

/// Finds the conflicts of new events, and existing events with another UID.
async fn compare_import(
    ctx: &Context,
    call: SaveCall<'_>,
    items: &mut [ImportItem],
    notes: &mut Vec<Note>,
) -> Result<()> {
    let SaveCall { request, to } = call;
    let now = ctx.now();
    let candidates: Vec<ClashCandidate> = items
        .iter()
        .map(|item| {
            let repeat = item.entry.repeat.as_ref();
            let (start, end) = item.entry.zoned_times();
            let there = item.there.as_ref().map(|there| there.event.id.clone());
            ClashCandidate {
                title: item.entry.title.clone(),
                uid: item.change.uid.clone(),
                claim: clash::claim(&item.change, None, to.is_main()),
                times: clash::times(&start, &end, repeat, now),
                itself: there.into_iter().collect(),
            }
        })
        .collect();
    let strict = request.if_conflict == IfConflict::Refuse;
    let (met, found) = find_clashes(ctx, &candidates, strict).await?;
    notes.extend(found);
    for (item, met) in items.iter_mut().zip(met) {
        let twin = met.twins.iter().find(|(owner, _)| *owner == to.owner.account.id);
        if let (None, Some((_, id))) = (&item.there, twin) {
            let there = fetch_event(ctx, to.owner.clone(), id).await?;
            // The twin may be found as an occurrence, while the document has its series.
            let there = match there.event.series {
                Some(_) => master_of(ctx, &there).await?,
                None => there,
            };
            // A single event is not the series that begins with it.
            if item.entry.repeat.is_none() || there.event.repeat.is_some() {
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
    call: SaveCall<'_>,
    items: &[ImportItem],
    caller: &dyn ClientPrompts,
    notes: &mut Vec<Note>,
) -> Result<()> {
    // Finding the audience takes requests, of which none is needed if no write can be refused.
    if !is_watchful(ctx).await? {
        return Ok(());
    }
    let mut audience = WriteAudience::default();
    let mut lines = Vec::new();
    for item in items {
        if let Some(reached) = item_audience(ctx, call, item).await? {
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

/// Returns the people that the write of an item reaches; `None` if it concerns only the user.
async fn item_audience(
    ctx: &Context,
    call: SaveCall<'_>,
    item: &ImportItem,
) -> Result<Option<WriteAudience>> {
    match item.action() {
        ImportAction::Create if call.refuses(&item.met.lines) => Ok(None),
        ImportAction::Create => {
            let own = &call.to.owner.account.email;
            let mut new = WriteAudience::default();
            new.add_guests(item.change.guests.as_deref().unwrap_or_default(), own);
            let organizer = item.change.organizer.as_ref();
            new.add(organizer.map(|one| one.address.as_str()));
            if let Some(place) = &call.to.calendar {
                new.calendar(place, own);
            }
            Ok((new != WriteAudience::default()).then_some(new))
        }
        // The exceptions of an event that is kept are written only if the event is the user's own.
        ImportAction::Keep(there)
            if !there.event.own || item.twin || item.exceptions.is_empty() =>
        {
            Ok(None)
        }
        // Its occurrences may be deleted, too.
        ImportAction::Keep(there) | ImportAction::Update(there, _) => {
            find_audience(ctx, there, &EventWrite::Delete(false)).await
        }
    }
}
