//! Access levels: how much a process may change.
//!
//! A level is set once (`--access`, `DAYSHEET_ACCESS`). What a tool needs stands
//! beside it in `tools/`, what a provider needs besides its scopes; here
//! is only the order of the levels and their words.

/// The access levels, each of which includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum AccessLevel {
    /// Nothing is changed anywhere.
    Read,
    /// Mail and events may be organized: marked, moved, filed. No message is sent, events with
    /// other participants are not changed, and whatever is deleted can be restored.
    Organize,
    /// Drafts may also be written.
    #[default]
    Draft,
    /// Mail, invitations and answers are sent.
    Send,
    /// Permanent deletion is also allowed.
    Full,
}

impl AccessLevel {
    /// Every level, from the least to the most.
    pub const ALL: [Self; 5] = [Self::Read, Self::Organize, Self::Draft, Self::Send, Self::Full];

    /// Returns the word that sets it.
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
