//! The methods that read through Graph, with their permissions and query options.

/// The query options of lists of messages.
const MESSAGES: &[&str] = &[
    "$select", "$expand", "$top", "$skip", "$count", "$filter", "$orderby", "$search", "$skiptoken",
];

/// The query options of contacts.
const LIST: &[&str] = &["$select", "$top", "$skip", "$count", "$filter", "$skiptoken"];

/// A method of the API, with the ids in its path.
pub(crate) enum ReadCall<'a> {
    User,
    Settings,
    Categories,
    Contacts,
    Contact(&'a str),
    Rules(&'a str),
    Rule(&'a str, &'a str),
    People,
    Folders(Option<&'a str>),
    Folder(&'a str),
    Messages(Option<&'a str>),
    Message(&'a str, MessagePart<'a>),
}

/// The part of a message to return.
pub(crate) enum MessagePart<'a> {
    Itself,
    Raw,
    Attachments,
    Attachment(&'a str),
    File(&'a str),
}

impl ReadCall<'_> {
    /// Returns the permissions for one's own mailbox and for another person's. Any one of them is
    /// enough.
    pub fn permissions(&self) -> [&'static [&'static str]; 2] {
        match self {
            Self::User => [
                &["User.Read", "User.ReadWrite", "User.ReadBasic.All", "User.Read.All"],
                &["User.ReadBasic.All", "User.Read.All"],
            ],
            Self::Settings | Self::Categories | Self::Rules(_) | Self::Rule(..) => {
                // Graph has no `.Shared` permission for these, so another person's are always
                // refused.
                [&["MailboxSettings.Read", "MailboxSettings.ReadWrite"], &[]]
            }
            Self::Contacts | Self::Contact(_) => [
                &["Contacts.Read", "Contacts.ReadWrite"],
                &["Contacts.Read.Shared", "Contacts.ReadWrite.Shared"],
            ],
            // `People.Read.All`, which an administrator grants, is not imitated.
            Self::People => [&["People.Read"], &[]],
            Self::Folders(_) | Self::Folder(_) | Self::Messages(_) | Self::Message(..) => {
                [&["Mail.Read", "Mail.ReadWrite"], &["Mail.Read.Shared", "Mail.ReadWrite.Shared"]]
            }
        }
    }

    /// Returns the query options that the method takes.
    pub fn options(&self) -> &'static [&'static str] {
        match self {
            Self::User | Self::Settings | Self::Folder(_) | Self::Contact(_) | Self::Rule(..) => {
                &["$select"]
            }
            Self::Categories | Self::Rules(_) => {
                &["$select", "$top", "$skip", "$skiptoken", "$count"]
            }
            Self::Contacts => LIST,
            Self::Folders(_) => &["$select", "$top", "$skip", "$count", "$skiptoken"],
            Self::People => &["$select", "$top", "$skip", "$skiptoken", "$search"],
            Self::Messages(_) => MESSAGES,
            Self::Message(_, MessagePart::Itself) => &["$select", "$expand"],
            Self::Message(_, MessagePart::Attachments) => {
                &["$select", "$top", "$skip", "$skiptoken", "$count"]
            }
            Self::Message(_, MessagePart::Attachment(_)) => &["$select"],
            Self::Message(_, MessagePart::Raw | MessagePart::File(_)) => &[],
        }
    }
}
