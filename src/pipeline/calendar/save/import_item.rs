//! An event of an imported document: the change that creates it, and its differences from an
//! existing event.

use daysheet_core::event::recurrence::EventRecurrence;
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::text::html;
use daysheet_core::text::search_text::words;

use super::clash::ItemClashes;
use crate::pipeline::calendar::target::EventTarget;

/// An event of a document, with the exceptions of its series.
pub(super) struct ImportItem {
    pub(super) name: String,
    pub(super) entry: Event,
    pub(super) exceptions: Vec<Event>,
    pub(super) change: EventPatch,
    /// The event, if it already exists.
    pub(super) there: Option<EventTarget>,
    /// True if it was found only by its time and title: it stays unchanged.
    pub(super) twin: bool,
    pub(super) met: ItemClashes,
}

/// The write that an item needs.
pub(super) enum ImportAction<'a> {
    /// The event does not exist yet.
    Create,
    /// The existing event stays unchanged.
    Keep(&'a EventTarget),
    /// The existing event gets these fields of the document.
    Update(&'a EventTarget, Box<EventPatch>),
}

impl ImportItem {
    /// Returns the write that it needs. Events of other organizers, and events found only by time
    /// and title, are not changed.
    pub(super) fn action(&self) -> ImportAction<'_> {
        let Some(there) = &self.there else {
            return ImportAction::Create;
        };
        if !there.event.own || self.twin {
            return ImportAction::Keep(there);
        }
        let change = differing(&self.change, &there.event);
        if change == EventPatch::default() {
            ImportAction::Keep(there)
        } else {
            ImportAction::Update(there, Box::new(change))
        }
    }
}

/// The outcome of an item, with its event.
pub(super) enum ImportOutcome {
    Created(EventTarget),
    Changed(EventTarget),
    Same(EventTarget),
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
