//! What an administrator may demand of those who sign in at Microsoft. What is
//! refused for it is in `error.rs`.

/// What the administrator of the Microsoft tenant demands of who signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EntraPolicy {
    /// Nothing.
    #[default]
    None,
    /// People may not consent for themselves: allowing comes back to the
    /// client as `access_denied`, AADSTS90094. Grants there are go on.
    AdminConsentRequired,
    /// Access from here is blocked: the token endpoint gives no tokens but
    /// `interaction_required`, AADSTS53003.
    ConditionalAccess,
    /// A second factor is due: the token endpoint gives no tokens but
    /// `interaction_required`, AADSTS50076.
    MfaRequired,
}
