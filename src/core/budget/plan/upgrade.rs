//! Step 3 of the plan: spends the rest of the budget where it adds the most value.
//!
//! Greedy over a heap of offers, one for each block. Choosing among all fuller renderings of a
//! block, by value per token, follows the upper hull of its renderings. Offers are checked again
//! when they come up: a heading may have been closed since, or the budget used up.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::board::{Board, wide};
use super::{Block, Plan, Tier};

/// Up to this many renderings in sum, exchanges are looked for: among more of
/// them a single one weighs little.
const FEW: usize = 64;
/// The maximum number of exchanges.
const EXCHANGES: usize = 24;
/// An exchange for less is the rounding of a sum, not a gain.
const SMALLEST_GAIN: f64 = 1e-9;

/// The best upgrade of one block.
struct Offer {
    /// Value for each token; infinite if it costs none.
    rate: f64,
    tier: Tier,
    block: usize,
    to: usize,
    gain: f64,
    /// Which offer of this block it is: only the last one counts.
    issue: usize,
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        let better = self.rate.total_cmp(&other.rate);
        better
            .then_with(|| other.tier.cmp(&self.tier))
            .then_with(|| other.block.cmp(&self.block))
            .then_with(|| self.issue.cmp(&other.issue))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Offer {}

/// The offers of all blocks.
struct Market {
    heap: BinaryHeap<Offer>,
    issues: Vec<usize>,
}

impl Market {
    /// Makes a new offer for a block; older ones lose their worth.
    fn ask(&mut self, board: &Board<'_>, blocks: &[Block], block: usize, budget: usize) {
        let Some(issue) = self.issues.get_mut(block) else {
            return;
        };
        *issue += 1;
        if let Some(mut offer) = best(board, blocks, block, budget) {
            offer.issue = *issue;
            self.heap.push(offer);
        }
    }

    fn next(&mut self) -> Option<Offer> {
        loop {
            let offer = self.heap.pop()?;
            if self.issues.get(offer.block) == Some(&offer.issue) {
                return Some(offer);
            }
        }
    }
}

impl Plan {
    /// Runs step 3.
    pub(super) fn upgrade(&mut self, board: &mut Board<'_>, blocks: &[Block], budget: usize) {
        let mut shown = self.members.clone();
        shown.retain(|at| board.chosen(*at).is_some());
        self.greedy(board, blocks, &shown, budget);
        let ways: usize = shown.iter().map(|at| board.renderings(*at).len()).sum();
        if ways > FEW {
            return;
        }
        for _ in 0..EXCHANGES {
            let Some((up, down)) = exchange(board, &shown, budget) else {
                break;
            };
            self.step(board, up, Some(down));
            self.greedy(board, blocks, &shown, budget);
        }
    }

    /// Takes the best offer, as long as there is one.
    fn greedy(&mut self, board: &mut Board<'_>, blocks: &[Block], shown: &[usize], budget: usize) {
        let mut market =
            Market { heap: BinaryHeap::with_capacity(shown.len()), issues: vec![0; blocks.len()] };
        for at in shown {
            market.ask(board, blocks, *at, budget);
        }
        while let Some(offer) = market.next() {
            let at = offer.block;
            // Offers that may have improved were recomputed; this one can only have
            // become dearer.
            let now = rate(board, at, offer.to, offer.gain, budget);
            if now.is_none_or(|now| now < offer.rate) {
                market.ask(board, blocks, at, budget);
                continue;
            }
            let before = board.chosen(at);
            let tokens = board.tokens();
            let opens =
                board.headings_of(at, Some(offer.to)).any(|heading| board.users(heading) == 0);
            self.step(board, (at, offer.to), None);
            if opens || board.tokens() < tokens {
                // Others can have become cheaper, or fit now.
                for at in shown {
                    market.ask(board, blocks, *at, budget);
                }
                continue;
            }
            market.ask(board, blocks, at, budget);
            // A block that is left alone with a heading would close it.
            let alone = board.headings_of(at, before).any(|heading| board.users(heading) == 1);
            if alone {
                for at in shown {
                    if board
                        .headings_of(*at, board.chosen(*at))
                        .any(|heading| board.users(heading) == 1)
                    {
                        market.ask(board, blocks, *at, budget);
                    }
                }
            }
        }
    }
}

/// Returns the value per token that this rendering adds; `None` if it does not fit.
fn rate(board: &Board<'_>, block: usize, to: usize, gain: f64, budget: usize) -> Option<f64> {
    let total = board.total(block, to);
    (total <= wide(budget)).then(|| match total.checked_sub(board.tokens()) {
        None | Some(0) => f64::INFINITY,
        Some(more) => gain / more as f64,
    })
}

/// Returns the best upgrade of a block that fits: the most value per token.
fn best(board: &Board<'_>, blocks: &[Block], block: usize, budget: usize) -> Option<Offer> {
    let value = board.value(block, board.chosen(block));
    let mut best: Option<Offer> = None;
    for to in 0..board.renderings(block).len() {
        let gain = board.value(block, Some(to)) - value;
        if gain <= 0.0 {
            continue;
        }
        let Some(rate) = rate(board, block, to, gain, budget) else {
            continue;
        };
        let better = best.as_ref().is_none_or(|best| {
            rate > best.rate || rate == best.rate && rate.is_infinite() && gain > best.gain
        });
        if better {
            best = Some(Offer {
                rate,
                tier: blocks.get(block).map_or(Tier::Low, |block| block.tier),
                block,
                to,
                gain,
                issue: 0,
            });
        }
    }
    best
}

/// Makes the best exchange: upgrades a block that does not fit alone, and downgrades
/// another to make room.
fn exchange(
    board: &mut Board<'_>,
    shown: &[usize],
    budget: usize,
) -> Option<((usize, usize), (usize, usize))> {
    let mut best = None;
    let mut most = SMALLEST_GAIN;
    for up in shown {
        let value = board.value(*up, board.chosen(*up));
        for to in 0..board.renderings(*up).len() {
            let gain = board.value(*up, Some(to)) - value;
            if gain <= most {
                continue;
            }
            let before = board.set(*up, Some(to));
            for down in shown {
                let value = board.value(*down, board.chosen(*down));
                for less in 0..board.renderings(*down).len() {
                    let net = gain + (board.value(*down, Some(less)) - value);
                    if down != up && net > most && board.total(*down, less) <= wide(budget) {
                        (best, most) = (Some(((*up, to), (*down, less))), net);
                    }
                }
            }
            board.set(*up, before);
        }
    }
    best
}
