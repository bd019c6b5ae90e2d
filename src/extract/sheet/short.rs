//! Records of xlsb (MS-XLSB) that the library does not handle: short cells, which have no column of
//! their own but follow another cell, as SheetJS writes them; and sheets without a target, for
//! which the library panics.

/// The types of records: the beginning of a row, the last of the cells, the short cells, a sheet,
/// and the end of the sheets.
const ROW: u16 = 0;
const CELLS: u16 = 11;
const SHORT: std::ops::RangeInclusive<u16> = 12..=18;
const SHEET: u16 = 156;
const SHEETS_END: u16 = 144;

/// Returns the part of a sheet with its short cells completed. Returns `None` if there is no such
/// cell, or a record is broken.
pub fn widened(part: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::new(), part);
    let (mut column, mut found) = (0_u32, false);
    while !rest.is_empty() {
        let (kind, data, next) = record(rest)?;
        let whole = rest.get(..rest.len() - next.len())?;
        rest = next;
        if SHORT.contains(&kind) {
            found = true;
            out.extend((kind - CELLS).to_le_bytes().first());
            // The column takes four bytes more; the size is written in groups of seven bits.
            let mut left = u32::try_from(data.len()).ok()?.checked_add(4)?;
            while left > 0x7f {
                out.push((left & 0x7f) as u8 | 0x80);
                left >>= 7;
            }
            out.push(left as u8);
            out.extend(column.to_le_bytes());
            out.extend(data);
            column = column.saturating_add(1);
            continue;
        }
        if kind == ROW {
            column = 0;
        } else if kind <= CELLS {
            column = u32::from_le_bytes(*data.first_chunk()?).saturating_add(1);
        }
        out.extend(whole);
    }
    found.then_some(out)
}

/// Returns the relationships that the sheets of a workbook name, or `None` if a record is broken.
pub fn sheet_relations(part: &[u8]) -> Option<Vec<String>> {
    let (mut ids, mut rest) = (Vec::new(), part);
    while !rest.is_empty() {
        let (kind, data, next) = record(rest)?;
        rest = next;
        match kind {
            SHEETS_END => break,
            SHEET => {
                let length = u32::from_le_bytes(*data.get(8..)?.first_chunk()?);
                // A sheet may have no relationship.
                if length != u32::MAX {
                    let id = data.get(12..)?.get(..(length as usize).checked_mul(2)?)?;
                    let id = id.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair));
                    ids.push(char::decode_utf16(id).collect::<Result<_, _>>().ok()?);
                }
            }
            _ => {}
        }
    }
    Some(ids)
}

/// Returns the type and data of the first record, and the bytes after it.
fn record(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (kind, rest) = number(bytes, 2)?;
    let (size, rest) = number(rest, 4)?;
    let (data, next) = rest.split_at_checked(size as usize)?;
    Some((u16::try_from(kind).ok()?, data, next))
}

/// Reads a number of up to `most` bytes with seven bits each.
fn number(bytes: &[u8], most: usize) -> Option<(u32, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().take(most).enumerate() {
        number |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 || at + 1 == most {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}
