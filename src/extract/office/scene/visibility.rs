//! Visibility of the text in a shape, judged by the position and size of the shape.

use super::SlideScene;
use super::shape::{INSET, POINT, SlideArea, SlideShape};
use daysheet_core::text::visibility::{FLAT, HidingMethod, TextVisibility};

/// The smallest average width of a character, as a fraction of its size.
const NARROW: f64 = 0.4;
/// The ratio between the heights of a text and its shape from which the text counts as cut off.
const OVER: f64 = 2.0;

impl SlideScene {
    /// Returns the visibility of the text in a shape, on a slide of this size in drawing units.
    pub fn visibility(&self, shape: usize, size: (f64, f64)) -> TextVisibility {
        let Some(shape) = self.own.get(shape) else { return TextVisibility::Seen };
        let Some(area) = shape.area else { return TextVisibility::Seen };
        // The angle is not read, but a rotated shape stays within a circle.
        let around = if shape.turned { area.around() } else { area };
        if around.is_off(size) {
            TextVisibility::Hidden(HidingMethod::OffPage)
        } else if shape.frame || shape.turned {
            // The stated size of a table may be too small, as rows grow with their text.
            TextVisibility::Seen
        } else if shape.inner(area).is_off(size) {
            TextVisibility::Doubt(HidingMethod::OffPage)
        } else {
            shape.room(area)
        }
    }

    /// Returns the left edge of a shape in points, if it is known.
    pub fn edge(&self, shape: usize) -> Option<f64> {
        let shape = self.own.get(shape).filter(|shape| !shape.turned)?;
        Some(shape.area?.x / POINT)
    }
}

impl SlideShape {
    /// Returns the area of a shape without its insets.
    fn inner(&self, area: SlideArea) -> SlideArea {
        let [left, top, right, bottom] =
            self.text.insets.map(std::option::Option::unwrap_or_default);
        SlideArea {
            x: area.x + left,
            y: area.y + top,
            wide: area.wide - left - right,
            high: area.high - top - bottom,
        }
    }

    /// Returns the visibility of the text in a shape of this size.
    fn room(&self, area: SlideArea) -> TextVisibility {
        let flat = area.wide.min(area.high) < FLAT * POINT;
        let wide = (area.wide - 2.0 * INSET).max(1.0);
        let lines = self.text.paragraphs.iter().map(|(count, size)| {
            let long = count * size * POINT * NARROW;
            (long / wide).ceil() * size * POINT
        });
        let clipped = self.text.clips && lines.sum::<f64>() > OVER * area.high;
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
    /// Returns true if this area is off a slide of this size.
    fn is_off(&self, (wide, high): (f64, f64)) -> bool {
        let (right, bottom) = (self.x + self.wide, self.y + self.high);
        right < 0.0 || bottom < 0.0 || self.x >= wide || self.y >= high
    }

    /// Returns the square that contains this area at any rotation.
    fn around(&self) -> Self {
        let long = f64::hypot(self.wide, self.high);
        let (x, y) = (self.x + self.wide / 2.0, self.y + self.high / 2.0);
        Self { x: x - long / 2.0, y: y - long / 2.0, wide: long, high: long }
    }
}
