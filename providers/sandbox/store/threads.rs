//! Threads, grouped as in Gmail.
//!
//! Two messages belong to one thread if one refers to the other, or both to a third (which may be
//! missing), and their subjects are equal except for `Re:` and similar prefixes. A changed subject
//! begins a new thread. Messages that an export assigns to one thread belong together as well.

use std::collections::HashMap;

use super::message::Message;
use super::search_text::number;

/// Subject prefixes of replies and forwarded messages, in the most common languages.
const PREFIXES: [&str; 14] =
    ["re", "fwd", "fw", "aw", "wg", "sv", "vs", "antw", "tr", "rif", "res", "enc", "odp", "ynt"];

/// Sets the thread of each message to the id of the thread's first message. The messages are sorted
/// oldest first.
pub(super) fn join(messages: &mut [Message]) {
    let mut sets: Vec<usize> = (0..messages.len()).collect();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        for key in keys(message) {
            if let Some(other) = seen.insert(key, place) {
                unite(&mut sets, place, other);
            }
        }
    }
    // A set's root is its lowest index, which is the oldest message.
    let roots: Vec<usize> = (0..messages.len()).map(|place| root(&sets, place)).collect();
    let ids: Vec<u64> = messages.iter().map(|message| message.id).collect();
    for (message, first) in messages.iter_mut().zip(roots) {
        if let Some(id) = ids.get(first) {
            message.thread = *id;
        }
    }
}

/// Returns the keys of a message as hashes. Two messages with a key in common belong to the same
/// thread.
pub(super) fn keys(message: &Message) -> Vec<u64> {
    let facts = &message.facts;
    let subject = subject(&facts.subject);
    let own = Some(&facts.message_id).filter(|id| !id.is_empty());
    let mut keys: Vec<u64> = own
        .into_iter()
        .chain(&facts.references)
        // The subject is part of the key, so that a reply under a new subject shares none.
        .map(|id| number(&format!("{subject}\n{id}")))
        .collect();
    // Two line breaks, so that no Message-ID of a message without a subject yields the same text.
    keys.extend(facts.conversation.as_deref().map(|named| number(&format!("\n\n{named}"))));
    keys
}

/// Returns a subject in lower case, without prefixes of replies.
pub(crate) fn subject(text: &str) -> String {
    let text = text.to_lowercase();
    let mut rest = text.trim();
    while let Some((prefix, after)) = rest.split_once(':') {
        // Some mailers count: `Re[2]:`.
        let word = prefix.split(['[', '(']).next().unwrap_or(prefix).trim();
        if !PREFIXES.contains(&word) {
            break;
        }
        rest = after.trim();
    }
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the root of an index's set.
fn root(sets: &[usize], mut place: usize) -> usize {
    while let Some(parent) = sets.get(place).filter(|parent| **parent != place) {
        place = *parent;
    }
    place
}

/// Unites two sets. The lower root, of the older message, remains.
fn unite(sets: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(sets, one), root(sets, other));
    let (older, younger) = (one.min(other), one.max(other));
    if let Some(parent) = sets.get_mut(younger) {
        *parent = older;
    }
}
