//! Whoever made a call, as far as it can be asked and told while the call runs.
//!
//! The server stands behind it with what the client can do, the command line
//! with a terminal. What is asked, and when, is the pipeline's business.

use async_trait::async_trait;

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The user agreed.
    Yes,
    /// The user did not.
    No,
    /// Nobody can be asked.
    Nobody,
    /// The question was handed over; the call is going to be made again with
    /// the answer. Nothing may be done now.
    Later,
}

/// Whoever made a call.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Asks the user to confirm something, in a few lines of plain text.
    async fn confirm(&self, question: &str) -> Reply;

    /// Tells how far something is that takes a while: so many bytes of so many.
    async fn progress(&self, done: u64, total: u64, what: &str);
}

/// A caller that can neither be asked nor told anything.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

#[async_trait]
impl Caller for Nobody {
    async fn confirm(&self, _: &str) -> Reply {
        Reply::Nobody
    }

    async fn progress(&self, _: u64, _: u64, _: &str) {}
}
