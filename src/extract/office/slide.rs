//! The visible text of a slide, its notes or a diagram: one part of a presentation. The
//! presentation as a whole is in `pptx.rs`.

use daysheet_core::text::visibility::{HidingMethod, TextVisibility};
use std::collections::HashMap;

use super::scene::SlideScene;
use super::scene::shape::{POINT, SIZE, SLIDE};
use crate::ReadFailure;
use crate::package::OpenPackage;
use crate::paragraph::{ParagraphWords, target_after};
use crate::run_style::{BaselineShift, InkColour, RunStyle};
use crate::story::{OmissionTally, StoryWriter};
use crate::xml::{XmlElement, XmlEvent, XmlReader};

/// Returns the text of a slide's notes or a diagram: the part with this path.
pub fn read_part(
    package: &mut OpenPackage<'_>,
    path: &str,
    notes: bool,
    tally: &mut OmissionTally,
) -> Result<String, ReadFailure> {
    let text = package.text(path)?.unwrap_or_default();
    let links = package.links(path)?;
    let mut part =
        SlideReader { notes, links, tally: std::mem::take(tally), ..SlideReader::default() };
    let read = part.read(&text);
    *tally = part.tally;
    read.map(|()| part.story.plain())
}

/// A slide, its notes or a diagram that is being read.
pub struct SlideReader {
    /// True for notes: their body is read, but not the repeated fields of a printed page.
    notes: bool,
    size: (f64, f64),
    /// The layout of the shapes; `None` for notes and diagrams.
    scene: Option<SlideScene>,
    pub(super) shown: bool,
    pub(super) story: StoryWriter,
    pub(super) tally: OmissionTally,
    words: ParagraphWords,
    level: usize,
    /// The targets of links, by id.
    links: HashMap<String, String>,
    /// The links of the shape, of the run, and of the run before it.
    whole: Option<String>,
    link: Option<String>,
    before: Option<String>,
    /// The visibility of the open shape.
    shape: TextVisibility,
    /// The factor by which its text is shrunk to fit.
    fit: Option<f64>,
    /// The indents of the paragraph's lines, and of the first line relative to the others.
    margin: (Option<f64>, Option<f64>),
    /// The type of the open placeholder, if one is open.
    holder: Option<String>,
    /// The visibility of the open run.
    run: TextVisibility,
    /// The style of the open run.
    text_style: RunStyle,
    /// The number of shapes and cells so far, and true if a cell is open.
    at: (usize, usize),
    in_cell: bool,
    /// The colours that may be behind the text of the open shape or cell.
    backgrounds: Vec<InkColour>,
    /// The default text colour of the shape, and the default style by level.
    usual: Option<InkColour>,
    levels: HashMap<usize, RunStyle>,
    /// The number of open groups; true if properties belong to the last group; and the hidden
    /// group.
    groups: usize,
    within: bool,
    hidden: Option<(usize, HidingMethod)>,
    /// Hidden diagrams and charts, by relationship id.
    pub(super) unseen: HashMap<String, HidingMethod>,
    /// True in a cell that a merged cell covers.
    covered: bool,
}

impl Default for SlideReader {
    fn default() -> Self {
        Self {
            notes: false,
            size: (f64::MAX, f64::MAX),
            scene: None,
            shown: true,
            story: StoryWriter::default(),
            tally: OmissionTally::default(),
            words: ParagraphWords::default(),
            level: 0,
            links: HashMap::new(),
            whole: None,
            link: None,
            before: None,
            shape: TextVisibility::Seen,
            fit: None,
            margin: (None, None),
            holder: None,
            run: TextVisibility::Seen,
            text_style: RunStyle::default(),
            at: (0, 0),
            in_cell: false,
            backgrounds: Vec::new(),
            usual: None,
            levels: HashMap::new(),
            groups: 0,
            within: false,
            hidden: None,
            unseen: HashMap::new(),
            covered: false,
        }
    }
}

impl SlideReader {
    /// Creates the reader of a slide of this size, with its layout and its link targets by id.
    /// Findings are added to `tally`.
    pub(super) fn new(
        size: (f64, f64),
        scene: SlideScene,
        links: HashMap<String, String>,
        tally: OmissionTally,
    ) -> Self {
        Self { size, scene: Some(scene), links, tally, ..Self::default() }
    }

    pub(super) fn read(&mut self, text: &str) -> Result<(), ReadFailure> {
        let mut xml = XmlReader::with_namespaces(text, SLIDE);
        while let Some(event) = xml.step()? {
            match event {
                XmlEvent::Start(element) => self.start(&element, &mut xml)?,
                XmlEvent::End(ending) => self.end(&ending.name()),
                XmlEvent::Text(_) => {}
            }
        }
        Ok(())
    }

    fn start(
        &mut self,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        match element.name().as_str() {
            "sld" => self.shown = !matches!(element.attr("show").as_deref(), Some("0" | "false")),
            "grpSp" => {
                self.groups += 1;
                self.within = true;
            }
            "sp" | "cxnSp" | "graphicFrame" | "pic" => {
                (self.shape, self.holder, self.within) = (TextVisibility::Seen, None, false);
                (self.usual, self.levels, self.whole) = (None, HashMap::new(), None);
                (self.at.0, self.fit) = (self.at.0 + 1, None);
                self.background();
            }
            "fontRef" => {
                let scene = self.scene.as_ref();
                let coat = scene.map_or(Ok(None), |scene| scene.theme.coat(xml))?;
                self.usual = coat.map(|coat| coat.paint);
            }
            "lstStyle" => self.levels(xml)?,
            "cNvPr" => {
                if element.flag("hidden") {
                    self.hide(HidingMethod::Marked);
                }
                self.whole = None;
            }
            // The link of a whole shape; links of runs are read with their properties.
            "hlinkClick" => {
                self.whole = element.link().and_then(|id| self.links.get(&id).cloned());
            }
            "ph" => self.holder = Some(element.attr("type").unwrap_or_default()),
            "xfrm" if self.within => self.placed(xml)?,
            "normAutofit" => {
                let scale = element.attr("fontScale");
                self.fit = scale.and_then(|scale| share(&scale));
            }
            "blip" => self.tally.pictures += 1,
            "dgm:relIds" | "c:chart" => {
                let id = element.relation("dm").or_else(|| element.link());
                if let TextVisibility::Hidden(how) = self.around() {
                    self.unseen.extend(id.map(|id| (id, how)));
                }
            }
            "tbl" => self.story.table(),
            "tc" => {
                self.story.cell();
                self.covered = element.flag("hMerge") || element.flag("vMerge");
                self.in_cell = true;
                self.at.1 += 1;
                self.background();
            }
            "p" => {
                (self.words, self.level, self.run) =
                    (ParagraphWords::default(), 0, TextVisibility::Seen);
                (self.link, self.before, self.margin) = (None, None, (None, None));
            }
            "pPr" => {
                self.level = element.number("lvl").unwrap_or_default().clamp(0.0, 8.0) as usize;
                self.margin = margin(element);
                xml.skip()?;
            }
            "r" | "fld" => {
                self.text_style = RunStyle::default();
                (self.run, self.link) = (self.visibility(None), None);
            }
            "endParaRPr" | "defRPr" => xml.skip()?,
            "rPr" => self.properties(element, xml)?,
            "t" => {
                let text = xml.text()?;
                self.add_text(&text);
            }
            "br" => self.add_text("\n"),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        match name {
            "grpSp" => {
                self.groups = self.groups.saturating_sub(1);
                self.hidden = self.hidden.filter(|(depth, _)| *depth <= self.groups);
            }
            "sp" | "cxnSp" | "graphicFrame" | "pic" => {
                (self.shape, self.holder) = (TextVisibility::Seen, None);
                self.story.line("");
            }
            "p" => {
                let (mut text, _) = std::mem::take(&mut self.words).end();
                self.tally.paragraph();
                let on_page = self.begins(&text);
                if text.trim().is_empty() || !self.tally.sees(on_page, &text) {
                    return;
                }
                let whole = self.whole.take().and_then(|target| target_after(&text, &target));
                text.push_str(&whole.unwrap_or_default());
                if matches!(self.holder.as_deref(), Some("title" | "ctrTitle")) {
                    self.story.heading(1, &text.replace('\n', " "));
                } else {
                    let bullet = if self.level > 0 { "- " } else { "" };
                    let indent = self.level.saturating_sub(1) * 2;
                    let text = format!("{:indent$}{bullet}{text}", "");
                    text.lines().for_each(|line| self.story.line(line));
                }
            }
            "tc" => {
                self.story.cell_end();
                (self.covered, self.in_cell) = (false, false);
            }
            "tr" => self.story.row_end(),
            "tbl" => self.story.table_end(),
            _ => {}
        }
    }

    /// Determines the background of the open shape or cell, and whether it is covered.
    fn background(&mut self) {
        let Some(scene) = &self.scene else { return };
        let (Some(shape), cell) = (self.at.0.checked_sub(1), self.at.1.checked_sub(1)) else {
            return;
        };
        self.backgrounds = scene.backgrounds(shape, cell.filter(|_| self.in_cell));
        let covered = scene.covered(shape).then_some(HidingMethod::Covered);
        self.shape = self.shape.max(scene.visibility(shape, self.size)).or(covered);
    }

    /// Returns the visibility of a paragraph, judged by its indents.
    fn begins(&self, text: &str) -> TextVisibility {
        let wide = self.size.0 / POINT;
        let usual = self.levels.get(&self.level);
        let left = self.margin.0.or(usual.and_then(|usual| usual.left));
        let first = self.margin.1.or(usual.and_then(|usual| usual.first));
        let text_style = RunStyle { left, first, size: Some(2.0 * SIZE), ..RunStyle::default() };
        let edge = self.scene.as_ref().zip(self.at.0.checked_sub(1));
        let edge = edge.and_then(|(scene, shape)| scene.edge(shape));
        // The paragraph begins at the edge or, if it is centred, anywhere to the right of it.
        text_style.visibility_on_page(text, wide, (edge.unwrap_or_default(), wide))
    }

    /// Returns the visibility of the open run, on its highlight or on the shape's background.
    fn visibility(&self, marker: Option<InkColour>) -> TextVisibility {
        let usual = self.levels.get(&self.level).cloned().unwrap_or_default();
        let text_style = self.text_style.over(&usual);
        let colour = text_style.colour.or(self.usual).filter(|_| self.scene.is_some());
        let size = text_style.size.or(Some(2.0 * SIZE));
        let text_style = RunStyle { colour, size, scale: self.fit, ..text_style };
        let backgrounds = marker.as_ref().map_or(self.backgrounds.as_slice(), std::slice::from_ref);
        let visibilities = backgrounds.iter().map(|background| text_style.visibility(*background));
        // The text counts as visible if it is on any of the possible backgrounds.
        visibilities.min().unwrap_or_else(|| text_style.visibility(InkColour::Other))
    }

    /// Reads the default style of text at each level of a shape.
    fn levels(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let Some(scene) = &self.scene else { return xml.skip() };
        let mut level = None;
        loop {
            match xml.step()?.ok_or(ReadFailure::Broken)? {
                XmlEvent::Start(element) => {
                    let name = element.name();
                    let number = name.strip_prefix("lvl").and_then(|rest| rest.strip_suffix("pPr"));
                    match (name.as_str(), number.and_then(|number| number.parse::<usize>().ok())) {
                        (_, Some(number)) => {
                            level = number.checked_sub(1);
                            let (left, first) = margin(&element);
                            let text_style = RunStyle { left, first, ..RunStyle::default() };
                            self.levels.extend(level.map(|level| (level, text_style)));
                        }
                        ("defRPr", _) => {
                            let open = level.and_then(|level| self.levels.get_mut(&level));
                            open.into_iter().for_each(|text_style| stated(text_style, &element));
                        }
                        ("ln" | "highlight" | "effectLst" | "extLst" | "buClr", _) => xml.skip()?,
                        ("solidFill", _) => {
                            let colour = scene.theme.coat(xml)?.map(|coat| coat.paint);
                            let open = level.and_then(|level| self.levels.get_mut(&level));
                            open.into_iter().for_each(|text_style| text_style.colour = colour);
                        }
                        _ => {}
                    }
                }
                XmlEvent::End(ending) if ending.name() == "lstStyle" => return Ok(()),
                _ => {}
            }
        }
    }

    /// Reads the properties of a run that decide on its visibility.
    fn properties(
        &mut self,
        run: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        stated(&mut self.text_style, run);
        let mut marker = None;
        let theme = self.scene.as_ref().map(|scene| scene.theme.clone()).unwrap_or_default();
        loop {
            match xml.step()?.ok_or(ReadFailure::Broken)? {
                XmlEvent::Start(property) => match property.name().as_str() {
                    "noFill" => self.text_style.empty = Some(true),
                    "solidFill" | "gradFill" | "pattFill" => {
                        let coat = theme.coat(xml)?;
                        if coat.is_some_and(|coat| coat.opaque < 0.1) {
                            self.text_style.empty = Some(true);
                        }
                        self.text_style.colour =
                            Some(coat.map_or(InkColour::Other, |coat| coat.paint));
                    }
                    "blipFill" => {
                        self.text_style.colour = Some(InkColour::Other);
                        xml.skip()?;
                    }
                    "hlinkClick" => {
                        self.link = property.link().and_then(|id| self.links.get(&id).cloned());
                        xml.skip()?;
                    }
                    "highlight" => marker = theme.coat(xml)?.map(|coat| coat.paint),
                    "ln" | "effectLst" | "effectDag" | "extLst" => xml.skip()?,
                    _ => {}
                },
                XmlEvent::End(ending) if ending.name() == "rPr" => break,
                _ => {}
            }
        }
        self.run = self.visibility(marker);
        Ok(())
    }

    /// Marks the open shape or group as hidden.
    fn hide(&mut self, how: HidingMethod) {
        if self.within {
            self.hidden.get_or_insert((self.groups, how));
        } else {
            self.shape = self.shape.or(Some(how));
        }
    }

    /// Reads the position of the open group. Positions of nested groups are relative, so they are
    /// ignored.
    fn placed(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let (mut offset, mut extent) = (None, (0.0, 0.0));
        xml.within(|element| {
            let pair = |one, other| Some((element.number(one)?, element.number(other)?));
            match element.name().as_str() {
                "off" => offset = pair("x", "y"),
                "ext" => extent = pair("cx", "cy").unwrap_or_default(),
                _ => {}
            }
        })?;
        if let Some((x, y)) = offset
            && self.groups == 1
        {
            let before = x + extent.0 < 0.0 || y + extent.1 < 0.0;
            if before || x >= self.size.0 || y >= self.size.1 {
                self.hide(HidingMethod::OffPage);
            }
        }
        Ok(())
    }

    /// Returns the visibility of text in the open shape or cell.
    fn around(&self) -> TextVisibility {
        let covered = self.covered.then_some(HidingMethod::Covered);
        let group =
            self.hidden.map_or(TextVisibility::Seen, |(_, how)| TextVisibility::Hidden(how));
        self.shape.within(group).or(covered)
    }

    /// Adds text of the open run, or counts it.
    fn add_text(&mut self, text: &str) {
        let printed = ["sldNum", "hdr", "ftr", "dt", "sldImg"];
        let kind = self.holder.as_deref();
        // Slide numbers are stored as text, too, but repeat the number in the slide's mark.
        if kind == Some("sldNum") || self.notes && kind.is_some_and(|kind| printed.contains(&kind))
        {
            return;
        }
        if !self.tally.sees(self.run.within(self.around()), text) {
            return;
        }
        // The words of a link may be split into several runs.
        if self.before != self.link {
            if self.before.is_some() {
                self.words.unlink();
            }
            self.link.iter().for_each(|target| self.words.link(target));
            self.before.clone_from(&self.link);
        }
        self.words.run(text, &self.text_style);
    }
}

/// Reads the text properties of a run, or of a level of a list.
fn stated(text_style: &mut RunStyle, run: &XmlElement<'_>) {
    text_style.size = run.number("sz").map(|size| size / 50.0);
    text_style.spacing = run.number("spc").map(|spacing| spacing / 100.0);
    text_style.struck = run.attr("strike").map(|strike| strike != "noStrike");
    text_style.lift = run.attr("baseline").and_then(|baseline| share(&baseline));
    text_style.shift = text_style.lift.map(BaselineShift::new);
}

/// Reads the indents of lines from the edge of their shape, and of the first line from the others,
/// in points.
fn margin(paragraph: &XmlElement<'_>) -> (Option<f64>, Option<f64>) {
    let length = |name: &str| paragraph.number(name).map(|length| length / POINT);
    (length("marL"), length("indent"))
}

/// Parses a fraction, written in thousandths of a per cent or as a percentage.
fn share(value: &str) -> Option<f64> {
    match value.trim().strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(|percent: f64| percent / 100.0),
        None => value.trim().parse().ok().map(|part: f64| part / 100_000.0),
    }
}
