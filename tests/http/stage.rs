//! A server on loopback over a sandbox, and clients for it: the harness of all HTTP tests.

#![allow(dead_code, reason = "no module needs all of it")]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use daysheet::app::App;
use daysheet::config::{AccessBy, Config};
use daysheet::http::{self, HttpState};
use daysheet_auth::{CallingPerson, TokenSubject, TokenVerifier};
use daysheet_core::access::AccessLevel;
use daysheet_sandbox::{Sandbox, SandboxOptions};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jiff::tz::TimeZone;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::client::TlsStream;

pub use crate::common::client::{ME, Reply, User};
use crate::common::clock;
use crate::common::messages::mailboxes;

/// The issuer of the people of the tests.
pub const ISSUER: &str = "https://issuer.example";

/// The protocol version without a handshake, and the last version with a handshake.
pub const MODERN: &str = "2026-07-28";
pub const OLD: &str = "2025-11-25";

/// A certificate for `localhost`, and its key.
pub const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/localhost.pem");
pub const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/localhost-key.pem");

/// A running instance. Its folder and its sandbox may be shared with others ([`Stage::another`]).
pub struct Stage {
    pub address: SocketAddr,
    pub app: Arc<App>,
    pub service: Arc<HttpState>,
    pub shared: Arc<Shared>,
    end: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<daysheet_core::error::Result<()>>>,
}

/// State that the instances of one installation share.
pub struct Shared {
    pub sandbox: Sandbox,
    pub home: TempDir,
    settings: Vec<(String, String)>,
    /// The people by their tokens; empty if everyone is the one person of the machine.
    people: HashMap<String, CallingPerson>,
    /// The issuer whose tokens are accepted instead.
    issuer: Option<daysheet_auth::IssuerSettings>,
    _mail: Option<TempDir>,
}

impl Stage {
    /// Starts over the sample mailbox. Everyone is the one person of the machine.
    pub async fn open() -> Self {
        Self::start(&[], &[], None, None).await
    }

    /// Starts for these people: the token of each is their name, and each has a mailbox
    /// NAME@example.com at Google with one message, `for NAME@example.com`.
    pub async fn of(names: &[&str]) -> Self {
        Self::set(names, &[]).await
    }

    /// Starts for these people with further settings.
    pub async fn set(names: &[&str], settings: &[(&str, &str)]) -> Self {
        let addresses: Vec<String> =
            names.iter().map(|name| format!("{name}@example.com")).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let mail = (!names.is_empty()).then(|| mailboxes(&addresses));
        Self::start(names, settings, mail, None).await
    }

    /// Starts over a folder of mail, or the sample mailboxes; with `issuer`, for its people of
    /// these names.
    pub async fn start(
        names: &[&str],
        settings: &[(&str, &str)],
        mail: Option<TempDir>,
        issuer: Option<daysheet_auth::IssuerSettings>,
    ) -> Self {
        let at = issuer.as_ref().map_or(ISSUER, |settings| &settings.issuer).to_owned();
        let person = |name: &str| {
            let subject = TokenSubject { issuer: &at, subject: name };
            CallingPerson::new(subject, Some(name.to_owned()), AccessLevel::Full)
        };
        let folder = mail.as_ref().map(|mail| mail.path().to_path_buf());
        let sandbox =
            Sandbox::start(SandboxOptions { mail: folder, ..SandboxOptions::new(clock::clock()) })
                .await
                .unwrap();
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let shared = Arc::new(Shared {
            sandbox,
            home: TempDir::new().unwrap(),
            settings: settings.iter().map(own).collect(),
            people: names.iter().map(|name| ((*name).to_owned(), person(name))).collect(),
            issuer,
            _mail: mail,
        });
        let stage = Self::instance(shared, None).await;
        if names.is_empty() {
            stage.app.consent("google", ME).await.unwrap();
        }
        for name in names {
            let app =
                stage.app.of_person(&person(name).owner, AccessLevel::Full, AccessBy::Settings);
            app.consent("google", &format!("{name}@example.com")).await.unwrap();
        }
        stage
    }

    /// Starts another instance over the same state and sandbox.
    pub async fn another(&self) -> Self {
        Self::instance(self.shared.clone(), None).await
    }

    /// Starts another instance, with TLS.
    pub async fn encrypted(&self) -> Self {
        Self::instance(self.shared.clone(), Some((CERTIFICATE.into(), KEY.into()))).await
    }

    /// Opens a connection with this protocol above TLS.
    pub async fn tls(&self, protocol: &[u8]) -> TlsStream<TcpStream> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(CERTIFICATE).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        connector.connect(name, stream).await.unwrap()
    }

    async fn instance(shared: Arc<Shared>, tls: Option<(PathBuf, PathBuf)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut config = shared.config();
        config.http.tls = tls.or_else(|| config.http.tls.take());
        config.http.listen_at(address).unwrap();
        config.pages = Some(format!("http://{address}/").parse().unwrap());
        let app = Arc::new(App::new(config));
        let verifier = match (&shared.issuer, shared.people.is_empty()) {
            (Some(settings), _) => TokenVerifier::at_issuer(settings.clone()),
            (None, true) => TokenVerifier::open(AccessLevel::Full),
            (None, false) => TokenVerifier::known(shared.people.clone()),
        };
        let service = HttpState::new(app.clone(), verifier);
        let (end, ended) = oneshot::channel::<()>();
        let served = tokio::spawn(http::serve(service.clone(), listener, || (), async move {
            let _ = ended.await;
        }));
        Self { address, app, service, shared, end: Some(end), served: Some(served) }
    }

    /// Returns the address of a path of the server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Asks the instance to end, and returns the task that serves until it has.
    pub fn end(&mut self) -> JoinHandle<daysheet_core::error::Result<()>> {
        self.end.take().unwrap().send(()).unwrap();
        self.served.take().unwrap()
    }

    /// Returns a client of the era without a handshake; `token` may be empty.
    pub fn modern(&self, token: &str) -> Caller {
        Caller::new(self, token, MODERN)
    }

    /// Returns a client of the last era with a handshake, after its handshake; its user can be
    /// asked.
    pub async fn old(&self, token: &str) -> Caller {
        let mut caller = Caller::new(self, token, OLD);
        caller.initialize(json!({"elicitation": {"form": {}}})).await;
        caller
    }

    /// Sends bytes over a new connection. Returns the response, up to the moment that the server
    /// closes the connection or has been silent for two seconds.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut got = Vec::new();
        let mut some = [0; 4096];
        while let Ok(Ok(count @ 1..)) =
            tokio::time::timeout(Duration::from_secs(2), stream.read(&mut some)).await
        {
            got.extend_from_slice(&some[..count]);
        }
        String::from_utf8_lossy(&got).into_owned()
    }
}

impl Shared {
    /// Returns the settings of an instance: the key in a file, everything allowed, Berlin time.
    pub fn config(&self) -> Config {
        let home = self.home.path().to_str().unwrap();
        let files = format!("{home}/files");
        let usual = [
            ("DAYSHEET_HOME", home),
            ("DAYSHEET_FILES", &files),
            ("DAYSHEET_KEY_STORE", "file"),
            ("DAYSHEET_ZONE", "Europe/Berlin"),
            ("DAYSHEET_BROWSER", "print"),
            ("DAYSHEET_ACCESS", "full"),
        ];
        let var = |name: &str| {
            let set = self.settings.iter().find(|(known, _)| known == name);
            let set = set.map(|(_, value)| value.clone());
            set.or_else(|| Some(usual.iter().find(|(known, _)| *known == name)?.1.to_owned()))
        };
        let mut config = Config::from(var, None, Some(TimeZone::UTC), clock::clock()).unwrap();
        // What nobody finds is not waited for as long as services may take.
        config.look = Duration::from_millis(40);
        config.use_sandbox(self.sandbox.base()).unwrap();
        #[cfg(feature = "documents")]
        {
            config.worker = Some(daysheet::worker::Worker::at(env!("CARGO_BIN_EXE_daysheet")));
        }
        config
    }
}

/// Returns a person of the tests, whose token is their name.
pub fn person(name: &str) -> CallingPerson {
    let subject = TokenSubject { issuer: ISSUER, subject: name };
    CallingPerson::new(subject, Some(name.to_owned()), AccessLevel::Full)
}

/// A client of `/mcp`, of either era.
pub struct Caller {
    pub http: User,
    pub version: &'static str,
    /// The capabilities that each request declares in the era without a handshake.
    pub capabilities: Value,
    /// The session id from the handshake.
    pub session: Option<String>,
}

impl Caller {
    pub fn new(stage: &Stage, token: &str, version: &'static str) -> Self {
        let mut http = User::nobody(&stage.url(""));
        http.token = token.to_owned();
        Self { http, version, capabilities: json!({"elicitation": {"form": {}}}), session: None }
    }

    /// Returns the same client at another instance.
    pub fn at(&self, stage: &Stage) -> Self {
        let mut other = Self::new(stage, &self.http.token, self.version);
        (other.capabilities, other.session) = (self.capabilities.clone(), self.session.clone());
        other
    }

    /// Performs the handshake, and keeps the session's id if one is given.
    pub async fn initialize(&mut self, capabilities: Value) -> Value {
        self.initialize_as("test", capabilities).await
    }

    /// Performs the handshake as the client of this name.
    pub async fn initialize_as(&mut self, client: &str, capabilities: Value) -> Value {
        let reply = self
            .send(
                "initialize",
                json!({
                    "protocolVersion": self.version,
                    "capabilities": capabilities,
                    "clientInfo": {"name": client, "version": "1"},
                }),
            )
            .await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let id = reply.header("mcp-session-id");
        self.session = (!id.is_empty()).then(|| id.to_owned());
        let result = message(&reply)["result"].clone();
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&done).await.status, 202);
        result
    }

    /// Returns the headers of a message, as a client of its era sends them.
    pub fn headers(&self, message: &Value) -> Vec<(String, String)> {
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ];
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        if !self.http.token.is_empty() {
            add("authorization", &format!("Bearer {}", self.http.token));
        }
        if message["method"] != "initialize" {
            add("mcp-protocol-version", self.version);
        }
        if let Some(session) = &self.session {
            add("mcp-session-id", session);
        }
        if self.version == MODERN {
            if let Some(method) = message["method"].as_str() {
                add("mcp-method", method);
            }
            let named = message["params"].get("name").or_else(|| message["params"].get("uri"));
            if let Some(name) = named.and_then(Value::as_str) {
                add("mcp-name", name);
            }
        }
        headers
    }

    /// Posts a message, and returns the response as a stream.
    pub async fn stream(&self, message: &Value) -> Streamed {
        let mut request = Request::post(format!("{}/mcp", self.http.base));
        for (name, value) in self.headers(message) {
            request = request.header(name, value);
        }
        let body = Full::new(Bytes::from(message.to_string()));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let response = client.request(request.body(body).unwrap()).await.unwrap();
        Streamed { response, read: String::new() }
    }

    /// Posts a message unchanged.
    pub async fn post(&self, message: &Value) -> Reply {
        let headers = self.headers(message);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.http.send("POST", "/mcp", &headers, message.to_string()).await
    }

    /// Returns the request of a method, as a client of its era makes it.
    pub fn request(&self, method: &str, mut params: Value) -> Value {
        if self.version == MODERN {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({"name": "test", "version": "1"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                self.capabilities.clone();
        }
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    /// Makes a request, and returns the complete response.
    pub async fn send(&self, method: &str, params: Value) -> Reply {
        self.post(&self.request(method, params)).await
    }

    /// Calls a tool, and returns the result.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let reply = self.send("tools/call", params).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let last = message(&reply);
        assert_eq!(last["id"], 7, "{last}");
        last["result"].clone()
    }

    /// Calls a tool that must succeed, and returns its text blocks together.
    pub async fn ok(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone()).await;
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        text(&result)
    }

    /// Calls a tool that must fail, and returns its error text.
    pub async fn error(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        text(&result)
    }
}

/// A streamed response, event by event.
pub struct Streamed {
    pub response: Response<Incoming>,
    read: String,
}

impl Streamed {
    /// Returns the next message, or `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((line, rest)) = self.read.split_once('\n') {
                let (line, rest) = (line.trim().to_owned(), rest.to_owned());
                self.read = rest;
                let data = line.strip_prefix("data:").map(str::trim).filter(|it| !it.is_empty());
                if let Some(data) = data {
                    return Some(serde_json::from_str(data).unwrap());
                }
            }
            let frame = self.response.body_mut().frame().await?.unwrap();
            self.read += &String::from_utf8_lossy(frame.data_ref().unwrap());
        }
    }
}

/// Returns the text blocks of a result together.
pub fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Returns the messages of a response: one, or all of a stream.
pub fn messages(reply: &Reply) -> Vec<Value> {
    if !reply.header("content-type").starts_with("text/event-stream") {
        return vec![reply.json()];
    }
    let data = reply.text();
    let data = data.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    data.filter(|data| !data.is_empty()).map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Returns the last message of a response, which answers the request.
pub fn message(reply: &Reply) -> Value {
    messages(reply).pop().unwrap_or_else(|| panic!("no message: {}", reply.text()))
}
