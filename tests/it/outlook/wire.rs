//! A tap before the sandbox: it notes what is asked, answers some of it itself,
//! and hands on the rest.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet::accounts::Accounts;
use daysheet::error::Result;
use daysheet::oauth::Tokens;
use daysheet::provider::calendar::Calendars;
use daysheet::provider::{Connect, Mailbox};
use daysheet::providers::Providers;
use daysheet::sandbox::{Options, Sandbox};
use daysheet::store::Store;
use futures_util::stream::{self, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use oauth2::{AccessToken, RefreshToken};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::support::{ME, config};

/// All permissions that reading and writing take.
const SCOPES: &str = "offline_access User.Read Mail.ReadWrite Mail.ReadWrite.Shared People.Read \
                      Contacts.ReadWrite MailboxSettings.ReadWrite Mail.Send Mail.Send.Shared \
                      Calendars.ReadWrite \
                      Calendars.ReadWrite.Shared";
/// What every request prefers.
pub const PREFER: &str = "IdType=\"ImmutableId\", outlook.timezone=\"UTC\"";
const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more-as-asked";
const CALLBACK: &str = "http://localhost:1";

/// One request that passed.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Method, path and query below the version, decoded; for a batch, those of
    /// its parts follow, each after a line break.
    pub asked: String,
    /// The headers that matter here.
    pub authorization: String,
    pub prefer: String,
    pub agent: String,
    /// The version that is asked for (`If-Match`).
    pub version: String,
    /// Which bytes of how many these are (`Content-Range`).
    pub range: String,
    /// Method, path and query as they were sent.
    pub raw: String,
    /// The body, if it is JSON.
    pub body: Value,
}

/// An answer that the tap gives itself.
#[derive(Debug, Clone)]
pub struct Said {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// The connection breaks after the body.
    pub cut: bool,
}

impl Said {
    pub fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.to_string(),
            cut: false,
        }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

type Rule = dyn Fn(&Seen) -> Option<Said> + Send + Sync;

/// The tap.
#[derive(Clone)]
pub struct Wire {
    pub base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    rule: Arc<Mutex<Box<Rule>>>,
}

impl Wire {
    /// Before a sandbox, or before nothing.
    pub async fn start(upstream: Option<&str>) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let wire = Self {
            base: format!("http://{}", socket.local_addr().unwrap()),
            seen: Arc::default(),
            rule: Arc::new(Mutex::new(Box::new(|_| None))),
        };
        let (tap, upstream) = (wire.clone(), upstream.map(str::to_owned));
        tokio::spawn(async move {
            loop {
                let (stream, _) = socket.accept().await.unwrap();
                let (tap, upstream) = (tap.clone(), upstream.clone());
                let service = service_fn(move |request| {
                    let (tap, upstream) = (tap.clone(), upstream.clone());
                    async move { tap.answer(request, upstream).await }
                });
                tokio::spawn(async move {
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        wire
    }

    /// Answers what `rule` knows an answer for.
    pub fn say(&self, rule: impl Fn(&Seen) -> Option<Said> + Send + Sync + 'static) {
        *self.rule.lock().unwrap() = Box::new(rule);
    }

    /// What was asked since the last time.
    pub fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// The same, as lines.
    pub fn asked(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.asked).collect()
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        upstream: Option<String>,
    ) -> std::result::Result<Response<UnsyncBoxBody<Bytes, io::Error>>, hyper::Error> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let text = |name: &str| {
            let value = parts.headers.get(name).map(|value| value.to_str().unwrap());
            value.unwrap_or_default().to_owned()
        };
        let below = |path: &str| {
            let decoded = percent_encoding::percent_decode_str(path).decode_utf8().unwrap();
            decoded.trim_start_matches("/v1.0").to_owned()
        };
        let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let mut asked = format!("{} {}", parts.method, below(&parts.uri.to_string()));
        for part in json["requests"].as_array().into_iter().flatten() {
            let prefer = part["headers"]["Prefer"].as_str().unwrap();
            assert!(prefer.starts_with(PREFER), "{prefer}");
            asked.push_str(&format!(
                "\n{} {}",
                part["method"].as_str().unwrap(),
                below(part["url"].as_str().unwrap())
            ));
        }
        let seen = Seen {
            asked,
            authorization: text("authorization"),
            prefer: text("prefer"),
            agent: text("user-agent"),
            version: text("if-match"),
            range: text("content-range"),
            raw: format!("{} {}", parts.method, parts.uri),
            body: json,
        };
        let said = (self.rule.lock().unwrap())(&seen);
        self.seen.lock().unwrap().push(seen);
        if let Some(said) = said {
            let mut response = Response::builder().status(said.status);
            for (name, value) in said.headers {
                response = response.header(name, value);
            }
            let mut frames = vec![Ok(Frame::data(Bytes::from(said.body)))];
            if said.cut {
                frames.push(Err(io::ErrorKind::ConnectionReset.into()));
            }
            // What stands before a break is to have left when it breaks.
            let frames = stream::iter(frames).then(|frame| async {
                if frame.is_err() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                frame
            });
            let body = StreamBody::new(frames);
            return Ok(response.body(BodyExt::boxed_unsync(body)).unwrap());
        }
        let upstream = upstream.expect("the tap has no answer");
        let host = upstream.trim_start_matches("http://");
        let mut onward =
            Request::builder().method(parts.method).uri(format!("{upstream}{}", parts.uri));
        for (name, value) in &parts.headers {
            if name != "host" {
                onward = onward.header(name, value);
            }
        }
        let onward = onward.header("host", host).body(Full::new(bytes)).unwrap();
        let client = Client::builder(TokioExecutor::new()).build_http();
        let answer = client.request(onward).await.unwrap();
        Ok(answer.map(|body| body.map_err(io::Error::other).boxed_unsync()))
    }
}

/// Mailboxes at Outlook, as a test sees them.
pub struct Outlook {
    pub wire: Wire,
    pub sandbox: Option<Sandbox>,
    accounts: Accounts,
    providers: Providers,
    _home: TempDir,
}

impl Outlook {
    /// Over the sample mailbox.
    pub async fn sample() -> Self {
        Self::over(None).await
    }

    /// Over the sample, with calendars that are empty.
    pub async fn without_events() -> Self {
        let empty = tempfile::tempdir().unwrap();
        let calendar = Some(empty.path().to_path_buf());
        Self::with(Options { calendar, ..Options::default() }).await
    }

    /// Over a folder of mail.
    pub async fn over(mail: Option<&Path>) -> Self {
        Self::with(Options { mail: mail.map(Path::to_path_buf), ..Options::default() }).await
    }

    async fn with(options: Options) -> Self {
        let sandbox = Sandbox::start(options).await.unwrap();
        let wire = Wire::start(Some(sandbox.base())).await;
        Self::behind(wire, Some(sandbox))
    }

    /// Over nothing but the rules of a tap.
    pub async fn scripted(rule: impl Fn(&Seen) -> Option<Said> + Send + Sync + 'static) -> Self {
        let wire = Wire::start(None).await;
        wire.say(rule);
        Self::behind(wire, None)
    }

    fn behind(wire: Wire, sandbox: Option<Sandbox>) -> Self {
        let home = TempDir::new().unwrap();
        let graph = format!("{}/v1.0", wire.base);
        let mut config = config(home.path(), &[]);
        if let Some(sandbox) = &sandbox {
            config.use_sandbox(sandbox.base()).unwrap();
        }
        config.endpoints.graph = format!("{graph}/").parse().unwrap();
        config.endpoints.google_people = format!("{}/", wire.base).parse().unwrap();
        let config = Arc::new(config);
        let accounts = Accounts::new(config.clone(), Store::new(&config));
        Self {
            providers: Providers::new(config.services(), Arc::new(accounts.clone())),
            wire,
            sandbox,
            accounts,
            _home: home,
        }
    }

    /// The mailbox of the sample's owner.
    pub async fn mailbox(&self) -> Arc<dyn Mailbox> {
        self.mailbox_of(ME).await
    }

    /// The mailbox of somebody who signs in.
    pub async fn mailbox_of(&self, address: &str) -> Arc<dyn Mailbox> {
        let tokens = tokens(self.sign_in(address, SCOPES).await);
        let account = self.accounts.add(tokens, address).await.unwrap();
        self.providers.mailbox(&account).unwrap()
    }

    /// The calendars of the sample's owner.
    pub async fn calendars(&self) -> Arc<dyn Calendars> {
        self.calendars_of(ME).await
    }

    /// The calendars of somebody who signs in.
    pub async fn calendars_of(&self, address: &str) -> Arc<dyn Calendars> {
        let tokens = tokens(self.sign_in(address, SCOPES).await);
        let account = self.accounts.add(tokens, address).await.unwrap();
        self.providers.calendars(&account).unwrap()
    }

    /// The calendars of a mailbox that is shared with the sample's owner.
    pub async fn shared_calendars(&self, address: &str) -> Arc<dyn Calendars> {
        let tokens = tokens(self.sign_in(ME, SCOPES).await);
        let account = self.accounts.add_shared(tokens, address, ME).await;
        self.providers.calendars(&account.unwrap()).unwrap()
    }

    /// A mailbox at Google, whose People API is the tap too.
    pub async fn google(&self) -> Arc<dyn Mailbox> {
        let tokens =
            Tokens { provider: "google", ..tokens(("the-token".to_owned(), "unused".to_owned())) };
        let account = self.accounts.add(tokens, ME).await.unwrap();
        self.providers.mailbox(&account).unwrap()
    }

    /// Whose token it is.
    pub async fn address(&self, token: &str, mailbox: Option<&str>) -> Result<String> {
        self.providers.address("microsoft", token, mailbox).await
    }

    /// A mailbox that is shared with the sample's owner.
    pub async fn shared(&self, address: &str) -> Arc<dyn Mailbox> {
        let tokens = tokens(self.sign_in(ME, SCOPES).await);
        let account = self.accounts.add_shared(tokens, address, ME).await;
        self.providers.mailbox(&account.unwrap()).unwrap()
    }

    /// An access token of the sandbox's sign-in.
    pub async fn token(&self, address: &str, scope: &str) -> String {
        self.sign_in(address, scope).await.0
    }

    /// An access token and a refresh token.
    async fn sign_in(&self, address: &str, scope: &str) -> (String, String) {
        let Some(sandbox) = &self.sandbox else {
            return ("the-token".to_owned(), "unused".to_owned());
        };
        let client = Client::builder(TokioExecutor::new()).build_http();
        let form = |pairs: &[(&str, &str)]| {
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let query = form(&[
            ("client_id", "daysheet-sandbox"),
            ("redirect_uri", CALLBACK),
            ("response_type", "code"),
            ("response_mode", "query"),
            ("scope", scope),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "s"),
            ("login_hint", address),
        ]);
        let page = format!("{}/common/oauth2/v2.0/authorize?{query}", sandbox.base());
        let request = Request::get(page)
            .header("x-sandbox-consent", "allow")
            .body(Full::<Bytes>::default())
            .unwrap();
        let back = client.request(request).await.unwrap();
        let back = back.headers()["location"].to_str().unwrap().to_owned();
        let back = url::Url::parse(&back).unwrap();
        let code = back.query_pairs().find(|(name, _)| name == "code").unwrap();
        let body = form(&[
            ("grant_type", "authorization_code"),
            ("client_id", "daysheet-sandbox"),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
            ("code", &code.1),
        ]);
        let request = Request::post(format!("{}/common/oauth2/v2.0/token", sandbox.base()))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Full::from(body))
            .unwrap();
        let answer = client.request(request).await.unwrap();
        let answer = answer.into_body().collect().await.unwrap().to_bytes();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let token = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        (token("access_token"), token("refresh_token"))
    }
}

fn tokens((access, refresh): (String, String)) -> Tokens {
    let hour = Duration::from_secs(3_600).as_secs();
    Tokens {
        provider: "microsoft",
        access: AccessToken::new(access),
        refresh: Some(RefreshToken::new(refresh)),
        expires: jiff::Timestamp::now().as_second() + i64::try_from(hour).unwrap(),
        scopes: Vec::new(),
        tenant: None,
    }
}
