//! `daysheet approve`: shows the writes that wait for the user's approval, and asks about each in
//! the terminal.

use std::io::IsTerminal;
use std::process::ExitCode;

use daysheet_core::error::{Error, Result};
use daysheet_core::text::{TextKind, shown};

use crate::config::Config;
use crate::store::{ApprovalDecision, Store, WaitingWrite};

/// Asks about all waiting writes, the oldest first.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) without a terminal, because a
/// program must not answer for the user.
pub(in crate::cli) async fn run(config: Config) -> Result<ExitCode> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(Error::argument("approvals are given by a person in a terminal")
            .next("run `daysheet approve` in a terminal of your own"));
    }
    let store = Store::new(&config);
    let outcome = ask_about_all(&store, &config).await;
    store.close().await;
    outcome
}

async fn ask_about_all(store: &Store, config: &Config) -> Result<ExitCode> {
    let waiting = store.waiting_writes().await?;
    if waiting.is_empty() {
        say!("Nothing waits for your approval.");
    }
    for (id, write) in waiting.into_iter().rev() {
        eprint!("{}", question(&write, config));
        let mut answer = String::new();
        let ended = std::io::stdin().read_line(&mut answer).is_ok_and(|bytes| bytes == 0);
        let decision = match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => ApprovalDecision::Approved,
            "n" | "no" => ApprovalDecision::Refused,
            _ if ended => return Ok(ExitCode::FAILURE),
            _ => {
                say!("Skipped; it still waits.");
                continue;
            }
        };
        match (store.record_decision(&id, decision).await?, decision) {
            (false, _) => say!("It no longer waits: nothing was decided."),
            (true, ApprovalDecision::Approved) => {
                say!("Approved. Ask your assistant to repeat the call within ten minutes.");
            }
            (true, ApprovalDecision::Refused) => say!("Refused."),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the question about a write.
fn question(write: &WaitingWrite, config: &Config) -> String {
    let until = jiff::Timestamp::from_second(write.until).unwrap_or_default();
    let until = until.to_zoned(config.zone.clone()).strftime("%H:%M");
    let content = if write.content.is_empty() {
        String::new()
    } else {
        format!("\n---\n{}\n---", write.content.trim_end())
    };
    let text = format!("{}{content}", write.question);
    format!(
        "{}\nApprove until {until}? [y] approve, [n] refuse, [Enter] skip: ",
        shown(&text, TextKind::Lines)
    )
}
