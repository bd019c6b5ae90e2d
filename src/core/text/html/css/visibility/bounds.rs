//! Position, size and clips of a box, by bounds and without layout.
//!
//! Two facts are known of a position: the displacement from its place in the flow, and a minimum of
//! the room that the content before it takes. Text is hidden if these alone put it out of sight. If
//! they only may, it is in doubt.

use super::super::sheets::media::SCREEN;
use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::CssVisibility;
use super::clip::{COMMON, ClipBox, ClipBoxes, NARROW, WIDE, is_tight};
use super::geometry::{EnclosingBox, GridTracks, squeezed};
use crate::text::html::HidingReason;
use crate::text::html::tree::{DomTree, NodeId};

/// Offset to the left or top from which text may be out of sight, in pixels.
const FAR: f32 = -300.0;
/// The same for a box placed from the top of the page, which has no content above.
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
    own: (Option<f32>, Option<f32>),
    /// The width of the nearest container, for `@container`.
    pub container: Option<f32>,
    /// Its displacement, in pixels.
    x: f32,
    y: f32,
    /// Maximum width of its text, if it was moved far.
    reach: Option<f32>,
    /// True if it is placed from the corner of the page instead of its position in the flow.
    lifted: bool,
    fixed: bool,
    /// True in a box from which fixed boxes are placed.
    holds_fixed: bool,
    /// True in a track without height.
    flat: bool,
    /// True in a table with a width, and in one with a fixed layout.
    wide_table: bool,
    fixed_table: bool,
    /// True in a table cell or flexible box that may have no width.
    squeezed: bool,
    /// The clip around a float.
    floats_in: Option<usize>,
    /// The origin of boxes placed in it, and true if that is the page's.
    base: (f32, f32, bool),
    /// The clip of its content, and the clip of boxes placed within.
    clip: Option<usize>,
    clip_placed: Option<usize>,
    /// True if the content before it in the clip pushes it down.
    flows: bool,
    /// True if boxes in it are below each other.
    stacks: bool,
    /// The flexible axis of its content, if any: true for the width.
    flexes: Option<bool>,
    /// The grid of its items, if some tracks have no size.
    grid: Option<usize>,
    /// The flexible line of its items.
    row: Option<usize>,
    /// The height used in the surrounding clip where it begins.
    before: f32,
    /// The height used where its content begins, and true if margins may still collapse.
    start: f32,
    room_above: bool,
    around: Option<usize>,
    /// The block whose first line is indented, and by how much.
    block: usize,
    indent: f32,
}

impl ElementBounds {
    /// Returns the place of the page.
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
            container: None,
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

    /// Returns its displacement relative to another place.
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

    /// Returns the place of an element within another.
    pub fn of(
        tree: &DomTree,
        id: NodeId,
        look: &ComputedStyle,
        outer: &Self,
        boxes: &mut ClipBoxes,
    ) -> Self {
        let display = look.word(P::Display).unwrap_or("inline");
        let position = look.word(P::Position).unwrap_or("static");
        let placed = matches!(position, "absolute" | "fixed");
        let floats = look.word(P::Float).is_some_and(|word| word != "none");
        let drawn = !tree.is_html(id) && tree.name(id) != "svg";
        let mut place = Self {
            contents: display == "contents",
            inline: matches!(display, "inline" | "ruby" | "ruby-text" | "contents")
                && !placed
                && !floats
                && (outer.stacks || outer.inline)
                && !drawn,
            positioned: false,
            rises: false,
            width: None,
            height: None,
            own: (None, None),
            before: 0.0,
            around: None,
            floats_in: None,
            ..outer.clone()
        };
        if place.contents {
            place.inline = true;
            return place;
        }
        place.positioned = position != "static";
        let px = |property, base| look.px(property, base);
        let margin_left = px(P::MarginLeft, outer.width).unwrap_or_default();
        let margin_top = px(P::MarginTop, outer.width).unwrap_or_default();
        if placed {
            place.lift(look, outer, position, margin_left, margin_top);
        } else {
            place.x += margin_left;
            // Top margins may collapse, so only negative ones are certain.
            place.y += if place.inline { 0.0 } else { margin_top.min(0.0) };
            if position == "relative" {
                let side = |one, other, base| match px(one, base) {
                    Some(px) => px,
                    None => px(other, base).map_or(0.0, |px| -px),
                };
                place.x += side(P::Left, P::Right, outer.width);
                place.y += side(P::Top, P::Bottom, outer.height);
            }
            place.rises = place.y < outer.y;
        }
        if drawn && tree.attr(id, "viewBox").is_none() {
            place.draw(tree, id, look);
        }
        if place.inline {
            place.y -= raised(look).min(0.0);
            place.rise(tree, id, outer);
            return place;
        }
        let name = tree.name(id);
        // Content that the page cuts off can be reached by scrolling.
        place.is_page = name == "html" || name == "body" && outer.is_page;
        place.block(look, outer, display, placed || floats, boxes);
        place.is_page &= look.word(P::OverflowX).is_none_or(|word| word == "visible");
        place.rise(tree, id, outer);
        place
    }

    /// Places a box that is out of the flow.
    fn lift(&mut self, look: &ComputedStyle, outer: &Self, position: &str, left: f32, top: f32) {
        // In a transformed box, a fixed box is placed like an absolute one (CSS Transforms).
        self.fixed = position == "fixed" && !outer.holds_fixed;
        let (x, y, page) = if self.fixed { (0.0, 0.0, true) } else { outer.base };
        // A box out of the flow is clipped only by the boxes that it is placed in.
        self.clip = if self.fixed { None } else { outer.clip_placed };
        self.flows = false;
        let across = look.px(P::Left, Some(SCREEN.0));
        let down = look.px(P::Top, Some(SCREEN.1));
        let right = look.px(P::Right, Some(SCREEN.0));
        let bottom = look.px(P::Bottom, Some(SCREEN.1));
        let width = look.px(P::Width, outer.width).unwrap_or_default();
        self.x = left
            + match (across, right) {
                (Some(left), _) => x + left,
                // It is taken to end left of the page.
                (_, Some(right)) if page && right + width >= SCREEN.0 => f32::from(i16::MIN),
                (_, Some(right)) => x + SCREEN.0 - right - width,
                _ => outer.x,
            };
        self.y = top
            + match (down, bottom) {
                (Some(top), _) => y + top,
                (_, Some(bottom)) => y + SCREEN.1 - bottom,
                _ => outer.y,
            };
        let set = [across, down, right, bottom].iter().any(Option::is_some);
        self.lifted = if page { set } else { outer.lifted };
        self.rises = true;
    }

    /// Places an SVG element by its coordinates.
    fn draw(&mut self, tree: &DomTree, id: NodeId, look: &ComputedStyle) {
        let at = |name| tree.attr(id, name).and_then(|n| n.trim().parse::<f32>().ok());
        self.x += at("x").unwrap_or_default() + at("dx").unwrap_or_default();
        // `y` is the baseline of text.
        self.y += at("y").map_or(0.0, |y| y - look.font);
    }

    /// Records how far text may reach in a box that was moved far.
    fn rise(&mut self, tree: &DomTree, id: NodeId, outer: &Self) {
        let far = self.x - outer.x <= FAR / 3.0 || self.y - outer.y <= ABOVE;
        if self.reach.is_none() && far {
            // Counted once on a path at most, because it walks over everything below.
            let chars = tree.below(id).filter_map(|id| tree.text(id)).map(str::len).sum::<usize>();
            self.reach = Some(chars as f32 * WIDE * 16.0);
        }
    }

    /// Computes the sizes and the clip of a box.
    fn block(
        &mut self,
        look: &ComputedStyle,
        outer: &Self,
        display: &str,
        out: bool,
        boxes: &mut ClipBoxes,
    ) {
        let part = display.starts_with("table-") && display != "table-caption";
        let table = part || display.ends_with("table");
        let bound = |size, most, least, base| {
            let extent = match (look.px(size, base), look.px(most, base)) {
                (Some(size), Some(most)) => Some(size.min(most)),
                (size, most) => size.or(most),
            };
            let floor = look.size(least).map(|floor| (floor.part, floor));
            match floor {
                Some((part, _)) if part > 0.0 && base.is_none() => None,
                Some((_, floor)) => extent.map(|extent| extent.max(floor.px(base.unwrap_or(0.0)))),
                None => extent,
            }
        };
        let width = bound(P::Width, P::MaxWidth, P::MinWidth, outer.width);
        let height = bound(P::Height, P::MaxHeight, P::MinHeight, outer.height);
        // Two offsets that meet leave no room between them.
        let meet = |one, other| {
            let sides = look.size(one).zip(look.size(other));
            let met = sides.is_some_and(|(one, other)| {
                one.part + other.part >= 1.0 && one.n >= 0.0 && other.n >= 0.0
            });
            (met && out).then_some(0.0)
        };
        let (width, height) =
            (width.or(meet(P::Left, P::Right)), height.or(meet(P::Top, P::Bottom)));
        let item = outer.grid.filter(|_| !out).and_then(|at| boxes.grids.get_mut(at)?.item());
        let padding = [P::PaddingLeft, P::PaddingRight, P::PaddingTop, P::PaddingBottom]
            .map(|side| look.px(side, outer.width).unwrap_or_default());
        let [left, right, top, bottom] = padding;
        let (width, height) = if look.is(P::BoxSizing, "border-box") {
            (
                width.map(|width| (width - left - right).max(0.0)),
                height.map(|height| (height - top - bottom).max(0.0)),
            )
        } else {
            (width, height)
        };
        let around = EnclosingBox { stacks: outer.stacks, flexes: outer.flexes, item, out };
        let (width, height) = squeezed(look, around, (width, height));
        // A block in the flow is as wide as its parent.
        let fills = !out && !table && outer.stacks && look.size(P::Width).is_none();
        self.own = if table { (None, None) } else { (width, height) };
        self.width = if table { None } else { width.or(outer.width.filter(|_| fills)) };
        self.height = look.px(P::Height, outer.height).filter(|_| !table);
        self.stacks = !matches!(
            display,
            "flex" | "inline-flex" | "grid" | "inline-grid" | "table-row" | "-webkit-flex"
        );
        self.flexes = match display {
            "flex" | "inline-flex" | "-webkit-flex" => {
                Some(!look.word(P::FlexDirection).is_some_and(|word| word.starts_with("column")))
            }
            _ => None,
        };
        if let Some((all, taken)) = outer.row.filter(|_| !out).and_then(|at| boxes.rows.get_mut(at))
        {
            let none = look.size(P::FlexBasis).is_some_and(|basis| basis.n + basis.part == 0.0);
            // Only a box that cuts off its overflow can shrink below its content (CSS Flexbox,
            // 4.5).
            let cuts = look.word(P::OverflowX).is_some_and(|word| word != "visible");
            self.squeezed |= none && cuts && *taken >= *all && look.size(P::MinWidth).is_none();
            *taken += self.own.0.unwrap_or_default();
        }
        let wraps = look.word(P::FlexWrap).is_some_and(|word| word != "nowrap");
        self.row = self.width.filter(|_| self.flexes == Some(true) && !wraps).map(|width| {
            boxes.rows.push((width, 0.0));
            boxes.rows.len() - 1
        });
        self.grid = match display {
            "grid" | "inline-grid" => GridTracks::of(look).map(|grid| {
                boxes.grids.push(grid);
                boxes.grids.len() - 1
            }),
            _ => None,
        };
        if look.word(P::ContainerType).is_some_and(|word| matches!(word, "size" | "inline-size")) {
            self.container = Some(self.width.unwrap_or(SCREEN.0 - 16.0));
        }
        if table && !part {
            self.wide_table = look.size(P::Width).is_some();
            self.fixed_table = look.is(P::TableLayout, "fixed");
        } else if display == "table-cell" && look.word(P::OverflowX).is_some_and(|w| w != "visible")
        {
            let none = |side| look.size(side).is_some_and(|size| size.n <= 2.0 && size.part == 0.0);
            let auto = look.size(P::Width).is_none();
            self.squeezed |=
                !self.wide_table && auto && none(P::MaxWidth) || self.fixed_table && none(P::Width);
        }
        let floats = look.word(P::Float).is_some_and(|word| word != "none");
        let lifted = matches!(look.word(P::Position), Some("absolute" | "fixed"));
        self.floats_in = self.clip.filter(|_| outer.flows && outer.stacks && floats && !lifted);
        self.around = self.clip.filter(|_| outer.flows && outer.stacks && !out);
        let start = boxes.used(self.around);
        self.before = start;
        if let Some(clip) = self.around.and_then(|at| boxes.clips.get_mut(at)) {
            // The room above its text. Its margin collapses with the margin of the element that it
            // begins, or is at least its own.
            let margin = look.px(P::MarginTop, outer.width).unwrap_or_default().max(0.0);
            let top = look.px(P::PaddingTop, outer.width).unwrap_or_default();
            let border = look.px(P::BorderTop, None).unwrap_or_default();
            let begins = outer.around == self.around && start == outer.start && outer.room_above;
            let from = if begins { outer.before } else { start };
            clip.used = clip.used.max(from + margin) + top + border;
            self.room_above = top + border == 0.0;
            self.start = clip.used;
        } else {
            self.room_above = false;
        }
        let room = height.unwrap_or_default() + padding.iter().skip(2).sum::<f32>();
        boxes.flow += room + 40.0;
        let words = [look.word(P::OverflowX), look.word(P::OverflowY)];
        let cuts = |word: &Option<&str>| word.is_some_and(|word| word != "visible");
        let paint = matches!(look.word(P::Contain), Some("paint" | "strict"));
        let margin = look.px(P::ClipMargin, None).filter(|_| look.is(P::OverflowX, "clip"));
        let seen = padding.map(|side| side + margin.unwrap_or_default());
        if (words.iter().any(cuts) || paint) && !part && !self.is_page {
            let clipped = |at: usize| words.get(at).copied().flatten() == Some("clip");
            // `clip` can cut along one axis; any other value cuts along both.
            let one_way = !paint && !words.iter().any(|word| cuts(word) && *word != Some("clip"));
            let (across, down) = (!one_way || clipped(0), !one_way || clipped(1));
            let (width, height) = self.own;
            boxes.clips.push(ClipBox {
                outer: self.clip,
                x: self.x,
                y: self.y,
                padding: seen,
                width: width.or(self.width).filter(|_| across),
                height: height.filter(|_| down),
                scrolls: words
                    .iter()
                    .flatten()
                    .any(|word| matches!(*word, "auto" | "scroll" | "overlay")),
                used: 0.0,
                run: 0.0,
                lines: look
                    .size(P::LineClamp)
                    .filter(|_| display.starts_with("-webkit-"))
                    .map(|lines| lines.n),
                breaks: 0.0,
                area: (look.is(P::Columns, "some") || self.flexes == Some(true) && wraps)
                    .then_some(0.0),
                fitted: height.is_none()
                    && look.size(P::MinHeight).is_none()
                    && padding.iter().skip(2).all(|side| *side == 0.0),
            });
            self.clip = Some(boxes.clips.len() - 1);
            self.flows = true;
        }
        let moves = [P::Transform, P::Translate, P::Rotate, P::Scale, P::Filter];
        // Transforms and filters make a box the origin of fixed boxes in it.
        let holds = paint
            || moves.iter().any(|property| !look.calls(*property).is_empty())
            || look.size(P::Perspective).is_some()
            || look.is(P::WillChange, "holds");
        if self.positioned || holds {
            self.base = (self.x, self.y, false);
            self.clip_placed = self.clip;
        }
        self.holds_fixed |= holds;
        // A track without height, in a grid that may have no height either.
        self.flat |= item.is_some_and(|(_, high)| high) && height == Some(0.0);
        // Padding matters only if it is large enough to push the text out of sight.
        if left >= -FAR {
            self.x += left;
        }
        self.block = boxes.broken.len();
        boxes.broken.push(false);
        self.indent = look.px(P::TextIndent, self.width.or(outer.width)).unwrap_or_default();
        if look.is(P::Direction, "rtl") {
            self.indent = -self.indent;
        }
    }
}

impl ClipBoxes {
    fn used(&self, clip: Option<usize>) -> f32 {
        clip.and_then(|at| self.clips.get(at)).map_or(0.0, |clip| clip.used)
    }

    fn clip(&mut self, place: &ElementBounds) -> Option<&mut ClipBox> {
        self.clips.get_mut(place.clip.filter(|_| place.flows)?)
    }

    /// Ends a line in the current element.
    pub fn line_break(&mut self, place: &ElementBounds, look: &ComputedStyle) {
        let line = if is_tight(look) { 0.0 } else { look.font };
        self.flow += look.font * 2.0;
        if let Some(clip) = self.clip(place) {
            clip.used += line;
            clip.run = 0.0;
            clip.breaks += 1.0;
        }
        if let Some(broken) = self.broken.get_mut(place.block) {
            *broken = true;
        }
    }

    /// Records text that is shown.
    pub fn text(&mut self, place: &ElementBounds, look: &ComputedStyle, chars: usize) {
        let wide = chars as f32 * look.font;
        // `flow` is an upper bound; the sums of the clip are lower bounds.
        self.flow += wide * 1.5;
        if let Some(clip) = self.clip(place) {
            clip.run += wide * NARROW;
            clip.area = clip.area.map(|area| area + wide * look.font * COMMON);
        }
    }

    /// Leaves an element; `text` is true if it contained text.
    pub fn leave(&mut self, place: &ElementBounds, look: &ComputedStyle, text: bool) {
        if place.inline {
            // Raised text pushes the rest of its line down.
            if let Some(clip) = self.clip(place).filter(|_| text && raised(look) > look.font) {
                clip.used += raised(look);
            }
            return;
        }
        if let Some(clip) = place.floats_in.and_then(|at| self.clips.get_mut(at)) {
            // A float as wide as the clip pushes all later content down.
            if place.own.0.zip(clip.width).is_some_and(|(own, all)| own >= all) {
                clip.used += place.own.1.unwrap_or_default();
            }
        }
        let (wide, high) = place.own;
        if let Some(clip) = place.around.or(place.clip).and_then(|at| self.clips.get_mut(at)) {
            let own = wide.unwrap_or_default() * high.unwrap_or_default();
            clip.area = clip.area.map(|area| area + own);
        }
        let line = if text && !is_tight(look) { look.font } else { 0.0 };
        let room = place.height.unwrap_or(line);
        if let Some(clip) = place.around.and_then(|at| self.clips.get_mut(at)) {
            clip.used = if place.height.is_some() {
                place.before + room
            } else {
                clip.used.max(place.before + room)
            };
            clip.run = 0.0;
            clip.breaks += if text { 1.0 } else { 0.0 };
        }
    }

    /// Decides whether text of so many characters is seen at a place.
    pub fn sight(
        &self,
        place: &ElementBounds,
        look: &ComputedStyle,
        chars: usize,
        scale: f32,
    ) -> CssVisibility {
        let first = self.broken.get(place.block).is_some_and(|broken| !broken);
        let indent = if first { place.indent } else { 0.0 };
        let own = chars as f32 * look.font * scale * WIDE;
        let reach = place.reach.unwrap_or(own).max(own);
        let x = place.x + indent;
        let tall = (reach / 200.0).max(1.0) * look.font * scale * 1.5;
        let mut doubt = None;
        let mut at = place.clip;
        let mut flows = place.flows;
        while let Some(clip) = at.and_then(|at| self.clips.get(at)) {
            if clip.hides(x, place.y, reach, tall, look, flows) {
                return CssVisibility::Hidden;
            }
            // Earlier content counts only in the innermost clip.
            flows = false;
            at = clip.outer;
        }
        let edge = if place.lifted || indent < 0.0 { reach } else { reach.max(SCREEN.0) };
        if x <= FAR {
            if x + edge <= 0.0 {
                return CssVisibility::Hidden;
            }
            doubt = Some(HidingReason::Moved);
        }
        if x >= SCREEN.0 || place.fixed && place.y >= SCREEN.1 {
            // Fixed boxes cannot be scrolled into view.
            if place.fixed {
                return CssVisibility::Hidden;
            }
            doubt = Some(HidingReason::Moved);
        }
        let (limit, flow) = if place.lifted { (ABOVE, 0.0) } else { (FAR, self.flow) };
        if place.y <= limit {
            if place.y + flow + tall <= 0.0 {
                return CssVisibility::Hidden;
            }
            doubt = Some(HidingReason::Moved);
        }
        let inner = place.clip.and_then(|at| self.clips.get(at));
        // Lines without height, in a box that is as high as its lines.
        let flat = look.size(P::LineHeight).is_some_and(|size| size.n + size.part == 0.0);
        if inner.is_some_and(|clip| {
            clip.cuts(own, look)
                || clip.overflows(own * look.font)
                || place.flat
                || flat && clip.fitted && clip.used == 0.0 && place.flows
        }) {
            doubt = Some(HidingReason::Clipped);
        }
        if place.squeezed {
            doubt = Some(HidingReason::Clipped);
        }
        let narrow = |property, least: f32| {
            look.px(property, Some(look.font)).is_some_and(|px| px <= least * look.font)
        };
        let far = look.px(P::Spacing, None).is_some_and(|px| px >= -FAR);
        if far || narrow(P::Spacing, -0.4) || narrow(P::WordSpacing, -2.0) {
            doubt = Some(HidingReason::Moved);
        }
        doubt.map_or(CssVisibility::Shown, CssVisibility::Doubt)
    }
}

/// Returns how far a piece of a line is raised, in pixels; negative if it is lowered.
fn raised(look: &ComputedStyle) -> f32 {
    look.px(P::VerticalAlign, Some(look.font * 1.2)).unwrap_or_default()
}
