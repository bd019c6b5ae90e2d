//! Locks by name that end with the process, however it ends: another one can tell at once that
//! it does not go on.
//!
//! Beside SQLite, each is a file in the state folder that is kept locked. In PostgreSQL, a
//! session on a connection of its own has all locks of an instance, and the server releases
//! them when the connection breaks.

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

/// Where the files are, in the state folder.
const FOLDER: &str = "locks";
/// How long nobody takes a lock that others may have had, after a break of the connection. Whoever
/// held it goes on, and does not know yet: nearly all refreshes end within this time. A longer one
/// would fail the calls that need a token, which get 15 seconds.
const QUIET: Duration = Duration::from_secs(5);
/// The schema belongs to the name, because databases may share a server's locks. The seed keeps
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
    /// Until when only new names are taken; set as soon as there was a connection.
    quiet: Option<Instant>,
}

/// A lock, until it is dropped.
#[derive(Debug)]
pub struct ProcessLock(HeldLock);

#[derive(Debug)]
enum HeldLock {
    /// The locked file, and where it is if its name is used only once.
    File {
        _locked: File,
        once: Option<PathBuf>,
    },
    Name(Arc<Mutex<LockSession>>, String),
}

impl Store {
    /// Takes the lock with this name unless somebody has it, here or in another process, or might
    /// still act on one that the server lost a moment ago. A name that is used only `once` leaves
    /// no file behind; one that is `new` cannot be held by anybody.
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
        // On a task of its own: dropped half way, a lock could stay that nobody knows of.
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
    /// Takes a lock; returns false if somebody has it.
    async fn take(&mut self, engine: &StoreEngine, name: &str, new: bool) -> sqlx::Result<bool> {
        // A session can take its own locks once more.
        if self.held.contains(name) {
            return Ok(false);
        }
        let taken = self.ask(engine, name, new).await;
        match taken {
            Ok(true) => {
                self.held.insert(name.to_owned());
            }
            Ok(false) => {}
            Err(_) => self.connection = None,
        }
        taken
    }

    async fn ask(&mut self, engine: &StoreEngine, name: &str, new: bool) -> sqlx::Result<bool> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let mut connection = engine.session_of_locks().await?;
                // Those that ended with the last connection, unless others have them by now.
                for held in &self.held {
                    query(&mut connection, TAKE, held).await?;
                }
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
            // Nobody waits for a lock with this name.
            HeldLock::File { once: Some(path), .. } => drop(std::fs::remove_file(path)),
            HeldLock::File { .. } => {}
            HeldLock::Name(session, name) => {
                // Without a runtime the process ends, and the lock with it.
                let Ok(runtime) = tokio::runtime::Handle::try_current() else {
                    return;
                };
                let (session, name) = (session.clone(), std::mem::take(name));
                runtime.spawn(async move {
                    let mut session = session.lock().await;
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
