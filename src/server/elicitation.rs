//! Questions to the client of a running call: confirmation by elicitation, and a stored
//! approval ([`StoredApproval`]) where the client shows no questions.
//!
//! Clients of older protocol versions are sent a request, and the call waits. Since 2026-07-28
//! servers cannot send requests: the call ends with the question, and the client repeats it with
//! the answer. Nothing was done the first time, and everything is checked again: an answer is valid
//! once, and only for the same question of the same call. Over HTTP another instance may receive
//! the repeated call, so questions are tickets in the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use daysheet_core::call::client::{ApprovalRequest, ClientPrompts, Confirmation};
use daysheet_core::call::progress;
use daysheet_core::error::Result;
use daysheet_core::text::{TextKind, brief, shown};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::approval::{ApprovalPage, StoredAnswer, StoredApproval, Waiting, call_text};
use super::clients;
use crate::store::{Store, TicketKind};

/// The name of the question in an answer's requests.
const CONFIRM: &str = "confirm";
/// The time for which a question may stay unanswered.
pub(super) const OPEN: Duration = Duration::from_mins(15);
/// The maximum number of open questions in memory.
const MAX_OPEN: usize = 64;
/// The lengths of states: in memory, and as the id of a ticket.
const STATES: [usize; 2] = [32, 24];

/// Open questions, by the state that the client returns with its answer. Only a digest of a
/// question and its call is kept, because the text quotes the user's mail.
#[derive(Debug, Clone)]
pub(super) enum OpenQuestions {
    /// In this process, which also receives the answer.
    Memory(Arc<Mutex<BTreeMap<String, PendingQuestion>>>),
    /// In the store, because any process may receive the answer.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "over HTTP alone"))]
    Stored(Store),
}

#[derive(Debug)]
pub(super) struct PendingQuestion {
    digest: String,
    asked_at: Instant,
}

impl Default for OpenQuestions {
    fn default() -> Self {
        Self::Memory(Arc::default())
    }
}

/// Returns the digest of a question in a call; the call is the tool with its arguments.
fn digest(call: &str, question: &str) -> String {
    let digest = Sha256::digest(format!("{}\n{call}{question}", call.len()));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl OpenQuestions {
    /// Stores a question. Returns the state that the client sends back with its answer; `None` if
    /// the random generator failed.
    async fn keep(&self, digest: String) -> Result<Option<String>> {
        let open = match self {
            Self::Memory(open) => open,
            Self::Stored(store) => {
                let seconds = i64::try_from(OPEN.as_secs()).unwrap_or(i64::MAX);
                return store.put_ticket(TicketKind::Question, &digest, seconds).await.map(Some);
            }
        };
        let mut random = [0_u8; 16];
        if getrandom::fill(&mut random).is_err() {
            return Ok(None);
        }
        let state: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, one| one.asked_at.elapsed() < OPEN);
        if open.len() >= MAX_OPEN {
            let oldest = open.iter().min_by_key(|(_, one)| one.asked_at);
            if let Some(oldest) = oldest.map(|(state, _)| state.clone()) {
                open.remove(&oldest);
            }
        }
        open.insert(state.clone(), PendingQuestion { digest, asked_at: Instant::now() });
        Ok(Some(state))
    }

    /// Removes the question that an answer belongs to, and returns its digest.
    async fn take_digest(&self, state: &str) -> Option<String> {
        let open = match self {
            Self::Memory(open) => open,
            Self::Stored(store) => {
                return store.take_ticket(TicketKind::Question, state).await.unwrap_or_else(
                    |error| {
                        tracing::warn!(%error, "a question could not be read, and is asked again");
                        None
                    },
                );
            }
        };
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let one = open.remove(state)?;
        (one.asked_at.elapsed() < OPEN).then_some(one.digest)
    }
}

/// A question that ends a call.
struct EndQuestion {
    request: ElicitRequestParams,
    /// Identifies the question and its call when the answer arrives.
    digest: String,
}

/// The user's progress with the page of an approval.
enum PageView {
    /// It is open, as far as known.
    Open,
    /// The user may not have seen it.
    Unseen,
    /// The user declined to open it.
    Declined,
    /// The call ends with the request to show it.
    Requested,
}

/// The client that made a call.
pub(super) struct ElicitingClient {
    peer: Peer<RoleServer>,
    questions: OpenQuestions,
    /// The other ways to approve, if there are any.
    stored: Option<StoredApproval>,
    /// The tool with its arguments.
    call: String,
    /// True if the client can show a question to its user.
    can_ask: bool,
    /// True if the client can show a page to its user.
    can_show: bool,
    /// True if a question ends the call, rather than being a request to the client.
    by_answer: bool,
    /// The maximum number of bytes of an answer that the client passes on.
    answer_limit: Option<usize>,
    /// The state and the answer that came with the call.
    state: Option<String>,
    answer: Option<Confirmation>,
    /// The digest of the question that the state identifies.
    asked: OnceLock<String>,
    /// The question to end the call with.
    pending: Mutex<Option<EndQuestion>>,
    /// The next step for the user if a wait for approval ends the call.
    awaited: Mutex<Option<String>>,
}

/// Returns true if a state may be one of ours; any other was changed in transit.
fn is_state(state: &str) -> bool {
    let sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    STATES.contains(&state.len()) && state.bytes().all(sign)
}

impl ElicitingClient {
    /// Creates the client of a call.
    ///
    /// # Errors
    /// Invalid parameters if the state is not from this server.
    pub(super) fn new(
        params: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        questions: &OpenQuestions,
        stored: Option<StoredApproval>,
    ) -> std::result::Result<Self, ErrorData> {
        let arguments = params.arguments.clone().map_or(Value::Null, Value::Object);
        let call = call_text(&params.name, arguments);
        let elicitation =
            context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let answer = params.input_responses.as_ref().and_then(|answers| answers.get(CONFIRM));
        let state = params.request_state.clone();
        if state.as_ref().is_some_and(|state| !is_state(state)) {
            let what = "requestState is not from this server: repeat the call without it";
            return Err(ErrorData::invalid_params(what, None));
        }
        Ok(Self {
            peer: context.peer.clone(),
            questions: questions.clone(),
            stored,
            call,
            can_show: elicitation.as_ref().is_some_and(|can| can.url.is_some()),
            // A client that declares neither form nor URL mode supports forms.
            can_ask: elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none()),
            by_answer: context
                .protocol_version()
                .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28),
            answer_limit: clients::answer_limit(context, &params.name),
            state,
            answer: answer.map(reply),
            asked: OnceLock::new(),
            pending: Mutex::new(None),
            awaited: Mutex::new(None),
        })
    }

    /// Removes the question that the call answers from the open ones, so that an answer is valid
    /// only once.
    pub(super) async fn take_answer(&self) {
        if let Some(state) = &self.state
            && let Some(asked) = self.questions.take_digest(state).await
        {
            let _ = self.asked.set(asked);
        }
    }

    /// Returns the question that ends the call, if the user has to be asked.
    ///
    /// # Errors
    /// An error of the store, in which the question is kept until the call is repeated.
    pub(super) async fn question(&self) -> Result<Option<InputRequiredResult>> {
        let question = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(EndQuestion { request, digest }) = question else {
            return Ok(None);
        };
        let state = self.questions.keep(digest).await?;
        Ok(state.map(|state| {
            let request = InputRequest::Elicitation(ElicitRequest::new(request));
            let requests = InputRequests::from([(CONFIRM.to_owned(), request)]);
            InputRequiredResult::new(Some(requests), Some(state))
        }))
    }
}

impl ElicitingClient {
    /// Asks the user: by a request, or by ending the call.
    async fn ask(&self, question: ElicitRequestParams) -> Confirmation {
        let subject = text(&question);
        match self.answer_about(&subject) {
            Some(answer) => answer,
            // The first call, or the question has changed since.
            None => self.put(question, &subject).await,
        }
    }

    /// Returns the answer that came with the call, if it belongs to this question.
    fn answer_about(&self, subject: &str) -> Option<Confirmation> {
        let asked = self.asked.get().filter(|_| self.by_answer)?;
        self.answer.filter(|_| *asked == digest(&self.call, subject))
    }

    /// Sends a question, or ends the call with this question. The answer is recognized by `subject`.
    async fn put(&self, question: ElicitRequestParams, subject: &str) -> Confirmation {
        if self.by_answer {
            let digest = digest(&self.call, subject);
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            *pending = Some(EndQuestion { request: question, digest });
            return Confirmation::Later;
        }
        match self.peer.create_elicitation(question).await {
            Ok(result) => confirmation(&result.action),
            // The client declared support for elicitation, but failed.
            Err(error) => {
                tracing::debug!(%error, "the client could not ask its user");
                Confirmation::Unanswered
            }
        }
    }

    /// Returns the request to show a page to the user, for a reason.
    fn page_question(&self, (why, page): (&str, &str)) -> ElicitRequestParams {
        ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: why.to_owned(),
            url: page.to_owned(),
            // The page's completion is not notified, so the id is never used again.
            elicitation_id: digest(&self.call, page),
        }
    }

    /// Returns true if the client draws a card with a write that waits.
    fn has_card(&self) -> bool {
        self.stored.as_ref().is_some_and(StoredApproval::has_card)
    }

    /// Lets the call end with the next step for the user.
    fn end_waiting(&self, next_step: String) -> Confirmation {
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        *awaited = Some(next_step);
        Confirmation::Later
    }

    /// Asks for approval without a question: shows the page, and waits while it is open.
    async fn approve_stored(
        &self,
        stored: &StoredApproval,
        request: &ApprovalRequest<'_>,
    ) -> Result<Confirmation> {
        let waiting = match stored.begin(&self.call, request).await? {
            StoredAnswer::Decided(answer) => return Ok(answer),
            StoredAnswer::Waiting(waiting) => waiting,
        };
        // The client draws the card when the call ends. Two ways at once would confuse.
        let page = stored.page().filter(|_| !stored.has_card());
        let view = match page {
            Some(page) => self.show_approval(page, &waiting).await?,
            None => PageView::Unseen,
        };
        match view {
            PageView::Open => {
                if let Some(answer) = stored.wait(&waiting).await? {
                    return Ok(answer);
                }
            }
            PageView::Declined => {
                stored.refuse(&waiting).await?;
                return Ok(Confirmation::No);
            }
            PageView::Requested => return Ok(Confirmation::Later),
            PageView::Unseen => {}
        }
        let is_open = matches!(view, PageView::Open);
        Ok(self.end_waiting(stored.next_step(&waiting, is_open).await?))
    }

    /// Shows the page of an approval: by the client, which may be on another machine than this
    /// process and does not tell the model the link; else in a browser of this machine.
    async fn show_approval(&self, page: &dyn ApprovalPage, waiting: &Waiting) -> Result<PageView> {
        if !self.can_show {
            let is_open = page.open(waiting.is_new).await?;
            return Ok(if is_open { PageView::Open } else { PageView::Unseen });
        }
        // Each link is new, so the answer belongs to the write rather than to the link.
        let subject = waiting.id.as_str();
        let answer = match self.answer_about(subject) {
            Some(answer) => answer,
            None => {
                let link = page.link().await?;
                let why = "Approve what Daysheet is about to do";
                self.put(self.page_question((why, link.as_str())), subject).await
            }
        };
        Ok(match answer {
            // Agreed to open it: the decision is made on the page.
            Confirmation::Yes => PageView::Open,
            Confirmation::No => PageView::Declined,
            Confirmation::Later => PageView::Requested,
            Confirmation::Unanswered | Confirmation::Unavailable | Confirmation::Planned => {
                PageView::Unseen
            }
        })
    }
}

/// Returns the text of a question, with the page to open.
fn text(question: &ElicitRequestParams) -> String {
    match question {
        ElicitRequestParams::FormElicitationParams { message, .. } => message.clone(),
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            format!("{message}\n{url}")
        }
        _ => String::new(),
    }
}

/// Returns a form without fields, whose submission means agreement.
fn form(message: String) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    }
}

/// Interprets a client's answer. Anything that is not understood means no.
fn reply(answer: &Value) -> Confirmation {
    let answer = serde_json::from_value::<ElicitResult>(answer.clone());
    answer.map_or(Confirmation::No, |answer| confirmation(&answer.action))
}

fn confirmation(action: &ElicitationAction) -> Confirmation {
    match action {
        ElicitationAction::Accept => Confirmation::Yes,
        ElicitationAction::Cancel => Confirmation::Unanswered,
        // Any unknown action is no agreement.
        _ => Confirmation::No,
    }
}

#[async_trait]
impl ClientPrompts for ElicitingClient {
    async fn confirm(&self, question: &str) -> Confirmation {
        self.confirm_write(&ApprovalRequest { question, content: "", reason: "" }).await
    }

    async fn confirm_write(&self, request: &ApprovalRequest<'_>) -> Confirmation {
        if self.can_ask {
            self.ask(form(shown(request.question, TextKind::Lines).into_owned())).await
        } else if self.has_card() {
            self.approve(request).await
        } else {
            Confirmation::Unavailable
        }
    }

    async fn open_page(&self, why: &str, page: &str) -> Confirmation {
        if !self.can_show {
            return Confirmation::Unavailable;
        }
        self.ask(self.page_question((why, page))).await
    }

    async fn approve(&self, request: &ApprovalRequest<'_>) -> Confirmation {
        match &self.stored {
            Some(stored) if !self.can_ask => {
                // An error ends the call like a wait, because nothing may be written without
                // approval.
                let answer = self.approve_stored(stored, request).await;
                answer.unwrap_or_else(|error| self.end_waiting(error.to_string()))
            }
            _ => self.confirm(request.question).await,
        }
    }

    fn can_ask(&self) -> bool {
        self.can_ask || self.has_card()
    }

    fn can_approve(&self) -> bool {
        self.can_ask || self.stored.is_some()
    }

    fn awaited_approval(&self) -> Option<String> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer_limit(&self) -> Option<usize> {
        self.answer_limit
    }

    async fn progress(&self, done: u64, total: u64, what: &str) {
        progress::advance(&format!("bytes of {}", brief(what)), done, total);
    }
}
