//! What is read of a mailbox once, so that lists of ten thousand messages stay
//! quick.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::folders;
use crate::graph::ids::MailboxIds;
use crate::graph::people::EmailAddress;
use crate::store::mailbox::Mailbox;

/// What Gmail's tabs are called; as categories they have these names.
pub(crate) const TABS: [(&str, &str); 5] = [
    ("CATEGORY_FORUMS", "forums"),
    ("CATEGORY_UPDATES", "updates"),
    ("CATEGORY_PERSONAL", "personal"),
    ("CATEGORY_PROMOTIONS", "promotions"),
    ("CATEGORY_SOCIAL", "social"),
];

/// What is known of a mailbox beyond its messages.
#[derive(Debug)]
pub(crate) struct MailboxIndex {
    pub(super) ids: MailboxIds,
    /// Places in the mailbox by folder, newest first.
    pub(super) folders: HashMap<u16, Vec<usize>>,
    /// How many messages of a folder are unread.
    pub(super) unread: HashMap<u16, usize>,
    /// The names of labels that are categories, by their ids.
    pub(super) categories: HashMap<String, String>,
    /// From and Sender of each message, by its place, once requested.
    pub(super) senders: Vec<OnceLock<[Option<EmailAddress>; 2]>>,
    /// Places by message.
    pub(super) places: HashMap<u64, usize>,
}

impl MailboxIndex {
    /// Reads a mailbox.
    pub fn of(mailbox: &Mailbox) -> Self {
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
            ids: MailboxIds::of(&mailbox.address),
            folders,
            unread,
            categories: categories.map(|(id, name)| (id, name.to_owned())).collect(),
            senders: mailbox.messages.iter().map(|_| OnceLock::new()).collect(),
            places,
        }
    }
}
