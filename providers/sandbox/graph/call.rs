//! What is read through Graph: the paths, with the permissions and the options
//! of each.

/// The options of lists of messages.
const MESSAGES: &[&str] = &[
    "$select",
    "$top",
    "$skip",
    "$count",
    "$filter",
    "$orderby",
    "$search",
    "$skiptoken",
    "$expand",
];

/// The options of other lists.
const LIST: &[&str] = &["$select", "$top", "$skip", "$count", "$filter", "$skiptoken"];

/// What the list of zones can be asked with.
pub(super) const ZONES: &str = "supportedTimeZones";

/// A method of the API, with the ids of its path.
pub(crate) enum Call<'a> {
    User,
    Settings(Option<&'a str>),
    Zones(&'a str),
    Categories,
    Category(&'a str),
    Contacts,
    Contact(&'a str),
    Rules(&'a str),
    Rule(&'a str, &'a str),
    People,
    Folders(Option<&'a str>),
    Folder(&'a str),
    Messages(Option<&'a str>),
    Message(&'a str, Part<'a>),
}

/// What is wanted of a message.
pub(crate) enum Part<'a> {
    Itself,
    Raw,
    Attachments,
    Attachment(&'a str),
    File(&'a str),
}

impl<'a> Call<'a> {
    /// The method of a path below the user; `Err` names what leads nowhere.
    pub fn of(path: &[&'a str]) -> Result<(Self, Option<&'a str>), &'a str> {
        let call = match path {
            [] => Self::User,
            ["mailboxSettings"] => Self::Settings(None),
            ["mailboxSettings", name @ ("timeZone" | "workingHours" | "language")] => {
                Self::Settings(Some(name))
            }
            ["outlook", zones] if is_zones(zones) => Self::Zones(zones),
            ["outlook", "masterCategories"] => Self::Categories,
            ["outlook", "masterCategories", id] => Self::Category(id),
            ["contacts"] => Self::Contacts,
            ["contacts", id] => Self::Contact(id),
            ["mailFolders", folder, "messageRules"] => Self::Rules(folder),
            ["mailFolders", folder, "messageRules", id] => Self::Rule(folder, id),
            ["people"] => Self::People,
            ["mailFolders"] => Self::Folders(None),
            ["mailFolders", folder] => Self::Folder(folder),
            ["mailFolders", folder, "childFolders"] => Self::Folders(Some(folder)),
            ["mailFolders", folder, "messages"] => Self::Messages(Some(folder)),
            ["mailFolders", folder, "messages", id, rest @ ..] => {
                return Ok((Self::Message(id, Part::of(rest)?), Some(folder)));
            }
            ["messages"] => Self::Messages(None),
            ["messages", id, rest @ ..] => Self::Message(id, Part::of(rest)?),
            [first, ..] => return Err(first),
        };
        Ok((call, None))
    }

    /// The permissions of which one is enough, for one's own mailbox and for
    /// another's.
    pub fn permissions(&self) -> [&'static [&'static str]; 2] {
        match self {
            Self::User => [
                &["User.Read", "User.ReadWrite", "User.ReadBasic.All", "User.Read.All"],
                &["User.ReadBasic.All", "User.Read.All"],
            ],
            Self::Zones(_) => {
                [&["User.Read", "User.ReadBasic.All"], &["User.ReadBasic.All", "User.Read.All"]]
            }
            Self::Settings(_)
            | Self::Categories
            | Self::Category(_)
            | Self::Rules(_)
            | Self::Rule(..) => [&["MailboxSettings.Read", "MailboxSettings.ReadWrite"], &[]],
            Self::Contacts | Self::Contact(_) => [
                &["Contacts.Read", "Contacts.ReadWrite"],
                &["Contacts.Read.Shared", "Contacts.ReadWrite.Shared"],
            ],
            Self::People => [&["People.Read"], &[]],
            Self::Folders(_) | Self::Folder(_) | Self::Messages(_) | Self::Message(..) => {
                [&["Mail.Read", "Mail.ReadWrite"], &["Mail.Read.Shared", "Mail.ReadWrite.Shared"]]
            }
        }
    }

    /// The options it takes.
    pub fn options(&self) -> &'static [&'static str] {
        match self {
            Self::User
            | Self::Settings(_)
            | Self::Folder(_)
            | Self::Category(_)
            | Self::Contact(_)
            | Self::Rule(..) => &["$select"],
            Self::Zones(_) => &[],
            Self::Categories | Self::Rules(_) => {
                &["$select", "$top", "$skip", "$skiptoken", "$count"]
            }
            Self::Contacts | Self::Folders(_) => LIST,
            Self::People => &["$select", "$top", "$skip", "$skiptoken", "$search"],
            Self::Messages(_) => MESSAGES,
            Self::Message(_, Part::Itself) => &["$select", "$expand"],
            Self::Message(_, Part::Attachments) => {
                &["$select", "$top", "$skip", "$skiptoken", "$count"]
            }
            Self::Message(_, Part::Attachment(_)) => &["$select"],
            Self::Message(_, Part::Raw | Part::File(_)) => &[],
        }
    }
}

/// True for the segment of a path that lists the zones.
fn is_zones(segment: &str) -> bool {
    segment.strip_prefix(ZONES).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

impl<'a> Part<'a> {
    fn of(path: &[&'a str]) -> Result<Self, &'a str> {
        match path {
            [] => Ok(Self::Itself),
            ["$value"] => Ok(Self::Raw),
            ["attachments"] => Ok(Self::Attachments),
            ["attachments", id] => Ok(Self::Attachment(id)),
            ["attachments", id, "$value"] => Ok(Self::File(id)),
            [first, ..] => Err(first),
        }
    }
}
