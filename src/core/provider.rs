//! The port: what a mail provider does for us, as plain data.
//!
//! The pipeline knows providers only by these traits; the adapters in
//! `providers/` implement them and do all the network I/O.
//! Objects cross the port as the provider's own JSON, and only the registry
//! says what stands in them.

mod account;
pub mod calendar;
mod capabilities;
mod endpoints;
pub mod mail;

pub use account::{Account, Status, TokenSource, TokenStore};
pub use capabilities::{CalendarCapabilities, MailCapabilities};
pub use endpoints::{Endpoints, ServiceSettings};

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use self::calendar::{Calendars, Changes};
use self::mail::{Arrange, Compose, Organize};
use crate::access::Access;
use crate::error::{Error, Result};
use crate::project::Projection;
use crate::query::Query;
use crate::schemas::{Api, Table};
use crate::text::Note;

/// A page of a list, asked for.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What to find; `None` is everything.
    pub query: Option<Query>,
    /// The provider's id of the folder to look in.
    pub folder: Option<String>,
    /// What the answer is going to show.
    pub projection: Projection,
    /// About so many items.
    pub limit: usize,
    /// Where the previous page ended, in the provider's words.
    pub cursor: Option<String>,
}

/// A page of a list, answered.
///
/// It may have fewer items than were asked for although there is a next page,
/// when some were fetched and found not to match, and it may have more, when
/// the provider gives pages of its own size. Whoever asked keeps count.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The provider's objects, in its order.
    pub items: Vec<Value>,
    /// Items that could not be fetched, in order.
    pub failed: Vec<Failed>,
    /// Where the next page starts, if there is one.
    pub next: Option<String>,
    /// How many items there are in all.
    pub total: Option<Total>,
    /// Names of the labels or folders whose ids stand in the items.
    pub names: HashMap<String, String>,
    /// Where the query's meaning was not kept, in words.
    pub notes: Vec<Note>,
}

/// An item of a page that could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Where it would stand, among the items fetched and failed.
    pub at: usize,
    /// The provider's id of it.
    pub id: String,
    /// Why it could not be fetched.
    pub error: Error,
}

/// How many items a search finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// Counted.
    Exactly(u64),
    /// Guessed by the provider.
    About(u64),
}

/// People to look for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People {
    /// Part of a name or address; with neither this nor `emails`, the saved
    /// contacts are listed.
    pub q: Option<String>,
    /// Addresses to find the people of.
    pub emails: Vec<String>,
    /// At most so many.
    pub limit: usize,
}

/// The error for a list that a mailbox does not have.
pub fn no_list(table: &Table) -> Error {
    Error::argument(format!("this account has no {}", table.plural))
}

/// Which form of a message's text is wanted.
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

/// One message, read.
#[derive(Debug, Clone, Default)]
pub struct Letter {
    /// The provider's object, with what the projection asked for.
    pub item: Value,
    /// The texts to read, in order; each in its forms, the plainest first; a
    /// form is a sequence of parts.
    pub parts: Vec<Vec<Vec<TextPart>>>,
    /// The raw message or the header lines, when those were asked for.
    pub source: Option<String>,
    /// The invitation in it (`text/calendar`), as iCalendar text.
    pub invitation: Option<String>,
    /// Attached files, as the provider's objects.
    pub attachments: Vec<Value>,
    /// What could not be read as it was, in words.
    pub notes: Vec<Note>,
}

/// One part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart {
    /// Plain text.
    Plain(PlainText),
    /// HTML, not cleaned.
    Html(String),
}

/// A plain text part and how its lines are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainText {
    /// The text, decoded.
    pub text: String,
    /// Set for `format=flowed` (RFC 3676); the value of `delsp`.
    pub flowed: Option<bool>,
}

/// One mailbox of one account: what is read, here, and what is written, in
/// [`mail`].
#[async_trait]
pub trait Mailbox: Compose + Organize + Arrange {
    /// Whose JSON the items are.
    fn api(&self) -> Api;

    /// What it can do.
    fn capabilities(&self) -> &'static MailCapabilities;

    /// Messages, newest first.
    async fn messages(&self, ask: &Ask) -> Result<Page>;

    /// Conversations, the one with the newest message first.
    async fn threads(&self, ask: &Ask) -> Result<Page>;

    /// Returns a complete list other than messages: the rows of one of the tables
    /// `folder` (with counts when the projection wants them), `category`, `contact`
    /// (the `people`, whom no other table needs), `alias` or `setting`.
    async fn lookup(
        &self,
        table: &'static Table,
        people: &People,
        projection: &Projection,
    ) -> Result<Page>;

    /// Messages with their texts: one answer for each id, in the order of `ids`.
    async fn letters(
        &self,
        ids: &[String],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<Letter>>;

    /// The ids of a conversation's messages, oldest first.
    async fn thread(&self, id: &str) -> Result<Vec<String>>;

    /// Names of labels or folders by id, for items that were read singly.
    async fn names(&self) -> Result<HashMap<String, String>>;

    /// What has happened to messages since a cursor; without one, only where to
    /// ask from. Items are objects of the table `message`.
    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<Changes>;

    /// Checks that `id` could be one of this provider's message ids.
    fn check_id(&self, id: &str) -> Result<()>;
}

/// Opens mailboxes; the one place that knows which providers there are.
#[async_trait]
pub trait Connect: Send + Sync {
    /// The mailbox of a signed-in account.
    fn mailbox(&self, account: &Account) -> Result<Arc<dyn Mailbox>>;

    /// The calendars of a signed-in account.
    fn calendars(&self, account: &Account) -> Result<Arc<dyn Calendars>>;

    /// The address of the person that a fresh access token belongs to. With a
    /// `mailbox` that is shared with them, it is checked that it can be opened;
    /// the address is theirs all the same.
    async fn address(&self, provider: &str, token: &str, mailbox: Option<&str>) -> Result<String>;

    /// The OAuth scopes to ask `provider` for, for what `access` allows; `shared`
    /// if the mailbox is going to be one that is shared with whoever signs in.
    fn scopes(&self, provider: &str, shared: bool, access: Access) -> Result<Vec<&'static str>>;
}
