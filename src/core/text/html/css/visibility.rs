//! Visibility of text: the walk over the document, with the effects that add up on the way.
//!
//! Each element is entered with its computed style. That determines its effects on its content:
//! opacity, size, ground, displacement and clipping. A text takes them from the element around it.
//! The files below compute the effects of the properties and hold the state of the walk
//! ([`walker`]); this file combines them.

mod backdrop;
mod bounds;
mod clip;
mod effects;
mod empty_boxes;
mod overlap;
mod room;
mod transform;
mod walker;

use std::rc::Rc;

use bounds::ElementBounds;
pub use walker::VisibilityWalker;
use walker::{ElementFrame, is_shadow, is_unseen};

use super::style::computed::ComputedStyle;
use super::values::other::OtherEffect;
use super::values::property::{CssProperty, CssProperty as P};
use crate::text::html::hidden::DoubtfulText;
use crate::text::html::tree::{DomTree, NodeId};
use crate::text::html::writer::WhiteSpace;
use crate::text::visibility::{CLEAR, HidingMethod, PIXEL, TINY, TextVisibility};

impl VisibilityWalker<'_> {
    /// Returns the text that may be hidden.
    pub fn doubts(&self) -> DoubtfulText {
        let mut all = DoubtfulText {
            incomplete: self.cascade.is_over() || self.cascade.is_unclear(),
            ..DoubtfulText::default()
        };
        // The number of ranges that begin at a text, less the number that end there: a loop over
        // each range would take quadratic time.
        let mut steps = vec![0_isize; self.shown.len() + 1];
        for (at, step) in self.covers.iter().flat_map(|one| [(one.start, 1), (one.end, -1)]) {
            if let Some(slot) = steps.get_mut(at) {
                *slot += step;
            }
        }
        let mut above = 0;
        for ((chars, why), step) in self.shown.iter().zip(steps) {
            above += step;
            let why = why.or((above > 0).then_some(HidingMethod::Covered));
            // Characters that show nothing are not counted, and hide nothing.
            if let Some(why) = why.filter(|_| *chars > 0) {
                all.chars += chars;
                all.why.insert(why);
            }
        }
        all
    }

    /// Returns true if the current element strikes its text out.
    pub fn strikes(&self) -> bool {
        self.around().style.is(P::Strike, "line-through")
    }

    /// Returns how the current element keeps white space, or `None` if it collapses it.
    pub fn white_space(&self) -> Option<WhiteSpace> {
        match self.around().style.keyword(P::WhiteSpace)? {
            "pre" | "pre-wrap" | "break-spaces" | "preserve" => Some(WhiteSpace::Kept),
            "pre-line" | "preserve-breaks" => Some(WhiteSpace::Lines),
            _ => None,
        }
    }

    /// Returns true if the current element is a box apart from the text around it.
    pub fn stands_apart(&self) -> bool {
        let style = &self.around().style;
        let blocks = ["block", "flex", "grid", "table", "list-item", "flow-root", "-webkit-box"];
        style.keyword(P::Float).is_some_and(|side| side != "none")
            || style.keyword(P::Display).is_some_and(|word| blocks.contains(&word))
    }

    /// Returns the style by which the current element is numbered as a list item.
    pub fn numbers(&self) -> Option<&'static str> {
        self.around().style.keyword(P::ListStyle)
    }

    /// Returns true if the current element reverses its text, from right to left.
    pub fn reverses(&self) -> bool {
        let style = &self.around().style;
        let overrides = |word: &str| word.ends_with("override");
        style.is(P::Direction, "rtl") && style.keyword(P::UnicodeBidi).is_some_and(overrides)
    }

    /// Enters an element. If the result is false, everything in it is hidden, and
    /// [`VisibilityWalker::leave`] must not be called.
    pub fn enter(&mut self, id: NodeId) -> bool {
        let tree = self.tree;
        let around = self.stack.last().unwrap_or(&self.page);
        let mut style = self.cascade.style_of(id, &around.style);
        let name = tree.name(id);
        let group = tree.attr(id, "name").filter(|group| name == "details" && !group.is_empty());
        if let Some(group) = group.filter(|_| tree.attr(id, "open").is_some()) {
            style.closed |= !self.opened.insert(group);
        }
        if self.is_left_out(id, name, &style) {
            return false;
        }
        let around = self.stack.last().unwrap_or(&self.page);
        let clips = self.boxes.clips.len();
        let mut frame = ElementFrame {
            id,
            bounds: ElementBounds::of(tree, id, &style, &around.bounds, &mut self.boxes),
            alpha: around.alpha,
            scale: around.scale,
            ground: around.ground.clone(),
            painter: around.painter.clone(),
            loose: around.loose,
            filled: false,
            hanging: Vec::new(),
            doubt: around.doubt,
            chosen: around.chosen,
            opaque: false,
            stacks: false,
            first_text: self.shown.len(),
            covered: around.covered,
            picture: matches!(name, "img" | "video" | "canvas" | "object" | "embed"),
            arranged: style.has(OtherEffect::Clips).then_some(clips).or(around.arranged),
            revealed: around.revealed
                || style.has(OtherEffect::Reveals)
                || style.has(OtherEffect::Redraws),
            first: around.first.clone(),
            style,
        };
        let display = frame.style.keyword(P::Display).unwrap_or("inline");
        let around_inline = around.bounds.inline
            && !around.bounds.contents
            && !frame.bounds.positioned
            && matches!(display, "block" | "table" | "flex" | "grid" | "list-item" | "flow-root");
        // Browsers show a shadow tree instead of the content, mail programs do not.
        if frame.style.unclear
            || frame.style.has(OtherEffect::Redraws)
            || self.shadows && has_shadow(tree, id)
        {
            frame.doubt = Some(HidingMethod::Style);
        }
        if !frame.bounds.inline && around_inline {
            // The background of an inline element ends where a block begins in it.
            let block = self.stack.iter().rev().find(|frame| !frame.bounds.inline);
            frame.ground = block.unwrap_or(&self.page).ground.clone();
        }
        // `::first-line` applies to blocks, not to inline elements.
        if !frame.bounds.inline {
            frame.first = frame.style.first.take().map(Rc::from);
        }
        // Cells of a collapsed column are not drawn; which cells these are is not computed.
        if matches!(name, "col" | "colgroup")
            && frame.style.is(P::Visibility, "collapse")
            && let Some(table) =
                self.stack.iter_mut().rev().find(|frame| tree.name(frame.id) == "table")
        {
            table.doubt = Some(HidingMethod::Style);
        }
        if name == "select" {
            frame.chosen = chosen(tree, id);
        }
        if name == "br" {
            self.boxes.line_break(&frame.bounds, &frame.style);
            if let Some(around) = self.stack.last_mut() {
                around.first = None;
            }
        }
        // `display: contents` leaves no box to which effects could apply.
        if !frame.bounds.contents && self.effects(&mut frame, name) {
            if !frame.revealed {
                return false;
            }
            frame.doubt = Some(HidingMethod::Style);
        }
        self.loosen(&mut frame, name);
        self.behind(&mut frame);
        self.cover(&frame, true);
        // The element has to be on the stack first, because its `::before` is placed in it.
        let before = frame.style.before.take();
        self.stack.push(frame);
        self.cover_generated(before);
        true
    }

    /// Leaves the current element.
    pub fn leave(&mut self) {
        let after = self.stack.last_mut().and_then(|frame| frame.style.after.take());
        self.cover_generated(after);
        if let Some(frame) = self.stack.pop() {
            let text = self.shown.len() > frame.first_text;
            self.boxes.leave(&frame.bounds, &frame.style, text);
            self.fill(&frame);
            // A block with text in it ends the first line of the element around it.
            if let Some(around) = self.stack.last_mut().filter(|_| text && !frame.bounds.inline) {
                around.first = None;
            }
        }
    }

    /// Returns true for an element that is not drawn.
    fn is_left_out(&self, id: NodeId, name: &str, style: &ComputedStyle) -> bool {
        let (tree, around) = (self.tree, self.around());
        // A picture as `content` replaces everything in the element.
        if style.is(CssProperty::Display, "none") || style.is(CssProperty::Content, "picture") {
            return true;
        }
        // CSS Display: `contents` on a form field hides it.
        if name == "input" && style.is(P::Display, "contents") {
            return true;
        }
        if around.style.closed {
            let parent = tree.parent(id).unwrap_or(id);
            let is_summary = |child: &NodeId| tree.name(*child) == "summary";
            // Only the first `summary` stays visible. The search for it is limited, because it is
            // repeated for each child.
            if !is_summary(&id) || tree.children(parent).take(1_000).find(is_summary) != Some(id) {
                return true;
            }
        }
        let parent = tree.name(around.id);
        // A browser draws a gauge instead of the first two, and only the first child of `maction`.
        matches!(parent, "meter" | "progress")
            || parent == "maction" && tree.before(id).is_some()
            || name == "option" && around.chosen.is_some_and(|chosen| chosen != id)
    }

    /// Decides whether text directly in the current element is seen. `chars` is the number of its
    /// characters without white space.
    pub fn text(&mut self, chars: usize) -> TextVisibility {
        let mut visibility = self.judge(chars);
        if visibility == TextVisibility::Seen && self.hangs() {
            visibility = TextVisibility::Doubt(HidingMethod::OffPage);
        }
        match visibility {
            TextVisibility::Hidden(_) => return visibility,
            TextVisibility::Seen => self.shown.push((chars, None)),
            TextVisibility::Doubt(why) => self.shown.push((chars, Some(why))),
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.filled = true;
        }
        let frame = self.stack.last().unwrap_or(&self.page);
        self.boxes.text(&frame.bounds, &frame.style, chars);
        visibility
    }

    /// Decides whether a picture in the current element is seen.
    pub fn picture(&self) -> TextVisibility {
        let frame = self.around();
        let (width, height) = frame.bounds.size();
        // A picture of one or two pixels is a spacer or a tracker.
        let speck = |side: Option<f32>| side.is_some_and(|side| side <= 2.0);
        if speck(width) || speck(height) || is_unseen(&frame.style) || frame.alpha < CLEAR {
            return TextVisibility::Hidden(HidingMethod::Marked);
        }
        self.boxes.visibility_at(&frame.bounds, &frame.style, 1, frame.scale)
    }

    fn judge(&self, chars: usize) -> TextVisibility {
        let frame = self.around();
        let style = &frame.style;
        if style.closed || is_unseen(style) || !self.draws_text(frame.id) {
            return TextVisibility::Hidden(HidingMethod::Marked);
        }
        let points = f64::from(style.font * frame.scale) * PIXEL;
        let mut size = TextVisibility::of_size(points);
        // Browsers enforce a minimum on relative font sizes.
        let own_points = f64::from(style.font) * PIXEL;
        if size.is_hidden() && style.relative && own_points > 0.0 && own_points < TINY {
            size = TextVisibility::Doubt(HidingMethod::Tiny);
        }
        let placed = self.boxes.visibility_at(&frame.bounds, style, chars, frame.scale);
        let mut seen = self.contrast(frame, style).max(placed);
        if seen.is_hidden() && frame.revealed {
            seen = TextVisibility::Doubt(HidingMethod::Style);
        }
        // The style of drawings is not computed.
        let is_drawn = self.tree.namespace(frame.id).ends_with("/svg");
        let is_arranged = self.boxes.may_squeeze(&frame.bounds, frame.arranged);
        let doubts = [
            frame.doubt,
            frame.covered.then_some(HidingMethod::Covered),
            is_drawn.then_some(HidingMethod::Style),
            is_arranged.then_some(HidingMethod::Clipped),
            self.hides_first(frame).then_some(HidingMethod::Tiny),
        ];
        let doubts = doubts.into_iter().flatten().map(TextVisibility::Doubt);
        doubts.fold(size.max(seen), TextVisibility::max)
    }

    /// Returns false for an element whose own text is not drawn.
    fn draws_text(&self, id: NodeId) -> bool {
        let tree = self.tree;
        let name = tree.name(id);
        // An option with a label shows the label instead of its text.
        let labelled = || tree.attr(id, "label").is_some_and(|label| !label.is_empty());
        if matches!(name, "meter" | "progress") || name == "option" && labelled() {
            return false;
        }
        // SVG draws text in these elements only.
        !tree.namespace(id).ends_with("/svg")
            || matches!(name, "text" | "tspan" | "textPath" | "a" | "foreignObject")
    }

    /// Returns true if the first line or letter of an element may be hidden.
    fn hides_first(&self, frame: &ElementFrame) -> bool {
        frame.first.as_deref().is_some_and(|first| {
            let size = f64::from(first.font * frame.scale) * PIXEL;
            is_unseen(first)
                || first.size(P::Opacity).is_some_and(|opacity| opacity.fraction() < CLEAR)
                || first.unclear
                || first.has(OtherEffect::Redraws)
                || TextVisibility::of_size(size).is_hidden()
                || self.contrast(frame, first).is_hidden()
        })
    }

    /// Returns the visibility of text in a style on the ground of an element, by its colour.
    fn contrast(&self, frame: &ElementFrame, style: &ComputedStyle) -> TextVisibility {
        let colors = frame.ground.len();
        if colors > 1 && !self.cascade.spend(colors) {
            return TextVisibility::Doubt(HidingMethod::Picture);
        }
        let points = f64::from(style.font * frame.scale) * PIXEL;
        frame.ground.contrast(style.color, frame.alpha, points)
    }
}

/// Returns true for an element whose content a browser replaces by a shadow tree.
fn has_shadow(tree: &DomTree, id: NodeId) -> bool {
    tree.children(id).any(|child| is_shadow(tree, child))
}

/// Returns the option that a closed list shows, or `None` for a list that shows all.
fn chosen(tree: &DomTree, id: NodeId) -> Option<NodeId> {
    let rows = tree.attr(id, "size").and_then(|size| size.trim().parse::<u32>().ok());
    if tree.attr(id, "multiple").is_some() || rows.is_some_and(|rows| rows > 1) {
        return None;
    }
    let options = || tree.below(id).filter(|id| tree.name(*id) == "option");
    // If several options are selected, the last counts; without any, the first is shown.
    options().filter(|id| tree.attr(*id, "selected").is_some()).last().or_else(|| options().next())
}
