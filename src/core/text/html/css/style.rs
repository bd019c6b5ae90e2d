//! The style of an element: which declarations hold for it, those of attributes among them,
//! and what they come to.

mod attribute;
pub mod cascade;
pub mod computed;
mod custom;
