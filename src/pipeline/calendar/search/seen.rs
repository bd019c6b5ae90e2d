//! Events that the reader has seen: a digest of their essential properties, and its storage.

use daysheet_core::error::Result;
use daysheet_core::event::Event;
use daysheet_core::event::time::EventTime;
use daysheet_core::row::{RowCell, RowTable};
use sha2::{Digest, Sha256};

use crate::pipeline::context::Context;

/// Returns a digest of an event's time, place and title. It does not change if guests
/// answer, or if the service changes hidden fields.
pub(crate) fn substance(facts: &Event) -> [u8; 8] {
    let time = |when: EventTime| match when {
        EventTime::Day(day) => day.to_string(),
        EventTime::At(at) => at.as_second().to_string(),
    };
    let parts = [
        time(facts.start),
        time(facts.end),
        facts.title.trim().to_owned(),
        facts.place.trim().to_owned(),
    ];
    let mut hash = Sha256::new();
    for part in parts {
        // The length prefix distinguishes `a`, `bc` from `ab`, `c`.
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().first_chunk().copied().unwrap_or_default()
}

/// Remembers the shown events that have a handle.
pub(crate) async fn remember_events(
    ctx: &Context,
    rows: &RowTable,
    events: impl IntoIterator<Item = &Event>,
) -> Result<()> {
    let shown: Vec<_> = rows
        .rows()
        .zip(events)
        .filter_map(|(row, event)| match row.first() {
            Some(RowCell::Handle('e', number)) => Some((*number, substance(event))),
            _ => None,
        })
        .collect();
    ctx.store.remember_events(&shown).await
}
