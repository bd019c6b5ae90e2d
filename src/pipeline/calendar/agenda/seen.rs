//! What of an event makes it the one that was looked at.

use sha2::{Digest, Sha256};

use crate::provider::calendar::Facts;
use crate::when::When;

/// A digest of when and where an event is and what it is called. It stays the
/// same while others answer, or the service touches what nobody sees.
pub(in crate::pipeline) fn substance(facts: &Facts) -> [u8; 8] {
    let time = |when: When| match when {
        When::Day(day) => day.to_string(),
        When::At(at) => at.as_second().to_string(),
    };
    let parts = [
        time(facts.start),
        time(facts.end),
        facts.title.trim().to_owned(),
        facts.place.trim().to_owned(),
    ];
    let mut hash = Sha256::new();
    for part in parts {
        // The length in front keeps `a` and `bc` apart from `ab` and `c`.
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().first_chunk().copied().unwrap_or_default()
}
