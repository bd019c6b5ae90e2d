//! The `<style>` sheets of a mail, read for what they hide and colour.
//!
//! Only rules outside of `@media` and other conditions count, and of selectors
//! those made of names, alone or one in another: `td`, `.name`, `td.name#id`,
//! `.box > p .name`. Of the others the last part is kept as a hint that an
//! element may have a background, which can save text from being taken for
//! white on white but never hide any.

use std::cell::Cell;
use std::collections::HashMap;

use super::css::{self, Declaration};
use super::tree::{Id, ROOT, Tree};

/// More rules than this are not read.
const MAX_RULES: usize = 5_000;
/// Of the rules for the same name, the last so many count.
const MAX_SAME: usize = 50;
/// So often an element is compared with a part of a selector, for the whole
/// mail; honest ones need some thousands.
const MAX_TESTS: usize = 3_000_000;

/// What one element must be for a rule to apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Compound {
    tag: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
}

/// Which elements a rule is for.
struct Selector {
    wants: Compound,
    /// What it must be in, innermost first, and whether right in it.
    around: Vec<(bool, Compound)>,
    /// False if the selector asks for more than that.
    exact: bool,
}

/// A selector, and the number of the block with its declarations.
struct Rule {
    selector: Selector,
    block: usize,
}

/// All rules, found by the most telling name in their selector.
#[derive(Default)]
pub struct Sheet {
    rules: HashMap<String, Vec<Rule>>,
    blocks: Vec<Vec<Declaration>>,
    tests: Cell<usize>,
}

/// What the sheets say about one element.
#[derive(Default)]
pub struct Matched<'a> {
    /// Declarations, in order of the sheets.
    pub declared: Vec<&'a Declaration>,
    /// True if a longer selector may give it a background.
    pub maybe_background: bool,
}

impl Sheet {
    /// Reads all sheets of the document.
    pub fn of(tree: &Tree) -> Self {
        let mut sheet = Self::default();
        for id in tree.below(ROOT).filter(|id| tree.name(*id) == "style") {
            let conditional = tree
                .attr(id, "media")
                .is_some_and(|media| !matches!(media.trim(), "" | "all" | "screen"));
            if conditional {
                continue;
            }
            for text in tree.children(id).filter_map(|child| tree.text(child)) {
                sheet.read(&css::plain(text));
            }
        }
        sheet
    }

    /// Takes in the rules of one sheet.
    fn read(&mut self, css: &str) {
        let mut rest = css;
        while let Some(at) = rest.find(['{', ';', '}']) {
            let (head, mark) = rest.split_at(at);
            let head = head.trim().trim_start_matches("<!--").trim();
            let after = mark.get(1..).unwrap_or_default();
            if !mark.starts_with('{') {
                // `@import …;`, or a brace too many.
                rest = after;
                continue;
            }
            let (block, next) = body(after);
            rest = next;
            if !head.starts_with('@') {
                self.rule(head, block);
            }
        }
    }

    /// Takes in one rule.
    fn rule(&mut self, selectors: &str, block: &str) {
        if self.blocks.len() >= MAX_RULES {
            return;
        }
        let declared: Vec<Declaration> = css::declarations(block)
            .into_iter()
            .filter(|d| super::look::matters(&d.name))
            .collect();
        if declared.is_empty() {
            return;
        }
        let block = self.blocks.len();
        self.blocks.push(declared);
        for selector in css::split(selectors, ',').take(MAX_SAME) {
            let Some(selector) = Selector::read(selector) else {
                continue;
            };
            let same = self.rules.entry(selector.wants.key()).or_default();
            if same.len() >= MAX_SAME {
                same.remove(0);
            }
            same.push(Rule { selector, block });
        }
    }

    /// What applies to the element `id`.
    pub fn matching(&self, tree: &Tree, id: Id) -> Matched<'_> {
        let mut found = Matched::default();
        if self.rules.is_empty() {
            return found;
        }
        let name = tree.name(id).to_owned();
        let own = tree.attr(id, "id").map(|own| format!("#{own}"));
        let classes = tree.attr(id, "class").unwrap_or_default();
        let keys = std::iter::once(name)
            .chain(
                classes
                    .split_whitespace()
                    .take(20)
                    .map(|class| format!(".{class}")),
            )
            .chain(own);
        let mut hits: Vec<&Rule> = keys
            .filter_map(|key| self.rules.get(&key))
            .flatten()
            .filter(|rule| self.fits(&rule.selector, tree, id))
            .collect();
        // Names tell more than tags, identifiers more than names; within the
        // same, the later rule wins.
        hits.sort_by_key(|rule| (rule.selector.wants.rank(), rule.block));
        for rule in hits {
            let Some(block) = self.blocks.get(rule.block) else {
                continue;
            };
            if rule.selector.exact {
                found.declared.extend(block);
            } else if block.iter().any(|d| d.name.starts_with("background")) {
                found.maybe_background = true;
            }
        }
        found
    }
}

impl Sheet {
    /// True if the element is what the selector wants, in what it wants it in.
    fn fits(&self, selector: &Selector, tree: &Tree, id: Id) -> bool {
        let mut at = id;
        self.is(&selector.wants, tree, id)
            && selector.around.iter().all(|(right_in, wants)| {
                while let Some(parent) = tree.parent(at) {
                    at = parent;
                    if self.is(wants, tree, at) {
                        return true;
                    }
                    if *right_in {
                        return false;
                    }
                }
                false
            })
    }

    /// True if the element is of this kind, as long as tests are left.
    fn is(&self, wants: &Compound, tree: &Tree, id: Id) -> bool {
        self.tests.set(self.tests.get() + 1);
        self.tests.get() <= MAX_TESTS && wants.fits(tree, id)
    }
}

impl Compound {
    /// The name the rule is filed under.
    fn key(&self) -> String {
        match (&self.id, self.classes.first(), &self.tag) {
            (Some(id), _, _) => format!("#{id}"),
            (None, Some(class), _) => format!(".{class}"),
            (None, None, Some(tag)) => tag.clone(),
            (None, None, None) => String::new(),
        }
    }

    fn rank(&self) -> (usize, usize, usize) {
        (
            usize::from(self.id.is_some()),
            self.classes.len(),
            usize::from(self.tag.is_some()),
        )
    }

    fn fits(&self, tree: &Tree, id: Id) -> bool {
        let has_class = |wanted: &String| {
            tree.attr(id, "class")
                .is_some_and(|own| own.split_whitespace().take(20).any(|c| c == wanted))
        };
        self.tag.as_deref().is_none_or(|tag| tag == tree.name(id))
            && self
                .id
                .as_deref()
                .is_none_or(|own| tree.attr(id, "id") == Some(own))
            && self.classes.iter().all(has_class)
    }
}

impl Selector {
    /// Reads a selector; `None` if even its last part is not made of names.
    fn read(selector: &str) -> Option<Self> {
        let spaced = selector.replace('>', " > ");
        let mut parts = spaced.split_whitespace().rev();
        let mut read = Self {
            wants: compound(parts.next()?)?,
            around: Vec::new(),
            exact: true,
        };
        let mut right_in = false;
        for part in parts {
            if part == ">" {
                right_in = true;
            } else if let Some(outer) = compound(part) {
                read.around.push((right_in, outer));
                right_in = false;
            } else {
                read.around.clear();
                read.exact = false;
                break;
            }
        }
        Some(read)
    }
}

/// A selector of one element, or `None` if it asks for more than names.
fn compound(selector: &str) -> Option<Compound> {
    let mut wants = Compound::default();
    let names = selector.find(['.', '#']).unwrap_or(selector.len());
    let (tag, mut rest) = selector.split_at(names);
    if !tag.is_empty() && tag != "*" {
        wants.tag = Some(tag.to_ascii_lowercase());
    }
    if !selector
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '#' | '-' | '_' | '*'))
    {
        return None;
    }
    while !rest.is_empty() {
        let (kind, name) = rest.split_at(1);
        let end = name.find(['.', '#']).unwrap_or(name.len());
        let (name, after) = name.split_at(end);
        match kind {
            "#" => wants.id = Some(name.to_owned()),
            _ => wants.classes.push(name.to_owned()),
        }
        rest = after;
    }
    // A rule for everything says nothing about what one element shows.
    (wants != Compound::default()).then_some(wants)
}

/// What stands up to the matching `}`, and what follows it.
fn body(css: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    for (at, c) in css.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let (block, rest) = css.split_at(at);
            return (block, rest.get(1..).unwrap_or_default());
        }
    }
    (css, "")
}
