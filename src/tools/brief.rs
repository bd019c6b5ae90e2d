//! `brief`: of which time, and of whom.

use super::args::Args;
use crate::error::Result;

/// A brief as asked for. Times are as written: they depend on now and on the
/// zone.
#[derive(Debug, Clone, Default)]
pub struct Brief {
    /// From when; from the beginning of today if none.
    pub from: Option<String>,
    /// Until when; a day is meant whole.
    pub to: Option<String>,
    /// The account by address; all if none.
    pub account: Option<String>,
}

pub(super) fn read(args: &Args) -> Result<Brief> {
    Ok(Brief { from: args.text("from")?, to: args.text("to")?, account: args.text("account")? })
}
