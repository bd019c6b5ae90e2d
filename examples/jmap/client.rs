//! The client of one account for a JMAP server: its session and its method calls (RFC 8620).
//!
//! Only reading methods are called, so every call may be retried.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::{ServiceSettings, TokenSource};
use daysheet_core::text::quoted_words;
use daysheet_providers::limiter::{RateLimiter, retry_after};
use daysheet_providers::net::{self, FetchFailure};
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use url::Url;

use super::objects::text;

/// The maximum number of calls of one account in flight; servers have to allow four (RFC 8620, 2).
const IN_FLIGHT: usize = 4;
/// The maximum size of a response, in bytes.
const MAX_ANSWER: usize = 32 << 20;
/// The capability for mail; the core capability is always named, too.
const MAIL: &str = "urn:ietf:params:jmap:mail";

/// The URL for method calls, and the account that they concern.
struct JmapSession {
    api: Url,
    account: String,
}

/// The client of one account.
pub struct JmapClient {
    url: Url,
    limiter: RateLimiter,
    session: OnceCell<JmapSession>,
}

/// Returns a reference to a part of an earlier call's result (RFC 8620, 3.7).
pub fn from(call: usize, name: &str, path: &str) -> Value {
    json!({"resultOf": call.to_string(), "name": name, "path": path})
}

impl JmapClient {
    /// Creates the client of the account with this session URL.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if a token must not be sent to that URL.
    pub fn new(services: &ServiceSettings, tokens: TokenSource, session: &str) -> Result<Self> {
        let url = Url::parse(session).ok();
        // Plain http is only for tests on this machine.
        let safe = |url: &Url| url.scheme() == "https" || url.host_str() == Some("127.0.0.1");
        let url = url.filter(safe).ok_or_else(|| {
            Error::new(ErrorKind::Config, "the session URL must be https")
                .next("give the server's JMAP session URL")
        })?;
        let limiter = RateLimiter::new(tokens, "jmap", "the JMAP server", IN_FLIGHT, services);
        Ok(Self { url, limiter, session: OnceCell::new() })
    }

    /// Calls methods in one request; returns the arguments of their responses, in order.
    pub async fn call(&self, calls: &[(&str, Value)]) -> Result<Vec<Value>> {
        let session = self.session.get_or_try_init(|| self.read_session()).await?;
        let calls = calls.iter().enumerate().map(|(at, (name, arguments))| {
            let mut arguments = arguments.clone();
            if let Some(arguments) = arguments.as_object_mut() {
                arguments.insert("accountId".to_owned(), json!(session.account));
            }
            json!([name, arguments, at.to_string()])
        });
        let calls: Vec<Value> = calls.collect();
        let body = json!({"using": ["urn:ietf:params:jmap:core", MAIL], "methodCalls": calls});
        let attempt = |token| self.send(&session.api, Some(&body), token);
        let mut answer = self.limiter.read(attempt).await?;
        let Some(Value::Array(mut answers)) = answer.get_mut("methodResponses").map(Value::take)
        else {
            return Err(not_ours());
        };
        let answered = |at: usize| {
            let own = |one: &&mut Value| one.get(2) == Some(&json!(at.to_string()));
            let one = answers.iter_mut().find(own).ok_or_else(not_ours)?;
            let arguments = one.get_mut(1).map(Value::take).unwrap_or_default();
            if one.get(0) == Some(&json!("error")) {
                Err(refused(&arguments))
            } else {
                Ok(arguments)
            }
        };
        (0..calls.len()).map(answered).collect()
    }

    /// Calls one method.
    pub async fn call_one(&self, name: &str, arguments: Value) -> Result<Value> {
        Ok(self.call(&[(name, arguments)]).await?.pop().unwrap_or_default())
    }

    async fn read_session(&self) -> Result<JmapSession> {
        let answer = self.limiter.read(|token| self.send(&self.url, None, token)).await?;
        let api = self.url.join(text(&answer, "apiUrl")).map_err(|_opaque| not_ours())?;
        let account = answer.get("primaryAccounts").map_or("", |known| text(known, MAIL));
        // The token is only for the server of the configured URL.
        let why = match () {
            () if api.origin() != self.url.origin() => "the session leads to another server",
            () if account.is_empty() => "the sign-in has no mailbox at its server",
            () => return Ok(JmapSession { api, account: account.to_owned() }),
        };
        Err(Error::new(ErrorKind::Provider(200), why))
    }

    /// Makes one attempt.
    async fn send(&self, url: &Url, body: Option<&Value>, token: String) -> Result<Value> {
        let request = Request::builder()
            .method(if body.is_some() { "POST" } else { "GET" })
            .uri(url.as_str())
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header(CONTENT_TYPE, "application/json")
            .body(body.map(|body| body.to_string().into_bytes()).unwrap_or_default())
            .map_err(|_opaque| Error::new(ErrorKind::Auth, "the access token cannot be sent"))?;
        let read = net::exchange(request, MAX_ANSWER, Some(self.limiter.share()));
        let read = read.await.map_err(|failure| match failure {
            FetchFailure::Long => Error::argument("the server's answer is longer than is read"),
            _ => Error::new(ErrorKind::Network, "the connection to the server broke"),
        })?;
        let wait = read.answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        match read.answer.status().as_u16() {
            200..=299 => serde_json::from_slice(read.answer.body()).map_err(|_opaque| not_ours()),
            429 => {
                let wait = wait.and_then(|wait| retry_after(wait, self.limiter.clock().now()));
                Err(Error::new(ErrorKind::RateLimited(wait), "the server asks for fewer calls"))
            }
            status => Err(Error::new(
                ErrorKind::Provider(status),
                format!("the server answered {status}"),
            )),
        }
    }
}

fn not_ours() -> Error {
    Error::new(ErrorKind::Provider(502), "the server answered with something that is not JMAP")
}

/// Converts an error of a method (RFC 8620, 3.6.2).
fn refused(error: &Value) -> Error {
    let reason = [text(error, "type"), text(error, "description")].join(" ");
    let message = format!("the server refused: {}", quoted_words(reason.trim()));
    let kind = match text(error, "type") {
        "serverUnavailable" | "serverFail" => ErrorKind::Provider(503),
        "cannotCalculateChanges" => ErrorKind::Conflict,
        _ => ErrorKind::Argument,
    };
    Error::new(kind, message)
}
