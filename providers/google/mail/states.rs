//! Gmail's labels as message states, and states as labels. No I/O.
//!
//! At Gmail every change of a message adds or removes labels.

use std::collections::{BTreeMap, BTreeSet};

use daysheet_core::error::{Error, Result};
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::provider::mail::{MailState, MessageAction, MessageFlag};
use daysheet_core::provider::{ThreadMessage, ThreadRole};
use jiff::Timestamp;
use serde_json::Value;

use crate::json::text;

/// The labels that are folders, in order of precedence.
const PLACES: [&str; 5] = ["TRASH", "SPAM", "INBOX", "DRAFT", "SENT"];
/// The prefix of the ids of user labels.
pub(super) const OWN: &str = "Label_";

/// Labels to add, and labels to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LabelDifference {
    pub add: BTreeSet<FolderId>,
    pub remove: BTreeSet<FolderId>,
}

impl LabelDifference {
    pub(super) fn new(add: &[&str], remove: &[&str]) -> Self {
        let set = |labels: &[&str]| labels.iter().map(|label| FolderId::from(*label)).collect();
        Self { add: set(add), remove: set(remove) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// Returns labels with the difference applied.
    pub(super) fn applied(&self, mut labels: BTreeSet<FolderId>) -> BTreeSet<FolderId> {
        labels.extend(self.add.iter().cloned());
        labels.retain(|label| !self.remove.contains(label));
        labels
    }

    /// Returns true if the labels already agree with the difference.
    pub(super) fn agrees_with(&self, labels: &BTreeSet<FolderId>) -> bool {
        self.add.is_subset(labels) && self.remove.is_disjoint(labels)
    }
}

/// Returns the labels of a Gmail message; empty if they were not requested.
pub(super) fn labels(item: &Value) -> BTreeSet<FolderId> {
    let listed = item.get("labelIds").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(|label| label.as_str().map(FolderId::from)).collect()
}

/// Returns the messages of a thread, oldest first.
pub(super) fn thread(messages: &[Value]) -> Vec<ThreadMessage> {
    let one = |item: &Value| {
        let labels = labels(item);
        let has = |label| labels.contains(label);
        let date = text(item, "internalDate").parse().unwrap_or_default();
        Some(text(item, "id")).filter(|id| !id.is_empty()).map(|id| ThreadMessage {
            id: id.into(),
            date: Timestamp::from_millisecond(date).unwrap_or_default(),
            role: match () {
                () if has("TRASH") || has("SPAM") => ThreadRole::Hidden,
                () if has("DRAFT") => ThreadRole::Draft,
                () if has("SENT") => ThreadRole::Sent,
                () => ThreadRole::Received,
            },
        })
    };
    let mut thread: Vec<ThreadMessage> = messages.iter().filter_map(one).collect();
    thread.sort_by_key(|one| one.date);
    thread
}

/// Returns true if a label is neither a folder nor another state: a user label, a category or the
/// mark as important. Gmail assigns the last two itself, but users may correct them.
fn is_settable(label: &str) -> bool {
    label.starts_with(OWN) || label.starts_with("CATEGORY_") || label == "IMPORTANT"
}

/// Returns the state for a set of labels.
pub(super) fn state(id: &MessageId, labels: &BTreeSet<FolderId>) -> MailState {
    let place = PLACES.into_iter().find(|place| labels.contains(*place));
    MailState {
        id: id.clone(),
        unread: labels.contains("UNREAD"),
        flag: if labels.contains("STARRED") {
            MessageFlag::Set { due: None }
        } else {
            MessageFlag::None
        },
        folder: place.unwrap_or_default().into(),
        labels: labels.iter().filter(|label| is_settable(label.as_str())).cloned().collect(),
        draft: labels.contains("DRAFT"),
    }
}

/// Returns the state of a message in Gmail's JSON.
pub(super) fn state_of(item: &Value) -> MailState {
    state(&text(item, "id").into(), &labels(item))
}

/// Returns a step as a difference of labels, which is the same for every message.
///
/// # Errors
/// [`daysheet_core::error::ErrorKind::Argument`] for steps that Gmail does not support.
pub(super) fn of_step(step: &MessageAction) -> Result<LabelDifference> {
    Ok(match step {
        MessageAction::Read(true) => LabelDifference::new(&[], &["UNREAD"]),
        MessageAction::Read(false) => LabelDifference::new(&["UNREAD"], &[]),
        MessageAction::Flag(MessageFlag::None) => LabelDifference::new(&[], &["STARRED"]),
        MessageAction::Flag(MessageFlag::Set { due: None }) => {
            LabelDifference::new(&["STARRED"], &[])
        }
        MessageAction::Flag(MessageFlag::Set { due: Some(_) }) => {
            return Err(Error::argument("Gmail's stars have no date")
                .next("leave out due, or create an event as a reminder"));
        }
        MessageAction::Flag(MessageFlag::Done) => {
            return Err(Error::argument("Gmail's stars cannot be marked done")
                .next("use do=unstar or do=archive"));
        }
        MessageAction::Archive => LabelDifference::new(&[], &["INBOX"]),
        // Gmail would keep the inbox label of a trashed message.
        MessageAction::Trash => LabelDifference::new(&["TRASH"], &["INBOX", "SPAM"]),
        MessageAction::Untrash => LabelDifference::new(&["INBOX"], &["SPAM", "TRASH"]),
        MessageAction::Spam => LabelDifference::new(&["SPAM"], &["INBOX", "TRASH"]),
        MessageAction::Move(to) => match to.as_str() {
            "" => LabelDifference::new(&[], &["INBOX", "SPAM", "TRASH"]),
            "INBOX" => of_step(&MessageAction::Untrash)?,
            "TRASH" => of_step(&MessageAction::Trash)?,
            "SPAM" => of_step(&MessageAction::Spam)?,
            to => {
                check_assignable(to)?;
                LabelDifference::new(&[to], &["INBOX", "SPAM", "TRASH"])
            }
        },
        MessageAction::Copy(to) => match to.as_str() {
            "" | "TRASH" | "SPAM" => {
                return Err(Error::argument("Gmail cannot copy to the archive, trash or spam")
                    .next("name a label, or use do=archive, trash or spam"));
            }
            to => {
                check_assignable(to)?;
                LabelDifference::new(&[to], &[])
            }
        },
        MessageAction::Label { add, remove } => {
            // Removing these labels is allowed: it takes a message out of a folder.
            let (places, others): (Vec<&str>, Vec<&str>) = remove
                .iter()
                .map(FolderId::as_str)
                .partition(|label| ["INBOX", "SPAM", "TRASH"].contains(label));
            let removed = [places, each_given(others)?].concat();
            LabelDifference::new(&each_given(add.iter().map(FolderId::as_str))?, &removed)
        }
        // Deleting is no change of labels, and an earlier state differs by message.
        MessageAction::Delete | MessageAction::RestoreState(_) => LabelDifference::default(),
    })
}

/// Refuses labels that only Gmail assigns, and labels that are folders.
fn check_assignable(label: &str) -> Result<()> {
    let what = match label {
        "SENT" | "DRAFT" | "CHAT" => "only Gmail decides what is sent, a draft or a chat",
        "TRASH" | "SPAM" => "trash and spam are not labels",
        "" => "the archive is not a label",
        _ => return Ok(()),
    };
    Err(Error::argument(what).next("use do=archive, trash or spam, or name a user label"))
}

fn each_given<'a>(labels: impl IntoIterator<Item = &'a str>) -> Result<Vec<&'a str>> {
    labels.into_iter().map(|label| check_assignable(label).map(|()| label)).collect()
}

/// Returns the difference between two states. `SENT` and `DRAFT` are left to Gmail.
pub(super) fn between(now: &MailState, then: &MailState) -> LabelDifference {
    let mut difference = LabelDifference::default();
    let mut mark = |label: &str, expected: bool| {
        let into = if expected { &mut difference.add } else { &mut difference.remove };
        into.insert(label.into());
    };
    if now.unread != then.unread {
        mark("UNREAD", then.unread);
    }
    let starred = |state: &MailState| matches!(state.flag, MessageFlag::Set { .. });
    if starred(now) != starred(then) {
        mark("STARRED", starred(then));
    }
    if now.folder != then.folder {
        for place in ["INBOX", "SPAM", "TRASH"] {
            mark(place, then.folder == place);
        }
    }
    for label in then.labels.difference(&now.labels) {
        mark(label.as_str(), true);
    }
    for label in now.labels.difference(&then.labels) {
        mark(label.as_str(), false);
    }
    difference
}

/// Groups messages, by position in the list, by the difference from their earlier state; returns
/// the positions without one separately.
pub(super) fn grouped(
    messages: &[MailState],
    then: &[MailState],
) -> (BTreeMap<LabelDifference, Vec<usize>>, Vec<usize>) {
    let expected: BTreeMap<&MessageId, &MailState> =
        then.iter().map(|one| (&one.id, one)).collect();
    let mut groups: BTreeMap<LabelDifference, Vec<usize>> = BTreeMap::new();
    let mut unknown = Vec::new();
    for (at, now) in messages.iter().enumerate() {
        match expected.get(&now.id) {
            Some(then) => groups.entry(between(now, then)).or_default().push(at),
            None => unknown.push(at),
        }
    }
    (groups, unknown)
}
