//! Asks the client of a running call: confirmation by elicitation.
//!
//! Clients of the older eras are asked by a request of ours, and the call waits. Since 2026-07-28
//! a server cannot ask by itself: the call ends with the question, and the client repeats it with
//! the answer. Then nothing was done the first time, and everything is checked again: an answer
//! is valid once, and only for the same question of the same call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;

use crate::client::{ClientPrompts, Confirmation};
use crate::course;
use crate::text::brief;

/// The name of the question in the requests of an answer.
const CONFIRM: &str = "confirm";
/// How long a question may stay unanswered.
const OPEN: Duration = Duration::from_secs(15 * 60);
/// The maximum number of open questions.
const MOST: usize = 64;

/// Open questions, by the state that the client returns with its answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Questions(Arc<Mutex<BTreeMap<String, PendingQuestion>>>);

#[derive(Debug)]
struct PendingQuestion {
    /// The tool and its arguments.
    call: String,
    question: String,
    asked_at: Instant,
}

impl Questions {
    /// Stores a question; returns the state that the client sends back with its answer,
    /// `None` if none can be generated.
    fn keep(&self, call: &str, question: &str) -> Option<String> {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).ok()?;
        let state: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, one| one.asked_at.elapsed() < OPEN);
        if open.len() >= MOST {
            let oldest = open.iter().min_by_key(|(_, one)| one.asked_at);
            if let Some(oldest) = oldest.map(|(state, _)| state.clone()) {
                open.remove(&oldest);
            }
        }
        let one = PendingQuestion {
            call: call.to_owned(),
            question: question.to_owned(),
            asked_at: Instant::now(),
        };
        open.insert(state.clone(), one);
        Some(state)
    }

    /// Removes and returns the question that an answer belongs to.
    fn take(&self, call: &str, state: &str) -> Option<String> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = open.remove(state)?;
        (one.call == call && one.asked_at.elapsed() < OPEN).then_some(one.question)
    }
}

/// The client that made a call.
pub(super) struct ElicitingClient {
    peer: Peer<RoleServer>,
    questions: Questions,
    /// The tool and its arguments.
    call: String,
    /// True if the client can show a question to its user.
    can_ask: bool,
    /// True if questions end the call.
    by_answer: bool,
    /// The answer that came with the call, and its question.
    answered: Option<(String, Confirmation)>,
    /// The question to end the call with.
    pending: Mutex<Option<String>>,
}

impl ElicitingClient {
    pub(super) fn new(
        params: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        questions: &Questions,
    ) -> Self {
        let arguments = params.arguments.clone().map_or(Value::Null, Value::Object);
        let call = format!("{} {arguments}", params.name);
        let elicitation =
            context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let answer = params.input_responses.as_ref().and_then(|answers| answers.get(CONFIRM));
        let answered = params
            .request_state
            .as_deref()
            // Taken out, so that an answer is valid only once.
            .and_then(|state| questions.take(&call, state))
            .zip(answer.map(reply));
        Self {
            peer: context.peer.clone(),
            questions: questions.clone(),
            call,
            // A client that names neither form nor page can show a form.
            can_ask: elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none()),
            by_answer: context
                .protocol_version()
                .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28),
            answered,
            pending: Mutex::new(None),
        }
    }

    /// Returns the question to end the call with, if there is one.
    pub(super) fn question(&self) -> Option<InputRequiredResult> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let question = pending.take()?;
        let state = self.questions.keep(&self.call, &question)?;
        let request = InputRequest::Elicitation(ElicitRequest::new(form(question)));
        let requests = InputRequests::from([(CONFIRM.to_owned(), request)]);
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }
}

/// Returns a form without fields: submitting it means agreement.
fn form(message: String) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    }
}

/// Interprets a client's answer; anything not understood means no.
fn reply(answer: &Value) -> Confirmation {
    match serde_json::from_value::<ElicitResult>(answer.clone()) {
        Ok(result) if result.action == ElicitationAction::Accept => Confirmation::Yes,
        _ => Confirmation::No,
    }
}

#[async_trait]
impl ClientPrompts for ElicitingClient {
    async fn confirm(&self, question: &str) -> Confirmation {
        if !self.can_ask {
            return Confirmation::Unavailable;
        }
        if !self.by_answer {
            return match self.peer.create_elicitation(form(question.to_owned())).await {
                Ok(result) if result.action == ElicitationAction::Accept => Confirmation::Yes,
                Ok(_) => Confirmation::No,
                // The client declared support, but failed.
                Err(error) => {
                    tracing::debug!(%error, "the client could not ask its user");
                    Confirmation::No
                }
            };
        }
        match &self.answered {
            Some((answered, reply)) if answered == question => *reply,
            // The first time, or the question has changed since.
            _ => {
                let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
                *pending = Some(question.to_owned());
                Confirmation::Later
            }
        }
    }

    async fn progress(&self, done: u64, total: u64, what: &str) {
        course::advance(&format!("bytes of {}", brief(what)), done, total);
    }
}
