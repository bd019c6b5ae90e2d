//! Reading of attached files as text, tables, rows and lists.
//!
//! [`extract`] takes the bytes of a file and a [`ExtractRequest`] and emits [`AnswerLine`]s as it reads. It does
//! no I/O and reads no clock: limits are counts of pages, rows, bytes and depth, so the same file
//! always yields the same lines. The process that runs it limits time and memory. It neither words
//! nor cleans its results: the caller turns [`Finding`]s into notes and fences the text. Content
//! that people do not see in a file is left out and counted.

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

/// Maximum rows of a sheet in one call.
pub const ROWS: usize = 1_000;
/// Maximum pages or slides in one call.
pub const PAGES: u32 = 100;
/// Maximum cells in one call.
pub const CELLS: usize = 200_000;
/// Maximum bytes of text in one call.
pub const TEXT: usize = 1 << 20;
/// Bytes of a text without pages that one `page` shows.
pub const PIECE: usize = 256 << 10;
/// Maximum unpacked bytes of all parts of a packed file together.
pub const UNPACKED: u64 = 256 << 20;
/// Maximum nesting of elements.
pub const DEPTH: usize = 256;
/// Maximum nesting of files.
pub const NESTED: usize = 4;

/// Reads a file and emits its content to `out`, line by line: first [`AnswerLine::Kind`], then blocks,
/// last [`AnswerLine::End`].
///
/// # Errors
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
    let ended = if let Some(failure) = depth {
        Err(StopReason::Failure(failure))
    } else {
        // An empty file cannot contradict its name.
        if !bytes.is_empty() && kind::named_otherwise(kind, name) {
            out.find(Finding::NamedOtherwise);
        }
        read(kind, bytes, &mut out)
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

/// Follows [`ExtractRequest::inside`] to a nested file. Returns `None` if the path is empty.
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

/// Returns the nested file with number `part`, from 1.
fn inside(kind: FileKind, bytes: &[u8], part: u32) -> Result<EmbeddedFile, ReadFailure> {
    match kind {
        FileKind::Zip => archive::inside(bytes, part),
        FileKind::Mail => mail::eml::inside(bytes, part),
        // The numbers of `ExtractRequest::inside` count the parts of the signed entity, as `read` lists
        // them.
        FileKind::Smime => {
            let entity = signed::content(bytes).ok_or(ReadFailure::NoSuchPart(0))?;
            mail::eml::inside(&entity, part)
        }
        FileKind::Msg | FileKind::Tnef => mail::msg::inside(bytes, part),
        FileKind::Pdf => pdf::inside(bytes, part),
        _ => Err(ReadFailure::NoSuchPart(0)),
    }
}

/// Reads a file whose kind is known.
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
        // There is no key or password to decrypt with: fail before any parser sees the bytes.
        FileKind::Encrypted | FileKind::Pgp => Err(StopReason::Failure(ReadFailure::Encrypted)),
        FileKind::Picture | FileKind::Doc | FileKind::Ppt | FileKind::Binary => {
            Err(StopReason::Failure(ReadFailure::NotRead(kind)))
        }
    }
}

/// A nested file.
struct EmbeddedFile {
    name: String,
    bytes: Vec<u8>,
}

/// The reasons for which reading ends before the file does.
enum StopReason {
    /// The file yields no more.
    Failure(ReadFailure),
    /// The limit of a call is reached.
    Full,
    /// `out` no longer accepts lines.
    Output(io::Error),
}

impl From<ReadFailure> for StopReason {
    fn from(failure: ReadFailure) -> Self {
        Self::Failure(failure)
    }
}

/// The output of a reader.
struct OutputSink<'a> {
    /// The request that is being answered.
    request: &'a ExtractRequest,
    sink: &'a mut dyn FnMut(AnswerLine) -> io::Result<()>,
    /// The bytes of text that this call may still emit.
    left: usize,
    findings: Vec<Finding>,
}

impl OutputSink<'_> {
    /// Emits a block. A text that alone exceeds the limit of a call is cut, and reading can
    /// continue after it.
    ///
    /// # Errors
    ///
    /// [`StopReason::Full`] if the block exceeds the rest of the limit.
    fn block(&mut self, mut block: ContentBlock) -> Result<(), StopReason> {
        // Only the first block may be cut: a later one is read whole with the next `page`.
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

    /// Returns the requested page of a list: its items, the number of items after it, and the next
    /// `page`.
    fn page<T>(&self, all: Vec<T>, each: usize) -> Result<(Vec<T>, u64, Option<u32>), ReadFailure> {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        // Pages count from 1; 0 means the first, as in a request without `page`.
        let before = (self.request.page.max(1) as usize - 1).saturating_mul(each);
        if before > 0 && before >= all.len() {
            return Err(ReadFailure::NoSuchPage(count(all.len().div_ceil(each).max(1))));
        }
        let more = count(all.len() - before).saturating_sub(count(each));
        let next = (more > 0).then(|| self.request.page.max(1) + 1);
        Ok((all.into_iter().skip(before).take(each).collect(), more, next))
    }

    /// Records a finding.
    fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

/// Cuts pieces to the limit of a call.
fn cut(pieces: &mut Vec<TextPiece>) {
    let mut left = TEXT;
    pieces.retain_mut(|one| {
        if let TextPiece::Text(text) = one {
            text.truncate(text.floor_char_boundary(left));
        }
        // The mark or text that crosses the limit ends the list; everything after it is dropped.
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
