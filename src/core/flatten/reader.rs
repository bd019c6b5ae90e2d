//! Raw values of columns, before a column's kind and options are applied.
//!
//! The reader of single values, which notes values of the wrong type and invisible characters.
//! The meaning of each source is left to the files by subject.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::context::RowContext;
use super::member::ListMember;
use crate::event::time::EventTime;
use crate::text::invisible::{self, InvisibleUse};

/// A value as read, before its column's kind and options are applied.
pub(super) enum ReadValue {
    /// No value.
    Nothing,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Count(i64),
    /// A text, not yet cleaned.
    Text(String),
    /// An instant.
    Time(Timestamp),
    /// The start or end of an event.
    When(EventTime),
    /// A time with its own time zone.
    Beside(EventTime, TimeZone),
    /// The start and the end of an event, shown as the end.
    Until(EventTime, EventTime),
    /// The members of a list, which are separated by commas.
    List(Vec<ListMember>),
    /// Members that are single words, which are separated by blanks instead of commas.
    Marked(Vec<ListMember>),
    /// Words of ours.
    Words(Vec<&'static str>),
}

impl ReadValue {
    /// Returns true unless the value is missing, or is an empty text or list.
    pub(super) fn is_filled(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::List(list) => !list.is_empty(),
            Self::Text(text) => !text.is_empty(),
            _ => true,
        }
    }

    /// Converts a text, and returns other values unchanged.
    pub(super) fn map_text(self, convert: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(convert(text)),
            other => other,
        }
    }
}

impl From<&str> for ReadValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The reader of one column's value.
pub(super) struct RowReader<'a> {
    /// The context of the row.
    pub(super) context: &'a RowContext<'a>,
    /// True if a value of the wrong type was read.
    pub(super) odd: bool,
    /// The uses of invisible characters in the texts read.
    pub(super) unseen: InvisibleUse,
}

impl<'a> RowReader<'a> {
    /// Creates a reader for one row.
    pub(super) fn new(context: &'a RowContext<'a>) -> Self {
        Self { context, odd: false, unseen: InvisibleUse::default() }
    }

    /// Returns a text, and records its invisible characters.
    pub(super) fn text(&mut self, text: &str) -> ReadValue {
        self.see_text(text);
        text.into()
    }

    /// Records the invisible characters of a text, before it is cleaned.
    pub(super) fn see_text(&mut self, text: &str) {
        invisible::scan(text, &mut self.unseen);
    }

    /// Records the invisible characters in all texts of a value, before they are cleaned.
    fn see(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.see_text(text),
            Value::Array(list) => list.iter().for_each(|one| self.see(one)),
            Value::Object(members) => members.values().for_each(|one| self.see(one)),
            _ => {}
        }
    }

    /// Returns the list or object at a path, and records the invisible characters of its texts.
    pub(super) fn seen<'v>(&mut self, object: &'v Value, path: &str) -> Option<&'v Value> {
        at(object, path).inspect(|value| self.see(value))
    }

    /// Reads the text, number or flag at a path.
    pub(super) fn scalar(&mut self, object: &Value, path: &str) -> ReadValue {
        let value = at(object, path);
        match value {
            Some(Value::String(text)) => {
                self.see_text(text);
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
    pub(super) fn unexpected(&mut self, value: Option<&Value>) -> ReadValue {
        if !matches!(value, None | Some(Value::Null)) {
            self.odd = true;
        }
        ReadValue::Nothing
    }
}

/// Returns the value at a path of object keys.
pub(super) fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/').try_fold(object, |value, key| value.get(key))
}

/// Returns the list at a path; empty if the path is missing or not a list.
pub(super) fn list<'v>(object: &'v Value, path: &str) -> &'v [Value] {
    at(object, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the number of elements of a list as a count.
pub(super) fn to_count(len: usize) -> ReadValue {
    ReadValue::Count(i64::try_from(len).unwrap_or(i64::MAX))
}
