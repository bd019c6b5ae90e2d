//! The objects of providers that a call makes rows from, recorded for a call that is inspected.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

tokio::task_local! {
    /// The objects of providers that the task's call has made rows from.
    static OBJECTS: Mutex<Vec<Value>>;
}

/// Records the objects of a provider, if the running call is inspected.
pub(crate) fn record<'a>(objects: impl Iterator<Item = &'a Value>) {
    // Without an inspected call there is no record, which is not an error.
    let _ = OBJECTS.try_with(|all| {
        all.lock().unwrap_or_else(PoisonError::into_inner).extend(objects.cloned());
    });
}

/// Awaits a call; returns its result, and the objects that it made rows from.
pub(super) async fn recording<T>(call: impl Future<Output = T>) -> (T, Vec<Value>) {
    let recorded = async {
        let result = call.await;
        let take = |all: &Mutex<Vec<Value>>| {
            std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner))
        };
        (result, OBJECTS.with(take))
    };
    OBJECTS.scope(Mutex::default(), recorded).await
}
