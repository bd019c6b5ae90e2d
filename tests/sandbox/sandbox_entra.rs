//! The sandbox's Microsoft sign-in, from outside: codes, refresh tokens, device codes, refusals;
//! and Google's look-ups of people and settings.
//!
//! The Graph tests cover the use of a Microsoft token; these tests only check that it opens nothing
//! of Google's.

use std::fs;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::client::{ALLOW, CLIENT, GOOGLE, ME, MICROSOFT, Reply, User, VERIFIER, form};
use crate::common::clock;

const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";
const DENY: &[(&str, &str)] = &[("x-sandbox-consent", "deny")];

// The client's side -------------------------------------------------------

impl Reply {
    fn tokens(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// Returns the status, error code and error number of a refusal.
    fn refused(&self) -> (u16, String, u64) {
        let body = self.json();
        let number = body["error_codes"][0].as_u64().unwrap();
        let description = body["error_description"].as_str().unwrap();
        assert!(description.starts_with(&format!("AADSTS{number}: ")), "{description}");
        (self.status, body["error"].as_str().unwrap().to_owned(), number)
    }
}

/// A user who signs in by hand.
struct Web(User);

impl Web {
    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.0.send("GET", path, headers, "").await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.0.send("POST", path, &[], form(fields.iter().copied())).await
    }

    /// Sends an authorization request with these changes. An empty value removes the parameter.
    async fn authorize(&self, changes: &[(&str, &str)], headers: &[(&str, &str)]) -> Reply {
        let usual = [("scope", "offline_access Mail.Read User.Read"), ("login_hint", ME)];
        let page = MICROSOFT.authorization(&[&usual, changes].concat(), true);
        self.get(&page, headers).await
    }

    async fn code(&self, changes: &[(&str, &str)]) -> String {
        let back = self.authorize(changes, ALLOW).await.location();
        back["code"].clone()
    }

    /// Sends a token request by code, with these changes.
    async fn token(&self, changes: &[(&str, &str)]) -> Reply {
        self.0.send("POST", MICROSOFT.token, &[], MICROSOFT.token_request(changes)).await
    }

    async fn sign_in(&self, changes: &[(&str, &str)]) -> Value {
        let code = self.code(changes).await;
        self.token(&[("code", &code)]).await.tokens()
    }

    async fn refresh(&self, token: &Value, changes: &[(&str, &str)]) -> Reply {
        let token = token.as_str().unwrap();
        let usual = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token),
            ("redirect_uri", ""),
            ("code_verifier", ""),
        ];
        self.token(&[&usual, changes].concat()).await
    }

    async fn device(&self) -> Value {
        let fields = [("client_id", CLIENT), ("scope", "Mail.Read offline_access")];
        let path = "/organizations/oauth2/v2.0/devicecode";
        self.post(path, &fields).await.tokens()
    }

    async fn poll(&self, device: &Value) -> Reply {
        let fields = [
            ("grant_type", DEVICE),
            ("client_id", CLIENT),
            ("device_code", device["device_code"].as_str().unwrap()),
        ];
        self.post("/organizations/oauth2/v2.0/token", &fields).await
    }

    async fn type_code(&self, device: &Value, headers: &[(&str, &str)]) -> Reply {
        let code = device["user_code"].as_str().unwrap();
        let body = form([("user_code", code), ("login_hint", ME)]);
        self.0.send("POST", "/common/oauth2/deviceauth", headers, body).await
    }

    /// Obtains a Google access token with these scopes.
    async fn google(&self, scope: &str) -> Value {
        self.0.sign_in(&GOOGLE, ME, scope).await
    }

    async fn bearing(&self, path: &str, token: &Value) -> Reply {
        let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
        self.get(path, &[("authorization", &bearer)]).await
    }
}

fn messages(messages: &[&str]) -> TempDir {
    let dir = TempDir::new().unwrap();
    let mine = dir.path().join(ME);
    fs::create_dir(&mine).unwrap();
    for (number, message) in messages.iter().enumerate() {
        fs::write(mine.join(format!("{number}.eml")), message).unwrap();
    }
    dir
}

async fn small(options: SandboxOptions) -> (TempDir, Sandbox, Web) {
    let dir = messages(&["From: a@x.example\nSubject: hi\n\nhello\n"]);
    let mail = Some(dir.path().to_owned());
    let sandbox = Sandbox::start(SandboxOptions { mail, ..options }).await.unwrap();
    let web = Web(User::nobody(sandbox.base()));
    (dir, sandbox, web)
}

fn fast() -> SandboxOptions {
    SandboxOptions { device_interval: Duration::ZERO, ..SandboxOptions::new(clock::clock()) }
}

// Authorization -----------------------------------------------------------

#[tokio::test]
async fn sign_in_by_code_returns_tokens() {
    let (_dir, _sandbox, web) = small(fast()).await;
    let back = web.authorize(&[], ALLOW).await.location();
    assert_eq!(back["state"], "st&te");
    assert_eq!(back.keys().len(), 2, "{back:?}");
    let reply = web.token(&[("code", &back["code"])]).await;
    assert_eq!(reply.header("cache-control"), "no-store, no-cache");
    let mut tokens = reply.tokens();
    for (name, least) in [("access_token", 1_400), ("refresh_token", 1_000)] {
        let token = tokens[name].take();
        assert!(token.as_str().unwrap().len() >= least, "{name}");
    }
    assert_eq!(
        tokens,
        json!({
            "token_type": "Bearer", "scope": "Mail.Read User.Read", "expires_in": 3_600,
            "ext_expires_in": 3_600, "access_token": null, "refresh_token": null,
        })
    );
    // Without a state, none is sent back.
    let back = web.authorize(&[("state", "")], ALLOW).await.location();
    assert!(!back.contains_key("state"));
    let denied = web.authorize(&[], DENY).await.location();
    assert_eq!(denied["error"], "access_denied");
    assert_eq!(denied["error_subcode"], "cancel");
    assert_eq!(denied["state"], "st&te");
    assert!(denied["error_description"].starts_with("AADSTS65004: "));
}

#[tokio::test]
async fn sign_in_by_page_works() {
    let (_dir, _sandbox, web) = small(fast()).await;
    let page = web.authorize(&[("client_id", "<script>")], &[]).await;
    let text = page.text();
    assert_eq!(page.status, 200);
    for part in [
        "This is not Microsoft",
        "&lt;script&gt;",
        "value=\"mira@example.com\" checked",
        "<code>Mail.Read</code>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("<script>"));
    let ticket = text.split("name=request value=\"").nth(1).unwrap();
    let ticket = ticket.split('"').next().unwrap();
    let fields = [("request", ticket), ("mailbox", ME), ("decision", "allow")];
    // Google's page does not take Microsoft's ticket.
    let google = web.post("/o/oauth2/v2/consent", &fields).await;
    assert_eq!(google.status, 400);
    let path = "/common/oauth2/v2.0/consent";
    let code = web.post(path, &fields).await.location()["code"].clone();
    let changes = [("code", code.as_str()), ("client_id", "<script>")];
    assert_eq!(web.token(&changes).await.status, 200);
    assert_eq!(web.post(path, &fields).await.status, 400);
}

#[tokio::test]
async fn scopes_are_parsed_and_returned() {
    let (_dir, _sandbox, web) = small(fast()).await;
    for (request, reported, offline) in cases! {
        "mail.read", "Mail.Read", false;
        "Mail.Read offline_access Mail.Read", "Mail.Read", true;
        "https://graph.microsoft.com/mail.readwrite HTTPS://Graph.microsoft.com/Mail.Send",
            "https://graph.microsoft.com/Mail.ReadWrite https://graph.microsoft.com/Mail.Send",
            false;
    } {
        let tokens = web.sign_in(&[("scope", request)]).await;
        assert_eq!(tokens["scope"], reported, "{request}");
        assert_eq!(tokens["refresh_token"].is_string(), offline, "{request}");
    }
}

#[tokio::test]
async fn invalid_authorization_requests_are_refused() {
    let (_dir, _sandbox, web) = small(fast()).await;
    // To the person: nothing may be sent to a client that is not known.
    for (change, number) in [
        (("client_id", ""), 900_144),
        (("redirect_uri", ""), 900_144),
        (("redirect_uri", "http://evil.example/"), 50_011),
        (("redirect_uri", "https://localhost/"), 50_011),
        (("redirect_uri", "http://localhost.evil.example/"), 50_011),
    ] {
        let reply = web.authorize(&[change], ALLOW).await;
        assert_eq!(reply.status, 400, "{change:?}");
        assert_eq!(reply.header("location"), "");
        let text = reply.text();
        assert!(text.contains(&format!("AADSTS{number}: ")), "{change:?} {text}");
    }
    // To the client.
    for (change, error, number) in [
        (("response_type", ""), "invalid_request", 900_144),
        (("response_type", "token"), "unsupported_response_type", 700_054),
        (("scope", ""), "invalid_request", 900_144),
        (("scope", "Mail.Read Mail.Burn"), "invalid_scope", 70_011),
        (("scope", "https://mail.google.com/"), "invalid_scope", 70_011),
        (("scope", "https://graph.microsoft.com/openid"), "invalid_scope", 70_011),
        (("code_challenge", ""), "invalid_request", 9_002_325),
        (("code_challenge", "short"), "invalid_request", 501_491),
        (("code_challenge_method", "plain"), "invalid_request", 501_491),
        (("code_challenge_method", ""), "invalid_request", 501_491),
    ] {
        let back = web.authorize(&[change], ALLOW).await.location();
        assert_eq!(back["error"], error, "{change:?}");
        assert_eq!(back["state"], "st&te");
        let why = format!("AADSTS{number}: ");
        assert!(back["error_description"].starts_with(&why), "{back:?}");
        assert!(!back.contains_key("code"));
    }
}

// Tokens ------------------------------------------------------------------

#[tokio::test]
async fn invalid_token_requests_are_refused() {
    let (_dir, _sandbox, web) = small(fast()).await;
    for (change, status, error, number) in [
        (("grant_type", ""), 400, "invalid_request", 900_144),
        (("grant_type", "password"), 400, "unsupported_grant_type", 70_003),
        (("client_id", ""), 400, "invalid_request", 900_144),
        (("client_id", "another"), 400, "invalid_grant", 70_000),
        (("client_secret", "s"), 401, "invalid_client", 700_025),
        (("code", ""), 400, "invalid_request", 900_144),
        (("code", "1.Awrong"), 400, "invalid_grant", 9_002_313),
        (("redirect_uri", ""), 400, "invalid_request", 900_144),
        (("redirect_uri", "http://localhost:9/x"), 401, "invalid_client", 500_112),
        (("code_verifier", ""), 400, "invalid_grant", 501_481),
        (("code_verifier", "not-the-verifier"), 400, "invalid_grant", 501_481),
        (("scope", "Mail.Burn"), 400, "invalid_scope", 70_011),
        (("scope", "Mail.Send"), 400, "invalid_grant", 65_001),
        (("grant_type", "refresh_token"), 400, "invalid_request", 900_144),
        (("grant_type", DEVICE), 400, "invalid_request", 900_144),
        (("refresh_token", "ignored"), 200, "", 0),
    ] {
        let code = web.code(&[]).await;
        let reply = web.token(&[("code", &code), change]).await;
        if status == 200 {
            assert_eq!(reply.status, 200, "{change:?} {}", reply.text());
            continue;
        }
        let expected = (status, error.to_owned(), number);
        assert_eq!(reply.refused(), expected, "{change:?}");
    }
    // A code is good for one try, whether it succeeds or not.
    let code = web.code(&[]).await;
    let first = [("code", code.as_str()), ("code_verifier", "wrong")];
    assert_eq!(web.token(&first).await.refused().2, 501_481);
    let expected = (400, "invalid_grant".to_owned(), 54_005);
    assert_eq!(web.token(&[("code", &code)]).await.refused(), expected);
}

#[tokio::test]
async fn refresh_tokens_rotate() {
    let (_dir, sandbox, web) = small(fast()).await;
    let first = web.sign_in(&[]).await;
    let scope = [("scope", "https://graph.microsoft.com/Mail.Read offline_access")];
    let second = web.refresh(&first["refresh_token"], &scope).await.tokens();
    assert_eq!(second["scope"], "Mail.Read User.Read");
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    assert_ne!(second["access_token"], first["access_token"]);
    // The answer may have been lost: until the new one is used, the old works.
    let again = web.refresh(&first["refresh_token"], &[]).await.tokens();
    assert_ne!(again["refresh_token"], second["refresh_token"]);
    let third = web.refresh(&second["refresh_token"], &[]).await.tokens();
    let reused = web.refresh(&first["refresh_token"], &[]).await.refused();
    assert_eq!(reused, (400, "invalid_grant".to_owned(), 70_000));
    assert_eq!(web.refresh(&third["refresh_token"], &[]).await.status, 200);

    for (change, error, number) in [
        (("client_id", "another"), "invalid_grant", 70_000),
        (("scope", "Mail.Send"), "invalid_grant", 65_001),
        (("scope", "Mail.Burn"), "invalid_scope", 70_011),
        (("refresh_token", "1.Ano"), "invalid_grant", 9_002_313),
    ] {
        let reply = web.refresh(&third["refresh_token"], &[change]).await;
        assert_eq!(reply.refused(), (400, error.to_owned(), number), "{change:?}");
    }
    // Ending access tokens spares refresh tokens; ending all does not.
    sandbox.expire_access_tokens();
    assert_eq!(web.refresh(&third["refresh_token"], &[]).await.status, 200);
    let google = web.google("https://mail.google.com/").await;
    sandbox.revoke_all();
    let reply = web.refresh(&third["refresh_token"], &[]).await;
    assert_eq!(reply.refused(), (400, "invalid_grant".to_owned(), 50_173));
    assert_eq!(reply.json()["suberror"], "bad_token");
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", CLIENT),
        ("refresh_token", google["refresh_token"].as_str().unwrap()),
    ];
    let reply = web.post("/token", &fields).await;
    assert_eq!(reply.json()["error"], "invalid_grant");
}

#[tokio::test]
async fn tokens_open_nothing_at_the_other_issuer() {
    let (_dir, _sandbox, web) = small(fast()).await;
    let google = web.google("https://mail.google.com/").await;
    let microsoft = web.sign_in(&[]).await;
    let reply = web.refresh(&google["refresh_token"], &[]).await;
    assert_eq!(reply.refused(), (400, "invalid_grant".to_owned(), 9_002_313));
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", CLIENT),
        ("refresh_token", microsoft["refresh_token"].as_str().unwrap()),
    ];
    let expected = json!({
        "error": "invalid_grant", "error_description": "Token has been expired or revoked.",
    });
    assert_eq!(web.post("/token", &fields).await.json(), expected);
    for name in ["access_token", "refresh_token"] {
        let fields = [("token", microsoft[name].as_str().unwrap())];
        let reply = web.post("/revoke", &fields).await;
        assert_eq!(reply.json()["error"], "invalid_token", "{name}");
    }
    let code = web.code(&[]).await;
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", CLIENT),
        ("redirect_uri", MICROSOFT.callback),
        ("code_verifier", VERIFIER),
        ("code", &code),
    ];
    assert_eq!(web.post("/token", &fields).await.status, 400);
    assert_eq!(web.token(&[("code", &code)]).await.status, 200);
    let profile = "/gmail/v1/users/me/profile";
    assert_eq!(web.bearing(profile, &google).await.status, 200);
    assert_eq!(web.bearing(profile, &microsoft).await.status, 401);
}

// Devices -----------------------------------------------------------------

#[tokio::test]
async fn client_libraries_find_endpoints_and_account() {
    let (_dir, sandbox, web) = small(fast()).await;
    let base = sandbox.base();
    let found = web.get("/common/discovery/instance?api-version=1.1", &[]).await.tokens();
    let here = format!("{base}/common/v2.0/.well-known/openid-configuration");
    assert_eq!(found["tenant_discovery_endpoint"], here);
    assert_eq!(found["metadata"][0]["aliases"][0], "login.microsoftonline.com");
    let found = web.get("/consumers/v2.0/.well-known/openid-configuration", &[]).await.tokens();
    for (name, end) in [
        ("authorization_endpoint", "authorize"),
        ("token_endpoint", "token"),
        ("device_authorization_endpoint", "devicecode"),
    ] {
        assert_eq!(found[name], format!("{base}/consumers/oauth2/v2.0/{end}"));
    }

    let scope = ("scope", "openid profile offline_access Mail.Read User.Read");
    let code = web.code(&[scope]).await;
    let tokens = web.token(&[("code", &code), ("client_info", "1")]).await.tokens();
    let read = |part: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let token: Vec<&str> = tokens["id_token"].as_str().unwrap().split('.').collect();
    let claims = read(token[1]);
    assert_eq!((read(token[0])["alg"].clone(), token[2]), (json!("none"), ""));
    assert_eq!((&claims["iss"], &claims["preferred_username"]), (&found["issuer"], &json!(ME)));
    assert_eq!(
        (&claims["aud"], claims["exp"].as_u64()),
        (&json!(CLIENT), claims["iat"].as_u64().map(|at| at + 3_600),)
    );
    let info = read(tokens["client_info"].as_str().unwrap());
    assert_eq!(info, json!({ "uid": claims["oid"], "utid": claims["tid"] }));

    // `.default` is what was granted before, and at a first sign-in everything.
    let default = "https://graph.microsoft.com/.default";
    let reply = web.refresh(&tokens["refresh_token"], &[("scope", default)]).await.tokens();
    assert_eq!(reply["scope"], format!("openid profile Mail.Read User.Read {default}"));
    let all = web.sign_in(&[("scope", default)]).await["scope"].take();
    assert!(all.as_str().unwrap().contains("Calendars.ReadWrite.Shared"), "{all}");
}

#[tokio::test]
async fn device_code_is_accepted() {
    let (_dir, sandbox, web) = small(fast()).await;
    let mut device = web.device().await;
    let code = device["user_code"].as_str().unwrap().to_owned();
    assert_eq!(code.len(), 9);
    let page = format!("{}/organizations/oauth2/deviceauth", sandbox.base());
    let message = format!(
        "To sign in, use a web browser to open the page {page} and enter the code {code} to \
         authenticate."
    );
    assert_eq!(device["verification_uri"], page);
    assert_eq!(device["message"], message);
    assert_eq!(device["expires_in"], 900);
    assert_eq!(device["interval"], 0);
    assert_eq!(device.as_object().unwrap().len(), 6);
    let pending = (400, "authorization_pending".to_owned(), 70_016);
    assert_eq!(web.poll(&device).await.refused(), pending);

    // A person types it, in their own way.
    let path = "/organizations/oauth2/deviceauth";
    let shown = web.get(&format!("{path}?user_code={code}"), &[]).await;
    assert!(shown.text().contains(&format!("value=\"{code}\"")));
    let (one, two) = code.split_at(4);
    let typed = format!(" {}-{}", one.to_lowercase(), two.to_lowercase());
    let wrong = [("user_code", "AAAAAAAAA"), ("mailbox", ME)];
    assert_eq!(web.post(path, &wrong).await.status, 400);
    let nobody = [("user_code", &*code), ("mailbox", "x@y.example")];
    assert_eq!(web.post(path, &nobody).await.status, 400);
    assert_eq!(web.poll(&device).await.refused(), pending);
    let fields = [("user_code", &*typed), ("mailbox", ME), ("decision", "allow")];
    let reply = web.post(path, &fields).await;
    assert!(reply.text().contains("You have signed in"), "{}", reply.text());
    assert_eq!(web.post(path, &fields).await.status, 400, "a code is typed once");

    let tokens = web.poll(&device).await.tokens();
    assert_eq!(tokens["scope"], "Mail.Read");
    assert_eq!(web.refresh(&tokens["refresh_token"], &[]).await.status, 200);
    let refusal = (400, "bad_verification_code".to_owned(), 70_018);
    assert_eq!(web.poll(&device).await.refused(), refusal);
    device["device_code"] = "nothing".into();
    assert_eq!(web.poll(&device).await.refused(), refusal);
    for (fields, error, number) in [
        (vec![("client_id", CLIENT)], "invalid_request", 900_144),
        (vec![("scope", "Mail.Read")], "invalid_request", 900_144),
        (vec![("client_id", CLIENT), ("scope", "Mail.Burn")], "invalid_scope", 70_011),
    ] {
        let reply = web.post("/common/oauth2/v2.0/devicecode", &fields).await;
        assert_eq!(reply.refused(), (400, error.to_owned(), number));
    }
}

#[tokio::test]
async fn device_code_is_refused_or_pending() {
    let (_dir, sandbox, web) = small(fast()).await;
    let device = web.device().await;
    assert_eq!(web.type_code(&device, DENY).await.status, 200);
    for _ in 0..2 {
        let declined = (400, "authorization_declined".to_owned(), 65_004);
        assert_eq!(web.poll(&device).await.refused(), declined);
    }
    let device = web.device().await;
    sandbox.revoke_all();
    assert_eq!(web.poll(&device).await.refused().1, "bad_verification_code");

    let interval = Duration::from_millis(300);
    let options =
        SandboxOptions { device_interval: interval, ..SandboxOptions::new(clock::clock()) };
    let (_dir, _sandbox, web) = small(options).await;
    let device = web.device().await;
    assert_eq!(device["interval"], 1, "rounded up");
    assert_eq!(web.poll(&device).await.refused().1, "authorization_pending");
    let slow = (400, "slow_down".to_owned(), 70_016);
    assert_eq!(web.poll(&device).await.refused(), slow);
    assert_eq!(web.type_code(&device, ALLOW).await.status, 200);
    assert_eq!(web.poll(&device).await.refused(), slow);
    tokio::time::sleep(interval + Duration::from_millis(20)).await;
    assert_eq!(web.poll(&device).await.status, 200);

    let options = SandboxOptions { device_lifetime: Duration::from_millis(30), ..fast() };
    let (_dir, _sandbox, web) = small(options).await;
    let device = web.device().await;
    tokio::time::sleep(Duration::from_millis(40)).await;
    let expired = (400, "expired_token".to_owned(), 70_020);
    assert_eq!(web.poll(&device).await.refused(), expired);
    assert_eq!(web.type_code(&device, ALLOW).await.status, 400);
}

// Google's look-ups -------------------------------------------------------

const READONLY: &str = "https://www.googleapis.com/auth/gmail.readonly";
const CONTACTS: &str = "https://www.googleapis.com/auth/contacts.readonly";
const OTHERS: &str = "https://www.googleapis.com/auth/contacts.other.readonly";

async fn people() -> (TempDir, Sandbox, Web) {
    let dir = messages(&[
        "From: Mira L <mira@example.com>\nTo: \"Voss, Anna\" <Anna@Voss.example>, b@x.example\n\
         Cc: Mira <mira+news@example.com>\nDate: Tue, 3 Mar 2026 10:00:00 +0000\n\nhello\n",
        "From: =?utf-8?q?Anna_V=C3=B6ss?= <anna@voss.example>\nTo: mira@example.com\n\
         Date: Wed, 4 Mar 2026 10:00:00 +0000\n\nhello\n",
        "From: Jan van Dijk <jan@dijk.example>\nTo: mira@example.com, c@x.example\n\
         Date: Wed, 4 Mar 2026 11:00:00 +0000\n\nhello\n",
        "From: news@dijk.example\nTo: mira@example.com\n\
         Date: Thu, 5 Mar 2026 11:00:00 +0000\n\nhello\n",
        "From: Spammer <spam@dijk.example>\nTo: mira@example.com\nX-Gmail-Labels: Spam\n\
         Date: Thu, 5 Mar 2026 12:00:00 +0000\n\nhello\n",
    ]);
    let mail = Some(dir.path().to_owned());
    let sandbox = Sandbox::start(SandboxOptions { mail, ..fast() }).await.unwrap();
    let web = Web(User::nobody(sandbox.base()));
    (dir, sandbox, web)
}

/// Returns the addresses of a search's results.
fn found(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array();
    let results = results.map(Vec::as_slice).unwrap_or_default();
    results
        .iter()
        .map(|row| row["person"]["emailAddresses"][0]["value"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn people_are_found_by_prefix() {
    let (_dir, sandbox, web) = people().await;
    let token = web.google(&format!("{CONTACTS} {OTHERS}")).await;
    let contacts = "/v1/people:searchContacts?readMask=names,emailAddresses&query=";
    let others = "/v1/otherContacts:search?readMask=emailAddresses&query=";
    for (base, query, expected) in [
        (contacts, "a", vec!["anna@voss.example"]),
        (contacts, "ANN", vec!["anna@voss.example"]),
        (contacts, "v%C3%B6s", vec!["anna@voss.example"]),
        (contacts, "anna+v%C3%B6", vec!["anna@voss.example"]),
        (contacts, "ann+v%C3%B6", vec![]),
        (contacts, "nna", vec![]),
        (contacts, "anna@voss", vec!["anna@voss.example"]),
        (contacts, "x.example", vec!["b@x.example"]),
        (contacts, "jan", vec![]),
        (contacts, "mira", vec![]),
        (contacts, "", vec![]),
        (others, "jan+van+d", vec!["jan@dijk.example"]),
        (others, "dijk", vec!["jan@dijk.example", "news@dijk.example"]),
        (others, "dijk&pageSize=1", vec!["jan@dijk.example"]),
        (others, "anna", vec![]),
        (others, "c@x", vec![]),
    ] {
        let answer = web.bearing(&format!("{base}{query}"), &token).await;
        assert_eq!(found(&answer.tokens()), expected, "{base}{query}");
    }
    let empty = web.bearing(&format!("{contacts}zebra"), &token).await;
    assert_eq!(empty.json(), json!({}));

    // A whole person, in the real shape.
    let answer = web.bearing(&format!("{contacts}anna"), &token).await.json();
    let mut person = answer["results"][0]["person"].clone();
    let id = person["names"][0]["metadata"]["source"]["id"].clone();
    let etag = person["etag"].take();
    assert!(etag.as_str().unwrap().starts_with('%'));
    let number = u64::from_str_radix(id.as_str().unwrap(), 16).unwrap();
    let metadata = json!({ "primary": true, "source": { "type": "CONTACT", "id": id } });
    assert_eq!(
        person,
        json!({
            "resourceName": format!("people/c{number}"), "etag": null,
            "names": [
                {
                    "metadata": metadata, "displayName": "Anna Vöss", "familyName": "Vöss",
                    "givenName": "Anna", "displayNameLastFirst": "Vöss, Anna",
                    "unstructuredName": "Anna Vöss",
                },
            ],
            "emailAddresses": [{ "metadata": metadata, "value": "anna@voss.example" }],
        })
    );
    let masked = format!("{others}jan&fields=results/person/emailAddresses/value");
    let answer = web.bearing(&masked, &token).await.json();
    let person = json!({ "emailAddresses": [{ "value": "jan@dijk.example" }] });
    assert_eq!(answer, json!({ "results": [{ "person": person }] }));

    // The list, page by page, without gap or overlap.
    let list = "/v1/people/me/connections?personFields=emailAddresses,metadata";
    let whole = web.bearing(list, &token).await.json();
    assert_eq!(whole["totalPeople"], 2);
    assert_eq!(whole["connections"][0]["metadata"]["objectType"], "PERSON");
    assert!(whole["nextPageToken"].is_null() && whole["connections"][0]["names"].is_null());
    let first = web.bearing(&format!("{list}&pageSize=1"), &token).await.json();
    let next = first["nextPageToken"].as_str().unwrap();
    let second = format!("{list}&pageSize=1&pageToken={next}");
    let second = web.bearing(&second, &token).await.json();
    assert!(second["nextPageToken"].is_null());
    let pages = json!([first["connections"][0], second["connections"][0]]);
    assert_eq!(pages, whole["connections"]);

    // They count as API requests, and fail as such.
    let before = sandbox.requests();
    web.bearing(list, &token).await;
    assert_eq!(sandbox.requests(), before + 1);
    sandbox.set_faults("429=1".parse().unwrap());
    assert_eq!(web.bearing(list, &token).await.status, 429);
}

#[tokio::test]
async fn invalid_people_requests_are_refused() {
    let (_dir, _sandbox, web) = people().await;
    let contacts = web.google(CONTACTS).await;
    let others = web.google(OTHERS).await;
    let mail = web.google(READONLY).await;
    let microsoft = web.sign_in(&[]).await;
    let search = "/v1/people:searchContacts?query=a";
    let other = "/v1/otherContacts:search?query=a";
    let list = "/v1/people/me/connections?";
    for (path, token, status) in [
        (format!("{search}&readMask=names"), &contacts, 200),
        (format!("{search}&readMask=names"), &others, 403),
        (format!("{other}&readMask=names"), &contacts, 403),
        (format!("{list}personFields=names"), &mail, 403),
        (search.to_owned(), &contacts, 400),
        (list.to_owned(), &contacts, 400),
        (format!("{other}&readMask=organizations"), &others, 400),
        (format!("{list}personFields=names&pageToken=zz"), &contacts, 400),
        ("/v1/people/me/nothing".to_owned(), &contacts, 404),
    ] {
        let reply = web.bearing(&path, token).await;
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        if status != 200 {
            assert_eq!(reply.json()["error"]["code"], status);
        }
    }
    let path = format!("{search}&readMask=names");
    assert_eq!(web.bearing(&path, &microsoft).await.status, 401);
}

#[tokio::test]
async fn account_settings_are_returned() {
    let (_dir, _sandbox, web) = people().await;
    let send_as = json!({ "sendAs": [
        {
            "sendAsEmail": ME, "displayName": "Mira L", "replyToAddress": "", "signature": "",
            "isPrimary": true, "isDefault": true,
        },
        {
            "sendAsEmail": "mira+news@example.com", "displayName": "Mira L",
            "replyToAddress": "", "signature": "",
            "treatAsAlias": true, "verificationStatus": "accepted",
        },
    ]});
    let vacation = json!({
        "enableAutoReply": false, "responseSubject": "",
        "restrictToContacts": false, "restrictToDomain": false,
    });
    let masked = json!({ "sendAs": [{ "sendAsEmail": ME }, {
        "sendAsEmail": "mira+news@example.com",
    }]});
    let readonly = web.google(READONLY).await;
    let basic = "https://www.googleapis.com/auth/gmail.settings.basic";
    let basic = web.google(basic).await;
    let metadata = web.google("https://www.googleapis.com/auth/gmail.metadata").await;
    for (path, expected) in [
        ("sendAs", send_as),
        ("sendAs?fields=sendAs/sendAsEmail", masked),
        ("vacation", vacation),
        ("language", json!({ "displayLanguage": "en" })),
    ] {
        let path = format!("/gmail/v1/users/me/settings/{path}");
        assert_eq!(web.bearing(&path, &readonly).await.tokens(), expected, "{path}");
        assert_eq!(web.bearing(&path, &basic).await.tokens(), expected, "{path}");
        assert_eq!(web.bearing(&path, &metadata).await.status, 403, "{path}");
    }
    for path in ["sendAs?fields=nope", "language?x=1"] {
        let path = format!("/gmail/v1/users/me/settings/{path}");
        assert_eq!(web.bearing(&path, &readonly).await.status, 400, "{path}");
    }
    let profile = "/gmail/v1/users/me/profile";
    assert_eq!(web.bearing(profile, &basic).await.status, 403);
}
