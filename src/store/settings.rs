//! The settings rows: values that Daysheet decided once for a state folder, or keeps for an owner.
//!
//! `config.rs` has the user's settings.

use daysheet_core::error::{Error, ErrorKind, Result};

use super::database::Store;

impl Store {
    /// Returns the value stored under `name`, if any. Settings rows hold what Daysheet
    /// decided once for this state folder; `config.rs` has the user's settings.
    pub(super) async fn setting(&self, name: &str) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT value FROM settings WHERE owner = $1 AND name = $2")
            .bind(self.owner())
            .bind(name)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }

    /// Stores `value` under `name`, replacing an existing value.
    pub(super) async fn set_setting(&self, name: &str, value: &str) -> Result<()> {
        sqlx::query(
            "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value",
        )
        .bind(self.owner())
        .bind(name)
        .bind(value)
        .execute(&mut *self.connection().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Stores `value` under `name` unless there is one already, and returns the stored
    /// one. Of several processes that decide at once, all get the first one's decision.
    pub(super) async fn decide(&self, name: &str, value: &str) -> Result<String> {
        sqlx::query(
            "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (owner, name) DO NOTHING",
        )
        .bind(self.owner())
        .bind(name)
        .bind(value)
        .execute(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        // Another process may have been first, so the value is read back.
        self.setting(name).await?.ok_or_else(|| {
            Error::new(ErrorKind::Store, format!("the setting {name} was not stored"))
        })
    }

    /// Forgets the decision `value` kept under `name`; a newer one stays.
    pub(super) async fn undecide(&self, name: &str, value: &str) -> Result<()> {
        sqlx::query("DELETE FROM settings WHERE owner = $1 AND name = $2 AND value = $3")
            .bind(self.owner())
            .bind(name)
            .bind(value)
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Replaces the setting `old`, or its absence, with `new`. Returns false without a change if
    /// the setting has another value.
    pub(super) async fn swap(&self, name: &str, old: Option<&str>, new: &str) -> Result<bool> {
        let statement = match old {
            Some(old) => sqlx::query(
                "UPDATE settings SET value = $3 WHERE owner = $1 AND name = $2 AND value = $4",
            )
            .bind(self.owner())
            .bind(name)
            .bind(new)
            .bind(old),
            None => sqlx::query(
                "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
                 ON CONFLICT (owner, name) DO NOTHING",
            )
            .bind(self.owner())
            .bind(name)
            .bind(new),
        };
        let done = statement
            .execute(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
        Ok(done.rows_affected() > 0)
    }
}
