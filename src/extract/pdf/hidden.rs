//! The background and coverage of characters on a page, painted cell by cell to find invisible
//! characters. On a picture or gradient, characters count as visible, because honest headings are;
//! if their own paint is unknown, or hardly differs from the background, they are in doubt.

use daysheet_core::text::visibility::{CLEAR, HidingMethod, TextVisibility};
use hayro_interpret::BlendMode;
use hayro_interpret::kurbo::{self, BezPath, PathEl, Point, Rect};

use crate::run_style::channels;

/// Maximum cells of a page. Cells of an A4 page are then 1.4 points wide.
const CELLS: f64 = 250_000.0;
/// A colour; `None` if it comes from a picture or pattern.
pub(super) type PlainColour = Option<[u8; 3]>;

/// The paint of a drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellPaint {
    pub colour: PlainColour,
    pub alpha: f32,
    /// `None` for a mask, or for nested groups of different modes: the result is then unknown.
    pub mode: Option<BlendMode>,
    /// True if one of the modes is not computed.
    pub odd: bool,
}

/// Returns true for a mode that is not computed, because it is hardly ever used for text.
pub(super) fn odd(mode: BlendMode) -> bool {
    use BlendMode::{Darken, Lighten, Multiply, Normal, Screen};
    !matches!(mode, Normal | Multiply | Screen | Darken | Lighten)
}

/// Blends two values of a channel (ISO 32000-1, 11.3.5.2). Returns `None` for [`odd`] modes.
fn mixed(mode: BlendMode, below: f32, own: f32) -> Option<f32> {
    Some(match mode {
        BlendMode::Normal => own,
        BlendMode::Multiply => below * own,
        BlendMode::Screen => 1.0 - (1.0 - below) * (1.0 - own),
        BlendMode::Darken => below.min(own),
        BlendMode::Lighten => below.max(own),
        _ => return None,
    })
}

impl CellPaint {
    /// Returns the colour that results from this paint on a background.
    fn over(&self, background: PlainColour) -> PlainColour {
        if self.alpha < 0.01 {
            return background;
        }
        let (colour, background) = (self.colour?, background?);
        let blend = |below: u8, own: u8| -> Option<u8> {
            let (b, o) = (f32::from(below) / 255.0, f32::from(own) / 255.0);
            let mixed = mixed(self.mode?, b, o)?;
            Some(((b + (mixed - b) * self.alpha) * 255.0).round() as u8)
        };
        let [r, g, b] = background;
        let [own_r, own_g, own_b] = colour;
        Some([blend(r, own_r)?, blend(g, own_g)?, blend(b, own_b)?])
    }

    /// Returns true if this paint completely hides its background.
    fn covers(&self) -> bool {
        self.alpha > 0.97 && self.mode == Some(BlendMode::Normal)
    }
}

#[derive(Debug, Clone, Copy)]
struct BackdropCell {
    colour: PlainColour,
    /// The step at which it was covered last; see [`PageBackdrop::step`].
    covered: u32,
}

/// The backdrop of a page: the colours behind its text.
#[derive(Debug)]
pub(super) struct PageBackdrop {
    cells: Vec<BackdropCell>,
    columns: usize,
    width: f64,
    height: f64,
    /// The width of a cell, in points.
    cell: f64,
    /// The number of paintings so far.
    step: u32,
    /// True once something could not be painted, which makes the whole backdrop unknown.
    blind: bool,
}

impl PageBackdrop {
    /// Returns white paper.
    pub fn new(width: f64, height: f64) -> Self {
        let cell = (width * height / CELLS).sqrt().max(1.0);
        let columns = (width / cell).ceil().clamp(1.0, CELLS) as usize;
        let rows = (height / cell).ceil().clamp(1.0, CELLS) as usize;
        let white = BackdropCell { colour: Some([255; 3]), covered: 0 };
        let cells = vec![white; columns.saturating_mul(rows).min(4 * CELLS as usize)];
        Self { cells, columns, width, height, cell, step: 0, blind: false }
    }

    /// Returns the number of the next painting.
    pub fn step(&mut self) -> u32 {
        self.step = self.step.saturating_add(1);
        self.step
    }

    fn at(&self, point: Point) -> Option<&BackdropCell> {
        if point.x < 0.0 || point.y < 0.0 || point.x >= self.width || point.y >= self.height {
            return None;
        }
        let (column, row) = ((point.x / self.cell) as usize, (point.y / self.cell) as usize);
        self.cells.get(row * self.columns + column)
    }

    /// Paints an area of the page within a clip. Each painted cell is taken from `left`; once it is
    /// exhausted, the backdrop becomes unknown.
    pub fn paint(
        &mut self,
        path: &BezPath,
        even_odd: bool,
        clip: Rect,
        paint: &CellPaint,
        left: &mut u64,
    ) {
        if !self.blind && self.painted(path, even_odd, clip, paint, left).is_none() {
            *left = 0;
            self.blind = true;
        }
    }

    fn painted(
        &mut self,
        path: &BezPath,
        even_odd: bool,
        clip: Rect,
        paint: &CellPaint,
        left: &mut u64,
    ) -> Option<()> {
        let step = self.step();
        let clip = clip.intersect(Rect::new(0.0, 0.0, self.width, self.height));
        let box_ = path.control_box().intersect(clip);
        if box_.width() <= 0.0 || box_.height() <= 0.0 {
            return Some(());
        }
        // The areas between the crossings of a path with the middle of each row, as in any scanline
        // fill.
        let rows = self.rows(box_.y0, box_.y1);
        let mut crossings = self.crossings(path, rows, left)?;
        crossings.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut winding = 0i32;
        let next = crossings.iter().skip(1).map(Some).chain([None]);
        for (&(row, from, turn), next) in crossings.iter().zip(next) {
            let Some(&(next_row, to, _)) = next else { break };
            winding += turn;
            if next_row != row {
                winding = 0;
                continue;
            }
            if winding == 0 || even_odd && winding % 2 == 0 {
                continue;
            }
            let column =
                |x: f64| ((x / self.cell - 0.5).ceil().max(0.0) as usize).min(self.columns);
            let (first, last) = (column(from.max(clip.x0)), column(to.min(clip.x1)));
            let line = row * self.columns;
            let Some(cells) = self.cells.get_mut(line + first..line + last) else { continue };
            *left = left.checked_sub(cells.len() as u64)?;
            if paint.covers() {
                cells.fill(BackdropCell { colour: paint.colour, covered: step });
            } else {
                cells.iter_mut().for_each(|cell| cell.colour = paint.over(cell.colour));
            }
        }
        Some(())
    }

    /// Returns the rows of cells whose middle is between two heights.
    fn rows(&self, from: f64, to: f64) -> std::ops::Range<usize> {
        let row = |y: f64| (y / self.cell - 0.5).ceil().max(0.0) as usize;
        row(from)..row(to).min(self.cells.len() / self.columns)
    }

    /// Returns the points at which the outline of a path crosses the middle of a row, with the
    /// direction.
    fn crossings(
        &self,
        path: &BezPath,
        rows: std::ops::Range<usize>,
        left: &mut u64,
    ) -> Option<Vec<(usize, f64, i32)>> {
        let mut found = Vec::new();
        let (mut start, mut last) = (Point::ZERO, Point::ZERO);
        let mut enough = true;
        let mut line = |from: Point, to: Point, found: &mut Vec<_>| {
            let turn = if from.y < to.y { 1 } else { -1 };
            let own = self.rows(from.y.min(to.y), from.y.max(to.y));
            let own = own.start.max(rows.start)..own.end.min(rows.end);
            // Crossings are sorted later, which costs more than painting.
            match left.checked_sub(1 + 16 * own.len() as u64) {
                Some(rest) => *left = rest,
                None => enough = false,
            }
            if !enough {
                return;
            }
            for row in own {
                let y = (row as f64 + 0.5) * self.cell;
                let x = from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y);
                found.push((row, x, turn));
            }
        };
        kurbo::flatten(path, 0.5, |element| match element {
            PathEl::MoveTo(to) => {
                line(last, start, &mut found);
                (start, last) = (to, to);
            }
            PathEl::LineTo(to) => {
                line(last, to, &mut found);
                last = to;
            }
            PathEl::ClosePath => {
                line(last, start, &mut found);
                last = start;
            }
            _ => {}
        });
        line(last, start, &mut found);
        enough.then_some(found)
    }

    /// Returns the visibility of a character at the time of drawing, given its centre and the
    /// height and width of its em.
    pub fn visibility(
        &self,
        middle: Point,
        (height, width): (f64, f64),
        paint: &CellPaint,
    ) -> TextVisibility {
        if paint.alpha < CLEAR {
            return TextVisibility::Hidden(HidingMethod::Transparent);
        }
        let size = TextVisibility::of_size(height.min(width));
        if size.is_hidden() {
            return size;
        }
        if paint.colour.is_none() {
            return TextVisibility::Doubt(HidingMethod::Picture);
        }
        // If the background is unknown because of the limit, white paper is assumed.
        let known =
            if self.blind { Some([255; 3]) } else { self.at(middle).and_then(|c| c.colour) };
        let Some(background) = known else { return size };
        // If the mode is unknown, the paint's own colour counts.
        let plain = CellPaint { mode: Some(BlendMode::Normal), ..*paint };
        let seen = if paint.mode.is_some() { paint.over(known) } else { plain.over(known) };
        let Some(seen) = seen.filter(|_| !paint.odd) else {
            return TextVisibility::Doubt(HidingMethod::Colour);
        };
        let colour = TextVisibility::of_colour(channels(seen), channels(background), 1.0, height);
        let is_sure = !self.blind && paint.mode.is_some();
        if colour.is_hidden() && !is_sure {
            return TextVisibility::Doubt(HidingMethod::Colour);
        }
        colour.max(size)
    }

    /// Returns true if all of these points have been covered since a step.
    pub fn covered(&self, points: [Point; 3], since: u32) -> bool {
        let covered = |point| self.at(point).is_some_and(|cell| cell.covered > since);
        !self.blind && points.into_iter().all(covered)
    }
}
