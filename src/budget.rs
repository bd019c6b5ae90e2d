//! What an answer costs a model.
//!
//! Today this is counting alone; nothing is fitted to a budget yet.

pub mod count;
