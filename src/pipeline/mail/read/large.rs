//! HTML so large that reading it could delay the server; it is read in a process of its own.

use daysheet_core::body::{ReadableText, ReadingOptions};
use daysheet_core::provider::{MessageContent, TextPart};

use crate::pipeline::context::Context;
use crate::pipeline::local_files::file_reader;

/// The size in bytes up to which HTML is read in the server itself: a hundredth of a second.
const SMALL: usize = 256 << 10;

/// Returns the text of a message with large HTML; `None` if the HTML is small enough to read
/// in-process, or if there is no worker. HTML that the worker cannot read is removed from the
/// message, with a note.
pub(super) async fn read_large(
    ctx: &Context,
    message: &mut MessageContent,
    reading: &ReadingOptions,
) -> Option<ReadableText> {
    let worker = ctx.config.worker.as_ref()?;
    let size = |part: &TextPart| match part {
        TextPart::Html(source) => source.len(),
        TextPart::Plain(_) => 0,
    };
    if message.parts.iter().flatten().flatten().map(size).sum::<usize>() <= SMALL {
        return None;
    }
    match worker.body(file_reader(ctx), message, reading).await {
        Ok(Some(readable)) => return Some(readable),
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "large HTML is not read"),
    }
    // In this process, such HTML could hold up all other calls.
    for form in message.parts.iter_mut().flatten() {
        form.retain(|part| matches!(part, TextPart::Plain(_)));
    }
    let note = "its HTML takes too long to read and is left out; mail programs do not show its \
                plain text; body=raw has both";
    message.notes.push(note.into());
    None
}
