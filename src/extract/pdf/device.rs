//! Recording of a drawn page: its characters with their positions, and the share of pictures. The
//! only file that implements hayro's `Device`. Pictures are never decoded.

use daysheet_core::text::visibility::{HidingMethod, TextVisibility};
use std::collections::HashSet;
use std::rc::Rc;

use hayro_interpret::encode::EncodedShadingPattern;
use hayro_interpret::font::{Glyph as Shape, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::kurbo::{self, Affine, BezPath, Point, Rect, Shape as _, Vec2};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, FillRule, Image, ImageDrawProps,
    Paint as Source, SoftMask,
};
use unicode_normalization::UnicodeNormalization;

use super::fonts::PageFonts;
use super::hidden::{self, CellPaint, PageBackdrop};
use super::probe::{MaskRegion, PaintProbes};

/// Maximum characters of a page.
const CHARACTERS: usize = 200_000;
/// The number of elements up to which a path is followed exactly, and a clip.
const ELEMENTS: usize = 20_000;
const CLIP_ELEMENTS: usize = 64;
/// The minimum width of a line that counts as a background, in points.
const THICK: f64 = 2.0;

/// A character on the page, in points from the page's upper left corner.
#[derive(Debug, Clone)]
pub(super) struct PageGlyph {
    pub character: char,
    /// Its position on the baseline, and the position of the next character.
    pub from: Point,
    pub to: Point,
    /// The height of an em.
    pub size: f64,
    pub hidden: Option<HidingMethod>,
    /// The suspected method of hiding of a shown character.
    pub doubt: Option<HidingMethod>,
    /// True if people see another letter or digit.
    pub other: bool,
    step: u32,
}

impl PageGlyph {
    /// Returns its position in units of two points.
    pub fn cell(&self) -> (i64, i64) {
        ((self.from.x / 2.0).round() as i64, (self.from.y / 2.0).round() as i64)
    }

    /// Returns its centre.
    pub fn middle(&self) -> Point {
        self.at(0.5)
    }

    /// Returns a point of the character, at a share of its width and half its height.
    fn at(&self, share: f64) -> Point {
        let along = self.to - self.from;
        let up = Vec2::new(along.y, -along.x);
        let up = if along.hypot() > 0.0 { up / along.hypot() } else { Vec2::new(0.0, -1.0) };
        self.from + along * share + up * (self.size * 0.3)
    }
}

/// A clip: its bounding box, and its outline unless it is a rectangle.
struct ClipRegion {
    area: Rect,
    outline: Option<BezPath>,
}

/// A transparency group: its opacity, its mode unless it is masked, and its mask.
struct TransparencyGroup {
    opacity: f32,
    mode: Option<BlendMode>,
    odd: bool,
    mask: Option<Rc<MaskRegion>>,
}

/// The drawn content of a page.
pub(super) struct DrawnPage {
    pub glyphs: Vec<PageGlyph>,
    fonts: Rc<PageFonts>,
    /// Characters that their font does not map to Unicode.
    pub unmapped: u64,
    pub pictures: u64,
    /// The share of the page that its largest picture covers.
    pub picture: f64,
    backdrop: PageBackdrop,
    clips: Vec<ClipRegion>,
    groups: Vec<TransparencyGroup>,
    probes: PaintProbes,
    page: Rect,
    /// The number of cells that may still be painted.
    left: u64,
}

impl DrawnPage {
    /// Creates an empty page with these fonts, on which up to `left` cells may be painted.
    pub fn new(page: Rect, left: u64, fonts: Rc<PageFonts>) -> Self {
        Self {
            glyphs: Vec::new(),
            fonts,
            unmapped: 0,
            pictures: 0,
            picture: 0.0,
            backdrop: PageBackdrop::new(page.width(), page.height()),
            clips: Vec::new(),
            groups: Vec::new(),
            probes: PaintProbes::default(),
            page,
            left,
        }
    }

    /// Marks the characters that were covered after they were drawn. Returns the number of cells
    /// that may still be painted on other pages.
    pub fn finish(&mut self) -> u64 {
        for glyph in self.glyphs.iter_mut().filter(|glyph| glyph.hidden.is_none()) {
            if self.backdrop.covered([0.2, 0.5, 0.8].map(|share| glyph.at(share)), glyph.step) {
                glyph.hidden = Some(HidingMethod::Covered);
            }
        }
        self.left
    }

    /// Adds the characters that are drawn only if all layers are on.
    pub fn add_layers(&mut self, all: Self) {
        let key = |glyph: &PageGlyph| (glyph.character, glyph.cell());
        let known: HashSet<_> = self.glyphs.iter().map(key).collect();
        let added = all.glyphs.into_iter().filter(|glyph| !known.contains(&key(glyph)));
        self.glyphs
            .extend(added.map(|glyph| PageGlyph { hidden: Some(HidingMethod::Layer), ..glyph }));
    }

    /// Marks the characters as in doubt that disappear if more layers are switched off.
    pub fn doubt_layers(&mut self, fewer: &Self) {
        let key = |glyph: &PageGlyph| (glyph.character, glyph.cell());
        let kept: HashSet<_> = fewer.glyphs.iter().map(key).collect();
        let gone = self.glyphs.iter_mut().filter(|glyph| !kept.contains(&key(glyph)));
        gone.for_each(|glyph| glyph.doubt = Some(HidingMethod::Layer));
    }

    /// Returns the area that all clips leave visible.
    fn clip(&self) -> Rect {
        self.clips.iter().fold(self.page, |area, clip| area.intersect(clip.area))
    }

    fn paint(&self, source: &Source<'_>, masked: bool, mode: BlendMode) -> CellPaint {
        let mut odd = hidden::odd(mode);
        let (mut alpha, mut mode) = (1.0, (!masked).then_some(mode));
        for group in &self.groups {
            alpha *= group.opacity;
            odd |= group.odd;
            // Modes of nested groups can be followed only if all but one of them are normal.
            mode = match (group.mode, mode) {
                (Some(BlendMode::Normal), own) => own,
                (group, Some(BlendMode::Normal)) => group,
                _ => None,
            };
        }
        let Source::Color(colour) = source else {
            return CellPaint { colour: None, alpha, mode, odd };
        };
        let [r, g, b, a] = colour.to_rgba().components();
        let byte = |share: f32| (share * 255.0).round() as u8;
        CellPaint { colour: Some([byte(r), byte(g), byte(b)]), alpha: alpha * a, mode, odd }
    }

    fn fill(&mut self, path: &BezPath, even_odd: bool, mut paint: CellPaint) {
        if self.clips.iter().any(|clip| clip.outline.is_some()) {
            // Clipping covers an unknown part of the area.
            paint.mode = None;
        }
        let clip = self.clip();
        let few = path.elements().len() <= ELEMENTS;
        let path = if few {
            path
        } else {
            // Filling the path cell by cell would be too slow; its box overestimates the area.
            paint.mode = None;
            &path.control_box().to_path(0.1)
        };
        self.backdrop.paint(path, even_odd, clip, &paint, &mut self.left);
    }

    /// Returns the reason why a character with this centre is invisible with any paint.
    fn outside(&self, middle: Point) -> Option<HidingMethod> {
        let clipped = |clip: &ClipRegion| {
            !clip.area.contains(middle)
                || clip.outline.as_ref().is_some_and(|path| path.winding(middle) == 0)
        };
        if !self.page.contains(middle) {
            return Some(HidingMethod::OffPage);
        }
        self.clips.iter().any(clipped).then_some(HidingMethod::Clipped)
    }

    /// Adds a character with its visibility; `known` is the part that does not depend on the
    /// background.
    fn character(
        &mut self,
        mut glyph: PageGlyph,
        width: f64,
        known: TextVisibility,
        fill: &TextFill,
    ) {
        if self.glyphs.len() >= CHARACTERS {
            return;
        }
        let middle = glyph.at(0.5);
        let visibility = match (self.outside(middle), known) {
            (Some(how), _) => TextVisibility::Hidden(how),
            (None, TextVisibility::Hidden(how)) => TextVisibility::Hidden(how),
            (None, known) => {
                let masked = fill.masks.iter().any(|mask| !mask.shows(middle));
                let found = self.backdrop.visibility(middle, (glyph.size, width), &fill.at(middle));
                match found {
                    // One sample of a gradient does not cover the whole character.
                    TextVisibility::Hidden(how) if fill.gradient.is_some() => {
                        TextVisibility::Doubt(how)
                    }
                    TextVisibility::Hidden(how) => TextVisibility::Hidden(how),
                    _ if masked => TextVisibility::Doubt(HidingMethod::Transparent),
                    found if known == TextVisibility::Seen => found,
                    _ => known,
                }
            }
        };
        match visibility {
            TextVisibility::Seen => {}
            TextVisibility::Hidden(how) => glyph.hidden = Some(how),
            TextVisibility::Doubt(how) => glyph.doubt = Some(how),
        }
        glyph.step = self.backdrop.step();
        self.glyphs.push(glyph);
    }
}

/// The fill of text: its paint, which a gradient varies by position, and its masks.
struct TextFill {
    paint: CellPaint,
    gradient: Option<Rc<EncodedShadingPattern>>,
    masks: Vec<Rc<MaskRegion>>,
}

impl TextFill {
    /// Returns the paint at a point.
    fn at(&self, point: Point) -> CellPaint {
        let Some(gradient) = &self.gradient else { return self.paint };
        let [r, g, b, alpha] = gradient.sample(gradient.base_transform * point);
        let byte = |share: f32| (share * 255.0).round() as u8;
        let colour = Some([byte(r), byte(g), byte(b)]);
        CellPaint { colour, alpha: self.paint.alpha * alpha, ..self.paint }
    }
}

impl<'a> Device<'a> for DrawnPage {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        let masks = props.soft_mask.iter().map(|mask| self.probes.mask(mask));
        let masks = masks.collect::<Vec<_>>().into_iter();
        let masks = masks.chain(self.groups.iter().filter_map(|group| group.mask.clone()));
        let fill = TextFill {
            masks: masks.collect(),
            paint: self.paint(&props.paint, props.soft_mask.is_some(), props.blend_mode),
            gradient: self.probes.gradient(&props.paint),
        };
        let drawn = !matches!(mode, DrawMode::Invisible);
        let matrices: Vec<Affine> =
            run.glyphs().iter().map(|g| props.transform * g.transform()).collect();
        // If a font is not embedded, hayro stretches each glyph to the width that the file states,
        // but not its advance.
        let scale = |m: &Affine, by: Vec2| (*m * by.to_point() - *m * Point::ZERO).hypot();
        let em = |m: &Affine| (scale(m, Vec2::new(0.0, 1000.0)), scale(m, Vec2::new(1000.0, 0.0)));
        let stretch = |m: &Affine| {
            let (height, width) = em(m);
            width / height
        };
        let stretched = matrices.first().is_some_and(|first| {
            matrices.iter().any(|m| (stretch(m) - stretch(first)).abs() > 0.01)
        });
        let (first, mut left_out) = (self.glyphs.len(), false);
        for (glyph, m) in run.glyphs().iter().zip(&matrices) {
            let advance = match &**glyph {
                Shape::Outline(glyph) => glyph.advance_width(),
                Shape::Type3(glyph) => glyph.advance_width(),
            };
            let (height, width) = em(m);
            if !(height.is_finite() && width.is_finite()) {
                continue;
            }
            let mut advance = f64::from(advance.unwrap_or(500.0));
            if stretched && width > 0.0 {
                advance *= height / width;
            }
            let (from, to) = match run.writing_mode() {
                WritingMode::Horizontal => (*m * Point::ZERO, *m * Point::new(advance, 0.0)),
                WritingMode::Vertical => {
                    // The default position vector and advance of vertical writing (ISO 32000-1,
                    // 9.7.4.3).
                    (*m * Point::new(500.0, 880.0), *m * Point::new(500.0, -120.0))
                }
            };
            let text = match glyph.as_unicode().or_else(|| self.fonts.text(glyph)) {
                Some(BfString::Char(character)) => character.to_string(),
                Some(BfString::String(text)) => text,
                // Encodings have no characters at the codes of controls.
                None if glyph.char_code() < 32 && blank(glyph) => {
                    left_out = true;
                    continue;
                }
                None => {
                    self.unmapped += 1;
                    "\u{FFFD}".to_owned()
                }
            };
            // Most viewers give a character without a glyph no width, so that it does not end a
            // word.
            if std::mem::take(&mut left_out) && self.glyphs.len() > first {
                self.glyphs.last_mut().into_iter().for_each(|last| last.to = from);
            }
            let others = &self.fonts.others;
            let other = !others.is_empty() && others.contains(&(glyph.char_code(), text.clone()));
            let text: Vec<char> = text.chars().flat_map(plain).take(16).collect();
            let known = if !drawn {
                TextVisibility::Hidden(HidingMethod::Invisible)
            } else if text.iter().any(|character| character.is_alphanumeric())
                && !self.probes.paints(glyph)
            {
                // A letter without an outline is invisible, but the font may only lack the glyph.
                TextVisibility::Doubt(HidingMethod::Invisible)
            } else {
                TextVisibility::Seen
            };
            let step = (to - from) / text.len().max(1) as f64;
            for (at, character) in text.into_iter().enumerate() {
                let from = from + step * at as f64;
                let (to, size) = (from + step, height);
                let glyph = PageGlyph {
                    character,
                    from,
                    to,
                    size,
                    hidden: None,
                    doubt: None,
                    other,
                    step: 0,
                };
                self.character(glyph, width, known, &fill);
            }
        }
    }

    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        let paint = self.paint(&props.paint, props.soft_mask.is_some(), props.blend_mode);
        let outline = props.transform * path;
        if let DrawMode::Fill(rule) | DrawMode::FillAndStroke(rule, _) = mode {
            self.fill(&outline, *rule == FillRule::EvenOdd, paint);
        }
        if let DrawMode::Stroke(stroke) | DrawMode::FillAndStroke(_, stroke) = mode {
            let width = f64::from(stroke.line_width) * props.transform.determinant().abs().sqrt();
            // Stroking is costly: a long path is hardly the background of text.
            if width >= THICK && path.elements().len() <= 500 {
                let style = kurbo::Stroke::new(width)
                    .with_join(stroke.line_join)
                    .with_caps(stroke.line_cap);
                let line = kurbo::stroke(outline, &style, &kurbo::StrokeOpts::default(), 0.5);
                self.fill(&line, false, paint);
            }
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let (width, height) = (f64::from(image.width()), f64::from(image.height()));
        let outline = props.transform * Rect::new(0.0, 0.0, width, height).to_path(0.1);
        let area = outline.bounding_box().intersect(self.clip());
        let share = area.width().max(0.0) * area.height().max(0.0) / self.page.area();
        self.picture = self.picture.max(share);
        // Icons and lines drawn as pictures are not counted.
        self.pictures += u64::from(area.width() > 24.0 && area.height() > 24.0);
        let whole = match &image {
            Image::Raster(image) => {
                let entries = image.stream().dict();
                !["SMask", "Mask", "SMaskInData"].iter().any(|key| entries.contains_key(key))
            }
            Image::Stencil(_) => false,
        };
        let source = Source::Color(hayro_interpret::color::Color::from_rgba(
            hayro_interpret::color::AlphaColor::new([0.0, 0.0, 0.0, 1.0]),
        ));
        let mut paint = self.paint(&source, props.soft_mask.is_some() || !whole, props.blend_mode);
        // The picture is not decoded, so its colour is unknown.
        paint.colour = None;
        self.fill(&outline, false, paint);
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        let area = clip.path.bounding_box();
        // A path within 2 % of its bounding box counts as a rectangle.
        let plain = (clip.path.area().abs() - area.area()).abs() <= area.area() * 0.02;
        let outline =
            (!plain && clip.path.elements().len() <= CLIP_ELEMENTS).then(|| clip.path.clone());
        self.clips.push(ClipRegion { area, outline });
    }

    fn pop_clip(&mut self) {
        self.clips.pop();
    }

    fn push_transparency_group(
        &mut self,
        opacity: f32,
        mask: Option<SoftMask<'a>>,
        mode: BlendMode,
    ) {
        let mask = mask.map(|mask| self.probes.mask(&mask));
        let (odd, mode) = (hidden::odd(mode), mask.is_none().then_some(mode));
        self.groups.push(TransparencyGroup { opacity, mode, odd, mask });
    }

    fn pop_transparency_group(&mut self) {
        self.groups.pop();
    }
}

/// Returns true for a glyph without an outline.
fn blank(glyph: &Shape<'_>) -> bool {
    matches!(glyph, Shape::Outline(glyph) if glyph.outline().segments().next().is_none())
}

/// Returns the plain form of a character: ligatures and presentation forms are decomposed, symbol
/// fonts are mapped to Unicode, and control characters are dropped.
fn plain(character: char) -> impl Iterator<Item = char> {
    let mark = match character {
        '\u{F0B7}' | '\u{F0A7}' | '\u{F0D8}' | '\u{F076}' => '•',
        '\u{F0A8}' | '\u{F06F}' | '\u{F0A3}' => '☐',
        '\u{F0FE}' | '\u{F052}' => '☑',
        '\u{F0FC}' => '✓',
        character => character,
    };
    let shown = !mark.is_control() || mark.is_whitespace();
    let form = matches!(mark, '\u{FB00}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}');
    let forms = form.then(|| mark.nfkc()).into_iter().flatten();
    forms.chain((shown && !form).then_some(mark))
}
