//! The times of a call: now, and the zone of the user or the one that an argument names.

use daysheet_core::error::Result;
use daysheet_core::time_parse::{self, TimeContext};
use jiff::tz::TimeZone;

use super::context::Context;

/// Returns the current time, and the zone of the user.
pub(super) fn time_context(ctx: &Context) -> TimeContext {
    let clock = ctx.date_context();
    TimeContext { now: clock.now, zone: clock.zone, named: false }
}

/// Returns the zone of that name, or the user's own.
pub(super) fn requested_zone(ctx: &Context, name: Option<&str>) -> Result<TimeZone> {
    let Some(name) = name else {
        return Ok(ctx.config.zone.clone());
    };
    time_parse::zone(name).map_err(|error| error.context("`tz`"))
}
