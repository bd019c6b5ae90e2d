//! Labels: Gmail's own, the user's, and their names in an export.
//!
//! Google Takeout writes a message's labels into `X-Gmail-Labels`, under the names shown to an
//! English-speaking user. This file maps them to the API's ids; other names become labels of the
//! user.

/// Gmail's own labels, in the order of the API: the id, which is also the name, and true if the API
/// marks it as hidden from lists.
pub(crate) const SYSTEM: [(&str, bool); 14] = [
    ("CHAT", true),
    ("SENT", false),
    ("INBOX", false),
    ("IMPORTANT", true),
    ("TRASH", true),
    ("DRAFT", false),
    ("SPAM", true),
    ("CATEGORY_FORUMS", true),
    ("CATEGORY_UPDATES", true),
    ("CATEGORY_PERSONAL", true),
    ("CATEGORY_PROMOTIONS", true),
    ("CATEGORY_SOCIAL", true),
    ("STARRED", false),
    ("UNREAD", false),
];

/// Returns true for the id of one of Gmail's own labels.
pub(crate) fn is_system(id: &str) -> bool {
    SYSTEM.iter().any(|(known, _)| *known == id)
}

/// Names of Gmail's own labels in an export, other than their ids in lower case.
const EXPORTED: [(&str, &str); 4] = [
    ("drafts", "DRAFT"),
    ("bin", "TRASH"),
    ("chats", "CHAT"),
    ("category primary", "CATEGORY_PERSONAL"),
];

/// Words in an export that only say that a label is missing.
const NO_LABELS: [&str; 3] = ["opened", "archived", "all mail"];

/// A label created by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserLabel {
    /// The id: `Label_1`.
    pub id: String,
    /// The name. A slash separates a parent label from a nested one.
    pub name: String,
    /// The colours of text and background, as `#rrggbb`.
    pub colour: Option<(String, String)>,
    /// `show` or `hide`: visibility in lists of messages.
    pub message_list: String,
    /// `labelShow`, `labelShowIfUnread` or `labelHide`.
    pub label_list: String,
}

impl UserLabel {
    /// Returns a label with Gmail's defaults.
    pub fn new(id: String, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            colour: None,
            message_list: "show".to_owned(),
            label_list: "labelShow".to_owned(),
        }
    }
}

/// The labels of a mailbox other than Gmail's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserLabels {
    labels: Vec<UserLabel>,
    /// The number of labels ever created.
    made: usize,
}

impl UserLabels {
    /// Returns the ids of a message's exported labels. A message that is not from an export is
    /// unread and in the inbox.
    pub fn ids(&mut self, exported: Option<&str>) -> Vec<String> {
        let Some(exported) = exported else {
            return vec!["UNREAD".to_owned(), "INBOX".to_owned()];
        };
        let mut ids: Vec<String> = Vec::new();
        for name in names(exported) {
            if let Some(id) = self.id(&name).filter(|id| !ids.contains(id)) {
                ids.push(id);
            }
        }
        ids
    }

    /// Returns the id of a label by its name in an export.
    fn id(&mut self, name: &str) -> Option<String> {
        let plain = name.to_lowercase();
        if NO_LABELS.contains(&plain.as_str()) {
            return None;
        }
        if let Some((_, id)) = EXPORTED.iter().find(|(known, _)| *known == plain) {
            return Some((*id).to_owned());
        }
        // An export writes `Category promotions` for `CATEGORY_PROMOTIONS`.
        let shouted = plain.replace(' ', "_").to_uppercase();
        if is_system(&shouted) {
            return Some(shouted);
        }
        let known = self.labels.iter().find(|known| known.name == name);
        if let Some(known) = known {
            return Some(known.id.clone());
        }
        let label = UserLabel::new(self.fresh(), name);
        let id = label.id.clone();
        self.set(label);
        Some(id)
    }

    /// Returns the id of the next new label.
    pub fn fresh(&self) -> String {
        // Counted from all labels ever created, so that the id of a deleted label is not reused.
        format!("Label_{}", self.made + 1)
    }

    /// Replaces the label with the same id, or appends a new one.
    pub fn set(&mut self, label: UserLabel) {
        match self.labels.iter_mut().find(|known| known.id == label.id) {
            Some(known) => *known = label,
            None => {
                self.made += 1;
                self.labels.push(label);
            }
        }
    }

    /// Removes a label. Returns false if there is no label with the id.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.labels.len();
        self.labels.retain(|label| label.id != id);
        self.labels.len() < before
    }

    /// Returns the label with an id.
    pub fn get(&self, id: &str) -> Option<&UserLabel> {
        self.labels.iter().find(|label| label.id == id)
    }

    /// Returns the label with a name, compared case-insensitively.
    pub fn by_name(&self, name: &str) -> Option<&UserLabel> {
        let name = name.to_lowercase();
        let mut labels = self.labels.iter();
        labels.find(|label| label.name.to_lowercase() == name)
    }

    /// Returns the user's labels.
    pub fn own(&self) -> impl Iterator<Item = &UserLabel> {
        self.labels.iter()
    }

    /// Returns true if Gmail or the user has a label with the id.
    pub fn has(&self, id: &str) -> bool {
        is_system(id) || self.get(id).is_some()
    }

    /// Returns the user's labels as pairs of id and name.
    pub fn all(&self) -> impl Iterator<Item = (String, &str)> {
        let own = self.labels.iter();
        own.map(|label| (label.id.clone(), label.name.as_str()))
    }

    /// Returns the ids of the labels that a name in a search refers to.
    ///
    /// Searches write names in lower case, with hyphens for spaces, slashes and other punctuation.
    pub fn meant_by(&self, name: &str) -> Vec<String> {
        let searched = searchable(name);
        let system = SYSTEM.iter().map(|(id, _)| ((*id).to_owned(), *id));
        // Names such as `a b` and `a/b` have the same form, so several labels may match.
        system
            .chain(self.all())
            .filter(|(_, known)| searchable(known) == searched)
            .map(|(id, _)| id)
            .collect()
    }
}

/// Returns a label's name in the form used in searches.
fn searchable(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .map(|char| if char.is_alphanumeric() { char } else { '-' })
        .collect()
}

/// Splits an export's list of labels at commas outside quotes.
fn names(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut quoted = false;
    for char in list.chars() {
        match (char, names.last_mut()) {
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => names.push(String::new()),
            (_, Some(name)) => name.push(char),
            (_, None) => {}
        }
    }
    names.into_iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}
