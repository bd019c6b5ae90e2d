//! PDF files: complete texts of files by other programs, reading of lines, columns and tables,
//! hidden text, and hostile files.

mod collections;
mod forms;
mod hidden;
mod layout;
mod limits;
pub mod paper;

use std::fmt::Write as _;

use daysheet_extract::{AnswerLine, ContentBlock, ExtractRequest, PieceMark, TextPiece};

use crate::{lines, request};

/// Returns the output of a file as text: marks in brackets, findings and failures at the end.
pub fn shown(request: &ExtractRequest, bytes: &[u8]) -> String {
    let mut out = String::new();
    for line in lines(request, bytes) {
        match line {
            AnswerLine::Kind(_) => {}
            AnswerLine::Block(ContentBlock::Text(text)) => {
                text.pieces.iter().for_each(|piece| shown_piece(&mut out, piece));
            }
            AnswerLine::Block(ContentBlock::Files { files, .. }) => {
                for file in files {
                    writeln!(out, "[file {}: {}, {} bytes]", file.part, file.name, file.size)
                        .unwrap();
                }
            }
            AnswerLine::Block(other) => panic!("{other:?}"),
            AnswerLine::End(end) => {
                end.findings.iter().for_each(|finding| writeln!(out, "{finding:?}").unwrap());
                end.failure.iter().for_each(|failure| writeln!(out, "{failure:?}").unwrap());
            }
        }
    }
    out
}

fn shown_piece(out: &mut String, piece: &TextPiece) {
    match piece {
        TextPiece::Text(text) => writeln!(out, "{text}"),
        TextPiece::Mark(PieceMark::Page(page)) => writeln!(out, "[page {page}]"),
        TextPiece::Mark(PieceMark::Comment { author }) => writeln!(out, "[comment by {author}]"),
        TextPiece::Mark(mark) => writeln!(out, "[{mark:?}]"),
    }
    .unwrap();
}

/// Compares each PDF of `cases/pdf` with the expected text next to it. With `DAYSHEET_ACCEPT` set,
/// the output replaces the expected text.
#[test]
fn files_of_other_programs_give_their_whole_text() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/extract/cases/pdf");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "pdf"));
    files.sort();
    assert!(files.len() >= 9, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let got = shown(&request(&name), &std::fs::read(&file).unwrap());
        let expected = file.with_extension("txt");
        if std::env::var_os("DAYSHEET_ACCEPT").is_some() {
            std::fs::write(&expected, &got).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != got {
            wrong.push(format!("{name}:\n{got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
