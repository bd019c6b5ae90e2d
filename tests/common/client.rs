//! A client of the sandbox that behaves as any program would: sign-in, requests, responses.
//!
//! Suites add requests of their service in an `impl User` of their own.

#![allow(dead_code, reason = "no suite needs all of it")]

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::form_urlencoded::Serializer;

/// The owner of the sample mailbox.
pub const ME: &str = "mira@example.com";
pub const VERIFIER: &str = "a-verifier-of-the-length-that-rfc-7636-asks-for";
/// The OAuth client id in the settings for the sandbox.
pub const CLIENT: &str = "daysheet-sandbox";
/// The header by which a test consents to a sign-in.
pub const ALLOW: &[(&str, &str)] = &[("x-sandbox-consent", "allow")];

/// The sign-in of a provider: two paths, the redirect URI, and a field that only it requires.
pub struct SignIn {
    pub page: &'static str,
    pub token: &'static str,
    pub callback: &'static str,
    own: (&'static str, &'static str),
}

pub const GOOGLE: SignIn = SignIn {
    page: "/o/oauth2/v2/auth",
    token: "/token",
    callback: "http://127.0.0.1:9/callback",
    own: ("access_type", "offline"),
};
pub const MICROSOFT: SignIn = SignIn {
    page: "/common/oauth2/v2.0/authorize",
    token: "/common/oauth2/v2.0/token",
    callback: "http://localhost:9/callback",
    own: ("response_mode", "query"),
};

const GMAIL: &str = "/gmail/v1/users/me/";

impl SignIn {
    /// Returns the path of an authorization request with these changes; fields with an empty value
    /// are left out if `omit` is set.
    pub fn authorization(&self, changes: &[(&str, &str)], omit: bool) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let usual = [
            ("client_id", CLIENT),
            ("redirect_uri", self.callback),
            ("response_type", "code"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "st&te"),
            self.own,
        ];
        let mut query = changed(&usual, changes);
        query.retain(|_, value| !omit || !value.is_empty());
        format!("{}?{}", self.page, form(query))
    }

    /// Returns the form of a token request by code with these changes; empty fields are left out.
    pub fn token_request(&self, changes: &[(&str, &str)]) -> String {
        let usual = [
            ("grant_type", "authorization_code"),
            ("client_id", CLIENT),
            ("redirect_uri", self.callback),
            ("code_verifier", VERIFIER),
        ];
        let mut fields = changed(&usual, changes);
        fields.retain(|_, value| !value.is_empty());
        form(fields)
    }
}

fn changed<'a>(
    usual: &[(&'a str, &'a str)],
    changes: &[(&'a str, &'a str)],
) -> BTreeMap<&'a str, &'a str> {
    usual.iter().chain(changes).copied().collect()
}

/// A response with its status, header and body.
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// Returns the status and the JSON, which is null for an empty body.
    pub fn answer(&self) -> (u16, Value) {
        let json = if self.body.is_empty() { Value::Null } else { self.json() };
        (self.status, json)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns a header's value, or an empty text if the header is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the query of the redirect that ends a sign-in page.
    pub fn location(&self) -> BTreeMap<String, String> {
        assert_eq!(self.status, 302, "{}", self.text());
        let url = url::Url::parse(self.header("location")).unwrap();
        let known = [GOOGLE.callback, MICROSOFT.callback];
        assert!(known.iter().any(|known| url.as_str().starts_with(known)), "{url}");
        url.query_pairs().into_owned().collect()
    }
}

/// A user of the sandbox.
pub struct User {
    http: Client<HttpConnector, Full<Bytes>>,
    pub base: String,
    /// The access token; empty before a sign-in.
    pub token: String,
    /// The prefix of paths without a leading slash.
    api: &'static str,
}

impl User {
    /// Returns a user who has not signed in, at the sandbox of that address.
    pub fn nobody(base: &str) -> Self {
        Self {
            http: Client::builder(TokioExecutor::new()).build_http(),
            base: base.to_owned(),
            token: String::new(),
            api: "/",
        }
    }

    /// Returns the same user, with Gmail's prefix for paths without a leading slash.
    pub fn with_gmail(self) -> Self {
        Self { api: GMAIL, ..self }
    }

    /// Signs a user in with Google, for Gmail.
    pub async fn at_gmail(base: &str, address: &str, scope: &str) -> Self {
        Self::at(&GOOGLE, GMAIL, base, address, scope).await
    }

    /// Signs a user in with Google, for the calendar.
    pub async fn at_calendar(base: &str, address: &str, scope: &str) -> Self {
        Self::at(&GOOGLE, "/calendar/v3/", base, address, scope).await
    }

    /// Signs a user in with Microsoft, for Graph.
    pub async fn at_graph(base: &str, address: &str, scope: &str) -> Self {
        Self::at(&MICROSOFT, "/v1.0/", base, address, scope).await
    }

    async fn at(at: &SignIn, api: &'static str, base: &str, address: &str, scope: &str) -> Self {
        let nobody = Self::nobody(base);
        let token = nobody.token_of(at, address, scope).await;
        Self { token, api, ..nobody }
    }

    /// Signs in and returns all tokens.
    pub async fn sign_in(&self, at: &SignIn, address: &str, scope: &str) -> Value {
        let page = at.authorization(&[("login_hint", address), ("scope", scope)], false);
        let code = self.send("GET", &page, ALLOW, "").await.location()["code"].clone();
        let fields = at.token_request(&[("code", &code)]);
        let reply = self.send("POST", at.token, &[], fields).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    /// Signs in and returns the access token.
    pub async fn token_of(&self, at: &SignIn, address: &str, scope: &str) -> String {
        let tokens = self.sign_in(at, address, scope).await;
        tokens["access_token"].as_str().unwrap().to_owned()
    }

    /// Sends a request. The connection may break before the response.
    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Result<Reply, String> {
        let uri = match path {
            path if path.starts_with("http://") => path.to_owned(),
            path if path.starts_with('/') => format!("{}{path}", self.base),
            path => format!("{}{}{path}", self.base, self.api),
        };
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::copy_from_slice(body.as_ref()));
        let answer = self.http.request(request.body(body).unwrap()).await;
        let (head, body) = answer.map_err(|e| e.to_string())?.into_parts();
        let body = body.collect().await.map_err(|e| e.to_string())?.to_bytes();
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, body })
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Reply {
        self.try_send(method, path, headers, body).await.unwrap()
    }

    /// Sends a request with the user's bearer token. The connection may break before the response.
    pub async fn try_bearing(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Result<Reply, String> {
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(more);
        self.try_send(method, path, &headers, body).await
    }

    pub async fn bearing(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Reply {
        self.try_bearing(method, path, more, body).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.bearing("GET", path, &[], "").await
    }

    /// Returns the JSON of a path that must exist.
    pub async fn json(&self, path: &str) -> Value {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// Sends JSON with further headers. Null sends no body, and a text is sent unquoted.
    pub async fn write(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        self.try_write(method, path, more, body).await.unwrap()
    }

    /// Sends as [`write`](Self::write) does. The connection may break before the response.
    pub async fn try_write(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &Value,
    ) -> Result<Reply, String> {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(more);
        let body = match body {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        // Graph's front end demands a length even of an empty body.
        if body.is_empty() {
            headers.push(("content-length", "0"));
        }
        self.try_bearing(method, path, &headers, body).await
    }

    /// Sends JSON; returns the status and the JSON of the response.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.write(method, path, &[], &body).await.answer()
    }

    /// Sends JSON, and fails if the request is refused.
    pub async fn ok(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.call(method, path, body).await;
        assert!(status < 300, "{method} {path}: {status} {answer:#}");
        answer
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.ok("POST", path, body).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Value {
        self.ok("PATCH", path, body).await
    }

    pub async fn delete(&self, path: &str) {
        assert_eq!(self.call("DELETE", path, Value::Null).await, (204, Value::Null), "{path}");
    }

    /// Returns the status, reason and message of Google's refusal.
    pub async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String, String) {
        let (status, answer) = self.call(method, path, body).await;
        let error = &answer["error"];
        if status >= 400 {
            assert_eq!(error["code"], status, "{method} {path}: {answer:#}");
            // Errors about permissions have different messages in the two places.
            let same = error["message"] == error["errors"][0]["message"];
            assert!(same || matches!(status, 401 | 403), "{method} {path}: {answer:#}");
        }
        let word = |key: &str| error["errors"][0][key].as_str().unwrap_or("-").to_owned();
        (status, word("reason"), word("message"))
    }
}

/// Returns a query or a form.
pub fn form<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Encodes a text for a path or query.
pub fn encoded(text: &str) -> String {
    form([("", text)]).trim_start_matches('=').to_owned()
}
