//! `daysheet audit`: prints the audit log, which is lines of JSON.

use std::process::ExitCode;

use daysheet_core::error::Result;

use crate::config::Config;
use crate::store::{LOCAL, Store};

/// Prints the last lines, or all of them, oldest first: of one owner, or of all owners, with the
/// owner at the beginning of lines that do not belong to the user of this machine.
pub(super) async fn run(
    config: Config,
    last: Option<usize>,
    owner: Option<&str>,
) -> Result<ExitCode> {
    let store = Store::new(&config);
    let most = last.unwrap_or(usize::MAX);
    let lines =
        match owner {
            // All lines have the requested owner, so `LOCAL` suppresses it in front of them.
            Some(owner) => store.for_owner(owner).audit_lines(None, most).await.map(|lines| {
                lines.into_iter().rev().map(|line| (LOCAL.to_owned(), line)).collect()
            }),
            None => store.audit_of_all(most).await,
        };
    store.close().await;
    for (owner, line) in lines? {
        match line.line.strip_prefix('{') {
            // Inserted as text, so that the rest of the line stays byte for byte as recorded.
            Some(rest) if owner != LOCAL => {
                say!("{{\"owner\":{},{rest}", serde_json::Value::from(owner));
            }
            _ => say!("{}", line.line),
        }
    }
    Ok(ExitCode::SUCCESS)
}
