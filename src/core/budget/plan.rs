//! The allocator: chooses the blocks to show, and the rendering of each, within a budget.
//!
//! A block is a row, a message of a thread, or a window of a body. It has alternative
//! [`BlockRendering`]s, each with a real cost and a value; their content is unknown here. [`plan`]
//! works in three steps:
//!
//! 1. Pinned and critical blocks at their smallest. If these alone exceed the budget, the result
//!    is [`TooSmall`] with the required budget.
//! 2. All other blocks at their smallest: by tier, within a tier by value, and by position, until
//!    one does not fit in any rendering. That block and all later ones are the leftovers, even if
//!    a later one would fit: the leftovers are a suffix of the order, so that each chunk
//!    continues where the previous one ended. If even the first block does not fit, the result is
//!    [`TooSmall`] with the budget for that block.
//! 3. Upgrades: repeatedly the one with the most value per added token, over all fuller
//!    renderings of all blocks. A heading that an upgrade opens is paid; one that it closes is
//!    refunded. Within a list, no block is upgraded beyond the previous one. With few blocks,
//!    where each one weighs much, exchanges follow among the blocks outside of lists: one block
//!    becomes fuller and another smaller if that adds value.
//!
//! Step 3 is not exact. Compared with an exact solution for the same shown blocks, over 5,000
//! random cases of at most 8 blocks and 60 tokens, it reaches 99.9 % of the value on average and
//! 76 % at worst (where several blocks have to move to open a heading), and leaves 4 % of the
//! tokens unused; with up to 60 blocks, 99.9 %, 96 % and 0.2 %. Placing everything at its
//! smallest first costs more: it reaches 89 to 90 % of the value that leaving out arbitrary
//! blocks would give (`tests/core/budget/gap.rs`). The result is deterministic: ties go to the
//! better tier, and within it to the earlier block.

mod allocation;
mod block;
mod steps;
mod upgrade;

use self::allocation::RenderingAllocation;
pub use self::block::{BlockRendering, PlacementTier, PlannedBlock};
pub use self::steps::{RenderingPlan, TooSmall};

/// Chooses renderings for all `blocks` within `budget` tokens. `headings` are the costs of the
/// headings that renderings refer to; an index outside this list costs 0.
pub fn plan(
    blocks: &[PlannedBlock],
    headings: &[usize],
    budget: usize,
) -> Result<RenderingPlan, TooSmall> {
    let all: Vec<usize> = (0..blocks.len()).collect();
    plan_of(blocks, &all, headings, budget)
}

/// Plans only some of the blocks, such as the leftovers of another plan. The result is indexed
/// like `blocks`.
pub fn plan_of(
    blocks: &[PlannedBlock],
    members: &[usize],
    headings: &[usize],
    budget: usize,
) -> Result<RenderingPlan, TooSmall> {
    let mut allocation = RenderingAllocation::new(blocks, headings);
    let mut plan = RenderingPlan::new(blocks, members);
    plan.place(&mut allocation, blocks, budget)?;
    plan.upgrade(&mut allocation, blocks, budget);
    Ok(plan.with_chosen(allocation.into_chosen()))
}
