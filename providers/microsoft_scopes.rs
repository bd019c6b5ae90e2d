//! The scopes that Microsoft is asked for: delegated permissions of Microsoft
//! Graph by their short names, and `offline_access` for a refresh token.

/// For the mailbox of whoever signs in.
pub(super) const OWN: &[&str] = &[
    "offline_access",
    "User.Read",
    "Mail.Read",
    "People.Read",
    "Contacts.Read",
    "MailboxSettings.Read",
    "Calendars.ReadWrite",
];

/// For a mailbox that is shared with whoever signs in.
pub(super) const SHARED: &[&str] = &[
    "offline_access",
    "User.Read",
    "Mail.Read",
    "Mail.Read.Shared",
    "People.Read",
    "Contacts.Read",
    "MailboxSettings.Read",
    "Calendars.ReadWrite.Shared",
];
