//! The chosen rendering of each block, and their total cost.
//!
//! The only module that adds up tokens: a heading is paid with its first user and refunded with
//! its last. Sums are exact, however large.

use super::block::{BlockRendering, PlannedBlock};

/// The upper limit of a value, which keeps sums finite.
const MAX_VALUE: f64 = 1e9;

/// The choices made so far.
pub(super) struct RenderingAllocation<'a> {
    blocks: &'a [PlannedBlock],
    headings: &'a [usize],
    /// The number of chosen renderings that need each heading.
    users: Vec<usize>,
    chosen: Vec<Option<usize>>,
    tokens: u128,
}

impl<'a> RenderingAllocation<'a> {
    pub(super) fn new(blocks: &'a [PlannedBlock], headings: &'a [usize]) -> Self {
        Self {
            blocks,
            headings,
            users: vec![0; headings.len()],
            chosen: vec![None; blocks.len()],
            tokens: 0,
        }
    }

    /// Returns the total cost of the chosen renderings.
    pub(super) const fn tokens(&self) -> u128 {
        self.tokens
    }

    pub(super) fn chosen(&self, block: usize) -> Option<usize> {
        self.chosen.get(block).copied().flatten()
    }

    pub(super) fn into_chosen(self) -> Vec<Option<usize>> {
        self.chosen
    }

    pub(super) fn renderings(&self, block: usize) -> &'a [BlockRendering] {
        self.blocks.get(block).map_or(&[], |block| block.renderings.as_slice())
    }

    fn rendering(&self, block: usize, at: Option<usize>) -> Option<&'a BlockRendering> {
        self.renderings(block).get(at?)
    }

    /// Returns the headings of a rendering, without unknown ones.
    pub(super) fn headings_of(
        &self,
        block: usize,
        at: Option<usize>,
    ) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let headings = self.rendering(block, at).map_or(&[][..], |r| &r.headings);
        let most = self.headings.len();
        headings.iter().copied().filter(move |each| *each < most)
    }

    /// Returns the number of chosen renderings that need this heading.
    pub(super) fn users(&self, heading: usize) -> usize {
        self.users.get(heading).copied().unwrap_or(0)
    }

    /// Returns the value of a rendering, never negative or NaN.
    pub(super) fn value(&self, block: usize, at: Option<usize>) -> f64 {
        let value = self.rendering(block, at).map_or(0.0, |r| r.value);
        // The comparison is false for NaN, which counts as 0 like negative values.
        if value > 0.0 { value.min(MAX_VALUE) } else { 0.0 }
    }

    /// Returns the rendering with the fewest tokens, headings not counted.
    pub(super) fn smallest(&self, block: usize) -> Option<usize> {
        let renderings = self.renderings(block).iter().enumerate();
        renderings.min_by_key(|(_, r)| r.tokens).map(|(at, _)| at)
    }

    /// Returns the rendering with the lowest resulting total, headings included.
    pub(super) fn cheapest(&self, block: usize) -> Option<usize> {
        (0..self.renderings(block).len()).min_by_key(|at| self.total(block, *at))
    }

    /// Returns the resulting total cost if this rendering replaced the current one.
    pub(super) fn total(&self, block: usize, at: usize) -> u128 {
        let old = self.rendering(block, self.chosen(block));
        let (old_tokens, old) = old.map_or((0, &[][..]), |r| (r.tokens, &r.headings));
        let Some(new) = self.rendering(block, Some(at)) else {
            return self.tokens.saturating_sub(wide(old_tokens));
        };
        let (mut more, mut less) = (wide(new.tokens), wide(old_tokens));
        // A heading that no other block uses is refunded and, if the new rendering needs it
        // too, paid again. One that a rendering names twice is paid once.
        for (rank, heading) in new.headings.iter().enumerate() {
            if self.users(*heading) == uses(old, *heading)
                && !new.headings.iter().take(rank).any(|each| each == heading)
            {
                more += self.cost(*heading);
            }
        }
        for (rank, heading) in old.iter().enumerate() {
            if self.users(*heading) == uses(old, *heading)
                && !old.iter().take(rank).any(|each| each == heading)
            {
                less += self.cost(*heading);
            }
        }
        (self.tokens + more).saturating_sub(less)
    }

    /// Returns the cost of a heading; 0 for an unknown one.
    fn cost(&self, heading: usize) -> u128 {
        self.headings.get(heading).copied().map_or(0, wide)
    }

    /// Chooses a rendering and returns the previous one.
    pub(super) fn set(&mut self, block: usize, to: Option<usize>) -> Option<usize> {
        let before = self.chosen(block);
        if let Some(old) = self.rendering(block, before) {
            self.tokens = self.tokens.saturating_sub(wide(old.tokens));
            for heading in &old.headings {
                if let Some(users) = self.users.get_mut(*heading) {
                    *users = users.saturating_sub(1);
                    if *users == 0 {
                        self.tokens = self.tokens.saturating_sub(self.cost(*heading));
                    }
                }
            }
        }
        if let Some(new) = self.rendering(block, to) {
            self.tokens += wide(new.tokens);
            for heading in &new.headings {
                if let Some(users) = self.users.get_mut(*heading) {
                    *users += 1;
                    if *users == 1 {
                        self.tokens += self.cost(*heading);
                    }
                }
            }
        }
        if let Some(slot) = self.chosen.get_mut(block) {
            *slot = to;
        }
        before
    }
}

/// Counts the occurrences of a heading in a rendering.
fn uses(headings: &[usize], heading: usize) -> usize {
    headings.iter().filter(|each| **each == heading).count()
}

/// Widens a count for sums, which cannot overflow in 128 bits.
pub(super) const fn wide(tokens: usize) -> u128 {
    tokens as u128
}

/// Narrows a sum to a count, saturating.
pub(super) fn narrow(tokens: u128) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX)
}
