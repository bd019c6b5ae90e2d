//! `daysheet serve`: MCP over stdio or HTTP; `daysheet token`: a token for that; and `daysheet ui`:
//! only the pages.

use std::process::ExitCode;

use daysheet_core::error::Result;
#[cfg(feature = "http")]
use daysheet_core::{
    access::AccessLevel,
    error::{Error, ErrorKind},
};

use super::command::SandboxFlags;
use crate::app::App;
use crate::config::Config;
use crate::server::WRITES_END;

/// Keeps the memory of this process, which has keys and mail, out of core dumps and away from other
/// programs of the same user. Serves even if the system refuses this.
fn protect_memory() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
    // A program that processes core dumps ignores that limit (core(5)).
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Waits for a signal to end: Ctrl+C, and on Unix SIGTERM.
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
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_ok() {
        return;
    }
    // Signals cannot be received, and end the process by themselves.
    std::future::pending::<()>().await;
}

/// Serves until stdin ends, or until a signal.
pub(super) async fn run(config: Config, sandboxed: &SandboxFlags) -> Result<ExitCode> {
    protect_memory();
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    let app = std::sync::Arc::new(app);
    let server = app.server();
    #[cfg(feature = "http")]
    let server = server.approved_on(std::sync::Arc::new(approval_page(&app)));
    let calls = server.calls();
    let ended = tokio::select! {
        ended = server.serve_stdio() => ended,
        // After a signal, the process still removes its temporary files and finishes the writes
        // that it has begun.
        () = terminated() => {
            calls.finish(WRITES_END).await;
            Ok(())
        }
    };
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Returns the page on which the user of this machine approves writes.
#[cfg(feature = "http")]
fn approval_page(app: &std::sync::Arc<App>) -> crate::http::loopback::LoopbackPages {
    let browser = app.config.browser;
    let open = move |link: &str| browser && open::that_detached(link).is_ok();
    crate::http::loopback::LoopbackPages::new(app.clone(), Box::new(open))
}

/// Serves over HTTP until a signal.
#[cfg(feature = "http")]
pub(super) async fn run_http(
    mut config: Config,
    address: std::net::SocketAddr,
    sandboxed: &SandboxFlags,
) -> Result<ExitCode> {
    protect_memory();
    let (listener, address) = listen(address, &mut config, sandboxed).await?;
    let verifier = crate::http::identity::verifier(&config, address.ip())?;
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    // A wrong master key has to be found before a request seals data with it.
    app.check_keys().await?;
    let app = std::sync::Arc::new(app);
    let service = crate::http::HttpState::new(app.clone(), verifier);
    let begun = || eprintln!("daysheet: listening on {address}");
    let ended = tokio::select! {
        ended = crate::http::serve(service, listener, begun, terminated()) => ended,
        never = app.purge_daily() => match never {},
    };
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Listens on an address, and records the URL of the pages in the settings.
#[cfg(feature = "http")]
async fn listen(
    address: std::net::SocketAddr,
    config: &mut Config,
    sandboxed: &SandboxFlags,
) -> Result<(tokio::net::TcpListener, std::net::SocketAddr)> {
    if sandboxed.is_on() && config.database.is_some() {
        // The same owners would have rows with and without the sandbox.
        let what = "the sandbox's rows would be among those of people's own accounts";
        return Err(Error::new(ErrorKind::Config, what)
            .next("leave out --sandbox, or the database (--database, DAYSHEET_DATABASE)"));
    }
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
        Error::new(ErrorKind::Network, format!("cannot listen on {address} ({error})"))
    })?;
    let address = listener.local_addr().unwrap_or(address);
    config.http.listen_at(address)?;
    config.pages = config.http.public_url.clone();
    Ok((listener, address))
}

/// Serves the pages on loopback for the person of this machine, until a signal.
#[cfg(feature = "http")]
pub(super) async fn run_pages(
    mut config: Config,
    port: u16,
    sandboxed: &SandboxFlags,
) -> Result<ExitCode> {
    // The settings of a shared server do not apply here.
    config.http = crate::config::HttpSettings::default();
    let (listener, address) =
        listen((std::net::Ipv4Addr::LOCALHOST, port).into(), &mut config, sandboxed).await?;
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    let app = std::sync::Arc::new(app);
    let link = crate::http::pages::link(app.store(), "/accounts").await?;
    let link = format!("http://{address}{link}");
    if app.config.browser && open::that_detached(&link).is_ok() {
        say!("Your pages opened in the browser. If they did not, open:");
    } else {
        say!("Open this address in a browser on this machine:");
    }
    say!("{link}");
    say!("The address works once, within ten minutes. Press Ctrl+C to stop.");
    let service = crate::http::HttpState::of_pages(app.clone());
    let ended = crate::http::serve(service, listener, || (), terminated()).await;
    app.close().await;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Prints a random token for `serve --http --token-file`, and its line for that file.
#[cfg(feature = "http")]
pub(super) fn print_token(access: Option<AccessLevel>, label: Option<&str>) -> Result<ExitCode> {
    let (token, line) = daysheet_auth::new_token(access, label)?;
    say!("Token for the client (it will not be shown again):\n{token}\n");
    say!("Line for the server's token file (delete it there to withdraw the token):\n{line}");
    Ok(ExitCode::SUCCESS)
}
