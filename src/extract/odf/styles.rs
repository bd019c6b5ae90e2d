//! Styles of OpenDocument files.

use std::collections::{HashMap, HashSet};

use crate::ReadFailure;
use crate::run_style::{BaselineShift, InkColour, PageSize, RunStyle, colour};
use crate::xml::{XmlElement, XmlEvent, XmlReader};

/// Maximum length of a chain of parent styles.
const CHAIN: usize = 16;

/// A style.
#[derive(Debug, Clone, Default)]
pub struct OdfStyle {
    /// The style of its text.
    pub text_style: RunStyle,
    /// True for a hidden sheet or slide.
    pub hidden: bool,
    /// True if slides with this style do not show their footers.
    pub no_footer: bool,
    /// The origins of a shape's position, across and down.
    pub edges: (Option<String>, Option<String>),
    /// The fill of a shape or page: its kind and colour.
    fill: Option<String>,
    fill_colour: Option<InkColour>,
    parent: Option<String>,
}

/// A level of a list.
#[derive(Debug, Clone, Default)]
pub struct ListLevel {
    /// The number format; empty for a level without numbers, `None` for bullets.
    pub format: Option<String>,
    /// The text before and after the number.
    pub around: (String, String),
    /// The number of levels shown.
    pub shown: usize,
    /// The first number.
    pub start: u32,
}

/// All styles of a file.
#[derive(Default)]
pub struct OdfStyles {
    styles: HashMap<(String, String), OdfStyle>,
    /// Lists by name. The outline of headings has an empty name.
    pub lists: HashMap<String, Vec<ListLevel>>,
    /// The background of pages.
    pub page: Option<InkColour>,
    /// The layers that are switched off.
    pub layers: HashSet<String>,
    /// The width and height of pages in points, by page layout, and the page layout of each master.
    sizes: HashMap<String, (f64, f64)>,
    masters: HashMap<String, String>,
}

/// The default page size, in points.
const PAPER: (f64, f64) = (612.0, 792.0);

impl OdfStyles {
    /// Reads `styles.xml`, or the styles in `content.xml`.
    pub fn read(&mut self, text: &str) -> Result<(), ReadFailure> {
        let mut xml = XmlReader::new(text);
        let (mut family, mut name, mut list) = (String::new(), String::new(), String::new());
        while let Some(event) = xml.step()? {
            let element = match event {
                XmlEvent::Start(element) => element,
                // Later elements, such as number formats, have properties of their own.
                XmlEvent::End(ending)
                    if matches!(ending.name().as_str(), "style" | "default-style") =>
                {
                    family.clear();
                    continue;
                }
                _ => continue,
            };
            let attr = |name: &str| element.attr(name).unwrap_or_default();
            match element.name().as_str() {
                "body" => xml.skip()?,
                "master-page" => {
                    self.masters.insert(attr("name"), attr("page-layout-name"));
                    xml.skip()?;
                }
                "layer" if attr("display") == "none" => drop(self.layers.insert(attr("name"))),
                "page-layout" => name = attr("name"),
                "style" | "default-style" => {
                    (family, name) = (attr("family"), attr("name"));
                    let parent = element.attr("parent-style-name");
                    let style = OdfStyle {
                        // The default style of a family has the empty name, and ends the chain.
                        parent: parent.or_else(|| (!name.is_empty()).then(String::new)),
                        ..OdfStyle::default()
                    };
                    self.styles.insert((family.clone(), name.clone()), style);
                }
                "page-layout-properties" => {
                    let side = |name: &str| points(&attr(name));
                    let size = side("page-width").zip(side("page-height"));
                    self.sizes.extend(size.map(|size| (name.clone(), size)));
                    self.page = self.page.or(background(&element));
                }
                "list-style" | "outline-style" => {
                    list =
                        if element.name() == "list-style" { attr("name") } else { String::new() };
                    self.lists.insert(list.clone(), Vec::new());
                }
                "list-level-style-number"
                | "outline-level-style"
                | "list-level-style-bullet"
                | "list-level-style-image" => {
                    let number = |name: &str| element.number(name).unwrap_or(1.0) as usize;
                    let bullet =
                        element.name().ends_with("bullet") || element.name().ends_with("image");
                    let level = ListLevel {
                        format: (!bullet).then(|| attr("num-format")),
                        around: (short(attr("num-prefix")), short(attr("num-suffix"))),
                        shown: number("display-levels"),
                        start: number("start-value") as u32,
                    };
                    self.lists.entry(list.clone()).or_default().push(level);
                    // The style of bullets and numbers does not apply to the text after them.
                    xml.skip()?;
                }
                kind => {
                    if let Some(style) = self.styles.get_mut(&(family.clone(), name.clone())) {
                        style.property(kind, &element);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the page of a slide with this master, or the largest page of a text.
    pub fn sheet(&self, master: Option<&str>) -> PageSize {
        let layout = master.and_then(|master| self.masters.get(master));
        let own = layout.and_then(|layout| self.sizes.get(layout)).copied();
        let sizes = self.sizes.values().copied();
        let largest = sizes.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
        let usual = if master.is_some() { (f64::MAX, f64::MAX) } else { PAPER };
        let (wide, high) = own.or(largest).unwrap_or(usual);
        PageSize { wide, high, margin: wide / 4.0 }
    }

    /// Returns the paint of a shape of this kind and style. Frames and lines are not filled unless
    /// stated.
    pub fn shape(&self, kind: &str, name: &str) -> Option<InkColour> {
        let own = ["presentation", "graphic"].map(|family| self.style(family, name).fill());
        let bare = matches!(kind, "frame" | "line" | "connector" | "measure" | "polyline");
        let usual = (!bare).then_some(InkColour::Other);
        own.into_iter().flatten().next().unwrap_or(usual)
    }

    /// Returns a style, completed from its parents.
    pub fn style(&self, family: &str, name: &str) -> OdfStyle {
        let mut style = OdfStyle::default();
        let mut next = Some(name.to_owned());
        for _ in 0..CHAIN {
            let own = next.and_then(|name| self.styles.get(&(family.to_owned(), name)));
            let Some(own) = own else { break };
            style.text_style = style.text_style.over(&own.text_style);
            style.hidden |= own.hidden;
            style.no_footer |= own.no_footer;
            style.edges.0 = style.edges.0.or_else(|| own.edges.0.clone());
            style.edges.1 = style.edges.1.or_else(|| own.edges.1.clone());
            style.fill = style.fill.or_else(|| own.fill.clone());
            style.fill_colour = style.fill_colour.or(own.fill_colour);
            next = own.parent.clone();
        }
        style
    }
}

impl OdfStyle {
    /// Returns the paint of a shape or page with this style: `None` if it is not stated,
    /// `Some(None)` for a style without fill.
    pub fn fill(&self) -> Option<Option<InkColour>> {
        Some(match self.fill.as_deref()? {
            "none" => None,
            "solid" => Some(self.fill_colour.unwrap_or(InkColour::Other)),
            _ => Some(InkColour::Other),
        })
    }

    fn property(&mut self, kind: &str, element: &XmlElement<'_>) {
        let is = |name: &str, value: &str| element.attr(name).is_some_and(|found| found == value);
        if matches!(kind, "graphic-properties" | "drawing-page-properties") {
            // Text on a transparent shape is read against the background behind it.
            let clear = is_clear(element).then(|| "none".to_owned());
            self.fill = clear.or(element.attr("fill")).or(self.fill.take());
            self.edges = (element.attr("horizontal-rel"), element.attr("vertical-rel"));
            let hex = element.attr("fill-color");
            self.fill_colour = hex
                .map(|hex| colour(&hex).map_or(InkColour::Other, InkColour::Rgb))
                .or(self.fill_colour);
        }
        match kind {
            "text-properties" => {
                if let Some(display) = element.attr("display") {
                    self.text_style.vanish = Some(display == "none");
                }
                if let Some(hex) = element.attr("color") {
                    self.text_style.colour =
                        Some(colour(&hex).map_or(InkColour::Other, InkColour::Rgb));
                }
                if element.flag("use-window-font-color") {
                    self.text_style.colour = Some(InkColour::Other);
                }
                // LibreOffice writes the automatic colour as transparent, too.
                if is_clear(element) && !element.flag("use-window-font-color") {
                    self.text_style.empty = Some(true);
                }
                for line in ["text-line-through-style", "text-line-through-type"] {
                    if let Some(kind) = element.attr(line) {
                        self.text_style.struck = Some(kind != "none");
                    }
                }
                if let Some(position) = element.attr("text-position") {
                    let mut parts = position.split_whitespace();
                    let scale = parts.nth(1).map(|part| part.trim_end_matches('%').parse::<f64>());
                    self.text_style.scale = scale.and_then(Result::ok).map(|scale| scale / 100.0);
                    let first = position.split_whitespace().next().unwrap_or_default();
                    let raised: Option<f64> = first.trim_end_matches('%').parse().ok();
                    self.text_style.lift = raised.map(|raised| raised / 100.0);
                    self.text_style.shift = Some(match first {
                        "super" => BaselineShift::Up,
                        "sub" => BaselineShift::Down,
                        _ => BaselineShift::new(raised.unwrap_or_default()),
                    });
                }
                let size = element.attr("font-size").and_then(|size| points(&size));
                self.text_style.size = size.map(|size| size * 2.0).or(self.text_style.size);
                let spacing = element.attr("letter-spacing");
                let spacing = spacing.and_then(|spacing| points(&spacing));
                self.text_style.spacing = spacing.or(self.text_style.spacing);
                let width = element.attr("text-scale");
                let width = width.and_then(|width| width.trim_end_matches('%').parse().ok());
                self.text_style.width = width.or(self.text_style.width);
                self.text_style.background = background(element).or(self.text_style.background);
            }
            "paragraph-properties" => {
                let length = |name: &str| element.attr(name).and_then(|length| points(&length));
                self.text_style.line = length("line-height").or(self.text_style.line);
                self.text_style.left = length("margin-left").or(self.text_style.left);
                self.text_style.first = length("text-indent").or(self.text_style.first);
                self.text_style.background = background(element).or(self.text_style.background);
            }
            "table-cell-properties" | "table-row-properties" | "graphic-properties" => {
                self.text_style.background = background(element).or(self.text_style.background);
                self.hidden |=
                    is("cell-protect", "hidden-and-protected") && is("print-content", "false");
            }
            "table-properties" => {
                self.hidden |= is("display", "false");
                self.text_style.background = background(element).or(self.text_style.background);
            }
            "drawing-page-properties" => {
                self.hidden |= is("visibility", "hidden");
                self.no_footer |= is("display-footer", "false");
            }
            _ => {}
        }
    }
}

/// Returns the text around a number, shortened.
fn short(text: String) -> String {
    text.chars().take(20).collect()
}

/// Returns true for an opacity that is practically invisible.
fn is_clear(element: &XmlElement<'_>) -> bool {
    let opacity = element.attr("opacity");
    let opacity = opacity.and_then(|opacity| opacity.trim_end_matches('%').parse::<f64>().ok());
    opacity.is_some_and(|opacity| opacity < 10.0)
}

/// Reads a background.
fn background(element: &XmlElement<'_>) -> Option<InkColour> {
    match element.attr("background-color").or_else(|| element.attr("fill"))?.as_str() {
        "transparent" | "none" => None,
        hex => Some(colour(hex).map_or(InkColour::Other, InkColour::Rgb)),
    }
}

/// Parses a length in points.
pub fn points(length: &str) -> Option<f64> {
    let units =
        [("cm", 28.35), ("mm", 2.835), ("in", 72.0), ("pt", 1.0), ("pc", 12.0), ("px", 0.75)];
    units.into_iter().find_map(|(unit, points)| {
        let number: f64 = length.trim().strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * points)
    })
}
