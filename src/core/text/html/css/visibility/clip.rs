//! Clipping of text: boxes that cut off their content.

use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::super::values::value::NumberKind;
use crate::text::visibility::{FLAT, PIXEL};

/// Height of a line, or width of a column, up to which no text is seen, in pixels.
pub const SLIVER: f32 = (FLAT / PIXEL) as f32;
/// Maximum and minimum width of a character, in font sizes.
pub const WIDE: f32 = 0.7;
pub const NARROW: f32 = 0.2;

/// A box that cuts off overflowing content.
#[derive(Debug)]
pub struct ClipBox {
    pub outer: Option<usize>,
    pub x: f32,
    pub y: f32,
    /// The distance at which content outside is still seen: left, right, top and bottom, in pixels.
    pub padding: [f32; 4],
    pub width: Option<f32>,
    pub height: Option<f32>,
    /// True if its width or height is set, and not that of its parent or content.
    pub is_sized: bool,
    /// True if the rest can be reached by scrolling.
    pub scrolls: bool,
    /// The height used so far, about.
    pub used: f32,
    /// Lower bound of the width used so far in the current line.
    pub run: f32,
}

/// The position and the maximum size of a text, in pixels.
#[derive(Debug, Clone, Copy)]
pub struct TextExtent {
    /// Its horizontal displacement.
    pub x: f32,
    /// Its vertical displacement.
    pub y: f32,
    /// Maximum width.
    pub reach: f32,
    /// Maximum height.
    pub tall: f32,
}

/// All boxes that clip their content, and the lines of blocks.
#[derive(Debug, Default)]
pub struct ClipBoxes {
    pub clips: Vec<ClipBox>,
    /// For each block, true if its first line has ended.
    pub broken: Vec<bool>,
    /// Upper bound of the height of the content before the current position on the page.
    pub flow: f32,
}

impl ClipBox {
    /// Returns true if a text at this position is outside, regardless of the content before it.
    pub fn hides(
        &self,
        TextExtent { x, y, reach, tall }: TextExtent,
        style: &ComputedStyle,
    ) -> bool {
        let [left, right, top, bottom] = self.padding;
        let (x, y) = (x - self.x, y - self.y);
        let is_gone = |extent: Option<f32>, after: f32, at: f32, least: f32| {
            extent.is_some_and(|extent| {
                // A box that scrolls hides only if it has no room at all.
                extent + after - at <= least && (!self.scrolls || extent + after <= least)
            })
        };
        // Text is in the middle of its line, and glyphs begin below its top.
        let line = style.size(P::LineHeight).map(|line| match line.kind {
            NumberKind::Number => line.n * style.font,
            _ => line.px(style.font),
        });
        let lead = line.map_or(0.0, |line| (line - style.font * 1.5).max(0.0) / 2.0);
        let least = if is_tight(style) { SLIVER } else { SLIVER.max(style.font * 0.2) };
        is_gone(self.width, right, x, SLIVER)
            || is_gone(self.height, bottom, y + lead, least)
            || self.height.is_some() && y + tall <= -top
            || self.width.is_some() && x + reach <= -left
    }

    /// Returns true if it may cut off a text of the minimum width `wide`, depending on the content
    /// before it and on its lines.
    pub fn may_cut(&self, wide: f32, style: &ComputedStyle) -> bool {
        // A box whose content can be scrolled shows all of it.
        if self.scrolls {
            return false;
        }
        let [left, right, top, bottom] = self.padding;
        let is_unwrapped = matches!(style.keyword(P::WhiteSpace), Some("nowrap" | "pre"));
        // Lines without height, in a box that is as high as its lines.
        let is_flat = style.size(P::LineHeight).is_some_and(|size| size.n + size.part == 0.0);
        self.height.is_some_and(|height| self.used + style.font * 0.5 >= height + bottom)
            // With `box-sizing: border-box`, the padding takes all of the height.
            || self.height.is_some_and(|height| height > SLIVER && height <= top + bottom)
            || self.width.is_some_and(|width| width > SLIVER && width <= left + right)
            || is_unwrapped && self.width.is_some_and(|width| wide.max(self.run) >= width + right)
            || self.height.is_none() && is_flat && self.used == 0.0
    }
}

/// Returns true if lines are close enough to take no room.
fn is_tight(style: &ComputedStyle) -> bool {
    style.size(P::LineHeight).is_some_and(|size| match size.kind {
        NumberKind::Number => size.n < 1.0,
        _ => size.px(style.font) < style.font,
    })
}
