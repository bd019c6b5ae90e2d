//! `daysheet serve`: MCP over stdio.

use std::process::ExitCode;

use super::Sandboxed;
use super::app::App;
use crate::config::Config;
use crate::error::Result;
use crate::server::WRITES_END;

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

/// Serves until stdin ends, or a signal ends it.
pub(super) async fn run(config: Config, sandboxed: &Sandboxed) -> Result<ExitCode> {
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    let server = app.server();
    let calls = server.calls();
    let ended = tokio::select! {
        ended = server.serve_stdio() => ended,
        // Ended from outside, the process still clears away what it has made, and
        // ends what it has begun to write.
        () = terminated() => {
            calls.finish(WRITES_END).await;
            Ok(())
        }
    };
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}
