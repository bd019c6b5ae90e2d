//! Outputs: long answers by hash, for further reading after they were shortened.
//!
//! A row has the call that produced the answer, which is enough to produce it again, so no mail is
//! stored on disk for it. If so configured, the row also has the text, sealed. Rows are deleted
//! after the configured time since the answer was last returned, and when an account that they
//! concern is signed out. All texts together have at most 32 MiB; the least recently used ones are
//! deleted first, but keep their rows.
//!
//! The callers define the content of a recipe.

use std::slice;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use sqlx::AnyConnection;

use super::cipher::SealedText;
use super::database::{DAY, Store};

/// One second, in microseconds.
pub(super) const MICROSECONDS: i64 = 1_000_000;
/// The maximum size of all texts, in bytes as sealed.
const TEXTS: i64 = 32 << 20;

/// An output as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputRecord {
    /// The call that produced it.
    pub recipe: String,
    /// The ids of the accounts that it concerns.
    pub accounts: Vec<AccountId>,
    /// Its complete text, if stored.
    pub text: Option<String>,
}

impl Store {
    /// Stores an output under its hash. An output without a text means that texts are not to be
    /// stored, so existing ones are deleted. Returns false if it existed already.
    ///
    /// # Errors
    /// [`ErrorKind::Store`]. A text that cannot be sealed is not an error: the rest is stored.
    pub async fn save_output(&self, hash: &str, output: &OutputRecord) -> Result<bool> {
        let now = self.inner.clock.now().as_microsecond();
        let accounts = join_accounts(&output.accounts);
        let known: Option<i64> = sqlx::query_scalar(
            "SELECT size FROM outputs \
             WHERE owner = $1 AND hash = $2 AND recipe = $3 AND accounts = $4 AND saved > $5",
        )
        .bind(self.owner())
        .bind(hash)
        .bind(&output.recipe)
        .bind(&accounts)
        .bind(now - DAY * MICROSECONDS)
        .fetch_optional(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        let text = match (known, &output.text) {
            (Some(1..), Some(_)) => return self.use_output(hash).await.map(|()| true),
            // A record of the last day is recent enough: a repeated call writes nothing.
            (Some(0), None) => return Ok(false),
            (_, Some(text)) => match self.seal(&identity(hash), text.as_bytes()).await {
                Ok(sealed) => Some(sealed),
                Err(error) => {
                    tracing::debug!(%error, "an output is kept without its text");
                    None
                }
            },
            (_, None) => None,
        };
        let size = text.as_ref().map_or(0, |sealed| sealed.as_str().len());
        let broken = |error: sqlx::Error| self.broken(&error);
        let mut tx = self.writing().await?;
        sqlx::query("DELETE FROM outputs WHERE owner = $1 AND saved <= $2")
            .bind(self.owner())
            .bind(self.too_old(self.inner.retention.outputs) * MICROSECONDS)
            .execute(&mut *tx)
            .await
            .map_err(broken)?;
        sqlx::query(
            "INSERT INTO outputs (owner, hash, recipe, body, accounts, saved, size) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (owner, hash) DO UPDATE SET \
                 recipe = excluded.recipe, body = excluded.body, accounts = excluded.accounts, \
                 saved = excluded.saved, size = excluded.size",
        )
        .bind(self.owner())
        .bind(hash)
        .bind(&output.recipe)
        .bind(text.as_ref().map(SealedText::as_str))
        .bind(&accounts)
        .bind(now)
        .bind(i64::try_from(size).unwrap_or(i64::MAX))
        .execute(&mut *tx)
        .await
        .map_err(broken)?;
        // The running sum includes the row itself and starts at the newest, which thus always
        // stays.
        sqlx::query(
            "UPDATE outputs SET body = NULL, size = 0 \
             WHERE owner = $1 AND size > 0 AND hash IN ( \
                 SELECT hash FROM ( \
                     SELECT hash, SUM(size) OVER (ORDER BY saved DESC, hash) AS until_here \
                     FROM outputs WHERE owner = $1 AND size > 0 \
                 ) AS sums WHERE until_here > $2)",
        )
        .bind(self.owner())
        .bind(if output.text.is_some() { TEXTS } else { 0 })
        .execute(&mut *tx)
        .await
        .map_err(broken)?;
        self.commit(tx).await.map(|()| true)
    }

    /// Returns the output with this hash, with its text if `text` is true and a text is stored.
    /// Returns `None` if the output does not exist, or no longer does. A text that cannot be
    /// unsealed counts as missing.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn output(&self, hash: &str, text: bool) -> Result<Option<OutputRecord>> {
        let row: Option<(String, Option<String>, String)> = sqlx::query_as(
            "SELECT recipe, body, accounts FROM outputs \
             WHERE owner = $1 AND hash = $2 AND saved > $3",
        )
        .bind(self.owner())
        .bind(hash)
        .bind(self.too_old(self.inner.retention.outputs) * MICROSECONDS)
        .fetch_optional(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        let Some((recipe, sealed, accounts)) = row else {
            return Ok(None);
        };
        let text = match sealed.filter(|_| text) {
            None => None,
            Some(sealed) => match self.open_sealed(hash, &SealedText::stored(sealed)).await {
                Ok(text) => {
                    self.use_output(hash).await?;
                    Some(text)
                }
                Err(error) => {
                    tracing::debug!(%error, "the text of an output cannot be opened");
                    None
                }
            },
        };
        Ok(Some(OutputRecord { recipe, accounts: split(&accounts), text }))
    }

    /// Deletes the outputs that concern the account with this id.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn forget_outputs(&self, account: &AccountId) -> Result<()> {
        let mut tx = self.writing().await?;
        self.delete_outputs(&mut tx, account).await?;
        self.commit(tx).await
    }

    /// Deletes the outputs in a transaction of the caller.
    pub(super) async fn delete_outputs(
        &self,
        tx: &mut AnyConnection,
        account: &AccountId,
    ) -> Result<()> {
        let mut pattern = String::new();
        for char in join_accounts(slice::from_ref(account)).chars() {
            // Addresses contain `_`, which LIKE would match to any character.
            if matches!(char, '!' | '%' | '_') {
                pattern.push('!');
            }
            pattern.push(char);
        }
        sqlx::query("DELETE FROM outputs WHERE owner = $1 AND accounts LIKE $2 ESCAPE '!'")
            .bind(self.owner())
            .bind(format!("%{pattern}%"))
            .execute(tx)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Records that an output was used now.
    async fn use_output(&self, hash: &str) -> Result<()> {
        sqlx::query("UPDATE outputs SET saved = $3 WHERE owner = $1 AND hash = $2")
            .bind(self.owner())
            .bind(hash)
            .bind(self.inner.clock.now().as_microsecond())
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    pub(super) async fn open_sealed(&self, hash: &str, sealed: &SealedText) -> Result<String> {
        let bytes = self.unseal(&identity(hash), sealed).await?;
        String::from_utf8(bytes)
            .map_err(|_bad| Error::new(ErrorKind::Internal, "the sealed output is not text"))
    }
}

/// Returns the name of the row that a sealed text is bound to.
fn identity(hash: &str) -> String {
    format!("output {hash}")
}

/// Joins account ids for a row, each between line feeds, so that whole ids can be found. No id
/// contains a line feed.
fn join_accounts(accounts: &[AccountId]) -> String {
    match accounts {
        [] => String::new(),
        some => {
            let some: Vec<&str> = some.iter().map(AccountId::as_str).collect();
            format!("\n{}\n", some.join("\n"))
        }
    }
}

fn split(accounts: &str) -> Vec<AccountId> {
    let ids = accounts.split('\n').filter(|id| !id.is_empty());
    ids.map(AccountId::from).collect()
}
