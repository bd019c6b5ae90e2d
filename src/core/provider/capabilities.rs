//! Features that differ between the providers.
//!
//! The pipeline reads these instead of asking which provider it has, so a new provider needs no
//! new branch in the pipeline. The implementation of each feature is in the adapter.

/// The features that a mailbox supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailCapabilities {
    /// The service's name, as users know it.
    pub name: &'static str,
    /// True if a draft can be sent at a later time.
    pub scheduled_send: bool,
    /// True if signatures can be read and set; if false, Daysheet stores one itself.
    pub signatures: bool,
    /// True if rules have names.
    pub rule_names: bool,
    /// True if a flag can have a due time and be marked as done.
    pub task_flags: bool,
    /// True if filing a message as spam also reports it, so that the service learns from it.
    pub spam_reports: bool,
    /// True if an automatic reply has a subject.
    pub reply_subjects: bool,
    /// Folders that are system labels, each with its id. The archive's id is empty, because a
    /// message is archived if it has none of the other labels. Empty if every message is in
    /// exactly one folder.
    pub system_labels: &'static [(&'static str, &'static str)],
}

impl MailCapabilities {
    /// Returns true if messages have any number of labels instead of one folder. Deleting a label
    /// deletes no message.
    pub const fn has_labels(&self) -> bool {
        !self.system_labels.is_empty()
    }

    /// Returns the id of the system label for a folder's well-known word.
    pub fn system_label(&self, word: &str) -> Option<&'static str> {
        self.system_labels.iter().find(|(known, _)| *known == word).map(|(_, id)| *id)
    }
}

/// The features that calendars support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarCapabilities {
    /// The service's name, as users know it.
    pub name: &'static str,
    /// The maximum number of guests of one event.
    pub max_guests: usize,
    /// The maximum time between a reminder and the start, in minutes.
    pub max_reminder: Option<u32>,
    /// The number of characters of a description that lists include; `None` if they include all.
    pub preview: Option<usize>,
    /// True if an event can have categories; if false, it has one of a fixed set of colours.
    pub categories: bool,
    /// True if focus time exists. Like out of office and elsewhere, it is an event type with
    /// rules of its own, which imports never create.
    pub event_kinds: bool,
    /// True if an event with another organizer can be added to a calendar, with its guests and
    /// without inviting anyone.
    pub foreign_meetings: bool,
    /// True if a new event can be created with a given UID.
    pub sets_uid: bool,
    /// True if the cancellation of a whole meeting can carry a message.
    pub cancel_message: bool,
    /// True if the organizer sees an answer even when it is not notified, and all guests see its
    /// comment.
    pub public_answers: bool,
    /// True if forwarding an invitation adds guests, which notifies every guest and carries no
    /// comment.
    pub forward_adds_guests: bool,
}
