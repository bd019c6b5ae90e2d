//! Access levels: the changes that a process may make.
//!
//! The level is set once (`--access`, `DAYSHEET_ACCESS`). The level that a tool needs is declared
//! in `tools/`, the scopes that a level needs by each provider. This file defines the levels,
//! their order and their words.

/// The access levels, each of which includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum AccessLevel {
    /// No changes.
    Read,
    /// Organizing mail and events: marking, moving, filing. No message is sent, events with other
    /// participants are not changed, and everything deleted can be restored.
    Organize,
    /// Also writing drafts.
    #[default]
    Draft,
    /// Also sending mail, invitations and answers.
    Send,
    /// Also deleting permanently.
    Full,
}

impl AccessLevel {
    /// All levels in ascending order.
    pub const ALL: [Self; 5] = [Self::Read, Self::Organize, Self::Draft, Self::Send, Self::Full];

    /// Returns the word that selects it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Organize => "organize",
            Self::Draft => "draft",
            Self::Send => "send",
            Self::Full => "full",
        }
    }

    /// Returns the level with this word.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word().eq_ignore_ascii_case(word))
    }
}
