//! The journal of what is sent: a row for every draft that was to be sent,
//! written before the first byte goes out.
//!
//! It is what makes a draft go out once, across calls, processes and crashes.
//! What a row in doubt means is found out by the pipeline, which asks the
//! provider; here is only what was noted.

use sqlx::Row;

use super::{OWNER, Store, now};
use crate::error::{Error, Kind, Result};

/// How long rows are kept, in seconds: as long as somebody may ask again.
const KEPT: i64 = 400 * 24 * 60 * 60;
/// The seconds that caps are counted over.
const HOUR: i64 = 60 * 60;

/// A letter that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// The account's id.
    pub account: String,
    /// The provider's id of the draft.
    pub draft: String,
    /// Its Message-ID without brackets.
    pub message_id: String,
    /// The provider's id of its conversation.
    pub thread: String,
    /// How many people get it.
    pub recipients: usize,
    /// When it is to go out, in seconds since 1970; at once if not said.
    pub due: Option<i64>,
}

/// What is known of a draft that was sent before, or was to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journalled {
    /// Its Message-ID without brackets.
    pub message_id: String,
    /// The provider's id of its conversation.
    pub thread: String,
    /// True once it is known to have been sent; else it is in doubt.
    pub sent: bool,
    /// The provider's id of the sent message, if it is known.
    pub sent_id: Option<String>,
    /// When sending began, in seconds since 1970.
    pub started: i64,
    /// When it was to go out, in seconds since 1970, if not at once.
    pub due: Option<i64>,
}

/// Whether a letter may be sent now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// It may: its row is written.
    Now,
    /// It was begun before.
    Before(Journalled),
}

/// The most that is sent within an hour.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Letters.
    pub letters: usize,
    /// Recipients of letters.
    pub recipients: usize,
}

impl Store {
    /// Notes that a letter is about to be sent, unless it was noted before or a
    /// cap is reached. Of several processes, one gets [`Begin::Now`].
    ///
    /// # Errors
    /// [`Kind::RateLimited`] at a cap; [`Kind::Store`], and then nothing may be
    /// sent.
    pub async fn begin_send(&self, letter: &Sending, caps: Caps) -> Result<Begin> {
        let broken = |error: sqlx::Error| self.broken(&error);
        let now = now();
        let mut tx = self.writing().await?;
        sqlx::query("DELETE FROM sends WHERE owner = $1 AND started <= $2")
            .bind(OWNER)
            .bind(now - KEPT)
            .execute(&mut *tx)
            .await
            .map_err(broken)?;
        if let Some(row) = sqlx::query(FIND)
            .bind(OWNER)
            .bind(&letter.account)
            .bind(&letter.draft)
            .fetch_optional(&mut *tx)
            .await
            .map_err(broken)?
        {
            return Ok(Begin::Before(journalled(&row).map_err(broken)?));
        }
        let (letters, recipients): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(*), COALESCE(SUM(recipients), 0) FROM sends \
             WHERE owner = $1 AND started > $2",
        )
        .bind(OWNER)
        .bind(now - HOUR)
        .fetch_one(&mut *tx)
        .await
        .map_err(broken)?;
        let more = |so_far: i64, add: usize| {
            usize::try_from(so_far).unwrap_or(usize::MAX).saturating_add(add)
        };
        if more(letters, 1) > caps.letters {
            return Err(capped("messages", caps.letters, "sends_per_hour"));
        }
        if more(recipients, letter.recipients) > caps.recipients {
            return Err(capped("recipients", caps.recipients, "recipients_per_hour"));
        }
        sqlx::query(
            "INSERT INTO sends \
             (owner, account, draft, message_id, thread, state, recipients, started, due) \
             VALUES ($1, $2, $3, $4, $5, 'sending', $6, $7, $8)",
        )
        .bind(OWNER)
        .bind(&letter.account)
        .bind(&letter.draft)
        .bind(&letter.message_id)
        .bind(&letter.thread)
        .bind(i64::try_from(letter.recipients).unwrap_or(i64::MAX))
        .bind(now)
        .bind(letter.due)
        .execute(&mut *tx)
        .await
        .map_err(broken)?;
        self.commit(tx).await?;
        Ok(Begin::Now)
    }

    /// What is noted of a draft.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn journalled(&self, account: &str, draft: &str) -> Result<Option<Journalled>> {
        sqlx::query(FIND)
            .bind(OWNER)
            .bind(account)
            .bind(draft)
            .fetch_optional(self.pool().await?)
            .await
            .and_then(|row| row.as_ref().map(journalled).transpose())
            .map_err(|error| self.broken(&error))
    }

    /// Notes that a letter was sent.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn note_sent(&self, account: &str, draft: &str, sent_id: Option<&str>) -> Result<()> {
        sqlx::query(
            "UPDATE sends SET state = 'sent', sent_id = $1, ended = $2 \
             WHERE owner = $3 AND account = $4 AND draft = $5",
        )
        .bind(sent_id)
        .bind(now())
        .bind(OWNER)
        .bind(account)
        .bind(draft)
        .execute(self.pool().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Forgets a letter that is known not to have been sent: it may be sent
    /// again. One that was sent stays.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn forget_unsent(&self, account: &str, draft: &str) -> Result<()> {
        sqlx::query(
            "DELETE FROM sends \
             WHERE owner = $1 AND account = $2 AND draft = $3 AND state = 'sending'",
        )
        .bind(OWNER)
        .bind(account)
        .bind(draft)
        .execute(self.pool().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }
}

const FIND: &str = "SELECT message_id, thread, state, sent_id, started, due FROM sends \
                    WHERE owner = $1 AND account = $2 AND draft = $3";

fn journalled(row: &sqlx::sqlite::SqliteRow) -> sqlx::Result<Journalled> {
    let state: String = row.try_get("state")?;
    Ok(Journalled {
        message_id: row.try_get("message_id")?,
        thread: row.try_get("thread")?,
        sent: state == "sent",
        sent_id: row.try_get("sent_id")?,
        started: row.try_get("started")?,
        due: row.try_get("due")?,
    })
}

fn capped(what: &str, most: usize, setting: &str) -> Error {
    Error::new(
        Kind::RateLimited(None),
        format!("the cap of {most} {what} an hour is reached; nothing was sent"),
    )
    .next(format!("wait, or ask the user to raise {setting}"))
}
