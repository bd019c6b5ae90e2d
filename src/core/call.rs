//! A running call: its caller, its progress, and how long a write in doubt is looked for.

pub mod client;
pub mod doubt;
pub mod progress;
