//! Cursors: short handles such as `p3` for the long text with a position in a list.
//!
//! A provider's page token can have thousands of characters; the model gets a number and passes it
//! back. The same state has the same number for as long as it is stored, so that the same call
//! returns the same bytes. Cursors are deleted after the configured time since they were last
//! issued; their numbers are never used again.
//!
//! The callers define the content of a state.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::error::Result;
use sha2::{Digest, Sha256};

use super::database::{DAY, Store};
use super::handles::HandleKind;

impl Store {
    /// Returns the number of the cursor with this state, for a handle such as `p3`.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn save_cursor(&self, state: &str) -> Result<u64> {
        let digest = STANDARD.encode(Sha256::digest(state.as_bytes()));
        let now = self.now();
        let find = "SELECT number FROM cursors WHERE owner = $1 AND digest = $2 AND saved > $3";
        // A record of the last day is recent enough: a repeated call writes nothing.
        let known: Option<i64> = sqlx::query_scalar(find)
            .bind(self.owner())
            .bind(&digest)
            .bind(now - DAY)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
        if let Some(number) = known {
            return Ok(number.unsigned_abs());
        }
        let mut tx = self.writing().await?;
        let next = self.next_number(&mut tx, HandleKind::Page).await?;
        sqlx::query("DELETE FROM cursors WHERE owner = $1 AND saved <= $2")
            .bind(self.owner())
            .bind(self.too_old(self.inner.retention.cursors))
            .execute(&mut *tx)
            .await
            .map_err(|error| self.broken(&error))?;
        let number: i64 = sqlx::query_scalar(
            "INSERT INTO cursors (owner, number, digest, state, saved) \
             VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (owner, digest) DO UPDATE SET saved = excluded.saved \
             RETURNING number",
        )
        .bind(self.owner())
        .bind(next)
        .bind(&digest)
        .bind(state)
        .bind(now)
        .fetch_one(&mut *tx)
        .await
        .map_err(|error| self.broken(&error))?;
        // A known state keeps its number, and the one reserved for it stays free.
        if number == next {
            self.advance(&mut tx, HandleKind::Page, number).await?;
        }
        self.commit(tx).await?;
        Ok(number.unsigned_abs())
    }

    /// Returns the state of cursor `number`, or `None` if it does not exist or no longer does.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn cursor(&self, number: u64) -> Result<Option<String>> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(None);
        };
        sqlx::query_scalar("SELECT state FROM cursors WHERE owner = $1 AND number = $2")
            .bind(self.owner())
            .bind(number)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }
}
