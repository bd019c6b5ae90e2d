//! The scopes requested from Microsoft: delegated permissions of Microsoft Graph by their short
//! names, and `offline_access` for a refresh token.

use daysheet_core::access::AccessLevel;

/// Returns the scopes that a sign-in requests. `shared` is for a mailbox of another person; no
/// permission opens the settings of such a mailbox.
pub(crate) fn scopes(shared: bool, access: AccessLevel) -> Vec<&'static str> {
    let writes = access > AccessLevel::Read;
    let pick = |read: &'static str, write: &'static str| if writes { write } else { read };
    let mut scopes = vec![
        "offline_access",
        "User.Read",
        "People.Read",
        pick("Mail.Read", "Mail.ReadWrite"),
        pick("Contacts.Read", "Contacts.ReadWrite"),
        pick("MailboxSettings.Read", "MailboxSettings.ReadWrite"),
    ];
    if shared {
        scopes.push(pick("Mail.Read.Shared", "Mail.ReadWrite.Shared"));
        scopes.push(pick("Calendars.Read.Shared", "Calendars.ReadWrite.Shared"));
    } else {
        scopes.push(pick("Calendars.Read", "Calendars.ReadWrite"));
    }
    if access >= AccessLevel::Send {
        scopes.push("Mail.Send");
        if shared {
            scopes.push("Mail.Send.Shared");
        }
    }
    scopes
}
