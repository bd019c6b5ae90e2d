//! Invitations in messages: the event in the calendar that they are about, or one
//! created from them.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::time;
use daysheet_core::event::{Event, EventPatch, InvitationAnswer};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{Note, note, ours, quoted_end, quoted_list};
use jiff::tz::TimeZone;

use super::answers::{OtherTime, RequestedAnswer, audit_entry};
use crate::pipeline::calendar::save::exceptions::{find_occurrence, put_exceptions};
use crate::pipeline::calendar::save::source::change as change_of;
use crate::pipeline::calendar::save::source::{InvitationMessage, invitation_document};
use crate::pipeline::calendar::save::span::PreviousTime;
use crate::pipeline::calendar::target::{
    CalendarOwner, EventTarget, as_target, as_target_after, calendar_owner, event_line, span,
};
use crate::pipeline::calendar::write::{LoggedCreation, create_event};
use crate::pipeline::context::Context;
use crate::pipeline::titles::{ItemNames, short};
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::run_logged;
use crate::pipeline::write::plan::PlannedWrite;
use crate::pipeline::write::report::WriteReport;
use crate::tools::calendar_respond::CalendarRespond;

/// The event of a message with an invitation.
pub(super) enum InvitedEvent<'a> {
    /// It is in the calendar.
    There(Box<EventTarget>),
    /// It is not in the calendar, and is added with the answer.
    New(Box<InvitedMeeting<'a>>),
    /// The message has events and asks for no answer (RFC 5546, 3.2.1).
    Published,
}

/// A meeting that is in a message and not in the calendar: it is added, and answered if possible.
pub(super) struct InvitedMeeting<'a> {
    requested: RequestedAnswer<'a>,
    /// The calendars of the invited user.
    owner: CalendarOwner,
    /// The meeting.
    entry: Event,
    /// Its occurrences that differ from the rule.
    occurrences: Vec<Event>,
    /// The change that creates it, with an open answer of the user.
    change: EventPatch,
    propose: Option<OtherTime>,
}

/// Finds the event that a message invites to.
pub(super) async fn find_invited<'a>(
    ctx: &Context,
    request: &'a CalendarRespond,
    message: InvitationMessage<'_>,
    notes: &mut Vec<Note>,
) -> Result<InvitedEvent<'a>> {
    let handle = message.handle;
    let document = invitation_document(ctx, message).await?;
    let refused =
        |what: &str, next: &str| Err(Error::argument(format!("{handle} {what}")).next(next));
    match document.method.as_deref() {
        Some("CANCEL") => {
            return refused(
                "cancels a meeting: there is nothing to answer",
                "delete the event with calendar_delete, if it still exists",
            );
        }
        Some("REPLY") => {
            return refused(
                "is an answer, not an invitation",
                "look at the event with calendar_search",
            );
        }
        Some("COUNTER") => {
            return refused(
                "proposes another time for a meeting of yours",
                "change the event with calendar_save, or write to them",
            );
        }
        // Its organizer expects no answer (RFC 5546, 3.2.1).
        Some("PUBLISH") => return Ok(InvitedEvent::Published),
        _ => {}
    }
    let Some((entry, occurrences, others)) = main_event(document.entries) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("the invitation in {handle} has no event"),
        )
        .next("read it with mail_read"));
    };
    if !others.is_empty() {
        let titles = quoted_list(others.iter().map(|one| &one.title));
        notes.push(note!(
            "{} also has {}: calendar_save ics={} adds all",
            ours(handle),
            titles,
            ours(handle)
        ));
    }
    let owner = calendar_owner(ctx, message.account.clone()).await?;
    if let Some(target) = find_meeting(ctx, &owner, &entry).await? {
        target.not_cancelled()?;
        notes.extend(check_time(ctx, &target, &entry, handle)?);
        return Ok(InvitedEvent::There(Box::new(target)));
    }
    match request.response.answer() {
        None => refused("is about a meeting not in the calendar", "forward the message itself"),
        // Without a METHOD, no one expects an answer (RFC 5545, section 3.7.2).
        Some(_) if document.method.is_none() => Ok(InvitedEvent::Published),
        Some(answer) => {
            let requested = RequestedAnswer { answer, request };
            let meeting = InvitedMeeting::new(ctx, requested, (owner, entry, occurrences), notes)?;
            Ok(InvitedEvent::New(Box::new(meeting)))
        }
    }
}

/// Compares the time of a meeting in the calendar with the time in the invitation. Returns a note
/// if the invitation is newer.
///
/// # Errors
/// [`ErrorKind::Conflict`] if the meeting was moved since the invitation.
fn check_time(
    ctx: &Context,
    target: &EventTarget,
    entry: &Event,
    handle: &str,
) -> Result<Option<Note>> {
    let now = &target.event;
    if now.start == entry.start {
        return Ok(None);
    }
    // A higher SEQUENCE marks the newer version (RFC 5545, 3.8.7.4).
    if now.sequence.is_some_and(|sequence| sequence < entry.sequence.unwrap_or_default()) {
        let start = time::start(entry.start, &ctx.config.zone);
        return Ok(Some(note!(
            "{} is newer than the calendar: it moves the meeting to {}, where the calendar \
             has it once the service has read the message",
            ours(handle),
            ours(start)
        )));
    }
    let line = event_line(now, &ctx.config.zone);
    Err(Error::new(
        ErrorKind::Conflict,
        format!("the meeting changed since {handle}: it is now {line}"),
    )
    .next(format!("answer {} if it is still right", target.handle)))
}

/// Finds the event of an invitation in the calendars of its account.
async fn find_meeting(
    ctx: &Context,
    owner: &CalendarOwner,
    entry: &Event,
) -> Result<Option<EventTarget>> {
    // Nothing else identifies a meeting (RFC 5545, section 3.8.4.7).
    let Some(uid) = &entry.uid else {
        return Ok(None);
    };
    let found = owner.port.by_uid(uid).await?;
    let mut series = None;
    for event in found {
        let original = event.original;
        let target = as_target(ctx, owner, event).await?;
        let same = match (original, entry.original) {
            (Some(original), Some(at)) => {
                time::same_start(original, at, &[&ctx.config.zone, &TimeZone::UTC])
            }
            (original, at) => original == at,
        };
        if same {
            return Ok(Some(target));
        }
        if original.is_none() {
            series = Some(target);
        }
    }
    // An occurrence that was never changed is no event of its own, only one of its series.
    let (Some(series), Some(at)) = (series, entry.original) else {
        return Ok(None);
    };
    match find_occurrence(ctx, &series, at).await? {
        Some(occurrence) => Ok(Some(as_target(ctx, owner, occurrence).await?)),
        None => Ok(None),
    }
}

impl<'a> InvitedMeeting<'a> {
    /// Checks the answer to a meeting; `occurrences` are those that differ from its rule.
    fn new(
        ctx: &Context,
        requested: RequestedAnswer<'a>,
        (owner, entry, occurrences): (CalendarOwner, Event, Vec<Event>),
        notes: &mut Vec<Note>,
    ) -> Result<Self> {
        let own_zone = entry.zone.as_deref().and_then(time::find_zone);
        let before = PreviousTime {
            start: entry.start,
            end: entry.end,
            zone: own_zone.unwrap_or_else(|| ctx.config.zone.clone()),
        };
        let (propose, echo) = requested.proposed_time(ctx, &before)?;
        notes.extend(echo);
        let change = EventPatch::default();
        let mut meeting = Self { requested, owner, entry, occurrences, change, propose };
        meeting.check_declinable()?;
        meeting.change = meeting.creation(notes);
        Ok(meeting)
    }

    /// Returns the answer as in the tool's argument.
    pub(super) fn response_word(&self) -> &'static str {
        self.requested.response_word()
    }

    /// Returns the next step if the invitation cannot be answered here.
    fn write_instead(&self) -> String {
        match &self.entry.organizer {
            Some(organizer) => format!("write to {}", quoted_end(organizer.address.as_str())),
            None => "write to its sender".to_owned(),
        }
    }

    /// Refuses to decline a meeting that the service cannot add as another person's.
    fn check_declinable(&self) -> Result<()> {
        let can = self.owner.port.capabilities();
        if can.foreign_meetings || self.requested.answer != InvitationAnswer::Declined {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotFound,
            "the meeting is not in the calendar: there is nothing to decline",
        )
        .next(format!("{} instead", self.write_instead())))
    }

    /// Returns the change that creates it, with an open answer of the user. Cancelled occurrences
    /// become exclusions of its rule.
    fn creation(&mut self, notes: &mut Vec<Note>) -> EventPatch {
        // Only the organizer may cancel an occurrence of the finished series, so the rule excludes
        // the cancelled ones from the start.
        self.occurrences = self.entry.exclude_cancelled(std::mem::take(&mut self.occurrences));
        let own = &self.owner.account.email;
        let can = self.owner.port.capabilities();
        let (mut change, _) = change_of(&self.entry, can, own, notes);
        let mut guests = change.guests.iter_mut().flatten();
        if let Some(me) = guests.find(|guest| guest.address.is(own)) {
            me.me = true;
            me.answer = None;
        }
        change
    }

    /// Creates the event in the calendar.
    async fn create(&self, ctx: &Context, notes: &mut Vec<Note>) -> Result<Event> {
        let creation = LoggedCreation {
            owner: &self.owner,
            calendar: None,
            change: &self.change,
            // The organizer invites the guests; this copy notifies no one.
            notify: GuestNotice::Nobody,
            entry: audit_entry(&self.owner, self.requested.request, "create"),
        };
        create_event(ctx, creation, notes).await.map_err(|error| {
            // The event may exist, but without its id there is nothing to answer.
            if error.is_open() {
                error
            } else {
                error.context("the meeting could not be added to the calendar")
            }
        })
    }

    /// Answers the invitation with the created event. Returns the event after the answer.
    async fn answer(
        &self,
        ctx: &Context,
        event: &Event,
        notes: &mut Vec<Note>,
    ) -> Result<Option<Event>> {
        // Some services make the user the organizer of the event, who cannot answer it.
        if event.own {
            return Err(Error::argument("it is your own event here"));
        }
        let request = self.requested.request;
        let organizer = self.entry.organizer.iter().map(|one| one.address.as_str());
        let entry = audit_entry(&self.owner, request, "answer")
            .with_recipients(organizer.filter(|_| request.notifies()));
        let reply = self.requested.reply(self.propose);
        let write = self.owner.port.respond(event, &reply);
        run_logged(ctx, entry, notes, write, |_| None).await
    }

    /// Returns a note on an added event whose invitation was not answered.
    fn unanswered(&self, event: &Event, error: &Error) -> Note {
        let instead = self.write_instead();
        if event.own {
            note!("the organizer was not notified ({}): {}", ours(error.message()), ours(instead))
        } else {
            note!(
                "the invitation was not answered ({}): calendar_respond with the event's id \
                 answers it; or {}",
                ours(error.message()),
                ours(instead)
            )
        }
    }
}

impl PlannedWrite for InvitedMeeting<'_> {
    fn names(&self) -> ItemNames {
        ItemNames::of_new(&short(&self.entry.title))
    }

    fn description(&self, zone: &TimeZone) -> (String, String) {
        let when = span(self.entry.start, self.entry.end, zone);
        (format!("{when} {}", self.names().outcome), self.requested.description())
    }

    /// Returns its organizer. All guests belong to the audience without an organizer, because the
    /// copy is then the user's own, or if the answer has a comment or a proposed time.
    async fn audience(&self, _: &Context) -> Result<Option<WriteAudience>> {
        let (change, request) = (&self.change, self.requested.request);
        let mut audience = WriteAudience::default();
        let organizer = change.organizer.as_ref();
        audience.add(organizer.map(|one| one.address.as_str()));
        if organizer.is_none() || request.comment.is_some() || request.propose.is_some() {
            let guests = change.guests.as_deref().unwrap_or_default();
            audience.add_guests(guests, &self.owner.account.email);
        }
        Ok(Some(audience))
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let event = self.create(ctx, &mut report.notes).await?;
        report.notes.push("the meeting was not in the calendar and was added".into());
        let (name, owner) = (self.names().outcome, &self.owner);
        if !self.occurrences.is_empty() {
            let series = as_target_after(ctx, owner, event.clone(), &mut report.notes).await;
            let many = put_exceptions(ctx, &name, &series, &self.occurrences, report).await;
            report.notes.push(note!("occurrences that differ from its series: {}", many));
        }
        match self.answer(ctx, &event, &mut report.notes).await {
            Ok(found) => self.requested.add_outcome(report, name, found, owner),
            Err(error) => {
                report.events.push((owner.clone(), event.clone()));
                if error.is_open() {
                    return Err(error);
                }
                // The event has been added, so this failure is only a note.
                report.notes.push(self.unanswered(&event, &error));
            }
        }
        Ok(())
    }
}

/// Returns the event that a message is about, its occurrences that differ, and other events.
/// An event is about its series if that is in the message.
fn main_event(mut entries: Vec<Event>) -> Option<(Event, Vec<Event>, Vec<Event>)> {
    let series = entries.iter().position(|one| one.original.is_none());
    let at = series.unwrap_or_default();
    let main = (at < entries.len()).then(|| entries.remove(at))?;
    let (occurrences, others) =
        entries.into_iter().partition(|one| one.uid == main.uid && series.is_some());
    Some((main, occurrences, others))
}
