//! Transforms in the plane, and the part of a box that `clip` and `clip-path` leave.

use super::super::values::property::NumericFunction;
use super::super::values::value::{ComputedNumber, UnitScale};

/// A matrix `[a, b, c, d, e, f]` as in `matrix()`.
type Matrix = [f32; 6];

/// A box after its transforms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransformedBox {
    /// Displacement of its middle, in pixels.
    pub x: f32,
    pub y: f32,
    /// The smallest scale in any direction.
    pub scale: f32,
}

/// Applies `calls` to a box of this size, in pixels. The origin is its middle.
pub fn moved(calls: &[NumericFunction], scale: &UnitScale, size: (f32, f32)) -> TransformedBox {
    let start = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let [a, b, c, d, x, y] =
        calls.iter().fold(start, |all, call| times(all, matrix(call, scale, size)));
    // The smaller singular value of the matrix: its area by the larger one.
    let squares = a * a + b * b + c * c + d * d;
    let area = (a * d - b * c).abs();
    let root = (squares * squares - 4.0 * area * area).max(0.0).sqrt();
    let largest = f32::midpoint(squares, root).sqrt();
    let scale = if largest > 0.0 { area / largest } else { 0.0 };
    TransformedBox { x, y, scale }
}

fn times([a, b, c, d, e, f]: Matrix, [u, v, w, z, x, y]: Matrix) -> Matrix {
    [
        a * u + c * v,
        b * u + d * v,
        a * w + c * z,
        b * w + d * z,
        a * x + c * y + e,
        b * x + d * y + f,
    ]
}

/// Returns the matrix of one function.
fn matrix(call: &NumericFunction, scale: &UnitScale, (width, height): (f32, f32)) -> Matrix {
    let sizes: Vec<ComputedNumber> = call.args.iter().map(|arg| arg.compute(scale)).collect();
    let n = |at: usize| sizes.get(at).map(|size| size.fraction());
    let px = |at: usize, base: f32| sizes.get(at).map_or(0.0, |size| size.px(base));
    let one = n(0).unwrap_or(1.0);
    let tan = |at: usize| n(at).unwrap_or_default().to_radians().tan();
    match call.name {
        "translate" | "translate3d" => [1.0, 0.0, 0.0, 1.0, px(0, width), px(1, height)],
        "translatex" => [1.0, 0.0, 0.0, 1.0, px(0, width), 0.0],
        "translatey" => [1.0, 0.0, 0.0, 1.0, 0.0, px(0, height)],
        "scale" => [one, 0.0, 0.0, n(1).unwrap_or(one), 0.0, 0.0],
        "scalex" => [one, 0.0, 0.0, 1.0, 0.0, 0.0],
        "scaley" => [1.0, 0.0, 0.0, one, 0.0, 0.0],
        "rotate" | "rotatez" => {
            let (sin, cos) = one.to_radians().sin_cos();
            [cos, sin, -sin, cos, 0.0, 0.0]
        }
        "skew" => [1.0, tan(1), tan(0), 1.0, 0.0, 0.0],
        "skewx" => [1.0, 0.0, tan(0), 1.0, 0.0, 0.0],
        "skewy" => [1.0, tan(0), 0.0, 1.0, 0.0, 0.0],
        _ => [0, 1, 2, 3, 4, 5].map(|at| n(at).unwrap_or_default()),
    }
}

/// Typical boxes of text: a word, a line, a page.
const BOXES: [(f32, f32); 4] = [(60.0, 16.0), (600.0, 20.0), (1264.0, 400.0), (1264.0, 4_000.0)];

/// Maximum width or height of a strip that shows no text, in pixels.
const STRIP: f32 = 3.0;

/// The part of a box that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxRemainder {
    Some,
    Nothing,
    /// It depends on the size of the box.
    Unknown,
}

/// Returns the part of a box that `clip` or `clip-path` leaves. If its size is unknown, typical
/// boxes are tried.
pub fn left(
    calls: &[NumericFunction],
    scale: &UnitScale,
    size: (Option<f32>, Option<f32>),
) -> BoxRemainder {
    let Some(call) = calls.first() else { return BoxRemainder::Some };
    let args: Vec<ComputedNumber> = call.args.iter().map(|arg| arg.compute(scale)).collect();
    let empty = BOXES.map(|(width, height)| {
        is_empty(call.name, &args, size.0.unwrap_or(width), size.1.unwrap_or(height))
    });
    match (empty.contains(&true), empty.contains(&false)) {
        (true, false) => BoxRemainder::Nothing,
        (true, true) => BoxRemainder::Unknown,
        _ => BoxRemainder::Some,
    }
}

/// Returns true if a shape cuts off all text of a box.
fn is_empty(name: &str, args: &[ComputedNumber], width: f32, height: f32) -> bool {
    let across = |at: usize| args.get(at).map_or(0.0, |size| size.px(width));
    let down = |at: usize| args.get(at).map_or(0.0, |size| size.px(height));
    let (left, top, right, bottom) = match name {
        "inset" => (across(3), down(0), width - across(1), height - down(2)),
        "rect" => (across(3), down(0), across(1), down(2)),
        // The circle is as wide as high, wherever it is.
        _ => return 2.0 * across(0).max(down(0)) <= STRIP,
    };
    let wide = right.min(width) - left.max(0.0);
    let high = bottom.min(height) - top.max(0.0);
    wide.min(high) <= STRIP
}
