//! Folders: which there are, which letter is in which, and their JSON.
//!
//! The folders are Exchange's own, and a few of a user's, empty: one in
//! another, and two of the same name, as people have them. User labels make no
//! folders, for a letter can have many labels and is in one folder only.

use serde_json::{Map, Value, json};

use super::graph_store::Store;
use super::letter::Letter;

/// A folder.
#[derive(Debug)]
pub(super) struct Folder {
    /// Its number, the same in every mailbox.
    pub number: u8,
    /// The name by which a path may call it; empty for a user's own.
    pub well_known: &'static str,
    /// The name shown.
    pub name: &'static str,
    /// The number of the folder it is in.
    pub parent: u8,
    /// True for those that lists leave out.
    pub hidden: bool,
}

impl Folder {
    /// The well-known name, or the id of a folder that has none.
    pub fn well_known_or<'a>(&'a self, id: &'a str) -> &'a str {
        match self.well_known {
            "" => id,
            name => name,
        }
    }
}

const fn folder(number: u8, well_known: &'static str, name: &'static str, parent: u8) -> Folder {
    Folder {
        number,
        well_known,
        name,
        parent,
        hidden: false,
    }
}

/// The number of the folder that all others are in.
const ROOT: u8 = 1;

/// All folders, in the order of their names within their parents.
static FOLDERS: [Folder; 18] = [
    folder(ROOT, "msgfolderroot", "Top of Information Store", 0),
    folder(33, "archive", "Archive", ROOT),
    Folder {
        number: 40,
        well_known: "",
        name: "Conversation Action Settings",
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

/// The labels that put a letter into a folder, the strongest first.
const PLACES: [(&str, u8); 5] = [
    ("TRASH", 10),
    ("SPAM", 20),
    ("DRAFT", 15),
    ("INBOX", 12),
    ("SENT", 9),
];

/// Where letters are that are nowhere else.
const ARCHIVE: u8 = 33;

/// The properties of a folder.
pub(super) const PROPERTIES: [&str; 7] = [
    "id",
    "displayName",
    "parentFolderId",
    "childFolderCount",
    "unreadItemCount",
    "totalItemCount",
    "isHidden",
];

/// The number of the folder that a letter is in.
pub(super) fn number_of(letter: &Letter) -> u8 {
    number_of_labels(&letter.labels)
}

/// The number of the folder of what has these labels.
pub(super) fn number_of_labels(labels: &[String]) -> u8 {
    let has = |name: &str| labels.iter().any(|label| label == name);
    let place = PLACES.iter().find(|(label, _)| has(label));
    place.map_or(ARCHIVE, |(_, number)| *number)
}

/// All folders.
pub(super) fn all() -> impl Iterator<Item = &'static Folder> {
    FOLDERS.iter()
}

/// The folder of a well-known name, whatever its case.
pub(super) fn well_known(name: &str) -> Option<&'static Folder> {
    let known = |folder: &&Folder| folder.well_known.eq_ignore_ascii_case(name);
    all().find(known).filter(|_| !name.is_empty())
}

/// The folders in a folder; in the root, where none is named.
pub(super) fn children(of: Option<&Folder>, hidden: bool) -> Vec<&'static Folder> {
    let parent = of.map_or(ROOT, |folder| folder.number);
    all()
        .filter(|folder| folder.parent == parent && (hidden || !folder.hidden))
        .collect()
}

/// A folder with all its properties.
pub(super) fn json(store: Store<'_>, folder: &Folder) -> Map<String, Value> {
    let (total, unread) = store.counts(folder);
    let value = json!({
        "id": store.ids().folder(folder.number),
        "displayName": folder.name,
        "parentFolderId": store.ids().folder(folder.parent),
        "childFolderCount": children(Some(folder), false).len(),
        "unreadItemCount": unread,
        "totalItemCount": total,
        "isHidden": folder.hidden,
    });
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
