//! How far two names are apart, to offer the name that was meant. What counts as
//! alike is each adapter's own business.

/// The most letters of a name that are looked at.
const LONGEST: usize = 255;

/// How many letters have to be put in, taken out or replaced to make one name
/// the other (Levenshtein).
pub fn steps(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, c) in one.chars().take(LONGEST).enumerate() {
        let mut next = vec![line + 1];
        for ((d, above), corner) in other.iter().zip(row.iter().skip(1)).zip(&row) {
            let left = next.last().copied().unwrap_or_default();
            let swap = corner + usize::from(c != *d);
            next.push(swap.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
