//! The error type of the crate.
//!
//! An error has a kind (for code to decide on), a sentence fragment that fits after "failed to …"
//! (for people and models to read) and, if possible, the next step that the reader can take.
//! There are two tiers: errors that the caller can act on become a tool result with `isError`;
//! [`ErrorKind::Internal`], a bug of ours, becomes a protocol error. Messages never contain tokens,
//! secrets or mail bodies.

use std::fmt;
use std::time::Duration;

/// A result with the crate's error.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error, as detailed as callers need to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be carried out as stated.
    Argument,
    /// The named object does not exist, or no longer exists.
    NotFound,
    /// No account is signed in, or not the named one.
    NoAccount,
    /// The sign-in is missing, expired, revoked or was refused.
    Auth,
    /// The object was changed by someone else in the meantime.
    Conflict,
    /// The provider refuses temporarily; try again after the given time, if any.
    RateLimited(Option<Duration>),
    /// The provider returned another error, with this HTTP status.
    Provider(u16),
    /// The provider was not reached, or the connection broke.
    Network,
    /// The provider took longer than we wait.
    Timeout,
    /// The settings are unusable in their present form.
    Config,
    /// The state folder or its database cannot be used.
    Store,
    /// The smallest answer is larger than the budget.
    BudgetTooSmall,
    /// A bug of ours.
    Internal,
}

/// An error: its kind, its cause, and the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    next: Option<String>,
    people: Vec<String>,
}

/// Returns the word for the outcome of a call in counters and traces: `ok`, or the kind of its
/// error.
pub fn outcome<T>(outcome: &Result<T>) -> &'static str {
    match outcome.as_ref().map_err(Error::kind) {
        Ok(_) => "ok",
        Err(ErrorKind::Argument) => "argument",
        Err(ErrorKind::NotFound) => "not_found",
        Err(ErrorKind::NoAccount) => "no_account",
        Err(ErrorKind::Auth) => "sign_in",
        Err(ErrorKind::Conflict) => "conflict",
        Err(ErrorKind::RateLimited(_)) => "throttled",
        Err(ErrorKind::Provider(_)) => "provider",
        Err(ErrorKind::Network) => "network",
        Err(ErrorKind::Timeout) => "timeout",
        Err(ErrorKind::Config) => "config",
        Err(ErrorKind::Store) => "store",
        Err(ErrorKind::BudgetTooSmall) => "budget_too_small",
        Err(ErrorKind::Internal) => "bug",
    }
}

impl Error {
    /// Creates an error of `kind`; `message` is a lower-case fragment without a full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), next: None, people: Vec::new() }
    }

    /// Creates an error of the most common kind, [`ErrorKind::Argument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, message)
    }

    /// Adds the next step to take, as an imperative without a full stop.
    #[must_use]
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next = Some(step.into());
        self
    }

    /// Records the name of a person that was given in place of an address, so that it can be
    /// looked up. May be called for several names.
    #[must_use]
    pub fn naming(mut self, person: impl Into<String>) -> Self {
        self.people.push(person.into());
        self
    }

    /// Puts `what` in front of the message: `what: message`.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message without the next step.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the next step, if there is one.
    pub fn next_step(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// Returns the names that the call has in place of addresses.
    pub fn people(&self) -> &[String] {
        &self.people
    }

    /// Returns true for a temporary error, which a retry may resolve.
    pub fn is_passing(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::RateLimited(_)
                | ErrorKind::Provider(429 | 500..=599)
                | ErrorKind::Network
                | ErrorKind::Timeout
        )
    }

    /// Returns true if later writes of the same call would fail, too.
    pub fn ends_batch(&self) -> bool {
        // The sign-in and the store are common to all writes of a call.
        self.is_passing() || matches!(self.kind, ErrorKind::Auth | ErrorKind::Store)
    }

    /// Returns true if it is unknown whether a write took effect.
    pub fn is_open(&self) -> bool {
        matches!(self.kind, ErrorKind::Network | ErrorKind::Timeout)
    }

    /// Returns true for a bug of ours, which the caller cannot act on.
    pub fn is_bug(&self) -> bool {
        self.kind == ErrorKind::Internal
    }
}

/// One line: `message: next step`, or the message alone.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.next {
            Some(next) => write!(f, "{}: {next}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
