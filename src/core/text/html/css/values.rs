//! Values: the properties that may hide text, and the grammar of their values.

mod boxes;
pub mod color;
mod function;
pub mod grammar;
pub mod property;
mod single;
pub mod value;
