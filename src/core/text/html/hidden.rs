//! Text that a reader of a message would not see, and text that is in doubt.

use std::collections::BTreeSet;

/// Visibility of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CssVisibility {
    /// Seen.
    Shown,
    /// Not seen.
    Hidden,
    /// Seen, unless the reason applies.
    Doubt(HidingReason),
}

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
    /// Its characters, without white space; 0 if any text may be affected.
    pub chars: usize,
    /// The reasons why it may be hidden; empty if no text is in doubt.
    pub why: BTreeSet<HidingReason>,
}

impl DoubtfulText {
    /// Adds the text in doubt of another part of the message.
    pub fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.why.extend(&other.why);
    }
}

/// A reason why a text may be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HidingReason {
    /// On a picture or a gradient that may have the text's colour.
    Picture,
    /// Hardly darker or lighter than its ground.
    Pale,
    /// Very small.
    Small,
    /// Possibly covered by a box.
    Covered,
    /// Possibly moved out of sight.
    Moved,
    /// Possibly cut off.
    Clipped,
    /// Dependent on a style that is not computed.
    Script,
    /// In a message whose style sheets exceed a limit.
    Limit,
}

impl HidingReason {
    /// Returns the reason in words, as in "may be hidden (covered)".
    pub fn words(self) -> &'static str {
        match self {
            Self::Picture => "on a picture or gradient",
            Self::Pale => "pale",
            Self::Small => "very small",
            Self::Covered => "covered",
            Self::Moved => "moved away",
            Self::Clipped => "clipped",
            Self::Script => "by CSS that is not computed",
            Self::Limit => "too many style sheets",
        }
    }
}
