//! The adapters over the sandbox, which stores writes: the same steps at both providers, and the
//! features of each.

use daysheet_core::clock::Clock;
use daysheet_sandbox::SandboxOptions;

use crate::common::clock;
use crate::tap::{GMAIL, OUTLOOK, Tapped};

mod calendar;
mod mail;

/// The other mailbox of the sample.
const OTHER: &str = "mira@lindqvist-lamps.example";

/// The two providers, each over the sample mailboxes, with calendars that are empty.
async fn both() -> [Tapped; 2] {
    both_at(clock::clock()).await
}

/// The same with another clock.
async fn both_at(clock: Clock) -> [Tapped; 2] {
    let empty = tempfile::tempdir().unwrap();
    let options = || SandboxOptions {
        calendar: Some(empty.path().to_path_buf()),
        ..SandboxOptions::new(clock.clone())
    };
    [
        Tapped::over("google", GMAIL, options()).await,
        Tapped::over("microsoft", OUTLOOK, options()).await,
    ]
}
