//! Presentational attributes of HTML, as declarations.

use std::sync::Arc;

use super::super::sheets::sheet::RuleLine;
use super::super::values::color::{WrittenColour, of_attribute};
use super::super::values::property::{CssImage, CssProperty, PropertyValue};
use super::super::values::value::WrittenNumber;
use crate::text::html::tree::{DomTree, NodeId};

/// Returns the declarations that the attributes of an element amount to.
pub fn lines(tree: &DomTree, id: NodeId) -> Vec<RuleLine> {
    let mut lines = Vec::new();
    let name = tree.name(id);
    let mut set = |property, value| {
        lines.push(RuleLine { property, value, important: false });
    };
    if !tree.is_html(id) {
        if name == "svg" {
            sides(tree, id, &mut set);
        }
        return lines;
    }
    let mut color = |attribute: &str, property| {
        if let Some(color) = tree.attr(id, attribute).and_then(of_attribute) {
            set(property, PropertyValue::Paint(WrittenColour::Rgba(color)));
        }
    };
    match name {
        "font" | "basefont" => {
            color("color", CssProperty::Color);
            if let Some(size) = tree.attr(id, "size").and_then(font_size) {
                set(CssProperty::FontSize, PropertyValue::Word(size));
            }
        }
        "body" => {
            color("text", CssProperty::Color);
            color("bgcolor", CssProperty::BackgroundColor);
        }
        "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "marquee" => {
            color("bgcolor", CssProperty::BackgroundColor);
        }
        "a" => {
            // The attribute for the colour of links is on the body.
            let body = std::iter::successors(Some(id), |at| tree.parent(*at))
                .find(|at| tree.name(*at) == "body");
            let link = body.and_then(|body| tree.attr(body, "link")).and_then(of_attribute);
            if let Some(color) = link.filter(|_| tree.attr(id, "href").is_some()) {
                set(CssProperty::Color, PropertyValue::Paint(WrittenColour::Rgba(color)));
            }
        }
        _ => {}
    }
    if matches!(name, "body" | "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th")
        && tree.attr(id, "background").is_some_and(|url| !url.trim().is_empty())
    {
        set(CssProperty::BackgroundImage, PropertyValue::Images(Arc::new([CssImage::Picture])));
    }
    if matches!(
        name,
        "table" | "td" | "th" | "img" | "object" | "video" | "canvas" | "col" | "marquee"
    ) {
        sides(tree, id, &mut set);
    }
    lines
}

/// Sets the size that the attributes `width` and `height` give.
fn sides(tree: &DomTree, id: NodeId, set: &mut impl FnMut(CssProperty, PropertyValue)) {
    for (name, property) in [("width", CssProperty::Width), ("height", CssProperty::Height)] {
        let Some(text) = tree.attr(id, name).map(str::trim_start) else { continue };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let Some(n) = text.get(..end).and_then(|digits| digits.parse::<f32>().ok()) else {
            continue;
        };
        // Zero is ignored on tables and cells (HTML, "nonzero dimension values").
        if n == 0.0 && matches!(tree.name(id), "table" | "td" | "th") {
            continue;
        }
        let part = text.get(end..).is_some_and(|rest| rest.starts_with('%'));
        let size =
            if part { WrittenNumber::percentage(n / 100.0) } else { WrittenNumber::pixels(n) };
        set(property, PropertyValue::Amount(size));
    }
}

/// Returns the keyword for a font size from 1 to 7, or relative to 3 if it has a sign.
fn font_size(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let n: i32 = text.trim_start_matches('+').parse().ok()?;
    let n = if text.starts_with(['+', '-']) { n.saturating_add(3) } else { n };
    Some(match n {
        ..=1 => "x-small",
        2 => "small",
        3 => "medium",
        4 => "large",
        5 => "x-large",
        6 => "xx-large",
        _ => "xxx-large",
    })
}
