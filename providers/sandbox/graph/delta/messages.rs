//! Changes to the messages of a folder.

use std::collections::BTreeMap;

use serde_json::Value;

use super::round::{ChangeRound, EntryKey, removed_entry, there};
use crate::graph::error::{
    GraphError, bad_request, invalid_filter, sync_state_lost, unsupported_filter, unsupported_order,
};
use crate::graph::exchange::folders;
use crate::graph::filter::{
    self, FilterComparison, FilterCondition, FilterExpression, FilterLiteral,
};
use crate::graph::mail::read::message;
use crate::graph::request::RequestContext;
use crate::graph::types::mail::MESSAGE;
use crate::store::mailbox::record::{HistoryEvent, HistoryRecord};

/// Returns the entries of a round in order.
pub(super) fn changes(
    base: &RequestContext<'_>,
    folder: &str,
    round: &ChangeRound,
) -> Result<Vec<(EntryKey, Value)>, GraphError> {
    let (store, options) = (base.store, base.options);
    options.check_type(&MESSAGE)?;
    let folder = store.folder(folder)?.number;
    let from = options.filter.map(earliest).transpose()?;
    let by_date = match options.orderby {
        None => false,
        Some("receivedDateTime desc") => true,
        Some(other) => return Err(unsupported_order(other)),
    };
    let requested_type = change_type(base)?;
    let mailbox = store.mailbox;
    // A first round starts over, which is how a client recovers from this error.
    if round.since > 0 && round.since < mailbox.forgotten {
        return Err(sync_state_lost());
    }
    // The state of each message before the round, and its last change within it.
    let mut before: BTreeMap<u64, &HistoryRecord> = BTreeMap::new();
    let mut latest: BTreeMap<u64, &HistoryRecord> = BTreeMap::new();
    let mut came: Vec<u64> = Vec::new();
    for record in &mailbox.records {
        if record.history <= round.since {
            before.insert(record.message, record);
        } else if record.history <= round.until {
            latest.insert(record.message, record);
            if record.what == HistoryEvent::Added {
                came.push(record.message);
            }
        }
    }
    let inside = |record: &HistoryRecord| {
        record.what != HistoryEvent::Deleted && folders::number_of_labels(&record.labels) == folder
    };
    let mut rows: Vec<(EntryKey, Value)> = Vec::new();
    for (message, record) in latest {
        let was = before.get(&message).is_some_and(|record| inside(record));
        let history = i64::try_from(record.history).unwrap_or(i64::MAX);
        if inside(record) {
            let Some(message) = mailbox.message(message) else {
                // It was deleted after this round, so the next round reports it.
                continue;
            };
            let kind = if was { "updated" } else { "created" };
            let date = message.facts.date;
            if requested_type.is_some_and(|requested_type| requested_type != kind)
                || from.is_some_and(|from| date < from)
            {
                continue;
            }
            let json = message::json(store, message, options, base.prefer);
            // Negative dates sort the newest first, and all of them before removals, whose keys are
            // positive.
            let first = if by_date { -date } else { history };
            rows.push(((first, message.id), there("message", json)));
        } else if was && requested_type.is_none_or(|requested_type| requested_type == "deleted") {
            // The id that the message had in this folder, which is the one the client knows.
            let id = store.ids().message_id(message, folder, base.prefer.immutable);
            rows.push(((history, message), removed_entry("message", id)));
        }
    }
    rows.sort_by_key(|(key, _)| *key);
    Ok(rows)
}

/// Reads the only supported filter: messages from a time on, in milliseconds since 1970.
fn earliest(filter: &str) -> Result<i64, GraphError> {
    match filter::parse(filter).map_err(|why| invalid_filter(&why))? {
        FilterExpression::Test(FilterCondition::Compare(
            path,
            comparison,
            FilterLiteral::Time(time),
        )) if path == "receivedDateTime" => match comparison {
            FilterComparison::GreaterThanOrEqual => Ok(time),
            FilterComparison::GreaterThan => Ok(time.saturating_add(1)),
            _ => Err(unsupported_filter()),
        },
        _ => Err(unsupported_filter()),
    }
}

/// Returns the kind of changes requested, if it is only one.
fn change_type<'a>(base: &'a RequestContext<'_>) -> Result<Option<&'a str>, GraphError> {
    let mut query = base.request.query.iter();
    let found = query.find(|(name, _)| name.eq_ignore_ascii_case("changeType"));
    match found.map(|(_, value)| value.as_str()) {
        None => Ok(None),
        Some(kind @ ("created" | "updated" | "deleted")) => Ok(Some(kind)),
        Some(other) => Err(bad_request(format!("The value '{other}' is no change type."))),
    }
}
