//! What an element looks like, as far as it decides whether text is seen.
//!
//! The computed values of one element: what it takes over from around it, and what is
//! set on it alone. What they come to on the page is up to `sight`.

use std::rc::Rc;

use super::super::values::color::{BLACK, Paint, Rgba};
use super::super::values::property::{Call, Image, Property, Value, Wide, is_inherited};
use super::super::values::value::{Kind, Quantity, Scale};
use super::custom::Vars;

/// The size of a font that nobody set.
pub const FONT: f32 = 16.0;

/// The computed style of an element.
#[derive(Debug, Clone)]
pub struct Look {
    /// The size of the font, in pixels.
    pub font: f32,
    /// True if that is measured by the font around: browsers do not draw it tiny then.
    pub relative: bool,
    /// The colour of text; unknown if it is not computed.
    pub color: Option<Rgba>,
    /// Custom properties.
    pub vars: Vars,
    /// What was taken over, but for the above.
    inherited: Rc<Vec<(Property, Value)>>,
    /// What is set on this element alone.
    own: Vec<(Property, Value)>,
    /// True if a value that may hide it is not computed.
    pub unclear: bool,
    /// Its first line or letter, or its placeholder, if that looks different.
    pub first: Option<Box<Look>>,
    /// What is drawn before and after what it holds.
    pub before: Option<Box<Look>>,
    pub after: Option<Box<Look>>,
    /// True if it shows no more of its content than a summary.
    pub closed: bool,
}

impl Look {
    /// Returns the look of the page before any element: black on white.
    pub fn page() -> Self {
        Self {
            font: FONT,
            relative: false,
            color: Some(BLACK),
            vars: Vars::default(),
            inherited: Rc::default(),
            own: Vec::new(),
            unclear: false,
            first: None,
            before: None,
            after: None,
            closed: false,
        }
    }

    /// Returns the look of an element in this one about which nothing is said.
    pub fn child(&self) -> Self {
        Self {
            vars: Rc::clone(&self.vars),
            inherited: Rc::clone(&self.inherited),
            own: Vec::new(),
            unclear: false,
            first: None,
            before: None,
            after: None,
            closed: false,
            ..*self
        }
    }

    /// Returns the value of a property, if it was set.
    pub fn get(&self, property: Property) -> Option<&Value> {
        let values = if is_inherited(property) { &*self.inherited } else { &self.own };
        values.iter().find(|(name, _)| *name == property).map(|(_, value)| value)
    }

    /// Sets a value that is valid for the property; `around` is the look of what
    /// holds the element.
    pub fn set(&mut self, property: Property, value: &Value, around: &Self, rem: f32) {
        let value = match value {
            Value::Wide(Wide::Inherit) => return self.inherit(property, around),
            Value::Wide(Wide::Initial) => return self.reset(property),
            Value::Wide(_) if is_inherited(property) => return self.inherit(property, around),
            Value::Wide(_) => return self.reset(property),
            value => value,
        };
        if *value == Value::Unknown {
            self.unclear = true;
            return self.reset(property);
        }
        match property {
            Property::FontSize => self.font_size(value, around, rem),
            Property::Color => {
                if let Value::Paint(paint) = value {
                    let dark = self.is(Property::ColorScheme, "dark");
                    self.color = paint.resolve(around.color, dark);
                    self.unclear |= self.color.is_none() && around.color.is_some();
                }
            }
            _ => {
                let value = match value {
                    Value::Amount(amount) => Value::Size(amount.compute(&self.scale(rem))),
                    value => value.clone(),
                };
                self.put(property, Some(value));
            }
        }
    }

    fn inherit(&mut self, property: Property, around: &Self) {
        match property {
            Property::FontSize => (self.font, self.relative) = (around.font, around.relative),
            Property::Color => self.color = around.color,
            _ => {
                let value = around.get(property).cloned();
                self.put(property, value);
            }
        }
    }

    fn reset(&mut self, property: Property) {
        match property {
            Property::FontSize => (self.font, self.relative) = (FONT, false),
            Property::Color => self.color = Some(BLACK),
            _ => self.put(property, None),
        }
    }

    fn put(&mut self, property: Property, value: Option<Value>) {
        if is_inherited(property) && self.get(property) == value.as_ref() {
            return;
        }
        let values =
            if is_inherited(property) { Rc::make_mut(&mut self.inherited) } else { &mut self.own };
        values.retain(|(name, _)| *name != property);
        values.extend(value.map(|value| (property, value)));
    }

    fn font_size(&mut self, value: &Value, around: &Self, rem: f32) {
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
            Value::Word("smaller") => (self.font, self.relative) = (around.font / 1.2, true),
            Value::Word("larger") => (self.font, self.relative) = (around.font * 1.2, true),
            Value::Word(name) => (self.font, self.relative) = (word(name), false),
            Value::Amount(amount) => {
                let size = amount.compute(&around.scale(rem));
                self.font = size.px(around.font).max(0.0);
                self.relative = (size.relative || size.part != 0.0) && !is_mixed(&size);
            }
            _ => {}
        }
    }

    /// Returns what relative lengths in this element come to.
    pub fn scale(&self, rem: f32) -> Scale<'static> {
        Scale { em: self.font, rem, names: &[] }
    }

    /// Returns a value that is a word.
    pub fn word(&self, property: Property) -> Option<&'static str> {
        match self.get(property) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Returns true if a value is this word.
    pub fn is(&self, property: Property, word: &str) -> bool {
        self.word(property) == Some(word)
    }

    /// Returns a value that is a number.
    pub fn size(&self, property: Property) -> Option<Quantity> {
        match self.get(property) {
            Some(Value::Size(size)) => Some(*size),
            _ => None,
        }
    }

    /// Returns a length in pixels, with percentages of `base`; `None` if there is no
    /// base for them.
    pub fn px(&self, property: Property, base: Option<f32>) -> Option<f32> {
        let size = self.size(property)?;
        match (size.part, base) {
            (0.0, _) => Some(size.n),
            (_, Some(base)) => Some(size.px(base)),
            _ => None,
        }
    }

    /// Returns a value that is made of functions.
    pub fn calls(&self, property: Property) -> &[Call] {
        match self.get(property) {
            Some(Value::Calls(calls)) => calls,
            _ => &[],
        }
    }

    /// Returns the images of a property.
    pub fn images(&self, property: Property) -> &[Image] {
        match self.get(property) {
            Some(Value::Images(images)) => images,
            _ => &[],
        }
    }

    /// Returns a colour; unknown ones are none.
    pub fn paint(&self, paint: &Paint) -> Option<Rgba> {
        paint.resolve(self.color, self.is(Property::ColorScheme, "dark"))
    }
}

/// Returns true for a size that is partly absolute: that is drawn as small as it says.
fn is_mixed(size: &Quantity) -> bool {
    size.kind == Kind::Length && size.part != 0.0 && size.n != 0.0
}
