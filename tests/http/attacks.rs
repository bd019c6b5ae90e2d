//! Attacks on the HTTP interface: tokens, other people's data, and ambiguous requests. Each row is
//! refused before anything is done. Attacks on the pages are in `pages`; hosts, sizes and times are
//! in `guards`.

use std::net::Ipv4Addr;

use daysheet::config::Config;
use daysheet::http::identity::verifier;
use daysheet_auth::TokenVerifier;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::Reply;
use crate::common::clock;
use crate::common::issuer::{TestIssuer, jwks, key, sign, with};
use crate::common::messages::{mailboxes, write_message};
use crate::stage::{Caller, MODERN, OLD, Stage, message};

/// The audience of the tests' tokens.
const HERE: &str = "https://mail.example.com/mcp";

/// Starts a server for two people of an issuer, each with a short and a long message.
async fn stage(issuer: &TestIssuer, settings: &[(&str, &str)]) -> Stage {
    let names = ["ann", "bo"];
    let addresses = names.map(|name| format!("{name}@example.com"));
    let mail: TempDir = mailboxes(&addresses.each_ref().map(String::as_str));
    for address in &addresses {
        let body: String = (0..400).map(|n| format!("canary {n} of {address}\n")).collect();
        let head =
            format!("From: x@example.com\nTo: {address}\nSubject: long\nMessage-ID: <2@{address}>");
        write_message(&mail.path().join(address), "two.eml", &head, &body);
    }
    Stage::start(&names, settings, Some(mail), Some(issuer.settings(HERE))).await
}

/// Returns a call that would be answered with a valid token.
fn search(caller: &Caller) -> Value {
    caller.request("tools/call", json!({"name": "mail_search", "arguments": {"q": "for"}}))
}

/// Sends the call to `path`, with these headers in addition to those of its era.
async fn send(stage: &Stage, path: &str, headers: &[(&str, &str)]) -> Reply {
    let caller = stage.modern("");
    let request = search(&caller);
    let usual = caller.headers(&request);
    let mut all: Vec<(&str, &str)> =
        usual.iter().map(|(name, value)| (&**name, &**value)).collect();
    all.extend(headers);
    caller.http.send("POST", path, &all, request.to_string()).await
}

/// Asserts that a reply is a refusal with these words in its challenge, and discloses no data.
fn assert_refused(reply: &Reply, status: u16, challenge: &str, name: &str) {
    assert_eq!(reply.status, status, "{name}: {}", reply.text());
    let got = reply.header("www-authenticate");
    assert!(got.starts_with("Bearer") && got.contains(challenge), "{name}: {got}");
    assert!(got.contains("/.well-known/oauth-protected-resource/mcp\""), "{name}: {got}");
    for secret in ["@example.com", "eyJ", "panicked", "/src/"] {
        assert!(!reply.text().contains(secret), "{name}: {}", reply.text());
        assert!(!got.contains(secret), "{name}: {got}");
    }
}

#[tokio::test]
async fn tokens_of_others_are_refused() {
    let issuer = TestIssuer::start().await;
    let other = TestIssuer::start().await;
    let stage = stage(&issuer, &[]).await;
    let now = clock::now().as_second();
    let head = json!({"alg": "RS256", "typ": "at+jwt", "kid": "rsa"});
    let claims = issuer.claims("ann", HERE);
    let signed = |header: Value, by: &str| sign(&with(&head, &header), &claims, by);
    let says = |changes: Value| issuer.token("ann", HERE, &changes);
    let good = says(json!({}));
    let accepted = send(&stage, "/mcp", &[("authorization", &format!("Bearer {good}"))]).await;
    assert!(accepted.text().contains("for ann@example.com"), "{}", accepted.text());
    let (unsigned, _) = good.rsplit_once('.').unwrap();
    let bos = issuer.token("bo", HERE, &json!({}));
    let swapped: Vec<&str> = good.split('.').collect();
    let swapped = [swapped[0], bos.split('.').nth(1).unwrap(), swapped[2]].join(".");
    let stolen = format!("{}/stolen", other.url);
    for (name, token, status, challenge) in cases![
        "another audience", says(json!({"aud": "https://other.example/mcp"})), 401, "audience";
        "the issuer's own audience", says(json!({"aud": issuer.url})), 401, "audience";
        "no audience", says(json!({"aud": null})), 401, "audience";
        "another issuer", other.token("ann", HERE, &json!({})), 401, "invalid_token";
        "another issuer that says it is ours",
            sign(&head, &claims, "next"), 401, "signature";
        "our issuer's keys for another", says(json!({"iss": other.url})), 401, "another issuer";
        "alg=none", signed(json!({"alg": "none"}), "rsa"), 401, "algorithm";
        "alg=None", signed(json!({"alg": "NONE", "kid": null}), "rsa"), 401, "algorithm";
        "key confusion", signed(json!({"alg": "HS256"}), "rsa"), 401, "algorithm";
        "key of another kind", signed(json!({"kid": "ec"}), "rsa"), 401, "unknown";
        "no signature", unsigned.to_owned(), 401, "not a JWT";
        "empty signature", format!("{unsigned}."), 401, "signature";
        "claims of another token", swapped, 401, "signature";
        "expired", says(json!({"exp": now - 3600})), 401, "expired";
        "expiry as a text", says(json!({"exp": "9999999999"})), 401, "not a number";
        "no expiry", says(json!({"exp": null})), 401, "has no expiry";
        "not valid yet", says(json!({"nbf": now + 3600})), 401, "not valid yet";
        "another type", signed(json!({"typ": "logout+jwt"}), "rsa"), 401, "type";
        "no type", signed(json!({"typ": null}), "rsa"), 401, "type";
        "an ID token", says(json!({"nonce": "n", "scope": null})), 401, "not an access token";
        "a refresh token", says(json!({"typ": "Refresh"})), 401, "not an access token";
        "bound to a key", says(json!({"cnf": {"jkt": "x"}})), 401, "bound";
        "no subject", says(json!({"sub": null})), 401, "subject";
        "an empty subject", says(json!({"sub": ""})), 401, "subject";
        "a list of subjects", says(json!({"sub": ["ann", "bo"]})), 401, "subject";
        "a path as the key's name", signed(json!({"kid": "../../etc/passwd"}), "rsa"), 401,
            "unknown";
        "a query as the key's name", signed(json!({"kid": "rsa' --"}), "rsa"), 401, "unknown";
        "keys at an address", signed(json!({"jku": stolen}), "next"), 401, "signature";
        "a key that comes along", signed(json!({"jwk": key("next")["jwk"]}), "next"), 401,
            "signature";
        "a certificate at an address", signed(json!({"x5u": stolen}), "next"), 401, "signature";
        "an unknown extension", signed(json!({"crit": ["b64"], "b64": false}), "rsa"), 401,
            "extensions";
        "a long token", "x".repeat(9_000), 401, "too long";
        "no scope", says(json!({"scope": "openid email"})), 403, "insufficient_scope";
        "a scope of other letters", says(json!({"scope": "DAYSHEET:FULL"})), 403,
            "insufficient_scope";
    ] {
        let reply = send(&stage, "/mcp", &[("authorization", &format!("Bearer {token}"))]).await;
        assert_refused(&reply, status, challenge, name);
    }
    assert_eq!(other.asked("/stolen").len(), 0);

    let (bearer, lower) = (format!("Bearer {good}"), format!("bearer {good}"));
    let two = format!("Bearer {good}, Bearer {bos}");
    let in_query = format!("/mcp?access_token={good}");
    let basic = format!("Basic {good}");
    let (spaced, cookie) =
        (format!("Bearer  {good}"), format!("token={good}; access_token={good}"));
    let ann: &[(&str, &str)] = &[
        ("x-forwarded-user", "ann"),
        ("x-forwarded-email", "ann@example.com"),
        ("x-user-id", "ann"),
        ("remote-user", "ann"),
        ("mcp-session-id", "ann"),
    ];
    let rows: &[(&str, &str, &[(&str, &str)], u16, &str)] = &[
        ("no token", "/mcp", &[], 401, "scope=\"daysheet:full\""),
        ("an empty token", "/mcp", &[("authorization", "Bearer")], 401, "malformed"),
        ("spaces", "/mcp", &[("authorization", &spaced)], 401, "malformed"),
        ("another scheme", "/mcp", &[("authorization", &basic)], 401, "scope"),
        ("a token in the address", &in_query, &[], 400, "invalid_request"),
        ("a token at both places", &in_query, &[("authorization", &bearer)], 400, "in a URL"),
        (
            "a token in the address, encoded",
            "/mcp?%61ccess_token=x",
            &[("authorization", &bearer)],
            400,
            "in a URL",
        ),
        (
            "two tokens",
            "/mcp",
            &[("authorization", &bearer), ("authorization", &format!("Bearer {bos}"))],
            400,
            "two tokens",
        ),
        (
            "the same token twice",
            "/mcp",
            &[("authorization", &bearer), ("authorization", &lower)],
            400,
            "two tokens",
        ),
        ("two tokens in a line", "/mcp", &[("authorization", &two)], 401, "malformed"),
        ("a token in a cookie", "/mcp", &[("cookie", &cookie)], 401, "scope"),
        ("names in headers", "/mcp", ann, 401, "scope"),
    ];
    for (name, path, headers, status, challenge) in rows {
        assert_refused(&send(&stage, path, headers).await, *status, challenge, name);
    }

    // Keys that the issuer no longer has are worth nothing, however good the token looks.
    let late = stage.another().await;
    issuer.set("/jwks", 200, "", jwks(&["next"]));
    let reply = send(&late, "/mcp", &[("authorization", &bearer)]).await;
    assert_refused(&reply, 401, "unknown", "a key that was withdrawn");
}

/// Handles, cursors, outputs and answers of Ann's calls are useless to Bo, who has a valid token.
#[tokio::test]
async fn nothing_of_anothers_is_reached() {
    let issuer = TestIssuer::start().await;
    let stage = stage(&issuer, &[("DAYSHEET_OUTPUTS", "disk")]).await;
    let [ann, bo] = ["ann", "bo"].map(|name| {
        let token = issuer.token(name, HERE, &json!({"email": "ann@example.com"}));
        Caller::new(&stage, &token, MODERN)
    });
    // Her handles, a cursor, the id of an output and the hash of an answer.
    let list = ann.ok("mail_search", json!({"q": "in:all", "limit": 1, "known": "?"})).await;
    let handle = list.split_whitespace().find(|word| is_handle(word)).unwrap().to_owned();
    let cursor = after(&list, "next: ");
    let long = ann.ok("mail_search", json!({"q": "subject:long"})).await;
    let long = long.split_whitespace().find(|word| is_handle(word)).unwrap().to_owned();
    let read = ann.ok("mail_read", json!({"ids": [long], "budget": 400})).await;
    let output = after(&read, "output_read id=");
    let undo = ann.ok("mail_modify", json!({"ids": [handle], "do": "star"})).await;
    let undo = after(&undo, "undo: ");
    let owner = daysheet_auth::CallingPerson::new(
        daysheet_auth::TokenSubject { issuer: &issuer.url, subject: "ann" },
        None,
        daysheet_core::access::AccessLevel::Full,
    );

    for (tool, arguments) in [
        ("mail_read", json!({"ids": [handle]})),
        ("mail_read", json!({"ids": [long]})),
        ("mail_read", json!({"ids": ["m1", "m2", "m3", "m4"]})),
        ("mail_read", json!({"ids": ["google:ann@example.com:1"]})),
        ("mail_search", json!({"q": "in:all", "limit": 1, "cursor": cursor})),
        ("mail_search", json!({"q": "in:all", "account": "ann@example.com"})),
        ("mail_search", json!({"q": "in:all", "account": "google:ann@example.com"})),
        ("mail_search", json!({"q": "in:all", "owner": owner.owner})),
        ("mail_search", json!({"q": "in:all", "user": "ann"})),
        ("output_read", json!({"id": output})),
        ("output_read", json!({"id": format!("daysheet://output/{output}")})),
        ("accounts", json!({})),
        ("accounts", json!({"op": "remove", "account": "ann@example.com"})),
        ("mail_modify", json!({"undo": undo})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        for caller in [&bo, &Caller::new(&stage, &bo.http.token, OLD)] {
            let reply = caller.send("tools/call", params.clone()).await;
            let shown = reply.text();
            assert!(!is_anns(&shown), "{tool} {arguments}: {shown}");
        }
    }
    for uri in [format!("daysheet://output/{output}"), format!("daysheet://attachment/{handle}")] {
        let reply = bo.send("resources/read", json!({"uri": uri})).await;
        assert!(!is_anns(&reply.text()), "{uri}: {}", reply.text());
    }
    // A session is no proof of anything.
    let mut old = Caller::new(&stage, &ann.http.token, OLD);
    old.initialize(json!({"elicitation": {"form": {}}})).await;
    let mut thief = Caller::new(&stage, &bo.http.token, OLD);
    thief.session = old.session.clone().or(Some("guessed".to_owned()));
    let reply = thief.post(&search(&thief)).await;
    assert!(!is_anns(&reply.text()), "{}", reply.text());
    thief.http.token = String::new();
    assert_eq!(thief.post(&search(&thief)).await.status, 401);
    // She still has what she had.
    assert!(is_anns(&ann.ok("mail_read", json!({"ids": [long]})).await));
    let starred = ann.ok("mail_search", json!({"q": "is:starred"})).await;
    assert!(is_anns(&starred), "her action was undone: {starred}");
}

/// Returns true for text of one of Ann's messages. A call's own arguments may be repeated.
fn is_anns(text: &str) -> bool {
    text.contains("for ann@") || text.contains("of ann@")
}

/// Returns the word after `mark`.
fn after(text: &str, mark: &str) -> String {
    let (_, rest) = text.split_once(mark).unwrap_or_else(|| panic!("no {mark}: {text}"));
    rest.chars().take_while(|c| c.is_alphanumeric()).collect()
}

fn is_handle(word: &str) -> bool {
    word.len() > 1 && word.starts_with('m') && word[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// A refusal names the scope that the token lacks, and the call has no effect.
#[tokio::test]
async fn weak_tokens_get_the_scope_they_need() {
    let issuer = TestIssuer::start().await;
    let stage = stage(&issuer, &[("DAYSHEET_ACCESS", "send")]).await;
    let caller = |scope: &str, version| {
        let token = issuer.token("ann", HERE, &json!({"scope": scope}));
        Caller::new(&stage, &token, version)
    };
    for (scope, tool, needed) in cases![
        "daysheet:read", "mail_draft", "daysheet:draft";
        "daysheet:read", "mail_modify", "daysheet:organize";
        "daysheet:draft", "mail_send", "daysheet:send";
        "openid daysheet:organize", "mail_send", "daysheet:send";
    ] {
        for version in [MODERN, OLD] {
            let params = json!({"name": tool, "arguments": {}});
            let reply = caller(scope, version).send("tools/call", params).await;
            assert_refused(&reply, 403, "error=\"insufficient_scope\"", tool);
            let scope = format!("scope=\"{needed}\"");
            assert!(reply.header("www-authenticate").contains(&scope), "{tool}");
            let next = format!("does not allow {tool}: get one with the scope {needed}");
            assert!(reply.text().contains(&next), "{}", reply.text());
        }
    }
    // A header that names another tool than the body changes nothing.
    let weak = caller("daysheet:read", MODERN);
    let request = weak.request("tools/call", json!({"name": "mail_draft", "arguments": {}}));
    let mut headers = weak.headers(&request);
    headers.retain(|(name, _)| name != "mcp-name");
    headers.push(("mcp-name".to_owned(), "mail_search".to_owned()));
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    let reply = weak.http.send("POST", "/mcp", &headers, request.to_string()).await;
    assert_eq!(reply.status, 403, "{}", reply.text());
    // What the settings do not allow, no token would: the tool says so.
    let strong = caller("daysheet:full", MODERN);
    let params = json!({"name": "mail_delete", "arguments": {"ids": ["m1"]}});
    let reply = strong.send("tools/call", params).await;
    assert!(
        reply.status != 403 && reply.text().contains("error") || reply.text().contains("isError")
    );
    // Read is enough to read; and the list has only what the token allows.
    let found = weak.ok("mail_search", json!({"q": "for"})).await;
    assert!(found.contains("for ann@example.com"), "{found}");
    let tools = message(&weak.send("tools/list", json!({})).await)["result"]["tools"].to_string();
    assert!(tools.contains("mail_search") && !tools.contains("mail_send"), "{tools}");
}

#[tokio::test]
async fn clients_find_the_issuer_of_tokens() {
    let issuer = TestIssuer::start().await;
    let stage = stage(&issuer, &[("DAYSHEET_ACCESS", "organize")]).await;
    let expected = json!({
        "resource": stage.url("/mcp"),
        "authorization_servers": [issuer.url],
        "scopes_supported": ["daysheet:read", "daysheet:organize"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Daysheet",
    });
    let nobody = stage.modern("");
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let reply = nobody.http.send("GET", path, &[], "").await;
        assert_eq!(reply.answer(), (200, expected.clone()), "{path}");
        assert_eq!(reply.header("content-type"), "application/json");
    }
    let challenge = nobody.post(&search(&nobody)).await;
    assert_eq!(
        challenge.header("www-authenticate"),
        format!(
            "Bearer scope=\"daysheet:organize\", resource_metadata=\"{}\"",
            stage.url("/.well-known/oauth-protected-resource/mcp")
        )
    );
    // With a prefix, a client asks for the whole name.
    let mut settings = issuer.settings(HERE);
    settings.scope_prefix = "api://mail/".to_owned();
    let prefixed = Stage::start(&[], &[("DAYSHEET_ACCESS", "read")], None, Some(settings)).await;
    let nobody_there = prefixed.modern("");
    let path = "/.well-known/oauth-protected-resource";
    let metadata = nobody_there.http.send("GET", path, &[], "").await.json();
    assert_eq!(metadata["scopes_supported"], json!(["api://mail/daysheet:read"]));
    let challenge = nobody_there.post(&search(&nobody_there)).await;
    let challenge = challenge.header("www-authenticate");
    assert!(challenge.contains("scope=\"api://mail/daysheet:read\""), "{challenge}");
    // While the issuer is down, nobody is let in, and no token is called bad.
    issuer.set("/.well-known/openid-configuration", 503, "", Value::Null);
    let ann = Caller::new(&stage, &issuer.token("ann", HERE, &json!({})), MODERN);
    let reply = ann.post(&search(&ann)).await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, "5"), "{}", reply.text());

    // Where there is no issuer, there is no metadata.
    let known = Stage::of(&["ann"]).await;
    let known = known.modern("");
    let path = "/.well-known/oauth-protected-resource";
    assert_eq!(known.http.send("GET", path, &[], "").await.status, 404);
    let reply = known.post(&search(&known)).await;
    assert_eq!((reply.status, reply.header("www-authenticate")), (401, "Bearer"));
}

/// Without tokens, a server serves only its own machine.
#[tokio::test]
async fn other_machines_need_a_token() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (_, line) = daysheet_auth::new_token(None, Some("laptop")).unwrap();
    let (good, bad) = (file("good", &line), file("bad", "hunter2"));
    const ISSUER: (&str, &str) = ("DAYSHEET_HTTP_ISSUER", "https://id.example.com/realms/team");
    let client = ("DAYSHEET_HTTP_CLIENT_ID", "daysheet");
    let ask = ("DAYSHEET_HTTP_INTROSPECTION", "on");
    let proxy = ("DAYSHEET_HTTP_PROXY", "on");
    let public = ("DAYSHEET_HTTP_PUBLIC_URL", "https://mail.example.com");
    let (here, all) = (Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED);
    for (settings, address, expected) in cases![
        vec![], here, "open";
        vec![], all, "without a token";
        vec![], Ipv4Addr::new(192, 168, 0, 2), "without a token";
        // Others reach an address of this machine through a proxy.
        vec![proxy], here, "without a token: it is behind a proxy";
        vec![public], here, "without a token: http.public_url or";
        vec![("DAYSHEET_HTTP_HOSTS", "localhost, mail.example.com")], here, "or http.hosts names";
        vec![("DAYSHEET_HTTP_HOSTS", "localhost:81, [::1]")], here, "open";
        vec![ISSUER], all, "issuer";
        vec![("DAYSHEET_HTTP_TOKEN_FILE", &*good)], all, "tokens";
        vec![("DAYSHEET_HTTP_TOKEN_FILE", &*bad)], here, "line 1 is not the SHA-256";
        vec![("DAYSHEET_HTTP_TOKEN_FILE", "/nowhere")], here, "cannot be read";
        vec![ISSUER, ("DAYSHEET_HTTP_TOKEN_FILE", &*good)], here, "both an issuer and";
        vec![ISSUER, ("DAYSHEET_HTTP_ALGORITHMS", "ES256, rs256")], here, "issuer";
        vec![ISSUER, ("DAYSHEET_HTTP_ALGORITHMS", "RS256,HS256")], here, "unknown or symmetric";
        vec![ISSUER, ("DAYSHEET_HTTP_ALGORITHMS", "none")], here, "unknown or symmetric";
        vec![ISSUER, ask], here, "introspection needs a client";
        vec![ISSUER, ask, client], here, "introspection needs a client";
        vec![ISSUER, ask, client, ("DAYSHEET_HTTP_CLIENT_SECRET", "x")], here, "issuer";
        vec![("DAYSHEET_HTTP_ISSUER", "https://id.example.com/?a=b")], here, "not the URL";
    ] {
        let home = folder.path().to_str().unwrap();
        let var = |name: &str| {
            let set = settings.iter().find(|(known, _)| *known == name);
            set.map(|(_, value)| (*value).to_owned())
                .or_else(|| (name == "DAYSHEET_HOME").then(|| home.to_owned()))
        };
        let mut config = Config::from(var, None, None, clock::clock()).unwrap();
        config.pages = Some("https://mail.example.com/".parse().unwrap());
        let shown = match verifier(&config, address.into()) {
            Ok(TokenVerifier::Open(_)) => "open".to_owned(),
            Ok(TokenVerifier::Known(_)) => "tokens".to_owned(),
            Ok(TokenVerifier::Issuer(at)) => {
                assert_eq!(at.issuer(), ISSUER.1);
                "issuer".to_owned()
            }
            Err(error) => error.to_string(),
        };
        assert!(shown.contains(expected) && !shown.contains("hunter2"), "{settings:?}: {shown}");
    }
}

/// Malformed requests, and bodies with more than one request.
#[tokio::test]
async fn odd_requests_are_refused() {
    let issuer = TestIssuer::start().await;
    let stage = stage(&issuer, &[]).await;
    let caller = Caller::new(&stage, &issuer.token("ann", HERE, &json!({})), OLD);
    let request = search(&caller);
    let one = request.to_string();
    let twice = one.replacen("\"method\"", "\"method\":\"ping\",\"method\"", 1);
    for (name, body) in cases![
        "nothing", Vec::new();
        "no JSON", b"access_token=x".to_vec();
        "no text", vec![0xff, 0xfe, 0x00];
        "half", one.as_bytes()[..one.len() / 2].to_vec();
        "two", format!("{one}{one}").into_bytes();
        "a list", format!("[{one},{one}]").into_bytes();
        "deep", [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        "a long number", format!("{{\"id\":{}}}", "9".repeat(100_000)).into_bytes();
        "two methods", twice.into_bytes();
        "no method", json!({"jsonrpc": "2.0", "id": 1}).to_string().into_bytes();
        "another protocol", json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}).to_string().into_bytes();
    ] {
        let headers = caller.headers(&request);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let reply = caller.http.send("POST", "/mcp", &headers, body).await;
        assert!((400..500).contains(&reply.status), "{name}: {} {}", reply.status, reply.text());
        assert!(!reply.text().contains("for ann"), "{name}: {}", reply.text());
    }
    // A page of another site may post a form without asking: it is no request of MCP.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        let mut headers = caller.headers(&request);
        headers.retain(|(name, _)| name != "content-type");
        headers.push(("content-type".to_owned(), kind.to_owned()));
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let reply = caller.http.send("POST", "/mcp", &headers, one.clone()).await;
        assert_eq!(reply.status, 415, "{kind}: {}", reply.text());
    }
    for method in ["PUT", "PATCH", "TRACE", "CONNECT", "get", "POSTX"] {
        let request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             X-HTTP-Method-Override: POST\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{one}",
            caller.http.token,
            one.len()
        );
        let reply = stage.raw(request.as_bytes()).await;
        let status = reply.split(' ').nth(1).unwrap_or_default();
        assert!(status.starts_with('4'), "{method}: {reply}");
        // It would repeat the token.
        assert!(!reply.contains(&caller.http.token), "{method}: {reply}");
    }
}
