//! The port for what is written in a mailbox: drafts and sending, putting mail
//! in order, and how the mailbox is set up.
//!
//! Unlike what is read, what is written crosses the port as plain types of ours:
//! the adapters turn them into MIME or JSON and back. Reads are retried, writes
//! are carried out once; an error of the kind
//! [`Kind::Network`] or [`Kind::Timeout`] leaves open whether they were.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::caller::Caller;
use crate::error::{Error, Kind, Result};
use crate::query::Query;
use crate::words;

/// Somebody with an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Person {
    /// The name beside it, clean and on one line.
    pub name: Option<String>,
    /// The address as it is sent: the domain in ASCII (RFC 5890).
    pub address: String,
}

words! {
    /// How much a letter matters, as its writer says.
    #[derive(Default)]
    #[expect(missing_docs, reason = "the words say it")]
    pub enum Importance {
        #[default]
        Normal = "normal",
        High = "high",
        Low = "low",
    }
}

/// A letter to be sent, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Its Message-ID without brackets, made by us.
    pub message_id: String,
    /// Who it is from.
    pub from: Person,
    /// The recipients.
    pub to: Vec<Person>,
    /// The copied recipients.
    pub cc: Vec<Person>,
    /// The blindly copied recipients.
    pub bcc: Vec<Person>,
    /// Where answers go, when not to `from`.
    pub reply_to: Vec<Person>,
    /// The subject line.
    pub subject: String,
    /// The text, lines ending in LF.
    pub text: String,
    /// The same as an HTML document's body.
    pub html: String,
    /// How much it matters.
    pub importance: Importance,
    /// The Message-ID of the letter it answers, without brackets.
    pub in_reply_to: Option<String>,
    /// The Message-IDs of the letters before it, the first first (RFC 5322).
    pub references: Vec<String>,
    /// Files that go with it.
    pub files: Vec<Enclosure>,
}

/// A file that goes with a letter.
#[derive(Debug, Clone, PartialEq)]
pub struct Enclosure {
    /// Its name, without a path.
    pub name: String,
    /// Its media type.
    pub media: String,
    /// Its Content-ID without brackets, if the HTML shows it.
    pub cid: Option<String>,
    /// What is in it.
    pub content: Content,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// What the draft has already under this id, in the adapter's words.
    Held {
        /// The id, one of [`HeldFile::id`].
        id: String,
        /// Its size in bytes.
        size: u64,
    },
}

/// What a new draft is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// For itself.
    New,
    /// To answer a message of the mailbox, by the provider's id.
    Reply {
        /// The message.
        id: String,
        /// True if everybody who got it is answered.
        all: bool,
    },
    /// To send a message of the mailbox on, by the provider's id.
    Forward {
        /// The message.
        id: String,
    },
}

/// What is to be known of a message to answer it or send it on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Original {
    /// The provider's id.
    pub id: String,
    /// The provider's id of the conversation.
    pub thread: String,
    /// Its Message-ID without brackets; empty if it has none.
    pub message_id: String,
    /// Message-IDs of its References, in order; those of In-Reply-To if it has
    /// none.
    pub references: Vec<String>,
    /// The subject line, decoded.
    pub subject: String,
    /// From.
    pub from: Vec<Person>,
    /// Reply-To.
    pub reply_to: Vec<Person>,
    /// To.
    pub to: Vec<Person>,
    /// Cc.
    pub cc: Vec<Person>,
    /// When it was sent.
    pub sent: Option<Timestamp>,
    /// The plain text, if it has any.
    pub text: Option<String>,
    /// The HTML, if it has any; not cleaned.
    pub html: Option<String>,
    /// Its files.
    pub files: Vec<HeldFile>,
    /// True for what the user wrote: an answer to it goes to its recipients.
    pub own: bool,
    /// List-Unsubscribe, List-Unsubscribe-Post and Authentication-Results as they
    /// stand in the header section, unfolded: name and value.
    pub headers: Vec<(String, String)>,
}

/// A file that a message or draft has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldFile {
    /// What the adapter knows it by, together with the message.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its Content-ID without brackets.
    pub cid: Option<String>,
}

/// A draft as the provider holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldDraft {
    /// The provider's id of the draft; it stays when the draft is changed.
    pub id: String,
    /// The provider's id of the message that the draft is.
    pub message: String,
    /// The provider's id of the conversation.
    pub thread: String,
    /// What changes whenever the draft is.
    pub version: String,
    /// The letter; files are [`Content::Held`].
    pub letter: Outgoing,
}

/// An address that the user can send as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The address and the name beside it.
    pub person: Person,
    /// What stands below letters from it, as HTML.
    pub signature: Option<String>,
    /// Where answers to it go.
    pub reply_to: Option<Person>,
    /// True for the one that is used unless another is chosen.
    pub default: bool,
}

/// What is sent, and where it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// The provider's id of the sent message, when the provider says so.
    pub id: Option<String>,
    /// The provider's id of its conversation.
    pub thread: Option<String>,
}

/// What a letter is looked for by, after nobody knows whether it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The provider's id of the draft it was.
    pub draft: String,
    /// The provider's id of the conversation.
    pub thread: String,
    /// Its Message-ID without brackets.
    pub message_id: String,
    /// When sending began.
    pub since: Timestamp,
}

/// Where a letter is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whereabouts {
    /// Among what was sent, or on its way.
    Sent(Sent),
    /// Still a draft, as it was.
    Draft,
    /// Neither a draft nor found among what was sent.
    Nowhere,
}

/// Drafts, and sending them.
#[async_trait]
pub trait Compose: Send + Sync {
    /// The addresses one can send as, the default first.
    async fn senders(&self) -> Result<Vec<Alias>> {
        Err(unsupported())
    }

    /// What is to be known of a message to answer it or send it on.
    async fn original(&self, id: &str) -> Result<Original> {
        let _ = id;
        Err(unsupported())
    }

    /// The bytes of a file of a message, at most `most` of them.
    ///
    /// # Errors
    /// [`Kind::Argument`] if it is larger.
    async fn file(&self, message: &str, file: &str, most: u64) -> Result<Vec<u8>> {
        let _ = (message, file, most);
        Err(unsupported())
    }

    /// A draft by its id, or by that of the message that it is.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if there is no such draft, or no longer.
    async fn draft(&self, id: &str) -> Result<HeldDraft> {
        let _ = id;
        Err(unsupported())
    }

    /// Makes a draft; the draft as it then is. Large files are told of to the
    /// `caller` while they are sent.
    async fn create(
        &self,
        origin: &Origin,
        letter: &Outgoing,
        caller: &dyn Caller,
    ) -> Result<HeldDraft> {
        let _ = (origin, letter, caller);
        Err(unsupported())
    }

    /// Makes a draft be this letter, unless it has changed since it was fetched;
    /// the draft as it then is. Its conversation and Message-ID stay.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if it has changed.
    async fn update(
        &self,
        current: &HeldDraft,
        letter: &Outgoing,
        caller: &dyn Caller,
    ) -> Result<HeldDraft> {
        let _ = (current, letter, caller);
        Err(unsupported())
    }

    /// Deletes a draft; where the provider has it, into the trash.
    async fn discard(&self, current: &HeldDraft) -> Result<()> {
        let _ = current;
        Err(unsupported())
    }

    /// Sends a draft, once, or has it sent at a later time.
    ///
    /// # Errors
    /// [`Kind::Argument`] if the provider sends nothing later; others by whether
    /// it may have been sent.
    async fn send(&self, current: &HeldDraft, at: Option<Timestamp>) -> Result<Sent> {
        let _ = (current, at);
        Err(unsupported())
    }

    /// Where a letter is that may have been sent.
    async fn whereabouts(&self, probe: &Probe) -> Result<Whereabouts> {
        let _ = probe;
        Err(unsupported())
    }
}

/// How a message is flagged for the user's attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// Not at all.
    #[default]
    None,
    /// Flagged; Outlook may know by when.
    Set {
        /// By when it is due.
        due: Option<Timestamp>,
    },
    /// What was to be done is done: Outlook only.
    Done,
}

/// What of a message can be changed, as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct MailState {
    /// The provider's id.
    pub id: String,
    /// True while nobody has opened it.
    pub unread: bool,
    /// How it is flagged.
    pub flag: Flag,
    /// Where it is: the provider's id of its folder. In Gmail one of `INBOX`,
    /// `SPAM`, `TRASH`, `DRAFT` or `SENT`, and empty for what is archived.
    pub folder: String,
    /// Ids of the user's labels in Gmail, names of categories in Outlook.
    pub labels: BTreeSet<String>,
}

/// One thing to do with messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Mark as read, or as unread.
    Read(bool),
    /// Flag, or not.
    Flag(Flag),
    /// Out of the inbox, never into the trash.
    Archive,
    /// Into the trash.
    Trash,
    /// Out of trash, spam or archive, back into the inbox.
    Restore,
    /// Into the folder of spam, told to the provider where it listens.
    Spam,
    /// Into a folder, by id. In Gmail under the label and out of the inbox.
    Move(String),
    /// A copy into a folder, by id. In Gmail under the label.
    Copy(String),
    /// Under these labels or in these categories besides, by id.
    Label(Vec<String>),
    /// Out of these.
    Unlabel(Vec<String>),
    /// Gone for good.
    Delete,
    /// As it was: into this state, by the id of each message.
    PutBack(Vec<MailState>),
}

/// A folder or label that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The provider's id; in Outlook a category's name.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// True if it was made just now.
    pub made: bool,
}

/// What kind of place is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// Where messages are kept: an Outlook folder, a Gmail label.
    Folder,
    /// What messages are marked with: a Gmail label, an Outlook category.
    Label,
}

/// Putting mail in order.
#[async_trait]
pub trait Organize: Send + Sync {
    /// How messages are: an answer for each, in order.
    async fn states(&self, ids: &[String]) -> Vec<Result<MailState>> {
        ids.iter().map(|_| Err(unsupported())).collect()
    }

    /// Does something with messages that are as given; how each is afterwards as
    /// the provider says, nothing for what is gone, in order.
    ///
    /// 1,000 messages take at most 2 writing requests to Gmail and 50 batches to
    /// Graph.
    async fn apply(&self, messages: &[MailState], step: &Step) -> Vec<Result<Option<MailState>>> {
        let _ = step;
        messages.iter().map(|_| Err(unsupported())).collect()
    }

    /// The folder or label of a name, an id or a well-known word (`inbox`,
    /// `archive`, `trash`, `spam`); made if it is not there and `create`.
    ///
    /// # Errors
    /// [`Kind::NotFound`], which names those that are like it.
    async fn place(&self, name: &str, kind: PlaceKind, create: bool) -> Result<Place> {
        let _ = (name, kind, create);
        Err(unsupported())
    }
}

/// What is done with mail that comes in, as both providers have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rule {
    /// The provider's id; empty for a new one.
    pub id: String,
    /// What it is called; Gmail's have no name.
    pub name: Option<String>,
    /// False while it is switched off: Outlook only.
    pub enabled: bool,
    /// Which messages, in the search language. What the provider has besides
    /// that no query says is in `other`.
    pub when: Option<Query>,
    /// What is done with them.
    pub then: Vec<RuleStep>,
    /// True if no later rule is looked at: Outlook only.
    pub stop: bool,
    /// Conditions, exceptions and actions that we have no words for, in words:
    /// such a rule is shown and not changed.
    pub other: Vec<String>,
}

/// One thing that a rule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleStep {
    /// Marks as read.
    Read,
    /// Stars or flags.
    Star,
    /// Takes out of the inbox.
    Archive,
    /// Puts into the trash.
    Trash,
    /// Keeps out of spam: Gmail only.
    NeverSpam,
    /// Marks as important.
    Important,
    /// Puts under a label or in a category, by name.
    Label(String),
    /// Moves into a folder, by name.
    Move(String),
    /// Sends it on. Such rules are shown and never made.
    Forward(String),
}

/// An answer that is sent by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AutoReply {
    /// True while it answers.
    pub on: bool,
    /// From when.
    pub from: Option<Timestamp>,
    /// To when.
    pub to: Option<Timestamp>,
    /// The subject: Gmail only.
    pub subject: Option<String>,
    /// The text, as HTML; where there are two, that for people of the organization.
    pub html: Option<String>,
    /// The text for people outside, as HTML, empty if there is none: Outlook alone,
    /// which keeps two.
    pub external: Option<String>,
    /// Who gets it: `all`, `contacts`, or `organization`.
    pub audience: Option<Audience>,
}

/// Who gets an automatic answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Audience {
    All,
    Contacts,
    Organization,
}

/// A contact's particulars; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContactCard {
    /// The full name.
    pub name: Option<String>,
    /// The e-mail addresses, the main one first.
    pub emails: Option<Vec<String>>,
    /// The telephone numbers, the main one first.
    pub phones: Option<Vec<String>>,
    /// The organisation.
    pub company: Option<String>,
    /// What they do there.
    pub title: Option<String>,
}

/// One change of how a mailbox is set up.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields are what they are called")]
pub enum SetUp {
    /// Makes a folder or label; levels of the name stand between slashes.
    CreateFolder {
        name: String,
    },
    RenameFolder {
        id: String,
        name: String,
    },
    /// Deletes a folder, with what is in it, or a label from all messages.
    DeleteFolder {
        id: String,
    },
    /// `colour` in the words of the table `category`.
    CreateCategory {
        name: String,
        colour: Option<String>,
    },
    /// Outlook has no way to rename one.
    UpdateCategory {
        id: String,
        name: Option<String>,
        colour: Option<String>,
    },
    DeleteCategory {
        id: String,
    },
    CreateRule(Rule),
    /// Makes the rule with its id be so.
    UpdateRule(Rule),
    DeleteRule {
        id: String,
    },
    AutoReply(AutoReply),
    /// What stands below letters from one address; the default one if none.
    /// Gmail only: Graph has no words for it.
    Signature {
        address: Option<String>,
        html: String,
    },
    Settings {
        language: Option<String>,
        time_zone: Option<String>,
    },
    CreateContact(ContactCard),
    UpdateContact {
        id: String,
        card: ContactCard,
    },
    DeleteContact {
        id: String,
    },
}

/// How a mailbox is set up.
#[async_trait]
pub trait Arrange: Send + Sync {
    /// The rules, in the order they are looked at.
    async fn rules(&self) -> Result<Vec<Rule>> {
        Err(unsupported())
    }

    /// The automatic answer, as it is.
    async fn auto_reply(&self) -> Result<AutoReply> {
        Err(unsupported())
    }

    /// Changes something; the object as it then is, as the table of its kind has
    /// it, and nothing for what was deleted. Refuses what the provider cannot do
    /// before anything is changed.
    async fn set_up(&self, change: &SetUp) -> Result<Option<Value>> {
        let _ = change;
        Err(unsupported())
    }

    /// Refuses what [`Arrange::set_up`] would refuse before it changes anything,
    /// and changes nothing.
    async fn rehearse(&self, change: &SetUp) -> Result<()> {
        let _ = change;
        Ok(())
    }
}

fn unsupported() -> Error {
    Error::new(Kind::Argument, "this account cannot do that")
        .next("use another account, or the provider's own program")
}
