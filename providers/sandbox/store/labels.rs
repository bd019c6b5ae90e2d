//! Labels: Gmail's own, the user's, and how an export names them.
//!
//! Google Takeout writes a message's labels into `X-Gmail-Labels`, under the
//! names shown to an English-speaking user. They become the API's ids here;
//! names that are not Gmail's own become the user's labels.

/// A label that every mailbox has.
#[derive(Debug)]
pub(crate) struct SystemLabel {
    /// The id, which is also the name.
    pub id: &'static str,
    /// True where the API says that lists hide it.
    pub hidden: bool,
}

/// Gmail's own labels, in the order in which the API lists them.
pub(crate) const SYSTEM: [SystemLabel; 14] = [
    hidden_label("CHAT"),
    visible_label("SENT"),
    visible_label("INBOX"),
    hidden_label("IMPORTANT"),
    hidden_label("TRASH"),
    visible_label("DRAFT"),
    hidden_label("SPAM"),
    hidden_label("CATEGORY_FORUMS"),
    hidden_label("CATEGORY_UPDATES"),
    hidden_label("CATEGORY_PERSONAL"),
    hidden_label("CATEGORY_PROMOTIONS"),
    hidden_label("CATEGORY_SOCIAL"),
    visible_label("STARRED"),
    visible_label("UNREAD"),
];

const fn hidden_label(id: &'static str) -> SystemLabel {
    SystemLabel { id, hidden: true }
}

const fn visible_label(id: &'static str) -> SystemLabel {
    SystemLabel { id, hidden: false }
}

/// What an export calls Gmail's own labels, beyond their ids in lower case.
const EXPORTED: [(&str, &str); 4] = [
    ("drafts", "DRAFT"),
    ("bin", "TRASH"),
    ("chats", "CHAT"),
    ("category primary", "CATEGORY_PERSONAL"),
];

/// Words of an export that say what a label is missing for.
const NO_LABELS: [&str; 3] = ["opened", "archived", "all mail"];

/// A label that the user made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserLabel {
    /// The id: `Label_1`.
    pub id: String,
    /// The name; a slash parts the names of a label and one in it.
    pub name: String,
    /// The colours of text and background, as `#rrggbb`.
    pub colour: Option<(String, String)>,
    /// `show` or `hide`: whether messages in lists show it.
    pub message_list: String,
    /// `labelShow`, `labelShowIfUnread` or `labelHide`.
    pub label_list: String,
}

impl UserLabel {
    /// A label as it is unless said otherwise.
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

/// The labels of a mailbox beyond Gmail's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserLabels {
    labels: Vec<UserLabel>,
    /// How many there have ever been.
    made: usize,
}

impl UserLabels {
    /// The ids of a message's labels as exported; without an export, a message is
    /// new and in the inbox.
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

    /// The id of a label by the name an export gives it.
    fn id(&mut self, name: &str) -> Option<String> {
        let plain = name.to_lowercase();
        if NO_LABELS.contains(&plain.as_str()) {
            return None;
        }
        if let Some((_, id)) = EXPORTED.iter().find(|(known, _)| *known == plain) {
            return Some((*id).to_owned());
        }
        let shouted = plain.replace(' ', "_").to_uppercase();
        if SYSTEM.iter().any(|label| label.id == shouted) {
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

    /// The id that the next label gets.
    pub fn fresh(&self) -> String {
        format!("Label_{}", self.made + 1)
    }

    /// Puts a label in the place of the one of its id, or at the end.
    pub fn set(&mut self, label: UserLabel) {
        match self.labels.iter_mut().find(|known| known.id == label.id) {
            Some(known) => *known = label,
            None => {
                self.made += 1;
                self.labels.push(label);
            }
        }
    }

    /// Takes a label away; false if there is none of the id.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.labels.len();
        self.labels.retain(|label| label.id != id);
        self.labels.len() < before
    }

    /// The label of an id.
    pub fn get(&self, id: &str) -> Option<&UserLabel> {
        self.labels.iter().find(|label| label.id == id)
    }

    /// The label of a name, whatever its case.
    pub fn by_name(&self, name: &str) -> Option<&UserLabel> {
        let name = name.to_lowercase();
        let mut labels = self.labels.iter();
        labels.find(|label| label.name.to_lowercase() == name)
    }

    /// The user's labels.
    pub fn own(&self) -> impl Iterator<Item = &UserLabel> {
        self.labels.iter()
    }

    /// True for a label of the provider's or the user's.
    pub fn has(&self, id: &str) -> bool {
        SYSTEM.iter().any(|label| label.id == id) || self.get(id).is_some()
    }

    /// The user's labels as pairs of id and name.
    pub fn all(&self) -> impl Iterator<Item = (String, &str)> {
        let own = self.labels.iter();
        own.map(|label| (label.id.clone(), label.name.as_str()))
    }

    /// The ids of the labels that a search means by a name.
    ///
    /// Searches write the name in lower case with hyphens for spaces, slashes
    /// and the like.
    pub fn meant_by(&self, name: &str) -> Vec<String> {
        let searched = searchable(name);
        let system = SYSTEM.iter().map(|label| (label.id.to_owned(), label.id));
        system
            .chain(self.all())
            .filter(|(_, known)| searchable(known) == searched)
            .map(|(id, _)| id)
            .collect()
    }
}

/// A label's name in the form that searches use.
fn searchable(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .map(|char| if char.is_alphanumeric() { char } else { '-' })
        .collect()
}

/// Splits an export's list at its commas, but for those in quotes.
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
