//! The input of the allocator: blocks and the ways to show them.

/// One way to show a block. The renderings of a block are in ascending order of cost and value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockRendering {
    /// Its cost in tokens, without its headings.
    pub tokens: usize,
    /// Its value, usually 0 to 1. NaN and negative numbers count as 0.
    pub value: f64,
    /// The shared headings (of tables) that it needs, as indexes into the list of costs. Each
    /// heading is paid once for all its users.
    pub headings: Vec<usize>,
}

/// A part of an answer that can be shown in several ways, or left for a later chunk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedBlock {
    /// The renderings, from the smallest to the fullest. A block without any is neither chosen
    /// nor left over.
    pub renderings: Vec<BlockRendering>,
    /// The tier, which decides the order of blocks.
    pub tier: PlacementTier,
    /// True if an answer without it would be useless.
    pub pinned: bool,
    /// The list it is part of, if any. No block of a list is upgraded beyond the previous one, so
    /// the fuller ones come first and the list keeps its order. The blocks of a list have the
    /// same number of renderings.
    pub list: Option<usize>,
}

impl PlannedBlock {
    /// True if a plan without it fails.
    pub(super) const fn must(&self) -> bool {
        self.pinned || matches!(self.tier, PlacementTier::Critical)
    }
}

/// The order in which blocks are placed. Critical blocks are mandatory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlacementTier {
    /// Mandatory: without it the plan fails.
    Critical,
    /// Placed before the others.
    High,
    /// The usual tier.
    #[default]
    Medium,
    /// Shown after everything else.
    Low,
}
