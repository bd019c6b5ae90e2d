//! The caller of a running call, who can be asked and notified.
//!
//! The server implements it with the client's features, the command line with a
//! terminal. The pipeline decides what is asked, and when.

use async_trait::async_trait;

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// The user agreed.
    Yes,
    /// The user did not.
    No,
    /// The question was closed without an answer. Perhaps nobody saw it: some clients do so by
    /// themselves when nobody is there.
    Unanswered,
    /// Nobody can be asked.
    Unavailable,
    /// This is a dry run: the call would ask the user.
    Planned,
    /// The question ends this call; the client will repeat the call with the answer.
    /// Nothing may be written now.
    Later,
}

/// The caller of a tool.
#[async_trait]
pub trait ClientPrompts: Send + Sync {
    /// Asks the user to confirm something, in a few lines of plain text.
    async fn confirm(&self, question: &str) -> Confirmation;

    /// Shows the user a page to open, and says in a few words why. [`Confirmation::Yes`] if they
    /// agreed to open it: what they do there is not known.
    async fn open_page(&self, _why: &str, _page: &str) -> Confirmation {
        Confirmation::Unavailable
    }

    /// Returns true if the client can show a question to the user.
    fn can_ask(&self) -> bool {
        false
    }

    /// Returns the most bytes of an answer that the client passes on to its model, if it is known
    /// to cut what is longer.
    fn answer_limit(&self) -> Option<usize> {
        None
    }

    /// Reports the progress of an upload: bytes done out of bytes in total, and what is uploaded.
    async fn progress(&self, done: u64, total: u64, what: &str);
}

/// The caller of a call that may be a dry run, which asks nobody.
#[derive(Clone, Copy)]
pub struct MaybeDryRun<'a> {
    /// The caller itself.
    pub caller: &'a dyn ClientPrompts,
    /// True if the call is a dry run.
    pub dry_run: bool,
}

#[async_trait]
impl ClientPrompts for MaybeDryRun<'_> {
    async fn confirm(&self, question: &str) -> Confirmation {
        if !self.dry_run {
            self.caller.confirm(question).await
        } else if self.caller.can_ask() {
            Confirmation::Planned
        } else {
            Confirmation::Unavailable
        }
    }

    async fn open_page(&self, why: &str, page: &str) -> Confirmation {
        self.caller.open_page(why, page).await
    }

    fn can_ask(&self) -> bool {
        self.caller.can_ask()
    }

    fn answer_limit(&self) -> Option<usize> {
        self.caller.answer_limit()
    }

    async fn progress(&self, done: u64, total: u64, what: &str) {
        self.caller.progress(done, total, what).await;
    }
}

/// A caller that can be neither asked nor notified.
#[derive(Debug, Clone, Copy)]
pub struct NonInteractive;

#[async_trait]
impl ClientPrompts for NonInteractive {
    async fn confirm(&self, _: &str) -> Confirmation {
        Confirmation::Unavailable
    }

    async fn progress(&self, _: u64, _: u64, _: &str) {}
}
