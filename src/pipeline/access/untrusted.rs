//! Records that untrusted text was shown, in this process and in the store: the writes that follow
//! may have been requested by that text. `taint.rs` has the state.

use std::sync::atomic::Ordering;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Result;

use super::taint::TaintTracker;
use crate::pipeline::context::Context;

/// Records whether an answer will show untrusted text.
pub(crate) async fn note_untrusted(ctx: &Context, response: &WholeAnswer) -> Result<()> {
    if TaintTracker::is_untrusted(response) { mark_tainted(ctx).await } else { Ok(()) }
}

/// Records that a line of ours quotes untrusted text. It counts as shown when the
/// call has ended, because the call may be refused before.
pub(crate) fn note_untrusted_quote(ctx: &Context) {
    ctx.states.taint.quoted.store(true, Ordering::Relaxed);
}

/// Records that untrusted text quoted so far has been shown.
pub(crate) async fn quotes_shown(ctx: &Context) -> Result<()> {
    if ctx.states.taint.quoted.swap(false, Ordering::Relaxed) {
        mark_tainted(ctx).await
    } else {
        Ok(())
    }
}

/// Records that untrusted text was shown, once for this process and for those that follow.
pub(crate) async fn mark_tainted(ctx: &Context) -> Result<()> {
    // In memory first, so that this process is careful even if the store fails.
    ctx.states.taint.shown.store(true, Ordering::Relaxed);
    if !ctx.states.taint.noted.load(Ordering::Relaxed) {
        ctx.store.note_strangers().await?;
        // Set only after the row is stored: if storing fails, the next call tries again.
        ctx.states.taint.noted.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Counts untrusted text as shown from the start, because other processes answer the same person.
pub fn distrust(ctx: &Context) {
    ctx.states.taint.shown.store(true, Ordering::Relaxed);
}

/// Returns true if text of unknown senders was shown within a day.
pub(crate) async fn is_tainted(ctx: &Context) -> Result<bool> {
    Ok(ctx.states.taint.shown.load(Ordering::Relaxed) || ctx.store.strangers_lately().await?)
}
