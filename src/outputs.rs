//! Long answers, stored in full for further reading after they were shortened.
//!
//! A process keeps the latest in memory. Older ones, and those of other processes, are produced
//! again by their recipe, or are in the database if the settings enable that. An answer that
//! concerns an account is deleted when the account is signed out, in any process.
//!
//! `outputs/page.rs` and `outputs/grep.rs` read parts of outputs. This module has texts and
//! recipes; the pipeline repeats calls.

pub mod grep;
pub mod page;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use daysheet_core::body;
use daysheet_core::clock::Clock;
use daysheet_core::error::Result;
use daysheet_core::ids::AccountId;
use daysheet_core::text::fence::ALPHABET;
use daysheet_core::text::{LINE, wrapped};
use sha2::{Digest, Sha256};

use crate::accounts::Accounts;
use crate::config::{self, Config};
use crate::store::{OutputRecord, Store};

/// The beginning of the URI of an output; its hash follows.
pub const URI: &str = "daysheet://output/";

/// The length of a hash, in characters.
const HASH: usize = 10;
/// The maximum size of one output, in bytes.
const MAX_OUTPUT: usize = body::MAX_BYTES;
/// The maximum size of all outputs in memory, in bytes.
const ALL: usize = 4 << 20;
/// The space for the line about missing lines, in bytes.
const TELLING: usize = 256;

/// Returns the hash of a text, which is its name as an output.
pub fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .take(HASH)
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 31)))
        .map(|digit| char::from(*digit))
        .collect()
}

/// Returns the hash in an id, which may be an output's URI; `None` for any other text.
pub fn parse_id(id: &str) -> Option<&str> {
    let id = id.trim();
    let id = id.strip_prefix(URI).unwrap_or(id);
    let is_hash = id.len() == HASH && id.bytes().all(|digit| ALPHABET.contains(&digit));
    is_hash.then_some(id)
}

/// The outputs of one store and of this process.
pub struct ResultStore {
    store: Store,
    accounts: Arc<Accounts>,
    disk: bool,
    clock: Clock,
    memory: Mutex<RecentOutputs>,
}

/// The stored form of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredOutput {
    /// The complete text.
    Text(Arc<str>),
    /// The recipe to produce it again.
    Recipe {
        /// The recipe as it was stored.
        recipe: String,
        /// The ids of the accounts that it concerns.
        accounts: Vec<AccountId>,
    },
}

impl ResultStore {
    /// Creates the outputs in `store`; `config` determines how they are kept. Reads nothing yet.
    pub fn new(config: &Config, store: Store, accounts: Arc<Accounts>) -> Self {
        Self {
            store,
            accounts,
            disk: config.outputs == config::OutputStorage::Disk,
            clock: config.clock.clone(),
            memory: Mutex::default(),
        }
    }

    /// Stores a text that concerns these accounts, by their ids, with the recipe to produce it
    /// again; returns its hash.
    ///
    /// A text longer than 1 MiB loses its end, with a note. If the store cannot be written, the
    /// text is kept only in memory.
    pub async fn keep(&self, recipe: &str, text: &str, accounts: &[AccountId]) -> String {
        let hash = hash(text);
        let text = cut_to_limit(text);
        // Unless the settings allow it, no mail is stored on disk, only the recipe.
        let output = OutputRecord {
            recipe: recipe.to_owned(),
            accounts: accounts.to_vec(),
            text: self.disk.then(|| text.to_string()),
        };
        let written = self.store.save_output(&hash, &output).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "an output is kept only in memory");
            // The failed write may still have taken effect.
            true
        });
        self.memory().insert(&hash, text, accounts.to_vec(), self.clock.seconds());
        // An account may have been signed out while the answer was produced. That deleted only
        // existing outputs; outputs in memory are checked again on reading.
        if written
            && let Ok(Some(signed_out)) = self.signed_out(accounts, None).await
            && let Err(error) = self.purge(&signed_out).await
        {
            tracing::debug!(%error, "an output of a removed account remains");
        }
        hash
    }

    /// Returns the hashes of the outputs in this process's memory, the most recently used first.
    pub fn recent(&self) -> Vec<String> {
        let memory = self.memory();
        let mut cached: Vec<_> = memory.cached.iter().collect();
        cached.sort_by_key(|(_, cached)| std::cmp::Reverse(cached.used));
        cached.into_iter().map(|(hash, _)| hash.clone()).collect()
    }

    /// Returns the output with this hash, if it exists.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store) if the store cannot be read.
    pub async fn get(&self, hash: &str) -> Result<Option<StoredOutput>> {
        let cached = self.memory().get(hash);
        if let Some(cached) = cached {
            // Another process may have signed the account out since.
            match self.signed_out(&cached.accounts, Some(cached.since)).await? {
                None => return Ok(Some(StoredOutput::Text(cached.text))),
                Some(account) => self.memory().purge(&account),
            }
        }
        let Some(output) = self.store.output(hash, self.disk).await? else {
            return Ok(None);
        };
        if let Some(account) = self.signed_out(&output.accounts, None).await? {
            self.purge(&account).await?;
            return Ok(None);
        }
        Ok(Some(match output.text {
            Some(text) => {
                let text: Arc<str> = text.into();
                self.memory().insert(hash, text.clone(), output.accounts, self.clock.seconds());
                StoredOutput::Text(text)
            }
            None => StoredOutput::Recipe { recipe: output.recipe, accounts: output.accounts },
        }))
    }

    /// Returns the recipe of the output with this hash, if it exists.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store) if the store cannot be read.
    pub async fn recipe(&self, hash: &str) -> Result<Option<String>> {
        match self.get(hash).await? {
            None => Ok(None),
            Some(StoredOutput::Recipe { recipe, .. }) => Ok(Some(recipe)),
            Some(StoredOutput::Text(_)) => {
                Ok(self.store.output(hash, false).await?.map(|output| output.recipe))
            }
        }
    }

    /// Deletes the outputs that concern this account, in memory and in the store.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store) if the store cannot be written.
    pub async fn purge(&self, account: &AccountId) -> Result<()> {
        self.memory().purge(account);
        self.store.forget_outputs(account).await
    }

    /// Returns one of these accounts that is not signed in, or was signed in again after `since`,
    /// in seconds since 1970.
    async fn signed_out(
        &self,
        accounts: &[AccountId],
        since: Option<i64>,
    ) -> Result<Option<AccountId>> {
        if accounts.is_empty() {
            return Ok(None);
        }
        let there = self.accounts.list_now().await?;
        let is_there = |id: &&AccountId| {
            there.iter().any(|account| {
                account.id == **id && since.is_none_or(|since| account.added.as_second() <= since)
            })
        };
        Ok(accounts.iter().find(|id| !is_there(id)).cloned())
    }

    fn memory(&self) -> MutexGuard<'_, RecentOutputs> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The latest outputs of this process.
#[derive(Default)]
struct RecentOutputs {
    cached: HashMap<String, CachedOutput>,
    bytes: usize,
    /// Counts uses, to find the least recently used output.
    uses: u64,
}

/// An output in memory.
#[derive(Clone)]
struct CachedOutput {
    text: Arc<str>,
    accounts: Vec<AccountId>,
    /// The time of keeping it, in seconds since 1970.
    since: i64,
    used: u64,
}

impl RecentOutputs {
    /// Keeps an output; `since` is the time, in seconds since 1970.
    fn insert(&mut self, hash: &str, text: Arc<str>, accounts: Vec<AccountId>, since: i64) {
        self.uses += 1;
        self.bytes += text.len();
        let cached = CachedOutput { text, accounts, since, used: self.uses };
        if let Some(before) = self.cached.insert(hash.to_owned(), cached) {
            self.bytes -= before.text.len();
        }
        while self.bytes > ALL {
            let oldest = self.cached.iter().min_by_key(|(_, cached)| cached.used);
            let Some(oldest) = oldest.map(|(hash, _)| hash.clone()) else {
                break;
            };
            if let Some(evicted) = self.cached.remove(&oldest) {
                self.bytes -= evicted.text.len();
            }
        }
    }

    fn get(&mut self, hash: &str) -> Option<CachedOutput> {
        self.uses += 1;
        let cached = self.cached.get_mut(hash)?;
        cached.used = self.uses;
        Some(cached.clone())
    }

    fn purge(&mut self, account: &AccountId) {
        self.cached.retain(|_, cached| !cached.accounts.iter().any(|id| id == account));
        self.bytes = self.cached.values().map(|cached| cached.text.len()).sum();
    }
}

/// Returns the text, or as many of its first lines as may be stored with a line about the others.
fn cut_to_limit(text: &str) -> Arc<str> {
    if text.len() <= MAX_OUTPUT {
        return text.into();
    }
    let lines = wrapped(text, LINE);
    let (mut end, mut shown) = (0, 0);
    for line in &lines {
        if end + line.len() > MAX_OUTPUT - TELLING {
            break;
        }
        end += line.len();
        shown += 1;
    }
    let head = text.get(..end).unwrap_or_default();
    let between = if head.ends_with('\n') { "" } else { "\n" };
    format!(
        "{head}{between}[the last {} of {} lines are not kept, {} of {} bytes: ask for less to \
         read them, by limit, fewer ids or a shorter time]",
        lines.len() - shown,
        lines.len(),
        text.len() - end,
        text.len()
    )
    .into()
}
