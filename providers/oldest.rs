//! Lists sorted oldest first, where a service lists only newest first.
//!
//! The adapter lists all ids, and this module selects the page among them. A cursor counts from the
//! end, so that new mail, which comes at the beginning, does not shift pages.

use daysheet_core::error::Error;
use daysheet_core::provider::ListRequest;

/// The maximum number of rows in a list that is read completely.
pub(crate) const MAX_ROWS: usize = 2_000;
/// The prefix of a cursor; the number of rows before it and the id of the last one follow.
const CURSOR: &str = "oldest,";

/// Returns a page of `rows`, which are listed newest first, and the cursor of the next page.
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
        // If the last row was deleted, others may have been, too: the previous page is repeated,
        // and the caller drops known rows.
        let found = rows.iter().position(|row| id(row) == last);
        found.map_or(before.saturating_sub(limit), |at| at + 1)
    });
    let end = rows.len().min(start.saturating_add(limit));
    let next = rows.get(end.saturating_sub(1)).filter(|_| end < rows.len());
    let next = next.map(|last| format!("{CURSOR}{end},{}", id(last)));
    rows.truncate(end);
    (rows.split_off(start.min(end)), next)
}

/// Returns the error for a list that is too long to be read completely.
pub(crate) fn too_many(service: &str) -> Error {
    Error::argument(format!(
        "{service} lists the newest first, and more than {MAX_ROWS} match, too many to read them all"
    ))
    .next("narrow the search by before: (such as before:2020-01-01), or leave out `sort`")
}
