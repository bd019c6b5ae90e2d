//! The shapes of a slide, layout or master: their areas, fills and texts.
//!
//! `read.rs` reads them; the parent module decides on the colours behind a text.

use std::collections::HashSet;

use crate::office::theme::ShapePaint;
use crate::run_style::InkColour;

/// The namespaces of slides.
pub const SLIDE: &[&str] = &["p", "a"];
/// Drawing units in a point.
pub const POINT: f64 = 12_700.0;
/// The default margin between a shape's edge and its text, in drawing units.
pub(super) const INSET: f64 = 91_440.0;
/// The default size of text, in points.
pub const SIZE: f64 = 18.0;

/// A part of a slide, in drawing units.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlideArea {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) wide: f64,
    pub(super) high: f64,
}

impl SlideArea {
    /// Returns the share of `inner` that is in this area, of 1.
    pub(super) fn share(&self, inner: &Self) -> f64 {
        let along = |from: f64, length: f64, own: f64, room: f64| {
            let begins = from.max(own);
            let ends = (from + length).min(own + room);
            if length <= 0.0 {
                return f64::from(u8::from(from >= own && from <= own + room));
            }
            ((ends - begins) / length).clamp(0.0, 1.0)
        };
        along(inner.x, inner.wide, self.x, self.wide)
            * along(inner.y, inner.high, self.y, self.high)
    }

    /// Returns this area without its edges: the share `part` on each side.
    pub(super) fn within(&self, part: f64) -> Self {
        let (x, y) = (self.wide * part, self.high * part);
        Self { x: self.x + x, y: self.y + y, wide: self.wide - 2.0 * x, high: self.high - 2.0 * y }
    }
}

/// The fill that a shape states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ShapeFill {
    Unsaid,
    Nothing,
    Coat(ShapePaint),
}

/// A fill of an unknown colour.
pub(super) const UNKNOWN: ShapeFill =
    ShapeFill::Coat(ShapePaint { paint: InkColour::Other, opaque: 0.0 });

/// A shape, picture, line, or frame with a table or chart.
#[derive(Debug, Clone)]
pub(super) struct SlideShape {
    pub(super) id: String,
    /// The type and index of a placeholder.
    pub(super) holder: Option<(String, String)>,
    pub(super) area: Option<SlideArea>,
    /// True if it is rotated, so that it fills its area only in part.
    pub(super) turned: bool,
    pub(super) fill: ShapeFill,
    /// The fill of its style.
    pub(super) styled: ShapeFill,
    /// The share of each side that the figure may leave free, of 1; 1 if it is unknown.
    pub(super) edge: f64,
    pub(super) hidden: bool,
    pub(super) text: TextSize,
    pub(super) frame: bool,
    /// True if a picture or chart covers its fill.
    pub(super) picture: bool,
}

impl SlideShape {
    /// Returns this shape if it paints something.
    pub(super) fn paints(&self) -> Option<Self> {
        let paints = matches!(self.fill, ShapeFill::Coat(coat) if coat.opaque > 0.0 || coat.paint == InkColour::Other);
        let empty = self.text.paragraphs.iter().all(|(count, _)| *count == 0.0);
        (paints && !self.hidden).then(|| Self {
            // A slide show leaves out only empty placeholders.
            holder: self.holder.clone().filter(|_| empty),
            // The text of painted shapes is not used.
            text: TextSize::default(),
            ..self.clone()
        })
    }

    /// Returns the area of its text, if it is known.
    pub(super) fn text_area(&self) -> Option<SlideArea> {
        let area = self.area?;
        if self.turned || self.frame || self.holder.is_some() || self.text.elsewhere {
            return Some(area);
        }
        let room = (area.wide - 2.0 * INSET).max(1.0);
        let (mut wide, mut high) = (0.0, 2.0 * INSET);
        for (count, size) in &self.text.paragraphs {
            // Average glyph width and line height, chosen too large: the area decides what may
            // cover the text.
            let long = count * size * POINT * 0.75;
            wide = f64::max(wide, long);
            high += (long / room).ceil().max(1.0) * size * POINT * 1.4;
        }
        let wide = (wide + 2.0 * INSET).min(area.wide);
        Some(SlideArea { wide, high: high.min(area.high), ..area })
    }

    /// Inherits from a placeholder the properties that this one does not state.
    pub(super) fn inherit(&mut self, below: &[Self]) {
        let Some((kind, number)) = &self.holder else { return };
        let title = |kind: &str| matches!(kind, "title" | "ctrTitle");
        let same = |other: &&Self| {
            other.holder.as_ref().is_some_and(|(of, at)| {
                kind == of && (number == at || title(kind)) || title(kind) && title(of)
            })
        };
        let alike = |other: &&Self| other.holder.as_ref().is_some_and(|(of, _)| of == kind);
        let numbered = |other: &&Self| {
            !number.is_empty() && other.holder.as_ref().is_some_and(|(_, at)| at == number)
        };
        let found = below.iter().find(same);
        let found = found.or_else(|| below.iter().find(numbered));
        let Some(found) = found.or_else(|| below.iter().find(alike)) else { return };
        if self.area.is_none() {
            (self.area, self.turned) = (found.area, found.turned);
        }
        if self.fill == ShapeFill::Unsaid {
            self.fill = found.fill;
        }
    }
}

/// The extent of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct TextSize {
    /// The number of characters and the size in points of each paragraph.
    pub(super) paragraphs: Vec<(f64, f64)>,
    /// True if the text does not begin at the top left of its shape, or its size is unknown.
    pub(super) elsewhere: bool,
    /// The stated distances from the left, upper, right and lower edge.
    pub(super) insets: [Option<f64>; 4],
    /// True if overflowing text is cut off; true if the text or its shape adapts.
    pub(super) clips: bool,
    pub(super) fits: bool,
}

/// The transformation from coordinates in a group to the slide, and the group's fill.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShapeGroup {
    pub(super) scale: (f64, f64),
    pub(super) shift: (f64, f64),
    pub(super) fill: ShapeFill,
    pub(super) lost: bool,
}

/// The painted content of a slide, layout or master.
pub(super) struct ScenePart {
    pub(super) shapes: Vec<SlideShape>,
    pub(super) background: Option<InkColour>,
    /// True if it also shows the shapes of its layout or master.
    pub(super) based: bool,
    /// The shapes that are animated.
    pub(super) moved: HashSet<String>,
    pub(super) cells: Vec<ShapeFill>,
}
