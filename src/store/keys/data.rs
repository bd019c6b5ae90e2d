//! Data keys, which seal an owner's secrets. Each is stored sealed with a master key.
//!
//! A settings row of the owner has one line per key, newest first: the key's short name, the name
//! of its master key, and the sealed key. The newest key seals; all of them can open. The row is
//! read each time, because another process may have replaced or erased it; opening a key takes a
//! microsecond.
//!
//! Texts sealed before data keys existed name the location of the key that sealed them (`f1:`,
//! `k1:`). Once that key is replaced, a line of the same name has it.

use std::fmt;

use daysheet_core::error::{Error, ErrorKind, Result};

use super::super::random::{CipherKey, random};
use super::super::secrets::{decrypt, encrypt};
use super::super::{EVERYBODY, Store};
use super::master::{MasterKey, MasterKeySource, key_id};

/// The settings row with an owner's data keys.
pub(in crate::store) const DATA_KEYS: &str = "data_keys";
/// The number of attempts if other processes change the row at the same time.
pub(super) const TRIES: usize = 20;

/// One line of the row: a data key.
#[derive(Clone, Copy)]
pub(super) struct DataKeyLine<'a> {
    pub(super) id: &'a str,
    pub(super) master: &'a str,
    sealed: &'a str,
}

impl<'a> DataKeyLine<'a> {
    /// Reads the lines of a row.
    pub(super) fn all(row: &'a str) -> impl Iterator<Item = Self> {
        row.lines().filter_map(|line| {
            let mut words = line.split(' ');
            Some(Self { id: words.next()?, master: words.next()?, sealed: words.next()? })
        })
    }

    /// Returns true for a key that is kept only for old texts.
    pub(super) fn is_old_master(self) -> bool {
        self.id.ends_with("1:")
    }

    /// Opens the key with its master key.
    pub(super) fn open(self, owner: &str, master: &MasterKey) -> Option<CipherKey> {
        decrypt(&master.key, &bound(owner, self.id), self.sealed)?.try_into().ok()
    }
}

impl fmt::Display for DataKeyLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.id, self.master, self.sealed)
    }
}

/// Returns the line of a key, sealed with `master`.
pub(super) fn line(owner: &str, id: &str, key: &CipherKey, master: &MasterKey) -> Result<String> {
    let sealed = encrypt(&master.key, &bound(owner, id), key)?;
    Ok(format!("{id} {} {sealed}", master.name()))
}

/// Returns the name that a sealed data key is bound to.
fn bound(owner: &str, id: &str) -> String {
    format!("data key {id} of {owner}")
}

impl Store {
    /// Returns the owner's newest data key with its name, and creates the first one.
    pub(in crate::store) async fn sealing_key(&self) -> Result<(String, CipherKey)> {
        for _ in 0..TRIES {
            let row = self.setting(DATA_KEYS).await?;
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
            if self.swap(DATA_KEYS, row.as_deref(), &value).await? {
                tracing::debug!("the data key {id} was created");
                // A replacement of the master key that began meanwhile may have missed this row,
                // and may have dropped the old key already.
                let newest = self.master_in_use().await?;
                let made = DataKeyLine::all(&value).next().filter(|_| !newest.is(&master.name()));
                if let Some(made) = made
                    && let Some(key) = made.open(self.owner(), &master)
                {
                    let anew = line(self.owner(), made.id, &key, &newest)?;
                    let anew = value.replacen(&made.to_string(), &anew, 1);
                    self.swap(DATA_KEYS, Some(&value), &anew).await?;
                }
            }
        }
        Err(self.contended())
    }

    /// Returns the name of a new data key, and the row with it in front.
    pub(super) fn with_new_key(
        &self,
        row: Option<&str>,
        master: &MasterKey,
    ) -> Result<(String, String)> {
        let key: CipherKey = random()?;
        let id = key_id(&key);
        let first = line(self.owner(), &id, &key, master)?;
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
        sealed: &'a str,
    ) -> Result<(Vec<CipherKey>, &'a str)> {
        let (id, text) = match sealed.strip_prefix(MARK) {
            Some(rest) => rest.split_once(':').unwrap_or_default(),
            None => sealed.split_at_checked(3).unwrap_or_default(),
        };
        let row = self.setting(DATA_KEYS).await?.unwrap_or_default();
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

    /// Returns true if an account cannot be used without a key of this place.
    pub(super) async fn needs_key(&self, place: MasterKeySource) -> Result<bool> {
        let initial = place.initial();
        let everybody = self.for_owner(EVERYBODY);
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM accounts WHERE sealed LIKE $1 OR (sealed LIKE $2 AND EXISTS \
             (SELECT 1 FROM settings WHERE settings.owner = accounts.owner \
              AND settings.name = $3 AND settings.value LIKE $4))",
        )
        .bind(format!("{initial}1:%"))
        .bind(format!("{MARK}%"))
        .bind(DATA_KEYS)
        .bind(format!("% {initial}-%"))
        .fetch_one(&mut *everybody.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(count > 0)
    }

    /// Replaces the setting `old`, or its absence, with `new`. Returns false without a change if
    /// the setting has another value.
    pub(in crate::store) async fn swap(
        &self,
        name: &str,
        old: Option<&str>,
        new: &str,
    ) -> Result<bool> {
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

    pub(super) fn damaged(&self, id: &str) -> Error {
        Error::new(ErrorKind::Store, format!("the data key {id} of {} is damaged", self.owner()))
            .next("restore the database from a backup, or sign in again")
    }

    pub(super) fn contended(&self) -> Error {
        let what =
            format!("the data keys of {} are being changed by other processes", self.owner());
        Error::new(ErrorKind::Store, what).next("try again")
    }
}

/// The prefix of texts sealed with a data key; the key's name and a colon follow.
pub(in crate::store) const MARK: &str = "d1:";
/// The marks of texts sealed directly with one of Daysheet's own keys, by place.
pub(super) const FILE_MARK: &str = "f1:";
pub(super) const KEYCHAIN_MARK: &str = "k1:";
