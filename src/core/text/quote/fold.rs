//! Lines of ours that replace the repeated parts of a message.
//!
//! Quoted history, signatures, disclaimers and the footers of lists become one line each, with
//! their size and the argument that shows them.

use super::parts::{QuoteParts, split};
use crate::text::fence::{FORWARDED_MESSAGE, OURS, QUOTED_HISTORY};

/// Maximum length of a signature that costs less than the line in its place, in characters.
const MIN_SIGNATURE: usize = 60;

/// Returns a text with its repeated parts folded; `quoted` shows the history, `signature` the parts
/// below the text.
pub fn fold(text: &str, subject: &str, quoted: bool, signature: bool) -> String {
    let QuoteParts { fresh, forwarded, quoted: history, signature: signed, disclaimer, footer } =
        split(text, subject);
    let mut out = fresh;
    let mut lines = Vec::new();
    for (name, part) in [("signature", signed), ("disclaimer", disclaimer), ("list footer", footer)]
    {
        let Some(part) = part else { continue };
        let chars = part.chars().count();
        if signature || name == "signature" && chars <= MIN_SIGNATURE {
            push(&mut out, "\n\n", &part);
        } else {
            let line =
                format!("{OURS}[{name}: {chars} characters not shown; signature=true shows it]");
            lines.push(line);
        }
    }
    if let Some(history) = history {
        if quoted {
            lines.push(format!("{OURS}{QUOTED_HISTORY}\n{history}"));
        } else {
            let chars = history.chars().count();
            lines.push(format!(
                "{OURS}[quoted history: {chars} characters not shown; quoted=true shows it]"
            ));
        }
    }
    push(&mut out, "\n\n", &lines.join("\n"));
    if let Some(forwarded) = forwarded {
        push(&mut out, "\n\n", &format!("{OURS}{FORWARDED_MESSAGE}\n{forwarded}"));
    }
    out
}

fn push(out: &mut String, gap: &str, more: &str) {
    if !out.is_empty() && !more.is_empty() {
        out.push_str(gap);
    }
    out.push_str(more);
}
