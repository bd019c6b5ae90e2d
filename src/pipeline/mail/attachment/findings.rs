//! Notes on a file: the literals for a worker's findings, and for the way it ended.
//!
//! A worker returns data, so that no file can write a note.

use daysheet_core::body::STYLES_UNREAD;
use daysheet_core::body::entity::unknown;
use daysheet_core::error::{Error, ErrorKind};
use daysheet_core::text::fence::theirs;
use daysheet_core::text::note::QuotedText;
use daysheet_core::text::{self, Note, brief, note, ours, quoted_list};
use daysheet_extract::{
    BlockSpan, ExtractRequest, FileKind, Finding, HiddenUnit, PartUnit, PieceMark, ReadFailure,
    ReadingEnd, RowsOf,
};

use crate::worker::WorkerEnd;

/// Returns the kind of a file, in words.
const fn a_kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Pdf => "a PDF",
        FileKind::Docx => "a Word file (docx)",
        FileKind::Xlsx => "an Excel file (xlsx)",
        FileKind::Xls => "an Excel file (xls)",
        FileKind::Xlsb => "an Excel file (xlsb)",
        FileKind::Pptx => "a PowerPoint file (pptx)",
        FileKind::Odt => "an OpenDocument text",
        FileKind::Ods => "an OpenDocument spreadsheet",
        FileKind::Odp => "an OpenDocument presentation",
        FileKind::Rtf => "an RTF file",
        FileKind::Csv | FileKind::Tsv => "a table in plain text",
        FileKind::Html => "HTML",
        FileKind::Text | FileKind::Markdown => "plain text",
        FileKind::Json => "JSON",
        FileKind::Xml => "XML",
        FileKind::Mail | FileKind::Msg => "a message",
        FileKind::Tnef => "a TNEF file (winmail.dat)",
        FileKind::Calendar => "a calendar file",
        FileKind::Contacts => "a file of contacts",
        FileKind::Zip => "a zip archive",
        FileKind::Picture => "a picture",
        FileKind::Doc => "a Word 97 file (doc)",
        FileKind::Ppt => "a PowerPoint 97 file (ppt)",
        FileKind::Encrypted => "an encrypted Office file",
        FileKind::Pgp => "a PGP message",
        FileKind::Smime => "an S/MIME signature or message",
        FileKind::Binary => "of no kind that can be read",
    }
}

const fn unit(unit: PartUnit) -> &'static str {
    match unit {
        PartUnit::Page => "pages",
        PartUnit::Slide => "slides",
        PartUnit::Row => "rows",
        PartUnit::Piece => "parts",
    }
}

/// Returns the part of a file that was read, such as `pages 1-100 of 412`; `None` for the whole
/// file.
pub(super) fn range(span: &BlockSpan) -> Option<String> {
    let BlockSpan { first, last, of, .. } = span;
    let all = *first <= 1 && last >= of;
    (!all).then(|| format!("{} {first}-{last} of {of}", unit(span.unit)))
}

/// Returns the note on how to read on in the file with this id, or in a sheet of it, if there is
/// more.
pub(super) fn goes_on(span: &BlockSpan, id: &str, sheet: &str) -> Option<Note> {
    let next = span.next?;
    let id = match sheet {
        "" => note!("{}", ours(id)),
        name => note!("{} sheet={}", ours(id), quoted(name)),
    };
    let BlockSpan { first, last, of, .. } = *span;
    Some(note!(
        "{} {} to {} of {}; continue with ids={} page={}",
        unit(span.unit),
        first,
        last,
        of,
        id,
        next
    ))
}

/// Quotes a string of a file, without our marks: it may be within a line of ours in a text.
fn quoted(name: &str) -> QuotedText {
    text::quoted(&theirs(name.to_owned()))
}

/// Quotes strings of a file.
fn quoted_all<'a>(names: impl IntoIterator<Item = &'a String>) -> QuotedText {
    quoted_list(names.into_iter().map(|name| theirs(name.clone())))
}

/// Returns a line of ours within a text, without brackets.
pub(super) fn mark(mark: &PieceMark) -> String {
    match mark {
        PieceMark::Page(number) => format!("page {number}"),
        PieceMark::Slide(number) => format!("slide {number}"),
        PieceMark::Notes => "speaker notes".to_owned(),
        PieceMark::Comments(count) => format!("comments: {count}"),
        PieceMark::Comment { author } if author.trim().is_empty() => "comment".to_owned(),
        PieceMark::Comment { author } => format!("comment by {}", quoted(author)),
        PieceMark::Footnotes => "footnotes".to_owned(),
        PieceMark::HeaderFooter => "headers and footers".to_owned(),
        PieceMark::Scan => "what the scanner recognised; the picture may differ".to_owned(),
        PieceMark::HiddenSheet => "this sheet is hidden from readers of the file".to_owned(),
        PieceMark::Message => "message".to_owned(),
        PieceMark::Fields => "form fields".to_owned(),
        PieceMark::Attached => "attached".to_owned(),
    }
}

/// Returns the notes on a whole file, with the reason if it was not read to its end.
pub(super) fn about(
    kind: Option<FileKind>,
    end: Option<&ReadingEnd>,
    ended: WorkerEnd,
) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(end) = end {
        notes.extend(findings(&end.findings, kind));
        notes.extend(end.failure.as_ref().map(failure));
    }
    notes.extend(match ended {
        WorkerEnd::Whole => None,
        WorkerEnd::Time => Some("reading it took too long and was ended".into()),
        WorkerEnd::Memory => Some("reading it takes too much memory and was ended".into()),
        WorkerEnd::Deep => Some("it is nested too deep to be read".into()),
        WorkerEnd::Full => Some("it holds more than can be returned".into()),
        WorkerEnd::Broken => Some("reading it failed: it may be broken".into()),
    });
    notes
}

/// Returns the notes on findings in a file of this kind, or in a sheet.
pub(super) fn findings(findings: &[Finding], kind: Option<FileKind>) -> Vec<Note> {
    let mut notes = hidden(findings);
    notes.extend(doubt(findings));
    notes.extend(findings.iter().filter_map(|found| finding(found, kind)));
    notes
}

fn finding(finding: &Finding, kind: Option<FileKind>) -> Option<Note> {
    Some(match finding {
        // These are summed up elsewhere, several in one note.
        Finding::Hidden { .. } | Finding::Doubt { .. } => return None,
        Finding::Order => {
            "hidden text that was left out reads like an order to an assistant".into()
        }
        Finding::HiddenSheet { name, rows } => note!(
            "sheet {} is hidden and was left out, {} rows; sheet=NAME shows it",
            quoted(name),
            *rows
        ),
        Finding::Sheets(others) => {
            let rows: u64 = others.iter().map(|(_, rows)| rows).sum();
            let names = quoted_all(others.iter().map(|(name, _)| name));
            note!("other sheets, {} rows together: {}; sheet=NAME shows one", rows, names)
        }
        Finding::Deleted(count) => {
            note!("{} characters of deleted text (tracked changes) were left out", *count)
        }
        Finding::Inserted(count) => {
            note!("{} characters were inserted as tracked changes", *count)
        }
        Finding::CutCells(count) => note!("{} cells of very long rows were cut", *count),
        Finding::NoResult(count) => note!("{} formulas have no stored result", *count),
        Finding::Unmapped(1) => {
            "a character cannot be decoded: its font has no Unicode mapping".into()
        }
        Finding::Unmapped(count) => {
            note!("{} characters cannot be decoded: the fonts have no Unicode mapping", *count)
        }
        Finding::Others(1) => {
            "a character is shown to people as another: its font contradicts itself".into()
        }
        Finding::Others(count) => {
            note!(
                "{} characters are shown to people as others: its fonts contradict themselves",
                *count
            )
        }
        Finding::Pictures(1) => "a picture is not described".into(),
        Finding::Pictures(count) => note!("{} pictures are not described", *count),
        Finding::Scan { first, last } if first == last => {
            note!("page {} is a picture of text (a scan), which cannot be read", *first)
        }
        Finding::Scan { first, last } => note!(
            "pages {} to {} are pictures of text (a scan), which cannot be read",
            *first,
            *last
        ),
        Finding::Tangled(page) => {
            note!("page {} is not read: its drawings repeat one another too often", *page)
        }
        Finding::Chunk => {
            "a part of its text is a document of another format, which is not read".into()
        }
        Finding::Macros => "it has macros, which are not read".into(),
        Finding::NamedOtherwise => {
            note!(
                "its content does not match its name: it is {}",
                kind.map_or("another file", a_kind)
            )
        }
        Finding::HiddenUnknown => {
            "this format does not show which rows and columns are hidden".into()
        }
        Finding::StylesUnread => STYLES_UNREAD.into(),
        Finding::Charset(name) => note!("its character encoding was guessed: {}", quoted(name)),
        Finding::Damaged => "it is damaged, perhaps cut off: pages or text may be missing".into(),
        Finding::Full => "it is longer than one call reads".into(),
        Finding::OddParts(subtype) => return unknown(subtype),
        Finding::Unshown(plain) => plain.note("as=file"),
    })
}

/// Returns the note on shortened cells.
pub(super) fn cut_cells(count: u64) -> Option<Note> {
    (count > 0).then(|| note!("{} cells were cut at 1000 characters", count))
}

/// Returns the notes on parts left out because readers of the file do not see them: one for each
/// kind of part that is counted.
fn hidden(findings: &[Finding]) -> Vec<Note> {
    const ALL: [HiddenUnit; 6] = [
        HiddenUnit::Characters,
        HiddenUnit::Rows,
        HiddenUnit::Columns,
        HiddenUnit::Cells,
        HiddenUnit::Slides,
        HiddenUnit::Layers,
    ];
    let mut notes = Vec::new();
    for counted in ALL {
        let (mut total, mut ways) = (0_u64, Vec::new());
        for found in findings {
            if let Finding::Hidden { how, count, of } = found
                && *of == counted
            {
                total = total.saturating_add(*count);
                let way = how.words();
                if !way.is_empty() && !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        if total == 0 {
            continue;
        }
        let ways = if ways.is_empty() { String::new() } else { format!(" ({})", ways.join(", ")) };
        let ways = ours(ways);
        notes.push(match counted {
            HiddenUnit::Characters => {
                note!("{} characters of hidden text were left out{}", total, ways)
            }
            HiddenUnit::Rows => note!("{} hidden rows were left out{}", total, ways),
            HiddenUnit::Columns => note!("{} hidden columns were left out{}", total, ways),
            HiddenUnit::Cells => note!("{} hidden cells were left out{}", total, ways),
            HiddenUnit::Slides => note!("{} hidden slides were left out{}", total, ways),
            HiddenUnit::Layers => note!("{} layers that are switched off were left out", total),
        });
    }
    notes
}

/// Returns the note on text that is shown although readers of the file may not see it.
fn doubt(findings: &[Finding]) -> Option<Note> {
    let (mut total, mut ways) = (0_u64, Vec::new());
    for found in findings {
        if let Finding::Doubt { how, count } = found {
            total = total.saturating_add(*count);
            let way = how.words();
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    (total > 0).then(|| {
        note!("{} characters may be hidden ({}) and are shown", total, ours(ways.join(", ")))
    })
}

fn failure(failure: &ReadFailure) -> Note {
    match failure {
        ReadFailure::Encrypted => {
            "it is encrypted: nothing can be read without its password".into()
        }
        ReadFailure::Broken => "it is broken: no text can be read".into(),
        ReadFailure::NotRead(kind) => note!("it is {}: it is not read as text", a_kind(*kind)),
        ReadFailure::Empty => "it holds no text".into(),
        ReadFailure::TooMany => "its unpacked size or number of parts exceeds the limit".into(),
        ReadFailure::NoSuchPage(0) => "it has no pages".into(),
        ReadFailure::NoSuchPage(pages) => note!("it ends at page={}", *pages),
        ReadFailure::NoSuchSheet(names) => note!("its sheets are {}", quoted_all(names)),
        ReadFailure::NoSuchPart(0) => "there are no files inside it".into(),
        ReadFailure::NoSuchPart(parts) => note!("there are {} files inside it", *parts),
        ReadFailure::Depth => "it is nested too deep to be read".into(),
    }
}

/// Returns the error for a requested page, sheet or inner file that a file does not have.
pub(super) fn no_such_part(failure: &ReadFailure, asked: &ExtractRequest) -> Option<Error> {
    Some(match failure {
        ReadFailure::NoSuchPage(0) => {
            Error::argument(format!("page={}: the file has no pages", asked.page))
                .next("leave out `page`")
        }
        ReadFailure::NoSuchPage(pages) => {
            Error::argument(format!("page={}: it ends at page={pages}", asked.page))
                .next(format!("give a page from 1 to {pages}"))
        }
        ReadFailure::NoSuchSheet(names) => {
            let sheet = brief(asked.sheet.as_deref().unwrap_or_default());
            Error::new(ErrorKind::NotFound, format!("it has no sheet `{sheet}`"))
                .next(format!("use one of: {}", quoted_all(names)))
        }
        ReadFailure::NoSuchPart(0) => {
            Error::new(ErrorKind::NotFound, "there are no files inside it")
                .next("read the file itself")
        }
        ReadFailure::NoSuchPart(parts) => {
            Error::new(ErrorKind::NotFound, format!("there are only {parts} files inside it"))
                .next("read the file itself, which lists them")
        }
        _ => return None,
    })
}

/// Returns the note on rows of the file with this id that are not shown.
pub(super) fn more_rows(table: RowsOf, more: u64, id: &str, next: Option<u32>) -> Option<Note> {
    let what = match table {
        RowsOf::Invitation => "events",
        RowsOf::Contact => "contacts",
    };
    next.map(|page| note!("{} more {}; continue with ids={} page={}", more, what, ours(id), page))
}

/// Returns the note on files inside the file with this id that are not listed.
pub(super) fn more_files(more: u64, id: &str, next: Option<u32>) -> Option<Note> {
    match next {
        Some(page) => Some(note!(
            "{} more files inside it; continue with ids={} page={}",
            more,
            ours(id),
            page
        )),
        None => (more > 0).then(|| note!("{} more files inside it are not listed", more)),
    }
}
