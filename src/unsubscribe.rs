//! Leaving mailing lists: the ways that messages name, and the request of one click.
//!
//! Whether a way is used is the user's decision, which the pipeline requests.

pub mod post;

pub use daysheet_core::text::unsubscribe::{UnsubscribeMessage, UnsubscribeWay, way};
