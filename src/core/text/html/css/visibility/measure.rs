//! Sizes of a box, and the clip, tracks and lines that it opens for its content.

use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::bounds::{ElementBounds, FAR};
use super::clip::{ClipBox, ClipBoxes};
use super::geometry::{EnclosingBox, GridTracks, squeezed};

/// A box with its sizes.
struct MeasuredBox<'a> {
    /// The computed style of the box.
    style: &'a ComputedStyle,
    /// Its `display`.
    display: &'a str,
    /// True if it is out of the flow.
    out: bool,
    /// True for a table and its parts, except the caption.
    table: bool,
    /// True for a part of a table, except the caption.
    table_part: bool,
    /// True if its grid column has no width, and if its grid row has no height.
    item: Option<(bool, bool)>,
    /// Its padding: left, right, top and bottom, in pixels.
    padding: [f32; 4],
    /// The width from its style, or the part of the parent's width that remains for it.
    width: Option<f32>,
    /// The height from its style, or the part of the parent's height that remains for it.
    height: Option<f32>,
}

impl<'a> MeasuredBox<'a> {
    /// Creates a box of this style in `outer`, and determines its sizes.
    fn new(
        style: &'a ComputedStyle,
        outer: &ElementBounds,
        display: &'a str,
        out: bool,
        item: Option<(bool, bool)>,
    ) -> Self {
        let table_part = display.starts_with("table-") && display != "table-caption";
        let width = limited(style, [P::Width, P::MaxWidth, P::MinWidth], outer.width);
        let height = limited(style, [P::Height, P::MaxHeight, P::MinHeight], outer.height);
        // Two offsets that meet leave no room between them.
        let meet = |one, other| (out && sides_meet(style, one, other)).then_some(0.0);
        let (width, height) =
            (width.or(meet(P::Left, P::Right)), height.or(meet(P::Top, P::Bottom)));
        let padding = [P::PaddingLeft, P::PaddingRight, P::PaddingTop, P::PaddingBottom]
            .map(|side| style.px(side, outer.width).unwrap_or_default());
        let [left, right, top, bottom] = padding;
        let (width, height) = if style.is(P::BoxSizing, "border-box") {
            (
                width.map(|width| (width - left - right).max(0.0)),
                height.map(|height| (height - top - bottom).max(0.0)),
            )
        } else {
            (width, height)
        };
        let around = EnclosingBox { stacks: outer.stacks, flexes: outer.flexes, item, out };
        let (width, height) = squeezed(style, around, (width, height));
        let table = table_part || display.ends_with("table");
        Self { style, display, out, table, table_part, item, padding, width, height }
    }

    /// Returns the height that its own size and padding surely take.
    fn room(&self) -> f32 {
        self.height.unwrap_or_default() + self.padding.iter().skip(2).sum::<f32>()
    }

    /// Returns true if its lines of flexible boxes wrap.
    fn wraps(&self) -> bool {
        self.style.keyword(P::FlexWrap).is_some_and(|word| word != "nowrap")
    }

    /// Returns true if it cuts off overflowing content because of `contain`.
    fn contains_paint(&self) -> bool {
        matches!(self.style.keyword(P::Contain), Some("paint" | "strict"))
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

impl ElementBounds {
    /// Computes the sizes and the clip of a box. `out` is true if it is out of the flow.
    pub(super) fn measure(
        &mut self,
        style: &ComputedStyle,
        outer: &Self,
        display: &str,
        out: bool,
        boxes: &mut ClipBoxes,
    ) {
        let item = outer.grid.filter(|_| !out).and_then(|at| boxes.grids.get_mut(at)?.item());
        let measured = MeasuredBox::new(style, outer, display, out, item);
        self.set_sizes(&measured, outer);
        self.share_row(&measured, outer, boxes);
        self.open_tracks(&measured, boxes);
        self.squeeze_cell(&measured);
        self.reserve_room(&measured, outer, boxes);
        boxes.flow += measured.room() + 40.0;
        self.add_clip(&measured, boxes);
        self.set_origin(&measured);
        // A track without height, in a grid that may have no height either.
        self.flat |= measured.item.is_some_and(|(_, high)| high) && measured.height == Some(0.0);
        // Padding matters only if it is large enough to push the text out of sight.
        let [left, ..] = measured.padding;
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

    /// Records the sizes, and the way in which the box arranges its content.
    fn set_sizes(&mut self, measured: &MeasuredBox<'_>, outer: &Self) {
        let MeasuredBox { style, display, out, table, width, height, .. } = *measured;
        // A block in the flow is as wide as its parent.
        let fills = !out && !table && outer.stacks && style.size(P::Width).is_none();
        self.own = if table { (None, None) } else { (width, height) };
        self.width = if table { None } else { width.or(outer.width.filter(|_| fills)) };
        self.height = style.px(P::Height, outer.height).filter(|_| !table);
        self.stacks = !matches!(
            display,
            "flex" | "inline-flex" | "grid" | "inline-grid" | "table-row" | "-webkit-flex"
        );
        self.flexes = match display {
            "flex" | "inline-flex" | "-webkit-flex" => Some(
                !style.keyword(P::FlexDirection).is_some_and(|word| word.starts_with("column")),
            ),
            _ => None,
        };
    }

    /// Takes the box's share of the flexible line that it is in.
    fn share_row(&mut self, measured: &MeasuredBox<'_>, outer: &Self, boxes: &mut ClipBoxes) {
        let MeasuredBox { style, out, .. } = *measured;
        let Some((all, taken)) = outer.row.filter(|_| !out).and_then(|at| boxes.rows.get_mut(at))
        else {
            return;
        };
        let none = style.size(P::FlexBasis).is_some_and(|basis| basis.n + basis.part == 0.0);
        // Only a box that cuts off its overflow can shrink below its content (CSS Flexbox, 4.5).
        let cuts = style.keyword(P::OverflowX).is_some_and(|word| word != "visible");
        self.squeezed |= none && cuts && *taken >= *all && style.size(P::MinWidth).is_none();
        *taken += self.own.0.unwrap_or_default();
    }

    /// Opens the flexible line, the grid and the container for the content.
    fn open_tracks(&mut self, measured: &MeasuredBox<'_>, boxes: &mut ClipBoxes) {
        let MeasuredBox { style, display, .. } = *measured;
        let flexes = self.flexes == Some(true) && !measured.wraps();
        self.row = self.width.filter(|_| flexes).map(|width| {
            boxes.rows.push((width, 0.0));
            boxes.rows.len() - 1
        });
        self.grid = match display {
            "grid" | "inline-grid" => GridTracks::from_style(style).map(|grid| {
                boxes.grids.push(grid);
                boxes.grids.len() - 1
            }),
            _ => None,
        };
    }

    /// Finds out whether a cell of a table may have no width.
    fn squeeze_cell(&mut self, measured: &MeasuredBox<'_>) {
        let MeasuredBox { style, display, table, table_part, .. } = *measured;
        if table && !table_part {
            self.wide_table = style.size(P::Width).is_some();
            self.fixed_table = style.is(P::TableLayout, "fixed");
        } else if display == "table-cell"
            && style.keyword(P::OverflowX).is_some_and(|word| word != "visible")
        {
            let none =
                |side| style.size(side).is_some_and(|size| size.n <= 2.0 && size.part == 0.0);
            let auto = style.size(P::Width).is_none();
            self.squeezed |=
                !self.wide_table && auto && none(P::MaxWidth) || self.fixed_table && none(P::Width);
        }
    }

    /// Records the room above the text of the box in the clip around it.
    fn reserve_room(&mut self, measured: &MeasuredBox<'_>, outer: &Self, boxes: &mut ClipBoxes) {
        let MeasuredBox { style, out, .. } = *measured;
        let floats = style.keyword(P::Float).is_some_and(|word| word != "none");
        let lifted = matches!(style.keyword(P::Position), Some("absolute" | "fixed"));
        self.floats_in = self.clip.filter(|_| outer.flows && outer.stacks && floats && !lifted);
        self.around = self.clip.filter(|_| outer.flows && outer.stacks && !out);
        let start = boxes.used(self.around);
        self.before = start;
        let Some(clip) = self.around.and_then(|at| boxes.clips.get_mut(at)) else {
            self.room_above = false;
            return;
        };
        // Its margin collapses with the margin of the element that it begins, or is at least its
        // own.
        let margin = style.px(P::MarginTop, outer.width).unwrap_or_default().max(0.0);
        let top = style.px(P::PaddingTop, outer.width).unwrap_or_default();
        let border = style.px(P::BorderTop, None).unwrap_or_default();
        let begins = outer.around == self.around && start == outer.start && outer.room_above;
        let from = if begins { outer.before } else { start };
        clip.used = clip.used.max(from + margin) + top + border;
        self.room_above = top + border == 0.0;
        self.start = clip.used;
    }

    /// Adds the clip of a box that cuts off its content.
    fn add_clip(&mut self, measured: &MeasuredBox<'_>, boxes: &mut ClipBoxes) {
        let MeasuredBox { style, display, padding, height, .. } = *measured;
        let words = [style.keyword(P::OverflowX), style.keyword(P::OverflowY)];
        let cuts = |word: &Option<&str>| word.is_some_and(|word| word != "visible");
        let paint = measured.contains_paint();
        if !words.iter().any(cuts) && !paint || measured.table_part || self.is_page {
            return;
        }
        let margin = style.px(P::ClipMargin, None).filter(|_| style.is(P::OverflowX, "clip"));
        let clipped = |at: usize| words.get(at).copied().flatten() == Some("clip");
        // `clip` can cut along one axis; any other value cuts along both.
        let one_way = !paint && !words.iter().any(|word| cuts(word) && *word != Some("clip"));
        let (across, down) = (!one_way || clipped(0), !one_way || clipped(1));
        let (own_width, own_height) = self.own;
        let continues =
            style.is(P::Columns, "some") || self.flexes == Some(true) && measured.wraps();
        boxes.clips.push(ClipBox {
            outer: self.clip,
            x: self.x,
            y: self.y,
            padding: padding.map(|side| side + margin.unwrap_or_default()),
            width: own_width.or(self.width).filter(|_| across),
            height: own_height.filter(|_| down),
            scrolls: words
                .iter()
                .flatten()
                .any(|word| matches!(*word, "auto" | "scroll" | "overlay")),
            used: 0.0,
            run: 0.0,
            lines: style
                .size(P::LineClamp)
                .filter(|_| display.starts_with("-webkit-"))
                .map(|lines| lines.n),
            breaks: 0.0,
            area: continues.then_some(0.0),
            fitted: height.is_none()
                && style.size(P::MinHeight).is_none()
                && padding.iter().skip(2).all(|side| *side == 0.0),
        });
        self.clip = Some(boxes.clips.len() - 1);
        self.flows = true;
    }

    /// Makes the box the origin of boxes placed in it, if it is.
    fn set_origin(&mut self, measured: &MeasuredBox<'_>) {
        let style = measured.style;
        let moves = [P::Transform, P::Translate, P::Rotate, P::Scale, P::Filter];
        // Transforms and filters make a box the origin of fixed boxes in it.
        let holds = measured.contains_paint()
            || moves.iter().any(|property| !style.calls(*property).is_empty())
            || style.size(P::Perspective).is_some()
            || style.is(P::WillChange, "holds");
        if self.positioned || holds {
            self.base = (self.x, self.y, false);
            self.clip_placed = self.clip;
        }
        self.holds_fixed |= holds;
    }
}
