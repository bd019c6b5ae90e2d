//! Pages of lists, as the port returns them.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::Error;
use crate::ids::MessageId;
use crate::text::Note;

/// One page of a list.
///
/// It may hold fewer items than requested although there is a next page, if some were fetched and
/// did not match. It may hold more if the provider determines the page size. A page of messages
/// may begin with messages that the previous page ended with; the caller tracks and drops these.
#[derive(Debug, Clone, Default)]
pub struct ListPage {
    /// The provider's objects, in its order.
    pub items: Vec<Value>,
    /// Items that could not be fetched, in order.
    pub failed: Vec<FailedItem>,
    /// The position at which the next page starts, if there is one.
    pub next: Option<String>,
    /// The number of items in all pages.
    pub total: Option<SearchTotal>,
    /// Names of the labels or folders that the items name by id.
    pub names: HashMap<String, String>,
    /// Ids of the messages that match and were left out because they are in spam or trash;
    /// `None` if the service does not list these.
    pub hidden: Option<Vec<MessageId>>,
    /// Notes on parts of the query that the service could not evaluate exactly.
    pub notes: Vec<Note>,
}

/// An item of a page that could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedItem {
    /// Its position among all items, fetched and failed.
    pub at: usize,
    /// The provider's id of the item.
    pub id: String,
    /// The reason it could not be fetched.
    pub error: Error,
}

/// The number of items that a search finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchTotal {
    /// Counted.
    Exactly(u64),
    /// Guessed by the provider.
    About(u64),
}
