//! Sheets of OpenDocument.

use super::documents;
use super::shapes::is_shape;
use super::styles::OdfStyles;
use crate::paragraph::target_after;
use crate::run_style::{RunStyle, WHITE};
use crate::sheet::{HeadingCell, ListedSheet, NumberFormat, SheetGrid, give, time};
use crate::xml::{XmlElement, XmlEvent, XmlReader};
use crate::{OutputSink, ReadFailure, StopReason};
use daysheet_core::text::visibility::HidingMethod;

/// Maximum repeated cells of a sheet. Empty repeated cells are only counted.
const REPEATS: u32 = 100_000;

/// Reads the sheets of a file.
pub fn read(content: &str, styles: &OdfStyles, out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let (listed, tables) = tables(content, styles)?;
    give(&listed, out, |index, grid| {
        let text = tables.get(index).copied().ok_or(ReadFailure::Broken)?;
        let mut sheet = OdsSheet { styles, columns: Vec::new(), column: 0, row: 0, left: REPEATS };
        sheet.read(text, grid)
    })
}

/// Returns the sheets, and the text from the beginning of each.
fn tables<'a>(
    content: &'a str,
    styles: &OdfStyles,
) -> Result<(Vec<ListedSheet>, Vec<&'a str>), ReadFailure> {
    let (mut listed, mut texts) = (Vec::new(), Vec::new());
    let mut xml = XmlReader::new(content);
    while let Some(event) = xml.step()? {
        let XmlEvent::Start(element) = event else { continue };
        match element.name().as_str() {
            "tracked-changes" | "font-face-decls" => xml.skip()?,
            "table" => {
                let style = styles.style("table", &element.attr("style-name").unwrap_or_default());
                let name = element.attr("name").unwrap_or_default();
                listed.push(ListedSheet { name, hidden: style.hidden });
                texts.push(content.get(xml.offset()..).unwrap_or_default());
                xml.skip()?;
            }
            _ => {}
        }
    }
    Ok((listed, texts))
}

/// A sheet that is being read.
struct OdsSheet<'a> {
    styles: &'a OdfStyles,
    /// For each run of columns: the end of the run, true if it is hidden, and its default cell
    /// style.
    columns: Vec<(u32, bool, Option<String>)>,
    /// The current position, from 0.
    column: u32,
    row: u32,
    /// The number of repeated cells that are still allowed.
    left: u32,
}

/// A row that is being read.
#[derive(Default)]
struct OdsRow {
    hidden: Option<HidingMethod>,
    repeated: u32,
    cells: Vec<(u32, HeadingCell)>,
    apart: Vec<(HidingMethod, (u32, HeadingCell))>,
}

impl OdsSheet<'_> {
    fn read(&mut self, text: &str, grid: &mut SheetGrid) -> Result<(), ReadFailure> {
        let mut xml = XmlReader::new(text);
        let mut row = OdsRow::default();
        while let Some(event) = xml.step()? {
            match event {
                XmlEvent::Start(element) => match element.name().as_str() {
                    "table-column" => self.columns(&element),
                    "table-row" => {
                        let hidden = match element.attr("visibility").as_deref() {
                            Some("collapse") => Some(HidingMethod::Row),
                            Some("filter") => Some(HidingMethod::Filtered),
                            _ => None,
                        };
                        let repeated = repeated(&element, "number-rows-repeated");
                        self.column = 0;
                        row = OdsRow { hidden, repeated, ..OdsRow::default() };
                    }
                    "table-cell" | "covered-table-cell" => {
                        self.cell(&element, (&mut xml, text), &mut row, grid)?;
                    }
                    "shapes" => {
                        let from = xml.offset();
                        shapes((&mut xml, text), from, grid, self.styles)?;
                    }
                    // These are nested tables, or elements outside of the table.
                    "table" | "forms" | "named-expressions" => xml.skip()?,
                    _ => {}
                },
                XmlEvent::End(ending) => match ending.name().as_str() {
                    "table-row" => self.row(std::mem::take(&mut row), grid),
                    "table" => break,
                    _ => {}
                },
                XmlEvent::Text(_) => {}
            }
        }
        Ok(())
    }

    fn columns(&mut self, element: &XmlElement<'_>) {
        let hidden = matches!(element.attr("visibility").as_deref(), Some("collapse" | "filter"));
        let last = self.columns.last().map_or(0, |(last, ..)| *last);
        let last = last.saturating_add(repeated(element, "number-columns-repeated"));
        self.columns.push((last, hidden, element.attr("default-cell-style-name")));
    }

    /// Reads a cell, with its comment.
    fn cell(
        &mut self,
        element: &XmlElement<'_>,
        xml: (&mut XmlReader<'_>, &str),
        row: &mut OdsRow,
        grid: &mut SheetGrid,
    ) -> Result<(), ReadFailure> {
        let attr = |name: &str| element.attr(name).unwrap_or_default();
        let (column, row_number) = (self.column, self.row.saturating_add(1));
        let times = repeated(element, "number-columns-repeated");
        self.column = column.saturating_add(times);
        let cell_name = || format!("{}{row_number}", crate::sheet::column(column));
        let known = self.columns.get(self.columns.partition_point(|(last, ..)| *last <= column));
        let style = element.attr("style-name").or_else(|| known.and_then(|known| known.2.clone()));
        let style = self.styles.style("table-cell", &style.unwrap_or_default());
        let mut shown = content(xml, grid, &cell_name, (self.styles, &style.text_style))?;
        // Words with styles of their own are hidden one by one, other words with their cell.
        let rich = shown.runs.iter().any(|(own, ..)| *own);
        if rich {
            shown.runs.retain(|(_, how, text)| {
                how.is_none_or(|how| {
                    grid.tally.hide(how, text);
                    false
                })
            });
            grid.tally.paragraph();
            if shown.runs.is_empty() {
                return Ok(());
            }
        }
        let text: String = shown.runs.into_iter().map(|(.., text)| text).collect();
        // A format that hides a value leaves an empty paragraph; some writers omit it.
        let empty = shown.paragraphs && text.is_empty() && !rich;
        let Some(cell) = value(&attr, text) else {
            return Ok(());
        };
        let apart = if known.is_some_and(|known| known.1) {
            Some(HidingMethod::Column)
        } else if element.name() == "covered-table-cell" {
            Some(HidingMethod::Covered)
        } else if rich {
            style.hidden.then_some(HidingMethod::Marked)
        } else {
            style
                .text_style
                .hidden(WHITE)
                .or((style.hidden || empty).then_some(HidingMethod::Marked))
        };
        // A run of a million equal cells costs the file nothing, but a row for each would.
        let times = self.repeats(times, 1);
        for column in column..column.saturating_add(times) {
            match apart {
                Some(how) => row.apart.push((how, (column, cell.clone()))),
                None => row.cells.push((column, cell.clone())),
            }
        }
        Ok(())
    }

    /// Returns the number of repetitions allowed for this many cells, at most the stated `times`.
    fn repeats(&mut self, times: u32, cells: usize) -> u32 {
        let cells = u32::try_from(cells).unwrap_or(u32::MAX).max(1);
        let times = times.min(1 + self.left / cells);
        self.left = self.left.saturating_sub((times - 1).saturating_mul(cells));
        times
    }

    fn row(&mut self, row: OdsRow, grid: &mut SheetGrid) {
        let OdsRow { hidden, repeated, mut cells, apart } = row;
        let first = self.row;
        self.row = first.saturating_add(repeated);
        if cells.is_empty() && apart.is_empty() {
            return;
        }
        if let Some(how) = hidden {
            // In a hidden row it does not matter how single cells are hidden: count all as its
            // cells.
            cells.extend(apart.into_iter().map(|(_, cell)| cell));
            for _ in 0..self.repeats(repeated, cells.len()) {
                grid.hide(how, &cells);
            }
            return;
        }
        apart.into_iter().for_each(|(how, cell)| grid.hide(how, &[cell]));
        let repeated = self.repeats(repeated, cells.len());
        for row in first..first.saturating_add(repeated) {
            grid.row(row + 1, cells.clone());
        }
    }
}

/// Returns the repetition count of an element.
fn repeated(element: &XmlElement<'_>, name: &str) -> u32 {
    element.number(name).unwrap_or(1.0).max(1.0) as u32
}

/// The displayed content of a cell.
#[derive(Default)]
struct ShownCell {
    /// The words: true if they have a style of their own, the way in which they are hidden, and
    /// their text.
    runs: Vec<(bool, Option<HidingMethod>, String)>,
    /// True if there are paragraphs, even empty ones.
    paragraphs: bool,
}

/// Reads the paragraphs of a cell with this style, and its comment.
fn content(
    (xml, text): (&mut XmlReader<'_>, &str),
    grid: &mut SheetGrid,
    cell_name: &dyn Fn() -> String,
    (styles, cell): (&OdfStyles, &RunStyle),
) -> Result<ShownCell, ReadFailure> {
    let mut shown = ShownCell::default();
    let mut spans: Vec<RunStyle> = Vec::new();
    let put = |shown: &mut ShownCell, spans: &[RunStyle], text: &str| {
        let how = spans.last().unwrap_or(cell).hidden(WHITE);
        shown.runs.push((!spans.is_empty(), how, text.to_owned()));
    };
    let mut comment: Option<(String, String)> = None;
    let mut link: Option<(String, usize)> = None;
    // The element that began last is the cell, so its end takes the depth to 0.
    let mut depth = 1;
    while depth > 0 {
        let from = xml.offset();
        match xml.step()?.ok_or(ReadFailure::Broken)? {
            XmlEvent::Start(element) => {
                depth += 1;
                match element.name().as_str() {
                    "annotation" => comment = Some(Default::default()),
                    "creator" => {
                        let author = xml.text()?;
                        depth -= 1;
                        comment.iter_mut().for_each(|(own, _)| own.clone_from(&author));
                    }
                    "date" | "sender-initials" | "creator-initials" => {
                        xml.skip()?;
                        depth -= 1;
                    }
                    name if is_shape(name) && comment.is_none() => {
                        shapes((&mut *xml, text), from, grid, styles)?;
                        depth -= 1;
                    }
                    "s" => put(&mut shown, &spans, " "),
                    "p" if comment.is_none() => {
                        shown.paragraphs = true;
                        if !shown.runs.is_empty() {
                            put(&mut shown, &spans, "\n");
                        }
                    }
                    "a" if comment.is_none() => {
                        link = Some((element.attr("href").unwrap_or_default(), shown.runs.len()));
                    }
                    "span" => {
                        let own =
                            styles.style("text", &element.attr("style-name").unwrap_or_default());
                        spans.push(own.text_style.over(spans.last().unwrap_or(cell)));
                    }
                    _ => {}
                }
            }
            XmlEvent::End(ending) => {
                depth -= 1;
                if ending.name() == "span" {
                    spans.pop();
                }
                if ending.name() == "a"
                    && let Some((target, from)) = link.take()
                {
                    let runs = shown.runs.iter().skip(from).filter(|(_, how, _)| how.is_none());
                    let words: String = runs.map(|(.., text)| text.as_str()).collect();
                    if let Some(target) = target_after(&words, &target) {
                        put(&mut shown, &spans, &target);
                    }
                }
                if ending.name() == "annotation"
                    && let Some((author, text)) = comment.take()
                {
                    grid.comments.push((cell_name(), author, text));
                }
            }
            XmlEvent::Text(part) => match &mut comment {
                Some((_, comment)) => comment.push_str(&part),
                None => put(&mut shown, &spans, &part),
            },
        }
    }
    Ok(shown)
}

/// Reads the text of shapes on a sheet, from this position to the end of the element that began
/// last.
fn shapes(
    (xml, text): (&mut XmlReader<'_>, &str),
    from: usize,
    grid: &mut SheetGrid,
    styles: &OdfStyles,
) -> Result<(), ReadFailure> {
    xml.skip()?;
    let part = text.get(from..xml.offset()).unwrap_or_default();
    let text = documents::shapes(part, styles, &mut grid.tally)?;
    if !text.trim().is_empty() {
        grid.shapes.push_str(&format!("{}\n", text.trim()));
    }
    Ok(())
}

/// Returns the value that a person sees in a cell with this text.
fn value(attr: &dyn Fn(&str) -> String, text: String) -> Option<HeadingCell> {
    let number = || attr("value").trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let cell = match attr("value-type").as_str() {
        "float" | "currency" => {
            number().and_then(|number| Some(HeadingCell::Number(number, unit(&text)?)))
        }
        "percentage" => number().map(|number| HeadingCell::Number(number, NumberFormat::Percent)),
        "boolean" => Some(HeadingCell::Flag(attr("boolean-value") == "true")),
        "date" => Some(HeadingCell::Text(date(&attr("date-value")))),
        "time" => duration(&attr("time-value"), &text).map(HeadingCell::Text),
        _ => None,
    };
    cell.or_else(|| (!text.trim().is_empty()).then_some(HeadingCell::Text(text)))
}

/// Returns the format of a number displayed as this text, or `None` if the text is clearer than the
/// number.
fn unit(text: &str) -> Option<NumberFormat> {
    let sign =
        |c: &char| c.is_ascii_digit() || c.is_whitespace() || ".,'/()+-\u{2212}".contains(*c);
    let rest: String = text.trim().chars().filter(|c| !sign(c)).collect();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    // A code such as `007` loses its zeros as a number.
    let padded = digits > 1 && digits == text.len() && text.starts_with('0');
    match rest.as_str() {
        _ if padded || digits == 0 && !rest.is_empty() => None,
        "" | "E" => Some(NumberFormat::Plain),
        _ if rest.chars().count() <= 12 => Some(NumberFormat::Unit(rest)),
        _ => None,
    }
}

/// Parses a date such as `2026-02-03T18:05:00`.
fn date(value: &str) -> String {
    let (day, clock) = value.split_once('T').unwrap_or((value, ""));
    let mut parts = clock.split(':').map(|part| part.split('.').next().unwrap_or_default());
    let mut part = || parts.next().and_then(|part| part.parse::<u8>().ok());
    match (part(), part(), part()) {
        (Some(hour), Some(minute), second) => {
            format!("{day} {}", time(u64::from(hour), minute, second.unwrap_or(0)))
        }
        _ => day.to_owned(),
    }
}

/// Parses a duration such as `PT18H05M00S`: a time of day, or a length of time, which may exceed a
/// day and is displayed without a leading zero.
fn duration(value: &str, text: &str) -> Option<String> {
    let rest = value.strip_prefix("PT")?;
    let (hours, rest) = rest.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds = rest.split(['.', ',', 'S']).next().unwrap_or_default();
    let (hours, minutes): (u64, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours > 23 || (text.len() == 4 && text.find(':') == Some(1)) {
        return Some(text.to_owned()).filter(|text| !text.is_empty());
    }
    Some(time(hours, minutes, seconds.parse().unwrap_or(0)))
}
