//! What attached files hold: whole expected texts, and files made to hurt.
//!
//! | files | what they prove |
//! |---|---|
//! | `kinds` | what a file is, by its bytes, its name and its media type |
//! | `cases` | files by other programs give their whole text (`cases/NAME.txt`) |
//! | `texts`, `rows`, `messages` | text, tables as text; events, contacts, archives; RTF and messages |
//! | `office`, `odf`, `sheets` | documents, slides and sheets: text that people do not see is left out |
//! | `unseen` | text that its place, its size or a condition hides, and text that stays |
//! | `pdf` | PDF: lines, columns and tables, hidden text, limits (`pdf/`) |
//! | `paging` | reading on from page to page gives everything once |
//! | `growth` | work on hostile files grows with their length |
//! | `damaged`, `random` | files that are damaged or changed at random are read to an end |

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

/// A request for all of a file.
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

/// Returns what a file is, and how the reading ended.
pub fn ended(name: &str, bytes: &[u8]) -> (FileKind, ReadingEnd) {
    let mut lines = lines(&request(name), bytes);
    let Some(AnswerLine::End(end)) = lines.pop() else { panic!("the last line is no end") };
    let Some(AnswerLine::Kind(kind)) = lines.into_iter().next() else { panic!("no kind") };
    (kind, end)
}
