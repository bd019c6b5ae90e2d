//! Data keys, which seal an owner's secrets. Each is stored sealed with a master key.
//!
//! A settings row of the owner has one line per key, newest first (`data_key.rs`). The newest key
//! seals; all of them can open. The row is read each time, because another process may have
//! replaced or erased it; opening a key takes a microsecond.
//!
//! Texts sealed before data keys existed name the location of the key that sealed them (`f1:`,
//! `k1:`). Once that key is replaced, a line of the same name has it.

use daysheet_core::error::{Error, ErrorKind, Result};

use super::super::cipher::{CipherKey, SealedText, random};
use super::super::database::Store;
use super::super::settings::SettingName;
use super::data_key::{DataKeyLine, DataKeyName, FILE_MARK, KEYCHAIN_MARK, MARK};
use super::master_key::{MasterKey, key_id};

/// The number of attempts if other processes change the row at the same time.
pub(super) const TRIES: usize = 20;

impl Store {
    /// Returns the owner's newest data key with its name, and creates the first one.
    pub(in crate::store) async fn sealing_key(&self) -> Result<(String, CipherKey)> {
        for _ in 0..TRIES {
            let row = self.setting(SettingName::DataKeys).await?;
            let newest = row
                .as_deref()
                .and_then(|row| DataKeyLine::all(row).find(|line| !line.is_old_master()));
            if let Some(line) = newest {
                let strict = self.is_strict();
                let master = if strict {
                    self.any_master(line.master).await?
                } else {
                    self.configured_master(line.master, true).await?
                };
                match master {
                    Some(master) => {
                        let key = line.open(self.owner(), &master);
                        let key = key.ok_or_else(|| self.damaged(line.id))?;
                        return Ok((line.id.to_owned(), key));
                    }
                    None if strict => return Err(self.wrong_master(line.master)),
                    // The key is lost, or the user chose another location. Restoring the key makes
                    // the texts that it sealed readable again.
                    None => {}
                }
            }
            let master = self.master_in_use().await?;
            let (id, value) = self.with_new_key(row.as_deref(), &master)?;
            // If several processes create a key at once, the first one wins.
            if self.swap(SettingName::DataKeys, row.as_deref(), &value).await? {
                tracing::debug!("the data key {id} was created");
                // A replacement of the master key that began meanwhile may have missed this row,
                // and may have dropped the old key already.
                let newest = self.master_in_use().await?;
                let made = DataKeyLine::all(&value).next().filter(|_| !newest.is(&master.name()));
                if let Some(made) = made
                    && let Some(key) = made.open(self.owner(), &master)
                {
                    let anew = self.data_key(made.id).sealed_line(&key, &newest)?;
                    let anew = value.replacen(&made.to_string(), &anew, 1);
                    self.swap(SettingName::DataKeys, Some(&value), &anew).await?;
                }
            }
        }
        Err(self.contended())
    }

    /// Returns the full name of the owner's data key with this short name.
    pub(super) fn data_key<'a>(&'a self, id: &'a str) -> DataKeyName<'a> {
        DataKeyName { owner: self.owner(), id }
    }

    /// Returns the name of a new data key, and the row with it in front.
    pub(super) fn with_new_key(
        &self,
        row: Option<&str>,
        master: &MasterKey,
    ) -> Result<(String, String)> {
        let key: CipherKey = random()?;
        let id = key_id(&key);
        let first = self.data_key(&id).sealed_line(&key, master)?;
        let value = match row {
            Some(row) => format!("{first}\n{row}"),
            None => first,
        };
        Ok((id, value))
    }

    /// Returns the text without its mark, and the candidates for the key that sealed it. There are
    /// no candidates if the mark names no key of the owner.
    pub(in crate::store) async fn opening_keys<'a>(
        &self,
        sealed: &'a SealedText,
    ) -> Result<(Vec<CipherKey>, &'a str)> {
        let (id, text) = match sealed.as_str().strip_prefix(MARK) {
            Some(rest) => rest.split_once(':').unwrap_or_default(),
            None => sealed.as_str().split_at_checked(3).unwrap_or_default(),
        };
        let row = self.setting(SettingName::DataKeys).await?.unwrap_or_default();
        if let Some(line) = DataKeyLine::all(&row).find(|line| line.id == id) {
            let master = self.any_master(line.master).await?;
            let master = master.ok_or_else(|| self.wrong_master(line.master))?;
            let key = line.open(self.owner(), &master).ok_or_else(|| self.damaged(id))?;
            return Ok((vec![key], text));
        }
        let masters = match id {
            FILE_MARK => self.file_masters(false).await?,
            KEYCHAIN_MARK => self.keychain_masters().await?,
            _ => Vec::new(),
        };
        Ok((masters.into_iter().map(|master| master.key).collect(), text))
    }

    /// Returns the error about a data key that its master key does not open.
    pub(super) fn damaged(&self, id: &str) -> Error {
        Error::new(ErrorKind::Store, format!("the data key {id} of {} is damaged", self.owner()))
            .next("restore the database from a backup, or sign in again")
    }

    /// Returns the error about keys that other processes keep changing.
    pub(super) fn contended(&self) -> Error {
        let what =
            format!("the data keys of {} are being changed by other processes", self.owner());
        Error::new(ErrorKind::Store, what).next("try again")
    }
}
