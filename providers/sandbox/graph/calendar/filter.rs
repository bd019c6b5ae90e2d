//! Filters and orders of events.
//!
//! Everything is decided on the properties as they are told, but times, which
//! are compared in UTC whatever zone they are told in.

use std::cmp::Ordering;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::context::Context;
use super::event::{Maker, PROPERTIES};
use super::shown::Shown;
use crate::graph::error::{
    Refusal, invalid_filter, no_property, no_property_message, unreadable, unsupported_filter,
    unsupported_order,
};
use crate::graph::filter::{self, Comparison, Filter, Literal};
use crate::graph::mail::read::matching::text_meets;

/// What a property is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Text of which pieces can be looked for too.
    Words,
    Truth,
    Instant,
    /// A local time, written as text.
    Local,
    /// A word of a list.
    Word,
}

/// The properties that can be filtered by.
const FILTERED: [(&str, Kind); 19] = [
    ("start/dateTime", Kind::Local),
    ("end/dateTime", Kind::Local),
    ("createdDateTime", Kind::Instant),
    ("lastModifiedDateTime", Kind::Instant),
    ("iCalUId", Kind::Text),
    ("transactionId", Kind::Text),
    ("seriesMasterId", Kind::Text),
    ("subject", Kind::Words),
    ("organizer/emailAddress/address", Kind::Words),
    ("organizer/emailAddress/name", Kind::Words),
    ("isAllDay", Kind::Truth),
    ("isCancelled", Kind::Truth),
    ("isOrganizer", Kind::Truth),
    ("isOnlineMeeting", Kind::Truth),
    ("showAs", Kind::Word),
    ("sensitivity", Kind::Word),
    ("importance", Kind::Word),
    ("type", Kind::Word),
    ("responseStatus/response", Kind::Word),
];

/// The properties that can be ordered by.
const ORDERED: [&str; 5] =
    ["start/dateTime", "end/dateTime", "subject", "createdDateTime", "lastModifiedDateTime"];

/// Keeps the events that the request's filter is for, in the order it wants.
pub(super) fn applied<'a>(
    context: &Context<'_>,
    mut events: Vec<Shown<'a>>,
) -> Result<Vec<Shown<'a>>, Refusal> {
    let options = context.asked.options;
    if let Some(filter) = options.filter {
        let filter = filter::parse(filter).map_err(|why| invalid_filter(&why))?;
        check(&filter)?;
        events.retain(|shown| meets(&filter, &Maker::of(context, shown), shown));
    }
    if let Some(order) = options.orderby {
        for (name, down) in keys(order)?.into_iter().rev() {
            events.sort_by_cached_key(|shown| Ranked {
                value: ranked(name, &Maker::of(context, shown), shown),
                down,
            });
        }
    }
    Ok(events)
}

fn check(filter: &Filter) -> Result<(), Refusal> {
    match filter {
        Filter::All(parts) | Filter::Any(parts) => parts.iter().try_for_each(check),
        Filter::Not(part) => check(part),
        Filter::Compare(path, comparison, literal) => {
            let kind = kind(path)?;
            let expected = match kind {
                Kind::Truth => "Edm.Boolean",
                Kind::Instant => "Edm.DateTimeOffset",
                _ => "Edm.String",
            };
            if literal.kind() != expected && *literal != Literal::Null {
                return Err(invalid_filter(&format!(
                    "A binary operator with incompatible types was detected. Found operand types \
                     '{expected}' and '{}' for operator kind '{comparison:?}'.",
                    literal.kind()
                )));
            }
            if let (Kind::Local, Literal::Text(time)) = (kind, literal)
                && instant(time).is_none()
            {
                return Err(invalid_filter(&format!("'{time}' is no date and time.")));
            }
            let equal = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            match equal || matches!(kind, Kind::Instant | Kind::Local | Kind::Words) {
                true => Ok(()),
                false => Err(unsupported_filter()),
            }
        }
        Filter::Text(_, path, _) => match kind(path)? {
            Kind::Words => Ok(()),
            _ => Err(unsupported_filter()),
        },
        Filter::Member(path, inner) => match (path.as_str(), &**inner) {
            ("categories", Filter::Compare(inside, Comparison::Equal, Literal::Text(_)))
                if inside.is_empty() =>
            {
                Ok(())
            }
            _ if is_property(path) => Err(unsupported_filter()),
            _ => Err(invalid_filter(&no_property_message(path, "event"))),
        },
    }
}

fn kind(path: &str) -> Result<Kind, Refusal> {
    match FILTERED.iter().find(|(known, _)| *known == path) {
        Some((_, kind)) => Ok(*kind),
        None if is_property(path) => Err(unsupported_filter()),
        None => Err(invalid_filter(&no_property_message(path, "event"))),
    }
}

fn is_property(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    PROPERTIES.contains(&first)
}

/// The value at a path of an event's properties.
fn held(path: &str, maker: &Maker<'_>) -> Option<Value> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let value = maker.property(first)?;
    match rest {
        "" => Some(value),
        rest => value.pointer(&format!("/{rest}")).cloned(),
    }
}

/// The instant of a time among the properties.
fn time(path: &str, maker: &Maker<'_>, shown: &Shown<'_>) -> Option<Timestamp> {
    match path {
        "start/dateTime" => Some(shown.it.from),
        "end/dateTime" => Some(shown.it.to),
        path => maker.property(path)?.as_str()?.parse().ok(),
    }
}

/// True when an event meets a filter that was checked.
fn meets(filter: &Filter, maker: &Maker<'_>, shown: &Shown<'_>) -> bool {
    match filter {
        Filter::All(parts) => parts.iter().all(|part| meets(part, maker, shown)),
        Filter::Any(parts) => parts.iter().any(|part| meets(part, maker, shown)),
        Filter::Not(part) => !meets(part, maker, shown),
        Filter::Text(test, path, text) => {
            let held = held(path, maker);
            held.is_some_and(|held| text_meets(*test, held.as_str().unwrap_or_default(), text))
        }
        Filter::Member(path, inner) => {
            let values = held(path, maker);
            let values = values.as_ref().and_then(Value::as_array);
            let mut values = values.into_iter().flatten().filter_map(Value::as_str);
            match &**inner {
                Filter::Compare(_, _, Literal::Text(wanted)) => {
                    values.any(|value| value.to_lowercase() == wanted.to_lowercase())
                }
                _ => false,
            }
        }
        Filter::Compare(path, comparison, literal) => {
            let ordering = match literal {
                Literal::Null => {
                    let null = held(path, maker).is_none_or(|held| held.is_null());
                    return null == (*comparison == Comparison::Equal);
                }
                Literal::Time(wanted) => {
                    let held = time(path, maker, shown).map(Timestamp::as_millisecond);
                    held.map(|held| held.cmp(wanted))
                }
                Literal::Truth(wanted) => {
                    let held = held(path, maker).and_then(|held| held.as_bool());
                    held.map(|held| held.cmp(wanted))
                }
                Literal::Text(wanted) => match kind(path) {
                    Ok(Kind::Local) => {
                        let held = time(path, maker, shown);
                        held.zip(instant(wanted)).map(|(held, at)| held.cmp(&at))
                    }
                    _ => held(path, maker).and_then(|held| {
                        let held = held.as_str()?.to_lowercase();
                        Some(held.cmp(&wanted.to_lowercase()))
                    }),
                },
            };
            match (ordering, comparison) {
                (None, comparison) => *comparison == Comparison::NotEqual,
                (Some(it), Comparison::Equal) => it.is_eq(),
                (Some(it), Comparison::NotEqual) => it.is_ne(),
                (Some(it), Comparison::GreaterThan) => it.is_gt(),
                (Some(it), Comparison::GreaterThanOrEqual) => it.is_ge(),
                (Some(it), Comparison::LessThan) => it.is_lt(),
                (Some(it), Comparison::LessThanOrEqual) => it.is_le(),
            }
        }
    }
}

/// The properties of an order, and whether each runs down.
fn keys(text: &str) -> Result<Vec<(&'static str, bool)>, Refusal> {
    let items = text.split(',').map(str::trim);
    items
        .map(|item| {
            let (name, direction) = item.split_once(' ').unwrap_or((item, "asc"));
            let down = match direction.trim() {
                "asc" => false,
                "desc" => true,
                _ => {
                    return Err(unreadable(format!("Syntax error at position 0 in '{text}'.")));
                }
            };
            match ORDERED.into_iter().find(|known| *known == name) {
                Some(known) => Ok((known, down)),
                None if is_property(name) => Err(unsupported_order(name)),
                None => Err(no_property(name, "event")),
            }
        })
        .collect()
}

/// What an event is ordered by.
fn ranked(name: &str, maker: &Maker<'_>, shown: &Shown<'_>) -> (Option<Timestamp>, String) {
    match name {
        "subject" => {
            let subject = maker.property(name);
            let subject = subject.as_ref().and_then(Value::as_str);
            (None, subject.unwrap_or_default().to_lowercase())
        }
        name => (time(name, maker, shown), String::new()),
    }
}

/// A value in an order that may run down.
#[derive(PartialEq, Eq)]
struct Ranked {
    value: (Option<Timestamp>, String),
    down: bool,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.value.cmp(&other.value);
        match self.down {
            true => order.reverse(),
            false => order,
        }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An instant; a time without an offset is in UTC.
pub(super) fn instant(value: &str) -> Option<Timestamp> {
    // A plus sign in an address is a space, where it was not written in signs.
    let value = value.replace(' ', "+");
    if let Ok(at) = value.parse::<Timestamp>() {
        return Some(at);
    }
    let local: DateTime = value.parse().ok()?;
    TimeZone::UTC.to_timestamp(local).ok()
}
