//! An answer to an invitation: its proposed time, its question, its outcome, and how it is called.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, InvitationAnswer};
use daysheet_core::provider::calendar::InvitationReply;
use daysheet_core::text::{Note, note, ours};
use jiff::Timestamp;

use crate::pipeline::calendar::audience::line;
use crate::pipeline::calendar::save::span::{PreviousTime, read_span};
use crate::pipeline::calendar::target::{CalendarOwner, span};
use crate::pipeline::context::Context;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::report::{ItemOutcome, WriteReport};
use crate::tools::calendar_respond::CalendarRespond;
use crate::tools::calendar_save::EventWords;

/// Another time, from and to.
pub(super) type OtherTime = (Timestamp, Timestamp);

/// An answer to an invitation, as requested.
#[derive(Clone, Copy)]
pub(super) struct RequestedAnswer<'a> {
    /// The answer.
    pub(super) answer: InvitationAnswer,
    /// The call that asks for it.
    pub(super) request: &'a CalendarRespond,
}

impl RequestedAnswer<'_> {
    /// Reads the proposed time, and reports how it was understood.
    pub(super) fn proposed_time(
        &self,
        ctx: &Context,
        before: &PreviousTime,
    ) -> Result<(Option<OtherTime>, Vec<Note>)> {
        let request = self.request;
        let carried = request.comment.is_some() || request.propose.is_some();
        if carried && !request.notifies() {
            return Err(Error::argument("a comment or proposal reaches nobody with notify=none")
                .next("leave out `notify`: an answer reaches only the organizer"));
        }
        let Some(proposed) = &request.propose else {
            return Ok((None, Vec::new()));
        };
        if self.answer == InvitationAnswer::Accepted {
            return Err(Error::argument(
                "`propose` asks for another time, but accept agrees to this one",
            )
            .next("use response=tentative or decline"));
        }
        match read_proposed(ctx, before, proposed)? {
            Some((EventTime::At(from), _)) if from < ctx.now() => {
                Err(Error::argument("`propose` is in the past").next("give a future time"))
            }
            Some((EventTime::At(from), EventTime::At(to))) => {
                let when = span(EventTime::At(from), EventTime::At(to), &ctx.config.zone);
                Ok((Some((from, to)), vec![note!("proposed: {}", ours(when))]))
            }
            _ => Err(Error::argument("`propose` is a day without a time")
                .next("add the time, such as 2026-02-03 18h05")),
        }
    }

    /// Returns the question about it; `about` describes the event.
    pub(super) fn question(&self, about: &str) -> String {
        format!(
            "Answer an invitation?\n{about}\nAnswer: {}{}{}",
            self.response_word(),
            line("Proposed", self.request.propose.as_deref()),
            line("Comment", self.request.comment.as_deref())
        )
    }

    /// Builds the answer for the port.
    pub(super) fn reply(&self, propose: Option<OtherTime>) -> InvitationReply {
        InvitationReply {
            answer: self.answer,
            comment: self.request.comment.clone(),
            propose,
            notify: self.request.notifies(),
        }
    }

    /// Adds the outcome for the answered event `name`, and a note on the organizer's notification.
    /// `event` is `None` if the event was removed from the calendar.
    pub(super) fn add_outcome(
        &self,
        report: &mut WriteReport,
        name: String,
        event: Option<Event>,
        owner: &CalendarOwner,
    ) {
        let notifies = self.request.notifies();
        let sent = match (notifies, &self.request.comment) {
            (true, Some(_)) => "the organizer was sent the answer and the comment",
            (true, None) => "the organizer was sent the answer",
            (false, _) => "the organizer was not notified",
        };
        // An event that was removed from the calendar cannot be answered again.
        let again = notifies && event.is_some();
        let again = if again { "; to change it, answer again" } else { "" };
        report.notes.push(note!("{}{}", sent, again));
        match event {
            Some(event) => report.events.push((owner.clone(), event)),
            None => report.outcomes.push(ItemOutcome::new(
                name,
                self.response_word(),
                "done",
                "it is no longer in the calendar, and only a new invitation brings it back",
            )),
        }
    }

    /// Returns the answer as in the tool's argument.
    pub(super) fn response_word(&self) -> &'static str {
        match self.answer {
            InvitationAnswer::Accepted => "accept",
            InvitationAnswer::Declined => "decline",
            InvitationAnswer::Tentative => "tentative",
        }
    }
}

/// Reads a proposed start, or a start and an end with a slash between them.
fn read_proposed(
    ctx: &Context,
    before: &PreviousTime,
    proposed: &str,
) -> Result<Option<(EventTime, EventTime)>> {
    let (start, end) = match proposed.split_once('/') {
        Some((start, end)) => (start, Some(end.trim().to_owned())),
        None => (proposed, None),
    };
    let words = EventWords { start: Some(start.trim().to_owned()), end, ..EventWords::default() };
    let other = read_span(&words, &ctx.time_context(), Some(before)).map_err(|error| {
        // The reader's hint may name `end`, an argument that this tool lacks.
        let form = error.next_step().is_some_and(|next| next.contains("`end`"));
        let error = if form {
            Error::argument(error.message())
                .next("write start/end with times, such as 2026-02-03 18h05/19h05")
        } else {
            error
        };
        error.context("`propose`")
    })?;
    Ok(other.map(|other| (other.start, other.end)))
}

/// Returns the audit log's entry of a write about an invitation.
pub(super) fn audit_entry<'a>(
    owner: &'a CalendarOwner,
    request: &CalendarRespond,
    op: &'static str,
) -> AuditEntry<'a> {
    AuditEntry::new(&owner.account.email, LoggedTool::CALENDAR_RESPOND, op).with_id(&request.id)
}
