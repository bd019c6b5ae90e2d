//! `daysheet serve`: MCP over stdio.

use std::process::ExitCode;

use super::Sandboxed;
use super::app::App;
use crate::config::Config;
use crate::error::Result;

/// Waits for a request to end; for ever where there is no such thing.
async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = signal(SignalKind::terminate());
        let interrupt = signal(SignalKind::interrupt());
        if let (Ok(mut terminate), Ok(mut interrupt)) = (terminate, interrupt) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            return;
        }
    }
    std::future::pending::<()>().await;
}

/// Serves until stdin ends, or until it is told to end.
pub(super) async fn run(config: Config, sandboxed: &Sandboxed) -> Result<ExitCode> {
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    let ended = tokio::select! {
        ended = app.server().serve_stdio() => ended,
        // Ended from outside, the process still clears away what it has made.
        () = terminated() => Ok(()),
    };
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}
