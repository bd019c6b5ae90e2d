//! The state of a group of RTF, which ends with the group.

use daysheet_core::text::visibility::HidingMethod;
use encoding_rs::Encoding;

/// The destination of the text in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum GroupTarget {
    #[default]
    Body,
    /// Dropped, but a group within may be text, as in a shape.
    Skipped,
    /// Dropped, with all groups within.
    Never,
    Fonts,
    Colours,
    /// A tag of the HTML that the RTF was made from.
    Tag,
    Instruction,
    Comment,
    Author,
    /// The name and value of a property of a shape.
    Property,
    Value,
}

/// The character properties, which `\plain` resets.
#[derive(Debug, Clone, Default)]
pub(super) struct CharacterState {
    pub(super) font: i32,
    pub(super) page: Option<&'static Encoding>,
    pub(super) vanish: bool,
    pub(super) deleted: bool,
    pub(super) inserted: bool,
    /// The size in half points; `None` means 12 points.
    pub(super) size: Option<i32>,
    /// The distance of the text above its line, in half points.
    pub(super) raised: i32,
    /// The width of the glyphs in per cent.
    pub(super) width: Option<i32>,
    /// The space added between letters, in twentieths of a point.
    pub(super) spacing: i32,
    pub(super) colour: usize,
    /// The colour behind the characters.
    pub(super) behind: usize,
}

/// The state of a group, which ends with the group.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupState {
    pub(super) target: GroupTarget,
    /// The text that is added when the group ends.
    pub(super) after: &'static str,
    pub(super) characters: CharacterState,
    /// The number of characters to skip after a `\u`.
    pub(super) fallback: Option<usize>,
    pub(super) in_table: bool,
    /// The indent of lines, and of the first line relative to the others, in twentieths of a point.
    pub(super) left: i32,
    pub(super) first: i32,
    /// The left, upper, right and lower side of the shape, in twentieths of a point.
    pub(super) shape: [i32; 4],
    /// The way in which the shape hides its text.
    pub(super) unseen: Option<HidingMethod>,
    /// The colour behind the paragraph.
    pub(super) paragraph: usize,
    /// True within `\htmlrtf`: RTF that is not part of the HTML.
    pub(super) rtf_only: bool,
    /// The element that ends with this group, if one began here.
    pub(super) closes: Option<GroupClose>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum GroupClose {
    /// The number or bullet of a list item, and its position in the text.
    Label(usize),
    Comment,
    Author,
    Field,
    Value,
}
