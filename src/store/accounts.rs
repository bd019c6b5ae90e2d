//! The rows of signed-in accounts, with sealed tokens.
//!
//! Every change of a row's tokens raises its version, and a change names the version it was made
//! from: of two processes that refresh at once, one saves and the other notices. A lock keeps
//! them from trying at once in the first place, because some providers treat a refresh token that
//! is used twice as stolen and end the whole grant.
//!
//! `crate::accounts` interprets the columns.

mod signatures;
pub(super) mod unapproved;

use std::collections::HashMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::provider::AccountStatus;
use sqlx::any::AnyRow;
use sqlx::{FromRow, Row};

use super::cipher::SealedText;
use super::cipher::random;
use super::database::Store;
use super::engine::locks::ProcessLock;
use super::settings::SettingName;

/// An account as stored.
#[derive(Clone)]
pub struct AccountRow {
    /// Short stable id, such as `google:mira@example.com`.
    pub id: AccountId,
    /// The provider's name, such as `google`.
    pub provider: String,
    /// The mailbox's address.
    pub email: String,
    /// The person who signed in, if the mailbox is not their own but shared with them.
    pub via: Option<String>,
    /// The tenant that it signed in at, for providers that have tenants.
    pub tenant: Option<String>,
    /// The scopes granted, separated by spaces.
    pub scopes: String,
    /// The state of the sign-in.
    pub status: AccountStatus,
    /// The reason why the account cannot be used.
    pub problem: Option<String>,
    /// The time of its first addition, in seconds since 1970.
    pub added: i64,
    /// The tokens as [`Store::seal`] returned them.
    pub sealed: SealedText,
    /// A number that every change of the tokens raises.
    pub version: i64,
}

impl FromRow<'_, AnyRow> for AccountRow {
    fn from_row(row: &AnyRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get::<String, _>("id")?.into(),
            provider: row.try_get("provider")?,
            email: row.try_get("email")?,
            via: row.try_get("via")?,
            tenant: row.try_get("tenant")?,
            scopes: row.try_get("scopes")?,
            status: AccountStatus::from_word(row.try_get("status")?),
            problem: row.try_get("problem")?,
            added: row.try_get("added")?,
            sealed: SealedText::stored(row.try_get::<String, _>("sealed")?),
            version: row.try_get("version")?,
        })
    }
}

impl Store {
    /// Returns all accounts, the oldest first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn account_rows(&self) -> Result<Vec<AccountRow>> {
        sqlx::query_as(
            "SELECT id, provider, email, via, tenant, scopes, status, problem, \
                    added, sealed, version \
             FROM accounts WHERE owner = $1 ORDER BY added, id",
        )
        .bind(self.owner())
        .fetch_all(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))
    }

    /// Returns the account with this id, if there is one.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn account_row(&self, id: &AccountId) -> Result<Option<AccountRow>> {
        sqlx::query_as(
            "SELECT id, provider, email, via, tenant, scopes, status, problem, \
                    added, sealed, version \
             FROM accounts WHERE owner = $1 AND id = $2",
        )
        .bind(self.owner())
        .bind(id.as_str())
        .fetch_optional(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))
    }

    /// Adds an account, or gives a known one new tokens, scopes and a good status, and keeps the
    /// time of its first addition. Ignores `status`, `problem`, `added` and `version` of `row`.
    /// Returns the row as stored.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn put_account(&self, row: &AccountRow) -> Result<AccountRow> {
        sqlx::query_as(
            "INSERT INTO accounts (owner, id, provider, email, scopes, status, problem, \
                                   added, sealed, version, lease, via, tenant) \
             VALUES ($1, $2, $3, $4, $5, 'ok', NULL, $6, $7, $8, 0, $9, $10) \
             ON CONFLICT (owner, id) DO UPDATE SET \
                 email = excluded.email, via = excluded.via, tenant = excluded.tenant, \
                 scopes = excluded.scopes, status = 'ok', problem = NULL, sealed = excluded.sealed, \
                 version = accounts.version + 1 \
             RETURNING id, provider, email, via, tenant, scopes, status, problem, \
                    added, sealed, version",
        )
        .bind(self.owner())
        .bind(row.id.as_str())
        .bind(&row.provider)
        .bind(&row.email)
        .bind(&row.scopes)
        .bind(self.now())
        .bind(row.sealed.as_str())
        // A random first version, so that no process mistakes an account that was added again for
        // the one it remembers; with room to count up from it.
        .bind(i64::from_le_bytes(random()?) >> 1)
        .bind(&row.via)
        .bind(&row.tenant)
        .fetch_one(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))
    }

    /// Saves refreshed tokens, which replace the ones of `version`. Returns false without saving if
    /// the row was changed or deleted since.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn replace_tokens(
        &self,
        id: &AccountId,
        version: i64,
        sealed: &SealedText,
    ) -> Result<bool> {
        self.changes_one(
            sqlx::query(
                "UPDATE accounts SET sealed = $4, version = version + 1, \
                                     status = 'ok', problem = NULL \
                 WHERE owner = $1 AND id = $2 AND version = $3",
            )
            .bind(self.owner())
            .bind(id.as_str())
            .bind(version)
            .bind(sealed.as_str()),
        )
        .await
    }

    /// Records that the provider refused the tokens of `version`, with the reason. Returns false
    /// without recording if the row was changed or deleted since.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn refuse_account(
        &self,
        id: &AccountId,
        version: i64,
        status: AccountStatus,
        problem: &str,
    ) -> Result<bool> {
        self.changes_one(
            sqlx::query(
                "UPDATE accounts SET status = $4, problem = $5 \
                 WHERE owner = $1 AND id = $2 AND version = $3",
            )
            .bind(self.owner())
            .bind(id.as_str())
            .bind(version)
            .bind(status.word())
            .bind(problem),
        )
        .await
    }

    /// Takes the lock for refreshing an account's tokens, which ends when it is dropped, or with
    /// the process. Returns `None` if another call or process has it.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn lock_account(&self, id: &AccountId) -> Result<Option<ProcessLock>> {
        self.try_lock(format!("account {} {id}", self.owner()), false, false).await
    }

    /// Deletes an account with its tokens, the outputs that concern it, and the earlier states that
    /// belong only to it, because these contain texts. Its handles stay, so that their numbers
    /// never get another meaning. Returns false if the account did not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn delete_account(&self, id: &AccountId) -> Result<bool> {
        let mut tx = self.writing().await?;
        let done = sqlx::query("DELETE FROM accounts WHERE owner = $1 AND id = $2")
            .bind(self.owner())
            .bind(id.as_str())
            .execute(&mut *tx)
            .await
            .map_err(|error| self.broken(&error))?;
        self.delete_outputs(&mut tx, id).await?;
        // States of several accounts have several ids in `account`, so they do not match and stay.
        sqlx::query("DELETE FROM undos WHERE owner = $1 AND account = $2")
            .bind(self.owner())
            .bind(id.as_str())
            .execute(&mut *tx)
            .await
            .map_err(|error| self.broken(&error))?;
        self.commit(tx).await?;
        Ok(done.rows_affected() > 0)
    }

    /// Records that an account is used now.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn note_use(&self, account: &AccountId) -> Result<()> {
        self.set_setting(SettingName::LastUse(account.as_str()), &self.now().to_string()).await
    }

    /// Returns the time of last use of each account, in seconds since 1970, by id.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn last_uses(&self) -> Result<HashMap<AccountId, i64>> {
        let prefix = SettingName::LastUse("").to_string();
        let rows: Vec<(String, String)> =
            sqlx::query_as("SELECT name, value FROM settings WHERE owner = $1 AND name LIKE $2")
                .bind(self.owner())
                .bind(format!("{prefix}%"))
                .fetch_all(&mut *self.connection().await?)
                .await
                .map_err(|error| self.broken(&error))?;
        let rows = rows.into_iter();
        let used = |(name, value): (String, String)| {
            Some((name.strip_prefix(&prefix)?.into(), value.parse().ok()?))
        };
        Ok(rows.filter_map(used).collect())
    }

    /// Forgets the time of an account's last use.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn forget_use(&self, account: &AccountId) -> Result<()> {
        self.remove_setting(SettingName::LastUse(account.as_str())).await
    }

    /// Runs a statement about one row. Returns true if it found its row.
    async fn changes_one(
        &self,
        statement: sqlx::query::Query<'_, sqlx::Any, sqlx::any::AnyArguments>,
    ) -> Result<bool> {
        let done = statement
            .execute(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
        match done.rows_affected() {
            0 => Ok(false),
            1 => Ok(true),
            // The statements name a primary key: more rows mean that one of them is wrong.
            more => Err(Error::new(
                ErrorKind::Internal,
                format!("a change meant for one account matched {more}"),
            )),
        }
    }
}
