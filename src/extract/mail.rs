//! Messages as files, and the rich text in those of Outlook.

pub mod eml;
pub mod msg;
pub mod rtf;

use daysheet_core::body::{self, Form, Reading};
use daysheet_core::provider::{MessageContent, TextPart};
use daysheet_core::text;
use daysheet_core::text::html::{Hidden, Style};

use crate::{Finding, How, Of, Out};

/// Returns the text of a message, whole; what nobody sees is left out and noted.
pub fn words(content: &MessageContent, out: &mut Out<'_>) -> String {
    let reading = Reading { form: Form::Text, quoted: true, links: true };
    let readable = body::readable(content, &reading);
    if readable.kind == "plain" {
        return readable.text;
    }
    let mut hidden = Hidden::default();
    for part in content.parts.iter().flatten().flatten() {
        if let TextPart::Html(source) = part {
            hidden.add(&text::html::html(source, Style::Text, false).hidden);
        }
    }
    if hidden.chars > 0 {
        let count = u64::try_from(hidden.chars).unwrap_or(u64::MAX);
        out.find(Finding::Hidden { how: How::Marked, count, of: Of::Characters });
    }
    if hidden.orders {
        out.find(Finding::Order);
    }
    readable.text
}
