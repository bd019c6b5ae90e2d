//! Objects that are painted off the page to display text on it: masks, Type 3 glyphs and glyph
//! outlines, and gradients. Each is inspected once, up to a limit; anything beyond it is in doubt.

use std::collections::HashMap;
use std::rc::Rc;

use hayro_interpret::encode::EncodedShadingPattern;
use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape as _};
use hayro_interpret::pattern::Pattern;
use hayro_interpret::{
    BlendMode, CacheKey as _, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    MaskType, Paint, SoftMask,
};

/// Maximum masks, Type 3 glyphs and gradients of a page that are inspected.
const LOOKED: usize = 2_000;
/// Maximum areas of a mask.
const AREAS: usize = 256;
/// The share of light or opacity from which an object is visible.
const FAINT: f32 = 0.1;

/// Inspects masks, glyphs and gradients, and caches the results.
#[derive(Default)]
pub(super) struct PaintProbes {
    masks: HashMap<u128, Rc<MaskRegion>>,
    glyphs: HashMap<u128, bool>,
    gradients: HashMap<u128, Rc<EncodedShadingPattern>>,
    looked: usize,
}

impl PaintProbes {
    /// Returns true if another object may be inspected.
    fn may(&mut self) -> bool {
        self.looked += 1;
        self.looked <= LOOKED
    }

    /// Returns the areas at which a mask is open.
    pub fn mask(&mut self, mask: &SoftMask<'_>) -> Rc<MaskRegion> {
        let key = mask.cache_key();
        if let Some(known) = self.masks.get(&key) {
            return Rc::clone(known);
        }
        let found = Rc::new(if self.may() { MaskRegion::new(mask) } else { MaskRegion::default() });
        self.masks.insert(key, Rc::clone(&found));
        found
    }

    /// Returns true if a glyph paints something. A glyph that its font lacks counts as painting,
    /// unless it is a letter or digit that every font has.
    pub fn paints(&mut self, glyph: &Glyph<'_>) -> bool {
        let key = match glyph {
            Glyph::Outline(glyph) => glyph.identifier().cache_key(),
            Glyph::Type3(glyph) => glyph.cache_key(),
        };
        if let Some(known) = self.glyphs.get(&key) {
            return *known;
        }
        let found = match glyph {
            Glyph::Outline(glyph) => {
                let common = matches!(glyph.as_unicode(), Some(BfString::Char(character))
                    if character.is_ascii_alphanumeric());
                let missing = glyph.glyph_id() == hayro_interpret::font::GlyphId::NOTDEF && !common;
                missing || glyph.outline().segments().next().is_some()
            }
            Glyph::Type3(glyph) if self.may() => {
                let mut probe = PaintProbe::default();
                let paint = Paint::Color(hayro_interpret::color::Color::from_rgba(
                    hayro_interpret::color::AlphaColor::new([0.0, 0.0, 0.0, 1.0]),
                ));
                glyph.interpret(&mut probe, Affine::IDENTITY, Affine::IDENTITY, &paint);
                probe.more || !probe.areas.is_empty()
            }
            Glyph::Type3(_) => false,
        };
        self.glyphs.insert(key, found);
        found
    }

    /// Returns the gradient of a paint, if its colours are computed by a function.
    pub fn gradient(&mut self, paint: &Paint<'_>) -> Option<Rc<EncodedShadingPattern>> {
        use hayro_interpret::shading::ShadingType::{FunctionBased, RadialAxial};
        let Paint::Pattern(pattern) = paint else { return None };
        let Pattern::Shading(shading) = &**pattern else { return None };
        // Encoding a mesh would draw all of it.
        if !matches!(&*shading.shading.shading_type, FunctionBased { .. } | RadialAxial { .. }) {
            return None;
        }
        let key = paint.cache_key();
        if let Some(known) = self.gradients.get(&key) {
            return Some(Rc::clone(known));
        }
        let found = self.may().then(|| Rc::new(shading.encode()))?;
        self.gradients.insert(key, Rc::clone(&found));
        Some(found)
    }
}

/// The areas at which a mask is open. The default mask is closed everywhere, as for an unknown one.
#[derive(Default)]
pub(super) struct MaskRegion {
    /// True if it is open where it is not painted.
    open: bool,
    /// The painted areas in order: the box, true if all of the box is painted, and true if the mask
    /// is open in the box.
    areas: Vec<(Rect, bool, bool)>,
}

impl MaskRegion {
    fn new(mask: &SoftMask<'_>) -> Self {
        let mut probe = PaintProbe::default();
        mask.interpret(&mut probe);
        // A transfer function may turn dark into light.
        if probe.more || mask.transfer_function().is_some() {
            return Self::default();
        }
        let light = mask.mask_type() == MaskType::Luminosity;
        let [r, g, b, _] = mask.background_color().to_rgba().components();
        let open = light && bright([r, g, b]);
        let seen = |colour: Option<[f32; 3]>| !light || colour.is_none_or(bright);
        let areas = probe.areas.into_iter();
        Self { open, areas: areas.map(|(area, full, colour)| (area, full, seen(colour))).collect() }
    }

    /// Returns true if the mask is open at a point.
    pub fn shows(&self, at: Point) -> bool {
        let areas = self.areas.iter().filter(|(area, ..)| area.contains(at));
        areas.fold(self.open, |open, (_, full, seen)| *seen || open && !full)
    }
}

fn bright([r, g, b]: [f32; 3]) -> bool {
    0.3 * r + 0.59 * g + 0.11 * b > FAINT
}

/// Records painted areas: the box, true if all of the box is painted, and the colour if it is a
/// single one.
#[derive(Default)]
struct PaintProbe {
    areas: Vec<(Rect, bool, Option<[f32; 3]>)>,
    clips: Vec<Rect>,
    /// True if there are more areas than recorded.
    more: bool,
}

impl PaintProbe {
    fn add(&mut self, area: Rect, full: bool, paint: Option<&Paint<'_>>) {
        let area = self.clips.iter().fold(area, |area, clip| area.intersect(*clip));
        let colour = match paint {
            Some(Paint::Color(colour)) => {
                let [r, g, b, alpha] = colour.to_rgba().components();
                if alpha < FAINT {
                    return;
                }
                Some([r * alpha, g * alpha, b * alpha])
            }
            _ => None,
        };
        if area.width() <= 0.0 || area.height() <= 0.0 {
            return;
        }
        self.more |= self.areas.len() >= AREAS;
        if !self.more {
            self.areas.push((area, full, colour));
        }
    }
}

impl<'a> Device<'a> for PaintProbe {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        let path = props.transform * path;
        let mut area = path.bounding_box();
        let mut full = (path.area().abs() - area.area()).abs() <= area.area() * 0.02;
        if let DrawMode::Stroke(stroke) | DrawMode::FillAndStroke(_, stroke) = mode {
            let width = f64::from(stroke.line_width) * props.transform.determinant().abs().sqrt();
            area = area.inflate(width / 2.0 + 0.1, width / 2.0 + 0.1);
            full = false;
        }
        if !matches!(mode, DrawMode::Invisible) {
            self.add(area, full, Some(&props.paint));
        }
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        for glyph in run.glyphs() {
            let transform = props.transform * glyph.transform();
            let area = match &**glyph {
                Glyph::Outline(glyph) => (transform * glyph.outline()).bounding_box(),
                Glyph::Type3(_) => {
                    (transform * Rect::new(0.0, 0.0, 1000.0, 1000.0).to_path(0.1)).bounding_box()
                }
            };
            if !matches!(mode, DrawMode::Invisible) {
                self.add(area, false, Some(&props.paint));
            }
            if self.more {
                break;
            }
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let (width, height) = (f64::from(image.width()), f64::from(image.height()));
        let area =
            (props.transform * Rect::new(0.0, 0.0, width, height).to_path(0.1)).bounding_box();
        self.add(area, false, None);
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.clips.push(clip.path.bounding_box());
    }

    fn pop_clip(&mut self) {
        self.clips.pop();
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn pop_transparency_group(&mut self) {}
}
