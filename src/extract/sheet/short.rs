//! Short cells of xlsb (MS-XLSB): those beside another cell, without a column of their own, as
//! SheetJS writes them. The library passes over them, so they are made whole for it.

/// The kinds of records: the beginning of a row, the last of the cells, and the short ones.
const ROW: u16 = 0;
const CELLS: u16 = 11;
const SHORT: std::ops::RangeInclusive<u16> = 12..=18;

/// Returns the part of a sheet with its short cells made whole; `None` if it has none, or is broken.
pub fn widened(part: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::new(), part);
    let (mut column, mut found) = (0_u32, false);
    while !rest.is_empty() {
        let (kind, behind) = number(rest, 2)?;
        let (size, behind) = number(behind, 4)?;
        let (data, next) = behind.split_at_checked(size as usize)?;
        let whole = rest.get(..rest.len() - next.len())?;
        rest = next;
        let kind = u16::try_from(kind).ok()?;
        if SHORT.contains(&kind) {
            found = true;
            out.extend((kind - CELLS).to_le_bytes().first());
            let mut left = size.checked_add(4)?;
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

/// Returns the relations that the sheets of a workbook name; `None` if a record of them is broken.
pub fn named(part: &[u8]) -> Option<Vec<String>> {
    const SHEET: u32 = 156;
    const NONE: u32 = u32::MAX;
    let (mut ids, mut rest) = (Vec::new(), part);
    while !rest.is_empty() {
        let (kind, behind) = number(rest, 2)?;
        let (size, behind) = number(behind, 4)?;
        let (data, next) = behind.split_at_checked(size as usize)?;
        rest = next;
        if kind == SHEET {
            let length = u32::from_le_bytes(*data.get(8..)?.first_chunk()?);
            if length != NONE {
                let id = data.get(12..)?.get(..(length as usize).checked_mul(2)?)?;
                let id: Vec<u16> =
                    id.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
                ids.push(String::from_utf16_lossy(&id));
            }
        }
    }
    Some(ids)
}

/// Reads a number of at most so many bytes, seven bits each.
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
