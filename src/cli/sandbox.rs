//! `daysheet sandbox`: the sandbox on a port of its own, until it is ended.

use std::io::IsTerminal;
use std::process::ExitCode;

use daysheet_core::error::Result;
use daysheet_sandbox::{LoadReport, Sandbox, SandboxOptions};

/// Runs until ctrl-c.
pub(super) async fn run(options: SandboxOptions) -> Result<ExitCode> {
    let progress = std::io::stderr().is_terminal();
    let sandbox = Sandbox::start(SandboxOptions { progress, ..options }).await?;
    report(sandbox.report());
    let base = sandbox.base();
    say!("sandbox at {base} for {}", sandbox.addresses().join(", "));
    for (name, path) in [
        ("DAYSHEET_GMAIL_URL", ""),
        ("DAYSHEET_GOOGLE_CALENDAR_URL", "calendar/v3/"),
        ("DAYSHEET_GOOGLE_PEOPLE_URL", ""),
        ("DAYSHEET_GOOGLE_AUTH_URL", "o/oauth2/v2/auth"),
        ("DAYSHEET_GOOGLE_TOKEN_URL", "token"),
        ("DAYSHEET_GOOGLE_REVOKE_URL", "revoke"),
        ("DAYSHEET_GRAPH_URL", "v1.0/"),
        ("DAYSHEET_MICROSOFT_AUTHORITY_URL", ""),
    ] {
        say!("export {name}={base}/{path}");
    }
    // The sandbox accepts any client, but no sign-in begins without one.
    say!("export DAYSHEET_GOOGLE_CLIENT_ID=sandbox");
    say!("export DAYSHEET_MICROSOFT_CLIENT_ID=sandbox");
    // If the signal cannot be awaited, the sandbox ends at once.
    let _ = tokio::signal::ctrl_c().await;
    Ok(ExitCode::SUCCESS)
}

/// Reports on stderr the files that could not be loaded, and those that no mailbox shows.
pub(super) fn report(report: &LoadReport) {
    for (file, why) in &report.skipped {
        eprintln!("daysheet: skipped {file}: {why}");
    }
    for address in &report.colleagues {
        eprintln!(
            "daysheet: {address} has no mailbox here, so only free and busy times of its calendars \
             can be queried: rename the folder to a mailbox's address to list their events"
        );
    }
}
