//! Rules, filed by what they are for.
//!
//! They come out flat: conditions on the page are decided, rules in rules are
//! resolved, and each rule knows its layer, its scope and its place. What is too
//! much to read is left out, and that is said ([`StyleSheet::over`]).

use std::collections::HashMap;
use std::sync::Arc;

use cssparser::Parser;
use selectors::parser::{Component, Selector, SelectorList};

use super::super::values::color::paint;
use super::super::values::property::{CssProperty, PropertyValue};
use super::super::values::value::{ComputedNumber, NumberKind, UnitScale, WrittenNumber, amount};
use super::pseudo::{ElementPart, MailSelectors};
use crate::text::html::tree::{DomTree, NodeId};

/// More selectors than these are not read.
const MAX_SELECTORS: usize = 20_000;
/// A declaration of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleLine {
    Set(CssProperty, PropertyValue, bool),
    /// `--name: text`.
    Custom(Arc<str>, Arc<str>, bool),
    /// A property whose value asks for others, by its text.
    Later(Arc<str>, Arc<str>, bool),
}

impl RuleLine {
    /// Returns true for `!important`.
    pub fn is_important(&self) -> bool {
        match self {
            Self::Set(.., important) | Self::Custom(.., important) | Self::Later(.., important) => {
                *important
            }
        }
    }
}

/// Where the rules of an `@scope` hold.
#[derive(Debug, Clone)]
pub struct ScopeRule {
    pub from: Option<SelectorList<MailSelectors>>,
    pub to: Option<SelectorList<MailSelectors>>,
    /// What holds the sheet, where no selector says where it begins.
    pub owner: Option<NodeId>,
}

/// Declarations for the elements that a selector matches.
#[derive(Debug, Clone)]
pub struct StyleRule {
    pub selector: Selector<MailSelectors>,
    /// The part of the element they are for.
    pub part: Option<ElementPart>,
    pub lines: Arc<[RuleLine]>,
    /// The number of its layer in [`StyleSheet::layers`].
    pub layer: usize,
    pub scope: Option<Arc<ScopeRule>>,
    /// The conditions of `@container` around it, by their text.
    pub containers: Vec<Arc<str>>,
}

impl StyleRule {
    /// Returns true if the selector is one name of a tag: then the index has matched it.
    pub fn is_tag(&self) -> bool {
        let mut parts = self.selector.iter_raw_match_order();
        matches!((parts.next(), parts.next()), (Some(Component::LocalName(_)), None))
    }
}

/// What the steps of an animation say.
#[derive(Debug, Clone)]
pub struct AnimationSteps {
    /// All of them, the first as the strongest.
    pub first: Arc<[RuleLine]>,
    /// The last.
    pub last: Arc<[RuleLine]>,
}

/// A custom property that begins with a value.
#[derive(Debug)]
pub struct RegisteredProperty {
    pub name: Arc<str>,
    /// What values it takes.
    pub syntax: String,
    /// True if the value is taken over.
    pub inherits: bool,
    pub initial: Arc<str>,
}

impl RegisteredProperty {
    /// Returns whether it takes a value, if that is known.
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

/// A layer: its parent and its name. The first is no layer.
#[derive(Debug, Clone, PartialEq)]
struct CascadeLayer(usize, String);

/// All rules, by the most telling name of their selector.
#[derive(Debug, Default)]
pub struct StyleSheet {
    rules: Vec<StyleRule>,
    ids: HashMap<String, Vec<usize>>,
    classes: HashMap<String, Vec<usize>>,
    tags: HashMap<String, Vec<usize>>,
    others: Vec<usize>,
    /// The animations.
    pub frames: HashMap<String, AnimationSteps>,
    pub registered: Vec<RegisteredProperty>,
    /// True if it has a font whose glyphs are drawn too small to be read.
    pub shrinks: bool,
    layers: Vec<CascadeLayer>,
    /// True if not all was read.
    pub over: bool,
    /// True if what is not known decides what was read.
    pub guessed: bool,
    /// How many declarations were read.
    pub lines: usize,
}

/// Under what a rule is filed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RuleKey {
    Id(String),
    Class(String),
    Tag(String),
    Any,
}

impl StyleSheet {
    /// Returns true if no rule can be added; then not all was read.
    pub fn is_full(&mut self) -> bool {
        self.over |= self.rules.len() >= MAX_SELECTORS;
        self.rules.len() >= MAX_SELECTORS
    }

    /// Files a rule under the most telling name of its selector.
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

    /// Returns true if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rules that may be for an element, with their places; `others` are
    /// those that name nothing the element has.
    pub fn candidates<'s>(
        &'s self,
        tree: &'s DomTree,
        id: NodeId,
        others: bool,
    ) -> impl Iterator<Item = (usize, &'s StyleRule)> {
        let of = |map: &'s HashMap<String, Vec<usize>>, name: &str| {
            // Names are filed in lower case.
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

    /// Returns the rank of each layer: a higher one wins, what is in none above all.
    pub fn ranks(&self) -> Vec<usize> {
        // What is in a layer itself comes after the layers in it.
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

    /// Returns the number of a layer in another; one without a name is a new one.
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

/// Returns under what a selector is filed: by what its last part must be.
fn key(selector: &Selector<MailSelectors>) -> RuleKey {
    let mut iter = selector.iter();
    let mut best = RuleKey::Any;
    loop {
        for component in &mut iter {
            let found = match component {
                Component::ID(id) => RuleKey::Id(id.as_str().to_ascii_lowercase()),
                Component::Class(class) => RuleKey::Class(class.as_str().to_ascii_lowercase()),
                Component::LocalName(name) => RuleKey::Tag(name.lower_name.as_str().to_owned()),
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
        // What stands before a pseudo-element is the element.
        match iter.next_sequence() {
            Some(combinator) if combinator.is_pseudo_element() => {}
            _ => return best,
        }
    }
}
