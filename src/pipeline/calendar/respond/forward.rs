//! Forwards an invitation to other people.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::EventGuest;
use daysheet_core::text::Note;
use jiff::tz::TimeZone;

use super::answers::audit_entry;
use crate::pipeline::calendar::audience::line;
use crate::pipeline::calendar::guests::{GuestField, guest, guest_line};
use crate::pipeline::calendar::target::{EventTarget, event_line, write_error};
use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::run_logged;
use crate::pipeline::write::plan::PlannedWrite;
use crate::pipeline::write::report::{ItemOutcome, WriteReport};
use crate::tools::calendar_respond::CalendarRespond;

/// An invitation to forward.
pub(super) struct PlannedForward<'a> {
    target: EventTarget,
    request: &'a CalendarRespond,
    /// The recipients, each once.
    to: Vec<EventGuest>,
}

impl<'a> PlannedForward<'a> {
    /// Reads the recipients, and refuses arguments that the service cannot forward.
    pub(super) fn new(
        target: EventTarget,
        request: &'a CalendarRespond,
        notes: &mut Vec<Note>,
    ) -> Result<Self> {
        let mut to: Vec<EventGuest> = Vec::new();
        for one in &request.to {
            let one = guest(GuestField::To, one, notes)?;
            if !to.iter().any(|known| known.address.is(&one.address)) {
                to.push(one);
            }
        }
        if request.propose.is_some() {
            return Err(Error::argument("`propose` cannot be forwarded")
                .next("leave it out, or answer first"));
        }
        let can = target.owner.port.capabilities();
        // The service invites the recipients itself, without a message of the user.
        if can.forward_adds_guests && request.comment.is_some() {
            let what = format!("{} cannot send a comment with a forwarded invitation", can.name);
            return Err(Error::argument(what)
                .next("leave out `comment`, and write to them with mail_draft"));
        }
        Ok(Self { target, request, to })
    }
}

impl PlannedWrite for PlannedForward<'_> {
    fn names(&self) -> ItemNames {
        self.target.names()
    }

    fn description(&self, zone: &TimeZone) -> (String, String) {
        let comment = line("Comment", self.request.comment.as_deref());
        let to = format!("To: {}{comment}", guest_line(&self.to));
        (event_line(&self.target.event, zone), to)
    }

    async fn audience(&self, _: &Context) -> Result<Option<WriteAudience>> {
        let target = &self.target;
        let mut audience = WriteAudience::default();
        audience.add(self.to.iter().map(|one| one.address.as_str()));
        // The organizer is notified of the forwarding.
        audience.organizer(&target.event);
        if target.owner.port.capabilities().forward_adds_guests {
            // The service adds the recipients as guests, and notifies all guests.
            audience.everybody_on(&target.event, &target.owner.account.email);
        }
        Ok(Some(audience))
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let target = &self.target;
        let addresses: Vec<String> = self.to.iter().map(|one| one.address.to_string()).collect();
        let entry = audit_entry(&target.owner, self.request, "forward")
            .with_recipients(addresses.iter().map(String::as_str));
        let comment = self.request.comment.as_deref();
        let write = target.owner.port.forward(&target.event, &addresses, comment);
        if let Err(error) = run_logged(ctx, entry, &mut report.notes, write, |()| None).await {
            return Err(write_error(ctx, target, error).await);
        }
        let detail = format!("to {}", guest_line(&self.to));
        report.outcomes.push(ItemOutcome::new(self.names().outcome, "forward", "done", detail));
        Ok(())
    }
}
