//! Microsoft: Outlook's mail and calendars, through Graph.

use daysheet_core::provider::{CalendarCapabilities, MailCapabilities};

mod batch;
mod bearer;
pub mod calendar;
mod client;
mod delta;
mod ids;
pub mod mail;
mod people;
mod response;
pub(super) mod scopes;

/// The features of Outlook's mail.
pub const MAIL: MailCapabilities = MailCapabilities {
    name: "Outlook",
    scheduled_send: true,
    // Graph does not expose signatures.
    signatures: false,
    rule_names: true,
    task_flags: true,
    // Only the beta version of Graph has `reportMessage`.
    spam_reports: false,
    reply_subjects: false,
    system_labels: &[],
};

/// The features of Outlook's calendars.
pub const CALENDAR: CalendarCapabilities = CalendarCapabilities {
    name: "Outlook",
    max_guests: 500,
    max_reminder: None,
    // The length of `bodyPreview`.
    preview: Some(255),
    categories: true,
    event_kinds: false,
    // The creator of a meeting is its organizer, and every guest is invited.
    foreign_meetings: false,
    sets_uid: false,
    cancel_message: true,
    public_answers: false,
    forward_adds_guests: false,
};
