//! Values: the properties that may hide text, and the grammar of their values.

pub mod color;
mod function;
pub mod grammar;
pub mod other;
pub mod property;
pub mod value;
