//! Parsing of lists of Message-IDs (RFC 5322, 3.6.4). A sender can write a list of any length;
//! the first id and the newest ones are enough to find a thread.

use std::collections::HashSet;

/// The maximum length of a Message-ID in bytes. A header line has at most 998.
const MAX_ID: usize = 900;
/// The maximum number of ids in a list: the first and the newest.
const MAX_IDS: usize = 21;
/// The maximum total length of the newest ids in bytes.
const MAX_BYTES: usize = 4_000;
/// The number of ids examined at each end. Invalid and repeated ids do not count towards
/// [`MAX_IDS`].
const LOOKED_AT: usize = 200;

/// Returns true for a value that is valid between the brackets of a Message-ID.
pub(super) fn is_id(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= MAX_ID
        && value.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'<' | b'>'))
}

/// Returns the first valid id of a list and its newest ones, oldest first. A repeated id keeps
/// its last position. The middle of a long list is not examined.
pub fn ends<'i>(mut ids: impl DoubleEndedIterator<Item = &'i str>) -> Vec<String> {
    let first = ids.by_ref().take(LOOKED_AT).find(|id| is_id(id));
    let mut known = HashSet::new();
    let (mut newest, mut bytes) = (Vec::new(), 0);
    for id in ids.rev().take(LOOKED_AT).filter(|id| is_id(id)) {
        if !known.insert(id) {
            continue;
        }
        bytes += id.len();
        if newest.len() + 1 == MAX_IDS || bytes > MAX_BYTES {
            break;
        }
        newest.push(id.to_owned());
    }
    newest.extend(first.filter(|id| known.insert(id)).map(str::to_owned));
    newest.reverse();
    newest
}

/// Returns the ids in a header field: the values in brackets, or the words with an `@` if there
/// are no brackets.
pub fn within(value: &str) -> impl DoubleEndedIterator<Item = &str> {
    let bracketed = value.contains('<');
    // Text after the last bracket is not an id.
    let closed =
        if bracketed { value.rsplit_once('>').map_or("", |(closed, _)| closed) } else { value };
    let ends = move |c: char| if bracketed { c == '>' } else { c.is_whitespace() };
    closed.split(ends).filter_map(move |piece| {
        if bracketed {
            piece.rsplit_once('<').map(|(_, id)| id.trim())
        } else {
            Some(piece).filter(|word| word.contains('@'))
        }
    })
}
