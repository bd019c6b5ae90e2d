//! Layout of a slide: the colours behind a text, and the shapes drawn over it.
//!
//! It covers the shapes of the slide, the properties that placeholders inherit from the layout and
//! the master, and the shapes that these draw themselves. Pictures and patterns have no known
//! colour: text on them counts as visible. The extent of a text in its box is estimated,
//! generously.

mod read;
pub mod shape;
mod visibility;

use std::collections::HashSet;

use self::read::read_scene_part;
use self::shape::{ShapeFill, SlideShape};
use super::theme::{ShapePaint, ThemeColours};
use crate::ReadFailure;
use crate::package::{OpenPackage, PartRelation};
use crate::run_style::{InkColour, WHITE};

/// Maximum painted shapes that are considered for each text.
const PAINTED: usize = 2_000;
/// The share of a text, of 1, that a shape must be behind to count as its background.
const SHARE: f64 = 0.1;

/// The layout of a slide.
#[derive(Default)]
pub struct SlideScene {
    /// The colours of the slide.
    pub theme: ThemeColours,
    /// The shapes of the slide itself, in drawing order.
    own: Vec<SlideShape>,
    /// The painted shapes, with their numbers if they are the slide's own.
    painted: Vec<(Option<usize>, SlideShape)>,
    background: Option<InkColour>,
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
        let mut scene = Self { background: known.then_some(WHITE), ..Self::default() };
        for text in master.iter().chain(&layout) {
            theme.rename(text)?;
            let part = read_scene_part(text, &theme, &below)?;
            scene.background = part.background.or(scene.background);
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
        let part = read_scene_part(slide, &theme, &below)?;
        scene.background = part.background.or(scene.background);
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
    pub fn backgrounds(&self, shape: usize, cell: Option<usize>) -> Vec<InkColour> {
        let Some(own) = self.own.get(shape) else { return vec![InkColour::Other] };
        let mut backgrounds = Vec::new();
        if let Some(fill) = cell.and_then(|cell| self.cells.get(cell)) {
            match fill {
                ShapeFill::Coat(ShapePaint { paint, opaque }) => {
                    backgrounds.push(if *opaque > 0.99 { *paint } else { InkColour::Other });
                    return backgrounds;
                }
                ShapeFill::Unsaid => return vec![InkColour::Other],
                ShapeFill::Nothing => {}
            }
        }
        let area = own.text_area();
        // From the top down, until a shape hides everything below it.
        for (at, other) in self.painted.iter().rev() {
            // The frame around a cell paints nothing itself.
            if at.is_some_and(|at| at > shape || at == shape && cell.is_some()) {
                continue;
            }
            let ShapeFill::Coat(ShapePaint { paint, opaque }) = other.fill else { continue };
            let share = match (*at == Some(shape), other.area, area) {
                (true, ..) => 1.0,
                (_, Some(drawn), Some(area)) => drawn.share(&area),
                // Without positions, the shape may be behind the text, but may not be its only
                // background.
                _ => 0.5,
            };
            if share < SHARE {
                continue;
            }
            let whole = share > 0.99 && opaque > 0.99 && !other.turned && other.edge < 0.5;
            if !backgrounds.contains(&paint) {
                backgrounds.push(paint);
            }
            if whole {
                return backgrounds;
            }
        }
        backgrounds.push(self.background.unwrap_or(InkColour::Other));
        backgrounds
    }

    /// Returns true if something opaque is drawn over the whole text of a shape.
    pub fn covered(&self, shape: usize) -> bool {
        let Some(area) = self.own.get(shape).and_then(SlideShape::text_area) else { return false };
        self.painted.iter().any(|(at, other)| {
            let opaque = match other.fill {
                ShapeFill::Coat(ShapePaint { opaque, .. }) => opaque > 0.9,
                _ => false,
            };
            // An animated shape may move away.
            let stays = other.holder.is_none() && !self.moved.contains(&other.id);
            let drawn = other.area.filter(|_| !other.turned && other.edge < 0.5);
            at.is_some_and(|at| at > shape)
                && opaque
                && stays
                && drawn.is_some_and(|drawn| drawn.within(other.edge).share(&area) > 0.98)
        })
    }
}
