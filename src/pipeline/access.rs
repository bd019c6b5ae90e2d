//! Accounts, their sign-in and erasure, and the record of untrusted text that was shown.

pub(super) mod accounts;
pub(super) mod erasure;
pub(super) mod sign_in;
pub(crate) mod sign_ins;
pub(super) mod taint;
pub(super) mod untrusted;
