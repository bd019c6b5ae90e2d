//! Approval outside the chat, for clients that cannot show a question: on a page that only the
//! user's browser can open, or in a terminal.
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
use url::Url;

use crate::config::{ApprovalWay, Config};
use crate::store::{APPROVAL_LASTS, ApprovalDecision, ApprovalId, Store, WaitingWrite};

/// The command that shows waiting writes in a terminal.
const COMMAND: &str = "daysheet approve";
/// The number of times that an open page is waited for, and the time between two looks: shorter in
/// total than the minute after which many clients give up on a call.
const LOOKS: u32 = 60;
const LOOK: Duration = Duration::from_millis(500);

/// A page on which the user approves writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPage {
    /// The address, which opens only in a browser that is signed in.
    pub address: Url,
    /// The address that also signs a browser in, once. The model must not see it.
    pub link: Option<Url>,
    /// True if the page is open in the user's browser, as far as known.
    pub is_open: bool,
}

/// Shows the page on which the user approves writes.
#[async_trait]
pub trait ApprovalPage: Send + Sync {
    /// Returns the page, and opens it in the user's browser if it can and the write is new.
    ///
    /// # Errors
    /// If the page cannot be served.
    async fn show(&self, is_new: bool) -> Result<ShownPage>;
}

/// The page of a server that many people reach at this URL. They sign in there, so it has no link.
pub(super) struct PublicApprovalPage(pub(super) Url);

#[async_trait]
impl ApprovalPage for PublicApprovalPage {
    async fn show(&self, _: bool) -> Result<ShownPage> {
        let mut address = self.0.clone();
        address.set_path("/approve");
        Ok(ShownPage { address, link: None, is_open: false })
    }
}

/// The ways in which the user of a session can approve a write outside the chat.
#[derive(Clone)]
pub(super) struct OutsideApproval {
    store: Store,
    page: Option<Arc<dyn ApprovalPage>>,
    /// True if the user can run commands on this machine.
    in_terminal: bool,
    zone: TimeZone,
}

/// The state of a write after its approval was looked for.
pub(super) enum OutsideAnswer {
    /// The user's answer.
    Decided(Confirmation),
    /// The user has not decided yet; this is their page.
    Waiting { until: Timestamp, page: Option<ShownPage> },
}

impl OutsideApproval {
    /// Returns the ways that the settings allow, or `None` if they allow none here.
    pub(super) fn new(
        config: &Config,
        store: &Store,
        page: Option<Arc<dyn ApprovalPage>>,
    ) -> Option<Self> {
        let page = page.filter(|_| config.approve == ApprovalWay::Page);
        // On a server, people have no terminal.
        let in_terminal = config.approve != ApprovalWay::Never && !config.shared;
        (page.is_some() || in_terminal).then(|| Self {
            store: store.clone(),
            page,
            in_terminal,
            zone: config.zone.clone(),
        })
    }

    /// Returns the write that a call needs approval for.
    pub(super) fn write(&self, call: &str, request: &ApprovalRequest<'_>) -> WaitingWrite {
        let text = |text: &str| shown(text, TextKind::Lines).into_owned();
        WaitingWrite {
            call: call.to_owned(),
            question: text(request.question),
            content: text(request.content),
            until: self.store.now() + APPROVAL_LASTS,
        }
    }

    /// Takes the user's decision, or shows the page to a user who has not decided.
    ///
    /// # Errors
    /// Errors of the store and of the page; an error if too many writes wait.
    pub(super) async fn look(&self, write: &WaitingWrite) -> Result<OutsideAnswer> {
        let id = ApprovalId::of(write);
        if let Some(decision) = self.store.take_decision(&id).await? {
            return Ok(OutsideAnswer::Decided(confirmation(decision)));
        }
        let (until, is_new) = self.store.await_approval(write).await?;
        let page = match &self.page {
            Some(page) => Some(page.show(is_new).await?),
            None => None,
        };
        if page.as_ref().is_some_and(|page| page.is_open)
            && let Some(answer) = self.wait(&id).await?
        {
            return Ok(OutsideAnswer::Decided(answer));
        }
        let until = Timestamp::from_second(until).unwrap_or_default();
        Ok(OutsideAnswer::Waiting { until, page })
    }

    /// Waits for a decision while the page is open, so that one call is enough for a user who
    /// answers at once.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn wait(&self, id: &ApprovalId) -> Result<Option<Confirmation>> {
        for _ in 0..LOOKS {
            tokio::time::sleep(LOOK).await;
            if let Some(decision) = self.store.take_decision(id).await? {
                return Ok(Some(confirmation(decision)));
            }
        }
        Ok(None)
    }

    /// Refuses a write, because the user declined to open its page.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn refuse(&self, write: &WaitingWrite) -> Result<()> {
        self.store
            .record_decision(&ApprovalId::of(write), ApprovalDecision::Refused)
            .await
            .map(drop)
    }

    /// Returns the next step for the model while a write waits.
    pub(super) fn next_step(
        &self,
        reason: &str,
        until: Timestamp,
        page: Option<&ShownPage>,
    ) -> String {
        let until = until.to_zoned(self.zone.clone()).strftime("%H:%M");
        let terminal = self.in_terminal.then(|| format!("`{COMMAND}` in a terminal"));
        let way = match (page, terminal) {
            (Some(page), Some(terminal)) if page.is_open => {
                format!(
                    "the user is asked in their browser ({}), or can run {terminal}",
                    page.address
                )
            }
            // Without its secret, the address of a page on this machine opens in no other browser.
            (Some(page), Some(terminal)) if page.link.is_some() => {
                format!("ask the user to run {terminal} (page: {})", page.address)
            }
            (Some(page), _) => format!("ask the user to open {}", page.address),
            (None, terminal) => {
                format!("ask the user to run {}", terminal.as_deref().unwrap_or(COMMAND))
            }
        };
        let because = if reason.is_empty() { String::new() } else { format!(", because {reason}") };
        format!(
            "nothing was done yet: the user has to approve it before {until}{because}; {way}; then \
             repeat this call unchanged"
        )
    }
}

const fn confirmation(decision: ApprovalDecision) -> Confirmation {
    match decision {
        ApprovalDecision::Approved => Confirmation::Yes,
        ApprovalDecision::Refused => Confirmation::No,
    }
}
