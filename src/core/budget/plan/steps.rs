//! The plan itself, with its recorded steps, and steps 1 and 2 of the allocator.

use std::cmp::Reverse;
use std::fmt;

use super::allocation::{RenderingAllocation, narrow, wide};
use super::block::{PlacementTier, PlannedBlock};

/// The error for a budget that cannot hold the mandatory blocks, or the first block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSmall {
    /// A number of tokens that suffices for these.
    pub needed: usize,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at least {} tokens are needed", self.needed)
    }
}

impl std::error::Error for TooSmall {}

/// The chosen renderings. It records its steps, so that they can be undone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderingPlan {
    chosen: Vec<Option<usize>>,
    /// The blocks it covers that have renderings, in order.
    members: Vec<usize>,
    tokens: usize,
    value: f64,
    steps: Vec<PlanStep>,
}

/// The state before a step, for undoing it.
#[derive(Debug, Clone, PartialEq)]
struct PlanStep {
    /// The block that the step changed.
    block: usize,
    /// The block's rendering before the step.
    before: Option<usize>,
    /// The other block of an exchange, and its rendering before.
    other: Option<(usize, Option<usize>)>,
    /// The tokens of the plan before the step.
    tokens: usize,
    /// The value of the plan before the step.
    value: f64,
}

impl RenderingPlan {
    /// Creates a plan of `members` in which no block is shown.
    pub(super) fn new(blocks: &[PlannedBlock], members: &[usize]) -> Self {
        let shows = |at: &usize| {
            let block = blocks.get(*at);
            block.is_some_and(|block| !block.renderings.is_empty())
        };
        let mut members: Vec<usize> = members.iter().copied().filter(shows).collect();
        members.sort_unstable();
        members.dedup();
        Self { members, ..Self::default() }
    }

    /// Sets the final rendering of each block.
    pub(super) fn with_chosen(self, chosen: Vec<Option<usize>>) -> Self {
        Self { chosen, ..self }
    }

    /// Returns the blocks it covers that have renderings, in order.
    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }

    /// Returns the rendering of each block; `None` if it is left over or has no renderings.
    pub fn chosen(&self) -> &[Option<usize>] {
        &self.chosen
    }

    /// Returns the total cost, headings included; never above the budget.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Returns the total value.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns the blocks that are not shown, in order.
    pub fn leftovers(&self) -> Vec<usize> {
        let shown = |at: &usize| self.chosen.get(*at).is_some_and(Option::is_some);
        let members = self.members.iter().copied();
        members.filter(|at| !shown(at)).collect()
    }

    /// Undoes the last upgrade, or removes the block placed last if no upgrade remains. Mandatory
    /// blocks and the last remaining block are kept. Returns false if nothing can be undone.
    ///
    /// Every intermediate plan is within the budget. If a step had closed a heading, undoing it
    /// may cost tokens instead of freeing any.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.steps.last() else {
            return false;
        };
        let shown = self.chosen.iter().flatten().take(2).count();
        // A plan without a block would make a chunk that shows nothing.
        if step.before.is_none() && shown < 2 {
            return false;
        }
        for (block, before) in [Some((step.block, step.before)), step.other].into_iter().flatten() {
            if let Some(slot) = self.chosen.get_mut(block) {
                *slot = before;
            }
        }
        (self.tokens, self.value) = (step.tokens, step.value);
        self.steps.pop();
        true
    }

    /// Runs steps 1 and 2.
    pub(super) fn place(
        &mut self,
        allocation: &mut RenderingAllocation<'_>,
        blocks: &[PlannedBlock],
        budget: usize,
    ) -> Result<(), TooSmall> {
        let must = |at: &usize| blocks.get(*at).is_some_and(PlannedBlock::must);
        let (pins, mut others): (Vec<usize>, Vec<usize>) =
            self.members.iter().partition(|at| must(at));
        self.pin(allocation, &pins, budget)?;

        let tier = |at: usize| blocks.get(at).map_or(PlacementTier::Low, |block| block.tier);
        // Values are never negative, and the bits of non-negative floats sort like the
        // floats.
        others.sort_by_cached_key(|at| {
            let value = allocation.value(*at, allocation.smallest(*at));
            (tier(*at), Reverse(value.to_bits()), *at)
        });
        for at in others {
            match fitting(allocation, at, budget) {
                Ok(to) => self.step(allocation, (at, to), None),
                // No block would be shown at all, and the next chunk would fail in the same
                // way.
                Err(needed) if pins.is_empty() && self.steps.is_empty() => {
                    return Err(TooSmall { needed: narrow(needed) });
                }
                // A later block that is smaller must not overtake this one: the leftovers have
                // to be a suffix.
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Runs step 1. Mandatory blocks cannot be undone, so this records no step.
    fn pin(
        &mut self,
        allocation: &mut RenderingAllocation<'_>,
        pins: &[usize],
        budget: usize,
    ) -> Result<(), TooSmall> {
        for at in pins {
            allocation.set(*at, allocation.smallest(*at));
        }
        let needed = allocation.tokens();
        if needed > wide(budget) {
            // A larger rendering may need fewer headings, so the total can still fit.
            for at in pins {
                allocation.set(*at, None);
            }
            for at in pins {
                let to = allocation.cheapest(*at);
                allocation.set(*at, to);
            }
            if allocation.tokens() > wide(budget) {
                let needed = narrow(needed.min(allocation.tokens()));
                return Err(TooSmall { needed });
            }
        }
        self.tokens = narrow(allocation.tokens());
        let values = pins.iter().map(|at| allocation.value(*at, allocation.chosen(*at)));
        self.value = values.sum();
        Ok(())
    }

    /// Applies a step and records the state before it.
    pub(super) fn step(
        &mut self,
        allocation: &mut RenderingAllocation<'_>,
        (block, to): (usize, usize),
        other: Option<(usize, usize)>,
    ) {
        let mut gain = 0.0;
        let mut set = |block: usize, to: usize| {
            let before = allocation.set(block, Some(to));
            gain += allocation.value(block, Some(to)) - allocation.value(block, before);
            before
        };
        let other = other.map(|(block, to)| (block, set(block, to)));
        let before = set(block, to);
        self.steps.push(PlanStep { block, before, other, tokens: self.tokens, value: self.value });
        self.tokens = narrow(allocation.tokens());
        self.value += gain;
    }
}

/// Returns the smallest rendering of a block, or the cheapest if only that fits. If neither fits,
/// returns the total cost with the cheapest as the error.
fn fitting(allocation: &RenderingAllocation<'_>, at: usize, budget: usize) -> Result<usize, u128> {
    for to in [allocation.smallest(at), allocation.cheapest(at)].into_iter().flatten() {
        if allocation.total(at, to) <= wide(budget) {
            return Ok(to);
        }
    }
    let cheapest = allocation.cheapest(at).map(|to| allocation.total(at, to));
    Err(cheapest.unwrap_or(allocation.tokens()))
}
