//! Google: Gmail, Google Calendar and the People API.

use daysheet_core::provider::{CalendarCapabilities, MailCapabilities};

pub mod calendar;
pub(super) mod client;
pub mod mail;
mod people;
mod wire;

/// The features of Gmail.
pub const MAIL: MailCapabilities = MailCapabilities {
    name: "Gmail",
    // Gmail's own programs can schedule messages, but the API cannot.
    scheduled_send: false,
    signatures: true,
    rule_names: false,
    task_flags: false,
    spam_reports: true,
    reply_subjects: true,
    system_labels: &[("inbox", "INBOX"), ("spam", "SPAM"), ("trash", "TRASH"), ("archive", "")],
};

/// The features of Google Calendar.
pub const CALENDAR: CalendarCapabilities = CalendarCapabilities {
    name: "Google",
    max_guests: 200,
    max_reminder: Some(4 * 7 * 24 * 60),
    preview: None,
    categories: false,
    event_kinds: true,
    foreign_meetings: true,
    sets_uid: true,
    cancel_message: false,
    public_answers: true,
    forward_adds_guests: true,
};
