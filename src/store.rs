//! Data that must survive a restart: handles, cursors, digests of displayed events, the recipes of
//! long answers, the journal of sent messages, the earlier states of changed messages, signatures,
//! accounts with their encrypted tokens, a few settings of the state folder itself, and the audit
//! log next to it.
//!
//! One SQLite file, `daysheet.db` in the state folder, shared by every Daysheet process of the
//! user (a client starts one per window); or a database of PostgreSQL, shared by the instances
//! of a server. [`Store`] is a cheap handle; the database is created or opened at the first
//! query, so a process that makes none touches no disk.
//!
//! The statements are plain SQL with `$1` parameters, `ON CONFLICT` and integer or text
//! columns, so they run on both unchanged. The differences are in `engine.rs`: how a
//! connection is opened, how a writing transaction begins, and how a database's error is
//! explained. Every row has an owner, the person whose data it is: a [`Store`]
//! reads and writes the rows of one, and [`Store::for_owner`] gives another's.
//!
//! Each file below adds its own methods to [`Store`]. This one has opening, migrating
//! and the settings rows.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use engine::ready::{ReadyConnections, StatementConnection};
use engine::{OPENING, StoreEngine};
use sqlx::{Any, AnyConnection, AnyPool, Transaction};
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard, Semaphore};

use crate::config::{Config, KeyStore, RetentionDays};

pub mod accounts;
mod audit;
mod cursors;
mod engine;
mod files;
pub mod handles;
mod keys;
mod maintenance;
mod outputs;
mod person;
mod random;
mod schema;
mod secrets;
mod seen;
pub mod sends;
mod signatures;
mod tickets;
mod undos;
mod unfinished;
mod usage;

pub use accounts::{AccountRow, UnapprovedAddresses};
pub use audit::AuditLine;
pub use handles::HandleKind;
pub use keys::RotationOutcome;
pub use maintenance::{CheckFindings, TransferOutcome};
pub use outputs::OutputRecord;
pub use secrets::{account_identity, new_key};
pub use unfinished::{CutOff, WritingCall};

/// The owner of the rows if there is only one person: the user of this machine.
pub const LOCAL: &str = "local";

/// The owner of the rows that belong to no person.
pub const SERVER: &str = "server";

/// The owner in whose name the rows of all owners can be read, to list what exists. In
/// PostgreSQL, no row can be written in this name.
pub const EVERYBODY: &str = "*";

/// The database's file name in the state folder.
const FILE: &str = "daysheet.db";

/// The interval between attempts to open.
const RETRY: Duration = Duration::from_millis(20);

/// The time that closing may wait for other users of the file.
const CLOSING: Duration = Duration::from_secs(2);

/// A transaction of one owner.
struct OwnerTransaction {
    transaction: Transaction<'static, Any>,
    /// The owner's turn in this process.
    _turn: Option<OwnedMutexGuard<()>>,
}

impl Deref for OwnerTransaction {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.transaction
    }
}

impl DerefMut for OwnerTransaction {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }
}

/// A handle on one person's rows in the store. Clones share one connection pool.
#[derive(Clone)]
pub struct Store {
    owner: Arc<str>,
    inner: Arc<StoreInner>,
}

struct StoreInner {
    home: PathBuf,
    clock: Clock,
    retention: RetentionDays,
    engine: StoreEngine,
    pool: OnceCell<AnyPool>,
    ready: ReadyConnections,
    keys: keys::MasterKeys,
    unfinished: unfinished::UnfinishedCalls,
    locks: Arc<Mutex<engine::locks::LockSession>>,
    /// The turn of each owner who is writing.
    turns: std::sync::Mutex<HashMap<Arc<str>, Weak<Mutex<()>>>>,
    /// The permit to find out why no connection was available, one attempt at a time.
    looking: Semaphore,
}

impl Store {
    /// Creates the store in the state folder of `config`, without opening anything.
    pub fn new(config: &Config) -> Self {
        let connections = u32::try_from(config.database_connections).unwrap_or(u32::MAX);
        let database = config.database.clone();
        let engine = database.map(|database| StoreEngine::Postgres(database, connections));
        let keys = keys::MasterKeys::new(config.key_store, config.keys.clone());
        let clock = config.clock.clone();
        Self::over(config.home.clone(), keys, clock, config.retention, engine)
    }

    /// Creates the store in the folder `home`, which may not exist yet, with the encryption key for
    /// tokens in `key_store`.
    pub fn at(home: impl Into<PathBuf>, key_store: KeyStore, clock: Clock) -> Self {
        let keys = keys::MasterKeys::new(key_store, None);
        Self::over(home.into(), keys, clock, RetentionDays::default(), None)
    }

    fn over(
        home: PathBuf,
        keys: keys::MasterKeys,
        clock: Clock,
        retention: RetentionDays,
        engine: Option<StoreEngine>,
    ) -> Self {
        let engine = engine.unwrap_or_else(|| StoreEngine::Sqlite(home.join(FILE)));
        Self {
            owner: LOCAL.into(),
            inner: Arc::new(StoreInner {
                home,
                clock,
                retention,
                engine,
                pool: OnceCell::new(),
                ready: ReadyConnections::default(),
                keys,
                unfinished: unfinished::UnfinishedCalls::default(),
                locks: Arc::default(),
                turns: std::sync::Mutex::default(),
                looking: Semaphore::new(1),
            }),
        }
    }

    /// Returns the rows of `owner` in the same database: everything that the handle reads or
    /// writes is theirs. A person whom the database has not seen yet has no rows.
    #[must_use]
    pub fn for_owner(&self, owner: &str) -> Self {
        Self { owner: owner.into(), inner: self.inner.clone() }
    }

    /// Returns the current time in seconds since 1970, as in stored times.
    pub(crate) fn now(&self) -> i64 {
        self.inner.clock.seconds()
    }

    /// Returns the owner of these rows.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns true if `other` has the same rows: of the same owner, in the same database.
    pub fn is(&self, other: &Self) -> bool {
        self.owner == other.owner && Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Returns the state folder.
    pub fn home(&self) -> &Path {
        &self.inner.home
    }

    /// Returns true if data that needs no database is in files of the state folder. It is for the
    /// user of this machine, whose rows are there, too, because files have no owners.
    fn has_files(&self) -> bool {
        !self.inner.engine.is_postgres() && self.owner() == LOCAL
    }

    /// Returns the path of the database file, whether or not it exists yet.
    pub fn path(&self) -> PathBuf {
        self.inner.home.join(FILE)
    }

    /// Opens the database unless it is open, creating and migrating it as needed. Any
    /// query does this by itself; callers may use it to check that it works.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the folder or file cannot be used, is damaged, or was written
    /// by a newer Daysheet.
    pub async fn open(&self) -> Result<()> {
        self.pool().await.map(|_pool| ())
    }

    /// Closes the database permanently, at the end of the process. The content of the write-ahead
    /// log is moved into the file itself, as far as other processes allow.
    pub async fn close(&self) {
        let Some(pool) = self.inner.pool.get() else {
            return;
        };
        let closing = async {
            match self.connection().await {
                Ok(mut connection) => {
                    if let Err(error) = self.purge_undos(&mut connection).await {
                        tracing::debug!(%error, "old states were not deleted");
                    }
                    self.inner.engine.finish(&mut connection).await;
                }
                Err(error) => tracing::debug!(%error, "the database was closed as it is"),
            }
            self.inner.ready.close().await;
            pool.close().await;
        };
        // A checkpoint is not required: SQLite reads the write-ahead log at the next opening.
        if tokio::time::timeout(CLOSING, closing).await.is_err() {
            tracing::debug!("the database is in use and was not closed");
        }
    }

    async fn pool(&self) -> Result<&AnyPool> {
        self.inner.pool.get_or_try_init(|| async { self.connect().await }).await
    }

    async fn connect(&self) -> Result<AnyPool> {
        let engine = &self.inner.engine;
        engine.prepare(&self.inner.home)?;
        let started = Instant::now();
        loop {
            match engine.connect().await {
                Ok(pool) => match schema::migrate(&pool, engine).await {
                    Ok(()) => return Ok(pool),
                    Err(error) => {
                        pool.close().await;
                        return Err(error);
                    }
                },
                Err(error) if engine.passes(&error) && started.elapsed() < OPENING => {
                    tokio::time::sleep(RETRY).await;
                }
                Err(error) => return Err(self.unconnected(&error).await),
            }
        }
    }

    /// Returns a connection for statements about the owner's rows. Dropping it returns it.
    async fn connection(&self) -> Result<StatementConnection> {
        let pool = self.pool().await?;
        if let Some(ready) = self.inner.ready.take() {
            return Ok(ready);
        }
        let started = Instant::now();
        loop {
            let failed = match pool.acquire().await {
                Ok(mut connection) => {
                    match self.inner.engine.claim(&mut connection, self.owner()).await {
                        // Only SQLite's connections leave the pool, to avoid its tests; see
                        // `ready.rs`.
                        Ok(()) if self.inner.engine.is_postgres() => {
                            return Ok(StatementConnection::Pooled(connection));
                        }
                        Ok(()) => return Ok(self.inner.ready.lend(connection).await),
                        Err(error) => {
                            // After a failed claim, the connection may still show another owner's
                            // rows.
                            connection.close_on_drop();
                            error
                        }
                    }
                }
                Err(error) => error,
            };
            self.retry(&failed, started).await?;
        }
    }

    /// Begins a transaction that will write. The transactions of an owner run one after another, so
    /// that the data one has read stays true until it has written.
    async fn writing(&self) -> Result<OwnerTransaction> {
        let pool = self.pool().await?;
        // The turn is awaited before a connection is taken: however much one owner writes at once,
        // they occupy one of the shared connections.
        let turn = tokio::time::timeout(OPENING, self.turn().lock_owned()).await;
        let turn = turn.map_err(|_elapsed| self.broken(&sqlx::Error::PoolTimedOut))?;
        let started = Instant::now();
        loop {
            match self.inner.engine.begin(pool, self.owner()).await {
                Ok(tx) => return Ok(OwnerTransaction { _turn: Some(turn), ..tx }),
                Err(error) => self.retry(&error, started).await?,
            }
        }
    }

    fn turn(&self) -> Arc<Mutex<()>> {
        let mut turns = self.inner.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(&self.owner).and_then(Weak::upgrade) {
            return turn;
        }
        // Owners come and go on a server: unused turns would add up.
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(self.owner.clone(), Arc::downgrade(&turn));
        turn
    }

    /// Waits a moment if an operation failed before it began and may succeed now.
    async fn retry(&self, failed: &sqlx::Error, started: Instant) -> Result<()> {
        if !self.inner.engine.lost(failed) || started.elapsed() > OPENING {
            return Err(self.unconnected(failed).await);
        }
        tokio::time::sleep(RETRY).await;
        Ok(())
    }

    /// Explains why no connection was available. One call at a time looks for the reason, because
    /// that takes a connection outside of the pool.
    async fn unconnected(&self, failed: &sqlx::Error) -> Error {
        match self.inner.looking.try_acquire() {
            Ok(_looking) => self.inner.engine.unconnected(failed).await,
            Err(_) => self.broken(failed),
        }
    }

    async fn commit(&self, tx: OwnerTransaction) -> Result<()> {
        tx.transaction.commit().await.map_err(|error| self.broken(&error))
    }

    /// Returns the value stored under `name`, if any. Settings rows hold what Daysheet
    /// decided once for this state folder; `config.rs` has the user's settings.
    async fn setting(&self, name: &str) -> Result<Option<String>> {
        sqlx::query_scalar("SELECT value FROM settings WHERE owner = $1 AND name = $2")
            .bind(self.owner())
            .bind(name)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }

    /// Stores `value` under `name`, replacing an existing value.
    async fn set_setting(&self, name: &str, value: &str) -> Result<()> {
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
    async fn decide(&self, name: &str, value: &str) -> Result<String> {
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
    async fn undecide(&self, name: &str, value: &str) -> Result<()> {
        sqlx::query("DELETE FROM settings WHERE owner = $1 AND name = $2 AND value = $3")
            .bind(self.owner())
            .bind(name)
            .bind(value)
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Explains a database error, with the next step. The explanation never contains bound values.
    fn broken(&self, error: &sqlx::Error) -> Error {
        // The thread of a ready connection has ended, and all of its later statements would fail.
        if matches!(error, sqlx::Error::WorkerCrashed) {
            drop(self.inner.ready.forget());
        }
        self.inner.engine.broken(error)
    }
}

/// Shows where the store is, never its content.
impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.inner.engine.to_string()).finish()
    }
}

/// Returns the parameters `$first` and so on, between commas.
fn numbered(first: usize, count: usize) -> String {
    let all: Vec<String> = (first..first + count).map(|number| format!("${number}")).collect();
    all.join(", ")
}
