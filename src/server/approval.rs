//! Approval for clients that cannot show a question: on a card that the client draws
//! ([`apps`](super::apps)), on a page that only the user's browser can open, or in a terminal.
//!
//! The first call stores the write ([`Store::await_approval`]) and ends. Its answer names the page,
//! without the secret that signs the browser in: the model reads the answer, and must not be able to
//! approve. After the decision, a repetition of the same call takes it from the store. Everything is
//! checked again by then, and an approval counts only for the texts that the user saw.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daysheet_core::call::client::{ApprovalRequest, Confirmation};
use daysheet_core::error::Result;
use daysheet_core::text::{TextKind, shown};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use url::Url;

use crate::config::{ApprovalWay, Config};
use crate::store::{APPROVAL_LASTS, ApprovalDecision, ApprovalId, Store, WaitingWrite};

/// The command that shows waiting writes in a terminal.
const COMMAND: &str = "daysheet approve";
/// The number of times that an open page is waited for, and the time between two looks: shorter in
/// total than the minute after which many clients give up on a call.
const LOOKS: u32 = 60;
const LOOK: Duration = Duration::from_millis(500);

/// The page on which the user approves writes. By default, people sign in on it themselves.
#[async_trait]
pub trait ApprovalPage: Send + Sync {
    /// Returns the address, which opens only in a browser that is signed in.
    ///
    /// # Errors
    /// If the page cannot be served.
    async fn address(&self) -> Result<Url>;

    /// Returns the address for a client that shows the page. The model must not see it, because it
    /// may also sign a browser in, once.
    ///
    /// # Errors
    /// If the page cannot be served, or the link cannot be stored.
    async fn link(&self) -> Result<Url> {
        self.address().await
    }

    /// Opens the page in the user's browser if the write is new. Returns true if the page is open
    /// there, as far as known.
    ///
    /// # Errors
    /// If the page cannot be served, or the link cannot be stored.
    async fn open(&self, _is_new: bool) -> Result<bool> {
        Ok(false)
    }

    /// Returns true if only a browser that got the link is signed in, so that the address alone is
    /// of no use to the user.
    fn needs_link(&self) -> bool {
        false
    }
}

/// The page of a server that many people reach at this URL.
pub(super) struct PublicApprovalPage(pub(super) Url);

#[async_trait]
impl ApprovalPage for PublicApprovalPage {
    async fn address(&self) -> Result<Url> {
        let mut address = self.0.clone();
        address.set_path("/approve");
        Ok(address)
    }
}

/// The ways in which the user of a session can approve a write other than by a question of the
/// client.
#[derive(Clone)]
pub(super) struct StoredApproval {
    store: Store,
    /// True if the client draws a card with the write beside the call.
    has_card: bool,
    page: Option<Arc<dyn ApprovalPage>>,
    /// True if the user can run commands on this machine.
    in_terminal: bool,
    zone: TimeZone,
}

/// A write that waits for the user's decision.
pub(super) struct Waiting {
    pub(super) id: ApprovalId,
    /// True if it has only begun to wait.
    pub(super) is_new: bool,
    until: Timestamp,
    reason: String,
}

/// The user's decision on a write, or the wait for it.
pub(super) enum StoredAnswer {
    Decided(Confirmation),
    Waiting(Waiting),
}

impl StoredApproval {
    /// Returns the ways that the settings allow, or `None` if they allow none here.
    pub(super) fn new(
        config: &Config,
        store: &Store,
        page: Option<Arc<dyn ApprovalPage>>,
        draws: bool,
    ) -> Option<Self> {
        let has_card = draws && config.approve == ApprovalWay::Card;
        let page = page.filter(|_| matches!(config.approve, ApprovalWay::Card | ApprovalWay::Page));
        // On a server, people have no terminal.
        let in_terminal = config.approve != ApprovalWay::Never && !config.shared;
        (has_card || page.is_some() || in_terminal).then(|| Self {
            store: store.clone(),
            has_card,
            page,
            in_terminal,
            zone: config.zone.clone(),
        })
    }

    /// Takes the user's decision on a write, or lets the write wait for one. `call` is the tool with
    /// its arguments.
    ///
    /// # Errors
    /// Errors of the store; an error if too many writes wait.
    pub(super) async fn begin(
        &self,
        call: &str,
        request: &ApprovalRequest<'_>,
    ) -> Result<StoredAnswer> {
        let text = |text: &str| shown(text, TextKind::Lines).into_owned();
        let write = WaitingWrite {
            call: call.to_owned(),
            question: text(request.question),
            content: text(request.content),
            until: self.store.now() + APPROVAL_LASTS,
        };
        let id = ApprovalId::of(&write);
        if let Some(decision) = self.store.take_decision(&id).await? {
            return Ok(StoredAnswer::Decided(confirmation(decision)));
        }
        let (until, is_new) = self.store.await_approval(&write).await?;
        let until = Timestamp::from_second(until).unwrap_or_default();
        let reason = request.reason.to_owned();
        Ok(StoredAnswer::Waiting(Waiting { id, is_new, until, reason }))
    }

    /// Returns true if the client draws a card with the write.
    pub(super) const fn has_card(&self) -> bool {
        self.has_card
    }

    /// Returns the page, if there is one.
    pub(super) fn page(&self) -> Option<&dyn ApprovalPage> {
        self.page.as_deref()
    }

    /// Waits for a decision while the page is open, so that one call is enough for a user who
    /// answers at once.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn wait(&self, waiting: &Waiting) -> Result<Option<Confirmation>> {
        for _ in 0..LOOKS {
            tokio::time::sleep(LOOK).await;
            if let Some(decision) = self.store.take_decision(&waiting.id).await? {
                return Ok(Some(confirmation(decision)));
            }
        }
        Ok(None)
    }

    /// Refuses a write, because the user declined to open its page.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn refuse(&self, waiting: &Waiting) -> Result<()> {
        self.store.record_decision(&waiting.id, ApprovalDecision::Refused).await.map(drop)
    }

    /// Returns the next step for the model while a write waits; `is_open` if the user has the page
    /// before them.
    ///
    /// # Errors
    /// If the page cannot be served.
    pub(super) async fn next_step(&self, waiting: &Waiting, is_open: bool) -> Result<String> {
        let until = waiting.until.to_zoned(self.zone.clone()).strftime("%H:%M");
        let because = match waiting.reason.as_str() {
            "" => String::new(),
            reason => format!(", because {reason}"),
        };
        let way = self.way(is_open).await?;
        let rest = if self.has_card {
            format!(
                "a card in the chat asks them, and makes this call again once they approve: do not \
                 repeat it yourself. If they see no card, {way}; then repeat this call unchanged"
            )
        } else {
            format!("{way}; then repeat this call unchanged")
        };
        Ok(format!(
            "nothing was done yet: the user has to approve it before {until}{because}; {rest}"
        ))
    }

    /// Returns the user's way to the page or the terminal.
    async fn way(&self, is_open: bool) -> Result<String> {
        let terminal = self.in_terminal.then(|| format!("`{COMMAND}` in a terminal"));
        Ok(match (self.page(), terminal) {
            (Some(page), terminal) => {
                let address = page.address().await?;
                match terminal {
                    Some(terminal) if is_open => {
                        format!(
                            "the user is asked in their browser ({address}), or can run {terminal}"
                        )
                    }
                    None if is_open => format!("the user is asked in their browser ({address})"),
                    Some(terminal) if page.needs_link() => {
                        format!("ask the user to run {terminal} (page: {address})")
                    }
                    _ => format!("ask the user to open {address}"),
                }
            }
            (None, terminal) => {
                format!("ask the user to run {}", terminal.as_deref().unwrap_or(COMMAND))
            }
        })
    }
}

/// Returns a call as text, which is the same for every repetition of the call: clients may send the
/// members of its arguments in another order.
pub(super) fn call_text(tool: &str, mut arguments: Value) -> String {
    arguments.sort_all_objects();
    format!("{tool} {arguments}")
}

const fn confirmation(decision: ApprovalDecision) -> Confirmation {
    match decision {
        ApprovalDecision::Approved => Confirmation::Yes,
        ApprovalDecision::Refused => Confirmation::No,
    }
}
