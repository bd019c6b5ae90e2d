//! The sandbox's Gmail, written to from outside: drafts, sending and delivery,
//! labels, uploads, settings, contacts, refusals.
//!
//! Everything goes over HTTP, as the rest of the program does it. Expected
//! answers are whole; ids and times that differ from run to run are put out of
//! sight by [`steady`], which numbers ids as they turn up.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_sandbox::{Options, Sandbox};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use url::form_urlencoded::Serializer;

mod contacts;
mod delivery;
mod drafts;
mod labels;
mod modify;
mod refusals;
mod settings;
mod uploads;
mod volume;

const MIRA: &str = "mira@example.com";
const ZOE: &str = "zoe@example.com";
const MODIFY: &str = "https://www.googleapis.com/auth/gmail.modify";
const ALL: &str = "https://mail.google.com/";

/// A sandbox with two mailboxes, of one letter each, and nothing on the disk.
async fn sandbox() -> Sandbox {
    let dir = TempDir::new().unwrap();
    for (address, name) in [(MIRA, "mira"), (ZOE, "zoe")] {
        let folder = dir.path().join(address);
        fs::create_dir(&folder).unwrap();
        let letter = format!(
            "From: Ada <ada@example.com>\nTo: {address}\nSubject: Lamps\n\
             Message-ID: <first.{name}@example.com>\nDate: Mon, 2 Nov 2026 09:00:00 +0000\n\nhi\n"
        );
        fs::write(folder.join("a.eml"), letter).unwrap();
    }
    let options = Options { mail: Some(dir.path().to_owned()), ..Options::default() };
    Sandbox::start(options).await.unwrap()
}

/// An answer as it came.
struct Reply {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

impl Reply {
    /// The status, and the JSON, null for no body.
    fn json(&self) -> (u16, Value) {
        match self.body.is_empty() {
            true => (self.status, Value::Null),
            false => (self.status, serde_json::from_slice(&self.body).unwrap()),
        }
    }

    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

/// Somebody who is signed in.
struct User {
    http: Client<HttpConnector, Full<Bytes>>,
    base: String,
    token: String,
}

impl User {
    async fn of(sandbox: &Sandbox, address: &str) -> Self {
        Self::with_scope(sandbox, address, MODIFY).await
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
        let answer = user.raw("POST", "/token", &[], form.into_bytes()).await;
        let (_, tokens) = answer.json();
        user.token = tokens["access_token"].as_str().unwrap().to_owned();
        user
    }

    /// Any request below the base.
    async fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Reply {
        let mut request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(format!("{}{path}", self.base))
            .header("authorization", format!("Bearer {}", self.token));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let answer = self.http.request(request).await.unwrap();
        let (head, body) = answer.into_parts();
        Reply {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    /// A request to Gmail; the status and the JSON.
    async fn send(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let path = match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("/gmail/v1/users/me/{path}"),
        };
        let body = match body {
            Value::Null => Vec::new(),
            body => serde_json::to_vec(&body).unwrap(),
        };
        self.raw(method, &path, &[], body).await.json()
    }

    async fn ok(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.send(method, path, body).await;
        assert!(status < 300, "{method} {path}: {status} {answer:#}");
        answer
    }

    async fn get(&self, path: &str) -> Value {
        self.ok("GET", path, Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.ok("POST", path, body).await
    }

    /// The status, reason and message of a refusal.
    async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String, String) {
        let (status, answer) = self.send(method, path, body).await;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let error = &answer["error"];
        (status, text(&error["errors"][0]["reason"]), text(&error["message"]))
    }

    /// The bytes of a message.
    async fn bytes(&self, id: &Value) -> String {
        let path = format!("messages/{}?format=raw", id.as_str().unwrap());
        let raw = self.get(&path).await["raw"].as_str().unwrap().to_owned();
        let raw = base64::engine::general_purpose::URL_SAFE.decode(raw);
        String::from_utf8(raw.unwrap()).unwrap()
    }
}

fn query(pairs: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// A letter as requests carry it, of header lines and a text.
fn raw(head: &[&str], text: &str) -> String {
    URL_SAFE_NO_PAD.encode(wire(head, text))
}

/// A letter's bytes; with the fields that would be added at the time.
fn wire(head: &[&str], text: &str) -> String {
    let mut letter = String::new();
    for line in head {
        letter.push_str(line);
        letter.push_str("\r\n");
    }
    letter.push_str("Date: Tue, 3 Nov 2026 10:00:00 +0000\r\n");
    format!("{letter}\r\n{text}\r\n")
}

/// The path of a member's id: `drafts/` and the id.
fn at(base: &str, value: &Value) -> String {
    format!("{base}/{}", value["id"].as_str().unwrap())
}

/// Numbers ids in the order in which they turn up, and hides times and sizes.
fn steady(mut value: Value, seen: &mut Vec<String>) -> Value {
    hide(&mut value, seen);
    value
}

fn hide(value: &mut Value, seen: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, seen)),
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value.as_str()) {
                    ("id" | "threadId", Some(id)) if !id.starts_with("Label_") => {
                        let id = id.to_owned();
                        let place = seen.iter().position(|known| *known == id);
                        let place = place.unwrap_or_else(|| {
                            seen.push(id);
                            seen.len() - 1
                        });
                        *value = format!("#{}", place + 1).into();
                    }
                    ("historyId" | "internalDate", Some(_)) => *value = "…".into(),
                    _ => hide(value, seen),
                }
            }
        }
        _ => {}
    }
}
