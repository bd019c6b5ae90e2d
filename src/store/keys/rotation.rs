//! Key rotation: a new master key re-seals all data keys, and on request every owner gets a new
//! data key.
//!
//! It can be interrupted anywhere and repeated, and running processes are not disturbed: the old
//! and the new master key are both available until no data key is sealed with the old one.

use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};

use super::super::cipher::random;
use super::super::database::Store;
use super::super::engine::locks::ProcessLock;
use super::super::secrets::account_identity;
use super::super::settings::SettingName;
use super::data::TRIES;
use super::data_key::{DataKeyLine, FILE_MARK, KEYCHAIN_MARK, MARK};
use super::master_key::{MasterKey, key_id};
use crate::config::GivenKeys;

/// The number of passes to find owners who were added in the meantime.
const PASSES: usize = 5;
/// The interval and number of checks whether another rotation has ended.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 1_200;

/// The outcome of a rotation.
#[derive(Debug, Default)]
pub struct RotationOutcome {
    /// The short name of the new master key.
    pub master: String,
    /// The setting that lists the master keys, if Daysheet does not keep them itself. All but the
    /// newest can be removed from it.
    pub setting: Option<&'static str>,
    /// The number of owners.
    pub owners: usize,
    /// The number of data keys that were re-sealed.
    pub sealed: usize,
    /// The number of accounts whose tokens were re-sealed with a new data key.
    pub accounts: usize,
    /// Owners whose data keys could not be opened, with the reason.
    pub failed: Vec<(String, String)>,
}

impl Store {
    /// Replaces the master key for all owners: with a random one if Daysheet keeps the key itself,
    /// or else with the newest configured one. With `data_keys`, every owner also gets a new data
    /// key, which re-seals the tokens.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if only one key is configured and already seals all, [`ErrorKind::Store`].
    pub async fn rotate_key(&self, data_keys: bool) -> Result<RotationOutcome> {
        let _alone = self.rotate_alone().await?;
        let known = self.masters(true, true).await?;
        let given = self.inner.keys.given.as_ref();
        let alone = given.filter(|_| known.len() < 2);
        let nothing = |given: &GivenKeys| {
            let what =
                format!("{} has only one master key, and nothing to replace it", given.setting());
            Error::new(ErrorKind::Config, what).next(
                "put a new one on a line above it on all instances, restart them, and repeat \
                 this; `daysheet store new-key` prints one",
            )
        };
        match alone {
            // The configured key replaces one that Daysheet kept itself until now, if that is
            // available.
            Some(given) => drop(self.key_in_use().await?.ok_or_else(|| nothing(given))?),
            None if given.is_none() => {
                self.begin_replacing(&known, random()?).await?;
            }
            None => {}
        }
        let masters = self.masters(true, true).await?;
        let newest = masters.first().ok_or_else(|| self.contended())?;
        // From now on, new data keys are sealed with the new master key.
        self.use_master(newest).await?;
        let mut rotated = RotationOutcome {
            master: key_id(&newest.key),
            setting: given.map(GivenKeys::setting),
            ..RotationOutcome::default()
        };
        for pass in 0..PASSES {
            let owners = self.owners().await?;
            rotated.owners = owners.len();
            rotated.failed.clear();
            let mut sealed = 0;
            for owner in &owners {
                let owned = self.for_owner(owner);
                let done = async {
                    sealed += owned.seal_keys_anew(newest).await?;
                    if data_keys && pass == 0 {
                        rotated.accounts += owned.replace_data_key(newest).await?;
                    }
                    Ok::<_, Error>(())
                };
                if let Err(error) = done.await {
                    rotated.failed.push((owner.clone(), error.to_string()));
                }
            }
            rotated.sealed += sealed;
            // A pass without changes has seen all owners, including those of other processes.
            if sealed == 0 {
                break;
            }
        }
        if let Some(given) = alone
            && rotated.sealed == 0
            && rotated.failed.is_empty()
            && !data_keys
        {
            return Err(nothing(given));
        }
        // The old key is dropped last, and only if no data key needs it any more.
        if rotated.setting.is_none() && rotated.failed.is_empty() {
            self.end_replacing(newest).await?;
            self.masters(true, true).await?;
        }
        Ok(rotated)
    }

    /// Waits until no other process replaces the master key. If two did so at once, one would drop
    /// the key with which the other one seals.
    async fn rotate_alone(&self) -> Result<ProcessLock> {
        for _ in 0..LOOKS {
            if let Some(lock) = self.try_lock("rotate-key".to_owned(), false, false).await? {
                return Ok(lock);
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(Error::new(ErrorKind::Conflict, "another process is replacing the master key")
            .next("repeat this when it has ended"))
    }

    /// Adds the keys that sealed the owner's old texts directly to the data keys, if such texts
    /// exist.
    pub(in crate::store) async fn seal_old_keys(&self) -> Result<()> {
        let old = [FILE_MARK, KEYCHAIN_MARK];
        for mark in old {
            if self.has_sealed(mark).await? {
                let master = self.master_in_use().await?;
                return self.seal_keys_anew(&master).await.map(|_sealed| ());
            }
        }
        Ok(())
    }

    /// Seals the owner's data keys with `master`, including the keys that sealed old texts
    /// directly. Returns the number of keys that this re-sealed.
    async fn seal_keys_anew(&self, master: &MasterKey) -> Result<usize> {
        for _ in 0..TRIES {
            let row = self.setting(SettingName::DataKeys).await?;
            let mut lines = Vec::new();
            let mut sealed = 0;
            for old in DataKeyLine::all(row.as_deref().unwrap_or_default()) {
                if master.is(old.master) {
                    lines.push(old.to_string());
                    continue;
                }
                let its = self.any_master(old.master).await?;
                let its = its.ok_or_else(|| self.wrong_master(old.master))?;
                let key = old.open(self.owner(), &its).ok_or_else(|| self.damaged(old.id))?;
                lines.push(self.data_key(old.id).sealed_line(&key, master)?);
                sealed += 1;
            }
            for mark in [FILE_MARK, KEYCHAIN_MARK] {
                let known = lines.iter().any(|line| line.starts_with(mark));
                if known || !self.has_sealed(mark).await? {
                    continue;
                }
                let masters = match mark {
                    FILE_MARK => self.file_masters(false).await?,
                    _ => self.keychain_masters().await?,
                };
                // The oldest key, as newer ones never sealed texts directly.
                if let Some(old) = masters.last() {
                    lines.push(self.data_key(mark).sealed_line(&old.key, master)?);
                    sealed += 1;
                }
            }
            if sealed == 0
                || self.swap(SettingName::DataKeys, row.as_deref(), &lines.join("\n")).await?
            {
                return Ok(sealed);
            }
        }
        Err(self.contended())
    }

    /// Gives the owner a new data key, drops old ones without texts, and re-seals the accounts'
    /// tokens. Other texts follow when they are next written. Returns the number of accounts.
    async fn replace_data_key(&self, master: &MasterKey) -> Result<usize> {
        let Some(row) = self.setting(SettingName::DataKeys).await? else {
            return Ok(0);
        };
        let mut kept = Vec::new();
        for (nth, line) in DataKeyLine::all(&row).enumerate() {
            let mark = if line.is_old_master() {
                line.id.to_owned()
            } else {
                format!("{MARK}{}:", line.id)
            };
            // A text that was just sealed with the newest key may not be stored yet.
            if nth == 0 || self.has_sealed(&mark).await? {
                kept.push(line.to_string());
            }
        }
        let (_id, value) = self.with_new_key(Some(&kept.join("\n")), master)?;
        if !self.swap(SettingName::DataKeys, Some(&row), &value).await? {
            return Err(self.contended());
        }
        let mut sealed = 0;
        for account in self.account_rows().await? {
            let identity = account_identity(&account.id);
            let tokens = self.unseal(&identity, &account.sealed).await?;
            let anew = self.seal(&identity, &tokens).await?;
            // Tokens refreshed in the meantime are already sealed with the new key.
            let done = sqlx::query(
                "UPDATE accounts SET sealed = $3 WHERE owner = $1 AND id = $2 AND sealed = $4",
            )
            .bind(self.owner())
            .bind(account.id.as_str())
            .bind(anew.as_str())
            .bind(account.sealed.as_str())
            .execute(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
            sealed += usize::from(done.rows_affected() > 0);
        }
        Ok(sealed)
    }

    /// Returns true if a text of the owner has this key's mark.
    async fn has_sealed(&self, mark: &str) -> Result<bool> {
        let count: i64 = sqlx::query_scalar(
            "SELECT (SELECT COUNT(*) FROM accounts WHERE owner = $1 AND sealed LIKE $2) \
                  + (SELECT COUNT(*) FROM outputs WHERE owner = $1 AND body LIKE $2) \
                  + (SELECT COUNT(*) FROM undos WHERE owner = $1 AND state LIKE $3)",
        )
        .bind(self.owner())
        .bind(format!("{mark}%"))
        .bind(format!("%\"{mark}%"))
        .fetch_one(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(count > 0)
    }
}
