//! `daysheet audit`: the audit log, one line of JSON for each of its lines.

use std::process::ExitCode;

use crate::config::Config;
use crate::error::Result;
use crate::store::{AuditLine, Store};

/// The number of lines that are read at once.
const PAGE: usize = 1_000;

/// Prints the last lines, or all, the oldest first.
pub(super) async fn run(config: Config, last: Option<usize>) -> Result<ExitCode> {
    let store = Store::new(&config);
    let mut most = last.unwrap_or(usize::MAX);
    let mut lines: Vec<AuditLine> = Vec::new();
    while most > 0 {
        let before = lines.last().map(|line| line.number);
        let page = store.audit_lines(before, most.min(PAGE)).await?;
        if page.is_empty() {
            break;
        }
        most -= page.len();
        lines.extend(page);
    }
    store.close().await;
    for line in lines.iter().rev() {
        say!("{}", line.line);
    }
    Ok(ExitCode::SUCCESS)
}
