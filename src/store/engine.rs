//! The two databases that rows can be in: SQLite in the state folder, and PostgreSQL.
//!
//! sqlx's `Any` driver runs the same statements on both. The differences are here: how a pool of
//! connections is opened, which errors are temporary, and how errors are explained.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{Any, AnyConnection, AnyPool, ConnectOptions, Connection, Transaction};
use tokio::sync::OwnedMutexGuard;
use url::Url;

use super::files;
use crate::config::DatabaseUrl;

pub(super) mod locks;
pub(super) mod ready;
pub(super) mod schema;

/// The time to retry opening while another process creates the file or the server starts, and to
/// wait for a connection.
pub(super) const OPENING: Duration = Duration::from_secs(10);

/// The time to look for the reason if no connection is available.
const LOOK: Duration = Duration::from_secs(2);

/// The time limit for PostgreSQL to answer a statement that waits for no lock. Without a limit on
/// this side, a hanging server or a network that drops all packets would block calls forever.
const ANSWER: Duration = Duration::from_secs(5);

/// The idle time after which a connection is tested before its next use.
const IDLE: Duration = Duration::from_secs(1);

/// The first statement on every connection to SQLite, which limits its cache, in KiB. The default
/// is 2 MB for each of up to five connections, which fill as the file grows, although the system
/// caches the file anyway.
const CACHE: &str = "PRAGMA cache_size = -256";

/// The first statement on every connection to PostgreSQL. Statements wait for other instances as
/// long as they wait for SQLite's lock, and a hanging instance does not hold locks forever.
const SESSION: &str = "SET lock_timeout = '5s'; SET statement_timeout = '60s'; \
                       SET idle_in_transaction_session_timeout = '60s'";

/// The first statement on the connection with an instance's locks. The server notices the loss of a
/// machine within half a minute. No limit on idle sessions (PostgreSQL 14) ends it.
const SESSION_OF_LOCKS: &str = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; \
                                SET tcp_keepalives_count = 3; \
                                SELECT set_config(name, '0', false) FROM pg_settings \
                                WHERE name = 'idle_session_timeout'";

/// The owner whose lock a migration holds. If several instances start at once, one changes the
/// tables, and the others have none left to change.
const SCHEMA: &str = "schema";

/// A transaction of one owner.
pub(super) struct OwnerTransaction {
    transaction: Transaction<'static, Any>,
    /// The owner's turn in this process.
    _turn: Option<OwnedMutexGuard<()>>,
}

impl OwnerTransaction {
    /// Keeps the owner's turn in this process until the transaction ends.
    pub(super) fn with_turn(self, turn: OwnedMutexGuard<()>) -> Self {
        Self { _turn: Some(turn), ..self }
    }

    /// Makes the changes permanent.
    pub(super) async fn commit(self) -> sqlx::Result<()> {
        self.transaction.commit().await
    }
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

/// The place of the rows.
pub(super) enum StoreEngine {
    /// This file.
    Sqlite(PathBuf),
    /// On a server, for any number of instances; each opens at most this many connections.
    Postgres(DatabaseUrl, u32),
}

impl StoreEngine {
    /// Returns true if the rows are on a server.
    pub(super) const fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres(..))
    }

    fn options(&self) -> sqlx::Result<AnyConnectOptions> {
        let options = match self {
            Self::Sqlite(path) => {
                let path = path.as_os_str().as_encoded_bytes();
                let path = percent_encode(path, NON_ALPHANUMERIC);
                let url = Url::parse(&format!("sqlite:{path}?mode=rwc"))
                    .map_err(|error| sqlx::Error::Configuration(error.into()))?;
                AnyConnectOptions::from_url(&url)?
            }
            Self::Postgres(database, _) => AnyConnectOptions::from_url(database.url())?,
        };
        Ok(options.disable_statement_logging())
    }

    /// Returns a pool with one connection, and creates SQLite's file.
    pub(super) async fn connect(&self) -> sqlx::Result<AnyPool> {
        sqlx::any::install_default_drivers();
        let options = self.options()?;
        let pool = AnyPoolOptions::new().acquire_timeout(OPENING);
        match self {
            Self::Sqlite(_) => {
                // A few connections allow reads during a write. The `ready` ones are additional.
                let pool = pool
                    .max_connections(3)
                    // A file does not go away as a server does, and each test would be two
                    // switches between threads.
                    .test_before_acquire(false)
                    // A full disk may have ended a transaction that sqlx still considers
                    // open: such a connection cannot begin another, and is dropped.
                    .before_acquire(|connection, _| {
                        let sound = !connection.is_in_transaction();
                        Box::pin(async move { Ok(sound) })
                    })
                    .after_connect(|connection, _| {
                        Box::pin(async move {
                            // The statement reads the file. If that fails, the next statement
                            // returns the reason; an error here would make the pool retry until its
                            // timeout.
                            drop(sqlx::raw_sql(CACHE).execute(connection).await);
                            Ok(())
                        })
                    })
                    .connect_with(options)
                    .await?;
                // The file stores this for all connections.
                let wal = sqlx::query("PRAGMA journal_mode = WAL").execute(&pool).await;
                match wal {
                    Ok(_done) => Ok(pool),
                    Err(error) => {
                        pool.close().await;
                        Err(error)
                    }
                }
            }
            Self::Postgres(_, connections) => {
                pool.max_connections(*connections)
                    // The first statement of every use also shows whether the connection still
                    // works. In a transaction, that statement has no time limit.
                    .test_before_acquire(false)
                    .before_acquire(|connection, meta| {
                        Box::pin(async move {
                            Ok(meta.idle_for < IDLE || in_time(connection.ping()).await.is_ok())
                        })
                    })
                    .after_connect(|connection, _| {
                        Box::pin(async move {
                            sqlx::raw_sql(SESSION).execute(connection).await.map(|_done| ())
                        })
                    })
                    .connect_with(options)
                    .await
            }
        }
    }

    /// Returns a connection outside of the pool for an instance's locks.
    pub(super) async fn session_of_locks(&self) -> sqlx::Result<AnyConnection> {
        let opening = async {
            let mut connection = AnyConnection::connect_with(&self.options()?).await?;
            sqlx::raw_sql(SESSION_OF_LOCKS).execute(&mut connection).await?;
            Ok(connection)
        };
        tokio::time::timeout(OPENING, opening).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// Creates the state folder and the file of the database, if it has one.
    pub(super) fn prepare(&self, home: &Path) -> Result<()> {
        if let Self::Sqlite(path) = self {
            files::private_folder(home)?;
            // Created here and not by SQLite, so that other users can never read it. SQLite gives
            // its side files (`-wal`, `-shm`) the mode of the main one.
            files::private_file(path)?;
        }
        Ok(())
    }

    /// Returns true for a temporary error: a connection or its server is lost, or another
    /// process has just created the file.
    pub(super) fn passes(&self, error: &sqlx::Error) -> bool {
        match self {
            // The change to WAL mode needs exclusive access to the file, and SQLite does
            // not wait for that by itself.
            Self::Sqlite(_) => matches!(sqlite_code(error), Some(BUSY_CODE | LOCKED_CODE)),
            Self::Postgres(..) => is_lost(error),
        }
    }

    /// Returns true if an operation on a server failed because the connection was lost.
    pub(super) fn lost(&self, error: &sqlx::Error) -> bool {
        self.is_postgres() && is_lost(error)
    }

    /// Makes the rows of `owner`, and no others, visible to the statements that follow.
    pub(super) async fn claim(
        &self,
        connection: &mut AnyConnection,
        owner: &str,
    ) -> sqlx::Result<()> {
        if self.is_postgres() {
            let claim = sqlx::query("SELECT set_config('daysheet.owner', $1, false)").bind(owner);
            in_time(claim.execute(connection)).await?;
        }
        Ok(())
    }

    /// Begins a transaction for the rows of `owner`. Until it ends, no other one can begin for
    /// them.
    pub(super) async fn begin(
        &self,
        pool: &AnyPool,
        owner: &str,
    ) -> sqlx::Result<OwnerTransaction> {
        match self {
            // SQLite's write lock is taken at once, because taking it after reading could
            // fail on a stale read.
            Self::Sqlite(_) => {
                let transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
                Ok(OwnerTransaction { transaction, _turn: None })
            }
            // This lock ends with the transaction, and is named by a hash of the owner. Each
            // statement sees all earlier commits, and thus everything that was done under the lock.
            Self::Postgres(..) => {
                // A separate task, because the transaction must not be dropped half-way, as in a
                // cancelled call: the connection would return to the pool with an open transaction.
                let pool = pool.clone();
                let begun = tokio::spawn(async move { pool.begin().await });
                let mut tx = begun.await.map_err(|_ended| sqlx::Error::WorkerCrashed)??;
                if owner == SCHEMA {
                    // A migration may take long, in this instance or another.
                    sqlx::raw_sql("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
                        .execute(&mut *tx)
                        .await?;
                }
                sqlx::query(
                    "SELECT set_config('daysheet.owner', $1, true), \
                            pg_advisory_xact_lock(hashtextextended($1, 0))",
                )
                .bind(owner)
                .execute(&mut *tx)
                .await?;
                Ok(OwnerTransaction { transaction: tx, _turn: None })
            }
        }
    }

    /// Runs before the last connection is closed.
    pub(super) async fn finish(&self, connection: &mut AnyConnection) {
        if let Self::Sqlite(_) = self {
            let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
            if let Err(error) = checkpoint.execute(connection).await {
                tracing::debug!(%error, "the database was closed without a checkpoint");
            }
        }
    }

    /// Explains why no connection was available, by trying once more: the pool itself reports only
    /// its timeout.
    pub(super) async fn unconnected(&self, error: &sqlx::Error) -> Error {
        if let (Self::Postgres(..), sqlx::Error::PoolTimedOut, Ok(options)) =
            (self, error, self.options())
        {
            let attempt = AnyConnection::connect_with(&options);
            return match tokio::time::timeout(LOOK, attempt).await {
                Ok(Ok(connection)) => {
                    let _ = connection.close().await;
                    self.broken(error)
                }
                Ok(Err(error)) => self.broken(&error),
                Err(_elapsed) => self.explained("does not respond", DOWN),
            };
        }
        self.broken(error)
    }

    /// Explains a database error, with the next step. The explanation never contains bound values.
    pub(super) fn broken(&self, error: &sqlx::Error) -> Error {
        match self {
            Self::Sqlite(_) => self.broken_file(error),
            Self::Postgres(..) => self.broken_server(error),
        }
    }

    fn explained(&self, what: impl std::fmt::Display, next: &str) -> Error {
        Error::new(ErrorKind::Store, format!("{self} {what}")).next(next)
    }

    /// Explains an error of SQLite. Only for a damaged file, it suggests moving the file away:
    /// other errors are temporary, and the file is needed afterwards.
    fn broken_file(&self, error: &sqlx::Error) -> Error {
        if matches!(error, sqlx::Error::PoolTimedOut) {
            return self.explained("was in use for too long", "try again with fewer calls at once");
        }
        // Text that is not UTF-8, or a number in place of text, is never written by our statements.
        if matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) {
            return self.explained("is damaged", RESTORE);
        }
        match sqlite_code(error) {
            Some(BUSY_CODE | LOCKED_CODE | PROTOCOL_CODE) => self.explained(
                "was in use by another process for too long",
                "try again; if it persists, end other Daysheet processes",
            ),
            Some(CORRUPT_CODE | NOT_A_DATABASE_CODE) => self.explained("is damaged", RESTORE),
            Some(READ_ONLY_CODE | CANNOT_OPEN_CODE | PERMISSION_CODE) => self.explained(
                "cannot be opened for writing",
                "check the folder's permissions, or set DAYSHEET_HOME to another folder",
            ),
            Some(FULL_CODE) => Error::new(ErrorKind::Store, format!("the disk of {self} is full"))
                .next("free space and try again"),
            Some(IO_CODE) => self.explained(
                format_args!("could not be read or written ({error})"),
                "free disk space if it is full, and try again",
            ),
            _ => self.explained(format_args!("failed ({error})"), "try again"),
        }
    }

    /// Explains an error of PostgreSQL by its code
    /// (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    fn broken_server(&self, error: &sqlx::Error) -> Error {
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        let (what, next) = match code.as_deref() {
            Some("57P01" | "57P02" | "57P03") => ("is starting or stopping", DOWN),
            Some("53300") => (
                "has no connection left",
                "try again; if it persists, raise its max_connections, or lower \
                 database_connections",
            ),
            Some("28P01" | "28000") => (
                "refuses the user or the password",
                "correct them in DAYSHEET_DATABASE, or the server's pg_hba.conf",
            ),
            Some("3D000") => (
                "does not have this database",
                "create it, or correct its name in DAYSHEET_DATABASE",
            ),
            Some("42501") => (
                "does not give the user the rights it needs",
                "make the user the owner of the database's schema and tables",
            ),
            Some("25006") => ("is read-only", "set DAYSHEET_DATABASE to the primary server"),
            Some("53100") => ("has a full disk", "free space on it and try again"),
            Some("55P03" | "57014" | "40001" | "40P01") => (
                "was in use by another instance for too long",
                "try again; if it persists, look for the instance that holds its locks",
            ),
            Some("XX001" | "XX002") => ("is damaged", "restore it from a backup"),
            Some(code) if code.starts_with("08") => ("has lost the connection", DOWN),
            Some(_) => return self.explained(format_args!("failed ({error})"), "try again"),
            None => match error {
                sqlx::Error::PoolTimedOut => {
                    ("was in use for too long", "try again with fewer calls at once")
                }
                sqlx::Error::Io(error) => {
                    return self
                        .explained(format_args!("does not respond ({})", error.kind()), UNREACHED);
                }
                sqlx::Error::Tls(_) => (
                    "cannot be reached over TLS",
                    "check its certificate, or sslmode and sslrootcert in DAYSHEET_DATABASE",
                ),
                // The error's text may quote the URL, with the password.
                sqlx::Error::Configuration(_) => {
                    ("has an unusable URL", "correct DAYSHEET_DATABASE")
                }
                error if is_lost(error) => ("has lost the connection", DOWN),
                error => return self.explained(format_args!("failed ({error})"), "try again"),
            },
        };
        self.explained(what, next)
    }
}

/// Displays the file's path or the server's address, but never a password.
impl std::fmt::Display for StoreEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => path.display().fmt(f),
            Self::Postgres(database, _) => database.fmt(f),
        }
    }
}

/// The next step if the file is damaged.
const RESTORE: &str = "restore it from a backup, or move it away and sign in again";

const DOWN: &str = "try again; if it persists, check that the server runs and can be reached";
/// The next step if no server is at the address.
const UNREACHED: &str =
    "try again; if it persists, check that the server runs, and its address in DAYSHEET_DATABASE";

/// Limits an operation to [`ANSWER`]. If it takes longer, the connection counts as lost.
async fn in_time<T>(asked: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    let late = |_elapsed| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    tokio::time::timeout(ANSWER, asked).await.map_err(late)?
}

/// Returns true if the connection to a server was lost or could not be established.
fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            code.starts_with("08")
                || matches!(&*code, "57P01" | "57P02" | "57P03" | "57P05" | "25P03")
        }),
        _ => false,
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

/// Returns SQLite's primary result code, which is the low byte of extended ones.
fn sqlite_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
