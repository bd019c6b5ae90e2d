//! Conversations, found as Gmail finds them.
//!
//! Two messages are of one conversation when one refers to the other, or both to
//! a third (which need not be here), and their subjects agree but for `Re:` and
//! the like: a changed subject begins a new conversation. Where an export names
//! the conversation, that counts too.

use std::collections::HashMap;

use super::message::Message;
use super::search_text::number;

/// Prefixes that answers and forwarded messages get, in the tongues seen most.
const PREFIXES: [&str; 14] =
    ["re", "fwd", "fw", "aw", "wg", "sv", "vs", "antw", "tr", "rif", "res", "enc", "odp", "ynt"];

/// Sets the thread of each message to the id of its conversation's first.
/// The messages stand oldest first.
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
    // A set's root is its smallest place, which is the oldest message.
    let roots: Vec<usize> = (0..messages.len()).map(|place| root(&sets, place)).collect();
    let ids: Vec<u64> = messages.iter().map(|message| message.id).collect();
    for (message, first) in messages.iter_mut().zip(roots) {
        if let Some(id) = ids.get(first) {
            message.thread = *id;
        }
    }
}

/// What a message shares with the others of its conversation, as numbers: with
/// any of them in common, two messages belong together.
pub(super) fn keys(message: &Message) -> Vec<u64> {
    let facts = &message.facts;
    let subject = subject(&facts.subject);
    let own = Some(&facts.message_id).filter(|id| !id.is_empty());
    let mut keys: Vec<u64> = own
        .into_iter()
        .chain(&facts.references)
        .map(|id| number(&format!("{subject}\n{id}")))
        .collect();
    keys.extend(facts.conversation.as_deref().map(|named| number(&format!("\n\n{named}"))));
    keys
}

/// A subject without the prefixes of answers, in lower case.
pub(crate) fn subject(text: &str) -> String {
    let text = text.to_lowercase();
    let mut rest = text.trim();
    while let Some((prefix, after)) = rest.split_once(':') {
        // Some count: `Re[2]:`.
        let word = prefix.split(['[', '(']).next().unwrap_or(prefix).trim();
        if !PREFIXES.contains(&word) {
            break;
        }
        rest = after.trim();
    }
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The root of a place's set.
fn root(sets: &[usize], mut place: usize) -> usize {
    while let Some(parent) = sets.get(place).filter(|parent| **parent != place) {
        place = *parent;
    }
    place
}

/// Makes one set of two; the older root stays one.
fn unite(sets: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(sets, one), root(sets, other));
    let (older, younger) = (one.min(other), one.max(other));
    if let Some(parent) = sets.get_mut(younger) {
        *parent = older;
    }
}
