//! The budget: the values of items, the renderings chosen, and the lines shown.

use daysheet_core::budget::value::{
    ValueHint, ValueStrategy, fits, pinned, resolve, share, share_of_part, value,
};
use daysheet_core::schemas::ColumnLevel;

mod gap;
mod plan;
mod random;
mod window;

/// Returns values in hundredths, rounded.
fn hundredths(values: impl IntoIterator<Item = f64>) -> Vec<i64> {
    let values = values.into_iter();
    values.map(|value| (value * 100.0).round() as i64).collect()
}

fn along(strategy: ValueStrategy, of: usize) -> Vec<i64> {
    hundredths((0..of).map(|position| {
        let hint = ValueHint { position, of, ..ValueHint::default() };
        value(strategy, &hint)
    }))
}

#[test]
fn element_count_value_falls_linearly() {
    assert_eq!(along(ValueStrategy::ElementCount, 1), [100]);
    assert_eq!(along(ValueStrategy::ElementCount, 2), [100, 30]);
    assert_eq!(along(ValueStrategy::ElementCount, 8), [100, 90, 80, 70, 60, 50, 40, 30]);
    // A position past the end counts as the last.
    let hint = ValueHint { position: 9, of: 3, ..ValueHint::default() };
    assert_eq!(hundredths([value(ValueStrategy::ElementCount, &hint)]), [30]);
}

#[test]
fn thread_level_values_open_threads_highest() {
    let strategy = ValueStrategy::ThreadLevel;
    for (open, end, worth) in [
        (Some(true), true, 100),
        (None, false, 60),
        (Some(false), false, 30),
        (Some(false), true, 30),
    ] {
        let hint = ValueHint { open, end, ..ValueHint::default() };
        assert_eq!(hundredths([value(strategy, &hint)]), [worth]);
        // `ThreadLevel` pins the ends of a conversation; no other strategy pins an item.
        for strategy in ValueStrategy::ALL {
            let expected = end && strategy == ValueStrategy::ThreadLevel;
            assert_eq!(pinned(strategy, &hint), expected, "{strategy:?}");
        }
    }
    let tools = ["mail_read", "daysheet.brief", "mail_search", "lookup"];
    assert_eq!(tools.map(|tool| fits(tool, strategy)), [true, true, false, false]);
}

#[test]
fn uniform_values_all_items_equally() {
    assert_eq!(along(ValueStrategy::Uniform, 4), [100; 4]);
}

#[test]
fn query_match_values_matches_in_order() {
    let at = |mentions, position| {
        let hint = ValueHint { position, of: 11, mentions, ..ValueHint::default() };
        value(ValueStrategy::QueryMatch, &hint)
    };
    let found = [0.0, 0.25, 0.5, 1.0, 7.0, -1.0, f64::NAN].map(|share| at(share, 0));
    assert_eq!(hundredths(found), [30, 48, 65, 100, 100, 30, 30]);
    let order = (0..11).map(|position| at(1.0, position));
    assert!(order.is_sorted_by(|one, next| one > next));
    // The last item of a better match precedes the first item of a worse one.
    assert!(at(0.5, 10) > at(0.4, 0));
}

#[test]
fn item_parts_carry_shares_of_its_value() {
    let levels = [ColumnLevel::Key, ColumnLevel::Core, ColumnLevel::More].map(share);
    assert_eq!(hundredths(levels), [60, 85, 100]);
    let parts = [0, 1, 25, 50, 100, 200].map(|shown| share_of_part(shown, 100));
    assert_eq!(hundredths(parts), [0, 10, 50, 71, 100, 100]);
    assert_eq!(hundredths([share_of_part(0, 0), share_of_part(usize::MAX, 1)]), [100, 100]);
}

#[test]
fn strategies_are_found_by_name() {
    for strategy in ValueStrategy::ALL {
        assert_eq!(ValueStrategy::find(strategy.word()), Some(strategy));
    }
    let words = ValueStrategy::ALL.map(ValueStrategy::word).join(" ");
    assert_eq!(words, "element_count thread_level uniform query_match");
    assert_eq!(ValueStrategy::find("Uniform"), None);
    assert_eq!(ValueStrategy::find(""), None);
}

#[test]
fn each_tool_has_its_default_strategy() {
    use ValueStrategy::{ElementCount, QueryMatch, ThreadLevel, Uniform};
    let none: &[(&str, ValueStrategy)] = &[];
    let search: &[_] = &[("mail_search", QueryMatch)];
    for (tool, overrides, strategy) in [
        ("mail_search", none, ElementCount),
        ("mail_read", none, ThreadLevel),
        ("calendar_search", none, ElementCount),
        ("changes", none, ElementCount),
        ("lookup", none, Uniform),
        ("brief", none, Uniform),
        ("mail_attachment", none, Uniform),
        ("output_read", none, Uniform),
        ("calendar_free", none, Uniform),
        ("", none, Uniform),
        ("mcp__daysheet__mail_read", none, ThreadLevel),
        ("daysheet.mail_read", none, ThreadLevel),
        ("daysheet_mail_read", none, ThreadLevel),
        ("mcp_daysheet_mail_read", none, ThreadLevel),
        ("work/mail_read", none, ThreadLevel),
        ("mcp__work__mail_read", none, ThreadLevel),
        ("my_mail_read", none, Uniform),
        ("mail_search", search, QueryMatch),
        ("mcp__daysheet__mail_search", search, QueryMatch),
        ("mail_read", search, ThreadLevel),
        // An override may have the name that a client shows.
        ("mail_search", &[("mcp__daysheet__mail_search", Uniform)], Uniform),
        // The exact name takes precedence over the bare one, in any order.
        ("daysheet.changes", &[("changes", Uniform), ("daysheet.changes", QueryMatch)], QueryMatch),
        ("daysheet_changes", &[("changes", Uniform), ("daysheet.changes", QueryMatch)], Uniform),
        ("changes", &[("changes", Uniform), ("changes", QueryMatch)], Uniform),
        ("search", &[("mail_search", QueryMatch)], Uniform),
    ] {
        let overrides: Vec<(String, ValueStrategy)> =
            overrides.iter().map(|(name, strategy)| ((*name).to_owned(), *strategy)).collect();
        assert_eq!(resolve(tool, &overrides, false), strategy, "{tool:?} {overrides:?}");
    }
}

/// Searches for words are ordered by match, unless the strategy was set.
#[test]
fn search_words_select_the_query_match_strategy() {
    let set = [("mail_search".to_owned(), ValueStrategy::ElementCount)];
    assert_eq!(resolve("mail_search", &[], true), ValueStrategy::QueryMatch);
    assert_eq!(resolve("mail_search", &set, true), ValueStrategy::ElementCount);
    assert_eq!(resolve("mail_read", &[], true), ValueStrategy::ThreadLevel);
}
