//! Opaque tokens: those of an issuer, and static ones from a file.

use daysheet_auth::{CallingPerson, IssuerSettings, TokenList, TokenVerifier, new_token};
use daysheet_core::access::AccessLevel;
use serde_json::json;

use crate::common::clock;
use crate::common::issuer::{CLIENT, TestIssuer, with};
use crate::{HERE, summary};

const INACTIVE: &str = "the token is not active";
const AUDIENCE: &str = "the token is for another audience";
const OTHER: &str = "the token is not an access token";

fn asking(issuer: &TestIssuer) -> TokenVerifier {
    TokenVerifier::at_issuer(IssuerSettings { introspection: true, ..issuer.settings(HERE) })
}

#[tokio::test]
async fn issuer_says_what_an_opaque_token_is() {
    let issuer = TestIssuer::start().await;
    let now = clock::now().as_second();
    let usual = with(&issuer.claims("ann", HERE), &json!({"active": true}));
    for (changes, expected) in cases![
        json!({}), "full";
        json!({"iss": null}), "full";
        json!({"exp": null, "token_type": "Bearer"}), "full";
        json!({"scope": "daysheet:read"}), "read";
        json!({"active": false}), INACTIVE;
        json!({"active": null}), INACTIVE;
        json!({"active": "true"}), INACTIVE;
        json!({"active": 1}), INACTIVE;
        json!({"aud": null}), AUDIENCE;
        json!({"aud": "https://other.example"}), AUDIENCE;
        json!({"iss": "https://other.example"}), "the token is from another issuer";
        json!({"exp": now - 100}), "the token has expired";
        json!({"nbf": now + 100}), "the token is not valid yet";
        json!({"sub": null}), "the token has no subject";
        json!({"scope": "openid"}), "insufficient";
        json!({"token_use": "refresh_token"}), OTHER;
        json!({"typ": "Refresh"}), OTHER;
        json!({"token_type": "DPoP"}), OTHER;
        json!({"cnf": {}}), "tokens bound to a key of the sender are not supported";
    ] {
        issuer.set("/introspect", 200, "", with(&usual, &changes));
        let outcome = summary(asking(&issuer).verify(Some("opaque")).await);
        assert_eq!(outcome, expected, "{changes}");
    }
    let asked = issuer.asked("/introspect");
    let first = asked.first().unwrap();
    // The client's id and secret, each encoded as for a form.
    let pair = "ZGF5c2hlZXQtc2VydmVyOmErc2VjcmV0JTJGd2l0aCUzQXNpZ25z";
    assert!(first.head.contains(&format!("authorization: Basic {pair}")), "{}", first.head);
    assert_eq!(first.body, "token=opaque&token_type_hint=access_token");

    // A JWT is not shown to the issuer, and without introspection nothing is.
    let before = asked.len();
    assert_eq!(
        summary(asking(&issuer).verify(Some(&issuer.token("ann", HERE, &json!({})))).await),
        "full"
    );
    let plain = TokenVerifier::at_issuer(issuer.settings(HERE));
    assert_eq!(summary(plain.verify(Some("opaque")).await), "the token is not a JWT");
    assert_eq!(issuer.asked("/introspect").len(), before);
}

#[tokio::test]
async fn introspection_is_asked_once_in_a_while_and_never_guessed() {
    let issuer = TestIssuer::start().await;
    issuer
        .publish(&json!({"introspection_endpoint_auth_methods_supported": ["client_secret_post"]}));
    let verifier = asking(&issuer);
    let active = with(&issuer.claims("ann", HERE), &json!({"active": true}));
    // While the issuer does not answer, nobody is let in; and that is not kept.
    for (status, expected) in [(500, "HTTP 500"), (401, "refuses this server's client")] {
        issuer.set("/introspect", status, "", active.clone());
        let outcome = summary(verifier.verify(Some("one")).await);
        assert!(outcome.starts_with("unavailable") && outcome.contains(expected), "{outcome}");
    }
    issuer.set("/introspect", 200, "", active);
    for _ in 0..5 {
        assert_eq!(summary(verifier.verify(Some("one")).await), "full");
    }
    assert_eq!(issuer.asked("/introspect").len(), 3);
    let last = issuer.asked("/introspect").pop().unwrap();
    assert!(last.body.contains(&format!("client_id={CLIENT}&client_secret=")), "{}", last.body);
    assert!(!last.head.contains("authorization"), "{}", last.head);
    // What is known of one token says nothing of another.
    issuer.set("/introspect", 200, "", json!({"active": false}));
    assert_eq!(summary(verifier.verify(Some("One")).await), INACTIVE);
    assert_eq!(summary(verifier.verify(Some("one")).await), "full");
    assert!(!format!("{verifier:?}").contains("secret/with"), "{verifier:?}");
}

#[tokio::test]
async fn static_tokens_are_those_of_the_file() {
    let made = [None, Some(AccessLevel::Read), Some(AccessLevel::Send)]
        .map(|access| new_token(access, Some("my laptop\n0000 full")).unwrap());
    let lines: Vec<&str> = made.iter().map(|(_, line)| line.as_str()).collect();
    let file = format!("# tokens\n\n{}\n", lines.join("\n"));
    for (token, line) in &made {
        assert!(!line.contains(token) && line.lines().count() == 1, "{line}");
        assert_eq!(token.len(), "daysheet_".len() + 43);
    }
    let verifier = TokenVerifier::Known(TokenList::read(&file).unwrap());
    for ((token, _), access) in
        made.iter().zip([AccessLevel::Full, AccessLevel::Read, AccessLevel::Send])
    {
        assert_eq!(verifier.verify(Some(token)).await.unwrap(), CallingPerson::local(access));
        for wrong in [token.to_uppercase(), format!("{token} "), token.replacen('_', "", 1)] {
            assert_eq!(summary(verifier.verify(Some(&wrong)).await), "the token is unknown");
        }
    }
    // The file is no list of tokens: who reads it cannot call.
    for line in lines {
        let hash = line.split(' ').next();
        assert_eq!(summary(verifier.verify(hash).await), "the token is unknown");
    }
    assert_eq!(summary(verifier.verify(Some("")).await), "the token is unknown");
    assert_eq!(summary(verifier.verify(None).await), "missing");

    let hash = "a".repeat(64);
    for (file, expected) in cases![
        String::new(), "the file has no token";
        "# nothing".to_owned(), "the file has no token";
        "secret".to_owned(), "line 1 is not";
        format!("{hash}\n{hash} raed"), "line 2 is not";
        format!("{hash} read phone"), "line 1 is not";
        format!("{}g", "a".repeat(63)), "line 1 is not";
        "é".repeat(32), "line 1 is not";
    ] {
        let error = TokenList::read(&file).unwrap_err();
        assert!(error.message().starts_with(expected), "{file}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

/// A running server follows changes of its token file, and keeps the last readable version.
#[tokio::test]
async fn changed_file_of_tokens_is_read_again() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("tokens");
    let [(one, first), (two, second)] =
        [AccessLevel::Read, AccessLevel::Send].map(|access| new_token(Some(access), None).unwrap());
    std::fs::write(&path, format!("{first}\n{second}\n")).unwrap();
    let verifier = TokenVerifier::Known(TokenList::open(&path).unwrap());
    let raised = first.replace("read", "draft");
    const UNKNOWN: &str = "the token is unknown";
    // What the file says, and what the two tokens are from then on; none is no file.
    for (file, expected) in cases![
        Some(format!("{first}\n{second}\n")), ["read", "send"];
        Some(second.clone()), [UNKNOWN, "send"];
        Some("half a li".to_owned()), [UNKNOWN, "send"];
        None, [UNKNOWN, "send"];
        Some(raised), ["draft", UNKNOWN];
        Some("# all withdrawn\n".to_owned()), [UNKNOWN, UNKNOWN];
    ] {
        match &file {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        tokio::time::sleep(std::time::Duration::from_millis(1_050)).await;
        let now = [&one, &two].map(|token| verifier.verify(Some(token)));
        let [one, two] = now;
        assert_eq!([summary(one.await), summary(two.await)], expected, "{file:?}");
    }
}
