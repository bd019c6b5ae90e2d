//! Repeated lookup of a write in doubt.
//!
//! The caller decides where to look and what a failed lookup means.

use std::time::{Duration, Instant};

/// The minimum time to wait for the response to a lookup.
const LEAST: Duration = Duration::from_secs(1);

/// Calls `found` repeatedly until it returns something, or `look` has passed. The first
/// call is immediate; the waits in between double.
pub async fn look_for<T, F>(look: Duration, found: impl Fn() -> F) -> Option<T>
where
    F: Future<Output = Option<T>>,
{
    let started = Instant::now();
    let mut wait = look / 32;
    loop {
        // A lookup that hangs may take no longer than twice the total time.
        let patience = (look * 2).max(LEAST).saturating_sub(started.elapsed());
        match tokio::time::timeout(patience, found()).await {
            Ok(Some(found)) => return Some(found),
            // Services may carry out a write seconds after its connection broke, so an empty
            // result is not final until the time is over.
            Ok(None) if started.elapsed() + wait <= look => {}
            _ => return None,
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}
