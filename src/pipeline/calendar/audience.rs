//! The audience of a write to an event, read from the event as the service has it.
//!
//! Every guest sees the event change in their own calendar, whether they are notified or not, so
//! all guests count. So does the owner of a calendar that is shared with the user.

use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::Result;
use daysheet_core::event::{Event, EventGuest, EventPatch};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{cell, clip};

use crate::pipeline::calendar::guests::others;
use crate::pipeline::calendar::save::destination::account_calendars;
use crate::pipeline::calendar::search::calendars::KnownCalendar;
use crate::pipeline::calendar::target::EventTarget;
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::plan::WriteCall;

/// The longest part of a question that the caller wrote, in columns.
const SHOWN: usize = 200;

/// A write to an event, as far as it concerns others.
pub(super) enum EventWrite<'a> {
    /// A change.
    Change(&'a EventPatch),
    /// A deletion; true if the people concerned are notified.
    Delete(bool),
}

impl WriteAudience {
    /// Adds the guests, without the account's owner and rooms.
    pub(crate) fn guests(&mut self, list: &[EventGuest], own: &EmailAddress) {
        let addresses = others(list, own).into_iter().map(|one| one.address.as_str());
        self.add(addresses);
    }

    /// Adds the owner of the calendar of a new event, which is the main one if `None`. Returns
    /// `None` if the event concerns only the user.
    pub(super) fn of_new_event(
        mut self,
        calendar: Option<&KnownCalendar>,
        own: &EmailAddress,
    ) -> Option<Self> {
        if let Some(calendar) = calendar {
            self.calendar(calendar, own);
        }
        (self != Self::default()).then_some(self)
    }

    /// Adds the guests of an imported document, except the account's owner. Rooms are
    /// included, because the document could call anyone a room.
    pub(super) fn add_guests(&mut self, list: &[EventGuest], own: &EmailAddress) {
        let others = list.iter().filter(|one| !one.address.is(own));
        self.add(others.map(|one| one.address.as_str()));
    }

    /// Adds everyone on an event except its organizer.
    pub(super) fn everybody_on(&mut self, facts: &Event, own: &EmailAddress) {
        self.guests(&facts.guests, own);
        if facts.omitted {
            self.join(&Self::unlisted("people the service does not name"));
        }
    }

    /// Adds the organizer of an event, unless that is the account's owner.
    pub(crate) fn organizer(&mut self, facts: &Event) {
        match facts.other_organizer() {
            _ if facts.own => {}
            Some(organizer) => self.add([organizer.as_str()]),
            None => self.join(&Self::unlisted("the organizer of the event")),
        }
    }

    /// Adds the owner of a calendar, if that is someone else.
    pub(crate) fn calendar(&mut self, place: &KnownCalendar, own: &EmailAddress) {
        match place.of_others(own) {
            None => {}
            Some("") => self.join(&Self::unlisted(format!(
                "those sharing the calendar {}",
                short(&place.name)
            ))),
            Some(owner) => self.add([owner]),
        }
    }
}

/// Returns a call that writes events; `op` is the operation in outcomes and in a question.
pub(super) fn event_call<'a>(
    (op, verb): (&'static str, &'static str),
    caller: &'a dyn ClientPrompts,
    dry_run: bool,
) -> WriteCall<'a> {
    WriteCall {
        op,
        verb,
        object: "an event with other people",
        message: String::new(),
        caller,
        dry_run,
        reports_failures: false,
    }
}

/// Formats an argument of the call as a line of a question.
pub(crate) fn line(name: &str, value: Option<&str>) -> String {
    match value.map(|value| clip(cell(value), SHOWN).0) {
        Some(value) if !value.is_empty() => format!("\n{name}: {value}"),
        _ => String::new(),
    }
}

/// Returns the audience of a change or deletion of an event; `None` if it concerns only the user.
/// An audience may be empty: a write to another organizer's event needs the access level even if no
/// one is notified.
///
/// # Errors
/// The errors of reading the calendars, and the occurrences of a series.
pub(super) async fn find_audience(
    ctx: &Context,
    target: &EventTarget,
    planned: &EventWrite<'_>,
) -> Result<Option<WriteAudience>> {
    let facts = &target.event;
    let own = &target.owner.account.email;
    let mut audience = WriteAudience::default();
    let mut concerned = !facts.own;
    // The organizer's deletion removes the event for everyone; the deletion of a copy is noticed
    // only if it notifies.
    let learned = match planned {
        EventWrite::Change(change) => is_seen(change),
        EventWrite::Delete(notified) => facts.own || *notified,
    };
    // Another's event is a copy, unless its guests change it for all.
    let spreads = facts.own || (facts.joint && matches!(planned, EventWrite::Change(_)));
    let mut on_it = WriteAudience::default();
    on_it.everybody_on(facts, own);
    // Single occurrences may have guests that the series lacks.
    if facts.own && facts.repeat.is_some() {
        on_it.guests(&guests_of_exceptions(target).await?, own);
    }
    if let EventWrite::Change(EventPatch { guests: Some(list), .. }) = planned {
        on_it.guests(list, own);
    }
    concerned |= on_it != WriteAudience::default();
    if learned && spreads {
        audience.join(&on_it);
    }
    if learned && (!facts.own && (facts.joint || matches!(planned, EventWrite::Delete(_)))) {
        audience.organizer(facts);
    }
    if let Some(calendar) = &facts.calendar {
        let places = account_calendars(ctx, &target.owner, false).await?;
        let listed = places.into_iter().find(|place| place.id == *calendar);
        // A calendar that the user has not listed is named by its address.
        let place = listed.or_else(|| {
            let port = &*target.owner.port;
            calendar.as_str().contains('@').then(|| KnownCalendar::unlisted(port, calendar))
        });
        if let Some(place) = place {
            concerned |= place.of_others(own).is_some();
            audience.calendar(&place, own);
        }
    }
    Ok(concerned.then_some(audience))
}

/// Returns the guests of an event. If a write notifies them, those whom only single occurrences of
/// a series have are included, unless the service does not list them.
pub(super) async fn guests_reached(target: &EventTarget, notify: GuestNotice) -> Vec<EventGuest> {
    let facts = &target.event;
    let mut guests = facts.guests.clone();
    if facts.own && facts.repeat.is_some() && notify != GuestNotice::Nobody {
        guests.extend(guests_of_exceptions(target).await.unwrap_or_default());
    }
    guests
}

/// Returns the additional guests of single occurrences of a series.
async fn guests_of_exceptions(series: &EventTarget) -> Result<Vec<EventGuest>> {
    let Some(uid) = &series.event.uid else {
        return Ok(Vec::new());
    };
    let found = series.owner.port.by_uid(uid).await?;
    Ok(found
        .into_iter()
        .filter(|one| one.series.as_ref() == Some(&series.event.id) && !one.cancelled)
        .flat_map(|one| one.guests)
        .collect())
}

/// Returns true for a change that others can see.
fn is_seen(change: &EventPatch) -> bool {
    // These fields are the user's own; others see a change of any other field.
    let own = EventPatch {
        show: change.show,
        reminder: change.reminder,
        category: change.category.clone(),
        ..EventPatch::default()
    };
    *change != own
}
