//! `daysheet account`: signing in and out at a terminal.

use std::process::ExitCode;

use tokio::io::{AsyncBufReadExt, BufReader};

use super::app::App;
use crate::config::Config;
use crate::error::Result;
use crate::oauth::SignIn;
use crate::pipeline;

/// Signs an account in through its provider's page.
pub(super) async fn add(
    config: Config,
    provider: &str,
    no_browser: bool,
    hint: Option<&str>,
) -> Result<ExitCode> {
    let app = App::new(config);
    let scopes = app.connect.scopes(provider)?;
    let sign_in = SignIn::start(&app.config, provider, scopes, hint).await?;
    let no_browser = no_browser || !app.config.browser;
    let opened = !no_browser && open::that_detached(sign_in.url()).is_ok();
    if opened {
        say!("Sign in on the page that opened in the browser. If none did, open:");
    } else {
        say!("Open this address in a browser and sign in:");
    }
    say!("{}", sign_in.url());
    if no_browser {
        say!(
            "On another machine, the page ends on an address at 127.0.0.1 that does not load: paste it here."
        );
    }
    let paster = sign_in.paster();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let waiting = sign_in.wait();
    tokio::pin!(waiting);
    let mut listening = no_browser;
    let tokens = loop {
        tokio::select! {
            tokens = &mut waiting => break tokens?,
            line = lines.next_line(), if listening => match line {
                Ok(Some(line)) if line.trim().is_empty() => {}
                Ok(Some(line)) => {
                    // What was pasted may be wrong; the page may still come back.
                    if let Err(error) = paster.paste(&line).await {
                        eprintln!("daysheet: {error}");
                    }
                }
                _ => listening = false,
            },
        }
    };
    let finished = pipeline::finish(&app.accounts, &*app.connect, tokens).await?;
    say!("Signed in: {}", finished.email);
    Ok(ExitCode::SUCCESS)
}

/// Lists who is signed in.
pub(super) async fn list(config: Config) -> Result<ExitCode> {
    let accounts = App::new(config).accounts.list().await?;
    if accounts.is_empty() {
        say!("No account is signed in. Run `daysheet account add google`.");
    }
    for account in accounts {
        let problem = account
            .problem
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        say!(
            "{}\t{}\t{}{problem}",
            account.email,
            account.provider,
            account.status
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Signs an account out.
pub(super) async fn remove(config: Config, name: &str) -> Result<ExitCode> {
    let app = App::new(config);
    match app.accounts.remove(name).await? {
        None => say!("Signed out: {name}"),
        Some(why) => say!(
            "Signed out: {name} (tokens are forgotten, but the grant could not be revoked: {why})"
        ),
    }
    Ok(ExitCode::SUCCESS)
}
