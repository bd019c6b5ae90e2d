//! The `<style>` sheets of a mail, read for what they hide and colour.
//!
//! Rules count that hold at an ordinary screen, within `@media`, `@supports`,
//! `@layer` and the like and within each other. Of selectors those count that
//! are made of names and attributes, alone or one in another: `td`, `.name`,
//! `td.name#id`, `.box > p[title]`. Of the others the last part is kept as a
//! hint that an element may have a background, which can save text from being
//! taken for white on white but never hide any.
//! Where a limit is reached, what is hidden is not known any more, and that is
//! said ([`Stylesheet::is_over`]).

use std::cell::Cell;
use std::collections::HashMap;

use super::css::{self, Declaration};
use super::media;
use super::scan::{self, Statement};
use super::tree::{Id, ROOT, Tree};

/// More rules, and more selectors, than these are not read.
const MAX_RULES: usize = 20_000;
/// Rules in each other are read so deep.
const MAX_DEPTH: usize = 16;
/// Selectors that are put together of rules in each other are no longer than
/// this, in bytes.
const MAX_BYTES: usize = 1_000_000;
/// So often an element is compared with a part of a selector, or takes a
/// declaration, for the whole mail; honest ones need some thousands.
const MAX_TESTS: usize = 3_000_000;

/// What one element must be for a rule to apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Compound {
    tag: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
    attributes: Vec<Attribute>,
}

/// `[name]`, `[name="value"]` and the like.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Attribute {
    name: String,
    /// How the value is compared: `=`, or the sign before it.
    by: char,
    value: Option<String>,
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
struct StyleRule {
    selector: Selector,
    block: usize,
}

/// All rules, found by the most telling name in their selector.
#[derive(Default)]
pub struct Stylesheet {
    rules: HashMap<String, Vec<StyleRule>>,
    blocks: Vec<Vec<Declaration>>,
    selectors: usize,
    tests: Cell<usize>,
    over: Cell<bool>,
}

/// What the sheets say about one element.
#[derive(Default)]
pub struct Matched<'a> {
    /// Declarations, in order of the sheets.
    pub declared: Vec<&'a Declaration>,
    /// True if a longer selector may give it a background.
    pub maybe_background: bool,
}

impl Stylesheet {
    /// Reads all sheets of the document.
    pub fn of(tree: &Tree) -> Self {
        let mut sheet = Self::default();
        for id in tree.below(ROOT).filter(|id| tree.name(*id) == "style") {
            let elsewhere = |condition: &str| !media::applies(condition);
            if tree.attr(id, "media").is_some_and(elsewhere) {
                continue;
            }
            for text in tree.children(id).filter_map(|child| tree.text(child)) {
                for statement in scan::statements(text) {
                    sheet.statement(statement, &[], 0);
                }
            }
        }
        sheet
    }

    /// Returns true if a limit was reached: there may be more that is hidden.
    pub fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Takes in a statement of a sheet, or of what is within the rules of
    /// `around`.
    fn statement(&mut self, statement: Statement<'_>, around: &[String], depth: usize) {
        let Statement { head, block: Some(block) } = statement else {
            // `@import …;`, or a brace too many.
            return;
        };
        if depth > MAX_DEPTH {
            self.over.set(true);
            return;
        }
        let head = scan::without_comments(head, "");
        let mut head = head.trim();
        while let Some(rest) = head.strip_prefix("<!--").or_else(|| head.strip_prefix("-->")) {
            head = rest.trim_start();
        }
        let Some(at) = head.strip_prefix('@') else {
            return self.nested(head, block, around, depth);
        };
        let (name, condition) = scan::name(at);
        let holds = match name.to_ascii_lowercase().as_str() {
            "media" => media::applies(condition),
            "supports" | "layer" | "container" | "scope" | "document" | "-moz-document" => true,
            _ => false,
        };
        if !holds {
            return;
        }
        if around.is_empty() {
            for statement in scan::statements(block) {
                self.statement(statement, around, depth + 1);
            }
        } else {
            self.rule(around, block, depth + 1);
        }
    }

    /// Takes in a rule that stands within those of `around`.
    fn nested(&mut self, head: &str, block: &str, around: &[String], depth: usize) {
        let own = scan::pieces(head, b",").map(|piece| piece.text.trim());
        let all: Vec<String> = if around.is_empty() {
            own.map(str::to_owned).collect()
        } else {
            let own: Vec<&str> = own.collect();
            // What is put together from each other can grow without end.
            let signs = head.matches('&').count() + own.len();
            let outer: usize = around.iter().map(String::len).sum();
            let bytes = around.len().saturating_mul(head.len());
            if bytes.saturating_add(signs.saturating_mul(outer)) > MAX_BYTES {
                return self.over.set(true);
            }
            let within = |outer: &String| {
                let outer = outer.clone();
                own.iter().map(move |own| match own.contains('&') {
                    true => own.replace('&', &outer),
                    false => format!("{outer} {own}"),
                })
            };
            around.iter().flat_map(within).collect()
        };
        self.rule(&all, block, depth);
    }

    /// Takes in what the elements of these selectors are, and the rules within.
    fn rule(&mut self, selectors: &[String], block: &str, depth: usize) {
        let mut declared = Vec::new();
        let mut within = Vec::new();
        for statement in scan::statements(block) {
            match statement.block {
                None => declared.extend(css::declaration(statement.head)),
                Some(_) if statement.head.trim_start().starts_with("--") => {}
                Some(_) => within.push(statement),
            }
        }
        declared.retain(|one| css::matters(&one.name));
        if declared.iter().any(Declaration::is_endless) {
            self.over.set(true);
            declared.retain(|one| !one.is_endless());
        }
        if !declared.is_empty() {
            if self.blocks.len() + self.selectors + selectors.len() > 2 * MAX_RULES {
                return self.over.set(true);
            }
            let block = self.blocks.len();
            self.blocks.push(declared);
            self.selectors += selectors.len();
            for selector in selectors.iter().filter_map(|one| Selector::read(one)) {
                let same = self.rules.entry(selector.wants.key()).or_default();
                same.push(StyleRule { selector, block });
            }
        }
        for statement in within {
            self.statement(statement, selectors, depth + 1);
        }
    }

    /// Returns the rules that apply to the element `id`.
    pub fn matching(&self, tree: &Tree, id: Id) -> Matched<'_> {
        let mut found = Matched::default();
        if self.rules.is_empty() || self.tests.get() > MAX_TESTS {
            return found;
        }
        let name = tree.name(id).to_owned();
        let own = tree.attr(id, "id").map(|own| format!("#{}", lower(own)));
        let classes = tree.attr(id, "class").unwrap_or_default();
        let keys = std::iter::once(name)
            .chain(classes.split_whitespace().map(|class| format!(".{}", lower(class))))
            .chain(own)
            .chain(std::iter::once(String::new()));
        let mut hits: Vec<&StyleRule> = keys
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
                if !self.spend(block.len()) {
                    break;
                }
                found.declared.extend(block);
            } else if block.iter().any(|d| d.name.starts_with("background")) {
                found.maybe_background = true;
            }
        }
        found
    }
}

impl Stylesheet {
    /// Returns true if the element matches the selector.
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

    /// Returns true if the element is of this kind, as long as tests are left.
    fn is(&self, wants: &Compound, tree: &Tree, id: Id) -> bool {
        let class = wants.classes.first().map(|_| "class");
        let names = wants.attributes.iter().map(|one| one.name.as_str());
        let read = names.chain(class).filter_map(|name| tree.attr(id, name));
        let read: usize = read.map(str::len).sum();
        self.spend(1 + read / 64) && wants.fits(tree, id)
    }

    /// Counts work; false when there has been too much of it.
    fn spend(&self, work: usize) -> bool {
        self.tests.set(self.tests.get().saturating_add(work));
        let left = self.tests.get() <= MAX_TESTS;
        if !left {
            self.over.set(true);
        }
        left
    }
}

impl Compound {
    /// Returns the name the rule is filed under.
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
            self.classes.len() + self.attributes.len(),
            usize::from(self.tag.is_some()),
        )
    }

    fn fits(&self, tree: &Tree, id: Id) -> bool {
        let has_class = |required: &String| {
            let own = tree.attr(id, "class").unwrap_or_default();
            own.split_whitespace().any(|own| own.eq_ignore_ascii_case(required))
        };
        let has = |required: &Attribute| {
            let own = tree.attr(id, &required.name);
            own.is_some_and(|own| required.fits(&lower(own)))
        };
        self.tag.as_deref().is_none_or(|tag| tag == tree.name(id))
            && self.id.as_deref().is_none_or(|required| {
                let own = tree.attr(id, "id").unwrap_or_default();
                own.eq_ignore_ascii_case(required)
            })
            && self.classes.iter().all(has_class)
            && self.attributes.iter().all(has)
    }
}

impl Attribute {
    /// Reads the text between brackets; `None` if it is not understood.
    fn read(inside: &str) -> Option<Self> {
        let (name, rest) = scan::name(inside.trim());
        let name = lower(&name);
        let rest = rest.trim();
        if name.is_empty() || rest.is_empty() {
            let value = None;
            return (!name.is_empty()).then_some(Self { name, by: '=', value });
        }
        let (by, value) = rest.split_once('=')?;
        let by = by.trim().chars().next().unwrap_or('=');
        let value = value.trim();
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value.get(1..)?.split(quote).next()?,
            _ => value.split_whitespace().next()?,
        };
        let value = Some(lower(&scan::unescaped(value)));
        Some(Self { name, by, value })
    }

    /// Returns true if the attribute's value matches.
    fn fits(&self, own: &str) -> bool {
        let Some(value) = self.value.as_deref() else {
            return true;
        };
        match self.by {
            '=' => own == value,
            '~' => own.split_whitespace().any(|word| word == value),
            '|' => {
                own.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            }
            '^' => !value.is_empty() && own.starts_with(value),
            '$' => !value.is_empty() && own.ends_with(value),
            '*' => !value.is_empty() && own.contains(value),
            _ => false,
        }
    }
}

/// Names are compared without regard to case, as they are where a mail has no
/// document type.
fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

impl Selector {
    /// Reads a selector; `None` if even its last part is not made of names.
    fn read(selector: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for piece in scan::pieces(selector, b" \t\n\r\x0c>+~") {
            parts.extend(Some(piece.text).filter(|text| !text.is_empty()));
            parts.extend(match piece.mark {
                Some(b'>') => Some(">"),
                Some(b'+' | b'~') => Some("+"),
                _ => None,
            });
        }
        let mut parts = parts.into_iter().rev();
        let mut read = Self { wants: compound(parts.next()?)?, around: Vec::new(), exact: true };
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

/// Returns a selector of one element, or `None` if it asks for more than names and attributes.
fn compound(selector: &str) -> Option<Compound> {
    let mut wants = Compound::default();
    let mut rest = match selector.strip_prefix('*') {
        Some(rest) => rest,
        None => {
            let (tag, rest) = scan::name(selector);
            wants.tag = Some(lower(&tag)).filter(|tag| !tag.is_empty());
            rest
        }
    };
    while let Some(kind) = rest.chars().next() {
        let after = rest.get(kind.len_utf8()..)?;
        if kind == '[' {
            let inside = scan::pieces(after, b"]").next()?;
            wants.attributes.push(Attribute::read(inside.text)?);
            rest = after.get(inside.text.len() + 1..).unwrap_or_default();
            continue;
        }
        let (name, left) = scan::name(after);
        match kind {
            _ if name.is_empty() => return None,
            '#' => wants.id = Some(lower(&name)),
            '.' => wants.classes.push(lower(&name)),
            _ => return None,
        }
        rest = left;
    }
    Some(wants)
}
