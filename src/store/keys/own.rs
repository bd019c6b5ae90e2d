//! The master keys that Daysheet keeps itself: in the system's keychain, or in a file.
//!
//! The location is chosen once, for the first secret, and recorded in the database. After
//! that, a missing key is an error that says how to restore it, and never a reason to create
//! a new one: a new key would make the existing tokens permanently unreadable.
//!
//! Several processes may choose at once. The first one creates the key file (`O_EXCL`);
//! a keychain entry is written under a random name and counts only if its name is the
//! one in the database. While a key is being replaced, the file has two lines and the choice
//! two names, the new key first, so that every process can open what either key has sealed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use daysheet_core::error::{Error, ErrorKind, Result};

use super::super::cipher::{CipherKey, random};
use super::super::database::{EVERYBODY, LOCAL, Store};
use super::super::files::{advice, private_folder, private_options, tighten};
use super::super::settings::SettingName;
use super::data_key::MARK;
use super::keychain;
use super::master_key::{MasterKey, MasterKeySource};
use crate::config::{GivenKeys, KeyStore};

/// The key file's name in the state folder.
const FILE: &str = "key";
/// The number and interval of attempts to read a key file that another process is writing.
const LOOKS: u32 = 50;
const LOOK: Duration = Duration::from_millis(20);

/// The location in the settings row is `file`, or this and the entries' names.
const KEYCHAIN: &str = "keychain:";

impl Store {
    /// Returns the keys at the configured location. With `create`, chooses the location and creates
    /// a key if necessary.
    pub(super) async fn own_masters(&self, create: bool) -> Result<Vec<MasterKey>> {
        if self.inner.keys.store == KeyStore::File {
            return self.file_masters(create).await;
        }
        // The loop runs twice, because a choice may turn out to be invalid; see below.
        for _ in 0..2 {
            let choice = match self.choice().await? {
                Some(choice) => choice,
                None if create => self.choose().await?,
                None => return self.file_masters(false).await,
            };
            let Some(entries) = choice.strip_prefix(KEYCHAIN) else {
                return self.file_masters(create).await;
            };
            if let Some(masters) = read_entries(entries).await? {
                return Ok(masters);
            }
            // The keychain was cleared. If that key sealed nothing, nothing is lost.
            if !create || self.needs_key(MasterKeySource::Keychain).await? {
                break;
            }
            self.for_owner(LOCAL).undecide(SettingName::KeyStore, &choice).await?;
        }
        Err(missing_entry())
    }

    /// Returns the recorded location, which all owners of a state folder share.
    async fn choice(&self) -> Result<Option<String>> {
        self.for_owner(LOCAL).setting(SettingName::KeyStore).await
    }

    /// Returns the keys in the keychain, if that is the location.
    pub(super) async fn keychain_masters(&self) -> Result<Vec<MasterKey>> {
        let choice = self.choice().await?;
        match choice.as_deref().and_then(|it| it.strip_prefix(KEYCHAIN)) {
            Some(entries) => read_entries(entries).await?.ok_or_else(missing_entry),
            None => Err(missing_entry()),
        }
    }

    /// Chooses the location of the key: the keychain if it passes a write and a read, or else the
    /// file. Returns the recorded one, which may be another process's choice.
    async fn choose(&self) -> Result<String> {
        let local = self.for_owner(LOCAL);
        let entry = URL_SAFE_NO_PAD.encode(random::<12>()?);
        let key: CipherKey = random()?;
        // The entry is written before the choice is recorded, so that a recorded one always exists.
        match keychain::create(&entry, key).await {
            Ok(()) => {
                let mine = format!("{KEYCHAIN}{entry}");
                let chosen = local.decide(SettingName::KeyStore, &mine).await?;
                if chosen != mine {
                    keychain::forget(&entry).await;
                }
                Ok(chosen)
            }
            Err(why) => {
                tracing::info!("no keychain, so the key is kept in a file: {why}");
                local.decide(SettingName::KeyStore, "file").await
            }
        }
    }

    /// Returns the path of the key file.
    pub(super) fn key_path(&self) -> PathBuf {
        self.inner.home.join(FILE)
    }

    /// Returns the keys in the key file. With `create`, creates the file, but never while data is
    /// sealed with its former key.
    pub(super) async fn file_masters(&self, create: bool) -> Result<Vec<MasterKey>> {
        let path = self.key_path();
        if !path.exists() {
            if !create || self.needs_key(MasterKeySource::File).await? {
                return Err(Error::new(
                    ErrorKind::Store,
                    format!("the key file {} is missing", path.display()),
                )
                .next(
                    "restore it from a backup, or remove the accounts with `daysheet account \
                     remove` and sign in again",
                ));
            }
            private_folder(&self.inner.home)?;
            create_key_file(&path).map_err(|error| unusable(&path, &error))?;
        }
        let keys = read_key_file(&path).await?;
        Ok(keys.into_iter().map(|key| MasterKey { place: MasterKeySource::File, key }).collect())
    }

    /// Returns true if an account cannot be used without a key of this place.
    async fn needs_key(&self, place: MasterKeySource) -> Result<bool> {
        let initial = place.initial();
        let everybody = self.for_owner(EVERYBODY);
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM accounts WHERE sealed LIKE $1 OR (sealed LIKE $2 AND EXISTS \
             (SELECT 1 FROM settings WHERE settings.owner = accounts.owner \
              AND settings.name = $3 AND settings.value LIKE $4))",
        )
        .bind(format!("{initial}1:%"))
        .bind(format!("{MARK}%"))
        .bind(SettingName::DataKeys.to_string())
        .bind(format!("% {initial}-%"))
        .fetch_one(&mut *everybody.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(count > 0)
    }

    /// Makes `new` the newest key of the location, and keeps the old one after it. Returns false
    /// without a change if there are several keys already, because a replacement was interrupted.
    pub(super) async fn begin_replacing(
        &self,
        masters: &[MasterKey],
        new: CipherKey,
    ) -> Result<bool> {
        if masters.len() > 1 {
            return Ok(false);
        }
        match self.choice().await? {
            Some(choice)
                if masters.iter().all(|master| master.place == MasterKeySource::Keychain) =>
            {
                let old = choice.strip_prefix(KEYCHAIN).unwrap_or_default();
                let entry = URL_SAFE_NO_PAD.encode(random::<12>()?);
                keychain::create(&entry, new).await.map_err(|why| locked(&why))?;
                let both = format!("{KEYCHAIN}{entry},{old}");
                let mine =
                    self.for_owner(LOCAL).swap(SettingName::KeyStore, Some(&choice), &both).await?;
                if !mine {
                    keychain::forget(&entry).await;
                }
                Ok(mine)
            }
            _ => {
                self.rewrite_key_file(|keys| match keys {
                    [old] => Some(vec![new, *old]),
                    _ => None,
                })
                .await
            }
        }
    }

    /// Drops all keys of the location except `new`, if it is still the newest.
    pub(super) async fn end_replacing(&self, new: &MasterKey) -> Result<()> {
        if new.place == MasterKeySource::File {
            return self
                .rewrite_key_file(|keys| match keys {
                    [first, _, ..] if *first == new.key => Some(vec![new.key]),
                    _ => None,
                })
                .await
                .map(|_changed| ());
        }
        let choice = self.choice().await?.unwrap_or_default();
        let entries = choice.strip_prefix(KEYCHAIN).and_then(|it| it.split_once(','));
        let Some((entry, old)) = entries else {
            return Ok(());
        };
        let alone = format!("{KEYCHAIN}{entry}");
        // The recorded choice changes first: an interruption leaves unused entries, never missing
        // ones.
        if self.for_owner(LOCAL).swap(SettingName::KeyStore, Some(&choice), &alone).await? {
            for entry in old.split(',') {
                keychain::forget(entry).await;
            }
        }
        Ok(())
    }

    /// Replaces the keys in the key file with the result of `change`, if any. Only one process does
    /// this at a time.
    async fn rewrite_key_file(
        &self,
        change: impl FnOnce(&[CipherKey]) -> Option<Vec<CipherKey>>,
    ) -> Result<bool> {
        let path = self.key_path();
        // The transaction keeps other processes from replacing the file at the same time.
        let lock = self.writing().await?;
        let Some(keys) = change(&read_key_file(&path).await?) else {
            return Ok(false);
        };
        let lines: String = keys.iter().map(|key| format!("{}\n", STANDARD.encode(key))).collect();
        let replaced = tempfile::NamedTempFile::new_in(&self.inner.home).and_then(|mut file| {
            file.write_all(lines.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)
        });
        replaced.map_err(|error| unusable(&path, &error))?;
        self.commit(lock).await?;
        Ok(true)
    }
}

/// Returns the keys of the keychain's entries with these names, or `None` if the keychain responds
/// but no longer has them.
async fn read_entries(entries: &str) -> Result<Option<Vec<MasterKey>>> {
    let mut masters = Vec::new();
    for entry in entries.split(',') {
        match keychain::read(entry).await.map_err(|why| locked(&why))? {
            Some(key) => masters.push(MasterKey { place: MasterKeySource::Keychain, key }),
            None => return Ok(None),
        }
    }
    Ok(Some(masters))
}

fn locked(why: &str) -> Error {
    Error::new(ErrorKind::Store, format!("the key in the system's keychain cannot be read ({why})"))
        .next("unlock the keychain and try again, or set DAYSHEET_KEY_STORE=file and sign in again")
}

fn missing_entry() -> Error {
    Error::new(ErrorKind::Store, "the key is no longer in the system's keychain")
        .next("restore it, or remove the accounts with `daysheet account remove` and sign in again")
}

/// Writes a new key, unless another process has already written one.
fn create_key_file(path: &Path) -> io::Result<()> {
    let key: CipherKey = random().map_err(|error| io::Error::other(error.to_string()))?;
    let mut file = match private_options().create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    };
    let written = file
        .write_all(format!("{}\n", STANDARD.encode(key)).as_bytes())
        // The key has to be on disk before the first token is sealed with it.
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // A partial key, as on a full disk, would block a complete one.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Reads the key file. An incomplete one is read again for a while, as another process may just
/// have created it.
async fn read_key_file(path: &Path) -> Result<Vec<CipherKey>> {
    for _ in 0..LOOKS {
        let text = std::fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
        if let Some(keys) = GivenKeys::parse(&text) {
            tighten(path).map_err(|error| unusable(path, &error))?;
            return Ok(keys);
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(Error::new(ErrorKind::Store, format!("the key file {} has no key", path.display()))
        .next("restore it from a backup, or move it away and sign in again"))
}

fn unusable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        ErrorKind::Store,
        format!("the key file {} cannot be used ({error})", path.display()),
    )
    .next(advice(error))
}
