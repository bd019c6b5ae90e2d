//! Actions on meetings: answering, cancelling and forwarding them.

use daysheet_core::event::time::ZonedTime;
use daysheet_core::event::{EventGuest, InvitationAnswer, ShowAs};
use serde_json::Value;

use super::answer::EventRef;
use super::context::CalendarContext;
use super::draft::{parse_time, person};
use super::event::{called_off, is_organizer};
use super::write::{open, own_place, remove};
use crate::graph::error::{
    GraphError, invalid_property, invalid_recipients, invalid_request, not_found,
};
use crate::graph::response::{GraphResponse, accepted};
use crate::graph::types::read::read;
use crate::graph::types::{CANCEL, FORWARD, ObjectType};
use crate::store::calendars;

/// Cancels a meeting.
pub(crate) fn cancel(
    context: &mut CalendarContext<'_>,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    read(context.base.request, &CANCEL, false)?;
    let found = open(context, id)?;
    // A guest can only delete or decline: Graph refuses to cancel another person's meeting.
    if !organizes(context, found)? {
        return Err(invalid_request("You need to be an organizer to cancel a meeting."));
    }
    remove(context, found)?;
    Ok(accepted())
}

fn organizes(context: &CalendarContext<'_>, found: EventRef) -> Result<bool, GraphError> {
    let shown = found.look_up(context)?;
    Ok(is_organizer(&shown.it.event, context.owner()))
}

/// Answers an invitation, with a body of a type.
pub(crate) fn respond(
    context: &mut CalendarContext<'_>,
    id: &str,
    answer: InvitationAnswer,
    object: &'static ObjectType,
) -> Result<GraphResponse, GraphError> {
    let body = read(context.base.request, object, false)?;
    let found = open(context, id)?;
    if organizes(context, found)? {
        return Err(invalid_request(
            "You can't respond to this meeting because you're the meeting organizer.",
        ));
    }
    let send = body.get("sendResponse").and_then(Value::as_bool);
    let send = send.unwrap_or(true);
    let allows = |name: &str| -> Result<bool, GraphError> {
        let shown = found.look_up(context)?;
        let value = shown.it.event.more.get(name).and_then(Value::as_bool);
        Ok(value.unwrap_or(true))
    };
    // The organizer can turn off responses. An answer without a message is still accepted.
    if send && !allows("responseRequested")? {
        return Err(invalid_request("The meeting organizer hasn't requested a response."));
    }
    let proposed = body.get("proposedNewTime").filter(|it| it.is_object());
    let proposed = proposed.map(slot).transpose()?;
    // A proposal reaches the organizer only with a response.
    if proposed.is_some() && (!send || !allows("allowNewTimeProposals")?) {
        return Err(invalid_request("A new time can't be proposed for this meeting."));
    }
    let comment = body.get("comment").and_then(Value::as_str);
    let comment = comment.filter(|it| !it.is_empty()).map(str::to_owned);
    let reply = calendars::GuestAnswer {
        address: context.owner().to_owned(),
        at: context.agenda.now(),
        comment,
        proposed,
    };
    // Any answer to a cancelled meeting removes it from the calendar.
    if called_off(&found.look_up(context)?.it.event) {
        remove(context, found)?;
        return Ok(accepted());
    }
    let place = own_place(context, found)?;
    context.agenda.answer(place, Some(answer), Some(reply), send);
    match answer {
        // An invitation is tentative until it is accepted.
        InvitationAnswer::Accepted => context.agenda.change(place, false, |event| {
            if event.show == ShowAs::Tentative {
                event.show = ShowAs::Busy;
            }
        }),
        InvitationAnswer::Tentative => {
            context.agenda.change(place, false, |event| event.show = ShowAs::Tentative);
        }
        // Outlook removes a declined meeting from the calendar.
        InvitationAnswer::Declined => context.agenda.remove(place, false),
    }
    Ok(accepted())
}

/// Returns a start and an end.
fn slot(slot: &Value) -> Result<(ZonedTime, ZonedTime), GraphError> {
    let time = |name: &str| {
        let time = slot.get(name).filter(|time| time.is_object());
        let time = time.ok_or_else(invalid_property)?;
        parse_time(time).map(|(local, zone)| ZonedTime::At(local, zone))
    };
    let (start, end) = (time("start")?, time("end")?);
    let at = |moment: &ZonedTime| moment.when().instant(&jiff::tz::TimeZone::UTC);
    if at(&start) < at(&end) { Ok((start, end)) } else { Err(invalid_property()) }
}

/// Forwards a meeting. The recipients become guests.
pub(crate) fn forward(
    context: &mut CalendarContext<'_>,
    id: &str,
) -> Result<GraphResponse, GraphError> {
    let body = read(context.base.request, &FORWARD, true)?;
    let found = open(context, id)?;
    let recipients = body.get("toRecipients").and_then(Value::as_array);
    let recipients = recipients.filter(|all| !all.is_empty());
    let recipients = recipients.ok_or_else(invalid_recipients)?;
    let people: Vec<(Option<String>, String)> =
        recipients.iter().map(person).collect::<Result<_, _>>()?;
    // An organizer outside of this sandbox cannot be reached: the forward is accepted, as mail to
    // unknown addresses is.
    let Some(place) = organizers_copy(context, found)? else {
        return Ok(accepted());
    };
    context.agenda.change(place, true, |event| {
        for (name, address) in people {
            if event.guest(&address).is_none() && !event.organizer.address.is(&address) {
                event.guests.push(EventGuest {
                    name,
                    address: address.into(),
                    ..EventGuest::default()
                });
            }
        }
    });
    Ok(accepted())
}

/// Returns the organizer's copy of a meeting, if it is in this sandbox.
fn organizers_copy(
    context: &mut CalendarContext<'_>,
    found: EventRef,
) -> Result<Option<usize>, GraphError> {
    if organizes(context, found)? {
        return own_place(context, found).map(Some);
    }
    let event = context.agenda.event(found.place).ok_or_else(not_found)?;
    let (uid, organizer) = (event.uid.clone(), event.organizer.address.clone());
    let copy = context.agenda.with_uid(&uid).find(|(_, it)| {
        let calendar = context.agenda.calendar(it.calendar);
        let owned = calendar.is_some_and(|calendar| organizer.is(&calendar.owner));
        owned && !it.deleted && it.instead_of.is_none()
    });
    let Some(place) = copy.map(|(place, _)| place) else {
        return Ok(None);
    };
    Ok(match found.original {
        Some(original) => context.agenda.exception(place, original),
        None => Some(place),
    })
}
