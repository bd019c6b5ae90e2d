//! `daysheet convert`: a file of JSON, TOON or STC in another of them.
//!
//! Between JSON and STC nothing is lost. TOON has less, and what it cannot say
//! is refused, with the place.

use std::path::Path;
use std::process::ExitCode;

use daysheet_core::encode::stc::StcVersion;
use daysheet_core::encode::stc::write::write;
use daysheet_core::error::{self, Error};

use super::notation::{self, FileNotation, NotationProblem};

/// What a file is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConvertTarget {
    Toon,
    Json,
    Stc(StcVersion),
}

/// Prints `file` (`-` is stdin) in another notation.
pub(super) fn run(
    file: &Path,
    from: Option<FileNotation>,
    to: ConvertTarget,
) -> error::Result<ExitCode> {
    let text = notation::text(file)?;
    let converted = convert(&text, from, to).map_err(|problem| {
        let NotationProblem { line, column, message } = problem;
        Error::argument(format!("{}:{line}:{column}: {message}", file.display()))
    })?;
    // A document means the same in another notation, whatever is in it.
    super::print(&converted);
    Ok(ExitCode::SUCCESS)
}

fn convert(
    text: &str,
    from: Option<FileNotation>,
    to: ConvertTarget,
) -> Result<String, NotationProblem> {
    let read = notation::read(text, from)?;
    match to {
        ConvertTarget::Json => Ok(read.value.to_json()),
        ConvertTarget::Stc(version) => Ok(write(&read.value, version)),
        ConvertTarget::Toon => notation::to_toon(text, &read),
    }
}
