//! The scopes of Microsoft's sign-in: Graph's permissions.
//!
//! A permission may be given in its short form (`Mail.Read`) or as a URI, in any case. It is
//! reported in Graph's spelling and in the form requested. `.default` means all permissions that
//! the app is registered for: here all permissions, or those granted before.

use super::error::EntraError;

/// The prefix of a permission's URI.
const GRAPH: &str = "https://graph.microsoft.com/";

/// The scope for all permissions of an app.
const DEFAULT: &str = ".default";

/// The scopes of OpenID Connect, which have no URI.
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

/// The result of reading a `scope` parameter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedScopes {
    /// The scopes granted and reported, separated by spaces.
    pub granted: String,
    /// True if a refresh token was requested.
    pub offline: bool,
}

/// Reads a `scope` parameter.
pub(super) fn read(text: &str) -> Result<ParsedScopes, EntraError> {
    let mut granted: Vec<String> = Vec::new();
    let mut offline = false;
    for scope in text.split_ascii_whitespace() {
        // Entra never lists it among the granted scopes; the refresh token itself is the answer.
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

/// Returns true if all scopes in `requested` were granted. Unknown scopes were not.
pub(super) fn covers(granted: &str, requested: &str) -> bool {
    requested
        .split_ascii_whitespace()
        // Neither of the two is ever among the granted scopes: `.default` asks for those that are.
        .filter(|scope| !scope.eq_ignore_ascii_case("offline_access") && short(scope) != DEFAULT)
        .all(|scope| {
            let mut granted = granted.split(' ');
            granted.any(|granted| short(granted).eq_ignore_ascii_case(short(scope)))
        })
}

/// Returns the granted scopes as Entra reports them: with the `.default` that was requested.
pub(super) fn reported(granted: &str, requested: &str) -> String {
    let default = requested.split_ascii_whitespace().find(|scope| short(scope) == DEFAULT);
    [granted].into_iter().chain(default).collect::<Vec<_>>().join(" ")
}

/// Returns a scope in Entra's spelling; `None` if it is unknown.
fn canonical_scope(scope: &str) -> Option<String> {
    let spelt = |names: &[&'static str], requested: &str| {
        let mut names = names.iter();
        names.find(|name| name.eq_ignore_ascii_case(requested)).copied()
    };
    let name = short(scope);
    // The scopes of OpenID Connect exist only in their short form.
    if name.len() == scope.len() {
        spelt(&PERMISSIONS, name).or(spelt(&OPENID, name)).map(str::to_owned)
    } else {
        spelt(&PERMISSIONS, name).map(|name| format!("{GRAPH}{name}"))
    }
}

/// Returns a permission without Graph's prefix.
fn short(scope: &str) -> &str {
    match scope.split_at_checked(GRAPH.len()) {
        Some((address, name)) if address.eq_ignore_ascii_case(GRAPH) => name,
        _ => scope,
    }
}
