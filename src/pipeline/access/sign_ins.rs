//! Sign-ins that were started and whose outcome was not yet reported.

use std::sync::{Mutex, PoisonError};

use daysheet_core::error::Error;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::tools::accounts::SignInArguments;

/// Sign-ins that were started in this process and whose outcome was not yet reported.
#[derive(Debug, Default)]
pub(crate) struct SignIns {
    pub(crate) waiting: Mutex<Vec<PendingSignIn>>,
    pub(crate) changed: Notify,
}

#[derive(Debug)]
pub(crate) struct PendingSignIn {
    pub(crate) add: SignInArguments,
    pub(crate) state: SignInState,
    /// The task that waits for the person.
    pub(crate) task: Option<AbortHandle>,
    pub(crate) number: u64,
}

#[derive(Debug)]
pub(crate) enum SignInState {
    /// The person has not decided yet.
    Open,
    Failed(Error),
    /// It succeeded, with a note.
    Noted(String),
}

impl SignIns {
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut Vec<PendingSignIn>) -> T) -> T {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut waiting)
    }

    pub(crate) fn open(&self) -> usize {
        self.with(|waiting| waiting.iter().filter(|one| one.is_open()).count())
    }
}

impl PendingSignIn {
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, SignInState::Open)
    }

    /// Returns the row of a sign-in that is pending or has failed.
    pub(crate) fn row(&self) -> Option<Value> {
        let (status, problem) = match &self.state {
            SignInState::Open if self.add.device => ("waiting for the code to be entered", None),
            SignInState::Open => ("waiting for the sign-in page", None),
            SignInState::Failed(error) => ("failed", Some(error.to_string())),
            SignInState::Noted(_) => return None,
        };
        let address = self.add.mailbox.as_ref().or(self.add.address.as_ref());
        Some(json!({
            "email": address.map_or("(new account)", String::as_str),
            "provider": self.add.provider,
            "status": status,
            "problem": problem,
        }))
    }
}
