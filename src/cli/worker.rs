//! `daysheet worker`: does one job on a stranger's bytes, for the process that starts it.
//!
//! Hidden, because it is of no use to people. It reads no settings and writes no log.

use std::io::{stdin, stdout};
use std::process::ExitCode;

use crate::worker::job;

/// Reads a job from stdin and writes what comes of it to stdout.
pub(super) fn run() -> ExitCode {
    // A backtrace would open files, and what a panic is about may be a stranger's text.
    std::panic::set_hook(Box::new(|panic| match panic.location() {
        Some(place) => eprintln!("panicked at {place}"),
        None => eprintln!("panicked"),
    }));
    match job::run(stdin(), stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
