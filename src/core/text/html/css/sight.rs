//! Whether text is seen: the walk over the document with what has added up on the way.
//!
//! Each element is entered with its computed style; from that follows what it does to
//! everything in it: how opaque that is, how large, on what ground, how far it is moved
//! and what is cut off. A text asks the element it stands in.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::super::Why;
use super::super::tree::{Id, Tree};
use super::cascade::Cascade;
use super::color::Rgba;
use super::geometry::{Left, left, moved};
use super::ground::{Contrast, Ground, Tint, ink};
use super::look::Look;
use super::media::SCREEN;
use super::place::{Boxes, Place};
use super::property::{Image, Property, Property as P};
use super::select::Work;
use super::value::Quantity;

/// Text smaller than this, in pixels, is not seen.
const TINY: f32 = 1.5;
/// Text smaller than this may not be.
const SMALL: f32 = 3.0;
/// What is less opaque than this is not seen, whatever its colour.
const CLEAR: f32 = 0.04;
/// How thick the lines of glyphs are at least, in font sizes.
const STEM: f32 = 0.1;
/// A line of this thickness, in pixels, covers text.
const THICK: f32 = 8.0;
/// From so many pixels on, a box that is moved up, or back, lies over what is before it.
const UP: f32 = 8.0;
const BACK: f32 = 20.0;
/// What is left of an area when it is turned or shrunk until it is gone.
const GONE: f32 = 0.003;

/// Whether something is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    Shown,
    Hidden,
    Doubt(Why),
}

/// What an element makes of what is in it.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub id: Id,
    pub look: Look,
    /// How opaque it is, with all around it.
    alpha: f32,
    /// By how much text is enlarged.
    scale: f32,
    ground: Ground,
    tints: Rc<[Tint]>,
    /// The colours of the ground that text is cut out of.
    cut_out: Option<Rc<[Rgba]>>,
    pub place: Place,
    /// Why all in it may be hidden.
    doubt: Option<Why>,
    /// The option that its list shows.
    chosen: Option<Id>,
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
    first: Option<Rc<Look>>,
}

/// Looks at a document as a reader does.
pub struct Viewer<'t> {
    tree: &'t Tree,
    cascade: Cascade<'t>,
    stack: Vec<Frame>,
    boxes: Boxes,
    /// The texts shown so far: their characters, and why they may be hidden.
    shown: Vec<(usize, Option<Why>)>,
    /// From which of them to which boxes lie over them.
    covers: Vec<Range<usize>>,
    page: Frame,
    /// True if there is a shadow tree, which mail programs take out.
    shadows: bool,
}

impl<'t> Viewer<'t> {
    /// Creates a viewer of the whole document.
    pub fn new(tree: &'t Tree, work: &'t [Work; 2]) -> Self {
        let page = Frame {
            id: super::super::tree::ROOT,
            look: Look::page(),
            alpha: 1.0,
            scale: 1.0,
            ground: Ground::page(),
            tints: Rc::new([]),
            cut_out: None,
            place: Place::page(),
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
            cascade: Cascade::of(tree, work),
            stack: Vec::new(),
            boxes: Boxes::default(),
            shown: Vec::new(),
            covers: Vec::new(),
            page,
            shadows: tree.below(super::super::tree::ROOT).any(|id| is_shadow(tree, id)),
        }
    }

    /// Returns why texts may be hidden, and how many characters of them.
    pub fn doubts(&self) -> BTreeMap<Why, usize> {
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
            if let Some(why) = why.as_ref().or((above > 0).then_some(&Why::Covered)) {
                *all.entry(*why).or_default() += chars;
            }
        }
        if self.cascade.is_over() {
            all.entry(Why::Limit).or_default();
        }
        all
    }

    fn around(&self) -> &Frame {
        self.stack.last().unwrap_or(&self.page)
    }

    /// Enters an element. If that is hidden, so is all in it, and it is not to be left.
    pub fn enter(&mut self, id: Id) -> Sight {
        let tree = self.tree;
        let around = self.stack.last().unwrap_or(&self.page);
        let look = self.cascade.look(id, &around.look, around.place.container);
        let name = tree.name(id);
        if self.is_left_out(id, name, &look) {
            return Sight::Hidden;
        }
        let around = self.stack.last().unwrap_or(&self.page);
        let mut frame = Frame {
            id,
            place: Place::of(tree, id, &look, &around.place, &mut self.boxes),
            alpha: around.alpha,
            scale: around.scale,
            ground: around.ground.clone(),
            tints: Rc::clone(&around.tints),
            cut_out: around.cut_out.clone(),
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
            frame.ground = Ground::dark();
        }
        let display = frame.look.word(P::Display).unwrap_or("inline");
        let around_inline = around.place.inline
            && !around.place.contents
            && !frame.place.positioned
            && matches!(display, "block" | "table" | "flex" | "grid" | "list-item" | "flow-root");
        if frame.look.unclear || self.shadows && has_shadow(tree, id) {
            frame.doubt = Some(Why::Script);
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
            return Sight::Hidden;
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
            return Sight::Hidden;
        }
        self.behind(&mut frame);
        self.cover(&frame, true);
        let before = frame.look.before.take();
        self.stack.push(frame);
        self.part(before);
        Sight::Shown
    }

    /// Finds out what a part of the element entered last, of a text of its own, lies over.
    fn part(&mut self, look: Option<Box<Look>>) {
        let Some((look, holder)) = look.zip(self.stack.last()) else { return };
        if !matches!(look.word(P::Content), Some("text" | "picture"))
            || look.is(P::Display, "none")
            || is_unseen(&look)
        {
            return;
        }
        let place = Place::of(self.tree, holder.id, &look, &holder.place, &mut self.boxes);
        let mut frame = Frame {
            picture: look.is(P::Content, "picture"),
            stacks: look.size(P::Opacity).is_some_and(|opacity| opacity.n < 1.0),
            look: *look,
            place,
            ..holder.clone()
        };
        if !self.transforms(&mut frame) {
            frame.opaque = frame.ground.of(&frame.look, frame.tints.len()).1;
            self.cover(&frame, false);
        }
    }

    /// Leaves the element entered last.
    pub fn leave(&mut self) {
        let after = self.stack.last_mut().and_then(|frame| frame.look.after.take());
        self.part(after);
        if let Some(frame) = self.stack.pop() {
            let text = self.shown.len() > frame.first_text;
            self.boxes.leave(&frame.place, &frame.look, text);
            if let Some(around) = self.stack.last_mut().filter(|_| text && !frame.place.inline) {
                around.first = None;
            }
        }
    }

    /// Returns true for an element that is not drawn at all.
    fn is_left_out(&self, id: Id, name: &str, look: &Look) -> bool {
        let (tree, around) = (self.tree, self.around());
        if look.is(Property::Display, "none") || look.is(Property::Content, "picture") {
            return true;
        }
        if name == "input" && look.is(P::Display, "contents") {
            return true;
        }
        let inline = matches!(look.word(Property::Display), None | Some("inline" | "contents"));
        if look.is(Property::ContentVisibility, "hidden") && !inline {
            return true;
        }
        if around.look.closed {
            let parent = tree.parent(id).unwrap_or(id);
            let is_summary = |child: &Id| tree.name(*child) == "summary";
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

    /// Works out what the properties do that change how a whole element is drawn; true
    /// if nothing of it is seen.
    fn effects(&mut self, frame: &mut Frame, name: &str) -> bool {
        let look = &frame.look;
        let rem = self.cascade.rem();
        if let Some(opacity) = look.size(Property::Opacity) {
            frame.alpha *= opacity.fraction().clamp(0.0, 1.0);
            frame.stacks |= opacity.fraction() < 1.0;
        }
        let mut tints = Vec::new();
        for call in look.calls(Property::Filter) {
            frame.stacks = true;
            let size = call.args.first().map(|arg| arg.compute(&look.scale(rem)));
            let by = size.map_or(1.0, |size| size.fraction());
            match call.name {
                "opacity" => frame.alpha *= by.clamp(0.0, 1.0),
                "blur" if by >= look.font && size.is_some() => return true,
                "blur" if by >= look.font / 2.0 && size.is_some() => {
                    frame.doubt = Some(Why::Blended);
                }
                "url" => frame.doubt = Some(Why::Blended),
                name => tints.push(Tint { name, by }),
            }
        }
        if !tints.is_empty() && self.cascade.spend(frame.tints.len()) {
            frame.tints = frame.tints.iter().copied().chain(tints).collect();
        }
        if frame.alpha < CLEAR {
            return true;
        }
        let masks = look.images(Property::Mask);
        let faint = |image: &Image| match image {
            Image::Gradient(stops) => {
                stops.iter().all(|stop| look.paint(stop).is_some_and(|[.., alpha]| alpha < CLEAR))
            }
            _ => false,
        };
        if !masks.is_empty() && masks.iter().all(faint) {
            return true;
        }
        if !masks.is_empty() && look.is(Property::MaskSize, "nothing") {
            return true;
        }
        // What begins faint may leave nothing of the text.
        let begins = |image: &Image| match image {
            Image::Gradient(stops) => {
                let first = stops.first().and_then(|stop| look.paint(stop));
                first.is_none_or(|[.., alpha]| alpha < 0.5)
            }
            _ => false,
        };
        if masks.iter().any(begins)
            || !masks.is_empty() && look.is(Property::MaskMode, "some")
            || !masks.is_empty() && look.is(Property::MaskPlace, "far")
        {
            frame.doubt = Some(Why::Blended);
        }
        let outline = look.px(Property::Outline, None).unwrap_or_default();
        let inside = -look.px(Property::OutlineOffset, None).unwrap_or_default();
        if outline >= THICK && inside >= THICK {
            frame.doubt = Some(Why::Covered);
        }
        let strike = look.px(P::StrikeWidth, Some(look.font)).unwrap_or_default();
        if look.is(P::Strike, "line-through") && strike >= look.font * 0.4 {
            frame.doubt = Some(Why::Covered);
        }
        if masks.contains(&Image::Picture) {
            frame.doubt = Some(Why::Blended);
        }
        if look.word(Property::Blend).is_some_and(|word| word != "normal") {
            frame.doubt = Some(Why::Blended);
        }
        if look.is(Property::BackgroundClip, "text") {
            let (own, _) = Ground::page().of(look, frame.tints.len());
            frame.cut_out = Some(own.colors());
        } else {
            let (ground, opaque) = frame.ground.of(look, frame.tints.len());
            let (width, height) = frame.place.size();
            let empty = |side: Option<f32>, pads: [P; 2]| {
                side.is_some_and(|side| side <= 2.0)
                    && pads
                        .iter()
                        .all(|pad| look.size(*pad).is_none_or(|pad| pad.n + pad.part == 0.0))
            };
            if empty(width, [P::PaddingLeft, P::PaddingRight])
                || empty(height, [P::PaddingTop, P::PaddingBottom])
            {
                // Text beside its box has what is behind the box.
                return self.shaped(frame);
            }
            frame.opaque = opaque && !matches!(name, "html" | "body");
            if opaque {
                frame.cut_out = None;
            }
            frame.ground = ground;
        }
        self.shaped(frame)
    }

    /// Works out what is left of an element that is zoomed, cut out or moved; true if
    /// nothing is.
    fn shaped(&self, frame: &mut Frame) -> bool {
        let look = &frame.look;
        let rem = self.cascade.rem();
        if let Some(zoom) = look.size(Property::Zoom).filter(|zoom| zoom.fraction() > 0.0) {
            frame.scale *= zoom.fraction();
        }
        let size = frame.place.size();
        let name = self.tree.name(frame.id);
        if name == "switch" {
            frame.doubt = Some(Why::Script);
        }
        if matches!(look.word(Property::Position), Some("absolute" | "fixed")) {
            match left(look.calls(Property::Clip), &look.scale(rem), size) {
                Left::Nothing => return true,
                Left::Unknown => frame.doubt = Some(Why::Clipped),
                Left::Some => {}
            }
        }
        match left(look.calls(Property::ClipPath), &look.scale(rem), size) {
            Left::Nothing => return true,
            Left::Unknown => frame.doubt = Some(Why::Clipped),
            Left::Some => {}
        }
        !frame.place.inline && self.transforms(frame)
    }

    /// Works out what transforms do; true if nothing is left.
    fn transforms(&self, frame: &mut Frame) -> bool {
        let look = &frame.look;
        let calls = || {
            [P::Translate, P::Rotate, P::Scale, P::Transform]
                .into_iter()
                .flat_map(|p| look.calls(p))
        };
        let around = &self.around().look;
        let deep =
            around.size(P::Perspective).is_some() || around.is(P::TransformStyle, "preserve-3d");
        let moves = calls().next().is_some();
        if deep && (moves || look.is(P::Backface, "hidden")) {
            // It stands in the room of what is around it.
            frame.doubt = Some(Why::Moved);
        }
        if !moves {
            return false;
        }
        frame.stacks = true;
        let size =
            (frame.place.width.unwrap_or(SCREEN.0 - 16.0), frame.place.height.unwrap_or(20.0));
        let origin = look.calls(P::TransformOrigin).first();
        let size = (size.0.max(1.0), size.1.max(1.0));
        let moved = moved(calls(), origin, &look.scale(self.cascade.rem()), size);
        if moved.behind || moved.area.abs() <= GONE {
            return true;
        }
        if moved.area < 0.0 && look.is(P::Backface, "hidden") {
            return true;
        }
        frame.scale *= moved.area.abs().sqrt();
        frame.place.shift(moved.x, moved.y);
        false
    }

    /// Returns which columns of a table are collapsed, if any is.
    fn collapsed(&mut self, table: Id, look: &Look) -> Option<Rc<[bool]>> {
        /// Nobody has more columns.
        const MOST: usize = 1_000;
        let tree = self.tree;
        let groups = |id: &Id| matches!(tree.name(*id), "colgroup" | "col");
        let mut columns = Vec::new();
        for group in tree.children(table).filter(groups) {
            let outer = self.cascade.look(group, look, None);
            let mut cols = tree.children(group).filter(groups).take(MOST).peekable();
            let alone = cols.peek().is_none().then_some(group);
            for col in cols.chain(alone) {
                let own = self.cascade.look(col, &outer, None);
                let span = number(tree, col, "span");
                let hidden = own.is(P::Visibility, "collapse");
                columns.extend(std::iter::repeat_n(hidden, span));
                if columns.len() > MOST {
                    return None;
                }
            }
        }
        columns.contains(&true).then(|| columns.into())
    }

    /// Works out whether the element lies behind the ground of one around it.
    fn behind(&self, frame: &mut Frame) {
        let z = frame.look.size(Property::ZIndex).map(|size| size.n);
        let positioned = frame.place.positioned;
        if positioned && z.is_some_and(|z| z < 0.0) {
            let hides = self.stack.iter().rev().take_while(|frame| !frame.stacks);
            if hides.into_iter().any(|frame| frame.opaque) {
                frame.alpha = 0.0;
            }
        }
        frame.stacks |= positioned && z.is_some();
        if positioned {
            frame.covered = false;
        }
    }

    /// Finds boxes that lie over what was shown before: large ones, and those without text of
    /// the mail. `whole` is an element, not a part of one.
    fn cover(&mut self, frame: &Frame, whole: bool) {
        let look = &frame.look;
        let around = &self.around().place;
        // What is drawn with the lines, or apart from all, lies over lines before it.
        let display = look.word(P::Display);
        let atomic = frame.picture || display == Some("inline-block");
        let (x, y) = frame.place.from(around);
        let up = y <= -UP || atomic && x <= -BACK;
        let over = frame.place.positioned || (frame.stacks || atomic) && up;
        let thick = |side| look.px(side, None).is_some_and(|px| px >= THICK);
        let lines = [P::BorderTop, P::BorderRight, P::BorderBottom, P::BorderLeft, P::Outline];
        let outline = thick(P::Outline) && look.size(P::OutlineOffset).is_none_or(|px| px.n >= 0.0);
        let shadow = look.is(P::BoxShadow, "wide");
        if outline || shadow && frame.place.positioned {
            // It lies over all that is beside it.
            self.covers.push(self.shown.len().saturating_sub(1)..self.shown.len());
        }
        let edges = lines.into_iter().any(thick) || shadow;
        let paints = frame.opaque
            || edges
            || frame.picture
            || look.images(P::BackgroundImage).contains(&Image::Picture);
        let under = frame.look.size(Property::ZIndex).is_some_and(|z| z.n < 0.0);
        let flat = |side: Option<f32>| side.is_some_and(|side| side < 20.0) && !edges;
        let (width, height) = frame.place.size();
        let faint = look.size(P::Opacity).is_some_and(|opacity| opacity.fraction() < 0.5);
        if !paints || under || faint || !over || flat(width) || flat(height) {
            return;
        }
        let text = |id: Id| {
            !self.cascade.spend(1) || self.tree.text(id).is_some_and(|text| !text.trim().is_empty())
        };
        let lifted = matches!(frame.look.word(Property::Position), Some("absolute" | "fixed"));
        let wide = |px: Option<f32>, [size, from, to]: [P; 3], least: f32| {
            px.is_some_and(|px| px >= least)
                || look.size(size).is_some_and(|size| size.part >= 0.5)
                || look.size(from).is_some() && look.size(to).is_some()
        };
        let large = lifted
            && wide(width, [P::Width, P::Left, P::Right], 200.0)
            && wide(height, [P::Height, P::Top, P::Bottom], 20.0);
        if whole && !large && self.tree.below(frame.id).any(text)
            || !lifted && !frame.place.rises && !up
        {
            return;
        }
        if !lifted {
            self.covers.push(self.shown.len().saturating_sub(1)..self.shown.len());
            return;
        }
        let holder = self.stack.iter().rposition(|frame| frame.place.positioned);
        let from = holder.and_then(|at| self.stack.get(at)).map_or(0, |frame| frame.first_text);
        self.covers.push(from..self.shown.len());
        for frame in self.stack.iter_mut().skip(holder.unwrap_or(0)) {
            frame.covered = true;
        }
    }

    /// Returns whether text right in the element entered last is seen. `chars` is how
    /// many characters it has without white space.
    pub fn text(&mut self, chars: usize) -> Sight {
        let sight = self.judge(chars);
        match sight {
            Sight::Hidden => return sight,
            Sight::Shown => self.shown.push((chars, None)),
            Sight::Doubt(why) => self.shown.push((chars, Some(why))),
        }
        let frame = self.stack.last().unwrap_or(&self.page);
        self.boxes.text(&frame.place, &frame.look, chars);
        sight
    }

    /// Returns whether a picture in the element entered last is seen.
    pub fn picture(&self) -> Sight {
        let frame = self.around();
        let (width, height) = frame.place.size();
        // A picture of a pixel or two is a spacer, or a tracker.
        let speck = |side: Option<f32>| side.is_some_and(|side| side <= 2.0);
        if speck(width) || speck(height) || is_unseen(&frame.look) || frame.alpha < CLEAR {
            return Sight::Hidden;
        }
        self.boxes.sight(&frame.place, &frame.look, 1, frame.scale)
    }

    fn judge(&self, chars: usize) -> Sight {
        let frame = self.around();
        let (tree, look) = (self.tree, &frame.look);
        let name = tree.name(frame.id);
        let drawn = tree.namespace(frame.id).ends_with("/svg");
        if look.closed
            || is_unseen(look)
            || look.get(Property::TextSecurity).is_some()
                && !look.is(Property::TextSecurity, "none")
        {
            return Sight::Hidden;
        }
        let labelled = || tree.attr(frame.id, "label").is_some_and(|label| !label.is_empty());
        if matches!(name, "meter" | "progress") || name == "option" && labelled() {
            return Sight::Hidden;
        }
        if drawn && !matches!(name, "text" | "tspan" | "textPath" | "a" | "foreignObject") {
            return Sight::Hidden;
        }
        let px = look.font * frame.scale;
        if px <= TINY {
            let drawn_larger = look.relative && look.font > 0.0 && look.font <= TINY;
            return if drawn_larger { Sight::Doubt(Why::Small) } else { Sight::Hidden };
        }
        if look.size(Property::SizeAdjust).is_some_and(|size| size.n == 0.0) {
            return Sight::Hidden;
        }
        let contrast = match self.contrast(frame, look, drawn) {
            Contrast::Lost => return Sight::Hidden,
            Contrast::Seen => None,
            Contrast::Picture => Some(Why::Picture),
            Contrast::Unknown => Some(Why::Script),
        };
        let placed = match self.boxes.sight(&frame.place, look, chars, frame.scale) {
            Sight::Hidden => return Sight::Hidden,
            Sight::Doubt(why) => Some(why),
            Sight::Shown => None,
        };
        let first = frame.first.as_deref().filter(|first| {
            first.font * frame.scale <= TINY || self.contrast(frame, first, drawn) == Contrast::Lost
        });
        let small = (px <= SMALL || first.is_some()).then_some(Why::Small);
        let covered = frame.covered.then_some(Why::Covered);
        match contrast.or(placed).or(small).or(covered).or(frame.doubt) {
            Some(why) => Sight::Doubt(why),
            None => Sight::Shown,
        }
    }

    fn contrast(&self, frame: &Frame, look: &Look, drawn: bool) -> Contrast {
        let colors = frame.cut_out.as_deref().map_or(1, <[_]>::len) * frame.ground.colors().len();
        if colors * (1 + frame.tints.len()) > 1
            && !self.cascade.spend(colors * (1 + frame.tints.len()))
        {
            return Contrast::Unknown;
        }
        let Some(ink) = ink(look, drawn) else { return Contrast::Unknown };
        let (width, color) = match drawn {
            true => (P::DrawnWidth, P::DrawnStroke),
            false => (P::StrokeWidth, P::StrokeColor),
        };
        // What is drawn has a line of a pixel where no width is set.
        let thin = drawn.then_some(Quantity::number(1.0));
        if let Some(stroke) = look.size(width).or(thin).filter(|width| width.n > 0.0) {
            let paint = match look.get(color) {
                Some(super::property::Value::Paint(paint)) => look.paint(paint),
                _ if drawn => Some(super::color::CLEAR),
                _ => look.color,
            };
            let Some(paint) = paint else { return Contrast::Unknown };
            let (seen, [.., alpha]) =
                (frame.ground.contrast(paint, frame.alpha, &frame.tints), paint);
            // The line around a glyph lies over it, half of it inside.
            let within = stroke.n >= look.font * STEM && !look.is(P::PaintOrder, "stroke");
            if seen != Contrast::Lost && stroke.n >= 0.5 || within && alpha > 0.5 {
                return seen;
            }
        }
        for shadow in look.images(P::TextShadow) {
            let Image::Gradient(colors) = shadow else { continue };
            let color = colors.first().map(|color| look.paint(color));
            let seen =
                color.flatten().map(|ink| frame.ground.contrast(ink, frame.alpha, &frame.tints));
            if let Some(seen @ (Contrast::Seen | Contrast::Picture)) = seen {
                return seen;
            }
        }
        let through = frame.cut_out.as_deref().unwrap_or(&[]);
        let seen = |ink| frame.ground.contrast(ink, frame.alpha, &frame.tints);
        if through.is_empty() {
            return seen(ink);
        }
        let all: Vec<Contrast> =
            through.iter().map(|below| seen(super::color::over(ink, *below))).collect();
        match all.iter().find(|one| **one != Contrast::Lost) {
            Some(one) => *one,
            None => Contrast::Lost,
        }
    }
}

/// Returns the number that an attribute says, from 1 to 1,000.
fn number(tree: &Tree, id: Id, name: &str) -> usize {
    tree.attr(id, name).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, 1_000)
}

/// Returns true for a cell that stands in collapsed columns alone.
fn is_collapsed(tree: &Tree, cell: Id, columns: &[bool]) -> bool {
    let before = std::iter::successors(tree.before(cell), |id| tree.before(*id))
        .take(columns.len() * 3)
        .filter(|id| matches!(tree.name(*id), "td" | "th"));
    let at: usize = before.map(|id| number(tree, id, "colspan")).sum();
    let own = columns.get(at..).unwrap_or_default();
    let mut own = own.iter().take(number(tree, cell, "colspan")).peekable();
    own.peek().is_some() && own.all(|collapsed| *collapsed)
}

fn is_shadow(tree: &Tree, id: Id) -> bool {
    tree.name(id) == "template" && tree.attr(id, "shadowrootmode").is_some()
}

/// Returns true for an element that a browser shows a shadow tree in place of.
fn has_shadow(tree: &Tree, id: Id) -> bool {
    tree.children(id).any(|child| is_shadow(tree, child))
}

fn is_unseen(look: &Look) -> bool {
    matches!(look.word(Property::Visibility), Some("hidden" | "collapse"))
}

/// Returns the option that a list shows when it is closed; none for one that shows all.
fn chosen(tree: &Tree, id: Id) -> Option<Id> {
    let rows = tree.attr(id, "size").and_then(|size| size.trim().parse::<u32>().ok());
    if tree.attr(id, "multiple").is_some() || rows.is_some_and(|rows| rows > 1) {
        return None;
    }
    let options = || tree.below(id).filter(|id| tree.name(*id) == "option");
    options().filter(|id| tree.attr(*id, "selected").is_some()).last().or_else(|| options().next())
}
