//! The port: the traits through which the pipeline calls a mail provider.
//!
//! The adapters in `providers/` implement them and do all the network I/O. Objects
//! cross the port as the provider's own JSON, and only the registry reads their fields.

mod account;
pub mod calendar;
mod capabilities;
mod endpoints;
pub mod mail;
mod obstacle;
pub mod upstream;

use std::collections::HashMap;
use std::sync::Arc;

pub use account::{Account, AccountStatus, TokenSource, TokenStore};
use async_trait::async_trait;
pub use capabilities::{CalendarCapabilities, MailCapabilities};
pub use endpoints::{ProviderEndpoints, ServiceSettings};
use jiff::Timestamp;
pub use obstacle::TextObstacle;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::calendar::{Calendars, ChangeFeed};
use self::mail::{Drafts, MailboxSettings, MessageActions};
use crate::access::AccessLevel;
use crate::error::{Error, Result};
use crate::project::Projection;
use crate::query::{Query, QueryTerm};
use crate::schemas::{Service, Table};
use crate::text::Note;

/// The most matches in spam and trash that are counted.
const MAX_HIDDEN: usize = 100;
/// The folders that a search leaves out unless it names them.
pub const HIDDEN: [&str; 2] = ["spam", "trash"];

/// A request for one page of a list.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// The messages to find; `None` finds all.
    pub query: Option<Query>,
    /// The provider's id of the folder to look in.
    pub folder: Option<String>,
    /// The columns that the answer will show.
    pub projection: Projection,
    /// The approximate number of items to return.
    pub limit: usize,
    /// True for the oldest first.
    pub oldest: bool,
    /// The position at which the previous page ended, in the provider's form.
    pub cursor: Option<String>,
    /// True if a page that has all should have [`ListPage::hidden`], too.
    pub hidden: bool,
}

impl ListRequest {
    /// Returns the request for the matches in spam and trash, with a projection of their ids.
    #[must_use]
    pub fn in_hidden(&self, ids: Projection) -> Self {
        let hidden = HIDDEN.map(|name| Query::Term(QueryTerm::Folder(name.to_owned())));
        let mut query: Vec<Query> = self.query.iter().cloned().collect();
        query.push(Query::Any(hidden.to_vec()));
        Self {
            query: Some(Query::All(query)),
            folder: None,
            projection: ids,
            limit: MAX_HIDDEN,
            oldest: false,
            cursor: None,
            hidden: false,
        }
    }
}

/// One page of a list.
///
/// It may hold fewer items than requested although there is a next page, if some were
/// fetched and did not match. It may hold more, if the provider determines the page
/// size. A page of messages may begin with some that the previous page ended with.
/// The caller keeps count and drops these.
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
    pub hidden: Option<Vec<String>>,
    /// Notes on where the query's meaning could not be kept.
    pub notes: Vec<Note>,
}

/// An item of a page that could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedItem {
    /// Its position among all items, fetched and failed.
    pub at: usize,
    /// The provider's id of it.
    pub id: String,
    /// Why it could not be fetched.
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

/// People to look for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeopleQuery {
    /// Part of a name or address; with neither this nor `emails`, the saved
    /// contacts are listed.
    pub q: Option<String>,
    /// Addresses to find the people of.
    pub emails: Vec<String>,
    /// The maximum number of people.
    pub limit: usize,
}

/// Returns the error for a list that a mailbox does not have.
pub fn no_list(table: &Table) -> Error {
    Error::argument(format!("this account has no {}", table.plural))
}

/// The form in which a message's text is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    /// No text at all.
    None,
    /// The text to read: plain and HTML parts.
    Parts,
    /// The whole message as it was transmitted (RFC 5322).
    Raw,
    /// All headers.
    Headers,
}

/// One message of a thread, and what it is to its owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadMessage {
    /// The provider's id of it.
    pub id: String,
    /// When it arrived or was sent; of a draft, when it was made or saved.
    pub date: Timestamp,
    /// What it is.
    pub role: ThreadRole,
}

/// A thread that was fetched at once.
#[derive(Debug, Default)]
pub struct WholeThread {
    /// Its messages, oldest first.
    pub messages: Vec<ThreadMessage>,
    /// Those of them that are complete, by their ids.
    pub contents: HashMap<String, MessageContent>,
}

/// What a message of a thread is to its owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThreadRole {
    /// It was sent to them.
    #[default]
    Received,
    /// They sent it.
    Sent,
    /// They have not sent it.
    Draft,
    /// It is in the trash or in spam.
    Hidden,
}

/// One message, read.
#[derive(Debug, Clone, Default)]
pub struct MessageContent {
    /// The provider's object, with the fields that the projection requests.
    pub item: Value,
    /// The texts to read, in order; each in its forms, the plainest first; a
    /// form is a sequence of parts.
    pub parts: Vec<Vec<Vec<TextPart>>>,
    /// The raw message or the header lines, if requested.
    pub source: Option<String>,
    /// The invitation in it (`text/calendar`), as iCalendar text.
    pub invitation: Option<String>,
    /// The delivery report or receipt in it: blocks of header fields.
    pub report: Option<String>,
    /// What keeps its text from being read.
    pub obstacle: Option<TextObstacle>,
    /// Attached files, as the provider's objects.
    pub attachments: Vec<Value>,
    /// The pictures that its text shows, in the same form.
    pub inline: Vec<Value>,
    /// Parts that could not be read exactly, in words.
    pub notes: Vec<Note>,
}

/// One part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextPart {
    /// Plain text.
    Plain(PlainText),
    /// HTML, not cleaned.
    Html(String),
}

/// A plain text part and the format of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainText {
    /// The text, decoded.
    pub text: String,
    /// Set for `format=flowed` (RFC 3676); the value of `delsp`.
    pub flowed: Option<bool>,
}

/// One mailbox of one account: reading it; writing is in [`mail`].
#[async_trait]
pub trait Mailbox: Drafts + MessageActions + MailboxSettings {
    /// Returns the API whose JSON the items are.
    fn api(&self) -> Service;

    /// Returns what the mailbox supports.
    fn capabilities(&self) -> &'static MailCapabilities;

    /// Returns a page of messages, newest first unless requested otherwise.
    ///
    /// # Errors
    /// [`Kind::Argument`](crate::error::ErrorKind::Argument) if the oldest are to be first, the
    /// service cannot sort so, and there are too many to list them all.
    async fn messages(&self, request: &ListRequest) -> Result<ListPage>;

    /// Returns a page of threads, by their newest messages; in the order of
    /// [`messages`](Mailbox::messages), with the same error.
    async fn threads(&self, request: &ListRequest) -> Result<ListPage>;

    /// Returns a complete list other than messages: the rows of a table whose
    /// [`Listing`](crate::schemas::LookupListing) is of a mailbox. Folders have counts if the
    /// projection names them; only contacts need `people`.
    async fn lookup(
        &self,
        table: &'static Table,
        people: &PeopleQuery,
        projection: &Projection,
    ) -> Result<ListPage>;

    /// Returns messages with their texts: one result for each id, in the order of `ids`.
    async fn read_messages(
        &self,
        ids: &[String],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>>;

    /// Returns a thread with its messages as [`read_messages`](Mailbox::read_messages) does;
    /// `None` if they have to be read one by one.
    async fn whole_thread(
        &self,
        id: &str,
        projection: &Projection,
        form: BodyForm,
    ) -> Result<Option<WholeThread>> {
        let _ = (id, projection, form);
        Ok(None)
    }

    /// Returns a thread's messages, oldest first.
    async fn thread(&self, id: &str) -> Result<Vec<ThreadMessage>>;

    /// Returns the messages of a thread that are drafts, oldest first.
    async fn open_drafts(&self, thread: &str) -> Result<Vec<String>> {
        let messages = self.thread(thread).await?.into_iter();
        Ok(messages.filter(|one| one.role == ThreadRole::Draft).map(|one| one.id).collect())
    }

    /// Returns the messages of threads, oldest first: one result for each id, in the
    /// order of `ids`; nothing at all if the mailbox cannot tell.
    async fn thread_states(&self, ids: &[String]) -> Vec<Result<Vec<ThreadMessage>>> {
        let _ = ids;
        Vec::new()
    }

    /// Returns names of labels or folders by id, for items that were read singly;
    /// without the provider's own labels, which columns show in words of ours.
    async fn names(&self) -> Result<HashMap<String, String>>;

    /// Returns the changes to messages since `cursor`; without one, only the cursor to
    /// start from. Items are objects of the table `message`.
    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed>;

    /// Checks that `id` could be one of this provider's message ids.
    fn check_id(&self, id: &str) -> Result<()>;
}

/// Opens mailboxes; the only place that knows which providers exist.
#[async_trait]
pub trait ProviderConnector: Send + Sync {
    /// Returns the mailbox of a signed-in account.
    fn mailbox(&self, account: &Account) -> Result<Arc<dyn Mailbox>>;

    /// Returns the calendars of a signed-in account.
    fn calendars(&self, account: &Account) -> Result<Arc<dyn Calendars>>;

    /// Returns the address of the person that a new access token belongs to. If a shared
    /// `mailbox` is given, checks that they can open it; the address returned is still theirs.
    async fn address(&self, provider: &str, token: &str, mailbox: Option<&str>) -> Result<String>;

    /// Returns the OAuth scopes to request from `provider` for what `access` allows;
    /// `shared` if the mailbox is one that is shared with the person who signs in.
    fn scopes(
        &self,
        provider: &str,
        shared: bool,
        access: AccessLevel,
    ) -> Result<Vec<&'static str>>;
}
