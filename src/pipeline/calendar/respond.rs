//! Invitations: answering and forwarding. `answers.rs` answers for an event in the calendar,
//! `invited.rs` for one that only a message has; `forward.rs` forwards.

mod answers;
mod forward;
mod invited;

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::InvitationAnswer;
use daysheet_core::ids::{AccountId, MessageId};

use self::answers::{PlannedAnswer, RequestedAnswer};
use self::forward::PlannedForward;
use self::invited::{InvitedEvent, find_invited};
use super::audience::event_call;
use super::save::calendar_save;
use super::save::source::InvitationMessage;
use super::save::span::PreviousTime;
use super::target::{EventTarget, as_shown, named_event, whole_series};
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::write::confirm::require_access;
use crate::pipeline::write::plan::{WriteCall, carry_out};
use crate::pipeline::write::report::WriteReport;
use crate::store::HandleKind;
use crate::tools::calendar_respond::CalendarRespond;
use crate::tools::calendar_save::{CalendarSave, SeriesScope};

/// Answers an invitation, or forwards it.
pub(crate) async fn calendar_respond(
    ctx: &Context,
    request: CalendarRespond,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    require_access(ctx, AccessLevel::Send, "answering or forwarding an invitation")?;
    let mut report = WriteReport::default();
    let request = &request;
    let message = resolve_handle(ctx, HandleKind::Message, &request.id).await?;
    let target = match message {
        Some((account, id)) => {
            let account = ctx.accounts.by_id(&account).await?;
            let id = MessageId::from(id);
            let message = InvitationMessage { account: &account, id: &id, handle: &request.id };
            match find_invited(ctx, request, message, &mut report.notes).await? {
                InvitedEvent::There(target) => *target,
                InvitedEvent::New(meeting) => {
                    let call = answer_call(meeting.response_word(), caller);
                    return carry_out(ctx, &call, vec![*meeting], report).await;
                }
                InvitedEvent::Published => {
                    return add_published(ctx, request, &account.id, caller).await;
                }
            }
        }
        None => {
            let target = named_event(ctx, &request.id).await?;
            target.not_cancelled()?;
            // For a message, `find_invited` compares the times instead.
            as_shown(ctx, &target).await?;
            target
        }
    };
    match request.response.answer() {
        None => {
            let forward = PlannedForward::new(target, request, &mut report.notes)?;
            let call = WriteCall {
                object: "an invitation",
                ..event_call(("forward", "Forward"), caller, false)
            };
            carry_out(ctx, &call, vec![forward], report).await
        }
        Some(answer) => {
            let requested = RequestedAnswer { answer, request };
            let answer = plan_answer(ctx, target, requested, &mut report).await?;
            carry_out(ctx, &answer_call(requested.response_word(), caller), vec![answer], report)
                .await
        }
    }
}

/// Returns the call that answers an invitation.
fn answer_call<'a>(op: &'static str, caller: &'a dyn ClientPrompts) -> WriteCall<'a> {
    WriteCall { object: "an invitation", ..event_call((op, "Answer"), caller, false) }
}

/// Adds the events of a message that asks for no answer.
async fn add_published(
    ctx: &Context,
    request: &CalendarRespond,
    account: &AccountId,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let id = &request.id;
    if request.response.answer() != Some(InvitationAnswer::Accepted) {
        return Err(Error::argument(format!("{id} publishes events and asks for no answer"))
            .next(format!("add them with calendar_save ics={id}, or do nothing")));
    }
    let account = Some(account.to_string());
    let import = CalendarSave { account, ics: Some(id.clone()), ..CalendarSave::default() };
    let mut response = calendar_save(ctx, import, caller).await?;
    response.notes.push("its organizer asked for no answer: nobody was notified".into());
    Ok(response)
}

/// Checks an answer to the invitation to an event in the calendar.
async fn plan_answer<'a>(
    ctx: &Context,
    target: EventTarget,
    requested: RequestedAnswer<'a>,
    report: &mut WriteReport,
) -> Result<PlannedAnswer<'a>> {
    if target.event.own {
        return Err(Error::argument(format!(
            "{} is your own event: there is nobody to answer",
            target.handle
        ))
        .next("change it with calendar_save, or cancel it with calendar_delete"));
    }
    // The time of the occurrence, because `in_scope` may replace it by its series.
    let before = PreviousTime {
        start: target.event.start,
        end: target.event.end,
        zone: target.zone(&ctx.config.zone),
    };
    let (propose, echo) = requested.proposed_time(ctx, &before)?;
    report.notes.extend(echo);
    let target = in_scope(ctx, target, requested.request).await?;
    Ok(PlannedAnswer { reply: requested.reply(propose), target, requested })
}

/// Returns the event that an answer is about: the occurrence, or the series that the scope asks
/// for.
async fn in_scope(
    ctx: &Context,
    target: EventTarget,
    request: &CalendarRespond,
) -> Result<EventTarget> {
    // A message about one occurrence is answered for that occurrence.
    let by_message =
        HandleKind::parse(&request.id).is_some_and(|(kind, _)| kind == HandleKind::Message);
    match (&target.event.series, request.scope) {
        (Some(_), None) if by_message => Ok(target),
        (Some(_), None) => {
            Err(Error::argument(format!("{} is an occurrence of a series", target.handle))
                .next("give scope=this or series"))
        }
        (Some(_), Some(SeriesScope::Series)) => whole_series(ctx, target).await,
        (None, Some(SeriesScope::This)) if target.event.repeat.is_some() => Err(Error::argument(
            format!("{} is the whole series, not an occurrence", target.handle),
        )
        .next("give the id of an occurrence, or scope=series")),
        _ => Ok(target),
    }
}
