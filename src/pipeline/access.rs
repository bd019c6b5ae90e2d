//! Access control: accounts and their sign-in, the audience that a write may reach, and
//! the log of all writes.

pub(super) mod accounts;
pub(super) mod erasure;
pub(super) mod sign_in;
pub(crate) mod sign_ins;
pub(super) mod taint;
pub(super) mod untrusted;
