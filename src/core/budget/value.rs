//! What an item is worth to a reader, as a number from 0 to 1.
//!
//! A [`Strategy`] says which of the things known of an item decide; each tool
//! has one by default ([`resolve`]). The numbers only have to stand in the right
//! order and at a sensible distance: the allocator ([`plan`](super::plan))
//! compares them with what the item costs. Nothing here reads an item; a tool
//! says in a [`Hint`] what it knows.

use crate::schemas::Level;

/// What the least of a list is worth, against 1.0 for the first.
const LEAST: f64 = 0.3;
/// A message of which is not known whether it needs an answer.
const UNSETTLED: f64 = 0.6;
/// What the first of a list has ahead of the last when both match alike.
const ORDER: f64 = 0.01;

/// How items are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The order of the list: 1.0 for the first, in a line to 0.3 for the last.
    ElementCount,
    /// The state of a conversation: needs an answer 1.0, settled 0.3, not known
    /// 0.6. The ends of a conversation are pinned.
    ThreadLevel,
    /// All alike: 1.0.
    Uniform,
    /// The share of the query's words: 1.0 for all, 0.3 for none; among equals
    /// the order of the list.
    QueryMatch,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::ElementCount, Self::ThreadLevel, Self::Uniform, Self::QueryMatch];

    /// The word for it in the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ElementCount => "element_count",
            Self::ThreadLevel => "thread_level",
            Self::Uniform => "uniform",
            Self::QueryMatch => "query_match",
        }
    }

    /// The one with this word, exactly.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.word() == word)
    }
}

/// What is known of an item, as far as its tool knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hint {
    /// Its place in the list, from 0.
    pub position: usize,
    /// How many items the list has.
    pub of: usize,
    /// True when it needs an answer, false when it is settled, none when that
    /// is not known.
    pub open: Option<bool>,
    /// True for the first and the last message of a conversation of three or more.
    pub end: bool,
    /// The share of the query's words that are in it, 0 to 1.
    pub mentions: f64,
}

impl Hint {
    /// 0 for the first of the list, 1 for the last.
    fn along(&self) -> f64 {
        let last = self.of.saturating_sub(1);
        if last == 0 { 0.0 } else { self.position.min(last) as f64 / last as f64 }
    }
}

/// What an item is worth, 0 to 1.
pub fn value(strategy: Strategy, hint: &Hint) -> f64 {
    match strategy {
        Strategy::ElementCount => 1.0 - (1.0 - LEAST) * hint.along(),
        Strategy::ThreadLevel => match hint.open {
            Some(true) => 1.0,
            Some(false) => LEAST,
            None => UNSETTLED,
        },
        Strategy::Uniform => 1.0,
        Strategy::QueryMatch => {
            // What is no number is no match.
            let found = hint.mentions > 0.0;
            let mentions = if found { hint.mentions.min(1.0) } else { 0.0 };
            LEAST + (1.0 - LEAST) * mentions - ORDER * hint.along()
        }
    }
}

/// True when an answer without the item is none: an end of a conversation.
pub fn pinned(strategy: Strategy, hint: &Hint) -> bool {
    strategy == Strategy::ThreadLevel && hint.end
}

/// How much of an item's value its rendering at this level carries.
pub const fn share(level: Level) -> f64 {
    match level {
        Level::Key => 0.6,
        Level::Core => 0.85,
        Level::More => 1.0,
    }
}

/// How much of a text's value a part of it carries: the root of its share, as
/// the first lines say most. Everything of nothing is 1.0.
pub fn part(shown: usize, total: usize) -> f64 {
    if shown >= total { 1.0 } else { (shown as f64 / total as f64).sqrt() }
}

/// The tools whose items are not all alike.
const DEFAULTS: &[(&str, Strategy)] = &[
    ("mail_search", Strategy::ElementCount),
    ("mail_read", Strategy::ThreadLevel),
    ("calendar_search", Strategy::ElementCount),
    ("changes", Strategy::ElementCount),
];

/// True when items of the tool have what the strategy looks at.
pub fn fits(tool: &str, strategy: Strategy) -> bool {
    strategy != Strategy::ThreadLevel || matches!(bare(tool), "mail_read" | "brief")
}

/// The strategy for a tool: an override for exactly its name, else one for the
/// same tool under another client's name for it, else the tool's own, else
/// [`Strategy::Uniform`]. Of several the first counts. A list in order is
/// [`Strategy::QueryMatch`] of itself when words were `searched` for.
pub fn resolve(tool: &str, overrides: &[(String, Strategy)], searched: bool) -> Strategy {
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
                Strategy::ElementCount if searched => Strategy::QueryMatch,
                own => *own,
            })
        })
        .unwrap_or(Strategy::Uniform)
}

/// A tool's name without what clients put before it: `mcp__daysheet__lookup`,
/// `daysheet.lookup`, `mcp_daysheet_lookup`, `work/lookup`.
fn bare(tool: &str) -> &str {
    let sign = |c: char| matches!(c, '_' | '-' | '.' | '/' | ':');
    if let Some((_, rest)) = tool.rsplit_once("daysheet")
        && rest.starts_with(sign)
    {
        return rest.trim_start_matches(sign);
    }
    let end = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    end.rsplit_once("__").map_or(end, |(_, name)| name)
}
