//! What lies behind the text of slides, which decides whether white words are seen.

use super::styles::Styles;
use crate::Failure;
use crate::look::{Paint, WHITE};
use crate::xml::{Event, Xml};

/// A slide, or the master of slides.
struct Page {
    name: String,
    master: String,
    /// What it is painted with, if it says so.
    fill: Option<Option<Paint>>,
    /// True if something else than white lies on it.
    busy: bool,
}

/// Returns for each slide what lies behind the text on it; that of a shape may be its own.
pub fn grounds(content: &str, shared: &str, styles: &Styles) -> Result<Vec<Paint>, Failure> {
    let masters = pages(shared, "master-page", styles)?;
    let ground = |slide: Page| {
        let master = masters.iter().find(|master| master.name == slide.master);
        match slide.fill.or(master.and_then(|master| master.fill)) {
            _ if slide.busy || master.is_some_and(|master| master.busy) => Paint::Other,
            Some(Some(paint)) => paint,
            _ => WHITE,
        }
    };
    Ok(pages(content, "page", styles)?.into_iter().map(ground).collect())
}

/// Reads the elements of this name, but not their notes.
fn pages(text: &str, kind: &str, styles: &Styles) -> Result<Vec<Page>, Failure> {
    let mut pages: Vec<Page> = Vec::new();
    let mut xml = Xml::new(text);
    while let Some(event) = xml.step()? {
        let Event::Start(element) = event else { continue };
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        let name = element.name();
        let busy = match name.as_str() {
            "notes" | "forms" | "handout-master" => {
                xml.skip()?;
                false
            }
            own if own == kind => {
                pages.push(Page {
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
