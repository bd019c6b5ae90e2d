//! Access control: accounts and their sign-in, the audience that a write may reach, and
//! the log of all writes.

pub(super) mod accounts;
pub(super) mod audit;
pub(in crate::pipeline) mod erasure;
pub(super) mod guard;
pub(super) mod sign_in;
pub(in crate::pipeline) mod sign_ins;
pub(in crate::pipeline) mod taint;
