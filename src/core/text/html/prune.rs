//! Removes from the tree what a reader of the message would not see.
//!
//! Scripts, styles and other machinery are removed silently; hidden text is counted,
//! because hiding text is a way to write to the model behind the reader's back.
//! Invisible pictures are removed as well, and with them their descriptions. What forms
//! show is put into the tree as text.

use super::css::{Sight, Viewer, Work};
use super::tree::{Id, ROOT, Tree, Walk, WalkStep};
use super::{Doubt, Hidden};
use crate::text::orders;

/// How much of a hidden place is searched for orders, in bytes.
const SEARCHED: usize = 4 << 10;

/// Takes the unseen out of `tree`; returns what it held, and what may be hidden but is
/// still there.
pub fn prune(tree: &mut Tree) -> (Hidden, Doubt) {
    let work = [Work::limited(), Work::endless()];
    let mut viewer = Viewer::new(tree, &work);
    let mut hidden = Hidden::default();
    let mut condemned = Vec::new();
    let mut fields = Vec::new();
    let mut walk = Walk::new(ROOT);
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
            // White space stays where it is: it parts visible words.
            if !text.trim().is_empty() && viewer.text(visible(text)) == Sight::Hidden {
                count(tree, id, &mut hidden);
                condemned.push(id);
            }
        } else if name.is_empty() {
        } else if is_non_content(name) || viewer.enter(id) == Sight::Hidden {
            if !is_non_content(name) && name != "img" {
                count(tree, id, &mut hidden);
            }
            condemned.push(id);
            walk.pass_over();
            // It was not entered, so it is not left.
            walk.step(tree);
        } else if name == "img" && viewer.picture() == Sight::Hidden {
            condemned.push(id);
        } else if let Some(text) = field(tree, id).filter(|text| !text.trim().is_empty()) {
            match viewer.text(visible(text)) {
                Sight::Hidden => {
                    hidden.chars += visible(text);
                    hidden.places += 1;
                }
                _ => fields.push((id, text.to_owned())),
            }
        }
    }
    let doubts = viewer.doubts();
    for id in condemned {
        tree.detach(id);
    }
    for (id, text) in fields {
        tree.append_text(id, &text);
    }
    (hidden, Doubt { chars: doubts.values().sum(), why: doubts.into_keys().collect() })
}

/// Elements whose content is not text of the mail.
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
            | "audio"
            | "video"
            | "map"
            | "datalist"
            | "noframes"
            | "noembed"
            | "frameset"
            | "applet"
            | "rp"
    )
}

/// Returns the text that a field of a form shows.
fn field(tree: &Tree, id: Id) -> Option<&str> {
    if tree.name(id) != "input" {
        return None;
    }
    let kind = tree.attr(id, "type").unwrap_or("text").to_ascii_lowercase();
    match kind.as_str() {
        "hidden" | "checkbox" | "radio" | "file" | "image" | "password" | "color" | "range" => None,
        _ => tree
            .attr(id, "value")
            .filter(|value| !value.is_empty())
            .or_else(|| tree.attr(id, "placeholder")),
    }
}

/// Returns how many characters a reader could see of a text.
fn visible(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace() && !crate::text::is_invisible(*c)).count()
}

/// Counts the text in and below a node, without white space and without content that is
/// never shown.
fn count(tree: &Tree, id: Id, hidden: &mut Hidden) {
    let (mut chars, mut start) = (0, String::new());
    let mut walk = Walk::new(id);
    while let Some(step) = walk.step(tree) {
        let WalkStep::Enter(id) = step else { continue };
        if is_non_content(tree.name(id)) {
            walk.pass_over();
        }
        let Some(text) = tree.text(id) else { continue };
        chars += visible(text);
        if start.len() < SEARCHED {
            start.push_str(text);
            start.push(' ');
        }
    }
    hidden.chars += chars;
    hidden.places += usize::from(chars > 0);
    hidden.orders |= orders::gives_orders_unseen(&start);
}
