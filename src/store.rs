//! The data that must survive a restart: handles, cursors, what was shown of events,
//! the recipes of long answers, the journal of sent messages, the earlier states of
//! changed messages, signatures, accounts with their encrypted tokens, and a few small
//! settings of the state folder itself; and the audit log beside it.
//!
//! One SQLite file, `daysheet.db` in the state folder, shared by every Daysheet process of the
//! user (a client starts one per window). [`Store`] is a cheap handle; the file is created or
//! opened at the first query, so a process that makes none touches no disk.
//!
//! The statements are plain SQL with `$1` parameters, `ON CONFLICT` and integer or text
//! columns, so that they run on PostgreSQL unchanged. All differences are in this file:
//! how a connection is opened, how a writing transaction begins, and how a database's
//! error is explained. Every row has an owner, the person whose data it is: a [`Store`]
//! reads and writes the rows of one, and [`Store::for_owner`] gives another's.
//!
//! Each file below adds its own methods to [`Store`]. This one has opening, migrating
//! and the settings rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use sqlx::{ConnectOptions, Connection, Sqlite, SqlitePool, Transaction};
use tokio::sync::OnceCell;

use crate::config::{Config, KeyStore};
use crate::error::{Error, Kind, Result};

pub mod accounts;
mod audit;
mod cursors;
mod files;
pub mod handles;
mod keychain;
mod keys;
mod outputs;
mod random;
mod schema;
mod secrets;
mod seen;
pub mod sends;
mod signatures;
mod tickets;
mod undos;
mod unfinished;

pub use accounts::AccountRow;
pub use handles::HandleKind;
pub use outputs::Output;
pub use unfinished::{CutOff, Writing};

/// The owner of the rows where there is only one person: the user of this machine.
pub const LOCAL: &str = "local";

/// The database's file name in the state folder.
const FILE: &str = "daysheet.db";

/// How long a statement waits for another process to finish writing.
const BUSY: Duration = Duration::from_secs(5);

/// How long opening is retried while another process creates the file.
const OPENING: Duration = Duration::from_secs(10);

/// How long closing waits for other users of the file.
const CLOSING: Duration = Duration::from_secs(2);

/// A handle on one person's rows in the store. Clones share one connection pool.
#[derive(Clone)]
pub struct Store {
    owner: Arc<str>,
    inner: Arc<Inner>,
}

struct Inner {
    home: PathBuf,
    key_store: KeyStore,
    pool: OnceCell<SqlitePool>,
    keys: keys::Keys,
    unfinished: unfinished::Unfinished,
}

impl Store {
    /// Creates the store in the state folder of `config`. Opens nothing yet.
    pub fn new(config: &Config) -> Self {
        Self::at(&config.home, config.key_store)
    }

    /// Creates the store in the folder `home`, which need not exist yet, with the key
    /// that encrypts tokens in `key_store`.
    pub fn at(home: impl Into<PathBuf>, key_store: KeyStore) -> Self {
        Self {
            owner: LOCAL.into(),
            inner: Arc::new(Inner {
                home: home.into(),
                key_store,
                pool: OnceCell::new(),
                keys: keys::Keys::default(),
                unfinished: unfinished::Unfinished::default(),
            }),
        }
    }

    /// Returns the rows of `owner` in the same database: everything that the handle reads or
    /// writes is theirs. A person whom the database has not seen yet has no rows.
    #[must_use]
    pub fn for_owner(&self, owner: &str) -> Self {
        Self { owner: owner.into(), inner: self.inner.clone() }
    }

    /// Returns whose rows these are.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns the state folder.
    pub fn home(&self) -> &Path {
        &self.inner.home
    }

    /// Returns the path of the database file, whether or not it exists yet.
    pub fn path(&self) -> PathBuf {
        self.inner.home.join(FILE)
    }

    /// Opens the database unless it is open, creating and migrating it as needed. Any
    /// query does this by itself; callers may use it to check that it works.
    ///
    /// # Errors
    /// [`Kind::Store`] if the folder or file cannot be used, is damaged, or was written
    /// by a newer Daysheet.
    pub async fn open(&self) -> Result<()> {
        self.pool().await.map(|_pool| ())
    }

    /// Closes the database permanently, at the end of the process: the content of its write-ahead
    /// log is moved into the file itself, as far as other processes allow it.
    pub async fn close(&self) {
        let Some(pool) = self.inner.pool.get() else {
            return;
        };
        let closing = async {
            if let Err(error) = self.purge_undos(pool).await {
                tracing::debug!(%error, "old states were not deleted");
            }
            let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
            if let Err(error) = checkpoint.execute(pool).await {
                tracing::debug!(%error, "the database was closed without a checkpoint");
            }
            pool.close().await;
        };
        if tokio::time::timeout(CLOSING, closing).await.is_err() {
            tracing::debug!("the database is in use and was not closed");
        }
    }

    async fn pool(&self) -> Result<&SqlitePool> {
        self.inner.pool.get_or_try_init(|| async { self.connect().await }).await
    }

    async fn connect(&self) -> Result<SqlitePool> {
        files::private_folder(&self.inner.home)?;
        let path = self.path();
        // Created by us and not by SQLite, so that nobody else can ever read it.
        // SQLite gives its side files (-wal, -shm) the mode of the main one.
        files::private_file(&path)?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .busy_timeout(BUSY)
            .journal_mode(SqliteJournalMode::Wal)
            .disable_statement_logging();
        let started = std::time::Instant::now();
        loop {
            // A few connections: reads run beside a write, and no more.
            let pool = SqlitePoolOptions::new()
                .max_connections(4)
                .acquire_timeout(OPENING)
                // A full disk may have ended a transaction that sqlx still takes for
                // open: such a connection can begin no other, and is dropped.
                .before_acquire(|connection, _| {
                    let sound = !connection.is_in_transaction();
                    Box::pin(async move { Ok(sound) })
                });
            let opened = match pool.connect_with(options.clone()).await {
                Ok(pool) => match schema::migrate(&pool, self).await {
                    Ok(()) => Ok(pool),
                    Err(error) => {
                        pool.close().await;
                        return Err(error);
                    }
                },
                Err(error) => Err(error),
            };
            match opened {
                Ok(pool) => return Ok(pool),
                // The change to WAL mode needs the file for itself, and SQLite
                // does not apply its own waiting to it.
                Err(error) if is_busy(&error) && started.elapsed() < OPENING => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    /// Begins a transaction that will write. It takes SQLite's write lock at once,
    /// because taking it after reading could fail on a stale read.
    async fn writing(&self) -> Result<Transaction<'static, Sqlite>> {
        self.pool().await?.begin_with("BEGIN IMMEDIATE").await.map_err(|error| self.broken(&error))
    }

    async fn commit(&self, transaction: Transaction<'static, Sqlite>) -> Result<()> {
        transaction.commit().await.map_err(|error| self.broken(&error))
    }

    /// Returns the value stored under `name`, if any. Settings rows hold what Daysheet
    /// decided once for this state folder; `config.rs` has the user's settings.
    async fn setting(&self, name: &str) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT value FROM settings WHERE owner = $1 AND name = $2")
            .bind(self.owner())
            .bind(name)
            .fetch_optional(self.pool().await?)
            .await
            .map_err(|error| self.broken(&error))
    }

    /// Stores `value` under `name` in place of what is there.
    async fn set_setting(&self, name: &str, value: &str) -> Result<()> {
        sqlx::query(
            "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value",
        )
        .bind(self.owner())
        .bind(name)
        .bind(value)
        .execute(self.pool().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Stores `value` under `name` unless there is one already, and returns the stored
    /// one. Of several processes that decide at once, all get the first one's decision.
    async fn decide(&self, name: &str, value: &str) -> Result<String> {
        sqlx::query(
            "INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (owner, name) DO NOTHING",
        )
        .bind(self.owner())
        .bind(name)
        .bind(value)
        .execute(self.pool().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        self.setting(name)
            .await?
            .ok_or_else(|| Error::new(Kind::Store, format!("the setting {name} was not stored")))
    }

    /// Forgets the decision `value` kept under `name`; a newer one stays.
    async fn undecide(&self, name: &str, value: &str) -> Result<()> {
        sqlx::query("DELETE FROM settings WHERE owner = $1 AND name = $2 AND value = $3")
            .bind(self.owner())
            .bind(name)
            .bind(value)
            .execute(self.pool().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Explains a database error, with the next step. Bound values are never part of
    /// it. Only a damaged file is ever to be moved away: all other errors are
    /// temporary, and the file is needed afterwards.
    fn broken(&self, error: &sqlx::Error) -> Error {
        let path = self.path();
        let path = path.display();
        let busy = matches!(error, sqlx::Error::PoolTimedOut);
        let (message, next) = match sqlite_code(error) {
            Some(BUSY_CODE | LOCKED_CODE | PROTOCOL_CODE) => (
                format!("{path} is in use by another process for too long"),
                "try again; if it persists, end other Daysheet processes",
            ),
            _ if busy => {
                (format!("{path} is in use for too long"), "try again with fewer calls at once")
            }
            Some(CORRUPT_CODE | NOT_A_DATABASE_CODE) => (
                format!("{path} is damaged"),
                "restore it from a backup, or move it away and sign in again",
            ),
            Some(READ_ONLY_CODE | CANNOT_OPEN_CODE | PERMISSION_CODE) => (
                format!("{path} cannot be opened for writing"),
                "check the folder's permissions, or set DAYSHEET_HOME to another",
            ),
            Some(FULL_CODE) => (format!("the disk of {path} is full"), "free space and try again"),
            Some(IO_CODE) => (
                format!("{path} could not be read or written ({error})"),
                "free disk space if it is full, and try again",
            ),
            _ => (format!("{path} failed ({error})"), "try again"),
        };
        Error::new(Kind::Store, message).next(next)
    }
}

/// Shows the path of the store, never its content.
impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.inner.home).finish()
    }
}

// SQLite's primary result codes (https://sqlite.org/rescode.html).
const PERMISSION_CODE: u32 = 3;
const BUSY_CODE: u32 = 5;
const LOCKED_CODE: u32 = 6;
const READ_ONLY_CODE: u32 = 8;
const IO_CODE: u32 = 10;
const CORRUPT_CODE: u32 = 11;
const FULL_CODE: u32 = 13;
const CANNOT_OPEN_CODE: u32 = 14;
const PROTOCOL_CODE: u32 = 15;
const NOT_A_DATABASE_CODE: u32 = 26;

/// Returns SQLite's primary result code; the extended ones have it in their low byte.
fn sqlite_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

fn is_busy(error: &sqlx::Error) -> bool {
    matches!(sqlite_code(error), Some(BUSY_CODE | LOCKED_CODE))
}

/// Returns the current time in seconds since 1970, as in stored times.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}
