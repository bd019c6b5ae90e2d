//! An issuer on loopback. Tests set the documents that it publishes, and sign tokens with any
//! header and claims.

#![allow(dead_code, reason = "no suite needs all of it")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_auth::{ALGORITHMS, IssuerClient, IssuerSettings};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::common::clock;

/// Private keys and their public halves, by name; generated for these tests alone.
const KEYS: &str = include_str!("../fixtures/issuer_keys.json");
/// The OAuth client id of the server itself.
pub const CLIENT: &str = "daysheet-server";
pub const SECRET: &str = "a secret/with:signs";

/// A received request: its head and its body.
#[derive(Clone)]
pub struct Asked {
    pub head: String,
    pub body: String,
}

#[derive(Default)]
struct State {
    /// Status, further headers and body, by path.
    pages: HashMap<String, (u16, String, String)>,
    asked: Vec<(String, Asked)>,
}

/// An issuer that runs until its test ends.
pub struct TestIssuer {
    pub url: String,
    state: Arc<Mutex<State>>,
}

/// Returns a key of the fixture.
pub fn key(name: &str) -> Value {
    let keys: Value = serde_json::from_str(KEYS).unwrap();
    assert!(keys[name].is_object(), "no key {name}");
    keys[name].clone()
}

/// Returns the public keys of these names.
pub fn jwks(names: &[&str]) -> Value {
    json!({"keys": names.iter().map(|name| key(name)["jwk"].clone()).collect::<Vec<_>>()})
}

/// Returns `base` with these members replaced; null removes one.
pub fn with(base: &Value, changes: &Value) -> Value {
    let mut all = base.as_object().unwrap().clone();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => all.remove(name),
            value => all.insert(name.clone(), value.clone()),
        };
    }
    Value::Object(all)
}

fn part(json: &Value) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

/// Returns a JWT with this header and these claims, signed with a key of the fixture as the
/// header's algorithm requires. `HS256` signs with the text of the public key, and any other
/// algorithm, such as `none`, leaves the signature empty.
pub fn sign(header: &Value, claims: &Value, by: &str) -> String {
    let message = format!("{}.{}", part(header), part(claims));
    let key = key(by);
    let pem = key["pem"].as_str().unwrap().as_bytes();
    let named = ALGORITHMS.iter().find(|(name, _)| header["alg"] == *name);
    let (algorithm, key) = match named {
        Some(&(name, algorithm)) => {
            let key = match name.get(..2).unwrap() {
                "ES" => EncodingKey::from_ec_pem(pem),
                "Ed" => EncodingKey::from_ed_pem(pem),
                _ => EncodingKey::from_rsa_pem(pem),
            };
            (algorithm, key.unwrap())
        }
        None if header["alg"] == "HS256" => {
            let public = key["public"].as_str().unwrap();
            (Algorithm::HS256, EncodingKey::from_secret(public.as_bytes()))
        }
        None => return format!("{message}."),
    };
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, algorithm).unwrap();
    format!("{message}.{signature}")
}

impl TestIssuer {
    /// Starts an issuer that publishes its metadata and the keys `rsa`, `ec` and `ed`.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, shared.clone()));
            }
        });
        let issuer = Self { url, state };
        issuer.publish(&json!({}));
        issuer.set("/jwks", 200, "", jwks(&["rsa", "ec", "ed"]));
        issuer
    }

    /// Publishes the metadata with these changes.
    pub fn publish(&self, changes: &Value) {
        let at = |path: &str| format!("{}{path}", self.url);
        let usual = json!({
            "issuer": self.url,
            "jwks_uri": at("/jwks"),
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"),
            "introspection_endpoint": at("/introspect"),
            "authorization_response_iss_parameter_supported": true,
        });
        self.set("/.well-known/openid-configuration", 200, "", with(&usual, changes));
    }

    /// Sets the response at this path; each header ends its line.
    pub fn set(&self, path: &str, status: u16, headers: &str, body: Value) {
        let page = (status, headers.to_owned(), body.to_string());
        self.state.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    /// Returns the requests to this path.
    pub fn asked(&self, path: &str) -> Vec<Asked> {
        let state = self.state.lock().unwrap();
        state.asked.iter().filter(|(at, _)| at == path).map(|(_, asked)| asked.clone()).collect()
    }

    /// Returns the settings with which a server accepts its tokens.
    pub fn settings(&self, audience: &str) -> IssuerSettings {
        IssuerSettings {
            issuer: self.url.clone(),
            audience: audience.to_owned(),
            algorithms: ALGORITHMS.map(|(_, algorithm)| algorithm).to_vec(),
            scope_prefix: String::new(),
            introspection: false,
            client: Some(IssuerClient {
                id: CLIENT.to_owned(),
                secret: Some(oauth2::ClientSecret::new(SECRET.to_owned())),
            }),
            pause: IssuerSettings::PAUSE,
            clock: clock::clock(),
        }
    }

    /// Returns the claims of a valid access token.
    pub fn claims(&self, subject: &str, audience: &str) -> Value {
        let now = clock::now().as_second();
        json!({
            "iss": self.url,
            "sub": subject,
            "aud": audience,
            "iat": now,
            "exp": now + 600,
            "scope": "openid daysheet:full",
        })
    }

    /// Returns a valid access token with changes to its claims.
    pub fn token(&self, subject: &str, audience: &str, changes: &Value) -> String {
        let claims = with(&self.claims(subject, audience), changes);
        sign(&json!({"alg": "RS256", "typ": "at+jwt", "kid": "rsa"}), &claims, "rsa")
    }
}

/// Answers one request on a connection.
async fn answer(mut stream: TcpStream, state: Arc<Mutex<State>>) -> Option<()> {
    let mut got = Vec::new();
    let (head, length) = loop {
        let text = String::from_utf8_lossy(&got).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let length = length
                .split_once("content-length: ")
                .and_then(|(_, rest)| rest.lines().next()?.trim().parse::<usize>().ok());
            break (head.to_owned(), length.unwrap_or(0));
        }
        if stream.read_buf(&mut got).await.ok()? == 0 {
            return None;
        }
    };
    while got.len() < head.len() + 4 + length {
        if stream.read_buf(&mut got).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8_lossy(&got[head.len() + 4..]).into_owned();
    let path = head.split(' ').nth(1)?.to_owned();
    let page = {
        let mut state = state.lock().unwrap();
        state.asked.push((path.clone(), Asked { head, body }));
        state.pages.get(&path).cloned()
    };
    let (status, headers, body) = page.unwrap_or((404, String::new(), "null".to_owned()));
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n{headers}\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.ok()
}
