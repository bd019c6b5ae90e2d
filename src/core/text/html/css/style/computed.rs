//! The computed style of an element, as far as it decides whether text is seen.
//!
//! It consists of inherited values and of values set on the element alone. Their effect on the page
//! is in `visibility`.

use std::rc::Rc;

use super::super::values::color::{BLACK, Rgba, WrittenColour};
use super::super::values::other::{self, OtherEffect};
use super::super::values::property::{
    CssImage, CssProperty, NumericFunction, PropertyValue, WideKeyword, is_inherited,
};
use super::super::values::value::{ComputedNumber, NumberKind, UnitScale};

/// The initial font size, in pixels.
pub const FONT: f32 = 16.0;

/// The computed style of an element.
#[derive(Debug, Clone)]
pub struct ComputedStyle {
    /// The size of the font, in pixels.
    pub font: f32,
    /// True if the font size is relative to the parent's, so that browsers enforce a minimum size.
    pub relative: bool,
    /// The colour of text.
    pub color: Rgba,
    /// Inherited values other than the above.
    inherited: Rc<Vec<(CssProperty, PropertyValue)>>,
    /// Values set on this element alone.
    own: Vec<(CssProperty, PropertyValue)>,
    /// True if a value that may hide the element is not computed.
    pub unclear: bool,
    /// The effects of properties that are not computed.
    others: Vec<OtherEffect>,
    /// The style of its first line, first letter or placeholder, if that differs.
    pub first: Option<Box<ComputedStyle>>,
    /// `::before` and `::after` content.
    pub before: Option<Box<ComputedStyle>>,
    pub after: Option<Box<ComputedStyle>>,
    /// True for `details` that show only their summary.
    pub closed: bool,
}

impl ComputedStyle {
    /// Returns the style outside all elements: black on white.
    pub fn page() -> Self {
        Self {
            font: FONT,
            relative: false,
            color: BLACK,
            inherited: Rc::default(),
            own: Vec::new(),
            unclear: false,
            others: Vec::new(),
            first: None,
            before: None,
            after: None,
            closed: false,
        }
    }

    /// Returns the style of a child without declarations.
    pub fn child(&self) -> Self {
        Self {
            inherited: Rc::clone(&self.inherited),
            own: Vec::new(),
            unclear: false,
            others: Vec::new(),
            first: None,
            before: None,
            after: None,
            closed: false,
            ..*self
        }
    }

    /// Returns the value of a property, if it is set.
    pub fn get(&self, property: CssProperty) -> Option<&PropertyValue> {
        let values = if is_inherited(property) { &*self.inherited } else { &self.own };
        values.iter().find(|(name, _)| *name == property).map(|(_, value)| value)
    }

    /// Sets a valid value of a property; `around` is the style of the parent, `rem` the root's font
    /// size in pixels.
    pub fn set(&mut self, property: CssProperty, value: &PropertyValue, around: &Self, rem: f32) {
        let value = match value {
            PropertyValue::Wide(WideKeyword::Inherit) => return self.inherit(property, around),
            PropertyValue::Wide(WideKeyword::Initial) => return self.reset(property),
            PropertyValue::Wide(_) if is_inherited(property) => {
                return self.inherit(property, around);
            }
            PropertyValue::Wide(_) => return self.reset(property),
            value => value,
        };
        // A value that is not computed leaves the element in doubt.
        if *value == PropertyValue::Unknown {
            match property {
                CssProperty::Other(name) => {
                    let effect = other::effect(name);
                    self.unclear |= matches!(effect, OtherEffect::Hides | OtherEffect::Spreads);
                    self.others.push(effect);
                }
                _ => self.unclear = true,
            }
            return self.reset(property);
        }
        match property {
            CssProperty::FontSize => self.font_size(value, around, rem),
            CssProperty::Color => {
                if let PropertyValue::Paint(paint) = value {
                    self.color = paint.resolve(around.color);
                }
            }
            _ => {
                let value = match value {
                    PropertyValue::Amount(amount) => {
                        PropertyValue::Size(amount.compute(&self.scale(rem)))
                    }
                    value => value.clone(),
                };
                self.set_value(property, Some(value));
            }
        }
    }

    fn inherit(&mut self, property: CssProperty, around: &Self) {
        match property {
            CssProperty::FontSize => (self.font, self.relative) = (around.font, around.relative),
            CssProperty::Color => self.color = around.color,
            _ => {
                let value = around.get(property).cloned();
                self.set_value(property, value);
            }
        }
    }

    fn reset(&mut self, property: CssProperty) {
        match property {
            CssProperty::FontSize => (self.font, self.relative) = (FONT, false),
            CssProperty::Color => self.color = BLACK,
            _ => self.set_value(property, None),
        }
    }

    /// Sets a property to its computed value; `None` removes it.
    fn set_value(&mut self, property: CssProperty, value: Option<PropertyValue>) {
        // An unchanged value must not copy the list that the element shares with its parent.
        if is_inherited(property) && self.get(property) == value.as_ref() {
            return;
        }
        let values =
            if is_inherited(property) { Rc::make_mut(&mut self.inherited) } else { &mut self.own };
        values.retain(|(name, _)| *name != property);
        values.extend(value.map(|value| (property, value)));
    }

    fn font_size(&mut self, value: &PropertyValue, around: &Self, rem: f32) {
        let word = |word: &str| match word {
            "xx-small" => 9.0,
            "x-small" => 10.0,
            "small" => 13.0,
            "large" => 18.0,
            "x-large" => 24.0,
            "xx-large" => 32.0,
            "xxx-large" => 48.0,
            _ => FONT,
        };
        match value {
            PropertyValue::Word("smaller") => {
                (self.font, self.relative) = (around.font / 1.2, true);
            }
            PropertyValue::Word("larger") => (self.font, self.relative) = (around.font * 1.2, true),
            PropertyValue::Word(name) => (self.font, self.relative) = (word(name), false),
            PropertyValue::Amount(amount) => {
                let size = amount.compute(&around.scale(rem));
                self.font = size.px(around.font).max(0.0);
                self.relative = (size.relative || size.part != 0.0) && !is_mixed(&size);
            }
            _ => {}
        }
    }

    /// Returns the scale of relative lengths in this element.
    pub fn scale(&self, rem: f32) -> UnitScale {
        UnitScale { em: self.font, rem }
    }

    /// Returns true for a box that is out of the flow.
    pub fn is_lifted(&self) -> bool {
        matches!(self.keyword(CssProperty::Position), Some("absolute" | "fixed"))
    }

    /// Returns true if a property that is not computed has this effect.
    pub fn has(&self, effect: OtherEffect) -> bool {
        self.others.contains(&effect)
    }

    /// Returns the value of a property if it is a keyword.
    pub fn keyword(&self, property: CssProperty) -> Option<&'static str> {
        match self.get(property) {
            Some(PropertyValue::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Returns true if the value of a property is `word`.
    pub fn is(&self, property: CssProperty, word: &str) -> bool {
        self.keyword(property) == Some(word)
    }

    /// Returns the value of a property if it is a number.
    pub fn size(&self, property: CssProperty) -> Option<ComputedNumber> {
        match self.get(property) {
            Some(PropertyValue::Size(size)) => Some(*size),
            _ => None,
        }
    }

    /// Returns a length in pixels, with percentages of `base`; `None` for a percentage without a
    /// base.
    pub fn px(&self, property: CssProperty, base: Option<f32>) -> Option<f32> {
        let size = self.size(property)?;
        match (size.part, base) {
            (0.0, _) => Some(size.n),
            (_, Some(base)) => Some(size.px(base)),
            _ => None,
        }
    }

    /// Returns the functions in the value of a property.
    pub fn calls(&self, property: CssProperty) -> &[NumericFunction] {
        match self.get(property) {
            Some(PropertyValue::Calls(calls)) => calls,
            _ => &[],
        }
    }

    /// Returns the images in the value of a property.
    pub fn images(&self, property: CssProperty) -> &[CssImage] {
        match self.get(property) {
            Some(PropertyValue::Images(images)) => images,
            _ => &[],
        }
    }

    /// Resolves a colour in this element.
    pub fn paint(&self, paint: &WrittenColour) -> Rgba {
        paint.resolve(self.color)
    }
}

/// Returns true for a size with an absolute part, which is drawn as small as it says.
fn is_mixed(size: &ComputedNumber) -> bool {
    size.kind == NumberKind::Length && size.part != 0.0 && size.n != 0.0
}
