//! The limits and the counts of one person's calls, which the layers above provide.

use std::any::Any;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::pipeline::Answer;

/// The permit of a running request, held until it has ended.
pub type Permit = Box<dyn Any + Send + Sync>;

/// Limits and counts the requests of one person.
#[async_trait]
pub trait Watch: Send + Sync {
    /// Waits until another request may begin.
    ///
    /// # Errors
    /// [`Kind::RateLimited`](crate::error::Kind::RateLimited) with the next step, if it may not.
    async fn admit(&self) -> Result<Permit>;

    /// Notes how a call of a tool ended, and how long it took.
    async fn ended(&self, tool: &'static str, took: Duration, outcome: &Result<Answer>);
}
