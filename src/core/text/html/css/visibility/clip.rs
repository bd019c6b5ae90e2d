//! What cuts off text: boxes with an end, and what is surely used up of them.

use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::super::values::value::NumberKind;
use super::geometry::GridTracks;

/// A part of a line, or a column, that shows nothing.
const SLIVER: f32 = 2.0;
/// A letter is no wider than this, in font sizes, and no narrower than the other.
pub const WIDE: f32 = 0.7;
pub const NARROW: f32 = 0.2;
/// Most are about as wide as this.
pub const COMMON: f32 = 0.45;

/// A box that cuts off what does not fit.
#[derive(Debug)]
pub struct ClipBox {
    pub outer: Option<usize>,
    pub x: f32,
    pub y: f32,
    /// How much is seen before and after the content, across and down.
    pub padding: [f32; 4],
    pub width: Option<f32>,
    pub height: Option<f32>,
    /// True if the rest can be had by scrolling.
    pub scrolls: bool,
    /// How much of the height is surely used.
    pub used: f32,
    /// How much of the line is surely used.
    pub run: f32,
    /// How many lines are shown.
    pub lines: Option<f32>,
    pub breaks: f32,
    /// How much of its area is surely used, where what does not fit stands in a line or column
    /// of its own.
    pub area: Option<f32>,
    /// True if it is as high as its lines, and no more.
    pub fitted: bool,
}

/// All boxes that cut something off, and the lines of blocks.
#[derive(Debug, Default)]
pub struct ClipBoxes {
    pub clips: Vec<ClipBox>,
    pub grids: Vec<GridTracks>,
    /// The width of each line of flexible boxes, and how much of it those take that say how
    /// wide they are.
    pub rows: Vec<(f32, f32)>,
    /// For each block, whether its first line has ended.
    pub broken: Vec<bool>,
    /// What is before a place on the page takes no more room than this.
    pub flow: f32,
}

impl ClipBox {
    /// Returns true if it surely cuts off the end of a line of this width at most.
    pub fn cuts(&self, wide: f32, look: &ComputedStyle) -> bool {
        let wide = wide * NARROW / WIDE;
        is_unwrapped(look) && !self.scrolls && self.width.is_some_and(|width| wide > width)
    }

    /// Returns true if a text as large as this at most may stand in a line or column outside.
    pub fn overflows(&self, area: f32) -> bool {
        let area = area * COMMON / WIDE;
        let room = self.width.zip(self.height).map(|(width, height)| width * height);
        !self.scrolls && self.area.zip(room).is_some_and(|(used, room)| used + area > room)
    }

    /// Returns true if it surely shows nothing of a text at a place.
    pub fn hides(
        &self,
        x: f32,
        y: f32,
        reach: f32,
        tall: f32,
        look: &ComputedStyle,
        flows: bool,
    ) -> bool {
        let [left, right, top, bottom] = self.padding;
        let used = if flows { self.used } else { 0.0 };
        let (x, y) = (x - self.x, y - self.y + used);
        let gone = |extent: Option<f32>, after: f32, at: f32, least: f32| {
            extent.is_some_and(|extent| {
                extent + after - at <= least && (!self.scrolls || extent + after <= least)
            })
        };
        // Text stands in the middle of its line, and glyphs begin below its top.
        let line = look.size(P::LineHeight).map(|line| match line.kind {
            NumberKind::Number => line.n * look.font,
            _ => line.px(look.font),
        });
        let lead = line.map_or(0.0, |line| (line - look.font * 1.5).max(0.0) / 2.0);
        let least = if is_tight(look) { SLIVER } else { SLIVER.max(look.font * 0.2) };
        if gone(self.width, right, x, SLIVER) || gone(self.height, bottom, y + lead, least) {
            return true;
        }
        if self.height.is_some() && y + tall <= -top || self.width.is_some() && x + reach <= -left {
            return true;
        }
        let run = flows && is_unwrapped(look) && !self.scrolls;
        run && self.width.is_some_and(|width| self.run >= width + right)
            || flows && self.lines.is_some_and(|lines| self.breaks >= lines)
    }
}

fn is_unwrapped(look: &ComputedStyle) -> bool {
    look.word(P::WhiteSpace).is_some_and(|word| matches!(word, "nowrap" | "pre"))
}

/// Returns true if lines stand so close that they take no room.
pub fn is_tight(look: &ComputedStyle) -> bool {
    look.size(P::LineHeight).is_some_and(|size| match size.kind {
        NumberKind::Number => size.n < 1.0,
        _ => size.px(look.font) < look.font,
    })
}
