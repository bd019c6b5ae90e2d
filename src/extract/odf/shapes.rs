//! Shapes and conditions of OpenDocument, as far as they decide whether people see the text in
//! them.

use super::styles::{OdfStyle, points};
use crate::HidingMethod;
use crate::run_style::{FLAT, PageSize, TextVisibility};
use crate::xml::XmlElement;

/// The elements that are shapes, or frames around something.
const SHAPES: &[&str] = &[
    "frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "measure",
    "caption", "polyline", "polygon", "regular-polygon", "path",
];

/// Returns true for an element that has a place, and may have text.
pub fn is_shape(name: &str) -> bool {
    SHAPES.contains(&name)
}

/// Returns whether a shape of this style shows its text by its place and its size, on a slide or a
/// sheet, where places are `fixed`, or in a text with such pages.
pub fn place(
    shape: &XmlElement<'_>,
    style: &OdfStyle,
    page: &PageSize,
    fixed: bool,
) -> TextVisibility {
    let length = |name: &str| shape.attr(name).and_then(|length| points(&length));
    let (wide, high) = (length("width"), length("height"));
    let flat = [wide, high].into_iter().flatten().any(|side| side < FLAT);
    // Some programs let text run over the edges of a box, or the box grow, and some do not.
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
        // LibreOffice moves it back onto the page; others need not.
        TextVisibility::Doubt(HidingMethod::OffPage)
    }
}

/// Where a shape begins and how long it is, in both directions.
type ShapeExtent = (Option<f64>, Option<f64>, Option<f64>, Option<f64>);

/// Returns the area that a shape of this size is in, wherever it is turned to; none if it is
/// changed in ways that are not read.
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
    let far = f64::hypot(wide?, high?) + f64::hypot(x.unwrap_or_default(), y.unwrap_or_default());
    Some((Some(left - far), Some(top - far), Some(2.0 * far), Some(2.0 * far)))
}

/// Returns whether something that a condition may hide is shown. The file states what was so when
/// it was written; programs look at the condition again.
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
