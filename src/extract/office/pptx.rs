//! PowerPoint presentations, slide by slide, with the speaker's notes and comments.

use std::collections::HashMap;

use crate::look::{alike, colour};
use crate::package::{Package, Relation};
use crate::story::{Deck, Story, Tally};
use crate::xml::{Element, Event, Xml};
use crate::{Failure, Finding, How, Mark, Out, PAGES, Stop};

/// The namespaces of slides.
const SLIDE: &[&str] = &["p", "a"];

/// Reads a presentation.
pub fn read(bytes: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    let mut package = Package::open(bytes)?;
    let main = package.main("ppt/presentation.xml")?;
    let relations = package.relations(&main)?;
    let text = package.text(&main)?.ok_or(Failure::Broken)?;
    let (slides, size) = presentation(&text, &relations)?;
    let authors = authors(&mut package, &relations)?;
    let of = slides.len() as u64;
    let first = out.request.page.max(1);
    if u64::from(first) > of {
        return Err(Failure::NoSuchPage(of).into());
    }
    if package.has("ppt/vbaProject.bin") {
        out.find(Finding::Macros);
    }
    let mut deck = Deck::new(of, Tally::default());
    let mut give = || -> Result<(), Stop> {
        for (path, number) in slides.iter().zip(1..).skip(first as usize - 1).take(PAGES as usize) {
            let text = package.text(path)?.ok_or(Failure::Broken)?;
            let relations = package.relations(path)?;
            let white = white(&mut package, &text, &relations)?;
            let tally = std::mem::take(&mut deck.tally);
            let mut slide = Slide { size, white, tally, ..Slide::default() };
            slide.read(&text)?;
            deck.tally = slide.tally;
            let mut story = Story::default();
            story.mark(Mark::Slide(number));
            for line in slide.story.plain().lines() {
                story.line(line);
            }
            if slide.shown {
                more(&mut package, &relations, &authors, &mut deck.tally, &mut story)?;
            }
            deck.give(number, slide.shown, story, out)?;
        }
        Ok(())
    };
    let ended = give();
    deck.end(ended, out)
}

/// Returns the slides in their order, and the size of each.
fn presentation(text: &str, relations: &[Relation]) -> Result<(Vec<String>, (f64, f64)), Failure> {
    let (mut slides, mut size) = (Vec::new(), (f64::MAX, f64::MAX));
    let mut xml = Xml::of(text, SLIDE);
    while let Some(event) = xml.step()? {
        let Event::Start(element) = event else { continue };
        match element.name().as_str() {
            "sldId" => {
                let id = element.link().unwrap_or_default();
                let found = relations.iter().find(|relation| relation.id == id);
                slides.extend(found.map(|relation| relation.target.clone()));
            }
            "sldSz" => {
                let side = |name| element.number(name).unwrap_or(f64::MAX);
                size = (side("cx"), side("cy"));
            }
            _ => {}
        }
    }
    Ok((slides, size))
}

/// Returns the names of those who comment, by their ids.
fn authors(
    package: &mut Package<'_>,
    relations: &[Relation],
) -> Result<HashMap<String, String>, Failure> {
    let mut authors = HashMap::new();
    for relation in relations.iter().filter(|relation| relation.kind.ends_with("uthors")) {
        let Some(text) = package.text(&relation.target)? else { continue };
        let mut xml = Xml::of(&text, &["p", "p188"]);
        while let Some(event) = xml.step()? {
            if let Event::Start(element) = event
                && let (Some(id), Some(name)) = (element.attr("id"), element.attr("name"))
            {
                authors.insert(id, name);
            }
        }
    }
    Ok(authors)
}

/// Adds what belongs to a slide but lies in parts of its own: diagrams, notes, comments.
fn more(
    package: &mut Package<'_>,
    relations: &[Relation],
    authors: &HashMap<String, String>,
    tally: &mut Tally,
    story: &mut Story,
) -> Result<(), Failure> {
    for relation in relations {
        let text = match relation.kind.as_str() {
            "diagramData" | "notesSlide" | "comments" => package.text(&relation.target)?,
            "chart" => {
                tally.pictures += 1;
                None
            }
            _ => None,
        };
        let Some(text) = text else { continue };
        if relation.kind == "comments" {
            comments(&text, authors, story)?;
            continue;
        }
        let notes = relation.kind == "notesSlide";
        let mut part = Slide { notes, size: (f64::MAX, f64::MAX), ..Slide::default() };
        part.tally = std::mem::take(tally);
        part.read(&text)?;
        *tally = part.tally;
        let text = part.story.plain();
        if notes {
            story.below(Mark::Notes, &text);
        } else {
            text.lines().for_each(|line| story.line(line));
        }
    }
    Ok(())
}

/// Adds the comments on a slide, of the older and the newer kind.
fn comments(
    text: &str,
    authors: &HashMap<String, String>,
    story: &mut Story,
) -> Result<(), Failure> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut xml = Xml::of(text, &["p", "a", "p188"]);
    while let Some(event) = xml.step()? {
        let Event::Start(element) = event else { continue };
        match element.name().as_str() {
            "cm" | "reply" => {
                let author = authors.get(&element.attr("authorId").unwrap_or_default());
                found.push((author.cloned().unwrap_or_default(), String::new()));
            }
            "text" | "t" => {
                let text = xml.text()?;
                found.last_mut().into_iter().for_each(|(_, comment)| comment.push_str(&text));
            }
            _ => {}
        }
    }
    if !found.is_empty() {
        story.mark(Mark::Comments(found.len() as u32));
    }
    for (author, text) in found {
        story.below(Mark::Comment { author }, &text);
    }
    Ok(())
}

/// Returns true if nothing but white lies behind the text of a slide: no picture, no filled
/// shape and no other ground, on the slide and on what it is based on.
fn white(package: &mut Package<'_>, slide: &str, own: &[Relation]) -> Result<bool, Failure> {
    let mut parts = vec![slide.to_owned()];
    let mut relations = own.iter().map(|relation| (relation.kind.clone(), relation.target.clone()));
    let mut next = relations.find(|(kind, _)| kind == "slideLayout");
    for kind in ["slideMaster", "theme", ""] {
        let Some((_, path)) = next else { return Ok(false) };
        parts.extend(package.text(&path)?);
        let relations = package.relations(&path)?.into_iter();
        let mut relations = relations.map(|relation| (relation.kind, relation.target));
        next = relations.find(|(found, _)| found == kind);
    }
    let theme = parts.pop().unwrap_or_default();
    let mapped = parts.last().is_some_and(|master| master.contains("bg1=\"lt1\""));
    if !mapped || !light(&theme)? {
        return Ok(false);
    }
    for part in &parts {
        let mut xml = Xml::of(part, SLIDE);
        let (mut ground, mut white) = (false, true);
        while let Some(event) = xml.step()? {
            match event {
                Event::Start(element) => match element.name().as_str() {
                    "bg" | "spPr" | "tcPr" | "grpSpPr" => ground = true,
                    // The first fill of a theme is the colour itself; others are gradients.
                    "bgRef" if element.attr("idx").is_none_or(|idx| idx != "1001") => white = false,
                    // Lines, and what stands in a theme's list of styles, is no ground.
                    "ln" => xml.skip()?,
                    "pic" | "graphicFrame" | "style" | "blipFill" => white = false,
                    "gradFill" | "pattFill" | "grpFill" | "lumMod" | "shade" if ground => {
                        white = false;
                    }
                    "srgbClr" | "schemeClr" | "sysClr" | "prstClr" if ground => {
                        white &= pale(&element);
                    }
                    _ => {}
                },
                Event::End(ending) => match ending.name().as_str() {
                    "bg" | "spPr" | "tcPr" | "grpSpPr" => ground = false,
                    _ => {}
                },
                Event::Text(_) => {}
            }
        }
        if !white {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if the first light colour of a theme is white.
fn light(theme: &str) -> Result<bool, Failure> {
    let mut xml = Xml::of(theme, &["a"]);
    while let Some(event) = xml.step()? {
        if let Event::Start(element) = event
            && element.name() == "lt1"
        {
            let mut white = false;
            xml.within(|element| {
                let last = element.attr("lastClr").or_else(|| element.attr("val"));
                white |= last.and_then(|hex| colour(&hex)).is_some_and(|rgb| alike(rgb, [255; 3]));
            })?;
            return Ok(white);
        }
    }
    Ok(false)
}

/// Returns true if an element names white.
fn pale(element: &Element<'_>) -> bool {
    match element.attr("val").as_deref() {
        Some("bg1" | "lt1" | "white" | "phClr") => true,
        Some(hex) => colour(hex).is_some_and(|rgb| alike(rgb, [255; 3])),
        None => false,
    }
}

/// A slide, its notes or a diagram that is being read.
struct Slide {
    /// True for notes: only their body counts, not what a printed page repeats.
    notes: bool,
    size: (f64, f64),
    /// True if white text cannot be seen.
    white: bool,
    shown: bool,
    story: Story,
    tally: Tally,
    paragraph: String,
    level: usize,
    /// How the shape that is open is hidden.
    shape: Option<How>,
    /// The kind of the placeholder that is open; `None` outside of one.
    holder: Option<String>,
    /// How the run that is open is hidden.
    run: Option<How>,
    /// Groups that are open; whether properties are those of the last; and the hidden one.
    groups: usize,
    within: bool,
    hidden: Option<(usize, How)>,
    /// True in a cell whose place a merged one takes.
    covered: bool,
}

impl Default for Slide {
    fn default() -> Self {
        Self {
            notes: false,
            size: (f64::MAX, f64::MAX),
            white: false,
            shown: true,
            story: Story::default(),
            tally: Tally::default(),
            paragraph: String::new(),
            level: 0,
            shape: None,
            holder: None,
            run: None,
            groups: 0,
            within: false,
            hidden: None,
            covered: false,
        }
    }
}

impl Slide {
    fn read(&mut self, text: &str) -> Result<(), Failure> {
        let mut xml = Xml::of(text, SLIDE);
        while let Some(event) = xml.step()? {
            match event {
                Event::Start(element) => self.start(&element, &mut xml)?,
                Event::End(ending) => self.end(&ending.name()),
                Event::Text(_) => {}
            }
        }
        Ok(())
    }

    fn start(&mut self, element: &Element<'_>, xml: &mut Xml<'_>) -> Result<(), Failure> {
        match element.name().as_str() {
            "sld" => self.shown = !matches!(element.attr("show").as_deref(), Some("0" | "false")),
            "grpSp" => {
                self.groups += 1;
                self.within = true;
            }
            "sp" | "cxnSp" | "graphicFrame" | "pic" => {
                (self.shape, self.holder, self.within) = (None, None, false);
            }
            "cNvPr" if element.flag("hidden") => self.hide(How::Marked),
            "ph" => self.holder = Some(element.attr("type").unwrap_or_default()),
            "xfrm" => self.placed(xml)?,
            "blip" => self.tally.pictures += 1,
            "tbl" => self.story.table(),
            "tc" => {
                self.story.cell();
                self.covered = element.flag("hMerge") || element.flag("vMerge");
            }
            "p" => (self.paragraph, self.level, self.run) = (String::new(), 0, None),
            "pPr" => {
                self.level = element.number("lvl").unwrap_or_default().clamp(0.0, 8.0) as usize;
                xml.skip()?;
            }
            "r" | "fld" => self.run = None,
            "endParaRPr" | "defRPr" => xml.skip()?,
            "rPr" => {
                let tiny = element.number("sz").is_some_and(|size| size <= 150.0);
                let (mut white, mut clear, mut line) = (false, false, false);
                xml.within(|property| match property.name().as_str() {
                    "ln" => line = true,
                    "solidFill" | "latin" | "highlight" => line = false,
                    "noFill" if !line => clear = true,
                    "alpha" if !line => {
                        clear |= property.number("val").is_some_and(|a| a < 10_000.0);
                    }
                    "srgbClr" | "schemeClr" | "sysClr" | "prstClr" if !line => {
                        white = pale(property);
                    }
                    "lumMod" | "shade" if !line => white = false,
                    _ => {}
                })?;
                self.run = [
                    (tiny, How::Tiny),
                    (clear, How::Transparent),
                    (white && self.white, How::Colour),
                ]
                .into_iter()
                .find_map(|(hides, how)| hides.then_some(how));
            }
            "t" => {
                let text = xml.text()?;
                self.put(&text);
            }
            "br" => self.put("\n"),
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
                (self.shape, self.holder) = (None, None);
                self.story.line("");
            }
            "p" => {
                let text = std::mem::take(&mut self.paragraph);
                self.tally.paragraph();
                if text.trim().is_empty() {
                    return;
                }
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
                self.covered = false;
            }
            "tr" => self.story.row_end(),
            "tbl" => self.story.table_end(),
            _ => {}
        }
    }

    /// Marks the shape that is open, or the group, as hidden.
    fn hide(&mut self, how: How) {
        if self.within {
            self.hidden.get_or_insert((self.groups, how));
        } else {
            self.shape.get_or_insert(how);
        }
    }

    /// Reads where the shape that is open lies; within groups, places are those of the group.
    fn placed(&mut self, xml: &mut Xml<'_>) -> Result<(), Failure> {
        let (mut place, mut extent) = (None, (0.0, 0.0));
        xml.within(|element| {
            let pair = |one, other| Some((element.number(one)?, element.number(other)?));
            match element.name().as_str() {
                "off" => place = pair("x", "y"),
                "ext" => extent = pair("cx", "cy").unwrap_or_default(),
                _ => {}
            }
        })?;
        if let Some((x, y)) = place
            && self.groups == usize::from(self.within)
        {
            let before = x + extent.0 < 0.0 || y + extent.1 < 0.0;
            if before || x >= self.size.0 || y >= self.size.1 {
                self.hide(How::OffPage);
            }
        }
        Ok(())
    }

    fn put(&mut self, text: &str) {
        let printed = ["sldNum", "hdr", "ftr", "dt", "sldImg"];
        let kind = self.holder.as_deref();
        if kind == Some("sldNum") || self.notes && kind.is_some_and(|kind| printed.contains(&kind))
        {
            return;
        }
        let covered = self.covered.then_some(How::Covered);
        match self.hidden.map(|(_, how)| how).or(self.shape).or(covered).or(self.run) {
            Some(how) => self.tally.hide(how, text),
            None => self.paragraph.push_str(text),
        }
    }
}
