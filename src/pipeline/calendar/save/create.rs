//! New events: compared with existing ones, and written. `create/plan.rs` reads and checks them.

mod plan;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, Result};
use daysheet_core::text::{Note, note};
use futures_util::future::join;
use jiff::tz::TimeZone;

use self::plan::{NewEvent, checked_events, new_events};
use super::clash::{ClashCandidate, compare_clashes, events_near, find_clashes};
use super::destination::{CalendarDestination, SaveCall, find_destination};
use super::make;
use crate::pipeline::calendar::audience::event_call;
use crate::pipeline::calendar::guests::{doubtful_guests, notified, others};
use crate::pipeline::calendar::write::{LoggedCreation, create_event, keep_created};
use crate::pipeline::context::Context;
use crate::pipeline::titles::{ItemNames, short};
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::plan::{
    PlannedWrite, WriteCall, agree, carry_out, grouped_by_note, write_each,
};
use crate::pipeline::write::report::{WriteReport, write_report};
use crate::tools::calendar_save::{CalendarSave, IfConflict};

/// Creates the events of a call.
pub(super) async fn create_events(
    ctx: &Context,
    request: &CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if request.scope.is_some() {
        return Err(
            Error::argument("`scope` is for an existing event").next("leave it out, or give `id`")
        );
    }
    let made = new_events(ctx, request)?;
    let destination =
        find_destination(ctx, request.account.as_deref(), request.calendar.as_deref()).await?;
    let mut items = checked_events(SaveCall { request, to: &destination }, made)?;
    for item in &mut items {
        let (account, guests) = (&destination.owner.account, item.made.change.guests.as_ref());
        item.made.notes.extend(doubtful_guests(ctx, account, &[], guests).await);
    }
    let candidates = items.iter().map(|item| item.candidate(ctx.now())).collect::<Vec<_>>();
    let mut report = WriteReport::notifying(request.notify);
    let call = event_call(("create", "Create"), caller, request.dry_run);
    // Where conflicts are only reported, they are looked for while the events are written.
    if request.if_conflict == IfConflict::Warn && !request.dry_run {
        return write_while_looking(ctx, &call, (items, candidates), report).await;
    }
    if request.if_conflict != IfConflict::Ignore {
        let strict = request.if_conflict == IfConflict::Refuse;
        let (found, notes) = find_clashes(ctx, &candidates, strict).await?;
        items.iter_mut().zip(found).for_each(|(item, met)| item.met = met);
        report.notes.extend(notes);
    }
    carry_out(ctx, &call, items, report).await
}

/// Writes the events, and looks for their conflicts meanwhile.
async fn write_while_looking(
    ctx: &Context,
    call: &WriteCall<'_>,
    (mut items, mut candidates): (Vec<NewEvent<'_>>, Vec<ClashCandidate>),
    mut report: WriteReport,
) -> Result<WholeAnswer> {
    agree(ctx, call, &items, &mut report.notes).await?;
    // Boxed, because a thread's stack is small.
    let near = Box::pin(events_near(ctx, &candidates, false));
    let writes = Box::pin(write_each(ctx, call, &mut items, &mut report));
    let (near, written) = join(near, writes).await;
    written?;
    for (candidate, item) in candidates.iter_mut().zip(&items) {
        candidate.becomes(item.written.clone());
    }
    // The events are written, so a failure here is only a note.
    let found = match near {
        Ok(near) => compare_clashes(ctx, &candidates, near, false).await,
        Err(error) => Err(error),
    };
    let (met, mut notes) = found
        .unwrap_or_else(|error| (Vec::new(), vec![note!("clashes were not checked: {}", error)]));
    report.clashing = met.iter().filter(|met| !met.lines.is_empty()).count();
    let met = items.iter().zip(met).map(|(item, met)| (item.names().note, met.lines));
    notes.extend(grouped_by_note(met.collect()));
    // Conflicts come before the notes on the writes.
    report.notes.splice(0..0, notes);
    write_report(ctx, report).await
}

impl PlannedWrite for NewEvent<'_> {
    fn names(&self) -> ItemNames {
        ItemNames::of_new(&self.name)
    }

    fn description(&self, zone: &TimeZone) -> (String, String) {
        (self.name.clone(), make::description(&self.made.change, zone))
    }

    fn outgoing_text(&self) -> Option<&str> {
        self.made.change.notes.as_deref()
    }

    fn remarks(&self) -> Vec<Note> {
        self.made.notes.clone()
    }

    fn settled(&self) -> Option<(&'static str, String)> {
        self.to.refuses(&self.met.lines).then(|| ("refused", self.met.lines.join("; ")))
    }

    async fn audience(&self, _: &Context) -> Result<Option<WriteAudience>> {
        let CalendarDestination { owner, calendar } = self.to.to;
        let own = &owner.account.email;
        let mut audience = WriteAudience::default();
        audience.guests(self.made.change.guests.as_deref().unwrap_or_default(), own);
        Ok(audience.of_new_event(calendar.as_ref(), own))
    }

    async fn rehearse(&self, ctx: &Context, _: &mut WriteReport) -> Result<(&'static str, String)> {
        let CalendarDestination { owner, calendar } = self.to.to;
        let change = &self.made.change;
        owner.port.rehearse(self.to.calendar_id(), None, change, self.notify).await?;
        let place = match calendar {
            Some(place) => format!("in {}, {}", short(&place.name), owner.label),
            None => format!("in the main calendar, {}", owner.label),
        };
        let mut detail = vec![make::description(change, &ctx.config.zone), place];
        detail.extend(self.met.lines.iter().map(ToString::to_string));
        Ok(("planned", detail.join("; ")))
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let owner = &self.to.to.owner;
        let (change, own) = (&self.made.change, &owner.account.email);
        let recipients = notified(&[], change.guests.as_ref(), own, self.notify);
        let creation = LoggedCreation {
            owner,
            calendar: self.to.calendar_id(),
            change,
            notify: self.notify,
            entry: AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, "create")
                .with_recipients(recipients.iter().copied()),
        };
        let event = create_event(ctx, creation, &mut report.notes).await?;
        report.notified.add(&recipients, !others(&event.guests, own).is_empty());
        keep_created(ctx, owner, &event, !recipients.is_empty(), report).await;
        report.add_event(owner, &event);
        self.written = Some(event);
        Ok(())
    }
}
