//! Geometry of boxes: displacement, area and orientation after transforms, the area left by shapes,
//! and the size that the parent leaves.

use super::super::style::computed::ComputedStyle;
use super::super::values::property::{CssProperty as P, NumericFunction, PropertyValue};
use super::super::values::value::{ComputedNumber, UnitScale};

/// A matrix of four columns.
type Matrix = [[f32; 4]; 4];

const NOTHING: Matrix =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

/// A box after its transforms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransformedBox {
    /// Displacement of its middle, in pixels.
    pub x: f32,
    pub y: f32,
    /// Its area relative to the original one; negative if its back is shown.
    pub area: f32,
    /// True if it is behind the viewer.
    pub behind: bool,
}

/// Applies `calls` to a box of this size.
pub fn moved<'c>(
    calls: impl Iterator<Item = &'c NumericFunction>,
    origin: Option<&NumericFunction>,
    scale: &UnitScale<'_>,
    (width, height): (f32, f32),
) -> TransformedBox {
    // The origin of the transforms, relative to the middle of the box.
    let at = |at: usize, side: f32| {
        let arg = origin.and_then(|origin| origin.args.get(at));
        arg.map_or(0.0, |arg| arg.compute(scale).px(side) - side / 2.0)
    };
    let (x, y) = (at(0, width), at(1, height));
    let shift = |x, y| {
        let [a, b, c, _] = NOTHING;
        [a, b, c, [x, y, 0.0, 1.0]]
    };
    let mut all = shift(x, y);
    for call in calls {
        all = times(&all, &matrix(call, scale, (width, height)));
    }
    all = times(&all, &shift(-x, -y));
    let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
    let at = corners.map(|(x, y)| project(&all, x * width, y * height));
    let behind = at.iter().any(|(.., w)| *w <= 0.0);
    let next = at.iter().cycle().skip(1);
    let area: f32 = at.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f32>() / 2.0;
    let (x, y, _) = project(&all, 0.0, 0.0);
    TransformedBox { x, y, area: area / (width * height), behind }
}

fn project(m: &Matrix, x: f32, y: f32) -> (f32, f32, f32) {
    let [a, b, _, d] = m;
    let part = |at: usize| {
        let of = |column: &[f32; 4]| column.get(at).copied().unwrap_or_default();
        of(a) * x + of(b) * y + of(d)
    };
    let w = part(3);
    // Points behind the viewer are recognised by `w`; their coordinates do not matter.
    let by = if w > 0.0 { w } else { 1.0 };
    (part(0) / by, part(1) / by, w)
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    b.map(|column| {
        let mut out = [0.0; 4];
        for (part, from) in column.iter().zip(a) {
            for (sum, value) in out.iter_mut().zip(from) {
                *sum += part * value;
            }
        }
        out
    })
}

/// Returns the matrix of one function.
fn matrix(call: &NumericFunction, scale: &UnitScale<'_>, (width, height): (f32, f32)) -> Matrix {
    let sizes: Vec<ComputedNumber> = call.args.iter().map(|arg| arg.compute(scale)).collect();
    let n = |at: usize| sizes.get(at).map(|size| size.fraction());
    let px = |at: usize, base: f32| sizes.get(at).map_or(0.0, |size| size.px(base));
    let flat = |a, b, c, d, e, f| {
        [[a, b, 0.0, 0.0], [c, d, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [e, f, 0.0, 1.0]]
    };
    let scaled = |x, y| flat(x, 0.0, 0.0, y, 0.0, 0.0);
    let shifted = |x, y, z| {
        let [a, b, c, _] = NOTHING;
        [a, b, c, [x, y, z, 1.0]]
    };
    let one = n(0).unwrap_or(1.0);
    let turn = |at: usize| n(at).unwrap_or_default().to_radians();
    match call.name {
        "translate" => shifted(px(0, width), px(1, height), 0.0),
        "translatex" => shifted(px(0, width), 0.0, 0.0),
        "translatey" => shifted(0.0, px(0, height), 0.0),
        "translatez" => shifted(0.0, 0.0, px(0, 0.0)),
        "translate3d" => shifted(px(0, width), px(1, height), px(2, 0.0)),
        "scale" => scaled(one, n(1).unwrap_or(one)),
        "scalex" => scaled(one, 1.0),
        "scaley" => scaled(1.0, one),
        "scale3d" => scaled(one, n(1).unwrap_or(1.0)),
        "rotate" | "rotatez" => rotated([0.0, 0.0, 1.0], turn(0)),
        "rotatex" => rotated([1.0, 0.0, 0.0], turn(0)),
        "rotatey" => rotated([0.0, 1.0, 0.0], turn(0)),
        "rotate3d" => {
            let axis = |at| n(at).unwrap_or_default();
            rotated([axis(0), axis(1), axis(2)], turn(3))
        }
        "skew" => flat(1.0, turn(1).tan(), turn(0).tan(), 1.0, 0.0, 0.0),
        "skewx" => flat(1.0, 0.0, turn(0).tan(), 1.0, 0.0, 0.0),
        "skewy" => flat(1.0, turn(0).tan(), 0.0, 1.0, 0.0, 0.0),
        "perspective" => {
            let far = px(0, 0.0).max(1.0);
            let [a, b, _, d] = NOTHING;
            [a, b, [0.0, 0.0, 1.0, -1.0 / far], d]
        }
        "matrix" => match sizes.as_slice() {
            [a, b, c, d, e, f] => flat(a.n, b.n, c.n, d.n, e.n, f.n),
            _ => NOTHING,
        },
        "matrix3d" => {
            let mut out = NOTHING;
            for (column, sizes) in out.iter_mut().zip(sizes.chunks(4)) {
                for (slot, size) in column.iter_mut().zip(sizes) {
                    *slot = size.n;
                }
            }
            out
        }
        _ => NOTHING,
    }
}

/// Returns the matrix of a turn about an axis.
fn rotated([x, y, z]: [f32; 3], angle: f32) -> Matrix {
    let long = (x * x + y * y + z * z).sqrt();
    if long == 0.0 {
        return NOTHING;
    }
    let (x, y, z) = (x / long, y / long, z / long);
    let (sin, cos) = angle.sin_cos();
    let rest = 1.0 - cos;
    [
        [cos + x * x * rest, y * x * rest + z * sin, z * x * rest - y * sin, 0.0],
        [x * y * rest - z * sin, cos + y * y * rest, z * y * rest + x * sin, 0.0],
        [x * z * rest + y * sin, y * z * rest - x * sin, cos + z * z * rest, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
}

/// Typical boxes of text: a word, a line, a page.
const BOXES: [(f32, f32); 3] = [(60.0, 16.0), (600.0, 20.0), (1264.0, 400.0)];

/// Maximum width or height of a strip that shows no text, in pixels.
const STRIP: f32 = 3.0;

/// The part of a box that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxRemainder {
    Some,
    Nothing,
    /// It depends on the size of the box, or is not computed.
    Unknown,
}

/// Returns the part of a box that `clip` or `clip-path` leaves. If its size is unknown, typical
/// boxes are tried.
pub fn left(
    calls: &[NumericFunction],
    scale: &UnitScale<'_>,
    size: (Option<f32>, Option<f32>),
) -> BoxRemainder {
    let Some(call) = calls.first() else { return BoxRemainder::Some };
    if call.name == "other" {
        return BoxRemainder::Unknown;
    }
    let args: Vec<ComputedNumber> = call.args.iter().map(|arg| arg.compute(scale)).collect();
    let empty = BOXES.map(|(width, height)| {
        area(call.name, &args, size.0.unwrap_or(width), size.1.unwrap_or(height)) <= 4.0
    });
    match (empty.contains(&true), empty.contains(&false)) {
        (true, false) => BoxRemainder::Nothing,
        (true, true) => BoxRemainder::Unknown,
        _ => BoxRemainder::Some,
    }
}

/// Returns an upper bound of the area that a shape leaves of a box, in square pixels.
fn area(name: &str, args: &[ComputedNumber], width: f32, height: f32) -> f32 {
    let across = |at: usize| args.get(at).map_or(0.0, |size| size.px(width));
    let down = |at: usize| args.get(at).map_or(0.0, |size| size.px(height));
    let within = |left: f32, top: f32, right: f32, bottom: f32| {
        let wide = right.min(width) - left.max(0.0);
        let high = bottom.min(height) - top.max(0.0);
        // A strip shows no text.
        if wide.min(high) <= STRIP { 0.0 } else { wide * high }
    };
    match name {
        "inset" => within(across(3), down(0), width - across(1), height - down(2)),
        "rect" => within(across(3), down(0), across(1), down(2)),
        "xywh" => within(across(0), down(1), across(0) + across(2), down(1) + down(3)),
        "circle" | "ellipse" => {
            let (rx, ry, x, y) = match name {
                "circle" => {
                    // Percentages of a radius refer to the diagonal divided by the square root of
                    // two (CSS Shapes).
                    let base = (width * width + height * height).sqrt() / std::f32::consts::SQRT_2;
                    let radius = across(0).max(args.first().map_or(0.0, |size| size.px(base)));
                    (radius, radius, across(1), down(2))
                }
                _ => (across(0), down(1), across(2), down(3)),
            };
            within(x - rx, y - ry, x + rx, y + ry)
        }
        "polygon" => {
            let points: Vec<(f32, f32)> = args
                .chunks(2)
                .filter_map(|pair| Some((pair.first()?.px(width), pair.get(1)?.px(height))))
                .collect();
            let next = points.iter().cycle().skip(1);
            let twice: f32 = points.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum();
            let edge = |by: fn(f32, f32) -> f32, of: fn(&(f32, f32)) -> f32| {
                points.iter().map(of).reduce(by).unwrap_or_default()
            };
            let bounds = within(
                edge(f32::min, |point| point.0),
                edge(f32::min, |point| point.1),
                edge(f32::max, |point| point.0),
                edge(f32::max, |point| point.1),
            );
            bounds.min(twice.abs() / 2.0)
        }
        _ => width * height,
    }
}

/// The columns and rows of a grid: true for each track without size.
#[derive(Debug)]
pub struct GridTracks {
    columns: Vec<bool>,
    rows: Vec<bool>,
    /// True if rows without a template have no size.
    more: bool,
    /// The number of items so far.
    items: usize,
}

impl GridTracks {
    /// Returns the grid of an element if some of its tracks have no size.
    pub fn from_style(style: &ComputedStyle) -> Option<Self> {
        let tracks = |property| match style.get(property) {
            Some(PropertyValue::Names(names)) => names.iter().map(|name| **name == *"0").collect(),
            _ => Vec::new(),
        };
        let (columns, rows) = (tracks(P::GridColumns), tracks(P::GridRows));
        let more = tracks(P::GridRowsAuto).first() == Some(&true);
        let any = more || columns.contains(&true) || rows.contains(&true);
        any.then_some(Self { columns, rows, more, items: 0 })
    }

    /// Counts an item; returns whether its column has no width, and its row no height.
    pub fn item(&mut self) -> Option<(bool, bool)> {
        let across = self.columns.len().max(1);
        let (column, row) = (self.items % across, self.items / across);
        self.items += 1;
        let width = self.columns.get(column).copied().unwrap_or(false);
        Some((width, self.rows.get(row).copied().unwrap_or(self.more)))
    }
}

/// The properties of a parent that can make a box small.
#[derive(Debug, Clone, Copy)]
pub struct EnclosingBox {
    /// True if it places boxes below each other.
    pub stacks: bool,
    /// The flexible axis: true for the width.
    pub flexes: Option<bool>,
    /// True if the box is in a column without width, and in a row without height.
    pub item: Option<(bool, bool)>,
    /// True if the box is not in the flow.
    pub out: bool,
}

/// Returns the width and height that the parent leaves of a box: containment, a ratio, tracks and
/// flexible lines can reduce them to zero.
pub fn squeezed(
    style: &ComputedStyle,
    around: EnclosingBox,
    (mut width, mut height): (Option<f32>, Option<f32>),
) -> (Option<f32>, Option<f32>) {
    let least = |side| style.size(side).is_some_and(|size| size.n > 0.0 || size.part > 0.0);
    let auto = |side| style.size(side).is_none();
    let (free_width, free_height) = (!least(P::MinWidth), !least(P::MinHeight));
    let held = style.keyword(P::Contain).unwrap_or_default();
    let holder = style.keyword(P::ContainerType).unwrap_or_default();
    let sized = matches!(held, "size" | "strict") || holder == "size";
    // An intrinsic size replaces the one that containment takes away.
    if style.get(P::ContainSize).is_none() {
        if sized && auto(P::Height) && free_height && around.stacks {
            height = Some(0.0);
        }
        let across = sized || held == "inline-size" || holder == "inline-size";
        let shrinks = around.out || style.is(P::Display, "inline-block");
        if across && shrinks && auto(P::Width) && free_width {
            width = Some(0.0);
        }
    }
    if let Some(ratio) = style.size(P::AspectRatio).map(|ratio| ratio.n) {
        match (width, height) {
            (Some(width), None) if auto(P::Height) && free_height => height = Some(width / ratio),
            (None, Some(height)) if auto(P::Width) && free_width => width = Some(height * ratio),
            _ => {}
        }
    }
    // Boxes out of the flow are not items of a flexible line or a grid.
    if around.out {
        return (width, height);
    }
    let grows = style.size(P::FlexGrow).is_some_and(|grow| grow.n > 0.0);
    let basis = style.size(P::FlexBasis).map(|basis| basis.n + basis.part);
    match (around.flexes, basis) {
        // A growing box takes an unknown part of its line.
        (Some(true), _) if grows => width = None,
        (Some(true), Some(0.0)) if free_width => width = Some(0.0),
        (Some(false), Some(0.0)) if free_height && !grows => height = Some(0.0),
        _ => {}
    }
    let (no_width, no_height) = around.item.unwrap_or_default();
    if no_width && auto(P::Width) && free_width {
        width = Some(0.0);
    }
    if no_height && auto(P::Height) && free_height {
        height = Some(0.0);
    }
    (width, height)
}
