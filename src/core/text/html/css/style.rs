//! The style of an element: the declarations that apply to it, including presentational attributes,
//! and their computed values.

mod attribute;
pub mod cascade;
pub mod computed;
