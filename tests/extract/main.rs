//! Text of attached files: complete expected texts, and hostile files.
//!
//! | files | subject |
//! |---|---|
//! | `kinds` | the kind of a file, by its bytes, name and media type |
//! | `cases` | the whole text of files by other programs (`cases/NAME.txt`) |
//! | `texts`, `rows`, `messages` | text, tables as text; events, contacts, archives; RTF and messages |
//! | `office`, `odf`, `sheets` | documents, slides and sheets: text that people do not see is left out |
//! | `unseen` | text hidden by its place, its size or a condition, and text that stays |
//! | `pdf` | PDF: lines, columns and tables, hidden text, limits (`pdf/`) |
//! | `paging` | reading from page to page gives everything once |
//! | `growth` | work on hostile files grows with their length |
//! | `damaged`, `random` | reading ends for files that are damaged or changed at random |

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests, and their helpers, stop at the first surprise"
)]

#[path = "../common"]
mod common {
    pub mod growth;
    pub mod thorough;
}

mod cases;
mod damaged;
mod drawings;
mod growth;
mod kinds;
mod links;
mod marks;
mod messages;
mod odf;
mod office;
mod paging;
mod pdf;
mod random;
mod rows;
mod sheets;
mod slides;
mod texts;
mod unseen;

use daysheet_extract::{AnswerLine, ExtractRequest, FileKind, ReadingEnd, extract};

/// Returns a request for a whole file.
pub fn request(name: &str) -> ExtractRequest {
    ExtractRequest {
        name: name.to_owned(),
        media: String::new(),
        inside: Vec::new(),
        page: 1,
        sheet: None,
        zone: "Europe/Berlin".to_owned(),
    }
}

/// Returns the lines that a file gives.
pub fn lines(request: &ExtractRequest, bytes: &[u8]) -> Vec<AnswerLine> {
    let mut lines = Vec::new();
    extract(request, bytes, &mut |line| {
        lines.push(line);
        Ok(())
    })
    .unwrap();
    lines
}

/// Returns the kind of a file, and the end of its reading.
pub fn ended(name: &str, bytes: &[u8]) -> (FileKind, ReadingEnd) {
    let mut lines = lines(&request(name), bytes);
    let Some(AnswerLine::End(end)) = lines.pop() else { panic!("the last line is no end") };
    let Some(AnswerLine::Kind(kind)) = lines.into_iter().next() else { panic!("no kind") };
    (kind, end)
}
