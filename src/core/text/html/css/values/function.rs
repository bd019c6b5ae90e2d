//! Values that are functions: images, shapes, transforms and filters.
//!
//! They are validated as in a browser, but not computed: their percentages refer to a box whose
//! size is unknown here.

use std::sync::Arc;

use cssparser::{ParseError, Parser, Token};

use super::color::{CLEAR, WrittenColour, paint};
use super::property::{CssImage, CssProperty, NumericFunction};
use super::value::{NumberKind, ParseResult, WrittenNumber, amount, invalid, keyword};

/// Reads the images of all layers.
pub fn images(input: &mut Parser<'_>) -> ParseResult<Arc<[CssImage]>> {
    let images = input.parse_comma_separated(|input| {
        let mut found = None;
        let mut nothing = false;
        while !input.is_exhausted() {
            match input.try_parse(image) {
                Ok(image) if found.is_none() => found = Some(image),
                Ok(_) => return invalid(),
                Err(_) => nothing |= placing(input)?,
            }
        }
        // An image without a size draws nothing, like a transparent one.
        let clear = || CssImage::Gradient(vec![WrittenColour::Rgba(CLEAR)]);
        found.map(|image| if nothing { clear() } else { image }).map_or_else(invalid, Ok)
    })?;
    Ok(images.into())
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

/// Reads the position, size or repetition of an image; returns true if its size is zero.
pub fn placing(input: &mut Parser<'_>) -> ParseResult<bool> {
    let start = input.state();
    match input.next()? {
        Token::Delim('/') => {
            let size = input.try_parse(length_or_part);
            Ok(size.is_ok_and(|size| matches!(size, WrittenNumber::Plain(0.0, _))))
        }
        Token::Ident(_) => {
            input.reset(&start);
            keyword(
                input,
                &[
                    "left", "right", "top", "bottom", "center", "cover", "contain", "auto",
                    "repeat", "no-repeat", "repeat-x", "repeat-y", "round", "space", "scroll",
                    "fixed", "local", "border-box", "padding-box", "content-box", "fill-box",
                    "stroke-box", "view-box", "no-clip", "alpha", "luminance", "match-source",
                    "add", "subtract", "intersect", "exclude", "border-area",
                ],
            )
            .map(|_| false)
        }
        _ => {
            input.reset(&start);
            let read = amount(input)?;
            let zero = matches!(read, WrittenNumber::Plain(n, _) if n == 0.0);
            if zero || matches!(read.kind(), NumberKind::Length | NumberKind::Percent) {
                Ok(false)
            } else {
                invalid()
            }
        }
    }
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

/// Reads at most `most` lengths and percentages.
fn lengths(input: &mut Parser<'_>, most: usize) -> Vec<WrittenNumber> {
    let mut read = Vec::new();
    while read.len() < most
        && let Ok(one) = input.try_parse(length_or_part)
    {
        read.push(one);
    }
    read
}

fn length_or_part(input: &mut Parser<'_>) -> ParseResult<WrittenNumber> {
    let read = amount(input)?;
    match (read.kind(), &read) {
        (NumberKind::Length | NumberKind::Percent, _) => Ok(read),
        (NumberKind::Number, WrittenNumber::Plain(n, _)) if *n == 0.0 => Ok(read),
        _ => invalid(),
    }
}

/// Expands one to four values to four sides.
fn four(read: Vec<WrittenNumber>) -> ParseResult<Vec<WrittenNumber>> {
    let (first, len) = (read.first().cloned(), read.len());
    let pick = |at: usize| read.get(at).cloned();
    let top = first.map_or_else(invalid, Ok)?;
    let right = pick(1).unwrap_or_else(|| top.clone());
    let bottom = pick(2).unwrap_or_else(|| top.clone());
    let left = pick(3).unwrap_or_else(|| right.clone());
    if len > 4 { invalid() } else { Ok(vec![top, right, bottom, left]) }
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

/// Reads `clip-path`.
pub fn shape(input: &mut Parser<'_>) -> ParseResult<Arc<[NumericFunction]>> {
    const BOXES: &[&str] = &[
        "border-box", "padding-box", "content-box", "margin-box", "fill-box", "stroke-box",
        "view-box",
    ];
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(Arc::new([]));
    }
    if input.try_parse(|input| keyword(input, BOXES)).is_ok() && input.is_exhausted() {
        return Ok(Arc::new([]));
    }
    let other = Arc::new([NumericFunction { name: "other", args: Vec::new() }]);
    if input.try_parse(Parser::expect_url).is_ok() {
        return Ok(other);
    }
    let name = input.expect_function()?.to_ascii_lowercase();
    let call = input.parse_nested_block(|input| basic_shape(&name, input))?;
    let _ = input.try_parse(|input| keyword(input, BOXES));
    Ok(Arc::new([call]))
}

fn basic_shape(name: &str, input: &mut Parser<'_>) -> ParseResult<NumericFunction> {
    Ok(match name {
        "inset" => {
            let args = four(lengths(input, 4))?;
            rounded(input)?;
            NumericFunction { name: "inset", args }
        }
        "xywh" => {
            let args = lengths(input, 4);
            rounded(input)?;
            if args.len() != 4 {
                return invalid();
            }
            NumericFunction { name: "xywh", args }
        }
        "rect" => {
            let mut args = Vec::new();
            while args.len() < 4 {
                let auto = input.try_parse(|input| input.expect_ident_matching("auto")).is_ok();
                let edge =
                    WrittenNumber::percentage(if matches!(args.len(), 1 | 2) { 1.0 } else { 0.0 });
                args.push(if auto { edge } else { length_or_part(input)? });
            }
            rounded(input)?;
            NumericFunction { name: "rect", args }
        }
        "circle" | "ellipse" => {
            let count = if name == "circle" { 1 } else { 2 };
            let sides = &["closest-side", "farthest-side", "closest-corner", "farthest-corner"];
            let mut args = Vec::new();
            while args.len() < count {
                if input.try_parse(|input| keyword(input, sides)).is_ok() {
                    args.push(WrittenNumber::percentage(0.5));
                } else if let Ok(radius) = input.try_parse(length_or_part) {
                    if radius.is_negative() {
                        return invalid();
                    }
                    args.push(radius);
                } else {
                    break;
                }
            }
            if !args.is_empty() && args.len() != count {
                return invalid();
            }
            args.resize(count, WrittenNumber::percentage(0.5));
            let mut middle = vec![WrittenNumber::percentage(0.5), WrittenNumber::percentage(0.5)];
            if input.try_parse(|input| input.expect_ident_matching("at")).is_ok() {
                position(input, &mut middle)?;
            }
            args.extend(middle);
            NumericFunction { name: if count == 1 { "circle" } else { "ellipse" }, args }
        }
        "polygon" => {
            if input.try_parse(|input| keyword(input, &["nonzero", "evenodd"])).is_ok() {
                input.expect_comma()?;
            }
            let points = input.parse_comma_separated(|input| {
                Ok::<_, ParseError<()>>([length_or_part(input)?, length_or_part(input)?])
            })?;
            NumericFunction { name: "polygon", args: points.into_iter().flatten().collect() }
        }
        "path" | "shape" => {
            while input.next().is_ok() {}
            NumericFunction { name: "other", args: Vec::new() }
        }
        _ => return invalid(),
    })
}

fn rounded(input: &mut Parser<'_>) -> ParseResult<()> {
    if input.try_parse(|input| input.expect_ident_matching("round")).is_ok() {
        while input.next().is_ok() {}
    }
    Ok(())
}

/// Reads a position of one or two values into `middle`.
fn position(input: &mut Parser<'_>, middle: &mut [WrittenNumber]) -> ParseResult<()> {
    let mut at = 0;
    while !input.is_exhausted() {
        let (axis, value) = match input
            .try_parse(|input| keyword(input, &["left", "right", "top", "bottom", "center"]))
        {
            Ok(word @ ("top" | "bottom")) => {
                (1, WrittenNumber::percentage(if word == "top" { 0.0 } else { 1.0 }))
            }
            Ok("left") => (0, WrittenNumber::percentage(0.0)),
            Ok("right") => (0, WrittenNumber::percentage(1.0)),
            Ok(_) => (at, WrittenNumber::percentage(0.5)),
            Err(_) => (at, length_or_part(input)?),
        };
        if let Some(place) = middle.get_mut(axis) {
            *place = value;
        }
        at += 1;
    }
    Ok(())
}

/// Reads `transform-origin`.
pub fn origin(input: &mut Parser<'_>) -> ParseResult<Arc<[NumericFunction]>> {
    let mut middle = vec![WrittenNumber::percentage(0.5), WrittenNumber::percentage(0.5)];
    position(input, &mut middle)?;
    Ok(Arc::new([NumericFunction { name: "origin", args: middle }]))
}

/// The functions of `transform`: the minimum and maximum number of arguments, and their kind (`n`
/// number, `l` length, `a` angle, `r` three numbers and an angle).
const TRANSFORMS: &[(&str, usize, usize, char)] = &[
    ("matrix", 6, 6, 'n'),
    ("matrix3d", 16, 16, 'n'),
    ("perspective", 1, 1, 'l'),
    ("rotate", 1, 1, 'a'),
    ("rotatex", 1, 1, 'a'),
    ("rotatey", 1, 1, 'a'),
    ("rotatez", 1, 1, 'a'),
    ("rotate3d", 4, 4, 'r'),
    ("scale", 1, 2, 'n'),
    ("scalex", 1, 1, 'n'),
    ("scaley", 1, 1, 'n'),
    ("scalez", 1, 1, 'n'),
    ("scale3d", 3, 3, 'n'),
    ("skew", 1, 2, 'a'),
    ("skewx", 1, 1, 'a'),
    ("skewy", 1, 1, 'a'),
    ("translate", 1, 2, 'l'),
    ("translatex", 1, 1, 'l'),
    ("translatey", 1, 1, 'l'),
    ("translatez", 1, 1, 'l'),
    ("translate3d", 3, 3, 'l'),
];

/// Reads `transform`.
pub fn transform(input: &mut Parser<'_>) -> ParseResult<Arc<[NumericFunction]>> {
    let mut calls = Vec::new();
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(calls.into());
    }
    while !input.is_exhausted() {
        let name = input.expect_function()?.to_ascii_lowercase();
        let Some((name, least, most, kind)) = TRANSFORMS.iter().find(|one| one.0 == name) else {
            return invalid();
        };
        let args = input.parse_nested_block(|input| {
            let mut at = 0;
            input.parse_comma_separated(|input| {
                at += 1;
                if *name == "perspective"
                    && input.try_parse(|i| i.expect_ident_matching("none")).is_ok()
                {
                    return Ok(WrittenNumber::pixels(f32::MAX));
                }
                let kind = if *kind == 'r' { if at == 4 { 'a' } else { 'n' } } else { *kind };
                match kind {
                    'l' => length_or_part(input),
                    'a' => angle(input),
                    _ => factor(input),
                }
            })
        })?;
        if args.len() < *least || args.len() > *most {
            return invalid();
        }
        calls.push(NumericFunction { name, args });
    }
    if calls.is_empty() { invalid() } else { Ok(calls.into()) }
}

fn angle(input: &mut Parser<'_>) -> ParseResult<WrittenNumber> {
    let read = amount(input)?;
    let zero = matches!(read, WrittenNumber::Plain(n, _) if n == 0.0);
    if read.kind() == NumberKind::Angle || zero { Ok(read) } else { invalid() }
}

fn factor(input: &mut Parser<'_>) -> ParseResult<WrittenNumber> {
    let read = amount(input)?;
    if matches!(read.kind(), NumberKind::Number | NumberKind::Percent) {
        Ok(read)
    } else {
        invalid()
    }
}

/// Reads `translate`, `rotate` or `scale` as the equivalent transform.
pub fn single(
    property: CssProperty,
    input: &mut Parser<'_>,
) -> ParseResult<Arc<[NumericFunction]>> {
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(Arc::new([]));
    }
    let mut args = Vec::new();
    let name = match property {
        CssProperty::Translate => {
            args = lengths(input, 3);
            if args.is_empty() {
                return invalid();
            }
            args.resize(3, WrittenNumber::pixels(0.0));
            "translate3d"
        }
        CssProperty::Scale => {
            while args.len() < 3 && !input.is_exhausted() {
                args.push(factor(input)?);
            }
            match args.as_slice() {
                [] => return invalid(),
                [one] => args = vec![one.clone(), one.clone(), WrittenNumber::number(1.0)],
                _ => args.resize(3, WrittenNumber::number(1.0)),
            }
            "scale3d"
        }
        _ => {
            let axis = input.try_parse(|input| keyword(input, &["x", "y", "z"])).ok();
            let mut turn = input.try_parse(angle).ok();
            if axis.is_none() && turn.is_none() {
                for _ in 0..3 {
                    args.push(factor(input)?);
                }
            }
            // The axis may come before or after the angle.
            let axis =
                axis.or_else(|| input.try_parse(|input| keyword(input, &["x", "y", "z"])).ok());
            if turn.is_none() {
                turn = Some(angle(input)?);
            }
            if args.is_empty() {
                let axis = axis.unwrap_or("z");
                let part = |name: &str| WrittenNumber::number(if axis == name { 1.0 } else { 0.0 });
                args = vec![part("x"), part("y"), part("z")];
            }
            args.extend(turn);
            "rotate3d"
        }
    };
    Ok(Arc::new([NumericFunction { name, args }]))
}

/// Reads `filter`.
pub fn filter(input: &mut Parser<'_>) -> ParseResult<Arc<[NumericFunction]>> {
    let mut calls = Vec::new();
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(calls.into());
    }
    while !input.is_exhausted() {
        if input.try_parse(Parser::expect_url).is_ok() {
            calls.push(NumericFunction { name: "url", args: Vec::new() });
            continue;
        }
        const NAMES: &[&str] = &[
            "blur", "brightness", "contrast", "grayscale", "hue-rotate", "invert", "opacity",
            "saturate", "sepia", "drop-shadow",
        ];
        let name = input.expect_function()?.to_ascii_lowercase();
        let Some(name) = NAMES.iter().find(|known| **known == name) else { return invalid() };
        let args = input.parse_nested_block(|input| {
            let mut args = Vec::new();
            match *name {
                "drop-shadow" => while input.next().is_ok() {},
                _ if input.is_exhausted() => {}
                "blur" => args.push(length_or_part(input)?),
                "hue-rotate" => args.push(angle(input)?),
                _ => args.push(factor(input)?),
            }
            if args.iter().any(|one: &WrittenNumber| one.is_negative()) && *name != "hue-rotate" {
                return invalid();
            }
            Ok(args)
        })?;
        calls.push(NumericFunction { name, args });
    }
    if calls.is_empty() { invalid() } else { Ok(calls.into()) }
}
