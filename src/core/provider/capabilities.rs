//! What one provider can do and another cannot.
//!
//! The pipeline asks these instead of asking who the provider is, so that a
//! further provider needs no further arm there. How a provider does something
//! is its adapter's business.

/// What a mailbox can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailCapabilities {
    /// What people call the service.
    pub name: &'static str,
    /// A draft can be sent at a later time.
    pub scheduled_send: bool,
    /// Signatures can be read and set; otherwise Daysheet stores one itself.
    pub signatures: bool,
    /// A flag can have a due time and be marked as done.
    pub task_flags: bool,
    /// Folders that are labels of the provider's own, each with its id; the id
    /// of the archive is empty, because it is what has no such label. Empty where
    /// every message is in one folder.
    pub system_labels: &'static [(&'static str, &'static str)],
}

impl MailCapabilities {
    /// Returns true if messages are under any number of labels instead of in one
    /// folder. Deleting a label deletes no message.
    pub const fn has_labels(&self) -> bool {
        !self.system_labels.is_empty()
    }

    /// Returns the id of the label that stands for a folder, by the folder's word.
    pub fn system_label(&self, word: &str) -> Option<&'static str> {
        self.system_labels.iter().find(|(known, _)| *known == word).map(|(_, id)| *id)
    }
}

/// What calendars can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarCapabilities {
    /// What people call the service.
    pub name: &'static str,
    /// The most guests of one event.
    pub max_guests: usize,
    /// The longest time before the start that a reminder can have, in minutes.
    pub max_reminder: Option<u32>,
    /// How many characters of a description lists have; all of them when `None`.
    pub preview: Option<usize>,
    /// Descriptions are HTML, and end with how to join the online meeting.
    pub html_notes: bool,
    /// An event can have categories; otherwise it has one of some colours.
    pub categories: bool,
    /// Focus time exists; like out of office and elsewhere it is a kind of event
    /// with rules of its own, which no import makes.
    pub event_kinds: bool,
    /// A meeting that somebody else organizes can be put into a calendar, with its
    /// guests and without inviting anybody.
    pub foreign_meetings: bool,
    /// A new event can be given its UID.
    pub sets_uid: bool,
    /// A message can go out with the cancellation of a whole meeting.
    pub cancel_message: bool,
    /// The organizer sees an answer even if nobody is notified, and all guests see
    /// what is said with it.
    pub public_answers: bool,
    /// To forward an invitation is to add guests, of which everybody is notified.
    pub forward_adds_guests: bool,
}
