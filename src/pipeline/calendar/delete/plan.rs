//! The deletions of a call: their extent, the guests they notify, and their checks.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::time;
use daysheet_core::event::{EventGuest, EventPatch};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::Note;
use jiff::tz::TimeZone;

use crate::pipeline::calendar::audience::guests_reached;
use crate::pipeline::calendar::guests::{notified, notify_missing, others};
use crate::pipeline::calendar::save::destination::may_write;
use crate::pipeline::calendar::save::follow::{cut, find_exceptions};
use crate::pipeline::calendar::save::ready::reference;
use crate::pipeline::calendar::target::{
    EventTarget, about, as_shown, each_once, named_events, span, whole_series,
};
use crate::pipeline::context::Context;
use crate::tools::calendar_delete::CalendarDelete;
use crate::tools::calendar_save::SeriesScope;

/// A deletion that passed the checks.
pub(super) struct PlannedDeletion {
    /// The id as given.
    pub(super) id: String,
    pub(super) target: EventTarget,
    /// The change that leaves the part of a series before an occurrence; `None` if all is deleted.
    pub(super) rest: Option<EventPatch>,
    /// The deleted part of a series, in words; `None` for a single event.
    pub(super) part: Option<String>,
    /// The message to the guests.
    pub(super) message: Option<String>,
    pub(super) notify: GuestNotice,
    /// True if guests can be notified.
    pub(super) asks: bool,
    /// The guests that it concerns.
    pub(super) guests: Vec<EventGuest>,
}

impl PlannedDeletion {
    /// Returns the addresses of the notified people.
    pub(super) fn recipients(&self) -> Vec<&str> {
        let guests: &[EventGuest] = if self.asks { &self.guests } else { &[] };
        notified(guests, None, &self.target.owner.account.email, self.notify)
    }

    /// Returns the deleted events, in words.
    pub(super) fn what(&self, zone: &TimeZone) -> String {
        let event = &self.target.event;
        self.part.clone().unwrap_or_else(|| span(event.start, event.end, zone))
    }

    /// Returns a note on the notification of a deletion of another organizer's event.
    pub(super) fn declined(&self) -> Option<Note> {
        let facts = &self.target.event;
        if facts.own {
            return None;
        }
        Some(if !facts.guests.iter().any(|guest| guest.me) {
            "only your copy is deleted, and nobody is notified".into()
        } else if self.target.owner.port.capabilities().public_answers {
            "only your copy is deleted, which its organizer sees as declined".into()
        } else {
            "only your copy is deleted, and nobody is notified; calendar_respond \
             response=decline, not a deletion, notifies the organizer"
                .into()
        })
    }

    /// Returns true if the provider sends guests a message with this deletion.
    fn carries_message(&self) -> bool {
        let can = self.target.owner.port.capabilities();
        can.cancel_message && self.rest.is_none()
    }
}

/// Checks all deletions of a call.
pub(super) async fn plan_deletions(
    ctx: &Context,
    request: &CalendarDelete,
) -> Result<Vec<PlannedDeletion>> {
    let names: Vec<&str> = request.ids.iter().map(String::as_str).collect();
    let mut items = Vec::new();
    let targets = named_events(ctx, &names).await?;
    for (at, (target, id)) in targets.into_iter().zip(&request.ids).enumerate() {
        let planned = plan_deletion(ctx, id, target, request).await;
        items.push(planned.map_err(|error| about(&names, at, error))?);
    }
    each_once(items.iter().map(|item| &item.target))?;
    Ok(items)
}

/// Refuses a message that no deletion, or not each one with guests, can send.
pub(super) fn check_message(request: &CalendarDelete, items: &[PlannedDeletion]) -> Result<()> {
    if request.message.is_none() {
        return Ok(());
    }
    let unsent = !items.iter().any(|item| item.asks);
    if let (true, Some(item)) = (unsent, items.iter().find(|item| !item.target.event.own)) {
        return Err(of_others(&item.target));
    }
    match items.iter().find(|item| item.asks && !item.carries_message()) {
        Some(item) => Err(uncarried(item)),
        None => Ok(()),
    }
}

/// Checks one deletion.
async fn plan_deletion(
    ctx: &Context,
    id: &str,
    target: EventTarget,
    request: &CalendarDelete,
) -> Result<PlannedDeletion> {
    target.not_cancelled()?;
    as_shown(ctx, &target).await?;
    let scope = target.scope(request.scope, "this, following or series")?;
    let zone = &ctx.config.zone;
    let seen = reference(&target.event);
    let (target, rest, part) = match scope {
        None => (target, None, None),
        Some(SeriesScope::This) => {
            let when = span(target.event.start, target.event.end, zone);
            (target, None, Some(format!("the occurrence {when}")))
        }
        Some(scope) => {
            let master = whole_series(ctx, target).await?;
            let rest = match scope {
                // From the first occurrence on, `cut` returns `None`: that is the whole series.
                SeriesScope::Following => cut(&master, seen.0, zone)?,
                _ => None,
            };
            match rest {
                None => (master, None, Some("the whole series".to_owned())),
                Some(rest) => {
                    let change =
                        EventPatch { repeat: Some(Some(rest.before)), ..EventPatch::default() };
                    let from = time::start(seen.0, zone);
                    let part = Some(format!("from {from} on"));
                    (master, Some(change), part)
                }
            }
        }
    };
    let part = match (request.dry_run, part, scope) {
        (true, Some(part), Some(SeriesScope::Series | SeriesScope::Following)) => {
            let from = rest.as_ref().map(|_| seen.0);
            Some(part + &find_exceptions(ctx, &target, from).await.deleted(zone))
        }
        (_, part, _) => part,
    };
    may_write(ctx, &target).await?;
    // Guests are notified only of the organizer's deletion.
    let asks = asks(&target) && target.event.own;
    let notify = match (asks, request.notify, &request.message) {
        (true, None, _) => return Err(notify_missing()),
        (true, Some(GuestNotice::Nobody), Some(_)) => {
            return Err(Error::argument("`message` needs notify=all")
                .next("give notify=all, or leave out `message`"));
        }
        (_, notify, _) => notify.unwrap_or(GuestNotice::Nobody),
    };
    let port = &target.owner.port;
    match &rest {
        None => port.check_deletion(&target.event, notify)?,
        Some(change) => port.check(Some(&target.event), change, notify)?,
    }
    let guests = match rest {
        None => guests_reached(&target, notify).await,
        Some(_) => target.event.guests.clone(),
    };
    let (id, message) = (id.to_owned(), request.message.clone());
    Ok(PlannedDeletion { id, target, rest, part, message, notify, asks, guests })
}

/// Returns true if an event has guests other than the account's owner.
fn asks(target: &EventTarget) -> bool {
    target.event.omitted || !others(&target.event.guests, &target.owner.account.email).is_empty()
}

/// Returns the error that the provider sends no message with a deletion.
fn uncarried(item: &PlannedDeletion) -> Error {
    let provider = item.target.owner.port.capabilities().name;
    let what = match item.rest {
        None => "a deletion",
        Some(_) => "the deletion of later occurrences",
    };
    Error::argument(format!("{provider} sends no message with {what}"))
        .next("leave out `message`, and write to the guests with mail_draft")
}

/// Returns the error that the deletion of another organizer's event sends no message.
fn of_others(target: &EventTarget) -> Error {
    Error::argument(format!(
        "{} has another organizer: deleting it sends no message",
        target.handle
    ))
    .next("use calendar_respond with response=decline and a comment")
}
