//! The signatures of accounts whose provider does not expose them: text of the user's
//! own, by account.
//!
//! It is HTML or plain text as the user gave it, and leaves this store only in messages.

use super::{OWNER, Store};
use crate::error::Result;

/// Returns the setting with an account's signature.
fn name(account: &str) -> String {
    format!("signature {account}")
}

impl Store {
    /// Returns the signature of the account with this id, if any.
    ///
    /// # Errors
    /// [`Kind::Store`](crate::error::Kind::Store).
    pub async fn signature(&self, account: &str) -> Result<Option<String>> {
        self.setting(&name(account)).await
    }

    /// Stores the signature of the account with this id; an empty one removes it.
    ///
    /// # Errors
    /// [`Kind::Store`](crate::error::Kind::Store).
    pub async fn keep_signature(&self, account: &str, text: &str) -> Result<()> {
        let pool = self.pool().await?;
        let name = name(account);
        let done = if text.is_empty() {
            sqlx::query("DELETE FROM settings WHERE owner = $1 AND name = $2")
                .bind(OWNER)
                .bind(name)
                .execute(pool)
                .await
        } else {
            sqlx::query(
                "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
                 ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value",
            )
            .bind(OWNER)
            .bind(name)
            .bind(text)
            .execute(pool)
            .await
        };
        done.map(|_done| ()).map_err(|error| self.broken(&error))
    }
}
