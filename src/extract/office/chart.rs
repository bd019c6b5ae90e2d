//! Charts as small tables: the title, then a row for each category with the values of the series.
//!
//! A chart keeps a copy of the numbers that it shows (ECMA-376, part 1, 21.2). Its type, axes and
//! colours are not read.

use std::collections::{BTreeMap, BTreeSet};

use crate::ReadFailure;
use crate::sheet::number::{NumberFormat, date, number};
use crate::xml::{XmlEvent, XmlReader};

/// Maximum series of a chart, and points of a series, that are shown.
const SERIES: usize = 50;
const POINTS: usize = 1_000;

/// The texts of points, by number.
type PointTexts = BTreeMap<u32, String>;

#[derive(Default)]
struct ChartSeries {
    name: PointTexts,
    categories: PointTexts,
    values: PointTexts,
}

/// Returns the text of a chart, one table row per line. The text is empty for an empty chart.
pub fn text(text: &str) -> Result<String, ReadFailure> {
    let mut xml = XmlReader::with_namespaces(text, &["c"]);
    let (mut title, mut series) = (String::new(), Vec::<ChartSeries>::new());
    // The open element (the title or a part of a series), the format of its numbers, and its point.
    let (mut part, mut format, mut point) = (String::new(), None, 0);
    let mut from_1904 = false;
    while let Some(event) = xml.step()? {
        let XmlEvent::Start(element) = event else { continue };
        let name = element.name();
        match name.as_str() {
            "date1904" => from_1904 = element.flag("val"),
            "ser" => {
                series.push(ChartSeries::default());
                part.clear();
            }
            // The title contains a `tx` element, too, like the name of a series.
            "tx" if part == "title" => {}
            "title" | "tx" | "cat" | "xVal" | "val" | "yVal" => {
                (part, format, point) = (name, None, 0);
            }
            "dLbls" | "trendline" | "errBars" | "bubbleSize" | "catAx" | "valAx" | "dateAx"
            | "serAx" | "extLst" => xml.skip()?,
            "numCache" | "numLit" => format = Some(NumberFormat::Plain),
            "formatCode" => format = Some(NumberFormat::read(&xml.text()?)),
            "pt" => point = element.number("idx").unwrap_or_default() as u32,
            "a:p" if part == "title" && !title.is_empty() => title.push(' '),
            "v" | "a:t" => {
                let text = shown(xml.text()?, format.as_ref(), from_1904);
                let points = match (part.as_str(), series.last_mut()) {
                    ("title", _) => {
                        title.push_str(&text);
                        continue;
                    }
                    ("tx", Some(series)) => &mut series.name,
                    ("cat" | "xVal", Some(series)) => &mut series.categories,
                    ("val" | "yVal", Some(series)) => &mut series.values,
                    _ => continue,
                };
                // Categories may have several levels; the innermost comes first.
                let own = points.remove(&point).map(|own| format!(" {own}")).unwrap_or_default();
                points.insert(point, text + &own);
            }
            _ => {}
        }
    }
    let mut lines = vec![title.trim().to_owned()];
    series.truncate(SERIES);
    // Series with the same categories share a table; scatter charts have one for each series.
    let alike = series.chunk_by(|one, next| one.categories == next.categories);
    alike.for_each(|series| lines.extend(rows(series)));
    lines.retain(|line| !line.is_empty());
    Ok(lines.join("\n"))
}

/// Returns a value as a cell of a sheet displays it.
fn shown(text: String, format: Option<&NumberFormat>, from_1904: bool) -> String {
    let (Some(format), Ok(value)) = (format, text.trim().parse()) else { return text };
    let day = match format {
        NumberFormat::Date { day, time } => date(value, *day, *time, from_1904),
        _ => None,
    };
    day.unwrap_or_else(|| number(value))
}

/// Returns the rows of series that share their categories.
fn rows(series: &[ChartSeries]) -> Vec<String> {
    let row = |first: &str, cell: &dyn Fn(&ChartSeries) -> Option<&String>| {
        let cells = series.iter().map(|series| cell(series).map_or("", String::as_str));
        let cells: Vec<&str> = std::iter::once(first).chain(cells).collect();
        cells.join(" | ").replace('\n', " ")
    };
    let points: BTreeSet<u32> = series
        .iter()
        .flat_map(|one| one.categories.keys().chain(one.values.keys()))
        .copied()
        .collect();
    let category = |point| series.first().and_then(|one| one.categories.get(point));
    let mut rows = Vec::new();
    if series.iter().any(|one| !one.name.is_empty()) {
        rows.push(row("", &|series| series.name.get(&0)));
    }
    rows.extend(points.iter().take(POINTS).map(|point| {
        row(category(point).map_or("", String::as_str), &|series| series.values.get(point))
    }));
    if points.len() > POINTS {
        rows.push("…".to_owned());
    }
    rows
}
