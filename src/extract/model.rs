//! What is asked of a file, and what comes back: plain data that goes through a pipe.
//!
//! Nothing here is in words for a model: findings are counted facts, which the program that
//! asked turns into notes. Strings are those of the file, not yet cleaned.

use daysheet_core::body::UnshownPlain;
use serde::{Deserialize, Serialize};

/// What is to be read of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractRequest {
    /// The file's name, as its sender gives it.
    pub name: String,
    /// Its media type, as its sender gives it.
    pub media: String,
    /// The way to a file within it: `[2, 1]` is the first file in its second one.
    pub inside: Vec<u32>,
    /// The page to begin with, from 1: a page of a document, a slide, 1,000 rows of a sheet,
    /// 200 events, 500 contacts or files in an archive, or 256 KiB of any other text.
    pub page: u32,
    /// The sheet of a workbook, by name or number.
    pub sheet: Option<String>,
    /// The time zone of times without one: an IANA name.
    pub zone: String,
}

/// One line of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AnswerLine {
    /// The first line: what the file is.
    Kind(FileKind),
    /// A part of what it holds.
    Block(ContentBlock),
    /// The last line.
    End(ReadingEnd),
}

/// A part of what a file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ContentBlock {
    /// Text: a page, a slide, or all of a file without pages.
    Text(TextBlock),
    /// A table: a sheet of a workbook, or a CSV file.
    Sheet(SheetBlock),
    /// Events or contacts, as objects that the sources of their table read.
    Rows {
        /// The table.
        table: RowsOf,
        /// One object for each row.
        objects: Vec<serde_json::Value>,
        /// How many follow.
        more: u64,
        /// The `page` that goes on with them.
        next: Option<u32>,
    },
    /// The files within it.
    Files {
        /// The first of them.
        files: Vec<InnerFile>,
        /// How many follow.
        more: u64,
        /// The `page` that goes on with them; none if nothing does.
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

/// Text with marks between its pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextBlock {
    /// The text, in order.
    pub pieces: Vec<TextPiece>,
    /// Which part of the file it is, if the file has parts.
    pub of: Option<BlockSpan>,
}

/// A piece of text, or what the next pieces are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextPiece {
    /// Text of the file.
    Text(String),
    /// What follows.
    Mark(PieceMark),
}

/// What the pieces after it are.
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
    /// What a scanner recognised in a picture.
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

/// Which part of a file a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSpan {
    /// What is counted.
    pub unit: PartUnit,
    /// The first one shown, from 1.
    pub first: u64,
    /// The last one shown.
    pub last: u64,
    /// How many the file has.
    pub of: u64,
    /// The `page` that goes on, if there is more.
    pub next: Option<u32>,
}

/// What the parts of a file are.
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
    /// Which rows these are.
    pub of: BlockSpan,
    /// What was found in this sheet.
    pub findings: Vec<Finding>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellValue {
    /// Nothing.
    Null,
    /// True or false.
    Flag(bool),
    /// A number in JSON's notation.
    Number(String),
    /// Text.
    Text(String),
}

/// A file within a file.
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

/// How the reading ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingEnd {
    /// What was found on the way.
    pub findings: Vec<Finding>,
    /// Why there is no text, or no more of it.
    pub failure: Option<ReadFailure>,
}

/// Something that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finding {
    /// Something that people do not see was left out.
    Hidden {
        /// How it is hidden.
        how: HidingMethod,
        /// How much of it there is.
        count: u64,
        /// What is counted.
        of: HiddenUnit,
    },
    /// Characters that are shown although people may not see them.
    Doubt {
        /// How they may be hidden.
        how: HidingMethod,
        /// How many there are.
        count: u64,
    },
    /// A sheet that people do not see was left out.
    HiddenSheet {
        /// Its name.
        name: String,
        /// How many rows it has.
        rows: u64,
    },
    /// Sheets that were not asked for, each with the number of its rows.
    Sheets(Vec<(String, u64)>),
    /// Characters deleted by tracked changes were left out.
    Deleted(u64),
    /// Characters inserted by tracked changes are in the text.
    Inserted(u64),
    /// Cells of rows that are longer than a page were shortened.
    CutCells(u64),
    /// Formulas without a stored result.
    NoResult(u64),
    /// Glyphs of which no letter is known.
    Unmapped(u64),
    /// Letters and digits that people see as others than the text has.
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
    /// Its name or media type says something else.
    NamedOtherwise,
    /// Whether rows or columns are hidden cannot be known in this format.
    HiddenUnknown,
    /// Not all of its style sheets was read, so that hidden text may be shown.
    StylesUnread,
    /// Hidden text reads like an order to an assistant.
    Order,
    /// The bytes are not those of the charset; they were read in this one.
    Charset(String),
    /// It is cut off or damaged, so that pages may be missing.
    Damaged,
    /// It is longer than one call reads; `page` goes on.
    Full,
    /// A message has text in a multipart of this unknown subtype.
    OddParts(String),
    /// A message has plain text that mail programs do not show.
    Unshown(UnshownPlain),
}

/// How something is hidden from people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HidingMethod {
    /// Drawn in no mode.
    Invisible,
    /// In the colour of what lies behind it.
    Colour,
    /// Too small to be read.
    Tiny,
    /// Outside the page.
    OffPage,
    /// Outside what its clip shows.
    Clipped,
    /// Below something opaque.
    Covered,
    /// Transparent.
    Transparent,
    /// On a layer that is switched off.
    Layer,
    /// Marked as hidden.
    Marked,
    /// In a hidden row.
    Row,
    /// In a hidden column.
    Column,
    /// In a row that a filter hides.
    Filtered,
}

/// What is counted of something hidden.
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

/// Why a file gives no text, or no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadFailure {
    /// It needs a password.
    Encrypted,
    /// It is not what it claims to be, or damaged.
    Broken,
    /// Files of this kind are not read.
    NotRead(FileKind),
    /// It holds no text.
    Empty,
    /// It unpacks to more than the limit, or has too many parts.
    TooMany,
    /// It has only this many pages.
    NoSuchPage(u64),
    /// It has only these sheets.
    NoSuchSheet(Vec<String>),
    /// It has only this many files within it.
    NoSuchPart(u32),
    /// It is nested too deep.
    Depth,
}

/// What a file is.
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
    /// Returns its name, as in a file's ending.
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
