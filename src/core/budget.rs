//! Token counting, and fitting answers to a budget.
//!
//! [`response`] is a complete response as its tool produced it; [`fit`] writes the part that
//! fits. To do so, [`count`] counts real tokens, [`value`] rates the items, [`plan`] is the one
//! allocator, which chooses the items to show, their level and the leftovers, and [`window`]
//! chooses the lines of a long text.

pub mod count;
pub mod fit;
pub mod plan;
pub mod response;
pub mod value;
pub mod window;

pub use response::{AnswerItem, LongText, RowLegend, WholeAnswer};
