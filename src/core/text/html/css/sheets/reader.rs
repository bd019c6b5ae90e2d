//! Parsing of style sheets.
//!
//! The parser is Firefox's (`cssparser`), so an error ends at the same place as in a browser.

use std::sync::Arc;

use cssparser::{
    AtRuleParser, BasicParseErrorKind, CowRcStr, DeclarationParser, Delimiter, ParseError,
    ParseErrorKind, Parser, ParserState, QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser,
    StyleSheetParser, Token, parse_important,
};
use selectors::parser::{ParseRelative, SelectorList};

use super::super::values::grammar;
use super::super::values::property::{self, ValueMode};
use super::super::values::value::{ParseResult, UnitScale, amount, invalid};
use super::condition::{AtRule, import, layer_name, supports};
use super::media::{self, ConditionTruth};
use super::pseudo::{ElementPart, MailSelectors, SelectorGrammar, plain};
use super::sheet::{
    AnimationSteps, RegisteredProperty, RuleLine, ScopeRule, StyleRule, StyleSheet,
};
use crate::text::html::tree::NodeId;

/// Maximum number of declarations in the sheets of a message.
const MAX_LINES: usize = 200_000;
/// Maximum length of a sheet, in bytes; the rest is not read.
const MAX_SHEET: usize = 1_000_000;
/// Maximum number of components of a selector: matching recurses once for each.
const MAX_LONG: usize = 200;
/// Maximum depth of nested rules.
const MAX_DEEP: usize = 64;
/// Maximum depth of imports.
const MAX_IMPORTS: usize = 4;
/// Maximum number of times that one selector is matched for an element because it replaces `&`.
const MAX_WEIGHT: usize = 1_000;
/// Maximum length of a value, in bytes: it is computed for each element.
const MAX_VALUE: usize = 4_096;
/// Maximum length of a value that is kept as text until it is computed, in bytes.
const MAX_TEXT: usize = 20_000;

/// Functions whose value depends on the element.
const LATER: &[&str] = &[
    "var", "env", "attr", "if", "inherit", "random", "sibling-index", "sibling-count", "calc-size",
    "progress", "anchor", "anchor-size",
];

/// Reads the rules of `text` into `sheet`; `owner` is the parent of the sheet's element.
pub fn read(sheet: &mut StyleSheet, text: &str, mode: ValueMode, owner: Option<NodeId>) {
    read_into(sheet, text, mode, owner, RuleContext::default());
}

fn read_into(
    sheet: &mut StyleSheet,
    text: &str,
    mode: ValueMode,
    owner: Option<NodeId>,
    at: RuleContext,
) {
    let end = text.floor_char_boundary(MAX_SHEET);
    sheet.over |= end < text.len();
    let text = text.get(..end).unwrap_or_default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = SheetReader {
        sheet,
        grammar: SelectorGrammar::default(),
        mode,
        owner,
        at,
        lines: Vec::new(),
        steps: Vec::new(),
        frames: false,
        begun: false,
    };
    let mut input = Parser::new(text);
    let mut deep = false;
    for rule in StyleSheetParser::new(&mut input, &mut reader) {
        deep |= rule.is_err_and(|(error, ..)| is_too_deep(&error));
    }
    reader.sheet.over |= deep;
}

/// Returns the declarations of a `style` attribute.
pub fn inline(text: &str, mode: ValueMode) -> Vec<RuleLine> {
    let mut sheet = StyleSheet::default();
    let mut reader = SheetReader {
        sheet: &mut sheet,
        grammar: SelectorGrammar::default(),
        mode: ValueMode { inline: true, ..mode },
        owner: None,
        at: RuleContext::default(),
        lines: Vec::new(),
        steps: Vec::new(),
        frames: true,
        begun: false,
    };
    let mut input = Parser::new(text);
    RuleBodyParser::new(&mut input, &mut reader).for_each(drop);
    reader.lines
}

fn is_too_deep(error: &ParseError<()>) -> bool {
    error.kind == ParseErrorKind::Basic(BasicParseErrorKind::TooManyNestedBlocks)
}

/// The context of the rule that is being read.
#[derive(Debug, Clone, Default)]
struct RuleContext {
    parent: Option<SelectorList<MailSelectors>>,
    layer: usize,
    scope: Option<Arc<ScopeRule>>,
    containers: Vec<Arc<str>>,
    deep: usize,
    /// The number of copies of the outer selectors that `&` has made in `parent`; 0 outside a rule.
    weight: usize,
}

struct SheetReader<'s> {
    sheet: &'s mut StyleSheet,
    grammar: SelectorGrammar,
    mode: ValueMode,
    owner: Option<NodeId>,
    at: RuleContext,
    /// Declarations of the current rule that have not been filed yet.
    lines: Vec<RuleLine>,
    /// The steps read so far of the current animation.
    steps: Vec<(f32, f32, Vec<RuleLine>)>,
    /// True if rules are steps of an animation, and in a `style` attribute, which has no rules.
    frames: bool,
    /// True after the first rule, when imports are no longer valid.
    begun: bool,
}

impl SheetReader<'_> {
    /// Files the declarations read so far, once for each selector.
    fn flush(&mut self) {
        let lines: Arc<[RuleLine]> = std::mem::take(&mut self.lines).into();
        let Some(selectors) = self.at.parent.clone().filter(|_| !lines.is_empty()) else { return };
        for selector in selectors.slice() {
            if self.sheet.is_full() {
                return;
            }
            if selector.len() > MAX_LONG {
                self.sheet.over = true;
                continue;
            }
            let part = selector.pseudo_element().copied();
            let long = selector.pseudo_elements().len() > 1;
            // Shadow trees are not drawn, and the other pseudo-elements have no text of the
            // message.
            if part == Some(ElementPart::Other)
                || selector.is_slotted()
                || selector.is_part()
                || long
            {
                continue;
            }
            self.sheet.file(StyleRule {
                selector: selector.clone(),
                part,
                lines: Arc::clone(&lines),
                layer: self.at.layer,
                scope: self.at.scope.clone(),
                containers: self.at.containers.clone(),
            });
        }
    }

    /// Reads the declarations and rules of a block.
    fn body(&mut self, input: &mut Parser<'_>) {
        let mut deep = false;
        for item in RuleBodyParser::new(input, self) {
            deep |= item.is_err_and(|(error, ..)| is_too_deep(&error));
        }
        self.sheet.over |= deep;
        self.flush();
    }

    /// Reads a block in `context`, then restores the current context.
    fn within(&mut self, context: RuleContext, input: &mut Parser<'_>) {
        self.begun = true;
        // Declarations above a nested rule precede it in the order of the cascade.
        self.flush();
        if context.deep > MAX_DEEP {
            self.sheet.over = true;
            return;
        }
        let outer = std::mem::replace(&mut self.at, context);
        self.body(input);
        self.at = outer;
    }

    fn deeper(&self) -> RuleContext {
        RuleContext { deep: self.at.deep + 1, ..self.at.clone() }
    }

    fn selectors(&self, input: &mut Parser<'_>) -> ParseResult<SelectorList<MailSelectors>> {
        let relative = match (&self.at.parent, &self.at.scope) {
            (Some(_), _) => ParseRelative::ForNesting,
            (None, Some(_)) => ParseRelative::ForScope,
            (None, None) => ParseRelative::No,
        };
        plain(SelectorList::parse(&self.grammar, input, relative))
    }
}

impl<'i> DeclarationParser<'i> for SheetReader<'_> {
    type Declaration = ();
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
        _: &ParserState,
    ) -> ParseResult<()> {
        if self.sheet.lines >= MAX_LINES {
            self.sheet.over = true;
            return invalid();
        }
        self.sheet.lines += 1;
        let important = |input: &mut Parser<'i>| {
            let important = input.try_parse(parse_important).is_ok();
            input.expect_exhausted()?;
            Ok::<_, ParseError<()>>(important)
        };
        if name.starts_with("--") {
            let text = whole(input)?;
            let important = important(input)?;
            if text.len() > MAX_TEXT {
                self.sheet.over = true;
                return Ok(());
            }
            self.lines.push(RuleLine::Custom(name.as_ref().into(), text.into(), important));
            return Ok(());
        }
        let name = name.to_ascii_lowercase();
        // Properties that cannot hide text are not kept.
        if property::properties_of(&name).is_empty() {
            return invalid();
        }
        let start = input.state();
        let mut read = Vec::new();
        input.look_for_arbitrary_substitution_functions(LATER);
        let typed = input.parse_until_before(Delimiter::Bang, |input| {
            grammar::read(&name, input, self.mode, &mut read)
        });
        let typed = typed.and_then(|()| important(input));
        if let Ok(important) = typed {
            input.seen_arbitrary_substitution_functions();
            if input.slice_from(start.position()).len() > MAX_VALUE {
                self.sheet.over = true;
                return Ok(());
            }
            self.sheet.lines += read.len();
            let lines = read.into_iter().map(|(name, value)| RuleLine::Set(name, value, important));
            self.lines.extend(lines);
            return Ok(());
        }
        // A value with `var()` or the like is valid until it is computed (CSS Variables, 3), so its
        // text is kept.
        input.reset(&start);
        let text = whole(input);
        let later = input.seen_arbitrary_substitution_functions();
        let later = later || text.as_ref().is_ok_and(|text| has_own_function(text));
        let text = text?;
        let important = important(input)?;
        if !later {
            return invalid();
        }
        if text.len() > MAX_TEXT {
            self.sheet.over = true;
        } else {
            self.lines.push(RuleLine::Later(name.as_str().into(), text.into(), important));
        }
        Ok(())
    }
}

/// Returns the text of a value, up to its `!`.
fn whole<'i>(input: &mut Parser<'i>) -> ParseResult<&'i str> {
    input.parse_until_before(Delimiter::Bang, |input| {
        input.skip_whitespace();
        let start = input.position();
        while input.next_including_whitespace_and_comments().is_ok() {}
        Ok(input.slice_from(start).trim_end())
    })
}

/// Returns true if a value calls a function that a sheet defines (`--name()`).
fn has_own_function(text: &str) -> bool {
    let name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.split("--").skip(1).any(|rest| {
        let after = rest.trim_start_matches(name);
        after.len() < rest.len() && after.starts_with('(')
    })
}

/// The prelude of a rule.
enum BlockPrelude {
    /// Selectors, and the number of `&` in them.
    Selectors(SelectorList<MailSelectors>, usize),
    /// A step of an animation, by its first and its last position, from 0 to 1.
    Frame(f32, f32),
}

impl<'i> QualifiedRuleParser<'i> for SheetReader<'_> {
    type Prelude = BlockPrelude;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> ParseResult<BlockPrelude> {
        if !self.frames {
            let start = input.position();
            let selectors = self.selectors(input)?;
            // Nested selectors without `&` have an implicit one.
            let parents = input.slice_from(start).matches('&').count().max(1);
            return Ok(BlockPrelude::Selectors(selectors, parents));
        }
        let steps = input.parse_comma_separated(|input| match input.next()? {
            Token::Percentage { unit_value, .. } => Ok(*unit_value),
            Token::Ident(word) if word.eq_ignore_ascii_case("to") => Ok(1.0),
            Token::Ident(word) if word.eq_ignore_ascii_case("from") => Ok(0.0),
            _ => invalid(),
        })?;
        let by = |one: fn(f32, f32) -> f32| steps.iter().copied().reduce(one).unwrap_or_default();
        Ok(BlockPrelude::Frame(by(f32::min), by(f32::max)))
    }

    fn parse_block(
        &mut self,
        prelude: BlockPrelude,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> ParseResult<()> {
        match prelude {
            BlockPrelude::Selectors(selectors, parents) => {
                // Each `&` is replaced by all outer selectors: `:is(&,&)` doubles them at every
                // level.
                let weight = self.at.weight.max(1).saturating_mul(parents);
                if weight > MAX_WEIGHT {
                    self.sheet.over = true;
                    return Ok(());
                }
                // Outside a rule, `&` is `:scope` (CSS Nesting).
                let parent = self.at.parent.clone().unwrap_or_else(SelectorList::scope);
                let selectors = selectors.replace_parent_selector(&parent);
                let context = RuleContext { parent: Some(selectors), weight, ..self.deeper() };
                self.within(context, input);
            }
            BlockPrelude::Frame(from, to) => {
                let kept = std::mem::take(&mut self.lines);
                RuleBodyParser::new(input, self).for_each(drop);
                let mut read = std::mem::replace(&mut self.lines, kept);
                // `!important` is not valid in a keyframe (CSS Animations).
                read.retain(|line| !line.is_important());
                self.steps.push((from, to, read));
            }
        }
        Ok(())
    }
}

impl<'i> AtRuleParser<'i> for SheetReader<'_> {
    type Prelude = AtRule;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> ParseResult<AtRule> {
        let name = name.to_ascii_lowercase();
        Ok(match name.as_str() {
            "media" => AtRule::If(ConditionTruth::from(media::applies(input))),
            "supports" => AtRule::If(supports(input, &self.grammar)?),
            "layer" if input.is_exhausted() => AtRule::Layers(Vec::new()),
            "layer" => AtRule::Layers(input.parse_comma_separated(layer_name)?),
            "scope" => AtRule::Scope(self.scope(input)?),
            "container" => {
                input.skip_whitespace();
                let start = input.position();
                while input.next().is_ok() {}
                AtRule::Container(input.slice_from(start).into())
            }
            "keyframes" | "-webkit-keyframes" | "-moz-keyframes" => {
                AtRule::Frames(input.expect_ident_or_string()?.as_ref().to_owned())
            }
            "font-face" => AtRule::Font,
            "property" => AtRule::Property(input.expect_ident()?.as_ref().to_owned()),
            "import" => import(input, &self.grammar)?,
            "namespace" => {
                let prefix = input.try_parse(cssparser::Parser::expect_ident_cloned).ok();
                let url = input.expect_url_or_string()?.as_ref().to_owned();
                AtRule::Namespace(prefix.map(|prefix| prefix.as_ref().to_owned()), url)
            }
            _ => return invalid(),
        })
    }

    fn rule_without_block(&mut self, at: AtRule, _: &ParserState) -> Result<(), ()> {
        match at {
            AtRule::Layers(names) => {
                for name in names {
                    self.named_layer(&name);
                }
            }
            AtRule::Import { sheet, layer, holds } if !self.begun && self.accepts(holds) => {
                let layer = match &layer {
                    Some(name) => self.named_layer(name),
                    None => self.at.layer,
                };
                let deep = self.at.deep + 1;
                self.sheet.over |= deep > MAX_IMPORTS;
                if deep <= MAX_IMPORTS {
                    let at = RuleContext { layer, deep, ..RuleContext::default() };
                    read_into(self.sheet, &sheet, self.mode, self.owner, at);
                }
            }
            AtRule::Import { .. } => {}
            AtRule::Namespace(Some(prefix), url) => {
                self.grammar.prefixes.insert(prefix, url);
            }
            AtRule::Namespace(None, url) => self.grammar.default = Some(url),
            _ => return Err(()),
        }
        Ok(())
    }

    fn parse_block(
        &mut self,
        at: AtRule,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> ParseResult<()> {
        let mut context = self.deeper();
        match at {
            AtRule::If(truth) => {
                if !self.accepts(truth) {
                    return Ok(());
                }
            }
            AtRule::Layers(names) => {
                context.layer = match names.as_slice() {
                    [] => self.sheet.layer(self.at.layer, String::new()),
                    [one] => self.named_layer(one),
                    // Only the form without a block may name several layers.
                    _ => return invalid(),
                };
            }
            AtRule::Scope(scope) => {
                context.scope = Some(Arc::new(scope));
                // Within `@scope`, `&` is the scope's root and no longer the outer rule.
                context.parent = None;
            }
            AtRule::Container(condition) => context.containers.push(condition),
            AtRule::Frames(name) => {
                let kept = std::mem::take(&mut self.lines);
                let frames = std::mem::replace(&mut self.frames, true);
                RuleBodyParser::new(input, self).for_each(drop);
                self.frames = frames;
                self.lines = kept;
                let mut steps = std::mem::take(&mut self.steps);
                let last = steps.iter().filter(|(_, to, _)| *to >= 1.0);
                let last = last.flat_map(|(.., lines)| lines.iter().cloned()).collect();
                // From the last step to the first, so that the first is the strongest; of steps at
                // the same position, the later one is.
                steps.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
                let first = steps.into_iter().flat_map(|(.., lines)| lines).collect();
                self.sheet.frames.insert(name, AnimationSteps { first, last });
                return Ok(());
            }
            AtRule::Property(name) => {
                self.register(&name, input);
                return Ok(());
            }
            AtRule::Font => {
                self.font(input);
                return Ok(());
            }
            AtRule::Import { .. } | AtRule::Namespace(..) => return invalid(),
        }
        self.within(context, input);
        Ok(())
    }
}

impl RuleBodyItemParser<'_, (), ()> for SheetReader<'_> {
    fn parse_declarations(&self) -> bool {
        self.at.parent.is_some() || self.frames
    }

    fn parse_qualified(&self) -> bool {
        !self.mode.inline
    }
}

impl SheetReader<'_> {
    /// Reads an `@property` rule.
    fn register(&mut self, name: &str, input: &mut Parser<'_>) {
        let (mut inherits, mut initial, mut syntax) = (true, None, String::new());
        while !input.is_exhausted() {
            let _ = input.parse_until_after(Delimiter::Semicolon, |input| {
                let name = input.expect_ident()?.to_ascii_lowercase();
                input.expect_colon()?;
                let text = whole(input)?;
                match name.as_str() {
                    "inherits" => inherits = !text.eq_ignore_ascii_case("false"),
                    "initial-value" => initial = Some(text.to_owned()),
                    "syntax" => syntax = text.trim_matches(['"', '\'']).trim().to_owned(),
                    _ => {}
                }
                Ok::<_, ParseError<()>>(())
            });
        }
        if let Some(initial) = initial.filter(|text| text.len() <= MAX_VALUE) {
            let (name, initial) = (name.into(), initial.into());
            self.sheet.registered.push(RegisteredProperty { name, syntax, inherits, initial });
        }
    }

    /// Reads an `@font-face` rule for a `size-adjust` that draws glyphs too small to be read.
    fn font(&mut self, input: &mut Parser<'_>) {
        /// Part of the font size below which text cannot be read.
        const TINY: f32 = 0.2;
        while !input.is_exhausted() {
            let size = input.parse_until_after(Delimiter::Semicolon, |input| {
                input.expect_ident_matching("size-adjust")?;
                input.expect_colon()?;
                Ok::<_, ParseError<()>>(amount(input)?.compute(&UnitScale::page()).part)
            });
            self.sheet.shrinks |= size.is_ok_and(|size| size < TINY);
        }
    }

    /// Returns true if a condition is taken to hold, and records a guess.
    fn accepts(&mut self, truth: ConditionTruth) -> bool {
        self.sheet.guessed |= truth == ConditionTruth::Perhaps;
        truth == ConditionTruth::Yes || truth == ConditionTruth::Perhaps && self.mode.assume
    }

    fn named_layer(&mut self, name: &[String]) -> usize {
        let parent = self.at.layer;
        name.iter().fold(parent, |parent, name| self.sheet.layer(parent, name.clone()))
    }

    fn scope(&self, input: &mut Parser<'_>) -> ParseResult<ScopeRule> {
        let list = |input: &mut Parser<'_>| {
            input.expect_parenthesis_block()?;
            input.parse_nested_block(|input| {
                plain(SelectorList::parse_disallow_pseudo(
                    &self.grammar,
                    input,
                    ParseRelative::ForScope,
                ))
            })
        };
        let from = input.try_parse(list).ok();
        let to = match input.try_parse(|input| input.expect_ident_matching("to")) {
            Ok(()) => Some(list(input)?),
            Err(_) => None,
        };
        input.expect_exhausted()?;
        let here = |list: SelectorList<MailSelectors>| {
            list.replace_parent_selector(&SelectorList::scope())
        };
        Ok(ScopeRule { from: from.map(here), to: to.map(here), owner: self.owner })
    }
}
