//! Accounts without an interactive sign-in: their tokens come from a command, or from Google by the
//! key of a service account.

use std::path::Path;

use daysheet::app::App;
use daysheet::config::{Config, ServiceAccount};
use daysheet_sandbox::{Sandbox, SandboxOptions};
use oauth2::ClientSecret;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::{GOOGLE, ME, MICROSOFT, User};
use crate::common::clock;
use crate::common::harness::call;
use crate::support;

/// The private key whose public half is in the sandbox.
const KEY: &str = include_str!("../../fixtures/service_account.pem");
const ACCOUNT: &str = "daysheet@sandbox.iam.gserviceaccount.com";

/// The answer to [`search`].
const FOUND: &str = "next: p1\nmessages[1\t]{id}:\n  m1";

const WITHOUT_A_PAGE: &str = "signed in as the settings say, without a page";

/// Returns the answer about a successful change of the account.
fn outcome(op: &str, detail: &str) -> String {
    format!("outcomes[1\t]{{item\top\tresult\tdetail}}:\n  {ME}\t{op}\tdone\t{detail}")
}

/// Starts a sandbox without sign-ins, and returns settings for it.
async fn sandbox() -> (TempDir, Sandbox, Config) {
    let home = TempDir::new().unwrap();
    let sandbox = Sandbox::start(SandboxOptions::new(clock::clock())).await.unwrap();
    let mut config = support::config(home.path(), &[]);
    config.use_sandbox(sandbox.base()).unwrap();
    (home, sandbox, config)
}

pub fn service_account() -> ServiceAccount {
    let key = ClientSecret::new(KEY.to_owned());
    ServiceAccount { email: ACCOUNT.to_owned(), key, key_id: Some("key-1".to_owned()) }
}

/// Calls a tool; returns its first block, or the error after `! `.
async fn answer(app: &App, tool: &str, arguments: Value) -> String {
    match call(
        &app.pipeline,
        tool,
        arguments,
        app.config.format,
        &daysheet_core::call::client::NonInteractive,
    )
    .await
    {
        Ok(blocks) => blocks[0].clone(),
        Err(error) => format!("! {error}"),
    }
}

async fn search(app: &App) -> String {
    answer(app, "mail_search", json!({"limit": 1, "fields": "id"})).await
}

fn command(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test]
async fn token_command_stands_for_a_sign_in() {
    for (provider, at, scope) in [
        ("google", &GOOGLE, "https://www.googleapis.com/auth/gmail.modify"),
        ("microsoft", &MICROSOFT, "Mail.ReadWrite User.Read offline_access"),
    ] {
        let (home, sandbox, mut config) = sandbox().await;
        let file = home.path().join("token");
        let words = command(&["cat", file.to_str().unwrap()]);
        config.token_commands.insert(format!("{provider}:{ME}"), words);
        let app = App::new(config);
        let person = User::nobody(sandbox.base());
        let new = async |as_json: bool| {
            let token = person.token_of(at, ME, scope).await;
            let object = json!({"access_token": token, "expires_in": 3600}).to_string();
            std::fs::write(&file, if as_json { object } else { format!("{token}\n") }).unwrap();
        };
        new(false).await;
        let add = json!({"op": "add", "provider": provider, "account": ME});
        let added = answer(&app, "accounts", add).await;
        assert_eq!(added, outcome("add", WITHOUT_A_PAGE));
        assert_eq!(search(&app).await, FOUND);
        // The command prints a new token when one is needed.
        sandbox.expire_access_tokens();
        new(true).await;
        assert_eq!(search(&app).await, FOUND);
        // The command prints the old token, which is refused.
        sandbox.expire_access_tokens();
        assert!(search(&app).await.starts_with("! "), "{}", search(&app).await);
        let removed = answer(&app, "accounts", json!({"op": "remove", "account": ME})).await;
        assert_eq!(
            removed,
            outcome("remove", "the tokens are deleted; the settings can get new ones")
        );
        // Tokens of another person belong to another account.
        let other = "mira@lindqvist-lamps.example";
        std::fs::write(&file, person.token_of(at, other, scope).await).unwrap();
        let add = json!({"op": "add", "provider": provider, "account": ME});
        let added = answer(&app, "accounts", add).await;
        assert_eq!(
            added,
            format!(
                "! the token for `{ME}` is one of `{other}`: correct the address, in the settings \
                 too"
            )
        );
    }
}

#[tokio::test]
async fn service_account_acts_for_users_of_its_domain() {
    let (_home, sandbox, mut config) = sandbox().await;
    config.google_service_account = Some(service_account());
    let app = App::new(config.clone());
    let add = |mailbox: &str| json!({"op": "add", "provider": "google", "mailbox": mailbox});
    let added = answer(&app, "accounts", add("Mira@example.com")).await;
    assert_eq!(added, outcome("add", WITHOUT_A_PAGE));
    assert_eq!(search(&app).await, FOUND);
    sandbox.expire_access_tokens();
    assert_eq!(search(&app).await, FOUND);
    let account = &app.accounts.list().await.unwrap()[0];
    assert_eq!((account.email.as_str(), account.via.as_deref()), (ME, Some(ACCOUNT)));
    let nobody = answer(&app, "accounts", add("nobody@example.com")).await;
    let expected = format!(
        "! Google does not accept {ACCOUNT} for nobody@example.com: check the address, the clock \
         of this machine, and that the key was not deleted in Google's console"
    );
    assert_eq!(nobody, expected);
    // If the settings no longer name the key, the account remains and reports that.
    let rest = App::new(Config { google_service_account: None, ..config });
    sandbox.expire_access_tokens();
    let missing = "! the settings no longer say how to get tokens for mira@example.com: restore \
                   `token_command` or `google.service_account`, or run `daysheet account add google \
                   --mailbox mira@example.com`";
    assert_eq!(search(&rest).await, missing);
    let without = "! Gmail cannot open a mailbox with another sign-in: sign in to that mailbox \
                   itself, or set google.service_account (docs/guide/setup-google.md)";
    assert_eq!(answer(&rest, "accounts", add(ME)).await, without);
}

/// Writes a key file in the form of Google's console.
pub fn key_file(folder: &Path) -> String {
    let file = folder.join("key.json");
    let key = json!({"type": "service_account", "client_email": ACCOUNT, "private_key": KEY,
                     "private_key_id": "key-1"});
    std::fs::write(&file, key.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}
