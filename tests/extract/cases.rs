//! Files made by other programs, each with its complete expected text: `cases/NAME` and
//! `cases/NAME.txt`, where our own lines are in square brackets.

use std::fmt::Write;
use std::path::Path;

use daysheet_extract::{AnswerLine, CellValue, ContentBlock, ExtractRequest, TextPiece};

use crate::texts::row_values;
use crate::{lines, request};

/// Returns everything read of a file, in words.
pub fn shown(request: &ExtractRequest, bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in lines(request, bytes) {
        match line {
            AnswerLine::Kind(_) => {}
            AnswerLine::Block(ContentBlock::Text(block)) => {
                pieces(&mut text, &block.pieces);
                if let Some(of) = block.of.filter(|of| of.next.is_some()) {
                    writeln!(text, "[{:?} {} to {} of {}]", of.unit, of.first, of.last, of.of)
                        .unwrap();
                }
            }
            AnswerLine::Block(ContentBlock::Sheet(sheet)) => {
                let hidden = if sheet.hidden { ", hidden" } else { "" };
                let (first, last, of) = (sheet.of.first, sheet.of.last, sheet.of.of);
                writeln!(text, "[sheet {}{hidden}, rows {first} to {last} of {of}]", sheet.name)
                    .unwrap();
                sheet.before.iter().for_each(|line| writeln!(text, "{line}").unwrap());
                writeln!(text, "{}", sheet.columns.join("\t")).unwrap();
                for (_, cells) in &sheet.rows {
                    let cells: Vec<String> = cells.iter().map(cell).collect();
                    writeln!(text, "{}", cells.join("\t")).unwrap();
                }
                pieces(&mut text, &sheet.after);
                sheet.findings.iter().for_each(|finding| writeln!(text, "[{finding:?}]").unwrap());
            }
            AnswerLine::Block(ContentBlock::Rows { table, objects, .. }) => {
                for object in objects {
                    writeln!(text, "[{table:?}{}]", row_values("", &object)).unwrap();
                }
            }
            AnswerLine::Block(block) => writeln!(text, "[{block:?}]").unwrap(),
            AnswerLine::End(end) => {
                end.findings.iter().for_each(|finding| writeln!(text, "[{finding:?}]").unwrap());
                end.failure.iter().for_each(|failure| writeln!(text, "[{failure:?}]").unwrap());
            }
        }
    }
    text
}

fn pieces(text: &mut String, pieces: &[TextPiece]) {
    for piece in pieces {
        match piece {
            TextPiece::Text(piece) => text.push_str(piece),
            TextPiece::Mark(mark) => writeln!(text, "[{mark:?}]").unwrap(),
        }
    }
}

fn cell(value: &CellValue) -> String {
    match value {
        CellValue::Null => String::new(),
        CellValue::Flag(flag) => flag.to_string(),
        CellValue::Number(text) => text.clone(),
        CellValue::Text(text) => format!("{text:?}"),
    }
}

/// Compares each file with its expected text. A missing expected text is written, and the test
/// fails so that the text gets reviewed.
#[test]
fn files_by_other_programs_give_their_whole_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/extract/cases");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() || name.ends_with(".txt") || name.ends_with(".py") {
            continue;
        }
        count += 1;
        let got = shown(&request(&name), &std::fs::read(&path).unwrap());
        let expected = folder.join(format!("{name}.txt"));
        match std::fs::read_to_string(&expected) {
            Ok(text) if text == got => {}
            Ok(text) => wrong.push(format!("{name}: expected\n{text}\nbut got\n{got}")),
            Err(_) => {
                std::fs::write(&expected, got).unwrap();
                wrong.push(format!("{name}: {} is new", expected.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 0);
}
