//! What an answer costs a model, and how it is made to fit.
//!
//! [`draft`] is a whole answer as its tool has it; [`fit`] writes what of it
//! fits. For that [`count`] counts real tokens, [`value`] says what an item is
//! worth, [`plan`] is the one allocator, which chooses what is shown, how
//! fully, and what is left over, and [`window`] chooses the lines of a long
//! text.

pub mod count;
pub mod draft;
pub mod fit;
pub mod plan;
pub mod value;
pub mod window;

pub use draft::{Draft, Item, LongText};
