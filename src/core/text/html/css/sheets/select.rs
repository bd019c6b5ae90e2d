//! Matching of selectors by Firefox's engine.
//!
//! The crate `selectors` has the grammar, the specificity and the matching. This file answers its
//! questions about the document, and decides which pseudo-classes hold for a message that is only
//! read. All matching is counted: once a message has exceeded the limit, no selector matches any
//! more, and [`MatchWork::is_over`] returns true.

use std::cell::Cell;
use std::fmt;

use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode,
    SelectorCaches,
};
use selectors::matching::{ElementSelectorFlags, matches_selector};
use selectors::parser::Selector;
use selectors::{Element, OpaqueElement};

use super::pseudo::{ElementPart, MailSelectors, PseudoClass, SelectorName};
use crate::text::html::tree::{DomTree, NodeId, ROOT};

/// Maximum number of steps that the selectors of a message may take; honest messages need some
/// thousands.
pub const WORK: usize = 3_000_000;

/// Maximum number of nodes searched for an element of the head; no head has more.
const MANY: usize = 1_000;

/// A count of the work that selectors have caused, with its limit.
#[derive(Debug)]
pub struct MatchWork {
    spent: Cell<usize>,
    most: usize,
}

impl MatchWork {
    /// Creates a count that ends at `most`.
    pub fn limited(most: usize) -> Self {
        Self { spent: Cell::new(0), most }
    }

    /// Creates a count without a limit, for rules that no sender wrote.
    pub fn endless() -> Self {
        Self::limited(usize::MAX)
    }

    /// Counts work; returns false once the limit is exceeded.
    pub fn spend(&self, work: usize) -> bool {
        self.spent.set(self.spent.get().saturating_add(work));
        !self.is_over()
    }

    /// Returns true once the limit is exceeded, so that the answers are incomplete.
    pub fn is_over(&self) -> bool {
        self.spent.get() > self.most
    }
}

/// An element of the document, as the crate `selectors` queries it.
#[derive(Clone, Copy)]
struct ElementRef<'t> {
    tree: &'t DomTree,
    id: NodeId,
    work: &'t MatchWork,
}

impl fmt::Debug for ElementRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)
    }
}

impl<'t> ElementRef<'t> {
    fn at(&self, id: Option<NodeId>) -> Option<Self> {
        Some(Self { id: id?, ..*self })
    }

    /// Returns the first element from a node on, unless the limit is exceeded.
    fn element(
        &self,
        mut id: Option<NodeId>,
        next: impl Fn(NodeId) -> Option<NodeId>,
    ) -> Option<Self> {
        while let Some(at) = id {
            if !self.work.spend(1) {
                return None;
            }
            if !self.tree.name(at).is_empty() {
                return self.at(Some(at));
            }
            id = next(at);
        }
        None
    }

    fn attr(&self, name: &str) -> Option<&'t str> {
        // Values are compared as a whole, so long ones cost more.
        let value = self.tree.attr(self.id, name)?;
        self.work.spend(value.len() / 64).then_some(value)
    }

    fn is_any(&self, names: &[&str]) -> bool {
        names.contains(&self.tree.name(self.id))
    }

    fn is_control(&self) -> bool {
        self.is_any(&["button", "input", "select", "textarea", "option", "optgroup", "fieldset"])
    }

    fn is_disabled(&self) -> bool {
        let mut at = Some(*self);
        while let Some(element) = at {
            let holds = element.id == self.id || element.is_any(&["fieldset"]);
            if holds && element.attr("disabled").is_some() {
                return true;
            }
            at = element.parent_element();
        }
        false
    }

    fn is_editable(&self) -> bool {
        let kind = self.attr("type").unwrap_or("text").to_ascii_lowercase();
        let buttons =
            ["checkbox", "radio", "button", "submit", "reset", "hidden", "image", "range"];
        let field = self.is_any(&["textarea"])
            || self.is_any(&["input"]) && !buttons.contains(&kind.as_str());
        field && self.attr("readonly").is_none() && self.attr("disabled").is_none()
    }

    /// Returns the document's language, as declared in its head.
    fn language(&self) -> Option<&'t str> {
        let is = |id: &NodeId, name: &str, value: &str| {
            self.tree.attr(*id, name).is_some_and(|text| text.eq_ignore_ascii_case(value))
        };
        let meta =
            self.tree.below(ROOT).take_while(|_| self.work.spend(1)).take(MANY).find(|id| {
                self.tree.name(*id) == "meta" && is(id, "http-equiv", "content-language")
            })?;
        self.tree.attr(meta, "content")?.split_ascii_whitespace().next()
    }

    /// Returns an attribute of the element, or of the nearest ancestor that has it.
    fn nearest(&self, name: &str) -> Option<&'t str> {
        let mut at = Some(*self);
        while let Some(element) = at {
            if let Some(value) = element.attr(name) {
                return Some(value);
            }
            at = element.parent_element();
        }
        None
    }
}

impl Element for ElementRef<'_> {
    type Impl = MailSelectors;

    fn opaque(&self) -> OpaqueElement {
        match self.tree.node_ref(self.id) {
            Some(node) => OpaqueElement::new(node),
            None => OpaqueElement::new(self.tree),
        }
    }

    fn parent_element(&self) -> Option<Self> {
        self.element(self.tree.parent(self.id), |_| None)
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn pseudo_element_originating_element(&self) -> Option<Self> {
        Some(*self)
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.element(self.tree.before(self.id), |id| self.tree.before(id))
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.element(self.tree.after(self.id), |id| self.tree.after(id))
    }

    fn first_element_child(&self) -> Option<Self> {
        // `:has()` keeps a filter of some kilobytes for each element that it searches.
        self.work.spend(60);
        self.element(self.tree.first(self.id), |id| self.tree.after(id))
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.tree.is_html(self.id)
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.work.spend(1) && self.tree.name(self.id) == name
    }

    fn has_namespace(&self, url: &str) -> bool {
        self.tree.namespace(self.id) == url
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.work.spend(1)
            && self.tree.name(self.id) == self.tree.name(other.id)
            && self.tree.namespace(self.id) == self.tree.namespace(other.id)
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&SelectorName>,
        name: &SelectorName,
        operation: &AttrSelectorOperation<&SelectorName>,
    ) -> bool {
        let named = match namespace {
            NamespaceConstraint::Any => true,
            // Attributes of HTML have no namespace.
            NamespaceConstraint::Specific(url) => url.as_str().is_empty(),
        };
        self.work.spend(1)
            && named
            && self.attr(name.as_str()).is_some_and(|value| operation.eval_str(value))
    }

    fn match_non_ts_pseudo_class(
        &self,
        class: &PseudoClass,
        _: &mut MatchingContext<'_, MailSelectors>,
    ) -> bool {
        if !self.work.spend(1) {
            return false;
        }
        let has = |name| self.attr(name).is_some();
        let field = self.is_any(&["input", "select", "textarea"]);
        match class {
            PseudoClass::Link => self.is_link(),
            PseudoClass::Checked => match self.tree.name(self.id) {
                "option" => has("selected"),
                _ => self.is_any(&["input"]) && has("checked"),
            },
            PseudoClass::Disabled => self.is_control() && self.is_disabled(),
            PseudoClass::Enabled => self.is_control() && !self.is_disabled(),
            PseudoClass::Open => self.is_any(&["details", "dialog"]) && has("open"),
            PseudoClass::Required => field && has("required"),
            PseudoClass::Optional => field && !has("required"),
            PseudoClass::ReadOnly => !self.is_editable(),
            PseudoClass::ReadWrite => self.is_editable(),
            PseudoClass::PlaceholderShown => {
                has("placeholder") && self.attr("value").is_none_or(str::is_empty)
            }
            PseudoClass::Defined => !self.tree.name(self.id).contains('-'),
            PseudoClass::Lang(languages) => {
                let own = self.nearest("lang").or_else(|| self.language()).unwrap_or_default();
                let own = own.to_ascii_lowercase();
                languages.iter().any(|language| {
                    // Extended filtering (RFC 4647, 3.3.2), reduced to a wildcard at the beginning.
                    let language = language.strip_prefix("*-").unwrap_or(language);
                    language == "*" && !own.is_empty()
                        || own
                            .strip_prefix(language)
                            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
                            && !language.is_empty()
                })
            }
            PseudoClass::Dir(rtl) => {
                *rtl == self.nearest("dir").is_some_and(|dir| dir.eq_ignore_ascii_case("rtl"))
            }
            PseudoClass::Pointed | PseudoClass::Never => false,
        }
    }

    fn match_pseudo_element(
        &self,
        _: &ElementPart,
        _: &mut MatchingContext<'_, MailSelectors>,
    ) -> bool {
        false
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        self.is_any(&["a", "area"]) && self.tree.attr(self.id, "href").is_some()
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &SelectorName, case: CaseSensitivity) -> bool {
        self.work.spend(1)
            && self.attr("id").is_some_and(|own| case.eq(own.as_bytes(), id.as_str().as_bytes()))
    }

    fn has_class(&self, name: &SelectorName, case: CaseSensitivity) -> bool {
        self.work.spend(1)
            && self.attr("class").is_some_and(|own| {
                own.split_ascii_whitespace()
                    .any(|own| case.eq(own.as_bytes(), name.as_str().as_bytes()))
            })
    }

    fn has_custom_state(&self, _: &SelectorName) -> bool {
        false
    }

    fn imported_part(&self, _: &SelectorName) -> Option<SelectorName> {
        None
    }

    fn is_part(&self, _: &SelectorName) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        let full = |id: NodeId| {
            // Once the limit is exceeded no selector may match, so no element is empty.
            !self.work.spend(1)
                || !self.tree.name(id).is_empty()
                || self.tree.text(id).is_some_and(|text| !text.is_empty())
        };
        !self.tree.children(self.id).any(full)
    }

    fn is_root(&self) -> bool {
        self.tree.name(self.id) == "html" && self.parent_element().is_none()
    }

    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}

/// Matches selectors against one document.
pub struct SelectorMatcher<'t> {
    tree: &'t DomTree,
    pub work: &'t MatchWork,
    caches: SelectorCaches,
}

impl<'t> SelectorMatcher<'t> {
    /// Creates a matcher that counts its work in `work`.
    pub fn new(tree: &'t DomTree, work: &'t MatchWork) -> Self {
        Self { tree, work, caches: SelectorCaches::default() }
    }

    /// Returns true if the element, or the part of it that the selector names, matches.
    pub fn matches(&mut self, selector: &Selector<MailSelectors>, id: NodeId) -> bool {
        if !self.work.spend(1) {
            return false;
        }
        let mode = if selector.has_pseudo_element() {
            MatchingMode::ForStatelessPseudoElement
        } else {
            MatchingMode::Normal
        };
        let element = ElementRef { tree: self.tree, id, work: self.work };
        let quirks = if self.tree.is_quirks() { QuirksMode::Quirks } else { QuirksMode::NoQuirks };
        let mut context = MatchingContext::new(
            mode,
            None,
            &mut self.caches,
            quirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        matches_selector(selector, 0, None, element, &mut context)
    }

    /// Drops the caches of `:has()`, which hold some kilobytes for each element.
    pub fn rest(&mut self) {
        self.caches.relative_selector_filter_map = Default::default();
    }
}
