//! Changes existing events: single events, occurrences, or series.
//!
//! Only the given fields change, and only if the event is unchanged since it was shown.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::Result;
use daysheet_core::event::EventPatch;
use daysheet_core::text::Note;
use jiff::tz::TimeZone;

use super::follow;
use super::ready::{ReadyChange, find_conflicts, ready_change};
use super::split::split_series;
use crate::pipeline::calendar::audience::{EventWrite, event_call, find_audience, guests_reached};
use crate::pipeline::calendar::guests::{doubtful_guests, notified};
use crate::pipeline::calendar::occurrences;
use crate::pipeline::calendar::target::{about, each_once, named_events, write_error};
use crate::pipeline::calendar::write::{LoggedWrite, no_undo, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::plan::{PlannedWrite, carry_out};
use crate::pipeline::write::report::WriteReport;
use crate::tools::calendar_save::{CalendarSave, EventWords};

/// Changes the events of a call.
pub(super) async fn change_events(
    ctx: &Context,
    request: &CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let (names, words): (Vec<&str>, Vec<&EventWords>) = request.changes().into_iter().unzip();
    let mut items = Vec::new();
    let targets = named_events(ctx, &names).await?;
    for (at, (target, words)) in targets.into_iter().zip(words).enumerate() {
        let ready = ready_change(ctx, target, words, request).await;
        items.push(ready.map_err(|error| about(&names, at, error))?);
    }
    each_once(items.iter().map(|item| &item.target))?;
    for item in &mut items {
        let (account, guests) = (&item.target.owner.account, item.change.guests.as_ref());
        let before = &item.target.event.guests;
        item.notes.extend(doubtful_guests(ctx, account, before, guests).await);
    }
    let mut report = WriteReport::notifying(request.notify);
    find_conflicts(ctx, &mut items, request, &mut report).await?;
    let call = event_call(("change", "Change"), caller, request.dry_run);
    carry_out(ctx, &call, items, report).await
}

impl PlannedWrite for ReadyChange {
    fn names(&self) -> ItemNames {
        self.names.clone()
    }

    fn description(&self, zone: &TimeZone) -> (String, String) {
        (self.line.clone(), self.difference(zone))
    }

    fn outgoing_text(&self) -> Option<&str> {
        self.change.notes.as_deref()
    }

    fn remarks(&self) -> Vec<Note> {
        self.notes.clone()
    }

    fn settled(&self) -> Option<(&'static str, String)> {
        // A change that changes nothing cannot conflict either.
        if self.change == EventPatch::default() {
            Some(("unchanged", "already as requested".to_owned()))
        } else {
            (self.is_strict && !self.met.is_empty()).then(|| ("refused", self.met.join("; ")))
        }
    }

    async fn audience(&self, ctx: &Context) -> Result<Option<WriteAudience>> {
        find_audience(ctx, &self.target, &EventWrite::Change(&self.change)).await
    }

    async fn rehearse(
        &self,
        ctx: &Context,
        report: &mut WriteReport,
    ) -> Result<(&'static str, String)> {
        let Self { target, change, notify, cut, .. } = self;
        let port = &target.owner.port;
        let rehearsed = match cut {
            // A split writes the rest of the series as a new event, so the creation is rehearsed.
            Some(_) => {
                let whole = follow::copied(target, change.clone());
                port.rehearse(target.event.calendar.as_ref(), None, &whole, *notify).await
            }
            None => port.rehearse(None, Some(&target.event), change, *notify).await,
        };
        rehearsed?;
        report.notes.extend(self.exception_notes.iter().cloned());
        report.notes.extend(no_undo(target, Some(change)).await);
        if !target.event.own {
            let only = "it has another organizer: only your copy would be changed, if the service \
                        allows that";
            report.notes.push(only.into());
        }
        let mut detail = vec![self.difference(&ctx.config.zone)];
        detail.extend(self.met.iter().map(ToString::to_string));
        Ok(("planned", detail.join("; ")))
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let noted = report.notes.len();
        let is_whole = match &self.cut {
            Some(cut) => split_series(ctx, self, cut, report).await?,
            None => {
                write_change(ctx, self, report).await?;
                true
            }
        };
        if is_whole {
            report.clashing += usize::from(!self.met.is_empty());
            let mut notes = self.met.clone();
            if !self.target.event.own {
                notes.push("it has another organizer: only your copy was changed".into());
            }
            notes.extend(self.exception_notes.iter().cloned());
            report.notes.splice(noted..noted, notes);
        }
        Ok(())
    }
}

/// Writes a change that is not a split.
async fn write_change(ctx: &Context, ready: &ReadyChange, report: &mut WriteReport) -> Result<()> {
    let ReadyChange { target, change, notify, .. } = ready;
    let own = &target.owner.account.email;
    let before = guests_reached(target, *notify).await;
    let recipients = notified(&before, change.guests.as_ref(), own, *notify);
    let entry = AuditEntry::new(own, LoggedTool::CALENDAR_SAVE, "update")
        .with_id(&target.handle)
        .with_recipients(recipients);
    // Read before the write, which may give the occurrences new ids.
    let is_visible = occurrences::is_visible(change);
    let known = if is_visible {
        occurrences::known_before(ctx, &target.owner, &target.event, None).await
    } else {
        Vec::new()
    };
    let write = target.owner.port.update(&target.event, change, *notify);
    let write = async { write.await.map(Some) };
    let logged = LoggedWrite { target, change: Some(change), entry, can_undo: true };
    match write_event(ctx, logged, report, write).await {
        Ok(Some(event)) if is_visible => {
            report.series.knew(known);
            report.add_event(&target.owner, &event);
        }
        Ok(event) => report.events.extend(event.map(|event| (target.owner.clone(), event))),
        Err(error) => return Err(write_error(ctx, target, error).await),
    }
    Ok(())
}
