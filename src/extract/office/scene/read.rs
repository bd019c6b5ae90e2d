//! Reading of the shapes of a slide, layout or master: positions, fills and text sizes.
//!
//! The parent module decides on the visibility of text.

use std::collections::HashSet;

use super::{
    BARE, SIZE, SLIDE, ScenePart, ShapeFill, ShapeGroup, SlideArea, SlideShape, TextSize, UNKNOWN,
};
use crate::ReadFailure;
use crate::office::theme::{ShapePaint, ThemeColours};
use crate::run_style::InkColour;
use crate::xml::{XmlEvent, XmlReader};

/// Reads a slide, layout or master. Its placeholders inherit from the ones in `below`.
pub(super) fn part(
    text: &str,
    theme: &ThemeColours,
    below: &[SlideShape],
) -> Result<ScenePart, ReadFailure> {
    let mut part = ScenePart {
        shapes: Vec::new(),
        ground: None,
        based: true,
        moved: HashSet::new(),
        cells: Vec::new(),
    };
    let mut groups: Vec<ShapeGroup> = Vec::new();
    // True while a group's own properties are read; true for a table without colours.
    let (mut of_group, mut bare) = (false, true);
    let (mut count, mut size) = (0.0, SIZE);
    let mut xml = XmlReader::of(text, SLIDE);
    while let Some(event) = xml.step()? {
        let element = match event {
            XmlEvent::Start(element) => element,
            XmlEvent::End(ending) => {
                match ending.name().as_str() {
                    "grpSp" => drop(groups.pop()),
                    "p" => {
                        if let Some(shape) = part.shapes.last_mut() {
                            shape.text.paragraphs.push((count, size));
                        }
                        (count, size) = (0.0, SIZE);
                    }
                    _ => {}
                }
                continue;
            }
            XmlEvent::Text(_) => continue,
        };
        match element.name().as_str() {
            "sld" | "sldLayout" => {
                let shown = element.attr("showMasterSp");
                part.based = !matches!(shown.as_deref(), Some("0" | "false"));
            }
            "bgPr" => {
                let properties = properties(&mut xml, theme, ShapeFill::Unsaid)?;
                part.ground = Some(match properties.fill {
                    ShapeFill::Coat(coat) => coat.paint,
                    _ => InkColour::Other,
                });
            }
            "bgRef" => {
                // The first fill of a theme is the plain colour; the others are gradients.
                let plain = element.attr("idx").is_none_or(|idx| idx == "1001");
                let coat = theme.coat(&mut xml)?;
                let paint = coat.map_or(InkColour::Other, |coat| coat.paint);
                part.ground = Some(if plain { paint } else { InkColour::Other });
            }
            "grpSp" => {
                let outer = groups.last().copied();
                groups.push(outer.unwrap_or(ShapeGroup {
                    scale: (1.0, 1.0),
                    shift: (0.0, 0.0),
                    fill: ShapeFill::Unsaid,
                    lost: false,
                }));
                of_group = true;
            }
            kind @ ("sp" | "cxnSp" | "graphicFrame" | "pic") => {
                of_group = false;
                let fill = if kind == "pic" { UNKNOWN } else { ShapeFill::Unsaid };
                part.shapes.push(SlideShape {
                    id: String::new(),
                    holder: None,
                    place: None,
                    turned: false,
                    fill,
                    styled: ShapeFill::Unsaid,
                    edge: 0.0,
                    hidden: false,
                    text: TextSize::default(),
                    frame: kind == "graphicFrame",
                    picture: kind == "pic",
                });
            }
            "cNvPr" if !of_group => {
                if let Some(shape) = part.shapes.last_mut() {
                    shape.id = element.attr("id").unwrap_or_default();
                    shape.hidden |= element.flag("hidden");
                }
            }
            "ph" => {
                let holder = (
                    element.attr("type").unwrap_or_else(|| "obj".to_owned()),
                    element.attr("idx").unwrap_or_default(),
                );
                if let Some(shape) = part.shapes.last_mut() {
                    shape.holder = Some(holder);
                    shape.inherit(below);
                }
            }
            "grpSpPr" => {
                // The last group is the open one itself; `grpFill` in it means the group around it.
                let outer = groups.iter().rev().nth(1).copied();
                let fill = outer.map_or(ShapeFill::Unsaid, |outer| outer.fill);
                let own = properties(&mut xml, theme, fill)?;
                if let Some(group) = groups.last_mut().filter(|_| of_group) {
                    group.enter(&own);
                }
            }
            "spPr" => {
                let group = groups.last().copied();
                let fill = group.map_or(ShapeFill::Unsaid, |group| group.fill);
                let own = properties(&mut xml, theme, fill)?;
                if let Some(shape) = part.shapes.last_mut() {
                    shape.take(&own, group);
                }
            }
            "xfrm" => {
                // The position of a frame is not within its properties.
                let mut own = ShapeProperties::default();
                own.place(element.number("rot"), &mut xml)?;
                if let Some(shape) = part.shapes.last_mut() {
                    shape.take(&own, groups.last().copied());
                }
            }
            "fillRef" => {
                let idx = element.number("idx").unwrap_or_default();
                let coat = theme.coat(&mut xml)?.map(|coat| coat.paint);
                let paint = coat.filter(|_| idx == 1.0).unwrap_or(InkColour::Other);
                // Index 0 is no fill.
                if let Some(shape) = part.shapes.last_mut().filter(|_| idx >= 1.0) {
                    shape.styled = ShapeFill::Coat(ShapePaint { paint, opaque: 1.0 });
                }
            }
            "chart" | "oleObj" => {
                if let Some(shape) = part.shapes.last_mut() {
                    shape.fill = UNKNOWN;
                }
            }
            "tbl" => {
                bare = true;
                if let Some(shape) = part.shapes.last_mut().filter(|shape| shape.frame) {
                    // The colours of its cells are not known to the shapes around a table.
                    shape.fill = UNKNOWN;
                }
            }
            "tableStyleId" => bare = BARE.contains(&xml.text()?.trim()),
            "tc" => part.cells.push(if bare { ShapeFill::Nothing } else { ShapeFill::Unsaid }),
            "tcPr" => {
                let own = properties(&mut xml, theme, ShapeFill::Unsaid)?;
                if let Some(cell) = part.cells.last_mut()
                    && own.fill != ShapeFill::Unsaid
                {
                    *cell = own.fill;
                }
            }
            "bodyPr" => {
                let top = element.attr("anchor").is_none_or(|anchor| anchor == "t");
                let straight = element.attr("vert").is_none_or(|vert| vert == "horz");
                let own = ["rot", "lIns", "tIns", "anchorCtr", "rtlCol", "numCol"];
                let own = own.into_iter().any(|name| {
                    element.attr(name).is_some_and(|value| !matches!(value.as_str(), "0" | "1"))
                });
                let clips = element.attr("vertOverflow");
                if let Some(shape) = part.shapes.last_mut() {
                    shape.text.elsewhere |= !top || !straight || own;
                    shape.text.insets =
                        ["lIns", "tIns", "rIns", "bIns"].map(|side| element.number(side));
                    shape.text.clips = clips.is_some_and(|clips| clips != "overflow");
                    shape.text.fits = element.attr("wrap").is_some_and(|wrap| wrap == "none");
                }
            }
            "spAutoFit" | "normAutofit" => {
                part.shapes.last_mut().into_iter().for_each(|shape| shape.text.fits = true);
            }
            "lstStyle" => {
                let mut says = false;
                xml.within(|_| says = true)?;
                if let Some(shape) = part.shapes.last_mut() {
                    shape.text.elsewhere |= says;
                }
            }
            "pPr" => {
                let aside = element.attr("algn").is_some_and(|side| side != "l")
                    || element.attr("marL").is_some()
                    || element.attr("indent").is_some()
                    || element.flag("rtl");
                let mut more = false;
                xml.within(|_| more = true)?;
                if let Some(shape) = part.shapes.last_mut() {
                    shape.text.elsewhere |= aside || more;
                }
            }
            "rPr" => {
                // The largest run of a paragraph determines the height of its lines.
                if let Some(own) = element.number("sz") {
                    size = f64::max(size, own / 100.0);
                }
                xml.skip()?;
            }
            "t" => count += xml.text()?.chars().count() as f64,
            "spTgt" => part.moved.extend(element.attr("spid")),
            _ => {}
        }
    }
    for shape in &mut part.shapes {
        // A fill of the shape itself takes precedence, wherever it is in the element.
        if shape.fill == ShapeFill::Unsaid {
            shape.fill = shape.styled;
        }
    }
    Ok(part)
}

/// The position and fill that a shape or group states.
struct ShapeProperties {
    fill: ShapeFill,
    area: Option<SlideArea>,
    /// The origin and extent of the coordinates within a group.
    inner: Option<SlideArea>,
    turned: bool,
    edge: f64,
}

impl Default for ShapeProperties {
    fn default() -> Self {
        Self { fill: ShapeFill::Unsaid, area: None, inner: None, turned: false, edge: 0.0 }
    }
}

impl ShapeProperties {
    /// Reads the position in the element that began last.
    fn place(&mut self, turn: Option<f64>, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let mut found: [Option<(f64, f64)>; 4] = [None; 4];
        xml.within(|element| {
            let pair = |one, other| Some((element.number(one)?, element.number(other)?));
            let (at, value) = match element.name().as_str() {
                "off" => (0, pair("x", "y")),
                "ext" => (1, pair("cx", "cy")),
                "chOff" => (2, pair("x", "y")),
                "chExt" => (3, pair("cx", "cy")),
                _ => return,
            };
            found.get_mut(at).into_iter().for_each(|slot| *slot = value);
        })?;
        let area = |off: Option<(f64, f64)>, ext: Option<(f64, f64)>| {
            let ((x, y), (wide, high)) = off.zip(ext)?;
            Some(SlideArea { x, y, wide, high })
        };
        let [off, ext, inner_off, inner_ext] = found;
        (self.area, self.inner) = (area(off, ext), area(inner_off, inner_ext));
        // Half a turn changes nothing, as positions are stated before rotation. Up to one degree is
        // ignored.
        self.turned = turn.is_some_and(|turn| (turn % 10_800_000.0).abs() > 60_000.0);
        Ok(())
    }
}

/// Reads the properties in the element that began last. `group` is the fill of the group, which
/// they may refer to.
fn properties(
    xml: &mut XmlReader<'_>,
    theme: &ThemeColours,
    group: ShapeFill,
) -> Result<ShapeProperties, ReadFailure> {
    let mut found = ShapeProperties::default();
    let mut inner = 0;
    loop {
        let element = match xml.step()?.ok_or(ReadFailure::Broken)? {
            XmlEvent::Start(element) => element,
            XmlEvent::End(_) if inner == 0 => return Ok(found),
            XmlEvent::End(_) => {
                inner -= 1;
                continue;
            }
            XmlEvent::Text(_) => continue,
        };
        match element.name().as_str() {
            "xfrm" => found.place(element.number("rot"), xml)?,
            "noFill" => {
                found.fill = ShapeFill::Nothing;
                xml.skip()?;
            }
            "solidFill" | "gradFill" | "pattFill" => {
                let coat = theme.coat(xml)?;
                found.fill = coat.map_or(UNKNOWN, ShapeFill::Coat);
            }
            "blipFill" => {
                found.fill = UNKNOWN;
                xml.skip()?;
            }
            "grpFill" => {
                found.fill = group;
                xml.skip()?;
            }
            "prstGeom" => {
                found.edge = match element.attr("prst").as_deref() {
                    Some("rect" | "flowChartProcess") | None => 0.0,
                    Some("roundRect" | "round2SameRect" | "snip1Rect" | "round1Rect") => 0.02,
                    Some("ellipse") => 0.15,
                    _ => 1.0,
                };
                xml.skip()?;
            }
            "custGeom" => {
                found.edge = 1.0;
                xml.skip()?;
            }
            // Lines and effects are not backgrounds.
            "ln" | "lnL" | "lnR" | "lnT" | "lnB" | "lnTlToBr" | "lnBlToTr" | "effectLst"
            | "effectDag" | "scene3d" | "sp3d" | "extLst" => xml.skip()?,
            _ => inner += 1,
        }
    }
}

impl SlideShape {
    /// Applies properties of a shape within `group`, or outside of any group.
    fn take(&mut self, own: &ShapeProperties, group: Option<ShapeGroup>) {
        if let Some(area) = own.area {
            let lost = group.is_some_and(|group| group.lost);
            self.place = (!lost).then(|| group.map_or(area, |group| group.place(area)));
            self.turned = own.turned;
        }
        if own.fill != ShapeFill::Unsaid && !self.picture {
            self.fill = own.fill;
        }
        self.edge = own.edge;
    }
}

impl ShapeGroup {
    /// Returns the area on the slide of an object in the group.
    fn place(&self, area: SlideArea) -> SlideArea {
        SlideArea {
            x: area.x * self.scale.0 + self.shift.0,
            y: area.y * self.scale.1 + self.shift.1,
            wide: area.wide * self.scale.0,
            high: area.high * self.scale.1,
        }
    }

    /// Applies the group's own properties. Before that, it equals the group around it.
    fn enter(&mut self, own: &ShapeProperties) {
        if own.fill != ShapeFill::Unsaid {
            self.fill = own.fill;
        }
        self.lost |= own.turned;
        let (Some(area), Some(inner)) = (own.area, own.inner) else { return };
        if inner.wide <= 0.0 || inner.high <= 0.0 {
            self.lost = true;
            return;
        }
        let outer = self.place(area);
        self.scale = (outer.wide / inner.wide, outer.high / inner.high);
        self.shift = (outer.x - inner.x * self.scale.0, outer.y - inner.y * self.scale.1);
    }
}
