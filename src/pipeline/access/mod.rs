//! Who may do what: accounts and their sign-ins, whom a write may reach, and the
//! log of what was written.

pub(super) mod audit;
pub(super) mod guard;
pub(super) mod sign_in;
pub(super) mod whose;
