//! `daysheet worker`: processes untrusted bytes for the process that starts it.
//!
//! Hidden from help, because people have no use for it. It reads no settings and writes no log.

use std::io::{stdin, stdout};
use std::process::ExitCode;

use crate::worker::job;

/// Reads a job from stdin and writes its result to stdout.
pub(super) fn run() -> ExitCode {
    // A backtrace would open files, and the message of a panic may quote untrusted text.
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
