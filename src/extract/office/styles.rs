//! Styles of Word documents, and the direct properties of runs and paragraphs.

use std::collections::HashMap;

use crate::ReadFailure;
use crate::run_style::{BaselineShift, InkColour, PageSize, RunStyle, colour};
use crate::xml::{XmlElement, XmlEvent, XmlReader};

/// Maximum length of a chain of base styles.
const CHAIN: usize = 16;

/// Maximum bytes of an element with the page size.
const ELEMENT: usize = 300;
/// Units of positions in a point.
const TWENTIETHS: f64 = 20.0;
/// The colours of the highlighter, as Word paints them.
const MARKERS: [(&str, [u8; 3]); 16] = [
    ("black", [0, 0, 0]),
    ("blue", [0, 0, 255]),
    ("cyan", [0, 255, 255]),
    ("green", [0, 255, 0]),
    ("magenta", [255, 0, 255]),
    ("red", [255, 0, 0]),
    ("yellow", [255, 255, 0]),
    ("white", [255, 255, 255]),
    ("darkBlue", [0, 0, 128]),
    ("darkCyan", [0, 128, 128]),
    ("darkGreen", [0, 128, 0]),
    ("darkMagenta", [128, 0, 128]),
    ("darkRed", [128, 0, 0]),
    ("darkYellow", [128, 128, 0]),
    ("darkGray", [128, 128, 128]),
    ("lightGray", [192, 192, 192]),
];

/// The styles of a document.
#[derive(Default)]
pub struct DocxStyles {
    styles: HashMap<String, (RunStyle, Option<String>)>,
    /// The default paragraph style.
    usual: Option<String>,
    defaults: RunStyle,
}

impl DocxStyles {
    /// Parses `word/styles.xml`.
    pub fn read(text: &str) -> Result<Self, ReadFailure> {
        let mut styles = Self::default();
        let mut xml = XmlReader::with_namespaces(text, &["w"]);
        while let Some(event) = xml.step()? {
            let XmlEvent::Start(element) = event else { continue };
            match element.name().as_str() {
                "docDefaults" => drop(properties(&mut xml, &mut styles.defaults)?),
                "style" => {
                    let id = element.attr("styleId").unwrap_or_default();
                    let paragraph = element.attr("type").is_some_and(|kind| kind == "paragraph");
                    if paragraph && element.flag("default") {
                        styles.usual = Some(id.clone());
                    }
                    let (text_style, base) = style(&mut xml)?;
                    styles.styles.insert(id, (text_style, base));
                }
                _ => {}
            }
        }
        Ok(styles)
    }

    /// Returns the properties of a style, completed from its base styles.
    pub fn text_style(&self, id: &str) -> RunStyle {
        let mut text_style = RunStyle::default();
        let mut next = Some(id);
        for _ in 0..CHAIN {
            let Some((own, base)) = next.and_then(|id| self.styles.get(id)) else { break };
            text_style = text_style.over(own);
            next = base.as_deref();
        }
        text_style
    }

    /// Returns the properties of a paragraph with this style, or with the default one.
    pub fn paragraph(&self, id: Option<&str>) -> RunStyle {
        let id = id.or(self.usual.as_deref());
        id.map(|id| self.text_style(id)).unwrap_or_default().over(&self.defaults)
    }
}

/// Reads a property into `text_style`.
pub fn read(text_style: &mut RunStyle, property: &XmlElement<'_>) {
    let val = || property.attr("val").unwrap_or_default();
    let number = || property.number("val");
    let on = || !matches!(val().as_str(), "0" | "false" | "off");
    match property.name().as_str() {
        "strike" | "dstrike" => text_style.struck = Some(on()),
        "vertAlign" => {
            text_style.shift = Some(match val().as_str() {
                "superscript" => BaselineShift::Up,
                "subscript" => BaselineShift::Down,
                _ => BaselineShift::Base,
            });
        }
        "vanish" => text_style.vanish = Some(on()),
        "color" => text_style.colour = Some(themed(property, &val())),
        "sz" => text_style.size = number(),
        "w" => text_style.width = number(),
        // Text usually has no outline; text without a fill is invisible.
        "w14:textFill" => text_style.fill = true,
        "w14:textOutline" => text_style.fill = false,
        "w14:noFill" if text_style.fill => text_style.empty = Some(true),
        "w14:alpha" if text_style.fill => text_style.empty = number().map(|alpha| alpha > 90_000.0),
        "w14:srgbClr" if text_style.fill => text_style.colour = colour(&val()).map(InkColour::Rgb),
        "highlight" => {
            let marker = highlight(&val());
            text_style.marked = marker.is_some();
            text_style.background = marker.or(text_style.background);
        }
        // A highlight covers the shading of a run, in whatever order they are written.
        "shd" if text_style.marked => {}
        "shd" => text_style.background = shading(property).or(text_style.background),
        "spacing" if property.attr("line").is_some() => {
            let exact = property.attr("lineRule").is_some_and(|rule| rule == "exact");
            let line = property.number("line").filter(|_| exact);
            text_style.line = Some(line.map_or(f64::INFINITY, |line| line.abs() / TWENTIETHS));
        }
        "spacing" if property.attr("val").is_some() => {
            text_style.spacing = number().map(|spacing| spacing / TWENTIETHS);
        }
        "position" => text_style.raised = number().map(|half| half / 2.0),
        "ind" => {
            let side = |name: &str, other: &str| {
                let found = property.number(name).or_else(|| property.number(other));
                found.map(|side| side / TWENTIETHS)
            };
            text_style.left = side("left", "start").or(text_style.left);
            let hanging = property.number("hanging").map(|hanging| -hanging / TWENTIETHS);
            text_style.first = hanging.or(side("firstLine", "firstLine")).or(text_style.first);
        }
        "outlineLvl" => text_style.outline = number().map(|level| level as usize),
        "numId" => text_style.list = Some(val()),
        "ilvl" => text_style.level = number().map(|level| level as usize),
        _ => {}
    }
}

/// Reads the properties in the element that began last, and returns the style that they name.
pub fn properties(
    xml: &mut XmlReader<'_>,
    text_style: &mut RunStyle,
) -> Result<Option<String>, ReadFailure> {
    let mut style = None;
    xml.within(|property| match property.name().as_str() {
        "rStyle" => style = property.attr("val"),
        _ => read(text_style, property),
    })?;
    Ok(style)
}

/// Reads a style: its properties, and its base style.
fn style(xml: &mut XmlReader<'_>) -> Result<(RunStyle, Option<String>), ReadFailure> {
    let (mut text_style, mut base) = (RunStyle::default(), None);
    let mut parts = false;
    xml.within(|element| match element.name().as_str() {
        "basedOn" => base = element.attr("val"),
        // The properties of some cells do not apply to the whole table, but white text may be in
        // those cells: their shading makes the background unknown.
        "tblStylePr" => parts = true,
        "shd" if parts => text_style.background = Some(InkColour::Other),
        _ if parts => {}
        _ => read(&mut text_style, element),
    })?;
    Ok((text_style, base))
}

impl PageSize {
    /// Reads the page sizes that a document's sections state.
    pub fn from_document(document: &str) -> Self {
        // A search of the text, as each section is at its end, but the size is needed before.
        let largest = |element: &str, side: &str, usual: f64| {
            let found = document.match_indices(element).filter_map(|(at, _)| {
                let rest = document.get(at + element.len()..)?;
                // Limits the cost of text that only looks like elements.
                let rest = rest.get(..rest.floor_char_boundary(ELEMENT))?;
                let (_, value) = rest.split('>').next()?.split_once(side)?;
                let quote = value.chars().next()?;
                value.get(1..)?.split(quote).next()?.parse::<f64>().ok()
            });
            found.reduce(f64::max).unwrap_or(usual) / TWENTIETHS
        };
        Self {
            wide: largest(":pgSz ", ":w=", 12_240.0),
            high: largest(":pgSz ", ":h=", 15_840.0),
            margin: largest(":pgMar ", ":left=", 1_440.0),
        }
    }

    /// Returns true if a frame with these properties is off the page.
    pub fn is_off(&self, frame: &XmlElement<'_>) -> bool {
        let of = |name: &str| frame.number(name).map(|value| value / TWENTIETHS);
        let (x, y) = (of("x").unwrap_or_default(), of("y").unwrap_or_default());
        let distance = |from: f64, anchor: &str| (from, frame.attr(anchor).unwrap_or_default());
        let ((x, across), (y, down)) = (distance(x, "hAnchor"), distance(y, "vAnchor"));
        self.is_beside((x, &across), of("w"), self.wide)
            || self.is_beside((y, &down), of("h"), self.high)
    }
}

/// Reads the colour of text.
fn themed(property: &XmlElement<'_>, val: &str) -> InkColour {
    match property.attr("themeColor").as_deref() {
        Some("background1" | "light1") if property.attr("themeShade").is_none() => {
            InkColour::Rgb([255; 3])
        }
        Some(_) => InkColour::Other,
        None => colour(val).map_or(InkColour::Other, InkColour::Rgb),
    }
}

/// Reads the background of text.
pub fn shading(property: &XmlElement<'_>) -> Option<InkColour> {
    let val = property.attr("val").unwrap_or_default();
    let fill = property.attr("fill").unwrap_or_default();
    match val.as_str() {
        _ if property.attr("themeFill").is_some() => Some(InkColour::Other),
        "nil" => None,
        "clear" if fill == "auto" || fill.is_empty() => None,
        "clear" => Some(colour(&fill).map_or(InkColour::Other, InkColour::Rgb)),
        "solid" => {
            let val = property.attr("color").unwrap_or_default();
            Some(colour(&val).map_or(InkColour::Other, InkColour::Rgb))
        }
        _ => Some(InkColour::Other),
    }
}

/// Returns the colour of a highlighter.
fn highlight(name: &str) -> Option<InkColour> {
    match name {
        "none" => None,
        name => {
            let found = MARKERS.iter().find(|(known, _)| *known == name);
            Some(found.map_or(InkColour::Other, |(_, rgb)| InkColour::Rgb(*rgb)))
        }
    }
}
