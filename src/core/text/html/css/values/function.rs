//! Values that are functions: images, shapes and transforms in the plane.
//!
//! They are not computed: their percentages refer to a box whose size is unknown here. Other shapes and transforms are errors, which
//! [`grammar`](super::grammar) takes as unknown.

use std::sync::Arc;

use cssparser::{ParseError, Parser, Token};

use super::color::{WrittenColour, paint};
use super::property::{CssImage, NumericFunction};
use super::value::{NumberKind, ParseResult, WrittenNumber, amount, invalid, keyword};

/// Reads the images of all layers.
pub fn images(input: &mut Parser<'_>) -> ParseResult<Arc<[CssImage]>> {
    Ok(input.parse_comma_separated(image)?.into())
}

/// Reads one image.
pub fn image(input: &mut Parser<'_>) -> ParseResult<CssImage> {
    let token = input.next()?.clone();
    match token {
        Token::Ident(word) if word.eq_ignore_ascii_case("none") => Ok(CssImage::None),
        Token::UnquotedUrl(_) => Ok(CssImage::Picture),
        Token::Function(name) => {
            let name = name.to_ascii_lowercase();
            match name.trim_start_matches("-webkit-").trim_start_matches("-moz-") {
                "linear-gradient"
                | "radial-gradient"
                | "conic-gradient"
                | "repeating-linear-gradient"
                | "repeating-radial-gradient"
                | "repeating-conic-gradient" => {
                    input.parse_nested_block(stops).map(CssImage::Gradient)
                }
                "url" | "src" | "image" | "image-set" | "cross-fade" | "element" | "gradient"
                | "paint" => {
                    input.parse_nested_block(|input| {
                        while input.next().is_ok() {}
                        Ok::<_, ParseError<()>>(())
                    })?;
                    Ok(CssImage::Picture)
                }
                _ => invalid(),
            }
        }
        _ => invalid(),
    }
}

/// Reads the colours of a gradient.
fn stops(input: &mut Parser<'_>) -> ParseResult<Vec<WrittenColour>> {
    let mut colors = Vec::new();
    let mut first = true;
    input.parse_comma_separated(|input| {
        let mut color = false;
        while !input.is_exhausted() {
            if !color && let Ok(found) = input.try_parse(|input| paint(input, false)) {
                colors.push(found);
                color = true;
            } else if input.try_parse(amount).is_err() {
                // `to left`, `circle at top`: only before the first colour.
                match input.next()? {
                    Token::Ident(_) | Token::Delim('/') if first => {}
                    _ => return invalid(),
                }
            }
        }
        first = false;
        Ok(())
    })?;
    if colors.is_empty() { invalid() } else { Ok(colors) }
}

/// Reads the position, size or repetition of an image. Returns true if the image is not repeated, or
/// has no size.
pub fn placing(input: &mut Parser<'_>) -> ParseResult<bool> {
    const WORDS: &[&str] = &[
        "left", "right", "top", "bottom", "center", "cover", "contain", "auto", "repeat",
        "no-repeat", "repeat-x", "repeat-y", "round", "space", "scroll", "fixed", "local",
        "border-box", "padding-box", "content-box",
    ];
    if let Ok(word) = input.try_parse(|input| keyword(input, WORDS)) {
        return Ok(word == "no-repeat");
    }
    if input.try_parse(|input| input.expect_delim('/')).is_ok() {
        let size = input.try_parse(length_or_part);
        return Ok(size.is_ok_and(|size| matches!(size, WrittenNumber::Plain(0.0, _))));
    }
    length_or_part(input).map(|_| false)
}

/// Reads `content`; a picture replaces the element's content.
pub fn content(input: &mut Parser<'_>) -> ParseResult<&'static str> {
    if let Ok(word) = input.try_parse(|input| keyword(input, &["none", "normal"])) {
        return Ok(word);
    }
    let picture = input.try_parse(image).is_ok();
    while input.next().is_ok() {}
    Ok(if picture { "picture" } else { "text" })
}

fn length_or_part(input: &mut Parser<'_>) -> ParseResult<WrittenNumber> {
    let read = amount(input)?;
    match (read.kind(), &read) {
        (NumberKind::Length | NumberKind::Percent, _) => Ok(read),
        (NumberKind::Number, WrittenNumber::Plain(n, _)) if *n == 0.0 => Ok(read),
        _ => invalid(),
    }
}

/// Reads `clip`.
pub fn clip(input: &mut Parser<'_>) -> ParseResult<Arc<[NumericFunction]>> {
    if input.try_parse(|input| input.expect_ident_matching("auto")).is_ok() {
        return Ok(Arc::new([]));
    }
    input.expect_function_matching("rect")?;
    let args = input.parse_nested_block(|input| {
        let mut args = Vec::new();
        while !input.is_exhausted() {
            let _ = input.try_parse(Parser::expect_comma);
            let auto = input.try_parse(|input| input.expect_ident_matching("auto")).is_ok();
            // `auto` is the edge of the box: 0 at the top and left, 100 % at the other two.
            let edge =
                WrittenNumber::percentage(if matches!(args.len(), 1 | 2) { 1.0 } else { 0.0 });
            args.push(if auto { edge } else { length_or_part(input)? });
        }
        if args.len() == 4 { Ok(args) } else { invalid() }
    })?;
    Ok(Arc::new([NumericFunction { name: "rect", args }]))
}

/// Reads `clip-path`: `inset()` and `circle()`.
pub fn shape(input: &mut Parser<'_>) -> ParseResult<Arc<[NumericFunction]>> {
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(Arc::new([]));
    }
    let name = input.expect_function()?.to_ascii_lowercase();
    let call = input.parse_nested_block(|input| {
        let mut args = Vec::new();
        while args.len() < 4
            && let Ok(one) = input.try_parse(length_or_part)
        {
            args.push(one);
        }
        match (name.as_str(), args.as_slice()) {
            ("inset", [all]) => args.resize(4, all.clone()),
            ("inset", [rows, columns]) => {
                args = [rows, columns, rows, columns].map(Clone::clone).to_vec();
            }
            ("inset", [_, right, _]) => args.push(right.clone()),
            ("inset", [_, _, _, _]) => {}
            ("circle", [radius]) if !radius.is_negative() => {}
            _ => return invalid(),
        }
        // Round corners, or the position of the circle.
        if !input.is_exhausted() {
            let word = if name == "inset" { "round" } else { "at" };
            input.expect_ident_matching(word)?;
            while input.next().is_ok() {}
        }
        let name = if name == "inset" { "inset" } else { "circle" };
        Ok(NumericFunction { name, args })
    })?;
    Ok(Arc::new([call]))
}

/// The functions of `transform`: the minimum and maximum number of arguments, and their kind.
const TRANSFORMS: &[(&str, usize, usize, &[NumberKind])] = &[
    ("matrix", 6, 6, FACTOR),
    ("rotate", 1, 1, ANGLE),
    ("rotatez", 1, 1, ANGLE),
    ("scale", 1, 2, FACTOR),
    ("scalex", 1, 1, FACTOR),
    ("scaley", 1, 1, FACTOR),
    ("skew", 1, 2, ANGLE),
    ("skewx", 1, 1, ANGLE),
    ("skewy", 1, 1, ANGLE),
    ("translate", 1, 2, LENGTH),
    ("translatex", 1, 1, LENGTH),
    ("translatey", 1, 1, LENGTH),
    ("translate3d", 3, 3, LENGTH),
];
const FACTOR: &[NumberKind] = &[NumberKind::Number, NumberKind::Percent];
const ANGLE: &[NumberKind] = &[NumberKind::Angle];
const LENGTH: &[NumberKind] = &[NumberKind::Length, NumberKind::Percent];

/// Reads `transform`.
pub fn transform(input: &mut Parser<'_>) -> ParseResult<Arc<[NumericFunction]>> {
    let mut calls = Vec::new();
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(calls.into());
    }
    while !input.is_exhausted() {
        let name = input.expect_function()?.to_ascii_lowercase();
        let Some((name, least, most, kinds)) = TRANSFORMS.iter().find(|one| one.0 == name) else {
            return invalid();
        };
        let args = input.parse_nested_block(|input| {
            input.parse_comma_separated(|input| {
                let read = amount(input)?;
                let zero = matches!(read, WrittenNumber::Plain(0.0, _));
                if zero || kinds.contains(&read.kind()) { Ok(read) } else { invalid() }
            })
        })?;
        if args.len() < *least || args.len() > *most {
            return invalid();
        }
        calls.push(NumericFunction { name, args });
    }
    if calls.is_empty() { invalid() } else { Ok(calls.into()) }
}
