//! The grammar of the computed properties.
//!
//! A value that a browser rejects is an error here too, so that the declaration before it applies. A
//! value with a function that is not computed is [`PropertyValue::Unknown`].

use cssparser::{ParseError, Parser, Token};

use super::color::{CLEAR, WrittenColour, paint};
use super::function;
use super::other;
use super::property::{
    CssImage, CssProperty, PropertyValue, ValueMode, WideKeyword, properties_of,
};
use super::value::{
    NumberKind, ParseResult, WrittenNumber, amount, invalid, keyword, length, number,
};

const DISPLAY: &[&str] = &[
    "none", "block", "inline", "inline-block", "flex", "inline-flex", "grid", "inline-grid",
    "contents", "table", "inline-table", "table-row", "table-cell", "table-row-group",
    "table-header-group", "table-footer-group", "table-column", "table-column-group",
    "table-caption", "list-item", "flow-root", "flow", "-webkit-box", "-webkit-inline-box",
    "-webkit-flex", "-webkit-inline-flex", "ruby", "ruby-text", "math",
];
const SIZE: &[&str] = &[
    "auto", "none", "min-content", "max-content", "fit-content", "-webkit-fill-available",
    "stretch", "intrinsic", "min-intrinsic", "-webkit-min-content", "-webkit-max-content",
    "-webkit-fit-content",
];
const FONT_SIZES: &[&str] = &[
    "xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large",
    "smaller", "larger", "math",
];
const LISTS: &[&str] = &[
    "inside", "outside", "none", "disc", "circle", "square", "decimal", "decimal-leading-zero",
    "lower-alpha", "lower-latin", "lower-roman", "upper-alpha", "upper-latin", "upper-roman",
];

/// Reads the value of the property `name` and adds the result to `out`.
pub fn read(
    name: &str,
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let properties = properties_of(name);
    if properties.is_empty() {
        let Some(value) = other::read(name, input) else { return invalid() };
        out.push(value);
        return Ok(());
    }
    let for_all = |value: &PropertyValue| {
        properties.iter().map(|property| (*property, value.clone())).collect::<Vec<_>>()
    };
    if let Ok(value) = input.try_parse(wide) {
        out.extend(for_all(&value));
        return Ok(());
    }
    let start = input.state();
    let from = out.len();
    let read = known(name, properties, input, mode, out);
    let read = read.and_then(|()| Ok(input.expect_exhausted()?));
    if read.is_err() {
        // An invalid shorthand sets none of its properties.
        out.truncate(from);
        input.reset(&start);
        if !calls_function(input) {
            return invalid();
        }
        out.extend(for_all(&PropertyValue::Unknown));
    }
    Ok(())
}

/// Reads a value without functions that are not computed.
fn known(
    name: &str,
    properties: &[CssProperty],
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    match (name, properties) {
        ("all", _) => invalid(),
        ("background", _) => background(input, mode, out),
        ("font", _) => font(input, mode, out),
        (_, [property]) => single(*property, input, mode).map(|value| out.push((*property, value))),
        (_, properties) => sides(properties, input, mode, out),
    }
}

/// Reads the rest of a value; returns true if it calls a function.
fn calls_function(input: &mut Parser<'_>) -> bool {
    let mut calls = false;
    while let Ok(token) = input.next() {
        calls |= matches!(token, Token::Function(_));
    }
    calls
}

fn wide(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let wide = match input.expect_ident()?.to_ascii_lowercase().as_str() {
        "inherit" => PropertyValue::Wide(WideKeyword::Inherit),
        "initial" => PropertyValue::Wide(WideKeyword::Initial),
        "unset" => PropertyValue::Wide(WideKeyword::Unset),
        "revert" | "revert-layer" => PropertyValue::Unknown,
        _ => return invalid(),
    };
    input.expect_exhausted()?;
    Ok(wide)
}

/// Reads one to four values for as many sides.
fn sides(
    properties: &[CssProperty],
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let Some(first) = properties.first() else { return invalid() };
    let mut values = Vec::new();
    while values.len() < properties.len() && !input.is_exhausted() {
        values.push(single(*first, input, mode)?);
    }
    for (at, property) in properties.iter().enumerate() {
        // A missing fourth side repeats the second, any other missing side the first.
        let value = values.get(at).or_else(|| values.get(usize::from(at == 3)));
        let Some(value) = value.or_else(|| values.first()) else { return invalid() };
        out.push((*property, value.clone()));
    }
    Ok(())
}

/// Reads the value of one property.
fn single(
    property: CssProperty,
    input: &mut Parser<'_>,
    mode: ValueMode,
) -> ParseResult<PropertyValue> {
    use CssProperty as P;
    match property {
        P::Visibility
        | P::OverflowX
        | P::OverflowY
        | P::Position
        | P::Float
        | P::Clear
        | P::Direction
        | P::UnicodeBidi => keyword(input, keywords(property)).map(PropertyValue::Word),
        P::FontSize => keyword_or_length(input, FONT_SIZES, (false, true), mode),
        P::Top
        | P::Right
        | P::Bottom
        | P::Left
        | P::MarginTop
        | P::MarginRight
        | P::MarginBottom
        | P::MarginLeft => keyword_or_length(input, &["auto"], (true, true), mode),
        P::Display => display(input),
        P::Opacity => number(input).map(PropertyValue::Amount),
        P::Color | P::BackgroundColor => paint(input, mode.quirks).map(PropertyValue::Paint),
        P::BackgroundImage => function::images(input).map(PropertyValue::Images),
        P::LineHeight => line_height(input),
        P::TextIndent => length(input, true, true, mode.quirks).map(PropertyValue::Amount),
        P::WhiteSpace => white_space(input),
        P::Width | P::Height | P::MinWidth | P::MinHeight => extent(input, "none", mode),
        P::MaxWidth | P::MaxHeight => extent(input, "auto", mode),
        P::PaddingTop | P::PaddingRight | P::PaddingBottom | P::PaddingLeft => {
            length(input, false, true, mode.quirks).map(PropertyValue::Amount)
        }
        P::ZIndex => z_index(input),
        P::ListStyle => list_style(input),
        P::Content => function::content(input).map(PropertyValue::Word),
        P::Clip => function::clip(input).map(PropertyValue::Calls),
        P::ClipPath => function::shape(input).map(PropertyValue::Calls),
        P::Transform => function::transform(input).map(PropertyValue::Calls),
        P::Strike => strike(input, mode),
        P::All | P::Other(_) => invalid(),
    }
}

/// Returns the keywords of a property that has no other values; empty for other properties.
fn keywords(property: CssProperty) -> &'static [&'static str] {
    use CssProperty as P;
    match property {
        P::Visibility => &["visible", "hidden", "collapse"],
        P::OverflowX | P::OverflowY => &["visible", "hidden", "clip", "scroll", "auto", "overlay"],
        P::Position => &["static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"],
        P::Float => &["none", "left", "right", "inline-start", "inline-end"],
        P::Clear => &["none", "left", "right", "both", "inline-start", "inline-end"],
        P::Direction => &["ltr", "rtl"],
        P::UnicodeBidi => {
            &["normal", "embed", "isolate", "bidi-override", "isolate-override", "plaintext"]
        }
        _ => &[],
    }
}

/// Reads one of `words` or a length, which the flags allow to be negative or a percentage.
fn keyword_or_length(
    input: &mut Parser<'_>,
    words: &[&'static str],
    (negative, percent): (bool, bool),
    mode: ValueMode,
) -> ParseResult<PropertyValue> {
    match input.try_parse(|input| keyword(input, words)) {
        Ok(word) => Ok(PropertyValue::Word(word)),
        Err(_) => length(input, negative, percent, mode.quirks).map(PropertyValue::Amount),
    }
}

/// Reads a width or a height. `unset` is the word that the property does not have.
fn extent(input: &mut Parser<'_>, unset: &str, mode: ValueMode) -> ParseResult<PropertyValue> {
    match keyword_or_length(input, SIZE, (false, true), mode)? {
        PropertyValue::Word(word) if word == unset => invalid(),
        value => Ok(value),
    }
}

/// Reads `white-space`, of several words as one.
fn white_space(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    const WORDS: &[&str] = &[
        "normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces", "wrap", "balance",
        "pretty", "stable", "collapse", "preserve", "auto", "preserve-breaks",
    ];
    let mut word = keyword(input, WORDS)?;
    while !input.is_exhausted() {
        let other = keyword(input, WORDS)?;
        // That lines are not broken decides whether their end is seen.
        word = if other == "nowrap" { other } else { word };
    }
    Ok(PropertyValue::Word(word))
}

/// Reads `z-index`.
fn z_index(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    if let Ok(word) = input.try_parse(|input| keyword(input, &["auto"])) {
        return Ok(PropertyValue::Word(word));
    }
    let read = amount(input)?;
    if read.kind() == NumberKind::Number { Ok(PropertyValue::Amount(read)) } else { invalid() }
}

/// Reads `list-style`.
fn list_style(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let mut style = None;
    while !input.is_exhausted() {
        match input.try_parse(|input| keyword(input, LISTS)) {
            Ok("inside" | "outside") => {}
            Ok(word) => style = Some(word),
            // A picture, a string, or a style whose numerals are not computed.
            Err(_) => {
                input.next()?;
                style = style.or(Some("other"));
            }
        }
    }
    Ok(PropertyValue::Word(style.unwrap_or("disc")))
}

/// Reads `text-decoration`, as far as it strikes text out. A thick line may cover text.
fn strike(input: &mut Parser<'_>, mode: ValueMode) -> ParseResult<PropertyValue> {
    const WORDS: &[&str] = &[
        "none", "underline", "overline", "line-through", "blink", "solid", "double", "dotted",
        "dashed", "wavy", "auto", "from-font", "spelling-error",
    ];
    let (mut word, mut has_line, mut is_thick) = ("none", false, false);
    while !input.is_exhausted() {
        if let Ok(found) = input.try_parse(|input| keyword(input, WORDS)) {
            word = if found == "line-through" { found } else { word };
            has_line |= matches!(found, "underline" | "overline" | "line-through");
        } else if input.try_parse(|input| paint(input, false)).is_err() {
            let width = length(input, true, true, mode.quirks)?;
            is_thick |= !matches!(width, WrittenNumber::Plain(n, _) if n <= 3.0);
        }
    }
    if is_thick && has_line {
        return Ok(PropertyValue::Unknown);
    }
    Ok(PropertyValue::Word(word))
}

/// Reads `line-height`.
fn line_height(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    if let Ok(word) = input.try_parse(|input| keyword(input, &["normal"])) {
        return Ok(PropertyValue::Word(word));
    }
    let read = amount(input)?;
    let fits = matches!(read.kind(), NumberKind::Number | NumberKind::Percent | NumberKind::Length);
    if fits && !read.is_negative() { Ok(PropertyValue::Amount(read)) } else { invalid() }
}

/// Reads `display`, in one word or two.
fn display(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let first = keyword(input, DISPLAY)?;
    if input.is_exhausted() {
        return Ok(PropertyValue::Word(first));
    }
    let second = keyword(input, DISPLAY)?;
    let both = [first, second];
    let has = |name: &str| both.contains(&name);
    if has("list-item") && (has("block") || has("inline") || has("flow") || has("flow-root")) {
        return Ok(PropertyValue::Word("list-item"));
    }
    let outer = usize::from(has("inline"));
    if !has("inline") && !has("block") {
        return invalid();
    }
    let inner = both.into_iter().find(|name| !matches!(*name, "inline" | "block"));
    let pairs: &[(&str, [&'static str; 2])] = &[
        ("flow", ["block", "inline"]),
        ("flow-root", ["block", "inline-block"]),
        ("flex", ["flex", "inline-flex"]),
        ("grid", ["grid", "inline-grid"]),
        ("table", ["table", "inline-table"]),
        ("ruby", ["block", "ruby"]),
    ];
    let found = pairs.iter().find(|(name, _)| inner == Some(*name));
    match found.and_then(|(_, words)| words.get(outer)) {
        Some(word) => Ok(PropertyValue::Word(word)),
        None => invalid(),
    }
}

/// Reads `background`.
fn background(
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let mut color = None;
    let images = input.parse_comma_separated(|input| {
        let (mut image, mut is_once, mut any) = (None, false, false);
        while !input.is_exhausted() {
            any = true;
            if image.is_none()
                && let Ok(found) = input.try_parse(function::image)
            {
                image = Some(found);
            } else if color.is_none()
                && let Ok(found) = input.try_parse(|input| paint(input, mode.quirks))
            {
                color = Some(found);
            } else {
                is_once |= function::placing(input)?;
            }
        }
        match image {
            _ if !any => invalid(),
            // A gradient that is drawn once may be away from the text, like a picture.
            Some(CssImage::Gradient(_)) if is_once => Ok(CssImage::Picture),
            image => Ok(image.unwrap_or(CssImage::None)),
        }
    })?;
    out.push((CssProperty::BackgroundImage, PropertyValue::Images(images.into())));
    let color = color.unwrap_or(WrittenColour::Rgba(CLEAR));
    out.push((CssProperty::BackgroundColor, PropertyValue::Paint(color)));
    Ok(())
}

/// Reads `font`.
fn font(
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    const SYSTEM: &[&str] =
        &["caption", "icon", "menu", "message-box", "small-caption", "status-bar"];
    let system = input.try_parse(|input| {
        keyword(input, SYSTEM)?;
        Ok::<_, ParseError<()>>(input.expect_exhausted()?)
    });
    let (size, line) = if system.is_ok() {
        (PropertyValue::Amount(WrittenNumber::pixels(13.33)), PropertyValue::Word("normal"))
    } else {
        font_size_and_line(input, mode)?
    };
    out.push((CssProperty::FontSize, size));
    out.push((CssProperty::LineHeight, line));
    Ok(())
}

/// Reads the parts of `font` that do not name a font of the system.
fn font_size_and_line(
    input: &mut Parser<'_>,
    mode: ValueMode,
) -> ParseResult<(PropertyValue, PropertyValue)> {
    const BEFORE: &[&str] = &[
        "normal", "italic", "oblique", "bold", "bolder", "lighter", "small-caps", "condensed",
        "expanded", "semi-condensed", "semi-expanded", "extra-condensed", "extra-expanded",
        "ultra-condensed", "ultra-expanded",
    ];
    let weight = |input: &mut Parser<'_>| match input.next()? {
        Token::Number { value, .. } if (1.0..=1000.0).contains(value) => Ok(()),
        Token::Dimension { unit, .. } if unit.eq_ignore_ascii_case("deg") => Ok(()),
        _ => invalid(),
    };
    // Style, variant, weight and width come before the size, in any order; `oblique` may have an
    // angle.
    for _ in 0..5 {
        if input.try_parse(|input| keyword(input, BEFORE)).is_err()
            && input.try_parse(weight).is_err()
        {
            break;
        }
    }
    let size = single(CssProperty::FontSize, input, ValueMode { quirks: false, ..mode })?;
    let mut line = PropertyValue::Word("normal");
    if input.try_parse(|input| input.expect_delim('/')).is_ok() {
        line = line_height(input)?;
    }
    // `font` is invalid without a family.
    input.expect_ident_or_string()?;
    while input.next().is_ok() {}
    Ok((size, line))
}
