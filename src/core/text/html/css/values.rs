//! Values: the properties that may hide text, and what they are set to.

mod boxes;
pub mod color;
mod function;
pub mod grammar;
pub mod property;
pub mod value;
