//! A finding of a check, and its forms: text, JSON, and text without personal data.

use daysheet_core::choice::{WordChoice, words};
use daysheet_core::error::Error;
use regex::Regex;
use serde_json::{Value, json};

words! {
    /// A check.
    pub enum CheckName {
        /// The settings file and variables.
        Settings = "settings",
        /// The state folder and its permissions.
        State = "state",
        /// The database.
        Database = "database",
        /// The key that encrypts tokens.
        Keys = "keys",
        /// The time zone.
        Zone = "zone",
        /// The ports of this machine.
        Loopback = "loopback",
        /// The connections to the providers.
        Network = "network",
        /// The clock, compared with the providers'.
        Clock = "clock",
        /// The OAuth clients.
        Client = "client",
        /// The signed-in accounts.
        Accounts = "accounts",
        /// The MCP clients.
        Mcp = "mcp",
        /// The version of this program.
        Version = "version",
    }
}

words! {
    /// The result of a check.
    pub(super) enum FindingState {
        /// The check found no problem.
        Good = "ok",
        /// A part works now, and may fail later.
        Warning = "warn",
        /// A part does not work.
        Failed = "fail",
        /// The check could not be made.
        Skipped = "skip",
    }
}

/// A finding. Its texts never have a secret.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) check: CheckName,
    pub(super) state: FindingState,
    /// The finding, as a clause.
    what: String,
    /// The next step.
    next: Option<String>,
}

impl Finding {
    pub(super) fn new(check: CheckName, state: FindingState, what: impl Into<String>) -> Self {
        Self { check, state, what: what.into(), next: None }
    }

    /// Returns a finding that everything is right.
    pub(super) fn good(check: CheckName, what: impl Into<String>) -> Self {
        Self::new(check, FindingState::Good, what)
    }

    /// Returns a finding of this state from an error.
    pub(super) fn of_error(check: CheckName, state: FindingState, error: &Error) -> Self {
        Self {
            check,
            state,
            what: error.message().to_owned(),
            next: error.next_step().map(str::to_owned),
        }
    }

    /// Adds the next step.
    pub(super) fn next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// Puts the subject in front of the finding.
    pub(super) fn about(self, subject: &str) -> Self {
        Self { what: format!("{subject}: {}", self.what), ..self }
    }

    /// Returns the finding as a line, with the next step on another.
    pub(super) fn lines(&self) -> String {
        let mut lines = format!("{:<5} {:<9} {}", self.state.word(), word(self.check), self.what);
        if let Some(next) = &self.next {
            lines += &format!("\n{:<15} next: {next}", "");
        }
        lines
    }

    /// Returns the finding with its next step, on one line.
    pub(super) fn sentence(&self) -> String {
        let next = self.next.iter().map(|next| format!(": {next}"));
        format!("{}{}", self.what, next.collect::<String>())
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "check": word(self.check),
            "state": self.state.word(),
            "finding": self.what,
            "next": self.next,
        })
    }
}

/// Returns the name of a check.
pub(super) fn word(check: CheckName) -> &'static str {
    check.word()
}

/// Replaces personal data by names of ours, always the same one for the same data.
pub(super) struct ReportWords {
    home: Option<String>,
    address: Option<Regex>,
    secret: Option<Regex>,
    seen: Vec<String>,
}

impl ReportWords {
    /// Returns the words for the user with this home folder.
    pub(super) fn new(home: Option<String>) -> Self {
        Self {
            home: home.filter(|home| home.len() > 1),
            address: Regex::new(r"[\w.+-]+@[\w-]+(\.[\w-]+)+").ok(),
            // A database with its user, and the number of a project at Google.
            secret: Regex::new(r"postgres(ql)?://[^\s`]+|project=[\w-]+").ok(),
            seen: Vec::new(),
        }
    }

    /// Returns a text without the home folder, addresses, and names at services.
    pub(super) fn replaced(&mut self, text: &str) -> String {
        let mut text = match &self.home {
            Some(home) => text.replace(home, "~"),
            None => text.to_owned(),
        };
        if let Some(secret) = &self.secret {
            text = secret.replace_all(&text, "[hidden]").into_owned();
        }
        let Some(address) = &self.address else {
            return text;
        };
        let seen = &mut self.seen;
        let named = |found: &regex::Captures<'_>| {
            let address = found.get(0).map_or("", |whole| whole.as_str());
            let known = seen.iter().position(|one| one == address).unwrap_or_else(|| {
                seen.push(address.to_owned());
                seen.len() - 1
            });
            format!("address-{}", known + 1)
        };
        address.replace_all(&text, named).into_owned()
    }
}
