//! Imports events from iCalendar documents into a calendar.
//!
//! An existing event, found by its UID or by time and title, is updated or left unchanged, and
//! never duplicated. No one is notified, because the guests of an imported event already know of
//! it. `import_item.rs` reads the items and compares them with the calendar.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{Note, note, ours};
use jiff::tz::TimeZone;

use super::destination::{CalendarDestination, SaveCall, find_destination};
use super::exceptions::put_exceptions;
use super::import_item::{ImportAction, ImportItem, find_items, method_note};
use super::make;
use super::source::read_document;
use crate::pipeline::calendar::audience::{EventWrite, event_call, find_audience};
use crate::pipeline::calendar::target::as_target_after;
use crate::pipeline::calendar::write::{
    LoggedCreation, LoggedWrite, create_event, keep_created, write_event,
};
use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::plan::{PlannedWrite, WriteCall, agree, write_each};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::tools::calendar_save::CalendarSave;

/// The word for an import in outcomes.
const IMPORT: &str = "import";

/// Imports the events of the document that `input` contains or names.
pub(super) async fn import_events(
    ctx: &Context,
    input: &str,
    request: &CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if request.scope.is_some() {
        return Err(Error::argument("`scope` is for an existing event").next("leave it out"));
    }
    let document = read_document(ctx, input).await?;
    let mut report = WriteReport::default();
    report.notes.extend(document.notes.iter().cloned());
    report.notes.extend(method_note(ctx, &document).await?);
    let destination =
        find_destination(ctx, request.account.as_deref(), request.calendar.as_deref()).await?;
    let to = SaveCall { request, to: &destination };
    let mut items = find_items(ctx, to, document, &mut report).await?;
    let call = WriteCall {
        reports_failures: true,
        ..event_call((IMPORT, "Import"), caller, request.dry_run)
    };
    agree(ctx, &call, &items, &mut report.notes).await?;
    write_each(ctx, &call, &mut items, &mut report).await?;
    let can = destination.owner.port.capabilities();
    if !can.sets_uid && !report.events.is_empty() {
        report.notes.push(note!(
            "{} assigns its own UIDs: events are recognized by time and title",
            ours(can.name)
        ));
    }
    write_report(ctx, report).await
}

impl PlannedWrite for ImportItem<'_> {
    fn names(&self) -> ItemNames {
        ItemNames::of_new(&self.name)
    }

    fn description(&self, _: &TimeZone) -> (String, String) {
        (self.name.clone(), String::new())
    }

    fn settled(&self) -> Option<(&'static str, String)> {
        if self.to.refuses(&self.met.lines) {
            return Some(("refused", self.met.lines.join("; ")));
        }
        match self.action() {
            // The occurrences of a kept event are written only if the event is the user's own.
            ImportAction::Keep(there)
                if !there.event.own || self.twin || self.exceptions.is_empty() =>
            {
                let only = if there.event.own { "" } else { ", which only its organizer changes" };
                Some(("unchanged", format!("it is already {}{only}", there.handle)))
            }
            _ => None,
        }
    }

    async fn audience(&self, ctx: &Context) -> Result<Option<WriteAudience>> {
        match self.action() {
            ImportAction::Create => {
                let CalendarDestination { owner, calendar } = self.to.to;
                let own = &owner.account.email;
                let mut audience = WriteAudience::default();
                audience.add_guests(self.change.guests.as_deref().unwrap_or_default(), own);
                let organizer = self.change.organizer.as_ref();
                audience.add(organizer.map(|one| one.address.as_str()));
                Ok(audience.of_new_event(calendar.as_ref(), own))
            }
            // Its occurrences may be deleted, too.
            ImportAction::Keep(there) | ImportAction::Update(there, _) => {
                find_audience(ctx, there, &EventWrite::Delete(false)).await
            }
        }
    }

    async fn rehearse(&self, ctx: &Context, _: &mut WriteReport) -> Result<(&'static str, String)> {
        let (port, calendar) = (&self.to.to.owner.port, self.to.calendar_id());
        let (zone, notify) = (&ctx.config.zone, GuestNotice::Nobody);
        match self.action() {
            ImportAction::Create => {
                make::fits(&self.change, port.capabilities())?;
                port.rehearse(calendar, None, &self.change, notify).await?;
                let mut detail = vec![make::description(&self.change, zone)];
                detail.extend(self.met.lines.iter().map(ToString::to_string));
                Ok(("planned", detail.join("; ")))
            }
            ImportAction::Keep(there) => {
                Ok(("unchanged", format!("it is already {}", there.handle)))
            }
            ImportAction::Update(there, change) => {
                port.rehearse(calendar, Some(&there.event), change, notify).await?;
                let what = make::difference(change, &there.event, zone);
                Ok(("planned", format!("{}: {what}", there.handle)))
            }
        }
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let action = self.action();
        let event = match &action {
            ImportAction::Create => create_item(ctx, self, &mut report.notes).await?,
            ImportAction::Keep(there) => there.event.clone(),
            ImportAction::Update(there, change) => {
                let write = there.owner.port.update(&there.event, change, GuestNotice::Nobody);
                let own = &there.owner.account.email;
                let logged = LoggedWrite {
                    target: there,
                    change: Some(change),
                    entry: AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, "update")
                        .with_id(&there.handle),
                    // Exceptions that follow would not be undone.
                    can_undo: self.exceptions.is_empty(),
                };
                let write = async { write.await.map(Some) };
                let written = write_event(ctx, logged, report, write).await?;
                written.unwrap_or_else(|| there.event.clone())
            }
        };
        report.clashing += usize::from(!self.met.lines.is_empty());
        report.notes.extend(self.met.lines.iter().cloned());
        let owner = &self.to.to.owner;
        let target = as_target_after(ctx, owner, event, &mut report.notes).await;
        if matches!(action, ImportAction::Create) {
            keep_created(ctx, owner, &target.event, false, report).await;
        }
        let is_kept = matches!(action, ImportAction::Keep(_));
        let changed = put_exceptions(ctx, &self.name, &target, &self.exceptions, report).await;
        let handle = &target.handle;
        let (result, detail) = match (is_kept, changed) {
            (false, _) => {
                report.events.push((owner.clone(), target.event));
                return Ok(());
            }
            (true, 0) => ("unchanged", format!("it is already {handle}")),
            (true, changed) => ("done", format!("{changed} occurrences of {handle}")),
        };
        report.outcomes.push(ItemOutcome::new(&self.name, IMPORT, result, detail));
        Ok(())
    }
}

/// Creates the event of an item.
async fn create_item(ctx: &Context, item: &ImportItem<'_>, notes: &mut Vec<Note>) -> Result<Event> {
    let owner = &item.to.to.owner;
    // Checked for each item alone, so that a refused event does not stop the others.
    make::fits(&item.change, owner.port.capabilities())?;
    owner.port.check(None, &item.change, GuestNotice::Nobody)?;
    let creation = LoggedCreation {
        owner,
        calendar: item.to.calendar_id(),
        change: &item.change,
        notify: GuestNotice::Nobody,
        entry: AuditEntry::new(&owner.account.email, LoggedTool::CALENDAR_SAVE, "create"),
    };
    create_event(ctx, creation, notes).await
}
