//! Calls that are writing, as rows: for several instances that serve several people.
//!
//! Each call also has a lock, which begins before its row and ends after it. A row without a lock
//! belongs to an interrupted call; any instance reports it, to its owner.

use daysheet_core::error::{Error, ErrorKind, Result};

use super::super::cipher::random;
use super::super::database::Store;
use super::super::engine::locks::ProcessLock;
use super::lines::CutOff;

impl Store {
    /// Adds a row for a call. Returns its number, and the lock that shows that the call continues.
    pub(super) async fn add_write(&self, what: &str) -> Result<(i64, ProcessLock)> {
        let number = i64::from_le_bytes(random()?);
        // The lock comes before the row: a row without a lock would be reported as interrupted.
        let lock = self.lock_write(number, true).await?.ok_or_else(|| {
            Error::new(ErrorKind::Internal, format!("the number {number} of a call is in use"))
        })?;
        sqlx::query("INSERT INTO writes (owner, number, what, began) VALUES ($1, $2, $3, $4)")
            .bind(self.owner())
            .bind(number)
            .bind(what)
            .bind(self.now())
            .execute(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
        Ok((number, lock))
    }

    /// Removes the row of a call that is over. Returns false if it did not exist.
    pub(super) async fn remove_write(&self, number: i64) -> Result<bool> {
        sqlx::query("DELETE FROM writes WHERE owner = $1 AND number = $2")
            .bind(self.owner())
            .bind(number)
            .execute(&mut *self.connection().await?)
            .await
            .map(|done| done.rows_affected() > 0)
            .map_err(|error| self.broken(&error))
    }

    /// Returns and forgets the owner's interrupted calls.
    pub(super) async fn take_cut_off(&self) -> Result<Vec<CutOff>> {
        let rows: Vec<(i64, String, i64)> =
            sqlx::query_as("SELECT number, what, began FROM writes WHERE owner = $1")
                .bind(self.owner())
                .fetch_all(&mut *self.connection().await?)
                .await
                .map_err(|error| self.broken(&error))?;
        let mut found = Vec::new();
        for (number, what, began) in rows {
            // If several instances do this at once, one of them gets the call.
            if let Some(_lock) = self.lock_write(number, false).await?
                && self.remove_write(number).await?
            {
                found.push(CutOff { what, began });
            }
        }
        Ok(found)
    }

    async fn lock_write(&self, number: i64, new: bool) -> Result<Option<ProcessLock>> {
        self.try_lock(format!("write {number}"), true, new).await
    }
}
