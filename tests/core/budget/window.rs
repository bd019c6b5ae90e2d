//! The lines kept of a long text, and the splitting of long lines.

use daysheet_core::budget::window::{HeadTailSplit, TextWindow, TextWindows, window};
use proptest::prelude::*;

/// Returns the kept lines, with `…` for each gap.
fn shown(lines: &[&str], window: &TextWindow) -> String {
    let mut parts = Vec::new();
    let mut at = 0;
    for range in &window.ranges {
        if range.start > at {
            parts.push("…");
        }
        parts.extend(&lines[range.clone()]);
        at = range.end;
    }
    if at < lines.len() {
        parts.push("…");
    }
    parts.join(" ")
}

/// Returns twenty lines named by letters, some replaced by informative lines.
fn message_lines(telling: &[(usize, &'static str)]) -> Vec<&'static str> {
    let mut lines: Vec<&str> = "a b c d e f g h i j k l m n o p q r s t".split(' ').collect();
    for (at, line) in telling {
        lines[*at] = line;
    }
    lines
}

#[test]
fn window_keeps_both_ends_by_their_shares() {
    let plain = message_lines(&[]);
    let reported = message_lines(&[(9, "J?"), (12, "M: €5 due")]);
    for (lines, budget, split, expected) in [
        (&plain, 0, HeadTailSplit::Head, "…"),
        (&plain, 1, HeadTailSplit::Head, "…"),
        (&plain, 2, HeadTailSplit::Head, "a …"),
        (&plain, 2, HeadTailSplit::Tail, "… t"),
        (&plain, 4, HeadTailSplit::Head, "a b … t"),
        (&plain, 11, HeadTailSplit::Head, "a b c d e f g … r s t"),
        (&plain, 11, HeadTailSplit::Tail, "a b c … n o p q r s t"),
        (&plain, 19, HeadTailSplit::Head, "a b c d e f g h i j k l m … p q r s t"),
        (&plain, 20, HeadTailSplit::Head, "a b c d e f g h i j k l m n o p q r s t"),
        (&plain, usize::MAX, HeadTailSplit::Tail, "a b c d e f g h i j k l m n o p q r s t"),
        // Informative lines are kept on their own once the budget allows it.
        (&reported, 9, HeadTailSplit::Head, "a b c d e f … s t"),
        (&reported, 11, HeadTailSplit::Head, "a b c d e f … M: €5 due … s t"),
        (&reported, 16, HeadTailSplit::Head, "a b c d e f g h i … M: €5 due … q r s t"),
    ] {
        let window = window(lines, &[1; 20], 1, budget, split);
        assert_eq!(shown(lines, &window), expected, "{budget} {split:?}");
    }
}

#[test]
fn window_copes_with_odd_line_sizes() {
    let lines = ["one", "two", "three"];
    for (costs, marker, budget, expected) in [
        // If the first line in order is too long, another one is kept.
        (&[50, 3, 50][..], 1, 10, "… two …"),
        (&[50, 50, 3], 1, 10, "… three"),
        (&[50, 50, 50], 1, 10, "…"),
        // Markers can cost more than lines.
        (&[2, 2, 2], 9, 5, "…"),
        (&[2, 2, 2], 3, 5, "one …"),
        (&[2, 2, 2], 3, 6, "one two three"),
        // Lines without a cost are free.
        (&[], 5, 0, "one two three"),
        (&[usize::MAX, usize::MAX, 1], usize::MAX, usize::MAX, "…"),
        (&[usize::MAX, usize::MAX, 1], 1, usize::MAX, "… three"),
    ] {
        let window = window(&lines, costs, marker, budget, HeadTailSplit::Head);
        assert_eq!(shown(&lines, &window), expected, "{costs:?} {budget}");
    }
    assert_eq!(window(&[], &[], 1, 0, HeadTailSplit::Head), TextWindow::default());
}

#[test]
fn informative_lines_are_scored_higher() {
    let tells = |line: &str| {
        let mut lines = vec!["some words of no weight"; 41];
        lines[20] = line;
        let window = window(&lines, &[2; 41], 1, 40, HeadTailSplit::Head);
        window.ranges.contains(&(20..21))
    };
    for line in [
        "The meeting is on 2026-02-03",
        "am 3.2.2026 in Bonn",
        "bis zum 03.02. im Haus",
        "on 3/2/26 in the hall",
        "doors open at 18:05",
        "ab 18h05 im Saal",
        "see you at 5pm",
        "um 17 Uhr",
        "See you on Tuesday",
        "jusqu'à vendredi",
        "in 4 May",
        "It costs €1,200.50",
        "1.200 € im Monat",
        "das sind 200 EUR",
        "USD 20 each",
        "15 % less",
        "up by 3%",
        "Can you come?",
        "« Tu viens ? »",
        "来ますか？",
        "the deadline is close",
        "die Frist läuft",
        "échéance proche",
        "please answer by Friday",
        "reply by 12 or never",
        "bis morgen",
        "payment is due",
    ] {
        assert!(tells(line), "{line:?} tells nothing");
    }
    for line in [
        "",
        "written by Ann",
        "bis bald",
        "we may come",
        "he will march on",
        "version 1.2.3 of it",
        "room 12 is free",
        "A4 paper",
        "https://example.org/a?b=c",
        "call 0228 123456",
        "good morning",
    ] {
        assert!(!tells(line), "{line:?} tells something");
    }
}

/// Every line of a log has a time, so a time does not make a log line informative.
#[test]
fn patterns_common_to_most_lines_score_nothing() {
    let mut lines = vec!["2026-02-03 18:05 ok"; 40];
    lines[11] = "2026-02-03 18:05 failed, is it due?";
    let window = window(&lines, &[1; 40], 1, 20, HeadTailSplit::Tail);
    assert_eq!(window.ranges, [0..5, 11..12, 28..40]);
    assert_eq!((window.lines(), window.gaps(40).len()), (18, 2));
}

fn costs() -> impl Strategy<Value = Vec<usize>> {
    let cost = prop_oneof![8 => 0..9_usize, 1 => 0..60_usize, 1 => Just(usize::MAX)];
    proptest::collection::vec(cost, 0..24)
}

fn text(at: usize) -> &'static str {
    ["plain", "due 2026-02-03?", "", "at 18:05", "€5"][at % 5]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(4_000)
    })]

    /// The kept lines fit the budget and stay in order; a larger budget keeps every line of a
    /// smaller one.
    #[test]
    fn windows_fit_the_budget_and_grow_with_it(
        costs in costs(),
        texts in proptest::collection::vec(0..5_usize, 24),
        marker in 0..4_usize,
        tail: bool,
    ) {
        let lines: Vec<&str> = texts.iter().take(costs.len()).map(|at| text(*at)).collect();
        let split = if tail { HeadTailSplit::Tail } else { HeadTailSplit::Head };
        let windows = TextWindows::new(&lines, &costs, marker, split);
        let mut before = 0;
        for budget in (0..60).chain([200, usize::MAX - 1, usize::MAX]) {
            let window = windows.within(budget);
            let shown: Vec<usize> = window.ranges.iter().cloned().flatten().collect();
            prop_assert!(shown.is_sorted_by(|one, next| one < next));
            prop_assert!(window.ranges.is_sorted_by(|one, next| one.end < next.start));
            prop_assert!(window.ranges.iter().all(|range| !range.is_empty()));
            let cost: u128 = shown.iter().map(|at| costs[*at] as u128).sum();
            let gaps = (window.gaps(lines.len()).len() * marker) as u128;
            prop_assert!(shown.is_empty() || cost + gaps <= budget as u128);
            if shown.is_empty() {
                for (at, cost) in costs.iter().enumerate() {
                    let gaps = usize::from(at > 0) + usize::from(at + 1 < lines.len());
                    let alone = *cost as u128 + (gaps * marker) as u128;
                    prop_assert!(alone > budget as u128, "line {at} fits");
                }
            }
            prop_assert!(shown.len() >= before);
            prop_assert_eq!(window.lines(), shown.len());
            before = shown.len();
        }
    }
}
