//! How far a call has come: until its first write it can be given up, and after
//! that it runs to its end, whatever becomes of whoever asked for it.
//!
//! A call that was broken off between two writes would leave half of its work.
//! So the server gives up only what has not begun to write, and whoever writes
//! says so before, here.

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
/// It was given up before.
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

/// Says that something is about to be written: from now on the call is not given
/// up. Outside of a call that can be given up it says nothing.
///
/// # Errors
/// [`Kind::Argument`](crate::error::Kind::Argument) if the call was given up: then
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
    /// Carries a call out; `course` says whether it can still be given up.
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
        // Whoever waits looks again.
        self.calls.0.ended.notify_one();
    }
}
