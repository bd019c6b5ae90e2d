//! Separation of new text from quoted text.
//!
//! A reply carries the whole thread below it. [`split`] separates the new text from quotes and from
//! the parts below a text. [`fold`](fold()) shows the parts.

mod fold;
mod foot;
mod marks;
mod parts;
mod phrases;

pub use fold::fold;
pub(super) use parts::introduces;
pub use parts::{QuoteParts, split, split_quoted};
