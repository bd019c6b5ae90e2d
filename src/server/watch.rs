//! Limits and counts of one person's calls, implemented in higher layers.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daysheet_core::error::Result;
use tokio::time::Instant;

use crate::pipeline::ToolAnswer;

/// The permit of a running request, held until it has ended.
pub type RequestPermit = Box<dyn Any + Send + Sync>;

/// Limits and counts the requests of one person.
#[async_trait]
pub trait RequestWatch: Send + Sync {
    /// Waits until another request may begin.
    ///
    /// # Errors
    /// [`ErrorKind::RateLimited`](daysheet_core::error::ErrorKind::RateLimited) with the next step,
    /// if none may.
    async fn admit(&self) -> Result<RequestPermit>;

    /// Admits the reading of a complete document, for as long as its reader takes.
    ///
    /// # Errors
    /// [`ErrorKind::RateLimited`](daysheet_core::error::ErrorKind::RateLimited) if too many are
    /// being read.
    fn reads(&self) -> Result<RequestPermit>;

    /// Records the outcome and duration of a tool call.
    async fn ended(&self, tool: &'static str, took: Duration, outcome: &Result<ToolAnswer>);

    /// Records a tool call that was cancelled before it had written anything.
    fn cancelled(&self, tool: &'static str, took: Duration);
}

/// A tool call, which counts as cancelled if it is dropped before [`WatchedCall::ended`].
pub(super) struct WatchedCall {
    watch: Option<Arc<dyn RequestWatch>>,
    tool: &'static str,
    started: Instant,
}

impl WatchedCall {
    pub(super) fn new(watch: Option<Arc<dyn RequestWatch>>, tool: &'static str) -> Self {
        Self { watch, tool, started: Instant::now() }
    }

    pub(super) async fn ended(mut self, outcome: &Result<ToolAnswer>) {
        if let Some(watch) = self.watch.take() {
            watch.ended(self.tool, self.started.elapsed(), outcome).await;
        }
    }
}

impl Drop for WatchedCall {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.take() {
            watch.cancelled(self.tool, self.started.elapsed());
        }
    }
}
