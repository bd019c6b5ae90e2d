//! Turns of phrase that no native technical writer would use in a doc comment.
//! `docs/reference/style.md` has the rules; here is a rough check of the most frequent ones. It has
//! false positives, so each folder has a number of flagged blocks that it must not exceed. Lower
//! the number after a rewrite. Comments inside functions are not checked.

use std::path::Path;

use regex::{Regex, RegexBuilder};

use crate::layers::{CRATES, OTHER_FOLDERS, walk};

/// Beginnings of a block. They are compared with their case.
const BEGINNING: &str = r"^\W*(What|Who|Whom|Whose|Which|How|Where|Whether|Why|When|Something|Somebody|Nobody|Nothing|Those|That)\b";

/// Turns anywhere in a block, whatever their case.
const TURNS: &[&str] = &[
    // Clauses in the place of a noun: "the end of what was read".
    r"\b(by|from|of|to|for|in|with|at|on|as|than|beside|before|after|between|against|over|into|about|and|or|but|leaves|gives|takes|keeps|has|holds) (what|whom|who|which it|where it)\b",
    r"\bwhat(ever)? (is|are|was|were|has|had|it|they|he|she|nobody|somebody|we|you|no|comes|goes|stands|follows|cannot|can|may|must|does|do|did|only|others?|the)\b",
    r"\b(whoever|whosoever|whatever)\b",
    // Literal translations.
    r"\b(is|are|was|were|be|been) (told|said|asked for|let go|given up|let in|let through|taken away|had back|gone|meant by it|so)\b",
    r"\b(is|are|was|were|has|have|had|with|there is|there are) none\b",
    r"\b(is|are) (no|not) (one|ones|such)\b",
    r"\bthere is (no|nothing)\b",
    r"\bfor good\b",
    r"\bbesides\b",
    r"\b(stands?|lies|lie) (in|for|at|on|before|after|beside|behind|there|over|under|between|to)\b",
    r"\bgoes? (out|with|by|along|into|away)\b",
    r"\bcomes? (out|with|of|to)\b",
    r"\b(is|are) to be\b",
    r"\bneeds? (not|no)\b|\bknows? nothing\b|\bhas to\b",
    // Pronouns in the place of a noun.
    r"\b(somebody|nobody|nothing)\b",
    r"\b(all|those|one|ones|that) (that|which|who|whose) (is|are|was|were|it|they|has|have)\b",
    r"\b(that|those) of\b",
    r"\bas (it|they) (is|are|was|were|stands?|comes?)\b",
    // Adverbs and afterthoughts at the end of a clause.
    r"\b(then|otherwise|so|neither|there|of it|in it|by it|with it)[.;:]",
    r", (and|but|or) (that|this|it|they) (is|are|does|do|was|has|too)\b",
];

/// Folders, each with the doc blocks that may be flagged. The first that a file is below counts.
const ALLOWED: &[(&str, usize)] = &[
    ("benches", 0),
    ("examples", 1),
    ("fuzz", 0),
    ("providers/google", 15),
    ("providers/microsoft", 19),
    ("providers/sandbox", 49),
    ("providers", 9),
    ("schemas", 6),
    ("src/core", 65),
    ("src/extract", 2),
    ("src/pipeline", 37),
    ("src/store", 6),
    ("src/tools", 25),
    ("src", 49),
    ("tests/adapters", 0),
    ("tests/it", 6),
    ("tests", 11),
];

/// The doc blocks of a file: the number of the first line, and the text without code and quotes.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let hidden = Regex::new(r#"`[^`\n]*`|"[^"\n]*""#).unwrap();
    let mut found: Vec<(usize, &str, String)> = Vec::new();
    let mut last = 0;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(kind) = ["///", "//!"].into_iter().find(|kind| line.starts_with(kind)) else {
            continue;
        };
        let words = &line[kind.len()..];
        let words = words.strip_prefix(' ').unwrap_or(words);
        match found.last_mut() {
            Some((_, of, block)) if last + 1 == number && *of == kind => {
                block.push('\n');
                block.push_str(words);
            }
            _ => found.push((number + 1, kind, words.to_owned())),
        }
        last = number;
    }
    found
        .into_iter()
        .map(|(line, _, text)| (line, hidden.replace_all(&text, "X").replace('\n', " ")))
        .collect()
}

/// All expressions that flag a block.
fn turns() -> Vec<Regex> {
    let turns = TURNS.iter().map(|turn| RegexBuilder::new(turn).case_insensitive(true).build());
    turns.chain([Regex::new(BEGINNING)]).map(Result::unwrap).collect()
}

#[test]
fn doc_comments_have_no_foreign_turns() {
    let turns = turns();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in CRATES.iter().chain(OTHER_FOLDERS) {
        walk(&root.join(folder), &mut files);
    }
    files.sort();
    files.dedup();
    let mut flagged = vec![Vec::new(); ALLOWED.len()];
    let mut all = 0;
    for file in files {
        let path = file.strip_prefix(root).unwrap();
        let place = ALLOWED.iter().position(|(folder, _)| path.starts_with(folder));
        let place = place.unwrap_or_else(|| panic!("{} has no number", path.display()));
        for (line, text) in blocks(&std::fs::read_to_string(&file).unwrap()) {
            all += 1;
            if turns.iter().any(|turn| turn.is_match(&text)) {
                flagged[place].push(format!("{}:{line}: {text}", path.display()));
            }
        }
    }
    assert!(all > 10_000, "only {all} doc blocks were read");
    let mut wrong = Vec::new();
    for ((folder, allowed), flagged) in ALLOWED.iter().zip(flagged) {
        if flagged.len() > *allowed {
            let list = flagged.join("\n    ");
            wrong.push(format!("{folder}: {} of {allowed} at most:\n    {list}", flagged.len()));
        } else if flagged.len() < *allowed {
            wrong.push(format!("{folder}: lower the number to {}", flagged.len()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn foreign_turns_are_recognized() {
    let turns = turns();
    let text =
        "/// What is `that of` a\n/// \"nobody\".\n//! Reads a file.\n\n/// It is told so.\n";
    let blocks = blocks(text);
    assert_eq!(
        blocks,
        [
            (1, "What is X a X.".to_owned()),
            (3, "Reads a file.".to_owned()),
            (5, "It is told so.".to_owned()),
        ]
    );
    let flags = |text: &str| turns.iter().filter(|turn| turn.is_match(text)).count();
    assert_eq!(blocks.iter().map(|(_, text)| flags(text)).collect::<Vec<_>>(), [2, 0, 2]);
}
