//! A recording of a terminal as SVG: scenes that follow one another, each a line for the shell with
//! its output. Colours follow the reader's light or dark scheme. Without animations, the picture is
//! its first scene.

use std::fmt::Write as _;

/// The lines of the recording, run in this order.
pub const SCENES: &[&str] = &[
    "daysheet call mail_search q='is:unread is:important' fields=date,from,subject --sandbox",
    "daysheet call calendar_search from=today to=today fields=start,end,title,people --sandbox",
    "daysheet call mail_draft mode=reply id=m1 body='Tuesday works: the files go out tonight.' --sandbox",
];

/// The size of the terminal in characters.
const COLUMNS: usize = 118;
const ROWS: usize = 15;

/// The size of a character and the margin, in pixels.
const WIDTH: f64 = 7.8;
const HEIGHT: usize = 20;
const MARGIN: usize = 20;

/// The duration of a scene in seconds.
const SECONDS: usize = 6;

/// Returns a line with its tabs as blanks, cut at the edge of the terminal.
fn laid_out(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        if c == '\t' {
            let at = out.chars().count();
            out.extend(std::iter::repeat_n(' ', 8 - at % 8));
        } else {
            out.push(c);
        }
    }
    if out.chars().count() > COLUMNS {
        out = out.chars().take(COLUMNS - 1).collect();
        out.push('…');
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the lines of a scene, each at its place.
fn scene(number: usize, command: &str, output: &str) -> String {
    let mut out = format!("<g class=\"scene\" style=\"--at:{number}\">\n");
    let lines = std::iter::once(format!("$ {command}")).chain(output.lines().map(str::to_owned));
    for (row, line) in lines.enumerate() {
        assert!(row < ROWS, "{command}: the output has more than {ROWS} lines");
        let class = if row == 0 { " class=\"typed\"" } else { "" };
        let y = MARGIN + (row + 1) * HEIGHT;
        let text = escaped(&laid_out(&line));
        writeln!(out, "<text{class} x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>")
            .unwrap();
    }
    out + "</g>\n"
}

/// Returns the picture of scenes: lines for the shell with their outputs.
pub fn draw(scenes: &[(&str, String)]) -> String {
    let width = (COLUMNS as f64 * WIDTH) as usize + 2 * MARGIN;
    let height = (ROWS + 1) * HEIGHT + 2 * MARGIN;
    let (all, share) = (SECONDS * scenes.len(), 100 / scenes.len());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <style>\n\
         rect {{ fill: #f6f8fa; stroke: #d0d7de; }}\n\
         text {{ fill: #1f2328; }}\n\
         .typed {{ fill: #0550ae; font-weight: 600; }}\n\
         .scene {{ opacity: 0; }}\n\
         .scene:first-of-type {{ opacity: 1; }}\n\
         @media (prefers-color-scheme: dark) {{\n\
         rect {{ fill: #0d1117; stroke: #30363d; }}\n\
         text {{ fill: #e6edf3; }}\n\
         .typed {{ fill: #79c0ff; }}\n\
         }}\n\
         @media (prefers-reduced-motion: no-preference) {{\n\
         .scene {{ opacity: 0; animation: shown {all}s linear calc(var(--at) * {SECONDS}s) infinite; }}\n\
         .scene:first-of-type {{ opacity: 0; }}\n\
         }}\n\
         @keyframes shown {{ 0%, {share}% {{ opacity: 1; }} {}%, 100% {{ opacity: 0; }} }}\n\
         </style>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        share + 1,
        width - 1,
        height - 1,
    );
    for (number, (command, output)) in scenes.iter().enumerate() {
        out += &scene(number, command, output);
    }
    out + "</svg>\n"
}
