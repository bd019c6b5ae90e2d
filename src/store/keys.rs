//! The location of the key that seals secrets: the system's keychain, or a file.
//!
//! The location is chosen once, at the first secret, and recorded in the database. From
//! then on a missing key is an error with the way to get it back, and never a reason to
//! create a new one: a new key would make the existing tokens permanently unreadable.
//!
//! Several processes may choose at once. The first one creates the key file (`O_EXCL`);
//! a keychain entry is written under a random name and counts only if its name is the
//! one in the database.
//!
//! `keychain.rs` accesses the keychain.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use tokio::sync::OnceCell;

use super::files::{advice, private_folder, private_options, tighten};
use super::random::{Key, random};
use super::{Store, keychain};
use crate::config::KeyStore;
use crate::error::{Error, Kind, Result};

/// The key file's name in the state folder.
const FILE: &str = "key";
/// How often, and at which interval, a key file that another process is writing is checked.
const LOOKS: u32 = 50;
const LOOK: Duration = Duration::from_millis(20);

/// The settings row with the location: `file`, or `keychain:` and the entry's name.
const CHOICE: &str = "key_store";
const KEYCHAIN: &str = "keychain:";

/// The keys of one store once they were read.
#[derive(Default)]
pub(super) struct Keys {
    file: OnceCell<Key>,
    keychain: OnceCell<Key>,
}

/// A location of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyLocation {
    File,
    Keychain,
}

impl KeyLocation {
    /// Returns the prefix of sealed texts, which names their key. The number is the
    /// version of the form that follows.
    pub(super) const fn mark(self) -> &'static str {
        match self {
            Self::File => "f1:",
            Self::Keychain => "k1:",
        }
    }

    /// Returns the location that a sealed text names, and the text without its prefix.
    pub(super) fn of(sealed: &str) -> Option<(Self, &str)> {
        [Self::File, Self::Keychain]
            .into_iter()
            .find_map(|place| Some((place, sealed.strip_prefix(place.mark())?)))
    }
}

impl Store {
    /// Returns the key for new secrets, and its location. Chooses the location and
    /// creates the key if there is none yet.
    pub(super) async fn sealing_key(&self) -> Result<(KeyLocation, Key)> {
        if self.inner.key_store == KeyStore::File {
            return Ok((KeyLocation::File, self.file_key(true).await?));
        }
        // Twice, because a choice may turn out to be void; see below.
        for _ in 0..2 {
            let choice = match self.setting(CHOICE).await? {
                Some(choice) => choice,
                None => self.choose().await?,
            };
            let Some(entry) = choice.strip_prefix(KEYCHAIN) else {
                return Ok((KeyLocation::File, self.file_key(true).await?));
            };
            if let Some(key) = self.keychain_key(entry).await? {
                return Ok((KeyLocation::Keychain, key));
            }
            // Somebody cleared the keychain. If nothing was sealed with that key,
            // nothing is lost with it.
            if self.has_sealed(KeyLocation::Keychain.mark()).await? {
                break;
            }
            self.undecide(CHOICE, &choice).await?;
        }
        Err(missing_entry())
    }

    /// Returns the key that something was sealed with.
    pub(super) async fn opening_key(&self, place: KeyLocation) -> Result<Key> {
        match place {
            KeyLocation::File => self.file_key(false).await,
            KeyLocation::Keychain => {
                let choice = self.setting(CHOICE).await?;
                match choice.as_deref().and_then(|it| it.strip_prefix(KEYCHAIN)) {
                    Some(entry) => self.keychain_key(entry).await?.ok_or_else(missing_entry),
                    None => Err(missing_entry()),
                }
            }
        }
    }

    /// Chooses the location of the key: the keychain if it passes a write and a read,
    /// else the file. Returns the recorded one, which may be another process's choice.
    async fn choose(&self) -> Result<String> {
        let entry = URL_SAFE_NO_PAD.encode(random::<12>()?);
        let key: Key = random()?;
        match keychain::create(&entry, key).await {
            Ok(()) => {
                let mine = format!("{KEYCHAIN}{entry}");
                let chosen = self.decide(CHOICE, &mine).await?;
                if chosen != mine {
                    keychain::forget(&entry).await;
                }
                Ok(chosen)
            }
            Err(why) => {
                tracing::info!("no keychain, so the key is kept in a file: {why}");
                self.decide(CHOICE, "file").await
            }
        }
    }

    /// Returns the key in the keychain; `None` if the keychain responds but no longer has it.
    async fn keychain_key(&self, entry: &str) -> Result<Option<Key>> {
        let known = &self.inner.keys.keychain;
        if let Some(key) = known.get() {
            return Ok(Some(*key));
        }
        match keychain::read(entry).await {
            Ok(Some(key)) => Ok(Some(*known.get_or_init(|| async { key }).await)),
            Ok(None) => Ok(None),
            Err(why) => Err(Error::new(
                Kind::Store,
                format!("the key in the system's keychain cannot be read ({why})"),
            )
            .next(
                "unlock the keychain and try again, or set DAYSHEET_KEY_STORE=file and sign in \
                 again",
            )),
        }
    }

    /// Returns the key in the key file. `may_create` allows creating the file, which is
    /// never done while something is sealed with its former key.
    async fn file_key(&self, may_create: bool) -> Result<Key> {
        self.inner
            .keys
            .file
            .get_or_try_init(|| async {
                let path = self.inner.home.join(FILE);
                if !path.exists() {
                    if !may_create || self.has_sealed(KeyLocation::File.mark()).await? {
                        return Err(Error::new(
                            Kind::Store,
                            format!("the key file {} is missing", path.display()),
                        )
                        .next(
                            "restore it from a backup, or remove the accounts with `daysheet \
                             account remove` and sign in again",
                        ));
                    }
                    private_folder(&self.inner.home)?;
                    create_key_file(&path).map_err(|error| unusable(&path, &error))?;
                }
                read_key_file(&path).await
            })
            .await
            .copied()
    }
}

fn missing_entry() -> Error {
    Error::new(Kind::Store, "the key is no longer in the system's keychain")
        .next("restore it, or remove the accounts with `daysheet account remove` and sign in again")
}

/// Writes a new key, unless another process was faster: then theirs counts.
fn create_key_file(path: &Path) -> io::Result<()> {
    let key: Key = random().map_err(|error| io::Error::other(error.to_string()))?;
    let mut file = match private_options().create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    };
    let written = file
        .write_all(format!("{}\n", STANDARD.encode(key)).as_bytes())
        // On disk before the first token is sealed with it.
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // A partial key, as on a full disk, would block a complete one.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Reads the key file. An incomplete one is looked at again for a while, since
/// another process may have created it a moment ago.
async fn read_key_file(path: &PathBuf) -> Result<Key> {
    for _ in 0..LOOKS {
        let text = std::fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
        let key = STANDARD.decode(text.trim_end()).ok();
        if let Some(key) = key.and_then(|bytes| Key::try_from(bytes).ok()) {
            tighten(path).map_err(|error| unusable(path, &error))?;
            return Ok(key);
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(Error::new(Kind::Store, format!("the key file {} has no key", path.display()))
        .next("restore it from a backup, or move it away and sign in again"))
}

fn unusable(path: &Path, error: &io::Error) -> Error {
    Error::new(Kind::Store, format!("the key file {} cannot be used ({error})", path.display()))
        .next(advice(error))
}
