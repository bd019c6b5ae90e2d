//! Step 3 of the plan: spends the rest of the budget where it adds the most value.
//!
//! Greedy over a heap with one upgrade per block. Choosing by value per token among all fuller
//! renderings of a block follows the upper hull of its renderings. Upgrades are checked again
//! when they are popped, because a heading may have been closed or the budget used up in the
//! meantime.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use super::allocation::{RenderingAllocation, wide};
use super::block::{PlacementTier, PlannedBlock};
use super::steps::RenderingPlan;

/// The maximum total number of renderings for which exchanges are tried. Among more renderings a
/// single one weighs little.
const FEW: usize = 64;
/// The maximum number of exchanges.
const EXCHANGES: usize = 24;
/// The smallest gain of an exchange. Smaller ones are rounding errors.
const SMALLEST_GAIN: f64 = 1e-9;

/// The best upgrade of one block.
struct BlockUpgrade {
    /// The value per added token; infinite if it adds none.
    rate: f64,
    tier: PlacementTier,
    block: usize,
    to: usize,
    gain: f64,
    /// The number of this upgrade of the block. Only the latest is valid.
    issue: usize,
}

impl Ord for BlockUpgrade {
    fn cmp(&self, other: &Self) -> Ordering {
        let better = self.rate.total_cmp(&other.rate);
        better
            .then_with(|| other.tier.cmp(&self.tier))
            .then_with(|| other.block.cmp(&self.block))
            .then_with(|| self.issue.cmp(&other.issue))
    }
}

impl PartialOrd for BlockUpgrade {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BlockUpgrade {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for BlockUpgrade {}

/// The upgrades of all blocks.
struct UpgradeQueue {
    heap: BinaryHeap<BlockUpgrade>,
    issues: Vec<usize>,
    /// The previous and next block of each block in its list.
    beside: Vec<(Option<usize>, Option<usize>)>,
}

impl UpgradeQueue {
    /// Adds a new upgrade for a block, which invalidates older ones.
    fn push(
        &mut self,
        allocation: &RenderingAllocation<'_>,
        blocks: &[PlannedBlock],
        block: usize,
        budget: usize,
    ) {
        let Some(issue) = self.issues.get_mut(block) else {
            return;
        };
        *issue += 1;
        let before = self.beside.get(block).and_then(|(before, _)| *before);
        let most = before.and_then(|before| allocation.chosen(before));
        if let Some(mut upgrade) = best(allocation, blocks, block, most, budget) {
            upgrade.issue = *issue;
            self.heap.push(upgrade);
        }
    }

    fn next(&mut self) -> Option<BlockUpgrade> {
        loop {
            let upgrade = self.heap.pop()?;
            if self.issues.get(upgrade.block) == Some(&upgrade.issue) {
                return Some(upgrade);
            }
        }
    }
}

impl RenderingPlan {
    /// Runs step 3.
    pub(super) fn upgrade(
        &mut self,
        allocation: &mut RenderingAllocation<'_>,
        blocks: &[PlannedBlock],
        budget: usize,
    ) {
        let mut shown = self.members().to_vec();
        shown.retain(|at| allocation.chosen(*at).is_some());
        self.greedy(allocation, blocks, &shown, budget);
        let ways: usize = shown.iter().map(|at| allocation.renderings(*at).len()).sum();
        // The search for exchanges is quadratic in the number of renderings.
        if ways > FEW {
            return;
        }
        // An exchange could make a block of a list fuller than the one before it.
        let mut free = shown.clone();
        free.retain(|at| blocks.get(*at).is_some_and(|block| block.list.is_none()));
        for _ in 0..EXCHANGES {
            let Some((up, down)) = exchange(allocation, &free, budget) else {
                break;
            };
            self.step(allocation, up, Some(down));
            self.greedy(allocation, blocks, &shown, budget);
        }
    }

    /// Applies the best upgrade, as long as there is one.
    fn greedy(
        &mut self,
        allocation: &mut RenderingAllocation<'_>,
        blocks: &[PlannedBlock],
        shown: &[usize],
        budget: usize,
    ) {
        let mut queue = UpgradeQueue {
            heap: BinaryHeap::with_capacity(shown.len()),
            issues: vec![0; blocks.len()],
            beside: beside(blocks, shown),
        };
        for at in shown {
            queue.push(allocation, blocks, *at, budget);
        }
        while let Some(upgrade) = queue.next() {
            let at = upgrade.block;
            // Upgrades that may have become cheaper were pushed again; this one can only have
            // become dearer.
            let now = rate(allocation, at, upgrade.to, upgrade.gain, budget);
            if now.is_none_or(|now| now < upgrade.rate) {
                queue.push(allocation, blocks, at, budget);
                continue;
            }
            let before = allocation.chosen(at);
            let tokens = allocation.tokens();
            let opens = allocation
                .headings_of(at, Some(upgrade.to))
                .any(|heading| allocation.users(heading) == 0);
            self.step(allocation, (at, upgrade.to), None);
            if opens || allocation.tokens() < tokens {
                // A heading was opened or tokens were freed: other upgrades may be cheaper or
                // fit now.
                for at in shown {
                    queue.push(allocation, blocks, *at, budget);
                }
                continue;
            }
            queue.push(allocation, blocks, at, budget);
            if let Some((_, Some(after))) = queue.beside.get(at).copied() {
                queue.push(allocation, blocks, after, budget);
            }
            // A block that is now the only user of a heading would close it by an upgrade.
            let alone =
                allocation.headings_of(at, before).any(|heading| allocation.users(heading) == 1);
            if alone {
                for at in shown {
                    if allocation
                        .headings_of(*at, allocation.chosen(*at))
                        .any(|heading| allocation.users(heading) == 1)
                    {
                        queue.push(allocation, blocks, *at, budget);
                    }
                }
            }
        }
    }
}

/// Returns the value per token that this rendering adds; `None` if it exceeds the budget.
fn rate(
    allocation: &RenderingAllocation<'_>,
    block: usize,
    to: usize,
    gain: f64,
    budget: usize,
) -> Option<f64> {
    let total = allocation.total(block, to);
    (total <= wide(budget)).then(|| match total.checked_sub(allocation.tokens()) {
        None | Some(0) => f64::INFINITY,
        Some(more) => gain / more as f64,
    })
}

/// Returns the neighbours of each shown block within its list.
fn beside(blocks: &[PlannedBlock], shown: &[usize]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut beside = vec![(None, None); blocks.len()];
    let mut last: HashMap<usize, usize> = HashMap::new();
    for at in shown {
        let list = blocks.get(*at).and_then(|block| block.list);
        let Some(before) = list.and_then(|list| last.insert(list, *at)) else {
            continue;
        };
        if let Some((_, after)) = beside.get_mut(before) {
            *after = Some(*at);
        }
        if let Some((slot, _)) = beside.get_mut(*at) {
            *slot = Some(before);
        }
    }
    beside
}

/// Returns the upgrade of a block with the most value per token that fits, to a rendering up to
/// `most`.
fn best(
    allocation: &RenderingAllocation<'_>,
    blocks: &[PlannedBlock],
    block: usize,
    most: Option<usize>,
    budget: usize,
) -> Option<BlockUpgrade> {
    let value = allocation.value(block, allocation.chosen(block));
    let mut best: Option<BlockUpgrade> = None;
    let all = allocation.renderings(block).len();
    for to in 0..most.map_or(all, |most| all.min(most + 1)) {
        let gain = allocation.value(block, Some(to)) - value;
        if gain <= 0.0 {
            continue;
        }
        let Some(rate) = rate(allocation, block, to, gain, budget) else {
            continue;
        };
        // All free upgrades have an infinite rate, so the gain decides among them.
        let better = best.as_ref().is_none_or(|best| {
            rate > best.rate || rate == best.rate && rate.is_infinite() && gain > best.gain
        });
        if better {
            best = Some(BlockUpgrade {
                rate,
                tier: blocks.get(block).map_or(PlacementTier::Low, |block| block.tier),
                block,
                to,
                gain,
                issue: 0,
            });
        }
    }
    best
}

/// Returns the best exchange: the upgrade of a block that does not fit alone, and the downgrade
/// of another block that makes room for it.
fn exchange(
    allocation: &mut RenderingAllocation<'_>,
    shown: &[usize],
    budget: usize,
) -> Option<((usize, usize), (usize, usize))> {
    let mut best = None;
    let mut most = SMALLEST_GAIN;
    for up in shown {
        let value = allocation.value(*up, allocation.chosen(*up));
        for to in 0..allocation.renderings(*up).len() {
            let gain = allocation.value(*up, Some(to)) - value;
            if gain <= most {
                continue;
            }
            let before = allocation.set(*up, Some(to));
            for down in shown {
                let value = allocation.value(*down, allocation.chosen(*down));
                for less in 0..allocation.renderings(*down).len() {
                    let net = gain + (allocation.value(*down, Some(less)) - value);
                    if down != up && net > most && allocation.total(*down, less) <= wide(budget) {
                        (best, most) = (Some(((*up, to), (*down, less))), net);
                    }
                }
            }
            allocation.set(*up, before);
        }
    }
    best
}
