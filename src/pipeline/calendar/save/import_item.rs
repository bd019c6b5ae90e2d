//! The events of an imported document: read, and compared with the calendar. Each becomes a
//! creation, an update, or no change. `import.rs` carries these out.

use std::collections::BTreeSet;

use daysheet_core::error::{Error, Result};
use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::time;
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::ical::CalendarDocument;
use daysheet_core::text::html;
use daysheet_core::text::search_text::words;
use daysheet_core::text::{Note, note, ours, quoted};
use futures_util::future::join_all;
use jiff::tz::TimeZone;

use super::clash::{self, ClashCandidate, ItemClashes, find_clashes};
use super::destination::{CalendarDestination, SaveCall};
use super::source;
use crate::pipeline::calendar::target::{EventTarget, as_target, fetch_event, master_of};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::pipeline::write::report::{ItemOutcome, WriteReport};
use crate::tools::calendar_save::IfConflict;

/// The most events of one call.
const MAX_EVENTS: usize = 200;
/// The number of events looked up concurrently.
const AT_ONCE: usize = 8;

/// An event of a document, with the exceptions of its series.
pub(super) struct ImportItem<'a> {
    pub(super) to: SaveCall<'a>,
    pub(super) name: String,
    pub(super) entry: Event,
    pub(super) exceptions: Vec<Event>,
    pub(super) change: EventPatch,
    /// The event, if it already exists.
    pub(super) there: Option<EventTarget>,
    /// True if it was found only by its time and title: it stays unchanged.
    pub(super) twin: bool,
    /// The fields of the document that differ from the existing event, if that may be changed.
    update: EventPatch,
    pub(super) met: ItemClashes,
}

/// The write that an item needs.
pub(super) enum ImportAction<'a> {
    /// The event does not exist yet.
    Create,
    /// The existing event stays unchanged.
    Keep(&'a EventTarget),
    /// The existing event gets these fields of the document.
    Update(&'a EventTarget, &'a EventPatch),
}

impl ImportItem<'_> {
    /// Returns the write that it needs.
    pub(super) fn action(&self) -> ImportAction<'_> {
        match &self.there {
            None => ImportAction::Create,
            Some(there) if self.update == EventPatch::default() => ImportAction::Keep(there),
            Some(there) => ImportAction::Update(there, &self.update),
        }
    }

    /// Compares it with the existing event. Events of other organizers, and events found only by
    /// time and title, are not changed.
    fn compare(&mut self) {
        if let Some(there) = &self.there
            && there.event.own
            && !self.twin
        {
            self.update = differing(&self.change, &there.event);
        }
    }
}

/// Returns the events of a document, compared with the calendar.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) if the document has no event,
/// or too many; the errors of reading the calendar.
pub(super) async fn find_items<'a>(
    ctx: &Context,
    to: SaveCall<'a>,
    document: CalendarDocument,
    report: &mut WriteReport,
) -> Result<Vec<ImportItem<'a>>> {
    let mut items = import_items(document, to, report);
    if items.len() > MAX_EVENTS {
        return Err(too_many_events(items.len()));
    }
    if items.is_empty() && report.outcomes.is_empty() {
        return Err(no_events(&report.notes));
    }
    number_names(&mut items);
    find_existing(ctx, &mut items, to.to).await?;
    report.notes.extend(notes_without_uid(&items));
    compare_import(ctx, to, &mut items, &mut report.notes).await?;
    items.iter_mut().for_each(ImportItem::compare);
    Ok(items)
}

/// Returns a note on an invitation, and refuses a document whose method leaves no event to import.
pub(super) async fn method_note(
    ctx: &Context,
    document: &CalendarDocument,
) -> Result<Option<Note>> {
    match document.method.as_deref() {
        Some(method @ ("CANCEL" | "REPLY" | "COUNTER" | "REFRESH" | "DECLINECOUNTER")) => Err(
            Error::argument(format!("the document has no event to import: its METHOD is {method}"))
                .next("read the message, and change the event itself"),
        ),
        Some("REQUEST") => invitation_note(ctx, document).await,
        _ => Ok(None),
    }
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

/// Returns the events of a document, each with its exceptions.
fn import_items<'a>(
    document: CalendarDocument,
    to: SaveCall<'a>,
    report: &mut WriteReport,
) -> Vec<ImportItem<'a>> {
    let mut items = Vec::new();
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
    let can = to.to.owner.port.capabilities();
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
fn new_item<'a>(
    mut entry: Event,
    mut exceptions: Vec<Event>,
    to: SaveCall<'a>,
    notes: &mut Vec<Note>,
) -> (ImportItem<'a>, Vec<&'static str>) {
    let (can, own) = (to.to.owner.port.capabilities(), &to.to.owner.account.email);
    let (mut change, without) = source::change(&entry, can, own, notes);
    if change.organizer.is_some() {
        // Only the organizer may cancel an occurrence once the series is there.
        exceptions = entry.exclude_cancelled(exceptions);
        change.repeat = entry.repeat.clone().map(Some);
    }
    // Without a value, the calendar would add its default reminder.
    change.reminder.get_or_insert(None);
    let item = ImportItem {
        to,
        name: short(&entry.title),
        entry,
        exceptions,
        change,
        there: None,
        twin: false,
        update: EventPatch::default(),
        met: ItemClashes::default(),
    };
    (item, without)
}

/// Prefixes the names of the items with their numbers, if the document has several.
fn number_names(items: &mut [ImportItem<'_>]) {
    if items.len() > 1 {
        for (item, number) in items.iter_mut().zip(1..) {
            item.name = format!("{number} {}", item.name);
        }
    }
}

/// Finds the events that already exist, by their UIDs.
async fn find_existing(
    ctx: &Context,
    items: &mut [ImportItem<'_>],
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
fn notes_without_uid(items: &[ImportItem<'_>]) -> impl Iterator<Item = Note> {
    let without = items.iter().filter(|item| item.entry.uid.is_none());
    without.map(|item| note!("{} has no UID", quoted(&item.name)))
}

/// Finds the conflicts of new events, and existing events with another UID.
async fn compare_import(
    ctx: &Context,
    call: SaveCall<'_>,
    items: &mut [ImportItem<'_>],
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

/// Returns the fields of a change that differ from the event. Guests are not compared,
/// because they have answered since.
pub(super) fn differing(change: &EventPatch, now: &Event) -> EventPatch {
    let fresh = |value: &Option<String>, now: &str| {
        // A service may have turned the text into HTML, so both forms are compared.
        let plain = html::html(now, html::TextStyle::Text, false).text;
        value.clone().filter(|value| words(value) != words(now) && words(value) != words(&plain))
    };
    let same = |one: &EventRecurrence, other: Option<&EventRecurrence>| {
        other.is_some_and(|other| {
            one.rule == other.rule
                // Occurrences cancelled or added since the document was made are no difference.
                && one.except.iter().all(|at| other.except.contains(at))
                && one.extra.iter().all(|at| other.extra.contains(at))
        })
    };
    EventPatch {
        title: fresh(&change.title, &now.title),
        time: change
            .time
            .clone()
            .filter(|(start, end)| (start.when(), end.when()) != (now.start, now.end)),
        place: fresh(&change.place, &now.place),
        notes: fresh(&change.notes, now.notes.as_deref().unwrap_or_default()),
        repeat: change.repeat.clone().filter(|repeat| match repeat {
            Some(repeat) => !same(repeat, now.repeat.as_ref()),
            None => now.repeat.is_some(),
        }),
        ..EventPatch::default()
    }
}
