//! Properties that can hide text but are not computed.
//!
//! Mail programs drop most of them. Of each, only the values are known that leave text visible. With
//! any other value, the text that it may affect is in doubt.

use cssparser::{ParseError, Parser, Token};

use super::property::{CssProperty, PropertyValue};

/// The consequence of a property with a value that may hide text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherEffect {
    /// Text in the element is in doubt.
    Hides,
    /// Text in the element is in doubt if a box cuts off its overflow.
    Clips,
    /// The element may cover text behind it.
    Paints,
    /// Text in the element and beside it is in doubt.
    Spreads,
    /// Text in the element is in doubt, even if other properties hide it.
    Redraws,
    /// Text in the element that other properties hide may be legible.
    Reveals,
}

/// A property that is not computed.
struct OtherProperty {
    name: &'static str,
    effect: OtherEffect,
    /// Returns true for a value that hides nothing.
    is_harmless: fn(&ValueShape) -> bool,
}

/// A value, as far as its harmlessness depends on it.
#[derive(Debug, Default)]
struct ValueShape {
    /// Its identifiers, in lower case.
    words: Vec<String>,
    /// Its numbers and dimensions by layers, which commas separate: lengths in pixels, shares of the
    /// free space a thousand times as large.
    layers: Vec<Vec<f32>>,
    /// Its percentages; 1 is 100 %.
    parts: Vec<f32>,
    /// True if it has a function, or a token, whose value is unknown.
    is_unknown: bool,
}

impl ValueShape {
    fn numbers(&self) -> impl Iterator<Item = f32> {
        self.layers.iter().flatten().copied()
    }

    /// Returns true if there are no numbers, and no words but these.
    fn only(&self, words: &[&str]) -> bool {
        self.parts.is_empty()
            && self.numbers().next().is_none()
            && self.words.iter().all(|word| words.contains(&word.as_str()))
    }

    /// Returns true if all numbers are at least the one and at most the other, and none is a
    /// percentage.
    fn within(&self, least: f32, most: f32) -> bool {
        self.parts.is_empty() && self.numbers().all(|n| (least..=most).contains(&n))
    }

    /// Returns true if a number is too small for the size of a box.
    fn is_narrow(&self) -> bool {
        self.numbers().chain(self.parts.iter().map(|part| part * 1_000.0)).any(|n| n <= 2.0)
    }

    /// Returns true if each shadow is close to its box and spreads little.
    fn is_close_shadow(&self) -> bool {
        let is_close = |layer: &Vec<f32>| {
            let is_inset = self.words.iter().any(|word| word == "inset");
            let far = if is_inset { THIN } else { 60.0 };
            layer.iter().take(2).all(|offset| offset.abs() <= far)
                && layer.get(3).is_none_or(|spread| *spread <= THIN)
        };
        self.parts.is_empty() && self.layers.iter().all(is_close)
    }
}

const fn entry(
    name: &'static str,
    effect: OtherEffect,
    is_harmless: fn(&ValueShape) -> bool,
) -> OtherProperty {
    OtherProperty { name, effect, is_harmless }
}

/// The properties, by name and without `-webkit-`.
const OTHERS: &[OtherProperty] = &[
    entry("animation", OtherEffect::Redraws, |value| value.only(&["none"])),
    entry("animation-name", OtherEffect::Redraws, |value| value.only(&["none"])),
    entry("aspect-ratio", OtherEffect::Clips, |value| value.only(&["auto"])),
    entry("backdrop-filter", OtherEffect::Spreads, |value| value.only(&["none"])),
    entry("background-blend-mode", OtherEffect::Hides, |value| value.only(&["normal"])),
    entry("background-clip", OtherEffect::Hides, |value| {
        value.only(&["border-box", "padding-box", "content-box"])
    }),
    entry("background-position", OtherEffect::Hides, |value| {
        value.numbers().all(|n| n.abs() <= 100.0)
    }),
    // A background without a size is not drawn.
    entry("background-size", OtherEffect::Hides, |value| !value.is_narrow()),
    entry("border", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-block", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-block-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-bottom", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-bottom-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-inline", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-inline-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-left", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-left-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-right", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-right-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-top", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-top-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-image", OtherEffect::Paints, |value| value.only(&["none"])),
    entry("box-shadow", OtherEffect::Spreads, ValueShape::is_close_shadow),
    // Dark only: with `light dark`, messages are drawn in light colours here.
    entry("color-scheme", OtherEffect::Hides, |value| {
        value.words.iter().any(|word| word == "light" || word == "normal")
    }),
    entry("column-count", OtherEffect::Clips, |value| value.only(&["auto"])),
    entry("column-width", OtherEffect::Clips, |value| value.only(&["auto"])),
    entry("columns", OtherEffect::Clips, |value| value.only(&["auto"])),
    entry("contain", OtherEffect::Hides, |value| value.only(&["none", "style"])),
    entry("container-type", OtherEffect::Hides, |value| value.only(&["normal"])),
    entry("content-visibility", OtherEffect::Hides, |value| value.only(&["visible", "auto"])),
    entry("filter", OtherEffect::Hides, |value| value.only(&["none"])),
    // Without a basis, a box may have no width.
    entry("flex", OtherEffect::Clips, |value| {
        !value.words.is_empty() || value.numbers().nth(2).is_some_and(|basis| basis > 2.0)
    }),
    entry("flex-basis", OtherEffect::Clips, |value| !value.is_narrow()),
    entry("flex-flow", OtherEffect::Clips, |value| !value.words.iter().any(|word| word == "wrap")),
    entry("flex-wrap", OtherEffect::Clips, |value| value.only(&["nowrap"])),
    entry("font-size-adjust", OtherEffect::Hides, |value| value.within(0.3, 2.0)),
    entry("grid", OtherEffect::Clips, |value| !value.is_narrow()),
    entry("grid-auto-columns", OtherEffect::Clips, |value| !value.is_narrow()),
    entry("grid-auto-rows", OtherEffect::Clips, |value| !value.is_narrow()),
    entry("grid-template", OtherEffect::Clips, |value| !value.is_narrow()),
    entry("grid-template-columns", OtherEffect::Clips, |value| !value.is_narrow()),
    entry("grid-template-rows", OtherEffect::Clips, |value| !value.is_narrow()),
    entry("letter-spacing", OtherEffect::Hides, |value| value.within(-1.5, 50.0)),
    entry("line-clamp", OtherEffect::Clips, |value| value.only(&["none"])),
    entry("mask", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("mask-box-image", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("mask-box-image-source", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("mask-image", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("mix-blend-mode", OtherEffect::Hides, |value| value.only(&["normal"])),
    entry("offset", OtherEffect::Hides, |value| value.only(&["none", "normal"])),
    entry("offset-path", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("outline", OtherEffect::Spreads, |value| value.within(0.0, THIN)),
    entry("outline-offset", OtherEffect::Hides, |value| value.within(-THIN, f32::MAX)),
    entry("outline-width", OtherEffect::Spreads, |value| value.within(0.0, THIN)),
    entry("overflow-clip-margin", OtherEffect::Reveals, |value| value.within(0.0, 0.0)),
    entry("perspective", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("rotate", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("scale", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("tab-size", OtherEffect::Hides, |value| value.within(0.0, 200.0)),
    entry("text-decoration-thickness", OtherEffect::Hides, |value| value.within(0.0, 5.0)),
    entry("text-fill-color", OtherEffect::Redraws, |value| value.only(&["currentcolor"])),
    entry("text-security", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("text-shadow", OtherEffect::Reveals, |value| value.only(&["none"])),
    entry("text-stroke", OtherEffect::Redraws, |value| {
        value.numbers().next().is_some() && value.within(0.0, 0.5)
    }),
    entry("text-stroke-width", OtherEffect::Redraws, |value| {
        value.numbers().next().is_some() && value.within(0.0, 0.5)
    }),
    entry("text-wrap", OtherEffect::Clips, |value| {
        !value.words.iter().any(|word| word == "nowrap")
    }),
    entry("text-wrap-mode", OtherEffect::Clips, |value| value.only(&["wrap"])),
    entry("transform-origin", OtherEffect::Hides, |value| {
        value.words.iter().all(|word| word == "center")
            && value.parts.iter().all(|part| *part == 0.5)
            && value.numbers().next().is_none()
    }),
    entry("transform-style", OtherEffect::Hides, |value| value.only(&["flat"])),
    entry("translate", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("vertical-align", OtherEffect::Hides, |value| {
        value.numbers().chain(value.parts.iter().map(|part| part * 16.0)).all(|n| n.abs() <= 20.0)
    }),
    entry("will-change", OtherEffect::Hides, |value| {
        value.only(&["auto", "contents", "opacity", "scroll-position"])
    }),
    entry("word-spacing", OtherEffect::Hides, |value| value.within(-10.0, 100.0)),
    entry("writing-mode", OtherEffect::Hides, |value| value.only(&["horizontal-tb"])),
    entry("zoom", OtherEffect::Hides, |value| {
        value.numbers().chain(value.parts.iter().copied()).all(|n| (1.0..=4.0).contains(&n))
    }),
];

/// Thickness of a line that does not cover text, in pixels.
const THIN: f32 = 8.0;

fn property(name: &str) -> Option<&'static OtherProperty> {
    let name = name.strip_prefix("-webkit-").unwrap_or(name);
    OTHERS.iter().find(|other| other.name == name)
}

/// Returns true for a name, in lower case, in the table.
pub fn is_other(name: &str) -> bool {
    property(name).is_some()
}

/// Returns the effect of a property that is set to a value that is not harmless.
pub fn effect(name: &str) -> OtherEffect {
    property(name).map_or(OtherEffect::Hides, |other| other.effect)
}

/// Reads a value: [`PropertyValue::Unknown`] unless it is harmless. `None` if the table does not have
/// the property, or the value is empty.
pub fn read(name: &str, input: &mut Parser<'_>) -> Option<(CssProperty, PropertyValue)> {
    let other = property(name)?;
    if input.is_exhausted() {
        return None;
    }
    let mut shape = ValueShape { layers: vec![Vec::new()], ..ValueShape::default() };
    collect(input, &mut shape);
    let wide = ["inherit", "initial", "unset"];
    let is_harmless = !shape.is_unknown && (shape.only(&wide) || (other.is_harmless)(&shape))
        || is_foreign(&shape);
    let value = if is_harmless { PropertyValue::Word("harmless") } else { PropertyValue::Unknown };
    Some((CssProperty::Other(other.name), value))
}

/// Returns true for a filter of Internet Explorer, which is no valid value.
fn is_foreign(shape: &ValueShape) -> bool {
    matches!(shape.words.first().map(String::as_str), Some("progid" | "alpha"))
}

/// Adds the tokens of a value, and of its functions, to `shape`.
fn collect(input: &mut Parser<'_>, shape: &mut ValueShape) {
    const COLOURS: &[&str] = &["rgb", "rgba", "hsl", "hsla"];
    const TRACKS: &[&str] = &["repeat", "minmax", "fit-content"];
    while let Ok(token) = input.next().cloned() {
        match token {
            Token::Ident(word) => shape.words.push(word.to_ascii_lowercase()),
            Token::Hash(_) | Token::IDHash(_) => shape.words.push("#".to_owned()),
            Token::Number { value, .. } => push(shape, value),
            Token::Percentage { unit_value, .. } => shape.parts.push(unit_value),
            Token::Dimension { value, unit, .. } => push(shape, pixels(value, &unit)),
            Token::Comma => shape.layers.push(Vec::new()),
            Token::Delim('/') => {}
            Token::Function(name) => {
                let name = name.to_ascii_lowercase();
                let mut args = ValueShape { layers: vec![Vec::new()], ..ValueShape::default() };
                let read = input.parse_nested_block(|input| {
                    collect(input, &mut args);
                    Ok::<_, ParseError<()>>(())
                });
                // The arguments of a colour are no sizes.
                if !COLOURS.contains(&name.as_str()) {
                    shape.is_unknown |=
                        !TRACKS.contains(&name.as_str()) || args.is_unknown || read.is_err();
                    args.numbers().for_each(|n| push(shape, n));
                    shape.parts.append(&mut args.parts);
                }
                shape.words.push(name);
            }
            _ => shape.is_unknown = true,
        }
    }
}

fn push(shape: &mut ValueShape, n: f32) {
    if let Some(layer) = shape.layers.last_mut() {
        layer.push(n);
    }
}

/// Returns a dimension in pixels; other units than lengths without regard to their unit.
fn pixels(value: f32, unit: &str) -> f32 {
    let by = match unit.to_ascii_lowercase().as_str() {
        "em" | "rem" | "ex" | "ch" | "lh" | "pc" => 16.0,
        "pt" => 96.0 / 72.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 96.0 / 25.4,
        "vw" | "vmax" => 12.8,
        "vh" | "vmin" => 8.0,
        // A share of the free space.
        "fr" => 1_000.0,
        _ => 1.0,
    };
    value * by
}
