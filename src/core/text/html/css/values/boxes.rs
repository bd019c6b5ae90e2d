//! Values of box properties that can leave a box without size or cover text: tracks, flexible
//! sizes, borders and shadows.
//!
//! Of each value, only the part is kept that decides whether text in the box, or under it, is seen.

use std::sync::Arc;

use cssparser::{ParseError, Parser, Token};

use super::color::{BLACK, WrittenColour, paint};
use super::property::{CssImage, CssProperty, PropertyValue, ValueMode};
use super::value::{
    NumberKind, ParseResult, UnitScale, WrittenNumber, amount, invalid, keyword, length, number,
};

/// Reads `flex`.
pub fn flex(
    input: &mut Parser<'_>,
    out: &mut Vec<(CssProperty, PropertyValue)>,
    size: impl Fn(&mut Parser<'_>) -> ParseResult<PropertyValue>,
) -> ParseResult<()> {
    let (mut grow, mut basis, mut numbers) = (1.0, None, 0);
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        (grow, basis) = (0.0, Some(PropertyValue::Word("auto")));
    }
    while !input.is_exhausted() {
        let plain = input.try_parse(|input| match amount(input)? {
            WrittenNumber::Plain(n, unit)
                if WrittenNumber::Plain(n, unit).kind() == NumberKind::Number =>
            {
                Ok(n)
            }
            _ => invalid(),
        });
        match plain {
            Ok(n) if numbers < 2 && n >= 0.0 => {
                grow = if numbers == 0 { n } else { grow };
                numbers += 1;
            }
            // A third number can only be the basis, as a zero without a unit.
            Ok(0.0) if basis.is_none() => {
                basis = Some(PropertyValue::Amount(WrittenNumber::pixels(0.0)));
            }
            Err(_) if basis.is_none() => basis = Some(size(input)?),
            _ => return invalid(),
        }
    }
    out.push((CssProperty::FlexGrow, PropertyValue::Amount(WrittenNumber::number(grow))));
    // Without a basis in the shorthand, it is 0 and not `auto` (CSS Flexbox, 7.1).
    out.push((
        CssProperty::FlexBasis,
        basis.unwrap_or(PropertyValue::Amount(WrittenNumber::percentage(0.0))),
    ));
    Ok(())
}

pub const DIRECTIONS: &[&str] = &["row", "row-reverse", "column", "column-reverse"];
pub const WRAPS: &[&str] = &["nowrap", "wrap", "wrap-reverse"];

/// Reads `flex-flow`.
pub fn flow(
    input: &mut Parser<'_>,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let (mut direction, mut wrap) = ("row", "nowrap");
    while !input.is_exhausted() {
        match input.try_parse(|input| keyword(input, DIRECTIONS)) {
            Ok(found) => direction = found,
            Err(_) => wrap = keyword(input, WRAPS)?,
        }
    }
    out.push((CssProperty::FlexDirection, PropertyValue::Word(direction)));
    out.push((CssProperty::FlexWrap, PropertyValue::Word(wrap)));
    Ok(())
}

/// Reads `grid` and `grid-template`.
pub fn grid(
    input: &mut Parser<'_>,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let rows = tracks(input)?;
    let columns = match input.try_parse(|input| input.expect_delim('/')) {
        Ok(()) => tracks(input)?,
        Err(_) => PropertyValue::Names([].into()),
    };
    out.push((CssProperty::GridRows, rows));
    out.push((CssProperty::GridColumns, columns));
    Ok(())
}

/// Reads track sizes up to a `/`: `0` for a track without size, `1` for any other.
pub fn tracks(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    /// Maximum number of tracks; a value with more is invalid here.
    const MAX_TRACKS: usize = 100;
    let mut all: Vec<Box<str>> = Vec::new();
    while !input.is_exhausted() && all.len() < MAX_TRACKS {
        let start = input.state();
        let mut count = 1;
        let nothing = match input.next()?.clone() {
            Token::Delim('/') => {
                input.reset(&start);
                break;
            }
            Token::SquareBracketBlock | Token::QuotedString(_) => continue,
            Token::Ident(_) => false,
            // A length or a share of the rest: `0fr` is no share.
            Token::Dimension { value, .. } => value == 0.0,
            Token::Function(name) => input.parse_nested_block(|input| {
                if name.eq_ignore_ascii_case("repeat") {
                    count = input.expect_integer().map_or(1, |n| n.clamp(1, 20) as usize);
                    let _ = input.try_parse(cssparser::Parser::expect_ident_cloned);
                    input.expect_comma()?;
                }
                // `minmax()` can be as large as its last argument.
                let mut last = false;
                while let Ok(token) = input.next() {
                    last = match token {
                        Token::Comma => continue,
                        Token::Number { value, .. } | Token::Dimension { value, .. } => {
                            *value == 0.0
                        }
                        _ => false,
                    };
                }
                Ok::<_, ParseError<()>>(last)
            })?,
            _ => {
                input.reset(&start);
                let size = amount(input)?.compute(&UnitScale::page());
                size.n == 0.0 && size.part == 0.0
            }
        };
        all.extend(std::iter::repeat_n(Box::from(if nothing { "0" } else { "1" }), count));
    }
    Ok(PropertyValue::Names(all.into()))
}

/// Reads the image sizes of all layers; "nothing" if none of them has a size.
pub fn sizes(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let layers = input.parse_comma_separated(|input| {
        let mut nothing = false;
        while !input.is_exhausted() {
            if input.try_parse(|input| keyword(input, &["auto", "cover", "contain"])).is_err() {
                let size = length(input, false, true, false)?.compute(&UnitScale::page());
                nothing |= size.n <= 0.0 && size.part <= 0.0;
            }
        }
        Ok::<_, ParseError<()>>(nothing)
    })?;
    Ok(PropertyValue::Word(if layers.contains(&false) { "some" } else { "nothing" }))
}

/// Reads `aspect-ratio` as the width divided by the height.
pub fn ratio(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let auto = |input: &mut Parser<'_>| {
        input.try_parse(|input| input.expect_ident_matching("auto")).is_ok()
    };
    if auto(input) && input.is_exhausted() {
        return Ok(PropertyValue::Word("auto"));
    }
    let read = |input: &mut Parser<'_>| {
        Ok::<_, ParseError<()>>(number(input)?.compute(&UnitScale::page()).n)
    };
    let width = read(input)?;
    let height = match input.try_parse(|input| input.expect_delim('/')) {
        Ok(()) => read(input)?,
        Err(_) => 1.0,
    };
    auto(input);
    Ok(if width > 0.0 && height > 0.0 {
        PropertyValue::Amount(WrittenNumber::number(width / height))
    } else {
        PropertyValue::Word("auto")
    })
}

/// Reads the thickness of a line.
pub fn thickness(input: &mut Parser<'_>, mode: ValueMode) -> ParseResult<WrittenNumber> {
    match input.try_parse(|input| keyword(input, &["thin", "medium", "thick"])) {
        Ok("thin") => Ok(WrittenNumber::pixels(1.0)),
        Ok("medium") => Ok(WrittenNumber::pixels(3.0)),
        Ok(_) => Ok(WrittenNumber::pixels(5.0)),
        Err(_) => length(input, false, false, mode.quirks),
    }
}

/// Reads a border or an outline, or its width alone, as its width: zero without a style, or in a
/// colour that shows the ground below.
pub fn edge(input: &mut Parser<'_>, mode: ValueMode) -> ParseResult<PropertyValue> {
    const STYLES: &[&str] = &[
        "none", "hidden", "auto", "dotted", "dashed", "solid", "double", "groove", "ridge",
        "inset", "outset",
    ];
    let (mut width, mut style, mut color) = (None, None, None);
    while !input.is_exhausted() {
        if style.is_none()
            && let Ok(found) = input.try_parse(|input| keyword(input, STYLES))
        {
            style = Some(found);
        } else if color.is_none()
            && let Ok(found) = input.try_parse(|input| paint(input, false))
        {
            color = Some(found);
        } else if width.is_none() {
            width = Some(thickness(input, mode)?);
        } else {
            // The width of the next side, if there are only widths.
            break;
        }
    }
    let clear = matches!(color, Some(WrittenColour::Rgba([.., alpha])) if alpha < 0.5);
    // A width alone comes from a longhand; another declaration sets its style.
    let alone = style.is_none() && color.is_none();
    let drawn = alone || !clear && style.is_some_and(|style| !matches!(style, "none" | "hidden"));
    let width = width.unwrap_or(WrittenNumber::pixels(3.0));
    Ok(PropertyValue::Amount(if drawn { width } else { WrittenNumber::pixels(0.0) }))
}

/// Reads `-webkit-text-stroke`.
pub fn stroke(
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let (mut width, mut color) = (None, None);
    while !input.is_exhausted() {
        if color.is_none()
            && let Ok(found) = input.try_parse(|input| paint(input, false))
        {
            color = Some(found);
        } else if width.is_none() {
            width = Some(thickness(input, mode)?);
        } else {
            return invalid();
        }
    }
    out.push((
        CssProperty::StrokeWidth,
        PropertyValue::Amount(width.unwrap_or(WrittenNumber::pixels(0.0))),
    ));
    out.push((
        CssProperty::StrokeColor,
        PropertyValue::Paint(color.unwrap_or(WrittenColour::Current)),
    ));
    Ok(())
}

/// Reads `box-shadow`: "wide" if an opaque shadow spreads far.
pub fn shadow(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    /// The spread from which a shadow covers a line of text, in pixels.
    const FAR: f32 = 8.0;
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(PropertyValue::Word("none"));
    }
    let wide = input.parse_comma_separated(|input| {
        let (mut sizes, mut color) = (Vec::new(), BLACK);
        while !input.is_exhausted() {
            if input.try_parse(|input| input.expect_ident_matching("inset")).is_ok() {
            } else if let Ok(found) = input.try_parse(|input| paint(input, false)) {
                color = if let WrittenColour::Rgba(rgba) = found { rgba } else { BLACK };
            } else {
                sizes.push(length(input, true, false, false)?.compute(&UnitScale::page()).n);
            }
        }
        let [.., alpha] = color;
        Ok::<_, ParseError<()>>(alpha >= 0.5 && sizes.get(3).is_some_and(|spread| *spread >= FAR))
    })?;
    Ok(PropertyValue::Word(if wide.contains(&true) { "wide" } else { "none" }))
}

/// Reads `text-shadow` as the colours of shadows that are sharp and close enough to be read.
pub fn text_shadow(input: &mut Parser<'_>) -> ParseResult<Arc<[CssImage]>> {
    /// Maximum blur and distance of a shadow that text can be read from, in pixels.
    const SHARP: f32 = 3.0;
    const CLOSE: f32 = 100.0;
    if input.try_parse(|input| input.expect_ident_matching("none")).is_ok() {
        return Ok(Arc::new([]));
    }
    let shadows = input.parse_comma_separated(|input| {
        let (mut sizes, mut color) = (Vec::new(), WrittenColour::Current);
        while !input.is_exhausted() {
            match input.try_parse(|input| paint(input, false)) {
                Ok(found) => color = found,
                Err(_) => sizes.push(length(input, true, false, false)?),
            }
        }
        let sizes: Vec<f32> = sizes.iter().map(|size| size.compute(&UnitScale::page()).n).collect();
        let sharp = match sizes.as_slice() {
            [x, y] => x.abs().max(y.abs()) < CLOSE,
            [x, y, blur] => x.abs().max(y.abs()) < CLOSE && *blur <= SHARP,
            _ => return invalid(),
        };
        Ok(if sharp { CssImage::Gradient(vec![color]) } else { CssImage::None })
    })?;
    Ok(shadows.into())
}

/// Reads `text-decoration`, as far as it strikes text out.
pub fn decoration(
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    const WORDS: &[&str] = &[
        "none", "underline", "overline", "line-through", "blink", "solid", "double", "dotted",
        "dashed", "wavy", "auto", "from-font",
    ];
    let (mut through, mut width) = ("none", WrittenNumber::pixels(0.0));
    while !input.is_exhausted() {
        if let Ok(found) = input.try_parse(|input| keyword(input, WORDS)) {
            through = if found == "line-through" { found } else { through };
        } else if input.try_parse(|input| paint(input, false)).is_err() {
            width = length(input, true, true, mode.quirks)?;
        }
    }
    out.push((CssProperty::Strike, PropertyValue::Word(through)));
    out.push((CssProperty::StrikeWidth, PropertyValue::Amount(width)));
    Ok(())
}

/// Returns true if a value is a position outside most boxes.
pub fn is_far(input: &mut Parser<'_>) -> bool {
    /// More than the height of a line, in pixels.
    const FAR: f32 = 100.0;
    let mut far = false;
    while let Ok(token) = input.next() {
        far |= match token {
            Token::Dimension { value, .. } => value.abs() > FAR,
            Token::Percentage { unit_value, .. } => !(0.0..=1.0).contains(unit_value),
            _ => false,
        };
    }
    far
}

/// Returns true if a background layer is drawn once and is away from text or smaller than text.
pub fn is_beside(input: &mut Parser<'_>) -> bool {
    const FAR: f32 = 100.0;
    let (mut once, mut beside, mut sizes) = (false, false, false);
    while let Ok(token) = input.next() {
        match token {
            Token::Ident(word) => once |= word.eq_ignore_ascii_case("no-repeat"),
            Token::Delim('/') => sizes = true,
            Token::Dimension { value, .. } if sizes => beside |= *value < FAR,
            Token::Dimension { value, .. } => beside |= value.abs() > FAR,
            Token::Percentage { unit_value, .. } if sizes => beside |= *unit_value < 0.1,
            _ => {}
        }
    }
    once && beside
}
