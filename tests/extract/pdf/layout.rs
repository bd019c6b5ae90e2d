//! Words, lines, columns and tables.

use super::paper::{Paper, at};
use super::shown;
use crate::request;

fn text(content: &str) -> String {
    let got = shown(&request("a.pdf"), &Paper::of(content).bytes());
    got.strip_prefix("[page 1]\n").unwrap_or(&got).to_owned()
}

#[test]
fn characters_are_put_into_words_and_lines() {
    let cases: &[(&str, &str)] = &[
        ("BT /F1 12 Tf 50 700 Td [(Wo) 20 (rd) -300 (two)] TJ ET", "Word two\n"),
        ("BT /F1 12 Tf 50 700 Td 6 Tc (SPACED) Tj ET", "SPACED\n"),
        ("BT /F1 12 Tf 50 700 Td (a b  c) Tj ET", "a b c\n"),
        // Codes without a glyph, as of two-byte text in a font for one byte.
        ("BT /F1 12 Tf 50 700 Td <0041004200431f44> Tj ET", "ABCD\n"),
        // Drawn twice for bold, by letter and by line.
        ("BT /F1 12 Tf 50 700 Td (Bold) Tj 0.4 0 Td (Bold) Tj ET", "Bold\n"),
        ("BT /F1 12 Tf 50 700 Td (H) Tj 0.3 0 Td (H) Tj 9 0 Td (i) Tj 0.3 0 Td (i) Tj ET", "Hi\n"),
        // From the last line to the first.
        ("BT /F1 12 Tf 50 600 Td (two) Tj 0 14 Td (one) Tj ET", "one\ntwo\n"),
        ("BT /F1 12 Tf 50 700 Td (one) Tj 0 -40 Td (two) Tj ET", "one\n\ntwo\n"),
        // 10 to the power of 2, water, and a footnote.
        (
            "BT /F1 12 Tf 50 700 Td (10) Tj /F1 7 Tf 5 Ts (2) Tj /F1 12 Tf 0 Ts ( m) Tj ET",
            "10^2 m\n",
        ),
        ("BT /F1 12 Tf 50 700 Td (H) Tj /F1 7 Tf -3 Ts (2) Tj /F1 12 Tf 0 Ts (O) Tj ET", "H2O\n"),
        ("BT /F1 7 Tf 5 Ts 50 700 Td (1) Tj /F1 12 Tf 0 Ts (Note) Tj ET", "1 Note\n"),
        // By half of an em, as ReportLab does it: in the same size, and smaller.
        ("BT /F1 10 Tf 50 700 Td (H) Tj 5 Ts (a) Tj 0 Ts (b) Tj ET", "Hab\n"),
        (
            "BT /F1 10 Tf 50 700 Td (10) Tj /F1 8 Tf 5 Ts (6) Tj /F1 10 Tf 0 Ts ( m) Tj \
             /F1 8 Tf 5 Ts (2) Tj /F1 10 Tf 0 Ts ( of CO) Tj /F1 8 Tf -5 Ts (2) Tj \
             /F1 10 Tf 0 Ts ( left) Tj ET",
            "10^6 m^2 of CO2 left\n",
        ),
        // What is raised is written last.
        (
            "BT /F1 10 Tf 50 700 Td (The 1) Tj 30 0 Td ( of May) Tj ET \
             BT /F1 6 Tf 75.6 706 Td (st) Tj ET",
            "The 1st of May\n",
        ),
        // An accent of its own, before its letter.
        ("BT /F1 12 Tf 50 700 Td [(K) (\\250) 400 (oln)] TJ ET", "Köln\n"),
        ("BT /F1 12 Tf 50 700 Td (1 Start ............. 5) Tj ET", "1 Start ... 5\n"),
    ];
    let wrong: Vec<_> = cases
        .iter()
        .map(|case| (text(case.0), case.1))
        .filter(|(got, expected)| got != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn columns_are_read_one_after_the_other_and_tables_by_row() {
    let mut columns =
        at(50.0, 760.0, "A heading over both of the columns of this page, as newspapers have them");
    for (line, y) in (0..6).zip((0..).map(|line| 720.0 - 14.0 * f64::from(line))) {
        columns += &at(50.0, y, &format!("left column line {line} with words"));
        columns += &at(320.0, y, &format!("right column line {line} with words"));
    }
    let got = text(&columns);
    let order = [
        "heading", "left column line 0", "left column line 5", "right column line 0",
        "right column line 5",
    ];
    let places: Vec<_> = order.iter().map(|words| got.find(words)).collect();
    assert!(places.is_sorted() && !places.contains(&None), "{got}");

    let mut table = String::new();
    let rows = [
        ["Item", "Qty", "Price"],
        ["Lamp, brass", "4", "129.50"],
        ["Cable", "", "8.00"],
        ["Sum", "", "137.50"],
    ];
    for (row, y) in rows.iter().zip((0..).map(|row| 700.0 - 16.0 * f64::from(row))) {
        for (cell, x) in row.iter().zip([50.0, 250.0, 350.0]) {
            table += &at(x, y, cell);
        }
    }
    assert_eq!(
        text(&table),
        "Item | Qty | Price\nLamp, brass | 4 | 129.50\nCable | | 8.00\nSum | | 137.50\n"
    );
}
