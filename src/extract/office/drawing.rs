//! Drawings of Word documents, as far as position and size decide on the visibility of their text:
//! anchored ones (DrawingML) and VML shapes.

use crate::run_style::PageSize;
use daysheet_core::text::visibility::{FLAT, HidingMethod};

/// English Metric Units in a point.
pub const EMU: f64 = 12_700.0;

/// An open drawing, with its position and size in points.
#[derive(Default)]
pub struct OpenDrawing {
    /// The horizontal distance, and the edge it is measured from.
    pub x: Option<(f64, String)>,
    /// The vertical distance, and the edge it is measured from.
    pub y: Option<(f64, String)>,
    /// Its width.
    pub wide: Option<f64>,
    /// Its height.
    pub high: Option<f64>,
    /// The method of hiding, if the drawing is hidden.
    pub hidden: Option<HidingMethod>,
}

impl OpenDrawing {
    /// Parses the style of a VML shape (ECMA-376, part 4, 19.1).
    pub fn of_style(style: &str) -> Self {
        let value = |name: &str| {
            let pairs = style.split(';').filter_map(|pair| pair.split_once(':'));
            pairs.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name)
        };
        let length = |name: &str| length(value(name)?.1);
        let side = |margin: &str, side: &str, relative: &str| {
            let from = value(relative).map_or("", |(_, from)| from);
            let offset = length(margin).or_else(|| length(side))?;
            Some((offset, from.to_owned()))
        };
        let hidden = value("visibility").is_some_and(|(_, value)| value == "hidden")
            || value("display").is_some_and(|(_, value)| value == "none");
        Self {
            x: side("margin-left", "left", "mso-position-horizontal-relative"),
            y: side("margin-top", "top", "mso-position-vertical-relative"),
            wide: length("width"),
            high: length("height"),
            hidden: hidden.then_some(HidingMethod::Marked),
        }
    }

    /// Returns the way in which the drawing is hidden: by its mark, size or position.
    pub fn hides(&self, sheet: &PageSize, marked: bool) -> Option<HidingMethod> {
        let flat = |side: Option<f64>| side.is_some_and(|side| side < FLAT);
        let x = self.x.as_ref().map_or((0.0, ""), |(offset, from)| (*offset, from.as_str()));
        let y = self.y.as_ref().map_or((0.0, ""), |(offset, from)| (*offset, from.as_str()));
        if marked {
            Some(HidingMethod::Marked)
        } else if flat(self.wide) || flat(self.high) {
            Some(HidingMethod::Clipped)
        } else if sheet.is_beside(x, self.wide, sheet.wide)
            || sheet.is_beside(y, self.high, sheet.high)
        {
            Some(HidingMethod::OffPage)
        } else {
            None
        }
    }
}

/// Returns true for VML elements that have a position and may have text.
pub fn is_vml_shape(name: &str) -> bool {
    matches!(name, "v:shape" | "v:rect" | "v:roundrect" | "v:oval" | "v:group")
}

/// Parses a CSS length into points. Returns `None` unless the unit is absolute.
fn length(value: &str) -> Option<f64> {
    let unit =
        value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let number: f64 = value.strip_suffix(unit)?.parse().ok()?;
    let points = match unit {
        "pt" => 1.0,
        "in" => 72.0,
        "cm" => 72.0 / 2.54,
        "mm" => 72.0 / 25.4,
        "pc" => 12.0,
        "px" => 0.75,
        // Zero needs no unit.
        "" if number == 0.0 => 1.0,
        _ => return None,
    };
    Some(number * points)
}
