//! As much CSS as it takes to tell whether text can be seen: declarations,
//! colours and lengths.
//!
//! Values that are not understood are `None`, and whoever asks then takes the
//! text for visible. Which declarations apply to an element is decided in
//! `stylesheet`, what they add up to in `style`.

use super::scan;

/// `name: value`, with `!important` taken off the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The property, in lower case.
    pub name: String,
    /// The value, in lower case, with single spaces.
    pub value: String,
    /// True if it wins over others that come later.
    pub important: bool,
}

/// The longest value of a declaration that is looked at, in bytes.
const LONGEST: usize = 2_000;

/// Returns the declarations of a `style` attribute or of the block of a rule.
pub fn declarations(block: &str) -> Vec<Declaration> {
    scan::pieces(block, b";").filter_map(|piece| declaration(piece.text)).collect()
}

/// One declaration; `None` if it is none, or marked as nobody marks it.
pub fn declaration(text: &str) -> Option<Declaration> {
    let text = scan::without_comments(text, " ");
    let (name, value) = text.split_once(':')?;
    let name = scan::unescaped(name.trim()).to_ascii_lowercase();
    // An address says nothing here but that it is one.
    let value = match value.len() > LONGEST && value.contains("url(") {
        true => "url()".to_owned(),
        false => scan::unescaped(value),
    };
    let value: Vec<&str> = value.split_whitespace().collect();
    let value = value.join(" ").to_ascii_lowercase();
    let (value, important) = match value.rsplit_once('!') {
        Some((value, mark)) if mark.trim() == "important" => (value.trim_end(), true),
        Some(_) => return None,
        None => (value.as_str(), false),
    };
    Some(Declaration { name, value: value.to_owned(), important })
}

impl Declaration {
    /// Returns true if it is too long to be looked at for every element.
    pub fn is_endless(&self) -> bool {
        self.value.len() > LONGEST
    }
}

/// Returns true for the properties that are looked at, as `style` understands them.
pub fn matters(name: &str) -> bool {
    matches!(
        name,
        "display"
            | "visibility"
            | "opacity"
            | "font"
            | "font-size"
            | "line-height"
            | "color"
            | "background"
            | "background-color"
            | "background-image"
            | "overflow"
            | "overflow-x"
            | "overflow-y"
            | "height"
            | "max-height"
            | "width"
            | "max-width"
            | "min-width"
            | "min-height"
            | "position"
            | "left"
            | "right"
            | "top"
            | "bottom"
            | "margin-left"
            | "margin-top"
            | "text-indent"
            | "clip"
            | "clip-path"
            | "transform"
            | "mso-hide"
            | "filter"
            | "content-visibility"
            | "-webkit-text-fill-color"
    )
}

/// Splits at `mark`, but not inside quotes or brackets.
pub fn split(s: &str, mark: char) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let mut depth = 0_usize;
    s.split(move |c| {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        quote.is_none() && depth == 0 && c == mark
    })
}

/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// What a colour value comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Color {
    /// A colour that covers what is behind it.
    Solid(Rgb),
    /// Nothing to see.
    Clear,
}

/// Reads a colour in any of its common spellings.
pub fn color(value: &str) -> Option<Color> {
    let value = value.trim();
    if value == "transparent" {
        return Some(Color::Clear);
    }
    if let Some(hex) = value.strip_prefix('#') {
        return hex_color(hex);
    }
    if let Some((function, rest)) = value.split_once('(') {
        return function_color(function.trim(), rest.trim_end_matches(')'));
    }
    // Without a document type the `#` may be missing.
    named_color(value).map(Color::Solid).or_else(|| match value.len() {
        3 | 6 => hex_color(value),
        _ => None,
    })
}

/// Reads a colour attribute, in which the `#` may be missing.
pub fn attribute_color(value: &str) -> Option<Color> {
    let value = value.trim().to_ascii_lowercase();
    color(&value).or_else(|| (value.len() == 6).then(|| hex_color(&value)).flatten())
}

/// Reads `fff`, `ffff`, `ffffff` or `ffffffff`.
fn hex_color(hex: &str) -> Option<Color> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    let (rgb, alpha) = match *digits.as_slice() {
        [r, g, b] => ([r * 17, g * 17, b * 17], 255),
        [r, g, b, a] => ([r * 17, g * 17, b * 17], a * 17),
        [a, b, c, d, e, f] => ([a * 16 + b, c * 16 + d, e * 16 + f], 255),
        [a, b, c, d, e, f, g, h] => ([a * 16 + b, c * 16 + d, e * 16 + f], g * 16 + h),
        _ => return None,
    };
    Some(if alpha < 13 { Color::Clear } else { Color::Solid(rgb) })
}

/// Reads `rgb()`, `rgba()`, `hsl()` and `hsla()`, with commas or without.
fn function_color(function: &str, arguments: &str) -> Option<Color> {
    let parts: Vec<&str> =
        arguments.split([',', ' ', '/']).filter(|part| !part.is_empty()).collect();
    let alpha = match parts.get(3) {
        Some(alpha) => fraction(alpha)?,
        None => 1.0,
    };
    if alpha < 0.05 {
        return Some(Color::Clear);
    }
    let (first, second, third) = (parts.first()?, parts.get(1)?, parts.get(2)?);
    match function {
        "rgb" | "rgba" => Some(Color::Solid([channel(first)?, channel(second)?, channel(third)?])),
        // Only the ends of the scale and greys matter here.
        "hsl" | "hsla" => {
            let light = fraction(third)?;
            let grey = fraction(second)? < 0.01 || light <= 0.0 || light >= 1.0;
            grey.then(|| Color::Solid([to_byte(light * 255.0); 3]))
        }
        _ => None,
    }
}

fn channel(part: &str) -> Option<u8> {
    match part.strip_suffix('%') {
        Some(percent) => Some(to_byte(percent.parse::<f32>().ok()? * 2.55)),
        None => Some(to_byte(part.parse::<f32>().ok()?)),
    }
}

/// Reads a number, or a percentage of one.
pub fn fraction(part: &str) -> Option<f32> {
    match part.strip_suffix('%') {
        Some(percent) => Some(percent.parse::<f32>().ok()? / 100.0),
        None => part.parse().ok(),
    }
}

fn to_byte(value: f32) -> u8 {
    // The cast saturates, which is what a colour out of range means.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let byte = value.round().clamp(0.0, 255.0) as u8;
    byte
}

/// Reads the colour names that mail uses, and all that could pass for white.
fn named_color(name: &str) -> Option<Rgb> {
    Some(match name {
        "white" | "canvas" | "window" | "field" | "background" => [255, 255, 255],
        "snow" => [255, 250, 250],
        "ivory" => [255, 255, 240],
        "ghostwhite" => [248, 248, 255],
        "floralwhite" => [255, 250, 240],
        "whitesmoke" => [245, 245, 245],
        "mintcream" => [245, 255, 250],
        "azure" => [240, 255, 255],
        "aliceblue" => [240, 248, 255],
        "seashell" => [255, 245, 238],
        "honeydew" => [240, 255, 240],
        "black" | "canvastext" | "windowtext" | "fieldtext" => [0, 0, 0],
        "red" => [255, 0, 0],
        "green" => [0, 128, 0],
        "lime" => [0, 255, 0],
        "blue" => [0, 0, 255],
        "navy" => [0, 0, 128],
        "yellow" => [255, 255, 0],
        "orange" => [255, 165, 0],
        "purple" => [128, 0, 128],
        "maroon" => [128, 0, 0],
        "teal" => [0, 128, 128],
        "olive" => [128, 128, 0],
        "aqua" | "cyan" => [0, 255, 255],
        "fuchsia" | "magenta" => [255, 0, 255],
        "gray" | "grey" => [128, 128, 128],
        "silver" => [192, 192, 192],
        "lightgray" | "lightgrey" => [211, 211, 211],
        "darkgray" | "darkgrey" => [169, 169, 169],
        _ => return None,
    })
}

/// Returns true if text in one colour cannot be read on the other: the same lightness,
/// and much the same hue.
pub fn alike(a: Rgb, b: Rgb) -> bool {
    let light =
        |[r, g, b]: Rgb| (u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114) / 1000;
    light(a).abs_diff(light(b)) <= 10 && a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 40)
}

/// Reads a length in pixels; `em` is the value of `1em` and `100%`.
pub fn pixels(value: &str, em: f32) -> Option<f32> {
    let mut value = value.trim();
    while let Some(inside) = value.strip_prefix("calc(") {
        value = inside.strip_suffix(')')?.trim();
    }
    let end = value.rfind(|c: char| c.is_ascii_digit() || c == '.')? + 1;
    let (number, unit) = value.split_at(end);
    let number: f32 = number.trim().parse().ok()?;
    let scale = match unit {
        "" | "px" => 1.0,
        "pt" => 4.0 / 3.0,
        "em" => em,
        "ex" | "ch" => em / 2.0,
        "%" => em / 100.0,
        "rem" | "pc" => 16.0,
        "cm" => 37.8,
        "mm" => 3.78,
        "in" => 96.0,
        "q" => 0.945,
        "lh" | "rlh" => 19.0,
        "cap" | "ic" | "rex" | "rch" | "ric" | "rcap" => 8.0,
        "vw" | "vh" | "vmin" | "vmax" | "vi" | "vb" | "svw" | "svh" | "lvw" | "lvh" | "dvw"
        | "dvh" | "cqw" | "cqh" | "cqi" | "cqb" => 8.0,
        _ => return None,
    };
    Some(number * scale)
}
