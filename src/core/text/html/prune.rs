//! Removes from the tree what a reader of the message would not see.
//!
//! Scripts, styles and other machinery are removed silently; hidden text is counted,
//! because hiding text is a way to write to the model behind the reader's back.
//! Invisible pictures are removed as well, and with them their descriptions.

use super::style::ComputedStyle;
use super::stylesheet::Stylesheet;
use super::tree::{Id, ROOT, Tree, Walk, WalkStep};
use super::{Doubt, Hidden, Why};
use crate::text::orders;

/// How much of a hidden place is searched for orders, in bytes.
const SEARCHED: usize = 4 << 10;

/// Takes the unseen out of `tree`; returns what it held, and what may be hidden but is
/// still there.
pub fn prune(tree: &mut Tree) -> (Hidden, Doubt) {
    let sheet = Stylesheet::of(tree);
    let mut hidden = Hidden::default();
    let mut condemned = Vec::new();
    let mut styles = vec![ComputedStyle::page()];
    let mut walk = Walk::new(ROOT);
    while let Some(step) = walk.step(tree) {
        match step {
            WalkStep::Enter(id) => {
                let Some(around) = styles.last() else { break };
                match judge(tree, id, around, &sheet) {
                    Pruning::Keep(computed) => styles.push(computed),
                    Pruning::Hidden => {
                        count(tree, id, &mut hidden);
                        condemned.push(id);
                        styles.push(around.clone());
                        walk.pass_over();
                    }
                    Pruning::NonContent => {
                        condemned.push(id);
                        styles.push(around.clone());
                        walk.pass_over();
                    }
                }
            }
            WalkStep::Leave(_) => {
                styles.pop();
            }
        }
    }
    for id in condemned {
        tree.detach(id);
    }
    let why = sheet.is_over().then_some(Why::Limit).into_iter().collect();
    (hidden, Doubt { chars: 0, why })
}

/// What becomes of a node.
enum Pruning {
    Keep(ComputedStyle),
    Hidden,
    NonContent,
}

fn judge(tree: &Tree, id: Id, around: &ComputedStyle, sheet: &Stylesheet) -> Pruning {
    let name = tree.name(id);
    if let Some(text) = tree.text(id) {
        // White space stays where it is: it parts visible words.
        if text.trim().is_empty() || around.shows_text() {
            return Pruning::Keep(around.clone());
        }
        return Pruning::Hidden;
    }
    if name.is_empty() {
        return Pruning::Keep(around.clone());
    }
    if is_non_content(name) {
        return Pruning::NonContent;
    }
    let computed = around.of(tree, id, &sheet.matching(tree, id));
    if name == "img"
        && (!computed.shows_pictures() || computed.is_hidden(name) || is_tracking_pixel(tree, id))
    {
        return Pruning::NonContent;
    }
    if computed.is_hidden(name) {
        return Pruning::Hidden;
    }
    Pruning::Keep(computed)
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
            | "noscript"
            | "svg"
            | "math"
            | "object"
            | "iframe"
            | "embed"
            | "audio"
            | "video"
            | "canvas"
            | "map"
            | "select"
            | "datalist"
            | "noframes"
            | "noembed"
            | "frameset"
            | "applet"
            | "rp"
    )
}

/// Returns true for a picture of a pixel or two: a spacer, or a tracker.
fn is_tracking_pixel(tree: &Tree, id: Id) -> bool {
    let style = super::css::declarations(tree.attr(id, "style").unwrap_or_default());
    ["width", "height"].into_iter().any(|side| {
        let styled = style.iter().find(|d| d.name == side);
        let value = styled.map(|d| d.value.as_str()).or_else(|| tree.attr(id, side));
        value
            .and_then(|value| super::css::pixels(&value.to_ascii_lowercase(), 100.0))
            .is_some_and(|px| px <= 2.0)
    })
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
        let seen = |c: &char| !c.is_whitespace() && !crate::text::is_invisible(*c);
        chars += text.chars().filter(seen).count();
        if start.len() < SEARCHED {
            start.push_str(text);
            start.push(' ');
        }
    }
    hidden.chars += chars;
    hidden.places += usize::from(chars > 0);
    hidden.orders |= orders::gives_orders(&start);
}
