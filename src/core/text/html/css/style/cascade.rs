//! The cascade: the selection of the declarations that apply to an element.
//!
//! From the weakest to the strongest: the browser's own rules; presentational attributes; the
//! author's rules by layer, specificity, scope and order; the `style` attribute; animations.
//! Important declarations win over all of these, with the order of layers reversed and the
//! browser's as the strongest.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use cssparser::Parser;

use super::super::sheets::media::{self, ConditionTruth, MediaView, SCREEN};
use super::super::sheets::pseudo::ElementPart;
use super::super::sheets::select::{MatchWork, SelectorMatcher};
use super::super::sheets::sheet::{RuleLine, ScopeRule, StyleRule, StyleSheet};
use super::super::sheets::{self, reader};
use super::super::values::color::{BLACK, WHITE};
use super::super::values::grammar;
use super::super::values::property::{self, CssProperty, PropertyValue, ValueMode, WideKeyword};
use super::attribute;
use super::computed::ComputedStyle;
use super::custom::{self, ResolvedText};
use super::winner::{CascadeTier, DeclarationRank, ResolvedDeclaration, in_order, winner};
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
    reader::read(&mut sheet, text, ValueMode::default(), None);
    sheet
}

/// Maximum weight of a value that is computed even if the limit of work is exceeded.
const LIGHT: usize = 40;

/// Seconds until a person is assumed to read the message.
const SOON: f32 = 5.0;

/// The style sheets and rules from which the styles of a document are computed.
pub struct StyleCascade<'t> {
    tree: &'t DomTree,
    author: StyleSheet,
    ranks: Vec<usize>,
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
    pub fn new(tree: &'t DomTree, work: &'t [MatchWork; 2]) -> Self {
        let [limited, endless] = work;
        let mode = ValueMode { quirks: tree.is_quirks(), inline: false, assume: limited.assumes() };
        let mut author = StyleSheet::default();
        sheets::sources(tree, |text, owner| reader::read(&mut author, text, mode, owner));
        if author.guessed {
            limited.guess();
        }
        let ranks = author.ranks();
        let matcher = SelectorMatcher::new(tree, limited);
        let browser = SelectorMatcher::new(tree, endless);
        let (inline, rem) = (HashMap::new(), super::computed::FONT);
        Self { tree, author, ranks, matcher, browser, inline, mode, rem }
    }

    /// Returns true if a limit was exceeded, so that styles are incomplete.
    pub fn is_over(&self) -> bool {
        self.author.over || self.matcher.work.is_over()
    }

    /// Returns true if a font draws its glyphs too small to be read.
    pub fn shrinks(&self) -> bool {
        self.author.shrinks
    }

    /// Counts work caused by an element elsewhere; returns false once the limit is exceeded.
    pub fn spend(&self, work: usize) -> bool {
        self.matcher.work.spend(work)
    }

    /// Returns the root's font size, in pixels.
    pub fn rem(&self) -> f32 {
        self.rem
    }

    /// Returns the style of an element whose parent has the style `around`; `container` is the
    /// width of the nearest container, in pixels.
    pub fn style_of(
        &mut self,
        id: NodeId,
        around: &ComputedStyle,
        container: Option<f32>,
    ) -> ComputedStyle {
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
                if !known && !self.browser.matches(&rule.selector, id, None) {
                    continue;
                }
                for line in rule.lines.iter() {
                    let tier = if line.is_important() {
                        CascadeTier::BrowserImportant
                    } else {
                        CascadeTier::Browser
                    };
                    found.push(((tier, number, rule.selector.specificity(), 0, at), line));
                }
            }
        }
        found.extend(attributes.iter().map(|line| ((CascadeTier::Attribute, 0, 0, 0, 0), line)));
        // Beyond the limit of work, the author's rules are ignored, and the message is in doubt.
        if !self.author.is_empty() && !self.matcher.work.is_over() {
            for (at, rule) in self.author.candidates(self.tree, id, true) {
                let Some(near) = matched(&mut self.matcher, self.tree, rule, id, container) else {
                    continue;
                };
                if !self.matcher.work.spend(rule.lines.len()) {
                    break;
                }
                let layer = self.ranks.get(rule.layer).copied().unwrap_or_default();
                for line in rule.lines.iter() {
                    // Among important declarations, earlier layers win (CSS Cascade 5).
                    let (tier, layer) = if line.is_important() {
                        (CascadeTier::AuthorImportant, usize::MAX - layer)
                    } else {
                        (CascadeTier::Author, layer)
                    };
                    // The rule whose scope begins nearer to the element wins.
                    let near = usize::MAX - near;
                    let rank = (tier, layer, rule.selector.specificity(), near, at);
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
                if line.is_important() { CascadeTier::StyleImportant } else { CascadeTier::Style };
            found.push(((tier, 0, 0, 0, 0), line));
        }
        found.sort_by_key(|(rank, _)| *rank);
        let mut style = self.compute(&found, around);
        // The style has to be known before its animations are, so it is computed twice.
        if let Some(frames) = self.frames(&style)
            && self.matcher.work.spend(2 * frames.len() + found.len())
        {
            let animated = frames.iter().map(|line| ((CascadeTier::Animation, 0, 0, 0, 0), line));
            found.extend(animated);
            found.sort_by_key(|(rank, _)| *rank);
            style = self.compute(&found, around);
        }
        self.parts(id, &mut style, parts);
        if self.tree.name(id) == "html"
            && self.tree.parent(id) == Some(crate::text::html::tree::ROOT)
        {
            self.rem = style.font;
            if style.is(CssProperty::ColorScheme, "dark") && style.color == Some(BLACK) {
                style.color = Some(WHITE);
            }
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

    /// Returns the declarations that the element's animations contribute when it is read.
    fn frames(&self, style: &ComputedStyle) -> Option<Arc<[RuleLine]>> {
        let list = |property| match style.get(property) {
            Some(PropertyValue::Names(names)) => Some(Arc::clone(names)),
            _ => None,
        };
        let names = list(CssProperty::AnimationName)?;
        let fills = list(CssProperty::AnimationFill)?;
        let (counts, states) =
            (list(CssProperty::AnimationCount), list(CssProperty::AnimationState));
        let (delays, lengths) =
            (list(CssProperty::AnimationDelay), list(CssProperty::AnimationLength));
        let timelines = list(CssProperty::AnimationTimeline);
        // A list that is shorter than the list of names is repeated (CSS Animations).
        let nth = |list: &Arc<[Box<str>]>, at: usize| {
            list.get(at % list.len().max(1))
                .map(|word| word.to_ascii_lowercase())
                .unwrap_or_default()
        };
        let mut lines = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if !self.matcher.work.spend(4) {
                return None;
            }
            let stays = matches!(nth(&fills, at).as_str(), "forwards" | "both");
            let begins = matches!(nth(&fills, at).as_str(), "backwards" | "both");
            let of = |list: &Option<Arc<[Box<str>]>>| list.as_ref().map(|list| nth(list, at));
            let seconds = |list| of(list).and_then(|n| n.parse().ok()).unwrap_or(0.0_f32);
            let (delay, long) = (seconds(&delays), seconds(&lengths));
            let Some(steps) = self.author.frames.get(&**name) else { continue };
            // If its fill mode says so, an animation that has ended by then contributes its last
            // step, and one that has not begun, its first. In between, only a browser knows.
            let between = of(&counts).is_some_and(|count| count == "infinite")
                || of(&states).is_some_and(|state| state == "paused")
                || of(&timelines).is_some_and(|timeline| timeline != "auto")
                || delay + long > SOON;
            let steps = match (between, delay > SOON) {
                (_, true) if begins => &steps.first,
                (_, true) => continue,
                (true, _) if self.matcher.work.guess() => &steps.first,
                (true, _) => &steps.last,
                _ if stays => &steps.last,
                _ => continue,
            };
            if !self.matcher.work.spend(steps.len()) {
                return None;
            }
            lines.extend(steps.iter().cloned());
        }
        (!lines.is_empty()).then(|| lines.into())
    }

    /// Computes the styles of the element's pseudo-elements.
    fn parts(
        &self,
        id: NodeId,
        style: &mut ComputedStyle,
        mut parts: Vec<(ElementPart, DeclarationRank, RuleLine)>,
    ) {
        let details = self.tree.name(id) == "details";
        if details {
            style.closed = self.tree.attr(id, "open").is_none();
        }
        if parts.is_empty() {
            return;
        }
        parts.sort_by_key(|(_, rank, _)| *rank);
        let of = |wanted: fn(ElementPart) -> bool| {
            let lines = parts.iter().filter(|(part, ..)| wanted(*part));
            lines.map(|(_, rank, line)| (*rank, line)).collect::<Vec<_>>()
        };
        let first = of(|part| {
            matches!(
                part,
                ElementPart::FirstLine | ElementPart::FirstCharacter | ElementPart::Placeholder
            )
        });
        if !first.is_empty() {
            style.first = Some(Box::new(self.compute(&first, style)));
        }
        let beside = |part: ElementPart| {
            let lines: Vec<(DeclarationRank, &RuleLine)> = parts
                .iter()
                .filter(|(one, ..)| *one == part)
                .map(|(_, rank, line)| (*rank, line))
                .collect();
            // `::before` and `::after` exist only if `content` is set.
            let holds = |(_, line): &(DeclarationRank, &RuleLine)| match line {
                RuleLine::Set(property, ..) => *property == CssProperty::Content,
                RuleLine::Custom(..) => false,
                RuleLine::Later(name, ..) => **name == *"content",
            };
            lines.iter().any(holds).then(|| Box::new(self.compute(&lines, style)))
        };
        let (before, after) = (beside(ElementPart::Before), beside(ElementPart::After));
        (style.before, style.after) = (before, after);
        if details {
            let content = self.compute(&of(|part| part == ElementPart::DetailsContent), style);
            style.closed = match content.keyword(CssProperty::ContentVisibility) {
                Some(word) => word == "hidden",
                None => style.closed,
            } || content.is(CssProperty::Display, "none");
        }
    }

    /// Computes the style that declarations, ordered from the weakest to the strongest, give an
    /// element.
    fn compute(
        &self,
        found: &[(DeclarationRank, &RuleLine)],
        around: &ComputedStyle,
    ) -> ComputedStyle {
        let (rem, work) = (self.rem, self.matcher.work);
        let mut style = around.child();
        if found.is_empty() {
            return style;
        }
        self.register_custom(&mut style);
        self.declare_custom(found, &mut style);
        let declarations = self.resolve(found, &style);
        for property in in_order(&declarations) {
            let Some(value) = winner(&declarations, property, work) else { continue };
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

    /// Sets the registered custom properties that begin with their initial values.
    fn register_custom(&self, style: &mut ComputedStyle) {
        let registered = &self.author.registered;
        if registered.is_empty() || !self.matcher.work.spend(registered.len() + style.vars.len()) {
            return;
        }
        for one in registered {
            let known = style.vars.get(&one.name);
            // A registered property that is not inherited begins with its initial value.
            if known.is_none() || !one.inherits && known != Some(&one.initial) {
                let (name, initial) = (Arc::clone(&one.name), Arc::clone(&one.initial));
                Rc::make_mut(&mut style.vars).insert(name, initial);
            }
        }
    }

    /// Sets the custom properties that the declarations set.
    fn declare_custom(&self, found: &[(DeclarationRank, &RuleLine)], style: &mut ComputedStyle) {
        let work = self.matcher.work;
        let custom: Vec<(Arc<str>, Option<Arc<str>>)> = found
            .iter()
            .filter_map(|(_, line)| match line {
                RuleLine::Custom(name, text, _) => {
                    let inherits =
                        matches!(&**text, "inherit" | "unset" | "revert" | "revert-layer");
                    Some((Arc::clone(name), (!inherits).then(|| Arc::clone(text))))
                }
                _ => None,
            })
            .collect();
        // The inherited properties are copied for each element that declares its own.
        if custom.is_empty() || !work.spend(style.vars.len()) {
            return;
        }
        let before = Rc::clone(&style.vars);
        style.vars = custom::declare(&style.vars, &custom, work);
        for one in &self.author.registered {
            let Some(text) = style.vars.get(&one.name) else { continue };
            let old = before.get(&one.name);
            // A value that the registered syntax does not accept has no effect.
            if old != Some(text)
                && work.spend(text.len() / 4 + 1)
                && !one.takes(text).unwrap_or_else(|| work.guess())
                && let Some(old) = old
            {
                let (name, old) = (Arc::clone(&one.name), Arc::clone(old));
                Rc::make_mut(&mut style.vars).insert(name, old);
            }
        }
    }

    /// Returns the declarations other than custom properties, with `var()` replaced.
    fn resolve<'a>(
        &self,
        found: &[(DeclarationRank, &'a RuleLine)],
        style: &ComputedStyle,
    ) -> Vec<ResolvedDeclaration<'a>> {
        let mut declarations = Vec::with_capacity(found.len());
        for (rank, line) in found {
            match line {
                RuleLine::Set(property, value, _) => {
                    declarations.push((*rank, *property, Cow::Borrowed(value)));
                }
                RuleLine::Custom(..) => {}
                RuleLine::Later(name, text, _) => {
                    let values = self.substitute(name, text, style).into_iter();
                    declarations
                        .extend(values.map(|(name, value)| (*rank, name, Cow::Owned(value))));
                }
            }
        }
        declarations
    }

    /// Reads a declaration whose value contains `var()`.
    fn substitute(
        &self,
        name: &str,
        text: &str,
        style: &ComputedStyle,
    ) -> Vec<(CssProperty, PropertyValue)> {
        match later(text, style, self.matcher.work) {
            ResolvedText::Known(text) => {
                let mut read = Vec::new();
                match grammar::read(name, &mut Parser::new(&text), self.mode, &mut read) {
                    Ok(()) => read,
                    // A value that is invalid after substitution counts as `unset` (CSS
                    // Variables).
                    Err(_) => for_all(name, &PropertyValue::Wide(WideKeyword::Unset)),
                }
            }
            ResolvedText::Invalid => for_all(name, &PropertyValue::Wide(WideKeyword::Unset)),
            ResolvedText::Unknown => for_all(name, &PropertyValue::Unknown),
        }
    }
}

/// Returns the proximity of a rule's scope, or `None` if the rule does not apply to the element.
fn matched(
    matcher: &mut SelectorMatcher<'_>,
    tree: &DomTree,
    rule: &StyleRule,
    id: NodeId,
    container: Option<f32>,
) -> Option<usize> {
    let near = match &rule.scope {
        None => matcher.matches(&rule.selector, id, None).then_some(usize::MAX)?,
        Some(scope) => scoped(matcher, tree, rule, scope, id)?,
    };
    let inside = |condition: &Arc<str>| {
        if !matcher.work.spend(condition.len() / 4 + 1) {
            return false;
        }
        let mut input = Parser::new(condition);
        let view = MediaView { width: container.unwrap_or(0.0), height: SCREEN.1, styled: true };
        let read = |input: &mut Parser<'_>| {
            let holds = media::condition(input, view)?;
            input.expect_exhausted()?;
            Ok::<_, cssparser::ParseError<()>>(holds)
        };
        let holds = input.try_parse(read).or_else(|_| {
            // The name of a container is ignored: the nearest one is measured.
            input.expect_ident()?;
            read(&mut input)
        });
        match holds {
            Ok(ConditionTruth::Yes) => container.is_some(),
            Ok(ConditionTruth::Perhaps) => matcher.work.guess(),
            _ => false,
        }
    };
    rule.containers.iter().all(inside).then_some(near)
}

/// Returns the number of steps up to the root of the scope in which the rule matches.
fn scoped(
    matcher: &mut SelectorMatcher<'_>,
    tree: &DomTree,
    rule: &StyleRule,
    scope: &ScopeRule,
    id: NodeId,
) -> Option<usize> {
    let path: Vec<NodeId> = std::iter::successors(Some(id), |at| tree.parent(*at))
        .filter(|at| !tree.name(*at).is_empty())
        .collect();
    for (steps, root) in path.iter().enumerate() {
        let begins = match &scope.from {
            Some(from) => from.slice().iter().any(|one| matcher.matches(one, *root, None)),
            None => scope.owner == Some(*root),
        };
        if !begins {
            continue;
        }
        let ends = scope.to.as_ref().is_some_and(|to| {
            path.iter()
                .take(steps + 1)
                .any(|at| to.slice().iter().any(|one| matcher.matches(one, *at, Some(*root))))
        });
        if !ends && matcher.matches(&rule.selector, id, Some(*root)) {
            return Some(steps);
        }
    }
    None
}

/// Returns a value with its references substituted; unknown if the limit of work is exceeded.
fn later(text: &str, style: &ComputedStyle, work: &MatchWork) -> ResolvedText {
    let value = custom::substitute(text, &style.vars, work);
    // The substituted text is parsed once more, which is work as well.
    let long = matches!(&value, ResolvedText::Known(text) if !work.spend(text.len() / 4));
    if long { ResolvedText::Unknown } else { value }
}

/// Returns each property that a name sets, with one value.
fn for_all(name: &str, value: &PropertyValue) -> Vec<(CssProperty, PropertyValue)> {
    property::properties_of(name).iter().map(|property| (*property, value.clone())).collect()
}
