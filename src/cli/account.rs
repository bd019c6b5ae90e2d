//! `daysheet account`: signing in and out at a terminal.

use std::process::ExitCode;

use daysheet_core::error::Result;
use daysheet_core::provider::Account;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::app::App;
use crate::config::Config;
use crate::oauth::SignIn;
use crate::pipeline::BegunSignIn;
use crate::tools::accounts::SignInArguments;

/// Signs an account in, by a browser, a pasted address, or a code on another machine.
pub(super) async fn add(
    config: Config,
    add: &SignInArguments,
    no_browser: bool,
) -> Result<ExitCode> {
    let app = App::new(config);
    let begun = BegunSignIn::start(&app.config, &*app.connect, add).await?;
    // stdin is read only without a browser on this machine: a browser's redirect reaches the
    // listener by itself.
    let mut no_browser = no_browser || !app.config.browser;
    let paster = match &begun {
        BegunSignIn::Browser(sign_in) => {
            if let Some(why) = without_browser()
                && !no_browser
            {
                say_ways(why, add.provider == "microsoft");
                no_browser = true;
            }
            show(sign_in, no_browser);
            no_browser.then(|| sign_in.paster())
        }
        BegunSignIn::Unattended(..) => None,
        BegunSignIn::Device(device) => {
            say!("To sign in, {}.", device.message());
            None
        }
    };
    let finishing = begun.finish(&app.accounts, &*app.connect, add);
    tokio::pin!(finishing);
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut listening = paster;
    let finished = loop {
        let Some(paster) = &listening else {
            break finishing.await;
        };
        tokio::select! {
            finished = &mut finishing => break finished,
            line = lines.next_line() => match line {
                Ok(Some(line)) if line.trim().is_empty() => {}
                Ok(Some(line)) => {
                    // The pasted text may be wrong, and the page may still come back.
                    if let Err(error) = paster.paste(&line) {
                        eprintln!("daysheet: {error}");
                    }
                }
                // The end of stdin does not end the sign-in: the page may still come back.
                _ => listening = None,
            },
        }
    };
    // Closed before the error is returned: closing writes the database's log into its file.
    app.close().await;
    let finished = finished?;
    let Account { email, via, .. } = &finished.account;
    match via {
        Some(via) => say!("Signed in: {email}, through {via}"),
        None => say!("Signed in: {email}"),
    }
    if let Some(note) = finished.note {
        say!("Note: {note}.");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the reason why no browser can be opened here, if there is one.
pub(super) fn without_browser() -> Option<&'static str> {
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    if cfg!(any(windows, target_os = "macos")) {
        // A browser would open on the screen of that machine.
        return is_set(&"SSH_CONNECTION").then_some("this is an SSH session");
    }
    // WSL opens the browser of Windows.
    let displays = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"];
    let has_display = displays.iter().any(is_set);
    (!has_display).then_some("this session has no display")
}

/// Prints which of the three ways of signing in works without a browser.
fn say_ways(why: &str, has_device: bool) {
    say!("No browser can be opened: {why}. Of the three ways to sign in:");
    say!("- a browser on this machine: not here");
    say!(
        "- --no-browser, used now: the page is opened on any machine, and its last address pasted"
    );
    if has_device {
        say!("- --device: a code is entered on any machine, unless the organisation forbids this");
    } else {
        say!("- --device: not for this provider, which allows no mail with it");
    }
    say!();
}

/// Opens the sign-in page, or prints its address.
fn show(sign_in: &SignIn, no_browser: bool) {
    let opened = !no_browser && open::that_detached(sign_in.url()).is_ok();
    if opened {
        say!("Sign in on the page that opened in the browser. If none did, open:");
    } else {
        say!("Open this address in a browser and sign in:");
    }
    say!("{}", sign_in.url());
    if no_browser {
        say!(
            "On another machine, the page ends at an address on {} that does not load: paste it \
             here.",
            sign_in.redirect_uri()
        );
    }
}

/// Lists the signed-in accounts.
pub(super) async fn list(config: Config) -> Result<ExitCode> {
    let on_server = config.database.is_some();
    let app = App::new(config);
    let accounts = app.accounts.list().await;
    app.close().await;
    let accounts = accounts?;
    if accounts.is_empty() && on_server {
        say!(
            "No account of `local`, the person of this command line, is in the database. The \
             people of a server see and connect theirs on its page /accounts."
        );
    } else if accounts.is_empty() {
        say!(
            "No account is signed in. Run `daysheet account add google` or `daysheet account add \
             microsoft`."
        );
    }
    for account in accounts {
        let problem = account.problem.map(|why| format!(": {why}")).unwrap_or_default();
        let via = account.via.map(|via| format!(" (through {via})")).unwrap_or_default();
        say!("{}\t{}\t{}{via}{problem}", account.email, account.provider, account.status);
    }
    Ok(ExitCode::SUCCESS)
}

/// Signs an account out.
pub(super) async fn remove(config: Config, name: &str) -> Result<ExitCode> {
    let app = App::new(config);
    let outcome = app.accounts.remove(name).await;
    app.close().await;
    let outcome = outcome?;
    say!("Signed out: {name} ({outcome})");
    Ok(ExitCode::SUCCESS)
}
