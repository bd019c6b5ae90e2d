//! The allocator: small cases written by hand, and invariants for random blocks.

use std::collections::BTreeSet;

use daysheet_core::budget::plan::{
    BlockRendering, PlacementTier, PlannedBlock, RenderingPlan, TooSmall, plan, plan_of,
};
use proptest::prelude::*;

use super::random::{Case, hostile};
use crate::common::thorough::thorough;

/// Parses a block of `tokens:value` or `tokens:value/heading` renderings.
fn block(tier: PlacementTier, renderings: &str) -> PlannedBlock {
    let renderings = renderings.split_whitespace().map(|text| {
        let (tokens, rest) = text.split_once(':').unwrap();
        let (value, heading) = rest.split_once('/').unwrap_or((rest, ""));
        BlockRendering {
            tokens: tokens.parse().unwrap(),
            value: value.parse().unwrap(),
            headings: heading.parse().into_iter().collect(),
        }
    });
    PlannedBlock { renderings: renderings.collect(), tier, ..PlannedBlock::default() }
}

fn pin(renderings: &str) -> PlannedBlock {
    PlannedBlock { pinned: true, ..block(PlacementTier::Low, renderings) }
}

/// Returns one sign for each block, its rendering or `-`, and the number of tokens.
fn text(plan: &Result<RenderingPlan, TooSmall>) -> String {
    match plan {
        Err(TooSmall { needed }) => format!("needs {needed}"),
        Ok(plan) => {
            let signs = plan.chosen().iter();
            let signs: String =
                signs.map(|chosen| chosen.map_or("-".to_owned(), |at| at.to_string())).collect();
            format!("{signs} {}", plan.tokens())
        }
    }
}

#[test]
fn plans_of_few_blocks_are_these() {
    use PlacementTier::{Critical, High, Low, Medium};
    let two = |tier| block(tier, "2:0.5 5:0.8");
    for (title, blocks, headings, expected) in cases! {
        "more budget: more blocks, then fuller ones", vec![two(Medium), two(Medium)], vec![],
            &[
                (0, "needs 2"),
                (1, "needs 2"),
                (2, "0- 2"),
                (4, "00 4"),
                (6, "00 4"),
                (7, "10 7"),
                (10, "11 10"),
                (usize::MAX, "11 10"),
            ][..];
        "the better tier, then the better value, then the earlier one",
            vec![
                block(Low, "1:1"),
                block(Medium, "1:0.2"),
                block(Medium, "1:0.3"),
                block(High, "1:0.1"),
                block(Medium, "1:0.3"),
            ], vec![],
            &[(1, "---0- 1"), (2, "--00- 2"), (3, "--000 3"), (4, "-0000 4"), (5, "00000 5")];
        "what is left over is a suffix, though the last would fit",
            vec![
                block(Medium, "2:1"),
                block(Medium, "9:0.9"),
                block(Medium, "1:0.8"),
                block(Low, "1:1"),
            ], vec![], &[(5, "0--- 2"), (11, "00-- 11"), (13, "0000 13")];
        "the first, or none",
            vec![block(High, "9:1"), block(Low, "5:1"), block(Low, "3:0.5")], vec![],
            &[(2, "needs 9"), (8, "needs 9"), (9, "0-- 9")];
        "what has to be there", vec![two(Medium), pin("3:0.1/0 6:0.2/0"), two(Critical)], vec![4],
            &[(8, "needs 9"), (9, "-00 9"), (11, "000 11"), (14, "001 14"), (20, "111 20")];
        "pins that need fewer headings in a longer rendering",
            vec![pin("1:0.1/0 3:0.1"), pin("1:0.1/0 3:0.1")], vec![9],
            &[(5, "needs 6"), (6, "11 6"), (11, "00 11")];
        "a heading is paid once and given back by its last user",
            vec![block(Medium, "2:0.5/0 4:1/1"), block(Medium, "2:0.5/0 4:1/1")], vec![3, 5],
            &[(5, "0- 5"), (7, "00 7"), (12, "00 7"), (13, "11 13")];
        "an upgrade that costs nothing is always taken", vec![block(Medium, "3:0.5 3:0.6 3:0.7")],
            vec![], &[(3, "2 3")];
        "a step over a poor rendering", vec![block(Medium, "1:0.1 5:0.15 6:0.9")], vec![],
            &[(5, "1 5"), (6, "2 6")];
        "an exchange: the richer upgrade instead of the better rate",
            vec![block(Medium, "1:0.1 3:0.4"), block(Medium, "1:0.1 9:0.9")], vec![],
            &[(4, "10 4"), (10, "01 10"), (12, "11 12")];
        "nothing", vec![], vec![], &[(0, " 0")];
        "a block with nothing to show", vec![pin(""), block(Medium, "1:1"), block(High, "")],
            vec![], &[(0, "needs 1"), (1, "-0- 1")];
        "values that are none",
            vec![block(Medium, "1:NaN 2:-3 3:0.1"), block(Medium, "1:-inf 2:inf")], vec![],
            &[(2, "00 2"), (3, "01 3"), (5, "21 5")];
    } {
        for (budget, expected) in expected {
            let plan = plan(&blocks, &headings, *budget);
            assert_eq!(text(&plan), *expected, "{title}: {budget}");
        }
    }
}

#[test]
fn undo_reverts_upgrades_and_placements() {
    let blocks = [
        block(PlacementTier::Medium, "2:0.5 5:0.8 9:0.9"),
        pin("1:0.1 2:0.9"),
        block(PlacementTier::Medium, "2:0.6"),
    ];
    let mut plan = plan(&blocks, &[], 12).unwrap();
    let mut states = vec![text(&Ok(plan.clone()))];
    while plan.undo() {
        states.push(text(&Ok(plan.clone())));
    }
    assert_eq!(states, ["110 9", "010 6", "000 5", "-00 3", "-0- 1"], "the pin stays");
    assert_eq!(plan.leftovers(), [0, 2]);

    // Without pins, the first block in order is the last to be dropped.
    let mut plan = self::plan(&blocks[..1], &[], 9).unwrap();
    let mut steps = 0;
    while plan.undo() {
        steps += 1;
    }
    assert_eq!((steps, text(&Ok(plan)).as_str()), (2, "0 2"));
    assert!(!RenderingPlan::default().undo());
}

/// Plans blocks in chunks, as answers are cut: the blocks that a plan leaves over are planned
/// again, with a budget by the chunk's number.
fn chunks(
    blocks: &[PlannedBlock],
    headings: &[usize],
    budgets: impl Fn(usize) -> usize,
) -> Result<Vec<Vec<usize>>, TooSmall> {
    let mut chunks = Vec::new();
    let mut left: Vec<usize> = (0..blocks.len()).collect();
    while !left.is_empty() {
        let rest = plan_of(blocks, &left, headings, budgets(chunks.len()))?.leftovers();
        left.retain(|at| !rest.contains(at));
        chunks.push(std::mem::replace(&mut left, rest));
    }
    Ok(chunks)
}

#[test]
fn each_chunk_continues_where_the_last_ended() {
    let blocks: Vec<PlannedBlock> = [1, 4, 2, 3, 2]
        .map(|tokens| block(PlacementTier::Medium, &format!("{tokens}:0.5/0 9:1/0")))
        .into();
    let parts = |budget: usize| chunks(&blocks, &[2], |_| budget);
    assert_eq!(parts(14).unwrap(), [vec![0, 1, 2, 3, 4]]);
    assert_eq!(parts(8).unwrap(), [vec![0, 1], vec![2, 3], vec![4]]);
    assert_eq!(parts(7).unwrap(), [vec![0, 1], vec![2, 3], vec![4]]);
    // The second block exceeds every chunk.
    assert_eq!(parts(5), Err(TooSmall { needed: 6 }));
    // Each chunk has its own budget.
    let rising = chunks(&blocks, &[2], |chunk| 4 + 5 * chunk);
    assert_eq!(rising.unwrap(), [vec![0], vec![1, 2], vec![3, 4]]);
    assert_eq!(chunks(&[], &[], |_| 0).unwrap(), Vec::<Vec<usize>>::new());
    let empty = [pin(""), block(PlacementTier::Low, "")];
    assert_eq!(chunks(&empty, &[], |_| 0).unwrap(), [[0, 1]]);
}

/// Recomputes the cost of a choice.
fn cost(case: &Case, chosen: &[Option<usize>]) -> u128 {
    let mut open = BTreeSet::new();
    let mut sum = 0;
    for (block, chosen) in case.blocks.iter().zip(chosen) {
        if let Some(at) = chosen {
            let rendering = &block.renderings[*at];
            sum += rendering.tokens as u128;
            open.extend(&rendering.headings);
        }
    }
    let costs = open.into_iter().filter_map(|at: &usize| case.headings.get(*at));
    sum + costs.map(|cost| *cost as u128).sum::<u128>()
}

fn has_to_be(block: &PlannedBlock) -> bool {
    (block.pinned || block.tier == PlacementTier::Critical) && !block.renderings.is_empty()
}

/// Returns the blocks that may be left over, in the order of placement.
fn order(case: &Case) -> Vec<usize> {
    let mut order: Vec<(PlacementTier, f64, usize)> = Vec::new();
    for (at, block) in case.blocks.iter().enumerate() {
        let smallest = block.renderings.iter().min_by_key(|way| way.tokens);
        if let (Some(way), false) = (smallest, has_to_be(block)) {
            order.push((block.tier, way.value.clamp(0.0, 1e9).max(0.0), at));
        }
    }
    order.sort_by(|a, b| {
        let by_value = b.1.partial_cmp(&a.1).unwrap();
        a.0.cmp(&b.0).then(by_value).then(a.2.cmp(&b.2))
    });
    order.into_iter().map(|(.., at)| at).collect()
}

fn shown(plan: &RenderingPlan) -> Vec<bool> {
    plan.chosen().iter().map(Option::is_some).collect()
}

fn holds(case: &Case) {
    let Case { blocks, headings, budget } = case;
    let planned = plan(blocks, headings, *budget);
    assert_eq!(planned, plan(blocks, headings, *budget), "twice the same");
    let all: Vec<usize> = (0..blocks.len()).collect();
    assert_eq!(planned, plan_of(blocks, &all, headings, *budget));
    match planned {
        Ok(plan) => plan_holds(case, plan),
        Err(TooSmall { needed }) if needed < usize::MAX => {
            assert!(needed > *budget);
            assert!(plan(blocks, headings, needed).is_ok(), "{needed} is enough");
            let less = plan(blocks, headings, needed - 1);
            assert_eq!(less, Err(TooSmall { needed }), "less is not");
        }
        Err(_) => {}
    }
    chunks_hold(case);
}

fn plan_holds(case: &Case, mut plan: RenderingPlan) {
    let visible = |at: usize| !case.blocks[at].renderings.is_empty();
    let first = shown(&plan);
    let left: Vec<usize> = (0..first.len()).filter(|at| !first[*at] && visible(*at)).collect();
    assert_eq!(plan.leftovers(), left);

    // Leftovers are a suffix of the order.
    let order = order(case);
    let pins = case.blocks.iter().filter(|block| has_to_be(block)).count();
    let placed = order.iter().filter(|at| first[**at]).count();
    let prefix = order.iter().take_while(|at| first[**at]).count();
    assert_eq!(prefix, placed, "a suffix");

    // Steps back through all states; the last state with these blocks is the result of step 2.
    let mut smallest = plan.chosen().to_vec();
    let mut value = f64::INFINITY;
    loop {
        let now = shown(&plan);
        if now == first {
            smallest = plan.chosen().to_vec();
        }
        assert_eq!(plan.tokens() as u128, cost(case, plan.chosen()));
        assert!(plan.tokens() <= case.budget);
        assert!(plan.value() >= 0.0 && plan.value() <= value, "no step lowers");
        value = plan.value();
        for (at, block) in case.blocks.iter().enumerate() {
            assert!(now[at] || !has_to_be(block), "what has to be there is");
        }
        let any = now.contains(&true);
        assert!(any || case.blocks.iter().all(|block| block.renderings.is_empty()));
        if !plan.undo() {
            break;
        }
    }
    let rest = shown(&plan).iter().filter(|shown| **shown).count();
    assert_eq!(rest, pins.max(usize::from(!order.is_empty())), "all taken back");

    // No rendering of the first leftover fitted when leftovers began.
    if let Some(dropped) = order.get(prefix)
        && prefix == placed
    {
        for at in 0..case.blocks[*dropped].renderings.len() {
            smallest[*dropped] = Some(at);
            assert!(cost(case, &smallest) > case.budget as u128, "{at} would fit");
        }
    }
}

/// Checks that each chunk plans the blocks left over before it, and that each block is in exactly
/// one chunk.
fn chunks_hold(case: &Case) {
    let budgets = |chunk: usize| case.budget.saturating_add(chunk % 3);
    let parts = chunks(&case.blocks, &case.headings, budgets);
    let mut left: Vec<usize> = (0..case.blocks.len()).collect();
    let mut expected = Vec::new();
    while !left.is_empty() {
        let budget = budgets(expected.len());
        match plan_of(&case.blocks, &left, &case.headings, budget) {
            Err(error) => {
                assert_eq!(parts, Err(error));
                return;
            }
            Ok(plan) => {
                let rest = plan.leftovers();
                left.retain(|at| !rest.contains(at));
                assert!(!left.is_empty(), "every chunk holds something");
                expected.push(left);
                left = rest;
            }
        }
    }
    let mut all = expected.concat();
    assert_eq!(parts, Ok(expected));
    all.sort_unstable();
    assert!(all.into_iter().eq(0..case.blocks.len()), "each once");
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if thorough() { 100_000 } else { 25_000 })
    })]

    #[test]
    fn any_blocks_can_be_planned(bytes in proptest::collection::vec(any::<u8>(), 0..72)) {
        holds(&hostile(&bytes));
    }
}
