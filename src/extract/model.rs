//! Requests to read a file, and their answers: plain data that passes through a pipe.
//!
//! Strings for a model are written elsewhere: findings are counted facts that the caller turns
//! into notes. Strings come from the file and are not cleaned yet.

use daysheet_core::body::UnshownPlain;
use daysheet_core::text::visibility::HidingMethod;
use serde::{Deserialize, Serialize};

/// A request to read a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractRequest {
    /// The file's name, as stated by its sender.
    pub name: String,
    /// The media type, as stated by its sender.
    pub media: String,
    /// The path to a nested file: `[2, 1]` is the first file within the second one.
    pub inside: Vec<u32>,
    /// The page to start with, from 1: a page of a document, a slide, 1,000 rows of a sheet, 200
    /// events, 500 contacts or files of an archive, or 256 KiB of any other text.
    pub page: u32,
    /// The sheet of a workbook, by name or number.
    pub sheet: Option<String>,
    /// The IANA name of the time zone that applies to times without one.
    pub zone: String,
}

/// One line of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AnswerLine {
    /// The first line: the kind of the file.
    Kind(FileKind),
    /// A part of the content.
    Block(ContentBlock),
    /// The last line.
    End(ReadingEnd),
}

/// A part of a file's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ContentBlock {
    /// Text: a page, a slide, or all of a file without pages.
    Text(TextBlock),
    /// A table: a sheet of a workbook, or a CSV file.
    Sheet(SheetBlock),
    /// Events or contacts, as objects from which the columns of their table are read.
    Rows {
        /// The table.
        table: RowsOf,
        /// One object for each row.
        objects: Vec<serde_json::Value>,
        /// The number of rows after these.
        more: u64,
        /// The next `page`, if there are more rows.
        next: Option<u32>,
    },
    /// The nested files.
    Files {
        /// The files of this page.
        files: Vec<InnerFile>,
        /// The number of files after these.
        more: u64,
        /// The next `page`, if there are more files.
        next: Option<u32>,
    },
}

/// The table that rows belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowsOf {
    /// Events of an iCalendar file.
    Invitation,
    /// Contacts of a vCard file.
    Contact,
}

/// Text, with marks between its pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextBlock {
    /// The text, in order.
    pub pieces: Vec<TextPiece>,
    /// The part of the file that this is, if the file has parts.
    pub of: Option<BlockSpan>,
}

/// A piece of text, or a mark that describes the pieces after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextPiece {
    /// Text of the file.
    Text(String),
    /// A mark that describes the pieces after it.
    Mark(PieceMark),
}

/// The meaning of the pieces that follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceMark {
    /// The page with this number.
    Page(u32),
    /// The slide with this number.
    Slide(u32),
    /// The speaker's notes of a slide.
    Notes,
    /// This many comments.
    Comments(u32),
    /// One comment.
    Comment {
        /// Its author.
        author: String,
    },
    /// Footnotes and endnotes.
    Footnotes,
    /// Headers and footers of pages.
    HeaderFooter,
    /// Text that a scanner recognised in a picture.
    Scan,
    /// A sheet that people do not see.
    HiddenSheet,
    /// A message.
    Message,
    /// Fields of a form.
    Fields,
    /// Attached or embedded text.
    Attached,
}

/// The part of a file that a block covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSpan {
    /// The unit of the numbers below.
    pub unit: PartUnit,
    /// The first unit shown, from 1.
    pub first: u64,
    /// The last unit shown.
    pub last: u64,
    /// The number of units in the file.
    pub of: u64,
    /// The next `page`, if there is more.
    pub next: Option<u32>,
}

/// The parts into which a file is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartUnit {
    /// Pages.
    Page,
    /// Slides.
    Slide,
    /// Rows.
    Row,
    /// Pieces of 256 KiB.
    Piece,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetBlock {
    /// The sheet's name; empty for a file that is one table.
    pub name: String,
    /// True if people do not see the sheet.
    pub hidden: bool,
    /// Lines above the table.
    pub before: Vec<String>,
    /// The headings.
    pub columns: Vec<String>,
    /// The rows, each with its number in the sheet.
    pub rows: Vec<(u32, Vec<CellValue>)>,
    /// Lines below the table: comments on its cells.
    pub after: Vec<TextPiece>,
    /// The rows shown.
    pub of: BlockSpan,
    /// The findings in this sheet.
    pub findings: Vec<Finding>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellValue {
    /// An empty cell.
    Null,
    /// True or false.
    Flag(bool),
    /// A number in JSON's notation.
    Number(String),
    /// Text.
    Text(String),
}

/// A nested file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InnerFile {
    /// Its number, from 1.
    pub part: u32,
    /// Its name, with folders.
    pub name: String,
    /// Its size in bytes, as the file states it.
    pub size: u64,
    /// True if it needs a password.
    pub encrypted: bool,
    /// True for a folder.
    pub folder: bool,
}

/// The end of the reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingEnd {
    /// The findings about the file.
    pub findings: Vec<Finding>,
    /// The reason why the text is missing or incomplete.
    pub failure: Option<ReadFailure>,
}

/// A fact about the file or its text that readers have to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finding {
    /// Content that people do not see was left out.
    Hidden {
        /// The method of hiding.
        how: HidingMethod,
        /// The amount that was left out.
        count: u64,
        /// The unit of `count`.
        of: HiddenUnit,
    },
    /// Characters that are shown although people may not see them.
    Doubt {
        /// The suspected method of hiding.
        how: HidingMethod,
        /// The number of characters; 0 if they are counted in another finding of this kind.
        count: u64,
    },
    /// A sheet that people do not see was left out.
    HiddenSheet {
        /// Its name.
        name: String,
        /// The number of its rows.
        rows: u64,
    },
    /// Sheets that were not requested, each with the number of its rows.
    Sheets(Vec<(String, u64)>),
    /// Characters deleted by tracked changes were left out.
    Deleted(u64),
    /// Characters inserted by tracked changes are in the text.
    Inserted(u64),
    /// Cells of rows that are longer than a page were shortened.
    CutCells(u64),
    /// Formulas without a stored result.
    NoResult(u64),
    /// Glyphs that map to no known letter.
    Unmapped(u64),
    /// Letters and digits that are drawn as other characters than the text states.
    Others(u64),
    /// Pictures that are not described.
    Pictures(u64),
    /// Pages that are pictures of text.
    Scan {
        /// The first of them.
        first: u32,
        /// The last one.
        last: u32,
    },
    /// A page was left out because its forms draw one another too often.
    Tangled(u32),
    /// A document of another format that is a part of its text was not read.
    Chunk,
    /// It has macros, which are not read.
    Macros,
    /// The name or media type claims another kind.
    NamedOtherwise,
    /// The format does not record whether rows or columns are hidden.
    HiddenUnknown,
    /// Style sheets were not read completely, so hidden text may be shown.
    StylesUnread,
    /// Hidden text reads like an order to an assistant.
    Order,
    /// The bytes do not fit the stated charset; they were decoded as this one.
    Charset(String),
    /// The file is cut off or damaged, so pages may be missing.
    Damaged,
    /// The file is longer than one call reads; `page` continues.
    Full,
    /// A message has text in a multipart of this unknown subtype.
    OddParts(String),
    /// A message has plain text that mail programs do not show.
    Unshown(UnshownPlain),
}

/// The unit in which hidden content is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HiddenUnit {
    /// Characters.
    Characters,
    /// Rows.
    Rows,
    /// Columns.
    Columns,
    /// Cells.
    Cells,
    /// Slides.
    Slides,
    /// Layers.
    Layers,
}

/// The reason why a file yields no text, or only a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadFailure {
    /// It needs a password.
    Encrypted,
    /// It is damaged, or is not of the kind that it claims.
    Broken,
    /// Files of this kind are not read.
    NotRead(FileKind),
    /// It contains no text.
    Empty,
    /// It unpacks to more than the limit, or has too many parts.
    TooMany,
    /// It has only this many pages.
    NoSuchPage(u64),
    /// It has only these sheets.
    NoSuchSheet(Vec<String>),
    /// It has only this many files within it.
    NoSuchPart(u32),
    /// Its elements or files are nested too deep.
    Depth,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is the name of a format")]
pub enum FileKind {
    Pdf,
    Docx,
    Xlsx,
    Xls,
    Xlsb,
    Pptx,
    Odt,
    Ods,
    Odp,
    Rtf,
    Csv,
    Tsv,
    Html,
    Text,
    Markdown,
    Json,
    Xml,
    Mail,
    Msg,
    Tnef,
    Calendar,
    Contacts,
    Zip,
    Picture,
    /// Word before 2007.
    Doc,
    /// PowerPoint before 2007.
    Ppt,
    /// An Office file with a password.
    Encrypted,
    Pgp,
    Smime,
    /// Anything else.
    Binary,
}

impl FileKind {
    /// Returns the name, usually the file extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
            Self::Xls => "xls",
            Self::Xlsb => "xlsb",
            Self::Pptx => "pptx",
            Self::Odt => "odt",
            Self::Ods => "ods",
            Self::Odp => "odp",
            Self::Rtf => "rtf",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Html => "html",
            Self::Text => "txt",
            Self::Markdown => "md",
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Mail => "eml",
            Self::Msg => "msg",
            Self::Tnef => "winmail.dat",
            Self::Calendar => "ics",
            Self::Contacts => "vcf",
            Self::Zip => "zip",
            Self::Picture => "picture",
            Self::Doc => "doc",
            Self::Ppt => "ppt",
            Self::Encrypted => "encrypted",
            Self::Pgp => "pgp",
            Self::Smime => "p7m",
            Self::Binary => "binary",
        }
    }
}
