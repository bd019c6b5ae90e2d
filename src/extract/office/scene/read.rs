//! Reading of the shapes of a slide, layout or master: positions, fills and text sizes.
//!
//! The parent module decides on the visibility of text.

use std::collections::HashSet;

use super::shape::{
    SIZE, SLIDE, ScenePart, ShapeFill, ShapeGroup, SlideArea, SlideShape, TextSize, UNKNOWN,
};
use crate::ReadFailure;
use crate::office::theme::{ShapePaint, ThemeColours};
use crate::run_style::InkColour;
use crate::xml::{XmlElement, XmlEvent, XmlReader};

/// Table styles without fills.
const BARE: [&str; 2] =
    ["{2D5ABB26-0587-4C30-8999-92F81FD0307C}", "{5940675A-B579-460E-94D1-54222C63F5DA}"];

/// Reads a slide, layout or master. Its placeholders inherit from the ones in `below`.
pub(super) fn read_scene_part(
    text: &str,
    theme: &ThemeColours,
    below: &[SlideShape],
) -> Result<ScenePart, ReadFailure> {
    let mut reader = ScenePartReader::new(theme, below);
    let mut xml = XmlReader::with_namespaces(text, SLIDE);
    while let Some(event) = xml.step()? {
        match event {
            XmlEvent::Start(element) => reader.begin(&element, &mut xml)?,
            XmlEvent::End(ending) => reader.end(&ending.name()),
            XmlEvent::Text(_) => {}
        }
    }
    Ok(reader.finish())
}

/// The state while a slide, layout or master is read.
struct ScenePartReader<'a> {
    theme: &'a ThemeColours,
    /// The placeholders from which the part inherits.
    below: &'a [SlideShape],
    part: ScenePart,
    /// The open groups, the innermost last.
    groups: Vec<ShapeGroup>,
    /// True while a group's own properties are read.
    in_group_properties: bool,
    /// True for a table without colours.
    is_bare: bool,
    /// The number of characters of the open paragraph.
    count: f64,
    /// The size of its largest run, in points.
    size: f64,
}

impl<'a> ScenePartReader<'a> {
    fn new(theme: &'a ThemeColours, below: &'a [SlideShape]) -> Self {
        Self {
            theme,
            below,
            part: ScenePart {
                shapes: Vec::new(),
                background: None,
                based: true,
                moved: HashSet::new(),
                cells: Vec::new(),
            },
            groups: Vec::new(),
            in_group_properties: false,
            is_bare: true,
            count: 0.0,
            size: SIZE,
        }
    }

    /// Returns the part that was read.
    fn finish(mut self) -> ScenePart {
        for shape in &mut self.part.shapes {
            // A fill of the shape itself takes precedence, wherever it is in the element.
            if shape.fill == ShapeFill::Unsaid {
                shape.fill = shape.styled;
            }
        }
        self.part
    }

    /// Ends an element.
    fn end(&mut self, name: &str) {
        match name {
            "grpSp" => drop(self.groups.pop()),
            "p" => {
                let paragraph = (self.count, self.size);
                if let Some(shape) = self.part.shapes.last_mut() {
                    shape.text.paragraphs.push(paragraph);
                }
                (self.count, self.size) = (0.0, SIZE);
            }
            _ => {}
        }
    }

    /// Begins an element, and reads it to its end if it has properties.
    fn begin(
        &mut self,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        match element.name().as_str() {
            "sld" | "sldLayout" => {
                let shown = element.attr("showMasterSp");
                self.part.based = !matches!(shown.as_deref(), Some("0" | "false"));
            }
            "bgPr" => self.read_background(xml)?,
            "bgRef" => self.read_background_reference(element, xml)?,
            "grpSp" => self.begin_group(),
            kind @ ("sp" | "cxnSp" | "graphicFrame" | "pic") => self.begin_shape(kind),
            "cNvPr" if !self.in_group_properties => {
                if let Some(shape) = self.part.shapes.last_mut() {
                    shape.id = element.attr("id").unwrap_or_default();
                    shape.hidden |= element.flag("hidden");
                }
            }
            "ph" => self.read_placeholder(element),
            "grpSpPr" => self.read_group_properties(xml)?,
            "spPr" => self.read_shape_properties(xml)?,
            "xfrm" => self.read_frame_position(element, xml)?,
            "fillRef" => self.read_style_fill(element, xml)?,
            "chart" | "oleObj" => {
                self.part.shapes.last_mut().into_iter().for_each(|shape| shape.fill = UNKNOWN);
            }
            "tbl" => {
                self.is_bare = true;
                if let Some(shape) = self.part.shapes.last_mut().filter(|shape| shape.frame) {
                    // The colours of its cells are not known to the shapes around a table.
                    shape.fill = UNKNOWN;
                }
            }
            "tableStyleId" => self.is_bare = BARE.contains(&xml.text()?.trim()),
            "tc" => {
                let fill = if self.is_bare { ShapeFill::Nothing } else { ShapeFill::Unsaid };
                self.part.cells.push(fill);
            }
            "tcPr" => self.read_cell_properties(xml)?,
            "bodyPr" => self.read_text_box(element),
            "spAutoFit" | "normAutofit" => {
                self.part.shapes.last_mut().into_iter().for_each(|shape| shape.text.fits = true);
            }
            "lstStyle" => {
                let mut says = false;
                xml.within(|_| says = true)?;
                if let Some(shape) = self.part.shapes.last_mut() {
                    shape.text.elsewhere |= says;
                }
            }
            "pPr" => self.read_paragraph_properties(element, xml)?,
            "rPr" => {
                // The largest run of a paragraph determines the height of its lines.
                if let Some(own) = element.number("sz") {
                    self.size = f64::max(self.size, own / 100.0);
                }
                xml.skip()?;
            }
            "t" => self.count += xml.text()?.chars().count() as f64,
            "spTgt" => self.part.moved.extend(element.attr("spid")),
            _ => {}
        }
        Ok(())
    }

    /// Reads the background of the part.
    fn read_background(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let properties = properties(xml, self.theme, ShapeFill::Unsaid)?;
        self.part.background = Some(match properties.fill {
            ShapeFill::Coat(coat) => coat.paint,
            _ => InkColour::Other,
        });
        Ok(())
    }

    /// Reads a background that is a fill of the theme.
    fn read_background_reference(
        &mut self,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        // The first fill of a theme is the plain colour; the others are gradients.
        let plain = element.attr("idx").is_none_or(|idx| idx == "1001");
        let coat = self.theme.coat(xml)?;
        let paint = coat.map_or(InkColour::Other, |coat| coat.paint);
        self.part.background = Some(if plain { paint } else { InkColour::Other });
        Ok(())
    }

    /// Begins a group, which has the properties of the group around it until its own are read.
    fn begin_group(&mut self) {
        let outer = self.groups.last().copied();
        self.groups.push(outer.unwrap_or(ShapeGroup {
            scale: (1.0, 1.0),
            shift: (0.0, 0.0),
            fill: ShapeFill::Unsaid,
            lost: false,
        }));
        self.in_group_properties = true;
    }

    /// Begins a shape, picture, line or frame.
    fn begin_shape(&mut self, kind: &str) {
        self.in_group_properties = false;
        let fill = if kind == "pic" { UNKNOWN } else { ShapeFill::Unsaid };
        self.part.shapes.push(SlideShape {
            id: String::new(),
            holder: None,
            area: None,
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

    /// Marks the open shape as a placeholder, and lets it inherit.
    fn read_placeholder(&mut self, element: &XmlElement<'_>) {
        let holder = (
            element.attr("type").unwrap_or_else(|| "obj".to_owned()),
            element.attr("idx").unwrap_or_default(),
        );
        if let Some(shape) = self.part.shapes.last_mut() {
            shape.holder = Some(holder);
            shape.inherit(self.below);
        }
    }

    /// Reads the properties of the open group.
    fn read_group_properties(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        // The last group is the open one itself; `grpFill` in it means the group around it.
        let outer = self.groups.iter().rev().nth(1).copied();
        let fill = outer.map_or(ShapeFill::Unsaid, |outer| outer.fill);
        let own = properties(xml, self.theme, fill)?;
        let in_properties = self.in_group_properties;
        if let Some(group) = self.groups.last_mut().filter(|_| in_properties) {
            group.enter(&own);
        }
        Ok(())
    }

    /// Reads the properties of the open shape.
    fn read_shape_properties(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let group = self.groups.last().copied();
        let fill = group.map_or(ShapeFill::Unsaid, |group| group.fill);
        let own = properties(xml, self.theme, fill)?;
        if let Some(shape) = self.part.shapes.last_mut() {
            shape.apply(&own, group);
        }
        Ok(())
    }

    /// Reads the position of a frame, which is not within its properties.
    fn read_frame_position(
        &mut self,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        let mut own = ShapeProperties::default();
        own.read_position(element.number("rot"), xml)?;
        if let Some(shape) = self.part.shapes.last_mut() {
            shape.apply(&own, self.groups.last().copied());
        }
        Ok(())
    }

    /// Reads the fill that the style of the open shape names.
    fn read_style_fill(
        &mut self,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        let idx = element.number("idx").unwrap_or_default();
        let coat = self.theme.coat(xml)?.map(|coat| coat.paint);
        let paint = coat.filter(|_| idx == 1.0).unwrap_or(InkColour::Other);
        // Index 0 is no fill.
        if let Some(shape) = self.part.shapes.last_mut().filter(|_| idx >= 1.0) {
            shape.styled = ShapeFill::Coat(ShapePaint { paint, opaque: 1.0 });
        }
        Ok(())
    }

    /// Reads the fill of the open table cell.
    fn read_cell_properties(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let own = properties(xml, self.theme, ShapeFill::Unsaid)?;
        if let Some(cell) = self.part.cells.last_mut()
            && own.fill != ShapeFill::Unsaid
        {
            *cell = own.fill;
        }
        Ok(())
    }

    /// Reads the position of the text in the open shape.
    fn read_text_box(&mut self, element: &XmlElement<'_>) {
        let top = element.attr("anchor").is_none_or(|anchor| anchor == "t");
        let straight = element.attr("vert").is_none_or(|vert| vert == "horz");
        let own = ["rot", "lIns", "tIns", "anchorCtr", "rtlCol", "numCol"];
        let own = own.into_iter().any(|name| {
            element.attr(name).is_some_and(|value| !matches!(value.as_str(), "0" | "1"))
        });
        let clips = element.attr("vertOverflow");
        if let Some(shape) = self.part.shapes.last_mut() {
            shape.text.elsewhere |= !top || !straight || own;
            shape.text.insets = ["lIns", "tIns", "rIns", "bIns"].map(|side| element.number(side));
            shape.text.clips = clips.is_some_and(|clips| clips != "overflow");
            shape.text.fits = element.attr("wrap").is_some_and(|wrap| wrap == "none");
        }
    }

    /// Reads the properties of a paragraph that decide on the position of its text.
    fn read_paragraph_properties(
        &mut self,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        let aside = element.attr("algn").is_some_and(|side| side != "l")
            || element.attr("marL").is_some()
            || element.attr("indent").is_some()
            || element.flag("rtl");
        let mut more = false;
        xml.within(|_| more = true)?;
        if let Some(shape) = self.part.shapes.last_mut() {
            shape.text.elsewhere |= aside || more;
        }
        Ok(())
    }
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
    fn read_position(
        &mut self,
        turn: Option<f64>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
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
            "xfrm" => found.read_position(element.number("rot"), xml)?,
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
    fn apply(&mut self, own: &ShapeProperties, group: Option<ShapeGroup>) {
        if let Some(area) = own.area {
            let lost = group.is_some_and(|group| group.lost);
            self.area = (!lost).then(|| group.map_or(area, |group| group.to_slide(area)));
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
    fn to_slide(self, area: SlideArea) -> SlideArea {
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
        let outer = self.to_slide(area);
        self.scale = (outer.wide / inner.wide, outer.high / inner.high);
        self.shift = (outer.x - inner.x * self.scale.0, outer.y - inner.y * self.scale.1);
    }
}
