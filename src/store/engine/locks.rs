//! Named locks that end with the process, however it ends, so that another process notices at once.
//!
//! With SQLite, each lock is a locked file in the state folder. In PostgreSQL, a session on a
//! separate connection has all locks of an instance, and the server releases them when the
//! connection breaks.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use daysheet_core::error::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use sqlx::AnyConnection;
use tokio::sync::Mutex;

use super::super::files;
use super::{StoreEngine, in_time};

/// The folder of the files, in the state folder.
const FOLDER: &str = "locks";
/// The time after a broken connection during which no lock is taken that another process may have
/// had. Its holder continues without knowing of the break, and nearly all refreshes end within this
/// time. A longer time would fail calls that need a token, which have 15 seconds.
const QUIET: Duration = Duration::from_secs(5);
/// The schema is a part of the name, because databases may share a server's locks. The seed keeps
/// the names apart from owners, whose transactions have locks, too.
const ACQUIRE: &str =
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

impl ProcessLock {
    /// Takes a lock in the state folder, as a locked file. A name that is used only `once` leaves no
    /// file behind. Returns `None` if the lock is held.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub(in crate::store) fn try_file(home: &Path, name: &str, once: bool) -> Result<Option<Self>> {
        let folder = home.join(FOLDER);
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
            Ok(()) => Ok(Some(Self(HeldLock::File { _locked: file, once: once.then_some(path) }))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }

    /// Takes a lock in the `session` of this process. A `new` name cannot be held yet. Returns
    /// `None` if the lock is held, or may have been until a moment ago.
    pub(in crate::store) async fn try_name(
        session: &Arc<Mutex<LockSession>>,
        engine: &StoreEngine,
        name: &str,
        new: bool,
    ) -> sqlx::Result<Option<Self>> {
        let taken = session.lock().await.acquire(engine, name, new).await?;
        Ok(taken.then(|| Self(HeldLock::Name(session.clone(), name.to_owned()))))
    }
}

impl LockSession {
    /// Takes a lock. Returns false if it is held already.
    async fn acquire(&mut self, engine: &StoreEngine, name: &str, new: bool) -> sqlx::Result<bool> {
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
                    LockStatement::Acquire.run(&mut connection, held).await?;
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
        LockStatement::Acquire.run(connection, name).await
    }
}

/// A statement about one lock of the session.
#[derive(Debug, Clone, Copy)]
enum LockStatement {
    Acquire,
    Release,
}

impl LockStatement {
    /// Runs the statement for the lock with this name. Returns true if it succeeded.
    async fn run(self, connection: &mut AnyConnection, name: &str) -> sqlx::Result<bool> {
        let sql = match self {
            Self::Acquire => ACQUIRE,
            Self::Release => RELEASE,
        };
        in_time(sqlx::query_scalar(sql).bind(name).fetch_one(connection)).await
    }
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
                        && LockStatement::Release.run(connection, &name).await.is_err()
                    {
                        session.connection = None;
                    }
                });
            }
        }
    }
}
