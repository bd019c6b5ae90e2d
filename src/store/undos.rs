//! The states of messages before they were changed, for handles such as `u3`, and the folders that
//! were created only as the levels above another one, which are deleted together with it.
//!
//! A state is JSON from the pipeline that the store does not interpret. It is deleted after the
//! configured number of days. Numbers are never used again.

use daysheet_core::error::Result;
use daysheet_core::ids::{AccountId, FolderId};
use sqlx::AnyConnection;

use super::database::Store;
use super::handles::HandleKind;
use super::settings::SettingName;

impl Store {
    /// Stores the states before the change `what`. Returns the number of the handle. `accounts` are
    /// ids, separated by spaces.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store): the change must not be made.
    pub async fn keep_undo(&self, accounts: &str, what: &str, state: &str) -> Result<u64> {
        let now = self.now();
        let mut tx = self.writing().await?;
        let number = self.next_number(&mut tx, HandleKind::Undo).await?;
        self.purge_undos(&mut tx).await?;
        sqlx::query(
            "INSERT INTO undos (owner, number, account, what, state, saved) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.owner())
        .bind(number)
        .bind(accounts)
        .bind(what)
        .bind(state)
        .bind(now)
        .execute(&mut *tx)
        .await
        .map_err(|error| self.broken(&error))?;
        self.advance(&mut tx, HandleKind::Undo, number).await?;
        self.commit(tx).await?;
        Ok(number.unsigned_abs())
    }

    /// Deletes the states that are too old.
    pub(super) async fn purge_undos(&self, connection: &mut AnyConnection) -> Result<()> {
        sqlx::query("DELETE FROM undos WHERE owner = $1 AND saved <= $2")
            .bind(self.owner())
            .bind(self.too_old(self.inner.retention.undos))
            .execute(connection)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Returns the number of the last change `what` of an account, if it can still be undone.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn undo_of(&self, account: &AccountId, what: &str) -> Result<Option<u64>> {
        let number: Option<i64> = sqlx::query_scalar(
            "SELECT MAX(number) FROM undos \
             WHERE owner = $1 AND account = $2 AND what = $3 AND saved > $4",
        )
        .bind(self.owner())
        .bind(account.as_str())
        .bind(what)
        .bind(self.too_old(self.inner.retention.undos))
        .fetch_one(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(number.map(i64::unsigned_abs))
    }

    /// Replaces the state stored under `number`, or deletes it if `state` is `None`.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn trim_undo(&self, number: u64, state: Option<&str>) -> Result<()> {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let mut connection = self.connection().await?;
        let done = match state {
            Some(state) => {
                sqlx::query("UPDATE undos SET state = $3 WHERE owner = $1 AND number = $2")
                    .bind(self.owner())
                    .bind(number)
                    .bind(state)
                    .execute(&mut *connection)
                    .await
            }
            None => {
                sqlx::query("DELETE FROM undos WHERE owner = $1 AND number = $2")
                    .bind(self.owner())
                    .bind(number)
                    .execute(&mut *connection)
                    .await
            }
        };
        done.map(|_done| ()).map_err(|error| self.broken(&error))
    }

    /// Returns the change with this number and the states before it, or `None` if it does not
    /// exist, or no longer does.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn undo(&self, number: u64) -> Result<Option<(String, String)>> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(None);
        };
        sqlx::query_as(
            "SELECT what, state FROM undos WHERE owner = $1 AND number = $2 AND saved > $3",
        )
        .bind(self.owner())
        .bind(number)
        .bind(self.too_old(self.inner.retention.undos))
        .fetch_optional(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))
    }

    /// Stores the paths of the levels above a new folder or label that were created with it,
    /// the highest first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn keep_created(
        &self,
        account: &AccountId,
        folder: &FolderId,
        above: &[String],
    ) -> Result<()> {
        if above.is_empty() || folder.is_empty() {
            return Ok(());
        }
        self.set_setting(SettingName::CreatedWith { account, folder }, &above.join("\n")).await
    }

    /// Returns the paths of the levels that were created with a folder, the highest first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn created_with(
        &self,
        account: &AccountId,
        folder: &FolderId,
    ) -> Result<Vec<String>> {
        let above =
            self.setting(SettingName::CreatedWith { account, folder }).await?.unwrap_or_default();
        Ok(above.lines().map(str::to_owned).collect())
    }
}
