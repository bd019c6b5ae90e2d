//! Colours of CSS in all notations.
//!
//! The crate `color` has the notations and colour spaces. This file simplifies arguments for it
//! (`calc()`, relative colours), and adds mixes, system colours and the legacy colours of
//! attributes.

use std::sync::Arc;

use color::{AlphaColor, ColorSpaceTag, DynamicColor, HueDirection, Oklab, Srgb};
use cssparser::{Parser, ParserState, Token};

use super::value::{NumberKind, ParseResult, UnitScale, amount_of, invalid};

/// Red, green, blue and opacity, from 0 to 1.
pub type Rgba = [f32; 4];

/// A colour as written.
#[derive(Debug, Clone, PartialEq)]
pub enum WrittenColour {
    Rgba(Rgba),
    /// The colour of the text (`currentcolor`).
    Current,
    /// A colour derived from the colour of the text, as text.
    Later(Arc<str>),
    /// A colour that cannot be computed here.
    Unknown,
}

/// The colour of the surrounding text, and true if its scheme is dark; `None` before they are
/// known.
type SurroundingColour = Option<(Rgba, bool)>;

/// Opaque black.
pub const BLACK: Rgba = [0.0, 0.0, 0.0, 1.0];
/// Opaque white.
pub const WHITE: Rgba = [1.0; 4];
/// A transparent colour.
pub const CLEAR: Rgba = [0.0; 4];

impl WrittenColour {
    /// Returns the work of computing the colour: zero, or by the length of its text.
    pub fn weight(&self) -> usize {
        match self {
            Self::Later(text) => text.len() / 4,
            _ => 0,
        }
    }

    /// Returns the colour in an element whose text has the colour `current`; `None` if it is
    /// unknown.
    pub fn resolve(&self, current: Option<Rgba>, dark: bool) -> Option<Rgba> {
        match self {
            Self::Rgba(rgba) => Some(*rgba),
            Self::Current => current,
            Self::Later(text) => match read(&mut Parser::new(text), Some((current?, dark))) {
                Ok(WrittenColour::Rgba(rgba)) => Some(rgba),
                _ => None,
            },
            Self::Unknown => None,
        }
    }
}

/// Reads a colour; with `hashless`, as in quirks mode, the `#` may be missing.
pub fn paint(input: &mut Parser<'_>, hashless: bool) -> ParseResult<WrittenColour> {
    let start = input.state();
    if let Ok(paint) = read(input, None) {
        // A colour that depends on the colour of the text is kept as text, and read again in each
        // element.
        return Ok(match paint {
            WrittenColour::Later(_) => WrittenColour::Later(text(input, &start).into()),
            paint => paint,
        });
    }
    input.reset(&start);
    if hashless {
        input.next()?;
        let word = text(input, &start);
        if matches!(word.len(), 3 | 6) && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return known(&format!("#{word}"));
        }
    }
    invalid()
}

fn text<'i>(input: &Parser<'i>, start: &ParserState) -> &'i str {
    input.slice_from(start.position()).trim()
}

/// Reads a colour; `current` is the colour of the text, if known.
fn read(input: &mut Parser<'_>, current: SurroundingColour) -> ParseResult<WrittenColour> {
    let token = input.next()?.clone();
    match token {
        Token::Hash(ref hex) | Token::IDHash(ref hex) => known(&format!("#{hex}")),
        Token::Ident(ref name) => {
            let name = name.to_ascii_lowercase();
            match (name.as_str(), current) {
                ("currentcolor", None) => Ok(WrittenColour::Current),
                ("currentcolor", Some((current, _))) => Ok(WrittenColour::Rgba(current)),
                _ => {
                    system(&name).map_or_else(|| known(&name), |rgba| Ok(WrittenColour::Rgba(rgba)))
                }
            }
        }
        Token::Function(ref name) => {
            let name = name.to_ascii_lowercase();
            input.parse_nested_block(|input| function(&name, input, current))
        }
        _ => invalid(),
    }
}

fn known(text: &str) -> ParseResult<WrittenColour> {
    color::parse_color(text)
        .map_or_else(|_| invalid(), |color| Ok(WrittenColour::Rgba(rgba(color))))
}

fn rgba(color: DynamicColor) -> Rgba {
    let color: AlphaColor<Srgb> = color.to_alpha_color();
    color.components.map(|part| part.clamp(0.0, 1.0))
}

fn function(
    name: &str,
    input: &mut Parser<'_>,
    current: SurroundingColour,
) -> ParseResult<WrittenColour> {
    let name = match name {
        "rgba" => "rgb",
        "hsla" => "hsl",
        name => name,
    };
    // The crate `color` does not have this space.
    let beyond = |input: &mut Parser<'_>| {
        input.try_parse(|input| input.expect_ident_matching("display-p3-linear")).is_ok()
    };
    let start = input.state();
    let mixes =
        name != "color-mix" || input.try_parse(|input| input.expect_ident_matching("in")).is_ok();
    if matches!(name, "color" | "color-mix") && mixes && beyond(input) {
        return later(input, WrittenColour::Unknown);
    }
    input.reset(&start);
    match name {
        "rgb" | "hsl" | "hwb" | "lab" | "lch" | "oklab" | "oklch" | "color" => {
            if input.try_parse(|input| input.expect_ident_matching("from")).is_err() {
                return known(&format!("{name}({})", arguments(input, &[])?));
            }
            match read(input, current)? {
                WrittenColour::Rgba(origin) => relative(name, input, origin),
                other => later(input, other),
            }
        }
        "color-mix" => mix(input, current),
        "light-dark" => {
            let light = read(input, current)?;
            input.expect_comma()?;
            let dark = read(input, current)?;
            Ok(match current {
                None => WrittenColour::Later("".into()),
                Some((_, true)) => dark,
                Some(_) => light,
            })
        }
        "contrast-color" | "device-cmyk" | "alpha" => later(input, WrittenColour::Unknown),
        _ => invalid(),
    }
}

/// Skips the rest of a colour that is unknown, or not known yet.
fn later(input: &mut Parser<'_>, paint: WrittenColour) -> ParseResult<WrittenColour> {
    while input.next().is_ok() {}
    Ok(match paint {
        WrittenColour::Unknown => WrittenColour::Unknown,
        _ => WrittenColour::Later("".into()),
    })
}

/// Returns arguments with functions computed and names replaced.
fn arguments(input: &mut Parser<'_>, names: &[(&str, f32)]) -> ParseResult<String> {
    let mut out = String::new();
    let scale = UnitScale { names, ..UnitScale::page() };
    loop {
        let start = input.state();
        let Ok(token) = input.next() else { return Ok(out) };
        let plain = match token {
            Token::Comma => Some(","),
            Token::Delim('/') => Some("/"),
            Token::Ident(word) => {
                let word = word.to_ascii_lowercase();
                match names.iter().find(|(name, _)| *name == word) {
                    Some((_, n)) => out.push_str(&format!(" {n:.6}")),
                    None => out.push_str(&format!(" {word}")),
                }
                continue;
            }
            _ => None,
        };
        if let Some(plain) = plain {
            out.push_str(plain);
            continue;
        }
        input.reset(&start);
        let value = amount_of(input, &scale)?;
        out.push_str(&match value.kind {
            NumberKind::Percent => format!(" {:.6}%", value.part * 100.0),
            NumberKind::Angle => format!(" {:.6}deg", value.n),
            NumberKind::Number => format!(" {:.6}", value.n),
            _ => return invalid(),
        });
    }
}

/// Reads a relative colour: `from <colour> a b c`.
fn relative(name: &str, input: &mut Parser<'_>, origin: Rgba) -> ParseResult<WrittenColour> {
    let mut space = String::new();
    let tag = match name {
        "color" => {
            space = input.expect_ident()?.to_ascii_lowercase();
            tag(&space)?
        }
        "rgb" => ColorSpaceTag::Srgb,
        other => tag(other)?,
    };
    let from = DynamicColor::from_alpha_color(AlphaColor::<Srgb>::new(origin)).convert(tag);
    let [mut a, mut b, mut c, alpha] = from.components;
    let names = match name {
        "color" if space.starts_with("xyz") => ["x", "y", "z"],
        "color" => ["r", "g", "b"],
        "rgb" => {
            // Channels of `rgb()` go up to 255.
            (a, b, c) = (a * 255.0, b * 255.0, c * 255.0);
            ["r", "g", "b"]
        }
        "hsl" => ["h", "s", "l"],
        "hwb" => ["h", "w", "b"],
        "lab" | "oklab" => ["l", "a", "b"],
        _ => ["l", "c", "h"],
    };
    let [x, y, z] = names;
    let names = [(x, a), (y, b), (z, c), ("alpha", alpha)];
    let mut rest = arguments(input, &names)?;
    // A relative colour keeps the alpha of its origin.
    if !rest.contains('/') {
        rest.push_str(&format!(" / {alpha:.6}"));
    }
    known(&format!("{name}({space} {})", rest.trim_start()).replace("( ", "("))
}

fn tag(space: &str) -> ParseResult<ColorSpaceTag> {
    Ok(match space {
        "srgb" => ColorSpaceTag::Srgb,
        "srgb-linear" => ColorSpaceTag::LinearSrgb,
        "display-p3" => ColorSpaceTag::DisplayP3,
        "a98-rgb" => ColorSpaceTag::A98Rgb,
        "prophoto-rgb" => ColorSpaceTag::ProphotoRgb,
        "rec2020" => ColorSpaceTag::Rec2020,
        "lab" => ColorSpaceTag::Lab,
        "lch" => ColorSpaceTag::Lch,
        "oklab" => ColorSpaceTag::Oklab,
        "oklch" => ColorSpaceTag::Oklch,
        "hsl" => ColorSpaceTag::Hsl,
        "hwb" => ColorSpaceTag::Hwb,
        "xyz" | "xyz-d65" => ColorSpaceTag::XyzD65,
        "xyz-d50" => ColorSpaceTag::XyzD50,
        _ => return invalid(),
    })
}

/// Reads the arguments of `color-mix()`.
fn mix(input: &mut Parser<'_>, current: SurroundingColour) -> ParseResult<WrittenColour> {
    let mut space = ColorSpaceTag::Oklab;
    let mut way = HueDirection::Shorter;
    if input.try_parse(|input| input.expect_ident_matching("in")).is_ok() {
        space = tag(&input.expect_ident()?.to_ascii_lowercase())?;
        if let Ok(word) = input.try_parse(cssparser::Parser::expect_ident_cloned) {
            way = match word.to_ascii_lowercase().as_str() {
                "shorter" => HueDirection::Shorter,
                "longer" => HueDirection::Longer,
                "increasing" => HueDirection::Increasing,
                "decreasing" => HueDirection::Decreasing,
                _ => return invalid(),
            };
            input.expect_ident_matching("hue")?;
        }
        input.expect_comma()?;
    }
    let percent = |input: &mut Parser<'_>| {
        input.try_parse(|input| {
            let share = amount_of(input, &UnitScale::page())?;
            if share.kind == NumberKind::Percent { Ok(share.part) } else { invalid() }
        })
    };
    let parts = input.parse_comma_separated(|input| {
        let before = percent(input).ok();
        let paint = read(input, current)?;
        Ok((paint, before.or_else(|| percent(input).ok())))
    })?;
    let [(one, first), (other, second)] = parts.as_slice() else { return invalid() };
    let (WrittenColour::Rgba(one), WrittenColour::Rgba(other)) = (one, other) else {
        let unknown = [one, other].iter().any(|paint| **paint == WrittenColour::Unknown);
        return Ok(if unknown { WrittenColour::Unknown } else { WrittenColour::Later("".into()) });
    };
    let (first, second) = match (*first, *second) {
        (None, None) => (0.5, 0.5),
        (Some(first), None) => (first, 1.0 - first),
        (None, Some(second)) => (1.0 - second, second),
        (Some(first), Some(second)) => (first, second),
    };
    let total = first + second;
    if total <= 0.0 {
        return invalid();
    }
    let dynamic = |rgba: &Rgba| DynamicColor::from_alpha_color(AlphaColor::<Srgb>::new(*rgba));
    let mixed = dynamic(one).interpolate(dynamic(other), space, way).eval(second / total);
    // Shares that add up to less than 100 % leave the mix partly transparent (CSS Color 5).
    let [r, g, b, alpha] = rgba(mixed);
    Ok(WrittenColour::Rgba([r, g, b, alpha * total.min(1.0)]))
}

/// Returns a system colour of a light theme.
fn system(name: &str) -> Option<Rgba> {
    let grey = |level: f32| Some([level, level, level, 1.0]);
    match name {
        "transparent" => Some(CLEAR),
        "canvas" | "window" | "field" | "background" | "infobackground" | "menu"
        | "selecteditemtext" | "highlighttext" | "accentcolortext" => Some(WHITE),
        "canvastext" | "windowtext" | "fieldtext" | "buttontext" | "captiontext" | "infotext"
        | "menutext" | "marktext" => Some(BLACK),
        "buttonface" | "threedface" | "appworkspace" | "scrollbar" => grey(0.94),
        "graytext" | "inactivecaptiontext" => grey(0.5),
        "linktext" | "-webkit-link" => Some([0.0, 0.0, 0.933, 1.0]),
        "visitedtext" => Some([0.333, 0.102, 0.545, 1.0]),
        "activetext" | "-webkit-activelink" => Some([1.0, 0.0, 0.0, 1.0]),
        "mark" => Some([1.0, 1.0, 0.0, 1.0]),
        "highlight" | "selecteditem" | "accentcolor" => Some([0.1, 0.4, 0.9, 1.0]),
        "buttonborder" | "activeborder" | "inactiveborder" | "threedshadow"
        | "threeddarkshadow" | "threedhighlight" | "threedlightshadow" | "buttonhighlight"
        | "buttonshadow" | "activecaption" | "inactivecaption" | "windowframe" => grey(0.6),
        _ => None,
    }
}

/// Returns the colour of an attribute such as `bgcolor`. In HTML, any text is a colour.
pub fn of_attribute(value: &str) -> Option<Rgba> {
    let value = value.trim();
    if value.is_empty() || value.eq_ignore_ascii_case("transparent") {
        return None;
    }
    if !value.starts_with('#')
        && let Ok(WrittenColour::Rgba(rgba)) = known(&value.to_ascii_lowercase())
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        return Some(rgba);
    }
    // The rules for parsing a legacy colour value of the HTML standard, from here on.
    let digit = |c: char| if c.is_ascii_hexdigit() { c } else { '0' };
    let hex = value.strip_prefix('#').unwrap_or(value);
    let mut hex: Vec<char> = hex.chars().take(128).map(digit).collect();
    if hex.len() == 3 && value.starts_with('#') {
        hex = hex.iter().flat_map(|c| [*c, *c]).collect();
    }
    while hex.is_empty() || !hex.len().is_multiple_of(3) {
        hex.push('0');
    }
    let each = hex.len() / 3;
    let parts: Vec<&[char]> =
        hex.chunks(each).map(|part| part.get(each.saturating_sub(8)..).unwrap_or(part)).collect();
    // Leading zeros that the three channels share are dropped.
    let zeros = parts.iter().map(|part| part.iter().take_while(|c| **c == '0').count()).min()?;
    let width = parts.first()?.len();
    let skip = if width > 2 { zeros.min(width - 2) } else { 0 };
    let channel = |part: &&[char]| {
        let digits: String = part.iter().skip(skip).take(2).collect();
        u8::from_str_radix(&digits, 16).map_or(0.0, |byte| f32::from(byte) / 255.0)
    };
    match parts.iter().map(channel).collect::<Vec<f32>>().as_slice() {
        [r, g, b] => Some([*r, *g, *b, 1.0]),
        _ => None,
    }
}

/// Returns `top` painted over an opaque colour.
pub fn over(top: Rgba, below: Rgba) -> Rgba {
    let [r, g, b, a] = top;
    let [x, y, z, under] = below;
    let mix = |one: f32, other: f32| one * a + other * (1.0 - a);
    [mix(r, x), mix(g, y), mix(b, z), a + under * (1.0 - a)]
}

/// Returns the perceived distance between two opaque colours in Oklab; black and white are 1 apart.
pub fn distance(one: Rgba, other: Rgba) -> f32 {
    let lab = |[r, g, b, _]: Rgba| AlphaColor::<Srgb>::new([r, g, b, 1.0]).convert::<Oklab>();
    let (a, b) = (lab(one).components, lab(other).components);
    a.iter().zip(b).take(3).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}
