//! `calendar_search`: which events are asked for.

use serde_json::Value;

use super::args::Args;
use super::request::{Columns, columns};
use crate::error::{Error, Result};
use crate::schemas::EVENT;

/// The most events that one call shows by their ids.
const MOST_IDS: usize = 50;

/// Events as asked for; what is not said is `None`, because a cursor may say it.
/// Times are as written: they depend on now and on the zone.
#[derive(Debug, Clone, Default)]
pub struct Agenda {
    /// From when.
    pub from: Option<String>,
    /// Until when; a day is meant whole.
    pub to: Option<String>,
    /// Words to find.
    pub q: Option<String>,
    /// These events and no others.
    pub ids: Vec<String>,
    /// The account by address.
    pub account: Option<String>,
    /// Calendars by name or id; all that are shown if empty.
    pub calendars: Vec<String>,
    /// Recurring events once each instead of their occurrences.
    pub series: bool,
    /// The zone to tell times in, and to read them in.
    pub tz: Option<String>,
    /// The columns, or a level of them.
    pub columns: Option<Columns>,
    /// As an iCalendar document instead of rows.
    pub ics: bool,
    /// Rows per page.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

pub(super) fn read(args: &Args) -> Result<Agenda> {
    let columns = columns(args, &EVENT)?;
    let cursor = args.text("cursor")?;
    if let Some(cursor) = &cursor {
        // It knows what was asked; other arguments would say something else.
        for name in ["from", "to", "q", "ids", "account", "calendars", "series", "tz", "as"] {
            if said(args, name) {
                return Err(Error::argument(format!(
                    "`{name}` is given beside the cursor `{}`",
                    crate::text::brief(cursor)
                ))
                .next("give the cursor alone, or search without it"));
            }
        }
    }
    let mut ids: Vec<String> = Vec::new();
    for id in args.list("ids")?.unwrap_or_default() {
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.len() > MOST_IDS {
        return Err(Error::argument(format!("`ids` has {} ids, more than {MOST_IDS}", ids.len()))
            .next("ask for them in several calls"));
    }
    if !ids.is_empty() {
        for name in ["from", "to", "q", "calendars", "series"] {
            if args.arg(name).is_some() {
                return Err(Error::argument(format!("`{name}` is given beside `ids`"))
                    .next("give `ids` alone, or search without them"));
            }
        }
    }
    Ok(Agenda {
        from: args.text("from")?,
        to: args.text("to")?,
        q: args.text("q")?,
        ids,
        account: args.text("account")?,
        calendars: args.list("calendars")?.unwrap_or_default(),
        series: args.switch("series")?,
        tz: args.text("tz")?,
        columns,
        ics: args.choice("as")? == Some("ics"),
        limit: args.number("limit")?,
        cursor,
    })
}

/// True when an argument says something; a client may send its default.
fn said(args: &Args, name: &str) -> bool {
    args.arg(name).is_some_and(|(_, value)| match value {
        Value::Bool(flag) => *flag,
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => name != "as" || text != "rows",
        _ => true,
    })
}
