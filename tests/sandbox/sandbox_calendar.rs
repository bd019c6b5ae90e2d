//! The sandbox's Google Calendar, from outside: events, series, meetings,
//! lists, changes, refusals.
//!
//! Everything goes over HTTP, as the rest of the program does it. Expected
//! answers are whole; what differs from run to run (etags, times of writing) is
//! checked for its form and then put out of sight by [`steady`].

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use daysheet_sandbox::{Options, Sandbox};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use url::form_urlencoded::Serializer;

mod history;
mod hostile;
mod lists;
mod meetings;
mod refusals;
mod series;
mod writes;

const MIRA: &str = "mira@example.com";
const ZOE: &str = "zoe@example.com";
const FULL: &str = "https://www.googleapis.com/auth/calendar";
const EVENTS: &str = "calendars/primary/events";

/// A sandbox with two empty main calendars, and nothing on the disk.
async fn sandbox() -> Sandbox {
    let dir = TempDir::new().unwrap();
    for address in [MIRA, ZOE] {
        let folder = dir.path().join(address);
        fs::create_dir(&folder).unwrap();
        let letter = format!("From: a@example.com\nTo: {address}\nMessage-ID: <first>\n\nhi\n");
        fs::write(folder.join("a.eml"), letter).unwrap();
    }
    let options = Options { mail: Some(dir.path().to_owned()), ..Options::default() };
    Sandbox::start(options).await.unwrap()
}

/// Somebody who is signed in.
struct User {
    http: Client<HttpConnector, Full<Bytes>>,
    base: String,
    token: String,
}

impl User {
    async fn of(sandbox: &Sandbox, address: &str) -> Self {
        Self::with_scope(sandbox, address, FULL).await
    }

    async fn with_scope(sandbox: &Sandbox, address: &str, scope: &str) -> Self {
        const VERIFIER: &str = "a-verifier-of-the-length-that-rfc-7636-asks-for";
        const BACK: &str = "http://127.0.0.1:9/callback";
        let mut user = Self {
            http: Client::builder(TokioExecutor::new()).build_http(),
            base: sandbox.base().to_owned(),
            token: String::new(),
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let query = query(&[
            ("client_id", "client"),
            ("redirect_uri", BACK),
            ("response_type", "code"),
            ("scope", scope),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "s"),
            ("login_hint", address),
        ]);
        let request = Request::get(format!("{}/o/oauth2/v2/auth?{query}", user.base))
            .header("x-sandbox-consent", "allow");
        let answer = user.http.request(request.body(Full::default()).unwrap());
        let answer = answer.await.unwrap();
        let back = answer.headers()["location"].to_str().unwrap();
        let back = url::Url::parse(back).unwrap();
        let (_, code) = back.query_pairs().find(|(key, _)| key == "code").unwrap();
        let form = self::query(&[
            ("grant_type", "authorization_code"),
            ("client_id", "client"),
            ("redirect_uri", BACK),
            ("code_verifier", VERIFIER),
            ("code", &code),
        ]);
        let request = Request::post(format!("{}/token", user.base));
        let request = request.body(Full::new(Bytes::from(form))).unwrap();
        let answer = user.http.request(request).await.unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let tokens: Value = serde_json::from_slice(&body).unwrap();
        user.token = tokens["access_token"].as_str().unwrap().to_owned();
        user
    }

    /// Any request below the base; the status and the body.
    async fn raw(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> (u16, Bytes) {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("authorization", format!("Bearer {}", self.token));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let answer = self.http.request(request).await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.into_body().collect().await.unwrap().to_bytes())
    }

    /// A request to the API; the status and the JSON, null for no body.
    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> (u16, Value) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let body = match body {
            Value::Null => Vec::new(),
            body => serde_json::to_vec(&body).unwrap(),
        };
        let path = format!("/calendar/v3/{path}");
        let (status, body) = self.raw(method, &path, headers, body).await;
        match body.is_empty() {
            true => (status, Value::Null),
            false => (status, serde_json::from_slice(&body).unwrap()),
        }
    }

    async fn ok(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.send(method, path, &[], body).await;
        assert!(status < 300, "{method} {path}: {status} {answer:#}");
        answer
    }

    async fn get(&self, path: &str) -> Value {
        self.ok("GET", path, Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.ok("POST", path, body).await
    }

    async fn patch(&self, path: &str, body: Value) -> Value {
        self.ok("PATCH", path, body).await
    }

    async fn delete(&self, path: &str) {
        let (status, answer) = self.send("DELETE", path, &[], Value::Null).await;
        assert_eq!((status, answer), (204, Value::Null), "{path}");
    }

    /// The status, reason and message of a refusal.
    async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String, String) {
        let (status, answer) = self.send(method, path, &[], body).await;
        let error = &answer["error"];
        assert_eq!(error["code"], status, "{method} {path}: {answer:#}");
        let word = |key: &str| error["errors"][0][key].as_str().unwrap_or("-").to_owned();
        (status, word("reason"), word("message"))
    }

    /// Events of the main calendar in a year, by their start.
    async fn year(&self, year: u16) -> Vec<Value> {
        let list = self
            .get(&format!(
                "{EVENTS}?singleEvents=true&orderBy=startTime&timeMin={year}-01-01T00:00:00Z\
                 &timeMax={}-01-01T00:00:00Z",
                year + 1
            ))
            .await;
        list["items"].as_array().unwrap().clone()
    }
}

fn query(pairs: &[(&str, &str)]) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(pairs).finish()
}

/// An answer without what differs from run to run, which is checked for its
/// form.
fn steady(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let text = value.as_str().unwrap_or_default();
                    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                    match key.as_str() {
                        "etag" => {
                            let inner = text.trim_matches('"').trim_start_matches('p');
                            assert!(inner.len() == 16 && digits(inner), "{text}");
                            *value = "E".into();
                        }
                        "created" | "updated" => {
                            let at: jiff::Timestamp = text.parse().unwrap();
                            assert_eq!(at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(), text);
                            *value = "T".into();
                        }
                        "htmlLink" => {
                            let (_, eid) = text.split_once("/event?eid=").unwrap();
                            let eid = STANDARD_NO_PAD.decode(eid).unwrap();
                            *value = String::from_utf8(eid).unwrap().into();
                        }
                        "nextSyncToken" => *value = "S".into(),
                        _ => walk(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

/// An event at a time of a day in Berlin.
fn meeting(title: &str, start: &str, end: &str) -> Value {
    json!({
        "summary": title,
        "start": { "dateTime": start, "timeZone": "Europe/Berlin" },
        "end": { "dateTime": end, "timeZone": "Europe/Berlin" },
    })
}

/// The same with more.
fn with(mut value: Value, more: Value) -> Value {
    let members = more.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(members);
    value
}

/// One member of each item.
fn each<'a>(items: &'a [Value], key: &str) -> Vec<&'a str> {
    let text = |item: &'a Value| item.pointer(key).and_then(Value::as_str).unwrap_or("-");
    items.iter().map(text).collect()
}
