//! Deletes events, occurrences and series, or the rest of a series from an occurrence on.

mod plan;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::Result;
use daysheet_core::provider::calendar::GuestNotice;
use jiff::tz::TimeZone;

use self::plan::{PlannedDeletion, check_message, plan_deletions};
use super::audience::{EventWrite, event_call, find_audience, line};
use super::save::follow::shorten_series;
use super::target::{event_line, write_error};
use super::write::{LoggedWrite, no_undo, write_event};
use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::confirm::WriteAudience;
use crate::pipeline::write::log::{AuditEntry, LoggedTool};
use crate::pipeline::write::plan::{PlannedWrite, WriteCall, carry_out};
use crate::pipeline::write::report::{ItemOutcome, WriteReport};
use crate::tools::calendar_delete::CalendarDelete;

/// Deletes the events of a call.
pub(crate) async fn calendar_delete(
    ctx: &Context,
    request: CalendarDelete,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let items = plan_deletions(ctx, &request).await?;
    let unsent = request.message.is_some() && !items.iter().any(|item| item.asks);
    check_message(&request, &items)?;
    let mut report = WriteReport::notifying(request.notify);
    report.notified = report.notified.of_deletion(request.dry_run);
    report.names_undo = true;
    if unsent {
        report.notes.push("no guests, so nobody gets `message`".into());
    }
    let call = WriteCall {
        message: line("Message", request.message.as_deref()),
        ..event_call(("delete", "Delete"), caller, request.dry_run)
    };
    carry_out(ctx, &call, items, report).await
}

impl PlannedWrite for PlannedDeletion {
    fn names(&self) -> ItemNames {
        self.target.names()
    }

    fn description(&self, zone: &TimeZone) -> (String, String) {
        (event_line(&self.target.event, zone), self.part.clone().unwrap_or_default())
    }

    async fn audience(&self, ctx: &Context) -> Result<Option<WriteAudience>> {
        let is_noticed = self.notify != GuestNotice::Nobody;
        find_audience(ctx, &self.target, &EventWrite::Delete(is_noticed)).await
    }

    async fn rehearse(
        &self,
        ctx: &Context,
        report: &mut WriteReport,
    ) -> Result<(&'static str, String)> {
        let recipients = self.recipients();
        if recipients.is_empty() && !report.notified.reaches_unnamed(&self.target.event) {
            report.notes.extend(no_undo(&self.target, self.rest.as_ref()).await);
        }
        report.notified.add(&recipients, self.asks);
        report.notified.add_unnamed(&self.target.event);
        report.notes.extend(self.declined());
        Ok(("planned", self.what(&ctx.config.zone)))
    }

    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()> {
        let Self { target, rest, notify, .. } = &*self;
        let message = self.message.as_deref().filter(|_| self.asks);
        let port = &target.owner.port;
        let own = &target.owner.account.email;
        let entry = AuditEntry::new(own, LoggedTool::CALENDAR_DELETE, "delete")
            .with_id(&self.id)
            .with_recipients(self.recipients());
        let write = async {
            match rest {
                None => port.delete(&target.event, message, *notify).await.map(|()| None),
                Some(change) => shorten_series(ctx, target, change, *notify).await.map(Some),
            }
        };
        let logged = LoggedWrite { target, change: rest.as_ref(), entry, can_undo: true };
        if let Err(error) = write_event(ctx, logged, report, write).await {
            return Err(write_error(ctx, target, error).await);
        }
        report.notes.extend(self.declined());
        report.outcomes.push(ItemOutcome::new(
            self.names().outcome,
            "delete",
            "done",
            self.what(&ctx.config.zone),
        ));
        Ok(())
    }
}
