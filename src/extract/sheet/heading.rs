//! Rows of cells as a table: which of them are headings, and which columns share a unit.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::number::{self, NumberFormat};
use super::{ListedSheet, column};
use crate::story::OmissionTally;
use crate::{
    BlockSpan, CELLS, CellValue, Finding, HiddenUnit, HidingMethod, PartUnit, PieceMark, ROWS,
    ReadFailure, SheetBlock, TextPiece,
};

/// Rows among which the table may begin.
const HEAD: usize = 20;
/// Characters of a heading.
const LONG: usize = 60;
/// Bytes that the cells of a page have.
const BYTES: usize = 768 << 10;

/// A cell that people see something in.
#[derive(Debug, Clone, PartialEq)]
pub enum HeadingCell {
    /// Text, also that of dates and errors.
    Text(String),
    /// True or false.
    Flag(bool),
    /// A number, and what it stands for.
    Number(f64, NumberFormat),
}

/// A part of a sheet: its first and last column, its first and last row.
pub type CellRange = (u32, u32, u32, u32);

/// A row: its number in the sheet, and its cells by their columns.
type GridRow = (u32, Vec<(u32, HeadingCell)>);

/// A sheet that is being read, row by row. Only the rows of one page are kept.
#[derive(Default)]
pub struct SheetGrid {
    /// The page that is asked for; 0 if rows are only counted.
    page: u32,
    /// The first rows, until it is known which of them is the heading.
    head: Option<Vec<GridRow>>,
    before: Vec<String>,
    heading: Option<Vec<(u32, HeadingCell)>>,
    /// Each column that has cells: the format that all its numbers share, if they do.
    columns: BTreeMap<u32, Option<Option<NumberFormat>>>,
    kept: Vec<GridRow>,
    total: u64,
    /// The first row of the page.
    first: u64,
    gaps: bool,
    previous: Option<u32>,
    /// The page that is filled now, its rows and bytes so far, and the columns they need.
    now: (u32, usize, usize),
    needed: BTreeSet<u32>,
    /// Cells that were cut, in rows that are longer than a page.
    cut: u64,
    hidden: BTreeMap<HidingMethod, u64>,
    columns_hidden: BTreeSet<u32>,
    /// Merged areas from top to bottom, how many have begun at the last row, and those of them
    /// that have not ended.
    merged: Vec<CellRange>,
    begun: usize,
    open: Vec<CellRange>,
    at: u32,
    /// Text that people do not see.
    pub tally: OmissionTally,
    /// Formulas without a stored result.
    pub no_result: u64,
    /// Comments: where, by whom, and what.
    pub comments: Vec<(String, String, String)>,
    /// Text that lies on the sheet.
    pub shapes: String,
    /// True if it cannot be known what is hidden.
    pub unknown: bool,
}

impl SheetGrid {
    /// Returns an empty one, to be filled with the rows of a page.
    pub fn new(page: u32) -> Self {
        Self { page, head: Some(Vec::new()), now: (1, 0, 0), ..Self::default() }
    }

    /// Takes the merged areas, before the rows: each shows its first cell alone.
    pub fn merge(&mut self, mut areas: Vec<CellRange>) {
        areas.sort_by_key(|area| area.2);
        self.merged = areas;
    }

    /// Finds the merged areas that a row is part of.
    fn enter(&mut self, row: u32) {
        if std::mem::replace(&mut self.at, row) > row {
            // Rows come in order, but for files that are made to confuse.
            (self.begun, self.open) = (0, Vec::new());
        }
        while let Some(area) = self.merged.get(self.begun).filter(|area| area.2 <= row) {
            self.open.push(*area);
            self.begun += 1;
        }
        self.open.retain(|area| area.3 >= row);
    }

    /// Adds a row with its visible cells, by their columns in order.
    pub fn row(&mut self, row: u32, mut cells: Vec<(u32, HeadingCell)>) {
        self.enter(row);
        let covered = |(left, right, top, _): &CellRange, column: u32| {
            (*left..=*right).contains(&column) && (column, row) != (*left, *top)
        };
        let is_covered = |(column, _): &mut (u32, HeadingCell)| {
            self.open.iter().any(|area| covered(area, *column))
        };
        let unseen: Vec<(u32, HeadingCell)> = cells.extract_if(.., is_covered).collect();
        self.hide(HidingMethod::Covered, &unseen);
        if cells.is_empty() {
            return;
        }
        let Some(head) = &mut self.head else { return self.data((row, cells)) };
        head.push((row, cells));
        let wide = head.iter().position(|(_, cells)| cells.len() > 1);
        if wide.map_or(head.len() >= HEAD, |wide| wide + 1 < head.len()) {
            self.begin();
        }
    }

    /// Counts cells, rows or other things that people do not see, and keeps their text.
    pub fn hide(&mut self, how: HidingMethod, cells: &[(u32, HeadingCell)]) {
        if cells.is_empty() {
            return;
        }
        match how {
            HidingMethod::Column => {
                self.columns_hidden.extend(cells.iter().map(|(column, _)| *column))
            }
            HidingMethod::Row | HidingMethod::Filtered => *self.hidden.entry(how).or_default() += 1,
            _ => *self.hidden.entry(how).or_default() += cells.len() as u64,
        }
        self.keep(cells);
    }

    /// Keeps hidden text to see whether it gives orders.
    fn keep(&mut self, cells: &[(u32, HeadingCell)]) {
        for (_, cell) in cells {
            if let HeadingCell::Text(text) = cell {
                self.tally.keep(text);
                self.tally.paragraph();
            }
        }
    }

    /// Returns how many rows the table has.
    pub fn rows(&mut self) -> u64 {
        self.begin();
        self.total
    }

    /// Returns true if there is nothing to show or to tell.
    pub fn is_empty(&self) -> bool {
        let nothing =
            self.hidden.is_empty() && self.columns_hidden.is_empty() && self.tally.is_empty();
        self.total == 0
            && self.before.is_empty()
            && self.shapes.is_empty()
            && self.comments.is_empty()
            && nothing
    }

    /// Returns true if what is hidden, or all of a hidden sheet, gives orders.
    pub fn orders(&self) -> bool {
        self.tally.orders()
    }

    /// Finds where the table begins, and whether it begins with headings.
    fn begin(&mut self) {
        let Some(head) = self.head.take() else { return };
        let wide = head.iter().position(|(_, cells)| cells.len() > 1);
        let mut rows = head.into_iter();
        if let Some(wide) = wide {
            let before: Vec<GridRow> = rows.by_ref().take(wide).collect();
            let texts = before.into_iter().flat_map(|(_, cells)| cells);
            self.before = texts.map(|(_, cell)| shown(&cell)).collect();
        }
        let rows: Vec<GridRow> = rows.collect();
        let mut rows = rows.into_iter().peekable();
        if wide.is_some()
            && let Some((number, first)) = rows.next()
        {
            match rows.peek() {
                Some((_, second)) if heads(&first, second) => {
                    // A heading stays where nothing stands below it.
                    let columns = first.iter().map(|(column, _)| (*column, None));
                    self.columns.extend(columns);
                    self.heading = Some(first);
                }
                _ => self.data((number, first)),
            }
        }
        rows.for_each(|row| self.data(row));
    }

    /// Takes a row of the table.
    fn data(&mut self, mut row: GridRow) {
        if self.page == 0 {
            self.keep(&row.1);
        }
        self.total += 1;
        self.gaps |= self.previous.is_some_and(|previous| row.0 != previous.saturating_add(1));
        self.previous = Some(row.0);
        for (column, cell) in &row.1 {
            let shared = self.columns.entry(*column).or_default();
            if let HeadingCell::Number(_, format) = cell {
                match shared {
                    None => *shared = Some(Some(format.clone())),
                    Some(Some(same)) if same == format => {}
                    Some(mixed) => *mixed = None,
                }
            }
        }
        let size =
            |row: &GridRow| row.1.iter().map(|(_, cell)| shown(cell).len() + 1).sum::<usize>();
        if size(&row) > BYTES {
            let room = BYTES / row.1.len().max(1);
            for (_, cell) in &mut row.1 {
                if let HeadingCell::Text(text) = cell
                    && text.len() > room
                {
                    text.truncate(text.floor_char_boundary(room));
                    self.cut += 1;
                }
            }
        }
        let size = size(&row);
        let (page, rows, bytes) = &mut self.now;
        let columns = || row.1.iter().map(|(column, _)| *column);
        let wide = self.needed.len() + columns().filter(|one| !self.needed.contains(one)).count();
        if *rows == ROWS || (*rows > 0 && (*bytes + size > BYTES || (*rows + 1) * wide > CELLS)) {
            (*page, *rows, *bytes) = (*page + 1, 0, 0);
            self.needed.clear();
        }
        self.needed.extend(columns());
        *rows += 1;
        *bytes += size;
        if *page == self.page {
            if self.kept.is_empty() {
                self.first = self.total;
            }
            self.kept.push(row);
        }
    }

    /// Returns the page that was asked for.
    ///
    /// Fails with [`ReadFailure::NoSuchPage`].
    pub fn block(mut self, listed: &ListedSheet) -> Result<SheetBlock, ReadFailure> {
        self.begin();
        if self.kept.is_empty() && self.page > 1 {
            return Err(ReadFailure::NoSuchPage(u64::from(self.now.0)));
        }
        let heading: BTreeMap<u32, HeadingCell> =
            self.heading.take().into_iter().flatten().collect();
        // Columns of other pages are none of this one.
        let kept = self.kept.iter().flat_map(|(_, cells)| cells).map(|(column, _)| *column);
        let needed: BTreeSet<u32> = kept.chain(heading.keys().copied()).collect();
        let shared = needed
            .into_iter()
            .map(|column| (column, self.columns.get(&column).cloned().flatten().flatten()));
        let shared: BTreeMap<u32, Option<NumberFormat>> = shared.collect();
        let mut names: HashMap<String, u32> = HashMap::new();
        let mut columns: Vec<String> = Vec::new();
        if self.gaps {
            names.insert("row".to_owned(), 1);
            columns.push("row".to_owned());
        }
        for (index, format) in &shared {
            let own = heading.get(index).map(shown).filter(|name| !name.is_empty());
            let mut name = own.unwrap_or_else(|| column(*index));
            let unit = match format {
                Some(NumberFormat::Percent) => "%",
                Some(NumberFormat::Unit(unit)) => unit,
                _ => "",
            };
            if !unit.is_empty() && !name.contains(unit) {
                name = format!("{name} ({unit})");
            }
            let count = names.entry(name.clone()).or_insert(0);
            *count += 1;
            columns.push(if *count == 1 { name } else { format!("{name}_{count}") });
        }
        let rows: Vec<(u32, Vec<CellValue>)> = self
            .kept
            .drain(..)
            .map(|(number, cells)| {
                let mut cells: BTreeMap<u32, HeadingCell> = cells.into_iter().collect();
                let row = self.gaps.then(|| CellValue::Number(number.to_string()));
                let values = shared.iter().map(|(index, format)| {
                    cells
                        .remove(index)
                        .map_or(CellValue::Null, |cell| value(cell, format.is_some()))
                });
                (number, row.into_iter().chain(values).collect())
            })
            .collect();
        let last = (self.first + rows.len() as u64).saturating_sub(1);
        let next = (last < self.total).then_some(self.page + 1);
        let of = BlockSpan { unit: PartUnit::Row, first: self.first, last, of: self.total, next };
        let after = self.after();
        Ok(SheetBlock {
            name: listed.name.clone(),
            hidden: listed.hidden,
            before: std::mem::take(&mut self.before),
            columns,
            rows,
            after,
            of,
            findings: self.findings(),
        })
    }

    /// Returns what lies on the sheet, and the comments.
    fn after(&mut self) -> Vec<TextPiece> {
        let mut pieces = Vec::new();
        if !self.shapes.trim().is_empty() {
            pieces.push(TextPiece::Text(std::mem::take(&mut self.shapes)));
        }
        if !self.comments.is_empty() {
            pieces.push(TextPiece::Mark(PieceMark::Comments(self.comments.len() as u32)));
        }
        for (place, author, text) in self.comments.drain(..) {
            pieces.push(TextPiece::Mark(PieceMark::Comment { author }));
            pieces.push(TextPiece::Text(format!("{place}: {}\n", text.trim())));
        }
        pieces
    }

    fn findings(&mut self) -> Vec<Finding> {
        let of = |how| {
            if matches!(how, HidingMethod::Row | HidingMethod::Filtered) {
                HiddenUnit::Rows
            } else {
                HiddenUnit::Cells
            }
        };
        let hidden = |(how, count): (&HidingMethod, &u64)| Finding::Hidden {
            how: *how,
            count: *count,
            of: of(*how),
        };
        let mut findings: Vec<Finding> = self.hidden.iter().map(hidden).collect();
        let count = self.columns_hidden.len() as u64;
        if count > 0 {
            findings.push(Finding::Hidden {
                how: HidingMethod::Column,
                count,
                of: HiddenUnit::Columns,
            });
        }
        if self.cut > 0 {
            findings.push(Finding::CutCells(self.cut));
        }
        if self.no_result > 0 {
            findings.push(Finding::NoResult(self.no_result));
        }
        if self.unknown {
            findings.push(Finding::HiddenUnknown);
        }
        findings.extend(std::mem::take(&mut self.tally).findings());
        findings
    }
}

/// Returns true if a row is one of headings: short texts, or years behind a text, above a row
/// that is hardly wider.
fn heads(first: &[(u32, HeadingCell)], second: &[(u32, HeadingCell)]) -> bool {
    let text = |cell: &HeadingCell| match cell {
        HeadingCell::Text(text) => !text.is_empty() && text.chars().count() <= LONG,
        HeadingCell::Number(value, NumberFormat::Plain) => {
            value.fract() == 0.0 && (1900.0..2100.0).contains(value)
        }
        _ => false,
    };
    let texts = first.iter().filter(|(_, cell)| matches!(cell, HeadingCell::Text(_))).count();
    let below = second.iter().filter(|(column, _)| first.iter().any(|(own, _)| own == column));
    texts > 0
        && first.iter().all(|(_, cell)| text(cell))
        && below.count() * 4 >= second.len() * 3
        && {
            // A row of years is data if the next one is, too.
            texts == first.len()
                || first.iter().zip(second).any(|((_, one), (_, other))| one != other)
        }
}

/// Returns what a cell shows, when it stands alone.
fn shown(cell: &HeadingCell) -> String {
    match cell {
        HeadingCell::Text(text) => text.clone(),
        HeadingCell::Flag(flag) => flag.to_string(),
        HeadingCell::Number(number, format) => match format {
            NumberFormat::Percent => format!("{}%", number::number(number * 100.0)),
            NumberFormat::Unit(unit) => format!("{} {unit}", number::number(*number)),
            _ => number::number(*number),
        },
    }
}

/// Returns the value of a cell, in a column whose numbers share their format or not.
fn value(cell: HeadingCell, shared: bool) -> CellValue {
    match cell {
        HeadingCell::Flag(flag) => CellValue::Flag(flag),
        HeadingCell::Number(number, NumberFormat::Percent) if shared => {
            CellValue::Number(number::number(number * 100.0))
        }
        HeadingCell::Number(number, NumberFormat::Unit(_)) if shared => {
            CellValue::Number(number::number(number))
        }
        HeadingCell::Number(number, NumberFormat::Plain) => {
            CellValue::Number(number::number(number))
        }
        other => CellValue::Text(shown(&other)),
    }
}
