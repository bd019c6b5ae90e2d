//! Bounds of a box: its position, size and clips, without layout.
//!
//! Two facts are known of a position: the displacement from its place in the flow, and a minimum of
//! the room that the content before it takes. Text is hidden if these alone put it out of sight. If
//! they only may, it is in doubt.

use super::super::sheets::media::SCREEN;

/// Offset to the left or top from which text may be out of sight, in pixels.
pub const FAR: f32 = -300.0;
/// The same for a box placed from the top of the page, which has no content above.
pub const ABOVE: f32 = -100.0;

/// The position of an element.
#[derive(Debug, Clone)]
pub struct ElementBounds {
    /// True if it consists of lines and has no box.
    pub inline: bool,
    /// True if content that it cuts off can be reached by scrolling the page.
    pub(super) is_page: bool,
    /// True for `display: contents`.
    pub contents: bool,
    pub positioned: bool,
    /// True if it is painted over the content before it.
    pub rises: bool,
    /// Its width and height in pixels, if definite.
    pub width: Option<f32>,
    pub height: Option<f32>,
    /// The width and height that are set on it.
    pub(super) own: (Option<f32>, Option<f32>),
    /// Its horizontal displacement, in pixels.
    pub(super) x: f32,
    /// Its vertical displacement, in pixels.
    pub(super) y: f32,
    /// Maximum width of its text, if it was moved far.
    pub(super) reach: Option<f32>,
    /// True if it is placed from the corner of the page instead of its position in the flow.
    pub(super) lifted: bool,
    /// True if it is placed from the window, by `position: fixed`.
    pub(super) fixed: bool,
    /// True in a box from which fixed boxes are placed.
    pub(super) holds_fixed: bool,
    /// True in a track without height.
    pub(super) flat: bool,
    /// True in a table with a width.
    pub(super) wide_table: bool,
    /// True in a table with a fixed layout.
    pub(super) fixed_table: bool,
    /// True in a table cell or flexible box that may have no width.
    pub(super) squeezed: bool,
    /// The clip around a float.
    pub(super) floats_in: Option<usize>,
    /// The origin of boxes placed in it, and true if that is the page's.
    pub(super) base: (f32, f32, bool),
    /// The clip of its content.
    pub(super) clip: Option<usize>,
    /// The clip of boxes placed within it.
    pub(super) clip_placed: Option<usize>,
    /// True if the content before it in the clip pushes it down.
    pub(super) flows: bool,
    /// True if boxes in it are below each other.
    pub(super) stacks: bool,
    /// The flexible axis of its content, if any: true for the width.
    pub(super) flexes: Option<bool>,
    /// The grid of its items, if some tracks have no size.
    pub(super) grid: Option<usize>,
    /// The flexible line of its items.
    pub(super) row: Option<usize>,
    /// The height used in the surrounding clip where it begins.
    pub(super) before: f32,
    /// The height used where its content begins.
    pub(super) start: f32,
    /// True if margins above its content may still collapse.
    pub(super) room_above: bool,
    /// The clip in which the room above its text is recorded.
    pub(super) around: Option<usize>,
    /// The block whose first line is indented.
    pub(super) block: usize,
    /// The indent of that line, in pixels.
    pub(super) indent: f32,
}

impl ElementBounds {
    /// Returns the bounds of the page.
    pub fn page() -> Self {
        Self {
            inline: false,
            is_page: true,
            contents: false,
            positioned: false,
            rises: false,
            width: Some(SCREEN.0 - 16.0),
            height: None,
            own: (None, None),
            x: 0.0,
            y: 0.0,
            reach: None,
            lifted: false,
            fixed: false,
            holds_fixed: false,
            flat: false,
            wide_table: false,
            fixed_table: false,
            squeezed: false,
            floats_in: None,
            base: (0.0, 0.0, true),
            clip: None,
            clip_placed: None,
            flows: true,
            stacks: true,
            flexes: None,
            grid: None,
            row: None,
            before: 0.0,
            start: 0.0,
            room_above: false,
            around: None,
            block: 0,
            indent: 0.0,
        }
    }

    /// Returns the width and height that are set on the box.
    pub fn size(&self) -> (Option<f32>, Option<f32>) {
        self.own
    }

    /// Returns its displacement relative to another box.
    pub fn from(&self, other: &Self) -> (f32, f32) {
        (self.x - other.x, self.y - other.y)
    }

    /// Moves the box, and the origin of boxes placed in it.
    pub fn shift(&mut self, x: f32, y: f32) {
        self.x += x;
        self.y += y;
        self.base.0 += x;
        self.base.1 += y;
        if self.base.2 {
            // A transformed box is the origin of boxes placed in it.
            self.base = (self.x, self.y, false);
        }
    }
}
