//! Signing in: the consent page's address, the port that waits for the browser, pasted redirects,
//! and messages for every refusal by a provider.
#![cfg(test)]

mod device;
mod microsoft;
mod numbers;
mod outcome;
mod refresh;
mod token_server;
pub mod unattended;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet::oauth::SignIn;
use daysheet_core::error::ErrorKind;
use sha2::{Digest, Sha256};
use token_server::{Answer, TokenServer, config, get, parameter, redirect, send, wait};
use tokio::net::TcpStream;

use crate::common::clock;

#[tokio::test]
async fn sign_in_returns_tokens() {
    let server = TokenServer::start(|_, _| Answer::tokens("at-1", Some("rt-1"), 3599)).await;
    let config = server.config();
    let scopes = ["mail", "calendar"];
    let sign_in =
        SignIn::start(&config, "google", None, &scopes, Some("mira@example.com")).await.unwrap();
    assert!(sign_in.url().starts_with(&format!("{}/auth?", server.base)));
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "the-client"),
        ("scope", "mail calendar"),
        ("code_challenge_method", "S256"),
        ("access_type", "offline"),
        ("prompt", "consent"),
        ("login_hint", "mira@example.com"),
        ("redirect_uri", sign_in.redirect_uri()),
    ] {
        assert_eq!(parameter(&sign_in, name), value, "{name}");
    }
    let challenge = parameter(&sign_in, "code_challenge");
    let redirect_uri = sign_in.redirect_uri().to_owned();
    let redirect = redirect(&sign_in, "code=the%2Fcode&scope=mail");
    let (tokens, page) = tokio::join!(wait(sign_in), get(&redirect));
    let tokens = tokens.unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(
        page.contains("Signed in to Google as mira@example.com. You can close this page."),
        "{page}"
    );
    assert_eq!(tokens.access.secret(), "at-1");
    assert_eq!(tokens.refresh.as_ref().unwrap().secret(), "rt-1");
    assert_eq!(tokens.scopes, ["mail", "calendar"]);
    assert_eq!(tokens.expires - clock::now().as_second(), 3599);
    let shown = format!("{tokens:?}");
    assert!(!shown.contains("at-1") && !shown.contains("rt-1"), "{shown}");

    let form = &server.forms()[0];
    assert_eq!(form["grant_type"], "authorization_code");
    assert_eq!(form["code"], "the/code");
    assert_eq!(form["redirect_uri"], redirect_uri);
    assert_eq!(form["client_secret"], "the-client-secret");
    let hash = Sha256::digest(form["code_verifier"].as_bytes());
    assert_eq!(URL_SAFE_NO_PAD.encode(hash), challenge);
    // The port is closed after the sign-in.
    let port = url::Url::parse(&redirect).unwrap().port().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
}

#[tokio::test]
async fn redirect_port_survives_stray_requests() {
    let server = TokenServer::start(|_, _| Answer::tokens("at", Some("rt"), 3599)).await;
    let sign_in = SignIn::start(&server.config(), "google", None, &["mail"], None).await.unwrap();
    let redirect = redirect(&sign_in, "code=the-code");
    let base = url::Url::parse(sign_in.redirect_uri()).unwrap();
    let browser = async {
        // Browsers open connections that they may never use.
        let idle = TcpStream::connect(("127.0.0.1", base.port().unwrap())).await;
        for (request, expected) in [
            ("GET /favicon.ico HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404"),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404"),
            ("GET /?code=c HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"),
            ("GET /?code=c&state= HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"),
            ("GET /?code=c&state=guess HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"),
            ("GET /?error=access_denied&state=guess HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400"),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404"),
            ("\u{16}\u{3}\u{1} this is no HTTP\r\n\r\n", ""),
        ] {
            let answer = send(&base, request).await;
            assert!(answer.starts_with(expected), "{request}: {answer}");
        }
        let long = format!("GET /?{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
        send(&base, &long).await;
        assert_eq!(server.count(), 0);
        let (page, again) = tokio::join!(get(&redirect), get(&redirect));
        let pages = [page, again];
        assert_eq!(pages.iter().filter(|page| page.contains("Signed in")).count(), 1, "{pages:?}");
        drop(idle);
    };
    let (tokens, ()) = tokio::join!(wait(sign_in), browser);
    assert_eq!(tokens.unwrap().access.secret(), "at");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn redirect_address_can_be_pasted() {
    let server = TokenServer::start(|_, _| Answer::tokens("at", Some("rt"), 3599)).await;
    let sign_in = SignIn::start(&server.config(), "google", None, &["mail"], None).await.unwrap();
    let right = redirect(&sign_in, "code=the-code");
    let paster = sign_in.paster();
    let pasting = async {
        for (text, words) in [
            ("4/0AbCd-the-code", "a code alone does not show"),
            ("https://example.com/", "not the address"),
            ("http://127.0.0.1:1/?code=c&state=old", "wrong state"),
            ("http://127.0.0.1:1/?code=c", "wrong state"),
        ] {
            let error = paster.paste(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Auth);
            assert!(error.message().contains(words), "{words}: {error}");
            assert!(error.next_step().is_some());
            assert!(!error.to_string().contains("4/0AbCd"), "{error}");
        }
        paster.paste(&format!("  \"{right}\"\n")).unwrap();
        tokio::task::yield_now().await;
    };
    let (tokens, ()) = tokio::join!(wait(sign_in), pasting);
    assert_eq!(tokens.unwrap().access.secret(), "at");
    let error = paster.paste(&right).unwrap_err();
    assert!(error.message().contains("is over"), "{error}");
}

/// The token endpoint's response, and the message to the person.
#[tokio::test]
async fn every_token_error_is_explained() {
    type Case = (fn() -> Answer, ErrorKind, &'static [&'static str]);
    let cases: &[Case] = &cases! {
        || Answer::error("invalid_grant"), ErrorKind::Auth,
            &["already used or has expired", "daysheet account add google"];
        || Answer::new("401 Unauthorized", r#"{"error":"invalid_client"}"#), ErrorKind::Auth,
            &["OAuth client", "DAYSHEET_GOOGLE_CLIENT_ID", "docs/setup-google.md"];
        || Answer::error("redirect_uri_mismatch"), ErrorKind::Auth,
            &["127.0.0.1", "Desktop app", "docs/setup-google.md"];
        || Answer::error("admin_policy_enforced"), ErrorKind::Auth, &["organisation", "administrator"];
        || Answer::error("invalid_scope"), ErrorKind::Auth, &["scope", "enable the APIs"];
        || Answer::error("new_thing"), ErrorKind::Auth, &["new_thing", "account add google"];
        || Answer::error("<script>the-code</script>"), ErrorKind::Auth, &["refused the sign-in"];
        || Answer::tokens("at", None, 3599), ErrorKind::Auth,
            &["no refresh token", "https://myaccount.google.com/", "account add google"];
        || Answer::new("503 Service Unavailable", "the-code"), ErrorKind::Provider(503),
            &["HTTP 503", "try again later"];
        || Answer::new("200 OK", "<html>the-code</html>"), ErrorKind::Auth,
            &["no OAuth response", "endpoint URLs"];
        || Answer::new("200 OK", r#"{"access_token":"the-code"}"#), ErrorKind::Auth,
            &["no OAuth response"];
        || Answer::new("400 Bad Request", ""), ErrorKind::Auth, &["no OAuth response"];
        || Answer::new("200 OK", "x".repeat(2 * 1024 * 1024)), ErrorKind::Network, &["longer than"];
        || Answer {
            headers: "Location: http://127.0.0.1:9/elsewhere\r\n",
            ..Answer::new("307 Temporary Redirect", "")
        }, ErrorKind::Config, &["redirects"];
    };
    for (answer, kind, words) in cases {
        let server = TokenServer::start(move |_, _| answer()).await;
        let config = server.config();
        let error = token_server::sign_in(&config).await.unwrap_err();
        assert_eq!(error.kind(), *kind, "{error}");
        let text = error.to_string();
        for part in *words {
            assert!(text.contains(part), "`{part}` in: {text}");
        }
        assert!(!text.contains("the-code<") && !text.contains("the-client-secret"), "{text}");
        assert_eq!(server.count(), 1, "asked once and nowhere else: {text}");
    }
}

/// The consent page's redirect, and the message that follows.
#[tokio::test]
async fn every_consent_denial_is_explained() {
    for (query, words) in [
        ("error=access_denied", "consent was denied"),
        ("error=access_denied&code=c", "consent was denied"),
        ("error=admin_policy_enforced", "organisation"),
        ("error=%3Cscript%3E", "refused the sign-in (script)"),
    ] {
        let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
        let config = server.config();
        let sign_in = SignIn::start(&config, "google", None, &["mail"], None).await.unwrap();
        let redirect = redirect(&sign_in, query);
        let (tokens, page) = tokio::join!(wait(sign_in), get(&redirect));
        let error = tokens.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Auth);
        assert!(error.message().contains(words), "{words}: {error}");
        assert!(error.next_step().is_some());
        assert!(page.contains("Not signed in"), "{page}");
        assert!(!page.contains("<script>"), "{page}");
        assert_eq!(server.count(), 0);
    }
}

#[tokio::test]
async fn a_sign_in_needs_a_client_and_a_known_provider() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path(), "http://127.0.0.1:9", None);
    let error = SignIn::start(&config, "google", None, &["mail"], None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    let text = error.to_string();
    assert!(text.contains("DAYSHEET_GOOGLE_CLIENT_ID"), "{text}");
    assert!(text.contains("docs/setup-google.md"), "{text}");
    let error = SignIn::start(&config, "yahoo", None, &["mail"], None).await.unwrap_err();
    assert!(error.to_string().contains("google"), "{error}");
}

#[tokio::test]
async fn sign_in_times_out_without_a_redirect() {
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    let sign_in = SignIn::start(&server.config(), "google", None, &["mail"], None)
        .await
        .unwrap()
        .with_timeout(Duration::from_millis(20));
    let error = sign_in.wait().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert!(error.message().contains("nobody signed in within"), "{error}");
    assert!(error.to_string().contains("account add google"), "{error}");
}

#[tokio::test]
async fn unreachable_endpoint_is_named() {
    let home = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = free.local_addr().unwrap().to_string();
    drop(free);
    let config = config(home.path(), &format!("http://{host}"), Some("the-client"));
    let error = token_server::sign_in(&config).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    assert!(error.message().contains(&host), "{error}");
}
