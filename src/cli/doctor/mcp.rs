//! Checks of the MCP clients on this machine: whether their entry starts this program.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::finding::{CheckName, Finding, FindingState};
use crate::cli::install::clients::{CLIENTS, McpClient};
use crate::cli::install::read::{EntryStart, FoundEntry, entries};
use crate::cli::install::this_machine;

/// The time limit for a program to print its version.
const LIMIT: Duration = Duration::from_secs(5);

/// Checks the entries of all clients.
pub(super) fn clients() -> Vec<Finding> {
    let var = |name: &str| std::env::var(name).ok();
    let machine = match this_machine(&var) {
        Ok(machine) => machine,
        Err(error) => return vec![Finding::of_error(CheckName::Mcp, FindingState::Failed, &error)],
    };
    let folder = std::env::current_dir().unwrap_or_default();
    let mut found = Vec::new();
    for client in CLIENTS {
        match entries(client, &machine, &folder) {
            Ok(entries) => found.extend(of_client(client, &entries)),
            Err(error) => {
                let finding = Finding::of_error(CheckName::Mcp, FindingState::Failed, &error);
                found.push(finding.about(client.name));
            }
        }
    }
    if found.is_empty() {
        let what = "no MCP client has an entry for Daysheet";
        let next = "run `daysheet install`, which lists the clients found here";
        found.push(Finding::new(CheckName::Mcp, FindingState::Warning, what).next(next));
    }
    found
}

fn of_client(client: &McpClient, entries: &[FoundEntry]) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        entries.iter().map(|entry| of_entry(client, entry).about(client.name)).collect();
    if let [first, others @ ..] = entries
        && let Some(other) = others.iter().find(|other| other.start != first.start)
    {
        let what = format!(
            "two entries start different servers: {} and {}",
            first.file.display(),
            other.file.display()
        );
        let next = "remove one of them: which one counts depends on the folder";
        let finding = Finding::new(CheckName::Mcp, FindingState::Warning, what).next(next);
        found.push(finding.about(client.name));
    }
    found
}

fn of_entry(client: &McpClient, entry: &FoundEntry) -> Finding {
    let again = format!("run `daysheet install {}`", client.id);
    let bad = |state: FindingState, what: String| {
        Finding::new(CheckName::Mcp, state, what).next(again.clone())
    };
    let (program, args) = match &entry.start {
        Some(EntryStart::Program(program, args)) => (program, args),
        Some(EntryStart::Url(url)) => {
            let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
            return match host {
                Some(host) => Finding::good(CheckName::Mcp, format!("connects to {host}")),
                None => bad(FindingState::Failed, "the URL of the entry is not valid".to_owned()),
            };
        }
        None => return bad(FindingState::Failed, "the entry starts nothing".to_owned()),
    };
    let path = Path::new(program);
    if !path.is_absolute() {
        let what = format!("starts `{program}` by name, which needs the shell's PATH");
        return bad(FindingState::Warning, what);
    }
    let Ok(found) = path.canonicalize() else {
        return bad(FindingState::Failed, format!("starts {program}, which does not exist"));
    };
    let this = std::env::current_exe().and_then(|this| this.canonicalize());
    if this.is_ok_and(|this| this == found) {
        // Other subcommands end at once, and the client reports only a closed connection.
        return match args.first().map(String::as_str) {
            Some("serve") | None => Finding::good(CheckName::Mcp, "starts this program"),
            Some(_) => bad(FindingState::Failed, "starts this program without `serve`".to_owned()),
        };
    }
    // Other programs are not started: nobody knows what they do.
    if found.file_stem().is_none_or(|name| name != "daysheet") {
        let what = format!("starts {program}, which may not be Daysheet");
        return bad(FindingState::Warning, what);
    }
    match version(&found) {
        Some(version) if version == env!("CARGO_PKG_VERSION") => {
            Finding::good(CheckName::Mcp, format!("starts another copy, {program}"))
        }
        Some(version) => bad(
            FindingState::Warning,
            format!(
                "starts {program} of version {version}, and this one is {}",
                env!("CARGO_PKG_VERSION")
            ),
        ),
        None => bad(FindingState::Failed, format!("starts {program}, which does not run here")),
    }
}

/// Returns the version that a program of ours prints.
fn version(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if started.elapsed() > LIMIT {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().strip_prefix("daysheet ").map(str::to_owned)
}
