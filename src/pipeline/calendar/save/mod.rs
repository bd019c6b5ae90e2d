//! `calendar_save`: writes events safely.
//!
//! Everything is checked for all events before the first is written. A write is carried
//! out once and never repeated; the answer reports what the service has afterwards.

mod change;
pub(in crate::pipeline) mod clash;
mod create;
mod destination;
mod exceptions;
mod follow;
mod import;
mod make;
mod series;
mod source;
mod span;

pub(super) use change::reference;
pub(super) use create::unsaid;
pub(super) use follow::cut;
pub(super) use source::change as change_of;
pub(super) use span::{Before, read};

use crate::budget::Response;
use crate::client::{ClientPrompts, MaybeDryRun};
use crate::error::Result;
use crate::pipeline::context::Context;
use crate::time_parse::TimeContext;
use crate::tools::save::Save;

/// The tool, as the audit log names it.
pub(super) const TOOL: &str = "calendar_save";

impl Context {
    pub(in crate::pipeline) async fn save_events(
        &self,
        request: Save,
        caller: &dyn ClientPrompts,
    ) -> Result<Response> {
        // A dry run is refused as the real call would be, and asks nobody.
        if let Some(undo) = &request.undo {
            return self.undo(undo, request.dry_run, caller).await;
        }
        let caller = &MaybeDryRun { caller, dry_run: request.dry_run };
        match (&request.ics, request.changes().is_empty()) {
            (Some(ics), _) => self.import(ics, &request, caller).await,
            (None, true) => self.create_events(&request, caller).await,
            (None, false) => self.change_events(&request, caller).await,
        }
    }

    /// Returns the current time, and the zone of the user.
    pub(in crate::pipeline) fn here(&self) -> TimeContext {
        let clock = self.date_context();
        TimeContext { now: clock.now, zone: clock.zone, named: false }
    }
}
