//! `daysheet convert`: a file of JSON, TOON or STC in another of them.
//!
//! Between JSON and STC nothing is lost. TOON has less, and what it cannot say
//! is refused, with the place.

use std::path::Path;
use std::process::ExitCode;

use super::notation::{self, Notation, Problem};
use crate::encode::stc::Version;
use crate::encode::stc::write::write;
use crate::error::{self, Error};

/// What a file is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Toon,
    Json,
    Stc(Version),
}

/// Prints `file` (`-` is stdin) in another notation.
pub(super) fn run(file: &Path, from: Option<Notation>, to: To) -> error::Result<ExitCode> {
    let text = notation::text(file)?;
    let converted = convert(&text, from, to).map_err(|problem| {
        let Problem { line, column, message } = problem;
        Error::argument(format!("{}:{line}:{column}: {message}", file.display()))
    })?;
    // A document means the same in another notation, whatever is in it.
    super::print(&converted);
    Ok(ExitCode::SUCCESS)
}

fn convert(text: &str, from: Option<Notation>, to: To) -> Result<String, Problem> {
    let read = notation::read(text, from)?;
    match to {
        To::Json => Ok(read.value.to_json()),
        To::Stc(version) => Ok(write(&read.value, version)),
        To::Toon => notation::to_toon(text, &read),
    }
}
