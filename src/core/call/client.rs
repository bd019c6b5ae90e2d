//! The caller of a running call, as the pipeline sees it: someone to ask and to notify.
//!
//! The server implements it with the client's features, the command line with a terminal. The
//! pipeline decides what to ask, and when.

use async_trait::async_trait;

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// The user agreed.
    Yes,
    /// The user declined.
    No,
    /// The question was closed without an answer. The user may not have seen it: some clients
    /// close questions by themselves if nobody is there.
    Unanswered,
    /// The user cannot be asked.
    Unavailable,
    /// This is a dry run: the call would ask the user.
    Planned,
    /// The question ends this call, which has to be repeated for the answer to count. Nothing may
    /// be written now.
    Later,
}

/// A request for the user's approval of a write.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest<'a> {
    /// The question, in a few lines of plain text.
    pub question: &'a str,
    /// The outgoing text. Empty if the question contains it.
    pub content: &'a str,
    /// The reason why the write requires approval, for the model; may be empty.
    pub reason: &'a str,
}

/// The caller of a tool.
#[async_trait]
pub trait ClientPrompts: Send + Sync {
    /// Asks the user to confirm something, in a few lines of plain text.
    async fn confirm(&self, question: &str) -> Confirmation;

    /// Asks the user to confirm a write if they can be asked in the chat. A caller that shows the
    /// outgoing text uses more of the request than the question.
    async fn confirm_write(&self, request: &ApprovalRequest<'_>) -> Confirmation {
        self.confirm(request.question).await
    }

    /// Asks the user to approve a write that requires approval. A caller without questions may ask
    /// on a card, on a page or in a terminal.
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Confirmation {
        self.confirm(request.question).await
    }

    /// Shows the user a page to open, with a short reason. Returns [`Confirmation::Yes`] if they
    /// agreed to open it; their actions on the page are unknown.
    async fn open_page(&self, _why: &str, _page: &str) -> Confirmation {
        Confirmation::Unavailable
    }

    /// Returns true if the client can show a question to the user.
    fn can_ask(&self) -> bool {
        false
    }

    /// Returns true if the user can approve a write, in the chat or outside it.
    fn can_approve(&self) -> bool {
        self.can_ask()
    }

    /// Returns the next step for the user if a wait for approval ended the call.
    fn awaited_approval(&self) -> Option<String> {
        None
    }

    /// Returns the number of bytes of an answer that the client passes on to its model, if it is
    /// known to cut longer ones.
    fn answer_limit(&self) -> Option<usize> {
        None
    }

    /// Reports the progress of an upload: the bytes done, the bytes in total, and its subject.
    async fn progress(&self, done: u64, total: u64, what: &str);
}

/// The caller of a call that may be a dry run. In a dry run the user is not asked to confirm.
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
        // A dry run must predict the real call, which is refused if the user cannot be asked.
        } else if self.caller.can_ask() {
            Confirmation::Planned
        } else {
            Confirmation::Unavailable
        }
    }

    async fn confirm_write(&self, request: &ApprovalRequest<'_>) -> Confirmation {
        if self.dry_run {
            self.confirm(request.question).await
        } else {
            self.caller.confirm_write(request).await
        }
    }

    async fn approve(&self, request: &ApprovalRequest<'_>) -> Confirmation {
        if !self.dry_run {
            self.caller.approve(request).await
        } else if self.caller.can_approve() {
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

    fn can_approve(&self) -> bool {
        self.caller.can_approve()
    }

    fn awaited_approval(&self) -> Option<String> {
        self.caller.awaited_approval()
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
