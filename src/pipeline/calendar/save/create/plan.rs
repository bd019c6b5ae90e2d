//! The new events of a call: read from its arguments, and checked.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::provider::calendar::GuestNotice;
use jiff::Timestamp;

use crate::pipeline::calendar::guests::{notify_missing, others};
use crate::pipeline::calendar::save::clash::{self, ClashCandidate, ItemClashes};
use crate::pipeline::calendar::save::destination::SaveCall;
use crate::pipeline::calendar::save::make::{self, PlannedChange};
use crate::pipeline::context::Context;
use crate::pipeline::titles::short;
use crate::tools::calendar_save::CalendarSave;

/// A new event, checked.
pub(super) struct NewEvent<'a> {
    pub(super) to: SaveCall<'a>,
    pub(super) name: String,
    pub(super) made: PlannedChange,
    /// [`GuestNotice::Nobody`] if it has no guests.
    pub(super) notify: GuestNotice,
    pub(super) met: ItemClashes,
    /// The event as its service has it, once it is written.
    pub(super) written: Option<Event>,
}

impl NewEvent<'_> {
    /// Returns what decides on its conflicts.
    pub(super) fn candidate(&self, now: Timestamp) -> ClashCandidate {
        let change = &self.made.change;
        let repeat = change.repeat.as_ref().and_then(Option::as_ref);
        let time = change.time.as_ref();
        ClashCandidate {
            title: change.title.clone().unwrap_or_default(),
            uid: change.uid.clone(),
            claim: clash::claim(change, None, self.to.to.is_main()),
            times: time.map_or_else(Vec::new, |(start, end)| clash::times(start, end, repeat, now)),
            itself: Vec::new(),
        }
    }
}

/// Reads the new events of a call, each with its name in outcomes.
pub(super) fn new_events(
    ctx: &Context,
    request: &CalendarSave,
) -> Result<Vec<(String, PlannedChange)>> {
    let several = request.events.len() > 1;
    let here = ctx.time_context();
    let mut items = Vec::new();
    for (words, number) in request.events.iter().zip(1..) {
        let title = short(words.title.as_deref().unwrap_or_default());
        let name = if several { format!("{number} {title}") } else { title };
        let made = make::new(words, &here).map_err(|error| in_context(several, &name, error))?;
        items.push((name, made));
    }
    if request.notify.is_none() && items.iter().any(|(_, made)| made.change.guests.is_some()) {
        return Err(notify_missing());
    }
    Ok(items)
}

/// Refuses events that their service does not accept, and removes the organizer from their guests.
pub(super) fn checked_events(
    to: SaveCall<'_>,
    made: Vec<(String, PlannedChange)>,
) -> Result<Vec<NewEvent<'_>>> {
    let several = made.len() > 1;
    let (port, own) = (&to.to.owner.port, &to.to.owner.account.email);
    let mut items = Vec::new();
    for (name, mut made) in made {
        let change = &mut made.change;
        // The organizer does not invite themselves.
        if let Some(guests) = &mut change.guests {
            guests.retain(|one| !one.address.is(own));
        }
        change.guests = change.guests.take().filter(|list| !list.is_empty());
        let guests = change.guests.as_deref().unwrap_or_default();
        let notify = match to.request.notify {
            Some(notify) if !others(guests, own).is_empty() => notify,
            _ => GuestNotice::Nobody,
        };
        make::fits(change, port.capabilities())
            .and_then(|()| port.check(None, change, notify))
            .map_err(|error| in_context(several, &name, error))?;
        items.push(NewEvent { to, name, made, notify, met: ItemClashes::default(), written: None });
    }
    Ok(items)
}

/// Prefixes an error with the name of its item if the call has several, none of which is written.
fn in_context(several: bool, name: &str, error: Error) -> Error {
    if several { error.context(format!("nothing was written: item {name}")) } else { error }
}
