//! `output_read`: which lines of an answer that was shortened.

use super::args::Args;
use crate::error::Result;

/// Lines of an output as asked for.
#[derive(Debug, Clone, Default)]
pub struct OutputRead {
    /// The output's id, as notes and markers give it.
    pub id: String,
    /// The first line, counted from 1.
    pub offset: Option<u32>,
    /// How many lines.
    pub limit: Option<u32>,
    /// Only lines that match, with those around them.
    pub grep: Option<String>,
    /// The most tokens of the answer.
    pub budget: Option<u32>,
}

pub(super) fn read(args: &Args) -> Result<OutputRead> {
    Ok(OutputRead {
        id: args.text("id")?.unwrap_or_default(),
        offset: args.number("offset")?,
        limit: args.number("limit")?,
        grep: args.text("grep")?,
        budget: args.number("budget")?,
    })
}
