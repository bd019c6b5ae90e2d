//! Ids and addresses that cross the port, each as a type of its own, so that none can be passed for
//! another.
//!
//! Ids are the provider's, except [`AccountId`], and can only be compared; addresses are as people
//! or services wrote them. Rows, handles, cursors and the store carry both as text:
//! [`as_str`](EventId::as_str) and `From` convert at that boundary.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Defines types that wrap a text.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns true for the default, an empty text.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        // Shows only the text: the name of the field gives the kind of id.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        /// Lets maps and sets be searched by text.
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }
    )*};
}

ids! {
    /// The id of an account: the provider's name and the mailbox's address, such as
    /// `google:mira@example.com`.
    AccountId,
    /// The id of a message.
    MessageId,
    /// The id of a thread or conversation.
    ThreadId,
    /// The id of a draft. Where drafts are messages, the id of the message.
    DraftId,
    /// The id of an attachment, unique within its message.
    AttachmentId,
    /// The id of a folder or label; the name of a category, which has no id.
    FolderId,
    /// The id of a calendar.
    CalendarId,
    /// The id of an event, a series or an occurrence. It is enough to find the event, so it
    /// includes the calendar's id where the service needs that.
    EventId,
    /// A mail address, in the spelling that it came in. `==` compares the spelling;
    /// [`is`](EmailAddress::is) tells whether it is the same mailbox.
    EmailAddress,
}

impl EmailAddress {
    /// Returns true for the same mailbox. The case of the local part is ignored too: it may differ
    /// (RFC 5321, 2.4), but no service has two mailboxes that differ in it alone.
    pub fn is(&self, other: impl AsRef<str>) -> bool {
        self.0.eq_ignore_ascii_case(other.as_ref())
    }

    /// Returns the address in lower case, as a key of maps and sets.
    pub fn lower(&self) -> String {
        self.0.to_lowercase()
    }

    /// Returns the text, for cleaning.
    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.0
    }
}

impl AsRef<str> for EmailAddress {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
