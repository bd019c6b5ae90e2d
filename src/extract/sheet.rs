//! Workbooks (xlsx, xls and xlsb), and the code that sheets of all formats share.

mod heading;
mod legacy;
mod listed;
pub mod number;
mod records;
mod short;
mod styles;
mod xlsx;

pub use heading::{HeadingCell, SheetGrid};
pub use listed::{ListedSheet, give};
pub use number::{NumberFormat, column, time};

use crate::{FileKind, OutputSink, StopReason};

/// Reads a workbook.
pub fn read(kind: FileKind, bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    match kind {
        FileKind::Xlsx => xlsx::read(bytes, out),
        _ => legacy::read(kind, bytes, out),
    }
}
