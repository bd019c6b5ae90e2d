//! An index of a mailbox, read once, so that lists of ten thousand messages stay quick.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::folders;
use crate::graph::ids::MailboxIds;
use crate::graph::people::EmailAddress;
use crate::store::mailbox::Mailbox;

/// Gmail's tabs: their label ids, and their names as categories.
pub(crate) const TABS: [(&str, &str); 5] = [
    ("CATEGORY_FORUMS", "forums"),
    ("CATEGORY_UPDATES", "updates"),
    ("CATEGORY_PERSONAL", "personal"),
    ("CATEGORY_PROMOTIONS", "promotions"),
    ("CATEGORY_SOCIAL", "social"),
];

/// The data derived from a mailbox's messages and labels.
#[derive(Debug)]
pub(crate) struct MailboxIndex {
    pub(super) ids: MailboxIds,
    /// The messages' positions in the mailbox by folder, newest first.
    pub(super) folders: HashMap<u16, Vec<usize>>,
    /// The number of unread messages by folder.
    pub(super) unread: HashMap<u16, usize>,
    /// The names of labels that are categories, by label id.
    pub(super) categories: HashMap<String, String>,
    /// From and Sender by position, parsed on first use.
    pub(super) senders: Vec<OnceLock<[Option<EmailAddress>; 2]>>,
    /// Positions by message.
    pub(super) places: HashMap<u64, usize>,
}

impl MailboxIndex {
    /// Reads a mailbox.
    pub fn new(mailbox: &Mailbox) -> Self {
        let mut folders: HashMap<u16, Vec<usize>> = HashMap::new();
        let mut unread: HashMap<u16, usize> = HashMap::new();
        let mut places = HashMap::with_capacity(mailbox.messages.len());
        for (place, message) in mailbox.messages.iter().enumerate() {
            let folder = folders::number_of(message);
            folders.entry(folder).or_default().push(place);
            *unread.entry(folder).or_default() += usize::from(message.has("UNREAD"));
            places.insert(message.id, place);
        }
        let tabs = TABS.iter().map(|(id, name)| (id.to_string(), *name));
        let categories = tabs.chain(mailbox.labels.all());
        Self {
            ids: MailboxIds::new(&mailbox.address),
            folders,
            unread,
            categories: categories.map(|(id, name)| (id, name.to_owned())).collect(),
            // Filled on first use: a list without senders should not parse every header section.
            senders: mailbox.messages.iter().map(|_| OnceLock::new()).collect(),
            places,
        }
    }
}
