//! Preludes of at-rules: conditions, layers, and sheets imported from `data:` addresses.

use std::sync::Arc;

use base64::Engine as _;
use cssparser::{Delimiter, ParseError, Parser, Token};
use selectors::parser::{ParseRelative, SelectorList};

use super::super::values::grammar;
use super::super::values::property::{self, ValueMode};
use super::super::values::value::{ParseResult, invalid};
use super::media::{self, ConditionTruth};
use super::pseudo::{SelectorGrammar, plain};
use super::sheet::ScopeRule;

/// The prelude of an at-rule.
pub enum AtRule {
    /// A condition, evaluated.
    If(ConditionTruth),
    Layers(Vec<Vec<String>>),
    Scope(ScopeRule),
    Container(Arc<str>),
    Frames(String),
    /// `@font-face`.
    Font,
    /// `@property`, with the name of the custom property.
    Property(String),
    Import {
        sheet: String,
        layer: Option<Vec<String>>,
        holds: ConditionTruth,
    },
    Namespace(Option<String>, String),
}

/// Reads the name of a layer: `a.b.c`.
pub fn layer_name(input: &mut Parser<'_>) -> ParseResult<Vec<String>> {
    let mut name = vec![input.expect_ident()?.as_ref().to_owned()];
    while input.try_parse(|input| input.expect_delim('.')).is_ok() {
        name.push(input.expect_ident()?.as_ref().to_owned());
    }
    Ok(name)
}

/// Evaluates the condition of `@supports`.
pub fn supports(input: &mut Parser<'_>, grammar: &SelectorGrammar) -> ParseResult<ConditionTruth> {
    media::combined(input, &mut |input| match input.next()?.clone() {
        Token::ParenthesisBlock => input.parse_nested_block(|input| {
            let start = input.state();
            if let Ok(nested) = input.try_parse(|input| supports(input, grammar)) {
                return Ok(nested);
            }
            input.reset(&start);
            // Unknown syntax in brackets is false and no error, so that `not (…)` around it holds.
            let known = input.try_parse(declared).unwrap_or(ConditionTruth::No);
            while input.next().is_ok() {}
            Ok(known)
        }),
        Token::Function(name) => input.parse_nested_block(|input| {
            let selector = name.eq_ignore_ascii_case("selector")
                && plain(SelectorList::parse(grammar, input, ParseRelative::No))
                    .is_ok_and(|list| list.len() == 1);
            while input.next().is_ok() {}
            // The fonts and rules that a browser supports are not listed here.
            let asks = ["at-rule", "font-format", "font-tech", "named-feature"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known));
            Ok(if asks { ConditionTruth::Perhaps } else { ConditionTruth::from(selector) })
        }),
        _ => invalid(),
    })
}

/// Properties that browsers support and that cannot hide text.
const COMMON: &[&str] = &[
    "accent-color",
    "align-content",
    "align-items",
    "align-self",
    "appearance",
    "aspect-ratio",
    "backdrop-filter",
    "background-position",
    "background-repeat",
    "background-size",
    "border",
    "border-color",
    "border-radius",
    "border-width",
    "box-shadow",
    "box-sizing",
    "break-inside",
    "column-count",
    "column-gap",
    "columns",
    "cursor",
    "flex",
    "flex-basis",
    "flex-direction",
    "flex-flow",
    "flex-grow",
    "flex-shrink",
    "flex-wrap",
    "font-family",
    "font-style",
    "font-variation-settings",
    "font-weight",
    "gap",
    "grid",
    "grid-area",
    "grid-column",
    "grid-gap",
    "grid-template",
    "grid-template-areas",
    "grid-template-columns",
    "grid-template-rows",
    "hyphens",
    "initial-letter",
    "justify-content",
    "justify-items",
    "letter-spacing",
    "object-fit",
    "object-position",
    "order",
    "outline",
    "place-items",
    "pointer-events",
    "row-gap",
    "scroll-behavior",
    "tab-size",
    "text-align",
    "text-decoration",
    "text-shadow",
    "text-transform",
    "touch-action",
    "transition",
    "user-select",
    "vertical-align",
    "will-change",
    "word-break",
    "word-spacing",
    "-webkit-appearance",
    "-webkit-user-select",
    "-webkit-text-size-adjust",
    "-webkit-box-orient",
    "-webkit-font-smoothing",
];

/// Reads `name: value` and returns whether a browser supports it.
fn declared(input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    let name = input.expect_ident()?.to_ascii_lowercase();
    input.expect_colon()?;
    let known = name.starts_with("--") || COMMON.contains(&name.as_str());
    let taken = input.parse_until_before(Delimiter::Bang, |input| {
        let start = input.state();
        let mut read = Vec::new();
        let taken = grammar::read(&name, input, ValueMode::default(), &mut read);
        input.reset(&start);
        while input.next().is_ok() {}
        Ok::<_, ParseError<()>>(taken.is_ok())
    })?;
    // The value is checked only for properties with a grammar here; of others, the name decides.
    Ok(match property::properties_of(&name).is_empty() {
        false => ConditionTruth::from(taken),
        true if known => ConditionTruth::Yes,
        true if name.starts_with('-') || name.starts_with("mso-") => ConditionTruth::No,
        true => ConditionTruth::Perhaps,
    })
}

/// Reads the prelude of an import: `url() layer supports() media`.
pub fn import(input: &mut Parser<'_>, grammar: &SelectorGrammar) -> ParseResult<AtRule> {
    let url = input.expect_url_or_string()?.as_ref().to_owned();
    let mut layer = None;
    if input.try_parse(|input| input.expect_ident_matching("layer")).is_ok() {
        layer = Some(vec![String::new()]);
    } else if input.try_parse(|input| input.expect_function_matching("layer")).is_ok() {
        layer = Some(input.parse_nested_block(layer_name)?);
    }
    let mut holds = ConditionTruth::Yes;
    if input.try_parse(|input| input.expect_function_matching("supports")).is_ok() {
        holds = input.parse_nested_block(|input| {
            let start = input.state();
            let known = input.try_parse(declared);
            if known.is_err() {
                input.reset(&start);
                return supports(input, grammar);
            }
            known
        })?;
    }
    holds = holds.min(ConditionTruth::from(media::applies(input)));
    // No address is fetched. A sheet that is not in a `data:` address counts as empty, but its
    // layer takes its place in the order of layers.
    Ok(AtRule::Import { sheet: of_data(&url).unwrap_or_default(), layer, holds })
}

/// Returns the style sheet in a `data:` address.
pub fn of_data(url: &str) -> Option<String> {
    let rest = url.trim().get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
    let (kind, body) = url.trim().get(rest.len()..)?.split_once(',')?;
    let mut parts = kind.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case("text/css") {
        return None;
    }
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(body).collect();
    let bytes = if parts.any(|part| part.eq_ignore_ascii_case("base64")) {
        let packed: Vec<u8> = bytes.into_iter().filter(|b| !b.is_ascii_whitespace()).collect();
        base64::engine::general_purpose::STANDARD.decode(packed).ok()?
    } else {
        bytes
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
