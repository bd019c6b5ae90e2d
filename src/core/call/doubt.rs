//! Looks up writes in doubt: how often, and for how long.
//!
//! The caller decides where to look, and what to conclude if nothing was found.

use std::time::{Duration, Instant};

/// The least time that an answer is waited for.
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
        // A look that hangs must not take longer than twice the time.
        let patience = (look * 2).max(LEAST).saturating_sub(started.elapsed());
        match tokio::time::timeout(patience, found()).await {
            Ok(Some(found)) => return Some(found),
            Ok(None) if started.elapsed() + wait <= look => {}
            _ => return None,
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}
