//! Whether text is seen: the walk over the document with what has added up on the way.
//!
//! Each element is entered with its computed style; from that follows what it does to
//! everything in it: how opaque that is, how large, on what ground, how far it is moved
//! and what is cut off. A text asks the element it stands in. What the properties do is
//! worked out in the files below; here is what they add up to.

mod backdrop;
mod bounds;
mod clip;
mod collapse;
mod contrast;
mod effects;
mod empty_boxes;
mod geometry;
mod overlap;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use backdrop::{ColourFilter, TextBackdrop, TextContrast};
use bounds::ElementBounds;
use clip::ClipBoxes;
use collapse::is_collapsed;
use empty_boxes::{LoosePosition, PaintedBox};

use super::sheets::select::MatchWork;
use super::style::cascade::StyleCascade;
use super::style::computed::ComputedStyle;
use super::values::color::Rgba;
use super::values::property::{CssProperty, CssProperty as P};
use crate::text::html::HidingReason;
use crate::text::html::tree::{DomTree, NodeId, ROOT};
use crate::text::html::writer::WhiteSpace;

/// Text smaller than this, in pixels, is not seen.
const TINY: f32 = 1.5;
/// Text smaller than this may not be.
const SMALL: f32 = 5.0;
/// Pale text of this size can be read.
const LARGE: f32 = 24.0;
/// What is less opaque than this is not seen, whatever its colour.
const CLEAR: f32 = 0.04;
/// A line of this thickness, in pixels, covers text.
const THICK: f32 = 8.0;

/// Whether something is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CssVisibility {
    Shown,
    Hidden,
    Doubt(HidingReason),
}

/// What an element makes of what is in it.
#[derive(Debug, Clone)]
pub(super) struct ElementFrame {
    pub id: NodeId,
    pub look: ComputedStyle,
    /// How opaque it is, with all around it.
    alpha: f32,
    /// By how much text is enlarged.
    scale: f32,
    ground: TextBackdrop,
    tints: Rc<[ColourFilter]>,
    /// The colours of the ground that text is cut out of.
    cut_out: Option<Rc<[Rgba]>>,
    /// The box that its ground is of.
    painter: Option<Rc<PaintedBox>>,
    /// How it may stand beside that box.
    loose: Option<LoosePosition>,
    /// True if something in it gives it a height.
    filled: bool,
    /// What it shows that is lost if it has none.
    hanging: Vec<usize>,
    pub place: ElementBounds,
    /// Why all in it may be hidden.
    doubt: Option<HidingReason>,
    /// The option that its list shows.
    chosen: Option<NodeId>,
    /// True for a ground of its own that nothing shines through.
    opaque: bool,
    /// True if what is behind it ends here.
    stacks: bool,
    /// Where its text begins among all that is shown.
    first_text: usize,
    /// True if a box may lie over it.
    covered: bool,
    /// True for an element that is a picture.
    picture: bool,
    /// Which columns of a table are collapsed.
    columns: Option<Rc<[bool]>>,
    /// The look of its first line, where that is different.
    first: Option<Rc<ComputedStyle>>,
}

/// Looks at a document as a reader does.
pub struct VisibilityWalker<'t> {
    tree: &'t DomTree,
    cascade: StyleCascade<'t>,
    stack: Vec<ElementFrame>,
    boxes: ClipBoxes,
    /// The texts shown so far: their characters, and why they may be hidden.
    shown: Vec<(usize, Option<HidingReason>)>,
    /// From which of them to which boxes lie over them.
    covers: Vec<Range<usize>>,
    page: ElementFrame,
    /// The names of the `details` that are open: of each name, only the first one is.
    opened: HashSet<&'t str>,
    /// True if there is a shadow tree, which mail programs take out.
    shadows: bool,
}

impl<'t> VisibilityWalker<'t> {
    /// Creates a viewer of the whole document.
    pub fn new(tree: &'t DomTree, work: &'t [MatchWork; 2]) -> Self {
        let page = ElementFrame {
            id: ROOT,
            look: ComputedStyle::page(),
            alpha: 1.0,
            scale: 1.0,
            ground: TextBackdrop::page(),
            tints: Rc::new([]),
            cut_out: None,
            painter: None,
            loose: None,
            filled: false,
            hanging: Vec::new(),
            place: ElementBounds::page(),
            doubt: None,
            chosen: None,
            opaque: false,
            stacks: true,
            first_text: 0,
            covered: false,
            picture: false,
            columns: None,
            first: None,
        };
        Self {
            tree,
            cascade: StyleCascade::of(tree, work),
            stack: Vec::new(),
            boxes: ClipBoxes::default(),
            shown: Vec::new(),
            covers: Vec::new(),
            page,
            opened: HashSet::new(),
            shadows: tree.below(ROOT).any(|id| is_shadow(tree, id)),
        }
    }

    /// Returns why texts may be hidden, and how many characters of them.
    pub fn doubts(&self) -> BTreeMap<HidingReason, usize> {
        let mut all = BTreeMap::new();
        // How many covers begin at a text, less those that end there.
        let mut steps = vec![0_isize; self.shown.len() + 1];
        for (at, step) in self.covers.iter().flat_map(|one| [(one.start, 1), (one.end, -1)]) {
            if let Some(slot) = steps.get_mut(at) {
                *slot += step;
            }
        }
        let mut above = 0;
        for ((chars, why), step) in self.shown.iter().zip(steps) {
            above += step;
            if let Some(why) = why.as_ref().or((above > 0).then_some(&HidingReason::Covered)) {
                *all.entry(*why).or_default() += chars;
            }
        }
        if self.cascade.is_over() {
            all.entry(HidingReason::Limit).or_default();
        }
        if self.cascade.shrinks() {
            all.entry(HidingReason::Small).or_default();
        }
        all
    }

    fn around(&self) -> &ElementFrame {
        self.stack.last().unwrap_or(&self.page)
    }

    /// Returns true if the element that was entered strikes its text out.
    pub fn strikes(&self) -> bool {
        self.around().look.is(P::Strike, "line-through")
    }

    /// Returns how the element that was entered keeps white space, if it does.
    pub fn white_space(&self) -> Option<WhiteSpace> {
        match self.around().look.word(P::WhiteSpaceCollapse)? {
            "pre" | "pre-wrap" | "break-spaces" | "preserve" => Some(WhiteSpace::Kept),
            "pre-line" | "preserve-breaks" => Some(WhiteSpace::Lines),
            _ => None,
        }
    }

    /// Returns true if the element that was entered is a box apart from the text around it.
    pub fn stands_apart(&self) -> bool {
        let look = &self.around().look;
        let blocks = ["block", "flex", "grid", "table", "list-item", "flow-root", "-webkit-box"];
        look.word(P::Float).is_some_and(|side| side != "none")
            || look.word(P::Display).is_some_and(|word| blocks.contains(&word))
    }

    /// Returns how the element that was entered is numbered, as an item of a list.
    pub fn numbers(&self) -> Option<&'static str> {
        self.around().look.word(P::ListStyle)
    }

    /// Returns true if the element that was entered turns its text around, from right to left.
    pub fn reverses(&self) -> bool {
        let look = &self.around().look;
        let overrides = |word: &str| word.ends_with("override");
        look.is(P::Direction, "rtl") && look.word(P::UnicodeBidi).is_some_and(overrides)
    }

    /// Enters an element. If that is hidden, so is all in it, and it is not to be left.
    pub fn enter(&mut self, id: NodeId) -> CssVisibility {
        let tree = self.tree;
        let around = self.stack.last().unwrap_or(&self.page);
        let mut look = self.cascade.look(id, &around.look, around.place.container);
        let name = tree.name(id);
        let group = tree.attr(id, "name").filter(|group| name == "details" && !group.is_empty());
        if let Some(group) = group.filter(|_| tree.attr(id, "open").is_some()) {
            look.closed |= !self.opened.insert(group);
        }
        if self.is_left_out(id, name, &look) {
            return CssVisibility::Hidden;
        }
        let around = self.stack.last().unwrap_or(&self.page);
        let mut frame = ElementFrame {
            id,
            place: ElementBounds::of(tree, id, &look, &around.place, &mut self.boxes),
            alpha: around.alpha,
            scale: around.scale,
            ground: around.ground.clone(),
            tints: Rc::clone(&around.tints),
            cut_out: around.cut_out.clone(),
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
            columns: around.columns.clone(),
            first: around.first.clone(),
            look,
        };
        if name == "html" && frame.look.is(P::ColorScheme, "dark") {
            frame.ground = TextBackdrop::dark();
        }
        let display = frame.look.word(P::Display).unwrap_or("inline");
        let around_inline = around.place.inline
            && !around.place.contents
            && !frame.place.positioned
            && matches!(display, "block" | "table" | "flex" | "grid" | "list-item" | "flow-root");
        if frame.look.unclear || self.shadows && has_shadow(tree, id) {
            frame.doubt = Some(HidingReason::Script);
        }
        if !frame.place.inline && around_inline {
            // The ground of a line ends where a block begins in it.
            let block = self.stack.iter().rev().find(|frame| !frame.place.inline);
            frame.ground = block.unwrap_or(&self.page).ground.clone();
        }
        if !frame.place.inline {
            frame.first = frame.look.first.take().map(Rc::from);
        }
        if name == "table" {
            frame.columns = self.collapsed(id, &frame.look);
        } else if matches!(name, "td" | "th")
            && frame.columns.as_deref().is_some_and(|columns| {
                self.cascade.spend(columns.len()) && is_collapsed(tree, id, columns)
            })
        {
            return CssVisibility::Hidden;
        }
        if name == "select" {
            frame.chosen = chosen(tree, id);
        }
        if name == "br" {
            self.boxes.line_break(&frame.place, &frame.look);
            if let Some(around) = self.stack.last_mut() {
                around.first = None;
            }
        }
        if !frame.place.contents && self.effects(&mut frame, name) {
            return CssVisibility::Hidden;
        }
        self.loosen(&mut frame, name);
        self.behind(&mut frame);
        self.cover(&frame, true);
        let before = frame.look.before.take();
        self.stack.push(frame);
        self.part(before);
        CssVisibility::Shown
    }

    /// Leaves the element entered last.
    pub fn leave(&mut self) {
        let after = self.stack.last_mut().and_then(|frame| frame.look.after.take());
        self.part(after);
        if let Some(frame) = self.stack.pop() {
            let text = self.shown.len() > frame.first_text;
            self.boxes.leave(&frame.place, &frame.look, text);
            self.fill(&frame);
            if let Some(around) = self.stack.last_mut().filter(|_| text && !frame.place.inline) {
                around.first = None;
            }
        }
    }

    /// Returns true for an element that is not drawn at all.
    fn is_left_out(&self, id: NodeId, name: &str, look: &ComputedStyle) -> bool {
        let (tree, around) = (self.tree, self.around());
        if look.is(CssProperty::Display, "none") || look.is(CssProperty::Content, "picture") {
            return true;
        }
        if name == "input" && look.is(P::Display, "contents") {
            return true;
        }
        let inline = matches!(look.word(CssProperty::Display), None | Some("inline" | "contents"));
        if look.is(CssProperty::ContentVisibility, "hidden") && !inline {
            return true;
        }
        if around.look.closed {
            let parent = tree.parent(id).unwrap_or(id);
            let is_summary = |child: &NodeId| tree.name(*child) == "summary";
            // The first one is its summary, and nobody puts a thousand elements before it.
            if !is_summary(&id) || tree.children(parent).take(1_000).find(is_summary) != Some(id) {
                return true;
            }
        }
        let parent = tree.name(around.id);
        matches!(parent, "meter" | "progress")
            || parent == "maction" && tree.before(id).is_some()
            || name == "option" && around.chosen.is_some_and(|chosen| chosen != id)
    }

    /// Returns whether text right in the element entered last is seen. `chars` is how
    /// many characters it has without white space.
    pub fn text(&mut self, chars: usize) -> CssVisibility {
        let mut sight = self.judge(chars);
        if sight == CssVisibility::Shown && self.hangs() {
            sight = CssVisibility::Doubt(HidingReason::Moved);
        }
        match sight {
            CssVisibility::Hidden => return sight,
            CssVisibility::Shown => self.shown.push((chars, None)),
            CssVisibility::Doubt(why) => self.shown.push((chars, Some(why))),
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.filled = true;
        }
        let frame = self.stack.last().unwrap_or(&self.page);
        self.boxes.text(&frame.place, &frame.look, chars);
        sight
    }

    /// Returns whether a picture in the element entered last is seen.
    pub fn picture(&self) -> CssVisibility {
        let frame = self.around();
        let (width, height) = frame.place.size();
        // A picture of a pixel or two is a spacer, or a tracker.
        let speck = |side: Option<f32>| side.is_some_and(|side| side <= 2.0);
        if speck(width) || speck(height) || is_unseen(&frame.look) || frame.alpha < CLEAR {
            return CssVisibility::Hidden;
        }
        self.boxes.sight(&frame.place, &frame.look, 1, frame.scale)
    }

    fn judge(&self, chars: usize) -> CssVisibility {
        let frame = self.around();
        let (tree, look) = (self.tree, &frame.look);
        let name = tree.name(frame.id);
        let drawn = tree.namespace(frame.id).ends_with("/svg");
        if look.closed
            || is_unseen(look)
            || look.get(CssProperty::TextSecurity).is_some()
                && !look.is(CssProperty::TextSecurity, "none")
        {
            return CssVisibility::Hidden;
        }
        let labelled = || tree.attr(frame.id, "label").is_some_and(|label| !label.is_empty());
        if matches!(name, "meter" | "progress") || name == "option" && labelled() {
            return CssVisibility::Hidden;
        }
        if drawn && !matches!(name, "text" | "tspan" | "textPath" | "a" | "foreignObject") {
            return CssVisibility::Hidden;
        }
        let px = look.font * frame.scale;
        if px <= TINY {
            let drawn_larger = look.relative && look.font > 0.0 && look.font <= TINY;
            return if drawn_larger {
                CssVisibility::Doubt(HidingReason::Small)
            } else {
                CssVisibility::Hidden
            };
        }
        if look.size(CssProperty::SizeAdjust).is_some_and(|size| size.n == 0.0) {
            return CssVisibility::Hidden;
        }
        let contrast = match self.contrast(frame, look, drawn) {
            TextContrast::Lost => return CssVisibility::Hidden,
            TextContrast::Seen => None,
            TextContrast::Pale => (px < LARGE).then_some(HidingReason::Pale),
            TextContrast::Picture => Some(HidingReason::Picture),
            TextContrast::Unknown => Some(HidingReason::Script),
        };
        let placed = match self.boxes.sight(&frame.place, look, chars, frame.scale) {
            CssVisibility::Hidden => return CssVisibility::Hidden,
            CssVisibility::Doubt(why) => Some(why),
            CssVisibility::Shown => None,
        };
        let first = frame.first.as_deref().filter(|first| {
            is_unseen(first)
                || first.size(P::Opacity).is_some_and(|opacity| opacity.fraction() < CLEAR)
                || first.font * frame.scale <= TINY
                || self.contrast(frame, first, drawn) == TextContrast::Lost
        });
        let small = (px <= SMALL || first.is_some()).then_some(HidingReason::Small);
        let covered = frame.covered.then_some(HidingReason::Covered);
        match contrast.or(placed).or(small).or(covered).or(frame.doubt) {
            Some(why) => CssVisibility::Doubt(why),
            None => CssVisibility::Shown,
        }
    }
}

fn is_shadow(tree: &DomTree, id: NodeId) -> bool {
    tree.name(id) == "template" && tree.attr(id, "shadowrootmode").is_some()
}

/// Returns true for an element that a browser shows a shadow tree in place of.
fn has_shadow(tree: &DomTree, id: NodeId) -> bool {
    tree.children(id).any(|child| is_shadow(tree, child))
}

fn is_unseen(look: &ComputedStyle) -> bool {
    matches!(look.word(CssProperty::Visibility), Some("hidden" | "collapse"))
}

/// Returns the option that a list shows when it is closed; none for one that shows all.
fn chosen(tree: &DomTree, id: NodeId) -> Option<NodeId> {
    let rows = tree.attr(id, "size").and_then(|size| size.trim().parse::<u32>().ok());
    if tree.attr(id, "multiple").is_some() || rows.is_some_and(|rows| rows > 1) {
        return None;
    }
    let options = || tree.below(id).filter(|id| tree.name(*id) == "option");
    options().filter(|id| tree.attr(*id, "selected").is_some()).last().or_else(|| options().next())
}
