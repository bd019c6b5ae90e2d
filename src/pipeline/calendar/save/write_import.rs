//! Writes the events of an imported document one by one, or rehearses the writes.

use daysheet_core::call::progress;
use daysheet_core::error::Result;
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::text::{Note, quoted};

use super::destination::SaveCall;
use super::exceptions::finish_import;
use super::import_item::{ImportAction, ImportItem, ImportOutcome};
use super::make;
use crate::pipeline::calendar::target::{EventTarget, as_target_after};
use crate::pipeline::calendar::write::{
    LoggedCreation, LoggedWrite, create_event, keep_created, write_event,
};
use crate::pipeline::context::Context;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::report::{ItemOutcome, WriteReport};
use crate::pipeline::write::sequence::WriteSequence;

/// The word for an import in outcomes.
const IMPORT: &str = "import";

/// Writes the items in order, or rehearses them in a dry run. A failure ends the import: the
/// items after it are reported as skipped.
pub(super) async fn write_items(
    ctx: &Context,
    call: SaveCall<'_>,
    items: Vec<ImportItem>,
    report: &mut WriteReport,
) -> Result<()> {
    let mut writes = WriteSequence::of_outcomes(IMPORT);
    for item in progress::each("events", items) {
        if call.refuses(&item.met.lines) {
            let lines = item.met.lines.join("; ");
            report.outcomes.push(ItemOutcome::new(&item.name, IMPORT, "refused", lines));
            continue;
        }
        if writes.skips(&item.name, report) {
            continue;
        }
        if call.request.dry_run {
            report.outcomes.push(rehearse_item(ctx, call, &item).await);
        } else {
            write_item(ctx, call, &item, &mut writes, report).await?;
        }
    }
    Ok(())
}

/// Returns the planned outcome of an item, or the error with which its provider would refuse it.
async fn rehearse_item(ctx: &Context, call: SaveCall<'_>, item: &ImportItem) -> ItemOutcome {
    let planned = match item.action() {
        ImportAction::Create => rehearse_creation(ctx, call, item).await,
        ImportAction::Keep(there) => Ok(("unchanged", format!("it is already {}", there.handle))),
        ImportAction::Update(there, change) => rehearse_update(ctx, call, there, &change).await,
    };
    match planned {
        Ok((result, detail)) => ItemOutcome::new(&item.name, IMPORT, result, detail),
        Err(error) => ItemOutcome::failed(&item.name, IMPORT, &error),
    }
}

/// Rehearses the creation of an event. Returns the result, and its description.
async fn rehearse_creation(
    ctx: &Context,
    call: SaveCall<'_>,
    item: &ImportItem,
) -> Result<(&'static str, String)> {
    let port = &call.to.owner.port;
    make::fits(&item.change, port.capabilities())?;
    port.rehearse(call.calendar_id(), None, &item.change, GuestNotice::Nobody).await?;
    let detail = make::description(&item.change, &ctx.config.zone);
    let lines = item.met.lines.join("; ");
    Ok(("planned", if lines.is_empty() { detail } else { format!("{detail}; {lines}") }))
}

/// Rehearses the change of an existing event. Returns the result, and its description.
async fn rehearse_update(
    ctx: &Context,
    call: SaveCall<'_>,
    there: &EventTarget,
    change: &EventPatch,
) -> Result<(&'static str, String)> {
    let port = &call.to.owner.port;
    let notify = GuestNotice::Nobody;
    port.rehearse(call.calendar_id(), Some(&there.event), change, notify).await?;
    let what = make::difference(change, &there.event, &ctx.config.zone);
    Ok(("planned", format!("{}: {what}", there.handle)))
}

/// Writes one item, with its exceptions, and reports it.
async fn write_item(
    ctx: &Context,
    call: SaveCall<'_>,
    item: &ImportItem,
    writes: &mut WriteSequence,
    report: &mut WriteReport,
) -> Result<()> {
    let action = item.action();
    let written = match &action {
        ImportAction::Create => create_item(ctx, call, item, &mut report.notes).await,
        ImportAction::Keep(there) => Ok(there.event.clone()),
        ImportAction::Update(there, change) => update_item(ctx, item, there, change, report).await,
    };
    let event = match written {
        Ok(event) => event,
        Err(error) => return writes.fail(&item.name, error, report),
    };
    report.clashing += usize::from(!item.met.lines.is_empty());
    report.notes.extend(item.met.lines.iter().map(|line| line.under(quoted(&item.name))));
    let owner = &call.to.owner;
    let target = as_target_after(ctx, owner, event, &mut report.notes).await;
    let outcome = match action {
        ImportAction::Create => {
            keep_created(ctx, owner, &target.event, false, report).await;
            ImportOutcome::Created(target)
        }
        ImportAction::Keep(_) => ImportOutcome::Same(target),
        ImportAction::Update(..) => ImportOutcome::Changed(target),
    };
    finish_import(ctx, item, outcome, report).await
}

/// Creates the event of an item.
async fn create_item(
    ctx: &Context,
    call: SaveCall<'_>,
    item: &ImportItem,
    notes: &mut Vec<Note>,
) -> Result<Event> {
    let port = &call.to.owner.port;
    // Checked for each item alone, so that a refused event does not stop the others.
    make::fits(&item.change, port.capabilities())?;
    port.check(None, &item.change, GuestNotice::Nobody)?;
    let owner = &call.to.owner;
    let creation = LoggedCreation {
        owner,
        calendar: call.calendar_id(),
        change: &item.change,
        notify: GuestNotice::Nobody,
        entry: AuditEntry::new(&owner.account.email, LoggedTool::CALENDAR_SAVE, "create"),
    };
    create_event(ctx, creation, notes).await
}

/// Changes the existing event of an item.
async fn update_item(
    ctx: &Context,
    item: &ImportItem,
    there: &EventTarget,
    change: &EventPatch,
    report: &mut WriteReport,
) -> Result<Event> {
    let write = there.owner.port.update(&there.event, change, GuestNotice::Nobody);
    let own = &there.owner.account.email;
    let entry = AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, "update").with_id(&there.handle);
    // Exceptions that follow would not be undone.
    if item.exceptions.is_empty() {
        let write = async { write.await.map(Some) };
        let logged = LoggedWrite { target: there, change: Some(change), entry };
        let written = write_event(ctx, logged, report, write).await;
        written.map(|event| event.unwrap_or_else(|| there.event.clone()))
    } else {
        run_logged(ctx, entry, &mut report.notes, write, |_| None).await
    }
}
