//! A Gmail that says what it is told to, and notes what it is asked.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet::accounts::Accounts;
use daysheet::caller::{Caller, Reply};
use daysheet::oauth::Tokens;
use daysheet::provider::calendar::Calendars;
use daysheet::provider::{Connect, Mailbox};
use daysheet::providers::Providers;
use daysheet::sandbox::Sandbox;
use daysheet::store::Store;
use futures_util::stream::{self, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::Timestamp;
use oauth2::{AccessToken, RefreshToken};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::ME;
use crate::support::config;

/// One request.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method and path below the account, without the query.
    pub what: String,
    /// The query, decoded, without the `alt` of the generated client.
    pub query: Vec<(String, String)>,
    /// `Content-Range`.
    pub range: String,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub fn param(&self, name: &str) -> &str {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Said {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// How often [`FILLER`] follows the body, and then this.
    pub more: usize,
    pub tail: &'static str,
    /// The connection breaks after the body.
    pub cut: bool,
}

pub fn ok(body: &Value) -> Option<Said> {
    Some(Said {
        status: 200,
        headers: vec![("content-type", "application/json".to_owned())],
        body: body.to_string(),
        more: 0,
        tail: "",
        cut: false,
    })
}

pub fn empty(status: u16) -> Option<Said> {
    Some(Said { status, headers: Vec::new(), body: String::new(), more: 0, tail: "", cut: false })
}

pub fn refused(status: u16, reason: &str, message: &str) -> Option<Said> {
    let error = json!({"domain": "global", "reason": reason, "message": message});
    let body = json!({"error": {"code": status, "message": message, "errors": [error]}});
    ok(&body).map(|said| Said { status, ..said })
}

/// As many of [`FILLER`] make 16 MiB.
const LONG: usize = 256;
/// What long answers are full of: 64 KiB of Base64.
pub static FILLER: [u8; 64 * 1024] = [b'Q'; 64 * 1024];

/// An answer that begins and ends so, with [`FILLER`] so often between.
pub fn long(begin: &str, more: usize, tail: &'static str) -> Option<Said> {
    empty(200).map(|said| Said {
        headers: vec![("content-type", "application/json".to_owned())],
        body: begin.to_owned(),
        more,
        tail,
        ..said
    })
}

/// How much of long answers was taken.
#[derive(Debug, Default)]
pub struct Taken {
    /// Times of [`FILLER`].
    pub pieces: AtomicUsize,
    /// Answers of which 16 MiB were taken and that have not ended, now and at most.
    now: AtomicUsize,
    pub at_once: AtomicUsize,
}

/// An answer that breaks off.
pub fn broken() -> Option<Said> {
    ok(&json!({"id": "half"})).map(|said| Said { cut: true, ..said })
}

/// Answers with each in turn, and with the last one from then on.
pub fn turns(answers: Vec<Option<Said>>) -> impl Fn() -> Option<Said> + Send + Sync + 'static {
    let turn = AtomicUsize::new(0);
    move || {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        answers[turn.min(answers.len() - 1)].clone()
    }
}

type Rule = dyn Fn(&Asked) -> Option<Said> + Send + Sync;

pub struct Gmail {
    pub mail: Arc<dyn Mailbox>,
    pub calendars: Arc<dyn Calendars>,
    pub base: String,
    pub taken: Arc<Taken>,
    asked: Arc<Mutex<Vec<Asked>>>,
    _home: TempDir,
}

impl Gmail {
    /// One that answers by `rule`, and that what it has no answer for is not
    /// there.
    pub async fn scripted(rule: impl Fn(&Asked) -> Option<Said> + Send + Sync + 'static) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", socket.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let rule: Arc<Rule> = Arc::new(rule);
        let log = asked.clone();
        let taken = Arc::<Taken>::default();
        let taking = taken.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = socket.accept().await.unwrap();
                let (rule, log, taking) = (rule.clone(), log.clone(), taking.clone());
                let service = service_fn(move |request| {
                    let (rule, log, taking) = (rule.clone(), log.clone(), taking.clone());
                    async move { answer(request, &*rule, &log, taking).await }
                });
                tokio::spawn(async move {
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { taken, ..Self::at(&base, "the-token", asked).await }
    }

    /// The sandbox, as somebody who may do everything.
    pub async fn sandboxed(sandbox: &Sandbox, address: &str) -> Self {
        let token = sign_in(sandbox.base(), address).await;
        Self::at(sandbox.base(), &token, Arc::default()).await
    }

    async fn at(base: &str, token: &str, asked: Arc<Mutex<Vec<Asked>>>) -> Self {
        let home = TempDir::new().unwrap();
        let mut config = config(home.path(), &[]);
        config.endpoints.gmail = format!("{base}/").parse().unwrap();
        config.endpoints.google_people = format!("{base}/").parse().unwrap();
        config.endpoints.google_calendar = format!("{base}/").parse().unwrap();
        let config = Arc::new(config);
        let accounts = Accounts::new(config.clone(), Store::new(&config));
        let tokens = Tokens {
            provider: "google",
            access: AccessToken::new(token.to_owned()),
            refresh: Some(RefreshToken::new("unused".to_owned())),
            expires: Timestamp::now().as_second() + 3_600,
            scopes: Vec::new(),
            tenant: None,
        };
        let account = accounts.add(tokens, ME).await.unwrap();
        let providers = Providers::new(config.services(), Arc::new(accounts));
        Self {
            mail: providers.mailbox(&account).unwrap(),
            calendars: providers.calendars(&account).unwrap(),
            taken: Arc::default(),
            base: base.to_owned(),
            asked,
            _home: home,
        }
    }

    /// What was asked since the last time.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// What was written: method and path, and the JSON.
    pub fn written(&self) -> Vec<(String, Value)> {
        let asked = self.asked().into_iter();
        asked
            .filter(|asked| !asked.what.starts_with("GET "))
            .map(|asked| (asked.what.clone(), asked.json()))
            .collect()
    }
}

/// An access token of the sandbox's sign-in.
async fn sign_in(base: &str, address: &str) -> String {
    const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more-as-asked";
    const CALLBACK: &str = "http://127.0.0.1:9/callback";
    let client = Client::builder(TokioExecutor::new()).build_http();
    let form = |pairs: &[(&str, &str)]| {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    };
    let scopes = "https://mail.google.com/ https://www.googleapis.com/auth/gmail.settings.basic \
                  https://www.googleapis.com/auth/contacts";
    let query = form(&[
        ("client_id", "daysheet-sandbox"),
        ("redirect_uri", CALLBACK),
        ("response_type", "code"),
        ("scope", scopes),
        ("code_challenge", &URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))),
        ("code_challenge_method", "S256"),
        ("state", "s"),
        ("login_hint", address),
    ]);
    let request = Request::get(format!("{base}/o/oauth2/v2/auth?{query}"))
        .header("x-sandbox-consent", "allow")
        .body(Full::<Bytes>::default())
        .unwrap();
    let back = client.request(request).await.unwrap();
    let back = url::Url::parse(back.headers()["location"].to_str().unwrap()).unwrap();
    let (_, code) = back.query_pairs().find(|(name, _)| name == "code").unwrap();
    let body = form(&[
        ("grant_type", "authorization_code"),
        ("client_id", "daysheet-sandbox"),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("code", &code),
    ]);
    let request = Request::post(format!("{base}/token"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Full::from(body))
        .unwrap();
    let answer = client.request(request).await.unwrap();
    let answer = answer.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    answer["access_token"].as_str().unwrap().to_owned()
}

async fn answer(
    request: Request<Incoming>,
    rule: &Rule,
    log: &Mutex<Vec<Asked>>,
    taken: Arc<Taken>,
) -> Result<Response<UnsyncBoxBody<Bytes, io::Error>>, hyper::Error> {
    let (parts, body) = request.into_parts();
    assert_eq!(parts.headers["authorization"], "Bearer the-token");
    let body = body.collect().await?.to_bytes().to_vec();
    let path = parts.uri.path();
    let path = path.strip_prefix("/gmail/v1/users/me/").unwrap_or(path);
    let query = parts.uri.query().unwrap_or_default();
    let range = parts.headers.get("content-range");
    let asked = Asked {
        what: format!("{} {path}", parts.method),
        query: url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .filter(|(name, _)| name != "alt")
            .collect(),
        range: range.map_or_else(String::new, |range| range.to_str().unwrap().to_owned()),
        body,
    };
    let said = rule(&asked).or_else(|| refused(404, "notFound", "Requested entity was not found."));
    log.lock().unwrap().push(asked);
    let said = said.unwrap();
    let mut response = Response::builder().status(said.status);
    for (name, value) in said.headers {
        response = response.header(name, value);
    }
    let mut frames = vec![Ok(Frame::data(Bytes::from(said.body)))];
    if said.cut {
        frames.push(Err(io::ErrorKind::ConnectionReset.into()));
    }
    let mut so_far = 0;
    let filler = move || {
        so_far += 1;
        taken.pieces.fetch_add(1, Ordering::Relaxed);
        if so_far == LONG {
            let now = taken.now.fetch_add(1, Ordering::Relaxed) + 1;
            taken.at_once.fetch_max(now, Ordering::Relaxed);
        }
        if so_far == said.more && so_far >= LONG {
            taken.now.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(Frame::data(Bytes::from_static(&FILLER)))
    };
    let frames = stream::iter(frames)
        .chain(stream::iter(std::iter::repeat_with(filler).take(said.more)))
        .chain(stream::iter([Ok(Frame::data(Bytes::from(said.tail)))]));
    // What stands before a break is to have left when it breaks.
    let frames = frames.then(|frame| async {
        if frame.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        frame
    });
    let body = StreamBody::new(frames);
    Ok(response.body(BodyExt::boxed_unsync(body)).unwrap())
}

/// A caller who notes how far something is.
#[derive(Default)]
pub struct Watcher(Mutex<Vec<(u64, u64)>>);

impl Watcher {
    pub fn told(&self) -> Vec<(u64, u64)> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Caller for Watcher {
    async fn confirm(&self, _: &str) -> Reply {
        Reply::Nobody
    }

    async fn progress(&self, done: u64, total: u64, what: &str) {
        assert_eq!(what, "sending the draft to Gmail");
        self.0.lock().unwrap().push((done, total));
    }
}
