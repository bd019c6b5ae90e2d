//! The scopes of Microsoft's sign-in: Graph's permissions.
//!
//! A permission is named in short (`Mail.Read`) or in full, and in any case;
//! grants are returned in the service's spelling and the form requested
//! by the client. `.default` stands for all that the app was registered for: here, for every
//! permission, or for what was granted before.

use super::error::EntraError;

/// What a permission's name begins with in full.
const GRAPH: &str = "https://graph.microsoft.com/";

/// What stands for all permissions of an app.
const DEFAULT: &str = ".default";

/// The scopes of OpenID Connect, which are named in short alone.
const OPENID: [&str; 3] = ["openid", "profile", "email"];

/// The permissions the sandbox can grant, in Graph's spelling.
const PERMISSIONS: [&str; 20] = [
    "User.Read",
    "Mail.Read",
    "Mail.Read.Shared",
    "Mail.ReadWrite",
    "Mail.ReadWrite.Shared",
    "Mail.Send",
    "Mail.Send.Shared",
    "MailboxSettings.Read",
    "MailboxSettings.ReadWrite",
    "Contacts.Read",
    "Contacts.Read.Shared",
    "Contacts.ReadWrite",
    "Contacts.ReadWrite.Shared",
    "People.Read",
    "Calendars.Read",
    "Calendars.Read.Shared",
    "Calendars.ReadWrite",
    "Calendars.ReadWrite.Shared",
    "Place.Read.All",
    "Tasks.ReadWrite",
];

/// Scopes that were read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedScopes {
    /// The scopes granted and reported, separated by spaces.
    pub granted: String,
    /// True when a refresh token was requested.
    pub offline: bool,
}

/// Reads a `scope` parameter.
pub(super) fn read(text: &str) -> Result<ParsedScopes, EntraError> {
    let mut granted: Vec<String> = Vec::new();
    let mut offline = false;
    for scope in text.split_ascii_whitespace() {
        if scope.eq_ignore_ascii_case("offline_access") {
            offline = true;
            continue;
        }
        let known = match short(scope) {
            DEFAULT => PERMISSIONS.map(str::to_owned).to_vec(),
            _ => vec![canonical_scope(scope).ok_or_else(|| EntraError::unknown_scope(scope))?],
        };
        for scope in known {
            if !granted.contains(&scope) {
                granted.push(scope);
            }
        }
    }
    if granted.is_empty() && !offline {
        return Err(EntraError::missing("scope"));
    }
    Ok(ParsedScopes { granted: granted.join(" "), offline })
}

/// True when all that `requested` names was granted; what is unknown was not.
pub(super) fn covers(granted: &str, requested: &str) -> bool {
    requested
        .split_ascii_whitespace()
        .filter(|scope| !scope.eq_ignore_ascii_case("offline_access") && short(scope) != DEFAULT)
        .all(|scope| {
            let mut granted = granted.split(' ');
            granted.any(|granted| short(granted).eq_ignore_ascii_case(short(scope)))
        })
}

/// The granted scopes as the service reports them: with the `.default` that was requested.
pub(super) fn reported(granted: &str, requested: &str) -> String {
    let default = requested.split_ascii_whitespace().find(|scope| short(scope) == DEFAULT);
    [granted].into_iter().chain(default).collect::<Vec<_>>().join(" ")
}

/// A scope in the service's spelling.
fn canonical_scope(scope: &str) -> Option<String> {
    let spelt = |names: &[&'static str], requested: &str| {
        let mut names = names.iter();
        names.find(|name| name.eq_ignore_ascii_case(requested)).copied()
    };
    let name = short(scope);
    if name.len() == scope.len() {
        spelt(&PERMISSIONS, name).or(spelt(&OPENID, name)).map(str::to_owned)
    } else {
        spelt(&PERMISSIONS, name).map(|name| format!("{GRAPH}{name}"))
    }
}

/// A permission without Graph's address.
fn short(scope: &str) -> &str {
    match scope.split_at_checked(GRAPH.len()) {
        Some((address, name)) if address.eq_ignore_ascii_case(GRAPH) => name,
        _ => scope,
    }
}
