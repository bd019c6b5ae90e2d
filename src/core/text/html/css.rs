//! Computed style: what the style sheets of a mail, its attributes and the browser's
//! own rules make of each element, and whether its text is seen.
//!
//! The way: [`reader`] reads style sheets into [`sheet`]s and [`select`] their selectors, [`grammar`]
//! and the modules below it read values, [`cascade`] decides which hold and computes a
//! [`look`], and [`sight`] walks the document and decides for each text: shown,
//! hidden, or in doubt. Nothing is laid out: a text is hidden when a bound proves it
//! out of sight, and what proves nothing either way is in doubt.

mod attribute;
mod boxes;
mod cascade;
mod color;
mod condition;
mod custom;
mod function;
mod geometry;
mod grammar;
mod ground;
mod look;
mod media;
mod place;
mod property;
mod pseudo;
mod reader;
mod select;
mod sheet;
mod sight;
mod value;

pub use select::Work;
pub use sight::{Sight, Viewer};

use cssparser::{Delimiter, ParseError, Parser};

use super::tree::{Id, ROOT, Tree};

/// `name: value`, with `!important` taken off the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The property, in lower case.
    pub name: String,
    /// The value, in lower case, with single spaces.
    pub value: String,
}

/// Returns the declarations of a `style` attribute as they are written.
pub fn declarations(block: &str) -> Vec<Declaration> {
    let mut input = Parser::new(block);
    let mut found = Vec::new();
    loop {
        let one = input.parse_until_after(Delimiter::Semicolon, |input| {
            let name = input.expect_ident()?.to_ascii_lowercase();
            input.expect_colon()?;
            let value = input.parse_until_before(Delimiter::Bang, |input| {
                let start = input.position();
                while input.next().is_ok() {}
                Ok::<_, ParseError<()>>(input.slice_from(start))
            })?;
            while input.next().is_ok() {}
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
            Ok::<_, ParseError<()>>(Declaration { name, value })
        });
        found.extend(one.ok());
        if input.is_exhausted() {
            return found;
        }
    }
}

/// Returns true for a property that may hide text.
pub fn matters(name: &str) -> bool {
    !property::named(name).is_empty()
}

/// Calls `add` with each style sheet of the document, and what holds its element.
fn sources(tree: &Tree, mut add: impl FnMut(&str, Option<Id>)) {
    let mut chosen = None;
    for id in tree.below(ROOT) {
        let name = tree.name(id);
        if !matches!(name, "style" | "link")
            || name == "link" && tree.attr(id, "disabled").is_some()
        {
            continue;
        }
        // The first set of sheets with a title is the one in use.
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
            let rel = tree.attr(id, "rel").unwrap_or_default();
            let rel =
                |word: &str| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
            if rel("stylesheet") && !rel("alternate") {
                condition::of_data(url).into_iter().for_each(|text| add(&text, None));
            }
        }
    }
}
