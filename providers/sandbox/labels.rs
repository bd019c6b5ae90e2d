//! Labels: Gmail's own, the user's, and how an export names them.
//!
//! Google Takeout writes a letter's labels into `X-Gmail-Labels`, under the
//! names shown to an English-speaking user. They become the API's ids here;
//! names that are not Gmail's own become the user's labels.

/// A label that every mailbox has.
#[derive(Debug)]
pub(super) struct SystemLabel {
    /// The id, which is also the name.
    pub id: &'static str,
    /// True where the API says that lists hide it.
    pub hidden: bool,
}

/// Gmail's own labels, in the order in which the API lists them.
pub(super) const SYSTEM: [SystemLabel; 14] = [
    hidden("CHAT"),
    shown("SENT"),
    shown("INBOX"),
    hidden("IMPORTANT"),
    hidden("TRASH"),
    shown("DRAFT"),
    hidden("SPAM"),
    hidden("CATEGORY_FORUMS"),
    hidden("CATEGORY_UPDATES"),
    hidden("CATEGORY_PERSONAL"),
    hidden("CATEGORY_PROMOTIONS"),
    hidden("CATEGORY_SOCIAL"),
    shown("STARRED"),
    shown("UNREAD"),
];

const fn hidden(id: &'static str) -> SystemLabel {
    SystemLabel { id, hidden: true }
}

const fn shown(id: &'static str) -> SystemLabel {
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

/// The labels of a mailbox beyond Gmail's own.
#[derive(Debug, Clone, Default)]
pub(super) struct UserLabels {
    names: Vec<String>,
}

impl UserLabels {
    /// The ids of a letter's labels as exported; without an export, a letter is
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
        let known = self.names.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        Some(format!("Label_{}", index + 1))
    }

    /// The user's labels as pairs of id and name.
    pub fn all(&self) -> impl Iterator<Item = (String, &str)> {
        let names = self.names.iter().map(String::as_str);
        (1..)
            .map(|number: usize| format!("Label_{number}"))
            .zip(names)
    }

    /// The ids of the labels that a search means by a name.
    ///
    /// Searches write the name in lower case with hyphens for spaces, slashes
    /// and the like.
    pub fn meant_by(&self, name: &str) -> Vec<String> {
        let wanted = searchable(name);
        let system = SYSTEM.iter().map(|label| (label.id.to_owned(), label.id));
        system
            .chain(self.all())
            .filter(|(_, known)| searchable(known) == wanted)
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
    names
        .into_iter()
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}
