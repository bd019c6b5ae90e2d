//! The outcome of a sign-in: the account it creates, the messages to browser and caller, and all
//! calls of the accounts tool.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daysheet::accounts::Accounts;
use daysheet::pipeline::{BegunSignIn, Pipeline};
use daysheet::store::Store;
use daysheet::tools;
use daysheet::tools::accounts::SignInArguments;
use daysheet_core::access::AccessLevel;
use daysheet_core::encode::Format;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::provider::{Mailbox, ProviderConnector};
use serde_json::{Value, json};
use url::Url;

use super::token_server::{Answer, TokenServer, get, page_text, redirect};

/// Identifies every token as Mira's, and opens one shared mailbox.
pub struct Mira;

#[async_trait]
impl ProviderConnector for Mira {
    fn mailbox(&self, _: &Account) -> Result<Arc<dyn Mailbox>> {
        Err(Error::argument("no mailbox here"))
    }

    fn calendars(&self, _: &Account) -> Result<Arc<dyn Calendars>> {
        Err(Error::argument("no calendars here"))
    }

    async fn address(&self, _: &str, token: &str, mailbox: Option<&str>) -> Result<String> {
        assert_eq!(token, "at");
        // Imitates the response time of a provider's API.
        tokio::time::sleep(Duration::from_millis(20)).await;
        match mailbox {
            None | Some("team@example.com" | "Mira@example.com") => Ok("Mira@example.com".into()),
            Some(_) => Err(Error::new(ErrorKind::NotFound, "that mailbox cannot be opened")
                .next("ask its owner to share it")),
        }
    }

    fn scopes(&self, provider: &str, shared: bool, _: AccessLevel) -> Result<Vec<&'static str>> {
        match (provider, shared) {
            ("google", true) => Err(Error::argument("not shared")),
            (_, true) => Ok(vec!["mail", "mail.shared"]),
            (_, false) => Ok(vec!["mail"]),
        }
    }
}

async fn server() -> TokenServer {
    TokenServer::start(|_, form| match form["path"].as_str() {
        path if path.ends_with("/devicecode") => Answer::new(
            "200 OK",
            r#"{"user_code":"ABCD","device_code":"d","verification_uri":"https://login.example/device","expires_in":900,"interval":0}"#,
        ),
        _ => Answer::tokens("at", Some("rt"), 3599),
    })
    .await
}

fn add(provider: &str, address: Option<&str>, mailbox: Option<&str>) -> SignInArguments {
    SignInArguments {
        provider: provider.to_owned(),
        address: address.map(str::to_owned),
        mailbox: mailbox.map(str::to_owned),
        ..SignInArguments::default()
    }
}

/// The request; the account, its `via`, and the note; the message on the page.
#[tokio::test]
async fn account_is_the_owner_of_the_tokens() {
    type Case = (
        (&'static str, Option<&'static str>, Option<&'static str>),
        std::result::Result<
            (&'static str, Option<&'static str>, Option<&'static str>),
            &'static str,
        >,
        &'static str,
    );
    let cases: &[Case] = &cases! {
        ("google", None, None), Ok(("google:mira@example.com", None, None)),
            "200 Signed in to Google as mira@example.com. You can close this page.";
        ("microsoft", Some("MIRA@example.com"), None),
            Ok(("microsoft:mira@example.com", None, None)),
            "200 Signed in to Microsoft as mira@example.com. You can close this page.";
        ("microsoft", Some("bo@example.com"), None),
            Ok((
                "microsoft:mira@example.com",
                None,
                Some(
                    "bo@example.com was to sign in, but Mira@example.com did: the account is \
                     stored as mira@example.com",
                ),
            )), "200 Signed in to Microsoft as mira@example.com. You can close this page.";
        ("microsoft", None, Some("team@example.com")),
            Ok(("microsoft:team@example.com", Some("mira@example.com"), None)),
            "200 Signed in to Microsoft as team@example.com. You can close this page.";
        ("microsoft", Some("bo@example.com"), Some("team@example.com")),
            Ok((
                "microsoft:team@example.com",
                Some("mira@example.com"),
                Some(
                    "bo@example.com was to sign in for team@example.com, but Mira@example.com did",
                ),
            )), "200 Signed in to Microsoft as team@example.com. You can close this page.";
        // The user's own mailbox is not a shared one.
        ("microsoft", None, Some("Mira@example.com")),
            Ok(("microsoft:mira@example.com", None, None)),
            "200 Signed in to Microsoft as mira@example.com. You can close this page.";
        ("microsoft", None, Some("private@example.com")),
            Err("that mailbox cannot be opened: ask its owner to share it"),
            "200 Not signed in: that mailbox cannot be opened: ask its owner to share it.";
    };
    for ((provider, address, mailbox), expected, page_says) in cases {
        let server = server().await;
        let config = server.config();
        let accounts = server.accounts();
        let add = add(provider, *address, *mailbox);
        let begun = BegunSignIn::start(&config, &Mira, &add).await.unwrap();
        let BegunSignIn::Browser(sign_in) = &begun else {
            panic!("a browser");
        };
        let scopes = if mailbox.is_some() { "mail mail.shared" } else { "mail" };
        assert_eq!(super::parameter(sign_in, "scope"), scopes);
        let redirect = redirect(sign_in, "code=the-code");
        let (finished, page) = tokio::join!(begun.finish(&accounts, &Mira, &add), async {
            let page = get(&redirect).await;
            // The account exists before the browser gets its page.
            assert_eq!(accounts.list().await.unwrap().len(), usize::from(expected.is_ok()));
            page
        });
        assert_eq!(page_text(&page), *page_says);
        match (finished, expected) {
            (Ok(finished), Ok((id, via, note))) => {
                assert_eq!(finished.account.id, *id);
                assert_eq!(finished.account.via.as_deref(), *via);
                assert_eq!(finished.note.as_deref(), *note);
            }
            (Err(error), Err(text)) => assert_eq!(error.to_string(), *text),
            (finished, _) => panic!("{finished:?}"),
        }
    }
}

#[tokio::test]
async fn impossible_sign_in_is_refused_before_opening_pages() {
    let server = server().await;
    let config = server.config();
    for (request, text) in cases! {
        add("microsoft", None, Some("team")),
            "the shared mailbox is not an address: give its full e-mail address";
        add("google", None, Some("team@example.com")), "not shared";
        SignInArguments { tenant: Some("common".to_owned()), ..add("google", None, None) },
            "Google has no tenants: leave out the tenant";
    } {
        let error = BegunSignIn::start(&config, &Mira, &request).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Argument, text));
    }
    assert_eq!(server.count(), 0);
}

async fn call(pipeline: &Pipeline, arguments: Value) -> Value {
    let tool = tools::find("accounts").unwrap();
    let request = tools::read(tool, arguments.as_object().cloned(), Format::Json).unwrap();
    let answer = pipeline.run(request).await.unwrap();
    let mut document: Value = serde_json::from_str(&answer.blocks[0]).unwrap();
    document["notes"] = json!(answer.blocks[1..].join("\n").lines().collect::<Vec<_>>());
    document
}

#[tokio::test]
async fn tool_shows_the_device_code_and_finishes_alone() {
    let server = server().await;
    let config = Arc::new(server.config());
    let store = Store::new(&config);
    let accounts = Arc::new(Accounts::new(config.clone(), store.clone()));
    let pipeline = Pipeline::new(config, store, accounts, Arc::new(Mira));
    let started = call(
        &pipeline,
        json!({"op": "add", "provider": "microsoft", "flow": "device", "tenant": "consumers",
               "account": "bo@example.com", "mailbox": "team@example.com"}),
    )
    .await;
    assert_eq!(
        started["outcomes"],
        json!([{
            "item": "team@example.com",
            "op": "add",
            "result": "waiting",
            "detail": "open https://login.example/device on any machine and enter the code ABCD \
                       within 15 minutes; then call accounts with op=list",
        }])
    );
    assert_eq!(server.forms()[0]["path"], "/consumers/oauth2/v2.0/devicecode");
    assert_eq!(server.forms()[0]["scope"], "mail mail.shared");
    let note = "bo@example.com was to sign in for team@example.com, but Mira@example.com did";
    let mut reported = Vec::new();
    for _ in 0..100 {
        let list = call(&pipeline, json!({})).await;
        reported.extend(list["notes"].as_array().unwrap().clone());
        if list["accounts"][0]["status"] == "ok" && reported.contains(&json!(note)) {
            assert_eq!(list["accounts"][0]["email"], "team@example.com");
            assert_eq!(list["accounts"][0]["via"], "mira@example.com");
            let again = call(&pipeline, json!({})).await;
            let lacking = "`team@example.com`: the sign-in lacks mail.shared: run `daysheet account \
                           add microsoft --tenant consumers --mailbox team@example.com` and allow \
                           all permissions";
            assert_eq!(again["notes"], json!(["accounts: 1", lacking]), "told once");
            // Signing in again requests the same person, mailbox and tenant.
            let again = call(&pipeline, json!({"op": "reauth", "account": "team"})).await;
            let detail = again["outcomes"][0]["detail"].as_str().unwrap();
            let page = detail.split_whitespace().find_map(|word| Url::parse(word).ok()).unwrap();
            assert_eq!(page.path(), "/consumers/oauth2/v2.0/authorize");
            let asked: BTreeMap<_, _> = page.query_pairs().collect();
            assert_eq!(asked["login_hint"], "mira@example.com");
            assert_eq!(asked["scope"], "mail mail.shared");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the sign-in did not finish in the background: {reported:?}");
}
