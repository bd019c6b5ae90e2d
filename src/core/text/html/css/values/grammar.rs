//! The grammar of declarations: shorthands, and the values that every property has.
//!
//! A value that a browser rejects is an error here too, so that the declaration before it applies.
//! Values of single properties are in [`single`](super::single).

use cssparser::{ParseError, Parser, Token};

use super::boxes;
use super::color::{CLEAR, WrittenColour, paint};
use super::function;
use super::property::{
    ANIMATION, CssImage, CssProperty, PropertyValue, ValueMode, WideKeyword, properties_of,
};
use super::single::{factor_or_length, read_value};
use super::value::{ParseResult, WrittenNumber, invalid, keyword};

/// Reads the value of the property `name` and adds the result to `out`.
pub fn read(
    name: &str,
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let properties = properties_of(name);
    if properties.is_empty() {
        return invalid();
    }
    if let Ok(value) = input.try_parse(wide) {
        out.extend(properties.iter().map(|property| (*property, value.clone())));
        return Ok(());
    }
    let from = out.len();
    let start = input.state();
    let read = match (name, properties) {
        ("all", _) => invalid(),
        ("background", _) => background(input, mode, out),
        ("font", _) => font(input, mode, out),
        ("animation" | "-webkit-animation", _) => animation(input, out),
        ("flex" | "-webkit-flex", _) => {
            boxes::flex(input, out, |input| read_value(CssProperty::FlexBasis, input, mode))
        }
        ("flex-flow", _) => boxes::flow(input, out),
        ("grid" | "grid-template", _) => boxes::grid(input, out),
        ("mask" | "-webkit-mask", _) => {
            let start = input.state();
            let far = boxes::is_far(input);
            input.reset(&start);
            function::images(input).map(|images| {
                out.push((
                    CssProperty::MaskPlace,
                    PropertyValue::Word(if far { "far" } else { "near" }),
                ));
                out.push((CssProperty::Mask, PropertyValue::Images(images)));
                out.push((CssProperty::MaskSize, PropertyValue::Word("some")));
            })
        }
        ("text-decoration", _) => boxes::decoration(input, mode, out),
        ("-webkit-text-stroke", _) => boxes::stroke(input, mode, out),
        ("border", properties) => boxes::edge(input, mode)
            .map(|edge| out.extend(properties.iter().map(|side| (*side, edge.clone())))),
        (_, [property]) => {
            read_value(*property, input, mode).map(|value| out.push((*property, value)))
        }
        (_, properties) => sides(properties, input, mode, out),
    };
    let read = read.and_then(|()| Ok(input.expect_exhausted()?));
    if read.is_err() {
        // An invalid shorthand sets none of its properties.
        out.truncate(from);
        input.reset(&start);
        if !calls_function(input) {
            return invalid();
        }
        out.extend(properties.iter().map(|property| (*property, PropertyValue::Unknown)));
    }
    Ok(())
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
        values.push(read_value(*first, input, mode)?);
    }
    for (at, property) in properties.iter().enumerate() {
        // A missing fourth side repeats the second, any other missing side the first.
        let value = values.get(at).or_else(|| values.get(usize::from(at == 3)));
        let Some(value) = value.or_else(|| values.first()) else { return invalid() };
        out.push((*property, value.clone()));
    }
    Ok(())
}

/// Reads `background`.
fn background(
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let mut color = None;
    let mut text = true;
    let images = input.parse_comma_separated(|input| {
        let mut image = None;
        let mut clips = false;
        let mut any = false;
        let mut nothing = false;
        let start = input.state();
        let beside = boxes::is_beside(input);
        input.reset(&start);
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
            } else if input.try_parse(|input| input.expect_ident_matching("text")).is_ok() {
                clips = true;
            } else {
                nothing |= function::placing(input)?;
            }
        }
        text &= clips;
        let image = image.map(|image| match image {
            _ if nothing => CssImage::None,
            // A gradient that is small or away from the text may not be its ground, like a picture.
            CssImage::Gradient(_) if beside => CssImage::Picture,
            image => image,
        });
        if any { Ok(image.unwrap_or(CssImage::None)) } else { invalid() }
    })?;
    out.push((CssProperty::BackgroundImage, PropertyValue::Images(images.into())));
    let clip = if text { "text" } else { "border-box" };
    out.push((CssProperty::BackgroundClip, PropertyValue::Word(clip)));
    let color = color.unwrap_or(WrittenColour::Rgba(CLEAR));
    out.push((CssProperty::BackgroundColor, PropertyValue::Paint(color)));
    out.push((CssProperty::BackgroundSize, PropertyValue::Word("some")));
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
    let plain =
        |out: &mut Vec<(CssProperty, PropertyValue)>, size: PropertyValue, line: PropertyValue| {
            out.push((CssProperty::FontSize, size));
            out.push((CssProperty::LineHeight, line));
            out.push((CssProperty::SizeAdjust, PropertyValue::Word("none")));
        };
    let system = input.try_parse(|input| {
        keyword(input, SYSTEM)?;
        Ok::<_, ParseError<()>>(input.expect_exhausted()?)
    });
    if system.is_ok() {
        plain(
            out,
            PropertyValue::Amount(WrittenNumber::pixels(13.33)),
            PropertyValue::Word("normal"),
        );
        return Ok(());
    }
    // Style, variant, weight and width come before the size, in any order; `oblique` may have an
    // angle.
    for _ in 0..5 {
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
        if input.try_parse(|input| keyword(input, BEFORE)).is_err()
            && input.try_parse(weight).is_err()
        {
            break;
        }
    }
    let size = read_value(CssProperty::FontSize, input, ValueMode { quirks: false, ..mode })?;
    let mut line = PropertyValue::Word("normal");
    if input.try_parse(|input| input.expect_delim('/')).is_ok() {
        line = factor_or_length(CssProperty::LineHeight, input)?;
    }
    // `font` is invalid without a family.
    input.expect_ident_or_string()?;
    while input.next().is_ok() {}
    plain(out, size, line);
    Ok(())
}

/// Reads `animation`.
fn animation(
    input: &mut Parser<'_>,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let all = input.parse_comma_separated(|input| {
        let [mut name, mut fill, mut count, mut state, timeline] =
            ["none", "none", "1", "running", "auto"].map(Box::<str>::from);
        let mut times: Vec<Box<str>> = Vec::new();
        while let Ok(token) = input.next().cloned() {
            match token {
                Token::Number { .. } => count = "1".into(),
                Token::QuotedString(text) => name = text.as_ref().into(),
                Token::Ident(text) => match text.to_ascii_lowercase().as_str() {
                    word @ ("forwards" | "backwards" | "both") => fill = word.into(),
                    "infinite" => count = "infinite".into(),
                    word @ ("paused" | "running") => state = word.into(),
                    "normal" | "reverse" | "alternate" | "alternate-reverse" | "linear"
                    | "ease" | "ease-in" | "ease-out" | "ease-in-out" | "step-start"
                    | "step-end" | "none" | "auto" => {}
                    _ => name = text.as_ref().into(),
                },
                Token::Dimension { value, unit, .. } => {
                    let n = if unit.eq_ignore_ascii_case("ms") { value / 1000.0 } else { value };
                    times.push(n.to_string().into());
                }
                Token::Function(name)
                    if matches!(
                        &*name.to_ascii_lowercase(),
                        "cubic-bezier" | "steps" | "linear" | "calc"
                    ) => {}
                _ => return invalid(),
            }
        }
        // The first time is the duration, the second the delay.
        times.resize(2, "0".into());
        Ok([vec![name, fill, count, state], times, vec![timeline]].concat())
    })?;
    for (at, property) in ANIMATION.iter().enumerate() {
        let values: Vec<Box<str>> = all.iter().filter_map(|one| one.get(at).cloned()).collect();
        out.push((*property, PropertyValue::Names(values.into())));
    }
    Ok(())
}
