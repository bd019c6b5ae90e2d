//! Clipping of text: boxes that cut off their content, and lower bounds of the room used in them.

use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::super::values::value::NumberKind;
use super::geometry::GridTracks;

/// Height of a line, or width of a column, up to which no text is seen, in pixels.
const SLIVER: f32 = 2.0;
/// Maximum and minimum width of a character, in font sizes.
pub const WIDE: f32 = 0.7;
pub const NARROW: f32 = 0.2;
/// Usual width of a character, in font sizes.
pub const COMMON: f32 = 0.45;

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
    /// True if the rest can be reached by scrolling.
    pub scrolls: bool,
    /// Lower bound of the height used so far.
    pub used: f32,
    /// Lower bound of the width used so far in the current line.
    pub run: f32,
    /// Maximum number of lines shown (`line-clamp`).
    pub lines: Option<f32>,
    pub breaks: f32,
    /// Lower bound of the area used so far, if overflowing content continues in further lines or
    /// columns.
    pub area: Option<f32>,
    /// True if it is exactly as high as its lines.
    pub fitted: bool,
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
    pub grids: Vec<GridTracks>,
    /// The width of each line of flexible boxes, and the part taken by boxes with a definite width.
    pub rows: Vec<(f32, f32)>,
    /// For each block, true if its first line has ended.
    pub broken: Vec<bool>,
    /// Upper bound of the height of the content before the current position on the page.
    pub flow: f32,
}

impl ClipBoxes {
    /// Returns the height used in a clip; 0 without one.
    pub fn used(&self, clip: Option<usize>) -> f32 {
        clip.and_then(|at| self.clips.get(at)).map_or(0.0, |clip| clip.used)
    }
}

impl ClipBox {
    /// Returns true if it surely cuts off the end of a line whose width is at most `wide`.
    pub fn cuts(&self, wide: f32, style: &ComputedStyle) -> bool {
        let wide = wide * NARROW / WIDE;
        is_unwrapped(style) && !self.scrolls && self.width.is_some_and(|width| wide > width)
    }

    /// Returns true if a text with at most this area may be in a line or column outside.
    pub fn overflows(&self, area: f32) -> bool {
        let area = area * COMMON / WIDE;
        let room = self.width.zip(self.height).map(|(width, height)| width * height);
        !self.scrolls && self.area.zip(room).is_some_and(|(used, room)| used + area > room)
    }

    /// Returns true if it surely hides a text at this position.
    pub fn hides(
        &self,
        TextExtent { x, y, reach, tall }: TextExtent,
        style: &ComputedStyle,
        flows: bool,
    ) -> bool {
        let [left, right, top, bottom] = self.padding;
        let used = if flows { self.used } else { 0.0 };
        let (x, y) = (x - self.x, y - self.y + used);
        let gone = |extent: Option<f32>, after: f32, at: f32, least: f32| {
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
        if gone(self.width, right, x, SLIVER) || gone(self.height, bottom, y + lead, least) {
            return true;
        }
        if self.height.is_some() && y + tall <= -top || self.width.is_some() && x + reach <= -left {
            return true;
        }
        let run = flows && is_unwrapped(style) && !self.scrolls;
        run && self.width.is_some_and(|width| self.run >= width + right)
            || flows && self.lines.is_some_and(|lines| self.breaks >= lines)
    }
}

/// Returns true if lines of text are not broken at the width of their box.
fn is_unwrapped(style: &ComputedStyle) -> bool {
    style.keyword(P::WhiteSpace).is_some_and(|word| matches!(word, "nowrap" | "pre"))
}

/// Returns true if lines are close enough to take no room.
pub fn is_tight(style: &ComputedStyle) -> bool {
    style.size(P::LineHeight).is_some_and(|size| match size.kind {
        NumberKind::Number => size.n < 1.0,
        _ => size.px(style.font) < style.font,
    })
}

/// Returns how far a piece of a line is raised, in pixels; negative if it is lowered.
pub fn raised(style: &ComputedStyle) -> f32 {
    style.px(P::VerticalAlign, Some(style.font * 1.2)).unwrap_or_default()
}
