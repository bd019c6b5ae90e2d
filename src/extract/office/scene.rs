//! What lies where on a slide: which colours are behind a text, and what is drawn over it.
//!
//! Places and fills of the slide's shapes count, those that placeholders take from the layout
//! and the master, and what these paint themselves. A picture or a pattern has no known colour:
//! text on it is taken as seen. How far a text fills its box is estimated, and rather too wide.

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
/// Painted shapes that are looked at for each text.
const PAINTED: usize = 2_000;
/// How much of a text something has to lie behind to be its ground, of 1.
const SHARE: f64 = 0.1;
/// Units of drawings in a point.
pub const POINT: f64 = 12_700.0;
/// The room between a shape's edge and its text.
const INSET: f64 = 91_440.0;
/// The size of text that states none, in points.
pub const SIZE: f64 = 18.0;
/// The styles of tables that paint nothing.
const BARE: [&str; 2] =
    ["{2D5ABB26-0587-4C30-8999-92F81FD0307C}", "{5940675A-B579-460E-94D1-54222C63F5DA}"];

/// A part of a slide, in units of drawings.
#[derive(Debug, Clone, Copy)]
struct SlideArea {
    x: f64,
    y: f64,
    wide: f64,
    high: f64,
}

impl SlideArea {
    /// Returns how much of `inner` is in this one, of 1.
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

    /// Returns this without its edges: `part` of it on each side.
    fn within(&self, part: f64) -> Self {
        let (x, y) = (self.wide * part, self.high * part);
        Self { x: self.x + x, y: self.y + y, wide: self.wide - 2.0 * x, high: self.high - 2.0 * y }
    }
}

/// What a shape says of its fill.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ShapeFill {
    Unsaid,
    Nothing,
    Coat(ShapePaint),
}

/// Something of no known colour.
const UNKNOWN: ShapeFill = ShapeFill::Coat(ShapePaint { paint: InkColour::Other, opaque: 0.0 });

/// A shape, a picture, a line, or a frame with a table or a chart.
#[derive(Debug, Clone)]
struct SlideShape {
    id: String,
    /// The kind and the number of a placeholder.
    holder: Option<(String, String)>,
    place: Option<SlideArea>,
    /// True if it is turned, so that it fills its place only in part.
    turned: bool,
    fill: ShapeFill,
    /// The fill of the style that it is based on.
    styled: ShapeFill,
    /// How much of each side the figure may leave free, of 1; all of it if it is not known.
    edge: f64,
    hidden: bool,
    text: TextSize,
    frame: bool,
    /// True if a picture or a chart lies on its fill.
    picture: bool,
}

/// How large a text is.
#[derive(Debug, Clone, Default)]
struct TextSize {
    /// The characters and the size in points of each paragraph.
    paragraphs: Vec<(f64, f64)>,
    /// True if it does not begin at the top left of its shape, or its size is not known.
    elsewhere: bool,
    /// How far it is from the left, upper, right and lower edge, where that is stated.
    insets: [Option<f64>; 4],
    /// True if what does not fit into the shape is cut off, and if something makes it fit.
    clips: bool,
    fits: bool,
}

/// A group: how places in it become places of the slide, and its fill.
#[derive(Debug, Clone, Copy)]
struct ShapeGroup {
    scale: (f64, f64),
    shift: (f64, f64),
    fill: ShapeFill,
    lost: bool,
}

/// What is painted by a slide, a layout or a master.
struct ScenePart {
    shapes: Vec<SlideShape>,
    ground: Option<InkColour>,
    /// True if what it is based on shows.
    based: bool,
    /// The shapes that come or go while the slide is shown.
    moved: HashSet<String>,
    cells: Vec<ShapeFill>,
}

/// What lies where on a slide.
#[derive(Default)]
pub struct SlideScene {
    /// The colours of the slide.
    pub theme: ThemeColours,
    /// The shapes of the slide itself, in the order of their drawing.
    own: Vec<SlideShape>,
    /// What is painted, and the number of the shape of the slide that paints it.
    painted: Vec<(Option<usize>, SlideShape)>,
    ground: Option<InkColour>,
    moved: HashSet<String>,
    cells: Vec<ShapeFill>,
}

impl SlideScene {
    /// Reads a slide with these relations, and what it is based on.
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
            let paints = part.shapes.iter().filter(|shape| shape.holder.is_none());
            scene.painted.extend(paints.filter_map(SlideShape::paints).map(|shape| (None, shape)));
            // What a layout says of a placeholder comes before what its master says of it.
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

    /// Returns the colours that may lie behind the text of a shape, or of a cell in it.
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
        for (at, other) in self.painted.iter().rev() {
            // The frame around a cell paints nothing itself.
            if at.is_some_and(|at| at > shape || at == shape && cell.is_some()) {
                continue;
            }
            let ShapeFill::Coat(ShapePaint { paint, opaque }) = other.fill else { continue };
            let share = match (*at == Some(shape), other.place, area) {
                (true, ..) => 1.0,
                (_, Some(place), Some(area)) => place.share(&area),
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

    /// Returns true if something opaque is drawn over all the text of a shape.
    pub fn covered(&self, shape: usize) -> bool {
        let Some(area) = self.own.get(shape).and_then(SlideShape::area) else { return false };
        self.painted.iter().any(|(at, other)| {
            let opaque = match other.fill {
                ShapeFill::Coat(ShapePaint { opaque, .. }) => opaque > 0.9,
                _ => false,
            };
            // What moves may go away.
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
    /// Returns this if it paints something.
    fn paints(&self) -> Option<Self> {
        let paints = matches!(self.fill, ShapeFill::Coat(coat) if coat.opaque > 0.0 || coat.paint == InkColour::Other);
        let empty = self.text.paragraphs.iter().all(|(count, _)| *count == 0.0);
        (paints && !self.hidden).then(|| Self {
            // Only an empty placeholder is not drawn in a show.
            holder: self.holder.clone().filter(|_| empty),
            // The words are not looked at again.
            text: TextSize::default(),
            ..self.clone()
        })
    }

    /// Returns where its text is, if that is known.
    fn area(&self) -> Option<SlideArea> {
        let place = self.place?;
        if self.turned || self.frame || self.holder.is_some() || self.text.elsewhere {
            return Some(place);
        }
        let room = (place.wide - 2.0 * INSET).max(1.0);
        let (mut wide, mut high) = (0.0, 2.0 * INSET);
        for (count, size) in &self.text.paragraphs {
            let long = count * size * POINT * 0.75;
            wide = f64::max(wide, long);
            high += (long / room).ceil().max(1.0) * size * POINT * 1.4;
        }
        let wide = (wide + 2.0 * INSET).min(place.wide);
        Some(SlideArea { wide, high: high.min(place.high), ..place })
    }

    /// Takes from a placeholder what this one does not say.
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
