//! Style sheets: their places in a document, their rules and selectors, and the conditions under
//! which they apply.

pub mod condition;
pub mod media;
pub mod pseudo;
pub mod reader;
pub mod select;
pub mod sheet;

use cssparser::Parser;

use crate::text::html::tree::{DomTree, NodeId, ROOT};

/// Calls `add` with the text of each style sheet of the document, and with the parent of its
/// `style` element (`None` for a `link`).
pub fn sources(tree: &DomTree, mut add: impl FnMut(&str, Option<NodeId>)) {
    let mut chosen = None;
    for id in tree.below(ROOT) {
        let name = tree.name(id);
        if !matches!(name, "style" | "link")
            || name == "link" && tree.attr(id, "disabled").is_some()
        {
            continue;
        }
        // Of sheets with a title, only the first set is in use; the others are alternatives.
        if let Some(title) = tree.attr(id, "title").filter(|title| !title.is_empty())
            && *chosen.get_or_insert(title) != title
        {
            continue;
        }
        let kind = tree.attr(id, "type").unwrap_or_default().trim();
        let elsewhere = |query: &str| !media::applies(&mut Parser::new(query));
        if !kind.is_empty() && !kind.eq_ignore_ascii_case("text/css")
            || tree.attr(id, "media").is_some_and(elsewhere)
        {
            continue;
        }
        if name == "style" {
            for text in tree.children(id).filter_map(|child| tree.text(child)) {
                add(text, tree.parent(id));
            }
        } else if let Some(url) = tree.attr(id, "href") {
            // Nothing is fetched: of linked sheets, only `data:` addresses are read.
            let rel = tree.attr(id, "rel").unwrap_or_default();
            let rel =
                |word: &str| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
            if rel("stylesheet") && !rel("alternate") {
                condition::of_data(url).into_iter().for_each(|text| add(&text, None));
            }
        }
    }
}
