//! Workbooks of Office Open XML.
//!
//! Read without a library: the available ones do not report hidden cells or formulas without a
//! result, and one unexpected cell makes them reject the sheet.

use daysheet_core::text::visibility::HidingMethod;
use std::collections::HashMap;

use super::heading::{CellRange, HeadingCell, SheetGrid};
use super::listed::{ListedSheet, give};
use super::number::{self, FormatSection, NumberFormat};
use super::styles::{self, CellStyle};
use crate::package::{OpenPackage, PartRelation};
use crate::paragraph::target_after;
use crate::run_style::{RunStyle, WHITE};
use crate::xml::{XmlElement, XmlEvent, XmlReader};
use crate::{Finding, OutputSink, ReadFailure, StopReason};

/// Maximum columns of a sheet.
const COLUMNS: u32 = 16_384;
/// Maximum ranges of hidden columns, painted cells and links.
const RANGES: usize = 1_000;
/// Maximum characters of a cell.
const LONG: usize = 32_767;
/// Maximum comments of a sheet.
const COMMENTS: usize = 500;

/// Reads a workbook.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let mut package = OpenPackage::open(bytes)?;
    let main = package.main("xl/workbook.xml")?;
    let relations = package.relations(&main)?;
    let text = package.text(&main)?.ok_or(ReadFailure::Broken)?;
    let mut book = SharedWorkbook::default();
    let listed = book.sheets(&text, &relations)?;
    for relation in &relations {
        match relation.kind.as_str() {
            "sharedStrings" => {
                let text = package.text(&relation.target)?.unwrap_or_default();
                book.strings = strings(&text)?;
            }
            "styles" => {
                let text = package.text(&relation.target)?.unwrap_or_default();
                book.styles = styles::read(&text)?;
            }
            "person" => {
                let text = package.text(&relation.target)?.unwrap_or_default();
                book.people = people(&text)?;
            }
            "vbaProject" => out.find(Finding::Macros),
            _ => {}
        }
    }
    give(&listed, out, |index, grid| {
        let path = book.paths.get(index).ok_or(ReadFailure::Broken)?;
        let relations = package.relations(path)?;
        let leads = relations.iter().filter(|relation| relation.kind == "hyperlink");
        let leads = leads.map(|relation| (relation.id.clone(), relation.target.clone()));
        let mut sheet = XlsxSheet {
            book: &book,
            leads: leads.collect(),
            links: HashMap::new(),
            linked: Vec::new(),
            columns: Vec::new(),
            painted: Vec::new(),
            merged: Vec::new(),
            filter: false,
        };
        for relation in &relations {
            match relation.kind.as_str() {
                "table" => {
                    let text = package.text(&relation.target)?.unwrap_or_default();
                    sheet.tail(&text)?;
                }
                "comments" | "threadedComment" => {
                    let text = package.text(&relation.target)?.unwrap_or_default();
                    sheet.comments(&text, grid)?;
                }
                "drawing" => {
                    let text = package.text(&relation.target)?.unwrap_or_default();
                    grid.shapes = shapes(&text)?;
                }
                _ => {}
            }
        }
        let text = package.text(path)?.ok_or(ReadFailure::Broken)?;
        sheet.read(&text, grid)
    })
}

/// The runs of a text, each with its font if it differs from the cell's.
type TextRuns = Vec<(String, Option<Box<RunStyle>>)>;

/// The parts that all sheets of a workbook share.
#[derive(Default)]
struct SharedWorkbook {
    paths: Vec<String>,
    strings: Vec<TextRuns>,
    styles: Vec<CellStyle>,
    people: HashMap<String, String>,
    from_1904: bool,
}

impl SharedWorkbook {
    /// Reads the list of worksheets. Chart sheets have no cells.
    fn sheets(
        &mut self,
        text: &str,
        relations: &[PartRelation],
    ) -> Result<Vec<ListedSheet>, ReadFailure> {
        let mut listed = Vec::new();
        let mut xml = XmlReader::with_namespaces(text, &["x"]);
        while let Some(event) = xml.step()? {
            let XmlEvent::Start(element) = event else { continue };
            match element.name().as_str() {
                "workbookPr" => self.from_1904 |= element.flag("date1904"),
                "sheet" => {
                    let id = element.link().unwrap_or_default();
                    let found = relations.iter().find(|relation| relation.id == id);
                    let Some(relation) = found.filter(|found| found.kind == "worksheet") else {
                        continue;
                    };
                    let state = element.attr("state").unwrap_or_default();
                    listed.push(ListedSheet {
                        name: element.attr("name").unwrap_or_default(),
                        hidden: state.to_ascii_lowercase().ends_with("hidden"),
                    });
                    self.paths.push(relation.target.clone());
                }
                _ => {}
            }
        }
        Ok(listed)
    }

    /// Returns one of the texts that cells share.
    fn shared(&self, index: &str) -> Option<&TextRuns> {
        self.strings.get(index.trim().parse::<usize>().ok()?)
    }

    /// Returns the visible content of a cell with this type and format, if it has any.
    fn cell(&self, kind: &str, value: &str, format: &NumberFormat) -> Option<HeadingCell> {
        let cell = match kind {
            "b" => HeadingCell::Flag(matches!(value.trim(), "1" | "true")),
            "" | "n" => match value.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => self.number(number, format),
                _ => HeadingCell::Text(value.to_owned()),
            },
            // A date in ISO 8601.
            "d" => HeadingCell::Text(value.trim_end_matches("T00:00:00").replace('T', " ")),
            _ => HeadingCell::Text(unescaped(value)),
        };
        (!matches!(&cell, HeadingCell::Text(text) if text.trim().is_empty())).then_some(cell)
    }

    fn number(&self, number: f64, format: &NumberFormat) -> HeadingCell {
        let text = match format {
            NumberFormat::Date { day, time } => number::date(number, *day, *time, self.from_1904),
            NumberFormat::Duration => Some(number::duration(number)),
            NumberFormat::Padded(width) if number.fract() == 0.0 && number >= 0.0 => {
                Some(format!("{:0>width$}", number::number(number), width = *width))
            }
            _ => None,
        };
        match (text, format) {
            (Some(text), _) => HeadingCell::Text(text),
            (None, NumberFormat::Percent | NumberFormat::Unit(_)) => {
                HeadingCell::Number(number, format.clone())
            }
            (None, _) => HeadingCell::Number(number, NumberFormat::Plain),
        }
    }
}

/// A sheet that is being read.
struct XlsxSheet<'a> {
    book: &'a SharedWorkbook,
    /// Ranges of hidden columns: first and last one.
    columns: Vec<(u32, u32)>,
    /// Ranges in which a table or rule may change the background of text.
    painted: Vec<CellRange>,
    merged: Vec<CellRange>,
    /// Link targets: by relationship id, by cell, and by range of cells.
    leads: HashMap<String, String>,
    links: HashMap<(u32, u32), String>,
    linked: Vec<(CellRange, String)>,
    /// True if hidden rows are hidden by a filter.
    filter: bool,
}

/// A row that is being read.
#[derive(Default)]
struct XlsxRow {
    number: u32,
    hidden: bool,
    cells: Vec<(u32, HeadingCell)>,
    /// Hidden cells, with the way in which each is hidden.
    apart: Vec<(HidingMethod, (u32, HeadingCell))>,
}

impl XlsxSheet<'_> {
    fn read(&mut self, text: &str, grid: &mut SheetGrid) -> Result<(), ReadFailure> {
        // Elements after the rows affect the visibility of their cells.
        if ["autoFilter", "conditionalFormatting", "mergeCell", "hyperlink"]
            .iter()
            .any(|one| text.contains(one))
        // Parsing a large sheet twice is slow, so the text is searched first.
        {
            self.tail(text)?;
        }
        grid.merge(std::mem::take(&mut self.merged));
        let mut xml = XmlReader::with_namespaces(text, &["x"]);
        let mut row = XlsxRow::default();
        // The next row and column, for elements that do not state their own.
        let (mut number, mut column) = (0u32, 0u32);
        while let Some(event) = xml.step()? {
            match event {
                XmlEvent::Start(element) => match element.name().as_str() {
                    "col" => self.column(&element),
                    "row" => {
                        number = element
                            .number("r")
                            .map_or(number.saturating_add(1), |number| number as u32);
                        column = 0;
                        let flat = element.number("ht").is_some_and(|height| height < 1.0);
                        row = XlsxRow {
                            number,
                            hidden: element.flag("hidden") || flat,
                            ..XlsxRow::default()
                        };
                    }
                    "c" => {
                        let cell = element.attr("r").and_then(|cell| parse_cell(&cell));
                        let at = cell.map_or(column, |(column, _)| column);
                        column = at.saturating_add(1);
                        self.cell(at, &element, &mut xml, &mut row, grid)?;
                    }
                    _ => {}
                },
                XmlEvent::End(ending) => match ending.name().as_str() {
                    "row" => self.row(std::mem::take(&mut row), grid),
                    "sheetData" => break,
                    _ => {}
                },
                XmlEvent::Text(_) => {}
            }
        }
        Ok(())
    }

    fn column(&mut self, element: &XmlElement<'_>) {
        let narrow = element.number("width").is_some_and(|width| width < 0.1);
        if (element.flag("hidden") || narrow) && self.columns.len() < RANGES {
            let index = |name: &str| (element.number(name).unwrap_or(1.0) as u32).saturating_sub(1);
            self.columns.push((index("min"), index("max")));
        }
    }

    fn cell(
        &self,
        column: u32,
        element: &XmlElement<'_>,
        xml: &mut XmlReader<'_>,
        row: &mut XlsxRow,
        grid: &mut SheetGrid,
    ) -> Result<(), ReadFailure> {
        let kind = element.attr("t").unwrap_or_default();
        let style = element.number("s").unwrap_or_default() as usize;
        let (mut value, mut formula, mut inline) = (None, false, RichText::default());
        let mut target = None;
        loop {
            match xml.step()?.ok_or(ReadFailure::Broken)? {
                XmlEvent::Start(element) => match element.name().as_str() {
                    "v" => value = Some(xml.text()?).filter(|value| !value.is_empty()),
                    "f" => {
                        formula = true;
                        target = leads(&xml.text()?);
                    }
                    "extLst" => xml.skip()?,
                    name => inline.start(name, xml)?,
                },
                XmlEvent::End(ending) if ending.name() == "c" => break,
                _ => {}
            }
        }
        let usual = CellStyle::default();
        let style = self.book.styles.get(style).unwrap_or(&usual);
        let painted = |range: &CellRange| {
            (range.0..=range.1).contains(&column) && (range.2..=range.3).contains(&row.number)
        };
        let hides = |font: Option<&RunStyle>| {
            style
                .hides(font)
                .filter(|how| *how != HidingMethod::Colour || !self.painted.iter().any(painted))
        };
        let runs = match &value {
            Some(value) if kind == "s" => self.book.shared(value),
            Some(_) => None,
            None => Some(&inline.0),
        };
        // Words in fonts of their own are hidden one by one, other words with their cell.
        let rich = runs.filter(|runs| runs.iter().any(|(_, font)| font.is_some()));
        let (cell, mut how) = match (runs, &value) {
            (Some(runs), _) => {
                let mut seen = String::new();
                for (run, font) in runs {
                    match rich.and_then(|_| hides(font.as_deref())) {
                        Some(how) => grid.tally.hide(how, run),
                        None => seen.push_str(run),
                    }
                }
                grid.tally.paragraph();
                let cell = (!seen.trim().is_empty()).then_some(HeadingCell::Text(seen));
                (cell, hides(None).filter(|_| rich.is_none()))
            }
            (None, Some(_)) if kind == "s" => (None, None),
            (None, Some(value)) => (self.book.cell(&kind, value, &style.format), hides(None)),
            (None, None) => (None, None),
        };
        let Some(mut cell) = cell else {
            // A formula of type `str` has a result: an empty text.
            grid.no_result += u64::from(formula && kind != "str");
            return Ok(());
        };
        let target = target.as_deref().or_else(|| self.link(column, row.number));
        if let (HeadingCell::Text(text), Some(target)) = (&mut cell, target) {
            text.push_str(&target_after(text, target).unwrap_or_default());
        }
        let within = |(first, last): &(u32, u32)| (*first..=*last).contains(&column);
        how = how.or(match style.sections.section_for(number_of(&kind, value.as_deref())) {
            FormatSection::Empty => Some(HidingMethod::Marked),
            FormatSection::White => {
                hides(Some(&RunStyle { colour: Some(WHITE), ..RunStyle::default() }))
            }
            FormatSection::Shown => None,
        });
        // Cells beyond the last column are dropped: Excel cannot display them.
        if column >= COLUMNS {
        } else if self.columns.iter().any(within) {
            row.apart.push((HidingMethod::Column, (column, cell)));
        } else if let Some(how) = how {
            row.apart.push((how, (column, cell)));
        } else {
            row.cells.push((column, cell));
        }
        Ok(())
    }

    /// Returns the link target of a cell.
    fn link(&self, column: u32, row: u32) -> Option<&str> {
        let ranges = self.linked.iter().filter(|((left, right, top, bottom), _)| {
            (*left..=*right).contains(&column) && (*top..=*bottom).contains(&row)
        });
        let mut ranges = ranges.map(|(_, target)| target);
        self.links.get(&(column, row)).or_else(|| ranges.next()).map(String::as_str)
    }

    fn row(&self, row: XlsxRow, grid: &mut SheetGrid) {
        let XlsxRow { number, hidden, mut cells, apart } = row;
        if hidden {
            let how = if self.filter { HidingMethod::Filtered } else { HidingMethod::Row };
            cells.extend(apart.into_iter().map(|(_, cell)| cell));
            return grid.hide(how, &cells);
        }
        apart.into_iter().for_each(|(how, cell)| grid.hide(how, &[cell]));
        // Writers sort the cells of a row, but a file made to confuse may not.
        cells.sort_by_key(|(column, _)| *column);
        grid.row(number, cells);
    }

    /// Reads the elements outside of cells that affect them: filters, rules, tables, merges and
    /// links.
    fn tail(&mut self, text: &str) -> Result<(), ReadFailure> {
        let mut xml = XmlReader::with_namespaces(text, &["x"]);
        while let Ok(Some(event)) = xml.step() {
            let XmlEvent::Start(element) = event else { continue };
            match element.name().as_str() {
                "sheetData" => xml.skip()?,
                "mergeCell" => {
                    self.merged.extend(element.attr("ref").as_deref().and_then(range_of));
                }
                "autoFilter" => self.filter = true,
                "hyperlink" => {
                    let target = element.link().and_then(|id| self.leads.get(&id).cloned());
                    let range = element.attr("ref").as_deref().and_then(range_of);
                    match range.zip(target) {
                        Some(((left, right, top, bottom), target))
                            if left == right && top == bottom =>
                        {
                            self.links.insert((left, top), target);
                        }
                        Some((range, target)) if self.linked.len() < RANGES => {
                            self.linked.push((range, target));
                        }
                        _ => {}
                    }
                }
                "conditionalFormatting" => {
                    let ranges = element.attr("sqref").unwrap_or_default();
                    self.painted.extend(
                        ranges
                            .split(' ')
                            .filter_map(range_of)
                            .take(RANGES.saturating_sub(self.painted.len())),
                    );
                }
                "table" if self.painted.len() < RANGES => {
                    self.painted.extend(element.attr("ref").as_deref().and_then(range_of));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads comments, either legacy ones, which name authors by index, or threaded ones.
    fn comments(&self, text: &str, grid: &mut SheetGrid) -> Result<(), ReadFailure> {
        let mut authors: Vec<String> = Vec::new();
        let mut open: Option<(String, String)> = None;
        let mut xml = XmlReader::with_namespaces(text, &["x", "xtc"]);
        while let Some(event) = xml.step()? {
            let XmlEvent::Start(element) = event else { continue };
            let attr = |name: &str| element.attr(name).unwrap_or_default();
            match element.name().as_str() {
                "author" => authors.push(xml.text()?),
                "comment" => {
                    let author =
                        authors.get(element.number("authorId").unwrap_or_default() as usize);
                    open = Some((attr("ref"), author.cloned().unwrap_or_default()));
                }
                "threadedComment" => {
                    let author = self.book.people.get(&attr("personId")).cloned();
                    open = Some((attr("ref"), author.unwrap_or_default()));
                }
                "text" if grid.comments.len() < COMMENTS => {
                    let text = xml.text()?;
                    // A thread has a legacy copy for programs that do not support threads.
                    if let Some((cell, author)) = open.take()
                        && !author.starts_with("tc=")
                    {
                        grid.comments.push((cell, author, text));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A text that is being read, and the font of its last run.
#[derive(Default)]
struct RichText(TextRuns, Option<Box<RunStyle>>);

impl RichText {
    /// Reads an element in the text.
    fn start(&mut self, name: &str, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        match name {
            "r" => self.1 = None,
            "rPr" => {
                let mut font = RunStyle::default();
                xml.within(|property| styles::font(&mut font, property))?;
                self.1 = Some(Box::new(font));
            }
            "t" => {
                let text = unescaped(&xml.text()?);
                let long: usize = self.0.iter().map(|(run, _)| run.len()).sum();
                let end = text.floor_char_boundary(LONG.saturating_sub(long));
                if let Some(text) = text.get(..end).filter(|text| !text.is_empty()) {
                    self.0.push((text.to_owned(), self.1.clone()));
                }
            }
            // The pronunciation of the text.
            "rPh" => xml.skip()?,
            _ => {}
        }
        Ok(())
    }
}

/// Parses the texts that cells share.
fn strings(text: &str) -> Result<Vec<TextRuns>, ReadFailure> {
    let mut strings = Vec::new();
    let mut xml = XmlReader::with_namespaces(text, &["x"]);
    let mut open = RichText::default();
    while let Some(event) = xml.step()? {
        match event {
            XmlEvent::Start(element) => open.start(&element.name(), &mut xml)?,
            XmlEvent::End(ending) if ending.name() == "si" => {
                strings.push(std::mem::take(&mut open).0);
            }
            _ => {}
        }
    }
    Ok(strings)
}

/// Returns the number in a cell of this type.
fn number_of(kind: &str, value: Option<&str>) -> Option<f64> {
    value.filter(|_| matches!(kind, "" | "n"))?.trim().parse().ok()
}

/// Parses the names of comment authors, by id.
fn people(text: &str) -> Result<HashMap<String, String>, ReadFailure> {
    let mut people = HashMap::new();
    let mut xml = XmlReader::with_namespaces(text, &["xtc"]);
    while let Some(event) = xml.step()? {
        if let XmlEvent::Start(element) = event
            && let (Some(id), Some(name)) = (element.attr("id"), element.attr("displayName"))
        {
            people.insert(id, name);
        }
    }
    Ok(people)
}

/// Parses the text of shapes on a sheet, one paragraph per line.
fn shapes(text: &str) -> Result<String, ReadFailure> {
    let mut shapes = String::new();
    let mut xml = XmlReader::with_namespaces(text, &["xdr", "a"]);
    let mut hidden = false;
    while let Some(event) = xml.step()? {
        match event {
            XmlEvent::Start(element) => match element.name().as_str() {
                "cNvPr" => hidden = element.flag("hidden"),
                "t" if !hidden => shapes.push_str(&xml.text()?),
                _ => {}
            },
            XmlEvent::End(ending) if ending.name() == "p" && !shapes.ends_with('\n') => {
                shapes.push('\n');
            }
            _ => {}
        }
    }
    Ok(shapes)
}

/// Returns the address that a formula links to.
fn leads(formula: &str) -> Option<String> {
    let formula = formula.trim_start().trim_start_matches('=');
    let rest = formula.get("HYPERLINK".len()..)?;
    let is_link = formula.get(.."HYPERLINK".len())?.eq_ignore_ascii_case("HYPERLINK");
    let quoted = rest.trim_start().strip_prefix('(')?.trim_start().strip_prefix('"')?;
    quoted.split('"').next().filter(|_| is_link).map(str::to_owned)
}

/// Undoes the escaping of characters that XML forbids.
fn unescaped(text: &str) -> String {
    if !text.contains("_x") {
        return text.to_owned();
    }
    // The escape of the underscore itself comes last, or its result could form another escape.
    text.replace("_x000D_", "")
        .replace("_x000A_", "\n")
        .replace("_x0009_", "\t")
        .replace("_x005F_", "_")
}

/// Parses a cell such as `B3`: the column from 0, the row from 1.
fn parse_cell(cell: &str) -> Option<(u32, u32)> {
    let cell = cell.replace('$', "");
    let digits = cell.find(|c: char| c.is_ascii_digit())?;
    let (name, row) = cell.split_at_checked(digits)?;
    let mut column: u32 = 0;
    for c in name.bytes() {
        let digit = c.to_ascii_uppercase().checked_sub(b'A').filter(|digit| *digit < 26)?;
        column = column.checked_mul(26)?.checked_add(u32::from(digit) + 1)?;
    }
    Some((column.checked_sub(1)?, row.parse().ok()?))
}

/// Parses a range such as `B3:D20`, or a single cell.
fn range_of(range: &str) -> Option<CellRange> {
    let (first, last) = range.split_once(':').unwrap_or((range, range));
    let ((left, top), (right, bottom)) = (parse_cell(first)?, parse_cell(last)?);
    Some((left, right, top, bottom))
}
