//! Real mail, which cannot be published: a folder of `.eml` files named by `DAYSHEET_CORPUS`.
//!
//! The tests assert properties of any mail: reading does not panic, and no message takes long. They
//! print the share of tokens that remains when HTML becomes text with a list of its links.
//! `tests/interop/corpus.py` compares the words with the output of other programs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use daysheet_core::body::{PartForm, ReadingOptions, readable};
use daysheet_core::budget::count::tokens;
use daysheet_core::provider::{MessageContent, PlainText, TextPart};
use mail_parser::{MessageParser, PartType};

/// The time limit for one message in all its forms.
const MAX_TIME: Duration = Duration::from_secs(2);

const FORMS: [PartForm; 3] = [PartForm::Text, PartForm::Markdown, PartForm::Html];

/// Returns the texts of a message: plain text, and HTML.
fn content(bytes: &[u8]) -> Option<[MessageContent; 2]> {
    let message = MessageParser::new().parse(bytes)?;
    let (mut plain, mut html) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match &part.body {
            PartType::Text(text) => plain
                .push(TextPart::Plain(PlainText { text: text.to_string(), flowed: Some(false) })),
            PartType::Html(text) => html.push(TextPart::Html(text.to_string())),
            _ => {}
        }
    }
    Some(
        [plain, html]
            .map(|parts| MessageContent { parts: vec![vec![parts]], ..MessageContent::default() }),
    )
}

#[test]
fn real_mail_is_read_in_time() {
    let Some(folder) = std::env::var_os("DAYSHEET_CORPUS") else {
        println!("no corpus: DAYSHEET_CORPUS is not set");
        return;
    };
    let mut folders = vec![PathBuf::from(folder)];
    let (mut count, mut slowest) = (0, Duration::ZERO);
    let (mut before, mut after) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let Some(texts) = content(&bytes) else { continue };
            let start = Instant::now();
            for (message, form) in texts.iter().flat_map(|text| FORMS.map(|form| (text, form))) {
                readable(message, &reading(form));
            }
            let took = start.elapsed();
            assert!(took < MAX_TIME, "{}: {took:?}", path.display());
            (count, slowest) = (count + 1, slowest.max(took));
            before += texts[1].parts.iter().flatten().flatten().map(html_tokens).sum::<usize>();
            after += tokens(&readable(&texts[1], &reading(PartForm::Text)).text);
        }
    }
    println!("{count} messages of the corpus were read; the slowest took {slowest:?}");
    assert!(count > 0, "the corpus has no message");
    let share = 100.0 * after as f64 / before.max(1) as f64;
    println!("{before} tokens of HTML are {after} as text with links: {share:.1} %");
}

fn reading(form: PartForm) -> ReadingOptions {
    ReadingOptions { subject: String::new(), form, quoted: false, signature: true, links: true }
}

fn html_tokens(part: &TextPart) -> usize {
    match part {
        TextPart::Html(source) => tokens(source),
        TextPart::Plain(_) => 0,
    }
}
