//! A running call: its caller, its progress, and the lookup of writes in doubt.

pub mod client;
pub mod doubt;
pub mod progress;
