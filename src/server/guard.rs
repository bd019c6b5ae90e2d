//! The guard of a session's requests: limits, panics, cancellation and progress. It knows no method
//! of the protocol.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use daysheet_core::call::progress::{CallCourse, CallProgress, SessionCalls};
use daysheet_core::error::Result;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProgressNotificationParam};
use rmcp::service::RequestContext;
use tokio::sync::Semaphore;
use tracing::Instrument;

use super::watch::RequestWatch;

/// The time after which the progress of a call is first reported, and the interval of reports.
const LONG: Duration = Duration::from_secs(2);
const REPORTS: Duration = Duration::from_secs(1);

/// The maximum number of concurrent calls of a session; others wait.
const AT_ONCE: usize = 16;

/// The guard of one session.
#[derive(Clone)]
pub(super) struct RequestGuard {
    /// Limits and counts the calls, over HTTP.
    pub(super) watch: Option<Arc<dyn RequestWatch>>,
    /// Permits for running calls.
    places: Arc<Semaphore>,
    /// The calls in progress.
    pub(super) calls: SessionCalls,
}

impl Default for RequestGuard {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Self { watch: None, places, calls: SessionCalls::default() }
    }
}

impl RequestGuard {
    /// Lets `watch` limit and count the calls, which replaces the limit per session.
    pub(super) fn watched_by(self, watch: Arc<dyn RequestWatch>) -> Self {
        let places = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self { watch: Some(watch), places, ..self }
    }

    /// Awaits a client's request on a task of its own, so that a panic in a library is an error of this
    /// request rather than the end of the session. Bugs are protocol errors. The task begins when a
    /// permit is free. A cancelled call ends unless it has begun to write; in that case it runs to its
    /// end, and its answer is dropped.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> std::result::Result<Result<T>, ErrorData> {
        let (calls, course) = (self.calls.clone(), CallCourse::default());
        let mut reports = std::pin::pin!(report(context, &course));
        // Progress is reported and a cancellation noticed even while the call waits.
        let place = tokio::select! {
            place = self.places.clone().acquire_owned() => place.ok(),
            never = &mut reports => match never {},
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let (run, watch) = (course.clone(), self.watch.clone());
        // Boxed, because a thread's stack is small. The task owns the permit, and keeps it if it
        // continues after a cancellation.
        let work = Box::pin(work);
        let mut work = tokio::spawn(
            async move {
                let _place = place;
                let _permit = match watch {
                    Some(watch) => Some(watch.admit().await?),
                    None => None,
                };
                calls.run(run, work).await
            }
            .in_current_span(),
        );
        let outcome = tokio::select! {
            outcome = &mut work => outcome,
            never = &mut reports => match never {},
            () = context.ct.cancelled() => {
                // This succeeds only if the call has not begun to write.
                if course.give_up() {
                    work.abort();
                }
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        match outcome {
            Ok(Err(error)) if error.is_bug() => {
                tracing::error!(%error, "a call failed because of a bug");
                Err(ErrorData::internal_error(error.to_string(), None))
            }
            Ok(outcome) => Ok(outcome),
            Err(_) => {
                tracing::error!("a call panicked");
                Err(ErrorData::internal_error(
                    "a bug ended this call; the server keeps running",
                    None,
                ))
            }
        }
    }
}

/// Notifies the client of the progress of a long call, if it gave a token. Only actual progress is
/// reported, because the protocol requires each number to exceed the last.
async fn report(context: &RequestContext<RoleServer>, course: &CallCourse) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut times = tokio::time::interval_at(tokio::time::Instant::now() + LONG, REPORTS);
    let mut last = None;
    loop {
        times.tick().await;
        let CallProgress { done, total, message } = course.progress();
        if last.is_some_and(|last| done <= last) {
            continue;
        }
        last = Some(done);
        let progress = ProgressNotificationParam::new(token.clone(), done as f64);
        let progress = match total {
            0 => progress.with_message("waiting for an answer"),
            total => progress.with_total(total as f64).with_message(message),
        };
        // A client that no longer listens does not stop the call.
        let _ = context.peer.notify_progress(progress).await;
    }
}
