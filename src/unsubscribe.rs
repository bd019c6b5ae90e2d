//! Leaving mailing lists: the ways that messages offer, and the one-click request.
//!
//! The user decides whether to leave a list; the pipeline asks.

pub mod post;

pub use daysheet_core::text::unsubscribe::{UnsubscribeMessage, UnsubscribeWay, way};
