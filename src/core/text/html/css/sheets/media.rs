//! Evaluation of media queries, for an ordinary screen: 1280 by 800 pixels, light, with a mouse.
//!
//! Newsletters hide one version of their text from small screens and another from large ones, so
//! conditions have to be evaluated. As in a browser, a condition that is not understood does not
//! hold.

use cssparser::{Parser, Token};

use super::super::values::value::{
    ComputedNumber, NumberKind, ParseResult, UnitScale, amount_of, invalid,
};

/// The size of the screen, in pixels.
pub const SCREEN: (f32, f32) = (1280.0, 800.0);

/// The truth of a condition, ordered so that `and` is the lesser of two and `or` the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionTruth {
    No,
    /// An unknown feature: neither it nor its negation holds.
    Nonsense,
    /// Known only to a browser.
    Perhaps,
    Yes,
}

impl ConditionTruth {
    fn contrary(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Yes => Self::No,
            other => other,
        }
    }
}

impl From<bool> for ConditionTruth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Returns true if any query of a list holds, or if the list is empty.
pub fn applies(input: &mut Parser<'_>) -> bool {
    if input.is_exhausted() {
        return true;
    }
    let held = input.parse_comma_separated(|input| {
        let holds = query(input).unwrap_or(ConditionTruth::Nonsense) == ConditionTruth::Yes;
        // A query that is not understood still ends at the next comma.
        while input.next().is_ok() {}
        Ok::<_, cssparser::ParseError<()>>(holds)
    });
    held.is_ok_and(|held| held.contains(&true))
}

/// Reads `[not | only] type [and condition]`, or a condition.
fn query(input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    // A condition is tried first, because `not` may begin either form.
    let whole = input.try_parse(|input| {
        let holds = condition(input)?;
        input.expect_exhausted()?;
        Ok::<_, cssparser::ParseError<()>>(holds)
    });
    if whole.is_ok() {
        return whole;
    }
    let mut word = input.expect_ident()?.to_ascii_lowercase();
    let not = word == "not";
    if not || word == "only" {
        word = input.expect_ident()?.to_ascii_lowercase();
    }
    let mut holds = ConditionTruth::from(matches!(word.as_str(), "all" | "screen"));
    // Reserved words are not media types (Media Queries 4).
    if matches!(word.as_str(), "and" | "or" | "not" | "only" | "layer") {
        return invalid();
    }
    if input.try_parse(|input| input.expect_ident_matching("and")).is_ok() {
        holds = holds.min(condition(input)?);
    }
    input.expect_exhausted()?;
    Ok(if not { holds.contrary() } else { holds })
}

/// Reads a condition made of features, `not`, `and` and `or`.
pub fn condition(input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    combined(input, &mut condition_term)
}

/// Reads parts joined by `and` or by `or`, with `not` before one.
pub fn combined(
    input: &mut Parser<'_>,
    one: &mut dyn FnMut(&mut Parser<'_>) -> ParseResult<ConditionTruth>,
) -> ParseResult<ConditionTruth> {
    if input.try_parse(|input| input.expect_ident_matching("not")).is_ok() {
        return Ok(one(input)?.contrary());
    }
    let mut holds = one(input)?;
    let mut joined = None;
    loop {
        let and = input.try_parse(|input| input.expect_ident_matching("and")).is_ok();
        if !and && input.try_parse(|input| input.expect_ident_matching("or")).is_err() {
            return Ok(holds);
        }
        // Without brackets, `and` and `or` cannot be mixed.
        if *joined.get_or_insert(and) != and {
            return invalid();
        }
        let other = one(input)?;
        holds = if and { holds.min(other) } else { holds.max(other) };
    }
}

/// Evaluates a condition in brackets, or a function.
fn condition_term(input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    match input.next()?.clone() {
        Token::ParenthesisBlock => input.parse_nested_block(|input| {
            let start = input.state();
            let bracket = matches!(input.next(), Ok(Token::ParenthesisBlock));
            input.reset(&start);
            let not = input.try_parse(|input| input.expect_ident_matching("not")).is_ok();
            input.reset(&start);
            if bracket || not {
                return condition(input);
            }
            let holds = feature(input);
            if holds.is_err() {
                // Unknown syntax is neither true nor an error (`<general-enclosed>`).
                while input.next().is_ok() {}
            }
            Ok(holds.unwrap_or(ConditionTruth::Nonsense))
        }),
        Token::Function(_) => input.parse_nested_block(|input| {
            while input.next().is_ok() {}
            Ok(ConditionTruth::Nonsense)
        }),
        _ => invalid(),
    }
}

/// Evaluates `name`, `name: value` or a range.
fn feature(input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    let start = input.state();
    if let Ok(name) = input.try_parse(cssparser::Parser::expect_ident_cloned) {
        let name = name.to_ascii_lowercase();
        if input.is_exhausted() {
            return Ok(alone(&name));
        }
        if input.try_parse(Parser::expect_colon).is_ok() {
            return valued(&name, input);
        }
    }
    input.reset(&start);
    range(input).map(ConditionTruth::from)
}

/// Evaluates a feature without a value, such as `(hover)`.
fn alone(name: &str) -> ConditionTruth {
    let lacks = matches!(
        name,
        "color-index"
            | "device-posture"
            | "forced-colors"
            | "grid"
            | "monochrome"
            | "prefers-contrast"
            | "prefers-reduced-motion"
            | "prefers-reduced-transparency"
            | "scripting"
    );
    let has = matches!(
        name,
        "width"
            | "height"
            | "device-width"
            | "device-height"
            | "aspect-ratio"
            | "orientation"
            | "resolution"
            | "color"
            | "color-gamut"
            | "hover"
            | "any-hover"
            | "pointer"
            | "any-pointer"
            | "prefers-color-scheme"
            | "update"
            | "overflow-block"
            | "overflow-inline"
            | "display-mode"
            | "dynamic-range"
            | "device-aspect-ratio"
            | "inline-size"
            | "block-size"
            | "-webkit-transform-3d"
            | "-webkit-device-pixel-ratio"
            | "horizontal-viewport-segments"
            | "vertical-viewport-segments"
    );
    match (has, lacks) {
        (true, _) => ConditionTruth::Yes,
        (_, true) => ConditionTruth::No,
        _ => ConditionTruth::Nonsense,
    }
}

/// Returns the length of the side that a feature names, in pixels.
fn side(name: &str) -> Option<f32> {
    match name {
        "width" | "device-width" | "inline-size" => Some(SCREEN.0),
        "height" | "device-height" | "block-size" => Some(SCREEN.1),
        _ => None,
    }
}

/// Evaluates a feature with a value, such as `(min-width: 600px)`.
fn valued(name: &str, input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    let word = input.try_parse(cssparser::Parser::expect_ident_cloned).ok();
    if let Some(word) = word {
        input.expect_exhausted()?;
        let word = word.to_ascii_lowercase();
        return Ok(ConditionTruth::from(match name {
            "orientation" => word == "landscape",
            "prefers-color-scheme" => word == "light",
            "prefers-reduced-motion" | "prefers-contrast" | "prefers-reduced-transparency" => {
                word == "no-preference"
            }
            "forced-colors" | "scripting" => word == "none",
            "hover" | "any-hover" => word == "hover",
            "pointer" | "any-pointer" => word == "fine",
            "update" => word == "fast",
            "overflow-block" | "overflow-inline" => word == "scroll",
            "color-gamut" => word == "srgb",
            "dynamic-range" => word == "standard",
            "display-mode" => word == "browser",
            "device-posture" => word == "continuous",
            _ => return Ok(ConditionTruth::Nonsense),
        }));
    }
    let value = size(input)?;
    let ratio = input.try_parse(|input| input.expect_delim('/')).is_ok();
    let value = if ratio { value / size(input)? } else { value };
    input.expect_exhausted()?;
    let (least, most) = (name.contains("min-"), name.contains("max-"));
    let plain = name.trim_start_matches("-webkit-").trim_start_matches("min-");
    let plain = plain.trim_start_matches("max-").trim_start_matches("min--moz-");
    let own = match plain {
        "aspect-ratio" | "device-aspect-ratio" => SCREEN.0 / SCREEN.1,
        // Browsers have this feature only with a prefix.
        "device-pixel-ratio" if plain == name => return Ok(ConditionTruth::Nonsense),
        "resolution" | "device-pixel-ratio" => 1.0,
        "horizontal-viewport-segments" | "vertical-viewport-segments" => 1.0,
        "color" => 8.0,
        "monochrome" | "color-index" | "grid" => 0.0,
        "transform-3d" => 1.0,
        other => match side(other) {
            Some(side) => side,
            None => return Ok(ConditionTruth::Nonsense),
        },
    };
    Ok(ConditionTruth::from(match (least, most) {
        (true, _) => own >= value,
        (_, true) => own <= value,
        _ => (own - value).abs() < 0.01,
    }))
}

/// Reads a number, a length in pixels, or a resolution in dots per pixel.
fn size(input: &mut Parser<'_>) -> ParseResult<f32> {
    let dots = input.try_parse(|input| match input.next()? {
        Token::Dimension { value, unit, .. } => match unit.to_ascii_lowercase().as_str() {
            "dppx" | "x" => Ok(*value),
            "dpi" => Ok(value / 96.0),
            "dpcm" => Ok(value / 37.8),
            _ => invalid(),
        },
        _ => invalid(),
    });
    if dots.is_ok() {
        return dots;
    }
    // Relative lengths are based on the initial font size, not on the page's (Media Queries 4).
    match amount_of(input, &UnitScale::page())? {
        ComputedNumber { kind: NumberKind::Number | NumberKind::Length, n, part: 0.0, .. } => Ok(n),
        _ => invalid(),
    }
}

/// Evaluates a range: `width >= 600px` or `400px < width <= 700px`.
fn range(input: &mut Parser<'_>) -> ParseResult<bool> {
    let operand = |input: &mut Parser<'_>| {
        if let Ok(name) = input.try_parse(cssparser::Parser::expect_ident_cloned) {
            let name = name.to_ascii_lowercase();
            return match name.as_str() {
                "aspect-ratio" => Ok(SCREEN.0 / SCREEN.1),
                "resolution" => Ok(1.0),
                "color" => Ok(8.0),
                "monochrome" | "color-index" => Ok(0.0),
                name => side(name).map_or_else(invalid, Ok),
            };
        }
        size(input)
    };
    let mut left = operand(input)?;
    let mut holds = true;
    let mut any = false;
    while !input.is_exhausted() {
        let sign = match input.next()? {
            Token::Delim(sign @ ('<' | '>' | '=')) => *sign,
            _ => return invalid(),
        };
        let equal = sign != '=' && input.try_parse(|input| input.expect_delim('=')).is_ok();
        let right = operand(input)?;
        holds &= match sign {
            '<' => left < right || equal && left == right,
            '>' => left > right || equal && left == right,
            _ => left == right,
        };
        left = right;
        any = true;
    }
    if any { Ok(holds) } else { invalid() }
}
