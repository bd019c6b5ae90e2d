//! The text of OpenDocument texts, presentations and shapes.

use daysheet_core::text::visibility::{HidingMethod, TextVisibility};
use std::collections::{HashMap, HashSet};

use daysheet_core::text::numeral::numeral;

use super::shapes::{condition, is_shape, shape_visibility};
use super::styles::OdfStyles;
use crate::paragraph::ParagraphWords;
use crate::run_style::{InkColour, PageSize, RunStyle};
use crate::story::{OmissionTally, StoryWriter};
use crate::xml::{XmlElement, XmlEvent, XmlReader};
use crate::{PieceMark, ReadFailure};

/// An open paragraph.
struct OpenParagraph {
    words: ParagraphWords,
    /// The styles of the paragraph and its open spans.
    text_styles: Vec<RunStyle>,
    /// The level of a heading.
    heading: Option<usize>,
    /// The bullet or number in a list.
    label: String,
    /// The visibility that a field in the paragraph sets.
    visibility: TextVisibility,
}

/// An open list.
struct OpenList {
    style: String,
    /// True if the next paragraph is the first of an item.
    fresh: bool,
}

/// Reads the text of a document, slide by slide if it is a presentation.
pub(super) struct OdtReader<'a> {
    styles: &'a OdfStyles,
    background: InkColour,
    pub(super) story: StoryWriter,
    pub(super) tally: OmissionTally,
    /// The names of the open elements.
    open: Vec<String>,
    paragraphs: Vec<OpenParagraph>,
    lists: Vec<OpenList>,
    counts: HashMap<String, Vec<u32>>,
    /// The backgrounds of the open cells, rows and tables.
    backgrounds: Vec<Option<InkColour>>,
    /// The text outside of the open note, comment or slide.
    outer: Vec<StoryWriter>,
    pub(super) notes: Vec<String>,
    found: Vec<(String, String)>,
    pub(super) running: Vec<String>,
    pub(super) slides: Vec<(bool, StoryWriter)>,
    /// The background of each slide.
    pub(super) pages: Vec<InkColour>,
    /// The footers that slides may name, and the footer of the open slide.
    footers: HashMap<String, String>,
    footer: String,
    insertions: HashSet<String>,
    /// The number of open insertions.
    inserting: usize,
    /// The open page or slide, and true if it is part of a workbook.
    pub(super) sheet: PageSize,
    pub(super) on_sheet: bool,
    /// For each open frame, true if it already has content to show.
    filled: Vec<bool>,
    /// The open bookmarks that hide text, and the visibility within them.
    bookmarks: HashSet<String>,
    marked: TextVisibility,
    /// The open elements that hide text, or may hide it: depth and visibility.
    hidden: Vec<(usize, TextVisibility)>,
}

impl<'a> OdtReader<'a> {
    pub(super) fn new(styles: &'a OdfStyles, background: InkColour) -> Self {
        Self {
            styles,
            background,
            story: StoryWriter::default(),
            tally: OmissionTally::default(),
            open: Vec::new(),
            paragraphs: Vec::new(),
            lists: Vec::new(),
            counts: HashMap::new(),
            backgrounds: Vec::new(),
            outer: Vec::new(),
            notes: Vec::new(),
            found: Vec::new(),
            running: Vec::new(),
            slides: Vec::new(),
            pages: Vec::new(),
            footers: HashMap::new(),
            footer: String::new(),
            insertions: HashSet::new(),
            inserting: 0,
            sheet: styles.sheet(None),
            on_sheet: false,
            filled: Vec::new(),
            bookmarks: HashSet::new(),
            marked: TextVisibility::Seen,
            hidden: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, text: &str) -> Result<(), ReadFailure> {
        let mut xml = XmlReader::new(text);
        while let Some(event) = xml.step()? {
            match event {
                XmlEvent::Start(element) => {
                    let name = element.name();
                    self.open.push(name.clone());
                    if self.begin_element(&name, &element) {
                        self.open.pop();
                        xml.skip()?;
                    } else if name == "tracked-changes" {
                        self.open.pop();
                        self.changes(&mut xml)?;
                    } else if name == "footer-decl" {
                        self.open.pop();
                        let name = element.attr("name").unwrap_or_default();
                        self.footers.insert(name, xml.text()?);
                    }
                }
                XmlEvent::End(ending) => {
                    self.end_element(&ending.name());
                    self.open.pop();
                    let depth = self.open.len();
                    self.hidden.retain(|(hidden, _)| *hidden <= depth);
                }
                XmlEvent::Text(text) => {
                    let within = self.open.last().map(String::as_str).unwrap_or_default();
                    match within {
                        "creator" => {
                            self.found
                                .last_mut()
                                .into_iter()
                                .for_each(|(author, _)| author.push_str(&text));
                        }
                        // White space between elements is not text.
                        _ if text.trim().is_empty() && !TEXTS.contains(&within) => {}
                        _ => self.add_text(&collapsed(&text)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins an element. Returns true if it is skipped.
    fn begin_element(&mut self, name: &str, element: &XmlElement<'_>) -> bool {
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        match name {
            "automatic-styles" | "styles" | "font-face-decls" | "forms" | "scripts" | "desc"
            | "note-citation" | "sender-initials" | "creator-initials" | "header-decl"
            | "date-time-decl" => return true,
            // `title` is also a field in a paragraph; elsewhere it is the title of a shape, or
            // metadata.
            "title" if !self.is_in_text() => return true,
            "date" if self.open.iter().any(|open| open == "annotation") => return true,
            "header" | "footer" | "header-left" | "footer-left" | "header-first"
            | "footer-first" => {
                if element.attr("display").is_some_and(|display| display == "false") {
                    return true;
                }
                self.outer.push(std::mem::take(&mut self.story));
            }
            "section" if attr("display") == "none" || element.flag("is-hidden") => {
                self.hide(HidingMethod::Marked);
            }
            "section" if attr("display") == "condition" => self.judge(condition(element)),
            "p" | "h" => self.paragraph(name, element),
            "span" => self.begin_span(&attr("style-name")),
            "a" => {
                let open = self.paragraphs.last_mut().into_iter();
                open.for_each(|open| open.words.link(&attr("href")));
            }
            "s" => {
                self.add_text(
                    &" ".repeat(element.number("c").unwrap_or(1.0).clamp(1.0, 100.0) as usize),
                );
            }
            "tab" => self.add_text("\t"),
            "line-break" => self.add_text("\n"),
            "hidden-text" => {
                let visibility = self.visibility().within(condition(element));
                self.show(&attr("string-value"), visibility);
                return true;
            }
            "hidden-paragraph" => {
                let open = self.paragraphs.last_mut().into_iter();
                open.for_each(|open| open.visibility = open.visibility.max(condition(element)));
            }
            "bookmark-start" if element.flag("hidden") => self.begin_hidden_bookmark(element),
            "bookmark-end" => self.end_bookmark(&attr("name")),
            "list" => self.begin_list(element),
            "list-item" => {
                self.lists.last_mut().into_iter().for_each(|list| list.fresh = true);
            }
            "note" => self.begin_note(),
            "annotation" => {
                self.found.push((String::new(), String::new()));
                self.outer.push(std::mem::take(&mut self.story));
            }
            "change-start" if self.insertions.contains(&attr("change-id")) => self.inserting += 1,
            "change-end" if self.insertions.contains(&attr("change-id")) => {
                self.inserting = self.inserting.saturating_sub(1);
            }
            // An embedded table has a preview picture of itself.
            "image" if attr("href").contains("TablePreview") => {}
            "image" => {
                self.tally.pictures += 1;
                self.fill();
            }
            "object" | "object-ole" | "plugin" => drop(self.fill()),
            "page" => self.begin_slide(element),
            "notes" => {
                self.footer();
                self.background = InkColour::Other;
                self.outer.push(std::mem::take(&mut self.story));
            }
            // The frame repeats the number in the slide's mark.
            "frame" if attr("class") == "page-number" => return true,
            "g" => self.shape(element),
            _ if is_shape(name) => {
                self.backgrounds.push(self.styles.shape(name, &attr("style-name")));
                self.filled.push(false);
                self.shape(element);
            }
            "text-box" => self.begin_text_box(),
            "table" => {
                self.story.table();
                let text_style = self.styles.style("table", &attr("style-name")).text_style;
                self.backgrounds.push(text_style.background);
            }
            "table-row" => self.begin_row(element),
            "table-cell" | "covered-table-cell" => self.begin_cell(name, element),
            // Variables and other fields that are set but not displayed.
            _ if attr("display") == "none" => self.hide(HidingMethod::Marked),
            _ => {}
        }
        false
    }

    /// Begins a span of text with a style of its own.
    fn begin_span(&mut self, style: &str) {
        let text_style = self.styles.style("text", style).text_style;
        if let Some(open) = self.paragraphs.last_mut() {
            let outer = open.text_styles.last().cloned().unwrap_or_default();
            open.text_styles.push(text_style.over(&outer));
        }
    }

    /// Begins a bookmark that hides its text.
    fn begin_hidden_bookmark(&mut self, element: &XmlElement<'_>) {
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        // A hidden bookmark without a condition always hides its text.
        let visibility = match element.attr("condition") {
            Some(text) if !text.is_empty() => condition(element),
            _ => TextVisibility::Hidden(HidingMethod::Marked),
        };
        self.bookmarks.insert(attr("name"));
        self.marked = self.marked.max(visibility);
    }

    /// Ends a bookmark.
    fn end_bookmark(&mut self, name: &str) {
        let closed = self.bookmarks.remove(name);
        if closed && self.bookmarks.is_empty() {
            self.marked = TextVisibility::Seen;
        }
    }

    /// Begins a list, which may continue the numbers of an earlier one.
    fn begin_list(&mut self, element: &XmlElement<'_>) {
        // Nested lists continue the style of the list around them.
        let outer = self.lists.last().map(|list| list.style.clone()).unwrap_or_default();
        let style = element.attr("style-name").unwrap_or(outer);
        let goes_on = element.flag("continue-numbering") || element.attr("continue-list").is_some();
        if self.lists.is_empty() && !goes_on {
            self.counts.remove(&style);
        }
        self.lists.push(OpenList { style, fresh: false });
    }

    /// Adds the number of a note to the text, and begins the note.
    fn begin_note(&mut self) {
        self.add_text(&format!("[^{}]", self.notes.len() + 1));
        self.notes.push(String::new());
        self.outer.push(std::mem::take(&mut self.story));
    }

    /// Begins a slide.
    fn begin_slide(&mut self, element: &XmlElement<'_>) {
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        let style = self.styles.style("drawing-page", &attr("style-name"));
        let footer = self.footers.get(&attr("use-footer-name"));
        self.footer = footer.filter(|_| !style.no_footer).cloned().unwrap_or_default();
        let shown = !style.hidden;
        self.sheet = self.styles.sheet(Some(&attr("master-page-name")));
        self.background = self.pages.get(self.slides.len()).copied().unwrap_or(InkColour::Other);
        self.slides.push((shown, StoryWriter::default()));
        self.story = StoryWriter::default();
    }

    /// Begins a text box.
    fn begin_text_box(&mut self) {
        // Only the first of several contents of a frame is shown.
        if self.fill() {
            self.hide(HidingMethod::Covered);
        }
        // The background of a text box in a text is unknown.
        self.backgrounds.push(self.slides.is_empty().then_some(InkColour::Other));
    }

    /// Begins a row of a table.
    fn begin_row(&mut self, element: &XmlElement<'_>) {
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        let text_style = self.styles.style("table-row", &attr("style-name")).text_style;
        self.backgrounds.push(text_style.background);
        if matches!(attr("visibility").as_str(), "collapse" | "filter") {
            self.hide(HidingMethod::Row);
        }
    }

    /// Begins a cell of a table.
    fn begin_cell(&mut self, name: &str, element: &XmlElement<'_>) {
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        self.story.cell();
        if name == "covered-table-cell" {
            self.hide(HidingMethod::Covered);
        }
        let text_style = self.styles.style("table-cell", &attr("style-name")).text_style;
        self.backgrounds.push(text_style.background);
    }

    /// Returns true if the element that began last is within text.
    fn is_in_text(&self) -> bool {
        self.open.iter().rev().nth(1).is_some_and(|outer| TEXTS.contains(&outer.as_str()))
    }

    /// Ends an element.
    fn end_element(&mut self, name: &str) {
        match name {
            "p" | "h" => self.paragraph_end(),
            "span" => {
                self.paragraphs
                    .last_mut()
                    .into_iter()
                    .for_each(|open| drop(open.text_styles.pop()));
            }
            "a" => self.paragraphs.last_mut().into_iter().for_each(|open| open.words.unlink()),
            "list" => drop(self.lists.pop()),
            "note" => {
                let text = self.inner();
                let number = self.notes.len();
                let line = format!("[^{number}] {}\n", text.trim());
                self.notes.last_mut().into_iter().for_each(|note| *note = line.clone());
            }
            "annotation" => {
                let text = self.inner();
                self.found.last_mut().into_iter().for_each(|(_, comment)| *comment = text.clone());
            }
            "header" | "footer" | "header-left" | "footer-left" | "header-first"
            | "footer-first" => {
                let text = self.inner();
                // The pages of a document usually repeat the same header.
                if !self.running.contains(&text) {
                    self.running.push(text);
                }
            }
            "notes" => {
                let text = self.inner();
                self.story.below(PieceMark::Notes, &text);
            }
            "page" => {
                self.footer();
                let mut story = std::mem::take(&mut self.story);
                self.comments(&mut story);
                self.slides
                    .last_mut()
                    .into_iter()
                    .for_each(|(_, slide)| *slide = std::mem::take(&mut story));
            }
            "text-box" => drop(self.backgrounds.pop()),
            _ if is_shape(name) => {
                self.backgrounds.pop();
                self.filled.pop();
                self.story.line("");
            }
            "table" => {
                self.story.table_end();
                self.backgrounds.pop();
            }
            "table-row" => {
                self.story.row_end();
                self.backgrounds.pop();
            }
            "table-cell" | "covered-table-cell" => {
                self.story.cell_end();
                self.backgrounds.pop();
            }
            _ => {}
        }
    }

    /// Adds the footer of the open slide, once.
    fn footer(&mut self) {
        let footer = std::mem::take(&mut self.footer);
        footer.lines().for_each(|line| self.story.line(line));
    }

    /// Ends an element with a story of its own, and returns its text.
    fn inner(&mut self) -> String {
        let outer = self.outer.pop().unwrap_or_default();
        std::mem::replace(&mut self.story, outer).plain()
    }

    /// Hides all text in the element that began last.
    fn hide(&mut self, how: HidingMethod) {
        self.judge(TextVisibility::Hidden(how));
    }

    /// Sets the visibility of the element that began last.
    fn judge(&mut self, visibility: TextVisibility) {
        if visibility != TextVisibility::Seen {
            self.hidden.push((self.open.len(), visibility));
        }
    }

    /// Records content in the open frame. Returns true if the frame had content already.
    fn fill(&mut self) -> bool {
        self.filled.last_mut().is_some_and(|filled| std::mem::replace(filled, true))
    }

    /// Begins a paragraph or heading.
    fn paragraph(&mut self, name: &str, element: &XmlElement<'_>) {
        let style = self.styles.style("paragraph", &element.attr("style-name").unwrap_or_default());
        let level = element.number("outline-level").unwrap_or(1.0).clamp(1.0, 9.0) as usize;
        let heading = (name == "h").then_some(level);
        let mut label = String::new();
        let depth = self.lists.len();
        if let Some(list) = self.lists.last_mut()
            && std::mem::take(&mut list.fresh)
        {
            let list = list.style.clone();
            // A list without a style has bullets; the empty style name is the outline of headings.
            label = if list.is_empty() { "-".to_owned() } else { self.label(&list, depth) };
        } else if heading.is_some() && !element.flag("is-list-header") && depth == 0 {
            label = self.label("", level);
        }
        self.paragraphs.push(OpenParagraph {
            words: ParagraphWords::default(),
            text_styles: vec![style.text_style],
            heading,
            label,
            visibility: TextVisibility::Seen,
        });
    }

    /// Counts the next item on a level of a list, from 1, and returns its label.
    fn label(&mut self, list: &str, depth: usize) -> String {
        let levels = self.styles.lists.get(list).map(Vec::as_slice).unwrap_or_default();
        let Some(this) = levels.get(depth - 1) else {
            return if list.is_empty() { String::new() } else { "-".to_owned() };
        };
        let counts = self.counts.entry(list.to_owned()).or_default();
        // A new item restarts the count on all deeper levels.
        counts.truncate(depth);
        while counts.len() < depth {
            let start = levels.get(counts.len()).map_or(1, |level| level.start);
            counts.push(if counts.len() + 1 == depth { start.saturating_sub(1) } else { start });
        }
        counts.last_mut().into_iter().for_each(|count| *count = count.saturating_add(1));
        let Some(format) = &this.format else { return "-".to_owned() };
        if format.is_empty() {
            return format!("{}{}", this.around.0, this.around.1).trim().to_owned();
        }
        let shown = counts.iter().zip(levels).skip(depth.saturating_sub(this.shown.max(1)));
        let numbers: Vec<String> = shown
            .map(|(count, level)| numeral(*count, level.format.as_deref().unwrap_or("1")))
            .filter(|number| !number.is_empty())
            .collect();
        format!("{}{}{}", this.around.0, numbers.join("."), this.around.1).trim().to_owned()
    }

    fn paragraph_end(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        self.tally.paragraph();
        let (text, _) = paragraph.words.end();
        let text = text.trim_end();
        // Within a table, box or slide, the beginning of lines on the page is unknown.
        let within = !self.backgrounds.is_empty() || !self.slides.is_empty();
        let PageSize { wide, margin, .. } = self.sheet;
        let margins = if within { (0.0, wide) } else { (margin, margin) };
        let on_page = paragraph
            .text_styles
            .first()
            .map(|text_style| text_style.visibility_on_page(text, wide, margins));
        if !self.tally.sees(on_page.unwrap_or_default().within(paragraph.visibility), text) {
            return;
        }
        if text.trim().is_empty() {
            return self.story.line("");
        }
        let label = paragraph.label;
        let space = if label.is_empty() { "" } else { " " };
        let title = self.open.iter().rev().any(|open| open == "title-frame");
        match paragraph.heading {
            Some(level) => {
                self.story.heading(level, &format!("{label}{space}{}", text.replace('\n', " ")));
            }
            None if title => self.story.heading(1, &text.replace('\n', " ")),
            None => {
                let indent =
                    if label.is_empty() { 0 } else { self.lists.len().saturating_sub(1) * 2 };
                let text = format!("{:indent$}{label}{space}{text}", "");
                text.lines().for_each(|line| self.story.line(line));
            }
        }
    }

    /// Begins a shape. Text is hidden in a shape that is not shown or is off the page; a title
    /// shape makes it a heading.
    fn shape(&mut self, element: &XmlElement<'_>) {
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        if attr("class") == "title"
            && let Some(open) = self.open.last_mut()
        {
            "title-frame".clone_into(open);
        }
        if attr("display") == "none" {
            return self.hide(HidingMethod::Marked);
        }
        if self.styles.layers.contains(&attr("layer")) {
            return self.hide(HidingMethod::Layer);
        }
        if !self.open.iter().any(|open| open == "notes") {
            let style = self.styles.style("graphic", &attr("style-name"));
            let fixed = self.on_sheet || !self.slides.is_empty();
            self.judge(shape_visibility(element, &style, &self.sheet, fixed));
        }
    }

    /// Reads the list of tracked changes, which contains the deleted text.
    fn changes(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let mut id = String::new();
        let mut deleted = false;
        while let Some(event) = xml.step()? {
            match event {
                XmlEvent::Start(element) => match element.name().as_str() {
                    "changed-region" => id = element.attr("id").unwrap_or_default(),
                    "insertion" => drop(self.insertions.insert(id.clone())),
                    "deletion" => deleted = true,
                    "change-info" => xml.skip()?,
                    _ => {}
                },
                XmlEvent::End(ending) => match ending.name().as_str() {
                    "deletion" => deleted = false,
                    "p" => self.tally.paragraph(),
                    "tracked-changes" => break,
                    _ => {}
                },
                XmlEvent::Text(text) if deleted => self.tally.delete(&text),
                XmlEvent::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the visibility of the next text.
    fn visibility(&self) -> TextVisibility {
        let around =
            self.hidden.iter().map(|(_, visibility)| *visibility).max().unwrap_or_default();
        let text_style = self.paragraphs.last().and_then(|open| open.text_styles.last());
        let background = self
            .backgrounds
            .iter()
            .rev()
            .find_map(|background| *background)
            .unwrap_or(self.background);
        let own =
            text_style.map_or(TextVisibility::Seen, |text_style| text_style.visibility(background));
        own.within(around.max(self.marked))
    }

    /// Adds text with the visibility of its surroundings.
    fn add_text(&mut self, text: &str) {
        self.show(text, self.visibility());
    }

    /// Adds text with this visibility.
    fn show(&mut self, text: &str, visibility: TextVisibility) {
        let Some(open) = self.paragraphs.last_mut() else { return };
        if self.tally.sees(visibility, text) {
            let text_style = open.text_styles.last().cloned().unwrap_or_default();
            open.words.run(text, &text_style);
            if self.inserting > 0 {
                self.tally.insert(text);
            }
        }
    }

    /// Adds the comments that were found.
    pub(super) fn comments(&mut self, story: &mut StoryWriter) {
        let found = std::mem::take(&mut self.found);
        if !found.is_empty() {
            story.mark(PieceMark::Comments(found.len() as u32));
        }
        for (author, text) in found {
            story.below(PieceMark::Comment { author }, &text);
        }
    }
}

/// Elements in which white space is text.
const TEXTS: &[&str] = &["p", "h", "span", "a", "meta", "ruby-base"];

/// Collapses white space to single spaces, as the format requires.
fn collapsed(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for c in text.chars() {
        let white = matches!(c, ' ' | '\t' | '\n' | '\r');
        if !white {
            collapsed.push(c);
        } else if !collapsed.ends_with(' ') {
            collapsed.push(' ');
        }
    }
    collapsed
}
