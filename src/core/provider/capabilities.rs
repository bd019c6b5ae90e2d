//! What one provider supports and another does not.
//!
//! The pipeline reads these instead of asking which provider it is, so that a new provider needs
//! no new branch there. How a provider does something is up to its adapter.

/// The features that a mailbox supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailCapabilities {
    /// The service's name, as users know it.
    pub name: &'static str,
    /// A draft can be sent at a later time.
    pub scheduled_send: bool,
    /// Signatures can be read and set; otherwise Daysheet stores one itself.
    pub signatures: bool,
    /// Rules have names.
    pub rule_names: bool,
    /// A flag can have a due time and be marked as done.
    pub task_flags: bool,
    /// A message that is filed as spam is also reported: the service learns from it.
    pub spam_reports: bool,
    /// An automatic reply has a subject.
    pub reply_subjects: bool,
    /// Folders that are system labels, each with its id. The archive's id is empty,
    /// because a message is archived if it has none of the others. Empty where every
    /// message is in one folder.
    pub system_labels: &'static [(&'static str, &'static str)],
}

impl MailCapabilities {
    /// Returns true if messages are under any number of labels instead of in one
    /// folder. Deleting a label deletes no message.
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
    /// The most guests of one event.
    pub max_guests: usize,
    /// The longest time before the start that a reminder can have, in minutes.
    pub max_reminder: Option<u32>,
    /// The number of characters of a description that lists include; `None` for all.
    pub preview: Option<usize>,
    /// An event can have categories; otherwise it has one of some colours.
    pub categories: bool,
    /// Focus time exists. Like out of office and elsewhere it is an event type with
    /// rules of its own, which imports never create.
    pub event_kinds: bool,
    /// An event with another organizer can be put into a calendar, with its guests and
    /// without inviting anyone.
    pub foreign_meetings: bool,
    /// A new event can be created with a given UID.
    pub sets_uid: bool,
    /// A message can go out with the cancellation of a whole meeting.
    pub cancel_message: bool,
    /// The organizer sees an answer even if nobody is notified, and all guests see its comment.
    pub public_answers: bool,
    /// To forward an invitation is to add guests, of which everybody is notified.
    pub forward_adds_guests: bool,
}
