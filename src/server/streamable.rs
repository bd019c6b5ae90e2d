//! MCP's Streamable HTTP, one request at a time and at any instance.
//!
//! rmcp answers each request without a session, and keeps nothing of it once the response has been
//! sent. For older protocol versions it would keep state in memory. This module avoids that:
//!
//! - A client's declarations at initialization are in the id of its session, which this server
//!   signs. Nothing is stored. The id describes the client's abilities, never its identity. An
//!   unreadable id gets 404, upon which clients begin a new session; without one, the user could
//!   not be asked questions.
//! - A question to the user is sent on the stream that answers the call. Its id is that of a ticket
//!   of the caller: it cannot be guessed, and an answer from another person does not match. The
//!   client may post the answer to any instance, which fills the ticket; the asking instance polls
//!   it while the question is open. A person takes seconds to answer, so polling is as good as a
//!   notification (`LISTEN`), and it works with either database.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use daysheet_core::error::{Error, ErrorKind, Result};
use futures_util::stream::{Pending, Stream, poll_fn};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientResult, ElicitResult, ElicitationAction, ErrorCode, ErrorData,
    InitializeRequestParams, JsonRpcError, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::serve_directly;
use rmcp::transport::streamable_http_server::session::never::NeverTransport;
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::transport::{Transport, TransportAdapterIdentity};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::apps;
use super::elicitation::OPEN;
use super::framing;
use super::handler::Server;
use crate::store::{Store, TicketKind};

/// The response to an HTTP request.
pub type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;

/// The header with the id of a session.
const SESSION: &str = "mcp-session-id";
/// The interval at which an open question is polled.
const LOOK: Duration = Duration::from_millis(250);
/// The polling interval after a while; the user may be away.
const MAX_POLL: Duration = Duration::from_secs(2);
/// The number of messages that may be queued for a stream.
const WAITING: usize = 16;
/// The header with the protocol version.
const VERSION: &str = "mcp-protocol-version";
/// The number of seconds after which a client may repeat a failed request.
const AGAIN: &str = "5";

impl Server {
    /// Answers one HTTP request, whose body has been read. The caller has checked its sender,
    /// origin and length.
    pub async fn answer(&self, request: Request<Bytes>) -> HttpAnswer {
        let (parts, mut body) = request.into_parts();
        // An id that is not text is unknown like any other.
        let named = parts.headers.get(SESSION).map(|id| id.to_str().unwrap_or_default());
        // A session exists only in its id, so there is nothing to delete.
        if parts.method == Method::DELETE && named.is_some() {
            return empty(StatusCode::NO_CONTENT);
        }
        let (mut session, mut begun, mut asked) = (None, None, None);
        if let (Some(shared), &Method::POST, true) = (&self.shared, &parts.method, is_json(&parts))
        {
            let Some((sound, message)) = framing::repair(&body) else {
                let error = ErrorData::parse_error("the body is not JSON", None);
                return refusal(StatusCode::BAD_REQUEST, None, error);
            };
            body = sound.into();
            if message.is_array() {
                let what = "batches are not supported: send one message per request";
                let error = ErrorData::invalid_request(what, None);
                return refusal(StatusCode::BAD_REQUEST, None, error);
            }
            let id = id_of(&message);
            let version = parts.headers.get(VERSION).and_then(|version| version.to_str().ok());
            // Since version 2026-07-28, the protocol has no `initialize` and no sessions.
            let has_sessions = version.is_none_or(|it| it < ProtocolVersion::V_2026_07_28.as_str());
            let found = match (message.get("method").and_then(Value::as_str), named) {
                // A message without a method is an answer, perhaps to a question of another
                // instance.
                (None, _) => return receive_answer(shared.store(), &message).await,
                (Some("initialize"), _) => shared.begin(&message).await.map(|id| begun = id),
                (Some(method), Some(named)) if has_sessions => match shared.read(named).await {
                    Ok(None) => {
                        let what = "the session is unknown: begin a new one with initialize";
                        let error = ErrorData::invalid_request(what, None);
                        return refusal(StatusCode::NOT_FOUND, id, error);
                    }
                    // Only calls need questions and formats, and only lists and the view depend on
                    // whether the client draws views; all other requests are answered without a
                    // stream.
                    content => content.map(|it| {
                        session = it.filter(|it| match method {
                            "tools/call" => true,
                            "tools/list" | "resources/read" => apps::are_drawn_by(&it.capabilities),
                            _ => false,
                        });
                    }),
                },
                _ => Ok(()),
            };
            if let Err(error) = found {
                return unavailable(id, &error);
            }
            asked = Some(id);
        }
        // `http/guard.rs` has checked the host and the length of the body.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(session.is_some())
            .with_json_response(true)
            .disable_allowed_hosts()
            .with_max_request_body_bytes(usize::MAX);
        let streams = CallStreams { server: self.clone(), session };
        let server = self.clone();
        let mut answer =
            StreamableHttpService::new(move || Ok(server.clone()), Arc::new(streams), config)
                .handle(Request::from_parts(parts, Full::new(body)))
                .await;
        if let (Some(id), StatusCode::UNSUPPORTED_MEDIA_TYPE) = (asked, answer.status()) {
            // rmcp rejects the media type, although the actual problem is that the JSON is not a
            // message.
            let what = "the body is not a JSON-RPC message: it needs jsonrpc \"2.0\", a method, and \
                        in a request an id, which is a text or a whole number";
            return refusal(StatusCode::BAD_REQUEST, id, ErrorData::invalid_request(what, None));
        }
        if let Some(id) = begun.and_then(|id| HeaderValue::try_from(id).ok())
            && answer.status() == StatusCode::OK
        {
            answer.headers_mut().insert(SESSION, id);
        }
        answer
    }
}

/// Stores the answer to a question of any instance.
async fn receive_answer(store: &Store, message: &Value) -> HttpAnswer {
    let words = ["accept", "decline", "cancel"];
    let action = message.pointer("/result/action").and_then(Value::as_str);
    let action = action.filter(|action| words.contains(action)).unwrap_or("failed");
    let id = message.get("id").and_then(Value::as_str).unwrap_or_default();
    match store.fill_ticket(TicketKind::StreamQuestion, id, action).await {
        Ok(true) => empty(StatusCode::ACCEPTED),
        Ok(false) => {
            let what = "no question with this id is open";
            refusal(StatusCode::BAD_REQUEST, None, ErrorData::invalid_request(what, None))
        }
        Err(error) => unavailable(None, &error),
    }
}

/// Answers calls from clients that can ask their users, each on its own stream. Used in place of
/// rmcp's sessions, for one request.
struct CallStreams {
    server: Server,
    session: Option<InitializeRequestParams>,
}

/// Returns the error of rmcp's session functions, which are never called here.
fn no_session() -> Error {
    Error::new(ErrorKind::Internal, "there are no sessions")
}

impl SessionManager for CallStreams {
    type Error = Error;
    type Transport = NeverTransport;

    async fn create_session(&self) -> Result<(SessionId, NeverTransport)> {
        Err(no_session())
    }

    async fn initialize_session(
        &self,
        _: &SessionId,
        _: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        Err(no_session())
    }

    async fn has_session(&self, _: &SessionId) -> Result<bool> {
        Ok(self.session.is_some())
    }

    async fn close_session(&self, _: &SessionId) -> Result<()> {
        Ok(())
    }

    async fn create_stream(
        &self,
        _: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let shared = self.server.shared.as_ref().ok_or_else(no_session)?;
        let (output, mut messages) = mpsc::channel(WAITING);
        let conversation = CallConversation {
            first: Some(message),
            output,
            answers: mpsc::channel(WAITING),
            store: shared.store().clone(),
        };
        let server = self.server.clone();
        let session = self.session.clone();
        let running =
            serve_directly::<_, _, _, _, TransportAdapterIdentity>(server, conversation, session);
        // Dropped with the stream, which ends the call if the client disconnects.
        let mut running = Some(running);
        Ok(poll_fn(move |context| {
            if running.is_none() {
                return Poll::Ready(None);
            }
            messages.poll_recv(context).map(|message| {
                let goes_on = matches!(
                    message,
                    Some(ServerJsonRpcMessage::Notification(_) | ServerJsonRpcMessage::Request(_))
                );
                if !goes_on {
                    running = None;
                }
                message.map(ServerSseMessage::from_message)
            })
        }))
    }

    async fn accept_message(&self, _: &SessionId, _: ClientJsonRpcMessage) -> Result<()> {
        Ok(())
    }

    async fn create_standalone_stream(
        &self,
        _: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        Err::<Pending<_>, _>(no_session())
    }

    async fn resume(
        &self,
        _: &SessionId,
        _: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        Err::<Pending<_>, _>(no_session())
    }
}

/// One call in rmcp's loop: the request, the messages on its stream, and the answers to its
/// questions, whichever instance receives them.
struct CallConversation {
    first: Option<ClientJsonRpcMessage>,
    output: mpsc::Sender<ServerJsonRpcMessage>,
    answers: (mpsc::Sender<ClientJsonRpcMessage>, mpsc::Receiver<ClientJsonRpcMessage>),
    store: Store,
}

impl Transport<RoleServer> for CallConversation {
    type Error = Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<()>> + Send + 'static {
        let (output, answers) = (self.output.clone(), self.answers.0.clone());
        let store = self.store.clone();
        async move {
            let message = match message {
                ServerJsonRpcMessage::Request(mut question) => {
                    let seconds = i64::try_from(OPEN.as_secs()).unwrap_or(i64::MAX);
                    let ticket = store.put_ticket(TicketKind::StreamQuestion, "", seconds).await?;
                    // rmcp identifies the question by its own, sequential id; the ticket's cannot
                    // be guessed.
                    let id = std::mem::replace(
                        &mut question.id,
                        RequestId::String(ticket.as_str().into()),
                    );
                    tokio::spawn(look(store, ticket, id, answers));
                    ServerJsonRpcMessage::Request(question)
                }
                other => other,
            };
            let gone = |_| Error::new(ErrorKind::Network, "the client has disconnected");
            output.send(message).await.map_err(gone)
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        match self.first.take() {
            Some(first) => Some(first),
            None => self.answers.1.recv().await,
        }
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Polls the ticket of a question until it is answered, and passes the answer on. A question that
/// is not answered in time fails.
async fn look(
    store: Store,
    ticket: String,
    id: RequestId,
    answers: mpsc::Sender<ClientJsonRpcMessage>,
) {
    let end = Instant::now() + OPEN;
    let mut pause = LOOK;
    let action = loop {
        let over = tokio::select! {
            () = sleep(pause) => false,
            // The call has ended, or the client has disconnected.
            () = answers.closed() => true,
        };
        match store.peek_ticket(TicketKind::StreamQuestion, &ticket).await {
            // Taken rather than read, so that an answer is used once.
            Ok(Some(action)) if over || !action.is_empty() => {
                let taken = store.take_ticket(TicketKind::StreamQuestion, &ticket).await;
                break taken.ok().flatten().unwrap_or(action);
            }
            Ok(Some(_)) => {}
            Ok(None) => break String::new(),
            // The database may be available again before the question expires.
            Err(error) => tracing::debug!(%error, "an open question could not be read"),
        }
        if over || Instant::now() > end {
            break String::new();
        }
        pause = (pause * 5 / 4).min(MAX_POLL);
    };
    let answer = |action| {
        ClientJsonRpcMessage::response(
            ClientResult::ElicitResult(ElicitResult::new(action)),
            id.clone(),
        )
    };
    let message = match action.as_str() {
        "accept" => answer(ElicitationAction::Accept),
        "decline" => answer(ElicitationAction::Decline),
        "cancel" => answer(ElicitationAction::Cancel),
        _ => {
            let what = "the question was not answered";
            let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, what, None);
            ClientJsonRpcMessage::error(error, Some(id.clone()))
        }
    };
    let _ = answers.send(message).await;
}

/// Returns true if a request declares a JSON body.
fn is_json(parts: &axum::http::request::Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn empty(status: StatusCode) -> HttpAnswer {
    let mut answer = Response::new(Full::default().boxed());
    *answer.status_mut() = status;
    answer
}

/// Returns the valid id of a request, if it has one.
fn id_of(message: &Value) -> Option<RequestId> {
    message.get("id").and_then(|id| RequestId::deserialize(id).ok())
}

/// Returns a JSON-RPC error for the message with this id.
fn refusal(status: StatusCode, id: Option<RequestId>, error: ErrorData) -> HttpAnswer {
    let body = serde_json::to_vec(&JsonRpcError::new(id, error)).unwrap_or_default();
    let mut answer = empty(status).map(|_| Full::from(body).boxed());
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}

/// Returns the response to a request that cannot be answered at present.
pub fn unanswered(body: &[u8], error: &Error) -> HttpAnswer {
    let message = serde_json::from_slice(body).unwrap_or_default();
    unavailable(id_of(&message), error)
}

/// Returns the response for an unavailable database. The reason, which contains the database's
/// address, is only logged.
fn unavailable(id: Option<RequestId>, error: &Error) -> HttpAnswer {
    tracing::warn!(%error, "a request could not be answered");
    let what = "the server's database cannot be used now: repeat the request in a few seconds";
    let error = ErrorData::internal_error(what, None);
    let mut answer = refusal(StatusCode::SERVICE_UNAVAILABLE, id, error);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(AGAIN));
    answer
}
