//! Suggestions of names that resemble an unknown one: they share a word, or differ in a few
//! characters.
//!
//! The adapters provide the names of folders, labels or categories.

use daysheet_core::query::place;
use daysheet_core::text::quoted_list;

/// The maximum number of names in an error.
const OFFERED: usize = 5;
/// The maximum length of names that are compared by character, in characters.
const MAX_LEN: usize = 255;

/// Returns the next step after the unknown name `requested`: to use one of the similar `names`,
/// most similar first, or to look them up by `lookup`.
pub fn instead<'n>(
    requested: &str,
    names: impl IntoIterator<Item = &'n str>,
    lookup: &str,
) -> String {
    let requested = place(requested).to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| Some((distance(&requested, &name.to_lowercase())?, name)))
        .collect();
    near.sort_unstable();
    near.dedup();
    if near.is_empty() {
        format!("lookup kind={lookup} lists them")
    } else {
        let near = near.iter().take(OFFERED).map(|(_, name)| name);
        format!("use one of these: {}", quoted_list(near))
    }
}

/// Returns the distance between two names; `None` if they have nothing in common. Names that
/// contain each other come first, then names that share a word, then names that differ in a few
/// characters.
fn distance(requested: &str, name: &str) -> Option<usize> {
    let last = name.rsplit('/').next().unwrap_or(name);
    if name.contains(requested) || requested.contains(last) {
        return Some(0);
    }
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            // Unrelated names often share words of one or two letters.
            .filter(|word| word.chars().count() > 2)
            .map(str::to_owned)
            .collect()
    };
    let known = words(name);
    if words(requested).iter().any(|word| known.contains(word)) {
        return Some(1);
    }
    if requested.chars().count() > MAX_LEN {
        return None;
    }
    let edits = |one: &str, other: &str| {
        let edits = strsim::levenshtein(one, other);
        (edits <= 1 + one.chars().count() / 4).then_some(1 + edits)
    };
    let end = requested.rsplit('/').next().unwrap_or(requested);
    [edits(requested, name), edits(end, last)].into_iter().flatten().min()
}
