//! The port: the traits through which the pipeline calls a mail provider.
//!
//! The adapters in `providers/` implement them and do all the network I/O. Objects
//! cross the port as the provider's own JSON, and only the registry reads their fields.

mod account;
pub mod calendar;
mod capabilities;
mod endpoints;
mod list;
pub mod mail;
mod obstacle;
pub mod refusals;
pub mod upstream;

use std::collections::HashMap;
use std::sync::Arc;

pub use account::{Account, AccountStatus, TokenSource, TokenStore};
use async_trait::async_trait;
pub use capabilities::{CalendarCapabilities, MailCapabilities};
pub use endpoints::{ProviderEndpoints, ServiceSettings};
use jiff::Timestamp;
pub use list::{FailedItem, ListPage, SearchTotal};
pub use obstacle::TextObstacle;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::calendar::{Calendars, ChangeFeed};
use self::mail::{Drafts, MailboxSettings, MessageActions};
use crate::access::AccessLevel;
use crate::error::{Error, Result};
use crate::ids::{FolderId, MessageId, ThreadId};
use crate::project::Projection;
use crate::query::{Query, QueryTerm};
use crate::schemas::{Service, Table};
use crate::text::Note;

/// The maximum number of matches in spam and trash that are counted.
const MAX_HIDDEN: usize = 100;
/// The folders that a search leaves out unless it names them.
pub const HIDDEN: [&str; 2] = ["spam", "trash"];

/// A request for one page of a list.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// The messages to find; `None` finds all.
    pub query: Option<Query>,
    /// The id of the folder to look in.
    pub folder: Option<FolderId>,
    /// The columns that the answer will show.
    pub projection: Projection,
    /// The approximate number of items to return.
    pub limit: usize,
    /// True for the oldest first.
    pub oldest: bool,
    /// The position at which the previous page ended, in the provider's form; `None` for the
    /// first page.
    pub cursor: Option<String>,
    /// True to fill [`ListPage::hidden`] if the page contains the complete list.
    pub hidden: bool,
}

impl ListRequest {
    /// Returns the request for the matches in spam and trash, with a projection of their ids.
    #[must_use]
    pub fn in_hidden(&self, ids: Projection) -> Self {
        let hidden = HIDDEN.map(|name| Query::Term(QueryTerm::Folder(name.to_owned())));
        let mut query: Vec<Query> = self.query.iter().cloned().collect();
        query.push(Query::Any(hidden.to_vec()));
        // A folder of the request would exclude spam and trash.
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

/// People to look for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeopleQuery {
    /// Part of a name or address. If this is `None` and `emails` is empty, the saved contacts are
    /// listed.
    pub q: Option<String>,
    /// Addresses whose owners to look up.
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
    /// The readable text: plain and HTML parts.
    Parts,
    /// The whole message as it was transmitted (RFC 5322).
    Raw,
    /// All headers.
    Headers,
}

/// One message of a thread and its role for the mailbox owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadMessage {
    /// The id of the message.
    pub id: MessageId,
    /// The time it arrived or was sent; for a draft, the time it was created or saved.
    pub date: Timestamp,
    /// The role of the message.
    pub role: ThreadRole,
}

/// A thread that was fetched at once.
#[derive(Debug, Default)]
pub struct WholeThread {
    /// The messages, oldest first.
    pub messages: Vec<ThreadMessage>,
    /// The messages whose content is complete, by id.
    pub contents: HashMap<MessageId, MessageContent>,
}

/// The role of a thread's message from the mailbox owner's point of view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThreadRole {
    /// Sent to them.
    #[default]
    Received,
    /// Sent by them.
    Sent,
    /// A draft of theirs, not yet sent.
    Draft,
    /// In the trash or in spam.
    Hidden,
}

/// The content of one message.
#[derive(Debug, Clone, Default)]
pub struct MessageContent {
    /// The provider's object, with the fields that the projection requests.
    pub item: Value,
    /// The texts to read, in order. Each text has one or more forms, the plainest first, and each
    /// form is a sequence of parts.
    pub parts: Vec<Vec<Vec<TextPart>>>,
    /// The raw message or the header lines, if requested.
    pub source: Option<String>,
    /// The invitation it contains (`text/calendar`), as iCalendar text.
    pub invitation: Option<String>,
    /// The delivery report or receipt it contains: blocks of header fields.
    pub report: Option<String>,
    /// The reason its text cannot be read, whole or in part.
    pub obstacle: Option<TextObstacle>,
    /// Attached files, as the provider's objects.
    pub attachments: Vec<Value>,
    /// Pictures shown inline by its text, as the provider's objects.
    pub inline: Vec<Value>,
    /// Notes on parts that could not be read exactly.
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
    /// The value of `delsp` for `format=flowed` (RFC 3676); `None` for other text.
    pub flowed: Option<bool>,
}

/// Read access to one mailbox of an account. Writing is in [`mail`].
#[async_trait]
pub trait Mailbox: Drafts + MessageActions + MailboxSettings {
    /// Returns the API whose JSON format the items have.
    fn api(&self) -> Service;

    /// Returns the features that the mailbox supports.
    fn capabilities(&self) -> &'static MailCapabilities;

    /// Returns a page of messages, newest first unless the request says oldest first.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if the oldest are requested
    /// first, the service cannot sort that way, and there are too many messages to list all of
    /// them.
    async fn messages(&self, request: &ListRequest) -> Result<ListPage>;

    /// Returns a page of threads, sorted by their newest messages, with the order and errors of
    /// [`messages`](Mailbox::messages).
    async fn threads(&self, request: &ListRequest) -> Result<ListPage>;

    /// Returns a complete list other than messages: the rows of a table whose
    /// [`Listing`](crate::schemas::LookupListing) belongs to a mailbox. Folders have counts if the
    /// projection includes them; only contacts use `people`.
    async fn lookup(
        &self,
        table: &'static Table,
        people: &PeopleQuery,
        projection: &Projection,
    ) -> Result<ListPage>;

    /// Returns messages with their texts: one result for each id, in the order of `ids`.
    async fn read_messages(
        &self,
        ids: &[MessageId],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>>;

    /// Returns a thread with the content of its messages, as
    /// [`read_messages`](Mailbox::read_messages) does. `None` if the service needs a request per
    /// message.
    async fn whole_thread(
        &self,
        id: &ThreadId,
        projection: &Projection,
        form: BodyForm,
    ) -> Result<Option<WholeThread>> {
        let _ = (id, projection, form);
        Ok(None)
    }

    /// Returns a thread's messages, oldest first.
    async fn thread(&self, id: &ThreadId) -> Result<Vec<ThreadMessage>>;

    /// Returns the messages of a thread that are drafts, oldest first.
    async fn open_drafts(&self, thread: &ThreadId) -> Result<Vec<MessageId>> {
        let messages = self.thread(thread).await?.into_iter();
        Ok(messages.filter(|one| one.role == ThreadRole::Draft).map(|one| one.id).collect())
    }

    /// Returns the messages of several threads, oldest first: one result per id, in the order of
    /// `ids`. Empty if the mailbox cannot list the messages of threads.
    async fn thread_states(&self, ids: &[ThreadId]) -> Vec<Result<Vec<ThreadMessage>>> {
        let _ = ids;
        Vec::new()
    }

    /// Returns the names of labels or folders by id, for items that were read singly. The
    /// provider's own labels are absent, because columns show them in our words.
    async fn names(&self) -> Result<HashMap<String, String>>;

    /// Returns the changes to messages since `cursor`, as objects of the table `message`. Without
    /// a cursor, returns only the cursor to start from.
    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed>;

    /// Checks that `id` has the form of this provider's message ids.
    fn check_id(&self, id: &str) -> Result<()>;
}

/// Opens mailboxes. The only trait that knows which providers exist.
#[async_trait]
pub trait ProviderConnector: Send + Sync {
    /// Returns the mailbox of a signed-in account.
    fn mailbox(&self, account: &Account) -> Result<Arc<dyn Mailbox>>;

    /// Returns the calendars of a signed-in account.
    fn calendars(&self, account: &Account) -> Result<Arc<dyn Calendars>>;

    /// Returns the address of the person that a new access token belongs to. If a shared
    /// `mailbox` is given, checks that they can open it; the address returned is still their own.
    async fn address(&self, provider: &str, token: &str, mailbox: Option<&str>) -> Result<String>;

    /// Returns the OAuth scopes to request from `provider` for an access level. `shared` is true
    /// if the mailbox is shared with the person who signs in.
    fn scopes(
        &self,
        provider: &str,
        shared: bool,
        access: AccessLevel,
    ) -> Result<Vec<&'static str>>;
}
