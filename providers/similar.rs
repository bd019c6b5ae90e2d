//! Names that resemble one that was not found: a word of them, or all but a few characters.
//!
//! What is compared, folders, labels or categories, is up to the adapters.

use daysheet_core::query::place;
use daysheet_core::text::quoted_list;

/// The number of names that an error offers.
const OFFERED: usize = 5;
/// The longest name that is compared character by character, in characters.
const MAX_LEN: usize = 255;

/// Returns the next step of an error about the unknown name `requested`: to use one of those
/// of `names` that resemble it, most similar first, or else to look them up by `lookup`.
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

/// Returns the distance of two names; `None` if they have nothing in common. One within the
/// other is nearest, then names that share a word, then those that differ by a few characters.
fn distance(requested: &str, name: &str) -> Option<usize> {
    let last = name.rsplit('/').next().unwrap_or(name);
    if name.contains(requested) || requested.contains(last) {
        return Some(0);
    }
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
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
