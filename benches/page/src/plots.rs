//! Tables as SVG.

use std::path::Path;

use plotters::prelude::*;

use crate::Table;

/// Colours that are distinguishable with colour blindness.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

fn number(cell: &str) -> Option<f64> {
    cell.parse().ok()
}

/// Draws a bar of tokens for each notation; returns false if the table has no tokens. The API's own
/// JSON is far larger than the others and is left out.
pub fn bars(file: &Path, title: &str, table: &Table) -> bool {
    if table.columns.get(1).is_none_or(|name| name != "o200k") {
        return false;
    }
    let rows: Vec<(&str, f64)> = table
        .rows
        .iter()
        .filter(|row| row.first().is_some_and(|what| !what.starts_with("the API")))
        .filter_map(|row| Some((row.first()?.as_str(), number(row.get(1)?)?)))
        .collect();
    let most = rows.iter().map(|(_, tokens)| *tokens).fold(1.0, f64::max);
    let height = 50 + 24 * rows.len() as u32;
    let root = SVGBackend::new(file, (760, height)).into_drawing_area();
    root.fill(&WHITE).unwrap();
    let text = ("sans-serif", 14).into_font();
    let write = |what: String, x: i32, y: i32| {
        root.draw(&Text::new(what, (x, y), text.clone())).unwrap();
    };
    write(format!("{title}: tokens of o200k"), 10, 10);
    for (at, (what, tokens)) in rows.iter().enumerate() {
        let top = 40 + 24 * at as i32;
        let right = 300 + (tokens / most * 390.0) as i32;
        let color = match *what {
            what if what.starts_with("ours") => COLORS[1],
            what if what.starts_with("the floor") => COLORS[6],
            _ => COLORS[0],
        };
        root.draw(&Rectangle::new([(300, top), (right, top + 18)], color.filled())).unwrap();
        write((*what).to_owned(), 10, top + 2);
        write(tokens.to_string(), right + 6, top + 2);
    }
    root.present().unwrap();
    true
}

/// Draws the growth of each call's requests, bytes, time and memory with the first column; returns
/// false if the table has no calls.
pub fn growth(file: &Path, _: &str, table: &Table) -> bool {
    if table.columns.get(1).is_none_or(|name| name != "call") {
        return false;
    }
    let mut calls: Vec<&str> = Vec::new();
    for what in table.rows.iter().filter_map(|row| row.get(1)) {
        if !calls.contains(&what.as_str()) {
            calls.push(what);
        }
    }
    let shown = ["requests", "kB", "ms of ours", "MB"];
    let root = SVGBackend::new(file, (900, 620)).into_drawing_area();
    root.fill(&WHITE).unwrap();
    let (plots, legend) = root.split_vertically(540);
    for (area, what) in plots.split_evenly((2, 2)).into_iter().zip(shown) {
        let column = table.columns.iter().position(|name| name == what).unwrap();
        let points = |call: &str| -> Vec<(f64, f64)> {
            let rows = table.rows.iter().filter(|row| row.get(1).is_some_and(|name| name == call));
            // A logarithm has no zero.
            rows.filter_map(|row| Some((number(row.first()?)?, number(row.get(column)?)?.max(0.1))))
                .collect()
        };
        let all: Vec<(f64, f64)> = calls.iter().flat_map(|call| points(call)).collect();
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::MAX, 0.0_f64), |(least, most), one| (least.min(one), most.max(one)))
        };
        let (left, right) = range(&mut all.iter().map(|point| point.0));
        let (low, high) = range(&mut all.iter().map(|point| point.1));
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{what} by {}", table.columns.first().unwrap()), ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(24)
            .y_label_area_size(48)
            .build_cartesian_2d((left..right).log_scale(), (low * 0.7..high * 1.4).log_scale())
            .unwrap();
        let plain = |value: &f64| value.to_string();
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .x_label_formatter(&plain)
            .y_label_formatter(&plain)
            .draw()
            .unwrap();
        for (call, color) in calls.iter().zip(COLORS) {
            chart
                .draw_series(LineSeries::new(points(call), color.stroke_width(2)).point_size(3))
                .unwrap();
        }
    }
    for (at, (call, color)) in calls.iter().zip(COLORS).enumerate() {
        let (x, y) = (60 + at as i32 % 4 * 210, 16 + at as i32 / 4 * 26);
        legend.draw(&Rectangle::new([(x, y), (x + 16, y + 4)], color.filled())).unwrap();
        let text = ("sans-serif", 14).into_font();
        legend.draw(&Text::new((*call).to_owned(), (x + 22, y - 6), text)).unwrap();
    }
    root.present().unwrap();
    true
}
