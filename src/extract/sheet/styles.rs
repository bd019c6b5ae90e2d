//! Styles of cells in an xlsx workbook, as far as they decide what people see.

use std::collections::HashMap;

use super::number::{Format, Sections};
use crate::look::{Look, Paint, WHITE, colour};
use crate::xml::{Element, Event, Xml};
use crate::{Failure, How};

/// How a cell looks.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// What its numbers stand for.
    pub format: Format,
    /// What its format lets people see.
    pub sections: Sections,
    /// How its text looks.
    pub font: Look,
    /// What lies behind it, if nothing but the cell decides that.
    pub ground: Option<Paint>,
}

impl Style {
    /// Returns how text is hidden in the cell, in its font or in another one.
    pub fn hides(&self, font: Option<&Look>) -> Option<How> {
        font.unwrap_or(&self.font).hidden(self.ground.unwrap_or(WHITE))
    }
}

/// Reads a property of a font.
pub fn font(font: &mut Look, property: &Element<'_>) {
    match property.name().as_str() {
        "sz" => font.size = property.number("val").map(|size| size * 2.0),
        "color" => font.colour = Some(paint(property)),
        _ => {}
    }
}

/// Reads `xl/styles.xml`: the styles by their number.
pub fn read(text: &str) -> Result<Vec<Style>, Failure> {
    let mut formats: HashMap<u32, (Format, Sections)> = HashMap::new();
    let (mut fonts, mut fills): (Vec<Look>, Vec<Option<Paint>>) = Default::default();
    let mut styles = Vec::new();
    let mut list = String::new();
    let mut xml = Xml::of(text, &["x"]);
    while let Some(event) = xml.step()? {
        let Event::Start(element) = event else { continue };
        let name = element.name();
        let index = |name: &str| element.number(name).unwrap_or_default() as usize;
        match name.as_str() {
            "fonts" | "fills" | "cellXfs" | "cellStyleXfs" | "dxfs" | "borders" => list = name,
            "numFmt" if list != "dxfs" => {
                let code = element.attr("formatCode").unwrap_or_default();
                formats
                    .insert(index("numFmtId") as u32, (Format::read(&code), Sections::read(&code)));
            }
            "font" if list == "fonts" => fonts.push(Look::default()),
            "sz" | "color" if list == "fonts" => {
                fonts.last_mut().into_iter().for_each(|own| font(own, &element));
            }
            "fill" if list == "fills" => fills.push(None),
            "patternFill" if list == "fills" => {
                let pattern = element.attr("patternType").unwrap_or_default();
                let ground = (!matches!(pattern.as_str(), "none" | "")).then_some(Paint::Other);
                fills.last_mut().into_iter().for_each(|fill| *fill = ground);
            }
            "gradientFill" if list == "fills" => {
                fills.last_mut().into_iter().for_each(|fill| *fill = Some(Paint::Other));
            }
            // The foreground of a solid pattern is the whole of it.
            "fgColor" if list == "fills" => {
                let paint = paint(&element);
                fills.last_mut().into_iter().flatten().for_each(|fill| *fill = paint);
            }
            "xf" if list == "cellXfs" => {
                let id = index("numFmtId") as u32;
                let built_in = || (Format::built_in(id), Sections::default());
                let (format, sections) = formats.get(&id).cloned().unwrap_or_else(built_in);
                let font = fonts.get(index("fontId")).cloned().unwrap_or_default();
                let ground = fills.get(index("fillId")).copied().flatten();
                styles.push(Style { format, sections, font, ground });
            }
            _ => {}
        }
    }
    Ok(styles)
}

/// Reads a colour; themes begin with white and black.
fn paint(element: &Element<'_>) -> Paint {
    let whole = element.number("tint").is_none_or(|tint| tint.abs() < 0.06);
    let theme = element.attr("theme");
    let indexed = element.attr("indexed");
    let rgb = element.attr("rgb").unwrap_or_default();
    match (theme.as_deref(), indexed.as_deref()) {
        (Some("0"), _) if whole => WHITE,
        (Some("1"), _) if whole => Paint::Rgb([0; 3]),
        (Some(_), _) => Paint::Other,
        (_, Some("1" | "9")) => WHITE,
        (_, Some("0" | "8")) => Paint::Rgb([0; 3]),
        (_, Some(_)) => Paint::Other,
        _ => colour(rgb.get(rgb.len().saturating_sub(6)..).unwrap_or_default())
            .map_or(Paint::Other, Paint::Rgb),
    }
}
