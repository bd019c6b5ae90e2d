//! Tickets: texts that are stored for a short time under an unguessable id and returned once, such
//! as the state of a sign-in or a question to the user.
//!
//! Any process may take a ticket of another one, so the clocks of their machines have to agree to
//! within a minute. Callers seal secret content.

pub mod approvals;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::error::Result;

use super::cipher::random;
use super::database::Store;

/// The purpose of a ticket: its id is valid only for this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketKind {
    /// A question to the user that ended a call, which the client repeats with the answer.
    Question,
    /// A question to the user on the stream of a call.
    StreamQuestion,
    /// The connection of an account that has begun on a page.
    Connection,
    /// A link that opens the pages.
    PageLink,
    /// A session on the pages.
    PageSession,
    /// A write that waits for the user's approval.
    WaitingWrite,
    /// The user's decision on such a write.
    Decision,
    /// The word of a card that shows such a write, which decides once.
    Card,
}

impl TicketKind {
    /// Returns the word in the table.
    const fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::StreamQuestion => "asked",
            Self::Connection => "connect",
            Self::PageLink => "ui",
            Self::PageSession => "session",
            Self::WaitingWrite => "waiting",
            Self::Decision => "decision",
            Self::Card => "card",
        }
    }
}

/// A ticket to be stored under an id of the caller's choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct TicketRow<'a> {
    pub(super) id: &'a str,
    pub(super) content: &'a str,
}

impl Store {
    /// Stores `content` for `seconds`. Returns its id, 24 URL-safe characters. The id is valid only for this
    /// `kind`.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn put_ticket(
        &self,
        kind: TicketKind,
        content: &str,
        seconds: i64,
    ) -> Result<String> {
        let id = URL_SAFE_NO_PAD.encode(random::<18>()?);
        self.put_ticket_as(kind, TicketRow { id: &id, content }, seconds).await?;
        Ok(id)
    }

    /// Stores a ticket for `seconds`. Returns false if a ticket with this id exists,
    /// which is kept.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub(super) async fn put_ticket_as(
        &self,
        kind: TicketKind,
        row: TicketRow<'_>,
        seconds: i64,
    ) -> Result<bool> {
        let mut tx = self.writing().await?;
        let now = self.now();
        sqlx::query("DELETE FROM tickets WHERE owner = $1 AND expires <= $2")
            .bind(self.owner())
            .bind(now)
            .execute(&mut *tx)
            .await
            .map_err(|error| self.broken(&error))?;
        let added = sqlx::query(
            "INSERT INTO tickets (owner, kind, id, content, expires) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (owner, kind, id) DO NOTHING",
        )
        .bind(self.owner())
        .bind(kind.word())
        .bind(row.id)
        .bind(row.content)
        .bind(now.saturating_add(seconds))
        .execute(&mut *tx)
        .await
        .map_err(|error| self.broken(&error))?;
        self.commit(tx).await?;
        Ok(added.rows_affected() == 1)
    }

    /// Returns the ids and contents of the tickets of a kind, the one that expires last first.
    async fn tickets(&self, kind: TicketKind) -> Result<Vec<(String, String)>> {
        sqlx::query_as(
            "SELECT id, content FROM tickets \
             WHERE owner = $1 AND kind = $2 AND expires > $3 ORDER BY expires DESC, id",
        )
        .bind(self.owner())
        .bind(kind.word())
        .bind(self.now())
        .fetch_all(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))
    }

    /// Returns the content of a ticket and deletes it. If several callers take it at once, only one
    /// gets it. Returns `None` if it does not exist or has expired.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn take_ticket(&self, kind: TicketKind, id: &str) -> Result<Option<String>> {
        // One statement deletes and returns the row: with two, several callers could read it.
        self.ticket(
            "DELETE FROM tickets \
             WHERE owner = $1 AND kind = $2 AND id = $3 AND expires > $4 \
             RETURNING content",
            kind,
            id,
        )
        .await
    }

    /// Returns the content of a ticket, and keeps it.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn peek_ticket(&self, kind: TicketKind, id: &str) -> Result<Option<String>> {
        self.ticket(
            "SELECT content FROM tickets \
             WHERE owner = $1 AND kind = $2 AND id = $3 AND expires > $4",
            kind,
            id,
        )
        .await
    }

    /// Puts `content` into a ticket whose content is still empty. If several callers fill it at
    /// once, one succeeds. Returns false if it does not exist or was already filled.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn fill_ticket(&self, kind: TicketKind, id: &str, content: &str) -> Result<bool> {
        sqlx::query(
            "UPDATE tickets SET content = $5 \
             WHERE owner = $1 AND kind = $2 AND id = $3 AND content = '' AND expires > $4",
        )
        .bind(self.owner())
        .bind(kind.word())
        .bind(id)
        .bind(self.now())
        .bind(content)
        .execute(&mut *self.connection().await?)
        .await
        .map(|done| done.rows_affected() == 1)
        .map_err(|error| self.broken(&error))
    }

    async fn ticket(
        &self,
        sql: &'static str,
        kind: TicketKind,
        id: &str,
    ) -> Result<Option<String>> {
        sqlx::query_scalar(sql)
            .bind(self.owner())
            .bind(kind.word())
            .bind(id)
            .bind(self.now())
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }
}
