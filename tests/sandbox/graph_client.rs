//! A client of the sandbox's Graph half, for the tests of it: sign-in, requests,
//! refusals.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_sandbox::Sandbox;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::form_urlencoded::Serializer;

pub const ME: &str = "mira@example.com";
pub const TEAM: &str = "team@example.com";
/// Where the sign-ins begin and end.
pub const MICROSOFT: [&str; 2] = ["/common/oauth2/v2.0/authorize", "/common/oauth2/v2.0/token"];
pub const GOOGLE: [&str; 2] = ["/o/oauth2/v2/auth", "/token"];
pub const CLIENT: &str = "7c2f0f0e-6f0a-4b0e-9d3a-0d9f8b1c2a34";
pub const CALLBACK: &str = "http://localhost:9/callback";
pub const ALL: &str = "User.Read Mail.Read Mail.Read.Shared People.Read Contacts.Read \
                       MailboxSettings.Read";

pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|value| value.to_str().unwrap());
        value.unwrap_or_default()
    }

    /// Status, code and message of a refusal, whose whole shape is checked.
    pub fn refusal(&self) -> (u16, String, String) {
        let body = self.json();
        let error = body["error"].as_object().unwrap();
        assert_eq!(keys(&body), ["error"]);
        assert_eq!(keys(&body["error"]), ["code", "innerError", "message"]);
        let inner = &error["innerError"];
        assert_eq!(keys(inner), ["client-request-id", "date", "request-id"]);
        assert_eq!(inner["request-id"], self.header("request-id"));
        assert_eq!(inner["client-request-id"], self.header("client-request-id"));
        let text = |name: &str| error[name].as_str().unwrap().to_owned();
        (self.status, text("code"), text("message"))
    }
}

pub struct User {
    pub http: Client<HttpConnector, Full<Bytes>>,
    pub base: String,
    pub token: String,
}

impl User {
    pub async fn of(sandbox: &Sandbox) -> Self {
        Self::with_scope(sandbox, ALL).await
    }

    pub async fn with_scope(sandbox: &Sandbox, scope: &str) -> Self {
        Self::signed_in(sandbox, ME, scope).await
    }

    /// Somebody who has signed in with these permissions.
    pub async fn signed_in(sandbox: &Sandbox, address: &str, scope: &str) -> Self {
        let mut user = Self {
            http: Client::builder(TokioExecutor::new()).build_http(),
            base: sandbox.base().to_owned(),
            token: String::new(),
        };
        user.token = user.token_of(MICROSOFT, address, scope).await;
        user
    }

    /// A token of a sign-in by its two paths.
    pub async fn token_of(
        &self,
        [authorize, token]: [&str; 2],
        address: &str,
        scope: &str,
    ) -> String {
        let verifier = "a-verifier-of-the-length-that-rfc-7636-asks-for";
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let query = form([
            ("client_id", CLIENT),
            ("redirect_uri", CALLBACK),
            ("response_type", "code"),
            ("response_mode", "query"),
            ("scope", scope),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "state"),
            ("login_hint", address),
        ]);
        let path = format!("{authorize}?{query}");
        let allow = [("x-sandbox-consent", "allow")];
        let back = self.send(Method::GET, &path, &allow, "").await;
        let url = url::Url::parse(back.header("location")).unwrap();
        let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let fields = form([
            ("grant_type", "authorization_code"),
            ("client_id", CLIENT),
            ("redirect_uri", CALLBACK),
            ("code_verifier", verifier),
            ("code", &query["code"]),
        ]);
        let reply = self.send(Method::POST, token, &[], &fields).await;
        reply.json()["access_token"].as_str().unwrap().to_owned()
    }

    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Reply, String> {
        let uri = match path.starts_with("http://") {
            true => path.to_owned(),
            false => format!("{}{path}", self.base),
        };
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        let answer = self.http.request(request).await.map_err(|e| e.to_string())?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(|e| e.to_string())?.to_bytes();
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, body })
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        self.try_send(method, path, headers, body).await.unwrap()
    }

    /// A path below `/v1.0`, as the bearer, with a preference.
    pub async fn prefer(&self, path: &str, prefer: &str) -> Reply {
        let bearer = format!("Bearer {}", self.token);
        let path = match path.starts_with("http://") {
            true => path.to_owned(),
            false => format!("/v1.0/{path}"),
        };
        let mut headers = vec![("authorization", bearer.as_str())];
        if !prefer.is_empty() {
            headers.push(("prefer", prefer));
        }
        self.send(Method::GET, &path, &headers, "").await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.prefer(path, "").await
    }

    pub async fn json(&self, path: &str) -> Value {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// The subjects of one page of messages.
    pub async fn subjects(&self, path: &str, options: &[(&str, &str)]) -> Vec<String> {
        let query = form(options.iter().copied());
        let list = self.json(&format!("{path}?%24select=subject&{query}")).await;
        column(&list, "subject")
    }

    /// The message of a subject, with all its properties.
    pub async fn message(&self, subject: &str) -> Value {
        let filter = format!("subject eq '{}'", subject.replace('\'', "''"));
        let query = form([("$filter", filter.as_str())]);
        let list = self.json(&format!("me/messages?{query}")).await;
        assert_eq!(list["value"].as_array().unwrap().len(), 1, "{subject}");
        list["value"][0].clone()
    }

    /// Sends JSON to a path below `/v1.0`, with further headers.
    pub async fn write(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        self.try_write(method, path, more, body).await.unwrap()
    }

    /// The same, where there may be no answer at all.
    pub async fn try_write(
        &self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &Value,
    ) -> Result<Reply, String> {
        let bearer = format!("Bearer {}", self.token);
        let mut headers =
            vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        headers.extend(more);
        let body = match body {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        let method = method.parse().unwrap();
        let path = format!("/v1.0/{path}");
        // Graph's front end wants to be told that there is nothing.
        if body.is_empty() {
            headers.push(("content-length", "0"));
        }
        self.try_send(method, &path, &headers, &body).await
    }

    pub async fn batch(&self, body: &Value) -> Reply {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        self.send(Method::POST, "/v1.0/$batch", &headers, &body.to_string()).await
    }
}

pub fn form<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

pub fn encoded(text: &str) -> String {
    form([("", text)]).trim_start_matches('=').to_owned()
}

pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

pub fn column(list: &Value, name: &str) -> Vec<String> {
    let rows = list["value"].as_array().unwrap().iter();
    rows.map(|row| row[name].as_str().unwrap().to_owned()).collect()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}
