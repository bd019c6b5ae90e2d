//! Colours: the notations of CSS, system colours, and the legacy colours of attributes.
//!
//! The crate `color` has the notations and colour spaces. Colours that depend on other colours
//! (`color-mix()`, `light-dark()`, relative colours) and arguments in `calc()` are not computed.

use color::{AlphaColor, DynamicColor, Srgb};
use cssparser::{Parser, Token};

use super::value::{ParseResult, invalid};

/// Red, green, blue and opacity, from 0 to 1.
pub type Rgba = [f32; 4];

/// A colour as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WrittenColour {
    Rgba(Rgba),
    /// The colour of the text (`currentcolor`).
    Current,
}

/// Opaque black.
pub const BLACK: Rgba = [0.0, 0.0, 0.0, 1.0];
/// Opaque white.
pub const WHITE: Rgba = [1.0; 4];
/// A transparent colour.
pub const CLEAR: Rgba = [0.0; 4];

impl WrittenColour {
    /// Returns the colour in an element whose text has the colour `current`.
    pub fn resolve(&self, current: Rgba) -> Rgba {
        match self {
            Self::Rgba(rgba) => *rgba,
            Self::Current => current,
        }
    }
}

/// Reads a colour; with `hashless`, as in quirks mode, the `#` may be missing.
pub fn paint(input: &mut Parser<'_>, hashless: bool) -> ParseResult<WrittenColour> {
    let start = input.state();
    let read = match input.next()?.clone() {
        Token::Hash(hex) | Token::IDHash(hex) => known(&format!("#{hex}")),
        Token::Ident(name) => {
            let name = name.to_ascii_lowercase();
            if name == "currentcolor" {
                return Ok(WrittenColour::Current);
            }
            system(&name).map_or_else(|| known(&name), |rgba| Ok(WrittenColour::Rgba(rgba)))
        }
        Token::Function(_) => {
            input.parse_nested_block(|input| {
                while input.next().is_ok() {}
                Ok::<_, cssparser::ParseError<()>>(())
            })?;
            known(&input.slice_from(start.position()).trim().to_ascii_lowercase())
        }
        _ => invalid(),
    };
    if read.is_ok() || !hashless {
        return read;
    }
    let word = input.slice_from(start.position()).trim();
    if matches!(word.len(), 3 | 6) && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return known(&format!("#{word}"));
    }
    invalid()
}

fn known(text: &str) -> ParseResult<WrittenColour> {
    color::parse_color(text)
        .map_or_else(|_| invalid(), |color| Ok(WrittenColour::Rgba(rgba(color))))
}

fn rgba(color: DynamicColor) -> Rgba {
    let color: AlphaColor<Srgb> = color.to_alpha_color();
    color.components.map(|part| part.clamp(0.0, 1.0))
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
