//! Lists from their end: the oldest first, where a service lists only the newest first.
//!
//! The adapter lists the ids to the end, and this module finds the page among them. A
//! cursor counts from the end, so that new mail, which comes at the beginning, moves no page.

use daysheet_core::error::Error;
use daysheet_core::provider::ListRequest;

/// The most rows of a list that is read to its end.
pub(crate) const MAX_ROWS: usize = 2_000;
/// Precedes a cursor, after which are the number of rows before it and the id of the last.
const CURSOR: &str = "oldest,";

/// Returns a page of all rows, which are listed newest first, and its next one's cursor.
pub(crate) fn page<T>(
    mut rows: Vec<T>,
    ask: &ListRequest,
    id: impl Fn(&T) -> &str,
) -> (Vec<T>, Option<String>) {
    rows.reverse();
    let limit = ask.limit.max(1);
    let cursor = ask.cursor.as_deref().and_then(|cursor| cursor.strip_prefix(CURSOR));
    let start = cursor.and_then(|cursor| cursor.split_once(',')).map_or(0, |(before, last)| {
        let before: usize = before.parse().unwrap_or(0);
        // If the last row is gone, some before it may be: the page begins with those of
        // the page before, which the caller drops.
        let found = rows.iter().position(|row| id(row) == last);
        found.map_or(before.saturating_sub(limit), |at| at + 1)
    });
    let end = rows.len().min(start.saturating_add(limit));
    let next = rows.get(end.saturating_sub(1)).filter(|_| end < rows.len());
    let next = next.map(|last| format!("{CURSOR}{end},{}", id(last)));
    rows.truncate(end);
    (rows.split_off(start.min(end)), next)
}

/// Returns the error for a list that is too long to be read to its end.
pub(crate) fn too_many(service: &str) -> Error {
    Error::argument(format!(
        "{service} lists the newest first, and more than {MAX_ROWS} match, too many to read them all"
    ))
    .next("narrow the search by before: (such as before:2020-01-01), or leave out `sort`")
}
