//! Accounts and their tokens: one refresh for concurrent callers, no lost token, and the reason for
//! an account's end.

use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use daysheet::accounts::{Accounts, SignedOut};
use daysheet::config::{Config, KeyStore};
use daysheet::oauth::GrantedTokens;
use daysheet::store::{HandleKind, Store};
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::AccountId;
use daysheet_core::provider::{AccountStatus, TokenSource};
use oauth2::{AccessToken, RefreshToken};
use sqlx::Connection;
use tokio::sync::Notify;

use super::token_server::{Answer, TokenServer, config, sign_in};
use crate::common::clock;

const EMAIL: &str = "mira@example.com";
static MIRA: LazyLock<AccountId> = LazyLock::new(|| "google:mira@example.com".into());

/// Returns the tokens of a sign-in, with the access token's lifetime in seconds.
fn tokens(access: &str, refresh: &str, lifetime: i64) -> GrantedTokens {
    GrantedTokens {
        provider: "google",
        tenant: None,
        access: AccessToken::new(access.to_owned()),
        refresh: Some(RefreshToken::new(refresh.to_owned())),
        expires: clock::now().as_second() + lifetime,
        scopes: vec!["mail".to_owned()],
        ends: None,
    }
}

/// Requests a token eight times at once.
async fn eight(accounts: &Accounts) -> Vec<daysheet_core::error::Result<String>> {
    let asks = (0..8).map(|_| accounts.bearer(&MIRA));
    futures_util::future::join_all(asks).await
}

#[tokio::test]
async fn concurrent_callers_share_one_refresh_request() {
    let server = TokenServer::start(|number, _| {
        Answer::tokens(&format!("at-{number}"), None, 3599).after(Duration::from_millis(100))
    })
    .await;
    let accounts = server.accounts();
    // Less than a minute of validity is too short.
    accounts.add(tokens("old", "rt", 50), EMAIL).await.unwrap();
    for token in eight(&accounts).await {
        assert_eq!(token.unwrap(), "at-0");
    }
    assert_eq!(server.count(), 1);
    let form = &server.forms()[0];
    assert_eq!(form["grant_type"], "refresh_token");
    assert_eq!(form["refresh_token"], "rt");
    assert_eq!(form["client_id"], "the-client");
    assert_eq!(form["path"], "/token");
}

#[tokio::test]
async fn several_processes_share_one_refresh_request() {
    let server = TokenServer::start(|number, _| {
        Answer::tokens(&format!("at-{number}"), Some("rotated"), 3599)
            .after(Duration::from_millis(300))
    })
    .await;
    let first = server.accounts();
    first.add(tokens("old", "rt", 0), EMAIL).await.unwrap();
    let others: Vec<Accounts> = (0..3).map(|_| server.accounts()).collect();
    let asks = others.iter().map(|accounts| accounts.bearer(&MIRA));
    for token in futures_util::future::join_all(asks).await {
        assert_eq!(token.unwrap(), "at-0");
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_fresh_token_needs_no_request() {
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    let accounts = server.accounts();
    accounts.add(tokens("at", "rt", 90), EMAIL).await.unwrap();
    assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "at");
    let again = server.accounts();
    assert_eq!(again.bearer(&MIRA).await.unwrap(), "at");
    assert_eq!(server.count(), 0);
}

/// The new refresh token is on disk before any caller gets the new access token.
#[tokio::test]
async fn rotated_refresh_token_is_saved_before_use() {
    let server = TokenServer::start(|number, form| {
        let expected = ["rt-0", "rt-1", "rt-2"][number];
        assert_eq!(form["refresh_token"], expected);
        Answer::tokens(&format!("at-{number}"), Some(&format!("rt-{}", number + 1)), 0)
    })
    .await;
    let accounts = server.accounts();
    accounts.add(tokens("old", "rt-0", 0), EMAIL).await.unwrap();
    assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "at-0");
    // Another process knows only the tokens on disk.
    assert_eq!(server.accounts().bearer(&MIRA).await.unwrap(), "at-1");
    // The first process notices that its own token has been used.
    assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "at-2");
}

#[tokio::test]
async fn refresh_completes_after_its_caller_is_gone() {
    let server = TokenServer::start(|_, _| {
        Answer::tokens("at-new", Some("rt-new"), 3599).after(Duration::from_millis(200))
    })
    .await;
    let accounts = server.accounts();
    accounts.add(tokens("old", "rt", 0), EMAIL).await.unwrap();
    let outcome = tokio::time::timeout(Duration::from_millis(50), accounts.bearer(&MIRA)).await;
    assert!(outcome.is_err(), "gone before the answer came");
    assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "at-new");
    assert_eq!(server.accounts().bearer(&MIRA).await.unwrap(), "at-new");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn process_killed_during_refresh_blocks_nobody() {
    let server = TokenServer::start(|_, _| Answer::tokens("at-new", None, 3599)).await;
    let accounts = server.accounts();
    accounts.add(tokens("old", "rt", 0), EMAIL).await.unwrap();
    // A process holds the lock. When it ends, the system releases the lock.
    let store = Store::at(server.home.path(), KeyStore::File, clock::clock());
    let lock = store.lock_account(&MIRA).await.unwrap().unwrap();
    let waiting = tokio::spawn(async move { accounts.bearer(&MIRA).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished());
    let ended = Instant::now();
    drop(lock);
    assert_eq!(waiting.await.unwrap().unwrap(), "at-new");
    assert!(ended.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_refused_grant_is_reported_and_remembered() {
    for (description, status) in [
        ("", AccountStatus::Expired),
        ("Token has been expired or revoked.", AccountStatus::Expired),
        ("The grant was revoked", AccountStatus::Revoked),
    ] {
        let server = TokenServer::start(move |_, _| {
            let body =
                format!(r#"{{"error":"invalid_grant","error_description":"{description}"}}"#);
            Answer::new("400 Bad Request", body)
        })
        .await;
        let accounts = server.accounts();
        accounts.add(tokens("old", "rt", 0), EMAIL).await.unwrap();
        let first = accounts.bearer(&MIRA).await.unwrap_err();
        let again = server.accounts().bearer(&MIRA).await.unwrap_err();
        for error in [first, again] {
            assert_eq!(error.kind(), ErrorKind::Auth);
            assert_eq!(
                error.to_string(),
                "the Google grant of mira@example.com was refused (expired or revoked; projects \
                 in Testing mode lose grants after 7 days): run `daysheet account add google`"
            );
        }
        assert_eq!(server.count(), 1, "a refused grant is not tried again");
        let account = accounts.find(None).await.unwrap();
        assert_eq!(account.status, status);
        let problem = "the Google grant of mira@example.com was refused (expired or revoked; \
                       projects in Testing mode lose grants after 7 days)";
        assert_eq!(account.problem.as_deref(), Some(problem));
        // A new sign-in restores the account in every process.
        let other = server.accounts();
        other.add(tokens("at-new", "rt-new", 3599), EMAIL).await.unwrap();
        assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "at-new");
        let account = accounts.find(None).await.unwrap();
        assert_eq!((account.status, account.problem), (AccountStatus::Ok, None));
    }
}

/// The result of a refresh counts only if there was no new sign-in meanwhile.
#[tokio::test]
async fn sign_in_during_a_refresh_wins() {
    for refused in [true, false] {
        let (requested, answered) = (Arc::new(Notify::new()), late_answer(refused));
        let notify = requested.clone();
        let server = TokenServer::start(move |_, _| {
            notify.notify_one();
            answered()
        })
        .await;
        let accounts = server.accounts();
        accounts.add(tokens("old", "rt-old", 0), EMAIL).await.unwrap();
        let other = server.accounts();
        let signing_in = async {
            requested.notified().await;
            other.add(tokens("at-new", "rt-new", 3599), EMAIL).await.unwrap();
        };
        let (token, ()) = tokio::join!(accounts.bearer(&MIRA), signing_in);
        assert_eq!(token.unwrap(), "at-new");
        assert_eq!(accounts.find(None).await.unwrap().status, AccountStatus::Ok);
    }
}

/// Returns the late answer to the refresh of an old token.
fn late_answer(refused: bool) -> impl Fn() -> Answer {
    move || {
        let answer = if refused {
            Answer::error("invalid_grant")
        } else {
            Answer::tokens("at-late", Some("rt-late"), 3599)
        };
        answer.after(Duration::from_millis(300))
    }
}

#[tokio::test]
async fn network_errors_do_not_mark_the_account() {
    let server = TokenServer::start(|number, _| match number {
        0 => Answer::new("503 Service Unavailable", "").after(Duration::from_millis(100)),
        1 => Answer::new("401 Unauthorized", r#"{"error":"invalid_client"}"#),
        2 => Answer::new("200 OK", "no JSON"),
        _ => Answer::tokens("at-new", None, 3599),
    })
    .await;
    let accounts = server.accounts();
    accounts.add(tokens("old", "rt", 0), EMAIL).await.unwrap();
    for outcome in eight(&accounts).await {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Provider(503));
    }
    assert_eq!(server.count(), 1, "those who waited share the outcome");
    for text in [
        "Google refused the sign-in: the OAuth client is not accepted: check \
         DAYSHEET_GOOGLE_CLIENT_ID and its secret; docs/guide/setup-google.md says where to get them",
        "Google's token endpoint gave no OAuth response: check the endpoint URLs in the settings",
    ] {
        let error = accounts.bearer(&MIRA).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Auth, text));
        assert_eq!(accounts.find(None).await.unwrap().status, AccountStatus::Ok);
    }
    assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "at-new");

    let home = tempfile::tempdir().unwrap();
    let config = Arc::new(config(home.path(), "http://127.0.0.1:9", Some("the-client")));
    let accounts = Accounts::new(config.clone(), Store::new(&config));
    accounts.add(tokens("old", "rt", 0), EMAIL).await.unwrap();
    let error = accounts.bearer(&MIRA).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    assert_eq!(accounts.find(None).await.unwrap().status, AccountStatus::Ok);
}

#[tokio::test]
async fn a_rejected_token_is_refreshed_once() {
    let server =
        TokenServer::start(|number, _| Answer::tokens(&format!("at-{number}"), None, 3599)).await;
    let accounts = server.accounts();
    accounts.add(tokens("old", "rt", 3599), EMAIL).await.unwrap();
    let source = TokenSource::new(std::sync::Arc::new(accounts.clone()), MIRA.clone());
    assert_eq!(source.bearer().await.unwrap(), "old");
    let asks = (0..8).map(|_| source.refreshed_after_401("old"));
    for token in futures_util::future::join_all(asks).await {
        assert_eq!(token.unwrap(), "at-0");
    }
    assert_eq!(server.count(), 1);
    assert_eq!(source.bearer().await.unwrap(), "at-0");
    // Another process finds the new token and needs no refresh.
    let other = server.accounts();
    assert_eq!(other.refreshed_after_401(&MIRA, "old").await.unwrap(), "at-0");
    assert_eq!(server.count(), 1);

    let fixed = TokenSource::fixed("only");
    assert_eq!(fixed.bearer().await.unwrap(), "only");
    assert_eq!(fixed.refreshed_after_401("only").await.unwrap_err().kind(), ErrorKind::Auth);
    let shown = r#"TokenSource("fixed") TokenSource("google:mira@example.com")"#;
    assert_eq!(format!("{fixed:?} {source:?}"), shown);
}

#[tokio::test]
async fn accounts_are_found_by_any_usual_name() {
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    let accounts = server.accounts();
    let error = accounts.find(None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAccount);
    assert_eq!(
        error.to_string(),
        "no account is signed in: call accounts with op=add, or run `daysheet account add google` or `daysheet account add microsoft`"
    );
    let first = accounts.add(tokens("a", "r", 3599), " Mira@Example.com").await.unwrap();
    assert_eq!((first.id.as_str(), first.email.as_str()), (MIRA.as_str(), EMAIL));
    assert_eq!(first.scopes, ["mail"]);
    for name in [
        None,
        Some(MIRA.as_str()),
        Some(EMAIL),
        Some("MIRA@example.com"),
        Some("mi"),
        Some("google"),
    ] {
        assert_eq!(accounts.find(name).await.unwrap(), first, "{name:?}");
    }
    accounts.add(tokens("a", "r", 3599), "mirabel@example.com").await.unwrap();
    assert_eq!(accounts.find(Some(EMAIL)).await.unwrap(), first);
    for name in [None, Some(""), Some("mira"), Some("google")] {
        let error = accounts.find(name).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{name:?}");
        let next = "name one as `account`: mira@example.com, mirabel@example.com";
        assert_eq!(error.next_step(), Some(next));
    }
    let error = accounts.find(Some("bo")).await.unwrap_err();
    let text = "no such account is signed in: name one of: mira@example.com, \
                mirabel@example.com; accounts op=add adds another";
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::NoAccount, text));
    for email in ["", "mira", "mira@example.com\r\nx", "a b@c"] {
        let added = accounts.add(tokens("a", "r", 3599), email).await;
        assert_eq!(added.unwrap_err().kind(), ErrorKind::Argument, "{email:?}");
    }
    assert_eq!(accounts.list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn signing_out_ends_the_grant_and_keeps_the_handles() {
    let refusals = Arc::new(AtomicUsize::new(0));
    let count = refusals.clone();
    let server = TokenServer::start(move |_, form| {
        assert_eq!(form["path"], "/revoke");
        assert_eq!(form["token"], "rt");
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => Answer::new("200 OK", "{}"),
            // The grant had already ended.
            1 => Answer::error("invalid_token"),
            _ => Answer::error("server_says_no"),
        }
    })
    .await;
    let accounts = server.accounts();
    let store = Store::at(server.home.path(), KeyStore::File, clock::clock());
    store.handles(&MIRA, HandleKind::Message, &["x"]).await.unwrap();
    for expected in [false, false, true] {
        accounts.add(tokens("a", "rt", 3599), EMAIL).await.unwrap();
        let outcome = accounts.remove(EMAIL).await.unwrap();
        assert_eq!(matches!(outcome, SignedOut::NotRevoked(_)), expected);
        assert_eq!(
            outcome.to_string(),
            if expected {
                "the tokens are deleted, but the grant could not be revoked: Google answered the \
                 revocation with HTTP 400: withdraw the grant at \
                 https://myaccount.google.com/connections"
            } else {
                "the grant is revoked and the tokens are deleted"
            }
        );
        assert!(accounts.list().await.unwrap().is_empty());
        let error = accounts.bearer(&MIRA).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoAccount);
    }
    let owner = store.resolve(HandleKind::Message, 1).await.unwrap();
    assert_eq!(owner.unwrap().0, *MIRA);
    // A name must be complete, because its beginning might match the wrong account.
    accounts.add(tokens("a", "rt", 3599), EMAIL).await.unwrap();
    assert_eq!(accounts.remove("mira").await.unwrap_err().kind(), ErrorKind::NoAccount);
    accounts.forget(&MIRA).await.unwrap();
    assert!(accounts.list().await.unwrap().is_empty());
}

/// A sign-out that cannot be stored does not revoke the grant: the account keeps working, and can
/// be signed out once the disk has space.
#[tokio::test]
async fn unwritable_sign_out_leaves_the_account_signed_in() {
    let server = TokenServer::start(|_, _| Answer::new("200 OK", "{}")).await;
    let accounts = server.accounts();
    accounts.add(tokens("a", "rt", 3599), EMAIL).await.unwrap();
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(server.home.path().join("daysheet.db"));
    let mut raw = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let full = "CREATE TRIGGER full BEFORE DELETE ON accounts \
                BEGIN SELECT RAISE(ROLLBACK, 'no room'); END";
    sqlx::query(full).execute(&mut raw).await.unwrap();
    let error = accounts.remove(EMAIL).await.unwrap_err();
    assert_eq!((error.kind(), server.count()), (ErrorKind::Store, 0), "{error}");
    assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "a");
    sqlx::query("DROP TRIGGER full").execute(&mut raw).await.unwrap();
    assert_eq!(accounts.remove(EMAIL).await.unwrap(), SignedOut::Revoked);
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn tokens_are_not_readable_on_disk() {
    let server =
        TokenServer::start(|_, _| Answer::tokens("at-plainly", Some("rt-plainly"), 3599)).await;
    let settings: Config = server.config();
    let accounts = server.accounts();
    let tokens = sign_in(&settings).await.unwrap();
    accounts.add(tokens, EMAIL).await.unwrap();
    for file in std::fs::read_dir(server.home.path()).unwrap() {
        let path = file.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains("plainly"), "{}", path.display());
    }
    assert_eq!(accounts.bearer(&MIRA).await.unwrap(), "at-plainly");
}

/// A token that cannot be in a header field is refused on arrival and later replaced, because it
/// would break every call.
#[tokio::test]
async fn token_unfit_for_a_header_is_refused() {
    for odd in ["new\\r\\nX-Other: 1", "new\\n", "new one", "", "n\\u00e9w", "new\\u0000"] {
        let server = TokenServer::start(move |number, _| match number {
            0 => Answer::tokens(odd, None, 3_600),
            _ => Answer::tokens("good", None, 3_600),
        })
        .await;
        let accounts = server.accounts();
        let account = accounts.add(tokens("old", "rt", 0), "mira@example.com").await.unwrap();
        let error = accounts.bearer(&account.id).await.unwrap_err();
        let text = "Google's token endpoint gave an access token with invalid characters: check \
                    the endpoint URLs in the settings, and sign in again";
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Auth, text), "{odd}");
        assert_eq!(accounts.bearer(&account.id).await.unwrap(), "good", "{odd}");
        // A token stored before this check existed is replaced.
        let account =
            accounts.add(tokens("a\r\nb", "rt", 3_600), "mira@example.com").await.unwrap();
        assert_eq!(accounts.bearer(&account.id).await.unwrap(), "good");
    }
}
