//! Named locks that end with the process, however it ends, so that another process notices at once.
//!
//! With SQLite, each lock is a locked file in the state folder. In PostgreSQL, a session on a
//! separate connection has all locks of an instance, and the server releases them when the
//! connection breaks.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use daysheet_core::error::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use sqlx::AnyConnection;
use tokio::sync::Mutex;

use super::super::{Store, files};
use super::{StoreEngine, in_time};

/// The folder of the files, in the state folder.
const FOLDER: &str = "locks";
/// The time after a broken connection during which no lock is taken that another process may have
/// had. Its holder continues without knowing of the break, and nearly all refreshes end within this
/// time. A longer time would fail calls that need a token, which have 15 seconds.
const QUIET: Duration = Duration::from_secs(5);
/// The schema is a part of the name, because databases may share a server's locks. The seed keeps
/// the names apart from owners, whose transactions have locks, too.
const TAKE: &str =
    "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ' ' || $1, 1))";
const RELEASE: &str =
    "SELECT pg_advisory_unlock(hashtextextended(current_schema() || ' ' || $1, 1))";

/// The locks of this process in PostgreSQL.
#[derive(Debug, Default)]
pub(in crate::store) struct LockSession {
    connection: Option<AnyConnection>,
    held: HashSet<String>,
    /// The end of the time in which only new names are taken. Set at the first connection.
    quiet: Option<Instant>,
}

/// A lock, which is held until it is dropped.
#[derive(Debug)]
pub struct ProcessLock(HeldLock);

#[derive(Debug)]
enum HeldLock {
    /// The locked file, and its path if its name is used only once.
    File {
        _locked: File,
        once: Option<PathBuf>,
    },
    Name(Arc<Mutex<LockSession>>, String),
}

impl Store {
    /// Takes the lock with this name, unless it is held in this or another process, or its holder
    /// may still act on one that the server lost a moment ago. A name that is used only `once`
    /// leaves no file behind; a `new` one cannot be held yet.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub(in crate::store) async fn try_lock(
        &self,
        name: String,
        once: bool,
        new: bool,
    ) -> Result<Option<ProcessLock>> {
        if !self.inner.engine.is_postgres() {
            return self.lock_file(&name, once);
        }
        let store = self.clone();
        // A separate task, because a lock that is dropped half-way would stay taken, unknown to
        // this process.
        let taken = tokio::spawn(async move {
            let started = Instant::now();
            loop {
                let locks = &store.inner.locks;
                let taken = locks.lock().await.take(&store.inner.engine, &name, new).await;
                match taken {
                    Ok(true) => return Ok(Some(ProcessLock(HeldLock::Name(locks.clone(), name)))),
                    Ok(false) => return Ok(None),
                    Err(error) => store.retry(&error, started).await?,
                }
            }
        });
        taken.await.map_err(|_ended| Error::new(ErrorKind::Internal, "a lock was not taken"))?
    }

    fn lock_file(&self, name: &str, once: bool) -> Result<Option<ProcessLock>> {
        let folder = self.home().join(FOLDER);
        files::private_folder(&folder)?;
        // Names contain addresses, which may be too long for a file name or hold characters it
        // cannot have.
        let digest = Sha256::digest(name);
        let path = folder
            .join(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>());
        let unusable = |error: std::io::Error| {
            let what = format!("{} cannot be locked ({error})", path.display());
            Error::new(ErrorKind::Store, what).next(files::advice(&error))
        };
        let file = files::private_options().create(true).truncate(false).open(&path);
        let file = file.map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {
                Ok(Some(ProcessLock(HeldLock::File { _locked: file, once: once.then_some(path) })))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }
}

impl LockSession {
    /// Takes a lock. Returns false if it is held already.
    async fn take(&mut self, engine: &StoreEngine, name: &str, new: bool) -> sqlx::Result<bool> {
        // PostgreSQL grants a session its own locks repeatedly.
        if self.held.contains(name) {
            return Ok(false);
        }
        let taken = self.ask(engine, name, new).await;
        match taken {
            Ok(true) => {
                self.held.insert(name.to_owned());
            }
            Ok(false) => {}
            // The state of a failed connection is unknown; the next call opens another one.
            Err(_) => self.connection = None,
        }
        taken
    }

    async fn ask(&mut self, engine: &StoreEngine, name: &str, new: bool) -> sqlx::Result<bool> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let mut connection = engine.session_of_locks().await?;
                // Locks that ended with the last connection, unless others have taken them by now.
                for held in &self.held {
                    query(&mut connection, TAKE, held).await?;
                }
                // At the first connection of a process there are no earlier locks to wait for.
                let now = Instant::now();
                self.quiet = Some(self.quiet.map_or(now, |_| now + QUIET));
                self.connection.insert(connection)
            }
        };
        if !new && self.quiet.is_some_and(|until| Instant::now() < until) {
            return Ok(false);
        }
        query(connection, TAKE, name).await
    }
}

async fn query(
    connection: &mut AnyConnection,
    sql: &'static str,
    name: &str,
) -> sqlx::Result<bool> {
    in_time(sqlx::query_scalar(sql).bind(name).fetch_one(connection)).await
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        match &mut self.0 {
            // Only one process ever uses this name, so nothing waits for the file.
            HeldLock::File { once: Some(path), .. } => drop(std::fs::remove_file(path)),
            HeldLock::File { .. } => {}
            HeldLock::Name(session, name) => {
                // Without a runtime the process is ending, and its locks with it.
                let Ok(runtime) = tokio::runtime::Handle::try_current() else {
                    return;
                };
                let (session, name) = (session.clone(), std::mem::take(name));
                runtime.spawn(async move {
                    let mut session = session.lock().await;
                    // The name is removed first: if the release fails, the reconnected session must
                    // not retake it.
                    session.held.remove(&name);
                    if let Some(connection) = &mut session.connection
                        && query(connection, RELEASE, &name).await.is_err()
                    {
                        session.connection = None;
                    }
                });
            }
        }
    }
}
