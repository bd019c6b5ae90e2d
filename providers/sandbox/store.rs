//! Mail, people and calendars of the sandbox, independent of any provider.

pub(super) mod calendars;
pub(super) mod head;
pub(super) mod labels;
pub(super) mod mailbox;
pub(super) mod message;
pub(super) mod mime;
pub(super) mod query;
pub(super) mod search_text;
pub(super) mod settings;
pub(super) mod threads;

/// Returns the lines of a message, each with its line end.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at_checked(end)?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}
