//! The journal of sent messages: a row for every draft to send, written before the first byte.
//!
//! It ensures that a draft is sent only once, across calls, processes and crashes. The pipeline
//! asks the provider about the outcome of a row in doubt.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AccountId, DraftId, MessageId, ThreadId};
use sqlx::any::AnyRow;
use sqlx::{FromRow, Row};

use super::database::Store;

/// The period of the caps, in seconds.
const HOUR: i64 = 60 * 60;

/// A message that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSend {
    /// The account's id.
    pub account: AccountId,
    /// The provider's id of the draft.
    pub draft: DraftId,
    /// Its Message-ID without brackets.
    pub message_id: String,
    /// The provider's id of its conversation.
    pub thread: ThreadId,
    /// The number of recipients.
    pub recipients: usize,
    /// The scheduled time, in seconds since 1970; `None` to send it at once.
    pub due: Option<i64>,
}

/// The journal's record of a draft whose sending began earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord {
    /// Its Message-ID without brackets.
    pub message_id: String,
    /// The provider's id of its conversation.
    pub thread: ThreadId,
    /// True if it is known to have been sent; false if it is in doubt.
    pub sent: bool,
    /// The provider's id of the sent message, if it is known.
    pub sent_id: Option<MessageId>,
    /// The time at which sending began, in seconds since 1970.
    pub started: i64,
    /// The scheduled time, in seconds since 1970, if it was scheduled.
    pub due: Option<i64>,
}

/// The permission to send a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendStart {
    /// Granted: its row is written.
    Now,
    /// Denied: sending began earlier.
    Before(JournalRecord),
}

/// The maximum that is sent within an hour.
#[derive(Debug, Clone, Copy)]
pub struct SendCaps {
    /// Messages.
    pub messages: usize,
    /// Recipients of messages.
    pub recipients: usize,
}

impl Store {
    /// Records that a message is about to be sent, unless it was recorded before or a cap is
    /// reached. Only one of several processes gets [`SendStart::Now`].
    ///
    /// # Errors
    /// [`ErrorKind::RateLimited`] at a cap; [`ErrorKind::Argument`] for a message that alone is above
    /// it; [`ErrorKind::Store`]. The message must not be sent.
    pub async fn begin_send(&self, sending: &PendingSend, caps: SendCaps) -> Result<SendStart> {
        let broken = |error: sqlx::Error| self.broken(&error);
        let now = self.now();
        // Check and insertion are one transaction, so that only one process may send.
        let mut tx = self.writing().await?;
        sqlx::query("DELETE FROM sends WHERE owner = $1 AND started <= $2")
            .bind(self.owner())
            .bind(self.too_old(self.inner.retention.sends))
            .execute(&mut *tx)
            .await
            .map_err(broken)?;
        let before = sqlx::query_as(FIND)
            .bind(self.owner())
            .bind(sending.account.as_str())
            .bind(sending.draft.as_str())
            .fetch_optional(&mut *tx)
            .await
            .map_err(broken)?;
        if let Some(before) = before {
            return Ok(SendStart::Before(before));
        }
        let (messages, recipients): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(*), CAST(COALESCE(SUM(recipients), 0) AS BIGINT) FROM sends \
             WHERE owner = $1 AND started > $2 AND started <= $3",
        )
        .bind(self.owner())
        .bind(now - HOUR)
        // Rows from a clock that was wrong by more are ignored, so that they do not block sending
        // until their time.
        .bind(now + HOUR)
        .fetch_one(&mut *tx)
        .await
        .map_err(broken)?;
        let more = |so_far: i64, add: usize| {
            usize::try_from(so_far).unwrap_or(usize::MAX).saturating_add(add)
        };
        if more(messages, 1) > caps.messages {
            return Err(SendCap::Messages.error(caps.messages));
        }
        // Waiting would not help.
        if sending.recipients > caps.recipients {
            return Err(too_many_recipients(sending.recipients, caps.recipients));
        }
        if more(recipients, sending.recipients) > caps.recipients {
            return Err(SendCap::Recipients.error(caps.recipients));
        }
        sqlx::query(
            "INSERT INTO sends \
             (owner, account, draft, message_id, thread, state, recipients, started, due) \
             VALUES ($1, $2, $3, $4, $5, 'sending', $6, $7, $8)",
        )
        .bind(self.owner())
        .bind(sending.account.as_str())
        .bind(sending.draft.as_str())
        .bind(&sending.message_id)
        .bind(sending.thread.as_str())
        .bind(i64::try_from(sending.recipients).unwrap_or(i64::MAX))
        .bind(now)
        .bind(sending.due)
        .execute(&mut *tx)
        .await
        .map_err(broken)?;
        self.commit(tx).await?;
        Ok(SendStart::Now)
    }

    /// Returns the record of a draft.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn journalled(
        &self,
        account: &AccountId,
        draft: &DraftId,
    ) -> Result<Option<JournalRecord>> {
        sqlx::query_as(FIND)
            .bind(self.owner())
            .bind(account.as_str())
            .bind(draft.as_str())
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }

    /// Records that a message was sent.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn note_sent(
        &self,
        account: &AccountId,
        draft: &DraftId,
        sent_id: Option<&MessageId>,
    ) -> Result<()> {
        sqlx::query(
            "UPDATE sends SET state = 'sent', sent_id = $1, ended = $2 \
             WHERE owner = $3 AND account = $4 AND draft = $5",
        )
        .bind(sent_id.map(MessageId::as_str))
        .bind(self.now())
        .bind(self.owner())
        .bind(account.as_str())
        .bind(draft.as_str())
        .execute(&mut *self.connection().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Removes a message that is known not to have been sent, so that it may be sent again. The
    /// record of a sent message stays.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn forget_unsent(&self, account: &AccountId, draft: &DraftId) -> Result<()> {
        sqlx::query(
            "DELETE FROM sends \
             WHERE owner = $1 AND account = $2 AND draft = $3 AND state = 'sending'",
        )
        .bind(self.owner())
        .bind(account.as_str())
        .bind(draft.as_str())
        .execute(&mut *self.connection().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }
}

const FIND: &str = "SELECT message_id, thread, state, sent_id, started, due FROM sends \
                    WHERE owner = $1 AND account = $2 AND draft = $3";

impl FromRow<'_, AnyRow> for JournalRecord {
    fn from_row(row: &AnyRow) -> sqlx::Result<Self> {
        Ok(Self {
            message_id: row.try_get("message_id")?,
            thread: row.try_get::<String, _>("thread")?.into(),
            sent: row.try_get::<&str, _>("state")? == "sent",
            sent_id: row.try_get::<Option<String>, _>("sent_id")?.map(MessageId::from),
            started: row.try_get("started")?,
            due: row.try_get("due")?,
        })
    }
}

/// A cap that is reached.
#[derive(Debug, Clone, Copy)]
enum SendCap {
    Messages,
    Recipients,
}

impl SendCap {
    /// Returns the error at this cap, which is `most` within an hour.
    fn error(self, most: usize) -> Error {
        let (what, setting) = match self {
            Self::Messages => ("messages", "sends_per_hour"),
            Self::Recipients => ("recipients", "recipients_per_hour"),
        };
        Error::new(
            ErrorKind::RateLimited(None),
            format!("the cap of {most} {what} an hour is reached; nothing was sent"),
        )
        .next(format!("wait, or ask the user to raise {setting}"))
    }
}

/// Returns the error about a message that alone has more recipients than are allowed in an hour.
fn too_many_recipients(count: usize, most: usize) -> Error {
    Error::argument(format!(
        "the message has {count} recipients, more than the {most} allowed in an hour; nothing was \
         sent"
    ))
    .next("remove recipients, or ask the user to raise recipients_per_hour")
}
