//! Properties that can hide text but are not computed.
//!
//! Mail programs drop most of them. Of each, only the values are known that leave text visible. With
//! any other value, text is in doubt.

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
    /// The element may cover text beside it.
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
    /// Returns true if text with this value stays visible.
    is_harmless: fn(&ValueShape) -> bool,
}

/// A value, as far as its harmlessness depends on it.
#[derive(Debug, Default)]
struct ValueShape {
    /// Its identifiers, in lower case.
    words: Vec<String>,
    /// Its numbers and dimensions, including those in functions: lengths in pixels, other units
    /// without regard to their unit, percentages with 1 for 100 %.
    numbers: Vec<f32>,
}

impl ValueShape {
    /// Returns true if there are no numbers, and no words but these.
    fn only(&self, words: &[&str]) -> bool {
        self.numbers.is_empty() && self.words.iter().all(|word| words.contains(&word.as_str()))
    }

    /// Returns true if all numbers are at least the one and at most the other.
    fn within(&self, least: f32, most: f32) -> bool {
        self.numbers.iter().all(|n| (least..=most).contains(n))
    }

    /// Returns true if a number is zero.
    fn has_zero(&self) -> bool {
        self.numbers.contains(&0.0)
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
    entry("backdrop-filter", OtherEffect::Paints, |value| value.only(&["none"])),
    entry("background-clip", OtherEffect::Hides, |value| {
        value.only(&["border-box", "padding-box", "content-box"])
    }),
    // A background without a size is not drawn.
    entry("background-size", OtherEffect::Hides, |value| !value.has_zero()),
    entry("border", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-bottom", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-left", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-right", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-top", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    entry("border-width", OtherEffect::Paints, |value| value.within(0.0, THIN)),
    // Only a shadow that spreads covers text; the blur before it does not.
    entry("box-shadow", OtherEffect::Spreads, |value| {
        value.numbers.len() < 4 || value.within(-THIN, THIN)
    }),
    // Dark only: with `light dark`, messages are drawn in light colours here.
    entry("color-scheme", OtherEffect::Hides, |value| {
        value.words.iter().any(|word| word == "light" || word == "normal")
    }),
    entry("column-count", OtherEffect::Clips, |value| value.only(&["auto"])),
    entry("column-width", OtherEffect::Clips, |value| value.only(&["auto"])),
    entry("columns", OtherEffect::Clips, |value| value.only(&["auto"])),
    entry("contain", OtherEffect::Hides, |value| value.only(&["none", "layout", "style"])),
    entry("container-type", OtherEffect::Hides, |value| value.only(&["normal"])),
    entry("content-visibility", OtherEffect::Hides, |value| value.only(&["visible", "auto"])),
    // Filters of Internet Explorer are no valid values.
    entry("filter", OtherEffect::Hides, |value| {
        value.only(&["none"]) || value.words.iter().any(|word| word == "progid" || word == "alpha")
    }),
    // Without a basis, a box may have no width.
    entry("flex", OtherEffect::Clips, |value| {
        !value.words.is_empty() || matches!(value.numbers[..], [_, _, basis] if basis > 0.0)
    }),
    entry("flex-basis", OtherEffect::Clips, |value| !value.has_zero()),
    entry("flex-flow", OtherEffect::Clips, |value| !value.words.iter().any(|word| word == "wrap")),
    entry("flex-wrap", OtherEffect::Clips, |value| value.only(&["nowrap"])),
    entry("font-size-adjust", OtherEffect::Hides, |value| value.within(0.3, 2.0)),
    entry("grid", OtherEffect::Clips, |value| !value.has_zero()),
    entry("grid-auto-rows", OtherEffect::Clips, |value| !value.has_zero()),
    entry("grid-template", OtherEffect::Clips, |value| !value.has_zero()),
    entry("grid-template-columns", OtherEffect::Clips, |value| !value.has_zero()),
    entry("grid-template-rows", OtherEffect::Clips, |value| !value.has_zero()),
    entry("letter-spacing", OtherEffect::Hides, |value| value.within(-3.0, 50.0)),
    entry("line-clamp", OtherEffect::Clips, |value| value.only(&["none"])),
    entry("mask", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("mask-box-image", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("mask-image", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("mix-blend-mode", OtherEffect::Hides, |value| value.only(&["normal"])),
    entry("offset", OtherEffect::Hides, |value| value.only(&["none", "normal"])),
    entry("offset-path", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("outline", OtherEffect::Spreads, |value| value.within(0.0, THIN)),
    entry("outline-width", OtherEffect::Spreads, |value| value.within(0.0, THIN)),
    entry("outline-offset", OtherEffect::Hides, |value| value.within(-THIN, f32::MAX)),
    entry("overflow-clip-margin", OtherEffect::Reveals, |value| value.within(0.0, 0.0)),
    entry("perspective", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("rotate", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("scale", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("text-decoration-thickness", OtherEffect::Hides, |value| value.within(0.0, 5.0)),
    entry("text-fill-color", OtherEffect::Redraws, |value| value.only(&["currentcolor"])),
    entry("text-security", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("text-shadow", OtherEffect::Reveals, |value| value.only(&["none"])),
    entry("text-stroke", OtherEffect::Redraws, |value| value.within(0.0, 0.5)),
    entry("text-stroke-width", OtherEffect::Redraws, |value| value.within(0.0, 0.5)),
    entry("text-wrap", OtherEffect::Clips, |value| {
        !value.words.iter().any(|word| word == "nowrap")
    }),
    entry("text-wrap-mode", OtherEffect::Clips, |value| value.only(&["wrap"])),
    entry("transform-origin", OtherEffect::Hides, |value| value.within(-1.0, 100.0)),
    entry("transform-style", OtherEffect::Hides, |value| value.only(&["flat"])),
    entry("translate", OtherEffect::Hides, |value| value.only(&["none"])),
    entry("vertical-align", OtherEffect::Hides, |value| value.within(-20.0, 20.0)),
    entry("word-spacing", OtherEffect::Hides, |value| value.within(-10.0, 100.0)),
    entry("zoom", OtherEffect::Hides, |value| value.within(0.5, 4.0)),
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
/// the property.
pub fn read(name: &str, input: &mut Parser<'_>) -> Option<(CssProperty, PropertyValue)> {
    let other = property(name)?;
    let mut shape = ValueShape::default();
    collect(input, &mut shape);
    let wide = ["inherit", "initial", "unset"];
    let is_harmless = shape.only(&wide) || (other.is_harmless)(&shape);
    let value = if is_harmless { PropertyValue::Word("harmless") } else { PropertyValue::Unknown };
    Some((CssProperty::Other(other.name), value))
}

/// Adds the tokens of a value and of its functions to `shape`.
fn collect(input: &mut Parser<'_>, shape: &mut ValueShape) {
    while let Ok(token) = input.next().cloned() {
        match token {
            Token::Ident(word) => shape.words.push(word.to_ascii_lowercase()),
            Token::Number { value, .. } => shape.numbers.push(value),
            Token::Percentage { unit_value, .. } => shape.numbers.push(unit_value),
            Token::Dimension { value, unit, .. } => {
                let is_relative = ["em", "rem", "ex", "ch"]
                    .iter()
                    .any(|relative| unit.eq_ignore_ascii_case(relative));
                shape.numbers.push(if is_relative { value * 16.0 } else { value });
            }
            Token::Function(name) => {
                let name = name.to_ascii_lowercase();
                // The arguments of a colour are no sizes.
                let is_colour = ["rgb", "rgba", "hsl", "hsla"].contains(&name.as_str());
                let read = input.parse_nested_block(|input| {
                    let mut args = ValueShape::default();
                    collect(input, &mut args);
                    Ok::<_, ParseError<()>>(args.numbers)
                });
                if !is_colour {
                    shape.words.push(name);
                    shape.numbers.extend(read.unwrap_or_default());
                }
            }
            Token::Hash(_) | Token::IDHash(_) => shape.words.push("#".to_owned()),
            Token::Comma | Token::Delim('/') => {}
            // Anything else is no value that is harmless.
            _ => shape.numbers.push(f32::NAN),
        }
    }
}
