//! A running call: its caller, its progress, and how long a write in doubt is looked for.

pub mod caller;
pub mod course;
pub mod doubt;
