//! The gap between the planner's result and an exact optimum.

use daysheet_core::budget::plan::{PlannedBlock, plan};

use super::random::{Case, Random, orderly};

/// The constraint on a block: required, allowed, or left out.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Must,
    May,
    Out,
}

/// Returns the highest possible value, by a knapsack for every set of headings.
fn optimum(case: &Case, part: impl Fn(usize, &PlannedBlock) -> Part) -> f64 {
    let mut best: Option<f64> = None;
    for open in 0_usize..1 << case.headings.len() {
        let is_open = |heading: &usize| open >> heading & 1 == 1;
        let paid = (0..).zip(&case.headings).filter(|(at, _)| is_open(at));
        let paid: usize = paid.map(|(_, cost)| cost).sum();
        let Some(room) = case.budget.checked_sub(paid) else {
            continue;
        };
        // `None` marks a number of tokens that no choice adds up to.
        let mut most = vec![Some(0.0_f64); room + 1];
        for (at, block) in case.blocks.iter().enumerate() {
            let part = part(at, block);
            if part == Part::Out {
                continue;
            }
            let mut next = vec![None; room + 1];
            if part == Part::May {
                next.clone_from(&most);
            }
            for way in &block.renderings {
                if way.headings.iter().all(is_open) {
                    for tokens in way.tokens..=room {
                        if let Some(value) = most[tokens - way.tokens] {
                            let value = value + way.value;
                            let known: Option<f64> = next[tokens];
                            next[tokens] = Some(known.map_or(value, |known| known.max(value)));
                        }
                    }
                }
            }
            most = next;
        }
        if let Some(value) = most[room] {
            best = Some(best.map_or(value, |best| best.max(value)));
        }
    }
    best.expect("what was planned can be had")
}

/// Measures fixed cases. Returns the mean and the worst share of the optimum with the same blocks
/// shown, the mean share of the optimum with any blocks but the pinned ones left out, and the share
/// of unused budget in plans that leave blocks over.
fn measure(cases: usize, blocks: u64, budgets: u64) -> (f64, f64, f64, f64) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut sum, mut worst, mut free) = (0.0, f64::INFINITY, 0.0);
    let (mut unused, mut given) = (0, 0);
    let mut done = 0;
    while done < cases {
        let case = orderly(&mut random, blocks, budgets);
        let Ok(plan) = plan(&case.blocks, &case.headings, case.budget) else {
            continue;
        };
        done += 1;
        let same = optimum(&case, |at, _| match plan.chosen()[at] {
            Some(_) => Part::Must,
            None => Part::Out,
        });
        let share = plan.value() / same;
        assert!(share < 1.0 + 1e-9, "{share} of the optimum of {case:?}");
        sum += share;
        worst = share.min(worst);
        free += plan.value()
            / optimum(&case, |_, block| if block.pinned { Part::Must } else { Part::May });
        let full = |block: &PlannedBlock| block.renderings.last().map_or(0, |last| last.tokens);
        let all: usize = case.blocks.iter().map(full).sum();
        if all > case.budget {
            unused += case.budget - plan.tokens();
            given += case.budget;
        }
    }
    let cases = cases as f64;
    (sum / cases, worst, free / cases, f64::from(unused as u32) / f64::from(given as u32))
}

#[test]
fn plans_of_few_blocks_are_nearly_optimal() {
    let (mean, worst, free, unused) = measure(5_000, 8, 60);
    let found = format!("mean {mean:.5} worst {worst:.4} free {free:.4} unused {unused:.4}");
    assert!(mean >= 0.999 && worst >= 0.75, "{found}");
    assert!(free >= 0.88 && unused <= 0.06, "{found}");
}

/// Cases with too many blocks for exchanges.
#[test]
fn plans_of_many_blocks_are_nearly_optimal() {
    let (mean, worst, free, unused) = measure(150, 60, 480);
    let found = format!("mean {mean:.5} worst {worst:.4} free {free:.4} unused {unused:.4}");
    assert!(mean >= 0.998 && worst >= 0.9, "{found}");
    assert!(free >= 0.85 && unused <= 0.01, "{found}");
}
