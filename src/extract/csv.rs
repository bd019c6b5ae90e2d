//! Tables as text: CSV and TSV, with detection of the delimiter.

use std::collections::HashSet;

use csv::{ReaderBuilder, StringRecord};

use crate::{
    BlockSpan, CELLS, CellValue, ContentBlock, FileKind, OutputSink, PartUnit, ROWS, ReadFailure,
    SheetBlock, StopReason, plain,
};

/// The delimiters that are tried, most common first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Records that decide on the delimiter and the headings.
const TRIED: usize = 30;
/// Digits that every JSON reader keeps; longer numbers are ids.
const DIGITS: usize = 15;
/// The longest heading, in characters.
const HEADING: usize = 60;

/// Maximum bytes of the cells of a page. Cells of a longer row are cut.
const BYTES: usize = 768 << 10;

/// A row: its number in the file, and its cells.
type CsvRow = (u32, Vec<CellValue>);

/// Reads a CSV or TSV file.
pub fn read(kind: FileKind, bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let text = plain::decoded(bytes, out);
    // Excel states the delimiter in a first line of its own (`sep=;`).
    let (stated, text) = match text.strip_prefix("sep=").and_then(|rest| rest.split_once('\n')) {
        Some((mark, rest)) => (mark.bytes().next(), rest),
        None => (None, text.as_str()),
    };
    let usual = if kind == FileKind::Tsv { b'\t' } else { b',' };
    let delimiter = stated.unwrap_or_else(|| delimiter(text, usual));
    let head: Vec<_> = records(text, delimiter).map(|(_, record)| record).take(TRIED).collect();
    let Some((before, mut columns)) = headings(&head) else {
        return Err(ReadFailure::Empty.into());
    };
    let above = before.len() + usize::from(!columns.is_empty());
    let all = records(text, delimiter).skip(above);
    let (mut rows, of) = page(all, out.request.page)?;
    let width = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    // Rows may be wider than the headings; these columns get letters, as in a sheet.
    for at in columns.len()..width {
        columns.push(lettered(at));
    }
    for (_, cells) in &mut rows {
        cells.resize(columns.len(), CellValue::Null);
    }
    let before = if of.first <= 1 { before } else { Vec::new() };
    out.block(ContentBlock::Sheet(SheetBlock {
        name: String::new(),
        hidden: false,
        before,
        columns,
        rows,
        after: Vec::new(),
        of,
        findings: Vec::new(),
    }))
}

/// Returns the records with a filled cell, each with its record number.
fn records(text: &str, delimiter: u8) -> impl Iterator<Item = (u32, StringRecord)> {
    let mut options = ReaderBuilder::new();
    let options = options.has_headers(false).flexible(true).delimiter(delimiter);
    // A string in memory is valid UTF-8 and free of I/O errors, so no record fails.
    let records = options.from_reader(text.as_bytes()).into_records().map_while(Result::ok);
    let numbered = records.zip(1..).map(|(record, number)| (number, record));
    numbered.filter(|(_, record)| record.iter().any(is_filled))
}

fn is_filled(cell: &str) -> bool {
    !cell.trim().is_empty()
}

/// Returns the delimiter that splits most records into the same number of cells.
fn delimiter(text: &str, usual: u8) -> u8 {
    let fits = |delimiter: u8| {
        let widths: Vec<usize> =
            records(text, delimiter).take(TRIED).map(|(_, record)| record.len()).collect();
        let same = |width: usize| widths.iter().filter(|one| **one == width).count();
        let best = widths.iter().filter(|width| **width > 1).max_by_key(|width| same(**width));
        (best.map_or(0, |width| same(*width)), delimiter == usual)
    };
    let tried = DELIMITERS.into_iter().map(|delimiter| (fits(delimiter), delimiter));
    // `max_by_key` returns the last maximum: reversed, ties go to the more common delimiter.
    let best = tried.rev().max_by_key(|(fit, _)| *fit).filter(|((fit, _), _)| *fit > 0);
    best.map_or(usual, |(_, delimiter)| delimiter)
}

/// Returns the lines above the table and its headings, which are empty if the table has no such
/// row. Returns `None` if there are no records.
///
/// Headings fill at least three quarters as many cells as most records, as in sheets. Lines above
/// them may have several cells, too, such as a name with a colon and an account number.
fn headings(head: &[StringRecord]) -> Option<(Vec<String>, Vec<String>)> {
    head.first()?;
    let widths: Vec<usize> = head.iter().map(filled).collect();
    let often = |width: &&usize| (widths.iter().filter(|one| one == width).count(), **width);
    let usual = widths.iter().max_by_key(often).copied().unwrap_or_default();
    let wide = |record: &StringRecord| filled(record) > 1;
    let stated = |record: &StringRecord| {
        let is_name = |cell: &str| cell.trim().ends_with(':');
        record.iter().any(|cell| is_name(cell) || cell.contains(|c: char| c.is_ascii_digit()))
    };
    let begins = |record: &StringRecord| {
        wide(record) && (filled(record) * 4 >= usual * 3 || !stated(record))
    };
    let found = head.iter().position(begins).map(|at| read_headings(head, Some(at)));
    if let Some((above, Some(names))) = found {
        return Some((above, names));
    }
    let (above, names) = read_headings(head, head.iter().position(wide));
    Some((above, names.unwrap_or_default()))
}

fn filled(record: &StringRecord) -> usize {
    record.iter().filter(|cell| is_filled(cell)).count()
}

/// Returns the lines above the record at this position and, if that record is a row of headings,
/// its names. Without a position, no record has several cells and the first one is tried.
fn read_headings(head: &[StringRecord], at: Option<usize>) -> (Vec<String>, Option<Vec<String>>) {
    let (above, table) = head.split_at(at.unwrap_or(0));
    let above = above.iter().map(|record| {
        record.iter().map(str::trim).filter(|cell| is_filled(cell)).collect::<Vec<_>>().join(" ")
    });
    let above = above.collect();
    let Some(first) = table.first() else { return (above, None) };
    let next = table.get(1);
    let mut seen = HashSet::new();
    let names = |cell: &str| {
        !is_no_text(cell)
            && cell.chars().count() <= HEADING
            && seen.insert(cell.trim().to_lowercase())
    };
    let plain = first.iter().filter(|cell| is_filled(cell)).all(names);
    // A column of words alone has no heading; words above numbers are a heading.
    let heads = match at {
        Some(_) => next.is_some_and(|next| next.len() >= filled(first)),
        None => next.and_then(|next| next.get(0)).is_some_and(is_no_text),
    };
    if !plain || !heads {
        return (above, None);
    }
    let name = |(at, cell): (usize, &str)| match cell.trim() {
        "" => lettered(at),
        name => name.to_owned(),
    };
    (above, Some(first.iter().enumerate().map(name).collect()))
}

/// Returns the rows of a page: 1,000, or as many as one call allows.
fn page(
    all: impl Iterator<Item = (u32, StringRecord)>,
    page: u32,
) -> Result<(Vec<CsvRow>, BlockSpan), ReadFailure> {
    let (mut at, mut rows, mut widest, mut size) = (1_u32, Vec::new(), 0, 0);
    let (mut on_page, mut count, mut first) = (0_usize, 0_u64, 0);
    for (number, record) in all {
        let (wide, long) = (record.len(), record.as_slice().len() + record.len());
        // All rows of a page are padded to the widest one.
        let cells = (on_page + 1) * wide.max(widest);
        let full = on_page >= ROWS || cells > CELLS || size + long > BYTES;
        if full && on_page > 0 {
            (at, on_page, widest, size) = (at.saturating_add(1), 0, 0, 0);
        }
        (on_page, widest, size) = (on_page + 1, wide.max(widest), size + long);
        count += 1;
        if at == page {
            first = if rows.is_empty() { count } else { first };
            // A row that alone exceeds the page shares the limit equally among its cells.
            let room = if long > BYTES { BYTES / wide.max(1) } else { usize::MAX };
            let cut = |cell: &str| value(cell.split_at(cell.floor_char_boundary(room)).0);
            rows.push((number, record.iter().map(cut).collect()));
        }
    }
    if page > at || page == 0 {
        return Err(ReadFailure::NoSuchPage(at.into()));
    }
    let last = (first + rows.len() as u64).saturating_sub(1);
    let next = page.checked_add(1).filter(|_| last < count);
    Ok((rows, BlockSpan { unit: PartUnit::Row, first, last, of: count, next }))
}

/// Returns a cell as a number if it is written in JSON's notation.
fn value(cell: &str) -> CellValue {
    let cell = cell.trim();
    let bare = cell.strip_prefix('-').unwrap_or(cell);
    let (whole, part) = bare.split_once('.').unwrap_or((bare, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = digits(whole)
        && digits(part)
        && (whole == "0" || !whole.starts_with('0'))
        && bare.len() <= DIGITS;
    match cell {
        "" => CellValue::Null,
        cell if is_number => CellValue::Number(cell.to_owned()),
        cell => CellValue::Text(cell.to_owned()),
    }
}

fn is_no_text(cell: &str) -> bool {
    !matches!(value(cell), CellValue::Text(_))
}

/// Returns the name of a column by its index: A, B, …, Z, AA.
fn lettered(at: usize) -> String {
    let (mut name, mut rest) = (String::new(), at + 1);
    while let Some(left) = rest.checked_sub(1) {
        name.insert(0, char::from(b'A' + u8::try_from(left % 26).unwrap_or(0)));
        rest = left / 26;
    }
    name
}
