//! A call while it runs: who made it, how far it has come, and how long a write in
//! doubt is looked for.

pub mod caller;
pub mod course;
pub mod doubt;
