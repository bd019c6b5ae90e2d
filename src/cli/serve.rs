//! `daysheet serve`: MCP over stdio, or over HTTP.

use std::process::ExitCode;

use super::Sandboxed;
use crate::app::App;
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

/// Serves over HTTP until a signal ends it.
#[cfg(feature = "http")]
pub(super) async fn run_http(
    mut config: Config,
    address: std::net::SocketAddr,
    sandboxed: &Sandboxed,
) -> Result<ExitCode> {
    use crate::error::{Error, Kind};

    let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
        Error::new(Kind::Network, format!("{address} cannot be listened at ({error})"))
    })?;
    let address = listener.local_addr().unwrap_or(address);
    config.http.listen_at(address)?;
    config.pages = config.http.public_url.clone();
    let verifier = crate::http::identity::verifier(&config, address.ip().is_loopback())?;
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    let app = std::sync::Arc::new(app);
    let service = crate::http::Service::new(app.clone(), verifier);
    eprintln!("daysheet: serving at {address}");
    let ended = service.serve(listener, terminated()).await;
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}
