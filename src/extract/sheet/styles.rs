//! Cell styles of an xlsx workbook, as far as they decide on visibility.

use daysheet_core::text::visibility::HidingMethod;
use std::collections::HashMap;

use super::number::{FormatSections, NumberFormat};
use crate::ReadFailure;
use crate::run_style::{InkColour, RunStyle, WHITE, colour};
use crate::xml::{XmlElement, XmlEvent, XmlReader};

/// The style of a cell.
#[derive(Debug, Clone, Default)]
pub struct CellStyle {
    /// The format of its numbers.
    pub format: NumberFormat,
    /// The visibility of its values in each section of the format.
    pub sections: FormatSections,
    /// The style of its text.
    pub font: RunStyle,
    /// The colour of its background, if the cell alone decides it.
    pub background: Option<InkColour>,
}

impl CellStyle {
    /// Returns the way in which text is hidden in the cell, in its own or another font.
    pub fn hides(&self, font: Option<&RunStyle>) -> Option<HidingMethod> {
        font.unwrap_or(&self.font).hidden(self.background.unwrap_or(WHITE))
    }
}

/// Reads a property of a font.
pub fn font(font: &mut RunStyle, property: &XmlElement<'_>) {
    match property.name().as_str() {
        "sz" => font.size = property.number("val").map(|size| size * 2.0),
        "color" => font.colour = Some(paint(property)),
        _ => {}
    }
}

/// Parses `xl/styles.xml` into styles by number.
pub fn read(text: &str) -> Result<Vec<CellStyle>, ReadFailure> {
    let mut formats: HashMap<u32, (NumberFormat, FormatSections)> = HashMap::new();
    let (mut fonts, mut fills): (Vec<RunStyle>, Vec<Option<InkColour>>) = Default::default();
    let mut styles = Vec::new();
    let mut list = String::new();
    let mut xml = XmlReader::with_namespaces(text, &["x"]);
    while let Some(event) = xml.step()? {
        let XmlEvent::Start(element) = event else { continue };
        let name = element.name();
        let index = |name: &str| element.number(name).unwrap_or_default() as usize;
        match name.as_str() {
            "fonts" | "fills" | "cellXfs" | "cellStyleXfs" | "dxfs" | "borders" => list = name,
            "numFmt" if list != "dxfs" => {
                let code = element.attr("formatCode").unwrap_or_default();
                formats.insert(
                    index("numFmtId") as u32,
                    (NumberFormat::read(&code), FormatSections::read(&code)),
                );
            }
            "font" if list == "fonts" => fonts.push(RunStyle::default()),
            "sz" | "color" if list == "fonts" => {
                fonts.last_mut().into_iter().for_each(|own| font(own, &element));
            }
            "fill" if list == "fills" => fills.push(None),
            "patternFill" if list == "fills" => {
                let pattern = element.attr("patternType").unwrap_or_default();
                let background =
                    (!matches!(pattern.as_str(), "none" | "")).then_some(InkColour::Other);
                fills.last_mut().into_iter().for_each(|fill| *fill = background);
            }
            "gradientFill" if list == "fills" => {
                fills.last_mut().into_iter().for_each(|fill| *fill = Some(InkColour::Other));
            }
            // The foreground colour of a solid pattern fills the whole cell.
            "fgColor" if list == "fills" => {
                let paint = paint(&element);
                fills.last_mut().into_iter().flatten().for_each(|fill| *fill = paint);
            }
            "xf" if list == "cellXfs" => {
                let id = index("numFmtId") as u32;
                let built_in = || (NumberFormat::built_in(id), FormatSections::default());
                let (format, sections) = formats.get(&id).cloned().unwrap_or_else(built_in);
                let font = fonts.get(index("fontId")).cloned().unwrap_or_default();
                let background = fills.get(index("fillId")).copied().flatten();
                styles.push(CellStyle { format, sections, font, background });
            }
            _ => {}
        }
    }
    Ok(styles)
}

/// Reads a colour. The first two of a theme are white and black.
fn paint(element: &XmlElement<'_>) -> InkColour {
    // A tint this slight is hardly visible.
    let whole = element.number("tint").is_none_or(|tint| tint.abs() < 0.06);
    let theme = element.attr("theme");
    let indexed = element.attr("indexed");
    let rgb = element.attr("rgb").unwrap_or_default();
    match (theme.as_deref(), indexed.as_deref()) {
        (Some("0"), _) if whole => WHITE,
        (Some("1"), _) if whole => InkColour::Rgb([0; 3]),
        (Some(_), _) => InkColour::Other,
        (_, Some("1" | "9")) => WHITE,
        (_, Some("0" | "8")) => InkColour::Rgb([0; 3]),
        (_, Some(_)) => InkColour::Other,
        _ => colour(rgb.get(rgb.len().saturating_sub(6)..).unwrap_or_default())
            .map_or(InkColour::Other, InkColour::Rgb),
    }
}
