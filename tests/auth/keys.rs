//! The sources of the issuer's keys, and their lifetime.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as URL_SAFE;
use daysheet_auth::{IssuerSettings, TokenVerifier, is_issuer};
use serde_json::{Value, json};

use crate::common::issuer::{TestIssuer, jwks, key, sign, with};
use crate::{HERE, summary};

const KEY: &str = "the key of the token is unknown";

/// Returns a valid token signed with this RSA key.
fn token(issuer: &TestIssuer, by: &str) -> String {
    let header = json!({"alg": "RS256", "typ": "at+jwt", "kid": by});
    sign(&header, &issuer.claims("ann", HERE), by)
}

#[tokio::test]
async fn new_keys_are_found_and_old_ones_forgotten() {
    let issuer = TestIssuer::start().await;
    let pause = Duration::from_millis(300);
    let verifier = TokenVerifier::at_issuer(IssuerSettings { pause, ..issuer.settings(HERE) });
    let check = async |by: &str| summary(verifier.verify(Some(&token(&issuer, by))).await);
    assert_eq!(check("rsa").await, "full");
    assert_eq!(check("next").await, KEY);
    issuer.set("/jwks", 200, "", jwks(&["next"]));
    // However many tokens with unknown keys come, the issuer is asked once in a while.
    for _ in 0..20 {
        assert_eq!(check("next").await, KEY);
    }
    assert_eq!(issuer.asked("/jwks").len(), 1);
    tokio::time::sleep(pause).await;
    assert_eq!(check("next").await, "full");
    assert_eq!(check("rsa").await, KEY);
    assert_eq!(issuer.asked("/jwks").len(), 2);
}

#[tokio::test]
async fn keys_are_fetched_once_for_many_requests() {
    let issuer = TestIssuer::start().await;
    let verifier = TokenVerifier::at_issuer(issuer.settings(HERE));
    let token = token(&issuer, "rsa");
    let checks = (0..50).map(|_| verifier.verify(Some(&token)));
    for outcome in futures_util::future::join_all(checks).await {
        assert_eq!(summary(outcome), "full");
    }
    assert_eq!(issuer.asked("/jwks").len(), 1);
    assert_eq!(issuer.asked("/.well-known/openid-configuration").len(), 1);
}

/// If callers hang up while the issuer is being asked, the next ones do not ask it again.
#[tokio::test]
async fn callers_who_hang_up_leave_the_attempt() {
    let hanging = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", hanging.local_addr().unwrap());
    let issuer = TestIssuer::start().await;
    let verifier =
        TokenVerifier::at_issuer(IssuerSettings { issuer: url, ..issuer.settings(HERE) });
    let token = token(&issuer, "rsa");
    for _ in 0..10 {
        let asked = verifier.verify(Some(&token));
        assert!(tokio::time::timeout(Duration::from_millis(20), asked).await.is_err());
    }
    let mut connections = 0;
    while tokio::time::timeout(Duration::from_millis(200), hanging.accept()).await.is_ok() {
        connections += 1;
    }
    assert_eq!(connections, 1);
}

#[tokio::test]
async fn keys_outlive_an_issuer_that_is_down() {
    let issuer = TestIssuer::start().await;
    let settings = IssuerSettings { pause: Duration::ZERO, ..issuer.settings(HERE) };
    let verifier = TokenVerifier::at_issuer(settings);
    let check = async |by: &str| summary(verifier.verify(Some(&token(&issuer, by))).await);
    assert_eq!(check("rsa").await, "full");
    for (status, body) in [(500, json!({})), (404, json!({})), (302, json!({})), (200, json!("x"))]
    {
        issuer.set("/jwks", status, "location: /other\r\n", body);
        assert_eq!(check("next").await, KEY, "{status}");
        assert_eq!(check("rsa").await, "full", "{status}");
    }
    assert_eq!(issuer.asked("/other").len(), 0, "a redirect was followed");
}

/// Metadata published at one address, and the result of a valid token.
#[tokio::test]
async fn metadata_is_taken_only_from_the_issuer_itself() {
    let elsewhere = TestIssuer::start().await;
    let at = |path: &str| format!("{}{path}", elsewhere.url);
    for (changes, expected) in cases![
        json!({}), "full";
        json!({"issuer": "https://other.example"}), "names itself differently";
        json!({"issuer": null}), "names itself differently";
        json!({"jwks_uri": null}), "no usable `jwks_uri`";
        json!({"jwks_uri": "http://keys.example/"}), "no usable `jwks_uri`";
        json!({"jwks_uri": "http://169.254.169.254/latest/meta-data"}), "no usable `jwks_uri`";
        json!({"jwks_uri": "file:///etc/passwd"}), "no usable `jwks_uri`";
        json!({"jwks_uri": "gopher://127.0.0.1/"}), "no usable `jwks_uri`";
        json!({"jwks_uri": "https://me:secret@keys.example/"}), "no usable `jwks_uri`";
        json!({"jwks_uri": "/jwks"}), "no usable `jwks_uri`";
        json!({"jwks_uri": ["x"]}), "no usable `jwks_uri`";
        json!({"jwks_uri": at("/jwks")}), "full";
    ] {
        let issuer = TestIssuer::start().await;
        issuer.publish(&changes);
        let verifier = TokenVerifier::at_issuer(issuer.settings(HERE));
        let outcome = summary(verifier.verify(Some(&token(&issuer, "rsa"))).await);
        assert!(outcome.contains(expected), "{changes}: {outcome}");
    }
    // An issuer that has no metadata of OpenID Connect has that of OAuth.
    let issuer = TestIssuer::start().await;
    issuer.set("/.well-known/openid-configuration", 404, "", Value::Null);
    let metadata = json!({"issuer": issuer.url, "jwks_uri": format!("{}/jwks", issuer.url)});
    issuer.set("/.well-known/oauth-authorization-server", 200, "", metadata);
    let verifier = TokenVerifier::at_issuer(issuer.settings(HERE));
    assert_eq!(summary(verifier.verify(Some(&token(&issuer, "rsa"))).await), "full");
}

#[tokio::test]
async fn odd_keys_are_skipped() {
    let rsa = key("rsa")["jwk"].clone();
    let text = URL_SAFE.encode(key("rsa")["public"].as_str().unwrap());
    for (keys, expected) in cases![
        json!([7, null, "x", {}, {"kty": "RSA"}, {"kty": "XYZ", "kid": "rsa"}, rsa]), "full";
        json!([with(&rsa, &json!({"use": "enc"}))]), KEY;
        json!([with(&rsa, &json!({"alg": "RS512"}))]), KEY;
        json!([with(&rsa, &json!({"alg": "RSA-OAEP"}))]), KEY;
        json!([{"kty": "oct", "kid": "rsa", "k": text}]), KEY;
        json!([key("ec")["jwk"]]), KEY;
        json!([]), KEY;
        json!({}), "unavailable: the issuer publishes no keys at its `jwks_uri`";
    ] {
        let issuer = TestIssuer::start().await;
        issuer.set("/jwks", 200, "cache-control: max-age=5\r\n", json!({"keys": keys}));
        let verifier = TokenVerifier::at_issuer(issuer.settings(HERE));
        let outcome = summary(verifier.verify(Some(&token(&issuer, "rsa"))).await);
        assert_eq!(outcome, expected, "{keys}");
    }
}

#[test]
fn issuers_are_https_or_of_this_machine() {
    for (url, expected) in cases![
        "https://id.example.com", true;
        "https://id.example.com/realms/team", true;
        "http://127.0.0.1:8080/realm", true;
        "http://[::1]:8080", true;
        "http://localhost:8080", true;
        "http://id.example.com", false;
        "http://127.0.0.1.example.com", false;
        "https://me:secret@id.example.com", false;
        "https://id.example.com/?a=b", false;
        "https://id.example.com/#a", false;
        "ftp://id.example.com", false;
        "id.example.com", false;
        "", false;
    ] {
        assert_eq!(is_issuer(url), expected, "{url}");
    }
}
