//! Writes parts of a normalized query (`normal.rs`) for Graph.
//!
//! `$filter` takes OData and `$search` takes KQL. A part is written exactly or not at all. User
//! input is quoted, and has no syntax there.

use daysheet_core::query::{MessagePart, MessageState, Query, QueryTerm};
use daysheet_core::text::search_text::words;
use jiff::tz::TimeZone;
use jiff::{RoundMode, Timestamp, TimestampRound, ToSpan, Unit};

/// A time before all mail: 1900-01-01.
const EARLIEST: Timestamp = Timestamp::constant(-2_208_988_800, 0);
/// A time after all mail: 9999-12-30.
const LATEST: Timestamp = Timestamp::constant(253_402_128_000, 0);

/// The largest size that Exchange can hold, in bytes.
const MAX_SIZE: u64 = i32::MAX as u64;

/// Returns the `$filter` that joins the conjuncts, or `None` without any.
pub(super) fn filter(mut clauses: Vec<String>) -> Option<String> {
    // The sort is stable: all other conditions keep their order.
    clauses.sort_by_key(|clause| !is_sortable(clause));
    (!clauses.is_empty()).then(|| sortable(&clauses.join(" and ")))
}

fn is_sortable(filter: &str) -> bool {
    filter.starts_with("receivedDateTime ")
}

/// Returns a filter whose results can be sorted by date: Graph requires the sort key to come first
/// in the filter.
fn sortable(filter: &str) -> String {
    if is_sortable(filter) {
        return filter.to_owned();
    }
    format!("receivedDateTime ge {EARLIEST} and {filter}")
}

/// Returns a filter written by the user in the same sortable form.
pub(super) fn raw_filter(raw: &str) -> String {
    if is_sortable(raw) {
        return raw.to_owned();
    }
    sortable(&format!("({raw})"))
}

/// Returns a part in OData, or `None` if it cannot be expressed exactly.
pub(super) fn odata(part: &Query) -> Option<String> {
    match part {
        // An empty OR matches no message.
        Query::Any(parts) if parts.is_empty() => Some(format!("receivedDateTime lt {EARLIEST}")),
        Query::Any(parts) => group(parts, " or ", odata),
        Query::All(parts) => group(parts, " and ", odata),
        Query::Not(part) => odata_term(part, true),
        part => odata_term(part, false),
    }
}

/// Joins parts in parentheses; `None` if one of them cannot be expressed.
fn group(
    parts: &[Query],
    between: &str,
    each: impl Fn(&Query) -> Option<String>,
) -> Option<String> {
    let parts: Vec<_> = parts.iter().map(each).collect::<Option<_>>()?;
    (!parts.is_empty()).then(|| format!("({})", parts.join(between)))
}

fn odata_term(part: &Query, negated: bool) -> Option<String> {
    let Query::Term(term) = part else {
        return None;
    };
    // The opposite comparison is used because Graph accepts `not` in few places.
    let equals = if negated { "ne" } else { "eq" };
    Some(match term {
        QueryTerm::In(MessagePart::From, who) if is_address(who) => {
            let who = who.replace('\'', "''");
            format!("from/emailAddress/address {equals} '{who}'")
        }
        QueryTerm::Is(MessageState::Unread) => format!("isRead eq {negated}"),
        QueryTerm::Is(MessageState::Read) => format!("isRead eq {}", !negated),
        QueryTerm::Is(MessageState::Starred) => format!("flag/flagStatus {equals} 'flagged'"),
        QueryTerm::Is(MessageState::Important) => format!("importance {equals} 'high'"),
        QueryTerm::Attachment => format!("hasAttachments eq {}", !negated),
        QueryTerm::Before(instant) if negated => after(*instant),
        QueryTerm::After(instant) if negated => before(*instant),
        QueryTerm::Before(instant) => before(*instant),
        QueryTerm::After(instant) => after(*instant),
        // Names are searched by word, and OData may compare categories differently from our check.
        QueryTerm::In(..) | QueryTerm::Label(_) | QueryTerm::Category(_) => return None,
        QueryTerm::Text(_)
        | QueryTerm::Folder(_)
        | QueryTerm::Larger(_)
        | QueryTerm::Smaller(_) => return None,
    })
}

/// Returns true for a complete address, as in `from/emailAddress/address`.
fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"@\"<>(),;:\\*".contains(c);
    !local.is_empty()
        && local.chars().all(plain)
        && domain.chars().all(plain)
        && domain.contains('.')
        && domain.split('.').all(|label| !label.is_empty())
}

fn before(instant: Timestamp) -> String {
    format!("receivedDateTime lt {}", second(instant))
}

fn after(instant: Timestamp) -> String {
    format!("receivedDateTime ge {}", second(instant))
}

/// Returns an instant as Graph compares it. Received times have whole seconds, so rounding up
/// changes no comparison.
fn second(instant: Timestamp) -> Timestamp {
    let whole = TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Ceil);
    instant.round(whole).unwrap_or(instant).clamp(EARLIEST, LATEST)
}

/// Returns a part in KQL, with quotation marks not [escaped](escape) yet; `None` if it cannot be
/// expressed exactly.
pub(super) fn kql(part: &Query) -> Option<String> {
    match part {
        Query::Any(parts) => group(parts, " OR ", kql),
        Query::All(parts) => group(parts, " AND ", kql),
        Query::Not(part) => kql(part).map(|part| format!("NOT {part}")),
        Query::Term(term) => kql_term(term),
        Query::Raw(_) => None,
    }
}

fn kql_term(term: &QueryTerm) -> Option<String> {
    Some(match term {
        // The index contains only words.
        QueryTerm::Text(text) | QueryTerm::In(_, text) if words(text).is_empty() => return None,
        QueryTerm::Text(text) => phrase(text),
        // As in Gmail, `to:` includes Cc.
        QueryTerm::In(MessagePart::To, who) => {
            let who = phrase(who);
            format!("(to:{who} OR cc:{who} OR bcc:{who})")
        }
        QueryTerm::In(MessagePart::Filename, name) => format!("attachment:{}", phrase(name)),
        QueryTerm::In(part, text) => format!("{}:{}", part.operator(), phrase(text)),
        QueryTerm::Larger(bytes) => format!("size>{}", bytes.min(&MAX_SIZE)),
        QueryTerm::Smaller(bytes) => format!("size<{}", bytes.min(&MAX_SIZE)),
        QueryTerm::Attachment => "hasAttachments:true".to_owned(),
        QueryTerm::Is(MessageState::Important) => "importance:high".to_owned(),
        // KQL has only days, in an unknown time zone.
        QueryTerm::Before(_) | QueryTerm::After(_) => return None,
        QueryTerm::Is(_) | QueryTerm::Folder(_) | QueryTerm::Label(_) | QueryTerm::Category(_) => {
            return None;
        }
    })
}

/// Returns a bound on the time as days in KQL. One day is added on each side, because the server's
/// time zone is unknown.
pub(super) fn kql_days(part: &Query) -> Option<String> {
    let day = |instant: &Timestamp| {
        let instant = instant.clamp(&EARLIEST, &LATEST);
        instant.to_zoned(TimeZone::UTC).date()
    };
    let (sign, day) = match part {
        Query::Term(QueryTerm::After(instant)) => (">=", day(instant).checked_sub(1.day())),
        Query::Term(QueryTerm::Before(instant)) => ("<", day(instant).checked_add(2.days())),
        _ => return None,
    };
    // Without this bound the search finds more, and the remaining check decides.
    Some(format!("received{sign}{}", day.ok()?))
}

/// Returns a quoted phrase without characters that have a meaning within quotes.
fn phrase(text: &str) -> String {
    let inert: String = text
        .chars()
        .map(|c| match c {
            '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '*' | '\\' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    let words: Vec<_> = inert.split_whitespace().collect();
    format!("\"{}\"", words.join(" "))
}

/// Returns the `$search` that joins the conjuncts, to be put in double quotes.
pub(super) fn search(mut clauses: Vec<String>) -> String {
    // Searches rarely begin with an exclusion, so those come last.
    clauses.sort_by_key(|clause| clause.starts_with("NOT "));
    escape(&clauses.join(" AND "))
}

/// Escapes KQL for the double quotes of `$search`.
fn escape(kql: &str) -> String {
    kql.replace('\\', r"\\").replace('"', r#"\""#)
}

/// Returns KQL written by the user in the form of [`escape`], whether or not it has outer quotes or
/// escaped inner ones.
pub(super) fn raw_kql(raw: &str) -> String {
    let inner = raw
        .strip_prefix('"')
        .and_then(|raw| raw.strip_suffix('"'))
        .filter(|inner| !inner.replace(r#"\""#, "").contains(['"', '\\']));
    escape(&inner.unwrap_or(raw).replace(r#"\""#, "\""))
}
