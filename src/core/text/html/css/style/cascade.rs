//! The cascade: the selection of the declarations that apply to an element.
//!
//! From the weakest to the strongest: the browser's own rules; presentational attributes; the
//! author's rules by specificity and order; the `style` attribute. Important declarations win over
//! all of these, with the browser's as the strongest.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use super::super::sheets::pseudo::ElementPart;
use super::super::sheets::select::{MatchWork, SelectorMatcher};
use super::super::sheets::sheet::{RuleLine, StyleSheet};
use super::super::sheets::{self, reader};
use super::super::values::property::{CssProperty, INHERITED, PropertyValue, ValueMode};
use super::attribute;
use super::computed::ComputedStyle;
use crate::text::html::tree::{DomTree, NodeId};

static BROWSER: LazyLock<StyleSheet> = LazyLock::new(|| read(include_str!("browser.css")));
// In quirks mode, tables do not inherit these properties (HTML, "Rendering").
static QUIRKS: LazyLock<StyleSheet> = LazyLock::new(|| {
    read(
        "table { font-size: initial; color: initial; white-space: initial; \
         line-height: initial; text-indent: initial }",
    )
});

fn read(text: &str) -> StyleSheet {
    let mut sheet = StyleSheet::default();
    reader::read(&mut sheet, text, ValueMode::default());
    sheet
}

/// Maximum weight of a value that is computed even if the limit of work is exceeded.
const LIGHT: usize = 40;

/// The origin of a declaration, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CascadeTier {
    Browser,
    Attribute,
    Author,
    Style,
    AuthorImportant,
    StyleImportant,
    BrowserImportant,
}

/// The precedence of a declaration: its origin, the number of its sheet, its specificity and its
/// position.
type DeclarationRank = (CascadeTier, usize, u32, usize);

/// The style sheets and rules from which the styles of a document are computed.
pub struct StyleCascade<'t> {
    tree: &'t DomTree,
    author: StyleSheet,
    matcher: SelectorMatcher<'t>,
    /// The matcher for the browser's own rules, whose work is not limited.
    browser: SelectorMatcher<'t>,
    /// Declarations of `style` attributes, by their text.
    inline: HashMap<&'t str, Rc<[RuleLine]>>,
    mode: ValueMode,
    /// The root's font size, in pixels.
    rem: f32,
}

impl<'t> StyleCascade<'t> {
    /// Reads all style sheets of the document.
    pub fn new(tree: &'t DomTree, [limited, endless]: &'t [MatchWork; 2]) -> Self {
        let mode = ValueMode { quirks: tree.is_quirks(), inline: false };
        let mut author = StyleSheet::default();
        sheets::sources(tree, &mut author, mode);
        let matcher = SelectorMatcher::new(tree, limited);
        let browser = SelectorMatcher::new(tree, endless);
        let (inline, rem) = (HashMap::new(), super::computed::FONT);
        Self { tree, author, matcher, browser, inline, mode, rem }
    }

    /// Returns true if a limit was exceeded, so that styles are incomplete.
    pub fn is_over(&self) -> bool {
        self.author.over || self.matcher.work.is_over()
    }

    /// Returns true if a sheet has rules that are not computed.
    pub fn is_unclear(&self) -> bool {
        self.author.unclear
    }

    /// Counts work caused by an element elsewhere; returns false once the limit is exceeded.
    pub fn spend(&self, work: usize) -> bool {
        self.matcher.work.spend(work)
    }

    /// Returns the root's font size, in pixels.
    pub fn rem(&self) -> f32 {
        self.rem
    }

    /// Returns the style of an element whose parent has the style `around`.
    pub fn style_of(&mut self, id: NodeId, around: &ComputedStyle) -> ComputedStyle {
        let attributes = attribute::lines(self.tree, id);
        let inline = self.inline_lines(id);
        let mut found: Vec<(DeclarationRank, &RuleLine)> = Vec::new();
        let mut parts: Vec<(ElementPart, DeclarationRank, RuleLine)> = Vec::new();
        let browsers: &[&'static StyleSheet] =
            if self.mode.quirks { &[&*BROWSER, &*QUIRKS] } else { &[&*BROWSER] };
        for (number, sheet) in browsers.iter().enumerate() {
            for (at, rule) in sheet.candidates(self.tree, id, self.tree.has_attributes(id)) {
                // The index has already matched a selector that is only a tag name.
                let known = rule.is_tag() && self.tree.is_html(id);
                if !known && !self.browser.matches(&rule.selector, id) {
                    continue;
                }
                for line in rule.lines.iter() {
                    let tier = if line.important {
                        CascadeTier::BrowserImportant
                    } else {
                        CascadeTier::Browser
                    };
                    found.push(((tier, number, rule.selector.specificity(), at), line));
                }
            }
        }
        found.extend(attributes.iter().map(|line| ((CascadeTier::Attribute, 0, 0, 0), line)));
        // Beyond the limit of work, the author's rules are ignored, and the message is in doubt.
        if !self.author.is_empty() && !self.matcher.work.is_over() {
            for (at, rule) in self.author.candidates(self.tree, id, true) {
                if !self.matcher.matches(&rule.selector, id) {
                    continue;
                }
                if !self.matcher.work.spend(rule.lines.len()) {
                    break;
                }
                for line in rule.lines.iter() {
                    let tier = if line.important {
                        CascadeTier::AuthorImportant
                    } else {
                        CascadeTier::Author
                    };
                    let rank = (tier, 0, rule.selector.specificity(), at);
                    match rule.part {
                        None => found.push((rank, line)),
                        Some(part) => parts.push((part, rank, line.clone())),
                    }
                }
            }
            self.matcher.rest();
        }
        for line in inline.iter() {
            let tier =
                if line.important { CascadeTier::StyleImportant } else { CascadeTier::Style };
            found.push(((tier, 0, 0, 0), line));
        }
        let mut style = self.compute(found, around);
        style.closed = self.tree.name(id) == "details" && self.tree.attr(id, "open").is_none();
        self.parts(&mut style, &parts);
        if self.tree.name(id) == "html"
            && self.tree.parent(id) == Some(crate::text::html::tree::ROOT)
        {
            self.rem = style.font;
        }
        style
    }

    /// Returns the declarations of an element's `style` attribute.
    fn inline_lines(&mut self, id: NodeId) -> Rc<[RuleLine]> {
        let Some(text) = self.tree.attr(id, "style") else { return Rc::new([]) };
        let mode = self.mode;
        let read = || Rc::from(reader::inline(text, mode));
        Rc::clone(self.inline.entry(text).or_insert_with(read))
    }

    /// Computes the styles of the element's pseudo-elements.
    fn parts(&self, style: &mut ComputedStyle, parts: &[(ElementPart, DeclarationRank, RuleLine)]) {
        if parts.is_empty() {
            return;
        }
        let of = |wanted: ElementPart| -> Vec<(DeclarationRank, &RuleLine)> {
            let lines = parts.iter().filter(|(part, ..)| *part == wanted);
            lines.map(|(_, rank, line)| (*rank, line)).collect()
        };
        let first = of(ElementPart::First);
        if !first.is_empty() {
            style.first = Some(Box::new(self.compute(first, style)));
        }
        let beside = |part: ElementPart| {
            let lines = of(part);
            // `::before` and `::after` exist only if `content` is set.
            let is_drawn = lines.iter().any(|(_, line)| line.property == CssProperty::Content);
            is_drawn.then(|| Box::new(self.compute(lines, style)))
        };
        let (before, after) = (beside(ElementPart::Before), beside(ElementPart::After));
        (style.before, style.after) = (before, after);
    }

    /// Computes the style that declarations give an element.
    fn compute(
        &self,
        mut found: Vec<(DeclarationRank, &RuleLine)>,
        around: &ComputedStyle,
    ) -> ComputedStyle {
        let (rem, work) = (self.rem, self.matcher.work);
        let mut style = around.child();
        found.sort_by_key(|(rank, _)| *rank);
        for property in in_order(&found) {
            let sets =
                |line: &RuleLine| line.property == property || line.property == CssProperty::All;
            let mut setting = found.iter().rev().filter(|(_, line)| sets(line));
            let Some((_, RuleLine { value, .. })) = setting.next() else { continue };
            // The values of these properties are not validated, and a browser ignores an invalid one.
            // A value that may hide text therefore counts even if another one follows.
            let may_hide = matches!(property, CssProperty::Other(_))
                && setting.any(|(_, line)| line.value == PropertyValue::Unknown);
            let value = if may_hide { &PropertyValue::Unknown } else { value };
            // Words and numbers are computed even if the limit of work is exceeded.
            let weight = value.weight();
            if weight > LIGHT && !work.spend(weight) {
                style.set(property, &PropertyValue::Unknown, around, rem);
            } else {
                style.set(property, value, around, rem);
            }
        }
        style
    }
}

/// Returns the properties that declarations set, in the order in which they are computed.
fn in_order(declarations: &[(DeclarationRank, &RuleLine)]) -> Vec<CssProperty> {
    let mut properties: Vec<CssProperty> =
        declarations.iter().map(|(_, line)| line.property).collect();
    if properties.contains(&CssProperty::All) {
        properties.extend(INHERITED);
    }
    properties.sort_unstable_by_key(|property| match property {
        // Other lengths depend on the font size, other colours on the colour of the text.
        CssProperty::FontSize => (0, *property),
        CssProperty::Color => (1, *property),
        _ => (2, *property),
    });
    properties.dedup();
    properties.retain(|property| *property != CssProperty::All);
    properties
}
