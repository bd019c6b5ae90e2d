//! Pictures of a terminal as SVG. [`recording`] has scenes that follow one another, each a line for
//! the shell with its output; without animations, it is its first scene. [`still`] is one scene, as
//! high as its output. Colours follow the reader's light or dark scheme. [`badge`] is a button.

use std::fmt::Write as _;

/// The lines of the recording, run in this order.
pub const SCENES: &[&str] = &[
    "daysheet call mail_search q='is:unread is:important' fields=date,from,subject --sandbox",
    "daysheet call calendar_search from=today to=today fields=start,end,title,people --sandbox",
    "daysheet call mail_draft mode=reply id=m1 body='Tuesday works: the files go out tonight.' --sandbox",
];

/// The size of the recorded terminal in characters.
const COLUMNS: usize = 118;
const ROWS: usize = 15;

/// The size of a character and the margin, in pixels.
const WIDTH: f64 = 7.8;
const HEIGHT: usize = 20;
const MARGIN: usize = 20;

/// The duration of a scene in seconds.
const SECONDS: usize = 6;

/// The beginnings of lines that are coloured, each with its class.
const COLOURED: &[(&str, &str)] = &[
    ("$ ", "typed"),
    ("ok  ", "good"),
    ("+ ", "good"),
    ("fail", "bad"),
    ("- ", "bad"),
    ("warn", "odd"),
];

/// Returns a line with its tabs as blanks.
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
    out
}

/// Returns a line cut at the edge of the terminal.
fn cut(mut line: String) -> String {
    if line.chars().count() > COLUMNS {
        line = line.chars().take(COLUMNS - 1).collect();
        line.push('…');
    }
    line
}

/// Returns the rows of a line: it breaks after a blank if it can, and goes on below its text.
fn wrapped(line: &str) -> Vec<String> {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let mut rows = Vec::new();
    let mut rest: Vec<char> = line.chars().collect();
    while rest.len() > COLUMNS {
        let blank = rest[..COLUMNS].iter().rposition(|c| *c == ' ').filter(|at| *at > COLUMNS / 2);
        let next = rest.split_off(blank.map_or(COLUMNS, |at| at + 1));
        rows.push(rest.iter().collect::<String>().trim_end().to_owned());
        let next = next.into_iter().skip_while(|c| *c == ' ');
        rest = std::iter::repeat_n(' ', indent).chain(next).collect();
    }
    rows.push(rest.into_iter().collect());
    rows
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns rows, each at its place.
fn rows<'t>(rows: impl IntoIterator<Item = &'t String>) -> String {
    let mut out = String::new();
    for (row, line) in rows.into_iter().enumerate() {
        let class = COLOURED.iter().find(|(beginning, _)| line.starts_with(beginning));
        let class = class.map(|(_, class)| format!(" class=\"{class}\"")).unwrap_or_default();
        let (y, text) = (MARGIN + (row + 1) * HEIGHT, escaped(line));
        writeln!(out, "<text{class} x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>")
            .unwrap();
    }
    out
}

/// Returns the lines of a scene.
fn lines(command: &str, output: &str) -> Vec<String> {
    std::iter::once(format!("$ {command}")).chain(output.lines().map(laid_out)).collect()
}

/// Returns a picture of a terminal with a number of rows. `styles` are for its content.
fn terminal(height: usize, styles: &str, content: &str) -> String {
    let width = (COLUMNS as f64 * WIDTH) as usize + 2 * MARGIN;
    let height = (height + 1) * HEIGHT + 2 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <style>\n\
         rect {{ fill: #f6f8fa; stroke: #d0d7de; }}\n\
         text {{ fill: #1f2328; }}\n\
         .typed {{ fill: #0550ae; font-weight: 600; }}\n\
         .good {{ fill: #116329; }} .bad {{ fill: #a40e26; }} .odd {{ fill: #7d4e00; }}\n\
         @media (prefers-color-scheme: dark) {{\n\
         rect {{ fill: #0d1117; stroke: #30363d; }}\n\
         text {{ fill: #e6edf3; }}\n\
         .typed {{ fill: #79c0ff; }}\n\
         .good {{ fill: #7ee787; }} .bad {{ fill: #ffa198; }} .odd {{ fill: #f2cc60; }}\n\
         }}\n\
         {styles}</style>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n\
         {content}</svg>\n",
        width - 1,
        height - 1,
    )
}

/// Returns the recording of scenes: lines for the shell with their outputs.
pub fn recording(scenes: &[(&str, String)]) -> String {
    let (all, share) = (SECONDS * scenes.len(), 100 / scenes.len());
    let styles = format!(
        ".scene {{ opacity: 0; }}\n\
         .scene:first-of-type {{ opacity: 1; }}\n\
         @media (prefers-reduced-motion: no-preference) {{\n\
         .scene {{ opacity: 0; animation: shown {all}s linear calc(var(--at) * {SECONDS}s) infinite; }}\n\
         .scene:first-of-type {{ opacity: 0; }}\n\
         }}\n\
         @keyframes shown {{ 0%, {share}% {{ opacity: 1; }} {}%, 100% {{ opacity: 0; }} }}\n",
        share + 1,
    );
    let mut content = String::new();
    for (number, (command, output)) in scenes.iter().enumerate() {
        let lines: Vec<String> = lines(command, output).into_iter().map(cut).collect();
        assert!(lines.len() <= ROWS, "{command}: the output has more than {ROWS} lines");
        let rows = rows(&lines);
        content += &format!("<g class=\"scene\" style=\"--at:{number}\">\n{rows}</g>\n");
    }
    terminal(ROWS, &styles, &content)
}

/// Returns a picture of a line for the shell with its output. Long lines break.
pub fn still(command: &str, output: &str) -> String {
    let lines: Vec<String> = lines(command, output).iter().flat_map(|line| wrapped(line)).collect();
    terminal(lines.len(), "", &rows(&lines))
}

/// Returns a button with a text, in colours that suit a light and a dark page.
pub fn badge(text: &str) -> String {
    let drawn = text.chars().count() * 7;
    let (width, middle) = (drawn + 20, drawn / 2 + 10);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"24\" role=\"img\" \
         aria-label=\"{text}\" font-family=\"Verdana, Geneva, sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"24\" rx=\"5\" fill=\"#0550ae\"/>\n\
         <text x=\"{middle}\" y=\"16\" fill=\"#fff\" text-anchor=\"middle\" \
         textLength=\"{drawn}\">{text}</text>\n\
         </svg>\n"
    )
}
