//! What answers have in common: how they are made to fit, where they go on, what
//! they tell of writes, and what was shown.

pub(super) mod cursor;
pub(super) mod fit;
pub(super) mod outcome;
mod output;
pub(super) mod shown;
