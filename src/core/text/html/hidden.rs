//! Text that a reader of a message would not see, and text that is in doubt.

use std::collections::BTreeSet;

use crate::text::visibility::HidingMethod;

/// Text left out because a reader would not see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenText {
    /// Its characters, without white space.
    pub chars: usize,
    /// The part of `chars` that is preview text, which newsletters put first for lists of messages.
    pub preview: usize,
    /// The number of places with other hidden text.
    pub places: usize,
    /// True if it reads like an order to an assistant.
    pub orders: bool,
}

impl HiddenText {
    /// Adds the hidden text of another part of the message.
    pub fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.preview += other.preview;
        self.places += other.places;
        self.orders |= other.orders;
    }
}

/// Text that is shown although a reader may not see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoubtfulText {
    /// Its characters, without white space.
    pub chars: usize,
    /// The methods that may hide it.
    pub why: BTreeSet<HidingMethod>,
    /// True if the style sheets were not computed completely, so that any text may be hidden.
    pub incomplete: bool,
}

impl DoubtfulText {
    /// Returns true if no text is in doubt.
    pub fn is_empty(&self) -> bool {
        self.chars == 0 && !self.incomplete
    }

    /// Adds the text in doubt of another part of the message.
    pub fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.why.extend(&other.why);
        self.incomplete |= other.incomplete;
    }
}
