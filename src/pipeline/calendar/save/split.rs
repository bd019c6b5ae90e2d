//! Writes the change of an occurrence and all later ones: the series is split.
//!
//! The new series is created before the old one is cut, so a failure in between leaves too many
//! events and never too few; the extra ones are removed again.

use daysheet_core::error::Result;
use daysheet_core::provider::calendar::EventChange;
use daysheet_core::text::{note, ours};
use serde_json::Value;

use super::follow::{SplitSeries, copied, shorten_series};
use super::ready::ReadyChange;
use crate::pipeline::access::audit::{AuditEntry, CALENDAR_SAVE, run_logged};
use crate::pipeline::answer::outcome::{ItemOutcome, WriteReport};
use crate::pipeline::calendar::guests::notified;
use crate::pipeline::calendar::occurrences;
use crate::pipeline::calendar::target::{EventTarget, fetch_event, write_error};
use crate::pipeline::calendar::undo::{keep_created, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::interrupted::{begin_writing, may_leave};

/// Writes the change of an occurrence and all later ones.
pub(super) async fn split_series(
    ctx: &Context,
    ready: &ReadyChange,
    cut: &SplitSeries,
    report: &mut WriteReport,
) -> Result<()> {
    let ReadyChange { target: master, change, notify, name, .. } = ready;
    let notify = *notify;
    // A process killed between the two writes leaves both series.
    may_leave(&format!(
        "the new series may exist beside {}: if so, delete one of them",
        master.handle
    ));
    begin_writing(ctx).await?;
    let whole = copied(master, change.clone());
    let port = &master.owner.port;
    let calendar = master.facts.calendar.as_deref();
    let own = &master.owner.account.email;
    let guests = notified(&master.facts.guests, whole.guests.as_ref(), own, notify);
    let entry = AuditEntry {
        account: own,
        tool: CALENDAR_SAVE,
        op: "update",
        ids: vec![master.handle.clone()],
        recipients: guests,
        ..AuditEntry::default()
    };
    let creation = AuditEntry { op: "create", ids: Vec::new(), ..entry.clone() };
    let from = cut.base.start.when().instant(&ctx.config.zone);
    let known = occurrences::known_before(ctx, &master.owner, &master.facts, Some(from)).await;
    let write = port.create(calendar, &whole, notify);
    let id = |value: &Value| port.event_data(value).map(|facts| facts.id);
    let created = run_logged(ctx, creation, &mut report.notes, write, id).await;
    let new = match created {
        Ok(new) => new,
        Err(error) if error.is_open() => {
            let detail = format!(
                "{}: the new series may still be created, and {} is unchanged; search before \
                 retrying, and delete the new one if it exists",
                error.message(),
                master.handle
            );
            report.outcomes.push(ItemOutcome::new(name, "change", "unknown", detail));
            return Ok(());
        }
        Err(error) => return Err(error.context("the new series was not created")),
    };
    // The old series is cut only when the new one exists, so that no event is lost.
    let shorter = EventChange { repeat: Some(Some(cut.before.clone())), ..EventChange::default() };
    let write = shorten_series(ctx, master, &shorter, notify);
    let write = async { write.await.map(Some) };
    let line = entry.clone();
    let shortened = write_event(ctx, master, Some(&shorter), line, report, write).await;
    match shortened {
        Ok(old) => {
            // Undoing only the creation would lose events, so it can be undone only with the cut.
            if !report.undo.events.is_empty() {
                keep_created(ctx, &master.owner, &new, false, report).await;
            }
            report.series.knew(known);
            report.series.wrote(&master.owner, &new);
            report.events.push((master.owner.clone(), new));
            report.events.extend(old.map(|old| (master.owner.clone(), old)));
            report.notes.push(note!(
                "the series was split: {} has the earlier part, the first row the later",
                ours(&master.handle)
            ));
            if whole.online == Some(true) {
                report.notes.push("the new series has its own online meeting".into());
            }
        }
        Err(error) if error.is_open() => {
            report.events.push((master.owner.clone(), new));
            let detail = format!(
                "{}: the new series exists, but {} may not end before it; check, and shorten \
                 or delete one of them",
                error.message(),
                master.handle
            );
            report.outcomes.push(ItemOutcome::new(name, "change", "unknown", detail));
        }
        // A refused write may have been carried out in part. It is safe to go back
        // only if the series is unchanged.
        Err(error) if !is_untouched(ctx, master).await => {
            report.events.push((master.owner.clone(), new));
            let detail = format!(
                "{}: the new series exists, and {} was changed; check, and shorten or delete \
                 one of them",
                error.message(),
                master.handle
            );
            report.outcomes.push(ItemOutcome::new(name, "change", "unknown", detail));
        }
        Err(error) => {
            let entry = AuditEntry { op: "delete", ids: id(&new).into_iter().collect(), ..entry };
            let write = port.delete(&new, None, notify);
            match run_logged(ctx, entry, &mut report.notes, write, |()| None).await {
                Ok(()) => {
                    let error = write_error(ctx, master, error).await;
                    return Err(error.context(
                        "nothing was changed: the old series could not be shortened, and the \
                         new one was deleted",
                    ));
                }
                Err(second) => {
                    report.events.push((master.owner.clone(), new));
                    let detail = format!(
                        "{} was not shortened ({}), and the new series could not be deleted \
                         ({}): delete one of them",
                        master.handle,
                        error.message(),
                        second.message()
                    );
                    report.outcomes.push(ItemOutcome::new(name, "change", "failed", detail));
                }
            }
        }
    }
    Ok(())
}

/// Returns true if an event is still the version that was fetched.
async fn is_untouched(ctx: &Context, target: &EventTarget) -> bool {
    let version = &target.facts.version;
    let now = fetch_event(ctx, target.owner.clone(), &target.facts.id).await;
    version.is_some() && now.is_ok_and(|now| now.facts.version == *version)
}
