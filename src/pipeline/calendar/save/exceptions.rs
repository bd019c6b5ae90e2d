//! Occurrences of imported series that differ from their rule.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::project::project;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::schemas::EVENT;
use daysheet_core::text::Note;
use jiff::{Timestamp, ToSpan};

use super::import_item::differing;
use super::source;
use crate::pipeline::calendar::target::{EventTarget, fetch_event};
use crate::pipeline::context::Context;
use crate::pipeline::write::log::{AuditEntry, LoggedTool, run_logged};
use crate::pipeline::write::report::{ItemOutcome, WriteReport};

/// Writes exceptions of a series from a document; returns the number of changed ones.
pub(crate) async fn put_exceptions(
    ctx: &Context,
    name: &str,
    series: &EventTarget,
    exceptions: &[Event],
    report: &mut WriteReport,
) -> usize {
    let mut changed = 0;
    let mut has_ended = false;
    for one in exceptions {
        let Some(at) = one.original else {
            continue;
        };
        let when = time::start(at, &ctx.config.zone);
        if has_ended {
            report.outcomes.push(ItemOutcome::skipped(format!("{name} on {when}"), "import"));
            continue;
        }
        match put_exception(ctx, series, one, at, &mut report.notes).await {
            Ok(done) => changed += usize::from(done),
            Err(error) => {
                let name = format!("{name} on {when}");
                report.outcomes.push(ItemOutcome::failed(name, "import", &error));
                // While one write is in doubt, or cannot be logged, no further occurrence of this
                // series is written.
                has_ended = error.is_open() || error.kind() == ErrorKind::Store;
            }
        }
    }
    changed
}

/// Writes one exception; returns true if it was changed.
async fn put_exception(
    ctx: &Context,
    series: &EventTarget,
    entry: &Event,
    at: EventTime,
    notes: &mut Vec<Note>,
) -> Result<bool> {
    let port = &series.owner.port;
    let Some(occurrence) = find_occurrence(ctx, series, at).await? else {
        // A missing occurrence is deleted already.
        return if entry.cancelled {
            Ok(false)
        } else {
            Err(Error::new(ErrorKind::NotFound, "the series has no occurrence then"))
        };
    };
    let own = &series.owner.account.email;
    let line = |op| AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, op).with_id(&series.handle);
    if entry.cancelled {
        let write = port.delete(&occurrence, None, GuestNotice::Nobody);
        run_logged(ctx, line("delete"), notes, write, |()| None).await?;
        return Ok(true);
    }
    // Its guests are the guests of the series, on which there are notes already.
    let (change, _) = source::change(entry, port.capabilities(), own, &mut Vec::new());
    if !series.event.own {
        // Only the organizer may change it, but it can be imported like its series.
        let change = EventPatch { original: occurrence.original, ..change };
        let calendar = series.event.calendar.as_ref();
        let write = port.create(calendar, &change, GuestNotice::Nobody);
        run_logged(ctx, line("create"), notes, write, |_| None).await?;
        return Ok(true);
    }
    // An occurrence has no rule of its own.
    let change = EventPatch { repeat: None, ..differing(&change, &occurrence) };
    if change == EventPatch::default() {
        return Ok(false);
    }
    let write = port.update(&occurrence, &change, GuestNotice::Nobody);
    run_logged(ctx, line("update"), notes, write, |_| None).await?;
    Ok(true)
}

/// Returns the occurrence of a series at the original time `at`, even if it was moved.
pub(crate) async fn find_occurrence(
    ctx: &Context,
    series: &EventTarget,
    at: EventTime,
) -> Result<Option<Event>> {
    let port = &series.owner.port;
    let (zone, own) = (series.zone(&ctx.config.zone), &ctx.config.zone);
    let is_it = |facts: &Event| {
        facts.series.as_ref() == Some(&series.event.id)
            && facts.original.is_some_and(|original| time::same_start(original, at, &[&zone, own]))
    };
    let start = at.instant(&zone);
    let near = |hours: i64| {
        start.checked_add(hours.hours()).unwrap_or(if hours < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        })
    };
    let columns: Vec<_> =
        ["id", "start", "end"].iter().filter_map(|name| EVENT.field(name)).collect();
    let projection = project(port.api(), &columns);
    // 26 hours cover the same time in any other zone. `by_uid` finds occurrences moved further.
    let near = port.instances(&series.event.id, near(-26), near(26), &projection).await?;
    let mut found = near.into_iter().find(is_it);
    if found.is_none()
        && let Some(uid) = &series.event.uid
    {
        found = port.by_uid(uid).await?.into_iter().find(is_it);
    }
    let Some(found) = found else {
        return Ok(None);
    };
    // The complete event, with its version.
    let whole = fetch_event(ctx, series.owner.clone(), &found.id).await?;
    Ok(Some(whole.event).filter(|event| !event.cancelled))
}
