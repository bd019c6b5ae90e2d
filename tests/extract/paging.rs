//! Files of many pages: reading from each page to the next gives everything once.

use std::fmt::Write;

use daysheet_extract::{
    AnswerLine, CellValue, ContentBlock, ExtractRequest, PieceMark, ReadFailure, TextPiece,
};

use crate::odf::odf;
use crate::office::{docx, relations, zip};
use crate::rows::zipped;
use crate::sheets::xlsx;
use crate::{lines, request};

/// Returns the words of all pages, following `next`, and the number of pages.
fn read_on(name: &str, bytes: &[u8]) -> (Vec<String>, usize) {
    let (mut words, mut pages, mut next) = (Vec::new(), 0, Some(1));
    while let Some(page) = next {
        pages += 1;
        next = None;
        for line in lines(&ExtractRequest { page, ..request(name) }, bytes) {
            match line {
                AnswerLine::Block(ContentBlock::Text(block)) => {
                    let texts = block.pieces.into_iter().map(|piece| match piece {
                        TextPiece::Text(text) => text,
                        TextPiece::Mark(PieceMark::Slide(number)) => format!("slide{number}"),
                        TextPiece::Mark(_) => String::new(),
                    });
                    let text: Vec<String> = texts.collect();
                    words.extend(text.join(" ").split_whitespace().map(str::to_owned));
                    next = block.of.and_then(|of| of.next);
                }
                AnswerLine::Block(ContentBlock::Sheet(sheet)) => {
                    let cells = sheet.rows.into_iter().flat_map(|(_, cells)| cells);
                    words.extend(cells.filter_map(|cell| match cell {
                        CellValue::Text(text) => Some(text),
                        _ => None,
                    }));
                    next = sheet.of.next;
                }
                AnswerLine::Block(ContentBlock::Rows { objects, next: on, .. }) => {
                    let named = objects
                        .iter()
                        .filter_map(|row| row.pointer("/event/title").or(row.get("name")));
                    words.extend(named.filter_map(|name| name.as_str().map(str::to_owned)));
                    next = on;
                }
                AnswerLine::Block(ContentBlock::Files { files, next: on, .. }) => {
                    words.extend(files.into_iter().map(|file| file.name));
                    next = on;
                }
                AnswerLine::Kind(_) => {}
                AnswerLine::End(end) => assert_eq!(end.failure, None, "{name}, page {page}"),
            }
        }
    }
    (words, pages)
}

/// Hidden slides, and empty ones. Some are at the end of a page.
const HIDDEN: [usize; 3] = [7, 100, 200];
const EMPTY: [usize; 3] = [8, 99, 201];
const SLIDES: usize = 230;

fn shown() -> Vec<String> {
    let shown = (1..=SLIDES).filter(|at| !HIDDEN.contains(at) && !EMPTY.contains(at));
    shown.flat_map(|at| [format!("slide{at}"), format!("Word{at}")]).collect()
}

#[test]
fn every_slide_of_a_long_presentation_comes_once() {
    let (mut list, mut members, mut targets) = (String::new(), Vec::new(), Vec::new());
    for at in 1..=SLIDES {
        write!(list, "<p:sldId r:id='r{at}'/>").unwrap();
        targets.push(("slide", format!("slides/s{at}.xml")));
        let show = u8::from(!HIDDEN.contains(&at));
        let text = if EMPTY.contains(&at) { String::new() } else { format!("Word{at}") };
        members.push((
            format!("ppt/slides/s{at}.xml"),
            format!(
                "<p:sld show='{show}'><p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp></p:sld>"
            ),
        ));
    }
    let targets: Vec<_> = targets.iter().map(|(kind, path)| (*kind, path.as_str())).collect();
    members.extend([
        ("ppt/presentation.xml".to_owned(), format!("<p:presentation>{list}</p:presentation>")),
        ("ppt/_rels/presentation.xml.rels".to_owned(), relations(&targets)),
    ]);
    let members: Vec<_> =
        members.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(read_on("a.pptx", &zip(&members)), (shown(), 3));

    let page = |at: usize| {
        let style = if HIDDEN.contains(&at) { " draw:style-name='off'" } else { "" };
        let text = if EMPTY.contains(&at) { String::new() } else { format!("Word{at}") };
        format!(
            "<draw:page{style}><draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame></draw:page>"
        )
    };
    let pages: String = (1..=SLIDES).map(page).collect();
    let body = format!("<office:presentation>{pages}</office:presentation>");
    assert_eq!(read_on("a.odp", &odf("presentation", &body)), (shown(), 3));
}

#[test]
fn every_paragraph_and_row_of_a_long_file_comes_once() {
    let words: Vec<String> = (1..=60_000).map(|at| format!("Word{at}")).collect();
    let paragraphs = |open: &str, close: &str| -> String {
        words.iter().map(|word| format!("{open}{word}{close}")).collect()
    };
    let body = paragraphs("<w:p><w:r><w:t>", "</w:t></w:r></w:p>");
    let (got, pages) = read_on("a.docx", &docx(&body));
    // Headers of the file stand behind its text.
    assert!(got.starts_with(&words) && pages == 3, "{} words on {pages} pages", got.len());
    let body = format!("<office:text>{}</office:text>", paragraphs("<text:p>", "</text:p>"));
    assert_eq!(read_on("a.odt", &odf("text", &body)), (words.clone(), 3));
    let row = |word: &String| format!("<row><c t='str'><v>{word}</v></c><c><v>1</v></c></row>");
    let rows: String = words.iter().take(2500).map(row).collect();
    assert_eq!(read_on("a.xlsx", &xlsx("", &rows, "")), (words[..2500].to_vec(), 3));
    // One row that is much wider than all others, and longer than a page.
    let long = format!("{}{}", words[0], "x".repeat(200));
    let wide: String = (0..16_384).map(|_| format!("<c t='str'><v>{long}</v></c>")).collect();
    let (got, pages) = read_on("a.xlsx", &xlsx("", &format!("{rows}<row>{wide}</row>"), ""));
    assert_eq!((&got[..2500], got.len(), pages), (&words[..2500], 2500 + 16_384, 4));
    let rows: String = words.iter().take(2500).map(|word| format!("{word},1\n")).collect();
    let csv = format!("{rows}{}\n", vec![long; 16_384].join(","));
    let (got, pages) = read_on("a.csv", csv.as_bytes());
    assert_eq!((&got[..2500], got.len(), pages), (&words[..2500], 2500 + 16_384, 4));
}

#[test]
fn every_event_contact_and_file_comes_once() {
    let words: Vec<String> = (1..=1001).map(|at| format!("Word{at}")).collect();
    let each = |make: &dyn Fn(&String) -> String| words.iter().map(make).collect::<String>();
    let event = |word: &String| {
        format!("BEGIN:VEVENT\nUID:{word}\nDTSTART:20260203T180500\nSUMMARY:{word}\nEND:VEVENT\n")
    };
    let events = format!("BEGIN:VCALENDAR\n{}END:VCALENDAR\n", each(&event));
    assert_eq!(read_on("a.ics", events.as_bytes()), (words.clone(), 6));
    let card = |word: &String| format!("BEGIN:VCARD\nVERSION:3.0\nFN:{word}\nEND:VCARD\n");
    assert_eq!(read_on("a.vcf", each(&card).as_bytes()), (words.clone(), 3));
    let files: Vec<(&str, &[u8])> = words.iter().map(|word| (word.as_str(), &b"x"[..])).collect();
    let zip = zipped(&files);
    assert_eq!(read_on("a.zip", &zip), (words.clone(), 3));
    for (name, bytes, pages) in
        [("a.ics", events.as_bytes(), 6), ("a.vcf", each(&card).as_bytes(), 3), ("a.zip", &zip, 3)]
    {
        let Some(AnswerLine::End(end)) =
            lines(&ExtractRequest { page: pages + 1, ..request(name) }, bytes).pop()
        else {
            panic!("{name}")
        };
        assert_eq!(end.failure, Some(ReadFailure::NoSuchPage(u64::from(pages))), "{name}");
    }
}
