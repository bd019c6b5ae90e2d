//! The signatures of accounts whose provider does not expose them, by account.
//!
//! A signature is HTML or plain text by the user, and leaves this store only in messages.

use daysheet_core::error::Result;

use super::super::database::Store;

/// Returns the setting with an account's signature.
fn name(account: &str) -> String {
    format!("signature {account}")
}

impl Store {
    /// Returns the signature of the account with this id, if any.
    ///
    /// # Errors
    /// [`Kind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn signature(&self, account: &str) -> Result<Option<String>> {
        self.setting(&name(account)).await
    }

    /// Stores the signature of the account with this id; an empty one removes it.
    ///
    /// # Errors
    /// [`Kind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn keep_signature(&self, account: &str, text: &str) -> Result<()> {
        if !text.is_empty() {
            return self.set_setting(&name(account), text).await;
        }
        sqlx::query("DELETE FROM settings WHERE owner = $1 AND name = $2")
            .bind(self.owner())
            .bind(name(account))
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }
}
