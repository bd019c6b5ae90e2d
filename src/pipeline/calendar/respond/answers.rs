//! An answer to the invitation to an event in the calendar.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, EventPatch, InvitationAnswer};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::calendar::InvitationReply;
use daysheet_core::text::{Note, note, ours, quoted};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::pipeline::calendar::audience::line;
use crate::pipeline::calendar::save::span::{PreviousTime, read_span};
use crate::pipeline::calendar::target::{
    CalendarOwner, EventTarget, event_line, span, write_error,
};
use crate::pipeline::calendar::write::{LoggedWrite, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::plan::PlannedWrite;
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

    /// Describes the answer in a question.
    pub(super) fn description(&self) -> String {
        format!(
            "Answer: {}{}{}",
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
            None => {
                let detail =
                    "it is no longer in the calendar, and only a new invitation brings it back";
                report.outcomes.push(ItemOutcome::new(name, self.response_word(), "done", detail));
            }
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

/// An answer to the invitation to an event in the calendar.
pub(super) struct PlannedAnswer<'a> {
    pub(super) target: EventTarget,
    pub(super) requested: RequestedAnswer<'a>,
    pub(super) reply: InvitationReply,
}

impl PlannedAnswer<'_> {
    /// Returns true if it has a comment or proposes a time.
    fn adds(&self) -> bool {
        self.reply.comment.is_some() || self.reply.propose.is_some()
    }

    /// Returns true for the same answer again, which would only disturb the organizer.
    fn is_repeated(&self) -> bool {
        self.target.event.answer == Some(self.requested.answer) && !self.adds()
    }

    /// Returns a note on the comment of the user's earlier answer.
    fn earlier_comment(&self) -> Option<Note> {
        let comment = self.target.event.guests.iter().find(|one| one.me)?.comment.as_ref()?;
        let comment = quoted(comment);
        Some(if self.adds() {
            note!("your earlier comment was replaced: {}", comment)
        } else {
            // The service keeps the old comment, which may not suit the new answer.
            note!("your earlier comment stays: {}; another `comment` replaces it", comment)
        })
    }
}

impl PlannedWrite for PlannedAnswer<'_> {
    fn names(&self) -> ItemNames {
        self.target.names()
    }

    fn description(&self, zone: &TimeZone) -> (String, String) {
        (event_line(&self.target.event, zone), self.requested.description())
    }

    fn remarks(&self) -> Vec<Note> {
        self.earlier_comment().filter(|_| self.is_repeated()).into_iter().collect()
    }

    fn settled(&self) -> Option<(&'static str, String)> {
        let detail = "already as requested: give a comment to notify the organizer";
        self.is_repeated().then(|| ("unchanged", detail.to_owned()))
    }

    async fn audience(&self, _: &Context) -> Result<Option<WriteAudience>> {
        let (target, notifies) = (&self.target, self.requested.request.notifies());
        let mut audience = WriteAudience::default();
        let is_public = target.owner.port.capabilities().public_answers;
        // An answer that is part of the event reaches its organizer without a notification, too.
        if notifies || is_public {
            audience.organizer(&target.event);
        }
        // All guests can read the comment.
        if is_public && self.adds() {
            audience.everybody_on(&target.event, &target.owner.account.email);
        }
        Ok(Some(audience))
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let (target, request) = (&self.target, self.requested.request);
        let organizer = target.event.other_organizer().into_iter().map(EmailAddress::as_str);
        let entry = audit_entry(&target.owner, request, "answer")
            .with_recipients(organizer.filter(|_| request.notifies()));
        let port = &target.owner.port;
        let write = port.respond(&target.event, &self.reply);
        // It can be undone if it is part of the event and notifies no one.
        let written = if port.capabilities().public_answers && !request.notifies() {
            // An answer changes no field of the event.
            let change = EventPatch::default();
            let logged = LoggedWrite { target, change: Some(&change), entry, can_undo: true };
            write_event(ctx, logged, report, write).await
        } else {
            run_logged(ctx, entry, &mut report.notes, write, |_| None).await
        };
        match written {
            Ok(event) => {
                report.notes.extend(self.earlier_comment());
                self.requested.add_outcome(report, self.names().outcome, event, &target.owner);
                Ok(())
            }
            Err(error) => Err(write_error(ctx, target, error).await),
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
