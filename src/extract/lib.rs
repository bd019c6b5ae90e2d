//! What attached files hold, as text, tables, rows and lists.
//!
//! [`extract`] gets the bytes of a file and a [`Request`], and gives [`Line`]s as it reads. It
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
mod look;
mod mail;
mod model;
mod odf;
mod office;
mod package;
mod pdf;
mod plain;
mod sheet;
mod story;
mod words;
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

/// Reads a file and gives what it holds to `out`, line by line: the [`Line::Kind`] first, then
/// blocks, and [`Line::End`] last.
///
/// Fails only if `out` does.
pub fn extract(
    request: &Request,
    bytes: &[u8],
    out: &mut dyn FnMut(Line) -> io::Result<()>,
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
    out(Line::Kind(kind))?;
    let mut out = Out { request, sink: out, left: TEXT, findings: Vec::new() };
    let ended = match depth {
        Some(failure) => Err(Stop::Failure(failure)),
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
        Err(Stop::Failure(failure)) => Some(failure),
        Err(Stop::Full) => {
            out.find(Finding::Full);
            None
        }
        Err(Stop::Output(error)) => return Err(error),
    };
    let Out { sink, findings, .. } = out;
    sink(Line::End(End { findings, failure }))
}

/// Follows [`Request::inside`] to a file within the file; `None` if it is empty.
fn open(request: &Request, bytes: &[u8]) -> Result<Option<File>, Failure> {
    if request.inside.len() > NESTED {
        return Err(Failure::Depth);
    }
    let mut found: Option<File> = None;
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
fn inside(kind: Kind, bytes: &[u8], part: u32) -> Result<File, Failure> {
    match kind {
        Kind::Zip => archive::inside(bytes, part),
        Kind::Mail => mail::eml::inside(bytes, part),
        Kind::Smime => {
            let entity = signed::content(bytes).ok_or(Failure::NoSuchPart(0))?;
            mail::eml::inside(&entity, part)
        }
        Kind::Msg | Kind::Tnef => mail::msg::inside(bytes, part),
        Kind::Pdf => pdf::inside(bytes, part),
        _ => Err(Failure::NoSuchPart(0)),
    }
}

/// Reads a file of a known kind.
fn read(kind: Kind, bytes: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    match kind {
        Kind::Pdf => pdf::read(bytes, out),
        Kind::Docx => office::docx::read(bytes, out),
        Kind::Pptx => office::pptx::read(bytes, out),
        Kind::Xlsx | Kind::Xls | Kind::Xlsb => sheet::read(kind, bytes, out),
        Kind::Odt | Kind::Odp | Kind::Ods => odf::read(kind, bytes, out),
        Kind::Rtf => mail::rtf::read(bytes, out),
        Kind::Csv | Kind::Tsv => csv::read(kind, bytes, out),
        Kind::Html | Kind::Text | Kind::Markdown | Kind::Json | Kind::Xml => {
            plain::read(kind, bytes, out)
        }
        Kind::Mail => mail::eml::read(bytes, out),
        Kind::Smime => {
            let entity = signed::content(bytes).ok_or(Failure::NotRead(kind))?;
            mail::eml::read(&entity, out)
        }
        Kind::Msg | Kind::Tnef => mail::msg::read(kind, bytes, out),
        Kind::Calendar => calendar::read(bytes, out),
        Kind::Contacts => contacts::read(bytes, out),
        Kind::Zip => archive::read(bytes, out),
        Kind::Encrypted | Kind::Pgp => Err(Stop::Failure(Failure::Encrypted)),
        Kind::Picture | Kind::Doc | Kind::Ppt | Kind::Binary => {
            Err(Stop::Failure(Failure::NotRead(kind)))
        }
    }
}

/// A file within a file.
struct File {
    name: String,
    bytes: Vec<u8>,
}

/// Why reading ends before the file does.
enum Stop {
    /// The file gives no more.
    Failure(Failure),
    /// The limit of a call is reached.
    Full,
    /// Nobody reads on.
    Output(io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Where a reader puts what it finds.
struct Out<'a> {
    /// What is asked for.
    request: &'a Request,
    sink: &'a mut dyn FnMut(Line) -> io::Result<()>,
    /// The bytes of text that this call may still give.
    left: usize,
    findings: Vec<Finding>,
}

impl Out<'_> {
    /// Gives a block. Fails with [`Stop::Full`] if it does not fit into what a call may give; a
    /// text that alone is too long is cut, so that reading can go on behind it.
    fn block(&mut self, mut block: Block) -> Result<(), Stop> {
        if let Block::Text(text) = &mut block
            && self.left == TEXT
            && text.pieces.iter().map(piece).sum::<usize>() > TEXT
        {
            cut(&mut text.pieces);
            self.find(Finding::Full);
        }
        let size = match &block {
            Block::Text(text) => text.pieces.iter().map(piece).sum(),
            Block::Sheet(sheet) => {
                let cells = sheet.rows.iter().flat_map(|(_, cells)| cells).map(cell);
                cells.sum::<usize>() + sheet.after.iter().map(piece).sum::<usize>()
            }
            Block::Rows { .. } | Block::Files { .. } => 0,
        };
        self.left = self.left.checked_sub(size).ok_or(Stop::Full)?;
        (self.sink)(Line::Block(block)).map_err(Stop::Output)
    }

    /// Returns the page of a list that is asked for: its items, how many follow, and the `page`
    /// that goes on with them.
    fn page<T>(&self, all: Vec<T>, each: usize) -> Result<(Vec<T>, u64, Option<u32>), Failure> {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let before = (self.request.page.max(1) as usize - 1).saturating_mul(each);
        if before > 0 && before >= all.len() {
            return Err(Failure::NoSuchPage(count(all.len().div_ceil(each).max(1))));
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
fn cut(pieces: &mut Vec<Piece>) {
    let mut left = TEXT;
    pieces.retain_mut(|one| {
        if let Piece::Text(text) = one {
            text.truncate(text.floor_char_boundary(left));
        }
        let room = left.checked_sub(piece(one));
        left = room.unwrap_or(0);
        room.is_some()
    });
}

fn piece(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) => text.len(),
        Piece::Mark(_) => 16,
    }
}

fn cell(value: &Value) -> usize {
    match value {
        Value::Null | Value::Flag(_) => 1,
        Value::Number(text) | Value::Text(text) => text.len() + 1,
    }
}
