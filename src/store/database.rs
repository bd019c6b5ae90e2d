//! The handle on the database: the owner of the rows, connections, transactions, and the locks of
//! the process.
//!
//! `engine.rs` has the differences between the databases, and `settings.rs` the rows that Daysheet
//! writes about the state folder itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
use sqlx::{AnyPool, AssertSqlSafe};
use tokio::sync::{Mutex, OnceCell, Semaphore};

use super::engine::locks::{LockSession, ProcessLock};
use super::engine::ready::{ReadyConnections, StatementConnection};
use super::engine::{OPENING, OwnerTransaction, StoreEngine, schema};
use super::keys::master_key::MasterKeys;
use super::unfinished::lines::UnfinishedCalls;
use crate::config::{Config, KeyStore, RetentionDays};

/// The owner of the rows if there is only one person: the user of this machine.
pub const LOCAL: &str = "local";

/// The owner of the rows that belong to no person.
pub const SERVER: &str = "server";

/// The owner in whose name the rows of all owners can be read, to list what exists. In
/// PostgreSQL, no row can be written in this name.
pub const EVERYBODY: &str = "*";

/// The database's file name in the state folder.
const FILE: &str = "daysheet.db";

/// One day, in seconds.
pub(super) const DAY: i64 = 24 * 60 * 60;

/// The interval between attempts to open.
const RETRY: Duration = Duration::from_millis(20);

/// A handle on one person's rows in the store. Clones share one connection pool.
#[derive(Clone)]
pub struct Store {
    owner: Arc<str>,
    pub(super) inner: Arc<StoreInner>,
}

/// The parts that all handles on a database share.
pub(super) struct StoreInner {
    /// The state folder.
    pub(super) home: PathBuf,
    /// The clock of stored times.
    pub(super) clock: Clock,
    /// The retention of rows.
    pub(super) retention: RetentionDays,
    /// The place of the rows.
    pub(super) engine: StoreEngine,
    /// The connections, once the database is open.
    pub(super) pool: OnceCell<AnyPool>,
    /// The connections that have left the pool.
    pub(super) ready: ReadyConnections,
    /// The master keys and their settings.
    pub(super) keys: MasterKeys,
    /// The calls of this process that are writing to the file of the state folder.
    pub(super) unfinished: UnfinishedCalls,
    /// The locks of this process in PostgreSQL.
    locks: Arc<Mutex<LockSession>>,
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
        let keys = MasterKeys::new(config.key_store, config.keys.clone());
        let clock = config.clock.clone();
        Self::over(config.home.clone(), keys, clock, config.retention, engine)
    }

    /// Creates the store in the folder `home`, which may not exist yet, with the encryption key for
    /// tokens in `key_store`.
    pub fn at(home: impl Into<PathBuf>, key_store: KeyStore, clock: Clock) -> Self {
        let keys = MasterKeys::new(key_store, None);
        Self::over(home.into(), keys, clock, RetentionDays::default(), None)
    }

    fn over(
        home: PathBuf,
        keys: MasterKeys,
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
                unfinished: UnfinishedCalls::default(),
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

    /// Returns true if files of the state folder hold data that is kept outside the database. Files
    /// have no owners, so only the user of this machine has some.
    pub(super) fn has_files(&self) -> bool {
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

    /// Returns the pool of connections. The first call opens the database.
    pub(super) async fn pool(&self) -> Result<&AnyPool> {
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
    pub(super) async fn connection(&self) -> Result<StatementConnection> {
        let pool = self.pool().await?;
        if let Some(ready) = self.inner.ready.lease() {
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
    pub(super) async fn writing(&self) -> Result<OwnerTransaction> {
        let pool = self.pool().await?;
        // The turn is awaited before a connection is taken: however much one owner writes at once,
        // they occupy one of the shared connections.
        let turn = tokio::time::timeout(OPENING, self.turn().lock_owned()).await;
        let turn = turn.map_err(|_elapsed| self.broken(&sqlx::Error::PoolTimedOut))?;
        let started = Instant::now();
        loop {
            match self.inner.engine.begin(pool, self.owner()).await {
                Ok(tx) => return Ok(tx.with_turn(turn)),
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

    /// Commits a transaction of [`Store::writing`].
    pub(super) async fn commit(&self, tx: OwnerTransaction) -> Result<()> {
        tx.commit().await.map_err(|error| self.broken(&error))
    }

    /// Takes the lock with this name, unless it is held in this or another process, or its holder
    /// may still act on one that the server lost a moment ago. A name that is used only `once`
    /// leaves no file behind; a `new` one cannot be held yet.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub(super) async fn try_lock(
        &self,
        name: String,
        once: bool,
        new: bool,
    ) -> Result<Option<ProcessLock>> {
        if !self.inner.engine.is_postgres() {
            return ProcessLock::try_file(self.home(), &name, once);
        }
        let store = self.clone();
        // A separate task, because a lock that is dropped half-way would stay taken, unknown to
        // this process.
        let taken = tokio::spawn(async move {
            let started = Instant::now();
            loop {
                let StoreInner { locks, engine, .. } = &*store.inner;
                match ProcessLock::try_name(locks, engine, &name, new).await {
                    Ok(lock) => return Ok(lock),
                    Err(error) => store.retry(&error, started).await?,
                }
            }
        });
        taken.await.map_err(|_ended| Error::new(ErrorKind::Internal, "a lock was not taken"))?
    }

    /// Returns all owners, sorted. Handles are not searched, because each owner who has some also
    /// has counters, which are fewer.
    pub(super) async fn owners(&self) -> Result<Vec<String>> {
        let tables = schema::tables().filter(|table| table.name() != "handles");
        let each: Vec<String> = tables.map(|table| format!("SELECT owner FROM {table}")).collect();
        sqlx::query_scalar(AssertSqlSafe(format!("{} ORDER BY owner", each.join(" UNION "))))
            .fetch_all(&mut *self.for_owner(EVERYBODY).connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }

    /// Returns the version of the schema, if there is one, without changing anything.
    pub(super) async fn version(&self) -> Result<Option<i64>> {
        let engine = &self.inner.engine;
        if !engine.is_postgres() && !self.path().exists() {
            return Ok(None);
        }
        // A pool of its own, as opening the store's would migrate the database.
        let pool = match engine.connect().await {
            Ok(pool) => pool,
            Err(error) => return Err(engine.unconnected(&error).await),
        };
        let version = sqlx::query_scalar("SELECT version FROM schema_version");
        // There is no such table in a new database.
        let version = version.fetch_optional(&pool).await.ok().flatten();
        pool.close().await;
        Ok(version)
    }

    /// Returns the time, in seconds since 1970, up to which rows with this retention in days are
    /// too old.
    pub(super) fn too_old(&self, days: u32) -> i64 {
        self.now() - i64::from(days) * DAY
    }

    /// Explains a database error, with the next step. The explanation never contains bound values.
    pub(super) fn broken(&self, error: &sqlx::Error) -> Error {
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
pub(super) fn numbered(first: usize, count: usize) -> String {
    let all: Vec<String> = (first..first + count).map(|number| format!("${number}")).collect();
    all.join(", ")
}
