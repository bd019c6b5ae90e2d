//! As much CSS as it takes to tell whether text can be seen: declarations,
//! colours and lengths.
//!
//! Values that are not understood are `None`, and whoever asks then takes the
//! text for visible. Which declarations apply to an element is decided in
//! `sheet`, what they add up to in `look`.

use std::borrow::Cow;

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

/// The declarations of a `style` attribute or of the block of a rule.
pub fn declarations(block: &str) -> Vec<Declaration> {
    let plain = plain(block);
    split(&plain, ';')
        .filter_map(|part| {
            let (name, value) = part.split_once(':')?;
            let value = value
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .to_ascii_lowercase();
            let (value, important) = match value.rsplit_once('!') {
                Some((value, mark)) => (value.trim_end(), mark.trim() == "important"),
                None => (value.as_str(), false),
            };
            Some(Declaration {
                name: name.trim().to_ascii_lowercase(),
                value: value.to_owned(),
                important,
            })
        })
        .collect()
}

/// CSS without comments and escapes, both of which can disguise a word.
pub fn plain(css: &str) -> Cow<'_, str> {
    if !css.contains("/*") && !css.contains('\\') {
        return Cow::Borrowed(css);
    }
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(at) = rest.find(['/', '\\']) {
        let (before, mark) = rest.split_at(at);
        out.push_str(before);
        if let Some(body) = mark.strip_prefix("/*") {
            rest = body.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(escape) = mark.strip_prefix('\\') {
            rest = unescape(escape, &mut out);
        } else {
            out.push('/');
            rest = mark.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Writes the character an escape stands for and returns what follows it.
fn unescape<'a>(escape: &'a str, out: &mut String) -> &'a str {
    let digits = escape
        .bytes()
        .take(6)
        .take_while(u8::is_ascii_hexdigit)
        .count();
    if digits == 0 {
        return escape;
    }
    let (hex, after) = escape.split_at(digits);
    out.extend(u32::from_str_radix(hex, 16).ok().and_then(char::from_u32));
    after.strip_prefix(' ').unwrap_or(after)
}

/// Splits at `mark`, but not inside quotes or parentheses.
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

/// A colour in any of its common spellings.
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
    named(value).map(Color::Solid)
}

/// A colour attribute, where the `#` may be missing.
pub fn attribute_color(value: &str) -> Option<Color> {
    let value = value.trim().to_ascii_lowercase();
    color(&value).or_else(|| (value.len() == 6).then(|| hex_color(&value)).flatten())
}

/// `fff`, `ffff`, `ffffff` or `ffffffff`.
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
    Some(if alpha < 13 {
        Color::Clear
    } else {
        Color::Solid(rgb)
    })
}

/// `rgb()`, `rgba()`, `hsl()` and `hsla()`, with commas or without.
fn function_color(function: &str, arguments: &str) -> Option<Color> {
    let parts: Vec<&str> = arguments
        .split([',', ' ', '/'])
        .filter(|part| !part.is_empty())
        .collect();
    let alpha = match parts.get(3) {
        Some(alpha) => fraction(alpha)?,
        None => 1.0,
    };
    if alpha < 0.05 {
        return Some(Color::Clear);
    }
    let (first, second, third) = (parts.first()?, parts.get(1)?, parts.get(2)?);
    match function {
        "rgb" | "rgba" => Some(Color::Solid([
            channel(first)?,
            channel(second)?,
            channel(third)?,
        ])),
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

/// A number, or a percentage of one.
pub fn fraction(part: &str) -> Option<f32> {
    match part.strip_suffix('%') {
        Some(percent) => Some(percent.parse::<f32>().ok()? / 100.0),
        None => part.parse().ok(),
    }
}

fn to_byte(value: f32) -> u8 {
    // The cast saturates, which is what a colour out of range means.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped before"
    )]
    let byte = value.round().clamp(0.0, 255.0) as u8;
    byte
}

/// The colour names that mail uses, and all that could pass for white.
fn named(name: &str) -> Option<Rgb> {
    Some(match name {
        "white" => [255, 255, 255],
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
        "black" => [0, 0, 0],
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

/// True if text in one colour cannot be read on the other: the same
/// lightness, and much the same hue.
pub fn alike(a: Rgb, b: Rgb) -> bool {
    let light =
        |[r, g, b]: Rgb| (u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114) / 1000;
    light(a).abs_diff(light(b)) <= 10 && a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 40)
}

/// A length in pixels; `em` is what `1em` and `100%` stand for.
pub fn pixels(value: &str, em: f32) -> Option<f32> {
    let value = value.trim();
    let unit = value.find(|c: char| c.is_ascii_alphabetic() || c == '%');
    let (number, unit) = value.split_at(unit.unwrap_or(value.len()));
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
        "vw" | "vh" | "vmin" | "vmax" => 8.0,
        _ => return None,
    };
    Some(number * scale)
}
