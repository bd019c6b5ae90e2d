//! Messages stored as files, and the rich text in messages of Outlook.

pub mod eml;
mod mapi;
pub mod msg;
mod pages;
pub mod rtf;
mod rtf_state;
mod tnef;

use daysheet_core::provider::MessageContent;
use daysheet_core::text;

use crate::{InnerFile, OutputSink, PieceMark, ReadFailure, StopReason, TextPiece, archive, plain};

/// A message, independent of its storage.
#[derive(Default)]
struct StoredMessage {
    /// The header fields that people see above the text.
    head: Vec<(&'static str, String)>,
    content: MessageContent,
    /// The name and size of each attached file.
    files: Vec<(String, u64)>,
    /// The reason why its text cannot be read.
    failure: Option<ReadFailure>,
}

impl StoredMessage {
    /// Emits its header fields, its text and the list of its files.
    fn give(self, out: &mut OutputSink<'_>) -> Result<(), StopReason> {
        let mut head = String::new();
        for (name, value) in &self.head {
            let value = text::cell(value);
            if !value.is_empty() {
                head.push_str(&format!("{name}: {value}\n"));
            }
        }
        if head.is_empty() && self.content.parts.is_empty() && self.files.is_empty() {
            return Err(self.failure.unwrap_or(ReadFailure::Broken).into());
        }
        let text = plain::words(&self.content, out);
        let before = vec![TextPiece::Mark(PieceMark::Message), TextPiece::Text(head)];
        plain::give(&text, before, Vec::new(), out)?;
        if !self.files.is_empty() {
            let files = (1..).zip(self.files).map(|(part, (name, size))| InnerFile {
                part,
                name,
                size,
                encrypted: false,
                folder: false,
            });
            out.block(archive::listed(files.collect()))?;
        }
        // An encrypted message still has readable header fields and files, so the failure comes
        // last.
        self.failure.map_or(Ok(()), |failure| Err(failure.into()))
    }
}
