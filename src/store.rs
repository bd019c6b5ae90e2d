//! Data that must survive a restart: handles, cursors, digests of displayed events, the recipes of
//! long answers, the journal of sent messages, the earlier states of changed messages, signatures,
//! accounts with their encrypted tokens, a few settings of the state folder itself, and the audit
//! log next to it.
//!
//! One SQLite file, `daysheet.db` in the state folder, shared by every Daysheet process of the
//! user (a client starts one per window); or a database of PostgreSQL, shared by the instances
//! of a server. [`Store`] is a cheap handle; the database is created or opened at the first
//! query, so a process that makes none touches no disk.
//!
//! The statements are plain SQL with `$1` parameters, `ON CONFLICT` and integer or text
//! columns, so they run on both unchanged. The differences are in `engine.rs`: how a
//! connection is opened, how a writing transaction begins, and how a database's error is
//! explained. Every row has an owner, the person whose data it is: a [`Store`]
//! reads and writes the rows of one, and [`Store::for_owner`] gives another's.
//!
//! `database.rs` has [`Store`] itself, with its connections and locks. Each other file adds the
//! statements about its tables; the ones about all owners are in `maintenance.rs`.

pub mod accounts;
mod audit;
mod cipher;
mod cursors;
mod database;
mod engine;
mod files;
pub mod handles;
mod keys;
mod maintenance;
mod outputs;
mod person;
mod secrets;
mod seen;
pub mod sends;
mod settings;
mod tickets;
mod undos;
mod unfinished;
mod usage;

pub use accounts::AccountRow;
pub use accounts::unapproved::UnapprovedAddresses;
pub use audit::{AuditLine, AuditRecord};
pub use cipher::SealedText;
pub use database::{EVERYBODY, LOCAL, SERVER, Store};
pub use handles::HandleKind;
pub use keys::rotation::RotationOutcome;
pub use maintenance::check::{CheckFindings, StoreState};
pub use maintenance::transfer::TransferOutcome;
pub use outputs::OutputRecord;
pub use secrets::{account_identity, new_key};
pub use tickets::TicketKind;
pub use tickets::approvals::{APPROVAL_LASTS, ApprovalDecision, ApprovalId, WaitingWrite};
pub use unfinished::WritingCall;
pub use unfinished::lines::CutOff;
