//! The `daysheet` program: hands the command line to the library and turns the
//! outcome into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    daysheet::cli::main()
}
