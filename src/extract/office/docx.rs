//! Word documents: their text in order, without the parts that Word does not display.

use daysheet_core::text::visibility::{HidingMethod, TextVisibility};
use std::collections::HashMap;

use super::drawing::{EMU, OpenDrawing, is_vml_shape};
use super::fields::{FIELDS, OpenField, link_target, symbol};
use super::numbers::ListNumbering;
use super::parts::RelatedParts;
use super::styles::{self, DocxStyles, properties};
use super::tables::TableBackground;
use crate::package::{OpenPackage, PartRelation};
use crate::paragraph::{ParagraphWords, bracketed, shifted};
use crate::run_style::{BaselineShift, InkColour, PageSize, RunStyle, WHITE, colour};
use crate::story::{OmissionTally, StoryWriter, give};
use crate::xml::{XmlElement, XmlEvent, XmlReader};
use crate::{Finding, OutputSink, PieceMark, ReadFailure, StopReason};

/// Reads a document.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let mut package = OpenPackage::open(bytes)?;
    let main = package.main("word/document.xml")?;
    let relations = package.relations(&main)?;
    let path = |kind: &str| {
        let found = relations.iter().find(|relation| relation.kind == kind);
        found.map(|relation| relation.target.clone()).unwrap_or_default()
    };
    let mut part = |kind: &str| package.text(&path(kind));
    let styles =
        part("styles")?.map_or(Ok(DocxStyles::default()), |text| DocxStyles::read(&text))?;
    let numbers = part("numbering")?
        .map_or(Ok(ListNumbering::default()), |text| ListNumbering::read(&text))?;
    let settings = part("settings")?.unwrap_or_default();
    let even = settings.contains("evenAndOddHeaders");
    let notes = [part("footnotes")?, part("endnotes")?];
    let comments = part("comments")?;
    let text = package.text(&main)?.ok_or(ReadFailure::Broken)?;

    let mut reader = DocxReader::new(&styles, numbers);
    reader.parts = RelatedParts::read(&mut package, &main, &mut reader.tally, out)?;
    reader.sheet = PageSize::from_document(&text);
    reader.shows_background = settings.contains("displayBackgroundShape");
    reader.read(&text)?;
    let body = std::mem::take(&mut reader.story);
    for (text, kind) in notes.iter().zip(["footnotes", "endnotes"]) {
        let Some(text) = text else { continue };
        // The ids of footnotes and endnotes overlap.
        reader.prefix = if kind == "footnotes" { "f" } else { "e" };
        reader.parts = RelatedParts::read(&mut package, &path(kind), &mut reader.tally, out)?;
        reader.read(text)?;
    }
    let mut story = body;
    reader.notes(&mut story);
    reader.prefix = "";
    reader.running(&mut package, &relations, even, &mut story, out)?;
    if let Some(text) = comments {
        reader.parts = RelatedParts::read(&mut package, &path("comments"), &mut reader.tally, out)?;
        reader.read(&text)?;
        let comments = std::mem::take(&mut reader.comments);
        if !comments.is_empty() {
            story.mark(PieceMark::Comments(comments.len() as u32));
        }
        for (author, text) in comments {
            story.below(PieceMark::Comment { author }, &text);
        }
    }
    if package.has("word/vbaProject.bin") {
        out.find(Finding::Macros);
    }
    reader.tally.findings().into_iter().for_each(|finding| out.find(finding));
    give(story.pieces(), out)
}

/// An open paragraph.
struct OpenParagraph {
    words: ParagraphWords,
    text_style: RunStyle,
    /// True if its frame is off the page.
    off: bool,
}

/// Reads the parts of a document, one after the other.
struct DocxReader<'a> {
    styles: &'a DocxStyles,
    numbers: ListNumbering,
    story: StoryWriter,
    tally: OmissionTally,
    page: InkColour,
    /// True if the document's background is displayed.
    shows_background: bool,
    /// The size of the paper.
    sheet: PageSize,
    paragraphs: Vec<OpenParagraph>,
    tables: Vec<TableBackground>,
    /// The properties of rows and cells outside of tables.
    no_table: TableBackground,
    /// The visibility of the open run.
    visibility: TextVisibility,
    /// The style of its text.
    run: RunStyle,
    /// The positions at which the open parts of a formula begin, in the words of their paragraph.
    formula: Vec<usize>,
    /// The closing brackets of the open parts of a formula.
    brackets: Vec<String>,
    deleted: usize,
    inserted: usize,
    boxes: usize,
    /// The open drawings.
    drawings: Vec<OpenDrawing>,
    fields: Vec<OpenField>,
    /// The links and texts that the current part refers to.
    parts: RelatedParts,
    /// Links of a field that continue in the next paragraph.
    carried: Vec<String>,
    /// Footnotes and endnotes in the order of their references.
    referred: Vec<String>,
    /// The prefix that distinguishes the ids of endnotes and footnotes.
    prefix: &'static str,
    noted: HashMap<String, String>,
    comments: Vec<(String, String)>,
    /// Headers and footers: relationship id, kind, and true if it is displayed.
    running: Vec<(String, String, bool)>,
}

impl<'a> DocxReader<'a> {
    fn new(styles: &'a DocxStyles, numbers: ListNumbering) -> Self {
        Self {
            styles,
            numbers,
            story: StoryWriter::default(),
            tally: OmissionTally::default(),
            page: WHITE,
            shows_background: false,
            sheet: PageSize::from_document(""),
            paragraphs: Vec::new(),
            tables: Vec::new(),
            no_table: TableBackground::default(),
            visibility: TextVisibility::Seen,
            run: RunStyle::default(),
            formula: Vec::new(),
            brackets: Vec::new(),
            deleted: 0,
            inserted: 0,
            boxes: 0,
            drawings: Vec::new(),
            fields: Vec::new(),
            parts: RelatedParts::default(),
            carried: Vec::new(),
            referred: Vec::new(),
            prefix: "",
            noted: HashMap::new(),
            comments: Vec::new(),
            running: Vec::new(),
        }
    }

    /// Reads a part.
    fn read(&mut self, text: &str) -> Result<(), ReadFailure> {
        let mut xml = XmlReader::with_namespaces(text, &["w"]);
        // The id of the open note, or the author of the open comment.
        let mut open = String::new();
        while let Some(event) = xml.step()? {
            match event {
                XmlEvent::Start(element) => {
                    let name = element.name();
                    match name.as_str() {
                        "footnote" | "endnote" => open = element.attr("id").unwrap_or_default(),
                        "comment" => open = element.attr("author").unwrap_or_default(),
                        _ => self.begin_element(&name, &element, &mut xml)?,
                    }
                }
                XmlEvent::End(ending) => match ending.name().as_str() {
                    "footnote" | "endnote" => {
                        let text = std::mem::take(&mut self.story).plain();
                        self.noted.insert(format!("{}{open}", self.prefix), text);
                    }
                    "comment" => {
                        let text = std::mem::take(&mut self.story).plain();
                        self.comments.push((std::mem::take(&mut open), text));
                    }
                    name => self.end_element(name),
                },
                XmlEvent::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Begins an element, and reads it to its end if it has properties.
    fn begin_element(
        &mut self,
        name: &str,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        match name {
            // Content that is not text.
            "delInstrText" | "sdtPr" | "binData" => xml.skip()?,
            "ffData" => self.form(xml)?,
            "instrText" => self.add_instruction(&xml.text()?),
            "hyperlink" => {
                let target = element.link().and_then(|id| self.parts.links.get(&id).cloned());
                self.link(&target.unwrap_or_default());
            }
            "fldSimple" => self.link(&link_target(&element.attr("instr").unwrap_or_default())),
            "del" | "moveFrom" => self.deleted += 1,
            "ins" | "moveTo" => self.inserted += 1,
            "txbxContent" => self.boxes += 1,
            "background" if self.shows_background => {
                let stated = element.attr("color").and_then(|stated| colour(&stated));
                self.page = stated.map_or(InkColour::Other, InkColour::Rgb);
            }
            // A pattern or picture.
            "v:background" if self.shows_background => self.page = InkColour::Other,
            "p" => self.begin_paragraph(),
            "pPr" => self.paragraph(xml)?,
            "r" | "m:r" => self.begin_run(RunStyle::default()),
            "rPr" => self.read_run_properties(xml)?,
            "m:num" | "m:den" | "m:sup" | "m:sub" | "m:deg" | "m:rad" => self.begin_formula_part(),
            "m:dPr" => self.read_brackets(xml)?,
            "m:naryPr" => self.read_operator(xml)?,
            "t" | "delText" | "m:t" => {
                let text = xml.text()?;
                self.add_text(&text);
            }
            "tab" => self.add_text("\t"),
            "br" | "cr" => self.add_text("\n"),
            "noBreakHyphen" => self.add_text("-"),
            "sym" => self.add_text(symbol(&element.attr("char").unwrap_or_default())),
            "fldChar" => self.mark_field(element.attr("fldCharType").as_deref()),
            "footnoteReference" => self.refer("f", element),
            "endnoteReference" => self.refer("e", element),
            "a:blip" | "v:imagedata" => self.tally.pictures += 1,
            "tbl" => {
                self.story.table();
                self.tables.push(TableBackground::default());
            }
            "tblPr" => {
                let styles = self.styles;
                self.open_table().read_table(styles, xml)?;
            }
            "trPr" => self.open_table().read_row(xml)?,
            "tr" => {
                let open = self.tables.last_mut().into_iter();
                open.for_each(|open| (open.column, open.wide) = (0, 0));
            }
            "tc" => {
                self.story.cell();
                self.tables.last_mut().into_iter().for_each(TableBackground::begin_cell);
            }
            "tcPr" => self.open_table().read_cell(xml)?,
            "sectPr" => self.section(xml)?,
            "wp:inline" | "wp:anchor" => self.drawings.push(OpenDrawing::default()),
            "wp:positionH" | "wp:positionV" => self.read_drawing_position(name, element, xml)?,
            "wp:extent" => {
                let side = |name: &str| element.number(name).map(|emu| emu / EMU);
                let size = (side("cx"), side("cy"));
                self.drawings.last_mut().into_iter().for_each(|open| (open.wide, open.high) = size);
            }
            // The element follows position and size, so these are known.
            "wp:docPr" => {
                if let Some(open) = self.drawings.last_mut() {
                    open.hidden = open.hides(&self.sheet, element.flag("hidden"));
                }
                self.begin_run(self.run.clone());
            }
            _ if is_vml_shape(name) => {
                let mut drawing = OpenDrawing::of_style(&element.attr("style").unwrap_or_default());
                drawing.hidden = drawing.hides(&self.sheet, drawing.hidden.is_some());
                self.drawings.push(drawing);
                self.begin_run(self.run.clone());
            }
            "dgm:relIds" => self.insert(element.relation("dm")),
            "c:chart" => self.insert(element.link()),
            "altChunk" => self.add_imported(element),
            _ => {}
        }
        Ok(())
    }

    /// Adds text to the instruction of the open field.
    fn add_instruction(&mut self, text: &str) {
        if let Some(field) = self.fields.last_mut() {
            field.instruct(text);
        }
    }

    /// Returns the open table. The properties of a row or cell outside of tables apply to a table
    /// without text.
    fn open_table(&mut self) -> &mut TableBackground {
        self.tables.last_mut().unwrap_or(&mut self.no_table)
    }

    /// Begins a paragraph.
    fn begin_paragraph(&mut self) {
        let text_style = self.styles.paragraph(None);
        // A paragraph has the default style until its `pPr` names one.
        let mut words = ParagraphWords::default();
        self.carried.drain(..).for_each(|target| words.link(&target));
        self.paragraphs.push(OpenParagraph { words, text_style, off: false });
    }

    /// Reads the properties of a run, and begins it.
    fn read_run_properties(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let mut text_style = RunStyle::default();
        let style = properties(xml, &mut text_style)?;
        let style = style.map(|style| self.styles.text_style(&style)).unwrap_or_default();
        self.begin_run(text_style.over(&style));
        Ok(())
    }

    /// Begins a part of a formula.
    fn begin_formula_part(&mut self) {
        let position = self.paragraphs.last().map(|open| open.words.position());
        self.formula.push(position.unwrap_or_default());
    }

    /// Reads the brackets around a part of a formula, and writes the opening one.
    fn read_brackets(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let mut around = ("(".to_owned(), ")".to_owned());
        xml.within(|property| match property.name().as_str() {
            "m:begChr" => around.0 = property.attr("val").unwrap_or_default(),
            "m:endChr" => around.1 = property.attr("val").unwrap_or_default(),
            _ => {}
        })?;
        self.brackets.push(around.1);
        self.add_text(&around.0);
        Ok(())
    }

    /// Reads the sign of an integral, sum or the like.
    fn read_operator(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let mut sign = "∫".to_owned();
        xml.within(|property| {
            if property.name() == "m:chr" {
                sign = property.attr("val").unwrap_or_default();
            }
        })?;
        self.add_text(&sign);
        Ok(())
    }

    /// Begins a field, begins its result, or ends it.
    fn mark_field(&mut self, kind: Option<&str>) {
        match kind {
            Some("begin") if self.fields.len() < FIELDS => {
                self.fields.push(OpenField::default());
            }
            Some("begin") => {}
            Some("separate") => {
                let field = self.fields.last_mut().filter(|field| !field.result);
                if let Some(field) = field {
                    field.result = true;
                    let target = link_target(&field.instruction);
                    self.link(&target);
                }
            }
            // `end`. Only a field with a result has begun a link.
            _ => {
                if self.fields.pop().is_some_and(|field| field.result) {
                    self.unlink();
                }
            }
        }
    }

    /// Reads the horizontal or vertical position of a drawing.
    fn read_drawing_position(
        &mut self,
        name: &str,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        let from = element.attr("relativeFrom").unwrap_or_default();
        let offset = xml.text()?.trim().parse::<f64>().ok().map(|emu| emu / EMU);
        if let (Some(open), Some(offset)) = (self.drawings.last_mut(), offset) {
            let distance = (offset, from);
            match name {
                "wp:positionH" => open.x = Some(distance),
                _ => open.y = Some(distance),
            }
        }
        Ok(())
    }

    /// Adds the text of a document that Word imports when it opens this one.
    fn add_imported(&mut self, element: &XmlElement<'_>) {
        let text = element.link().and_then(|id| self.parts.texts.remove(&id));
        let text = text.unwrap_or_default();
        if self.tally.sees(self.visibility(&RunStyle::default()), &text) {
            text.lines().for_each(|line| self.story.line(line));
        }
    }

    /// Ends an element.
    fn end_element(&mut self, name: &str) {
        match name {
            "p" => self.paragraph_end(),
            "m:d" => {
                let close = self.brackets.pop().unwrap_or_default();
                self.add_text(&close);
            }
            "m:num" | "m:den" | "m:sup" | "m:sub" | "m:deg" | "m:rad" => {
                self.formula_end(name);
            }
            "hyperlink" | "fldSimple" => self.unlink(),
            "del" | "moveFrom" => self.deleted = self.deleted.saturating_sub(1),
            "ins" | "moveTo" => self.inserted = self.inserted.saturating_sub(1),
            "txbxContent" => self.boxes = self.boxes.saturating_sub(1),
            _ if matches!(name, "wp:inline" | "wp:anchor") || is_vml_shape(name) => {
                self.drawings.pop();
                self.begin_run(self.run.clone());
            }
            "tc" => {
                self.story.cell_end();
                let open = self.tables.last_mut().into_iter();
                open.for_each(|open| (open.cell, open.covered) = (None, false));
            }
            "tr" => {
                self.story.row_end();
                if let Some(open) = self.tables.last_mut() {
                    (open.deleted, open.flat, open.hidden) = (false, false, false);
                }
            }
            "tbl" => {
                self.story.table_end();
                self.tables.pop();
            }
            _ => {}
        }
    }

    /// Reads the properties of a paragraph, except for the properties of its mark.
    fn paragraph(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let mut text_style = RunStyle::default();
        let (mut style, mut off) = (None, false);
        while let Some(event) = xml.step()? {
            match event {
                XmlEvent::Start(property) => match property.name().as_str() {
                    "rPr" | "pPrChange" | "tabs" => xml.skip()?,
                    "sectPr" => self.section(xml)?,
                    "framePr" => off = self.sheet.is_off(&property),
                    "pStyle" => style = property.attr("val"),
                    _ => styles::read(&mut text_style, &property),
                },
                XmlEvent::End(ending) if ending.name() == "pPr" => break,
                _ => {}
            }
        }
        if let Some(open) = self.paragraphs.last_mut() {
            open.text_style = text_style.over(&self.styles.paragraph(style.as_deref()));
            open.off = off;
        }
        Ok(())
    }

    fn paragraph_end(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        self.tally.paragraph();
        let (text, open) = paragraph.words.end();
        self.carried = open;
        let text = text.trim_end();
        let text_style = paragraph.text_style;
        // Within a table or box, the beginning of lines on the page is unknown.
        let within = !self.tables.is_empty() || self.boxes > 0;
        let PageSize { wide, margin, .. } = self.sheet;
        let on_page = text_style.visibility_on_page(
            text,
            wide,
            if within { (0.0, wide) } else { (margin, margin) },
        );
        if !self.tally.sees(on_page.or(paragraph.off.then_some(HidingMethod::OffPage)), text) {
            return;
        }
        if text.trim().is_empty() {
            return self.story.line("");
        }
        let level = text_style.level.unwrap_or_default();
        // List 0 removes the numbering of a style.
        let list = text_style.list.as_deref().filter(|list| *list != "0");
        let label = list.and_then(|list| self.numbers.next(list, level)).unwrap_or_default();
        let space = if label.is_empty() { "" } else { " " };
        match text_style.outline {
            Some(outline) if outline < 9 => {
                self.story
                    .heading(outline + 1, &format!("{label}{space}{}", text.replace('\n', " ")));
            }
            _ => {
                let indent = if label.is_empty() { 0 } else { level.min(8) * 2 };
                let text = format!("{:indent$}{label}{space}{text}", "");
                text.lines().for_each(|line| self.story.line(line));
            }
        }
    }

    /// Returns the visibility of a run with this style, in its surroundings.
    fn visibility(&self, run: &RunStyle) -> TextVisibility {
        let paragraph = self.paragraphs.last();
        let text_style = paragraph.map_or_else(|| run.clone(), |open| run.over(&open.text_style));
        let table_background = self.tables.iter().rev().find_map(|open| open.cell.or(open.table));
        // The background of a text box is unknown.
        let background =
            if self.boxes > 0 { InkColour::Other } else { table_background.unwrap_or(self.page) };
        let flat = self.tables.iter().any(|open| open.flat).then_some(HidingMethod::Clipped);
        let covered = self.tables.iter().any(|open| open.covered).then_some(HidingMethod::Covered);
        // The instruction precedes the result; Word displays only the result.
        let field = self.fields.iter().any(|field| !field.result);
        let row = self.tables.iter().any(|open| open.hidden).then_some(HidingMethod::Row);
        let field = field.then_some(HidingMethod::Marked);
        let drawn = self.drawings.iter().find_map(|open| open.hidden);
        text_style.visibility(background).or(flat).or(covered).or(row).or(field).or(drawn)
    }

    /// Begins a run with these properties of its own.
    fn begin_run(&mut self, run: RunStyle) {
        self.visibility = self.visibility(&run);
        let paragraph = self.paragraphs.last();
        self.run = paragraph.map_or_else(|| run.clone(), |open| run.over(&open.text_style));
    }

    /// Reads a form field and shows the choice: a ticked box, or an item of a list. Filled-in text
    /// follows as the field's result.
    fn form(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let (mut ticked, mut chosen, mut items) = (None, None, Vec::new());
        let mut is_box = false;
        xml.within(|property| {
            let off = matches!(property.attr("val").as_deref(), Some("0" | "false" | "off"));
            let number = || property.number("val").unwrap_or_default() as usize;
            match property.name().as_str() {
                "checkBox" => is_box = true,
                "checked" => ticked = Some(!off),
                "default" if is_box => ticked = ticked.or(Some(!off)),
                "default" => chosen = chosen.or(Some(number())),
                "result" => chosen = Some(number()),
                "listEntry" => items.push(property.attr("val").unwrap_or_default()),
                _ => {}
            }
        })?;
        if is_box {
            self.add_text(if ticked == Some(true) { "☑" } else { "☐" });
        } else if let Some(item) = items.into_iter().nth(chosen.unwrap_or_default()) {
            self.add_text(&item);
        }
        Ok(())
    }

    /// Ends a part of a formula, and writes it on one line with a sign.
    fn formula_end(&mut self, name: &str) {
        let Some(from) = self.formula.pop() else { return };
        let Some(open) = self.paragraphs.last_mut().filter(|open| open.words.position() > from)
        else {
            return;
        };
        let beside = |sign: &'static str, shift| {
            move |part: &str| {
                shifted(part, shift).unwrap_or_else(|| format!("{sign}{}", bracketed(part)))
            }
        };
        match name {
            "m:num" => open.words.replace(from, |part| format!("{}/", bracketed(part))),
            "m:den" => open.words.replace(from, bracketed),
            "m:sup" => open.words.replace(from, beside("^", BaselineShift::Up)),
            "m:sub" => open.words.replace(from, beside("_", BaselineShift::Down)),
            "m:deg" => open.words.replace(from, beside("", BaselineShift::Up)),
            "m:rad" => open.words.replace(from, |part| {
                let degree = |c: &char| "⁰¹²³⁴⁵⁶⁷⁸⁹".contains(*c);
                let degree: String = part.chars().take_while(degree).collect();
                let of = part.strip_prefix(degree.as_str()).unwrap_or_default();
                format!("{degree}√{}", bracketed(of))
            }),
            _ => {}
        }
    }

    /// Adds text of the open run, or counts it.
    fn add_text(&mut self, text: &str) {
        if self.deleted > 0 || self.tables.iter().any(|open| open.deleted) {
            self.tally.delete(text);
        } else if self.tally.sees(self.visibility, text)
            && let Some(paragraph) = self.paragraphs.last_mut()
        {
            paragraph.words.run(text, &self.run);
            if self.inserted > 0 {
                self.tally.insert(text);
            }
        }
    }

    /// Adds the text of a drawing, on lines of its own.
    fn insert(&mut self, id: Option<String>) {
        if let Some(text) = id.and_then(|id| self.parts.texts.get(&id)) {
            self.add_text(&format!("\n{}\n", text.trim_end()));
        }
    }

    /// Begins a link.
    fn link(&mut self, target: &str) {
        self.paragraphs.last_mut().into_iter().for_each(|open| open.words.link(target));
    }

    /// Ends the link that began last, in this or an earlier paragraph.
    fn unlink(&mut self) {
        match self.paragraphs.last_mut() {
            Some(open) => open.words.unlink(),
            None => drop(self.carried.pop()),
        }
    }

    /// Adds the number of a note where the text refers to it.
    fn refer(&mut self, prefix: &str, element: &XmlElement<'_>) {
        self.referred.push(format!("{prefix}{}", element.attr("id").unwrap_or_default()));
        self.add_text(&format!("[^{}]", self.referred.len()));
    }

    /// Adds the notes that the text refers to. Word does not display the others.
    fn notes(&mut self, story: &mut StoryWriter) {
        let notes = self.referred.iter().zip(1..);
        let lines = notes.filter_map(|(id, number)| {
            let text = self.noted.remove(id)?;
            Some(format!("[^{number}] {}\n", text.trim()))
        });
        let text: String = lines.collect();
        story.below(PieceMark::Footnotes, &text);
        for text in self.noted.values() {
            self.tally.hide(HidingMethod::Marked, text);
        }
    }

    /// Reads the headers and footers of a section.
    fn section(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let mut found = Vec::new();
        let mut first = false;
        xml.within(|property| match property.name().as_str() {
            "headerReference" | "footerReference" => {
                found.push((
                    property.link().unwrap_or_default(),
                    property.attr("type").unwrap_or_default(),
                ));
            }
            "titlePg" => first = !matches!(property.attr("val").as_deref(), Some("0" | "false")),
            _ => {}
        })?;
        self.running.extend(found.into_iter().map(|(id, kind)| {
            let shown = kind != "first" || first;
            (id, kind, shown)
        }));
        Ok(())
    }

    /// Adds headers and footers, each text once.
    fn running(
        &mut self,
        package: &mut OpenPackage<'_>,
        relations: &[PartRelation],
        even: bool,
        story: &mut StoryWriter,
        out: &mut OutputSink<'_>,
    ) -> Result<(), ReadFailure> {
        let mut texts: Vec<String> = Vec::new();
        for (id, kind, shown) in std::mem::take(&mut self.running) {
            let Some(relation) = relations.iter().find(|relation| relation.id == id) else {
                continue;
            };
            let Some(text) = package.text(&relation.target)? else { continue };
            self.parts = RelatedParts::read(package, &relation.target, &mut self.tally, out)?;
            self.read(&text)?;
            let text = std::mem::take(&mut self.story).plain();
            if !shown || (kind == "even" && !even) {
                self.tally.hide(HidingMethod::Marked, &text);
            } else if !texts.contains(&text) {
                texts.push(text);
            }
        }
        story.below(PieceMark::HeaderFooter, &texts.concat());
        Ok(())
    }
}
