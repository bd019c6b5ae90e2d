//! Real mail, which is nobody's to publish: a folder of `.eml` files that `DAYSHEET_CORPUS` names.
//!
//! What is proved here holds for any mail: nothing panics, and no message takes long.
//! `tests/interop/corpus.py` compares the words with what other programs read.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use daysheet_core::body::{Form, Reading, readable};
use daysheet_core::provider::{MessageContent, PlainText, TextPart};
use mail_parser::{MessageParser, PartType};

/// No message may take longer, in all its forms.
const LONGEST: Duration = Duration::from_secs(2);

/// Returns the texts of a message, each form on its own, plain text first.
fn content(bytes: &[u8]) -> Option<MessageContent> {
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
    Some(MessageContent { parts: vec![vec![plain], vec![html]], ..MessageContent::default() })
}

#[test]
fn real_mail_is_read_in_time() {
    let Some(folder) = std::env::var_os("DAYSHEET_CORPUS") else {
        println!("no corpus: DAYSHEET_CORPUS is not set");
        return;
    };
    let mut folders = vec![PathBuf::from(folder)];
    let (mut count, mut slowest) = (0, Duration::ZERO);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let Some(message) = content(&bytes) else { continue };
            let start = Instant::now();
            for form in [Form::Text, Form::Markdown, Form::Html] {
                readable(
                    &message,
                    &Reading {
                        subject: String::new(),
                        form,
                        quoted: false,
                        signature: true,
                        links: true,
                    },
                );
            }
            let took = start.elapsed();
            assert!(took < LONGEST, "{}: {took:?}", path.display());
            (count, slowest) = (count + 1, slowest.max(took));
        }
    }
    println!("{count} messages of the corpus were read; the slowest took {slowest:?}");
    assert!(count > 0, "the corpus has no message");
}
