//! Conversion of JSON objects to rows, by columns.
//!
//! The only reader of [`ValueSource`]. It never fails: a missing value is null; one of the wrong type
//! is null and counted in the [`FlattenReport`]. Untrusted text is cleaned and cut here, according to
//! its column, so that no caller can forget it. No I/O, no clock.

mod member;
mod senders;

use std::collections::HashMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use self::member::{ListMember, guests, recipient, sample};
pub use self::senders::{INJECTION, NEW_ACCOUNT, ORDERS, PAYMENT, needs_folder, sender, warnings};
use self::senders::{is_unchecked, warnings_at};
use crate::budget::count::tokens;
use crate::event_time::{self, EventTime};
use crate::recurrence::EventRecurrence;
use crate::row::{CutCell, RowCell, RowExtra, RowTable};
use crate::schemas::{CellKind, Service, Table, TableColumn, ValueSource, wire};
use crate::text::invisible::{self, InvisibleUse};
use crate::text::opening;
use crate::text::orders::{self, gives_orders};
use crate::text::sender_auth::AuthResults;
use crate::text::unsubscribe::way;
use crate::text::{self, deceptive};

/// Facts about objects that the objects themselves do not contain.
#[derive(Debug, Clone)]
pub struct RowContext<'a> {
    /// The API whose JSON format the objects have.
    pub api: Service,
    /// The time zone in which times are shown.
    pub zone: &'a TimeZone,
    /// The label of the account they came from.
    pub account: &'a str,
    /// The account's address, which identifies its owner among people.
    pub address: &'a str,
    /// Names of labels, folders and calendars by id.
    pub names: &'a HashMap<String, String>,
    /// The space for untrusted text.
    pub room: RowRoom,
}

impl RowContext<'static> {
    /// Creates the context for rows whose account and names do not matter, in UTC.
    pub fn bare(api: Service) -> Self {
        static UTC: TimeZone = TimeZone::UTC;
        static NO_NAMES: LazyLock<HashMap<String, String>> = LazyLock::new(HashMap::new);
        Self { api, zone: &UTC, account: "", address: "", names: &NO_NAMES, room: RowRoom::List }
    }
}

/// The space for a row's untrusted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowRoom {
    /// A row of a list, with text cut at its column's cap.
    #[default]
    List,
    /// A row of a list whose message beginnings have this many columns.
    Beginning(u16),
    /// A row about one requested object, with four times the cap and four times as many members
    /// of a list.
    One,
}

impl RowRoom {
    /// Returns the maximum width of a text whose column has this cap.
    pub fn cap(self, cap: u16) -> usize {
        match self {
            Self::List | Self::Beginning(_) => usize::from(cap),
            Self::One => 4 * usize::from(cap),
        }
    }
}

/// Values that could not be shown exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlattenReport {
    /// The columns with values of an unexpected type, and the number of these values.
    pub odd: Vec<(&'static str, usize)>,
}

impl FlattenReport {
    fn count(list: &mut Vec<(&'static str, usize)>, name: &'static str) {
        match list.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => list.push((name, 1)),
        }
    }
}

/// Converts each object to a row.
pub fn flatten(
    table: &'static Table,
    columns: &[&'static TableColumn],
    objects: &[Value],
    context: &RowContext,
) -> (RowTable, FlattenReport) {
    let mut rows = RowTable::new(table, columns.to_vec());
    let mut report = FlattenReport::default();
    for object in objects {
        let mut reader = RowReader::new(context);
        let mut cells = Vec::with_capacity(columns.len());
        let (mut cuts, mut remarks) = (Vec::new(), Vec::new());
        for field in columns {
            let source = field.source(context.api);
            let value = reader.read(object, source);
            let unseen = InvisibleUse { padding: 0, ..std::mem::take(&mut reader.unseen) };
            let (mut cell, cut) = finish(field, value, context, &mut reader.odd);
            // Services omit empty values, so a missing text is empty rather than unknown. In
            // our own objects a missing value is unknown.
            let is_none = context.api != Service::Local && !reader.odd && is_none(field, source);
            if cell == RowCell::Null && is_none {
                cell = RowCell::Text(String::new());
            }
            // A beginning is always cut, so this needs no note.
            cuts.extend(cut.filter(|_| !field.beginning));
            // A value of the wrong type is null and counted, never an error.
            if std::mem::take(&mut reader.odd) {
                FlattenReport::count(&mut report.odd, field.name);
                if cell == RowCell::Text(String::new()) {
                    cell = RowCell::Null;
                }
            }
            // The text that a beginning is from has notes of its own when it is read.
            if field.untrusted.is_some() && !field.beginning {
                remarks.extend(unseen.notes().into_iter().map(|note| (field.name, note)));
                if matches!(&cell, RowCell::Text(text) if gives_orders(text)) {
                    remarks.push((field.name, orders::SHOWN.into()));
                }
            }
            cells.push(cell);
        }
        let provider_id = key(table, object, context);
        rows.push(cells, RowExtra { provider_id, text: None, cuts, remarks });
    }
    (rows, report)
}

/// Returns true if a missing source value means an empty text. Values that we look up or name may
/// merely be unknown, and an event without guests is not a meeting.
fn is_none(field: &TableColumn, source: ValueSource) -> bool {
    let unknown = matches!(
        source,
        ValueSource::Absent
            | ValueSource::Added(_)
            | ValueSource::Names(_)
            | ValueSource::SenderAuth(_)
            | ValueSource::Guests(..)
    );
    field.kind == CellKind::Text && !unknown
}

/// Returns the provider's id of a row's object, if its table has ids.
pub fn key(table: &Table, object: &Value, context: &RowContext) -> Option<String> {
    let key = table.fields.first()?;
    let mut reader = RowReader::new(context);
    match (key.kind, reader.read(object, key.source(context.api))) {
        (CellKind::Handle(_), ReadValue::Text(id)) => Some(id),
        _ => None,
    }
}

/// Returns the instant that a time column reads from an object, for sorting.
pub fn instant(field: &TableColumn, object: &Value, context: &RowContext) -> Option<Timestamp> {
    let mut reader = RowReader::new(context);
    match reader.read(object, field.source(context.api)) {
        ReadValue::Time(time) => Some(time),
        ReadValue::When(when) | ReadValue::Beside(when, _) | ReadValue::Until(_, when) => {
            Some(when.instant(context.zone))
        }
        _ => None,
    }
}

/// Returns the texts that a column reads from an object, complete and uncleaned. For searching
/// only, never for showing.
pub fn texts(field: &TableColumn, object: &Value, context: &RowContext) -> Vec<String> {
    let mut reader = RowReader::new(context);
    match reader.read(object, field.source(context.api)) {
        ReadValue::Text(text) => vec![text],
        ReadValue::List(list) => list.iter().map(ListMember::whole).collect(),
        ReadValue::Words(words) => words.into_iter().map(str::to_owned).collect(),
        ReadValue::Count(count) => vec![count.to_string()],
        _ => Vec::new(),
    }
}

/// A value as read, before its column's kind and options are applied.
enum ReadValue {
    Nothing,
    Flag(bool),
    Count(i64),
    Text(String),
    Time(Timestamp),
    When(EventTime),
    /// A time with its own time zone.
    Beside(EventTime, TimeZone),
    Until(EventTime, EventTime),
    List(Vec<ListMember>),
    /// Members that are single words, which are separated by blanks instead of commas.
    Marked(Vec<ListMember>),
    Words(Vec<&'static str>),
}

struct RowReader<'a> {
    context: &'a RowContext<'a>,
    odd: bool,
    /// The uses of invisible characters in the texts read.
    unseen: InvisibleUse,
}

impl<'a> RowReader<'a> {
    fn new(context: &'a RowContext<'a>) -> Self {
        Self { context, odd: false, unseen: InvisibleUse::default() }
    }

    /// Records the invisible characters in texts, before they are cleaned.
    fn see(&mut self, value: &Value) {
        match value {
            Value::String(text) => invisible::scan(text, &mut self.unseen),
            Value::Array(list) => list.iter().for_each(|one| self.see(one)),
            Value::Object(members) => members.values().for_each(|one| self.see(one)),
            _ => {}
        }
    }

    /// Returns the list or object at a path, and records the invisible characters of its texts.
    fn seen<'v>(&mut self, object: &'v Value, path: &str) -> Option<&'v Value> {
        at(object, path).inspect(|value| self.see(value))
    }

    fn read(&mut self, object: &Value, source: ValueSource) -> ReadValue {
        match source {
            ValueSource::Absent | ValueSource::Added(_) => ReadValue::Nothing,
            ValueSource::Account => ReadValue::Text(self.context.account.to_owned()),
            ValueSource::Owner => ReadValue::List(vec![ListMember::text(self.context.address)]),
            ValueSource::Path(path) => self.scalar(at(object, path)),
            ValueSource::GmailPage(path) => match self.scalar(at(object, path)) {
                ReadValue::Text(id) => ReadValue::Text(gmail_page(self.context.address, &id)),
                other => other,
            },
            ValueSource::Escaped(path) => match self.scalar(at(object, path)) {
                ReadValue::Text(text) => ReadValue::Text(text::entities(&text).into_owned()),
                other => other,
            },
            ValueSource::Opening(text, subject) => {
                let subject = match self.read(object, *subject) {
                    ReadValue::Text(subject) => subject,
                    _ => String::new(),
                };
                match self.read(object, *text) {
                    ReadValue::Text(text) => ReadValue::Text(opening::opening(&text, &subject)),
                    other => other,
                }
            }
            ValueSource::Not(path) => match at(object, path) {
                Some(Value::Bool(flag)) => ReadValue::Flag(!flag),
                other => self.unexpected(other),
            },
            ValueSource::Is(path, word) => match self.scalar(at(object, path)) {
                ReadValue::Text(text) => ReadValue::Flag(text.eq_ignore_ascii_case(word)),
                // Graph reports some properties as Booleans where Google has a word, such as
                // the access to a calendar.
                ReadValue::Flag(flag) => {
                    ReadValue::Flag(word == if flag { "true" } else { "false" })
                }
                _ => ReadValue::Nothing,
            },
            ValueSource::Has(path, word) => match at(object, path) {
                Some(Value::Array(list)) => {
                    ReadValue::Flag(list.iter().any(|item| item.as_str() == Some(word)))
                }
                other => self.unexpected(other),
            },
            ValueSource::Lacks(path, word) => match at(object, path) {
                Some(Value::Array(list)) => {
                    ReadValue::Flag(list.iter().all(|item| item.as_str() != Some(word)))
                }
                other => self.unexpected(other),
            },
            ValueSource::EpochMs(path) => {
                let value = at(object, path);
                let ms = match value {
                    Some(Value::String(text)) => text.parse().ok(),
                    Some(other) => other.as_i64(),
                    None => return ReadValue::Nothing,
                };
                match ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()) {
                    Some(time) => ReadValue::Time(time),
                    None => self.unexpected(value),
                }
            }
            ValueSource::Rfc3339(path) => match at(object, path) {
                Some(Value::String(text)) => match text.parse() {
                    Ok(time) => ReadValue::Time(time),
                    Err(_) => self.unexpected(Some(&Value::Null)),
                },
                other => self.unexpected(other),
            },
            ValueSource::Header(name) => match header(object, name) {
                Some(value) => {
                    let text = text::header(value).into_owned();
                    invisible::scan(&text, &mut self.unseen);
                    ReadValue::Text(text)
                }
                None => ReadValue::Nothing,
            },
            ValueSource::Heading(path, name, words) => {
                ReadValue::Flag(headers(object, path, name).any(|value| is_one_of(value, words)))
            }
            ValueSource::SenderAuth(path) => {
                let found = headers(object, path, wire::RESULTS).next();
                let receivers = self.context.api.receivers();
                match found.and_then(|value| AuthResults::read(value, receivers)?.line()) {
                    Some(line) => ReadValue::Text(line),
                    None if is_unchecked(object, path, self.context) => {
                        // A sender can forge a result that says everything passed, but has no
                        // reason to forge a failure.
                        let claims = found.map(|value| AuthResults::read_claims(value).failures());
                        ReadValue::Text(match claims {
                            None => "not checked".to_owned(),
                            Some(None) => {
                                "not checked; another server's results are not trusted".to_owned()
                            }
                            Some(Some(failures)) => {
                                format!("not checked; another server reports {failures}")
                            }
                        })
                    }
                    None => ReadValue::Nothing,
                }
            }
            ValueSource::Unsubscribe(path) => {
                let fields = wire::UNSUBSCRIBE.iter().filter_map(|name| {
                    let value = headers(object, path, name).next()?;
                    Some(((*name).to_owned(), value.to_owned()))
                });
                match way(&fields.collect::<Vec<_>>()) {
                    Some(way) => ReadValue::Text(way.word().to_owned()),
                    None => ReadValue::Nothing,
                }
            }
            ValueSource::SenderWarnings(path, opening, spam) => {
                let warnings = warnings_at(object, path, (*opening, *spam), self.context);
                ReadValue::Words(warnings.into_iter().map(|one| one.word).collect())
            }
            // A repeated field is invalid (RFC 5322, 3.6), but the message may have been sent
            // to all the people it names.
            ValueSource::HeaderAddresses(name) => {
                let mut lines = headers(object, wire::HEADERS, name).peekable();
                if lines.peek().is_none() {
                    return ReadValue::Nothing;
                }
                let mut people = Vec::new();
                for value in lines {
                    invisible::scan(&text::header(value), &mut self.unseen);
                    let found = text::address_list(value);
                    people.extend(found.iter().map(|person| ListMember::person(person, "")));
                }
                ReadValue::List(people)
            }
            ValueSource::Address(path) => match self.seen(object, path).and_then(recipient) {
                Some(person) => ReadValue::List(vec![person]),
                None => ReadValue::Nothing,
            },
            ValueSource::Addresses(path) => match self.seen(object, path) {
                Some(Value::Array(list)) => {
                    ReadValue::List(list.iter().filter_map(recipient).collect())
                }
                other => self.unexpected(other),
            },
            ValueSource::Join(path) => match self.seen(object, path) {
                Some(Value::Array(list)) => ReadValue::List(
                    list.iter().filter_map(|item| item.as_str().map(ListMember::text)).collect(),
                ),
                other => self.unexpected(other),
            },
            ValueSource::Names(path) => self.names(at(object, path)),
            ValueSource::Flags(words) => ReadValue::Words(
                words
                    .iter()
                    .filter(|(_, condition)| self.holds(object, *condition))
                    .map(|(word, _)| *word)
                    .collect(),
            ),
            ValueSource::First(words, otherwise) => {
                let word = words
                    .iter()
                    .find(|(_, condition)| self.holds(object, *condition))
                    .map_or(otherwise, |(word, _)| *word);
                match word {
                    "" => ReadValue::Nothing,
                    word => ReadValue::Text(word.to_owned()),
                }
            }
            // `me` in an answer is the account's owner, and anyone may choose that name.
            ValueSource::Name(path) => match self.scalar(at(object, path)) {
                ReadValue::Text(name) if text::sender_auth::looks_like(&name, "me") => {
                    ReadValue::Nothing
                }
                found => found,
            },
            ValueSource::Either(sources) => {
                for source in sources {
                    match self.read(object, *source) {
                        ReadValue::Nothing => {}
                        ReadValue::List(list) if list.is_empty() => {}
                        ReadValue::Text(text) if text.is_empty() => {}
                        found => return found,
                    }
                }
                ReadValue::Nothing
            }
            ValueSource::Length(path) => match at(object, path) {
                Some(Value::Array(list)) => ReadValue::Count(to_count(list.len())),
                other => self.unexpected(other),
            },
            ValueSource::Oldest(path, inner) => self.first_of(list(object, path).iter(), *inner),
            ValueSource::Newest(path, inner) => {
                self.first_of(list(object, path).iter().rev(), *inner)
            }
            ValueSource::Tally(path, inner) => {
                let holding = list(object, path).iter().filter(|item| self.holds(item, *inner));
                ReadValue::Count(to_count(holding.count()))
            }
            ValueSource::Any(path, inner) => {
                ReadValue::Flag(list(object, path).iter().any(|item| self.holds(item, *inner)))
            }
            ValueSource::There(path) => ReadValue::Flag(match at(object, path) {
                None | Some(Value::Null | Value::Bool(false)) => false,
                Some(Value::Array(list)) => !list.is_empty(),
                Some(_) => true,
            }),
            ValueSource::Word(word, condition) => {
                if self.holds(object, *condition) {
                    ReadValue::Text(word.to_owned())
                } else {
                    ReadValue::Nothing
                }
            }
            ValueSource::Provided(condition, inner) => {
                if self.holds(object, *condition) {
                    self.read(object, *inner)
                } else {
                    ReadValue::Nothing
                }
            }
            ValueSource::Both(one, other) => {
                match (self.scalar(at(object, one)), self.scalar(at(object, other))) {
                    (ReadValue::Text(one), ReadValue::Text(other)) => {
                        ReadValue::Text(format!("{one}/{other}"))
                    }
                    _ => ReadValue::Nothing,
                }
            }
            ValueSource::Markup(path) => match self.scalar(at(object, path)) {
                ReadValue::Text(text) => ReadValue::Text(plain(text)),
                other => other,
            },
            ValueSource::Zone(path) => match self.scalar(at(object, path)) {
                ReadValue::Text(name) => {
                    ReadValue::Text(event_time::zone_name(&name).unwrap_or(name))
                }
                other => other,
            },
            ValueSource::GoogleWhen(path) => self.google_when(at(object, path)),
            ValueSource::GraphWhen(path, all_day) => {
                let all_day = at(object, all_day).and_then(Value::as_bool) == Some(true);
                self.graph_when(at(object, path), all_day)
            }
            ValueSource::Beside(time, zone) => {
                let zone = match self.read(object, *zone) {
                    ReadValue::Text(name) => event_time::find_zone(&name),
                    _ => None,
                };
                match (self.read(object, *time), zone) {
                    (ReadValue::When(when), Some(zone)) => ReadValue::Beside(when, zone),
                    (when, _) => when,
                }
            }
            ValueSource::Rule(path) => match at(object, path) {
                Some(Value::Array(list)) => {
                    let lines: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                    let repeat = EventRecurrence::from_lines(&lines, self.context.zone);
                    let dates = match repeat.extra.len() {
                        0 => String::new(),
                        1 => " +1 date".to_owned(),
                        many => format!(" +{many} dates"),
                    };
                    let rule = format!("{}{dates}", repeat.rule);
                    match rule.trim_start() {
                        "" => ReadValue::Nothing,
                        rule => ReadValue::Text(rule.to_owned()),
                    }
                }
                other => self.unexpected(other),
            },
            ValueSource::Until(start, end) => {
                match (self.read(object, *start), self.read(object, *end)) {
                    (ReadValue::When(start), ReadValue::When(end)) => ReadValue::Until(start, end),
                    _ => ReadValue::Nothing,
                }
            }
            ValueSource::Guests(names, short) => match self.seen(object, names.list) {
                Some(Value::Array(list)) => {
                    let people = guests(list, names, short, self.context);
                    match short {
                        _ if people.is_empty() => ReadValue::Nothing,
                        true => ReadValue::Marked(people),
                        false => ReadValue::List(people),
                    }
                }
                other => self.unexpected(other),
            },
            ValueSource::Each(path, inner) => {
                let mut values: Vec<ListMember> = Vec::new();
                for item in list(object, path) {
                    let found = match self.read(item, *inner) {
                        ReadValue::List(texts) => texts,
                        ReadValue::Text(text) => vec![ListMember::text(&text)],
                        _ => Vec::new(),
                    };
                    for value in found {
                        if !values.contains(&value) {
                            values.push(value);
                        }
                    }
                }
                ReadValue::List(values)
            }
        }
    }

    fn first_of<'v>(
        &mut self,
        items: impl Iterator<Item = &'v Value>,
        inner: ValueSource,
    ) -> ReadValue {
        for item in items {
            match self.read(item, inner) {
                ReadValue::Nothing => {}
                found => return found,
            }
        }
        ReadValue::Nothing
    }

    /// Returns true if a condition holds, or any of several.
    fn holds(&mut self, object: &Value, condition: ValueSource) -> bool {
        match condition {
            ValueSource::Either(any) => any.iter().any(|one| self.holds(object, *one)),
            one => matches!(self.read(object, one), ReadValue::Flag(true)),
        }
    }

    /// Reads a `date`, or a `dateTime` with its offset. Without an offset, the time is in the
    /// named zone.
    fn google_when(&mut self, value: Option<&Value>) -> ReadValue {
        let (date, date_time, zone) = wire::WHEN;
        let Some(object) = value.filter(|value| !value.is_null()) else {
            return ReadValue::Nothing;
        };
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let when = match (text(date), text(date_time)) {
            (Some(date), _) => date.parse().ok().map(EventTime::Day),
            // The offset is exact even if the named zone is unknown here.
            (None, Some(given)) => given
                .parse()
                .ok()
                .or_else(|| event_time::local(given, text(zone).unwrap_or("UTC")))
                .map(EventTime::At),
            (None, None) => None,
        };
        when.map_or_else(|| self.unexpected(value), ReadValue::When)
    }

    /// Reads a local `dateTime` in the zone named next to it.
    fn graph_when(&mut self, value: Option<&Value>, all_day: bool) -> ReadValue {
        let (_, date_time, zone) = wire::WHEN;
        let Some(object) = value.filter(|value| !value.is_null()) else {
            return ReadValue::Nothing;
        };
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let given = text(date_time).unwrap_or_default();
        let when = if all_day {
            event_time::day(given).map(EventTime::Day)
        } else {
            event_time::local(given, text(zone).unwrap_or("UTC")).map(EventTime::At)
        };
        when.map_or_else(|| self.unexpected(value), ReadValue::When)
    }

    fn names(&mut self, value: Option<&Value>) -> ReadValue {
        let named = |item: &Value| item.as_str().and_then(|id| self.context.names.get(id)).cloned();
        match value {
            Some(Value::Array(list)) => {
                let names = list.iter().filter_map(named);
                ReadValue::List(names.map(|name| ListMember::text(&name)).collect())
            }
            Some(id @ Value::String(_)) => named(id).map_or(ReadValue::Nothing, ReadValue::Text),
            other => self.unexpected(other),
        }
    }

    fn scalar(&mut self, value: Option<&Value>) -> ReadValue {
        match value {
            Some(Value::String(text)) => {
                invisible::scan(text, &mut self.unseen);
                ReadValue::Text(text.clone())
            }
            Some(Value::Bool(flag)) => ReadValue::Flag(*flag),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(count) => ReadValue::Count(count),
                None => self.unexpected(value),
            },
            other => self.unexpected(other),
        }
    }

    /// Returns null, and records a value of the wrong type. A missing value is not recorded.
    fn unexpected(&mut self, value: Option<&Value>) -> ReadValue {
        if !matches!(value, None | Some(Value::Null)) {
            self.odd = true;
        }
        ReadValue::Nothing
    }
}

/// Returns the cell for a value, according to the column's kind and options, and the cut cell if
/// the value is not shown in full.
fn finish(
    field: &TableColumn,
    value: ReadValue,
    context: &RowContext,
    odd: &mut bool,
) -> (RowCell, Option<CutCell>) {
    let text = match (field.kind, value) {
        (_, ReadValue::Nothing) => return (RowCell::Null, None),
        (CellKind::Flag, ReadValue::Flag(flag)) => return (RowCell::Flag(flag), None),
        (CellKind::Count, ReadValue::Count(count)) => return (RowCell::Count(count), None),
        // Google's APIs write 64-bit numbers as text.
        (CellKind::Count, ReadValue::Text(text)) => {
            return match text.parse() {
                Ok(count) => (RowCell::Count(count), None),
                Err(_) => {
                    *odd = true;
                    (RowCell::Null, None)
                }
            };
        }
        (CellKind::Words, ReadValue::Words(words)) => {
            return (RowCell::Text(words.join(" ")), None);
        }
        (CellKind::Time, ReadValue::Time(time)) => {
            return (RowCell::Text(minute(time, context.zone)), None);
        }
        (CellKind::Start, ReadValue::When(start)) => {
            return (RowCell::Text(event_time::start(start, context.zone)), None);
        }
        (CellKind::Start, ReadValue::Beside(start, own)) => {
            return (RowCell::Text(event_time::start_beside(start, context.zone, &own)), None);
        }
        (CellKind::End, ReadValue::Until(start, end)) => {
            return (RowCell::Text(event_time::end(start, end, context.zone)), None);
        }
        (CellKind::Handle(_), ReadValue::Text(id)) => return (RowCell::Id(id), None),
        (CellKind::Text, ReadValue::Text(text)) => text,
        (CellKind::Text, ReadValue::Flag(flag)) => flag.to_string(),
        (CellKind::Text, ReadValue::Count(count)) => count.to_string(),
        (CellKind::Text, ReadValue::List(list) | ReadValue::Marked(list)) if list.is_empty() => {
            return (RowCell::Text(String::new()), None);
        }
        (CellKind::Text, ReadValue::List(list)) => return sample(field, &list, ", ", context.room),
        (CellKind::Text, ReadValue::Marked(list)) => {
            return sample(field, &list, " ", context.room);
        }
        _ => {
            *odd = true;
            return (RowCell::Null, None);
        }
    };
    let Some(cap) = field.untrusted else {
        return (RowCell::Text(text), None);
    };
    let whole = deceptive::line(&text);
    let room = match (field.beginning, context.room) {
        (true, RowRoom::Beginning(width)) => usize::from(width),
        (_, room) => room.cap(cap),
    };
    let (shown, cut) = clip(whole.clone(), room);
    let cut = cut.then_some(CutCell { column: field.name, whole, members: None });
    (RowCell::Text(shown), cut)
}

/// Shortens a text to at most `room` columns, and to about as many tokens: rare characters take
/// several tokens each, and a row of them would not fit into a budget that any other row fits.
fn clip(whole: String, room: usize) -> (String, bool) {
    let (shown, cut) = text::clip(whole, room);
    // A token is at least one byte, so short texts need no count.
    let cost = if shown.len() > room { tokens(&shown) } else { 0 };
    // Tokens per column are roughly even within a text, so the width shrinks in proportion.
    if cost > room {
        (text::clip(shown, (room * room / cost).max(1)).0, true)
    } else {
        (shown, cut)
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

/// Converts text that may be HTML to plain text.
pub fn plain(text: String) -> String {
    // Services do not declare whether a text is HTML; these tags are taken as a sign.
    let marked = text.contains("</") || text.contains("<br") || text.contains("<p>");
    if marked { text::html::html(&text, text::html::TextStyle::Text, false).text } else { text }
}

/// Returns the address of a thread in Gmail's web client for this account.
fn gmail_page(address: &str, id: &str) -> String {
    let (start, thread) = wire::GMAIL_PAGE;
    let address: String = url::form_urlencoded::byte_serialize(address.as_bytes()).collect();
    format!("{start}{address}{thread}{id}")
}

/// Returns the value at a path of object keys.
fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/').try_fold(object, |value, key| value.get(key))
}

/// Returns the list at a path; empty if the path is missing or not a list.
fn list<'v>(object: &'v Value, path: &str) -> &'v [Value] {
    at(object, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the first header field with this name, ignoring case.
fn header<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    headers(object, wire::HEADERS, name).next()
}

/// Returns the values of the header fields with this name in the list at a path.
fn headers<'v>(object: &'v Value, path: &str, name: &str) -> impl Iterator<Item = &'v str> {
    let (key, value) = wire::HEADER;
    list(object, path)
        .iter()
        .filter(move |header| {
            header
                .get(key)
                .and_then(Value::as_str)
                .is_some_and(|found| found.eq_ignore_ascii_case(name))
        })
        .filter_map(move |header| header.get(value).and_then(Value::as_str))
}

/// Returns true if a header field's value, up to its parameters or comment, is one of the words,
/// or if there are no words.
fn is_one_of(value: &str, words: &[&str]) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '(');
    let own = value.trim_start().split(ends).next().unwrap_or_default();
    words.is_empty() || words.iter().any(|word| own.eq_ignore_ascii_case(word))
}

fn to_count(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}
