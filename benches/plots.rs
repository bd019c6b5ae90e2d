//! The growth of calls as SVG: lines on logarithmic scales.

use std::fmt::Write as _;

/// Colours that are distinguishable with colour blindness.
const COLORS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5a5a5a"];

/// The columns that are drawn.
const SHOWN: [&str; 4] = ["requests", "kB", "ms of ours", "MB"];

/// Draws the first table of a Markdown text by its first column, with a line for each call; returns
/// `None` if it has no calls.
pub fn draw(text: &str) -> Option<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with('|'));
    let mut rows = lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let columns = rows.next().filter(|columns| columns[1] == "call")?;
    let rows: Vec<_> = rows.skip(1).collect();
    let mut calls: Vec<&str> = Vec::new();
    for row in &rows {
        if !calls.contains(&row[1]) {
            calls.push(row[1]);
        }
    }
    let mut picture = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 620\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        .to_owned();
    for (at, name) in SHOWN.into_iter().enumerate() {
        let column = columns.iter().position(|column| *column == name).unwrap();
        // A logarithm has no zero.
        let point = |row: &Vec<&str>| {
            [row[0], row[column]].map(|cell| cell.parse().unwrap_or(0.0_f64).max(0.1))
        };
        let lines = calls
            .iter()
            .map(|call| rows.iter().filter(|row| row[1] == *call).map(point).collect::<Vec<_>>());
        let corner = ((at % 2) as f64 * 450.0 + 60.0, (at / 2) as f64 * 280.0 + 30.0);
        part(
            &mut picture,
            corner,
            &format!("{name} by {}", columns[0]),
            &lines.collect::<Vec<_>>(),
        );
    }
    for (number, (call, color)) in calls.iter().zip(COLORS).enumerate() {
        let (x, y) = (60 + number % 4 * 210, 586 + number / 4 * 22);
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"{y}\" width=\"16\" height=\"4\" fill=\"{color}\"/>"
        );
        write_text(&mut picture, (x as f64 + 22.0, y as f64 + 6.0), "start", call);
    }
    Some(picture + "</svg>\n")
}

/// Draws lines of points into a part of a picture whose top left corner is given.
fn part(picture: &mut String, (left, top): (f64, f64), title: &str, lines: &[Vec<[f64; 2]>]) {
    let [across, up] = [0, 1].map(|axis| {
        let values = lines.iter().flatten().map(|point| point[axis].ln());
        let low = values.clone().fold(f64::MAX, f64::min);
        let high = values.fold(f64::MIN, f64::max).max(low + 0.1);
        move |value: f64| (value.ln() - low) / (high - low)
    });
    let place = |[x, y]: [f64; 2]| (left + across(x) * 350.0, top + 210.0 - up(y) * 190.0);
    write_text(picture, (left + 175.0, top - 8.0), "middle", title);
    let axes = [(left, top), (left, top + 220.0), (left + 360.0, top + 220.0)];
    write_line(picture, axes.into_iter(), "#999999");
    for (line, color) in lines.iter().zip(COLORS) {
        write_line(picture, line.iter().map(|point| place(*point)), color);
    }
    for [size, _] in lines.first().into_iter().flatten() {
        write_text(picture, (place([*size, 1.0]).0, top + 236.0), "middle", &size.to_string());
    }
    for tick in (-1..7).flat_map(|power| [1.0, 2.0, 5.0].map(|one| one * 10_f64.powi(power))) {
        if (0.0..=1.0).contains(&up(tick)) {
            let y = place([1.0, tick]).1 + 4.0;
            write_text(
                picture,
                (left - 6.0, y),
                "end",
                &((tick * 10.0).round() / 10.0).to_string(),
            );
        }
    }
}

fn write_text(picture: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ =
        writeln!(picture, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

fn write_line(picture: &mut String, points: impl Iterator<Item = (f64, f64)>, color: &str) {
    let points: Vec<_> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let points = points.join(" ");
    let _ = writeln!(
        picture,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>"
    );
}
