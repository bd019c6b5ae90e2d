//! The course of a call: until its first write it can be cancelled; after that it
//! runs to its end, even if the caller is gone. And how far it is.
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
    static COURSE: CallCourse;
}

/// Nothing was written yet.
const OPEN: u8 = 0;
/// Something was, or is about to be.
const BEGUN: u8 = 1;
/// It was cancelled before its first write.
const GIVEN_UP: u8 = 2;

/// The course of one call.
#[derive(Debug, Clone, Default)]
pub struct CallCourse(Arc<CallState>);

#[derive(Debug, Default)]
struct CallState {
    /// [`OPEN`], [`BEGUN`] or [`GIVEN_UP`].
    writing: AtomicU8,
    steps: Mutex<Vec<ProgressStep>>,
}

/// Things of one kind that a call works through.
#[derive(Debug)]
struct ProgressStep {
    what: String,
    done: u64,
    total: u64,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallProgress {
    /// How much is done, over all kinds of things; never less than before.
    pub done: u64,
    /// Out of how much; may grow. 0 if the call counts nothing.
    pub total: u64,
    /// What is done of what, such as `1 of 2 accounts, 40 of 100 messages`.
    pub message: String,
}

impl CallCourse {
    fn change(&self, to: u8) -> bool {
        let state = &self.0.writing;
        let changed = state.compare_exchange(OPEN, to, Ordering::SeqCst, Ordering::SeqCst);
        changed.is_ok() || changed == Err(to)
    }

    /// Returns how far the call is. The message names what is unfinished, or all if nothing is.
    pub fn progress(&self) -> CallProgress {
        let steps = self.0.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let open = |step: &&ProgressStep| step.done < step.total;
        let mut named: Vec<&ProgressStep> = steps.iter().filter(open).collect();
        if named.is_empty() {
            named.extend(steps.iter());
        }
        let words = named.iter().map(|one| format!("{} of {} {}", one.done, one.total, one.what));
        CallProgress {
            done: steps.iter().map(|step| step.done).sum(),
            total: steps.iter().map(|step| step.total).sum(),
            message: words.collect::<Vec<_>>().join(", "),
        }
    }

    /// Changes the step called `what`, which begins with nothing.
    fn step(&self, what: &str, change: impl FnOnce(&mut ProgressStep)) {
        let mut steps = self.0.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let at = steps.iter().position(|step| step.what == what).unwrap_or_else(|| {
            steps.push(ProgressStep { what: what.to_owned(), done: 0, total: 0 });
            steps.len() - 1
        });
        if let Some(step) = steps.get_mut(at) {
            change(step);
        }
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
/// [`Kind::Argument`](crate::error::ErrorKind::Argument) if the call was cancelled: then
/// nothing may be written.
pub fn begin_write() -> Result<()> {
    match COURSE.try_with(|course| course.change(BEGUN)) {
        Ok(false) => Err(Error::argument("the call was cancelled before anything was written")),
        Ok(true) | Err(_) => Ok(()),
    }
}

/// Counts `total` more things that the running call will work through, such as `messages`.
/// Has no effect outside a call, as the functions below.
pub fn expect(what: &str, total: usize) {
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    let _ = COURSE.try_with(|course| course.step(what, |step| step.total += total));
}

/// Counts some of the expected things as done.
pub fn done(what: &str, count: usize) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let _ = COURSE.try_with(|course| {
        course.step(what, |step| step.done = step.total.min(step.done + count));
    });
}

/// Sets how much of something is done, such as bytes.
pub fn advance(what: &str, done: u64, total: u64) {
    let _ = COURSE.try_with(|course| {
        course.step(what, |step| {
            step.done = step.done.max(done);
            step.total = step.total.max(total);
        });
    });
}

/// Counts the items of a loop: each is done when the next begins.
pub fn each<T>(
    what: &'static str,
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) -> impl Iterator<Item = T> {
    let mut items = items.into_iter();
    expect(what, items.len());
    let mut begun = false;
    std::iter::from_fn(move || {
        if std::mem::replace(&mut begun, true) {
            done(what, 1);
        }
        items.next()
    })
}

/// Counts calls that run at once: each is done when it ends.
pub fn counted<F: Future>(
    what: &'static str,
    calls: impl IntoIterator<Item = F>,
) -> Vec<impl Future<Output = F::Output>> {
    let count = |call: F| async move {
        let outcome = call.await;
        done(what, 1);
        outcome
    };
    let calls: Vec<_> = calls.into_iter().map(count).collect();
    expect(what, calls.len());
    calls
}

/// The calls of a session that are under way.
#[derive(Debug, Clone, Default)]
pub struct SessionCalls(Arc<RunningEntry>);

#[derive(Debug, Default)]
struct RunningEntry {
    way: Mutex<Vec<CallCourse>>,
    ended: Notify,
}

/// A call that is under way, until it is dropped.
struct EnteredCall {
    calls: SessionCalls,
    course: CallCourse,
}

impl SessionCalls {
    /// Runs a call; `course` records whether it can still be cancelled.
    pub async fn run<T>(&self, course: CallCourse, call: impl Future<Output = T>) -> T {
        self.courses(|all| all.push(course.clone()));
        let _entered = EnteredCall { calls: self.clone(), course: course.clone() };
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

    /// Returns true if no call is under way.
    pub fn is_idle(&self) -> bool {
        self.courses(|all| all.is_empty())
    }

    fn courses<T>(&self, with: impl FnOnce(&mut Vec<CallCourse>) -> T) -> T {
        with(&mut self.0.way.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for EnteredCall {
    fn drop(&mut self) {
        let own = &self.course.0;
        self.calls.courses(|all| all.retain(|one| !Arc::ptr_eq(&one.0, own)));
        // Wakes the waiting task to check again.
        self.calls.0.ended.notify_one();
    }
}
