//! Shapes and conditions in OpenDocument, as far as they decide on the visibility of text.

use super::styles::{OdfStyle, points};
use crate::run_style::PageSize;
use crate::xml::XmlElement;
use daysheet_core::text::visibility::{FLAT, HidingMethod, TextVisibility};

/// The elements for shapes, or for frames around other content.
const SHAPES: &[&str] = &[
    "frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "measure",
    "caption", "polyline", "polygon", "regular-polygon", "path",
];

/// Returns true for an element that has a position and may have text.
pub fn is_shape(name: &str) -> bool {
    SHAPES.contains(&name)
}

/// Returns the visibility of the text in a shape, judged by its position and size. Positions are
/// `fixed` on a slide or sheet; in a text, the shape may be anchored elsewhere on the page.
pub fn shape_visibility(
    shape: &XmlElement<'_>,
    style: &OdfStyle,
    page: &PageSize,
    fixed: bool,
) -> TextVisibility {
    let length = |name: &str| shape.attr(name).and_then(|length| points(&length));
    let (wide, high) = (length("width"), length("height"));
    let flat = [wide, high].into_iter().flatten().any(|side| side < FLAT);
    // In a box this small, some programs let text overflow or the box grow, and some do not.
    let flat =
        if flat { TextVisibility::Doubt(HidingMethod::Clipped) } else { TextVisibility::Seen };
    let Some((x, y, wide, high)) = area(shape, &length, (wide, high)) else { return flat };
    let off = |from: Option<f64>, long: Option<f64>, edge: &Option<String>, page_long: f64| {
        let on_page = fixed || shape.attr("anchor-type").is_some_and(|anchor| anchor == "page");
        let edge = if on_page { "page" } else { edge.as_deref().unwrap_or_default() };
        from.is_some_and(|from| page.is_beside((from, edge), long, page_long))
    };
    if !off(x, wide, &style.edges.0, page.wide) && !off(y, high, &style.edges.1, page.high) {
        flat
    } else if fixed {
        TextVisibility::Hidden(HidingMethod::OffPage)
    } else {
        // LibreOffice moves the shape back onto the page; other programs may not.
        TextVisibility::Doubt(HidingMethod::OffPage)
    }
}

/// The origin and the length of a shape, in both directions; `None` for each unknown one.
type ShapeExtent = (Option<f64>, Option<f64>, Option<f64>, Option<f64>);

/// Returns an area that contains a shape of this size at any rotation. Returns `None` if it has
/// transformations that are not read.
fn area(
    shape: &XmlElement<'_>,
    length: &dyn Fn(&str) -> Option<f64>,
    (wide, high): (Option<f64>, Option<f64>),
) -> Option<ShapeExtent> {
    let line = |one: &str, other: &str| length(one).zip(length(other));
    let begins = |name: &str, line: Option<(f64, f64)>| {
        length(name).or(line.map(|(one, other)| one.min(other)))
    };
    let long = |side: Option<f64>, line: Option<(f64, f64)>| {
        side.or(line.map(|(one, other)| (one - other).abs()))
    };
    let (across, down) = (line("x1", "x2"), line("y1", "y2"));
    let (x, y) = (begins("x", across), begins("y", down));
    let (wide, high) = (long(wide, across), long(high, down));
    let Some(changes) = shape.attr("transform") else { return Some((x, y, wide, high)) };
    if ["matrix", "scale", "skew"].iter().any(|change| changes.contains(change)) {
        return None;
    }
    let (_, moved) = changes.split_once("translate")?;
    let (moved, _) = moved.trim_start().strip_prefix('(')?.split_once(')')?;
    let mut moved = moved.split([' ', ',']).filter_map(points);
    let (left, top) = (moved.next()?, moved.next().unwrap_or_default());
    // The order of rotation and translation varies: this circle contains the shape in either case.
    let far = f64::hypot(wide?, high?) + f64::hypot(x.unwrap_or_default(), y.unwrap_or_default());
    Some((Some(left - far), Some(top - far), Some(2.0 * far), Some(2.0 * far)))
}

/// Returns the visibility of content that depends on a condition. The file states the result at the
/// time of writing; programs evaluate the condition again.
pub fn condition(element: &XmlElement<'_>) -> TextVisibility {
    let condition = element.attr("condition").unwrap_or_default();
    let (_, condition) = condition.split_once(':').unwrap_or(("", &condition));
    match condition.trim().to_lowercase().as_str() {
        _ if element.flag("is-hidden") => TextVisibility::Hidden(HidingMethod::Marked),
        "" | "0" | "false" => TextVisibility::Seen,
        "1" | "true" => TextVisibility::Hidden(HidingMethod::Marked),
        _ => TextVisibility::Doubt(HidingMethod::Marked),
    }
}
