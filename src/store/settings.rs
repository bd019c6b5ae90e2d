//! The settings rows: values that Daysheet decided once for a state folder, or keeps for an owner.
//!
//! `config.rs` has the user's settings.

use std::fmt;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AccountId, FolderId};

use super::database::Store;

/// The name of a settings row.
#[derive(Debug, Clone, Copy)]
pub(super) enum SettingName<'a> {
    /// The location of the master keys that Daysheet keeps itself.
    KeyStore,
    /// The master key in use.
    MasterKey,
    /// The data keys of an owner.
    DataKeys,
    /// The random value from which secrets are derived.
    DeriveRoot,
    /// The access level that an owner allows.
    OwnAccess,
    /// The time at which untrusted text was last shown.
    StrangersShown,
    /// The last day on which old rows were deleted.
    Purged,
    /// The time at which the account with this id was last used; empty for the prefix of all.
    LastUse(&'a str),
    /// The signature of the account with this id.
    Signature(&'a str),
    /// The levels that were created with a folder.
    CreatedWith {
        /// The id of the account.
        account: &'a AccountId,
        /// The provider's id of the folder.
        folder: &'a FolderId,
    },
}

impl fmt::Display for SettingName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyStore => f.write_str("key_store"),
            Self::MasterKey => f.write_str("master_key"),
            Self::DataKeys => f.write_str("data_keys"),
            Self::DeriveRoot => f.write_str("derive_root"),
            Self::OwnAccess => f.write_str("own_access"),
            Self::StrangersShown => f.write_str("strangers_shown"),
            Self::Purged => f.write_str("purged"),
            Self::LastUse(account) => write!(f, "used {account}"),
            Self::Signature(account) => write!(f, "signature {account}"),
            Self::CreatedWith { account, folder } => write!(f, "created with {account} {folder}"),
        }
    }
}

impl Store {
    /// Returns the value stored under `name`, if any. Settings rows hold what Daysheet
    /// decided once for this state folder; `config.rs` has the user's settings.
    pub(super) async fn setting(&self, name: SettingName<'_>) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT value FROM settings WHERE owner = $1 AND name = $2")
            .bind(self.owner())
            .bind(name.to_string())
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }

    /// Stores `value` under `name`, replacing an existing value.
    pub(super) async fn set_setting(&self, name: SettingName<'_>, value: &str) -> Result<()> {
        sqlx::query(
            "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value",
        )
        .bind(self.owner())
        .bind(name.to_string())
        .bind(value)
        .execute(&mut *self.connection().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Stores `value` under `name` unless there is one already, and returns the stored
    /// one. Of several processes that decide at once, all get the first one's decision.
    pub(super) async fn decide(&self, name: SettingName<'_>, value: &str) -> Result<String> {
        sqlx::query(
            "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (owner, name) DO NOTHING",
        )
        .bind(self.owner())
        .bind(name.to_string())
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
    pub(super) async fn undecide(&self, name: SettingName<'_>, value: &str) -> Result<()> {
        sqlx::query("DELETE FROM settings WHERE owner = $1 AND name = $2 AND value = $3")
            .bind(self.owner())
            .bind(name.to_string())
            .bind(value)
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Deletes the value stored under `name`, if any.
    pub(super) async fn remove_setting(&self, name: SettingName<'_>) -> Result<()> {
        sqlx::query("DELETE FROM settings WHERE owner = $1 AND name = $2")
            .bind(self.owner())
            .bind(name.to_string())
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Replaces the setting `old`, or its absence, with `new`. Returns false without a change if
    /// the setting has another value.
    pub(super) async fn swap(
        &self,
        name: SettingName<'_>,
        old: Option<&str>,
        new: &str,
    ) -> Result<bool> {
        let statement = match old {
            Some(old) => sqlx::query(
                "UPDATE settings SET value = $3 WHERE owner = $1 AND name = $2 AND value = $4",
            )
            .bind(self.owner())
            .bind(name.to_string())
            .bind(new)
            .bind(old),
            None => sqlx::query(
                "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
                 ON CONFLICT (owner, name) DO NOTHING",
            )
            .bind(self.owner())
            .bind(name.to_string())
            .bind(new),
        };
        let done = statement
            .execute(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
        Ok(done.rows_affected() > 0)
    }
}
