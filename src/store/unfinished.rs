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
//! are rows (`unfinished/rows.rs`); `unfinished/lines.rs` has the file.

pub(super) mod lines;
mod rows;

use std::fs;
use std::sync::{MutexGuard, PoisonError};

use daysheet_core::error::{Error, ErrorKind, Result};
use lines::{CutOff, FOLDER, OwnWrites, left};

use super::database::Store;
use super::engine::locks::ProcessLock;

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
