//! Invitations: answering and forwarding.

pub(crate) mod answers;
mod invited;

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::{Event, EventGuest, EventPatch, InvitationAnswer};
use daysheet_core::ids::{AccountId, EmailAddress, MessageId};
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::provider::calendar::InvitationReply;
use daysheet_core::text::{Note, note, quoted};

use self::answers::{RequestedAnswer, audit_entry};
use self::invited::{InvitedEvent, find_or_add};
use super::guests::{GuestField, guest, guest_line};
use super::save::calendar_save;
use super::save::source::InvitationMessage;
use super::save::span::PreviousTime;
use super::target::{
    EventTarget, as_shown, event_line, named_event, title, whole_series, write_error,
};
use crate::pipeline::calendar::audience::{act, line};
use crate::pipeline::calendar::write::{LoggedWrite, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::write::confirm::{WriteAudience, confirm, require_access};
use crate::pipeline::write::log::run_logged;
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::write::sequence::WriteSequence;
use crate::store::HandleKind;
use crate::tools::calendar_respond::CalendarRespond;
use crate::tools::calendar_save::{CalendarSave, SeriesScope};

pub(crate) async fn calendar_respond(
    ctx: &Context,
    request: CalendarRespond,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    require_access(ctx, AccessLevel::Send, "answering or forwarding an invitation")?;
    let message = resolve_handle(ctx, HandleKind::Message, &request.id).await?;
    let mut notes = Vec::new();
    let target = match message {
        Some((account, id)) => {
            let account = ctx.accounts.by_id(&account).await?;
            let id = MessageId::from(id);
            let message = InvitationMessage { account: &account, id: &id, handle: &request.id };
            let found = find_or_add(ctx, &request, message, caller, &mut notes).await?;
            match found {
                InvitedEvent::There(target) => *target,
                InvitedEvent::Report(mut report) => {
                    report.notes.append(&mut notes);
                    return write_report(ctx, *report).await;
                }
                InvitedEvent::Published => {
                    return add_published(ctx, &request, &account.id, caller).await;
                }
            }
        }
        None => {
            let target = named_event(ctx, &request.id).await?;
            target.not_cancelled()?;
            // For a message, `find_or_add` compares the times instead.
            as_shown(ctx, &target).await?;
            target
        }
    };
    match request.response.answer() {
        None => forward_event(ctx, target, &request, caller).await,
        Some(answer) => {
            let requested = RequestedAnswer { answer, request: &request };
            answer_invitation(ctx, target, requested, notes, caller).await
        }
    }
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

async fn forward_event(
    ctx: &Context,
    target: EventTarget,
    request: &CalendarRespond,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let mut report = WriteReport::default();
    let mut to: Vec<EventGuest> = Vec::new();
    for one in &request.to {
        let one = guest(GuestField::To, one, &mut report.notes)?;
        let same = |known: &EventGuest| known.address.is(&one.address);
        if !to.iter().any(same) {
            to.push(one);
        }
    }
    if request.propose.is_some() {
        return Err(
            Error::argument("`propose` cannot be forwarded").next("leave it out, or answer first")
        );
    }
    let addresses: Vec<String> = to.iter().map(|one| one.address.to_string()).collect();
    let comment = request.comment.as_deref();
    let name = format!("{} {}", target.handle, title(&target.event));
    let port = &target.owner.port;
    let can = port.capabilities();
    // The service invites the recipients itself, without a message of the user.
    if can.forward_adds_guests && comment.is_some() {
        let what = format!("{} cannot send a comment with a forwarded invitation", can.name);
        return Err(
            Error::argument(what).next("leave out `comment`, and write to them with mail_draft")
        );
    }
    let own = &target.owner.account.email;
    let mut audience = WriteAudience::default();
    audience.add(addresses.iter().map(String::as_str));
    // The organizer is notified of the forwarding.
    audience.organizer(&target.event);
    if can.forward_adds_guests {
        // The service adds the recipients as guests, and notifies all guests.
        audience.everybody_on(&target.event, own);
    }
    let question = format!(
        "Forward an invitation?\n{}\nTo: {}{}",
        event_line(&target.event, &ctx.config.zone),
        guest_line(&to),
        line("Comment", comment)
    );
    confirm(ctx, &act(question), &audience, caller, &mut report.notes).await?;
    let logged = audit_entry(&target.owner, request, "forward")
        .with_recipients(addresses.iter().map(String::as_str));
    let write = port.forward(&target.event, &addresses, comment);
    match run_logged(ctx, logged, &mut report.notes, write, |()| None).await {
        Ok(()) => {
            let detail = format!("to {}", guest_line(&to));
            report.outcomes.push(ItemOutcome::new(name, "forward", "done", detail));
        }
        Err(error) => {
            let error = write_error(ctx, &target, error).await;
            WriteSequence::new("forward", 1).fail(&name, error, &mut report)?;
        }
    }
    write_report(ctx, report).await
}

/// Answers the invitation to an event in the calendar.
async fn answer_invitation(
    ctx: &Context,
    target: EventTarget,
    requested: RequestedAnswer<'_>,
    mut notes: Vec<Note>,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if target.event.own {
        return Err(Error::argument(format!(
            "{} is your own event: there is nobody to answer",
            target.handle
        ))
        .next("change it with calendar_save, or cancel it with calendar_delete"));
    }
    let request = requested.request;
    // The time of the occurrence, because `in_scope` may replace it by its series.
    let before = PreviousTime {
        start: target.event.start,
        end: target.event.end,
        zone: target.zone(&ctx.config.zone),
    };
    let (propose, echo) = requested.proposed_time(ctx, &before)?;
    let target = in_scope(ctx, target, request).await?;
    let reply = requested.reply(propose);
    let name = format!("{} {}", target.handle, title(&target.event));
    notes.extend(echo);
    let mut report = WriteReport { notes, ..WriteReport::default() };
    let adds = reply.comment.is_some() || reply.propose.is_some();
    // The same answer again would only disturb the organizer.
    if target.event.answer == Some(requested.answer) && !adds {
        let detail = "already as requested: give a comment to notify the organizer";
        report.notes.extend(earlier_comment(&target, false));
        report.outcomes.push(ItemOutcome::new(
            name,
            requested.response_word(),
            "unchanged",
            detail,
        ));
        return write_report(ctx, report).await;
    }
    let own = &target.owner.account.email;
    let can = target.owner.port.capabilities();
    let audience = reply_audience(&target.event, can, request, own);
    let act = act(requested.question(&event_line(&target.event, &ctx.config.zone)));
    confirm(ctx, &act, &audience, caller, &mut report.notes).await?;
    match write_reply(ctx, &target, request, &reply, &mut report).await {
        Ok(found) => {
            report.notes.extend(earlier_comment(&target, adds));
            requested.add_outcome(&mut report, name, found, &target.owner);
        }
        Err(error) => {
            let error = write_error(ctx, &target, error).await;
            WriteSequence::new(requested.response_word(), 1).fail(&name, error, &mut report)?;
        }
    }
    write_report(ctx, report).await
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

/// Sends an answer, which can be undone if it is part of the event and notifies no one.
async fn write_reply(
    ctx: &Context,
    target: &EventTarget,
    request: &CalendarRespond,
    reply: &InvitationReply,
    report: &mut WriteReport,
) -> Result<Option<Event>> {
    let organizer = target.event.other_organizer().into_iter().map(EmailAddress::as_str);
    let entry = audit_entry(&target.owner, request, "answer")
        .with_recipients(organizer.filter(|_| request.notifies()));
    let port = &target.owner.port;
    let write = port.respond(&target.event, reply);
    if port.capabilities().public_answers && !request.notifies() {
        // An answer changes no field of the event.
        let change = EventPatch::default();
        let logged = LoggedWrite { target, change: Some(&change), entry, can_undo: true };
        write_event(ctx, logged, report, write).await
    } else {
        run_logged(ctx, entry, &mut report.notes, write, |_| None).await
    }
}

/// Returns a note on the comment of the reader's earlier answer.
fn earlier_comment(target: &EventTarget, is_replaced: bool) -> Option<Note> {
    let comment = target.event.guests.iter().find(|one| one.me)?.comment.as_ref()?;
    let comment = quoted(comment);
    Some(if is_replaced {
        note!("your earlier comment was replaced: {}", comment)
    } else {
        // The service keeps the old comment, which may not suit the new answer.
        note!("your earlier comment stays: {}; another `comment` replaces it", comment)
    })
}

/// Returns the audience of an answer.
pub(super) fn reply_audience(
    facts: &Event,
    can: &CalendarCapabilities,
    request: &CalendarRespond,
    own: &EmailAddress,
) -> WriteAudience {
    let mut audience = WriteAudience::default();
    // An answer that is part of the event reaches its organizer without a notification, too.
    if request.notifies() || can.public_answers {
        audience.organizer(facts);
    }
    // All guests can read the comment.
    if can.public_answers && (request.comment.is_some() || request.propose.is_some()) {
        audience.everybody_on(facts, own);
    }
    audience
}
