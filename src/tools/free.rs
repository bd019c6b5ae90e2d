//! `calendar_free`: whose time is asked about.

use super::args::Args;
use crate::error::{Error, Result};
use crate::text::brief;

/// The most people that one call asks about.
const MOST_PEOPLE: usize = 50;

/// Free time as asked for; times are as written.
#[derive(Debug, Clone)]
pub struct Free {
    /// Addresses; the accounts' owners if empty.
    pub who: Vec<String>,
    /// From when; now if not said.
    pub from: Option<String>,
    /// Until when.
    pub to: Option<String>,
    /// How long the meeting is; only busy times are told without it.
    pub duration: Option<String>,
    /// Working hours, as `9-17`.
    pub hours: Option<String>,
    /// The zone to tell times in.
    pub tz: Option<String>,
    /// The account by address.
    pub account: Option<String>,
    /// The most slots.
    pub limit: Option<u32>,
}

pub(super) fn read(args: &Args) -> Result<Free> {
    let who: Vec<String> = args.list("who")?.unwrap_or_default();
    let who: Vec<String> = who.into_iter().filter(|one| !one.is_empty()).collect();
    if let Some(bad) = who.iter().find(|one| !is_address(one)) {
        return Err(Error::argument(format!("`{}` is not an address", brief(bad)))
            .next("give whole addresses, or `me`; lookup kind=contacts finds them by name"));
    }
    if who.len() > MOST_PEOPLE {
        return Err(Error::argument(format!("{} people are more than {MOST_PEOPLE}", who.len()))
            .next("ask about fewer"));
    }
    if args.arg("hours").is_some() && args.arg("duration").is_none() {
        return Err(Error::argument("`hours` are those of slots")
            .next("add a `duration`, or leave them out"));
    }
    Ok(Free {
        who,
        from: args.text("from")?,
        to: args.text("to")?,
        duration: args.text("duration")?,
        hours: args.text("hours")?,
        tz: args.text("tz")?,
        account: args.text("account")?,
        limit: args.number("limit")?,
    })
}

/// True for `me` and for what could be an address.
fn is_address(said: &str) -> bool {
    let whole = |(local, domain): (&str, &str)| !local.is_empty() && !domain.is_empty();
    let plain = !said.contains(|c: char| c.is_whitespace() || c.is_control() || "<>,;".contains(c));
    said.eq_ignore_ascii_case("me") || plain && said.rsplit_once('@').is_some_and(whole)
}
