//! Stored approvals: a write waits for the user's decision, which counts for one
//! repetition of the same call.
//!
//! A waiting write and its decision are two tickets under the same id, a digest of the call and of
//! everything the user is shown. The content is sealed, because it quotes mail. This module only
//! stores; `server/approval.rs` has the rules.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::audit::AuditRecord;
use crate::store::cipher::SealedText;
use crate::store::database::Store;
use crate::store::tickets::{TicketKind, TicketRow};

/// The purpose that waiting writes are sealed for.
const SEALED_FOR: &str = "approval";

/// The seconds for which a write waits, and for which a decision counts.
pub const APPROVAL_LASTS: i64 = 10 * 60;

/// The maximum number of writes that wait at once.
const MAX_WAITING: usize = 20;

/// The id of a write that needs approval: 24 URL-safe characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// Returns the id of a write, which is the same for the same call and the same texts.
    pub fn of(write: &WaitingWrite) -> Self {
        let mut digest = Sha256::new();
        for part in [&write.call, &write.question, &write.content] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        let digest = digest.finalize();
        Self(URL_SAFE_NO_PAD.encode(digest.get(..18).unwrap_or_default()))
    }

    /// Takes an id from a form.
    pub fn from_form(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A write that waits for the user's approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingWrite {
    /// The tool with its arguments.
    pub call: String,
    /// The question, in a few lines.
    pub question: String,
    /// The outgoing text; may be empty.
    pub content: String,
    /// The time at which the wait ends, in seconds since 1970.
    pub until: i64,
}

impl WaitingWrite {
    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        self.call.split(' ').next().unwrap_or_default()
    }
}

/// The user's decision on a waiting write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// The write may be made, once.
    Approved,
    /// The write must not be made.
    Refused,
}

impl ApprovalDecision {
    /// Returns the word in the store and in the audit log.
    const fn word(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Refused => "refused",
        }
    }
}

impl Store {
    /// Lets a write wait for approval, and records that in the audit log. Returns the time at which
    /// the wait ends, in seconds since 1970, and false if the write was already waiting.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if too many writes wait already; [`ErrorKind::Store`].
    pub async fn await_approval(&self, write: &WaitingWrite) -> Result<(i64, bool)> {
        let id = ApprovalId::of(write);
        let waiting = self.waiting_writes().await?;
        if let Some((_, known)) = waiting.iter().find(|(known, _)| *known == id) {
            return Ok((known.until, false));
        }
        if waiting.len() >= MAX_WAITING {
            let what = format!("{MAX_WAITING} writes wait for the user's approval already");
            return Err(Error::argument(what).next("ask the user to approve or refuse them first"));
        }
        let bytes = serde_json::to_vec(write).map_err(|_| unreadable())?;
        let sealed = self.seal(SEALED_FOR, &bytes).await?;
        let seconds = write.until - self.now();
        let is_new = self
            .put_ticket_as(
                TicketKind::WaitingWrite,
                TicketRow { id: id.as_str(), content: sealed.as_str() },
                seconds,
            )
            .await?;
        if is_new {
            self.audit_approval(&id, write, "waiting").await?;
        }
        Ok((write.until, is_new))
    }

    /// Returns the writes that wait for approval, the most recent first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn waiting_writes(&self) -> Result<Vec<(ApprovalId, WaitingWrite)>> {
        let mut waiting = Vec::new();
        for (id, sealed) in self.tickets(TicketKind::WaitingWrite).await? {
            let bytes = self.unseal(SEALED_FOR, &SealedText::stored(sealed)).await?;
            let write = serde_json::from_slice(&bytes).map_err(|_| unreadable())?;
            waiting.push((ApprovalId(id), write));
        }
        Ok(waiting)
    }

    /// Records the user's decision on a waiting write, also in the audit log. Returns false if the
    /// write no longer waits.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn record_decision(
        &self,
        id: &ApprovalId,
        decision: ApprovalDecision,
    ) -> Result<bool> {
        // Taken first: of two decisions at the same time, only one counts.
        let Some(sealed) = self.take_ticket(TicketKind::WaitingWrite, id.as_str()).await? else {
            return Ok(false);
        };
        let bytes = self.unseal(SEALED_FOR, &SealedText::stored(sealed)).await?;
        let write: WaitingWrite = serde_json::from_slice(&bytes).map_err(|_| unreadable())?;
        // Before the decision counts, so that no write is made without a record of its approval.
        self.audit_approval(id, &write, decision.word()).await?;
        let row = TicketRow { id: id.as_str(), content: decision.word() };
        self.put_ticket_as(TicketKind::Decision, row, APPROVAL_LASTS).await?;
        Ok(true)
    }

    /// Returns the decision on a write. An approval is used up by this; a refusal counts until it
    /// expires.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn take_decision(&self, id: &ApprovalId) -> Result<Option<ApprovalDecision>> {
        let decision = self.peek_ticket(TicketKind::Decision, id.as_str()).await?;
        if decision.as_deref() == Some(ApprovalDecision::Refused.word()) {
            return Ok(Some(ApprovalDecision::Refused));
        }
        // Of several processes that repeat the call, only one gets the approval.
        let taken = self.take_ticket(TicketKind::Decision, id.as_str()).await?;
        let is_approved = taken.as_deref() == Some(ApprovalDecision::Approved.word());
        Ok(is_approved.then_some(ApprovalDecision::Approved))
    }

    async fn audit_approval(
        &self,
        id: &ApprovalId,
        write: &WaitingWrite,
        outcome: &str,
    ) -> Result<()> {
        self.record_audit(AuditRecord {
            tool: write.tool().to_owned(),
            op: "approval".to_owned(),
            ids: vec![id.as_str().to_owned()],
            outcome: outcome.to_owned(),
            ..AuditRecord::default()
        })
        .await
    }
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Internal, "a waiting write could not be read or stored")
}
