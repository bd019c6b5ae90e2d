//! Joining of paragraphs that were wrapped for transport: `format=flowed` (RFC 3676).
//!
//! A line that ends in a space continues in the next one, unless that is quoted to a different
//! depth. The caller reads from the content type whether a part is flowed.

/// Joins the flowed lines of `text` and undoes its space-stuffing. With `delsp`, the space that
/// marks a soft line end is removed.
pub fn unflow(text: &str, delsp: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // The quote depth of the line that waits for its continuation.
    let mut open: Option<usize> = None;
    for (number, raw) in text.split('\n').enumerate() {
        let line = raw.strip_suffix('\r').unwrap_or(raw);
        let (depth, content) = quote_depth(line);
        // The signature delimiter ends in a space and is still a line alone.
        let delimiter = content == "-- ";
        let joins = open == Some(depth) && !delimiter;
        if !joins {
            if number > 0 {
                out.push('\n');
            }
            if depth > 0 {
                out.extend(std::iter::repeat_n('>', depth));
                out.push(' ');
            }
        }
        let soft = content.ends_with(' ') && !delimiter;
        let stripped = match content.strip_suffix(' ') {
            Some(stripped) if soft && delsp => stripped,
            _ => content,
        };
        out.push_str(stripped);
        open = soft.then_some(depth);
    }
    out
}

/// Returns a line's quote depth, and its content without quote marks and stuffing.
fn quote_depth(line: &str) -> (usize, &str) {
    let content = line.trim_start_matches('>');
    let depth = line.len() - content.len();
    (depth, content.strip_prefix(' ').unwrap_or(content))
}
