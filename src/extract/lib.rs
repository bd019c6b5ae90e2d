//! What attached files hold, as text, tables, rows and lists.
//!
//! [`extract`] gets the bytes of a file and a [`ExtractRequest`], and gives [`AnswerLine`]s as it reads. It
//! does no I/O and knows no clock: limits are counts of pages, rows, bytes and depth, so the
//! same file always gives the same lines. Time and memory are limited from outside, by the
//! process it runs in. It puts nothing in words and cleans nothing: who asks makes notes of
//! [`Finding`]s and fences the text. What people do not see in a file is left out and counted.

mod archive;
mod calendar;
mod compound;
mod contacts;
mod csv;
mod kind;
mod mail;
mod model;
mod odf;
mod office;
mod package;
mod paragraph;
mod pdf;
mod plain;
mod run_style;
mod sheet;
mod story;
mod xml;

use std::io;

use daysheet_core::body::signed;
pub use kind::kind_of;
pub use model::*;

/// Rows of a sheet in one call.
pub const ROWS: usize = 1_000;
/// Pages or slides in one call.
pub const PAGES: u32 = 100;
/// Cells in one call.
pub const CELLS: usize = 200_000;
/// Bytes of text in one call.
pub const TEXT: usize = 1 << 20;
/// Bytes of a text without pages that one `page` shows.
pub const PIECE: usize = 256 << 10;
/// Bytes that the parts of a packed file may have, all together.
pub const UNPACKED: u64 = 256 << 20;
/// Elements within each other.
pub const DEPTH: usize = 256;
/// Files within each other.
pub const NESTED: usize = 4;

/// Reads a file and gives what it holds to `out`, line by line: the [`AnswerLine::Kind`] first, then
/// blocks, and [`AnswerLine::End`] last.
///
/// Fails only if `out` does.
pub fn extract(
    request: &ExtractRequest,
    bytes: &[u8],
    out: &mut dyn FnMut(AnswerLine) -> io::Result<()>,
) -> io::Result<()> {
    let opened = open(request, bytes);
    let (file, depth) = match &opened {
        Ok(opened) => (opened.as_ref(), None),
        Err(failure) => (None, Some(failure.clone())),
    };
    let (name, media, bytes) = match file {
        Some(file) => (file.name.as_str(), "", file.bytes.as_slice()),
        None => (request.name.as_str(), request.media.as_str(), bytes),
    };
    let kind = kind_of(bytes, name, media);
    out(AnswerLine::Kind(kind))?;
    let mut out = OutputSink { request, sink: out, left: TEXT, findings: Vec::new() };
    let ended = match depth {
        Some(failure) => Err(StopReason::Failure(failure)),
        None => {
            // Nothing is nothing else.
            if !bytes.is_empty() && kind::named_otherwise(kind, name) {
                out.find(Finding::NamedOtherwise);
            }
            read(kind, bytes, &mut out)
        }
    };
    let failure = match ended {
        Ok(()) => None,
        Err(StopReason::Failure(failure)) => Some(failure),
        Err(StopReason::Full) => {
            out.find(Finding::Full);
            None
        }
        Err(StopReason::Output(error)) => return Err(error),
    };
    let OutputSink { sink, findings, .. } = out;
    sink(AnswerLine::End(ReadingEnd { findings, failure }))
}

/// Follows [`ExtractRequest::inside`] to a file within the file; `None` if it is empty.
fn open(request: &ExtractRequest, bytes: &[u8]) -> Result<Option<EmbeddedFile>, ReadFailure> {
    if request.inside.len() > NESTED {
        return Err(ReadFailure::Depth);
    }
    let mut found: Option<EmbeddedFile> = None;
    for part in &request.inside {
        let next = match &found {
            Some(file) => inside(kind_of(&file.bytes, &file.name, ""), &file.bytes, *part),
            None => inside(kind_of(bytes, &request.name, &request.media), bytes, *part),
        };
        found = Some(next?);
    }
    Ok(found)
}

/// Returns the file number `part` within a file, from 1.
fn inside(kind: FileKind, bytes: &[u8], part: u32) -> Result<EmbeddedFile, ReadFailure> {
    match kind {
        FileKind::Zip => archive::inside(bytes, part),
        FileKind::Mail => mail::eml::inside(bytes, part),
        FileKind::Smime => {
            let entity = signed::content(bytes).ok_or(ReadFailure::NoSuchPart(0))?;
            mail::eml::inside(&entity, part)
        }
        FileKind::Msg | FileKind::Tnef => mail::msg::inside(bytes, part),
        FileKind::Pdf => pdf::inside(bytes, part),
        _ => Err(ReadFailure::NoSuchPart(0)),
    }
}

/// Reads a file of a known kind.
fn read(kind: FileKind, bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    match kind {
        FileKind::Pdf => pdf::read(bytes, out),
        FileKind::Docx => office::docx::read(bytes, out),
        FileKind::Pptx => office::pptx::read(bytes, out),
        FileKind::Xlsx | FileKind::Xls | FileKind::Xlsb => sheet::read(kind, bytes, out),
        FileKind::Odt | FileKind::Odp | FileKind::Ods => odf::read(kind, bytes, out),
        FileKind::Rtf => mail::rtf::read(bytes, out),
        FileKind::Csv | FileKind::Tsv => csv::read(kind, bytes, out),
        FileKind::Html | FileKind::Text | FileKind::Markdown | FileKind::Json | FileKind::Xml => {
            plain::read(kind, bytes, out)
        }
        FileKind::Mail => mail::eml::read(bytes, out),
        FileKind::Smime => {
            let entity = signed::content(bytes).ok_or(ReadFailure::NotRead(kind))?;
            mail::eml::read(&entity, out)
        }
        FileKind::Msg | FileKind::Tnef => mail::msg::read(kind, bytes, out),
        FileKind::Calendar => calendar::read(bytes, out),
        FileKind::Contacts => contacts::read(bytes, out),
        FileKind::Zip => archive::read(bytes, out),
        FileKind::Encrypted | FileKind::Pgp => Err(StopReason::Failure(ReadFailure::Encrypted)),
        FileKind::Picture | FileKind::Doc | FileKind::Ppt | FileKind::Binary => {
            Err(StopReason::Failure(ReadFailure::NotRead(kind)))
        }
    }
}

/// A file within a file.
struct EmbeddedFile {
    name: String,
    bytes: Vec<u8>,
}

/// Why reading ends before the file does.
enum StopReason {
    /// The file gives no more.
    Failure(ReadFailure),
    /// The limit of a call is reached.
    Full,
    /// Nobody reads on.
    Output(io::Error),
}

impl From<ReadFailure> for StopReason {
    fn from(failure: ReadFailure) -> Self {
        Self::Failure(failure)
    }
}

/// Where a reader puts what it finds.
struct OutputSink<'a> {
    /// What is asked for.
    request: &'a ExtractRequest,
    sink: &'a mut dyn FnMut(AnswerLine) -> io::Result<()>,
    /// The bytes of text that this call may still give.
    left: usize,
    findings: Vec<Finding>,
}

impl OutputSink<'_> {
    /// Gives a block. Fails with [`StopReason::Full`] if it does not fit into what a call may give; a
    /// text that alone is too long is cut, so that reading can go on behind it.
    fn block(&mut self, mut block: ContentBlock) -> Result<(), StopReason> {
        if let ContentBlock::Text(text) = &mut block
            && self.left == TEXT
            && text.pieces.iter().map(piece).sum::<usize>() > TEXT
        {
            cut(&mut text.pieces);
            self.find(Finding::Full);
        }
        let size = match &block {
            ContentBlock::Text(text) => text.pieces.iter().map(piece).sum(),
            ContentBlock::Sheet(sheet) => {
                let cells = sheet.rows.iter().flat_map(|(_, cells)| cells).map(cell);
                cells.sum::<usize>() + sheet.after.iter().map(piece).sum::<usize>()
            }
            ContentBlock::Rows { .. } | ContentBlock::Files { .. } => 0,
        };
        self.left = self.left.checked_sub(size).ok_or(StopReason::Full)?;
        (self.sink)(AnswerLine::Block(block)).map_err(StopReason::Output)
    }

    /// Returns the page of a list that is asked for: its items, how many follow, and the `page`
    /// that goes on with them.
    fn page<T>(&self, all: Vec<T>, each: usize) -> Result<(Vec<T>, u64, Option<u32>), ReadFailure> {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let before = (self.request.page.max(1) as usize - 1).saturating_mul(each);
        if before > 0 && before >= all.len() {
            return Err(ReadFailure::NoSuchPage(count(all.len().div_ceil(each).max(1))));
        }
        let more = count(all.len() - before).saturating_sub(count(each));
        let next = (more > 0).then(|| self.request.page.max(1) + 1);
        Ok((all.into_iter().skip(before).take(each).collect(), more, next))
    }

    /// Notes a finding.
    fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

/// Cuts pieces to what a call may give.
fn cut(pieces: &mut Vec<TextPiece>) {
    let mut left = TEXT;
    pieces.retain_mut(|one| {
        if let TextPiece::Text(text) = one {
            text.truncate(text.floor_char_boundary(left));
        }
        let room = left.checked_sub(piece(one));
        left = room.unwrap_or(0);
        room.is_some()
    });
}

fn piece(piece: &TextPiece) -> usize {
    match piece {
        TextPiece::Text(text) => text.len(),
        TextPiece::Mark(_) => 16,
    }
}

fn cell(value: &CellValue) -> usize {
    match value {
        CellValue::Null | CellValue::Flag(_) => 1,
        CellValue::Number(text) | CellValue::Text(text) => text.len() + 1,
    }
}
