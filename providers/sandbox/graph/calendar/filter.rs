//! Filters and orders of events: by UID, and by start.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::context::CalendarContext;
use super::event::EventSerializer;
use super::shown::ShownEvent;
use crate::graph::error::{GraphError, invalid_filter, unsupported_filter, unsupported_order};
use crate::graph::filter::{
    self, FilterComparison, FilterCondition, FilterExpression, FilterLiteral,
};

/// Returns the events that match the request's filter, in the requested order.
pub(super) fn apply_filter<'a>(
    context: &CalendarContext<'_>,
    mut events: Vec<ShownEvent<'a>>,
) -> Result<Vec<ShownEvent<'a>>, GraphError> {
    let options = context.base.options;
    if let Some(filter) = options.filter {
        let filter = filter::parse(filter).map_err(|why| invalid_filter(&why))?;
        let uid = match filter {
            FilterExpression::Test(FilterCondition::Compare(
                path,
                FilterComparison::Equal,
                FilterLiteral::Text(uid),
            )) if path == "iCalUId" => uid,
            _ => return Err(unsupported_filter()),
        };
        events.retain(|shown| {
            let stored = EventSerializer::new(context, shown).property("iCalUId");
            stored.as_ref().and_then(Value::as_str).is_some_and(|it| it.eq_ignore_ascii_case(&uid))
        });
    }
    match options.orderby {
        None => {}
        Some("start/dateTime") => events.sort_by_key(|shown| shown.it.from),
        Some(other) => return Err(unsupported_order(other)),
    }
    Ok(events)
}

/// Parses an instant. A time without an offset is in UTC.
pub(super) fn instant(value: &str) -> Option<Timestamp> {
    // An unencoded plus sign in a query is read as a space.
    let value = value.replace(' ', "+");
    if let Ok(at) = value.parse::<Timestamp>() {
        return Some(at);
    }
    let local: DateTime = value.parse().ok()?;
    TimeZone::UTC.to_timestamp(local).ok()
}
