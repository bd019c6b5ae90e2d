//! Text files and HTML: decoding, and division of long text into pieces.

use daysheet_core::body::{self, LeftOut, PartForm, ReadingOptions};
use daysheet_core::provider::{MessageContent, TextPart};
use daysheet_core::text::charset;
use daysheet_core::text::visibility::HidingMethod;

use crate::{
    BlockSpan, ContentBlock, FileKind, Finding, HiddenUnit, OutputSink, PIECE, PartUnit,
    ReadFailure, StopReason, TextBlock, TextPiece,
};

/// Reads a text or HTML file.
pub fn read(kind: FileKind, bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let text = decoded(bytes, out);
    let text = match kind {
        FileKind::Html => html(text, out),
        _ => text,
    };
    give(&text, Vec::new(), Vec::new(), out)
}

/// Returns the text of an HTML document, read like a message in HTML.
pub fn html(source: String, out: &mut OutputSink<'_>) -> String {
    let parts = vec![vec![vec![TextPart::Html(source)]]];
    words(&MessageContent { parts, ..MessageContent::default() }, out)
}

/// Returns the whole text of a message. Invisible text is left out and recorded.
pub fn words(content: &MessageContent, out: &mut OutputSink<'_>) -> String {
    let reading = ReadingOptions {
        subject: String::new(),
        form: PartForm::Text,
        quoted: true,
        signature: true,
        links: true,
    };
    let readable = body::readable(content, &reading);
    let LeftOut { hidden, doubt, deep, cut, unshown, .. } = readable.left_out;
    let number = |chars| u64::try_from(chars).unwrap_or(u64::MAX);
    // Text that is nested too deep to judge may be hidden, and is counted as hidden.
    let count = number(hidden.chars.saturating_add(deep));
    if count > 0 {
        out.find(Finding::Hidden { how: HidingMethod::Marked, count, of: HiddenUnit::Characters });
    }
    if hidden.orders {
        out.find(Finding::Order);
    }
    // The count covers all ways together, so only the first finding carries it.
    let mut count = number(doubt.chars);
    for how in doubt.why {
        out.find(Finding::Doubt { how, count });
        count = 0;
    }
    if doubt.incomplete {
        out.find(Finding::StylesUnread);
    }
    if cut {
        out.find(Finding::Full);
    }
    unshown.into_iter().for_each(|plain| out.find(Finding::Unshown(plain)));
    readable.text
}

/// Returns the characters of a text file, and records if the charset had to be guessed.
pub fn decoded(bytes: &[u8], out: &mut OutputSink<'_>) -> String {
    let (text, doubt) = charset::decode(bytes, label(&out.request.media).as_deref());
    if let Some(doubt) = doubt {
        out.find(Finding::Charset(doubt.charset.to_owned()));
    }
    match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    }
}

/// Returns the charset that a media type names.
fn label(media: &str) -> Option<String> {
    let media = media.to_ascii_lowercase();
    let (_, value) = media.split_once("charset")?;
    Some(value.trim_start().strip_prefix('=')?.trim().to_owned())
}

/// Emits the requested piece of a text. `before` is emitted with the first piece, `after` with the
/// last one.
pub fn give(
    text: &str,
    before: Vec<TextPiece>,
    after: Vec<TextPiece>,
    out: &mut OutputSink<'_>,
) -> Result<(), StopReason> {
    if text.trim().is_empty() && before.is_empty() && after.is_empty() {
        return Err(ReadFailure::Empty.into());
    }
    let (text, of) = piece(text, out.request.page)?;
    let mut pieces = if of.is_none_or(|of| of.first == 1) { before } else { Vec::new() };
    pieces.push(TextPiece::Text(text.to_owned()));
    pieces.extend(if of.is_none_or(|of| of.next.is_none()) { after } else { Vec::new() });
    out.block(ContentBlock::Text(TextBlock { pieces, of }))
}

/// Returns a piece of a text, from 1, and its place if there are several.
fn piece(text: &str, page: u32) -> Result<(&str, Option<BlockSpan>), ReadFailure> {
    let mut rest = text;
    let (mut count, mut found) = (0, None);
    while count == 0 || !rest.is_empty() {
        let (head, tail) = rest.split_at(end(rest));
        count += 1;
        if count == u64::from(page) {
            found = Some(head);
        }
        rest = tail;
    }
    let at = u64::from(page);
    let next = page.checked_add(1).filter(|_| at < count);
    let span = BlockSpan { unit: PartUnit::Piece, first: at, last: at, of: count, next };
    Ok((found.ok_or(ReadFailure::NoSuchPage(count))?, (count > 1).then_some(span)))
}

/// Returns the end of the first piece of a text: the end of a line if one is near.
fn end(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let most = text.floor_char_boundary(PIECE);
    let line = text.get(..most).and_then(|head| head.rfind('\n')).map(|at| at + 1);
    // A break in the first half would make pieces too small; a long line is split instead.
    line.filter(|line| line * 2 > most).unwrap_or(most)
}
