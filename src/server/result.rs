//! Answers and errors in MCP's form: text blocks, a link to the whole, and the size of
//! an answer in `_meta`.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Resource};
use serde_json::json;

use crate::error::Error;
use crate::outputs;
use crate::pipeline::Answer;
use crate::text::cell;

/// The media type of outputs.
pub(super) const TEXT_TYPE: &str = "text/plain";

/// The maximum size of an error's text, in bytes.
const DIAGNOSTICS: usize = 8 * 1024;

/// Returns the text of an error, cut if it is very long.
pub(super) fn diagnostics(error: &Error) -> String {
    // One line, whatever it repeats: nothing in it can pass for one of ours.
    let mut text = cell(&error.to_string());
    if text.len() > DIAGNOSTICS {
        let mut end = DIAGNOSTICS;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let rest = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({rest} bytes more)"));
    }
    text
}

/// Returns an answer in MCP's form: text blocks, a link to the whole if it is a part,
/// and its size in `_meta`.
pub(super) fn result(answer: Answer) -> CallToolResult {
    let Answer { blocks, stats, output } = answer;
    let mut content: Vec<_> = blocks.into_iter().map(ContentBlock::text).collect();
    if let Some(id) = output {
        let mut link = Resource::new(format!("{}{id}", outputs::URI), "whole answer");
        link.mime_type = Some(TEXT_TYPE.to_owned());
        content.push(ContentBlock::resource_link(link));
    }
    let mut result = CallToolResult::success(content);
    let (chunk, chunks) = stats.chunk;
    let mut meta = json!({
        "tokens": stats.tokens,
        "tokenizer": stats.tokenizer,
        "bytes": stats.bytes,
        "baseline": "provider JSON of the whole answer's rows",
        "baseline_bytes": stats.source_bytes,
        "ratio": (stats.source_bytes > 0)
            .then(|| (100 * stats.bytes / stats.source_bytes) as f64 / 100.0),
        "truncated": stats.shortened.is_some(),
        "cut": stats.cut,
        "chunk": chunk,
        "chunks": chunks,
        "hash": stats.hash,
    });
    if let (Some(version), Some(meta)) = (stats.stc_version, meta.as_object_mut()) {
        meta.insert("stc_version".to_owned(), version.into());
    }
    if let (Some(shortened), Some(meta)) = (stats.shortened, meta.as_object_mut()) {
        let [minimal, standard, full] = shortened.levels;
        meta.insert("planned".to_owned(), stats.planned.into());
        meta.insert("shown".to_owned(), shortened.shown.into());
        meta.insert("of".to_owned(), shortened.of.into());
        meta.insert("windows".to_owned(), shortened.windows.into());
        let levels = json!({"minimal": minimal, "standard": standard, "full": full});
        meta.insert("levels".to_owned(), levels);
    }
    result.meta = Some(MetaObject(JsonObject::from_iter([("daysheet".to_owned(), meta)])));
    result
}
