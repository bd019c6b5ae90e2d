//! Parsing of style sheets.
//!
//! The parser is Firefox's (`cssparser`), so an error ends at the same place as in a browser. Rules
//! that mail programs drop (`@layer`, `@container`, sheets in `data:` addresses and others) are
//! skipped; a message with one is in doubt.

use std::sync::Arc;

use cssparser::{
    AtRuleParser, BasicParseErrorKind, CowRcStr, DeclarationParser, Delimiter, ParseError,
    ParseErrorKind, Parser, ParserState, QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser,
    StyleSheetParser, parse_important,
};
use selectors::parser::{ParseRelative, SelectorList};

use super::super::values::grammar;
use super::super::values::property::ValueMode;
use super::super::values::value::{ParseResult, UnitScale, amount, invalid};
use super::condition::{is_data, supports};
use super::media::{self, ConditionTruth};
use super::pseudo::{ElementPart, MailSelectors, SelectorGrammar, plain};
use super::sheet::{RuleLine, StyleRule, StyleSheet};

/// Maximum number of declarations in the sheets of a message.
const MAX_LINES: usize = 200_000;
/// Maximum length of a sheet, in bytes; the rest is not read.
const MAX_SHEET: usize = 1_000_000;
/// Maximum number of components of a selector: matching recurses once for each.
const MAX_LONG: usize = 200;
/// Maximum depth of nested rules.
const MAX_DEEP: usize = 64;
/// Maximum number of times that one selector is matched for an element because it replaces `&`.
const MAX_WEIGHT: usize = 1_000;
/// Maximum length of a value, in bytes: it is computed for each element.
const MAX_VALUE: usize = 4_096;

/// Reads the rules of `text` into `sheet`.
pub fn read(sheet: &mut StyleSheet, text: &str, mode: ValueMode) {
    let end = text.floor_char_boundary(MAX_SHEET);
    sheet.over |= end < text.len();
    let text = text.get(..end).unwrap_or_default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = SheetReader::new(sheet, mode);
    let mut input = Parser::new(text);
    let mut deep = false;
    for rule in StyleSheetParser::new(&mut input, &mut reader) {
        deep |= rule.is_err_and(|(error, ..)| is_too_deep(&error));
    }
    sheet.over |= deep;
}

/// Returns the declarations of a `style` attribute.
pub fn inline(text: &str, mode: ValueMode) -> Vec<RuleLine> {
    let mut sheet = StyleSheet::default();
    let mut reader = SheetReader::new(&mut sheet, ValueMode { inline: true, ..mode });
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
    deep: usize,
    /// The number of copies of the outer selectors that `&` has made in `parent`; 0 outside a rule.
    weight: usize,
}

struct SheetReader<'s> {
    sheet: &'s mut StyleSheet,
    mode: ValueMode,
    at: RuleContext,
    /// Declarations of the current rule that have not been filed yet.
    lines: Vec<RuleLine>,
}

impl<'s> SheetReader<'s> {
    fn new(sheet: &'s mut StyleSheet, mode: ValueMode) -> Self {
        Self { sheet, mode, at: RuleContext::default(), lines: Vec::new() }
    }

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
            let (selector, lines) = (selector.clone(), Arc::clone(&lines));
            self.sheet.file(StyleRule { selector, part, lines });
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

    /// Reads an `@font-face` rule for a `size-adjust` that draws glyphs too small to be read.
    fn font(&mut self, input: &mut Parser<'_>) {
        /// Part of the font size below which text cannot be read.
        const TINY: f32 = 0.5;
        while !input.is_exhausted() {
            let size = input.parse_until_after(Delimiter::Semicolon, |input| {
                input.expect_ident_matching("size-adjust")?;
                input.expect_colon()?;
                Ok::<_, ParseError<()>>(amount(input)?.compute(&UnitScale::page()).part)
            });
            self.sheet.unclear |= size.is_ok_and(|size| size < TINY);
        }
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
        let name = name.to_ascii_lowercase();
        let start = input.state();
        let mut read = Vec::new();
        input.parse_until_before(Delimiter::Bang, |input| {
            grammar::read(&name, input, self.mode, &mut read)
        })?;
        let important = input.try_parse(parse_important).is_ok();
        input.expect_exhausted()?;
        if input.slice_from(start.position()).len() > MAX_VALUE {
            self.sheet.over = true;
            return Ok(());
        }
        self.sheet.lines += read.len();
        self.lines.extend(read.into_iter().map(|(property, value)| RuleLine {
            property,
            value,
            important,
        }));
        Ok(())
    }
}

/// The selectors of a rule.
struct RulePrelude {
    selectors: SelectorList<MailSelectors>,
    /// The number of `&` in them.
    parents: usize,
    /// True if they depend on the state of a form.
    unclear: bool,
}

impl<'i> QualifiedRuleParser<'i> for SheetReader<'_> {
    type Prelude = RulePrelude;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> ParseResult<RulePrelude> {
        let start = input.position();
        let relative =
            if self.at.parent.is_some() { ParseRelative::ForNesting } else { ParseRelative::No };
        let grammar = SelectorGrammar::default();
        let selectors = plain(SelectorList::parse(&grammar, input, relative))?;
        // Nested selectors without `&` have an implicit one.
        let parents = input.slice_from(start).matches('&').count().max(1);
        Ok(RulePrelude { selectors, parents, unclear: grammar.unclear.get() })
    }

    fn parse_block(
        &mut self,
        RulePrelude { selectors, parents, unclear }: RulePrelude,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> ParseResult<()> {
        self.sheet.unclear |= unclear;
        // Each `&` is replaced by all outer selectors: `:is(&,&)` doubles them at every level.
        let weight = self.at.weight.max(1).saturating_mul(parents);
        if weight > MAX_WEIGHT {
            self.sheet.over = true;
            return Ok(());
        }
        // Outside a rule, `&` is `:scope` (CSS Nesting).
        let parent = self.at.parent.clone().unwrap_or_else(SelectorList::scope);
        let selectors = selectors.replace_parent_selector(&parent);
        self.within(RuleContext { parent: Some(selectors), weight, ..self.deeper() }, input);
        Ok(())
    }
}

/// The prelude of an at-rule.
enum AtRule {
    /// A condition, evaluated.
    If(ConditionTruth),
    /// `@font-face`.
    Font,
    /// A rule without effect on the visibility of text.
    Harmless,
    /// A rule that is not computed.
    Unclear,
}

impl<'i> AtRuleParser<'i> for SheetReader<'_> {
    type Prelude = AtRule;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> ParseResult<AtRule> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "media" => AtRule::If(ConditionTruth::from(media::applies(input))),
            "supports" => AtRule::If(supports(input)?),
            "font-face" => AtRule::Font,
            // No address is fetched.
            "import" => {
                let url = input.expect_url_or_string()?.as_ref().to_owned();
                while input.next().is_ok() {}
                if is_data(&url) { AtRule::Unclear } else { AtRule::Harmless }
            }
            "container" | "layer" | "namespace" | "property" | "scope" | "starting-style" => {
                while input.next().is_ok() {}
                AtRule::Unclear
            }
            // The other rules change no element, or one that an animation puts in doubt.
            _ => {
                while input.next().is_ok() {}
                AtRule::Harmless
            }
        })
    }

    fn rule_without_block(&mut self, at: AtRule, _: &ParserState) -> Result<(), ()> {
        self.sheet.unclear |= matches!(at, AtRule::Unclear);
        Ok(())
    }

    fn parse_block(
        &mut self,
        at: AtRule,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> ParseResult<()> {
        match at {
            AtRule::If(ConditionTruth::Yes) => {
                let context = self.deeper();
                self.within(context, input);
            }
            AtRule::If(ConditionTruth::Perhaps) | AtRule::Unclear => self.sheet.unclear = true,
            AtRule::If(ConditionTruth::No | ConditionTruth::Nonsense) | AtRule::Harmless => {}
            AtRule::Font => self.font(input),
        }
        Ok(())
    }
}

impl RuleBodyItemParser<'_, (), ()> for SheetReader<'_> {
    fn parse_declarations(&self) -> bool {
        self.at.parent.is_some() || self.mode.inline
    }

    fn parse_qualified(&self) -> bool {
        !self.mode.inline
    }
}
