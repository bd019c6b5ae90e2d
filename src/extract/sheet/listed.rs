//! The list of a workbook's sheets, and the choice of the sheets that are emitted.

use super::heading::SheetGrid;
use crate::{ContentBlock, Finding, OutputSink, ROWS, ReadFailure, SheetBlock, StopReason};

/// Maximum sheets in one call.
const SHEETS: usize = 50;

/// A sheet in the list of a workbook.
pub struct ListedSheet {
    /// Its name.
    pub name: String,
    /// True if people do not see it.
    pub hidden: bool,
}

/// Emits the requested sheets: the named one, or all of them if they have at most [`ROWS`] rows
/// together, or the first visible one with rows.
///
/// `sheet` reads the sheet with an index into a grid.
pub fn give(
    listed: &[ListedSheet],
    out: &mut OutputSink<'_>,
    mut sheet: impl FnMut(usize, &mut SheetGrid) -> Result<(), ReadFailure>,
) -> Result<(), StopReason> {
    let page = out.request.page.max(1);
    if let Some(asked) = out.request.sheet.as_deref() {
        let plain = |name: &str| name.trim().to_lowercase();
        // A name takes precedence, as a sheet may be named "2".
        let named = |(_, listed): &(usize, &ListedSheet)| plain(&listed.name) == plain(asked);
        let numbered = || asked.trim().parse::<usize>().ok()?.checked_sub(1);
        let found = listed.iter().enumerate().find(named).map(|(index, _)| index).or_else(numbered);
        let Some((index, one)) = found.and_then(|index| Some((index, listed.get(index)?))) else {
            let names = listed.iter().map(|one| one.name.clone());
            return Err(ReadFailure::NoSuchSheet(names.collect()).into());
        };
        let mut grid = SheetGrid::new(page);
        sheet(index, &mut grid)?;
        return out.block(ContentBlock::Sheet(grid.block(&one.name, one.hidden)?));
    }
    let mut blocks: Vec<SheetBlock> = Vec::new();
    let mut others: Vec<(String, u64)> = Vec::new();
    let mut total = 0;
    for (index, one) in listed.iter().enumerate() {
        // Rows of sheets that will not be emitted are only counted.
        let mut grid = SheetGrid::new(if one.hidden || total > ROWS as u64 { 0 } else { page });
        sheet(index, &mut grid)?;
        let rows = grid.rows();
        if one.hidden {
            if rows > 0 {
                out.find(Finding::HiddenSheet { name: one.name.clone(), rows });
            }
            if grid.orders() {
                out.find(Finding::Order);
            }
            continue;
        }
        if grid.is_empty() {
            continue;
        }
        total += rows;
        if total > ROWS as u64 && !blocks.is_empty() || blocks.len() >= SHEETS {
            others.push((one.name.clone(), rows));
        } else if page == 1 || blocks.is_empty() {
            blocks.push(grid.block(&one.name, one.hidden)?);
        } else {
            others.push((one.name.clone(), rows));
        }
    }
    // The sheets before the limit was exceeded are listed like the others, except for the first.
    if total > ROWS as u64 {
        let more = blocks.drain(1.min(blocks.len())..).map(|block| (block.name, block.of.of));
        let more: Vec<(String, u64)> = more.collect();
        others.splice(0..0, more);
    }
    if !others.is_empty() {
        out.find(Finding::Sheets(others));
    }
    if blocks.is_empty() {
        return Err(ReadFailure::Empty.into());
    }
    blocks.into_iter().try_for_each(|block| out.block(ContentBlock::Sheet(block)))
}
