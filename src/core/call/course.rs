//! The progress of a call: until its first write it can be cancelled; after that it
//! runs to its end, even if the caller is gone.
//!
//! A call that was stopped between two writes would leave half of its work undone. So
//! the server cancels only a call that has not begun to write, and every writer
//! announces its first write here.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::error::{Error, Result};

tokio::task_local! {
    /// The course of the call that the task carries out.
    static COURSE: Course;
}

/// Nothing was written yet.
const OPEN: u8 = 0;
/// Something was, or is about to be.
const BEGUN: u8 = 1;
/// It was cancelled before its first write.
const GIVEN_UP: u8 = 2;

/// The course of one call.
#[derive(Debug, Clone, Default)]
pub struct Course(Arc<AtomicU8>);

impl Course {
    fn change(&self, to: u8) -> bool {
        let changed = self.0.compare_exchange(OPEN, to, Ordering::SeqCst, Ordering::SeqCst);
        changed.is_ok() || changed == Err(to)
    }

    /// Gives the call up, unless it has begun to write: then nothing will be
    /// written any more. False if it has.
    pub fn give_up(&self) -> bool {
        self.change(GIVEN_UP)
    }
}

/// Announces that the call is about to write: from now on it cannot be cancelled. Has
/// no effect outside a call that can be cancelled.
///
/// # Errors
/// [`Kind::Argument`](crate::error::Kind::Argument) if the call was cancelled: then
/// nothing may be written.
pub fn begin_write() -> Result<()> {
    match COURSE.try_with(|course| course.change(BEGUN)) {
        Ok(false) => Err(Error::argument("the call was cancelled before anything was written")),
        Ok(true) | Err(_) => Ok(()),
    }
}

/// The calls of a session that are under way.
#[derive(Debug, Clone, Default)]
pub struct Calls(Arc<Under>);

#[derive(Debug, Default)]
struct Under {
    way: Mutex<Vec<Course>>,
    ended: Notify,
}

/// A call that is under way, until it is dropped.
struct Entered {
    calls: Calls,
    course: Course,
}

impl Calls {
    /// Runs a call; `course` records whether it can still be cancelled.
    pub async fn run<T>(&self, course: Course, call: impl Future<Output = T>) -> T {
        self.courses(|all| all.push(course.clone()));
        let _entered = Entered { calls: self.clone(), course: course.clone() };
        COURSE.scope(course, call).await
    }

    /// Gives up the calls that have not begun to write, and waits until the others
    /// are over, but no longer than `most`. False if some are not.
    pub async fn finish(&self, most: Duration) -> bool {
        let over = async {
            loop {
                let ended = self.0.ended.notified();
                let busy = self.courses(|all| all.iter().any(|one| !one.give_up()));
                if !busy {
                    return;
                }
                ended.await;
            }
        };
        tokio::time::timeout(most, over).await.is_ok()
    }

    fn courses<T>(&self, with: impl FnOnce(&mut Vec<Course>) -> T) -> T {
        with(&mut self.0.way.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let own = &self.course.0;
        self.calls.courses(|all| all.retain(|one| !Arc::ptr_eq(&one.0, own)));
        // Wakes the waiting task to check again.
        self.calls.0.ended.notify_one();
    }
}
