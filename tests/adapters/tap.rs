//! A proxy in front of a service that records requests, answers some of them itself and forwards
//! the rest. Also the program's adapters, connected to one.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::provider::upstream::UpstreamShare;
use daysheet_core::provider::{
    AccountStatus, Mailbox, ProviderConnector, ProviderEndpoints, ServiceSettings, TokenStore,
};
use daysheet_providers::Providers;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use futures_util::stream::{self, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::HeaderMap;
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::common::client::{GOOGLE, ME, MICROSOFT, SignIn, User};
use crate::common::clock;

/// The `Prefer` header of every request to Graph.
pub const PREFER: &str = "IdType=\"ImmutableId\", outlook.timezone=\"UTC\"";

/// A recorded request.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// Method, path and query, decoded, below Graph's version. For a batch, the lines of its parts
    /// follow.
    pub line: String,
    /// Method and path, below the account in Gmail.
    pub target: String,
    /// Method, path and query, undecoded.
    pub raw: String,
    query: Vec<(String, String)>,
    /// The tap's address: `http://127.0.0.1:…`.
    pub base: String,
    pub headers: HeaderMap,
    pub bytes: Bytes,
    /// The bytes, if they are JSON.
    pub body: Value,
}

impl HttpRequest {
    fn new(base: &str, parts: &hyper::http::request::Parts, bytes: Bytes) -> Self {
        let (method, uri) = (&parts.method, &parts.uri);
        let below = |path: &str| {
            let decoded = percent_encoding::percent_decode_str(path).decode_utf8().unwrap();
            decoded.trim_start_matches("/v1.0").to_owned()
        };
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let mut line = format!("{method} {}", below(&uri.to_string()));
        for part in body["requests"].as_array().into_iter().flatten() {
            let prefer = part["headers"]["Prefer"].as_str().unwrap();
            assert!(prefer.starts_with(PREFER), "{prefer}");
            let (method, url) = (part["method"].as_str().unwrap(), part["url"].as_str().unwrap());
            line.push_str(&format!("\n{method} {}", below(url)));
        }
        let path = uri.path();
        let path = path.strip_prefix("/gmail/v1/users/me/").unwrap_or(path);
        let target = format!("{method} {path}");
        let raw = format!("{method} {uri}");
        let query = uri.query().unwrap_or_default().as_bytes();
        let query = url::form_urlencoded::parse(query).into_owned().collect();
        let (base, headers) = (base.to_owned(), parts.headers.clone());
        Self { line, target, raw, query, base, headers, bytes, body }
    }

    /// Returns a header, or an empty text if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns a decoded query parameter, or an empty text if it is missing.
    pub fn param(&self, name: &str) -> &str {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// A response that the tap gives itself.
#[derive(Debug, Clone, Default)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
    /// The number of repetitions of [`FILLER`] between the body and `tail`.
    more: usize,
    tail: &'static str,
    /// True if the connection breaks after the body.
    cut: bool,
}

/// Returns a response with only a status.
pub fn empty(status: u16) -> HttpResponse {
    HttpResponse { status, ..HttpResponse::default() }
}

/// A status and JSON.
pub fn respond(status: u16, body: &Value) -> HttpResponse {
    empty(status).header("content-type", "application/json").body(body.to_string())
}

/// Answers a request to Graph, or each part of a batch, by its line.
pub fn each(request: &HttpRequest, answer: impl Fn(&str) -> (u16, Value)) -> HttpResponse {
    let parts: Vec<&str> = request.line.lines().skip(1).collect();
    if parts.is_empty() {
        let (status, body) = answer(&request.line);
        return respond(status, &body);
    }
    let parts = parts.into_iter().enumerate().map(|(at, part)| {
        let (status, body) = answer(part);
        json!({"id": at.to_string(), "status": status, "body": body})
    });
    respond(200, &json!({"responses": parts.collect::<Vec<_>>()}))
}

/// A refusal in Google's shape.
pub fn refused_by_google(status: u16, reason: &str, message: &str) -> HttpResponse {
    let error = json!({"domain": "global", "reason": reason, "message": message});
    respond(status, &json!({"error": {"code": status, "message": message, "errors": [error]}}))
}

/// An answer that breaks off.
pub fn broken() -> HttpResponse {
    respond(200, &json!({"id": "half"})).cut()
}

/// As many of [`FILLER`] make 16 MiB.
const LONG: usize = 256;
/// The repeated content of long responses: 64 KiB of Base64.
pub static FILLER: [u8; 64 * 1024] = [b'Q'; 64 * 1024];

/// Returns a response with [`FILLER`] repeated `more` times between its beginning and its end.
pub fn long(begin: &str, more: usize, tail: &'static str) -> HttpResponse {
    HttpResponse { more, tail, ..respond(200, &Value::Null).body(begin.to_owned()) }
}

impl HttpResponse {
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Breaks off after the body.
    pub fn cut(self) -> Self {
        Self { cut: true, ..self }
    }

    fn http(self, taken: Arc<Taken>) -> TapResponse {
        let mut response = hyper::Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        let mut frames = vec![Ok(Frame::data(self.body))];
        if self.cut {
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
            if so_far == self.more && so_far >= LONG {
                taken.now.fetch_sub(1, Ordering::Relaxed);
            }
            Ok(Frame::data(Bytes::from_static(&FILLER)))
        };
        let frames = stream::iter(frames)
            .chain(stream::iter(std::iter::repeat_with(filler).take(self.more)))
            .chain(stream::iter([Ok(Frame::data(Bytes::from(self.tail)))]));
        // What stands before a break is to have left when it breaks.
        let frames = frames.then(|frame: io::Result<_>| async {
            if frame.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            frame
        });
        response.body(BodyExt::boxed_unsync(StreamBody::new(frames))).unwrap()
    }
}

/// Answers with each response in turn, and repeats the last one.
pub fn turns<T: Clone + Send + Sync>(answers: Vec<T>) -> impl Fn() -> T + Send + Sync {
    let turn = AtomicUsize::new(0);
    move || answers[turn.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1)].clone()
}

/// The amount of long responses that was sent.
#[derive(Debug, Default)]
pub struct Taken {
    /// The number of times that [`FILLER`] was sent.
    pub pieces: AtomicUsize,
    /// Answers of which 16 MiB were taken and that have not ended, now and at most.
    now: AtomicUsize,
    pub at_once: AtomicUsize,
}

type TapResponse = hyper::Response<UnsyncBoxBody<Bytes, io::Error>>;
type Rule = dyn Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync;

/// The tap.
#[derive(Clone)]
pub struct Tap {
    pub base: String,
    pub taken: Arc<Taken>,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
    rule: Arc<Mutex<Arc<Rule>>>,
}

impl Tap {
    /// Starts a tap in front of a sandbox, or without an upstream.
    pub async fn start(upstream: Option<&str>) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let tap = Self::closed(&format!("http://{}", socket.local_addr().unwrap()));
        let (served, upstream) = (tap.clone(), upstream.map(str::to_owned));
        tokio::spawn(async move {
            loop {
                let (stream, _) = socket.accept().await.unwrap();
                let (tap, upstream) = (served.clone(), upstream.clone());
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
        tap
    }

    /// Returns a tap that does not listen.
    fn closed(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            taken: Arc::default(),
            requests: Arc::default(),
            rule: Arc::new(Mutex::new(Arc::new(|_| None))),
        }
    }

    /// Sets the rule that answers requests; `None` forwards a request.
    pub fn say(&self, rule: impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static) {
        *self.rule.lock().unwrap() = Arc::new(rule);
    }

    /// Returns and clears the recorded requests.
    pub fn requests(&self) -> Vec<HttpRequest> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    /// Returns and clears the recorded requests, as lines.
    pub fn lines(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.line).collect()
    }

    async fn answer(
        &self,
        request: hyper::Request<Incoming>,
        upstream: Option<String>,
    ) -> std::result::Result<TapResponse, hyper::Error> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let request = HttpRequest::new(&self.base, &parts, bytes.clone());
        let rule = self.rule.lock().unwrap().clone();
        let response = rule(&request);
        self.requests.lock().unwrap().push(request);
        if let Some(response) = response {
            return Ok(response.http(self.taken.clone()));
        }
        let upstream = upstream.expect("the tap has no answer");
        let uri = format!("{upstream}{}", parts.uri);
        let mut onward = hyper::Request::builder().method(parts.method).uri(uri);
        for (name, value) in parts.headers.iter().filter(|(name, _)| *name != "host") {
            onward = onward.header(name, value);
        }
        let onward = onward.header("host", upstream.trim_start_matches("http://"));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let answer = client.request(onward.body(Full::new(bytes)).unwrap()).await.unwrap();
        Ok(answer.map(|body| body.map_err(io::Error::other).boxed_unsync()))
    }
}

/// The access tokens of signed-in users, by account. A refused token is replaced by a new sign-in,
/// once for all waiting callers.
struct Tokens {
    cache: tokio::sync::Mutex<HashMap<AccountId, String>>,
    /// The user and the sign-in; `None` over a scripted service.
    sign_in: Option<(User, &'static SignIn, &'static str)>,
}

impl Tokens {
    async fn signed_in(&self, address: &str) -> Result<String> {
        match &self.sign_in {
            Some((user, at, scopes)) => Ok(user.token_of(at, address, scopes).await),
            None => Err(Error::new(ErrorKind::Auth, "nobody signs in to a script")),
        }
    }
}

#[async_trait]
impl TokenStore for Tokens {
    async fn bearer(&self, id: &AccountId) -> Result<String> {
        Ok(self.cache.lock().await[id].clone())
    }

    async fn refreshed_after_401(&self, id: &AccountId, rejected: &str) -> Result<String> {
        let mut cache = self.cache.lock().await;
        if cache[id] == rejected {
            let (_, address) = id.as_str().split_once(':').unwrap();
            cache.insert(id.to_owned(), self.signed_in(address).await?);
        }
        Ok(cache[id].clone())
    }
}

/// The adapters of a provider as in the program, with a tap in front of the service.
pub struct Tapped {
    pub tap: Tap,
    pub sandbox: Option<Sandbox>,
    provider: &'static str,
    tokens: Arc<Tokens>,
    providers: Providers,
}

impl Tapped {
    /// Starts a tap that answers only by its rules; the token is `the-token`.
    pub async fn scripted(
        provider: &'static str,
        rule: impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static,
    ) -> Self {
        let tap = Tap::start(None).await;
        tap.say(rule);
        Self::behind(provider, "", tap, None)
    }

    pub fn is_google(&self) -> bool {
        self.provider == "google"
    }

    /// Over a sandbox; sign-ins ask for these scopes.
    pub async fn over(
        provider: &'static str,
        scopes: &'static str,
        options: SandboxOptions,
    ) -> Self {
        let sandbox = Sandbox::start(options).await.unwrap();
        let tap = Tap::start(Some(sandbox.base())).await;
        Self::behind(provider, scopes, tap, Some(sandbox))
    }

    /// The same without a tap, where answers lead to the sandbox's own address.
    pub async fn untapped(
        provider: &'static str,
        scopes: &'static str,
        options: SandboxOptions,
    ) -> Self {
        let sandbox = Sandbox::start(options).await.unwrap();
        Self::behind(provider, scopes, Tap::closed(sandbox.base()), Some(sandbox))
    }

    fn behind(
        provider: &'static str,
        scopes: &'static str,
        tap: Tap,
        sandbox: Option<Sandbox>,
    ) -> Self {
        let base = format!("{}/", tap.base).parse().unwrap();
        let endpoints = ProviderEndpoints::below(&base).unwrap();
        // What nobody finds is not waited for as long as services may take.
        let services = ServiceSettings {
            endpoints,
            look: Duration::from_millis(40),
            retry: Duration::from_millis(250),
            clock: clock::clock(),
            share: UpstreamShare::default(),
            connect: None,
        };
        let at = if provider == "google" { &GOOGLE } else { &MICROSOFT };
        let sign_in = sandbox.as_ref().map(|sandbox| (User::nobody(sandbox.base()), at, scopes));
        let tokens = Arc::new(Tokens { cache: tokio::sync::Mutex::default(), sign_in });
        let providers = Providers::new(services, tokens.clone());
        Self { tap, sandbox, provider, tokens, providers }
    }

    /// Returns the access token of a signed-in user, or `the-token` over a script.
    async fn access(&self, address: &str) -> String {
        match &self.sandbox {
            Some(_) => self.tokens.signed_in(address).await.unwrap(),
            None => "the-token".to_owned(),
        }
    }

    /// Adds an account with this token.
    async fn add(
        &self,
        provider: &str,
        address: &str,
        via: Option<&str>,
        token: String,
    ) -> Account {
        let account = Account {
            id: format!("{provider}:{address}").into(),
            provider: provider.to_owned(),
            email: address.into(),
            via: via.map(str::to_owned),
            tenant: None,
            status: AccountStatus::Ok,
            problem: None,
            scopes: Vec::new(),
            added: Timestamp::UNIX_EPOCH,
        };
        self.tokens.cache.lock().await.insert(account.id.clone(), token);
        account
    }

    /// Returns the account of a signed-in user.
    pub async fn account(&self, address: &str) -> Account {
        self.add(self.provider, address, None, self.access(address).await).await
    }

    /// The mailbox of the sample's owner.
    pub async fn mailbox(&self) -> Arc<dyn Mailbox> {
        self.mailbox_of(ME).await
    }

    /// Returns the mailbox of a signed-in user.
    pub async fn mailbox_of(&self, address: &str) -> Arc<dyn Mailbox> {
        self.providers.mailbox(&self.account(address).await).unwrap()
    }

    /// The calendars of the sample's owner.
    pub async fn calendars(&self) -> Arc<dyn Calendars> {
        self.calendars_of(ME).await
    }

    /// Returns the calendars of a signed-in user.
    pub async fn calendars_of(&self, address: &str) -> Arc<dyn Calendars> {
        self.providers.calendars(&self.account(address).await).unwrap()
    }

    async fn shared_with_me(&self, address: &str) -> Account {
        self.add(self.provider, address, Some(ME), self.access(ME).await).await
    }

    /// A mailbox that is shared with the sample's owner.
    pub async fn shared(&self, address: &str) -> Arc<dyn Mailbox> {
        self.providers.mailbox(&self.shared_with_me(address).await).unwrap()
    }

    /// The calendars of a mailbox that is shared with the sample's owner.
    pub async fn shared_calendars(&self, address: &str) -> Arc<dyn Calendars> {
        self.providers.calendars(&self.shared_with_me(address).await).unwrap()
    }

    /// Returns the address that a token belongs to.
    pub async fn address(&self, token: &str, mailbox: Option<&str>) -> Result<String> {
        self.providers.address(self.provider, token, mailbox).await
    }
}

/// All permissions needed for reading and writing.
pub const GMAIL: &str = "https://mail.google.com/ https://www.googleapis.com/auth/gmail.settings.basic \
                         https://www.googleapis.com/auth/contacts \
                         https://www.googleapis.com/auth/directory.readonly \
                         https://www.googleapis.com/auth/contacts.other.readonly \
                         https://www.googleapis.com/auth/calendar";
pub const OUTLOOK: &str = "offline_access User.Read Mail.ReadWrite Mail.ReadWrite.Shared People.Read \
                       Contacts.ReadWrite MailboxSettings.ReadWrite Mail.Send Mail.Send.Shared \
                       Calendars.ReadWrite Calendars.ReadWrite.Shared";

/// Mailboxes and calendars at Outlook.
pub struct Outlook(Tapped);

impl std::ops::Deref for Outlook {
    type Target = Tapped;

    fn deref(&self) -> &Tapped {
        &self.0
    }
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
        let options = SandboxOptions { calendar, ..SandboxOptions::new(clock::clock()) };
        Self(Tapped::over("microsoft", OUTLOOK, options).await)
    }

    /// Over a folder of mail.
    pub async fn over(mail: Option<&Path>) -> Self {
        let options = SandboxOptions {
            mail: mail.map(Path::to_path_buf),
            ..SandboxOptions::new(clock::clock())
        };
        Self(Tapped::over("microsoft", OUTLOOK, options).await)
    }

    /// Starts a tap that answers only by its rules.
    pub async fn scripted(
        rule: impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static,
    ) -> Self {
        Self(Tapped::scripted("microsoft", rule).await)
    }

    /// A mailbox at Google instead, behind the same tap.
    pub async fn google(&self) -> Arc<dyn Mailbox> {
        let account = self.add("google", ME, None, "the-token".to_owned()).await;
        self.providers.mailbox(&account).unwrap()
    }

    /// An access token of the sandbox's sign-in.
    pub async fn token(&self, address: &str, scope: &str) -> String {
        let sandbox = self.sandbox.as_ref().unwrap();
        User::nobody(sandbox.base()).token_of(&MICROSOFT, address, scope).await
    }
}
