//! Style sheets: their places in a document, their rules and selectors, and the conditions under
//! which they apply.

pub mod condition;
pub mod media;
pub mod pseudo;
pub mod reader;
pub mod select;
pub mod sheet;

use cssparser::Parser;
use sheet::StyleSheet;

use super::values::property::ValueMode;
use crate::text::html::tree::{DomTree, NodeId, ROOT};

/// Reads the style sheets of the document into `sheet`.
pub fn sources(tree: &DomTree, sheet: &mut StyleSheet, mode: ValueMode) {
    let mut chosen = None;
    for id in tree.below(ROOT) {
        let name = tree.name(id);
        sheet.unclear |= name == "meta" && is_dark(tree, id);
        let is_link = name == "link" && is_sheet(tree, id);
        if name != "style" && !is_link {
            continue;
        }
        // Of sheets with a title, only the first set is in use; the others are alternatives.
        if let Some(title) = tree.attr(id, "title").filter(|title| !title.is_empty())
            && *chosen.get_or_insert(title) != title
        {
            continue;
        }
        let kind = tree.attr(id, "type").unwrap_or_default();
        let elsewhere = |query: &str| !media::applies(&mut Parser::new(query));
        if !kind.is_empty() && !kind.eq_ignore_ascii_case("text/css")
            || tree.attr(id, "media").is_some_and(elsewhere)
        {
            continue;
        }
        if name == "style" {
            for text in tree.children(id).filter_map(|child| tree.text(child)) {
                reader::read(sheet, text, mode);
            }
        } else {
            // Nothing is fetched, and mail programs drop sheets in addresses.
            sheet.unclear |= condition::is_data(tree.attr(id, "href").unwrap_or_default());
        }
    }
}

/// Returns true for a `link` to a style sheet that is in use.
fn is_sheet(tree: &DomTree, id: NodeId) -> bool {
    let rel = tree.attr(id, "rel").unwrap_or_default();
    let has = |word: &str| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
    has("stylesheet") && !has("alternate") && tree.attr(id, "disabled").is_none()
}

/// Returns true for a `meta` element that asks for a dark page, on which other text is legible.
fn is_dark(tree: &DomTree, id: NodeId) -> bool {
    let is = |name: &str, value: &str| {
        tree.attr(id, name).is_some_and(|text| text.trim().eq_ignore_ascii_case(value))
    };
    is("name", "color-scheme") && (is("content", "dark") || is("content", "only dark"))
}
