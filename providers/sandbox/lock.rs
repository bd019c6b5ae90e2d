//! Locks of the sandbox's data, in one place because all services hold some.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A panicking request leaves consistent data, because every change is one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
