//! Master keys from all sources. They seal only data keys.
//!
//! A source lists its keys, newest first. One of them is in use, and is named in a row of the owner
//! `server`, so that an instance with other keys notices before it seals anything with them. The
//! others open data that has not been re-sealed yet.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};

use super::super::cipher::CipherKey;
use super::super::database::{SERVER, Store};
use super::super::settings::SettingName;
use super::master_key::{MasterKey, MasterKeySource, key_id};
use crate::config::{GivenKeys, KeyStore};

/// The next step if instances have different keys.
const SHARE: &str = "give all instances the same key: set keys.file, keys.value or keys.command; \
                     `daysheet store new-key` prints one";
/// The time limit of a command that prints keys.
const LIMIT: Duration = Duration::from_secs(30);

impl Store {
    /// Checks that the master key in use is available, before serving. Creates the first one if
    /// Daysheet keeps it itself. A configured key is in use only from the first secret on: until
    /// then, a wrong one can be corrected.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] or [`ErrorKind::Config`], with the next step.
    pub async fn check_keys(&self) -> Result<()> {
        match self.inner.keys.given {
            Some(_) => self.compare_keys().await,
            None => self.master_in_use().await.map(|_master| ()),
        }
    }

    /// Checks that the master key in use is available, if there is one yet, without changing
    /// anything.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] or [`ErrorKind::Config`], with the next step.
    pub async fn compare_keys(&self) -> Result<()> {
        self.key_in_use().await.map(drop)
    }

    /// Returns the short name and place of the master key in use, if there is one yet, after the
    /// check of [`Store::compare_keys`].
    pub(in crate::store) async fn key_in_use(&self) -> Result<Option<String>> {
        let given = self.inner.keys.given.as_ref().map(GivenKeys::setting);
        let Some(name) = self.for_owner(SERVER).setting(SettingName::MasterKey).await? else {
            // Without a key in use there is nothing to compare, but an unreadable source is an
            // error already.
            if given.is_some() {
                self.masters(false, false).await?;
            }
            return Ok(None);
        };
        let master = self.any_master(&name).await?.ok_or_else(|| self.wrong_master(&name))?;
        let own = match master.place {
            MasterKeySource::Given => None,
            MasterKeySource::File => Some(self.key_path().display().to_string()),
            MasterKeySource::Keychain => Some("the system's keychain".to_owned()),
        };
        let id = key_id(&master.key);
        Ok(Some(match (own, given) {
            (Some(own), Some(given)) => format!(
                "{id}, in {own}; `daysheet store rotate-key` puts that of {given} in its place"
            ),
            (own, given) => format!("{id}, in {}", own.as_deref().or(given).unwrap_or_default()),
        }))
    }

    /// Returns the configured keys, newest first. `again` reads them from their source even if they
    /// are known, and `create` allows creating the first one.
    pub(super) async fn masters(&self, again: bool, create: bool) -> Result<Arc<[MasterKey]>> {
        // The lock is held while reading, so that concurrent calls run a command only once.
        let mut read = self.inner.keys.read.lock().await;
        if let Some(known) = read.as_ref().filter(|_| !again) {
            return Ok(known.clone());
        }
        let given = |keys: Vec<CipherKey>| {
            keys.into_iter().map(|key| MasterKey { place: MasterKeySource::Given, key }).collect()
        };
        let masters: Vec<MasterKey> = match (&self.inner.keys.given, read.as_ref()) {
            (None, _) if self.inner.engine.is_postgres() => self.shared_masters(create).await?,
            (None, _) => self.own_masters(create).await?,
            // A command is not run again: it may be slow, or ask a person.
            (Some(GivenKeys::Command(_)), Some(known)) => known.to_vec(),
            (Some(GivenKeys::Command(words)), None) => given(run(words).await?),
            (Some(GivenKeys::Value(keys)), _) => given(keys.clone()),
            (Some(GivenKeys::File(path)), _) => {
                let text = tokio::fs::read_to_string(path).await.map_err(|error| {
                    unread(&format!("the file {} cannot be read ({error})", path.display()))
                })?;
                given(GivenKeys::parse(&text).ok_or_else(|| {
                    unread(&format!("the file {} contains something else", path.display()))
                })?)
            }
        };
        Ok(read.insert(masters.into()).clone())
    }

    /// Returns the key with this name if it is configured; `create` as for [`Store::masters`].
    pub(super) async fn configured_master(
        &self,
        name: &str,
        create: bool,
    ) -> Result<Option<MasterKey>> {
        // A key that is missing among the known ones may have been added to the file since.
        for again in [false, true] {
            let masters = self.masters(again, create).await?;
            if let Some(master) = masters.iter().find(|master| master.is(name)) {
                return Ok(Some(master.clone()));
            }
        }
        Ok(None)
    }

    /// Returns the key with this name from any place.
    pub(super) async fn any_master(&self, name: &str) -> Result<Option<MasterKey>> {
        // An error of the place in the name, below, is more precise than one of the configured
        // source.
        if let Ok(Some(master)) = self.configured_master(name, false).await {
            return Ok(Some(master));
        }
        let masters = match name.chars().next() {
            Some('f') if self.inner.keys.given.is_some() => {
                self.file_masters(false).await.unwrap_or_default()
            }
            Some('f') => self.file_masters(false).await?,
            Some('k') => self.keychain_masters().await?,
            _ => self.masters(false, false).await?.to_vec(),
        };
        Ok(masters.into_iter().find(|master| master.is(name)))
    }

    /// Returns the master key in use. If Daysheet keeps its keys itself and no longer has it, the
    /// newest key replaces it.
    pub(super) async fn master_in_use(&self) -> Result<MasterKey> {
        let masters = self.masters(false, true).await?;
        let newest = masters.first().ok_or_else(|| unread("no key is set"))?;
        let server = self.for_owner(SERVER);
        let name = match server.setting(SettingName::MasterKey).await? {
            Some(name) => name,
            // The first of several instances decides, and the others compare their keys with its
            // choice.
            None => server.decide(SettingName::MasterKey, &newest.name()).await?,
        };
        if self.is_strict() {
            return self.any_master(&name).await?.ok_or_else(|| self.wrong_master(&name));
        }
        if let Some(master) = self.configured_master(&name, true).await? {
            return Ok(master);
        }
        server.set_setting(SettingName::MasterKey, &newest.name()).await?;
        Ok(newest.clone())
    }

    /// Returns the keys in the key file if instances may share a database. They have to share the
    /// file, too, and none of them creates another.
    async fn shared_masters(&self, create: bool) -> Result<Vec<MasterKey>> {
        if self.inner.keys.store != KeyStore::File {
            let what = "instances that share a database need to share its master key";
            return Err(Error::new(ErrorKind::Config, what).next(SHARE));
        }
        let first = self.for_owner(SERVER).setting(SettingName::MasterKey).await?.is_none();
        self.file_masters(create && first).await
    }

    /// Returns true if the master key in use must not be replaced automatically.
    pub(super) fn is_strict(&self) -> bool {
        self.inner.keys.given.is_some() || self.inner.engine.is_postgres()
    }

    /// Makes `master` the one in use.
    pub(super) async fn use_master(&self, master: &MasterKey) -> Result<()> {
        self.for_owner(SERVER).set_setting(SettingName::MasterKey, &master.name()).await
    }

    /// Returns the error about a master key that is in use but not available.
    pub(super) fn wrong_master(&self, name: &str) -> Error {
        let id = name.split_once('-').map_or(name, |(_, id)| id);
        let next = match &self.inner.keys.given {
            Some(given) => format!(
                "correct {}; to replace the old key with a new one, list the old key on a line \
                 below the new one and run `daysheet store rotate-key`",
                given.setting()
            ),
            None if self.inner.engine.is_postgres() => SHARE.to_owned(),
            None => "restore it, or sign in again with `daysheet account add`".to_owned(),
        };
        Error::new(
            ErrorKind::Store,
            format!("the master key {id} of this database is not available"),
        )
        .next(next)
    }
}

fn unread(why: &str) -> Error {
    Error::new(ErrorKind::Config, format!("no master key was read: {why}"))
        .next("a key is 32 bytes in Base64; `daysheet store new-key` prints one")
}

/// Runs the command that prints the keys. Its output is never shown.
async fn run(words: &[String]) -> Result<Vec<CipherKey>> {
    let (program, arguments) = words.split_first().ok_or_else(|| unread("no command is named"))?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let next = "run it in a terminal to see why, and set the full path of the program";
    let output = tokio::time::timeout(LIMIT, command.output()).await.map_err(|_elapsed| {
        let limit = LIMIT.as_secs();
        Error::new(ErrorKind::Timeout, format!("keys.command took longer than {limit} seconds"))
            .next(next)
    })?;
    let output = output.map_err(|error| {
        let why = format!("keys.command could not be started ({})", error.kind());
        Error::new(ErrorKind::Config, why).next(next)
    })?;
    if !output.status.success() {
        let why = format!("keys.command failed ({})", output.status);
        return Err(Error::new(ErrorKind::Config, why).next(next));
    }
    let keys = String::from_utf8(output.stdout).ok().and_then(|text| GivenKeys::parse(&text));
    keys.ok_or_else(|| unread("keys.command printed something else"))
}
