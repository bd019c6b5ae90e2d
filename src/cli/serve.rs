//! `daysheet serve`: MCP over stdio, or over HTTP; and `daysheet ui`, the pages alone.

use std::process::ExitCode;

use super::Sandboxed;
use crate::app::App;
use crate::config::Config;
use crate::error::Result;
#[cfg(feature = "http")]
use crate::error::{Error, Kind};
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
    let (listener, address) = listen(address, &mut config, sandboxed).await?;
    let verifier = crate::http::identity::verifier(&config, address.ip())?;
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    app.check_keys().await?;
    let app = std::sync::Arc::new(app);
    let service = crate::http::Service::new(app.clone(), verifier);
    eprintln!("daysheet: serving at {address}");
    let ended = tokio::select! {
        ended = service.serve(listener, terminated()) => ended,
        never = app.purge_daily() => match never {},
    };
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Listens at an address, and notes in the settings where the pages are.
#[cfg(feature = "http")]
async fn listen(
    address: std::net::SocketAddr,
    config: &mut Config,
    sandboxed: &Sandboxed,
) -> Result<(tokio::net::TcpListener, std::net::SocketAddr)> {
    if sandboxed.is_on() && config.database.is_some() {
        // People's rows would be the same with it as without.
        let what = "the sandbox's rows would be among those of people's own accounts";
        return Err(Error::new(Kind::Config, what)
            .next("leave out --sandbox, or the database (--database, DAYSHEET_DATABASE)"));
    }
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
        Error::new(Kind::Network, format!("{address} cannot be listened at ({error})"))
    })?;
    let address = listener.local_addr().unwrap_or(address);
    config.http.listen_at(address)?;
    config.pages = config.http.public_url.clone();
    Ok((listener, address))
}

/// Serves the pages on loopback for the one person of this machine, until a signal ends it.
#[cfg(feature = "http")]
pub(super) async fn run_pages(
    mut config: Config,
    port: u16,
    sandboxed: &Sandboxed,
) -> Result<ExitCode> {
    // How others are served is no matter here.
    config.http = crate::config::HttpSettings::default();
    let (listener, address) =
        listen((std::net::Ipv4Addr::LOCALHOST, port).into(), &mut config, sandboxed).await?;
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    let app = std::sync::Arc::new(app);
    let link = crate::http::pages::link(app.store()).await?;
    let link = format!("http://{address}{link}");
    match app.config.browser && open::that_detached(&link).is_ok() {
        true => say!("Your pages opened in the browser. If they did not, open:"),
        false => say!("Open this address in a browser on this machine:"),
    }
    say!("{link}");
    say!("It signs in once, within ten minutes. Press Ctrl+C to end.");
    let ended = crate::http::Service::of_pages(app.clone()).serve(listener, terminated()).await;
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}
