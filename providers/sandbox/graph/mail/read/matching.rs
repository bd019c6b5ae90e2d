//! Filters and orders of messages.
//!
//! A filter is first checked against the properties that Exchange can compare, and then applied to
//! each message. Texts are compared without regard to case, as in Exchange.

use super::message::{self, MessageImportance};
use crate::graph::error::{
    GraphError, inefficient, invalid_filter, malformed_id, no_property, unsupported_filter,
    unsupported_order,
};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::exchange::folders;
use crate::graph::filter::{
    self, FilterComparison, FilterCondition, FilterExpression, FilterLiteral, TextTest,
};
use crate::graph::ids::MailboxIds;
use crate::graph::types::mail::MESSAGE;
use crate::store::message::Message;

/// The type that a property is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PropertyType {
    Text,
    /// Text that can also be searched in part.
    Words,
    Truth,
    Time,
    /// A word of an enumeration.
    Enum,
    Conversation,
    Folder,
}

/// The properties that can be filtered by.
const FILTERED: [(&str, PropertyType); 17] = [
    ("receivedDateTime", PropertyType::Time),
    ("sentDateTime", PropertyType::Time),
    ("createdDateTime", PropertyType::Time),
    ("lastModifiedDateTime", PropertyType::Time),
    ("isRead", PropertyType::Truth),
    ("isDraft", PropertyType::Truth),
    ("hasAttachments", PropertyType::Truth),
    ("importance", PropertyType::Enum),
    ("flag/flagStatus", PropertyType::Enum),
    ("subject", PropertyType::Words),
    ("internetMessageId", PropertyType::Text),
    ("conversationId", PropertyType::Conversation),
    ("parentFolderId", PropertyType::Folder),
    ("from/emailAddress/address", PropertyType::Words),
    ("from/emailAddress/name", PropertyType::Words),
    ("sender/emailAddress/address", PropertyType::Words),
    ("sender/emailAddress/name", PropertyType::Words),
];

/// The value of a property in a message.
#[derive(Debug)]
enum PropertyValue {
    Text(String),
    Truth(bool),
    Time(i64),
}

/// Parses a filter of messages, and checks that Exchange supports it.
pub(super) fn filter(
    store: ExchangeMailbox<'_>,
    text: &str,
) -> Result<FilterExpression, GraphError> {
    let mut filter = filter::parse(text).map_err(invalid_filter)?;
    filter.tests().into_iter().try_for_each(|test| check(store, test))?;
    Ok(filter)
}

/// Checks a condition, and replaces ids by numbers: building ten thousand ids to compare them with
/// one would be slow.
fn check(store: ExchangeMailbox<'_>, condition: &mut FilterCondition) -> Result<(), GraphError> {
    match condition {
        FilterCondition::Compare(path, comparison, literal) => {
            let kind = kind(path)?;
            let expected = match kind {
                PropertyType::Truth => "Edm.Boolean",
                PropertyType::Time => "Edm.DateTimeOffset",
                _ => "Edm.String",
            };
            if literal.kind() != expected {
                return Err(invalid_filter(format!(
                    "A binary operator with incompatible types was detected. Found operand types \
                     '{expected}' and '{}' for operator kind '{comparison:?}'.",
                    literal.kind()
                )));
            }
            if let FilterLiteral::Text(id) = literal {
                let number = match kind {
                    PropertyType::Conversation => {
                        let thread = store.ids().thread(id).map_err(|()| malformed_id())?;
                        // No thread has the number zero: a conversation of another mailbox matches
                        // nothing.
                        Some(thread.unwrap_or_default())
                    }
                    PropertyType::Folder => Some(folder(store, id)?.into()),
                    _ => None,
                };
                if let Some(number) = number {
                    *id = number.to_string();
                }
            }
            // Enumerations, flags and ids have no order.
            let equal = matches!(comparison, FilterComparison::Equal | FilterComparison::NotEqual);
            if equal
                || matches!(kind, PropertyType::Time | PropertyType::Words | PropertyType::Text)
            {
                Ok(())
            } else {
                Err(unsupported_filter())
            }
        }
        FilterCondition::Text(_, path, _) => match kind(path)? {
            PropertyType::Words => Ok(()),
            _ => Err(unsupported_filter()),
        },
        FilterCondition::Member(path, inside, _) => match path.as_str() {
            "categories" if inside.is_empty() => Ok(()),
            path => kind(path).and(Err(unsupported_filter())),
        },
    }
}

/// Returns the number of the folder with an id, or zero if it does not exist. Well-known names are
/// allowed in paths only.
fn folder(store: ExchangeMailbox<'_>, id: &str) -> Result<u16, GraphError> {
    if MailboxIds::is_folder(id) {
        Ok(store.folder(id).map_or(0, |folder| folder.number))
    } else {
        Err(malformed_id())
    }
}

/// Returns the type of a property that can be filtered by.
fn kind(path: &str) -> Result<PropertyType, GraphError> {
    match FILTERED.iter().find(|(known, _)| *known == path) {
        Some((_, kind)) => Ok(*kind),
        None if path.split('/').next().is_some_and(|it| MESSAGE.names().any(|name| name == it)) => {
            Err(unsupported_filter())
        }
        None => Err(invalid_filter(no_property(path, "message").message)),
    }
}

/// Returns true if a message meets a checked filter.
pub(super) fn meets(
    store: ExchangeMailbox<'_>,
    filter: &FilterExpression,
    message: &Message,
) -> bool {
    filter.is_met(&|condition| match condition {
        FilterCondition::Compare(path, comparison, literal) => {
            let ordering = match (value_of(store, path, message), literal) {
                (Some(PropertyValue::Text(value_of)), FilterLiteral::Text(text)) => {
                    value_of.to_lowercase().cmp(&text.to_lowercase())
                }
                (Some(PropertyValue::Truth(value_of)), FilterLiteral::Truth(truth)) => {
                    value_of.cmp(truth)
                }
                (Some(PropertyValue::Time(value_of)), FilterLiteral::Time(time)) => {
                    value_of.cmp(time)
                }
                // A missing value differs from every other, and is neither less nor greater.
                _ => return *comparison == FilterComparison::NotEqual,
            };
            match comparison {
                FilterComparison::Equal => ordering.is_eq(),
                FilterComparison::NotEqual => ordering.is_ne(),
                FilterComparison::GreaterThan => ordering.is_gt(),
                FilterComparison::GreaterThanOrEqual => ordering.is_ge(),
                FilterComparison::LessThan => ordering.is_lt(),
                FilterComparison::LessThanOrEqual => ordering.is_le(),
            }
        }
        FilterCondition::Text(test, path, text) => match value_of(store, path, message) {
            Some(PropertyValue::Text(value_of)) => {
                let (value_of, text) = (value_of.to_lowercase(), text.to_lowercase());
                match test {
                    TextTest::StartsWith => value_of.starts_with(&text),
                    TextTest::Contains => value_of.contains(&text),
                }
            }
            _ => false,
        },
        FilterCondition::Member(_, _, text) => {
            let text = text.to_lowercase();
            let mut names = store.categories(message).into_iter();
            names.any(|name| name.to_lowercase() == text)
        }
    })
}

/// Returns the value of a property in a message.
fn value_of(store: ExchangeMailbox<'_>, path: &str, message: &Message) -> Option<PropertyValue> {
    let text = |text: &str| Some(PropertyValue::Text(text.to_owned()));
    match path {
        "lastModifiedDateTime" => {
            let changed = message::last_modified(message, &store.notes(message));
            Some(PropertyValue::Time(changed / 1_000 * 1_000))
        }
        "receivedDateTime" | "sentDateTime" | "createdDateTime" => {
            // Graph returns whole seconds, so a time that a client read must compare as equal.
            Some(PropertyValue::Time(message.facts.date / 1_000 * 1_000))
        }
        "isRead" => Some(PropertyValue::Truth(!message.has("UNREAD"))),
        "isDraft" => Some(PropertyValue::Truth(message.has("DRAFT"))),
        "hasAttachments" => Some(PropertyValue::Truth(!message.filenames().is_empty())),
        "importance" => text(MessageImportance::from_notes(message, &store.notes(message)).name()),
        "flag/flagStatus" => text(message::flag(message, &store.notes(message))),
        "subject" => text(&message.facts.subject),
        "internetMessageId" => Some(PropertyValue::Text(message::internet_message_id(message)?)),
        // Numbers, because `check` replaced the ids in the filter.
        "conversationId" => Some(PropertyValue::Text(message.thread.to_string())),
        "parentFolderId" => Some(PropertyValue::Text(folders::number_of(message).to_string())),
        "from/emailAddress/address" => text(&store.from(message)?.address),
        "from/emailAddress/name" => text(&store.from(message)?.name),
        "sender/emailAddress/address" => text(&store.sender(message)?.address),
        "sender/emailAddress/name" => text(&store.sender(message)?.name),
        _ => None,
    }
}

/// Reads `$orderby`, which supports only the time of receipt, and checks it against the filter:
/// Exchange uses one index for both, so the time must come first in the filter. Returns true for
/// oldest first.
pub(super) fn order(
    text: Option<&str>,
    filter: Option<&mut FilterExpression>,
) -> Result<bool, GraphError> {
    let oldest_first = match text {
        None => return Ok(false),
        Some("receivedDateTime desc") => false,
        Some("receivedDateTime" | "receivedDateTime asc") => true,
        Some(other) => return Err(unsupported_order(other)),
    };
    let tests = filter.map(FilterExpression::tests).unwrap_or_default();
    if tests.first().is_some_and(|first| first.property() != "receivedDateTime") {
        Err(inefficient())
    } else {
        Ok(oldest_first)
    }
}
