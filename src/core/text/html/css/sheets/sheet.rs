//! The rules of all sheets, indexed by the names in their selectors.
//!
//! The rules are flat: conditions are evaluated, and nested rules are resolved. Oversized sheets are
//! truncated and flagged ([`StyleSheet::over`]), and rules that are not computed are skipped and
//! flagged ([`StyleSheet::unclear`]).

use std::collections::HashMap;
use std::sync::Arc;

use selectors::parser::{Component, Selector};

use super::super::values::property::{CssProperty, PropertyValue};
use super::pseudo::{ElementPart, MailSelectors};
use crate::text::html::tree::{DomTree, NodeId};

/// Maximum number of selectors.
const MAX_SELECTORS: usize = 20_000;

/// A declaration of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleLine {
    pub property: CssProperty,
    pub value: PropertyValue,
    /// True if it is marked `!important`.
    pub important: bool,
}

/// Declarations for the elements that a selector matches.
#[derive(Debug, Clone)]
pub struct StyleRule {
    pub selector: Selector<MailSelectors>,
    /// The pseudo-element that the declarations are for.
    pub part: Option<ElementPart>,
    pub lines: Arc<[RuleLine]>,
}

impl StyleRule {
    /// Returns true if the selector is a single tag name, which the index has already matched.
    pub fn is_tag(&self) -> bool {
        let mut parts = self.selector.iter_raw_match_order();
        matches!((parts.next(), parts.next()), (Some(Component::LocalName(_)), None))
    }
}

/// All rules, indexed by the most specific name in their selector.
#[derive(Debug, Default)]
pub struct StyleSheet {
    rules: Vec<StyleRule>,
    ids: HashMap<String, Vec<usize>>,
    classes: HashMap<String, Vec<usize>>,
    tags: HashMap<String, Vec<usize>>,
    others: Vec<usize>,
    /// True if something was left out because of a limit.
    pub over: bool,
    /// True if there are rules that are not computed.
    pub unclear: bool,
    /// The number of declarations read.
    pub lines: usize,
}

/// The name under which a rule is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RuleKey {
    Id(String),
    Class(String),
    Tag(String),
    Any,
}

impl StyleSheet {
    /// Returns true if no further rule fits, and records that ([`StyleSheet::over`]).
    pub fn is_full(&mut self) -> bool {
        self.over |= self.rules.len() >= MAX_SELECTORS;
        self.rules.len() >= MAX_SELECTORS
    }

    /// Adds a rule to the index, under the most specific name in its selector.
    pub fn file(&mut self, rule: StyleRule) {
        let at = self.rules.len();
        match key(&rule.selector) {
            RuleKey::Id(name) => self.ids.entry(name).or_default().push(at),
            RuleKey::Class(name) => self.classes.entry(name).or_default().push(at),
            RuleKey::Tag(name) => self.tags.entry(name).or_default().push(at),
            RuleKey::Any => self.others.push(at),
        }
        self.rules.push(rule);
    }

    /// Returns true if there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rules that may match an element, with their positions. `others` includes the
    /// rules that no name indexes.
    pub fn candidates<'s>(
        &'s self,
        tree: &'s DomTree,
        id: NodeId,
        others: bool,
    ) -> impl Iterator<Item = (usize, &'s StyleRule)> {
        let of = |map: &'s HashMap<String, Vec<usize>>, name: &str| {
            // The index is in lower case.
            if map.is_empty() || name.is_empty() {
                return [].as_slice();
            }
            let found = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                map.get(&name.to_ascii_lowercase())
            } else {
                map.get(name)
            };
            found.map_or([].as_slice(), Vec::as_slice)
        };
        let classes = tree.attr(id, "class").filter(|_| !self.classes.is_empty());
        let classes = classes.unwrap_or_default().split_ascii_whitespace();
        of(&self.tags, tree.name(id))
            .iter()
            .chain(of(&self.ids, tree.attr(id, "id").unwrap_or_default()))
            .chain(classes.flat_map(move |class| of(&self.classes, class)))
            .chain(self.others.iter().filter(move |_| others))
            .filter_map(|at| Some((*at, self.rules.get(*at)?)))
    }
}

/// Returns the name under which a selector is indexed: one that its elements must have.
fn key(selector: &Selector<MailSelectors>) -> RuleKey {
    let mut iter = selector.iter();
    let mut best = RuleKey::Any;
    loop {
        for component in &mut iter {
            let found = match component {
                Component::ID(id) => RuleKey::Id(id.as_str().to_ascii_lowercase()),
                Component::Class(class) => RuleKey::Class(class.as_str().to_ascii_lowercase()),
                Component::LocalName(name) => RuleKey::Tag(name.lower_name.as_str().to_owned()),
                // A list with one selector requires its names; a longer list requires none of them.
                Component::Is(list) | Component::Where(list) => match list.slice() {
                    [one] if !one.has_pseudo_element() => key(one),
                    _ => continue,
                },
                _ => continue,
            };
            let rank = |key: &RuleKey| match key {
                RuleKey::Id(_) => 3,
                RuleKey::Class(_) => 2,
                RuleKey::Tag(_) => 1,
                RuleKey::Any => 0,
            };
            if rank(&found) > rank(&best) {
                best = found;
            }
        }
        // The names before a pseudo-element are the names of its element.
        match iter.next_sequence() {
            Some(combinator) if combinator.is_pseudo_element() => {}
            _ => return best,
        }
    }
}
