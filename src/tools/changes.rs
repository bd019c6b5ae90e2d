//! `changes`: since when, and of what.

use super::args::Args;
use crate::error::{Error, Result};
use crate::text::brief;

/// Changes as asked for.
#[derive(Debug, Clone)]
pub struct ChangesOf {
    /// Since when; from now on without it.
    pub cursor: Option<String>,
    /// Of mail.
    pub mail: bool,
    /// Of calendars.
    pub events: bool,
    /// The account by address.
    pub account: Option<String>,
    /// The most rows.
    pub limit: Option<u32>,
}

pub(super) fn read(args: &Args) -> Result<ChangesOf> {
    let kinds = args.list("kinds")?.unwrap_or_default();
    let (mut mail, mut events) = (kinds.is_empty(), kinds.is_empty());
    for kind in &kinds {
        match kind.as_str() {
            "mail" | "messages" => mail = true,
            "events" | "calendar" => events = true,
            other => {
                return Err(Error::argument(format!("`{}` is no kind", brief(other)))
                    .next("use some of: mail, events"));
            }
        }
    }
    Ok(ChangesOf {
        cursor: args.text("cursor")?,
        mail,
        events,
        account: args.text("account")?,
        limit: args.number("limit")?,
    })
}
