//! `calendar_save`: writes events safely.
//!
//! All events are checked before the first is written. A write is carried out once and never
//! repeated; the answer reports the resulting state at the service.

pub(super) mod change;
pub(crate) mod clash;
pub(crate) mod create;
pub(crate) mod destination;
pub(super) mod exceptions;
pub(super) mod follow;
mod import;
mod import_item;
mod make;
pub(crate) mod ready;
mod series;
pub(super) mod source;
pub(crate) mod span;
pub(crate) mod split;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::Result;

use self::change::change_events;
use self::create::create_events;
use self::import::import_events;
use crate::pipeline::context::Context;
use crate::tools::calendar_save::CalendarSave;

pub(crate) async fn calendar_save(
    ctx: &Context,
    request: CalendarSave,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    match (&request.ics, request.changes().is_empty()) {
        (Some(ics), _) => import_events(ctx, ics, &request, caller).await,
        (None, true) => create_events(ctx, &request, caller).await,
        (None, false) => change_events(ctx, &request, caller).await,
    }
}
