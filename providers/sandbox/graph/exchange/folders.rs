//! Folders: which there are, which message is in which, and their JSON.
//!
//! The folders are Exchange's own, and a few of a user's, empty: one in
//! another, and two of the same name, as people have them. User labels make no
//! folders, for a message can have many labels and is in one folder only. What a
//! mailbox's folders become is in `mail/folders_write.rs`.
//!
//! A message's labels say which folder it is in: those that are places in Gmail
//! too, and one of this half's own for the others.

use std::borrow::Cow;

use crate::store::message::Message;

/// A folder.
#[derive(Debug, Clone)]
pub(crate) struct MailFolder {
    /// Its number, the same in every mailbox.
    pub number: u16,
    /// The name by which a path may call it; empty for a user's own.
    pub well_known: &'static str,
    /// The name shown.
    pub name: Cow<'static, str>,
    /// The number of the folder it is in.
    pub parent: u16,
    /// True for those that lists leave out.
    pub hidden: bool,
}

impl MailFolder {
    /// The well-known name, or the id of a folder that has none.
    pub fn well_known_or<'a>(&'a self, id: &'a str) -> &'a str {
        match self.well_known {
            "" => id,
            name => name,
        }
    }
}

const fn folder(
    number: u16,
    well_known: &'static str,
    name: &'static str,
    parent: u16,
) -> MailFolder {
    MailFolder { number, well_known, name: Cow::Borrowed(name), parent, hidden: false }
}

/// The number of the folder that all others are in.
pub(crate) const ROOT: u16 = 1;

/// All folders, in the order of their names within their parents.
static FOLDERS: [MailFolder; 18] = [
    folder(ROOT, "msgfolderroot", "Top of Information Store", 0),
    folder(33, "archive", "Archive", ROOT),
    MailFolder {
        number: 40,
        well_known: "",
        name: Cow::Borrowed("Conversation Action Settings"),
        parent: ROOT,
        hidden: true,
    },
    folder(34, "conversationhistory", "Conversation History", ROOT),
    folder(10, "deleteditems", "Deleted Items", ROOT),
    folder(15, "drafts", "Drafts", ROOT),
    folder(12, "inbox", "Inbox", ROOT),
    folder(44, "", "2026", 12),
    folder(20, "junkemail", "Junk Email", ROOT),
    folder(11, "outbox", "Outbox", ROOT),
    folder(42, "", "Projects", ROOT),
    folder(43, "", "2026", 42),
    folder(41, "", "RSS Feeds", ROOT),
    folder(9, "sentitems", "Sent Items", ROOT),
    folder(35, "syncissues", "Sync Issues", ROOT),
    folder(36, "conflicts", "Conflicts", 35),
    folder(37, "localfailures", "Local Failures", 35),
    folder(38, "serverfailures", "Server Failures", 35),
];

/// The folder of what was deleted.
pub(crate) const DELETED: u16 = 10;

/// The folder of what waits to be sent.
pub(crate) const OUTBOX: u16 = 11;

/// The folder of drafts.
pub(crate) const DRAFTS: u16 = 15;

/// The folder of what was sent.
pub(crate) const SENT: u16 = 9;

/// Where messages are that are nowhere else.
const ARCHIVE: u16 = 33;

/// The first number of a folder that somebody makes.
pub(crate) const FIRST_OWN: u16 = 100;

/// The labels that put a message into a folder against all others, the strongest
/// first.
const STRONG: [(&str, u16); 2] = [("TRASH", DELETED), ("SPAM", 20)];

/// Those that do where nothing else says where it is.
const WEAK: [(&str, u16); 3] = [("DRAFT", DRAFTS), ("INBOX", 12), ("SENT", SENT)];

/// What a label begins with that names a folder of this half alone.
const OWN: &str = "Folder_";

/// The number of the folder that a message is in.
pub(crate) fn number_of(message: &Message) -> u16 {
    number_of_labels(&message.labels)
}

/// The number of the folder of what has these labels.
pub(crate) fn number_of_labels(labels: &[String]) -> u16 {
    let has = |name: &str| labels.iter().any(|label| label == name);
    let place = |places: &[(&str, u16)]| {
        let found = places.iter().find(|(label, _)| has(label));
        found.map(|(_, number)| *number)
    };
    let own = || labels.iter().find_map(|label| own_number(label));
    place(&STRONG).or_else(own).or_else(|| place(&WEAK)).unwrap_or(ARCHIVE)
}

/// The number of the folder that a label of this half's own names.
fn own_number(label: &str) -> Option<u16> {
    label.strip_prefix(OWN)?.parse().ok()
}

/// The labels of a message that is put into another folder.
pub(crate) fn labels_in(labels: &[String], folder: u16) -> Vec<String> {
    let place = |label: &&String| {
        own_number(label).is_some() || matches!(label.as_str(), "TRASH" | "SPAM" | "INBOX")
    };
    let mut labels: Vec<String> = labels.iter().filter(|label| !place(label)).cloned().collect();
    let shared = STRONG.iter().chain(&WEAK);
    let mut shared = shared.filter(|(label, _)| matches!(*label, "TRASH" | "SPAM" | "INBOX"));
    if let Some((label, _)) = shared.find(|(_, number)| *number == folder) {
        labels.push((*label).to_owned());
    }
    if number_of_labels(&labels) != folder {
        labels.push(format!("{OWN}{folder}"));
    }
    labels
}

/// The folders that every mailbox begins with.
pub(super) fn first() -> Vec<MailFolder> {
    FOLDERS.to_vec()
}

/// The folder of a well-known name, whatever its case.
pub(crate) fn well_known(name: &str) -> Option<&'static MailFolder> {
    let known = |folder: &&MailFolder| folder.well_known.eq_ignore_ascii_case(name);
    FOLDERS.iter().find(known).filter(|_| !name.is_empty())
}

/// The folders in a folder; in the root, where none is named.
pub(crate) fn children(
    all: &[MailFolder],
    of: Option<&MailFolder>,
    hidden: bool,
) -> Vec<MailFolder> {
    let parent = of.map_or(ROOT, |folder| folder.number);
    all.iter()
        .filter(|folder| folder.parent == parent && (hidden || !folder.hidden))
        .cloned()
        .collect()
}
