//! Standard output of the commands.

use std::io::{ErrorKind, Write};

/// Prints a line unchanged. If the reader of the pipe has closed it, the program ends successfully,
/// like any other in the pipe; other errors of the output end it with an error.
pub(super) fn print(line: &str) {
    if let Err(error) = writeln!(std::io::stdout(), "{line}") {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        eprintln!("daysheet: the output could not be written: {error}");
        std::process::exit(1);
    }
}
