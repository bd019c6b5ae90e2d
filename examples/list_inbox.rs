//! Lists the inboxes of the embedded sandbox, as a model receives them.
//!
//! `cargo run --example list_inbox` needs no account and leaves no files behind. [`App::new`] does
//! the same for signed-in accounts.

#![allow(clippy::print_stdout, reason = "an example shows what it got")]
// The futures of a whole session, sandbox included, nest deeper than usual.
#![recursion_limit = "256"]

use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet_core::clock::Clock;
use daysheet_sandbox::FaultRates;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Settings from nowhere but here: a state folder that goes with the program.
    let home = tempfile::tempdir()?;
    let folder = home.path().to_string_lossy().into_owned();
    let var = |name: &str| match name {
        "DAYSHEET_HOME" => Some(folder.clone()),
        "DAYSHEET_KEY_STORE" => Some("file".to_owned()),
        _ => None,
    };
    let config = Config::from(var, None, None, Clock::system())?;

    // A server over the sandbox's two mailboxes, signed in through the real flow.
    let (app, _sandbox) =
        App::sandboxed(config, None, None, FaultRates::default(), SandboxUser::Usual).await?;
    let mut client = InProcessClient::connect(app.server()).await?;

    // The answer comes in text blocks: the TOON document, then the notes.
    let answer = client.call("mail_search", json!({"q": "in:inbox", "limit": 10})).await?;
    println!("{}", answer.blocks.join("\n\n"));
    app.close().await;
    if answer.is_error { Err("the call failed".into()) } else { Ok(()) }
}
