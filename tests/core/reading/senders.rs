//! HTML in the style of real senders, each with the complete text that a model reads.
//!
//! The files next to this one contain messages, each as `##### name`, its HTML, `===== text` and
//! the text with its links.

use daysheet_core::body::{PartForm, ReadingOptions, readable};
use daysheet_core::provider::{MessageContent, TextPart};
use daysheet_core::text::fence::OURS;

const MESSAGES: [&str; 3] =
    [include_str!("people.txt"), include_str!("shops.txt"), include_str!("services.txt")];

fn shown(html: &str) -> String {
    let part = TextPart::Html(html.to_owned());
    let message = MessageContent { parts: vec![vec![vec![part]]], ..MessageContent::default() };
    let got = readable(
        &message,
        &ReadingOptions {
            subject: String::new(),
            form: PartForm::Text,
            quoted: true,
            signature: true,
            links: true,
        },
    );
    let notes = got.notes.iter().map(|note| format!("\nnote: {note}"));
    format!("{}{}", got.text.replace(OURS, "@"), notes.collect::<String>())
}

#[test]
fn messages_in_the_style_of_real_senders_read_as_people_read_them() {
    let messages: Vec<_> = MESSAGES.iter().flat_map(|file| file.split("##### ").skip(1)).collect();
    assert_eq!(messages.len(), 30);
    let mut wrong = String::new();
    for message in messages {
        let (name, rest) = message.split_once('\n').unwrap();
        let (html, want) = rest.split_once("\n===== text\n").unwrap();
        let got = shown(html);
        if got.trim() != want.trim() {
            wrong.push_str(&format!("##### {name}\n{got}\n"));
        }
    }
    assert!(wrong.is_empty(), "what differs, as it is read:\n{wrong}");
}
