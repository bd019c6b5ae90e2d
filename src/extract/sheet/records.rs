//! Hidden rows and columns of an xls workbook, read from the records of its stream (MS-XLS),
//! because the library for its cells does not report them. A damaged record ends its sheet.

use std::collections::HashSet;
use std::io::Read;

use crate::{UNPACKED, compound};

const END: u16 = 0x000a;
const BEGIN: u16 = 0x0809;
const COLUMNS: u16 = 0x007d;
const SHEET: u16 = 0x0085;
const FILTER: u16 = 0x009b;
const ROW: u16 = 0x0208;

/// The hidden parts of a sheet.
#[derive(Debug, Default)]
pub struct HiddenParts {
    /// Rows, from 1.
    pub rows: HashSet<u32>,
    /// Runs of columns: first and last one, from 0.
    pub columns: Vec<(u32, u32)>,
    /// True if a filter hides rows.
    pub filter: bool,
}

/// Returns the hidden parts of each worksheet in order, or `None` if the stream is missing.
pub fn unseen(bytes: &[u8]) -> Option<Vec<HiddenParts>> {
    let mut file = compound::open(bytes).ok()?;
    let name = ["/Workbook", "/Book"].into_iter().find(|name| file.exists(name))?;
    let mut stream = Vec::new();
    file.open_stream(name).ok()?.take(UNPACKED).read_to_end(&mut stream).ok()?;
    let worksheets =
        records(&stream).filter(|(kind, data)| *kind == SHEET && data.get(5) == Some(&0));
    let offsets =
        worksheets.filter_map(|(_, data)| data.first_chunk().copied().map(u32::from_le_bytes));
    Some(offsets.map(|offset| sheet(stream.get(offset as usize..).unwrap_or_default())).collect())
}

/// Returns the records of a part of a workbook, to its end. Records of embedded parts are masked.
fn records(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut depth = 0_u32;
    std::iter::from_fn(move || {
        let (head, behind) = rest.split_first_chunk::<4>()?;
        let [kind, more, low, high] = *head;
        let (data, next) = behind.split_at_checked(u16::from_le_bytes([low, high]).into())?;
        rest = next;
        let kind = u16::from_le_bytes([kind, more]);
        match kind {
            BEGIN => depth += 1,
            END => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth > 0).then_some((if depth == 1 { kind } else { BEGIN }, data))
    })
}

/// Reads a sheet.
fn sheet(stream: &[u8]) -> HiddenParts {
    let mut unseen = HiddenParts::default();
    for (kind, data) in records(stream) {
        let number = |at: usize| {
            let bytes = data.get(at..).and_then(|bytes| bytes.first_chunk().copied());
            bytes.map_or(0, |bytes| u32::from(u16::from_le_bytes(bytes)))
        };
        match kind {
            // `fDyZero` of `Row`; `fHidden` and the width of `ColInfo`.
            ROW if number(12) & 0x20 != 0 => drop(unseen.rows.insert(number(0) + 1)),
            COLUMNS if number(8) & 1 != 0 || number(4) == 0 => {
                unseen.columns.push((number(0), number(2)));
            }
            FILTER => unseen.filter = true,
            _ => {}
        }
    }
    unseen
}
