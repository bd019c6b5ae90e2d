//! What an answer costs a model, and what to show for that.
//!
//! [`count`] counts real tokens; [`value`] says what an item is worth;
//! [`plan`] is the one allocator, which chooses what is shown, how fully, and
//! what is left over; [`window`] chooses the lines of a long text.

pub mod count;
pub mod plan;
pub mod value;
pub mod window;
