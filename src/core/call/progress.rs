//! The course of a call: its progress, and whether it can still be cancelled.
//!
//! A call can be cancelled until its first write; after that it runs to its end, even if the
//! caller has gone, because a call stopped between two writes would leave its work half done.
//! Every writer announces its first write here, and the server cancels only calls that have not
//! begun to write.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::error::{Error, Result};

tokio::task_local! {
    /// The course of the call that the task carries out.
    static COURSE: CallCourse;
}

/// The state of a call that has written nothing.
const OPEN: u8 = 0;
/// The state of a call that has written, or is about to.
const BEGUN: u8 = 1;
/// The state of a call that was cancelled before its first write.
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

/// A kind of items that a call works through.
#[derive(Debug)]
struct ProgressStep {
    what: String,
    done: u64,
    total: u64,
}

/// The progress of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallProgress {
    /// The number of items done, over all kinds; never decreases.
    pub done: u64,
    /// The total number of items; may grow. 0 if the call counts no items.
    pub total: u64,
    /// The progress by kind, such as `1 of 2 accounts, 40 of 100 messages`.
    pub message: String,
}

impl CallCourse {
    fn change(&self, to: u8) -> bool {
        let state = &self.0.writing;
        // One atomic exchange decides between a cancellation and a first write at the same
        // moment. A repeated change to the same state succeeds, because a call may write many
        // times.
        let changed = state.compare_exchange(OPEN, to, Ordering::SeqCst, Ordering::SeqCst);
        changed.is_ok() || changed == Err(to)
    }

    /// Returns the progress of the call. The message names the unfinished kinds, or all kinds if
    /// everything is done.
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

    /// Changes the step called `what`; creates it at 0 of 0 if it is new.
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

    /// Cancels the call unless it has begun to write. Returns true if it is cancelled and will
    /// write nothing.
    pub fn give_up(&self) -> bool {
        self.change(GIVEN_UP)
    }
}

/// Announces that the call is about to write. From here on it cannot be cancelled. Has no effect
/// outside a call.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if the call was cancelled; nothing
/// may be written in this case.
pub fn begin_write() -> Result<()> {
    match COURSE.try_with(|course| course.change(BEGUN)) {
        Ok(false) => Err(Error::argument("the call was cancelled before anything was written")),
        Ok(true) | Err(_) => Ok(()),
    }
}

/// Adds `total` to the number of items of a kind, such as `messages`, that the running call will
/// work through. Like the functions below, has no effect outside a call.
pub fn expect(what: &str, total: usize) {
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    let _ = COURSE.try_with(|course| course.step(what, |step| step.total += total));
}

/// Counts `count` of the expected items as done.
pub fn done(what: &str, count: usize) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let _ = COURSE.try_with(|course| {
        // Clients expect progress that never exceeds its total.
        course.step(what, |step| step.done = step.total.min(step.done + count));
    });
}

/// Sets the progress of a kind, such as bytes. Lower values than before are ignored.
pub fn advance(what: &str, done: u64, total: u64) {
    let _ = COURSE.try_with(|course| {
        course.step(what, |step| {
            step.done = step.done.max(done);
            step.total = step.total.max(total);
        });
    });
}

/// Counts the items of a loop. Each is done when the next one begins.
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

/// Counts futures that run concurrently. Each is done when it completes.
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

/// The running calls of a session.
#[derive(Debug, Clone, Default)]
pub struct SessionCalls(Arc<RunningEntry>);

#[derive(Debug, Default)]
struct RunningEntry {
    way: Mutex<Vec<CallCourse>>,
    ended: Notify,
}

/// The registration of a running call, which ends when this is dropped.
struct EnteredCall {
    calls: SessionCalls,
    course: CallCourse,
}

impl SessionCalls {
    /// Runs a call; `course` records whether it can still be cancelled.
    pub async fn run<T>(&self, course: CallCourse, call: impl Future<Output = T>) -> T {
        self.courses(|all| all.push(course.clone()));
        // A guard rather than code after the await: it also removes a call whose future is
        // dropped.
        let _entered = EnteredCall { calls: self.clone(), course: course.clone() };
        COURSE.scope(course, call).await
    }

    /// Cancels the calls that have not begun to write, and waits for the others, but no longer
    /// than `most`. Returns false if some are still running.
    pub async fn finish(&self, most: Duration) -> bool {
        let over = async {
            loop {
                // Created before the check: a permit of `notify_one` is kept for it, so a
                // call that ends in between is not missed.
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

    /// Returns true if no call is running.
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
