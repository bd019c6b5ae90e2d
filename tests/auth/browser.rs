//! Sign-in with a browser.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_auth::web::{PendingSignIn, WebSignIn};
use daysheet_auth::{CallingPerson, IssuerSettings, TokenSubject, TokenVerifier};
use daysheet_core::access::AccessLevel;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use crate::HERE;
use crate::common::clock;
use crate::common::issuer::{CLIENT, TestIssuer, sign, with};

fn verifier(issuer: &TestIssuer) -> TokenVerifier {
    TokenVerifier::at_issuer(issuer.settings(HERE))
}

fn web(verifier: &TokenVerifier) -> &WebSignIn {
    let TokenVerifier::Issuer(at) = verifier else { panic!("no issuer") };
    at.web().unwrap()
}

/// Begins a sign-in. Returns the query of the address for the browser, and the pending sign-in.
async fn begin(web: &WebSignIn) -> (HashMap<String, String>, PendingSignIn) {
    let redirect = Url::parse("https://mail.example/sign-in/callback").unwrap();
    let (url, pending) = web.begin(&redirect).await.unwrap();
    assert!(url.path() == "/authorize", "{url}");
    // It is remembered in a row or a cookie.
    let kept = serde_json::to_string(&pending).unwrap();
    let asked: HashMap<String, String> = url.query_pairs().into_owned().collect();
    assert!(!format!("{pending:?}").contains(&asked["state"]));
    (asked, serde_json::from_str(&kept).unwrap())
}

#[tokio::test]
async fn browser_signs_in_with_a_code() {
    let issuer = TestIssuer::start().await;
    let verifier = verifier(&issuer);
    let web = web(&verifier);
    let (asked, pending) = begin(web).await;
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("scope", "openid profile email"),
        ("code_challenge_method", "S256"),
        ("redirect_uri", "https://mail.example/sign-in/callback"),
    ] {
        assert_eq!(asked[name], value);
    }
    let claims = json!({"aud": CLIENT, "nonce": asked["nonce"], "scope": null, "name": "Ann"});
    let token = sign(
        &json!({"alg": "RS256", "kid": "rsa"}),
        &with(&issuer.claims("ann", HERE), &claims),
        "rsa",
    );
    issuer.set("/token", 200, "", json!({"id_token": token, "access_token": "x"}));
    let query = format!("code=a+b&state={}&iss={}", asked["state"], issuer.url);
    let person = web.finish(pending, &query).await.unwrap();
    assert_eq!(
        person,
        CallingPerson::new(
            TokenSubject { issuer: &issuer.url, subject: "ann" },
            Some("Ann".to_owned()),
            AccessLevel::Full
        )
    );

    let sent = issuer.asked("/token").pop().unwrap().body;
    let sent: HashMap<String, String> =
        url::form_urlencoded::parse(sent.as_bytes()).into_owned().collect();
    assert_eq!((&*sent["grant_type"], &*sent["code"]), ("authorization_code", "a b"));
    assert_eq!(sent["redirect_uri"], asked["redirect_uri"]);
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&sent["code_verifier"]));
    assert_eq!(challenge, asked["code_challenge"]);

    // Each sign-in has secrets of its own.
    let (other, _) = begin(web).await;
    for name in ["state", "nonce", "code_challenge"] {
        assert_ne!(asked[name], other[name], "{name}");
    }
}

/// The query of the redirect, with `STATE` and `ISSUER` for the right values, and the error.
#[tokio::test]
async fn answers_of_other_sign_ins_are_refused() {
    let issuer = TestIssuer::start().await;
    let verifier = verifier(&issuer);
    let web = web(&verifier);
    let (stolen, _) = begin(web).await;
    for (query, expected) in cases![
        "", "has no code";
        "state=STATE&iss=ISSUER", "has no code";
        "code=x&iss=ISSUER", "has no state";
        "code=x&state=&iss=ISSUER", "another sign-in";
        "code=x&state=OTHER&iss=ISSUER", "another sign-in";
        "code=x&state=STATE&state=STATE&iss=ISSUER", "twice";
        "code=x&code=y&state=STATE&iss=ISSUER", "twice";
        // Mix-up: the answer of another issuer, or of nobody knows which.
        "code=x&state=STATE", "does not name this issuer";
        "code=x&state=STATE&iss=https://evil.example", "does not name this issuer";
        "code=x&state=STATE&iss=ISSUER/", "does not name this issuer";
        "code=x&state=STATE&iss=ISSUER&iss=ISSUER", "twice";
        "error=access_denied&state=STATE&iss=ISSUER", "declined";
        "error=%3Cscript%3E&state=STATE&iss=ISSUER", "the issuer refused the sign-in";
        "code=x&error=y&state=STATE&iss=ISSUER", "has no code";
    ] {
        let (asked, pending) = begin(web).await;
        let query = query.replace("STATE", &asked["state"]).replace("OTHER", &stolen["state"]);
        let query = query.replace("ISSUER", &issuer.url);
        let error = web.finish(pending, &query).await.unwrap_err();
        assert!(error.message().contains(expected), "{query}: {error}");
    }
    assert_eq!(issuer.asked("/token").len(), 0, "a code was sent");
}

#[tokio::test]
async fn id_tokens_of_others_are_refused() {
    let issuer = TestIssuer::start().await;
    let verifier = verifier(&issuer);
    let web = web(&verifier);
    let now = clock::now().as_second();
    let header = json!({"alg": "RS256", "kid": "rsa", "typ": "JWT"});
    for (changes, headers, by, expected) in cases![
        json!({}), json!({}), "rsa", "";
        json!({"aud": [CLIENT]}), json!({}), "rsa", "";
        json!({"azp": CLIENT}), json!({}), "rsa", "";
        json!({"aud": "other"}), json!({}), "rsa", "another audience";
        json!({"aud": HERE}), json!({}), "rsa", "another audience";
        json!({"azp": "other"}), json!({}), "rsa", "for another client";
        json!({"iss": "https://evil.example"}), json!({}), "rsa", "another issuer";
        json!({"nonce": null}), json!({}), "rsa", "another sign-in";
        json!({"nonce": "guessed"}), json!({}), "rsa", "another sign-in";
        json!({"exp": now - 100}), json!({}), "rsa", "expired";
        json!({"exp": null}), json!({}), "rsa", "has no expiry";
        json!({"sub": ""}), json!({}), "rsa", "no subject";
        json!({}), json!({"typ": "at+jwt"}), "rsa", "wrong type";
        json!({}), json!({"alg": "none"}), "rsa", "algorithm";
        json!({}), json!({"alg": "HS256"}), "rsa", "algorithm";
        json!({}), json!({}), "next", "signature";
    ] {
        let (asked, pending) = begin(web).await;
        let usual = json!({"aud": CLIENT, "nonce": asked["nonce"]});
        let claims = with(&with(&issuer.claims("ann", HERE), &usual), &changes);
        let token = sign(&with(&header, &headers), &claims, by);
        issuer.set("/token", 200, "", json!({"id_token": token}));
        let query = format!("code=x&state={}&iss={}", asked["state"], issuer.url);
        let outcome = web.finish(pending, &query).await;
        let shown = outcome.map_or_else(|error| error.message().to_owned(), |_| String::new());
        assert!(shown.contains(expected), "{changes} {headers} {by}: {shown}");
        assert_eq!(shown.is_empty(), expected.is_empty(), "{changes} {headers} {by}: {shown}");
    }
    for (status, body, expected) in cases![
        200, json!({"access_token": "x"}), "no ID token";
        200, json!({"id_token": "opaque"}), "not a JWT";
        200, Value::Null, "not JSON";
        400, json!({"error": "invalid_grant"}), "refused the code";
        302, json!({}), "HTTP 302";
        500, json!({}), "HTTP 500";
    ] {
        let (asked, pending) = begin(web).await;
        issuer.set("/token", status, "location: /other\r\n", body);
        let query = format!("code=x&state={}&iss={}", asked["state"], issuer.url);
        let error = web.finish(pending, &query).await.unwrap_err();
        assert!(error.message().contains(expected), "{status}: {error}");
    }
}

/// The code and the secret are sent neither to plain nor to foreign addresses.
#[tokio::test]
async fn secrets_go_to_usable_endpoints_only() {
    for endpoint in ["http://evil.example/", "http://169.254.169.254/", "javascript:alert(1)", ""] {
        let issuer = TestIssuer::start().await;
        let verifier = verifier(&issuer);
        issuer.publish(&json!({"authorization_endpoint": endpoint}));
        let redirect = Url::parse("https://mail.example/back").unwrap();
        let error = web(&verifier).begin(&redirect).await.unwrap_err();
        assert!(error.message().contains("authorization_endpoint"), "{error}");
    }
    let issuer = TestIssuer::start().await;
    let without =
        TokenVerifier::at_issuer(IssuerSettings { client: None, ..issuer.settings(HERE) });
    let TokenVerifier::Issuer(at) = &without else { panic!("no issuer") };
    assert!(at.web().is_none());
}
