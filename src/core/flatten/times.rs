//! Times: instants, and the starts and ends of events.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::reader::{ReadValue, RowReader, at};
use crate::event::time::{self, EventTime};
use crate::schemas::wire;

/// Reads milliseconds since 1970, as a number or as text.
pub(super) fn epoch_ms(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    let value = at(object, path);
    let ms = match value {
        Some(Value::String(text)) => text.parse().ok(),
        Some(other) => other.as_i64(),
        None => return ReadValue::Nothing,
    };
    match ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()) {
        Some(time) => ReadValue::Time(time),
        None => reader.unexpected(value),
    }
}

/// Reads an RFC 3339 instant. An invalid one is null, and not counted as a value of the wrong
/// type.
pub(super) fn rfc3339(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match at(object, path) {
        Some(Value::String(text)) => text.parse().map_or(ReadValue::Nothing, ReadValue::Time),
        other => reader.unexpected(other),
    }
}

/// Reads a `date`, or a `dateTime` with its offset. Without an offset, the time is in the
/// named zone.
pub(super) fn google_when(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    let value = at(object, path);
    let (date, date_time, zone) = wire::WHEN;
    let Some(parts) = value.filter(|value| !value.is_null()) else {
        return ReadValue::Nothing;
    };
    let text = |key: &str| parts.get(key).and_then(Value::as_str);
    let when = match (text(date), text(date_time)) {
        (Some(date), _) => date.parse().ok().map(EventTime::Day),
        // The offset is exact even if the named zone is unknown here.
        (None, Some(given)) => given
            .parse()
            .ok()
            .or_else(|| time::local(given, text(zone).unwrap_or("UTC")))
            .map(EventTime::At),
        (None, None) => None,
    };
    when.map_or_else(|| reader.unexpected(value), ReadValue::When)
}

/// Reads a local `dateTime` in the zone named next to it.
pub(super) fn graph_when(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    let value = at(object, path);
    let (_, date_time, zone) = wire::WHEN;
    let Some(parts) = value.filter(|value| !value.is_null()) else {
        return ReadValue::Nothing;
    };
    let text = |key: &str| parts.get(key).and_then(Value::as_str);
    let given = text(date_time).unwrap_or_default();
    match time::local(given, text(zone).unwrap_or("UTC")) {
        Some(at) => ReadValue::When(EventTime::At(at)),
        None => reader.unexpected(value),
    }
}

/// Formats `2026-02-03 18h05`. Without a colon no format needs to quote it.
pub fn minute(time: Timestamp, zone: &TimeZone) -> String {
    let local = zone.to_datetime(time);
    format!(
        "{:04}-{:02}-{:02} {:02}h{:02}",
        local.year(),
        local.month(),
        local.day(),
        local.hour(),
        local.minute()
    )
}
