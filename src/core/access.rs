//! Access levels: how much a process may change.
//!
//! A level is set once (`--access`, `DAYSHEET_ACCESS`). What a tool needs stands
//! beside it in `tools/`, what a provider is asked for beside its scopes; here
//! is only the order of the levels and their words.

/// How much may be done, each level what those before it may and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Access {
    /// Nothing is changed anywhere.
    Read,
    /// Mail and events are put in order: marked, moved, filed. Nobody is written
    /// to, events that others are on are left alone, and what is deleted can be
    /// had back.
    Organize,
    /// Drafts are written besides.
    #[default]
    Draft,
    /// Mail, invitations and answers are sent.
    Send,
    /// What is deleted may be gone for good.
    Full,
}

impl Access {
    /// Every level, from the least to the most.
    pub const ALL: [Self; 5] = [Self::Read, Self::Organize, Self::Draft, Self::Send, Self::Full];

    /// The word it is set by.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Organize => "organize",
            Self::Draft => "draft",
            Self::Send => "send",
            Self::Full => "full",
        }
    }

    /// The level of a word.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word().eq_ignore_ascii_case(word))
    }
}
