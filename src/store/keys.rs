//! The keys that seal secrets: master keys, and the owners' data keys, which master keys seal.
//!
//! `own.rs` keeps Daysheet's own master keys, with `keychain.rs` for the system's keychain, and
//! `master.rs` combines all sources of master keys. `data.rs` has the data keys, and `rotation.rs`
//! replaces both. `master_key.rs` and `data_key.rs` have their types.

mod data;
pub(super) mod data_key;
mod keychain;
mod master;
pub(super) mod master_key;
mod own;
pub(super) mod rotation;
