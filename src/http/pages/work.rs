//! Work of a page that continues if the browser disconnects.

use daysheet_core::call::progress::{self, CallCourse};
use daysheet_core::error::{Error, ErrorKind, Result};
use tracing::Instrument;

use crate::app::App;

/// Runs work that must not remain half done, on a task of its own: it completes even if the browser
/// disconnects, and before the server ends.
///
/// # Errors
/// Errors of `work`, and [`ErrorKind::Argument`] if the server is already shutting down.
pub(super) async fn carry_out<T: Send + 'static>(
    app: &App,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let calls = app.server().calls();
    let work = async move {
        let work = async {
            // A call that has begun to write is not cancelled during shutdown.
            progress::begin_write()?;
            work.await
        };
        calls.run(CallCourse::default(), work).await
    };
    let bug = |_| Err(Error::new(ErrorKind::Internal, "a bug ended this request"));
    tokio::spawn(work.in_current_span()).await.unwrap_or_else(bug)
}
