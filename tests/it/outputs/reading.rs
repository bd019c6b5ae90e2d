//! Pages of outputs, and matches within them.

use daysheet::outputs::grep::grep;
use daysheet::outputs::page::{OutputPage, PageRequest, page};
use daysheet_core::budget::count::Tokenizer;
use daysheet_core::text::{LINE, wrapped};
use proptest::prelude::*;
use proptest::sample::select;

use super::texts;

fn ask(offset: usize, limit: usize) -> PageRequest {
    PageRequest { offset, limit, tokens: 100_000, tokenizer: Tokenizer::O200k, fields: false }
}

#[test]
fn page_has_a_line_if_there_is_one() {
    let empty = OutputPage { notes: vec!["the output is empty".into()], ..OutputPage::default() };
    assert_eq!(page("", ask(1, 9)).unwrap(), empty);
    // At least one line is shown, whatever it costs.
    let costly = PageRequest { tokens: 0, ..ask(1, 9) };
    assert_eq!(page("a b c d\ne", costly).unwrap().text, "a b c d");
    assert_eq!(grep("a b c d\ne", "b", costly).unwrap().text, "1: a b c d");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_together_give_the_whole_text(text in texts(), limit in 1_usize..9, tokens in 0_usize..900) {
        let total = wrapped(&text, LINE).len();
        let mut read = String::new();
        let mut offset = 1;
        let mut last = 0;
        loop {
            let one = page(&text, PageRequest { tokens, ..ask(offset, limit) }).unwrap();
            let Some((from, to)) = one.shown else {
                prop_assert!(text.is_empty());
                break;
            };
            prop_assert_eq!((from, one.lines), (last + 1, total));
            prop_assert!(to >= from && to - from < limit);
            let cost = Tokenizer::O200k.count(&one.text);
            prop_assert!(to == from || cost <= tokens, "{} of {}", cost, tokens);
            read.push_str(&one.text);
            if !one.notes.concat().contains("the last here continues") {
                read.push('\n');
            }
            last = to;
            match one.next {
                Some(next) => offset = next,
                None => break,
            }
        }
        prop_assert_eq!(last, total);
        // The end of a page's last line is not part of the page.
        prop_assert_eq!(read.trim_end_matches('\n'), text.trim_end_matches('\n'));
        prop_assert!(read.len().abs_diff(text.len()) <= 1);
    }

    #[test]
    fn pages_of_matches_give_every_match(
        text in texts(), pattern in select(&["b", "a b", "^$", "e$", "zz", "."]), limit in 1_usize..9, tokens in 0_usize..900,
    ) {
        let all = grep(&text, pattern, ask(1, usize::MAX)).unwrap();
        let mut rows = Vec::new();
        let mut offset = 1;
        loop {
            let one = grep(&text, pattern, PageRequest { tokens, ..ask(offset, limit) }).unwrap();
            rows.extend(rows_of(&one.text));
            match one.next {
                Some(next) => offset = next,
                None => break,
            }
        }
        prop_assert_eq!(rows, rows_of(&all.text));
    }

    /// Matches are the same as in a search of the lines one by one.
    #[test]
    fn matches_equal_a_line_by_line_search(
        lines in proptest::collection::vec("[a-c]{0,3}", 1..30),
        pattern in select(&["b", "ab", "^a", "c$", "^$", "[ab]+c", "b?", "a|^$"]),
    ) {
        let found = grep(&lines.join("\n"), pattern, ask(1, usize::MAX)).unwrap();
        let regex = regex::Regex::new(pattern).unwrap();
        let expected: Vec<String> = lines
            .iter()
            .enumerate()
            // An empty last line does not count.
            .filter(|(at, line)| at + 1 < lines.len() || !line.is_empty())
            .filter(|(_, line)| regex.is_match(line))
            .map(|(at, line)| format!("{}: {line}", at + 1))
            .collect();
        let matches: Vec<String> = rows_of(&found.text)
            .into_iter()
            .filter(|row| row.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(':'))
            .collect();
        prop_assert_eq!(matches, expected);
    }
}

/// Returns the rows of a page of matches without the separators.
fn rows_of(text: &str) -> Vec<String> {
    text.split('\n').filter(|row| !row.is_empty() && *row != "--").map(str::to_owned).collect()
}

/// With several messages, the line that names a message precedes its matching lines.
#[test]
fn matches_name_their_message() {
    let first = "<<<m1 b1 abcdefgh\none\ntwo\nthree\nneedle\nfour\nfive\nsix\nabcdefgh>>>\n";
    // Untrusted text cannot imitate the line that names a message.
    let second = "<<<m2 b2 bcdefghi\n<<<m9 b9 zzzzzzzz\nzzzzzzzz>>>\nseven\neight\nneedle\n\
                  bcdefghi>>>\n";
    let lines = "3- two\n4- three\n5: needle\n6- four\n7- five";
    for (text, shown) in [
        (first.to_owned(), lines.to_owned()),
        (
            format!("{first}{second}"),
            format!(
                "1- <<<m1 b1 abcdefgh\n--\n{lines}\n--\n10- <<<m2 b2 bcdefghi\n--\n13- seven\n14- eight\n\
                 15: needle\n16- bcdefghi>>>"
            ),
        ),
    ] {
        assert_eq!(grep(&text, "needle", ask(1, 200)).unwrap().text, shown);
    }
}

/// A match across two pieces of a line is found in the piece where it begins.
#[test]
fn match_across_pieces_of_a_line_is_found() {
    let line = format!("{}needle {}needle", "x".repeat(497), "y".repeat(600));
    let text = format!("first\n{line}\nlast");
    let lines = wrapped(&text, LINE);
    let marks = |pattern: &str| {
        let found = grep(&text, pattern, ask(1, 200)).unwrap();
        let marks: Vec<String> = rows_of(&found.text)
            .iter()
            .filter_map(|row| row.split_once(": ").map(|(number, _)| number.to_owned()))
            .filter(|number| number.len() < 3)
            .collect();
        (marks.join(" "), found.notes)
    };
    assert_eq!(lines.len(), 5);
    let long = "a line of more than 500 characters counts as several";
    for (pattern, expected) in [
        ("needle", "2 4"),
        ("needle y", "2"),
        ("^x.*needle$", "2"),
        ("needle$", "4"),
        ("$", "1 4 5"),
        ("y", "3 4"),
        ("x|last", "2 5"),
    ] {
        let count = expected.split(' ').count();
        let (found, notes) = marks(pattern);
        let counted = format!("matches: {count} of 5 lines");
        assert_eq!(found, expected, "{pattern}");
        assert_eq!(notes, [counted.as_str(), long], "{pattern}");
    }
}

/// A slow pattern on a matching hostile line takes as many searches as the line has pieces.
#[test]
fn hostile_pattern_finishes_quickly() {
    let text = "A".repeat(1 << 17);
    let found = grep(&text, "(?-i).*[^A-Z]|[A-Z]", ask(1, 3)).unwrap();
    assert_eq!(found.notes[0], "matches: 263 of 263 lines; offset=4 has more");
}
