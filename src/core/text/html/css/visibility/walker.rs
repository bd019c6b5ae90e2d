//! The state of the walk over a document: the entered elements and the texts shown so far.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use super::super::sheets::select::MatchWork;
use super::super::style::cascade::StyleCascade;
use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty;
use super::backdrop::TextBackdrop;
use super::bounds::ElementBounds;
use super::clip::ClipBoxes;
use crate::text::html::tree::{DomTree, NodeId, ROOT};
use crate::text::visibility::HidingMethod;

/// A box with a background of its own.
#[derive(Debug)]
pub struct PaintedBox {
    /// The ground behind it.
    pub behind: TextBackdrop,
    /// Its position and size.
    pub bounds: ElementBounds,
    /// Its padding above and below the content, in pixels.
    pub pads: [f32; 2],
    /// Its index on the stack.
    pub at: usize,
}

/// The way in which a box may be outside the one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoosePosition {
    /// Out of the flow.
    Out,
    /// Out of the flow, and placed from the lower edge of a box whose height may be unknown.
    Below,
    /// Moved by its position or a transform.
    Moved,
}

/// An entered element, with its effects on its content.
#[derive(Debug, Clone)]
pub struct ElementFrame {
    /// The element.
    pub(super) id: NodeId,
    /// Its computed style.
    pub(super) style: ComputedStyle,
    /// Its opacity, including the elements around it.
    pub(super) alpha: f32,
    /// The factor by which text is enlarged.
    pub(super) scale: f32,
    /// The ground of its text.
    pub(super) ground: TextBackdrop,
    /// The box whose background is the ground.
    pub(super) painter: Option<Rc<PaintedBox>>,
    /// The way in which the element may be outside that box.
    pub(super) loose: Option<LoosePosition>,
    /// True if something in it gives it a height.
    pub(super) filled: bool,
    /// Texts, as indices of `shown`, that are lost if the box has no height.
    pub(super) hanging: Vec<usize>,
    /// Its position and size.
    pub(super) bounds: ElementBounds,
    /// A reason why everything in it may be hidden.
    pub(super) doubt: Option<HidingMethod>,
    /// The option that a closed list shows.
    pub(super) chosen: Option<NodeId>,
    /// True for an opaque background of its own.
    pub(super) opaque: bool,
    /// True for a stacking context: content behind it cannot be behind an element further out.
    pub(super) stacks: bool,
    /// The index in `shown` of its first text.
    pub(super) first_text: usize,
    /// True if a box may cover it.
    pub(super) covered: bool,
    /// True for an element that is a picture.
    pub(super) picture: bool,
    /// The number of clips before the element, if a property that is not computed may leave it no
    /// room in a clip.
    pub(super) arranged: Option<usize>,
    /// True if a property that is not computed may show text that others hide.
    pub(super) revealed: bool,
    /// The style of its first line, if that differs.
    pub(super) first: Option<Rc<ComputedStyle>>,
}

/// Decides which texts of a document a reader sees.
pub struct VisibilityWalker<'t> {
    /// The document.
    pub(super) tree: &'t DomTree,
    /// The source of the elements' styles.
    pub(super) cascade: StyleCascade<'t>,
    /// The open elements, the outermost first.
    pub(super) stack: Vec<ElementFrame>,
    /// The boxes that clip their content.
    pub(super) boxes: ClipBoxes,
    /// The texts shown so far: their characters, and a reason why they may be hidden.
    pub(super) shown: Vec<(usize, Option<HidingMethod>)>,
    /// Ranges of `shown` that a box may cover.
    pub(super) covers: Vec<Range<usize>>,
    /// The frame around the outermost element.
    pub(super) page: ElementFrame,
    /// The names of open `details`: of each name, only the first is open.
    pub(super) opened: HashSet<&'t str>,
    /// True if there is a shadow tree, which mail programs remove.
    pub(super) shadows: bool,
}

impl ElementFrame {
    /// Returns the frame of the page, before any element is entered.
    fn page() -> Self {
        Self {
            id: ROOT,
            style: ComputedStyle::page(),
            alpha: 1.0,
            scale: 1.0,
            ground: TextBackdrop::page(),
            painter: None,
            loose: None,
            filled: false,
            hanging: Vec::new(),
            bounds: ElementBounds::page(),
            doubt: None,
            chosen: None,
            opaque: false,
            stacks: true,
            first_text: 0,
            covered: false,
            picture: false,
            arranged: None,
            revealed: false,
            first: None,
        }
    }
}

impl<'t> VisibilityWalker<'t> {
    /// Starts a walk over the whole document.
    pub fn new(tree: &'t DomTree, work: &'t [MatchWork; 2]) -> Self {
        Self {
            tree,
            cascade: StyleCascade::new(tree, work),
            stack: Vec::new(),
            boxes: ClipBoxes::default(),
            shown: Vec::new(),
            covers: Vec::new(),
            page: ElementFrame::page(),
            opened: HashSet::new(),
            shadows: tree.below(ROOT).any(|id| is_shadow(tree, id)),
        }
    }

    /// Returns the current element, or the page.
    pub(super) fn around(&self) -> &ElementFrame {
        self.stack.last().unwrap_or(&self.page)
    }
}

/// Returns true for the template of a shadow tree.
pub fn is_shadow(tree: &DomTree, id: NodeId) -> bool {
    tree.name(id) == "template" && tree.attr(id, "shadowrootmode").is_some()
}

/// Returns true for a style that hides the text of an element but keeps its room.
pub fn is_unseen(style: &ComputedStyle) -> bool {
    matches!(style.keyword(CssProperty::Visibility), Some("hidden" | "collapse"))
}
