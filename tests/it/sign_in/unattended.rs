//! Accounts without an interactive sign-in: their tokens come from a command, or from Google by the
//! key of a service account.

use std::path::Path;

use daysheet::app::App;
use daysheet::config::{Config, ServiceAccount};
use daysheet::pipeline::BegunSignIn;
use daysheet::tools::accounts::SignInArguments;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use oauth2::ClientSecret;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::outcome::Mira;
use super::token_server::{Answer, TokenServer};
use crate::common::client::{GOOGLE, ME, MICROSOFT, User};
use crate::common::clock;
use crate::common::harness::call;
use crate::support;

/// The private key whose public half is in the sandbox.
const KEY: &str = include_str!("../../fixtures/service_account.pem");
const ACCOUNT: &str = "daysheet@sandbox.iam.gserviceaccount.com";

/// Starts a sandbox without sign-ins, and returns settings for it.
async fn sandbox() -> (TempDir, Sandbox, Config) {
    let home = TempDir::new().unwrap();
    let sandbox = Sandbox::start(SandboxOptions::new(clock::clock())).await.unwrap();
    let mut config = support::config(home.path(), &[]);
    config.use_sandbox(sandbox.base()).unwrap();
    (home, sandbox, config)
}

fn service_account() -> ServiceAccount {
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
        assert!(added.contains("add\tdone\tsigned in as the settings say"), "{added}");
        assert!(search(&app).await.contains("m1"));
        // The command prints a new token when one is needed.
        sandbox.expire_access_tokens();
        new(true).await;
        assert!(search(&app).await.contains("m1"));
        // The command prints the old token, which is refused.
        sandbox.expire_access_tokens();
        assert!(search(&app).await.starts_with("! "), "{}", search(&app).await);
        let removed = answer(&app, "accounts", json!({"op": "remove", "account": ME})).await;
        assert!(removed.contains("the tokens are deleted; the settings can get new ones"));
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
async fn failing_token_commands_are_explained_without_their_output() {
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    for (words, expected) in cases! {
        &["/nowhere/token"][..],
            "could not be started (entity not found): give the full path of its program in \
             `token_command`";
        &["sh", "-c", "echo hunter2; echo hunter2 >&2; exit 3"],
            "failed with code 3: run it in a terminal to see why: its own sign-in may have ended";
        &["true"], "printed no access token: it must print the token alone, or JSON with \
            `access_token` and `expires_in`, as gcloud and az do";
        &["echo", "hunter2 hunter2"], "printed no access token";
        &["echo", r#"{"token": 3, "hunter2": 1}"#], "printed no access token";
        &["sh", "-c", "head -c 70000 /dev/zero | tr '\\0' x"], "printed no access token";
    } {
        let mut config = server.config();
        config.token_commands.insert("google:mira@example.com".to_owned(), command(words));
        let add = SignInArguments {
            provider: "google".to_owned(),
            address: Some("Mira@example.com".to_owned()),
            ..SignInArguments::default()
        };
        let error = BegunSignIn::start(&config, &Mira, &add).await.unwrap_err().to_string();
        let expected = format!("the token command of google:mira@example.com {expected}");
        assert!(error.starts_with(&expected), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn service_account_acts_for_users_of_its_domain() {
    let (_home, sandbox, mut config) = sandbox().await;
    config.google_service_account = Some(service_account());
    let app = App::new(config.clone());
    let add = |mailbox: &str| json!({"op": "add", "provider": "google", "mailbox": mailbox});
    let added = answer(&app, "accounts", add("Mira@example.com")).await;
    assert!(added.contains("mira@example.com\tadd\tdone"), "{added}");
    assert!(search(&app).await.contains("m1"));
    sandbox.expire_access_tokens();
    assert!(search(&app).await.contains("m1"));
    let account = &app.accounts.list().await.unwrap()[0];
    assert_eq!((account.email.as_str(), account.via.as_deref()), (ME, Some(ACCOUNT)));
    let nobody = answer(&app, "accounts", add("nobody@example.com")).await;
    let expected = format!("! Google does not accept {ACCOUNT} for nobody@example.com: check");
    assert!(nobody.starts_with(&expected), "{nobody}");
    // If the settings no longer name the key, the account remains and reports that.
    let rest = App::new(Config { google_service_account: None, ..config });
    sandbox.expire_access_tokens();
    let missing = search(&rest).await;
    assert!(missing.contains("the settings no longer say how to get tokens"), "{missing}");
    let without = answer(&rest, "accounts", add(ME)).await;
    assert!(without.contains("set google.service_account (docs/setup-google.md)"), "{without}");
}

#[tokio::test]
async fn refusals_of_service_accounts_are_explained() {
    for (code, expected) in cases! {
        "unauthorized_client", "may not act for mira@example.com: let an administrator";
        "invalid_scope", "may not have the requested scopes: let an administrator";
        "invalid_grant", "for mira@example.com: check the address, the clock";
        "odd", "for mira@example.com: see docs/setup-google.md";
    } {
        let server = TokenServer::start(move |_, _| Answer::error(code)).await;
        let mut config = server.config();
        config.google_service_account = Some(service_account());
        let add = SignInArguments {
            provider: "google".to_owned(),
            mailbox: Some("mira@example.com".to_owned()),
            ..SignInArguments::default()
        };
        let error = BegunSignIn::start(&config, &Mira, &add).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let form = &server.forms()[0];
        assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
        assert_eq!(form["assertion"].split('.').count(), 3);
        config.google_service_account.as_mut().unwrap().key = ClientSecret::new("x".to_owned());
        let error = BegunSignIn::start(&config, &Mira, &add).await.unwrap_err().to_string();
        assert!(error.starts_with("the private key of the service account is not usable"));
    }
}

/// Writes a key file in the form of Google's console.
pub fn key_file(folder: &Path) -> String {
    let file = folder.join("key.json");
    let key = json!({"type": "service_account", "client_email": ACCOUNT, "private_key": KEY,
                     "private_key_id": "key-1"});
    std::fs::write(&file, key.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}
