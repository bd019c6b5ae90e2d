//! Splitting of a text into lines of bounded length, so that every part of it has a number.
//!
//! The result is stable: the beginning of a text has the same lines in every continuation, so a
//! number means the same line in a text and in its beginning.

/// Maximum number of characters in a line of an output.
pub const LINE: usize = 500;

/// Splits `text` into lines; the caller numbers them from 1.
///
/// The lines are slices that add up to the text, each with the `\n` that ends it. A line of more
/// than `most` characters (without the `\n`) becomes several slices; a slice without a `\n` is
/// continued by the next one, or ends the text. A line is cut after the last blank in the second
/// half of the part that fits, or else at the limit. The empty text has no lines.
pub fn wrapped(text: &str, most: usize) -> Vec<&str> {
    let most = most.max(1);
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((piece, left)) = split_at_width(rest, most) {
            lines.push(piece);
            rest = left;
        }
        lines.push(rest);
    }
    lines
}

/// Returns the first piece of a line that is too long, and the rest.
fn split_at_width(line: &str, most: usize) -> Option<(&str, &str)> {
    let inner = line.strip_suffix('\n').unwrap_or(line);
    // No line has more characters than bytes.
    if inner.len() <= most {
        return None;
    }
    let (full, _) = inner.char_indices().nth(most)?;
    let fitting = inner.get(..full)?;
    let blank = fitting.char_indices().rev().take(most / 2).find(|(_, char)| char.is_whitespace());
    let end = blank.map_or(full, |(at, char)| at + char.len_utf8());
    line.split_at_checked(end)
}
