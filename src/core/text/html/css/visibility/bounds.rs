//! Bounds of a box: its position, size and clips, without layout.
//!
//! Of a position, only the displacement from its place in the flow is known. Text is hidden if that
//! alone puts it out of sight. If it only may, the text is in doubt.

use super::super::sheets::media::SCREEN;
use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::clip::{ClipBox, ClipBoxes, SLIVER, WIDE};
use crate::text::html::tree::{DomTree, NodeId};

/// Offset to the left or top from which text may be out of sight, in pixels.
pub const FAR: f32 = -300.0;
/// Offset to the left or top from which a part of a text may be out of sight, in pixels.
pub const NEAR: f32 = -40.0;
/// Offset to the top from which the extent of the content below is counted, in pixels.
const ABOVE: f32 = -100.0;

/// The position of an element.
#[derive(Debug, Clone)]
pub struct ElementBounds {
    /// True if it consists of lines and has no box.
    pub inline: bool,
    /// True if content that it cuts off can be reached by scrolling the page.
    is_page: bool,
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
    /// Its displacement, in pixels.
    pub(super) x: f32,
    pub(super) y: f32,
    /// Maximum width of its text, if it was moved far.
    pub(super) reach: Option<f32>,
    /// True if it is placed from the corner of the page instead of its position in the flow.
    pub(super) lifted: bool,
    /// True if it is placed from the window, by `position: fixed`.
    pub(super) fixed: bool,
    /// True in a transformed box, from which fixed boxes are placed.
    holds_fixed: bool,
    /// True in a table cell that may have no width.
    pub(super) squeezed: bool,
    /// The origin of boxes placed in it, and true if that is the page's.
    base: (f32, f32, bool),
    /// The clip of its content.
    pub(super) clip: Option<usize>,
    /// The clip of boxes placed within it.
    clip_placed: Option<usize>,
    /// The clip whose room it takes.
    pub(super) around: Option<usize>,
    /// The height used in that clip where its content begins.
    pub(super) start: f32,
    /// True if the content before it in the clip pushes it down.
    pub(super) flows: bool,
    /// True if boxes in it are below each other.
    stacks: bool,
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
            squeezed: false,
            base: (0.0, 0.0, true),
            clip: None,
            clip_placed: None,
            around: None,
            start: 0.0,
            flows: true,
            stacks: true,
            block: 0,
            indent: 0.0,
        }
    }

    /// Returns the bounds of an element within another.
    pub fn of(
        tree: &DomTree,
        id: NodeId,
        style: &ComputedStyle,
        outer: &Self,
        boxes: &mut ClipBoxes,
    ) -> Self {
        let display = style.keyword(P::Display).unwrap_or("inline");
        let position = style.keyword(P::Position).unwrap_or("static");
        let is_placed = style.is_lifted();
        let floats = style.keyword(P::Float).is_some_and(|word| word != "none");
        let contents = display == "contents";
        let mut bounds = Self {
            contents,
            inline: contents
                || matches!(display, "inline" | "ruby" | "ruby-text")
                    && !is_placed
                    && !floats
                    && (outer.stacks || outer.inline),
            positioned: false,
            rises: false,
            width: None,
            height: None,
            own: (None, None),
            around: None,
            ..outer.clone()
        };
        if bounds.contents {
            return bounds;
        }
        bounds.positioned = position != "static";
        if is_placed {
            bounds.lift(style, outer, position);
        } else {
            bounds.shift_in_flow(style, outer, position);
        }
        if !bounds.inline {
            let name = tree.name(id);
            // Content that the page cuts off can be reached by scrolling.
            bounds.is_page = name == "html" || name == "body" && outer.is_page;
            bounds.measure(style, outer, display, is_placed || floats, boxes);
            bounds.is_page &= style.keyword(P::OverflowX).is_none_or(|word| word == "visible");
        }
        let is_far = bounds.x - outer.x <= FAR / 3.0 || bounds.y - outer.y <= ABOVE;
        if bounds.reach.is_none() && is_far {
            // Counted once on a path at most, because it walks over everything below.
            let chars = tree.below(id).filter_map(|id| tree.text(id)).map(str::len).sum::<usize>();
            bounds.reach = Some(chars as f32 * WIDE * 16.0);
        }
        bounds
    }

    /// Returns the width and height that are set on the box.
    pub fn size(&self) -> (Option<f32>, Option<f32>) {
        self.own
    }

    /// Returns its displacement relative to another box.
    pub fn from(&self, other: &Self) -> (f32, f32) {
        (self.x - other.x, self.y - other.y)
    }

    /// Displaces a transformed box, and places boxes in it from its corner.
    pub fn shift(&mut self, x: f32, y: f32) {
        self.x += x;
        self.y += y;
        self.base = (self.x, self.y, false);
        self.clip_placed = self.clip;
        self.holds_fixed = true;
    }

    /// Places a box that is out of the flow.
    fn lift(&mut self, style: &ComputedStyle, outer: &Self, position: &str) {
        // In a transformed box, a fixed box is placed like an absolute one (CSS Transforms).
        self.fixed = position == "fixed" && !outer.holds_fixed;
        let (x, y, page) = if self.fixed { (0.0, 0.0, true) } else { outer.base };
        // A box out of the flow is clipped only by the boxes that it is placed in.
        self.clip = if self.fixed { None } else { outer.clip_placed };
        self.flows = false;
        let across = style.px(P::Left, Some(SCREEN.0));
        let down = style.px(P::Top, Some(SCREEN.1));
        let right = style.px(P::Right, Some(SCREEN.0));
        let bottom = style.px(P::Bottom, Some(SCREEN.1));
        let width = style.px(P::Width, outer.width).unwrap_or_default();
        self.x = style.px(P::MarginLeft, outer.width).unwrap_or_default()
            + match (across, right) {
                (Some(left), _) => x + left,
                // It is taken to end left of the page.
                (_, Some(right)) if page && right + width >= SCREEN.0 => f32::from(i16::MIN),
                (_, Some(right)) => x + SCREEN.0 - right - width,
                _ => outer.x,
            };
        self.y = style.px(P::MarginTop, outer.width).unwrap_or_default()
            + match (down, bottom) {
                (Some(top), _) => y + top,
                (_, Some(bottom)) => y + SCREEN.1 - bottom,
                _ => outer.y,
            };
        let set = [across, down, right, bottom].iter().any(Option::is_some);
        self.lifted = if page { set } else { outer.lifted };
        self.rises = true;
    }

    /// Moves a box in the flow by its margins and offsets.
    fn shift_in_flow(&mut self, style: &ComputedStyle, outer: &Self, position: &str) {
        self.x += style.px(P::MarginLeft, outer.width).unwrap_or_default();
        // Top margins may collapse, so only negative ones are certain.
        let margin_top = style.px(P::MarginTop, outer.width).unwrap_or_default();
        self.y += if self.inline { 0.0 } else { margin_top.min(0.0) };
        if position == "relative" {
            let side = |one, other, base| match style.px(one, base) {
                Some(px) => px,
                None => style.px(other, base).map_or(0.0, |px| -px),
            };
            self.x += side(P::Left, P::Right, outer.width);
            self.y += side(P::Top, P::Bottom, outer.height);
        }
        self.rises = self.y < outer.y;
    }

    /// Computes the sizes and the clip of a box. `out` is true if it is out of the flow.
    fn measure(
        &mut self,
        style: &ComputedStyle,
        outer: &Self,
        display: &str,
        out: bool,
        boxes: &mut ClipBoxes,
    ) {
        let is_table_part = display.starts_with("table-") && display != "table-caption";
        let is_table = is_table_part || display.ends_with("table");
        let padding = [P::PaddingLeft, P::PaddingRight, P::PaddingTop, P::PaddingBottom]
            .map(|side| style.px(side, outer.width).unwrap_or_default());
        let [left, _, top, bottom] = padding;
        // Two offsets that meet leave no room between them.
        let meet = |one, other| (out && sides_meet(style, one, other)).then_some(0.0);
        let width = limited(style, [P::Width, P::MaxWidth, P::MinWidth], outer.width)
            .or(meet(P::Left, P::Right));
        let height = limited(style, [P::Height, P::MaxHeight, P::MinHeight], outer.height)
            .or(meet(P::Top, P::Bottom));
        // A block in the flow is as wide as its parent.
        let fills = !out && !is_table && outer.stacks && style.size(P::Width).is_none();
        self.own = if is_table { (None, None) } else { (width, height) };
        self.width = if is_table { None } else { width.or(outer.width.filter(|_| fills)) };
        self.height = style.px(P::Height, outer.height).filter(|_| !is_table);
        self.stacks = !matches!(
            display,
            "flex" | "inline-flex" | "grid" | "inline-grid" | "table-row" | "-webkit-flex"
        );
        // A float takes room only if it leaves none beside it.
        let is_wide = style.size(P::Width).is_some_and(|width| width.part >= 1.0);
        self.around = self.clip.filter(|_| outer.flows && (!out || is_wide && !style.is_lifted()));
        if let Some(clip) = self.around.and_then(|at| boxes.clips.get_mut(at)) {
            let margin = style.px(P::MarginTop, outer.width).unwrap_or_default().max(0.0);
            clip.used += margin + top;
            self.start = clip.used;
        }
        boxes.flow += height.unwrap_or_default() + top + bottom + 40.0;
        let words = [style.keyword(P::OverflowX), style.keyword(P::OverflowY)];
        if words.iter().flatten().any(|word| *word != "visible") && !self.is_page {
            let small =
                |side| style.size(side).is_some_and(|size| size.n <= SLIVER && size.part == 0.0);
            if is_table_part {
                // The other cells decide how much width is left for this one.
                self.squeezed |= small(P::Width) || small(P::MaxWidth);
            } else {
                self.add_clip(words, padding, boxes);
            }
        }
        if self.positioned {
            self.base = (self.x, self.y, false);
            self.clip_placed = self.clip;
        }
        // Padding matters only if it is large enough to push the text out of sight.
        if left >= -FAR {
            self.x += left;
        }
        self.block = boxes.broken.len();
        boxes.broken.push(false);
        self.indent = style.px(P::TextIndent, self.width.or(outer.width)).unwrap_or_default();
        if style.is(P::Direction, "rtl") {
            self.indent = -self.indent;
        }
    }

    /// Adds the clip of a box that cuts off its content.
    fn add_clip(&mut self, words: [Option<&str>; 2], padding: [f32; 4], boxes: &mut ClipBoxes) {
        // `clip` can cut along one axis; any other value cuts along both.
        let cuts = |word: Option<&str>| word == Some("clip");
        let one_way =
            words.iter().all(|word| word.is_none_or(|word| matches!(word, "clip" | "visible")));
        let [across, down] = words.map(|word| !one_way || cuts(word));
        let (width, height) = self.own;
        boxes.clips.push(ClipBox {
            outer: self.clip,
            x: self.x,
            y: self.y,
            padding,
            width: width.or(self.width).filter(|_| across),
            height: height.filter(|_| down),
            is_sized: width.is_some() || height.is_some(),
            scrolls: words
                .iter()
                .flatten()
                .any(|word| matches!(*word, "auto" | "scroll" | "overlay")),
            used: 0.0,
            run: 0.0,
        });
        self.clip = Some(boxes.clips.len() - 1);
        self.flows = true;
    }
}

/// Returns an extent within its maximum and minimum. `base` is the extent that percentages refer
/// to.
fn limited(style: &ComputedStyle, [size, most, least]: [P; 3], base: Option<f32>) -> Option<f32> {
    let extent = match (style.px(size, base), style.px(most, base)) {
        (Some(size), Some(most)) => Some(size.min(most)),
        (size, most) => size.or(most),
    };
    match style.size(least) {
        Some(floor) if floor.part > 0.0 && base.is_none() => None,
        Some(floor) => extent.map(|extent| extent.max(floor.px(base.unwrap_or(0.0)))),
        None => extent,
    }
}

/// Returns true if the offsets of two opposite sides meet.
fn sides_meet(style: &ComputedStyle, one: P, other: P) -> bool {
    let sides = style.size(one).zip(style.size(other));
    sides.is_some_and(|(one, other)| one.part + other.part >= 1.0 && one.n >= 0.0 && other.n >= 0.0)
}
