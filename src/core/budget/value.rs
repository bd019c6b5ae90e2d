//! The value of an item to a reader, as a number from 0 to 1.
//!
//! A [`ValueStrategy`] states which properties of an item decide; each tool has a default
//! ([`resolve`]). The numbers only need the right order and sensible distances, because the
//! allocator ([`plan`](super::plan)) weighs them against the cost of the item. Items are not read
//! here; a tool describes each in a [`ValueHint`].

use crate::schemas::ColumnLevel;

/// The value of the last item of a list whose first item has 1.0.
const LEAST: f64 = 0.3;
/// The value of a message if it is unknown whether it needs an answer.
const UNSETTLED: f64 = 0.6;
/// The advantage of the first item of a list over the last if both match equally well.
const ORDER: f64 = 0.01;

/// The property by which items are valued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueStrategy {
    /// The order of the list: from 1.0 for the first, linearly down to 0.3 for the last.
    ElementCount,
    /// The state of a conversation: 1.0 if an answer is needed, 0.3 if settled, 0.6 if unknown.
    /// The first and last message of a conversation are pinned.
    ThreadLevel,
    /// Equal values: 1.0 for all.
    Uniform,
    /// The share of the query's words: 1.0 for all, 0.3 for none; ties are in the order of the
    /// list.
    QueryMatch,
}

impl ValueStrategy {
    /// All strategies.
    pub const ALL: [Self; 4] =
        [Self::ElementCount, Self::ThreadLevel, Self::Uniform, Self::QueryMatch];

    /// Returns its name in the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ElementCount => "element_count",
            Self::ThreadLevel => "thread_level",
            Self::Uniform => "uniform",
            Self::QueryMatch => "query_match",
        }
    }

    /// Returns the strategy with exactly this name.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.word() == word)
    }
}

/// The properties of an item, as far as its tool knows them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ValueHint {
    /// The position in the list, from 0.
    pub position: usize,
    /// The number of items in the list.
    pub of: usize,
    /// True if it needs an answer, false if it is settled, `None` if that is unknown.
    pub open: Option<bool>,
    /// True for the first and the last message of a conversation of three or more.
    pub end: bool,
    /// The share of the query's words that occur in it, 0 to 1.
    pub mentions: f64,
}

impl ValueHint {
    /// Returns the relative position: 0 for the first of the list, 1 for the last.
    fn along(&self) -> f64 {
        let last = self.of.saturating_sub(1);
        if last == 0 { 0.0 } else { self.position.min(last) as f64 / last as f64 }
    }
}

/// Returns the value of an item, 0 to 1.
pub fn value(strategy: ValueStrategy, hint: &ValueHint) -> f64 {
    match strategy {
        ValueStrategy::ElementCount => 1.0 - (1.0 - LEAST) * hint.along(),
        ValueStrategy::ThreadLevel => match hint.open {
            Some(true) => 1.0,
            Some(false) => LEAST,
            None => UNSETTLED,
        },
        ValueStrategy::Uniform => 1.0,
        ValueStrategy::QueryMatch => {
            // NaN, which fails every comparison, counts as no match.
            let found = hint.mentions > 0.0;
            let mentions = if found { hint.mentions.min(1.0) } else { 0.0 };
            LEAST + (1.0 - LEAST) * mentions - ORDER * hint.along()
        }
    }
}

/// Returns true if an answer without the item would be useless, as without an end of a thread.
pub fn pinned(strategy: ValueStrategy, hint: &ValueHint) -> bool {
    strategy == ValueStrategy::ThreadLevel && hint.end
}

/// Returns the share of an item's value that its rendering at this level carries.
pub const fn share(level: ColumnLevel) -> f64 {
    match level {
        ColumnLevel::Key => 0.6,
        ColumnLevel::Core => 0.85,
        ColumnLevel::More => 1.0,
    }
}

/// Returns the share of a text's value that a part of it carries: the square root of the shown
/// share, because the first lines say most. 1.0 for an empty text.
pub fn share_of_part(shown: usize, total: usize) -> f64 {
    if shown >= total { 1.0 } else { (shown as f64 / total as f64).sqrt() }
}

/// The default strategies of tools whose items differ.
const DEFAULTS: &[(&str, ValueStrategy)] = &[
    ("mail_search", ValueStrategy::ElementCount),
    ("mail_read", ValueStrategy::ThreadLevel),
    ("calendar_search", ValueStrategy::ElementCount),
    ("changes", ValueStrategy::ElementCount),
];

/// Returns true if the tool's items have the property that the strategy uses.
pub fn fits(tool: &str, strategy: ValueStrategy) -> bool {
    strategy != ValueStrategy::ThreadLevel || matches!(bare(tool), "mail_read" | "brief")
}

/// Returns the strategy for a tool: the override for exactly its name, or for the same tool under
/// another client's name, or the tool's default, or [`ValueStrategy::Uniform`]. The first of several
/// overrides counts. If words were `searched`, [`ValueStrategy::QueryMatch`] replaces the default
/// order of a list.
pub fn resolve(tool: &str, overrides: &[(String, ValueStrategy)], searched: bool) -> ValueStrategy {
    let bare = bare(tool);
    let given = |same: &dyn Fn(&str) -> bool| {
        let found = overrides.iter().find(|(name, _)| same(name));
        found.map(|(_, strategy)| *strategy)
    };
    given(&|name| name == tool)
        .or_else(|| given(&|name| self::bare(name) == bare))
        .or_else(|| {
            let found = DEFAULTS.iter().find(|(name, _)| *name == bare);
            found.map(|(_, strategy)| match strategy {
                ValueStrategy::ElementCount if searched => ValueStrategy::QueryMatch,
                own => *own,
            })
        })
        .unwrap_or(ValueStrategy::Uniform)
}

/// Strips client prefixes from a tool's name: `mcp__daysheet__lookup`,
/// `daysheet.lookup`, `mcp_daysheet_lookup`, `work/lookup`.
fn bare(tool: &str) -> &str {
    let sign = |c: char| matches!(c, '_' | '-' | '.' | '/' | ':');
    // Clients prefix a tool with the server's name, each with its own separators.
    if let Some((_, rest)) = tool.rsplit_once("daysheet")
        && rest.starts_with(sign)
    {
        return rest.trim_start_matches(sign);
    }
    let end = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    end.rsplit_once("__").map_or(end, |(_, name)| name)
}
