//! Removal of everything from the tree that a reader of the message would not see.
//!
//! Scripts, styles and the like are removed without a note. Hidden text is counted, because hiding
//! text is a way to write to the model behind the reader's back. Invisible pictures are removed
//! with their descriptions. The text that form fields show is added to the tree.

use std::collections::{HashMap, HashSet};

use super::css::{MatchWork, VisibilityWalker};
use super::hidden::{DoubtfulText, HiddenText};
use super::tree::{DomTree, NodeId, ROOT, TreeWalk, WalkStep};
use super::writer::WhiteSpace;
use crate::text::orders;
use crate::text::payment::names_new_account;

/// Number of bytes of a hidden place that are searched for orders.
const SEARCHED: usize = 4 << 10;
/// Maximum number of characters of a preview text, which newsletters hide at their beginning.
const PREVIEW: usize = 300;

/// Removes all nodes from `tree` that are not seen. Returns the hidden text, the doubts about the
/// text that is left, and the way in which some of it is drawn. `most` limits the work of style
/// sheets.
pub fn prune(tree: &mut DomTree, most: usize) -> (HiddenText, DoubtfulText, PrunedElements) {
    let work = [MatchWork::limited(most), MatchWork::endless()];
    let found = UnseenContent::new(tree, &work);
    let (mut hidden, mut preview) = (HiddenText::default(), HiddenText::default());
    let leading = leading(tree, &found.unseen);
    for (id, counts) in found.unseen {
        if counts {
            let (counted, is_plain) = count(tree, id);
            let is_preview = is_plain && leading.contains(&id);
            if is_preview { &mut preview } else { &mut hidden }.add(&counted);
        }
        tree.detach(id);
    }
    for (id, text, shown) in found.fields {
        if shown {
            tree.append_text(id, &text);
        } else {
            hidden.chars += visible(&text);
            hidden.places += 1;
        }
    }
    // Long preview text, and preview text beside orders, is hidden text like any other.
    if preview.chars <= PREVIEW && !hidden.orders {
        (preview.preview, preview.places) = (preview.chars, 0);
    }
    hidden.add(&preview);
    (hidden, found.doubt, found.drawn)
}

/// The nodes that are drawn unlike their source.
#[derive(Default)]
pub struct PrunedElements {
    /// Struck out by CSS.
    pub struck: HashSet<NodeId>,
    /// Reversed by CSS, from right to left.
    pub reversed: HashSet<NodeId>,
    /// Texts whose white space CSS keeps.
    pub spaced: HashMap<NodeId, WhiteSpace>,
    /// Floats, and blocks by CSS.
    pub apart: HashSet<NodeId>,
    /// Items of lists, with the style of their numbers.
    pub numbered: HashMap<NodeId, &'static str>,
}

/// The parts of a document that are not seen.
struct UnseenContent {
    /// Nodes, none within another, each with true if its content counts as hidden text.
    unseen: Vec<(NodeId, bool)>,
    /// The texts of form fields, each with true if it is seen.
    fields: Vec<(NodeId, String, bool)>,
    doubt: DoubtfulText,
    drawn: PrunedElements,
}

impl UnseenContent {
    fn new(tree: &DomTree, work: &[MatchWork; 2]) -> Self {
        let mut viewer = VisibilityWalker::new(tree, work);
        let (mut unseen, mut fields) = (Vec::new(), Vec::new());
        let mut drawn = PrunedElements::default();
        let mut walk = TreeWalk::new(ROOT);
        while let Some(step) = walk.step(tree) {
            let id = match step {
                WalkStep::Enter(id) => id,
                WalkStep::Leave(id) => {
                    if !tree.name(id).is_empty() {
                        viewer.leave();
                    }
                    continue;
                }
            };
            let name = tree.name(id);
            if let Some(text) = tree.text(id) {
                drawn.spaced.extend(viewer.white_space().map(|how| (id, how)));
                // White space is kept, because it separates visible words.
                if !text.trim().is_empty() && viewer.text(visible(text)).is_hidden() {
                    unseen.push((id, true));
                }
            } else if name.is_empty() {
            } else if is_non_content(name) || is_player(name) || !viewer.enter(id) {
                unseen.push((id, !is_non_content(name) && name != "img"));
                walk.pass_over();
                // The viewer did not enter it, so it must not leave it.
                walk.step(tree);
            } else if name == "img" && viewer.picture().is_hidden() {
                unseen.push((id, false));
            } else {
                if name == "li" {
                    drawn.numbered.extend(viewer.numbers().map(|style| (id, style)));
                }
                if viewer.strikes() {
                    drawn.struck.insert(id);
                }
                if viewer.stands_apart() {
                    drawn.apart.insert(id);
                }
                if viewer.reverses() {
                    drawn.reversed.insert(id);
                }
                if let Some(text) = field(tree, id).filter(|text| !text.trim().is_empty()) {
                    let shown = !viewer.text(visible(text)).is_hidden();
                    fields.push((id, text.to_owned(), shown));
                }
            }
        }
        Self { unseen, fields, doubt: viewer.doubts(), drawn }
    }
}

/// Returns true for an element whose content is not text of the message.
pub fn is_non_content(name: &str) -> bool {
    matches!(
        name,
        "head"
            | "title"
            | "script"
            | "style"
            | "template"
            | "iframe"
            | "embed"
            | "datalist"
            | "noframes"
            | "noembed"
            | "frameset"
            | "applet"
            | "rp"
    )
}

/// Returns true for an element whose text is for programs that cannot play it.
fn is_player(name: &str) -> bool {
    matches!(name, "audio" | "video")
}

/// Returns the text that a field of a form shows.
fn field(tree: &DomTree, id: NodeId) -> Option<&str> {
    if tree.name(id) != "input" {
        return None;
    }
    let kind = tree.attr(id, "type").unwrap_or("text").to_ascii_lowercase();
    let value = tree.attr(id, "value").filter(|value| !value.is_empty());
    let placeholder = || tree.attr(id, "placeholder");
    match kind.as_str() {
        "hidden" | "checkbox" | "radio" | "file" | "image" | "password" | "color" | "range" => None,
        // Browsers do not show an invalid number or time.
        "number" => value.filter(|n| n.parse::<f64>().is_ok()).or_else(placeholder),
        "date" | "time" | "month" | "week" | "datetime-local" => {
            value.filter(|time| time.bytes().all(|b| b.is_ascii_digit() || b"-:.TW".contains(&b)))
        }
        _ => value.or_else(placeholder),
    }
}

/// Returns the number of characters of a text that a reader could see.
fn visible(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace() && !crate::text::is_invisible(*c)).count()
}

/// Returns the unseen nodes that precede all visible text.
fn leading(tree: &DomTree, unseen: &[(NodeId, bool)]) -> HashSet<NodeId> {
    let all: HashSet<NodeId> = unseen.iter().map(|(id, _)| *id).collect();
    let mut leading = HashSet::new();
    let mut walk = TreeWalk::new(ROOT);
    while let Some(step) = walk.step(tree) {
        let WalkStep::Enter(id) = step else { continue };
        if all.contains(&id) {
            leading.insert(id);
            walk.pass_over();
        } else if tree.text(id).is_some_and(|text| visible(text) > 0) {
            break;
        }
    }
    leading
}

/// Counts the text in and below a node, without white space and content that is never shown. Also
/// returns true if it is plain: without links, orders and accounts.
fn count(tree: &DomTree, id: NodeId) -> (HiddenText, bool) {
    let (mut chars, mut start, mut has_link) = (0, String::new(), false);
    let mut walk = TreeWalk::new(id);
    while let Some(step) = walk.step(tree) {
        let WalkStep::Enter(id) = step else { continue };
        if is_non_content(tree.name(id)) {
            walk.pass_over();
        }
        has_link |= tree.name(id) == "a";
        let Some(text) = tree.text(id) else { continue };
        chars += visible(text);
        if start.len() < SEARCHED {
            start.push_str(text);
            start.push(' ');
        }
    }
    let orders = orders::gives_orders_unseen(&start);
    let has_link = has_link || start.contains("://") || start.contains("www.");
    let is_plain = !has_link && !orders && start.len() < SEARCHED && !names_new_account(&start);
    (
        HiddenText { chars, places: usize::from(chars > 0), orders, ..HiddenText::default() },
        is_plain,
    )
}
