//! Folders: the folders of a mailbox, and the folder of each message.
//!
//! Every mailbox has Exchange's folders and a few of a user's, which are empty: one is inside
//! another, and two have the same name, as people have them. User labels are not folders, because a
//! message can have many labels, but is in one folder only. Changes of folders are in
//! `mail/folders_write.rs`.
//!
//! The folder of a message is determined by its labels: Gmail's system labels where they have the
//! same meaning, and labels of this half for all other folders.

use std::borrow::Cow;

use crate::store::message::Message;

/// A folder.
#[derive(Debug, Clone)]
pub(crate) struct MailFolder {
    /// The number, the same in every mailbox.
    pub number: u16,
    /// The name that a path can use in place of an id; empty for a user's folder.
    pub well_known: &'static str,
    /// The displayed name.
    pub name: Cow<'static, str>,
    /// The number of the parent folder.
    pub parent: u16,
    /// True if lists leave it out.
    pub hidden: bool,
}

impl MailFolder {
    /// Returns the well-known name, or `id` if there is none.
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

/// The number of the root folder.
pub(crate) const ROOT: u16 = 1;

/// All initial folders, in the order of their names within their parents.
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

/// Deleted Items.
pub(crate) const DELETED: u16 = 10;

/// The outbox, for messages that are sent later.
pub(crate) const OUTBOX: u16 = 11;

/// Drafts.
pub(crate) const DRAFTS: u16 = 15;

/// Sent Items.
pub(crate) const SENT: u16 = 9;

/// The folder of messages whose labels name no other: what Gmail calls All Mail.
const ARCHIVE: u16 = 33;

/// The lowest number of folders that are created.
pub(crate) const FIRST_OWN: u16 = 100;

/// The labels that decide the folder before all others, the strongest first.
const STRONG: [(&str, u16); 2] = [("TRASH", DELETED), ("SPAM", 20)];

/// The labels that decide the folder if no other does.
const WEAK: [(&str, u16); 3] = [("DRAFT", DRAFTS), ("INBOX", 12), ("SENT", SENT)];

/// The prefix of a label that names a folder of this half.
const OWN: &str = "Folder_";

/// Returns the number of a message's folder.
pub(crate) fn number_of(message: &Message) -> u16 {
    number_of_labels(&message.labels)
}

/// Returns the number of the folder that these labels amount to.
pub(crate) fn number_of_labels(labels: &[String]) -> u16 {
    let has = |name: &str| labels.iter().any(|label| label == name);
    let place = |places: &[(&str, u16)]| {
        let found = places.iter().find(|(label, _)| has(label));
        found.map(|(_, number)| *number)
    };
    let own = || labels.iter().find_map(|label| own_number(label));
    // Trash and spam come first: when Gmail's half deletes a message, its Graph folder label stays.
    place(&STRONG).or_else(own).or_else(|| place(&WEAK)).unwrap_or(ARCHIVE)
}

/// Returns the number in a label of this half.
fn own_number(label: &str) -> Option<u16> {
    label.strip_prefix(OWN)?.parse().ok()
}

/// Returns the labels of a message after a move to another folder.
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
    // Labels such as `SENT` and `DRAFT` stay, because Gmail never removes them, so a message may
    // need a label of this half to be elsewhere.
    if number_of_labels(&labels) != folder {
        labels.push(format!("{OWN}{folder}"));
    }
    labels
}

/// Returns the initial folders of every mailbox.
pub(super) fn first() -> Vec<MailFolder> {
    FOLDERS.to_vec()
}

/// Returns the folder with a well-known name, in any case.
pub(crate) fn well_known(name: &str) -> Option<&'static MailFolder> {
    let known = |folder: &&MailFolder| folder.well_known.eq_ignore_ascii_case(name);
    // Folders without a well-known name have an empty one, which must not match.
    FOLDERS.iter().find(known).filter(|_| !name.is_empty())
}

/// Returns the folders inside a folder, or inside the root if it is `None`.
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
