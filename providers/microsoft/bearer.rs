//! Access tokens for the Graph SDK.

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::provider::TokenSource;
use graph_core::identity::ForceTokenRefresh;
use graph_rs_sdk::GraphFailure;
use graph_rs_sdk::error::{AuthExecutionError, AuthExecutionResult};
use graph_rs_sdk::identity::ClientApplication;

/// Provides our tokens to the SDK, which asks before every request.
#[derive(Clone)]
pub struct GraphTokens(pub TokenSource);

#[async_trait]
impl ClientApplication for GraphTokens {
    fn get_token_silent(&mut self) -> AuthExecutionResult<String> {
        let error = Error::new(ErrorKind::Internal, "the SDK requested a token synchronously");
        Err(AuthExecutionError::Other(error.into()))
    }

    async fn get_token_silent_async(&mut self) -> AuthExecutionResult<String> {
        let token = self.0.bearer().await;
        token.map_err(|error| AuthExecutionError::Other(error.into()))
    }

    // After a refusal, the limiter requests a new token.
    fn with_force_token_refresh(&mut self, _: ForceTokenRefresh) {}
}

/// Converts the SDK's error; before sending, only a missing token makes it fail.
pub fn no_token(failure: GraphFailure) -> Error {
    if let GraphFailure::Other(cause) = failure
        && let Ok(ours) = cause.downcast::<Error>()
    {
        return *ours;
    }
    Error::new(ErrorKind::Internal, "the Graph client rejected the call")
}
