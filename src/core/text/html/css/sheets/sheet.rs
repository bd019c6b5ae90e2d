//! The rules of all sheets, indexed by the names in their selectors.
//!
//! The rules are flat: conditions on the page are evaluated, nested rules are resolved, and each
//! rule has its layer, its scope and its position. Oversized sheets are truncated and flagged
//! ([`StyleSheet::over`]).

use std::collections::HashMap;
use std::sync::Arc;

use cssparser::Parser;
use selectors::parser::{Component, Selector, SelectorList};

use super::super::values::color::paint;
use super::super::values::property::{CssProperty, PropertyValue};
use super::super::values::value::{ComputedNumber, NumberKind, UnitScale, WrittenNumber, amount};
use super::pseudo::{ElementPart, MailSelectors};
use crate::text::html::tree::{DomTree, NodeId};

/// Maximum number of selectors.
const MAX_SELECTORS: usize = 20_000;
/// A declaration of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleLine {
    Set(CssProperty, PropertyValue, bool),
    /// A custom property: its name and its text.
    Custom(Arc<str>, Arc<str>, bool),
    /// A property whose value refers to others, with its text.
    Later(Arc<str>, Arc<str>, bool),
}

impl RuleLine {
    /// Returns true if the declaration is marked `!important`.
    pub fn is_important(&self) -> bool {
        match self {
            Self::Set(.., important) | Self::Custom(.., important) | Self::Later(.., important) => {
                *important
            }
        }
    }
}

/// The part of the document in which the rules of an `@scope` apply.
#[derive(Debug, Clone)]
pub struct ScopeRule {
    pub from: Option<SelectorList<MailSelectors>>,
    pub to: Option<SelectorList<MailSelectors>>,
    /// The parent of the sheet's element, which is the root if no selector names one.
    pub owner: Option<NodeId>,
}

/// Declarations for the elements that a selector matches.
#[derive(Debug, Clone)]
pub struct StyleRule {
    pub selector: Selector<MailSelectors>,
    /// The pseudo-element that the declarations are for.
    pub part: Option<ElementPart>,
    pub lines: Arc<[RuleLine]>,
    /// The number of the layer, an index into [`StyleSheet::ranks`].
    pub layer: usize,
    pub scope: Option<Arc<ScopeRule>>,
    /// The conditions of `@container` around the rule, as text.
    pub containers: Vec<Arc<str>>,
}

impl StyleRule {
    /// Returns true if the selector is a single tag name, which the index has already matched.
    pub fn is_tag(&self) -> bool {
        let mut parts = self.selector.iter_raw_match_order();
        matches!((parts.next(), parts.next()), (Some(Component::LocalName(_)), None))
    }
}

/// The declarations of an animation.
#[derive(Debug, Clone)]
pub struct AnimationSteps {
    /// The declarations of all steps, with the first step as the strongest.
    pub first: Arc<[RuleLine]>,
    /// The declarations of the last step.
    pub last: Arc<[RuleLine]>,
}

/// A custom property that a sheet registers with an initial value.
#[derive(Debug)]
pub struct RegisteredProperty {
    pub name: Arc<str>,
    /// The syntax of its values, such as `<color>`.
    pub syntax: String,
    /// True if the value is inherited.
    pub inherits: bool,
    pub initial: Arc<str>,
}

impl RegisteredProperty {
    /// Returns whether the property accepts a value; `None` if that is unknown.
    pub fn takes(&self, text: &str) -> Option<bool> {
        let mut input = Parser::new(text);
        let kinds: &[NumberKind] = match self.syntax.as_str() {
            "*" => return Some(true),
            "<color>" => return Some(paint(&mut input, false).is_ok() && input.is_exhausted()),
            "<number>" | "<integer>" => &[NumberKind::Number],
            "<percentage>" => &[NumberKind::Percent],
            "<length>" => &[NumberKind::Length],
            "<length-percentage>" => &[NumberKind::Length, NumberKind::Percent],
            "<angle>" => &[NumberKind::Angle],
            _ => return None,
        };
        let read = amount(&mut input).ok().filter(|_| input.is_exhausted());
        let zero =
            |one: &WrittenNumber| one.compute(&UnitScale::page()) == ComputedNumber::number(0.0);
        Some(read.is_some_and(|read| {
            kinds.contains(&read.kind()) || kinds.contains(&NumberKind::Length) && zero(&read)
        }))
    }
}

/// A layer: the number of its parent, and its name. Numbers begin at 1; 0 means no layer.
#[derive(Debug, Clone, PartialEq)]
struct CascadeLayer(usize, String);

/// All rules, indexed by the most specific name in their selector.
#[derive(Debug, Default)]
pub struct StyleSheet {
    rules: Vec<StyleRule>,
    ids: HashMap<String, Vec<usize>>,
    classes: HashMap<String, Vec<usize>>,
    tags: HashMap<String, Vec<usize>>,
    others: Vec<usize>,
    /// The animations, by name.
    pub frames: HashMap<String, AnimationSteps>,
    pub registered: Vec<RegisteredProperty>,
    /// True if a font draws its glyphs too small to be read.
    pub shrinks: bool,
    layers: Vec<CascadeLayer>,
    /// True if something was left out because of a limit.
    pub over: bool,
    /// True if the rules depend on a condition that only a browser can evaluate.
    pub guessed: bool,
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

    /// Returns the rank of each layer: a higher rank wins, and rules outside layers have the
    /// highest.
    pub fn ranks(&self) -> Vec<usize> {
        // Rules of a layer win over the layers within it (CSS Cascade 5).
        let key = |mut at: usize| {
            let mut key = vec![usize::MAX];
            while let Some(CascadeLayer(parent, _)) =
                at.checked_sub(1).and_then(|at| self.layers.get(at))
            {
                key.insert(0, at);
                at = *parent;
            }
            key
        };
        let mut order: Vec<usize> = (0..=self.layers.len()).collect();
        order.sort_by_cached_key(|at| key(*at));
        let mut ranks = vec![0; order.len()];
        for (rank, at) in order.into_iter().enumerate() {
            if let Some(slot) = ranks.get_mut(at) {
                *slot = rank;
            }
        }
        ranks
    }

    /// Returns the number of a layer within `parent`; a layer without a name is always a new one.
    pub fn layer(&mut self, parent: usize, name: String) -> usize {
        let same = |one: &CascadeLayer| one.0 == parent && !name.is_empty() && one.1 == name;
        if let Some(at) = self.layers.iter().position(same) {
            return at + 1;
        }
        if self.layers.len() > 1_000 {
            self.over = true;
            return parent;
        }
        self.layers.push(CascadeLayer(parent, name));
        self.layers.len()
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
