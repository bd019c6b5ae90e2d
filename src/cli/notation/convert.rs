//! `daysheet convert`: conversion of a file between JSON, TOON and STC.
//!
//! Conversion between JSON and STC is lossless. TOON expresses less: a value that it cannot express
//! is refused, with its place.

use std::path::Path;
use std::process::ExitCode;

use daysheet_core::encode::stc::StcVersion;
use daysheet_core::encode::stc::write::write;
use daysheet_core::error::{self, Error};

use crate::cli::notation::{self, FileNotation, NotationProblem};

/// The notation to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum ConvertTarget {
    Toon,
    Json,
    Stc(StcVersion),
}

/// Prints `file` (`-` is stdin) in another notation.
pub(in crate::cli) fn run(
    file: &Path,
    from: Option<FileNotation>,
    to: ConvertTarget,
) -> error::Result<ExitCode> {
    let text = notation::text(file)?;
    let converted = convert(&text, from, to).map_err(|problem| {
        let NotationProblem { line, column, message } = problem;
        Error::argument(format!("{}:{line}:{column}: {message}", file.display()))
    })?;
    // Unchanged: removing control characters, as `say!` does, would change the document.
    crate::cli::output::print(&converted);
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
