//! Calls that have begun to write and are not over. They tell the next process about interrupted
//! calls.
//!
//! A process that is killed cannot report its calls. So each process has a file of its own in the
//! state folder, with a line for every call that begins to write and one for its end, and keeps the
//! file locked. The system releases the lock when the process ends, however that happens: a file
//! without a lock has interrupted calls. The callers define the content of a line, which must not
//! include mail.
//!
//! This applies to the user of this machine. For people who are served, and in PostgreSQL, calls
//! are rows (`unfinished/rows.rs`).

mod rows;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use daysheet_core::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::engine::locks::ProcessLock;
use super::{Store, files};

/// The folder of the files, in the state folder.
const FOLDER: &str = "writing";
/// The extension of a complete file. A file that is not locked yet has no extension.
const ENDING: &str = "jsonl";

/// An interrupted call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOff {
    /// A description of the call.
    pub what: String,
    /// The beginning of its writing, in seconds since 1970.
    pub began: i64,
}

/// A line of a file: the beginning or the end of a call.
#[derive(Serialize, Deserialize)]
struct CallLine {
    number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CutOff>,
}

/// The calls of this process that are writing.
#[derive(Debug, Default)]
pub(super) struct UnfinishedCalls(Mutex<OwnWrites>);

#[derive(Debug, Default)]
struct OwnWrites {
    file: Option<(PathBuf, File)>,
    last: u64,
    open: BTreeMap<u64, CutOff>,
    /// The calls that were dropped before their end.
    dropped: Vec<CutOff>,
}

/// A call that has begun to write. If it is dropped without [`WritingCall::end`], it counts as
/// interrupted.
#[derive(Debug)]
pub struct WritingCall {
    store: Store,
    /// The call's record, until it is over.
    record: Option<CallRecord>,
}

#[derive(Debug)]
enum CallRecord {
    /// The number of a line in the file of this process.
    Line(u64),
    /// The number of a row, and the lock without which it counts as interrupted.
    Row(i64, ProcessLock),
}

impl Store {
    /// Records that a call begins to write.
    ///
    /// # Errors
    /// [`ErrorKind::Store`]: the call must not write.
    pub async fn begin_writing(&self, what: &str) -> Result<WritingCall> {
        let record = if self.has_files() {
            CallRecord::Line(self.begin_line(what)?)
        } else {
            let (number, lock) = self.add_write(what).await?;
            CallRecord::Row(number, lock)
        };
        Ok(WritingCall { store: self.clone(), record: Some(record) })
    }

    /// Returns and forgets the interrupted calls that were not reported yet, oldest first.
    pub async fn cut_off(&self) -> Vec<CutOff> {
        let mut found = if self.has_files() {
            self.cut_off_lines()
        } else {
            self.take_cut_off().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "calls that were cut off could not be looked for");
                Vec::new()
            })
        };
        found.sort_by_key(|call| call.began);
        found
    }

    fn begin_line(&self, what: &str) -> Result<u64> {
        let mut own = self.own();
        let call = CutOff { what: what.to_owned(), began: self.now() };
        own.last += 1;
        let number = own.last;
        // The line is written before the call counts as open: without it, the call must not write.
        own.append(self.home(), number, Some(&call)).map_err(|error| self.no_line(&error))?;
        own.open.insert(number, call);
        Ok(number)
    }

    fn cut_off_lines(&self) -> Vec<CutOff> {
        let mut own = self.own();
        let mut found = std::mem::take(&mut own.dropped);
        let Ok(folder) = fs::read_dir(self.home().join(FOLDER)) else {
            return found;
        };
        for entry in folder.flatten() {
            found.extend(left(&entry.path()));
        }
        found
    }

    fn own(&self) -> MutexGuard<'_, OwnWrites> {
        let own = &self.inner.unfinished.0;
        own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WritingCall {
    /// Records that the call is over. If that fails, the call is reported as interrupted after the
    /// process has ended: one report too many is better than one too few.
    pub async fn end(mut self) {
        let ended = match self.record.take() {
            Some(CallRecord::Line(number)) => self.store.end_line(number),
            Some(CallRecord::Row(number, _lock)) => self.store.remove_write(number).await.map(drop),
            None => Ok(()),
        };
        if let Err(error) = ended {
            tracing::warn!(%error, "the end of a call could not be recorded");
        }
    }
}

impl Drop for WritingCall {
    fn drop(&mut self) {
        if let Some(CallRecord::Line(number)) = self.record {
            let call = self.store.own().open.get(&number).cloned();
            // The call is kept in memory from now on.
            let _ = self.store.end_line(number);
            self.store.own().dropped.extend(call);
        }
    }
}

impl Store {
    fn end_line(&self, number: u64) -> Result<()> {
        let mut own = self.own();
        own.open.remove(&number);
        own.append(self.home(), number, None).map_err(|error| self.no_line(&error))
    }

    fn no_line(&self, error: &std::io::Error) -> Error {
        let folder = self.home().join(FOLDER);
        Error::new(ErrorKind::Store, format!("{} cannot be written ({error})", folder.display()))
            .next("free disk space, or check the state folder's permissions")
    }
}

impl OwnWrites {
    fn append(&mut self, home: &Path, number: u64, call: Option<&CutOff>) -> std::io::Result<()> {
        if self.file.is_none() {
            self.file = Some(create(home)?);
        }
        let line = CallLine { number, call: call.cloned() };
        let line = serde_json::to_string(&line).map_err(std::io::Error::other)?;
        match &mut self.file {
            Some((_, file)) => file.write_all(format!("{line}\n").as_bytes()),
            None => Ok(()),
        }
    }
}

/// Creates a file for this process. It is locked before another process can mistake it for the file
/// of a process that has ended.
fn create(home: &Path) -> std::io::Result<(PathBuf, File)> {
    let folder = home.join(FOLDER);
    files::private_folder(&folder).map_err(std::io::Error::other)?;
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes)
        .map_err(|_opaque| std::io::Error::other("the system random generator failed"))?;
    let name = format!("{:016x}", u64::from_le_bytes(bytes));
    let path = folder.join(&name);
    let file = files::private_options().append(true).create_new(true).open(&path)?;
    file.lock()?;
    let whole = path.with_extension(ENDING);
    fs::rename(&path, &whole)?;
    Ok((whole, file))
}

/// Removes the file if no call is in progress.
impl Drop for OwnWrites {
    fn drop(&mut self) {
        if let (Some((path, _)), true) = (&self.file, self.open.is_empty()) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns the interrupted calls in a file whose process has ended, and removes the file.
fn left(path: &Path) -> Vec<CutOff> {
    if path.extension().is_none_or(|ending| ending != ENDING) {
        return Vec::new();
    }
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
        return Vec::new();
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Vec::new(),
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    // If several processes look at once, only one of them removes the file, and reports its calls.
    if fs::remove_file(path).is_err() {
        return Vec::new();
    }
    let mut open = BTreeMap::new();
    for line in text.lines() {
        // The last line may be cut off, too.
        match serde_json::from_str::<CallLine>(line) {
            Ok(CallLine { number, call: Some(call) }) => drop(open.insert(number, call)),
            Ok(CallLine { number, call: None }) => drop(open.remove(&number)),
            Err(_) => {}
        }
    }
    open.into_values().collect()
}
