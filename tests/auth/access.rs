//! Access tokens.

use daysheet_auth::{CallingPerson, TokenSubject, TokenVerifier};
use daysheet_core::access::AccessLevel;
use serde_json::json;

use crate::common::clock;
use crate::common::issuer::{TestIssuer, jwks, key, sign, with};
use crate::{HERE, summary};

const SIGNATURE: &str = "the signature of the token is not the issuer's";
const ALGORITHM: &str = "the algorithm of the token is not allowed";
const TYPE: &str = "the token is of the wrong type";
const KEY: &str = "the key of the token is unknown";
const NO_JWT: &str = "the token is not a JWT";
const AUDIENCE: &str = "the token is for another audience";
const ISSUER: &str = "the token is from another issuer";
const EXPIRED: &str = "the token has expired";
const EARLY: &str = "the token is not valid yet";
const TIME: &str = "a time of the token is not a number";
const SUBJECT: &str = "the token has no subject";
const OTHER: &str = "the token is not an access token";
const BOUND: &str = "tokens bound to a key of the sender are not supported";

#[tokio::test]
async fn only_the_issuers_signature_counts() {
    let issuer = TestIssuer::start().await;
    let verifier = TokenVerifier::at_issuer(issuer.settings(HERE));
    let claims = issuer.claims("ann", HERE);
    let usual = json!({"alg": "RS256", "typ": "at+jwt", "kid": "rsa"});
    let elsewhere = format!("{}/stolen", issuer.url);
    issuer.set("/stolen", 200, "", jwks(&["next"]));
    let own = key("next")["jwk"].clone();
    // Changes to the header, the key that signs, and the outcome.
    for (header, by, expected) in cases![
        json!({}), "rsa", "full";
        json!({"typ": "JWT"}), "rsa", "full";
        json!({"typ": "application/at+jwt"}), "rsa", "full";
        json!({"alg": "RS512"}), "rsa", "full";
        json!({"alg": "PS256"}), "rsa", "full";
        json!({"alg": "ES256", "kid": "ec"}), "ec", "full";
        json!({"alg": "EdDSA", "kid": "ed"}), "ed", "full";
        // Without a name, the only key of the kind is meant.
        json!({"kid": null}), "rsa", "full";
        json!({"kid": null}), "next", SIGNATURE;
        json!({}), "next", SIGNATURE;
        json!({"kid": "next"}), "next", KEY;
        json!({"kid": ""}), "rsa", KEY;
        json!({"kid": "../../../dev/null"}), "rsa", KEY;
        json!({"kid": "rsa' OR '1'='1"}), "rsa", KEY;
        json!({"kid": 7}), "rsa", "the header of the token is malformed";
        json!({"kid": ["rsa"]}), "rsa", "the header of the token is malformed";
        // Keys that the token brings along, or points to.
        json!({"jku": elsewhere}), "next", SIGNATURE;
        json!({"jku": elsewhere, "kid": "next"}), "next", KEY;
        json!({"jwk": own}), "next", SIGNATURE;
        json!({"jwk": own, "kid": null}), "next", SIGNATURE;
        json!({"x5u": elsewhere, "x5c": ["MIIB"]}), "next", SIGNATURE;
        json!({"alg": "none"}), "rsa", ALGORITHM;
        json!({"alg": "None"}), "rsa", ALGORITHM;
        json!({"alg": "nOnE", "kid": null}), "rsa", ALGORITHM;
        json!({"alg": ""}), "rsa", ALGORITHM;
        json!({"alg": null}), "rsa", "the header of the token is malformed";
        json!({"alg": ["RS256"]}), "rsa", "the header of the token is malformed";
        // Signed with the public key, as if it were a shared secret.
        json!({"alg": "HS256"}), "rsa", ALGORITHM;
        json!({"alg": "rs256"}), "rsa", ALGORITHM;
        // A key of another kind.
        json!({"alg": "ES256"}), "ec", KEY;
        json!({"kid": "ec"}), "rsa", KEY;
        json!({"alg": "EdDSA", "kid": "ec"}), "ed", KEY;
        json!({"crit": ["exp"]}), "rsa", "the token requires unknown extensions";
        json!({"crit": ["b64"], "b64": false}), "rsa",
            "the token requires unknown extensions";
        json!({"typ": null}), "rsa", TYPE;
        json!({"typ": "dpop+jwt"}), "rsa", TYPE;
        json!({"typ": "logout+jwt"}), "rsa", TYPE;
        json!({"typ": "secevent+jwt"}), "rsa", TYPE;
        json!({"typ": "JOSE"}), "rsa", TYPE;
        json!({"typ": 1}), "rsa", "the header of the token is malformed";
    ] {
        let token = sign(&with(&usual, &header), &claims, by);
        assert_eq!(summary(verifier.verify(Some(&token)).await), expected, "{header} by {by}");
    }
    assert_eq!(issuer.asked("/stolen").len(), 0, "a header of a token was followed");

    let token = sign(&usual, &claims, "rsa");
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, body) = signed.split_once('.').unwrap();
    let other = sign(&usual, &issuer.claims("bo", HERE), "rsa");
    let other = other.split('.').nth(1).unwrap();
    let twice = "eyJhbGciOiJub25lIiwiYWxnIjoiUlMyNTYiLCJ0eXAiOiJKV1QifQ";
    for (token, expected) in cases![
        String::new(), NO_JWT;
        ".".to_owned(), NO_JWT;
        "..".to_owned(), NO_JWT;
        "a.b.c".to_owned(), NO_JWT;
        signed.to_owned(), NO_JWT;
        format!("{signed}."), SIGNATURE;
        format!("{header}..{signature}"), SIGNATURE;
        format!("{header}.{other}.{signature}"), SIGNATURE;
        format!("{header}.{body}.{signature}=="), SIGNATURE;
        format!("{token}."), SIGNATURE;
        format!("{token}.{signature}"), SIGNATURE;
        format!("{header}.{body}.{body}.{signature}"), SIGNATURE;
        // An algorithm that is named twice.
        format!("{twice}.{body}.{signature}"), "the header of the token is malformed";
        // Encrypted, with five parts.
        format!("{token}.x.x"), SIGNATURE;
        format!(" {token}"), NO_JWT;
        "x".repeat(9_000), "the token is too long";
    ] {
        assert_eq!(summary(verifier.verify(Some(&token)).await), expected, "{token}");
    }
    assert_eq!(summary(verifier.verify(None).await), "missing");
}

#[tokio::test]
async fn claims_say_for_whom_and_how_long() {
    let issuer = TestIssuer::start().await;
    let verifier = TokenVerifier::at_issuer(issuer.settings(HERE));
    let now = clock::now().as_second();
    for (changes, expected) in cases![
        json!({}), "full";
        json!({"aud": [HERE]}), "full";
        json!({"aud": ["https://other.example", HERE]}), "full";
        json!({"aud": null}), AUDIENCE;
        json!({"aud": ""}), AUDIENCE;
        json!({"aud": []}), AUDIENCE;
        json!({"aud": {}}), AUDIENCE;
        json!({"aud": [[HERE]]}), AUDIENCE;
        json!({"aud": "https://other.example/mcp"}), AUDIENCE;
        json!({"aud": format!("{HERE}/")}), AUDIENCE;
        json!({"aud": "https://mail.example"}), AUDIENCE;
        json!({"aud": HERE.to_uppercase()}), AUDIENCE;
        json!({"aud": format!("{HERE} https://other.example")}), AUDIENCE;
        json!({"iss": null}), ISSUER;
        json!({"iss": "https://other.example"}), ISSUER;
        json!({"iss": format!("{}/", issuer.url)}), ISSUER;
        json!({"iss": [issuer.url]}), ISSUER;
        json!({"exp": null}), "the token has no expiry";
        json!({"exp": now - 59}), "full";
        json!({"exp": now - 60}), EXPIRED;
        json!({"exp": 0}), EXPIRED;
        json!({"exp": -1e300}), EXPIRED;
        json!({"exp": "9999999999"}), TIME;
        json!({"exp": [9_999_999_999_i64]}), TIME;
        json!({"exp": now as f64 + 0.5}), "full";
        json!({"nbf": now + 60}), "full";
        json!({"nbf": now + 61}), EARLY;
        json!({"nbf": "0"}), TIME;
        json!({"nbf": true}), TIME;
        json!({"iat": now + 61}), EARLY;
        json!({"iat": null}), "full";
        json!({"sub": null}), SUBJECT;
        json!({"sub": ""}), SUBJECT;
        json!({"sub": " \t"}), SUBJECT;
        json!({"sub": 7}), SUBJECT;
        json!({"sub": ["ann"]}), SUBJECT;
        json!({"sub": "x".repeat(256)}), SUBJECT;
        json!({"nonce": "n"}), OTHER;
        json!({"at_hash": "x"}), OTHER;
        json!({"events": {}}), OTHER;
        json!({"typ": "ID"}), OTHER;
        json!({"typ": "Refresh"}), OTHER;
        json!({"typ": "Bearer"}), "full";
        json!({"token_use": "id"}), OTHER;
        json!({"token_use": "access"}), "full";
        json!({"typ": 1}), OTHER;
        json!({"cnf": {"jkt": "x"}}), BOUND;
        json!({"scope": "daysheet:read"}), "read";
        json!({"scope": "daysheet:read daysheet:send"}), "send";
        json!({"scope": "daysheet:organize openid"}), "organize";
        json!({"scope": ["daysheet:draft", "daysheet:read"]}), "draft";
        json!({"scope": null, "scp": "daysheet:draft"}), "draft";
        json!({"scope": null, "scp": ["openid", "daysheet:send"]}), "send";
        json!({"scope": null}), "insufficient";
        json!({"scope": ""}), "insufficient";
        json!({"scope": "openid email"}), "insufficient";
        json!({"scope": "daysheet:"}), "insufficient";
        json!({"scope": "daysheet:FULL Daysheet:full daysheet:fullx xdaysheet:full"}),
            "insufficient";
        json!({"scope": "daysheet:full,daysheet:read"}), "insufficient";
        json!({"scope": {"daysheet:full": true}}), "insufficient";
        json!({"scope": [["daysheet:full"], 7]}), "insufficient";
    ] {
        let token = issuer.token("ann", HERE, &changes);
        assert_eq!(summary(verifier.verify(Some(&token)).await), expected, "{changes}");
    }
}

#[tokio::test]
async fn person_is_the_issuer_and_the_subject() {
    let issuer = TestIssuer::start().await;
    let verifier = TokenVerifier::at_issuer(issuer.settings(HERE));
    let person = async |subject: &str, changes| {
        verifier.verify(Some(&issuer.token(subject, HERE, &changes))).await.unwrap()
    };
    let ann = person("ann", json!({})).await;
    assert_eq!(
        ann,
        CallingPerson::new(
            TokenSubject { issuer: &issuer.url, subject: "ann" },
            None,
            AccessLevel::Full
        )
    );
    // Nothing else that a token says makes another of them, or the same of two.
    let renamed = person("ann", json!({"email": "bo@example.com", "client_id": "x"})).await;
    assert_eq!(renamed.owner, ann.owner);
    for other in ["Ann", "ann ", "\nann", "bo"] {
        let same = json!({"email": "ann@example.com", "name": "ann", "preferred_username": "ann"});
        assert_ne!(person(other, same).await.owner, ann.owner, "{other:?}");
    }
    assert_ne!(
        CallingPerson::new(
            TokenSubject { issuer: "https://a.example", subject: "b" },
            None,
            AccessLevel::Full
        )
        .owner,
        ann.owner
    );
    // A name is for people to read, on one line.
    let named = person("ann", json!({"name": "Ann\u{202e}\n<b>"})).await;
    assert_eq!(named.name.as_deref(), Some("Ann <b>"));
}

/// Some issuers prefix scopes with the address of the server, and some of these omit the prefix in
/// tokens.
#[tokio::test]
async fn scopes_may_have_the_prefix_of_the_settings() {
    let issuer = TestIssuer::start().await;
    let mut settings = issuer.settings(HERE);
    settings.scope_prefix = format!("{HERE}/");
    let verifier = TokenVerifier::at_issuer(settings);
    for (scope, expected) in cases![
        format!("{HERE}/daysheet:draft"), "draft";
        format!("openid {HERE}/daysheet:read {HERE}/daysheet:send"), "send";
        "daysheet:draft".to_owned(), "draft";
        "https://other.example/daysheet:draft".to_owned(), "insufficient";
        format!("{HERE}/{HERE}/daysheet:draft"), "insufficient";
        format!("{HERE}daysheet:draft"), "insufficient";
    ] {
        let token = issuer.token("ann", HERE, &json!({"scope": null, "scp": scope}));
        assert_eq!(summary(verifier.verify(Some(&token)).await), expected, "{scope}");
    }
}

/// An algorithm counts only if the settings list it.
#[tokio::test]
async fn algorithms_are_those_of_the_settings() {
    let issuer = TestIssuer::start().await;
    let mut settings = issuer.settings(HERE);
    settings.algorithms = vec![jsonwebtoken::Algorithm::ES256];
    let verifier = TokenVerifier::at_issuer(settings);
    let claims = issuer.claims("ann", HERE);
    for (algorithm, by, expected) in
        [("ES256", "ec", "full"), ("RS256", "rsa", ALGORITHM), ("EdDSA", "ed", ALGORITHM)]
    {
        let header = json!({"alg": algorithm, "typ": "at+jwt", "kid": by});
        let token = sign(&header, &claims, by);
        assert_eq!(summary(verifier.verify(Some(&token)).await), expected, "{algorithm}");
    }
}
