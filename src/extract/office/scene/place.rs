//! Whether a shape is on the slide, and shows the text in it, by its place and its size.

use super::{INSET, POINT, SlideArea, SlideScene, SlideShape};
use crate::HidingMethod;
use crate::run_style::{FLAT, TextVisibility};

/// The least average width of a character, as a part of its size.
const NARROW: f64 = 0.4;
/// How much higher than its shape a text has to be to be cut off.
const OVER: f64 = 2.0;

impl SlideScene {
    /// Returns whether a shape shows its text, on a slide of this size in units of drawings.
    pub fn place(&self, shape: usize, size: (f64, f64)) -> TextVisibility {
        let Some(shape) = self.own.get(shape) else { return TextVisibility::Seen };
        let Some(place) = shape.place else { return TextVisibility::Seen };
        // Nobody knows how far it is turned, but it stays within a circle.
        let around = if shape.turned { place.around() } else { place };
        if around.is_off(size) {
            TextVisibility::Hidden(HidingMethod::OffPage)
        } else if shape.frame || shape.turned {
            // The stated size of a table may be too small.
            TextVisibility::Seen
        } else if shape.inner(place).is_off(size) {
            TextVisibility::Doubt(HidingMethod::OffPage)
        } else {
            shape.room(place)
        }
    }

    /// Returns the left edge of a shape in points, if that is known.
    pub fn edge(&self, shape: usize) -> Option<f64> {
        let shape = self.own.get(shape).filter(|shape| !shape.turned)?;
        Some(shape.place?.x / POINT)
    }
}

impl SlideShape {
    /// Returns the area in a shape in which its text begins.
    fn inner(&self, place: SlideArea) -> SlideArea {
        let [left, top, right, bottom] =
            self.text.insets.map(std::option::Option::unwrap_or_default);
        SlideArea {
            x: place.x + left,
            y: place.y + top,
            wide: place.wide - left - right,
            high: place.high - top - bottom,
        }
    }

    /// Returns whether a shape of this size has room for its text.
    fn room(&self, place: SlideArea) -> TextVisibility {
        let flat = place.wide.min(place.high) < FLAT * POINT;
        let wide = (place.wide - 2.0 * INSET).max(1.0);
        let lines = self.text.paragraphs.iter().map(|(count, size)| {
            let long = count * size * POINT * NARROW;
            (long / wide).ceil() * size * POINT
        });
        let clipped = self.text.clips && lines.sum::<f64>() > OVER * place.high;
        if flat && self.text.clips {
            TextVisibility::Hidden(HidingMethod::Clipped)
        } else if (flat || clipped) && !self.text.fits {
            TextVisibility::Doubt(HidingMethod::Clipped)
        } else {
            TextVisibility::Seen
        }
    }
}

impl SlideArea {
    /// Returns true if this is beside a slide of this size.
    fn is_off(&self, (wide, high): (f64, f64)) -> bool {
        let (right, bottom) = (self.x + self.wide, self.y + self.high);
        right < 0.0 || bottom < 0.0 || self.x >= wide || self.y >= high
    }

    /// Returns the square that this is in, however it is turned.
    fn around(&self) -> Self {
        let long = f64::hypot(self.wide, self.high);
        let (x, y) = (self.x + self.wide / 2.0, self.y + self.high / 2.0);
        Self { x: x - long / 2.0, y: y - long / 2.0, wide: long, high: long }
    }
}
