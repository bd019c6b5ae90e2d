//! What lies behind and over the characters of a page: its ground, cell by cell, as it is painted.
//! Decides which characters nobody sees; where a ground is not known, they count as seen.

use crate::How;
use hayro_interpret::BlendMode;
use hayro_interpret::kurbo::{self, BezPath, PathEl, Point, Rect};

/// The cells of a page at most; a cell of an A4 page is 1.4 points wide then.
const CELLS: f64 = 250_000.0;
/// Differences of a channel, of 255, up to which two colours are taken for one.
const ALIKE: u8 = 20;
/// The share of a colour under which a character counts as transparent.
const FAINT: f32 = 0.1;
/// The height or width of an em, in points, under which nobody reads.
const TINY: f64 = 1.5;

/// A colour, unless it comes from a picture or a pattern.
pub(super) type Colour = Option<[u8; 3]>;

/// How something is painted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub colour: Colour,
    pub alpha: f32,
    /// `None`: a mask or groups of several modes, which say nothing about what is seen.
    pub mode: Option<BlendMode>,
}

impl Paint {
    /// Returns the colour that is seen over a ground.
    fn over(&self, ground: Colour) -> Colour {
        if self.alpha < 0.01 {
            return ground;
        }
        let (colour, ground) = (self.colour?, ground?);
        let blend = |below: u8, own: u8| -> Option<u8> {
            let (b, o) = (f32::from(below) / 255.0, f32::from(own) / 255.0);
            let mixed = match self.mode? {
                BlendMode::Normal => o,
                BlendMode::Multiply => b * o,
                BlendMode::Screen => 1.0 - (1.0 - b) * (1.0 - o),
                BlendMode::Darken => b.min(o),
                BlendMode::Lighten => b.max(o),
                _ => return None,
            };
            Some(((b + (mixed - b) * self.alpha) * 255.0).round() as u8)
        };
        let [r, g, b] = ground;
        let [own_r, own_g, own_b] = colour;
        Some([blend(r, own_r)?, blend(g, own_g)?, blend(b, own_b)?])
    }

    /// Returns true if nothing is seen of what it is painted over.
    fn covers(&self) -> bool {
        self.alpha > 0.97 && self.mode == Some(BlendMode::Normal)
    }
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    colour: Colour,
    /// When it was last covered; see [`Ground::step`].
    covered: u32,
}

/// The ground of a page.
#[derive(Debug)]
pub(super) struct Ground {
    cells: Vec<Cell>,
    columns: usize,
    width: f64,
    height: f64,
    /// The width of a cell, in points.
    cell: f64,
    /// Counts what is painted.
    step: u32,
    /// True once something could not be painted: nothing is known of any ground then.
    blind: bool,
}

impl Ground {
    /// Returns white paper.
    pub fn new(width: f64, height: f64) -> Self {
        let cell = (width * height / CELLS).sqrt().max(1.0);
        let columns = (width / cell).ceil().clamp(1.0, CELLS) as usize;
        let rows = (height / cell).ceil().clamp(1.0, CELLS) as usize;
        let white = Cell { colour: Some([255; 3]), covered: 0 };
        let cells = vec![white; columns.saturating_mul(rows).min(4 * CELLS as usize)];
        Self { cells, columns, width, height, cell, step: 0, blind: false }
    }

    /// Returns the number of the next thing painted.
    pub fn step(&mut self) -> u32 {
        self.step = self.step.saturating_add(1);
        self.step
    }

    fn at(&self, point: Point) -> Option<&Cell> {
        if point.x < 0.0 || point.y < 0.0 || point.x >= self.width || point.y >= self.height {
            return None;
        }
        let (column, row) = ((point.x / self.cell) as usize, (point.y / self.cell) as usize);
        self.cells.get(row * self.columns + column)
    }

    /// Paints an area of the page within a clip. Each cell painted is taken from `left`; once
    /// too few are left, no ground is known any more.
    pub fn paint(
        &mut self,
        path: &BezPath,
        even_odd: bool,
        clip: Rect,
        paint: &Paint,
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
        paint: &Paint,
        left: &mut u64,
    ) -> Option<()> {
        let step = self.step();
        let clip = clip.intersect(Rect::new(0.0, 0.0, self.width, self.height));
        let box_ = path.control_box().intersect(clip);
        if box_.width() <= 0.0 || box_.height() <= 0.0 {
            return Some(());
        }
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
                cells.fill(Cell { colour: paint.colour, covered: step });
            } else {
                cells.iter_mut().for_each(|cell| cell.colour = paint.over(cell.colour));
            }
        }
        Some(())
    }

    /// Returns the rows of cells whose middle lies between two heights.
    fn rows(&self, from: f64, to: f64) -> std::ops::Range<usize> {
        let row = |y: f64| (y / self.cell - 0.5).ceil().max(0.0) as usize;
        row(from)..row(to).min(self.cells.len() / self.columns)
    }

    /// Returns where the outline of a path crosses the middles of rows, and in which direction.
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
            // They are sorted, which is dearer than painting.
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

    /// Returns why a character on the page is not seen when it is drawn, its middle and size given.
    pub fn hides(&self, middle: Point, size: f64, paint: &Paint) -> Option<How> {
        if paint.alpha < FAINT {
            return Some(How::Transparent);
        }
        if size < TINY {
            return Some(How::Tiny);
        }
        let known = self.at(middle)?.colour.filter(|_| !self.blind);
        let (ground, seen) = (known?, paint.over(known)?);
        let alike = ground.iter().zip(seen).all(|(a, b)| a.abs_diff(b) <= ALIKE);
        alike.then_some(How::Colour)
    }

    /// Returns true if all of these points have been covered since a step.
    pub fn covered(&self, points: [Point; 3], since: u32) -> bool {
        let covered = |point| self.at(point).is_some_and(|cell| cell.covered > since);
        !self.blind && points.into_iter().all(covered)
    }
}
