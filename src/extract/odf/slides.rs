//! Backgrounds of slides, which decide on the visibility of white words.

use super::styles::OdfStyles;
use crate::ReadFailure;
use crate::run_style::{InkColour, WHITE};
use crate::xml::{XmlEvent, XmlReader};

/// A slide, or a slide master.
struct OdpPage {
    name: String,
    master: String,
    /// The fill of the page, if it is stated.
    fill: Option<Option<InkColour>>,
    /// True if it contains anything that is not white.
    busy: bool,
}

/// Returns the background of the text on each slide. A shape may have its own.
pub fn backgrounds(
    content: &str,
    shared: &str,
    styles: &OdfStyles,
) -> Result<Vec<InkColour>, ReadFailure> {
    let masters = pages(shared, "master-page", styles)?;
    let background = |slide: OdpPage| {
        let master = masters.iter().find(|master| master.name == slide.master);
        match slide.fill.or(master.and_then(|master| master.fill)) {
            // It is not known whether the shape is behind the text, so its colour decides nothing.
            _ if slide.busy || master.is_some_and(|master| master.busy) => InkColour::Other,
            Some(Some(paint)) => paint,
            _ => WHITE,
        }
    };
    Ok(pages(content, "page", styles)?.into_iter().map(background).collect())
}

/// Reads the pages with this element name, without their notes.
fn pages(text: &str, kind: &str, styles: &OdfStyles) -> Result<Vec<OdpPage>, ReadFailure> {
    let mut pages: Vec<OdpPage> = Vec::new();
    let mut xml = XmlReader::new(text);
    while let Some(event) = xml.step()? {
        let XmlEvent::Start(element) = event else { continue };
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        let name = element.name();
        let busy = match name.as_str() {
            "notes" | "forms" | "handout-master" => {
                xml.skip()?;
                false
            }
            own if own == kind => {
                pages.push(OdpPage {
                    name: attr("name"),
                    master: attr("master-page-name"),
                    fill: styles.style("drawing-page", &attr("style-name")).fill(),
                    busy: false,
                });
                false
            }
            "image" | "object" | "object-ole" | "plugin" | "table" => true,
            "frame" | "custom-shape" | "rect" | "ellipse" | "circle" | "polygon" | "path"
            | "regular-polygon" => {
                styles.shape(&name, &attr("style-name")).is_some_and(|paint| paint != WHITE)
            }
            _ => false,
        };
        pages.last_mut().into_iter().for_each(|page| page.busy |= busy);
    }
    Ok(pages)
}
