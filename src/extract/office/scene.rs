//! Layout of a slide: the colours behind a text, and the shapes drawn over it.
//!
//! It covers the shapes of the slide, the properties that placeholders inherit from the layout and
//! the master, and the shapes that these draw themselves. Pictures and patterns have no known
//! colour: text on them counts as visible. The extent of a text in its box is estimated,
//! generously.

mod place;
mod read;

use std::collections::HashSet;

use self::read::part;
use super::theme::{ShapePaint, ThemeColours};
use crate::ReadFailure;
use crate::package::{OpenPackage, PartRelation};
use crate::run_style::{InkColour, WHITE};

/// The namespaces of slides.
pub const SLIDE: &[&str] = &["p", "a"];
/// Maximum painted shapes that are considered for each text.
const PAINTED: usize = 2_000;
/// The share of a text, of 1, that a shape must be behind to count as its background.
const SHARE: f64 = 0.1;
/// Drawing units in a point.
pub const POINT: f64 = 12_700.0;
/// The default margin between a shape's edge and its text, in drawing units.
const INSET: f64 = 91_440.0;
/// The default size of text, in points.
pub const SIZE: f64 = 18.0;
/// Table styles without fills.
const BARE: [&str; 2] =
    ["{2D5ABB26-0587-4C30-8999-92F81FD0307C}", "{5940675A-B579-460E-94D1-54222C63F5DA}"];

/// A part of a slide, in drawing units.
#[derive(Debug, Clone, Copy)]
struct SlideArea {
    x: f64,
    y: f64,
    wide: f64,
    high: f64,
}

impl SlideArea {
    /// Returns the share of `inner` that is in this area, of 1.
    fn share(&self, inner: &Self) -> f64 {
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
    fn within(&self, part: f64) -> Self {
        let (x, y) = (self.wide * part, self.high * part);
        Self { x: self.x + x, y: self.y + y, wide: self.wide - 2.0 * x, high: self.high - 2.0 * y }
    }
}

/// The fill that a shape states.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ShapeFill {
    Unsaid,
    Nothing,
    Coat(ShapePaint),
}

/// A fill of an unknown colour.
const UNKNOWN: ShapeFill = ShapeFill::Coat(ShapePaint { paint: InkColour::Other, opaque: 0.0 });

/// A shape, picture, line, or frame with a table or chart.
#[derive(Debug, Clone)]
struct SlideShape {
    id: String,
    /// The type and index of a placeholder.
    holder: Option<(String, String)>,
    place: Option<SlideArea>,
    /// True if it is rotated, so that it fills its area only in part.
    turned: bool,
    fill: ShapeFill,
    /// The fill of its style.
    styled: ShapeFill,
    /// The share of each side that the figure may leave free, of 1; 1 if it is unknown.
    edge: f64,
    hidden: bool,
    text: TextSize,
    frame: bool,
    /// True if a picture or chart covers its fill.
    picture: bool,
}

/// The extent of a text.
#[derive(Debug, Clone, Default)]
struct TextSize {
    /// The number of characters and the size in points of each paragraph.
    paragraphs: Vec<(f64, f64)>,
    /// True if the text does not begin at the top left of its shape, or its size is unknown.
    elsewhere: bool,
    /// The stated distances from the left, upper, right and lower edge.
    insets: [Option<f64>; 4],
    /// True if overflowing text is cut off; true if the text or its shape adapts.
    clips: bool,
    fits: bool,
}

/// The transformation from coordinates in a group to the slide, and the group's fill.
#[derive(Debug, Clone, Copy)]
struct ShapeGroup {
    scale: (f64, f64),
    shift: (f64, f64),
    fill: ShapeFill,
    lost: bool,
}

/// The painted content of a slide, layout or master.
struct ScenePart {
    shapes: Vec<SlideShape>,
    ground: Option<InkColour>,
    /// True if it also shows the shapes of its layout or master.
    based: bool,
    /// The shapes that are animated.
    moved: HashSet<String>,
    cells: Vec<ShapeFill>,
}

/// The layout of a slide.
#[derive(Default)]
pub struct SlideScene {
    /// The colours of the slide.
    pub theme: ThemeColours,
    /// The shapes of the slide itself, in drawing order.
    own: Vec<SlideShape>,
    /// The painted shapes, with their numbers if they are the slide's own.
    painted: Vec<(Option<usize>, SlideShape)>,
    ground: Option<InkColour>,
    moved: HashSet<String>,
    cells: Vec<ShapeFill>,
}

impl SlideScene {
    /// Reads a slide with these relationships, and its layout, master and theme.
    pub fn read(
        package: &mut OpenPackage<'_>,
        slide: &str,
        own: &[PartRelation],
    ) -> Result<Self, ReadFailure> {
        let mut parts = Vec::new();
        let mut relations =
            own.iter().map(|relation| (relation.kind.clone(), relation.target.clone()));
        let mut next = relations.find(|(kind, _)| kind == "slideLayout");
        for kind in ["slideMaster", "theme", ""] {
            let Some((_, path)) = next else { break };
            parts.push(package.text(&path)?.unwrap_or_default());
            let relations = package.relations(&path)?.into_iter();
            let mut relations = relations.map(|relation| (relation.kind, relation.target));
            next = relations.find(|(found, _)| found == kind);
        }
        // Without all three parts, the background may have any colour.
        let known = parts.len() == 3;
        let mut parts = parts.into_iter();
        let (layout, master, theme) = (parts.next(), parts.next(), parts.next());
        let mut theme =
            theme.map_or(Ok(ThemeColours::default()), |text| ThemeColours::read(&text))?;
        let mut below: Vec<SlideShape> = Vec::new();
        let mut scene = Self { ground: known.then_some(WHITE), ..Self::default() };
        for text in master.iter().chain(&layout) {
            theme.rename(text)?;
            let part = part(text, &theme, &below)?;
            scene.ground = part.ground.or(scene.ground);
            if !part.based {
                scene.painted.clear();
            }
            // Placeholders of a layout or master are templates: only the slide draws them.
            let paints = part.shapes.iter().filter(|shape| shape.holder.is_none());
            scene.painted.extend(paints.filter_map(SlideShape::paints).map(|shape| (None, shape)));
            // The layout's properties of a placeholder take precedence over the master's.
            below.splice(0..0, part.shapes.into_iter().filter(|shape| shape.holder.is_some()));
        }
        theme.rename(slide)?;
        let part = part(slide, &theme, &below)?;
        scene.ground = part.ground.or(scene.ground);
        if !part.based {
            scene.painted.clear();
        }
        let paints = part.shapes.iter().enumerate();
        let paints = paints.filter_map(|(at, shape)| Some((Some(at), shape.paints()?)));
        scene.painted.extend(paints);
        scene.painted.truncate(PAINTED);
        (scene.own, scene.moved, scene.cells) = (part.shapes, part.moved, part.cells);
        scene.theme = theme;
        Ok(scene)
    }

    /// Returns the colours that may be behind the text of a shape or table cell.
    pub fn grounds(&self, shape: usize, cell: Option<usize>) -> Vec<InkColour> {
        let Some(own) = self.own.get(shape) else { return vec![InkColour::Other] };
        let mut grounds = Vec::new();
        if let Some(fill) = cell.and_then(|cell| self.cells.get(cell)) {
            match fill {
                ShapeFill::Coat(ShapePaint { paint, opaque }) => {
                    grounds.push(if *opaque > 0.99 { *paint } else { InkColour::Other });
                    return grounds;
                }
                ShapeFill::Unsaid => return vec![InkColour::Other],
                ShapeFill::Nothing => {}
            }
        }
        let area = own.area();
        // From the top down, until a shape hides everything below it.
        for (at, other) in self.painted.iter().rev() {
            // The frame around a cell paints nothing itself.
            if at.is_some_and(|at| at > shape || at == shape && cell.is_some()) {
                continue;
            }
            let ShapeFill::Coat(ShapePaint { paint, opaque }) = other.fill else { continue };
            let share = match (*at == Some(shape), other.place, area) {
                (true, ..) => 1.0,
                (_, Some(place), Some(area)) => place.share(&area),
                // Without positions, the shape may be behind the text, but may not be its only
                // background.
                _ => 0.5,
            };
            if share < SHARE {
                continue;
            }
            let whole = share > 0.99 && opaque > 0.99 && !other.turned && other.edge < 0.5;
            if !grounds.contains(&paint) {
                grounds.push(paint);
            }
            if whole {
                return grounds;
            }
        }
        grounds.push(self.ground.unwrap_or(InkColour::Other));
        grounds
    }

    /// Returns true if something opaque is drawn over the whole text of a shape.
    pub fn covered(&self, shape: usize) -> bool {
        let Some(area) = self.own.get(shape).and_then(SlideShape::area) else { return false };
        self.painted.iter().any(|(at, other)| {
            let opaque = match other.fill {
                ShapeFill::Coat(ShapePaint { opaque, .. }) => opaque > 0.9,
                _ => false,
            };
            // An animated shape may move away.
            let stays = other.holder.is_none() && !self.moved.contains(&other.id);
            let place = other.place.filter(|_| !other.turned && other.edge < 0.5);
            at.is_some_and(|at| at > shape)
                && opaque
                && stays
                && place.is_some_and(|place| place.within(other.edge).share(&area) > 0.98)
        })
    }
}

impl SlideShape {
    /// Returns this shape if it paints something.
    fn paints(&self) -> Option<Self> {
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
    fn area(&self) -> Option<SlideArea> {
        let place = self.place?;
        if self.turned || self.frame || self.holder.is_some() || self.text.elsewhere {
            return Some(place);
        }
        let room = (place.wide - 2.0 * INSET).max(1.0);
        let (mut wide, mut high) = (0.0, 2.0 * INSET);
        for (count, size) in &self.text.paragraphs {
            // Average glyph width and line height, chosen too large: the area decides what may
            // cover the text.
            let long = count * size * POINT * 0.75;
            wide = f64::max(wide, long);
            high += (long / room).ceil().max(1.0) * size * POINT * 1.4;
        }
        let wide = (wide + 2.0 * INSET).min(place.wide);
        Some(SlideArea { wide, high: high.min(place.high), ..place })
    }

    /// Inherits from a placeholder the properties that this one does not state.
    fn inherit(&mut self, below: &[Self]) {
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
        if self.place.is_none() {
            (self.place, self.turned) = (found.place, found.turned);
        }
        if self.fill == ShapeFill::Unsaid {
            self.fill = found.fill;
        }
    }
}
