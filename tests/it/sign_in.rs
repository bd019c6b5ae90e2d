//! Signing in: the consent page's address, the port that waits for the browser, and pasted
//! redirects. Refusals are in `tests/transcripts/sign_in.txt`.
#![cfg(test)]

mod device;
mod microsoft;
mod outcome;
mod refresh;
pub mod refusals;
mod token_server;
pub mod unattended;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet::oauth::SignIn;
use daysheet_core::error::ErrorKind;
use sha2::{Digest, Sha256};
use token_server::{Answer, TokenServer, config, get, page_text, parameter, redirect, send, wait};
use tokio::net::TcpStream;

use crate::common::clock;

const SIGNED_IN: &str = "200 Signed in to Google as mira@example.com. You can close this page.";

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
    assert_eq!(page_text(&page), SIGNED_IN);
    assert_eq!(tokens.access.secret(), "at-1");
    assert_eq!(tokens.refresh.as_ref().unwrap().secret(), "rt-1");
    assert_eq!(tokens.scopes, ["mail", "calendar"]);
    assert_eq!(tokens.expires - clock::now().as_second(), 3599);
    let shown = format!(
        "GrantedTokens {{ provider: \"google\", tenant: None, access: AccessToken([redacted]), \
         refresh: Some(RefreshToken([redacted])), expires: {}, scopes: [\"mail\", \"calendar\"], \
         ends: None }}",
        tokens.expires
    );
    assert_eq!(format!("{tokens:?}"), shown);

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
        let of_success = pages.iter().filter(|page| page.starts_with("HTTP/1.1 200"));
        assert_eq!(of_success.map(|page| page_text(page)).collect::<Vec<_>>(), [SIGNED_IN]);
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
    let (paster, redirect_uri) = (sign_in.paster(), sign_in.redirect_uri().to_owned());
    let pasting = async {
        let not_this = format!(
            "that is not the address the sign-in ended on; a code alone does not show which \
             sign-in it belongs to: paste the whole address from the browser's address bar, \
             beginning with {redirect_uri}"
        );
        let other = "this answers another sign-in (wrong state): use the newest address shown, or \
                     run `daysheet account add google` again";
        for (text, expected) in [
            ("4/0AbCd-the-code", not_this.as_str()),
            ("https://example.com/", &not_this),
            ("http://127.0.0.1:1/?code=c&state=old", other),
            ("http://127.0.0.1:1/?code=c", other),
        ] {
            let error = paster.paste(text).unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Auth, expected));
        }
        paster.paste(&format!("  \"{right}\"\n")).unwrap();
        tokio::task::yield_now().await;
    };
    let (tokens, ()) = tokio::join!(wait(sign_in), pasting);
    assert_eq!(tokens.unwrap().access.secret(), "at");
    assert_eq!(
        paster.paste(&right).unwrap_err().to_string(),
        "this sign-in is over: it was already answered: see the result of the first answer"
    );
}

/// Responses of a token endpoint that are not read, and not followed.
#[tokio::test]
async fn endless_and_redirecting_endpoints_are_named() {
    for (redirects, kind, text) in cases! {
        false, ErrorKind::Network,
            "[HOST] answered with more than 1048576 bytes, which are not read: check its URL in the \
             settings";
        true, ErrorKind::Config,
            "the token endpoint redirects, which is not followed for tokens: correct its URL in \
             the settings";
    } {
        let server = TokenServer::start(move |_, _| {
            if redirects {
                let headers = "Location: http://127.0.0.1:9/elsewhere\r\n";
                return Answer { headers, ..Answer::new("307 Temporary Redirect", "") };
            }
            Answer::new("200 OK", "x".repeat(2 * 1024 * 1024))
        })
        .await;
        let error = token_server::sign_in(&server.config()).await.unwrap_err();
        let text = text.replace("[HOST]", server.base.trim_start_matches("http://"));
        assert_eq!((error.kind(), error.to_string()), (kind, text));
        assert_eq!(server.count(), 1, "asked once and nowhere else");
    }
}

#[tokio::test]
async fn sign_in_times_out_without_a_redirect() {
    let server = TokenServer::start(|_, _| Answer::error("unasked")).await;
    let sign_in = SignIn::start(&server.config(), "google", None, &["mail"], None)
        .await
        .unwrap()
        .with_timeout(Duration::from_millis(20));
    let error = sign_in.wait().await.unwrap_err();
    let text = "nobody signed in within 0 minutes: run `daysheet account add google` again";
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Auth, text));
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
    let next = Some("check the network connection and try again");
    assert_eq!((error.kind(), error.next_step()), (ErrorKind::Network, next));
    assert!(error.message().starts_with(&format!("{host} was not reached (")), "{error}");
}
