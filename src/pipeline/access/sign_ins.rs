//! Sign-ins that were started and whose outcome was not yet reported.

use crate::error::Error;
use crate::tools::accounts::Add;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Sign-ins that were started in this process and whose outcome was not yet reported.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct SignIns {
    pub(in crate::pipeline) waiting: Mutex<Vec<Pending>>,
    pub(in crate::pipeline) changed: Notify,
}

#[derive(Debug)]
pub(in crate::pipeline) struct Pending {
    pub(in crate::pipeline) add: Add,
    pub(in crate::pipeline) state: State,
    /// The task that waits for the person.
    pub(in crate::pipeline) task: Option<AbortHandle>,
    pub(in crate::pipeline) number: u64,
}

#[derive(Debug)]
pub(in crate::pipeline) enum State {
    /// The person has not decided yet.
    Open,
    Failed(Error),
    /// It succeeded, with a note.
    Noted(String),
}

impl SignIns {
    pub(in crate::pipeline) fn with<T>(&self, change: impl FnOnce(&mut Vec<Pending>) -> T) -> T {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut waiting)
    }

    pub(in crate::pipeline) fn open(&self) -> usize {
        self.with(|waiting| waiting.iter().filter(|one| one.is_open()).count())
    }
}

impl Pending {
    pub(in crate::pipeline) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Returns the row of a sign-in that is pending or has failed.
    pub(in crate::pipeline) fn row(&self) -> Option<Value> {
        let (status, problem) = match &self.state {
            State::Open if self.add.device => ("waiting for the code to be entered", None),
            State::Open => ("waiting for the sign-in page", None),
            State::Failed(error) => ("failed", Some(error.to_string())),
            State::Noted(_) => return None,
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
