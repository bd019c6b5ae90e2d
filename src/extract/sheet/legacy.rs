//! Workbooks in the binary formats: xls and xlsb.

use daysheet_core::text::visibility::HidingMethod;
use std::borrow::Cow;
use std::io::{Cursor, Write};

use calamine::{Data, Dimensions, Reader, SheetType, SheetVisible, Xls, XlsError, Xlsb, XlsbError};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::heading::HeadingCell;
use super::listed::{ListedSheet, give};
use super::number::{self, NumberFormat};
use super::records;
use super::short::{sheet_relations, widened};
use crate::package::OpenPackage;
use crate::{FileKind, OutputSink, ReadFailure, StopReason};

/// Reads a workbook.
pub fn read(kind: FileKind, bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    if kind == FileKind::Xls {
        let mut book = Xls::new(Cursor::new(bytes)).map_err(|error| match error {
            XlsError::Password => ReadFailure::Encrypted,
            _ => ReadFailure::Broken,
        })?;
        let listed = listed(book.sheets_metadata());
        let old = book.has_1904_epoch();
        let unseen = records::unseen(bytes).unwrap_or_default();
        return give(&listed, out, |index, grid| {
            let name = listed.get(index).map(|one| one.name.as_str()).unwrap_or_default();
            let range = book.worksheet_range(name).map_err(|_| ReadFailure::Broken)?;
            let merged = book.merge_cells_by_sheet_name(name).unwrap_or_default();
            let area =
                |area: &Dimensions| (area.start.1, area.end.1, area.start.0 + 1, area.end.0 + 1);
            grid.merge(merged.iter().map(area).collect());
            let (top, left) = range.start().unwrap_or_default();
            for (number, cells) in (top + 1..).zip(range.rows()) {
                let cells = (left..).zip(cells);
                let cells = cells.filter_map(|(column, data)| Some((column, cell(data, old)?)));
                let mut cells: Vec<(u32, HeadingCell)> = cells.collect();
                let Some(unseen) = unseen.get(index) else {
                    grid.row(number, cells);
                    continue;
                };
                if unseen.rows.contains(&number) {
                    grid.hide(
                        if unseen.filter { HidingMethod::Filtered } else { HidingMethod::Row },
                        &cells,
                    );
                    continue;
                }
                let within =
                    |column| move |(first, last): &(u32, u32)| (*first..=*last).contains(&column);
                let hidden = |(column, _): &mut (u32, HeadingCell)| {
                    unseen.columns.iter().any(within(*column))
                };
                grid.hide(HidingMethod::Column, &cells.extract_if(.., hidden).collect::<Vec<_>>());
                grid.row(number, cells);
            }
            grid.unknown = unseen.get(index).is_none();
            Ok(())
        });
    }
    let mut book = Xlsb::new(Cursor::new(whole(bytes)?)).map_err(|error| match error {
        XlsbError::Password => ReadFailure::Encrypted,
        _ => ReadFailure::Broken,
    })?;
    let listed = listed(book.sheets_metadata());
    let old = book.has_1904_epoch();
    give(&listed, out, |index, grid| {
        let name = listed.get(index).map(|one| one.name.as_str()).unwrap_or_default();
        let mut reader = book.worksheet_cells_reader(name).map_err(|_| ReadFailure::Broken)?;
        let mut row = (0, Vec::new());
        while let Some(found) = reader.next_cell().map_err(|_| ReadFailure::Broken)? {
            let (number, column) = found.get_position();
            if number != row.0 {
                grid.row(row.0 + 1, std::mem::take(&mut row.1));
                row.0 = number;
            }
            row.1.extend(cell(&found.get_value().clone().into(), old).map(|cell| (column, cell)));
        }
        grid.row(row.0 + 1, row.1);
        grid.unknown = true;
        Ok(())
    })
}

/// Returns a workbook whose cells are complete. The library unpacks without a limit, so all parts
/// are unpacked here first, within ours.
fn whole(bytes: &[u8]) -> Result<Cow<'_, [u8]>, ReadFailure> {
    let mut package = OpenPackage::open(bytes)?;
    let known = package.relations("xl/workbook.bin")?;
    let (mut parts, mut mended) = (Vec::new(), false);
    for file in package.files() {
        if [".bin", ".xml", ".rels"].iter().any(|end| file.name.ends_with(end)) {
            let part = package.unpack(file.part)?;
            if file.name == "xl/workbook.bin" {
                // The library panics for a sheet with an unknown relationship.
                let ids = sheet_relations(&part).ok_or(ReadFailure::Broken)?;
                if !ids.iter().all(|id| known.iter().any(|relation| relation.id == *id)) {
                    return Err(ReadFailure::Broken);
                }
            }
            let widened = file.name.starts_with("xl/worksheets/").then(|| widened(&part)).flatten();
            mended |= widened.is_some();
            parts.push((file.name, widened.unwrap_or(part)));
        }
    }
    if !mended {
        return Ok(bytes.into());
    }
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, part) in parts {
        archive.start_file(name, stored).map_err(|_| ReadFailure::Broken)?;
        archive.write_all(&part).map_err(|_| ReadFailure::Broken)?;
    }
    Ok(archive.finish().map_err(|_| ReadFailure::Broken)?.into_inner().into())
}

/// Returns the worksheets; sheets of other types have no cells.
fn listed(sheets: &[calamine::Sheet]) -> Vec<ListedSheet> {
    let sheets = sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let listed = sheets.map(|sheet| ListedSheet {
        name: sheet.name.clone(),
        hidden: sheet.visible != SheetVisible::Visible,
    });
    listed.collect()
}

/// Returns the visible content of a cell.
fn cell(data: &Data, from_1904: bool) -> Option<HeadingCell> {
    let text = |text: &str| (!text.trim().is_empty()).then(|| HeadingCell::Text(text.to_owned()));
    match data {
        Data::Int(value) => Some(HeadingCell::Number(*value as f64, NumberFormat::Plain)),
        Data::Float(value) => Some(HeadingCell::Number(*value, NumberFormat::Plain)),
        Data::String(value) | Data::DateTimeIso(value) | Data::DurationIso(value) => text(value),
        Data::Bool(value) => Some(HeadingCell::Flag(*value)),
        Data::Error(error) => Some(HeadingCell::Text(error.to_string())),
        Data::Empty => None,
        Data::DateTime(date) => {
            let value = date.as_f64();
            if date.is_duration() {
                return Some(HeadingCell::Text(number::duration(value)));
            }
            // The format is unknown: a number with a fraction is shown with its time.
            let date =
                number::date(value, value >= 1.0, value.fract() != 0.0 || value < 1.0, from_1904);
            Some(date.map_or(HeadingCell::Number(value, NumberFormat::Plain), HeadingCell::Text))
        }
    }
}
