//! Reconstruction of text from positioned characters: words, lines, columns and simple tables, in
//! reading order. Independent of PDF. The fractions of an em below are tuned on real files.

use hayro_interpret::kurbo::{Affine, Point};
use unicode_normalization::UnicodeNormalization;

use super::device::PageGlyph;

/// Gaps in ems, from which characters are separate words, words may be table cells, and lines may
/// be columns of text.
const SPACE: f64 = 0.13;
const CELL: f64 = 0.7;
const GUTTER: f64 = 1.2;
/// The largest offset of a character from the previous baseline, in ems. Programs raise by a half.
const RISE: f64 = 0.6;
/// The shares of the smaller height by which parts of a line overlap, and by which a raised or
/// lowered part overlaps its neighbour.
const SHARED: f64 = 0.5;
const SHIFTED: f64 = 0.25;
/// The minimum lines, and characters per line, of columns of text; the minimum rows and gaps of a
/// table.
const COLUMN_LINES: usize = 5;
const COLUMN_WIDTH: usize = 25;
const TABLE_ROWS: usize = 3;
const TABLE_GAPS: usize = 2;
/// Maximum nesting of columns, and lines of a column.
const DEPTH: u32 = 6;
const LINES: usize = 400;

/// A part of a line without a wide gap; its baseline is level.
#[derive(Debug, Clone)]
struct LinePart {
    from: f64,
    to: f64,
    base: f64,
    size: f64,
    text: String,
    /// True if a space was written before it.
    spaced: bool,
}

/// The parts of a line, from left to right.
type PartRow = Vec<LinePart>;

/// Returns the text of characters, in reading order.
pub(super) fn text(glyphs: &[PageGlyph]) -> String {
    // Characters of one direction form a text of their own; the most common direction comes first.
    let mut turns: Vec<(i32, Vec<&PageGlyph>)> = Vec::new();
    for glyph in glyphs {
        let turn = turn(glyph);
        if let Some((_, list)) = turns.iter_mut().find(|(own, _)| *own == turn) {
            list.push(glyph);
        } else {
            turns.push((turn, vec![glyph]));
        }
    }
    turns.sort_by_key(|(_, list)| std::cmp::Reverse(list.len()));
    let mut out = String::new();
    for (turn, list) in turns {
        let mut lines = Vec::new();
        block(parts(&list, turn), 0, &mut lines);
        let text = lines.join("\n");
        let text = text.trim_matches('\n');
        if !out.is_empty() && !text.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(text);
    }
    out
}

/// Returns the direction of a character in degrees; deviations of up to 3 degrees from a right
/// angle are ignored.
fn turn(glyph: &PageGlyph) -> i32 {
    let along = glyph.to - glyph.from;
    let degrees = along.y.atan2(along.x).to_degrees().round() as i32;
    let quarter = (f64::from(degrees) / 90.0).round() as i32 * 90;
    (if (degrees - quarter).abs() <= 3 { quarter } else { degrees }).rem_euclid(360)
}

/// Returns the parts of lines that characters of one direction form, in the order of the file.
fn parts(glyphs: &[&PageGlyph], turn: i32) -> Vec<LinePart> {
    let level = Affine::rotate(-f64::from(turn).to_radians());
    let mut parts = Vec::new();
    let mut open: Vec<(char, f64, bool)> = Vec::new();
    let mut part =
        LinePart { from: 0.0, to: 0.0, base: 0.0, size: 0.0, text: String::new(), spaced: false };
    // The position and size of the previous character, and true if it was raised.
    let (mut spaced, mut last, mut small, mut raised) = (false, Point::ZERO, 0.0, false);
    for glyph in glyphs {
        if glyph.character.is_whitespace() {
            spaced = true;
            continue;
        }
        let (from, to) = (level * glyph.from, level * glyph.to);
        let size = glyph.size.max(0.1);
        let gap = (from.x - part.to) / size.max(part.size);
        let near = (from.y - part.base).abs() < RISE * size.max(part.size);
        // Some programs draw bold text twice, slightly offset.
        let again = open.last().is_some_and(|(character, ..)| *character == glyph.character)
            && (from - last).hypot() < 0.15 * size;
        if again {
            continue;
        }
        let before = open.last().map_or('\0', |(character, ..)| *character);
        let over = gap < -0.1 && near && !spaced && f64::midpoint(from.x, to.x) < part.to;
        if over && let Some(whole) = accented(before, glyph.character) {
            if let Some(character) = open.last_mut() {
                character.0 = whole;
            }
            part.to = part.to.max(to.x);
            continue;
        }
        // Text that runs to the left is ordered by position later.
        let on = from.x > last.x - 0.1 * size;
        let goes_on = near && on && (-0.5..CELL).contains(&gap);
        if !goes_on && !open.is_empty() {
            parts.push(close(&mut open, &part));
        }
        if open.is_empty() {
            part = LinePart {
                from: from.x,
                to: to.x,
                base: from.y,
                size,
                text: String::new(),
                spaced,
            };
            open.push((glyph.character, 0.0, false));
            raised = false;
        } else {
            let above = size < 0.85 * part.size && part.base - from.y > 0.2 * part.size;
            if above
                && !raised
                && !spaced
                && glyph.character.is_ascii_digit()
                && before.is_alphanumeric()
            {
                // 10² must not become 102.
                open.push(('^', gap, false));
            }
            // The footnote's text after its raised number.
            let lower = open.len() < 4 && size > 1.15 * small && from.y - last.y > 0.15 * size;
            open.push((glyph.character, gap, spaced || lower));
            raised = above;
            if size > part.size * 1.15 {
                (part.base, part.size) = (from.y, size);
            }
        }
        part.to = to.x.max(from.x);
        (spaced, last, small) = (false, from, size);
    }
    if !open.is_empty() {
        parts.push(close(&mut open, &part));
    }
    parts
}

/// Returns a part with its words: a gap wider than the usual one between its characters is a space.
fn close(open: &mut Vec<(char, f64, bool)>, part: &LinePart) -> LinePart {
    let characters = open
        .iter()
        .zip(open.iter().skip(1))
        .filter(|(a, b)| !b.2 && a.0.is_alphanumeric() && b.0.is_alphanumeric());
    let mut gaps: Vec<f64> = characters.map(|(_, character)| character.1).collect();
    gaps.sort_by(f64::total_cmp);
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or_default();
    let wide = if gaps.len() >= 4 && usual > 0.08 { usual + SPACE } else { SPACE };
    let mut text = String::new();
    for (character, gap, spaced) in open.drain(..) {
        if !text.is_empty() && (spaced || gap > wide) {
            text.push(' ');
        }
        // One mark for each word in a font without a mapping.
        if character != '\u{FFFD}' || !text.ends_with(character) {
            text.push(character);
        }
    }
    let text = led(&text);
    LinePart { text, ..part.clone() }
}

/// Shortens the dots that lead to a page number.
fn led(text: &str) -> String {
    let mut out = String::new();
    let mut dots = String::new();
    for character in text.chars().chain(['\0']) {
        if character == '.' || character == ' ' && !dots.is_empty() {
            dots.push(character);
            continue;
        }
        let many = dots.matches('.').count() > 4;
        out.push_str(if many { " ... " } else { &dots });
        dots.clear();
        if character != '\0' {
            out.push(character);
        }
    }
    out.trim_matches(' ').replace("  ... ", " ... ")
}

/// Returns the lines that parts form, from the top.
fn rows(mut parts: Vec<LinePart>) -> Vec<PartRow> {
    parts.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut rows: Vec<(f64, f64, PartRow)> = Vec::new();
    for part in parts {
        let (top, bottom) = (part.base - part.size * 0.7, part.base + part.size * 0.2);
        let same = rows.iter_mut().rev().take(6).find(|(own_top, own_bottom, row)| {
            let shared = bottom.min(*own_bottom) - top.max(*own_top);
            let share = shared / (bottom - top).min(own_bottom - own_top);
            share > SHARED || share > SHIFTED && row.iter().any(|own| shifted(own, &part))
        });
        match same {
            Some((own_top, own_bottom, row)) => {
                // The largest part determines the position of the line.
                if part.size > size(row) {
                    (*own_top, *own_bottom) = (top, bottom);
                }
                row.push(part);
            }
            None => rows.push((top, bottom, vec![part])),
        }
    }
    rows.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut rows: Vec<PartRow> = rows.into_iter().map(|(.., row)| row).collect();
    for row in &mut rows {
        row.sort_by(|a, b| a.from.total_cmp(&b.from));
        // Text that is drawn twice at one position is read once.
        row.dedup_by(|b, a| b.text == a.text && (b.from - a.from).abs() < 0.2 * a.size);
    }
    rows
}

/// Returns true if one of two parts is smaller, and raised or lowered next to the other.
fn shifted(a: &LinePart, b: &LinePart) -> bool {
    let (small, large) = if a.size < b.size { (a, b) } else { (b, a) };
    let gap = (small.from - large.to).max(large.from - small.to);
    small.size < 0.85 * large.size && gap.abs() < 2.0 * SPACE * large.size
}

fn base(row: &[LinePart]) -> f64 {
    row.iter().max_by(|a, b| a.size.total_cmp(&b.size)).map_or(0.0, |part| part.base)
}

fn size(row: &[LinePart]) -> f64 {
    row.iter().map(|part| part.size).fold(0.0, f64::max)
}

/// Consecutive rows that leave the same gaps free.
struct ColumnZone {
    rows: usize,
    gaps: Vec<(f64, f64)>,
}

/// Returns the number of rows that leave gaps of the first one free, of at least `wide` ems: at
/// least `least` gaps, and half of the first row's.
fn zone(rows: &[PartRow], least: usize, wide: f64) -> ColumnZone {
    let Some(first) = rows.first() else { return ColumnZone { rows: 0, gaps: Vec::new() } };
    let wide = wide * size(first);
    let inner = first.iter().zip(first.iter().skip(1)).map(|(a, b)| (a.to, b.from));
    let mut gaps: Vec<(f64, f64)> = inner.filter(|(from, to)| to - from >= wide).collect();
    let least = least.max(gaps.len() / 2);
    let mut count = 0;
    let mut before = first;
    for row in rows.iter().take(LINES) {
        // A row narrows a gap from both ends, or splits it.
        let free = |gap: &(f64, f64)| {
            row.iter().filter(|part| part.to > gap.0 && part.from < gap.1).fold(
                vec![*gap],
                |free, part| {
                    let cut = free
                        .into_iter()
                        .flat_map(|(a, b)| [(a, b.min(part.from)), (a.max(part.to), b)]);
                    cut.filter(|(a, b)| b - a >= wide).collect()
                },
            )
        };
        let left: Vec<(f64, f64)> = gaps.iter().flat_map(free).collect();
        let one = left.iter().all(|gap| !both(row, *gap));
        if left.len() < least || one && far(before, row) {
            break;
        }
        gaps = left;
        count += 1;
        before = row;
    }
    ColumnZone { rows: count, gaps }
}

/// Returns true if a row is well below another.
fn far(above: &[LinePart], row: &[LinePart]) -> bool {
    base(row) - base(above) > 2.2 * size(above)
}

/// Returns true if a row has parts on both sides of a gap.
fn both(row: &[LinePart], gap: (f64, f64)) -> bool {
    row.iter().any(|part| part.to <= gap.0 + 0.1) && row.iter().any(|part| part.from >= gap.1 - 0.1)
}

/// Adds the lines of an area.
fn block(parts: Vec<LinePart>, depth: u32, lines: &mut Vec<String>) {
    let rows = rows(parts);
    let mut steps: Vec<f64> =
        rows.iter().zip(rows.iter().skip(1)).map(|(a, b)| base(b) - base(a)).collect();
    steps.sort_by(f64::total_cmp);
    let usual = steps.get(steps.len() / 2).copied().unwrap_or_default();
    let mut before: Option<&PartRow> = None;
    // Rows from `done` to `at` are plain lines.
    let (mut done, mut at) = (0, 0);
    while let Some(rest) = rows.get(at..).filter(|rest| !rest.is_empty()) {
        let columns = zone(rest, 1, GUTTER);
        let gap = if depth < DEPTH { split(rest, &columns) } else { None };
        let table = zone(rest, TABLE_GAPS, CELL);
        if let Some(gap) = gap {
            // One column may begin above the other.
            let mut top = at;
            while top > done
                && let (Some(above), Some(row)) = (rows.get(top - 1), rows.get(top))
                && !far(above, row)
                && above.iter().all(|part| part.to <= gap.0 + 0.1 || part.from >= gap.1 - 0.1)
            {
                top -= 1;
            }
            let end = at + columns.rows;
            plain(rows.get(done..top), &[], (before, usual), lines);
            let whole = rows.get(top..end).unwrap_or_default().iter().flatten().cloned();
            let (left, right) = whole.partition(|part| part.to <= gap.0 + 0.1);
            for side in [left, right] {
                blank(lines);
                block(side, depth + 1, lines);
            }
            (done, at) = (end, end);
        } else if table.rows >= TABLE_ROWS && table.gaps.len() >= TABLE_GAPS {
            let end = at + table.rows;
            plain(rows.get(done..at), &[], (before, usual), lines);
            before = at.checked_sub(1).and_then(|above| rows.get(above));
            plain(rows.get(at..end), &table.gaps, (before, usual), lines);
            (done, at) = (end, end);
        } else {
            at += 1;
            continue;
        }
        before = rows.get(done - 1);
    }
    plain(rows.get(done..), &[], (before, usual), lines);
}

/// Adds rows as lines or table rows. A larger distance than usual, also from the row before, begins
/// a paragraph.
fn plain(
    rows: Option<&[PartRow]>,
    gaps: &[(f64, f64)],
    (mut before, usual): (Option<&PartRow>, f64),
    lines: &mut Vec<String>,
) {
    for row in rows.unwrap_or_default() {
        let step = before.map_or(0.0, |before| base(row) - base(before));
        if step > 1.45 * usual.min(1.7 * size(row)).max(size(row)) {
            blank(lines);
        }
        lines.push(if gaps.is_empty() { line(row) } else { cells(row, gaps) });
        before = Some(row);
    }
}

/// Ends a paragraph.
fn blank(lines: &mut Vec<String>) {
    if lines.last().is_some_and(|line| !line.is_empty()) {
        lines.push(String::new());
    }
}

/// Returns the gap between two columns of text, if the rows have one.
fn split(rows: &[PartRow], zone: &ColumnZone) -> Option<(f64, f64)> {
    let rows = rows.get(..zone.rows)?;
    let fits = |gap: &&(f64, f64)| {
        let count = rows.iter().filter(|row| both(row, **gap)).count();
        let long = |left: bool| -> usize {
            let side = rows.iter().flatten().filter(|part| (part.to <= gap.0 + 0.1) == left);
            side.map(|part| part.text.chars().count()).sum()
        };
        count >= COLUMN_LINES && long(true).min(long(false)) > COLUMN_WIDTH * count
    };
    zone.gaps.iter().find(fits).copied()
}

/// Returns a row of a table.
fn cells(row: &[LinePart], gaps: &[(f64, f64)]) -> String {
    let mut cells: Vec<PartRow> = vec![Vec::new(); gaps.len() + 1];
    for part in row {
        let column = gaps.iter().filter(|gap| part.from >= gap.1 - 0.1).count();
        if let Some(cell) = cells.get_mut(column) {
            cell.push(part.clone());
        }
    }
    let cells: Vec<String> = cells.iter().map(|cell| line(cell)).collect();
    cells.join(" | ").replace("  ", " ").trim_end_matches([' ', '|']).trim_start().to_owned()
}

/// Returns the text of a row.
fn line(row: &[LinePart]) -> String {
    let mut out = String::new();
    let mut before: Option<&LinePart> = None;
    for part in row {
        if let Some(before) = before {
            let gap = (part.from - before.to) / part.size.max(before.size);
            // The space before a character written from right to left is on its right.
            let spaced = part.spaced && !part.text.starts_with(leftward);
            if gap > GUTTER {
                out.push_str("  ");
            } else if spaced || !(-0.5..=SPACE).contains(&gap) {
                out.push(' ');
            }
        }
        out.push_str(&part.text);
        before = Some(part);
    }
    logical(&out)
}

/// Returns the combination of two characters, if one of them is an accent over or under the other.
fn accented(a: char, b: char) -> Option<char> {
    const ACCENTS: &[(char, char)] = &[
        ('`', '\u{300}'),
        ('ˋ', '\u{300}'),
        ('´', '\u{301}'),
        ('ˊ', '\u{301}'),
        ('ˆ', '\u{302}'),
        ('˜', '\u{303}'),
        ('¯', '\u{304}'),
        ('ˉ', '\u{304}'),
        ('˘', '\u{306}'),
        ('˙', '\u{307}'),
        ('¨', '\u{308}'),
        ('˚', '\u{30A}'),
        ('˝', '\u{30B}'),
        ('ˇ', '\u{30C}'),
        ('¸', '\u{327}'),
        ('˛', '\u{328}'),
    ];
    let accent =
        |character| ACCENTS.iter().find(|(own, _)| *own == character).map(|(_, over)| *over);
    let (over, character) = accent(a).map(|over| (over, b)).or_else(|| Some((accent(b)?, a)))?;
    let character = match character {
        'ı' => 'i',
        'ȷ' => 'j',
        character => character,
    };
    let mut whole = [character, over].into_iter().nfc();
    whole.next().filter(|_| whole.next().is_none())
}

/// Returns true for a character written from right to left.
fn leftward(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
        && !character.is_numeric()
}

/// Returns a line in logical order, if part of it is written from right to left.
fn logical(seen: &str) -> String {
    if !seen.contains(leftward) {
        return seen.to_owned();
    }
    let characters: Vec<char> = seen.chars().collect();
    let count = characters.iter().filter(|character| leftward(**character)).count();
    let all = characters.iter().filter(|character| character.is_alphabetic()).count();
    let mirrored = count * 2 >= all;
    // Runs of one direction. Neutral characters follow their neighbours if these agree, or else the
    // line.
    let own = |character: &char| match character {
        character if leftward(*character) => Some(true),
        character if character.is_alphanumeric() => Some(false),
        _ => None,
    };
    let mut runs: Vec<(bool, Vec<char>)> = Vec::new();
    let mut before = mirrored;
    for (at, character) in characters.iter().enumerate() {
        let next = || characters.iter().skip(at).find_map(own).unwrap_or(mirrored);
        let turned =
            own(character).unwrap_or_else(|| if next() == before { before } else { mirrored });
        match runs.last_mut() {
            Some((same, run)) if *same == turned => run.push(*character),
            _ => runs.push((turned, vec![*character])),
        }
        before = turned;
    }
    if mirrored {
        runs.reverse();
    }
    let mirror = |character: char| match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        character => character,
    };
    let turn = |(turned, run): (bool, Vec<char>)| -> String {
        if turned { run.into_iter().rev().map(mirror).collect() } else { run.into_iter().collect() }
    };
    runs.into_iter().map(turn).collect()
}
